//! How runs end where something is wrong: with words, on the stream that can take them, and the exit code that says
//! what kind of wrong it is.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::checkout::{Place, Ran};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n";

#[test]
fn what_stdout_does_not_take_is_told_on_stderr() {
    if !fs::exists("/dev/full").unwrap_or(false) {
        return;
    }
    let place = Place::with("full", SPEC);
    for args in [&["lock"][..], &["catalog"], &["explain"], &["export", "env"], &["--help"]] {
        for format in ["human", "json", "github"] {
            let mut command = place.command("checkout", &[args, &["--format", format]].concat());
            command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
            let ran = Ran::of(&mut command);
            let prints = format == "json" || args != ["lock"];
            assert_eq!(ran.code, if prints { 4 } else { 0 }, "{args:?} {format}: {ran:?}");
            assert_eq!(ran.err.matches("stdout cannot be written").count(), usize::from(prints), "{args:?} {ran:?}");
        }
    }
    // A stdout that is closed takes nothing either, and the null device everything.
    for (shell, code) in [("exec \"$0\" export env >&-", 4), ("exec \"$0\" export env >/dev/null", 0)] {
        let mut command = Command::new("sh");
        command.current_dir(place.path("checkout")).args(["-c", shell, env!("CARGO_BIN_EXE_gpuenv")]);
        let ran = Ran::of(&mut command).exits(code);
        assert_eq!(ran.err.contains("stdout cannot be written: it is closed"), code == 4, "{ran:?}");
    }
    // What was to be told is told as well.
    place.write("checkout/gpuenv.toml", "[stack]\ntorhc = 1\n");
    let mut command = place.command("checkout", &["lock", "--format", "json"]);
    command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    Ran::of(&mut command).exits(4).says("`torhc` must be a string").says("stdout cannot be written");
}

/// An error after files were written names them.
#[test]
fn what_was_written_is_told_with_what_could_not_be_printed() {
    if !fs::exists("/dev/full").unwrap_or(false) {
        return;
    }
    let place = Place::with("full-written", SPEC);
    for (args, says) in [
        (&["lock"][..], "; gpuenv.lock was written"),
        (&["add", "torchvision"], "; gpuenv.toml and gpuenv.lock were written"),
    ] {
        let mut command = place.command("checkout", &[args, &["--format", "json"]].concat());
        command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let ran = Ran::of(&mut command).exits(4).says("stdout cannot be written").says(says);
        assert_eq!(ran.err.matches("error[").count(), 1, "{ran:?}");
    }
    place.run(&["lock", "--check"]).exits(0);
}

/// One code has one exit code: what is still to be made, or a file that was named and is not there.
#[test]
fn what_was_named_and_is_not_there_is_not_found() {
    let place = Place::with("named", SPEC);
    for command in [&["export", "env"][..], &["verify", "--quick"], &["fleet", "check", "h.json"]] {
        place.run(command).exits(2).says("error[no-lock]");
        for (option, file) in [("--lock", "nope.lock"), ("--spec", "nope.toml")] {
            let told = format!("error[not-found]: {file}");
            place.run(&[command, &[option, file]].concat()).exits(4).says(&told);
        }
    }
    let ran = place.run(&["init", "--os", "windows11", "--gpu", "T4", "-o", "-"]).exits(3);
    ran.says("error[not-supported-yet]: invalid value for `--os`").says("`--platform \"wsl2\"`").hides("platform = ");
}

#[test]
fn a_missing_spec_names_what_makes_one() {
    let place = Place::new("missing");
    place.run(&["lock"]).exits(2).says("gpuenv.toml not found").says("`gpuenv init`");
    place.run(&["lock", "--spec", "x.toml"]).exits(4).says("x.toml cannot be read").says("`gpuenv init --spec x.toml`");
}

#[test]
fn a_lock_that_explain_cannot_read_is_told() {
    let place = Place::with("explain", SPEC);
    place.run(&["lock"]).exits(0);
    place.run(&["explain"]).exits(0).hides("not compared");
    let lock = place.read("checkout/gpuenv.lock");
    for (text, says) in [
        ("version = 99\n".to_string(), "format 99"),
        (lock.replacen("\nstack.torch", "\n<<<<<<< ours\nstack.torch", 1), "merge-conflict marker"),
        ("stack = {".to_string(), "line 1"),
    ] {
        place.write("checkout/gpuenv.lock", &text);
        place.run(&["explain"]).exits(2).says("not compared with the lock").says(says);
        // Programs get the error alone: the rest would be of another status.
        let ran = place.run(&["explain", "--format", "json"]).exits(2);
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert!(told["errors"][0]["message"].as_str().unwrap().contains(says), "{told:#}");
    }
}

/// Each says what to do.
#[test]
fn a_file_that_cannot_be_read_has_a_way_out() {
    let place = Place::with("unread", SPEC);
    place.run(&["lock", "--spec", "nix.toml"]).exits(4).says("check its name");
    place.run(&["lock", "--spec", "/dev/zero"]).exits(4).says("not a regular file").says("only regular files are read");
    let spec = place.path("checkout/gpuenv.toml");
    fs::remove_file(&spec).unwrap();
    symlink("nowhere.toml", &spec).unwrap();
    place.run(&["lock"]).exits(4).says("it is a link to nowhere.toml, which does not exist").says("mend the link");
    fs::remove_file(&spec).unwrap();
    symlink("gpuenv.toml", &spec).unwrap();
    place.run(&["lock"]).exits(4).says("the link leads to no file");
    fs::remove_file(&spec).unwrap();
    fs::create_dir(&spec).unwrap();
    place.run(&["lock"]).exits(4).says("gpuenv.toml is a folder").says("move the folder out of the way");
}

/// What is read is bounded so that an answer comes within seconds: ten thousand targets or packages, a lock of theirs.
#[test]
fn more_than_anyone_has_is_refused_at_once() {
    let targets = |count: usize| {
        let each = (0..count).map(|at| format!("[target.t{at}]\ngpu = \"T4\"\n"));
        format!("[stack]\ntorch = \"2.5.1\"\n{}", each.collect::<String>())
    };
    let packages = (0..=10_000).map(|at| format!("p{at} = \"*\"\n")).collect::<String>();
    let place = Place::with("large", &targets(10_000));
    place.run(&["lock"]).exits(0);
    place.run(&["export", "json", "--target", "t1"]).exits(0);
    for text in [targets(10_001), format!("{SPEC}[packages]\n{packages}")] {
        place.write("checkout/gpuenv.toml", &text);
        place.run(&["lock"]).exits(2).says("error[too-large]").says("more than 10000 entries");
    }
    let exceptions: String = (0..257)
        .map(|at| format!("[[override]]\nrule = \"wheel-glibc\"\ntarget = \"t{at}\"\nreason = \"x\"\n"))
        .collect();
    let files = "kubernetes = [".to_string() + &"{ file = \"x\" },".repeat(257) + "]\n";
    for text in [format!("{}{exceptions}", targets(300)), format!("{SPEC}[export]\n{files}")] {
        place.write("checkout/gpuenv.toml", &text);
        place.run(&["lock"]).exits(2).says("error[too-many]").says("stands 257 times; at most 256 are taken");
    }
    place.write("checkout/gpuenv.toml", SPEC);
    let names: Vec<String> = (0..501).map(|at| format!("p{at}")).collect();
    for command in ["add", "remove"] {
        let words: Vec<&str> = [command].into_iter().chain(names.iter().map(String::as_str)).collect();
        place.run(&words).exits(2).says("error[too-many]").says("at most 500");
    }
    place.write("checkout/gpuenv.lock", &format!("version = 2\n#{}\n", "x".repeat(32 << 20)));
    place.run(&["verify", "--quick"]).exits(2).says("error[too-large]").says("32 MiB");
}

/// What would be too much to be read again is told while the old lock is still there.
#[test]
fn a_lock_that_would_not_be_read_again_is_not_written() {
    let place = Place::with("too-much", SPEC);
    place.run(&["lock"]).exits(0);
    let lock = place.read("checkout/gpuenv.lock");
    let gpus = "gpu = [\"T4\", \"A100-PCIE-40GB\", \"H100 NVL\", \"L4\", \"A10\"]";
    let targets: String = (0..4_500).map(|at| format!("[target.t{at}]\n{gpus}\n")).collect();
    let spec = format!("[stack]\ntorch = \"2.5.1\"\n[resolve]\nshare = \"none\"\n{targets}");
    place.write("checkout/gpuenv.toml", &spec);
    for args in [&["lock", "--fresh"][..], &["add", "torchvision"]] {
        place
            .run(args)
            .exits(2)
            .says("error[too-large]")
            .says("nothing was written")
            .says("of these 4500 targets about ")
            .says("fewer targets");
        assert_eq!(place.read("checkout/gpuenv.lock"), lock, "{args:?}");
        assert_eq!(place.read("checkout/gpuenv.toml"), spec, "{args:?}");
    }
}

/// A device, or a program that never stops: what was read of it is told.
#[test]
fn a_text_without_an_end_is_left_in_time() {
    let place = Place::new("endless");
    for args in [&["diagnose"][..], &["probe", "--from", "-"], &["fleet", "check", "--against", "gpuenv.toml", "-"]] {
        place.write("checkout/gpuenv.toml", SPEC);
        let begun = Instant::now();
        let ran = Ran::of(place.command("checkout", args).stdin(fs::File::open("/dev/zero").unwrap()));
        assert!([2, 3].contains(&ran.code) && begun.elapsed() < Duration::from_secs(30), "{args:?}: {ran:?}");
        assert!(ran.err.contains("MiB") || ran.out.contains("MiB"), "{args:?}: {ran:?}");
    }
}

/// Nor does a document without an end, or nothing without an end, hold a fleet.
#[test]
fn a_stream_without_a_host_is_left_in_time() {
    let place = Place::with("endless-fleet", SPEC);
    for (writes, says) in [("yes '{\"a\":[' | tr -d '\\n'", "has no end"), ("yes ''", "hold no host")] {
        let mut writer = Command::new("sh").args(["-c", writes]).stdout(Stdio::piped()).spawn().unwrap();
        let mut command = place.command("checkout", &["fleet", "check", "--against", "gpuenv.toml", "-"]);
        let ran = Ran::of(command.stdin(writer.stdout.take().unwrap()));
        // The writer hears of it when nobody holds the other end any more.
        drop(command);
        let _ = writer.wait();
        assert!([2, 3].contains(&ran.code), "{writes}: {ran:?}");
        assert!(ran.err.contains(says) || ran.out.contains(says), "{writes}: {ran:?}");
    }
}

/// The processor's time of a run, in seconds.
fn time_of(place: &Place, args: &[&str]) -> f64 {
    let mut child = place.command("checkout", args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // SAFETY: all zeroes are a value of this plain structure.
    let (mut status, mut usage): (_, libc::rusage) = (0, unsafe { std::mem::zeroed() });
    let pid = child.id() as libc::pid_t;
    // SAFETY: the child is ours, nobody else waits for it, and the number and the structure are ours to write to.
    assert_eq!(unsafe { libc::wait4(pid, &mut status, 0, &mut usage) }, pid);
    drop(child.try_wait());
    let of = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// Of exceptions that change nothing all are found in one question, and of files that one Dockerfile serves each asks once.
#[test]
fn exceptions_and_files_of_many_targets_take_no_longer_each() {
    let place = Place::new("many-exceptions");
    let times = |count: usize, args: &[&str]| {
        let each = |text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
        let targets = each(&|at| format!("[target.t{at}]\ngpu = \"T4\"\nimage = \"nvidia/cuda\"\n"));
        let exceptions =
            each(&|at| format!("[[override]]\nrule = \"wheel-glibc\"\ntarget = \"t{at}\"\nreason = \"x\"\n"));
        let export = "[export]\nkubernetes = \"k/{target}.yaml\"\n";
        place.write("checkout/gpuenv.toml", &format!("[stack]\ntorch = \"2.5.1\"\n{export}{targets}{exceptions}"));
        place.run(&["lock"]).exits(0).says("changes nothing");
        time_of(&place, args)
    };
    for args in [&["lock", "--fresh"][..], &["export"]] {
        let (few, many) = (times(60, args), times(240, args));
        println!("{args:?}: {few:.2} s, {many:.2} s");
        assert!(many < few * 7.0 + 0.2, "{args:?}: {few} s become {many} s");
    }
}

/// A project with so many targets, and files of as many lines.
fn grown(count: usize) -> Place {
    let place = Place::new(&format!("growth-{count}"));
    let each = |text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let targets = each(&|at| format!("[target.t{at}]\ngpu = \"T4\"\n"));
    place.write("checkout/gpuenv.toml", &format!("[stack]\ntorch = \"2.5.1\"\n{targets}"));
    place.run(&["lock"]).exits(0);
    place.write("checkout/log.xml", &"<nvidia_smi_log><driver_version>535.1</driver_version>\n".repeat(count * 8));
    let names = each(&|at| format!("  \"p{at}>=1\",\n"));
    let sources = each(&|at| format!("p{at} = {{ index = \"x\" }}\n"));
    let project = format!("[project]\nname = \"x\"\ndependencies = [\n{names}]\n[tool.uv.sources]\n{sources}");
    place.write("checkout/pyproject.toml", &project);
    place.write("checkout/setup.py", &format!("setup(install_requires=[\n{names}])\n"));
    // Locks of one target that hold many packages.
    place.write("checkout/small.toml", "[stack]\ntorch = \"2.5.1\"\n[target.t0]\ngpu = \"T4\"\n");
    place.run(&["lock", "--spec", "small.toml"]).exits(0);
    let lock = place.read("checkout/small.lock");
    let stack = each(&|at| format!("stack.k{at} = \"1\"\n"));
    let wheel = |at, version| {
        format!(
            "  {{ package = \"p{at}\", version = \"{version}\", arch = \"x86_64\", sha256 = \"unknown\", targets = [\"t0\"] }},\n"
        )
    };
    for version in ["1", "2"] {
        let wheels = each(&|at| wheel(at, version));
        let grown = lock.replacen("wheel = [\n", &format!("wheel = [\n{wheels}"), 1);
        assert_ne!(grown, lock);
        place.write(&format!("checkout/{version}.lock"), &grown);
    }
    place.write("checkout/small.lock", &lock.replacen("stack.torch", &format!("{stack}stack.torch"), 1));
    place
}

/// Four times as many targets, or lines, take four times as long, not sixteen times.
#[test]
fn work_grows_no_faster_than_what_is_read() {
    let (few, many) = (grown(2_000), grown(8_000));
    for args in [
        &["explain"][..],
        &["explain", "--graph", "dot"],
        &["export", "json"],
        &["export", "requirements"],
        &["export", "uv"],
        &["lock", "--dry-run", "--spec", "small.toml"],
        &["diff", "1.lock", "2.lock"],
        &["probe", "--from", "log.xml"],
        &["init", "--from", "pyproject.toml", "-o", "-"],
        &["init", "--from", "setup.py", "-o", "-"],
    ] {
        let (few, many) = (time_of(&few, args), time_of(&many, args));
        println!("{args:?}: {few:.2} s, {many:.2} s");
        assert!(many < few * 7.0 + 0.2, "{args:?}: {few} s become {many} s");
    }
}

/// Without a project there is none to tell of.
#[test]
fn outside_of_a_project_short_names_are_looked_up_among_the_facts() {
    let place = Place::new("no-project");
    let newest = place.run(&["explain", "driver"]).exits(0).out;
    assert!(newest.contains("branch 535") && !newest.contains("branch 304"), "{newest}");
    assert!(newest.contains("`--verbose` shows every row"), "{newest}");
    assert!(place.run(&["explain", "driver", "--verbose"]).exits(0).out.contains("branch 304"));
    assert!(place.run(&["explain", "gpu"]).exits(0).out.contains("key target.gpu"));
}

/// Whoever is on the way to an index over http can put any wheel into it.
#[test]
fn an_index_without_https_is_refused() {
    let place = Place::with("http", SPEC);
    place.run(&["lock"]).exits(0);
    let lock = place.read("checkout/gpuenv.lock");
    let edited = lock.replace("https://download.pytorch.org/whl", "http://download.pytorch.org/whl");
    assert_ne!(edited, lock);
    place.write("checkout/gpuenv.lock", &edited);
    for format in ["requirements", "uv", "dockerfile", "json"] {
        place.run(&["export", format]).exits(2).says("https://");
    }
    place.write("checkout/gpuenv.lock", &lock);
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    let row = "[[source]]\nid = \"acme\"\nat = \"https://acme.example\"\nkind = \"measured\"\nseen = \"2026-11-22\"\n[[build]]\npackage = \"torch\"\nversion = \"2.7.1.7\"\nvariant = \"cu126\"\narch = \"x86_64\"\nstatus = \"stable\"\ndefault = true\nindex_url = \"http://wheels.acme.example/simple\"\npythons = [\"3.12\"]\nglibc = \"2.28\"\nsass = [\"9.0\"]\ntoolkit = \"12.6.3\"\nsource = \"acme\"\narch_source = \"acme\"\npins_source = \"acme\"\n";
    place.write("checkout/site.toml", row);
    place.run(&["lock"]).exits(2).says("http://wheels.acme.example/simple");
}

#[test]
fn a_mistake_of_gpuenv_has_an_exit_code_of_its_own() {
    let place = Place::with("panic", SPEC);
    place.run(&["--help"]).exits(0);
    if !cfg!(debug_assertions) {
        return;
    }
    for format in ["human", "json", "github"] {
        let mut command = place.command("checkout", &["lock", "--format", format]);
        let ran = Ran::of(command.env("GPUENV_TEST_PANIC", "a \u{1b}[31m test")).exits(70);
        assert!(!ran.err.contains("RUST_BACKTRACE") && !ran.err.contains('\u{1b}'), "{ran:?}");
        if format == "json" {
            let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            let error = &document["errors"][0];
            assert_eq!((document["status"].as_str(), error["code"].as_str()), (Some("error"), Some("internal-error")));
        } else {
            ran.says("error[internal-error]").says("report it").says("mistake.rs");
        }
    }
    let help = place.run(&["--help"]);
    assert!(help.out.contains("70"), "{}", help.out);
}

#[test]
fn a_date_beyond_all_months_is_no_panic() {
    let place = Place::with("months", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    for date in ["4294967295-01", "400000000-12", "99999999999999-1", "-1-1"] {
        let row = format!(
            "source = [{{ id = \"acme\", at = \"https://acme.example\", kind = \"measured\", seen = \"2026-11-22\" }}]\n\
             driver = [{{ version = \"570.26.7\", date = \"{date}\", source = \"acme\" }}]\n"
        );
        place.write("checkout/site.toml", &row);
        place.run(&["lock"]).exits(2).says("is not a date");
    }
}

#[test]
fn of_several_near_ids_the_same_is_named_each_time() {
    let place = Place::with("nearest", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    place.write(
        "checkout/site.toml",
        "source = [{ id = \"acme\", at = \"https://acme.example\", kind = \"measured\", seen = \"2026-11-22\" }]\n\
         driver = [{ version = \"470.82.09\", replace = true, source = \"acme\" }]\n",
    );
    let first = place.run(&["lock"]).exits(2).says("the nearest id is").err;
    for _ in 0..12 {
        assert_eq!(place.run(&["lock"]).err, first);
    }
}

#[test]
fn a_record_keeps_no_variable_that_is_not_known_to_be_harmless() {
    let place = Place::new("variables");
    let mut command = place.command("checkout", &["probe", "--format", "json", "--quick"]);
    command.env("CUDA_VISIBLE_DEVICES", "0");
    let secrets = [
        "NVIDIA_AUTH",
        "CUDA_PASSPHRASE",
        "NVIDIA_NGC_PW",
        "NCCL_LOGIN",
        "PYTORCH_SIGNING",
        "CUDA_HUNTER",
        "NGC_CLI_ORG",
    ];
    for name in secrets {
        command.env(name, "HUNTER2");
    }
    let ran = Ran::of(&mut command).exits(0);
    assert!(ran.out.contains("CUDA_VISIBLE_DEVICES") && !ran.out.contains("HUNTER2"), "{}", ran.out);
    // Nor one that another gpuenv kept, or that somebody pasted.
    let record = "{\"format\": 1, \"environment\": {\"NVIDIA_AUTH\": \"HUNTER2\", \"CUDA_VISIBLE_DEVICES\": \"1\"}}";
    place.write("checkout/host.json", record);
    let ran = place.run(&["probe", "--from", "host.json", "--format", "json"]).exits(0).hides("HUNTER2");
    assert!(ran.out.contains("CUDA_VISIBLE_DEVICES"), "{}", ran.out);
}
