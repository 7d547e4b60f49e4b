//! `gpuenv verify` never cries wolf and never blames the wrong one: each fault is judged by who raised it, what did not
//! end is not known, and a host is held against the target that fits it best.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use gpuenv::catalog::BUILTIN;
use gpuenv::verify::{self, Against, Check, Status};
use serde_json::{Value, json};

use crate::common::judge;
use crate::common::judge::{SPEC, healthy, lock, record, set, with, worst};
use crate::common::sandbox::Sandbox;

const GPU: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n";
const MIXED: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.train]\ngpu = \"H100 NVL\"\n[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"\n";

fn sandbox(name: &str, spec: &str, host: &Value) -> Sandbox {
    let sandbox = Sandbox::new(name, spec);
    sandbox.run(&["lock"]).exits(0);
    fs::write(sandbox.path("host.json"), host.to_string()).unwrap();
    sandbox
}

/// The host with kernel `at` failed like this.
fn kernel(at: usize, compiler: &str, code: &str, fault: Value) -> Value {
    let kernel = json!({ "device": 0, "code": code, "compiler": compiler, "program": "saxpy", "outcome": "failed", "fault": fault });
    with(&[(&format!("/kernels/{at}"), kernel)])
}

#[test]
fn a_dead_driver_is_never_hidden_behind_a_target_for_the_cpu() {
    let jetson = json!({ "format": 1, "origin": "observed", "platform": { "system": "tegra", "arch": "aarch64" } });
    let pasted = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the \
                  latest NVIDIA driver is installed and running.\n";
    let sandbox = sandbox("faults-dead", MIXED, &jetson);
    fs::write(sandbox.path("dead.txt"), pasted).unwrap();
    let pci = json!({ "format": 1, "pci": [{ "address": "0000:65:00.0", "device": "2335" }] });
    fs::write(sandbox.path("bus.json"), pci.to_string()).unwrap();
    for host in ["host.json", "dead.txt", "bus.json"] {
        let (code, told) = sandbox.json(&["verify", "--host", host]);
        assert_ne!(code, 0, "{host}: {told:#}");
        assert_eq!(told["target"], json!("train"), "{host}");
    }
    // Where a target for the CPU is all there is, it answers where it is named.
    let cpu = self::sandbox("faults-cpu", "[stack]\ntorch = \"2.5.1\"\n[target.ci]\ngpu = \"none\"\n", &pci);
    let (code, told) = cpu.json(&["verify", "--host", "host.json"]);
    assert_eq!((code, &told["checks"][0]["id"]), (3, &json!("target-choice")));
    cpu.run(&["verify", "--host", "host.json"]).exits(3).tells("--target ci");
    let named = cpu.json(&["verify", "--host", "host.json", "--target", "ci"]).1;
    assert!(named["checks"].as_array().unwrap().iter().all(|check| check["id"] != "target-choice"), "{named:#}");
    // A host without any NVIDIA GPU on its bus is the CPU target's.
    let bare = json!({ "format": 1, "probes": [{ "name": "module", "ended": "absent" }], "platform": { "system": "linux", "arch": "x86_64", "glibc": "2.35" } });
    fs::write(sandbox.path("bare.json"), bare.to_string()).unwrap();
    let (code, told) = sandbox.json(&["verify", "--host", "bare.json"]);
    assert_eq!((code, &told["target"]), (0, &json!("ci")), "{told:#}");
}

#[test]
fn the_target_that_fits_best_answers() {
    let spec = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.train-a100]\ngpu = \"A100-SXM4-80GB\"\n[target.train-h100]\ngpu = \"H100 NVL\"\n";
    let sandbox = sandbox("faults-best", spec, &healthy());
    let (code, told) = sandbox.json(&["verify", "--host", "host.json"]);
    assert_eq!((code, &told["target"]), (0, &json!("train-h100")), "{told:#}");
}

#[test]
fn what_torch_says_of_itself_decides_which_build_it_is() {
    // Locked from an index whose wheels name their variant.
    let mut lock = lock(GPU);
    lock.wheel
        .iter_mut()
        .filter(|wheel| wheel.package == "torch")
        .for_each(|wheel| wheel.version = "2.5.1+cu124".into());
    let judged = |changes: &[(&str, Value)]| {
        let verdict = judge::judge(&lock, &with(changes));
        let is_torch = |check: &&Check| check.expected.as_ref().is_some_and(|text| text.starts_with("torch "));
        let check = verdict.checks.iter().filter(|check| check.id == "python-package").find(is_torch).unwrap();
        (
            verdict.status,
            check.status,
            [check.found.clone(), check.hint.clone()].map(Option::unwrap_or_default).join("; "),
        )
    };
    let listed = ("/python/packages/torch", json!("2.5.1"));
    let of_torch = |version: &str| ("/python/torch/version", json!(version));
    let (all, one, hint) = judged(&[listed.clone(), of_torch("2.5.1+cu124")]);
    assert_eq!((all, one), (Status::Pass, Status::Pass));
    assert!(hint.contains("torch says of itself that it is 2.5.1+cu124"), "{hint}");
    assert!(judged(&[listed.clone(), of_torch("2.5.1+cu118")]).2.starts_with("torch 2.5.1+cu118; another build"));
    // conda's has no variant in its name, and says its CUDA.
    assert_eq!(judged(&[listed.clone(), of_torch("2.5.1")]).1, Status::Pass);
    // Nobody asked torch: the index serves the locked build by default.
    let (_, one, hint) = judged(&[listed.clone(), ("/python/torch", Value::Null)]);
    assert!(one == Status::Pass && hint.contains("package index"), "{hint}");
    for other in ["2.5.1+cpu", "2.5.1+cu121", "2.5.0+cu124"] {
        assert_eq!(judged(&[listed.clone(), of_torch(other)]).1, Status::Fail, "{other}");
        assert_eq!(judged(&[("/python/packages/torch", json!(other)), ("/python/torch", Value::Null)]).1, Status::Fail);
    }
    // The default of the index is another build than this lock's.
    let lock = self::lock(&GPU.replace("cu124", "cu118"));
    let host = with(&[listed, ("/python/torch", Value::Null)]);
    assert_eq!(worst(&judge::judge(&lock, &host), "python-package").status, Status::Fail);
}

#[test]
fn a_child_that_did_not_end_is_unknown_whatever_it_said() {
    let lock = lock(SPEC);
    for (ended, detail) in [
        ("timed-out", "no answer within 20s in cuInit of /lib/libcuda.so.1"),
        ("crashed", "SIGSEGV in cuInit of /lib/libcuda.so.1"),
        ("garbled", "it printed more than 4 MiB in dlopen of /lib/libcuda.so.1"),
        ("garbled", "it ended without an answer in cuInit of /lib/libcuda.so.1"),
    ] {
        for devices in [json!([]), healthy()["libcuda"]["devices"].clone()] {
            let mut host = with(&[("/libcuda/devices", devices), ("/kernels", json!([]))]);
            let probes = host["probes"].as_array_mut().unwrap();
            probes.retain(|probe| probe["name"] != "libcuda" && probe["name"] != "kernels");
            probes.push(json!({ "name": "libcuda", "ended": ended, "detail": detail }));
            let verdict = judge::judge(&lock, &host);
            assert_eq!(verdict.status, Status::Unknown, "{verdict:#?}");
            let check = worst(&verdict, "libcuda");
            assert_eq!((check.status, check.found.as_deref()), (Status::Unknown, Some(detail)));
        }
    }
}

/// Two installations of torch: the one that is imported says which it is, the list may be of the other.
#[test]
fn a_torch_that_is_listed_and_not_imported_is_warned_of() {
    let ends = |listed: &str, said: &str| {
        let host = with(&[
            ("/python/packages/torch", json!(listed)),
            ("/python/torch", json!({ "version": said, "cuda": "12.4", "available": true })),
        ]);
        let verdict = judge::judge(&lock(GPU), &host);
        let of_torch = |check: &&Check| {
            check.id == "python-package" && check.expected.as_deref().is_some_and(|it| it.starts_with("torch 2"))
        };
        verdict.checks.iter().find(of_torch).map(|check| check.status)
    };
    assert_eq!(ends("2.5.1", "2.5.1"), Some(Status::Pass));
    assert_eq!(ends("2.4.0", "2.5.1"), Some(Status::Warn));
    assert_eq!(ends("2.5.1", "2.4.0"), Some(Status::Fail));
    assert_eq!(ends("2.4.0", "2.4.0"), Some(Status::Fail));
}

/// NVML talks to the driver through /dev/nvidiactl: where it shows GPUs, a node that is not there is only out of sight.
#[test]
fn nodes_that_a_sandbox_hides_prove_nothing() {
    let lock = lock(SPEC);
    let gone = |more: &[(&str, Value)]| {
        let mut host = with(&[("/libcuda", Value::Null), ("/kernels", json!([]))]);
        for node in host["nodes"].as_array_mut().unwrap() {
            node["errno"] = json!("ENOENT");
        }
        let probes = host["probes"].as_array_mut().unwrap();
        probes.retain(|probe| probe["name"] != "libcuda" && probe["name"] != "kernels");
        let detail = "SIGSEGV in cuInit of /lib/libcuda.so.1";
        probes.push(json!({ "name": "libcuda", "ended": "crashed", "detail": detail }));
        more.iter().for_each(|(at, value)| set(&mut host, at, value.clone()));
        let verdict = judge::judge(&lock, &host);
        (verdict.status, worst(&verdict, "device-nodes").status)
    };
    assert_eq!(gone(&[]), (Status::Unknown, Status::Warn));
    let silent = json!({ "fault": { "at": "nvmlInit_v2", "code": 9 } });
    assert_eq!(gone(&[("/nvml", silent)]), (Status::Fail, Status::Fail));
    let opens = [("/nodes/0/errno", Value::Null)];
    assert_eq!(gone(&opens), (Status::Fail, Status::Fail), "nvidiactl opens, and nvidia-uvm is not there");
    // Without a driver NVML says so at once: where it does not answer, one is there, whatever files are hidden.
    let waits = [("name", "nvml"), ("ended", "timed-out"), ("detail", "no answer within 2.5 s in nvmlInit_v2")];
    let waits = json!(waits.into_iter().collect::<std::collections::BTreeMap<_, _>>());
    let all = [("/nvml", Value::Null), ("/module", json!({})), ("/pci", json!([])), ("/probes/2", waits)];
    assert_eq!(gone(&all), (Status::Unknown, Status::Warn));
}

/// Each fault with who raised it, the check that speaks of it, how that ends, what is to be done, a word of the hint.
#[rustfmt::skip]
#[test]
fn faults_are_judged_by_who_raised_them() {
    use Status::{Fail, Unknown};
    let at = |at: &str, code: i64| json!({ "at": at, "code": code });
    let said = |at: &str, message: &str| json!({ "at": at, "message": message });
    let named = |at: &str, name: &str| json!({ "at": at, "name": name, "message": "no answer" });
    let own = |fault: Value| kernel(1, "built-in", "sm_90", fault);
    let nvrtc = |fault: Value| kernel(9, "nvrtc 12.4", "sm_90", fault);
    let nvcc = |fault: Value| kernel(9, "nvcc 12.4.131", "sm_90", fault);
    let exit = |code: i64, message: &str| json!({ "at": "nvcc", "code": code, "message": message });
    let cuda = |fault: Value| with(&[("/libcuda/fault", fault)]);
    let nvml = |code: i64| with(&[("/nvml/fault", at("nvmlInit_v2", code))]);
    let both = |code| with(&[("/nvml/fault", at("nvmlInit_v2", code)), ("/libcuda/fault", at("cuInit", code))]);
    let cases = [
        (nvcc(exit(2, "nvcc fatal: x")), "compile-nvcc", Fail, "fix-environment", "toolkit"),
        (nvcc(exit(1, "error: unsupported GNU version!")), "compile-nvcc", Fail, "fix-environment", "NVCC_CCBIN"),
        (nvcc(exit(1, "Failed to preprocess host compiler properties.")), "compile-nvcc", Fail, "fix-environment", "install g++"),
        (nvcc(exit(1, "nvcc fatal: Value 'sm_90' is not defined for option 'gpu-architecture'")), "compile-nvcc", Fail, "fix-environment", "architecture"),
        (nvcc(exit(1, "nvcc fatal   : Could not open output file '/tmp/tmpxft_0.stub.c'")), "compile-nvcc", Unknown, "fix-environment", "TMPDIR"),
        (nvcc(exit(1, "g++: fatal error: Killed signal terminated program cc1plus")), "compile-nvcc", Unknown, "none", "memory is short"),
        (nvcc(named("nvcc", "SIGKILL")), "compile-nvcc", Unknown, "none", "memory is short"),
        (nvcc(named("nvcc", "SIGSEGV")), "compile-nvcc", Unknown, "fix-environment", "crashed"),
        (nvcc(exit(2, "/usr/include/bits/mathcalls.h(79): error: exception specification is incompatible with that of previous function \"cospi\"")), "compile-nvcc", Fail, "fix-environment", "newer toolkit"),
        (nvcc(exit(255, "ptxas fatal   : Unsupported .version 8.4; current version is '8.0'")), "compile-nvcc", Fail, "fix-environment", "of one CUDA release"),
        (nvcc(exit(2, "No space left on device")), "compile-nvcc", Unknown, "fix-environment", "TMPDIR"),
        (nvcc(named("nvcc", "ETIMEDOUT")), "compile-nvcc", Unknown, "fix-environment", "--timeout"),
        (nvrtc(at("nvrtcCompileProgram", 1)), "compile-nvrtc", Unknown, "none", "memory"),
        (nvrtc(at("nvrtcCompileProgram", 5)), "compile-nvrtc", Fail, "fix-environment", "architecture"),
        (nvrtc(at("nvrtcCompileProgram", 6)), "compile-nvrtc", Fail, "fix-environment", "compiles elsewhere"),
        (nvrtc(at("nvrtcCompileProgram", 7)), "compile-nvrtc", Fail, "fix-environment", "libnvrtc-builtins"),
        (nvrtc(at("nvrtcCompileProgram", 11)), "compile-nvrtc", Fail, "fix-environment", "by itself"),
        (nvrtc(said("nvrtc: dlopen", "libx.so: cannot open")), "compile-nvrtc", Fail, "fix-environment", "cannot be loaded"),
        (nvrtc(said("nvrtcVersion", "undefined symbol")), "compile-nvrtc", Fail, "fix-environment", "damaged"),
        (nvrtc(named("nvrtc", "SIGABRT")), "compile-nvrtc", Unknown, "fix-environment", "crashed"),
        (own(at("cuModuleGetFunction", 500)), "kernel-native", Fail, "ask-admin", "does not find a function"),
        (own(at("cuModuleLoadDataEx", 999)), "kernel-native", Fail, "reboot", "while a kernel was run"),
        (own(at("cuLaunchKernel", 701)), "kernel-native", Fail, "ask-admin", "MPS"),
        (own(at("cuCtxSynchronize", 702)), "kernel-native", Fail, "drain", "did not end"),
        (own(at("cuCtxSynchronize", 719)), "kernel-native", Fail, "drain", "Xid"),
        (own(at("cuCtxSynchronize", 714)), "kernel-native", Fail, "drain", "Xid"),
        (own(at("cuCtxSynchronize", 710)), "kernel-native", Fail, "drain", "Xid"),
        (own(at("cuCtxSynchronize", 909)), "kernel-native", Unknown, "ask-admin", "did not answer"),
        (own(named("cuLaunchKernel", "SIGKILL")), "kernel-native", Unknown, "ask-admin", "memory is short"),
        (own(at("cuMemAlloc_v2", 2)), "kernel-native", Unknown, "none", "memory is full"),
        (own(at("cuDevicePrimaryCtxRetain", 2)), "kernel-native", Fail, "fix-environment", "ulimit -v"),
        (cuda(at("cuInit", 2)), "libcuda", Fail, "fix-environment", "ulimit -v"),
        (own(at("cuLaunchKernel", 1)), "kernel-native", Fail, "ask-admin", "right elsewhere"),
        (own(named("cuCtxSynchronize", "ETIMEDOUT")), "kernel-native", Fail, "drain", "does not end on this GPU"),
        (own(named("cuCtxSynchronize", "ECANCELED")), "kernel-native", Unknown, "none", "longer `--timeout`"),
        (own(named("cuLaunchKernel", "EPROTO")), "kernel-native", Unknown, "ask-admin", "ended the process"),
        (nvcc(named("nvcc", "ECANCELED")), "compile-nvcc", Unknown, "fix-environment", "--timeout"),
        (both(999), "libcuda", Fail, "reboot", "NVML does too"),
        (own(named("cuModuleLoadDataEx", "ETIMEDOUT")), "kernel-native", Unknown, "ask-admin", "did not answer in cuModuleLoadDataEx"),
        (own(named("cuLaunchKernel", "SIGSEGV")), "kernel-native", Unknown, "ask-admin", "crashed"),
        (own(said("cuDeviceGet", "undefined symbol: cuDeviceGet")), "kernel-native", Fail, "ask-admin", "has no cuDeviceGet"),
        (cuda(at("cuInit", 102)), "libcuda", Fail, "ask-admin", "licence"),
        (cuda(at("cuInit", 919)), "libcuda", Fail, "ask-admin", "nvidia-fabricmanager"),
        (cuda(at("cuInit", 302)), "libcuda", Fail, "ask-admin", "of its own"),
        (cuda(at("cuInit", 808)), "libcuda", Fail, "fix-environment", "clients"),
        (cuda(said("dlopen", "/x/libcuda.so.1: wrong ELF class: ELFCLASS32")), "libcuda", Fail, "fix-environment", "32 bits"),
        (cuda(said("dlopen", "libnvidia-x.so.1: cannot open shared object file: No such file or directory")), "libcuda", Fail, "ask-admin", "needs libnvidia-x.so.1"),
        (nvml(8), "nvml", Fail, "drain", "power"),
        (nvml(10), "nvml", Unknown, "ask-admin", "in time"),
        (nvml(11), "nvml", Fail, "reboot", "interrupts"),
    ];
    let lock = lock(SPEC);
    let mut wrong = Vec::new();
    for (host, id, status, action, says) in &cases {
        let verdict = judge::judge(&lock, host);
        let Some(check) = verdict.checks.iter().filter(|check| check.id == *id).max_by_key(|check| check.status) else {
            wrong.push(format!("no {id} for {says}"));
            continue;
        };
        let hint = check.hint.clone().unwrap_or_default();
        if (check.status, check.action.as_str()) != (*status, *action) || !hint.contains(says) {
            wrong.push(format!("{id} {says}: {:?} {} {hint:?}", check.status, check.action.as_str()));
        }
        // A compiler's fault is not the GPU's.
        if id.starts_with("compile-") && worst(&verdict, "kernel-native").status != Status::Pass {
            wrong.push(format!("{id} {says}: kernel-native"));
        }
    }
    assert!(cases.len() >= 30 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A release that nobody told is not another release.
#[test]
fn an_nvcc_that_does_not_answer_leaves_its_release_open() {
    let lock = lock(SPEC);
    for (fault, status) in [
        (json!({ "at": "nvcc", "name": "ETIMEDOUT", "message": "no answer within 5 s" }), Status::Unknown),
        (json!({ "at": "nvcc", "name": "SIGSEGV" }), Status::Unknown),
        (json!({ "at": "nvcc", "code": 127, "message": "libm.so.6: cannot open shared object file" }), Status::Unknown),
        (json!({ "at": "CUDA_HOME", "name": "ENOENT" }), Status::Fail),
    ] {
        let toolkit = json!({ "root": "/opt/cuda", "named_by": ["CUDA_HOME"], "fault": fault });
        let verdict = judge::judge(&lock, &with(&[("/toolkits", json!([toolkit]))]));
        for id in ["toolkit", "toolkit-path"] {
            assert_eq!(worst(&verdict, id).status, status, "{id}: {verdict:#?}");
        }
        assert_eq!(verdict.status, status);
    }
    // One that answers beside it decides, and one that leads elsewhere is wrong all the same.
    let silent =
        json!({ "root": "/opt/cuda", "named_by": ["CUDA_HOME"], "fault": { "at": "nvcc", "name": "ETIMEDOUT" } });
    let verdict = judge::judge(&lock, &with(&[("/toolkits/1", silent)]));
    let ends = ["toolkit", "toolkit-path"].map(|id| worst(&verdict, id).status);
    assert_eq!(ends, [Status::Pass, Status::Unknown]);
}

/// Of a torch that could not be imported nothing is known, least of all that it is a CPU build.
#[test]
fn an_import_that_failed_or_did_not_end_is_no_cpu_build() {
    let of = |message: &str, ended: &str| {
        let mut host = with(&[("/python/torch", json!({ "messages": [message] }))]);
        let probes = host["probes"].as_array_mut().unwrap();
        probes.retain(|probe| probe["name"] != "torch");
        let (ended, detail) = if ended == "killed" { ("crashed", message) } else { (ended, "no answer within 90 s") };
        probes.push(json!({ "name": "torch", "ended": ended, "detail": detail }));
        judge::judge(&lock(GPU), &host)
    };
    let symbol = "import torch: ImportError: /x/libtorch_cuda.so: undefined symbol: ncclCommRegister";
    for (verdict, status, says) in [
        (of(symbol, "done"), Status::Fail, "nvidia-nccl"),
        (
            of("import torch: OSError: of no kind that is known", "done"),
            Status::Fail,
            "install the locked packages again",
        ),
        (of("ETIMEDOUT", "timed-out"), Status::Unknown, "import torch"),
        (of("SIGABRT", "crashed"), Status::Unknown, "crashes while it imports torch"),
        (of("SIGKILL", "killed"), Status::Unknown, "memory is short"),
    ] {
        let check = worst(&verdict, "torch-import");
        assert!(check.status == status && check.hint.as_ref().unwrap().contains(says), "{check:?}");
        assert!(
            verdict.status == status && verdict.checks.iter().all(|check| check.id != "torch-cuda"),
            "{verdict:#?}"
        );
    }
    assert!(worst(&of(symbol, "done"), "torch-import").found.as_ref().unwrap().contains("undefined symbol"));
    let imported = with(&[("/python/torch", json!({ "version": "2.5.1+cpu" }))]);
    assert_eq!(worst(&judge::judge(&lock(GPU), &imported), "torch-cuda").found.as_deref(), Some("a CPU build"));
}

/// Where CUDA starts on the other GPUs, what they share is not to blame, and only what is the GPU's own drains it.
#[rustfmt::skip]
#[test]
fn one_sick_gpu_of_several_is_judged_by_its_own_fault() {
    use Status::{Fail, Unknown};
    let lock = lock(GPU);
    let name = |name: &str| json!({ "at": "cuInit", "name": name });
    let code = |code: i64| json!({ "at": "cuInit", "code": code });
    for (fault, usable, libcuda, status) in [
        (code(999), (Fail, "ask-admin", "other GPUs"), (Fail, "ask-admin", "gpu-usable"), Fail),
        (code(46), (Fail, "fix-environment", "another process"), (Fail, "ask-admin", "gpu-usable"), Fail),
        (code(214), (Fail, "drain", "memory or links"), (Fail, "drain", "out of service"), Fail),
        (name("ETIMEDOUT"), (Fail, "drain", "other GPUs"), (Fail, "drain", "out of service"), Fail),
        (name("SIGSEGV"), (Unknown, "ask-admin", "other GPUs"), (Fail, "ask-admin", "gpu-usable"), Fail),
        (name("EPROTO"), (Unknown, "ask-admin", "other GPUs"), (Fail, "ask-admin", "gpu-usable"), Fail),
        (name("ECANCELED"), (Unknown, "none", "--timeout"), (Unknown, "none", "--timeout"), Unknown),
    ] {
        let device = |ordinal: u64, fault: Value| json!({ "ordinal": ordinal, "name": "NVIDIA H100 NVL", "uuid": format!("GPU-{ordinal}"), "visible_as": format!("GPU-{ordinal}"), "compute_capability": "9.0", "fault": fault });
        let devices = json!([device(0, Value::Null), device(1, fault.clone())]);
        let gpu = |index: u64| json!({ "index": index, "name": "NVIDIA H100 NVL", "uuid": format!("GPU-{index}") });
        let host = with(&[("/libcuda/devices", devices), ("/libcuda/fault", code(999)), ("/nvml/gpus", json!([gpu(0), gpu(1)])), ("/pci", json!([]))]);
        let verdict = judge::judge(&lock, &host);
        for (id, (status, action, says)) in [("gpu-usable", usable), ("libcuda", libcuda)] {
            let check = worst(&verdict, id);
            assert_eq!((check.status, check.action.as_str()), (status, action), "{fault} {check:?}");
            assert!(check.hint.as_ref().unwrap().contains(says), "{fault} {check:?}");
        }
        assert_eq!(verdict.status, status, "{fault}");
    }
}

/// NVML starts with the kernel module only, whatever files a sandbox hides.
#[test]
fn a_sandbox_without_sysfs_has_the_module_that_nvml_answers_by() {
    let full = json!({ "at": "cuInit", "code": 2 });
    let host = with(&[
        ("/module", json!({})),
        ("/libcuda/fault", full),
        ("/nvml/gpus/0/memory_used", json!(100_500_000_000u64)),
        ("/libcuda/devices", json!([])),
        ("/kernels", json!([])),
    ]);
    let verdict = judge::judge(&lock(GPU), &host);
    assert_eq!(
        (worst(&verdict, "driver-present").status, verdict.status),
        (Status::Pass, Status::Unknown),
        "{verdict:#?}"
    );
}

/// A text that lists no instance of MIG does not say that there is none.
#[test]
fn instances_that_a_text_cannot_list_are_not_known() {
    let csv = "name, driver_version, compute_cap, mig.mode.current\nNVIDIA H100 NVL, 550.54.15, 9.0, Enabled\n";
    let xml = |list: &str| {
        format!(
            "<nvidia_smi_log>\n<driver_version>550.54.15</driver_version>\n<gpu id=\"00000000:65:00.0\">\n\
         <product_name>NVIDIA H100 NVL</product_name>\n<mig_mode>\n<current_mig>Enabled</current_mig>\n</mig_mode>\n\
         <mig_devices>{list}</mig_devices>\n</gpu>\n</nvidia_smi_log>\n"
        )
    };
    for (text, status, found) in [
        (csv.to_string(), Status::Unknown, "MIG is on"),
        (xml("None"), Status::Fail, "MIG is on without instances"),
        (xml("\n None\n"), Status::Fail, "MIG is on without instances"),
        (
            xml("<mig_device>\n<fb_memory_usage>\n<total>11008 MiB</total>\n</fb_memory_usage>\n</mig_device>"),
            Status::Warn,
            "1 instance",
        ),
    ] {
        let record = gpuenv::host::read_any(&text).unwrap();
        let verdict = verify::judge(&lock(GPU), "prod", &record, &BUILTIN).unwrap();
        let check = worst(&verdict, "gpu-mig");
        assert_eq!((check.status, check.found.as_deref()), (status, Some(found)), "{text}");
    }
}

/// Whoever sets a rule about drivers aside knows the hosts: the target still has its GPU, and it is judged.
#[test]
fn an_overridden_rule_of_the_driver_leaves_the_gpu_judged() {
    let spec = "[stack]\ntorch = \"2.9.1+cu130\"\npython = \"3.11\"\n[target.lab]\ngpu = \"RTX 3090\"\nDRIVER[[override]]\nrule = \"cuda-13-driver\"\ntarget = \"lab\"\nreason = \"ticket 9\"\n";
    let host = |name: &str, cc: &str| {
        let gpu = json!({ "index": 0, "name": name, "compute_capability": cc });
        record(
            &json!({ "format": 1, "origin": "pasted", "nvml": { "driver": "550.54.15", "cuda": "12.4", "gpus": [gpu] } }),
        )
    };
    for driver in ["", "driver = \"550\"\n"] {
        let lock = lock(&spec.replace("DRIVER", driver));
        let judged = |host| verify::best(&Against::new(&lock, &BUILTIN), &["lab"], false, &host).unwrap().0;
        let right = judged(host("NVIDIA GeForce RTX 3090", "8.6"));
        assert_eq!(right.status, Status::Pass, "{right:#?}");
        let told = |check: &Check| check.hint.as_ref().is_some_and(|hint| hint.contains("ticket 9"));
        assert!(right.checks.iter().any(told), "{right:#?}");
        let wrong = judged(host("Tesla K80", "3.7"));
        assert_eq!(worst(&wrong, "gpu-supported").status, Status::Fail);
    }
}

/// A lock for one GPU says of another what is true of it: its list leaves it out, or nothing in it holds its code; and
/// PTX in its list is none of the wheels'.
#[test]
fn why_another_gpu_is_refused_is_true() {
    let wheels = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.a]\ngpu = \"V100-SXM2-16GB\"\n";
    let with_ptx = format!("{wheels}[build]\nptx = true\n");
    for (spec, name, cc, status, says) in [
        (wheels, "NVIDIA GeForce RTX 3090", "8.6", Status::Fail, "though torch 2.5.1 holds code for sm_86"),
        (wheels, "NVIDIA GeForce RTX 5090", "12.0", Status::Fail, "the locked torch 2.5.1 holds no code for sm_120"),
        (&with_ptx, "NVIDIA GeForce RTX 3090", "8.6", Status::Warn, "would have to compile the lock's PTX"),
        (&with_ptx, "NVIDIA GeForce RTX 5090", "12.0", Status::Fail, "the locked torch 2.5.1 holds no code for sm_120"),
    ] {
        let lock = lock(spec);
        let host = with(&[
            ("/libcuda/devices/0/name", json!(name)),
            ("/libcuda/devices/0/compute_capability", json!(cc)),
            ("/nvml/gpus", json!([])),
        ]);
        let verdict = judge::judge(&lock, &host);
        let check = worst(&verdict, "gpu-supported");
        assert!(check.status == status && check.hint.as_ref().unwrap().contains(says), "{spec}: {check:?}");
    }
}

/// A driver that is new enough needs no cuda-compat, whether a text tells its CUDA or its release alone.
#[test]
fn a_newer_driver_needs_no_compat_package() {
    let spec = "[stack]\ntorch = \"2.9.1+cu130\"\npython = \"3.11\"\n[target.a]\ngpu = \"A100\"\ndriver = \"535\"\n";
    for cuda in [json!("13.2"), Value::Null] {
        let gpu = json!({ "index": 0, "name": "NVIDIA A100-SXM4-40GB", "compute_capability": "8.0" });
        let nvml = json!({ "driver": "595.58.03", "cuda": cuda, "gpus": [gpu] });
        let host = json!({ "format": 1, "origin": "pasted", "nvml": nvml });
        let verdict = judge::judge(&lock(spec), &host);
        assert_eq!(verdict.status, Status::Pass, "{cuda}: {verdict:#?}");
    }
}

#[test]
fn a_lock_that_is_out_of_date_is_told() {
    let sandbox = sandbox("faults-stale", GPU, &healthy());
    let (code, told) = sandbox.json(&["verify", "--host", "host.json"]);
    assert_eq!((code, told["checks"].as_array().unwrap().iter().any(|check| check["id"] == "stale-lock")), (0, false));
    sandbox.write(&GPU.replace("3.11", "3.12"));
    sandbox.run(&["verify", "--host", "host.json"]).exits(0).tells("stale-lock").tells("gpuenv lock");
    let stale = sandbox.run(&["verify", "--host", "host.json", "--locked"]).exits(1).tells("stale-lock");
    // The host is not to blame, and gpuenv.toml was changed already.
    assert!(!stale.out.contains("cannot run") && !stale.out.contains("change gpuenv.toml"), "{stale:?}");
    stale.tells("FAIL: the lock is out of date; the host can run its `prod`.").tells("run `gpuenv lock`; then verify");
    sandbox.write(GPU);
    let text = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    let edited = text.replacen("minimum = \"", "minimum = \"1", 1);
    assert_ne!(text, edited);
    fs::write(sandbox.path("gpuenv.lock"), edited).unwrap();
    sandbox.run(&["verify", "--host", "host.json", "--locked"]).exits(1).tells("edited by hand");
    // A lock travels without its spec.
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    fs::write(sandbox.path("gpuenv.lock"), text).unwrap();
    sandbox.run(&["verify", "--host", "host.json", "--locked"]).exits(0).says("was not checked");
    fs::create_dir(sandbox.path("gpuenv.toml")).unwrap();
    sandbox.run(&["verify", "--host", "host.json", "--locked"]).exits(4).says("gpuenv.toml is a folder");
}

#[test]
fn a_host_comes_through_a_pipe() {
    let sandbox = sandbox("faults-pipe", GPU, &healthy());
    let pipe = sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (from, to) = (sandbox.path("host.json"), pipe.clone());
    let writer = std::thread::spawn(move || fs::write(to, fs::read(from).unwrap()).unwrap());
    sandbox.run(&["verify", "--host", pipe.to_str().unwrap()]).exits(0);
    writer.join().unwrap();
    // A device could be read for ever.
    symlink("/dev/zero", sandbox.path("zero")).unwrap();
    sandbox.run(&["verify", "--host", "zero"]).exits(4);
}

#[test]
fn advice_can_be_followed() {
    let mut host = healthy();
    set(&mut host, "/platform/arch", json!("ppc64le"));
    let verdict = judge::judge(&lock(GPU), &host);
    let check = worst(&verdict, "platform-arch");
    assert!(!check.hint.as_ref().unwrap().contains("arch = "), "{check:?}");
    set(&mut host, "/platform/arch", json!("aarch64"));
    let verdict = judge::judge(&lock(GPU), &host);
    assert!(worst(&verdict, "platform-arch").hint.as_ref().unwrap().contains("arch = \"aarch64\""));
    // A Jetson of which nothing is known has not passed.
    let jetson = json!({ "format": 1, "origin": "pasted", "platform": { "system": "tegra" }, "nvml": { "gpus": [{ "name": "Orin (nvgpu)" }] } });
    let lock = lock("[stack]\ntorch = \"2.8\"\n[target.robot]\ngpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"\n");
    let verdict = verify::judge(&lock, "robot", &record(&jetson), &BUILTIN).unwrap();
    assert_eq!(worst(&verdict, "driver-minimum").status, Status::Unknown, "{verdict:#?}");
    // Where a report does not tell the driver, nobody says that there is none.
    let sandbox =
        sandbox("faults-untold", GPU, &json!({ "format": 1, "origin": "pasted", "platform": { "os": "ubuntu22.04" } }));
    let told = sandbox.run(&["probe", "--from", "host.json"]).exits(0).out;
    assert!(told.contains("not told") && !told.contains("none"), "{told}");
}

/// As many GPUs as a record may list, each with a UUID of its own, cost little more than one: those that are called alike
/// are judged once. More are nobody's.
#[test]
fn a_record_of_many_gpus_is_judged_in_no_time() {
    let lock = lock(&GPU.replace("H100 NVL", "A100-SXM4-80GB"));
    let many = |count: usize, name: &dyn Fn(usize) -> String| {
        let gpu = |at: usize| json!({ "index": at, "name": name(at), "uuid": format!("GPU-{at}"), "pci": format!("{at:04x}:01:00.0"), "compute_capability": "9.0" });
        let device = |at: usize| {
            let mut device = gpu(at);
            device["ordinal"] = device.as_object_mut().unwrap().remove("index").unwrap();
            device
        };
        let gpus: Vec<Value> = (0..count).map(gpu).collect();
        let devices: Vec<Value> = (0..count).map(device).collect();
        let mut host = with(&[("/kernels", json!([])), ("/pci", json!([]))]);
        host["nvml"]["gpus"] = json!(gpus);
        host["libcuda"]["devices"] = json!(devices);
        host
    };
    for name in [&|_| "NVIDIA H100 NVL".to_string(), &|at| format!("H100x{at}")] as [&dyn Fn(usize) -> String; 2] {
        let host = many(1_024, name);
        let began = Instant::now();
        let verdict = judge::judge(&lock, &host);
        let took = began.elapsed();
        assert_eq!(verdict.checks.iter().filter(|check| check.id == "gpu-supported").count(), 1_024);
        assert_eq!(worst(&verdict, "gpu-supported").status, Status::Fail);
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
    let sandbox = sandbox("faults-many", GPU, &many(1_025, &|_| "NVIDIA H100 NVL".to_string()));
    sandbox.run(&["verify", "--host", "host.json"]).exits(2).says("it lists 1025 GPUs, and no machine has more");
    sandbox.run(&["fleet", "check", "host.json"]).exits(3).tells("it lists 1025 GPUs");
}

#[test]
fn a_preloaded_library_is_told() {
    let verdict = judge::judge(&lock(GPU), &with(&[("/environment/LD_PRELOAD", json!("/opt/x.so"))]));
    assert_eq!(worst(&verdict, "environment-preload").status, Status::Warn);
    assert_eq!(verdict.status, Status::Pass);
}

#[test]
fn gpus_that_do_not_work_together_are_told() {
    let lock = lock(GPU);
    for (key, id) in [("copied", "torch-peers"), ("reduced", "torch-allreduce")] {
        let of = |right: bool| judge::judge(&lock, &with(&[(&format!("/python/torch/{key}"), json!(right))]));
        assert_eq!(worst(&of(true), id).status, Status::Pass);
        assert_eq!((worst(&of(false), id).status, of(false).status), (Status::Fail, Status::Fail));
    }
}

/// Before the locked packages are installed nobody loads what else lies on a host: they bring their own.
#[test]
fn what_a_host_has_before_installation_is_no_mistake() {
    let libraries = json!([
        { "name": "cudart", "soname": "libcudart.so.11.0", "path": "/usr/local/cuda-11.8/lib64/libcudart.so.11.8.89", "found_by": "ld.so.cache", "version": "11.8" },
        { "name": "cudnn", "soname": "libcudnn.so.8", "path": "/usr/lib/libcudnn.so.8.9.7", "found_by": "LD_LIBRARY_PATH", "version": "8.9.7" },
        { "name": "nccl", "soname": "libnccl.so.2", "path": "/usr/lib/libnccl.so.2.18.3", "found_by": "ld.so.cache", "version": "2.18.3" }
    ]);
    let host = |packages: Value| {
        let python = json!({ "path": "/v/bin/python", "named_by": "VIRTUAL_ENV", "version": "3.11.9", "bits": 64, "packages": packages });
        with(&[("/libraries", libraries.clone()), ("/python", python)])
    };
    assert_eq!(judge::judge(&lock(GPU), &host(json!({}))).status, Status::Pass);
    let mut of_jax = host(json!({ "jax": "0.4.33", "nvidia-cudnn-cu12": "8.9.7.29" }));
    set(&mut of_jax, "/libraries", Value::Null);
    let verdict = judge::judge(&lock(GPU), &of_jax);
    assert_eq!((worst(&verdict, "library-cudnn").status, verdict.status), (Status::Skip, Status::Pass), "{verdict:#?}");
    let installed = judge::judge(&lock(GPU), &host(json!({ "torch": "2.5.1+cu124" })));
    for id in ["library-cudart", "library-cudnn", "library-nccl"] {
        assert_eq!(worst(&installed, id).status, Status::Fail, "{id}");
    }
    // A TensorFlow that leaves them to the system takes what is there.
    let system =
        lock("[stack]\ntensorflow = \"2.13\"\ncudnn = \"8.6\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    assert_eq!(worst(&judge::judge(&system, &host(json!({}))), "library-cudart").found.as_deref(), Some("11.8"));
    // The lock names the cuDNN that the image has; in another one that which the release was built with does as well.
    let in_image = lock(
        "[stack]\ntensorflow = \"2.13\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\nimage = \"nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\"\n",
    );
    let with_cudnn = |version: &str| {
        let mut host = host(json!({}));
        set(&mut host, "/libraries/1/version", json!(version));
        set(&mut host, "/libraries/0/version", json!("11.7"));
        set(&mut host, "/platform/container", json!("docker"));
        host
    };
    for (cudnn, status) in
        [("8.9.6", Status::Pass), ("8.6.0", Status::Warn), ("8.5.0", Status::Fail), ("9.1.0", Status::Fail)]
    {
        let verdict = judge::judge(&in_image, &with_cudnn(cudnn));
        assert_eq!(worst(&verdict, "library-cudnn").status, status, "{cudnn}: {:#?}", worst(&verdict, "library-cudnn"));
        assert_ne!(worst(&verdict, "library-cudart").status, Status::Fail, "{cudnn}");
    }
}

/// A GPU that the lock does not name is judged by the locked code: it matters where it is all there is.
#[test]
fn a_gpu_beside_a_named_one_is_left_alone_and_an_unnamed_one_is_judged_by_the_builds() {
    let other = |at: usize, name: &str, cc: &str| {
        let pci = format!("0000:{at}3:00.0");
        [
            (format!("/nvml/gpus/{at}"), json!({ "index": at, "name": name, "pci": pci, "compute_capability": cc })),
            (
                format!("/libcuda/devices/{at}"),
                json!({ "ordinal": at, "name": name, "pci": pci, "compute_capability": cc }),
            ),
        ]
    };
    let host = |at: usize, name: &str, cc: &str| {
        let changes = other(at, name, cc);
        let changes: Vec<(&str, Value)> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        with(&changes)
    };
    let unnamed = lock("[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\n");
    for (lock, host, check, status, verdict) in [
        (lock(GPU), host(1, "NVIDIA GeForce GT 1030", "6.1"), "gpu-supported", Status::Warn, Status::Pass),
        (lock(GPU), host(1, "Quadro M2000", "5.2"), "torch-arch-list", Status::Pass, Status::Pass),
        (lock(GPU), host(1, "Tesla K80", "3.7"), "torch-arch-list", Status::Warn, Status::Pass),
        (lock(GPU), host(0, "NVIDIA GeForce GT 1030", "6.1"), "gpu-supported", Status::Fail, Status::Fail),
        (unnamed.clone(), host(0, "NVIDIA GeForce RTX 5090", "12.0"), "gpu-supported", Status::Fail, Status::Fail),
        (unnamed, healthy(), "gpu-supported", Status::Warn, Status::Pass),
    ] {
        let found = judge::judge(&lock, &host);
        assert_eq!((worst(&found, check).status, found.status), (status, verdict), "{check}: {found:#?}");
    }
}

/// What somebody wanted so is no warning, and many GPUs that one reason hides are one.
#[test]
fn hosts_in_order_are_not_warned_of() {
    let warned = |spec: &str, changes: &[(&str, Value)]| -> Vec<String> {
        let checks = judge::judge(&lock(spec), &with(changes)).checks;
        let warned =
            checks.into_iter().filter(|check| check.status == Status::Warn && check.id.starts_with(['g', 'e']));
        warned.map(|check| format!("{}: {:?}", check.id, check.found)).collect()
    };
    let off = [("/environment/CUDA_LAUNCH_BLOCKING", json!("0")), ("/environment/CUDA_PROFILE", json!(""))];
    assert!(warned(GPU, &off).is_empty());
    assert_eq!(warned(GPU, &[("/environment/CUDA_LAUNCH_BLOCKING", json!("1"))]).len(), 1);
    let mig = [("/nvml/gpus/0/mig", json!(true)), ("/nvml/gpus/0/instances", json!([{ "profile": "1g.12gb" }]))];
    assert_eq!(warned(GPU, &mig).len(), 1);
    assert!(warned(&GPU.replace("H100 NVL", "NVIDIA H100 NVL MIG 1g.12gb"), &mig).is_empty());
    let virtual_gpu = [
        ("/nvml/gpus/0/virtualization", json!("vgpu")),
        ("/nvml/gpus/0/name", json!("NVIDIA H100L-94C")),
        ("/libcuda/devices/0/name", json!("NVIDIA H100L-94C")),
    ];
    assert!(warned(&GPU.replace("H100 NVL", "NVIDIA H100L-94C"), &virtual_gpu).is_empty());
    let gpu = |at: usize| json!({ "index": at, "name": "NVIDIA H100 NVL", "pci": format!("0000:b{at}:00.0") });
    let mut hidden = vec![("/environment/CUDA_VISIBLE_DEVICES".to_string(), json!("0"))];
    hidden.extend((1..8).map(|at| (format!("/nvml/gpus/{at}"), gpu(at))));
    let hidden: Vec<(&str, Value)> = hidden.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    assert_eq!(warned(GPU, &hidden), ["gpu-hidden: Some(\"7 GPUs: NVML shows it, CUDA does not\")"]);
}
