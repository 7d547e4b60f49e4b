//! Packs `catalog/*.toml` into the form by which a catalog travels: reads every file with the row types of the crate
//! itself, and refuses what the lints refuse. And packs the machine code of the kernels.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use sha2::{Digest, Sha256};

#[allow(dead_code)]
#[path = "../src/catalog/absence.rs"]
mod absence;
#[allow(dead_code)]
#[path = "../src/catalog/apart.rs"]
mod apart;
#[path = "../src/catalog/bundled.rs"]
mod bundled;
#[allow(dead_code)]
#[path = "../src/coverage.rs"]
mod coverage;
#[allow(dead_code)]
#[path = "../src/catalog/expected.rs"]
mod expected;
#[path = "../src/catalog/lint/mod.rs"]
mod lint;
#[allow(dead_code)]
#[path = "../src/catalog/names.rs"]
mod names;
#[allow(dead_code)]
#[path = "../src/catalog/packed.rs"]
mod packed;
#[allow(dead_code)]
#[path = "../src/catalog/parts.rs"]
mod parts;
#[allow(dead_code)]
#[path = "../src/catalog/row.rs"]
mod row;
#[allow(dead_code)]
#[path = "../src/catalog/row_reader.rs"]
mod row_reader;
#[allow(dead_code)]
#[path = "../src/catalog/rows/mod.rs"]
mod rows;
#[allow(dead_code)]
#[path = "../src/catalog/table.rs"]
mod table;
#[allow(dead_code)]
#[path = "../src/catalog/tables.rs"]
mod tables;
#[allow(dead_code, unused_imports)]
#[path = "../src/types/mod.rs"]
mod types;
#[allow(dead_code)]
#[path = "../src/catalog/wheels.rs"]
mod wheels;

use tables::Catalog;

fn main() {
    without_index_of_unwinding();
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the output folder"));
    let mut catalog = Catalog::default();
    let mut digest = Sha256::new();
    let mut files = HashMap::new();
    let mut wrong = Vec::new();
    for file in catalog_files(&root) {
        let text = fs::read_to_string(root.join(&file)).unwrap_or_else(|error| fail(&[format!("{file}: {error}")]));
        digest.update(format!("{file}\0{}\0{text}", text.len()));
        match parsed(&text) {
            Ok(part) => {
                for row in part.rows() {
                    files.entry(format!("{} {}", row.kind, row.name)).or_insert_with(|| file.clone());
                }
                if !part.version.is_empty() {
                    catalog.version = part.version;
                    catalog.reader = part.reader;
                }
                catalog.extend(part);
            }
            Err(error) => wrong.push(format!("{file}: {error}")),
        }
    }
    catalog.sort();
    let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    catalog.digest = hex.into();
    if wrong.is_empty() {
        wrong.extend(lint::lint_built_in(&catalog).into_iter().map(|finding| {
            let file = files.get(&finding.row).map_or("catalog", String::as_str);
            format!("{file}: {}: {} [{}]", finding.row, finding.says, finding.lint)
        }));
    }
    if !wrong.is_empty() {
        fail(&wrong);
    }
    catalog.unpack_images();
    catalog.expect();
    // From here on their digests stand for them.
    catalog.wheels = tables::Table::default();
    // And the threads that show a message serve who edits its row, not who runs the program.
    catalog.diagnoses.to_mut().iter_mut().for_each(|row| row.seen = None);
    // The page is compressed as a whole when it is sent, and better so than in parts. It names sources and explains none.
    let is_page = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    if is_page {
        catalog.sources.to_mut().iter_mut().for_each(|source| source.note = None);
    }
    let level = if is_page { 0 } else { packed::SMALL };
    let packed = packed::pack(&catalog, level).unwrap_or_else(|error| fail(&[format!("the catalog: {error}")]));
    write(&out, "catalog.packed", &packed);
    pack_kernels(&root, &out);
    pack_schemas(&root, &out, level);
    pack_scripts(&root, &out);
    list_rows(&root, &out, ("meanings", "Meaning"), Some(("says", level)));
    list_rows(&root, &out, ("diagnose/asides", "Aside"), None);
}

/// A file of the catalog. Where most of what packages ask for is from one source it says so once, above the rows; files of an
/// index stand below the source of their sha256, and below their folder where it has some, each with that alone.
fn parsed(text: &str) -> Result<Catalog, toml::de::Error> {
    if !["asks_from", "[sha256."].iter().any(|key| text.contains(key)) {
        return toml::from_str(text);
    }
    let mut file: toml::Table = toml::from_str(text)?;
    let (source, rows) = (file.remove("asks_from"), file.get_mut("asks").and_then(toml::Value::as_array_mut));
    for row in rows.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        if let Some(source) = source.as_ref().filter(|_| !row.contains_key("source")) {
            row.insert("source".to_string(), source.clone());
        }
    }
    let read: BTreeMap<String, BTreeMap<String, Read>> =
        file.remove("sha256").map_or_else(|| Ok(BTreeMap::new()), toml::Value::try_into)?;
    let rows: Vec<toml::Value> = read.iter().flat_map(|(source, files)| wheels(source, files)).collect();
    if !rows.is_empty() {
        file.insert("wheel".to_string(), rows.into());
    }
    file.try_into()
}

/// What was read in one place: a file's sha256, or those of the files in a folder.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Read {
    File(String),
    Folder(BTreeMap<String, String>),
}

/// Rows of files and their sha256 that were read in one place.
fn wheels(source: &str, read: &BTreeMap<String, Read>) -> Vec<toml::Value> {
    let row = |(file, sha256): (&String, &String), folder: Option<&str>| {
        let fields =
            [("file", Some(file.as_str())), ("sha256", Some(sha256)), ("source", Some(source)), ("index", folder)];
        let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?.into())));
        toml::Value::Table(fields.collect())
    };
    let rows = read.iter().flat_map(|(name, read)| match read {
        Read::File(sha256) => vec![row((name, sha256), None)],
        Read::Folder(files) => files.iter().map(|file| row(file, Some(name))).collect(),
    });
    rows.collect()
}

/// Packs the PTX and the machine code that travel in the program into one file, for `src/probe/kernels/prebuilt.rs`; constants
/// tell the length of each part.
fn pack_kernels(root: &Path, out: &Path) {
    let folder = "src/probe/kernels/prebuilt";
    println!("cargo::rerun-if-changed={folder}");
    let number_of = |name: &str| name.strip_prefix("sm_")?.strip_suffix(".cubin")?.parse::<u8>().ok();
    let mut files: Vec<(u8, PathBuf)> =
        names_in(root, folder).filter_map(|name| Some((number_of(&name)?, root.join(folder).join(name)))).collect();
    files.sort();
    let mut all = read(&root.join(folder).join("compute_35.ptx"));
    let (ptx, mut listed) = (all.len(), String::new());
    for (number, path) in files {
        let bytes = read(&path);
        listed += &format!("({number}, {}), ", bytes.len());
        all.extend(bytes);
    }
    write(out, "kernels.deflate", &miniz_oxide::deflate::compress_to_vec(&all, 10));
    let packed = "include_bytes!(concat!(env!(\"OUT_DIR\"), \"/kernels.deflate\"))";
    let code = format!(
        "const PTX: usize = {ptx};\nconst CUBINS: &[(u8, usize)] = &[{listed}];\nconst PACKED: &[u8] = {packed};\n"
    );
    write(out, "kernels.rs", code.as_bytes());
}

/// Packs what a host's Python is asked, for `src/probe/python.rs`.
fn pack_scripts(root: &Path, out: &Path) {
    for name in ["packages.py", "torch.py"] {
        let path = format!("src/probe/{name}");
        println!("cargo::rerun-if-changed={path}");
        let packed = miniz_oxide::deflate::compress_to_vec(&read(&root.join(path)), packed::SMALL);
        write(out, &format!("{name}.deflate"), &packed);
    }
}

/// Packs the schemas into one file, for `src/report/schema.rs`: they are printed seldom and are mostly the same few words. A
/// list tells where each of them stands.
fn pack_schemas(root: &Path, out: &Path, level: u8) {
    let folder = "docs/reference/schemas";
    println!("cargo::rerun-if-changed={folder}");
    let (mut all, mut listed) = (Vec::new(), String::new());
    for name in names_in(root, folder) {
        let Some(stem) = name.strip_suffix(".json") else { continue };
        let start = all.len();
        all.extend(read(&root.join(folder).join(&name)));
        listed += &format!("({stem:?}, {start}..{}), ", all.len());
    }
    write(out, "schemas.deflate", &miniz_oxide::deflate::compress_to_vec(&all, level));
    write(out, "schemas.rs", format!("&[{listed}]").as_bytes());
}

/// Writes the rows of a file in `src` down as lists of a type, each under its name in capitals: no run reads them. The texts
/// under one key may stand apart, deflated at some level: its rows tell where theirs begins and ends.
fn list_rows(root: &Path, out: &Path, (file, row): (&str, &str), apart: Option<(&str, u8)>) {
    let path = format!("src/{file}.toml");
    println!("cargo::rerun-if-changed={path}");
    let lists: Result<BTreeMap<String, Vec<toml::Table>>, _> = toml::from_slice(&read(&root.join(&path)));
    let lists = lists.unwrap_or_else(|error| fail(&[format!("{path}: {error}")]));
    let (mut code, mut texts) = (String::new(), String::new());
    let mut field = |key: &str, value: &toml::Value| match value {
        toml::Value::String(text) if apart.is_some_and(|(apart, _)| apart == key) => {
            let start = texts.len();
            texts += text;
            format!("{key}: ({start}, {}), ", texts.len())
        }
        value => format!("{key}: {}, ", literal(value)),
    };
    for (name, rows) in lists {
        code += &format!("#[allow(clippy::needless_update)]\npub const {}: &[{row}] = &[\n", name.to_uppercase());
        for fields in rows {
            let fields: String = fields.iter().map(|(key, value)| field(key, value)).collect();
            code += &format!("    {row} {{ {fields}..{row}::EMPTY }},\n");
        }
        code += "];\n";
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    if let Some((_, level)) = apart {
        write(out, &format!("{name}.deflate"), &miniz_oxide::deflate::compress_to_vec(texts.as_bytes(), level));
    }
    write(out, &format!("{name}.rs"), code.as_bytes());
}

/// A value as it is written in code.
fn literal(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(items) => format!("&[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        toml::Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

fn names_in(root: &Path, folder: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(root.join(folder)).unwrap_or_else(|error| fail(&[format!("{folder}: {error}")]));
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| fail(&[format!("{}: {error}", path.display())]))
}

fn write(out: &Path, name: &str, bytes: &[u8]) {
    fs::write(out.join(name), bytes).unwrap_or_else(|error| fail(&[format!("{name}: {error}")]));
}

/// Every catalog file, by name relative to the crate and in a fixed order.
fn catalog_files(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["catalog", "catalog/sources", "catalog/wheels"] {
        println!("cargo::rerun-if-changed={folder}");
        files.extend(
            names_in(root, folder).filter(|name| name.ends_with(".toml")).map(|name| format!("{folder}/{name}")),
        );
    }
    files.sort();
    for file in &files {
        println!("cargo::rerun-if-changed={file}");
    }
    files
}

fn fail(wrong: &[String]) -> ! {
    for line in wrong {
        println!("cargo::error={}", line.replace('\n', " | "));
    }
    process::exit(1)
}

/// What is published (`opt-level = "s"`) ends where it panics and never climbs up its stack, so that an index of the tables for
/// that is a hundred kilobytes for nothing.
fn without_index_of_unwinding() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|is| is == value);
    if is("OPT_LEVEL", "s") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    }
}
