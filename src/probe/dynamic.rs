//! What an ELF file asks of the loader: the libraries it needs and the directories it wants searched for them.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::artifact::elf::{Elf, NEEDED, RPATH, RUNPATH, Ranges, SONAME};

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

/// Reads the dynamic section of a library of 64 bits, `file` being the way it is asked for: `$ORIGIN` is its directory,
/// links not resolved. None: it is none, or it is broken.
pub fn read(root: &Path, file: &Path) -> Option<Dynamic> {
    let resolved = loader::resolve(root, file)?;
    let mut library = library(root, &resolved)?;
    let dynamic = library.dynamic()?;
    let needed = dynamic.values(NEEDED).filter_map(|at| library.text(&dynamic, at)).collect();
    let mut text = |tag: u64| library.text(&dynamic, dynamic.values(tag).next()?);
    let soname = text(SONAME);
    let origin = file.parent()?;
    let mut folders = |tag: u64| text(tag).map(|paths| search_path::of_library(&paths, origin));
    let after = folders(RUNPATH);
    let before = if after.is_some() { None } else { folders(RPATH) };
    Some(Dynamic { needed, soname, before: before.unwrap_or_default(), after: after.unwrap_or_default() })
}

/// A library under a root, its links followed.
pub fn library(root: &Path, file: &Path) -> Option<Elf<impl Ranges>> {
    let place = loader::under(root, file);
    // To open a pipe waits for whoever writes into it.
    let source = place.is_file().then(|| File::open(&place).ok())??;
    Elf::open(source.metadata().ok()?.len(), move |range: Range<u64>| {
        let mut found = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
        source.read_exact_at(&mut found, range.start).ok().map(|()| found)
    })
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
        let own = std::env::current_exe().unwrap();
        let needed = read(Path::new("/"), &own).unwrap().needed.pop().unwrap();
        let names = library(Path::new("/"), &own).and_then(|mut own| own.section(".dynstr")).unwrap();
        assert!(names.split(|byte| *byte == 0).any(|name| name == needed.as_bytes()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
