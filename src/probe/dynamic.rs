//! What an ELF file asks of the loader: the libraries it needs and the directories it wants searched for them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{loader, search_path};

/// The dynamic section of a library, as far as the search for others depends on it. Directories are absolute, as seen
/// from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// The names it needs, in order (DT_NEEDED).
    pub needed: Vec<String>,
    /// Its own name (DT_SONAME).
    pub soname: Option<String>,
    /// The directories searched before LD_LIBRARY_PATH (DT_RPATH); none where there is a DT_RUNPATH, which displaces it.
    pub before: Vec<PathBuf>,
    /// The directories searched after LD_LIBRARY_PATH (DT_RUNPATH).
    pub after: Vec<PathBuf>,
}

/// Sections beyond these sizes are no sections of a library.
const MAX_HEADERS: usize = 1 << 10;
const MAX_DYNAMIC: u64 = 1 << 20;
const MAX_NAMES: u64 = 256 << 20;

/// The loader's words: a type of a program header, and tags of the dynamic section.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const NEEDED: u64 = 1;
const STRTAB: u64 = 5;
const STRSZ: u64 = 10;
const SONAME: u64 = 14;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

/// Reads the dynamic section of a library of 64 bits, `file` being the way it is asked for: `$ORIGIN` is its directory,
/// links not resolved. None: it is none, or it is broken.
pub fn read(root: &Path, file: &Path) -> Option<Dynamic> {
    let resolved = loader::resolve(root, file)?;
    let mut source = File::open(root.join(resolved.strip_prefix("/").unwrap_or(&resolved))).ok()?;
    let head = bytes(&mut source, 0, 64)?;
    // 64 bits, least significant byte first: all that CUDA runs on.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (word(&head, 32)?, half(&head, 54)?, half(&head, 56)?);
    if usize::from(size) < 56 || usize::from(count) > MAX_HEADERS {
        return None;
    }
    let headers = bytes(&mut source, table, u64::from(size) * u64::from(count))?;
    let headers: Vec<&[u8]> = headers.chunks_exact(usize::from(size)).collect();
    let of_kind = |kind: u32| headers.iter().filter(move |header| header[..4] == kind.to_le_bytes());
    let section = of_kind(DYNAMIC).next()?;
    let entries = bytes(&mut source, word(section, 8)?, word(section, 32)?.min(MAX_DYNAMIC))?;
    let entries: Vec<(u64, u64)> =
        entries.chunks_exact(16).map_while(|entry| Some((word(entry, 0)?, word(entry, 8)?))).collect();
    let value = |tag: u64| entries.iter().find(|(known, _)| *known == tag).map(|(_, value)| *value);
    // Addresses in memory become offsets in the file through the segments that are loaded.
    let offset = |address: u64| {
        of_kind(LOAD).find_map(|header| {
            let (at, from, length) = (word(header, 8)?, word(header, 16)?, word(header, 32)?);
            let inside = address.checked_sub(from).filter(|inside| *inside < length)?;
            at.checked_add(inside)
        })
    };
    let names = offset(value(STRTAB)?)?;
    let length = value(STRSZ)?.min(MAX_NAMES);
    let mut text = |at: u64| {
        // No name or path is longer than this; the table itself may be large.
        let length = length.checked_sub(at)?.min(16 << 10);
        let found = bytes(&mut source, names.checked_add(at)?, length)?;
        let end = found.iter().position(|byte| *byte == 0)?;
        String::from_utf8(found[..end].to_vec()).ok()
    };
    let needed = entries.iter().filter(|(tag, _)| *tag == NEEDED).filter_map(|(_, at)| text(*at)).collect();
    let soname = value(SONAME).and_then(&mut text);
    let origin = file.parent()?;
    let mut folders = |tag: u64| value(tag).and_then(&mut text).map(|paths| search_path::of_library(&paths, origin));
    let after = folders(RUNPATH);
    let before = if after.is_some() { None } else { folders(RPATH) };
    Some(Dynamic { needed, soname, before: before.unwrap_or_default(), after: after.unwrap_or_default() })
}

fn bytes(source: &mut File, at: u64, length: u64) -> Option<Vec<u8>> {
    source.seek(SeekFrom::Start(at)).ok()?;
    let mut found = Vec::new();
    source.take(length).read_to_end(&mut found).ok()?;
    Some(found)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_says_nothing() {
        let folder = std::env::temp_dir().join(format!("gpuenv-dynamic-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("libx.so");
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let wild = |at: usize| {
            let mut bytes = own[..64 << 10].to_vec();
            bytes[at] = 0xff;
            bytes
        };
        let cut = (0..200).step_by(7).map(|length| own[..length].to_vec());
        for bytes in cut.chain((16..200).map(wild)).chain([b"garbage".to_vec()]) {
            std::fs::write(&file, bytes).unwrap();
            // Whatever it says, it ends and does not panic.
            let _ = read(Path::new("/"), &file);
        }
        std::fs::write(&file, &own[..63]).unwrap();
        assert_eq!(read(Path::new("/"), &file), None);
        assert!(read(Path::new("/"), &std::env::current_exe().unwrap()).is_some_and(|own| !own.needed.is_empty()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
