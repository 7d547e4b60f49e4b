//! Why a lock cannot be used.

use crate::types::secret::masked;

use super::FORMAT;

/// Why a text is not a lock this program reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// A later gpuenv wrote it.
    #[error("this lock has format {found}; this gpuenv reads none newer than {FORMAT}")]
    Newer {
        /// The format.
        found: u128,
    },
    /// A merge was not finished.
    #[error("line {line} of this lock holds a merge-conflict marker")]
    MergeMarker {
        /// Where.
        line: usize,
    },
    /// Reading it takes more memory than any lock of people's machines.
    #[error("this lock holds more tables and values than are read")]
    TooLarge,
    /// It is no TOML, or not that of a lock.
    #[error("line {line} of this lock cannot be read: {reason}")]
    Unreadable {
        /// Where.
        line: usize,
        /// Why.
        reason: String,
    },
    /// A value is not what such a value looks like: somebody put it there.
    #[error("`{key}` of this lock is `{}`, which is not {expected}", shown(value))]
    BadValue {
        /// Where: `target.prod.os`.
        key: String,
        /// The value.
        value: String,
        /// What it should look like.
        expected: &'static str,
    },
}

impl LockError {
    /// The stable name of the error, for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            LockError::Newer { .. } => "newer-lock",
            LockError::MergeMarker { .. } => "merge-marker",
            LockError::TooLarge => "too-large",
            LockError::Unreadable { .. } | LockError::BadValue { .. } => "bad-lock",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            LockError::Newer { .. } => {
                "install a newer gpuenv, or delete the file to have it made anew; nothing was written"
            }
            LockError::MergeMarker { .. } => "resolve the conflicts in gpuenv.toml, then run `gpuenv lock --fresh`",
            LockError::TooLarge | LockError::Unreadable { .. } | LockError::BadValue { .. } => {
                "run `gpuenv lock --fresh` to make it anew"
            }
        }
    }
}

/// The beginning of a text that may be anything.
fn shown(text: &str) -> String {
    masked(text).chars().take(60).flat_map(char::escape_debug).collect()
}
