//! uv.lock: the versions that were chosen for what the project itself asks for. What others bring in is not asked for.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::types::{name, sort_by_key};

use super::lines::Lines;
use super::{FOLDER, Found, MOST, OTHER_SYSTEM, Wanted, cuda_of_index, own_of, rank, requirement, table, variant_of};
use crate::types::marker::on_linux;

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    let toml = table(text)?;
    let (mut found, lines) = (Found::default(), Lines::of(text));
    let packages: Vec<&Table> =
        toml.get("package").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect();
    if packages.len() > MOST {
        return Err((1, format!("it holds more than {MOST} packages, the most that are read")));
    }
    if let Some(python) = toml.get("requires-python").and_then(Value::as_str) {
        found.want(Wanted::new("python", python, lines.with("requires-python")));
    }
    let overrides = toml.get("manifest").and_then(|manifest| manifest.get("overrides")?.as_array());
    let overrides = overrides.into_iter().flatten().filter_map(|one| one.get("name")?.as_str()).collect();
    let (public, by_name) = (public(&packages), BTreeMap::new());
    let mut reader = Reader { lines, public, by_name, overrides, wanted: Vec::new(), found };
    for package in &packages {
        reader.by_name.entry(text_of(package, "name")).or_default().push(package);
    }
    packages.iter().filter(|package| is_own(package)).for_each(|own| reader.own(own));
    // Of one in several builds, the one for a GPU.
    sort_by_key(&mut reader.wanted, |wanted| std::cmp::Reverse(rank(label(wanted))));
    reader.wanted.into_iter().for_each(|wanted| reader.found.want(wanted));
    Ok(reader.found)
}

struct Reader<'t> {
    lines: Lines<'t>,
    /// The index that most packages come from: the public one, or a mirror of it.
    public: Option<&'t str>,
    by_name: BTreeMap<&'t str, Vec<&'t Table>>,
    /// What was locked in place of what anybody asks for.
    overrides: Vec<&'t str>,
    wanted: Vec<Wanted>,
    found: Found,
}

impl<'t> Reader<'t> {
    /// What a package of the project asks for.
    fn own(&mut self, own: &'t Table) {
        let rows = |list: &'t Value| list.as_array().into_iter().flatten().filter_map(Value::as_table);
        own.get("dependencies").into_iter().flat_map(rows).for_each(|row| self.row(row, None));
        let tables = |key: &str| own.get(key).and_then(Value::as_table).into_iter().flat_map(Table::iter);
        self.found.groups.extend(tables("dev-dependencies").map(|(group, _)| group.clone()));
        for (group, list) in tables("dev-dependencies").chain(tables("optional-dependencies")) {
            rows(list).for_each(|row| self.row(row, Some(group)));
        }
    }

    /// A package that is asked for: the row names its version where it was locked several times.
    fn row(&mut self, row: &'t Table, group: Option<&String>) {
        let locked = self.by_name.get(text_of(row, "name")).into_iter().flatten();
        let is_it = |of: &&&Table| {
            ["version", "source"].iter().all(|key| row.get(*key).is_none_or(|it| of.get(*key) == Some(it)))
        };
        let Some(package) = locked.clone().find(is_it).copied() else { return };
        let (name, version) = (text_of(package, "name"), text_of(package, "version"));
        let line = self.lines.with(name);
        let written = format!("{name} {version}");
        let marker = text_of(row, "marker");
        if on_linux(marker) == Some(false) {
            return self.found.leave(line, &written, OTHER_SYSTEM);
        }
        let source = |key: &str| package.get("source").and_then(|source| source.get(key)).and_then(Value::as_str);
        let mut wanted = Wanted::new(name, version, line);
        if let Some(address) = source("url") {
            match requirement::read(&format!("{name} @ {address}"), line) {
                Ok(of_address) => wanted = of_address,
                Err(why) => return self.found.leave(line, &written, why),
            }
        }
        if ["git", "path"].iter().any(|key| source(key).is_some()) || is_own(package) {
            return self.found.leave(line, &written, FOLDER);
        }
        wanted.variant = source("registry").and_then(cuda_of_index).filter(|_| !version.contains('+'));
        wanted.is_elsewhere =
            source("registry").is_some_and(|index| self.public != Some(index) && variant_of(index).is_none());
        wanted.own_cuda = source("registry").and_then(own_of).map(|(_, cuda)| cuda);
        let extras = row.get("extra").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        wanted.extras = extras.map(name::package).collect();
        wanted.group = group.cloned();
        wanted.is_locked = true;
        wanted.is_over = self.overrides.contains(&name);
        // Where extras exclude each other, a row tells by which of them it is meant, or by which Pythons.
        wanted.marker = Some(marker.to_string()).filter(|marker| !marker.is_empty());
        self.wanted.push(wanted);
    }
}

fn text_of<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The index of most packages.
fn public<'t>(packages: &[&'t Table]) -> Option<&'t str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let registries = packages.iter().filter_map(|package| package.get("source")?.get("registry")?.as_str());
    registries.filter(|index| variant_of(index).is_none()).for_each(|index| *counts.entry(index).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(index, _)| index)
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
