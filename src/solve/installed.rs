//! What is already there on a machine, and which drivers it goes with: a cuda-compat package, a flavour of kernel modules,
//! what an image asks for.

use crate::catalog::rows::{Branch, Class, Compat};
use crate::types::Version;
use crate::types::require::{Requirement, Subject};

use super::demand::DemandKey;
use super::described::{Described, Refusals};
use super::driver_row::DriverRow;
use super::facts::Facts;
use super::image;
use super::modules;
use super::rowset::RowSet;
use super::rules::law;
use super::values::{DriverRequest, GpuRequest, Told};

/// A driver with the libcuda that is loaded beside an installed package: on GPUs that are known to take it the package's.
pub(super) fn beside<'c>(machine: &Described<'c>, row: DriverRow<'c>) -> DriverRow<'c> {
    let asked = &machine.reading;
    let usable = asked.forward_compat && machine.may_use_compat(&RowSet::default());
    let loaded = asked.compat.filter(|compat| usable && is_loaded(compat, &row));
    DriverRow { compat: loaded, installed: loaded.is_some(), ..row }
}

/// Whether a package's libcuda is the newer one, so that it is what a process loads.
pub fn is_loaded(compat: &Compat, row: &DriverRow<'_>) -> bool {
    !row.windows && compat.branch.major() > row.version.major()
}

/// Whether a GPU is known to refuse the libcuda of a package.
pub fn is_refused_by(gpu: &GpuRequest<'_>) -> bool {
    gpu.row.is_some_and(|row| matches!(row.class, Class::Geforce | Class::Titan))
}

/// The patch level of its branch below which a driver does not take a package; none where it does, or nobody knows.
pub fn least_base<'c>(compat: &'c Compat, driver: &Version) -> Option<&'c Version> {
    compat.bases.iter().find(|base| base.major() == driver.major() && *base > driver)
}

/// Whether a package's branches name that of a driver.
pub fn names_branch(compat: &Compat, driver: &Version) -> bool {
    compat.bases.iter().any(|base| base.major() == driver.major())
}

/// The drivers that do not go with what is installed.
pub(super) fn refuse<'c>(facts: &Facts<'c>, machine: &Described<'c>, rows: &[DriverRow<'c>], refusals: &mut Refusals) {
    let asked = &machine.reading;
    if let Some(compat) = asked.compat {
        let refused = machine.kinds.iter().any(|kind| is_refused_by(&kind.gpu));
        let fails = |row: &DriverRow| {
            // Of a driver that is there it may be unknown whether it takes the package, but none is chosen so.
            let unknown = !asked.pins_driver() && !names_branch(compat, &row.version);
            let below = row.compat.is_some() && (unknown || least_base(compat, &row.version).is_some());
            is_loaded(compat, row) && (refused || below)
        };
        refusals.add(law::id::COMPAT_INSTALLED, RowSet::filter(rows.len(), |row| fails(&rows[row])));
    }
    if let Some(flavour) = asked.kernel_module {
        let catalog = facts.catalog;
        for row in machine.kinds.iter().flat_map(|kind| modules::refusing(catalog, &kind.gpu, flavour)) {
            let refused = RowSet::filter(rows.len(), |at| modules::is_about(row, &rows[at].version));
            refusals.add(law::id::KERNEL_MODULE, refused);
        }
    }
    if asked.image_requires.is_some() {
        let starts = image::starts_on(facts, machine, DemandKey::Written);
        let refused = RowSet::filter(rows.len(), |row| match &asked.driver {
            // What the hosts show counts, be it newer than what any branch is known to show.
            DriverRequest::Cuda(judged, Told::Key(written)) if judged < written => {
                let branch = Branch { cuda: Some(*written), ..rows[row].branch.clone() };
                !starts(&DriverRow { branch: &branch, ..rows[row].clone() })
            }
            _ => !starts(&rows[row]),
        });
        refusals.add(law::id::IMAGE_REQUIRE, refused);
    }
}

/// The first driver at or above each that a written requirement names: there its answer can change.
pub(super) fn turning_points<'c>(facts: &Facts<'c>, machine: &Described<'c>) -> Vec<&'c Version> {
    let Some(text) = &machine.reading.image_requires else { return Vec::new() };
    let drivers = &facts.catalog.drivers;
    let first = |bound: Version| drivers.iter().find(|row| row.version >= bound && !row.beta).map(|row| &row.version);
    let named = Requirement::parse(text);
    let of_driver = named.bounds().filter(|(subject, _)| *subject == Subject::Driver);
    of_driver.filter_map(|(_, bound)| first(bound)).collect()
}
