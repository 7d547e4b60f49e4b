//! What frameworks share in one environment: each NVIDIA library lies there once, so they must be of one CUDA major and
//! agree on what they ask pip for; and where they ask for a least cuDNN, the one to be installed must serve every GPU.

use crate::catalog::rows::{Build, Cudnn, Pins, line_of};
use crate::words::{Constraint, Version};

use super::class::Class;
use super::fits;
use super::platform::Platform;
use super::question::Question;
use super::release::Release;
use super::rulebook::law;

/// Whether two frameworks go into one environment on a class's machines.
pub fn together(question: &Question<'_>, class: &Class<'_, '_>, one: &Release<'_>, other: &Release<'_>) -> bool {
    let platform = class.target.platform;
    let (Some(line), Some(beside)) = (&one.line, &other.line) else { return true };
    let Some((a, b)) = one.on(platform).zip(other.on(platform)) else { return true };
    line.major() == beside.major() && agree(a, b) || !question.holds(law::TOGETHER, &class.target.name)
}

/// Whether pip finds libraries that both builds accept.
fn agree(a: &Build, b: &Build) -> bool {
    let parts = [(&a.toolkit, &b.toolkit), (&a.cudnn, &b.cudnn), (&a.nccl, &b.nccl)];
    let asked = parts.into_iter().filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
    match (a.pins, b.pins) {
        (Some(Pins::Exact), Some(Pins::Exact)) => asked.into_iter().all(|(a, b)| a == b),
        (Some(Pins::Exact), Some(Pins::AtLeast)) => asked.into_iter().all(|(a, b)| a >= b),
        (Some(Pins::AtLeast), Some(Pins::Exact)) => asked.into_iter().all(|(a, b)| b >= a),
        _ => true,
    }
}

/// What of two releases decides whether they go together: releases equal in this go with the same others.
pub fn kind<'c>(platform: Platform<'_>, release: &Release<'c>) -> (&'c str, Option<Pins>, [Option<&'c Version>; 3]) {
    let build = release.on(platform);
    let parts = build.map(|build| [build.toolkit.as_ref(), build.cudnn.as_ref(), build.nccl.as_ref()]);
    (release.variant, build.and_then(|build| build.pins), parts.unwrap_or_default())
}

/// Whether a build leaves its cuDNN open: it names the oldest that serves and takes any newer, from pip or from the
/// system.
pub fn takes_newer(build: &Build) -> bool {
    build.pins == Some(Pins::AtLeast) || build.system_cuda
}

/// The cuDNN releases that a build accepts, where it takes any newer than one; newest first. From the system it loads
/// the library by the name of its major.
pub fn accepted<'c>(question: &Question<'c>, build: &Build) -> Option<impl Iterator<Item = &'c Cudnn>> {
    let least = build.cudnn.filter(|_| takes_newer(build))?;
    let line = line_of(&build.variant)?;
    let newest_first = question.catalog.cudnns.iter().rev();
    let any_major = !build.system_cuda;
    Some(newest_first.filter(move |row| {
        let same_major = row.version.major() == least.major();
        row.version >= least && (any_major || same_major) && line.cmp_prefix(&row.cuda).is_eq()
    }))
}

/// Whether a build runs with some cuDNN that is asked for on every GPU of a class. Where nothing is known, it does.
pub fn some_cudnn(question: &Question<'_>, class: &Class<'_, '_>, build: &Build) -> bool {
    let wanted = question.cudnn.as_ref();
    let asked = |row: &&Cudnn| wanted.is_none_or(|wanted| wanted.admits(&row.version));
    accepted(question, build)
        .is_none_or(|mut rows| rows.any(|row| asked(&row) && fits::cudnn_serves(class, &row.version)))
}

/// Whether the cuDNN that pip would take must be replaced by another: by the user's wish, or for some GPU's sake.
pub fn must_choose(question: &Question<'_>, classes: &[&Class<'_, '_>], release: &Release<'_>) -> bool {
    let asked = question.cudnn.as_ref().is_some_and(|wanted: &Constraint| !wanted.is_any());
    classes.iter().any(|class| {
        let newest = release.on(class.target.platform).and_then(|build| accepted(question, build)?.next());
        newest.is_some_and(|newest| asked || !fits::cudnn_serves(class, &newest.version))
    })
}

/// Whether a release runs with a cuDNN: that which it brings, or any it accepts.
pub fn runs_with(question: &Question<'_>, platform: Platform<'_>, release: &Release<'_>, cudnn: &Cudnn) -> bool {
    let Some(build) = release.on(platform).filter(|_| !release.is_cpu()) else { return true };
    match accepted(question, build) {
        Some(mut rows) => rows.any(|row| std::ptr::eq(row, cudnn)),
        None => build.pins.is_none() || build.cudnn.is_none_or(|own| own == cudnn.version),
    }
}
