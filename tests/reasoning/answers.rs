//! What is answered to every situation of tests/scenarios that has an answer, as it is kept in tests/data/answers.txt: who
//! changes the solver or the catalog sees in the difference whose answer became another one, and says why that is right.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::parallel;
use crate::told;

#[test]
fn answers_are_those_that_were_read_once() {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let told: Vec<Option<String>> = parallel::each(&folders, |folder| {
        let answer = told::answer(&fs::read_to_string(folder.join("gpuenv.toml")).unwrap())?;
        Some(format!("{}\n{answer}\n", folder.file_name()?.to_string_lossy()))
    });
    let text: String = told.into_iter().flatten().collect();
    assert!(text.matches("\n\n").count() >= 200, "{text}");
    told::is_kept("answers.txt", &text);
}
