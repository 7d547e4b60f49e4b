//! Texts and versions by number. A packed catalog holds each text once; its rows say which by a number, so that reading a
//! row copies and compares nothing.
//!
//! The numbers mean something only while a catalog is packed or unpacked: the lists that they count in belong to the
//! thread for so long.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::Text;
use super::version::{Version, Written};

/// What the numbers in an unpacked catalog count in.
#[derive(Clone, Copy)]
struct Numbered {
    texts: &'static [&'static str],
    versions: &'static [Written],
}

thread_local! {
    static READ: Cell<Option<Numbered>> = const { Cell::new(None) };
    static WRITTEN: RefCell<Option<Numbering>> = const { RefCell::new(None) };
}

/// The texts and versions that were packed, each where its number says.
#[derive(Debug, Default)]
pub struct Numbering {
    /// Texts; the first is the empty one.
    pub texts: Numbers,
    /// Versions as they were written; the first is `0`.
    pub versions: Numbers,
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
        order.sort_unstable_by_key(|at| std::cmp::Reverse(self.used[*at]));
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
    WRITTEN.set(Some(Numbering { texts: Numbers::starting(""), versions: Numbers::starting("0") }));
    write();
    let first = WRITTEN.take().unwrap_or_default();
    WRITTEN.set(Some(Numbering { texts: first.texts.by_use(), versions: first.versions.by_use() }));
    let written = write();
    (written, WRITTEN.take().unwrap_or_default())
}

/// Reads what was written with numbers that count in these texts.
pub fn read<T>(texts: &'static [&'static str], versions: &'static [Written], read: impl FnOnce() -> T) -> T {
    READ.set(Some(Numbered { texts, versions }));
    let value = read();
    READ.set(None);
    value
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

impl Version {
    /// The number that stands for it, where numbers do.
    pub(super) fn number(&self) -> Option<u32> {
        WRITTEN.with_borrow_mut(|all| Some(all.as_mut()?.versions.number(self.as_str())))
    }

    /// The version of a number.
    pub(super) fn of_number(number: u32) -> Option<Version> {
        READ.get()?.versions.get(number as usize).map(Version::of)
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
        let texts: &'static [&'static str] = all.texts.all.leak();
        assert_eq!(read(texts, &[], || Text::of_number(2)), Some(Text::from("one")));
        assert_eq!(read(texts, &[], || Text::of_number(3)), None);
        assert_eq!(Text::of_number(0), None);
        assert_eq!(Text::from("one").number(), None);
    }
}
