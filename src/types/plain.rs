//! Words of readers of files in plain English: what is expected of a value is told to who wrote the file.

use std::borrow::Borrow;

/// The words of serde for types of Rust, and ours.
const TYPES: &[(&str, &str)] = &[
    ("expected u8", "expected a whole number"),
    ("expected u16", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected a table"),
    ("expected a boolean", "expected true or false"),
    ("invalid type: sequence", "invalid type: list"),
    ("invalid type: map", "invalid type: table"),
];

/// What a message quotes of a file is cut where it is longer; so is a message.
const QUOTED: usize = 200;
const MESSAGE: usize = 4000;

/// A message about a value of the wrong type, without the names that types have in Rust and with no more of a value than
/// tells which it is.
pub fn plain_types(message: &str) -> String {
    brief(&without_rust(message))
}

/// A message with what it quotes cut down: a file of strangers may hold any amount.
pub fn brief(message: &str) -> String {
    let mut told = String::new();
    for part in message.split_inclusive(['`', '"']) {
        if told.len() > MESSAGE {
            return told + "…";
        }
        match cut(part, QUOTED) {
            Some(short) => {
                told += &short;
                told.extend(part.chars().next_back().filter(|end| matches!(end, '`' | '"')));
            }
            None => told += part,
        }
    }
    told
}

/// The beginning of a text that is longer than this many characters, with a mark where it ends; none of a shorter one.
pub fn cut(text: &str, most: usize) -> Option<String> {
    let (end, _) = text.char_indices().nth(most)?;
    Some(format!("{}…", &text[..end]))
}

/// Names of a list that are told, of a file that may hold thousands.
pub const NAMED: usize = 20;

/// The first few of a list in words.
pub fn shorten<T: Borrow<str>>(items: &[T], most: usize) -> String {
    let shown = items[..items.len().min(most)].join(", ");
    if items.len() > most { format!("{shown} and {} more", items.len() - most) } else { shown }
}

fn without_rust(message: &str) -> String {
    for (theirs, ours) in TYPES {
        let end = message.find(theirs).map(|at| at + theirs.len());
        if let Some(end) = end.filter(|end| !message[*end..].starts_with(|c: char| c.is_ascii_alphanumeric())) {
            let begin = &message[..end - theirs.len()];
            return format!("{begin}{ours}{}", without_rust(&message[end..]));
        }
    }
    // `struct Row`, `enum Kind`: the name is one of ours, and means nothing in a file.
    match message.split_once("expected struct ") {
        Some((begin, name)) => {
            let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            format!("{begin}expected a table{rest}")
        }
        None => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_quoted_without_end() {
        let long = "é".repeat(1 << 20);
        let told = plain_types(&format!("unknown field `{long}`, expected `a`"));
        assert!(told.ends_with("é…`, expected `a`") && told.chars().count() < 250, "{told}");
        assert!(plain_types(&format!("invalid type: string \"{}\"", "`".repeat(1 << 20))).len() < 5000);
    }

    #[test]
    fn no_name_of_rust_is_told() {
        for (theirs, ours) in [
            ("invalid value: integer `-1`, expected u32", "invalid value: integer `-1`, expected a whole number"),
            ("invalid type: string \"a\", expected a sequence", "invalid type: string \"a\", expected a list"),
            (
                "invalid type: map, expected struct Gpu with 3 elements",
                "invalid type: table, expected a table with 3 elements",
            ),
            ("unknown field `x`, expected one of `a`", "unknown field `x`, expected one of `a`"),
            ("expected u640", "expected u640"),
        ] {
            assert_eq!(plain_types(theirs), ours);
        }
    }
}
