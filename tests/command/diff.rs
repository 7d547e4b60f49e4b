//! What changes from one lock to another, between files and revisions of git; and that each spec has a lock of its own.

use std::fs;
use std::process::Command;

use crate::common::checkout::Place;
use crate::common::sandbox::Sandbox;

const OLD: &str = "[stack]\ntorch = \"2.5.1\"\n[target.lab]\ngpu = \"T4\"\n[target.prod]\ngpu = \"H100\"\n";
const NEW: &str = "[stack]\ntorch = \"2.8.0+cu129\"\n[target.lab]\ngpu = \"T4\"\n[target.prod]\ngpu = \"H100\"\n";

#[test]
fn what_changes_for_whom_drivers_first() {
    let sandbox = Sandbox::new("diff", OLD);
    fs::write(sandbox.path("a.toml"), OLD).unwrap();
    fs::write(sandbox.path("b.toml"), NEW).unwrap();
    for spec in ["a.toml", "b.toml"] {
        sandbox.run(&["lock", "--spec", spec]).exits(0);
    }
    assert!(fs::metadata(sandbox.path("a.lock")).is_ok() && fs::metadata(sandbox.path("b.lock")).is_ok());
    assert!(fs::metadata(sandbox.path("gpuenv.lock")).is_err(), "each spec has a lock of its own");
    let ran = sandbox.run(&["diff", "a.lock", "b.lock", "--spec", "a.toml"]).exits(0);
    assert!(ran.out.contains("torch") && ran.out.contains("2.5.1+cu124"), "{}", ran.out);
    sandbox.run(&["diff", "a.lock", "b.lock", "--exit-code", "--spec", "a.toml"]).exits(1);
    let same = sandbox.run(&["diff", "a.lock", "a.lock", "--exit-code", "--spec", "a.toml"]).exits(0);
    assert_eq!(same.out, "no differences\n");
    let json = sandbox.run(&["diff", "a.lock", "b.lock", "--format", "json", "--spec", "a.toml"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let torch = told["differences"].as_array().unwrap().iter().find(|one| one["part"] == "torch").unwrap();
    assert!(torch["target"].is_null() && torch["to"] == "2.8.0+cu129", "{torch}");
    // What comes and what goes are both marked.
    fs::write(sandbox.path("d.toml"), OLD.replace("\"2.5.1\"\n", "\"2.5.1\"\nbitsandbytes = \"*\"\n")).unwrap();
    sandbox.run(&["lock", "--spec", "d.toml"]).exits(0);
    for (from, to, mark) in [("a.lock", "d.lock", "(new)"), ("d.lock", "a.lock", "(removed)")] {
        let ran = sandbox.run(&["diff", from, to, "--spec", "a.toml"]).exits(0);
        let line = ran.out.lines().find(|line| line.contains("bitsandbytes")).unwrap();
        assert!(line.ends_with(mark), "{line}");
    }
    // What a board needs beside its driver comes and goes with it.
    fs::write(sandbox.path("e.toml"), OLD.replace("\"H100\"", "\"H200\"")).unwrap();
    sandbox.run(&["lock", "--spec", "e.toml"]).exits(0);
    let ran = sandbox.run(&["diff", "a.lock", "e.lock", "--spec", "a.toml"]).exits(0);
    assert!(ran.out.contains("requires") && ran.out.contains("nvidia-fabricmanager"), "{}", ran.out);
    // Hosts change before anything else does; then who comes or goes, and the rest by its name.
    fs::write(sandbox.path("c.toml"), NEW.replace("target.lab", "target.desk")).unwrap();
    sandbox.run(&["lock", "--spec", "c.toml"]).exits(0);
    let json = sandbox.run(&["diff", "a.lock", "c.lock", "--format", "json", "--spec", "a.toml"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let parts = told["differences"].as_array().unwrap().iter().map(|one| one["part"].as_str().unwrap());
    let mut parts: Vec<&str> = parts.collect();
    parts.dedup();
    assert_eq!(parts[..2], ["driver", "target"], "{parts:?}");
    // Of one target alone nothing holds for all.
    fs::write(sandbox.path("one.toml"), "[stack]\ntorch = \"2.5.1\"\n[target.lab]\ngpu = \"T4\"\n").unwrap();
    sandbox.run(&["lock", "--spec", "one.toml"]).exits(0);
    fs::copy(sandbox.path("one.lock"), sandbox.path("before.lock")).unwrap();
    fs::write(sandbox.path("one.toml"), "[stack]\ntorch = \"2.6\"\n[target.lab]\ngpu = \"T4\"\n").unwrap();
    sandbox.run(&["lock", "--spec", "one.toml"]).exits(0);
    let json = sandbox.run(&["diff", "before.lock", "one.lock", "--format", "json", "--spec", "one.toml"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let torch = told["differences"].as_array().unwrap().iter().find(|one| one["part"] == "torch").unwrap();
    assert_eq!(torch["target"], "lab");
}

#[test]
fn two_files_need_no_project_around_them() {
    let place = Place::with("diff-alone", OLD);
    place.run(&["lock"]).exits(0);
    let lock = "../checkout/gpuenv.lock";
    assert_eq!(place.run_in("home", &["diff", lock, lock]).exits(0).out, "no differences\n");
    place.run_in("home", &["diff", lock, "b.lock"]).exits(2).says("b.lock does not exist");
}

#[test]
fn without_git_nothing_is_a_revision() {
    let place = Place::new("diff-no-git");
    place.write("alone/gpuenv.toml", OLD);
    place.run_in("alone", &["lock"]).exits(0);
    place.run_in("alone", &["diff"]).exits(2).says("there is no git repository here");
    place.run_in("alone", &["diff", "a.lock", "b.lock"]).exits(2).says("`a.lock` is neither a file nor a revision");
}

#[test]
fn a_revision_of_git_is_read_as_it_is() {
    let sandbox = Sandbox::new("diff-git", OLD);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        git.args(who).args(args).current_dir(sandbox.path(""));
        git.output().is_ok_and(|output| output.status.success())
    };
    if !git(&["init"]) {
        eprintln!("skipped: there is no git");
        return;
    }
    sandbox.run(&["lock"]).exits(0);
    assert!(git(&["add", "."]) && git(&["commit", "-m", "one"]));
    sandbox.write(NEW);
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["diff", "--exit-code"]).exits(1);
    assert!(ran.out.contains("torch"), "{}", ran.out);
    sandbox.run(&["diff", "no-such-revision"]).exits(2);
    sandbox.run(&["diff", "--", "--output=x"]).exits(2);
}

/// What is installed differs where no version does: another file of the same release, what it brings, what `[packages]` asks.
#[test]
fn what_is_installed_otherwise_differs() {
    let sandbox = Sandbox::new(
        "diff-installs",
        "[stack]\ntorch = \"2.5.1\"\n[packages]\ntimm = \">=1\"\n[target.a]\ngpu = \"T4\"\n",
    );
    sandbox.run(&["lock"]).exits(0);
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    let sha256 = lock.lines().find(|line| line.contains("package = \"torch\"")).unwrap();
    let sha256 = sha256.split("sha256 = \"").nth(1).unwrap()[..64].to_string();
    let release = lock.split("release = \"").nth(1).unwrap().split('"').next().unwrap().to_string();
    for (old, new, part) in [
        (sha256.as_str(), "a".repeat(64).as_str(), "torch file"),
        ("/whl/cu124\"", "/whl/cu121\"", "torch file"),
        ("setuptools>=40.8.0", "setuptools>=40.8.0.1", "torch asks for"),
        ("inputs.\"packages.timm\" = \">=1\"", "inputs.\"packages.timm\" = \">=2\"", "packages.timm"),
        (release.as_str(), "999.1", "recommended"),
        ("coverage = \"native\"", "coverage = \"jit\"", "gpu"),
        ("a.driver.mode =", "a.driver.others = [\"550.54.14\"]\ntarget.a.driver.mode =", "driver"),
    ] {
        assert!(lock.contains(old), "{old}");
        fs::write(sandbox.path("b.lock"), lock.replace(old, new)).unwrap();
        let ran = sandbox.run(&["diff", "gpuenv.lock", "b.lock", "--exit-code", "--format", "json"]).exits(1);
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let parts: Vec<&str> =
            told["differences"].as_array().unwrap().iter().map(|one| one["part"].as_str().unwrap()).collect();
        assert_eq!(parts, [part], "{old}");
    }
    // Of a release that changes its version says enough.
    sandbox.write("[stack]\ntorch = \"2.5.0\"\n[packages]\ntimm = \">=1\"\n[target.a]\ngpu = \"T4\"\n");
    fs::copy(sandbox.path("gpuenv.lock"), sandbox.path("before.lock")).unwrap();
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["diff", "before.lock", "gpuenv.lock"]).exits(0);
    assert!(!ran.out.contains("torch file") && !ran.out.contains("torch asks for"), "{}", ran.out);
}

/// A word that is neither a file nor a revision is not taken for a revision without a lock.
#[test]
fn a_slip_is_neither_a_file_nor_a_revision() {
    let sandbox = Sandbox::new("diff-slip", OLD);
    sandbox.run(&["lock"]).exits(0);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@y", "-C"]).arg(sandbox.path("")).args(arguments);
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "gpuenv.toml"]);
    git(&["commit", "-q", "-m", "a spec alone"]);
    for slip in ["HEAD~5", "nofile.lock"] {
        sandbox.run(&["diff", slip]).exits(2).says(&format!("`{slip}` is neither a file nor a revision of git"));
    }
    sandbox.run(&["diff", "HEAD"]).exits(2).says("git has no gpuenv.lock at `HEAD`");
    git(&["add", "gpuenv.lock"]);
    git(&["commit", "-q", "-m", "and its lock"]);
    sandbox.run(&["diff", "HEAD"]).exits(0);
}
