//! What to install rather than the least that suffices: the newest driver branch still supported on the day the
//! catalog speaks of, solved like everything else that is offered.

use crate::catalog::rows::Branch;
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
