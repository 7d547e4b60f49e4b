//! The rows of a packed catalog are read by their order: nobody changes them without a word to older programs.

use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::packed::READER;
use regex::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the room, one behind the other, without comments and attributes.
fn sources() -> String {
    let mut folders = vec![root().join("src/catalog")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//") && !line.starts_with("#["))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Each kind of row with its fields and their types, in the order in which they are packed; each vocabulary with its words.
fn form() -> String {
    let sources = sources();
    let mut lines = Vec::new();
    let table = Regex::new(r#"(?m)^[a-z_]+: (?:Table|Grouped)<([A-Za-z]+)> = "([a-z_]+)",$"#).unwrap();
    let field = Regex::new(r"(?m)^pub ([a-z_]+): (.+),$").unwrap();
    for found in table.captures_iter(&sources) {
        let (row, kind) = (&found[1], &found[2]);
        let head = format!("pub struct {row} {{\n");
        let start = sources.find(&head).unwrap_or_else(|| panic!("`{row}` is a struct of the catalog")) + head.len();
        let body = &sources[start..start + sources[start..].find("\n}").unwrap() + 1];
        let fields: Vec<String> = field.captures_iter(body).map(|one| format!("{}: {}", &one[1], &one[2])).collect();
        assert!(!fields.is_empty(), "{row}");
        lines.push(format!("{kind}: {}", fields.join(", ")));
    }
    let vocabulary = Regex::new(r"(?s)vocabulary! \{\n([A-Za-z]+) \{\n(.*?)\n\}").unwrap();
    let word = Regex::new(r#"= "([^"]+)""#).unwrap();
    for found in vocabulary.captures_iter(&sources) {
        let words: Vec<&str> = word.captures_iter(&found[2]).map(|one| one.get(1).unwrap().as_str()).collect();
        lines.push(format!("{} = {}", &found[1], words.join(" ")));
    }
    assert!(lines.len() > 40, "{lines:?}");
    format!("reader {}.{}\n{}\n", READER.0, READER.1, lines.join("\n"))
}

#[test]
fn the_reader_version_speaks_of_the_rows_as_they_are() {
    let file = root().join("tests/data/catalog_rows.txt");
    let now = form();
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&file, &now).unwrap();
    }
    let then = fs::read_to_string(&file).unwrap();
    assert!(
        then == now,
        "the rows of the catalog are not those of {}: raise READER in src/catalog/packed.rs (the minor for a field at the \
         end of a row or for a table, else the major), then UPDATE_EXAMPLES=1 cargo test --test house catalog_form::",
        file.display()
    );
}
