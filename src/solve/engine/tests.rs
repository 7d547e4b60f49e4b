//! The answers of small networks against the definition, by trying everything.

use super::*;
use crate::solve::network::{Order, Says};

/// A small deterministic generator: tests must not depend on the day they run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    fn rows(&mut self, len: usize) -> RowSet {
        let density = 1 + self.below(4);
        let mut rows = RowSet::default();
        for row in 0..len {
            if self.below(5) < density {
                rows.insert(row);
            }
        }
        rows
    }
}

/// What a random network is made of, so that it can be made again with fewer premises.
struct Parts {
    lens: Vec<usize>,
    descending: Vec<bool>,
    first: Vec<RowSet>,
    premises: Vec<Vec<(Var, RowSet)>>,
    relations: Vec<(Var, Var, Vec<RowSet>)>,
}

impl Parts {
    fn random(random: &mut Random) -> Parts {
        let count = 1 + random.below(5);
        let lens: Vec<usize> = (0..count).map(|_| 1 + random.below(6)).collect();
        let descending = lens.iter().map(|_| random.below(4) == 0).collect();
        let mut first = vec![RowSet::default(); count];
        for var in 0..count {
            if random.below(4) == 0 {
                first[var] = random.rows(lens[var]);
            }
        }
        let mut premises = vec![Vec::new(); random.below(5)];
        for premise in &mut premises {
            for _ in 0..1 + random.below(2) {
                let var = random.below(count);
                premise.push((var, random.rows(lens[var])));
            }
        }
        let mut relations = Vec::new();
        for _ in 0..random.below(7) {
            let (a, b) = (random.below(count), random.below(count));
            if a < b {
                relations.push((a, b, (0..lens[a]).map(|_| random.rows(lens[b])).collect()));
            }
        }
        Parts { lens, descending, first, premises, relations }
    }

    fn network(&self, premises: impl Iterator<Item = usize>) -> Network<'_> {
        let mut network = Network::default();
        for ((&len, &descending), first) in self.lens.iter().zip(&self.descending).zip(&self.first) {
            let order = if descending { Order::Descending } else { Order::Ascending };
            network.variable(len, order, first.clone(), Vec::new());
        }
        for premise in premises {
            network.premise(Says::Machine(premise), self.premises[premise].clone());
        }
        for (from, to, partners) in &self.relations {
            network.relate(*from, *to, |row| partners[row].clone());
        }
        network
    }

    /// The rows of a variable in the order in which they are preferred.
    fn order(&self, var: Var) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.lens[var]).collect();
        if self.descending[var] {
            rows.reverse();
        }
        rows.sort_by_key(|&row| !self.first[var].has(row));
        rows
    }
}

/// The definition of the answer: the first admitted selection in lexicographic order.
fn brute_force(parts: &Parts, network: &Network<'_>) -> Option<Vec<usize>> {
    fn descend(parts: &Parts, network: &Network<'_>, choice: &mut Vec<usize>) -> bool {
        if choice.len() == network.count() {
            return network.admits(choice);
        }
        for row in parts.order(choice.len()) {
            choice.push(row);
            if descend(parts, network, choice) {
                return true;
            }
            choice.pop();
        }
        false
    }
    let mut choice = Vec::new();
    descend(parts, network, &mut choice).then_some(choice)
}

#[test]
fn verdict_optimum_and_proof_equal_brute_force() {
    let mut random = Random(2026);
    let (mut solved, mut refuted) = (0, 0);
    // `.ci/full` tries ten times as many.
    let rounds = if std::env::var_os("GPUENV_TEST_FULL").is_some() { 200_000 } else { 20_000 };
    for round in 0..rounds {
        let parts = Parts::random(&mut random);
        let network = parts.network(0..parts.premises.len());
        let steps = Steps::new(u64::MAX);
        match (solve(&network, &steps), brute_force(&parts, &network)) {
            (Outcome::Solved(selection), Some(best)) => {
                assert_eq!(selection.rows(), best, "round {round}");
                solved += 1;
            }
            (Outcome::Refuted(proof), None) => {
                // What the proof rests on has no answer by itself.
                let alone = parts.network(proof.premises.iter().copied());
                assert_eq!(brute_force(&parts, &alone), None, "round {round}");
                refuted += 1;
            }
            (found, expected) => panic!("round {round}: {found:?}, expected {expected:?}"),
        }
    }
    assert!(solved > 4_000 && refuted > 4_000, "{solved} solved, {refuted} refuted");
}

#[test]
fn a_step_limit_ends_the_search() {
    let mut network = Network::default();
    for _ in 0..8 {
        network.variable(8, Order::Ascending, RowSet::default(), Vec::new());
    }
    for from in 0..7 {
        // Eight pigeons, seven holes.
        for to in from + 1..8 {
            network.relate(from, to, move |row| RowSet::filter(7, |other| other != row));
        }
    }
    let steps = Steps::new(20);
    assert!(matches!(solve(&network, &steps), Outcome::GaveUp));
    assert!(steps.spent().is_some());
}
