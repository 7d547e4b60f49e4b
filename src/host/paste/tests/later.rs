//! Formats and lines that came later; the places are named in the readers.

use super::*;

#[test]
fn a_jetson_tells_its_system() {
    let text = "Linux JETBOT 4.9.140-tegra #1 SMP PREEMPT aarch64 aarch64 aarch64 GNU/Linux\n\
                Distributor ID:\tUbuntu\nDescription:\tUbuntu 18.04.3 LTS\nRelease:\t18.04\n";
    let platform = host(text).platform;
    assert_eq!((platform.os.as_deref(), platform.system), (Some("ubuntu18.04"), Some(System::Tegra)));
    for (line, os) in [
        (
            "# R32 (release), REVISION: 3.1, GCID: 18186506, BOARD: t210ref, EABI: aarch64, DATE: Tue Dec 10",
            "l4t32.3.1",
        ),
        ("# R36 (release), REVISION: 4.0, GCID: 37537400, BOARD: generic, EABI: aarch64", "l4t36.4"),
    ] {
        let platform = host(&format!("{text}{line}")).platform;
        assert_eq!((platform.os.as_deref(), platform.arch.as_deref()), (Some(os), Some("aarch64")));
    }
}

#[test]
fn what_jetson_stats_prints_is_read() {
    let text = |model: &str| {
        format!(
            "Software part of jetson-stats 4.3.0 - (c) 2024, Raffaello Bonghi\n{model}\nNV Power Mode[2]: 15W\n\
             Serial Number: [XXX Show with: jetson_release -s XXX]\nHardware:\n - P-Number: p3767-0001\n \
             - Module: NVIDIA Jetson Orin NX (8GB ram)\nPlatform:\n - Distribution: Ubuntu 22.04 Jammy Jellyfish\n \
             - Release: 5.15.148-tegra\nLibraries:\n - CUDA: 12.6.68\n"
        )
    };
    let unknown =
        "Jetpack missing!\n - Model: NVIDIA Jetson Orin NX Engineering Reference Developer Kit\n - L4T: 36.4.3";
    let known = "Model: NVIDIA Jetson Orin NX Engineering Reference Developer Kit - Jetpack 6.2 [L4T 36.4.3]";
    for model in [unknown, known] {
        let record = host(&text(model));
        let platform = &record.platform;
        assert_eq!((platform.os.as_deref(), platform.system), (Some("l4t36.4.3"), Some(System::Tegra)), "{model}");
        assert_eq!(gpus(&record), ["Jetson Orin NX"]);
    }
    let both = host(&(text(known) + "GPU 0: Orin (nvgpu) (UUID: 54d0709b-3a2b-5d5c-a4d5-5c1d7cb2a1f3)\n"));
    assert!(both.probes.iter().all(|probe| probe.ended != ProbeStatus::Garbled), "{:?}", both.probes);
}

#[test]
fn systems_are_read_by_themselves() {
    for (line, os) in [
        ("Red Hat Enterprise Linux release 8.6 (Ootpa)", "rhel8"),
        ("Rocky Linux release 8.9 (Green Obsidian)", "rocky8"),
        ("CentOS Linux release 7.9.2009 (Core)", "centos7"),
        ("  Operating System: Ubuntu 24.04.2 LTS", "ubuntu24.04"),
    ] {
        assert_eq!(host(line).platform.os.as_deref(), Some(os), "{line}");
    }
    let beside = host("Operating System: Docker Desktop\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"");
    assert_eq!(beside.platform.os.as_deref(), Some("ubuntu22.04"));
    let gcc = host("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-20)");
    assert_eq!(gcc.compilers[0].version.as_ref().map(|version| version.as_str()), Some("8.5.0"));
}

#[test]
fn a_self_built_module_has_no_builder() {
    let module = host(
        "NVRM version:  NVIDIA UNIX Open Kernel Module for x86_64  515.57  Release Build Mi 20. Jul 11:53:35 CEST 2022",
    )
    .module
    .unwrap();
    assert_eq!((module.version.unwrap().as_str(), module.flavour.as_deref()), ("515.57", Some("open")));
}

#[test]
fn container_cli_info() {
    let record = host(
        "NVRM version:   390.87\nCUDA version:   9.1\n\nDevice Index:   0\nDevice Minor:   0\n\
         Model:          GeForce GTX 1080 with Max-Q Design\nBrand:          GeForce\nArchitecture:   6.1",
    );
    assert_eq!((driver(&record), cuda(&record).as_str()), ("390.87", "9.1"));
    assert_eq!(gpus(&record), ["GeForce GTX 1080 with Max-Q Design"]);
    assert_eq!(record.nvml.unwrap().gpus[0].compute_capability.unwrap().to_string(), "6.1");
}

#[test]
fn llamafactory_env() {
    let bare = "llamafactory version: 0.9.3.dev0\nPlatform: 24~24.04.1-Ubuntu\nPython version: 3.11.11\n\
                PyTorch version: 2.7.1+cu128\nGPU type: NVIDIA GeForce RTX 5090\nDeepSpeed version: 0.16.9\n";
    let listed = bare.lines().map(|line| format!("- {line}\n")).collect::<String>();
    let listed = listed.replace("llamafactory", "`llamafactory`").replace("2.7.1+cu128", "2.7.1+cu128 (GPU)");
    for (text, available) in [(bare, None), (&listed, Some(true))] {
        let record = host(text);
        assert_eq!(gpus(&record), ["NVIDIA GeForce RTX 5090"]);
        let python = record.python.unwrap();
        assert_eq!(python.packages["deepspeed"], "0.16.9");
        let torch = python.torch.unwrap();
        assert_eq!((torch.version.as_deref(), torch.available), (Some("2.7.1+cu128"), available));
    }
}

/// What stands before a command holds for that command, and what `env` prints has no quotes.
#[test]
fn values_of_variables_end_where_a_command_begins() {
    for (line, wanted) in [
        ("CUDA_VISIBLE_DEVICES=1 python -m sglang.launch_server --enable-p2p-check", None),
        ("CUDA_VISIBLE_DEVICES=1 NCCL_DEBUG=INFO torchrun x.py", None),
        ("CUDA_VISIBLE_DEVICES=\"0,1\" python x.py", None),
        ("CUDA_VISIBLE_DEVICES=0 \\", None),
        ("LD_LIBRARY_PATH=/x/lib ./run", None),
        ("TORCH_CUDA_ARCH_LIST=8.0 pip install .", None),
        ("export CUDA_VISIBLE_DEVICES=0,1; python x.py", Some("0,1")),
        ("CUDA_VISIBLE_DEVICES=0 # the first", Some("0")),
        ("TORCH_CUDA_ARCH_LIST=7.5 8.0 9.0+PTX", Some("7.5 8.0 9.0+PTX")),
        ("NVIDIA_REQUIRE_CUDA=cuda>=12.2 brand=tesla,driver>=450", Some("cuda>=12.2 brand=tesla,driver>=450")),
        (
            "CUDA_PATH=C:\\Program Files\\NVIDIA GPU Computing Toolkit",
            Some("C:\\Program Files\\NVIDIA GPU Computing Toolkit"),
        ),
        ("CUDA_PATH='/opt/my cuda'", Some("/opt/my cuda")),
    ] {
        let record = host(&format!("PyTorch version: 2.4.0\n{line}\n"));
        assert_eq!(record.environment.values().next().map(String::as_str), wanted, "{line}");
    }
}

#[test]
fn a_warning_is_no_package() {
    let record = host(
        "/root/pydantic/_internal/_config.py:345: UserWarning: Valid config keys have changed in V2:\n\
         Python: 3.11.5 (main)\nCUDA Driver Version: 535.104.12\nPyTorch: 2.4.0+cu121\ntriton: 3.0.0\n",
    );
    let packages: Vec<String> = record.python.unwrap().packages.into_keys().collect();
    assert_eq!(packages, ["triton"]);
}

/// A comment's mark, a logger's level, another bar: what somebody put before each line of the table.
#[test]
fn what_stands_before_each_line_of_the_table_goes() {
    for before in ["# ", "#", "// ", "* ", "| ", "INFO: ", "// #  "] {
        let text: String = TABLE.lines().map(|line| format!("{before}{line}\n")).collect();
        let record = host(&text);
        assert_eq!(gpus(&record), gpus(&host(TABLE)), "{before:?}");
        assert_eq!(record.nvml.as_ref().unwrap().gpus[1].instances.len(), 1, "{before:?}");
    }
}

#[test]
fn the_versions_of_nvidia_smi_are_read() {
    let text = "NVIDIA-SMI version  : 576.57\nNVML version        : 576.57\nDRIVER version      : 576.57\nCUDA Version        : 12.9\n";
    let record = host(text);
    assert_eq!((driver(&record), cuda(&record).as_str()), ("576.57", "12.9"));
    let new = "NVIDIA-SMI version  : 610.88\nKMD version         : 610.88\nDRIVER version      : Deprecated, see \"KMD version\" instead\nCUDA UMD version    : 13.3\n";
    assert_eq!((driver(&host(new)), cuda(&host(new)).as_str()), ("610.88", "13.3"));
}

/// Some type over what the program wrote; the release stands below.
#[test]
fn what_is_no_release_is_not_taken_for_one() {
    let text = "PyTorch version: 1-91+cu111\nCUDA used to build PyTorch: 111\nIs CUDA available: True\n[pip3] torch==1.9.1+cu111\n";
    let python = host(text).python.unwrap();
    assert_eq!(python.torch.unwrap().version, None);
    assert_eq!(python.packages["torch"], "1.9.1+cu111");
}
