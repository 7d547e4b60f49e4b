//! What is chosen for each class of targets by itself once the stack is known: toolkit, image and driver.

use std::cmp::Ordering;

use crate::catalog::rows::{Build, Companion, Flavour, Image, Subject, TORCH, Toolkit};
use crate::types::Version;

use super::coinstall;
use super::compile::{Choice, Plan};
use super::driver_row::DriverRow;
use super::fits;
use super::image;
use super::network::Var;
use super::release::Release;
use super::rules::Needs;

/// What is chosen for a class by itself.
pub(super) struct Place<'c> {
    pub(super) toolkit: Option<&'c Toolkit>,
    pub(super) image: Option<&'c Image>,
    pub(super) driver: Option<DriverRow<'c>>,
    /// The oldest of each other driver that is listed.
    pub(super) others: Vec<DriverRow<'c>>,
}

/// Image, toolkit and driver of a class once the stack is known: the first combination that fits, images and toolkits
/// nearest to the stack's line first.
pub(super) fn local_choice<'c>(
    plan: &Plan<'_, 'c>,
    at: usize,
    choice: &[usize],
    releases: &[&Release<'c>],
) -> Place<'c> {
    let local = &plan.locals[at];
    let var_of_toolkit = local.toolkit.as_ref().map(|choices| choices.var);
    let var_of_image = local.image.as_ref().map(|choices| choices.var);
    let var_of_driver = local.driver.as_ref().map(|choices| choices.var);
    let free: Vec<Var> = [var_of_toolkit, var_of_image, var_of_driver].into_iter().flatten().collect();
    let others: Vec<Var> = local.others.iter().map(|(_, choices)| choices.var).collect();
    let open = [&free[..], &others].concat();
    let ranked = Ranked { plan, at, choice, releases, free: &open };
    let mut tried = choice.to_vec();
    let (toolkits, images, drivers) = (ranked.toolkits(), ranked.images(), ranked.drivers());
    // An image holds its toolkit.
    for image in each(&images) {
        for toolkit in each(&toolkits) {
            for driver in each(&drivers) {
                let picks = [(var_of_toolkit, toolkit), (var_of_image, image), (var_of_driver, driver)];
                for (var, row) in picks {
                    if let (Some(var), Some(row)) = (var, row) {
                        tried[var] = row;
                    }
                }
                let oldest = |(_, choices): &(_, Choice<DriverRow<'c>>)| {
                    let rows = plan.network.beside(choices.var, &tried, &others).into_iter();
                    rows.map(|row| choices.rows[row].clone()).min_by_key(|row| row.version)
                };
                let goes = |&var: &Var| plan.network.goes_with(var, tried[var], &tried, &others);
                if !free.iter().all(goes) {
                    continue;
                }
                if let Some(others) = local.others.iter().map(oldest).collect() {
                    return Place {
                        toolkit: local.toolkit.as_ref().zip(toolkit).map(|(choices, row)| choices.rows[row]),
                        image: local.image.as_ref().zip(image).map(|(choices, row)| choices.rows[row]),
                        driver: local.driver.as_ref().zip(driver).map(|(choices, row)| choices.rows[row].clone()),
                        others,
                    };
                }
            }
        }
    }
    unreachable!("the solver found a combination among these")
}

/// What speaks against an image, what weighs most first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ImageRank<'c> {
    /// It does not hold the stack's torch, or holds one where the stack has none.
    other_torch: bool,
    /// It counts on its cuda-compat, which some of the GPUs cannot use.
    leans_on_compat: bool,
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
        let arch = plan.classes[self.at].target.arch;
        let builds: Vec<&Build> = self.releases.iter().flat_map(|release| release.builds()).collect();
        let takes_toolkit =
            |row: &&Companion| row.finds_cuda || fits::is_compiled(plan.request.catalog, row, &builds, arch);
        let is_taken = self.companions().iter().any(takes_toolkit);
        let lacks_compiler = |row: usize| is_taken && choices.rows[row].flavour != Flavour::Devel;
        let nvcc_refused = self.nvcc_refused(is_taken);
        let (Some(line), headers) = (self.line(), self.headers_of()) else {
            images.sort_by_key(|&row| lacks_compiler(row));
            return images;
        };
        let of_torch = |release: &&&Release| release.builds().any(|build| build.package == TORCH);
        let torch = self.releases.iter().find(of_torch).map(|release| release.version.as_str());
        let possible = local.driver.iter().flat_map(|of| self.beside(of.var).into_iter().map(|row| &of.rows[row]));
        let newest = possible.max_by(|a, b| a.version.cmp(&b.version));
        let leans_on_compat = |image: &Image| {
            let gpus = plan.classes[self.at].machine().kinds.iter().map(|kind| &kind.gpu);
            newest.is_some_and(|driver| image::leans_on_compat(image, driver, gpus))
        };
        // What is left open is of some release of the major that the driver knows.
        let is_open = self.leaves_open();
        let line = if is_open { line.prefix(1) } else { line };
        let known = self.known_by_driver().filter(|_| line.len() < 2);
        let compares = self.comparing();
        images.sort_by_cached_key(|&row| {
            let image = choices.rows[row];
            let lacks_headers = headers.is_some() && !image::has_cudnn_headers(image, headers);
            let (side, newer) = match image.cuda.cmp_prefix(&line) {
                Ordering::Equal => (0, None),
                Ordering::Less => (1, None),
                Ordering::Greater => (2, Some(&image.cuda)),
            };
            ImageRank {
                other_torch: image.torch.as_deref() != torch,
                leans_on_compat: leans_on_compat(image),
                nvcc_refused: nvcc_refused(image),
                stops_build: self.stops(&compares, &image.cuda),
                side,
                beyond_driver: known.map(|known| image.cuda.prefix(2) > known),
                newer,
                lacks_compiler: lacks_compiler(row),
                lacks_headers,
                other_cudnn: lacks_headers && image.cudnn.is_some(),
                rank: plan.network.rank(choices.var, row),
            }
        });
        images
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
