//! What a machine needs beside its driver: services that go with some boards, the container toolkit that serves them, and
//! what Linux inside Windows does without.

use crate::catalog::Catalog;
use crate::catalog::rows::{Place, Service};
use crate::spec::Runtime;
use crate::types::Version;
use crate::types::constraint::admits;

use super::request::{GpuRequest, TargetRequest};

/// The rows that speak of a target's machines, judged at some driver, in the order of the catalog.
pub fn of_target<'c>(catalog: &'c Catalog, asked: &TargetRequest<'_>, driver: Option<&Version>) -> Vec<&'c Service> {
    let rows = catalog.services.iter();
    let is_of = |row: &Service| is_of_driver(row, driver) && (names_none(row) || boards(row, asked).next().is_some());
    rows.filter(|row| is_place(row, asked) && is_of(row)).collect()
}

/// The rows that speak of some boards of a family that is named, and not of all of them.
pub fn of_some<'c>(catalog: &'c Catalog, asked: &TargetRequest<'_>) -> Vec<&'c Service> {
    let some =
        |row: &Service| asked.named_gpus().iter().any(|gpu| speaks_of(row, gpu)) && boards(row, asked).next().is_none();
    catalog.services.iter().filter(|row| row.needs.is_some() && is_place(row, asked) && some(row)).collect()
}

/// Whether a row is about drivers alone, whatever the board.
fn names_none(row: &Service) -> bool {
    row.boards.is_empty() && row.gpus.is_none()
}

/// Whether a row speaks of the driver that a target was judged at.
fn is_of_driver(row: &Service, driver: Option<&Version>) -> bool {
    let Some(range) = &row.drivers else { return true };
    driver.is_some_and(|driver| admits(range, driver))
}

/// The boards of a target that a row speaks of. A name that means other products as well may mean one of those.
pub fn boards<'a, 'c>(row: &'a Service, asked: &'a TargetRequest<'c>) -> impl Iterator<Item = &'a GpuRequest<'c>> {
    let all = asked.named_gpus();
    let surely = move |gpu: &&GpuRequest| {
        let meant = || all.iter().filter(|one| one.written == gpu.written);
        let named = meant().any(|one| one.is_named);
        gpu.is_named || meant().all(|one| speaks_of(row, one) || named && !one.is_named)
    };
    all.iter().filter(|gpu| speaks_of(row, gpu)).filter(surely)
}

fn speaks_of(row: &Service, gpu: &GpuRequest<'_>) -> bool {
    if let Some(range) = &row.gpus {
        return admits(range, &gpu.cc_version);
    }
    gpu.row.is_some_and(|product| row.boards.contains(&product.name))
}

fn is_place(row: &Service, asked: &TargetRequest<'_>) -> bool {
    match row.place {
        Place::Host => !asked.windows_driver,
        Place::Container => asked.runtime == Runtime::Container && !asked.windows_driver,
        Place::Wsl2 => asked.windows_driver,
        Place::Wsl2Container => asked.runtime == Runtime::Container && asked.windows_driver,
    }
}
