//! A request as PubGrub sees it: premises, which are given, and variables, of each of which one row is chosen.
//!
//! A premise is what the user wrote (a clause of gpuenv.toml) or the machine that a target asks for. It has no choice;
//! it admits some rows of variables. A relation tells for a row of one variable which rows of a later one go with it; it
//! is evaluated for the rows that PubGrub tries only.

use std::cell::OnceCell;

use pubgrub::VersionSet;

use super::rowset::RowSet;

/// A variable's position: the lower, the earlier it is decided, and the more its preference counts.
pub type Var = usize;

/// Which rows of a later variable go with a row.
type Partners<'a> = Box<dyn Fn(usize) -> RowSet + 'a>;

/// Something given.
#[derive(Debug)]
pub struct Premise {
    /// The keys of gpuenv.toml that say so.
    pub says: Says,
    /// The rows that it admits.
    pub admits: Vec<(Var, RowSet)>,
}

/// Whose word a premise is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// One key.
    Key(String),
    /// What a machine is: every key of the targets of a class, by the class's position.
    Machine(usize),
}

/// A choice to be made.
pub struct Variable<'a> {
    /// Every row.
    rows: RowSet,
    /// In which order they are tried.
    order: Order<'a>,
    /// Those to try before all others: what an earlier lock chose.
    first: RowSet,
    /// What is asked for with it: without these words there is no such choice.
    because: Vec<Says>,
    /// The relations in which it is the earlier variable.
    relations: Vec<(Var, Partners<'a>)>,
}

/// In which order rows are tried.
pub enum Order<'a> {
    /// As they stand.
    Ascending,
    /// From the end.
    Descending,
    /// By this number, the lowest first, and those of one number as they stand. It is asked of rows that are tried only.
    Ranked(Box<dyn Fn(usize) -> usize + 'a>),
}

impl<'a> Order<'a> {
    /// These before the others.
    pub fn before(these: RowSet) -> Self {
        Order::Ranked(Box::new(move |row| usize::from(!these.has(row))))
    }
}

/// Premises and variables.
#[derive(Default)]
pub struct Network<'a> {
    premises: Vec<Premise>,
    variables: Vec<Variable<'a>>,
    /// For each variable the earlier ones that are related to it.
    earlier: Vec<Vec<Var>>,
}

impl<'a> Network<'a> {
    /// Adds a variable with `len` rows.
    pub fn variable(&mut self, len: usize, order: Order<'a>, first: RowSet, because: Vec<Says>) -> Var {
        self.variables.push(Variable { rows: RowSet::first(len), order, first, because, relations: Vec::new() });
        self.earlier.push(Vec::new());
        self.variables.len() - 1
    }

    /// Leaves only some of a variable's rows.
    pub fn restrict(&mut self, of: Var, to: &RowSet) {
        self.variables[of].rows.retain(to);
    }

    /// Adds a premise.
    pub fn premise(&mut self, says: Says, admits: Vec<(Var, RowSet)>) {
        self.premises.push(Premise { says, admits });
    }

    /// Adds a relation: `partners` tells which rows of `to` go with a row of `from`. It is told where the earlier of the
    /// two is decided, whichever that is.
    pub fn relate(&mut self, from: Var, to: Var, partners: impl Fn(usize) -> RowSet + 'a) {
        if from < to {
            self.variables[from].relations.push((to, Box::new(partners)));
            self.earlier[to].push(from);
            return;
        }
        let rows = self.variables[from].rows.clone();
        let all: OnceCell<Vec<(usize, RowSet)>> = OnceCell::new();
        let backwards = move |row: usize| {
            let all = all.get_or_init(|| rows.rows().map(|other| (other, partners(other))).collect());
            let mut going = RowSet::default();
            all.iter().filter(|(_, rows)| rows.has(row)).for_each(|(other, _)| going.insert(*other));
            going
        };
        self.variables[to].relations.push((from, Box::new(backwards)));
        self.earlier[from].push(to);
    }

    /// What is given.
    pub fn premises(&self) -> &[Premise] {
        &self.premises
    }

    /// Number of variables.
    pub fn count(&self) -> usize {
        self.variables.len()
    }

    /// What is asked for with a variable.
    pub fn because(&self, of: Var) -> &[Says] {
        &self.variables[of].because
    }

    /// Every row of a variable.
    pub fn rows(&self, of: Var) -> &RowSet {
        &self.variables[of].rows
    }

    /// The rows of a variable that every premise admits.
    pub fn admitted(&self, of: Var) -> RowSet {
        let sets = self.premises.iter().flat_map(|premise| &premise.admits).filter(|(var, _)| *var == of);
        sets.fold(self.rows(of).clone(), |rows, (_, admitted)| rows.intersection(admitted))
    }

    /// The row of a variable to try next, among some.
    pub(super) fn preferred(&self, of: Var, among: &RowSet) -> Option<usize> {
        let variable = &self.variables[of];
        let rows = variable.rows.intersection(among);
        let locked = rows.intersection(&variable.first);
        let rows = if locked.is_empty() { rows } else { locked };
        match &variable.order {
            Order::Ascending => rows.rows().next(),
            Order::Descending => rows.rows().last(),
            Order::Ranked(rank) => {
                let first = rows.rows().find(|row| rank(*row) == 0);
                first.or_else(|| rows.rows().min_by_key(|row| rank(*row)))
            }
        }
    }

    /// How little a row is preferred: the least of all rows is tried first.
    pub fn rank(&self, of: Var, row: usize) -> (bool, usize) {
        (!self.variables[of].first.has(row), row)
    }

    /// The same with the order in which rows are tried.
    pub fn order(&self, of: Var, row: usize) -> (bool, usize, usize) {
        let (is_kept, row) = self.rank(of, row);
        match &self.variables[of].order {
            Order::Ascending => (is_kept, row, 0),
            Order::Descending => (is_kept, usize::MAX - row, 0),
            Order::Ranked(rank) => (is_kept, rank(row), row),
        }
    }

    /// For a row of a variable, each later variable that is related to it and the rows of it that go with this one.
    pub(super) fn partners(&self, of: Var, row: usize) -> impl ExactSizeIterator<Item = (Var, RowSet)> + '_ {
        self.variables[of].relations.iter().map(move |(to, partners)| (*to, partners(row)))
    }

    /// The rows of a variable that go with what is chosen in all others but some.
    pub fn beside(&self, of: Var, choice: &[usize], but: &[Var]) -> Vec<usize> {
        let mut rows = self.admitted(of);
        for &from in self.earlier[of].iter().filter(|from| !but.contains(from)) {
            rows.retain(&self.related(from, of, choice[from]));
        }
        rows.rows().filter(|&row| self.goes_with_later(of, row, choice, but)).collect()
    }

    /// Whether a row goes with what is chosen in all other variables but some.
    pub fn goes_with(&self, of: Var, row: usize, choice: &[usize], but: &[Var]) -> bool {
        let mut earlier = self.earlier[of].iter().filter(|from| !but.contains(from));
        self.goes_with_later(of, row, choice, but) && earlier.all(|&from| self.related(from, of, choice[from]).has(row))
    }

    fn goes_with_later(&self, of: Var, row: usize, choice: &[usize], but: &[Var]) -> bool {
        let mut later = self.variables[of].relations.iter().filter(|(to, _)| !but.contains(to));
        later.all(|(to, partners)| partners(row).has(choice[*to]))
    }

    /// The rows of a variable that go with a row of an earlier one.
    fn related(&self, from: Var, to: Var, row: usize) -> RowSet {
        let relations = self.variables[from].relations.iter().filter(|(other, _)| *other == to);
        relations.fold(self.rows(to).clone(), |rows, (_, partners)| rows.intersection(&partners(row)))
    }

    /// Whether a selection takes only rows that are admitted and go together: the definition of a solution.
    pub fn admits(&self, choice: &[usize]) -> bool {
        (0..self.count()).all(|of| {
            self.admitted(of).has(choice[of]) && self.partners(of, choice[of]).all(|(to, rows)| rows.has(choice[to]))
        })
    }
}
