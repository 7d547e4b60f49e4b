//! What comes of many hosts: a line for each, or their groups.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fleet::{Cause, Group, Outcome, Tally};
use crate::types::map_of;
use crate::verify::Status;

/// The format of both documents.
const FORMAT: u32 = 1;

/// One host, a line of `--format ndjson`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct FleetHost<'a> {
    /// The format.
    format: u32,
    /// Its name, or where its record stands.
    host: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

/// All hosts, in groups of one cause and one remedy.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct FleetGroups<'a> {
    /// The format.
    format: u32,
    /// Fail if any host fails, else unknown if any is, else pass.
    status: Status,
    /// How many hosts there are.
    hosts: usize,
    /// How many ended how: pass, fail, unknown.
    counts: BTreeMap<&'static str, usize>,
    /// The groups: those that fail, then those that are not known, the largest first.
    groups: Vec<OneGroup<'a>>,
    /// How many hosts have each driver.
    drivers: &'a BTreeMap<String, usize>,
    /// How many hosts have each GPU.
    gpus: &'a BTreeMap<String, usize>,
}

/// Hosts that ended alike.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OneGroup<'a> {
    status: Status,
    target: Option<&'a str>,
    /// How many.
    count: usize,
    causes: &'a [Cause],
    expected: Option<&'a str>,
    /// What was found by the first cause, with how many hosts.
    found: &'a BTreeMap<String, usize>,
    /// What was warned of all the same, the most frequent first.
    warned: Vec<Warned<'a>>,
    /// Their names.
    hosts: &'a [String],
}

/// A warning that hosts of a group have.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Warned<'a> {
    #[serde(flatten)]
    cause: &'a Cause,
    /// How many of them have it.
    hosts: usize,
}

impl<'a> FleetHost<'a> {
    pub fn new(host: &'a str, outcome: &'a Outcome) -> Self {
        FleetHost { format: FORMAT, host, outcome }
    }
}

impl<'a> FleetGroups<'a> {
    pub fn new(tally: &'a Tally) -> Self {
        let statuses = [Status::Fail, Status::Unknown, Status::Pass];
        let worst = statuses.into_iter().find(|status| tally.count(*status) > 0);
        let group = |group: &'a Group| OneGroup {
            status: group.status,
            target: group.target.as_deref(),
            count: group.hosts.len(),
            causes: &group.causes,
            expected: group.expected.as_deref(),
            found: &group.found,
            warned: group.warnings().into_iter().map(|(cause, hosts)| Warned { cause, hosts }).collect(),
            hosts: &group.hosts,
        };
        FleetGroups {
            format: FORMAT,
            status: worst.unwrap_or(Status::Unknown),
            hosts: tally.hosts,
            counts: map_of(statuses.iter().map(|status| (status.as_str(), tally.count(*status)))),
            groups: tally.in_order().into_iter().map(group).collect(),
            drivers: &tally.drivers,
            gpus: &tally.gpus,
        }
    }
}
