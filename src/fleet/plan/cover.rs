//! Which classes go together, as sets and nothing else: the largest sets that one stack serves, and the fewest of them
//! that hold every class.
//!
//! Of what one stack serves it serves every part, so a family of such sets is known by its largest. With few classes all
//! of these are found; with many, those inside the sets that no stack can go beyond, which also tell how few will never do.

use crate::solve::rowset::RowSet;

/// So many classes are planned exactly whatever they are; above that a bound is proven.
pub const EXACT: usize = 12;

/// How many branches a search for the fewest sets may take.
const BRANCHES: usize = 100_000;

/// Whether one stack serves some classes.
pub type Serves<'a> = dyn FnMut(&RowSet) -> bool + 'a;

/// The sets of classes that one stack serves.
#[derive(Debug, Clone)]
pub struct Family {
    /// Sets that one stack serves; all of the largest where `upper` is the same.
    pub sets: Vec<RowSet>,
    /// What no stack goes beyond: whatever one serves is inside one of these.
    pub upper: Vec<RowSet>,
}

/// Some sets that hold everything, and how many it takes at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// Positions of the sets.
    pub chosen: Vec<usize>,
    /// No fewer will do.
    pub at_least: usize,
}

impl Family {
    /// The family of `weights.len()` classes, each of which some stack serves. `upper` are sets that no stack goes
    /// beyond; `weights` tells how many hosts each class has.
    pub fn find(weights: &[usize], upper: Vec<RowSet>, serves: &mut Serves<'_>) -> Family {
        let all = RowSet::first(weights.len());
        if serves(&all) {
            return Family { sets: vec![all.clone()], upper: vec![all] };
        }
        if weights.len() <= EXACT {
            let sets = every_largest(weights.len(), serves);
            return Family { upper: sets.clone(), sets };
        }
        let mut upper = only_largest(upper);
        crate::types::sort_by_key(&mut upper, |set| std::cmp::Reverse(weight(weights, set)));
        let mut sets: Vec<RowSet> = Vec::new();
        for bound in &upper {
            if bound.len() < weights.len() && serves(bound) {
                sets.push(bound.clone());
                continue;
            }
            let mut left = bound.clone();
            while let Some(first) = heaviest_class(weights, &left) {
                let grown = grown(weights, first, bound, serves);
                left.subtract(&grown);
                sets.push(grown);
            }
        }
        let sets = only_largest(sets);
        Family { sets, upper }
    }

    /// The set that holds the most hosts, and how many one could hold at most.
    pub fn heaviest(&self, weights: &[usize]) -> Option<(&RowSet, usize)> {
        let most = |sets: &[RowSet]| sets.iter().map(|set| weight(weights, set)).max().unwrap_or(0);
        let found = most(&self.sets);
        let set = self.sets.iter().find(|set| weight(weights, set) == found)?;
        Some((set, most(&self.upper)))
    }

    /// The fewest sets that hold every class, the heaviest first.
    pub fn cover(&self, weights: &[usize]) -> Cover {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        crate::types::sort_by_key(&mut order, |&at| (std::cmp::Reverse(weight(weights, &self.sets[at])), at));
        let sets: Vec<RowSet> = order.iter().map(|&at| self.sets[at].clone()).collect();
        let found = fewest(weights.len(), &sets);
        let bound = if self.upper == self.sets { found.at_least } else { fewest(weights.len(), &self.upper).at_least };
        // All classes together were asked for first.
        let at_least = bound.max(found.chosen.len().min(2));
        let mut chosen: Vec<usize> = found.chosen;
        chosen.sort_unstable();
        Cover { chosen: chosen.into_iter().map(|at| order[at]).collect(), at_least }
    }
}

/// How many hosts the classes of a set have.
pub fn weight(weights: &[usize], set: &RowSet) -> usize {
    set.rows().map(|class| weights[class]).sum()
}

fn heaviest_class(weights: &[usize], among: &RowSet) -> Option<usize> {
    among.rows().max_by_key(|&class| (weights[class], std::cmp::Reverse(class)))
}

/// Those that are inside no other.
fn only_largest(sets: Vec<RowSet>) -> Vec<RowSet> {
    let mut largest: Vec<RowSet> = Vec::new();
    for set in sets {
        if largest.iter().any(|known| set.minus(known).is_empty()) {
            continue;
        }
        largest.retain(|known| !known.minus(&set).is_empty());
        largest.push(set);
    }
    largest
}

/// A set around one class, inside a bound, to which no other class of that bound can be added.
fn grown(weights: &[usize], first: usize, bound: &RowSet, serves: &mut Serves<'_>) -> RowSet {
    let mut kept = RowSet::default();
    kept.insert(first);
    let mut others: Vec<usize> = bound.rows().filter(|&class| class != first).collect();
    crate::types::sort_by_key(&mut others, |&class| (std::cmp::Reverse(weights[class]), class));
    add(&mut kept, &others, serves);
    kept
}

/// Adds as many classes as can be, many at once where they all fit.
fn add(kept: &mut RowSet, classes: &[usize], serves: &mut Serves<'_>) {
    if classes.is_empty() {
        return;
    }
    let mut with = kept.clone();
    classes.iter().for_each(|&class| with.insert(class));
    if serves(&with) {
        *kept = with;
    } else if classes.len() > 1 {
        let (one, other) = classes.split_at(classes.len() / 2);
        add(kept, one, serves);
        add(kept, other, serves);
    }
}

/// Every largest set of few classes. Each set that is not served holds a smallest one that is not; the largest sets
/// without any of those are tried until all are served.
fn every_largest(count: usize, serves: &mut Serves<'_>) -> Vec<RowSet> {
    let (mut clashes, mut found): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    loop {
        let next = largest_without(count, &clashes).into_iter().find(|set| !found.contains(set));
        let Some(set) = next else { break };
        if serves(&rows_of(set)) {
            found.push(set);
        } else {
            clashes.push(shrunk(set, serves));
        }
    }
    found.sort_unstable();
    found.into_iter().map(rows_of).collect()
}

/// The largest sets that hold none of some clashes.
fn largest_without(count: usize, clashes: &[u32]) -> Vec<u32> {
    let free = |set: u32| clashes.iter().all(|clash| set & clash != *clash);
    let is_largest = |set: u32| (0..count).all(|class| set >> class & 1 == 1 || !free(set | 1 << class));
    (0..1u32 << count).filter(|&set| free(set) && is_largest(set)).collect()
}

/// What of a set that is not served suffices for that.
fn shrunk(set: u32, serves: &mut Serves<'_>) -> u32 {
    let mut left = set;
    for class in (0..u32::BITS).filter(|class| set >> class & 1 == 1) {
        let without = left & !(1 << class);
        if !serves(&rows_of(without)) {
            left = without;
        }
    }
    left
}

fn rows_of(set: u32) -> RowSet {
    RowSet::filter(u32::BITS as usize, |class| set >> class & 1 == 1)
}

/// The fewest of some sets that hold `count` classes, found by branch and bound.
fn fewest(count: usize, sets: &[RowSet]) -> Cover {
    let mut search = Search { sets, best: greedy(count, sets), chosen: Vec::new(), branches: 0 };
    let all = RowSet::first(count);
    let at_least = apart(&all, sets);
    if at_least < search.best.len() {
        search.go(&all);
    }
    let proven = if search.branches < BRANCHES { search.best.len() } else { at_least };
    Cover { chosen: search.best, at_least: proven }
}

struct Search<'s> {
    sets: &'s [RowSet],
    best: Vec<usize>,
    chosen: Vec<usize>,
    branches: usize,
}

impl Search<'_> {
    fn go(&mut self, left: &RowSet) {
        self.branches += 1;
        if self.branches >= BRANCHES {
            return;
        }
        if left.is_empty() {
            if self.chosen.len() < self.best.len() {
                self.best.clone_from(&self.chosen);
            }
            return;
        }
        if self.chosen.len() + apart(left, self.sets) >= self.best.len() {
            return;
        }
        // The class with the fewest sets leaves the least to try.
        let holding = |class: usize| self.sets.iter().filter(|set| set.has(class)).count();
        let Some(class) = left.rows().min_by_key(|&class| holding(class)) else { return };
        let mut tries: Vec<usize> = (0..self.sets.len()).filter(|&at| self.sets[at].has(class)).collect();
        crate::types::sort_by_key(&mut tries, |&at| (left.minus(&self.sets[at]).len(), at));
        for at in tries {
            self.chosen.push(at);
            self.go(&left.minus(&self.sets[at]));
            self.chosen.pop();
        }
    }
}

/// Sets that hold everything, each time the one that holds most of what is left.
fn greedy(count: usize, sets: &[RowSet]) -> Vec<usize> {
    let (mut left, mut chosen) = (RowSet::first(count), Vec::new());
    while !left.is_empty() {
        let gain = |at: usize| left.len() - left.minus(&sets[at]).len();
        let best = (0..sets.len()).max_by_key(|&at| (gain(at), std::cmp::Reverse(at)));
        let Some(at) = best.filter(|&at| gain(at) > 0) else { break };
        left.subtract(&sets[at]);
        chosen.push(at);
    }
    chosen
}

/// How many classes can be found of which no two are in one set: it takes as many sets at least.
fn apart(left: &RowSet, sets: &[RowSet]) -> usize {
    let holding = |class: usize| sets.iter().filter(move |set| set.has(class));
    let mut order: Vec<usize> = left.rows().collect();
    crate::types::sort_by_key(&mut order, |&class| (holding(class).map(RowSet::len).sum::<usize>(), class));
    let (mut beside, mut count) = (RowSet::default(), 0);
    for class in order {
        if !beside.has(class) {
            holding(class).for_each(|set| beside.add(set));
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests;
