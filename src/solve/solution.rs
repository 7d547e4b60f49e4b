//! The answer: what was chosen for each target, read back from the selection in the catalog's terms.
//!
//! What depends on choices already made is looked up here rather than solved for: which toolkit has the wheel's
//! own minor, which image the wheel's own line, which driver is the oldest that suffices.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use crate::catalog::rows::{Build, Companion, Cudnn, Image, Nccl, Subject, Toolkit};
use crate::coverage::{Coverage, covers};
use crate::spec::Share;
use crate::types::{ArchEntry, ArchList, Cc, CpuArch, Version, distinct};

use super::compile::{Choice, Class, Plan};
use super::demand::{self, Bearing};
use super::driver::{self, DriverNeed};
use super::driver_row::DriverRow;
use super::engine::Selection;
use super::finished::{self, Finished};
use super::local::{Place, local_choice, settled};
use super::ordinary::Locked;
use super::pieces::{self, Beside, Pieces};
use super::reading::Reading;
use super::release::Release;
use super::request::{DriverRequest, ImageRequest, Request, TargetRequest};
use super::rowset::RowSet;
use super::rules::law;
use super::runtime_image::runtime_sibling;
use super::values::Archs;
use super::wants::{self, Want};
use super::{arch_lists, brought, by_pip, coinstall, excepted, fits, image, installed, labelled};

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Solution<'c> {
    /// Each target's part, in name order.
    pub targets: Vec<TargetAnswer<'c>>,
}

impl<'c> Solution<'c> {
    /// The part of the target of this name.
    pub fn target(&self, name: &str) -> Option<&TargetAnswer<'c>> {
        let found = self.targets.binary_search_by(|target| (*target.name).cmp(name));
        found.ok().map(|at| &self.targets[at])
    }
}

/// What was chosen for one target. Targets of one class share it.
#[derive(Debug, Clone)]
pub struct TargetAnswer<'c> {
    /// The target's name.
    pub name: String,
    /// What was chosen for it and all like it.
    pub chosen: Arc<TargetSolution<'c>>,
}

impl<'c> Deref for TargetAnswer<'c> {
    type Target = TargetSolution<'c>;

    fn deref(&self) -> &TargetSolution<'c> {
        &self.chosen
    }
}

/// What was chosen for a class of targets.
#[derive(Debug, Clone)]
pub struct TargetSolution<'c> {
    /// Its platform.
    pub arch: CpuArch,
    /// The framework builds it installs.
    pub builds: Vec<&'c Build>,
    /// The packages that follow them.
    pub companions: Vec<&'c Companion>,
    /// The finished wheels beside those of them that come as source, by their place.
    pub finished: Vec<Option<Finished<'c>>>,
    /// The Python line.
    pub python: Option<&'c Version>,
    /// cuDNN of the system, where no build brings its own; or the one to install where builds leave it open.
    pub cudnn: Option<&'c Cudnn>,
    /// NCCL of the system, likewise.
    pub nccl: Option<&'c Nccl>,
    /// The cuDNN and NCCL that pip installs, where builds leave them open or nothing else brings them.
    pub by_pip: Vec<(String, Version)>,
    /// The CUDA libraries that builds leave open.
    pub pieces: Option<Pieces<'c>>,
    /// The triton that comes along.
    pub triton: Option<&'c Version>,
    /// A cuDNN that is installed there, which builds that bring none load.
    pub installed_cudnn: Option<Version>,
    /// The CUDA release that runs, where no build brings its own.
    pub cuda: Option<&'c Toolkit>,
    /// The toolkit that compiles.
    pub toolkit: Option<&'c Toolkit>,
    /// The image.
    pub image: Option<&'c Image>,
    /// With something to compile, the smaller image to run in.
    pub runtime_image: Option<&'c Image>,
    /// The driver it was judged at: what the hosts have, else the minimum.
    pub driver: Option<DriverRow<'c>>,
    /// Of each other driver that is listed for it the oldest that suffices.
    pub others: Vec<DriverRow<'c>>,
    /// The oldest driver that suffices.
    pub minimum: Option<Version>,
    /// The branches after its own on whose drivers the image is not started.
    pub except: Vec<Version>,
    /// Whether every CUDA line in it is within the driver's own.
    pub native_driver: bool,
    /// How each GPU is reached.
    pub gpus: Vec<GpuAnswer>,
    /// What to compile for.
    pub arch_list: Option<ArchList>,
}

/// How a GPU is reached.
#[derive(Debug, Clone)]
pub struct GpuAnswer {
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub cc: Cc,
    /// By what code; none if nothing in the stack holds GPU code, or nobody knows.
    pub coverage: Option<Coverage>,
}

impl<'c> Solution<'c> {
    /// Reads a selection.
    pub fn read(plan: &Plan<'_, 'c>, selection: &Selection) -> Self {
        let (request, choice) = (plan.request, &*settled(plan, selection.rows()));
        let mut by_class: Vec<TargetSolution> = Vec::new();
        for at in 0..plan.classes.len() {
            by_class.push(read_class(plan, at, choice));
        }
        for group in &plan.groups {
            let beside: Vec<Beside> =
                group.classes.iter().map(|&class| beside(plan, class, &by_class[class])).collect();
            let Some(pieces) = pieces::choose(plan, group, &beside) else { continue };
            for &class in &group.classes {
                by_class[class].take_pieces(&pieces);
                by_class[class].arch_list = arch_list(plan, class, &by_class[class]);
            }
        }
        if request.share == Share::Stack && request.archs() == Archs::Free {
            share_arch_list(&mut by_class);
        }
        let mut targets: Vec<TargetAnswer> = Vec::new();
        for (class, chosen) in plan.classes.iter().zip(by_class.into_iter().map(Arc::new)) {
            for &member in &class.members {
                let target = &request.targets[member];
                targets.push(TargetAnswer { name: target.name.to_string(), chosen: chosen.clone() });
            }
        }
        targets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Solution { targets }
    }

    /// Positions of the targets that share one choice each, in the order of their first.
    pub fn alike(&self) -> Vec<Vec<usize>> {
        let mut at: HashMap<*const TargetSolution, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (position, target) in self.targets.iter().enumerate() {
            let group = *at.entry(Arc::as_ptr(&target.chosen)).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(position);
        }
        groups
    }

    /// The target that speaks for all. Those that share one stack may still differ in what lies below it (the release of a CUDA
    /// line, the parts of another platform's wheel): there the first that compiles or has an image does.
    pub fn lead(&self) -> Option<&TargetAnswer<'c>> {
        let first_of = |is: &dyn Fn(&TargetSolution<'_>) -> bool| self.targets.iter().find(|one| is(&one.chosen));
        let leads = |chosen: &TargetSolution<'_>| {
            chosen.driver.is_some() && (chosen.toolkit.is_some() || chosen.image.is_some())
        };
        first_of(&leads).or_else(|| first_of(&|chosen| chosen.driver.is_some())).or(self.targets.first())
    }

    /// What all targets have in common.
    pub fn common_stack(&self, shared: bool) -> BTreeMap<String, String> {
        let mut common = self.lead().map_or_else(BTreeMap::new, |lead| lead.stack());
        if !shared {
            for group in self.alike() {
                let stack = self.targets[group[0]].stack();
                common.retain(|name, version| stack.get(name) == Some(version));
            }
        }
        common
    }
}

fn read_class<'c>(plan: &Plan<'_, 'c>, at: usize, choice: &[usize]) -> TargetSolution<'c> {
    let (request, class) = (plan.request, &plan.classes[at]);
    let group = plan.groups.iter().find(|group| group.classes.contains(&at)).expect("every class has a group");
    let releases: Vec<&Release> = group.releases.iter().map(|release| release.of(choice)).collect();
    let builds: Vec<&Build> = releases.iter().filter_map(|release| release.on(class.target.platform)).collect();
    let cuda = group.cuda(at).map(|cuda| *cuda.of(choice));
    let python = plan.python.as_ref().map(|python| &python.of(choice).version);
    let Place { toolkit, image, driver, others, .. } = local_choice(plan, at, choice, &releases);
    let arch = class.target.arch;
    let companions = group.companions_on(arch, choice).into_iter();
    let labelled = |row| labelled::labelled(request.catalog, row, &builds, arch, python);
    let mut companions: Vec<&Companion> = companions.map(labelled).collect();
    companions.extend(brought::files(request.catalog, &companions, &builds, arch));
    // What compiles kernels when they are first used needs the compiler where it runs.
    let compiles = companions.iter().any(|row| fits::compiled_when_used(request.catalog, row, arch).next().is_some());
    let mut answer = TargetSolution {
        arch,
        finished: Vec::new(),
        companions,
        python,
        cudnn: pick(&group.cudnn, choice).filter(|_| leaves_open(&builds)),
        nccl: pick(&group.nccl, choice).filter(|_| leaves_open(&builds)),
        by_pip: Vec::new(),
        pieces: None,
        triton: fits::triton_of(request.catalog, &builds, python),
        installed_cudnn: class.target.cudnn,
        cuda,
        toolkit,
        runtime_image: image
            .filter(|_| request.build.is_some() && !compiles)
            .and_then(|image| runtime_sibling(request, image, class.target)),
        image,
        driver,
        others,
        minimum: None,
        except: Vec::new(),
        native_driver: true,
        gpus: Vec::new(),
        arch_list: None,
        builds,
    };
    if answer.builds.is_empty() && !class.target.is_cpu() {
        let wants = wants(request, &answer.companions, arch);
        let locked = plan.locked.get("nccl").map(|locked| &**locked);
        let loads = |needs| class.machine().loads(needs, &class.off);
        answer.nccl = by_pip::nccl(request.catalog, &wants, request.nccl.as_ref(), locked, loads).or(answer.nccl);
    }
    answer.by_pip = pip_installs(request, &answer);
    answer.minimum = minimum_driver(plan, at, choice, &answer);
    let judged = answer.driver.as_ref().filter(|judged| judged.added().is_none() && !judged.windows);
    if let (Some(image), Some(minimum), Some(_)) = (answer.image, answer.minimum, judged) {
        answer.except = excepted::branches(request, class, image, &minimum);
    }
    // Nothing that was chosen asks for a driver, or what asks for one was set aside: the hosts' own is still what runs.
    if answer.minimum.is_none() && !class.target.pins_driver() {
        answer.driver = None;
    }
    answer.native_driver = answer.driver.as_ref().is_none_or(|driver| answer.is_native(driver));
    answer.arch_list = arch_list(plan, at, &answer);
    answer.gpus = gpus(request, class, &answer);
    let beside = |row: &&Companion| answer.finished_wheel(request, &class.target.reading, row);
    answer.finished = answer.companions.iter().map(beside).collect();
    answer
}

/// The cuDNN and NCCL that pip installs for what was chosen, and where no framework pins them what packages ask for of CUDA's
/// other libraries: those of the release that was chosen, not the newest of the day.
fn pip_installs<'c>(request: &Request<'c>, chosen: &TargetSolution<'c>) -> Vec<(String, Version)> {
    let TargetSolution { builds, companions, cudnn, nccl, installed_cudnn, .. } = chosen;
    let has_cudnn = installed_cudnn.is_some();
    let chosen_libraries = by_pip::Chosen { builds, companions, cudnn: *cudnn, nccl: *nccl, has_cudnn };
    let mut installs = by_pip::libraries(request.catalog, chosen_libraries);
    if let Some(cuda) = chosen.cuda.filter(|_| builds.is_empty()) {
        let mut wants = wants(request, companions, chosen.arch);
        wants.extend(of_parts(request, companions));
        installs.extend(by_pip::components(request.problem, &cuda.version, &wants));
    }
    installs
}

/// What packages ask for of others, or what they bring along does.
fn wants<'c>(request: &Request<'c>, companions: &[&'c Companion], arch: CpuArch) -> Vec<Want<'c>> {
    let problem = request.problem;
    let own = companions.iter().flat_map(|row| problem.asked_with_pinned(row, &[arch])).map(|(_, want)| want);
    let along = companions.iter().flat_map(|row| problem.untold_along(row));
    own.chain(along.map(|asks| (&*asks.of, &*asks.needs))).collect()
}

/// What parts of packages need of pieces of the toolkit.
fn of_parts<'c>(request: &Request<'c>, companions: &[&'c Companion]) -> Vec<Want<'c>> {
    let asks = companions.iter().flat_map(|row| request.problem.pieces_of_parts(row));
    asks.map(|asks| (&*asks.of, &*asks.needs)).collect()
}

/// What extensions for a class are compiled for: with the toolkit there, or the one whose libraries are installed.
fn arch_list(plan: &Plan<'_, '_>, class: usize, chosen: &TargetSolution<'_>) -> Option<ArchList> {
    let installed = chosen.pieces.as_ref().filter(|pieces| pieces.bring_runtime());
    let of_installed = installed.and_then(|pieces| {
        let mut toolkits = plan.request.catalog.toolkits.iter();
        toolkits.find(|row| row.version == pieces.toolkit.version)
    });
    let toolkit = chosen.toolkit.or(chosen.cuda).or(of_installed);
    arch_lists::arch_list(plan.request, &plan.classes[class], toolkit, &chosen.builds)
}

/// What the CUDA libraries of a class must go with.
fn beside<'c>(plan: &Plan<'_, 'c>, class: usize, chosen: &TargetSolution<'c>) -> Beside<'c> {
    let pinned = chosen.driver.as_ref().filter(|_| plan.classes[class].target.pins_driver());
    let driver_cuda = pinned.and_then(|driver| driver.branch.cuda);
    let compiler = chosen.toolkit.map(|toolkit| toolkit.version.prefix(2));
    let read = |wants: Vec<Want<'c>>| {
        let asks = wants.into_iter().filter(|(of, _)| of.starts_with("nvidia-"));
        asks.filter_map(|(of, range)| Some((of, wants::range(range)?))).collect()
    };
    let asks = read(wants(plan.request, &chosen.companions, chosen.arch));
    let of_parts = read(of_parts(plan.request, &chosen.companions));
    let around = chosen.around();
    Beside { builds: chosen.builds.clone(), arch: chosen.arch, driver_cuda, compiler, around, asks, of_parts }
}

/// Whether no build brings a cuDNN of its own: some ask for a least one, or there are none. What one holds inside its
/// wheel is nothing that pip has for another.
fn leaves_open(builds: &[&Build]) -> bool {
    let by_pip = builds.iter().any(|build| coinstall::leaves_open(build));
    let inside = |build: &Build| by_pip && build.pins.is_none();
    let brings = |build: &&Build| build.cudnn.is_some() && !coinstall::takes_newer(build) && !inside(build);
    let open = |build: &&Build| coinstall::takes_newer(build);
    builds.is_empty() || builds.iter().any(open) && !builds.iter().any(brings)
}

fn pick<'c, T>(choices: &Option<Choice<&'c T>>, choice: &[usize]) -> Option<&'c T> {
    choices.as_ref().map(|choices| *choices.of(choice))
}

/// Whether every rule that told which driver a CUDA line needs has been retracted.
fn is_unstated(request: &Request<'_>, need: DriverNeed, retracted: &RowSet) -> bool {
    let DriverNeed::Line(line, _) = need else { return false };
    let mut rules = request.rules.about(Subject::Cuda, &line, Subject::Driver).peekable();
    rules.peek().is_some() && rules.all(|rule| retracted.has(rule.id))
}

/// The oldest driver that suffices for what was chosen, whatever the hosts have.
fn minimum_driver<'c>(
    plan: &Plan<'_, 'c>,
    at: usize,
    choice: &[usize],
    answer: &TargetSolution<'c>,
) -> Option<Version> {
    let (request, class, judged) = (plan.request, &plan.classes[at], answer.driver.as_ref()?);
    let problem = request.problem;
    let needs = needs_on(plan, at, choice, answer);
    let asks_nothing = needs.iter().all(|need| *need == DriverNeed::Nothing) && answer.image.is_none();
    // What computes on the CPU asks for no driver, whichever its host has; a GPU that is named does.
    if asks_nothing && (!class.target.pins_driver() || class.machine().kinds.is_empty()) {
        return None;
    }
    // What an overlay has retracted is no rule any more: where nothing else tells what a line needs, nobody knows.
    let retracted = request.rules.ids(request.catalog.retractions.iter().map(|one| &*one.rule));
    let retracted = retracted.filtered(&|rule| class.off.has(rule));
    if needs.iter().any(|need| is_unstated(request, *need, &retracted)) {
        return None;
    }
    let by_every_rule: Vec<_> = needs.iter().map(|need| driver::met_by(problem, *need, &retracted)).collect();
    let machine = class.machine();
    let demand = answer.image.map(|image| demand::of_image(request.catalog, Bearing::of(&class.target.reading), image));
    let demand = demand.filter(|_| !class.off.has(law::id::IMAGE_REQUIRE));
    let starts = demand.map(|demand| image::starts_on(problem, machine, demand));
    let met: Vec<_> = needs.into_iter().map(|need| driver::met_by(problem, need, &class.off)).collect();
    let suffices =
        |row: &DriverRow<'c>| met.iter().all(|met| met(row)) && starts.as_ref().is_none_or(|starts| starts(row));
    let oldest = |rows: Vec<DriverRow<'c>>| rows.into_iter().find(|row| suffices(row)).map(|row| row.version);
    let minimum = match judged.added() {
        None => {
            let free = Reading { driver: DriverRequest::Free(None), ..Reading::clone(&class.target.reading) };
            let free = problem.machine(free);
            let drivers = free.drivers(problem);
            let admitted = drivers.admitted(&class.off, false);
            oldest(admitted.rows().map(|row| drivers.rows[row].clone()).collect())
        }
        // Each branch has a patch level of its own, and between those that the package names lie others that it does not.
        Some(compat) => {
            let of_branch = |row: &DriverRow| row.version.major() == judged.version.major();
            oldest(driver::with(problem, machine, &class.off, compat).into_iter().filter(of_branch).collect())
        }
    };
    let minimum = minimum.filter(|minimum| *minimum <= judged.version);
    let minimum = minimum.or_else(|| oldest(driver::of_generation(problem, machine, &class.off)));
    // What an image that is written has run by itself is no reason to refuse the hosts, but they do not run it.
    let is_beyond =
        answer.own_cuda(problem, machine).is_some_and(|own| !driver::met_by(problem, own.need, &class.off)(judged));
    let minimum = minimum.unwrap_or(judged.version);
    let minimum = if is_beyond { minimum } else { minimum.min(judged.version) };
    let stated = DriverRow::plain(request.catalog, minimum, judged.windows).filter(|_| judged.added().is_none());
    let stated = stated.map(|row| installed::beside(machine, row));
    let overridden = stated.is_some_and(|row| !by_every_rule.iter().all(|met| met(&row)));
    (!overridden).then_some(minimum)
}

/// What each part of a choice needs of a driver.
fn needs_on<'c>(plan: &Plan<'_, 'c>, at: usize, choice: &[usize], answer: &TargetSolution<'c>) -> Vec<DriverNeed> {
    let (request, machine) = (plan.request, plan.classes[at].machine());
    let group = plan.groups.iter().find(|group| group.classes.contains(&at)).expect("every class has a group");
    let of_releases = group.releases.iter().map(|release| machine.needs_of(release.framework).of(choice[release.var]));
    let list = request.build.as_ref().and_then(|build| build.arch_list.as_ref());
    let of_toolkit = answer.toolkit.map(|toolkit| machine.need_of_toolkit(toolkit, list));
    let of_packages = answer.driver_needs(request.problem, machine, &plan.classes[at].off);
    of_releases.chain(of_toolkit).chain(of_packages).collect()
}

/// One stack is compiled once: every target's list holds the architectures of all, where its toolkit knows them.
fn share_arch_list(classes: &mut [TargetSolution<'_>]) {
    let lists = classes.iter().filter_map(|answer| answer.arch_list.as_ref());
    let ptx = lists.clone().any(|list| list.ptx().next().is_some());
    let all = distinct(lists.flat_map(ArchList::sass));
    let knows = |answer: &TargetSolution| {
        answer.toolkit.is_none_or(|toolkit| all.iter().all(|arch| toolkit.sass.contains(arch)))
    };
    if all.is_empty() || !classes.iter().all(knows) {
        return;
    }
    let highest = *all.last().expect("not empty");
    let shared = ArchList::new(all.iter().map(|&arch| ArchEntry { arch, sass: true, ptx: ptx && arch == highest }));
    for answer in classes.iter_mut().filter(|answer| !answer.gpus.is_empty() || answer.arch_list.is_some()) {
        answer.arch_list = Some(shared.clone());
    }
}

fn gpus(request: &Request<'_>, class: &Class<'_, '_>, answer: &TargetSolution<'_>) -> Vec<GpuAnswer> {
    let coverage = |cc: Cc| {
        let gpu_builds: Vec<&&Build> = answer.builds.iter().filter(|build| !build.is_cpu()).collect();
        if !gpu_builds.is_empty() {
            let each: Option<Vec<Coverage>> =
                gpu_builds.iter().map(|build| fits::coverage(build, request.catalog.toolkit_of(build), cc)).collect();
            return each?.into_iter().max();
        }
        let toolkit = answer.toolkit?;
        let tegra = fits::tegra(Some(toolkit));
        Some(covers(answer.arch_list.as_ref()?, cc, tegra))
    };
    let named = class.target.named_gpus().iter();
    named.map(|gpu| GpuAnswer { name: gpu.name.clone(), cc: gpu.cc, coverage: coverage(gpu.cc) }).collect()
}

impl<'c> TargetSolution<'c> {
    /// The build of a framework, where one was chosen.
    pub fn build(&self, package: &str) -> Option<&'c Build> {
        fits::build_of(&self.builds, package)
    }

    /// The packages and Python, each with the release that is chosen.
    pub fn locked(&self) -> Vec<Locked> {
        let builds = self.builds.iter().map(|build| (build.package.to_string(), build.version));
        let companions = self.companions.iter().map(|row| (row.package.to_string(), row.version));
        let python = self.python.map(|python| ("python".to_string(), *python));
        builds.chain(companions).chain(python).collect()
    }

    /// The finished wheel beside one of its packages.
    pub fn finished_of(&self, package: &str) -> Option<Finished<'c>> {
        let mut all = self.companions.iter().zip(&self.finished);
        all.find(|(row, _)| *row.package == *package).and_then(|(_, finished)| *finished)
    }

    /// The finished wheel beside a package that comes as source; none where somebody insists on what is compiled for.
    pub fn finished_wheel(&self, request: &Request<'c>, of: &Reading<'_>, row: &Companion) -> Option<Finished<'c>> {
        let glibc = of.glibc.or_else(|| request.catalog.os_of_image(self.image?)?.glibc);
        let gpus: Vec<Cc> = self.gpus.iter().map(|gpu| gpu.cc).collect();
        finished::of_release(request.catalog, row, &self.builds, (of, glibc, &*gpus), self.python)
            .filter(|_| request.archs() == Archs::Free)
    }

    /// Has the libraries of a toolkit release installed, unless no build asks for any.
    fn take_pieces(&mut self, pieces: &Pieces<'c>) {
        if self.builds.iter().any(|build| build.pins.is_some()) {
            self.pieces = Some(pieces.clone());
            self.native_driver = self.driver.as_ref().is_none_or(|driver| self.is_native(driver));
        }
    }

    /// The image as a full reference; an image nobody could check is repeated as it was written.
    pub fn image_reference(&self, asked: &TargetRequest<'_>) -> Option<String> {
        match (&asked.image, self.image) {
            (_, Some(image)) => Some(format!("{}:{}", image.repository, image.tag)),
            (
                ImageRequest::Unchecked(image) | ImageRequest::UnseenTag(image) | ImageRequest::NoSuchTag(image),
                None,
            ) => Some(image.to_string()),
            _ => None,
        }
    }
}
