//! Parts of a package that do not run where the rest of it does.

use std::rc::Rc;

use crate::catalog::rows::{Companion, Subject};
use crate::types::Version;

use super::request::{Request, TargetRequest};
use super::rules::Needs;
use super::solution::TargetSolution;

/// What leaves a package without one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaking {
    /// The C library that there is.
    Glibc(Version),
    /// The cuDNN that is loaded.
    Cudnn(Version),
    /// GPUs of the target.
    Gpus,
}

/// The rules by which a part of a package does not run on a target, and what breaks each.
pub fn broken<'a, 'c>(
    request: &'a Request<'c>,
    asked: &TargetRequest<'_>,
    target: &TargetSolution<'_>,
    row: &'a Companion,
) -> Vec<(&'a Needs<'c>, Breaking)> {
    let of_image = || request.catalog.os_of_image(target.image?)?.glibc;
    let glibc = asked.glibc.or_else(of_image).filter(|_| !asked.is_cpu());
    let line = target.builds.iter().find(|build| *build.package == *row.framework).and_then(|build| build.line());
    let pinned = || target.builds.iter().find_map(|build| build.cudnn);
    let cudnn = target.cudnn.map(|row| row.version).or_else(pinned).filter(|has| has.major() > 0 && !asked.is_cpu());
    let breaking = |rule: &Needs<'_>| match rule.row.object {
        Subject::Glibc => glibc.filter(|has| !rule.needs.admits(has)).map(Breaking::Glibc),
        Subject::Cudnn => cudnn.filter(|has| !rule.needs.admits(has)).map(Breaking::Cudnn),
        _ => asked.named_gpus().iter().any(|gpu| !rule.needs.admits(&gpu.cc_version)).then_some(Breaking::Gpus),
    };
    let holds = |rule: &&'a Rc<Needs<'c>>| {
        let is_told = rule.range.admits(&row.version) && rule.speaks_of_line(line.as_ref());
        is_told && request.holds(&rule.row.id, &asked.name)
    };
    let objects = [Subject::Glibc, Subject::Gpu, Subject::Cudnn].into_iter();
    let rules = objects.flat_map(|object| request.rules.of_parts(&row.package, object)).filter(holds);
    rules.filter_map(|rule| Some((&**rule, breaking(rule)?))).collect()
}
