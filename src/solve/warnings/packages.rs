//! What `[packages]` asks for that the locked packages or the locked Python are known not to go with.

use crate::catalog::rows::FoundIn;
use crate::solve::ordinary::{Follows, judged, locked};
use crate::types::Version;
use crate::warning::{PackageExcluded, Side, Warning};

use super::About;

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let (catalog, locked) = (about.request.catalog, locked(about.target));
    let mut warnings = Vec::new();
    for (name, asked) in about.request.packages.iter() {
        for one in judged(catalog, &locked, name, asked) {
            let Follows::Excluded(instead) = &one.follows else { continue };
            let excluded = PackageExcluded {
                package: name,
                asked: &asked.to_string(),
                locked: &named(&one.locked.0, &one.locked.1),
                side: if *one.row.package == **name { Side::Written } else { Side::Locked },
                of: if *one.row.of == *"python" { "Python" } else { &one.row.of },
                needs: &one.row.needs,
                installers_know: one.row.found_in == FoundIn::Metadata,
                says: &one.row.says,
                instead: instead.as_deref(),
            };
            warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
        }
    }
    warnings
}

fn named(package: &str, version: &Version) -> String {
    format!("{} {version}", if package == "python" { "Python" } else { package })
}
