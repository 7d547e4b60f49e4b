//! What a shared library says of itself: its dynamic section, the libraries it needs, the C library and the C++ ABI that
//! its symbols name. It is read a range at a time, whether it lies in a file or comes as a stream.
//!
//! A stream may be asked for again (it may lie packed in a wheel), so only ranges of it are held: its beginning, and what
//! a first look finds wanting.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Pair;

/// How much of the beginning is held: program headers, and in most libraries the names.
pub const HEAD: usize = 4 << 20;
/// Parts beyond these sizes are no parts of a library.
const MAX_PART: u64 = 1 << 20;
const MAX_NAMES: u64 = 160 << 20;
const MAX_NEEDED: usize = 512;
/// No name or path is longer; the table that holds them may be large.
const MAX_TEXT: u64 = 16 << 10;

/// The loader's words: types of program headers, and tags of the dynamic section.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const STRTAB: u64 = 5;
const STRSZ: u64 = 10;
/// A library that is needed.
pub const NEEDED: u64 = 1;
/// The library's own name.
pub const SONAME: u64 = 14;
/// Directories that are searched before others.
pub const RPATH: u64 = 15;
/// Directories that are searched after others.
pub const RUNPATH: u64 = 29;

/// Where a table of headers is told of in the first one: its place, the size of a header, and how many there are.
const PROGRAM: [usize; 3] = [32, 54, 56];
const SECTIONS: [usize; 3] = [40, 58, 60];

/// Which string type the C++ symbols of a library name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CxxAbi {
    /// `std::__cxx11::string`, what gcc writes since 5.
    Cxx11,
    /// The older `std::string`.
    PreCxx11,
}

impl CxxAbi {
    /// The word used in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            CxxAbi::Cxx11 => "cxx11",
            CxxAbi::PreCxx11 => "pre-cxx11",
        }
    }
}

/// What the names in a library say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The libraries it needs (DT_NEEDED), in order.
    pub needed: Vec<String>,
    /// The newest version of the C library that its symbols ask for.
    pub glibc: Option<Pair>,
    /// The C++ ABI, where its symbols name one and no other.
    pub cxx_abi: Option<CxxAbi>,
}

/// The parts of a library that are held.
#[derive(Default)]
pub struct Parts {
    parts: Vec<(u64, Vec<u8>)>,
}

impl Parts {
    /// Holds a part.
    pub fn hold(&mut self, at: u64, bytes: Vec<u8>) {
        self.parts.push((at, bytes));
    }

    /// The bytes of a range; where none of the parts has them, that is what is asked for next.
    fn bytes(&self, range: Range<u64>) -> Result<&[u8], Range<u64>> {
        let inside = |(at, bytes): &(u64, Vec<u8>)| *at <= range.start && range.end <= at + bytes.len() as u64;
        let (at, bytes) = self.parts.iter().find(|part| inside(part)).ok_or_else(|| range.clone())?;
        Ok(&bytes[(range.start - at) as usize..(range.end - at) as usize])
    }
}

/// Whether these are the first bytes of a library of 64 bits, least significant byte first: all that CUDA runs on.
pub fn is_library(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF\x02\x01") && head.len() >= 64
}

/// Whether a library's first bytes tell of tables that do not lie in it: it is damaged, or was cut off. `length` is that
/// of the whole.
pub fn is_damaged(head: &[u8], length: u64) -> bool {
    [PROGRAM, SECTIONS].into_iter().any(|[at, size, count]| {
        let size = u64::from(half(head, size)) * u64::from(half(head, count));
        word(head, at).checked_add(size).is_none_or(|end| size > 0 && end > length)
    })
}

/// What reads a range.
pub trait Ranges: FnMut(Range<u64>) -> Option<Vec<u8>> {}

impl<F: FnMut(Range<u64>) -> Option<Vec<u8>>> Ranges for F {}

/// A library of which `bytes` reads ranges. What is broken, or cannot be read, says nothing.
pub struct Elf<F> {
    head: Vec<u8>,
    length: u64,
    bytes: F,
}

/// The dynamic section.
pub struct Dynamic {
    entries: Vec<(u64, u64)>,
    /// Where the table of names lies in the file.
    names: Range<u64>,
}

impl Dynamic {
    /// What is said under a tag.
    pub fn values(&self, tag: u64) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(move |(known, _)| *known == tag).map(|(_, value)| *value)
    }
}

impl<F: Ranges> Elf<F> {
    /// The library of so many bytes.
    pub fn open(length: u64, mut bytes: F) -> Option<Self> {
        let head = bytes(0..64).filter(|head| is_library(head))?;
        Some(Elf { head, length, bytes })
    }

    /// A range that lies in the file.
    fn within(&self, at: u64, size: u64) -> Option<Range<u64>> {
        let end = at.checked_add(size).filter(|end| *end <= self.length)?;
        (size > 0).then_some(at..end)
    }

    fn part(&mut self, at: u64, size: u64) -> Option<Vec<u8>> {
        let range = self.within(at, size).filter(|_| size <= MAX_PART)?;
        (self.bytes)(range)
    }

    fn table(&mut self, [at, size, count]: [usize; 3]) -> Option<Vec<Vec<u8>>> {
        let (at, size, count) = (word(&self.head, at), half(&self.head, size), half(&self.head, count));
        let headers = self.part(at, u64::from(size) * u64::from(count)).filter(|_| size >= 56)?;
        Some(headers.chunks_exact(size.into()).map(<[u8]>::to_vec).collect())
    }

    /// Its dynamic section.
    pub fn dynamic(&mut self) -> Option<Dynamic> {
        let headers = self.table(PROGRAM)?;
        let of_kind = |kind: u32| headers.iter().filter(move |header| header[..4] == kind.to_le_bytes());
        let section = of_kind(DYNAMIC).next()?;
        let section = self.part(word(section, 8), word(section, 32))?;
        let entries = section.chunks_exact(16).map(|entry| (word(entry, 0), word(entry, 8))).collect();
        let mut dynamic = Dynamic { entries, names: 0..0 };
        let (table, size) = (dynamic.values(STRTAB).next()?, dynamic.values(STRSZ).next()?);
        // Addresses in memory become offsets in the file through the segments that are loaded.
        let offset = of_kind(LOAD).find_map(|header| {
            let (at, from, loaded) = (word(header, 8), word(header, 16), word(header, 32));
            let inside = table.checked_sub(from).filter(|inside| *inside < loaded)?;
            at.checked_add(inside)
        });
        dynamic.names = self.within(offset?, size)?;
        Some(dynamic)
    }

    /// The name at a place of the table.
    pub fn text(&mut self, Dynamic { names, .. }: &Dynamic, at: u64) -> Option<String> {
        let start = names.start.checked_add(at).filter(|start| *start < names.end)?;
        let mut found = (self.bytes)(start..names.end.min(start.saturating_add(MAX_TEXT)))?;
        found.truncate(found.iter().position(|byte| *byte == 0)?);
        String::from_utf8(found).ok()
    }

    /// What the section of a name holds.
    pub fn section(&mut self, name: &str) -> Option<Vec<u8>> {
        let headers = self.table(SECTIONS)?;
        let names = headers.get(usize::from(half(&self.head, 62)))?;
        let names = self.part(word(names, 24), word(names, 32))?;
        let name = [name.as_bytes(), b"\0"].concat();
        let called = |header: &Vec<u8>| names.get(word(header, 0) as u32 as usize..);
        let section = headers.iter().find(|header| called(header).is_some_and(|rest| rest.starts_with(&name)))?;
        self.part(word(section, 24), word(section, 32))
    }
}

/// What the names of a library say, from the parts of it that are held; an error is the range that is needed too.
/// `length` is that of the whole. What is broken says nothing.
pub fn names(parts: &Parts, length: u64) -> Result<Names, Range<u64>> {
    let mut wanted = None;
    let bytes = |range: Range<u64>| parts.bytes(range).map(<[u8]>::to_vec).map_err(|range| wanted = Some(range)).ok();
    let read = Elf::open(length, bytes).and_then(|mut library| {
        let dynamic = library.dynamic()?;
        let table = dynamic.names.clone();
        let table = (table.end - table.start <= MAX_NAMES).then(|| (library.bytes)(table))??;
        let needed = dynamic.values(NEEDED).take(MAX_NEEDED);
        Some(told(&table, needed.filter_map(|at| library.text(&dynamic, at)).collect()))
    });
    wanted.map_or(Ok(read.unwrap_or_default()), Err)
}

/// What the names of symbols and of their versions say.
fn told(table: &[u8], needed: Vec<String>) -> Names {
    let mut names = Names { needed, ..Names::default() };
    let mut abis = BTreeSet::new();
    for name in table.split(|byte| *byte == 0) {
        if let Some(version) = name.strip_prefix(b"GLIBC_").and_then(pair) {
            names.glibc = names.glibc.max(Some(version));
        }
        if name.starts_with(b"_Z") {
            abis.extend(abi(name));
        }
    }
    names.cxx_abi = abis.pop_first().filter(|_| abis.is_empty());
    names
}

/// The C++ ABI that a symbol of torch's own functions names: others may be the C++ library's, which knows both.
fn abi(symbol: &[u8]) -> Option<CxxAbi> {
    let of_torch = [b"_ZN3c10".as_slice(), b"_ZN2at", b"_ZN5torch", b"_ZNK3c10", b"_ZNK2at", b"_ZNK5torch"];
    if !of_torch.iter().any(|start| symbol.starts_with(start)) {
        return None;
    }
    if memchr::memmem::find(symbol, b"7__cxx11").is_some() {
        return Some(CxxAbi::Cxx11);
    }
    // `RKSs` is a reference to the older string.
    memchr::memmem::find(symbol, b"RKSs").map(|_| CxxAbi::PreCxx11)
}

/// `2.34` and `2.3.4` as the first two numbers.
fn pair(text: &[u8]) -> Option<Pair> {
    let mut numbers = std::str::from_utf8(text).ok()?.split('.').map(|part| part.parse::<u16>().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |bytes| u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_tell_the_abi_and_the_c_library() {
        let new = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
        let old = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";
        for (symbols, expected) in [
            (vec![new], Some(CxxAbi::Cxx11)),
            (vec![old], Some(CxxAbi::PreCxx11)),
            (vec![new, old], None),
            (vec!["_ZNSs4swapERSs"], None),
        ] {
            let table = [&["", "GLIBC_2.2.5", "GLIBC_2.14", "GLIBC_PRIVATE"], symbols.as_slice()].concat().join("\0");
            let names = told(table.as_bytes(), Vec::new());
            assert_eq!((names.cxx_abi, names.glibc), (expected, Some((2, 14))), "{symbols:?}");
        }
    }
}
