//! How things are known: sources, listings, practices; rules; and what people paste.

use serde::{Deserialize, Serialize};

use super::{Among, Component, Index, List, Property, Reading, SourceKind, Subject, Text};
use crate::types::prose::Prose;
use crate::types::{CpuArch, Version};

/// What rules are asked for: what a subject needs of an object. Of another pair a rule would never be heard.
pub const ASKED: &[(Subject, Subject)] = &[
    (Subject::Gpu, Subject::Cuda),
    (Subject::Gpu, Subject::Driver),
    (Subject::Cuda, Subject::Driver),
    (Subject::Toolkit, Subject::Glibc),
    (Subject::Toolkit, Subject::Gcc),
    (Subject::Cudnn, Subject::Gpu),
    (Subject::Cudnn, Subject::Cudnn),
    (Subject::Triton, Subject::Gpu),
    (Subject::Package, Subject::Gpu),
    (Subject::Package, Subject::Triton),
    (Subject::Package, Subject::Cuda),
    (Subject::Package, Subject::Driver),
    (Subject::Package, Subject::Toolkit),
    (Subject::Package, Subject::Gcc),
    (Subject::Package, Subject::Cudnn),
    (Subject::Nccl, Subject::Gpu),
    (Subject::Package, Subject::Clang),
    (Subject::Package, Subject::Glibc),
    (Subject::Package, Subject::Libstdcxx),
    (Subject::Cufft, Subject::Gpu),
    (Subject::Nvrtc, Subject::Gpu),
    (Subject::Cublas, Subject::Gpu),
    (Subject::Cublas, Subject::Glibc),
    (Subject::Package, Subject::Ptxas),
    (Subject::Gpu, Subject::Cudnn),
    (Subject::Compile, Subject::Python),
    (Subject::Driver, Subject::Kernel),
];

/// A source: where a fact can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name rows refer to.
    pub id: Text,
    /// A URL or purl. `{version}`, `{package}`, `{arch}` stand for those of the row, `{variant}` also for its CUDA.
    pub at: Text,
    /// How it knows.
    pub kind: SourceKind,
    /// When it was read, `2026-11-20`; of a copy that somebody kept, when it was made.
    pub seen: Text,
    /// What a reader should know about it.
    pub note: Option<Prose>,
}

/// How much of what an index holds of a package was read, from a release on. Only of a listing that was read whole is
/// known what was not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// `torch`
    pub package: Text,
    /// The index: `pypi`, or `pytorch` for all of the PyTorch index.
    pub index: Index,
    /// The first release this row speaks of; it holds until the next row of the package and index. Of one of which only a
    /// part was seen it is no beginning: older releases may lie there too.
    pub from: Version,
    /// How much of it was read.
    pub reading: Reading,
    /// Its source, which tells the day.
    pub source: Text,
    /// Where else the project keeps releases, if nobody has read what: then what this listing lacks may be there.
    pub elsewhere: Option<Text>,
    /// The index has no release before `from`. Otherwise what fits no release that was read may fit an older one.
    #[serde(default)]
    pub first: bool,
    /// Releases of which its publisher has withdrawn (yanked) every file: installers take one only where it is named alone.
    #[serde(default)]
    pub yanked: List<Version>,
    /// The name under which its project goes on with it: the same modules, in a package of another name.
    pub now: Option<Text>,
    /// Releases that the index was seen to have of one of NVIDIA's libraries, of which no table has a row for each.
    #[serde(default)]
    pub releases: List<Version>,
    /// Builds that it was seen to lack, of which it has the same for another processor: `2.8.0+cu128 aarch64`.
    #[serde(default)]
    pub lacks: List<Text>,
    /// CUDAs for which its project keeps builds of the very releases of this listing, `11.8` or all of `12`, if nobody has read
    /// of which and for which Pythons: then one that no row names may be there.
    #[serde(default)]
    pub builds_for: List<Version>,
    /// Where it keeps them.
    pub builds_at: Option<Text>,
    /// The source of both.
    pub builds_source: Option<Text>,
}

impl Listing {
    /// Whether it was seen to lack a build.
    pub fn lacks(&self, version: &Version, variant: &str, arch: CpuArch) -> bool {
        self.lacks.iter().any(|build| **build == *format!("{version}+{variant} {arch}"))
    }
}

/// What a publisher always does, or nearly so: builds of a group that have the same in a field. What is not known of one
/// build is expected to be as in the others of its group; that a build exists is never expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Practice {
    /// Its stable name.
    pub id: Text,
    /// The package.
    pub package: Text,
    /// What is the same.
    pub property: Property,
    /// In which builds.
    pub among: Among,
    /// In how many groups of the catalog, of those in which two builds or more are known, it holds.
    pub holds: u32,
    /// How many such groups there are.
    pub of: u32,
    /// The groups in which it does not hold: `1.5.0 x86_64`.
    #[serde(default)]
    pub exceptions: List<Text>,
    /// The practice in one plain sentence.
    pub says: Prose,
    /// Its source.
    pub source: Text,
}

/// A rule that holds for a range: where `subject` is in `range`, `object` must be in `needs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its stable name, used in overrides and explanations.
    pub id: Text,
    /// What it speaks of.
    pub subject: Subject,
    /// The package, where that is what it speaks of, or uses what it speaks of: `flash-attn`.
    pub package: Option<Text>,
    /// Which of it, in constraint grammar.
    pub range: Text,
    /// What that needs.
    pub object: Subject,
    /// The range needed, in constraint grammar.
    pub needs: Text,
    /// The rule in one plain sentence.
    pub says: Prose,
    /// Its source.
    pub source: Text,
    /// Pairs `subject object` that satisfy it.
    pub holds: List<Text>,
    /// Pairs that break it.
    pub fails: List<Text>,
    /// Whether nobody knows that it holds: then it refuses nothing, but what it speaks of comes last, with a warning.
    #[serde(default)]
    pub unproven: bool,
    /// Of a package and a driver: it speaks of a driver with a cuda-compat package alone, whose libcuda it admits while the
    /// kernel's half is one that it does not.
    #[serde(default)]
    pub compat: bool,
    /// Of a package and a driver or a toolkit: the GPUs on which alone it holds, in constraint grammar; none = on every GPU.
    pub gpu: Option<Text>,
    /// Of a framework and a host compiler: the toolkits with which alone it holds, in constraint grammar; none = with every one.
    pub toolkit: Option<Text>,
    /// Of a package and a toolkit: the first release for which it does not hold where gpuenv.toml insists on a list of
    /// architectures, because that compiles for the list.
    pub heeds_list: Option<Version>,
    /// Of a package and a C library or a GPU: the CUDA lines of the framework beside which alone it holds, in constraint grammar,
    /// because its wheel has a library for each line and loads that one; none = beside every one. Of one with `minors` those
    /// beside which the package compares.
    pub cuda: Option<Text>,
    /// Of a GPU and a driver: the boards, by name, of whose MIG instances alone it speaks; empty = of every board.
    #[serde(default)]
    pub instances: List<Text>,
    /// Of a library of CUDA and a GPU: the boards, by name, of which alone it speaks; empty = of every board.
    #[serde(default)]
    pub boards: List<Text>,
    /// Of NVRTC, whose rules name the package that compiles with it: the first release of that which compiles for an older GPU
    /// where NVRTC does not know the one that is there; none where no release does.
    pub until: Option<Version>,
    /// Of a package and a C library, a GPU, a cuDNN or a toolkit: what breaks it leaves the package without a part, which says
    /// so; it refuses nothing.
    #[serde(default)]
    pub part: bool,
    /// Of a package and a GPU: it tells what the package's own build compiles, and so binds what comes as source, and what its
    /// project compiles, but not what somebody else has compiled for a single system.
    #[serde(default)]
    pub source_only: bool,
    /// Of a part and a toolkit: the package compares the minor release of the CUDA that compiles with that of its framework,
    /// and stops where they differ, unless its own list has both. What came to that list with which release, `0.5.2 11.4`.
    #[serde(default)]
    pub minors: List<Text>,
}

impl Rule {
    /// Whether the list of a release that compares minor releases of CUDA has one.
    pub fn lists(&self, release: &Version, cuda: &Version) -> bool {
        let came_with = |entry: &Text| {
            let mut words = entry.split(' ').filter_map(|word| Version::parse(word).ok());
            words.next().is_some_and(|from| from <= *release) && words.any(|minor| cuda.cmp_prefix(&minor).is_eq())
        };
        self.minors.iter().any(came_with)
    }
}

/// A rule that is code (a wall of five ideas: few of them), described so that users can read and override it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// Its stable name.
    pub id: Text,
    /// The law in one or two plain sentences.
    pub says: Prose,
    /// Its source.
    pub source: Text,
}

/// A message that programs print when something does not fit, and what it means.
///
/// Patterns are matched against a text without blanks and quotes (see `diagnose`), so blanks in them are only for
/// the reader. Named groups are the keys of what is read out; `key__form` says how the text is to be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSignature {
    /// Its stable name, `driver-too-old`.
    pub code: Text,
    /// What the message speaks of.
    pub component: Component,
    /// Regular expressions; one must match.
    pub patterns: List<Text>,
    /// Regular expressions that must match nearby as well.
    #[serde(default)]
    pub with: List<Text>,
    /// Regular expressions that must not match nearby.
    #[serde(default)]
    pub not: List<Text>,
    /// Regular expressions that deny it wherever they stand in the text: that what it says is lost is there after all.
    #[serde(default)]
    pub denied: List<Text>,
    /// Regular expressions of that among `patterns` behind which a program goes on, for it only warns, tries something or does
    /// without: beside another fault it is the lesser, and before an error that has nothing to do with it none.
    #[serde(default)]
    pub goes_on: List<Text>,
    /// Regular expressions, matched line by line: what an error says that comes of what `goes_on` tells; where there are none,
    /// of GPUs.
    #[serde(default)]
    pub brings: List<Text>,
    /// The CUDA error numbers it stands for: today's first, then those of older releases.
    #[serde(default)]
    pub errors: List<u32>,
    /// Counts only if the release asked for is among those the message lists, or only if it is not.
    pub offered: Option<bool>,
    /// Counts only if this holds of the majors of two values that were read out: `cuda_torch > cuda_found`, or `!=`.
    /// `cuda_torch > driver` holds if that CUDA release needs a newer driver.
    pub majors: Option<Text>,
    /// What the message implies where it does not print it, `nvml_error=18`; behind a blank, of which symbols alone.
    #[serde(default)]
    pub gives: List<Text>,
    /// Plain sentences; one with a `{placeholder}` that nothing fills is left out. Of several with ` || ` between them the
    /// first is said that can be.
    pub meaning: List<Text>,
    /// What to change, most promising first; likewise.
    pub remedies: List<Text>,
    /// Of several findings the heaviest comes first; one below ten counts only where there is no other.
    pub weight: u32,
    /// Where the message is produced or documented.
    pub source: Text,
    /// A public thread that shows it.
    pub seen: Option<Text>,
    /// Codes of weightier rows beside which this one says nothing more, or what their codes begin with: `nccl-`.
    #[serde(default)]
    pub yields_to: List<Text>,
    /// Whether nothing that it tells of keeps a stack from running on the host: a notice, or a fault of the program that ran.
    #[serde(default)]
    pub harmless: bool,
    /// Whether it says that CUDA, a part of it, a driver or a GPU is not there: on macOS, where none is, the row of that is told.
    #[serde(default)]
    pub no_cuda: bool,
}

impl ErrorSignature {
    /// Whether it says nothing more beside a weightier row of this code.
    pub fn yields_to(&self, code: &str) -> bool {
        self.yields_to.iter().any(|to| *code == **to || to.ends_with('-') && code.starts_with(&**to))
    }
}

/// What a log tells in passing: a driver, a GPU, a Python. It explains nothing, but belongs to the picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogField {
    /// Its stable name.
    pub id: Text,
    /// Regular expressions, matched line by line; named groups as in a diagnosis.
    pub patterns: List<Text>,
    /// Who prints such lines.
    pub source: Text,
}
