//! Words of readers of files in plain English: what is expected of a value is told to who wrote the file.

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

/// A message about a value of the wrong type, without the names that types have in Rust.
pub fn plain_types(message: &str) -> String {
    for (theirs, ours) in TYPES {
        let end = message.find(theirs).map(|at| at + theirs.len());
        if let Some(end) = end.filter(|end| !message[*end..].starts_with(|c: char| c.is_ascii_alphanumeric())) {
            let begin = &message[..end - theirs.len()];
            return format!("{begin}{ours}{}", plain_types(&message[end..]));
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
