//! Reading a host from a text, be it a record or what somebody pasted.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::types::plain::plain_types;

use super::environment::is_kept;
use super::paste::{self, Unrecognised};
use super::record::{FORMAT, MOST_GPUS, Record};

/// Why a text is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing is in it.
    #[error("it is empty")]
    Empty,
    /// A record of a newer gpuenv.
    #[error("this record has format {0}; this gpuenv reads format {FORMAT}")]
    Newer(u64),
    /// JSON that is no record.
    #[error("this is not a host record: {message}")]
    Malformed {
        /// What is wrong.
        message: String,
        /// The line, counted from one.
        line: usize,
        /// The column, counted from one, in bytes.
        column: usize,
    },
    /// Text that no reader knows.
    #[error(transparent)]
    Unrecognised(#[from] Unrecognised),
}

impl ReadError {
    /// The stable name of the mistake.
    pub fn code(&self) -> &'static str {
        match self {
            ReadError::Empty => "no-text",
            ReadError::Newer(_) => "newer-record",
            ReadError::Malformed { .. } => "bad-record",
            ReadError::Unrecognised(Unrecognised::TooLong) => "too-large",
            ReadError::Unrecognised(_) => "unrecognised",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            ReadError::Empty => "run `gpuenv probe --format json` on the host, or paste the output of `nvidia-smi -q`",
            ReadError::Newer(_) => "read it with the gpuenv that wrote it, or a later one",
            ReadError::Malformed { .. } => {
                "`gpuenv schema host` prints what a record may hold; `gpuenv fleet check` reads nodes of Kubernetes"
            }
            ReadError::Unrecognised(Unrecognised::TooLong) => "give the part that describes the host",
            ReadError::Unrecognised(_) => {
                "give the whole output, its first lines included; what an error message means, `gpuenv diagnose` tells"
            }
        }
    }
}

/// A text as files hold it: UTF-8, with or without a byte order mark, or UTF-16 as PowerShell writes it, with one. What
/// cannot be decoded is replaced: it is never a fact.
///
/// Of bytes that are given away what is UTF-8 already is not copied.
pub fn decode<'b>(bytes: impl Into<Cow<'b, [u8]>>) -> String {
    let bytes = bytes.into();
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match &*bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match bytes {
            Cow::Owned(bytes) => {
                String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
            }
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        },
    }
}

/// The host of a text: a record's JSON, else whatever of a pasted text can be read.
pub fn read_any(text: &str) -> Result<Record, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        None => Err(ReadError::Empty),
        Some('{') => record(text),
        Some(_) => Ok(paste::read(text)?),
    }
}

/// The format alone: a newer one may hold anything else.
#[derive(Deserialize)]
struct Stamp {
    format: Option<u64>,
}

fn record(text: &str) -> Result<Record, ReadError> {
    let malformed = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let place = format!(" at line {line} column {column}");
        let message = plain_types(message.strip_suffix(&place).unwrap_or(&message));
        ReadError::Malformed { message, line, column }
    };
    let stamp: Stamp = serde_json::from_str(text).map_err(malformed)?;
    match stamp.format {
        Some(format) if format > u64::from(FORMAT) => return Err(ReadError::Newer(format)),
        Some(1..) => {}
        _ => {
            let message = "it does not say its `format`".to_string();
            return Err(ReadError::Malformed { message, line: 1, column: 1 });
        }
    }
    let mut record: Record = serde_json::from_str(text).map_err(malformed)?;
    if let Some(message) = record.excess() {
        return Err(ReadError::Malformed { message, line: 1, column: 1 });
    }
    // An earlier gpuenv kept more, and whoever is handed a record need not hand that on.
    record.environment.retain(|name, _| is_kept(name));
    Ok(record)
}

impl Record {
    /// What it lists more of than any machine has.
    pub fn excess(&self) -> Option<String> {
        let gpus = self.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
        let devices = self.libcuda.as_ref().map_or(0, |libcuda| libcuda.devices.len());
        let instances = gpus.iter().map(|gpu| gpu.instances.len()).sum();
        let lists = [
            ("GPUs", gpus.len(), MOST_GPUS),
            ("devices of CUDA", devices, MOST_GPUS),
            ("GPUs on the bus", self.pci.len(), MOST_GPUS),
            ("instances of MIG", instances, 8 * MOST_GPUS),
            ("device nodes", self.nodes.len(), 2 * MOST_GPUS),
        ];
        let (what, many, most) = lists.into_iter().find(|(_, many, most)| many > most)?;
        Some(format!("it lists {many} {what}, and no machine has more than {most}"))
    }

    /// The record with its texts changed; as it was, if it could then not be read back.
    pub fn rewritten(self, change: &dyn Fn(&mut Value)) -> Record {
        // By way of text, as records are read and written anyway: the code that serde makes to go by way of values
        // would come on top.
        let read = |text: String| serde_json::from_str::<Value>(&text);
        let Ok(mut value) = serde_json::to_string_pretty(&self).and_then(read) else { return self };
        change(&mut value);
        serde_json::from_str(&value.to_string()).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests;
