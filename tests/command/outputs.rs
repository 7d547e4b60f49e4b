//! Files that reports and jobs are written to: what gpuenv reads, what something else wrote, and what was edited is not written
//! over; what the same command wrote is.
#![cfg(target_os = "linux")]

use gpuenv::report::schema;

use crate::common::checkout::{Place, Ran};
use crate::common::validate;

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

/// The command without its options, as it is named.
fn name_of(command: &[&str]) -> String {
    let words = if command[0] == "fleet" { &command[..2] } else { &command[..1] };
    words.join(" ")
}

#[test]
fn a_report_replaces_reports_and_nothing_else() {
    let place = place("reports");
    place.write("checkout/notes.txt", "Buy more GPUs.\n");
    for command in COMMANDS {
        let ran = place.run(&[command, &["notes.txt"]].concat());
        refused(ran, &format!("notes.txt exists already, and `gpuenv {}", name_of(command)));
    }
    assert_eq!(place.read("checkout/notes.txt"), "Buy more GPUs.\n");
    for command in COMMANDS.iter().chain(&COMMANDS) {
        let file = name_of(command);
        let path = format!("checkout/{file}");
        // What the same command wrote is written anew, in whatever form; an empty file is a place too.
        if !place.has(&path) {
            place.write(&path, "");
        }
        let args = [*command, &[&*file]].concat();
        let ran = place.run(&args);
        assert!(ran.code < 2, "{command:?} {ran:?}");
        let first = place.read(&path);
        assert!(first.contains(&format!("by `gpuenv {file}")) && first.contains(" (digest "), "{first}");
        let ran = place.run(&args);
        assert!(ran.code < 2 && place.read(&path) == first, "{command:?} {ran:?}");
        // How lines end is a matter of tools.
        place.write(&path, &first.replace('\n', "\r\n"));
        assert!(place.run(&args).code < 2, "{command:?}");
        let edited = first.replacen("470.57.02", "470.57.03", 1) + "mine\n";
        place.write(&path, &edited);
        refused(place.run(&args), &format!("{file} was edited after gpuenv wrote it"));
        assert_eq!(place.read(&path), edited);
        assert!(place.run(&[&args[..], &["--force"]].concat()).code < 2, "{command:?}");
        assert_eq!(place.read(&path), first);
        let other: &[&str] = if file == "probe" { &["matrix", "-o"] } else { &["probe", "--from", "host.csv", "-o"] };
        refused(place.run(&[other, &[&*file]].concat()), &format!("`gpuenv {}` did not write it", name_of(other)));
    }
    // So is a page of the manual.
    place.run(&["man", "-o", "pages"]).exits(0);
    place.run(&["man", "-o", "pages"]).exits(0);
    place.write("checkout/pages/gpuenv-lock.1", "mine\n");
    place.remove("checkout/pages/gpuenv.1");
    refused(place.run(&["man", "-o", "pages"]), "gpuenv-lock.1 exists already, and `gpuenv man` did not write it");
    assert!(!place.has("checkout/pages/gpuenv.1"));
    // And a lock in JSON.
    place.run(&["export", "json", "-o", "lock.json"]).exits(0);
    place.run(&["export", "json", "-o", "lock.json"]).exits(0);
    place.write("checkout/lock.json", &place.read("checkout/lock.json").replacen("2.5.1", "2.5.0", 1));
    refused(place.run(&["export", "json", "-o", "lock.json"]), "lock.json was edited after gpuenv wrote it");
}

/// Documents stay documents and tables stay tables with what says who wrote them; a record that holds it is a record.
#[test]
fn a_report_in_a_file_can_be_read_as_what_it_is() {
    let place = place("readable");
    for (command, name) in [
        (&["fleet", "check", "host.csv", "--format", "json", "-o"][..], "fleet"),
        (&["fleet", "check", "host.csv", "--format", "ndjson", "-o"], "fleet-host"),
        (&["fleet", "plan", "host.csv", "--format", "json", "-o"], "fleet-plan"),
        (&["matrix", "--gpu", "T4", "--format", "json", "-o"], "matrix"),
        (&["probe", "--from", "host.csv", "-o"], "host"),
        (&["export", "json", "-o"], "lock"),
    ] {
        place.run(&[command, &["x.json", "--force"]].concat());
        let document = serde_json::from_str(&place.read("checkout/x.json")).unwrap();
        let known = serde_json::from_str(&schema::find(name).unwrap().text()).unwrap();
        let wrong = validate::errors(&known, &document);
        assert!(wrong.is_empty() && document["written"].is_string(), "{wrong:#?}\n{document:#}");
    }
    place.run(&["fleet", "check", "host.csv", "-o", "x.csv"]);
    let table = place.read("checkout/x.csv");
    let rows: Vec<&str> = table.lines().collect();
    assert!(
        rows[0].ends_with(",do,written") && rows[1].contains("again\",by `gpuenv fleet check` (digest "),
        "{table}"
    );
    place.run(&["probe", "--from", "host.csv", "-o", "host.json"]).exits(0);
    let of_record = place.run(&["verify", "--host", "host.json", "--format", "json"]);
    assert_eq!(of_record.out, place.run(&["verify", "--host", "host.csv", "--format", "json"]).out);
    place.run(&["fleet", "check", "host.json"]).exits(1);
    let again = place.run(&["probe", "--from", "host.json", "-o", "-"]).exits(0).out;
    assert!(!again.contains("written"), "{again}");
}

/// Whatever it is called: by a link, in a folder, through the standard input. `--force` is no leave to lose it.
#[test]
fn what_a_run_reads_is_no_place_for_what_it_writes() {
    let place = place("sources");
    let record = place.run(&["probe", "--from", "host.csv", "--format", "json"]).exits(0).out;
    place.write("checkout/hosts/h.json", &record);
    place.link("checkout/link.json", "hosts/h.json");
    std::fs::hard_link(place.path("checkout/hosts/h.json"), place.path("checkout/hard.json")).unwrap();
    let source = "hosts/h.json";
    for args in [
        &["fleet", "check", source, "-o", source, "--force"][..],
        &["fleet", "check", source, "-o", "link.json", "--force"],
        &["fleet", "check", "link.json", "-o", source, "--force"],
        &["fleet", "check", source, "-o", "hard.json", "--force"],
        &["fleet", "check", "hosts", "-o", source, "--force", "--format", "csv"],
        &["fleet", "check", "-", "-o", source, "--force"],
        &["fleet", "plan", source, "-o", source, "--force"],
        &["verify", "--host", source, "--junit", source, "--force"],
        &["probe", "--from", source, "-o", source, "--force"],
        &["init", "--host", source, "-o", source, "--force"],
    ] {
        let mut command = place.command("checkout", args);
        command.stdin(std::fs::File::open(place.path("checkout/hosts/h.json")).unwrap());
        refused(Ran::of(&mut command), "is what gpuenv reads: it was not written over");
        // What is named itself is known before it is read: nobody is told to force what is refused.
        if [source, "link.json"].iter().any(|name| args[1..3].contains(name)) {
            let unforced: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--force").collect();
            refused(place.run(&unforced), "is what gpuenv reads: it was not written over");
        }
        assert_eq!(place.read("checkout/hosts/h.json"), record, "{args:?}");
    }
    place.run(&["verify", "--quick", "--record", "x", "--junit", "./x"]).exits(2).says("both ask for ./x");
    assert!(!place.has("checkout/x"));
    // Yesterday's report beside the records is none of them.
    for _ in 0..3 {
        place.run(&["fleet", "check", "hosts", "-o", "hosts/report.json"]).exits(1);
    }
    let report = place.read("checkout/hosts/report.json");
    assert!(report.contains("\"hosts\": 1"), "{report}");
    let ran = place.run(&["fleet", "check", "hosts", "-o", "hosts/report.json"]);
    ran.exits(1).says("not read in the folders: hosts/report.json (written anew)");
}

/// The name of a file says the format of the file alone, and only where none is typed.
#[test]
fn a_format_that_is_typed_is_taken() {
    let place = place("format");
    place.run(&["matrix", "--gpu", "T4", "--format", "human", "-o", "y.json"]).exits(0);
    assert!(place.read("checkout/y.json").contains("native: machine code"));
    place.run(&["matrix", "--gpu", "T4", "--format", "json", "-o", "y.html"]).exits(0);
    assert!(place.read("checkout/y.html").starts_with('{'));
    for command in [&["fleet", "check", "host.csv", "-o"][..], &["fleet", "plan", "host.csv", "-o"]] {
        let ran = place.run(&[command, &["z.json"]].concat()).says("wrote z.json");
        assert!(ran.code < 2 && place.read("checkout/z.json").starts_with('{'));
        place.remove("checkout/z.json");
    }
    let ran = place.run(&["matrix", "--gpu", "nope", "-o", "z.json"]).exits(2);
    assert!(ran.err.starts_with("error[") && ran.out.is_empty(), "{ran:?}");
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
