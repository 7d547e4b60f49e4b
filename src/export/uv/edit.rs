//! How a TOML file is looked up and changed in place, so that all else in it keeps its bytes.

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, RawString, Table, Value};

use super::super::ExportError;
use super::above;

/// Where exports record what they wrote.
pub(super) const RECORD: [&str; 2] = ["tool", "gpuenv"];
/// The one key of `[project]` that follows the lock.
pub(super) const PYTHON: &str = "requires-python";

/// What stands there already, and what helps.
pub(super) fn taken(what: String, cure: &str) -> ExportError {
    ExportError::Taken { what, cure: cure.to_string() }
}

/// What stands under a path.
pub(super) fn at<'d>(document: &'d DocumentMut, path: &[&str]) -> Option<&'d Item> {
    let mut item = document.as_item();
    for key in path {
        item = item.get(key)?;
    }
    Some(item)
}

/// The entries of a list.
pub(super) fn strings(item: &Item) -> Vec<String> {
    item.as_array().into_iter().flatten().map(text_of).collect()
}

/// An entry as the record spells it.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.clone().decorated("", "").to_string(), str::to_string)
}

/// The table of a path, made where there is none.
pub(super) fn table<'d>(mut table: &'d mut Table, path: &[&str]) -> Result<&'d mut Table, ExportError> {
    for (depth, key) in path.iter().enumerate() {
        let mut made = Table::new();
        made.set_implicit(depth + 1 < path.len());
        table = table.entry(key).or_insert(Item::Table(made)).as_table_mut().ok_or_else(|| {
            taken(
                format!("`{}` of pyproject.toml is not a table with a header", path[..=depth].join(".")),
                "write it as one",
            )
        })?;
    }
    Ok(table)
}

/// A list of tables with headers, made where there is none.
pub(super) fn tables<'d>(uv: &'d mut Table, key: &str) -> Result<&'d mut ArrayOfTables, ExportError> {
    let list = uv.entry(key).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    list.as_array_of_tables_mut().ok_or_else(|| {
        taken(
            format!("`tool.uv.{key}` of pyproject.toml is not a list of tables"),
            &format!("write it as [[tool.uv.{key}]]"),
        )
    })
}

/// Takes entries out of a list. What is written around one, comments above it and behind it, stays where it was.
pub(super) fn take_out(list: &mut Array, is_gone: impl Fn(&Value) -> bool) {
    let gone: Vec<usize> = list.iter().enumerate().filter(|(_, one)| is_gone(one)).map(|(place, _)| place).collect();
    for place in gone.into_iter().rev() {
        let gone = list.remove(place);
        let next = list.get(place).map_or(between(Some(list.trailing())), |next| between(next.decor().prefix()));
        let left = joined(&between(gone.decor().prefix()), &(between(gone.decor().suffix()) + &next));
        match list.get_mut(place) {
            Some(next) => next.decor_mut().set_prefix(left),
            None => list.set_trailing(left),
        }
    }
}

/// Adds entries behind the others, each on a line of its own; what is written behind the last one stays there.
pub(super) fn add<'v>(list: &mut Array, new: impl Iterator<Item = &'v Value>) {
    let mut new = new.peekable();
    if new.peek().is_none() {
        return;
    }
    let mut behind = between(Some(list.trailing()));
    // What follows the last entry is its own as long as no comma does.
    let is_open = !list.trailing_comma();
    if let Some(last) = list.iter_mut().last().filter(|_| is_open) {
        behind = between(last.decor().suffix()) + &behind;
        last.decor_mut().set_suffix("");
    }
    let (mut kept, indent) = behind.rsplit_once('\n').unwrap_or_default();
    for value in new {
        list.push_formatted(value.clone().decorated(format!("{kept}\n    "), ""));
        kept = "";
    }
    list.set_trailing_comma(true);
    list.set_trailing(format!("\n{indent}"));
}

/// What stood before and behind an entry that is gone, without the line that it had to itself.
fn joined(before: &str, behind: &str) -> String {
    let Some((kept, _)) = before.rsplit_once('\n') else { return behind.to_string() };
    match behind.split_once('\n') {
        Some((rest, _)) if rest.trim().is_empty() => kept.to_string() + behind,
        _ => before.to_string() + behind.trim_start(),
    }
}

/// Whether somebody wrote a comment in an empty list, above it or behind it.
pub(super) fn has_notes(parent: &Table, key: &str) -> bool {
    let Some((name, list)) = parent.get_key_value(key) else { return false };
    let Some(list) = list.as_array() else { return false };
    let inside = [Some(list.trailing()), list.decor().suffix()];
    let above = between(name.leaf_decor().prefix());
    let is_ours = |line: &str| line.is_empty() || above::ALL.contains(&line);
    inside.into_iter().any(|place| between(place).contains('#')) || !above.lines().map(str::trim).all(is_ours)
}

/// Sets a key; what is written behind an earlier value and above the key stays.
pub(super) fn set(table: &mut Table, key: &str, new: &Item) {
    match (table.get_mut(key), new) {
        (Some(Item::Value(old)), Item::Value(new)) => {
            let decor = old.decor().clone();
            *old = new.clone();
            *old.decor_mut() = decor;
        }
        _ => drop(table.insert(key, new.clone())),
    }
}

/// Blanks and comments between two things.
pub(super) fn between(place: Option<&RawString>) -> String {
    place.and_then(RawString::as_str).unwrap_or_default().to_string()
}

/// What the record of a file lists under a name.
pub(super) fn recorded(document: &DocumentMut, name: &str) -> Vec<String> {
    at(document, &[RECORD[0], RECORD[1], name]).map(strings).unwrap_or_default()
}
