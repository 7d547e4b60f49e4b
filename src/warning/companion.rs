//! What is said of packages beside the frameworks.

use crate::types::Version;

use super::{Kind, inside};

/// What a package brings along that is made for another CUDA.
pub enum BringsOtherCuda<'a> {
    /// A wheel for one CUDA line requires what the index of another serves.
    Index {
        /// The wheel.
        name: &'a str,
        /// What it requires.
        requires: &'a [&'a str],
        /// The framework.
        framework: &'a str,
    },
    /// Every release that is known of what it requires, on the package index, loads another CUDA than the framework.
    Loads {
        /// The package and its release.
        name: &'a str,
        /// What it requires: `torchcodec>=0.14`.
        requires: &'a str,
        /// The CUDA that those load.
        cuda: &'a Version,
        /// The build of the framework.
        build: &'a str,
    },
    /// No known release of what it requires computes on every GPU of the target.
    OnGpu {
        /// The package and its release.
        name: &'a str,
        /// What it requires.
        requires: &'a str,
        /// What a rule says of that; none where it is its code that has nothing for a GPU.
        says: Option<&'a str>,
    },
}

impl Kind for BringsOtherCuda<'_> {
    const CODE: &'static str = "brings-other-cuda";

    fn message(&self) -> String {
        match self {
            BringsOtherCuda::Index { name, requires, framework } => format!(
                "{name} requires {}, which installers take from the default package index, where it may be built for another \
                 CUDA; put it under [stack] to take the wheel that goes with this {framework}",
                requires.join(" and ")
            ),
            BringsOtherCuda::Loads { name, requires, cuda, build } => format!(
                "{name} requires {requires}, of which no known release on the package index loads the CUDA that {build} brings (the \
                 newest loads CUDA {cuda}): it may not install or not load; choose a variant of CUDA {cuda}, or another release of what requires it"
            ),
            BringsOtherCuda::OnGpu { name, requires, says: None } => format!(
                "{name} requires {requires}, and no release of it that is known holds code for every GPU of the target: what \
                 computes with it fails there with \"no kernel image\"; choose another release of what requires it"
            ),
            BringsOtherCuda::OnGpu { name, requires, says: Some(says) } => format!(
                "{name} requires {requires}, and what is done with that fails on a GPU of the target: {}; choose another \
                 release of what requires it",
                says.trim_end_matches('.')
            ),
        }
    }
}

/// A package that runs without its own kernels beside a release of its framework.
pub enum KernelsSkipped<'a> {
    /// They are for other releases.
    Beside {
        /// The package and its release.
        name: &'a str,
        /// The framework and its release.
        build: &'a str,
        /// The releases of the framework with which it loads them; empty where it never does.
        with: &'a str,
        /// Whether it compiles them when they are first used.
        jit: bool,
    },
    /// The wheel for the processor has none.
    NotInWheel {
        /// The package and its release.
        name: &'a str,
        /// The processor.
        arch: &'a str,
    },
    /// One part of it is for a framework, and was compiled for another build of that.
    Part {
        /// The package and its release.
        name: &'a str,
        /// The framework.
        of: &'a str,
        /// Its build.
        build: &'a str,
        /// The build that the part was compiled for.
        with: &'a str,
        /// Whether that is of another release, beside which it cannot be imported; else it is of another CUDA.
        fails: bool,
    },
}

impl Kind for KernelsSkipped<'_> {
    const CODE: &'static str = "kernels-skipped";

    fn message(&self) -> String {
        let (name, build, with, jit) = match self {
            KernelsSkipped::Beside { name, build, with, jit } => (name, build, with, jit),
            KernelsSkipped::NotInWheel { name, arch } => {
                return format!(
                    "the wheel of {name} for {arch} holds none of its own kernels, whichever framework is beside it: it runs \
                     without them; if you need them, compile it"
                );
            }
            KernelsSkipped::Part { name, of, build, with, fails } => {
                let then = if *fails { "its import fails" } else { "it computes on the CPU, or fails" };
                return format!(
                    "the part of {name} for {of} was compiled for {with}: beside {build} {then}, and the rest of the package \
                     runs; if you need that part, take {with}, or a release of the package for {build}"
                );
            }
        };
        if with.is_empty() {
            return format!(
                "{name} loads its own kernels beside no release: beside {build} it runs without them; if you need them, take \
                 another release of the package"
            );
        }
        let then = match jit {
            false => format!("loads its own kernels beside {with} only: beside {build} it runs without them"),
            true => format!("compiles its kernels beside {with} only: beside {build} it runs until one is used"),
        };
        format!("{name} {then}; if you need them, take {with}, or a release of the package for {build}")
    }
}

/// A package that a target runs without a part of it.
pub struct PartFails<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// What the part does not run with: `on glibc 2.28`, `beside torch 2.5.1`.
    pub on: &'a str,
    /// What a rule says of that.
    pub says: &'a str,
}

impl Kind for PartFails<'_> {
    const CODE: &'static str = "part-fails";

    fn message(&self) -> String {
        let PartFails { name, on, says } = self;
        format!("{name} runs without a part of it {on}: {}", inside(says))
    }
}

/// A package of which a part asks for another one, which is not there.
pub struct PartLacks<'a> {
    /// The package, and what is locked or asked for of it.
    pub name: &'a str,
    /// What is not there, or too old: `where torchcodec is missing`, `beside torch 2.5.1`.
    pub on: &'a str,
    /// What is known of that.
    pub says: &'a str,
}

impl Kind for PartLacks<'_> {
    const CODE: &'static str = "part-lacks";

    fn message(&self) -> String {
        let PartLacks { name, on, says } = self;
        format!("a part of {name} does not work {on}: {}", inside(says))
    }
}

/// A cuDNN that a package loads and nothing in the stack brings.
pub struct CudnnMissing<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// The cuDNN that it loads.
    pub needs: &'a str,
    /// What there is instead, if anything.
    pub has: Option<&'a Version>,
}

impl Kind for CudnnMissing<'_> {
    const CODE: &'static str = "cudnn-missing";

    fn message(&self) -> String {
        let (has, or) = match self.has {
            Some(cudnn) => (format!("the stack has {cudnn}"), format!(", or choose a release that runs with {cudnn}")),
            None => ("nothing in the stack brings one".to_string(), String::new()),
        };
        format!(
            "{} needs cuDNN {}, and {has}: install it and set `cudnn` of the target to its version{or}",
            self.name, self.needs
        )
    }
}

/// A package that is compiled where it is installed.
pub struct SourceOnly<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// The framework that its code is for.
    pub framework: &'a str,
    /// The toolkit that compiles it.
    pub toolkit: With<'a>,
    /// When it is compiled.
    pub when: When<'a>,
    /// Whether its build needs what is installed, as the exports have it built.
    pub unisolated: bool,
    /// An older release that need not be compiled there.
    pub older: Option<String>,
    /// The release of the framework and the CUDA major that a finished wheel beside the release is for, if there is one.
    pub finished: Option<(String, u64)>,
    /// The same of one that does not run there, why not, and what has the build compile all the same.
    pub refused: Option<(String, u64, String, Option<&'a str>)>,
    /// Where finished wheels lie that nobody has read, and what has its build compile where it takes one of them by itself.
    pub unread: Option<(&'a str, Option<&'a str>)>,
    /// Its build includes cuDNN's headers, and nothing that is known there brings them.
    pub cudnn_headers: bool,
    /// What lacks such a toolkit, for all that is known: `the image is of flavour base`.
    pub lacks: Option<String>,
}

/// When a package is compiled.
pub enum When<'a> {
    /// Where it is installed.
    Installed,
    /// When its kernels, or some of them, are first used, in a package that this one requires, if it was not asked for itself.
    FirstUsed { by: Option<&'a str>, all: bool },
    /// Where it is installed, because this pins it and it has no wheel, or does so whatever the C library, and its wheels need a
    /// newer one than this.
    Pinned(&'a str, Option<Version>),
}

/// The toolkit that a package is compiled with.
pub enum With<'a> {
    /// The one that was chosen.
    Chosen(&'a str),
    /// The one in this image.
    Image(&'a str),
    /// One of a CUDA major, within bounds.
    Any {
        /// The major.
        major: u64,
        /// The bounds, each after a blank.
        bounds: &'a str,
        /// Whether the toolkits of the target are written, so that none is chosen.
        is_written: bool,
    },
}

impl SourceOnly<'_> {
    /// The toolkit that it is compiled with, in words.
    fn with(&self) -> String {
        match &self.toolkit {
            With::Chosen(version) => format!("the toolkit that was chosen, {version}"),
            With::Image(image) => format!("the toolkit in {image}"),
            With::Any { major, bounds, is_written } => {
                let lacks = self.lacks.as_ref().map_or_else(String::new, |lacks| format!(", while {lacks}"));
                let get = match (is_written, &self.lacks) {
                    (false, _) => "; with a [build] table gpuenv chooses one",
                    (true, Some(_)) => "; install one and add it to `toolkit`",
                    (true, None) => ", as `toolkit` names",
                };
                format!("a CUDA {major} toolkit{bounds}{lacks}{get}")
            }
        }
    }
}

impl Kind for SourceOnly<'_> {
    const CODE: &'static str = "source-only";

    fn message(&self) -> String {
        let (framework, with) = (self.framework, self.with());
        if let When::FirstUsed { by, all } = self.when {
            let by = by.map_or_else(String::new, |by| format!(", which {by} requires,"));
            let kernels = if all { "its kernels" } else { "kernels that it starts with" };
            return format!("{}{by} compiles {kernels} when they are first used, with {with}", self.name);
        }
        if let When::Pinned(by, has) = self.when {
            let name = self.name;
            let why = has.map_or("comes as source only".to_string(), |has| format!("has no wheel for glibc {has}"));
            let how = if has.is_none() { " and both with pip's --no-build-isolation" } else { "" };
            return format!(
                "{name}, which {by} pins, {why}: pip compiles it where it is installed, with {with}; install {framework} before \
                 it{how}"
            );
        }
        let refused = self.refused.as_ref().map_or_else(String::new, |(release, major, why, force)| {
            let force = force.map_or_else(String::new, |force| format!(" (set {force})"));
            format!(
                "the wheel for {framework} {release} and CUDA {major} beside its release {why}, so have its build \
                 compile{force}: "
            )
        });
        let finished = self.finished.as_ref().map_or_else(String::new, |(release, major)| {
            format!(
                "unless its build finds the wheel that was made for {framework} {release}, CUDA {major}, the Python and \
                 the C++ ABI beside its release, "
            )
        });
        let unread = self.unread.map_or_else(String::new, |(address, force)| match force {
            None => {
                format!("unless you take a finished wheel for this {framework} from {address}, which gpuenv has not read, ")
            }
            Some(force) => format!(
                "unless its build finds a wheel for this {framework} at {address}, which it downloads and gpuenv has not read \
                 (if that does not load, set {force}), "
            ),
        });
        let older = self
            .older
            .as_ref()
            .map_or_else(String::new, |older| format!("; {older} has a finished wheel that runs there"));
        let headers = match self.cudnn_headers {
            true => {
                "; its build includes cuDNN's headers: install them, and set CUDNN_PATH to the folder that holds include/cudnn.h"
            }
            false => "",
        };
        let how = if self.unisolated { " (pip's --no-build-isolation)" } else { "" };
        format!(
            "{} comes as source only: {refused}{finished}{unread}its CUDA code is compiled where it is installed or first used, \
             beside an installed {framework}{how} and with {with}{headers}{older}",
            self.name
        )
    }
}

/// A host compiler, or a C library, with which a package that comes as source is not compiled.
pub struct SourceCompiler<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// Why not.
    pub says: &'a [String],
    /// The majors of gcc with which it is compiled: `9 to 13`; empty where none helps.
    pub gcc: &'a str,
}

impl Kind for SourceCompiler<'_> {
    const CODE: &'static str = "source-compiler";

    fn message(&self) -> String {
        let SourceCompiler { name, says, gcc } = self;
        let then = match gcc.is_empty() {
            true => "Choose another toolkit or system".to_string(),
            false => format!("Install gcc {gcc} beside it, build with that, and set `gcc` of the target"),
        };
        format!("{name} does not compile on this target. {}. {then}", says.join(". "))
    }
}

/// A release that its publisher has withdrawn.
pub struct Yanked<'a> {
    /// The package and its release.
    pub name: &'a str,
}

impl Kind for Yanked<'_> {
    const CODE: &'static str = "yanked";

    fn message(&self) -> String {
        format!("{} was withdrawn (yanked) by its publisher: take another release, unless you need this one", self.name)
    }
}

/// A package that is compiled against one C++ ABI, beside a build of one's own.
pub struct OwnBuildAbi<'a> {
    /// The package, with its version.
    pub name: &'a str,
    /// The framework.
    pub package: &'a str,
    /// Its version, as its owner calls it.
    pub version: String,
    /// The published variants of the framework with the ABI that it is compiled with.
    pub variants: &'a [&'a str],
}

impl Kind for OwnBuildAbi<'_> {
    const CODE: &'static str = "own-build-abi";

    fn message(&self) -> String {
        let OwnBuildAbi { name, package, version, variants } = self;
        format!(
            "{name} is compiled with the C++ ABI of {package}'s {} builds, and it is not known whether your build of {package} \
             {version} has it",
            variants.join(", ")
        )
    }
}
