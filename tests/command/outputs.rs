//! Files that reports and jobs are written to: what gpuenv reads, and what somebody else wrote, is not written over; what
//! an earlier run wrote is.
#![cfg(target_os = "linux")]

use crate::common::checkout::{Place, Ran};

const SPEC: &str =
    "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\n";
const HOST: &str = "NVIDIA A100-PCIE-40GB, 470.57.02, 8.0\n";

/// Every command that writes a file besides `export` and `init`, without the file's name.
const COMMANDS: [&[&str]; 13] = [
    &["fleet", "job", "slurm", "-o"],
    &["fleet", "job", "kubernetes", "--image", "x/y", "-o"],
    &["fleet", "check", "host.csv", "-o"],
    &["fleet", "check", "host.csv", "--format", "json", "-o"],
    &["fleet", "check", "host.csv", "--format", "csv", "-o"],
    &["fleet", "check", "host.csv", "--format", "html", "-o"],
    &["fleet", "plan", "host.csv", "-o"],
    &["fleet", "plan", "host.csv", "--format", "json", "-o"],
    &["matrix", "--gpu", "T4", "-o"],
    &["matrix", "--gpu", "T4", "--format", "csv", "-o"],
    &["matrix", "--gpu", "T4", "--format", "svg", "-o"],
    &["probe", "--from", "host.csv", "-o"],
    &["verify", "--host", "host.csv", "--junit"],
];

fn place(name: &str) -> Place {
    let place = Place::with(name, SPEC);
    place.write("checkout/host.csv", &format!("name, driver_version, compute_cap\n{HOST}"));
    place.run(&["lock"]).exits(0);
    place
}

/// Told on stderr, or in the document that was asked for.
#[track_caller]
fn refused(ran: Ran, why: &str) {
    let told = format!("{}{}", ran.err, ran.out).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.code == 2 && told.contains("exists") && told.contains(why), "{ran:?}");
}

#[test]
fn a_spec_or_a_lock_is_no_place_for_a_report() {
    let place = place("own");
    place.write("checkout/other.toml", SPEC);
    place.run(&["lock", "--spec", "other.toml"]).exits(0);
    let of_other = ["--spec", "other.toml"];
    for command in COMMANDS {
        for (file, more) in [
            ("gpuenv.toml", &[][..]),
            ("./gpuenv.lock", &[]),
            ("other.toml", &of_other),
            ("other.lock", &of_other),
            // One that is still to be written has its name already.
            ("elsewhere/gpuenv.toml", &[]),
        ] {
            let path = format!("checkout/{file}");
            let before = place.has(&path).then(|| place.read(&path));
            refused(place.run(&[command, &[file], more].concat()), "is what gpuenv reads: it was not written over");
            assert_eq!(place.has(&path).then(|| place.read(&path)), before, "{command:?} {file}");
        }
    }
    // Nor is a lock one for a spec.
    let lock = place.read("checkout/other.lock");
    for file in ["gpuenv.lock", "other.lock"] {
        place.run(&["init", "--gpu", "T4", "--force", "-o", file]).exits(2).says("is a lock, and no place for a spec");
    }
    assert!(place.read("checkout/other.lock") == lock);
    place
        .run(&["lock", "--fresh", "--spec", "other.toml", "--lock", "gpuenv.toml"])
        .exits(2)
        .says("no place for a lock");
    assert_eq!(place.read("checkout/gpuenv.toml"), SPEC);
}

#[test]
fn a_report_replaces_reports_and_nothing_else() {
    let place = place("reports");
    place.write("checkout/notes.txt", "Buy more GPUs.\n");
    for command in COMMANDS {
        let ran = place.run(&[command, &["notes.txt"]].concat());
        refused(ran, "notes.txt exists already, and gpuenv did not write it");
    }
    assert_eq!(place.read("checkout/notes.txt"), "Buy more GPUs.\n");
    // Whatever was written before, in whatever form, is written anew; an empty file is a place too.
    place.write("checkout/report", "");
    for command in COMMANDS.iter().chain(&COMMANDS) {
        let ran = place.run(&[*command, &["report"]].concat());
        assert!(!ran.err.contains("exists already"), "{command:?} {ran:?}");
        assert!(ran.code < 2, "{command:?} {ran:?}");
        let first = place.read("checkout/report");
        place.run(&[*command, &["report"]].concat()).hides("exists already");
        assert!(!first.is_empty());
    }
}

#[test]
fn a_dash_is_the_standard_output() {
    let place = place("dash");
    for command in COMMANDS {
        let ran = place.run(&[command, &["-"]].concat());
        assert!(ran.code < 2 && !ran.out.is_empty() && !place.has("checkout/-"), "{command:?} {ran:?}");
    }
    let record = place.run(&["probe", "--from", "host.csv", "-o", "-"]).exits(0).out;
    assert!(record.starts_with('{') && record.contains("470.57.02"), "{record}");
    // What was seen of the machine at hand, and nothing beside it.
    let ran = place.run(&["verify", "--quick", "--record", "-"]);
    assert!(ran.code != 2 && ran.out.starts_with('{') && ran.out.trim_end().ends_with('}'), "{ran:?}");
    assert!(!place.has("checkout/-"), "{ran:?}");
    place.write("checkout/host.json", &ran.out);
    place.run(&["verify", "--host", "host.json"]).hides("error[bad-record]");
}

/// What systems call the standard output is what `-` is; another device is nothing that anybody moves out of the way.
#[test]
fn the_standard_output_by_its_name_is_the_standard_output() {
    let place = place("stdout");
    let said = place.run(&["export", "requirements"]).exits(0).out;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert_eq!(place.run(&["export", "requirements", "-o", name]).exits(0).out, said, "{name}");
    }
    let spec = place.run(&["init", "--gpu", "T4", "-o", "/dev/stdout"]).exits(0).out;
    assert!(spec.contains("[target"), "{spec}");
    place
        .run(&["export", "requirements", "-o", "/dev/null"])
        .exits(4)
        .says("`-` is the standard output")
        .hides("move it");
}

/// Lmod knows Lua by the end of a file's name.
#[test]
fn a_module_file_is_in_the_language_of_its_name() {
    let place = place("language");
    let first = |file: &str| place.read(&format!("checkout/{file}")).lines().next().unwrap_or_default().to_string();
    place.run(&["export", "modulefile", "-o", "stack.lua"]).exits(0);
    place.run(&["export", "modulefile", "-o", "stack"]).exits(0);
    assert!(first("stack.lua").starts_with("--") && first("stack").starts_with("#%Module"));
    for (syntax, file, read_as) in [("tcl", "x.lua", "Lua"), ("lua", "x", "Tcl")] {
        let args = ["export", "modulefile", "--syntax", syntax, "-o", file];
        place.run(&args).exits(2).says(&format!("{file} would be read as {read_as}, and is {syntax}"));
    }
    place.run(&["export", "modulefile", "--syntax", "lua"]).exits(0);
}
