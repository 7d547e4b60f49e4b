//! What fails on a GPU although a build's own kernels run there: a library of CUDA that the build brings along, and what its
//! Triton compiles.

use std::rc::Rc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, FRAMEWORKS, Ptxas, Subject, TORCH};
use crate::types::{Arch, Version};

use super::facts::Facts;
use super::fits;
use super::request::{Request, TargetRequest};
use super::rules::{Needs, Rules};
use super::values::GpuRequest;

/// The libraries of CUDA that a build brings, and that are older than a GPU at times on which its own kernels run.
const LIBRARIES: [Subject; 3] = [Subject::Cufft, Subject::Nvrtc, Subject::Cublas];

/// What is compiled against CUDA itself.
pub const CUDA: &str = "CUDA";

/// How much of a build is known to fail on a GPU on which it runs.
pub fn failures_on(facts: &Facts<'_>, build: &Build, gpu: &GpuRequest<'_>) -> usize {
    let what = (&*build.package, &build.version);
    let of_library = |library: &Subject| {
        brought_line(build).is_some_and(|line| against_library(&facts.rules, *library, what, &line, gpu).is_some())
    };
    let of_triton = |triton: &Version| {
        against_triton(&facts.rules, triton, gpu).is_some() || assembler_too_old(facts.catalog, triton, gpu).is_some()
    };
    LIBRARIES.iter().filter(|library| of_library(library)).count()
        + usize::from(build.triton.as_ref().is_some_and(of_triton))
}

/// The CUDA line of the libraries that a build brings along; none where it brings none.
pub fn brought_line(build: &Build) -> Option<Version> {
    Some(build.line().filter(|_| build.pins.is_some() || build.package == TORCH)?.prefix(2))
}

/// The rule by which a library of a CUDA line does not run on a GPU for what loads it, a package and its release. What names
/// no package is of whatever loads it, but packages beside the frameworks use a few libraries each.
pub fn against_library<'a, 'c>(
    rules: &'a Rules<'c>,
    library: Subject,
    (package, release): (&str, &Version),
    line: &Version,
    gpu: &GpuRequest<'_>,
) -> Option<&'a Rc<Needs<'c>>> {
    rules.about(library, line, Subject::Gpu).find(|rule| {
        let is_it = |named: &str| named == package;
        rule.row.package.as_deref().map_or(package == CUDA || FRAMEWORKS.contains(&package), is_it)
            && rule.row.until.is_none_or(|first| *release < first)
            && (rule.row.boards.is_empty() || gpu.row.is_some_and(|row| rule.row.boards.contains(&row.name)))
            && !rule.needs.admits(&gpu.cc_version)
    })
}

/// The rule by which a release of Triton generates no code that runs on a GPU.
pub fn against_triton<'a, 'c>(
    rules: &'a Rules<'c>,
    triton: &Version,
    gpu: &GpuRequest<'_>,
) -> Option<&'a Rc<Needs<'c>>> {
    rules.about(Subject::Triton, triton, Subject::Gpu).find(|rule| !rule.needs.admits(&gpu.cc_version))
}

/// Why torch.compile of a build does not run with a line of Python.
pub enum Uncompiled<'a, 'c> {
    /// torch refuses the line.
    Refused(&'a Rc<Needs<'c>>),
    /// It brings no Triton for it.
    NoTriton(&'c Version),
}

/// Why torch.compile of a build does not run on a target with a line of Python, to be asked for each; none if it does, or does
/// with no Python, since Triton runs on none of the GPUs.
pub fn uncompiled<'a, 'c>(
    request: &'a Request<'c>,
    build: &'c Build,
    target: &TargetRequest<'_>,
) -> impl Fn(&Version) -> Option<Uncompiled<'a, 'c>> {
    let rules = request.rules;
    let compiles =
        build.package == TORCH && build.triton.as_ref().is_none_or(|triton| !never_compiles(rules, triton, target));
    // A nightly is judged as the release that it precedes.
    let release = build.version.release();
    let holds = |rule: &&Rc<Needs<'_>>| rule.range.admits(&release) && request.holds(&rule.row.id, &target.name);
    let refusing: Vec<&Rc<Needs<'_>>> = match compiles {
        true => rules.between(Subject::Compile, Subject::Python).filter(holds).collect(),
        false => Vec::new(),
    };
    let triton = build.triton.as_ref().filter(|_| compiles && !target.is_cpu());
    let there = fits::triton_by_python(request.catalog, build);
    move |line| {
        let refused = refusing.iter().find(|rule| !rule.needs.admits(line));
        let missing = || triton.filter(|_| there(Some(line)).is_none()).map(Uncompiled::NoTriton);
        refused.map(|rule| Uncompiled::Refused(rule)).or_else(missing)
    }
}

/// Whether Triton runs on none of a target's GPUs.
fn never_compiles(rules: &Rules<'_>, triton: &Version, target: &TargetRequest<'_>) -> bool {
    let gpus = target.named_gpus();
    !gpus.is_empty() && gpus.iter().all(|gpu| against_triton(rules, triton, gpu).is_some())
}

/// The assembler that a release of Triton brings, where it is from before a GPU.
pub fn assembler_too_old<'c>(catalog: &'c Catalog, triton: &Version, gpu: &GpuRequest<'_>) -> Option<&'c Ptxas> {
    let row = catalog.ptxases.iter().find(|row| row.triton == *triton)?;
    let (line, arch) = (row.release_for(gpu.cc).prefix(2), Arch::base(gpu.cc));
    let mut of_line = catalog.toolkits.iter().filter(|kit| kit.version.cmp_prefix(&line).is_eq()).peekable();
    let newest_knows = catalog.toolkits.last().is_some_and(|kit| kit.sass.contains(&arch));
    let is_before = newest_knows && of_line.peek().is_some() && of_line.all(|kit| !kit.sass.contains(&arch));
    is_before.then_some(row)
}
