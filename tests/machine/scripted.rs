//! Faults that are scripted into the fake driver (tests/fake), seen by the probes in real children and judged: each with
//! the check that speaks of it, how that ends, who is to act, a word of the hint. What a number means is what cuda.h and
//! nvml.h say of it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gpuenv::host::{Record, curesult};
use gpuenv::lock::Lock;
use gpuenv::probe::{Depth, ProbeContext, ProbeOptions, observe};
use gpuenv::verify::{self, Against, Check, Status, Verdict};
use serde_json::{Value, json};

use crate::common::judge::{self, SPEC, healthy, lock, with, worst};
use crate::common::{fake, parallel};
use Status::{Fail, Pass, Unknown, Warn};

/// The folder with both fake libraries, built once. None: there is no C compiler.
fn driver() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let folder = fake::folder("scripted");
        for (source, name) in [("nvml.c", "libnvidia-ml.so.1"), ("cuda.c", "libcuda.so.1")] {
            let file = fake::library(&format!("scripted-{name}"), Path::new(source), name)?;
            std::fs::copy(file, folder.join(name)).unwrap();
        }
        Some(folder)
    };
    BUILT.get_or_init(build).as_deref()
}

/// The sound host of the tests, with what the probes see of a driver that is scripted like this.
fn host(folder: &Path, script: &str) -> Record {
    with_driver(&healthy(), folder, script, 20_000)
}

/// A host with what the probes see of such a driver, each within this time.
fn with_driver(host: &Value, folder: &Path, script: &str, millis: u32) -> Record {
    let script = format!("{script},uuids=1,cc=90,name=NVIDIA H100 NVL");
    let environment = vec![
        ("LD_LIBRARY_PATH".into(), folder.into()),
        ("GPUENV_FAKE".into(), script.into()),
        ("GPUENV_PROBE_LIMIT_MS".into(), millis.to_string().into()),
    ];
    let options = ProbeOptions { depth: Depth::Quick, trust: true, ..ProbeOptions::default() };
    let context = ProbeContext { options, root: "/".into(), program: env!("CARGO_BIN_EXE_gpuenv").into(), environment };
    let seen = observe(&context, |_| ());
    let mut host = judge::record(host);
    (host.nvml, host.libcuda, host.kernels) = (seen.nvml, seen.libcuda, seen.kernels);
    let of_driver = |name: &str| ["nvml", "libcuda", "kernels"].contains(&name);
    host.probes.retain(|probe| !of_driver(&probe.name));
    host.probes.extend(seen.probes.into_iter().filter(|probe| of_driver(&probe.name)));
    host
}

fn judged(lock: &Lock, host: &Record) -> Verdict {
    verify::judge(lock, "h100", host, &gpuenv::catalog::BUILTIN).unwrap()
}

/// What is wrong with a check, if anything is.
fn differs(verdict: &Verdict, (id, status, action, says): (&str, Status, &str, &str)) -> Option<String> {
    let of_id = verdict.checks.iter().filter(|check| check.id == id);
    let Some(check) = of_id.max_by_key(|check| check.status) else { return Some(format!("no check {id}")) };
    let hint = check.hint.clone().unwrap_or_default();
    let right = (check.status, check.action.as_str()) == (status, action) && hint.contains(says);
    (!right).then(|| format!("{id}: {:?} {} {hint:?}", check.status, check.action.as_str()))
}

#[rustfmt::skip]
#[test]
fn each_scripted_fault_has_its_own_words_and_action() {
    let Some(folder) = driver() else { return };
    let cases = [
        // CUDA that does not start.
        ("cuInit=3", "libcuda", Fail, "ask-admin", "nvidia_uvm"),
        ("cuInit=4", "libcuda", Unknown, "none", "shutting down"),
        ("cuInit=1", "libcuda", Fail, "ask-admin", "libraries again"),
        ("cuInit=201", "libcuda", Fail, "ask-admin", "libraries again"),
        ("cuInit=500", "libcuda", Fail, "ask-admin", "libraries again"),
        ("cuInit=12345", "libcuda", Fail, "ask-admin", "newer than this gpuenv"),
        ("cuInit=101", "libcuda", Fail, "ask-admin", "does not give out"),
        ("cuInit=101,mig=1,instances=0", "libcuda", Fail, "ask-admin", "nvidia-smi mig -cgi"),
        ("cuInit=216", "libcuda", Fail, "fix-environment", "holds the GPU alone"),
        ("cuInit=224", "libcuda", Fail, "fix-environment", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
        ("cuInit=916", "libcuda", Unknown, "ask-admin", "confidential computing"),
        ("cuDeviceGetCount=304", "libcuda", Fail, "ask-admin", "nvidia-modprobe"),
        ("cuDeviceGetAttribute=916", "gpu-usable", Unknown, "ask-admin", "confidential computing"),
        // Code that is loaded and run.
        ("cuDevicePrimaryCtxRetain=46", "kernel-native", Fail, "fix-environment", "nvidia-smi -c 0"),
        ("cuDevicePrimaryCtxRetain=2", "kernel-native", Fail, "fix-environment", "ulimit -v"),
        ("free=0,cuDevicePrimaryCtxRetain=2", "kernel-native", Unknown, "none", "memory is full"),
        ("sm_90=209", "kernel-native", Fail, "ask-admin", "own architecture"),
        ("cuModuleLoadDataEx=225", "kernel-native", Fail, "fix-environment", "one CUDA release"),
        ("cuModuleLoadDataEx=811", "kernel-native", Fail, "fix-environment", "CUDA_MPS_PIPE_DIRECTORY"),
        ("cuModuleGetFunction=913", "kernel-native", Fail, "ask-admin", "does not find a function"),
        ("cuLaunchKernel=912", "kernel-native", Fail, "ask-admin", "right elsewhere"),
        ("cuMemcpyDtoH_v2=709", "kernel-native", Fail, "ask-admin", "right elsewhere"),
        ("cuMemAlloc_v2=712", "kernel-native", Fail, "ask-admin", "right elsewhere"),
        ("saxpy=721", "kernel-native", Fail, "drain", "Xid"),
        ("saxpy=911", "kernel-native", Unknown, "ask-admin", "outside of CUDA"),
        ("saxpy=226", "kernel-native", Fail, "drain", "memory or links"),
        ("saxpy=214", "kernel-native", Fail, "drain", "memory or links"),
        ("saxpy=214,pending=1", "kernel-native", Fail, "reboot", "wait to be replaced"),
        ("saxpy=214,pending=1,unreplaced=1", "kernel-native", Fail, "drain", "memory or links"),
        // NVML that fails where CUDA computes.
        ("nvmlInit=999", "nvml", Warn, "ask-admin", "CUDA works"),
        ("nvmlInit=9", "nvml", Warn, "ask-admin", "CUDA works"),
        ("nvmlInit=8", "nvml", Warn, "ask-admin", "CUDA works"),
        ("nvmlInit=18", "driver-match", Warn, "ask-admin", "CUDA works"),
        ("nvmlDeviceGetCount=17", "nvml", Warn, "ask-admin", "CUDA works"),
        ("nvmlDeviceGetUUID=17", "gpu-health", Unknown, "ask-admin", "CUDA computes right"),
        ("nvmlDeviceGetMemoryInfo=15", "gpu-health", Fail, "drain", "fell off the bus"),
        // NVML and CUDA both.
        ("nvmlInit=27,cuInit=999", "nvml", Unknown, "none", "not ready yet"),
        ("nvmlInit=19,cuInit=999", "nvml", Unknown, "none", "change of its state"),
        ("nvmlInit=28,cuInit=100", "nvml", Fail, "ask-admin", "Xid"),
        ("nvmlInit=1,cuInit=999", "nvml", Fail, "ask-admin", "libraries again"),
        ("nvmlInit=29,cuInit=999", "nvml", Unknown, "ask-admin", "installed or unloaded"),
        // What the driver says of a GPU's health.
        ("pending=1", "gpu-health", Warn, "reboot", "nvidia-smi --gpu-reset"),
        ("unreplaced=1", "gpu-health", Warn, "drain", "exchanged"),
        ("recovery=1", "gpu-health", Fail, "reboot", "waits for a reset"),
        ("recovery=2", "gpu-health", Fail, "reboot", "system's state"),
        ("recovery=3", "gpu-health", Warn, "drain", "peer-to-peer"),
        ("recovery=4", "gpu-health", Fail, "drain", "no new work"),
        ("virtualization=2,licensed=0", "gpu-virtual", Warn, "ask-admin", "gridd.conf"),
        ("virtualization=2,licensed=0,cuDevicePrimaryCtxRetain=46", "kernel-native", Fail, "ask-admin", "licence"),
        // Children that do not end.
        ("constructor=crash", "libcuda", Unknown, "ask-admin", "crashed"),
        ("cuDeviceGetCount=exit", "libcuda", Unknown, "ask-admin", "did not answer"),
        ("nvmlDeviceGetName=crash", "nvml", Unknown, "ask-admin", "crashed"),
    ];
    let lock = lock(SPEC);
    let wrong = parallel::each(&cases, |&(script, id, status, action, says)| {
        let verdict = judged(&lock, &host(folder, script));
        differs(&verdict, (id, status, action, says)).map(|what| format!("{script} -> {what}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(cases.len() >= 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where a sandbox hides the card, a target for the CPU answers by itself only if the libraries say what they say without
/// a driver.
#[test]
fn a_driver_whose_card_is_hidden_is_no_host_without_one() {
    let Some(folder) = driver() else { return };
    let lock = lock(
        "[stack]\ntorch = \"2.5.1\"\n[target.h100]\ngpu = \"H100 NVL\"\n[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"\n",
    );
    let platform = json!({ "system": "linux", "arch": "x86_64", "os": "ubuntu22.04", "glibc": "2.35" });
    let nodes = json!([{ "path": "/dev/nvidiactl", "errno": "ENOENT" }]);
    let module = json!([{ "name": "module", "ended": "absent" }]);
    let hidden = json!({ "format": 1, "platform": platform, "nodes": nodes, "probes": module });
    let cases = [
        ("nvmlInit=18,cuInit=803", "h100", Fail),
        ("nvmlInit=999,cuInit=999", "h100", Fail),
        ("nvmlInit=9,cuInit=999", "h100", Fail),
        ("constructor=crash", "h100", Unknown),
        ("constructor=exit", "h100", Unknown),
        ("constructor=flood", "h100", Unknown),
        ("nvmlInit=9,cuInit=100", "ci", Pass),
    ];
    let wrong = parallel::each(&cases, |&(script, target, status)| {
        let host = with_driver(&hidden, folder, script, 20_000);
        let (best, _) = verify::best(&Against::new(&lock, &gpuenv::catalog::BUILTIN), &["ci", "h100"], false, &host)
            .expect("there are targets");
        let mut wrong =
            Vec::from_iter(((&*best.target, best.status) != (target, status)).then(|| format!("{best:#?}")));
        if target == "h100" {
            wrong.extend(differs(&best, ("driver-present", Unknown, "none", "see nvml and libcuda")));
            wrong.extend((worst(&best, "device-nodes").status != Status::Skip).then(|| "device-nodes".to_string()));
        }
        (!wrong.is_empty()).then(|| format!("{script}: {}", wrong.join(", ")))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the loader says of the driver's library is told, though nothing else is seen of a driver.
#[test]
fn a_libcuda_that_lacks_a_library_is_told_in_the_loaders_words() {
    let Some(needed) = fake::library_of("needed", "int needed(void) { return 1; }", "libneeded.so") else { return };
    let options = ["-Wl,--no-as-needed", needed.to_str().unwrap()];
    let Some(file) = fake::library_with("needs", Path::new("cuda.c"), "libcuda.so.1", &options) else { return };
    std::fs::remove_file(&needed).unwrap();
    let host = json!({ "format": 1, "platform": { "system": "linux", "arch": "x86_64", "container": "docker" }, "probes": [{ "name": "module", "ended": "absent" }] });
    let host = with_driver(&host, file.parent().unwrap(), "", 20_000);
    let verdict = judged(&lock(SPEC), &host);
    assert_eq!(differs(&verdict, ("driver-present", Unknown, "none", "see nvml and libcuda")), None);
    let check = worst(&verdict, "libcuda");
    assert!(check.found.as_ref().unwrap().contains("libneeded.so"), "{check:#?}");
    assert_eq!((check.status, check.action.as_str()), (Fail, "restart-container"), "{check:#?}");
}

/// One GPU of several that hangs has a row of its own, and no other sends anybody to a file system.
#[test]
fn a_gpu_that_hangs_among_others_is_drained() {
    let Some(folder) = driver() else { return };
    let lock = lock(SPEC);
    for (script, says) in
        [("1:cuDevicePrimaryCtxRetain=stubborn", "not onto this one"), ("1:saxpy=stubborn", "does not end on this GPU")]
    {
        let host = with_driver(&healthy(), folder, &format!("devices=2,count=2,{script}"), 2_000);
        let verdict = judged(&lock, &host);
        assert_eq!(differs(&verdict, ("kernel-native", Fail, "drain", says)), None, "{script}");
        let check = worst(&verdict, "kernel-native");
        assert!(check.gpu.as_ref().unwrap().starts_with("1: "), "{check:?}");
        let kernels = |check: &&Check| check.id == "probe" && check.found.as_ref().unwrap().starts_with("kernels");
        assert_eq!(verdict.checks.iter().find(kernels), None, "{script}");
    }
}

/// A quick look is promised to take five seconds, whichever of sixteen GPUs hangs.
#[test]
fn a_quick_look_at_sixteen_gpus_of_which_one_hangs_takes_five_seconds() {
    let Some(folder) = driver() else { return };
    for script in ["0:cuDevicePrimaryCtxRetain=stubborn", "7:saxpy=stubborn"] {
        let once = || {
            let began = Instant::now();
            let host = with_driver(&healthy(), folder, &format!("devices=16,count=16,{script}"), 20_000);
            (host, began.elapsed())
        };
        // Another test may hold the machine, but not each time.
        let mut runs = (0..3).map(|_| once()).skip_while(|(_, took)| *took >= Duration::from_secs(5));
        let (host, took) = runs.next().unwrap_or_else(once);
        assert!(took < Duration::from_secs(5), "{script}: {took:?}");
        let verdict = judged(&lock(SPEC), &host);
        let of_gpu = verdict.checks.iter().filter(|check| check.id == "kernel-native");
        assert_eq!(of_gpu.filter(|check| check.status == Pass).count(), 15, "{script}: {verdict:#?}");
        assert_eq!(differs(&verdict, ("kernel-native", Unknown, "none", "without `--quick`")), None, "{script}");
    }
}

/// A sound driver passes, and so does one whose NVML is not: nobody's GPU is at fault.
#[test]
fn nvml_alone_fails_no_host() {
    let Some(folder) = driver() else { return };
    let lock = lock(SPEC);
    // Nor does one that crashes where it is asked for a GPU's health, as some old ones do.
    let crashes = ["nvmlDeviceGetFieldValues=crash", "nvmlDeviceGetRemappedRows=crash"];
    for script in ["", "nvmlInit=999", "nvmlInit=12", "pending=1"].into_iter().chain(crashes) {
        let verdict = judged(&lock, &host(folder, script));
        assert_eq!(verdict.status, Pass, "{script}: {verdict:#?}");
    }
}

/// Words of compilers, which the fake has none of.
#[rustfmt::skip]
#[test]
fn compilers_are_judged_by_what_they_say() {
    let nvcc = |message: &str| kernel("nvcc 12.4.131", json!({ "at": "nvcc", "code": 1, "message": message }));
    let nvrtc = |code: i64| kernel("nvrtc 12.4", json!({ "at": "nvrtcCompileProgram", "code": code }));
    let lock = lock(SPEC);
    for (host, id, status, action, says) in [
        (nvcc("nvcc error   : 'cicc' died due to signal 9 (Kill signal)"), "compile-nvcc", Unknown, "none", "memory is short"),
        (nvcc("nvcc error   : 'cudafe++' died due to signal 11 (Invalid memory reference)"), "compile-nvcc", Unknown, "fix-environment", "crashed"),
        (nvcc("sh: 1: cicc: not found"), "compile-nvcc", Fail, "fix-environment", "lacks a part"),
        (nvcc("cc1plus: fatal error: cuda_runtime.h: No such file or directory"), "compile-nvcc", Fail, "fix-environment", "lacks a part"),
        (nvcc("nvcc fatal   : Path to libdevice library not specified"), "compile-nvcc", Fail, "fix-environment", "lacks a part"),
        (nvrtc(2), "compile-nvrtc", Fail, "fix-environment", "right elsewhere"),
        (nvrtc(12), "compile-nvrtc", Unknown, "fix-environment", "TMPDIR"),
        (nvrtc(16), "compile-nvrtc", Unknown, "none", "give up"),
    ] {
        let verdict = judge::judge(&lock, &host);
        assert_eq!(differs(&verdict, (id, status, action, says)), None, "{says}");
        assert_eq!(worst(&verdict, "kernel-native").status, Pass, "{says}");
    }
}

fn kernel(compiler: &str, fault: Value) -> Value {
    let kernel = json!({ "device": 0, "code": "sm_90", "compiler": compiler, "program": "saxpy", "outcome": "failed", "fault": fault });
    with(&[("/kernels/9", kernel)])
}

/// Whatever number the driver answers a call with, somebody is told what to do, and no two meanings share a sentence by
/// accident: only what a right call is not answered with has the one for it.
#[test]
fn no_number_of_cuda_is_without_words() {
    let lock = lock(SPEC);
    let mut refused = 0;
    for code in (1..=1_000).filter(|&code| curesult::name(code).is_some()) {
        for at in ["cuInit", "cuLaunchKernel"] {
            let fault = json!({ "at": at, "code": code, "name": curesult::name(code) });
            let (host, id) = match at {
                "cuInit" => (with(&[("/libcuda/fault", fault), ("/libcuda/devices", json!([]))]), "libcuda"),
                _ => (with(&[("/kernels/0/outcome", json!("failed")), ("/kernels/0/fault", fault)]), "kernel-native"),
            };
            let verdict = judge::judge(&lock, &host);
            let check: &Check = worst(&verdict, id);
            let hint = check.hint.as_ref().unwrap_or_else(|| panic!("{at} {code}"));
            assert!(check.status >= Warn && !hint.contains("newer than this gpuenv"), "{at} {code}: {check:?}");
            refused += usize::from(hint.contains("a call that is right elsewhere"));
        }
    }
    assert!(refused > 50, "{refused}");
}

/// The state of a licence in a report: without it a virtual GPU computes for a while, or no more. Seen in
/// <https://github.com/NVIDIA/gpu-operator/issues/628>.
#[test]
fn a_virtual_gpu_without_its_licence_is_told() {
    let log = |state: &str| {
        format!(
            "==============NVSMI LOG==============\nDriver Version : 550.54.15\nCUDA Version : 12.4\nAttached GPUs : 1\n\
             GPU 00000000:02:00.0\n    Product Name : NVIDIA H100L-94C\n    GPU Virtualization Mode\n        \
             Virtualization Mode : VGPU\n    vGPU Software Licensed Product\n        Product Name : NVIDIA Virtual \
             Compute Server\n        License Status : {state}\n"
        )
    };
    let spec = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100L-94C\"\n";
    let lock = lock(spec);
    for (state, status) in [
        ("Licensed (Expiry: 2027-4-11 10:32:26 GMT)", Pass),
        ("Unlicensed (Unrestricted)", Warn),
        ("Unlicensed", Warn),
        ("Unlicensed (Restricted)", Fail),
        ("N/A", Pass),
    ] {
        let record = gpuenv::host::read_any(&log(state)).unwrap();
        let verdict = verify::judge(&lock, "a", &record, &gpuenv::catalog::BUILTIN).unwrap();
        assert_eq!(worst(&verdict, "gpu-virtual").status, status, "{state}: {verdict:#?}");
    }
}
