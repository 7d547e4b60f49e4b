//! The answers of small worlds against the definition, by trying everything.

use super::*;

/// A small deterministic generator: tests must not depend on the day they run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

fn random_world(random: &mut Random) -> World {
    let mut world = World::default();
    let count = 1 + random.below(5);
    for _ in 0..count {
        let len = 1 + random.below(6);
        world.table(len);
    }
    for _ in 0..random.below(8) {
        let (a, b) = (random.below(count), random.below(count));
        let (density, salt) = (1 + random.below(4), random.below(1000) as u64);
        let fits = |x: usize, y: usize| Random(salt + 31 * x as u64 + 977 * y as u64).below(5) < density;
        if a == b {
            world.keep(a, |row| fits(row, 0));
        } else if random.below(3) == 0 {
            // Each row of one table belongs to one of the other, as releases belong to versions.
            let modulus = 2 + random.below(3);
            world.relate(a, b, |x, y| x == y % modulus);
        } else {
            world.relate(a, b, fits);
        }
    }
    world
}

/// The definition of the answer: the first admitted selection in lexicographic order.
fn brute_force(world: &World) -> Outcome {
    let mut choice = Vec::new();
    fn descend(world: &World, choice: &mut Vec<usize>) -> bool {
        if choice.len() == world.len() {
            return world.admits(choice);
        }
        for row in world.rows(choice.len()).rows().collect::<Vec<_>>() {
            choice.push(row);
            if descend(world, choice) {
                return true;
            }
            choice.pop();
        }
        false
    }
    if descend(world, &mut choice) { Outcome::Chosen(choice) } else { Outcome::Nothing }
}

#[test]
fn verdict_and_optimum_equal_brute_force() {
    let mut random = Random(2026);
    let mut chosen = 0;
    for round in 0..20_000 {
        let world = random_world(&mut random);
        let expected = brute_force(&world);
        chosen += usize::from(matches!(expected, Outcome::Chosen(_)));
        assert_eq!(world.solve(&Steps::new(10_000)), expected, "round {round}: {world:?}");
        assert_eq!(world.solve_unmerged(&Steps::new(10_000)), expected, "round {round}: {world:?}");
    }
    assert!((5_000..19_000).contains(&chosen), "the generator must make both verdicts: {chosen}");
}

#[test]
fn a_relation_never_adds_answers() {
    let mut random = Random(7);
    for _ in 0..2_000 {
        let mut world = random_world(&mut random);
        let before = world.solve(&Steps::new(10_000));
        let (a, b) = (0, world.len() - 1);
        if a != b {
            world.relate(a, b, |x, y| (x + y) % 3 != 0);
        }
        if before == Outcome::Nothing {
            assert_eq!(world.solve(&Steps::new(10_000)), Outcome::Nothing);
        }
    }
}

#[test]
fn decisions_do_not_grow_with_indistinguishable_rows() {
    let taken = |scale: usize| {
        let mut world = World::default();
        let (a, b, c) = (world.table(40 * scale), world.table(30 * scale), world.table(10));
        world.relate(a, b, |x, y| (x / scale + y / scale).is_multiple_of(7));
        world.relate(b, c, |y, z| (y / scale) % 5 == z % 5 && z > 6);
        world.relate(a, c, |x, z| x / scale > 20 || z < 3);
        let steps = Steps::new(1_000_000);
        assert!(matches!(world.solve(&steps), Outcome::Chosen(_)));
        steps.taken()
    };
    assert_eq!(taken(1), taken(10));
    assert_eq!(taken(1), taken(50));
}

#[test]
fn the_step_limit_ends_the_search() {
    let mut world = World::default();
    let tables: Vec<Table> = (0..8).map(|_| world.table(7)).collect();
    for (at, &a) in tables.iter().enumerate() {
        for &b in &tables[at + 1..] {
            world.relate(a, b, |x, y| x != y);
        }
    }
    assert_eq!(world.solve(&Steps::new(50)), Outcome::GaveUp);
}
