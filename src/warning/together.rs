//! Packages in one environment that come with different libraries.

use crate::types::Version;

use super::{Kind, inside};

/// Two frameworks that each come with a cuDNN of their own.
pub struct TwoCudnns<'a> {
    /// The framework whose cuDNN is loaded, and that cuDNN.
    pub first: (&'a str, &'a Version),
    /// The other one, and what it needs.
    pub other: (&'a str, &'a Version),
}

impl Kind for TwoCudnns<'_> {
    const CODE: &'static str = "two-cudnns";

    fn message(&self) -> String {
        let ((first, loaded), (other, needed)) = (self.first, self.other);
        format!("{first} comes with cuDNN {loaded}, {other} needs {needed}: a process loads only one of that major")
    }
}

/// A framework that holds older libraries of CUDA than another in its environment asks for.
pub struct TwoCudas<'a> {
    /// What holds its own, and the toolkit release that they are of.
    pub holds: (&'a str, &'a Version),
    /// The other one, and the least line that it asks for.
    pub other: (&'a str, &'a Version),
}

impl Kind for TwoCudas<'_> {
    const CODE: &'static str = "two-cudas";

    fn message(&self) -> String {
        let ((first, holds), (other, needed)) = (self.holds, self.other);
        format!(
            "{first} holds libraries of CUDA {holds}, {other} asks for those of {needed} or newer: a process loads those of what \
             is imported first, and {other} may not use the GPU with the older ones; import it first, or give each an \
             environment of its own"
        )
    }
}

/// Packages of which nothing is known.
pub struct PackageNotChecked<'a> {
    /// Each, and where its wheels for CUDA lie, if that is known of it.
    pub packages: Vec<(String, Option<&'a str>)>,
}

impl Kind for PackageNotChecked<'_> {
    const CODE: &'static str = "package-not-checked";

    fn message(&self) -> String {
        let named = self.packages.iter().take(MOST).map(|(name, elsewhere)| match elsewhere {
            Some(at) => format!("`{name}` (its wheels for CUDA lie at {at})"),
            None => format!("`{name}`"),
        });
        let names = named.collect::<Vec<_>>().join(", ");
        let more = self.packages.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("nothing is known of {names}{more}: not checked against the stack")
    }
}

/// How many are named at the most.
const MOST: usize = 8;

/// An ordinary package that is for another CUDA than the stack's.
pub struct PackageCuda<'a> {
    /// The package.
    pub package: &'a str,
    /// The CUDA that it is for.
    pub names: &'a Version,
    /// Whether its name tells that; else the toolkits do that have such a library.
    pub by_name: bool,
    /// What the stack is built for, and that CUDA.
    pub stack: (&'a str, &'a Version),
}

impl Kind for PackageCuda<'_> {
    const CODE: &'static str = "package-cuda";

    fn message(&self) -> String {
        let (PackageCuda { package, names, by_name, .. }, (stack, cuda)) = (self, self.stack);
        let by = if *by_name { " by its name" } else { "" };
        format!("{package} under [packages] is for CUDA {names}{by}, and {stack} is built for CUDA {cuda}")
    }
}

/// Ordinary packages that bring a framework along which is not chosen.
pub struct PackageFramework<'a> {
    /// The packages.
    pub packages: &'a [&'a str],
    /// The framework.
    pub framework: &'a str,
}

impl Kind for PackageFramework<'_> {
    const CODE: &'static str = "package-framework";

    fn message(&self) -> String {
        let PackageFramework { packages, framework } = self;
        let (named, need) = match packages {
            [others @ .., last] if !others.is_empty() => (format!("{} and {last}", others.join(", ")), "need"),
            one => (one.concat(), "needs"),
        };
        format!(
            "{named} under [packages] {need} {framework}, and [stack] has none: installers bring the newest one with its own CUDA \
             libraries, of which nothing is checked; write `{framework} = \"*\"` under [stack]"
        )
    }
}

/// A package that `[stack]` knows, which comes along with an ordinary one, or has to, and is not named.
pub struct PackageBrings<'a> {
    /// What is written of the ordinary one, or what comes along with that: `faster-whisper = "*"`.
    pub named: &'a str,
    /// What it brings, `ctranslate2 >=4.0,<5`, and its name.
    pub brings: (&'a str, &'a str),
    /// What is wrong with that.
    pub how: Brought<'a>,
    /// What was solved and has an answer, `write … under [stack]`; empty where nothing that was tried has.
    pub cure: &'a str,
}

/// What is wrong with what an ordinary package brings along.
pub enum Brought<'a> {
    /// No known release of it goes with a build.
    Unfit {
        /// Which build.
        build: &'a str,
        /// What those that go with it do not go with.
        bar: Bars<'a>,
        /// The older releases that exports keep to, which do not bring it, `<1.1.10`; none where it is asked for of each.
        held: Option<&'a str>,
    },
    /// What goes with a build lies where that does, and its number tells nothing of that.
    Elsewhere {
        /// Which build.
        build: &'a str,
    },
    /// No release of it goes with what is written of some targets.
    Refused {
        /// Their names.
        targets: &'a [&'a str],
    },
    /// Nothing brings it.
    Missing {
        /// How that shows.
        says: &'a str,
    },
}

/// What the releases of a package that go with a build do not go with.
pub enum Bars<'a> {
    /// There are none.
    None,
    /// The GPUs of the target; what is seen then, if that is known.
    Gpu(Option<&'a str>),
    /// The locked Python: those that they have wheels for, and it.
    Python(&'a str, &'a Version),
}

impl Kind for PackageBrings<'_> {
    const CODE: &'static str = "package-brings";

    fn message(&self) -> String {
        let PackageBrings { named, brings: (what, of), how, cure } = self;
        let cure = if cure.is_empty() { String::new() } else { format!("; {cure}") };
        match how {
            Brought::Unfit { build, bar, held } => {
                let held = held.map_or_else(String::new, |held| format!("; exports keep to {held}"));
                let why = match bar {
                    Bars::None => format!("of which no known release goes with {build}"),
                    Bars::Gpu(None) => format!("whose releases for {build} hold no code for a GPU of the target"),
                    Bars::Gpu(Some(says)) => {
                        format!("whose releases for {build} fail on a GPU of the target: {}", inside(says))
                    }
                    Bars::Python(needs, locked) => format!(
                        "whose releases for {build} have wheels for Python {} only, and Python {locked} is locked: use one of those",
                        needs.replace(" || ", ", ")
                    ),
                };
                format!("`{named}` brings {what}, {why}{held}{cure}")
            }
            Brought::Elsewhere { build } => format!(
                "`{named}` brings {what}, whose build for {build} lies where torch's own does, under the number that another build \
                 has on PyPI, which installers take{cure}"
            ),
            Brought::Refused { targets } => {
                let (one, names) = (if targets.len() == 1 { "target" } else { "targets" }, targets.join("`, `"));
                format!("`{named}` brings {what}, of which no known release goes with {one} `{names}`{cure}")
            }
            Brought::Missing { says } => {
                format!("`{named}` needs {of}, which its metadata does not name: {}{cure}", inside(says))
            }
        }
    }
}

/// Two packages that install one module.
pub struct SameModule<'a> {
    /// What is imported.
    pub module: &'a str,
    /// The locked package and its release.
    pub locked: &'a str,
    /// The other.
    pub other: &'a str,
    /// Who requires that, if nobody asks for it.
    pub requirer: Option<&'a str>,
    /// Whether `[packages]` asks for it.
    pub is_written: bool,
}

impl Kind for SameModule<'_> {
    const CODE: &'static str = "same-module";

    fn message(&self) -> String {
        let SameModule { module, locked, other, .. } = self;
        let package = locked.split(' ').next().unwrap_or_default();
        let then = "installers take both, and the files of whichever comes last replace those of the other";
        match self.requirer {
            Some(requirer) => format!(
                "{requirer} requires {other}, which installs the same module as the locked {locked}, `{module}`: {then}; \
                 uninstall both afterwards, and install {package} again with --no-deps"
            ),
            None if self.is_written => format!(
                "`{other}` of [packages] installs the same module as the locked {locked}, `{module}`: {then}; take it out of \
                 [packages]"
            ),
            None => format!("{other} installs the same module as {locked}, `{module}`: {then}; ask for one of the two"),
        }
    }
}
