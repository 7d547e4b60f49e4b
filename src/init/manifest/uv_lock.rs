//! uv.lock: the versions that were chosen for what the project itself asks for. What others bring in is not asked for.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::types::name;

use super::marker::on_linux;
use super::{Found, MOST, Wanted, line_with, rank, table, variant_of};

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    let toml = table(text)?;
    let mut found = Found::default();
    let packages: Vec<&Table> =
        toml.get("package").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect();
    if packages.len() > MOST {
        return Err((1, format!("it holds more than {MOST} packages, the most that are read")));
    }
    if let Some(python) = toml.get("requires-python").and_then(Value::as_str) {
        found.want(Wanted::new("python", python, line_with(text, "requires-python")));
    }
    let own = Own::of(&packages, &mut found);
    let mut chosen: Vec<Wanted> = Vec::new();
    for package in packages.iter().filter(|package| !is_own(package)) {
        own.take(package, text, &mut chosen, &mut found);
    }
    for wanted in chosen {
        let groups = own.optional.get(&wanted.name).filter(|_| !own.direct.contains(&wanted.name));
        of_each(wanted, groups, &mut found);
    }
    Ok(found)
}

/// What the project asks for itself.
#[derive(Default)]
struct Own {
    direct: BTreeSet<String>,
    /// What extras and groups ask for, and which of them.
    optional: BTreeMap<String, Vec<String>>,
    /// What is asked for on other systems alone.
    foreign: BTreeSet<String>,
}

impl Own {
    fn of(packages: &[&Table], found: &mut Found) -> Own {
        let mut asked = Own::default();
        for own in packages.iter().filter(|package| is_own(package)) {
            asked.direct.extend(names(own.get("dependencies"), &mut asked.foreign));
            let tables = |key: &str| own.get(key).and_then(Value::as_table).into_iter().flat_map(Table::iter);
            found.groups.extend(tables("dev-dependencies").map(|(group, _)| group.clone()));
            for (group, list) in tables("dev-dependencies").chain(tables("optional-dependencies")) {
                for name in names(Some(list), &mut asked.foreign) {
                    asked.optional.entry(name).or_default().push(group.clone());
                }
            }
        }
        asked
    }

    /// Takes a locked package that is asked for: of one in several builds, for several extras, the one for a GPU.
    fn take(&self, package: &Table, text: &str, chosen: &mut Vec<Wanted>, found: &mut Found) {
        let text_of = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, version) = (name::package(text_of("name")), text_of("version"));
        let is_wanted = self.direct.contains(&name) || self.optional.contains_key(&name);
        if !is_wanted && !self.foreign.contains(&name) {
            return;
        }
        let line = line_with(text, &format!("name = \"{}\"", text_of("name")));
        // Several stand there for several systems: one for Linux is told by what the others are for.
        let elsewhere = package.get("resolution-markers").and_then(Value::as_array).is_some_and(|markers| {
            let other = |marker: &Value| marker.as_str().and_then(on_linux) == Some(false);
            markers.iter().all(other)
        });
        if elsewhere || !is_wanted {
            return found.leave(line, &format!("{name} {version}"), "it is for another system than Linux");
        }
        let registry = package.get("source").and_then(|source| source.get("registry")).and_then(Value::as_str);
        let mut wanted = Wanted::new(&name, version, line);
        wanted.variant = registry.and_then(variant_of).filter(|_| !version.contains('+'));
        match chosen.iter_mut().find(|known| known.name == wanted.name) {
            None => chosen.push(wanted),
            Some(known) => {
                if rank(label(&wanted)) > rank(label(known)) {
                    std::mem::swap(known, &mut wanted);
                }
                let why = format!("`{}` was taken of several", known.written);
                found.leave(wanted.line, &wanted.written, why);
            }
        }
    }
}

/// A package once for each extra and group that asks for it.
fn of_each(wanted: Wanted, groups: Option<&Vec<String>>, found: &mut Found) {
    let Some(groups) = groups else { return found.want(wanted) };
    for group in groups {
        found.want(Wanted { group: Some(group.clone()), ..wanted.clone() });
    }
}

/// The variant of a locked build.
fn label(wanted: &Wanted) -> Option<&str> {
    wanted.variant.as_deref().or(wanted.version.split_once('+').map(|(_, label)| label))
}

/// Whether it is a package of the project, not one that was taken from an index.
fn is_own(package: &Table) -> bool {
    let source = package.get("source").and_then(Value::as_table);
    source.is_some_and(|source| ["virtual", "editable", "directory"].iter().any(|key| source.contains_key(*key)))
}

/// The names in a list of the project's; those for other systems alone go beside.
fn names(list: Option<&Value>, foreign: &mut BTreeSet<String>) -> Vec<String> {
    let mut names = Vec::new();
    for one in list.and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| one.get(key).and_then(Value::as_str);
        let Some(name) = text("name").map(name::package) else { continue };
        match text("marker").and_then(on_linux) {
            Some(false) => drop(foreign.insert(name)),
            _ => names.push(name),
        }
    }
    names
}
