//! A pasted text as the lines that a program once printed.

use crate::log_prefix::{prefix, printable};

/// No line that tells a fact is longer, in bytes; the rest of it is not read.
const MAX_LINE: usize = 4096;
/// Prefixes nest: a quote of a container's log with times.
const MAX_PREFIXES: usize = 4;

/// The text without terminal escapes, quote marks, log prefixes and the marks of inline code.
pub(super) fn clean(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    for line in printable(raw).lines() {
        text += without_marks(cut(line));
        text.push('\n');
    }
    text
}

fn cut(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

fn without_marks(mut line: &str) -> &str {
    for _ in 0..MAX_PREFIXES {
        let Some(before) = prefix(line) else { break };
        line = &line[before.len()..];
    }
    line.trim_start_matches('`').trim_end_matches('`').trim_end()
}

/// `key : value`, however wide the gap before the colon is.
pub(super) fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    Some((key.trim(), value.trim()))
}

/// A value, or none where the program says that it has none.
pub(super) fn told(value: &str) -> Option<&str> {
    let nothing = ["", "N/A", "[N/A]", "None", "No CUDA", "Could not collect", "Not Found", "ERR!", "Unknown"];
    (!nothing.contains(&value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_put_around_a_line_goes() {
        for (raw, wanted) in [
            ("\x1b[32mOS: x\x1b[0m\r\n", "OS: x\n"),
            ("> > | 0  Tesla T4 |\n", "| 0  Tesla T4 |\n"),
            ("app-1  | 2024-05-01T10:00:00.123Z GPU 0: T4\n", "GPU 0: T4\n"),
            ("`nvcc: x`\n", "nvcc: x\n"),
            ("    Product Name : x\n", "    Product Name : x\n"),
        ] {
            assert_eq!(clean(raw), wanted, "{raw:?}");
        }
        assert!(clean(&"é".repeat(1 << 20)).len() <= MAX_LINE + 1);
    }
}
