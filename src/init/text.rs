//! A draft as the text of a gpuenv.toml.

use std::collections::BTreeMap;

use super::{Draft, Entry, Value, hints};
use crate::spec::KeyDoc;
use crate::types::Specifier;

/// What stands above a draft that describes no machine.
const HEAD: &str = "# What must run, and on which machines. `gpuenv lock` resolves this into gpuenv.lock.\n";

/// What to do with what was seen on a machine.
const OF_HOST: &str = "# Exact versions found on the host; relax any that need not be exact. Next: `gpuenv lock`.\n";
/// What to do with what the files of a project ask for.
const OF_FILES: &str = "# Say which machines it must run on, then run `gpuenv lock`.\n";
/// The same where somebody has said so.
const OF_FILES_AND_GPU: &str = "# Next: `gpuenv lock`.\n";

impl Draft {
    /// The file.
    pub fn text(&self) -> String {
        let said = self.machine.iter().find(|entry| entry.key == "gpu" && !entry.off);
        let gpu = said.map(|entry| entry.value.to_string());
        let of_machine = if gpu.as_deref() == Some("\"none\"") { hints::TARGET_OF_CPU } else { hints::TARGET };
        let of_files = if gpu.is_some() { OF_FILES_AND_GPU } else { OF_FILES };
        let mut text = match &self.origin {
            Some(origin) => format!("# {}.\n{}", one_line(origin), if self.of_files { of_files } else { OF_HOST }),
            None => HEAD.to_string(),
        };
        let hint = self.origin.is_none();
        let hints = |table: &str, names: &[&str]| match hint || (self.of_files && table == "target") {
            true => hints::of(table, names),
            false => Vec::new(),
        };
        text += "\n[stack]\n";
        text += &table(&self.stack, &hints("stack", hints::STACK));
        text += &self.ordinary();
        if self.build {
            let note = self.build_note.map_or(String::new(), |note| format!("  # {note}"));
            text += &format!("\n[build]{note}\ncuda-extensions = true\n");
        }
        text += &format!("\n[target.{}]\n", part_of_key(&self.target));
        text += &table(&self.machine, &hints("target", of_machine));
        if !self.overlays.is_empty() {
            text += &format!("\n[catalog]\noverlays = {}\n", Value::List(self.overlays.clone()));
        }
        for (rule, reason) in &self.overrides {
            let reason = Value::Text(reason.clone());
            text += &format!("\n[[override]]\nrule = \"{rule}\"\nreason = {reason}\n");
        }
        if hint && !self.build {
            text += "\n# [build]                     # if CUDA code is compiled on top of the stack\n";
            text += "# cuda-extensions = true\n";
        }
        text
    }
}

impl Draft {
    /// `[packages]`, and below it what cannot stand there.
    fn ordinary(&self) -> String {
        if self.packages.is_empty() {
            return String::new();
        }
        let mut packages: BTreeMap<&str, Specifier> = BTreeMap::new();
        let mut others = String::new();
        for text in &self.packages {
            match Specifier::split(text) {
                Some((name, asked)) => {
                    let known = packages.remove(name).unwrap_or_default();
                    packages.insert(name, known.and(&asked));
                }
                None => others += &format!("# {}\n", one_line(text)),
            }
        }
        let entry = |(name, asked): (&str, Specifier)| Entry::on(name, Value::Text(asked.to_string()), "");
        let entries: Vec<Entry> = packages.into_iter().map(entry).collect();
        format!("\n[packages]\n{}{others}", table(&entries, &[]))
    }
}

/// The lines of a table, equals signs and notes under each other.
fn table(entries: &[Entry], hints: &[KeyDoc]) -> String {
    let mut lines: Vec<(String, String, String)> = Vec::new();
    for entry in entries {
        let key = format!("{}{}", if entry.off { "# " } else { "" }, entry.key);
        lines.push((key, one_line(&entry.value.to_string()), one_line(entry.note.as_deref().unwrap_or(""))));
    }
    let unset = hints.iter().filter(|key| !entries.iter().any(|entry| entry.key == key.name));
    lines.extend(unset.map(|key| (format!("# {}", key.name), key.example.to_string(), key.brief.to_string())));
    let wide = |part: fn(&(String, String, String)) -> usize, most: usize| {
        lines.iter().map(part).filter(|width| *width <= most).max().unwrap_or(0)
    };
    let (keys, values) = (wide(|line| line.0.chars().count(), 32), wide(|line| line.1.chars().count(), 48));
    let line = |(key, value, note): &(String, String, String)| match note.is_empty() {
        true => format!("{key:keys$} = {value}\n"),
        false => format!("{key:keys$} = {value:values$}  # {note}\n"),
    };
    lines.iter().map(line).collect()
}

/// A name between the dots of a key. One that needs quotes is no name of a target, and the reader says so.
fn part_of_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { name.to_string() } else { Value::Text(name.to_string()).to_string() }
}

/// What was pasted ends no line and moves no cursor.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
