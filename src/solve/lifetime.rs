//! What was out of support on the day the catalog speaks of. Never the clock: the same spec and the same catalog
//! give the same warnings for ever.

use crate::catalog::rows::{Branch, Image, Os};

use super::answer::Chosen;
use super::driver;
use super::question::{DriverAsk, Question, TargetAsk, Warning};
use super::recommended::{self, has_ended};

/// What of some targets that share a choice was out of support.
pub(super) fn warnings<'c>(question: &Question<'c>, all: &[&TargetAsk<'c>], target: &Chosen<'_>) -> Vec<Warning> {
    // Targets of one choice have equal drivers and systems: the first speaks for all.
    let Some(asked) = all.first() else { return Vec::new() };
    let keys = |setting: &str| all.iter().map(|asked| asked.key(setting)).collect::<Vec<String>>();
    let driver = driver_ended(question, asked)
        .map(|(setting, message)| Warning::new("driver-end-of-life", message, &keys(setting)));
    let os = os_ended(question, asked, target)
        .map(|(setting, message)| Warning::new("os-end-of-life", message, &keys(setting)));
    driver.into_iter().chain(os).collect()
}

/// Only where every branch the hosts may have has ended: nobody is told of a branch they may not have.
fn driver_ended<'c>(question: &Question<'c>, asked: &TargetAsk<'c>) -> Option<(&'static str, String)> {
    let catalog = question.catalog;
    let branches = || catalog.branches.iter();
    let (setting, may_have): (&'static str, Vec<&Branch>) = match &asked.driver {
        DriverAsk::Free(_) => return None,
        // It is supported as long as its system is.
        _ if asked.has_system_driver() => return None,
        DriverAsk::Exact(version) => {
            // An unlisted branch is judged by its neighbour, but its support is its own affair.
            let own = driver::branch_of(catalog, version).filter(|row| row.branch.major() == version.major());
            ("driver", own.into_iter().collect())
        }
        DriverAsk::AtWorst(constraint) => {
            let of = |row: &&Branch| {
                let branch = row.branch.major();
                let first = catalog.drivers.partition_point(|driver| driver.version.major() < branch);
                let mut releases = catalog.drivers[first..].iter().take_while(|one| one.version.major() == branch);
                constraint.admits(&row.branch) || releases.any(|driver| constraint.admits(&driver.version))
            };
            ("driver", branches().filter(of).collect())
        }
        DriverAsk::Cuda(cuda) => ("driver-cuda", branches().filter(|row| row.cuda.as_ref() == Some(cuda)).collect()),
    };
    let ended = |row: &&Branch| row.eol.as_ref().is_some_and(|end| has_ended(catalog, end));
    let end = may_have.iter().filter_map(|row| row.eol.as_ref()).max()?;
    let last = may_have.last()?;
    if asked.is_cpu() || !may_have.iter().all(ended) {
        return None;
    }
    let next = recommended::branch(question, asked).map_or_else(String::new, |branch| {
        let until = branch.eol.as_ref().map_or_else(String::new, |end| format!(", supported until {end}"));
        format!("; consider R{}{until}", branch.branch)
    });
    let message = match may_have.as_slice() {
        [_] => format!("support of driver branch R{} ended {end}{next}", last.branch),
        [first, ..] => {
            format!(
                "support of driver branches R{} to R{} has ended, of the last on {end}{next}",
                first.branch, last.branch
            )
        }
        [] => return None,
    };
    Some((setting, message))
}

fn os_ended(question: &Question<'_>, asked: &TargetAsk<'_>, target: &Chosen<'_>) -> Option<(&'static str, String)> {
    let of_image = |image: &Image| question.catalog.oses.iter().find(|os| os.images.contains(&image.os));
    let (os, setting): (&Os, &'static str) = match (asked.os, target.image) {
        (Some(os), _) => (os, if matches!(asked.image, super::question::ImageAsk::Known(_)) { "image" } else { "os" }),
        (None, image) => (of_image(image?)?, "image"),
    };
    let end = os.eol.as_ref().filter(|end| has_ended(question.catalog, end))?;
    let message = format!("standard support of {} ended {end}", os.name);
    Some((setting, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn a_month_has_ended_when_the_next_one_has_begun() {
        let catalog = Catalog { version: "2026.11.20".into(), ..Catalog::default() };
        for (end, ended) in [("2026-10", true), ("2026-11", false), ("2026-11-19", true), ("2026-11-20", false)] {
            assert_eq!(has_ended(&catalog, end), ended, "{end}");
        }
        assert!(has_ended(&catalog, "2025") && !has_ended(&catalog, "2026"));
    }
}
