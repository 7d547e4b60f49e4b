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
    const EXPLAINED: &'static str = "The standard support of the operating system had ended when this catalog was made. Paid extensions, \
        where they exist, are not counted. It still runs the stack; newer wheels will ask for a newer glibc \
        sooner or later.";

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
    const EXPLAINED: &'static str = "The catalog does not know this operating system. A relative of the same family is taken in its place, \
        or its glibc and gcc are not checked at all. State `glibc` of the target, and with a [build] \
        table its `gcc`, to have them checked.";

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
    const EXPLAINED: &'static str = "The catalog lists this operating system, but not its glibc, or, where a [build] table asks for it, \
        the gcc that comes with it, so whether wheels install and nvcc takes the compiler was not checked. State \
        `glibc` of the target, and with a [build] table its `gcc`: `ldd --version` and `gcc --version` tell them on \
        such a host.";

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
    const EXPLAINED: &'static str = "What is written decides nothing in this spec: `clang` is what nvcc calls, which is not asked without \
        `[build]`, a Jetson has no choice of kernel modules, and a machine without a GPU needs no driver. Delete the key, or add what it belongs to.";

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
    const EXPLAINED: &'static str = "Wheels are for a line of Python, with any patch release, and so is the lock: which patch releases of a line exist is not in the \
        catalog, and no export pins one. Write the line alone, and install the patch release that you want.";

    fn message(&self) -> String {
        let PythonPatch { written, line } = self;
        let unknown = "the catalog does not know which patch releases exist, and the lock pins none";
        if written.starts_with(|first: char| first.is_ascii_digit()) {
            return format!("Python {written} counts as {line}: {unknown}");
        }
        format!("Python {written} admits some patch releases of {line} only: {unknown}; install one that it admits")
    }
}
