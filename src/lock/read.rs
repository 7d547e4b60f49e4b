//! gpuenv.lock read back, and the words for everything that may be wrong with it.

use crate::types::plain::plain_types;
use crate::types::toml_memory;

use super::error::LockError;
use super::{FORMAT, Lock, OLDEST_FORMAT, check};

/// No lock is larger, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// Whether a lock of this text is read.
pub fn is_readable(text: &str) -> bool {
    text.len() <= MAX_BYTES && toml_memory::memory(text) <= toml_memory::MOST
}

/// How many hundredths of a text a lock may hold that is read.
pub fn readable_percent(text: &str) -> usize {
    let of = |most: usize, taken: usize| most.saturating_mul(100) / taken.max(1);
    of(MAX_BYTES, text.len()).min(of(toml_memory::MOST, toml_memory::memory(text))).min(100)
}

/// Reads a lock.
pub fn parse(text: &str) -> Result<Lock, LockError> {
    if !is_readable(text) {
        return Err(LockError::TooLarge);
    }
    match toml::from_str::<Lock>(text) {
        Ok(mut lock) if (OLDEST_FORMAT..=FORMAT).contains(&lock.version) => {
            in_order(&mut lock);
            check::values(&lock).map(|()| lock)
        }
        Ok(lock) if lock.version > FORMAT => Err(LockError::Newer { found: lock.version.into() }),
        Ok(lock) => {
            let reason = format!("there never was a format {}", lock.version);
            Err(LockError::Unreadable { line: 1, reason })
        }
        // A newer format may say anything, so its number is asked for before the rest is blamed.
        Err(error) => Err(newer(text).or_else(|| merge_marker(text)).unwrap_or_else(|| unreadable(text, &error))),
    }
}

/// Targets stand in the order of their names, whoever may have moved them.
fn in_order(lock: &mut Lock) {
    let of_wheels = lock.wheel.iter_mut().map(|wheel| &mut wheel.targets);
    of_wheels.chain(lock.constraint.iter_mut().map(|one| &mut one.targets)).for_each(|targets| targets.sort());
}

fn newer(text: &str) -> Option<LockError> {
    let found = match text.parse::<toml::Table>() {
        Ok(document) => document.get("version")?.as_integer()?.try_into().ok()?,
        // A lock that is no TOML, for a merge left its marks or its number is one that TOML does not have, tells its number in
        // one of its first lines; in several where the sides do not agree.
        Err(_) => {
            let head = text.lines().take_while(|line| !line.starts_with('['));
            let number = |line: &str| line.strip_prefix("version")?.trim_start().strip_prefix('=')?.trim().parse().ok();
            head.filter_map(number).max()?
        }
    };
    (found > FORMAT.into()).then_some(LockError::Newer { found })
}

fn merge_marker(text: &str) -> Option<LockError> {
    let marked = |line: &str| ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark));
    let line = 1 + text.lines().position(marked)?;
    Some(LockError::MergeMarker { line })
}

fn unreadable(text: &str, error: &toml::de::Error) -> LockError {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
    LockError::Unreadable { line, reason: plain_types(&error.message().replace('\n', " ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_larger_lock_is_read() {
        let of = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
        assert!(is_readable(&of(MAX_BYTES)) && !is_readable(&of(MAX_BYTES + 1)));
    }

    /// How many of the targets fit of a lock that is too large.
    #[test]
    fn the_part_of_a_lock_that_is_read_is_told() {
        let of = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
        assert_eq!(readable_percent("a = 1\n"), 100);
        assert_eq!(readable_percent(&of(MAX_BYTES * 2)), 50);
        let line =
            |at| format!("target.t{at}.gpu = [{{ name = \"a\", b = \"8.0\" }}, {{ name = \"b\", b = \"8.0\" }}]\n");
        let text: String = (0..80_000).map(line).collect();
        let percent = readable_percent(&text);
        assert!(!is_readable(&text) && (10..100).contains(&percent), "{percent}");
        let fits: String = text.lines().take(80_000 * percent / 100).map(|line| format!("{line}\n")).collect();
        assert!(is_readable(&fits));
    }

    #[test]
    fn each_defect_has_its_own_words() {
        let newer = parse("version = 3\nfuture = [1]\n").unwrap_err();
        assert_eq!((newer.code(), newer.to_string().contains("format 3")), ("newer-lock", true));
        // No number is too large to be a later one.
        let later = parse("version = 99999999999999999999\nfuture = [1]\n").unwrap_err();
        assert_eq!((later.code(), later.to_string().contains("format 99999999999999999999")), ("newer-lock", true));
        let merged = parse("<<<<<<< ours\nversion = 1\n=======\nversion = 3\n>>>>>>> theirs\n").unwrap_err();
        assert_eq!(merged.code(), "newer-lock");
        let marked = parse("version = 1\n<<<<<<< ours\na = 1\n=======\n").unwrap_err();
        assert_eq!(marked, LockError::MergeMarker { line: 2 });
        let broken = parse("version = 1\nstack = {\n").unwrap_err();
        assert_eq!(broken.code(), "bad-lock");
        let unknown = parse("version = 1\ncolour = \"red\"\n").unwrap_err();
        assert!(unknown.to_string().starts_with("line 2 ") && unknown.to_string().contains("colour"), "{unknown}");
        assert_eq!(parse("").unwrap_err().code(), "bad-lock");
    }
}
