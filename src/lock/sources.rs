//! What comes as source: how it is compiled, what it requires once it is built, and what others bring of that kind.

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, pinned};
use crate::solve::finished::mistaken;
use crate::solve::installs::Install;
use crate::solve::solution::TargetSolution;
use crate::types::Specifier;
use crate::types::constraint::admits;

/// How a package is compiled beside an installed framework.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Compiled {
    pub unisolated: Option<String>,
    pub tools: Vec<String>,
    pub requires: Option<Vec<String>>,
    pub switch: Option<String>,
    pub archs: Option<String>,
}

/// How what is installed is compiled, it or what it pins; of a wheel that pins none of that there is nothing to say.
pub(super) fn compiled(catalog: &Catalog, chosen: &TargetSolution<'_>, install: &Install) -> Compiled {
    let is_it = |row: &&Companion| row.sdist == install.sdist && row.carried() == install.version;
    let Some(companion) = catalog.companions.of(&install.package).iter().find(is_it) else {
        return Compiled::default();
    };
    let Some((row, version)) = catalog.source_build(companion) else { return Compiled::default() };
    // A finished wheel that does not run there would be taken all the same.
    let is_refused = chosen.finished_of(&companion.package).is_some_and(|finished| finished.use_of.is_refused());
    let is_mistaken = mistaken(catalog, companion, &chosen.builds).is_some();
    let force = row.force.as_ref().filter(|_| is_refused || is_mistaken);
    let framework = chosen.build(&companion.framework);
    let line = framework.and_then(|build| build.line());
    // A build that reads CUDA's major out of the framework stops beside one without CUDA.
    let cuda = line.map_or(String::new(), |line| line.major().to_string());
    Compiled {
        unisolated: Some(match version == companion.version {
            true => row.package.to_string(),
            false => format!("{}=={version}", row.package),
        }),
        tools: row.tools.iter().map(ToString::to_string).collect(),
        requires: Some(row.requires.iter().filter_map(|one| row.requirement(one, &version, &cuda)).collect()),
        switch: row.switch.as_ref().filter(|_| line.is_some()).or(force).map(ToString::to_string),
        archs: row.archs.as_ref().map(ToString::to_string),
    }
}

/// What chosen packages require in a range and what is compiled here as well, each behind the one that brings it: an
/// installer takes the newest release, and would have to build it to learn what that requires.
pub(super) fn brought<'c>(catalog: &'c Catalog, chosen: &TargetSolution<'c>) -> Vec<(&'c Companion, &'c Companion)> {
    let mut found: Vec<(&Companion, &Companion)> = Vec::new();
    let mut asking: Vec<_> = chosen.companions.iter().filter(|row| row.sdist).map(|row| (*row, *row)).collect();
    while let Some((by, row)) = asking.pop() {
        for (of, range) in row.asked(chosen.arch) {
            let is_chosen = chosen.companions.iter().any(|one| *one.package == *of);
            if is_chosen || found.iter().any(|(_, one)| *one.package == *of) {
                continue;
            }
            let Some(newest) = newest(catalog, chosen, of, range) else { continue };
            asking.push((by, newest));
            // What is pinned is compiled with what pins it.
            if pinned(range).is_none() {
                found.push((by, newest));
            }
        }
    }
    found
}

/// The newest release of a package that is compiled here, of those that are asked for and go with the stack.
fn newest<'c>(catalog: &'c Catalog, chosen: &TargetSolution<'c>, package: &str, range: &str) -> Option<&'c Companion> {
    let asked = Specifier::parse(if range.is_empty() { "*" } else { range }).ok()?;
    let fits = |row: &&Companion| {
        let beside = chosen.build(&row.framework);
        row.sdist
            && asked.admits(&row.version)
            && catalog.build_from_source(package, &row.version).is_some()
            && chosen.python.zip(row.python.as_deref()).is_none_or(|(python, needs)| admits(needs, python))
            && beside.is_some_and(|build| admits(&row.needs, &build.version))
    };
    catalog.companions.of(package).iter().filter(fits).max_by(|one, other| one.version.cmp(&other.version))
}
