//! The corpora of the fuzzing targets, each file through its reader: what was found once is not lost again.

#[path = "../fuzz/readers.rs"]
mod readers;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

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
}
