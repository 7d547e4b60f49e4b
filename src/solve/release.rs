//! Releases: the builds of one version and variant, with what every question asks of them worked out once.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Extension, Status, Toolkit};
use crate::words::{Arrange, CpuArch, Version};

use super::fits;

/// The builds of one (version, variant) for each CPU architecture.
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
    /// The build for x86_64 and the one for aarch64.
    builds: [Option<&'c Build>; 2],
    /// The toolkit of each build.
    toolkits: [Option<&'c Toolkit>; 2],
}

impl<'c> Release<'c> {
    /// The build for a CPU architecture.
    pub fn on(&self, arch: CpuArch) -> Option<&'c Build> {
        self.builds[position(arch)]
    }

    /// The toolkit release whose runtime the build for a CPU architecture carries.
    pub fn toolkit(&self, arch: CpuArch) -> Option<&'c Toolkit> {
        self.toolkits[position(arch)]
    }

    /// Whether this is the build without CUDA.
    pub fn is_cpu(&self) -> bool {
        self.variant == "cpu"
    }

    /// The builds there are.
    pub fn builds(&self) -> impl Iterator<Item = &'c Build> {
        self.builds.iter().flatten().copied()
    }

    fn put(&mut self, build: &'c Build, catalog: &'c Catalog) {
        let at = position(build.arch);
        self.builds[at] = Some(build);
        self.toolkits[at] = fits::toolkit_of(catalog, build, self.line.as_ref());
    }

    /// The order of a version's variants: the index's default, then stable ones newest first, then the rest.
    fn rank(&self) -> (bool, bool, Reverse<Option<Version>>) {
        let default = self.builds().any(|build| build.default);
        let stable = self.builds().any(|build| build.status == Status::Stable);
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
        let same = |known: &&mut Release| known.version == &build.version && known.variant == build.variant;
        if let Some(known) = releases.last_mut().filter(same) {
            known.put(build, catalog);
            continue;
        }
        let (version, variant) = (&build.version, &*build.variant);
        let line = *lines.entry(variant).or_insert_with(|| fits::line_of(variant));
        let extension = match releases.last().filter(|before| before.version == version) {
            Some(before) => before.extension,
            None => fits::extension_row(catalog, &build.package, version),
        };
        let mut release = Release { version, variant, line, extension, builds: [None; 2], toolkits: [None; 2] };
        release.put(build, catalog);
        releases.push(release);
    }
    debug_assert!(builds.is_sorted_by_key(|build| build.version), "a catalog sorts its rows");
    // Builds come by version, oldest first, so that only the order within a version is to be found.
    for of_version in releases.chunk_by_mut(|one, next| one.version == next.version) {
        of_version.arrange_by_key(Release::rank);
        of_version.reverse();
    }
    releases.reverse();
    releases
}
