//! What a text tells in passing: known errors beside a report, what frameworks print of themselves, rows that only look like a
//! fact; and what of it keeps every lock from passing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose;
use gpuenv::lock::Lock;
use gpuenv::verify;
use gpuenv::verify::Status::{Fail, Pass, Unknown, Warn};

use crate::common::judge::{lock, worst};
use crate::common::parallel;
use crate::pasted::{ends, judged, passes, sound, table};

fn stack(lines: &str) -> Lock {
    lock(&format!("[stack]\n{lines}\n[target.t]\ngpu = \"RTX 3090\"\n"))
}

/// A report of a host on which nothing is wrong.
const REPORT: &str = "Collecting environment information...\nPyTorch version: 2.6.0+cu124\nIs debug build: False\n\
    CUDA used to build PyTorch: 12.4\nOS: Ubuntu 22.04.4 LTS (x86_64)\nGCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n\
    Libc version: glibc-2.35\nPython version: 3.11.9 (main, Apr  6 2024, 17:59:24) [GCC 11.4.0] (64-bit runtime)\n\
    Is CUDA available: True\nCUDA runtime version: 12.4.131\nGPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090\n\
    Nvidia driver version: 550.120\n";

/// By its code, a message that is diagnosed as each row of the catalog and is a fault.
fn faults() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = parallel::each(&paths, |path| {
        let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        let raw = table["raw"].as_str().unwrap().to_string();
        let first = diagnose::diagnose(&raw, &BUILTIN).findings.into_iter().next()?;
        (!first.is_harmless).then_some((first.code, raw))
    });
    let mut shortest = BTreeMap::new();
    for (code, raw) in texts.into_iter().flatten() {
        let kept = shortest.entry(code).or_insert_with(|| raw.clone());
        if raw.len() < kept.len() {
            *kept = raw;
        }
    }
    shortest
}

/// Whatever a report says of torch and its GPU, it answers no error beside it, but for those of packages that are not locked.
#[test]
fn no_fault_passes_beside_a_sound_report() {
    let locked = lock(
        "[stack]\ntorch = \"2.6.0+cu124\"\npython = \"3.11\"\n[build]\n[target.t]\ngpu = \"RTX 3090\"\ntoolkit = \"12.4\"\n",
    );
    assert_ne!(judged(&locked, REPORT).status, Fail, "{:#?}", judged(&locked, REPORT));
    let same = |code: &str| {
        let row = BUILTIN.diagnoses.iter().find(|row| row.code == code);
        row.is_some_and(|row| row.meaning.iter().any(|says| says.starts_with("{torch_all_the_same}")))
    };
    let faults: Vec<(String, String)> = faults().into_iter().filter(|(code, _)| !same(code)).collect();
    let passed = parallel::each(&faults, |(code, raw)| {
        let Ok(record) = diagnose::host_of(&format!("{REPORT}\n{raw}\n")) else { return None };
        let verdict = verify::judge(&locked, "t", &record, &BUILTIN).unwrap();
        let of_others: Vec<String> = diagnose::diagnose(&format!("{REPORT}\n{raw}\n"), &BUILTIN)
            .findings
            .into_iter()
            .flat_map(|finding| finding.programs)
            .filter(|name| name != "torch" && !name.starts_with("nvidia-"))
            .collect();
        (verdict.status == Pass).then(|| (code.clone(), of_others, worst(&verdict, "probe").status))
    });
    let (told, silent): (Vec<_>, Vec<_>) =
        passed.into_iter().flatten().partition(|(_, of_others, status)| !of_others.is_empty() && *status == Warn);
    assert!(silent.is_empty() && told.len() > 20 && faults.len() > 300, "of {}: {silent:#?}", faults.len());
    assert!(told.len() < 120, "{}: {told:?}", told.len());
}

/// What only compiles is nothing to a lock that compiles nothing, unless the package that it names is locked.
#[test]
fn a_fault_of_a_locked_extension_counts() {
    let alone = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"");
    for (package, text) in [
        ("bitsandbytes", "The installed version of bitsandbytes was compiled without GPU support."),
        ("bitsandbytes", "CUDA Setup failed despite GPU being available. Run: python -m bitsandbytes"),
        (
            "deepspeed",
            "CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 11.6 does not match the version torch was compiled with 12.4, unable to compile",
        ),
    ] {
        let locked = stack(&format!("torch = \"2.6.0+cu124\"\npython = \"3.11\"\n{package} = \"*\""));
        for beside in [sound(), REPORT.to_string()] {
            ends(&locked, &format!("{beside}{text}\n"), "probe", Unknown, package);
            passes(&alone, &format!("{beside}{text}\n"));
        }
    }
    // The first of what counts, not of what stands there.
    let both = "CUDA Setup failed despite GPU being available. Run: python -m bitsandbytes\nRuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n";
    ends(&alone, &format!("{}{both}", sound()), "probe", Unknown, "device-unavailable");
    let parallel = "W external/xla/xla/service/gpu/nvptx_compiler.cc:765] The NVIDIA driver's CUDA version is 12.4 which is older than the ptxas CUDA version (12.5.40). Because the driver is older than the ptxas version, XLA is disabling parallel compilation, which may slow down compilation.\n";
    passes(&alone, &format!("{}{parallel}", sound()));
}

/// A row is a fact where its value is one.
#[test]
fn what_is_no_processor_is_none() {
    let locked = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"");
    let info = "NVRM version:   550.120\nCUDA version:   12.4\n\nDevice Index:   0\nDevice Minor:   0\nModel:          NVIDIA GeForce RTX 3090\n\
                Brand:          GeForce\nGPU UUID:       GPU-e572b8ee-523e-f7be-a359-33149791a02a\nBus Location:   00000000:01:00.0\nArchitecture:   8.6\n";
    passes(&locked, info);
    passes(
        &locked,
        &format!("Architecture:                    x86_64\nCPU op-mode(s):                  32-bit, 64-bit\n{info}"),
    );
    for value in ["Ampere", "GA102", "sm_86", "64bit", "LlamaForCausalLM", "i386", "all", "amd64", "x86_64", "x86-64"] {
        passes(&locked, &format!("{}Architecture: {value}\n", sound()));
    }
    for value in ["aarch64", "arm64", "ppc64le", "armv7l"] {
        ends(&locked, &format!("{}Architecture: {value}\n", sound()), "platform-arch", Fail, "");
    }
    passes(&locked, &format!("{}$ python2 --version\nPython 2.7.18\n", sound()));
    ends(&locked, &format!("{}$ /usr/bin/python3 --version\nPython 3.8.10\n", sound()), "python-version", Fail, "");
    let conda = "       virtual packages : __cuda=12.4=0\n                          __glibc=2.12=0\n               platform : linux-64\n";
    ends(&locked, &format!("{}{conda}", sound()), "platform-glibc", Fail, "");
    let arm = conda.replace("2.12", "2.35").replace("linux-64", "linux-aarch64");
    ends(&locked, &format!("{}{arm}", sound()), "platform-arch", Fail, "");
}

/// `jax.print_environment_info()` names no plugin, whichever is there; a whole list does.
#[test]
fn a_report_of_chosen_rows_proves_no_absence() {
    let text = |version: &str, devices: &str| {
        let machine = table("550.120", "12.4", "NVIDIA GeForce RTX 3090");
        format!("jax:    {version}\njaxlib: {version}\nnumpy:  1.26.4\npython: 3.11.9 (main)\n{devices}\n{machine}")
    };
    for (version, devices) in [
        ("0.4.26", "jax.devices (8 total, 8 local): [cuda(id=0) cuda(id=1) ... cuda(id=7)]"),
        ("0.4.30", "jax.devices (1 total, 1 local): [CudaDevice(id=0)]"),
        ("0.5.0", "device info: NVIDIA GeForce RTX 3090-1, 1 local devices\""),
    ] {
        let locked = stack(&format!("jax = \"{version}\"\npython = \"3.11\""));
        passes(&locked, &text(version, devices));
        passes(&locked, &text(version, ""));
        ends(&locked, &text(version, "device info: cpu-1, 1 local devices"), "probe", Unknown, "");
        let list = format!("{}jax=={version}\njaxlib=={version}\n", sound());
        ends(&locked, &list, "python-package", Fail, "none");
    }
}

/// No torch calls itself 2.4: whoever types that means a line.
#[test]
fn a_release_in_two_numbers_is_a_beginning() {
    let locked = stack("torch = \"2.4.1+cu121\"\npython = \"3.11\"");
    for line in ["pytorch 2.4", "torch 2.4", "PyTorch version: 2.4", "pytorch 2.4.x", "torch==2.4", "Torch: 2.4"] {
        passes(&locked, &format!("{}{line}\n", sound()));
        passes(&locked, &format!("{}{line}\ntorch 2.4.1+cu121\n", sound()));
        assert_ne!(judged(&locked, &format!("{}{line}\ntorch 2.3.1+cu121\n", sound())).status, Pass, "{line}");
    }
    ends(&locked, &format!("{}pytorch 2.3\n", sound()), "python-package", Fail, "");
}

#[test]
fn xformers_tells_of_itself() {
    let locked = stack("torch = \"2.3.0+cu121\"\nxformers = \"0.0.26.post1\"\npython = \"3.11\"");
    let info = |torch: &str, built: &str, kernel: &str| {
        format!(
            "xFormers 0.0.26.post1\nmemory_efficient_attention.cutlassF:               {kernel}\n\
             memory_efficient_attention.flshattF@0.0.0:         unavailable\npytorch.version:                                   {torch}\n\
             pytorch.cuda:                                      available\ngpu.compute_capability:                            8.6\n\
             gpu.name:                                          NVIDIA GeForce RTX 3090\n\
             build.torch_version:                               {built}\n\
             NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.120  Fri\n"
        )
    };
    passes(&locked, &info("2.3.0+cu121", "2.3.0+cu121", "available"));
    ends(&locked, &info("2.3.0+cu121", "2.3.0+cu121", "unavailable"), "probe", Unknown, "unavailable");
    ends(&locked, &info("2.3.0+cu121", "2.2.0+cu121", "available"), "probe", Unknown, "built with torch 2.2.0");
    ends(&locked, &info("2.1.0+cu121", "2.3.0+cu121", "available"), "python-package", Fail, "2.1.0+cu121");
}

/// What frameworks print of themselves, in the forms in which people paste it: read, or told.
#[test]
fn what_frameworks_print_of_themselves_is_read_or_told() {
    let torch = stack("torch = \"2.4.0+cu121\"\npython = \"3.11\"");
    for (text, status) in [
        (
            "$ python -c \"import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())\"\n2.3.1+cu118 11.8 True",
            Fail,
        ),
        (
            "$ python -c \"import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())\"\n2.4.0+cu121 12.1 False",
            Fail,
        ),
        (
            "$ python -c \"import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())\"\n2.4.0+cu121 12.1 True",
            Pass,
        ),
        (
            "$ python -c \"import torch; print(torch.__version__); print(torch.cuda.is_available())\"\n2.4.0+cu121\nFalse",
            Fail,
        ),
        (
            "print(torch.__version__)\nprint(torch.cuda.is_available())\nprint(torch.version.cuda)\n\n1.12.1\nFalse\nNone",
            Fail,
        ),
        (">>> torch.__version__, torch.cuda.is_available()\n('2.4.0+cu121', False)", Fail),
        (">>> torch.__version__\nTorchVersion('2.3.1+cu118')", Fail),
        (">>> torch.cuda.get_arch_list()\n['sm_50', 'sm_60', 'sm_70']", Fail),
        (">>> torch.cuda.get_arch_list()\n['sm_50', 'sm_80', 'sm_86']", Pass),
        ("print(f\"PyTorch {torch.__version__}\")\nPyTorch 2.3.1+cu118, CUDA 11.8", Unknown),
        ("Torch version: 2.3.1+cu118", Unknown),
        ("- torch version: 2.4.0", Pass),
        (" - PyTorch Version (e.g., 1.0): 2.3.1", Unknown),
        ("pyTorch_version: 1.4.0+cu100", Unknown),
        ("Ultralytics 8.3.0 Python-3.11.9 torch-2.3.1+cu118 CPU (AMD EPYC)", Unknown),
        ("Ultralytics 8.3.0 Python-3.11.9 torch-2.4.0+cu121 CUDA:0 (NVIDIA GeForce RTX 3090, 24124MiB)", Pass),
        ("O^O/ \\_/ \\    Torch: 2.6.0+cu124. CUDA: 8.6. CUDA Toolkit: 12.4.", Unknown),
        ("python: 3.11.9  •  torch: 2.3.1+cu118  •  xformers: N/A", Unknown),
        ("`torch.cuda.is_available()` returns False", Fail),
        ("CUDA available: False", Unknown),
        ("GPU available           No: torch.cuda.is_available() == False", Unknown),
        ("Is CUDA available (PyTorch): No", Unknown),
        ("GPU available: True (cuda), used: False", Pass),
        ("* CUDA:\n\t- GPU:               None\n\t- available:         False\n", Unknown),
        ("Collecting torch==2.3.1", Pass),
        ("ERROR: needs torch>=2.5.0", Pass),
        ("Successfully uninstalled torch-2.3.1", Pass),
        ("if torch.cuda.is_available() == False:", Pass),
    ] {
        let verdict = judged(&torch, &format!("{text}\n{}", sound()));
        assert_eq!(verdict.status, status, "{text}\n{verdict:#?}");
    }
    let jax = stack("jax = \"0.4.30\"\npython = \"3.11\"");
    let tensorflow = stack("tensorflow = \"2.16.1\"\npython = \"3.11\"");
    for (locked, text) in [
        (&jax, ">>> jax.default_backend()\n'cpu'"),
        (&jax, "print(jax.lib.xla_bridge.get_backend().platform)\ncpu"),
        (&jax, "$ python -c \"import jax; print(jax.devices())\"\n[CpuDevice(id=0)]"),
        (&tensorflow, "$ python3 -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"\n[]"),
        (&tensorflow, "Num GPUs Available:  0"),
        (&tensorflow, ">>> tf.test.is_built_with_cuda()\nFalse"),
    ] {
        ends(locked, &format!("{text}\n{}", sound()), "probe", Unknown, "");
    }
}

/// What keeps a host from passing whatever is locked, `gpuenv fleet plan` asks before it gives it a stack.
#[test]
fn what_passes_under_no_lock_is_known_without_one() {
    let locked = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"");
    let unfit = |text: &str| verify::unfit(&diagnose::host_of(text).unwrap(), None, &BUILTIN).map(|check| check.id);
    let row = "| 30%   36C    P8    20W / 350W |      1MiB /  24576MiB |      0%      Default |\n";
    let gpu = sound() + row;
    assert_eq!(unfit(&gpu), None);
    assert_eq!(unfit(REPORT), None);
    for (text, id) in [
        (gpu.replace("Default", "Prohibited"), "gpu-compute-mode"),
        (gpu.replace("Off  |", "WDDM |"), "platform-system"),
        (format!("{gpu}OS: Microsoft Windows Server 2019\nPyTorch version: 2.6.0+cu124\n"), "platform-system"),
        (format!("CUDA error 802: system not yet initialized\n{gpu}"), "probe"),
        (format!("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n{gpu}"), "probe"),
        (format!("export CUDA_VISIBLE_DEVICES=-1\n{gpu}"), "environment-visible-devices"),
        (format!(">>> torch.cuda.is_available()\nFalse\n{gpu}"), "torch-available"),
    ] {
        assert_eq!(unfit(&text), Some(id), "{text}");
        assert_ne!(judged(&locked, &text).status, Pass, "{text}");
    }
}
