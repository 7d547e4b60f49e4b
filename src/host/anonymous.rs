//! A record without what tells one user, or one GPU of a kind, from another, so that it can be shown to anybody.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Record;

/// The beginnings of a GPU's and a MIG instance's UUID, as NVML and the environment write them.
const KINDS: &[&str] = &["GPU-", "MIG-"];
/// A UUID without its kind.
const LENGTH: usize = 36;
/// Fewer digits than these are no abbreviated UUID.
const LEAST: usize = 4;

/// The record with every UUID replaced by a number, the same one wherever the same UUID stands, abbreviated or not.
pub fn anonymous(record: Record) -> Record {
    // A UUID is text wherever it stands, so the record can be read back.
    record.rewritten(&|value: &mut Value| {
        let mut known = Known::default();
        known.collect(&*value);
        known.replace(value);
    })
}

/// A text without the names of people's homes: what lies right below a folder `home` or `Users` is `user`.
pub fn without_user(text: &str) -> String {
    let mut left = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((at, home)) = ["/home/", "/Users/"].iter().filter_map(|home| Some((left.find(home)?, *home))).min() {
        let name = at + home.len();
        let end = left[name..].find([':', '/', ',', '\'', '"', '\n']).map_or(left.len(), |length| name + length);
        kept += &left[..name];
        kept += if end > name { "user" } else { "" };
        left = &left[end..];
    }
    kept + left
}

/// The UUIDs seen, in lower case and without their kind, each with its number.
#[derive(Debug, Default)]
struct Known(BTreeMap<String, usize>);

impl Known {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for (_, uuid) in uuids(text).into_iter().filter(|(_, uuid)| uuid.len() == LENGTH) {
                    let next = self.0.len() + 1;
                    self.0.entry(uuid.to_lowercase()).or_insert(next);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.collect(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.collect(value)),
            _ => {}
        }
    }

    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replaced(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.replace(value)),
            _ => {}
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for (start, uuid) in uuids(text) {
            out += &text[at..start];
            out += &format!("{:08x}-0000-0000-0000-000000000000", self.number(&uuid.to_lowercase()))[..uuid.len()];
            at = start + uuid.len();
        }
        out + &text[at..]
    }

    /// An abbreviation has the number of the UUID it begins.
    fn number(&mut self, uuid: &str) -> usize {
        let begun = self.0.iter().find(|(known, _)| known.starts_with(uuid)).map(|(_, number)| *number);
        begun.unwrap_or_else(|| {
            let next = self.0.len() + 1;
            self.0.insert(uuid.to_string(), next);
            next
        })
    }
}

/// The UUIDs in a text with where they begin: whole ones anywhere, abbreviated ones behind their kind.
fn uuids(text: &str) -> Vec<(usize, &str)> {
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == '-';
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(is_digit).map(|offset| at + offset) {
        let run = &text[start..];
        let run = &run[..run.find(|c| !is_digit(c)).unwrap_or(run.len())];
        at = start + run.len();
        // `-` of the kind itself is the first of its run.
        let digits = run.trim_start_matches('-');
        let begins = start + run.len() - digits.len();
        let digits = &digits[..digits.len().min(LENGTH)];
        let named = KINDS.iter().any(|kind| text[..begins].ends_with(kind));
        if has_form(digits) || (named && digits.len() >= LEAST) {
            found.push((begins, digits));
            at = begins + digits.len();
        }
    }
    found
}

fn has_form(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    text.len() == LENGTH && lengths.eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests;
