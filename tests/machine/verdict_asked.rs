//! What `gpuenv lock` refuses of a target that names it, `gpuenv verify` does not pass on a host that has it; and what a text
//! tells of the host below and above its GPUs.

use gpuenv::catalog::BUILTIN;
use gpuenv::lock::Lock;
use gpuenv::verify::Status::{Fail, Pass, Unknown, Warn};
use serde_json::{Value, json};

use crate::common::judge::{judge, lock, try_lock, with, worst};
use crate::pasted::{ends, judged, sound, table};

fn stack(lines: &str) -> Lock {
    lock(&spec(lines, ""))
}

fn spec(lines: &str, more: &str) -> String {
    format!("[stack]\n{lines}\n[target.t]\ngpu = \"RTX 3090\"\nos = \"ubuntu22.04\"\n{more}")
}

const TORCH: &str = "torch = \"2.6.0+cu124\"\npython = \"3.11\"";

/// Whatever a key of a target may hold: what is a conflict there passes on no host.
#[test]
fn what_a_lock_refuses_passes_on_no_host() {
    let stacks = [
        "torch = \"2.6.0+cu124\"\npython = \"3.11\"\n[build]",
        "torch = \"1.13.1+cu117\"\npython = \"3.10\"\n[build]",
        "torch = \"2.5.1+cu124\"\ndeepspeed = \"*\"\npython = \"3.11\"",
    ];
    let keys: [(&str, &[&str]); 3] = [
        ("gcc", &["4.8", "5.4", "7.5", "8.5", "9.4", "11.4", "13.2", "15.1"]),
        ("glibc", &["2.23", "2.27", "2.35", "2.40", "2.41", "2.42"]),
        ("toolkit", &["10.2", "11.3", "11.7", "11.8", "12.4", "13.0"]),
    ];
    let mut refused = 0;
    for stack in stacks {
        let locked = lock(&spec(stack, ""));
        let deepspeed = locked.stack.get("deepspeed").map(|version| format!("deepspeed = \"{version}\""));
        let pinned = deepspeed.map_or(stack.to_string(), |pin| stack.replace("deepspeed = \"*\"", &pin));
        for (key, value) in keys.iter().flat_map(|(key, values)| values.iter().map(move |value| (*key, *value))) {
            let line = match key {
                "gcc" => format!("gcc (GCC) {value}.0 20210514 (Red Hat {value}.0-22)\n"),
                "glibc" => format!("glibc {value}\n"),
                _ => format!("Cuda compilation tools, release {value}, V{value}.50\n"),
            };
            let verdict = judged(&locked, &(sound() + &line));
            let conflict = try_lock(&spec(&pinned, &format!("{key} = \"{value}\"\n"))).is_err();
            assert!(!conflict || verdict.status != Pass, "{pinned} {key} = {value} is a conflict: {verdict:#?}");
            refused += usize::from(conflict);
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_host_compiler_that_the_headers_of_torch_refuse_fails() {
    let build = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"\n[build]");
    let nvcc = "Cuda compilation tools, release 12.4, V12.4.131\n";
    let gcc = |version: &str| format!("{}gcc (GCC) {version} 20210514\n{nvcc}", sound());
    ends(&build, &gcc("8.5.0"), "host-compiler", Fail, "gcc 9 or newer");
    ends(&build, &gcc("9.4.0"), "host-compiler", Warn, "");
    ends(&build, &gcc("11.4.0"), "host-compiler", Pass, "");
    ends(&build, &format!("{}glibc 2.41\n", gcc("11.4.0")), "platform-glibc", Fail, "2.41");
    let aside = "[[override]]\nrule = \"torch-2.2.2-gcc\"\nreason = \"own headers\"\n";
    let aside = format!("gcc = \"8.5\"\n{aside}");
    let aside = lock(&spec("torch = \"2.6.0+cu124\"\npython = \"3.11\"\n[build]", &aside));
    ends(&aside, &gcc("8.5.0"), "host-compiler", Pass, "");
}

fn library(name: &str, soname: &str, version: &str) -> Value {
    json!({ "name": name, "soname": soname, "path": format!("/usr/lib/{soname}"), "found_by": "ld.so.cache", "version": version })
}

/// onnxruntime-gpu loads CUDA and cuDNN from the system, of which the lock has the one, and warned of the other.
#[test]
fn what_a_lock_warns_of_as_missing_is_looked_for() {
    let spec = "[stack]\nonnxruntime-gpu = \"1.31.1\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n";
    let cudart = || library("cudart", "libcudart.so.13", "13.0");
    for build in ["", "[build]\n"] {
        let locked = lock(&spec.replace("[target", &format!("{build}[target")));
        let host = |libraries: Value| {
            let python = json!({ "path": "/v/bin/python", "version": "3.11.9", "bits": 64, "packages": {} });
            with(&[
                ("/libraries", libraries),
                ("/python", python),
                ("/toolkits", json!([])),
                ("/environment", json!({})),
            ])
        };
        let nine = || library("cudnn", "libcudnn.so.9", "9.5.1");
        for (libraries, id, status, says) in [
            (json!([cudart(), nine()]), "library-cudnn", Pass, ""),
            (json!([cudart()]), "library-cudnn", Fail, "cuDNN 9"),
            (json!([cudart(), library("cudnn", "libcudnn.so.8", "8.9.7")]), "library-cudnn", Fail, "libcudnn.so.8"),
            (json!([nine()]), "library-cudart", Fail, "CUDA 13"),
        ] {
            let verdict = judge(&locked, &host(libraries));
            let check = worst(&verdict, id);
            let words = format!("{:?} {:?}", check.found, check.hint);
            assert!(check.status == status && words.contains(says), "{build} {id} {status:?}: {check:#?}");
        }
    }
    // A text that tells what is there, and that it is another.
    let locked = lock(spec);
    let text = |more: &str| table("580.95.05", "13.0", "NVIDIA H100 NVL") + more;
    ends(&locked, &text("CUDA runtime version: 12.8.89\nPyTorch version: N/A\n"), "library-cudart", Unknown, "12.8");
    let file = "PyTorch version: N/A\ncuDNN version: Probably one of the following:\n/usr/lib/libcudnn.so.8.9.7\n";
    ends(&locked, &text(file), "library-cudnn", Unknown, "libcudnn.so.8.9.7");
    ends(&locked, &text(&file.replace("8.9.7", "9.5.1")), "library-cudnn", Pass, "");
    ends(&locked, &text(""), "library-cudnn", Warn, "does not tell");
}

/// `kubectl describe node`, `-o yaml` and the list of nodes tell whether pods get the GPUs that the labels describe.
#[test]
fn a_node_that_gives_no_gpu_passes_nothing() {
    let locked = lock("[stack]\ntorch = \"2.6.0+cu124\"\n[target.t]\ngpu = \"A100-SXM4-80GB\"\n");
    let labels = "nvidia.com/cuda.driver.major=550\n  nvidia.com/cuda.driver.minor=54\n  nvidia.com/cuda.driver.rev=15\n  \
                  nvidia.com/gpu.compute.major=8\n  nvidia.com/gpu.compute.minor=0\n  nvidia.com/gpu.count=8\n  \
                  nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB\n";
    let node = |ready: &str, cordoned: bool, left: u64| {
        format!(
            "Name:  node-1\nLabels:  {labels}Unschedulable:      {cordoned}\nConditions:\n  Type             Status  Reason\n  \
             MemoryPressure   False   KubeletHasSufficientMemory\n  Ready            {ready}    KubeletReady\nCapacity:\n  \
             cpu:  128\n  nvidia.com/gpu:     8\nAllocatable:\n  nvidia.com/gpu:     {left}\nSystem Info:\n  Architecture:  amd64\n"
        )
    };
    let yaml = |ready: &str, cordoned: bool, left: u64| {
        format!(
            "kind: Node\nmetadata:\n  labels:\n    {}spec:\n  unschedulable: {cordoned}\nstatus:\n  allocatable:\n    \
             nvidia.com/gpu: \"{left}\"\n  capacity:\n    nvidia.com/gpu: \"8\"\n  conditions:\n  - status: \"False\"\n    \
             type: MemoryPressure\n  - lastHeartbeatTime: \"2026-11-01T00:00:00Z\"\n    status: \"{ready}\"\n    type: Ready\n",
            labels.replace('=', ": \"").replace("\n  ", "\"\n    ").replace("80GB\n", "80GB\"\n")
        )
    };
    for node in [&node as &dyn Fn(&str, bool, u64) -> String, &yaml] {
        let text = node("True", false, 8);
        assert_eq!(judged(&locked, &text).status, Pass, "{text}\n{:#?}", judged(&locked, &text));
        ends(&locked, &node("False", false, 8), "probe", Unknown, "not ready");
        ends(&locked, &node("Unknown", false, 8), "probe", Unknown, "not ready");
        ends(&locked, &node("True", true, 8), "probe", Unknown, "cordoned");
        ends(&locked, &node("True", false, 0), "probe", Unknown, "0 of 8");
    }
    let row = |state: &str| {
        let labels = labels.split_whitespace().collect::<Vec<_>>().join(",");
        format!("NAME   STATUS   ROLES    AGE   VERSION   LABELS\nnode-1   {state}   <none>   1d   v1.30   {labels}\n")
    };
    assert_eq!(judged(&locked, &row("Ready")).status, Pass);
    ends(&locked, &row("NotReady"), "probe", Unknown, "not ready");
    ends(&locked, &row("Ready,SchedulingDisabled"), "probe", Unknown, "cordoned");
}

/// A label has dashes where a name has blanks.
#[test]
fn a_label_is_the_product_of_its_name() {
    let label = |product: &str, cc: &str| {
        let (major, minor) = cc.split_once('.').unwrap();
        format!(
            "nvidia.com/gpu.product={product}\nnvidia.com/gpu.compute.major={major}\nnvidia.com/gpu.compute.minor={minor}\n\
             nvidia.com/gpu.count=1\nnvidia.com/cuda.driver.major=570\nnvidia.com/cuda.driver.minor=172\n"
        )
    };
    for (gpu, product, cc) in [("V100", "Tesla-V100-SXM2-16GB", "7.0"), ("H200", "NVIDIA-H200", "9.0")] {
        let locked = lock(&format!("[stack]\ntorch = \"2.6.0+cu124\"\n[target.t]\ngpu = \"{gpu}\"\n"));
        ends(&locked, &label(product, cc), "gpu-supported", Pass, "");
    }
}

/// collect_env prints N/A where `import torch` failed: beside a row of torch that is no sound environment.
#[test]
fn a_torch_that_is_listed_and_not_told_of_cannot_be_imported() {
    let locked = stack(TORCH);
    let told = "PyTorch version: N/A\nIs CUDA available: N/A\nPython version: 3.11.9 (64-bit runtime)\n";
    ends(&locked, &format!("{}{told}[pip3] torch==2.6.0+cu124\n", sound()), "torch-import", Fail, "cannot be imported");
    assert_eq!(judged(&locked, &(sound() + told)).status, Pass);
}

/// Which of two packages with the same files was written last is not told.
#[test]
fn an_older_library_of_another_cuda_beside_the_own_leaves_it_open() {
    let nightly = lock("[stack]\ntorch = \"2.9.1+cu130\"\n[target.t]\ngpu = \"RTX 4090\"\n");
    let locked = stack(TORCH);
    let text = |own: &str, other: &str| format!("{}{own}\n{other}\n", sound());
    let of_new = |own: &str, other: &str| {
        format!("{}torch==2.9.1+cu130\n{own}\n{other}\n", table("580.95.05", "13.0", "NVIDIA GeForce RTX 4090"))
    };
    for (text, lock, status) in [
        (of_new("nvidia-nccl-cu13==2.27.7", "nvidia-nccl-cu12==2.20.5"), &nightly, Unknown),
        (of_new("nvidia-nccl-cu12==2.20.5", "nvidia-nccl-cu13==2.27.7"), &nightly, Unknown),
        (of_new("nvidia-nccl-cu13==2.27.7", "nvidia-nccl-cu12==2.27.7"), &nightly, Warn),
        (text("torch==2.6.0+cu124", "nvidia-nccl-cu12==2.21.5\nnvidia-nccl-cu11==2.14.3"), &locked, Unknown),
        (text("torch==2.6.0+cu124", "nvidia-nccl-cu12==2.21.5\nnvidia-nccl-cu11==2.21.5"), &locked, Warn),
    ] {
        ends(lock, &text, "python-package", status, "the same files");
    }
}

/// The lines by which people tell of the system and of Python, each of them alone.
#[test]
fn the_system_and_python_are_read_as_they_are_pasted() {
    let locked = stack(TORCH);
    for (lines, id, status) in [
        ("$ python --version\nPython 3.8.10\n", "python-version", Fail),
        (
            "Python 3.8.10 (default, Jun 2 2021, 10:49:15)\n[GCC 9.4.0] on linux\n>>> import torch\n",
            "python-version",
            Fail,
        ),
        ("Python 3.11.4\n", "python-version", Pass),
        ("Python 3.11.4\nPython 3.8.10\n", "probe", Unknown),
        ("$ uname -m\naarch64\n", "platform-arch", Fail),
        ("x86_64\n", "platform-arch", Pass),
        ("Architecture:          aarch64\nCPU op-mode(s):  64-bit\n", "platform-arch", Fail),
        ("   Architecture: x86-64\n", "platform-arch", Pass),
        ("x86_64\nArchitecture: aarch64\n", "probe", Unknown),
        ("Distributor ID: Ubuntu\nDescription:    Ubuntu 14.04.6 LTS\nRelease: 14.04\n", "platform-glibc", Pass),
        ("CentOS release 6.10 (Final)\n", "platform-glibc", Fail),
        ("$ getconf GNU_LIBC_VERSION\nglibc 2.12\n", "platform-glibc", Fail),
        ("glibc 2.35\n", "platform-glibc", Pass),
        ("musl libc (x86_64)\nVersion 1.2.4\n", "platform-glibc", Fail),
    ] {
        ends(&locked, &format!("{}{lines}", sound()), id, status, "");
    }
}

/// What a text tells in passing, or of a fault of the program that ran, keeps no stack from running.
#[test]
fn notices_and_faults_of_a_program_leave_a_sound_host_sound() {
    let locked = stack(TORCH);
    for line in [
        "WARNING 11-10 22:34:11 cuda.py:76] Detected different devices in the system",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "UserWarning:\n    Found GPU1 NVIDIA GeForce GTX 750 which is of cuda capability 5.0.\n    PyTorch no longer supports this GPU because it is too old.",
    ] {
        let told = "PyTorch version: 2.6.0+cu124\nIs CUDA available: True\n";
        ends(&locked, &format!("{}{told}{line}\n", sound()), "probe", Warn, "");
    }
    let fault = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n";
    let both = format!("{}Detected different devices in the system\n{fault}", sound());
    ends(&locked, &both, "probe", Unknown, "");
}

/// An image names the older branches of drivers that it starts on one by one: what lies between them is excepted, and every other
/// release from the minimum on runs the lock.
#[test]
fn every_driver_that_a_lock_states_starts_its_image() {
    let mut excepted = 0;
    for (gpu, image) in [
        ("NVIDIA A100-SXM4-80GB", "nvidia/cuda:12.6.3-base-ubuntu22.04"),
        ("NVIDIA L4", "nvidia/cuda:12.4.1-base-ubuntu22.04"),
        ("NVIDIA GeForce RTX 3090", "nvidia/cuda:12.4.1-base-ubuntu22.04"),
    ] {
        let locked = lock(&format!("[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"{gpu}\"\nimage = \"{image}\"\n"));
        let driver = locked.target["t"].driver.as_ref().unwrap();
        let admitted = locked.admitted("t", &locked.target["t"]).unwrap();
        for branch in BUILTIN.branches.iter().filter(|row| row.cuda.is_some()) {
            let mut releases = BUILTIN.drivers.iter().filter(|row| row.version.major() == branch.branch.major());
            let Some(release) = releases.next_back().map(|row| row.version) else { continue };
            let verdict = judged(&locked, &table(release.as_str(), branch.cuda.unwrap().as_str(), gpu));
            assert_eq!(
                verdict.status == Pass,
                admitted.admits(&release),
                "{gpu} {image} {release}: {driver:?} {verdict:#?}"
            );
        }
        assert!(driver.except.is_empty() || driver.stated().contains(" but not "), "{driver:?}");
        excepted += driver.except.len();
    }
    assert!(excepted > 2, "{excepted}");
}
