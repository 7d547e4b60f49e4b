//! Names of the catalog that a row of an overlay would take for itself: by another spelling of the same id, or as a GPU
//! by a name that means another product already.

use std::collections::{HashMap, HashSet};

use super::names::{fold, without_maker};
use super::rows::{Gpu, List, Text};
use super::tables::{Catalog, RowName};

/// What a row would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Capture {
    /// The name, as the overlay writes it.
    pub name: String,
    /// What it means without the overlay.
    pub means: String,
    /// The rows that bear that very name: their kind, and where they stand in its table.
    pub rows: Vec<(&'static str, usize)>,
}

/// What a row of this kind and name takes by being spelled otherwise than a row that is there.
pub(super) fn by_spelling(base: &Catalog, rows: &[(&'static str, &RowName, &str)]) -> HashMap<String, Capture> {
    let mut wanted: HashMap<(&str, String), Vec<(&RowName, &str)>> = HashMap::new();
    for (kind, name, id) in rows {
        wanted.entry((*kind, folded(&name.head))).or_default().push((*name, *id));
    }
    let mut found = HashMap::new();
    let (mut kind, mut at) = ("", 0);
    for row in base.rows() {
        at = if row.kind == kind { at + 1 } else { 0 };
        kind = row.kind;
        let Some(alike) = wanted.get(&(kind, folded(&row.name.head))) else { continue };
        for (name, id) in alike {
            let same = name.versions == row.name.versions && name.tail == row.name.tail;
            if same && **id != *row.id {
                let capture = Capture { name: id.to_string(), means: row.id.clone(), rows: vec![(kind, at)] };
                found.insert(id.to_string(), capture);
            }
        }
    }
    found
}

/// Versions compare by their numbers already; this is the rest of a name.
fn folded(head: &str) -> String {
    head.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What a GPU takes that has a name or an alias which means another product, alone or in its family. A product of the
/// same id is no other.
pub(super) fn by_name(base: &Catalog, gpu: &Gpu, id: &str) -> Option<Capture> {
    let names = || [&gpu.name].into_iter().chain(gpu.aliases.iter());
    // A name that means no board asks for none that it is like: that takes longest.
    let other = |name: &str| base.boards(name).into_iter().flatten().find(|other| id_of(other) != id);
    let taken = names().find_map(|name| Some((name.to_string(), other(name)?.name.to_string())));
    let (name, means) = taken?;
    let words = |name: &str| without_maker(&fold(name)).to_vec();
    let own: Vec<Vec<String>> = names().map(|name| words(name)).collect();
    let bears = |other: &Gpu| own.contains(&words(&other.name));
    let rows = base.gpus.iter().enumerate().filter(|(_, other)| bears(other) && id_of(other) != id);
    Some(Capture { name, means, rows: rows.map(|(at, _)| ("gpu", at)).collect() })
}

/// Rules and services that name boards speak no more of those whose names are taken; where all of them are, they are gone.
pub(super) fn forget_taken(laid: &mut Catalog) {
    let names: HashSet<Text> = laid.gpus.iter().map(|gpu| gpu.name).collect();
    let keep = |lists: [&mut List<Text>; 2]| {
        lists.into_iter().all(|list| {
            let left: Vec<Text> = list.iter().copied().filter(|name| names.contains(name)).collect();
            let is_gone = left.is_empty() && !list.is_empty();
            *list = left.into();
            !is_gone
        })
    };
    laid.rules.to_mut().retain_mut(|rule| keep([&mut rule.instances, &mut rule.boards]));
    laid.services.to_mut().retain_mut(|service| keep([&mut service.boards, &mut List::default()]));
}

fn id_of(gpu: &Gpu) -> String {
    super::tables::Row::id(gpu)
}
