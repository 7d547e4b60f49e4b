//! What a shell and man are given, and what is said where nothing or no command was typed. Completions are asked for by
//! the shells themselves, where they are installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{sandbox::Sandbox, tools};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\n[target.prod]\ngpu = \"H100 NVL\"\n[target.lab]\ngpu = \"T4\"\n";

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdin(Stdio::null()).output().is_ok();
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

/// What a shell's script prints in a folder; the program is on its path.
fn shell(sandbox: &Sandbox, program: &str, script: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_gpuenv")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new(program);
    if program == "bash" {
        command.arg("--norc");
    }
    command.args(["-c", script]).current_dir(sandbox.path("")).env("PATH", path).env("HOME", sandbox.path(""));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_commands_gpus_packages_and_targets() {
    if !is_there("bash") {
        return;
    }
    let sandbox = Sandbox::new("bash", SPEC);
    let completed = |words: &str| {
        let last = words.split(' ').next_back().unwrap();
        let script = format!(
            "eval \"$(gpuenv completions bash)\"; COMP_WORDS=({words}{}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _clap_complete_gpuenv gpuenv '{last}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            if last.is_empty() { "''" } else { "" }
        );
        shell(&sandbox, "bash", &script)
    };
    assert_eq!(completed("gpuenv diag"), "diagnose\n");
    let gpus = completed("gpuenv init --gpu 4090");
    assert!(gpus.lines().any(|line| line == "RTX-4090-Laptop-GPU"), "{gpus}");
    assert!(completed("gpuenv lock --upgrade-package torchv").contains("torchvision"));
    assert_eq!(completed("gpuenv export requirements --target "), "prod\nlab\n");
    assert!(completed("gpuenv export ").contains("dockerfile"));
    assert!(completed("gpuenv completions ").contains("powershell"));
}

#[test]
fn fish_completes_with_descriptions() {
    if !is_there("fish") {
        return;
    }
    let sandbox = Sandbox::new("fish", SPEC);
    let script = "gpuenv completions fish | source; complete -C 'gpuenv init --gpu RTX-5090'";
    let found = shell(&sandbox, "fish", script);
    assert!(found.lines().any(|line| line == "RTX-5090\tNVIDIA GeForce RTX 5090, compute capability 12.0"), "{found}");
}

/// What zsh makes of a line with TAB behind it.
#[test]
fn zsh_replaces_a_part_of_a_name_by_the_name() {
    if !is_there("zsh") {
        return;
    }
    let sandbox = Sandbox::new("zsh", SPEC);
    // A line of the script at a time: what is typed into a terminal, and what is waited for there.
    let script = "
        until_said() { repeat 200; do zpty -r -t it part && said+=$part; [[ $said == *$1* ]] && return; sleep 0.1; done }
        zmodload zsh/zpty; zpty it zsh -f -i
        zpty -w it 'autoload -Uz compinit; compinit -u -D; eval \"$(gpuenv completions zsh)\"; print rea''dy'
        until_said ready
        zpty -w -n it $'gpuenv init --gpu 4090\\t'
        until_said RTX-4090
        zpty -d it; print -r -- $said";
    assert!(shell(&sandbox, "zsh", script).contains("RTX-4090"));
}

#[test]
fn every_shell_can_read_its_script() {
    let sandbox = Sandbox::new("scripts", SPEC);
    for (name, program) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let script = sandbox.run(&["completions", name]);
        assert!(script.code == 0 && script.out.contains("GPUENV_COMPLETE"), "{script:?}");
        fs::write(sandbox.path("script"), &script.out).unwrap();
        if is_there(program) {
            shell(&sandbox, program, &format!("{program} -n script"));
        }
    }
    assert_eq!(sandbox.run(&["completions", "tcsh"]).code, 2);
}

/// What was printed on a screen is in no file, so the tool that reads the file does not come next.
#[test]
fn an_export_on_a_screen_names_the_command_that_writes_it() {
    if !is_there("script") {
        return;
    }
    let sandbox = Sandbox::new("export-screen", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let shown = shell(&sandbox, "sh", "script -qec 'gpuenv export uv --color never' /dev/null");
    assert!(shown.contains("next: `gpuenv export uv -o pyproject.toml`, then: uv sync"), "{shown}");
    let piped = sandbox.run(&["export", "uv"]).exits(0);
    assert!(piped.err.ends_with("next: save it as pyproject.toml, then: uv sync\n"), "{piped:?}");
    // The command that writes it is the one that printed it.
    let shown = shell(&sandbox, "sh", "script -qec 'gpuenv export env --shell fish --color never' /dev/null");
    assert!(shown.contains("next: `gpuenv export env --shell fish -o env.fish`, then: source ./env.fish"), "{shown}");
}

/// No registry that tests reach has PowerShell: its script is read by a grammar of it, and asked what it would ask.
#[test]
fn the_script_for_powershell_is_powershell_and_its_question_is_answered() {
    const READER: &str = "import sys, tree_sitter as t, tree_sitter_powershell as p\n\
                          tree = t.Parser(t.Language(p.language())).parse(sys.stdin.buffer.read())\n\
                          print(tree.root_node.has_error, tree.root_node.named_child_count > 0)";
    let sandbox = Sandbox::new("powershell", SPEC);
    let script = sandbox.run(&["completions", "powershell"]).exits(0).out;
    assert!(script.contains("Register-ArgumentCompleter -Native -CommandName gpuenv"), "{script}");
    let asks = "& gpuenv -- $args";
    assert!(script.contains(asks) && script.contains("$env:GPUENV_COMPLETE = \"powershell\""), "{script}");
    let found = sandbox.with(&["--", "gpuenv", "init", "--gpu", "4090"], &[("GPUENV_COMPLETE", "powershell")]);
    // What the script splits at the tab: what is put in, and what is shown beside it.
    assert!(found.out.starts_with("RTX-4090\tNVIDIA GeForce RTX 4090, compute capability"), "{found:?}");
    let Some(python) = tools::find("python3") else { return };
    if !Command::new(&python)
        .args(["-c", "import tree_sitter_powershell, tree_sitter"])
        .output()
        .unwrap()
        .status
        .success()
    {
        return eprintln!("skipped: tree-sitter-powershell is not installed");
    }
    let broken = script.replacen('{', "", 1);
    for (text, told) in [(&script, "False True\n"), (&broken, "True True\n")] {
        fs::write(sandbox.path("script.ps1"), text).unwrap();
        let input = fs::File::open(sandbox.path("script.ps1")).unwrap();
        let read = Command::new(&python).args(["-c", READER]).stdin(input).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&read.stdout), told, "{}", String::from_utf8_lossy(&read.stderr));
    }
}

/// A gpuenv.toml that came with a checkout may hold anything.
#[test]
fn nothing_hostile_is_completed() {
    let sandbox =
        Sandbox::new("hostile-completion", "[target.\"a\\u001b[31m$(touch x)\"]\n[target.b]\n[stack]\ntorch = \"*\"\n");
    let variables = [("GPUENV_COMPLETE", "fish")];
    let ran = sandbox.with(&["--", "gpuenv", "verify", "--target", ""], &variables);
    assert!(ran.code == 0 && ran.out.lines().any(|line| line == "b"), "{ran:?}");
    assert!(!ran.out.contains(['\x1b', '$', '(']), "{ran:?}");
    let nothing = sandbox.with(&["lock"], &variables);
    assert!(nothing.code == 2 && nothing.err.contains("GPUENV_COMPLETE"), "{nothing:?}");
}

#[test]
fn manual_pages_are_there_for_every_command_and_can_be_read() {
    let sandbox = Sandbox::new("man", SPEC);
    let page = sandbox.run(&["man"]);
    assert!(page.code == 0 && page.out.contains(".TH GPUENV 1"), "{page:?}");
    assert!(sandbox.run(&["man", "catalog", "show"]).out.contains("GPUENV-CATALOG-SHOW"));
    assert_eq!(sandbox.run(&["man", "nothing"]).code, 2);
    assert_eq!(sandbox.run(&["man", "-o", "pages"]).code, 0);
    let names: Vec<_> = fs::read_dir(sandbox.path("pages")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.len() > 14 && names.contains(&"gpuenv-lock.1".into()), "{names:?}");
    if is_there("man") {
        let read = shell(&sandbox, "sh", "man -l --warnings -E UTF-8 pages/gpuenv-lock.1 2>&1");
        assert!(read.contains("--apply-fix") && !read.contains("warning:"), "{read}");
    }
}

#[test]
fn bare_gpuenv_prints_the_help() {
    let sandbox = Sandbox::new("bare", SPEC);
    let bare = sandbox.run(&[]);
    assert!(bare.code == 2 && bare.out.is_empty() && bare.err.contains("Commands:"), "{bare:?}");
    let asked = sandbox.run(&["--help"]);
    assert_eq!((asked.code, &asked.out), (0, &bare.err));
    assert_eq!(sandbox.run(&["help"]).out, asked.out);
    assert_eq!(sandbox.run(&["help", "lock"]).out, sandbox.run(&["lock", "--help"]).out);
    assert_eq!(sandbox.run(&["lock", "--color", "never", "--help"]).code, 0);
}

#[test]
fn unknown_commands_are_answered_with_what_was_meant() {
    let sandbox = Sandbox::new("meant", SPEC);
    for (typed, says) in [
        (&["lok"][..], "did you mean `gpuenv lock`?"),
        (&["diagnos"], "did you mean `gpuenv diagnose`?"),
        (&["exprot"], "did you mean `gpuenv export`?"),
        (&["install"], "gpuenv does not install: `gpuenv export uv`"),
        (&["version"], "run `gpuenv --version`"),
        (&["update"], "run `gpuenv lock --upgrade`"),
        (&["catalog", "lst"], "did you mean `gpuenv catalog list`?"),
        (&["frobnicate"], "`gpuenv --help` lists the commands"),
    ] {
        let ran = sandbox.run(typed);
        assert!(ran.code == 2 && ran.err.contains(says), "{typed:?}: {ran:?}");
        assert!(ran.err.contains("error[usage]: unknown command"), "{ran:?}");
    }
}

#[test]
fn the_catalog_lists_what_can_be_written() {
    let sandbox = Sandbox::new("listed", SPEC);
    let short = sandbox.run(&["catalog", "list"]);
    assert!(short.code == 0 && short.out.contains("torch 0.4.1") && short.out.contains("Blackwell"), "{short:?}");
    assert!(short.out.lines().count() < 60, "{}", short.out);
    let gpus = sandbox.run(&["catalog", "list", "gpus"]);
    assert!(gpus.out.lines().any(|line| line.starts_with("NVIDIA GeForce RTX 5090 ")), "{gpus:?}");
    assert_eq!(sandbox.run(&["catalog", "list", "boards"]).code, 2);
    let (code, document) = sandbox.json(&["catalog", "list", "packages"]);
    assert_eq!((code, document["lists"][0]["names"][0]["name"].as_str()), (0, Some("torch")));
}
