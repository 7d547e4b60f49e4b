//! `gpuenv verify`: each known failure has its check, its hint and its action; the command as users run it.

use std::fs;
use std::time::{Duration, Instant};

use gpuenv::meaning;
use gpuenv::report::schema;
use gpuenv::verify::{Check, Status};
use serde_json::{Value, json};

use crate::common::judge::{SPEC, healthy, lock, with, worst};
use crate::common::sandbox::Sandbox;
use crate::common::{judge, validate};

/// One of the failures that are known from public reports: what is changed on a sound host, and what must be said.
struct Mode {
    id: &'static str,
    changes: Vec<(&'static str, Value)>,
    check: &'static str,
    status: Status,
    action: &'static str,
    /// A word of the hint.
    says: &'static str,
}

const DOCKER: (&str, &str) = ("/platform/container", "docker");

fn mode(
    id: &'static str,
    check: &'static str,
    status: Status,
    action: &'static str,
    says: &'static str,
    changes: Vec<(&'static str, Value)>,
) -> Mode {
    Mode { id, changes, check, status, action, says }
}

fn cuda(code: i64) -> (&'static str, Value) {
    ("/libcuda/fault", json!({ "at": "cuInit", "code": code }))
}

fn nvml(code: i64) -> (&'static str, Value) {
    ("/nvml/fault", json!({ "at": "nvmlInit_v2", "code": code }))
}

fn gpu(code: i64) -> (&'static str, Value) {
    ("/nvml/gpus/0/fault", json!({ "at": "nvmlDeviceGetMemoryInfo", "code": code }))
}

fn kernel(code: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("/kernels/1/outcome", json!("failed")),
        ("/kernels/1/fault", json!({ "at": "cuModuleLoadData", "code": code })),
    ]
}

fn ptx(code: i64) -> Vec<(&'static str, Value)> {
    vec![
        ("/kernels/3/outcome", json!("failed")),
        ("/kernels/3/fault", json!({ "at": "cuModuleLoadData", "code": code })),
    ]
}

/// A second GPU, as NVML lists it.
fn second() -> Value {
    json!({ "index": 1, "name": "NVIDIA H100 NVL", "uuid": "GPU-2", "pci": "0000:b3:00.0" })
}

/// A library that torch needs and that is not there.
fn nowhere() -> (&'static str, Value) {
    let fault =
        json!({ "at": "ld.so", "name": "ENOENT", "message": "the framework needs it and the loader finds it nowhere" });
    ("/libraries/3", json!({ "name": "cublas", "soname": "libcublas.so.12", "fault": fault }))
}

/// NVML lists no GPU.
fn unlisted() -> (&'static str, Value) {
    ("/nvml/gpus", json!([]))
}

/// CUDA lists no device.
fn no_device() -> (&'static str, Value) {
    ("/libcuda/devices", json!([]))
}

fn missing() -> Value {
    json!({ "at": "dlopen", "name": "ENOENT", "message": "cannot open shared object file: No such file or directory" })
}

#[rustfmt::skip]
fn modes() -> Vec<Mode> {
    use Status::{Fail, Pass, Skip, Unknown, Warn};
    let docker = || (DOCKER.0, json!(DOCKER.1));
    let wsl = || ("/platform/system", json!("wsl"));
    vec![
        mode("F01", "nvml", Fail, "restart-container", "utility", vec![docker(), ("/nvml", json!({ "fault": missing() })), ("/libcuda", json!({ "fault": missing() }))]),
        mode("F01", "nvml", Fail, "ask-admin", "install", vec![("/nvml", json!({ "fault": missing() })), ("/libcuda", json!({ "fault": missing() }))]),
        mode("F01", "driver-present", Fail, "ask-admin", "no NVIDIA driver is installed: ask an administrator to install 525", vec![("/module", json!({})), ("/nvml", json!({ "fault": missing() })), ("/libcuda", json!({ "fault": missing() }))]),
        mode("F02", "driver-present", Fail, "ask-admin", "modprobe nvidia", vec![("/module", json!({})), ("/nvml", json!({ "path": "/lib/libnvidia-ml.so.1", "fault": { "at": "nvmlInit_v2", "code": 9 } })), ("/libcuda", json!({ "path": "/lib/libcuda.so.1", "fault": { "at": "cuInit", "code": 100 } }))]),
        mode("F02", "nvml", Fail, "ask-admin", "modprobe nvidia", vec![nvml(9)]),
        mode("F03", "driver-match", Fail, "reboot", "reboot", vec![nvml(18)]),
        mode("F03", "driver-match", Fail, "restart-container", "container", vec![docker(), ("/module/version", json!("550.90.07"))]),
        mode("F04", "nvml", Fail, "fix-environment", "permissions", vec![nvml(4)]),
        mode("F04", "device-nodes", Fail, "fix-environment", "permissions", vec![("/nodes/0/errno", json!("EACCES"))]),
        mode("F05", "nvml", Fail, "restart-container", "daemon-reload", vec![docker(), nvml(999)]),
        mode("F05", "device-nodes", Fail, "restart-container", "create-dev-char-symlinks", vec![docker(), ("/nodes/0/errno", json!("EPERM"))]),
        mode("F06", "gpu-health", Fail, "drain", "power", vec![gpu(15)]),
        mode("F07", "gpu-health", Fail, "reboot", "gpu-reset", vec![gpu(16)]),
        mode("F07", "gpu-health", Fail, "reboot", "gpu-reset", vec![("/nvml/gpus/0/recovery", json!("reset"))]),
        mode("F07", "gpu-health", Fail, "reboot", "reboot", vec![("/nvml/gpus/0/recovery", json!("reboot"))]),
        mode("F07", "gpu-health", Fail, "drain", "no new work", vec![("/nvml/gpus/0/recovery", json!("drain-and-reset"))]),
        mode("F07", "gpu-health", Warn, "drain", "peer-to-peer", vec![("/nvml/gpus/0/recovery", json!("drain-p2p"))]),
        mode("F07", "gpu-health", Fail, "ask-admin", "nvidia-smi -q", vec![("/nvml/gpus/0/recovery", json!("bus-reset"))]),
        mode("F07", "gpu-health", Unknown, "reboot", "cannot ask this GPU", vec![gpu(999)]),
        mode("F07", "gpu-health", Unknown, "reboot", "cannot ask this GPU", vec![("/nvml/gpus/0/fault", json!({ "at": "nvidia-smi", "message": "ERR!" }))]),
        mode("F08", "gpu-health", Warn, "drain", "InfoROM", vec![gpu(14)]),
        mode("F09", "gpu-health", Skip, "none", "older", vec![gpu(13)]),
        mode("F10", "nvml", Fail, "restart-container", "daemon-reload", vec![docker(), nvml(17)]),
        mode("F11", "gpu-health", Skip, "none", "does not offer", vec![gpu(3)]),
        mode("F12", "nvml", Unknown, "none", "again", vec![nvml(20)]),
        mode("F13", "gpu-present", Fail, "ask-admin", "vfio-pci", vec![("/nvml/gpus", json!([])), ("/libcuda/devices", json!([])), ("/pci/0/driver", json!("vfio-pci"))]),
        mode("F13", "libcuda", Fail, "ask-admin", "0000:65:00.0 is bound to vfio-pci: bind it to nvidia", vec![cuda(100), unlisted(), no_device(), ("/pci/0/driver", json!("vfio-pci"))]),
        mode("F13", "gpu-hidden", Warn, "ask-admin", "bind it to nvidia", vec![("/pci/1", json!({ "address": "0000:b3:00.0", "driver": "vfio-pci" }))]),
        mode("F14", "gpu-hidden", Warn, "none", "CUDA_VISIBLE_DEVICES", vec![("/nvml/gpus/1", second()), ("/environment/CUDA_VISIBLE_DEVICES", json!("0"))]),
        mode("F14", "gpu-hidden", Fail, "ask-admin", "CUDA does not start", vec![("/nvml/gpus/1", second())]),
        mode("F14", "gpu-hidden", Fail, "ask-admin", "CUDA does not start", vec![("/nvml/gpus/1", second()), ("/environment/CUDA_VISIBLE_DEVICES", json!("0,1"))]),
        mode("F14", "gpu-hidden", Warn, "none", "CUDA_VISIBLE_DEVICES is `0,-1,1`", vec![("/nvml/gpus/1", second()), ("/environment/CUDA_VISIBLE_DEVICES", json!("0,-1,1"))]),
        mode("F14", "gpu-hidden", Warn, "none", "CUDA_VISIBLE_DEVICES is `0,7`", vec![("/nvml/gpus/1", second()), ("/environment/CUDA_VISIBLE_DEVICES", json!("0,7"))]),
        mode("F14", "gpu-hidden", Fail, "drain", "RmInitAdapter", vec![("/pci/1", json!({ "address": "0000:b3:00.0", "driver": "nvidia" }))]),
        mode("F14", "gpu-hidden", Pass, "none", "container", vec![docker(), ("/pci/1", json!({ "address": "0000:b3:00.0", "driver": "nvidia" }))]),
        mode("F14", "gpu-hidden", Pass, "none", "job", vec![("/nodes/3", json!({ "path": "/dev/nvidia1", "errno": "EPERM" })), ("/pci/1", json!({ "address": "0000:b3:00.0", "driver": "nvidia" }))]),
        mode("F14", "device-nodes", Pass, "none", "not given", vec![("/nodes/3", json!({ "path": "/dev/nvidia1", "errno": "EPERM" }))]),
        mode("F15", "libcuda", Fail, "fix-environment", "CUDA_VISIBLE_DEVICES", vec![cuda(100), ("/environment/CUDA_VISIBLE_DEVICES", json!("-1"))]),
        mode("F15", "libcuda", Fail, "ask-admin", "drives no GPU", vec![cuda(100), unlisted(), ("/environment/CUDA_VISIBLE_DEVICES", json!("0"))]),
        mode("F15", "libcuda", Fail, "restart-container", "--gpus", vec![cuda(100), unlisted(), docker()]),
        mode("F15", "libcuda", Fail, "restart-container", "--gpus", vec![cuda(100), unlisted(), docker(), wsl()]),
        mode("F15", "libcuda", Fail, "ask-admin", "NVML shows 0: NVIDIA H100 NVL", vec![cuda(100), no_device()]),
        mode("F15", "libcuda", Fail, "restart-container", "all device nodes", vec![cuda(100), no_device(), docker()]),
        mode("F15", "gpu-present", Fail, "ask-admin", "CUDA shows no GPU", vec![no_device()]),
        mode("F16", "libcuda", Fail, "ask-admin", "MIG is on without instances", vec![cuda(100), no_device(), docker(), ("/nvml/gpus/0/mig", json!(true))]),
        mode("F16", "gpu-mig", Fail, "ask-admin", "mig -cgi", vec![cuda(100), no_device(), ("/nvml/gpus/0/mig", json!(true))]),
        mode("F20", "gpu-present", Fail, "ask-admin", "prohibited", vec![no_device(), ("/nvml/gpus/0/compute_mode", json!("prohibited"))]),
        mode("F15", "libcuda", Fail, "fix-environment", "WSL", vec![cuda(100), wsl()]),
        mode("F16", "libcuda", Fail, "ask-admin", "MIG", vec![cuda(101)]),
        mode("F16", "gpu-mig", Fail, "ask-admin", "mig -cgi", vec![("/nvml/gpus/0/mig", json!(true))]),
        mode("F17", "libcuda", Fail, "fix-environment", "stubs", vec![("/libcuda/stub", json!(true))]),
        mode("F17", "environment-library-path", Warn, "fix-environment", "stubs", vec![("/environment/LD_LIBRARY_PATH", json!("/usr/local/cuda/lib64/stubs"))]),
        mode("F18", "driver-minimum", Fail, "ask-admin", "raise the driver to", vec![("/nvml/driver", json!("470.57.02"))]),
        mode("F18", "libcuda", Fail, "ask-admin", "raise the driver to", vec![cuda(36)]),
        mode("F19", "libcuda", Fail, "fix-environment", "MPS", vec![cuda(46)]),
        mode("F19", "gpu-compute-mode", Fail, "ask-admin", "MPS", vec![("/nvml/gpus/0/compute_mode", json!("exclusive-process")), ("/nvml/gpus/0/processes", json!(1)), ("/kernels", json!([]))]),
        mode("F19", "gpu-compute-mode", Pass, "none", "MPS", vec![("/nvml/gpus/0/compute_mode", json!("exclusive-process")), ("/nvml/gpus/0/processes", json!(1))]),
        mode("F20", "gpu-compute-mode", Fail, "ask-admin", "DEFAULT", vec![("/nvml/gpus/0/compute_mode", json!("prohibited"))]),
        mode("F21", "kernel-native", Unknown, "none", "memory is full", kernel(2)),
        mode("F22", "kernel-native", Fail, "change-lock", "gpuenv.toml", kernel(209)),
        mode("F23", "kernel-native", Fail, "change-lock", "PTX version", kernel(222)),
        mode("F23", "kernel-jit", Warn, "none", "PTX", ptx(222)),
        mode("F24", "kernel-jit", Warn, "none", "ptxjitcompiler", ptx(221)),
        mode("F25", "environment-jit", Warn, "fix-environment", "unset", vec![("/environment/CUDA_DISABLE_PTX_JIT", json!("1"))]),
        mode("F26", "kernel-native", Fail, "fix-environment", "one CUDA release", kernel(200)),
        mode("F27", "libcuda", Fail, "ask-admin", "nvidia-modprobe", vec![cuda(304)]),
        mode("F27", "device-nodes", Fail, "ask-admin", "nvidia-modprobe", vec![cuda(304), ("/nodes/1/errno", json!("ENOENT"))]),
        mode("F28", "libcuda", Fail, "reboot", "nvidia_uvm", vec![cuda(999)]),
        mode("F28", "libcuda", Fail, "restart-container", "nvidia-uvm", vec![cuda(999), docker()]),
        mode("F29", "libcuda", Fail, "ask-admin", "nvidia-fabricmanager", vec![cuda(802), ("/nvml/gpus/0/fabric", json!("in-progress"))]),
        mode("F29", "gpu-fabric", Fail, "ask-admin", "nvidia-fabricmanager", vec![cuda(802), ("/nvml/gpus/0/fabric", json!("not-started"))]),
        mode("F30", "libcuda", Fail, "fix-environment", "LD_LIBRARY_PATH", vec![cuda(803), ("/libcuda/path", json!("/usr/local/cuda-12.8/compat/libcuda.so.570.86.15"))]),
        mode("F30", "libcuda", Fail, "reboot", "reboot", vec![cuda(803)]),
        mode("F31", "libcuda", Fail, "fix-environment", "data-centre", vec![cuda(804), ("/libcuda/path", json!("/usr/local/cuda-12.8/compat/libcuda.so.570.86.15"))]),
        mode("F31", "libcuda", Fail, "fix-environment", "data-centre", vec![cuda(804), ("/libcuda/path", Value::Null)]),
        mode("F31", "libcuda", Fail, "reboot", "reboot", vec![cuda(804)]),
        mode("F31", "libcuda", Fail, "restart-container", "another driver", vec![cuda(804), docker()]),
        mode("F32", "libcuda", Fail, "ask-admin", "profile", vec![cuda(801)]),
        mode("F33", "libcuda", Fail, "fix-environment", "nvidia-cuda-mps-control", vec![cuda(805)]),
        mode("F33", "environment-mps", Warn, "fix-environment", "nvidia-cuda-mps-control", vec![cuda(805), ("/environment/CUDA_MPS_PIPE_DIRECTORY", json!("/tmp/mps"))]),
        mode("F34", "libcuda", Warn, "fix-environment", "inside WSL", vec![wsl()]),
        mode("F34", "libcuda", Pass, "none", "", vec![wsl(), docker()]),
        mode("F34", "libcuda", Fail, "fix-environment", "inside WSL", vec![cuda(500), wsl()]),
        mode("F35", "kernel-native", Fail, "drain", "out of service", kernel(214)),
        mode("F35", "gpu-health", Warn, "drain", "broken rows", vec![("/nvml/gpus/0/remapping_failed", json!(true))]),
        mode("F36", "nvml", Warn, "restart-container", "utility", vec![docker(), ("/nvml", json!({ "fault": missing() }))]),
        mode("F37", "libcuda", Fail, "restart-container", "compute", vec![docker(), ("/libcuda", json!({ "fault": missing() }))]),
        mode("F38", "library-mixed", Fail, "fix-environment", "several places", vec![("/libraries/1/parts/0", json!("/usr/lib/libcudnn_graph.so.9"))]),
        mode("F38", "library-missing", Fail, "fix-environment", "libcublas.so.12", vec![("/python/torch", Value::Null), nowhere()]),
        mode("F38", "library-missing", Warn, "none", "all the same", vec![nowhere()]),
        mode("F39", "library-shadowed", Fail, "fix-environment", "LD_LIBRARY_PATH", vec![("/libraries/2/found_by", json!("LD_LIBRARY_PATH")), ("/libraries/2/shadows", json!([{ "path": "/venv/libnccl.so.2", "found_by": "python", "version": "2.20.5" }]))]),
        mode("F40", "library-duplicates", Warn, "none", "several copies", vec![("/libraries/2/shadows", json!([{ "path": "/conda/libnccl.so.2" }]))]),
        mode("F40", "library-duplicates", Warn, "none", "several copies", vec![("/libraries/2/found_by", json!("ld.so.cache")), ("/libraries/2/shadows", json!([{ "path": "/venv/libnccl.so.2", "found_by": "python" }]))]),
        mode("F38", "library-mixed", Warn, "none", "of the same CUDA line", vec![("/libraries/1/name", json!("nvrtc")), ("/libraries/1/parts/0", json!("/usr/local/cuda/lib64/libnvrtc-builtins.so.12.4.127"))]),
        mode("F41", "toolkit-path", Fail, "fix-environment", "CUDA_HOME", vec![("/toolkits/0/named_by", json!(["PATH"])), ("/toolkits/1", json!({ "root": "/usr/local/cuda-11.8", "version": "11.8.0", "named_by": ["CUDA_HOME"] }))]),
        mode("F42", "host-compiler", Fail, "fix-environment", "NVCC_CCBIN", vec![("/compilers/0/version", json!("15.1.0"))]),
        mode("F42", "host-compiler", Pass, "none", "", vec![("/compilers/1", json!({ "name": "gcc", "version": "15.1.0", "named_by": ["CXX"] }))]),
        mode("F42", "host-compiler", Fail, "fix-environment", "NVCC_CCBIN", vec![("/compilers/1", json!({ "name": "gcc", "version": "15.1.0", "named_by": ["CC"] }))]),
        mode("F43", "torch-cuda", Fail, "fix-environment", "--index-url", vec![("/python/torch/cuda", Value::Null)]),
        mode("F43", "python-package", Fail, "fix-environment", "--index-url", vec![("/python/packages/torch", json!("2.5.1+cpu"))]),
        mode("F44", "python-version", Fail, "fix-environment", "--python", vec![("/python/version", json!("3.12.3"))]),
        mode("F44", "python-bits", Fail, "fix-environment", "64-bit", vec![("/python/bits", json!(32))]),
        mode("F45", "gpu-mig", Warn, "none", "instance", vec![("/nvml/gpus/0/mig", json!(true)), ("/nvml/gpus/0/instances", json!([{ "profile": "1g.12gb" }]))]),
        mode("F46", "gpu-virtual", Warn, "none", "licence", vec![("/nvml/gpus/0/virtualization", json!("vgpu"))]),
        mode("F47", "gpu-confidential", Fail, "ask-admin", "conf-compute", vec![("/nvml/gpus/0/confidential_ready", json!(false))]),
        mode("F48", "gpu-persistence", Warn, "none", "anew", vec![("/nvml/gpus/0/persistence", json!(false))]),
        mode("F49", "driver-present", Fail, "ask-admin", "nouveau", vec![("/module", json!({ "nouveau": true })), ("/nvml", Value::Null), ("/libcuda", Value::Null)]),
        mode("F51", "container-shm", Warn, "restart-container", "--shm-size", vec![docker(), ("/platform/shm", json!(67108864))]),
        mode("F28", "driver-present", Pass, "none", "", vec![("/module/uvm", json!(false))]),
        mode("F28", "libcuda", Fail, "reboot", "cuDevicePrimaryCtxRetain", vec![("/libcuda/fault", json!({ "at": "cuDevicePrimaryCtxRetain", "code": 999 }))]),
        mode("F52", "probe", Skip, "none", "needs nothing", vec![("/probes/9", json!({ "name": "container", "ended": "timed-out" }))]),
        mode("F52", "libcuda", Unknown, "ask-admin", "crashed", vec![("/probes/3", json!({ "name": "libcuda", "ended": "crashed", "detail": "SIGSEGV" }))]),
        mode("F52", "probe", Unknown, "ask-admin", "broke it off", vec![("/probes/2", json!({ "name": "nvml", "ended": "crashed", "detail": "SIGSEGV" }))]),
        mode("F53", "driver-present", Pass, "none", "gVisor", vec![("/module", Value::Null)]),
    ]
}

/// Failures that no record can show, with the reason.
const NOT_JUDGED: &[(&str, &str)] = &[
    ("F50", "IMEX matters to jobs of several nodes, which no lock asks for"),
    ("F54", "no text of a program that is translated is read, and nothing depends on the clock"),
];

/// Of a package that holds libraries of its own the wheel says on which systems they load, as torch's does.
#[test]
fn every_locked_package_asks_for_a_c_library() {
    let judged = |stack: &str, glibc: &str| {
        let lock = lock(&format!("[stack]\n{stack}\n[target.a]\ngpu = \"H100 NVL\"\n"));
        let verdict = judge::judge(&lock, &with(&[("/platform/glibc", json!(glibc))]));
        let check = worst(&verdict, "platform-glibc");
        (check.status, check.evidence.clone().unwrap_or_default())
    };
    for (stack, package, needs, older) in [
        ("sglang = \"0.5.23\"", "sglang 0.5.23", "2.34", "2.31"),
        ("onnxruntime-gpu = \"1.22.0\"", "onnxruntime-gpu 1.22.0", "2.28", "2.17"),
    ] {
        assert_eq!(judged(stack, needs), (Status::Pass, package.to_string()));
        assert_eq!(judged(stack, older), (Status::Fail, package.to_string()));
    }
}

/// A record of a machine that somebody rents: torch and JAX of wheels in a container, beside a toolkit, a cuDNN and an NCCL
/// of the image. All of it ran there.
#[test]
fn a_real_h100_beside_a_toolkit_is_sound() {
    let mut host: Value = serde_json::from_str(include_str!("../verify/h100-beside-toolkit.json")).unwrap();
    let stack = "[stack]\ntorch = \"2.11.0+cu130\"\njax = \"0.11.2\"\npython = \"3.12\"\n";
    let target = "[target.host]\ngpu = \"NVIDIA H100 80GB HBM3\"\ndriver = \"580.159.04\"\nruntime = \"container\"\nos = \"ubuntu24.04\"\n";
    let lock = lock(&format!("{stack}{target}"));
    let verdict = judge::judge(&lock, &host);
    let told: Vec<&Check> = verdict.checks.iter().filter(|check| check.status > Status::Skip).collect();
    assert!(verdict.status == Status::Pass && told.is_empty(), "{told:#?}");
    // With the image's folder in LD_LIBRARY_PATH the wheel's cuDNN loads its parts from there.
    let at = host["libraries"].as_array().unwrap().iter().position(|one| one["name"] == "cudnn").unwrap();
    judge::set(&mut host, &format!("/libraries/{at}/version"), json!("9.14.0"));
    judge::set(
        &mut host,
        &format!("/libraries/{at}/parts"),
        json!(["/usr/lib/x86_64-linux-gnu/libcudnn_graph.so.9.14.0"]),
    );
    let verdict = judge::judge(&lock, &host);
    assert_eq!(worst(&verdict, "library-mixed").status, Status::Fail);
    let hint = worst(&verdict, "library-cudnn").hint.clone().unwrap();
    assert!(hint.contains("parts of it come from /usr/lib/x86_64-linux-gnu"), "{hint}");
}

#[test]
fn every_known_failure_has_its_check_its_hint_and_its_action() {
    let lock = lock(SPEC);
    let mut wrong = Vec::new();
    for mode in modes() {
        let verdict = judge::judge(&lock, &with(&mode.changes));
        let of_id: Vec<_> = verdict.checks.iter().filter(|check| check.id == mode.check).collect();
        if of_id.is_empty() {
            wrong.push(format!("{}: no check {}", mode.id, mode.check));
            continue;
        }
        let check = worst(&verdict, mode.check);
        let hint = check.hint.clone().unwrap_or_default();
        if (check.status, check.action.as_str()) != (mode.status, mode.action) || !hint.contains(mode.says) {
            wrong.push(format!("{} {}: {:?} {} {hint:?}", mode.id, mode.check, check.status, check.action.as_str()));
        }
        let fails = verdict.checks.iter().any(|check| check.status == Status::Fail);
        assert_eq!(verdict.status == Status::Fail, fails, "{}", mode.id);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One cause is one block: what follows from it is counted below it, and a check that passes contradicts itself nowhere.
#[test]
fn what_follows_from_a_cause_is_not_told_beside_it() {
    let lock = lock(SPEC);
    let told = |changes: &[(&str, Value)]| {
        let verdict = judge::judge(&lock, &with(changes));
        let told = verdict.checks.iter().filter(|check| check.status > Status::Skip && check.because.is_none());
        told.map(|check| check.id).collect::<Vec<_>>()
    };
    let uvm = ("/nodes/1/errno", json!("ENOENT"));
    let missing = || json!({ "fault": missing() });
    let gone = [("/module", json!({})), ("/nvml", missing()), ("/libcuda", missing()), ("/kernels", json!([]))];
    assert_eq!(told(&[&gone[..], &[("/nodes/0/errno", json!("ENOENT"))]].concat()), ["driver-present"]);
    let none = ("/kernels", json!([]));
    let no_uvm = ("/module/uvm", json!(false));
    assert_eq!(told(&[cuda(999), no_device(), none.clone(), uvm, no_uvm]), ["device-nodes"]);
    assert_eq!(told(&[cuda(999), no_device(), none.clone()]), ["libcuda"]);
    assert_eq!(told(&[nvml(18), unlisted(), cuda(803), no_device(), none.clone()]), ["driver-match"]);
    let vfio = ("/pci/0/driver", json!("vfio-pci"));
    assert_eq!(told(&[cuda(100), unlisted(), no_device(), none, vfio]), ["libcuda"]);
    // Another cause is told beside it.
    assert_eq!(told(&[("/nodes/2/errno", json!("EIO")), ("/python/bits", json!(32))]), ["device-nodes", "python-bits"]);
    let mismatch = judge::judge(&lock, &with(&[nvml(18), ("/nvml/file_version", json!("550.90.07"))]));
    let found = worst(&mismatch, "driver-match").found.clone().unwrap();
    assert!(found.contains("module 550.54.15") && found.contains("libnvidia-ml 550.90.07"), "{found}");
    let other = ["/nvml/gpus/0/name", "/libcuda/devices/0/name"].map(|at| (at, json!("Tesla V100-SXM2-16GB")));
    let check = worst(&judge::judge(&lock, &with(&other)), "gpu-present").clone();
    assert_eq!((check.status, check.expected.as_deref()), (Status::Pass, Some("a GPU")));
}

#[test]
fn all_fifty_four_failures_are_in_the_table() {
    let modes = modes();
    let known = |id: &str| modes.iter().any(|mode| mode.id == id) || NOT_JUDGED.iter().any(|(known, _)| *known == id);
    let missing: Vec<String> = (1..=54).map(|number| format!("F{number:02}")).filter(|id| !known(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn blackwell_needs_the_open_modules() {
    let lock = lock("[stack]\ntorch = \"2.7.1+cu128\"\n[target.a]\ngpu = \"RTX 5090\"\n");
    let host =
        with(&[("/module/flavour", json!("proprietary")), ("/nvml/gpus", json!([])), ("/libcuda/devices", json!([]))]);
    let verdict = judge::judge(&lock, &host);
    assert_eq!(worst(&verdict, "driver-flavour").status, Status::Fail, "{verdict:#?}");
}

/// What the sources make is documented, and what is documented is made.
#[test]
fn every_check_is_described() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verify");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let making = files.filter(|path| path.is_file());
    let text: String = making.map(|path| fs::read_to_string(path).unwrap()).collect();
    let made = |id: &str| text.contains(&format!("\"{id}\""));
    let unmade: Vec<&str> = meaning::CHECKS.iter().map(|check| check.code).filter(|id| !made(id)).collect();
    assert!(unmade.is_empty(), "nothing makes {unmade:?}");
    for part in text.split("Check::new(\"").skip(1) {
        let id = part.split('"').next().unwrap();
        assert!(meaning::find(meaning::CHECKS, id).is_some(), "{id} is not described");
    }
}

#[test]
fn a_sound_host_passes_several_locks() {
    for spec in [
        SPEC,
        "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n",
        "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\ngpu = \"sm_90\"\ndriver = \"535.104.05\"\n",
        "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\ngpu = [\"A100\", \"H100 NVL\"]\ndriver = \"525.116.03\"\nimage = \"nvidia/cuda\"\n",
        "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\n",
    ] {
        let verdict = judge::judge(&lock(spec), &healthy());
        assert_eq!(verdict.status, Status::Pass, "{spec}\n{verdict:#?}");
    }
}

#[test]
fn wrong_locks_are_refused_for_their_own_reason() {
    for (spec, wanted) in [
        ("[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.12\"\n[target.a]\ngpu = \"H100 NVL\"\n", "python-version"),
        ("[stack]\ntorch = \"2.9.1+cu130\"\n[target.a]\ngpu = \"H100 NVL\"\n", "driver-minimum"),
        ("[stack]\ntorch = \"2.7.1+cu128\"\n[target.a]\ngpu = \"GH200 480GB\"\n", "platform-arch"),
        ("[stack]\ntorch = \"1.12.1+cu102\"\n[target.a]\ngpu = \"V100-PCIE-16GB\"\n", "gpu-supported"),
        ("[stack]\ntorch = \"2.4.1+cu124\"\n[target.a]\ngpu = \"H100 NVL\"\n", "python-package"),
    ] {
        let verdict = judge::judge(&lock(spec), &healthy());
        assert_eq!(
            (verdict.status, worst(&verdict, wanted).status),
            (Status::Fail, Status::Fail),
            "{spec}\n{verdict:#?}"
        );
    }
}

/// Whence a package came is judged where its installer noted it, and only where the version is the locked one.
#[test]
fn a_package_that_came_from_a_file_is_held_against_the_locked_sha256() {
    let mut lock = lock(GPU);
    let sha256 = lock.wheel[0].sha256.clone();
    assert_eq!((lock.wheel.len(), sha256.len()), (1, 64), "{:?}", lock.wheel);
    let locked = format!("sha256:{sha256}");
    let other = format!("sha256:{}", "0".repeat(64));
    let from = |origin: &str| with(&[("/python/origins/torch", json!(origin))]);
    let mut tried = |host: &Value, change: fn(&mut gpuenv::lock::Wheel)| {
        let wheel = lock.wheel[0].clone();
        change(&mut lock.wheel[0]);
        let verdict = judge::judge(&lock, host);
        lock.wheel[0] = wheel;
        let check = verdict.checks.iter().find(|check| check.id == "python-wheel")?;
        let text =
            format!("{} {}", check.found.as_deref().unwrap_or_default(), check.hint.as_deref().unwrap_or_default());
        Some((check.status, check.action.as_str(), text))
    };
    let same = |_: &mut gpuenv::lock::Wheel| {};
    for (host, change, status, action, says) in [
        (healthy(), same as fn(&mut _), Status::Skip, "none", "not known from which file torch was installed"),
        (from(&locked), same, Status::Pass, "none", "torch 2.5.1+cu124, the locked file"),
        (
            from(&other),
            same,
            Status::Fail,
            "fix-environment",
            "--force-reinstall --no-deps 'torch==2.5.1+cu124' --index-url",
        ),
        (from("folder"), same, Status::Warn, "none", "compiled from a folder"),
        (from("repository"), same, Status::Warn, "none", "compiled from a repository"),
        (from("file"), same, Status::Skip, "none", "noted no sha256"),
        (from("\u{1b}:x"), same, Status::Fail, "fix-environment", "the file is not"),
        (from(&other), |wheel| wheel.sha256 = "unknown".into(), Status::Skip, "none", "knows no sha256"),
        (
            from(&other),
            |wheel| wheel.sha256 += &format!(" {}", "0".repeat(64)),
            Status::Pass,
            "none",
            "the locked file",
        ),
        (from(&other), |wheel| wheel.sdist = true, Status::Warn, "none", "compiled elsewhere"),
    ] {
        let found = tried(&host, change).expect(says);
        assert!(found.0 == status && found.1 == action && found.2.contains(says), "{says}: {found:?}");
    }
    // Another version or another Python is told by its own check.
    for change in [("/python/packages/torch", json!("2.4.1+cu124")), ("/python/version", json!("3.12.1"))] {
        let host = with(&[("/python/origins/torch", json!(other)), change]);
        assert_eq!(tried(&host, same), None);
    }
}

const GPU: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n";
const CPU: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.ci]\ngpu = \"none\"\n";

/// A sandbox with a lock and the sound host in `host.json`.
fn sandbox(name: &str, spec: &str) -> Sandbox {
    let sandbox = Sandbox::new(name, spec);
    sandbox.run(&["lock"]).exits(0);
    fs::write(sandbox.path("host.json"), healthy().to_string()).unwrap();
    sandbox
}

#[track_caller]
fn fits(document: &Value) {
    let schema = serde_json::from_str(&schema::find("verify").unwrap().text()).unwrap();
    let wrong = validate::errors(&schema, document);
    assert!(wrong.is_empty(), "{wrong:#?}\n{document:#}");
}

/// Whether the machine that tests run on has no trace of NVIDIA.
fn is_bare() -> bool {
    !["/proc/driver/nvidia", "/dev/nvidiactl", "/sys/module/nvidia"].iter().any(|path| fs::exists(path).unwrap_or(true))
}

#[test]
fn a_machine_without_a_gpu_leaves_the_question_open() {
    if !is_bare() {
        eprintln!("skipped: this machine has an NVIDIA driver");
        return;
    }
    let sandbox = sandbox("verify-bare", GPU);
    let began = Instant::now();
    let (code, document) = sandbox.json(&["verify", "--quick"]);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    fits(&document);
    assert_eq!((code, &document["status"]), (3, &json!("unknown")), "{document:#}");
    let ids: Vec<&str> =
        document["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap()).collect();
    for id in ["platform-arch", "driver-present", "driver-minimum", "gpu-present"] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    let cpu = self::sandbox("verify-cpu", CPU);
    cpu.run(&["verify", "--quick"]).exits(0).tells("PASS");
}

#[test]
fn the_command_judges_a_recorded_host() {
    let sandbox = sandbox("verify-host", GPU);
    sandbox.run(&["verify", "--host", "host.json"]).exits(0).tells("PASS: the host can run `prod`").says("");
    let (code, document) = sandbox.json(&["verify", "--host", "host.json"]);
    fits(&document);
    assert_eq!((code, &document["status"], &document["target"]), (0, &json!("pass"), &json!("prod")));
    fs::write(sandbox.path("old.json"), with(&[("/nvml/driver", json!("418.40.04\u{1b}[31m"))]).to_string()).unwrap();
    sandbox.run(&["verify", "--host", "old.json"]).exits(2);
    fs::write(sandbox.path("old.json"), with(&[("/nvml/driver", json!("418.40.04"))]).to_string()).unwrap();
    sandbox.run(&["verify", "--host", "old.json"]).exits(1).tells("fail    driver-minimum").tells("FAIL");
    let github = sandbox.run(&["verify", "--host", "old.json", "--format", "github"]).exits(1);
    assert!(github.out.starts_with("::error title=driver-minimum::"), "{github:?}");
    fits(&sandbox.json(&["verify", "--host", "old.json"]).1);
    sandbox.run(&["verify", "--host", "old.json", "--junit", "out.xml"]).exits(1);
    let xml = fs::read_to_string(sandbox.path("out.xml")).unwrap();
    assert!(xml.contains("<failure type=\"ask-admin\"") && xml.contains("<testsuite name=\"prod\""), "{xml}");
}

#[test]
fn the_driver_of_a_jetson_comes_with_its_system() {
    let sandbox = sandbox(
        "verify-jetson",
        "[stack]\ntorch = \"2.8\"\n[target.robot]\ngpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"\n",
    );
    let host = |driver: &str, cuda: &str| {
        json!({ "format": 1, "origin": "pasted", "probes": [], "platform": { "system": "tegra" },
                "nvml": { "driver": driver, "cuda": cuda, "gpus": [{ "name": "Orin (nvgpu)" }] } })
    };
    fs::write(sandbox.path("robot.json"), host("540.4.0", "12.6").to_string()).unwrap();
    sandbox.run(&["verify", "--host", "robot.json"]).exits(0).tells("pass    gpu-supported").tells("PASS");
    fs::write(sandbox.path("robot.json"), host("35.4.1", "11.4").to_string()).unwrap();
    let told = sandbox.run(&["verify", "--host", "robot.json"]).exits(1).tells("take NVIDIA JetPack 6.2 or a").out;
    assert!(!told.contains("525"), "that number is none of a Jetson's: {told}");
}

#[test]
fn bad_input_gets_a_clear_answer() {
    let sandbox = sandbox("verify-bad", GPU);
    for (text, words) in [
        ("", "empty"),
        ("{\"format\": 99}", "format 99"),
        ("{\"format\": 1, \"x\": 1}", "unknown field"),
        ("{", "record"),
    ] {
        fs::write(sandbox.path("bad.json"), text).unwrap();
        let ran = sandbox.run(&["verify", "--host", "bad.json"]).exits(2).says(words);
        assert!(ran.out.is_empty());
    }
    sandbox.run(&["verify", "--host", "nowhere.json"]).exits(4);
    sandbox.run(&["verify", "--host", "host.json", "--target", "x"]).exits(2).says("prod");
    sandbox.run(&["verify", "--host", "host.json", "--quick"]).exits(2);
    sandbox.run(&["verify", "--host", "host.json", "--lock", "nowhere.lock"]).exits(4);
}

#[test]
fn specs_and_images_are_judged_without_a_lock() {
    let sandbox = sandbox("verify-against", GPU);
    fs::remove_file(sandbox.path("gpuenv.lock")).unwrap();
    sandbox.run(&["verify", "--host", "host.json"]).exits(2).says("--against");
    sandbox.run(&["verify", "--host", "host.json", "--against", "gpuenv.toml"]).exits(0);
    assert!(!sandbox.path("gpuenv.lock").exists());
    sandbox.write("[stack]\ntorch = \"1.12.1+cu102\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    let ran = sandbox.run(&["verify", "--host", "host.json", "--against", "gpuenv.toml"]).exits(1).says("error[");
    // What is shown acts on the spec that was asked.
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let commands: Vec<&str> = told.split("`gpuenv ").skip(1).filter_map(|part| part.split('`').next()).collect();
    assert!(!commands.is_empty(), "{}", ran.err);
    assert!(commands.iter().all(|command| command.contains("--spec gpuenv.toml")), "{commands:?}");
    sandbox.run(&["verify", "--host", "host.json", "--image", "nvidia/cuda:12.4.1-base-ubuntu22.04"]).exits(0);
    sandbox.run(&["verify", "--host", "host.json", "--image", "ghcr.io/some/thing:1"]).exits(3);
    let bad = sandbox.run(&["verify", "--host", "host.json", "--image", "a b"]);
    bad.exits(2).says("error[image]: `a b` is not an image reference").says("help: write `nvidia/cuda`");
}

#[test]
fn of_several_targets_the_matching_one_is_named() {
    let spec = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.arm]\ngpu = \"GH200 480GB\"\n[target.big]\ngpu = \"H100 NVL\"\n[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"\n";
    let sandbox = sandbox("verify-several", spec);
    let (code, document) = sandbox.json(&["verify", "--host", "host.json"]);
    fits(&document);
    assert_eq!((code, &document["target"]), (0, &json!("big")), "{document:#}");
    assert_eq!(document["others"].as_array().unwrap().len(), 2);
    sandbox.run(&["verify", "--host", "host.json"]).exits(0).tells("target arm: fail, platform-arch");
    // A target for the CPU must not hide a driver that is wrong.
    fs::write(
        sandbox.path("host.json"),
        with(&[("/libcuda/fault", json!({ "at": "cuInit", "code": 999 }))]).to_string(),
    )
    .unwrap();
    sandbox.run(&["verify", "--host", "host.json"]).exits(1);
    sandbox.run(&["verify", "--host", "host.json", "--target", "ci"]).exits(1).tells("python-package");
}

#[test]
fn nothing_hostile_of_a_record_reaches_the_terminal() {
    let sandbox = sandbox("verify-hostile", GPU);
    let evil = "H100\u{1b}]0;x\u{7}\u{202e}<&\"";
    fs::write(
        sandbox.path("host.json"),
        with(&[("/libcuda/devices/0/name", json!(evil)), ("/module/path", json!(evil))]).to_string(),
    )
    .unwrap();
    for args in [&["verify", "--host", "host.json", "-v"][..], &["verify", "--host", "host.json", "--format", "github"]]
    {
        let ran = sandbox.run(args);
        assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran:?}");
    }
    sandbox.run(&["verify", "--host", "host.json", "--junit", "out.xml"]);
    assert!(!fs::read_to_string(sandbox.path("out.xml")).unwrap().contains(['\u{1b}', '\u{7}', '\u{202e}']));
}

/// Where what is compiled on top holds only PTX for a GPU, PTX that does not run there is a failure, whatever the
/// frameworks hold.
#[test]
fn ptx_decides_where_it_is_all_that_is_built() {
    for (list, wanted) in [("8.0+PTX", Status::Fail), ("9.0+PTX", Status::Warn)] {
        let spec = format!(
            "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[build]\narch-list = \"{list}\"\n[target.a]\ngpu = \"H100 NVL\"\n"
        );
        let verdict = judge::judge(&lock(&spec), &with(&ptx(222)));
        assert_eq!(worst(&verdict, "kernel-jit").status, wanted, "{list}: {verdict:#?}");
    }
}

/// The first release known to list a board is a hint: an older one warns, and fails nothing.
#[test]
fn a_driver_older_than_the_boards_first_listing_warns() {
    let named = |name: &str| {
        let changes = [("/nvml/gpus/0/name", json!(name)), ("/libcuda/devices/0/name", json!(name))];
        judge::judge(&lock(SPEC), &with(&changes))
    };
    // 550.54.15 is older than 550.90.07, the first to list the H200.
    let late = named("NVIDIA H200");
    let check = worst(&late, "driver-minimum");
    assert!(check.status == Status::Warn && check.expected.as_deref() == Some(">= 550.90.07"), "{late:#?}");
    assert_eq!(worst(&named("NVIDIA H100 NVL"), "driver-minimum").status, Status::Pass);
}
