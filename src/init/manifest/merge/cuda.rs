//! Which CUDA the frameworks of a draft come with, and which of them computes on the GPU.

use super::super::claims::{Claim, Settled};
use super::Merged;
use crate::catalog::rows::{Build, TORCH};
use crate::types::{Constraint, Version};

impl Merged<'_> {
    /// Whether a framework is there to compute on the GPU: its wheels are made for CUDA, or a line asks for that.
    pub(super) fn drives_gpus(&self, name: &str, settled: &Settled<Constraint>) -> bool {
        let is_asked = settled.asked.as_str().contains("+cu") || self.with_cuda.contains(name);
        is_asked || !settled.asked.names_variant("cpu") && !self.is_bare(name, settled)
    }

    /// The lines of CUDA that the newest torch which is asked for comes with.
    pub(super) fn cudas_of_torch(&self) -> Vec<Version> {
        let asked = |row: &&Build| self.stack.of(TORCH).all(|asked| asked.admits_build(&row.version, &row.variant));
        let builds = || self.catalog.builds.of(TORCH).iter().filter(|row| row.systems.is_empty()).filter(asked);
        let newest = builds().map(|row| row.version).max().filter(|_| self.stack.has(TORCH));
        builds().filter(|row| Some(row.version) == newest).filter_map(Build::line).collect()
    }

    /// conda's `cudatoolkit` chooses the CUDA of a torch that is built for it; beside any other it is a library that nothing
    /// loads.
    pub(super) fn idle_toolkits(&mut self) {
        let torch: Vec<Constraint> = self.stack.of(TORCH).cloned().collect();
        let is_asked = |row: &&Build| torch.iter().all(|asked| asked.admits(&row.version));
        let lines: Vec<Version> =
            self.catalog.builds.of(TORCH).iter().filter(is_asked).filter_map(Build::line).collect();
        let is_idle = |claim: &Claim<Constraint>| {
            let asked = claim.asked.cut_to(2);
            claim.line.2.starts_with("cudatoolkit") && !lines.is_empty() && !lines.iter().any(|line| asked.admits(line))
        };
        let idle = if torch.is_empty() { Vec::new() } else { self.stack.without("cuda", is_idle) };
        self.leave_each(
            &idle,
            "no wheel of that torch is for it: conda's torch takes another CUDA, and this lies idle",
        );
    }

    /// Whether an extra, for which nobody asks, would bring the CUDA of a framework, or it would have to be on the system and another
    /// one is: without it installers bring none that it finds.
    pub(super) fn is_bare(&self, name: &str, settled: &Settled<Constraint>) -> bool {
        let asked = &settled.asked;
        let of_it = || self.catalog.builds.of(name).iter().filter(|row| !row.is_cpu() && asked.admits(&row.version));
        let newest = of_it().max_by_key(|row| row.version);
        // The names of its libraries tell the major.
        let is_there =
            |row: &Build| row.line().is_some_and(|line| self.cudas.iter().any(|has| has.major() == line.major()));
        let finds_none = |row: &Build| row.system_cuda && !self.cudas.is_empty() && !of_it().any(is_there);
        let lacks = |row: &Build| row.extra.is_some() || finds_none(row);
        !asked.pins_variant() && !self.with_cuda.contains(name) && newest.is_some_and(lacks)
    }
}
