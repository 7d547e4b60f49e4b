//! Which CUDA the frameworks of a draft come with, and which of them computes on the GPU.

use super::super::claims::{Claim, Settled};
use super::{Merged, conda};
use crate::catalog::rows::{Build, TORCH};
use crate::init::{Entry, Value};
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

    /// conda's toolkit and cuDNN are what a TensorFlow finds that loads them from the system; later ones bring their own.
    pub(super) fn toolkit_of_conda(&mut self) {
        let asked: Vec<&Constraint> = self.stack.of(conda::TENSORFLOW).collect();
        let is_asked = |row: &&Build| !row.is_cpu() && asked.iter().all(|asked| asked.admits(&row.version));
        let newest = self.catalog.builds.of(conda::TENSORFLOW).iter().filter(is_asked).max_by_key(|row| row.version);
        let Some(row) = newest.filter(|_| !asked.is_empty() && !self.stack.has(TORCH)) else { return };
        let of_system = row.system_cuda;
        for (name, key, begin) in [("cuda", "toolkit", "cuda"), ("cudnn", "cudnn", "cudnn")] {
            let is_told = |claim: &Claim<Constraint>| is_spec(claim, begin) && (of_system || name == "cudnn");
            let claims = self.stack.without(name, is_told);
            let asked =
                claims.first().map(|claim| if name == "cuda" { claim.asked.cut_to(2) } else { claim.asked.clone() });
            let plain = asked.filter(|asked| asked.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
            match plain.filter(|_| of_system) {
                Some(asked) => {
                    let value = Value::Text(asked.as_str().to_string());
                    self.draft.machine.push(Entry::on(key, value, claims[0].note.as_str()));
                }
                None => self.leave_each(&claims, conda::BRING_OWN),
            }
        }
    }

    /// conda builds torch for CUDAs for which it has no wheels: there that of the wheels is taken. `cudatoolkit` beside a torch
    /// that is built for another is a library that nothing loads.
    pub(super) fn idle_toolkits(&mut self) {
        let torch: Vec<Constraint> = self.stack.of(TORCH).cloned().collect();
        let is_asked = |row: &&Build| row.systems.is_empty() && torch.iter().all(|asked| asked.admits(&row.version));
        let lines: Vec<Version> =
            self.catalog.builds.of(TORCH).iter().filter(is_asked).filter_map(Build::line).collect();
        let is_idle = |claim: &Claim<Constraint>| {
            let asked = claim.asked.cut_to(2);
            let is_of_conda = ["cudatoolkit", "cuda-version"].iter().any(|begin| is_spec(claim, begin));
            is_of_conda && !lines.is_empty() && !lines.iter().any(|line| asked.admits(line))
        };
        let idle = if torch.is_empty() { Vec::new() } else { self.stack.without("cuda", is_idle) };
        self.leave_each(&idle, "no wheel of that torch is for it: the CUDA of one that there is was taken");
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

/// Whether a line is a spec of conda's for a package whose name begins so.
fn is_spec(claim: &Claim<Constraint>, begin: &str) -> bool {
    claim.line.2.rsplit("::").next().is_some_and(|spec| spec.starts_with(begin))
}
