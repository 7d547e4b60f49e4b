//! Choices that spare `[packages]`: an installer refuses what a release excludes, and what is of another CUDA does not load beside
//! it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use crate::catalog::rows::{BESIDE_TORCH, Companion, TRITON};
use crate::solve::brought;
use crate::solve::framework::Framework;
use crate::solve::libraries::CudaLines;
use crate::solve::network::Order;
use crate::solve::ordinary::coming::coming;
use crate::solve::ordinary::{Beside, Follows, Judged, judged};
use crate::solve::platform::Platform;
use crate::solve::problem::{Package, Problem};
use crate::solve::release::Release;
use crate::solve::request::{PackageRequest, Request};
use crate::solve::rowset::RowSet;
use crate::types::{Specifier, Version, distinct};

/// More than is known to fail of any release.
const MOST_FAILING: usize = 1 << 16;

/// How far something of another major of CUDA is from a release.
const OTHER_MAJOR: usize = 2;

/// What releases cost of `[packages]`.
pub(super) struct Sparing<'q, 'c> {
    request: &'q Request<'c>,
    /// The CUDA of each of them.
    lines: OnceCell<Vec<CudaLines>>,
    /// What they bring along.
    brought: OnceCell<Brought<'c>>,
    /// How many of them a version of a package excludes.
    excluded: RefCell<FxHashMap<(&'c str, Version), usize>>,
}

impl<'q, 'c> Sparing<'q, 'c> {
    /// Of a request.
    pub(super) fn new(request: &'q Request<'c>) -> Rc<Self> {
        Rc::new(Sparing { request, lines: OnceCell::new(), brought: OnceCell::new(), excluded: RefCell::default() })
    }

    /// The newest version of a package first, of those beside which installers take the most of `[packages]`.
    pub(super) fn order(self: &Rc<Self>, package: &'c str) -> Order<'q>
    where
        'c: 'q,
    {
        let (this, problem) = (self.clone(), self.request.problem);
        match (problem.framework(package), problem.package(package)) {
            _ if self.request.packages.is_empty() => Order::Ascending,
            (Some(framework), _) => {
                let known: Vec<OnceCell<usize>> = vec![OnceCell::new(); framework.versions.len()];
                Order::Ranked(Box::new(move |row| *known[row].get_or_init(|| this.of_framework(framework, row))))
            }
            (None, Some(of)) => Order::Ranked(Box::new(move |row| this.excluded(package, of.versions[row]))),
            (None, None) => Order::Ascending,
        }
    }

    /// How much worse than others a release is for what `[packages]` load of CUDA: worse than what fails on a GPU.
    pub(super) fn of_release(&self, framework: &Framework<'c>, row: usize) -> usize {
        MOST_FAILING * self.apart(framework, &framework.releases[row], false)
    }

    /// What a version of a framework costs by itself, and what the packages cost that `[stack]` has beside it.
    fn of_framework(&self, framework: &Framework<'c>, row: usize) -> usize {
        let (problem, version) = (self.request.problem, framework.versions[row]);
        let beside = |ask: &PackageRequest<'c>| {
            let package = problem.package(ask.package).filter(|package| package.follows(framework.package))?;
            let accepting = package.versions_accepting(framework.package, version, None);
            let asked = accepting.rows().map(|at| package.versions[at]).filter(|one| ask.constraint.admits(one));
            least(asked.map(|one| self.excluded(ask.package, one)))
        };
        self.excluded(framework.package, version) + self.request.companions.iter().filter_map(beside).sum::<usize>()
    }

    /// What each release of a framework costs by its CUDA and by what its version excludes; none where all are alike in CUDA.
    pub(super) fn of_each(
        &self,
        framework: &Framework<'c>,
        is_asked: impl Fn(&Release<'c>) -> bool,
    ) -> Option<Rc<[usize]>> {
        let by_cuda = |one: &Release<'c>| if is_asked(one) { self.apart(framework, one, true) } else { 0 };
        let costs: Vec<usize> = framework.releases.iter().map(by_cuda).collect();
        let all = |(one, cost): (&Release<'c>, &usize)| match one.is_cpu() {
            true => usize::MAX,
            false if !is_asked(one) => 0,
            false => MOST_FAILING * self.excluded(framework.package, one.version) + cost,
        };
        let differ = costs.iter().any(|cost| *cost > 0);
        differ.then(|| framework.releases.iter().zip(&costs).map(all).collect())
    }

    /// How far a release is from the CUDA of `[packages]`, and from that of what they bring along. What follows a framework
    /// binds the build of a version only, be it that none goes with others.
    fn apart(&self, framework: &Framework<'c>, release: &Release<'c>, by_cuda: bool) -> usize {
        let Some(line) = &release.line else { return 0 };
        let request = self.request;
        let of = |(name, asked): &(String, Specifier)| CudaLines::of(request.problem, name, asked);
        let lines = self.lines.get_or_init(|| request.packages.iter().map(of).collect());
        let Brought { packages, platforms } = self.brought.get_or_init(|| Brought::new(request));
        let is_left = |one: &&(&'c Package<'c>, Specifier)| {
            let beside = one.0.accepting(framework.package, release.version);
            platforms.iter().any(|on| is_left_alone(request.problem, *on, release, (one, &beside)))
        };
        let packages = packages.iter().filter(|(of, _)| !by_cuda || of.releases.iter().all(|row| row.follows_cuda()));
        lines.iter().map(|one| one.distance(line)).sum::<usize>() + OTHER_MAJOR * packages.filter(is_left).count()
    }

    /// How many of `[packages]` a version excludes: what it needs of them, or they of it, is not what is asked for.
    fn excluded(&self, package: &'c str, version: &'c Version) -> usize {
        let request = self.request;
        let python = request.python.as_ref().and_then(|python| python.single());
        let beside = [Some((package, version)), python.map(|line| ("python", line))];
        let beside = beside.into_iter().flatten().map(|(name, version)| Beside::from((name.to_string(), *version)));
        let excludes = |one: &Judged<'_>| matches!(one.follows, Follows::Excluded(_));
        let find = || {
            let beside: Vec<Beside> = beside.collect();
            let is_excluded = |(name, asked): &&(String, Specifier)| {
                judged(request.problem, &beside, name, asked).iter().any(excludes)
            };
            request.packages.iter().filter(is_excluded).count()
        };
        *self.excluded.borrow_mut().entry((package, *version)).or_insert_with(find)
    }
}

/// What `[packages]` bring along, and what loads it.
struct Brought<'c> {
    /// That of which releases are chosen for a framework or CUDA, and which nobody names.
    packages: Vec<(&'c Package<'c>, Specifier)>,
    /// The machines with GPUs.
    platforms: Vec<Platform<'c>>,
}

impl<'c> Brought<'c> {
    fn new(request: &Request<'c>) -> Self {
        let python = request.python.as_ref().and_then(|python| python.single());
        let python: Vec<_> = python.map(|line| ("python".to_string(), *line)).into_iter().collect();
        let is_named = |name: &str| {
            let mut asks = request.frameworks.iter().chain(&request.companions);
            name == TRITON || BESIDE_TORCH.contains(&name) || asks.any(|ask| ask.package == name)
        };
        let coming = coming(request.problem, &python, &request.packages);
        let coming = coming.iter().filter(|(name, _)| !is_named(name));
        let packages =
            coming.filter_map(|(name, asked)| Some((request.problem.package(name)?, asked.clone()))).collect();
        let on_gpu = request.targets.iter().filter(|target| !target.is_cpu());
        Brought { packages, platforms: distinct(on_gpu.map(|target| target.platform)) }
    }
}

/// Whether a package of which releases go with a version of a framework has none on a package index that loads beside a build of it.
fn is_left_alone<'c>(
    problem: &Problem<'c>,
    on: Platform<'c>,
    release: &Release<'c>,
    ((package, asked), beside): (&(&'c Package<'c>, Specifier), &RowSet),
) -> bool {
    let Some(build) = release.on(on) else { return false };
    let is_there =
        |row: &Companion| brought::is_on_index(row, on.arch, Some(&build.variant)) && asked.admits(&row.version);
    let rows = package.matching(is_there).intersection(beside);
    let cudnns: Vec<&Version> = build.cudnn.iter().collect();
    let of = (&*build.variant, release.line.as_ref());
    let loads = |row: &Companion| {
        let is_of_another = !row.follows_cuda() && row.framework != build.package;
        is_of_another || brought::loads(problem, row, of, &cudnns, (on.arch, &[]))
    };
    !rows.is_empty() && !rows.rows().any(|row| loads(package.releases[row]))
}

/// The least of some counts, of which the first that costs nothing ends the search.
fn least(counts: impl Iterator<Item = usize>) -> Option<usize> {
    let mut least = None;
    for count in counts {
        if count == 0 {
            return Some(0);
        }
        least = Some(least.map_or(count, |known: usize| known.min(count)));
    }
    least
}
