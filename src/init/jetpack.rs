//! Which JetPack a Jetson has: its driver and its CUDA come with it, and wheels are made for some releases of it.

use crate::catalog::rows::Os;
use crate::catalog::{Catalog, OsMatch};
use crate::host::{Record, System, tegra};
use crate::types::Version;

/// What is known of it.
pub(super) enum Jetpack<'c> {
    /// The one that it has; the others that it may be, which differ in nothing that is told.
    Known(&'c Os, Vec<&'c Os>),
    /// One of these.
    Open(Vec<&'c Os>),
    /// Nothing: this is no Jetson, or none with a JetPack.
    None,
}

/// The JetPack of a host that is one by its kernel: by its release, else by the system that it is based on and by the
/// CUDA of its driver or its toolkit.
pub(super) fn of<'c>(record: &Record, catalog: &'c Catalog) -> Jetpack<'c> {
    let platform = &record.platform;
    // In a container `os` is that of the image.
    if platform.system != Some(System::Tegra) || platform.container.is_some() {
        return Jetpack::None;
    }
    let glibc = match (&platform.os, platform.os.as_ref().map(|os| catalog.os(os))) {
        (_, Some(OsMatch::Found(row))) if row.cuda.is_some() => return Jetpack::Known(row, Vec::new()),
        (_, Some(OsMatch::Found(row))) => row.glibc,
        (Some(os), _) if os.starts_with(tegra::PREFIX) => return Jetpack::Open(of_line(os, catalog)),
        (Some(_), _) => return Jetpack::None,
        (None, _) => platform.glibc,
    };
    let is_based = |row: &&Os| row.cuda.is_some() && glibc.is_none_or(|glibc| row.glibc == Some(glibc));
    let mut rows: Vec<&Os> = catalog.oses.iter().filter(is_based).collect();
    for cuda in cudas(record) {
        if rows.iter().any(|row| row.cuda == Some(cuda)) {
            rows.retain(|row| row.cuda == Some(cuda));
        }
    }
    match rows.split_last() {
        None => Jetpack::None,
        Some((last, others)) if others.iter().all(|row| row.cuda == last.cuda) => Jetpack::Known(last, others.to_vec()),
        Some(_) => Jetpack::Open(rows),
    }
}

/// The JetPacks with Jetson Linux of the same first number.
fn of_line<'c>(release: &str, catalog: &'c Catalog) -> Vec<&'c Os> {
    let line = release.split_inclusive('.').next().unwrap_or(release);
    catalog.oses.iter().filter(|row| row.aliases.iter().any(|alias| alias.starts_with(line))).collect()
}

/// The releases of CUDA that the driver, the toolkits and torch tell of, as the catalog writes those of drivers.
fn cudas(record: &Record) -> Vec<Version> {
    let drivers = [
        record.libcuda.as_ref().and_then(|libcuda| libcuda.cuda.as_ref()),
        record.nvml.as_ref().and_then(|nvml| nvml.cuda.as_ref()),
    ];
    let toolkits = record.toolkits.iter().filter_map(|one| one.version.as_ref().or(one.nvcc.as_ref()));
    let torch = record.python.as_ref().and_then(|python| python.torch.as_ref()?.cuda.as_ref());
    drivers.into_iter().flatten().chain(toolkits).chain(torch).map(|version| version.prefix(2)).collect()
}

/// Why nothing can be written of a Jetson before somebody says which JetPack it has, and what can be said; none where
/// that is known.
pub fn open_jetpack(record: &Record, catalog: &Catalog) -> Option<(String, String)> {
    let Jetpack::Open(rows) = of(record, catalog) else { return None };
    let release = record.platform.os.as_ref().filter(|os| os.starts_with(tegra::PREFIX));
    let why = match release {
        Some(release) => format!("that machine is a Jetson with {release}, of which the catalog knows no JetPack"),
        None => "that machine is a Jetson, and what was told of it does not say which JetPack it has".to_string(),
    };
    let names: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
    let nearest =
        if names.is_empty() { "one that is near".to_string() } else { format!("one of {}", names.join(", ")) };
    Some((why, format!("add --os with {nearest}: driver and CUDA come with the JetPack")))
}
