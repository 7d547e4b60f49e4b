//! What runs in an image by itself, and the cuDNN that packages find in it: judged alike where an image is chosen and where
//! one that is there is warned of.

use crate::catalog::rows::{Build, Companion, Image, TORCH};
use crate::coverage::Coverage;
use crate::types::Version;

use super::bundled_torch;
use super::described::GpuKind;
use super::driver::{self, DriverNeed, Jit};
use super::driver_row::DriverRow;
use super::fits;
use super::image::{self, CudnnInside};
use super::machine::Machine;
use super::problem::Problem;
use super::rowset::RowSet;
use super::rules::Needs;

/// What a stack brings of its own, beside which an image's counts for nothing.
#[derive(Debug, Clone, Copy)]
pub struct Brings {
    /// A torch.
    pub torch: bool,
    /// A CUDA, be it of frameworks, of the system or to compile with.
    pub cuda: bool,
}

/// What of an image computes where the stack brings nothing in its place: its torch, else its CUDA.
#[derive(Debug, Clone, Copy)]
pub struct OwnCuda<'c> {
    /// The line of its CUDA.
    pub line: Version,
    /// The build of torch that it holds, where that is known.
    pub torch: Option<&'c Build>,
    /// What it needs of a driver.
    pub need: DriverNeed,
}

/// Whether an image has some; not where the stack brings its own.
pub fn is_own(image: &Image, brings: Brings) -> bool {
    if image.torch.is_some() { !brings.torch } else { !brings.cuda }
}

/// That of an image.
pub fn own_cuda<'c>(
    problem: &Problem<'c>,
    machine: &Machine<'c>,
    image: &Image,
    brings: Brings,
) -> Option<OwnCuda<'c>> {
    if !is_own(image, brings) {
        return None;
    }
    let line = image.cuda.prefix(2);
    let Some(inside) = image.torch.as_deref() else {
        let need = DriverNeed::Line(image.cuda, Jit::Nothing);
        return Some(OwnCuda { line, torch: None, need });
    };
    let known = problem.framework(TORCH).and_then(|torch| {
        let mut releases = torch.releases.iter().enumerate();
        releases.find_map(|(row, release)| {
            let build = release.on(machine.reading.platform)?;
            bundled_torch::is_inside(image, inside, build).then(|| (build, machine.needs_of(torch).of(row)))
        })
    });
    let need = known.map_or(DriverNeed::Line(line, Jit::Nothing), |(_, need)| need);
    Some(OwnCuda { line, torch: known.map(|(build, _)| build), need })
}

impl<'c> OwnCuda<'c> {
    /// The first of some GPUs for which its torch is known to hold no code.
    pub fn lacks_code<'a>(&self, problem: &Problem<'c>, gpus: &'a [GpuKind<'c>]) -> Option<&'a GpuKind<'c>> {
        let torch = self.torch?;
        let toolkit = problem.catalog.toolkit_of(torch);
        gpus.iter().find(|kind| fits::coverage(torch, toolkit, kind.gpu.cc) == Some(Coverage::None))
    }

    /// Whether it computes on the GPUs of a machine.
    pub fn runs_on(&self, problem: &Problem<'c>, machine: &Machine<'c>, off: &RowSet) -> bool {
        machine.takes_line(&self.line, off) && self.lacks_code(problem, &machine.kinds).is_none()
    }

    /// A driver as it runs this: alone, or where hosts have it with the cuda-compat package of the image before it.
    pub fn driven(
        &self,
        (problem, machine): (&Problem<'c>, &Machine<'c>),
        off: &RowSet,
        image: &Image,
        driver: &DriverRow<'c>,
    ) -> Option<DriverRow<'c>> {
        if driver::met_by(problem, self.need, off)(driver) {
            return Some(driver.clone());
        }
        let (catalog, asked) = (problem.catalog, &machine.reading);
        let may = asked.forward_compat && asked.pins_driver() && machine.may_use_compat(off);
        let is_loaded = may
            && image::may_load_compat(image, driver)
            && image::compat_fails(catalog, image, driver, asked.named_gpus()).is_none();
        let is_base = |base: &Version| base.major() == driver.version.major() && *base <= driver.version;
        let compat = catalog.compats.iter().find(|row| row.cuda == self.line).filter(|_| is_loaded)?;
        compat.bases.iter().any(is_base).then(|| DriverRow { compat: Some(compat), ..driver.clone() })
    }
}

/// Every cuDNN that a package may find.
#[derive(Debug)]
pub struct Cudnns<'a, 'c> {
    /// The facts about images.
    pub problem: &'a Problem<'c>,
    /// Those that wheels bring.
    pub brought: Vec<&'a Version>,
    /// The one that is installed on the machine.
    pub installed: Option<&'a Version>,
}

impl Cudnns<'_, '_> {
    /// Whether a package finds one that a rule asks for, with those that an image holds. What it opens by a name without a version
    /// no wheel brings.
    pub fn inside(&self, row: &Companion, rule: &Needs<'_>, image: Option<&Image>) -> CudnnInside {
        let brought = self.brought.iter().filter(|_| opened(row).all(|file| !is_cudnn(file)));
        let mut there = brought.copied().chain(self.installed);
        match image {
            _ if there.any(|has| rule.needs.admits(has)) => CudnnInside::Serves,
            Some(image) => image::cudnn_inside(self.problem.catalog, image, &rule.needs),
            None => CudnnInside::Lacks,
        }
    }
}

/// The libraries that a package opens by names without a version: those are of a toolkit or a cuDNN as compilers take them, and
/// no wheel has them, nor is what was loaded as `libcublas.so.12` found by them.
pub fn opened(row: &Companion) -> impl Iterator<Item = &str> {
    row.loads.iter().map(|file| &**file).filter(|file| file.ends_with(".so"))
}

/// Whether a library is one of cuDNN's.
pub fn is_cudnn(file: &str) -> bool {
    file.starts_with("libcudnn")
}
