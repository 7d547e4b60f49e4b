//! Releases: the builds of one version and variant, with what every question asks of them worked out once.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Extension, Status, Toolkit};
use crate::types::variant::{CPU, line_of};
use crate::types::{Arch, CpuArch, Version};

use super::platform::{Platform, Takes};
use super::unseen;

/// The builds of one (version, variant) for each kind of machine.
#[derive(Debug, Clone)]
pub struct Release<'c> {
    /// The version.
    pub version: &'c Version,
    /// The variant.
    pub variant: &'c str,
    /// The CUDA line of the variant; none for `cpu`.
    pub line: Option<Version>,
    /// What its extension builder accepts, where the catalog knows it.
    pub extension: Option<&'c Extension>,
    /// The build for x86_64 and the one for aarch64, each with its toolkit.
    builds: [Option<Built<'c>>; 2],
    /// The builds for single systems.
    for_systems: Vec<Built<'c>>,
    /// One for x86_64 and one for aarch64 that nobody has read.
    unseen: [Option<Unseen<'c>>; 2],
}

/// A build that may exist though nobody has seen it, or does and nobody has read it.
#[derive(Debug, Clone)]
struct Unseen<'c> {
    /// The builds that it would be like.
    like: Vec<&'c Build>,
    /// Whether it is known that it exists.
    published: bool,
}

/// A build and the toolkit release whose runtime it carries.
type Built<'c> = (&'c Build, Option<&'c Toolkit>);

impl<'c> Release<'c> {
    fn built(&self, platform: Platform<'_>) -> Option<Built<'c>> {
        // Of several images of a repository that hold this release rather one of which it is known what it has code for.
        let taken = || self.for_systems.iter().copied().filter(|(build, _)| platform.takes(build));
        let for_system = || taken().min_by_key(|(build, _)| build.arch_source.is_none());
        match platform.takes {
            Takes::General => self.builds[position(platform.arch)],
            // What somebody built for it is made for it, and beside the torch of an image runs what is no torch.
            Takes::ForSystem(_) => {
                for_system().or(self.builds[position(platform.arch)].filter(|(build, _)| platform.takes(build)))
            }
            // What is made for a board has code for it, which others mostly lack.
            Takes::Either => for_system().or(self.builds[position(platform.arch)]),
        }
    }

    /// The build for a kind of machine.
    pub fn on(&self, platform: Platform<'_>) -> Option<&'c Build> {
        self.built(platform).map(|(build, _)| build)
    }

    /// The toolkit release whose runtime the build for a kind of machine carries.
    pub fn toolkit(&self, platform: Platform<'_>) -> Option<&'c Toolkit> {
        self.built(platform)?.1
    }

    /// Whether there may be a build for a kind of machine that nobody has seen.
    pub fn is_unseen(&self, platform: Platform<'_>) -> bool {
        let is_one = self.unseen[position(platform.arch)].is_some();
        !matches!(platform.takes, Takes::ForSystem(_)) && is_one && self.on(platform).is_none()
    }

    /// The builds of its variant before and after it, which one that nobody has seen would be like.
    pub fn like(&self, platform: Platform<'_>) -> &[&'c Build] {
        self.unseen[position(platform.arch)].as_ref().map_or(&[], |unseen| &unseen.like)
    }

    /// Whether it is known that what nobody has read for a processor was published.
    pub fn was_published(&self, arch: CpuArch) -> bool {
        self.unseen[position(arch)].as_ref().is_some_and(|unseen| unseen.published)
    }

    /// The version of the PTX inside, read in it or that of its toolkit.
    pub fn ptx_isa(&self, platform: Platform<'_>) -> Option<Version> {
        let (build, toolkit) = self.built(platform)?;
        build.ptx_isa.or(toolkit.map(|toolkit| toolkit.ptx_isa))
    }

    /// What its extension builder takes on a kind of machine; none where that is not known.
    pub fn extension_archs(&self, platform: Platform<'_>) -> Option<Vec<Arch>> {
        let known = self.extension?.archs.iter();
        let own = self.built(platform).map_or(&[][..], |(build, _)| build.own_archs());
        Some(known.chain(own).copied().collect())
    }

    /// Whether it is a build of somebody's own.
    pub fn is_own(&self) -> bool {
        self.builds().any(Build::is_own)
    }

    /// Whether a spec brings it.
    pub fn is_laid(&self) -> bool {
        self.builds().any(Build::is_laid)
    }

    /// Whether this is the build without CUDA.
    pub fn is_cpu(&self) -> bool {
        self.variant == CPU
    }

    /// The builds for Linux in general.
    pub fn builds(&self) -> impl Iterator<Item = &'c Build> {
        self.builds.iter().flatten().map(|(build, _)| *build)
    }

    /// The builds for single systems.
    pub fn for_systems(&self) -> impl Iterator<Item = &'c Build> {
        self.for_systems.iter().map(|(build, _)| *build)
    }

    fn new(version: &'c Version, variant: &'c str, line: Option<Version>, extension: Option<&'c Extension>) -> Self {
        Release { version, variant, line, extension, builds: [None; 2], for_systems: Vec::new(), unseen: [None, None] }
    }

    fn put(&mut self, build: &'c Build, catalog: &'c Catalog) {
        let built = (build, catalog.toolkit_of(build));
        match build.systems.is_empty() {
            true => self.builds[position(build.arch)] = Some(built),
            false => self.for_systems.push(built),
        }
    }

    /// The order of a version's variants: the index's default, then stable ones newest first, then the rest. What is
    /// made for single systems says nothing to others.
    fn rank(&self) -> (bool, bool, Reverse<Option<Version>>) {
        let general = self.builds().next().is_some();
        let stable = |build: &Build| build.status == Status::Stable;
        let default = self.builds().any(|build| build.default);
        let stable = if general { self.builds().any(stable) } else { self.for_systems().any(stable) };
        (!default, !stable, Reverse(self.line))
    }
}

fn position(arch: CpuArch) -> usize {
    usize::from(arch == CpuArch::Aarch64)
}

/// The releases of a package's builds, newest version first and of one version the preferred variant first.
pub fn releases<'c>(catalog: &'c Catalog, builds: &'c [Build]) -> Vec<Release<'c>> {
    let mut releases: Vec<Release> = Vec::new();
    let mut lines: FxHashMap<&str, Option<Version>> = FxHashMap::default();
    for build in builds {
        let same = |known: &&mut Release| {
            known.version == &build.version && known.variant == build.variant && known.is_laid() == build.is_laid()
        };
        if let Some(known) = releases.last_mut().filter(same) {
            known.put(build, catalog);
            continue;
        }
        let (version, variant) = (&build.version, &*build.variant);
        let line = *lines.entry(variant).or_insert_with(|| line_of(variant));
        let extension = match releases.last().filter(|before| before.version == version) {
            Some(before) => before.extension,
            None => catalog.extension_of(build),
        };
        let mut release = Release::new(version, variant, line, extension);
        release.put(build, catalog);
        releases.push(release);
    }
    for one in unseen::may_exist(catalog, builds) {
        let (version, variant, at) = (one.version, one.variant, position(one.arch));
        let unseen = Unseen { like: one.like, published: one.published };
        let is_it = |known: &&mut Release| known.version == version && known.variant == variant && !known.is_laid();
        if let Some(known) = releases.iter_mut().find(is_it) {
            known.unseen[at] = Some(unseen);
            continue;
        }
        // Behind the other releases of its version, or those before it.
        let after = releases.partition_point(|known| known.version <= version);
        let extension = after.checked_sub(1).and_then(|before| releases[before].extension);
        let mut release = Release::new(version, variant, line_of(variant), extension);
        release.unseen[at] = Some(unseen);
        releases.insert(after, release);
    }
    debug_assert!(builds.is_sorted_by_key(|build| build.version), "a catalog sorts its rows");
    // Builds come by version, oldest first, so that only the order within a version is to be found.
    for of_version in releases.chunk_by_mut(|one, next| one.version == next.version) {
        of_version.sort_by_key(Release::rank);
        of_version.reverse();
    }
    releases.reverse();
    releases
}
