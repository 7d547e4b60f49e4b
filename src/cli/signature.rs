//! Whose catalogs are installed: those signed with a key that is compiled in, by the rules of minisign.

use minisign_verify::{Error, PublicKey, Signature};

/// The public keys, two at most: the one that signs today, and for a while the one that signed before or will sign next.
/// `docs/catalog.md` says how they are replaced.
const KEYS: &[&str] = &["RWRPvMpiYmXZTGRSoUJLfPr92h0kBWDXgJQx2BKzb+a+hSAikMOyufvr"];

/// In debug builds this variable names one key more, so that tests can sign. No published program reads it.
#[cfg(debug_assertions)]
const TEST_KEY: &str = "GPUENV_TEST_CATALOG_KEY";

/// No signature is longer.
pub const MAX_BYTES: usize = 4096;
/// Lines of a signature: a comment and the signature, a signed comment and its signature.
const LINES: usize = 4;

/// Why a signature is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    /// There is none.
    Missing,
    /// It is not one of minisign's.
    Unreadable,
    /// Something follows it, which nobody signed.
    Followed,
    /// It was made with a key that is not compiled in.
    OtherKey,
    /// It does not belong to these bytes.
    Wrong,
}

impl Unsigned {
    /// In words.
    pub fn says(self) -> &'static str {
        match self {
            Unsigned::Missing => "it is not signed",
            Unsigned::Unreadable => "its signature cannot be read",
            Unsigned::Followed => "something follows its signature, which nobody signed",
            Unsigned::OtherKey => "it is signed with a key that this gpuenv does not know",
            Unsigned::Wrong => "its content is not what was signed",
        }
    }
}

/// Checks that one of the keys has signed these bytes.
pub fn verify(signed: &[u8], signature: &[u8]) -> Result<(), Unsigned> {
    if signature.is_empty() {
        return Err(Unsigned::Missing);
    }
    let text = str::from_utf8(signature).ok().filter(|text| text.len() <= MAX_BYTES).ok_or(Unsigned::Unreadable)?;
    // Whatever follows the last line would be kept with the catalog.
    if text.lines().nth(LINES).is_some() {
        return Err(Unsigned::Followed);
    }
    let signature = Signature::decode(text).map_err(|_| Unsigned::Unreadable)?;
    let mut why = Unsigned::OtherKey;
    for key in keys() {
        match key.verify(signed, &signature, false) {
            Ok(()) => return Ok(()),
            Err(Error::UnexpectedKeyId) => {}
            Err(_) => why = Unsigned::Wrong,
        }
    }
    Err(why)
}

fn keys() -> Vec<PublicKey> {
    #[cfg_attr(not(debug_assertions), allow(unused_mut))]
    let mut keys: Vec<PublicKey> = KEYS.iter().filter_map(|key| PublicKey::from_base64(key).ok()).collect();
    #[cfg(debug_assertions)]
    keys.extend(std::env::var(TEST_KEY).ok().and_then(|key| PublicKey::from_base64(&key).ok()));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_key_or_two_while_they_change() {
        assert!((1..=2).contains(&KEYS.len()));
        for key in KEYS {
            assert!(PublicKey::from_base64(key).is_ok(), "{key}");
        }
    }
}
