//! What a project asks for in an extra or a group alone, and an export makes a dependency of the project itself.

use super::contradiction;
use crate::types::distinct;

/// A note on them: what was installed by who names the extra is now installed by everybody. `lists` are those of the project,
/// by name.
pub fn note<'l>(
    lists: impl Iterator<Item = (&'l str, &'l [String])>,
    own: &[String],
    locked: &[String],
) -> Option<String> {
    let own = contradiction::names(own);
    let new: Vec<String> = contradiction::names(locked).into_iter().filter(|name| !own.contains(name)).collect();
    let (mut moved, mut of) = (Vec::new(), Vec::new());
    for (list, written) in lists {
        let here: Vec<String> = contradiction::names(written).into_iter().filter(|name| new.contains(name)).collect();
        if !here.is_empty() {
            of.push(format!("`{list}`"));
        }
        moved.extend(here);
    }
    let moved = distinct(moved);
    if moved.is_empty() {
        return None;
    }
    let (is, extra) = (if moved.len() == 1 { "is" } else { "are" }, of.join(" and "));
    Some(format!(
        "{} of {extra} {is} now among the `dependencies` of pyproject.toml, so that every installation gets the locked \
         release, not only one with that extra or group",
        moved.join(", ")
    ))
}
