//! The system that a text was printed on, where what to change differs from one to another.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::value::{Extract, text};
use crate::host::paste::is_driver_of_windows;
use crate::types::Version;

/// What only Windows prints: paths with a drive, its libraries, its errors and its compiler.
static WINDOWS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r#"(?i)(?:^|[^a-z0-9])[a-z]:(?:\\|/)+[a-z0-9_]|[a-z0-9_]\.dll\b|\bWinError \d|\bDLL load failed\b|\bWindowsPath\(|\bcl\.exe\b|\bvcvars|'where', 'cl'|compiler version for cl:|\bwin_amd64\b|\bLNK\d{4}\b|\bCUDACOMPILE\b|\b0xC0000[0-9A-F]{3}\b"#,
    )
});

/// What a Unix prints: paths from its root, and Windows' own Linux.
static UNIX: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?:^|[^A-Za-z0-9_./\\-])/(?:usr|home|root|opt|mnt|lib|lib64|data|tmp|var|workspace|Users)/|(?i:\bwsl|manylinux|\blinux_x86_64)",
    )
});

/// What only Linux inside Windows prints, and what people are asked for who have it.
static WSL: LazyLock<Regex> = LazyLock::new(|| {
    ascii(r"(?is)microsoft-standard|/usr/lib/wsl\b|\bWSL ?2\b|\bMicrosoft Windows \[Version.{0,600}\bWSL\b")
});

/// Docker Desktop with NVIDIA's part of a container, which works under WSL2 alone.
static DESKTOP: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"(?is)nvidia-container-cli.*docker.desktop|docker.desktop.*nvidia-container-cli"));

/// A Linux that is named as the system.
static DISTRIBUTION: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?i)^\W*(?:OS|operating system|distro|distribution)\b[^/\n]{0,24}\b(?:Pop!_OS|Ubuntu|Debian|Fedora|Arch Linux|Manjaro|Linux Mint|openSUSE|NixOS)",
    )
});

/// Windows, or its own Linux, by name.
static NAMES_WINDOWS: LazyLock<Regex> = LazyLock::new(|| ascii(r"(?i)\bwindows\b|\bwsl|powershell"));

/// A marker of Python's packages: it tells for which processor something is meant, not which one this is.
static MARKER: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"platform_machine[^A-Za-z\n]{1,9}(?:(?:not )?in\W{2,4})?aarch64"));

/// The two versions in the head of nvidia-smi's table.
static SMI: LazyLock<Regex> = LazyLock::new(|| ascii(r"NVIDIA-SMI +([\d.]+) +Driver Version: +([\d.]+)"));

/// What speaks for another maker's GPU whatever else is there: HIP, which is CUDA for AMD's, and the likes of others.
static SPEAKS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"\b(?:HIP|MUSA|MACA|MLU|NPU|GCU|DCU)(?: runtime)? error|\bhip(?:Error[A-Z]|Get)|\b(?:No HIP GPUs|NumHipDevices|HIP_LAUNCH_BLOCKING|AMD_SERIALIZE_|TORCH_USE_HIP_DSA)|\bROCm (?:error|devices)|\b(?:rocBLAS error|MIOpen Error|Memory access fault by GPU node)|/THH/|/hip/HIP[A-Z]|\blib(?:torch|c10)_hip\b",
    )
});

/// Cards of AMD's and Intel's, TPUs, builds for them, and those who say that they have none of NVIDIA's. Processors that hold a
/// GPU say `with Radeon Graphics`; lists of what a program supports name makers too. An environment's report writes N/A beside
/// what is not there.
static OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?x)\bAMD\ (?i:Radeon|Instinct|Vega) | (?:^\W{0,3}|:\s*|(?i:\b(?:my|the|use|using|have|an?))\s)(?i:AMD).?s?\ ?(?i:gpu|graphics|video|card|hardware)
        | (?i:AMD)\ ?显卡 | \b(?i:Radeon\ (?:RX|Pro|VII|(?:HD\ ?)?[4-7]\d{3})) | (?i:\b(?:my|an?|using)\ radeon\b) | \bInstinct\ MI\d | \bMI[1-3]\d\d[AX]?\b | \b(?i:RX)\ ?[4-9]\d{1,2}0(?:\ ?(?i:xtx?|gre|m|s))?\b
        | \b(?:[67]\d[05]|90[67]|5[57]0)0\ ?(?i:xtx?|gre)\b | \b[5-7]\d00\ ?(?i:rx)\b | (?i:zluda|\bwith\ rocm\b) | \bHSA_OVERRIDE_GFX_VERSION=\W?\d | \bgfx\d[0-9a-f]{2,3}\b | \bamdgpu:\ | (?i:(?:webui|torch|use)[_-](?:directml|amdgpu))
        | [Tt]orch[\w\ .]*[\s:=-]*v?\d[\w.]*\+(?:rocm\d|xpu) | \bROCM\ used\ to\ build\ PyTorch:\ \d
        | (?i:\bIntel\W{0,6}(?:R\W{1,3})?(?:[il]ris|UHD|HD\ Graphics|Arc\b|i\d\ graphics|Data\ Center\ GPU)|\ban\ Intel\ GPU) | \bArc\b.{0,6}(?i:[AB])\d{2,3}\b
        | \bIPEX: | \b_Xpu[A-Z] | \bxpu-ops[/.]test | :[\w.-]+-xpu\b
        | jax\[tpu\] | \bTPU\ (?:v\d|VM\b) | (?i:\bI\ (?:do.{0,4}t\ have|have.{1,4}t|have\ no)\ (?:an?\ |any\ )?nvidia\ (?:gpu|card|adapter|graphics))",
    )
});

/// What is there of NVIDIA's: a card, or its driver.
static NVIDIA: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"GeForce|Tesla|Quadro|\b(?i:RTX|GT|MX) ?(?:PRO )?\d|\b(?i:GTX) ?(?:1\d{3}|\d{3})(?:\D|$)|NVIDIA (?:[ABHLPTV]\d|G[BH]\d|TITAN|Corporation)|NVIDIA-SMI|nvcc fatal|NVRM|Driver Version|libcuda|cuInit|NVML|\bsm_\d\d|nvidia-(?:driver|dkms|drm|uvm|modeset|persistenced|container)|\b(?i:(?:my|I have an?|and an?) nvidia (?:gpu|card|graphics))",
    )
});

/// What only macOS prints, and its machines; on many a cluster /users holds the homes.
static MAC: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?i)(?:^|[^a-z0-9_:.-])(?-i:/Users/)|/private/var/folders/|/opt/homebrew/|mac ?os(?:\b|-)|macbook|\bapple (?:silicon|m\d)|\bm\d (?:max|pro|ultra|mac)|\bmac (?:m\d|mini|\d)|-macosx_|-darwin\b|\bdarwin kernel|\bdevice: mps\b",
    )
});

/// What is of Linux or Windows, and lists of systems.
static NO_MAC: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?i)\bubuntu\b|/(?:home|root|workspace|content)/|linux-64|linux_x86_64|linux-gnu|\bwin(?:dows)? ?1[01]\b|(?:linux|windows)\W{1,3}(?:and |or )?mac ?os|mac ?os\W{1,3}(?:and |or )?(?:linux|windows)",
    )
});

fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).multi_line(true).build().expect("a constant")
}

/// More of them decide nothing.
const COUNTED: usize = 200;

/// Whether a plain text was printed on Windows, as far as the most of its paths tell.
fn is_windows(plain: &str) -> bool {
    let count = |of: &Regex| of.find_iter(plain.as_bytes()).take(COUNTED).count();
    count(&WINDOWS) > count(&UNIX)
}

/// Whether a plain text was printed in Linux inside Windows.
fn is_wsl(plain: &str) -> bool {
    let of_windows = |head: Captures<'_>| {
        let version = |at: usize| Version::parse(std::str::from_utf8(&head[at]).ok()?).ok();
        version(1).zip(version(2)).is_some_and(|(own, driver)| is_driver_of_windows(&driver, &own))
    };
    let holds = |of: &Regex| of.is_match(plain.as_bytes());
    let is_desktop = || holds(&DESKTOP) && (!holds(&DISTRIBUTION) || holds(&NAMES_WINDOWS));
    holds(&WSL) || is_desktop() || SMI.captures(plain.as_bytes()).is_some_and(of_windows)
}

/// The system or processor that a plain text is of, where it is not the usual one.
pub fn told(plain: &str) -> Option<&'static str> {
    let is_said = || plain.matches("aarch64").count() > MARKER.find_iter(plain.as_bytes()).count();
    let is_arm = || plain.contains("aarch64") && !plain.contains("x86_64") && is_said();
    match is_windows(plain) {
        true => Some("Windows"),
        false if is_wsl(plain) => Some("WSL2"),
        false if is_of_macos(plain) => Some("macOS"),
        false => is_arm().then_some("aarch64"),
    }
}

/// Whether the GPU of a plain text is another maker's: its own software speaks, or it is named and nothing of NVIDIA's is there.
pub fn is_of_another_maker(plain: &str) -> bool {
    let holds = |of: &Regex| of.is_match(plain.as_bytes());
    // hashcat looks for the libraries of both makers.
    holds(&SPEAKS) && !plain.contains("Successfully initialized the NVIDIA") || holds(&OTHERS) && !holds(&NVIDIA)
}

/// Whether a plain text is of macOS, for which no CUDA is made any more; an old Mac can run Linux, and hold a card of NVIDIA's.
pub fn is_of_macos(plain: &str) -> bool {
    let holds = |of: &Regex| of.is_match(plain.as_bytes());
    holds(&MAC) && !holds(&NO_MAC) && !holds(&NVIDIA) && !is_windows(plain)
}

/// Whether what was read out of a text is of Windows.
pub fn is_of_windows(extract: &Extract) -> bool {
    is_of(extract, "win")
}

/// Whether it is of Linux inside Windows.
pub fn is_of_wsl(extract: &Extract) -> bool {
    is_of(extract, "wsl")
}

/// Whether the driver is that of Windows, whose releases are numbered by themselves.
pub fn has_windows_driver(extract: &Extract) -> bool {
    is_of_windows(extract) || is_of_wsl(extract)
}

fn is_of(extract: &Extract, system: &str) -> bool {
    text(extract, "platform").is_some_and(|platform| platform.to_ascii_lowercase().starts_with(system))
}

/// A sentence as it is meant under WSL2, where the host of the driver is Windows.
pub fn under_wsl(sentence: &str) -> String {
    let host = [("driver on the host", "NVIDIA driver in Windows"), ("On the host, install", "In Windows, install")];
    host.iter().fold(sentence.to_string(), |told, (linux, windows)| told.replace(linux, windows))
}

/// What is advised under WSL2 in place of means of Linux's kernel.
pub const INSTEAD_UNDER_WSL: &str = "Update NVIDIA's driver in Windows, run `wsl --update` and `wsl --shutdown`.";

/// What is added under WSL2 to what is told of a driver.
pub const DRIVER_UNDER_WSL: &str =
    " Under WSL2 the driver is that of Windows, whose releases are numbered by themselves.";

/// The words of means of Linux's own kernel, which Linux inside Windows does not have.
const KERNEL_MEANS: &[&str] = &["dkms", "dmesg", "modprobe", "nouveau", "nvidia_uvm", "/dev/nvidia", "Secure Boot"];

/// The words of further means that Windows does not have.
const LINUX_MEANS: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "ldconfig",
    "apt-get",
    "apt-cache",
    "build-essential",
    "sudo",
    "/usr/",
    "libcuda.so",
    "-dev package",
];

/// Whether a sentence tells of means that the system of a text does not have.
pub fn is_of_another(sentence: &str, extract: &Extract) -> bool {
    let tells = |means: &[&str]| means.iter().any(|word| sentence.contains(word));
    has_windows_driver(extract) && tells(KERNEL_MEANS) || is_of_windows(extract) && tells(LINUX_MEANS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_is_told_by_its_paths() {
        for (text, wanted) in [
            ("Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found", true),
            ("E:\\anaconda3\\lib\\cpp_extension.py:184: [WinError 2]", true),
            ("linked by target in directory D:/Cproject/opencv", true),
            ("CalledProcessError: Command '['where', 'cl']' returned non-zero exit status 1.", true),
            ("see https://example.com/x and git:/x", false),
            ("File \"/usr/lib/python3/x.py\", line 3\nFile \"/home/u/y.py\": C:\\mnt", false),
            ("WSL: nvcuda.dll beside /usr/lib/wsl/lib", false),
            ("libcudart.so.12: cannot open shared object file", false),
        ] {
            assert_eq!(is_windows(text), wanted, "{text}");
        }
    }

    #[test]
    fn whose_gpu_it_is_is_told_by_what_speaks_and_by_the_cards_that_are_named() {
        for (text, wanted) in [
            ("RuntimeError: HIP error: invalid device function\nNVIDIA GeForce RTX 3090", true),
            ("cuda runtime error (100) : hipErrorNoDevice at ../aten/src/THH/THHGeneral.cpp:47", true),
            ("PyTorch version: 2.4.0+rocm6.1", true),
            ("ROCM used to build PyTorch: 6.1.40091", true),
            ("error: unsupported target: 'gfx906'\n/bin/sh: 1: nvidia-smi: not found", true),
            ("Found no NVIDIA driver on your system. AMD Radeon RX 6800", true),
            ("GPU 0: AMD Radeon RX 580\nGPU 1: NVIDIA GeForce RTX 3060", false),
            ("AMD Radeon 680M\nNVRM: loading NVIDIA UNIX x86_64 Kernel Module", false),
            ("AMD Ryzen 7 5800H with Radeon Graphics", false),
            ("ROCM used to build PyTorch: N/A\nHIP runtime version: N/A\nMIOpen runtime version: N/A", false),
            ("requirement torch==9 (from versions: 1.7.1+cu101, 1.7.1+rocm3.7)", false),
            ("torch.__version__  = 2.7.0+rocm6.3", true),
            ("my AMD CPU and a Nvidia GPU with CUDA 11.7\ntorch 1.13.1+rocm5.2", false),
            ("Hi, I use an AMD GPU.", true),
            ("GPU :- AMD 6600xt", true),
            ("but I have a RX570 GPU", true),
            ("9070 XT", true),
            ("AMD Ryzen 5 5600XT", false),
            ("AMD Ryzen 5 3500U with Radeon Vega Mobile Gfx", false),
            ("WARNING: No NVIDIA/AMD GPU detected. Ollama will run in CPU-only mode.", false),
            ("C:\\stable-diffusion-webui-directml\\modules\\devices.py", true),
            ("Intel(R) Arc(TM) Graphics (128 MB)", true),
            ("Intel UHD Graphics 630, NVIDIA GeForce MX350", false),
            ("My PC is Intel R lris Xe Graphics", true),
            ("I don't have any NVIDIA adapter on my laptop", true),
            ("Please check that you have an NVIDIA GPU", false),
            ("If you don't have an NVIDIA GPU, use the CPU image", false),
            ("MUSA error: no CUDA-capable device is detected", true),
            ("Exception raised from device_count at /pytorch/c10/hip/HIPFunctions.cpp:131\nNVIDIA driver", true),
            ("hipGetErrorName is missing\nSuccessfully initialized the NVIDIA main driver CUDA\nGeForce", false),
            ("C:\\AI\\ComfyUI-Zluda\\venv\\lib\\site-packages\\torch\\lib\\caffe2_nvrtc.dll", true),
            ("CUDA: Not detected: Failed to open 'nvcuda.dll'\nGPU 0: Cypress Pro [Radeon HD 5800/6850]", true),
            ("Using Radeon 7900 GRE", true),
            ("Not working on my 6800 rx", true),
            ("an  AMD Radeon GTX 6750 GPU", true),
            ("AMD Radeon 680M and a GTX 1080Ti", false),
            ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", false),
            ("MI300X", true),
            ("_XpuDeviceProperties(name='Intel(R) Data Center GPU Max 1550')", true),
            ("observed on Arc b70 and docker intel/vllm:0.17.0-xpu", true),
            ("options: cuda, xpu", false),
            (
                "HSA_OVERRIDE_GFX_VERSION: OLLAMA_DEBUG:false. You can use IPEX version AWQ if you have an Intel CPU",
                false,
            ),
            ("I'm using AMD hardware", true),
            ("a TPU v3-8 VM", true),
            ("TPU available: False, using: 0 TPU cores", false),
        ] {
            assert_eq!(is_of_another_maker(text), wanted, "{text}");
        }
    }

    #[test]
    fn macos_is_told_by_its_paths_and_its_machines() {
        for (text, wanted) in [
            ("File \"/Users/me/ComfyUI/execution.py\", line 151", true),
            ("M2 MacOS that has 12 CPU and 38 GPU", true),
            ("mac m2 下报错", true),
            ("Using an Apple M1 MacBook", true),
            ("Ubuntu on an old MacBook Pro: driver too old", false),
            ("MacBook Pro with GeForce GT 750M, macOS 10.13", false),
            ("/c/Users/me/x.py and C:/Users/me", false),
            ("File \"/users/PAS1234/jd/venv/lib/python3.9/site-packages/torch/cuda/__init__.py\"", false),
            ("ssh from /Users/me to /home/me/x.py", false),
            ("supported: Linux, macOS and Windows", false),
            ("wheels for `manylinux_2_28_aarch64`, `macosx_11_0_arm64`", false),
        ] {
            assert_eq!(is_of_macos(text), wanted, "{text}");
        }
    }

    #[test]
    fn linux_inside_windows_is_told_by_its_kernel_its_folder_and_the_numbers_of_its_driver() {
        for (text, wanted) in [
            ("Linux PC 5.15.153.1-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux", Some("WSL2")),
            ("LD_LIBRARY_PATH=/usr/lib/wsl/lib", Some("WSL2")),
            ("NVIDIA-SMI 535.103         Driver Version: 537.13       CUDA Version: 12.2", Some("WSL2")),
            ("NVIDIA-SMI 535.104.05      Driver Version: 535.104.05   CUDA Version: 12.2", None),
            ("Server: Docker Desktop 4.30.0\nnvidia-container-cli: requirement error", Some("WSL2")),
            ("- OS: Pop!_OS 22.04 LTS\n- Docker Desktop 4.18.0\nnvidia-container-cli: load library failed", None),
            ("### Microsoft Windows [Version 10.0.17763.292]\n\n#### Ubuntu app WSL:\nnvidia-smi", Some("WSL2")),
            ("Docker Desktop on Linux: could not select device driver", None),
            ("E:\\x\\y.py says: use WSL2, see C:\\z", Some("Windows")),
            ("uv/python/cpython-3.10.14-macos-aarch64-none/install/bin/python3", Some("macOS")),
        ] {
            assert_eq!(told(text), wanted, "{text}");
        }
    }
}
