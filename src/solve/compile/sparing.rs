//! Choices that spare `[packages]`: an installer refuses what a release excludes, and what is of another CUDA does not load beside
//! it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::solve::framework::Framework;
use crate::solve::libraries::CudaLines;
use crate::solve::network::Order;
use crate::solve::ordinary::{Beside, Follows, Judged, judged};
use crate::solve::release::Release;
use crate::solve::request::{PackageRequest, Request};
use crate::types::{Specifier, Version};

/// More than is known to fail of any release.
const MOST_FAILING: usize = 1 << 16;

/// What releases cost of `[packages]`.
pub(super) struct Sparing<'q, 'c> {
    request: &'q Request<'c>,
    /// The CUDA of each of them.
    lines: OnceCell<Vec<CudaLines>>,
    /// How many of them a version of a package excludes.
    excluded: RefCell<FxHashMap<(&'c str, Version), usize>>,
}

impl<'q, 'c> Sparing<'q, 'c> {
    /// Of a request.
    pub(super) fn new(request: &'q Request<'c>) -> Rc<Self> {
        Rc::new(Sparing { request, lines: OnceCell::new(), excluded: RefCell::default() })
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

    /// How much worse than others a release is for what of `[packages]` is of another CUDA: worse than what fails on a GPU.
    pub(super) fn of_release(&self, release: &Release<'c>) -> usize {
        MOST_FAILING * self.other_cuda(release)
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
        let on_gpu = !self.request.targets.iter().all(|target| target.is_cpu());
        let builds = framework.of_version[row].minus(&framework.cpu);
        let builds = builds.rows().filter(|_| on_gpu).map(|at| self.other_cuda(&framework.releases[at]));
        self.excluded(framework.package, version)
            + least(builds).unwrap_or(0)
            + self.request.companions.iter().filter_map(beside).sum::<usize>()
    }

    /// How far a release is from the CUDA of `[packages]`.
    fn other_cuda(&self, release: &Release<'c>) -> usize {
        let Some(line) = &release.line else { return 0 };
        let request = self.request;
        let of = |(name, asked): &(String, Specifier)| CudaLines::of(request.problem, name, asked);
        let lines = self.lines.get_or_init(|| request.packages.iter().map(of).collect());
        lines.iter().map(|one| one.distance(line)).sum()
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
