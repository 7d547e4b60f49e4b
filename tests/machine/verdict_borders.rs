//! More hosts beside which another lies that is judged otherwise: what is not there, and what is told of several.

use gpuenv::verify::Status::{Fail, Pass, Unknown, Warn};
use gpuenv::verify::{Action, Verdict};
use serde_json::{Value, json};

use super::verdict_neighbours::{Case, GPU, hold, no_cuda, one, second};
use crate::common::judge::{SPEC, judge, lock, with, worst};

/// Whether a verdict has a check, whatever it says.
fn is_checked(spec: &str, changes: &[(String, Value)], id: &str) -> bool {
    let changes: Vec<(&str, Value)> = changes.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
    judge(&lock(spec), &with(&changes)).checks.iter().any(|check| check.id == id)
}

/// A toolkit is told as far as somebody knows it: by its line, or down to its build.
#[test]
fn a_toolkit_is_the_locked_one_as_far_as_both_are_told() {
    let lock = lock(SPEC);
    let found = |version: &str| one("/toolkits/0/version", json!(version));
    let case = |version: &str, status| -> Case<'_> { (&lock, found(version), "toolkit", status, "") };
    hold(vec![
        case("12.4", Pass),
        case("12.4.1", Pass),
        case("12.4.1.5", Pass),
        case("12.5", Fail),
        case("12.4.0", Warn),
        case("12", Pass),
    ]);
}

/// The list of architectures is that of the GPUs that a target names: a second GPU is judged by what the locked builds hold
/// for it, and nobody is told that the lock does not name one which another target names.
#[test]
fn a_second_gpu_is_judged_by_the_locked_builds() {
    let alone = lock(GPU);
    let servers = GPU.replace("[target.prod]", "[resolve]\nshare = \"versions\"\n[target.prod]");
    let both = lock(&format!("{servers}[target.v]\ngpu = \"Tesla V100\"\n"));
    let v100 = || second("Tesla V100-SXM2-32GB", "7.0");
    let held = "the lock does not name this GPU, though torch 2.5.1 holds code for sm_70";
    hold(vec![
        (&alone, v100(), "gpu-supported", Warn, held),
        (&alone, second("Tesla T4", "7.5"), "gpu-supported", Warn, "or name it in gpuenv.toml and lock again"),
        (
            &alone,
            second("Tesla K80", "3.7"),
            "gpu-supported",
            Warn,
            "torch 2.5.1 holds no code for sm_37, and the lock",
        ),
        (
            &both,
            v100(),
            "gpu-supported",
            Warn,
            "target `v` names this GPU, `prod` does not: in jobs of `prod` leave it",
        ),
        // It asks nothing of the driver either: 550.54.15 is older than the first to list it.
        (&alone, second("NVIDIA GeForce RTX 5090", "12.0"), "driver-minimum", Pass, ""),
        (&both, second("Tesla T4", "7.5"), "gpu-supported", Warn, "name it under [target.prod] and lock again"),
        // Where no other GPU is there that the target names, it is not beside any.
        (
            &lock(&GPU.replace("H100 NVL", "Tesla V100")),
            Vec::new(),
            "gpu-supported",
            Fail,
            "the lock is for other GPUs",
        ),
    ]);
}

/// No driver is newer than the last branch for a host's GPUs: another lock helps, and the GPU is the cause.
#[test]
fn no_driver_is_asked_for_that_drops_the_gpu() {
    let lock = lock(GPU);
    let host = |gpus: &[(&str, &str)], driver: &str, cuda: &str| {
        let gpu =
            |(at, (name, cc)): (usize, &(&str, &str))| json!({ "index": at, "name": name, "compute_capability": cc });
        let gpus: Vec<Value> = gpus.iter().enumerate().map(gpu).collect();
        let nvml = json!({ "driver": driver, "cuda": cuda, "gpus": gpus });
        judge(&lock, &json!({ "format": 1, "origin": "pasted", "nvml": nvml }))
    };
    let first = |verdict: &Verdict| {
        let check = verdict.checks.iter().find(|check| check.status == Fail).unwrap();
        (check.id, check.action)
    };
    let kepler = host(&[("Tesla K80", "3.7")], "470.57.02", "11.4");
    assert_eq!(first(&kepler), ("gpu-supported", Action::ChangeLock), "{kepler:#?}");
    for id in ["driver-minimum", "driver-cuda"] {
        let check = worst(&kepler, id);
        let hint = check.hint.clone().unwrap_or_default();
        assert!(
            check.action == Action::ChangeLock && hint.contains("R470 is the last branch for Tesla K80"),
            "{check:#?}"
        );
    }
    // Another GPU there, or one that later branches drive, is served by a newer driver.
    for gpus in [&[("Tesla K80", "3.7"), ("NVIDIA H100 NVL", "9.0")][..], &[("NVIDIA H100 NVL", "9.0")]] {
        let verdict = host(gpus, "470.57.02", "11.4");
        assert_eq!(first(&verdict), ("driver-minimum", Action::AskAdmin), "{verdict:#?}");
        assert!(
            worst(&verdict, "driver-minimum").hint.as_ref().is_some_and(|hint| hint.starts_with("raise the driver"))
        );
    }
}

/// Kernels are compiled for GPUs: where none is needed, or no driver is, a compiler is nobody's fault.
#[test]
fn a_compiler_is_judged_where_a_gpu_is_needed_and_driven() {
    let cpu = GPU.replace("2.5.1+cu124", "2.5.1+cpu").replace("H100 NVL", "none");
    let bare = [
        ["/module", "/nvml", "/libcuda"].map(|at| one(at, Value::Null)).concat(),
        ["/pci", "/nodes", "/driver_libraries", "/compat"].map(|at| one(at, json!([]))).concat(),
    ];
    assert!(is_checked(GPU, &[], "compile-nvcc"));
    assert!(!is_checked(&cpu, &[], "compile-nvcc"));
    assert!(!is_checked(GPU, &bare.concat(), "compile-nvcc"));
    assert!(!is_checked(&cpu, &bare.concat(), "compile-nvcc"));
}

/// NVRTC is a library that may hang when it is asked for its release. So may another: that one compiles nothing.
#[test]
fn a_library_that_did_not_answer_is_blamed_for_its_own_work() {
    let silent = |name: &str, fault: &str| {
        let path = format!("/venv/nvidia/{name}/lib/lib{name}.so.12");
        let fault = json!({ "at": name, "name": fault, "message": "no answer" });
        let library = json!({ "name": name, "path": path, "found_by": "python", "fault": fault });
        [one("/libraries/3", library), one("/python/torch/mapped/0", json!(path))].concat()
    };
    assert!(is_checked(GPU, &silent("nvrtc", "ETIMEDOUT"), "compile-nvrtc"));
    assert!(!is_checked(GPU, &silent("nvrtc", "ENOENT"), "compile-nvrtc"));
    assert!(!is_checked(GPU, &silent("cublas", "ETIMEDOUT"), "compile-nvrtc"));
}

/// CUDA takes memory of every GPU when it starts: one that is full explains that there was none.
#[test]
fn memory_of_the_host_is_short_only_where_every_gpu_has_room() {
    let lock = lock(GPU);
    let short = || [second("NVIDIA H100 NVL", "9.0"), no_cuda(2)].concat();
    let used = |at: usize, bytes: u64| {
        let gpu = format!("/nvml/gpus/{at}");
        [one(&format!("{gpu}/memory"), json!(100_485_038_080_u64)), one(&format!("{gpu}/memory_used"), json!(bytes))]
            .concat()
    };
    let (free, full) = (1_073_741_824, 100_000_000_000);
    let limit = "raise its limit";
    hold(vec![
        (&lock, [short(), used(0, free), used(1, free)].concat(), "libcuda", Fail, limit),
        (&lock, [short(), used(0, full), used(1, free)].concat(), "libcuda", Unknown, "memory is full"),
    ]);
    let both = [short(), used(0, full), used(1, free)].concat();
    let changes: Vec<(&str, Value)> = both.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
    let verdict = judge(&lock, &with(&changes));
    assert!(verdict.checks.iter().all(|check| !check.hint.clone().unwrap_or_default().contains(limit)), "{verdict:#?}");
}

/// `535` alone is some release of that branch, of which a later one may list the board.
#[test]
fn a_driver_told_by_its_branch_alone_is_not_called_too_old_for_a_board() {
    let lock = lock(&GPU.replace("H100 NVL", "sm_90"));
    let driver = |version: &str| {
        let names = ["/nvml/driver", "/nvml/file_version", "/module/version", "/libcuda/file_version"];
        let name = "NVIDIA H200 NVL";
        let board = [one("/nvml/gpus/0/name", json!(name)), one("/libcuda/devices/0/name", json!(name))].concat();
        [names.map(|at| one(at, json!(version))).concat(), board].concat()
    };
    let later = "driver 565.57.01 is the first known to list";
    hold(vec![
        (&lock, driver("565"), "driver-minimum", Pass, ""),
        (&lock, driver("565.57.01"), "driver-minimum", Pass, ""),
        (&lock, driver("560.35.03"), "driver-minimum", Warn, later),
    ]);
}

/// An instance of which no UUID is told may be the one that is named.
#[test]
fn an_instance_without_a_uuid_may_be_the_one_that_is_named() {
    let lock = lock(GPU);
    let cut = |uuid: Option<&str>| {
        let mut instance = json!({ "profile": "1g.12gb" });
        if let Some(uuid) = uuid {
            instance["uuid"] = json!(uuid);
        }
        let variable = one("/environment/CUDA_VISIBLE_DEVICES", json!("MIG-1111"));
        let text = [one("/origin", json!("pasted")), one("/python/torch", Value::Null), variable].concat();
        [text, one("/nvml/gpus/0/mig", json!(true)), one("/nvml/gpus/0/instances", json!([instance]))].concat()
    };
    let id = "environment-visible-devices";
    hold(vec![
        (&lock, cut(None), id, Pass, ""),
        (&lock, cut(Some("MIG-1111-2222")), id, Pass, ""),
        (&lock, cut(Some("MIG-2222-1111")), id, Fail, "hides every GPU"),
    ]);
}

/// Machine code that is not locked may fail beside that which is; of a lock without a list nobody knows which is meant.
#[test]
fn a_kernel_of_other_code_is_no_fault_of_the_lock() {
    let kernels = |codes: &[(&str, &str)]| {
        let kernel = |(code, outcome): &(&str, &str)| {
            let fault = json!({ "at": "cuModuleLoadData", "code": 209 });
            let mut kernel =
                json!({ "device": 0, "code": code, "compiler": "built-in", "program": "saxpy", "outcome": outcome });
            if *outcome == "failed" {
                kernel["fault"] = fault;
            }
            kernel
        };
        one("/kernels", json!(codes.iter().map(kernel).collect::<Vec<_>>()))
    };
    let mut unlisted = lock(SPEC);
    unlisted.arch_list = None;
    let listed = lock(GPU);
    let id = "kernel-native";
    hold(vec![
        (&listed, kernels(&[("sm_90a", "failed"), ("sm_90", "right")]), id, Pass, ""),
        (&listed, kernels(&[("sm_90", "failed"), ("sm_90a", "right")]), id, Fail, ""),
        (&unlisted, kernels(&[("sm_90a", "failed"), ("sm_90", "right")]), id, Fail, ""),
        (&unlisted, kernels(&[("sm_90a", "right"), ("sm_90", "right")]), id, Pass, ""),
    ]);
}

/// The flavour of the kernel modules is at fault where the bus has a GPU that nobody shows.
#[test]
fn modules_of_the_wrong_flavour_hide_a_gpu_that_is_there() {
    let lock = lock(&GPU.replace("2.5.1+cu124", "2.7.1+cu128").replace("H100 NVL", "RTX 5090"));
    let flavour = one("/module/flavour", json!("proprietary"));
    let none = || [one("/nvml/gpus", json!([])), no_cuda(100)].concat();
    let gone = || one("/pci", json!([]));
    let id = "driver-flavour";
    hold(vec![
        (&lock, [flavour.clone(), none()].concat(), id, Fail, "Install the open modules"),
        (&lock, [one("/module/flavour", json!("open")), none()].concat(), id, Pass, ""),
        // The bus has none, or another GPU answers: that the locked one does not is no fault of the modules.
        (&lock, [flavour.clone(), none(), gone()].concat(), id, Pass, ""),
        (&lock, flavour.clone(), id, Pass, ""),
        (&lock, [flavour, gone()].concat(), id, Pass, ""),
    ]);
}

/// What makes a device node depends on which it is, and on whether a container was given it.
#[test]
fn a_device_node_that_is_missing_is_made_where_it_belongs() {
    let lock = lock(GPU);
    let missing = |path: &str| {
        let nodes = json!([{ "path": "/dev/nvidiactl" }, { "path": path, "errno": "ENOENT" }]);
        [one("/nodes", nodes), no_cuda(999)].concat()
    };
    let inside = |path: &str| [missing(path), one("/platform/container", json!("docker"))].concat();
    let id = "device-nodes";
    hold(vec![
        (&lock, missing("/dev/nvidia-uvm"), id, Fail, "`nvidia-modprobe -c 0 -u`"),
        (&lock, missing("/dev/nvidia0"), id, Fail, "`--gpus all` gives it to a container"),
        (&lock, inside("/dev/nvidia-uvm"), id, Fail, "start the container again with this device in it"),
        (&lock, inside("/dev/nvidia0"), id, Fail, "`--gpus all` gives it to a container"),
    ]);
}

/// A kernel's child that crashed on a GPU is told once: by the GPU that has a row of its own.
#[test]
fn an_end_on_another_gpu_is_not_told_by_the_first() {
    let lock = lock(GPU);
    let crashed = |device: usize| {
        let detail = format!("device {device}: SIGSEGV");
        let kernel = json!({
            "device": 0, "code": "sm_90", "compiler": "built-in", "program": "saxpy", "outcome": "failed",
            "fault": { "at": "cuModuleLoadData", "name": "SIGSEGV" },
        });
        let probe = json!({ "name": "kernels", "ended": "crashed", "detail": detail });
        [one("/kernels", json!([kernel])), one("/probes/9", probe)].concat()
    };
    let told = |device: usize| is_checked(GPU, &crashed(device), "probe");
    assert!(!told(0));
    assert!(told(1));
    hold(vec![(&lock, crashed(1), "probe", Unknown, "")]);
}
