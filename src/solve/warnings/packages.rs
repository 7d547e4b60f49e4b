//! What `[packages]` asks for that the locked packages are known not to run with.

use crate::solve::ordinary::{asked_of, excludes};
use crate::warning::{PackageExcluded, Warning};

use super::About;

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (row, locked) in asked_of(about.request.catalog, about.target) {
        let written = about.request.packages.iter().find(|(name, _)| *row.of == **name);
        let Some((name, asked)) = written.filter(|(_, asked)| excludes(asked, &row.needs)) else { continue };
        let excluded = PackageExcluded {
            package: name,
            asked: &asked.to_string(),
            locked: &locked,
            needs: &row.needs,
            says: &row.says,
        };
        warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
    }
    warnings
}
