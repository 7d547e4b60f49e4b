//! Reads a spec into a request: every name is looked up, and what is not known is told where it stands.

use std::collections::HashSet;

use crate::catalog::Catalog;
use crate::catalog::rows::{Compat, FRAMEWORKS, Os, WindowsDriver, is_public, repeated};
use crate::meaning;
use crate::nearest::nearest;
use crate::solve::image::TagMatch;
use crate::solve::platform::Platform;
use crate::solve::problem::Problem;
use crate::solve::reading::Reading;
use crate::solve::{image, own, unsupported_os};
use crate::spec::{ForwardCompat, Override, OwnCuda, Silence, Spec, SpecError, Target, Written};
use crate::types::variant::line_of;
use crate::types::{Constraint, CpuArch, Version};
use crate::warning::{
    self, CompatInstalled, CudnnInstalled, DriverNotListed, GpuNotChecked, ImageNotChecked, NewerThanCatalog,
    OwnBuildPython, SystemUnsaid, UnusedKey, Warning,
};

use super::{DriverRequest, Gpus, ImageRequest, Off, TargetRequest, Told};

/// Where a spec has more mistakes than this, what a name was meant to be is not looked for any more.
const MEANT: usize = 32;

pub(super) struct Reader<'s, 'c> {
    pub(super) catalog: &'c Catalog,
    pub(super) problem: &'c Problem<'c>,
    /// What is asked for.
    pub(super) stack: &'s [(String, Written<Constraint>)],
    pub(super) errors: Vec<SpecError>,
    pub(super) warnings: Vec<Warning>,
}

impl<'c> Reader<'_, 'c> {
    pub(super) fn error(
        &mut self,
        code: &'static str,
        message: String,
        help: Option<String>,
        at: &Written<impl Sized>,
    ) {
        self.errors.push(SpecError { code, message, span: at.span.clone(), help });
    }

    /// Whether it is looked for what was meant: where a spec has many mistakes, not all of them are read.
    pub(super) fn is_asked_what_was_meant(&self) -> bool {
        self.errors.len() < MEANT
    }

    /// What was probably meant by a word that does not exist.
    fn meant<'k>(&self, word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
        self.is_asked_what_was_meant().then(|| nearest(word, known)).flatten()
    }

    pub(super) fn warn<K: warning::Kind>(&mut self, kind: &K, key: String) {
        self.warnings.push(Warning::about(kind, &[key]));
    }

    /// A nightly is for a CUDA that is known: of another nobody could say which drivers run it.
    pub(super) fn nightlies(&mut self, spec: &Spec) {
        for (package, written) in &spec.stack {
            let variant = written.value.comparisons().find_map(|one| one.variant.as_deref());
            if let Some(line) = variant.and_then(line_of).filter(|_| own::nightly(&written.value).is_some()) {
                self.cuda_is_known(&format!("this nightly of {package}"), line, written);
            }
        }
    }

    fn cuda_is_known(&mut self, what: &str, line: Version, written: &Written<impl Sized>) {
        let known = self.catalog.toolkits.iter().map(|row| row.version);
        if known.clone().any(|release| release.cmp_prefix(&line).is_eq()) {
            return;
        }
        let nearest = known.map(|release| release.prefix(2)).filter(|one| *one < line).max();
        let nearest = nearest.map_or(String::new(), |near| format!("the nearest older one is {near}; "));
        let message = format!("{what} is for CUDA {line}, which this catalog does not know");
        let help = format!("{nearest}an overlay can add a toolkit, or install a newer gpuenv");
        self.error("unknown-cuda", message, Some(help), written);
    }

    /// A build of one's own is one of a framework, for a CUDA that is known.
    pub(super) fn own_builds(&mut self, spec: &Spec) {
        for own in &spec.own {
            let Some((_, written)) = spec.stack.iter().find(|(name, _)| *name == own.package) else { continue };
            let mut known = self.problem.package_names();
            if !FRAMEWORKS.contains(&&*own.package) && known.any(|package| *package == *own.package) {
                let message = format!("`{}` cannot be a build of your own: {} can", own.package, FRAMEWORKS.join(", "));
                let help = "write a constraint, such as \"*\"; an overlay describes in-house builds of other packages";
                self.error("own-build", message, Some(help.into()), written);
            }
            let Some(OwnCuda::Line(line)) = own.cuda() else { continue };
            self.cuda_is_known(&format!("your build of {}", own.package), line.prefix(2), written);
            if own::has_open_python(own)
                && FRAMEWORKS.contains(&&*own.package)
                && !spec.stack.iter().any(|(name, _)| name == "python")
            {
                let open = OwnBuildPython { package: &own.package, version: &own.full_version() };
                self.warn(&open, format!("stack.{}", own.package));
            }
        }
    }

    /// All targets, as long as no more than so many of them differ.
    pub(super) fn targets(
        &mut self,
        targets: &[Target],
        builds: bool,
        off: &[Off],
        most: usize,
    ) -> Vec<TargetRequest<'c>> {
        let mut machines = HashSet::new();
        let mut read = Vec::with_capacity(targets.len());
        for target in targets {
            read.push(self.target(target, builds, off));
            let image = target.image.as_ref().map(|written| &*written.text);
            machines.extend(read.last().map(|target| (target.machine.id, image)));
            if machines.len() > most {
                let message =
                    format!("the targets are more than {most} machines that differ, the most that are judged");
                let help = "divide them among several files, one for each part of the fleet".to_string();
                let span = target.gpu.as_ref().map_or(0..0, |written| written.span.clone());
                self.errors.push(SpecError { code: "too-large", message, span, help: Some(help) });
                break;
            }
        }
        read
    }

    pub(super) fn target(&mut self, target: &Target, builds: bool, off: &[Off]) -> TargetRequest<'c> {
        let gpus = self.gpus(target);
        let implied = self.implied_cpu(&gpus);
        let image = self.image(target);
        let os = match (&target.os, &image) {
            (Some(written), _) => self.os(target, written, &image),
            (None, ImageRequest::Known(image)) => self.catalog.os_of_image(image),
            (None, image) => self.named_by(image),
        };
        let os = self.jetpack_on(target, os, &gpus).or(os);
        let within = self.within(os, &image);
        let glibc = self.glibc(target).or_else(|| within?.glibc);
        let gcc = target.gcc.as_ref().map(|written| written.value).or_else(|| within?.gcc);
        if let Some(os) = within.filter(|os| os.refused.is_none() && target.os.is_some()) {
            self.unknown_parts(
                target,
                os,
                &[("glibc", glibc.is_none()), ("gcc", builds && gcc.is_none() && target.clang.is_none())],
            );
        }
        self.unused_keys(target, builds, &gpus);
        if !builds {
            self.unlisted_compilers(target);
        }
        if matches!(gpus, Gpus::Unsaid) {
            self.warn(&GpuNotChecked { target: &target.name }, format!("target.{}", target.name));
        }
        let written = target.arch.as_ref().map(|written| written.value);
        let arch = written.or(implied).or_else(|| os?.cpu).unwrap_or(CpuArch::X86_64);
        self.jetson_under_wsl2(target, &gpus);
        self.one_processor(target, implied, &gpus);
        let mut platform = Platform::new(arch, os, &gpus);
        if !off.iter().any(|off| off.bears_on(crate::solve::rules::law::IMAGE_TORCH, &target.name)) {
            platform = platform.in_image(self.catalog, &image);
        }
        let driver = self.driver(target, os, gpus.are_jetsons());
        let reading = Reading {
            runtime: target.runtime(),
            arch,
            platform,
            gpus,
            driver,
            os,
            judged: self.judged(target, os),
            image_os: target.os.as_ref().zip(os).and_then(|(written, os)| os.preferred_image(&written.value)),
            glibc,
            gcc: gcc.filter(|_| builds && target.clang.is_none()),
            own_gcc: gcc.filter(|_| !builds && target.clang.is_none()),
            has_gcc: target.gcc.is_some(),
            clang: target.clang.as_ref().map(|written| written.value).filter(|_| builds),
            toolkits: target.toolkit.as_ref().map(|written| written.value.clone()),
            image,
            cudnn: self.cudnn(target),
            compat: self.compat(target),
            kernel_module: target.kernel_module.as_ref().map(|written| written.value),
            image_requires: target.image_requires.as_ref().map(|written| written.value.as_str().into()),
            windows_driver: target.is_wsl2(),
            forward_compat: target.forward_compat == ForwardCompat::Auto && !target.is_wsl2(),
        };
        TargetRequest { driver_policy: target.driver_policy, ..TargetRequest::new(self.problem, &target.name, reading) }
    }

    /// The cuDNN that is installed. One that nobody knows is compared by its number.
    fn cudnn(&mut self, target: &Target) -> Option<Version> {
        let written = target.cudnn.as_ref()?;
        let known = self.catalog.cudnns.iter().any(|row| row.version.cmp_prefix(&written.value).is_eq());
        if !known {
            let unknown = CudnnInstalled::Unknown { installed: &written.value };
            self.warn(&unknown, format!("target.{}.cudnn", target.name));
        }
        Some(written.value)
    }

    /// The cuda-compat package that is installed, if it is known.
    fn compat(&mut self, target: &Target) -> Option<&'c Compat> {
        let written = target.compat.as_ref()?;
        let found = self.catalog.compats.iter().find(|row| row.cuda == written.value);
        if found.is_none() {
            let unknown = CompatInstalled::Unknown { cuda: &written.value };
            self.warn(&unknown, format!("target.{}.compat", target.name));
        }
        found
    }

    /// Keys that decide nothing where they stand.
    fn unused_keys(&mut self, target: &Target, builds: bool, gpus: &Gpus<'_>) {
        let clang =
            target.clang.as_ref().filter(|_| !builds).map(|_| ("clang", "nothing is compiled without `[build]`"));
        let of_jetson = target.kernel_module.as_ref().filter(|_| gpus.are_jetsons());
        let module = of_jetson.map(|_| ("kernel-module", "the driver of a Jetson comes with its JetPack"));
        let written = [("driver", target.driver.is_some()), ("driver-cuda", target.driver_cuda.is_some())];
        let drivers = written.into_iter().filter(|(_, is_written)| *is_written && matches!(gpus, Gpus::Cpu));
        let driver = drivers.map(|(key, _)| (key, "a machine without a GPU needs no driver"));
        for (key, why) in clang.into_iter().chain(module).chain(driver) {
            self.warn(&UnusedKey { key, why }, format!("target.{}.{key}", target.name));
        }
    }

    /// The newest JetPack for the boards of a target that names the system which it is based on: the driver of a Jetson and
    /// what is made for it come with the JetPack.
    fn jetpack_on(&mut self, target: &Target, os: Option<&'c Os>, gpus: &Gpus<'c>) -> Option<&'c Os> {
        let Gpus::These(boards) = gpus else { return None };
        let is_open =
            |os: &&Os| os.cuda.is_none() && os.glibc.is_some() && target.image.is_none() && target.os.is_some();
        let os = os.filter(is_open).filter(|_| gpus.are_jetsons())?;
        let of_driver = |written: &Written<Constraint>| match self.of_jetson(written, true)? {
            DriverRequest::Cuda(cuda, _) => Some(cuda),
            _ => None,
        };
        let shown = target.driver_cuda.as_ref().map(|written| written.value);
        let shown = shown.or_else(|| target.driver.as_ref().and_then(of_driver));
        let fits = |row: &&Os| {
            let is_shown = row.cuda.is_some_and(|cuda| shown.is_none_or(|shown| cuda <= shown));
            is_shown && row.glibc == os.glibc && boards.iter().all(|gpu| row.boards.contains(&gpu.cc_version))
        };
        let found = self.catalog.oses.iter().rfind(fits);
        let told = match found.and_then(|row| Some((row, row.cuda.as_ref()?))) {
            Some((row, cuda)) => SystemUnsaid::Base { os: &os.id, jetpack: &row.id, cuda },
            None => SystemUnsaid::NoBase { os: &os.id },
        };
        self.warn(&told, format!("target.{}.os", target.name));
        found
    }

    fn jetson_under_wsl2(&mut self, target: &Target, gpus: &Gpus<'_>) {
        let Some(written) = target.platform.as_ref().filter(|_| target.is_wsl2() && gpus.are_jetsons()) else { return };
        let message = format!("the GPU of target `{}` is a Jetson, which has no Windows", target.name);
        let help = "drop `platform`, or name a GPU that a Windows machine has".to_string();
        self.error("exclusive", message, Some(help), written);
    }

    /// The drivers of Jetsons are numbered by themselves: 540.4.0 is that of JetPack 6.2 and shows CUDA 12.6. One between
    /// two that are known shows no newer CUDA than the later of them; of a later one nothing is known.
    fn of_jetson(&self, written: &Written<Constraint>, jetson: bool) -> Option<DriverRequest> {
        let number = written.value.single()?;
        let known = || self.catalog.oses.iter().filter_map(|os| Some((os.driver?, os.cuda?)));
        let (_, cuda) = known().filter(|(driver, _)| driver >= number).min()?;
        // A number that only Jetsons have tells what it is of; `580` is a branch.
        let is_own = jetson || known().any(|(driver, _)| driver == *number && driver.len() == number.len());
        is_own.then_some(DriverRequest::Cuda(cuda, Told::Jetson(*number)))
    }

    fn driver(&mut self, target: &Target, os: Option<&Os>, jetson: bool) -> DriverRequest {
        if let Some(cuda) = &target.driver_cuda {
            return DriverRequest::Cuda(self.shown_by_driver(target, &cuda.value), Told::Key(cuda.value));
        }
        // Where the driver comes with the system, the system tells its CUDA version.
        let of_system = os.and_then(|os| os.cuda).map(|cuda| DriverRequest::Cuda(cuda, Told::System));
        let of_number = |written: &Written<Constraint>| self.of_jetson(written, jetson);
        let known = of_system.filter(|_| jetson || target.driver.is_none());
        if let Some(driver) = known.or_else(|| target.driver.as_ref().and_then(of_number)) {
            return driver;
        }
        let Some(written) = target.driver.as_ref().filter(|_| !jetson) else {
            return DriverRequest::Free(None);
        };
        let constraint = &written.value;
        let meant = DriverRequest::of(constraint);
        match &meant {
            DriverRequest::Exact(version) => self.check_driver_listed(target, version),
            DriverRequest::AtWorst(_) if self.admits_no_driver(constraint) => {
                let message = format!("`{}` admits no driver: `,` means and", written.text.escape_debug());
                let help = "for one or the other write `535 || 550`".to_string();
                self.error("empty-constraint", message, Some(help), written);
                return DriverRequest::Free(None);
            }
            DriverRequest::AtWorst(_) => {
                // Each branch of a list occurs.
                for version in constraint.listed() {
                    let is_it = |driver: &Version| driver.cmp_prefix(version).is_eq();
                    if target.is_wsl2() || !self.catalog.drivers.iter().any(|row| is_it(&row.version)) {
                        self.check_driver_listed(target, version);
                    }
                }
                // Bounds below are what is mostly written.
                if constraint.listed().next().is_none() {
                    let admitted = self.catalog.drivers.iter().filter(|row| constraint.admits(&row.version));
                    let judged = admitted.map(|row| row.version).min();
                    let bounds = constraint.comparisons().filter(|one| one.op.is_lower() || judged.is_none());
                    if let Some(version) = bounds.filter_map(|one| one.version).min() {
                        self.check_branch_listed(target, &version, judged);
                    }
                }
            }
            _ => {}
        }
        meant
    }

    /// Whether no release can be what is asked for, be it known or still to come.
    fn admits_no_driver(&self, constraint: &Constraint) -> bool {
        let known = self.catalog.drivers.iter().any(|row| constraint.admits(&row.version));
        let mut bounds = constraint.comparisons().filter_map(|one| one.version);
        let open = !constraint.as_str().split("||").all(|part| part.contains('<') || !part.contains('>'));
        !known && !open && !bounds.any(|bound| constraint.admits(&bound))
    }

    /// A release of a known branch that nobody listed: published since, or a slip of the pen. Of Windows only those are
    /// listed that CUDA asks for, so there it is one from before the first of its branch.
    fn check_release_listed(&mut self, target: &Target, version: &Version) {
        let windows = target.is_wsl2();
        let of_linux = self.catalog.drivers.iter().map(|row| row.version).filter(|_| !windows);
        let of_windows = self.catalog.windows_drivers.iter().map(|row| row.driver).filter(|_| windows);
        let of_branch: Vec<Version> =
            of_linux.chain(of_windows).filter(|known| known.major() == version.major()).collect();
        if of_branch.is_empty() || of_branch.iter().any(|known| known.cmp_prefix(version).is_eq()) {
            return;
        }
        let older = of_branch.iter().filter(|known| *known < version).max();
        let newer = of_branch.iter().filter(|known| *known > version).min();
        if !windows || older.is_none() {
            // Most of Linux have a third part, those of Windows have none; beyond the newest it may be of either.
            let of_windows = !windows && version.len() == 2 && newer.is_some();
            let not_listed = DriverNotListed::Release { version, beside: (older, newer), of_windows };
            self.warn(&not_listed, format!("target.{}.driver", target.name));
        }
    }

    /// The CUDA version that nvidia-smi shows. One that no driver is known to show is judged as the nearest older.
    fn shown_by_driver(&mut self, target: &Target, cuda: &Version) -> Version {
        let shown = self.catalog.branches.iter().filter_map(|branch| branch.cuda);
        let known = shown.chain(self.catalog.oses.iter().filter_map(|os| os.cuda));
        let Some(nearest) = known.filter(|known| known.cmp_prefix(cuda).is_le()).max() else { return *cuda };
        if nearest.cmp_prefix(cuda).is_eq() {
            return *cuda;
        }
        let unknown =
            NewerThanCatalog { what: "driver shows CUDA", version: cuda, nearest: &nearest, is_compared: false };
        self.warn(&unknown, format!("target.{}.driver-cuda", target.name));
        nearest
    }

    /// The C library that is written; one that no system is known to have is compared by its number.
    fn glibc(&mut self, target: &Target) -> Option<Version> {
        let written = target.glibc.as_ref()?.value;
        let newest = self.catalog.oses.iter().filter_map(|os| os.glibc).max();
        let newest = newest.filter(|newest| written.cmp_prefix(newest).is_gt());
        self.taken_as_written(target, ("glibc", "system has glibc"), &written, newest);
        Some(written)
    }

    fn check_driver_listed(&mut self, target: &Target, version: &Version) {
        self.check_release_listed(target, version);
        self.check_branch_listed(target, version, None);
    }

    /// Drivers of Windows have branches of their own between those of Linux; what lies beyond all is known of neither.
    fn check_windows_branch(&mut self, target: &Target, version: &Version) {
        let newest = self.catalog.branches.last().map(|row| row.branch);
        let oldest = self.catalog.windows_drivers.iter().map(|row| row.driver).min();
        let is_older = oldest.is_some_and(|oldest| version.major() < oldest.major());
        if is_older || newest.is_some_and(|newest| version.major() > newest.major()) {
            let nearest = newest.as_ref().filter(|_| !is_older);
            let not_listed = DriverNotListed::Branch { version, nearest, of_windows: false };
            self.warn(&not_listed, format!("target.{}.driver", target.name));
        }
    }

    /// A branch that is not known: it is judged as the nearest older, a bound as the oldest release above it.
    fn check_branch_listed(&mut self, target: &Target, version: &Version, judged: Option<Version>) {
        if target.is_wsl2() {
            return self.check_windows_branch(target, version);
        }
        let known = |branch: u64| self.catalog.branches.iter().any(|row| row.branch.major() == branch);
        if !known(version.major()) {
            let nearest = self.catalog.branches.iter().rev().find(|row| row.branch.major() < version.major());
            // Those of Windows stand between those of Linux; what came after the listed ones may be of either.
            let of_windows = |row: &WindowsDriver| row.driver.major() == version.major();
            let windows = || self.catalog.windows_drivers.iter();
            let is_between = self.catalog.branches.iter().any(|row| row.branch > *version);
            let is_later = |row: &WindowsDriver| row.driver < *version;
            let of_windows = judged.is_none() && (windows().any(of_windows) || is_between && windows().any(is_later));
            let nearest = judged.map(|judged| judged.prefix(1)).or(nearest.map(|row| row.branch));
            let not_listed = DriverNotListed::Branch { version, nearest: nearest.as_ref(), of_windows };
            self.warn(&not_listed, format!("target.{}.driver", target.name));
        }
    }

    /// A system that nothing is solved for: told with what is known of it.
    pub(super) fn refused_os(&mut self, target: &Target, os: &Os, written: &Written<String>) {
        let Some(reason) = os.refused.as_ref() else { return };
        let arch = target.arch.as_ref().map_or(CpuArch::X86_64, |arch| arch.value);
        let help = os.family.and_then(|family| unsupported_os::told(self.catalog, self.stack, (family, arch)));
        let help = help.unwrap_or_else(|| "write the Linux on which it is to run".to_string());
        self.error("not-supported-yet", format!("`{}` cannot be resolved yet: {reason}", os.id), Some(help), written);
    }

    fn image(&mut self, target: &Target) -> ImageRequest<'c> {
        let Some(written) = &target.image else { return ImageRequest::No };
        let image = &written.value;
        let repository = repeated(&image.repository);
        let known_repository = !self.catalog.images.of(repository).is_empty();
        if known_repository && image.tag.is_none() && image.digest.is_none() {
            return ImageRequest::Choose(repository.to_string());
        }
        let mut near = None;
        if let (true, Some(tag)) = (known_repository, &image.tag) {
            match image::tag(self.catalog, &image.repository, tag) {
                TagMatch::Known(row) => return ImageRequest::Known(row),
                TagMatch::NotThere => return ImageRequest::NoSuchTag(image.clone()),
                // Of a repository that an overlay alone names the other tags are what they are without it.
                TagMatch::Unlisted(_) if target.image_requires.is_none() && is_public(repository) => {
                    return ImageRequest::UnseenTag(image.clone());
                }
                TagMatch::Unlisted(nearest) => {
                    near = nearest.map(|row| format!("; the nearest tag that is known is `{}`", row.tag));
                }
            }
        } else if !known_repository {
            near = self.near_repository(&image.repository).map(|near| format!("; did you mean `{near}`?"));
        }
        let near = near.unwrap_or_default();
        let name = written.text.escape_debug().to_string();
        let unchecked = ImageRequest::Unchecked(image.clone());
        let os = self.named_by(&unchecked).map(|os| &*os.name);
        let has_requires = target.image_requires.is_some();
        let not_checked = ImageNotChecked { image: &name, os, has_requires, near: &near };
        self.warn(&not_checked, format!("target.{}.image", target.name));
        unchecked
    }

    /// The repository that somebody meant by another name, or by this name without its maker.
    fn near_repository(&self, written: &str) -> Option<&'c str> {
        let repositories = self.catalog.images.heads();
        let of_maker = |known: &&&str| known.rsplit('/').next() == Some(written);
        nearest(written, repositories.iter().copied()).or_else(|| repositories.iter().rfind(of_maker).copied())
    }

    pub(super) fn overrides(&mut self, overrides: &[Override]) -> Vec<Off> {
        let catalog = self.catalog;
        let mut off = Vec::new();
        for one in overrides {
            let ids = || catalog.rules.iter().map(|rule| &*rule.id).chain(catalog.laws.iter().map(|law| &*law.id));
            if ids().any(|id| id == one.rule.value) {
                let target = one.target.as_ref().map(|target| target.value.clone());
                off.push(Off { rule: one.rule.value.clone(), target });
            } else {
                let help = self.meant(&one.rule.value, ids()).map_or_else(
                    || "write the id of a rule, as a conflict names it among its facts: `gpu-code`".to_string(),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("unknown rule `{}`", one.rule.value.escape_debug());
                self.error("unknown-rule", message, Some(help), &one.rule);
            }
        }
        off
    }
}

impl Reader<'_, '_> {
    pub(super) fn silences(&mut self, silences: &[Silence]) {
        for one in silences.iter().filter(|one| meaning::find(meaning::WARNINGS, &one.warning.value).is_none()) {
            let near = self.meant(&one.warning.value, meaning::WARNINGS.iter().map(|known| known.code));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write the code between the brackets of a warning, such as `driver-end-of-life`".to_string(),
            };
            let help = Some(help);
            let message = format!("unknown warning `{}`", one.warning.value.escape_debug());
            self.error("unknown-warning", message, help, &one.warning);
        }
    }
}
