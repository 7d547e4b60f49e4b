//! GPU code in a stream of bytes: the containers that nvcc writes into libraries, one for each source file.
//!
//! A container is a header and entries; each entry says whether it is PTX or machine code and for which architecture.
//! The headers are never compressed, so nothing has to be unpacked, and what lies between them is skipped.

use std::collections::BTreeMap;

use memchr::memmem::Finder;

use crate::types::{Arch, Cc, arch::Suffix};

/// What a container begins with.
const MAGIC: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
/// Bytes of a container's header, and of the fixed part of an entry's.
const HEADER: usize = 16;
const ENTRY: usize = 64;
/// No entry's header is longer: options and names stand in it.
const MAX_ENTRY: u64 = 4096;
/// The greatest architecture number that can be meant; what says more is no container.
const LAST_ARCH: u32 = 199;
/// What entries hold.
const PTX: u16 = 1;
const SASS: u16 = 2;
/// Flags of an entry: its code is for exactly that architecture (`sm_90a`), or for its family (`sm_100f`).
const SPECIFIC: u64 = 1 << 20;
const FAMILY: u64 = 1 << 21;
/// More different containers than this are not told apart: no library has a hundredth.
const MAX_KINDS: usize = 4096;

/// What a source file was compiled for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Machine code, in order.
    pub sass: Vec<Arch>,
    /// PTX with the version of its language, `(8, 4)`, in order.
    pub ptx: Vec<(Arch, Isa)>,
}

/// A version of PTX, `(8, 4)`; `(0, 0)` where it was not told.
pub type Isa = (u16, u16);

/// What source files were compiled for, and how many of them so.
pub type Counts = BTreeMap<Code, u64>;

/// Looks through a stream.
pub struct Scanner {
    /// The bytes that were not looked at yet.
    rest: Vec<u8>,
    /// How far they were.
    at: usize,
    /// How many bytes are passed over before the next is looked at.
    skip: u64,
    /// The container that is being read: how much of it is left, and its code so far.
    open: Option<(u64, Code)>,
    magic: Finder<'static>,
    /// What was found.
    pub counts: Counts,
}

impl Default for Scanner {
    fn default() -> Self {
        let magic = Finder::new(&MAGIC).into_owned();
        Scanner { rest: Vec::new(), at: 0, skip: 0, open: None, magic, counts: Counts::new() }
    }
}

impl Scanner {
    /// Takes the next bytes of the stream.
    pub fn take(&mut self, bytes: &[u8]) {
        let passed = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        self.skip -= passed as u64;
        self.rest.extend_from_slice(&bytes[passed..]);
        while self.step() {}
        self.rest.drain(..self.at);
        self.at = 0;
    }

    /// The stream has ended: what is still open is counted as far as it goes.
    pub fn end(&mut self) {
        if let Some((_, code)) = self.open.take() {
            self.count(code);
        }
    }

    /// One header further; whether there was one, or more bytes are needed first.
    fn step(&mut self) -> bool {
        let Some((left, mut code)) = self.open.take() else { return self.search() };
        if left < ENTRY as u64 {
            self.count(code);
            return true;
        }
        let Some(head) = self.rest[self.at..].first_chunk::<ENTRY>() else {
            self.open = Some((left, code));
            return false;
        };
        match entry(head).filter(|entry| entry.length <= left) {
            Some(entry) => {
                entry.add_to(&mut code);
                self.open = Some((left - entry.length, code));
                self.pass(entry.length);
            }
            // What follows is no entry: the container is over, or was none.
            None => self.count(code),
        }
        true
    }

    /// Begins the next container from here on, if there is one.
    fn search(&mut self) -> bool {
        let Some(found) = self.magic.find(&self.rest[self.at..]) else {
            // Its first bytes may be the last ones seen.
            self.at = self.rest.len().saturating_sub(MAGIC.len() - 1).max(self.at);
            return false;
        };
        self.at += found;
        let Some(head) = self.rest[self.at..].first_chunk::<HEADER>() else { return false };
        let size = u64::from_le_bytes(std::array::from_fn(|byte| head[8 + byte]));
        if half(head, 6) != HEADER as u16 || size < ENTRY as u64 {
            self.at += MAGIC.len();
            return true;
        }
        self.open = Some((size, Code::default()));
        self.at += HEADER;
        true
    }

    /// Passes over bytes, those to come included.
    fn pass(&mut self, length: u64) {
        let here = (self.rest.len() - self.at) as u64;
        self.skip = length.saturating_sub(here);
        self.at += length.min(here) as usize;
    }

    fn count(&mut self, mut code: Code) {
        code.sass.sort_unstable();
        code.sass.dedup();
        code.ptx.sort_unstable();
        code.ptx.dedup();
        let is_code = !code.sass.is_empty() || !code.ptx.is_empty();
        if is_code && (self.counts.len() < MAX_KINDS || self.counts.contains_key(&code)) {
            *self.counts.entry(code).or_default() += 1;
        }
    }
}

/// One entry's header.
struct Entry {
    is_ptx: bool,
    arch: Arch,
    isa: Isa,
    /// Bytes of header and code.
    length: u64,
}

impl Entry {
    fn add_to(&self, code: &mut Code) {
        match self.is_ptx {
            true => code.ptx.push((self.arch, self.isa)),
            false => code.sass.push(self.arch),
        }
    }
}

/// Reads an entry's header; nothing where it is none.
fn entry(head: &[u8; ENTRY]) -> Option<Entry> {
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
    let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
    let (kind, header, payload, number) = (half(head, 0), u64::from(word(4)), long(8), word(28));
    let is_arch = (10..=LAST_ARCH).contains(&number);
    if !matches!(kind, PTX | SASS) || !(ENTRY as u64..=MAX_ENTRY).contains(&header) || !is_arch {
        return None;
    }
    let suffix = match long(40) {
        flags if flags & SPECIFIC != 0 => Suffix::Specific,
        flags if flags & FAMILY != 0 => Suffix::Family,
        _ => Suffix::None,
    };
    let cc = Cc::new((number / 10) as u8, (number % 10) as u8);
    let isa = (half(head, 26), half(head, 24));
    Some(Entry { is_ptx: kind == PTX, arch: Arch { cc, suffix }, isa, length: header.checked_add(payload)? })
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// What most source files were compiled for, with their number. A file for a single architecture is left aside where
/// others are for several: it holds what no other GPU can run.
pub fn main_code(counts: &Counts) -> Option<(&Code, u64)> {
    let several = |code: &Code| code.sass.len() > 1;
    let only_several = counts.keys().any(several);
    let counted = counts.iter().filter(|(code, _)| !only_several || several(code));
    // Of two that are as frequent, the one for more architectures.
    counted.map(|(code, count)| (code, *count)).max_by_key(|(code, count)| (*count, code.sass.len(), code.ptx.len()))
}

#[cfg(test)]
mod tests;
