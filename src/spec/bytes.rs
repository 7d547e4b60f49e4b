//! From the bytes of a file to the text that every span refers to.

use crate::types::toml_memory;

use super::error::{Refusal, SpecError};

/// A gpuenv.toml beyond this was not written by a person.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// Decodes a file: UTF-8, with or without a byte-order mark, with either line end.
///
/// The mark is dropped, so that spans count from the first character of the text returned. Errors of this
/// function have an empty span: there is no text yet that it could point into.
pub fn decode(bytes: Vec<u8>) -> Result<String, SpecError> {
    check_size(bytes.len())?;
    let utf16 = |order: &str| {
        let message = format!("this file is UTF-16 ({order}), which breaks at line 1, byte 1; UTF-8 is expected");
        Refusal::new("encoding", message)
            .help("save it again as UTF-8; PowerShell's `>` writes UTF-16, `Out-File -Encoding utf8` does not")
            .at(0..0)
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return Err(utf16("little-endian")),
        [0xfe, 0xff, ..] => return Err(utf16("big-endian")),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => return Err(utf16("little-endian, no byte-order mark")),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => return Err(utf16("big-endian, no byte-order mark")),
        _ => {}
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let message = format!("this file is not text: line {line} holds a NUL byte");
        return Err(Refusal::new("encoding", message)
            .help("check that it is the file that you mean, and whole")
            .at(0..0));
    }
    let mut text =
        String::from_utf8(bytes).map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

pub(super) fn check_size(length: usize) -> Result<(), SpecError> {
    if length <= MAX_BYTES {
        return Ok(());
    }
    let message = format!("this file is larger than {} MiB, the most that is read", MAX_BYTES >> 20);
    Err(Refusal::new("too-large", message).help("check that it is a gpuenv.toml").at(0..0))
}

/// Refuses a text that takes more memory than anybody's spec.
pub(super) fn check_memory(source: &str) -> Result<(), SpecError> {
    if toml_memory::memory(source) <= toml_memory::MOST {
        return Ok(());
    }
    let message = "this file holds more tables and values than are read".to_string();
    Err(Refusal::new("too-large", message).help("check that it is a gpuenv.toml").at(0..0))
}

fn not_utf8(bytes: &[u8], at: usize) -> SpecError {
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let column = at - bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let message =
        format!("this file is not UTF-8: line {line} breaks at its byte {} (0x{:02x})", column + 1, bytes[at]);
    Refusal::new("encoding", message).help("save it again as UTF-8, or retype the character there").at(0..0)
}

#[cfg(test)]
mod tests;
