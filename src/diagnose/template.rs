//! Sentences of the catalog with placeholders in them: `raise the driver to {driver_for_needed}`.

use std::collections::BTreeMap;

/// What placeholders stand for.
pub type Filling = BTreeMap<String, String>;

/// A sentence with its placeholders filled; none if one of them is not known.
pub fn fill(template: &str, filling: &Filling) -> Option<String> {
    alternatives(template).find_map(|sentence| filled(sentence, filling))
}

/// The sentences of which the first is said that can be.
pub fn alternatives(template: &str) -> impl Iterator<Item = &str> {
    template.split(" || ")
}

fn filled(template: &str, filling: &Filling) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once('{') {
        let (name, after) = tail.split_once('}')?;
        filled += before;
        filled += filling.get(name)?;
        rest = after;
    }
    Some(filled + rest)
}

/// The placeholders of a sentence.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|tail| Some(tail.split_once('}')?.0))
}
