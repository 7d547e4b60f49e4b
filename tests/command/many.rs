//! Specs and fleets that are long and hold nothing else: what is made of them grows no faster than they do.

use std::process::Command;

use crate::common::checkout::{Place, Ran};

/// Runs with a limit of the shell's: seconds of the processor (`-t`) or kilobytes of memory (`-d`), which another load of the
/// machine does not change.
fn limited(place: &Place, limit: &str, args: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_gpuenv")]).args(args).current_dir(place.path("checkout"));
    Ran::of(&mut command)
}

#[test]
fn many_machines_that_differ_in_one_fact_are_answered_soon() {
    let place = Place::new("many-machines");
    let facts: [&dyn Fn(usize) -> String; 3] =
        [&|at| format!("toolkit = [\"{}.1\", \"11.8\"]", at + 13), &|at| format!("cudnn = \"8.{at}.7\""), &|at| {
            format!("image = \"acme/x:{at}\"\nimage-requires = \"cuda>=12.{at}\"")
        }];
    for fact in facts {
        let targets: String = (0..600).map(|at| format!("[target.t{at}]\ngpu = \"T4\"\n{}\n", fact(at))).collect();
        place.write("checkout/gpuenv.toml", &format!("[stack]\ntorch = \"*\"\n{targets}"));
        let ran = limited(&place, "-t 6", &["lock", "--fresh", "--quiet"]);
        assert_eq!(ran.code, 0, "{}\n{}", fact(0), ran.err);
    }
}

/// Thousands of machines are no trouble where they are alike.
#[test]
fn more_machines_that_differ_than_anyone_has_are_refused_soon() {
    let place = Place::new("too-many-machines");
    let tags = |many: usize| -> String {
        let tag = |at| format!("[target.t{at}]\ngpu = \"T4\"\nimage = \"nvidia/cuda:12.{at}.1-devel-ubuntu22.04\"\n");
        (0..many).map(tag).collect()
    };
    place.write("checkout/gpuenv.toml", &format!("[stack]\ntorch = \"*\"\n{}", tags(3_000)));
    for args in [&["lock"][..], &["explain"]] {
        let ran = limited(&place, "-t 10", args).exits(2);
        ran.says("error[too-large]").says("more than 1000 machines that differ").says("several files");
    }
}

#[test]
fn many_mistakes_are_told_soon() {
    let place = Place::new("many-mistakes");
    let spec = "[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"T4\"\n";
    for row in ["[[override]]\nrule = \"driver-end-of-life\"", "[[silence]]\nwarning = \"cuda-12-drivers\""] {
        let rows: String = (0..10_000).map(|_| format!("{row}\nreason = \"x\"\n")).collect();
        place.write("checkout/gpuenv.toml", &format!("{spec}{rows}"));
        let ran = limited(&place, "-t 4", &["lock"]).exits(2);
        assert!(ran.err.len() < 20_000, "{}", ran.err);
    }
}

/// In every format: for people few of them are told, for programs each with its line.
#[test]
fn many_mistakes_are_told_soon_to_programs_too() {
    let place = Place::new("many-mistakes-told");
    let rows: String = (0..9_000).map(|at| format!("[target.t{at}]\ngpu = {at}\ndriver = {at}\n")).collect();
    place.write("checkout/gpuenv.toml", &format!("[stack]\ntorch = \"2.5.1\"\n{rows}"));
    for format in ["human", "json", "github"] {
        let ran = limited(&place, "-t 8", &["lock", "--format", format]).exits(2);
        assert!(ran.out.len() + ran.err.len() < 200_000, "{format}: {}", ran.out.len());
        assert!(ran.out.contains("more errors are not shown") || format == "human", "{format}");
    }
}

/// What is over a limit is not worked through, whoever reads the spec; one file by several spellings is one.
#[test]
fn more_overlays_than_are_taken_cost_nothing() {
    let place = Place::new("many-overlays");
    place.write("checkout/a.toml", "");
    let spec = |files: &[String]| {
        format!("[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"T4\"\n[catalog]\noverlays = {files:?}\n")
    };
    let files: Vec<String> = (0..100).map(|at| format!("{}a.toml", "./".repeat(at))).collect();
    place.write("checkout/gpuenv.toml", &spec(&files));
    for args in [&["lock"][..], &["catalog", "show", "T4"], &["explain"]] {
        let ran = limited(&place, "-t 5", args).exits(2);
        ran.says("names 100 files; at most 16 are taken").says("put their rows into fewer files");
    }
    place.write("checkout/gpuenv.toml", &spec(&files[..3]));
    place.run(&["lock"]).exits(2).says("`overlays` names `./a.toml` twice");
}

#[test]
fn a_fleet_in_a_text_is_held_in_little_memory() {
    let place = Place::with("many-hosts", "[stack]\ntorch = \"2.7\"\n[target.t]\ngpu = \"A100\"\n");
    place.run(&["lock"]).exits(0);
    let hosts: String = (0..60_000).map(|at| format!("node{at}: NVIDIA A100-SXM4-40GB, 550.54.15\n")).collect();
    place.write("checkout/hosts.txt", &hosts);
    for args in [&["fleet", "plan", "hosts.txt"][..], &["fleet", "check", "hosts.txt"]] {
        let ran = limited(&place, "-d 150000", args);
        assert!([0, 1, 3].contains(&ran.code), "{args:?}: {ran:?}");
        assert!(ran.out.contains("60000") || ran.err.contains("60000"), "{args:?}: {ran:?}");
    }
}
