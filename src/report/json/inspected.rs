//! What a library or wheel holds.

use serde::Serialize;

use crate::artifact::{self, shown};
use crate::catalog::rows::FRAMEWORKS;
use crate::report::inspected::Inspected as Told;

use super::OK;

/// What was read in a library, a wheel or a folder.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Inspected<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    /// The name of the file or folder.
    name: &'a str,
    /// What it says of itself, where it is a wheel.
    wheel: Option<Wheel<'a>>,
    /// The library whose GPU code is the package's own; null where there is none, or where several run on different GPUs.
    main_library: Option<&'a str>,
    /// What most of its source files were compiled for.
    code: Option<Code>,
    /// The libraries of CUDA that are needed and not part of it.
    cuda_libraries: Vec<&'a str>,
    /// The glibc that is needed: what the tags promise, unless symbols ask for more.
    glibc: Option<String>,
    /// The C++ ABI, where all libraries that tell one tell the same.
    #[cfg_attr(test, schemars(extend("enum" = ["cxx11", "pre-cxx11", null])))]
    cxx_abi: Option<&'static str>,
    /// The libraries with GPU code, or that need CUDA.
    libraries: Vec<Library<'a>>,
    /// How many more libraries there are.
    other_libraries: usize,
    /// The overlay that says so; null where there is none.
    overlay: Option<&'a str>,
    /// Why there is none.
    overlay_missing: Option<&'a str>,
}

/// A wheel's own words.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Wheel<'a> {
    package: &'a str,
    version: &'a str,
    requires_python: Option<&'a str>,
    /// `cp311-cp311`
    pythons: &'a [String],
    /// `manylinux_2_28_x86_64`
    platforms: &'a [String],
    /// What it asks for of CUDA and of frameworks, as pip reads it.
    requires: Vec<String>,
    sha256: Option<&'a str>,
}

/// What source files were compiled for.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Code {
    /// `9.0a`
    sass: Vec<String>,
    ptx: Vec<Ptx>,
    /// How many source files.
    files: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Ptx {
    arch: String,
    /// The version of the PTX language, which the driver has to know.
    isa: String,
}

/// One library.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Library<'a> {
    name: &'a str,
    code: Vec<Code>,
    /// What it needs (DT_NEEDED).
    needed: &'a [String],
    glibc: Option<String>,
    #[cfg_attr(test, schemars(extend("enum" = ["cxx11", "pre-cxx11", null])))]
    cxx_abi: Option<&'static str>,
}

impl<'a> Inspected<'a> {
    pub fn new(told: &Told<'a>) -> Self {
        let artifact = told.artifact;
        Inspected {
            status: OK,
            name: &artifact.name,
            wheel: artifact.metadata.as_ref().map(|metadata| Wheel::new(artifact, metadata)),
            main_library: artifact.main().map(|library| library.name.as_str()),
            code: artifact.main_code().map(|(code, files)| Code::new(code, files)),
            cuda_libraries: artifact.cuda(),
            glibc: artifact.least_glibc().map(shown),
            cxx_abi: artifact.cxx_abi().map(artifact::CxxAbi::as_str),
            libraries: artifact.libraries.iter().map(Library::new).collect(),
            other_libraries: artifact.others.len(),
            overlay: told.overlay.ok(),
            overlay_missing: told.overlay.err(),
        }
    }
}

impl<'a> Wheel<'a> {
    fn new(artifact: &'a artifact::Artifact, metadata: &'a artifact::Metadata) -> Self {
        let frameworks = metadata.requires.iter().filter(|one| FRAMEWORKS.contains(&&*one.package));
        let requires = artifact.cuda_packages().chain(frameworks).map(|one| match &one.marker {
            Some(marker) => format!("{}{}; {marker}", one.package, one.range),
            None => format!("{}{}", one.package, one.range),
        });
        Wheel {
            package: &metadata.package,
            version: &metadata.version,
            requires_python: metadata.requires_python.as_deref(),
            pythons: &artifact.tags.pythons,
            platforms: &artifact.tags.platforms,
            requires: requires.collect(),
            sha256: artifact.sha256.as_deref(),
        }
    }
}

impl Code {
    fn new(code: &artifact::Code, files: u64) -> Self {
        let ptx = code.ptx.iter().map(|(arch, isa)| Ptx { arch: arch.to_string(), isa: shown(*isa) });
        Code { sass: code.sass.iter().map(ToString::to_string).collect(), ptx: ptx.collect(), files }
    }
}

impl<'a> Library<'a> {
    fn new(library: &'a artifact::Library) -> Self {
        Library {
            name: &library.name,
            code: library.code.iter().map(|(code, files)| Code::new(code, *files)).collect(),
            needed: &library.needed,
            glibc: library.glibc.map(shown),
            cxx_abi: library.cxx_abi.map(artifact::CxxAbi::as_str),
        }
    }
}
