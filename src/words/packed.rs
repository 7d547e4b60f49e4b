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
    pub texts: Vec<&'static str>,
    /// Versions as they were written; the first is `0`.
    pub versions: Vec<&'static str>,
    text_numbers: HashMap<&'static str, u32>,
    version_numbers: HashMap<&'static str, u32>,
}

impl Numbering {
    fn new() -> Self {
        let mut new = Numbering::default();
        // Zeros are what a field holds that somebody leaves out.
        number(&mut new.texts, &mut new.text_numbers, "");
        number(&mut new.versions, &mut new.version_numbers, "0");
        new
    }
}

fn number(list: &mut Vec<&'static str>, numbers: &mut HashMap<&'static str, u32>, text: &'static str) -> u32 {
    *numbers.entry(text).or_insert_with(|| {
        list.push(text);
        (list.len() - 1) as u32
    })
}

/// Writes with numbers in place of texts, and says what they count in.
pub fn write<T>(write: impl FnOnce() -> T) -> (T, Numbering) {
    WRITTEN.set(Some(Numbering::new()));
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
        WRITTEN.with_borrow_mut(|all| {
            let all = all.as_mut()?;
            Some(number(&mut all.texts, &mut all.text_numbers, self.as_str()))
        })
    }

    /// The text of a number.
    pub(super) fn of_number(number: u32) -> Option<Text> {
        READ.get()?.texts.get(number as usize).map(Text::of)
    }
}

impl Version {
    /// The number that stands for it, where numbers do.
    pub(super) fn number(&self) -> Option<u32> {
        WRITTEN.with_borrow_mut(|all| {
            let all = all.as_mut()?;
            Some(number(&mut all.versions, &mut all.version_numbers, self.as_str()))
        })
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
        let (number, all) =
            write(|| (Text::from("one").number(), Text::from("two").number(), Text::from("one").number()));
        assert_eq!(number, (Some(1), Some(2), Some(1)));
        assert_eq!(all.texts, ["", "one", "two"]);
        let texts: &'static [&'static str] = all.texts.leak();
        assert_eq!(read(texts, &[], || Text::of_number(2)), Some(Text::from("two")));
        assert_eq!(read(texts, &[], || Text::of_number(3)), None);
        assert_eq!(Text::of_number(0), None);
        assert_eq!(Text::from("one").number(), None);
    }
}
