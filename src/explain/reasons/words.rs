//! How builds, versions and drivers are put into words.

use std::cmp::Ordering;

use crate::catalog::rows::Build;
use crate::catalog::{Catalog, Row};
use crate::solve::driver_row::branch_of;
use crate::solve::request::{Request, TargetRequest};
use crate::types::{Constraint, Version, distinct};

/// `torch-2.5.1-cu124-linux-x86_64`
pub(super) fn build_id(build: &Build) -> String {
    build.id()
}

/// `torch 2.5.1+cu124`
pub(super) fn name_of(build: &Build) -> String {
    build.named()
}

/// What is said of a target's driver, in words; whether it is one of several that are listed.
pub(super) fn driver_words(request: &Request<'_>, target: &TargetRequest<'_>, listed: bool) -> Option<String> {
    use crate::solve::request::{DriverRequest, Told};
    match &target.driver {
        DriverRequest::Exact(version) => match cuda_of(request.catalog, version) {
            Some(cuda) => Some(format!("driver {version} supports CUDA up to {cuda}")),
            None => Some(format!("the driver is {version}")),
        },
        DriverRequest::AtWorst(constraint) => {
            let oldest = oldest_of(request.catalog, constraint);
            let cuda = oldest.and_then(|oldest| cuda_of(request.catalog, oldest));
            let means = match constraint.single() {
                Some(branch) if listed => format!("`driver` lists {branch}, which means any release of it"),
                None if listed => format!("`driver` lists {constraint}, which means any release that it admits"),
                Some(branch) => format!("`driver = \"{constraint}\"` means any release of {branch}"),
                None => format!("`driver = \"{constraint}\"` means any release that it admits"),
            };
            match oldest.zip(cuda) {
                Some((oldest, cuda)) => Some(format!("{means}; the oldest, {oldest}, supports CUDA up to {cuda}")),
                None => Some(means),
            }
        }
        DriverRequest::Cuda(version, Told::System) => {
            let os = target.os.map_or("", |os| &os.name);
            Some(format!("{os} comes with a driver that supports CUDA up to {version}"))
        }
        DriverRequest::Cuda(version, Told::Jetson(number)) => {
            Some(format!("driver {number}, which comes with a JetPack, supports CUDA up to {version}"))
        }
        DriverRequest::Cuda(version, Told::Key(_)) => {
            Some(format!("`driver-cuda = \"{version}\"` means a driver that supports CUDA up to {version}"))
        }
        DriverRequest::Free(Some(bound)) => Some(format!("`driver = \"{bound}\"` limits the driver")),
        DriverRequest::Free(None) => None,
    }
}

/// The newest CUDA that a driver supports.
pub(super) fn cuda_of(catalog: &Catalog, driver: &Version) -> Option<Version> {
    branch_of(catalog, driver)?.cuda
}

/// The oldest driver that a constraint admits.
pub(super) fn oldest_of<'c>(catalog: &'c Catalog, admits: &Constraint) -> Option<&'c Version> {
    catalog.drivers.iter().find(|row| !row.beta && admits.admits(&row.version)).map(|row| &row.version)
}

/// `torch 1.12.1+cu102 holds`, `torch 2.0.0 to 2.0.1 (cu117, cu118) hold`.
pub(super) fn describe(builds: &[&Build], one: &str, many: &str) -> String {
    together(builds, one, many, with_variants)
}

/// The builds of each package, in the order in which the packages come: what is told of builds in numbers, their Pythons or
/// their CUDA, is told of each package by itself.
pub(super) fn by_package<'b>(builds: &[&'b Build]) -> Vec<Vec<&'b Build>> {
    let mut packages: Vec<Vec<&Build>> = Vec::new();
    for build in builds {
        match packages.iter_mut().find(|known| known[0].package == build.package) {
            Some(known) => known.push(build),
            None => packages.push(vec![build]),
        }
    }
    packages
}

/// Builds and what they do. From the first version of one package to the last of another is no span.
fn together(builds: &[&Build], one: &str, many: &str, name: impl Fn(&[&Build]) -> (String, Number)) -> String {
    let names: Vec<(String, Number)> = by_package(builds).iter().map(|of| name(of)).collect();
    match names.as_slice() {
        [] => many.to_string(),
        [(name, Number::One)] => format!("{name} {one}"),
        names => format!("{} {many}", list(&names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())),
    }
}

/// Whether a verb behind some versions stands in the singular.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    One,
    Many,
}

/// The versions of one package's builds.
fn versions(builds: &[&Build]) -> (String, Number) {
    let (first, last) = (builds.iter().min_by(by_version), builds.iter().max_by(by_version));
    match first.zip(last) {
        Some((first, last)) if first.version != last.version => {
            (format!("{} {} to {}", first.package, first.version, last.version), Number::Many)
        }
        Some((only, _)) => (format!("{} {}", only.package, only.version), Number::One),
        None => (String::new(), Number::Many),
    }
}

/// The same with their variants, where these are few.
fn with_variants(builds: &[&Build]) -> (String, Number) {
    if let [only] = builds {
        return (only.named(), Number::One);
    }
    let variants = distinct(builds.iter().map(|build| &*build.variant));
    let which = if variants.len() <= 4 { format!(" ({})", variants.join(", ")) } else { String::new() };
    let (versions, number) = versions(builds);
    (versions + &which, number)
}

/// The same without their variants.
fn without_variants(builds: &[&Build]) -> (String, Number) {
    match builds {
        [only] => (only.named(), Number::One),
        several => versions(several),
    }
}

pub(super) fn by_version(a: &&&Build, b: &&&Build) -> Ordering {
    a.version.cmp(&b.version)
}

/// `2.5.1 was`, `2.5.0 to 2.5.1 were`
pub(super) fn versions_of(builds: &[&&Build]) -> String {
    let versions = || builds.iter().map(|build| &build.version);
    match (versions().min(), versions().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last} were"),
        (Some(first), _) => format!("{first} was"),
        _ => String::new(),
    }
}

/// `2.5.0`, `2.5.0 and 2.8.0`, `2.5.0 to 2.11.0`
pub(super) fn span(versions: &[&Version]) -> String {
    let mut versions = versions.to_vec();
    versions.sort_unstable();
    versions.dedup();
    match versions.as_slice() {
        [first, _, .., last] => format!("{first} to {last}"),
        few => list(&few.iter().map(|version| version.as_str()).collect::<Vec<_>>()),
    }
}

/// `torch 1.12.1+cu102 holds`, `torch 2.0.0 to 2.0.1 hold`: without the variants.
pub(super) fn plainly(builds: &[&Build], one: &str, many: &str) -> String {
    together(builds, one, many, without_variants)
}

/// The same, but with the variants where these are not all the GPU builds of their releases: what holds of them need
/// not hold of the others.
pub(super) fn named(catalog: &Catalog, builds: &[&Build], one: &str, many: &str) -> String {
    together(builds, one, many, |builds| match are_all(catalog, builds) {
        true => without_variants(builds),
        false => with_variants(builds),
    })
}

/// Whether some builds of one package are all the GPU builds of their releases, for such machines.
fn are_all(catalog: &Catalog, builds: &[&Build]) -> bool {
    let (first, last) = (builds.iter().min_by(by_version), builds.iter().max_by(by_version));
    let beside = |other: &Build| {
        let alike = |build: &&Build| build.arch == other.arch && build.systems == other.systems;
        let within = first.zip(last).is_some_and(|(a, b)| (a.version..=b.version).contains(&other.version));
        !other.is_cpu() && within && builds.first().is_some_and(alike)
    };
    let told = |other: &Build| builds.iter().any(|build| std::ptr::eq(*build, other));
    let of_package = builds.first().map_or(&[][..], |build| catalog.builds.of(&build.package));
    of_package.iter().filter(|other| beside(other)).all(told)
}

pub(super) fn list(items: &[&str]) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for item in items {
        if !unique.contains(item) {
            unique.push(item);
        }
    }
    match unique.as_slice() {
        [] => "nothing".into(),
        [one] => (*one).into(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Some numbers, each once, in their order.
pub(super) fn numbers(mut of: Vec<u64>) -> String {
    of.sort_unstable();
    let texts: Vec<String> = of.iter().map(u64::to_string).collect();
    list(&texts.iter().map(String::as_str).collect::<Vec<&str>>())
}

pub(super) fn version_matches(constraint: &Constraint, version: &Version) -> bool {
    let mut variants = constraint.comparisons().filter_map(|one| one.variant.as_deref());
    let named = variants.next();
    constraint.admits_build(version, named.unwrap_or(""))
}

/// `; the nearest are 2.0.1 and 2.1.0`
pub(super) fn nearest_versions<'v>(constraint: &Constraint, known: impl Iterator<Item = &'v Version>) -> String {
    let wanted = constraint.comparisons().find_map(|one| one.version);
    wanted.map_or_else(String::new, |wanted| nearest_to(&wanted, known))
}

/// The same for one version.
pub(super) fn nearest_to<'v>(wanted: &Version, known: impl Iterator<Item = &'v Version>) -> String {
    let known = distinct(known);
    let after = known.partition_point(|version| *version < wanted);
    let near: Vec<&str> = [after.checked_sub(1), Some(after)]
        .into_iter()
        .flatten()
        .filter_map(|at| known.get(at).map(|version| version.as_str()))
        .collect();
    match near.as_slice() {
        [] => String::new(),
        [only] => format!("; the nearest is {only}"),
        several => format!("; the nearest are {}", list(several)),
    }
}
