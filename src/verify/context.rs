//! What every topic is given: one target of a lock and one record, with the questions that many ask of the two.

use crate::catalog::rows::{Os, Rule, Subject, TORCH};
use crate::catalog::{Catalog, FullRow, GpuMatch, OsMatch};
use crate::coverage::{Coverage, Tegra, covers};
use crate::diagnose;
use crate::host::{Kernel, Origin, Outcome, ProbeStatus, Record, System, signs};
use crate::lock::{Lock, OverrideLock, Stack, TargetLock};
use crate::types::{Arch, ArchList, Constraint, Version, variant};

use super::check::{Action, Check};
use super::rests::Against;
use super::seen::{Gpus, Seen};

/// The signal with which nobody ends by a fault of his own.
pub const KILL: &str = "SIGKILL";
/// What is said of whoever it ended.
pub const KILLED: &str = "was killed from outside, as happens where memory is short: see `dmesg` and the limits of the \
                          job, then verify again";

/// Which driver must be there where the lock names none.
pub const ANY: &str = "any release";

/// A host before its judge.
#[derive(Debug, Clone, Copy)]
pub struct CheckContext<'a> {
    /// The lock, which alone decides.
    pub lock: &'a Lock,
    /// The target's name.
    pub name: &'a str,
    /// The target.
    pub target: &'a TargetLock,
    /// What was seen.
    pub record: &'a Record,
    /// What explains: names, last branches, limits of compilers.
    pub catalog: &'a Catalog,
    /// The two, with the rows that the lock rests on.
    pub against: &'a Against<'a>,
    /// The GPUs that a process would compute on.
    pub gpus: &'a Gpus<'a>,
}

impl<'a> CheckContext<'a> {
    /// Whether the target computes on a GPU.
    pub fn needs_gpu(&self) -> bool {
        !is_for_cpu(self.lock, self.name, self.target, self.catalog)
    }

    /// What the locked packages, and the toolkit that compiles, need of an object: the rules by which `gpuenv lock` refuses one
    /// that gpuenv.toml names.
    pub fn needs_of(&self, object: Subject) -> Vec<(&'a Rule, Constraint)> {
        let toolkit = self.target.toolkit.as_deref().and_then(|text| Version::parse(text).ok());
        let admits = |range: &str, version: Option<Version>| {
            version.is_some_and(|version| Constraint::parse(range).is_ok_and(|range| range.admits(&version)))
        };
        let locked = |row: &Rule| match (row.subject, &row.package) {
            (Subject::Toolkit, _) => toolkit,
            (Subject::Package, Some(package)) => Version::parse(variant::public(self.stack().get(&**package)?)).ok(),
            _ => None,
        };
        let speaks = |row: &&Rule| {
            let is_asked = row.object == object && !row.unproven && !row.part;
            is_asked
                && admits(&row.range, locked(row))
                && row.toolkit.as_ref().is_none_or(|of| admits(of, toolkit))
                && row.cuda.as_ref().is_none_or(|of| admits(of, self.line()))
                && !self.is_set_aside(&row.id)
        };
        let rules = self.catalog.rules.iter().filter(speaks);
        rules.filter_map(|row| Some((row, Constraint::parse(&row.needs).ok()?))).collect()
    }

    /// The rule that what is here of an object breaks.
    pub fn broken(&self, object: Subject, found: &Version) -> Option<&'a Rule> {
        self.needs_of(object).into_iter().find(|(_, needs)| !needs.admits(found)).map(|(rule, _)| rule)
    }

    /// Whether a rule does not hold for this target, because gpuenv.toml says so.
    pub fn is_set_aside(&self, rule: &str) -> bool {
        self.set_aside(rule).is_some()
    }

    /// The override of a rule for this target.
    pub fn set_aside(&self, rule: &str) -> Option<&'a OverrideLock> {
        let is_of_it = |one: &&OverrideLock| one.target.as_deref().is_none_or(|target| target == self.name);
        self.lock.overrides.iter().filter(is_of_it).find(|one| one.rule == rule)
    }

    /// The override of a rule about drivers for this target: whoever wrote it knows that the driver of its hosts runs
    /// the stack.
    pub fn driver_set_aside(&self) -> Option<&'a OverrideLock> {
        driver_set_aside(self.lock, self.name, self.catalog)
    }

    /// The system of the target, where a driver of its own comes with it: JetPack.
    fn system_with_driver(&self) -> Option<&'a Os> {
        match self.catalog.os(self.target.os.as_deref()?) {
            OsMatch::Found(os) => Some(os).filter(|os| os.cuda.is_some()),
            _ => None,
        }
    }

    /// The driver that must be there: `570.26 or later`.
    pub fn wanted_driver(&self) -> String {
        match (self.system_with_driver(), self.least_driver()) {
            (Some(os), _) => format!("that of {}", os.name),
            (None, Some(least)) if self.has_windows_driver() => format!("{least}, a driver of Windows"),
            (None, Some(least)) => least,
            (None, None) => ANY.to_string(),
        }
    }

    /// How to come by it where it is too old.
    pub fn newer_driver(&self) -> String {
        match self.system_with_driver() {
            Some(os) => format!("the driver comes with the system: take {} or a later one", os.name),
            None if self.is_tegra() => "the driver comes with the Jetson's JetPack: take a later one".to_string(),
            None => self.raise_driver(),
        }
    }

    /// What an administrator does about a driver that is too old: `raise the driver to 570.26 or later`.
    pub fn raise_driver(&self) -> String {
        let whose = if self.has_windows_driver() { " of Windows" } else { "" };
        let least = self.least_driver().map_or(String::new(), |least| format!(" to {least}"));
        format!("raise the driver{whose}{least}")
    }

    /// Who does what about a driver that is too old. No driver is newer than the last branch for the host's GPUs: where all
    /// of them are dropped by those that suffice, only another lock helps.
    pub fn driver_remedy(&self, again: &str) -> (Action, String) {
        match self.dropped() {
            Some((name, last)) => (
                Action::ChangeLock,
                format!(
                    "the lock needs driver {}, and R{last} is the last branch for {name}: lock again for the driver \
                     that is here",
                    self.least_driver().unwrap_or_default()
                ),
            ),
            None => (Action::AskAdmin, format!("{}, or {again}", self.newer_driver())),
        }
    }

    /// The last branch of drivers for a GPU; none where later ones drive one that is called so.
    pub fn last_branch(&self, name: &str) -> Option<Version> {
        let (GpuMatch::Found(rows) | GpuMatch::Ambiguous(rows)) = self.catalog.gpu(name) else { return None };
        let lasts: Option<Vec<Version>> = rows.iter().map(|row| row.last_branch).collect();
        lasts?.into_iter().max()
    }

    /// A GPU of this host and the last branch of drivers for it, where the locked minimum is of a later one and drives none
    /// of the others either.
    pub fn dropped(&self) -> Option<(&'a str, Version)> {
        let minimum = Version::parse(self.target.driver.as_ref()?.minimum.as_ref()?).ok()?;
        if self.has_other_numbers() || self.has_windows_driver() || self.is_tegra() {
            return None;
        }
        let lasts: Option<Vec<_>> =
            self.gpus().iter().map(|gpu| Some((gpu.name?, self.last_branch(gpu.name?)?))).collect();
        lasts?.into_iter().max_by_key(|(_, last)| *last).filter(|(_, last)| last.major() < minimum.major())
    }

    /// The oldest driver that will do, as this host numbers drivers; none where any does.
    fn least_driver(&self) -> Option<String> {
        let minimum = self.target.driver.as_ref()?.minimum.as_ref()?;
        if !self.has_other_numbers() {
            return Some(format!("{minimum} or later"));
        }
        match (self.windows_floor(), self.line()) {
            (Some(floor), _) => Some(format!("{floor} or later")),
            (None, Some(line)) => Some(format!("one of Linux for CUDA {line}")),
            (None, None) => Some("one of Linux".to_string()),
        }
    }

    /// Whether the host numbers its drivers otherwise than the lock: Windows does by itself, so that a lock for Linux says
    /// little of one under WSL2, and the reverse.
    pub fn has_other_numbers(&self) -> bool {
        self.has_windows_driver() != self.is_for_wsl2() && self.record.platform.system.is_some()
    }

    /// The oldest driver of Windows on which a stack that was locked for Linux runs; none on other hosts.
    pub fn windows_floor(&self) -> Option<Version> {
        let minimum = Version::parse(self.target.driver.as_ref()?.minimum.as_ref()?).ok()?;
        let rows = &self.catalog.windows_drivers;
        let known = self.line().and_then(|line| {
            let of_major = rows.iter().find(|row| row.cuda.len() == 1 && row.cuda.major() == line.major());
            of_major
                .or_else(|| rows.iter().filter(|row| row.cuda.cmp_prefix(&line).is_eq()).min_by_key(|row| row.driver))
        });
        // Where no number is known for Windows, a branch of Linux's number does.
        self.has_windows_driver().then(|| known.map_or(minimum.prefix(1), |row| row.driver))
    }

    /// The stack it runs.
    pub fn stack(&self) -> &'a Stack {
        self.lock.stack_of(self.target)
    }

    /// Whether the lock has a package, by a name that a message calls it: `jaxlib` for jax, `paddle` for paddlepaddle-gpu, and
    /// `torch` for an image called after PyTorch. What is called after torch is another package. An image beside which nothing
    /// is installed may hold any.
    pub fn holds(&self, said: &str) -> bool {
        let is_it = |own: &str| own == said || own != TORCH && (own.contains(said) || said.starts_with(own));
        let image = self.target.image.as_deref();
        let mut wheels = self.lock.wheels_of(self.name).map(|wheel| wheel.package.as_str()).peekable();
        let is_all_in_image = image.is_some() && wheels.peek().is_none();
        let brought = self.lock.constraints_of(self.name).filter(|one| one.brought).map(|one| one.package.as_str());
        let mut all = self.stack().keys().map(String::as_str).chain(wheels).chain(brought).chain(image);
        is_all_in_image || said.starts_with("nvidia-") || all.any(is_it)
    }

    /// The CUDA line of the stack, `12.4`.
    pub fn line(&self) -> Option<Version> {
        let cuda = self.stack().get("cuda").or(self.target.toolkit.as_ref())?;
        Version::parse(cuda).ok().map(|cuda| cuda.prefix(2))
    }

    /// The architectures that are locked.
    pub fn arch_list(&self) -> Option<ArchList> {
        ArchList::parse_torch(&self.lock.arch_list_of(self.target)?.torch).ok()
    }

    /// Whether the locked toolchain builds code that integrated and discrete GPUs share.
    pub fn tegra(&self) -> Tegra {
        let cuda = self.target.toolkit.as_ref().or_else(|| self.stack().get("cuda"));
        let row = cuda.and_then(|cuda| self.catalog.toolkit(&Version::parse(cuda).ok()?));
        if row.is_some_and(|row| row.tegra_unified) { Tegra::Unified } else { Tegra::Apart }
    }

    /// The driver's release and who told it. A cuda-compat library tells nothing of the driver.
    pub fn driver(&self) -> Option<(&'a Version, &'static str)> {
        let record = self.record;
        let nvml = record.nvml.as_ref();
        let module = record.module.as_ref();
        let libcuda = record.libcuda.as_ref().filter(|_| !self.loads_compat());
        nvml.and_then(|nvml| nvml.driver.as_ref().map(|version| (version, "NVML")))
            .or_else(|| module?.version.as_ref().map(|version| (version, "the kernel module")))
            .or_else(|| nvml?.file_version.as_ref().map(|version| (version, "the name of libnvidia-ml")))
            .or_else(|| libcuda?.file_version.as_ref().map(|version| (version, "the name of libcuda")))
    }

    /// The CUDA version that the driver offers a process, and who told it.
    pub fn offered(&self) -> Option<(&'a Version, &'static str)> {
        let libcuda = self.record.libcuda.as_ref().and_then(|libcuda| libcuda.cuda.as_ref());
        let nvml = || self.record.nvml.as_ref().and_then(|nvml| nvml.cuda.as_ref());
        libcuda.map(|cuda| (cuda, "cuDriverGetVersion")).or_else(|| nvml().map(|cuda| (cuda, "NVML")))
    }

    /// Whether the libcuda that a process loads is a cuda-compat package's.
    pub fn loads_compat(&self) -> bool {
        let libcuda = self.record.libcuda.as_ref();
        let Some(path) = libcuda.and_then(|libcuda| libcuda.path.as_deref()) else { return self.offers_more() };
        // The driver's own may have the note of a package, which is of the kernel module's release.
        let is_noted = libcuda.is_some_and(|libcuda| {
            let module = self.record.module.as_ref().and_then(|module| module.version);
            libcuda.compat == Some(true) && module.is_none_or(|module| libcuda.file_version != Some(module))
        });
        is_noted || path.contains("/compat/") || self.record.compat.iter().any(|compat| compat.path == path)
    }

    /// Whether a CUDA version is offered that is newer than the driver's own, which then a cuda-compat brings.
    fn offers_more(&self) -> bool {
        let driver = self.record.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref());
        let driver = driver.filter(|_| !self.has_windows_driver() && !self.is_tegra());
        let of_driver = driver.and_then(|driver| self.catalog.cuda_of(driver));
        of_driver.zip(self.offered()).is_some_and(|(own, (cuda, _))| cuda.cmp_prefix(own).is_gt())
    }

    /// Whether it is known that the libcuda that a process loads is the driver's own.
    pub fn loads_own_libcuda(&self) -> bool {
        !self.loads_compat() && self.record.libcuda.as_ref().is_some_and(|libcuda| libcuda.path.is_some())
    }

    /// Whether somebody described the host in a text, so that silence means little.
    pub fn is_pasted(&self) -> bool {
        self.record.origin == Origin::Pasted
    }

    /// Whether the lock's target is Linux inside Windows.
    pub fn is_for_wsl2(&self) -> bool {
        self.target.platform.as_deref() == Some("wsl2")
    }

    /// Whether the driver is that of Windows, which has numbers of its own.
    pub fn has_windows_driver(&self) -> bool {
        matches!(self.record.platform.system, Some(System::Wsl | System::Windows))
    }

    /// Whether the host is a Jetson, whose driver is numbered by itself.
    pub fn is_tegra(&self) -> bool {
        self.record.platform.system == Some(System::Tegra)
    }

    /// Whether the host is Linux inside Windows.
    pub fn is_wsl(&self) -> bool {
        self.record.platform.system == Some(System::Wsl)
    }

    /// Whether it looked from inside a container.
    pub fn in_container(&self) -> bool {
        self.record.platform.container.is_some()
    }

    /// Whether the libraries, compilers and interpreters in the record are those the target would use: a container
    /// brings its own. A report may have been made inside it, unless it is of another system than the image's.
    pub fn sees_userland(&self) -> bool {
        let other = || self.same_os() == Some(false);
        !self.target.is_for_container() || self.in_container() || self.is_pasted() && !other()
    }

    /// Whether the host's system is the target's; none where one of them is not known.
    pub fn same_os(&self) -> Option<bool> {
        let known = |name: &str| match self.catalog.os(name) {
            OsMatch::Found(row) => row.id.to_string(),
            OsMatch::Unknown(_) => name.to_lowercase(),
        };
        let (found, locked) = (self.record.platform.os.as_ref()?, self.target.os.as_ref()?);
        // A Jetson calls its system by what its JetPack is based on.
        let is_base = || match (self.catalog.os(found), self.system_with_driver()) {
            (OsMatch::Found(base), Some(jetpack)) => base.cuda.is_none() && base.glibc == jetpack.glibc,
            _ => false,
        };
        let is_jetson = self.record.platform.system == Some(System::Tegra);
        Some(known(found) == known(locked) || is_jetson && is_base())
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<&'a str> {
        self.record.environment.get(name).map(String::as_str)
    }

    /// Whether a probe of this name was made and came to its end.
    pub fn was_made(&self, probe: &str) -> bool {
        let mut probes = self.record.probes.iter().filter(|known| known.name == probe);
        probes.any(|known| matches!(known.ended, ProbeStatus::Done | ProbeStatus::Absent))
    }

    /// What a probe was doing when it was ended before its end. What it told until then may be half of the truth.
    pub fn unfinished(&self, probe: &str) -> Option<&'a str> {
        let mut probes = self.record.probes.iter().filter(|known| known.name == probe && !self.is_pasted());
        let cut = |how| {
            matches!(how, ProbeStatus::Crashed | ProbeStatus::TimedOut | ProbeStatus::Garbled | ProbeStatus::Failed)
        };
        probes.find(|known| cut(known.ended)).map(|known| known.detail.as_deref().unwrap_or("it did not end"))
    }

    /// Whether the library that a probe asked broke it off.
    pub fn crashed(&self, probe: &str) -> bool {
        self.record.probes.iter().any(|known| known.name == probe && known.ended == ProbeStatus::Crashed)
    }

    /// Whether somebody outside broke it off.
    pub fn killed(&self, probe: &str) -> bool {
        let is_killed = |detail: &String| detail.starts_with(KILL);
        let mut probes = self.record.probes.iter().filter(|known| known.name == probe);
        probes.any(|known| known.ended == ProbeStatus::Crashed && known.detail.as_ref().is_some_and(is_killed))
    }

    /// What `gpuenv diagnose` advises on a program's words, where the advice needs nothing filled in.
    pub fn remedy(&self, words: &str) -> Option<String> {
        let known = diagnose::diagnose(words, self.catalog).findings;
        known.into_iter().flat_map(|finding| finding.remedies).find(|remedy| !remedy.contains('{'))
    }

    /// Whether there is no trace of NVIDIA on the host.
    pub fn is_bare(&self) -> bool {
        signs::is_bare(self.record)
    }

    /// The GPUs a process would compute on: CUDA's list, or NVML's where CUDA was not asked.
    pub fn gpus(&self) -> &'a [Seen<'a>] {
        &self.gpus.all
    }

    /// Whether a GPU is only in the machine beside one that the target names and that is sound, and the lock's list of
    /// architectures does not reach it: no job of this target needs it.
    pub fn is_beside(&self, gpu: &Seen<'_>) -> bool {
        let runs = |cc| self.arch_list().is_none_or(|list| covers(&list, cc, self.tegra()) != Coverage::None);
        self.gpus.has_sound && gpu.named.is_none() && !gpu.cc.is_none_or(runs)
    }

    /// Whether kernels ran on a GPU and all of their results were right.
    pub fn computes(&self, gpu: &Seen<'_>) -> bool {
        let of_it = |kernel: &&Kernel| gpu.cuda.is_some_and(|device| device.ordinal == kernel.device);
        let outcomes: Vec<Outcome> = self.record.kernels.iter().filter(of_it).map(|kernel| kernel.outcome).collect();
        outcomes.contains(&Outcome::Right) && !outcomes.contains(&Outcome::Wrong)
    }

    /// Whether the probes saw CUDA start and show a GPU that answers.
    pub fn cuda_answers(&self) -> bool {
        self.record.libcuda.as_ref().is_some_and(|libcuda| {
            libcuda.fault.is_none() && libcuda.devices.iter().any(|device| device.fault.is_none())
        })
    }

    /// Whether CUDA lists a device, whether or not it was asked more.
    pub fn cuda_shows_gpus(&self) -> bool {
        self.record.libcuda.as_ref().is_some_and(|libcuda| !libcuda.devices.is_empty())
    }

    /// The target's builds by package and version, each with the row that the lock rests on; only those that still are
    /// as they were locked.
    pub fn builds(&self) -> Vec<(&'a str, &'a str, &'a FullRow)> {
        self.against.builds(self.target)
    }

    /// The target's other packages, likewise.
    pub fn companions(&self) -> Vec<(&'a str, &'a str, &'a FullRow)> {
        self.against.companions(self.target)
    }

    /// A check about something that nobody told: no pasted text tells everything, and a quick look sees little.
    pub fn untold(&self, check: Check, probe: &str) -> Check {
        if self.is_pasted() {
            return check.skip("the pasted text does not tell it");
        }
        if self.was_made(probe) {
            return check.unknown(Action::None, format!("the probe `{probe}` could not tell it"));
        }
        check.skip(format!("the probe `{probe}` was not made"))
    }

    /// Who can mend what a container was given, or the machine itself.
    pub fn restart(&self, else_do: Action) -> Action {
        if self.in_container() { Action::RestartContainer } else { else_do }
    }
}

/// The GPU code that a build's row tells: machine code and PTX.
pub fn held_code(row: &FullRow) -> (Vec<Arch>, Vec<Arch>) {
    let archs = |field| {
        let names = row.says.get(field).and_then(|names| names.as_array()).into_iter().flatten();
        names.filter_map(|name| Arch::parse(name.as_str()?).ok()).collect()
    };
    (archs("sass"), archs("ptx"))
}

/// Whether a target computes on the CPU. One with a GPU has no driver in its lock either where rules about drivers are
/// overridden.
pub fn is_for_cpu(lock: &Lock, name: &str, target: &TargetLock, catalog: &Catalog) -> bool {
    let says_none = lock.inputs.get(&format!("target.{name}.gpu")).is_some_and(|gpu| gpu == NO_GPU);
    let has_cuda = lock.stack_of(target).contains_key("cuda");
    let is_overridden = || driver_set_aside(lock, name, catalog).is_some();
    target.driver.is_none() && (says_none || !has_cuda || !is_overridden())
}

/// `gpu = "none"`, as it stands among the lock's inputs.
const NO_GPU: &str = "[\"none\"]";

fn driver_set_aside<'a>(lock: &'a Lock, name: &str, catalog: &Catalog) -> Option<&'a OverrideLock> {
    let is_of_driver = |id: &str| catalog.rules.iter().any(|row| *row.id == *id && row.object == Subject::Driver);
    let mut written = lock.overrides.iter().filter(|one| one.overlay.is_none());
    written.find(|one| one.target.as_deref().is_none_or(|target| target == name) && is_of_driver(&one.rule))
}
