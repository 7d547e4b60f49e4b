//! The kernels of `gpuenv verify` against real compilers: what travels in the program is what they make, byte for byte,
//! and each compiles every program for every architecture it knows. Needs no GPU.
//!
//! The compilers are wheels that `.ci/full` installs; GPUENV_TEST_NVRTC names the folder, with one folder for each
//! version in it. What is not there is skipped by name. `UPDATE_KERNELS=1` writes the files anew.

use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::BUILTIN;
use gpuenv::probe::kernels::image::{ptx_claims, sm_number, with_isa};
use gpuenv::probe::kernels::nvrtc::{Form, Nvrtc};
use gpuenv::probe::kernels::prebuilt::{self, SOURCE};
use gpuenv::types::{Arch, Cc, Suffix, Version};
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, value};

/// The wheels that compile everything; those that travelling files were made by come on top.
const COMPILERS: &[&str] = &["11.8.89", "12.4.127", "12.8.93", "12.9.86", "13.0.88", "13.5.37"];

/// The wheel whose library assembles PTX.
const NVJITLINK: &str = "nvjitlink-13.5.37";

/// What the travelling files may weigh together, in bytes.
const BUDGET: usize = 350_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/probe/kernels/prebuilt")
}

fn made() -> DocumentMut {
    fs::read_to_string(folder().join("made.toml")).unwrap().parse().unwrap()
}

/// A row of `made.toml`.
struct Made {
    name: String,
    /// `11.7.99`
    compiler: Version,
    arch: Arch,
    form: Form,
    ptx_isa: Option<Version>,
    sha256: String,
    bytes: u64,
}

fn rows(made: &DocumentMut) -> Vec<Made> {
    let rows = made["file"].as_array_of_tables().unwrap().iter();
    let row = |row: &toml_edit::Table| {
        let text = |key: &str| row[key].as_str().unwrap().to_string();
        let (stem, ending) = row["name"].as_str().unwrap().split_once('.').unwrap();
        let (_, compiler) = row["compiler"].as_str().unwrap().split_once('@').unwrap();
        Made {
            name: text("name"),
            compiler: Version::parse(compiler).unwrap(),
            arch: Arch::parse(stem).unwrap(),
            form: if ending == "ptx" { Form::Ptx } else { Form::Cubin },
            ptx_isa: row.get("ptx_isa").map(|isa| Version::parse(isa.as_str().unwrap()).unwrap()),
            sha256: text("sha256"),
            bytes: row["bytes"].as_integer().unwrap() as u64,
        }
    };
    rows.map(row).collect()
}

/// The library in a wheel's folder. None: it is not installed, and the test says so.
fn compiler(version: &str, test: &str) -> Option<Nvrtc> {
    let wheel = std::env::var_os("GPUENV_TEST_NVRTC").map(|folder| PathBuf::from(folder).join(version));
    let Some(path) = wheel.and_then(|wheel| find(&wheel, "libnvrtc.so.")) else {
        println!("skipped: {test}: no NVRTC {version} in GPUENV_TEST_NVRTC");
        return None;
    };
    Some(Nvrtc::open(&path).unwrap_or_else(|fault| panic!("{}: {fault:?}", path.display())))
}

/// The library whose name begins so.
fn find(folder: &Path, library: &str) -> Option<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().to_string();
        if entry.path().is_dir() {
            found.extend(find(&entry.path(), library));
        } else if name.starts_with(library) {
            found.push(entry.path());
        }
    }
    found.into_iter().next()
}

/// The baseline architectures that the catalog has for the CUDA line of this version.
fn catalogued(version: &Version) -> BTreeSet<Cc> {
    let line = version.prefix(2);
    let row = BUILTIN.toolkits.iter().rfind(|toolkit| toolkit.version.prefix(2) == line);
    let sass = row.unwrap_or_else(|| panic!("the catalog has no CUDA {line}")).sass.iter();
    sass.filter(|arch| arch.suffix == Suffix::None).map(|arch| arch.cc).collect()
}

#[test]
fn what_travels_is_what_the_compilers_make() {
    let update = std::env::var_os("UPDATE_KERNELS").is_some();
    let mut document = made();
    for (at, row) in rows(&made()).into_iter().enumerate() {
        let test = format!("what_travels_is_what_the_compilers_make {}", row.name);
        let Some(nvrtc) = compiler(row.compiler.as_str(), &test) else { continue };
        let mut bytes = nvrtc.compile(SOURCE, row.arch, row.form).unwrap();
        if let Some(isa) = &row.ptx_isa {
            bytes = with_isa(std::str::from_utf8(&bytes).unwrap(), isa).unwrap().into_bytes();
        }
        let file = folder().join(&row.name);
        if update {
            fs::write(&file, &bytes).unwrap();
            let rows = document["file"].as_array_of_tables_mut().unwrap();
            let row = rows.get_mut(at).unwrap();
            row["sha256"] = value(hex(&bytes));
            row["bytes"] = value(bytes.len() as i64);
        }
        assert!(fs::read(&file).unwrap() == bytes, "{} is not what NVRTC {} makes", row.name, row.compiler);
    }
    if update {
        fs::write(folder().join("made.toml"), document.to_string()).unwrap();
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_table_tells_what_travels() {
    let rows = rows(&made());
    let mut total = 0;
    for row in &rows {
        let bytes = fs::read(folder().join(&row.name)).unwrap();
        assert_eq!((hex(&bytes), bytes.len() as u64), (row.sha256.clone(), row.bytes), "{}", row.name);
        total += bytes.len();
        match row.form {
            Form::Cubin => {
                assert_eq!(sm_number(&bytes), Some(row.arch.cc.number()), "{}", row.name);
                assert_eq!(prebuilt::cubin(row.arch.cc), Some(&*bytes), "{}", row.name);
            }
            Form::Ptx => {
                assert_eq!(ptx_claims(prebuilt::ptx()), Some((row.ptx_isa.unwrap(), row.arch)));
                assert_eq!(prebuilt::ptx().as_bytes(), bytes);
            }
        }
    }
    assert!(total <= BUDGET, "{total} bytes");
    let named: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).chain(["made.toml".to_string()]).collect();
    let there = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(there.collect::<BTreeSet<_>>(), named);
    let machine: Vec<Arch> = rows.iter().filter(|row| row.form == Form::Cubin).map(|row| row.arch).collect();
    assert_eq!(prebuilt::archs().collect::<Vec<_>>(), machine);
}

/// A lock with an architecture of any toolkit whose NVRTC is to be had finds machine code of exactly that architecture,
/// made by the first of them that knows it.
#[test]
fn every_architecture_has_the_oldest_compiler_that_knows_it() {
    let rows = rows(&made());
    let oldest = rows.iter().map(|row| row.compiler.prefix(2)).min().unwrap();
    let mut expected = std::collections::BTreeMap::new();
    for toolkit in BUILTIN.toolkits.iter().filter(|toolkit| toolkit.version >= oldest) {
        for cc in catalogued(&toolkit.version) {
            let line = toolkit.version.prefix(2);
            let first = expected.entry(cc).or_insert_with(|| line);
            *first = line.min(*first);
        }
    }
    let machine = rows.iter().filter(|row| row.form == Form::Cubin);
    assert_eq!(machine.map(|row| (row.arch.cc, row.compiler.prefix(2))).collect::<Vec<_>>(), Vec::from_iter(expected));
}

#[test]
fn every_compiler_makes_every_kernel_for_every_architecture() {
    for version in COMPILERS {
        let test = "every_compiler_makes_every_kernel_for_every_architecture";
        let Some(nvrtc) = compiler(version, test) else { continue };
        let version = Version::parse(version).unwrap();
        let archs = nvrtc.archs().unwrap().unwrap();
        assert!(archs.len() > 10, "{version}: {archs:?}");
        let line = version.prefix(2);
        let isa = BUILTIN.toolkits.iter().rfind(|toolkit| toolkit.version.prefix(2) == line).unwrap().ptx_isa;
        for arch in archs.into_iter().map(Arch::base) {
            let cubin = nvrtc.compile(SOURCE, arch, Form::Cubin).unwrap();
            assert_eq!(sm_number(&cubin), Some(arch.cc.number()), "NVRTC {version}, sm_{}", arch.code());
            let ptx = String::from_utf8(nvrtc.compile(SOURCE, arch, Form::Ptx).unwrap()).unwrap();
            assert_eq!(ptx_claims(&ptx), Some((isa, arch)), "NVRTC {version}, compute_{}", arch.code());
            for program in ["saxpy", "reduce", "matmul"] {
                assert!(ptx.contains(&format!(".entry {program}(")), "NVRTC {version}: no {program} in {ptx}");
                assert!(cubin.windows(program.len() + 1).any(|part| part == format!("{program}\0").as_bytes()));
            }
        }
    }
}

#[test]
fn the_catalog_knows_the_architectures_of_every_compiler() {
    let installed = COMPILERS.iter().map(|version| (*version).to_string());
    let makers = rows(&made()).into_iter().map(|row| row.compiler.to_string());
    for version in installed.chain(makers).collect::<BTreeSet<_>>() {
        let test = "the_catalog_knows_the_architectures_of_every_compiler";
        let Some(nvrtc) = compiler(&version, test) else { continue };
        let version = Version::parse(&version).unwrap();
        let (major, minor) = nvrtc.version().unwrap();
        assert_eq!((major as u64, minor as u64), (version.major(), version.minor()), "NVRTC {version}");
        assert_eq!(
            nvrtc.archs().unwrap().unwrap().into_iter().collect::<BTreeSet<_>>(),
            catalogued(&version),
            "NVRTC {version}"
        );
    }
}

/// The assembler that drivers have too, in the form of a wheel.
struct Assembler {
    library: libloading::Library,
}

impl Assembler {
    /// What it makes of PTX: the cubin, or its words.
    fn assemble(&self, ptx: &str, arch: Arch) -> Result<Vec<u8>, String> {
        type Handle = *mut c_void;
        type Create = unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> i32;
        type Add = unsafe extern "C" fn(Handle, i32, *const c_char, usize, *const c_char) -> i32;
        type Complete = unsafe extern "C" fn(Handle) -> i32;
        /// `nvJitLinkInputType` of PTX.
        const PTX: i32 = 2;
        let option = CString::new(format!("-arch=sm_{}", arch.code())).unwrap();
        let ptx = CString::new(ptx).unwrap();
        // SAFETY: the signatures of nvJitLink.h; every string ends in NUL and lives until the end.
        unsafe {
            let mut handle = std::ptr::null_mut();
            assert_eq!(self.library.get::<Create>(b"nvJitLinkCreate").unwrap()(&mut handle, 1, &option.as_ptr()), 0);
            let add = self.library.get::<Add>(b"nvJitLinkAddData").unwrap();
            let size = ptx.as_bytes_with_nul().len();
            let mut code = add(handle, PTX, ptx.as_ptr(), size, c"kernels".as_ptr());
            if code == 0 {
                code = self.library.get::<Complete>(b"nvJitLinkComplete").unwrap()(handle);
            }
            match code {
                0 => Ok(self.bytes(handle, "LinkedCubin")),
                _ => Err(String::from_utf8_lossy(&self.bytes(handle, "ErrorLog")).to_string()),
            }
        }
    }

    /// # Safety
    /// `what` must be a thing that nvJitLink hands out.
    unsafe fn bytes(&self, handle: *mut c_void, what: &str) -> Vec<u8> {
        type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> i32;
        type Get = unsafe extern "C" fn(*mut c_void, *mut u8) -> i32;
        let (size, get) = (format!("nvJitLinkGet{what}Size"), format!("nvJitLinkGet{what}"));
        // SAFETY: these are the signatures of all of them; there is room for as much as is said.
        unsafe {
            let mut count = 0;
            assert_eq!(self.library.get::<Size>(size.as_bytes()).unwrap()(handle, &mut count), 0);
            let mut bytes = vec![0; count];
            assert_eq!(self.library.get::<Get>(get.as_bytes()).unwrap()(handle, bytes.as_mut_ptr()), 0);
            bytes
        }
    }
}

/// The PTX that travels claims an ISA that its compiler did not write, and claims a later one where a lock asks for it.
/// The assembler checks that nothing in it needs more than it claims.
#[test]
fn the_built_in_ptx_is_assembled_for_every_gpu_whatever_isa_it_claims() {
    let wheel = std::env::var_os("GPUENV_TEST_NVRTC").map(|folder| PathBuf::from(folder).join(NVJITLINK));
    let Some(path) = wheel.and_then(|wheel| find(&wheel, "libnvJitLink.so.")) else {
        println!("skipped: the_built_in_ptx_is_assembled_for_every_gpu_whatever_isa_it_claims: no {NVJITLINK}");
        return;
    };
    // SAFETY: NVIDIA's library has no constructor that does anything but set itself up.
    let assembler = Assembler { library: unsafe { libloading::Library::new(path) }.unwrap() };
    let toolkit = BUILTIN.toolkits.iter().max_by(|a, b| a.version.cmp(&b.version)).unwrap();
    for arch in toolkit.sass.iter().filter(|arch| arch.suffix == Suffix::None) {
        let cubin = assembler.assemble(prebuilt::ptx(), *arch).unwrap();
        assert_eq!(sm_number(&cubin), Some(arch.cc.number()));
    }
    let sm_90 = Arch::parse("sm_90").unwrap();
    for toolkit in BUILTIN.toolkits.iter() {
        let claimed = with_isa(prebuilt::ptx(), &toolkit.ptx_isa).unwrap();
        assert!(assembler.assemble(&claimed, sm_90).is_ok(), "PTX {}", toolkit.ptx_isa);
    }
    for (isa, said) in
        [("2.0", "PTX .version 2.0 does not support .target sm_35"), ("99.0", "Unsupported .version 99.0")]
    {
        let claimed = with_isa(prebuilt::ptx(), &Version::parse(isa).unwrap()).unwrap();
        let words = assembler.assemble(&claimed, sm_90).unwrap_err();
        assert!(words.contains(said), "{words}");
    }
}

#[test]
fn a_compiler_says_what_is_wrong() {
    let Some(nvrtc) = compiler(COMPILERS[0], "a_compiler_says_what_is_wrong") else { return };
    let sm_90 = Arch::parse("sm_90").unwrap();
    let fault = nvrtc.compile("__global__ void f() { nothing(); }", sm_90, Form::Ptx).unwrap_err();
    assert_eq!((fault.at.as_str(), fault.code), ("nvrtcCompileProgram", Some(6)));
    assert_eq!(fault.name.as_deref(), Some("NVRTC_ERROR_COMPILATION"));
    assert!(fault.message.unwrap().contains("kernels.cu(1): error: identifier \"nothing\" is undefined"));
    let fault = nvrtc.compile(SOURCE, Arch::parse("sm_10").unwrap(), Form::Cubin).unwrap_err();
    assert_eq!(fault.name.as_deref(), Some("NVRTC_ERROR_INVALID_OPTION"), "{fault:?}");
    assert!(Nvrtc::open(Path::new("/nowhere/libnvrtc.so.12")).is_err_and(|fault| fault.message.is_some()));
}
