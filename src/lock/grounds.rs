//! What an answer rests on: each row and rule that speaks of something chosen, with the choices it supports.

use std::collections::{HashMap, HashSet};

use crate::catalog::rows::{Build, Companion, Subject, TORCH, TRITON};
use crate::catalog::{Catalog, Cite, Fact};
use crate::coverage::Coverage;
use crate::solve::driver::{self, DriverNeed};
use crate::solve::finished::Use;
use crate::solve::followers::followers;
use crate::solve::ordinary::shared::{By, doubled};
use crate::solve::request::{Request, TargetRequest};
use crate::solve::solution::{Solution, TargetSolution};
use crate::solve::{heeded, held, modules, ordinary, own, parts, services, variants, windows};
use crate::spec::Share;
use crate::types::Version;

use super::{FactLock, Grade, sources};
use Supports::{Stack, Target};

/// Every fact of an answer, by id. `alike` are the targets that share one choice each.
pub fn facts<'c>(request: &Request<'c>, answer: &Solution<'c>, alike: &[Vec<usize>]) -> Vec<FactLock> {
    let mut ledger = Ledger { request, facts: HashMap::new(), expected: HashSet::new(), unseen: HashSet::new() };
    for group in alike {
        let members = group.iter().map(|&member| &*request.targets[member].name).collect();
        let (asked, target) = (&request.targets[group[0]], &*answer.targets[group[0]].chosen);
        let book = Entry { asked, target, members, one_stack: request.share == Share::Stack };
        ledger.stack(&book);
        ledger.place(&book);
        ledger.driver(&book);
        ledger.rules(&book);
    }
    ledger.close()
}

struct Ledger<'q, 'c> {
    request: &'q Request<'c>,
    /// Facts and what they support, by the addresses of their rows: of a thousand targets most rest on the same.
    facts: HashMap<usize, (Fact, Vec<String>)>,
    /// The addresses of rows of which a practice tells a part.
    expected: HashSet<usize>,
    /// The addresses of rows of packages whose wheel nobody is known to have seen where it is taken from.
    unseen: HashSet<usize>,
}

/// A part of the question and of the answer that some targets share.
struct Entry<'a, 'c> {
    asked: &'a TargetRequest<'c>,
    target: &'a TargetSolution<'c>,
    members: Vec<&'a str>,
    one_stack: bool,
}

/// What a fact supports.
#[derive(Clone, Copy)]
enum Supports<'a> {
    /// A part of the stack.
    Stack(&'a str),
    /// A setting of each target.
    Target(&'static str),
}

impl Entry<'_, '_> {
    /// One stack for all targets has one name; stacks of their own are named after their target.
    fn spell(&self, supports: Supports<'_>, into: &mut Vec<String>) {
        let setting = match supports {
            Stack(name) if self.one_stack => return into.push(["stack.", name].concat()),
            Stack(name) => &["stack.", name].concat(),
            Target(setting) => setting,
        };
        into.extend(self.members.iter().map(|member| ["target.", member, ".", setting].concat()));
    }
}

impl<'c> Ledger<'_, 'c> {
    fn put<'a>(&mut self, entry: &Entry<'_, 'c>, row: &impl Cite, supports: impl IntoIterator<Item = Supports<'a>>) {
        let catalog = self.request.catalog;
        let address = std::ptr::from_ref(row).addr();
        let (_, known) = self.facts.entry(address).or_insert_with(|| (catalog.cite(row), Vec::new()));
        supports.into_iter().for_each(|one| entry.spell(one, known));
    }

    /// Patch releases of Python, and what others bring as source.
    fn brought(&mut self, entry: &Entry<'_, 'c>) {
        let (target, catalog) = (entry.target, self.request.catalog);
        let builds = target.builds.iter().map(|build| (&build.package, &build.version));
        for (package, version) in builds.chain(target.companions.iter().map(|one| (&one.package, &one.version))) {
            if let Some(row) = target.python.and_then(|line| catalog.python_patch(package, version, line)) {
                self.put(entry, row, [Stack("python"), Stack(package)]);
            }
        }
        for (by, row) in sources::brought(catalog, target) {
            self.put(entry, row, [Stack(&by.package)]);
            if let Some((built, _)) = catalog.source_build(row) {
                self.put(entry, built, [Stack(&by.package)]);
            }
        }
    }

    /// Frameworks, what follows them, and the libraries below.
    fn stack(&mut self, entry: &Entry<'_, 'c>) {
        let target = entry.target;
        for build in &target.builds {
            let is_there = |name: &&str| build.part(name).is_some() && (*name != TRITON || target.triton.is_some());
            let parts = ["cudnn", "nccl", TRITON].into_iter().filter(is_there).map(Stack);
            let gpu = (!target.gpus.is_empty()).then_some(Target("gpu"));
            if let Some(row) = known(self.request.catalog, build) {
                self.put(entry, row, [Stack(&build.package)].into_iter().chain(parts).chain(gpu));
            }
            if !build.expected_of(target.python).is_empty() {
                self.expected.insert(std::ptr::from_ref(*build).addr());
            }
            if let Some(toolkit) = self.request.catalog.toolkit_of(build) {
                self.put(entry, toolkit, [Stack("cuda")]);
            }
        }
        let catalog = self.request.catalog;
        for (companion, finished) in target.companions.iter().zip(&target.finished) {
            self.put(entry, *companion, [Stack(&companion.package)]);
            if variants::unseen(catalog, target, companion).is_some() {
                self.unseen.insert(std::ptr::from_ref(*companion).addr());
            }
            if let Some(finished) = finished {
                self.put(entry, finished.wheel, [Stack(&companion.package)]);
            }
            let compiled = finished.is_none_or(|finished| finished.use_of != Use::Taken);
            if let Some((row, _)) = catalog.source_build(companion).filter(|_| compiled) {
                self.put(entry, row, [Stack(&companion.package)]);
            }
            for other in held::left_open(self.request.problem, target, companion) {
                for row in [Some(other.newest), other.before].into_iter().flatten() {
                    self.put(entry, row, [Stack(&companion.package)]);
                }
            }
        }
        self.brought(entry);
        self.ordinary(entry);
        let pythons = self.request.catalog.pythons.iter();
        if let Some(row) = pythons.into_iter().find(|row| target.python == Some(&row.version)) {
            self.put(entry, row, [Stack("python")]);
        }
        if let Some(row) = target.cudnn {
            self.put(entry, row, [Stack("cudnn")]);
        }
        if let Some(row) = target.nccl {
            self.put(entry, row, [Stack("nccl")]);
        }
        if let Some(row) = target.cuda {
            self.put(entry, row, [Stack("cuda")]);
        }
        if let Some(pieces) = target.pieces.as_ref().filter(|pieces| pieces.bring_runtime()) {
            self.put(entry, pieces.toolkit, [Stack("cuda")]);
        }
    }

    /// What decides of ordinary packages, and those with the module of a locked one.
    fn ordinary(&mut self, entry: &Entry<'_, 'c>) {
        let locked = entry.target.locked();
        let beside = held::all_beside(self.request.problem, entry.target, &self.request.packages);
        for (row, of) in ordinary::deciding(self.request.problem, &beside, &self.request.packages) {
            self.put(entry, row, [Stack(&of)]);
        }
        let followers = followers(self.request.problem, entry.target, &self.request.packages);
        for one in followers.into_iter().filter(|one| one.going.is_none()) {
            self.put(entry, one.row, [Stack(TORCH)]);
        }
        for one in doubled(self.request.problem, &locked, &self.request.packages) {
            self.put(entry, one.row, [Stack(&one.locked.0)]);
            if let By::Ordinary(_, row) = &one.by {
                self.put(entry, *row, [Stack(&one.locked.0)]);
            }
        }
    }

    /// Where it runs and is compiled: GPU, OS, image, toolkit.
    fn place(&mut self, entry: &Entry<'_, 'c>) {
        let (asked, target, catalog) = (entry.asked, entry.target, self.request.catalog);
        for row in asked.named_gpus().iter().filter_map(|gpu| gpu.row) {
            self.put(entry, row, [Target("gpu")]);
        }
        if let Some(row) = asked.os {
            self.put(entry, row, [Target("os")]);
        }
        if let Some(row) = target.toolkit {
            let clang = asked.clang.map(|_| Target("clang"));
            self.put(entry, row, [Target("toolkit")].into_iter().chain(clang));
        }
        if asked.kernel_module.is_some() {
            for gpu in asked.named_gpus() {
                for row in modules::of_gpu(catalog, gpu) {
                    self.put(entry, row, [Target("kernel-module")]);
                }
            }
        }
        for row in services::of_target(catalog, asked, target.driver.as_ref().map(|driver| &driver.version)) {
            self.put(entry, row, [Target("requires")]);
        }
        if let Some(row) = asked.compat {
            self.put(entry, row, [Target("compat")]);
        }
        for build in target.builds.iter().filter(|_| target.toolkit.is_some()) {
            if let Some(row) = self.request.catalog.extension_of(build) {
                self.put(entry, row, [Target("arch-list"), Target("toolkit")]);
            }
        }
        for image in target.image.iter().chain(&target.runtime_image) {
            self.put(entry, *image, [Target("image")]);
            let id = image.require.as_ref().map(|require| format!("{require}@{}", target.arch));
            let requires = catalog.image_requires.iter();
            if let Some(row) = requires.into_iter().find(|row| id.as_deref() == Some(&*row.id)) {
                self.put(entry, row, [Target("driver"), Target("image")]);
            }
        }
    }

    /// The driver: the release named, its branch, and what stands before it.
    fn driver(&mut self, entry: &Entry<'_, 'c>) {
        let Some(driver) = &entry.target.driver else { return };
        let (catalog, key) = (self.request.catalog, Target("driver"));
        self.put(entry, driver.branch, [key]);
        if let Some(compat) = driver.compat {
            self.put(entry, compat, [key]);
        }
        let minimum = entry.target.minimum.as_ref().filter(|_| !entry.asked.has_unnumbered_driver());
        if let Some(row) = minimum.and_then(|minimum| catalog.driver(minimum)) {
            self.put(entry, row, [key]);
        }
        let mut isas: Vec<Version> = Vec::new();
        if entry.target.gpus.iter().any(|gpu| gpu.coverage == Some(Coverage::Jit)) {
            let builds = entry.target.builds.iter().filter_map(|build| self.request.catalog.toolkit_of(build));
            isas.extend(builds.chain(entry.target.toolkit).map(|row| row.ptx_isa));
        }
        isas.extend(self.needs_of_packages(entry).filter_map(|need| match need {
            DriverNeed::Ptx(isa) => Some(isa),
            _ => None,
        }));
        for row in catalog.ptx_isas.iter().filter(|row| isas.contains(&row.isa)) {
            self.put(entry, row, [key]);
        }
    }

    /// What the packages of a target and its image need of its driver.
    fn needs_of_packages(&self, entry: &Entry<'_, 'c>) -> impl Iterator<Item = DriverNeed> + use<> {
        let off = self.request.off_at(&entry.asked.name);
        entry.target.driver_needs(self.request.problem, &entry.asked.machine, &off).into_iter()
    }

    /// The rules of the catalog that speak of what was chosen.
    fn rules(&mut self, entry: &Entry<'_, 'c>) {
        let (asked, target) = (entry.asked, entry.target);
        let line = |build: &&Build| build.line();
        let mut lines: Vec<Version> = target.builds.iter().filter_map(line).collect();
        lines.extend(target.toolkit.map(|row| row.version.prefix(2)));
        lines.extend(self.needs_of_packages(entry).filter_map(|need| match need {
            DriverNeed::Line(line, _) => Some(line),
            _ => None,
        }));
        lines.sort_unstable();
        lines.dedup();
        let cuda = Stack(target.builds.iter().find(|build| !build.is_cpu()).map_or("cuda", |build| &build.package));
        for gpu in asked.named_gpus() {
            self.about(entry, Subject::Gpu, &gpu.cc_version, Subject::Cuda, cuda);
            let rules = self.request.rules.between(Subject::Gpu, Subject::Driver);
            let of_it = rules.filter(|rule| rule.speaks_of_gpu(gpu) && self.request.holds(&rule.row.id, &asked.name));
            of_it.for_each(|rule| self.put(entry, rule.row, [Target("driver")]));
        }
        if target.driver.is_some() {
            for line in &lines {
                self.about(entry, Subject::Cuda, line, Subject::Driver, Target("driver"));
            }
        }
        if !asked.named_gpus().is_empty() {
            let bundled = target.builds.iter().filter_map(|build| build.cudnn.as_ref());
            let cudnns: Vec<Version> = bundled.chain(target.cudnn.map(|row| &row.version)).cloned().collect();
            for cudnn in &cudnns {
                self.about(entry, Subject::Cudnn, cudnn, Subject::Gpu, Stack("cudnn"));
            }
        }
        if let Some(toolkit) = target.toolkit {
            self.about(entry, Subject::Toolkit, &toolkit.version, Subject::Glibc, Target("toolkit"));
            self.about(entry, Subject::Toolkit, &toolkit.version, Subject::Gcc, Target("toolkit"));
            for build in &target.builds {
                let compiler = if asked.clang.is_some() { Subject::Clang } else { Subject::Gcc };
                let rules = self.request.rules.of_package(&build.package, compiler);
                let about = rules.about(&build.version).filter(|rule| rule.speaks_of_toolkit(&toolkit.version));
                about.for_each(|needs| self.put(entry, needs.row, [Stack(&build.package)]));
            }
        }
        for build in &target.builds {
            self.of_build(entry, build);
        }
        for companion in &target.companions {
            self.of_companion(entry, companion);
            self.of_driver(entry, companion);
        }
    }

    /// The rules about a framework, of the GPUs of its target and of the toolkit whose parts pip installs for it.
    fn of_build(&mut self, entry: &Entry<'_, 'c>, build: &Build) {
        let (request, asked) = (self.request, entry.asked);
        let of = |object: Subject| request.rules.of_package(&build.package, object);
        let has_gpu = !asked.named_gpus().is_empty();
        let of_gpus: Vec<_> = of(Subject::Gpu).about(&build.version).filter(|_| has_gpu).collect();
        let pieces = of(Subject::Toolkit);
        let of_pieces = pieces.iter().filter(|rule| heeded::bears_on_pieces(rule, asked, build));
        let of_pieces = of_pieces.filter(|_| entry.target.pieces.is_some());
        for rule in of_gpus.into_iter().chain(of_pieces) {
            if request.holds(&rule.row.id, &asked.name) {
                self.put(entry, rule.row, [Stack(&build.package)]);
            }
        }
    }

    /// The rules about a package, of the things that its target has.
    fn of_companion(&mut self, entry: &Entry<'_, 'c>, row: &Companion) {
        let (request, target) = (self.request, entry.target);
        let is_there = |object: Subject| heeded::bears(request, entry.asked, row, object, target.toolkit.is_some());
        let line = target.build(&row.framework).and_then(|build| build.line());
        let about = request.rules.all().filter(|rule| rule.row.package.as_deref() == Some(&*row.package));
        for needs in about.filter(|rule| is_there(rule.row.object)) {
            let gpus = entry.asked.named_gpus().iter().map(|gpu| &gpu.cc_version);
            let speaks = needs.speaks_of(&row.version, gpus, request.archs());
            let speaks = speaks && needs.binds(row);
            if speaks && needs.speaks_of_line(line.as_ref()) && request.holds(&needs.row.id, &entry.asked.name) {
                self.put(entry, needs.row, [Stack(&row.package)]);
            }
        }
        for (rule, _) in parts::broken(request, entry.asked, target, row) {
            self.put(entry, rule.row, [Stack(&row.package)]);
        }
    }

    /// The rules about the driver of its target, of a package and of what comes along with it.
    fn of_driver(&mut self, entry: &Entry<'_, 'c>, row: &Companion) {
        if entry.asked.named_gpus().is_empty() || entry.target.driver.is_none() {
            return;
        }
        let request = self.request;
        for need in driver::needs_of_companion(request.problem, row, &entry.asked.machine) {
            let DriverNeed::Rule(id) = need else { continue };
            let rule = request.rules.of_id(id).filter(|rule| request.holds(&rule.row.id, &entry.asked.name));
            rule.into_iter().for_each(|rule| self.put(entry, rule.row, [Stack(&row.package)]));
        }
    }

    fn about(
        &mut self,
        entry: &Entry<'_, 'c>,
        subject: Subject,
        of: &Version,
        object: Subject,
        supports: Supports<'_>,
    ) {
        let request = self.request;
        for needs in request.rules.about(subject, of, object) {
            if request.holds(&needs.row.id, &entry.asked.name) {
                self.put(entry, needs.row, [supports]);
            }
            let floor = windows::floor(request.catalog, needs);
            let of_windows = entry.asked.windows_driver && (subject, object) == (Subject::Cuda, Subject::Driver);
            if let Some(row) = floor.filter(|_| of_windows) {
                self.put(entry, row, [supports]);
            }
        }
    }

    fn close(self) -> Vec<FactLock> {
        let (expected, unseen) = (self.expected, self.unseen);
        let facts = self.facts.into_iter().map(|(row, (Fact { id, source, digest, .. }, mut supports))| {
            supports.sort_unstable();
            supports.dedup();
            let grades = [(&expected, Grade::EXPECTED), (&unseen, Grade::UNSEEN)];
            let grade = grades.into_iter().find(|(rows, _)| rows.contains(&row)).map(|(_, grade)| grade.to_string());
            FactLock { id, source, digest, supports, grade }
        });
        let mut facts: Vec<FactLock> = facts.collect();
        facts.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        facts
    }
}

/// The catalog's row of a build: of a nightly that of the release by which it is judged. A build of one's own is what the
/// inputs say.
fn known<'c>(catalog: &'c Catalog, build: &'c Build) -> Option<&'c Build> {
    if !build.is_laid() {
        return Some(build);
    }
    let release = own::precedes(&build.version);
    let of_release = |row: &&Build| {
        let same = row.variant == build.variant && row.arch == build.arch;
        same && row.version == release && row.systems.is_empty() && !row.is_laid()
    };
    catalog.builds.of(&build.package).iter().find(of_release).filter(|_| build.is_nightly())
}
