//! What compiles packages that come as source: what rules say of its toolkit, and host compilers and C libraries with which no
//! toolkit does, though no `[build]` asks for one.

use crate::catalog::rows::{Build, Companion, Flavour, Subject, Toolkit};
use crate::solve::finished::Use;
use crate::solve::fits;
use crate::solve::reading::Reading;
use crate::solve::rowset::RowSet;
use crate::solve::rules::Needs;
use crate::types::{Version, distinct};
use crate::warning::{SourceCompiler, Warning};

use super::About;

/// What rules say of the toolkit with which a package is compiled for the GPUs of a target.
pub(super) fn rules_of<'a>(about: &'a About<'_, '_>, row: &Companion) -> Vec<&'a Needs<'a>> {
    let gpus = || about.asked.named_gpus().iter().map(|gpu| &gpu.cc_version);
    let rules = about.request.rules.of_package(&row.package, Subject::Toolkit);
    rules.iter().filter(|rule| rule.speaks_of(&row.version, gpus(), about.request.archs())).collect()
}

/// A package that comes as source, itself or required by one that was chosen, and that no toolkit which may be there compiles
/// with the target's gcc and C library.
pub(super) fn unfit(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let is_chosen = |one: &Companion| about.target.companions.iter().any(|chosen| chosen.package == one.package);
    let required =
        fits::compiled_when_used(about.request.catalog, row, about.target.arch).filter(|one| !is_chosen(one));
    let by = format!(", which {} {} requires,", row.package, row.version);
    let key = format!("stack.{}", row.package);
    let of_required = required.filter_map(|one| unfit_by(about, one, (&key, &by)));
    unfit_by(about, row, (&key, "")).into_iter().chain(of_required).collect()
}

fn unfit_by(about: &About<'_, '_>, row: &Companion, (key, by): (&str, &str)) -> Option<Warning> {
    let (asked, catalog) = (about.asked, about.request.catalog);
    let build = *about.gpu_builds().find(|build| build.package == row.framework).filter(|_| row.sdist)?;
    let is_taken = about.target.finished_of(&row.package).is_some_and(|finished| finished.use_of == Use::Taken);
    if is_taken || about.request.build.is_some() {
        return None;
    }
    // Of a system that is not listed nothing is known but what its nearest relative has.
    let gcc = asked.own_gcc.filter(|_| !asked.judged.gcc);
    let glibc = asked.glibc.filter(|_| !asked.judged.glibc);
    let compiling = |gcc, glibc| compiling(about, (row, build), gcc, glibc);
    let toolkits = compiling(None, None);
    if toolkits.is_empty() || !compiling(gcc, glibc).is_empty() {
        return None;
    }
    let blamed = gcc.filter(|_| !compiling(None, glibc).is_empty());
    let says = reasons(about, build, &toolkits, [(Subject::Gcc, blamed), (Subject::Glibc, glibc)]);
    let majors = distinct(catalog.oses.iter().filter_map(|os| os.gcc).map(|gcc| gcc.major()));
    let compiles = |major: &u64| {
        let gcc = Version::parse(&major.to_string()).ok();
        gcc.is_some() && !compiling(gcc, glibc).is_empty()
    };
    let serving: Vec<u64> = majors.into_iter().filter(compiles).collect();
    let range = match serving[..] {
        [] => String::new(),
        [only] => only.to_string(),
        [least, .., most] => format!("{least} to {most}"),
    };
    let unfit = SourceCompiler { name: &format!("{} {}{by}", row.package, row.version), says: &says, gcc: &range };
    Some(Warning::about(&unfit, &[key.to_string()]))
}

/// Why none of some toolkits compiles beside a build with what the target has.
fn reasons(
    about: &About<'_, '_>,
    build: &Build,
    toolkits: &[&Toolkit],
    has: [(Subject, Option<Version>); 2],
) -> Vec<String> {
    let asked = about.asked;
    let mut says = Vec::new();
    if let [(_, Some(gcc)), _] = has {
        let os = asked.os.filter(|os| os.gcc == Some(gcc));
        let of = os.map_or_else(|| "The target".to_string(), |os| os.name.to_string());
        says.push(format!("{of} has gcc {gcc}"));
        let most = toolkits.iter().filter_map(|toolkit| Some((toolkit.gcc_max?, toolkit.version.prefix(2)))).max();
        let nvcc = most.filter(|(most, _)| gcc.major() > most.major());
        says.extend(nvcc.map(|(most, line)| format!("nvcc of CUDA {line} accepts gcc up to {most}")));
    }
    let broken = has.into_iter().filter_map(|(object, has)| Some(about.request.rules.breaking(object, has?)));
    for rule in broken.flatten() {
        let is_about = match rule.row.subject {
            Subject::Toolkit => toolkits.iter().any(|toolkit| rule.range.admits(&toolkit.version)),
            _ => rule.row.package.as_deref() == Some(&*build.package) && rule.range.admits(&build.version),
        };
        let binds = is_about && toolkits.iter().any(|toolkit| rule.speaks_of_toolkit(&toolkit.version));
        says.extend(binds.then(|| rule.row.says.trim_end_matches('.').to_string()));
    }
    says
}

/// The toolkits that compile a package beside a build with a gcc and a C library, of those that may be there.
fn compiling<'c>(
    about: &About<'_, 'c>,
    (row, build): (&Companion, &Build),
    gcc: Option<Version>,
    glibc: Option<Version>,
) -> Vec<&'c Toolkit> {
    let (problem, asked) = (about.request.problem, about.asked);
    let machine = problem.machine(Reading { gcc, glibc, ..Reading::clone(&asked.reading) });
    let off = about.request.off_for(&asked.name);
    let is_against = |rule: &&std::rc::Rc<Needs<'c>>| {
        let is_about = rule.row.package.as_deref() == Some(&*build.package) && rule.range.admits(&build.version);
        is_about && rule.row.object == Subject::Gcc && !off.has(rule.id)
    };
    let against: Vec<_> = machine.host.iter().filter(is_against).collect();
    let toolkits = problem.toolkits();
    let mut rows = RowSet::first(toolkits.len());
    machine.refused_toolkits(problem, None).apply(&mut rows, &off);
    let rules = rules_of(about, row);
    let inside = about.target.image.filter(|image| image.flavour == Flavour::Devel).map(|image| &image.cuda);
    let compiles = |toolkit: &&Toolkit| {
        build.line().is_some_and(|line| line.major() == toolkit.version.major())
            && inside.is_none_or(|inside| toolkit.version.cmp_prefix(inside).is_eq())
            && rules.iter().all(|rule| rule.needs.admits(&toolkit.version))
            && !against.iter().any(|rule| rule.speaks_of_toolkit(&toolkit.version))
    };
    rows.rows().map(|row| toolkits[row]).filter(compiles).collect()
}
