//! The script for fish, which has lists where other shells have colons.

use std::fmt::Write;

use super::super::quote;
use super::{NAMES, Plan};

/// The script that sets the variables.
pub fn activate(plan: &Plan) -> String {
    let mut out = plan.header("FILE").replace("  . ./FILE", "  source FILE");
    let id = quote::fish(&plan.id());
    match &plan.cuda_home {
        Some(home) => {
            let _ = writeln!(out, "set -l gpuenv_home {}", quote::fish(home));
            out += "test -n \"$GPUENV_CUDA_HOME\"; and set gpuenv_home \"$GPUENV_CUDA_HOME\"\n";
            let _ = writeln!(out, "set -l gpuenv_plan \"$gpuenv_home|\"{id}");
        }
        None => out += &format!("set -l gpuenv_plan '|'{id}\n"),
    }
    out += "if test \"$_GPUENV_ACTIVE\" != \"$gpuenv_plan\"\n";
    out += &indent(&restore());
    out += &indent(&save(&plan.names()));
    out += &indent(&set(plan));
    out += "    set -gx _GPUENV_ACTIVE \"$gpuenv_plan\"\nend\n";
    out
}

/// The script that undoes whichever was sourced last.
pub fn deactivate() -> String {
    let head = "# Written by `gpuenv export env --deactivate`: undoes what `gpuenv export env` has set, if anything.\n";
    format!("{head}{}", restore())
}

/// Puts back what was there before.
fn restore() -> String {
    format!(
        r#"if test -n "$_GPUENV_ACTIVE"
    for name in {names}
        set -l was _GPUENV_"$name"_WAS
        set -l old _GPUENV_"$name"_OLD
        switch "$$was"
            case exported
                set -gx $name "$$old"
            case shell
                set -eg $name
                set -g $name "$$old"
            case unset
                set -eg $name
        end
        set -eg $was
        set -eg $old
    end
    set -eg _GPUENV_ACTIVE
end
"#,
        names = NAMES.join(" ")
    )
}

/// Remembers what is there. Only the global scope counts: a universal variable comes back by itself once
/// the global one in front of it is erased.
fn save(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        r#"for name in {names}
    set -l was unset
    set -l old ''
    if set -qg $name
        set was shell
        set -qgx $name; and set was exported
        set old "$$name"
    end
    set -gx _GPUENV_"$name"_WAS $was
    set -gx _GPUENV_"$name"_OLD "$old"
end
"#,
        names = names.join(" ")
    )
}

fn set(plan: &Plan) -> String {
    let mut out = String::new();
    let mut libraries: Vec<String> = plan.compat.iter().map(|directory| quote::fish(directory)).collect();
    if plan.cuda_home.is_some() {
        out += "set -gx CUDA_HOME \"$gpuenv_home\"\n";
        out += "set -gx --path PATH \"$CUDA_HOME/bin\" $PATH\n";
    }
    if plan.libraries {
        libraries.push("\"$CUDA_HOME/lib64\"".to_string());
    }
    if !libraries.is_empty() {
        out += &prepend("LD_LIBRARY_PATH", &libraries.join(" "), plan.cleans);
    } else if plan.cleans {
        let cleaned = prepend("LD_LIBRARY_PATH", "", true);
        let _ = write!(out, "if test -n \"$LD_LIBRARY_PATH\"\n{}", indent(&cleaned));
        out += "    test -n \"$LD_LIBRARY_PATH\"; or set -eg LD_LIBRARY_PATH\nend\n";
    }
    if plan.cuda_home.is_some() {
        // The stubs are for linking on machines without a driver; a program that loads one cannot run.
        out += &prepend("LIBRARY_PATH", "\"$CUDA_HOME/lib64\" \"$CUDA_HOME/lib64/stubs\"", false);
    }
    for (name, value) in &plan.values {
        let _ = writeln!(out, "set -gx {name} {}", quote::fish(value));
    }
    out
}

/// Puts directories in front of a library path and drops its empty elements, which would mean the current directory; what
/// lies in toolkits too, where it cleans.
fn prepend(name: &str, directories: &str, cleans: bool) -> String {
    let others = if cleans { "$paths" } else { &format!("${name}") };
    let dropped = match cleans {
        true => format!(
            "set -l paths\nfor path in ${name}\n    string match -qr '{TOOLKITS}' -- \"$path\"; or set -a paths \"$path\"\nend\n"
        ),
        false => String::new(),
    };
    format!(
        r#"set -gx --path {name} ${name}
{dropped}set -gx --path {name} {directories} {others}
set -l paths
for path in ${name}
    test -n "$path"; and set -a paths "$path"
end
set -gx --path {name} $paths
"#
    )
}

/// Where toolkits have their libraries; `compat`, which holds a driver's, is none of them.
const TOOLKITS: &str = "/(cuda/(lib64|[0-9].*lib64|extras/|targets/)|cuda-[0-9][^/]*/(.*lib64|targets/)|CUDA/[0-9][^/]*/lib|math_libs/.*lib64)";

fn indent(block: &str) -> String {
    block.lines().map(|line| format!("    {line}\n")).collect()
}
