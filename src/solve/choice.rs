//! The tables of a plan and what their rows are.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::words::Arrange;

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

    /// The address of a list that several questions have in common.
    pub(super) fn address(&self) -> Option<usize> {
        self.shared.then(|| self.list.as_ptr().addr())
    }
}

/// The lists that questions share, by all that was asked for.
#[derive(Debug)]
pub(super) struct Lists<T> {
    known: Mutex<(FxHashMap<String, usize>, Vec<Rows<T>>)>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { known: Mutex::default() }
    }
}

impl<T: Clone> Lists<T> {
    /// The rows that were asked for, found at the first asking.
    pub(super) fn asked(&self, asked: String, find: impl FnOnce() -> Vec<T>) -> Rows<T> {
        let (places, lists) = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = *places.entry(asked).or_insert(lists.len());
        if place == lists.len() {
            lists.push(Rows { list: find().into(), shared: true });
        }
        lists[place].clone()
    }
}

impl<T: Clone> Rows<T> {
    /// What an earlier lock chose is tried before everything else.
    pub fn locked_first(self, locked: &Locked, key: &str, label: impl Fn(&T) -> String) -> Self {
        let Some(wanted) = locked.get(key) else { return self };
        let mut rows = self.list.to_vec();
        rows.arrange_by_key(|row| label(row) != *wanted);
        Rows::own(rows)
    }
}

impl<T> Deref for Rows<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}
