//! Tests of `fleet::plan::cover`.

use super::*;

fn set(classes: &[usize]) -> RowSet {
    let mut set = RowSet::default();
    classes.iter().for_each(|&class| set.insert(class));
    set
}

/// Numbers that look like chance and are the same on every machine.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// The fewest by trying every choice.
fn by_hand(count: usize, sets: &[RowSet]) -> usize {
    let holds_all = |choice: &u32| {
        let mut left = RowSet::first(count);
        (0..sets.len()).filter(|at| choice >> at & 1 == 1).for_each(|at| left.subtract(&sets[at]));
        left.is_empty()
    };
    (0..1u32 << sets.len()).filter(holds_all).map(|choice| choice.count_ones() as usize).min().unwrap()
}

#[test]
fn families_and_covers_are_those_that_trying_everything_finds() {
    let mut seed = 7;
    for round in 0..300 {
        let count = 2 + (random(&mut seed) % 8) as usize;
        // What is served: everything inside one of a few sets, which together hold all.
        let mut served: Vec<RowSet> = (0..count).map(|class| set(&[class])).collect();
        for _ in 0..1 + random(&mut seed) % 5 {
            let chance = random(&mut seed);
            served.push(RowSet::filter(count, |class| chance >> (class * 3) & 7 > 2));
        }
        let served = only_largest(served);
        let mut serves = |asked: &RowSet| served.iter().any(|one| asked.minus(one).is_empty());
        let weights = vec![1; count];
        let family = Family::find(&weights, vec![RowSet::first(count)], &mut serves);
        assert_eq!(family.sets.len(), served.len(), "round {round}: {family:?} {served:?}");
        assert!(family.sets.iter().all(|set| served.contains(set)), "round {round}");
        let cover = family.cover(&weights);
        let wanted = by_hand(count, &served);
        assert_eq!((cover.chosen.len(), cover.at_least), (wanted, wanted), "round {round}: {served:?}");
    }
}

#[test]
fn many_classes_are_grown_and_bounded() {
    let count = 40;
    let served = [RowSet::filter(count, |class| class < 25), RowSet::filter(count, |class| class >= 15)];
    let mut serves = |asked: &RowSet| served.iter().any(|one| asked.minus(one).is_empty());
    let weights: Vec<usize> = (1..=count).collect();
    for upper in [vec![RowSet::first(count)], served.to_vec()] {
        let exact = upper.len() == 2;
        let family = Family::find(&weights, upper, &mut serves);
        let cover = family.cover(&weights);
        assert_eq!((cover.chosen.len(), cover.at_least), (2, 2));
        let (best, most) = family.heaviest(&weights).unwrap();
        assert_eq!((best, most == weight(&weights, best)), (&served[1], exact));
    }
}
