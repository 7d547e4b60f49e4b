//! `modulefile`: the toolkit's paths and the architecture lists for `module load`, in Tcl for both module systems, or in
//! Lua for Lmod.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::env::Plan;
use super::format::{Format, Opt, Options, Render};
use super::{ExportError, quote, valid, wheels};

/// `gpuenv export modulefile`
pub const FORMAT: Format = Format {
    name: "modulefile",
    help: "A module file: CUDA_HOME, search paths and architecture lists, in Tcl or Lua",
    file: "gpuenv",
    options: &[
        Opt {
            name: "syntax",
            value: "LANGUAGE",
            choices: &["tcl", "lua"],
            help: "Tcl for any module system, Lua for Lmod [default: by the name of the file, else tcl]",
        },
        Opt::value("toolkit", "DIR", "Where the toolkit is, if not in /usr/local/cuda-X.Y"),
        Opt::value("venv", "DIR", "The virtual environment with the locked wheels"),
    ],
    next: |_, file, _| format!("module load ./{file}"),
    merge: None,
    installs: None,
    render: Render::Target(render),
};

/// The first line, by which the module systems know what it is.
const MAGIC: &str = "#%Module1.0";

/// Takes the libraries of toolkits from LD_LIBRARY_PATH, which is searched before what the wheels bring. Neither module
/// system takes anything away when it unloads.
const CLEAN_TCL: &str = r#"# What lies there would be loaded in place of what the wheels bring.
if {[info exists env(LD_LIBRARY_PATH)]} {
    foreach gpuenv_dir [split $env(LD_LIBRARY_PATH) :] {
        foreach gpuenv_of {*/cuda/lib64* */cuda/[0-9]*/*lib64* */cuda/extras/* */cuda/targets/* */cuda-[0-9]*/*lib64*
            */cuda-[0-9]*/targets/* */CUDA/[0-9]*/lib* */math_libs/*lib64*} {
            if {[string match $gpuenv_of $gpuenv_dir]} {
                remove-path LD_LIBRARY_PATH $gpuenv_dir
            }
        }
    }
}
"#;
/// The same for Lmod.
const CLEAN_LUA: &str = r#"-- What lies there would be loaded in place of what the wheels bring.
for dir in (os.getenv("LD_LIBRARY_PATH") or ""):gmatch("[^:]+") do
  for _, of in ipairs({"/cuda/lib64", "/cuda/[0-9].*lib64", "/cuda/extras/", "/cuda/targets/", "/cuda%-[0-9][^/]*/.*lib64",
    "/cuda%-[0-9][^/]*/targets/", "/CUDA/[0-9][^/]*/lib", "/math_libs/.*lib64"}) do
    if dir:find(of) then
      remove_path("LD_LIBRARY_PATH", dir)
    end
  end
end
"#;

/// One line of the file.
enum Line {
    Whatis(String),
    Clean,
    Set(&'static str, String),
    Prepend(&'static str, String),
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let lines = lines(lock, name, target, options)?;
    let is_lua = options.get("syntax") == Some("lua");
    let mut out = match is_lua {
        true => "-- Written by `gpuenv export modulefile`; do not edit.\n".to_string(),
        false => format!("{MAGIC}\n# Written by `gpuenv export modulefile`; do not edit.\n"),
    };
    for line in &lines {
        let _ = match (line, is_lua) {
            (Line::Whatis(text), false) => writeln!(out, "module-whatis {}", quote::tcl(text)),
            (Line::Whatis(text), true) => writeln!(out, "whatis({})", quote::lua(text)),
            (Line::Clean, false) => write!(out, "{CLEAN_TCL}"),
            (Line::Clean, true) => write!(out, "{CLEAN_LUA}"),
            (Line::Set(name, value), false) => writeln!(out, "setenv {name} {}", quote::tcl(value)),
            (Line::Set(name, value), true) => writeln!(out, "setenv(\"{name}\", {})", quote::lua(value)),
            (Line::Prepend(name, path), false) => writeln!(out, "prepend-path {name} {}", quote::tcl(path)),
            (Line::Prepend(name, path), true) => writeln!(out, "prepend_path(\"{name}\", {})", quote::lua(path)),
        };
    }
    Ok(out)
}

fn lines(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<Vec<Line>, ExportError> {
    let plan = Plan::new(lock, name, target)?;
    let path = |option| -> Result<Option<&str>, ExportError> {
        let value = options.get(option);
        value.map(|value| valid::option(option, value, valid::is_path, "a path without blanks")).transpose()
    };
    let mut about = Vec::new();
    for wheel in lock.wheels_of(name) {
        about.push(wheels::locked(wheel)?);
    }
    let about = if about.is_empty() { "a locked CUDA environment".to_string() } else { about.join(" ") };
    let mut lines = vec![Line::Whatis(format!("gpuenv: {about}"))];
    // Before the own toolkit's, which looks the same.
    lines.extend(plan.cleans.then_some(Line::Clean));
    let own = path("toolkit")?;
    if own.is_some() && plan.cuda_home.is_none() {
        return Err(ExportError::Beside { name: "toolkit", beside: "this lock", why: "it has no toolkit" });
    }
    if let Some(usual) = &plan.cuda_home {
        let home = own.unwrap_or(usual);
        lines.push(Line::Set("CUDA_HOME", home.to_string()));
        lines.push(Line::Prepend("PATH", format!("{home}/bin")));
        lines.push(Line::Prepend("LIBRARY_PATH", format!("{home}/lib64/stubs")));
        lines.push(Line::Prepend("LIBRARY_PATH", format!("{home}/lib64")));
        if plan.libraries {
            lines.push(Line::Prepend("LD_LIBRARY_PATH", format!("{home}/lib64")));
        }
    }
    // In front of the toolkit's: it is what the stack runs with.
    lines.extend(plan.compat.map(|compat| Line::Prepend("LD_LIBRARY_PATH", compat)));
    if let Some(venv) = path("venv")? {
        lines.push(Line::Set("VIRTUAL_ENV", venv.to_string()));
        lines.push(Line::Prepend("PATH", format!("{venv}/bin")));
    }
    lines.extend(plan.values.into_iter().map(|(name, value)| Line::Set(name, value)));
    Ok(lines)
}
