//! Tests of where libraries are found.

use crate::probe::search_path::library_path;

use super::*;

/// A cache of names and paths, as ldconfig would write it.
fn cache(entries: &[(&str, &str, u64)]) -> Vec<u8> {
    let mut strings = Vec::new();
    let mut table = Vec::new();
    for (name, path, processor) in entries {
        let offset = |strings: &Vec<u8>| (48 + 24 * entries.len() + strings.len()) as u32;
        let name_at = offset(&strings);
        strings.extend_from_slice(format!("{name}\0").as_bytes());
        let path_at = offset(&strings);
        strings.extend_from_slice(format!("{path}\0").as_bytes());
        for word in [0x0303, name_at, path_at, 0] {
            table.extend_from_slice(&word.to_le_bytes());
        }
        table.extend_from_slice(&processor.to_le_bytes());
    }
    let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
    bytes.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(strings.len() as u32).to_le_bytes());
    bytes.resize(48, 0);
    bytes.extend(table);
    bytes.extend(strings);
    bytes
}

/// A library for this machine, as far as the search looks.
fn library(root: &Path, path: &str) {
    let place = under(root, Path::new(path));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(20, 0);
    fs::write(place, head).unwrap();
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gpuenv-loader-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_cache_is_read_whatever_stands_in_it() {
    let bytes = cache(&[("libcuda.so.1", "/a/libcuda.so.1", 0), ("libx.so", "/v3/libx.so", 1 << 62)]);
    assert_eq!(read_cache(&bytes), [("libcuda.so.1".to_string(), PathBuf::from("/a/libcuda.so.1"))]);
    let behind_old = [b"ld.so-1.7.0\0\0\0\0\0".to_vec(), bytes.clone()].concat();
    assert_eq!(read_cache(&behind_old).len(), 1);
    for cut in 0..bytes.len() {
        read_cache(&bytes[..cut]);
    }
    let mut wild = bytes;
    wild[20..24].fill(0xff);
    wild[52..60].fill(0xff);
    assert_eq!(read_cache(&wild), []);
}

#[test]
fn the_search_keeps_the_loaders_order() {
    let root = scratch("order");
    library(&root, "/opt/first/libcuda.so.1");
    library(&root, "/opt/real/libcuda.so.535.1");
    library(&root, "/usr/lib64/libcuda.so.1");
    std::os::unix::fs::symlink("/opt/real", root.join("opt/link")).unwrap();
    std::os::unix::fs::symlink("libcuda.so.535.1", root.join("opt/real/libcuda.so.1")).unwrap();
    fs::create_dir_all(root.join("etc")).unwrap();
    fs::write(root.join("etc/ld.so.cache"), cache(&[("libcuda.so.1", "/opt/link/libcuda.so.1", 0)])).unwrap();

    let found = Loader::new(&root, &[]).find("libcuda.so.1").unwrap();
    assert_eq!((found.by, found.file.to_str().unwrap()), (By::Cache, "/opt/real/libcuda.so.535.1"));
    assert_eq!(found.shadows, [(PathBuf::from("/usr/lib64/libcuda.so.1"), By::Default)]);

    let entries = library_path(OsStr::new("/nowhere:/opt/first"), Path::new("/"));
    let found = Loader::new(&root, &entries).find("libcuda.so.1").unwrap();
    assert_eq!((found.by, found.path.to_str().unwrap()), (By::LibraryPath, "/opt/first/libcuda.so.1"));
    assert_eq!(found.shadows.len(), 2);

    let own = Loader::new(&root, &entries).before(vec!["/opt/real".into()]);
    assert_eq!(own.find("libcuda.so.1").unwrap().by, By::Own);
    assert_eq!(own.names("libcuda.so."), ["libcuda.so.1", "libcuda.so.535.1"]);
    let own = Loader::new(&root, &entries).after(vec!["/opt/real".into()]);
    assert_eq!(own.find("libcuda.so.1").unwrap().by, By::LibraryPath);
    let own = Loader::new(&root, &[]).after(vec!["/opt/real".into()]);
    assert_eq!(own.find("libcuda.so.1").unwrap().by, By::Own);
    assert_eq!(own.find("libnothing.so"), None);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn libraries_of_32_bits_are_passed_over() {
    let root = scratch("class");
    library(&root, "/lib/libcuda.so.1");
    library(&root, "/opt/libcuda.so.1");
    let small = root.join("opt/libcuda.so.1");
    let mut head = fs::read(&small).unwrap();
    head[4] = 1;
    fs::write(&small, &head).unwrap();
    let loader = Loader::new(&root, &["/opt".into()]);
    assert_eq!(loader.find("libcuda.so.1").unwrap().by, By::Default);
    // A file that is no library stops the loader, so it is what is found.
    fs::write(&small, "garbage").unwrap();
    assert_eq!(loader.find("libcuda.so.1").unwrap().by, By::LibraryPath);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn links_stay_under_their_root() {
    let root = scratch("links");
    library(&root, "/etc/file");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
    link("/etc/file", "absolute");
    link("../../../../etc/file", "up");
    link("ring", "ring");
    let resolved = |path: &str| resolve(&root, Path::new(path)).map(|path| path.display().to_string());
    assert_eq!(resolved("/absolute").as_deref(), Some("/etc/file"));
    assert_eq!(resolved("/up").as_deref(), Some("/etc/file"));
    assert_eq!(resolved("/etc/../etc/file").as_deref(), Some("/etc/file"));
    assert_eq!(resolved("/ring"), None);
    assert_eq!(resolved("/etc/none"), None);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn what_others_can_change_is_dangerous() {
    let folder = scratch("danger");
    let file = folder.join("libcuda.so.1");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(danger(&file).is_some());
    assert_eq!(danger(Path::new("/proc/self/mountinfo/..")), None, "what is not there is not dangerous");
    fs::remove_dir_all(folder).unwrap();
}
