//! `gpuenv catalog`: everything a user can name is found, with its sources, and what is not is told what is near.

use std::fs;

use gpuenv::catalog::BUILTIN;
use serde_json::Value;

use crate::common::sandbox::Sandbox;

/// A folder without a gpuenv.toml of its own; one is written that has no overlays.
fn sandbox(name: &str) -> Sandbox {
    Sandbox::new(&format!("facts-{name}"), "")
}

fn ids(told: &Value) -> Vec<&str> {
    told["topics"].as_array().map_or(Vec::new(), |all| all.iter().map(|topic| topic["id"].as_str().unwrap()).collect())
}

/// What is asked, and an id among those that are found.
const ASKED: &[(&str, &str)] = &[
    ("torch@2.8.0+cu128", "torch-2.8.0-cu128-linux-x86_64"),
    ("torch@2.8.0", "torch-2.8.0-cpu-linux-aarch64"),
    ("torch@2.8", "torch-2.8.0-cu129-linux-x86_64"),
    ("Torch @ 2.8.0", "torch-2.8.0-cu126-linux-x86_64"),
    ("torchvision@0.22.1", "torchvision-0.22.1"),
    ("torchvision@0.22.1", "torchvision-0.22.1+cu128"),
    ("flash-attn@2.8.3", "flash-attn-2.8.3.post2"),
    ("xformers-0.0.30+cu118", "xformers-0.0.30+cu118"),
    ("flash-attn-2-gpu", "flash-attn-2-gpu"),
    ("550", "branch 550"),
    ("550", "gpu GeForce GTX 550 Ti 2.1"),
    ("RTX 5090", "gpu NVIDIA GeForce RTX 5090 12.0"),
    ("gpu@H100 NVL", "gpu NVIDIA H100 NVL 9.0"),
    ("sm_90", "gpu NVIDIA GH200 480GB 9.0"),
    ("cuda@12.8.1", "toolkit 12.8.1"),
    ("cu126", "toolkit 12.6.3"),
    ("cu92", "toolkit 9.2.148"),
    ("12.6", "cuda-compat 12.6"),
    ("cuda 12.8.1", "toolkit 12.8.1"),
    ("Torch 2.8.0", "torch-2.8.0-cu126-linux-x86_64"),
    ("cuda@12.8", "cuda-compat 12.8"),
    ("cuda@12.8.1", "windows-driver 12.8.1"),
    ("cuda@12.8.1", "windows-driver 12"),
    ("cuda@12", "windows-driver 12.8.1"),
    ("windows-driver 12", "windows-driver 12"),
    ("torch@2.0.1+cpu.cxx11.abi", "torch-2.0.1-cpu.cxx11.abi-linux-x86_64"),
    ("torch-2.8.0-cpu-windows-aarch64", "torch-2.8.0-cpu-windows-aarch64"),
    ("driver@570", "branch 570"),
    ("driver@570", "driver 570.86.15"),
    ("driver@570.26", "driver 570.26"),
    ("cudnn@9.10.2", "cudnn 9.10.2.21 cuda12"),
    ("nccl@2.27.3", "nccl 2.27.3 cuda12"),
    ("python@3.12", "python 3.12"),
    ("image@nvidia/cuda:12.8.1-base-ubuntu22.04", "image nvidia/cuda:12.8.1-base-ubuntu22.04"),
    ("os@jammy", "os ubuntu22.04"),
    ("rocky8", "os rhel8"),
    ("ptx@8.4", "ptx-isa 8.4"),
    ("source@torch-pypi", "source torch-pypi"),
    ("cuda-12-driver", "cuda-12-driver"),
    ("gpu-code", "gpu-code"),
    ("jit-only", "jit-only"),
    ("toolkit 12.4.1", "toolkit 12.4.1"),
    ("torch-2.5.1-cu124-linux-x86_64", "torch-2.5.1-cu124-linux-x86_64"),
];

#[test]
fn everything_a_user_can_name_is_shown_with_its_sources() {
    let sandbox = sandbox("shown");
    for (asked, wanted) in ASKED {
        let (code, told) = sandbox.json(&["catalog", "show", asked]);
        assert!(code == 0 && ids(&told).contains(wanted), "{asked}: {told:#}");
        // A source is looked up where it says itself.
        let rests = |topic: &&Value| topic["kind"] != "warning" && topic["table"] != "source";
        for topic in told["topics"].as_array().unwrap().iter().filter(rests) {
            let sources = topic["sources"].as_array().unwrap();
            assert!(!sources.is_empty(), "{asked}: {topic:#}");
            for source in sources {
                let (at, seen) = (source["at"].as_str().unwrap(), source["seen"].as_str().unwrap());
                assert!(!at.contains('{') && seen.starts_with("20") && seen.len() <= 10, "{asked}: {source}");
            }
        }
        // One lookup: what `show` finds, `explain` finds.
        assert_eq!(ids(&sandbox.json(&["explain", asked]).1), ids(&told), "{asked}");
        let words: Vec<&str> = ["explain"].into_iter().chain(asked.split(' ')).collect();
        assert_eq!(ids(&sandbox.json(&words).1), ids(&told), "{asked}");
    }
}

#[test]
fn variants_and_platforms_are_told_apart() {
    let sandbox = sandbox("apart");
    let cu128 = ["torch-2.8.0-cu128-linux-x86_64", "torch-2.8.0-cu128-windows-x86_64"];
    assert_eq!(ids(&sandbox.json(&["catalog", "show", "torch@2.8.0+cu128"]).1), cu128);
    // Six for Linux, one for JetPack, four and one for Windows, one beside the usual ones, and those of NVIDIA's images of
    // 25.05 to 25.08 for both processors.
    assert_eq!(ids(&sandbox.json(&["catalog", "show", "torch@2.8.0"]).1).len(), 13 + 8);
    let of_branch = BUILTIN.drivers.iter().filter(|row| row.version.major() == 570).count();
    assert_eq!(ids(&sandbox.json(&["catalog", "show", "driver@570"]).1).len(), 1 + of_branch);
    let images = sandbox.json(&["catalog", "show", "image@nvidia/cuda"]).1;
    assert_eq!(ids(&images).len(), BUILTIN.images.iter().filter(|row| row.repository == "nvidia/cuda").count());
}

#[test]
fn people_read_few_aligned_lines() {
    let sandbox = sandbox("human");
    let one = sandbox.run(&["catalog", "show", "RTX 5090"]).exits(0);
    assert!(
        one.out.contains("  class            geforce\n") && one.out.contains("(measured, seen 2026-"),
        "{}",
        one.out
    );
    let many = sandbox.run(&["catalog", "show", "image@nvidia/cuda"]).exits(0);
    assert!(
        many.out.lines().count() == 16 && many.out.ends_with("`--verbose` shows every row and its sources\n"),
        "{}",
        many.out
    );
    for line in many.out.lines().filter(|line| line.contains("  ")) {
        assert!(line.chars().count() <= 80 && !line.contains('~'), "{line}");
    }
    let branch = sandbox.run(&["catalog", "show", "driver@570"]).exits(0);
    assert!(branch.out.starts_with("branch 570 ") && !branch.out.contains("\nsource "), "{}", branch.out);
    let whole = sandbox.run(&["catalog", "show", "driver@570", "--verbose"]).exits(0);
    assert!(whole.out.contains("\nsource ") && whole.out.lines().count() > branch.out.lines().count(), "{}", whole.out);
}

#[test]
fn what_is_unknown_gets_what_is_near() {
    let sandbox = sandbox("unknown");
    for (asked, near) in [
        ("torch@2.99", "torch@2.15.0"),
        ("torhc@2.8", "torch@2.8"),
        ("RTX 5091", "NVIDIA GeForce RTX 5090"),
        ("driver@571", "driver@575"),
        ("cuda@12.7", "cuda@12.8"),
        ("image@nvidia/cuda:12.8.1-base-ubuntu22.05", "image nvidia/cuda:12.8.1-base-ubuntu22.04"),
        ("cuda-12-drivr", "cuda-12-driver"),
        ("ubunto22.04", "ubuntu22.04"),
        ("", "catalog search"),
        ("@", "catalog search"),
        ("no such thing at all", "catalog search"),
    ] {
        let ran = sandbox.run(&["catalog", "show", asked]).exits(2);
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(near), "{asked}: {}", ran.err);
        assert!(ran.out.is_empty());
        assert_eq!(sandbox.json(&["catalog", "show", asked]).1["errors"][0]["code"], "unknown-fact");
    }
    let hostile = sandbox.run(&["catalog", "show", "\u{1b}[31mx"]).exits(2);
    assert!(!hostile.err.contains('\u{1b}'));
    sandbox.run(&["catalog", "show", &"9".repeat(100_000)]).exits(2);
}

#[test]
fn words_are_searched_for_in_every_fact() {
    let sandbox = sandbox("search");
    sandbox.run(&["catalog", "search", "rtx", "5090"]).exits(0).tells("gpu NVIDIA GeForce RTX 5090 12.0");
    sandbox.run(&["catalog", "search", "12.4.1 devel ubuntu22.04"]).exits(0).tells("12.4.1-cudnn-devel-ubuntu22.04");
    sandbox.run(&["catalog", "search", "driver"]).exits(0).tells("more: add a word");
    sandbox.run(&["catalog", "search", "nowhere-to-be-found"]).exits(1).says("no fact holds all of these words");
    sandbox.run(&["catalog", "search"]).exits(2);
}

#[test]
fn the_whole_is_counted() {
    let sandbox = sandbox("counted");
    let (_, told) = sandbox.json(&["catalog"]);
    assert_eq!(told["version"], *BUILTIN.version);
    for table in told["tables"].as_array().unwrap() {
        let by = table["by_source"].as_object().unwrap().values().map(|rows| rows.as_u64().unwrap());
        assert_eq!(by.sum::<u64>(), table["rows"].as_u64().unwrap(), "{table}");
    }
    let days = told["sources"]["by_day"].as_object().unwrap().values().map(|rows| rows.as_u64().unwrap());
    assert_eq!(days.sum::<u64>(), BUILTIN.sources.len() as u64);
    sandbox.run(&["catalog"]).exits(0).tells("GPU products").tells(&BUILTIN.version);
    sandbox.run(&["catalog", "check"]).exits(0).tells("rows, nothing found");
    sandbox.run(&["catalog", "check", "nowhere.toml"]).exits(4);
    sandbox.run(&["catalog", "bogus"]).exits(2);
}

#[test]
fn an_unreadable_spec_is_no_reason_not_to_look_up_facts() {
    let sandbox = sandbox("spec");
    sandbox.write("this is = no [ TOML");
    sandbox.run(&["catalog", "show", "RTX 5090"]).exits(0);
    sandbox.write("[catalog]\noverlays = [\"gone.toml\"]\n");
    sandbox.run(&["catalog", "show", "RTX 5090"]).exits(4).says("gone.toml cannot be read");
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    sandbox.run(&["catalog", "show", "RTX 5090", "--spec", "gpuenv.toml"]).exits(4);
}

// The catalog's age

const SPEC: &str = "[stack]\ntorch = \"2.7\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";

/// Seconds since 1970 of some days after the day the catalog speaks of.
fn after(days: i64) -> String {
    let mut parts = BUILTIN.version.split('.').map(|part| part.parse::<i64>().unwrap());
    let (year, month, day) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let months = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let of_years: i64 = (1970..year).map(|year| 365 + leap(year)).sum();
    let of_months: i64 = months[..month as usize - 1].iter().sum();
    ((of_years + of_months + day - 1 + days) * 86_400).to_string()
}

#[test]
fn an_old_catalog_says_so_once_and_the_lock_does_not() {
    let sandbox = Sandbox::new("facts-age", SPEC);
    let at = |days: i64, args: &[&str]| sandbox.with(args, &[("SOURCE_DATE_EPOCH", &after(days))]).exits(0);
    let young = at(180, &["lock"]);
    assert!(!young.err.contains("catalog-old"), "{young:?}");
    let lock = fs::read(sandbox.path("gpuenv.lock")).unwrap();
    fs::remove_file(sandbox.path("gpuenv.lock")).unwrap();
    let old = at(181, &["lock"]);
    assert_eq!(old.err.matches("warning[catalog-old]").count(), 1, "{old:?}");
    assert!(old.err.contains("is 181 days old"), "{old:?}");
    assert_eq!(fs::read(sandbox.path("gpuenv.lock")).unwrap(), lock);
    for args in [&["explain"][..], &["catalog"], &["catalog", "show", "RTX 5090"]] {
        assert_eq!(at(500, args).err.matches("warning[catalog-old]").count(), 1, "{args:?}");
    }
    for args in [&["export", "requirements"][..], &["schema"], &["--version"]] {
        assert!(!at(500, args).err.contains("catalog-old"), "{args:?}");
    }
    let json = |days| at(days, &["lock", "--format", "json"]);
    assert_eq!(json(0).out, json(500).out);
    assert!(json(500).err.contains("catalog-old"));
    sandbox.write(&format!("{SPEC}[[silence]]\nwarning = \"catalog-old\"\nreason = \"pinned on purpose\"\n"));
    for days in [0, 500] {
        assert!(!at(days, &["lock"]).err.contains("catalog-old"), "neither told nor missed");
    }
    // What is no number is no day.
    sandbox.with(&["lock"], &[("SOURCE_DATE_EPOCH", "soon")]).exits(0);
}

/// A spec for Windows, and what its refusal tells of it.
const ON_WINDOWS: &[(&str, &[&str])] = &[
    (
        "torch = \"2.8.0+cu128\"",
        &["torch 2.8.0", "Windows x86_64 as cu128", "Python 3.9 to 3.13", ">=528.33 for CUDA 12.8"],
    ),
    (
        "torch = \"2.5.1\"\npython = \"3.13\"",
        &["cpu (what the package index serves), cu118", "not for Python 3.13", ">=452.39"],
    ),
    ("torch = \"1.5.0+cu102\"", &["as cu102", ">=441.22 for CUDA 10.2"]),
    ("torch = \"2.9.1+cu129\"", &["No torch 2.9.1+cu129 for Windows", "known are cpu, cu126, cu128, cu130"]),
    ("torch = \"99\"", &["No torch 99 for Windows", "the newest known is "]),
    ("tensorflow = \"2.10\"\njax = \"*\"", &["tensorflow 2.10.1", "cu112", "jax 0.", "as cpu"]),
    ("tensorflow = \"2.11\"", &["tensorflow 2.11.1", "as cpu"]),
];

#[test]
fn a_refusal_of_windows_tells_what_is_known_there() {
    for (at, (stack, tells)) in ON_WINDOWS.iter().enumerate() {
        let target = "[target.a]\ngpu = \"RTX 3090\"\nos = \"windows11\"\n";
        let sandbox = Sandbox::new(&format!("facts-windows-{at}"), &format!("[stack]\n{stack}\n{target}"));
        let (code, told) = sandbox.json(&["lock"]);
        let error = &told["errors"][0];
        assert!(code == 3 && error["code"] == "not-supported-yet", "{stack}: {told:#}");
        let help = error["help"].as_str().unwrap_or_default();
        for part in *tells {
            assert!(help.contains(part), "{stack}: {part}: {help}");
        }
    }
    for os in ["wsl2", "macos14"] {
        let sandbox =
            Sandbox::new(&format!("facts-{os}"), &format!("[stack]\ntorch = \"*\"\n[target.a]\nos = \"{os}\"\n"));
        let (code, told) = sandbox.json(&["lock"]);
        assert!(code == 3 && told["errors"][0]["code"] == "not-supported-yet", "{os}: {told:#}");
    }
}

#[test]
fn windows_is_searched_and_counted() {
    let sandbox = sandbox("windows");
    let found = sandbox.json(&["catalog", "search", "torch", "2.8.0", "windows"]).1;
    let tables: Vec<&str> =
        found["rows"].as_array().unwrap().iter().map(|row| row["table"].as_str().unwrap()).collect();
    // The page that names a build may tell of it, too.
    assert!(tables.starts_with(&["other_build"; 5]) && !tables[5..].contains(&"other_build"), "{tables:?}");
    let census = sandbox.json(&["catalog"]).1;
    let rows = |kind: &str| {
        let table = census["tables"].as_array().unwrap().iter().find(|table| table["kind"] == kind);
        table.and_then(|table| table["rows"].as_u64()).unwrap_or(0)
    };
    assert!(rows("other_build") >= 330 && rows("windows_driver") >= 56, "{census:#}");
}

/// A build that exists is not called unpublished, although nothing is solved with it.
#[test]
fn a_build_beside_the_usual_ones_is_known_to_exist() {
    let sandbox = Sandbox::new(
        "facts-beside",
        "[stack]\ntorch = \"2.0.1+cu117.with.pypi.cudnn\"\n[target.a]\ngpu = \"RTX 3090\"\nos = \"ubuntu22.04\"\n",
    );
    let (code, told) = sandbox.json(&["lock"]);
    let says = told["unknowns"].to_string();
    assert!(code == 3 && says.contains("it was published, and nobody has read it"), "{told:#}");
    assert!(told["fixes"].to_string().contains("2.0.1+cu117\""), "{told:#}");
}

/// Windows' releases of the last branch that drives a GPU go on under numbers of their own.
#[test]
fn the_last_branch_of_windows_ends_with_the_branch() {
    let asked = |gpu: &str, torch: &str, driver: &str| {
        let target = format!("gpu = \"{gpu}\"\nplatform = \"wsl2\"\ndriver = \"{driver}\"\nos = \"ubuntu22.04\"");
        let spec = format!("[stack]\ntorch = \"{torch}\"\n[target.t]\n{target}\n");
        Sandbox::new("facts-wsl-last", &spec).json(&["lock"]).0
    };
    for (gpu, torch, driver, code) in [
        ("GTX 1080", "2.7.1+cu118", "581.80", 0),
        ("GTX 1080", "2.7.1+cu118", "582.28", 0),
        ("TITAN V", "2.8.0+cu126", "581.80", 0),
        ("GTX 1080", "2.7.1+cu118", "591.44", 1),
        ("Tesla K80", "1.12.1+cu113", "474.11", 0),
        ("Tesla K80", "1.12.1+cu113", "512.15", 1),
    ] {
        assert_eq!(asked(gpu, torch, driver), code, "{gpu} {driver}");
    }
}

/// Under WSL2 the driver of the host has a number of Windows, which is no branch of Linux.
#[test]
fn a_number_of_windows_is_recognised() {
    let sandbox = Sandbox::new(
        "facts-wsl",
        "[stack]\ntorch = \"2.4.0\"\n[target.a]\ngpu = \"RTX 4070\"\nos = \"ubuntu22.04\"\ndriver = \"551.88\"\n",
    );
    let (code, told) = sandbox.json(&["lock"]);
    let warnings = told["warnings"].to_string();
    assert!(
        code == 0 && warnings.contains("judged as branch R550") && warnings.contains("under WSL2 write `platform ="),
        "{told:#}"
    );
}

/// What a program reads is whole: rows are fitted to a screen alone.
#[test]
fn lists_are_whole_where_nobody_watches() {
    let sandbox = Sandbox::new("inspect-lists", "");
    let gpus = sandbox.run(&["catalog", "list", "gpus"]).exits(0).out;
    assert!(gpus.lines().all(|line| line.contains("compute capability ") && !line.ends_with('~')), "{gpus}");
    assert!(gpus.contains("compute capability 6.1"));
    let narrow = sandbox.with(&["catalog", "list", "rules"], &[("COLUMNS", "60")]).exits(0).out;
    assert!(narrow.lines().any(|line| line.len() > 200) && !narrow.contains('~'), "{narrow}");
    let rows = sandbox.run(&["catalog", "show", "torch"]).exits(0).out;
    assert!(rows.lines().next().is_some_and(|line| line.contains("triton ")), "{rows}");
}
