//! Versions as the GPU world writes them: any number of components, spelling kept, compared as numbers.
//!
//! `460.32.03` and `9.1.0.70` are not semver, and `525.60.13` must never become `525.60.13.0` or
//! `450.80.02` become `450.80.2`: what was written is what is printed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// A version of any length, for example `12.4.1`, `535.183.01` or `2.15.0rc1`.
///
/// Ordering compares the components as numbers (`2.10` > `2.9`, `450.80.02` = `450.80.2`); a missing
/// component counts as zero; a pre-release (`rc1`, `dev20250408`) sorts before its release and `.post1`
/// after it.
///
/// It is a reference to what was written, kept for the rest of the process, so it is copied freely.
#[derive(Clone, Copy)]
pub struct Version(pub(crate) &'static Written);

/// A version as it was written, with what comparing needs.
#[derive(Debug)]
pub struct Written {
    text: &'static str,
    /// The first four components, 32 bits each, so that comparing costs no parsing.
    key: [u64; 2],
    /// What follows the components, by its order; none where nothing is known to be that.
    tail: Option<Tail>,
    /// No component lies beyond `key`: there are at most four, each below 2^32.
    fits: bool,
    /// Number of components written.
    len: u8,
}

/// How a release's satellites are ordered: `dev` < `a` < `b` < `rc` < release < `post`, and each by its number.
type Tail = (i8, u64);

/// Of a release itself.
const RELEASE: Option<Tail> = Some((0, 0));

/// What was read so far, by its text.
fn kept() -> MutexGuard<'static, HashMap<&'static str, Version>> {
    static KEPT: LazyLock<Mutex<HashMap<&str, Version>>> = LazyLock::new(Mutex::default);
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a text is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Nothing was written.
    #[error("a version is missing")]
    Empty,
    /// The text is longer than any version has ever been.
    #[error("a version may be at most {MAX_LEN} characters long")]
    TooLong,
    /// A component is beyond every version ever published.
    #[error("`{0}` is not a version: a number in it is too large")]
    TooLarge(String),
    /// A component is not a number.
    #[error("`{0}` is not a version: numbers separated by dots are expected, as in `12.4.1`")]
    Malformed(String),
}

const MAX_LEN: usize = 64;

impl Written {
    /// A release that a program names: whoever wrote it there has checked it.
    pub const fn release(text: &'static str) -> Self {
        let (key, len, fits) = key_of(text.as_bytes());
        Written { text, key, tail: RELEASE, fits, len }
    }

    fn new(text: &'static str) -> Self {
        Written { tail: tail_rank(split_tail(text).1), ..Written::release(text) }
    }

    /// The same of a text that nobody has checked; none where it is no version.
    pub fn checked(text: &'static str) -> Option<Self> {
        (text.len() <= MAX_LEN && text.is_ascii() && text.starts_with(|c: char| c.is_ascii_digit()))
            .then(|| Written::new(text))
    }
}

impl Version {
    /// A version known at build time.
    pub const fn of(written: &'static Written) -> Self {
        Version(written)
    }

    /// What was written, kept for the rest of the process; equal texts are kept once.
    fn keep(text: &str) -> Self {
        let mut kept = kept();
        if let Some(known) = kept.get(text) {
            return *known;
        }
        let new = Version(Box::leak(Box::new(Written::new(Box::leak(text.into())))));
        kept.insert(new.0.text, new);
        new
    }

    /// Reads a version, keeping its spelling.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        // Most of what is read has been read before.
        if let Some(known) = kept().get(text) {
            return Ok(*known);
        }
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        if text.len() > MAX_LEN {
            return Err(VersionError::TooLong);
        }
        let malformed = || VersionError::Malformed(text.escape_debug().to_string());
        let (release, tail) = split_tail(text);
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !release.split('.').all(is_number) {
            return Err(malformed());
        }
        if release.split('.').any(|part| part.len() > 18) {
            return Err(VersionError::TooLarge(text.escape_debug().to_string()));
        }
        if !tail.is_empty() && tail_rank(tail).is_none() {
            return Err(malformed());
        }
        Ok(Version::keep(text))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &'static str {
        self.0.text
    }

    /// A number of its text, the same for as long as the process runs: equal texts are kept once or few times.
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }

    /// The numbers of the release part: `[535, 183, 1]` for `535.183.01`.
    pub fn components(&self) -> impl Iterator<Item = u64> + '_ {
        numbers(split_tail(self.0.text).0)
    }

    /// How many components were written.
    pub fn len(&self) -> usize {
        usize::from(self.0.len)
    }

    /// Never true: a version has at least one component.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The first component.
    pub fn major(&self) -> u64 {
        if self.0.fits { self.0.key[0] >> 32 } else { self.components().next().unwrap_or(0) }
    }

    /// The second component, or zero.
    pub fn minor(&self) -> u64 {
        if self.0.fits { self.0.key[0] & 0xffff_ffff } else { self.components().nth(1).unwrap_or(0) }
    }

    /// Whether this is a pre-release (`rc`, `a`, `b`, `dev`).
    pub fn is_prerelease(&self) -> bool {
        self.0.tail.is_some_and(|(rank, _)| rank < 0)
    }

    /// The release that a pre-release precedes, `2.8.0` of `2.8.0.dev20250327`; a release is its own.
    pub fn release(&self) -> Version {
        if self.is_prerelease() { self.prefix(self.len()) } else { *self }
    }

    /// Compares only as many components as `bound` has: `12.4.1` cut to `12.4` is equal.
    pub fn cmp_prefix(&self, bound: &Version) -> Ordering {
        let cut = if self.0.fits && bound.0.fits {
            let mask = match bound.0.len {
                0 | 1 => [!0 << 32, 0],
                2 => [!0, 0],
                3 => [!0, !0 << 32],
                _ => [!0, !0],
            };
            whole([self.0.key[0] & mask[0], self.0.key[1] & mask[1]]).cmp(&whole(bound.0.key))
        } else {
            let mut mine = self.components();
            let each = bound.components().map(|theirs| mine.next().unwrap_or(0).cmp(&theirs));
            each.fold(Ordering::Equal, Ordering::then)
        };
        cut.then_with(|| if bound.0.tail == RELEASE { Ordering::Equal } else { self.cmp(bound) })
    }

    /// The first `count` components as written, `12.4` for `12.4.1`.
    pub fn prefix(&self, count: usize) -> Version {
        if self.0.tail == RELEASE && self.len() <= count {
            return *self;
        }
        let (release, _) = split_tail(self.0.text);
        let end = release.match_indices('.').nth(count.saturating_sub(1)).map_or(release.len(), |(at, _)| at);
        Version::keep(&release[..end])
    }
}

/// The comparison key of a version's text, its number of components, and whether these fit into the key.
const fn key_of(text: &[u8]) -> ([u64; 2], u8, bool) {
    let mut parts = [0u64; 4];
    let (mut at, mut len, mut fits) = (0, 1u8, true);
    while at < text.len() {
        let byte = text[at];
        if byte == b'.' && at + 1 < text.len() && text[at + 1].is_ascii_alphabetic() {
            break;
        } else if byte == b'.' {
            len += 1;
        } else if !byte.is_ascii_digit() {
            break;
        } else if len <= 4 {
            let slot = (len - 1) as usize;
            parts[slot] = parts[slot] * 10 + (byte - b'0') as u64;
            if parts[slot] > 0xffff_ffff {
                fits = false;
                parts[slot] = 0xffff_ffff;
            }
        } else {
            fits = false;
        }
        at += 1;
    }
    ([parts[0] << 32 | parts[1], parts[2] << 32 | parts[3]], len, fits)
}

/// A key as one number: two are compared at once.
fn whole([high, low]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn numbers(release: &str) -> impl Iterator<Item = u64> + '_ {
    release.split('.').map(|part| {
        part.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0'))))
    })
}

/// Splits `2.8.0.dev20250408` into `2.8.0` and `dev20250408`, `2.15.0rc1` into `2.15.0` and `rc1`.
fn split_tail(text: &str) -> (&str, &str) {
    match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => (text[..at].trim_end_matches('.'), &text[at..]),
        None => (text, ""),
    }
}

fn tail_rank(tail: &str) -> Option<Tail> {
    if tail.is_empty() {
        return RELEASE;
    }
    let digits = tail.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let name = &tail[..tail.len() - digits.len()];
    if digits.len() > 18 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = digits.bytes().fold(0u64, |sum, byte| sum * 10 + u64::from(byte - b'0'));
    let rank = match name {
        "dev" => -4,
        "a" | "alpha" => -3,
        "b" | "beta" => -2,
        "rc" => -1,
        "post" => 1,
        _ => return None,
    };
    Some((rank, number))
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let release = if self.0.fits && other.0.fits {
            whole(self.0.key).cmp(&whole(other.0.key))
        } else {
            let (mut mine, mut theirs) = (self.components(), other.components());
            let count = self.len().max(other.len());
            let each = (0..count).map(|_| mine.next().unwrap_or(0).cmp(&theirs.next().unwrap_or(0)));
            each.fold(Ordering::Equal, Ordering::then)
        };
        release.then_with(|| self.0.tail.cmp(&other.0.tail))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal versions have equal keys, whatever lies beyond them.
        self.0.key.iter().for_each(|half| state.write_u64(*half));
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.text)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.serialize_newtype_struct("Version", self.0.text),
            false => {
                serializer.serialize_u32(self.number().ok_or_else(|| ser::Error::custom("no versions are numbered"))?)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Version::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom);
        }
        Version::of_number(u32::deserialize(deserializer)?).ok_or_else(|| de::Error::custom("a version is missing"))
    }
}

#[cfg(test)]
mod tests;
