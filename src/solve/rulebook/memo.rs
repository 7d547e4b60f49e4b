//! Answers kept by their questions.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// What was found out, by the text of what was asked. The texts lead to places in a list, so that the table of texts is
/// compiled once for values of any kind.
#[derive(Debug)]
pub(super) struct Memo<V> {
    known: Mutex<(FxHashMap<String, usize>, Vec<V>)>,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Memo { known: Mutex::default() }
    }
}

impl<V: Clone> Memo<V> {
    /// What is known.
    pub fn get(&self, asked: &str) -> Option<V> {
        let (places, values) = &*self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Some(values[place(places, asked)?].clone())
    }

    /// Keeps what was found out.
    pub fn keep(&self, asked: &str, value: &V) {
        let (places, values) = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        values.push(value.clone());
        put(places, asked, values.len() - 1);
    }

    /// What is known, or is found out now.
    pub fn or_find(&self, asked: &str, find: impl FnOnce() -> V) -> V {
        self.get(asked).unwrap_or_else(|| {
            let found = find();
            self.keep(asked, &found);
            found
        })
    }
}

#[inline(never)]
fn place(places: &FxHashMap<String, usize>, asked: &str) -> Option<usize> {
    places.get(asked).copied()
}

#[inline(never)]
fn put(places: &mut FxHashMap<String, usize>, asked: &str, place: usize) {
    places.insert(asked.to_string(), place);
}
