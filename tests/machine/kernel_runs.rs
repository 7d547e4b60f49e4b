//! The kernels as `gpuenv verify` runs them, in real children on a driver that is scripted: tests/fake/cuda.c refuses
//! what a driver refuses, computes what the kernels compute, and fails where and how it is told to.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gpuenv::host::{ApiError, CudaDevice, Kernel, Libcuda, Library, Outcome, ProbeStatus, Record, Toolkit};
use gpuenv::probe::{Depth, ProbeContext, ProbeOptions, curesult, kernels};
use gpuenv::types::{Arch, Cc, Version};

use crate::common::fake;

/// A machine with the fake driver.
struct Machine {
    options: ProbeOptions,
    environment: Vec<(OsString, OsString)>,
    record: Record,
}

/// The fake, built once. None: there is no C compiler.
fn libcuda() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| fake::library("cuda", Path::new("cuda.c"), "libcuda.so.1")).as_deref()
}

/// A lock of CUDA 12.4 for 8.6 and 9.0.
fn locked() -> ProbeOptions {
    let arch = |text| Arch::parse(text).unwrap();
    ProbeOptions {
        sass: vec![arch("8.0"), arch("8.6"), arch("9.0")],
        ptx_isa: Version::parse("8.4").ok(),
        cuda: Version::parse("12.4.1").ok(),
        ..ProbeOptions::default()
    }
}

fn quick() -> ProbeOptions {
    ProbeOptions { depth: Depth::Quick, ..locked() }
}

impl Machine {
    fn new(options: ProbeOptions, script: &str, capabilities: &[&str]) -> Option<Machine> {
        Some(Machine::with(libcuda()?, options, script, capabilities))
    }

    fn with(libcuda: &Path, options: ProbeOptions, script: &str, capabilities: &[&str]) -> Machine {
        let device = |(ordinal, cc): (usize, &&str)| CudaDevice {
            ordinal: ordinal as u64,
            compute_capability: Cc::parse(cc).ok(),
            ..CudaDevice::default()
        };
        let cc = capabilities.first().map_or(0, |cc| Cc::parse(cc).unwrap().number());
        let script = format!("{script},devices={},cc={cc}", capabilities.len());
        let libcuda = Libcuda {
            path: Some(libcuda.to_str().unwrap().to_string()),
            devices: capabilities.iter().enumerate().map(device).collect(),
            ..Libcuda::default()
        };
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("GPUENV_FAKE".into(), script.into())];
        Machine { options, environment, record: Record { libcuda: Some(libcuda), ..Record::default() } }
    }

    fn set(mut self, name: &str, value: impl Into<OsString>) -> Machine {
        self.environment.push((name.into(), value.into()));
        self
    }

    fn context(&self) -> ProbeContext {
        ProbeContext {
            options: self.options.clone(),
            root: PathBuf::from("/"),
            program: PathBuf::from(env!("CARGO_BIN_EXE_gpuenv")),
            environment: self.environment.clone(),
        }
    }

    fn run(mut self) -> Record {
        kernels::look(&self.context(), &mut self.record);
        self.record
    }
}

/// `sm_90 saxpy right`
fn told(record: &Record) -> Vec<String> {
    let outcome = |kernel: &Kernel| match kernel.outcome {
        Outcome::Right => "right".to_string(),
        Outcome::Wrong => "wrong".to_string(),
        Outcome::Failed => {
            let fault = kernel.fault.as_ref().unwrap();
            fault.code.map_or(format!("failed in {}", fault.at), |code| format!("{} in {}", code, fault.at))
        }
    };
    let isa = |kernel: &Kernel| kernel.ptx_isa.as_ref().map_or(String::new(), |isa| format!(" ptx {isa}"));
    let kernels = record.kernels.iter();
    kernels.map(|kernel| format!("{}{} {} {}", kernel.code, isa(kernel), kernel.program, outcome(kernel))).collect()
}

fn ended(record: &Record) -> (ProbeStatus, String) {
    let probe = record.probes.last().unwrap();
    assert_eq!(probe.name, "kernels");
    (probe.ended, probe.detail.clone().unwrap_or_default())
}

#[test]
fn every_kernel_of_the_lock_is_right_on_a_sound_driver() {
    let Some(machine) = Machine::new(locked(), "", &["8.6"]) else { return };
    let record = machine.run();
    let expected = ["sm_86", "sm_80", "compute_35 ptx 3.1", "compute_35 ptx 8.4"]
        .map(|code| ["saxpy", "reduce", "matmul"].map(|program| format!("{code} {program} right")));
    assert_eq!(told(&record), expected.concat());
    assert_eq!(ended(&record), (ProbeStatus::Done, String::new()));
    assert!(record.kernels.iter().all(|kernel| kernel.micros.is_some() && kernel.compiler == "built-in"));
}

#[test]
fn quick_is_one_program_on_every_gpu() {
    let Some(machine) = Machine::new(quick(), "", &["9.0", "9.0", "9.0"]) else { return };
    let began = Instant::now();
    let record = machine.run();
    assert_eq!(told(&record), ["sm_90 saxpy right"; 3]);
    assert_eq!(record.kernels.iter().map(|kernel| kernel.device).collect::<Vec<_>>(), [0, 1, 2]);
    println!("quick on three GPUs took {:?}", began.elapsed());
}

#[test]
fn wrong_results_are_caught_in_every_program() {
    for program in ["saxpy", "reduce", "matmul"] {
        let Some(machine) = Machine::new(locked(), &format!("1:{program}=wrong"), &["9.0", "9.0"]) else { return };
        let record = machine.run();
        for kernel in &record.kernels {
            let expected = kernel.device == 1 && kernel.program == program;
            assert_eq!(kernel.outcome == Outcome::Wrong, expected, "{kernel:?}");
            let said = kernel.fault.as_ref().and_then(|fault| fault.message.clone()).unwrap_or_default();
            assert_eq!(said.starts_with("element 0 is ") && said.contains("; 1 of "), expected, "{said}");
        }
        assert_eq!(record.kernels.len(), 18);
    }
}

/// The calls before there is a context, in order: what fails in them fails for all code.
const BEFORE: &[&str] = &["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"];
/// The calls for each piece of code and program.
const WITHIN: &[&str] = &[
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuMemAlloc_v2",
    "cuMemcpyHtoD_v2",
    "cuLaunchKernel",
    "cuCtxSynchronize",
    "cuMemcpyDtoH_v2",
    "cuMemFree_v2",
];

#[test]
fn every_call_may_fail_with_any_code() {
    for call in BEFORE.iter().chain(WITHIN) {
        for code in [1, 2, 46, 100, 209, 223, 304, 700, 719, 802, 999, 4_242, -7] {
            let Some(machine) = Machine::new(quick(), &format!("{call}={code}"), &["9.0"]) else { return };
            let record = machine.run();
            assert_eq!(told(&record), [format!("sm_90 saxpy {code} in {call}")]);
            let name = record.kernels[0].fault.as_ref().unwrap().name.as_deref();
            assert_eq!(name, curesult::name(code), "{code}");
            assert_eq!(ended(&record).0, ProbeStatus::Done, "{call} {code}");
        }
    }
}

#[test]
fn without_a_context_all_code_fails_alike() {
    let Some(machine) = Machine::new(locked(), "cuDevicePrimaryCtxRetain=46", &["9.0"]) else { return };
    let expected = ["sm_90", "compute_35 ptx 3.1", "compute_35 ptx 8.4"];
    assert_eq!(told(&machine.run()), expected.map(|code| format!("{code} saxpy 46 in cuDevicePrimaryCtxRetain")));
}

#[test]
fn one_architecture_may_fail_and_the_rest_goes_on() {
    let script = |script: &str| Machine::new(locked(), script, &["8.6"]).map(|machine| told(&machine.run()));
    let Some(refused) = script("sm_86=209") else { return };
    assert_eq!(refused[..2], ["sm_86 saxpy 209 in cuModuleLoadDataEx", "sm_80 saxpy right"]);
    // A launch that failed leaves nothing that could be trusted: what follows runs in another child.
    let launched = script("reduce=700").unwrap();
    assert_eq!(launched[..2], ["sm_86 saxpy right", "sm_86 reduce 700 in cuLaunchKernel"]);
    assert_eq!(launched[2..4], ["sm_80 saxpy right", "sm_80 reduce 700 in cuLaunchKernel"]);
    assert_eq!(launched.len(), 8);
}

#[test]
fn what_crashes_costs_only_itself() {
    for (action, ending) in [("crash", "SIGSEGV"), ("abort", "SIGABRT"), ("exit", "ended without an answer")] {
        let Some(machine) = Machine::new(locked(), &format!("sm_86={action}"), &["8.6"]) else { return };
        let record = machine.run();
        let told = told(&record);
        assert_eq!(told[..2], ["sm_86 saxpy failed in cuModuleLoadDataEx", "sm_80 saxpy right"], "{action}");
        assert_eq!(told.len(), 10);
        let (how, detail) = ended(&record);
        assert!(matches!(how, ProbeStatus::Crashed | ProbeStatus::Garbled), "{how:?}");
        let place = "in cuModuleLoadDataEx of sm_86 by built-in";
        assert!(detail.starts_with("device 0: ") && detail.contains(ending) && detail.contains(place), "{detail}");
        assert!(record.kernels[0].fault.as_ref().unwrap().message.as_ref().unwrap().contains(place));
    }
}

#[test]
fn what_crashes_every_time_ends() {
    let Some(machine) = Machine::new(locked(), "saxpy=crash", &["8.6"]) else { return };
    let record = machine.run();
    assert_eq!(record.kernels.len(), 4, "{record:?}");
    assert!(record.kernels.iter().all(|kernel| kernel.outcome == Outcome::Failed));
    let Some(machine) = Machine::new(locked(), "cuInit=crash", &["8.6"]) else { return };
    let record = machine.run();
    assert_eq!((record.kernels.len(), ended(&record).0), (0, ProbeStatus::Crashed));
    assert!(ended(&record).1.contains("SIGSEGV in cuInit of /"), "{:?}", ended(&record));
}

#[test]
fn what_hangs_is_left_and_the_rest_goes_on() {
    let Some(machine) = Machine::new(locked(), "0:sm_86=hang", &["8.6", "8.6"]) else { return };
    let record = machine.set("GPUENV_PROBE_LIMIT_MS", "1500").run();
    let (how, detail) = ended(&record);
    assert_eq!(how, ProbeStatus::TimedOut);
    assert!(detail.contains("in cuModuleLoadDataEx of sm_86 by built-in"), "{detail}");
    let told = told(&record);
    assert_eq!(told[..2], ["sm_86 saxpy failed in cuModuleLoadDataEx", "sm_80 saxpy right"]);
    assert_eq!(told.iter().filter(|line| line.ends_with("right")).count(), 9 + 12, "{told:?}");
}

/// In the library's own look the GPU was there: a process that then never comes onto it has something to say of it.
#[test]
fn a_gpu_that_gives_no_context_is_told() {
    for (script, name, how) in [
        ("1:cuDevicePrimaryCtxRetain=stubborn", "ETIMEDOUT", ProbeStatus::TimedOut),
        ("1:cuCtxSetCurrent=crash", "SIGSEGV", ProbeStatus::Crashed),
    ] {
        let Some(machine) = Machine::new(quick(), script, &["9.0"; 3]) else { return };
        let record = machine.set("GPUENV_PROBE_LIMIT_MS", "1500").run();
        let call = script.split([':', '=']).nth(1).unwrap();
        let right = "sm_90 saxpy right".to_string();
        assert_eq!(told(&record), [right.clone(), format!("sm_90 saxpy failed in {call}"), right]);
        assert_eq!(record.kernels[1].fault.as_ref().unwrap().name.as_deref(), Some(name));
        assert_eq!(ended(&record).0, how);
    }
}

#[test]
fn a_driver_that_hangs_always_takes_a_bounded_time() {
    let Some(machine) = Machine::new(locked(), "cuModuleLoadDataEx=hang", &["9.0"; 8]) else { return };
    let began = Instant::now();
    let record = machine.set("GPUENV_PROBE_LIMIT_MS", "1000").run();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(record.kernels.len() >= 8 && record.kernels.iter().all(|kernel| kernel.outcome == Outcome::Failed));
}

#[test]
fn a_driver_that_prints_cannot_speak_for_the_child() {
    let Some(machine) = Machine::new(quick(), "cuInit=noise", &["9.0"]) else { return };
    assert_eq!(told(&machine.run()), ["sm_90 saxpy right"]);
}

#[test]
fn ptx_is_compiled_by_the_driver_or_it_says_why_not() {
    // A driver of CUDA 12.2 under a lock of 12.4: its JIT does not know the toolkit's PTX, and knows the old one.
    let Some(machine) = Machine::new(locked(), "isa=82", &["9.0"]) else { return };
    let record = machine.run();
    let told = told(&record);
    assert_eq!(told[3], "compute_35 ptx 3.1 saxpy right");
    assert_eq!(told[6], "compute_35 ptx 8.4 saxpy 222 in cuModuleLoadDataEx");
    let fault = record.kernels[6].fault.clone().unwrap();
    assert_eq!(fault.name.as_deref(), Some("CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
    assert_eq!(fault.message.as_deref(), Some("ptxas fatal : Unsupported .version"));
    for code in [218, 221, 223] {
        let told = outcomes(Machine::new(locked(), &format!("ptx={code}"), &["9.0"]).unwrap());
        assert!(told[0].ends_with("right") && told[3].ends_with(&format!("{code} in cuModuleLoadDataEx")), "{told:?}");
    }
    // Whatever the user has set, the cache is off.
    let machine = Machine::new(locked(), "", &["9.0"]).unwrap();
    assert!(outcomes(machine.set("CUDA_CACHE_DISABLE", "0")).iter().all(|line| line.ends_with("right")));
}

fn outcomes(machine: Machine) -> Vec<String> {
    told(&machine.run())
}

#[test]
fn only_the_recorded_library_is_loaded() {
    let decoy = "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n";
    let Some(decoy) = fake::library_of("decoy", decoy, "libcuda.so") else { return };
    let folder = decoy.parent().unwrap();
    fs::copy(&decoy, folder.join("libcuda.so.1")).unwrap();
    let Some(machine) = Machine::new(quick(), "", &["9.0"]) else { return };
    assert_eq!(told(&machine.set("LD_LIBRARY_PATH", folder).run()), ["sm_90 saxpy right"]);
    // The decoy does bite where it is what the record names.
    let record = Machine::with(&decoy, quick(), "", &["9.0"]).run();
    assert_eq!((ended(&record).0, record.kernels.len()), (ProbeStatus::Crashed, 0));
    assert!(ended(&record).1.contains("SIGABRT in dlopen of /"), "{:?}", ended(&record));
}

#[test]
fn a_library_that_lacks_a_call_is_refused_before_any_is_made() {
    let source = "#include <stdlib.h>\nint cuInit(unsigned flags) { (void)flags; abort(); }\n";
    let Some(lacking) = fake::library_of("lacking", source, "libcuda.so.1") else { return };
    let record = Machine::with(&lacking, quick(), "", &["9.0"]).run();
    assert_eq!(told(&record), ["sm_90 saxpy failed in cuDeviceGet"]);
    assert!(fault(&record).message.unwrap().contains("undefined symbol: cuDeviceGet"));
    let garbage = fake::folder("garbage").join("libcuda.so.1");
    fs::write(&garbage, "not a library ".repeat(100)).unwrap();
    let record = Machine::with(&garbage, quick(), "", &["9.0"]).run();
    assert!(fault(&record).message.unwrap().contains("invalid ELF header"), "{record:?}");
    assert_eq!(ended(&record).0, ProbeStatus::Done);
}

fn fault(record: &Record) -> ApiError {
    record.kernels[0].fault.clone().unwrap()
}

#[test]
fn nothing_is_run_where_nothing_can_be() {
    let Some(mut machine) = Machine::new(quick(), "", &[]) else { return };
    assert_eq!(ended(&Machine::new(quick(), "", &[]).unwrap().run()), (ProbeStatus::Absent, "no device".into()));
    machine.record.libcuda = None;
    assert_eq!(ended(&machine.run()), (ProbeStatus::Absent, "no libcuda".into()));
    let mut machine = Machine::new(quick(), "", &["9.0"]).unwrap();
    machine.record.libcuda.as_mut().unwrap().stub = Some(true);
    assert_eq!(ended(&machine.run()).0, ProbeStatus::Absent);
    let mut machine = Machine::new(quick(), "", &["9.0"]).unwrap();
    let elsewhere = ProbeContext { root: PathBuf::from("/elsewhere"), ..machine.context() };
    kernels::look(&elsewhere, &mut machine.record);
    assert_eq!((ended(&machine.record).0, machine.record.kernels.len()), (ProbeStatus::NotRun, 0));
}

#[test]
fn a_driver_with_too_many_devices_is_not_asked_for_all() {
    let Some(mut machine) = Machine::new(quick(), "devices=100000", &["9.0"]) else { return };
    let device = |ordinal| CudaDevice { ordinal, compute_capability: Cc::parse("9.0").ok(), ..CudaDevice::default() };
    machine.record.libcuda.as_mut().unwrap().devices = (0..100_000).map(device).collect();
    assert_eq!(machine.run().kernels.len(), 64);
}

/// A toolkit whose nvcc is this script; `$cubins` are the built-in ones, `$out` where it is to write.
fn with_nvcc(test: &str, script: &str) -> Option<Machine> {
    let mut machine = Machine::new(ProbeOptions { build: true, ..locked() }, "", &["9.0"])?;
    let root = fake::folder(test);
    let nvcc = root.join("bin/nvcc");
    fs::create_dir(root.join("bin")).unwrap();
    fs::create_dir(root.join("tmp")).unwrap();
    let cubins = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/probe/kernels/prebuilt");
    let script = format!("#!/bin/sh\ncubins={}\nout=$4\n{script}\n", cubins.display());
    fs::write(&nvcc, script).unwrap();
    fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o755)).unwrap();
    let nvcc = Version::parse("12.4.131").ok();
    machine.record.toolkits = vec![Toolkit { root: root.to_str().unwrap().to_string(), nvcc, ..Toolkit::default() }];
    Some(machine.set("TMPDIR", root.join("tmp")))
}

/// The last of the outcomes, and whether the folder for nvcc's files is gone.
fn of_nvcc(machine: Machine) -> (Kernel, bool) {
    let folder = machine.environment.iter().find(|(name, _)| name == "TMPDIR").unwrap().1.clone();
    let record = machine.run();
    let kernel = record.kernels.iter().rfind(|kernel| kernel.compiler == "nvcc 12.4.131").unwrap();
    (kernel.clone(), fs::read_dir(folder).unwrap().next().is_none())
}

#[test]
fn nvcc_compiles_where_the_lock_builds() {
    let script = "[ \"$1 $2 $3\" = '--cubin --gpu-architecture=sm_90 --output-file' ] && [ -s \"$5\" ] || exit 1\n\
                  case \"$TMPDIR\" in */gpuenv-*-0) cp \"$cubins/sm_90.cubin\" \"$out\" ;; *) exit 3 ;; esac";
    let Some(machine) = with_nvcc("nvcc-right", script) else { return };
    let (kernel, gone) = of_nvcc(machine);
    assert_eq!((kernel.code.as_str(), kernel.program.as_str(), gone), ("sm_90", "matmul", true));
    assert_eq!(kernel.outcome, Outcome::Right, "{kernel:?}");
    for (test, script, code, said) in [
        ("nvcc-refuses", "echo 'unsupported GNU version!' >&2; exit 1", Some(1), "unsupported GNU version!"),
        ("nvcc-other", "cp \"$cubins/sm_80.cubin\" \"$out\"", None, "asked for sm_90 it wrote sm_80"),
        ("nvcc-nothing", "exit 0", None, "it ended well and wrote no cubin: No such file or directory (os error 2)"),
        ("nvcc-garbage", "echo garbage >\"$out\"", None, "what it wrote is not a cubin"),
    ] {
        let (kernel, gone) = of_nvcc(with_nvcc(test, script).unwrap());
        let fault = kernel.fault.unwrap();
        assert_eq!((fault.at.as_str(), fault.code, fault.message.as_deref()), ("nvcc", code, Some(said)));
        assert!(gone, "{test}");
    }
}

#[test]
fn an_nvcc_that_hangs_is_ended_and_leaves_nothing() {
    let Some(machine) = with_nvcc("nvcc-hangs", "sleep 600 & sleep 600") else { return };
    let began = Instant::now();
    let (kernel, gone) = of_nvcc(machine.set("GPUENV_PROBE_LIMIT_MS", "1500"));
    assert!(kernel.fault.unwrap().message.unwrap().contains("in nvcc 12.4.131 to sm_90"));
    assert!(gone && began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn the_locked_nvrtc_compiles_where_it_is() {
    let wheel = std::env::var_os("GPUENV_TEST_NVRTC").map(|folder| PathBuf::from(folder).join("12.4.127"));
    let path = wheel.map(|wheel| wheel.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12")).filter(|path| path.exists());
    let Some(path) = path else {
        println!("skipped: the_locked_nvrtc_compiles_where_it_is: no NVRTC 12.4.127 in GPUENV_TEST_NVRTC");
        return;
    };
    let library = Library {
        name: "nvrtc".into(),
        path: path.to_str().map(str::to_string),
        version: Version::parse("12.4").ok(),
        ..Library::default()
    };
    let Some(mut machine) = Machine::new(locked(), "", &["8.6"]) else { return };
    machine.record.libraries = vec![library.clone()];
    let record = machine.run();
    let compiled = record.kernels.iter().filter(|kernel| kernel.compiler == "nvrtc 12.4");
    let codes: Vec<String> = compiled.map(|kernel| format!("{} {}", kernel.code, kernel.program)).collect();
    let expected = ["sm_86", "sm_80", "compute_86"]
        .map(|code| ["saxpy", "reduce", "matmul"].map(|program| format!("{code} {program}")));
    assert_eq!(codes, expected.concat());
    assert!(record.kernels.iter().all(|kernel| kernel.outcome == Outcome::Right), "{record:?}");
    assert_eq!(record.kernels.last().unwrap().ptx_isa, Version::parse("8.4").ok());
    // A GPU that is newer than the compiler gets the newest PTX it can write.
    let Some(mut machine) = Machine::new(ProbeOptions { sass: vec![], ..locked() }, "", &["12.0"]) else { return };
    machine.record.libraries = vec![library];
    let record = machine.run();
    let told = told(&record);
    assert_eq!(told.last().unwrap(), "compute_90 ptx 8.4 matmul right");
    assert!(record.kernels.iter().all(|kernel| kernel.outcome == Outcome::Right), "{told:?}");
    assert!(record.kernels.iter().all(|kernel| kernel.compiler == "built-in" || kernel.code == "compute_90"));
}

#[test]
fn an_nvrtc_that_is_broken_costs_only_itself() {
    let lacking = "int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 4; return 0; }\n";
    let crash = "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n";
    for (test, source, how) in
        [("nvrtc-lacks", lacking, ProbeStatus::Done), ("nvrtc-crash", crash, ProbeStatus::Crashed)]
    {
        let Some(path) = fake::library_of(test, source, "libnvrtc.so.12") else { return };
        let library = Library { name: "nvrtc".into(), path: path.to_str().map(str::to_string), ..Library::default() };
        let Some(mut machine) = Machine::new(locked(), "", &["9.0"]) else { return };
        machine.record.libraries = vec![library];
        let record = machine.run();
        let (mine, theirs): (Vec<&Kernel>, Vec<&Kernel>) =
            record.kernels.iter().partition(|kernel| kernel.compiler == "built-in");
        assert!(mine.len() == 9 && mine.iter().all(|kernel| kernel.outcome == Outcome::Right), "{mine:?}");
        assert!(theirs.len() == 2 && theirs.iter().all(|kernel| kernel.outcome == Outcome::Failed), "{theirs:?}");
        assert_eq!(ended(&record).0, how);
    }
}
