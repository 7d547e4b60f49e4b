//! A closed world: finite tables of rows and the pairs of rows that go together. Asking it for the best
//! selection of one row from each table is all the solving there is.
//!
//! Tables stand in the order of their importance and rows in the order of preference, so the answer is the
//! lexicographic optimum: the first table gets the best row any answer has, then the second, and so on.
//!
//! Before solving, rows that no relation can tell apart are merged into one class led by the most preferred:
//! PubGrub learns one row at a time, so its work depends on the number of distinguishable rows only.

use std::cell::Cell;
use std::hash::Hash;

use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError, VersionSet};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::Arrange;

use super::rowset::{Row, RowSet};

/// A table's position: the lower, the earlier it is decided.
pub type Table = usize;

/// Tables and relations.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// For each table, the rows that may be chosen.
    tables: Vec<RowSet>,
    relations: Vec<Relation>,
}

/// Which rows of `to` go together with each row of `from`.
#[derive(Debug, Clone)]
struct Relation {
    from: Table,
    to: Table,
    /// For each row of `from`, which of `partners` are its own. Many rows have the same.
    kinds: Vec<usize>,
    partners: Vec<RowSet>,
}

impl Relation {
    /// The rows of `to` that go together with a row of `from`.
    fn partners(&self, row: usize) -> &RowSet {
        &self.partners[self.kinds[row]]
    }

    /// Leaves out the rows of two tables that have no partner in the other; whether there were any.
    fn narrow(&self, tables: &mut [RowSet]) -> bool {
        let (mut from, mut to) = (RowSet::empty(), RowSet::empty());
        let (mut seen, mut paired) = (RowSet::empty(), RowSet::empty());
        for row in tables[self.from].rows() {
            let kind = self.kinds[row];
            if !seen.has(kind) {
                seen.insert(kind);
                if to.add_common(&self.partners[kind], &tables[self.to]) {
                    paired.insert(kind);
                }
            }
            if paired.has(kind) {
                from.insert(row);
            }
        }
        let narrowed = from != tables[self.from] || to != tables[self.to];
        (tables[self.from], tables[self.to]) = (from, to);
        narrowed
    }

    /// Whether no row of `to` goes together with two rows of `from`.
    fn parts_its_targets(&self) -> bool {
        let mut seen = RowSet::empty();
        let mut fresh = |row: usize| {
            !seen.has(row) && {
                seen.insert(row);
                true
            }
        };
        self.kinds.iter().all(|&kind| self.partners[kind].rows().all(&mut fresh))
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The chosen row of each table.
    Chosen(Vec<usize>),
    /// No selection satisfies every relation.
    Nothing,
    /// The step limit was reached before an answer.
    GaveUp,
}

/// How much work a question may be and was: the decisions taken, and what it cost to put it to the solver.
#[derive(Debug, Clone)]
pub struct Steps {
    limit: u64,
    taken: Cell<u64>,
}

impl Steps {
    /// At most `limit` steps.
    pub fn new(limit: u64) -> Self {
        Steps { limit, taken: Cell::new(0) }
    }

    /// The steps taken so far.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// Counts work that is no decision.
    pub fn add(&self, steps: u64) {
        self.taken.set(self.taken.get().saturating_add(steps));
    }

    /// The limit, once it was reached.
    pub fn spent(&self) -> Option<u64> {
        (self.taken.get() >= self.limit).then_some(self.limit)
    }
}

/// Rows that are alike, so that one of them can be judged for all.
pub struct Kinds {
    of_row: Vec<usize>,
    firsts: Vec<usize>,
}

impl Kinds {
    /// Rows in ascending order by their kinds.
    pub fn of<K: Hash + Eq>(rows: impl Iterator<Item = usize>, kind: impl Fn(usize) -> K) -> Kinds {
        let mut known: FxHashMap<K, usize> = FxHashMap::default();
        let mut kinds = Kinds { of_row: Vec::new(), firsts: Vec::new() };
        for row in rows {
            let fresh = known.len();
            let kind = *known.entry(kind(row)).or_insert(fresh);
            if kind == fresh {
                kinds.firsts.push(row);
            }
            kinds.of_row.resize(row, 0);
            kinds.of_row.push(kind);
        }
        kinds
    }

    /// What holds for the first row of each kind holds for all.
    pub fn judged<F: Fn(usize) -> bool>(&self, holds: F) -> impl Fn(usize) -> bool + use<'_, F> {
        let of_kind: Vec<bool> = self.firsts.iter().map(|&first| holds(first)).collect();
        move |row| of_kind[self.of_row[row]]
    }
}

impl World {
    /// Adds a table of `len` rows.
    pub fn table(&mut self, len: usize) -> Table {
        self.tables.push(RowSet::first(len));
        self.tables.len() - 1
    }

    /// Keeps only the rows of `table` that `keep` holds for.
    pub fn keep(&mut self, table: Table, keep: impl Fn(usize) -> bool) {
        self.tables[table] = self.tables[table].filtered(&keep);
    }

    /// The rows of `table` that may still be chosen.
    pub fn rows(&self, table: Table) -> &RowSet {
        &self.tables[table]
    }

    /// Number of tables.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether there is nothing to choose.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Only pairs for which `fits` holds go together.
    pub fn relate(&mut self, a: Table, b: Table, fits: impl Fn(usize, usize) -> bool) {
        let fits = |row: usize, other: usize| if a < b { fits(row, other) } else { fits(other, row) };
        self.add(a.min(b), a.max(b), &mut |row, others, known| {
            known.push(others.filtered(&|other| fits(row, other)));
            known.len() - 1
        });
    }

    /// The same as [`World::relate`] where many rows of `b`, the later table, fit the same rows of `a`: each row of `a`
    /// is asked about one row of each `kind` only.
    pub fn relate_to_kinds<K: Hash + Eq>(
        &mut self,
        a: Table,
        b: Table,
        kind: impl Fn(usize) -> K,
        fits: impl Fn(usize, usize) -> bool,
    ) {
        debug_assert!(a < b, "the later table has the kinds");
        let kinds = Kinds::of(self.tables[b].rows(), kind);
        self.add(a, b, &mut |row, others, known| {
            known.push(others.filtered(&kinds.judged(|other| fits(row, other))));
            known.len() - 1
        });
    }

    /// The same as [`World::relate`] where many rows of `a`, the earlier table, fit the same rows of `b`: what fits is
    /// worked out once for each `kind` of row.
    pub fn relate_kinds<K: Hash + Eq, F: Fn(usize) -> bool>(
        &mut self,
        a: Table,
        b: Table,
        kind: impl Fn(usize) -> K,
        fits: impl Fn(usize) -> F,
    ) {
        debug_assert!(a < b, "the earlier table has the kinds");
        let mut kinds: FxHashMap<K, usize> = FxHashMap::default();
        self.add(a, b, &mut |row, others, known| {
            *kinds.entry(kind(row)).or_insert_with(|| {
                known.push(others.filtered(&fits(row)));
                known.len() - 1
            })
        });
    }

    /// Each row of `b` goes together with one row of `a`, the earlier table, if with any.
    pub fn relate_parts(&mut self, a: Table, b: Table, whole: impl Fn(usize) -> Option<usize>) {
        debug_assert!(a < b, "the wholes come before their parts");
        let mut parts: FxHashMap<usize, RowSet> = FxHashMap::default();
        for part in self.tables[b].rows() {
            if let Some(whole) = whole(part) {
                parts.entry(whole).or_insert_with(RowSet::empty).insert(part);
            }
        }
        self.add(a, b, &mut |row, _, known| {
            known.push(parts.remove(&row).unwrap_or_else(RowSet::empty));
            known.len() - 1
        });
    }

    /// Adds a relation, and leaves out at once what it leaves without a partner: there is less to relate next.
    /// `kind` tells for a row of `from`, and the rows of `to` that are left, which of the sets found so far are its
    /// partners, after adding them if need be.
    fn add(&mut self, from: Table, to: Table, kind: &mut dyn FnMut(usize, &RowSet, &mut Vec<RowSet>) -> usize) {
        if self.is_hopeless() {
            return;
        }
        let len = self.tables[from].rows().last().map_or(0, |last| last + 1);
        let mut relation = Relation { from, to, kinds: vec![0; len], partners: Vec::new() };
        for row in self.tables[from].rows() {
            relation.kinds[row] = kind(row, &self.tables[to], &mut relation.partners);
        }
        relation.narrow(&mut self.tables);
        self.relations.push(relation);
    }

    /// Whether some table has no row left, so that nothing can be chosen.
    pub fn is_hopeless(&self) -> bool {
        self.tables.iter().any(RowSet::is_empty)
    }

    /// Whether a selection satisfies every relation and takes only rows that may be chosen.
    pub fn admits(&self, choice: &[usize]) -> bool {
        self.tables.iter().zip(choice).all(|(rows, &row)| rows.has(row))
            && self.relations.iter().all(|relation| relation.partners(choice[relation.from]).has(choice[relation.to]))
    }

    /// The rows of a table that go together with what is chosen in all others but some.
    pub fn beside(&self, table: Table, choice: &[usize], but: &[Table]) -> Vec<usize> {
        let related = |relation: &&Relation| match table {
            _ if relation.from == table => !but.contains(&relation.to),
            _ => relation.to == table && !but.contains(&relation.from),
        };
        let related: Vec<&Relation> = self.relations.iter().filter(related).collect();
        let fits = |row: usize, relation: &Relation| match relation.from == table {
            true => relation.partners(row).has(choice[relation.to]),
            false => relation.partners(choice[relation.from]).has(row),
        };
        self.tables[table].rows().filter(|&row| related.iter().all(|relation| fits(row, relation))).collect()
    }

    /// The best selection.
    pub fn solve(&self, steps: &Steps) -> Outcome {
        let Some(tables) = self.supported(self.tables.clone()) else { return Outcome::Nothing };
        if let Some(choice) = self.straight(tables.clone(), steps) {
            return Outcome::Chosen(choice);
        }
        let (small, leaders) = self.merge_equal_rows(&tables);
        small.solve_as_is(steps, |table, class| leaders[table][class])
    }

    /// The best selection where nothing must be taken back to find it, as it mostly is: from each table the first row
    /// that leaves every other table some row that has partners everywhere.
    fn straight(&self, mut tables: Vec<RowSet>, steps: &Steps) -> Option<Vec<usize>> {
        let mut choice = Vec::new();
        while choice.len() < tables.len() {
            if steps.spent().is_some() {
                return None;
            }
            steps.add(1);
            let row = tables[choice.len()].rows().next()?;
            let mut tried = tables.clone();
            tried[choice.len()] = RowSet::singleton(row as Row);
            match self.supported(tried) {
                Some(left) => {
                    tables = left;
                    choice.push(row);
                }
                None => {
                    tables[choice.len()].remove(row);
                    tables = self.supported(tables)?;
                }
            }
        }
        Some(choice)
    }

    /// The rows that have a partner in every relation, which has one in turn, and so on; none if a table has none.
    fn supported(&self, mut tables: Vec<RowSet>) -> Option<Vec<RowSet>> {
        // Only where a table has become smaller since a relation was looked at, there is anything new.
        let mut sizes: Vec<(usize, usize)> = vec![(usize::MAX, usize::MAX); self.relations.len()];
        let mut narrowed = true;
        while narrowed {
            if tables.iter().any(RowSet::is_empty) {
                return None;
            }
            narrowed = false;
            for (relation, seen) in self.relations.iter().zip(&mut sizes) {
                let size = |tables: &[RowSet]| (tables[relation.from].len(), tables[relation.to].len());
                if size(&tables) != *seen {
                    narrowed |= relation.narrow(&mut tables);
                    *seen = size(&tables);
                }
            }
        }
        Some(tables)
    }

    /// The best selection without merging rows first: the same answer, more slowly. For tests.
    pub fn solve_unmerged(&self, steps: &Steps) -> Outcome {
        if self.is_hopeless() {
            return Outcome::Nothing;
        }
        self.solve_as_is(steps, |_, row| row)
    }

    fn solve_as_is(&self, steps: &Steps, original: impl Fn(Table, usize) -> usize) -> Outcome {
        let mut requires: Vec<Vec<(usize, &Relation)>> = vec![Vec::new(); self.tables.len()];
        for relation in &self.relations {
            requires[relation.from].push((relation.to, relation));
        }
        let provider = Provider { world: self, requires, steps };
        match pubgrub::resolve(&provider, ROOT, 0u32) {
            Ok(selected) => {
                let mut choice = vec![0; self.tables.len()];
                for (package, row) in selected {
                    if package != ROOT {
                        choice[package as usize] = original(package as usize, row as usize);
                    }
                }
                Outcome::Chosen(choice)
            }
            Err(PubGrubError::NoSolution(_)) => Outcome::Nothing,
            Err(_) => Outcome::GaveUp,
        }
    }

    /// The world of some rows with one row for each set of indistinguishable ones, and the row that leads each.
    fn merge_equal_rows(&self, tables: &[RowSet]) -> (World, Vec<Vec<usize>>) {
        let mut leaders: Vec<Vec<usize>> = tables.iter().map(|rows| rows.rows().collect()).collect();
        let mut world = self.renumbered(&leaders);
        for table in 0..world.tables.len() {
            if let Some(kept) = world.without_repeats(table) {
                world.shrink(&mut leaders, &kept);
            }
        }
        loop {
            let kept: Vec<Vec<usize>> = (0..world.tables.len()).map(|table| world.distinct(table)).collect();
            if kept.iter().zip(&leaders).all(|(kept, leaders)| kept.len() == leaders.len()) {
                return (world, leaders);
            }
            world.shrink(&mut leaders, &kept);
        }
    }

    fn shrink(&mut self, leaders: &mut [Vec<usize>], kept: &[Vec<usize>]) {
        for (leaders, kept) in leaders.iter_mut().zip(kept) {
            *leaders = kept.iter().map(|&row| leaders[row]).collect();
        }
        *self = self.renumbered(kept);
    }

    /// The rows of all tables without those of `table` that only repeat a preferred one, if there are any.
    ///
    /// Each version has releases of its own, so no two versions are alike to the letter. But a version whose
    /// releases are what a newer one's are to everything else is never needed, nor are they.
    fn without_repeats(&self, table: Table) -> Option<Vec<Vec<usize>>> {
        let is_own = |relation: &&Relation| relation.from == table && relation.parts_its_targets();
        let owned: Vec<&Relation> = self.relations.iter().filter(is_own).collect();
        if owned.is_empty() {
            return None;
        }
        let mut keys: Vec<(Vec<RowSet>, Vec<Vec<usize>>)> =
            self.keys(table, &owned).into_iter().map(|key| (key, Vec::new())).collect();
        for relation in &owned {
            let mut kinds: FxHashMap<Vec<RowSet>, usize> = FxHashMap::default();
            let next = self.keys(relation.to, &[relation]).into_iter().map(|key| {
                let fresh = kinds.len();
                *kinds.entry(key).or_insert(fresh)
            });
            let kinds: Vec<usize> = next.collect();
            for (row, (_, parts)) in keys.iter_mut().enumerate() {
                let mut of_row: Vec<usize> = relation.partners(row).rows().map(|part| kinds[part]).collect();
                of_row.arrange();
                of_row.dedup();
                parts.push(of_row);
            }
        }
        let mut seen = FxHashSet::default();
        let kept: Vec<usize> = (0..keys.len()).filter(|&row| seen.insert(&keys[row])).collect();
        let rows_of = |other: Table| {
            let rows = self.tables[other].rows();
            match owned.iter().find(|relation| relation.to == other) {
                Some(relation) => {
                    rows.filter(|&part| kept.iter().any(|&row| relation.partners(row).has(part))).collect()
                }
                None if other == table => kept.clone(),
                None => rows.collect(),
            }
        };
        (kept.len() < keys.len()).then(|| (0..self.tables.len()).map(rows_of).collect())
    }

    /// The most preferred of each set of rows of a table of which every relation says the same.
    fn distinct(&self, table: Table) -> Vec<usize> {
        let mut seen = FxHashSet::default();
        let keys = self.keys(table, &[]).into_iter().enumerate();
        keys.filter_map(|(row, key)| seen.insert(key).then_some(row)).collect()
    }

    /// What every relation but some says of each row of a table.
    fn keys(&self, table: Table, but: &[&Relation]) -> Vec<Vec<RowSet>> {
        let len = self.tables[table].rows().count();
        let mut keys: Vec<Vec<RowSet>> = vec![Vec::new(); len];
        for relation in self.relations.iter().filter(|one| but.iter().all(|other| !std::ptr::eq(*one, *other))) {
            if relation.from == table {
                for (row, key) in keys.iter_mut().enumerate() {
                    key.push(relation.partners(row).clone());
                }
            }
            if relation.to == table {
                let mut columns = vec![RowSet::empty(); len];
                for (from, &kind) in relation.kinds.iter().enumerate() {
                    for to in relation.partners[kind].rows() {
                        columns[to].insert(from);
                    }
                }
                for (key, column) in keys.iter_mut().zip(columns) {
                    key.push(column);
                }
            }
        }
        keys
    }

    /// The world with only these rows, numbered anew.
    fn renumbered(&self, kept: &[Vec<usize>]) -> World {
        let relations = self.relations.iter().map(|relation| {
            let new = |set: &RowSet| RowSet::filter(kept[relation.to].len(), |at| set.has(kept[relation.to][at]));
            let kinds = kept[relation.from].iter().map(|&row| relation.kinds[row]).collect();
            Relation { kinds, partners: relation.partners.iter().map(new).collect(), ..*relation }
        });
        World { tables: kept.iter().map(|rows| RowSet::first(rows.len())).collect(), relations: relations.collect() }
    }
}

const ROOT: u32 = u32::MAX;

/// The world in PubGrub's terms: tables are packages, rows are versions, relations are dependencies.
struct Provider<'a> {
    world: &'a World,
    requires: Vec<Vec<(usize, &'a Relation)>>,
    steps: &'a Steps,
}

impl DependencyProvider for Provider<'_> {
    type P = u32;
    type V = Row;
    type VS = RowSet;
    type M = String;
    type Priority = u32;
    type Err = GaveUp;

    /// Earlier tables first, whatever the conflicts so far: this is what makes the answer the optimum.
    fn prioritize(&self, package: &u32, _: &RowSet, _: &PackageResolutionStatistics) -> u32 {
        u32::MAX - package.wrapping_add(1)
    }

    fn choose_version(&self, package: &u32, range: &RowSet) -> Result<Option<Row>, GaveUp> {
        self.steps.add(1);
        if *package == ROOT {
            return Ok(range.has(0).then_some(0));
        }
        Ok(self.world.tables[*package as usize].rows().find(|&row| range.has(row)).map(|row| row as Row))
    }

    fn get_dependencies(&self, package: &u32, row: &Row) -> Result<Dependencies<u32, RowSet, String>, GaveUp> {
        let dependencies = if *package == ROOT {
            self.world.tables.iter().enumerate().map(|(table, rows)| (table as u32, rows.clone())).collect()
        } else {
            self.requires[*package as usize]
                .iter()
                .map(|(to, relation)| (*to as u32, relation.partners(*row as usize).clone()))
                .collect()
        };
        Ok(Dependencies::Available(dependencies))
    }

    fn should_cancel(&self) -> Result<(), GaveUp> {
        if self.steps.taken.get() < self.steps.limit { Ok(()) } else { Err(GaveUp) }
    }
}

/// The step limit was reached.
#[derive(Debug, thiserror::Error)]
#[error("the step limit was reached")]
struct GaveUp;

#[cfg(test)]
mod tests {
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
}
