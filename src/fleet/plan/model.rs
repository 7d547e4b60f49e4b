//! What a plan says, as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::types::Version;

/// Which stacks serve the hosts of a fleet, and which drivers to raise so that one does.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The target that says what the hosts do not: runtime, image, what is compiled.
    pub target: String,
    /// How many hosts there are.
    pub hosts: usize,
    /// The hosts that are known, in classes of equals.
    pub classes: Vec<HostClass>,
    /// How many of these classes the solver can tell apart.
    pub kinds: usize,
    /// The fewest stacks that serve every host that one can serve.
    pub fewest: Vec<Stack>,
    /// No fewer stacks do.
    pub at_least: usize,
    /// The stack that serves the most hosts; none if none serves any.
    pub most: Option<Stack>,
    /// No stack serves more hosts.
    pub at_most: usize,
    /// What raising drivers makes possible, each step more than the one before.
    pub upgrades: Vec<Upgrade>,
    /// Classes that no stack serves with the driver that they have.
    pub unserved: Vec<Unserved>,
    /// Hosts that cannot be planned for, each with why.
    pub unknown: Vec<(String, String)>,
    /// Whether the step limit ended some search.
    pub gave_up: bool,
}

/// Hosts that are alike in what a plan looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostClass {
    /// The products; empty: no GPU.
    pub gpus: Vec<String>,
    /// The driver, `535.104.05`, or what is known of it, `CUDA 12.2`.
    pub driver: Option<String>,
    /// The system, where the stack runs on it.
    pub os: Option<String>,
    /// The C library, where it was seen to be another than that of the system.
    pub glibc: Option<String>,
    /// The processor.
    pub arch: String,
    /// Their names, in the order in which they came.
    pub hosts: Vec<String>,
}

/// A stack, and whom it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "One"))]
pub struct Stack {
    /// Package to version, as `gpuenv lock` would choose for these hosts.
    pub stack: BTreeMap<String, String>,
    /// What decides it: the frameworks with their builds, `torch 2.9.0+cu128`.
    #[serde(skip)]
    pub title: String,
    /// The frameworks with their releases.
    #[serde(skip)]
    pub frameworks: Vec<(String, Version)>,
    /// How many hosts it serves.
    pub hosts: usize,
    /// Their classes.
    pub classes: Vec<usize>,
    /// The oldest driver that suffices for each of them.
    pub driver: Option<String>,
    /// The oldest one that suffices for some of them, where that is older.
    pub least: Option<String>,
    /// The cuda-compat packages that it takes, each with how many hosts need it.
    pub compat: BTreeMap<String, usize>,
    /// What of it fails on some of these hosts, as `gpuenv lock` warns.
    pub fails: Vec<String>,
}

/// Drivers to raise, and what that makes possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Step"))]
pub struct Upgrade {
    /// Which drivers.
    pub raises: Vec<Raise>,
    /// The stack that then serves the most hosts.
    pub then: Stack,
    /// How many hosts one stack serves more than before.
    pub more: usize,
}

/// Hosts whose driver is to be raised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "OneRaise"))]
pub struct Raise {
    /// What they have.
    pub from: String,
    /// What to install.
    pub to: String,
    /// How many.
    pub hosts: usize,
    /// Their classes.
    pub classes: Vec<usize>,
}

/// Classes that no stack serves, for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unserved {
    /// The classes.
    pub classes: Vec<usize>,
    /// How many hosts.
    pub hosts: usize,
    /// Why, in plain sentences: those of each of the classes.
    pub why: Vec<String>,
    /// Those of the classes that were asked about by themselves, with their own numbers.
    #[serde(skip)]
    pub own: BTreeMap<usize, Vec<String>>,
    /// Whether that is proven, or what decides it is not known.
    pub proven: bool,
}

impl Plan {
    /// Whether every host is served as it is.
    pub fn serves_all(&self) -> bool {
        self.unserved.is_empty() && self.unknown.is_empty() && !self.gave_up
    }

    /// How many of the hosts that the fewest stacks serve need a cuda-compat package for it.
    pub fn to_be_helped(&self) -> usize {
        self.fewest.iter().flat_map(|stack| stack.compat.values()).sum()
    }

    /// How many hosts no stack serves with the driver that they have: of these it is proven.
    pub fn refused(&self) -> usize {
        self.unserved.iter().filter(|one| one.proven).map(|one| one.hosts).sum()
    }
}
