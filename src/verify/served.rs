//! Whether the locked cuda-compat takes the host's driver: each branch that it names from a release of its own on.

use crate::catalog::rows::Compat;
use crate::lock::{Admitted, DriverLock};
use crate::solve::installed::{least_base, names_branch};
use crate::types::Version;

use super::check::{Action, Check};
use super::context::CheckContext;

/// How a package stands to a driver.
enum Taken {
    Yes,
    /// Not its branch.
    OtherBranch,
    /// Its branch, from this release on.
    From(Version),
    /// The branch is told, and not which release of it, which counts.
    Untold,
    /// Nothing is known of the driver's branch.
    Unknown,
}

/// That the package is none for the driver that is here, or that nobody knows; none where it takes it, and where the minimum
/// tells already that the driver is too old.
pub(super) fn unserved(context: &CheckContext<'_>, check: Check, locked: &DriverLock, package: &str) -> Option<Check> {
    // Windows' drivers and those of Jetsons have numbers of their own.
    if context.has_other_numbers() || context.has_windows_driver() || context.is_tegra() {
        return None;
    }
    let minimum = Version::parse(locked.minimum.as_ref()?).ok()?;
    let (told, by, drivers) = drivers(context)?;
    let admitted = context.lock.admitted(context.name, context.target);
    let is_settled = |driver: &Version| {
        let is_taken = admitted.as_ref().is_some_and(|admitted: &Admitted| admitted.admits(driver));
        is_taken || *driver < minimum || driver.len() == 1 && driver.major() == minimum.major()
    };
    if drivers.iter().any(is_settled) {
        return None;
    }
    let check = check.found(told.as_str()).evidence(Some(format!("reported by {by}")));
    let Some(row) = context.catalog.compats.iter().find(|row| Some(row.cuda) == locked.compat_line()) else {
        return Some(check.unknown(Action::None, format!("which drivers {package} supports is not known")));
    };
    let again = "or write this driver into gpuenv.toml and lock again";
    let taken: Vec<Taken> = drivers.iter().map(|driver| takes(context, row, driver)).collect();
    if taken.iter().any(|taken| matches!(taken, Taken::Yes)) {
        return None;
    }
    if taken.iter().any(|taken| matches!(taken, Taken::Unknown)) {
        return Some(
            check.unknown(Action::None, format!("whether {package} supports this driver branch is not known")),
        );
    }
    match taken.into_iter().find(|taken| !matches!(taken, Taken::OtherBranch)) {
        Some(Taken::From(least)) => {
            let hint = format!("{package} supports this branch from {least} on: raise the driver to it, {again}");
            Some(check.fail(Action::AskAdmin, hint))
        }
        Some(_) => {
            let hint = format!("{package} supports this branch from some release on; which one is here was not told");
            Some(check.unknown(Action::None, hint))
        }
        None => {
            let named = |base: &Version| match base.len() {
                1 => base.to_string(),
                _ => format!("{} (from {base})", base.major()),
            };
            let bases: Vec<String> = row.bases.iter().map(named).collect();
            let hint = format!(
                "{package} supports the driver branches {} only: change the driver's branch, {again}",
                bases.join(", ")
            );
            Some(check.fail(Action::AskAdmin, hint))
        }
    }
}

/// What is told of the driver, by whom, and the releases or branches that this may be.
fn drivers(context: &CheckContext<'_>) -> Option<(String, &'static str, Vec<Version>)> {
    if let Some((driver, by)) = context.driver() {
        return Some((driver.to_string(), by, vec![*driver]));
    }
    let (cuda, by) = context.offered().filter(|_| !context.loads_compat())?;
    let branches = context.catalog.branches.iter().filter(|row| row.cuda.as_ref() == Some(cuda));
    let branches: Vec<Version> = branches.map(|row| row.branch).collect();
    (!branches.is_empty()).then(|| (format!("a driver that offers CUDA {cuda}"), by, branches))
}

fn takes(context: &CheckContext<'_>, row: &Compat, driver: &Version) -> Taken {
    let line = |compat: &crate::host::Compat| compat.cuda.map(|cuda| cuda.prefix(2));
    let mut notes = context.record.compat.iter().filter(|compat| line(compat) == Some(row.cuda));
    // What the package's own note says of branches is the next thing that is asked.
    let is_noted = notes.any(|compat| !compat.branches.is_empty());
    // What is not older than the package brings its CUDA by itself.
    if driver.major() >= row.branch.major() {
        return Taken::Yes;
    }
    if !names_branch(row, driver) {
        let is_known = context.catalog.branches.iter().any(|branch| branch.branch.major() == driver.major());
        return if is_noted {
            Taken::Yes
        } else if is_known {
            Taken::OtherBranch
        } else {
            Taken::Unknown
        };
    }
    let Some(least) = least_base(row, driver) else { return Taken::Yes };
    if driver.len() > 1 {
        return Taken::From(*least);
    }
    let mut of_branch = context.catalog.drivers_of(driver);
    if of_branch.all(|one| one.version >= *least) { Taken::Yes } else { Taken::Untold }
}
