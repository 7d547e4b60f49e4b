//! How the hosts of a fleet ended: each for itself, and in groups of one cause and one remedy.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::host::Record;
use crate::verify::{Action, Check, Status, Verdict};

/// A check that keeps hosts from passing, or that warns.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Why"))]
pub struct Cause {
    /// Its id, for `gpuenv explain`.
    pub check: String,
    /// What to do.
    pub hint: String,
    /// Who has to do it.
    pub action: Action,
}

/// How the hosts of one kind ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outcome {
    /// Pass, fail or unknown.
    pub status: Status,
    /// The target that it was held against; null where its record cannot be read.
    pub target: Option<String>,
    /// What keeps it from passing, the first of them first.
    pub causes: Vec<Cause>,
    /// What the first of them expected.
    pub expected: Option<String>,
    /// What was found there.
    pub found: Option<String>,
    /// Their driver.
    #[serde(skip)]
    pub driver: Option<String>,
    /// Their GPU, the first one's product, and how many.
    #[serde(skip)]
    pub gpu: Option<String>,
    /// How many checks warn.
    pub warnings: usize,
    /// What they warn of, each once.
    pub warned: Vec<Cause>,
}

/// Hosts that ended alike.
#[derive(Debug, Clone)]
pub struct Group {
    /// How.
    pub status: Status,
    /// The target they were held against.
    pub target: Option<String>,
    /// Why.
    pub causes: Vec<Cause>,
    /// What was expected by the first cause.
    pub expected: Option<String>,
    /// What was found, with how many hosts.
    pub found: BTreeMap<String, usize>,
    /// What was warned of all the same, with how many hosts.
    pub warned: HashMap<Cause, usize>,
    /// Their names, in the order in which they came.
    pub hosts: Vec<String>,
}

/// The groups so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// The groups, in the order in which the first of each came.
    pub groups: Vec<Group>,
    places: HashMap<(Status, Option<String>, Vec<Cause>), usize>,
    /// How many hosts have each driver.
    pub drivers: BTreeMap<String, usize>,
    /// How many hosts have each GPU.
    pub gpus: BTreeMap<String, usize>,
    /// How many hosts there are.
    pub hosts: usize,
}

impl Outcome {
    /// What a verdict on a host comes to.
    pub fn of(verdict: &Verdict, record: &Record) -> Outcome {
        let of = |status| verdict.checks.iter().filter(move |check| check.status == status);
        let decisive: Vec<&Check> = match verdict.status {
            Status::Fail | Status::Unknown => of(verdict.status).collect(),
            _ => Vec::new(),
        };
        let first = decisive.first();
        let gpus = record.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
        let name = gpus.first().and_then(|gpu| gpu.name.as_deref());
        Outcome {
            status: verdict.status,
            target: Some(verdict.target.clone()),
            causes: causes(decisive.iter().copied()),
            expected: first.and_then(|check| check.expected.clone()),
            found: first.and_then(|check| check.found.clone()),
            driver: driver(record),
            gpu: name.map(|name| if gpus.len() > 1 { format!("{} x {name}", gpus.len()) } else { name.to_string() }),
            warnings: of(Status::Warn).count(),
            warned: causes(of(Status::Warn)),
        }
    }

    /// A record that cannot be read.
    pub fn unreadable(why: &str) -> Outcome {
        let hint = "run `gpuenv probe` on that host and see what it prints".to_string();
        let cause = Cause { check: "record".to_string(), hint, action: Action::None };
        Outcome {
            status: Status::Unknown,
            target: None,
            causes: vec![cause],
            expected: Some("a record that can be read".to_string()),
            found: Some(why.to_string()),
            driver: None,
            gpu: None,
            warnings: 0,
            warned: Vec::new(),
        }
    }
}

/// Each cause once: eight GPUs with one fault have it once.
fn causes<'c>(checks: impl Iterator<Item = &'c Check>) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for check in checks {
        let hint = check.hint.clone().unwrap_or_default();
        let cause = Cause { check: check.id.to_string(), hint, action: check.action };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

fn driver(record: &Record) -> Option<String> {
    let nvml = record.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref());
    let module = || record.module.as_ref().and_then(|module| module.version.as_ref());
    nvml.or_else(module).map(ToString::to_string)
}

impl Group {
    /// What was warned of, with how many hosts, the most frequent first.
    pub fn warnings(&self) -> Vec<(&Cause, usize)> {
        let mut all: Vec<(&Cause, usize)> = self.warned.iter().map(|(cause, count)| (cause, *count)).collect();
        all.sort_unstable_by(|(a, of_a), (b, of_b)| {
            of_b.cmp(of_a).then_with(|| (&a.check, &a.hint).cmp(&(&b.check, &b.hint)))
        });
        all
    }
}

impl Tally {
    /// Adds a host.
    pub fn add(&mut self, name: &str, outcome: &Outcome) {
        self.hosts += 1;
        let untold = || "not known".to_string();
        *self.drivers.entry(outcome.driver.clone().unwrap_or_else(untold)).or_default() += 1;
        *self.gpus.entry(outcome.gpu.clone().unwrap_or_else(untold)).or_default() += 1;
        let key = (outcome.status, outcome.target.clone(), outcome.causes.clone());
        let at = *self.places.entry(key).or_insert_with(|| {
            self.groups.push(Group {
                status: outcome.status,
                target: outcome.target.clone(),
                causes: outcome.causes.clone(),
                expected: outcome.expected.clone(),
                found: BTreeMap::new(),
                warned: HashMap::new(),
                hosts: Vec::new(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        if let Some(found) = &outcome.found {
            *group.found.entry(found.clone()).or_default() += 1;
        }
        for cause in &outcome.warned {
            match group.warned.get_mut(cause) {
                Some(count) => *count += 1,
                None => drop(group.warned.insert(cause.clone(), 1)),
            }
        }
        group.hosts.push(name.to_string());
    }

    /// How many hosts ended like this.
    pub fn count(&self, status: Status) -> usize {
        self.groups.iter().filter(|group| group.status == status).map(|group| group.hosts.len()).sum()
    }

    /// The groups as they are told: failures first, then what is open, the largest first.
    pub fn in_order(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        crate::types::sort_by_key(&mut groups, |group| {
            (std::cmp::Reverse(group.status), std::cmp::Reverse(group.hosts.len()))
        });
        groups
    }
}
