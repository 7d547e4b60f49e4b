//! A plan for a fleet.

use serde::Serialize;

use crate::fleet::plan::{Plan, Stack, Unserved, Upgrade};

/// The format of the document.
const FORMAT: u32 = 1;

/// The fewest stacks for some hosts, the one that serves most of them, and which drivers to raise.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct FleetPlan<'a> {
    /// The format.
    format: u32,
    /// Whether every host is served with the driver that it has, if need be with the packages under `compat`; some can run nothing; of some it is not known.
    status: Served,
    /// The target that says what the hosts do not.
    target: &'a str,
    /// How many hosts there are.
    hosts: usize,
    /// The hosts in classes of equals, the largest first. Others name them by their position.
    classes: Vec<Class<'a>>,
    /// How many of these classes the solver can tell apart. Up to twelve, everything is exact.
    kinds: usize,
    /// The fewest stacks that serve every host that one can serve.
    fewest: Fewest<'a>,
    /// The stack that serves the most hosts; null where none serves any.
    most: Option<Most<'a>>,
    /// What newer drivers make possible, each step more than the one before.
    upgrades: &'a [Upgrade],
    /// Classes that no stack serves with the driver that they have.
    unserved: &'a [Unserved],
    /// Hosts of which too little is known.
    unknown: Vec<Unknown<'a>>,
    /// Whether some search reached its step limit.
    gave_up: bool,
}

/// How a plan ends.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Served {
    All,
    Some,
    Unknown,
}

/// Hosts that are alike.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Class<'a> {
    /// The products; empty: no GPU.
    gpus: &'a [String],
    /// The driver, or the CUDA version that it offers where its release is not known.
    driver: Option<&'a str>,
    /// The system; null where the target's counts.
    os: Option<&'a str>,
    /// The C library, where it is another than the system's.
    glibc: Option<&'a str>,
    /// The processor.
    arch: &'a str,
    /// How many.
    count: usize,
    /// Their names.
    hosts: &'a [String],
}

/// Stacks that serve all hosts together.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Fewest<'a> {
    /// No fewer stacks do: where that is their number, it is proven.
    at_least: usize,
    /// The stacks. A host that several could serve stands with the first.
    stacks: &'a [Stack],
}

/// The stack that serves the most hosts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Most<'a> {
    /// No stack serves more hosts than this.
    at_most: usize,
    stack: &'a Stack,
}

/// A host of which too little is known.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Unknown<'a> {
    host: &'a str,
    why: &'a str,
}

impl<'a> FleetPlan<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let status = match (plan.refused(), plan.serves_all()) {
            (0, true) => Served::All,
            (0, false) => Served::Unknown,
            _ => Served::Some,
        };
        let classes = plan.classes.iter().map(|class| Class {
            gpus: &class.gpus,
            driver: class.driver.as_deref(),
            os: class.os.as_deref(),
            glibc: class.glibc.as_deref(),
            arch: &class.arch,
            count: class.hosts.len(),
            hosts: &class.hosts,
        });
        FleetPlan {
            format: FORMAT,
            status,
            target: &plan.target,
            hosts: plan.hosts,
            classes: classes.collect(),
            kinds: plan.kinds,
            fewest: Fewest { at_least: plan.at_least, stacks: &plan.fewest },
            most: plan.most.as_ref().map(|stack| Most { at_most: plan.at_most, stack }),
            upgrades: &plan.upgrades,
            unserved: &plan.unserved,
            unknown: plan.unknown.iter().map(|(host, why)| Unknown { host, why }).collect(),
            gave_up: plan.gave_up,
        }
    }
}
