//! `gpuenv matrix`: its cells are what `gpuenv lock` answers, and it is told in every format.

use std::fs;

use gpuenv::matrix::State;
use gpuenv::report::schema;
use serde_json::{Value, json};

use crate::common::sandbox::Sandbox;
use crate::common::validate;

fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name, "");
    // It needs none.
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    sandbox
}

fn matrix(sandbox: &Sandbox, args: &[&str]) -> Value {
    let (code, told) = sandbox.json(&[&["matrix"], args].concat());
    assert_eq!(code, 0, "{told:#}");
    let known: Value = serde_json::from_str(&schema::find("matrix").unwrap().text()).unwrap();
    let wrong = validate::errors(&known, &told);
    assert!(wrong.is_empty(), "{wrong:#?}");
    told
}

fn cells(told: &Value) -> Vec<Value> {
    let tables = told["tables"].as_array().unwrap();
    tables.iter().flat_map(|table| table["cells"].as_array().unwrap().clone()).collect()
}

fn cell<'v>(cells: &'v [Value], build: &str) -> &'v Value {
    cells.iter().find(|cell| cell["build"] == json!(build)).unwrap_or_else(|| panic!("no {build} in {cells:#?}"))
}

/// What `lock` says of the question that a cell is.
fn locked(sandbox: &Sandbox, package: &str, cell: &Value, python: Option<&str>) -> (i32, Value) {
    let text = |name: &str| cell[name].as_str();
    let driver = text("driver").map_or(String::new(), |driver| format!("driver = \"{driver}\"\n"));
    let python = python.map_or(String::new(), |python| format!("python = \"{python}\"\n"));
    let (build, gpu) = (text("build").unwrap(), text("gpu").unwrap());
    sandbox.write(&format!("[stack]\n{package} = \"{build}\"\n{python}[target.host]\ngpu = \"{gpu}\"\n{driver}"));
    sandbox.json(&["lock", "--fresh"])
}

/// Cells of every kind, spread over each table, against `lock` itself.
#[test]
fn cells_are_what_lock_answers() {
    let sandbox = sandbox("matrix-lock");
    let asked: [(&str, &[&str]); 7] = [
        ("torch", &["--gpu", "H100 NVL", "--gpu", "Tesla K80"]),
        ("torch", &["--gpu", "RTX 5090", "--driver", "570.124.06"]),
        ("torch", &["--gpu", "A100-SXM4-80GB", "--driver", "535.104.05", "--all"]),
        ("torch", &["--torch", "2.9"]),
        ("torch", &["--gpu", "V100-SXM2-32GB", "--torch", "2.7.1"]),
        ("tensorflow", &["--package", "tensorflow", "--gpu", "T4"]),
        ("jax", &["--package", "jax", "--gpu", "L40S", "--driver", "550.54.15"]),
    ];
    let mut states = std::collections::BTreeMap::new();
    for (package, args) in asked {
        let cells = cells(&matrix(&sandbox, args));
        assert!(cells.len() > 5, "{args:?}: {}", cells.len());
        let step = (cells.len() / 9).max(1);
        for cell in cells.iter().step_by(step) {
            let state = cell["state"].as_str().unwrap();
            *states.entry(state.to_string()).or_insert(0) += 1;
            let (code, told) = locked(&sandbox, package, cell, None);
            let target = &told["targets"]["host"];
            match state {
                "no" => assert_eq!((code, &told["status"]), (1, &json!("conflict")), "{cell:#}\n{told:#}"),
                "native" | "ptx" => {
                    let coverage = if state == "ptx" { "jit" } else { "native" };
                    let gpus = target["gpus"].as_array().unwrap_or_else(|| panic!("{cell:#}\n{told:#}"));
                    let worst = gpus.iter().any(|gpu| gpu["coverage"] == json!("jit"));
                    assert_eq!((code, worst), (0, coverage == "jit"), "{cell:#}\n{told:#}");
                    assert!(gpus.iter().all(|gpu| !gpu["coverage"].is_null()), "{cell:#}\n{told:#}");
                }
                _ => assert!(code == 3 || target["gpus"][0]["coverage"].is_null(), "{cell:#}\n{told:#}"),
            }
            if code == 0 {
                assert_eq!(target["driver"]["minimum"], cell["minimum_driver"], "{cell:#}\n{told:#}");
                assert_eq!(target["driver"]["mode"], cell["mode"], "{cell:#}\n{told:#}");
            }
            assert!(!cell["why"].as_str().unwrap().is_empty(), "{cell:#}");
        }
    }
    assert!(states["native"] > 5 && states["no"] > 5, "{states:?}");
}

/// The Pythons of a cell are those with which `lock` has an answer, and no others.
#[test]
fn pythons_are_those_that_lock_takes() {
    let sandbox = sandbox("matrix-python");
    let cells = cells(&matrix(&sandbox, &["--gpu", "A100-PCIE-40GB", "--torch", "2.4.1", "--driver", "550.54.15"]));
    let cell = cell(&cells, "2.4.1+cu121");
    let pythons: Vec<&str> = cell["pythons"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(pythons.len() > 2, "{cell:#}");
    for python in ["3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"] {
        let (code, told) = locked(&sandbox, "torch", cell, Some(python));
        assert_eq!(code == 0, pythons.contains(&python), "{python}: {told:#}");
    }
}

/// Known answers, so that the table and `lock` are not wrong together.
#[test]
fn what_everybody_knows_is_in_it() {
    let sandbox = sandbox("matrix-known");
    let h100 = cells(&matrix(&sandbox, &["--gpu", "H100", "--all"]));
    let old = cell(&h100, "1.12.1+cu102");
    assert_eq!(old["state"], json!("no"));
    assert!(old["why"].as_str().unwrap().contains("sm_90"), "{old:#}");
    let new = cell(&h100, "2.5.1+cu124");
    assert_eq!((&new["state"], &new["minimum_driver"]), (&json!("native"), &json!("525.60.13")), "{new:#}");
    let with_535 = cells(&matrix(&sandbox, &["--gpu", "RTX 3090", "--driver", "535.104.05"]));
    let cuda_13 = with_535.iter().find(|cell| cell["column"] == json!("cu130")).unwrap();
    assert_eq!(cuda_13["state"], json!("no"), "{cuda_13:#}");
    assert!(cuda_13["why"].as_str().unwrap().contains("580"), "{cuda_13:#}");
    // A GPU younger than a release runs it by PTX alone, if at all.
    let k80 = cells(&matrix(&sandbox, &["--gpu", "Tesla K80"]));
    assert!(
        k80.iter().any(|cell| cell["state"] == json!("native")) && k80.iter().any(|cell| cell["state"] == json!("no"))
    );
}

/// Forward compatibility takes a package that nobody has by default: it is not shown as if the driver sufficed.
#[test]
fn forward_compatibility_is_told_apart() {
    let sandbox = sandbox("matrix-compat");
    let args = ["matrix", "--gpu", "A100-SXM4-80GB", "--driver", "470"];
    let all = cells(&matrix(&sandbox, &args[1..]));
    let compat = |build: &str| cell(&all, build)["compat"].clone();
    assert_eq!((compat("2.7.1+cu118"), compat("2.7.1+cu126")), (json!(null), json!("cuda-compat-12-6")));
    let human = sandbox.run(&args).exits(0).tells("compat   cu126 (driver 470.57.02 with cuda-compat-12-6)");
    let human = human.tells("native   cu118 (driver 450.80.02)").tells("compat: the driver is too old by itself");
    assert!(!human.out.lines().any(|line| line.contains("native") && line.contains("cu126")), "{}", human.out);
    let svg = sandbox.run(&[&args[..], &["--format", "svg"]].concat()).exits(0).out;
    assert!(svg.contains(">compat 470<") && !svg.contains("\u{2713} 470"), "{svg}");
}

#[test]
fn drivers_of_a_release_on_a_gpu() {
    let sandbox = sandbox("matrix-drivers");
    let told = matrix(&sandbox, &["--gpu", "RTX 4090", "--torch", "2.9.0"]);
    let table = &told["tables"][0];
    assert_eq!((&table["rows_are"], &table["columns_are"]), (&json!("driver"), &json!("variant")));
    let runs = |row: &str, column: &str| {
        let cells = table["cells"].as_array().unwrap();
        let found =
            cells.iter().find(|cell| cell["row"].as_str().unwrap().starts_with(row) && cell["column"] == json!(column));
        found.unwrap_or_else(|| panic!("{row} {column} in {table:#}"))["state"].clone()
    };
    assert_eq!((runs("580.", "cu130"), runs("550.", "cu130")), (json!("native"), json!("no")));
    assert_eq!((runs("550.", "cu128"), runs("520.", "cu128")), (json!("native"), json!("no")));
}

#[test]
fn a_matrix_is_told_in_every_format() {
    let sandbox = sandbox("matrix-formats");
    let args = ["matrix", "--gpu", "H100 NVL"];
    let human =
        sandbox.run(&args).exits(0).tells("NVIDIA H100 NVL (9.0, Hopper)").tells("native").tells("next: add `--torch");
    assert!(human.out.lines().all(|line| line.chars().count() <= 80), "{}", human.out);
    let csv = sandbox.run(&[&args[..], &["--format", "csv"]].concat()).exits(0).out;
    assert!(csv.starts_with("package,build,gpu,driver,state,") && csv.lines().count() > 50, "{csv}");
    let svg = sandbox.run(&[&args[..], &["--format", "svg"]].concat()).exits(0).out;
    assert!(svg.starts_with("<svg xmlns=") && svg.contains("prefers-color-scheme:dark") && svg.contains("<title>"));
    let page = sandbox.run(&[&args[..], &["--format", "html"]].concat()).exits(0).out;
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && page.contains("scope=\"row\""));
    for text in [&svg, &page] {
        // No colour without a sign, nothing from elsewhere.
        let natives = text.matches("class=\"native\"").count();
        assert!(natives > 10 && text.matches("\u{2713}").count() >= natives);
        let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://") && !elsewhere.contains("<script"));
    }
    sandbox.run(&[&args[..], &["--format", "svg", "-o", "m.svg"]].concat()).exits(0).says("");
    assert!(fs::read_to_string(sandbox.path("m.svg")).unwrap().starts_with(&svg));
    let overview = sandbox.run(&["matrix"]).exits(0);
    overview.tells("9.0 Hopper").tells("12.0 Blackwell");
}

/// The page on it knows every word that a cell can have.
#[test]
fn every_word_of_a_cell_is_on_its_page() {
    let page = include_str!("../../docs/matrix.md");
    let words: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).chain(["compat"]).collect();
    for word in &words {
        assert!(page.contains(&format!("\n| {word} | ")), "{word}");
    }
    let told = sandbox("matrix-words").run(&["matrix", "--gpu", "V100", "--driver", "470"]).exits(0);
    let lines = told.out.lines().filter(|line| line.starts_with("  "));
    let told: Vec<&str> = lines.filter_map(|line| line.split_whitespace().find(|word| words.contains(word))).collect();
    assert!(told.contains(&"compat") && told.contains(&"native"), "{told:?}");
}

#[test]
fn what_means_nothing_is_refused() {
    let sandbox = sandbox("matrix-refused");
    sandbox.run(&["matrix", "--gpu", "RTX 9090 Ti Super"]).exits(2).says("unknown GPU").says("query-gpu=compute_cap");
    sandbox.run(&["matrix", "--gpu", "none"]).exits(2);
    // What was typed is told of as it was typed, and as `init` tells of it.
    for gpu in ["MI300X", "4091", "RTX5000", "H100, A100"] {
        let [told, init] = [["matrix", "--gpu", gpu].to_vec(), ["init", "-o", "-", "--gpu", gpu].to_vec()]
            .map(|args| sandbox.run(&args).exits(2).err);
        assert!(told.contains("`--gpu`") && !told.contains("gpu = "), "{told}");
        assert_eq!(told, init, "{gpu}");
    }
    let told = sandbox.run(&["matrix", "--gpu", "GB10", "--arch", "x86_64", "--torch", "2.9"]).exits(0);
    let told = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("you typed") && !told.contains("gpuenv.toml"), "{told}");
    sandbox.run(&["matrix", "--torch", "99"]).exits(2).says("no build with CUDA of torch 99");
    sandbox.run(&["matrix", "--torch", ">>2"]).exits(2).says("--torch");
    sandbox.run(&["matrix", "--gpu", "H100", "--arch", "mips"]).exits(2).says("--arch");
    sandbox.run(&["matrix", "--format", "ndjson"]).exits(2);
    let (code, told) = sandbox.json(&["matrix", "--gpu", "nothing"]);
    assert_eq!((code, &told["status"], &told["errors"][0]["code"]), (2, &json!("error"), &json!("unknown-gpu")));
}

/// The driver of a Jetson comes with its JetPack: of those it is asked, and no number of a server's driver is told.
#[test]
fn a_jetson_is_asked_of_its_systems() {
    let sandbox = sandbox("matrix-jetson");
    let told = matrix(&sandbox, &["--gpu", "Jetson AGX Orin", "--torch", "2.9"]);
    assert_eq!(told["tables"][0]["rows_are"], json!("system"), "{told:#}");
    let cells = cells(&told);
    assert!(cells.iter().all(|cell| cell["system"].as_str().unwrap().starts_with("jetpack")), "{told:#}");
    assert!(cells.iter().any(|cell| cell["state"] == json!("native")), "{told:#}");
    assert!(cells.iter().all(|cell| cell["minimum_driver"].is_null() && cell["mode"].is_null()), "{told:#}");
}
