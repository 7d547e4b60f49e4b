//! Hosts beside which another lies that is judged otherwise: one value tells the two apart, and it is read.

use gpuenv::lock::Lock;
use gpuenv::verify::SHM_LEAST;
use gpuenv::verify::Status::{self, Fail, Pass, Skip, Unknown, Warn};
use serde_json::{Value, json};

use crate::common::judge::{SPEC, judge, lock, with, worst};

pub const GPU: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n";

/// A lock, what the host has otherwise than a sound one, a check, how it ends, and what it says.
pub type Case<'a> = (&'a Lock, Vec<(String, Value)>, &'static str, Status, &'static str);

#[track_caller]
pub fn hold(cases: Vec<Case<'_>>) {
    let mut wrong = Vec::new();
    for (lock, changes, id, status, says) in cases {
        let changes: Vec<(&str, Value)> = changes.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
        let verdict = judge(lock, &with(&changes));
        let check = worst(&verdict, id);
        if check.status != status || !check.hint.clone().unwrap_or_default().contains(says) {
            wrong.push(format!("{changes:?}\nexpected {status:?} {says:?}: {check:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub fn one(at: &str, value: Value) -> Vec<(String, Value)> {
    vec![(at.to_string(), value)]
}

/// A second GPU.
pub fn second(name: &str, cc: &str) -> Vec<(String, Value)> {
    let pci = "0000:83:00.0";
    let seen = json!({ "index": 1, "name": name, "pci": pci, "compute_capability": cc });
    let device = json!({ "ordinal": 1, "name": name, "pci": pci, "compute_capability": cc });
    [one("/nvml/gpus/1", seen), one("/libcuda/devices/1", device)].concat()
}

fn kernel(outcome: &str) -> Vec<(String, Value)> {
    let kernel =
        json!({ "device": 0, "code": "sm_90", "compiler": "built-in", "program": "saxpy", "outcome": outcome });
    one("/kernels/0", kernel)
}

#[test]
fn what_a_container_is_given_is_read_word_by_word() {
    let lock = lock(SPEC);
    let given = |value: &str| {
        let capabilities = one("/environment/NVIDIA_DRIVER_CAPABILITIES", json!(value));
        [one("/platform/container", json!("docker")), capabilities].concat()
    };
    hold(vec![
        (&lock, given("all"), "container-capabilities", Pass, ""),
        (&lock, given("compute, utility"), "container-capabilities", Pass, ""),
        (&lock, given(""), "container-capabilities", Pass, ""),
        (&lock, given("compute"), "container-capabilities", Warn, "NVML and nvidia-smi do not"),
        (&lock, given("graphics"), "container-capabilities", Warn, "CUDA starts all the same"),
        (
            &lock,
            [given("graphics"), no_cuda(100)].concat(),
            "container-capabilities",
            Fail,
            "CUDA's libraries are not put",
        ),
    ]);
}

/// CUDA that does not start.
pub fn no_cuda(code: u64) -> Vec<(String, Value)> {
    let fault = json!({ "at": "cuInit", "code": code });
    [one("/libcuda/fault", fault), one("/libcuda/devices", json!([])), one("/kernels", json!([]))].concat()
}

/// As a real H100 answered: CUDA 580 says 101 to all of these, and 100 to an instance that it does not have.
#[test]
fn what_the_variables_name_wrongly_is_told_as_it_is() {
    let lock = lock(GPU);
    let visible = |value: &str| one("/environment/CUDA_VISIBLE_DEVICES", json!(value));
    let order = |value: &str| one("/environment/CUDA_DEVICE_ORDER", json!(value));
    let no_mig = one("/nvml/gpus/0/mig", json!(false));
    let instance = "MIG-11111111-1111-1111-1111-111111111111";
    hold(vec![
        (&lock, [visible("0,0"), no_cuda(101)].concat(), "libcuda", Fail, "names a GPU twice"),
        (&lock, [visible("0,GPU-1"), no_cuda(101)].concat(), "libcuda", Fail, "is not here"),
        (&lock, [order("FASTEST"), no_cuda(101)].concat(), "libcuda", Fail, "CUDA_DEVICE_ORDER is `FASTEST`"),
        (&lock, [order(""), no_cuda(101)].concat(), "libcuda", Fail, "CUDA_DEVICE_ORDER is ``"),
        (&lock, [visible("GPU-"), no_cuda(100)].concat(), "libcuda", Fail, "which hides every GPU"),
        (&lock, [order("PCI_BUS_ID"), no_cuda(101)].concat(), "libcuda", Fail, "look into `dmesg`"),
        (&lock, [visible(instance), no_mig, no_cuda(100)].concat(), "libcuda", Fail, "which hides every GPU"),
    ]);
}

#[test]
fn a_device_node_that_may_not_be_opened_is_why_there_is_no_gpu() {
    let nodes = one("/nodes", json!([{ "path": "/dev/nvidia0", "errno": "EACCES" }]));
    let inside = one("/platform/container", json!("docker"));
    hold(vec![(&lock(GPU), [nodes, inside, no_cuda(100)].concat(), "libcuda", Fail, "may not open /dev/nvidia0")]);
}

/// With driver 580 torch 2.11 ends with "no kernel image" on an H100: its PTX is for later GPUs alone.
#[test]
fn forced_compiling_fails_where_a_build_has_no_ptx_for_the_gpu() {
    let lock = lock(GPU);
    let to = |name: &str, value: &str| one(&format!("/environment/{name}"), json!(value));
    let set = |name: &str| to(name, "1");
    let wrong = "holds no PTX for sm_90";
    hold(vec![
        (&lock, set("CUDA_FORCE_JIT"), "environment-jit", Fail, wrong),
        (&lock, set("CUDA_FORCE_PTX_JIT"), "environment-jit", Fail, wrong),
        (&lock, set("CUDA_DISABLE_JIT"), "environment-jit", Warn, "does not need it here"),
        // The driver takes no other value.
        (&lock, to("CUDA_FORCE_JIT", "yes"), "environment-jit", Pass, ""),
        (&lock, to("CUDA_FORCE_PTX_JIT", "2"), "environment-jit", Pass, ""),
    ]);
}

#[test]
fn an_image_that_asks_for_more_runs_where_cuda_starts_in_it() {
    let asked = one("/environment/NVIDIA_REQUIRE_CUDA", json!("cuda>=99.0"));
    let inside = || one("/platform/container", json!("docker"));
    let lock = lock(&format!("{GPU}runtime = \"container\"\nos = \"ubuntu22.04\"\n"));
    hold(vec![
        (
            &lock,
            [inside(), asked.clone()].concat(),
            "image-require",
            Warn,
            "CUDA starts in this container all the same",
        ),
        (&lock, [inside(), asked, no_cuda(803)].concat(), "image-require", Fail, "refuses to start"),
    ]);
}

#[test]
fn a_preloaded_stub_keeps_cuda_from_starting() {
    let preload = |value: &str| one("/environment/LD_PRELOAD", json!(value));
    let stub = "/opt/x.so:/usr/local/cuda/lib64/stubs/libcuda.so";
    hold(vec![
        (&lock(GPU), preload(stub), "environment-preload", Fail, "error 34"),
        (&lock(GPU), preload("/opt/x.so"), "environment-preload", Warn, "was not judged"),
    ]);
}

/// Each at the border where another answer begins.
#[test]
fn borders_belong_to_the_right_side() {
    let lock = lock(SPEC);
    let shm = |bytes: u64| [one("/platform/container", json!("docker")), one("/platform/shm", json!(bytes))].concat();
    // One of several GPUs that keeps its work back keeps CUDA from starting.
    let unready = [
        second("NVIDIA H100 NVL", "9.0"),
        one("/nvml/gpus/1/confidential_ready", json!(false)),
        one("/libcuda/fault", json!({ "at": "cuInit", "code": 802 })),
        one("/libcuda/devices", json!([])),
    ];
    // CUDA that starts and shows nothing does not work without NVML.
    let nowhere = json!({ "fault": { "at": "dlopen", "name": "ENOENT" } });
    let nothing = [one("/nvml", nowhere), one("/libcuda/devices", json!([])), one("/kernels", json!([]))];
    hold(vec![
        (&lock, shm(SHM_LEAST), "container-shm", Pass, ""),
        (&lock, shm(SHM_LEAST - 1), "container-shm", Warn, "--shm-size"),
        (&lock, unready.concat(), "libcuda", Fail, "conf-compute"),
        (&lock, nothing.concat(), "nvml", Fail, "install the whole driver again"),
    ]);
}

#[test]
fn a_variable_is_to_blame_where_no_gpu_is_seen() {
    let lock = lock(GPU);
    let void = || {
        let variable = one("/environment/NVIDIA_VISIBLE_DEVICES", json!("void"));
        [one("/platform/container", json!("docker")), one("/python/torch", Value::Null), variable].concat()
    };
    let gone = ["/nvml", "/libcuda"].map(|at| (at.to_string(), Value::Null)).to_vec();
    let none = [void(), gone, one("/kernels", json!([]))].concat();
    hold(vec![
        (&lock, void(), "gpu-present", Pass, ""),
        (&lock, none, "gpu-present", Fail, "NVIDIA_VISIBLE_DEVICES is `void`"),
    ]);
}

/// Nobody knows of a lock without a list of architectures which GPUs its code runs on: none is left alone.
#[test]
fn another_gpu_is_judged_where_the_lock_lists_no_code() {
    let mut unlisted = lock(GPU);
    unlisted.arch_list = None;
    hold(vec![
        (&unlisted, second("NVIDIA GeForce RTX 5090", "12.0"), "gpu-supported", Fail, "holds no code for sm_120"),
        (&lock(GPU), second("NVIDIA GeForce RTX 5090", "12.0"), "gpu-supported", Warn, "leave it out"),
        // A compute capability names every GPU that has it.
        (&lock(&GPU.replace("H100 NVL", "sm_90")), Vec::new(), "gpu-supported", Pass, ""),
        (
            &lock(&GPU.replace("H100 NVL", "sm_80")),
            Vec::new(),
            "gpu-supported",
            Fail,
            "the lock is for other GPUs (8.0)",
        ),
    ]);
}

#[test]
fn the_state_of_a_gpu_says_more_than_the_number_of_its_error() {
    let lock = lock(GPU);
    let busy = |licence: &str| {
        let fault = json!({ "at": "cuDevicePrimaryCtxRetain", "code": 46 });
        [one("/libcuda/devices/0/fault", fault), one("/nvml/gpus/0/licence", json!(licence))].concat()
    };
    let silent = || {
        let fault = json!({ "at": "cuDevicePrimaryCtxRetain", "name": "ETIMEDOUT", "message": "no answer" });
        [second("NVIDIA H100 NVL", "9.0"), one("/libcuda/devices/1/fault", fault)].concat()
    };
    let alone = one("/libcuda/devices/0/fault", silent().pop().unwrap().1);
    let unlicensed = || {
        let kind = one("/nvml/gpus/0/virtualization", json!("vgpu"));
        [kind, one("/nvml/gpus/0/licence", json!("unlicensed-restricted"))].concat()
    };
    let others = one(
        "/kernels",
        json!([{ "device": 1, "code": "sm_90", "compiler": "built-in", "program": "saxpy", "outcome": "right" }]),
    );
    let unseen = {
        let fault = json!({ "at": "nvmlDeviceGetMemoryInfo", "code": 9 });
        let seen = json!({ "index": 1, "name": "NVIDIA H100 NVL", "pci": "0000:83:00.0", "compute_capability": "9.0", "fault": fault });
        one("/nvml/gpus/1", seen)
    };
    // A wrong result beside right ones is no GPU that computes.
    let sick = one("/nvml/gpus/0/fault", json!({ "at": "nvmlDeviceGetMemoryInfo", "code": 9 }));
    hold(vec![
        (&lock, busy("unlicensed"), "gpu-usable", Fail, "has no licence"),
        (&lock, busy("licensed"), "gpu-usable", Fail, "another process holds the GPU alone"),
        (&lock, silent(), "gpu-usable", Fail, "comes onto the other GPUs"),
        (&lock, alone, "gpu-usable", Unknown, "did not answer"),
        (&lock, [sick.clone(), kernel("right")].concat(), "gpu-health", Unknown, "CUDA computes right on this GPU"),
        (&lock, [sick.clone(), kernel("wrong")].concat(), "gpu-health", Fail, "kernel module is not loaded"),
        // What computes is another one, or CUDA was not asked of this one.
        (&lock, [second("NVIDIA H100 NVL", "9.0"), sick, others].concat(), "gpu-health", Fail, "is not loaded"),
        (&lock, unseen, "gpu-health", Fail, "is not loaded"),
        (&lock, unlicensed(), "gpu-virtual", Warn, "some minutes after its start"),
        (&lock, [unlicensed(), kernel("wrong")].concat(), "gpu-virtual", Fail, "its driver keeps CUDA from it"),
    ]);
}

/// The first Python on PATH may be the system's own, where it holds nothing of the stack.
#[test]
fn an_interpreter_that_nobody_meant_is_no_mistake() {
    let lock = lock(GPU);
    let found = |named_by: &str, packages: Value| {
        let python = json!({ "path": "/usr/bin/python3", "named_by": named_by, "version": "3.12.4", "bits": 64, "packages": packages });
        one("/python", python)
    };
    hold(vec![
        (&lock, found("PATH", json!({})), "python-version", Warn, "holds nothing of the stack"),
        (&lock, found("PATH", json!({ "torch": "2.5.1+cu124" })), "python-version", Fail, ""),
        (&lock, found("--python", json!({})), "python-version", Fail, ""),
    ]);
}

/// A GPU of which nobody told what it can do, and a toolkit of which nobody wrote down what it compiles for.
#[test]
fn what_is_not_known_of_a_gpu_or_of_a_list_asks_for_no_kernel() {
    let unknown = ["/nvml/gpus/0", "/libcuda/devices/0"].map(|at| {
        [one(&format!("{at}/name"), json!("NVIDIA X9")), one(&format!("{at}/compute_capability"), Value::Null)]
    });
    let ran = one(
        "/kernels",
        json!([{ "device": 0, "code": "sm_80", "compiler": "built-in", "program": "saxpy", "outcome": "right" }]),
    );
    let changes = [unknown.concat().concat(), ran.clone()].concat();
    let mut unlisted = lock(SPEC);
    unlisted.arch_list = None;
    hold(vec![
        (&lock(GPU), changes, "kernel-native", Pass, ""),
        (&lock(GPU), ran.clone(), "kernel-native", Warn, "the locked architecture itself was not tried"),
        (&unlisted, ran, "kernel-jit", Skip, "the lock does not need it"),
    ]);
}

/// NVML answered where a text tells what only it knows, by whatever of that.
#[test]
fn one_word_of_nvml_in_a_text_is_an_answer() {
    let lock = lock(GPU);
    let told = |nvml: Value| {
        let silent = [one("/libcuda", Value::Null), one("/kernels", json!([]))].concat();
        [one("/origin", json!("pasted")), one("/nvml", nvml), silent].concat()
    };
    hold(vec![
        (&lock, told(json!({ "driver": "550.54.15" })), "nvml", Pass, ""),
        (&lock, told(json!({ "count": 1 })), "nvml", Pass, ""),
        (&lock, told(json!({ "cuda": "12.4" })), "nvml", Skip, ""),
    ]);
}

/// Which GPUs CUDA sees is known where it was asked on the host, of all of them, and came to an end.
#[test]
fn a_gpu_is_hidden_only_where_cuda_was_asked_of_all() {
    let hidden = |changes: Vec<(String, Value)>| {
        let seen = json!({ "index": 1, "name": "NVIDIA H100 NVL", "pci": "0000:83:00.0", "compute_capability": "9.0" });
        let changes = [one("/nvml/gpus/1", seen), changes].concat();
        let changes: Vec<(&str, Value)> = changes.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
        judge(&lock(GPU), &with(&changes)).checks.iter().any(|check| check.id == "gpu-hidden")
    };
    assert!(hidden(Vec::new()));
    assert!(!hidden(one("/origin", json!("pasted"))));
    assert!(!hidden(one(
        "/probes/3",
        json!({ "name": "libcuda", "ended": "timed-out", "detail": "no answer in cuInit" })
    )));
}

/// A system comes with one GCC, and with no Clang that anyone wrote down.
#[test]
fn a_compiler_of_another_major_than_the_systems_is_told() {
    let lock = lock(SPEC);
    let found = |name: &str, version: &str| {
        let path = format!("/usr/bin/{name}");
        one("/compilers/0", json!({ "name": name, "path": path, "version": version, "named_by": ["PATH"] }))
    };
    hold(vec![
        (&lock, found("gcc", "12.3.0"), "host-compiler", Warn, "the lock was solved for gcc 11.4.0"),
        (&lock, found("gcc", "11.5.0"), "host-compiler", Pass, ""),
    ]);
}

/// What nobody told is not enough.
#[test]
fn a_compat_package_is_needed_as_long_as_no_driver_is_known_to_suffice() {
    let lock = lock("[stack]\ntorch = \"2.9.0+cu130\"\n[target.t]\ngpu = \"H100 NVL\"\ndriver = \"550.54.15\"\n");
    let gone = ["/nvml", "/libcuda", "/module"].map(|at| (at.to_string(), Value::Null)).to_vec();
    let untold = [gone, one("/kernels", json!([]))].concat();
    hold(vec![(&lock, untold, "forward-compat", Fail, "install the package")]);
}

/// One of the locked wheels is enough to tell that this is the environment that was locked.
#[test]
fn a_library_of_the_system_is_held_against_the_lock_where_a_locked_wheel_is() {
    let stack = GPU.replace("[target", "torchvision = \"0.20.1\"\n[target");
    let lock = lock(&stack);
    let beside = |packages: Value| {
        let cudnn = json!([{ "name": "cudnn", "path": "/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "version": "8.9.7", "found_by": "ld.so" }]);
        [one("/python/torch", Value::Null), one("/python/packages", packages), one("/libraries", cudnn)].concat()
    };
    hold(vec![
        (&lock, beside(json!({ "torch": "2.5.1" })), "library-cudnn", Fail, "another cudnn than the locked one"),
        (&lock, beside(json!({})), "library-cudnn", Skip, "is not installed here"),
    ]);
}

/// A probe that came to no end is a gap only where something was locked that it looks at.
#[test]
fn a_probe_that_nothing_rests_on_leaves_no_gap() {
    let ended = |name: &str| one("/probes/9", json!({ "name": name, "ended": "failed" }));
    hold(vec![
        (&lock(GPU), ended("toolkits"), "probe", Skip, "needs nothing of what it looks at"),
        (&lock(SPEC), ended("toolkits"), "probe", Unknown, ""),
    ]);
}

/// That another GPU computed says nothing of one that somebody holds alone.
#[test]
fn a_gpu_that_is_held_alone_is_let_go_by_its_own_work() {
    let alone = || one("/nvml/gpus/0/compute_mode", json!("exclusive-process"));
    let users = || one("/nvml/gpus/0/processes", json!(1));
    let held = |device: u32| {
        let device = json!({ "device": device, "code": "sm_90", "compiler": "built-in", "program": "saxpy", "outcome": "right" });
        [second("NVIDIA H100 NVL", "9.0"), alone(), users(), one("/kernels", json!([device]))].concat()
    };
    hold(vec![
        (&lock(GPU), held(0), "gpu-compute-mode", Pass, ""),
        // A process gets the other one.
        (&lock(GPU), held(1), "gpu-compute-mode", Warn, "another process holds the GPU alone"),
        (
            &lock(GPU),
            [alone(), users(), one("/kernels", json!([]))].concat(),
            "gpu-compute-mode",
            Fail,
            "another process holds the GPU alone",
        ),
    ]);
}

/// nvcc says its line and its own build, of which the lock of the toolkit knows nothing.
#[test]
fn an_nvcc_alone_tells_the_line_of_its_toolkit() {
    let nvcc =
        |version: &str| [one("/toolkits/0/version", Value::Null), one("/toolkits/0/nvcc", json!(version))].concat();
    hold(vec![
        (&lock(SPEC), nvcc("12.4.99"), "toolkit", Pass, ""),
        (&lock(SPEC), nvcc("12.5.40"), "toolkit", Fail, ""),
    ]);
}

/// A text that lists the GPUs and tells of libcuda no more than its version or its error is about those GPUs.
#[test]
fn a_text_without_cudas_list_is_judged_by_nvmls() {
    let told = |libcuda: Value| {
        [one("/origin", json!("pasted")), one("/libcuda", libcuda), one("/kernels", json!([]))].concat()
    };
    let fault = json!({ "fault": { "at": "cuInit", "code": 999 } });
    hold(vec![
        (&lock(GPU), told(json!({ "cuda": "12.4" })), "gpu-present", Pass, ""),
        (&lock(GPU), told(fault.clone()), "gpu-present", Pass, ""),
        (&lock(GPU), told(fault), "libcuda", Fail, ""),
    ]);
}

#[test]
fn a_variable_that_names_a_part_of_a_gpu_hides_not_all() {
    let visible = |value: &str| {
        let variable = one("/environment/CUDA_VISIBLE_DEVICES", json!(value));
        [one("/origin", json!("pasted")), one("/python/torch", Value::Null), variable].concat()
    };
    let cut = |on: bool| one("/nvml/gpus/0/mig", json!(on));
    hold(vec![
        (&lock(GPU), [visible("MIG-1111"), cut(true)].concat(), "environment-visible-devices", Pass, ""),
        (
            &lock(GPU),
            [visible("MIG-1111"), cut(false)].concat(),
            "environment-visible-devices",
            Fail,
            "hides every GPU",
        ),
        (&lock(GPU), visible("nothing"), "environment-visible-devices", Fail, ""),
    ]);
}

/// An UUID may be given by its beginning, of any GPU of the host.
#[test]
fn uuids_name_the_gpus_that_have_them() {
    let pasted = |value: &str| {
        let variable = one("/environment/CUDA_VISIBLE_DEVICES", json!(value));
        [one("/origin", json!("pasted")), one("/python/torch", Value::Null), variable].concat()
    };
    let two = |value: &str| {
        let other = json!({ "index": 1, "name": "NVIDIA H100 NVL", "uuid": "GPU-abcd" });
        [pasted(value), one("/nvml/gpus/1", other)].concat()
    };
    let id = "environment-visible-devices";
    hold(vec![
        (&lock(GPU), two("GPU-ab"), id, Pass, ""),
        (&lock(GPU), two("GPU-00"), id, Pass, ""),
        (&lock(GPU), two("GPU-ff"), id, Fail, "hides every GPU"),
        (&lock(GPU), pasted("GPU-ab"), id, Fail, "hides every GPU"),
    ]);
}

/// A text with GPUs in it was made where they are seen, whatever CDI left in the variable.
#[test]
fn a_text_that_lists_gpus_is_not_blamed_on_a_variable_of_the_container() {
    let void = |more: Vec<(String, Value)>| {
        let variable = one("/environment/NVIDIA_VISIBLE_DEVICES", json!("void"));
        let text = [one("/origin", json!("pasted")), one("/python/torch", Value::Null)].concat();
        [text, one("/platform/container", json!("docker")), variable, more].concat()
    };
    let none = [one("/nvml/gpus", json!([])), one("/libcuda/devices", json!([]))].concat();
    hold(vec![
        (&lock(GPU), void(Vec::new()), "environment-visible-devices", Pass, ""),
        (&lock(GPU), void(none), "environment-visible-devices", Fail, "NVIDIA_VISIBLE_DEVICES is `void`"),
    ]);
}

/// Where NVML tells nothing of a GPU, nothing is known of rows that wait to be replaced.
#[test]
fn a_broken_memory_that_nvml_says_nothing_of_is_taken_out_of_service() {
    let broken = || one("/libcuda/devices/0/fault", json!({ "at": "cuDevicePrimaryCtxRetain", "code": 214 }));
    let pending = one("/nvml/gpus/0/remapping_pending", json!(true));
    hold(vec![
        (&lock(GPU), [broken(), one("/nvml", Value::Null)].concat(), "gpu-usable", Fail, "take it out of service"),
        (&lock(GPU), [broken(), pending].concat(), "gpu-usable", Fail, "wait to be replaced"),
    ]);
}

/// The CUDA that a driver shows is held against an image where its release is not told.
#[test]
fn an_image_is_held_against_the_cuda_of_a_driver_without_a_number() {
    let unnumbered = ["/nvml/driver", "/nvml/file_version", "/module/version", "/libcuda/file_version"];
    let unnumbered = || unnumbered.map(|at| (at.to_string(), Value::Null)).to_vec();
    let asks = |cuda: &str| one("/environment/NVIDIA_REQUIRE_CUDA", json!(format!("cuda>={cuda}")));
    let inside = || one("/platform/container", json!("docker"));
    let lock = lock(&format!("{GPU}runtime = \"container\"\nos = \"ubuntu22.04\"\n"));
    hold(vec![
        (&lock, [inside(), unnumbered(), asks("12.4")].concat(), "image-require", Pass, ""),
        (&lock, [inside(), unnumbered(), asks("12.5")].concat(), "image-require", Warn, "made for a later driver"),
    ]);
}

/// A GPU that no process gets is told, and what another one computes decides.
#[test]
fn a_gpu_that_a_process_does_not_get_does_not_fail_its_host() {
    let lock = lock(GPU);
    let other =
        |at: &str, value: Value| [second("NVIDIA H100 NVL", "9.0"), one(&format!("/nvml/gpus/1/{at}"), value)].concat();
    let hidden = |value: &str| {
        let seen = json!({ "index": 1, "name": "NVIDIA H100 NVL", "pci": "0000:83:00.0", "recovery": "reset" });
        [one("/nvml/gpus/1", seen), one("/environment/CUDA_VISIBLE_DEVICES", json!(value))].concat()
    };
    hold(vec![
        (&lock, other("compute_mode", json!("prohibited")), "gpu-compute-mode", Warn, ""),
        (&lock, one("/nvml/gpus/0/compute_mode", json!("prohibited")), "gpu-compute-mode", Fail, ""),
        (&lock, hidden("0"), "gpu-health", Warn, ""),
        (&lock, hidden("0,1"), "gpu-health", Fail, ""),
    ]);
}
