//! The text of a gpuenv.toml with a target more or less. Everything else keeps its bytes.

use toml_edit::{DocumentMut, Item, Table};

use super::rewrite::{RewriteError, begun, in_tree, tree_value};

/// Adds a target of this name with these keys, behind the other targets.
pub fn add_target(source: &str, name: &str, keys: &[(String, String)]) -> Result<String, RewriteError> {
    let path = format!("target.{name}");
    let text = in_tree(source, &path, |tree| {
        let unreachable = || RewriteError::Unreachable(path.clone());
        let mut table = Table::new();
        for (key, value) in keys {
            let value = tree_value(&format!("{path}.{key}"), value).ok_or_else(unreachable)?;
            table.insert(key, Item::Value(value));
        }
        // Comments that touch the last line of the target before stay with it.
        let touching = take_touching(tree);
        let root = tree.as_table_mut();
        let is_last = !root.contains_key("target");
        let mut targets = Table::new();
        targets.set_implicit(true);
        let targets = root.entry("target").or_insert(Item::Table(targets));
        let targets = targets.as_table_like_mut().ok_or_else(unreachable)?;
        // A table of its own begins behind an empty line; the first of a file does so by itself.
        if !is_last || !source.trim().is_empty() {
            table.decor_mut().set_prefix(format!("{touching}\n"));
        }
        targets.insert(name, Item::Table(table));
        Ok(())
    })?;
    let (was, is) = (begun(source)?.inputs(), begun(&text)?);
    let prefix = format!("{path}.");
    let mut others = is.inputs();
    others.retain(|key, _| !key.starts_with(&prefix));
    if was == others && is.target(name).is_some() { Ok(text) } else { Err(RewriteError::Different) }
}

/// Takes out the comments right below the last target, where an empty line or the end of the file parts them from what
/// follows.
fn take_touching(tree: &mut DocumentMut) -> String {
    let targets = tree.get("target").and_then(Item::as_table);
    let last = targets.and_then(|targets| positions(targets).into_iter().max());
    let Some(last) = last else { return String::new() };
    let next = positions(tree.as_table()).into_iter().filter(|position| *position > last).min();
    let below = match next {
        Some(next) => {
            table_at(tree.as_table_mut(), next).and_then(|next| next.decor().prefix()?.as_str()).unwrap_or("")
        }
        None => tree.trailing().as_str().unwrap_or_default(),
    };
    let rest = match behind_the_table(below) {
        Some(rest) => rest,
        None if next.is_none() => "",
        // It touches the table below, too.
        None => below,
    };
    let (touching, rest) = (below[..below.len() - rest.len()].to_string(), rest.to_string());
    if !touching.is_empty() {
        match next.and_then(|next| table_at(tree.as_table_mut(), next)) {
            Some(next) => next.decor_mut().set_prefix(rest),
            None => tree.set_trailing(rest),
        }
    }
    touching
}

/// Removes a target with everything in it, its comments among that: those right above its header, and those right
/// below its last line. Others belong to what stands around it.
pub fn remove_target(source: &str, name: &str) -> Result<String, RewriteError> {
    let path = format!("target.{name}");
    in_tree(source, &path, |tree| {
        let targets = tree.get_mut("target").and_then(Item::as_table_like_mut);
        let removed = targets.and_then(|targets| targets.remove(name));
        let removed = removed.ok_or(RewriteError::Unreachable(path.clone()))?;
        if let Some((table, at)) = removed.as_table().and_then(|table| Some((table, table.position()?))) {
            let above = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            hand_on(tree, at, of_the_table_before(above));
        }
        Ok(())
    })
}

/// Puts comments that stood above a table that is gone above the next one, whose own come after them.
fn hand_on(tree: &mut DocumentMut, at: isize, above: &str) {
    let joined = |below: &str| match above.ends_with("\n\n") || above.trim().is_empty() && !above.is_empty() {
        true => format!("{above}{}", below.trim_start_matches('\n')),
        false => format!("{above}{below}"),
    };
    let next = positions(tree.as_table()).into_iter().filter(|position| *position > at).min();
    match next.and_then(|position| table_at(tree.as_table_mut(), position)) {
        Some(next) => {
            let below = next.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let prefix = joined(behind_the_table(below).unwrap_or(below));
            next.decor_mut().set_prefix(prefix);
        }
        None => {
            let below = tree.trailing().as_str().unwrap_or_default();
            let text = joined(behind_the_table(below).unwrap_or_default());
            tree.set_trailing(if text.trim().is_empty() { "" } else { &text }.to_string());
        }
    }
}

/// What stands above a header without the lines that touch it.
fn of_the_table_before(above: &str) -> &str {
    let blank = |start: usize| above[start..].lines().next().is_some_and(|line| line.trim().is_empty());
    let starts = std::iter::once(0).chain(above.match_indices('\n').map(|(at, _)| at + 1));
    let last = starts.rev().find(|start| *start < above.len() && blank(*start));
    last.map_or("", |start| &above[..start + above[start..].find('\n').map_or(0, |end| end + 1)])
}

/// What stands below a table without the lines that touch it; none where no empty line ends those.
fn behind_the_table(below: &str) -> Option<&str> {
    let mut at = 0;
    for line in below.split_inclusive('\n') {
        if line.trim().is_empty() {
            return Some(&below[at..]);
        }
        at += line.len();
    }
    None
}

/// Where every table of a file stands in it.
fn positions(table: &Table) -> Vec<isize> {
    let inner = table.iter().flat_map(|(_, item)| match item {
        Item::Table(table) => positions(table),
        Item::ArrayOfTables(tables) => tables.iter().flat_map(positions).collect(),
        _ => Vec::new(),
    });
    inner.chain(table.position()).collect()
}

fn table_at(table: &mut Table, position: isize) -> Option<&mut Table> {
    if table.position() == Some(position) {
        return Some(table);
    }
    table.iter_mut().find_map(|(_, item)| match item {
        Item::Table(table) => table_at(table, position),
        Item::ArrayOfTables(tables) => tables.iter_mut().find_map(|table| table_at(table, position)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
