//! The tables of a plan and what their rows are.

use std::ops::Deref;
use std::sync::Arc;

use super::plan::Locked;
use super::world::Table;

/// A table of the world and what its rows are.
#[derive(Debug, Clone)]
pub struct Choice<T> {
    /// The table.
    pub table: Table,
    /// Its rows, preferred first.
    pub rows: Rows<T>,
}

/// Rows to choose from, preferred first.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    list: Arc<[T]>,
    shared: bool,
}

impl<T> Rows<T> {
    /// Those of one question.
    pub fn own(rows: Vec<T>) -> Self {
        Rows { list: rows.into(), shared: false }
    }

    /// Those that several questions have in common, kept for as long as there are questions.
    pub(super) fn shared(rows: Vec<T>) -> Self {
        Rows { list: rows.into(), shared: true }
    }

    /// The address of a list that several questions have in common.
    pub(super) fn address(&self) -> Option<usize> {
        self.shared.then(|| self.list.as_ptr().addr())
    }
}

impl<T: Clone> Rows<T> {
    /// What an earlier lock chose is tried before everything else.
    pub fn locked_first(self, locked: &Locked, key: &str, label: impl Fn(&T) -> String) -> Self {
        let Some(wanted) = locked.get(key) else { return self };
        let is_wanted = |row: &&T| label(row) == *wanted;
        let rest = self.list.iter().filter(|row| !is_wanted(row));
        let rows = self.list.iter().filter(is_wanted).chain(rest).cloned().collect();
        Rows::own(rows)
    }
}

impl<T> Deref for Rows<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}
