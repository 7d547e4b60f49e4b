//! Typed values out of TOML's tree: each with its text and place, each refusal an error at that place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::types::distinct;

use super::Written;
use super::error::{Refusal, SpecError, clip};

/// A value of the tree.
pub(super) type Item<'i> = Spanned<DeValue<'i>>;

/// More errors than anyone mends in one go; a file that is no gpuenv.toml at all must end quickly.
const MAX_ERRORS: usize = 200;

/// More targets or packages nobody has in one file; what is made of them must be told within seconds.
const MAX_ENTRIES: usize = 10_000;

/// The file being read, and what was wrong so far.
pub(super) struct Reader<'s> {
    pub source: &'s str,
    /// Whether a key stands where another table's keys stand, so that what that one seems to lack is no news.
    pub misplaced: bool,
    errors: Vec<SpecError>,
    left_off: usize,
}

impl<'s> Reader<'s> {
    pub fn new(source: &'s str) -> Self {
        Reader { source, misplaced: false, errors: Vec::new(), left_off: 0 }
    }

    /// Whether further errors will only be counted, so that nobody works on their wording.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub fn error(&mut self, refusal: Refusal, span: Range<usize>) {
        if self.is_full() {
            self.left_off += 1;
        } else {
            self.errors.push(refusal.at(span));
        }
    }

    /// How many errors there are so far.
    pub fn count(&self) -> usize {
        self.errors.len() + self.left_off
    }

    /// The errors in file order.
    pub fn finish(self) -> Vec<SpecError> {
        let mut errors = self.errors;
        SpecError::in_file_order(&mut errors);
        if self.left_off > 0 {
            let end = self.source.len();
            errors.push(Refusal::new("too-many", format!("{} more errors are not shown", self.left_off)).at(end..end));
        }
        errors
    }

    /// What a key's text means, or the refusal at the text's place.
    pub fn checked<T>(&mut self, read: Result<T, Refusal>, span: &Range<usize>) -> Option<T> {
        read.map_err(|refusal| self.error(refusal, span.clone())).ok()
    }

    /// A table's keys in file order.
    pub fn entries<'t, 'i>(&self, table: &'t DeTable<'i>) -> Vec<(&'t str, Range<usize>, &'t Item<'i>)> {
        let mut entries: Vec<_> = table.iter().map(|(key, item)| (key.get_ref().as_ref(), key.span(), item)).collect();
        crate::types::sort_by_key(&mut entries, |(_, span, _)| span.start);
        entries
    }

    /// A table; `header` is how its header is written.
    pub fn table<'t, 'i>(&mut self, key: &str, item: &'t Item<'i>, header: &str) -> Option<&'t DeTable<'i>> {
        let table = item.get_ref().as_table();
        if table.is_some_and(|table| table.len() > MAX_ENTRIES) {
            let message = format!("`{}` holds more than {MAX_ENTRIES} entries, the most that is read", clip(key));
            let refusal = Refusal::new("too-large", message);
            let help = match key {
                "target" => "divide it among several files, one for each part of the fleet",
                _ => "name those alone that must fit; an installer brings the others",
            };
            self.error(refusal.help(help), item.span());
            return None;
        }
        if table.is_none() {
            let refusal = Refusal::new("type", format!("`{}` must be a table, not {}", clip(key), kind(item)));
            self.error(refusal.help(format!("write it as `{header}`")), item.span());
        }
        table
    }

    /// A boolean.
    pub fn boolean(&mut self, key: &str, item: &Item<'_>) -> Option<bool> {
        let value = item.get_ref().as_bool();
        if value.is_none() {
            let refusal = Refusal::new("type", format!("`{key}` must be true or false, not {}", kind(item)));
            let meant = match item.get_ref() {
                DeValue::String(text) if text.eq_ignore_ascii_case("true") || &**text == "1" => Some(true),
                DeValue::String(text) if text.eq_ignore_ascii_case("false") || &**text == "0" => Some(false),
                DeValue::Integer(number) if number.as_str() == "1" => Some(true),
                DeValue::Integer(number) if number.as_str() == "0" => Some(false),
                _ => None,
            };
            let help = match meant {
                Some(meant) => format!("write `{key} = {meant}`"),
                None => format!("write `{key} = true` or `{key} = false`"),
            };
            self.error(refusal.help(help), item.span());
        }
        value
    }

    /// A string and what it means.
    pub fn string<T>(
        &mut self,
        key: &str,
        item: &Item<'_>,
        read: impl Fn(&str) -> Result<T, Refusal>,
    ) -> Option<Written<T>> {
        let span = item.span();
        let Some(text) = item.get_ref().as_str() else {
            let mut refusal = self.not_a_string(key, item, &|text| read(text).is_ok());
            // What is offered in its place is read as if it stood there.
            if let Some(meant) = self.meant(item) {
                let read = read(&meant);
                let instead = || format!("write `{} = \"{}\"`", clip(key), clip(&meant));
                let help = read.map_or_else(|why| why.help, |_| Some(instead()));
                refusal.help = help.or(refusal.help);
            }
            self.error(refusal, span);
            return None;
        };
        let value = self.checked(read(text), &span)?;
        Some(Written { value, text: text.to_string(), span })
    }

    /// A string or a list of strings; each is read by itself, then all together.
    pub fn strings<T, U>(
        &mut self,
        key: &str,
        item: &Item<'_>,
        each: impl Fn(&str) -> Result<T, Refusal>,
        all: impl Fn(Vec<T>) -> Result<U, Refusal>,
    ) -> Option<Written<U>> {
        let span = item.span();
        let Some(list) = item.get_ref().as_array() else {
            let one = self.string(key, item, each)?;
            let value = self.checked(all(vec![one.value]), &span)?;
            return Some(Written { value, text: one.text, span });
        };
        if let Some(wrong) = list.iter().find(|item| !item.get_ref().is_str()) {
            let message = format!("`{}` must be a list of strings: this is {}", clip(key), kind(wrong));
            let refusal = Refusal::new("type", message);
            let refusal = match self.requoted(list) {
                Some(list) => refusal.help(format!("write `{} = {list}`", clip(key))),
                None => refusal,
            };
            self.error(refusal, wrong.span());
            return None;
        }
        let texts: Vec<&str> = list.iter().filter_map(|item| item.get_ref().as_str()).collect();
        let mut values = Vec::with_capacity(texts.len());
        for (text, item) in texts.iter().zip(list.iter()) {
            values.extend(self.checked(each(text), &item.span()));
        }
        if values.len() < texts.len() {
            return None;
        }
        let value = self.checked(all(values), &span)?;
        Some(Written { value, text: list_text(&texts), span })
    }

    /// TOML has read `12.10` as a number and would print 12.1: the spelling in the file is what counts.
    fn not_a_string(&self, key: &str, item: &Item<'_>, is_read: &dyn Fn(&str) -> bool) -> Refusal {
        let refusal = Refusal::new("type", format!("`{}` must be a string, not {}", clip(key), kind(item)));
        match (scalar(item), item.get_ref()) {
            (true, _) | (_, DeValue::Boolean(_) | DeValue::Datetime(_)) => {
                refusal.help(format!("write a string, `{} = \"…\"`, or drop the key", clip(key)))
            }
            (false, DeValue::Array(list)) if list.iter().all(|item| item.get_ref().is_str()) && !list.is_empty() => {
                let parts: Vec<&str> = list.iter().filter_map(|item| item.get_ref().as_str()).collect();
                // Several releases are alternatives, bounds hold together.
                let are_releases = parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
                let between = match (key.ends_with("arch-list"), are_releases) {
                    (true, _) => ";",
                    (false, true) => " || ",
                    (false, false) => ",",
                };
                let one = parts.join(between);
                // Words are no bounds, and a machine has one system and one compiler.
                let is_bound = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit() || "<>=!~^".contains(c));
                let help = match parts.iter().all(is_bound) && is_read(&one) {
                    true => format!("write one string: `{} = \"{}\"`", clip(key), clip(&one)),
                    false => format!(
                        "write one of them: `{} = \"{}\"`; another machine is a target of its own",
                        clip(key),
                        clip(parts[0])
                    ),
                };
                refusal.help(help)
            }
            _ => refusal.help(format!("write one string: `{} = \"…\"`", clip(key))),
        }
    }

    /// What would mean something between quotes: digits and dots, and the version of a table, with its extras.
    fn meant(&self, item: &Item<'_>) -> Option<String> {
        let source = &self.source[item.span()];
        let DeValue::Table(table) = item.get_ref() else {
            let is_number = source.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            return (scalar(item) && is_number).then(|| source.to_string());
        };
        let extras = table.get("extras").and_then(|extras| extras.get_ref().as_array());
        let extras: Vec<&str> =
            extras.into_iter().flat_map(|all| all.iter()).filter_map(|one| one.get_ref().as_str()).collect();
        let extras = if extras.is_empty() { String::new() } else { format!("[{}]", extras.join(",")) };
        Some(extras + table.get("version")?.get_ref().as_str()?)
    }

    /// The list with its numbers between quotes; none where that would not mend it.
    fn requoted(&self, list: &toml::de::DeArray<'_>) -> Option<String> {
        let raw = |item: &Item<'_>| match item.get_ref() {
            DeValue::String(text) => Some(clip(text)),
            _ => scalar(item).then(|| clip(&self.source[item.span()])),
        };
        let texts: Vec<String> = list.iter().take(8).map(raw).collect::<Option<_>>()?;
        let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
        Some(format!("[{}{}]", quoted.join(", "), if list.len() > 8 { ", …" } else { "" }))
    }
}

/// One name or a list of one mean the same, and so does any order.
pub(super) fn sorted<S: AsRef<str> + Ord>(names: &[S]) -> String {
    let names = distinct(names.iter());
    list_text(&names)
}

/// A list as a file holds it.
pub fn list_text<S: AsRef<str>>(texts: &[S]) -> String {
    let mut list = String::from("[");
    for (at, text) in texts.iter().enumerate() {
        list.push_str(if at == 0 { "\"" } else { ", \"" });
        match text.as_ref() {
            text if text.contains(['\\', '"']) => list += &text.replace('\\', "\\\\").replace('"', "\\\""),
            text => list += text,
        }
        list.push('"');
    }
    list.push(']');
    list
}

fn scalar(item: &Item<'_>) -> bool {
    matches!(item.get_ref(), DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_))
}

fn kind(item: &Item<'_>) -> &'static str {
    match item.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
