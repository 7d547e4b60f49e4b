//! Each format as programs print it, shortened and with other numbers than where it was seen; the readers name the
//! places.

mod later;
mod smi;

use smi::TABLE;

use super::*;
use crate::host::record::{Origin, ProbeStatus, Record, System};
use crate::types::Cc;

fn host(text: &str) -> Record {
    let record = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(record.origin, Origin::Pasted);
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    record
}

fn driver(record: &Record) -> &str {
    record.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref()).map_or("", |driver| driver.as_str())
}

fn cuda(record: &Record) -> String {
    record.nvml.as_ref().and_then(|nvml| nvml.cuda.as_ref()).map_or(String::new(), ToString::to_string)
}

fn gpus(record: &Record) -> Vec<&str> {
    let gpus = record.nvml.iter().flat_map(|nvml| &nvml.gpus);
    gpus.map(|gpu| gpu.name.as_deref().unwrap_or("")).collect()
}

fn formats(record: &Record) -> Vec<&str> {
    record.probes.iter().map(|probe| probe.name.as_str()).collect()
}

const OLD: &str = "Collecting environment information...
PyTorch version: 2.3.0+cu121
Is debug build: False
CUDA used to build PyTorch: 12.1
ROCM used to build PyTorch: N/A

OS: Rocky Linux 8.8 (Green Obsidian) (x86_64)
GCC version: (GCC) 8.5.0 20210514 (Red Hat 8.5.0-18)
Clang version: 14.0.0-1ubuntu1.1
CMake version: version 3.29.2
Libc version: glibc-2.28

Python version: 3.9.19 (main, Mar 21 2024, 17:11:28)  [GCC 11.2.0] (64-bit runtime)
Python platform: Linux-4.18.0-477.27.1.el8_8.x86_64-x86_64-with-glibc2.17
Is CUDA available: True
CUDA runtime version: 12.3.107
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration:
GPU 0: NVIDIA H100
GPU 1: NVIDIA H100
  MIG 1g.12gb     Device  0:
  MIG 3g.47gb     Device  1:

Nvidia driver version: 545.23.08
cuDNN version: Probably one of the following:
/usr/lib64/libcudnn.so.8.9.7
/home/alice/lib/libcudnn_ops_infer.so.8.9.7
HIP runtime version: N/A
Is XNNPACK available: True

CPU:
Architecture:        x86_64

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] nvidia-nccl-cu12==2.20.5
[pip3] torch==2.3.0
[conda] triton                    2.3.0                    pypi_0    pypi
vLLM Version: 0.4.1@5320e00
LD_LIBRARY_PATH=/home/alice/cuda/lib64:/usr/lib
HF_TOKEN=secret
";

#[test]
fn collect_env_of_torch() {
    let record = host(OLD);
    // Its block of the processor is what lscpu prints.
    assert_eq!(formats(&record), ["collect_env", "pip list", "uname, /etc/os-release"]);
    assert_eq!(record.platform.os.as_deref(), Some("rocky8"));
    assert_eq!(record.platform.arch.as_deref(), Some("x86_64"));
    assert_eq!(record.platform.kernel.as_deref(), Some("4.18.0-477.27.1.el8_8.x86_64"));
    assert_eq!(record.platform.system, Some(System::Linux));
    assert_eq!(record.platform.glibc.as_ref().unwrap().as_str(), "2.28");
    let compilers: Vec<String> =
        record.compilers.iter().map(|one| format!("{} {}", one.name, one.version.as_ref().unwrap())).collect();
    assert_eq!(compilers, ["gcc 8.5.0", "clang 14.0.0"]);
    assert_eq!(driver(&record), "545.23.08");
    assert_eq!(gpus(&record), ["NVIDIA H100", "NVIDIA H100"]);
    let mig = &record.nvml.as_ref().unwrap().gpus[1];
    assert_eq!(mig.mig, Some(true));
    assert_eq!(mig.instances[1].profile.as_deref(), Some("3g.47gb"));
    assert_eq!(record.toolkits[0].nvcc.as_ref().unwrap().as_str(), "12.3.107");
    assert_eq!(record.files, ["/usr/lib64/libcudnn.so.8.9.7", "/home/user/lib/libcudnn_ops_infer.so.8.9.7"]);
    let python = record.python.unwrap();
    assert_eq!(python.version.unwrap().as_str(), "3.9.19");
    assert_eq!(python.packages["nvidia-nccl-cu12"], "2.20.5");
    assert_eq!(python.packages["vllm"], "0.4.1");
    assert_eq!(python.packages["triton"], "2.3.0");
    let torch = python.torch.unwrap();
    assert_eq!(torch.version.as_deref(), Some("2.3.0+cu121"));
    assert_eq!(torch.cuda.unwrap().as_str(), "12.1");
    assert_eq!(torch.available, Some(true));
    assert_eq!(record.environment["LD_LIBRARY_PATH"], "/home/user/cuda/lib64:/usr/lib");
    assert_eq!(record.environment.len(), 1, "what is nobody's business stays out");
}

#[test]
fn collect_env_in_columns() {
    let record = host(
        "==============================
        System Info
==============================
OS                           : Ubuntu 24.04.3 LTS (aarch64)
GCC version                  : (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
Libc version                 : glibc-2.39
==============================
       PyTorch Info
==============================
PyTorch version              : 2.9.0
CUDA used to build PyTorch   : 13.0
Python platform              : Linux-6.8.12-tegra-aarch64-with-glibc2.39
Is CUDA available            : False
CUDA runtime version         : Could not collect
GPU models and configuration : GPU 0: NVIDIA Thor
Nvidia driver version        : 580.00
cuDNN version                : Could not collect
vLLM Version                 : 0.11.1rc2.dev1 (git sha: abc)
",
    );
    assert_eq!(record.platform.os.as_deref(), Some("ubuntu24.04"));
    assert_eq!(record.platform.arch.as_deref(), Some("aarch64"));
    assert_eq!(record.platform.system, Some(System::Tegra));
    assert_eq!(gpus(&record), ["NVIDIA Thor"]);
    assert_eq!(driver(&record), "580.00");
    assert_eq!(record.python.as_ref().unwrap().packages["vllm"], "0.11.1rc2.dev1");
    assert_eq!(record.python.unwrap().torch.unwrap().available, Some(false));
    assert!(record.toolkits.is_empty() && record.files.is_empty());
}

#[test]
fn a_host_without_cuda_tells_nothing_of_it() {
    let record = host(
        "PyTorch version: 2.7.0\nCUDA used to build PyTorch: None\nOS: macOS 15.1 (arm64)\nLibc version: N/A\n\
         Is CUDA available: False\nCUDA runtime version: No CUDA\nGPU models and configuration: No CUDA\n\
         Nvidia driver version: No CUDA\ncuDNN version: No CUDA\n",
    );
    assert!(record.nvml.is_none() && record.toolkits.is_empty() && record.platform.glibc.is_none());
    assert_eq!(record.platform.os.as_deref(), Some("macOS 15.1"));
}

#[test]
fn device_query() {
    let text = "deviceQuery Starting...

 CUDA Device Query (Runtime API) version (CUDART static linking)

Detected 1 CUDA Capable device(s)

Device 0: \"NVIDIA Tegra X1\"
  CUDA Driver Version / Runtime Version          10.2 / 10.2
  CUDA Capability Major/Minor version number:    5.3
  Total amount of global memory:                 3960 MBytes (4152881152 bytes)
  Integrated GPU sharing Host Memory:            Yes
Result = PASS";
    let record = host(text);
    let libcuda = record.libcuda.unwrap();
    assert_eq!(libcuda.cuda.unwrap().as_str(), "10.2");
    let device = &libcuda.devices[0];
    assert_eq!((device.memory, device.integrated), (Some(4_152_881_152), Some(true)));
    assert_eq!(device.compute_capability.unwrap().to_string(), "5.3");
    let refused = host(
        " CUDA Device Query (Runtime API) version\n\ncudaGetDeviceCount returned 35\n\
         -> CUDA driver version is insufficient for CUDA runtime version\nResult = FAIL",
    );
    let fault = refused.libcuda.unwrap().fault.unwrap();
    assert_eq!((fault.code, fault.at.as_str()), (Some(35), "cudaGetDeviceCount"));
    assert!(fault.message.unwrap().ends_with("runtime version"));
}

#[test]
fn smaller_formats() {
    let record = host(
        "DeepSpeed general environment info:
torch install path ............... ['/home/bob/venv/torch']
torch version .................... 2.3.0+cu121
deepspeed info ................... 0.15.5+unknown, unknown, unknown
torch cuda version ............... 12.1
torch hip version ................ None
nvcc version ..................... 12.0
shared memory (/dev/shm) size .... 64.00 GB",
    );
    assert_eq!(record.toolkits[0].nvcc.as_ref().unwrap().as_str(), "12.0");
    assert_eq!(record.platform.shm, Some(64 << 30));
    assert_eq!(record.python.as_ref().unwrap().packages["deepspeed"], "0.15.5");
    assert!(!serde_json::to_string(&record).unwrap().contains("bob"));

    for (text, version, flavour) in [
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build  (x)", "565.57.01", "open"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19", "535.129.03", "proprietary"),
    ] {
        let record = host(&format!("{text}\nGCC version:  gcc version 13.3.0 (Ubuntu)"));
        let module = record.module.unwrap();
        assert_eq!((module.version.unwrap().as_str(), module.flavour.as_deref()), (version, Some(flavour)));
        assert!(record.compilers.is_empty(), "that compiler built the module");
    }

    let record = host("Cuda compilation tools, release 11.8, V11.8.89\nBuild cuda_11.8.r11.8/compiler.31833905_0");
    assert_eq!(record.toolkits[0].nvcc.as_ref().unwrap().as_str(), "11.8.89");

    let record = host(
        "Package    Version\n---------- -------\ntorch      2.1.0+cu121\nsix        1.16.0\ntorch-grammar 0.3.3\n\
         jax==0.4.30\nName: Flash_Attn\nVersion: 2.5.9\nnumpy 1.26.4 py311_0 conda-forge",
    );
    let packages: Vec<String> =
        record.python.unwrap().packages.into_iter().map(|(name, version)| format!("{name}={version}")).collect();
    assert_eq!(
        packages,
        ["flash-attn=2.5.9", "jax=0.4.30", "numpy=1.26.4", "torch=2.1.0+cu121", "torch-grammar=0.3.3"]
    );

    let record = host("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.183");
    let nvml = record.nvml.unwrap();
    assert_eq!((nvml.fault.unwrap().code, nvml.file_version.unwrap().as_str()), (Some(18), "535.183"));
    assert_eq!(host("No devices were found").nvml.unwrap().count, Some(0));

    let record = host(
        "Linux secret-name 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 x86_64 x86_64 GNU/Linux\n\
         PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nldd (Debian GLIBC 2.36-9) 2.36\n\
         gcc (Debian 12.2.0-14) 12.2.0",
    );
    assert_eq!((record.platform.os.as_deref(), record.platform.system), (Some("debian12"), Some(System::Wsl)));
    assert_eq!(record.platform.glibc.as_ref().unwrap().as_str(), "2.36");
    assert_eq!(record.compilers[0].version.as_ref().unwrap().as_str(), "12.2.0");
    assert!(!serde_json::to_string(&record).unwrap().contains("secret"));
}

#[test]
fn distributions_are_spelled_as_in_the_catalog() {
    for (written, id) in [
        ("Ubuntu 22.04.3 LTS (x86_64)", "ubuntu22.04"),
        ("Debian GNU/Linux 11 (bullseye) (x86_64)", "debian11"),
        ("Red Hat Enterprise Linux release 8.10 (Ootpa) (x86_64)", "rhel8"),
        ("CentOS Linux 7 (Core) (x86_64)", "centos7"),
        ("CentOS Stream 9 (x86_64)", "centos-stream9"),
        ("Amazon Linux 2 (x86_64)", "amzn2"),
        ("Amazon Linux 2023.5.20240805 (x86_64)", "amzn2023"),
        ("Fedora Linux 43 (Workstation Edition) (x86_64)", "fedora43"),
        ("SUSE Linux Enterprise Server 15 SP4 (x86_64)", "sles15.4"),
        ("openSUSE Leap 15.6 (x86_64)", "opensuse15.6"),
        ("Arch Linux (x86_64)", "arch"),
        ("Pop!_OS 22.04 LTS (x86_64)", "Pop!_OS 22.04 LTS"),
    ] {
        let record = host(&format!("PyTorch version: 2.0.0\nOS: {written}"));
        assert_eq!(record.platform.os.as_deref(), Some(id), "{written}");
    }
}

#[test]
fn what_a_forum_puts_around_a_paste_does_not_matter() {
    let plain = host(&[OLD, TABLE].concat());
    assert!(plain.probes.iter().any(|probe| probe.ended == ProbeStatus::Garbled), "two drivers are named");
    let quoted: String = [OLD, TABLE].concat().lines().map(|line| format!("> > {line}\r\n")).collect();
    let coloured: String = [OLD, TABLE].concat().lines().map(|line| format!("\x1b[32m{line}\x1b[0m\n")).collect();
    let logged: String =
        [OLD, TABLE].concat().lines().map(|line| format!("2024-05-01T10:00:00.123Z {line}\n")).collect();
    let framed =
        format!("### Your environment\n<details>\n\n```text\n{OLD}\n```\n</details>\n\n```\n{TABLE}\n```\nHelp!");
    for text in [quoted, coloured, logged, framed] {
        assert_eq!(host(&text), plain, "{text}");
    }
}

#[test]
fn what_describes_no_host_is_refused() {
    for text in ["", "hello", "torch is great", "GPU 0: out of memory", "a: b", "LD_LIBRARY_PATH=/x", "{}", "| 0 | 1 |"]
    {
        assert_eq!(read(text), Err(Unrecognised::Unknown), "{text:?}");
    }
    let said = Unrecognised::Unknown.to_string();
    for format in ["collect_env", "nvidia-smi -q", "deviceQuery", "pip list"] {
        assert!(said.contains(format), "{said}");
    }
}

#[test]
fn hostile_texts_end_well() {
    let long = "x".repeat(1 << 20);
    for text in [
        format!("PyTorch version: {long}"),
        format!("GPU 99999999999999999999: {long} (UUID: {long})"),
        format!("| NVIDIA-SMI {long} Driver Version: {long} CUDA Version: {long} |\n| {long} | {long} | {long} |"),
        format!("NVSMI LOG\nGPU 00000000:00:00.0\n{}", " \u{1b}[31m: \u{202e}\n".repeat(10_000)),
        "GPU 255: a (UUID: b)\n".to_string() + &"  MIG 1g Device 255: (UUID: c)\n".repeat(10_000),
        "| NVIDIA-SMI 1 Driver Version: 1.1 |\n".to_string() + &"|  4294967295  x  | 0:1 | y |\n".repeat(10_000),
        "name, driver_version\n".to_string() + &",\n".repeat(100_000),
        "CUDA Device Query\n".to_string() + &"Device 18446744073709551615: \"\u{0}\"\n".repeat(10_000),
        format!(
            "DeepSpeed general environment info\nshared memory (/dev/shm) size .... 1e308 GB\nnvcc version .... {long}"
        ),
        "/home/".repeat(100_000) + "\nLinux a b GNU/Linux\nLD_PRELOAD=" + &"/home/".repeat(100_000),
    ] {
        if let Ok(record) = read(&text) {
            let json = serde_json::to_string(&record).unwrap();
            assert!(json.len() < 200_000, "{} bytes", json.len());
        }
    }
}

#[test]
fn xml_tells_what_the_log_tells() {
    let xml = "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n\
               \t<driver_version>550.54.15</driver_version>\n\t<cuda_version>12.4</cuda_version>\n\t<attached_gpus>1</attached_gpus>\n\
               \t<gpu id=\"00000000:65:00.0\">\n\t\t<product_name>NVIDIA H100 NVL</product_name>\n\t\t<persistence_mode>Enabled</persistence_mode>\n\
               \t\t<mig_mode>\n\t\t\t<current_mig>Disabled</current_mig>\n\t\t</mig_mode>\n\t\t<compute_mode>Default</compute_mode>\n\
               \t\t<fb_memory_usage>\n\t\t\t<total>95830 MiB</total>\n\t\t\t<used>10 MiB</used>\n\t\t</fb_memory_usage>\n\t</gpu>\n</nvidia_smi_log>\n";
    let record = host(xml);
    assert_eq!(
        (driver(&record), cuda(&record).as_str(), gpus(&record)),
        ("550.54.15", "12.4", vec!["NVIDIA H100 NVL"])
    );
    let gpu = &record.nvml.as_ref().unwrap().gpus[0];
    assert_eq!((gpu.pci.as_deref(), gpu.mig, gpu.memory), (Some("0000:65:00.0"), Some(false), Some(95_830 << 20)));
    assert_eq!(formats(&record), ["nvidia-smi -q -x"]);
}

#[test]
fn a_query_without_its_header_is_read() {
    let record = host(
        "0, NVIDIA A100-SXM4-80GB, 535.104.05, 8.0, 81920 MiB\n1, NVIDIA A100-SXM4-80GB, 535.104.05, 8.0, 81920 MiB\n",
    );
    assert_eq!((driver(&record), gpus(&record).len()), ("535.104.05", 2));
    let gpu = &record.nvml.as_ref().unwrap().gpus[1];
    assert_eq!((gpu.index, gpu.memory), (1, Some(81_920 << 20)));
    let record = host("Tesla T4, 450.51.06\nTesla T4, 450.51.06\n");
    assert_eq!((driver(&record), gpus(&record)), ("450.51.06", vec!["Tesla T4", "Tesla T4"]));
}

#[test]
fn compilers_are_known_by_any_of_their_names() {
    for (line, name, number) in [
        ("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "gcc", "11.4.0"),
        ("g++ (Debian 12.2.0-14) 12.2.0", "gcc", "12.2.0"),
        ("x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14) 12.2.0", "gcc", "12.2.0"),
        ("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-18)", "gcc", "8.5.0"),
        ("Ubuntu clang version 14.0.0-1ubuntu1.1", "clang", "14.0.0"),
        ("clang version 17.0.6", "clang", "17.0.6"),
    ] {
        let record = host(&format!("{line}\nCopyright (C) 2021 Free Software Foundation, Inc.\n"));
        let found = &record.compilers[0];
        assert_eq!((found.name.as_str(), found.version.unwrap().as_str()), (name, number), "{line}");
    }
}

#[test]
fn reports_of_frameworks_are_read() {
    let detectron = "-----------  -----------\nsys.platform            linux\nPython                  3.8.10 (default, Jun 2 2021)\n\
        numpy                   1.21.2\ndetectron2              0.5 @/opt/detectron2\nCUDA compiler           CUDA 11.1\n\
        PyTorch                 1.9.0+cu111 @/opt/torch\nGPU available           Yes\n\
        GPU 0,1                 NVIDIA GeForce RTX 3090 (arch=8.6)\nDriver version          470.57.02\n";
    let record = host(detectron);
    assert_eq!((driver(&record), gpus(&record).len()), ("470.57.02", 2));
    let python = record.python.as_ref().unwrap();
    let torch = python.torch.as_ref().unwrap();
    assert_eq!((torch.version.as_deref(), torch.available), (Some("1.9.0+cu111"), Some(true)));
    assert_eq!((python.version.unwrap().as_str(), record.toolkits.len()), ("3.8.10", 1));

    let mmengine = "sys.platform: linux\nPython: 3.8.12 (default, Oct 12 2021) [GCC 7.5.0]\nCUDA available: True\n\
        GPU 0,1: Tesla V100-SXM2-32GB\nCUDA_HOME: /usr/local/cuda\nNVCC: Cuda compilation tools, release 11.1, V11.1.74\n\
        GCC: gcc (Ubuntu 9.4.0-1ubuntu1~20.04.1) 9.4.0\nPyTorch: 1.9.0+cu111\nPyTorch compiling details: PyTorch built with:\n\
        TorchVision: 0.10.0+cu111\n";
    let record = host(mmengine);
    assert_eq!((gpus(&record).len(), record.compilers.len(), record.toolkits.len()), (2, 1, 1));
    assert_eq!(record.python.unwrap().torch.unwrap().version.as_deref(), Some("1.9.0+cu111"));

    let transformers = "- `transformers` version: 4.30.2\n- Platform: Linux-5.15.0-75-generic-x86_64-with-glibc2.31\n\
        - Python version: 3.10.11\n- PyTorch version (GPU?): 2.0.1+cu117 (True)\n- Using GPU in script?: <fill in>\n";
    let record = host(transformers);
    assert_eq!(record.platform.kernel.as_deref(), Some("5.15.0-75-generic"));
    let torch = record.python.unwrap().torch.unwrap();
    assert_eq!((torch.version.as_deref(), torch.available), (Some("2.0.1+cu117"), Some(true)));

    let labels = "nvidia.com/cuda.driver.major=535\nnvidia.com/cuda.driver.minor=104\nnvidia.com/cuda.driver.rev=05\n\
        nvidia.com/gpu.count=4\nnvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB\nnvidia.com/gpu.compute.major=8\n\
        nvidia.com/gpu.compute.minor=0\n";
    let record = host(labels);
    assert_eq!((driver(&record), gpus(&record).len()), ("535.104.05", 4));
}

#[test]
fn sglangs_report_is_read() {
    let record = host(
        "Python: 3.11.5 (main, Sep 11 2023) [GCC 11.2.0]\nCUDA available: True\nGPU 0,1: NVIDIA A40\n\
         GPU 0,1 Compute Capability: 8.6\nNVCC: Cuda compilation tools, release 12.1, V12.1.66\n\
         CUDA Driver Version: 535.104.12\nPyTorch: 2.4.0+cu121\nvllm: 0.6.3.post1\nulimit soft: 1048576\n",
    );
    assert_eq!((driver(&record), gpus(&record)), ("535.104.12", vec!["NVIDIA A40", "NVIDIA A40"]));
    assert_eq!(record.nvml.unwrap().gpus[1].compute_capability, Some(Cc::new(8, 6)));
    assert_eq!(record.toolkits[0].nvcc.unwrap().as_str(), "12.1.66");
    let python = record.python.unwrap();
    assert_eq!(python.torch.unwrap().version.as_deref(), Some("2.4.0+cu121"));
    assert_eq!(python.packages.keys().collect::<Vec<_>>(), ["vllm"]);
}

#[test]
fn a_report_in_one_line_is_unfolded() {
    let folded: Vec<&str> = OLD.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (one, many) = (host(&folded.join(" ")), host(OLD));
    assert_eq!((driver(&one), gpus(&one)), (driver(&many), gpus(&many)));
    assert_eq!((one.platform.os, one.platform.glibc), (many.platform.os, many.platform.glibc));
}

#[test]
fn what_is_recognised_and_tells_nothing_says_so() {
    let empty = "==============NVSMI LOG==============\n\nTimestamp : Mon\n";
    let told = read(empty).unwrap_err().to_string();
    assert_eq!(told, "this is the output of nvidia-smi -q, but nothing could be read out of it");
}

#[test]
fn a_package_that_is_not_installed_has_no_version() {
    let record = host(
        "- `transformers` version: 4.41.2\n- PyTorch version (GPU?): not installed (NA)\n\
         - Tensorflow version (GPU?): not installed (NA)\n- Platform: Linux-5.15.0-122-generic-x86_64-with-glibc2.35\n",
    );
    let python = record.python.unwrap();
    assert_eq!(python.packages.keys().collect::<Vec<_>>(), ["transformers"]);
    assert_eq!(python.torch, None);
}

#[test]
fn pip_knows_better_than_conda_what_is_imported() {
    let told = "[conda] numpy                     1.26.4           py311h64a7726_0    conda-forge\n\
                [conda] pytorch                   2.4.0            cuda124_py311h_0    conda-forge\n\
                [conda] triton                    3.0.0            pypi_0    pypi\n\
                [pip3] numpy==1.24.3\n[pip3] torch==2.5.1\n";
    let record = host(told);
    assert!(record.probes.iter().all(|probe| probe.ended == ProbeStatus::Done), "{:?}", record.probes);
    let packages = &record.python.as_ref().unwrap().packages;
    let of = |name: &str| packages[name].as_str();
    assert_eq!((of("numpy"), of("torch"), of("triton")), ("1.24.3", "2.5.1", "3.0.0"));
    let twice = host("[pip3] numpy==1.24.3\n[pip3] numpy==1.26.4\n");
    assert!(twice.probes.iter().any(|probe| probe.ended == ProbeStatus::Garbled));
}

#[test]
fn conda_tells_its_python_and_the_cuda_of_its_torch() {
    let told = |torch: &str| {
        let list = format!("python 3.8.13 h12debd9_0\npytorch 1.11.0 {torch}\n");
        let python = host(&list).python.unwrap();
        assert_eq!(python.version.unwrap().as_str(), "3.8.13");
        python.torch.and_then(|torch| torch.cuda).map(|cuda| cuda.to_string())
    };
    for (build, cuda) in [
        ("py3.8_cuda11.3_cudnn8.2.0_0    pytorch", Some("11.3")),
        ("py3.7_cuda10.1.243_cudnn7.6.3_0 pytorch", Some("10.1")),
        ("cuda112py38h2f3b5c1_0", Some("11.2")),
        ("cuda_118_py310_0 conda-forge", Some("11.8")),
        ("py3.8_cpu_0 pytorch", None),
    ] {
        assert_eq!(told(build).as_deref(), cuda, "{build}");
    }
    // Prose is no list.
    let record = host("torch==2.5.1\npython 3.8 is_old\npython 3.8\n");
    assert_eq!(record.python.unwrap().version, None);
}
