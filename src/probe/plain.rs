//! What leaves this machine, made plain: drivers and libraries write what they like into their names.

use serde_json::Value;

use crate::host::Record;
use crate::host::anonymous::without_user;
use crate::types::name::is_unseen;

/// No text of a record is longer, in characters.
const LONGEST: usize = 16_384;

/// The record with every text in it made plain: no characters that cannot be seen, the user's home written `~`, no name of
/// another home, nothing without end.
pub fn made_plain(record: Record, home: Option<&str>) -> Record {
    // A root directory as a home tells nothing and begins every path.
    let home = home.filter(|home| home.starts_with('/') && home.len() > 1).map(|home| home.trim_end_matches('/'));
    // Versions and the like hold nothing that would change, so the record can be read back.
    record.rewritten(&|value| walk(value, home))
}

fn walk(value: &mut Value, home: Option<&str>) {
    match value {
        Value::String(text) => *text = plain(text, home),
        Value::Array(values) => values.iter_mut().for_each(|value| walk(value, home)),
        Value::Object(fields) => {
            for (name, mut value) in std::mem::take(fields) {
                walk(&mut value, home);
                fields.insert(plain(&name, None), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn plain(text: &str, home: Option<&str>) -> String {
    let visible = |c: char| if is_unseen(c) { char::REPLACEMENT_CHARACTER } else { c };
    let text: String = text.chars().take(LONGEST).map(visible).collect();
    without_user(&home.map_or(text.clone(), |home| without_home(&text, home)))
}

/// Every path below the home begins with `~` then; `/home/alice2` is not below `/home/alice`.
fn without_home(text: &str, home: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(home) {
        let (before, after) = (&rest[..at], &rest[at + home.len()..]);
        let inside_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let begins = !before.ends_with(|c: char| inside_a_name(c) || c == '/');
        let ends = !after.starts_with(inside_a_name);
        out += before;
        out += if begins && ends { "~" } else { home };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests;
