//! The probes in real children, on drivers that are scripted (tests/fake) and on recorded files (tests/data/roots):
//! what hangs, crashes, lies or is missing costs its own answer and nothing else.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gpuenv::host::{ApiError, Libcuda, Nvml, ProbeStatus, Record, System};
use gpuenv::probe::{Depth, Look, ProbeContext, ProbeOptions, curesult, hold, libcuda, nvml, observe, search_path};
use gpuenv::report::schema;
use serde_json::Value;

use crate::common::sandbox::Sandbox;
use crate::common::{fake, validate};

/// The variable with the fake libraries' script.
const SCRIPT: &str = "GPUENV_FAKE";

/// Folders with the fake driver libraries, built once.
struct Drivers {
    new: PathBuf,
    old: PathBuf,
}

fn drivers() -> Option<&'static Drivers> {
    static BUILT: OnceLock<Option<Drivers>> = OnceLock::new();
    let build = || {
        let of = |options: &[&str], name: &str| {
            let nvml =
                fake::library_with(&format!("probe-nvml-{name}"), Path::new("nvml.c"), "libnvidia-ml.so.1", options)?;
            let cuda = fake::library_with(&format!("probe-cuda-{name}"), Path::new("cuda.c"), "libcuda.so.1", options)?;
            let folder = fake::folder(&format!("probe-{name}"));
            for file in [nvml, cuda] {
                fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
            }
            Some(folder)
        };
        Some(Drivers { new: of(&[], "new")?, old: of(&["-DOLD"], "old")? })
    };
    BUILT.get_or_init(build).as_ref()
}

/// A context with a driver's folder in LD_LIBRARY_PATH and a script; no child may take longer than `millis`.
fn context(folder: &Path, script: &[u8], millis: u64) -> ProbeContext {
    let environment: Vec<(OsString, OsString)> = vec![
        ("LD_LIBRARY_PATH".into(), folder.into()),
        (SCRIPT.into(), OsStr::from_bytes(script).into()),
        ("GPUENV_PROBE_LIMIT_MS".into(), millis.to_string().into()),
    ];
    let options = ProbeOptions { depth: Depth::Quick, trust: true, ..ProbeOptions::default() };
    ProbeContext { options, root: "/".into(), program: env!("CARGO_BIN_EXE_gpuenv").into(), environment }
}

/// What one probe writes.
fn looked(look: Look, context: &ProbeContext) -> Record {
    let mut record = Record::default();
    look(context, &mut record);
    record
}

/// Long enough for any child that is going to answer on a machine with much else to do.
const PATIENCE: u64 = 20_000;

fn nvml_says(script: &str) -> Option<(Nvml, ProbeStatus, String)> {
    let record = looked(nvml::look, &context(&drivers()?.new, script.as_bytes(), PATIENCE));
    let probe = record.probes.into_iter().next().unwrap();
    Some((record.nvml.unwrap(), probe.ended, probe.detail.unwrap_or_default()))
}

fn cuda_says(script: &str) -> Option<(Libcuda, ProbeStatus, String)> {
    let record = looked(libcuda::look, &context(&drivers()?.new, script.as_bytes(), PATIENCE));
    let probe = record.probes.into_iter().next().unwrap();
    Some((record.libcuda.unwrap(), probe.ended, probe.detail.unwrap_or_default()))
}

fn fault(at: &str, code: i64, name: Option<&str>) -> Option<ApiError> {
    Some(ApiError { at: at.to_string(), code: Some(code), name: name.map(str::to_string), message: None })
}

fn text<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_healthy_driver_tells_everything() {
    let Some((nvml, ended, _)) = nvml_says("") else { return };
    assert_eq!(ended, ProbeStatus::Done);
    assert_eq!(
        (text(&nvml.driver), text(&nvml.cuda), nvml.count, &nvml.fault),
        ("550.54.15".into(), "12.4".into(), Some(1), &None)
    );
    assert_eq!(text(&nvml.found_by), "LD_LIBRARY_PATH");
    let gpu = &nvml.gpus[0];
    assert_eq!(text(&gpu.name), "NVIDIA H100 NVL");
    assert_eq!(text(&gpu.uuid), "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
    assert_eq!(text(&gpu.pci), "0000:65:00.0");
    assert_eq!(text(&gpu.brand), "nvidia");
    assert_eq!(text(&gpu.compute_capability), "9.0");
    assert_eq!((gpu.memory, gpu.memory_used, gpu.processes), (Some(94 << 30), Some(1 << 30), Some(2)));
    assert_eq!(
        (text(&gpu.compute_mode), text(&gpu.virtualization), text(&gpu.fabric)),
        ("default".into(), "none".into(), "completed".into())
    );
    assert_eq!((gpu.persistence, gpu.mig, gpu.confidential_ready, &gpu.fault), (Some(true), Some(false), None, &None));

    let (cuda, ended, _) = cuda_says("devices=2,cc=86").unwrap();
    assert_eq!((ended, &cuda.fault, text(&cuda.cuda)), (ProbeStatus::Done, &None, "12.4".into()));
    assert_eq!((cuda.stub, cuda.compat, cuda.devices.len()), (Some(false), Some(false), 2));
    let device = &cuda.devices[1];
    assert_eq!((text(&device.name), text(&device.pci)), ("Fake GPU 1".into(), "0000:66:00.0".into()));
    assert_eq!(text(&device.uuid), "GPU-11111111-1111-1111-1111-111111111111");
    assert_eq!(
        (text(&device.compute_capability), device.memory, device.integrated),
        ("8.6".into(), Some(80 << 30), Some(false))
    );
}

#[test]
fn states_of_a_gpu_are_told() {
    let script = "mig=1,instances=5,mode=3,virtualization=2,persistence=0,fabric=2,confidential=1,ready=0,brand=15";
    let Some((nvml, ended, _)) = nvml_says(script) else { return };
    assert_eq!(ended, ProbeStatus::Done);
    let gpu = &nvml.gpus[0];
    assert_eq!(gpu.mig, Some(true));
    let instances: Vec<String> =
        gpu.instances.iter().map(|one| format!("{} {:?}", text(&one.profile), one.memory)).collect();
    assert_eq!(instances, vec![format!("1g.12gb {:?}", Some(12u64 << 30)); 3]);
    assert!(text(&gpu.instances[0].uuid).starts_with("MIG-1111"));
    assert_eq!((text(&gpu.compute_mode), text(&gpu.virtualization)), ("exclusive-process".into(), "vgpu".into()));
    assert_eq!(
        (gpu.persistence, text(&gpu.fabric), gpu.confidential_ready),
        (Some(false), "in-progress".into(), Some(false))
    );
    assert_eq!(text(&gpu.brand), "geforcertx");
    assert_eq!((text(&gpu.licence), gpu.remapping_pending), ("licensed".into(), None));
    let (nvml, ..) = nvml_says("count=2,faulty=1,pending=1,unreplaced=1,recovery=4").unwrap();
    let told: Vec<_> =
        nvml.gpus.iter().map(|gpu| (gpu.remapping_pending, gpu.remapping_failed, text(&gpu.recovery))).collect();
    let sound = (Some(false), Some(false), String::new());
    assert_eq!(told, [sound, (Some(true), Some(true), "drain-and-reset".into())]);
    // What cannot be asked of health is no fault.
    let script = "nvmlDeviceGetRemappedRows=999,nvmlDeviceGetFieldValues=999,nvmlDeviceGetGridLicensableFeatures=999";
    let (nvml, ..) = nvml_says(script).unwrap();
    assert_eq!((&nvml.gpus[0].fault, nvml.gpus[0].remapping_failed), (&None, None));
    // Words of a driver that is newer than this program are left out.
    let (nvml, ..) = nvml_says("mode=77,virtualization=77,fabric=77,brand=77,persistence=7").unwrap();
    let gpu = &nvml.gpus[0];
    assert_eq!([&gpu.compute_mode, &gpu.virtualization, &gpu.fabric, &gpu.brand], [&None; 4]);
    assert_eq!((gpu.persistence, &gpu.fault, text(&gpu.name)), (None, &None, "NVIDIA H100 NVL".into()));
    // A registration that has ended, badly.
    let (nvml, ..) = nvml_says("fabric_status=999").unwrap();
    assert_eq!((&nvml.gpus[0].fault, text(&nvml.gpus[0].fabric)), (&None, "failed (NVML_ERROR_UNKNOWN)".into()));
    // Older drivers are known to crash when they are asked for the fabric.
    let (nvml, ended, _) = nvml_says("driver=535.183.01,nvmlDeviceGetGpuFabricInfoV=crash").unwrap();
    assert_eq!((ended, &nvml.gpus[0].fabric), (ProbeStatus::Done, &None));
}

#[test]
fn every_code_of_cuda_is_told_with_its_name() {
    if drivers().is_none() {
        return;
    }
    let known: Vec<i32> = (1..=1_000).filter(|code| curesult::name(*code).is_some()).collect();
    assert!(known.len() > 90, "{}", known.len());
    for code in known.into_iter().chain([-1, 35, 77, i32::MIN, i32::MAX]) {
        let (cuda, ended, _) = cuda_says(&format!("cuInit={code}")).unwrap();
        assert_eq!((ended, &cuda.fault), (ProbeStatus::Done, &fault("cuInit", code.into(), curesult::name(code))));
        assert_eq!((text(&cuda.cuda), cuda.stub), ("12.4".into(), Some(code == 34)));
    }
}

#[test]
fn every_code_of_nvml_is_told_with_its_name() {
    if drivers().is_none() {
        return;
    }
    for code in (1..=32).chain([999, 77, i32::MAX]) {
        let (nvml, ended, _) = nvml_says(&format!("nvmlInit={code}")).unwrap();
        let told = nvml.fault.unwrap();
        assert_eq!((ended, told.at.as_str(), told.code), (ProbeStatus::Done, "nvmlInit_v2", Some(code.into())));
        let named = told.name.is_some_and(|name| name.starts_with("NVML_ERROR_"));
        assert_eq!(named, code <= 30 || code == 999, "{code}");
        // The CUDA version can be told without a driver.
        assert_eq!(text(&nvml.cuda), "12.4");
    }
}

#[test]
fn a_gpu_that_fails_spoils_no_other_answer() {
    let Some((nvml, ended, _)) = nvml_says("count=2,nvmlDeviceGetMemoryInfo=15,nvmlDeviceGetName=3") else { return };
    assert_eq!(ended, ProbeStatus::Done);
    assert_eq!(nvml.gpus.len(), 2);
    let gpu = &nvml.gpus[1];
    assert_eq!(gpu.fault, fault("nvmlDeviceGetMemoryInfo", 15, Some("NVML_ERROR_GPU_IS_LOST")));
    assert_eq!((&gpu.name, gpu.memory, text(&gpu.compute_capability)), (&None, None, "9.0".into()));
    let (nvml, ..) = nvml_says("nvmlDeviceGetHandleByIndex=15").unwrap();
    assert_eq!(nvml.gpus[0].fault, fault("nvmlDeviceGetHandleByIndex_v2", 15, Some("NVML_ERROR_GPU_IS_LOST")));
    let (nvml, ..) = nvml_says("nvmlDeviceGetCount=999").unwrap();
    assert_eq!((nvml.fault, nvml.count), (fault("nvmlDeviceGetCount_v2", 999, Some("NVML_ERROR_UNKNOWN")), None));
    let (cuda, ..) = cuda_says("cuDeviceGetName=999,devices=2").unwrap();
    assert_eq!(cuda.devices[1].fault, fault("cuDeviceGetName", 999, Some("CUDA_ERROR_UNKNOWN")));
    assert_eq!(text(&cuda.devices[1].compute_capability), "9.0");
}

#[test]
fn nonsense_is_told_as_nonsense() {
    let Some((nvml, ended, _)) = nvml_says("count=4294967295") else { return };
    assert_eq!(ended, ProbeStatus::Done);
    assert_eq!((nvml.count, nvml.gpus.len()), (Some(4_294_967_295), 1_024));
    assert!(text(&nvml.fault.unwrap().message).contains("4294967295 GPUs"));
    let (nvml, ..) = nvml_says("cuda=34,driver=unknown,major=300,minor=-1").unwrap();
    assert_eq!((nvml.cuda, nvml.driver, nvml.gpus[0].compute_capability), (None, None, None));
    for version in ["34", "0", "-12040", "2147483647"] {
        let (cuda, ended, _) = cuda_says(&format!("cuda={version}")).unwrap();
        assert_eq!((ended, &cuda.cuda), (ProbeStatus::Done, &None));
        assert!(text(&cuda.fault.unwrap().message).contains(version), "{version}");
    }
    for (count, looked_at) in [("-1", 0), ("2147483647", 1_024)] {
        let (cuda, ended, _) = cuda_says(&format!("devices={count}")).unwrap();
        assert_eq!((ended, cuda.devices.len()), (ProbeStatus::Done, looked_at));
        assert!(text(&cuda.fault.unwrap().message).contains(count), "{count}");
    }
}

#[test]
fn a_stub_is_told_apart_by_its_folder_and_by_its_answer() {
    let Some(drivers) = drivers() else { return };
    let stubs = fake::folder("probe-stubs").join("lib64/stubs");
    fs::create_dir_all(&stubs).unwrap();
    fs::copy(drivers.new.join("libcuda.so.1"), stubs.join("libcuda.so.1")).unwrap();
    let mut context = context(&stubs, b"cuDriverGetVersion=34,cuInit=34", PATIENCE);
    let entries = std::env::join_paths([&stubs, &drivers.new]).unwrap();
    context.environment.push(("LD_LIBRARY_PATH".into(), entries));
    context.environment.remove(0);
    let cuda = looked(libcuda::look, &context).libcuda.unwrap();
    assert_eq!(
        (cuda.stub, cuda.cuda, cuda.fault),
        (Some(true), None, fault("cuInit", 34, Some("CUDA_ERROR_STUB_LIBRARY")))
    );
    assert_eq!(cuda.path.unwrap(), stubs.join("libcuda.so.1").canonicalize().unwrap().to_str().unwrap());
    assert_eq!(cuda.shadows[0].path, drivers.new.join("libcuda.so.1").canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn an_old_driver_tells_what_it_can() {
    let Some(drivers) = drivers() else { return };
    let context = context(&drivers.old, b"", PATIENCE);
    let record = looked(nvml::look, &context);
    let nvml = record.nvml.unwrap();
    // The wrapper begins with a function that this driver has not.
    let told = nvml.fault.unwrap();
    assert_eq!((told.at.as_str(), told.code, record.probes[0].ended), ("nvmlInit_v2", None, ProbeStatus::Done));
    assert!(text(&told.message).contains("no such function"));
    assert_eq!(text(&nvml.cuda), "12.4");
    let cuda = looked(libcuda::look, &context).libcuda.unwrap();
    let device = &cuda.devices[0];
    assert_eq!(
        (text(&device.name), &device.pci, &device.uuid, &device.fault),
        ("Fake GPU 0".into(), &None, &None, &None)
    );
}

/// Whatever a driver does, the probes end in time, say what happened, and keep what was known before.
#[test]
fn drivers_that_misbehave_cost_their_own_answer_only() {
    let Some(drivers) = drivers() else { return };
    // Few of these wait for their time to be up; the others get all the time they want.
    let cases: &[(&str, u64, ProbeStatus, &str)] = &[
        ("constructor=crash", PATIENCE, ProbeStatus::Crashed, "SIGSEGV in dlopen of "),
        ("constructor=abort", PATIENCE, ProbeStatus::Crashed, "SIGABRT in dlopen of "),
        ("constructor=exit", PATIENCE, ProbeStatus::Garbled, "without an answer in dlopen of "),
        ("constructor=flood", PATIENCE, ProbeStatus::Garbled, "more than 4 MiB in dlopen of "),
        ("constructor=hang", 1_500, ProbeStatus::TimedOut, "within 1.5s in dlopen of "),
        ("constructor=noise", PATIENCE, ProbeStatus::Done, ""),
        ("constructor=daemon", PATIENCE, ProbeStatus::Done, ""),
        ("destructor=hang", PATIENCE, ProbeStatus::Done, ""),
        ("destructor=crash", PATIENCE, ProbeStatus::Done, ""),
        ("nvmlInit=crash,cuInit=crash", PATIENCE, ProbeStatus::Crashed, "SIGSEGV in "),
        ("nvmlInit=stubborn,cuInit=stubborn", 1_500, ProbeStatus::TimedOut, "Init"),
        ("nvmlDeviceGetName=crash,cuDeviceGetName=crash", PATIENCE, ProbeStatus::Crashed, " 0 of "),
        ("nvmlDeviceGetUUID=hang,cuDeviceGetUuid=hang", 1_500, ProbeStatus::TimedOut, " 0 of "),
    ];
    for (script, limit, ended, detail) in cases {
        let began = Instant::now();
        let mut heard = Vec::new();
        let record = observe(&context(&drivers.new, script.as_bytes(), *limit), |name| heard.push(name.to_string()));
        assert!(began.elapsed() < Duration::from_secs(15), "{script}: {:?}", began.elapsed());
        for name in ["nvml", "libcuda"] {
            let probe = record.probes.iter().find(|probe| probe.name == name).unwrap();
            assert_eq!(probe.ended, *ended, "{script}: {probe:?}");
            assert!(text(&probe.detail).contains(detail), "{script}: {probe:?}");
            assert!(!text(&probe.detail).contains('\x1b'), "{script}: {probe:?}");
        }
        // Which file it was is known in any case, and that the machine has a kernel.
        assert!(text(&record.nvml.as_ref().unwrap().path).ends_with("libnvidia-ml.so.1"), "{script}");
        assert!(text(&record.libcuda.as_ref().unwrap().path).ends_with("libcuda.so.1"), "{script}");
        assert!(record.platform.kernel.is_some() && heard.contains(&"libcuda".to_string()), "{script}");
        if script.contains("DeviceGet") {
            assert_eq!(text(&record.nvml.unwrap().driver), "550.54.15", "{script}");
            assert_eq!(text(&record.libcuda.unwrap().cuda), "12.4", "{script}");
        }
    }
}

/// Every child starts all GPUs, so that one that is sick hides the others; asked one by one they answer.
#[test]
fn of_sixteen_gpus_the_sick_one_is_told_and_fifteen_compute() {
    let Some(drivers) = drivers() else { return };
    // What hangs takes its time, which a quick look has too little of on a busy machine.
    let cases = [("802", PATIENCE, Some(802), Depth::Quick), ("hang", 3_000, None, Depth::Usual)];
    for (sickness, limit, code, depth) in cases {
        let script = format!("devices=16,count=16,uuids=1,sick=5,sickness={sickness}");
        let mut context = context(&drivers.new, script.as_bytes(), limit);
        context.options.depth = depth;
        let record = observe(&context, |_| ());
        let libcuda = record.libcuda.as_ref().unwrap();
        assert_eq!(libcuda.devices.len(), 16, "{libcuda:?}");
        for device in &libcuda.devices {
            let fault = device.fault.as_ref();
            assert_eq!(fault.is_some(), device.ordinal == 5, "{device:?}");
            assert_eq!(fault.and_then(|fault| fault.code), code.filter(|_| device.ordinal == 5));
        }
        let computed: BTreeSet<u64> = record.kernels.iter().map(|kernel| kernel.device).collect();
        assert_eq!(computed, (0..16).filter(|device| *device != 5).collect(), "{sickness}");
    }
}

/// CUDA lists one instance of MIG; every one of them is asked and computes.
#[test]
fn every_instance_of_mig_computes() {
    let Some(drivers) = drivers() else { return };
    let record = observe(&context(&drivers.new, b"mig=1,instances=5", PATIENCE), |_| ());
    let devices = &record.libcuda.as_ref().unwrap().devices;
    let alone: Vec<_> = devices.iter().filter(|device| device.visible_as.is_some()).collect();
    assert_eq!(alone.len(), 3, "{devices:?}");
    assert!(alone.iter().all(|device| device.uuid == device.visible_as && text(&device.name).contains(" MIG ")));
    assert_eq!(record.kernels.len(), devices.len());
    // Whoever has said what is visible gets that.
    let mut context = context(&drivers.new, b"mig=1,instances=5", PATIENCE);
    context.environment.push(("CUDA_VISIBLE_DEVICES".into(), "0".into()));
    assert_eq!(observe(&context, |_| ()).libcuda.unwrap().devices.len(), 1);
}

#[test]
fn a_quick_look_keeps_its_five_seconds_and_a_limit_can_be_set() {
    let Some(drivers) = drivers() else { return };
    for script in
        ["nvmlInit=stubborn,cuInit=stubborn", "cuInit=stubborn,count=8,uuids=1,devices=8", "cuCtxSynchronize=hang"]
    {
        let began = Instant::now();
        observe(&context(&drivers.new, script.as_bytes(), 60_000), |_| ());
        assert!(began.elapsed() < Duration::from_secs(5), "{script}: {:?}", began.elapsed());
    }
    let mut patient = context(&drivers.new, b"cuInit=hang", 60_000);
    patient.options.limit = Some(Duration::from_secs(1));
    let detail = looked(libcuda::look, &patient).probes[0].detail.clone();
    assert!(text(&detail).contains("no answer within 1s in cuInit of "), "{detail:?}");
}

/// Only a call that had its full time is silent; how a child that looks at one GPU ended is told of that GPU.
#[test]
fn a_call_is_to_blame_for_its_own_time_only() {
    let Some(drivers) = drivers() else { return };
    let name = |script: &str, limit: u64| {
        let record = observe(&context(&drivers.new, script.as_bytes(), limit), |_| ());
        let of_device = record.libcuda.unwrap().devices.into_iter().find_map(|device| device.fault);
        let of_kernel = record.kernels.into_iter().find_map(|kernel| kernel.fault);
        of_device.or(of_kernel).and_then(|fault| fault.name)
    };
    assert_eq!(name("cuCtxSynchronize=hang", 2_000).as_deref(), Some("ETIMEDOUT"));
    // A quick look has less time than a call needs to be called silent.
    assert_eq!(name("cuCtxSynchronize=hang", PATIENCE).as_deref(), Some("ECANCELED"));
    for (sickness, wanted) in [("crash", "SIGSEGV"), ("exit", "EPROTO")] {
        let script = format!("devices=4,count=4,uuids=1,sick=2,sickness={sickness}");
        assert_eq!(name(&script, PATIENCE).as_deref(), Some(wanted));
    }
}

#[test]
fn the_nodes_are_held_open_and_let_go() {
    let folder = fake::folder("probe-hold");
    let file = folder.join("nvidia0");
    fs::write(&file, "").unwrap();
    let context = context(&folder, b"", PATIENCE);
    let held = hold::hold(&context, &[file.to_str().unwrap().to_string()]);
    let process = held.process().unwrap();
    let is_open = || {
        let links = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        links.filter_map(|link| fs::read_link(link.path()).ok()).any(|path| path == file)
    };
    let until = Instant::now() + Duration::from_secs(10);
    while !is_open() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_open());
    drop(held);
    assert!(!is_open() && !Path::new(&format!("/proc/{process}/fd/0")).exists());
}

/// What the loader says is kept: which library is missing, or that the file is none for this machine.
#[test]
fn the_loaders_own_words_are_told() {
    let source = "int other(void);\nint cuInit(unsigned flags) { (void)flags; return other(); }\n";
    let Some(other) = fake::library_of("probe-other", "int other(void) { return 0; }\n", "libother.so.7") else {
        return;
    };
    let folder = fake::folder("probe-needs");
    let file = folder.join("needs.c");
    fs::write(&file, source).unwrap();
    let out = folder.join("libcuda.so.1");
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&out).arg(&file);
    let built = built.arg("-L").arg(other.parent().unwrap()).arg("-l:libother.so.7").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = looked(libcuda::look, &context(&folder, b"", PATIENCE)).libcuda.unwrap().fault.unwrap();
    assert!(text(&told.message).contains("libother.so.7: cannot open shared object file"), "{told:?}");
}

#[test]
fn texts_of_drivers_are_made_plain() {
    let Some(drivers) = drivers() else { return };
    let plain = |script: &[u8]| {
        let record = observe(&context(&drivers.new, script, PATIENCE), |_| ());
        let json = serde_json::to_string(&record).unwrap();
        assert!(!json.contains("\\u001b") && !json.contains("\\u0000"), "{json}");
        (text(&record.nvml.unwrap().gpus[0].name), text(&record.libcuda.unwrap().devices[0].name))
    };
    assert_eq!(
        plain(b"name=\xff\xfe\x1b[2Jx"),
        ("\u{fffd}\u{fffd}\u{fffd}[2Jx".into(), "\u{fffd}\u{fffd}\u{fffd}[2Jx".into())
    );
    let (nvml, cuda) = plain(b"name=endless,uuid=endless");
    assert_eq!((nvml.len(), cuda.len()), (96, 255));
}

#[test]
fn files_that_are_no_library_are_told() {
    let folder = fake::folder("probe-files");
    let file = folder.join("libcuda.so.1");
    let look = |limit| {
        let record = looked(libcuda::look, &context(&folder, b"", limit));
        (record.libcuda.unwrap_or_default(), record.probes[0].clone())
    };
    for content in ["", "not a library", "\x7fELF"] {
        fs::write(&file, content).unwrap();
        let (cuda, probe) = look(PATIENCE);
        let told = cuda.fault.unwrap();
        assert_eq!((told.at.as_str(), probe.ended), ("dlopen", ProbeStatus::Done), "{content:?}");
        assert!(told.message.is_some() && cuda.path.is_some());
    }
    // The loader passes over one of 32 bits, and says so where there is no other.
    let mut head = b"\x7fELF\x01\x01\x01".to_vec();
    head.resize(64, 0);
    fs::write(&file, &head).unwrap();
    let (cuda, _) = look(PATIENCE);
    let words = cuda.fault.and_then(|fault| fault.message);
    assert!(cuda.path.is_some() || text(&words) == "libcuda.so.1: wrong ELF class: ELFCLASS32", "{words:?}");
    // A pipe that nobody writes into hangs whoever opens it: the loader here.
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(look(1_500).1.ended, ProbeStatus::TimedOut);
    fs::remove_file(&file).unwrap();
    // A link that leads nowhere is no library: the search goes on.
    symlink("/nonexistent", &file).unwrap();
    let (cuda, probe) = look(PATIENCE);
    assert!(probe.ended == ProbeStatus::Absent || cuda.path.is_some_and(|path| !path.contains("probe-files")));
}

#[test]
fn root_loads_nothing_that_others_can_change() {
    let Some(drivers) = drivers() else { return };
    if !search_path::is_root() {
        println!("skipped: root_loads_nothing_that_others_can_change: not root");
        return;
    }
    let folder = fake::folder("probe-open");
    fs::copy(drivers.new.join("libcuda.so.1"), folder.join("libcuda.so.1")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let mut context = context(&folder, b"constructor=crash", PATIENCE);
    context.options.trust = false;
    let record = looked(libcuda::look, &context);
    let probe = &record.probes[0];
    assert_eq!(probe.ended, ProbeStatus::Refused, "{probe:?}");
    assert!(text(&probe.detail).contains("can be changed by users other than root"), "{probe:?}");
    assert!(record.libcuda.unwrap().path.is_some());
    context.environment.push(("GPUENV_TRUST_LIBRARY_PATH".into(), "1".into()));
    assert_eq!(looked(libcuda::look, &context).probes[0].ended, ProbeStatus::Crashed);
}

#[test]
fn a_program_that_cannot_start_is_told() {
    let mut context = context(Path::new("/nonexistent"), b"", PATIENCE);
    context.program = "/nonexistent/gpuenv".into();
    let record = observe(&context, |_| ());
    let probe = record.probes.iter().find(|probe| probe.name == "nvml").unwrap();
    assert_eq!(probe.ended, ProbeStatus::Failed);
    assert!(text(&probe.detail).contains("could not be started"), "{probe:?}");
}

/// The record in the schema's words.
#[track_caller]
fn fits(document: &Value) {
    let known: Value = serde_json::from_str(&schema::find("host").unwrap().text()).unwrap();
    let wrong = validate::errors(&known, document);
    assert!(wrong.is_empty(), "{wrong:#?}\n{document:#}");
}

#[test]
fn the_command_prints_and_writes_the_record() {
    let Some(drivers) = drivers() else { return };
    let sandbox = Sandbox::new("probe", "");
    let variables = [
        ("LD_LIBRARY_PATH", drivers.new.to_str().unwrap()),
        ("CUDA_VISIBLE_DEVICES", "GPU-8932f937"),
        (SCRIPT, "name=\x1b[31mH100,mig=1"),
        ("COLUMNS", "100"),
    ];
    let args = ["probe", "--quick", "--trust-library-path", "--anonymous", "-o", "host.json"];
    let ran = sandbox.with(&args, &variables).exits(0).says("wrote host.json");
    let ran = ran.tells("libcuda").tells("CUDA 12.4").tells("GPU 0").tells("[31mH100").tells("MIG 1g.12gb");
    assert!(!ran.out.contains('\x1b'), "{}", ran.out);
    let written = fs::read_to_string(sandbox.path("host.json")).unwrap();
    let document: Value = serde_json::from_str(&written).unwrap();
    fits(&document);
    assert!(!written.contains("8932f937"), "{written}");
    let visible = document["environment"]["CUDA_VISIBLE_DEVICES"].as_str().unwrap();
    let uuid = document["nvml"]["gpus"][0]["uuid"].as_str().unwrap();
    assert!(uuid.starts_with(visible) && uuid.ends_with("-0000-0000-0000-000000000000"), "{visible} {uuid}");

    let json = sandbox.with(&["probe", "--quick", "--trust-library-path", "--format", "json"], &variables).exits(0);
    let document: Value = serde_json::from_str(&json.out).unwrap();
    fits(&document);
    assert_eq!((json.err.as_str(), &document["format"]), ("", &Value::from(1)));
    sandbox.run(&["probe", "--quick", "--full"]).exits(2);
    sandbox.run(&["probe", "--root", "nowhere"]).exits(2).says("not a folder");
    sandbox.run(&["probe", "--quick", "-o", "no/such/folder"]).exits(4);
}

#[test]
fn a_machine_without_a_driver_is_looked_at_quickly() {
    let sandbox = Sandbox::new("probe-bare", "");
    let began = Instant::now();
    let (code, document) = sandbox.json(&["probe", "--quick"]);
    assert_eq!(code, 0);
    fits(&document);
    assert!(document["platform"]["kernel"].is_string() && document["probes"].as_array().unwrap().len() >= 5);
    if document["libcuda"]["fault"]["name"] == "ENOENT" {
        assert_eq!(document["nodes"][0]["errno"], "ENOENT");
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}

#[test]
fn a_compat_package_is_known_by_its_note() {
    // The note as the package has it: lengths, type, owner, JSON.
    let source = r#"
        __attribute__((section(".note.cuda.fwd_compatibility"), used, aligned(4))) static const struct {
          unsigned owner_size, text_size, type;
          char owner[20], text[80];
        } note = {19, 80, 1, "NVIDIA Corporation",
                  "{\"Format\": \"1.0\", \"CUDA Version\": \"12.4\", \"Driver\": [470, 525, 535]}"};
    "#;
    let Some(library) = fake::library_of("probe-note", source, "libcuda.so.550.54.15") else { return };
    let root = fake::folder("probe-compat");
    let folder = root.join("usr/local/cuda-12.4/compat");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(&library, folder.join("libcuda.so.550.54.15")).unwrap();
    symlink("libcuda.so.550.54.15", folder.join("libcuda.so.1")).unwrap();
    symlink("/usr/local/cuda-12.4", root.join("usr/local/cuda")).unwrap();
    let context = ProbeContext { root, ..ProbeContext::here(ProbeOptions::default()).unwrap() };
    let packages = looked(libcuda::look, &context).compat;
    assert_eq!(packages.len(), 1, "{packages:?}");
    assert_eq!(packages[0].path, "/usr/local/cuda-12.4/compat/libcuda.so.550.54.15");
    assert_eq!((text(&packages[0].cuda), text(&packages[0].file_version)), ("12.4".into(), "550.54.15".into()));
    assert_eq!(packages[0].branches, [470, 525, 535]);
    // A driver's own libcuda may hold the note as well, as on an H100 with driver 580.159.04: it is of the module's release.
    let own = context.root.join("usr/lib/x86_64-linux-gnu");
    let module = context.root.join("sys/module/nvidia");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(&module).unwrap();
    fs::copy(&library, own.join("libcuda.so.550.54.15")).unwrap();
    symlink("libcuda.so.550.54.15", own.join("libcuda.so.1")).unwrap();
    for (release, is_compat) in [("550.54.15", false), ("535.183.01", true)] {
        fs::write(module.join("version"), release).unwrap();
        let libcuda = observe(&context, |_| ()).libcuda.unwrap();
        assert_eq!(text(&libcuda.file_version), "550.54.15", "{libcuda:?}");
        assert_eq!(libcuda.compat, Some(is_compat), "beside module {release}");
    }
}

/// Recorded files of another machine: what they say, and nothing of this machine.
#[test]
fn another_root_is_another_machine() {
    let roots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/roots");
    let look = |name: &str| {
        let options = ProbeOptions { depth: Depth::Quick, ..ProbeOptions::default() };
        let context = ProbeContext { root: roots.join(name), ..ProbeContext::here(options).unwrap() };
        let record = observe(&context, |_| ());
        fits(&serde_json::to_value(&record).unwrap());
        assert!(record.environment.is_empty() && record.platform.root.is_none());
        record
    };
    // An unattended upgrade: the module is of the old driver, the libraries are of the new one.
    let upgraded = look("upgraded");
    let module = upgraded.module.unwrap();
    assert_eq!(
        (text(&module.version), text(&module.flavour), module.uvm),
        ("550.54.14".into(), "open".into(), Some(true))
    );
    assert_eq!(text(&upgraded.nvml.unwrap().file_version), "550.54.15");
    assert_eq!(text(&upgraded.libcuda.unwrap().file_version), "550.54.15");
    assert_eq!((text(&upgraded.platform.os), text(&upgraded.platform.arch)), ("ubuntu22.04".into(), "x86_64".into()));
    assert_eq!(upgraded.pci[0].driver.as_deref(), Some("nvidia"));
    assert!(upgraded.nodes.iter().all(|node| node.errno.is_none()), "{:?}", upgraded.nodes);
    // nouveau holds the GPU, and no driver is installed.
    let nouveau = look("nouveau");
    assert_eq!((nouveau.module.unwrap().nouveau, nouveau.nvml, nouveau.libcuda), (Some(true), None, None));
    assert_eq!(nouveau.pci[0].driver.as_deref(), Some("nouveau"));
    assert_eq!(nouveau.nodes[0].errno.as_deref(), Some("ENOENT"));
    // WSL: no module, no nodes but one, libraries of Windows.
    let wsl = look("wsl");
    assert_eq!((wsl.platform.system, wsl.nodes[0].path.as_str()), (Some(System::Wsl), "/dev/dxg"));
    assert_eq!(text(&look("jetson").platform.system.map(|system| format!("{system:?}"))), "Tegra");
}

/// The script for machines with GPUs, on a driver that is scripted: what it says there, it says for a reason.
#[test]
fn the_script_for_gpu_hosts_tells_right_from_wrong() {
    let Some(drivers) = drivers() else { return };
    let report = fake::folder("probe-gpu-host");
    let run = |library_path: &Path, script: &str| {
        let mut command = Command::new("bash");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu-host.sh")).arg(&report);
        command.env("GPUENV", env!("CARGO_BIN_EXE_gpuenv")).env("GPUENV_TRUST_LIBRARY_PATH", "1");
        command.env("LD_LIBRARY_PATH", library_path).env(SCRIPT, script);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = run(&drivers.new, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("everything as expected") && said.matches("\nok ").count() >= 8, "{said}");
    let (code, said) = run(&drivers.new, "reduce=wrong");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("UNEXPECTED matching "), "{said}");
    let (code, said) = run(Path::new("/nowhere"), "");
    assert_eq!(code, Some(3), "{said}");
}

/// torch with two GPUs of whole numbers, of which one link may change what it carries.
const TORCH: &str = r#"
import types, sys
BROKEN = sys.argv[1:]
__version__ = "2.5.1+cu124"
version = types.SimpleNamespace(cuda="12.4")
class T(list):
    def __new__(cls, *a): return list.__new__(cls)
    where = None
    def float(self): return self
    double = long = round = cpu = float
    def to(self, where):
        moved = T(self); moved.where = where
        if self.where and where != self.where and "copy" in BROKEN: moved[0] += 1
        return moved
    def reshape(self, *a): return self
    def __mod__(self, n): return self
    def __matmul__(self, other): return T(self)
def arange(n): return T(range(n))
def full(shape, value): return T([value] * shape[0])
def equal(a, b): return list(a) == list(b)
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=lambda image, weight: T(image)))
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 90100))
def all_reduce(parts):
    if "nccl" in BROKEN: raise RuntimeError("unhandled system error")
    total = [sum(column) for column in zip(*parts)]
    for part in parts: part[:] = total
cuda = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 2, get_arch_list=lambda: ["sm_90"],
    nccl=types.SimpleNamespace(version=lambda: (2, 21, 5), all_reduce=all_reduce))
_C = types.SimpleNamespace()
"#;

#[test]
fn copies_and_the_all_reduce_between_gpus_are_tried() {
    let folder = fake::folder("probe-torch");
    fs::write(folder.join("torch.py"), TORCH).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/probe/torch.py");
    let run = |broken: &str| -> Value {
        let head = format!("import sys; sys.path.insert(0, {:?}); exec(open({:?}).read())", folder, script);
        let output = Command::new("python3").args(["-c", &head, broken]).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let last = out.lines().filter_map(|line| line.strip_prefix("gpuenv=")).next_back();
        serde_json::from_str(last.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))).unwrap()
    };
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: copies_and_the_all_reduce_between_gpus_are_tried: no python3");
        return;
    }
    let sound = run("");
    assert_eq!((&sound["copied"], &sound["reduced"]), (&true.into(), &true.into()), "{sound:#}");
    let copy = run("copy");
    assert_eq!(copy["copied"], Value::from(false), "{copy:#}");
    assert!(copy["messages"].to_string().contains("a copy from GPU 0 to GPU 1 arrives changed"), "{copy:#}");
    let nccl = run("nccl");
    assert_eq!((&nccl["copied"], &nccl["reduced"]), (&true.into(), &false.into()), "{nccl:#}");
}

/// Programs that are not ours have groups of their own, which neither Ctrl-C nor `kill` reaches: gpuenv ends them with itself.
#[test]
fn programs_end_when_gpuenv_is_ended() {
    let sandbox = Sandbox::new("ended", "[stack]\ntorch = \"2.5.1\"\n[target.a]\ngpu = \"A100\"\n");
    sandbox.run(&["lock"]).exits(0);
    let write = |name: &str, script: &str| {
        let path = sandbox.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    // One that is a shell has a child of its own, which the kernel alone does not end.
    write("shell", "sleep 60 & echo $! > \"$0.pid.tmp\"; mv \"$0.pid.tmp\" \"$0.pid\"; wait");
    write("direct", "echo $$ > \"$0.pid.tmp\"; mv \"$0.pid.tmp\" \"$0.pid\"; exec sleep 60");
    let cases = [("direct", "INT"), ("direct", "KILL"), ("shell", "INT"), ("shell", "TERM"), ("shell", "HUP")];
    for (program, signal) in cases {
        let told = sandbox.path(&format!("{program}.pid"));
        let _ = fs::remove_file(&told);
        let mut run = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        run.current_dir(sandbox.path("")).args(["verify", "--python"]).arg(sandbox.path(program));
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
        until(|| told.exists(), "it is started");
        let pid = fs::read_to_string(&told).unwrap();
        assert!(Command::new("kill").args([&format!("-{signal}"), &run.id().to_string()]).status().unwrap().success());
        let status = run.wait().unwrap();
        assert!(!status.success(), "{program} {signal}: {status}");
        // A zombie is over, too, whoever is to bury it.
        let is_over = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with(['Z', 'X']))
        };
        until(is_over, &format!("{program} is gone after {signal}"));
    }
}

/// Waits for what comes at once.
fn until(is_so: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "not yet: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Where no thread can be started (`ulimit -u`, `pids.max`) its work is done in the same one.
#[test]
fn where_no_thread_can_be_started_there_is_an_answer() {
    let sandbox = Sandbox::new("threads", "[stack]\ntorch = \"2.5.1\"\n[target.a]\ngpu = \"A100\"\n");
    sandbox.run(&["lock"]).exits(0);
    let own = env!("CARGO_BIN_EXE_gpuenv");
    let run = |args: &[&str]| {
        // Root may start as many as it likes.
        let other = ["--reuid=65531", "--regid=65531", "--clear-groups", "prlimit", "--nproc=1", own];
        Command::new("setpriv").args(other).args(args).current_dir(sandbox.path("")).env("HOME", "/nowhere").output()
    };
    if !run(&["--version"]).is_ok_and(|ran| ran.status.success()) {
        return;
    }
    for args in [&["lock", "--check"][..], &["probe"], &["verify", "--quick"]] {
        let ran = run(args).unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code().is_some_and(|code| code < 4) && !said.contains("bug"), "{args:?}: {ran:?}");
    }
}
