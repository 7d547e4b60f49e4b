//! What was found out once and is asked again: variations of one question have most parts in common.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Build, Companion, Image, Python, Toolkit};
use crate::catalog::{Catalog, GpuMatch};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::solve::choice::Rows;
use crate::solve::driver::DriverRow;
use crate::solve::fits;
use crate::solve::image::{self, Demand, TagMatch};
use crate::solve::release::{self, Release};
use crate::solve::resolve::Resolution;
use crate::solve::rowset::RowSet;
use crate::solve::world::Recall;
use crate::words::{Arch, Cc, Constraint, CpuArch, Version};

use super::RuleBook;
use super::memo::Memo;
use super::recall::{Between, Judged};

/// Everything that a rule book remembers.
#[derive(Debug, Default)]
pub(super) struct Known<'c> {
    /// The builds of each package, and its releases once they are asked for.
    packages: Vec<(&'c [Build], OnceLock<Vec<Release<'c>>>)>,
    /// GPU names already looked up: variations of one spec ask for the same ones again and again.
    gpus: Memo<GpuMatch<'c>>,
    /// Tags already looked up, with their repositories.
    tags: Memo<TagMatch<'c>>,
    /// What images demand on a platform, by the images' addresses and whether the user named them.
    image_demands: Mutex<FxHashMap<(usize, CpuArch, bool), Arc<Demand<'c>>>>,
    /// Requirements already read, by their addresses: as texts they are long to compare.
    demands: Mutex<FxHashMap<usize, Arc<Demand<'c>>>>,
    /// Whether images start on drivers, by demand, driver and brands.
    starts: Mutex<FxHashMap<(usize, Version, usize), bool>>,
    /// Ranges already read, by their texts.
    ranges: Memo<Option<Arc<Constraint>>>,
    /// Which versions ranges admit, by the addresses and lengths of their texts.
    admitted: Mutex<FxHashMap<(usize, usize, usize), bool>>,
    /// The C library of the systems that images hold, by the name images give them.
    glibcs: Memo<Option<&'c Version>>,
    /// Images already chosen from, by what was asked of them.
    images: Memo<Vec<&'c Image>>,
    /// Toolkits already chosen from, by what was asked of them.
    toolkits: Memo<Rows<&'c Toolkit>>,
    /// Drivers already chosen from, by what was asked of them.
    drivers: Memo<Rows<DriverRow<'c>>>,
    /// Versions of frameworks and packages already chosen from, by what was asked of them.
    versions: Memo<Rows<&'c Version>>,
    /// Releases of frameworks already chosen from, by what was asked of them.
    releases: Memo<Rows<&'c Release<'c>>>,
    /// Releases of packages already chosen from, by what was asked of them.
    companions: Memo<Rows<&'c Companion>>,
    /// Lines of Python already chosen from, by what was asked of them.
    pythons: Memo<Rows<&'c Python>>,
    /// Which rows of such lists go together.
    pub(super) relations: Mutex<FxHashMap<Between<'c>, Arc<Recall>>>,
    /// Which rows of such lists a class can have, by all that decides it.
    pub(super) judged: Memo<Arc<Mutex<Judged>>>,
    /// For the builds whose list of Pythons may lack some, those that their release has wheels for elsewhere.
    release_pythons: OnceLock<Vec<(&'c Build, Vec<&'c Version>)>>,
    /// How code reaches GPUs, by the addresses of the lists of its machine code and PTX.
    reaches: Mutex<FxHashMap<CodeOn, Coverage>>,
    /// What is compiled for GPUs, by the addresses of the lists of a toolkit and a builder.
    compiled: Mutex<FxHashMap<CodeOn, Option<Arch>>>,
    /// Whether questions have answers, by all that they ask.
    answers: Memo<bool>,
    /// The best answers, by all that is asked and preferred.
    resolutions: Memo<Resolution<'c>>,
    /// Driver releases at which some rule begins or ceases to hold, whatever the GPU.
    turning_points: OnceLock<Vec<&'c Version>>,
}

/// Two lists of architectures by their addresses, and the GPU they are held against.
type CodeOn = (usize, usize, Cc, Tegra);

impl<'c> Known<'c> {
    /// Nothing yet.
    pub(super) fn of(catalog: &'c Catalog) -> Self {
        let packages = catalog.builds.chunk_by(|one, next| one.package == next.package);
        Known { packages: packages.map(|builds| (builds, OnceLock::new())).collect(), ..Known::default() }
    }
}

impl<'c> RuleBook<'c> {
    /// Finds the products a name means.
    pub fn gpu(&self, catalog: &'c Catalog, name: &str) -> GpuMatch<'c> {
        self.known.gpus.or_find(name, || catalog.gpu(name))
    }

    /// Looks up a tag of a repository that the catalog knows.
    pub fn tag(&self, catalog: &'c Catalog, repository: &str, tag: &str) -> TagMatch<'c> {
        let name = [repository, ":", tag].concat();
        self.known.tags.or_find(&name, || image::tag(catalog, repository, tag))
    }

    /// Whether another build of the same minor release has wheels for a Python line.
    pub fn release_has_python(&self, catalog: &'c Catalog, build: &Build, line: &Version) -> bool {
        let partial = self.known.release_pythons.get_or_init(|| {
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
        let known = self.known.packages.iter().find(|(builds, _)| builds[0].package == package);
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
            memo(&self.known.demands, &key, || (key, Arc::new(Demand::parse(text))))
        };
        memo(&self.known.image_demands, &key, || (key, text().map_or_else(|| Arc::new(unknown()), read)))
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
        memo(&self.known.starts, &key, || (key, find()))
    }

    /// The C library in an image; none where its system is not known.
    pub fn glibc_in(&self, catalog: &'c Catalog, image: &'c Image) -> Option<&'c Version> {
        let find = || catalog.oses.iter().find(|os| os.images.contains(&image.os))?.glibc.as_ref();
        self.known.glibcs.or_find(&image.os, find)
    }

    /// Reads a range of versions; none if it is none.
    pub fn range(&self, text: &'c str) -> Option<Arc<Constraint>> {
        self.known.ranges.or_find(text, || Constraint::parse(text).ok().map(Arc::new))
    }

    /// Which of some versions a range admits: many packages ask the same of the same versions.
    pub fn admitted(&self, text: &'c str, versions: &[&Version], among: &RowSet) -> RowSet {
        let Some(range) = self.range(text) else { return among.clone() };
        let known = RefCell::new(self.known.admitted.lock().unwrap_or_else(PoisonError::into_inner));
        among.filtered(&|at| {
            let key = (text.as_ptr().addr(), text.len(), versions[at].address());
            *known.borrow_mut().entry(key).or_insert_with(|| range.admits(versions[at]))
        })
    }

    /// The images that serve, preferred first.
    pub fn images(&self, asked: String, find: impl FnOnce() -> Vec<&'c Image>) -> Vec<&'c Image> {
        self.known.images.or_find(&asked, find)
    }

    /// How the code of a build reaches a GPU.
    pub fn reach(&self, build: &'c Build, gpu: Cc, tegra: Tegra) -> Coverage {
        let key = (build.sass.as_ptr().addr(), build.ptx.as_ptr().addr(), gpu, tegra);
        let find = || covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), gpu, tegra);
        memo(&self.known.reaches, &key, || (key, find()))
    }

    /// The architecture that a toolkit compiles for a GPU, among those that a builder of extensions knows.
    pub fn compiles(&self, toolkit: &'c Toolkit, builder: &'c [Arch], gpu: Cc) -> Option<Arch> {
        let tegra = fits::tegra(Some(toolkit));
        let key = (toolkit.sass.as_ptr().addr(), builder.as_ptr().addr(), gpu, tegra);
        memo(&self.known.compiled, &key, || (key, fits::best_arch(gpu, &toolkit.sass, builder, tegra)))
    }

    /// Whether a question has an answer; none, and asked again, where it was given up.
    pub fn has_answer(&self, asked: String, find: impl FnOnce() -> Option<bool>) -> Option<bool> {
        self.known.answers.get(&asked).or_else(|| {
            let found = find()?;
            self.known.answers.keep(&asked, &found);
            Some(found)
        })
    }

    /// The best answer to a question; asked again where it was given up.
    pub fn resolution(&self, asked: String, find: impl FnOnce() -> Resolution<'c>) -> Resolution<'c> {
        self.known.resolutions.get(&asked).unwrap_or_else(|| {
            let found = find();
            if !matches!(found, Resolution::GaveUp) {
                self.known.resolutions.keep(&asked, &found);
            }
            found
        })
    }

    /// The toolkits that serve, preferred first.
    pub fn toolkits(&self, asked: String, find: impl FnOnce() -> Vec<&'c Toolkit>) -> Rows<&'c Toolkit> {
        self.known.toolkits.or_find(&asked, || Rows::shared(find()))
    }

    /// The drivers that serve, preferred first.
    pub fn drivers(&self, asked: String, find: impl FnOnce() -> Vec<DriverRow<'c>>) -> Rows<DriverRow<'c>> {
        self.known.drivers.or_find(&asked, || Rows::shared(find()))
    }

    /// The versions of a framework or package that are asked for, preferred first.
    pub fn versions(&self, asked: String, find: impl FnOnce() -> Vec<&'c Version>) -> Rows<&'c Version> {
        self.known.versions.or_find(&asked, || Rows::shared(find()))
    }

    /// The releases of a framework that are asked for, preferred first.
    pub fn asked_releases(&self, asked: String, find: impl FnOnce() -> Vec<&'c Release<'c>>) -> Rows<&'c Release<'c>> {
        self.known.releases.or_find(&asked, || Rows::shared(find()))
    }

    /// The releases of a package that are asked for, newest version first.
    pub fn companions(&self, asked: String, find: impl FnOnce() -> Vec<&'c Companion>) -> Rows<&'c Companion> {
        self.known.companions.or_find(&asked, || Rows::shared(find()))
    }

    /// The lines of Python that are asked for, newest first.
    pub fn pythons(&self, asked: String, find: impl FnOnce() -> Vec<&'c Python>) -> Rows<&'c Python> {
        self.known.pythons.or_find(&asked, || Rows::shared(find()))
    }

    /// Driver releases at which an answer can change, oldest first, whatever the GPU.
    pub fn turning_points(&self, find: impl FnOnce() -> Vec<&'c Version>) -> &[&'c Version] {
        self.known.turning_points.get_or_init(find)
    }
}

/// What is known under a key, found out at the first asking.
pub(super) fn memo<K, Q, V: Clone>(known: &Mutex<FxHashMap<K, V>>, key: &Q, find: impl FnOnce() -> (K, V)) -> V
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
