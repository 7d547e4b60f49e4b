//! Logs in which every line is a record: the message alone is taken out of JSON, of the columns of `gh run view --log` and
//! from behind the number of its line.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The keys under which loggers write the message of a record.
const MESSAGE: &[&str] = &["msg", "message", "log", "text", "line"];
/// The keys that only say when and how loudly: a record has one, and nothing is lost without them.
const WHEN: &[&str] = &["level", "severity", "lvl", "ts", "time", "timestamp", "stream", "@timestamp"];

/// The messages of a text in which every line is a record; any other text as it is.
pub fn messages(raw: &str) -> Cow<'_, str> {
    let text = of_json(raw).map_or(Cow::Borrowed(raw), Cow::Owned);
    let text = of_columns(&text).map_or(text, Cow::Owned);
    of_numbers(&text).map_or(text, Cow::Owned)
}

/// The lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// What is made of each line; none where there is one that nothing is made of, or a single line.
fn all(text: &str, of_line: impl FnMut(&str) -> Option<String>) -> Option<String> {
    lines(text).nth(1)?;
    Some(lines(text).map(of_line).collect::<Option<Vec<String>>>()?.join("\n"))
}

fn of_json(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    Some(lines(text).map(of_record).collect::<Option<Vec<String>>>()?.join("\n"))
}

/// The message of a record, and below it what else it says, an error or a stack.
fn of_record(line: &str) -> Option<String> {
    let record: Map<String, Value> = serde_json::from_str(line).ok()?;
    record.keys().find(|key| WHEN.contains(&key.as_str()))?;
    let message = MESSAGE.iter().find(|key| record.contains_key(**key))?;
    let mut said = vec![record[*message].as_str()?.trim_end_matches('\n')];
    for (_, value) in record.iter().filter(|(key, _)| key.as_str() != *message && !WHEN.contains(&key.as_str())) {
        match value {
            Value::String(text) => said.push(text),
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
            // What is nested may say more than the message.
            Value::Array(_) | Value::Object(_) => return None,
        }
    }
    Some(said.join("\n"))
}

/// Job, step and time stand before each line.
fn of_columns(text: &str) -> Option<String> {
    all(text, |line| {
        let mut columns = line.splitn(3, '\t');
        let (_, _, rest) = (columns.next()?, columns.next()?, columns.next()?);
        let (time, message) = rest.trim_start_matches('\u{feff}').split_once(' ').unwrap_or((rest, ""));
        let is_time = time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('T') && time.ends_with('Z');
        is_time.then(|| message.to_string())
    })
}

/// Numbers that count the lines, as `cat -n`, `grep -n` and editors show them.
fn of_numbers(text: &str) -> Option<String> {
    let mut expected: Option<u64> = None;
    let mut numbered = |line: &str| {
        let shown = line.trim_start();
        let digits = shown.find(|c: char| !c.is_ascii_digit()).unwrap_or(shown.len());
        let number: u64 = shown[..digits].parse().ok()?;
        let follows = expected.is_none_or(|expected| number == expected);
        // After the greatest number no line follows: it counts none.
        expected = Some(number.checked_add(1)?);
        let rest = &shown[digits..];
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix([' ', '\t', ':', '|'])? };
        follows.then(|| rest.to_string())
    };
    // Lines that are empty are counted, too.
    lines(text).nth(1)?;
    let trimmed = text.trim_matches('\n');
    Some(trimmed.lines().map(&mut numbered).collect::<Option<Vec<String>>>()?.join("\n"))
}

#[cfg(test)]
mod tests;
