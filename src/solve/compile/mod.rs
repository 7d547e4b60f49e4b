//! A request as a network: which variables there are, what is given, and which rows go together.
//!
//! Variables stand in the order of the stated objective: framework versions, other packages by name, variants, Python,
//! cuDNN, NCCL, then for each class of targets toolkit and image, and last the drivers.

mod companions;
mod libraries;
mod machines;
mod package_releases;
mod pythons;
mod releases;
pub mod sources;
mod sparing;
mod stack;
mod tritons;

use std::collections::HashMap;
use std::rc::Rc;

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use crate::catalog::rows::{Companion, Cudnn, Image, Nccl, Python, Subject, Toolkit};
use crate::spec::Share;
use crate::types::{CpuArch, Version, distinct};

use super::driver_row::DriverRow;
use super::engine::{self, Outcome, Steps};
use super::framework::Framework;
use super::image::Images;
use super::machine::Machine;
use super::network::{Network, Order, Says, Var};
use super::platform::Platform;
use super::problem::Package;
use super::release::Release;
use super::request::{PackageRequest, Request, TargetRequest};
use super::rowset::RowSet;
use super::rules::Needs;

use sources::Source;
use sparing::Sparing;

/// What may be used that is not the first choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy<'a> {
    /// Builds their publisher calls experimental.
    pub experimental: bool,
    /// Builds of which the catalog does not know enough to judge them.
    pub unknown: bool,
    /// Builds that nobody has seen though they may exist, and unknown values as the ones that are asked for.
    pub possible: bool,
    /// For each class of targets, whether forward compatibility may be used.
    pub forward_compat: ForwardCompat<'a>,
    /// No free driver above this.
    pub driver_cap: Option<&'a Version>,
}

/// Which classes may use forward compatibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardCompat<'a> {
    /// None.
    Nobody,
    /// Each that allows it.
    All,
    /// These, by position.
    These(&'a [usize]),
}

/// Targets that ask for the same machine under the same rules.
#[derive(Debug)]
pub struct Class<'q, 'c> {
    /// The first of them, which speaks for all.
    pub target: &'q TargetRequest<'c>,
    /// Positions in the request's list of targets.
    pub members: Vec<usize>,
    /// The rules that are set aside for it.
    pub off: RowSet,
}

impl<'c> Class<'_, 'c> {
    /// What they are.
    pub fn machine(&self) -> &Machine<'c> {
        &self.target.machine
    }
}

/// The classes of a request's targets, in the order of their first members.
pub fn classes<'q, 'c>(request: &'q Request<'c>) -> Vec<Rc<Class<'q, 'c>>> {
    let everywhere = request.off_everywhere();
    let for_one = request.off.iter().any(|off| off.target.is_some());
    let mut at: FxHashMap<(usize, RowSet), usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for (position, target) in request.targets.iter().enumerate() {
        let mut off = everywhere.clone();
        if for_one {
            request.off_for(&target.name).rows().for_each(|rule| off.insert(rule));
        }
        let class = *at.entry((target.machine.id, off.clone())).or_insert(classes.len());
        if class == classes.len() {
            classes.push(Class { target, members: Vec::new(), off });
        }
        classes[class].members.push(position);
    }
    classes.into_iter().map(Rc::new).collect()
}

/// A variable and what its rows are.
#[derive(Debug, Clone)]
pub struct Choice<T> {
    /// The variable.
    pub var: Var,
    /// Its rows.
    pub rows: Rc<[T]>,
}

impl<T> Choice<T> {
    /// What was chosen.
    pub fn of(&self, choice: &[usize]) -> &T {
        &self.rows[choice[self.var]]
    }
}

/// Choices made once for several classes.
#[derive(Debug, Clone)]
pub struct Group<'c> {
    /// The classes, by position.
    pub classes: Vec<usize>,
    /// For each framework, its release.
    pub releases: Vec<ReleaseChoice<'c>>,
    /// For each other package, its release: one version may have a release for each variant of its framework.
    pub companions: Vec<Choice<&'c Companion>>,
    /// cuDNN of the system, where no framework brings its own; or that to install where frameworks leave it open.
    pub cudnn: Option<Choice<&'c Cudnn>>,
    /// NCCL of the system.
    pub nccl: Option<Choice<&'c Nccl>>,
    /// The CUDA releases that run, where no framework brings its own and nothing is compiled, each with the classes that have it.
    pub cudas: Vec<(Vec<usize>, Choice<&'c Toolkit>)>,
    /// The rules that are set aside for each of the classes: what is chosen once for several is held to what one holds to.
    pub off: RowSet,
}

impl<'c> Group<'c> {
    /// The CUDA release of a class.
    pub fn cuda(&self, class: usize) -> Option<&Choice<&'c Toolkit>> {
        self.cudas.iter().find(|(classes, _)| classes.contains(&class)).map(|(_, cuda)| cuda)
    }

    /// The releases of packages that were chosen, as they come on a processor: where wheels are for the other one, as source.
    pub fn companions_on(&self, arch: CpuArch, choice: &[usize]) -> Vec<&'c Companion> {
        let on = |all: &Choice<&'c Companion>| {
            let chosen = *all.of(choice);
            let is_source = |row: &&&Companion| row.version == chosen.version && row.source_for() == Some(arch);
            let source = || all.rows.iter().find(is_source);
            if chosen.arches.contains(&arch) { chosen } else { source().copied().unwrap_or(chosen) }
        };
        self.companions.iter().map(on).collect()
    }
}

/// A framework's release, to be chosen.
#[derive(Debug, Clone)]
pub struct ReleaseChoice<'c> {
    /// The variable.
    pub var: Var,
    /// Its rows.
    pub framework: &'c Framework<'c>,
}

impl<'c> ReleaseChoice<'c> {
    /// What was chosen.
    pub fn of(&self, choice: &[usize]) -> &'c Release<'c> {
        &self.framework.releases[choice[self.var]]
    }
}

/// Choices made for one class.
#[derive(Debug, Clone, Default)]
pub struct Local<'c> {
    /// The toolkit that compiles.
    pub toolkit: Option<Choice<&'c Toolkit>>,
    /// The packages that may come as source, where toolkits are written.
    pub sources: Vec<Source<'c>>,
    /// The image.
    pub image: Option<Choice<&'c Image>>,
    /// The images to choose it from.
    pub images: Rc<Images<'c>>,
    /// The driver; none for CPU targets.
    pub driver: Option<Choice<DriverRow<'c>>>,
    /// The other drivers that are listed for it, each on the machine that has it: what runs must run on all of them.
    pub others: Vec<(Rc<Machine<'c>>, Choice<DriverRow<'c>>)>,
}

/// Choices of an earlier lock, tried first: choice key to label.
pub type Locked = HashMap<String, String>;

/// A request as a network, and what its variables are.
pub struct Plan<'q, 'c> {
    /// The request.
    pub request: &'q Request<'c>,
    /// The classes of its targets.
    pub classes: Vec<Rc<Class<'q, 'c>>>,
    /// For each framework, its version.
    versions: Vec<Var>,
    frameworks: Vec<&'c Framework<'c>>,
    /// For each other package, its version.
    companions: Vec<Var>,
    packages: Vec<&'c Package<'c>>,
    /// The Python line.
    pub python: Option<Choice<&'c Python>>,
    /// Choices shared by classes.
    pub groups: Vec<Group<'c>>,
    /// Choices of each class.
    pub locals: Vec<Local<'c>>,
    /// The network.
    pub network: Network<'q>,
    /// For each class what it has been found to admit.
    given: Vec<Vec<(Var, RowSet)>>,
    /// What releases cost of `[packages]`.
    sparing: Rc<Sparing<'q, 'c>>,
    /// How many ordinary packages a Python may leave out, where that differs, until it is related.
    left_out: Option<(Var, Vec<usize>)>,
    /// Frameworks by position, with what a release may cost of `[packages]` by its CUDA, and what each does.
    apart: Vec<(usize, Var, Rc<[usize]>)>,
    /// The rules that are set aside for every class.
    off: RowSet,
    policy: Policy<'q>,
    /// What an earlier lock chose, by key of `[stack]`.
    pub locked: &'q Locked,
}

impl<'q, 'c> Plan<'q, 'c> {
    /// What it takes to compile it, in steps: as measured it grows with what there is to choose, and with what each package
    /// is held against.
    pub fn work(&self) -> u64 {
        let held_against = self.classes.len() / 2 + 2 * self.groups.len();
        (self.network.count() + self.packages.len() * held_against) as u64
    }

    /// Compiles a request.
    pub fn new(request: &'q Request<'c>, policy: Policy<'q>, locked: &'q Locked) -> Self {
        let classes = classes(request);
        let given = classes.iter().map(|_| Vec::new()).collect();
        let mut plan = Plan {
            request,
            classes,
            versions: Vec::new(),
            frameworks: Vec::new(),
            companions: Vec::new(),
            packages: Vec::new(),
            python: None,
            groups: Vec::new(),
            locals: Vec::new(),
            network: Network::default(),
            given,
            sparing: Sparing::new(request),
            left_out: None,
            apart: Vec::new(),
            off: RowSet::default(),
            policy,
            locked,
        };
        plan.off = plan.off_in(0..plan.classes.len());
        plan.add_versions();
        plan.add_groups();
        plan.add_machines();
        plan.add_premises();
        plan
    }

    /// The best selection.
    pub fn solve(&self, steps: &Steps) -> Outcome {
        engine::solve(&self.network, steps)
    }

    /// The rules that are set aside for each of some classes.
    fn off_in(&self, classes: impl IntoIterator<Item = usize>) -> RowSet {
        let each = classes.into_iter().map(|class| self.classes[class].off.clone());
        each.reduce(|all, off| all.intersection(&off)).unwrap_or_default()
    }

    /// The rules that a package has about an object and that hold, where some are set aside.
    fn rules_that_hold(&self, package: &str, object: Subject, off: &RowSet) -> Vec<&'q Needs<'c>> {
        let rules = self.request.rules.of_package(package, object);
        rules.iter().filter(|rule| !off.has(rule.id)).collect()
    }

    /// Which classes choose together.
    fn together(&self) -> Vec<Vec<usize>> {
        match self.request.share {
            Share::Versions => (0..self.classes.len()).map(|class| vec![class]).collect(),
            _ => vec![(0..self.classes.len()).collect()],
        }
    }

    /// `.prod` where a choice is made for each class apart, nothing where it is shared.
    fn group_name(&self, classes: &[usize]) -> String {
        match (self.request.share, classes) {
            (Share::Versions, [class]) => format!(".{}", self.classes[*class].target.name),
            _ => String::new(),
        }
    }

    /// The kinds of machines among some classes.
    fn platforms(&self, classes: &[usize], is_meant: impl Fn(&Class<'_, 'c>) -> bool) -> Vec<Platform<'c>> {
        let classes = classes.iter().map(|&class| &*self.classes[class]).filter(|class| is_meant(class));
        distinct(classes.map(|class| class.target.platform))
    }

    /// Adds a variable, of which an earlier lock chose the row with some label.
    fn variable<T>(
        &mut self,
        rows: &[T],
        (order, because): (Order<'q>, Vec<Says>),
        key: &str,
        label: impl Fn(&T) -> &str,
    ) -> Var {
        let first = match self.locked.get(key) {
            Some(wanted) => RowSet::filter(rows.len(), |row| label(&rows[row]) == wanted),
            None => RowSet::default(),
        };
        self.network.variable(rows.len(), order, first, because)
    }

    /// Why a package is chosen at all: it is asked for, or, as a framework, by every package that follows it.
    fn asked_by(&self, package: &str) -> Vec<Says> {
        let follows = |name: &str| self.request.problem.package(name).is_some_and(|of| of.follows(package));
        let asked = |ask: &&PackageRequest<'_>| ask.package == package || follows(ask.package);
        let asks = self.request.frameworks.iter().chain(&self.request.companions).filter(asked);
        asks.map(|ask| stack_key(ask.package)).collect()
    }

    /// Adds what the user wrote under a key of `[stack]`.
    fn clause(&mut self, name: &str, admits: Vec<(Var, RowSet)>) {
        self.network.premise(stack_key(name), admits);
    }

    /// Each class admits what its machine and the rules about it leave.
    fn add_premises(&mut self) {
        for (class, admits) in std::mem::take(&mut self.given).into_iter().enumerate() {
            self.network.premise(Says::Machine(class), admits);
        }
    }
}

fn stack_key(name: &str) -> Says {
    Says::Key(["stack.", name].concat())
}
