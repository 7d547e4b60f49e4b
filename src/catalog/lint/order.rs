//! What only grows: with the number of a release its date, the systems it needs, the Pythons it serves.

use super::super::rows::*;
use super::super::tables::{Catalog, Named, Row};
use super::{Say, months};
use crate::types::Version;

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    libraries(catalog, say);
    pythons(catalog, say);
    systems(catalog, say);
    compilers(catalog, say);
}

/// Months a patch release of an older line may come after a newer line.
const SLACK_MONTHS: u32 = 2;

/// Releases of cuDNN and NCCL for one CUDA line come one after the other; those of one line of the library exactly so.
fn libraries(catalog: &Catalog, say: Say<'_>) {
    let dated = catalog.library_releases().filter_map(|one| Some((one.date?, one)));
    let mut rows: Vec<_> =
        dated.map(|(date, one)| (one.subject.as_str(), one.cuda, one.version, date, Named(one.row))).collect();
    rows.sort_unstable_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
    for pair in rows.windows(2).filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        let (one, next) = (&pair[0], &pair[1]);
        let one_line = one.2.prefix(2) == next.2.prefix(2);
        let late = months(one.3).zip(months(next.3)).is_some_and(|(one, next)| next + SLACK_MONTHS < one);
        if late || one_line && next.3 < one.3 {
            say("library-order", next.0, &next.4, format!("is dated before {} of {}", one.3, one.2));
        }
    }
}

/// Publishers make wheels for Pythons that follow one another (sites may do as they like); a later line of Python is
/// final after an earlier one.
fn pythons(catalog: &Catalog, say: Say<'_>) {
    let gap = |pythons: &[Version]| {
        let within = |pair: &[Version]| pair[0].major() == pair[1].major() && pair[0].minor() + 1 != pair[1].minor();
        pythons.windows(2).any(within)
    };
    let builds = catalog.builds.iter().map(|row| ("build", row as &dyn Row, &row.pythons, row.pythons_partial));
    let others =
        catalog.other_builds.iter().map(|row| ("other_build", row as &dyn Row, &row.pythons, row.pythons_partial));
    for (kind, row, pythons, partial) in builds.chain(others) {
        if catalog.laid.is_empty() && !partial && gap(pythons) {
            let says = "the Pythons leave one out: `pythons_partial` says that not all were seen";
            say("python-gap", kind, &Named(row), says.into());
        }
    }
    let mut lines: Vec<&Python> = catalog.pythons.iter().collect();
    lines.sort_unstable_by_key(|row| row.version);
    for pair in lines.windows(2).filter(|pair| pair[1].stable && !pair[0].stable) {
        say("python-order", "python", &Named(pair[0]), format!("is not final, but {} is", pair[1].version));
    }
}

/// The distribution and the release in `ubuntu22.04`.
fn family(id: &str) -> Option<(&str, Version)> {
    let at = id.find(|one: char| one.is_ascii_digit())?;
    Some((&id[..at], Version::parse(&id[at..]).ok()?))
}

/// A field of a system that holds a version, by name.
type Part = (&'static str, fn(&Os) -> Option<&Version>);

/// A later release of a system brings no older C library, compiler or Python.
fn systems(catalog: &Catalog, say: Say<'_>) {
    let mut rows: Vec<(&str, Version, &Os)> =
        catalog.oses.iter().filter_map(|row| family(&row.id).map(|(name, release)| (name, release, row))).collect();
    rows.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let fields: [Part; 3] =
        [("glibc", |row| row.glibc.as_ref()), ("gcc", |row| row.gcc.as_ref()), ("python", |row| row.python.as_ref())];
    for (field, of) in fields {
        let told: Vec<_> = rows.iter().filter_map(|row| Some((row, of(row.2)?))).collect();
        for pair in told.windows(2).filter(|pair| pair[0].0.0 == pair[1].0.0 && pair[1].1 < pair[0].1) {
            let says = format!("{field} {} is less than {} of {}", pair[1].1, pair[0].1, pair[0].0.2.id);
            say("os-order", "os", &Named(pair[1].0.2), says);
        }
    }
}

/// A later Triton brings no older compiler; the second one is newer than the first.
fn compilers(catalog: &Catalog, say: Say<'_>) {
    let mut rows: Vec<&Ptxas> = catalog.ptxases.iter().collect();
    rows.sort_unstable_by_key(|row| row.triton);
    for row in &rows {
        if row.newer.is_some() != row.newer_from.is_some() {
            say("belongs-together", "ptxas", &Named(*row), "newer and newer_from belong together".into());
        }
        let kit = |of: &Version| catalog.toolkits.iter().any(|kit| kit.version.prefix(2) == of.prefix(2));
        if row.newer.as_ref().is_some_and(|newer| *newer <= row.ptxas)
            || ![Some(row.ptxas), row.newer].iter().flatten().all(kit)
        {
            say("ptxas", "ptxas", &Named(*row), "its compilers are of no toolkit, or the second is not newer".into());
        }
    }
    for pair in rows.windows(2).filter(|pair| pair[1].ptxas < pair[0].ptxas) {
        let says = format!("ptxas {} is less than {} of {}", pair[1].ptxas, pair[0].ptxas, pair[0].triton);
        say("ptxas", "ptxas", &Named(pair[1]), says);
    }
}
