//! What the stack takes from the system, because nothing that is locked brings it: it must be there.

use crate::host::{Library, Toolkit};
use crate::types::name::STACK_PARTS;
use crate::types::{Version, nvidia};

use super::check::{Action, Check};
use super::context::CheckContext;

/// A library of the stack that the system must have.
pub struct Taken<'c> {
    /// Its name in the lock.
    pub name: &'c str,
    context: &'c CheckContext<'c>,
    /// Who takes it; none where the lock holds libraries alone.
    package: Option<&'c str>,
    /// Whether the loader is asked for it: who looks for a toolkit needs no more than that.
    by_loader: bool,
}

/// Whether the system must have a library of the stack. An image that holds the framework, or a build of one's own, may
/// bring what no wheel does.
pub fn of<'c>(context: &'c CheckContext<'c>, name: &'c str) -> Option<Taken<'c>> {
    let brings = |package: &str| match name {
        "cuda" => package == nvidia::TOOLKIT || nvidia::is(nvidia::RUNTIME, package),
        _ => nvidia::part_of(package) == Some(name),
    };
    let wheels = || context.lock.wheels_of(context.name);
    let has_framework = context.lock.cuda_line(context.name, context.target).is_some();
    if has_framework || wheels().any(|wheel| brings(&wheel.package)) {
        return None;
    }
    if let Some(wheel) = wheels().find(|wheel| wheel.system_cuda) {
        return (name != "nccl").then_some(Taken { name, context, package: Some(&wheel.package), by_loader: true });
    }
    let companions = context.companions();
    let takes = |package: &str| {
        let row = companions.iter().find(|(known, ..)| *known == package);
        row.is_some_and(|(.., row)| row.says["system_cuda"].as_bool() == Some(true))
            && wheels().any(|wheel| wheel.package == package)
    };
    let mut packages = context.stack().keys().map(String::as_str).filter(|name| !STACK_PARTS.contains(name)).peekable();
    let package = packages.peek().copied();
    // Where nothing else is locked, the check of the toolkit tells it.
    if package.is_none() && name == "cuda" && context.target.toolkit.is_some() {
        return None;
    }
    packages.all(takes).then_some(Taken { name, context, package, by_loader: false })
}

/// The libraries of a toolkit, whose files have its major behind their names.
const OF_TOOLKIT: &[&str] = &["cudart", "cublas", "cublaslt", "nvrtc", "nvjitlink"];

impl<'c> Taken<'c> {
    /// The cuDNN of the system, which a package loads.
    pub fn cudnn(context: &'c CheckContext<'c>, package: &'c str) -> Self {
        Taken { name: "cudnn", context, package: Some(package), by_loader: false }
    }

    /// The one that is loaded: of the locked major, wherever another lies beside it.
    pub fn found(&self, library: &str, wanted: &Version) -> Option<&'c Library> {
        let of_major = |one: &&Library| major(one).is_none_or(|major| major == wanted.major());
        let mut all = self.context.record.libraries.iter();
        all.find(|one| one.name == library && of_major(one))
    }

    /// What is said where none is: it was looked for, or nobody knows.
    pub fn absent(&self, check: Check, wanted: &Version) -> Check {
        let record = self.context.record;
        let what = match self.name {
            "cuda" => "CUDA",
            "cudnn" => "cuDNN",
            _ => "NCCL",
        };
        let what = format!("{what} {}", wanted.prefix(2));
        let who = match self.package {
            Some(package) => format!("{package} loads {what} of the system, which no wheel of the lock brings"),
            None => format!("no wheel of the lock brings {what}"),
        };
        let there = self.in_toolkit(wanted).or_else(|| self.file(|of| of == wanted.major()));
        if let Some(there) = there.filter(|_| self.context.is_pasted()) {
            return check.found(there).pass_with("whether the loader finds it the pasted text does not tell");
        }
        if !self.context.was_made("libraries") {
            if let Some(other) = self.other(wanted) {
                let hint = format!("{who}, and {other} is another: install it");
                return check.found(other).unknown(Action::FixEnvironment, hint);
            }
            let was_tried = record.probes.iter().any(|probe| probe.name == "libraries");
            let hint = match (self.context.is_pasted(), was_tried) {
                (true, _) => format!("{who}: whether it is there the pasted text does not tell"),
                (_, true) => format!("{who}: whether it is there is not known, see the probe `libraries`"),
                _ => format!("{who}: whether it is there was not looked at, `gpuenv verify` without `--quick` does"),
            };
            return if was_tried { check.unknown(Action::None, hint) } else { check.warn(Action::None, hint) };
        }
        if let Some(there) = self.in_toolkit(wanted) {
            let check = check.found(&*there);
            let hint = format!("{who}: the loader does not find it in {there}, put its lib64 into LD_LIBRARY_PATH");
            return if self.by_loader { check.fail(Action::FixEnvironment, hint) } else { check.pass() };
        }
        if self.name == "cuda" && self.context.unfinished("toolkits").is_some() {
            return check
                .unknown(Action::None, format!("{who}: whether it is there is not known, see the probe `toolkits`"));
        }
        let others = record.libraries.iter().filter(|one| is_of(one, self.name) && one.fault.is_none());
        let others: Vec<String> = others.map(told).collect();
        let found = if others.is_empty() { "none".to_string() } else { others.join(", ") };
        let hint = format!("{who}: install it, or put the folder that holds it into LD_LIBRARY_PATH");
        check.found(found).fail(Action::FixEnvironment, hint)
    }

    /// A file that a text names, of a major.
    fn file(&self, is_it: impl Fn(u64) -> bool) -> Option<String> {
        let start = format!("lib{}.so.", if self.name == "cuda" { "cudart" } else { self.name });
        let major = |path: &&String| path.rsplit('/').next()?.strip_prefix(&*start)?.split('.').next()?.parse().ok();
        self.context.record.files.iter().find(|path| major(path).is_some_and(&is_it)).cloned()
    }

    /// What of another major was seen where nobody looked for all.
    fn other(&self, wanted: &Version) -> Option<String> {
        let kits = self.context.record.toolkits.iter().filter(|_| self.name == "cuda");
        let mut kits = kits.filter_map(|kit| kit.version.or(kit.nvcc)).filter(|kit| kit.major() != wanted.major());
        kits.next().map(|kit| format!("toolkit {kit}")).or_else(|| self.file(|of| of != wanted.major()))
    }

    /// Where a toolkit of the locked major is, or one of its libraries.
    fn in_toolkit(&self, wanted: &Version) -> Option<String> {
        let release = |kit: &Toolkit| kit.version.or(kit.nvcc);
        let of_major = |version: Option<Version>| version.is_some_and(|version| version.major() == wanted.major());
        let record = self.context.record;
        let kit = record.toolkits.iter().find(|kit| self.name == "cuda" && of_major(release(kit)));
        let part = || {
            let is_part = |one: &&Library| OF_TOOLKIT.contains(&&*one.name) && major(one) == Some(wanted.major());
            let found = record.libraries.iter().filter(|one| one.fault.is_none()).find(is_part);
            found.filter(|_| self.name == "cuda" && !self.by_loader).map(told)
        };
        let told = |kit: &Toolkit| match (kit.root.as_str(), release(kit)) {
            ("", Some(release)) => format!("toolkit {release}"),
            (root, _) => format!("the toolkit in {root}"),
        };
        kit.map(told).or_else(part)
    }
}

fn is_of(library: &Library, name: &str) -> bool {
    if name == "cuda" { library.name == "cudart" } else { library.name == name }
}

fn told(library: &Library) -> String {
    library.path.clone().unwrap_or_else(|| library.soname.clone())
}

/// The major in the name that a library is asked for by, else of its own version.
fn major(library: &Library) -> Option<u64> {
    let of_name = library.soname.rsplit_once(".so.").and_then(|(_, number)| number.split('.').next()?.parse().ok());
    let version = || library.version.as_ref().or(library.file_version.as_ref());
    of_name.or_else(|| version().map(Version::major))
}
