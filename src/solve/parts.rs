//! Parts of a package that do not run where the rest of it does.

use std::rc::Rc;

use crate::catalog::rows::{Companion, Flavour, Subject};
use crate::types::{Version, distinct};

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
    /// The toolkit that there is, of another minor release than the CUDA of the framework.
    Toolkit(Version, Version),
}

/// The minor releases of CUDA that may compile on a target beside a framework of a line: that of the toolkit which was
/// chosen, else of those that are there, in its image too.
pub fn compilers(asked: &TargetRequest<'_>, target: &TargetSolution<'_>, line: &Version) -> Vec<Version> {
    let inside = target.image.filter(|image| image.flavour == Flavour::Devel).map(|image| &image.cuda);
    let all = match target.toolkit {
        Some(chosen) => vec![&chosen.version],
        None => asked.toolkits.iter().flatten().chain(inside).collect(),
    };
    let of_major = all.into_iter().filter(|one| one.len() > 1 && one.major() == line.major());
    of_major.map(|one| one.prefix(2)).collect()
}

/// The minor releases of CUDA with which a release compiles beside a framework of a line, in words.
pub fn serving(request: &Request<'_>, rule: &Needs<'_>, release: &Version, line: &Version) -> String {
    let toolkits = request.catalog.toolkits.iter().map(|row| row.version.prefix(2));
    let serving = distinct(toolkits.filter(|cuda| cuda.major() == line.major() && rule.lets(release, cuda, line)));
    match &serving[..] {
        [first, .., last] => format!("CUDA {first} to {last} serve"),
        _ => format!("CUDA {line} serves"),
    }
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
    let line = target.build(&row.framework).and_then(|build| build.line());
    let pinned = || target.builds.iter().find_map(|build| build.cudnn);
    let cudnn = target.cudnn.map(|row| row.version).or_else(pinned).filter(|has| has.major() > 0 && !asked.is_cpu());
    let breaking = |rule: &Needs<'_>| match rule.row.object {
        Subject::Glibc => glibc.filter(|has| !rule.needs.admits(has)).map(Breaking::Glibc),
        Subject::Toolkit => {
            let line = line.filter(|line| line.len() > 1)?;
            let compilers = compilers(asked, target, &line);
            let serves = |cuda: &Version| rule.lets(&row.version, cuda, &line);
            let first = *compilers.first().filter(|_| !compilers.iter().any(serves))?;
            Some(Breaking::Toolkit(first, line))
        }
        Subject::Cudnn => cudnn.filter(|has| !rule.needs.admits(has)).map(Breaking::Cudnn),
        _ => asked.named_gpus().iter().any(|gpu| !rule.needs.admits(&gpu.cc_version)).then_some(Breaking::Gpus),
    };
    let holds = |rule: &&'a Rc<Needs<'c>>| {
        let is_told = rule.range.admits(&row.version) && rule.speaks_of_line(line.as_ref());
        is_told && request.holds(&rule.row.id, &asked.name)
    };
    let objects = [Subject::Glibc, Subject::Gpu, Subject::Cudnn, Subject::Toolkit].into_iter();
    let rules = objects.flat_map(|object| request.rules.of_parts(&row.package, object)).filter(holds);
    rules.filter_map(|rule| Some((&**rule, breaking(rule)?))).collect()
}
