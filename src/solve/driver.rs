//! The drivers a machine may have, and what they run.
//!
//! Of nearly six hundred releases only those matter at which some answer changes: see
//! [`Facts::turning_points`].

use std::cell::LazyCell;
use std::rc::Rc;

use pubgrub::VersionSet;

use crate::catalog::Catalog;
use crate::catalog::rows::{Branch, Companion, Compat, Os, Subject, Toolkit, WindowsDriver};
use crate::coverage::Coverage;
use crate::types::{Constraint, Version, distinct};

use super::described::{Described, GpuKind, Refusals};
use super::driver_row::{DriverRow, branch_of};
use super::facts::Facts;
use super::reading::Reading;
use super::rowset::RowSet;
use super::rules::Needs;
use super::rules::law::{self, RuleId};
use super::values::{Archs, DriverRequest};
use super::{fits, installed, windows};

/// What the driver has to compile beside what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Jit {
    /// Nothing: there is machine code for every GPU.
    Nothing,
    /// PTX of an ISA that nobody knows.
    Unknown,
    /// PTX of this ISA.
    Isa(Version),
}

/// What a CUDA line needs of a driver, and a JIT beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DriverNeed {
    /// No GPU is used.
    Nothing,
    /// A CUDA line, and what the driver has to compile.
    Line(Version, Jit),
    /// The PTX ISA of a package that some GPU runs nothing else of.
    Ptx(Version),
    /// What a rule of the catalog says of a package.
    Rule(RuleId),
}

/// The drivers of a machine as a table: the oldest first, then each with every cuda-compat package that may stand before it.
#[derive(Debug)]
pub struct Drivers<'c> {
    /// The rows.
    pub rows: Rc<[DriverRow<'c>]>,
    /// For each row the one without cuda-compat.
    base: Vec<usize>,
    /// The rows without cuda-compat.
    plain: RowSet,
    refusals: Refusals,
}

impl<'c> Drivers<'c> {
    /// The drivers that a machine may have, and which of them its GPUs refuse.
    pub(super) fn new(facts: &Facts<'c>, machine: &Described<'c>) -> Self {
        let catalog = facts.catalog;
        let versions = possible(facts, machine);
        let asked = &machine.reading;
        let plain = |version| DriverRow::plain(catalog, version, asked.windows_driver);
        let mut rows: Vec<DriverRow> =
            versions.into_iter().filter_map(plain).map(|row| installed::beside(machine, row)).collect();
        let mut base: Vec<usize> = (0..rows.len()).collect();
        let plain = RowSet::first(rows.len());
        let may_add = asked.forward_compat && asked.pins_driver() && asked.compat.is_none();
        if may_add && machine.may_use_compat(&RowSet::default()) {
            for at in 0..plain.len() {
                let with = with_compat(facts, machine, &rows[at]);
                base.extend(with.iter().map(|_| at));
                rows.extend(with);
            }
        }
        let mut refusals = refused_by_gpus(facts, machine, &rows);
        installed::refuse(facts, machine, &rows, &mut refusals);
        Drivers { rows: rows.into(), base, plain, refusals }
    }

    /// The rows that the machine's GPUs admit while some rules are set aside; with `forward` those with cuda-compat too.
    pub fn admitted(&self, off: &RowSet, forward: bool) -> RowSet {
        let mut rows = RowSet::first(self.rows.len());
        self.refusals.apply(&mut rows, off);
        let plain = rows.intersection(&self.plain);
        if !forward || off.has(law::id::FORWARD_COMPAT) {
            return plain;
        }
        RowSet::filter(self.rows.len(), |row| rows.has(row) && plain.has(self.base[row]))
    }

    /// The rows on which something does not run.
    pub(super) fn refused_by(&self, facts: &Facts<'c>, need: DriverNeed) -> Refusals {
        let mut refusals = Refusals::default();
        for (rule, refuses) in refusing(facts, need) {
            let refused = RowSet::filter(self.rows.len(), |row| refuses(&self.rows[row]));
            match rule {
                Some(rule) => refusals.add(rule, refused),
                None => refused.rows().for_each(|row| refusals.always.insert(row)),
            }
        }
        refusals
    }
}

/// Whether a driver refuses something, by a rule.
type Refuses<'a> = Box<dyn Fn(&DriverRow<'_>) -> bool + 'a>;

/// Which drivers each rule keeps from what needs one; none where no rule says so.
fn refusing<'a, 'c>(facts: &'a Facts<'c>, need: DriverNeed) -> Vec<(Option<RuleId>, Refuses<'a>)> {
    let (line, jit) = match need {
        DriverNeed::Line(line, jit) => (line, jit),
        DriverNeed::Ptx(isa) => return vec![(Some(law::id::PTX_DRIVER), unable_to_compile(facts.catalog, &isa))],
        DriverNeed::Nothing => return vec![(None, Box::new(|row| row.added().is_some()))],
        DriverNeed::Rule(id) => {
            // Of drivers for Windows no rule about a package speaks.
            let refuses = |rule: &'a Needs<'c>| -> Refuses<'a> {
                if rule.row.compat {
                    return Box::new(|row| rule.needs.admits(row.user_mode()) && !rule.needs.admits(&row.version));
                }
                Box::new(|row| !row.windows && !rule.needs.admits(row.user_mode()))
            };
            return facts.rules.of_id(id).map(|rule| (Some(id), refuses(rule))).into_iter().collect();
        }
    };
    let short = line.prefix(2);
    let mut all: Vec<(Option<RuleId>, Refuses)> =
        vec![(None, Box::new(move |row| row.added().is_some_and(|compat| compat.cuda < short)))];
    for rule in facts.rules.about(Subject::Cuda, &line, Subject::Driver) {
        // Only a driver of Windows asks for it.
        let floor = LazyCell::new(|| windows::floor(facts.catalog, rule));
        all.push((Some(rule.id), Box::new(move |row| is_too_old(rule, || *floor, row, &short))));
    }
    match jit {
        Jit::Nothing => {}
        Jit::Unknown => all.push((None, Box::new(|_| true))),
        Jit::Isa(isa) => all.push((Some(law::id::PTX_DRIVER), unable_to_compile(facts.catalog, &isa))),
    }
    all
}

/// Which drivers do not compile PTX of an ISA.
fn unable_to_compile<'a>(catalog: &'a Catalog, isa: &Version) -> Refuses<'a> {
    let branch = catalog.ptx_isas.iter().find(|row| row.isa == *isa).and_then(|row| row.branch.as_ref());
    Box::new(move |row| branch.is_none_or(|it| row.user_mode().major() < it.major()))
}

/// Whether a driver is too old for the lines of CUDA that a rule speaks of.
fn is_too_old<'c>(
    rule: &Needs<'_>,
    on_windows: impl Fn() -> Option<&'c WindowsDriver>,
    row: &DriverRow<'_>,
    line: &Version,
) -> bool {
    match row.compat {
        None if row.windows => windows::is_too_old(on_windows(), rule, &row.version),
        None => !rule.needs.admits(&row.version),
        Some(_) if !row.installed => false,
        // The package's libcuda runs what the driver that it was taken from runs.
        Some(compat) => {
            let least = windows::least_on_linux(rule);
            compat.cuda < *line && least.is_some_and(|least| compat.branch.major() < least.major())
        }
    }
}

/// What a package needs of a driver: one that runs the CUDA runtime that it carries inside and compiles the PTX that a GPU runs
/// of it, and what rules say of it.
pub fn needs_of_companion<'a>(
    facts: &'a Facts<'_>,
    row: &'a Companion,
    machine: &'a Described<'_>,
) -> impl Iterator<Item = DriverNeed> + 'a {
    let arch = machine.reading.arch;
    let carried = fits::carried_line(facts.catalog, row, arch).map(|line| DriverNeed::Line(line, Jit::Nothing));
    let jits = || {
        machine
            .kinds
            .iter()
            .any(|kind| fits::companion_code(facts.catalog, row, arch, kind.gpu.cc) == Some(Coverage::Jit))
    };
    let compiled = row.ptx_isa.filter(|_| jits()).map(DriverNeed::Ptx);
    let by_rule = facts.rules.between(Subject::Package, Subject::Driver);
    let by_rule = by_rule.filter(move |rule| speaks_of(facts, rule, row, machine));
    carried.into_iter().chain(compiled).chain(by_rule.map(|rule| DriverNeed::Rule(rule.id)))
}

/// What packages need of a driver, each by itself, and the CUDA of the system that they load: the driver compiles its PTX where
/// one compiles kernels while it runs and links them by itself with the nvJitLink of a newer CUDA alone.
pub fn needs_of_packages<'a>(
    facts: &'a Facts<'_>,
    (packages, cuda): (&'a [&'a Companion], Option<&'a Toolkit>),
    machine: &'a Described<'_>,
) -> impl Iterator<Item = DriverNeed> + 'a {
    let links_from = packages.iter().filter_map(|row| row.nvjitlink).max();
    let of_cuda = cuda.into_iter().flat_map(move |cuda| needs_of_cuda(cuda, links_from));
    packages.iter().flat_map(|row| needs_of_companion(facts, row, machine)).chain(of_cuda)
}

/// What a CUDA of the system needs, where packages link what they compile while they run from some CUDA on.
pub fn needs_of_cuda(cuda: &Toolkit, links_from: Option<Version>) -> Vec<DriverNeed> {
    let line = DriverNeed::Line(cuda.version, Jit::Nothing);
    let is_older = links_from.is_some_and(|first| cuda.version.cmp_prefix(&first).is_lt());
    [line].into_iter().chain(is_older.then_some(DriverNeed::Ptx(cuda.ptx_isa))).collect()
}

/// Whether a rule of a package speaks of a release on a machine: of that itself, or of all that may come along with it of the
/// package, which is imported as if it were named.
fn speaks_of(facts: &Facts<'_>, rule: &Needs<'_>, row: &Companion, machine: &Described<'_>) -> bool {
    let Some(package) = rule.row.package.as_deref() else { return false };
    let speaks = |of: &Companion| {
        rule.speaks_of(&of.version, machine.kinds.iter().map(|kind| &kind.gpu.cc_version), Archs::Free)
    };
    if *row.package == *package {
        return speaks(row);
    }
    let mut asked = row.asked(machine.reading.arch).filter(|(of, _)| *of == package);
    asked.any(|(of, range)| {
        let mut along = fits::admitted(facts.catalog, of, range).peekable();
        along.peek().is_some() && along.all(speaks)
    })
}

/// Whether a driver does, while some rules are set aside.
pub fn met_by<'a, 'c>(facts: &'a Facts<'c>, need: DriverNeed, off: &RowSet) -> impl Fn(&DriverRow<'c>) -> bool + 'a {
    let mut rules = refusing(facts, need);
    rules.retain(|(rule, _)| rule.is_none_or(|rule| !off.has(rule)));
    move |row| !rules.iter().any(|(_, refuses)| refuses(row))
}

/// The releases that what is said of a machine's driver leaves open, oldest first.
fn possible<'c>(facts: &Facts<'c>, machine: &Described<'c>) -> Vec<Version> {
    let listed = machine.reading.driver.listed();
    let each = listed.iter().map(|one| of_request(facts, machine, one));
    // Of several that occur the oldest is judged here, and each of the others as a machine of its own.
    let oldest = each.filter(|versions| !versions.is_empty()).min();
    oldest.unwrap_or_else(|| of_request(facts, machine, &machine.reading.driver))
}

/// The same of what one value says of it.
fn of_request<'c>(facts: &Facts<'c>, machine: &Described<'c>, driver: &DriverRequest) -> Vec<Version> {
    let catalog = facts.catalog;
    let windows = machine.reading.windows_driver;
    let candidates = candidates(facts, machine);
    match driver {
        DriverRequest::Exact(version) => vec![*version],
        DriverRequest::Free(bound) => {
            let within = candidates.iter().filter(|version| bound.as_ref().is_none_or(|it| it.admits(version)));
            within.map(|version| **version).collect()
        }
        DriverRequest::AtWorst(constraint) if windows => windows::worst(catalog, constraint, &candidates),
        DriverRequest::AtWorst(constraint) => worst_branch(catalog, constraint, &candidates),
        DriverRequest::Cuda(cuda, _) => {
            let branch = branch_telling(catalog, cuda);
            let is_of = |version: &Version, row: &Branch| match windows {
                true => branch_of(catalog, version).is_some_and(|of| of.branch == row.branch),
                false => is_of(version, row),
            };
            // What is there may be one that nobody is told to install.
            let all = if windows { windows::known(catalog).into() } else { candidates };
            let within = all.iter().filter(|version| branch.is_some_and(|row| is_of(version, row)));
            within.map(|version| **version).collect()
        }
    }
}

/// The releases at which something about a machine can change, oldest first.
pub fn candidates<'c>(facts: &Facts<'c>, machine: &Described<'c>) -> Rc<[&'c Version]> {
    if machine.reading.windows_driver {
        return windows::turning_points(facts.catalog).into();
    }
    let (known, named) = (facts.turning_points(), installed::turning_points(facts, machine));
    if named.is_empty() {
        return known;
    }
    let all = distinct(known.iter().copied().chain(named));
    all.into()
}

fn is_of(version: &Version, branch: &Branch) -> bool {
    version.major() == branch.branch.major()
}

/// The oldest branch whose nvidia-smi shows a CUDA version; of a number that none shows, the next lower one, so
/// that nothing is promised which the hosts may lack.
fn branch_telling<'c>(catalog: &'c Catalog, cuda: &Version) -> Option<&'c Branch> {
    let told = || catalog.branches.iter().filter_map(|row| Some((row.cuda.as_ref()?, row)));
    let shown = told().map(|(shown, _)| shown).filter(|shown| *shown <= cuda).max();
    let shown = shown.or_else(|| told().map(|(shown, _)| shown).min())?;
    told().find(|(known, _)| *known == shown).map(|(_, row)| row)
}

/// The candidates within the oldest branch a constraint admits: what the hosts have at worst.
fn worst_branch(catalog: &Catalog, constraint: &Constraint, candidates: &[&Version]) -> Vec<Version> {
    let admitted = |beta: bool| catalog.drivers.iter().find(|row| row.beta == beta && constraint.admits(&row.version));
    let Some(oldest) = admitted(false).or_else(|| admitted(true)) else {
        let bounds = constraint.comparisons().filter_map(|one| one.version);
        return bounds.min().into_iter().collect();
    };
    let branch = oldest.version.major();
    let within = candidates.iter().filter(|version| version.major() == branch && constraint.admits(version));
    let mut versions: Vec<Version> = within.map(|version| **version).collect();
    if versions.iter().all(|version| *version != oldest.version) {
        versions.insert(0, oldest.version);
    }
    versions
}

/// The drivers that do not run a machine's GPUs, or not in this machine.
fn refused_by_gpus<'c>(facts: &Facts<'c>, machine: &Described<'c>, rows: &[DriverRow<'c>]) -> Refusals {
    let asked = &machine.reading;
    let mut refusals = Refusals::default();
    for rule in machine.kinds.iter().flat_map(|kind| &kind.driver) {
        refusals.add(rule.id, RowSet::filter(rows.len(), |row| !rows[row].is_admitted(&rule.needs)));
    }
    // A Grace Hopper module has no x86_64 beside it.
    let of_other_cpu = |cpu: Option<_>| cpu.is_some_and(|cpu| cpu != asked.arch);
    if asked.named_gpus().iter().any(|gpu| of_other_cpu(gpu.row.and_then(|row| row.cpu))) {
        refusals.add(law::id::PRODUCT_CPU, RowSet::first(rows.len()));
    }
    // A JetPack is made for some Jetsons.
    let boards = asked.os.map(|os| &os.boards).filter(|boards| !boards.is_empty());
    if boards.is_some_and(|boards| asked.named_gpus().iter().any(|gpu| !boards.contains(&gpu.cc_version))) {
        refusals.add(law::id::SYSTEM_BOARDS, RowSet::first(rows.len()));
    }
    if asked.windows_driver {
        let is_before = |row: &DriverRow| windows::without_cuda(facts.catalog, &row.version).is_some();
        refusals.add(law::id::WSL2_CUDA, RowSet::filter(rows.len(), |row| is_before(&rows[row])));
    }
    // Whichever JetPack it has, its driver is at best that of the newest one for the board.
    if let Some((newest, _)) = newest_on_boards(facts.catalog, asked) {
        let is_beyond = |row: &DriverRow| row.branch.cuda.is_some_and(|cuda| cuda > newest);
        refusals.add(law::id::SYSTEM_BOARDS, RowSet::filter(rows.len(), |row| is_beyond(&rows[row])));
    }
    refusals
}

/// The newest CUDA that a driver of a JetPack for a machine's boards supports, cuda-compat included, and that JetPack; none
/// where the JetPack is told, though the catalog may not list it, or the boards are none of Jetsons.
pub fn newest_on_boards<'c>(catalog: &'c Catalog, asked: &Reading<'_>) -> Option<(Version, &'c Os)> {
    let is_told = asked.judged.jetpack || asked.os.is_some_and(|os| os.cuda.is_some());
    let boards = asked.named_gpus();
    let is_for_boards = |os: &&Os| boards.iter().all(|gpu| os.boards.contains(&gpu.cc_version));
    let jetpacks = catalog.oses.iter().filter(|os| !is_told && asked.gpus.are_jetsons() && is_for_boards(os));
    let supported = |os: &'c Os| os.cuda.into_iter().chain(os.compats.iter().copied()).map(move |cuda| (cuda, os));
    jetpacks.flat_map(supported).max_by_key(|(cuda, _)| *cuda)
}

/// The newest CUDA that an image for servers may hold on a machine's boards, where every JetPack for them takes only what was
/// made for it: no other CUDA than theirs and that of their cuda-compat packages comes to such a board.
pub fn newest_in_images(catalog: &Catalog, asked: &Reading<'_>) -> Option<Version> {
    let (newest, _) = newest_on_boards(catalog, asked)?;
    let boards = asked.named_gpus();
    let is_of_boards = |os: &&Os| boards.iter().any(|gpu| os.boards.contains(&gpu.cc_version));
    catalog.oses.iter().filter(is_of_boards).all(|os| os.own_packages).then_some(newest)
}

/// Every driver that knows the generation of a machine's GPUs, whether it lists the boards or not, oldest first.
pub fn of_generation<'c>(facts: &Facts<'c>, machine: &Described<'c>, off: &RowSet) -> Vec<DriverRow<'c>> {
    let (turning, windows) = (candidates(facts, machine), machine.reading.windows_driver);
    let rows = turning.iter().filter_map(|version| DriverRow::plain(facts.catalog, **version, windows));
    rows.filter(|row| knows(&machine.kinds, row, off)).collect()
}

/// Every driver of any branch on which one cuda-compat package serves a machine, oldest first.
pub fn with<'c>(facts: &Facts<'c>, machine: &Described<'c>, off: &RowSet, compat: &Compat) -> Vec<DriverRow<'c>> {
    if !machine.may_use_compat(off) {
        return Vec::new();
    }
    let drivers = of_generation(facts, machine, off);
    let rows = drivers.iter().flat_map(|row| with_compat(facts, machine, row));
    rows.filter(|row| row.compat.map(|with| with.cuda) == Some(compat.cuda))
        .filter(|row| knows(&machine.kinds, row, off))
        .collect()
}

fn knows(kinds: &[GpuKind<'_>], row: &DriverRow<'_>, off: &RowSet) -> bool {
    let mut rules = kinds.iter().flat_map(|kind| &kind.driver);
    rules.all(|rule| off.has(rule.id) || row.is_admitted(&rule.needs))
}

/// The same driver with each cuda-compat package that may stand before it: on a Jetson those that its JetPack takes.
fn with_compat<'c>(facts: &Facts<'c>, machine: &Described<'c>, row: &DriverRow<'c>) -> Vec<DriverRow<'c>> {
    let is_base = |base: &Version| base.major() == row.version.major() && *base <= row.version;
    let serves = |compat: &&Compat| {
        compat.branch.major() > row.version.major()
            && match machine.reading.own_compats() {
                Some(own) => own.contains(&compat.cuda),
                None => compat.bases.iter().any(is_base),
            }
    };
    facts
        .catalog
        .compats
        .iter()
        .filter(serves)
        .map(|compat| DriverRow { compat: Some(compat), ..row.clone() })
        .collect()
}
