//! Catalogs ten and a hundred times as large as the built-in one, for questions about growth.

use gpuenv::catalog::{BUILTIN, Catalog};
use gpuenv::types::Version;

/// The built-in catalog with each driver, build, companion and image published `scale` times: later copies are
/// patch releases that need, hold and admit what the first one does.
pub fn grown(scale: usize) -> Catalog {
    let mut catalog = BUILTIN.clone();
    copy(catalog.drivers.to_mut(), scale, |row, copy| row.version = patched(&row.version, copy));
    copy(catalog.builds.to_mut(), scale, |row, copy| row.version = patched(&row.version, copy));
    copy(catalog.companions.to_mut(), scale, |row, copy| row.version = patched(&row.version, copy));
    copy(catalog.images.to_mut(), scale, |row, copy| {
        row.tag = format!("{}-r{copy}", row.tag).into();
        row.cuda = patched(&row.cuda, copy);
    });
    catalog.sort();
    catalog
}

fn copy<R: Clone>(rows: &mut Vec<R>, scale: usize, rename: impl Fn(&mut R, usize)) {
    let first = rows.clone();
    for copy in 1..scale {
        rows.extend(first.iter().cloned().map(|mut row| {
            rename(&mut row, copy);
            row
        }));
    }
}

/// `2.5.1` published again: `2.5.1.7`. What is no plain number is left alone.
fn patched(version: &Version, copy: usize) -> Version {
    Version::parse(&format!("{version}.{copy}")).unwrap_or(*version)
}
