//! The corpora of the fuzzing targets, each file through its reader: what was found once is not lost again.

#[path = "../../fuzz/readers.rs"]
mod readers;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gpuenv::catalog::{BUILTIN, Catalog, packed};

#[test]
fn no_seed_makes_its_reader_stop() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for (name, _) in readers::READERS {
        let folder = root.join("corpus").join(name);
        let seeds = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for path in seeds.map(|seed| seed.unwrap().path()) {
            let begun = Instant::now();
            println!("{}", path.display());
            readers::run(name, &fs::read(&path).unwrap());
            assert!(begun.elapsed() < Duration::from_secs(10), "{} took {:?}", path.display(), begun.elapsed());
            count += 1;
        }
        assert!(count >= 5, "{name} has {count} seeds");
        assert!(root.join(format!("targets/{name}.rs")).is_file(), "{name} has no target");
    }
    let targets = fs::read_dir(root.join("targets")).unwrap().count();
    assert_eq!(targets, readers::READERS.len(), "a target without a reader");
    let workflow = fs::read_to_string(root.join("../.github/workflows/fuzz.yml")).unwrap();
    let weekly = workflow.split_once("reader: [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    let weekly: Vec<&str> = weekly.split(", ").collect();
    assert!(readers::READERS.iter().all(|(name, _)| weekly.contains(name)), "the weekly workflow leaves one out");
}

/// The seeds of catalogs are catalogs, a few rows of some kinds each: another format would leave the fuzzer at the first byte.
/// `UPDATE_SEEDS=1` writes them anew.
#[test]
fn seeds_of_catalogs_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/catalog");
    for kept in [&["gpu"][..], &["build", "source"], &["rule", "law"], &["image", "driver"], &["companion", "asks"]] {
        let path = folder.join(kept.join("-"));
        if std::env::var_os("UPDATE_SEEDS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, packed::pack(&few_rows(kept), packed::SMALL).unwrap()).unwrap();
        }
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let read = packed::unpack_whole(bytes.leak()).map(|catalog| catalog.rows().count());
        assert!(read.is_ok_and(|rows| rows > 0), "{}: UPDATE_SEEDS=1 writes it anew", path.display());
    }
}

/// The first rows of some kinds of the built-in catalog.
fn few_rows(kept: &[&str]) -> Catalog {
    let mut rows = BUILTIN.clone();
    for kind in Catalog::KINDS {
        let first = if kept.contains(kind) { 3 } else { 0 };
        rows.remove(kind, &(first..BUILTIN.rows().count()).collect());
    }
    let mut few = Catalog { version: BUILTIN.version, reader: BUILTIN.reader, ..Catalog::default() };
    few.extend(rows);
    few.sort();
    few
}
