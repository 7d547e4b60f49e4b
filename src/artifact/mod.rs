//! L2, artifacts: what a library or wheel holds and needs, read out of its bytes. Where the bytes come from is not known
//! here, and nothing of them is trusted: whatever they are, reading them ends, within bounds, and does not panic.

pub mod elf;
pub mod fatbin;
pub mod metadata;
mod row;
pub mod zip;

pub use elf::CxxAbi;
pub use fatbin::{Code, Counts};
pub use metadata::{Metadata, Requirement, Tags};
pub use row::{Held, Known, Place, overlay, shown};

use crate::coverage::{Coverage, Tegra, covers_targets, ptx_runs};
use crate::types::{Arch, Cc, distinct};

/// The first two numbers of a version, `(2, 28)`.
pub type Pair = (u16, u16);

/// What takes bytes a piece at a time, and says whether it wants more.
pub type Sink<'s> = &'s mut dyn FnMut(&[u8]) -> bool;

/// Bytes that can be read anywhere.
pub trait Bytes {
    /// How many there are.
    fn length(&self) -> u64;
    /// As many from a place on as are asked for; fewer are a fault.
    fn read(&mut self, at: u64, count: usize) -> Result<Vec<u8>, ReadError>;
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Whether the bytes are to blame, and not who brings them.
    pub is_broken: bool,
    /// Why, as the rest of a sentence about it.
    pub says: String,
}

impl ReadError {
    /// The bytes are not what they should be.
    pub fn broken(says: &str) -> Self {
        ReadError { is_broken: true, says: says.to_string() }
    }
}

/// No library is larger.
pub const MAX_LIBRARY: u64 = 8 << 30;
/// Nothing that is inspected holds more in all, unpacked.
pub const MAX_TOTAL: u64 = 24 << 30;
/// Nothing that is inspected holds more libraries.
pub const MAX_LIBRARIES: usize = 4096;
/// A library with less than one in so many of the source files of another is no part of its own.
const A_PART: u64 = 10;
/// No METADATA is larger.
pub const MAX_TEXT: u64 = 4 << 20;

/// One library, and what was read in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Its name within what was inspected.
    pub name: String,
    /// The GPU code of its source files.
    pub code: Counts,
    /// The libraries it needs.
    pub needed: Vec<String>,
    /// The newest glibc that its symbols ask for.
    pub glibc: Option<Pair>,
    /// The C++ ABI of its symbols.
    pub cxx_abi: Option<CxxAbi>,
}

/// All that was read in a file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifact {
    /// Its name, without its folder.
    pub name: String,
    /// What it says of itself, where it is a wheel.
    pub metadata: Option<Metadata>,
    /// Where it installs, likewise.
    pub tags: Tags,
    /// The CUDA that `torch/version.py` names: `12.4`.
    pub built_for: Option<String>,
    /// The libraries with GPU code, or that need CUDA.
    pub libraries: Vec<Library>,
    /// The names of the others, without their folders.
    pub others: Vec<String>,
    /// The newest glibc that symbols of any ask for which an NVIDIA GPU may have loaded.
    pub glibc: Option<Pair>,
    /// Whether any library needs one of torch's: it runs beside the torch that it was built for, and those with its symbols.
    pub loads_torch: bool,
    /// The sha256 of the file, where it is a wheel.
    pub sha256: Option<String>,
}

/// Reads a library that comes as a stream, once or again: `stream` gives its bytes from the beginning until its sink has
/// enough. None: it is no library of 64 bits.
pub fn library(
    name: &str,
    length: u64,
    stream: &mut dyn FnMut(Sink<'_>) -> Result<(), ReadError>,
) -> Result<Option<Library>, ReadError> {
    let mut scanner = fatbin::Scanner::default();
    let (mut head, mut is_one) = (Vec::new(), None);
    stream(&mut |bytes| {
        let room = elf::HEAD.saturating_sub(head.len()).min(bytes.len());
        head.extend_from_slice(&bytes[..room]);
        if is_one.is_none() && head.len() >= 64 {
            is_one = Some(elf::is_library(&head));
        }
        scanner.take(bytes);
        is_one != Some(false)
    })?;
    if is_one != Some(true) {
        return Ok(None);
    }
    if elf::is_damaged(&head, length) {
        let says = format!("{name} is damaged, or only a part of it: its headers name places beyond its end");
        return Err(ReadError::broken(&says));
    }
    scanner.end();
    let mut parts = elf::Parts::default();
    parts.hold(0, head);
    // Program headers, dynamic section, names: each is asked for at most once.
    let mut names = elf::names(&parts, length);
    for _ in 0..4 {
        let Err(range) = names else { break };
        parts.hold(range.start, section(range.start, range.end, stream)?);
        names = elf::names(&parts, length);
    }
    let names = names.unwrap_or_default();
    Ok(Some(Library {
        name: name.to_string(),
        code: scanner.counts,
        needed: names.needed,
        glibc: names.glibc,
        cxx_abi: names.cxx_abi,
    }))
}

/// The bytes of a range of a stream, or as many as there are.
fn section(
    start: u64,
    end: u64,
    stream: &mut dyn FnMut(Sink<'_>) -> Result<(), ReadError>,
) -> Result<Vec<u8>, ReadError> {
    let (mut found, mut at) = (Vec::new(), 0_u64);
    stream(&mut |bytes| {
        let length = bytes.len() as u64;
        let from = start.saturating_sub(at).min(length) as usize;
        let to = end.saturating_sub(at).min(length) as usize;
        found.extend_from_slice(&bytes[from..to]);
        at += length;
        at < end
    })?;
    Ok(found)
}

impl Library {
    /// The libraries of CUDA that it needs, `libcudart.so.12`.
    pub fn cuda(&self) -> impl Iterator<Item = &str> {
        self.needed.iter().map(String::as_str).filter(|name| is_cuda(name))
    }

    /// Whether it needs the runtime of AMD's or Intel's GPUs: where there is none of those it is never loaded.
    fn is_for_other_gpus(&self) -> bool {
        const STEMS: &[&str] =
            &["libamdhip64", "libhip", "libhsa-runtime", "librocblas", "librocm", "libMIOpen", "libsycl", "libze_"];
        self.needed.iter().any(|name| STEMS.iter().any(|stem| name.starts_with(stem)))
    }
}

/// Whether code runs on every GPU that other code was compiled for, and is compiled by the driver for all that the other is.
fn runs_where(code: &Code, other: &Code) -> bool {
    let ptx = |code: &Code| code.ptx.iter().map(|(arch, _)| *arch).collect::<Vec<Arch>>();
    let runs = |arch: &Arch| {
        let sass = code.sass.iter().copied();
        covers_targets(sass, ptx(code), arch.cc, Tegra::Unified) != Coverage::None
    };
    other.sass.iter().all(runs) && ptx(other).iter().all(|arch| ptx(code).iter().any(|own| ptx_runs(*own, arch.cc)))
}

/// A name without its folders.
fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a library's name is one of CUDA's: runtime, compilers, math, cuDNN, NCCL, driver.
fn is_cuda(name: &str) -> bool {
    const STEMS: &[&str] = &[
        "libcudart",
        "libcublas",
        "libcufft",
        "libcurand",
        "libcusolver",
        "libcusparse",
        "libcudnn",
        "libnccl",
        "libnvrtc",
        "libnvJitLink",
        "libnvjitlink",
        "libcuda.",
        "libcupti",
        "libnvperf",
        "libpcsampling",
        "libcufile",
        "libnvToolsExt",
        "libnvshmem",
        "libnvinfer",
        "libnvonnxparser",
        "libnpp",
        "libnvjpeg",
        "libcutensor",
        "libnvidia-ml",
        "libnvfatbin",
    ];
    STEMS.iter().any(|stem| name.starts_with(stem))
}

impl Artifact {
    /// Takes what was read in a library.
    pub fn add(&mut self, library: Library) {
        if !library.is_for_other_gpus() {
            self.glibc = self.glibc.max(library.glibc);
        }
        let is_torchs = |name: &String| name.starts_with("libtorch") || name.starts_with("libc10");
        self.loads_torch |= library.needed.iter().any(is_torchs);
        match library.code.is_empty() && library.cuda().next().is_none() {
            true => self.others.push(file_name(&library.name).to_string()),
            false => self.libraries.push(library),
        }
    }

    /// Whether any library of the package holds GPU code that may be its own.
    pub fn has_code(&self) -> bool {
        !self.own().is_empty()
    }

    /// The libraries whose GPU code may be the package's own: those in the folder that is called as it is, where there are
    /// any; those whose files are each for a single architecture are left aside where others are for several. What repaired
    /// wheels bring along in `NAME.libs` is somebody else's, and so are libraries of CUDA in a package that has any of its own.
    pub fn own(&self) -> Vec<&Library> {
        let of_cuda = |name: &str| is_cuda(file_name(name)) || name.split('/').any(|part| part == "cupti");
        let is_nvidias = self.metadata.as_ref().is_none_or(|metadata| metadata.package.starts_with("nvidia-"));
        let names = || self.libraries.iter().map(|library| &library.name).chain(&self.others);
        let has_own = !is_nvidias && names().any(|name| !of_cuda(name));
        let counts = |library: &&Library| !(library.code.is_empty() || has_own && of_cuda(&library.name));
        let mut own: Vec<&Library> = self.libraries.iter().filter(counts).collect();
        let package = self.metadata.as_ref().map(|metadata| metadata.package.replace('-', "_"));
        let in_folder = |library: &Library| {
            let folder = library.name.split_once('/').map(|(folder, _)| folder);
            folder.zip(package.as_ref()).is_some_and(|(folder, package)| package.starts_with(folder))
        };
        let is_bundled = |library: &Library| library.name.split('/').any(|part| part.ends_with(".libs"));
        let for_several = |library: &Library| library.code.keys().any(|code| code.sass.len() > 1);
        let rules: [&dyn Fn(&Library) -> bool; 3] = [&|one| !is_bundled(one), &in_folder, &for_several];
        for is_better in rules {
            if own.iter().any(|library| is_better(library)) {
                own.retain(|library| is_better(library));
            }
        }
        own
    }

    /// The library whose GPU code is the package's own. Where there are several, the one that runs wherever any of them does:
    /// others are for what some GPUs have beside. One of a few source files beside hundreds does not count. None where no
    /// library runs on all of these GPUs: which of them a package cannot do without, nothing in it tells.
    pub fn main(&self) -> Option<&Library> {
        let files = |library: &Library| library.code.values().sum::<u64>();
        let mut own = self.own();
        let most = own.iter().map(|library| files(library)).max()?;
        own.retain(|library| files(library) * 4 >= most);
        let codes: Vec<Code> = own.iter().map(|library| self.code_like(library).0).collect();
        let all = own.iter().zip(&codes).filter(|(_, code)| codes.iter().all(|other| runs_where(code, other)));
        all.map(|(library, _)| *library).max_by_key(|library| files(library))
    }

    /// What most source files of the main library were compiled for, and how many so.
    pub fn main_code(&self) -> Option<(&Code, u64)> {
        fatbin::main_code(&self.main()?.code)
    }

    /// What the main library holds, and those that differ from it by a number alone: one is made for each release of CUDA,
    /// and the one that fits is loaded. With how many they are. What another library holds for older GPUs alone counts too: on
    /// newer ones both are used, and the package runs where both do.
    pub fn own_code(&self) -> Option<(Code, usize)> {
        let files = |library: &Library| library.code.values().sum::<u64>();
        let main = self.main()?;
        let (mut code, libraries) = self.code_like(main);
        for other in self.own().into_iter().filter(|other| files(other) * A_PART >= files(main)) {
            let other = self.code_like(other).0;
            let Some(oldest) = other.sass.iter().map(|arch| arch.cc).min() else { continue };
            let reaches = |cc: Cc| {
                let ptx = other.ptx.iter().map(|(arch, _)| *arch);
                covers_targets(other.sass.iter().copied(), ptx, cc, Tegra::Unified) != Coverage::None
            };
            code.sass.retain(|arch| arch.cc < oldest || reaches(arch.cc));
            code.ptx.retain(|_| !other.ptx.is_empty());
        }
        Some((code, libraries))
    }

    fn code_like(&self, library: &Library) -> (Code, usize) {
        let stem = |library: &Library| library.name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let main = stem(library);
        let alike = self.libraries.iter().filter(|library| stem(library) == main);
        let codes: Vec<&Code> = alike.filter_map(|library| Some(fatbin::main_code(&library.code)?.0)).collect();
        let sass = distinct(codes.iter().flat_map(|code| code.sass.iter().copied()));
        let ptx = distinct(codes.iter().flat_map(|code| code.ptx.iter().copied()));
        (Code { sass, ptx }, codes.len())
    }

    /// The libraries of CUDA that are needed and not part of it, each once.
    pub fn cuda(&self) -> Vec<&str> {
        let others = || self.others.iter().map(String::as_str);
        let own = |name: &str| {
            self.libraries.iter().map(|library| file_name(&library.name)).chain(others()).any(|one| one == name)
        };
        distinct(self.libraries.iter().flat_map(Library::cuda).filter(|name| !own(name)))
    }

    /// The CUDA major whose runtime is needed, where it is one: `12` for libcudart.so.12 and for libcudart.so.12.0.
    pub fn cuda_major(&self) -> Option<u16> {
        let all = self.libraries.iter().flat_map(|library| &library.needed);
        let numbers = all.filter_map(|name| name.strip_prefix("libcudart.so."));
        let majors = distinct(numbers.filter_map(|rest| rest.split('.').next()?.parse().ok()));
        majors.first().copied().filter(|_| majors.len() == 1)
    }

    /// The C++ ABI, where all that tell one tell the same.
    pub fn cxx_abi(&self) -> Option<CxxAbi> {
        let mut told = self.libraries.iter().filter_map(|library| library.cxx_abi);
        let first = told.next()?;
        told.all(|one| one == first).then_some(first)
    }

    /// The glibc that is needed: what its tags promise, unless symbols ask for more.
    pub fn least_glibc(&self) -> Option<Pair> {
        self.tags.glibc().max(self.glibc)
    }

    /// What its metadata asks for of CUDA: the packages of NVIDIA and those that name a CUDA major.
    pub fn cuda_packages(&self) -> impl Iterator<Item = &Requirement> {
        let all = self.metadata.iter().flat_map(|metadata| &metadata.requires);
        // What talks to the driver alone is of no CUDA.
        let is_of_driver = |one: &&Requirement| one.package == "nvidia-ml-py";
        let is_named = |one: &&Requirement| one.package.starts_with("nvidia-") || one.package.starts_with("cuda-");
        all.filter(move |one| is_named(one) && !is_of_driver(one))
    }
}
