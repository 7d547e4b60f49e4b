//! Commands that are shown do what they are shown for when they are pasted.

use crate::common::sandbox::Sandbox;

const TWO: &str = "[stack]\ntorch = \"2.6\"\n[target.a]\ngpu = \"H100\"\n[target.b]\ngpu = \"L4\"\n\
                   image = \"nvidia/cuda\"\n";

/// Beside other targets a Dockerfile is made with the name of its own.
#[test]
fn what_builds_an_image_names_its_target() {
    let place = Sandbox::new("pasted-targets", TWO);
    place.run(&["lock"]).exits(0);
    for format in ["compose", "devcontainer", "kubernetes"] {
        place.run(&["export", format, "--target", "b"]).exits(0).tells("`gpuenv export dockerfile --target b");
    }
    place.run(&["export", "kubernetes", "--target", "b"]).says("`gpuenv export dockerfile --target b`");
    place.run(&["export", "dockerfile", "--target", "b"]).exits(0);
    let alone = Sandbox::new("pasted-target", &TWO.replace("[target.a]\ngpu = \"H100\"\n", ""));
    alone.run(&["lock"]).exits(0);
    alone.run(&["export", "compose"]).exits(0).tells("`gpuenv export dockerfile -o Dockerfile`");
}

/// A file that somebody edited is replaced with `--force` alone, and one that is merely old without.
#[test]
fn a_check_of_an_edited_file_names_force() {
    let place = Sandbox::new("pasted-edited", TWO);
    place.run(&["lock"]).exits(0);
    let write = ["export", "requirements", "-o", "r.txt"];
    let check = [&write[..], &["--check"]].concat();
    place.run(&write).exits(0);
    place.write(&TWO.replace("2.6", "2.5"));
    place.run(&["lock"]).exits(0);
    place.run(&check).exits(1).says("run the same command without `--check`");
    place.run(&write).exits(0);
    let text = std::fs::read_to_string(place.path("r.txt")).unwrap();
    std::fs::write(place.path("r.txt"), text.replace("torch==2.5", "torch==2.4")).unwrap();
    place.run(&check).exits(1).says("r.txt differs").says("`--force` in place of `--check`");
    place.run(&write).exits(2);
    place.run(&[&write[..], &["--force"]].concat()).exits(0);
}

/// A lock that is out of date is made anew where it lies; a spec that cannot be read says nothing else than the lock.
#[test]
fn a_stale_lock_names_the_files_it_is_made_of() {
    let place = Sandbox::new("pasted-stale", TWO);
    std::fs::copy(place.path("gpuenv.toml"), place.path("a.toml")).unwrap();
    let files = ["--spec", "a.toml", "--lock", "x.lock"];
    place.run(&[&["lock"][..], &files].concat()).exits(0);
    std::fs::write(place.path("a.toml"), TWO.replace("2.6", "2.5")).unwrap();
    let export = [&["export", "uv", "--locked"][..], &files].concat();
    place.run(&export).exits(1).says("help: run `gpuenv lock --spec a.toml --lock x.lock`").says("something else");
    std::fs::write(place.path("a.toml"), "x = [").unwrap();
    let told = place.run(&export).exits(1).says("a.toml has mistakes");
    assert!(!told.err.contains("something else"), "{}", told.err);
}

/// What was printed is in no file yet.
#[test]
fn a_draft_that_was_printed_has_to_be_saved() {
    let place = Sandbox::new("pasted-draft", "");
    place.run(&["init", "--gpu", "H100", "-o", "-"]).exits(0).says("save it as gpuenv.toml, edit it as needed");
}

/// Extras are added to a package that is there already.
#[test]
fn extras_are_added_to_what_is_there() {
    for written in ["\">=4.50\"", "\"*\"", "'[torch]>=4.50'"] {
        let place = Sandbox::new("pasted-extras", &format!("{TWO}[packages]\ntransformers = {written}\n"));
        place.run(&["add", "transformers[torch]>=4.50,<5"]).exits(0);
        assert!(place.spec().contains("[torch]>=4.50,<5"), "{}", place.spec());
    }
}

/// Lines are quoted of the file that holds them.
#[test]
fn lines_are_quoted_of_the_file_that_holds_them() {
    let place = Sandbox::new("pasted-name", TWO);
    let spec = "[stack]\ntorch = \"2.15.0+cu130\"\npython = \"3.8\"\n[target.a]\ngpu = \"H100\"\n";
    std::fs::write(place.path("cf.toml"), spec).unwrap();
    place.run(&["lock", "--spec", "cf.toml"]).exits(1).says("cf.toml sets `");
    let (_, told) = place.json(&["lock", "--spec", "cf.toml"]);
    assert!(!told.to_string().contains("gpuenv.toml sets"), "{told:#}");
}

/// What was written into a file is said, as exports say it.
#[test]
fn a_report_in_a_file_says_so() {
    let place = Sandbox::new("pasted-wrote", TWO);
    place.run(&["matrix", "--gpu", "H100", "-o", "m.txt"]).exits(0).says("wrote m.txt");
    place.run(&["man", "-o", "pages"]).exits(0).says("wrote pages");
}
