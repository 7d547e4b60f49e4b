//! `env`: sourced in every shell there is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpuenv::export::{Options, format};
use gpuenv::lock::Lock;

use crate::common::tools;
use crate::locks;

/// Every shell: a name, the program, what goes before the script, and whose syntax it reads.
const SHELLS: &[(&str, &[&str], &str)] = &[
    ("dash", &["-eu"], "sh"),
    ("bash", &["--norc", "-eu"], "bash"),
    ("zsh", &["-f", "-eu"], "zsh"),
    ("mksh", &["-eu"], "sh"),
    ("busybox", &["sh", "-eu"], "sh"),
    ("fish", &["--no-config"], "fish"),
];

type Environment = BTreeMap<String, String>;

fn script(lock: &Lock, shell: &str, deactivate: bool) -> String {
    let options = Options::default().with("shell", shell);
    let options = if deactivate { options.with("deactivate", "") } else { options };
    format("env").unwrap().render(lock, &options).unwrap()
}

/// A shell, and the scripts of two locks in its syntax: `on`, `other` (another toolkit) and `off`.
struct Session {
    program: PathBuf,
    arguments: &'static [&'static str],
    shell: &'static str,
    folder: PathBuf,
}

impl Session {
    /// One for every shell that is installed.
    fn all(test: &str) -> Vec<Session> {
        let mut sessions = Vec::new();
        for (program, arguments, shell) in SHELLS {
            let Some(path) = tools::find(program) else { continue };
            let folder = tools::folder(&format!("env-{test}-{program}"));
            let mut other = locks::bare_metal();
            other.target.get_mut("lab").unwrap().toolkit = Some("11.8.0".into());
            std::fs::write(folder.join("on"), script(&locks::bare_metal(), shell, false)).unwrap();
            std::fs::write(folder.join("other"), script(&other, shell, false)).unwrap();
            std::fs::write(folder.join("off"), script(&locks::bare_metal(), shell, true)).unwrap();
            sessions.push(Session { program: path, arguments, shell, folder });
        }
        sessions
    }

    /// Runs commands separated by `;`, with `source X` and `show X` (write the environment to a file).
    fn run(&self, commands: &str, environment: &[(&str, &[u8])]) {
        let line = commands
            .split(';')
            .map(|command| match command.trim().split_once(' ') {
                Some(("source", file)) if self.shell == "fish" => format!("source ./{file}"),
                Some(("source", file)) => format!(". ./{file}"),
                Some(("show", file)) => format!("/usr/bin/env -0 > {file}.env"),
                _ => command.trim().to_string(),
            })
            .collect::<Vec<_>>()
            .join("\n");
        let mut command = Command::new(&self.program);
        command.args(self.arguments).arg("-c").arg(line).current_dir(&self.folder).env_clear();
        // fish reads the environment in the locale's encoding.
        command.env("HOME", &self.folder).env("PATH", "/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        for (name, value) in environment {
            command.env(name, OsStr::from_bytes(value));
        }
        tools::succeed(&mut command);
    }

    /// What `show NAME` saw, without what every shell changes by itself.
    fn shown(&self, name: &str) -> Environment {
        let bytes = std::fs::read(self.folder.join(format!("{name}.env"))).unwrap();
        bytes
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.iter().position(|byte| *byte == b'=').map(|at| entry.split_at(at)))
            .map(|(name, value)| (text_of(name), text_of(&value[1..])))
            .filter(|(name, _)| name != "_" && name != "SHLVL")
            .collect()
    }
}

/// Every value of these tests is UTF-8; what a shell has spoilt shows as an escape.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.escape_ascii().to_string())
}

fn text<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str)
}

/// Former values that have gone wrong somewhere, once.
const FORMER: &[Option<&[u8]>] = &[
    None,
    Some(b""),
    Some(b"/a:/b"),
    Some(b":/a::/b:"),
    Some(b":"),
    Some(b"it's \"$HOME\" `id` $(id) \\n \\ * ; & #:/b"),
    Some(b"/a\n/b\n\n"),
    Some(b"-n"),
    Some(b"/caf\xc3\xa9: "),
];

#[test]
fn sets_what_the_lock_says_and_undoes_it_exactly() {
    for session in Session::all("exact") {
        for former in FORMER {
            for name in ["LD_LIBRARY_PATH", "LIBRARY_PATH", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS"] {
                let environment: Vec<(&str, &[u8])> = former.iter().map(|value| (name, *value)).collect();
                session.run(
                    "show before; source on; show on; source on; show twice; source off; show after",
                    &environment,
                );
                let (before, on) = (session.shown("before"), session.shown("on"));
                let context = format!("{} {name} {former:?}", session.program.display());
                assert_eq!(text(&on, "CUDA_HOME"), Some("/usr/local/cuda-12.4"), "{context}");
                assert_eq!(text(&on, "TORCH_CUDA_ARCH_LIST"), Some("8.9+PTX"), "{context}");
                assert_eq!(text(&on, "CUDAARCHS"), Some("89"), "{context}");
                assert_eq!(text(&on, "PATH"), Some("/usr/local/cuda-12.4/bin:/usr/bin:/bin"), "{context}");
                assert_eq!(session.shown("twice"), on, "{context}: sourcing twice");
                assert_eq!(session.shown("after"), before, "{context}: deactivate");
            }
        }
    }
}

#[test]
fn no_library_path_ever_has_an_empty_element() {
    for session in Session::all("empty") {
        for former in FORMER {
            let environment: Vec<(&str, &[u8])> =
                former.iter().flat_map(|value| [("LD_LIBRARY_PATH", *value), ("LIBRARY_PATH", *value)]).collect();
            session.run("source on; show on", &environment);
            let on = session.shown("on");
            let kept: String = String::from_utf8_lossy(former.unwrap_or_default())
                .split(':')
                .filter(|element| !element.is_empty())
                .map(|element| format!(":{element}"))
                .collect();
            let context = format!("{} {former:?}", session.program.display());
            let home = "/usr/local/cuda-12.4";
            assert_eq!(text(&on, "LD_LIBRARY_PATH"), Some(&*format!("{home}/lib64{kept}")), "{context}");
            assert_eq!(
                text(&on, "LIBRARY_PATH"),
                Some(&*format!("{home}/lib64:{home}/lib64/stubs{kept}")),
                "{context}"
            );
        }
    }
}

#[test]
fn a_former_path_comes_back_whatever_it_holds() {
    for session in Session::all("path") {
        for former in [&b"/usr/bin:/bin:/with 'quote\" $x"[..], b"/usr/bin:/new\nline:/bin"] {
            session.run("show before; source on; source off; show after", &[("PATH", former)]);
            assert_eq!(session.shown("after"), session.shown("before"), "{}", session.program.display());
        }
    }
}

#[test]
fn deactivating_without_activating_is_harmless() {
    for session in Session::all("harmless") {
        session.run("show before; source off; show after", &[("LD_LIBRARY_PATH", b":x")]);
        assert_eq!(session.shown("after"), session.shown("before"), "{}", session.program.display());
    }
}

#[test]
fn another_lock_replaces_the_first_and_one_deactivation_undoes_both() {
    for session in Session::all("switch") {
        let commands = "show before; source on; source other; show other; source off; show after";
        session.run(commands, &[("LD_LIBRARY_PATH", b"/a")]);
        let other = session.shown("other");
        assert_eq!(text(&other, "PATH"), Some("/usr/local/cuda-11.8/bin:/usr/bin:/bin"));
        assert_eq!(text(&other, "LD_LIBRARY_PATH"), Some("/a"), "its libraries would shadow those of the wheels");
        assert_eq!(session.shown("after"), session.shown("before"), "{}", session.program.display());
    }
}

/// What lies in a toolkit is searched before what the wheels bring: `gpuenv verify` would warn of it.
#[test]
fn toolkits_that_shadow_the_wheels_go_from_the_library_path() {
    for session in Session::all("shadow") {
        let former = b"/usr/local/cuda/lib64:/a:/usr/local/cuda-11.8/targets/x86_64-linux/lib:/opt/cuda-mine:/b/cuda-12/lib64/stubs/:\
                       /sw/software/CUDA/12.1.1/lib:/hpc_sdk/24.3/math_libs/12.3/lib64:/hpc_sdk/24.3/cuda/12.3/lib64:/me/cuda/proj/lib64";
        session.run(
            "show before; source on; show on; source other; show other; source off; show after",
            &[("LD_LIBRARY_PATH", former)],
        );
        let context = session.program.display();
        let on = session.shown("on");
        assert_eq!(
            text(&on, "LD_LIBRARY_PATH"),
            Some("/usr/local/cuda-12.4/lib64:/a:/opt/cuda-mine:/me/cuda/proj/lib64"),
            "{context}"
        );
        assert_eq!(
            text(&session.shown("other"), "LD_LIBRARY_PATH"),
            Some("/a:/opt/cuda-mine:/me/cuda/proj/lib64"),
            "{context}"
        );
        assert_eq!(session.shown("after"), session.shown("before"), "{context}");
        session
            .run("source other; show other; source off; show after", &[("LD_LIBRARY_PATH", b"/usr/local/cuda/lib64")]);
        assert_eq!(
            text(&session.shown("other"), "LD_LIBRARY_PATH"),
            None,
            "{context}: an empty path means the folder here"
        );
        assert_eq!(text(&session.shown("after"), "LD_LIBRARY_PATH"), Some("/usr/local/cuda/lib64"), "{context}");
        session.run("source other; show other", &[]);
        assert_eq!(text(&session.shown("other"), "LD_LIBRARY_PATH"), None, "{context}");
    }
}

/// Without wheels that bring libraries of their own, those of the toolkit are the ones that are wanted.
#[test]
fn without_wheels_the_toolkit_serves_programs_too() {
    let mut lock = locks::bare_metal();
    lock.wheel.clear();
    lock.stack.remove("torch");
    let text = script(&lock, "sh", false);
    assert!(text.contains("export LD_LIBRARY_PATH=\"$CUDA_HOME/lib64\"") && !text.contains("targets"), "{text}");
}

#[test]
fn direnv_needs_no_way_back() {
    let text = script(&locks::bare_metal(), "direnv", false);
    assert!(text.contains("export CUDA_HOME=") && !text.contains("_GPUENV_ACTIVE") && !text.contains("--deactivate"));
    let folder = tools::folder("env-direnv");
    std::fs::write(folder.join("envrc"), &text).unwrap();
    check("bash", &["-n"], &[folder.join("envrc")]);
    check("shellcheck", &["--norc"], &[folder.join("envrc")]);
    let both = Options::default().with("shell", "direnv").with("deactivate", "");
    assert_eq!(format("env").unwrap().render(&locks::bare_metal(), &both).unwrap_err().code(), "bad-option");
}

#[test]
fn the_toolkit_may_be_elsewhere() {
    for session in Session::all("elsewhere") {
        session.run("source on; source on; show on", &[("GPUENV_CUDA_HOME", b"/opt/my cuda's $dir")]);
        let on = session.shown("on");
        assert_eq!(text(&on, "CUDA_HOME"), Some("/opt/my cuda's $dir"), "{}", session.program.display());
        assert_eq!(text(&on, "PATH"), Some("/opt/my cuda's $dir/bin:/usr/bin:/bin"));
    }
}

#[test]
fn a_variable_that_was_not_exported_is_not_exported_afterwards() {
    for session in Session::all("unexported") {
        let (assign, check) = match session.shell {
            "fish" => ("set -g LD_LIBRARY_PATH /mine", "test \"$LD_LIBRARY_PATH\" = /mine; or exit 1"),
            _ => ("LD_LIBRARY_PATH=/mine", "[ \"$LD_LIBRARY_PATH\" = /mine ]"),
        };
        session.run(&format!("{assign}; show before; source on; source off; show after; {check}"), &[]);
        assert_eq!(session.shown("after"), session.shown("before"), "{}", session.program.display());
    }
}

#[test]
fn a_child_shell_can_undo_what_its_parent_did() {
    let children = Session::all("child");
    for parent in Session::all("parent") {
        parent.run("source on; show on", &[("LD_LIBRARY_PATH", b":/it's\n$x:")]);
        let inherited = parent.shown("on");
        for child in &children {
            let environment: Vec<(&str, &[u8])> =
                inherited.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            child.run("source on; show on; source off; show off", &environment);
            let context = format!("{} in {}", child.program.display(), parent.program.display());
            assert_eq!(text(&child.shown("on"), "PATH"), text(&inherited, "PATH"), "{context}");
            let off = child.shown("off");
            assert_eq!(text(&off, "LD_LIBRARY_PATH"), Some(":/it's\n$x:"), "{context}");
            assert_eq!(text(&off, "CUDA_HOME"), None, "{context}");
            assert!(off.keys().all(|name| !name.starts_with("_GPUENV")), "{context}");
        }
    }
}

#[test]
fn forward_compatibility_puts_the_newer_libcuda_first_on_bare_metal() {
    let mut lock = locks::bare_metal();
    let target = lock.target.get_mut("lab").unwrap();
    target.driver = Some(locks::driver("forward-compat"));
    let line = "export LD_LIBRARY_PATH=\"/usr/local/cuda-12.4/compat:$CUDA_HOME/lib64\"";
    assert!(script(&lock, "sh", false).contains(line));

    lock.target.get_mut("lab").unwrap().toolkit = None;
    let without_toolkit = script(&lock, "sh", false);
    assert!(without_toolkit.contains("export LD_LIBRARY_PATH=\"/usr/local/cuda-12.4/compat\""), "{without_toolkit}");
    assert!(!without_toolkit.contains("export CUDA_HOME"));

    lock.target.get_mut("lab").unwrap().runtime = "container".into();
    assert!(!script(&lock, "sh", false).contains("compat:"));
}

#[test]
fn without_a_toolkit_only_the_lists_are_set() {
    let text = script(&locks::container(), "sh", false);
    assert!(text.contains("export TORCH_CUDA_ARCH_LIST=9.0\n"));
    assert!(!text.contains("CUDA_HOME=\"") && !text.contains("export PATH"), "{text}");
}

#[test]
fn the_scripts_parse_in_every_shell_and_shellcheck_finds_nothing() {
    let folder = tools::folder("env-syntax");
    let files: Vec<PathBuf> = [(locks::bare_metal(), "full"), (locks::container(), "lists"), (bare_cpu(), "nothing")]
        .iter()
        .flat_map(|(lock, name)| [(script(lock, "sh", false), *name), (script(lock, "sh", true), "off")])
        .map(|(text, name)| {
            let file = folder.join(name);
            std::fs::write(&file, text).unwrap();
            file
        })
        .collect();
    for (program, arguments) in [("bash", &["-n"][..]), ("dash", &["-n"]), ("zsh", &["-n"]), ("mksh", &["-n"])] {
        check(program, arguments, &files);
    }
    check("shellcheck", &["--norc"], &files);
}

fn bare_cpu() -> Lock {
    let mut lock = locks::bare_metal();
    lock.target.get_mut("lab").unwrap().toolkit = None;
    lock.arch_list = None;
    lock
}

fn check(program: &str, arguments: &[&str], files: &[impl AsRef<Path>]) {
    let Some(program) = tools::find(program) else { return };
    for file in files {
        tools::succeed(Command::new(&program).args(arguments).arg(file.as_ref()));
    }
}

/// The label of TensorFlow names the CUDA it was built with; what runs are the locked libraries.
#[test]
fn the_line_is_that_of_the_locked_libraries() {
    let mut lock = locks::bare_metal();
    lock.stack = [("tensorflow", "2.21.0+cu124")].map(|(name, version)| (name.into(), version.into())).into();
    lock.wheel = vec![locks::wheel("nvidia-cuda-runtime-cu12", "12.9.79", None, &["lab"])];
    let text = script(&lock, "sh", false);
    assert!(text.contains("LD_LIBRARY_PATH") && !text.contains("LD_LIBRARY_PATH=\"$CUDA_HOME"), "{text}");
    lock.wheel[0].version = "12.4.127".into();
    assert!(script(&lock, "sh", false).contains("LD_LIBRARY_PATH=\"$CUDA_HOME/lib64\""));
}

/// A label of a whole major, JAX's `cu13`, is of the line that the lock chose: a toolkit of another brings no libraries.
#[test]
fn the_line_of_a_label_of_a_major_is_the_locked_one() {
    let mut lock = locks::bare_metal();
    lock.stack =
        [("jax", "0.9.0+cu13"), ("cuda", "13.0.1")].map(|(name, version)| (name.into(), version.into())).into();
    lock.wheel = vec![locks::wheel("jax", "0.9.0", None, &["lab"])];
    let loads = |lock: &Lock| script(lock, "sh", false).contains("LD_LIBRARY_PATH=\"$CUDA_HOME/lib64\"");
    assert!(!loads(&lock), "the toolkit is of 12.4");
    lock.target.get_mut("lab").unwrap().toolkit = Some("13.0.1".into());
    assert!(loads(&lock));
}

/// CUDA that no wheel brings lies on the machine: where the stack loads it, or is nothing else. An image has it in its place.
#[test]
fn the_cuda_of_the_machine_is_on_the_search_paths() {
    let mut lock = locks::bare_metal();
    lock.target.get_mut("lab").unwrap().toolkit = None;
    let loads = |lock: &Lock| {
        let text = script(lock, "sh", false);
        text.contains("/usr/local/cuda-12.4") && text.contains("LD_LIBRARY_PATH=\"$CUDA_HOME/lib64\"")
    };
    let with_stack = |lock: &Lock, stack: &[(&str, &str)]| {
        let stack = stack.iter().map(|(name, version)| (name.to_string(), version.to_string())).collect();
        Lock { stack, wheel: Vec::new(), ..lock.clone() }
    };
    assert!(!loads(&lock), "torch brings it");
    assert!(loads(&with_stack(&lock, &[("cuda", "12.4.1"), ("python", "3.13")])));
    let mut onnx = with_stack(&lock, &[("cuda", "12.4.1"), ("onnxruntime-gpu", "1.20.2")]);
    onnx.wheel = vec![locks::wheel("onnxruntime-gpu", "1.20.2", None, &["lab"])];
    assert!(!loads(&onnx), "nobody says that it loads the system's");
    onnx.wheel[0].system_cuda = true;
    assert!(loads(&onnx));
    onnx.target.get_mut("lab").unwrap().runtime = "container".into();
    assert!(!loads(&onnx));
}
