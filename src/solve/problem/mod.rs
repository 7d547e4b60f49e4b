//! The catalog compiled for solving: tables of rows, and for each law the rows that it refuses.
//!
//! Every part is worked out when a request first needs it, and never again: a request for a spec, the same without one of
//! its lines, or with another value differ in which parts they join, not in the parts. What a part depends on stands in
//! its key, as values.

mod ages;
mod along;
pub mod brought;
mod package;
mod together;
mod unmet;

use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Asks, Build, Companion, Cudnn, TRITON, Toolkit, pinned};
use crate::types::{CpuArch, Specifier, Version, distinct, nvidia};

use super::coinstall::{self, PublishedFor};
use super::driver;
use super::facts::Facts;
use super::fits;
use super::framework::Framework;
use super::image::{self, ImageKey, Images, Inside};
use super::kept::Kept;
use super::libraries;
use super::machine::Machine;
use super::ordinary;
use super::platform::Platform;
use super::reading::Reading;
use super::release::Release;
use super::rowset::RowSet;
use super::thirds::{self, Thirds};
use super::wants::Want;
use brought::Brought;
use package::Property;
use together::Together;
use unmet::Unmet;

pub use ages::{Aged, Ages};
pub use along::Along;
pub use package::Package;

/// Two packages by name, on some processors.
type Pair<'c> = (&'c str, &'c str, Vec<CpuArch>);

/// Everything that requests have in common.
#[derive(Debug)]
pub struct Problem<'c> {
    facts: Facts<'c>,
    frameworks: Vec<(&'c str, OnceCell<Framework<'c>>)>,
    packages: Vec<(&'c str, OnceCell<Package<'c>>)>,
    machines: Kept<Reading<'c>, Machine<'c>>,
    others: Kept<usize, [Rc<Machine<'c>>]>,
    images: Kept<ImageKey<'c>, Images<'c>>,
    together: Kept<Pair<'c>, Together>,
    thirds: Kept<Pair<'c>, Thirds<'c>>,
    brought: Kept<Pair<'c>, Brought<'c>>,
    along: Kept<&'c str, [Vec<Along<'c>>]>,
    left_out: Kept<(&'c str, RowSet, Version), bool>,
    kits: Kept<(&'c str, Version, &'c str, CpuArch), [Version]>,
    libraries: Kept<(&'c str, Platform<'c>), [Vec<Want<'c>>]>,
    exclude: Kept<[&'c str; 2], bool>,
    unmet: Kept<Pair<'c>, [Unmet<'c>]>,
    ages: Kept<(&'c str, Platform<'c>), Ages<'c>>,
    beside: Kept<(&'c str, usize, &'c str, Platform<'c>), RowSet>,
    toolkits_of: Kept<Version, RowSet>,
    toolkits_perhaps_of: Kept<(Version, Version), RowSet>,
    cudnn_lines: OnceCell<Vec<PublishedFor<'c>>>,
}

impl<'c> Deref for Problem<'c> {
    type Target = Facts<'c>;

    fn deref(&self) -> &Facts<'c> {
        &self.facts
    }
}

impl<'c> Problem<'c> {
    /// Nothing is worked out yet.
    pub fn new(catalog: &'c Catalog) -> Self {
        Problem {
            facts: Facts::new(catalog),
            frameworks: catalog.builds.heads().into_iter().map(|name| (name, OnceCell::new())).collect(),
            packages: catalog.companions.heads().into_iter().map(|name| (name, OnceCell::new())).collect(),
            machines: Kept::default(),
            others: Kept::default(),
            images: Kept::default(),
            together: Kept::default(),
            thirds: Kept::default(),
            brought: Kept::default(),
            along: Kept::default(),
            left_out: Kept::default(),
            kits: Kept::default(),
            libraries: Kept::default(),
            exclude: Kept::default(),
            unmet: Kept::default(),
            ages: Kept::default(),
            beside: Kept::default(),
            toolkits_of: Kept::default(),
            toolkits_perhaps_of: Kept::default(),
            cudnn_lines: OnceCell::new(),
        }
    }

    /// The releases of a framework; none of a name that is no framework's.
    pub fn framework(&self, package: &str) -> Option<&Framework<'c>> {
        let (name, known) = self.frameworks.iter().find(|(name, _)| *name == package)?;
        Some(known.get_or_init(|| Framework::new(self.catalog, name)))
    }

    /// The releases of a package that follows a framework; none of a name that is none's.
    pub fn package(&self, name: &str) -> Option<&Package<'c>> {
        let (_, known) = self.packages.iter().find(|(package, _)| *package == name)?;
        Some(known.get_or_init(|| Package::new(self.catalog, self.catalog.companions.of(name))))
    }

    /// What comes along with each release of a package.
    pub fn along(&self, package: &Package<'c>) -> Rc<[Vec<Along<'c>>]> {
        self.along.get(package.name, || along::of_package(self, package))
    }

    /// The releases of a package that are for a line of Python, and so is what comes along with them, ordinary packages too.
    pub fn for_python(&self, package: &Package<'c>, line: &Version) -> Rc<RowSet> {
        package.property(Property::ForPython(*line), || {
            let along = self.along(package);
            let is_for = |one: &Along| {
                let of = self.package(one.package).filter(|_| one.is_everywhere());
                of.is_none_or(|of| of.accepting_python(line).meets(&one.releases))
            };
            let refused = |row: usize| package.is_refused_on(self, &package.releases[row].version, line);
            package.accepting_python(line).filtered(&|row| along[row].iter().all(is_for) && !refused(row))
        })
    }

    /// A release, and what comes along with it as one release alone on some processors: what it pins, and what that pins.
    pub fn with_pinned(&self, row: &'c Companion, arches: &[CpuArch]) -> Vec<&'c Companion> {
        let mut rows = vec![row];
        let mut at = 0;
        while let Some(row) = rows.get(at).copied() {
            for (of, range) in arches.iter().flat_map(|arch| row.asked(*arch)) {
                let is_it = |one: &&Companion| pinned(range) == Some(one.version.as_str());
                let found = self.catalog.companions.of(of).iter().find(is_it);
                rows.extend(found.filter(|found| rows.iter().all(|known| known.package != found.package)));
            }
            at += 1;
        }
        rows
    }

    /// What the code of packages that come along with a release asks for without saying so, where each of their releases does.
    pub fn untold_along(&self, row: &'c Companion) -> Vec<&'c Asks> {
        self.asked_along(row, ordinary::untold)
    }

    /// What a part of a release needs of pieces of the toolkit, or one of what comes along with it.
    pub fn pieces_of_parts(&self, row: &'c Companion) -> Vec<&'c Asks> {
        let mut found = ordinary::of_parts(self, &row.package, &row.version);
        found.extend(self.asked_along(row, ordinary::of_parts));
        found.retain(|asks| asks.of.starts_with("nvidia-"));
        found
    }

    fn asked_along(
        &self,
        row: &'c Companion,
        asked: impl Fn(&Facts<'c>, &str, &Version) -> Vec<&'c Asks>,
    ) -> Vec<&'c Asks> {
        let mut found = Vec::new();
        let Some((package, at)) = self.package(&row.package).and_then(|of| Some((of, of.place_of(row)?))) else {
            return found;
        };
        for one in self.along(package)[at].iter().filter(|one| one.is_everywhere()) {
            let Some(of) = self.package(one.package) else { continue };
            let of_release = |at: usize| asked(self, of.name, &of.releases[at].version);
            let each: Vec<Vec<&Asks>> = one.releases.rows().map(of_release).collect();
            let says = |asks: &&&'c Asks| each.iter().all(|rows| rows.iter().any(|row| std::ptr::eq(*row, **asks)));
            found.extend(each.first().into_iter().flatten().filter(says));
        }
        found
    }

    /// Whether some of these releases of a package go with a version of a framework on a line of Python, what is compiled
    /// against that version and comes along with them too.
    pub fn goes_on(
        &self,
        (package, releases): (&Package<'c>, &RowSet),
        (framework, version): (&'c str, &Version),
        line: &Version,
    ) -> bool {
        let along = self.along(package);
        let is_for = |one: &Along| {
            // Triton is torch's own: on a Python that torch asks for none, any other may come.
            let is_apart = |of: &&Package| of.is_tied() && of.name != TRITON;
            let tied = self.package(one.package).filter(|of| is_apart(of) && one.is_everywhere());
            tied.is_none_or(|of| {
                let mut beside = of.accepting(framework, version).as_ref().clone();
                beside.retain(&of.accepting_python(line));
                beside.meets(&one.releases)
            })
        };
        let mut accepting = package.accepting(framework, version).as_ref().clone();
        accepting.retain(&package.accepting_python(line));
        accepting.rows().any(|row| releases.has(row) && along[row].iter().all(is_for))
    }

    /// Whether some of these releases of a package are for a line of Python, and each that is asks for an ordinary package
    /// without a wheel for it.
    pub fn is_left_out(&self, package: &Package<'c>, releases: &RowSet, line: &Version) -> bool {
        *self.left_out.get((package.name, releases.clone(), *line), || {
            let mut left = releases.clone();
            left.retain(&self.for_python(package, line));
            !left.is_empty() && left.rows().all(|at| package.is_unserved(self, &package.releases[at].version, line))
        })
    }

    /// The toolkit releases that have all which a build leaves open.
    pub fn kits_for(&self, build: &'c Build) -> Rc<[Version]> {
        let key = (&*build.package, build.version, &*build.variant, build.arch);
        self.kits.get(key, || libraries::kits_with_all(self, build))
    }

    /// What each release of a framework asks pip for of NVIDIA's libraries, on a kind of machine.
    pub fn libraries_of(&self, framework: &Framework<'c>, on: Platform<'c>) -> Rc<[Vec<Want<'c>>]> {
        self.libraries.get((framework.package, on), || {
            let asked = |release: &Release<'c>| release.on(on).map(|build| libraries::read_of(self.catalog, build));
            framework.releases.iter().map(|release| asked(release).unwrap_or_default()).collect::<Vec<_>>()
        })
    }

    /// How old machines may be for the oldest release of a package that was read for their kind.
    pub fn ages(&self, package: &'c str, on: Platform<'c>) -> Rc<Ages<'c>> {
        self.ages.get((package, on), || Ages::new(self.catalog, package, on))
    }

    /// What the releases of one package require of another on some processors, where no release of that is known that is it.
    pub fn unmet(&self, of: &'c str, by: &'c str, arches: &[CpuArch]) -> Rc<[Unmet<'c>]> {
        self.unmet.get((of, by, arches.to_vec()), || unmet::of(self.catalog, of, by, arches))
    }

    /// Whether no release can be what two requirements ask for.
    pub fn exclude(&self, one: &'c str, other: &'c str) -> bool {
        *self.exclude.get([one, other], || {
            let both = Specifier::parse(one).ok().zip(Specifier::parse(other).ok());
            both.is_some_and(|(one, other)| one.excludes(&other))
        })
    }

    /// The releases of another framework that go into one environment with a release, on a kind of machine.
    pub fn beside(&self, one: &Framework<'c>, row: usize, other: &Framework<'c>, on: Platform<'c>) -> Rc<RowSet> {
        self.beside.get((one.package, row, other.package, on), || {
            let [own, theirs] = [one, other].map(|framework| self.libraries_of(framework, on));
            let exclude = |one, other| self.exclude(one, other);
            let agrees = |at: usize| libraries::at_odds(&exclude, &own[row], &theirs[at]).is_none();
            let goes = |at: usize| coinstall::together(on, &one.releases[row], &other.releases[at]);
            RowSet::filter(other.releases.len(), |at| goes(at) && agrees(at))
        })
    }

    /// The releases of a package that ask for other pieces of the toolkit than a build does.
    pub fn at_odds(&self, package: &Package<'c>, build: &'c Build) -> Rc<RowSet> {
        let find = || {
            let wanted = package.pieces(self);
            let pieces = distinct(wanted.iter().flatten().map(|(piece, _)| *piece)).into_iter();
            let pinned: Vec<Want> = pieces.filter_map(|piece| thirds::of_build(self.catalog, build, piece)).collect();
            let is_at_odds = |want: &Want| pinned.iter().any(|pinned| thirds::clash(*pinned, *want));
            RowSet::filter(wanted.len(), |row| wanted[row].iter().any(is_at_odds))
        };
        // What a build asks for depends on no more than this of it.
        let (pins, toolkit) = (build.pins.is_some(), build.toolkit);
        package.property(Property::AtOdds(&build.package, build.version, toolkit, build.arch, pins), find)
    }

    /// The toolkits, newest first, with which a library runs that was built for a line or a major of CUDA.
    pub fn toolkits_of(&self, built_for: Version) -> Rc<RowSet> {
        self.toolkits_of.get(built_for, || {
            let rows = self.toolkits();
            RowSet::filter(rows.len(), |row| rows[row].version.cmp_prefix(&built_for).is_eq())
        })
    }

    /// The toolkits, newest first, for whose line a release of cuDNN may have been published beside the one it was seen for.
    pub fn toolkits_perhaps_of(&self, cudnn: &Cudnn) -> Rc<RowSet> {
        self.toolkits_perhaps_of.get((cudnn.version, cudnn.cuda), || {
            let of_line = |row: &&Toolkit| PublishedFor::line(self.catalog, row.version);
            let lines = self.cudnn_lines.get_or_init(|| self.toolkits().iter().map(of_line).collect());
            RowSet::filter(lines.len(), |row| lines[row].perhaps(cudnn))
        })
    }

    /// The releases of a package of which some part that comes along has no wheel on a processor.
    pub fn lacking_wheels(&self, package: &Package<'c>, arch: CpuArch) -> Rc<RowSet> {
        let lacks = |_: &Along<'c>, one: &Companion| fits::lacks_wheels(one, arch).then_some(());
        package.property(Property::LackingWheels(arch), || self.all_lacking(package, arch, lacks))
    }

    /// The releases of a package of which some part that comes along needs a newer C library than there is.
    pub fn lacking_glibc(&self, package: &Package<'c>, arch: CpuArch, has: Version) -> Rc<RowSet> {
        let lacks = |along: &Along<'c>, one: &Companion| along.needs_newer_glibc(one, arch, has).then_some(());
        package.property(Property::LackingGlibc(arch, has), || self.all_lacking(package, arch, lacks))
    }

    fn all_lacking(
        &self,
        package: &Package<'c>,
        arch: CpuArch,
        lacks: impl Fn(&Along<'c>, &Companion) -> Option<()>,
    ) -> RowSet {
        RowSet::filter(package.releases.len(), |row| self.lacking(package, row, arch, &lacks).is_some())
    }

    /// What comes along with a release of a package on a processor and lacks something in each of its releases: the newest,
    /// and what that lacks.
    pub fn lacking<T>(
        &self,
        package: &Package<'c>,
        row: usize,
        arch: CpuArch,
        lacks: impl Fn(&Along<'c>, &Companion) -> Option<T>,
    ) -> Option<(&Companion, T)> {
        self.along(package)[row].iter().filter(|one| one.is_on(arch)).find_map(|one| {
            let of = self.package(one.package)?;
            let releases = one.releases.rows().map(|row| of.releases[row]);
            let mut releases = releases.filter(|release| !release.is_source_beside_wheels(arch));
            let newest = releases.next()?;
            let what = lacks(one, newest)?;
            releases.all(|release| lacks(one, release).is_some()).then_some((newest, what))
        })
    }

    /// Whether pip installs pieces of CUDA's toolkit for a release: it asks for some, or what comes along with it does.
    pub fn brings_toolkit(&self, package: &Package<'c>, row: usize, arch: CpuArch) -> bool {
        let asks = |one: &Companion| {
            let wants = self.wants(&one.package);
            let mut asked = one.asked(arch).map(|(of, _)| of).chain(wants.at(&one.version).map(|(of, _)| of));
            asked.any(nvidia::is_of_toolkit)
        };
        asks(package.releases[row]) || self.lacking(package, row, arch, |_, one| asks(one).then_some(())).is_some()
    }

    /// Every package that `[stack]` may name, frameworks first.
    pub fn package_names(&self) -> impl Iterator<Item = &'c str> {
        let frameworks = self.frameworks.iter().map(|(name, _)| *name);
        frameworks.chain(self.packages.iter().map(|(name, _)| *name))
    }

    /// The machine that a reading of a target describes.
    pub fn machine(&self, reading: Reading<'c>) -> Rc<Machine<'c>> {
        self.machines.of_key(reading, |reading| Machine::new(self, self.machines.count(), reading.clone()))
    }

    /// The same machine with each of the other drivers that are listed for it: all of them occur, and the oldest is its own.
    pub fn others(&self, machine: &Machine<'c>) -> Rc<[Rc<Machine<'c>>]> {
        let versions = |machine: &Machine<'c>| -> Vec<Version> {
            machine.drivers(self).rows.iter().map(|row| row.version).collect()
        };
        self.others.get(machine.id, || {
            let listed = machine.reading.driver.listed().into_iter();
            let machines = listed.map(|driver| self.machine(Reading { driver, ..machine.reading.clone() }));
            let mut known = vec![versions(machine)];
            let mut others: Vec<Rc<Machine>> = Vec::new();
            for machine in machines {
                let of = versions(&machine);
                if !known.contains(&of) {
                    known.push(of);
                    others.push(machine);
                }
            }
            others
        })
    }

    /// What two packages ask of each other on some processors.
    pub fn together(&self, one: &Package<'c>, other: &Package<'c>, arches: &[CpuArch]) -> Rc<Together> {
        self.together.get((one.name, other.name, arches.to_vec()), || Together::new(self, (one, other), arches))
    }

    /// Which versions of two packages ask for releases of a third that do not go together.
    pub fn thirds(&self, one: &'c str, other: &'c str, arches: &[CpuArch]) -> Rc<Thirds<'c>> {
        let key = (one, other, arches.to_vec());
        self.thirds
            .get(key, || Thirds::new(&self.wants_of_versions(one, arches), &self.wants_of_versions(other, arches)))
    }

    /// What each version of a framework or a package asks for, newest first.
    fn wants_of_versions(&self, name: &str, arches: &[CpuArch]) -> Vec<Vec<Want<'c>>> {
        if let Some(framework) = self.framework(name) {
            let wants = self.wants(name);
            return framework.versions.iter().map(|version| wants.at(version).collect()).collect();
        }
        let Some(package) = self.package(name) else { return Vec::new() };
        let first = |releases: &RowSet| releases.rows().next().map(|row| package.releases[row]);
        let asked = |row| self.asked_with_pinned(row, arches).into_iter().map(|(_, want)| want).collect();
        package.of_version.iter().map(|releases| first(releases).map_or_else(Vec::new, asked)).collect()
    }

    /// What a release and what it pins ask for on some processors, each with the release that asks.
    pub fn asked_with_pinned(&self, row: &'c Companion, arches: &[CpuArch]) -> Vec<(&'c Companion, Want<'c>)> {
        let rows = self.with_pinned(row, arches).into_iter();
        let asked =
            |by: &'c Companion| self.wants(&by.package).at_row(by, arches).into_iter().map(move |want| (by, want));
        rows.flat_map(asked).collect()
    }

    /// What the releases of a package bring along beside a framework, on some processors.
    pub fn brought(&self, package: &Package<'c>, framework: &Framework<'c>, arches: &[CpuArch]) -> Rc<Brought<'c>> {
        let key = (package.name, framework.package, arches.to_vec());
        self.brought.get(key, || Brought::new(self, package, framework, arches))
    }

    /// The images that a machine may take, preferred first; none where an image is asked for and none serves.
    pub fn images(&self, machine: &Machine<'c>, inside: &Inside<'_>, off: &RowSet) -> Rc<Images<'c>> {
        let boards = driver::newest_in_images(self.catalog, &machine.reading);
        let gpus = (boards, image::oldest_gpu(self.catalog, machine));
        let Some(key) = image::key(machine, inside, off, gpus) else { return Rc::default() };
        self.images.of_key(key, |key| Images::new(self, self.images.count(), key))
    }
}
