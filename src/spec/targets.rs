//! The text of a gpuenv.toml with a target more or less. Everything else keeps its bytes.

use toml_edit::{Item, Table};

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
        let root = tree.as_table_mut();
        let is_last = !root.contains_key("target");
        let mut targets = Table::new();
        targets.set_implicit(true);
        let targets = root.entry("target").or_insert(Item::Table(targets));
        let targets = targets.as_table_like_mut().ok_or_else(unreachable)?;
        // A table of its own begins behind an empty line; the first of a file does so by itself.
        if !is_last || !source.trim().is_empty() {
            table.decor_mut().set_prefix("\n");
        }
        targets.insert(name, Item::Table(table));
        Ok(())
    })?;
    let (was, is) = (begun(source)?.inputs(), begun(&text)?);
    let prefix = format!("{path}.");
    let others = is.inputs().into_iter().filter(|(key, _)| !key.starts_with(&prefix)).collect();
    if was == others && is.target(name).is_some() { Ok(text) } else { Err(RewriteError::Different) }
}

/// Removes a target with everything in it.
pub fn remove_target(source: &str, name: &str) -> Result<String, RewriteError> {
    let path = format!("target.{name}");
    in_tree(source, &path, |tree| {
        let targets = tree.get_mut("target").and_then(Item::as_table_like_mut);
        let removed = targets.and_then(|targets| targets.remove(name));
        removed.map(|_| ()).ok_or(RewriteError::Unreachable(path.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "# ours\n[stack]\ntorch = \"2.5\" # why\n\n# the node\n[target.a]\ngpu = \"L4\" # four\n\n\
                        [resolve]\nshare = \"versions\"\n";

    fn keys(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_new_target_stands_behind_the_others_and_nothing_else_moves() {
        let text = add_target(SPEC, "b", &keys(&[("gpu", "[\"A100\", \"L4\"]"), ("driver", "535")])).unwrap();
        let wanted = "gpu = \"L4\" # four\n\n[target.b]\ngpu = [\"A100\", \"L4\"]\ndriver = \"535\"\n\n[resolve]";
        assert!(text.contains(wanted), "{text}");
        assert_eq!(text.replace("[target.b]\ngpu = [\"A100\", \"L4\"]\ndriver = \"535\"\n\n", ""), SPEC);
        assert_eq!(remove_target(&text, "b").unwrap(), SPEC);
        let ends = add_target(&SPEC.replace('\n', "\r\n"), "b", &keys(&[("gpu", "L4")])).unwrap();
        assert!(!ends.replace("\r\n", "").contains('\n'), "{ends:?}");
    }

    #[test]
    fn the_first_target_of_a_file_and_targets_in_braces() {
        let text = add_target("[stack]\ntorch = \"*\"\n", "a", &keys(&[("gpu", "L4")])).unwrap();
        assert_eq!(text, "[stack]\ntorch = \"*\"\n\n[target.a]\ngpu = \"L4\"\n");
        let text = add_target("[stack]\ntorch = \"*\"\n", "a", &[]).unwrap();
        assert_eq!(text, "[stack]\ntorch = \"*\"\n\n[target.a]\n");
        let braces = "stack.torch = \"*\"\ntarget = { a = { gpu = \"L4\" } }\n";
        let text = add_target(braces, "b", &keys(&[("gpu", "T4")])).unwrap();
        assert!(text.contains("a = { gpu = \"L4\" }") && text.contains("b = { gpu = \"T4\""), "{text}");
        assert!(remove_target(&text, "a").unwrap().contains("b = {"));
        assert!(remove_target(SPEC, "c").is_err());
    }
}
