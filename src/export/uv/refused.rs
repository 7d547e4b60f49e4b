//! What a pyproject.toml that is there already may not say beside the locked releases.

use toml_edit::{DocumentMut, Item};

use crate::types::name;

use super::super::ExportError;
use super::contradiction;
use super::edit::{PYTHON, at, recorded, strings, taken};

/// Dependencies that a build backend computes cannot be written here.
pub(super) fn refuse_dynamic(file: &DocumentMut) -> Result<(), ExportError> {
    let dynamic = at(file, &["project", "dynamic"]).map(strings).unwrap_or_default();
    match dynamic.iter().any(|name| name == "dependencies") {
        true => Err(taken(
            "pyproject.toml has its dependencies computed (`dynamic`)".into(),
            "write to another file with -o and take what you need from there",
        )),
        false => refuse_poetry(file),
    }
}

/// Where Poetry reads a file by its own table, a `[project]` beside that would be another project of another name.
fn refuse_poetry(file: &DocumentMut) -> Result<(), ExportError> {
    match at(file, &["tool", "poetry"]).is_some() && at(file, &["project"]).is_none() {
        true => Err(taken(
            "pyproject.toml is Poetry's, without a [project] that uv reads".into(),
            "write to another file with -o and take what you need from there",
        )),
        false => Ok(()),
    }
}

/// What somebody wrote beside it must admit the locked releases; what holds under a marker is uv's to judge.
pub(super) fn refuse_contradictions(file: &DocumentMut, new: &DocumentMut) -> Result<(), ExportError> {
    let mut locked = at(new, &["project", "dependencies"]).map(strings).unwrap_or_default();
    locked.extend(at(new, &["tool", "uv", "constraint-dependencies"]).into_iter().flat_map(strings));
    let of_extras = at(new, &["project", "optional-dependencies"]).and_then(Item::as_table);
    let with_extras: Vec<String> =
        locked.iter().cloned().chain(of_extras.into_iter().flatten().flat_map(|(_, item)| strings(item))).collect();
    refuse_lists(file, &locked, &with_extras)?;
    refuse_sources(file, new, &with_extras)?;
    refuse_overrides(file, new, &with_extras)?;
    refuse_python(file, new)
}

/// Of lists that are installed together with the locked releases, and of those that are with the extras too.
fn refuse_lists(file: &DocumentMut, locked: &[String], with_extras: &[String]) -> Result<(), ExportError> {
    for list in resolved_lists(file) {
        let locked = if list.is_apart { locked } else { with_extras };
        if let Some((written, locked)) = contradiction::find(&list.written, locked) {
            return Err(taken(
                format!("`{}` of pyproject.toml has `{written}`, which excludes the locked `{locked}`", list.name),
                "remove that dependency, or lock a release that it admits",
            ));
        }
        if let Some(written) = contradiction::addressed(&list.written, locked) {
            return Err(taken(
                format!("`{}` of pyproject.toml has `{written}`, an address in place of the locked release", list.name),
                "remove that dependency: the export writes the locked one",
            ));
        }
    }
    Ok(())
}

/// A locked package comes from where the lock says.
fn refuse_sources(file: &DocumentMut, new: &DocumentMut, locked: &[String]) -> Result<(), ExportError> {
    let pinned = contradiction::pinned_names(locked);
    let sources = at(file, &["tool", "uv", "sources"]).and_then(Item::as_table_like);
    let (before, after) = (recorded(file, "sources"), recorded(new, "sources"));
    let is_ours = |key: &str| before.iter().chain(&after).any(|known| known == key);
    let mut keys = sources.into_iter().flat_map(|table| table.iter()).map(|(key, _)| key);
    match keys.find(|key| pinned.contains(&name::package(key)) && !is_ours(key)) {
        Some(key) => Err(taken(
            format!(
                "`tool.uv.sources.{key}` of pyproject.toml says where a locked package comes from, and the lock says otherwise"
            ),
            "remove that source",
        )),
        None => Ok(()),
    }
}

/// uv takes an override whatever the lock says.
fn refuse_overrides(file: &DocumentMut, new: &DocumentMut, locked: &[String]) -> Result<(), ExportError> {
    let mut overrides = at(file, &["tool", "uv", "override-dependencies"]).map(strings).unwrap_or_default();
    let platforms = at(new, &["tool", "uv", "environments"]).map(strings).unwrap_or_default();
    overrides.retain(|one| contradiction::may_hold(one, &platforms));
    let brought = recorded(new, "brought");
    let defeats =
        |one: &&String| contradiction::replaces(one, locked) || contradiction::replaces_brought(one, &brought);
    match overrides.iter().find(defeats) {
        Some(one) => Err(taken(
            format!(
                "`tool.uv.override-dependencies` of pyproject.toml has `{one}`, which uv takes whatever the lock says"
            ),
            "remove that override",
        )),
        None => Ok(()),
    }
}

/// The project admits the locked Python.
fn refuse_python(file: &DocumentMut, new: &DocumentMut) -> Result<(), ExportError> {
    let pythons = [file, new].map(|of| at(of, &["project", PYTHON]).and_then(Item::as_str));
    match pythons {
        [Some(written), Some(locked)] if contradiction::python(written, locked) => Err(taken(
            format!("`requires-python` of pyproject.toml is `{written}`, and the lock is for `{locked}`"),
            "change it, or lock with a `python` that it admits",
        )),
        _ => Ok(()),
    }
}

/// A list that somebody wrote and that uv resolves together with all others, whatever is installed in the end.
pub(super) struct Resolved {
    pub(super) name: String,
    pub(super) written: Vec<String>,
    /// An extra or a group of which it is said that it is never installed beside some other.
    is_apart: bool,
}

/// Those of a file, without what an earlier export wrote.
pub(super) fn resolved_lists(file: &DocumentMut) -> Vec<Resolved> {
    let conflicts =
        at(file, &["tool", "uv", "conflicts"]).map(|item| item.to_string().replace('\'', "\"")).unwrap_or_default();
    let mut lists = Vec::new();
    for (path, earlier) in [
        (&["project", "dependencies"][..], "dependencies"),
        (&["tool", "uv", "constraint-dependencies"], "constraint-dependencies"),
        (&["tool", "uv", "dev-dependencies"], ""),
        (&["project", "optional-dependencies"], "optional-dependencies"),
        (&["dependency-groups"], "build"),
    ] {
        let Some(item) = at(file, path) else { continue };
        let earlier = recorded(file, earlier);
        let mut add = |name: String, item: &Item, is_apart: bool| {
            let written = strings(item).into_iter().filter(|one| !earlier.contains(one)).collect();
            lists.push(Resolved { name, written, is_apart });
        };
        let path = path.join(".");
        match item.as_table_like() {
            Some(table) => table
                .iter()
                .filter(|(key, _)| !earlier.iter().any(|known| known == key))
                .for_each(|(key, item)| add(format!("{path}.{key}"), item, conflicts.contains(&format!("\"{key}\"")))),
            None => add(path, item, false),
        }
    }
    lists
}
