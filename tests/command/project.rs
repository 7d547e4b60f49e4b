//! What a stranger's checkout must not do: write or show a file outside of itself, or put text of its choice where a
//! name belongs.

use std::fs;
use std::os::unix::fs::chown;
use std::process::Command;

use gpuenv::lock;

use crate::common::checkout::{Place, Ran};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n\
                    runtime = \"container\"\nimage = \"nvidia/cuda\"\n[build]\n";
const CONFLICT: &str = "[stack]\ntorch = \"1.12.1+cu102\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n";
/// What must not be seen.
const SECRET: &str = "export HUNTER2=1\n";

/// Every command that reads the lock that is found.
const READERS: &[&[&str]] =
    &[&["lock"], &["lock", "--check"], &["export", "env"], &["export", "json"], &["verify", "--quick"]];

#[test]
fn a_lock_that_is_a_link_out_of_the_project_is_neither_written_nor_shown() {
    let place = Place::with("lock", SPEC);
    place.write("home/.bash_aliases", SECRET);
    place.link("checkout/gpuenv.lock", "../home/.bash_aliases");
    for args in READERS.iter().chain(&[&["lock", "--fresh"][..], &["lock", "--upgrade"]]) {
        let ran = place.run(args).exits(2).hides("HUNTER2");
        ran.says("error[outside-project]").says("/home/.bash_aliases").says("--lock gpuenv.lock");
        assert_eq!(place.read("home/.bash_aliases"), SECRET, "{args:?}");
    }
    let (code, document) = place.json(&["lock"]);
    assert_eq!((code, document["errors"][0]["code"].as_str()), (2, Some("outside-project")), "{document}");
    // Nothing need be there yet.
    place.remove("home/.bash_aliases");
    place.run(&["lock"]).exits(2).says("outside");
    assert!(!place.has("home/.bash_aliases"));
    // From a folder below, and through a chain of links.
    place.write("checkout/sub/x", "");
    place.link("checkout/first", "../home/.bash_aliases");
    place.link("checkout/gpuenv.lock", "first");
    place.run_in("checkout/sub", &["lock"]).exits(2).says("outside");
    place.link("checkout/gpuenv.lock", place.path("home/.bash_aliases"));
    place.run(&["lock"]).exits(2);
    place.link("checkout/away", "../home");
    place.link("checkout/gpuenv.lock", "away/.bash_aliases");
    place.run(&["lock"]).exits(2);
    assert!(!place.has("home/.bash_aliases"));
}

/// Whoever asks for a part of the stack by its name means what is locked, and what is wrong with the lock is not passed
/// over; a word that no lock holds is explained whatever lies here.
#[test]
fn a_part_of_the_stack_is_not_explained_past_a_lock_that_is_not_read() {
    let place = Place::with("parts", &format!("{SPEC}[packages]\ntimm = \"*\"\n"));
    const PARTS: [&str; 7] = ["torch", "driver", "python", "stack.torch", "timm", "cudnn", "torchvision"];
    const WORDS: [&str; 4] = ["outside-project", "driver-end-of-life", "cuda-12-driver", "A100"];
    place.write("home/other.lock", SECRET);
    place.link("checkout/gpuenv.lock", "../home/other.lock");
    for part in PARTS {
        place.run(&["explain", part]).exits(2).says("error[outside-project]").hides("HUNTER2");
    }
    let words = || WORDS.iter().for_each(|word| drop(place.run(&["explain", word]).exits(0)));
    words();
    place.remove("checkout/gpuenv.lock");
    place.write("checkout/gpuenv.lock", "cut");
    for part in PARTS {
        let alone = if matches!(part, "cudnn" | "torchvision") { "the catalog alone" } else { "gpuenv.toml alone" };
        let ran = place.run(&["explain", part]).exits(2).says("error[bad-lock]").says(alone);
        assert!(ran.out.contains(part.trim_start_matches("stack.")), "{ran:?}");
    }
    words();
    // Where there is no project, nothing is passed over.
    place.remove("checkout/gpuenv.lock");
    place.remove("checkout/gpuenv.toml");
    for part in ["torch", "driver", "python", "cudnn", "torchvision"] {
        place.run(&["explain", part]).exits(0);
    }
}

#[test]
fn a_link_within_the_project_is_followed() {
    let place = Place::new("within");
    place.write("checkout/train/gpuenv.toml", SPEC);
    place.write("checkout/locks/.keep", "");
    place.link("checkout/train/gpuenv.lock", "../locks/train.lock");
    place.run_in("checkout/train", &["lock"]).exits(0);
    assert!(place.read("checkout/locks/train.lock").contains("stack.torch"));
    place.run_in("checkout/train", &["export", "requirements"]).exits(0);
    // In a work tree of git's own making `.git` is a file.
    fs::rename(place.path("checkout/.git"), place.path("home/git")).unwrap();
    place.write("checkout/.git", "gitdir: ../home/git\n");
    place.run_in("checkout/train", &["lock", "--check"]).exits(0);
    // Without git the project is the folder of the spec.
    place.remove("checkout/.git");
    place.run_in("checkout/train", &["lock"]).exits(2).says("outside");
}

#[test]
fn what_is_named_on_the_command_line_is_the_users() {
    let place = Place::with("named", SPEC);
    place.link("checkout/gpuenv.lock", "../home/lock");
    place.run(&["lock", "--lock", "gpuenv.lock"]).exits(0);
    assert!(place.read("home/lock").contains("stack.torch"));
    place.run(&["export", "requirements", "--lock", "gpuenv.lock"]).exits(0);
    place.link("checkout/requirements.txt", "../home/requirements.txt");
    let named = ["export", "requirements", "--lock", "gpuenv.lock", "-o", "requirements.txt"];
    place.run(&named).exits(0);
    assert!(place.has("home/requirements.txt"));
    place.write("home/spec.toml", SPEC);
    place.link("checkout/linked.toml", "../home/spec.toml");
    place.link("checkout/linked.lock", "../home/lock");
    place.run(&["lock", "--spec", "linked.toml", "--lock", "mine.lock"]).exits(0);
    // The lock beside it was not named.
    place.run(&["lock", "--spec", "linked.toml"]).exits(2).says("outside");
}

#[test]
fn a_home_under_git_is_no_project() {
    let place = Place::new("home");
    place.write("home/.git/HEAD", "ref: refs/heads/main\n");
    place.write("home/downloads/x/gpuenv.toml", SPEC);
    place.link("home/downloads/x/gpuenv.lock", "../../.bash_aliases");
    place.run_in("home/downloads/x", &["lock"]).exits(2).says("outside");
    assert!(!place.has("home/.bash_aliases"));
    // Nor is that of somebody else: of whoever became root by sudo.
    let mut command = place.command("home/downloads/x", &["lock"]);
    command.env("HOME", "/root").env("SUDO_HOME", place.path("home"));
    let ran = Ran::of(&mut command);
    assert!(ran.code == 2 && !place.has("home/.bash_aliases"), "{ran:?}");
}

/// Who can write to a folder above a checkout does not make it part of a project.
#[test]
fn what_is_called_git_and_is_no_repository_of_ours_widens_no_project() {
    let place = Place::new("called-git");
    fs::rename(place.path("checkout/.git"), place.path("repository")).unwrap();
    place.write("checkout/gpuenv.toml", SPEC);
    place.link("checkout/gpuenv.lock", "../home/.bash_aliases");
    let is_narrow = |what: &str| {
        let ran = place.run(&["lock"]).exits(2);
        ran.says("error[outside-project]");
        assert!(!place.has("home/.bash_aliases"), "{what}");
    };
    is_narrow("none");
    for text in ["", "gitdir: /nonexistent\n", "gitdir: home\n", "repository\n"] {
        place.write(".git", text);
        is_narrow(text);
        place.remove(".git");
    }
    for to in ["nonexistent", "home", "/dev/zero"] {
        place.link(".git", to);
        is_narrow(to);
    }
    place.remove(".git");
    place.write(".git/description", "");
    is_narrow("a folder");
    // Of somebody else: only root can say so.
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    if chown(place.path(".git"), Some(65534), None).is_ok() {
        is_narrow("of somebody else");
        chown(place.path("."), Some(65534), None).unwrap();
        is_narrow("in a folder of somebody else");
        // Root works in the checkout of somebody else as its owner does.
        chown(place.path("checkout"), Some(65534), None).unwrap();
    }
    place.run(&["lock"]).exits(0);
    assert!(place.has("home/.bash_aliases"));
}

/// What lies in git's own folder is no file of the project, for a hook or a HEAD would be written over.
#[test]
fn nothing_in_the_own_folder_of_git_is_read_or_written() {
    let place = Place::with("git-folder", &format!("{SPEC}[export]\nrequirements = \"h/post-checkout\"\n"));
    let head = place.read("checkout/.git/HEAD");
    place.run(&["lock"]).exits(0);
    let lock = place.read("checkout/gpuenv.lock");
    place.write("checkout/.git/hooks/x", "");
    place.link("checkout/h", ".git/hooks");
    place.run(&["export"]).exits(2).says("error[outside-project]").says("git's own folder");
    assert!(!place.has("checkout/.git/hooks/post-checkout"));
    for to in [".git/HEAD", ".git/info/attributes", ".git/new", "h/x"] {
        place.link("checkout/gpuenv.lock", to);
        for args in [&["lock"][..], &["lock", "--fresh"], &["export", "env"]] {
            place.run(args).exits(2).says("error[outside-project]").says("git's own folder");
        }
    }
    assert!(!place.has("checkout/.git/info") && !place.has("checkout/.git/new"));
    assert_eq!(place.read("checkout/.git/HEAD"), head);
    // The file that stands for such a folder is none of the project's either.
    fs::rename(place.path("checkout/.git"), place.path("home/git")).unwrap();
    place.write("checkout/.git", "gitdir: ../home/git\n");
    place.link("checkout/gpuenv.lock", ".git");
    place.run(&["lock", "--fresh"]).exits(2).says("git's own folder");
    // Nor is one that lies in the project under a name of its own, as `git init --separate-git-dir` and bare clones leave it.
    place.remove("checkout/gpuenv.lock");
    place.write("checkout/gpuenv.lock", &lock);
    place.write("checkout/meta/HEAD", &head);
    place.write("checkout/meta/config", SECRET);
    ["checkout/meta/objects/x", "checkout/meta/refs/x"].iter().for_each(|file| place.write(file, ""));
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\nrequirements = \"meta/hooks/post-checkout\"\n"));
    place.run(&["export"]).exits(2).says("git's own folder");
    assert!(!place.has("checkout/meta/hooks"));
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[catalog]\noverlays = [\"meta/config\"]\n"));
    place.run(&["lock"]).exits(2).hides("HUNTER2").says("git's own folder");
    // An overlay may hold what a clone was given: a token.
    place.remove("checkout/gpuenv.lock");
    place.write("checkout/gpuenv.lock", &lock);
    place.write("home/git/config", SECRET);
    place.remove("checkout/.git");
    fs::rename(place.path("home/git"), place.path("checkout/.git")).unwrap();
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[catalog]\noverlays = [\".git/config\"]\n"));
    place.run(&["lock"]).exits(2).hides("HUNTER2").says("git's own folder");
}

#[test]
fn a_spec_that_is_a_link_out_of_the_project_is_neither_written_nor_shown() {
    let place = Place::new("spec");
    place.write("home/secret.toml", &format!("HUNTER2 = 1\n{CONFLICT}"));
    let commands: &[&[&str]] = &[
        &["lock"],
        &["lock", "--apply-fix", "1"],
        &["explain"],
        &["explain", "stack.torch"],
        &["catalog", "show", "torch@2.5.1"],
        &["init", "--force"],
        &["lock", "--format", "json"],
        &["lock", "--format", "github"],
    ];
    for target in ["../home/secret.toml", "/proc/self/environ", "../home/nothing"] {
        place.link("checkout/gpuenv.toml", target);
        for args in commands {
            place.run(args).exits(2).hides("HUNTER2").hides("PATH=");
        }
        place.run(&["lock"]).exits(2).says("error[outside-project]").says("--spec gpuenv.toml");
        // A message is told whatever lies here.
        let told = place.run(&["diagnose", "no kernel image is available for execution on the device"]);
        told.exits(0).hides("HUNTER2").says("gpuenv.toml");
    }
    assert!(!place.has("home/nothing") && place.read("home/secret.toml").starts_with("HUNTER2"));
    place.link("checkout/gpuenv.toml", "../home/secret.toml");
    place.write("home/secret.toml", CONFLICT);
    place.run(&["lock", "--apply-fix", "1", "--spec", "gpuenv.toml", "--lock", "x.lock"]).exits(0);
    assert_ne!(place.read("home/secret.toml"), CONFLICT, "named, so it is the user's");
}

#[test]
fn an_overlay_that_is_a_link_out_of_the_project_is_not_read() {
    let spec = |path: &str| format!("{SPEC}[catalog]\noverlays = [\"{path}\"]\n");
    let place = Place::new("overlay");
    place.write("home/secret.toml", SECRET);
    place.link("checkout/site.toml", "../home/secret.toml");
    place.link("checkout/sub", "../home");
    place.link("checkout/environ.toml", "/proc/self/environ");
    place.link("checkout/nothing.toml", "../home/nothing.toml");
    for path in ["site.toml", "sub/secret.toml", "sub/../home/secret.toml", "environ.toml", "nothing.toml"] {
        place.write("checkout/gpuenv.toml", &spec(path));
        for args in [&["lock"][..], &["explain"], &["catalog", "show", "torch@2.5.1"], &["catalog"]] {
            let ran = place.run(args).exits(2).hides("HUNTER2").hides("PATH=");
            ran.says("outside-project").says(path);
        }
    }
}

/// A site's catalog may lie beside its projects, but what lies there is nothing to quote from.
#[test]
fn an_overlay_outside_the_project_is_read_and_never_quoted() {
    let spec = |path: &str| format!("{SPEC}[catalog]\noverlays = [\"{path}\"]\n");
    let place = Place::new("beside");
    place.write("home/site.toml", "");
    place.write("checkout/gpuenv.toml", &spec("../home/site.toml"));
    place.run(&["lock"]).exits(0);
    for text in
        [SECRET, "HUNTER2 = 1\n", "[[driver]]\nHUNTER2 = 1\n", "[[driver]]\nversion = \"HUNTER2\"\nsource=\"x\"\n"]
    {
        place.write("home/site.toml", text);
        let ran = place.run(&["lock"]).exits(2).hides("HUNTER2");
        ran.says("outside-project").says("../home/site.toml").says("gpuenv catalog check ../home/site.toml");
        let (_, document) = place.json(&["lock"]);
        assert!(!document.to_string().contains("HUNTER2"), "{document}");
        place.run(&["lock", "--format", "github"]).exits(2).hides("HUNTER2");
        // Named, it is told in full.
        let told = place.run(&["catalog", "check", "../home/site.toml"]);
        assert!(told.code != 0 && told.err.contains("HUNTER2"), "{told:?}");
    }
    let up = "../".repeat(40);
    place.write("checkout/gpuenv.toml", &spec(&format!("{up}proc/self/environ")));
    place.run(&["lock"]).exits(2).hides("PATH=");
    // Some of what the kernel makes up waits for ever, or is gone once it was read.
    for file in ["proc/version", "sys/kernel/notes", "proc/kmsg"] {
        place.write("checkout/gpuenv.toml", &spec(&format!("{up}{file}")));
        let ran = place.run(&["lock"]);
        let is_refused = ran.code == 2 && ran.err.contains("error[outside-project]");
        assert!(is_refused || ran.code == 4 && ran.err.contains("No such file"), "{file}: {ran:?}");
    }
}

/// There and refused is not the same as not there: whoever insists on a current lock is told so.
#[test]
fn a_lock_is_not_called_unchecked_where_its_spec_is_a_link_out_of_the_project() {
    let place = Place::with("locked-link", SPEC);
    place.run(&["lock"]).exits(0);
    place.write("home/gpuenv.toml", CONFLICT);
    place.link("checkout/gpuenv.toml", "../home/gpuenv.toml");
    for args in [&["export", "json", "--locked"][..], &["verify", "--quick", "--locked"]] {
        place.run(args).exits(2).says("error[outside-project]").hides("there is no");
    }
    // Without it the lock alone is what is asked for.
    place.run(&["export", "json"]).exits(0);
}

/// Nor does what lies beside a lock, whatever is wrong with it, keep a host from being judged.
#[test]
fn a_host_is_judged_whatever_is_wrong_with_the_spec_beside_the_lock() {
    let place = Place::with("spec-unread", SPEC);
    place.run(&["lock"]).exits(0);
    let host = "{\"format\": 1, \"platform\": { \"os\": \"ubuntu22.04\" }}";
    place.write("checkout/host.json", host);
    for (bytes, why) in [(vec![0xff; 10], "not UTF-8"), (vec![b'#'; 5 << 20], "4 MiB")] {
        fs::write(place.path("checkout/gpuenv.toml"), bytes).unwrap();
        let (code, told) = place.json(&["verify", "--host", "host.json"]);
        assert!(code != 2 && told.to_string().contains(why), "{code} {told:#}");
        let ran = place.run(&["fleet", "check", "host.json"]).says(why).says("cannot be told");
        assert_ne!(ran.code, 2, "{ran:?}");
        place.run(&["verify", "--host", "host.json", "--locked"]).exits(2);
    }
}

/// What another gpuenv is asked for may mean something else to it.
#[test]
fn a_lock_of_a_spec_for_another_gpuenv_is_not_called_current() {
    let place = Place::with("required", SPEC);
    place.run(&["lock"]).exits(0);
    place.write("checkout/gpuenv.toml", &format!("requires-gpuenv = \">=99\"\n{SPEC}"));
    place.run(&["export", "json", "--locked"]).exits(1).says("requires gpuenv >=99");
    let (code, told) = place.json(&["verify", "--quick", "--locked"]);
    assert!(code == 1 && told.to_string().contains("requires gpuenv >=99"), "{code} {told:#}");
}

/// A folder that may not be entered is not one without a gpuenv.toml.
#[test]
fn a_folder_that_may_not_be_entered_is_named() {
    let place = Place::with("closed", SPEC);
    let script = "chmod 0 . && \"$0\" lock; code=$?; chmod 700 .; exit $code";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_gpuenv")]).current_dir(place.path("checkout"));
    let ran = Ran::of(&mut command);
    // Root enters any.
    if ran.code != 0 {
        ran.exits(2).says("this folder may not be entered").hides("not found here");
    }
}

/// What is tried where a name belongs.
const PAYLOADS: &[&str] = &[
    "$(touch /pwned)",
    "`touch /pwned`",
    "x\\nRUN touch /pwned",
    "'; touch /pwned; '",
    "\\\"; touch /pwned; \\\"",
    "x; touch /pwned",
    "a\\\\b",
    "x\\u001b[2J",
    "x\\u009b2J",
    "x\\u202ey",
    "x\\u2028y",
    "-x",
    "",
];

#[test]
fn a_name_in_a_spec_holds_what_such_names_hold() {
    let place = Place::new("names");
    let lines = [
        ("[target.prod]\nos = \"{}\"\n", ""),
        ("[target.prod]\ngpu = \"{}\"\n", ""),
        ("[target.prod]\ngpu = [\"L4\", \"{}\"]\n", ""),
        ("[target.prod]\nimage = \"{}\"\n", ""),
        ("[target.prod]\nimage = \"nvidia/cuda:{}\"\n", ""),
        ("[target.prod]\narch = \"{}\"\n", ""),
        ("[target.prod]\nglibc = \"{}\"\n", ""),
        ("[target.\"{}\"]\n", ""),
        ("[target.prod]\n[[override]]\nrule = \"{}\"\nreason = \"x\"\n", ""),
        ("[target.prod]\n[[silence]]\nwarning = \"{}\"\nreason = \"x\"\n", ""),
        ("[target.prod]\n[catalog]\noverlays = [\"{}\"]\n", ""),
        ("[target.prod]\n", "torchvision = \"{}\"\n"),
        ("[target.prod]\n", "torchvision = \"+{}\"\n"),
        ("[target.prod]\n", "\"{}\" = \"*\"\n"),
    ];
    for (target, stack) in lines {
        for payload in PAYLOADS {
            let spec = format!("[stack]\ntorch = \"2.5.1\"\n{stack}{target}").replace("{}", payload);
            place.write("checkout/gpuenv.toml", &spec);
            let ran = place.run(&["lock"]);
            assert_eq!(ran.code, 2, "{spec}\n{ran:?}");
            assert!(!ran.err.contains(|c: char| c.is_control() && c != '\n'), "{ran:?}");
        }
    }
    assert!(!place.has("checkout/gpuenv.lock"));
    place.write("checkout/gpuenv.toml", &SPEC.replace("ubuntu22.04", "$(touch PWNED)"));
    place.run(&["lock"]).exits(2).says("`os`").says("letters, digits");
}

#[test]
fn names_that_people_write_are_taken() {
    let place = Place::new("good-names");
    for (os, gpu) in [
        ("ubuntu22.04", "NVIDIA A100-SXM4-80GB"),
        ("sles15.4", "TITAN X (Pascal)"),
        ("wolfi20230201", "NVIDIA® GeForce RTX™ 4090"),
        ("Gentoo/Linux 2 (base)", "NVIDIA RTX PRO 1000 Blac..."),
    ] {
        let target = format!("[stack]\ntorch = \"2.7\"\n[target.my-prod_1]\nos = \"{os}\"\ngpu = \"{gpu}\"\n");
        place.write("checkout/gpuenv.toml", &target);
        place.run(&["lock", "--fresh"]).exits(0);
        place.run(&["lock", "--check"]).exits(0);
        place.run(&["export", "json"]).exits(0);
    }
}

/// Every text of a lock, by its path, with a place for another. Prose and what nobody prints is left out.
fn texts(value: &toml::Value, path: &str, found: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| texts(value, &format!("{path}/{key}"), found));
        }
        toml::Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| texts(value, &format!("{path}/{at}"), found));
        }
        toml::Value::String(_) => found.push(path.to_string()),
        _ => {}
    }
}

fn at<'v>(value: &'v mut toml::Value, path: &str) -> &'v mut toml::Value {
    path.split('/').skip(1).fold(value, |value, key| match value {
        toml::Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
        value => value.get_mut(key).unwrap(),
    })
}

#[test]
fn a_lock_made_by_hand_holds_what_such_values_hold() {
    let place = Place::new("hand-made");
    place.write("checkout/site.toml", "[[retract]]\nrule = \"cuda-12-driver\"\nreason = \"x\"\n");
    // An old driver, for which the rule must be set aside.
    let old = "[target.lab]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"450.51.05\"\nforward-compat = \"never\"\n";
    place.write("checkout/gpuenv.toml", &format!("{SPEC}{old}[catalog]\noverlays = [\"site.toml\"]\n"));
    place.run(&["lock"]).exits(0);
    let good: toml::Value = toml::from_str(&place.read("checkout/gpuenv.lock")).unwrap();
    let mut paths = Vec::new();
    texts(&good, "", &mut paths);
    let prose = |path: &&String| path.starts_with("/inputs/") || path.ends_with("/reason");
    let paths: Vec<String> = paths.into_iter().filter(|path| !prose(&path)).collect();
    for kind in
        ["/stack/", "/target/prod/os", "/image", "/gpu/0/name", "/wheel/0/", "/override/0/", "/fact/0/", "/cmake"]
    {
        assert!(paths.iter().any(|path| path.contains(kind)), "{kind}");
    }
    let refused = |text: &str, what: &str| {
        let error = lock::parse(text).expect_err(what);
        assert_eq!(error.code(), "bad-lock", "{what}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    };
    for path in &paths {
        for payload in PAYLOADS.iter().filter(|payload| !payload.is_empty()) {
            let payload: toml::Table = toml::from_str(&format!("x = \"{payload}\"")).unwrap();
            let mut edited = good.clone();
            *at(&mut edited, path) = payload["x"].clone();
            refused(&toml::to_string(&edited).unwrap(), path);
        }
    }
    // The names that are keys.
    let text = place.read("checkout/gpuenv.lock");
    for (from, to) in [
        ("target.prod.", "target.\"$(touch /pwned)\"."),
        ("stack.torch", "stack.\"$(touch /pwned)\""),
        ("inputs.\"stack.torch\"", "inputs.\"$(touch /pwned)\""),
    ] {
        refused(&text.replace(from, to), to);
    }
    // And through the command, which tells what to do.
    place.write("checkout/gpuenv.lock", &text.replace("os = \"ubuntu22.04\"", "os = \"$(touch PWNED)\""));
    for format in ["env", "json", "dockerfile", "requirements", "uv"] {
        place.run(&["export", format]).exits(2).says("target.prod.os").says("--fresh");
    }
    // Several hashes stand in one text, and each is one.
    let mut edited = good.clone();
    let sha256 = at(&mut edited, "/wheel/0/sha256");
    *sha256 = toml::Value::String(format!("{} $(reboot)", "0".repeat(64)));
    refused(&toml::to_string(&edited).unwrap(), "a second hash that is none");
}

/// An overlay cannot bring a name into a lock that the lock would then be refused for.
#[test]
fn a_name_in_an_overlay_holds_what_such_names_hold() {
    let place = Place::with("overlay-names", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    let source = "[[source]]\nid = \"acme\"\nat = \"https://acme.example\"\nkind = \"article\"\nseen = \"2026-11-01\"\nnote = \"x\"\n";
    let gpu = "[[gpu]]\nname = \"NVIDIA Acme 1\"\ncc = \"9.0\"\narchitecture = \"Hopper\"\nclass = \"datacenter\"\nsource = \"acme\"\n";
    let os = "[[os]]\nid = \"acmelinux1\"\nname = \"Acme Linux\"\nglibc = \"2.35\"\nsource = \"acme\"\n";
    let good = format!("{source}{gpu}{os}");
    place.write("checkout/site.toml", &good);
    place.run(&["lock"]).exits(0);
    for (from, before) in [("NVIDIA Acme 1", ""), ("acmelinux1", ""), ("https://acme.example", "https://acme.example/")]
    {
        for payload in ["$(touch /pwned)", "`touch /pwned`", "x; touch /pwned", "'x'", "\\\"x\\\"", "a\\\\b"] {
            place.write("checkout/site.toml", &good.replace(from, &format!("{before}{payload}")));
            let ran = place.run(&["lock"]);
            assert_eq!(ran.code, 2, "{from} {payload} {ran:?}");
        }
    }
}
