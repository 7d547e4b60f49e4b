//! One fact changed, one finding changed: every field of a host's record, and the checks that may speak of it.

use std::collections::{BTreeMap, BTreeSet};

use gpuenv::verify::{Status, Verdict};
use serde_json::{Value, json};

use crate::common::judge;
use crate::common::judge::{SPEC, healthy, judge, lock, with};

/// Where a record is changed, what stands there then, and the checks that change, all of which must. An empty list
/// says that nobody judges it, with the reason.
struct Mutation {
    at: &'static str,
    to: Value,
    changes: &'static [&'static str],
    why: &'static str,
}

fn one(at: &'static str, to: Value, changes: &'static [&'static str]) -> Mutation {
    Mutation { at, to, changes, why: "" }
}

/// A fact that nobody judges.
fn told(at: &'static str, to: Value, why: &'static str) -> Mutation {
    Mutation { at, to, changes: &[], why }
}

fn fault(code: i64) -> Value {
    json!({ "at": "test", "code": code })
}

#[rustfmt::skip]
fn mutations() -> Vec<Mutation> {
    vec![
        told("/source", json!("elsewhere"), "where a record comes from changes nothing in it"),
        one("/probes/2", json!({ "name": "nvml", "ended": "crashed", "detail": "SIGSEGV in nvmlInit_v2" }), &["nvml", "probe"]),
        one("/probes/3", json!({ "name": "libcuda", "ended": "timed-out" }), &["gpu-present", "libcuda", "probe"]),
        one("/probes/4", json!({ "name": "libraries", "ended": "refused" }), &["probe"]),
        one("/probes/8", json!({ "name": "kernels", "ended": "garbled" }), &["probe"]),
        one("/probes/9", json!({ "name": "container", "ended": "failed" }), &["probe"]),
        told("/probes/9/detail", json!("more"), "it is evidence, told where the probe failed"),
        told("/probes/2/millis", json!(7), "how long a look took says nothing of the host"),
        one("/platform/system", json!("windows"), &["driver-match", "platform-system"]),
        one("/platform/system", Value::Null, &["platform-system"]),
        one("/platform/arch", json!("aarch64"), &["platform-arch"]),
        one("/platform/arch", Value::Null, &["platform-arch"]),
        told("/platform/kernel", json!("6.8"), "it is evidence; no locked package asks for a kernel"),
        one("/platform/os", json!("debian12"), &["platform-os"]),
        one("/platform/os", Value::Null, &["platform-os"]),
        one("/platform/glibc", json!("2.12"), &["platform-glibc"]),
        one("/platform/glibc", Value::Null, &["platform-glibc"]),
        one("/platform/container", json!("docker"), &["container-capabilities", "container-shm"]),
        told("/platform/root", json!(true), "who runs it decides what probes dare, not what the host can do"),
        told("/platform/shm", json!(67108864), "outside a container nobody limits it: see the same inside one"),
        one("/environment/CUDA_LAUNCH_BLOCKING", json!("1"), &["environment-variables"]),
        one("/environment/CUDA_DISABLE_PTX_JIT", json!("1"), &["environment-jit"]),
        one("/environment/LD_LIBRARY_PATH", json!("/opt/lib:"), &["environment-library-path"]),
        one("/environment/CUDA_MPS_PIPE_DIRECTORY", json!("/tmp/mps"), &["environment-mps"]),
        one("/module/version", json!("550.90.07"), &["driver-match"]),
        one("/module/flavour", Value::Null, &["driver-flavour"]),
        told("/module/uvm", json!(false), "CUDA has started: it found every module that it needs"),
        told("/module/nouveau", json!(true), "beside a module of NVIDIA's that is loaded it holds nothing back"),
        told("/module/path", json!("/proc/driver/nvidia/version"), "it is evidence"),
        one("/pci/1", json!({ "address": "0000:b3:00.0", "driver": "vfio-pci" }), &["gpu-hidden"]),
        one("/pci/0/address", json!("0000:66:00.0"), &["gpu-hidden"]),
        told("/pci/0/device", json!("1db4"), "the catalog knows boards by name, not by number"),
        told("/pci/0/driver", json!("vfio-pci"), "a GPU that NVML shows is driven, whatever sysfs says"),
        one("/nodes/0/errno", json!("EACCES"), &["device-nodes"]),
        one("/nodes/1/errno", json!("ENOENT"), &["device-nodes"]),
        told("/nodes/2/path", json!("/dev/nvidia7"), "whether a node opens counts, not its number"),
        told("/nvml/path", json!("/elsewhere/libnvidia-ml.so.1"), "it is evidence"),
        one("/nvml/file_version", json!("535.104.05"), &["driver-match"]),
        one("/nvml/driver", json!("470.57.02"), &["driver-minimum"]),
        told("/nvml/cuda", json!("11.4"), "libcuda's own answer counts where both are known"),
        one("/nvml/fault", fault(999), &["nvml"]),
        told("/nvml/count", json!(2), "the list itself counts"),
        told("/nvml/gpus/0/index", json!(3), "GPUs are matched by their addresses"),
        told("/nvml/gpus/0/name", json!("NVIDIA H100 PCIe"), "CUDA's own name for the device counts"),
        told("/nvml/gpus/0/brand", json!("geforce"), "only images ask for it: see the container lock"),
        told("/nvml/gpus/0/uuid", json!("GPU-2"), "the address tells the same GPU"),
        told("/nvml/gpus/0/pci", json!("00000000:66:00.0"), "the UUID tells the same GPU"),
        told("/nvml/gpus/0/compute_capability", json!("8.0"), "CUDA's own answer counts"),
        one("/nvml/gpus/0/memory", json!(1073741824), &["gpu-memory"]),
        one("/nvml/gpus/0/memory_used", json!(99000000000u64), &["gpu-memory"]),
        one("/nvml/gpus/0/compute_mode", json!("prohibited"), &["gpu-compute-mode"]),
        told("/nvml/gpus/0/processes", json!(2), "others may compute on it too in its usual mode"),
        one("/nvml/gpus/0/mig", json!(true), &["gpu-mig"]),
        told("/nvml/gpus/0/instances", json!([{ "profile": "1g.12gb", "uuid": "MIG-1", "memory": 1 }]), "MIG is off"),
        told("/nvml/gpus/0/instance_count", json!(0), "MIG is off"),
        one("/nvml/gpus/0/virtualization", json!("vgpu"), &["gpu-virtual"]),
        one("/nvml/gpus/0/fabric", json!("in-progress"), &["gpu-fabric"]),
        one("/nvml/gpus/0/persistence", json!(false), &["gpu-persistence"]),
        one("/nvml/gpus/0/recovery", json!("reset"), &["gpu-health"]),
        one("/nvml/gpus/0/remapping_failed", json!(true), &["gpu-health"]),
        one("/nvml/gpus/0/remapping_pending", json!(true), &["gpu-health"]),
        told("/nvml/gpus/0/licence", json!("unlicensed"), "a whole GPU needs none: see scripted faults for a virtual one"),
        one("/nvml/gpus/0/confidential_ready", json!(false), &["gpu-confidential"]),
        one("/nvml/gpus/0/fault", fault(16), &["gpu-health"]),
        told("/libcuda/path", json!("/lib64/libcuda.so.1"), "it is evidence, unless it is a stub's or cuda-compat's"),
        one("/libcuda/path", json!("/usr/local/cuda-12.4/compat/libcuda.so.550.54.15"), &["forward-compat"]),
        one("/libcuda/file_version", json!("535.104.05"), &["driver-match"]),
        one("/libcuda/stub", json!(true), &["libcuda"]),
        one("/libcuda/cuda", json!("12.2"), &["driver-cuda"]),
        one("/libcuda/cuda", json!("11.4"), &["driver-cuda"]),
        one("/libcuda/fault", fault(999), &["libcuda"]),
        told("/libcuda/devices/0/ordinal", json!(0), "kernels name their device by it: the same number again"),
        one("/libcuda/devices/0/name", json!("NVIDIA H200"), &["driver-minimum", "gpu-supported"]),
        told("/libcuda/devices/0/name", Value::Null, "NVML's name for it counts then"),
        told("/libcuda/devices/0/uuid", json!("GPU-2"), "the address tells the same GPU"),
        told("/libcuda/devices/0/pci", json!("0000:66:00.0"), "the UUID tells the same GPU"),
        one("/libcuda/devices/0/compute_capability", json!("12.0"), &["gpu-supported", "torch-arch-list"]),
        told("/libcuda/devices/0/memory", json!(1), "no lock asks for an amount"),
        told("/libcuda/devices/0/visible_as", json!("MIG-1"), "it tells how the GPU was asked, not what it is"),
        told("/libcuda/devices/0/integrated", json!(true), "the law asks for the capability alone"),
        one("/libcuda/devices/0/fault", fault(801), &["gpu-usable"]),
        told("/libcuda/found_by", json!("LD_LIBRARY_PATH"), "how it was found is evidence"),
        told("/libcuda/shadows", json!([{ "path": "/opt/libcuda.so.1" }]), "the one that is loaded answers for itself"),
        told("/nvml/found_by", json!("LD_LIBRARY_PATH"), "how it was found is evidence"),
        told("/nvml/shadows", json!([{ "path": "/opt/libnvidia-ml.so.1" }]), "the one that is loaded answers for itself"),
        told("/compat/0/path", json!("/opt/compat/libcuda.so.570.86.15"), "none is locked, and it is not loaded"),
        told("/compat/0/file_version", json!("560.28.03"), "none is locked"),
        told("/compat/0/cuda", json!("12.6"), "none is locked: see the lock with forward compatibility"),
        told("/compat/0/branches", json!([470]), "none is locked: see the lock with forward compatibility"),
        one("/libraries/0/version", json!("11.8"), &["library-cudart"]),
        one("/libraries/0/version", json!("12.1"), &["library-cudart"]),
        one("/libraries/1/version", json!("8.9.7"), &["library-cudnn"]),
        one("/libraries/1/version", json!("9.0.0"), &["library-cudnn"]),
        one("/libraries/1/version", json!("9.5.0"), &["library-cudnn"]),
        one("/libraries/1/name", json!("cublas"), &["library-cudnn"]),
        told("/libraries/1/soname", json!("libcudnn.so"), "the file that answers counts"),
        one("/libraries/1/path", json!("/opt/libcudnn.so.9"), &["library-mixed"]),
        told("/libraries/1/found_by", json!("ld.so.cache"), "how it was found matters where there are further copies"),
        told("/libraries/1/file_version", json!("9.0.0.1"), "its own answer counts"),
        one("/libraries/1/parts/0", json!("/usr/lib/libcudnn_graph.so.9"), &["library-mixed"]),
        one("/libraries/1/shadows", json!([{ "path": "/conda/lib/libcudnn.so.9", "version": "9.0.0" }]), &["library-duplicates"]),
        told("/libraries/1/shadows", json!([{ "path": "/usr/lib/libcudnn.so.9", "found_by": "ld.so.cache", "version": "9.0.0" }]), "a wheel's library is loaded by its place; what the system has is for other programs"),
        one("/libraries/1/fault", fault(1), &["library-cudnn"]),
        one("/libraries/2/version", json!("2.18.1"), &["library-nccl"]),
        told("/files", json!(["/usr/lib/libcudnn.so.8"]), "whether a process would load such a file is not told"),
        one("/driver_libraries/0/path", Value::Null, &["driver-jit-compiler"]),
        told("/toolkits/0/root", json!("/opt/cuda"), "where it lies is for its pointers to know"),
        one("/toolkits/0/version", json!("12.6.3"), &["toolkit", "toolkit-path"]),
        one("/toolkits/0/version", json!("12.4.0"), &["toolkit"]),
        told("/toolkits/0/nvcc", json!("12.4.99"), "the release counts where it is known"),
        told("/toolkits/0/nvcc_path", json!("/usr/bin/nvcc"), "it is evidence"),
        one("/toolkits/0/named_by", json!([]), &["toolkit-path"]),
        told("/toolkits/0/fault", fault(1), "what it told in spite of it counts"),
        one("/compilers/0/version", json!("14.2.0"), &["host-compiler"]),
        one("/compilers/0/name", json!("clang"), &["host-compiler"]),
        told("/compilers/0/path", json!("/opt/gcc"), "it is evidence"),
        one("/compilers/0/named_by", json!(["CXX"]), &["host-compiler"]),
        told("/compilers/0/fault", fault(1), "what it told in spite of it counts"),
        told("/python/path", json!("/usr/bin/python3"), "it is evidence"),
        told("/python/named_by", json!("PATH"), "it is evidence"),
        one("/python/version", json!("3.12.1"), &["python-version", "python-wheel"]),
        one("/python/bits", json!(32), &["python-bits"]),
        told("/python/sites", json!(["/elsewhere"]), "it says where packages were looked for"),
        one("/python/packages/torch", json!("2.5.1+cpu"), &["python-package", "python-wheel"]),
        one("/python/origins", json!({ "torch": "repository" }), &["python-wheel"]),
        one("/python/packages/triton", json!("2.0.0"), &["python-package"]),
        one("/python/fault", fault(1), &["python-version", "python-bits", "python-package", "python-wheel"]),
        one("/python/torch/version", json!("2.4.0"), &["python-package"]),
        one("/python/torch/cuda", Value::Null, &["torch-cuda"]),
        one("/python/torch/cuda", json!("11.8"), &["torch-cuda"]),
        one("/python/torch/arch_list", json!(["sm_50", "sm_70"]), &["torch-arch-list"]),
        one("/python/torch/arch_list", json!(["sm_50", "compute_70"]), &["torch-arch-list"]),
        one("/python/torch/cudnn", json!("8.9.2"), &["torch-libraries"]),
        one("/python/torch/nccl", json!("2.30.1"), &["torch-libraries"]),
        one("/python/torch/available", json!(false), &["torch-available"]),
        one("/python/torch/computed", json!(false), &["torch-computed"]),
        one("/python/torch/copied", json!(false), &["torch-peers"]),
        one("/python/torch/reduced", json!(false), &["torch-allreduce"]),
        one("/python/torch/mapped/1", json!("/usr/lib/libcudnn_graph.so.9"), &["library-mixed"]),
        told("/python/torch/messages", json!(["words"]), "they are evidence"),
        one("/kernels/0/outcome", json!("wrong"), &["kernel-result"]),
        one("/kernels/1/outcome", json!("failed"), &["kernel-native"]),
        one("/kernels/3/outcome", json!("failed"), &["kernel-jit"]),
        told("/kernels/0/device", json!(0), "a kernel of no device that is listed has nothing to speak of"),
        told("/kernels/0/code", json!("sm_80"), "other machine code ran beside the locked one"),
        told("/kernels/3/ptx_isa", json!("8.4"), "it is evidence"),
        one("/kernels/0/compiler", json!("nvrtc 12.4.127"), &["compile-nvrtc"]),
        told("/kernels/0/program", json!("other"), "it is evidence"),
        told("/kernels/0/fault", json!({ "at": "cuLaunchKernel", "code": 1, "name": "CUDA_ERROR", "message": "m" }), "it explains an outcome that is not right"),
        told("/kernels/0/micros", json!(1), "a test is no measurement of speed"),
    ]
}

/// The same for what only locks of other kinds ask.
#[rustfmt::skip]
fn of_containers() -> Vec<Mutation> {
    vec![
        told("/container/runtimes", json!({}), "the toolkit is here, so that some runtime is"),
        told("/container/toolkit", Value::Null, "CDI specifications serve without it"),
        one("/container", json!({ "runtimes": { "docker": "26" } }), &["container-runtime", "container-cdi"]),
        told("/container/mode", json!("jit-cdi"), "it matters where an image's requirement fails"),
        told("/container/docker_runtimes", json!([]), "the toolkit's own presence counts"),
        told("/container/docker_default", json!("nvidia"), "which runtime a user asks for is not the host's"),
        told("/container/docker_cdi", json!(true), "whether containers are started by CDI is not the host's"),
        told("/container/cgroup_driver", json!("cgroupfs"), "it matters where links are missing"),
        told("/container/cgroup_version", json!(1), "it is evidence"),
        one("/container/dev_char", json!(false), &["container-dev-char"]),
        told("/container/cdi/0/path", json!("/var/run/cdi/nvidia.yaml"), "it is evidence"),
        one("/container/cdi/0/kind", json!("other.org/device"), &["container-cdi"]),
        told("/container/cdi/0/devices", json!([]), "which devices a user asks for is not the host's"),
        one("/container/cdi/0/driver", json!("535.104.05"), &["container-cdi"]),
        one("/container/cdi/0/missing", json!(["/usr/lib/libcuda.so.1"]), &["container-cdi"]),
        told("/container/cdi/0/fault", fault(1), "what it told in spite of it counts"),
        one("/nvml/driver", json!("535.104.05"), &["container-cdi"]),
    ]
}

/// The same for a lock that reaches the GPU by PTX alone.
#[rustfmt::skip]
fn of_ptx() -> Vec<Mutation> {
    vec![
        one("/kernels/3/outcome", json!("failed"), &["kernel-jit"]),
        one("/kernels/3", Value::Null, &["kernel-jit"]),
        told("/kernels/1/outcome", json!("failed"), "machine code is not what this lock runs"),
        one("/environment/CUDA_DISABLE_PTX_JIT", json!("1"), &["environment-jit"]),
        one("/driver_libraries/0/path", Value::Null, &["driver-jit-compiler"]),
        one("/nvml/driver", json!("535.183.01"), &["driver-minimum"]),
    ]
}

/// An old driver that a cuda-compat stands before.
const BEHIND: &[(&str, &str)] = &[
    ("/nvml/driver", "535.104.05"),
    ("/nvml/file_version", "535.104.05"),
    ("/nvml/cuda", "12.2"),
    ("/module/version", "535.104.05"),
    ("/libcuda/path", COMPAT),
    ("/libcuda/file_version", "580.65.06"),
    ("/libcuda/cuda", "13.0"),
    ("/compat/0/path", COMPAT),
    ("/compat/0/cuda", "13.0"),
];
const COMPAT: &str = "/usr/local/cuda-13.0/compat/libcuda.so.580.65.06";

/// The same for a lock with forward compatibility, on that driver.
#[rustfmt::skip]
fn of_compat() -> Vec<Mutation> {
    vec![
        one("/compat/0/cuda", json!("12.6"), &["forward-compat"]),
        one("/compat/0/branches", json!([550, 570]), &["forward-compat"]),
        one("/compat/0/branches", json!([]), &["forward-compat"]),
        one("/compat/0/path", json!("/opt/compat/libcuda.so.580.65.06"), &["forward-compat"]),
        told("/compat/0/file_version", json!("570.124.06"), "its note says what it serves"),
        one("/libcuda/cuda", json!("12.2"), &["driver-cuda"]),
        one("/libcuda/devices/0/name", json!("NVIDIA GeForce RTX 4090"), &["forward-compat-gpu", "gpu-supported"]),
        one("/libcuda/fault", fault(804), &["libcuda"]),
    ]
}

/// A Jetson of JetPack 6.2, and what may be otherwise on it.
fn jetson() -> Value {
    json!({ "format": 1, "origin": "observed", "probes": [{ "name": "platform", "ended": "done" }],
            "platform": { "system": "tegra", "arch": "aarch64", "os": "jetpack6.2" },
            "nvml": { "driver": "540.4.0", "cuda": "12.6", "gpus": [{ "name": "Orin (nvgpu)" }] } })
}

#[rustfmt::skip]
fn of_jetson() -> Vec<Mutation> {
    vec![
        one("/nvml/cuda", json!("11.4"), &["driver-minimum"]),
        one("/nvml/cuda", json!("12.9"), &["driver-minimum"]),
        one("/nvml/cuda", Value::Null, &["driver-minimum"]),
        one("/platform/os", json!("jetpack5.1"), &["platform-os"]),
        one("/platform/os", Value::Null, &["platform-os"]),
        one("/platform/arch", json!("x86_64"), &["platform-arch"]),
        one("/nvml/gpus/0/name", json!("Xavier (nvgpu)"), &["gpu-supported"]),
        one("/nvml/driver", json!("35.4.1"), &["driver-minimum"]),
    ]
}

const JETSON: &str = "[stack]\ntorch = \"2.8\"\n[target.robot]\ngpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"\n";
const WSL2: &str =
    "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.w]\ngpu = \"H100 NVL\"\nplatform = \"wsl2\"\n";
const CONTAINER: &str = "[stack]\ntorch = \"2.5.1+cu124\"\n[target.c]\ngpu = \"H100 NVL\"\ndriver = \"550.54.15\"\nimage = \"nvidia/cuda\"\n";
const FORWARD: &str =
    "[stack]\ntorch = \"2.9.1+cu130\"\n[target.f]\ngpu = \"H100 NVL\"\ndriver = \"535.104.05\"\nos = \"ubuntu22.04\"\n";
const JIT: &str = "[stack]\ncuda = \"12.4\"\n[build]\nptx = true\narch-list = \"8.0+PTX\"\n[target.j]\ngpu = \"H100 NVL\"\ndriver = \"550.54.15\"\nos = \"ubuntu22.04\"\n";

/// How each check ended, GPUs apart.
fn ends(verdict: &Verdict) -> BTreeMap<(&'static str, Vec<Option<String>>), Status> {
    let mut found: BTreeMap<(&'static str, Vec<Option<String>>), Status> = BTreeMap::new();
    for check in &verdict.checks {
        // A device of another name is the same finding.
        let gpu = check.gpu.as_ref().map(|gpu| gpu.split(':').next().unwrap_or_default().to_string());
        let mut key = (check.id, vec![gpu]);
        while found.contains_key(&key) {
            key.1.push(None);
        }
        found.insert(key, check.status);
    }
    found
}

/// The checks that ended otherwise, came or went.
fn changed(before: &Verdict, after: &Verdict) -> BTreeSet<&'static str> {
    let (before, after) = (ends(before), ends(after));
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).map(|(id, _)| *id).collect()
}

fn changed_host(host: &Value, mutation: &Mutation) -> Value {
    let mut host = host.clone();
    judge::set(&mut host, mutation.at, mutation.to.clone());
    host
}

#[track_caller]
fn try_all(spec: &str, host: &Value, mutations: &[Mutation]) {
    let lock = lock(spec);
    let sound = judge(&lock, host);
    assert_eq!(sound.status, Status::Pass, "{sound:#?}");
    let mut wrong = Vec::new();
    for mutation in mutations {
        assert!(mutation.changes.is_empty() != mutation.why.is_empty(), "{}: give checks or a reason", mutation.at);
        let found = changed(&sound, &judge(&lock, &changed_host(host, mutation)));
        let wanted: BTreeSet<&str> = mutation.changes.iter().copied().collect();
        if found != wanted {
            wrong.push(format!("{} = {}: {found:?}, not {wanted:?}", mutation.at, mutation.to));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_changed_fact_changes_the_findings_that_speak_of_it() {
    try_all(SPEC, &healthy(), &mutations());
}

#[test]
fn one_changed_fact_of_a_container_host_too() {
    try_all(CONTAINER, &healthy(), &of_containers());
}

#[test]
fn one_changed_fact_where_only_ptx_reaches_the_gpu() {
    try_all(JIT, &healthy(), &of_ptx());
}

#[test]
fn one_changed_fact_behind_a_cuda_compat() {
    let mut changes: Vec<(&str, Value)> = BEHIND.iter().map(|(at, to)| (*at, json!(to))).collect();
    changes.extend(["/python", "/libraries"].map(|at| (at, Value::Null)));
    try_all(FORWARD, &with(&changes), &of_compat());
}

/// What is said of each changed fact, and of the sound host, as tests/data/findings.txt keeps it: who changes a check reads
/// in the difference what it says otherwise. `UPDATE_EXAMPLES=1 cargo test --test machine mutations::` writes it anew.
#[test]
fn findings_read_as_they_were_written_down() {
    let mut behind: Vec<(&str, Value)> = BEHIND.iter().map(|(at, to)| (*at, json!(to))).collect();
    behind.extend(["/python", "/libraries"].map(|at| (at, Value::Null)));
    let tables = [
        ("bare metal", SPEC, healthy(), mutations()),
        ("container", CONTAINER, healthy(), of_containers()),
        ("ptx", JIT, healthy(), of_ptx()),
        ("cuda-compat", FORWARD, with(&behind), of_compat()),
        ("pasted", SPEC, with(&[("/origin", json!("pasted")), ("/probes", json!([]))]), mutations()),
        ("inside a container", CONTAINER, with(&[("/platform/container", json!("docker"))]), mutations()),
        ("wsl2", WSL2, with(&[("/platform/system", json!("wsl")), ("/module", Value::Null)]), mutations()),
        ("no kernels", SPEC, with(&[("/kernels", json!([])), ("/probes/8", Value::Null)]), mutations()),
        ("jetson", JETSON, jetson(), of_jetson()),
    ];
    let mut text = String::new();
    for (name, spec, host, mutations) in tables {
        let lock = lock(spec);
        let sound = judge(&lock, &host);
        text += &format!("==== {name} ====\n{}", findings(&sound, None));
        let place =
            |mutation: &Mutation| mutation.at.rsplit_once('/').is_some_and(|(of, _)| host.pointer(of).is_some());
        for mutation in mutations.into_iter().filter(place) {
            let verdict = judge(&lock, &changed_host(&host, &mutation));
            text += &format!("\n{} = {}\n{}", mutation.at, mutation.to, findings(&verdict, Some(&sound)));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/findings.txt");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let other = text.lines().zip(kept.lines()).find(|(new, old)| new != old);
    assert!(text == kept, "UPDATE_EXAMPLES=1 cargo test --test machine mutations:: writes them anew: {other:?}");
}

/// The checks of a verdict, or those that say something else than before.
fn findings(verdict: &Verdict, before: Option<&Verdict>) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        if before.is_some_and(|before| before.checks.contains(check)) {
            continue;
        }
        let plain = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".into());
        let [expected, found, by, hint] = [&check.expected, &check.found, &check.evidence, &check.hint].map(plain);
        let of = check.gpu.as_ref().map(|gpu| format!(" of {gpu}")).unwrap_or_default();
        let (status, action) = (check.status.as_str(), check.action.as_str());
        text += &format!("  {status} {}{of}: {expected} | {found} | {by} | {action} | {hint}\n", check.id);
    }
    text
}

/// Every field of the record, by the structures in its source, is changed by some mutation.
#[test]
fn every_field_of_the_record_is_in_the_table() {
    let source = concat!(
        include_str!("../../src/host/record/mod.rs"),
        include_str!("../../src/host/record/gpus.rs"),
        include_str!("../../src/host/record/software.rs")
    );
    let mut fields: BTreeSet<String> = BTreeSet::new();
    let mut of = String::new();
    for line in source.split("#[cfg(test)]").next().unwrap().lines() {
        if let Some(rest) = line.strip_prefix("pub struct ") {
            of = rest.trim_end_matches(" {").to_string();
        } else if let Some(rest) = line.strip_prefix("    pub ") {
            fields.insert(format!("{of}.{}", rest.split(':').next().unwrap()));
        }
    }
    let structs = [
        ("Record", ""),
        ("Probe", "/probes/#"),
        ("Platform", "/platform"),
        ("KernelModule", "/module"),
        ("PciGpu", "/pci/#"),
        ("Node", "/nodes/#"),
        ("Nvml", "/nvml"),
        ("Gpu", "/nvml/gpus/#"),
        ("Mig", "/nvml/gpus/#/instances/#"),
        ("Libcuda", "/libcuda"),
        ("CudaDevice", "/libcuda/devices/#"),
        ("Compat", "/compat/#"),
        ("Library", "/libraries/#"),
        ("Shadowed", "/libraries/#/shadows/#"),
        ("Toolkit", "/toolkits/#"),
        ("Compiler", "/compilers/#"),
        ("Python", "/python"),
        ("Torch", "/python/torch"),
        ("Container", "/container"),
        ("Cdi", "/container/cdi/#"),
        ("Kernel", "/kernels/#"),
        ("ApiError", "fault"),
    ];
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for mutation in mutations().iter().chain(&of_containers()).chain(&of_compat()) {
        note(&mut seen, mutation.at, &mutation.to);
    }
    let missing: Vec<&String> = fields
        .iter()
        .filter(|field| {
            let (of, name) = field.split_once('.').unwrap();
            let place = structs.iter().find(|(known, _)| *known == of).map(|(_, place)| *place);
            let place = place.unwrap_or_else(|| panic!("{of} has no place in the record: name it here"));
            !seen.contains(&format!("{place}/{name}")) && !UNTOUCHED.contains(&field.as_str())
        })
        .collect();
    assert!(missing.is_empty(), "nothing changes {missing:?}");
}

/// Fields that no single mutation can change alone, with the reason.
const UNTOUCHED: &[&str] = &[
    // A record of another format is not read at all.
    "Record.format",
    // Who wrote the file says nothing of the host.
    "Record.written",
    // A pasted record is judged as a whole by other measures.
    "Record.origin",
    // Whose libcuda is loaded is told by its path beside the list of packages.
    "Libcuda.compat",
];

/// The places a mutation touches: its own, those above it, and those within a value that is put there.
fn note(seen: &mut BTreeSet<String>, at: &str, value: &Value) {
    let mut place = String::new();
    for part in at.split('/').skip(1) {
        let number = part.parse::<usize>().is_ok();
        place += &format!("/{}", if number { "#" } else { part });
        seen.insert(place.clone());
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let inner = format!("{at}/{name}");
                note(seen, &inner, value);
                if at.ends_with("/fault") {
                    seen.insert(format!("fault/{name}"));
                }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, item)| note(seen, &format!("{at}/{number}"), item))
        }
        _ => {}
    }
}
