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
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "Two frameworks in one environment each come with a cuDNN of one major, of which a process loads one, and \
        the first is older than the other needs. Put them into environments of their own, or choose releases that agree on cuDNN.";

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
    const EXPLAINED: &'static str = "The wheel of one framework holds libraries of CUDA, and another framework asks pip for newer ones of the \
        same major. A process loads those of the framework that is imported first; JAX compares what it finds with what it was \
        built with, and where that is older it computes on the CPU. Import that one first, put them into environments of their \
        own, or choose releases that agree.";

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
    const EXPLAINED: &'static str = "`[packages]` names packages of which nobody has read a release for this catalog, or asks for releases alone that nobody has read: such as have no file for Linux, or came as source, or are newer than the last that was read, where the catalog tells which that was; or extras that nobody has read. They stand in the lock and in exports as they are written; what they need of the framework, of Python or of CUDA was compared with nothing. Their own documentation tells; a row in an overlay has gpuenv check it, and `[[silence]]` says that you know.";

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
    const EXPLAINED: &'static str = "A package under [packages] is carried as it is written, and nothing of it is checked. This one is for a CUDA, by its name \
        or by the toolkits that have it, that is not the one of the locked stack: its libraries may lack, or be loaded beside \
        those of the stack. Write the package for the stack's CUDA, or choose a stack for the package's (`cuda` under [stack]).";

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
    const EXPLAINED: &'static str = "A package under [packages] needs torch, and [stack] names none: installers bring the newest that it accepts, with CUDA \
        libraries of its own. Nothing of that torch is checked: it may need a newer driver, have no code for the GPU, or overwrite the \
        libraries of the locked stack, with which it shares folders. Write `torch` under [stack], and one is chosen that goes with the rest.";

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
        /// The older releases that exports keep to, which do not bring it, `<1.1.10`; none where it is asked for of each.
        held: Option<&'a str>,
    },
    /// What goes with a build lies where that does, and its number tells nothing of that.
    Elsewhere {
        /// Which build.
        build: &'a str,
    },
    /// Nothing brings it.
    Missing {
        /// How that shows.
        says: &'a str,
    },
}

impl Kind for PackageBrings<'_> {
    const CODE: &'static str = "package-brings";
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "A package under [packages] needs one that [stack] knows and nobody names there. Either installers bring it, and what they take \
        does not go with the locked framework, its CUDA, its cuDNN or the GPUs: what is imported fails, or computes on the CPU. \
        Or its code needs it and its metadata does not ask for it. The message names what was tried and resolves: the package under [stack], \
        alone or with another release of the framework, or another release of the package that brings it.";

    fn message(&self) -> String {
        let PackageBrings { named, brings: (what, of), how, cure } = self;
        let cure = if cure.is_empty() { String::new() } else { format!("; {cure}") };
        match how {
            Brought::Unfit { build, held } => {
                let held = held.map_or_else(String::new, |held| format!("; exports keep to {held}"));
                format!("`{named}` brings {what}, of which no known release goes with {build}{held}{cure}")
            }
            Brought::Elsewhere { build } => format!(
                "`{named}` brings {what}, whose build for {build} lies where torch's own does, under the number that another build \
                 has on PyPI, which installers take{cure}"
            ),
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
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "Two packages hold the same module: onnxruntime and onnxruntime-gpu, faiss-cpu and faiss-gpu. Installers take both, \
        for their names differ, and the files of whichever is installed last replace those of the other: mostly the build \
        for the CPU is left, which computes without the GPU and says nothing, or a mixture that does not load. Ask for one of \
        them. Where another package requires the other, uninstall both when all is installed, and install the one for the GPU \
        again with --no-deps; uv leaves one out by `override-dependencies = [\"onnxruntime ; python_version < '0'\"]`.";

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
