//! A set of keys that hits all of some sets: what a clash has to be.

use pubgrub::VersionSet;
use rustc_hash::FxHashSet;

use crate::solve::engine::Steps;

use super::{Keys, SETS_A_STEP};

/// The search for a set that hits all of some sets.
pub(super) struct Hit<'s> {
    /// What must be hit.
    pub must: &'s [Keys],
    /// What is not looked for.
    pub known: &'s [Keys],
    /// The sets that were tried.
    pub seen: FxHashSet<Keys>,
    pub steps: &'s Steps,
}

impl Hit<'_> {
    /// Adds up to `more` keys to a set so that it hits everything that it must, whereby it becomes none of those known.
    pub fn every(&mut self, chosen: Keys, more: usize) -> Option<Keys> {
        if self.steps.spent().is_some() || !self.seen.insert(chosen.clone()) {
            return None;
        }
        self.steps.add(1 + self.must.len() as u64 / SETS_A_STEP);
        let missed: Vec<&Keys> = self.must.iter().filter(|set| set.is_disjoint(&chosen)).collect();
        let Some(least) = missed.iter().min_by_key(|set| set.len()) else {
            return (!self.known.contains(&chosen)).then_some(chosen);
        };
        // The last key is one that all of them hold.
        let keys = match more {
            0 => return None,
            1 => missed.iter().fold(Keys::clone(least), |common, set| common.intersection(set)),
            _ => Keys::clone(least),
        };
        let mut keys = keys.rows();
        keys.find_map(|key| self.every(chosen.union(&Keys::singleton(key as u32)), more - 1))
    }
}
