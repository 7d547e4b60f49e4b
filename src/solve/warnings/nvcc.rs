//! The nvcc that compiles a package where it is installed or used: of which CUDA it has to be, whether the target has it, and
//! why not.

use crate::catalog::rows::{Build, Companion, Flavour};
use crate::solve::fits;
use crate::types::{Cc, Version, distinct};

use super::About;
use super::compilers::rules_of;

/// Whether nvcc of a CUDA compiles for every GPU of the target, each for itself or for what it loads. What is written less
/// exactly than a release is known, or not at all, is not held against it.
fn unknown_gpu(about: &About<'_, '_>, cuda: &Version) -> Option<Cc> {
    let rows = about.request.catalog.toolkits.iter().filter(|row| row.version.cmp_prefix(cuda).is_eq());
    let rows: Vec<_> = rows.collect();
    let compiles = |cc: Cc| {
        rows.is_empty()
            || rows.iter().any(|row| fits::best_arch(cc, &row.sass, &row.sass, fits::tegra(Some(row))).is_some())
    };
    // With a [build] table the toolkits are held to its list of architectures, or to the GPUs.
    let gpus = about.asked.named_gpus().iter().filter(|_| about.request.build.is_none());
    gpus.map(|gpu| gpu.cc).find(|cc| !compiles(*cc))
}

/// What not every toolkit of a CUDA major meets, in words: ` >=12.9`.
pub(super) fn bounds(about: &About<'_, '_>, row: &Companion, major: u64) -> String {
    // Of what is named it is told whether it serves.
    if let Some(span) = compared(about, row, major).filter(|_| about.asked.toolkits.is_none()) {
        return span;
    }
    let rules = rules_of(about, row);
    let first = Version::parse(&format!("{major}.0")).ok();
    let binding = rules.iter().filter(|rule| first.is_none_or(|first| !rule.needs.admits(&first)));
    let mut bounds: String = binding.map(|rule| format!(" {}", rule.row.needs)).collect();
    let toolkits = about.request.catalog.toolkits.iter().map(|row| row.version);
    let mut of_rules =
        toolkits.filter(|cuda| cuda.major() == major && rules.iter().all(|rule| rule.needs.admits(cuda)));
    let least = of_rules.clone().next();
    let known = of_rules.find(|cuda| unknown_gpu(about, cuda).is_none());
    if let Some(known) = known.filter(|known| least.is_some_and(|least| least < *known)) {
        bounds += &format!(" >={}", known.prefix(2));
    }
    bounds
}

/// The toolkits of a CUDA major that meet all else and that a package takes, in words, where it compares them with its
/// framework's CUDA and takes not all of those.
fn compared(about: &About<'_, '_>, row: &Companion, major: u64) -> Option<String> {
    let line = about.gpu_builds().find(|build| build.package == row.framework)?.line().filter(|line| line.len() > 1)?;
    let toolkits = about.request.catalog.toolkits.iter().map(|toolkit| toolkit.version);
    let all = toolkits.filter(|cuda| meets(about, row, major, cuda) && unknown_gpu(about, cuda).is_none());
    let all = distinct(all.map(|cuda| cuda.prefix(2)));
    let taken: Vec<Version> = all.iter().copied().filter(|cuda| about.request.rules.takes(row, cuda, &line)).collect();
    match &taken[..] {
        taken if taken.len() == all.len() => None,
        [only] => Some(format!(" =={only}")),
        [first, .., last] => Some(format!(" >={first},<={last}")),
        [] => None,
    }
}

/// Whether the target is known to have an nvcc of a CUDA major that compiles a package: an image that holds one, or a
/// toolkit that is named or was chosen.
pub(super) fn has_compiler(about: &About<'_, '_>, row: &Companion, major: u64) -> bool {
    let in_image = about.target.image.filter(|image| image.flavour == Flavour::Devel).map(|image| &image.cuda);
    let chosen = about.target.toolkit.map(|toolkit| &toolkit.version);
    let mut all = about.asked.toolkits.iter().flatten().chain(in_image).chain(chosen);
    all.any(|cuda| meets(about, row, major, cuda) && unknown_gpu(about, cuda).is_none())
}

/// Whether a toolkit is of the CUDA major and what rules say of a package admits it.
fn meets(about: &About<'_, '_>, row: &Companion, major: u64, cuda: &Version) -> bool {
    cuda.major() == major && rules_of(about, row).iter().all(|rule| rule.needs.admits(cuda))
}

/// Why the target has no toolkit of a CUDA major, as far as gpuenv.toml and its image tell.
pub(super) fn without_toolkit(about: &About<'_, '_>, row: &Companion, major: u64) -> Option<String> {
    if has_compiler(about, row, major) {
        return None;
    }
    let blamed = |cuda: &Version| unknown_gpu(about, cuda).filter(|_| meets(about, row, major, cuda));
    // A wheel that compiles kernels when they are used asks no extension builder, which would refuse another major.
    let rules = rules_of(about, row);
    let is_other_major = |cuda: &Version| {
        row.jit
            && !row.sdist
            && cuda.major() != major
            && rules.iter().all(|rule| rule.needs.admits(cuda))
            && unknown_gpu(about, cuda).is_none()
    };
    if let Some(installed) = &about.asked.toolkits {
        let why = match installed.iter().find_map(blamed) {
            Some(gpu) => does_not_know(gpu),
            None if installed.iter().any(is_other_major) => {
                "of another major, with which it may or may not compile".to_string()
            }
            None => "with which it is not compiled".to_string(),
        };
        return Some(format!("the target has CUDA {} only, {why}", listed(installed)));
    }
    let Some(image) = about.target.image else {
        // Where no nvcc is known, the CUDA of the framework counts: its compilers are for that, and some ask it for their own.
        let refuses = |line: Version| rules_of(about, row).iter().any(|rule| !rule.needs.admits(&line));
        let newest = |build: &Build| Some(about.request.problem.newest_of(build.line()?));
        let mut lined = about.gpu_builds().filter_map(|build| Some((build, newest(build)?)));
        let (build, line) = lined.find(|(_, line)| refuses(*line) || blamed(line).is_some())?;
        let why = blamed(&line).map_or("with which it is not compiled".to_string(), does_not_know);
        return Some(format!("{} is built for CUDA {line}, {why}", build.named()));
    };
    let name = format!("{}:{}", image.repository, image.tag);
    Some(match (image.flavour, blamed(&image.cuda)) {
        (Flavour::Devel, None) => format!("the nvcc in {name} is of CUDA {}", image.cuda),
        (Flavour::Devel, Some(cc)) => format!("{name} holds CUDA {}, {}", image.cuda, does_not_know(cc)),
        _ if row.sdist => format!("{name} holds no nvcc (a devel image does, and what one compiled runs here too)"),
        _ => format!("{name} holds no nvcc (a devel image does)"),
    })
}

fn does_not_know(cc: Cc) -> String {
    format!("whose nvcc does not know sm_{}", cc.number())
}

/// Toolkits in words: `11.8, 12.4`.
pub(super) fn listed(toolkits: &[Version]) -> String {
    let names: Vec<&str> = toolkits.iter().map(Version::as_str).collect();
    names.join(", ")
}
