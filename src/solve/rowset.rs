//! Sets of rows of a finite table, as bits: the version sets the solver computes with.
//!
//! A set must know its complement without knowing its table, so the bits beyond the stored words are all
//! equal to `tail`. The representation is canonical: no stored word at the end equals the tail.

use std::fmt;

use pubgrub::VersionSet;
use smallvec::SmallVec;

/// A set of rows.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RowSet {
    words: SmallVec<[u64; 5]>,
    tail: bool,
}

/// A row's position in its table; 0 is the most preferred.
pub type Row = u32;

/// The keys of a table whose rows of one key stand together, in its order, and the rows of each.
pub fn grouped<K: Copy + PartialEq>(keys: impl Iterator<Item = K>) -> (Vec<K>, Vec<RowSet>) {
    let (mut each, mut rows): (Vec<K>, Vec<RowSet>) = (Vec::new(), Vec::new());
    for (row, key) in keys.enumerate() {
        if each.last() != Some(&key) {
            each.push(key);
            rows.push(RowSet::default());
        }
        rows.last_mut().expect("a key was just added").insert(row);
    }
    (each, rows)
}

impl RowSet {
    /// The set of the first `len` rows.
    pub fn first(len: usize) -> Self {
        let mut words: SmallVec<[u64; 5]> = SmallVec::from_elem(u64::MAX, len / 64);
        if !len.is_multiple_of(64) {
            words.push((1 << (len % 64)) - 1);
        }
        RowSet { words, tail: false }
    }

    /// The set of all rows for which `keep` holds.
    pub fn filter(len: usize, keep: impl Fn(usize) -> bool) -> Self {
        RowSet::first(len).filtered(&keep)
    }

    /// Adds a row to a finite set.
    pub fn insert(&mut self, row: usize) {
        debug_assert!(!self.tail, "rows are inserted into finite sets only");
        if self.words.len() <= row / 64 {
            self.words.resize(row / 64 + 1, 0);
        }
        self.words[row / 64] |= 1 << (row % 64);
    }

    /// The rows of a finite set for which `keep` holds.
    pub fn filtered(&self, keep: &dyn Fn(usize) -> bool) -> Self {
        debug_assert!(!self.tail, "only finite sets can be filtered");
        let kept = |(at, &word): (usize, &u64)| {
            let (mut rest, mut kept) = (word, 0);
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                kept |= u64::from(keep(at * 64 + bit as usize)) << bit;
            }
            kept
        };
        RowSet { words: self.words.iter().enumerate().map(kept).collect(), tail: false }.canonical()
    }

    /// Whether two sets have a row in common.
    pub fn meets(&self, other: &RowSet) -> bool {
        !self.is_disjoint(other)
    }

    /// Adds the rows of another set.
    pub fn add(&mut self, other: &RowSet) {
        *self = self.union(other);
    }

    /// Leaves only the rows that are also in another set.
    pub fn retain(&mut self, other: &RowSet) {
        *self = self.intersection(other);
    }

    /// Takes the rows of another finite set out of a finite set.
    pub fn subtract(&mut self, other: &RowSet) {
        debug_assert!(!self.tail && !other.tail, "rows are taken out of finite sets only");
        for (word, gone) in self.words.iter_mut().zip(&other.words) {
            *word &= !gone;
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// The rows of a finite set that are not in another.
    pub fn minus(&self, other: &RowSet) -> RowSet {
        let mut left = self.clone();
        left.subtract(other);
        left
    }

    /// The number of rows of a finite set.
    pub fn len(&self) -> usize {
        debug_assert!(!self.tail, "only finite sets can be counted");
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether a row is in the set.
    pub fn has(&self, row: usize) -> bool {
        self.words.get(row / 64).map_or(self.tail, |word| word >> (row % 64) & 1 == 1)
    }

    /// The rows of a finite set, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        debug_assert!(!self.tail, "only finite sets can be listed");
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    at * 64 + bit
                })
            })
        })
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.tail && self.words.is_empty()
    }

    fn canonical(mut self) -> Self {
        let fill = if self.tail { u64::MAX } else { 0 };
        while self.words.last() == Some(&fill) {
            self.words.pop();
        }
        self
    }

    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(if self.tail { u64::MAX } else { 0 })
    }
}

impl Default for RowSet {
    fn default() -> Self {
        RowSet::empty()
    }
}

impl VersionSet for RowSet {
    type V = Row;

    fn empty() -> Self {
        RowSet { words: SmallVec::new(), tail: false }
    }

    fn singleton(row: Row) -> Self {
        let mut set = RowSet::empty();
        set.insert(row as usize);
        set
    }

    fn complement(&self) -> Self {
        RowSet { words: self.words.iter().map(|word| !word).collect(), tail: !self.tail }
    }

    fn intersection(&self, other: &Self) -> Self {
        let len = self.words.len().max(other.words.len());
        let words = (0..len).map(|at| self.word(at) & other.word(at)).collect();
        RowSet { words, tail: self.tail && other.tail }.canonical()
    }

    fn contains(&self, row: &Row) -> bool {
        self.has(*row as usize)
    }

    fn union(&self, other: &Self) -> Self {
        let len = self.words.len().max(other.words.len());
        let words = (0..len).map(|at| self.word(at) | other.word(at)).collect();
        RowSet { words, tail: self.tail || other.tail }.canonical()
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        let common = self.words.len().min(other.words.len());
        // Beyond the words of one there is only its tail.
        let rest = |set: &RowSet, tail: bool| !tail || set.words[common..].iter().all(|word| *word == 0);
        !(self.tail && other.tail)
            && self.words.iter().zip(&other.words).all(|(one, another)| one & another == 0)
            && rest(self, other.tail)
            && rest(other, self.tail)
    }

    fn subset_of(&self, other: &Self) -> bool {
        let len = self.words.len().max(other.words.len());
        (!self.tail || other.tail) && (0..len).all(|at| self.word(at) & !other.word(at) == 0)
    }
}

impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = if self.tail { self.complement() } else { self.clone() };
        write!(f, "{}", if self.tail { "all but " } else { "" })?;
        f.debug_set().entries(listed.rows()).finish()
    }
}

impl fmt::Display for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
