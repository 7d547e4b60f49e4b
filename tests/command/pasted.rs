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
    place.run(&export).exits(2).says("error[toml-syntax]");
    place.run(&["lock"]).exits(0);
    place.write("x = [");
    let told = place.run(&["export", "uv", "--locked"]).exits(1).says("gpuenv.toml has mistakes");
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

/// Each spec has a lock of its own, whatever its name ends with, and no advice names the spec as a lock.
#[test]
fn a_spec_of_any_name_has_its_own_lock() {
    let place = Sandbox::new("pasted-endings", TWO);
    for (spec, lock) in [("c", "c.lock"), ("e.txt", "e.lock"), ("gpuenv.toml.bak", "gpuenv.toml.lock")] {
        std::fs::copy(place.path("gpuenv.toml"), place.path(spec)).unwrap();
        place.run(&["lock", "--spec", spec]).exits(0);
        assert!(place.path(lock).exists(), "{lock}");
        place.run(&["export", "env", "--spec", spec, "--target", "b"]).exits(0);
    }
    assert!(!place.path("gpuenv.lock").exists());
    std::fs::copy(place.path("gpuenv.toml"), place.path("k.lock")).unwrap();
    place.run(&["lock", "--spec", "k.lock"]).exits(2).says("k.lock cannot be both");
    let told = place.run(&["lock", "--spec", "k.lock", "--lock", "c.lock"]).exits(2).says("--force");
    assert!(!told.err.contains("--lock k.lock`") && !told.err.contains("another file"), "{}", told.err);
}

/// Outside a project a lock knows its spec by the name: one of the same name with none of its targets is another, one that
/// was moved is the same.
#[test]
fn a_lock_of_another_spec_of_the_same_name_is_kept() {
    let place = Sandbox::new("pasted-names", TWO);
    // Below no work tree of git.
    let outside = std::env::temp_dir().join(format!("gpuenv-names-{}", std::process::id()));
    let file = |name: &str| outside.join(name).to_string_lossy().into_owned();
    for folder in ["one", "two", "three"] {
        std::fs::create_dir_all(outside.join(folder)).unwrap();
    }
    std::fs::write(file("one/a.toml"), TWO).unwrap();
    std::fs::write(file("two/a.toml"), TWO.replace("target.a", "target.x").replace("target.b", "target.y")).unwrap();
    let lock = |spec: &str, lock: &str| place.run(&["lock", "--spec", &file(spec), "--lock", &file(lock)]);
    lock("one/a.toml", "three/x.lock").exits(0);
    lock("two/a.toml", "three/x.lock").exits(2).says("was made from another a.toml");
    std::fs::rename(file("one"), file("eins")).unwrap();
    std::fs::rename(file("three"), file("drei")).unwrap();
    std::fs::write(file("eins/a.toml"), TWO.replace("2.6", "2.5")).unwrap();
    lock("eins/a.toml", "drei/x.lock").exits(0).says("torch");
    std::fs::remove_dir_all(&outside).unwrap();
}

/// A program that is named has to be there, and what one printed is told in a line.
#[test]
fn an_interpreter_that_is_named_has_to_be_there() {
    let place = Sandbox::new("pasted-python", "[stack]\ntorch = \"2.6\"\n[target.a]\ngpu = \"none\"\n");
    place.run(&["lock"]).exits(0);
    for python in ["nope-python", "./nope", "/nope/python"] {
        place.run(&["verify", "--python", python]).exits(4).says("there is no such program");
        place.run(&["probe", "--quick", "--python", python]).exits(4).says("error[not-found]");
    }
    // A folder is none, but may hold one.
    std::fs::create_dir_all(place.path("venv/bin")).unwrap();
    place
        .run(&["verify", "--python", "venv"])
        .exits(4)
        .says("--python venv is a folder")
        .says("the path of the interpreter");
    std::fs::write(place.path("venv/bin/python"), "").unwrap();
    place.run(&["probe", "--quick", "--python", "venv"]).exits(4).says("in it: `--python venv/bin/python`");
    // A quick look asks none, whichever is named.
    let quick = place.run(&["verify", "--quick", "--python", "/bin/ls", "--verbose"]);
    assert!(!quick.out.contains("no interpreter was asked"), "{}", quick.out);
    quick.tells("the probe `python` was not made");
    let told = place.run(&["verify", "--python", "/bin/ls"]).exits(3);
    assert!(!told.out.contains('\u{fffd}'), "{}", told.out);
}

/// Of an image whose repository was read whole it is known that there is no such tag.
#[test]
fn a_tag_that_is_not_there_is_named() {
    let place = Sandbox::new("pasted-tag", TWO);
    let verify = |tag: &str| place.run(&["verify", "--image", &format!("nvidia/cuda:{tag}")]).exits(3);
    verify("12.4.9-base-ubuntu22.04").tells("has no tag `12.4.9-base-ubuntu22.04` as of 2025-12");
    verify("99").tells("whether nvidia/cuda has a tag `99` is not known; the nearest is `");
}

/// The page of a step holds the most important first, and of conflicts all, with what helps.
#[test]
fn the_page_of_a_step_tells_what_the_screen_does() {
    let place = Sandbox::new("pasted-page", TWO);
    let page = |sandbox: &Sandbox| {
        let file = sandbox.path("page.md");
        let _ = std::fs::remove_file(&file);
        sandbox.with(&["lock", "--format", "github"], &[("GITHUB_STEP_SUMMARY", &file.to_string_lossy())]);
        std::fs::read_to_string(&file).unwrap()
    };
    let told = page(&place);
    let places =
        ["torch 2.6", "python ", "triton ", "cuda ", "cudnn ", "nccl "].map(|name| told.find(&format!("- {name}")));
    assert!(places.is_sorted() && places[0].is_some(), "{told}");
    place.write("[stack]\ntorch = \"2.6.0\"\ntorchvision = \"0.15.2\"\n[target.a]\ngpu = \"L4\"\ndriver = \"450\"\n");
    let told = page(&place);
    assert!(told.contains("incompatible with `torchvision") && told.contains("incompatible with `driver"), "{told}");
    assert!(told.contains("- fix: change torch from 2.6.0"), "{told}");
}

/// Every target that has a stack of its own has a list of architectures too, be there none.
#[test]
fn a_target_without_gpu_code_has_no_list_and_says_so() {
    let spec = "[stack]\ntorch = \"2.6\"\n[resolve]\nshare = \"versions\"\n[target.a]\ngpu = \"L4\"\n[target.ci]\ngpu = \"none\"\n";
    let place = Sandbox::new("pasted-list", spec);
    let (_, lock) = place.json(&["lock"]);
    for target in ["a", "ci"] {
        assert!(lock["targets"][target].as_object().unwrap().contains_key("arch_list"), "{lock:#}");
    }
    assert!(lock["targets"]["ci"]["arch_list"].is_null());
}
