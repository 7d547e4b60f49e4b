//! Texts and versions by number. A packed catalog holds each text once; its rows say which by a number, so that reading a
//! row copies and compares nothing.
//!
//! The numbers mean something only while a catalog is packed or unpacked: the lists that they count in belong to the
//! thread for so long.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::OnceLock;

use super::Text;
pub use super::parts::{Parts, ends};
use super::prose::{Deflated, Prose};
use super::version::{Version, Written};

/// What the numbers in a packed catalog count in, kept for the rest of the process.
#[derive(Debug)]
pub struct Numbered {
    texts: Parts,
    versions: Parts,
    prose: Deflated,
    /// Versions are read block by block, when one of a block is first asked for: a run asks for few.
    read: Vec<OnceLock<Box<[Option<Written>]>>>,
}

/// Versions that are read at once.
const BLOCK: usize = 16;

thread_local! {
    static READ: Cell<Option<&'static Numbered>> = const { Cell::new(None) };
    static WRITTEN: RefCell<Option<Numbering>> = const { RefCell::new(None) };
}

/// The texts and versions that were packed, each where its number says.
#[derive(Debug, Default)]
pub struct Numbering {
    /// Texts; the first is the empty one.
    pub texts: Numbers,
    /// Versions as they were written; the first is `0`.
    pub versions: Numbers,
    /// Sentences that lie deflated; the first is the empty one.
    pub prose: Numbers,
}

/// Texts, each with its number.
#[derive(Debug, Default)]
pub struct Numbers {
    /// In the order of their numbers.
    pub all: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
    /// How often each was asked for.
    used: Vec<u32>,
}

impl Numbers {
    /// Zeros are what a field holds that somebody leaves out: they stand for the first.
    fn starting(first: &'static str) -> Self {
        let mut new = Numbers::default();
        new.number(first);
        new
    }

    fn number(&mut self, text: &'static str) -> u32 {
        let number = *self.numbers.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.used.push(0);
            (self.all.len() - 1) as u32
        });
        self.used[number as usize] += 1;
        number
    }

    /// The same texts, those first that are asked for most: small numbers are short.
    fn by_use(self) -> Self {
        let mut order: Vec<usize> = (1..self.all.len()).collect();
        // Those that are asked for alike stay with their like: they are read together.
        order.sort_by_key(|at| std::cmp::Reverse(self.used[*at]));
        let mut new = Numbers::starting(self.all[0]);
        for at in order {
            new.number(self.all[at]);
        }
        new
    }
}

/// Writes with numbers in place of texts, and says what they count in. It is done twice: only then is known which texts are
/// many.
pub fn write<T>(mut write: impl FnMut() -> T) -> (T, Numbering) {
    let (texts, versions, prose) = (Numbers::starting(""), Numbers::starting("0"), Numbers::starting(""));
    WRITTEN.set(Some(Numbering { texts, versions, prose }));
    write();
    let Numbering { texts, versions, prose } = WRITTEN.take().unwrap_or_default();
    WRITTEN.set(Some(Numbering { texts: texts.by_use(), versions: versions.by_use(), prose: prose.by_use() }));
    let written = write();
    (written, WRITTEN.take().unwrap_or_default())
}

impl Numbered {
    /// Of all texts, all versions and all deflated sentences.
    pub fn new(texts: Parts, versions: Parts, prose: &'static [u8]) -> &'static Self {
        let read = (0..versions.count().div_ceil(BLOCK)).map(|_| OnceLock::new()).collect();
        Box::leak(Box::new(Numbered { texts, versions, prose: Deflated::new(prose), read }))
    }

    /// Reads what was written with numbers that count in these.
    pub fn read<T>(&'static self, read: impl FnOnce() -> T) -> T {
        READ.set(Some(self));
        let value = read();
        READ.set(None);
        value
    }

    fn version(&'static self, number: usize) -> Option<&'static Written> {
        let first = number - number % BLOCK;
        let one = |at| self.versions.get(first + at).and_then(Written::checked);
        let block = self.read.get(number / BLOCK)?.get_or_init(|| (0..BLOCK).map(one).collect());
        block[number % BLOCK].as_ref()
    }
}

impl Text {
    /// The number that stands for it, where numbers do.
    pub(super) fn number(self) -> Option<u32> {
        WRITTEN.with_borrow_mut(|all| Some(all.as_mut()?.texts.number(self.as_str())))
    }

    /// The text of a number.
    pub(super) fn of_number(number: u32) -> Option<Text> {
        READ.get()?.texts.get(number as usize).map(Text::of)
    }
}

impl Prose {
    /// The number that stands for it, where numbers do.
    pub(super) fn number(&self) -> Option<u32> {
        WRITTEN.with_borrow_mut(|all| Some(all.as_mut()?.prose.number(Text::from(&**self).as_str())))
    }

    /// The sentence of a number.
    pub(super) fn of_number(number: u32) -> Option<Prose> {
        Some(Prose::deflated(&READ.get()?.prose, number))
    }
}

impl Version {
    /// The number that stands for it, where numbers do.
    pub(super) fn number(&self) -> Option<u32> {
        WRITTEN.with_borrow_mut(|all| Some(all.as_mut()?.versions.number(self.as_str())))
    }

    /// The version of a number.
    pub(super) fn of_number(number: u32) -> Option<Version> {
        READ.get()?.version(number as usize).map(Version::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_something_only_while_it_is_read() {
        let (numbers, all) = write(|| ["one", "two", "two"].map(|text| Text::from(text).number()));
        assert_eq!(numbers, [Some(2), Some(1), Some(1)]);
        assert_eq!(all.texts.all, ["", "two", "one"]);
        let kept = |all: &[&str]| Parts { all: all.concat().leak(), ends: ends(all).leak() };
        let numbered = Numbered::new(kept(&all.texts.all), kept(&["12.4", "no version"]), &[]);
        assert_eq!(numbered.read(|| Text::of_number(2)), Some(Text::from("one")));
        assert_eq!(numbered.read(|| Text::of_number(3)), None);
        assert_eq!(numbered.read(|| Version::of_number(0)), Version::parse("12.4").ok());
        assert_eq!(numbered.read(|| Version::of_number(1)), None);
        assert_eq!(numbered.read(|| Version::of_number(2)), None);
        let beyond = Parts { all: "one", ends: &[0, 0, 0, 0, 4, 0] };
        assert_eq!(beyond.get(0), None);
        assert_eq!(Text::of_number(0), None);
        assert_eq!(Text::from("one").number(), None);
    }
}
