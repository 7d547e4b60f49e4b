//! What people paste, word by word: one word tells a host that runs the lock from one that does not, or of which it is not
//! known.

use std::collections::BTreeMap;

use gpuenv::catalog::BUILTIN;
use gpuenv::host;
use gpuenv::lock::Lock;
use gpuenv::verify::Status::{self, Fail, Pass, Skip, Unknown, Warn};
use gpuenv::verify::{self, Check, Verdict};
use serde_json::json;

use crate::common::judge::{lock, with, worst};

fn judged(lock: &Lock, text: &str) -> Verdict {
    let target = lock.target.keys().next().unwrap();
    let record = host::read_any(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify::judge(lock, target, &record, &BUILTIN).unwrap()
}

/// A check about a package.
#[track_caller]
fn of_package<'v>(verdict: &'v Verdict, name: &str) -> &'v Check {
    let is_it =
        |check: &&Check| check.expected.as_deref().is_some_and(|expected| expected.starts_with(&format!("{name} ")));
    let mut checks = verdict.checks.iter().filter(|check| check.id == "python-package");
    checks.find(is_it).unwrap_or_else(|| panic!("no {name} in {verdict:#?}"))
}

#[track_caller]
fn ends(check: &Check, status: Status, says: &str, of: &str) {
    let hint = check.hint.clone().unwrap_or_default();
    assert!(check.status == status && hint.contains(says), "{of}\nexpected {status:?} {says:?}: {check:#?}");
}

fn stack(lines: &str) -> Lock {
    lock(&format!("[stack]\n{lines}\n[target.t]\ngpu = \"RTX 3090\"\n"))
}

/// What lies beside torch is built for one CUDA, and fails beside a torch of another when it is imported.
#[test]
fn a_package_of_another_cuda_is_another_build() {
    let old = stack("torch = \"2.1.2+cu118\"\ntorchvision = \"*\"\ntorchaudio = \"*\"\ntorch-scatter = \"*\"");
    let new = stack("torch = \"2.8.0+cu128\"\ntorchvision = \"*\"");
    for (lock, installed, package, status, says) in [
        (&old, "torch==2.1.2+cu118 torchvision==0.16.2+cu118", "torchvision", Pass, ""),
        (&old, "torch==2.1.2+cu118 torchvision==0.16.2+cu121", "torchvision", Fail, "torchvision==0.16.2+cu118"),
        (&old, "torch==2.1.2+cu118 torchaudio==2.1.2+cpu", "torchaudio", Fail, "the CPU build is installed"),
        (&old, "torch==2.1.2+cu118 torchvision==0.16.2+rocm5.6", "torchvision", Fail, "another build"),
        (&old, "torch==2.1.2+cu118 torchvision==0.16.2+c6f3977", "torchvision", Warn, "is not told"),
        (&old, "torch==2.1.2+cu118 torch-scatter==2.1.2+pt21cu121", "torch-scatter", Fail, "another build"),
        (&old, "torch==2.1.2+cu118 torch-scatter==2.1.2+pt21cu118", "torch-scatter", Pass, ""),
        // The package index has it for CUDA 12.1.
        (&old, "torch==2.1.2+cu118 torchvision==0.16.2", "torchvision", Fail, "another build"),
        (&old, "torch==2.1.2 torchvision==0.16.2", "torchvision", Fail, "another build"),
        // Nobody has told whence it came.
        (&old, "torchvision==0.16.2", "torchvision", Warn, "was not told"),
        (&new, "torch==2.8.0+cu128 torchvision==0.23.0", "torchvision", Pass, "the package index serves"),
        (&new, "torch==2.8.0 torchvision==0.23.0", "torchvision", Pass, "the package index serves"),
        (&new, "torch==2.8.0 torchvision==0.23.0+cu128", "torchvision", Pass, ""),
        (&new, "torch==2.8.0 torchvision==0.23.0+cu126", "torchvision", Fail, "another build"),
        // Nothing that is locked imports it, but whatever does would fail.
        (&new, "torch==2.8.0 torchaudio==2.8.0+cu126", "torchaudio", Warn, "torchaudio==2.8.0+cu128"),
    ] {
        ends(of_package(&judged(lock, &installed.replace(' ', "\n")), package), status, says, installed);
    }
    // conda names no CUDA in a version, and its torch says which it is.
    let conda =
        "[conda] pytorch 2.1.2 py3.10_cuda11.8_cudnn8.7.0_0 pytorch\n[conda] torchvision 0.16.2 py310_cu118 pytorch\n";
    ends(of_package(&judged(&old, conda), "torchvision"), Warn, "comes from another index", conda);
}

/// What comes in through others is held to the lock too.
#[test]
fn a_package_that_others_bring_in_is_compared() {
    let lock = stack("torch = \"2.8.0+cu126\"\nvllm = \"*\"\npython = \"3.12\"");
    let brought = "torch==2.8.0+cu126\nvllm==0.11.0\ntorchvision==";
    for (version, status) in [("0.23.0+cu126", Pass), ("0.23.0+cu128", Fail), ("0.23.0", Fail), ("0.22.1+cu126", Fail)]
    {
        ends(of_package(&judged(&lock, &format!("{brought}{version}\n")), "torchvision"), status, "", version);
    }
}

/// A night, a candidate or a repaired release is none that was locked.
#[test]
fn a_build_before_or_after_the_release_is_another() {
    let lock = stack("torch = \"2.5.1+cu124\"\ntorchvision = \"0.20.1\"");
    for (installed, package, status) in [
        ("torch==2.5.1+cu124", "torch", Pass),
        ("torch==2.5.1.dev20241027+cu124", "torch", Fail),
        ("torch==2.5.1rc1+cu124", "torch", Fail),
        ("torch==2.5.1a0+cu124", "torch", Fail),
        ("torch==2.5.1.post4+cu124", "torch", Fail),
        // So conda-forge counts its builds.
        ("torch==2.5.1.post303", "torch", Warn),
        ("torchvision==0.20.1.dev20241027+cu124", "torchvision", Fail),
    ] {
        ends(of_package(&judged(&lock, installed), package), status, "", installed);
    }
}

/// `pip freeze` names the address of what came from no index.
#[test]
fn a_wheel_at_an_address_has_its_version_in_its_name() {
    let lock = stack("torch = \"2.1.2+cu118\"\npython = \"3.10\"");
    let at =
        |version: &str| format!("torch @ https://host/whl/torch-{version}-cp310-cp310-linux_x86_64.whl#sha256=00\n");
    ends(of_package(&judged(&lock, &at("2.1.2%2Bcu121")), "torch"), Fail, "another build", "");
    ends(of_package(&judged(&lock, &at("2.1.2%2Bcu118")), "torch"), Pass, "", "");
}

fn smi(driver: &str, cuda: &str, gpus: &[(&str, u32)]) -> String {
    let mut text = format!("| NVIDIA-SMI {driver}    Driver Version: {driver}    CUDA Version: {cuda}     |\n");
    for (index, (name, memory)) in gpus.iter().enumerate() {
        text += &format!("|   {index}  {name}  Off  | 00000000:0{index}:00.0 Off |                  N/A |\n");
        text += &format!("| 30%   35C    P8    25W / 350W |   5MiB / {memory}MiB |      0%      Default |\n");
    }
    text
}

/// A name that nvidia-smi has cut off is that of any GPU that begins so.
#[test]
fn a_name_that_is_cut_off_is_none_of_its_gpus() {
    let of = |gpu: &str| lock(&format!("[stack]\ntorch = \"2.1.2+cu118\"\n[target.t]\ngpu = \"{gpu}\"\n"));
    let cut = ("NVIDIA GeForce ...", 8192);
    for (gpu, gpus, number, status, says) in [
        ("RTX 3090", vec![cut], 0, Unknown, "nvidia-smi -L"),
        ("sm_86", vec![cut], 0, Unknown, "nvidia-smi -L"),
        ("RTX 3090", vec![("NVIDIA GeForce RTX 3090", 24576)], 0, Pass, ""),
        ("RTX 3060 Laptop GPU", vec![("NVIDIA GeForce RTX 3060 ...", 6144)], 0, Pass, ""),
        ("V100-SXM2-32GB", vec![("Tesla V100-SXM2...", 32510)], 0, Pass, ""),
        // The size in the name tells that it is another.
        ("V100-SXM2-32GB", vec![("Tesla V100-SXM2...", 16160)], 0, Warn, "the lock does not name this GPU"),
        (
            "Tesla P100-PCIE-16GB",
            vec![("Tesla P100-PCIE...", 16280), cut],
            1,
            Warn,
            "the lock names none that begins so",
        ),
        ("Tesla P100-PCIE-16GB", vec![cut, ("Tesla T4", 15360)], 0, Unknown, "nvidia-smi -L"),
    ] {
        let verdict = judged(&of(gpu), &smi("535.54.03", "12.2", &gpus));
        let is_it = |check: &&Check| {
            check.id == "gpu-supported"
                && check.gpu.as_deref().is_some_and(|gpu| gpu.starts_with(&format!("{number}:")))
        };
        ends(verdict.checks.iter().find(is_it).unwrap(), status, says, gpu);
    }
}

/// nvidia-smi asks libcuda for the CUDA version alone.
#[test]
fn a_cuda_version_that_is_refused_leaves_libcuda_open() {
    let lock = stack("torch = \"2.1.2+cu118\"");
    let gpu = [("NVIDIA GeForce RTX 3090", 24576)];
    for (cuda, status) in [("12.2", Skip), ("N/A", Unknown), ("ERR!", Unknown), ("Not Found", Unknown)] {
        ends(worst(&judged(&lock, &smi("535.54.03", cuda, &gpu)), "libcuda"), status, "", cuda);
    }
    let log = "==============NVSMI LOG==============\n\nDriver Version : 535.54.03\nCUDA Version : Not Found\n\
               \nAttached GPUs : 1\nGPU 00000000:01:00.0\n    Product Name : NVIDIA GeForce RTX 3090\n";
    ends(worst(&judged(&lock, log), "libcuda"), Unknown, "NVIDIA_DRIVER_CAPABILITIES", log);
    let host = format!("{log}    GPU Virtualization Mode\n        Virtualization Mode : Host VGPU\n");
    ends(worst(&judged(&lock, &host), "gpu-virtual"), Unknown, "a hypervisor's", &host);
    // Whoever computes has found it.
    let works = smi("535.54.03", "N/A", &gpu) + "PyTorch version: 2.1.2+cu118\nIs CUDA available: True\n";
    ends(worst(&judged(&lock, &works), "libcuda"), Pass, "", &works);
    let two = smi("535.54.03", "12.2", &gpu) + &smi("535.54.03", "12.4", &gpu);
    ends(worst(&judged(&lock, &two), "probe"), Unknown, "the part that is meant", &two);
}

/// More CUDA than the driver's branch has is a cuda-compat's.
#[test]
fn a_driver_that_offers_more_than_its_branch_has_loaded_a_compat_package() {
    let of = |gpu: &str| lock(&format!("[stack]\ntorch = \"1.13.1+cu117\"\n[target.t]\ngpu = \"{gpu}\"\n"));
    let (desktop, server) = (("NVIDIA GeForce RTX 3090", 24576), ("Tesla T4", 15360));
    for (gpu, board, cuda, status, says) in
        [("RTX 3090", desktop, "11.7", Fail, "804"), ("T4", server, "11.7", Warn, "not locked")]
    {
        ends(worst(&judged(&of(gpu), &smi("470.161.03", cuda, &[board])), "forward-compat"), status, says, gpu);
    }
    let own = judged(&of("RTX 3090"), &smi("470.161.03", "11.4", &[desktop]));
    assert!(own.checks.iter().all(|check| check.id != "forward-compat"), "{own:#?}");
    let locked = lock("[stack]\ntorch = \"2.1.2+cu121\"\n[target.t]\ngpu = \"T4\"\ndriver = \"470.161.03\"\n");
    let package = locked.target["t"].driver.as_ref().unwrap().compat.clone().unwrap();
    let cuda = package.trim_start_matches("cuda-compat-").replace('-', ".");
    ends(worst(&judged(&locked, &smi("470.161.03", &cuda, &[server])), "forward-compat"), Pass, "", &cuda);
    ends(worst(&judged(&locked, &smi("470.161.03", "11.4", &[server])), "forward-compat"), Unknown, "", "11.4");
}

/// The modules of the wrong flavour show no GPU; of the modules alone it is not known.
#[test]
fn a_flavour_is_right_only_where_a_gpu_is_seen() {
    let lock = lock("[stack]\ntorch = \"2.1.2+cu118\"\n[target.t]\ngpu = \"GTX 1080 Ti\"\n");
    let module = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n";
    ends(worst(&judged(&lock, module), "driver-flavour"), Skip, "the proprietary one", module);
    let none = format!("{module}No devices were found\n");
    ends(worst(&judged(&lock, &none), "driver-flavour"), Fail, "", &none);
}

fn collect_env(python: &str, libc: &str, torch: &str, cuda: &str) -> String {
    format!(
        "PyTorch version: {torch}\nCUDA used to build PyTorch: {cuda}\nLibc version: glibc-{libc}\nPython version: {python} \
         (64-bit runtime)\nIs CUDA available: False\nGPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090\n\
         Nvidia driver version: 535.54.03\n[pip3] torch=={torch}\n"
    )
}

#[test]
fn a_report_of_an_old_python_tells_no_c_library_and_one_without_cuda_is_a_cpu_build() {
    let lock = stack("torch = \"1.13.1+cu117\"");
    let glibc = |python: &str, libc: &str| judged(&lock, &collect_env(python, libc, "1.13.1+cu117", "11.7"));
    ends(worst(&glibc("3.7.12", "2.10"), "platform-glibc"), Skip, "", "3.7");
    ends(worst(&glibc("3.8.10", "2.10"), "platform-glibc"), Fail, "", "3.8");
    for cuda in ["None", "Could not collect"] {
        let verdict = judged(&lock, &collect_env("3.8.10", "2.31", "1.13.1", cuda));
        ends(of_package(&verdict, "torch"), Fail, "the CPU build is installed", cuda);
        let folded: BTreeMap<&str, Option<&str>> =
            verdict.checks.iter().map(|check| (check.id, check.because)).collect();
        assert_eq!((folded["torch-cuda"], folded["torch-available"]), (Some("python-package"), Some("python-package")));
    }
}

/// A Jetson's own reports, and a GPU that fell off the bus in lines without a header.
#[test]
fn what_stands_in_other_forms_is_read() {
    let jetson = lock(
        "[stack]\ntorch = \"2.5\"\npython = \"3.10\"\n[target.t]\ngpu = \"Jetson AGX Orin\"\nos = \"jetpack6.1\"\n",
    );
    let told = "- Model: NVIDIA Jetson AGX Orin Developer Kit\n- Module: NVIDIA Jetson AGX Orin\n- CUDA Arch BIN: 8.7\n\
                - L4T: 36.4.4\n-------------------- JETSON RAW OUTPUT -----------------\n";
    let stats = format!(
        "Software part of jetson-stats 4.3.0 - (c) 2024\n{told}Libraries:\n - CUDA: 12.6.68\n - cuDNN: 9.3.0.75\n"
    );
    let old = " - NVIDIA Jetson TX2\n   * Jetpack 4.2 [L4T 32.1.0]\n   * CUDA GPU architecture 6.2\n - jetson_stats.service: active\n";
    for (text, id, status) in [
        (told, "gpu-supported", Pass),
        (told, "library-cudnn", Warn),
        (&stats, "library-cudnn", Pass),
        (&stats, "library-cudart", Pass),
        (old, "gpu-supported", Fail),
    ] {
        ends(worst(&judged(&jetson, text), id), status, "", text);
    }
    let lost = "0, NVIDIA GeForce RTX 3090, 535.54.03\n1, [GPU is lost], 535.54.03\n";
    ends(worst(&judged(&stack("torch = \"2.1.2+cu118\""), lost), "gpu-health"), Fail, "fell off the bus", lost);
}

/// A cuda-compat is known by what the probe says of it, wherever it lies.
#[test]
fn a_record_says_itself_that_a_compat_package_is_loaded() {
    let lock = lock("[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n");
    let path = "/opt/cuda-compat/libcuda.so.570.86.15";
    let with_compat = |is_of_package: bool| {
        with(&[
            ("/libcuda/path", json!(path)),
            ("/libcuda/file_version", json!("570.86.15")),
            ("/libcuda/compat", json!(is_of_package)),
        ])
    };
    let judged = |is_of_package: bool| judged(&lock, &with_compat(is_of_package).to_string());
    ends(worst(&judged(true), "forward-compat"), Warn, "not locked", path);
    ends(worst(&judged(false), "driver-match"), Fail, "", path);
}

/// A later library beside which torch has computed is no mistake that stops anybody.
#[test]
fn a_later_library_that_torch_computed_with_is_warned_of() {
    let lock = lock("[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n");
    let hidden = |version: &str, computed: serde_json::Value| {
        let own =
            json!({ "path": "/venv/nvidia/cudnn/lib/libcudnn.so.9", "found_by": "python", "version": "9.1.0.70" });
        let cudnn = json!({ "name": "cudnn", "soname": "libcudnn.so.9", "path": "/opt/lib/libcudnn.so.9", "found_by": "LD_LIBRARY_PATH", "version": version, "shadows": [own] });
        judged(&lock, &with(&[("/libraries/1", cudnn), ("/python/torch/computed", computed)]).to_string())
    };
    for (version, computed, status) in [
        ("9.5.0", json!(true), Warn),
        ("9.5.0", json!(null), Fail),
        ("9.0.0", json!(true), Fail),
        ("9.1.0", json!(null), Warn),
    ] {
        ends(worst(&hidden(version, computed), "library-shadowed"), status, "LD_LIBRARY_PATH", version);
    }
}
