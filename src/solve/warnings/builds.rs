//! Builds that were taken although their publisher or the catalog does not stand behind them, and what of them is not known.

use crate::catalog::Row;
use crate::catalog::rows::{Build, Companion, Flavour, Libraries, Practice, Property, Status, TRITON};
use crate::coverage::Coverage;
use crate::solve::failing::failures_on;
use crate::solve::platform::Takes;
use crate::solve::request::{GpuRequest, ImageRequest, TargetRequest};
use crate::solve::{coinstall, fits, image, libraries, own};
use crate::spec::Share;
use crate::types::Version;
use crate::types::nvidia::RUNTIME;
use crate::warning::{
    CudaOnCpu, Expected, ExperimentalVariant, LibraryMissing, Nightly, SnapshotBuild, SystemCuda, SystemUnsaid,
    TwoCudas, TwoCudnns, UnknownGpuCode, UnknownLibrary, Warning, Yanked,
};

use super::About;

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for build in &about.target.builds {
        let one = One { about, build, name: build.named(), key: [format!("stack.{}", build.package)] };
        warnings.extend(one.nightly());
        let is_yanked = !build.is_own() && about.request.catalog.is_yanked(&build.package, &build.version);
        warnings.extend(is_yanked.then(|| Warning::about(&Yanked { name: &one.name }, &one.key)));
        if build.is_cpu() {
            continue;
        }
        warnings.extend(one.unreleased());
        warnings.extend(one.library_missing());
        warnings.extend(one.system_cuda());
        warnings.extend(one.system_unsaid());
        warnings.extend(one.unknown_code());
        warnings.extend(one.disputed_code());
        warnings.extend(one.unproven_code());
        warnings.extend(one.cuda_on_cpu());
        warnings.extend(one.expected());
        warnings.extend(one.unknown_libraries());
    }
    warnings.extend(two_cudnns(about));
    warnings.extend(two_cudas(about));
    warnings
}

/// One of the builds.
struct One<'a, 'c> {
    about: &'a About<'a, 'c>,
    build: &'a Build,
    name: String,
    key: [String; 1],
}

impl One<'_, '_> {
    /// Whether the spec names the variant, so that it is no surprise.
    fn is_named(&self) -> bool {
        let frameworks = &self.about.request.frameworks;
        let ask = frameworks.iter().find(|ask| ask.package == self.build.package);
        ask.is_some_and(|ask| ask.own || ask.constraint.names_variant(&self.build.variant))
    }

    /// What a nightly was judged by.
    fn nightly(&self) -> Option<Warning> {
        let build = self.build;
        let release = own::precedes(&build.version);
        let is_of_release = |row: &Build| {
            row.version == release && row.variant == build.variant && row.arch == build.arch && !row.is_laid()
        };
        let name = &*self.name;
        let nightly = match self.about.request.catalog.builds.of(&build.package).iter().any(is_of_release) {
            true => Nightly::AsRelease { name, release: &release },
            false => Nightly::Unread { name, release: &release, of: (&build.variant, build.arch.as_str()) },
        };
        // One that a row of an overlay tells is judged by that.
        let is_laid = build.is_nightly() && self.about.request.catalog.overlaid(&build.id()).is_none();
        is_laid.then(|| Warning::about(&nightly, &self.key))
    }

    /// A snapshot from before its release, or a build that its publisher calls experimental.
    fn unreleased(&self) -> Option<Warning> {
        let build = self.build;
        if let Some(carried) = build.wheel.as_ref().filter(|_| build.is_snapshot()) {
            let snapshot = match build.is_in_image() {
                true => SnapshotBuild::InImage { name: &self.name, release: &build.version },
                false => SnapshotBuild::Wheel { name: &self.name, carried },
            };
            return Some(Warning::about(&snapshot, &self.key));
        }
        let is_experimental = build.status == Status::Experimental && !build.default;
        let is_asked_for = self.is_named() || self.about.request.allow_experimental;
        if !is_experimental || is_asked_for {
            return None;
        }
        let (problem, gpus) = (self.about.request.problem, self.about.asked.named_gpus());
        let failures = |build: &Build| gpus.iter().map(|gpu| failures_on(problem, build, gpu)).sum::<usize>();
        let catalog = self.about.request.catalog;
        let runs = |other: &Build| {
            let code = |gpu: &GpuRequest<'_>| fits::coverage(other, catalog.toolkit_of(other), gpu.cc);
            gpus.iter().all(|gpu| code(gpu) != Some(Coverage::None))
        };
        let is_stable = |other: &&Build| {
            let is_like = (other.version, other.arch) == (build.version, build.arch) && other.systems == build.systems;
            is_like && other.status != Status::Experimental && !other.is_cpu() && !other.is_own() && runs(other)
        };
        let mut stable = catalog.builds.of(&build.package).iter().filter(is_stable);
        let fails_less = stable.any(|other| failures(other) > failures(build));
        Some(Warning::about(&ExperimentalVariant { name: &self.name, fails_less }, &self.key))
    }

    fn library_missing(&self) -> Option<Warning> {
        let (build, name) = (self.build, &*self.name);
        if build.reads_of_compiler().is_some() {
            return None;
        }
        let files: Vec<&str> = build.loads.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
        let missing = match build.loads.first()?.rsplit_once('/') {
            Some(_) if self.about.asked.is_cpu() || self.has_cuda() => return None,
            Some((folder, _)) => LibraryMissing::Unreached { name, files: &files, folder, other: self.other_cudnn() },
            None => LibraryMissing::Nowhere { name, files: &files },
        };
        Some(Warning::about(&missing, &self.key))
    }

    /// Whether the machine or the image is said to have CUDA's libraries and a cuDNN that the build runs with.
    fn has_cuda(&self) -> bool {
        let (asked, image) = (self.about.asked, self.about.target.image);
        let line = self.build.line();
        let is_of_line = |cuda: &Version| line.is_none_or(|line| cuda.major() == line.major());
        let in_image = image.filter(|image| image.flavour != Flavour::Base).map(|image| &image.cuda);
        let has_toolkit = asked.toolkits.iter().flatten().chain(in_image).any(is_of_line);
        has_toolkit && self.system_cudnn().is_some_and(|has| self.serves(has))
    }

    /// The cuDNN of the machine or the image.
    fn system_cudnn(&self) -> Option<&Version> {
        self.about.asked.cudnn.as_ref().or(self.about.target.image.and_then(|image| image.cudnn.as_ref()))
    }

    /// Whether the build runs with a cuDNN: one of the major that it was made with, and not from before that. Of those in
    /// some images no version is known.
    fn serves(&self, has: &Version) -> bool {
        let is_of = |needs: &Version| has.major() == needs.major() && has.prefix(2) >= needs.prefix(2);
        has.major() == 0 || self.build.cudnn.as_ref().is_none_or(is_of)
    }

    /// The cuDNN of the machine or the image, where it does not serve, and what the build was made with.
    fn other_cudnn(&self) -> Option<(&Version, &Version)> {
        Some((self.system_cudnn().filter(|has| !self.serves(has))?, self.build.cudnn.as_ref()?))
    }

    fn system_unsaid(&self) -> Option<Warning> {
        let (asked, build) = (self.about.asked, self.build);
        let systems: Vec<&str> = build.systems.iter().map(|system| &**system).collect();
        let unsaid = SystemUnsaid::Build { name: &self.name, systems: &systems };
        let is_unsaid = asked.platform.takes == Takes::Either && !systems.is_empty();
        is_unsaid.then(|| Warning::about(&unsaid, &self.about.whole()))
    }

    fn unknown_code(&self) -> Option<Warning> {
        let build = self.build;
        if build.arch_source.is_some() || self.about.asked.named_gpus().is_empty() {
            return None;
        }
        let unknown = match build.is_own() {
            true => UnknownGpuCode::OwnBuild { name: &self.name },
            false => UnknownGpuCode::Build { name: &self.name, arch: build.arch.as_str() },
        };
        Some(Warning::about(&unknown, &self.key))
    }

    /// CUDA and cuDNN that it takes from the system, where nobody says that they are there.
    fn system_cuda(&self) -> Option<Warning> {
        let (asked, name) = (self.about.asked, &self.name);
        if !self.build.system_cuda || asked.is_cpu() {
            return None;
        }
        if !self.build.systems.is_empty() {
            return self.other_than_in_jetpack();
        }
        let line = self.build.line()?;
        let needs = self.build.cudnn.as_ref();
        let file = self.build.reads_of_compiler();
        if let Some(image) = self.about.target.image {
            let reference = format!("{}:{}", image.repository, image.tag);
            let lacks = |_: &&str| image.flavour != Flavour::Devel && asked.toolkits.is_none();
            if let Some(file) = file.filter(lacks) {
                let lacking = SystemCuda::ImageCompiler { name, cuda: line, file, image: &reference };
                return Some(Warning::about(&lacking, &self.about.keys("image")));
            }
            let needs = needs.filter(|_| image::holds_unread_cudnn(image) && asked.cudnn.is_none())?;
            let unread = SystemCuda::ImageCudnn { name, needs, image: &reference };
            return Some(Warning::about(&unread, &self.about.keys("image")));
        }
        let cudnn = needs.filter(|_| asked.cudnn.is_none());
        if let Some(image) = self.about.unread_image() {
            let cudnn = cudnn.map_or(String::new(), |cudnn| format!(" and cuDNN {cudnn}"));
            let unread = SystemCuda::ImageUnread { name, what: &format!("CUDA {line}{cudnn}"), image: &image };
            return Some(Warning::about(&unread, &self.about.keys("image")));
        }
        if !matches!(asked.image, ImageRequest::No) {
            return None;
        }
        if let Some(has) = asked.toolkits.as_ref().filter(|_| cudnn.is_none()) {
            // One of another major is not found by its file names.
            let found = has.iter().filter(|toolkit| toolkit.major() == line.major()).max();
            let newest = found.filter(|newest| newest.cmp_prefix(&line).is_lt())?;
            let older = SystemCuda::Older { name, cuda: line, installed: newest };
            return Some(Warning::about(&older, &self.about.keys("toolkit")));
        }
        let with = file.map_or_else(String::new, |file| format!(" with nvcc (for its {file})"));
        let cuda = asked.toolkits.is_none().then(|| (format!("CUDA {line}{with}"), "`toolkit`"));
        let cudnn = cudnn.map(|cudnn| (format!("cuDNN {cudnn} or a later one of that major"), "`cudnn`"));
        let (what, keys): (Vec<String>, Vec<&str>) = cuda.into_iter().chain(cudnn).unzip();
        let install = SystemCuda::Install { name, what: &what.join(" and "), keys: &keys.join(" and ") };
        Some(Warning::about(&install, &self.key))
    }

    /// A cuDNN that is asked for beside a build for a JetPack: that holds the one which the build was made with, and exports
    /// install none.
    fn other_than_in_jetpack(&self) -> Option<Warning> {
        let chosen = self.about.target.cudnn.filter(|_| self.about.asked.cudnn.is_none())?;
        let is_other = |own: &&Version| chosen.version.cmp_prefix(own).is_ne();
        self.build.cudnn.as_ref().filter(is_other)?;
        let what = format!("cuDNN {}", chosen.version);
        let install = SystemCuda::Install { name: &self.name, what: &what, keys: "`cudnn`" };
        Some(Warning::about(&install, &["stack.cudnn".to_string()]))
    }

    /// Code of which evidence differs on whether a GPU loads it.
    fn disputed_code(&self) -> Option<Warning> {
        let (about, build) = (self.about, self.build);
        build.arch_source.as_ref()?;
        let catalog = about.request.catalog;
        let toolkit = about.request.catalog.toolkit_of(build);
        let is_unknown = |gpu: &&GpuRequest<'_>| fits::coverage(build, toolkit, gpu.cc).is_none();
        let gpu = about.asked.named_gpus().iter().find(is_unknown)?;
        let source = catalog.source_at(toolkit?.tegra_disputed.as_deref()?).to_string();
        let settled = catalog.tegra_settled();
        let table = "the framework's own table";
        let disputed = UnknownGpuCode::Disputed { name: &self.name, table, gpu: &gpu.name, source: &source, settled };
        Some(Warning::about(&disputed, &about.keys("gpu")))
    }

    /// A GPU that nobody knows the build to compute on.
    fn unproven_code(&self) -> Option<Warning> {
        let (about, build) = (self.about, self.build);
        let rule_on = |gpu| about.request.unproven_rule(build, gpu).map(|rule| (gpu, rule));
        let (gpu, rule) = about.asked.named_gpus().iter().find_map(rule_on)?;
        let source = about.request.catalog.source_at(&rule.row.source).to_string();
        let unproven =
            UnknownGpuCode::Unproven { name: &self.name, gpu: &gpu.name, says: &rule.row.says, source: &source };
        Some(Warning::about(&unproven, &about.keys("gpu")))
    }

    /// A build for CUDA where nothing computes with it.
    fn cuda_on_cpu(&self) -> Option<Warning> {
        let (request, asked, build) = (self.about.request, self.about.asked, self.build);
        if !asked.is_cpu() {
            return None;
        }
        let name = &*self.name;
        let beside = self.about.target.companions.iter().find(|row| self.needs_cuda(row));
        let has_cpu_build = fits::has_cpu_build(request.catalog, build);
        let is_cpu = |target: &TargetRequest<'_>| target.is_cpu();
        if request.share == Share::Stack && !request.targets.iter().all(is_cpu) {
            // What is named is the one that each target gets.
            let has_cpu_build = has_cpu_build && beside.is_none() && !self.is_named();
            let shared = CudaOnCpu::Shared { name, has_cpu_build };
            return Some(Warning::about(&shared, &self.about.keys("gpu")));
        }
        if self.is_named() {
            return None;
        }
        if let Some(row) = beside {
            let package = format!("{} {}", row.package, row.version);
            return Some(Warning::about(&CudaOnCpu::Beside { name, package: &package }, &self.key));
        }
        let release = format!("{} {}", build.package, build.version);
        let none = CudaOnCpu::NoneSeen { release: &release, arch: build.arch.as_str() };
        (!has_cpu_build).then(|| Warning::about(&none, &self.key))
    }

    /// Whether a package goes with no CPU build of the framework, by any wheel of its release.
    fn needs_cuda(&self, row: &Companion) -> bool {
        let wheels = self.about.request.catalog.companions.of(&row.package).iter();
        let mut wheels = wheels.filter(|one| one.version == row.version);
        row.framework == self.build.package && !wheels.any(|one| fits::made_for(one, "cpu", None))
    }

    /// What nobody has read of a build, and practices of its publisher tell: what one tells together.
    fn expected(&self) -> Vec<Warning> {
        let (build, python, catalog) = (self.build, self.about.target.python, self.about.request.catalog);
        let mut by_practice: Vec<(&Practice, Vec<String>)> = Vec::new();
        for property in build.expected_of(python) {
            let Some(practice) = catalog.practice_of(build, property) else { continue };
            let what = self.words_of(property);
            match by_practice.iter_mut().find(|(known, _)| known.id == practice.id) {
                Some((_, told)) => told.push(what),
                None => by_practice.push((practice, vec![what])),
            }
        }
        let warning = |(practice, what): (&Practice, Vec<String>)| {
            let counted = (practice.holds, practice.of);
            let expected = Expected { name: &self.name, what: &what, practice: &practice.says, counted };
            Warning::about(&expected, &self.key)
        };
        by_practice.into_iter().map(warning).collect()
    }

    /// A property of the build in words: `NCCL 2.20.5`.
    fn words_of(&self, property: Property) -> String {
        let build = self.build;
        let library = match property {
            Property::Pythons => "a wheel for Python",
            Property::Toolkit => "CUDA",
            Property::Cudnn => "cuDNN",
            Property::Nccl => "NCCL",
            Property::Triton => "triton",
        };
        let line = self.about.target.python.filter(|_| property == Property::Pythons);
        line.or(build.part(property.as_str()))
            .map_or_else(|| library.to_string(), |version| format!("{library} {version}"))
    }

    /// Libraries of which it is not known which release the build brings, where one is asked for or other builds of the
    /// release tell theirs.
    fn unknown_libraries(&self) -> Vec<Warning> {
        let (request, build) = (self.about.request, self.build);
        let builds = request.catalog.builds.of(&build.package).iter().filter(|_| !build.is_own());
        let of_release = |other: &&Build| (other.version, other.arch) == (build.version, build.arch) && !other.is_own();
        let is_alike = |other: &&Build| (other.systems, other.system_cuda) == (build.systems, build.system_cuda);
        let alike: Vec<&Build> = builds.filter(of_release).filter(is_alike).collect();
        let mut warnings = Vec::new();
        for library in ["cudnn", "nccl", TRITON].into_iter().filter(|library| build.part(library).is_none()) {
            let is_asked_for = request.part(library).is_some();
            let key = if is_asked_for { format!("stack.{library}") } else { self.key[0].clone() };
            if is_asked_for || alike.iter().any(|other| other.part(library).is_some()) {
                let unknown = UnknownLibrary { library, name: &self.name, is_asked_for };
                warnings.push(Warning::about(&unknown, &[key]));
            }
        }
        warnings
    }
}

/// Two frameworks of which one has a cuDNN inside its wheel: under one name a process loads one only.
fn two_cudnns(about: &About<'_, '_>) -> Option<Warning> {
    let mut bringing = about.gpu_builds().filter_map(|build| Some((*build, build.cudnn.as_ref()?)));
    let (first, loaded) = bringing.next()?;
    // What all of them ask pip for they agree on, and those of two majors have two names. An older one of the same major
    // is what the other was built with, and that it runs with.
    let apart = |other: &Build, needed: &Version| {
        (first.pins.is_none() || other.pins.is_none()) && needed.major() == loaded.major() && needed > loaded
    };
    let (other, needed) = bringing.find(|(other, needed)| apart(other, needed))?;
    let release = |build: &Build| format!("{} {}", build.package, build.version);
    let two = TwoCudnns { first: (&release(first), loaded), other: (&release(other), needed) };
    Some(Warning::about(&two, &[format!("stack.{}", first.package), format!("stack.{}", other.package)]))
}

/// A framework that holds its libraries of CUDA, beside one that asks pip for newer ones: both are in the environment.
fn two_cudas(about: &About<'_, '_>) -> Option<Warning> {
    let catalog = about.request.catalog;
    let holding = |build: &Build| build.toolkit.filter(|_| build.pins.is_none() && !build.system_cuda);
    let (first, holds) = about.gpu_builds().find_map(|build| Some((*build, holding(build)?)))?;
    let least = |build: &Build| {
        let open = libraries::asked_of(catalog, build, Some(build.arch)).filter(|_| coinstall::leaves_open(build));
        let of_runtime = open.into_iter().find(|(name, _)| name.starts_with(RUNTIME));
        of_runtime.and_then(|(_, range)| Version::parse(Libraries::oldest(range)?).ok())
    };
    let other = about.gpu_builds().find_map(|build| Some((*build, least(build)?.prefix(2))));
    let (other, needed) = other.filter(|(_, needed)| *needed > holds.prefix(2))?;
    let release = |build: &Build| format!("{} {}", build.package, build.version);
    let two = TwoCudas { holds: (&release(first), &holds), other: (&release(other), &needed) };
    Some(Warning::about(&two, &[format!("stack.{}", first.package), format!("stack.{}", other.package)]))
}
