//! What is said of the catalog and the lock as such, and of tables of the spec that do nothing.

use super::Kind;

/// A catalog of which much time has passed.
pub struct CatalogOld<'a> {
    /// Its version.
    pub version: &'a str,
    /// Its age.
    pub days: i64,
}

impl Kind for CatalogOld<'_> {
    const CODE: &'static str = "catalog-old";

    fn message(&self) -> String {
        format!(
            "catalog {} is {} days old: it knows nothing of what was published since; install a newer one \
             (`gpuenv catalog update`) or a newer gpuenv",
            self.version, self.days
        )
    }
}

/// An installed catalog that cannot be read.
pub struct CatalogUnusable<'a> {
    /// Its version.
    pub version: &'a str,
    /// Its file.
    pub file: &'a str,
    /// What is wrong with it.
    pub why: &'a str,
    /// The one that answers in its place.
    pub answering: &'a str,
}

impl Kind for CatalogUnusable<'_> {
    const CODE: &'static str = "catalog-unusable";

    fn message(&self) -> String {
        format!(
            "the installed catalog {} cannot be used: {} ({}). The {} answers instead; install it again \
             with `gpuenv catalog update FILE`, or remove it with `gpuenv catalog update --rollback built-in`",
            self.version, self.why, self.file, self.answering
        )
    }
}

/// A lock made with a newer catalog than is at hand.
pub struct LockNewerCatalog<'a> {
    /// The version it was made with.
    pub made_with: &'a str,
    /// The version at hand.
    pub at_hand: &'a str,
}

impl Kind for LockNewerCatalog<'_> {
    const CODE: &'static str = "lock-newer-catalog";

    fn message(&self) -> String {
        format!(
            "gpuenv.lock was made with catalog {}, and {} is at hand: it was kept as it is. Install the newer catalog \
             (`gpuenv catalog update FILE`) or a newer gpuenv to check it",
            self.made_with, self.at_hand
        )
    }
}

/// A lock that holds an answer which the catalog at hand does not have any more.
pub struct LockOutdated<'a> {
    /// The version it was made with.
    pub made_with: &'a str,
    /// The version at hand.
    pub at_hand: &'a str,
}

impl Kind for LockOutdated<'_> {
    const CODE: &'static str = "lock-outdated";

    fn message(&self) -> String {
        format!(
            "the lock is of catalog {}; catalog {} knows no answer to this spec any more: see `gpuenv lock --upgrade`",
            self.made_with, self.at_hand
        )
    }
}

/// An override without which the answer is the same.
pub struct UnusedOverride<'a> {
    /// The rule that it sets aside.
    pub rule: &'a str,
    /// The target that it is for.
    pub target: Option<&'a str>,
}

impl Kind for UnusedOverride<'_> {
    const CODE: &'static str = "unused-override";

    fn message(&self) -> String {
        let aim = self.target.map_or_else(String::new, |target| format!(" for target `{target}`"));
        format!("the override of `{}`{aim} changes nothing: it can be deleted", self.rule)
    }
}

/// A silence of what was not said.
pub struct UnusedSilence<'a> {
    /// The code that it names.
    pub warning: &'a str,
    /// The target that it is for.
    pub target: Option<&'a str>,
}

impl Kind for UnusedSilence<'_> {
    const CODE: &'static str = "unused-silence";

    fn message(&self) -> String {
        let of = self.target.map_or_else(String::new, |target| format!(" of target `{target}`"));
        format!("`{}`{of} is silenced but was not given: the table can be deleted", self.warning)
    }
}
