//! Which written keys clash: the smallest sets that have no answer together.
//!
//! Every set of keys that does have an answer is grown as far as it goes; what is left out of it must be hit by
//! every clash. So the smallest clash is the smallest set that hits all these remainders and has no answer
//! itself (implicit hitting sets: Ignatiev, Previti, Liffiton and Marques-Silva, 2015). PubGrub's proofs tell which
//! keys to leave out: a set without an answer gets one only if a key that its proof rests on goes.
//!
//! Every set is asked as the user would write it, with the other lines deleted. A key can be one whose absence changes
//! what is asked: then a larger set may have an answer that a smaller one has not, and the smaller one is no clash.

mod hitting;

use std::cell::RefCell;
use std::collections::BTreeSet;

use pubgrub::VersionSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::rows::FRAMEWORKS;
use crate::solve::reading::Reading;
use crate::solve::request::{Request, TargetRequest};
use crate::solve::resolve::{Culprit, Verdict};
use crate::solve::rowset::RowSet;
use crate::spec::Spec;
use crate::types::name::STACK_PARTS;

use super::ask::{Asker, Edit};
use super::target_of;

use hitting::Hit;

/// The clashes of a spec.
#[derive(Debug, Clone)]
pub struct Cores {
    /// Clashes that share no key, the smallest first found first.
    pub independent: Vec<Vec<String>>,
    /// Other clashes as small as the first.
    pub alternatives: Vec<Vec<String>>,
    /// What is left of the spec clashes in these where a key of an independent clash is gone: who changes that key only
    /// would meet them next.
    pub further: Vec<Vec<String>>,
}

/// How many other clashes of the smallest size are listed.
const ALTERNATIVES: usize = 16;
/// How many clashes are looked for that come to light once another is out of the way.
const FURTHER: usize = 2;

/// A set of keys, by their positions in the file.
type Keys = RowSet;

/// So many comparisons of sets are one step.
const SETS_A_STEP: u64 = 128;

/// The limit was reached before it was known.
struct Spent;

impl Cores {
    /// Finds the clashes; none if the spec has an answer. Where the limit is reached, those that were found by then, of
    /// which the last need not be as small as they go.
    pub fn find(asker: &Asker<'_, '_>) -> Option<Cores> {
        let keys = asker.spec.keys();
        let base = asker.base()?;
        let mut search = Search::new(asker, base, &keys);
        let everything = Keys::first(keys.len());
        if search.has_answer(&everything).ok()? {
            return None;
        }
        let smallest = search.look_at_each_machine(&everything).and_then(|()| search.smallest(&everything));
        let smallest = smallest.unwrap_or_else(|Spent| search.smallest_known().into_iter().collect());
        let mut independent = vec![smallest.first()?.clone()];
        let further = search.beside(&everything, &mut independent, &smallest).unwrap_or_default();
        let (further, also): (Vec<Keys>, Vec<Keys>) =
            further.into_iter().partition(|clash| independent.iter().any(|one| !one.is_disjoint(clash)));
        also.into_iter().for_each(|clash| add_apart(&mut independent, &clash));
        let named = |cores: &[Keys]| -> Vec<Vec<String>> {
            cores.iter().map(|core| core.rows().map(|key| keys[key].clone()).collect()).collect()
        };
        let is_other = |clash: &&Keys| !independent.contains(clash);
        let alternatives: Vec<Keys> = smallest.iter().filter(is_other).cloned().collect();
        Some(Cores { independent: named(&independent), alternatives: named(&alternatives), further: named(&further) })
    }
}

/// Adds a clash to those that share no key, if it shares none with any.
fn add_apart(independent: &mut Vec<Keys>, clash: &Keys) {
    if independent.iter().all(|one| one.is_disjoint(clash)) {
        independent.push(clash.clone());
    }
}

struct Search<'a, 'c> {
    asker: &'a Asker<'a, 'c>,
    base: &'a Request<'c>,
    keys: &'a [String],
    /// For each target of the request its keys, and the targets as some of them leave it.
    targets: Vec<Keys>,
    /// For each key the target that it is of.
    target_of: Vec<Option<usize>>,
    /// The targets for which alone rules are set aside.
    overridden: Vec<usize>,
    masked: RefCell<FxHashMap<(usize, Keys), TargetRequest<'c>>>,
    /// The keys of `[stack]` and `[build]`.
    shared: Keys,
    /// The keys whose absence changes what is asked: frameworks, and what a machine is.
    defining: Keys,
    /// For each set of keys known to have an answer, the keys outside it.
    remainders: Vec<Keys>,
    /// How many remainders each key is in.
    left_out: Vec<usize>,
    /// Sets of keys known to have none.
    clashes: FxHashSet<Keys>,
    /// The same, and what proofs rested on: a set that holds one of these needs no asking to be doubted.
    doubtful: Vec<Keys>,
}

impl<'a, 'c> Search<'a, 'c> {
    fn new(asker: &'a Asker<'a, 'c>, base: &'a Request<'c>, keys: &'a [String]) -> Self {
        let at: FxHashMap<&str, usize> =
            base.targets.iter().enumerate().map(|(at, target)| (target.name.as_str(), at)).collect();
        let mut targets = vec![Keys::default(); base.targets.len()];
        let mut shared = Keys::default();
        let mut of_targets = vec![None; keys.len()];
        for (key, name) in keys.iter().enumerate() {
            match at.get(target_of(name)) {
                Some(&target) if name.starts_with("target.") => {
                    targets[target].insert(key);
                    of_targets[key] = Some(target);
                }
                _ => shared.insert(key),
            }
        }
        let named = base.off.iter().filter_map(|off| at.get(off.target.as_deref()?).copied());
        let defines = |name: &str| match name.strip_prefix("stack.") {
            Some(package) => FRAMEWORKS.contains(&package),
            None => [".gpu", ".os", ".arch", ".image"].iter().any(|setting| name.ends_with(setting)),
        };
        Search {
            asker,
            base,
            keys,
            overridden: named.collect(),
            targets,
            target_of: of_targets,
            masked: RefCell::default(),
            shared,
            defining: Keys::filter(keys.len(), |key| defines(&keys[key])),
            remainders: Vec::new(),
            left_out: vec![0; keys.len()],
            clashes: FxHashSet::default(),
            doubtful: Vec::new(),
        }
    }

    /// Whether the spec with only these keys has an answer.
    fn has_answer(&mut self, kept: &Keys) -> Result<bool, Spent> {
        Ok(self.verdict(kept)?.is_none())
    }

    /// None if the spec with only these keys has an answer; else those of them that PubGrub's proof rests on.
    fn verdict(&mut self, kept: &Keys) -> Result<Option<Keys>, Spent> {
        if self.remainders.iter().any(|remainder| remainder.is_disjoint(kept)) {
            return Ok(None);
        }
        if self.clashes.contains(kept) {
            return Ok(Some(kept.clone()));
        }
        let verdict = match self.request(kept) {
            // A name that means nothing is an error of its own.
            None => Verdict::Solvable,
            Some(request) => self.asker.judge(&request),
        };
        match verdict {
            Verdict::Solvable => Ok(None),
            Verdict::GaveUp => Err(Spent),
            Verdict::Conflict(culprits) => {
                self.clashes.insert(kept.clone());
                Ok(Some(self.keys_of(&culprits, kept)))
            }
        }
    }

    /// The keys that a proof rests on.
    fn keys_of(&self, culprits: &[Culprit], kept: &Keys) -> Keys {
        let mut keys = Keys::default();
        for culprit in culprits {
            match culprit {
                Culprit::Key(name) => {
                    self.shared.rows().filter(|&key| self.keys[key] == *name).for_each(|key| keys.insert(key))
                }
                Culprit::Target(name) => {
                    let at = self.base.targets.binary_search_by(|target| (*target.name).cmp(name)).ok();
                    at.iter().for_each(|&at| keys.add(&self.targets[at]));
                    // What is compiled for is judged beside what compiles.
                    self.shared
                        .rows()
                        .filter(|&key| self.keys[key].starts_with("build."))
                        .for_each(|key| keys.insert(key));
                }
            }
        }
        keys.retain(kept);
        keys
    }

    /// The request of the spec with only these keys; none if a name in it means nothing.
    fn request(&self, kept: &Keys) -> Option<Request<'c>> {
        let dropped = self.shared.minus(kept);
        let edits: Vec<_> = dropped.rows().map(|key| (self.keys[key].clone(), None)).collect();
        let lists = edits.iter().any(|(key, _)| key.starts_with("build."));
        let mut request = self.asker.vary_stack(&edits)?;
        request.has_framework = self.base.has_framework;
        for at in self.targets_with(kept) {
            let dropped = self.targets[at].minus(kept);
            let target = if dropped.is_empty() { self.base.targets[at].clone() } else { self.masked(at, dropped)? };
            request.targets.push(target);
        }
        debug_assert!(!lists || request.build.as_ref().is_none_or(|build| build.arch_list.is_none()));
        Some(request)
    }

    /// The targets of which some key is kept, and one for all others: those are alike but for rules that are set aside for
    /// one of them.
    fn targets_with(&self, kept: &Keys) -> BTreeSet<usize> {
        let mut some: BTreeSet<usize> = kept.rows().filter_map(|key| self.target_of[key]).collect();
        some.extend(&self.overridden);
        some.extend((0..self.targets.len()).find(|at| !some.contains(at)));
        some
    }

    /// A target without some of its keys.
    fn masked(&self, at: usize, dropped: Keys) -> Option<TargetRequest<'c>> {
        let key = (at, dropped);
        if let Some(known) = self.masked.borrow().get(&key) {
            return Some(known.clone());
        }
        let edits = key.1.rows().map(|key| (self.keys[key].clone(), None)).collect();
        let read = self.asker.target(at, edits)?;
        let is_dropped = |setting: &str| key.1.rows().any(|dropped| self.keys[dropped] == read.key(setting));
        let target = match (is_dropped("glibc"), is_dropped("gcc")) {
            (false, false) => read,
            // A system implies these only where they are not written: of a machine that has others it is not to blame.
            (glibc, gcc) => {
                let reading = Reading {
                    glibc: read.glibc.filter(|_| !glibc),
                    gcc: read.gcc.filter(|_| !gcc),
                    ..Reading::clone(&read.reading)
                };
                let policy = read.driver_policy;
                TargetRequest { driver_policy: policy, ..TargetRequest::new(self.base.problem, &read.name, reading) }
            }
        };
        self.masked.borrow_mut().insert(key, target.clone());
        Some(target)
    }

    /// A clash of each machine that has none with any other's help: who knows them leaves them out at once.
    fn look_at_each_machine(&mut self, all: &Keys) -> Result<(), Spent> {
        for at in 0..self.targets.len() {
            let mut alone = self.targets[at].union(&self.shared).intersection(all);
            let Some(mut core) = self.verdict(&alone)? else { continue };
            // What a proof rests on, and of that no key that can be spared.
            if self.verdict(&core)?.is_some() {
                std::mem::swap(&mut alone, &mut core);
            }
            for key in alone.clone().rows() {
                let fewer = alone.minus(&Keys::singleton(key as u32));
                if self.verdict(&fewer)?.is_some() {
                    alone = fewer;
                }
            }
            self.doubtful.push(alone);
        }
        Ok(())
    }

    /// Adds the clashes that share no key with the first, and finds what is left where a key of one is gone.
    fn beside(
        &mut self,
        everything: &Keys,
        independent: &mut Vec<Keys>,
        smallest: &[Keys],
    ) -> Result<Vec<Keys>, Spent> {
        let mut rest = everything.minus(&independent[0]);
        while !self.has_answer(&rest)? {
            let Some(next) = self.smallest(&rest)?.into_iter().next().filter(|next| !next.is_empty()) else { break };
            let stands = self.stands(&next, &everything.minus(&rest))?;
            rest.subtract(&next);
            if stands {
                independent.push(next);
            }
        }
        smallest.iter().for_each(|clash| add_apart(independent, clash));
        self.further(everything, independent, smallest)
    }

    /// The smallest set that is known to have no answer.
    fn smallest_known(&self) -> Option<Keys> {
        let sets = self.clashes.iter();
        sets.min_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.rows().cmp(other.rows()))).cloned()
    }

    /// The clashes that are left where one key of a clash is gone and all others are out of the way, and where one key of each
    /// is gone: of these what is not told as an alternative.
    fn further(&mut self, all: &Keys, independent: &[Keys], told: &[Keys]) -> Result<Vec<Keys>, Spent> {
        let mut found: Vec<Keys> = Vec::new();
        for clash in independent {
            let mut others = Keys::default();
            independent.iter().filter(|other| *other != clash).for_each(|other| others.add(other));
            for gone in clash.rows().filter(|_| clash.len() > 1) {
                self.uncover(&all.minus(&others), &Keys::singleton(gone as u32), &mut found)?;
            }
        }
        let most = independent.iter().map(Keys::len).max().unwrap_or_default();
        for turn in (0..most).filter(|_| independent.len() > 1) {
            let of_each = independent.iter().filter_map(|clash| clash.rows().nth(turn % clash.len()));
            let mut gone = Keys::default();
            of_each.for_each(|key| gone.insert(key));
            let before = found.len();
            self.uncover(all, &gone, &mut found)?;
            if found[before..].iter().any(|clash| told.contains(clash)) {
                found.truncate(before);
            }
        }
        Ok(found)
    }

    /// The clash that is left of some keys where these are gone, if there is one that is not known.
    fn uncover(&mut self, of: &Keys, gone: &Keys, found: &mut Vec<Keys>) -> Result<(), Spent> {
        let left = of.minus(gone);
        let known = found.iter().any(|clash| clash.subset_of(&left));
        if found.len() == FURTHER || known || self.has_answer(&left)? {
            return Ok(());
        }
        let next = self.smallest(&left)?.into_iter().next().filter(|clash| !clash.is_empty());
        if let Some(next) = next
            && self.stands(&next, gone)?
        {
            found.push(next);
        }
        Ok(())
    }

    /// Whether a clash that was found with other keys left out is one for somebody who gives those another value: who
    /// changes a version does not do without the package.
    fn stands(&mut self, clash: &Keys, gone: &Keys) -> Result<bool, Spent> {
        if !self.is_smallest_on_its_machines(clash, gone)? {
            return Ok(false);
        }
        let packages = gone.filtered(&|key| {
            let package = self.keys[key].strip_prefix("stack.").filter(|name| !STACK_PARTS.contains(name));
            package.is_some()
        });
        if packages.is_empty() {
            return Ok(true);
        }
        let kept = clash.union(&packages);
        let dropped = (0..self.keys.len()).filter(|&key| !kept.has(key)).map(|key| (self.keys[key].clone(), None));
        let loosened = packages.rows().map(|key| (self.keys[key].clone(), Some("*".to_string())));
        let edits: Vec<Edit> = dropped.chain(loosened).collect();
        let Some(request) = self.asker.vary(&edits) else { return Ok(true) };
        self.asker.is_refuted(&request).ok_or(Spent)
    }

    /// Whether no key of a clash can be spared once its machines are again what they are written to be: a driver that has no
    /// answer without its GPU may serve with it, and then the clash is about the GPU.
    fn is_smallest_on_its_machines(&mut self, clash: &Keys, gone: &Keys) -> Result<bool, Spent> {
        let mut own = Keys::default();
        self.targets.iter().filter(|target| target.meets(clash)).for_each(|target| own.add(target));
        let machines = self.defining.intersection(&own).intersection(gone);
        if machines.is_empty() {
            return Ok(true);
        }
        let whole = clash.union(&machines);
        if self.has_answer(&whole)? {
            return Ok(false);
        }
        for key in clash.rows() {
            if !self.has_answer(&whole.minus(&Keys::singleton(key as u32)))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every smallest clash within `all`, the first by file order first.
    fn smallest(&mut self, all: &Keys) -> Result<Vec<Keys>, Spent> {
        for size in 0..=all.len() {
            let mut clashes: Vec<Keys> = Vec::new();
            while let Some(candidate) = self.hitting_set(all, size, &clashes)? {
                // What has an answer as soon as it is said what is asked for, and of which machines, is no clash.
                match self.with_answer(&candidate, all)? {
                    Some(solvable) => self.grow(&solvable, all)?,
                    None => clashes.push(candidate),
                }
            }
            if !clashes.is_empty() {
                clashes.sort_unstable_by(|one, other| one.rows().cmp(other.rows()));
                clashes.truncate(1 + ALTERNATIVES);
                return Ok(clashes);
            }
        }
        Ok(Vec::new())
    }

    /// A set of keys if it has an answer; else one with what is asked for besides, and what all machines are or its own, or
    /// with what its own machines are alone, if that has one.
    fn with_answer(&mut self, candidate: &Keys, all: &Keys) -> Result<Option<Keys>, Spent> {
        let mut own = self.shared.clone();
        self.targets.iter().filter(|target| target.meets(candidate)).for_each(|target| own.add(target));
        let of_all = candidate.union(&self.defining.intersection(all));
        let of_own = candidate.union(&self.defining.intersection(&own).intersection(all));
        let of_machines = candidate.union(&self.defining.intersection(&own.minus(&self.shared)).intersection(all));
        for keys in [candidate.clone(), of_all, of_own, of_machines] {
            if self.has_answer(&keys)? {
                return Ok(Some(keys));
            }
        }
        Ok(None)
    }

    /// The first set of so many keys of `all` that hits every remainder and is none of those known.
    fn hitting_set(&self, all: &Keys, size: usize, known: &[Keys]) -> Result<Option<Keys>, Spent> {
        let must: Vec<Keys> = self.remainders.iter().map(|remainder| remainder.intersection(all)).collect();
        let mut hit = Hit { must: &must, known, seen: FxHashSet::default(), steps: self.asker.steps };
        let found = hit.every(Keys::default(), size);
        if self.asker.steps.spent().is_some() { Err(Spent) } else { Ok(found) }
    }

    /// Adds keys to a set that has an answer for as long as it keeps one, and remembers what is left over.
    fn grow(&mut self, kept: &Keys, all: &Keys) -> Result<(), Spent> {
        let mut grown = all.clone();
        let mut dropped: Vec<usize> = Vec::new();
        for core in 0..self.doubtful.len() {
            if self.doubtful[core].subset_of(&grown) {
                dropped.extend(self.drop_one(core, kept, &mut grown));
            }
        }
        while let Some(core) = self.verdict(&grown)? {
            self.doubtful.push(core);
            match self.drop_one(self.doubtful.len() - 1, kept, &mut grown) {
                Some(key) => dropped.push(key),
                None => {
                    // The set itself is what the proof rests on, yet it has an answer: a key changes what is asked.
                    grown = kept.clone();
                    dropped.clear();
                    break;
                }
            }
        }
        // What was left out for a proof that was not the whole truth comes back.
        for key in dropped {
            self.compare(self.clashes.len() + self.doubtful.len());
            let more = grown.union(&Keys::singleton(key as u32));
            let doubtful = self.clashes.iter().chain(&self.doubtful).any(|clash| clash.subset_of(&more));
            if !doubtful && self.verdict(&more)?.is_none() {
                grown = more;
            }
        }
        let remainder = Keys::first(self.keys.len()).minus(&grown);
        remainder.rows().for_each(|key| self.left_out[key] += 1);
        self.remainders.push(remainder);
        Ok(())
    }

    /// Counts so many comparisons of sets as work.
    fn compare(&self, sets: usize) {
        self.asker.steps.add(sets as u64 / SETS_A_STEP);
    }

    /// Leaves out a key on which a proof rests: one seldom left out before, so that remainders differ; of those the one
    /// that most proofs rest on.
    fn drop_one(&self, core: usize, kept: &Keys, grown: &mut Keys) -> Option<usize> {
        let core = self.doubtful[core].minus(kept);
        self.compare(core.len() * self.doubtful.len());
        let shared_by = |key: usize| self.doubtful.iter().filter(|other| other.has(key)).count();
        let key = core.rows().min_by_key(|&key| (self.left_out[key], std::cmp::Reverse(shared_by(key))))?;
        grown.subtract(&Keys::singleton(key as u32));
        Some(key)
    }
}

/// The spec with only some of its keys.
pub(super) fn only(spec: &Spec, kept: &[String]) -> Spec {
    let keys = spec.keys();
    spec.without_all(keys.iter().filter(|key| !kept.contains(key)).map(String::as_str))
}
