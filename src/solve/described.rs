//! A machine as it is described, with the rules that speak of its parts.

use std::rc::Rc;

use crate::catalog::rows::{Class as Market, Subject};
use crate::types::{CpuArch, Version};

use super::facts::Facts;
use super::reading::Reading;
use super::rowset::RowSet;
use super::rules::Needs;
use super::rules::law::{self, RuleId};
use super::values::GpuRequest;

/// A machine as it is described.
#[derive(Debug)]
pub struct Described<'c> {
    /// What it is.
    pub reading: Reading<'c>,
    /// The GPUs that it names, one for each kind that rules can tell apart.
    pub kinds: Vec<GpuKind<'c>>,
    /// The rules that its host compiler or C library breaks.
    pub host: Vec<Rc<Needs<'c>>>,
}

/// A GPU of a machine, one for each kind that rules can tell apart, and the rules that speak of it.
#[derive(Debug, Clone)]
pub struct GpuKind<'c> {
    /// The GPU.
    pub gpu: GpuRequest<'c>,
    /// What it needs of a CUDA line.
    pub cuda: Vec<Rc<Needs<'c>>>,
    /// What it needs of a driver.
    pub driver: Vec<Rc<Needs<'c>>>,
    /// The rules that keep some cuDNN releases from it.
    pub cudnn: Vec<Rc<Needs<'c>>>,
}

/// The rows of a table that rules refuse, each rule by itself: what is left depends on which rules are set aside.
#[derive(Debug, Default)]
pub struct Refusals {
    /// Refused by what no rule carries.
    pub always: RowSet,
    /// Refused by rules.
    pub by_rule: Vec<(RuleId, RowSet)>,
}

impl Refusals {
    /// Adds what a rule refuses, if it refuses anything.
    pub fn add(&mut self, rule: RuleId, refused: RowSet) {
        if !refused.is_empty() {
            self.by_rule.push((rule, refused));
        }
    }

    /// Takes out of some rows those that are refused while some rules are set aside.
    pub fn apply(&self, rows: &mut RowSet, off: &RowSet) {
        rows.subtract(&self.always);
        for (_, refused) in self.by_rule.iter().filter(|(rule, _)| !off.has(*rule)) {
            rows.subtract(refused);
        }
    }
}

impl<'c> Described<'c> {
    pub(super) fn new(facts: &Facts<'c>, reading: Reading<'c>) -> Self {
        let kinds = gpu_kinds(facts, &reading);
        let parts = [
            (Subject::Glibc, reading.glibc),
            (Subject::Libstdcxx, reading.libstdcxx()),
            (Subject::Gcc, reading.gcc),
            (Subject::Clang, reading.clang),
        ];
        let known = parts.into_iter().filter_map(|(object, has)| Some((object, has?)));
        let host = known.flat_map(|(object, has)| facts.rules.breaking(object, has)).cloned().collect();
        Described { reading, kinds, host }
    }

    /// The rules by which a framework builds nothing with what the host has, some of them with some toolkits only.
    pub fn against_compilers_of(&self, package: &str) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        let is_about = move |rule: &&Rc<Needs<'c>>| rule.row.package.as_deref() == Some(package);
        self.host.iter().filter(is_about)
    }

    /// Whether its C library, if it is known, is as new as a wheel needs it.
    pub fn loads(&self, needs: Option<Version>, off: &RowSet) -> bool {
        let has = self.reading.glibc.filter(|_| !off.has(law::id::GLIBC));
        has.zip(needs).is_none_or(|(has, needs)| needs <= has)
    }

    /// Whether no rule about its GPUs refuses a cuDNN release.
    pub fn takes_cudnn(&self, cudnn: &Version, off: &RowSet) -> bool {
        !self.cudnn_rules(off).any(|rule| rule.range.admits(cudnn))
    }

    /// The rules that keep some cuDNN releases from one of its GPUs and are not set aside.
    pub fn cudnn_rules<'a>(&'a self, off: &'a RowSet) -> impl Iterator<Item = &'a Rc<Needs<'c>>> {
        self.kinds.iter().flat_map(|kind| &kind.cudnn).filter(|rule| !off.has(rule.id))
    }

    /// Whether no rule about its GPUs refuses a CUDA line.
    pub fn takes_line(&self, line: &Version, off: &RowSet) -> bool {
        let refuses = |rule: &Rc<Needs<'c>>| !off.has(rule.id) && !rule.needs.admits(line);
        !self.kinds.iter().any(|kind| kind.cuda.iter().any(refuses))
    }

    /// Whether cuda-compat may run on its GPUs.
    pub fn may_use_compat(&self, off: &RowSet) -> bool {
        !self.kinds.is_empty()
            && match self.reading.own_compats() {
                Some(own) => !own.is_empty(),
                None => self.kinds.iter().all(|kind| kind.gpu.is_datacenter()),
            }
            && !off.has(law::id::FORWARD_COMPAT)
    }
}

/// What rules and kernel modules can tell products of one capability apart by.
#[derive(PartialEq)]
struct Kind<'a> {
    class: Market,
    cpu: Option<CpuArch>,
    first_driver: Option<&'a Version>,
    instance: Option<&'a str>,
}

fn kind<'a>(gpu: &'a GpuRequest<'_>) -> Option<Kind<'a>> {
    gpu.row.map(|row| Kind {
        class: row.class,
        cpu: row.cpu,
        first_driver: row.first_driver.as_ref(),
        instance: gpu.is_instance.then_some(&*row.name),
    })
}

/// The GPUs that a machine names, one for each kind that rules can tell apart, with every rule that speaks of them.
fn gpu_kinds<'c>(facts: &Facts<'c>, reading: &Reading<'c>) -> Vec<GpuKind<'c>> {
    let mut kinds: Vec<GpuKind> = Vec::new();
    for gpu in reading.named_gpus() {
        if kinds.iter().any(|known| known.gpu.cc == gpu.cc && kind(&known.gpu) == kind(gpu)) {
            continue;
        }
        let about = |object| {
            let rules = facts.rules.between(Subject::Gpu, object);
            rules.filter(|rule| rule.speaks_of_gpu(gpu)).cloned().collect()
        };
        let of_cudnn = facts.rules.between(Subject::Cudnn, Subject::Gpu);
        let cudnn = of_cudnn.filter(|rule| !rule.needs.admits(&gpu.cc_version)).cloned().collect();
        kinds.push(GpuKind { gpu: gpu.clone(), cuda: about(Subject::Cuda), driver: about(Subject::Driver), cudnn });
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;
    use crate::solve::modules;

    #[test]
    fn gpus_of_one_kind_have_the_same_modules() {
        let gpu = |row| {
            let row: &'static crate::catalog::rows::Gpu = row;
            let cc_version = Version::parse(&row.cc.to_string()).unwrap();
            let (name, written) = (row.name.to_string(), row.name.to_string());
            GpuRequest { name, written, cc: row.cc, cc_version, row: Some(row), is_instance: false, is_named: true }
        };
        let all: Vec<GpuRequest> = BUILTIN.gpus.iter().map(gpu).collect();
        let rows = |gpu| BUILTIN.modules.iter().map(|row| modules::speaks_of(row, gpu)).collect::<Vec<_>>();
        for one in &all {
            let mut alike = all.iter().filter(|other| other.cc == one.cc && kind(other) == kind(one));
            assert!(alike.all(|other| rows(other) == rows(one)), "{}", one.name);
        }
        // Boards of one capability that another processor tells apart.
        let of = |name: &str| all.iter().find(|gpu| gpu.name.contains(name)).unwrap();
        assert_ne!(rows(of("GH200 144G HBM3e")), rows(of("H200 NVL")));
    }
}
