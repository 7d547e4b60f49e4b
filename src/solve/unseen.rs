//! Builds that may fit though nobody has read them: where an index was not read whole, every variant that some release of
//! the package has, unless a rule tells for which lines of CUDA a release was published; what was published for a CUDA
//! for which no build of its release was read; and what a project keeps elsewhere for a CUDA.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::catalog::rows::{BESIDE_TORCH, Build, Companion, Family, Index, OtherBuild, Reading, Rule, Subject};
use crate::types::variant::{CPU, line_of};
use crate::types::{Constraint, CpuArch, Version};

/// A build of which nobody has read what it holds.
#[derive(Debug)]
pub struct MayExist<'c> {
    /// Its version.
    pub version: &'c Version,
    /// Its variant.
    pub variant: &'c str,
    /// Its processor.
    pub arch: CpuArch,
    /// The builds of its variant in the releases before and after it: it would hold nothing that none of them holds.
    pub like: Vec<&'c Build>,
    /// Whether it is known that it was published.
    pub published: bool,
}

/// The builds beside some of one package, sorted by version, that may exist on an index of which only a part was seen, and
/// those that do exist and were not read.
pub fn may_exist<'c>(catalog: &'c Catalog, builds: &'c [Build]) -> Vec<MayExist<'c>> {
    let Some(package) = builds.first().map(|build| &*build.package) else { return Vec::new() };
    let mut found = on_index(catalog, package, builds);
    found.extend(published(catalog, package, builds));
    found
}

/// What was published for a CUDA for which no build of its release was read, and may hold anything. What lies beside a build
/// that was read, under a label of its own, is thought of only where it is named.
pub fn published<'c>(catalog: &'c Catalog, package: &str, builds: &'c [Build]) -> impl Iterator<Item = MayExist<'c>> {
    let is_read = |row: &OtherBuild, build: &Build| {
        build.version == row.version && build.variant == row.variant && build.arch == row.arch
    };
    let rows = catalog.other_builds.iter().filter(move |row| row.package == package && row.os == Family::Linux);
    let unread = rows.filter(|row| line_of(&row.variant).is_some());
    unread.filter(move |row| !builds.iter().any(|build| is_read(row, build))).map(|row| {
        let general: Vec<&Build> = builds
            .iter()
            .filter(|build| build.arch == row.arch && build.systems.is_empty() && !build.is_laid())
            .collect();
        let like = like(&general, &row.version, &row.variant);
        MayExist { version: &row.version, variant: &row.variant, arch: row.arch, like, published: true }
    })
}

/// Those that may lie on an index of which only a part was seen.
fn on_index<'c>(catalog: &Catalog, package: &str, builds: &'c [Build]) -> Vec<MayExist<'c>> {
    let rules = rules_of_lines(catalog, package);
    let general = [CpuArch::X86_64, CpuArch::Aarch64].map(|arch| {
        let builds = builds.iter().filter(|build| build.arch == arch && build.systems.is_empty() && !build.is_laid());
        let builds: Vec<&Build> = builds.collect();
        (arch, builds.iter().map(|build| &*build.variant).collect::<BTreeSet<_>>(), builds)
    });
    let mut found = Vec::new();
    for of_version in builds.chunk_by(|one, next| one.version == next.version) {
        let version = &of_version[0].version;
        // Who names a build of his own, or a nightly, knows that it exists.
        if of_version.iter().all(Build::is_laid) {
            continue;
        }
        let listing = catalog.listing(package, Index::Pytorch, version);
        if listing.is_none_or(|listing| listing.reading == Reading::Whole) {
            continue;
        }
        for (arch, variants, general) in &general {
            let seen = |variant: &str| {
                let mut of_arch = of_version
                    .iter()
                    .filter(|build| build.arch == *arch && build.systems.is_empty() && !build.is_laid());
                of_arch.any(|build| build.variant == *variant)
            };
            let goes_on = |variant: &&str| line_of(variant).is_none_or(|line| !is_given_up(&rules, version, &line));
            let is_absent = |variant: &str| listing.is_some_and(|listing| listing.lacks(version, variant, *arch));
            let missing = variants.iter().copied().filter(|variant| !seen(variant) && !is_absent(variant));
            for variant in missing.filter(goes_on) {
                let like = like(general, version, variant);
                found.push(MayExist { version, variant, arch: *arch, like, published: false });
            }
        }
    }
    found
}

/// Whether a release of a package that follows a framework may lie on the PyTorch index of a variant though nobody has
/// seen it there: that index was not read whole, and others of its releases lie there, before and after it. The newest may
/// have been published for any CUDA.
pub fn may_be_made_for(catalog: &Catalog, releases: &[&Companion], row: &Companion, variant: &str) -> bool {
    if variant == CPU && may_lie_beside_its_release(releases, row) {
        return true;
    }
    if line_of(variant).is_some_and(|line| kept_for(catalog, row, &line).is_some()) {
        return true;
    }
    let listing = catalog.listing(&row.package, Index::Pytorch, &row.version);
    let is_of_one_place = row.variant.is_some() || row.url.is_some() || row.index_url.is_some();
    if is_of_one_place || listing.is_none_or(|listing| listing.reading == Reading::Whole) {
        return false;
    }
    let labelled = || releases.iter().filter(|one| one.variant.is_some() && one.url.is_none());
    let of_variant = || labelled().filter(|one| one.variant.as_deref() == Some(variant));
    if of_variant().any(|one| one.version == row.version) {
        return false;
    }
    let is_newest = labelled().all(|one| one.version <= row.version);
    let is_between =
        || of_variant().any(|one| one.version < row.version) && of_variant().any(|one| one.version > row.version);
    (is_newest && line_of(variant).is_some()) || is_between()
}

/// Where the project of a package keeps builds of a release for a line of CUDA, of which nobody has read the list: there may
/// be one besides those that have a row.
pub fn kept_for<'c>(catalog: &'c Catalog, row: &Companion, line: &Version) -> Option<&'c str> {
    let is_of_index = row.variant.is_none() && row.url.is_none() && row.index_url.is_none() && row.systems.is_empty();
    let listing = catalog.listing(&row.package, Index::Pypi, &row.version).filter(|_| is_of_index)?;
    let is_for = listing.builds_for.iter().any(|cuda| line.cmp_prefix(cuda).is_eq());
    listing.builds_at.as_deref().filter(|_| is_for)
}

/// The same for one of the toolkits that are installed.
pub fn kept_for_any<'c>(catalog: &'c Catalog, row: &Companion, toolkits: &[Version]) -> Option<&'c str> {
    toolkits.iter().find_map(|toolkit| kept_for(catalog, row, &toolkit.prefix(2)))
}

/// The same of the variant of its framework that a constraint names.
pub fn is_kept_for_named(catalog: &Catalog, row: &Companion, wanted: &Constraint) -> bool {
    let mut named = wanted.comparisons().filter_map(|one| line_of(one.variant.as_deref()?));
    !row.follows_cuda() && named.any(|line| kept_for(catalog, row, &line).is_some())
}

/// Whether a release of what lies beside torch is one that nobody is known to have seen on the index of a variant for a
/// processor. Whatever that release holds, whether it is there is not known.
pub fn is_unseen(catalog: &Catalog, row: &Companion, variant: &str, arch: CpuArch) -> bool {
    let is_of_index = row.variant.is_none() && row.index_url.is_none() && row.url.is_none() && row.systems.is_empty();
    BESIDE_TORCH.contains(&&*row.package) && is_of_index && !lies(catalog, row, variant, arch)
}

/// Whether it is known to lie there.
pub fn lies(catalog: &Catalog, row: &Companion, variant: &str, arch: CpuArch) -> bool {
    row.is_offered_for(variant, arch) || usual_variant(catalog, row, arch) == Some(variant)
}

/// The variant that the wheel of the package index is of: the default of the framework's release that it was made with, the
/// only one that it takes, or the oldest.
pub fn usual_variant<'c>(catalog: &'c Catalog, row: &Companion, arch: CpuArch) -> Option<&'c str> {
    let needs = Constraint::parse(&row.needs).ok()?;
    let oldest = || needs.comparisons().find(|one| one.op.is_lower()).and_then(|one| one.version);
    let with: Version = needs.single().copied().or_else(oldest)?;
    let mut builds = catalog.builds.of(&row.framework).iter();
    let is_it = |build: &&Build| {
        build.default && build.arch == arch && build.version.cmp_prefix(&with).is_eq() && build.systems.is_empty()
    };
    builds.find(is_it).map(|build| &*build.variant)
}

/// Whether a release may have a wheel without GPU code beside its source: its project lays wheels for single variants there,
/// and nobody has listed them.
pub fn may_lie_beside_its_release(releases: &[&Companion], row: &Companion) -> bool {
    let is_on_index = row.variant.is_none() && row.url.is_none();
    let of_version = || releases.iter().filter(|one| one.version == row.version);
    is_on_index
        && releases.iter().any(|one| one.variant.is_some() && one.url.is_some())
        && !of_version().any(|one| one.variant.as_deref() == Some(CPU))
}

/// The builds of a variant in the nearest releases before and after a version.
fn like<'c>(builds: &[&'c Build], version: &Version, variant: &str) -> Vec<&'c Build> {
    let of_variant = || builds.iter().copied().filter(|build| build.variant == variant);
    let before = of_variant().filter(|build| build.version < *version).max_by_key(|build| build.version);
    let after = of_variant().filter(|build| build.version > *version).min_by_key(|build| build.version);
    before.into_iter().chain(after).collect()
}

/// Whether a publisher has said that a release of a package is no longer made for a line of CUDA.
pub fn is_given_up_for(catalog: &Catalog, package: &str, version: &Version, line: &Version) -> bool {
    is_given_up(&rules_of_lines(catalog, package), version, line)
}

/// The ranges of a package's releases, each with the lines of CUDA that these are published for.
fn rules_of_lines(catalog: &Catalog, package: &str) -> Vec<(Constraint, Constraint)> {
    let about = catalog.rules.iter().filter(|rule| is_about_lines(rule, package));
    about.filter_map(|rule| Constraint::parse(&rule.range).ok().zip(Constraint::parse(&rule.needs).ok())).collect()
}

/// Whether a rule tells which lines of CUDA a package is published for.
fn is_about_lines(rule: &Rule, package: &str) -> bool {
    rule.subject == Subject::Package && rule.object == Subject::Cuda && rule.package.as_deref() == Some(package)
}

/// Whether a publisher has said that a release is no longer made for a line.
fn is_given_up(rules: &[(Constraint, Constraint)], version: &Version, line: &Version) -> bool {
    rules.iter().any(|(range, needs)| range.admits(version) && !needs.admits(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    #[test]
    fn the_newest_release_may_be_on_the_index_of_any_cuda() {
        let all: Vec<&Companion> = BUILTIN.companions.of("xformers").iter().collect();
        let newest = all.iter().map(|row| row.version).max().unwrap();
        // As on the day of its release, when PyPI had it and nobody had read the index of torch.
        let read: Vec<&Companion> =
            all.into_iter().filter(|row| row.version < newest || row.variant.is_none()).collect();
        let released = read.iter().find(|row| row.version == newest).unwrap();
        let may_be = |variant: &str| may_be_made_for(&BUILTIN, &read, released, variant);
        assert!(may_be("cu130") && may_be("cu999") && !may_be(CPU));
        let first = read.iter().find(|row| row.variant.is_none()).unwrap();
        assert!(!may_be_made_for(&BUILTIN, &read, first, "cu999"));
    }
}
