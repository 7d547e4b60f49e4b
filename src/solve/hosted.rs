//! The releases of a framework that run on a machine as far as that alone tells, whatever is asked for: by its C library,
//! its GPUs and the rules about both.

use std::rc::Rc;

use crate::catalog::rows::{Build, Subject, Text};
use crate::types::Version;

use super::described::Described;
use super::facts::Facts;
use super::framework::Framework;
use super::libraries::{self, compiles_for};
use super::own;
use super::rowset::RowSet;
use super::rules::law;
use super::values::Gpus;

/// Those releases while some rules are set aside; with those of unknown contents only if `unknown`.
pub fn of_machine<'c>(
    facts: &Facts<'c>,
    machine: &Described<'c>,
    framework: &Framework<'c>,
    (off, unknown): (&RowSet, bool),
    kits_for: &dyn Fn(&'c Build) -> Rc<[Version]>,
) -> RowSet {
    let mut rows = RowSet::first(framework.releases.len());
    let hosted = Hosted { facts, machine, framework, off };
    hosted.with_c_library(&mut rows, kits_for);
    if !unknown {
        hosted.read(&mut rows);
    }
    hosted.admitted_by_rules(&mut rows);
    rows
}

struct Hosted<'a, 'c> {
    facts: &'a Facts<'c>,
    machine: &'a Described<'c>,
    framework: &'a Framework<'c>,
    off: &'a RowSet,
}

impl<'c> Hosted<'_, 'c> {
    fn with_c_library(&self, rows: &mut RowSet, kits_for: &dyn Fn(&'c Build) -> Rc<[Version]>) {
        if self.off.has(law::id::GLIBC) {
            return;
        }
        let reading = &self.machine.reading;
        if let Some(has) = reading.glibc {
            rows.subtract(&self.framework.newer_glibc(reading.platform, has));
            self.with_wheels_of_cuda(rows, has, kits_for);
        }
        if reading.os.is_some() || reading.glibc.is_some() {
            let has_musl = reading.os.is_some_and(|os| os.musl);
            let of = |row: usize| self.framework.releases[row].on(reading.platform);
            *rows = rows.filtered(&|row| of(row).is_some_and(own::is_musl) == has_musl);
        }
    }

    /// Those for which some release of what they leave open knows the GPUs and has wheels for the C library.
    fn with_wheels_of_cuda(&self, rows: &mut RowSet, has: Version, kits_for: &dyn Fn(&'c Build) -> Rc<[Version]>) {
        let (facts, machine, framework) = (self.facts, self.machine, self.framework);
        let is_new =
            |text: &Text| text.split(' ').nth(1).is_some_and(|needs| Version::parse(needs).is_ok_and(|it| it > has));
        if !facts.kits().iter().any(|kit| kit.row.newer_glibc.iter().any(is_new)) {
            return;
        }
        *rows = rows.filtered(&|row| {
            let Some(build) = framework.releases[row].on(machine.reading.platform) else { return true };
            let kits = kits_for(build);
            let mut knowing = kits.iter().filter(|kit| compiles_for(facts.catalog, machine, kit)).peekable();
            knowing.peek().is_none() || knowing.any(|kit| libraries::load(facts, machine, self.off, build, kit))
        });
    }

    /// Those whose GPU code is known, and that no rule speaks against which nobody has proven.
    fn read(&self, rows: &mut RowSet) {
        let (machine, framework, on) = (self.machine, self.framework, self.machine.reading.platform);
        if !matches!(machine.reading.gpus, Gpus::These(_)) {
            return;
        }
        rows.subtract(&framework.unknown_code(on));
        for kind in &machine.kinds {
            rows.subtract(&framework.disputed_code(on, kind.gpu.cc));
            let unproven = self.facts.rules.unproven_on(framework.package, &kind.gpu.cc_version);
            for rule in unproven.filter(|rule| !self.off.has(rule.id)) {
                rows.subtract(&framework.within(rule));
            }
        }
    }

    /// Those that the rules about this host and its GPUs admit.
    fn admitted_by_rules(&self, rows: &mut RowSet) {
        let (facts, machine, framework) = (self.facts, self.machine, self.framework);
        let on = machine.reading.platform;
        let holds = |rule: usize| !self.off.has(rule);
        for rule in machine.host.iter().filter(|rule| rule.row.subject == Subject::Package && holds(rule.id)) {
            if rule.row.package.as_deref() == Some(framework.package) && rule.toolkit.is_none() {
                rows.subtract(&framework.within(rule));
            }
        }
        let of_package = facts.rules.of_package(framework.package, Subject::Gpu);
        for kind in &machine.kinds {
            if holds(law::id::COVERAGE) {
                rows.subtract(&framework.uncovered(on, kind.gpu.cc));
            }
            for rule in of_package.iter().filter(|rule| holds(rule.id) && !rule.needs.admits(&kind.gpu.cc_version)) {
                rows.subtract(&framework.within(rule));
            }
            for rule in kind.cuda.iter().filter(|rule| holds(rule.id)) {
                rows.subtract(&framework.refused_line(rule, |line| facts.newest_of(line)));
            }
            for rule in kind.cudnn.iter().filter(|rule| holds(rule.id)) {
                rows.subtract(&framework.refused_cudnn(on, rule));
            }
        }
    }
}
