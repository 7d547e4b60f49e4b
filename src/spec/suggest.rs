//! What was meant by a key or a word that does not exist.

use crate::nearest::{MAX_COMPARED, nearest};

use super::error::clip;
use super::keys::{self, KeyDoc, Table, TableDoc, tables};
use super::other_names::{other_name, other_names};
use super::parse_part;
use super::slot::Shape;

/// How headers of tables begin whose keys say nothing about where a key belongs.
const OF_ANYTHING: [&str; 3] = ["[[", "[export", "[stack."];

/// What a manifest tells of a project. Nothing of that is known here.
const OF_MANIFESTS: [&str; 5] = ["project", "package", "tool", "name", "version"];

/// Whether a key of `[stack]` is the name of another key, and no package's.
pub(super) fn is_no_package(key: &str) -> bool {
    fn has<O>(table: &Table<O>, word: &str) -> bool {
        table.keys.iter().any(|key| key.name == word || key.slips.contains(&word))
    }
    if keys::STACK.key(key).is_some() {
        return false;
    }
    fold(key).is_some_and(|word| {
        let of_stack = keys::STACK.key(&word).is_none() && has(&keys::STACK, &word);
        of_stack
            || has(&keys::ROOT, &word)
            || has(&keys::TARGET, &word)
            || has(&keys::BUILD, &word)
            || has(&keys::RESOLVE, &word)
    })
}

/// What to write for a key that the table of this name does not have, and whether that belongs into another table;
/// `value` is what was written for it, if that fits a line.
pub(super) fn unknown_key(table: &str, key: &str, value: Option<&str>) -> (String, bool) {
    let tables = tables();
    let folded = fold(key).unwrap_or_default();
    let own = tables.iter().find(|doc| doc.name == table);
    if let Some(known) = own.and_then(|doc| named(doc, &folded)) {
        return (format!("did you mean `{}`?", known.name), false);
    }
    if folded == "gpus" && value.is_some_and(|count| count.parse::<u16>().is_ok()) {
        return ("how many GPUs there are changes nothing: drop the key".to_string(), false);
    }
    if let Some((doc, known)) = own.and_then(|doc| Some((doc, slipped(doc, &folded)?))) {
        return (format!("write `{}`", line(doc, known, value)), false);
    }
    // Exceptions and exports have keys that may mean anything anywhere else.
    let others = || {
        tables.iter().filter(|doc| doc.name != table && !OF_ANYTHING.iter().any(|head| doc.header.starts_with(head)))
    };
    for doc in others() {
        match named(doc, &folded) {
            Some(_) if doc.name.is_empty() => {
                return (format!("move it to the top of {}, before the first table", doc.header), true);
            }
            Some(known) if value.is_some_and(|value| is_read(doc, known, value)) => {
                return (format!("move it under `{}`", doc.header), true);
            }
            Some(known) => return (format!("write `{}` under `{}`", line(doc, known, value), doc.header), true),
            None => {}
        }
    }
    if table.is_empty() {
        if let Some(doc) = tables.iter().find(|doc| doc.slips.contains(&folded.as_str())) {
            // What stands behind the dot of exports is a key of the table, too.
            let others =
                if doc.name == "stack" { "; what gpuenv does not choose belongs under `[packages]`" } else { "" };
            return (format!("write it as `{}`{others}", doc.header.replace(".FORMAT", "")), true);
        }
        if OF_MANIFESTS.contains(&folded.as_str()) {
            let near = nearest(key, tables.iter().map(|doc| doc.name).filter(|name| !name.is_empty()));
            let near = near.map_or(String::new(), |near| format!("did you mean `[{near}]`? "));
            let help = "this file says what must run, `[stack]`, and where, `[target.NAME]`; what else there is to a \
                        project stays in its own manifest";
            return (near + help, false);
        }
    }
    for doc in others() {
        if let Some(known) = slipped(doc, &folded) {
            return (format!("write `{}` under `{}`", line(doc, known, value), doc.header), true);
        }
    }
    let mut known: Vec<&str> = own.into_iter().flat_map(|doc| &doc.keys).map(|key| key.name).collect();
    if table.is_empty() {
        known.extend(tables.iter().map(|doc| doc.name).filter(|name| !name.is_empty()));
    }
    let help = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys: {}", known.join(", ")),
    };
    (help, false)
}

/// In the spelling of keys; none of what is too long for one.
fn fold(key: &str) -> Option<String> {
    (key.len() <= MAX_COMPARED).then(|| key.to_ascii_lowercase().replace('_', "-"))
}

fn named<'d>(doc: &'d TableDoc, folded: &str) -> Option<&'d KeyDoc> {
    doc.keys.iter().find(|key| key.name == folded)
}

fn slipped<'d>(doc: &'d TableDoc, folded: &str) -> Option<&'d KeyDoc> {
    doc.keys.iter().find(|key| key.slips.contains(&folded))
}

/// Whether a key takes a value: what it would refuse is no advice.
fn is_read(doc: &TableDoc, key: &KeyDoc, value: &str) -> bool {
    let before = format!("{}\n{} = ", doc.header.replace("NAME", "x"), key.name);
    let (_, errors) = parse_part(&format!("{before}{value}\n"));
    errors.iter().all(|error| error.span.start < before.len() || error.span.is_empty())
}

/// The line to write: with the value that was written, if it can stand there, else with an example.
fn line(doc: &TableDoc, key: &KeyDoc, value: Option<&str>) -> String {
    let stays = |value: &&str| {
        let is_text = value.len() > 2 && value.starts_with(['"', '\'']);
        value.len() <= MAX_COMPARED
            && is_read(doc, key, value)
            && match &key.shape {
                Shape::Text => is_text,
                Shape::TextOrList => is_text || (value.starts_with('[') && value.ends_with(']')),
                Shape::List => value.starts_with('[') && value.ends_with(']'),
                Shape::Switch => ["true", "false"].contains(value),
                Shape::Choice(words) => words.contains(&value.trim_matches(['"', '\''])),
            }
    };
    format!("{} = {}", key.name, value.filter(stays).map_or(key.example.to_string(), clip))
}

/// The known word that one is a slip of the pen of: other than the nearest word it is the same thing, so torchao is no
/// torchaudio and torchdata neither. Numbers are no slips, nor is the processor: flash-attn-4 is another than flash-attn,
/// faiss-cpu than faiss-gpu.
pub fn slip<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let folded: String = word.to_lowercase().replace(['_', '-'], "");
    let distance = |candidate: &str| strsim::damerau_levenshtein(&folded, &candidate.replace('-', ""));
    let tells_apart =
        |word: &str| (word.contains("cpu"), word.chars().filter(char::is_ascii_digit).collect::<String>());
    let is_slip = |candidate: &str| {
        distance(candidate) <= usize::from(folded.len() > 3) && tells_apart(&folded) == tells_apart(candidate)
    };
    if word.len() > MAX_COMPARED {
        return None;
    }
    let by_other_name = || other_names().find(|(name, _)| is_slip(name)).map(|(_, meant)| meant);
    let meant = other_name(word).or_else(by_other_name);
    let near = |candidate: &&str| meant == Some(*candidate) || is_slip(candidate);
    known.into_iter().filter(near).min_by_key(|candidate| distance(candidate))
}

#[cfg(test)]
mod tests;
