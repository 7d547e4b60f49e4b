//! `gpuenv catalog inspect`: what libraries and wheels hold, and the row for it; whatever somebody hands in, it ends.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use gpuenv::artifact::{self, Artifact, Bytes, Code, Library, ReadError, zip};
use gpuenv::types::Arch;

use crate::common::sandbox::{Ran, Sandbox};

/// Made by CUDA 13.0's fatbinary: sm_80, sm_90, sm_90a, sm_100f; PTX 8.0 of compute_80 and compute_90a, 8.8 of compute_100f.
const FATBIN: &[u8] = include_bytes!("../data/artifacts/empty.fatbin");

/// A shared library of 64 bits: headers, a dynamic section, the names it refers to, then what it carries.
fn library(needed: &[&str], symbols: &[&str], carried: &[&[u8]]) -> Vec<u8> {
    let mut names = vec![0];
    let mut dynamic: Vec<u64> = Vec::new();
    for name in needed {
        dynamic.extend([1, names.len() as u64]);
        names.extend(name.bytes().chain([0]));
    }
    symbols.iter().for_each(|name| names.extend(name.bytes().chain([0])));
    let carried = carried.concat();
    let (head, at_dynamic) = (64 + 2 * 56, 64 + 2 * 56);
    let at_names = at_dynamic + (dynamic.len() + 6) * 8;
    dynamic.extend([5, at_names as u64, 10, names.len() as u64, 0, 0]);
    let length = at_names + names.len() + carried.len();
    let mut file = Vec::with_capacity(length);
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    file.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1_u32.to_le_bytes());
    file.extend([0_u64, 64, 0].map(u64::to_le_bytes).concat());
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    for (kind, at, size) in [(1_u32, 0, length), (2, at_dynamic, dynamic.len() * 8)] {
        file.extend([kind, 4].map(u32::to_le_bytes).concat());
        file.extend([at, at, at, size, size, 8].map(|number| (number as u64).to_le_bytes()).concat());
    }
    assert_eq!(file.len(), head);
    file.extend(dynamic.iter().flat_map(|number| number.to_le_bytes()));
    file.extend(names);
    file.extend(carried);
    file
}

fn crc_32(bytes: &[u8]) -> u32 {
    let step = |rest: u32, _| (rest >> 1) ^ (0xedb8_8320 * (rest & 1));
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// A zip archive; every second member is packed.
fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut list) = (Vec::new(), Vec::new());
    for (number, (name, bytes)) in members.iter().enumerate() {
        let packed = match number % 2 {
            0 => bytes.to_vec(),
            _ => miniz_oxide::deflate::compress_to_vec(bytes, 6),
        };
        let method = [0_u16, 8][number % 2];
        let mut about = Vec::new();
        about.extend([20_u16, 0, method, 0, 0].map(u16::to_le_bytes).concat());
        about.extend([crc_32(bytes), packed.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat());
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&about);
        list.extend([0; 10]);
        list.extend((file.len() as u32).to_le_bytes());
        list.extend(name.bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&about);
        file.extend(name.bytes());
        file.extend(packed);
    }
    let end = [list.len() as u32, file.len() as u32].map(u32::to_le_bytes).concat();
    let count = (members.len() as u16).to_le_bytes();
    file.extend(list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].concat());
    file.extend(end);
    file.extend([0, 0]);
    file
}

const SYMBOLS: &[&str] =
    &["GLIBC_2.2.5", "GLIBC_2.32", "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcEE"];

fn ops() -> Vec<u8> {
    library(&["libc10.so", "libcudart.so.12", "libc.so.6"], SYMBOLS, &[b"data", FATBIN, FATBIN, b"more"])
}

fn wheel_of(package: &str, metadata: &str) -> Vec<u8> {
    wheel_with(&ops(), package, metadata)
}

fn wheel_with(ops: &[u8], package: &str, metadata: &str) -> Vec<u8> {
    let text = format!("Metadata-Version: 2.1\nName: {package}\n{metadata}\n");
    let bundled = library(&[], &[], &[]);
    wheel(&[
        ("my_ops/__init__.py", b"import torch\n"),
        ("my_ops/_C.so", ops),
        ("my_ops.libs/libcudart.so.12", &bundled),
        ("my_ops-1.0.dist-info/METADATA", text.as_bytes()),
    ])
}

const METADATA: &str = "Version: 1.0\nRequires-Python: >=3.9\nRequires-Dist: torch (>=2.6,<2.8)\n\
    Requires-Dist: torchvision==0.22.0\nRequires-Dist: nvidia-cublas-cu12==12.6.4.1; platform_machine == \"x86_64\"";

/// A folder without a spec that says anything.
fn sandbox(name: &str) -> Sandbox {
    Sandbox::new(name, "")
}

/// Runs on a day that a row may be dated with.
fn overlay(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let day = [("SOURCE_DATE_EPOCH", "1795305600"), ("COLUMNS", "80")];
    sandbox.with(&[&["catalog", "inspect", "--overlay"], args].concat(), &day)
}

#[test]
fn a_library_tells_its_code_and_what_it_needs() {
    let place = sandbox("inspect-library");
    fs::write(place.path("ops.so"), ops()).unwrap();
    let (code, told) = place.json(&["catalog", "inspect", "ops.so"]);
    assert_eq!((code, told["name"].as_str()), (0, Some("ops.so")), "{told}");
    assert_eq!(told["code"]["sass"], serde_json::json!(["8.0", "9.0", "9.0a", "10.0f"]));
    let ptx = serde_json::json!([
        { "arch": "8.0", "isa": "8.0" }, { "arch": "9.0a", "isa": "8.0" }, { "arch": "10.0f", "isa": "8.8" }
    ]);
    assert_eq!((&told["code"]["ptx"], told["code"]["files"].as_u64()), (&ptx, Some(2)));
    assert_eq!(told["cuda_libraries"], serde_json::json!(["libcudart.so.12"]));
    assert_eq!((told["glibc"].as_str(), told["cxx_abi"].as_str()), (Some("2.32"), Some("cxx11")));
    assert!(told["overlay"].is_null() && told["overlay_missing"].is_string(), "{told}");
    overlay(&place, &["ops.so"]).exits(2).says("no-row").says("package and version");
}

/// What is made for Intel's or AMD's GPUs is never loaded where NVIDIA's are, whatever glibc it asks for: bitsandbytes.
#[test]
fn libraries_for_other_gpus_ask_for_nothing() {
    let place = sandbox("inspect-other-gpus");
    let newer: &[&str] = &["GLIBC_2.38"];
    for (needed, glibc) in [("libsycl.so.9", "2.32"), ("libamdhip64.so.6", "2.32"), ("libm.so.6", "2.38")] {
        let other = library(&[needed, "libc.so.6"], newer, &[]);
        fs::create_dir_all(place.path("ops")).unwrap();
        fs::write(place.path("ops/cuda.so"), ops()).unwrap();
        fs::write(place.path("ops/other.so"), other).unwrap();
        let (code, told) = place.json(&["catalog", "inspect", "ops"]);
        assert_eq!((code, told["glibc"].as_str()), (0, Some(glibc)), "{needed}: {told}");
    }
}

/// Tools of NVIDIA's that a package brings along say nothing of its own code.
#[test]
fn bundled_libraries_of_cuda_are_not_the_packages_own() {
    let place = sandbox("inspect-bundled");
    let text = "Metadata-Version: 2.1\nName: triton\nVersion: 3.2.0\nRequires-Python: >=3.9\n";
    let (tool, own) = (library(&[], SYMBOLS, &[FATBIN]), library(&[], SYMBOLS, &[]));
    let name = "triton-3.2.0-cp311-cp311-manylinux_2_17_x86_64.whl";
    let bundle = |own: &[(&str, &[u8])]| {
        let info: [(&str, &[u8]); 1] = [("triton-3.2.0.dist-info/METADATA", text.as_bytes())];
        wheel(&[own, &[("triton/backends/nvidia/lib/cupti/libnvperf_host.so", &tool[..])], &info].concat())
    };
    fs::write(place.path(name), bundle(&[("triton/_C/libtriton.so", &own)])).unwrap();
    let told = overlay(&place, &[name]).exits(0);
    assert!(!told.out.contains("sass"), "{}", told.out);
    fs::write(place.path(name), bundle(&[("triton/_C/libtriton.so", &tool)])).unwrap();
    let told = overlay(&place, &[name]).exits(0);
    assert!(told.out.contains("sass"), "{}", told.out);
}

/// A library of NVIDIA's own holds each kernel for the GPUs that it is the fastest on: no list is that of most of them.
#[test]
fn source_files_that_differ_are_told_together() {
    let place = sandbox("inspect-uneven");
    // The number of an entry's architecture stands 28 bytes behind its beginning, which is 16 bytes behind the file's.
    let of = |number: u8| [&FATBIN[..44], &[number], &FATBIN[45..]].concat();
    let uneven = library(&[], SYMBOLS, &[&of(75), &of(86), &of(89)]);
    fs::write(place.path("blas.so"), uneven).unwrap();
    let ran = place.run(&["catalog", "inspect", "blas.so"]).exits(0);
    ran.tells("sm_75 sm_86 sm_89 sm_90").tells("by different source files (no more than 1 of 3 source files");
}

/// sgl-kernel brings another project's modules, and kernels beside its own that some GPUs have; vLLM 0.3.0 has more of these
/// than of its own.
#[test]
fn the_packages_own_library_runs_wherever_any_does() {
    let place = sandbox("inspect-own");
    // The number of an entry's architecture stands 28 bytes behind its beginning, which is 16 bytes behind the file's.
    let of = |number: u8| [&FATBIN[..44], &[number], &FATBIN[45..]].concat();
    let library_of = |files: &[&[u8]]| library(&["libcudart.so.12"], SYMBOLS, files);
    let (wide, narrow, other) = (of(75), of(80), of(61));
    let (own, beside) = (library_of(&[&wide]), library_of(&[&narrow, &narrow, &narrow]));
    let text = format!("Name: my-ops\n{METADATA}\n");
    let name = "my_ops-1.0-cp311-cp311-manylinux_2_28_x86_64.whl";
    let told = |members: &[(&str, &[u8])]| {
        let info: [(&str, &[u8]); 1] = [("my_ops-1.0.dist-info/METADATA", text.as_bytes())];
        fs::write(place.path(name), wheel(&[members, &info].concat())).unwrap();
        let shown = place.run(&["catalog", "inspect", name]).exits(0).out;
        (shown.split_whitespace().collect::<Vec<_>>().join(" "), overlay(&place, &[name]).exits(0).out)
    };
    let (shown, row) = told(&[("_foreign.so", &beside), ("my_ops/_C.so", &own), ("my_ops/_beside.so", &beside)]);
    assert!(shown.contains("of my_ops/_C.so"), "{shown}");
    assert!(row.contains("sass        = [\"7.5\", \"9.0\""), "{row}");
    // Where none runs on all GPUs of the others, nobody knows.
    let apart = library_of(&[&other]);
    let (shown, row) = told(&[("my_ops/_C.so", &apart), ("my_ops/_D.so", &own)]);
    assert!(shown.contains("run on different GPUs"), "{shown}");
    assert!(row.contains("gpu_code") && !row.contains("\nsass"), "{row}");
    assert!(row.contains("my_ops/_C.so, my_ops/_D.so"), "{row}");
    fs::write(place.path("site.toml"), &row).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
}

/// xformers 0.0.20 uses both of its libraries on GPUs from 7.5 on; the PTX in one of them is no way to newer ones, for the other
/// holds none.
#[test]
fn a_package_reaches_what_all_of_its_libraries_reach() {
    let arch = |text: &&str| Arch::parse(text).unwrap();
    let library = |name: &str, files: u64, sass: &[&str], ptx: &[&str]| {
        let ptx = ptx.iter().map(|text| (arch(text), (7, 8))).collect();
        let code = Code { sass: sass.iter().map(arch).collect(), ptx };
        Library { name: name.to_string(), code: [(code, files)].into(), ..Library::default() }
    };
    let held = |others: &[Library]| {
        let wide = library("x/_C.so", 60, &["5.0", "7.5", "8.0", "9.0"], &["5.0"]);
        let libraries = std::iter::once(wide).chain(others.iter().cloned()).collect();
        let (code, _) = Artifact { libraries, ..Artifact::default() }.own_code().unwrap();
        let sass: Vec<String> = code.sass.iter().map(ToString::to_string).collect();
        (sass.join(" "), code.ptx.len())
    };
    let all = "5.0 7.5 8.0 9.0".to_string();
    assert_eq!(held(&[library("x/_flash.so", 8, &["7.5", "8.0"], &[])]), ("5.0 7.5 8.0".to_string(), 0));
    assert_eq!(held(&[library("x/_flash.so", 8, &["7.5", "8.0"], &["8.0"])]), (all.clone(), 1));
    assert_eq!(held(&[library("x/_hopper.so", 60, &["9.0"], &[])]), (all.clone(), 1), "for one GPU alone");
    assert_eq!(held(&[library("x/_few.so", 5, &["7.5", "8.0"], &[])]), (all, 1), "a few files beside many");
}

#[test]
fn what_asks_the_driver_alone_is_of_no_cuda() {
    let place = sandbox("inspect-nvml");
    let metadata = "Version: 1.0\nRequires-Dist: nvidia-ml-py<13,>=12\nRequires-Dist: nvidia-nccl-cu12";
    fs::write(place.path("x-1.0-py3-none-any.whl"), wheel_of("x", metadata)).unwrap();
    let ran = place.run(&["catalog", "inspect", "x-1.0-py3-none-any.whl"]).exits(0).tells("nvidia-nccl-cu12");
    assert!(!ran.out.contains("nvidia-ml-py"), "{ran:?}");
}

#[test]
fn the_row_of_a_wheel_is_one_that_the_catalog_takes() {
    let place = sandbox("inspect-row");
    let plain = "my_ops-1.0-cp311-cp311-manylinux_2_28_x86_64.whl";
    fs::write(place.path(plain), wheel_of("my_ops", METADATA)).unwrap();
    place.run(&["catalog", "inspect", plain]).exits(0).tells("sm_90a").tells("2.32 or newer (its tag promises 2.28)");
    let row = overlay(&place, &[plain]).exits(0);
    for line in [
        "package     = \"my-ops\"",
        "needs       = \">=2.6,<2.8\"",
        "python      = \"3.11\"",
        "requires    = [\"torchvision==0.22.0\"]",
        "glibc       = \"2.32\"",
        "gpu_code    = true",
        "sass        = [\"8.0\", \"9.0\", \"9.0a\", \"10.0f\"]",
    ] {
        assert!(row.out.contains(line), "{line}\n{}", row.out);
    }
    // The runtime lies in the wheel, so no other has to be there; that of CUDA 12 is what it is for nevertheless.
    assert!(row.out.contains("cuda        = \"12\""), "{}", row.out);
    fs::write(place.path("site.toml"), &row.out).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
    let spec = "[stack]\ntorch = \"2.7\"\nmy-ops = \"*\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";
    place.write(&format!("{spec}[catalog]\noverlays = [\"site.toml\"]\n"));
    place.run(&["lock"]).exits(0);
    assert!(fs::read_to_string(place.path("gpuenv.lock")).unwrap().contains("my-ops-1.0"));
}

/// What is known of it as an ordinary package ends where its releases are solved with.
#[test]
fn an_ordinary_package_is_taken_over_by_its_row() {
    let place = sandbox("inspect-ordinary");
    let file = "autoawq_kernels-0.0.9-cp311-cp311-manylinux_2_28_x86_64.whl";
    fs::write(place.path(file), wheel_of("autoawq-kernels", "Version: 0.0.9\nRequires-Dist: torch==2.6.0")).unwrap();
    fs::write(place.path("site.toml"), overlay(&place, &[file]).exits(0).out).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
    place.write(
        "[stack]\nautoawq-kernels = \"*\"\n[target.a]\nos = \"ubuntu22.04\"\n[catalog]\noverlays = [\"site.toml\"]\n",
    );
    place.run(&["lock"]).exits(0);
    let lock = fs::read_to_string(place.path("gpuenv.lock")).unwrap();
    assert!(lock.contains("autoawq-kernels-0.0.9") && lock.contains("torch-2.6.0"), "{lock}");
}

#[test]
fn what_its_libraries_load_tells_what_it_follows() {
    let place = sandbox("inspect-follows");
    let file = "my_ops-1.0-cp311-cp311-manylinux_2_28_x86_64.whl";
    // Which torch it was built for nothing says, or that any would do.
    for metadata in ["Version: 1.0", "Version: 1.0\nRequires-Dist: torch"] {
        fs::write(place.path(file), wheel_of("my_ops", metadata)).unwrap();
        overlay(&place, &[file]).exits(2).says("does not say which torch");
    }
    // Without torch's libraries and CUDA's runtime: its code is for GPUs all the same.
    let ops = library(&["libc.so.6"], &[], &[FATBIN]);
    fs::write(place.path(file), wheel_with(&ops, "my_ops", "Version: 1.0")).unwrap();
    let row = overlay(&place, &[file]).exits(0).out;
    assert!(row.contains("framework   = \"cuda\"") && row.contains("needs       = \"*\""), "{row}");
    fs::write(place.path("site.toml"), row).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
}

#[test]
fn libraries_for_windows_are_said_to_be_unread() {
    let place = sandbox("inspect-windows");
    let file = "my_ops-1.0-cp311-cp311-win_amd64.whl";
    let members: [(&str, &[u8]); 2] =
        [("my_ops/_C.cp311-win_amd64.pyd", b"MZ"), ("my_ops-1.0.dist-info/METADATA", METADATA.as_bytes())];
    fs::write(place.path(file), wheel(&members)).unwrap();
    place.run(&["catalog", "inspect", file]).exits(2).says("for Windows");
    fs::create_dir(place.path("lib")).unwrap();
    fs::write(place.path("lib/_C.pyd"), b"MZ").unwrap();
    place.run(&["catalog", "inspect", "lib"]).exits(2).says("for Windows");
}

#[test]
fn an_address_stands_in_the_row() {
    let place = sandbox("inspect-address");
    let labelled = "my_ops-1.0+torch2.7-cp311-cp311-linux_x86_64.whl";
    let metadata = METADATA.replace("Version: 1.0", "Version: 1.0+torch2.7");
    fs::write(place.path(labelled), wheel_of("my_ops", &metadata)).unwrap();
    overlay(&place, &[labelled]).exits(2).says("--url");
    let index = "https://wheels.acme.example/simple";
    let row = overlay(&place, &[labelled, "--url", index]).exits(0);
    assert!(row.out.contains(&format!("index_url   = \"{index}\"")), "{}", row.out);
    assert!(row.out.contains("wheel       = \"1.0+torch2.7\""), "{}", row.out);
    fs::write(place.path("site.toml"), &row.out).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
    place.run(&["catalog", "inspect", labelled, "--url", "http://a/b.whl"]).exits(2).says("https://");
}

#[test]
fn a_known_release_is_replaced() {
    let place = sandbox("inspect-known");
    let file = "xformers-0.0.28.post3-cp311-cp311-manylinux_2_28_x86_64.whl";
    let metadata = "Version: 0.0.28.post3\nRequires-Python: >=3.9\nRequires-Dist: torch==2.5.1";
    fs::write(place.path(file), wheel_of("xformers", metadata)).unwrap();
    let row = overlay(&place, &[file, "--url", &format!("https://a.example/{file}")]);
    assert!(row.exits(0).out.contains("replace     = true"));
}

#[test]
fn one_file_does_not_take_away_what_is_known_of_the_others() {
    let place = sandbox("inspect-merged");
    let row_of = |package: &str, file: &str, metadata: &str| {
        fs::write(place.path(file), wheel_of(package, metadata)).unwrap();
        overlay(&place, &[file]).exits(0).out
    };
    // Its metadata names no torch; its symbols did.
    let row = row_of("lmcache", "lmcache-0.3.9-cp312-cp312-manylinux_2_28_x86_64.whl", "Version: 0.3.9");
    assert!(row.contains("framework   = \"torch\"") && row.contains("needs       = \"2.8 || 2.9\""), "{row}");
    // There are wheels for aarch64 and for other Pythons too.
    let metadata = "Version: 0.24.1\nRequires-Dist: torch==2.9.1";
    let row = row_of("torchvision", "torchvision-0.24.1-cp312-cp312-manylinux_2_28_x86_64.whl", metadata);
    assert!(!row.contains("arches") || row.contains("\"aarch64\", \"x86_64\""), "{row}");
    assert!(row.contains("3.10") || row.contains(">=3.10"), "{row}");
    // What follows no framework, and takes CUDA from the system as its other releases do.
    let row = row_of("cupy-cuda12x", "cupy_cuda12x-13.4.0-cp312-cp312-manylinux2014_x86_64.whl", "Version: 13.4.0");
    assert!(row.contains("= \"cuda\"") && row.contains("system_cuda = true"), "{row}");
    // Which CUDA it opens when it runs no header tells.
    let opens = row_of("ctranslate2", "ctranslate2-4.5.0-cp312-cp312-manylinux2014_x86_64.whl", "Version: 4.5.0");
    assert!(opens.lines().any(|line| line.starts_with("cuda ") && line.ends_with("\"12\"")), "{opens}");
    fs::write(place.path("site.toml"), row).unwrap();
    place.run(&["catalog", "check", "site.toml"]).exits(0);
}

#[test]
fn a_folder_is_an_unpacked_wheel() {
    let place = sandbox("inspect-folder");
    fs::create_dir_all(place.path("u/my_ops/deep")).unwrap();
    fs::create_dir_all(place.path("u/my_ops-1.0.dist-info")).unwrap();
    fs::write(place.path("u/my_ops/deep/_C.abi3.so"), ops()).unwrap();
    fs::write(place.path("u/my_ops/plain.so"), b"INPUT(-lc)").unwrap();
    fs::write(place.path("u/my_ops-1.0.dist-info/METADATA"), format!("Name: my_ops\n{METADATA}\n")).unwrap();
    fs::write(place.path("u/my_ops-1.0.dist-info/WHEEL"), "Wheel-Version: 1.0\nTag: cp38-abi3-linux_x86_64\n").unwrap();
    symlink(place.path("u"), place.path("u/again")).unwrap();
    let (code, told) = place.json(&["catalog", "inspect", "u"]);
    assert_eq!((code, told["wheel"]["package"].as_str()), (0, Some("my-ops")), "{told}");
    assert_eq!(told["libraries"].as_array().map(Vec::len), Some(1), "links are not followed: {told}");
}

#[test]
fn what_is_no_artifact_is_refused() {
    let place = sandbox("inspect-refused");
    fs::write(place.path("text.so"), "hello").unwrap();
    fs::write(place.path("cut.whl"), "PK\u{3}\u{4}").unwrap();
    fs::write(place.path("half.whl"), &wheel_of("my_ops", METADATA)[..3000]).unwrap();
    for file in ["text.so", "cut.whl", "half.whl"] {
        place.run(&["catalog", "inspect", file]).exits(2).says("bad-artifact").says(file);
    }
    place.run(&["catalog", "inspect", "nowhere.so"]).exits(4).says("not-found");
    fs::create_dir_all(place.path("empty")).unwrap();
    place.run(&["catalog", "inspect", "empty"]).exits(0).tells("none was found");
}

/// Bytes in memory.
struct InMemory<'b>(&'b [u8]);

impl Bytes for InMemory<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, at: u64, count: usize) -> Result<Vec<u8>, ReadError> {
        let at = usize::try_from(at).unwrap();
        let bytes = at.checked_add(count).and_then(|end| self.0.get(at..end));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| ReadError::broken("it breaks off"))
    }
}

/// Reads an archive as the command does.
fn unpack(bytes: &[u8]) -> Result<usize, ReadError> {
    let mut file = InMemory(bytes);
    let mut libraries = 0;
    for member in zip::members(&mut file)? {
        let read = artifact::library(&member.name, member.size, &mut |sink| {
            zip::stream(&mut file, &member, member.size.min(1 << 20), sink)
        });
        libraries += usize::from(read?.is_some());
    }
    Ok(libraries)
}

/// Numbers that differ enough, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// One to eight changes: bytes overwritten, numbers set to their greatest, a part taken out or the end cut off.
fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.roll(8) {
        let at = dice.roll(bytes.len());
        match dice.roll(10) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.drain(at..(at + dice.roll(64)).min(bytes.len()))),
            2 | 3 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
            _ => bytes[at] = dice.roll(256) as u8,
        }
        if bytes.is_empty() {
            return vec![0];
        }
    }
    bytes
}

#[test]
fn whatever_is_handed_in_it_ends() {
    let (library, wheel) = (ops(), wheel_of("my_ops", METADATA));
    assert_eq!(unpack(&wheel), Ok(2));
    let started = Instant::now();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4000 {
        let bytes = mutated(&library, &mut dice);
        let read = artifact::library("a.so", bytes.len() as u64, &mut |sink| {
            bytes.chunks(700).all(&mut *sink);
            Ok(())
        });
        assert!(read.as_ref().err().is_none_or(|fault| fault.is_broken), "{read:?}");
        let _ = unpack(&mutated(&wheel, &mut dice));
    }
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

#[test]
fn a_library_whose_headers_lead_beyond_its_end_is_damaged() {
    let place = sandbox("inspect-damaged");
    let garbage = [b"\x7fELF\x02\x01\x01".as_slice(), &[0xff; 100_000]].concat();
    let mut cut = ops();
    // Sections are described behind all else: a download that broke off lacks them.
    cut[40..48].copy_from_slice(&(1_u64 << 20).to_le_bytes());
    cut[58..62].copy_from_slice(&[64, 0, 3, 0]);
    for (name, bytes) in [("garbage.so", garbage), ("cut.so", cut)] {
        fs::write(place.path(name), bytes).unwrap();
        place.run(&["catalog", "inspect", name]).exits(2).says("bad-artifact").says("damaged");
    }
}

#[test]
fn an_archive_whose_bytes_were_changed_is_damaged() {
    let place = sandbox("inspect-crc");
    let (text, ops) = (format!("Name: my_ops\n{METADATA}\n"), ops());
    let whole = wheel(&[("a/_C.so", &ops), ("b.py", b""), ("a-1.0.dist-info/METADATA", text.as_bytes())]);
    let name = "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl";
    fs::write(place.path(name), &whole).unwrap();
    place.run(&["catalog", "inspect", name]).exits(0);
    for (what, member) in [(b"more".as_slice(), "a/_C.so"), (b"my_ops", "METADATA")] {
        let (mut damaged, at) = (whole.clone(), memchr_of(&whole, what));
        damaged[at..at + what.len()].iter_mut().for_each(|byte| *byte ^= 1);
        fs::write(place.path(name), damaged).unwrap();
        place.run(&["catalog", "inspect", name]).exits(2).says("bad-artifact").says(member).says("CRC-32");
    }
}

#[test]
fn what_is_damaged_in_a_folder_is_named() {
    let place = sandbox("inspect-damaged-folder");
    fs::create_dir_all(place.path("u/deep")).unwrap();
    fs::write(place.path("u/whole.so"), ops()).unwrap();
    fs::write(place.path("u/deep/bad.so"), [b"\x7fELF\x02\x01\x01".as_slice(), &[0xff; 1000]].concat()).unwrap();
    place.run(&["catalog", "inspect", "u"]).exits(2).says("deep/bad.so is damaged");
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let place = sandbox("inspect-bomb");
    let zeros = vec![0; 8 << 20];
    let mut bomb = wheel(&[("a.py", b""), ("a/_C.so", &zeros)]);
    // The list says that it is small.
    let at = memchr_of(&bomb, b"PK\x01\x02\x14\0\x14\0\0\0\x08\0");
    bomb[at + 24..at + 28].copy_from_slice(&64_u32.to_le_bytes());
    fs::write(place.path("a-1-py3-none-any.whl"), bomb).unwrap();
    place.run(&["catalog", "inspect", "a-1-py3-none-any.whl"]).exits(2).says("unpacks to more than it says");
}

fn memchr_of(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}

/// Wheels that lie in a folder named by `GPUENV_WHEELS` agree with what the catalog says of them.
#[test]
fn real_wheels_hold_what_the_catalog_says() {
    let Some(folder) = std::env::var_os("GPUENV_WHEELS") else { return };
    let place = sandbox("inspect-real");
    for entry in fs::read_dir(Path::new(&folder)).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let (code, told) = place.json(&["catalog", "inspect", path.to_str().unwrap()]);
        assert_eq!(code, 0, "{told}");
        let (package, version) =
            (told["wheel"]["package"].as_str().unwrap(), told["wheel"]["version"].as_str().unwrap());
        let known = gpuenv::catalog::BUILTIN.companions.iter();
        let row = known.filter(|row| row.variant.is_none() && !row.sass.is_empty());
        let Some(row) = row.into_iter().find(|row| row.package == package && row.version.as_str() == version) else {
            continue;
        };
        let said: Vec<String> = row.sass.iter().map(|arch| arch.cc.to_string()).collect();
        let mut read: Vec<String> = Vec::new();
        for arch in told["code"]["sass"].as_array().unwrap() {
            let plain = arch.as_str().unwrap().trim_end_matches(['a', 'f']).to_string();
            if !read.contains(&plain) {
                read.push(plain);
            }
        }
        assert_eq!(said, read, "{package} {version}");
    }
}
