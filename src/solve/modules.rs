//! The two flavours of the driver's kernel modules, and which of them drives a GPU.

use crate::catalog::Catalog;
use crate::catalog::rows::{Class, Module};
use crate::spec::KernelModule;
use crate::types::Version;
use crate::types::constraint::admits;

use super::values::GpuRequest;

/// The rows that leave a GPU one flavour, whatever the driver.
pub fn of_gpu<'c>(catalog: &'c Catalog, gpu: &GpuRequest<'_>) -> impl Iterator<Item = &'c Module> {
    catalog.modules.iter().filter(move |row| row.before.is_none() && speaks_of(row, gpu))
}

/// The rows by which a flavour does not drive a GPU, be it with some drivers only, or without a parameter only.
pub fn against<'c>(
    catalog: &'c Catalog,
    gpu: &GpuRequest<'_>,
    flavour: KernelModule,
) -> impl Iterator<Item = &'c Module> {
    catalog.modules.iter().filter(move |row| row.needs.as_str() != flavour.as_str() && speaks_of(row, gpu))
}

/// Those by which it does not, whatever the parameters.
pub fn refusing<'c>(
    catalog: &'c Catalog,
    gpu: &GpuRequest<'_>,
    flavour: KernelModule,
) -> impl Iterator<Item = &'c Module> {
    against(catalog, gpu, flavour).filter(|row| row.parameter.is_none())
}

/// Whether a row is about a driver.
pub fn is_about(row: &Module, driver: &Version) -> bool {
    row.before.as_ref().is_none_or(|before| driver < before)
}

/// Whether a row is about a GPU.
pub fn speaks_of(row: &Module, gpu: &GpuRequest<'_>) -> bool {
    // Jetson boards have a driver of their own, which comes in one piece with the system.
    let is_of = |class: &Class| gpu.row.is_some_and(|product| product.class == *class);
    let class_fits = row.classes.is_empty() || row.classes.iter().any(is_of);
    let cpu_fits = row.cpu.is_none_or(|cpu| gpu.row.is_some_and(|product| product.cpu == Some(cpu)));
    !gpu.is_jetson() && cpu_fits && class_fits && admits(&row.gpus, &gpu.cc_version)
}
