//! `env`: shell lines that put the locked toolkit and architecture list into the environment.
//!
//! What is set is decided here, once; how it is written is the business of one file a family of shells.
//!
//! The scripts keep what they replace in two variables each, `_GPUENV_NAME_OLD` (the value) and
//! `_GPUENV_NAME_WAS` (`exported`, `shell` or `unset`). They are exported, so that a child shell knows what
//! is active and can undo it, in another shell's syntax too. NAME stands in the middle because fish splits
//! every variable whose name ends in PATH.

mod fish;
mod sh;

use crate::lock::{Lock, TargetLock};
use crate::types::Version;

use super::format::{Format, Opt, Options, Render};
use super::{ExportError, valid};

/// `gpuenv export env`
pub const FORMAT: Format = Format {
    name: "env",
    help: "Shell lines to source: CUDA_HOME, search paths and architecture lists",
    file: "env.sh",
    options: &[
        Opt {
            name: "shell",
            value: "SHELL",
            choices: &["sh", "bash", "zsh", "fish", "direnv"],
            help: "Whose syntax: sh, bash, zsh, fish, or an .envrc for direnv [default: sh]",
        },
        Opt::switch("deactivate", "Take back what the script set"),
    ],
    next,
    merge: None,
    installs: None,
    render: Render::Target(render),
};

fn next(_: &Lock, file: &str, options: &Options) -> String {
    let path = if file.contains('/') { file.to_string() } else { format!("./{file}") };
    match options.get("shell") {
        Some("fish") => format!("source {path}"),
        Some("direnv") => "direnv allow".to_string(),
        _ => format!(". {path}"),
    }
}

/// Every variable that any version of the script may set, so that one script can undo any other.
const NAMES: [&str; 6] = ["CUDA_HOME", "PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS"];

/// What one target wants in the environment.
pub(super) struct Plan {
    /// Where the toolkit is; `GPUENV_CUDA_HOME` overrides it when the script is sourced.
    pub cuda_home: Option<String>,
    /// Where a newer libcuda is, for a host whose driver is older than the stack asks for.
    pub compat: Option<String>,
    /// Whether its libraries are for programs too: beside wheels that bring those of another line they are not.
    pub libraries: bool,
    /// Whether libraries of toolkits go from LD_LIBRARY_PATH: it is searched before what the wheels bring.
    pub cleans: bool,
    /// Plain variables and their values.
    pub values: Vec<(&'static str, String)>,
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let fish = options.get("shell") == Some("fish");
    if options.get("shell") == Some("direnv") {
        // direnv takes back by itself what an .envrc has set.
        if options.has("deactivate") {
            let why = "direnv undoes an .envrc by itself";
            return Err(ExportError::Beside { name: "deactivate", beside: "--shell direnv", why });
        }
        return Ok(sh::envrc(&Plan::new(lock, name, target)?));
    }
    if options.has("deactivate") {
        return Ok(if fish { fish::deactivate() } else { sh::deactivate() });
    }
    let plan = Plan::new(lock, name, target)?;
    Ok(if fish { fish::activate(&plan) } else { sh::activate(&plan) })
}

/// The lines for sh, bash and zsh, for a script of another format to run.
pub(super) fn lines(plan: &Plan) -> String {
    sh::lines(plan)
}

impl Plan {
    /// Beside modules of a site: they set the toolkit's paths, and what else is set here follows. The libraries of theirs stay
    /// where those of this toolkit would have stood.
    pub fn beside_modules(self) -> Plan {
        Plan { cuda_home: None, libraries: false, cleans: self.cleans && !self.libraries, ..self }
    }

    pub fn new(lock: &Lock, name: &str, target: &TargetLock) -> Result<Plan, ExportError> {
        let toolkit = lock.toolkit_of(name, target);
        let cuda_home = toolkit.map(cuda_home).transpose()?;
        let mut values = Vec::new();
        if let Some(lists) = lock.arch_list_of(target) {
            values.push(("TORCH_CUDA_ARCH_LIST", valid::torch_arch_list(&lists.torch)?.to_string()));
            values.push(("CUDAARCHS", valid::cmake_arch_list(&lists.cmake)?.to_string()));
        }
        let toolkit = toolkit.and_then(|toolkit| Version::parse(toolkit).ok());
        let wheels = lock.cuda_line(name, target);
        let same = wheels.is_none_or(|line| toolkit.is_some_and(|toolkit| toolkit.cmp_prefix(&line).is_eq()));
        let libraries = cuda_home.is_some() && same;
        Ok(Plan { cuda_home, compat: compat(name, target)?, libraries, cleans: wheels.is_some(), values })
    }

    /// What is set, in order.
    fn names(&self) -> Vec<&'static str> {
        NAMES
            .into_iter()
            .filter(|name| match *name {
                "LD_LIBRARY_PATH" => self.libraries || self.cleans || self.compat.is_some(),
                "CUDA_HOME" | "PATH" | "LIBRARY_PATH" => self.cuda_home.is_some(),
                _ => !self.values.is_empty(),
            })
            .collect()
    }

    /// A text that is equal for equal plans: how a script knows that it is active already.
    fn id(&self) -> String {
        let mut parts = vec![self.compat.clone().unwrap_or_default()];
        parts.extend(self.libraries.then(|| "libraries".to_string()));
        parts.extend(self.cleans.then(|| "clean".to_string()));
        parts.extend(self.values.iter().map(|(name, value)| format!("{name}={value}")));
        parts.join("|")
    }

    /// The comment above the script.
    fn header(&self, file: &str) -> String {
        let mut lines = vec![
            "Written by `gpuenv export env`; do not edit. Use it with:".to_string(),
            format!("  . ./{file}"),
            "Sourcing it again changes nothing; `gpuenv export env --deactivate` prints what undoes it.".to_string(),
        ];
        if let Some(home) = &self.cuda_home {
            lines.push(format!("The toolkit is expected in {home}. If yours is elsewhere, set"));
            lines.push("GPUENV_CUDA_HOME to its directory before sourcing this.".to_string());
        }
        if self.cuda_home.is_some() && !self.libraries {
            lines.push(
                "Its libraries are not put on LD_LIBRARY_PATH: the wheels bring those of another release.".into(),
            );
        }
        if self.cleans {
            lines.push(
                "Directories of CUDA toolkits go from LD_LIBRARY_PATH: what lies there would be loaded in place".into(),
            );
            lines.push("of what the wheels bring.".into());
        }
        if let Some(compat) = &self.compat {
            lines.push(format!("The driver is older than the stack: the libcuda in {compat} is used instead."));
            lines.push("Once the driver has been upgraded it must not be: lock again then.".to_string());
        }
        lines.iter().map(|line| format!("# {line}\n")).collect()
    }
}

/// Where NVIDIA's packages put a toolkit: a directory per line, whatever the patch release.
fn cuda_home(toolkit: &str) -> Result<String, ExportError> {
    let line: Vec<&str> = valid::release("toolkit", toolkit)?.split('.').take(2).collect();
    Ok(format!("/usr/local/cuda-{}", line.join(".")))
}

/// The directory of the forward compatibility package.
///
/// On bare metal only: in a container the NVIDIA Container Toolkit decides whether to load the package.
pub(super) fn compat(name: &str, target: &TargetLock) -> Result<Option<String>, ExportError> {
    let Some(driver) = target.driver.as_ref().filter(|driver| driver.is_forward_compat()) else {
        return Ok(None);
    };
    let missing = || ExportError::Incomplete { what: "the cuda-compat package", target: name.to_string() };
    let line = valid::compat_line(driver.compat.as_deref().ok_or_else(missing)?)?;
    Ok((!target.is_for_container()).then(|| format!("/usr/local/cuda-{line}/compat")))
}
