//! Hosts that somebody described in a text: what the text does not show is never a pass, and what it shows is judged.

use std::fs;

use serde_json::{Value, json};

use crate::common::sandbox::Sandbox;

const MIXED: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.gpu]\ngpu = \"RTX 4090\"\n[target.ci]\ngpu = \"none\"\n";
const GPU: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.gpu]\ngpu = \"RTX 4090\"\n";

/// A collect_env of a host that suits the lock, with some lines changed.
fn collect_env(changes: &[(&str, &str)]) -> String {
    let mut lines = vec![
        ("PyTorch version", "2.5.1+cu124"),
        ("CUDA used to build PyTorch", "12.4"),
        ("OS", "Ubuntu 22.04.3 LTS (x86_64)"),
        ("Libc version", "glibc-2.35"),
        ("Python version", "3.11.10 (main, Sep  7 2024, 18:35:41) [GCC 11.4.0] (64-bit runtime)"),
        ("Python platform", "Linux-5.15.0-124-generic-x86_64-with-glibc2.35"),
        ("Is CUDA available", "True"),
        ("CUDA runtime version", "12.4.131"),
        ("GPU models and configuration", "GPU 0: NVIDIA GeForce RTX 4090"),
        ("Nvidia driver version", "550.90.07"),
    ];
    for (key, value) in changes {
        if let Some(line) = lines.iter_mut().find(|(known, _)| known == key) {
            line.1 = value;
        }
    }
    lines.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
}

fn locked(name: &str, spec: &str) -> Sandbox {
    let sandbox = Sandbox::new(name, spec);
    sandbox.run(&["lock"]).exits(0);
    sandbox
}

fn judged(sandbox: &Sandbox, host: &str, args: &[&str]) -> (i32, Value) {
    fs::write(sandbox.path("host.txt"), host).unwrap();
    sandbox.json(&[&["verify", "--host", "host.txt"], args].concat())
}

#[track_caller]
fn check<'v>(told: &'v Value, id: &str) -> &'v Value {
    let checks = told["checks"].as_array().unwrap();
    let rank =
        |check: &&Value| ["pass", "skip", "warn", "unknown", "fail"].iter().position(|one| check["status"] == *one);
    checks.iter().filter(|check| check["id"] == id).max_by_key(rank).unwrap_or_else(|| panic!("no {id}: {told:#}"))
}

#[track_caller]
fn ends(told: &Value, id: &str, status: &str, says: &str) {
    let check = check(told, id);
    let text =
        format!("{} {}", check["hint"].as_str().unwrap_or_default(), check["found"].as_str().unwrap_or_default());
    assert!(check["status"] == status && text.contains(says), "{status} {says:?}: {check:#}");
}

/// No text shows the bus: whether a GPU with a dead driver sits there is not known.
#[test]
fn a_report_is_no_cpu_machine_unless_the_user_says_so() {
    let sandbox = locked("reports-cpu", MIXED);
    let dead = collect_env(&[
        ("Is CUDA available", "False"),
        ("GPU models and configuration", "Could not collect"),
        ("Nvidia driver version", "Could not collect"),
    ]);
    let (code, told) = judged(&sandbox, &dead, &[]);
    assert_eq!((code, &told["status"]), (3, &json!("unknown")), "{told:#}");
    ends(&told, "target-choice", "unknown", "--target ci");
    assert_eq!(judged(&sandbox, &dead, &["--target", "ci"]).0, 0);
    let (code, fleet) = sandbox.json(&["fleet", "check", "host.txt"]);
    assert_eq!((code, &fleet["groups"][0]["causes"][0]["check"]), (3, &json!("target-choice")), "{fleet:#}");
    // One that fails is not proposed: no CPU machine is said to have failed.
    let other = json!({ "format": 1, "origin": "pasted", "platform": { "arch": "x86_64" },
        "python": { "version": "3.8.1", "torch": { "version": "1.13.1+cu117", "cuda": "11.7" } } });
    let (code, told) = judged(&sandbox, &other.to_string(), &[]);
    assert_eq!((code, &told["target"]), (1, &json!("gpu")), "{told:#}");
    let (_, fleet) = sandbox.json(&["fleet", "check", "host.txt"]);
    assert!(!fleet.to_string().contains("\"ci\""), "{fleet:#}");
    // What an error message tells of the driver is told of a driver, and one that is too old fails.
    let old = json!({ "format": 1, "origin": "pasted", "platform": { "arch": "x86_64", "os": "ubuntu20.04", "glibc": "2.31" },
        "nvml": { "cuda": "11.6" }, "python": { "version": "3.11.4",
        "torch": { "version": "2.5.1+cu124", "cuda": "12.4", "available": false } } });
    let (code, told) = judged(&sandbox, &old.to_string(), &[]);
    assert_eq!((code, &told["target"]), (1, &json!("gpu")), "{told:#}");
    ends(&told, "driver-minimum", "fail", "CUDA 11.6");
    ends(&told, "driver-present", "pass", "CUDA 11.6");
    // Whoever looked at the bus knows.
    let seen = json!({ "format": 1, "probes": [{ "name": "module", "ended": "absent" }],
        "platform": { "system": "linux", "arch": "x86_64", "glibc": "2.35" } });
    let (code, told) = judged(&sandbox, &seen.to_string(), &[]);
    assert_eq!((code, &told["target"]), (0, &json!("ci")), "{told:#}");
}

#[test]
fn packages_that_hold_libraries_are_judged() {
    let sandbox = locked("reports-packages", GPU);
    let of = |cudnn: &str, nccl: &str| {
        let lines = format!("[pip3] nvidia-cudnn-cu12=={cudnn}\n[pip3] nvidia-nccl-cu12=={nccl}\n");
        judged(&sandbox, &(collect_env(&[]) + &lines), &[])
    };
    let (code, told) = of("9.1.0.70", "2.21.5");
    assert_eq!(code, 0, "{told:#}");
    ends(&told, "library-cudnn", "pass", "9.1.0.70");
    let (code, told) = of("8.9.2.26", "2.18.1");
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "library-cudnn", "fail", "nvidia-cudnn-cu12 8.9.2.26");
    // torch 2.5 calls what NCCL 2.19 brought. Source: github.com/pytorch/pytorch/issues/119932.
    ends(&told, "library-nccl", "fail", "nvidia-nccl-cu12 2.18.1");
    ends(&told, "library-nccl", "fail", "`pip install 'nvidia-nccl-cu12==2.21.5'`");
    let (code, told) = judged(&sandbox, &collect_env(&[]), &[]);
    assert_eq!(code, 0, "{told:#}");
    ends(&told, "library-cudnn", "skip", "the pasted text does not tell it");
}

#[test]
fn what_nvidia_smi_says_without_a_gpu_is_understood() {
    let sandbox = locked("reports-smi", GPU);
    let header = "+-----------------------------------------------------------------------------+\n\
                  | NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4     |\n";
    let (code, told) = judged(&sandbox, header, &[]);
    assert_eq!(code, 3, "{told:#}");
    ends(&told, "gpu-present", "unknown", "no GPU: add the whole output");
    let (code, told) = judged(&sandbox, "No devices were found\n", &[]);
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "gpu-present", "fail", "NVML responds and shows no GPU");
    ends(&told, "driver-present", "pass", "nvidia-smi responds");
    let told = judged(&sandbox, "Failed to initialize NVML: Unknown Error\n", &[]).1;
    ends(&told, "driver-present", "skip", "NVML failed, see nvml");
    let (code, told) = judged(
        &sandbox,
        "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
        &[],
    );
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "nvml", "fail", "fell off the bus");
    // NVML has started, and cannot reach one of those that it lists. Source:
    // github.com/NVIDIA/open-gpu-kernel-modules/issues/387.
    let lost = "Unable to determine the device handle for GPU0000:65:00.0: Unknown Error\n";
    for text in [lost.to_string(), format!("GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-1)\n{lost}")] {
        let (code, told) = judged(&sandbox, &text, &[]);
        assert_eq!(code, 1, "{told:#}");
        ends(&told, "nvml", "fail", "lost contact with a GPU");
        assert_eq!(check(&told, "nvml")["action"], "drain", "{told:#}");
    }
    // The same in a fleet, with a cause for each.
    let lines = "n1: No devices were found\nn2: Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU\n";
    fs::write(sandbox.path("pdsh.txt"), lines).unwrap();
    let told = sandbox.run(&["fleet", "check", "pdsh.txt", "--format", "csv"]).exits(1).out;
    assert!(told.contains("n1,fail,gpu,gpu-present") && told.contains("n2,fail,gpu,nvml"), "{told}");
}

/// Neither a GPU that does not answer nor one that the text leaves out passes with the others.
#[test]
fn a_gpu_that_is_sick_or_left_out_does_not_pass() {
    let sandbox = locked("reports-sick", GPU);
    let csv = "index, name, driver_version, memory.total [MiB]\n0, NVIDIA GeForce RTX 4090, 550.90.07, 24564 MiB\n";
    assert_eq!(judged(&sandbox, csv, &[]).0, 0);
    let sick = format!("{csv}1, NVIDIA GeForce RTX 4090, [Unknown Error], [Unknown Error]\n");
    let (code, told) = judged(&sandbox, &sick, &[]);
    assert_eq!(code, 3, "{told:#}");
    ends(&told, "gpu-health", "unknown", "cannot ask this GPU");
    let log = "==============NVSMI LOG==============\nDriver Version : 550.90.07\nAttached GPUs : 8\n\
               GPU 00000000:00:16.0\n    Product Name : NVIDIA GeForce RTX 4090\n";
    let (code, told) = judged(&sandbox, log, &[]);
    assert_eq!(code, 3, "{told:#}");
    ends(&told, "gpu-present", "unknown", "1 of 8 GPUs");
    assert_eq!(judged(&sandbox, &log.replace(": 8", ": 1"), &[]).0, 0);
    // In a fleet, and a table of somebody's own is no list of one host's GPUs.
    let fleet = |text: &str| {
        fs::write(sandbox.path("fleet.txt"), text).unwrap();
        sandbox.run(&["fleet", "check", "fleet.txt", "--format", "csv"])
    };
    let row = "NVIDIA GeForce RTX 4090, 550.90.07";
    let told = fleet(&format!("n1: {row}\nn1: [GPU is lost], [GPU is lost]\nn2: {row}\n")).exits(1).out;
    assert!(told.contains("n1,fail,gpu,gpu-health") && told.contains("n2,pass,gpu,"), "{told}");
    for head in ["node,name,driver", "node,name,driver_version"] {
        fleet(&format!("{head}\nn1,{row}\nn2,{row}\n")).exits(3);
    }
}

/// A host of which nothing is told that the lock depends on has a reason for being unknown all the same.
#[test]
fn unknown_always_has_a_cause() {
    let sandbox = locked("reports-nothing", "[stack]\ntorch = \"2.5.1\"\n[target.ci]\ngpu = \"none\"\n");
    let (code, told) = judged(&sandbox, "numba 0.60.0\ntriton 3.1.0\n", &["--target", "ci"]);
    assert_eq!(code, 3, "{told:#}");
    ends(&told, "nothing-checked", "unknown", "every check was skipped");
    sandbox.run(&["verify", "--host", "host.txt", "--target", "ci"]).exits(3).tells("See nothing-checked above");
    // What needs a driver is one block.
    let gpu = locked("reports-one-block", GPU);
    fs::write(gpu.path("host.txt"), "OS: Ubuntu 22.04.3 LTS (x86_64)\nPyTorch version: 2.5.1+cu124\n").unwrap();
    let ran = gpu.run(&["verify", "--host", "host.txt"]).exits(3);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("unknown")).count(), 1, "{}", ran.out);
    ran.tells("2 more checks need a driver").tells("Add the whole output of `nvidia-smi`");
}

#[test]
fn variables_that_hide_every_gpu_are_named() {
    let sandbox = locked("reports-hidden", GPU);
    let with = |variable: &str, available: &str| {
        let text = collect_env(&[("Is CUDA available", available)]) + variable + "\n";
        judged(&sandbox, &text, &[])
    };
    for variable in
        ["CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=-1", "CUDA_VISIBLE_DEVICES=7", "NVIDIA_VISIBLE_DEVICES=void"]
    {
        let (code, told) = with(variable, "False");
        assert_eq!(code, 1, "{variable}: {told:#}");
        let name = variable.split('=').next().unwrap();
        ends(&told, "environment-visible-devices", "fail", name);
        ends(&told, "torch-available", "fail", name);
    }
    for (variable, available) in [
        ("CUDA_VISIBLE_DEVICES=0", "True"),
        ("NVIDIA_VISIBLE_DEVICES=void", "True"),
        ("CUDA_VISIBLE_DEVICES=0,7", "True"),
    ] {
        let (code, told) = with(variable, available);
        assert_eq!(code, 0, "{variable}: {told:#}");
        ends(&told, "environment-visible-devices", "pass", variable);
    }
    let (_, told) = with("CUDA_VISIBLE_DEVICES=0", "False");
    ends(&told, "environment-visible-devices", "pass", "CUDA_VISIBLE_DEVICES=0");
}

#[test]
fn a_compat_folder_in_the_search_path_is_not_passed_over() {
    let sandbox = locked("reports-compat", GPU);
    let path = "LD_LIBRARY_PATH=/usr/local/cuda-12.9/compat\n";
    let (code, told) = judged(&sandbox, &(collect_env(&[("Is CUDA available", "False")]) + path), &[]);
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "environment-library-path", "fail", "804");
    let data_centre = collect_env(&[("GPU models and configuration", "GPU 0: NVIDIA A100-SXM4-80GB")]);
    let a100 = locked("reports-compat-a100", &GPU.replace("RTX 4090", "A100-SXM4-80GB"));
    let (_, told) = judged(&a100, &(data_centre + path), &[]);
    ends(&told, "environment-library-path", "warn", "cuda-12.9/compat");
}

/// A text shows what it shows: of variables that do not stand in it nobody knows that they are not set.
#[test]
fn a_text_without_variables_passes_no_check_of_them() {
    let sandbox = locked("reports-variables", GPU);
    let ids = ["environment-variables", "environment-jit", "environment-library-path"];
    let (code, told) = judged(&sandbox, &collect_env(&[]), &[]);
    assert_eq!(code, 0, "{told:#}");
    ids.iter().for_each(|id| ends(&told, id, "skip", "the pasted text does not tell it"));
    let passes = told["checks"].as_array().unwrap().iter().filter(|check| check["status"] == "pass");
    assert!(passes.clone().count() > 0 && passes.clone().all(|check| !check["found"].is_null()), "{told:#}");
    // A record writes the home as `~`.
    let shown =
        ["CUDA_LAUNCH_BLOCKING=0", "CUDA_DISABLE_PTX_JIT=0", "LD_LIBRARY_PATH=~/miniconda3/lib:~:/opt/site/lib"];
    for (id, variable) in ids.iter().zip(shown) {
        let (_, told) = judged(&sandbox, &(collect_env(&[]) + variable + "\n"), &[]);
        ends(&told, id, "pass", variable);
        ids.iter().filter(|other| *other != id).for_each(|other| ends(&told, other, "skip", ""));
    }
}

/// Windows numbers its drivers by itself.
#[test]
fn a_driver_of_windows_is_judged_by_the_floors_of_windows() {
    let sandbox = locked("reports-windows", "[stack]\ntorch = \"2.1.2+cu118\"\n[target.a]\ngpu = \"TITAN V\"\n");
    let host = |driver: &str| {
        json!({ "format": 1, "origin": "pasted", "platform": { "system": "windows", "os": "Windows 10" },
            "nvml": { "driver": driver, "gpus": [{ "index": 0, "name": "TITAN V" }] } })
    };
    let (code, told) = judged(&sandbox, &host("451.67").to_string(), &[]);
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "driver-minimum", "fail", "452.39");
    // Its driver serves the Linux inside, which another target is for.
    let (code, told) = judged(&sandbox, &host("452.39").to_string(), &[]);
    assert_eq!(code, 3, "{told:#}");
    ends(&told, "driver-minimum", "pass", "452.39");
    ends(&told, "platform-system", "unknown", "wsl2");
    // What no lock for Linux passes on, a plan gives nothing to, unless its template is for the Linux inside.
    let line = |driver: &str| json!({ "host": "w", "record": host(driver) }).to_string();
    fs::write(sandbox.path("h.ndjson"), line("528.33")).unwrap();
    sandbox.run(&["fleet", "plan", "h.ndjson"]).exits(3).tells("wsl2");
    let spec = "[stack]\ntorch = \"2.1.2+cu118\"\n[target.a]\ngpu = \"TITAN V\"\nplatform = \"wsl2\"\n";
    let inside = locked("reports-windows-inside", spec);
    for (driver, code, says) in [("451.67", 1, "FAIL"), ("528.33", 0, "PASS")] {
        fs::write(inside.path("h.ndjson"), line(driver)).unwrap();
        inside.run(&["fleet", "plan", "h.ndjson"]).exits(code).tells(says);
    }
}

/// Every advice about a driver names it as its host numbers it, whether the lock is for Linux or for WSL2.
#[test]
fn who_is_to_raise_a_driver_is_told_one_number() {
    let host = |system: &str, driver: &str| {
        json!({ "format": 1, "origin": "pasted", "platform": { "system": system, "arch": "x86_64", "os": "ubuntu22.04" },
            "nvml": { "driver": driver, "cuda": "11.4", "gpus": [{ "index": 0, "name": "NVIDIA GeForce RTX 4090" }] },
            "libcuda": { "fault": { "at": "cuInit", "code": 35, "name": "CUDA_ERROR_INSUFFICIENT_DRIVER" } } })
    };
    let spec = "[stack]\ntorch = \"2.6\"\n[target.a]\ngpu = \"RTX 4090\"\n";
    let linux = locked("reports-numbers-linux", spec);
    let wsl2 = locked("reports-numbers-wsl2", &format!("{spec}platform = \"wsl2\"\n"));
    let windows = "raise the driver of Windows to 528.33 or later";
    for (sandbox, system, driver, advice) in [
        (&linux, "linux", "470.57.02", "raise the driver to 525.60.13 or later"),
        (&linux, "wsl", "471.11", windows),
        (&linux, "windows", "471.11", windows),
        (&wsl2, "wsl", "471.11", windows),
        (&wsl2, "linux", "470.57.02", "raise the driver to one of Linux for CUDA 12.4"),
    ] {
        let (code, told) = judged(sandbox, &host(system, driver).to_string(), &[]);
        assert_eq!(code, 1, "{told:#}");
        ends(&told, "driver-cuda", "fail", advice);
        ends(&told, "libcuda", "fail", advice);
        match advice.contains("Linux") {
            // A number of Windows' says nothing of a driver of Linux.
            true => ends(&told, "driver-minimum", "unknown", "holds a number of Windows' driver"),
            false => ends(&told, "driver-minimum", "fail", advice),
        }
        let present = check(&told, "driver-present");
        let wanted = if advice == windows {
            "528.33 or later, a driver of Windows"
        } else {
            advice.split(" to ").last().unwrap()
        };
        assert_eq!(present["expected"], format!("an NVIDIA driver, {wanted}"), "{system}");
    }
}

/// The torch that an image holds is the locked one, whatever its builder wrote behind the version.
#[test]
fn the_torch_of_an_image_is_known_by_its_release() {
    let spec = "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"H100 NVL\"\nimage = \"nvcr.io/nvidia/pytorch:25.02-py3\"\n";
    let sandbox = locked("reports-image", spec);
    let host = |torch: &str| {
        json!({ "format": 1, "origin": "pasted", "nvml": { "driver": "570.86.15", "gpus": [{ "index": 0, "name": "NVIDIA H100 NVL" }] },
            "python": { "version": "3.12.3", "packages": { "torch": torch },
            "torch": { "version": torch, "cuda": "12.8", "available": true } } })
    };
    let (code, told) = judged(&sandbox, &host("2.7.0a0+ecf3bae40a.nv25.02").to_string(), &[]);
    assert_eq!(code, 0, "{told:#}");
    ends(&told, "python-package", "pass", "2.7.0a0+ecf3bae40a.nv25.02");
    for other in ["2.6.0a0+ecf3bae40a.nv25.01", "2.6.0+cu124", "2.7.0+cu128"] {
        let (code, told) = judged(&sandbox, &host(other).to_string(), &[]);
        assert_eq!(code, 1, "{other}: {told:#}");
    }
}

/// What a container does not share with its host is judged only where the report may have been made inside it.
#[test]
fn a_report_of_another_system_than_the_images_tells_of_the_host() {
    let sandbox = locked("reports-host", &(GPU.to_string() + "image = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n"));
    let old = [
        ("Libc version", "glibc-2.17"),
        ("Python version", "3.6.8 (default) (64-bit runtime)"),
        ("PyTorch version", "1.10.2+cu113"),
        ("CUDA used to build PyTorch", "11.3"),
    ];
    let host = collect_env(&[&old[..], &[("OS", "CentOS Linux 7 (Core) (x86_64)")]].concat());
    let (code, told) = judged(&sandbox, &host, &[]);
    assert_eq!(code, 0, "{told:#}");
    ends(&told, "platform-glibc", "skip", "container");
    let (code, told) = judged(&sandbox, &collect_env(&old), &[]);
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "python-version", "fail", "3.6.8");
    // The driver is the host's in any case.
    let host = collect_env(&[("OS", "CentOS Linux 7 (Core) (x86_64)"), ("Nvidia driver version", "470.57.02")]);
    let (code, told) = judged(&sandbox, &host, &[]);
    assert_eq!(code, 1, "{told:#}");
    ends(&told, "driver-minimum", "fail", "470.57.02");
}
