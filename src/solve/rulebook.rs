//! The catalog's rules made ready to be asked, and the names of the laws that are code.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Build, Companion, Image, Rule, Subject, Toolkit};
use crate::catalog::{Catalog, GpuMatch};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::words::{Arch, Cc, Constraint, CpuArch, Version};

use super::driver::DriverRow;
use super::fits;
use super::image::{self, Demand, TagMatch};
use super::question::Question;
use super::release::{self, Release};
use super::rowset::RowSet;

/// The names of the rules that are code; each is described by a row of `catalog/laws.toml`.
pub mod law {
    /// A build runs on a GPU only if it holds machine code or PTX for it.
    pub const COVERAGE: &str = "gpu-code";
    /// PTX compiles only with a driver that knows its ISA.
    pub const PTX_DRIVER: &str = "ptx-isa-driver";
    /// A GPU target never gets a CPU build.
    pub const CPU_BUILD: &str = "cpu-build";
    /// A build exists for a platform only where it was published.
    pub const PUBLISHED: &str = "wheel-published";
    /// A build has wheels for certain Pythons only.
    pub const PYTHON: &str = "wheel-python";
    /// A wheel needs at least the glibc its platform tag names.
    pub const GLIBC: &str = "wheel-glibc";
    /// A companion package follows certain framework releases.
    pub const COMPANION: &str = "companion-framework";
    /// An image tag must exist.
    pub const IMAGE_TAG: &str = "image-tag";
    /// An image exists for certain CPU architectures.
    pub const IMAGE_ARCH: &str = "image-arch";
    /// The OS of an image is the OS asked for.
    pub const IMAGE_OS: &str = "image-os";
    /// An image states which drivers it may be started on.
    pub const IMAGE_REQUIRE: &str = "image-require-cuda";
    /// An image must hold what is needed of it: nvcc, cuDNN.
    pub const IMAGE_HOLDS: &str = "image-flavour";
    /// Extensions are compiled by a toolkit of the CUDA major that torch was built with.
    pub const EXTENSION_MAJOR: &str = "extension-cuda-major";
    /// torch's extension builder knows certain architectures only.
    pub const EXTENSION_ARCH: &str = "extension-arch";
    /// nvcc knows certain architectures only.
    pub const NVCC_ARCH: &str = "nvcc-arch";
    /// An architecture list must reach every GPU.
    pub const ARCH_LIST: &str = "arch-list-gpu";
    /// nvcc refuses newer host compilers.
    pub const NVCC_GCC: &str = "nvcc-gcc";
    /// Some products come with one CPU architecture only.
    pub const PRODUCT_CPU: &str = "gpu-cpu-arch";
    /// A cuDNN or NCCL release is built for one CUDA major.
    pub const LIBRARY_CUDA: &str = "library-cuda-major";
    /// Frameworks in one environment share their libraries.
    pub const TOGETHER: &str = "framework-libraries";
    /// cuda-compat works on data-centre GPUs and listed driver branches only.
    pub const FORWARD_COMPAT: &str = "forward-compat";

    /// Every law, for the catalog's lint.
    pub const ALL: &[&str] = &[
        COVERAGE,
        PTX_DRIVER,
        CPU_BUILD,
        PUBLISHED,
        COMPANION,
        PYTHON,
        GLIBC,
        IMAGE_TAG,
        IMAGE_ARCH,
        IMAGE_OS,
        IMAGE_REQUIRE,
        IMAGE_HOLDS,
        EXTENSION_MAJOR,
        EXTENSION_ARCH,
        NVCC_ARCH,
        ARCH_LIST,
        NVCC_GCC,
        PRODUCT_CPU,
        LIBRARY_CUDA,
        TOGETHER,
        FORWARD_COMPAT,
    ];
}

/// The catalog's `needs` rules with their ranges parsed.
#[derive(Debug)]
pub struct RuleBook<'c> {
    needs: Vec<Needs<'c>>,
    /// The builds of each package, and its releases once they are asked for.
    packages: Vec<(&'c [Build], OnceLock<Vec<Release<'c>>>)>,
    /// GPU names already looked up: variations of one spec ask for the same ones again and again.
    gpus: Mutex<FxHashMap<String, GpuMatch<'c>>>,
    /// Tags already looked up, with their repositories.
    tags: Mutex<FxHashMap<String, TagMatch<'c>>>,
    /// What images demand on a platform, by the images' addresses and whether the user named them.
    image_demands: Mutex<FxHashMap<(usize, CpuArch, bool), Arc<Demand<'c>>>>,
    /// Requirements already read, by their addresses: as texts they are long to compare.
    demands: Mutex<FxHashMap<usize, Arc<Demand<'c>>>>,
    /// Whether images start on drivers, by demand, driver and brands.
    starts: Mutex<FxHashMap<(usize, Version, usize), bool>>,
    /// Ranges already read, by their texts.
    ranges: Mutex<FxHashMap<&'c str, Option<Arc<Constraint>>>>,
    /// Which versions ranges admit, by the addresses and lengths of their texts.
    admitted: Mutex<FxHashMap<(usize, usize, usize), bool>>,
    /// The C library of the systems that images hold, by the name images give them.
    glibcs: Mutex<FxHashMap<&'c str, Option<&'c Version>>>,
    /// Images already chosen from, by what was asked of them.
    images: Mutex<FxHashMap<String, Vec<&'c Image>>>,
    /// Toolkits already chosen from, by what was asked of them.
    toolkits: Mutex<FxHashMap<String, Vec<&'c Toolkit>>>,
    /// Drivers already chosen from, by what was asked of them.
    drivers: Mutex<FxHashMap<String, Vec<DriverRow<'c>>>>,
    /// For the builds whose list of Pythons may lack some, those that their release has wheels for elsewhere.
    release_pythons: OnceLock<Vec<(&'c Build, Vec<&'c Version>)>>,
    /// How code reaches GPUs, by the addresses of the lists of its machine code and PTX.
    reaches: Mutex<FxHashMap<CodeOn, Coverage>>,
    /// What is compiled for GPUs, by the addresses of the lists of a toolkit and a builder.
    compiled: Mutex<FxHashMap<CodeOn, Option<Arch>>>,
    /// Whether questions have answers, by all that they ask.
    answers: Mutex<FxHashMap<String, bool>>,
    /// Driver releases at which some rule begins or ceases to hold, whatever the GPU.
    turning_points: OnceLock<Vec<&'c Version>>,
}

/// Two lists of architectures by their addresses, and the GPU they are held against.
type CodeOn = (usize, usize, Cc, Tegra);

/// One rule: where the subject is in `range`, the object must be in `needs`.
#[derive(Debug, Clone)]
pub struct Needs<'c> {
    /// The row.
    pub row: &'c Rule,
    /// Which subjects it speaks of.
    pub range: Constraint,
    /// What these need.
    pub needs: Constraint,
}

/// The rules about a package that ask the same thing: few or none.
#[derive(Debug)]
pub struct PackageRules<'a, 'c> {
    rules: Vec<&'a Needs<'c>>,
}

impl<'a, 'c> PackageRules<'a, 'c> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Those that speak of a release.
    pub fn about(&self, release: &Version) -> impl Iterator<Item = &'a Needs<'c>> {
        self.rules.iter().copied().filter(|rule| rule.range.admits(release))
    }

    /// One of those that hold for a target, if it refuses a release.
    pub fn refusal(
        &self,
        question: &Question<'_>,
        target: &str,
        release: &Version,
        object: Option<&Version>,
    ) -> Option<&'c str> {
        let refuses = |rule: &&Needs| object.is_some_and(|object| !rule.needs.admits(object));
        let mut refusing = self.about(release).filter(refuses);
        refusing.find(|rule| question.holds(&rule.row.id, target)).map(|rule| &*rule.row.id)
    }

    /// Whether none of those that hold for a target refuses a release.
    pub fn admit(&self, question: &Question<'_>, target: &str, row: &Companion, object: Option<&Version>) -> bool {
        self.refusal(question, target, &row.version, object).is_none()
    }
}

impl<'c> RuleBook<'c> {
    /// Reads every rule of a catalog. The lint has checked that they parse; one that does not speaks of nothing.
    pub fn new(catalog: &'c Catalog) -> Self {
        let needs = catalog.rules.iter().filter_map(|row| {
            let (range, needs) = (Constraint::parse(&row.range).ok()?, Constraint::parse(&row.needs).ok()?);
            Some(Needs { row, range, needs })
        });
        let packages = catalog.builds.chunk_by(|one, next| one.package == next.package);
        RuleBook {
            needs: needs.collect(),
            packages: packages.map(|builds| (builds, OnceLock::new())).collect(),
            gpus: Mutex::default(),
            tags: Mutex::default(),
            image_demands: Mutex::default(),
            demands: Mutex::default(),
            starts: Mutex::default(),
            ranges: Mutex::default(),
            admitted: Mutex::default(),
            glibcs: Mutex::default(),
            images: Mutex::default(),
            toolkits: Mutex::default(),
            drivers: Mutex::default(),
            release_pythons: OnceLock::new(),
            reaches: Mutex::default(),
            compiled: Mutex::default(),
            answers: Mutex::default(),
            turning_points: OnceLock::new(),
        }
    }

    /// Finds the products a name means.
    pub fn gpu(&self, catalog: &'c Catalog, name: &str) -> GpuMatch<'c> {
        memo(&self.gpus, name, || (name.to_string(), catalog.gpu(name)))
    }

    /// Looks up a tag of a repository that the catalog knows.
    pub fn tag(&self, catalog: &'c Catalog, repository: &str, tag: &str) -> TagMatch<'c> {
        let name = [repository, ":", tag].concat();
        memo(&self.tags, name.as_str(), || (name.clone(), image::tag(catalog, repository, tag)))
    }

    /// Whether another build of the same minor release has wheels for a Python line.
    pub fn release_has_python(&self, catalog: &'c Catalog, build: &Build, line: &Version) -> bool {
        let partial = self.release_pythons.get_or_init(|| {
            let pythons = |build: &'c Build| {
                let series = build.version.prefix(2);
                let of_series =
                    |other: &&Build| other.package == build.package && other.version.cmp_prefix(&series).is_eq();
                (build, catalog.builds.iter().filter(of_series).flat_map(|other| other.pythons.iter()).collect())
            };
            catalog.builds.iter().filter(|build| build.pythons_partial).map(pythons).collect()
        });
        partial.iter().any(|(known, pythons)| std::ptr::eq(*known, build) && pythons.contains(&line))
    }

    /// Every published release of a package, newest version first and of one version the preferred variant first.
    pub fn releases(&self, catalog: &'c Catalog, package: &str) -> &[Release<'c>] {
        let known = self.packages.iter().find(|(builds, _)| builds[0].package == package);
        known.map_or(&[], |(builds, releases)| releases.get_or_init(|| release::releases(catalog, builds)))
    }

    /// What an image demands, from the text of its requirement; where the catalog knows none, what `unknown` says.
    pub fn demand(
        &self,
        (image, arch, given): (&'c Image, CpuArch, bool),
        text: impl FnOnce() -> Option<&'c str>,
        unknown: impl FnOnce() -> Demand<'c>,
    ) -> Arc<Demand<'c>> {
        let key = (std::ptr::from_ref(image).addr(), arch, given);
        let read = |text: &'c str| {
            let key = text.as_ptr().addr();
            memo(&self.demands, &key, || (key, Arc::new(Demand::parse(text))))
        };
        memo(&self.image_demands, &key, || (key, text().map_or_else(|| Arc::new(unknown()), read)))
    }

    /// Whether an image that demands this starts on a driver under some brands.
    pub fn starts(
        &self,
        demand: &Arc<Demand<'c>>,
        driver: Version,
        brands: &'static [&'static str],
        find: impl FnOnce() -> bool,
    ) -> bool {
        // Demands and brands are kept, so that their addresses stay theirs.
        let key = (Arc::as_ptr(demand).addr(), driver, brands.as_ptr().addr());
        memo(&self.starts, &key, || (key, find()))
    }

    /// The C library in an image; none where its system is not known.
    pub fn glibc_in(&self, catalog: &'c Catalog, image: &'c Image) -> Option<&'c Version> {
        let find = || catalog.oses.iter().find(|os| os.images.contains(&image.os))?.glibc.as_ref();
        memo(&self.glibcs, &*image.os, || (&*image.os, find()))
    }

    /// Reads a range of versions; none if it is none.
    pub fn range(&self, text: &'c str) -> Option<Arc<Constraint>> {
        memo(&self.ranges, text, || (text, Constraint::parse(text).ok().map(Arc::new)))
    }

    /// Which of some versions a range admits: many packages ask the same of the same versions.
    pub fn admitted(&self, text: &'c str, versions: &[&Version], among: &RowSet) -> RowSet {
        let Some(range) = self.range(text) else { return among.clone() };
        let known = RefCell::new(self.admitted.lock().unwrap_or_else(PoisonError::into_inner));
        among.filtered(&|at| {
            let key = (text.as_ptr().addr(), text.len(), versions[at].address());
            *known.borrow_mut().entry(key).or_insert_with(|| range.admits(versions[at]))
        })
    }

    /// The images that serve, preferred first.
    pub fn images(&self, asked: String, find: impl FnOnce() -> Vec<&'c Image>) -> Vec<&'c Image> {
        memo(&self.images, asked.as_str(), || (asked.clone(), find()))
    }

    /// How the code of a build reaches a GPU.
    pub fn reach(&self, build: &'c Build, gpu: Cc, tegra: Tegra) -> Coverage {
        let key = (build.sass.as_ptr().addr(), build.ptx.as_ptr().addr(), gpu, tegra);
        let find = || covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), gpu, tegra);
        memo(&self.reaches, &key, || (key, find()))
    }

    /// The architecture that a toolkit compiles for a GPU, among those that a builder of extensions knows.
    pub fn compiles(&self, toolkit: &'c Toolkit, builder: &'c [Arch], gpu: Cc) -> Option<Arch> {
        let tegra = fits::tegra(Some(toolkit));
        let key = (toolkit.sass.as_ptr().addr(), builder.as_ptr().addr(), gpu, tegra);
        memo(&self.compiled, &key, || (key, fits::best_arch(gpu, &toolkit.sass, builder, tegra)))
    }

    /// Whether a question has an answer; none, and asked again, where it was given up.
    pub fn has_answer(&self, asked: String, find: impl FnOnce() -> Option<bool>) -> Option<bool> {
        let known = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(&asked).copied();
        known.or_else(|| {
            let found = find()?;
            memo(&self.answers, asked.as_str(), || (asked.clone(), found));
            Some(found)
        })
    }

    /// The toolkits that serve, preferred first.
    pub fn toolkits(&self, asked: String, find: impl FnOnce() -> Vec<&'c Toolkit>) -> Vec<&'c Toolkit> {
        memo(&self.toolkits, asked.as_str(), || (asked.clone(), find()))
    }

    /// The drivers that serve, preferred first.
    pub fn drivers(&self, asked: String, find: impl FnOnce() -> Vec<DriverRow<'c>>) -> Vec<DriverRow<'c>> {
        memo(&self.drivers, asked.as_str(), || (asked.clone(), find()))
    }

    /// Driver releases at which an answer can change, oldest first, whatever the GPU.
    pub fn turning_points(&self, find: impl FnOnce() -> Vec<&'c Version>) -> &[&'c Version] {
        self.turning_points.get_or_init(find)
    }

    /// The rules between two kinds of things.
    pub fn between(&self, subject: Subject, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter().filter(move |rule| rule.row.subject == subject && rule.row.object == object)
    }

    /// The rules between two kinds of things that speak of this subject.
    pub fn about<'a>(&'a self, subject: Subject, of: &Version, object: Subject) -> impl Iterator<Item = &'a Needs<'c>> {
        self.between(subject, object).filter(|rule| rule.range.admits(of))
    }

    /// What releases of a package need of an object.
    pub fn of_package<'a>(&'a self, package: &str, object: Subject) -> PackageRules<'a, 'c> {
        let speaks = |rule: &&Needs| {
            (rule.row.subject, rule.row.object) == (Subject::Package, object)
                && rule.row.package.as_deref() == Some(package)
        };
        PackageRules { rules: self.needs.iter().filter(speaks).collect() }
    }

    /// Whether a rule can refuse anything that a question is about: of packages, boards and toolkits that are not in it
    /// nothing needs to be known.
    pub fn concerns(&self, question: &Question<'_>, rule: &Needs<'_>) -> bool {
        let mut gpus = question.targets.iter().flat_map(|target| target.named_gpus()).map(|gpu| &gpu.cc_version);
        match (rule.row.subject, rule.row.object) {
            (Subject::Gpu, _) => gpus.any(|cc| rule.range.admits(cc)),
            (Subject::Package, _) => {
                let mut asked = question.frameworks.iter().chain(&question.companions);
                asked.any(|ask| rule.row.package.as_deref() == Some(ask.package))
            }
            (Subject::Toolkit, _) => question.build.is_some(),
            (_, Subject::Gpu) => gpus.any(|cc| !rule.needs.admits(cc)),
            _ => true,
        }
    }

    /// Every rule.
    pub fn all(&self) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter()
    }

    /// Every rule about an object.
    pub fn on(&self, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter().filter(move |rule| rule.row.object == object)
    }
}

/// What is known under a key, found out at the first asking.
fn memo<K, Q, V: Clone>(known: &Mutex<FxHashMap<K, V>>, key: &Q, find: impl FnOnce() -> (K, V)) -> V
where
    K: std::hash::Hash + Eq + std::borrow::Borrow<Q>,
    Q: std::hash::Hash + Eq + ?Sized,
{
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = known.get(key) {
        return value.clone();
    }
    let (key, value) = find();
    known.insert(key, value.clone());
    value
}
