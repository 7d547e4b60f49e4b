//! Wheels that are taken from the index of a variant: that nobody has seen them there, and what is known of the code that
//! they hold for GPUs where a package does without it as far as it can.

use crate::catalog::Row;
use crate::catalog::rows::{Build, Companion};
use crate::coverage::Coverage;
use crate::solve::fits;
use crate::solve::variants::{self, Code};
use crate::types::variant::line_of;
use crate::types::{Cc, Version};
use crate::warning::{JitOnly, OperatorsMissing, OperatorsOnCpu, UnknownGpuCode, UnseenWheel, Warning};

use super::About;

/// What is said of the wheel of a package.
pub(super) fn warnings(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = unseen(about, row).into_iter().collect();
    if !about.asked.is_cpu() {
        warnings.extend(operators_on_cpu(about, row));
        warnings.extend(own_code(about, row));
        warnings.extend(unsaid(about, row));
    }
    warnings
}

fn key(row: &Companion) -> [String; 1] {
    [format!("stack.{}", row.package)]
}

/// A package that a GPU runs but for what it computes itself, which its wheel for the processor has for the CPU alone.
fn operators_on_cpu(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let arch = about.asked.arch;
    // What leaves out the kernels that it lacks computes nothing on the CPU in their place.
    if row.gpu_code || row.kernels_with.is_some() || !row.cpu_only.contains(&arch) {
        return None;
    }
    let build = about.gpu_builds().find(|build| build.package == row.framework)?;
    let elsewhere = variants::with_code(about.request.catalog, row, &build.variant, arch);
    let operators = OperatorsOnCpu {
        name: &format!("{} {}", row.package, row.version),
        arch: arch.as_str(),
        variant: &build.variant,
        pythons: elsewhere.pythons.as_deref(),
        is_on_index: elsewhere.is_on_index,
        newer: elsewhere.newer.as_ref(),
    };
    Some(Warning::about(&operators, &key(row)))
}

/// A wheel that nobody is known to have seen on its index.
fn unseen(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let unseen = variants::unseen(about.request.catalog, about.target, row)?;
    let name = format!("{} {}", row.package, row.version);
    let wheel = UnseenWheel {
        name: &name,
        variant: &unseen.variant,
        arch: about.asked.arch.as_str(),
        python: about.target.python.map(Version::as_str).zip(unseen.pythons.as_deref()),
        others: &unseen.others,
        older: unseen.older.as_ref(),
    };
    Some(Warning::about(&wheel, &key(row)))
}

/// GPUs for which a wheel holds no code of its own, or only PTX, and those of which that is not known: what the wheel of
/// another variant reaches through PTX may well have machine code here, where the published framework of this variant has it.
fn own_code(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let catalog = about.request.catalog;
    let (mut none, mut jit, mut open, mut read) = (Vec::new(), Vec::new(), Vec::new(), "");
    for gpu in about.asked.named_gpus() {
        // A name that means several boards is told once.
        let name = gpu.written.as_str();
        match variants::own_code(catalog, about.target, row, gpu.cc) {
            Some(Code::Read(Coverage::None)) => none.push(name),
            Some(Code::Read(Coverage::Jit)) => jit.push(name),
            Some(Code::OfOther { coverage: Coverage::Jit, .. }) if has_native(about, row, gpu.cc) => {}
            Some(Code::OfOther { variant, coverage: Coverage::None | Coverage::Jit }) => {
                read = variant;
                open.push(name);
            }
            _ => {}
        }
    }
    [&mut none, &mut jit, &mut open].into_iter().for_each(Vec::dedup);
    let name = format!("{} {}", row.package, row.version);
    let missing = OperatorsMissing::Read { name: &name, gpus: &none };
    let jit_only = JitOnly { what: &name, gpus: &jit };
    let other = UnknownGpuCode::OtherVariant { name: &name, read, gpus: &open };
    let mut warnings = Vec::new();
    warnings.extend((!none.is_empty()).then(|| Warning::about(&missing, &key(row))));
    warnings.extend((!jit.is_empty()).then(|| Warning::about(&jit_only, &key(row))));
    warnings.extend((!open.is_empty()).then(|| Warning::about(&other, &key(row))));
    warnings
}

/// Whether the framework as it is published, in the release and variant of the target, holds machine code for a GPU.
fn has_native(about: &About<'_, '_>, row: &Companion, gpu: Cc) -> bool {
    let catalog = about.request.catalog;
    let Some(chosen) = about.gpu_builds().find(|build| build.package == row.framework) else { return false };
    let is_it = |build: &&Build| {
        build.version == chosen.version
            && build.variant == chosen.variant
            && build.arch == chosen.arch
            && !build.is_own()
    };
    let mut published = catalog.builds.of(&row.framework).iter().filter(is_it);
    published.any(|build| fits::coverage(build, catalog.toolkit_of(build), gpu) == Some(Coverage::Native))
}

/// GPU code of which the row of an overlay says nothing, though it is for a variant with CUDA.
fn unsaid(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let says = row.gpu_code || row.sdist || row.jit || row.arch_source.is_some();
    let is_for_cuda = row.variant.as_deref().is_some_and(|variant| line_of(variant).is_some());
    let is_laid = about.request.catalog.overlaid(&row.id()).is_some();
    let name = format!("{} {}", row.package, row.version);
    let is_told = !says && is_for_cuda && is_laid && !about.asked.named_gpus().is_empty();
    is_told.then(|| Warning::about(&UnknownGpuCode::Unsaid { name: &name }, &key(row)))
}
