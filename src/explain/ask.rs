//! Variations of one spec: the same with lines left out or changed. Only the targets that a variation touches are read
//! again; what they are compiled to is shared with every variation that reads the same.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::platform::Platform;
use crate::solve::problem::Problem;
use crate::solve::reading::Reading;
use crate::solve::request::{DriverRequest, Gpus, ImageRequest, Request, TargetRequest};
use crate::solve::resolve::{Verdict, World, best, is_solvable, judge};
use crate::solve::solution::Solution;
use crate::spec::Spec;

use super::target_of;

/// A key and its new text; none removes it.
pub(super) type Edit = (String, Option<String>);

/// Targets by their position and what was edited in them; none where that means nothing.
type Edited<'c> = FxHashMap<(usize, Vec<Edit>), Option<TargetRequest<'c>>>;

/// Asks variations of one spec.
pub(super) struct Asker<'a, 'c> {
    pub(super) catalog: &'c Catalog,
    pub(super) problem: &'c Problem<'c>,
    pub(super) steps: &'a Steps,
    world: World,
    /// The spec, and what it asks.
    pub(super) spec: &'a Spec,
    /// What the user has written, where the spec was made of that.
    pub(super) file: &'a Spec,
    base: Option<Request<'c>>,
    /// Targets as some edits leave them.
    targets: RefCell<Edited<'c>>,
}

impl<'a, 'c> Asker<'a, 'c> {
    /// Asks variations of a spec, of which one that has no answer in a world is a clash.
    pub(super) fn new(spec: &'a Spec, problem: &'c Problem<'c>, world: World, steps: &'a Steps) -> Self {
        let base = Request::new(spec, problem).ok().map(|(request, _)| request);
        Asker { catalog: problem.catalog, problem, steps, world, spec, file: spec, base, targets: RefCell::default() }
    }

    /// The request of the spec as it is written; none if a name in it means nothing.
    pub(super) fn base(&self) -> Option<&Request<'c>> {
        self.base.as_ref()
    }

    /// The request of another spec; none if a name in it means nothing.
    pub(super) fn question(&self, spec: &Spec) -> Option<Request<'c>> {
        Request::new(spec, self.problem).ok().map(|(request, _)| request)
    }

    /// The request of the spec with these edits; none if one of them cannot be written, or means nothing.
    pub(super) fn vary(&self, edits: &[Edit]) -> Option<Request<'c>> {
        let base = self.base.as_ref()?;
        let section = |edit: &Edit| edit.0.split('.').next().map(str::to_string);
        let local = |edit: &&Edit| {
            matches!(section(edit).as_deref(), Some("stack" | "target" | "resolve")) || edit.0 == "build.arch-list"
        };
        if !edits.iter().all(|edit| local(&edit)) {
            return self.question(&self.spec.edited(edits).ok()?);
        }
        let (machines, stack): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|(key, _)| key.starts_with("target."));
        let mut targets = Vec::with_capacity(base.targets.len());
        let mut of_target: FxHashMap<&str, Vec<Edit>> = FxHashMap::default();
        for edit in machines {
            of_target.entry(target_of(&edit.0)).or_default().push(edit.clone());
        }
        for (at, target) in base.targets.iter().enumerate() {
            match of_target.remove(target.name.as_str()) {
                None => targets.push(target.clone()),
                Some(edits) => targets.push(self.target(at, edits)?),
            }
        }
        let edits: Vec<Edit> = stack.into_iter().cloned().collect();
        let mut request = self.vary_stack(&edits)?;
        request.targets = targets;
        Some(request)
    }

    /// The request of the spec with these edits of what is no target's, and without targets.
    pub(super) fn vary_stack(&self, edits: &[Edit]) -> Option<Request<'c>> {
        match edits {
            [] => Some(self.base.as_ref()?.of(Vec::new())),
            edits => self.question(&self.spec.clone_without_targets().edited(edits).ok()?),
        }
    }

    /// A target as some edits leave it.
    pub(super) fn target(&self, at: usize, edits: Vec<Edit>) -> Option<TargetRequest<'c>> {
        let key = (at, edits);
        if let Some(known) = self.targets.borrow().get(&key) {
            return known.clone();
        }
        let name = &self.base.as_ref()?.targets[at].name;
        let alone = self.spec.target(name).cloned().into_iter().collect();
        let alone = Spec { targets: alone, ..self.spec.clone_without_targets() };
        let edited = alone.edited(&key.1).ok();
        let read = edited.and_then(|spec| self.question(&spec)).and_then(|mut request| request.targets.pop());
        self.targets.borrow_mut().insert(key, read.clone());
        read
    }

    /// A request with each target on the kind of machine that it is in the whole spec, if it has no answer there either:
    /// of a few keys alone one cannot always tell which wheels a machine takes, and a system implies a C library and a
    /// compiler only where none is written. Of a target of which nothing is asked the machine says nothing, if the rest has no
    /// answer on any machine.
    pub(super) fn on_their_machines(&self, request: Request<'c>) -> Request<'c> {
        for only_asked in [true, false] {
            let on_theirs = self.moved(&request, only_asked);
            if self.is_refuted(&on_theirs) == Some(true) {
                return on_theirs;
            }
        }
        request
    }

    /// A request with its targets on the machines that they are in the whole spec: all, or those of which something is asked.
    fn moved(&self, request: &Request<'c>, only_asked: bool) -> Request<'c> {
        let mut on_theirs = request.clone();
        let is_bare = |target: &TargetRequest<'_>| {
            let has_parts = target.os.is_some() || target.glibc.is_some() || target.toolkits.is_some();
            let (gpus, image) = (matches!(target.gpus, Gpus::Unsaid), matches!(target.image, ImageRequest::No));
            gpus && image && !has_parts && matches!(target.driver, DriverRequest::Free(_))
        };
        for target in &mut on_theirs.targets {
            let whole = self.base.as_ref().and_then(|base| base.target(&target.name));
            let Some(whole) = whole.filter(|_| !only_asked || !is_bare(target)) else { continue };
            let mut reading = Reading::clone(&target.reading);
            // An image that is not asked for lends no torch of its own.
            let is_lent = whole.platform.image().is_some() && matches!(target.image, ImageRequest::No);
            let own = Platform { arch: whole.arch, ..target.platform };
            (reading.arch, reading.platform) = (whole.arch, if is_lent { own } else { whole.platform });
            reading.windows_driver = whole.windows_driver;
            reading.glibc = reading.glibc.and(whole.glibc);
            reading.gcc = reading.gcc.and(whole.gcc);
            if reading != *target.reading {
                *target = TargetRequest::new(self.problem, &target.name, reading);
            }
        }
        on_theirs
    }

    /// Whether a request clashes, and what PubGrub's proof of it rests on.
    pub(super) fn judge(&self, request: &Request<'_>) -> Verdict {
        judge(request, self.world, self.steps)
    }

    /// Whether a request clashes; none if the limit was reached first.
    pub(super) fn is_refuted(&self, request: &Request<'_>) -> Option<bool> {
        match self.judge(request) {
            Verdict::Solvable => Some(false),
            Verdict::Conflict(_) => Some(true),
            Verdict::GaveUp => None,
        }
    }

    /// Whether the spec with these edits has any answer, which is quicker to tell than which is the best.
    pub(super) fn has_answer(&self, edits: &[Edit]) -> bool {
        let request = self.vary(edits);
        request.is_some_and(|request| is_solvable(&request, self.steps) == Some(true))
    }

    /// The best answer to a request, if it has one.
    pub(super) fn best(&self, request: &Request<'c>) -> Option<Solution<'c>> {
        self.keeping(request, &Locked::new())
    }

    /// The answer to a request that keeps of these choices what still serves, if it has one.
    pub(super) fn keeping(&self, request: &Request<'c>, kept: &Locked) -> Option<Solution<'c>> {
        best(request, kept, self.steps)
    }
}
