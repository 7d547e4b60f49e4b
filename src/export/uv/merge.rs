//! A pyproject.toml that is there already takes up what was rendered: what an earlier export wrote is replaced, all else
//! keeps its bytes. What an earlier export wrote is listed in `[tool.gpuenv]`.

use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::types::{name, toml_memory};

use super::super::ExportError;
use super::super::format::Merged;
use super::edit::{
    PYTHON, RECORD, add, at, between, has_notes, recorded, set, strings, table, tables, take_out, taken, text_of,
};
use super::refused::{Resolved, refuse_contradictions, refuse_dynamic, resolved_lists};
use super::sync;
use super::{above, moved};

/// The lists of a pyproject.toml that exports add to, by their name in the record.
const LISTS: [(&str, &[&str]); 8] = [
    ("dependencies", &["project", "dependencies"]),
    ("build", &["dependency-groups", "build"]),
    ("no-build-isolation-package", &["tool", "uv", "no-build-isolation-package"]),
    ("default-groups", &["tool", "uv", "default-groups"]),
    ("environments", &["tool", "uv", "environments"]),
    ("conflicts", &["tool", "uv", "conflicts"]),
    ("constraint-dependencies", &["tool", "uv", "constraint-dependencies"]),
    ("exclude-dependencies", &["tool", "uv", "exclude-dependencies"]),
];
/// The tables that exports add keys to.
const TABLES: [(&str, &[&str]); 2] =
    [("optional-dependencies", &["project", "optional-dependencies"]), ("sources", &["tool", "uv", "sources"])];
/// A tree that keeps its bytes takes thrice the memory of one that does not.
const MOST: usize = toml_memory::MOST / 3;
/// What the file is usually called.
const USUAL: &str = "pyproject.toml";
/// The file's new text.
pub fn merge(old: &str, rendered: &str, name: &str) -> Result<Merged, ExportError> {
    let sync = format!("`{}", sync(name));
    let called = |text: String| text.replacen(USUAL, name, 1).replace("`uv sync", &sync);
    match merge_usual(old, rendered) {
        Ok(merged) => Ok(Merged { notes: merged.notes.into_iter().map(called).collect(), ..merged }),
        Err(ExportError::Taken { what, cure }) => Err(ExportError::Taken { what: called(what), cure }),
        Err(other) => Err(other),
    }
}

/// The same of a file of the usual name.
fn merge_usual(old: &str, rendered: &str) -> Result<Merged, ExportError> {
    if toml_memory::memory(old) > MOST {
        let what = "pyproject.toml holds more tables and values than are read".to_string();
        return Err(taken(what, "make it shorter, or write to another file with -o"));
    }
    let mut file: DocumentMut = old.parse().map_err(|error: toml_edit::TomlError| {
        taken(
            format!("pyproject.toml is not TOML: {}", error.message()),
            "correct it first, or write to another file with -o",
        )
    })?;
    let Ok(mut new) = rendered.parse::<DocumentMut>() else {
        return Ok(Merged { text: rendered.to_string(), ..Merged::default() });
    };
    refuse_dynamic(&file)?;
    for key in ["name", "version"] {
        let project = table(file.as_table_mut(), &["project"])?;
        if let Some(value) = new["project"].get(key).filter(|_| !project.contains_key(key) && !is_dynamic(project, key))
        {
            project.insert(key, value.clone());
        }
    }
    renew_python(&mut file, &mut new)?;
    refuse_contradictions(&file, &new)?;
    let (argument, note) = held_python(&file, &mut new).unzip();
    let mut notes: Vec<String> = note.into_iter().collect();
    notes.extend(other_platforms(&file, &new));
    refuse_environments(&file, &new)?;
    notes.extend(moved_up(&file, &new));
    for (name, path) in LISTS {
        let (before, after) = (recorded(&file, name), recorded(&new, name));
        if !before.is_empty() || !after.is_empty() {
            let theirs = merge_list(&mut file, path, at(&new, path), &before, &after)?;
            forget(&mut new, name, &theirs);
        }
    }
    for (name, path) in TABLES {
        let (before, after) = (recorded(&file, name), recorded(&new, name));
        merge_table(&mut file, path, at(&new, path), &before, &after)?;
    }
    merge_metadata(&mut file, &mut new)?;
    merge_indexes(&mut file, &new)?;
    if let Some(Item::Table(record)) = at(&new, &RECORD) {
        keep_record(table(file.as_table_mut(), &["tool"])?, record.clone());
    }
    Ok(Merged { text: file.to_string(), notes, argument })
}

/// The Pythons that an earlier export wrote give way to the locked ones; what somebody wrote himself stays, and is not recorded.
fn renew_python(file: &mut DocumentMut, new: &mut DocumentMut) -> Result<(), ExportError> {
    let before = recorded(file, PYTHON);
    let project = table(file.as_table_mut(), &["project"])?;
    let is_theirs = match project.get(PYTHON) {
        Some(written) => !written.as_value().is_some_and(|written| before.contains(&text_of(written))),
        None => is_dynamic(project, PYTHON),
    };
    match new["project"].get(PYTHON) {
        _ if is_theirs => {
            let record = new.get_mut(RECORD[0]).and_then(|tool| tool.get_mut(RECORD[1]));
            record.and_then(Item::as_table_mut).and_then(|record| record.remove(PYTHON));
        }
        Some(locked) => set(project, PYTHON, locked),
        None => drop(project.remove(PYTHON)),
    }
    Ok(())
}

/// Whether a build backend computes a key of `[project]`.
fn is_dynamic(project: &Table, key: &str) -> bool {
    project.get("dynamic").is_some_and(|list| strings(list).iter().any(|one| one == key))
}

/// The record takes the place of the earlier one, below what somebody wrote above that.
fn keep_record(tool: &mut Table, mut record: Table) {
    if let Some(old) = tool.get(RECORD[1]).and_then(Item::as_table) {
        record.set_position(old.position());
        let above = between(old.decor().prefix());
        let theirs: String = above.split_inclusive('\n').filter(|line| !line.starts_with(above::RECORD)).collect();
        if theirs.contains('#') {
            let ours = between(record.decor().prefix());
            record.decor_mut().set_prefix(theirs + ours.trim_start());
        }
    }
    tool.insert(RECORD[1], Item::Table(record));
}

/// A project that admits other Pythons than the locked one keeps doing so; uv is held to the locked one: what it has to be
/// told, and a note that says so.
fn held_python(file: &DocumentMut, new: &mut DocumentMut) -> Option<(String, String)> {
    const PATH: [&str; 2] = ["project", PYTHON];
    let locked = at(new, &PATH)?.as_str()?.to_string();
    let written = at(file, &PATH).and_then(Item::as_str);
    if written.map(str::trim) == Some(&locked) {
        return None;
    }
    // `==3.11.*`, `==3.11.4` or `>=3.8.10,<3.9`.
    let (from, python) = match locked.strip_prefix(">=").and_then(|range| range.split_once(',')) {
        Some((from, _)) => (Some(from), from.rsplit_once('.').map_or(from, |(line, _)| line)),
        None => (None, locked.trim_start_matches('=').trim_end_matches(".*")),
    };
    let is_line = from.is_some() || locked.ends_with(".*");
    let variable = if is_line { "python_version" } else { "python_full_version" };
    let patch = from.map_or(String::new(), |from| format!(" and python_full_version >= '{from}'"));
    for parent in [["tool", "uv"], RECORD] {
        let list = new.get_mut(parent[0]).and_then(|tool| tool.get_mut(parent[1]));
        let list = list.and_then(|list| list.get_mut("environments")).and_then(Item::as_array_mut);
        for value in list.into_iter().flat_map(Array::iter_mut) {
            let held = Value::from(format!("{} and {variable} == '{python}'{patch}", text_of(value)));
            *value = held.decorated("\n    ", "");
        }
    }
    let written = written.map_or("computed".to_string(), |written| format!("`{written}`"));
    let argument = format!("--python {python}");
    let note = format!(
        "`requires-python` of pyproject.toml is {written} and the lock is for Python {python}, to which `environments` holds uv: \
         `uv sync {argument}`"
    );
    Some((argument, note))
}

/// What extras and groups alone asked for, and the project itself is to.
fn moved_up(file: &DocumentMut, new: &DocumentMut) -> Option<String> {
    const OWN: [&str; 2] = ["project", "dependencies"];
    let [own, locked] = [file, new].map(|of| at(of, &OWN).map(strings).unwrap_or_default());
    let lists = resolved_lists(file);
    let optional =
        |list: &&Resolved| !["project.dependencies", "tool.uv.constraint-dependencies"].contains(&&*list.name);
    moved::note(lists.iter().filter(optional).map(|list| (&*list.name, &*list.written)), &own, &locked)
}

/// From now on uv resolves for the platforms of the lock only.
fn other_platforms(file: &DocumentMut, new: &DocumentMut) -> Option<String> {
    const PATH: [&str; 3] = ["tool", "uv", "environments"];
    let is_new = at(file, &PATH).is_none() && at(new, &PATH).is_some();
    is_new.then(|| {
        "uv now resolves that project for the locked platforms alone (`environments`), not for macOS or Windows"
            .to_string()
    })
}

/// uv locks for every environment of the list, and of others than its own the lock says nothing.
fn refuse_environments(file: &DocumentMut, new: &DocumentMut) -> Result<(), ExportError> {
    const PATH: [&str; 3] = ["tool", "uv", "environments"];
    let [mut written, locked] = [file, new].map(|of| at(of, &PATH).map(strings).unwrap_or_default());
    let earlier = recorded(file, PATH[2]);
    written.retain(|one| !earlier.contains(one) && !locked.contains(one));
    match written.first() {
        Some(one) if !locked.is_empty() => Err(taken(
            format!(
                "`tool.uv.environments` of pyproject.toml has `{one}`, for which uv would lock beside `{}`",
                locked[0]
            ),
            "remove that entry: the export writes those of the lock",
        )),
        _ => Ok(()),
    }
}

/// What somebody wrote before is not recorded as written by an export: it stays when the lock no longer asks for it.
fn forget(new: &mut DocumentMut, name: &str, theirs: &[String]) {
    let record = new.get_mut(RECORD[0]).and_then(|tool| tool.get_mut(RECORD[1]));
    if let Some(list) = record.and_then(|record| record.get_mut(name)).and_then(Item::as_array_mut) {
        list.retain(|value| !theirs.contains(&text_of(value)));
    }
}

/// Entries that only the record knows go, new ones are added behind the others; those that somebody else wrote are told.
fn merge_list(
    file: &mut DocumentMut,
    path: &[&str],
    new: Option<&Item>,
    before: &[String],
    after: &[String],
) -> Result<Vec<String>, ExportError> {
    let (key, parents) = path.split_last().expect("a path has a last key");
    let parent = table(file.as_table_mut(), parents)?;
    let list = parent.entry(key).or_insert(Item::Value(Value::Array(Array::new())));
    let Some(list) = list.as_array_mut() else {
        return Err(taken(format!("`{}` of pyproject.toml is not a list", path.join(".")), "write it as one"));
    };
    take_out(list, |value| before.contains(&text_of(value)) && !after.contains(&text_of(value)));
    let had: Vec<String> = list.iter().map(text_of).collect();
    let new = new.and_then(Item::as_array).into_iter().flatten();
    add(list, new.filter(|value| !had.contains(&text_of(value))));
    if list.is_empty() && !before.is_empty() && *key != "dependencies" && !has_notes(parent, key) {
        parent.remove(key);
    }
    Ok(had.into_iter().filter(|one| after.contains(one) && !before.contains(one)).collect())
}

/// Keys that only the record knows go, new ones are set; a key of somebody else's is not touched.
fn merge_table(
    file: &mut DocumentMut,
    path: &[&str],
    new: Option<&Item>,
    before: &[String],
    after: &[String],
) -> Result<(), ExportError> {
    if before.is_empty() && after.is_empty() {
        return Ok(());
    }
    let own = table(file.as_table_mut(), path)?;
    for key in before.iter().filter(|key| !after.contains(key)) {
        own.remove(key);
    }
    // uv takes `Torch` and `torch` for one package.
    let other_spelling = |key: &str| {
        own.iter()
            .map(|(known, _)| known.to_string())
            .find(|known| known != key && name::package(known) == name::package(key))
    };
    if let Some(known) = after.iter().find_map(|key| other_spelling(key)) {
        let what = format!("pyproject.toml sets `{}.{known}` already", path.join("."));
        return Err(taken(what, "remove that key, or write to another file with -o"));
    }
    let mut theirs: Vec<String> = Vec::new();
    for key in after {
        let Some(value) = new.and_then(|new| new.get(key)) else { continue };
        let known = own.get(key).map(|old| old.to_string().trim().to_string());
        match known {
            Some(old) if old == value.to_string().trim() => {}
            Some(_) if !before.contains(key) => theirs.push(format!("`{}.{key}`", path.join("."))),
            _ => set(own, key, value),
        }
    }
    if !theirs.is_empty() {
        let which = if theirs.len() == 1 { "that key" } else { "those keys" };
        let what = format!("pyproject.toml sets {} already", theirs.join(", "));
        return Err(taken(what, &format!("remove {which}, or write to another file with -o")));
    }
    if own.is_empty() {
        let (key, parents) = path.split_last().expect("a path has a last key");
        table(file.as_table_mut(), parents)?.remove(key);
    }
    Ok(())
}

/// `[[tool.uv.dependency-metadata]]`, told apart by name and version; what somebody wrote about a package himself stays, and
/// stands alone.
fn merge_metadata(file: &mut DocumentMut, new: &mut DocumentMut) -> Result<(), ExportError> {
    const NAME: &str = "dependency-metadata";
    let (before, after) = (recorded(file, NAME), recorded(new, NAME));
    if before.is_empty() && after.is_empty() {
        return Ok(());
    }
    let text = |table: &Table, key: &str| table.get(key).and_then(Item::as_str).unwrap_or_default().to_string();
    let entry = |table: &Table| format!("{} {}", text(table, "name"), text(table, "version"));
    let uv = table(file.as_table_mut(), &["tool", "uv"])?;
    let list = tables(uv, NAME)?;
    list.retain(|table| !before.contains(&entry(table)) || after.contains(&entry(table)));
    let mut told = Vec::new();
    for table in at(new, &["tool", "uv", NAME]).and_then(Item::as_array_of_tables).into_iter().flatten() {
        let of_it = |known: &Table| {
            let version = text(known, "version");
            let is_any = version.is_empty() || version == text(table, "version");
            is_any && name::package(&text(known, "name")) == text(table, "name")
        };
        let known = list.iter().position(of_it);
        match known.and_then(|known| list.get_mut(known)) {
            Some(known) if before.contains(&entry(known)) => {
                set(known, "requires-dist", &table["requires-dist"]);
            }
            Some(_) => told.push(entry(table)),
            None => {
                let mut table = table.clone();
                table.set_position(None);
                list.push(table);
            }
        }
    }
    if list.is_empty() {
        uv.remove(NAME);
    }
    forget(new, NAME, &told);
    Ok(())
}

fn open_index(name: &str) -> ExportError {
    let what = format!("the index `{name}` of pyproject.toml is not `explicit = true`: any package may come from it");
    taken(what, "add `explicit = true` to it")
}

/// `[[tool.uv.index]]`, told apart by their names.
fn merge_indexes(file: &mut DocumentMut, new: &DocumentMut) -> Result<(), ExportError> {
    let (before, after) = (recorded(file, "index"), recorded(new, "index"));
    if before.is_empty() && after.is_empty() {
        return Ok(());
    }
    let uv = table(file.as_table_mut(), &["tool", "uv"])?;
    let list = tables(uv, "index")?;
    let name = |table: &Table| table.get("name").and_then(Item::as_str).unwrap_or_default().to_string();
    let url = |table: &Table| table.get("url").and_then(Item::as_str).unwrap_or_default().to_string();
    let is_explicit = |table: &Table| table.get("explicit").and_then(Item::as_bool) == Some(true);
    list.retain(|table| !before.contains(&name(table)) || after.contains(&name(table)));
    let is_open = |known: &&Table, new: &Table| {
        url(known).trim_end_matches('/') == url(new).trim_end_matches('/')
            && name(known) != name(new)
            && !is_explicit(known)
    };
    for table in at(new, &["tool", "uv", "index"]).and_then(Item::as_array_of_tables).into_iter().flatten() {
        if let Some(open) = list.iter().find(|known| is_open(known, table)) {
            return Err(open_index(&name(open)));
        }
        let known = list.iter().position(|known| name(known) == name(table));
        match known.and_then(|known| list.get_mut(known)) {
            Some(known) if url(known) == url(table) && is_explicit(known) => {}
            Some(known) if url(known) == url(table) && !before.contains(&name(table)) => {
                return Err(open_index(&name(table)));
            }
            Some(known) if before.contains(&name(table)) => {
                set(known, "url", &table["url"]);
                set(known, "explicit", &toml_edit::value(true));
            }
            Some(_) => {
                let what = format!("pyproject.toml has another index of the name `{}`", name(table));
                return Err(taken(what, "rename that index"));
            }
            None => {
                let mut table = table.clone();
                table.set_position(None);
                list.push(table);
            }
        }
    }
    if list.is_empty() {
        uv.remove("index");
    }
    Ok(())
}
