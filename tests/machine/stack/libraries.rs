//! Which library a process would load, which copies lose against it, and what it says of itself.

use std::path::Path;

use gpuenv::host::{Library, Python, Record};
use gpuenv::probe::{ProbeContext, libraries};

use super::{Scratch, compile};

const TORCH: &str = "site/torch/lib/libtorch_cuda.so";
/// The links of torch's wheels, from `torch/lib`.
const WHEELS: &str = "-Wl,-rpath,$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN";

fn cudnn(version: u32) -> String {
    format!("#include <stddef.h>\nsize_t cudnnGetVersion(void) {{ return {version}; }}")
}

fn cudart(version: u32) -> String {
    format!("int cudaRuntimeGetVersion(int *v) {{ *v = {version}; return 0; }}")
}

fn library(scratch: &Scratch, path: &str, source: &str, more: &[&str]) -> Option<()> {
    let soname = format!("-Wl,-soname,{}", Path::new(path).file_name()?.to_str()?);
    compile(&scratch.at(path), source, &[&[soname.as_str()], more].concat())
}

/// A framework's library that needs these, with its search path under a tag of the linker's.
fn torch(scratch: &Scratch, tags: &str, needs: &[&str]) -> Option<()> {
    let needed: Vec<String> = needs.iter().map(|path| scratch.shown(path)).collect();
    let mut args = vec!["-Wl,--no-as-needed", tags, WHEELS];
    args.extend(needed.iter().map(String::as_str));
    compile(&scratch.at(TORCH), "int torch;", &args)
}

fn look(scratch: &Scratch, context: &ProbeContext) -> Record {
    let python = Python { sites: vec![scratch.shown("site")], ..Python::default() };
    let mut record = Record { python: Some(python), ..Record::default() };
    libraries::look(context, &mut record);
    record
}

fn of<'r>(record: &'r Record, soname: &str) -> &'r Library {
    let found = record.libraries.iter().find(|library| library.soname == soname);
    found.unwrap_or_else(|| panic!("no {soname} in {:#?}", record.libraries))
}

fn version(library: &Library) -> String {
    library.version.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn the_tag_of_the_search_path_decides_against_ld_library_path() {
    let scratch = Scratch::new("tags");
    let (wheel, system) = ("site/nvidia/cudnn/lib/libcudnn.so.9", "system/libcudnn.so.9");
    let Some(()) = library(&scratch, wheel, &cudnn(90100), &[]) else { return };
    library(&scratch, system, &cudnn(90501), &[]).unwrap();
    let entry = scratch.shown("system");
    let context = scratch.context(&[("LD_LIBRARY_PATH", &entry)]);
    for (tags, loaded, by, says) in [
        ("-Wl,--disable-new-dtags", wheel, "python", "9.1.0"),
        ("-Wl,--enable-new-dtags", system, "LD_LIBRARY_PATH", "9.5.1"),
    ] {
        torch(&scratch, tags, &[wheel]).unwrap();
        let record = look(&scratch, &context);
        let found = of(&record, "libcudnn.so.9");
        assert_eq!(found.path, Some(scratch.shown(loaded)), "{tags}");
        assert_eq!((found.found_by.as_deref(), version(found).as_str()), (Some(by), says), "{tags}");
        let other = if loaded == wheel { system } else { wheel };
        let copies: Vec<(String, &str)> =
            found.shadows.iter().map(|copy| (copy.path.clone(), copy.version.as_ref().unwrap().as_str())).collect();
        assert_eq!(copies, [(scratch.shown(other), if loaded == wheel { "9.5.1" } else { "9.1.0" })]);
        assert_eq!(found.fault, None);
    }
    // Without the variable the wheel's own wins under either tag.
    let record = look(&scratch, &scratch.context(&[]));
    assert_eq!(of(&record, "libcudnn.so.9").path, Some(scratch.shown(wheel)));
}

#[test]
fn the_loader_agrees_with_the_search() {
    let scratch = Scratch::new("agrees");
    let (wheel, system) = ("site/nvidia/cudnn/lib/libcudnn.so.9", "system/libcudnn.so.9");
    let Some(()) = library(&scratch, wheel, &cudnn(90100), &[]) else { return };
    library(&scratch, system, &cudnn(90501), &[]).unwrap();
    let entry = scratch.shown("system");
    for tags in ["-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"] {
        torch(&scratch, tags, &[wheel]).unwrap();
        for variable in [&entry, "/nonexistent"] {
            let mut ldd = std::process::Command::new("ldd");
            let Ok(output) = ldd.arg(scratch.at(TORCH)).env("LD_LIBRARY_PATH", variable).output() else {
                return println!("skipped: the_loader_agrees_with_the_search: no ldd");
            };
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = said.lines().find(|line| line.contains("libcudnn.so.9")).unwrap();
            let path = line.split("=> ").nth(1).unwrap().split(" (").next().unwrap();
            let record = look(&scratch, &scratch.context(&[("LD_LIBRARY_PATH", variable)]));
            let real = std::fs::canonicalize(path).unwrap().display().to_string();
            assert_eq!(of(&record, "libcudnn.so.9").path, Some(real), "{tags} {variable}");
        }
    }
}

#[test]
fn torch_loads_some_by_their_full_paths() {
    let scratch = Scratch::new("preload");
    let source = "int nvJitLinkVersion(unsigned *a, unsigned *b) { *a = 12; *b = MINOR; return 0; }";
    let (wheel, system) = ("site/nvidia/nvjitlink/lib/libnvJitLink.so.12", "system/libnvJitLink.so.12");
    let Some(()) = library(&scratch, wheel, source, &["-DMINOR=8"]) else { return };
    library(&scratch, system, source, &["-DMINOR=1"]).unwrap();
    torch(&scratch, "-Wl,--disable-new-dtags", &[]).unwrap();
    let entry = scratch.shown("system");
    let context = scratch.context(&[("LD_LIBRARY_PATH", &entry)]);
    let record = look(&scratch, &context);
    assert_eq!(version(of(&record, "libnvJitLink.so.12")), "12.1", "LD_LIBRARY_PATH wins where torch does nothing");
    let since_2_10 = "def _preload_cuda_deps(err: OSError | None = None) -> None:\n    cuda_libs = [(\"nvjitlink\", \"libnvJitLink.so.*[0-9]\")]\n";
    for init in ["_preload_cuda_deps(\"nvjitlink\", \"libnvJitLink.so.*[0-9]\")\n", since_2_10] {
        scratch.write("site/torch/__init__.py", init);
        let record = look(&scratch, &context);
        assert_eq!(version(of(&record, "libnvJitLink.so.12")), "12.8", "{init}");
        assert_eq!(of(&record, "libnvJitLink.so.12").found_by.as_deref(), Some("python"));
    }
}

#[test]
fn a_mixed_cudnn_shows_in_its_parts() {
    let scratch = Scratch::new("mixed");
    let main = r#"
        #include <stddef.h>
        #include <dlfcn.h>
        size_t cudnnGetVersion(void) { return 90100; }
        int cudnnGraphVersionCheck(void) {
            void *graph = dlopen("libcudnn_graph.so.9", RTLD_NOW);
            int (*check)(void) = graph ? (int (*)(void)) dlsym(graph, "version") : NULL;
            return check && check() == 90100 ? 0 : 1002;
        }"#;
    let part = |version: u32| format!("int version(void) {{ return {version}; }}");
    let own = "-Wl,-rpath,$ORIGIN";
    let (folder, graph, ops) = ("site/nvidia/cudnn/lib", "libcudnn_graph.so.9", "libcudnn_ops.so.9");
    let Some(()) = library(&scratch, &format!("{folder}/libcudnn.so.9"), main, &[own, "-Wl,--enable-new-dtags"]) else {
        return;
    };
    library(&scratch, &format!("{folder}/{graph}"), &part(90100), &[]).unwrap();
    library(&scratch, &format!("{folder}/{ops}"), &part(90100), &[]).unwrap();
    library(&scratch, &format!("system/{graph}"), &part(90501), &[]).unwrap();
    torch(&scratch, "-Wl,--disable-new-dtags", &[&format!("{folder}/libcudnn.so.9")]).unwrap();

    let record = look(&scratch, &scratch.context(&[]));
    let found = of(&record, "libcudnn.so.9");
    let beside = [graph, ops].map(|name| scratch.shown(&format!("{folder}/{name}")));
    assert_eq!((&found.parts[..], &found.fault), (&beside[..], &None));

    let entry = scratch.shown("system");
    let record = look(&scratch, &scratch.context(&[("LD_LIBRARY_PATH", &entry)]));
    let found = of(&record, "libcudnn.so.9");
    assert_eq!(found.path, Some(scratch.shown(&format!("{folder}/libcudnn.so.9"))));
    let mixed = [scratch.shown(&format!("{folder}/{ops}")), scratch.shown(&format!("system/{graph}"))];
    assert_eq!(found.parts, mixed);
    let fault = found.fault.as_ref().unwrap();
    assert_eq!((fault.at.as_str(), fault.code), ("cudnnGraphVersionCheck", Some(1002)));
    assert_eq!(version(found), "9.1.0", "what it told before is kept");
}

#[test]
fn conda_beside_pip_is_another_copy() {
    let scratch = Scratch::new("conda");
    let wheel = "site/nvidia/cuda_runtime/lib/libcudart.so.12";
    let Some(()) = library(&scratch, wheel, &cudart(12080), &[]) else { return };
    let real = "conda/lib/libcudart.so.12.4.127";
    library(&scratch, real, &cudart(12040), &[]).unwrap();
    std::os::unix::fs::symlink("libcudart.so.12.4.127", scratch.at("conda/lib/libcudart.so.12")).unwrap();
    scratch.write(
        "site/nvidia_cuda_runtime_cu12-12.8.90.dist-info/RECORD",
        "nvidia/cuda_runtime/lib/libcudart.so.12,sha256=x,1\n",
    );
    torch(&scratch, "-Wl,--disable-new-dtags", &[wheel]).unwrap();
    let conda = scratch.shown("conda");
    let record = look(&scratch, &scratch.context(&[("CONDA_PREFIX", &conda)]));
    let found = of(&record, "libcudart.so.12");
    assert_eq!((version(found).as_str(), found.file_version.as_ref().unwrap().as_str()), ("12.8", "12.8.90"));
    assert_eq!(found.shadows.len(), 1);
    assert_eq!(found.shadows[0].path, scratch.shown(real));
    assert_eq!(found.shadows[0].version.as_ref().unwrap().as_str(), "12.4.127");
}

/// Programs of a conda environment find its libraries by themselves, whatever the loader does for others.
#[test]
fn conda_alone_has_its_libraries() {
    let scratch = Scratch::new("conda-alone");
    let Some(()) = library(&scratch, "conda/lib/libcudart.so.12", &cudart(12040), &[]) else { return };
    let conda = scratch.shown("conda");
    let record = look(&scratch, &scratch.context(&[("CONDA_PREFIX", &conda)]));
    let found = of(&record, "libcudart.so.12");
    assert_eq!((version(found).as_str(), found.found_by.as_deref()), ("12.4", Some("CONDA_PREFIX")));
}

#[test]
fn links_into_an_installers_cache_keep_their_package() {
    let scratch = Scratch::new("cache");
    let Some(()) = library(&scratch, "cache/cudart/libcudart.so.12", &cudart(12080), &[]) else { return };
    let wheel = "site/nvidia/cuda_runtime/lib/libcudart.so.12";
    std::os::unix::fs::symlink(scratch.at("cache/cudart/libcudart.so.12"), scratch.at(wheel)).unwrap();
    let list = "nvidia/cuda_runtime/lib/libcudart.so.12,sha256=x,1\n";
    scratch.write("site/nvidia_cuda_runtime_cu12-12.8.90.dist-info/RECORD", list);
    torch(&scratch, "-Wl,--disable-new-dtags", &[wheel]).unwrap();
    let record = look(&scratch, &scratch.context(&[]));
    let found = of(&record, "libcudart.so.12");
    assert_eq!(found.path, Some(scratch.shown("cache/cudart/libcudart.so.12")));
    assert_eq!(found.file_version.as_ref().unwrap().as_str(), "12.8.90");
}

#[test]
fn what_the_framework_needs_and_nobody_has_is_told() {
    let scratch = Scratch::new("needed");
    let wheel = "site/nvidia/cudnn/lib/libcudnn.so.9";
    let Some(()) = library(&scratch, wheel, &cudnn(90100), &[]) else { return };
    torch(&scratch, "-Wl,--disable-new-dtags", &[wheel]).unwrap();
    std::fs::remove_file(scratch.at(wheel)).unwrap();
    let record = look(&scratch, &scratch.context(&[]));
    let found = of(&record, "libcudnn.so.9");
    assert_eq!((&found.path, found.fault.as_ref().unwrap().name.as_deref()), (&None, Some("ENOENT")));
}

#[test]
fn without_a_framework_the_wheels_come_first() {
    let scratch = Scratch::new("alone");
    let wheel = "site/nvidia/cu13/lib/libcudart.so.13";
    let Some(()) = library(&scratch, wheel, &cudart(13000), &[]) else { return };
    library(&scratch, "system/libcudart.so.13", &cudart(13010), &[]).unwrap();
    let entry = scratch.shown("system");
    let record = look(&scratch, &scratch.context(&[("LD_LIBRARY_PATH", &entry)]));
    assert_eq!(of(&record, "libcudart.so.13").path, Some(scratch.shown(wheel)));
    assert_eq!(version(of(&record, "libcudart.so.13")), "13.0");
}

#[test]
fn libraries_that_crash_hang_or_lie_take_nothing_down() {
    let scratch = Scratch::new("bad");
    let constructor = |does: &str| {
        format!("#include <unistd.h>\n#include <stdlib.h>\n__attribute__((constructor)) void f(void) {{ {does} }}")
    };
    let sources = [
        ("libcudart.so.11.0", constructor("*(volatile int *) 0 = 1;")),
        ("libcudart.so.12", constructor("for (;;) sleep(1);")),
        ("libcudart.so.13", constructor("_exit(0);")),
        ("libnvrtc.so.11.2", "int nvrtcVersion(int *a, int *b) { *a = -5; *b = 1 << 30; return 0; }".to_string()),
        ("libnvrtc.so.12", "int nvrtcVersion(int *a, int *b) { return 7; }".to_string()),
        ("libnccl.so.2", "int ncclGetVersion(int *v) { *v = 0x7fffffff; return 0; }".to_string()),
        ("libcublas.so.12", "int nothing;".to_string()),
        ("libcublasLt.so.12", constructor("for (;;) { char b[4096] = {10}; write(1, b, 4096); write(2, b, 4096); }")),
        (
            "libnvJitLink.so.12",
            "int nvJitLinkVersion(int *a, int *b) { abort(); }".replacen("int", "#include <stdlib.h>\nint", 1),
        ),
    ];
    for (name, source) in &sources {
        let Some(()) = library(&scratch, &format!("system/{name}"), source, &[]) else { return };
    }
    scratch.write("system/libcudnn.so.9", "\u{1b}[2Jthis is no library");
    let entry = scratch.shown("system");
    let context = scratch.context(&[("LD_LIBRARY_PATH", &entry), ("GPUENV_PROBE_LIMIT_MS", "700")]);
    let record = look(&scratch, &context);
    for (name, _) in &sources {
        let found = of(&record, name);
        assert_eq!(found.path, Some(scratch.shown(&format!("system/{name}"))));
        assert_eq!(found.version, None, "{name}");
    }
    let fault = |name: &str| {
        let fault = of(&record, name).fault.clone().unwrap_or_else(|| panic!("{name} has no fault"));
        format!("{} {}", fault.name.unwrap_or_default(), fault.message.unwrap_or_default())
    };
    assert!(fault("libcudart.so.11.0").contains("SIGSEGV"), "{}", fault("libcudart.so.11.0"));
    assert!(fault("libcudart.so.11.0").contains("dlopen of"), "{}", fault("libcudart.so.11.0"));
    assert!(fault("libcudart.so.12").contains("ETIMEDOUT"));
    assert!(fault("libcudart.so.13").contains("without an answer"), "{}", fault("libcudart.so.13"));
    assert!(fault("libnvJitLink.so.12").contains("SIGABRT in nvJitLinkVersion"), "{}", fault("libnvJitLink.so.12"));
    let loud = fault("libcublasLt.so.12");
    assert!(loud.contains("MiB") || loud.contains("ETIMEDOUT"), "{loud}");
    assert_eq!(of(&record, "libcudnn.so.9").fault.as_ref().unwrap().at, "dlopen");
}

#[test]
fn another_machines_files_are_read_and_not_loaded() {
    let scratch = Scratch::new("replay");
    let wheel = "usr/lib64/libcudart.so.12.4.127";
    let Some(()) =
        library(&scratch, wheel, "__attribute__((constructor)) void f(void) { *(volatile int *) 0 = 1; }", &[])
    else {
        return;
    };
    std::os::unix::fs::symlink("libcudart.so.12.4.127", scratch.at("usr/lib64/libcudart.so.12")).unwrap();
    for name in ["libcuda.so.1", "libnvidia-ptxjitcompiler.so.1"] {
        let file = format!("{}.535.183.01", name.trim_end_matches(".1"));
        library(&scratch, &format!("usr/lib64/{file}"), "int x;", &[]).unwrap();
        std::os::unix::fs::symlink(&file, scratch.at(&format!("usr/lib64/{name}"))).unwrap();
    }
    let mut context = scratch.context(&[]);
    context.root = scratch.0.clone();
    let mut record = Record::default();
    libraries::look(&context, &mut record);
    let found = of(&record, "libcudart.so.12");
    assert_eq!(found.path.as_deref(), Some("/usr/lib64/libcudart.so.12.4.127"));
    assert_eq!(found.file_version.as_ref().unwrap().as_str(), "12.4.127");
    assert_eq!((&found.version, &found.fault), (&None, &None));
    let driver: Vec<(&str, Option<&str>)> = record
        .driver_libraries
        .iter()
        .map(|library| (library.soname.as_str(), library.file_version.as_ref().map(|version| version.as_str())))
        .collect();
    assert_eq!(
        driver,
        [
            ("libcuda.so.1", Some("535.183.01")),
            ("libnvidia-ml.so.1", None),
            ("libnvidia-ptxjitcompiler.so.1", Some("535.183.01")),
            ("libnvidia-nvvm.so.4", None),
        ]
    );
    assert_eq!(record.driver_libraries[1].path, None);
}
