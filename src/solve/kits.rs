//! The metapackages of toolkit releases (`cuda-toolkit`), the text of each read once.

use crate::catalog::Catalog;
use crate::catalog::rows::Libraries;
use crate::types::{Constraint, CpuArch, Specifier, Version, nvidia};

/// What somebody asks of a library, `nvidia-cublas-cu12` and `>=12.1.3.1`.
pub type PackageRequest<'c> = (&'c str, Constraint);

/// A toolkit release and its components.
#[derive(Debug)]
pub struct Kit<'c> {
    /// The release.
    pub version: Version,
    /// Its metapackage.
    pub row: &'c Libraries,
    components: Vec<(&'c str, &'c str, Version)>,
}

impl<'c> Kit<'c> {
    /// Those of a catalog.
    pub fn all(catalog: &'c Catalog) -> Vec<Kit<'c>> {
        catalog.libraries.of(nvidia::TOOLKIT).iter().map(Kit::of).collect()
    }

    fn of(row: &'c Libraries) -> Kit<'c> {
        let read = |(name, range): (&'c str, &'c str)| {
            let text = Libraries::oldest(range)?;
            Some((name, text, Version::parse(text).ok()?))
        };
        Kit { version: row.version, row, components: row.asked().filter_map(read).collect() }
    }

    fn component(&self, package: &str) -> Option<&(&'c str, &'c str, Version)> {
        self.components.iter().find(|(name, ..)| *name == package)
    }

    /// The oldest glibc that the wheels of a component admit, where that is not every one.
    pub fn needs_glibc(&self, package: &str, arch: CpuArch) -> Option<Version> {
        self.row.newer_glibc.iter().find_map(|text| {
            let mut words = text.strip_prefix(package)?.strip_prefix(' ')?.split(' ');
            let needs = Version::parse(words.next()?).ok()?;
            words.next().is_none_or(|only| only == arch.as_str()).then_some(needs)
        })
    }

    /// The version that it pins of a package; of one that it leaves open, the oldest it takes, which is its own.
    pub fn version_of(&self, package: &str) -> Option<&Version> {
        self.component(package).map(|(.., version)| version)
    }

    /// The same as it is spelled.
    pub fn text_of(&self, package: &str) -> Option<&'c str> {
        self.component(package).map(|(_, text, _)| *text)
    }

    /// Whether it has the component that somebody asks for, or none of that name.
    pub fn goes_with(&self, name: &str, range: &Specifier) -> bool {
        self.version_of(name).is_none_or(|version| range.admits(version))
    }

    /// Whether it has components for all that is asked for, as far as it has such components, and some.
    pub fn has_all(&self, open: &[PackageRequest<'_>]) -> bool {
        let mut known = open.iter().filter_map(|(name, range)| Some((self.version_of(name)?, range))).peekable();
        known.peek().is_some() && known.all(|(version, range)| range.admits(version))
    }
}

/// The release of a component for a toolkit: its own; or where that one does not serve, or it has none, the nearest later of its
/// major that does. What is left open upwards an installer would take as well.
pub fn component<'c>(
    kits: &[Kit<'c>],
    toolkit: &Version,
    name: &str,
    serves: impl Fn(&Version) -> bool,
) -> Option<&'c str> {
    let from_here = kits.iter().filter(|kit| kit.version >= *toolkit && kit.version.major() == toolkit.major());
    let serving = from_here.filter(|kit| kit.version_of(name).is_some_and(&serves));
    serving.min_by_key(|kit| kit.version)?.text_of(name)
}
