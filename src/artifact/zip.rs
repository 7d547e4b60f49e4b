//! Wheels as archives: which members there are, and their bytes, a piece at a time.
//!
//! Nothing of an archive is trusted: sizes are bounds, and what says too much is refused.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{Bytes, ReadError, Sink};

/// What archives and their members begin and end with.
const END: &[u8] = b"PK\x05\x06";
const END_LARGE: &[u8] = b"PK\x06\x06";
const LISTED: &[u8] = b"PK\x01\x02";
const MEMBER: &[u8] = b"PK\x03\x04";
/// The end of an archive with the longest comment it may have.
const LONGEST_END: u64 = 22 + (1 << 16);
/// No list of members is longer: that of the largest wheel known is a hundredth.
const MAX_LIST: u64 = 128 << 20;
/// Bytes that are read and unpacked at a time. The second is the window of the format, or a multiple.
const PIECE: usize = 256 << 10;
const WINDOW: usize = 256 << 10;

/// One member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, `vllm/_C.abi3.so`.
    pub name: String,
    /// Its size when unpacked, as the list says.
    pub size: u64,
    packed: u64,
    at: u64,
    method: u16,
    /// The CRC-32 of its bytes when unpacked.
    crc: u32,
}

/// Every member, in the order of the list.
pub fn members(file: &mut dyn Bytes) -> Result<Vec<Member>, ReadError> {
    let length = file.length();
    let from = length.saturating_sub(LONGEST_END);
    let tail = file.read(from, (length - from) as usize)?;
    let end = memchr::memmem::rfind(&tail, END).ok_or_else(|| ReadError::broken("it is not a zip archive"))?;
    let (mut size, mut at) = (u64::from(word(&tail, end + 12)), u64::from(word(&tail, end + 16)));
    if (size == u64::from(u32::MAX) || at == u64::from(u32::MAX))
        && let Some(large) = memchr::memmem::rfind(&tail[..end], END_LARGE)
    {
        (size, at) = (long(&tail, large + 40), long(&tail, large + 48));
    }
    if size > MAX_LIST || at.checked_add(size).is_none_or(|end| end > length) {
        return Err(ReadError::broken("its list of members does not lie in it"));
    }
    let list = file.read(at, size as usize)?;
    let mut members = Vec::new();
    let mut rest = list.as_slice();
    let mut packed: u64 = 0;
    while rest.starts_with(LISTED) {
        let (member, used) = listed(rest).ok_or_else(|| ReadError::broken("its list of members breaks off"))?;
        packed = packed.saturating_add(member.packed);
        rest = &rest[used..];
        members.push(member);
    }
    // Members that share their bytes unpack to more than any honest archive holds.
    if packed > length {
        return Err(ReadError::broken("its members overlap"));
    }
    Ok(members)
}

/// One entry of the list, and its length.
fn listed(entry: &[u8]) -> Option<(Member, usize)> {
    let (name, extra, comment) = (half(entry, 28)?, half(entry, 30)?, half(entry, 32)?);
    let (name_end, extra_end) = (46 + usize::from(name), 46 + usize::from(name) + usize::from(extra));
    let used = extra_end + usize::from(comment);
    let name = String::from_utf8_lossy(entry.get(46..name_end)?).into_owned();
    let extra = entry.get(name_end..extra_end)?;
    entry.get(..used)?;
    let mut sizes = [24, 20, 42].map(|at| u64::from(word(entry, at)));
    // What does not fit into 32 bits stands in an extra field, in this order.
    let mut large = extra_field(extra, 1).unwrap_or_default().chunks_exact(8);
    for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
        *size = long(large.next()?, 0);
    }
    let [size, packed, at] = sizes;
    Some((Member { name, size, packed, at, method: half(entry, 10)?, crc: word(entry, 16) }, used))
}

fn extra_field(mut extra: &[u8], id: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let (known, length) = (half(extra, 0)?, usize::from(half(extra, 2)?));
        let field = extra.get(4..4 + length)?;
        if known == id {
            return Some(field);
        }
        extra = &extra[4 + length..];
    }
    None
}

/// Gives the bytes of a member to `sink`, unpacked, until it has enough. At most `cap` bytes are given. Where all were, they
/// are those of which the list has the CRC-32: a download that was damaged is refused.
pub fn stream(file: &mut dyn Bytes, member: &Member, cap: u64, sink: Sink<'_>) -> Result<(), ReadError> {
    let head = file.read(member.at, 30)?;
    if !head.starts_with(MEMBER) {
        return Err(ReadError::broken(&format!("its member {} is not where the list says", member.name)));
    }
    let skip = half(&head, 26).zip(half(&head, 28)).map_or(0, |(name, extra)| u64::from(name) + u64::from(extra));
    let start = member.at.saturating_add(30).saturating_add(skip);
    let (mut crc, mut given, mut is_enough) = (crc32fast::Hasher::new(), 0, false);
    let mut counted = |bytes: &[u8]| {
        crc.update(bytes);
        given += bytes.len() as u64;
        is_enough = !sink(bytes);
        !is_enough
    };
    match member.method {
        0 => stored(file, start, member.packed.min(cap), &mut counted),
        8 => inflated(file, member, start, cap, &mut counted),
        _ => Err(ReadError::broken(&format!("its member {} is packed in a way that is not read", member.name))),
    }?;
    if !is_enough && (given < cap || given == member.size) && crc.finalize() != member.crc {
        return Err(ReadError::broken(&format!("its member {} is damaged: its CRC-32 is another", member.name)));
    }
    Ok(())
}

fn stored(file: &mut dyn Bytes, start: u64, length: u64, sink: Sink<'_>) -> Result<(), ReadError> {
    let mut done = 0;
    while done < length {
        let piece = file.read(start.saturating_add(done), (length - done).min(PIECE as u64) as usize)?;
        done += piece.len() as u64;
        if !sink(&piece) {
            break;
        }
    }
    Ok(())
}

fn inflated(file: &mut dyn Bytes, member: &Member, start: u64, cap: u64, sink: Sink<'_>) -> Result<(), ReadError> {
    let broken = || ReadError::broken(&format!("its member {} cannot be unpacked", member.name));
    let mut state = Box::new(DecompressorOxide::new());
    let mut window = vec![0; WINDOW];
    let (mut read, mut out, mut given) = (0, 0, 0);
    let mut piece = Vec::new();
    let mut used = 0;
    loop {
        if used == piece.len() && read < member.packed {
            let want = (member.packed - read).min(PIECE as u64) as usize;
            piece = file.read(start.saturating_add(read), want)?;
            (read, used) = (read + piece.len() as u64, 0);
        }
        let more = if read < member.packed { inflate_flags::TINFL_FLAG_HAS_MORE_INPUT } else { 0 };
        let (status, taken, made) = decompress(&mut state, &piece[used..], &mut window, out, more);
        used += taken;
        let fresh = &window[out..out + made];
        given += made as u64;
        if given > cap {
            return Err(ReadError::broken(&format!("its member {} unpacks to more than it says", member.name)));
        }
        if made > 0 && !sink(fresh) {
            return Ok(());
        }
        out = (out + made) % WINDOW;
        match status {
            TINFLStatus::Done => return Ok(()),
            TINFLStatus::NeedsMoreInput if used == piece.len() && read < member.packed => {}
            TINFLStatus::HasMoreOutput => {}
            _ => return Err(broken()),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |bytes| u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}
