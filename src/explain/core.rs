//! Which written keys clash: the smallest sets, found by asking again with keys left out.
//!
//! Every set of keys that does have an answer is grown as far as it goes; what is left out of it must be hit by
//! every clash. So the smallest clash is the smallest set that hits all these remainders and has no answer
//! itself (implicit hitting sets: Ignatiev, Previti, Liffiton and Marques-Silva, 2015).

use std::collections::HashSet;

use crate::solve::resolve::is_solvable;
use crate::spec::Spec;

use super::{Asker, needed, target_of};

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
/// Of a spec with more keys each machine is asked about alone first: the smallest clash of all would take too long.
const MANY: usize = 48;

impl Cores {
    /// Finds the clashes; none if the spec has an answer, or the limit was reached.
    pub fn find(asker: &Asker<'_, '_>, spec: &Spec) -> Option<Cores> {
        let keys = spec.keys();
        let mut search = Search { asker, spec, keys: &keys, remainders: Vec::new(), clashes: HashSet::new() };
        let everything: Vec<usize> = (0..keys.len()).collect();
        if search.has_answer(&everything)? {
            return None;
        }
        if keys.len() > MANY {
            let independent = search.of_a_fleet(&everything)?;
            let independent = named(&keys, &independent);
            return Some(Cores { independent, alternatives: Vec::new(), further: Vec::new() });
        }
        let smallest = search.smallest(&everything)?;
        let first = smallest.first()?.clone();
        let mut independent = vec![first.clone()];
        let mut rest: Vec<usize> = everything.iter().copied().filter(|key| !first.contains(key)).collect();
        while !search.has_answer(&rest)? {
            let next = search.smallest(&rest)?.first()?.clone();
            rest.retain(|key| !next.contains(key));
            if next.is_empty() {
                break;
            }
            independent.push(next);
        }
        let further = search.further(&everything, &independent)?;
        Some(Cores {
            independent: named(&keys, &independent),
            alternatives: named(&keys, &smallest[1..]),
            further: named(&keys, &further),
        })
    }
}

fn named(keys: &[String], cores: &[Vec<usize>]) -> Vec<Vec<String>> {
    cores.iter().map(|core| core.iter().map(|&key| keys[key].clone()).collect()).collect()
}

struct Search<'a, 'c, 's> {
    asker: &'a Asker<'c, 's>,
    spec: &'a Spec,
    keys: &'a [String],
    /// For each set of keys known to have an answer, the keys outside it.
    remainders: Vec<Vec<usize>>,
    /// Sets of keys known to have none. A larger set may yet have one: a GPU that is named can be one that
    /// forward compatibility serves.
    clashes: HashSet<Vec<usize>>,
}

impl Search<'_, '_, '_> {
    /// Whether the spec with only these keys has an answer.
    fn has_answer(&mut self, kept: &[usize]) -> Option<bool> {
        if self.remainders.iter().any(|remainder| remainder.iter().all(|key| !kept.contains(key))) {
            return Some(true);
        }
        let mut sorted = kept.to_vec();
        sorted.sort();
        if self.clashes.contains(&sorted) {
            return Some(false);
        }
        let has_answer = self.ask(kept)?;
        if !has_answer {
            self.clashes.insert(sorted);
        }
        Some(has_answer)
    }

    fn ask(&self, kept: &[usize]) -> Option<bool> {
        let dropped = (0..self.keys.len()).filter(|key| !kept.contains(key)).map(|key| self.keys[key].as_str());
        match self.asker.question(&self.spec.without_all(dropped)) {
            Some(question) => is_solvable(&question, self.asker.steps),
            None => Some(true),
        }
    }

    /// Clashes that share no key, in a spec of many machines: those of the stack alone, then those of each machine
    /// with it, and last those between machines, of which no key can be left out. The smallest stand first.
    fn of_a_fleet(&mut self, all: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut rest = all.to_vec();
        let machines: Vec<String> = self.spec.targets.iter().map(|target| target.name.clone()).collect();
        for machine in std::iter::once("").chain(machines.iter().map(String::as_str)) {
            loop {
                let own = |key: &&usize| matches!(target_of(&self.keys[**key]), of if of.is_empty() || of == machine);
                let part: Vec<usize> = rest.iter().filter(own).copied().collect();
                if self.has_answer(&part)? {
                    break;
                }
                // The keys of the stack may be needed to tell of another machine.
                let shared =
                    |clash: &Vec<usize>| clash.iter().filter(|key| target_of(&self.keys[**key]).is_empty()).count();
                let smallest = self.smallest(&part)?;
                let clash = smallest.into_iter().min_by_key(shared)?;
                if clash.is_empty() {
                    return Some(vec![clash]);
                }
                rest.retain(|key| !clash.contains(key));
                found.push(clash);
            }
        }
        while !self.has_answer(&rest)? {
            let clash = needed(&rest, |fewer| Some(!self.has_answer(fewer)?))?;
            if clash.is_empty() {
                break;
            }
            rest.retain(|key| !clash.contains(key));
            found.push(clash);
        }
        found.sort_by_key(Vec::len);
        Some(found)
    }

    /// The clashes that are left where one key of a clash is gone, and all others are out of the way.
    fn further(&mut self, all: &[usize], independent: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        for clash in independent {
            let others: Vec<usize> = independent.iter().filter(|other| *other != clash).flatten().copied().collect();
            for gone in clash.iter().filter(|_| clash.len() > 1) {
                let left: Vec<usize> = all.iter().copied().filter(|key| key != gone && !others.contains(key)).collect();
                let known = found.iter().any(|clash| clash.iter().all(|key| left.contains(key)));
                if found.len() < FURTHER && !known && !self.has_answer(&left)? {
                    found.extend(self.smallest(&left)?.into_iter().next().filter(|clash| !clash.is_empty()));
                }
            }
        }
        Some(found)
    }

    /// Every smallest clash within `all`, the first by file order first.
    fn smallest(&mut self, all: &[usize]) -> Option<Vec<Vec<usize>>> {
        for size in 0..=all.len() {
            let mut clashes: Vec<Vec<usize>> = Vec::new();
            let mut at = first_subset(size);
            while let Some(picks) = &at {
                let subset: Vec<usize> = picks.iter().map(|&pick| all[pick]).collect();
                match self.missed_remainder(&subset, all) {
                    Some(must_hit) => at = skip_to_hit(picks, &must_hit, all),
                    None => {
                        if self.has_answer(&subset)? {
                            self.grow(&subset, all)?;
                        } else {
                            clashes.push(subset);
                            if clashes.len() > ALTERNATIVES {
                                return Some(clashes);
                            }
                        }
                        at = next_subset(picks, all.len());
                    }
                }
            }
            if !clashes.is_empty() {
                return Some(clashes);
            }
        }
        Some(Vec::new())
    }

    /// A remainder, restricted to `all`, that `subset` does not hit: then the subset has an answer.
    fn missed_remainder(&self, subset: &[usize], all: &[usize]) -> Option<Vec<usize>> {
        let missed = self.remainders.iter().find(|remainder| remainder.iter().all(|key| !subset.contains(key)))?;
        Some(missed.iter().copied().filter(|key| all.contains(key)).collect())
    }

    /// Adds keys to a set that has an answer for as long as it keeps one, and remembers what is left over.
    fn grow(&mut self, subset: &[usize], all: &[usize]) -> Option<()> {
        let others: Vec<usize> = all.iter().copied().filter(|key| !subset.contains(key)).collect();
        let mut kept = subset.to_vec();
        self.add(&mut kept, &others)?;
        self.remainders.push((0..self.keys.len()).filter(|key| !kept.contains(key)).collect());
        Some(())
    }

    /// Adds those of some keys that leave an answer, many at once where they can be.
    fn add(&mut self, kept: &mut Vec<usize>, keys: &[usize]) -> Option<()> {
        let with: Vec<usize> = kept.iter().chain(keys).copied().collect();
        // What holds a clash is not asked about again: to leave a key out that might stay does no harm.
        let clashes = self.clashes.iter().any(|clash| clash.iter().all(|key| with.contains(key)));
        if !clashes && self.has_answer(&with)? {
            *kept = with;
        } else if keys.len() > 1 {
            let (some, others) = keys.split_at(keys.len() / 2);
            self.add(kept, some)?;
            self.add(kept, others)?;
        }
        Some(())
    }
}

fn first_subset(size: usize) -> Option<Vec<usize>> {
    Some((0..size).collect())
}

/// The next subset of the same size in lexicographic order, positions below `len`.
fn next_subset(picks: &[usize], len: usize) -> Option<Vec<usize>> {
    let movable = (0..picks.len()).rev().find(|&at| picks[at] + (picks.len() - at) < len)?;
    let mut next = picks[..movable].to_vec();
    next.extend((0..picks.len() - movable).map(|offset| picks[movable] + 1 + offset));
    Some(next)
}

/// The next subset that can hit a remainder: while the last pick lies before every member of it, larger
/// last picks are tried at once.
fn skip_to_hit(picks: &[usize], must_hit: &[usize], all: &[usize]) -> Option<Vec<usize>> {
    let mut next = next_subset(picks, all.len())?;
    while !next.iter().any(|&pick| must_hit.contains(&all[pick])) {
        next = next_subset(&next, all.len())?;
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_come_in_lexicographic_order_and_end() {
        let mut at = first_subset(2);
        let mut seen = Vec::new();
        while let Some(picks) = at {
            seen.push(picks.clone());
            at = next_subset(&picks, 4);
        }
        assert_eq!(seen, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(next_subset(&[], 4), None);
    }
}
