//! The script for sh, bash, zsh, mksh and busybox: POSIX, and correct under `set -eu`.
//!
//! `eval` only ever sees the fixed names of this program, never a value.

use std::fmt::Write;

use super::super::quote;
use super::{NAMES, Plan};

/// The script that sets the variables.
pub fn activate(plan: &Plan) -> String {
    let mut out = format!("# shellcheck shell=sh disable=SC2034,SC2043,SC2154\n{}", plan.header("FILE"));
    let id = quote::sh(&plan.id());
    match &plan.cuda_home {
        Some(home) => {
            let _ = writeln!(out, "_gpuenv_home=${{GPUENV_CUDA_HOME:-{home}}}");
            let _ = writeln!(out, "_gpuenv_plan=\"$_gpuenv_home|\"{id}");
        }
        None => out += &format!("_gpuenv_plan='|'{id}\n"),
    }
    out += "if [ \"${_GPUENV_ACTIVE-}\" != \"$_gpuenv_plan\" ]; then\n";
    out += &indent(&restore());
    out += &indent(&save(&plan.names()));
    out += &indent(&set(plan));
    out += "  export _GPUENV_ACTIVE=\"$_gpuenv_plan\"\nfi\nunset _gpuenv_home _gpuenv_plan\n";
    out
}

/// The script that undoes whichever was sourced last.
pub fn deactivate() -> String {
    let head = "# shellcheck shell=sh disable=SC2034,SC2043,SC2154\n\
        # Written by `gpuenv export env --deactivate`: undoes what `gpuenv export env` has set, if anything.\n";
    format!("{head}{}", restore())
}

/// Puts back what was there before.
///
/// PATH is never unset on the way to its old value: zsh would take it for an ordinary variable from then on.
fn restore() -> String {
    format!(
        r#"if [ -n "${{_GPUENV_ACTIVE-}}" ]; then
  for _gpuenv_name in {names}; do
    eval "_gpuenv_was=\${{_GPUENV_${{_gpuenv_name}}_WAS-}} _gpuenv_old=\${{_GPUENV_${{_gpuenv_name}}_OLD-}}"
    case $_gpuenv_was in
      exported) eval "export $_gpuenv_name=\"\$_gpuenv_old\"" ;;
      shell) unset "$_gpuenv_name"; eval "$_gpuenv_name=\$_gpuenv_old" ;;
      unset) unset "$_gpuenv_name" ;;
    esac
    unset "_GPUENV_${{_gpuenv_name}}_WAS" "_GPUENV_${{_gpuenv_name}}_OLD"
  done
  unset _GPUENV_ACTIVE _gpuenv_name _gpuenv_was _gpuenv_old
fi
"#,
        names = NAMES.join(" ")
    )
}

/// Remembers what is there.
///
/// A variable may be set without being exported. `export -p` is the only portable way to tell, and its
/// format varies; searching it for the bare name errs, if ever, on the side of `exported`. PATH is always
/// exported, and must not be unset (see `restore`).
fn save(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        r#"_gpuenv_exports=$(export -p)
for _gpuenv_name in {names}; do
  eval "_gpuenv_was=\${{$_gpuenv_name+set}} _gpuenv_old=\${{$_gpuenv_name-}}"
  case $_gpuenv_was$_gpuenv_name$_gpuenv_exports in
    setPATH*) _gpuenv_was=exported ;;
    set*" $_gpuenv_name="* | set*" $_gpuenv_name "*) _gpuenv_was=exported ;;
    set*) _gpuenv_was=shell ;;
    *) _gpuenv_was='unset' ;;
  esac
  eval "export _GPUENV_${{_gpuenv_name}}_WAS=\"\$_gpuenv_was\" _GPUENV_${{_gpuenv_name}}_OLD=\"\$_gpuenv_old\""
done
unset _gpuenv_exports _gpuenv_name _gpuenv_was _gpuenv_old
"#,
        names = names.join(" ")
    )
}

fn set(plan: &Plan) -> String {
    let mut out = String::new();
    let mut libraries: Vec<String> = plan.compat.iter().map(|directory| quote::sh(directory)).collect();
    if plan.cuda_home.is_some() {
        out += "export CUDA_HOME=\"$_gpuenv_home\"\n";
        out += "export PATH=\"$CUDA_HOME/bin${PATH:+:$PATH}\"\n";
    }
    if plan.libraries {
        libraries.push("$CUDA_HOME/lib64".to_string());
    }
    if !libraries.is_empty() {
        out += &prepend("LD_LIBRARY_PATH", &libraries.join(":"), plan.cleans);
    } else if plan.cleans {
        let cleaned = prepend("LD_LIBRARY_PATH", "", true);
        let _ = write!(out, "if [ -n \"${{LD_LIBRARY_PATH-}}\" ]; then\n{}", indent(&cleaned));
        out += "  LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}\n  [ -n \"$LD_LIBRARY_PATH\" ] || unset LD_LIBRARY_PATH\nfi\n";
    }
    if plan.cuda_home.is_some() {
        // The stubs are for linking on machines without a driver; a program that loads one cannot run.
        out += &prepend("LIBRARY_PATH", "$CUDA_HOME/lib64:$CUDA_HOME/lib64/stubs", false);
    }
    out + &values(plan)
}

fn values(plan: &Plan) -> String {
    plan.values.iter().map(|(name, value)| format!("export {name}={}\n", quote::sh(value))).collect()
}

/// For direnv, in bash: it remembers what was there before by itself.
pub fn envrc(plan: &Plan) -> String {
    let head = plan.header("envrc").replace("  . ./envrc", "  direnv allow, with this as .envrc");
    format!("# shellcheck shell=bash\n{}{}", without_deactivation(&head), lines(plan))
}

/// What is set, without a way back.
pub fn lines(plan: &Plan) -> String {
    match &plan.cuda_home {
        Some(home) => format!("_gpuenv_home=${{GPUENV_CUDA_HOME:-{home}}}\n{}unset _gpuenv_home\n", set(plan)),
        None => set(plan),
    }
}

fn without_deactivation(header: &str) -> String {
    header.lines().filter(|line| !line.contains("--deactivate")).map(|line| format!("{line}\n")).collect()
}

/// Puts directories in front of a library path and drops its empty elements, and those of toolkits where it cleans.
///
/// An empty element means the current directory: a stray colon loads `./libcuda.so.1` from wherever one is.
fn prepend(name: &str, directories: &str, cleans: bool) -> String {
    let add = format!("{name}=${name}${{_gpuenv_rest:+:${{_gpuenv_rest%%:*}}}}; {name}=${{{name}%:}}");
    let add = match cleans {
        true => format!("case ${{_gpuenv_rest%%:*}} in\n    {TOOLKITS}) ;;\n    *) {add} ;;\n  esac"),
        false => add.replace("; ", "\n  "),
    };
    format!(
        r#"_gpuenv_rest=${{{name}-}}:
export {name}="{directories}"
while [ -n "$_gpuenv_rest" ]; do
  {add}
  _gpuenv_rest=${{_gpuenv_rest#*:}}
done
unset _gpuenv_rest
"#
    )
}

/// Where toolkits have their libraries, those of EasyBuild and of NVIDIA's HPC SDK too; `compat`, which holds a driver's, is
/// none of them, and neither is a folder of somebody's own that happens to lie below one named `cuda`.
const TOOLKITS: &str = "*/cuda/lib64* | */cuda/[0-9]*/*lib64* | */cuda/extras/* | */cuda/targets/* | \
                        */cuda-[0-9]*/*lib64* | */cuda-[0-9]*/targets/* | */CUDA/[0-9]*/lib* | */math_libs/*lib64*";

fn indent(block: &str) -> String {
    block.lines().map(|line| format!("  {line}\n")).collect()
}
