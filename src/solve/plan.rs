//! The question compiled to a closed world: which tables there are, and which rows go together.
//!
//! Tables stand in the order of the stated objective: framework versions, other packages by name, Python,
//! variants, cuDNN, NCCL, then for each class of targets toolkit and image, and last the drivers.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Companion, Cudnn, Image, Nccl, Python, Subject, Toolkit};
use crate::spec::Share;
use crate::words::{Constraint, Version};

use super::asked;
use super::choice::{Choice, Rows};
use super::class::{Class, classes};
use super::companion;
use super::driver::{self, DriverRow};
use super::fits::{self, DriverNeed};
use super::image;
use super::platform::Platform;
use super::question::{ImageAsk, Question};
use super::release::Release;
use super::rulebook::{Bond, Judged, law};
use super::shared;
use super::world::{Kinds, Outcome, Steps, World};

/// What may be used that is not the first choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy<'a> {
    /// Builds their publisher calls experimental.
    pub experimental: bool,
    /// Builds of which the catalog does not know enough to judge them.
    pub unknown: bool,
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

/// Choices made once for several classes.
#[derive(Debug, Clone)]
pub struct Group<'c> {
    /// The classes, by position.
    pub classes: Vec<usize>,
    /// For each framework, its release.
    pub releases: Vec<Choice<&'c Release<'c>>>,
    /// For each other package, its release: one version may have a release for each variant of its framework.
    pub companions: Vec<Choice<&'c Companion>>,
    /// cuDNN of the system, where no framework brings its own; or that to install where frameworks leave it open.
    pub cudnn: Option<Choice<&'c Cudnn>>,
    /// NCCL of the system.
    pub nccl: Option<Choice<&'c Nccl>>,
    /// The CUDA release that runs, where no framework brings its own and nothing is compiled.
    pub cuda: Option<Choice<&'c Toolkit>>,
}

/// Choices made for one class.
#[derive(Debug, Clone)]
pub struct Local<'c> {
    /// The toolkit that compiles.
    pub toolkit: Option<Choice<&'c Toolkit>>,
    /// The image.
    pub image: Option<Choice<&'c Image>>,
    /// The driver; none for CPU targets.
    pub driver: Option<Choice<DriverRow<'c>>>,
    /// Where minimums are capped and the hosts' driver is given: a driver below the cap that would do as well.
    pub witness: Option<Choice<DriverRow<'c>>>,
}

/// A question as a world.
#[derive(Debug, Clone)]
pub struct Plan<'q, 'c> {
    /// The question.
    pub question: &'q Question<'c>,
    /// The classes of its targets.
    pub classes: Vec<Class<'q, 'c>>,
    /// For each framework, its version.
    pub versions: Vec<Choice<&'c Version>>,
    /// For each other package, its version.
    pub companions: Vec<Choice<&'c Version>>,
    /// The Python line.
    pub python: Option<Choice<&'c Python>>,
    /// Choices shared by classes.
    pub groups: Vec<Group<'c>>,
    /// Choices of each class.
    pub locals: Vec<Local<'c>>,
    /// The tables and relations.
    pub world: World,
}

/// Choices of an earlier lock, tried first: choice key to label.
pub type Locked = HashMap<String, String>;

impl<'q, 'c> Plan<'q, 'c> {
    /// Compiles a question.
    pub fn new(question: &'q Question<'c>, policy: Policy<'_>, locked: &Locked) -> Self {
        let mut world = World::default();
        let classes = classes(question);
        let versions: Vec<Choice<&Version>> = question
            .frameworks
            .iter()
            .map(|ask| {
                let rows = asked::versions(question, ask);
                let rows = rows.locked_first(locked, ask.package, |version| version.to_string());
                Choice { table: world.table(rows.len()), rows }
            })
            .collect();
        let companions = companion::companions(question, &mut world, locked);
        let python = asked::pythons(question).map(|rows| {
            let rows = rows.locked_first(locked, "python", |row| row.version.to_string());
            Choice { table: world.table(rows.len()), rows }
        });
        let mut plan =
            Plan { question, classes, versions, companions, python, groups: Vec::new(), locals: Vec::new(), world };
        plan.add_groups(policy, locked);
        if !plan.world.is_hopeless() {
            plan.add_locals(policy, locked);
        }
        plan
    }

    /// The best selection.
    pub fn solve(&self, steps: &Steps) -> Outcome {
        self.world.solve(steps)
    }

    fn add_groups(&mut self, policy: Policy<'_>, locked: &Locked) {
        let shared = self.question.share != Share::Versions;
        let members: Vec<Vec<usize>> = if shared {
            vec![(0..self.classes.len()).collect()]
        } else {
            (0..self.classes.len()).map(|class| vec![class]).collect()
        };
        let mut groups = Vec::new();
        for classes in members {
            let mut chosen = Vec::new();
            let cpu_first = classes.iter().all(|&class| self.classes[class].target.is_cpu());
            for (framework, ask) in self.question.frameworks.iter().enumerate() {
                let name = format!("{}.variant{}", ask.package, self.group_name(&classes));
                let rows = asked::releases(self.question, ask, cpu_first);
                let rows = rows.locked_first(locked, &name, |release| release.variant.to_string());
                let release = Choice { table: self.world.table(rows.len()), rows };
                self.keep_releases(&classes, framework, &release, policy);
                self.relate_release(&classes, framework, &release, policy);
                chosen.push(release);
            }
            let companions = Vec::new();
            groups.push(Group { classes, releases: chosen, companions, cudnn: None, nccl: None, cuda: None });
        }
        let candidates = self.relate_companion_versions();
        for group in &mut groups {
            self.relate_frameworks(group);
            self.add_companions(group, &candidates);
            self.add_system_libraries(group, locked);
            self.add_framework_cudnn(group, locked);
        }
        self.groups = groups;
    }

    /// Leaves the releases of a framework that each of some classes can have.
    fn keep_releases(
        &mut self,
        classes: &[usize],
        framework: usize,
        release: &Choice<&'c Release<'c>>,
        policy: Policy<'_>,
    ) {
        let question = self.question;
        let by = judged_by(question, policy);
        for class in classes.iter().map(|&class| &self.classes[class]) {
            let judged = question.rules.judged(&release.rows, class, &by);
            Judged::keep(&judged, &mut self.world, release.table, |row| {
                fits::release(question, class, framework, release.rows[row], policy).is_none()
            });
        }
    }

    /// A release is of one version, and has wheels for some Pythons.
    fn relate_release(
        &mut self,
        classes: &[usize],
        framework: usize,
        release: &Choice<&'c Release<'c>>,
        policy: Policy<'_>,
    ) {
        let (question, version) = (self.question, &self.versions[framework]);
        self.world.recall(
            version.table,
            release.table,
            &question.rules.recall(&version.rows, &release.rows, Bond::Parts),
            &mut |world| {
                let versions = numbered(&version.rows);
                world
                    .relate_parts(version.table, release.table, |row| versions.get(release.rows[row].version).copied());
            },
        );
        let Some(python) = &self.python else { return };
        let mut platforms: Vec<Platform> = classes.iter().map(|&class| self.classes[class].target.platform).collect();
        platforms.sort();
        platforms.dedup();
        let builds = |row: usize| platforms.iter().filter_map(move |&platform| release.rows[row].on(platform));
        let bond = Bond::Pythons {
            platforms: platforms.clone(),
            unknown: policy.unknown,
            held: question.holds(law::PYTHON, ""),
        };
        self.world.recall(
            python.table,
            release.table,
            &question.rules.recall(&python.rows, &release.rows, bond),
            &mut |world| {
                world.relate_to_kinds(
                    python.table,
                    release.table,
                    |row| builds(row).map(fits::pythons_of).collect::<Vec<_>>(),
                    |line, row| {
                        let line = &python.rows[line].version;
                        builds(row).all(|build| fits::python(question, build, line, policy))
                    },
                );
            },
        );
    }

    /// `.prod` where a choice is made for each class apart, nothing where it is shared.
    fn group_name(&self, classes: &[usize]) -> String {
        match (self.question.share, classes) {
            (Share::Versions, [class]) => format!(".{}", self.classes[*class].target.name),
            _ => String::new(),
        }
    }

    /// Without a framework that brings its own, CUDA, cuDNN and NCCL are those of the system.
    fn add_system_libraries(&mut self, group: &mut Group<'c>, locked: &Locked) {
        let question = self.question;
        if !question.frameworks.is_empty() {
            return;
        }
        let catalog = question.catalog;
        let gpu_classes: Vec<usize> =
            group.classes.iter().copied().filter(|&class| !self.classes[class].target.is_cpu()).collect();
        let inside_image = gpu_classes.iter().any(|&class| {
            matches!(self.classes[class].target.image, ImageAsk::Known(_) | ImageAsk::Choose(_))
                && question.build.is_none()
        });
        if let Some(wanted) = question.cudnn.as_ref().filter(|_| !inside_image) {
            let rows = catalog.cudnns.iter().rev().filter(|row| wanted.admits(&row.version));
            let rows = Rows::own(rows.collect()).locked_first(locked, "cudnn", |row: &&Cudnn| row.version.to_string());
            let table = self.world.table(rows.len());
            self.world.keep(table, |row| {
                gpu_classes.iter().all(|&class| fits::cudnn_serves(&self.classes[class], &rows[row].version))
            });
            group.cudnn = Some(Choice { table, rows });
        }
        if let Some(wanted) = &question.nccl {
            let rows = catalog.nccls.iter().rev().filter(|row| wanted.admits(&row.version));
            let rows = Rows::own(rows.collect()).locked_first(locked, "nccl", |row: &&Nccl| row.version.to_string());
            group.nccl = Some(Choice { table: self.world.table(rows.len()), rows });
        }
        let asked = question.cuda.is_some() || question.cudnn.is_some() || question.nccl.is_some();
        if question.build.is_none() && asked && !gpu_classes.is_empty() {
            let rows = Rows::own(asked::toolkits(question, None));
            let rows = rows.locked_first(locked, "cuda", |row| row.version.to_string());
            let table = self.world.table(rows.len());
            self.world.keep(table, |row| {
                gpu_classes
                    .iter()
                    .all(|&class| fits::line(question, &self.classes[class], &rows[row].version).is_none())
            });
            group.cuda = Some(Choice { table, rows });
            self.relate_libraries(group);
        }
    }

    /// Frameworks that are asked for together go into one environment.
    fn relate_frameworks(&mut self, group: &Group<'c>) {
        for (at, one) in group.releases.iter().enumerate() {
            for other in &group.releases[at + 1..] {
                for &class in &group.classes {
                    let (question, class) = (self.question, &self.classes[class]);
                    let kind = |release: usize| shared::kind(class.target.platform, one.rows[release]);
                    self.world.relate_kinds(one.table, other.table, kind, |release| {
                        let release = one.rows[release];
                        move |beside: usize| shared::together(question, class, release, other.rows[beside])
                    });
                }
            }
        }
    }

    /// Where frameworks ask for a least cuDNN and the newest does not serve, the one to be installed instead.
    fn add_framework_cudnn(&mut self, group: &mut Group<'c>, locked: &Locked) {
        let question = self.question;
        let classes: Vec<&Class> = group.classes.iter().map(|&class| &self.classes[class]).collect();
        let candidates = group.releases.iter().flat_map(|releases| {
            let rows = self.world.rows(releases.table).rows();
            rows.map(|row| releases.rows[row])
        });
        if !candidates.into_iter().any(|release| shared::must_choose(question, &classes, release)) {
            return;
        }
        let wanted = question.cudnn.as_ref();
        let mut rows: Vec<&Cudnn> = question.catalog.cudnns.iter().rev().collect();
        rows.retain(|row| wanted.is_none_or(|wanted| wanted.admits(&row.version)));
        let rows = Rows::own(rows).locked_first(locked, "cudnn", |row| row.version.to_string());
        let table = self.world.table(rows.len());
        self.world.keep(table, |row| classes.iter().all(|class| fits::cudnn_serves(class, &rows[row].version)));
        for releases in &group.releases {
            for class in &classes {
                let platform = class.target.platform;
                self.world.relate_kinds(
                    releases.table,
                    table,
                    |release| shared::kind(platform, releases.rows[release]),
                    |release| {
                        let (release, rows) = (releases.rows[release], &rows);
                        move |row: usize| shared::runs_with(question, platform, release, rows[row])
                    },
                );
            }
        }
        group.cudnn = Some(Choice { table, rows });
    }

    fn relate_libraries(&mut self, group: &Group<'c>) {
        let Some(cuda) = &group.cuda else { return };
        if let Some(cudnn) = &group.cudnn {
            self.world.relate(cudnn.table, cuda.table, |library, release| {
                fits::same_line(self.question, &cudnn.rows[library].cuda, &cuda.rows[release].version)
            });
        }
        if let Some(nccl) = &group.nccl {
            self.world.relate(nccl.table, cuda.table, |library, release| {
                fits::same_line(self.question, &nccl.rows[library].cuda, &cuda.rows[release].version)
            });
        }
    }

    fn add_locals(&mut self, policy: Policy<'_>, locked: &Locked) {
        let candidates = driver::candidates(self.question);
        let mut locals: Vec<Local> = Vec::new();
        for class in 0..self.classes.len() {
            let toolkit = self.toolkit(class, locked);
            let image = self.image(class, policy, locked);
            locals.push(Local { toolkit, image, driver: None, witness: None });
        }
        for (class, local) in locals.iter_mut().enumerate() {
            local.driver = self.driver(class, candidates, policy, locked);
        }
        for (class, local) in locals.iter_mut().enumerate() {
            local.witness = policy.driver_cap.and_then(|cap| self.witness(class, candidates, cap));
        }
        for (class, local) in locals.iter().enumerate() {
            self.relate_local(class, local);
        }
        self.locals = locals;
    }

    fn toolkit(&mut self, class: usize, locked: &Locked) -> Option<Choice<&'c Toolkit>> {
        let question = self.question;
        question.build.as_ref()?;
        let class = &self.classes[class];
        // Beside a CPU build there is no CUDA code to compile; beside the CUDA build that all share there is.
        let apart = question.share == Share::Versions || question.targets.iter().all(|target| target.is_cpu());
        if class.target.is_cpu() && apart && !question.frameworks.is_empty() {
            return None;
        }
        let cuda = question.cuda.as_ref().map_or("", Constraint::as_str);
        let rows = question.rules.toolkits(format!("{cuda}{}{}", question.built(), class.identity), || {
            let mut rows = asked::toolkits(question, class.target.toolkits.as_deref());
            rows.retain(|row| fits::toolkit(question, class, row).is_none());
            rows
        });
        let rows = rows.locked_first(locked, &class.target.key("toolkit"), |row| row.version.to_string());
        Some(Choice { table: self.world.table(rows.len()), rows })
    }

    fn image(&mut self, class: usize, policy: Policy<'_>, locked: &Locked) -> Option<Choice<&'c Image>> {
        let question = self.question;
        let class = &self.classes[class];
        if matches!(class.target.image, ImageAsk::No | ImageAsk::Unchecked(_)) {
            return None;
        }
        let mut rows = image::rows(question, class);
        if matches!(class.target.image, ImageAsk::Choose(_)) && !policy.unknown {
            rows.retain(|row| image::is_known(question.catalog, row, class.target.arch));
        }
        if let Some(wanted) = &question.cuda {
            let chosen = matches!(class.target.image, ImageAsk::Choose(_));
            let follows = chosen && (question.frameworks.is_empty() || question.build.is_some());
            rows.retain(|row| wanted.admits(&row.cuda) || !(follows || wanted.depth() > 2));
        }
        let rows = Rows::own(rows).locked_first(locked, &class.target.key("image"), |row| row.tag.to_string());
        Some(Choice { table: self.world.table(rows.len()), rows })
    }

    fn driver(
        &mut self,
        class: usize,
        candidates: &[&'c Version],
        policy: Policy<'_>,
        locked: &Locked,
    ) -> Option<Choice<DriverRow<'c>>> {
        let at = class;
        let class = &self.classes[class];
        if class.target.is_cpu() {
            return None;
        }
        let forward = class.target.forward_compat
            && match policy.forward_compat {
                ForwardCompat::Nobody => false,
                ForwardCompat::All => true,
                ForwardCompat::These(these) => these.contains(&at),
            };
        let find = || driver::rows(self.question, class, candidates, forward);
        let mut rows = self.question.rules.drivers(format!("{forward}{}", class.identity), find);
        if let Some(cap) = policy.driver_cap.filter(|_| !class.target.pins_driver()) {
            rows = Rows::own(rows.iter().filter(|row| row.version <= *cap).cloned().collect());
        }
        let rows = rows.locked_first(locked, &class.target.key("driver"), |row| row.version.to_string());
        Some(Choice { table: self.world.table(rows.len()), rows })
    }

    fn witness(&mut self, class: usize, candidates: &[&'c Version], cap: &Version) -> Option<Choice<DriverRow<'c>>> {
        let class = &self.classes[class];
        if class.target.is_cpu() || !class.target.pins_driver() {
            return None;
        }
        let mut rows = driver::rows_of_generation(self.question, class, candidates);
        rows.retain(|row| row.version <= *cap);
        Some(Choice { table: self.world.table(rows.len()), rows: Rows::own(rows) })
    }

    fn relate_local(&mut self, class: usize, local: &Local<'c>) {
        let group = self.groups.iter().find(|group| group.classes.contains(&class)).expect("every class has a group");
        let group = group.clone();
        if let Some(toolkit) = &local.toolkit {
            self.relate_toolkit(class, &group, toolkit);
        }
        if let Some(image) = &local.image {
            self.relate_image(class, &group, image, local);
        }
        for driver in local.driver.iter().chain(&local.witness) {
            self.relate_driver(class, &group, driver, local);
        }
    }

    fn relate_toolkit(&mut self, class: usize, group: &Group<'c>, toolkit: &Choice<&'c Toolkit>) {
        let (question, asked) = (self.question, &self.classes[class]);
        for releases in &group.releases {
            let known = question.rules.recall(&releases.rows, &toolkit.rows, asked.bond());
            self.world.recall(releases.table, toolkit.table, &known, &mut |world| {
                let kinds = Kinds::of(0..toolkit.rows.len(), |row| fits::extension_kind(toolkit.rows[row]));
                world.relate_kinds(
                    releases.table,
                    toolkit.table,
                    |release| fits::extension_need(asked, releases.rows[release]),
                    |release| {
                        let release = releases.rows[release];
                        kinds.judged(move |row| fits::extension(question, asked, release, toolkit.rows[row]))
                    },
                );
            });
        }
        for (packages, ask) in group.companions.iter().zip(&question.companions) {
            let rules = question.rules.of_package(ask.package, Subject::Toolkit);
            if rules.is_empty() {
                continue;
            }
            self.world.relate(packages.table, toolkit.table, |row, at| {
                let (row, version) = (packages.rows[row], &toolkit.rows[at].version);
                !row.sdist || rules.admit(question, "", row, Some(version))
            });
        }
        let cudnn = group.cudnn.iter().map(|of| (of.table, of.rows.iter().map(|row| &row.cuda).collect::<Vec<_>>()));
        let nccl = group.nccl.iter().map(|of| (of.table, of.rows.iter().map(|row| &row.cuda).collect::<Vec<_>>()));
        for (table, built_for) in cudnn.chain(nccl) {
            self.world.relate(table, toolkit.table, |row, at| {
                fits::same_line(question, built_for[row], &toolkit.rows[at].version)
            });
        }
    }

    fn relate_image(&mut self, class: usize, group: &Group<'c>, image: &Choice<&'c Image>, local: &Local<'c>) {
        let (question, asked) = (self.question, &self.classes[class]);
        for releases in &group.releases {
            let places: Vec<_> = image.rows.iter().map(|row| fits::place(question, asked, row)).collect();
            let places = &places;
            self.world.relate_kinds(
                releases.table,
                image.table,
                |release| fits::image_need(asked, releases.rows[release]),
                |release| move |row: usize| fits::release_image(question, asked, releases.rows[release], &places[row]),
            );
        }
        for cuda in group.cuda.iter().chain(&local.toolkit) {
            // Of some images only the line is known.
            self.world.relate_to_kinds(
                cuda.table,
                image.table,
                |row| image.rows[row].cuda,
                |release, row| cuda.rows[release].version.cmp_prefix(&image.rows[row].cuda).is_eq(),
            );
        }
    }

    fn relate_driver(&mut self, class: usize, group: &Group<'c>, driver: &Choice<DriverRow<'c>>, local: &Local<'c>) {
        let (question, asked) = (self.question, &self.classes[class]);
        for releases in &group.releases {
            let known = question.rules.recall(&releases.rows, &driver.rows, asked.bond());
            self.world.recall(releases.table, driver.table, &known, &mut |world| {
                world.relate_kinds(
                    releases.table,
                    driver.table,
                    |release| fits::driver_need(asked, releases.rows[release]),
                    |release| does(driver, fits::release_driver(question, asked, releases.rows[release])),
                );
            });
        }
        if let Some(cuda) = &group.cuda {
            self.world.relate_kinds(
                cuda.table,
                driver.table,
                |release| line_of(cuda.rows[release]),
                |release| does(driver, fits::line_driver(question, asked, cuda.rows[release].version)),
            );
        }
        if let Some(toolkit) = &local.toolkit {
            let known = question.rules.recall(&toolkit.rows, &driver.rows, asked.bond());
            self.world.recall(toolkit.table, driver.table, &known, &mut |world| {
                world.relate_kinds(
                    toolkit.table,
                    driver.table,
                    |row| line_of(toolkit.rows[row]),
                    |row| does(driver, fits::toolkit_driver(question, asked, toolkit.rows[row])),
                );
            });
        }
        if let Some(image) = &local.image {
            let demands: Vec<_> = image.rows.iter().map(|row| image::demand(question, asked, row)).collect();
            let demands = &demands;
            self.world.relate_kinds(
                image.table,
                driver.table,
                |row| Arc::as_ptr(&demands[row]),
                |row| move |at: usize| image::admits(question, asked, &demands[row], &driver.rows[at]),
            );
        }
    }
}

/// The position of each version among those that can be chosen.
pub(super) fn numbered<'c>(versions: &[&'c Version]) -> FxHashMap<&'c Version, usize> {
    versions.iter().enumerate().map(|(at, version)| (*version, at)).collect()
}

/// Which rows of a choice of drivers meet a need.
fn does<'a>(driver: &'a Choice<DriverRow<'_>>, need: DriverNeed<'a>) -> impl Fn(usize) -> bool {
    move |row| need.is_met_by(&driver.rows[row])
}

/// What, beside a class and a release, decides whether the one can have the other.
fn judged_by(question: &Question<'_>, policy: Policy<'_>) -> String {
    let cpu_only = question.targets.iter().all(|target| target.is_cpu());
    let allowed = (policy.experimental, policy.unknown, question.allow_experimental, question.share, cpu_only);
    let mut text = format!("{allowed:?}{}", question.built());
    for part in [&question.cuda, &question.cudnn, &question.nccl] {
        text.push('|');
        text.push_str(part.as_ref().map_or("", Constraint::as_str));
    }
    text
}

/// The line of a toolkit, which decides what drivers it needs.
fn line_of(toolkit: &Toolkit) -> (u64, u64) {
    (toolkit.version.major(), toolkit.version.minor())
}
