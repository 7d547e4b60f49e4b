//! Text and lists of catalog rows: parts of a packed catalog, or kept for the rest of the process once an overlay brought
//! them. Either way they are references that are copied freely, so a row of the catalog costs nothing to pass on.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// A text that lives as long as the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(&'static str);

/// A list that lives as long as the process.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List<T: 'static>(pub &'static [T]);

/// The text, kept for the rest of the process; equal texts are kept once.
fn keep(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let own: &'static str = Box::leak(Box::<str>::from(text));
    kept.insert(own);
    own
}

impl Text {
    /// A text that lives as long as the process already.
    pub const fn of(text: &'static str) -> Self {
        Text(text)
    }

    /// The text itself.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(keep(&text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(keep(text))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> String {
        text.as_str().to_string()
    }
}

/// Text equals what reads the same, whoever stands first.
macro_rules! equals {
    ($($other:ty),+) => {$(
        impl PartialEq<$other> for Text {
            fn eq(&self, other: &$other) -> bool {
                self.as_str() == &other[..]
            }
        }
        impl PartialEq<Text> for $other {
            fn eq(&self, other: &Text) -> bool {
                &self[..] == other.as_str()
            }
        }
    )+};
}

equals!(str, &str, String);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.serialize_str(self),
            false => {
                serializer.serialize_u32(self.number().ok_or_else(|| ser::Error::custom("no texts are numbered"))?)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer).map(Text::from);
        }
        Text::of_number(u32::deserialize(deserializer)?).ok_or_else(|| de::Error::custom("a text is missing"))
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> Default for List<T> {
    fn default() -> Self {
        List(&[])
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        List(Vec::leak(items))
    }
}

impl<T> IntoIterator for &List<T> {
    type Item = &'static T;
    type IntoIter = std::slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("List", self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(List::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let (one, other) = (keep(&"site".repeat(3)), keep("sitesitesite"));
        assert!(std::ptr::eq(one, other));
        assert_eq!(Text::from("a".to_string()), Text::of("a"));
    }
}
