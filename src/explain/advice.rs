//! What to install rather than the least that suffices: the newest driver branch still supported on the day the
//! catalog speaks of, solved like everything else that is offered; and what an offer itself takes.

use std::collections::BTreeSet;

use crate::catalog::rows::{Branch, Compat};
use crate::solve::answer::Answer;
use crate::solve::lifetime::has_ended;
use crate::spec::Spec;

use super::{Asker, Fix};

/// The branch to install for a fix that raises a driver; none where a fix changes no driver, or no branch serves.
pub(super) fn on(asker: &Asker<'_, '_>, spec: &Spec, fix: &Fix) -> Option<String> {
    let raised = fix.changes.iter().find(|change| {
        let setting = change.key.rsplit('.').next();
        change.key.starts_with("target.") && matches!(setting, Some("driver" | "driver-cuda")) && change.to.is_some()
    })?;
    let mut fixed = spec.clone();
    for change in &fix.changes {
        fixed = fixed.with(&change.key, change.to.as_deref()).ok()?;
    }
    branch(asker, &fixed, &raised.key)
}

/// The packages that hosts need where a solved change rests on forward compatibility.
pub(super) fn compat(answer: &Answer<'_>) -> Option<String> {
    let needed = answer.targets.iter().filter_map(|target| target.driver.as_ref()?.compat);
    let packages: BTreeSet<String> = needed.map(Compat::package).collect();
    let packages: Vec<String> = packages.into_iter().collect();
    (!packages.is_empty()).then(|| format!("needs {} on the hosts or in the image", packages.join(", ")))
}

/// The newest branch in support with which a spec has an answer.
pub(super) fn branch(asker: &Asker<'_, '_>, spec: &Spec, key: &str) -> Option<String> {
    let supported = asker.catalog.branches.iter().rev().filter_map(|row| {
        let end = row.eol.as_ref().filter(|end| !has_ended(asker.catalog, end))?;
        Some((row, end))
    });
    let value = |row: &Branch| match key.ends_with("driver-cuda") {
        true => row.cuda.as_ref().map(ToString::to_string),
        false => Some(row.branch.to_string()),
    };
    let serves = |row: &Branch| {
        let with = value(row).and_then(|value| spec.with(key, Some(&value)).ok());
        with.is_some_and(|spec| asker.best(&spec).is_some())
    };
    let mut serving = supported.filter(|(row, _)| serves(row));
    serving.next().map(|(row, end)| format!("recommended: driver branch R{}, supported until {end}", row.branch))
}
