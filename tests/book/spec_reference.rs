//! docs/spec.md is what the table of keys says of gpuenv.toml. `UPDATE_EXAMPLES=1` writes it anew.

use std::fmt::Write;
use std::{env, fs};

use gpuenv::spec::{Shape, TableDoc, parse, tables};

const HEAD: &str = "\
# gpuenv.toml

What must run, and on which machines: `gpuenv lock` solves it into gpuenv.lock. `gpuenv schema spec` prints a JSON
Schema of it, for editors that complete and check. This page is made from the table of keys by which the program reads.
";

fn reference() -> String {
    let mut page = HEAD.to_string();
    for table in tables() {
        let title = if table.name.is_empty() { "Above the tables" } else { &format!("`{}`", table.header) };
        let _ = write!(page, "\n## {title}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n", table.about);
        for key in &table.keys {
            let value = match &key.shape {
                Shape::Text | Shape::List => format!("`{}`", key.example),
                Shape::TextOrList => format!("`{}`; one string or a list", key.example),
                Shape::Switch => "`true`, `false`".to_string(),
                Shape::Choice(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
            };
            let needed = if key.required { " Required." } else { "" };
            let row = format!("{value} | {}{needed}", key.description());
            let _ = writeln!(page, "| `{}` | {row} |", key.name);
            assert_eq!(row.matches('|').count(), 1, "{row}: it would break the table");
        }
    }
    page
}

#[test]
fn the_reference_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/spec.md");
    let page = reference();
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(path, &page).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(kept == page, "UPDATE_EXAMPLES=1 cargo test --test book spec_reference:: writes docs/spec.md anew");
}

/// A file with this line in its table, and what else a file needs.
fn file(table: &TableDoc, line: &str) -> String {
    let header = table.header.replace("NAME", "lab");
    let mut text = match table.name {
        "" => format!("{line}\n"),
        _ => format!("{header}\n{line}\n"),
    };
    for other in table.keys.iter().filter(|key| key.required && !line.starts_with(key.name)) {
        text += &format!("{} = {}\n", other.name, other.example);
    }
    if table.name == "stack.torch" {
        for other in ["version = \"2.8.0a0+git1234\"", "cuda = \"12.6\""] {
            let key = other.split(' ').next().unwrap();
            if !line.starts_with(&format!("{key} ")) {
                text += &format!("{other}\n");
            }
        }
        return text + "[target.lab]\n";
    }
    // What an image asks for needs one.
    text += if line.starts_with("image-requires") { "runtime = \"container\"\n" } else { "" };
    text += if table.name == "stack" { "" } else { "[stack]\ntorch = \"*\"\n" };
    text + if table.name == "target" { "" } else { "[target.lab]\n" }
}

#[test]
fn every_example_is_a_line_that_can_be_written() {
    for table in tables() {
        for key in &table.keys {
            let text = file(&table, &format!("{} = {}", key.name, key.example));
            let spec = parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
            let path = match table.name {
                "target" => format!("target.lab.{}", key.name),
                name => format!("{name}.{}", key.name),
            };
            // What is read can be told, and what is told can be written again.
            if ["stack", "target", "build", "resolve"].contains(&table.name) && key.example != "true" {
                let told = spec.text(&path).unwrap_or_else(|| panic!("{path} is not told"));
                let again = spec.without(&path).with(&path, Some(&told)).unwrap();
                assert_eq!(again.inputs(), spec.inputs(), "{path}");
                assert_eq!(spec.without(&path).text(&path), None, "{path}");
            }
        }
    }
}
