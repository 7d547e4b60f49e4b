//! The clock, read here and nowhere else: whether the catalog is old. What comes of it goes to stderr, once a run, and
//! into nothing that is kept: the same spec and catalog give the same lock on any day.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::catalog::Catalog;
use crate::report::Report;
use crate::spec::Silence;
use crate::types::calendar::{day_of, days_to};
use crate::warning::{CatalogOld, Warning};

/// Days after which a catalog is called old: torch and CUDA have had two or three releases by then.
const OLD: i64 = 180;
/// Seconds of a day.
const DAY: i64 = 86_400;
/// Seconds since 1970 that count as now: for builds and tests that must not depend on the day they run.
const NOW: &str = "SOURCE_DATE_EPOCH";

/// Tells, unless it is silenced, that the catalog is old.
pub fn tell_age(catalog: &Catalog, silences: &[Silence], report: &Report) {
    let Some(days) = age(catalog, today()).filter(|days| *days > OLD) else { return };
    let warning = Warning::about(&CatalogOld { version: &catalog.version, days }, &[]);
    if !silences.iter().any(|one| one.warning.value == warning.code && one.target.is_none()) {
        report.aside(&warning);
    }
}

/// The day, `2026-11-22`, for what is written down today.
pub fn day() -> String {
    let (year, month, day) = day_of(today());
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days since 1970.
fn today() -> i64 {
    let told = std::env::var(NOW).ok().and_then(|seconds| seconds.trim().parse::<i64>().ok());
    let read = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    told.unwrap_or_else(read) / DAY
}

/// Days from the day a catalog speaks of to another; none if its version is no day.
fn age(catalog: &Catalog, today: i64) -> Option<i64> {
    let mut parts = catalog.version.split('.').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    Some(today - days_to(year, month, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_counted_from_the_day_that_the_version_is() {
        let catalog = Catalog { version: "2026.11.20".into(), ..Catalog::default() };
        assert_eq!(age(&catalog, 20_777 + 181), Some(181));
        assert_eq!(age(&Catalog::default(), 0), None);
    }
}
