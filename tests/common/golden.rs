//! What a kept text is about: the choices and words in it. The catalog's version, the digests of rows and where they
//! were looked up change with rows that have nothing to do with it, so they are not held against it.

/// What stands before such a value; the value ends with the quote.
const INCIDENTAL: &[&str] = &["catalog.version = \"", "digest = \"", "source = \"", "\"digest\": \"", "\"source\": \""];
/// What stands before the catalog's version in a sentence.
const CATALOG: &[&str] = &["catalog ", "catalog is of "];

/// A text with incidental values left blank.
pub fn about(text: &str) -> String {
    let mut kept = text.to_string();
    for before in INCIDENTAL {
        kept = blanked(&kept, before, |rest| rest.find('"'));
    }
    for before in CATALOG {
        kept = blanked(&kept, before, date);
    }
    kept
}

/// The text without what follows each `before`, as far as `length` says.
fn blanked(text: &str, before: &str, length: fn(&str) -> Option<usize>) -> String {
    let mut parts = text.split(before);
    let mut kept = parts.next().unwrap_or_default().to_string();
    for part in parts {
        kept += before;
        kept += &part[length(part).unwrap_or(0)..];
    }
    kept
}

/// The length of a date such as `2026.11.22` at the beginning of a text.
fn date(text: &str) -> Option<usize> {
    let length = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let numbers: Vec<usize> = text[..length].trim_end_matches('.').split('.').map(str::len).collect();
    (numbers == [4, 2, 2]).then_some("2026.11.22".len())
}

/// Whether two texts are the same but for numbers, none of which differs by more than a twentieth.
pub fn nearly(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    let near = |(one, other): (&&str, &&str)| match (one.parse::<i64>(), other.parse::<i64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() <= 2 + one / 20,
        _ => one == other,
    };
    one.len() == other.len() && one.iter().zip(&other).all(near)
}
