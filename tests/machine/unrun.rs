//! Nothing that lies in a checkout is run or loaded unless the user has activated or named it, by nobody: the programs
//! here leave a mark in the home when they are run.

use std::fs;
use std::process::Command;

use crate::common::checkout::{Place, Ran};
use crate::common::fake;

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"none\"\n";

/// Every command that looks at the machine.
const LOOKING: &[&[&str]] = &[
    &["probe"],
    &["probe", "--full"],
    &["verify", "--against", "gpuenv.toml"],
    &["verify", "--full", "--against", "gpuenv.toml"],
    &["init", "--detect", "-o", "-"],
];

/// The programs that a probe asks for by name.
const NAMES: &[&str] =
    &["python3", "python", "nvcc", "gcc", "g++", "clang", "docker", "podman", "nvidia-ctk", "enroot"];

fn place(name: &str) -> Place {
    let place = Place::with(name, SPEC);
    place.program("checkout/.venv/bin/python", "ran");
    place
}

/// With nothing but what is in the checkout on PATH, and behind it what every machine has.
fn looking(place: &Place, folder: &str, args: &[&str], path: &str) -> Command {
    let mut command = place.command(folder, args);
    command.env("PATH", format!("{path}:/usr/bin:/bin"));
    command
}

#[test]
fn an_environment_that_nobody_has_activated_is_not_run_and_named() {
    let place = place("venv");
    place.write("checkout/sub/x", "");
    for args in LOOKING {
        let ran = place.run(args);
        assert!(!place.has("home/ran"), "{args:?}: {ran:?}");
        ran.says(".venv/bin/python").says("`--python .venv/bin/python`");
        let args: Vec<&str> =
            args.iter().map(|arg| if *arg == "gpuenv.toml" { "../gpuenv.toml" } else { arg }).collect();
        let ran = place.run_in("checkout/sub", &args);
        assert!(!place.has("home/ran"), "{args:?}: {ran:?}");
        ran.says("`--python ../.venv/bin/python`");
    }
    // What it is told in JSON stands in the record.
    let (_, record) = place.json(&["probe"]);
    assert!(record.to_string().contains("`--python .venv/bin/python`"), "{record}");
    assert!(!place.has("home/ran"));
    // A link to an environment is no better.
    fs::rename(place.path("checkout/.venv"), place.path("home/venv")).unwrap();
    place.link("checkout/.venv", "../home/venv");
    place.run(&["probe"]);
    assert!(!place.has("home/ran"));
    // A variable that depends on where one stands activates nothing.
    let ran = Ran::of(place.command("checkout", &["probe"]).env("VIRTUAL_ENV", ".venv"));
    assert!(!place.has("home/ran"), "{ran:?}");
    ran.says("`--python .venv/bin/python`");
    // Whoever looks less is not told.
    place.run(&["probe", "--quick"]).hides("--python");
}

#[test]
fn an_environment_that_is_activated_or_named_is_asked() {
    for (args, variable) in [
        (&["probe"][..], Some("VIRTUAL_ENV")),
        (&["verify", "--against", "gpuenv.toml"], Some("VIRTUAL_ENV")),
        (&["init", "--detect", "-o", "-"], Some("VIRTUAL_ENV")),
        (&["probe", "--python", ".venv/bin/python"], None),
        (&["verify", "--against", "gpuenv.toml", "--python", ".venv/bin/python"], None),
        (&["init", "--detect", "--python", ".venv/bin/python", "-o", "-"], None),
    ] {
        let place = place("named");
        // The user's own checkout, as root may demand.
        let mut command = place.command("checkout", args);
        command.env("GPUENV_TRUST_LIBRARY_PATH", "1");
        if let Some(variable) = variable {
            command.env(variable, place.path("checkout/.venv"));
        }
        let ran = Ran::of(&mut command);
        assert!(place.has("home/ran"), "{args:?}: {ran:?}");
        ran.hides("add `--python");
    }
}

#[test]
fn programs_of_the_checkout_on_path_are_passed_over() {
    let place = place("path");
    for name in NAMES {
        place.program(&format!("checkout/bin/{name}"), "ran");
        place.program(&format!("checkout/{name}"), "ran");
    }
    let absolute = place.path("checkout/bin").display().to_string();
    place.link("home/bin", "../checkout/bin");
    let linked = place.path("home/bin").display().to_string();
    for args in LOOKING {
        for path in ["", ".", "bin", "./bin", &absolute, &format!("{absolute}/../bin"), &linked] {
            let ran = Ran::of(&mut looking(&place, "checkout", args, path));
            assert!(!place.has("home/ran"), "{args:?} {path:?}: {ran:?}");
        }
        // Without git the folder of the spec is the project.
        fs::rename(place.path("checkout/.git"), place.path("git")).unwrap();
        let ran = Ran::of(&mut looking(&place, "checkout", args, &absolute));
        assert!(!place.has("home/ran"), "{args:?}: {ran:?}");
        fs::rename(place.path("git"), place.path("checkout/.git")).unwrap();
        // What is active is so by its whole name: a relative one would be whatever lies here.
        for relative in [".", "../checkout"] {
            let mut command = looking(&place, "checkout", args, &absolute);
            let ran = Ran::of(command.env("CONDA_PREFIX", relative).env("VIRTUAL_ENV", relative));
            assert!(!place.has("home/ran"), "{args:?} {relative}: {ran:?}");
        }
    }
    // What nvcc calls by name comes from PATH too: it is given none of the checkout.
    place.program("home/tools/gcc", "outside");
    let ran = Ran::of(&mut looking(&place, "checkout", &["probe"], &place.path("home/tools").display().to_string()));
    assert!(place.has("home/outside") || ran.out.contains("root"), "what lies elsewhere is the user's: {ran:?}");
}

#[test]
fn packages_of_the_checkout_on_pythonpath_are_passed_over() {
    let place = place("pythonpath");
    place.program("home/python", "ran");
    place.write("home/python", "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$HOME/told\"\n");
    for folder in ["checkout/lib/torch", "home/module"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.link("home/linked", "../checkout/lib");
    let folder = |name: &str| place.path(name).display().to_string();
    let (inside, linked, outside) = (folder("checkout/lib"), folder("home/linked"), folder("home/module"));
    let mut command = place.command("checkout", &["probe", "--python", "../home/python"]);
    command.env("PYTHONPATH", format!("{inside}:{linked}:lib::{outside}")).env("GPUENV_TRUST_LIBRARY_PATH", "1");
    let ran = Ran::of(&mut command);
    let told = fs::read_to_string(place.path("home/told")).unwrap_or_else(|_| panic!("{ran:?}"));
    let folders: Vec<&str> = told.lines().filter(|line| line.contains("lib") || line.contains("module")).collect();
    assert_eq!(folders.iter().filter(|line| line.starts_with('/')).collect::<Vec<_>>(), [&outside], "{told}");
}

#[test]
fn diff_runs_nothing_of_the_checkout_and_fetches_nothing() {
    let place = place("diff");
    assert_eq!(place.run(&["lock"]).code, 0);
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        Command::new("git").args(who).args(args).current_dir(place.path("checkout")).output().unwrap()
    };
    assert!(git(&["init"]).status.success() && git(&["add", "gpuenv.lock"]).status.success());
    assert!(git(&["commit", "-m", "one"]).status.success());
    place.program("checkout/git", "ran");
    place.program("checkout/bin/git", "ran");
    let diff = |path: &str| {
        let path = format!("{path}:{}", std::env::var("PATH").unwrap());
        Ran::of(place.command("checkout", &["diff"]).env("PATH", path))
    };
    for path in ["", ".", "bin", &place.path("checkout/bin").display().to_string()] {
        let ran = diff(path);
        assert!(!place.has("home/ran") && ran.code == 0, "{path:?}: {ran:?}");
    }
    // A blob that is not there, and a configuration that says who is to bring it.
    let blob = git(&["rev-parse", "HEAD:gpuenv.lock"]).stdout;
    let blob = String::from_utf8(blob).unwrap();
    let (folder, file) = blob.trim().split_at(2);
    fs::remove_file(place.path(&format!("checkout/.git/objects/{folder}/{file}"))).unwrap();
    let brings = format!("touch '{}'; false", place.path("home/ran").display());
    for (address, setting, value) in [
        ("ssh://x/y", "core.sshCommand", brings.clone()),
        (&format!("ext::{brings}"), "protocol.ext.allow", "always".to_string()),
        ("/", "remote.origin.uploadpack", brings.clone()),
    ] {
        for (name, value) in [
            ("core.repositoryformatversion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", address),
            (setting, &value),
        ] {
            assert!(git(&["config", name, value]).status.success());
        }
        let ran = diff("");
        assert!(!place.has("home/ran") && ran.code == 2, "{setting}: {ran:?}");
        ran.says("git has no gpuenv.lock at `HEAD`");
    }
}

#[test]
fn compilers_of_the_checkout_are_not_run_whoever_names_them() {
    let place = place("compilers");
    for name in ["tools/g++", "tools/gcc", "cuda/bin/nvcc"] {
        place.program(&format!("checkout/{name}"), "ran");
        place.program(&format!("home/{name}"), "outside");
    }
    let inside = |name: &str| place.path(&format!("checkout/{name}")).display().to_string();
    for (variable, value) in [
        ("CXX", inside("tools/g++")),
        ("CC", inside("tools/gcc")),
        ("NVCC_CCBIN", inside("tools")),
        ("CUDAHOSTCXX", inside("tools/../tools/g++")),
        ("CUDA_HOME", inside("cuda")),
        ("CUDA_PATH", inside("cuda")),
    ] {
        for args in LOOKING {
            let ran = Ran::of(looking(&place, "checkout", args, "").env(variable, &value));
            assert!(!place.has("home/ran"), "{args:?} {variable}={value}: {ran:?}");
        }
    }
    Ran::of(looking(&place, "checkout", &["probe"], "").env("CXX", place.path("home/tools/g++")));
    assert!(place.has("home/outside"), "what lies elsewhere is the user's");
}

#[test]
fn a_conda_environment_in_the_checkout_is_run_where_it_is_active() {
    let place = place("conda");
    place.program("checkout/env/bin/python3", "ran");
    let environment = place.path("checkout/env");
    let mut command = looking(&place, "checkout", &["probe"], &environment.join("bin").display().to_string());
    Ran::of(command.env("GPUENV_TRUST_LIBRARY_PATH", "1"));
    assert!(!place.has("home/ran"));
    Ran::of(command.env("CONDA_PREFIX", &environment));
    assert!(place.has("home/ran"));
}

/// `export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/lib` leaves an empty entry: the folder one stands in.
#[test]
fn libraries_of_the_folder_one_stands_in_are_not_loaded() {
    let place = place("libraries");
    let mark = place.path("home/ran");
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void ran(void) {{\n    FILE *file = fopen(\"{}\", \"w\");\n    if (file) fclose(file);\n}}\n",
        mark.display()
    );
    let Some(library) = fake::library_of("unrun", &source, "libcuda.so.1") else { return };
    for name in ["libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so.12", "libnvrtc.so.12", "libz.so.1"] {
        fs::copy(&library, place.path("checkout").join(name)).unwrap();
    }
    fs::create_dir(place.path("checkout/lib")).unwrap();
    fs::rename(place.path("checkout/libcudart.so.12"), place.path("checkout/lib/libcudart.so.12.0")).unwrap();
    place.link("checkout/libcudart.so.12", "lib/libcudart.so.12.0");
    for value in [":/usr/lib", "/usr/lib:", ".", "./:/usr/lib", "../checkout"] {
        for args in [&["probe"][..], &["probe", "--quick"], &["verify", "--against", "gpuenv.toml"]] {
            let mut command = place.command("checkout", args);
            command.env("LD_LIBRARY_PATH", value).env("GPUENV_TRUST_LIBRARY_PATH", "1");
            let ran = Ran::of(&mut command);
            assert!(!place.has("home/ran"), "{value:?} {args:?}: {ran:?}");
        }
    }
    // Written in full it is meant.
    let mut command = place.command("checkout", &["probe", "--quick"]);
    command.env("LD_LIBRARY_PATH", place.path("checkout")).env("GPUENV_TRUST_LIBRARY_PATH", "1");
    let ran = Ran::of(&mut command);
    assert!(place.has("home/ran"), "{ran:?}");
}
