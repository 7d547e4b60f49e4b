//! What `[packages]` asks for that the locked packages or the locked Python are known not to go with, and what locked
//! packages ask for that has no wheel for the locked Python.

use crate::catalog::rows::{Companion, FoundIn};
use crate::solve::ordinary::shared::{By, doubled};
use crate::solve::ordinary::{Among, Follows, asked_by, elsewhere, excludes, judged, without_wheels};
use crate::solve::request::TargetRequest;
use crate::spec::other_names::cuda_of;
use crate::types::{Specifier, Version};
use crate::warning::{PackageCuda, PackageExcluded, SameModule, Side, Warning};

use super::About;

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, locked) = (about.request.problem, about.target.locked());
    let mut warnings = Vec::new();
    for (name, asked) in about.request.packages.iter() {
        for one in judged(problem, &locked, name, asked) {
            let Follows::Excluded(instead) = &one.follows else { continue };
            let excluded = PackageExcluded {
                by: None,
                package: name,
                asked: &asked.to_string(),
                locked: &named(&one.locked.0, &one.locked.1),
                side: if *one.row.package == **name { Side::Written } else { Side::Locked },
                of: if *one.row.of == *"python" { "Python" } else { &one.row.of },
                needs: &one.row.needs,
                installers_know: one.row.found_in == FoundIn::Metadata,
                only_wheels: one.row.found_in == FoundIn::OnlyWheels,
                says: &one.row.says,
                instead: instead.as_deref(),
            };
            warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
        }
        warnings.extend(of_other_places(about, name, asked));
    }
    warnings.extend(of_each_other(about));
    warnings.extend(of_one_module(about));
    warnings.extend(about.request.packages.iter().filter_map(|(name, _)| of_other_cuda(about, name)));
    if let Some(python) = about.target.python {
        about.target.companions.iter().for_each(|row| warnings.extend(of_release(about, row, python)));
    }
    warnings
}

/// Of a package that has nothing but wheels, for other processors or a newer glibc than targets have.
fn of_other_places(about: &About<'_, '_>, name: &str, asked: &Specifier) -> Vec<Warning> {
    let elsewhere = |target: &&TargetRequest<'_>| {
        let one = elsewhere(about.request.problem, (target.arch, target.glibc), name, asked)?;
        let Follows::Excluded(instead) = &one.follows else { return None };
        let named = |arch: &dyn ToString, glibc: Option<Version>| {
            arch.to_string() + &glibc.map_or(String::new(), |glibc| format!(" with glibc {glibc}"))
        };
        let arches: Vec<String> = one.row.arches.iter().map(ToString::to_string).collect();
        let arch = if arches.is_empty() { "Linux".to_string() } else { arches.join(" and ") };
        let excluded = PackageExcluded {
            by: None,
            package: name,
            asked: &asked.to_string(),
            locked: &named(&target.arch, target.glibc.filter(|_| one.row.glibc.is_some())),
            side: Side::Elsewhere,
            of: "",
            needs: &named(&arch, one.row.glibc),
            installers_know: one.row.found_in == FoundIn::Metadata,
            only_wheels: one.row.found_in == FoundIn::OnlyWheels,
            says: "",
            instead: instead.as_deref(),
        };
        Some(Warning::about(&excluded, &[format!("packages.{name}")]))
    };
    about.all.iter().filter_map(elsewhere).collect()
}

/// Of packages that are asked for and do not go with each other.
fn of_each_other(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let among = Among::of(problem, &about.target.locked(), packages);
    let mut warnings = Vec::new();
    for (name, asked) in packages.iter() {
        for (row, by) in among.needed_of(problem, name) {
            if !excludes(asked, &row.needs) {
                continue;
            }
            let excluded = PackageExcluded {
                by: None,
                package: name,
                asked: &asked.to_string(),
                locked: &by.asked.of(&by.package),
                side: Side::Beside,
                of: &row.of,
                needs: &row.needs,
                installers_know: false,
                only_wheels: false,
                says: &row.says,
                instead: Some(&row.needs),
            };
            warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
        }
    }
    warnings
}

/// Of packages that install one module.
fn of_one_module(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let mut warnings = Vec::new();
    for one in doubled(problem, &about.target.locked(), packages) {
        let (requirer, key) = match &one.by {
            By::Written => (None, format!("packages.{}", one.other)),
            By::Locked(_) => (None, format!("stack.{}", one.other)),
            By::Companion((package, version)) => (Some(named(package, version)), format!("stack.{package}")),
            By::Ordinary(package, _) => (Some(package.clone()), format!("packages.{package}")),
        };
        let same = SameModule {
            module: &one.row.module,
            locked: &named(&one.locked.0, &one.locked.1),
            other: one.other,
            requirer: requirer.as_deref(),
            is_written: one.by == By::Written,
        };
        warnings.push(Warning::about(&same, &[key]));
    }
    warnings
}

/// Of a package that is for another CUDA than the locked frameworks, by its name.
fn of_other_cuda(about: &About<'_, '_>, name: &str) -> Option<Warning> {
    let names = cuda_of(name)?;
    let lines = about.target.builds.iter().filter_map(|build| Some((build, build.line()?)));
    // As far as both tell: of some builds only the major is known.
    let is_other = |line: &Version| line.cmp_prefix(&names.prefix(line.len())).is_ne();
    let (build, line) = lines.into_iter().find(|(_, line)| is_other(line))?;
    let stack = format!("{} {}+{}", build.package, build.version, build.variant);
    let other = PackageCuda { package: name, names: &names, stack: (&stack, &line) };
    Some(Warning::about(&other, &[format!("packages.{name}")]))
}

/// Of what a locked release asks for.
fn of_release<'c>(about: &About<'_, 'c>, row: &Companion, python: &Version) -> Vec<Warning> {
    let problem = about.request.problem;
    let named_by = format!("{} {}", row.package, row.version);
    let mut warnings = Vec::new();
    let Some(package) = problem.package(&row.package) else { return warnings };
    if !package.is_unserved(problem, &row.version, python) {
        return warnings;
    }
    for asks in asked_by(problem, &row.package, &row.version) {
        let Some(one) = without_wheels(problem, asks, python) else { continue };
        let excluded = PackageExcluded {
            by: Some(&named_by),
            package: &asks.of,
            asked: &asks.needs,
            locked: &named("python", python),
            side: Side::Written,
            of: "Python",
            needs: &one.row.needs,
            installers_know: one.row.found_in == FoundIn::Metadata,
            only_wheels: one.row.found_in == FoundIn::OnlyWheels,
            says: "",
            instead: None,
        };
        warnings.push(Warning::about(&excluded, &[format!("stack.{}", row.package)]));
    }
    warnings
}

fn named(package: &str, version: &Version) -> String {
    format!("{} {version}", if package == "python" { "Python" } else { package })
}
