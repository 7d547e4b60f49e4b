//! The text of a gpuenv.toml with some keys changed. Whatever is not changed keeps its bytes: comments, order,
//! blanks, quotes and line ends.

use toml_edit::{Decor, DocumentMut, Item, Table, Value};

use super::edit::shape;
use super::error::line_at;
use super::{Shape, Spec, SpecError, parse_part};

/// Why a text could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// It does not hold what it was thought to hold.
    #[error("`{0}` cannot be changed by itself in this file: change it by hand")]
    Unreachable(String),
    /// The result would say something else than was meant.
    #[error("the changed file would not say what was meant: change it by hand")]
    Different,
}

/// Sets keys to values (`stack.torch` to `2.5.1`) or removes them.
pub fn rewrite(source: &str, changes: &[(String, Option<String>)]) -> Result<String, RewriteError> {
    let meant = |spec: Spec, (key, value): &(String, Option<String>)| spec.with(key, value.as_deref());
    let meant = changes.iter().try_fold(begun(source)?, meant).map_err(|_| RewriteError::Different)?;
    let mut text = source.to_string();
    for (key, value) in changes {
        text = change(&text, key, value.as_deref())?;
    }
    if begun(&text)?.inputs() == meant.inputs() { Ok(text) } else { Err(RewriteError::Different) }
}

/// Whether it is only that nothing is asked for yet, or of no machine: what such a file holds is right.
pub fn is_incomplete(error: &SpecError) -> bool {
    error.code == "missing" && error.span.is_empty()
}

/// A spec that may still lack its packages or its targets.
pub(super) fn begun(source: &str) -> Result<Spec, RewriteError> {
    let (spec, errors) = parse_part(source);
    if errors.iter().all(is_incomplete) { Ok(spec) } else { Err(RewriteError::Different) }
}

fn change(source: &str, key: &str, value: Option<&str>) -> Result<String, RewriteError> {
    let spec = begun(source)?;
    let written = spec.key_span(key);
    match (written, value) {
        (Some(span), Some(value)) => {
            let literal = literal(key, value, &source[span.clone()]);
            Ok(format!("{}{literal}{}", &source[..span.start], &source[span.end..]))
        }
        (Some(span), None) => match line_of_its_own(source, &span) {
            Some(line) => Ok(format!("{}{}", &source[..line.start], &source[line.end..])),
            None => by_tree(source, key, None),
        },
        (None, value) => by_tree(source, key, value),
    }
}

/// A value as TOML, between the quotes that the old one had.
fn literal(key: &str, value: &str, old: &str) -> String {
    // Extras stand in brackets too, and are no list: `[torch]>=4.50`.
    if matches!(shape(key), Some(Shape::TextOrList | Shape::List)) && value.starts_with('[') {
        return value.to_string();
    }
    if old.starts_with('\'') && !old.starts_with("'''") && !value.contains(['\'', '\n']) {
        return format!("'{value}'");
    }
    Value::from(value).to_string()
}

/// The whole line, if there is nothing on it but this key, its value and a comment.
fn line_of_its_own(source: &str, value: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let (start, _) = line_at(source, value.start);
    let before = &source[start..value.start];
    let (key, blank) = before.split_once('=')?;
    let plain = key.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.\"' ".contains(&byte));
    let end = source[value.end..].find('\n').map_or(source.len(), |at| value.end + at + 1);
    let after = source[value.end..end].trim();
    let alone = plain && blank.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
    alone.then_some(start..end)
}

/// Keys that are not there yet, or stand within braces, are changed in the tree of the file.
fn by_tree(source: &str, key: &str, value: Option<&str>) -> Result<String, RewriteError> {
    in_tree(source, key, |tree| set(tree, key, value))
}

/// A file with its tree changed; `key` is what the change is about.
pub(super) fn in_tree(
    source: &str,
    key: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), RewriteError>,
) -> Result<String, RewriteError> {
    let plain = source.replace("\r\n", "\n");
    let mut tree: DocumentMut = plain.parse().map_err(|_| RewriteError::Unreachable(key.to_string()))?;
    change(&mut tree)?;
    Ok(with_line_ends_of(source, &tree.to_string()))
}

fn set(tree: &mut DocumentMut, key: &str, value: Option<&str>) -> Result<(), RewriteError> {
    let unreachable = || RewriteError::Unreachable(key.to_string());
    let (path, name) = key.rsplit_once('.').ok_or_else(unreachable)?;
    let mut at: &mut Item = tree.as_item_mut();
    for part in path.splitn(2, '.') {
        let table = at.as_table_like_mut().ok_or_else(unreachable)?;
        if !table.contains_key(part) {
            table.insert(part, Item::Table(Table::new()));
        }
        at = table.get_mut(part).ok_or_else(unreachable)?;
    }
    let is_inline = at.is_inline_table();
    let table = at.as_table_like_mut().ok_or_else(unreachable)?;
    match value {
        None => {
            let removed = table.remove(name).ok_or_else(unreachable)?;
            // The blank before the closing brace belongs to whatever stands last.
            let blank = removed.as_value().and_then(|value| value.decor().suffix()).cloned();
            let last = table.iter_mut().last().and_then(|(_, item)| item.as_value_mut().map(Value::decor_mut));
            let bare = |last: &&mut Decor| last.suffix().and_then(|suffix| suffix.as_str()).is_none_or(str::is_empty);
            if let (Some(last), Some(blank)) = (last.filter(bare), blank) {
                last.set_suffix(blank);
            }
        }
        Some(value) => {
            let mut new = tree_value(key, value).ok_or_else(unreachable)?;
            match table.get_mut(name).and_then(Item::as_value_mut) {
                Some(old) => {
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
                None => {
                    // The blank before the closing brace belongs to whatever stands last.
                    let last = table.iter_mut().last().and_then(|(_, item)| item.as_value_mut().map(Value::decor_mut));
                    if let Some(last) = last.filter(|_| is_inline) {
                        if let Some(blank) = last.suffix().cloned() {
                            new.decor_mut().set_suffix(blank);
                        }
                        last.set_suffix("");
                    }
                    table.insert(name, Item::Value(new));
                }
            }
        }
    }
    Ok(())
}

pub(super) fn tree_value(key: &str, text: &str) -> Option<Value> {
    match shape(key) {
        Some(Shape::Switch) => text.parse::<bool>().ok().map(Value::from),
        Some(Shape::TextOrList) if text.starts_with('[') => text.parse().ok(),
        _ => Some(Value::from(text)),
    }
}

/// Lines that were there keep their ends; new ones get the end that most have.
fn with_line_ends_of(source: &str, text: &str) -> String {
    if !source.contains("\r\n") {
        return text.to_string();
    }
    let old: Vec<&str> = source.split_inclusive('\n').collect();
    let new: Vec<&str> = text.split_inclusive('\n').collect();
    let same = |a: &str, b: &str| a.trim_end_matches(['\r', '\n']) == b.trim_end_matches(['\r', '\n']);
    let head = old.iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| same(a, b)).count();
    let returns = old.iter().filter(|line| line.ends_with("\r\n")).count();
    let usual = if returns * 2 >= old.len() { "\r\n" } else { "\n" };
    let mut out = old[..head].concat();
    for line in &new[head..new.len() - tail] {
        match line.strip_suffix('\n') {
            Some(line) => {
                out += line;
                out += usual;
            }
            None => out += line,
        }
    }
    out + &old[old.len() - tail..].concat()
}

#[cfg(test)]
mod tests;
