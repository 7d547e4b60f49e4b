//! Sentences of catalog rows that few runs show: in a packed catalog they lie deflated, many together, and are inflated
//! when the first of these is read.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Text;
use super::parts::{Parts, ends};

/// Bytes of the sentences that are deflated together: what is read at once, and what they can repeat of each other.
const BLOCK: usize = 16 << 10;
/// No block takes more once it is inflated: a sentence may be longer than one.
const MAX_BYTES: usize = 1 << 20;

/// Such a sentence.
#[derive(Clone, Copy)]
pub struct Prose(Kept);

#[derive(Clone, Copy)]
enum Kept {
    Here(Text),
    Deflated(&'static Deflated, u32),
}

/// The sentences of a packed catalog, block by block: a run reads few.
#[derive(Debug)]
pub struct Deflated {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    /// The number of its first sentence.
    first: u32,
    bytes: &'static [u8],
    inflated: OnceLock<Option<Parts>>,
}

impl Deflated {
    /// What [`deflate`] made; without sentences where the bytes are something else.
    pub fn new(bytes: &'static [u8]) -> Self {
        let packed: Vec<(u32, &[u8])> = postcard::from_bytes(bytes).unwrap_or_default();
        let block = |(first, bytes)| Block { first, bytes, inflated: OnceLock::new() };
        Deflated { blocks: packed.into_iter().map(block).collect() }
    }

    /// One of them; none where there is none, or the bytes are something else.
    fn get(&self, at: u32) -> Option<&'static str> {
        let block = &self.blocks[self.blocks.partition_point(|block| block.first <= at).checked_sub(1)?];
        let inflated = *block.inflated.get_or_init(|| inflate(block.bytes));
        inflated?.get((at - block.first) as usize)
    }
}

/// Sentences that lie one behind the other, and where each ends.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    all: &'a str,
    #[serde(borrow)]
    ends: &'a [u8],
}

/// Makes them small, block by block.
pub fn deflate(sentences: &[&str], level: u8) -> Result<Vec<u8>, postcard::Error> {
    let mut blocks: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut left = sentences;
    while !left.is_empty() {
        let mut bytes = 0;
        let fits = |text: &&&str| {
            bytes += text.len();
            bytes <= BLOCK
        };
        let (block, rest) = left.split_at(left.iter().take_while(fits).count().max(1));
        let body = postcard::to_allocvec(&Body { all: &block.concat(), ends: &ends(block) })?;
        let first = (sentences.len() - left.len()) as u32;
        blocks.push((first, miniz_oxide::deflate::compress_to_vec(&body, level)));
        left = rest;
    }
    postcard::to_allocvec(&blocks)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_where_it_was_put() {
        let texts: Vec<String> = (0..40).map(|number| format!("{number} ").repeat(number * 40)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = Deflated::new(deflate(&texts, 10).unwrap().leak());
        assert!(all.blocks.len() > 2, "{}", all.blocks.len());
        assert!((0..40).all(|at| all.get(at) == Some(texts[at as usize])));
        assert_eq!(all.get(40), None);
        assert_eq!(Deflated::new(b"something else").get(1), None);
        assert_eq!(Deflated::new(&[]).get(0), None);
    }
}
