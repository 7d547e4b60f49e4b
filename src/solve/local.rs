//! What is chosen for each class of targets by itself once the stack is known: toolkit, image and driver.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::catalog::rows::{Build, Companion, Flavour, Image, Subject, TORCH, Toolkit};
use crate::types::{Specifier, Version};
use crate::warning::CompatFails;

use super::coinstall;
use super::compile::{Choice, Plan};
use super::driver_row::DriverRow;
use super::fits;
use super::image::{self, CudnnInside};
use super::in_image::{self, Brings, Cudnns, OwnCuda};
use super::machine::Machine;
use super::network::Var;
use super::ordinary::Locked;
use super::ordinary::coming::coming;
use super::release::Release;
use super::request::ImageRequest;
use super::rowset::RowSet;
use super::rules::Needs;

/// What is chosen for a class by itself.
pub(super) struct Place<'c> {
    pub(super) toolkit: Option<&'c Toolkit>,
    pub(super) image: Option<&'c Image>,
    pub(super) driver: Option<DriverRow<'c>>,
    /// The oldest of each other driver that is listed.
    pub(super) others: Vec<DriverRow<'c>>,
    /// What fails in the image though another tag might do.
    faults: usize,
}

/// Image, toolkit and driver of a class once the stack is known.
pub(super) fn local_choice<'c>(
    plan: &Plan<'_, 'c>,
    at: usize,
    choice: &[usize],
    releases: &[&Release<'c>],
) -> Place<'c> {
    place(plan, at, choice, releases).expect("the solver found a combination among these")
}

/// A selection with the CUDA of the system, where images follow it, that has least fail in them beside the packages that are
/// chosen.
pub(super) fn settled(plan: &Plan<'_, '_>, choice: &[usize]) -> Vec<usize> {
    let mut settled = choice.to_vec();
    for (classes, cuda) in plan.groups.iter().flat_map(|group| &group.cudas) {
        let faults = |choice: &[usize]| -> Option<usize> {
            classes.iter().map(|&at| Some(place(plan, at, choice, &[])?.faults)).sum()
        };
        let Some(mut least) = faults(&settled).filter(|faults| *faults > 0) else { continue };
        let open: Vec<Var> = classes.iter().flat_map(|&at| vars_of(plan, at)).collect();
        let mut others = plan.network.beside(cuda.var, &settled, &open);
        others.sort_by_cached_key(|&row| plan.network.order(cuda.var, row));
        for row in others {
            let mut other = settled.clone();
            other[cuda.var] = row;
            if let Some(faults) = faults(&other).filter(|faults| *faults < least) {
                (least, settled) = (faults, other);
            }
            if least == 0 {
                break;
            }
        }
    }
    settled
}

/// The variables of a class by itself.
fn vars_of(plan: &Plan<'_, '_>, at: usize) -> Vec<Var> {
    let local = &plan.locals[at];
    let (toolkit, image) = (local.toolkit.as_ref().map(|of| of.var), local.image.as_ref().map(|of| of.var));
    let driver = local.driver.as_ref().map(|of| of.var);
    let others = local.others.iter().map(|(_, of)| of.var);
    [toolkit, image, driver].into_iter().flatten().chain(others).collect()
}

/// The first combination that fits, images and toolkits nearest to the stack's line first.
fn place<'c>(plan: &Plan<'_, 'c>, at: usize, choice: &[usize], releases: &[&Release<'c>]) -> Option<Place<'c>> {
    let local = &plan.locals[at];
    let var_of_toolkit = local.toolkit.as_ref().map(|choices| choices.var);
    let var_of_image = local.image.as_ref().map(|choices| choices.var);
    let var_of_driver = local.driver.as_ref().map(|choices| choices.var);
    let free: Vec<Var> = [var_of_toolkit, var_of_image, var_of_driver].into_iter().flatten().collect();
    let others: Vec<Var> = local.others.iter().map(|(_, choices)| choices.var).collect();
    let open = vars_of(plan, at);
    let ranked = Ranked { plan, at, choice, releases, free: &open };
    let mut tried = choice.to_vec();
    let (toolkits, images, drivers) = (ranked.toolkits(), ranked.images(), ranked.drivers());
    // An image holds its toolkit.
    for image in each(&images) {
        let chosen = local.image.as_ref().zip(image).map(|(choices, row)| choices.rows[row]);
        let own = chosen.and_then(|image| Some((image, ranked.own_cuda(image)?)));
        for toolkit in each(&toolkits) {
            for driver in each(&ranked.running_first(&drivers, own)) {
                let picks = [(var_of_toolkit, toolkit), (var_of_image, image), (var_of_driver, driver)];
                for (var, row) in picks {
                    if let (Some(var), Some(row)) = (var, row) {
                        tried[var] = row;
                    }
                }
                let oldest = |(_, choices): &(Rc<Machine<'c>>, Choice<DriverRow<'c>>)| {
                    let rows = plan.network.beside(choices.var, &tried, &others).into_iter();
                    let rows = rows.map(|row| choices.rows[row].clone());
                    rows.min_by_key(|row| (ranked.driven(own, row).is_none(), row.version))
                };
                let goes = |&var: &Var| plan.network.goes_with(var, tried[var], &tried, &others);
                if !free.iter().all(goes) {
                    continue;
                }
                if let Some(others) = local.others.iter().map(oldest).collect() {
                    let driver = local.driver.as_ref().zip(driver).map(|(choices, row)| &choices.rows[row]);
                    return Some(Place {
                        faults: chosen.map_or(0, |image| ranked.faults(ranked.loading().as_ref(), image)),
                        toolkit: local.toolkit.as_ref().zip(toolkit).map(|(choices, row)| choices.rows[row]),
                        image: chosen,
                        driver: driver.map(|row| ranked.driven(own, row).unwrap_or_else(|| row.clone())),
                        others,
                    });
                }
            }
        }
    }
    None
}

/// What speaks against an image, what weighs most first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ImageRank<'c> {
    /// It does not hold the stack's torch, or holds one where the stack has none.
    other_torch: bool,
    /// How much of what runs in it fails.
    faults: usize,
    /// Its nvcc is not one that is asked for.
    nvcc_refused: bool,
    /// A package would not compile with its CUDA.
    stops_build: bool,
    /// On the stack's line, 0; before it, 1; after it, 2.
    side: u8,
    /// Its CUDA is later than the driver's own.
    beyond_driver: Option<bool>,
    /// After the stack's line the nearest counts; before it, the newest by rank.
    newer: Option<&'c Version>,
    /// It has no compiler, though one is needed.
    lacks_compiler: bool,
    /// It has no headers of the cuDNN that is compiled with.
    lacks_headers: bool,
    /// It has another cuDNN, which is worse than none.
    other_cudnn: bool,
    rank: (bool, usize),
}

/// What runs in the image of a class, whichever is chosen.
struct Loading<'a, 'c> {
    companions: Vec<&'c Companion>,
    /// Of each package that comes along with `[packages]`, the releases that may be installed.
    coming: Vec<Vec<&'c Companion>>,
    /// Every cuDNN beside the image's.
    cudnns: Cudnns<'a, 'c>,
    /// The drivers that it may run on, and the newest of them.
    drivers: RowSet,
    newest: Option<&'a DriverRow<'c>>,
}

/// What one warning counts.
const FAULT: usize = 2;

/// What may be chosen for a class beside a stack, best first.
struct Ranked<'a, 'q, 'c> {
    plan: &'a Plan<'q, 'c>,
    at: usize,
    choice: &'a [usize],
    releases: &'a [&'a Release<'c>],
    /// What is still open.
    free: &'a [Var],
}

impl<'c> Ranked<'_, '_, 'c> {
    /// The rows of a variable that go with what is chosen.
    fn beside(&self, var: Var) -> Vec<usize> {
        self.plan.network.beside(var, self.choice, self.free)
    }

    /// The stack's CUDA line: that of a framework, else the CUDA that a package takes from the system.
    fn line(&self) -> Option<Version> {
        let of_frameworks = self.releases.iter().find_map(|release| release.line);
        of_frameworks.or_else(|| self.companions().iter().filter(|row| row.system_cuda).find_map(|row| row.cuda))
    }

    /// Whether all frameworks leave their CUDA libraries open: what one pins is what the others get.
    fn leaves_open(&self) -> bool {
        let platform = self.plan.classes[self.at].target.platform;
        self.releases.iter().all(|release| release.on(platform).is_some_and(coinstall::leaves_open))
    }

    /// The newest CUDA that the driver knows by itself.
    fn known_by_driver(&self) -> Option<Version> {
        let plan = self.plan;
        let pinned = plan.locals[self.at].driver.as_ref().filter(|_| plan.classes[self.at].target.pins_driver());
        let oldest = pinned.and_then(|drivers| Some(&drivers.rows[*self.beside(drivers.var).first()?]));
        oldest.and_then(DriverRow::cuda).copied()
    }

    /// The same of all machines that share its libraries: what is left open is of a release that each driver knows.
    fn known_by_drivers(&self) -> Option<Version> {
        let plan = self.plan;
        let sharing = plan.groups.iter().find(|group| group.classes.contains(&self.at)).map(|group| &group.classes);
        let others = sharing.into_iter().flatten().filter(|&&class| class != self.at);
        let pinned = others.filter(|&&class| plan.classes[class].target.pins_driver());
        let known = pinned.filter_map(|&class| plan.locals[class].driver.as_ref()?.of(self.choice).cuda().copied());
        known.chain(self.known_by_driver()).min()
    }

    /// Whether a chosen package compares the CUDA that compiles with the stack's, and stops at this one.
    fn stops(&self, compare: &[&Companion], cuda: &Version) -> bool {
        let line = self.line().filter(|line| line.len() > 1 && line.major() == cuda.major());
        line.is_some_and(|line| !compare.iter().all(|row| self.plan.request.rules.takes(row, cuda, &line)))
    }

    /// The chosen packages that compare it.
    fn comparing(&self) -> Vec<&'c Companion> {
        self.companions().into_iter().filter(|row| self.plan.request.rules.compares(&row.package)).collect()
    }

    fn toolkits(&self) -> Vec<usize> {
        let (plan, line) = (self.plan, self.line());
        let Some(choices) = &plan.locals[self.at].toolkit else { return Vec::new() };
        // Of those on the line, and of those that are not, what the driver knows by itself: it compiles no PTX of a later CUDA.
        let known = self.known_by_driver();
        let beyond = |version: &Version| known.map(|known| version.prefix(2) > known);
        let off_line = |version: &Version| line.map(|line| version.cmp_prefix(&line).is_ne());
        let compares = self.comparing();
        let mut toolkits = self.beside(choices.var);
        toolkits.sort_by_cached_key(|&row| {
            let version = &choices.rows[row].version;
            let stops = self.stops(&compares, version);
            (off_line(version), stops, beyond(version), plan.network.rank(choices.var, row))
        });
        toolkits
    }

    /// The chosen packages that follow a framework.
    fn companions(&self) -> Vec<&'c Companion> {
        let group = self.plan.groups.iter().find(|group| group.classes.contains(&self.at));
        let arch = self.plan.classes[self.at].target.arch;
        group.map_or(Vec::new(), |group| group.companions_on(arch, self.choice))
    }

    /// The cuDNN whose headers the chosen packages are compiled with: none if they need none.
    fn headers_of(&self) -> Option<&Version> {
        let platform = self.plan.classes[self.at].target.platform;
        self.companions().iter().find(|row| row.cudnn_headers.is_some())?;
        self.releases.iter().find_map(|release| release.on(platform)?.cudnn.as_ref())
    }

    /// The stack's own line, then the newest older one, then the oldest newer one; of each those with the compiler and the
    /// headers that are needed.
    fn images(&self) -> Vec<usize> {
        let (plan, local) = (self.plan, &self.plan.locals[self.at]);
        let Some(choices) = &local.image else { return Vec::new() };
        let mut images = self.beside(choices.var);
        images.sort_unstable_by_key(|&row| plan.network.rank(choices.var, row));
        let (arch, catalog) = (plan.classes[self.at].target.arch, plan.request.catalog);
        let builds: Vec<&Build> = self.releases.iter().flat_map(|release| release.builds()).collect();
        let takes_toolkit = |row: &&Companion| row.finds_cuda || fits::is_compiled(catalog, row, &builds, arch);
        let is_taken = self.companions().iter().any(takes_toolkit);
        let lacks_compiler = |row: usize| is_taken && choices.rows[row].flavour != Flavour::Devel;
        let nvcc_refused = self.nvcc_refused(is_taken);
        let (line, headers) = (self.line(), self.headers_of());
        let torch = self.torch().map(|release| release.version.as_str());
        // What is left open is of some release of the major that the driver knows, and so is what the stack does not have.
        let is_open = self.leaves_open();
        let line = line.map(|line| if is_open { line.prefix(1) } else { line });
        let known = if is_open { self.known_by_drivers() } else { self.known_by_driver() };
        let known = known.filter(|_| line.is_none_or(|line| line.len() < 2));
        let is_beyond = |image: &Image| known.map(|known| image.cuda.prefix(2) > known);
        let (compares, loading) = (self.comparing(), self.loading());
        images.sort_by_cached_key(|&row| {
            let image = choices.rows[row];
            let lacks_headers = headers.is_some() && !image::has_cudnn_headers(catalog, image, headers);
            let (side, newer) = match line.map(|line| image.cuda.cmp_prefix(&line)) {
                Some(Ordering::Equal) | None => (0, None),
                Some(Ordering::Less) => (1, None),
                Some(Ordering::Greater) => (2, Some(&image.cuda)),
            };
            ImageRank {
                other_torch: image.torch.as_deref() != torch,
                faults: self.faults(loading.as_ref(), image),
                nvcc_refused: nvcc_refused(image),
                stops_build: self.stops(&compares, &image.cuda),
                side,
                // A newer torch goes before a CUDA that the driver knows.
                beyond_driver: is_beyond(image).filter(|_| line.is_some() || image.torch.is_none()),
                newer,
                lacks_compiler: lacks_compiler(row),
                lacks_headers,
                other_cudnn: lacks_headers && image.cudnn.is_some(),
                rank: plan.network.rank(choices.var, row),
            }
        });
        images
    }

    /// The release of torch in the stack.
    fn torch(&self) -> Option<&Release<'c>> {
        let is_torch = |release: &&&Release<'c>| release.builds().any(|build| build.package == TORCH);
        self.releases.iter().find(is_torch).copied()
    }

    /// What an image has run by itself.
    fn own_cuda(&self, image: &Image) -> Option<OwnCuda<'c>> {
        let (plan, class) = (self.plan, &self.plan.classes[self.at]);
        let has_cuda = || plan.groups.iter().any(|group| group.cuda(self.at).is_some());
        let cuda = !self.releases.is_empty() || plan.locals[self.at].toolkit.is_some() || has_cuda();
        let brings = Brings { torch: self.torch().is_some(), cuda };
        in_image::own_cuda(plan.request.problem, class.machine(), image, brings).filter(|_| !class.target.is_cpu())
    }

    /// A driver as it runs what an image has run by itself; none if it does not.
    fn driven(&self, in_image: Option<(&'c Image, OwnCuda<'c>)>, row: &DriverRow<'c>) -> Option<DriverRow<'c>> {
        let class = &self.plan.classes[self.at];
        let Some((image, own)) = in_image else { return Some(row.clone()) };
        own.driven((self.plan.request.problem, class.machine()), &class.off, image, row)
    }

    /// Drivers in their order, those first that run what an image has run by itself, and of these those that do so alone.
    fn running_first(&self, drivers: &[usize], in_image: Option<(&'c Image, OwnCuda<'c>)>) -> Vec<usize> {
        let mut drivers = drivers.to_vec();
        if let Some(choices) = self.plan.locals[self.at].driver.as_ref().filter(|_| in_image.is_some()) {
            drivers.sort_by_cached_key(|&row| {
                let driven = self.driven(in_image, &choices.rows[row]);
                (driven.is_none(), driven.is_some_and(|driver| driver.compat.is_some()))
            });
        }
        drivers
    }

    /// What runs in an image that is chosen.
    fn loading(&self) -> Option<Loading<'_, 'c>> {
        let (plan, class) = (self.plan, &self.plan.classes[self.at]);
        let (request, target, local) = (plan.request, class.target, &plan.locals[self.at]);
        if target.is_cpu() || !matches!(target.image, ImageRequest::Choose(_)) {
            return None;
        }
        let builds = self.releases.iter().filter_map(|release| release.on(target.platform));
        let companions = self.companions();
        let group = plan.groups.iter().find(|group| group.classes.contains(&self.at));
        let of_group = group.and_then(|group| Some(&group.cudnn.as_ref()?.of(self.choice).version));
        let brought = builds.clone().filter_map(|build| build.cudnn.as_ref()).chain(of_group).collect();
        let python = plan.python.as_ref().map(|python| ("python", python.of(self.choice).version));
        let locked = builds.map(|build| (&*build.package, build.version));
        let locked = locked.chain(companions.iter().map(|row| (&*row.package, row.version))).chain(python);
        let locked: Vec<Locked> = locked.map(|(name, version)| (name.to_string(), version)).collect();
        // What comes along beside a framework is judged by that.
        let coming = match self.releases.is_empty() {
            true => coming(request.problem, &locked, &request.packages),
            false => Rc::default(),
        };
        let known = |(of, asked): (&&'c str, &Specifier)| -> Option<Vec<&'c Companion>> {
            let package = request.problem.package(of)?;
            let is_for = python.map(|(_, line)| package.accepting_python(&line));
            let rows = package.releases.iter().copied().enumerate();
            let rows = rows.filter(|(at, _)| is_for.as_ref().is_none_or(|rows| rows.has(*at))).map(|(_, row)| row);
            Some(rows.filter(|row| asked.admits(&row.version) && target.platform.takes_companion(row)).collect())
        };
        let coming = coming.iter().filter_map(known).filter(|rows| !rows.is_empty()).collect();
        let cudnns = Cudnns { problem: request.problem, brought, installed: target.cudnn.as_ref() };
        let rows = local.driver.as_ref().map_or_else(Vec::new, |of| self.beside(of.var));
        let drivers = RowSet::filter(rows.iter().max().map_or(0, |last| last + 1), |row| rows.contains(&row));
        let of_row = |row: usize| local.driver.as_ref().map(|of| &of.rows[row]);
        let newest = rows.into_iter().filter_map(of_row).max_by_key(|row| row.version);
        Some(Loading { companions, coming, cudnns, drivers, newest })
    }

    /// How much of what runs in an image fails: what a warning is told of, and half of that where a cuDNN is found of which
    /// nobody has read the release.
    fn faults(&self, loading: Option<&Loading<'_, 'c>>, image: &Image) -> usize {
        let Some(loading) = loading else { return 0 };
        let (problem, class) = (self.plan.request.problem, &self.plan.classes[self.at]);
        let (machine, off) = (class.machine(), &class.off);
        let fails = |own: OwnCuda<'c>| {
            let mut runs = loading.drivers.clone();
            machine.refused_by(problem, own.need).apply(&mut runs, off);
            !own.runs_on(problem, machine, off) || runs.is_empty() && !loading.drivers.is_empty()
        };
        // Beside a framework no driver is taken for the newest that a board has.
        let is_told = class.target.pins_driver() || self.releases.is_empty();
        let compat = |driver| {
            let why = image::compat_fails(problem.catalog, image, driver, class.target.named_gpus())?;
            (is_told || matches!(why, CompatFails::Gpu)).then_some(why)
        };
        let takes = |inside: Version| machine.takes_cudnn(&inside, off);
        let holding = Some(image).filter(|image| image.cudnn.is_none_or(takes));
        let cudnn = |row: &&Companion| {
            let rules = problem.rules.of_package(&row.package, Subject::Cudnn);
            let found = rules.about(&row.version).map(|rule| loading.cudnns.inside(row, rule, holding));
            found.max().map_or(0, |worst| match worst {
                CudnnInside::Serves => 0,
                CudnnInside::MayServe => FAULT / 2,
                CudnnInside::Lacks => FAULT,
            })
        };
        let has_toolkit = class.target.toolkits.is_some() || self.plan.locals[self.at].toolkit.is_some();
        let looks_in_vain = |row: &&&Companion| {
            let rules = problem.rules.of_package(&row.package, Subject::Toolkit);
            let mut rules = rules.about(&row.version).peekable();
            row.finds_cuda
                && !has_toolkit
                && rules.peek().is_some()
                && (image.flavour != Flavour::Devel || rules.any(|rule| !rule.needs.admits(&image.cuda)))
        };
        let goes = |row: &&Companion| {
            let rules = problem.rules.of_package(&row.package, Subject::Cuda);
            fits::companion_line(row, Some(&image.cuda))
                && rules.about(&row.version).all(|rule| rule.needs.admits(&image.cuda))
        };
        // Installers take the newest.
        let coming = |rows: &Vec<&Companion>| {
            let newest = rows.iter().map(|row| row.version).max();
            let going = rows.iter().filter(|row| goes(row));
            let found = going.map(|row| cudnn(row) + usize::from(Some(row.version) != newest));
            found.min().unwrap_or(FAULT).min(FAULT)
        };
        FAULT * usize::from(self.own_cuda(image).is_some_and(fails))
            + FAULT * usize::from(loading.newest.and_then(compat).is_some())
            + loading.companions.iter().map(cudnn).sum::<usize>()
            + FAULT * loading.companions.iter().filter(looks_in_vain).count()
            + loading.coming.iter().map(coming).sum::<usize>()
    }

    /// Whether an image lacks the nvcc that what compiles kernels when they are first used asks for; one without nvcc
    /// lacks it where some package takes that of its image.
    fn nvcc_refused(&self, is_taken: bool) -> impl Fn(&Image) -> bool {
        let (request, target) = (self.plan.request, &self.plan.classes[self.at].target);
        let compiled = self.companions().into_iter();
        let compiled = compiled.flat_map(|row| fits::compiled_when_used(request.catalog, row, target.arch));
        let rules = compiled.flat_map(|one| {
            let gpus = || target.named_gpus().iter().map(|gpu| &gpu.cc_version);
            let rules = request.rules.of_package(&one.package, Subject::Toolkit);
            let speaks = |rule: &&Needs<'c>| rule.speaks_of(&one.version, gpus(), request.archs());
            rules.iter().filter(speaks).collect::<Vec<_>>()
        });
        let rules: Vec<&Needs<'c>> = rules.filter(|rule| request.holds(&rule.row.id, &target.name)).collect();
        move |image| match image.flavour {
            Flavour::Devel => rules.iter().any(|rule| !rule.needs.admits(&image.cuda)),
            _ => is_taken && !rules.is_empty(),
        }
    }

    /// Those that need no cuda-compat, then those whose cuda-compat is of the stack's line.
    fn drivers(&self) -> Vec<usize> {
        let (plan, line) = (self.plan, self.line());
        let Some(choices) = &plan.locals[self.at].driver else { return Vec::new() };
        let compat_distance = |row: &DriverRow<'c>| {
            row.added().map(|compat| (line.map(|line| compat.cuda.cmp_prefix(&line).is_ne()), compat.cuda))
        };
        let mut drivers = self.beside(choices.var);
        drivers.sort_unstable_by_key(|&row| (compat_distance(&choices.rows[row]), plan.network.rank(choices.var, row)));
        drivers
    }
}

/// The rows to try, or one try of nothing where there is nothing to choose.
fn each(rows: &[usize]) -> Vec<Option<usize>> {
    if rows.is_empty() { vec![None] } else { rows.iter().copied().map(Some).collect() }
}
