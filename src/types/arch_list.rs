//! Architecture lists in their four spellings: torch's `8.0;9.0+PTX`, CMake's `80-real;90`, nvcc's
//! `-gencode` flags and the `sm_80 compute_90` of `torch.cuda.get_arch_list()`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::arch::{Arch, ArchError};

/// What is compiled for one architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArchEntry {
    /// The target.
    pub arch: Arch,
    /// Machine code (SASS) for it is embedded.
    pub sass: bool,
    /// PTX for it is embedded, which later GPUs can compile at load time.
    pub ptx: bool,
}

/// The architectures some code was, or is to be, compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchList(Vec<ArchEntry>);

/// Why a text is not an architecture list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchListError {
    /// One entry is not an architecture.
    #[error(transparent)]
    Entry(#[from] ArchError),
    /// Undotted numbers, which torch rejects with `Unknown CUDA arch`.
    #[error("torch refuses undotted architectures: write \"{0}\"")]
    Undotted(String),
    /// Commas, doubled or stray separators: torch rejects them in every release.
    #[error("architectures are separated by one blank or one `;`: write \"{0}\"")]
    Separator(String),
    /// Nothing was written.
    #[error("an architecture list must name at least one architecture, as in \"8.0;9.0+PTX\"")]
    Empty,
}

impl ArchList {
    /// A list from its entries; sorted, one entry per architecture.
    pub fn new(entries: impl IntoIterator<Item = ArchEntry>) -> Self {
        let mut list: Vec<ArchEntry> = Vec::new();
        for entry in entries {
            match list.iter_mut().find(|known| known.arch == entry.arch) {
                Some(known) => {
                    known.sass |= entry.sass;
                    known.ptx |= entry.ptx;
                }
                None => list.push(entry),
            }
        }
        list.sort_unstable();
        ArchList(list)
    }

    /// A list of SASS and one of PTX targets, as the catalog holds them.
    pub fn from_targets(sass: &[Arch], ptx: &[Arch]) -> Self {
        let sass = sass.iter().map(|&arch| ArchEntry { arch, sass: true, ptx: false });
        let ptx = ptx.iter().map(|&arch| ArchEntry { arch, sass: false, ptx: true });
        ArchList::new(sass.chain(ptx))
    }

    /// Reads a list as torch's `TORCH_CUDA_ARCH_LIST` takes it: `8.0;8.6+PTX` or `8.0 8.6+PTX`.
    pub fn parse_torch(text: &str) -> Result<Self, ArchListError> {
        let loose: Vec<&str> = text.split([';', ' ', ',']).filter(|part| !part.is_empty()).collect();
        if loose.is_empty() {
            return Err(ArchListError::Empty);
        }
        let mut entries = Vec::new();
        let mut undotted = false;
        let mut corrected = Vec::new();
        for part in &loose {
            let (name, ptx) = match part.strip_suffix("+PTX") {
                Some(name) => (name, true),
                None => (*part, false),
            };
            let arch = match Arch::parse(name) {
                Ok(arch) if name.contains('.') => arch,
                Ok(arch) => {
                    undotted = true;
                    arch
                }
                Err(error) => {
                    undotted = true;
                    Arch::undotted(name).ok_or(error.in_list())?
                }
            };
            corrected.push(format!("{arch}{}", if ptx { "+PTX" } else { "" }));
            entries.push(ArchEntry { arch, sass: true, ptx });
        }
        let separator = if text.contains(';') { ";" } else { " " };
        if undotted {
            return Err(ArchListError::Undotted(corrected.join(separator)));
        }
        let strict: Vec<&str> = text.split([';', ' ']).collect();
        if strict.iter().any(|part| part.is_empty() || part.contains(',')) {
            return Err(ArchListError::Separator(corrected.join(separator)));
        }
        Ok(ArchList::new(entries))
    }

    /// The same, with PTX of the highest architecture if that is asked for.
    pub fn with_ptx(&self, asked: bool) -> Self {
        let mut list = self.clone();
        if let Some(highest) = list.0.last_mut() {
            highest.ptx |= asked;
        }
        list
    }

    /// The entries, sorted.
    pub fn entries(&self) -> &[ArchEntry] {
        &self.0
    }

    /// The targets with machine code.
    pub fn sass(&self) -> impl Iterator<Item = Arch> + '_ {
        self.0.iter().filter(|entry| entry.sass).map(|entry| entry.arch)
    }

    /// The targets with PTX.
    pub fn ptx(&self) -> impl Iterator<Item = Arch> + '_ {
        self.0.iter().filter(|entry| entry.ptx).map(|entry| entry.arch)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Torch's spelling, `8.0;9.0+PTX`.
    pub fn torch(&self) -> String {
        self.join(";", |entry| format!("{}{}", entry.arch, if entry.ptx { "+PTX" } else { "" }))
    }

    /// CMake's spelling for `CMAKE_CUDA_ARCHITECTURES` and `CUDAARCHS`: `80-real;90` (a bare number is
    /// machine code and PTX).
    pub fn cmake(&self) -> String {
        self.join(";", |entry| {
            let kind = match (entry.sass, entry.ptx) {
                (true, true) => "",
                (false, true) => "-virtual",
                _ => "-real",
            };
            format!("{}{kind}", entry.arch.code())
        })
    }

    /// nvcc's flags, `-gencode=arch=compute_80,code=sm_80`.
    pub fn gencode(&self) -> String {
        let mut flags = Vec::new();
        for entry in &self.0 {
            let code = entry.arch.code();
            if entry.sass {
                flags.push(format!("-gencode=arch=compute_{code},code=sm_{code}"));
            }
            if entry.ptx {
                flags.push(format!("-gencode=arch=compute_{code},code=compute_{code}"));
            }
        }
        flags.join(" ")
    }

    /// The names `torch.cuda.get_arch_list()` prints: `sm_80 sm_90 compute_90`.
    pub fn names(&self) -> String {
        let sass = self.sass().map(|arch| format!("sm_{}", arch.code()));
        let ptx = self.ptx().map(|arch| format!("compute_{}", arch.code()));
        sass.chain(ptx).collect::<Vec<_>>().join(" ")
    }

    fn join(&self, separator: &str, each: impl Fn(&ArchEntry) -> String) -> String {
        self.0.iter().map(each).collect::<Vec<_>>().join(separator)
    }
}

impl fmt::Display for ArchList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.torch())
    }
}

impl Serialize for ArchList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ArchList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ArchList::parse_torch(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_four_spellings() {
        let list = ArchList::parse_torch("9.0+PTX 8.0").unwrap();
        assert_eq!(list.torch(), "8.0;9.0+PTX");
        assert_eq!(list.cmake(), "80-real;90");
        assert_eq!(list.names(), "sm_80 sm_90 compute_90");
        assert_eq!(
            list.gencode(),
            "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 \
             -gencode=arch=compute_90,code=compute_90"
        );
    }

    #[test]
    fn torch_refuses_and_so_do_we() {
        let hint = |text: &str| ArchList::parse_torch(text).unwrap_err().to_string();
        assert!(hint("86 90").contains("\"8.6 9.0\""), "{}", hint("86 90"));
        assert!(hint("sm_86").contains("\"8.6\""));
        assert!(hint("8.0,8.6").contains("\"8.0 8.6\""));
        assert!(hint("8.0; 8.6").contains("\"8.0;8.6\""));
        assert!(hint("8.0;").contains("\"8.0\""));
        assert!(hint("8.6+ptx").contains("8.6+ptx"));
        assert!(ArchList::parse_torch("").is_err());
    }
}
