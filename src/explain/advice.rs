//! What to install rather than the least that suffices: the newest driver branch still supported on the day the
//! catalog speaks of, solved like everything else that is offered; and what an offer itself takes.

use std::collections::BTreeSet;

use crate::catalog::rows::{Branch, Compat};
use crate::meaning;
use crate::solve::request::Request;
use crate::solve::solution::Solution;
use crate::warning::{ExperimentalVariant, Kind, Warning};

use super::ask::{Asker, Edit};
use super::{Change, Fix, target_of};

/// The branch to install for a fix that raises a driver; none where a fix changes no driver, or no branch serves.
pub(super) fn on(asker: &Asker<'_, '_>, fix: &Fix) -> Option<String> {
    let is_driver =
        |key: &str| key.starts_with("target.") && matches!(key.rsplit('.').next(), Some("driver" | "driver-cuda"));
    let mut drivers = fix.changes.iter().filter(|change| change.to.is_some() && is_driver(&change.key));
    let raised = drivers.next()?;
    // Of hosts whose drivers go different ways, one branch is not for all.
    let is_minimum = |to: &Option<String>| to.as_deref().is_some_and(|to| to.starts_with(">="));
    if drivers.any(|other| is_minimum(&other.to) != is_minimum(&raised.to)) {
        return None;
    }
    let edits: Vec<Edit> = fix.changes.iter().map(|change| (change.key.clone(), change.to.clone())).collect();
    branch(asker, &edits, &raised.key)
}

/// The packages that hosts need where a solved change rests on forward compatibility.
pub(super) fn compat(answer: &Solution<'_>) -> Option<String> {
    let needed = answer.targets.iter().filter_map(|target| target.driver.as_ref()?.added());
    let packages: BTreeSet<String> = needed.map(Compat::package).collect();
    let packages: Vec<String> = packages.into_iter().collect();
    (!packages.is_empty()).then(|| format!("needs {} on the hosts or in the image", packages.join(", ")))
}

/// What it takes to put another JetPack on a board.
pub(super) fn flashed(request: &Request<'_>, changes: &[Change]) -> Option<String> {
    let is_flashed = |change: &Change| {
        let system = || request.target(target_of(&change.key))?.os;
        change.key.ends_with(".os") && change.from.is_some() && system().is_some_and(|os| !os.boards.is_empty())
    };
    changes.iter().any(is_flashed).then(|| "another JetPack means flashing the board".to_string())
}

/// The warnings of what fails as it is after a solved change: their codes and keys.
pub(super) fn failing(warned: &[Warning]) -> Vec<(&'static str, Vec<String>)> {
    let failing = warned.iter().filter(|warning| meaning::fails(warning.code));
    failing.map(|warning| (warning.code, warning.keys.clone())).collect()
}

/// Whether a solved change rests on an experimental build.
pub(super) fn is_experimental(warned: &[Warning]) -> bool {
    warned.iter().any(|warning| warning.code == ExperimentalVariant::CODE)
}

/// The warnings of what fails as it is after a solved change, and of one that rests on an experimental build: that is to
/// be known before.
pub(super) fn warned_of(warned: &[Warning], experimental: bool) -> Option<String> {
    let is_told = |code: &&str| meaning::fails(code) || experimental && *code == ExperimentalVariant::CODE;
    let codes: BTreeSet<&str> = warned.iter().map(|warning| warning.code).filter(is_told).collect();
    let codes: Vec<String> = codes.into_iter().map(|code| format!("`{code}`")).collect();
    let s = if codes.len() == 1 { "" } else { "s" };
    (!codes.is_empty()).then(|| format!("with the warning{s} {}", codes.join(" and ")))
}

/// The newest branch in support with which the spec has an answer, after some edits.
pub(super) fn branch(asker: &Asker<'_, '_>, edits: &[Edit], key: &str) -> Option<String> {
    let supported = asker.catalog.branches.iter().rev().filter_map(|row| {
        let end = row.eol.as_ref().filter(|end| !asker.catalog.has_ended(end))?;
        Some((row, end))
    });
    let value = |row: &Branch| match key.ends_with("driver-cuda") {
        true => row.cuda.as_ref().map(ToString::to_string),
        false => Some(row.branch.to_string()),
    };
    let serves = |row: &Branch| {
        let others = edits.iter().filter(|(edited, _)| edited != key).cloned();
        let with = value(row).map(|value| others.chain([(key.to_string(), Some(value))]).collect::<Vec<Edit>>());
        with.is_some_and(|edits| asker.has_answer(&edits))
    };
    let mut serving = supported.filter(|(row, _)| serves(row));
    serving.next().map(|(row, end)| format!("R{} recommended, supported until {end}", row.branch))
}
