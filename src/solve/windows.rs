//! The driver of Windows, which Linux inside it uses: its releases are numbered by themselves, within the same branches.

use crate::catalog::Catalog;
use crate::catalog::rows::{Place, Service, WindowsDriver};
use crate::types::constraint::admits;
use crate::types::{Constraint, Version, distinct};

use super::rules::Needs;

/// The oldest driver of Windows for the lines of CUDA that a rule speaks of: what does for a whole major, else the oldest
/// of the line's releases. None where the release notes name none.
pub fn floor<'c>(catalog: &'c Catalog, rule: &Needs<'_>) -> Option<&'c WindowsDriver> {
    let of_major = catalog.windows_drivers.iter().find(|row| row.cuda.len() == 1 && rule.range.admits(&row.cuda));
    let of_line = || {
        let rows = catalog.windows_drivers.iter().filter(|row| row.cuda.len() > 1 && rule.range.admits(&row.cuda));
        rows.min_by(|a, b| a.driver.cmp(&b.driver))
    };
    of_major.or_else(of_line)
}

/// The oldest driver that a rule about Linux's drivers admits.
pub fn least_on_linux<'r>(rule: &'r Needs<'_>) -> Option<&'r Version> {
    rule.needs.comparisons().filter_map(|one| one.version.as_ref()).min()
}

/// Whether a driver of Windows is too old for a rule. Where no number is known for Windows, a branch of Linux's number
/// does.
pub fn is_too_old(floor: Option<&WindowsDriver>, rule: &Needs<'_>, driver: &Version) -> bool {
    match floor {
        Some(floor) => *driver < floor.driver,
        None => least_on_linux(rule).is_some_and(|least| driver.major() < least.major()),
    }
}

/// What a rule asks of a driver of Windows, in words.
pub fn says(floor: Option<&WindowsDriver>, rule: &Needs<'_>) -> String {
    let (cuda, driver) = match floor {
        Some(floor) => (floor.cuda.to_string(), floor.driver.to_string()),
        None => (rule.range.to_string(), least_on_linux(rule).map_or(0, Version::major).to_string()),
    };
    format!("CUDA {cuda} needs driver {driver} of Windows or a newer one")
}

/// What is known of drivers under WSL2, whatever the board.
fn of_any_board(catalog: &Catalog) -> impl Iterator<Item = &Service> {
    let is_of_any = |row: &&Service| row.place == Place::Wsl2 && row.boards.is_empty() && row.gpus.is_none();
    catalog.services.iter().filter(is_of_any)
}

/// What says that a driver has no CUDA under WSL2.
pub fn without_cuda<'c>(catalog: &'c Catalog, driver: &Version) -> Option<&'c Service> {
    let speaks = |row: &&Service| row.drivers.as_ref().is_some_and(|range| admits(range, driver));
    of_any_board(catalog).filter(|row| row.refuses).find(speaks)
}

/// Drivers of Windows at which an answer can change, oldest first: those that are known, and of each branch its number,
/// which is what it begins with. None of them is one that NVIDIA does not support under WSL2: nobody is told to install it.
pub fn turning_points(catalog: &Catalog) -> Vec<&Version> {
    let ranges = of_any_board(catalog).filter_map(|row| Constraint::parse(row.drivers.as_ref()?).ok());
    let unsupported: Vec<Constraint> = ranges.collect();
    let mut points = known(catalog);
    points.retain(|driver| !unsupported.iter().any(|range| range.admits(driver)));
    points
}

/// All of them, oldest first, those that NVIDIA does not support under WSL2 too: hosts may have one.
pub fn known(catalog: &Catalog) -> Vec<&Version> {
    let named = catalog.windows_drivers.iter().map(|row| &row.driver);
    let mut points: Vec<&Version> = named.chain(catalog.branches.iter().map(|row| &row.branch)).collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// What hosts have at worst of those that a constraint admits: the oldest, and what else there is of its branch.
pub fn worst(catalog: &Catalog, constraint: &Constraint, candidates: &[&Version]) -> Vec<Version> {
    let named = constraint.comparisons().filter_map(|one| one.version);
    let all = named.chain(candidates.iter().map(|version| **version)).filter(|version| constraint.admits(version));
    let all = distinct(all);
    let branch = |version: &Version| catalog.branch_of(version).map(|row| row.branch);
    let Some(oldest) = all.first().copied() else { return Vec::new() };
    all.into_iter().filter(|version| branch(version) == branch(&oldest)).collect()
}
