//! Catalogs ten and a hundred times as large as the built-in one, for questions about growth.

use gpuenv::catalog::tables::Table;
use gpuenv::catalog::{BUILTIN, Catalog};
use gpuenv::types::Version;

/// The built-in catalog with each driver, build, companion and image published `scale` times: later copies are
/// patch releases that need, hold and admit what the first one does.
pub fn grown(scale: usize) -> Catalog {
    let mut catalog = BUILTIN.clone();
    catalog.drivers = copies(&catalog.drivers, scale, |row, copy| row.version = patched(&row.version, copy));
    catalog.builds = copies(&catalog.builds, scale, |row, copy| row.version = patched(&row.version, copy));
    catalog.companions = copies(&catalog.companions, scale, |row, copy| row.version = patched(&row.version, copy));
    catalog.images = copies(&catalog.images, scale, |row, copy| {
        row.tag = format!("{}-r{copy}", row.tag).into();
        row.cuda = patched(&row.cuda, copy);
    });
    catalog.sort();
    catalog
}

fn copies<R: Clone>(rows: &[R], scale: usize, rename: impl Fn(&mut R, usize)) -> Table<R> {
    let copy = |copy: usize| {
        let rename = &rename;
        rows.iter().cloned().map(move |mut row| {
            rename(&mut row, copy);
            row
        })
    };
    rows.iter().cloned().chain((1..scale).flat_map(copy)).collect::<Vec<R>>().into()
}

/// `2.5.1` published again: `2.5.1.7`. What is no plain number is left alone.
fn patched(version: &Version, copy: usize) -> Version {
    Version::parse(&format!("{version}.{copy}")).unwrap_or(*version)
}
