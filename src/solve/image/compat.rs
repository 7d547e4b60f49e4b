//! The cuda-compat package that an image brings, and the GPUs and drivers that do not take it.

use crate::catalog::Catalog;
use crate::catalog::rows::{Class as Market, Flavour, Image, Text};
use crate::solve::driver_row::DriverRow;
use crate::solve::values::GpuRequest;
use crate::types::Version;
use crate::warning::CompatFails;

/// Why the cuda-compat package of an image fails beside a driver.
pub fn compat_fails<'a>(
    catalog: &'a Catalog,
    image: &Image,
    driver: &DriverRow<'_>,
    gpus: &'a [GpuRequest<'_>],
) -> Option<CompatFails<'a>> {
    if let Some((branch, gpu)) = dropped_by_compat(catalog, image, driver, gpus) {
        return Some(CompatFails::Dropped(branch, gpu));
    }
    if leans_on_compat(image, driver, gpus) {
        return Some(CompatFails::Gpu);
    }
    let cuda = image.cuda.prefix(2);
    let compat = catalog.compats.iter().find(|row| row.cuda == cuda)?;
    let names = compat.bases.iter().any(|base| base.major() == driver.version.major());
    let has_board = gpus.iter().any(GpuRequest::is_datacenter);
    (!names && may_load_compat(image, driver) && has_board).then(|| CompatFails::Branch(driver.version.major()))
}

/// Whether an image is newer than a driver that may start it: it counts on the cuda-compat package that it brings,
/// which is for data-centre GPUs. On others CUDA then fails where the container runtime puts that package first.
fn leans_on_compat(image: &Image, driver: &DriverRow<'_>, gpus: &[GpuRequest<'_>]) -> bool {
    let refuses = |gpu: &GpuRequest<'_>| gpu.row.is_some_and(|row| row.class != Market::Jetson) && !gpu.is_datacenter();
    may_load_compat(image, driver) && gpus.iter().any(refuses)
}

/// Whether a container on a driver may load the cuda-compat package of its image: that is newer than the driver.
pub fn may_load_compat(image: &Image, driver: &DriverRow<'_>) -> bool {
    let newer = driver.branch.cuda.as_ref().is_some_and(|cuda| *cuda < image.cuda.prefix(2));
    holds_compat(image) && newer && driver.compat.is_none()
}

/// Whether an image holds the cuda-compat package of its CUDA. Of those with a torch of their own those do that were made from
/// an image of CUDA: they state what that one states, or nobody has read what, and they hold the compilers.
pub fn holds_compat(image: &Image) -> bool {
    let of_cuda = |require: Text| require.starts_with(|first: char| first.is_ascii_digit());
    match (&image.torch, image.require) {
        (None, require) => require.is_some(),
        (Some(_), Some(require)) => of_cuda(require),
        (Some(_), None) => image.flavour == Flavour::Devel,
    }
}

/// A data-centre board that the cuda-compat package of an image no longer drives, and the branch that this package is of.
fn dropped_by_compat<'a>(
    catalog: &'a Catalog,
    image: &Image,
    driver: &DriverRow<'_>,
    gpus: &'a [GpuRequest<'_>],
) -> Option<(&'a Version, &'a str)> {
    let line = image.cuda.prefix(2);
    let branch = &catalog.compats.iter().find(|row| row.cuda == line)?.branch;
    let is_dropped = |gpu: &&GpuRequest<'_>| {
        gpu.is_datacenter() && gpu.row.is_some_and(|row| row.last_branch.is_some_and(|last| last < *branch))
    };
    let gpu = gpus.iter().find(is_dropped).filter(|_| may_load_compat(image, driver))?;
    Some((branch, &gpu.written))
}
