//! The machines that targets ask for, each compiled once: what it refuses of drivers, toolkits and images.
//!
//! Targets that read the same are one machine: a thousand equal hosts cost what one does.

use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;

use pubgrub::VersionSet;

use crate::catalog::rows::{Build, Companion, Toolkit};
use crate::coverage::{Coverage, covers};
use crate::types::{ArchList, Version};

use super::demand::{Bearing, DemandKey};
use super::described::{Described, Refusals};
use super::driver::{self, DriverNeed, Drivers, Jit};
use super::facts::Facts;
use super::fits;
use super::framework::Framework;
use super::hosted;
use super::image::{self, Images};
use super::kept::Kept;
use super::reading::Reading;
use super::release::Release;
use super::rowset::RowSet;
use super::values::Archs;

/// What the releases of a framework need of a driver: few kinds of needs, and the releases of each.
#[derive(Debug)]
pub struct ReleaseNeeds {
    of_row: Vec<usize>,
    /// The needs, each with the releases that have it.
    pub kinds: Vec<(DriverNeed, RowSet)>,
}

impl ReleaseNeeds {
    /// What a release needs.
    pub fn of(&self, row: usize) -> DriverNeed {
        self.kinds[self.of_row[row]].0
    }
}

/// A framework, the drivers that there may be, and the rules that are set aside.
type Driven<'c> = (&'c str, RowSet, RowSet);

/// A machine, and what was found out about it.
#[derive(Debug)]
pub struct Machine<'c> {
    /// Its number: machines that read the same have the same.
    pub id: usize,
    described: Described<'c>,
    drivers: OnceCell<Drivers<'c>>,
    of_need: Kept<DriverNeed, Refusals>,
    of_releases: Kept<&'c str, ReleaseNeeds>,
    of_packages: Kept<&'c str, [Vec<DriverNeed>]>,
    of_image: Kept<DemandKey<'c>, RowSet>,
    unstarted: Kept<(usize, RowSet), RowSet>,
    undriven: Kept<Driven<'c>, RowSet>,
    hosts: Kept<(&'c str, RowSet, bool), RowSet>,
    toolkits: Kept<Option<String>, Refusals>,
    extensions: Kept<(u64, usize, Archs), Refusals>,
}

impl<'c> Deref for Machine<'c> {
    type Target = Described<'c>;

    fn deref(&self) -> &Described<'c> {
        &self.described
    }
}

impl<'c> Machine<'c> {
    pub(super) fn new(facts: &Facts<'c>, id: usize, reading: Reading<'c>) -> Self {
        Machine {
            id,
            described: Described::new(facts, reading),
            drivers: OnceCell::new(),
            of_need: Kept::default(),
            of_releases: Kept::default(),
            of_packages: Kept::default(),
            of_image: Kept::default(),
            unstarted: Kept::default(),
            undriven: Kept::default(),
            hosts: Kept::default(),
            toolkits: Kept::default(),
            extensions: Kept::default(),
        }
    }

    /// The drivers it may have.
    pub fn drivers(&self, facts: &Facts<'c>) -> &Drivers<'c> {
        self.drivers.get_or_init(|| Drivers::new(facts, self))
    }

    /// The releases of a framework that run on it as far as it alone tells, while some rules are set aside; with those of
    /// unknown contents only if `unknown`. `kits_for` tells which toolkits have all that a build leaves open.
    pub fn hosts(
        &self,
        facts: &Facts<'c>,
        framework: &Framework<'c>,
        (off, unknown): (&RowSet, bool),
        kits_for: &dyn Fn(&'c Build) -> Rc<[Version]>,
    ) -> Rc<RowSet> {
        self.hosts.get((framework.package, off.clone(), unknown), || {
            hosted::of_machine(facts, self, framework, (off, unknown), kits_for)
        })
    }

    /// The drivers on which something does not run.
    pub fn refused_by(&self, facts: &Facts<'c>, need: DriverNeed) -> Rc<Refusals> {
        self.of_need.get(need, || self.drivers(facts).refused_by(facts, need))
    }

    /// What each release of a framework needs of a driver, for every GPU.
    pub fn needs_of(&self, framework: &Framework<'c>) -> Rc<ReleaseNeeds> {
        self.of_releases.get(framework.package, || {
            let mut needs = ReleaseNeeds { of_row: Vec::new(), kinds: Vec::new() };
            for (row, release) in framework.releases.iter().enumerate() {
                let need = self.need_of(release);
                let kind = needs.kinds.iter().position(|(known, _)| *known == need).unwrap_or_else(|| {
                    needs.kinds.push((need, RowSet::default()));
                    needs.kinds.len() - 1
                });
                needs.kinds[kind].1.insert(row);
                needs.of_row.push(kind);
            }
            needs
        })
    }

    /// What each of the releases of another package needs of a driver; nothing where none needs anything.
    pub fn needs_of_package(&self, facts: &Facts<'c>, releases: &[&'c Companion]) -> Rc<[Vec<DriverNeed>]> {
        self.of_packages.get(&releases[0].package, || {
            let of_row = |row: &&'c Companion| driver::needs_of_companion(facts, row, self).collect();
            let needs: Vec<Vec<DriverNeed>> = releases.iter().map(of_row).collect();
            if needs.iter().all(Vec::is_empty) { Vec::new() } else { needs }
        })
    }

    /// The releases of a framework that none of some drivers runs while some rules are set aside.
    pub fn undriven(&self, facts: &Facts<'c>, framework: &Framework<'c>, drivers: RowSet, off: &RowSet) -> Rc<RowSet> {
        self.undriven.get((framework.package, drivers.clone(), off.clone()), || {
            let mut undriven = RowSet::default();
            for (need, releases) in &self.needs_of(framework).kinds {
                let mut left = drivers.clone();
                self.refused_by(facts, *need).apply(&mut left, off);
                if left.is_empty() {
                    undriven.add(releases);
                }
            }
            undriven
        })
    }

    fn need_of(&self, release: &Release<'c>) -> DriverNeed {
        // What may have been made for the machine's system alone would be for the CUDA of that.
        let on = self.reading.platform;
        if on.is_one_system() && release.on(on).is_none() {
            return DriverNeed::Nothing;
        }
        release.line.map_or(DriverNeed::Nothing, |line| {
            let isa = || release.ptx_isa(self.reading.platform).map_or(Jit::Unknown, Jit::Isa);
            DriverNeed::Line(line, if self.compiles_ptx_of(release) { isa() } else { Jit::Nothing })
        })
    }

    /// Whether some GPU is reached by a release's PTX only.
    fn compiles_ptx_of(&self, release: &Release<'c>) -> bool {
        let platform = self.reading.platform;
        let Some(build) = release.on(platform).filter(|build| !build.ptx.is_empty()) else { return false };
        let toolkit = release.toolkit(platform);
        self.kinds.iter().any(|kind| fits::coverage(build, toolkit, kind.gpu.cc) == Some(Coverage::Jit))
    }

    /// What code that a toolkit compiles needs of a driver.
    pub fn need_of_toolkit(&self, toolkit: &Toolkit, list: Option<&ArchList>) -> DriverNeed {
        let tegra = fits::tegra(Some(toolkit));
        let jits =
            list.is_some_and(|list| self.kinds.iter().any(|kind| covers(list, kind.gpu.cc, tegra) == Coverage::Jit));
        DriverNeed::Line(toolkit.version, if jits { Jit::Isa(toolkit.ptx_isa) } else { Jit::Nothing })
    }

    /// The drivers on which an image does not start.
    pub fn refused_by_image(&self, facts: &Facts<'c>, key: DemandKey<'c>) -> Rc<RowSet> {
        self.of_image.get(key, || {
            let drivers = self.drivers(facts);
            let starts = image::starts_on(facts, self, key);
            RowSet::filter(drivers.rows.len(), |row| !starts(&drivers.rows[row]))
        })
    }

    /// The images that start on none of some drivers.
    pub fn unstarted(&self, facts: &Facts<'c>, images: &Images<'c>, drivers: &RowSet) -> Rc<RowSet> {
        self.unstarted.get((images.id, drivers.clone()), || {
            let mut unstarted = RowSet::default();
            for (demand, of_demand) in images.demands(facts.catalog, Bearing::of(&self.reading)).iter() {
                if drivers.subset_of(&self.refused_by_image(facts, *demand)) {
                    unstarted.add(of_demand);
                }
            }
            unstarted
        })
    }

    /// The toolkits that cannot compile for this machine, whatever else is chosen.
    pub fn refused_toolkits(&self, facts: &Facts<'c>, list: Option<&ArchList>) -> Rc<Refusals> {
        self.toolkits.get(list.map(ArchList::torch), || fits::refused_toolkits(facts, self, list))
    }

    /// The toolkits with which extensions of a release are not built for some architectures.
    pub fn refused_extensions(&self, facts: &Facts<'c>, release: &Release<'c>, archs: Archs) -> Rc<Refusals> {
        let Some(line) = &release.line else { return Rc::default() };
        let known = match release.extension {
            Some(_) if release.for_systems().next().is_some() => std::ptr::from_ref(release).addr(),
            known => known.map_or(0, |known| std::ptr::from_ref(known).addr()),
        };
        let key = (line.major(), known, archs);
        self.extensions.get(key, || fits::refused_extensions(facts, self, release, line, archs))
    }
}
