//! `gpuenv add`, `remove` and `target`, `lock --dry-run`, `--force` and `-q`, as users run them.

use std::fs;

use crate::common::sandbox::Sandbox;

const SPEC: &str = "\
# ours
[stack]
torch  = \"2.5\"   # see ticket 7
python = \"3.11\"

# four of them
[target.prod]
gpu    = \"RTX 4090\"
driver = \"550\"
";

fn lock(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap_or_default()
}

/// Both files as they are now.
fn both(sandbox: &Sandbox) -> (String, String) {
    (sandbox.spec(), lock(sandbox))
}

#[test]
fn a_package_is_added_changed_and_removed_and_nothing_else_moves() {
    let sandbox = Sandbox::new("edit-add", SPEC);
    sandbox.run(&["add", "torchvision"]).exits(0).says("+ torchvision = \"*\"").says("locked 1 target");
    assert_eq!(sandbox.spec(), SPEC.replace("\"3.11\"\n", "\"3.11\"\ntorchvision = \"*\"\n"));
    assert!(lock(&sandbox).contains("stack.torchvision = \"0.20.1\""));
    let ran = sandbox.run(&["add", "torchvision>=0.21", "torch==2.6.0+cu124"]).exits(0);
    let ran = ran.says("`torch` is in [stack] already: `2.5` becomes `2.6.0+cu124`");
    ran.says("`*` becomes `>=0.21`");
    assert!(sandbox.spec().contains("torch  = \"2.6.0+cu124\"   # see ticket 7\n"), "{}", sandbox.spec());
    sandbox.run(&["remove", "torchvision"]).exits(0).says("- torchvision = \">=0.21\"");
    assert_eq!(sandbox.spec(), SPEC.replace("2.5", "2.6.0+cu124"));
    assert!(!lock(&sandbox).contains("torchvision ="));
    sandbox.run(&["lock", "--check"]).exits(0);
    let (code, told) = sandbox.json(&["add", "torch==2.5.1"]);
    assert_eq!((code, &told["status"], &told["applied"][0]["to"]), (0, &"ok".into(), &"2.5.1".into()), "{told}");
}

/// `==` is that release, as pip has it, and neither a post release of it nor one with a longer number.
#[test]
fn a_release_that_is_typed_is_that_release() {
    let sandbox = Sandbox::new("edit-alone", "[stack]\ntorch = \"2.6.0\"\n[target.a]\ngpu = \"L4\"\n");
    sandbox.run(&["add", "xformers==0.0.29.post2"]).exits(0).says("+ xformers = \"0.0.29.post2\"");
    let sandbox = Sandbox::new("edit-alone-tf", "[stack]\npython = \"3.11\"\n[target.a]\ngpu = \"L4\"\n");
    sandbox.run(&["add", "tensorflow==2.15.0"]).exits(0).says("+ tensorflow = \"2.15.0,<2.15.0.post1\"");
    assert!(lock(&sandbox).contains("stack.tensorflow = \"2.15.0+"), "{}", lock(&sandbox));
    let sandbox = Sandbox::new("edit-alone-vllm", "[stack]\npython = \"3.12\"\n[target.a]\ngpu = \"L4\"\n");
    sandbox.run(&["add", "vllm==0.10.1"]).exits(0).says("+ vllm = \"0.10.1,<0.10.1.1\"");
    assert!(lock(&sandbox).contains("stack.vllm = \"0.10.1\""), "{}", lock(&sandbox));
}

/// A Python that the new line leaves out is not kept for having been locked.
#[test]
fn a_python_that_a_new_package_excludes_is_not_kept() {
    let spec = "[stack]\ntorch = \">=2.6,<2.11\"\npython = \">=3.11,<3.14\"\n[target.a]\ngpu = \"A100-SXM4-80GB\"\n";
    let sandbox = Sandbox::new("edit-python", spec);
    sandbox.run(&["lock"]).exits(0);
    assert!(lock(&sandbox).contains("stack.python = \"3.13\""), "{}", lock(&sandbox));
    sandbox.run(&["add", "numpy<2"]).exits(0);
    assert!(lock(&sandbox).contains("stack.python = \"3.12\""), "{}", lock(&sandbox));
    // Nor is it where the line that held it is gone.
    let held = spec.replace(">=3.11,<3.14", "3.13") + "[packages]\nnumpy = \"<2\"\n";
    let sandbox = Sandbox::new("edit-python-held", &held);
    sandbox.run(&["lock"]).exits(0);
    sandbox.write(&held.replace("\"3.13\"", "\">=3.11,<3.14\""));
    sandbox.run(&["lock"]).exits(0);
    assert!(lock(&sandbox).contains("stack.python = \"3.12\""), "{}", lock(&sandbox));
}

#[test]
fn what_cannot_be_added_or_removed_is_told_and_nothing_is_written() {
    let sandbox = Sandbox::new("edit-refused", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let before = both(&sandbox);
    for (args, wanted) in [
        (&["add", "troch"][..], "did you mean `torch`?"),
        (&["add", "torch@2.6"], "write `torch==2.6`"),
        (&["add", "torch>=2.5", "torch<2.6"], "named twice"),
        (&["add"], "PACKAGE"),
        (&["remove", "vllm"], "what is there: torch, python"),
        (&["remove", "torch", "python"], "nothing to lock"),
        (&["target", "add", "prod", "--gpu", "L4"], "has a target `prod` already"),
        (&["target", "add", "a b", "--gpu", "L4"], "invalid target name"),
        (&["target", "add", "lab", "--driver", "new"], "invalid value for `--driver`"),
        (&["target", "add", "lab", "--gpu", "RTX 309x"], "unknown GPU `RTX 309x`"),
        (&["target", "remove", "lab"], "the targets are: prod"),
        (&["target", "remove", "prod"], "`prod` is the only target"),
    ] {
        let ran = sandbox.run(args).exits(2).says(wanted);
        assert!(!ran.err.contains("note:"), "a change is told that was not made: {ran:?}");
        assert!(!ran.err.contains(",-["), "a box in a file that was never written: {ran:?}");
        assert_eq!(both(&sandbox), before, "{args:?}");
    }
    let (code, told) = sandbox.json(&["add", "troch"]);
    assert_eq!((code, &told["errors"][0]["code"]), (2, &"unknown-package".into()), "{told}");
}

/// What the catalog has not heard of is carried along; what is near to a name of the stack is a slip.
#[test]
fn an_unheard_of_package_is_an_ordinary_one() {
    let sandbox = Sandbox::new("edit-unheard-of", SPEC);
    let ran = sandbox.run(&["add", "my-company-lib", "my-tools>=2"]).exits(0);
    ran.says("not in the catalog, which is why it goes under [packages]: `my-company-lib`, `my-tools`");
    let spec = sandbox.spec();
    assert!(spec.contains("[packages]\nmy-company-lib = \"*\"\nmy-tools = \">=2\"\n"), "{spec}");
    sandbox.run(&["lock", "--check"]).exits(0);
    for slip in ["torhc", "tensorflw==2.15"] {
        let ran = sandbox.run(&["add", "my-other", slip]).exits(2);
        assert!(!ran.err.contains("goes under"), "{ran:?}");
    }
    assert_eq!(sandbox.spec(), spec);
}

#[test]
fn a_new_conflict_is_shown_and_neither_file_is_written() {
    let sandbox = Sandbox::new("edit-conflict", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let before = both(&sandbox);
    let ran = sandbox.run(&["target", "add", "lab", "--gpu", "RTX 5090"]).exits(1);
    ran.says("gpuenv.toml and gpuenv.lock were not changed");
    let (code, told) = sandbox.json(&["add", "torch==2.9.0+cu130"]);
    assert_eq!((code, &told["status"]), (1, &"conflict".into()), "{told}");
    assert_eq!((both(&sandbox), told.get("applied")), (before, None), "{told}");
}

#[test]
fn a_conflict_that_was_there_before_keeps_nobody_from_mending_another() {
    let broken = SPEC.replace("\"2.5\"", "\"2.9.0+cu130\"") + "[target.new]\ngpu = \"RTX 5090\"\ndriver = \"535\"\n";
    let sandbox = Sandbox::new("edit-old-conflict", &broken);
    let ran = sandbox.run(&["target", "remove", "new"]).exits(1);
    ran.says("what stands in the way of a lock was there before").says("gpuenv.lock was not changed");
    assert!(!sandbox.spec().contains("target.new") && lock(&sandbox).is_empty(), "{}", sandbox.spec());
    // JSON says that the spec was changed, and what in it.
    let (code, told) = sandbox.json(&["add", "torchvision"]);
    assert_eq!((code, &told["status"]), (1, &"conflict".into()), "{told}");
    let applied = serde_json::json!([{ "key": "stack.torchvision", "from": null, "to": "*" }]);
    assert_eq!((&told["applied"], sandbox.spec().contains("torchvision")), (&applied, true), "{told}");
    let (_, told) = sandbox.json(&["target", "add", "any"]);
    assert_eq!((&told["applied"][0]["key"], sandbox.spec().contains("[target.any]")), (&"target.any".into(), true));
    sandbox.run(&["target", "remove", "any"]).exits(1);
    let (_, told) = sandbox.json(&["remove", "torchvision"]);
    assert_eq!((&told["applied"][0]["from"], &told["applied"][0]["to"]), (&"*".into(), &serde_json::Value::Null));
    // The last of them mended, there is a lock.
    sandbox.run(&["add", "torch==2.5.1"]).exits(0);
    sandbox.run(&["lock", "--check"]).exits(0);
}

#[test]
fn a_target_is_added_with_every_key_and_removed_again() {
    let sandbox = Sandbox::new("edit-target", SPEC);
    let args = [
        "target",
        "add",
        "lab",
        "--gpu",
        "RTX 3090",
        "--gpu",
        "A100-PCIE-40GB",
        "--driver",
        "550",
        "--os",
        "ubuntu22.04",
    ];
    sandbox.run(&args).exits(0).says("+ [target.lab]").says("locked 2 targets");
    let added = "\n[target.lab]\ngpu = [\"RTX 3090\", \"A100-PCIE-40GB\"]\ndriver = \"550\"\nos = \"ubuntu22.04\"\n";
    assert_eq!(sandbox.spec(), format!("{SPEC}{added}"));
    sandbox.run(&["lock", "--check"]).exits(0);
    sandbox.run(&["target", "remove", "lab"]).exits(0).says("locked 1 target");
    assert_eq!(sandbox.spec(), SPEC);
    // A spec that lacks its machines or its packages may be completed.
    sandbox.write("[stack]\ntorch = \"2.5\"\n");
    sandbox.run(&["target", "add", "ci", "--gpu", "none"]).exits(0);
    sandbox.write("[target.ci]\ngpu = \"L4\"\n");
    sandbox.run(&["add", "torch"]).exits(0);
    assert_eq!(sandbox.spec(), "[target.ci]\ngpu = \"L4\"\n\n[stack]\ntorch = \"*\"\n");
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = Sandbox::new("edit-dry", SPEC);
    sandbox.run(&["lock", "--dry-run"]).exits(0).says("would lock 1 target").says("2.5.1+cu124");
    assert!(!sandbox.path("gpuenv.lock").exists());
    sandbox.run(&["lock"]).exits(0);
    let before = both(&sandbox);
    sandbox
        .run(&["add", "torch==2.6", "--dry-run"])
        .exits(0)
        .says("would change gpuenv.toml")
        .says("2.5.1+cu124 -> 2.6.0+cu124");
    sandbox.run(&["remove", "python", "--dry-run"]).exits(0).says("- python = \"3.11\"");
    sandbox.run(&["target", "add", "lab", "--gpu", "H100", "--dry-run"]).exits(0).says("+ [target.lab]");
    sandbox.run(&["lock", "--upgrade-package", "torch=2.5.0", "--dry-run"]).exits(0).says("2.5.1+cu124 -> 2.5.0+cu124");
    sandbox.run(&["lock", "--dry-run"]).exits(0).says("is up to date");
    sandbox.run(&["lock", "--dry-run", "--check"]).exits(2);
    assert_eq!(both(&sandbox), before);
    sandbox.write(&SPEC.replace("\"2.5\"", "\"2.9.0+cu130\""));
    let spec = sandbox.spec();
    sandbox.run(&["lock", "--dry-run"]).exits(1);
    sandbox
        .run(&["lock", "--apply-fix", "1", "--dry-run"])
        .exits(0)
        .says("would change gpuenv.toml")
        .says("would lock");
    assert_eq!((sandbox.spec(), lock(&sandbox)), (spec, before.1));
}

#[test]
fn quiet_leaves_errors_and_data_alone() {
    let sandbox = Sandbox::new("edit-quiet", SPEC);
    for args in [&["lock", "-q"][..], &["add", "torchvision", "-q"], &["explain", "--quiet"], &["export", "env", "-q"]]
    {
        let ran = sandbox.run(args).exits(0);
        assert_eq!(ran.err, "", "{args:?}");
    }
    assert!(sandbox.run(&["-q", "explain", "torch"]).exits(0).out.contains("stack.torch"));
    sandbox.run(&["lock", "-q"]).exits(0);
    sandbox.write("[stack]\ntorch = 2\n");
    sandbox.run(&["lock", "-q"]).exits(2).says("error[");
    sandbox.write(&SPEC.replace("\"2.5\"", "\"2.9.0+cu130\""));
    sandbox.run(&["lock", "-q"]).exits(1).says("error[conflict]");
    sandbox.run(&["lock", "-q", "--check"]).exits(1).says("error[stale]");
}

#[test]
fn the_lock_of_another_spec_is_replaced_only_where_that_is_meant() {
    let sandbox = Sandbox::new("edit-other", SPEC);
    fs::write(sandbox.path("a.toml"), SPEC.replace("2.5", "2.6")).unwrap();
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["lock", "--spec", "a.toml"]).exits(0);
    assert!(!lock(&sandbox).contains("\nspec ="), "the usual names go without saying");
    let before = lock(&sandbox);
    let onto = ["lock", "--spec", "a.toml", "--lock", "gpuenv.lock"];
    for more in [&[][..], &["--fresh"], &["--upgrade"], &["--dry-run"]] {
        let ran = sandbox.run(&[&onto, more].concat()).exits(2).says("was made from gpuenv.toml, not from a.toml");
        ran.says("--lock a.lock");
    }
    sandbox.run(&[&onto[..], &["--check"]].concat()).exits(1).says("it was made from gpuenv.toml, not from a.toml");
    assert_eq!(lock(&sandbox), before);
    sandbox.run(&[&onto[..], &["--force"]].concat()).exits(0);
    assert!(lock(&sandbox).contains("\nspec = \"a.toml\"\n"), "{}", lock(&sandbox));
    sandbox.run(&onto).exits(0).says("is up to date");
    sandbox.run(&[&onto[..], &["--check"]].concat()).exits(0);
    sandbox.run(&["add", "torchvision"]).exits(2).says("was made from a.toml");
    // What is exported is compared with the spec that the lock is of.
    sandbox.run(&["export", "env", "--locked"]).exits(0);
    sandbox.run(&["lock"]).exits(2);
    sandbox.run(&["lock", "--force"]).exits(0);
    assert_eq!(lock(&sandbox), before);
    // In another folder the way to it stands there, and no path of this machine.
    fs::create_dir(sandbox.path("locks")).unwrap();
    sandbox.run(&["lock", "--lock", "locks/x.lock"]).exits(0);
    let text = fs::read_to_string(sandbox.path("locks/x.lock")).unwrap();
    assert!(text.contains("spec = \"../gpuenv.toml\"") || text.contains("spec = \"gpuenv.toml\""), "{text}");
    assert!(!text.contains(sandbox.path("").to_str().unwrap()), "{text}");
}

#[test]
fn a_newer_lock_is_left_alone_by_fresh_too() {
    let sandbox = Sandbox::new("edit-newer", SPEC);
    fs::write(sandbox.path("gpuenv.lock"), "version = 99\nfuture = [1]\n").unwrap();
    sandbox.run(&["lock", "--fresh"]).exits(2).says("format 99");
    assert_eq!(lock(&sandbox), "version = 99\nfuture = [1]\n");
    fs::write(sandbox.path("gpuenv.lock"), "<<<<<<< ours\n").unwrap();
    sandbox.run(&["lock", "--fresh"]).exits(0);
}

#[test]
fn where_the_lock_cannot_be_written_the_spec_stays_as_it_was() {
    let sandbox = Sandbox::new("edit-unwritable", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["add", "torchvision", "--lock", "no/such/x.lock"]).exits(4);
    assert_eq!(sandbox.spec(), SPEC, "{ran:?}");
}

#[test]
fn a_gpuenv_toml_that_is_a_link_out_of_the_project_is_not_written() {
    let sandbox = Sandbox::new("edit-link", SPEC);
    fs::create_dir_all(sandbox.path("project/.git")).unwrap();
    fs::write(sandbox.path("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::rename(sandbox.path("gpuenv.toml"), sandbox.path("outside.toml")).unwrap();
    std::os::unix::fs::symlink("../outside.toml", sandbox.path("project/gpuenv.toml")).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        command.current_dir(sandbox.path("project")).args(args).output().unwrap()
    };
    let ran = run(&["add", "torchvision"]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("outside-project"), "{ran:?}");
    assert_eq!(fs::read_to_string(sandbox.path("outside.toml")).unwrap(), SPEC);
    // What is named is the user's.
    let ran = run(&["add", "torchvision", "--spec", "gpuenv.toml", "--lock", "x.lock"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(fs::read_to_string(sandbox.path("outside.toml")).unwrap().contains("torchvision"));
}

#[test]
fn commands_that_are_shown_name_the_files_that_were_named() {
    let sandbox = Sandbox::new("edit-named", SPEC);
    fs::write(sandbox.path("b.toml"), SPEC.replace("\"2.5\"", "\"2.9.0+cu130\"")).unwrap();
    let ran = sandbox.run(&["lock", "--spec", "b.toml"]).exits(1);
    ran.says("`gpuenv lock --apply-fix N --spec b.toml`").says("`gpuenv lock --verbose --spec b.toml`");
    let fixed = sandbox.run(&["lock", "--apply-fix", "1", "--spec", "b.toml"]).exits(0);
    fixed.says("`gpuenv export uv -o pyproject.toml --spec b.toml`");
    assert_eq!(sandbox.spec(), SPEC);
    sandbox.run(&["lock", "--spec", "b.toml"]).exits(0).says("b.lock is up to date");
    fs::write(sandbox.path("b.toml"), SPEC).unwrap();
    let ran = sandbox.run(&["lock", "--check", "--spec", "b.toml"]).exits(1).says("b.lock is out of date");
    ran.says("run `gpuenv lock --spec b.toml`");
    let ran = sandbox.run(&["init", "--gpu", "L4", "-o", "my own.toml"]).exits(0);
    ran.says("run `gpuenv lock --spec 'my own.toml'`");
    // Who follows the advice for the lock of another spec is not refused again.
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["lock", "--check", "--spec", "b.toml", "--lock", "gpuenv.lock"]).exits(1);
    ran.says("replace it with `gpuenv lock --force --spec b.toml --lock gpuenv.lock`");
    sandbox.run(&["lock", "--force", "--spec", "b.toml", "--lock", "gpuenv.lock"]).exits(0);
}

#[test]
fn fixes_of_what_was_typed_are_not_offered_by_number() {
    let sandbox = Sandbox::new("edit-typed", SPEC);
    sandbox.run(&["lock"]).exits(0);
    for args in [&["add", "torch==2.9.0+cu130"][..], &["target", "add", "lab", "--gpu", "RTX 5090"]] {
        let ran = sandbox.run(args).exits(1).says("change the file, or what you typed, so, then run the command again");
        assert!(!ran.err.contains("--apply-fix"), "{ran:?}");
    }
    sandbox.write(&SPEC.replace("\"2.5\"", "\">=2.5\""));
    let ran = sandbox.run(&["lock", "--upgrade-package", "torch=2.9.0+cu130"]).exits(1);
    assert!(!ran.err.contains("--apply-fix"), "{ran:?}");
}

/// A footer names what shows the rest of what was just told: the file does not hold what was typed.
#[test]
fn the_rest_of_a_conflict_is_shown_by_the_command_that_is_named() {
    let sandbox = Sandbox::new("edit-rest", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let before = both(&sandbox);
    for args in [
        &["add", "torch==2.9.0+cu130"][..],
        &["target", "add", "old", "--gpu", "RTX 4090", "--driver", "418"],
        &["lock", "--upgrade-package", "torch=2.5.1+cpu"],
    ] {
        let ran = sandbox.run(args);
        let is_refused = ran.code == 1;
        if args[0] != "lock" {
            assert!(is_refused, "{args:?}\n{}", ran.err);
        }
        assert!(!ran.err.contains("`gpuenv lock --verbose`"), "{args:?}\n{}", ran.err);
        if is_refused {
            let more = sandbox.run(&[args, &["--verbose"]].concat()).exits(1);
            assert!(ran.err.contains("the same command with `--verbose` shows"), "{args:?}\n{}", ran.err);
            assert!(more.err.len() > ran.err.len(), "{}", more.err);
        }
    }
    assert_eq!(both(&sandbox), before);
}

/// A build of the user's own is no constraint that could be replaced by another.
#[test]
fn a_build_of_ones_own_is_changed_by_hand() {
    let own = "[stack.torch]\nversion = \"2.8.0\"\ncuda = \"12.6\"\n[target.a]\ngpu = \"A100\"\n";
    let sandbox = Sandbox::new("edit-own", own);
    for args in [["add", "torch==2.7.0"], ["remove", "torch"]] {
        let ran =
            sandbox.run(&args).exits(2).says("`torch` is a build of your own").says("help: change or remove the entry");
        assert!(!ran.err.contains("would not say"), "{}", ran.err);
        assert_eq!(sandbox.spec(), own);
    }
    // The blank before a closing brace stays there.
    let inline = Sandbox::new("edit-inline", "stack = { torch = \"2.6.0\" }\n[target.a]\ngpu = \"A100\"\n");
    inline.run(&["add", "torchvision"]).exits(0);
    assert!(inline.spec().starts_with("stack = { torch = \"2.6.0\", torchvision = \"*\" }\n"), "{}", inline.spec());
}

/// A target that other tables name is not removed from under them.
#[test]
fn a_target_that_is_named_elsewhere_is_shown_where() {
    let silence = "[[silence]]\nwarning = \"driver-end-of-life\"\ntarget = \"b\"\nreason = \"x\"\n";
    let rule = "[[override]]\nrule = \"wheel-glibc\"\ntarget = \"b\"\nreason = \"x\"\n";
    let export = "[export]\nuv = { file = \"pyproject.toml\", target = \"b\" }\n";
    let target = "[target.b]\ngpu = \"H100\"\n";
    for (more, table) in [(silence, "[[silence]]"), (rule, "[[override]]"), (export, "[export]")] {
        let sandbox = Sandbox::new("edit-named", &format!("{SPEC}{target}{more}"));
        let (code, told) = sandbox.json(&["target", "remove", "b"]);
        assert_eq!((code, told["errors"][0]["code"].as_str()), (2, Some("target-in-use")), "{told:#}");
        assert!(told["errors"][0]["span"].is_object(), "{told:#}");
        let ran = sandbox.run(&["target", "remove", "b"]).exits(2).says(table).says("remove that entry");
        assert!(!ran.err.contains("did you mean"), "{}", ran.err);
        sandbox.write(&format!("{SPEC}{target}"));
        sandbox.run(&["target", "remove", "b"]).exits(0);
    }
}

#[test]
fn what_was_typed_is_quoted_as_typed() {
    let of = |torch: &str| format!("[stack]\ntorch = \"{torch}\"\n[target.a]\ngpu = \"A100\"\n");
    let sandbox = Sandbox::new("edit-quoted", &of(">=2.5"));
    let ran = sandbox.run(&["lock", "--upgrade-package", "torch=2.99"]).exits(1);
    ran.says("`torch = \"2.99\"` cannot be satisfied");
    sandbox.write(&of(">=2.5,!=2.8.0"));
    let ran = sandbox.run(&["lock", "--upgrade-package", "torch=2.8.0"]).exits(2);
    ran.says("--upgrade-package torch=2.8.0: gpuenv.toml says").says("gpuenv add torch==2.8.0");
    // What it leaves open binds with it.
    sandbox.write(&of(">=2.8.1"));
    sandbox.run(&["lock", "--upgrade-package", "torch=2.8"]).exits(2).says("gpuenv.toml says");
    sandbox.write("[stack]\ncuda = \"12\"\n[build]\n[target.a]\ngpu = \"A100\"\ntoolkit = [\"12.9\"]\n");
    let ran = sandbox.run(&["lock", "--upgrade-package", "cuda=12.6"]).exits(1);
    let ran = ran.says("you typed `cuda = \"12.6\"`");
    assert!(!ran.err.contains("gpuenv.toml sets"), "{ran:?}");
}

#[test]
fn a_bound_that_no_driver_is_within_is_told() {
    let spec = "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"A100\"\ndriver = \"<304\"\n";
    let ran = Sandbox::new("edit-oldest-driver", spec).run(&["lock"]).exits(1);
    ran.says("`driver = \"<304\"` admits no driver that is known; the oldest is 304");
}

#[test]
fn what_is_asked_of_a_package_stays_where_nothing_new_is() {
    let sandbox = Sandbox::new("edit-pinned", SPEC);
    let ran = sandbox.run(&["add", "torch", "torchvision"]).exits(0);
    ran.says("`torch` is in [stack] already, as `2.5`, which stays; `torch = \"*\"` there means any version");
    assert!(sandbox.spec().contains("torch  = \"2.5\"   # see ticket 7\n"), "{}", sandbox.spec());
    sandbox.run(&["add", "torch==*"]).exits(0);
    assert!(sandbox.spec().contains("torch  = \"*\""), "{}", sandbox.spec());
}

#[test]
fn a_warning_says_of_which_target_it_speaks_where_there_are_several() {
    let old = "[stack]\ntorch = \"2.5.1\"\n[target.a]\ngpu = \"A100\"\ndriver = \"535\"\n[target.b]\ngpu = \"T4\"\n";
    let sandbox = Sandbox::new("edit-several", old);
    let ran = sandbox.run(&["lock"]).exits(0);
    let of_driver: Vec<&str> = ran.err.split("warning[").filter(|one| one.starts_with("jit-limited")).collect();
    let told = of_driver.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("(target `a`)") && told.contains("driver 535 supports"), "{ran:?}");
    // Boards beside NVSwitches need more than a driver.
    sandbox.write("[stack]\ntorch = \"2.5.1\"\n[target.a]\ngpu = \"NVIDIA H200\"\n");
    let ran = sandbox.run(&["lock"]).exits(0);
    assert!(ran.err.contains("requires") && ran.err.contains("nvidia-fabricmanager"), "{ran:?}");
    sandbox.run(&["explain", "cudnn"]).exits(0).tells("stack.cudnn");
    sandbox.run(&["explain", "target.a.requires"]).exits(0).tells("Fabric Manager");
}

#[test]
fn an_export_of_a_lock_that_was_edited_says_so() {
    let sandbox = Sandbox::new("edit-by-hand", SPEC);
    sandbox.run(&["lock"]).exits(0);
    assert_eq!(sandbox.run(&["export", "env", "--locked"]).exits(0).err.matches("stale").count(), 0);
    let edited = lock(&sandbox).replace("stack.python = \"3.11\"", "stack.python = \"3.12\"");
    fs::write(sandbox.path("gpuenv.lock"), edited).unwrap();
    sandbox.run(&["export", "env"]).exits(0).says("warning[stale-lock]").says("it was edited by hand");
    sandbox.run(&["export", "env", "--locked"]).exits(1);
}

#[test]
fn what_the_lock_holds_is_an_earlier_choice_only_while_it_is_current() {
    let sandbox = Sandbox::new("edit-stale", "[stack]\ntorch = \"2.9.1\"\n[target.a]\ngpu = \"T4\"\n");
    sandbox.run(&["lock"]).exits(0);
    sandbox.write("[stack]\ntorch = \"2.9.0\"\n[target.a]\ngpu = \"T4\"\n");
    let told = sandbox.run(&["explain", "torch"]).exits(0).out;
    assert!(told.contains("the lock holds 2.9.1 and is out of date") && !told.contains("still works"), "{told}");
}

/// A gpuenv.toml has a target: the last one is not removed.
#[test]
fn the_only_target_stays() {
    let spec = "[stack]\ntorch = \"2.8\"\n[target.a]\ngpu = \"L4\"\n";
    let sandbox = Sandbox::new("edit-last-target", spec);
    sandbox.run(&["target", "remove", "a"]).exits(2).says("`a` is the only target").says("gpuenv target add NAME");
    assert_eq!(sandbox.spec(), spec);
    sandbox.run(&["target", "add", "b", "--gpu", "T4"]).exits(0);
    sandbox.run(&["target", "remove", "a"]).exits(0);
    assert!(!sandbox.spec().contains("target.a"), "{}", sandbox.spec());
}
