//! Sentences of catalog rows that few runs show: in a packed catalog they lie deflated, all in one, and are inflated when
//! the first of them is read.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Text;
use super::parts::{Parts, ends};

/// No sentences take more once they are inflated: some twenty times today's.
const MAX_BYTES: usize = 2 << 20;

/// Such a sentence.
#[derive(Clone, Copy)]
pub struct Prose(Kept);

#[derive(Clone, Copy)]
enum Kept {
    Here(Text),
    Deflated(&'static Deflated, u32),
}

/// The sentences of a packed catalog.
#[derive(Debug)]
pub struct Deflated {
    bytes: &'static [u8],
    inflated: OnceLock<Option<Parts>>,
}

impl Deflated {
    /// What [`deflate`] made.
    pub fn new(bytes: &'static [u8]) -> Self {
        Deflated { bytes, inflated: OnceLock::new() }
    }

    /// One of them; none where there is none, or the bytes are something else.
    fn get(&self, at: u32) -> Option<&'static str> {
        let inflated = *self.inflated.get_or_init(|| inflate(self.bytes));
        inflated?.get(at as usize)
    }
}

/// Sentences that lie one behind the other, and where each ends.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    all: &'a str,
    #[serde(borrow)]
    ends: &'a [u8],
}

/// Makes them small.
pub fn deflate(sentences: &[&str]) -> Result<Vec<u8>, postcard::Error> {
    let body = postcard::to_allocvec(&Body { all: &sentences.concat(), ends: &ends(sentences) })?;
    Ok(miniz_oxide::deflate::compress_to_vec(&body, 10))
}

fn inflate(bytes: &[u8]) -> Option<Parts> {
    let body = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MAX_BYTES).ok()?;
    let body: Body<'static> = postcard::from_bytes(body.leak()).ok()?;
    Some(Parts { all: body.all, ends: body.ends })
}

impl Prose {
    /// The one with a number.
    pub(super) fn deflated(all: &'static Deflated, number: u32) -> Self {
        Prose(Kept::Deflated(all, number))
    }
}

impl Deref for Prose {
    type Target = str;

    fn deref(&self) -> &str {
        match self.0 {
            Kept::Here(text) => text.as_str(),
            // The first is the empty one, which most rows have.
            Kept::Deflated(_, 0) => "",
            Kept::Deflated(all, at) => all.get(at).unwrap_or_default(),
        }
    }
}

impl Default for Prose {
    fn default() -> Self {
        Prose(Kept::Here(Text::default()))
    }
}

impl From<&str> for Prose {
    fn from(text: &str) -> Self {
        Prose(Kept::Here(text.into()))
    }
}

impl PartialEq for Prose {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Prose {}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &**self)
    }
}

impl Serialize for Prose {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.serialize_str(self),
            false => {
                serializer.serialize_u32(self.number().ok_or_else(|| ser::Error::custom("no sentences are numbered"))?)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Prose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer).map(|text| text.as_str().into());
        }
        Prose::of_number(u32::deserialize(deserializer)?).ok_or_else(|| de::Error::custom("a sentence is missing"))
    }
}
