//! What is said of operating systems, and of the Python on them.

use crate::types::Version;

use super::Kind;

/// A system whose support had ended on the day of the catalog.
pub struct OsEndOfLife<'a> {
    /// The system.
    pub os: &'a str,
    /// The day.
    pub end: &'a str,
}

impl Kind for OsEndOfLife<'_> {
    const CODE: &'static str = "os-end-of-life";

    fn message(&self) -> String {
        format!("standard support of {} ended {}", self.os, self.end)
    }
}

/// A system that the catalog does not list.
pub struct OsNotListed<'a> {
    /// What is written.
    pub os: &'a str,
    /// The relative that it is judged as.
    pub nearest: Option<&'a str>,
    /// A system whose name differs by a slip of the pen.
    pub meant: Option<&'a str>,
}

impl Kind for OsNotListed<'_> {
    const CODE: &'static str = "os-not-listed";

    fn message(&self) -> String {
        match self.nearest {
            Some(nearest) => format!("`{}` is not in the catalog; it is judged as `{nearest}`", self.os),
            None => {
                let meant = self.meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
                format!("`{}` is not in the catalog: its glibc and gcc are unknown and not checked{meant}", self.os)
            }
        }
    }
}

/// Parts of a listed system that nobody has read.
pub struct OsPartsUnknown<'a> {
    /// The system.
    pub os: &'a str,
    /// The parts.
    pub parts: &'a [&'a str],
}

impl Kind for OsPartsUnknown<'_> {
    const CODE: &'static str = "os-parts-unknown";

    fn message(&self) -> String {
        let are = if self.parts.len() == 1 { "is" } else { "are" };
        format!("the {} of {} {are} not known and not checked", self.parts.join(" and "), self.os)
    }
}

/// A key that decides nothing where it stands.
pub struct UnusedKey<'a> {
    /// The key.
    pub key: &'a str,
    /// Why not.
    pub why: &'a str,
}

impl Kind for UnusedKey<'_> {
    const CODE: &'static str = "unused-key";

    fn message(&self) -> String {
        format!("`{}` decides nothing here: {}", self.key, self.why)
    }
}

/// A patch release of Python that is named.
pub struct PythonPatch<'a> {
    /// What is named, alone or in a bound.
    pub written: &'a str,
    /// The line that it counts as.
    pub line: Version,
}

impl Kind for PythonPatch<'_> {
    const CODE: &'static str = "python-patch";

    fn message(&self) -> String {
        let PythonPatch { written, line } = self;
        let unknown = "the catalog does not know which patch releases exist, and the lock pins none";
        if written.starts_with(|first: char| first.is_ascii_digit()) {
            return format!("Python {written} counts as {line}: {unknown}");
        }
        format!("Python {written} admits some patch releases of {line} only: {unknown}; install one that it admits")
    }
}
