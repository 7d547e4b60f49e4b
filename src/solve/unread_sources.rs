//! Packages that come as source and that no toolkit of a target compiles, of which finished wheels lie where nobody has read
//! which.

use crate::types::constraint::admits;

use super::compile::Plan;
use super::compile::sources::{Way, kept_at};
use super::engine::Selection;
use super::unknowns::{OVERLAY, Unknown};

/// What would have to be read of them.
pub fn of(plan: &Plan<'_, '_>, selection: &Selection) -> Vec<Unknown> {
    let (request, rows) = (plan.request, selection.rows());
    let mut found = Vec::new();
    for group in &plan.groups {
        for &class in &group.classes {
            for source in &plan.locals[class].sources {
                let row = *group.companions[source.at].of(rows);
                let python = plan.python.as_ref().map(|python| python.of(rows).version);
                let place = match source.way.of(rows) {
                    Way::Elsewhere => kept_at(request.catalog, row),
                    Way::Finished(wheel) => {
                        let is_seen = |line| admits(&wheel.python, line);
                        let is_seen = python.as_ref().is_some_and(is_seen);
                        wheel.url.rsplit_once('/').map(|(folder, _)| folder).filter(|_| !is_seen)
                    }
                    _ => None,
                };
                let Some(place) = place else { continue };
                let beside = group.releases.iter().find(|release| *release.framework.package == *row.framework);
                let target = plan.classes[class].target;
                let python = python.map_or(String::new(), |line| format!(" and Python {line}"));
                let beside = beside.map_or(String::new(), |release| {
                    let built = release.of(rows);
                    format!(" for {} {}+{}{python}", row.framework, built.version, built.variant)
                });
                let (name, version) = (&row.package, row.version);
                found.push(Unknown {
                    code: None,
                    fact: format!(
                        "whether a finished wheel of {name} {version}{beside} lies at {place}: no toolkit of target `{}` \
                         compiles it",
                        target.name
                    ),
                    keys: vec![format!("stack.{name}"), target.key("toolkit")],
                    how: format!("look for it there; if it is there, {OVERLAY}, or leave out `toolkit` and install that wheel"),
                });
            }
        }
    }
    found.dedup();
    found
}
