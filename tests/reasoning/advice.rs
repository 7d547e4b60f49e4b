//! What `gpuenv diagnose` advises must be of the system, of the number and of the package that a text tells of.

use std::process::Command;

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose::{Finding, diagnose};

use super::diagnose::MESSAGES;

fn first(text: &str) -> Finding {
    diagnose(text, &BUILTIN).findings.into_iter().next().unwrap_or_else(|| panic!("nothing is said of {text}"))
}

/// Means that Windows does not have.
const OF_LINUX: &[&str] =
    &["LD_LIBRARY_PATH", "LD_PRELOAD", "ldconfig", "apt-get", "dmesg", "modprobe", "dkms", "nouveau", "/usr/"];

#[test]
fn what_is_advised_for_windows_is_there() {
    let mut of_windows = 0;
    for message in MESSAGES.iter() {
        for finding in diagnose(&message.raw, &BUILTIN).findings {
            let platform = finding.extract.get("platform").map(ToString::to_string).unwrap_or_default();
            if !platform.to_lowercase().starts_with("win") {
                continue;
            }
            of_windows += 1;
            let told = finding.remedies.join(" ");
            let foreign: Vec<&&str> = OF_LINUX.iter().filter(|means| told.contains(**means)).collect();
            assert!(foreign.is_empty(), "{} {}: {foreign:?}: {told}", message.id, finding.code);
        }
    }
    assert!(of_windows > 50, "{of_windows}");
}

#[test]
fn a_missing_dll_is_answered_for_windows() {
    for (text, says) in [
        ("Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found", "WSL2"),
        (
            "LoadLibrary failed with error 126 \"\" when trying to load \"c:\\x\\onnxruntime_providers_cuda.dll\"",
            "PATH",
        ),
    ] {
        let finding = first(text);
        let told = finding.remedies.join(" ");
        assert!(told.contains(says) && !told.contains("LD_LIBRARY_PATH"), "{told}");
    }
    // The same library of Linux is advised as ever.
    let told = first("ImportError: libcudart.so.12: cannot open shared object file").remedies.join(" ");
    assert!(told.contains("LD_LIBRARY_PATH") && !told.contains("os.add_dll_directory"), "{told}");
}

/// An Xid is the kernel's number, and stands for no error of CUDA.
#[test]
fn an_xid_is_no_error_of_cuda() {
    for (text, code) in [
        ("NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping", "gpu-row-remapped"),
        ("NVRM: Xid (PCI:0000:10:1c): 64, pid=1896, Row Remapper: Failed to write", "gpu-memory-defect"),
    ] {
        let finding = first(text);
        assert_eq!((finding.code.as_str(), finding.extract.get("cuda_error")), (code, None), "{text}");
    }
    let finding = first("RuntimeError: CUDA error: uncorrectable ECC error encountered");
    assert_eq!(finding.extract.get("cuda_error").map(ToString::to_string), Some("214".into()));
}

/// A library of another CUDA major than the torch of the text is not to be installed: the package is of another build.
#[test]
fn a_package_of_another_cuda_is_not_given_its_libraries() {
    let missing = "OSError: libnvrtc.so.13: cannot open shared object file: No such file or directory";
    let told = |torch: &str| {
        let text = format!("Could not load libtorchcodec. The PyTorch version ({torch}) is not compatible\n{missing}");
        first(&text).remedies.join(" ")
    };
    let (other, same) = (told("2.11.0+cu128"), told("2.11.0+cu130"));
    assert!(other.contains("build of torchcodec for the CUDA of torch 2.11.0+cu128"), "{other}");
    assert!(!other.contains("libraries of CUDA 13") && same.contains("libraries of CUDA 13"), "{other} | {same}");
}

#[test]
fn short_memory_is_told_as_that() {
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 GiB.";
    let output = Command::new(env!("CARGO_BIN_EXE_gpuenv")).args(["diagnose", text]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout.contains("memory ran out") && !stdout.contains("give more of the text"), "{stdout}");
}

/// What is known and no matter of versions is told as that, and no finding.
#[test]
fn what_is_no_matter_of_versions_is_told_as_that() {
    for (text, says) in [
        ("torch.AcceleratorError: CUDA error: device-side assert triggered", "out of range"),
        (
            "IndexKernel.cu:111: operator(): block: [0,0,0], thread: [0,0,0] Assertion `index < size` failed.",
            "out of range",
        ),
        (
            "cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_ASSERT: device-side assert triggered",
            "out of range",
        ),
        ("nvcc error   : 'cicc' died due to signal 9 (Kill signal)", "compiler"),
        ("RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'", "CPU"),
        ("RuntimeError: CUDA error: too many resources requested for launch", "registers"),
        ("RuntimeError: Cannot re-initialize CUDA in forked subprocess.", "forked"),
        ("RuntimeError: Expected all tensors to be on the same device, but got mat2 is on cpu", "several devices"),
        (
            "RuntimeError: CUDA error: invalid argument\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "CUDA refuses what the program passed",
        ),
        (
            "RuntimeError: CUDA error: something else\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "stands below each of them",
        ),
        (
            "RuntimeError: CUDA error: device-side assert triggered\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            "out of range",
        ),
        ("AttributeError: module 'torch.cuda' has no attribute 'is_avaliable'", "misspells"),
        ("NVRM: Xid (PCI:0000:3d:00): 43, pid=35521, Ch 00000008", "Xid of the program"),
        ("the following signatures couldn't be verified: NO_PUBKEY A4B469963BF863CC", "since April 2022"),
        (
            "E: Conflicting values set for option Signed-By regarding source https://nvidia.github.io/libnvidia-container/stable/ubuntu18.04/amd64/ /: /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg != ",
            "different keys",
        ),
        (
            "UserWarning: The detected CUDA version (12.1) has a minor version mismatch with the version that was used to compile PyTorch (12.4). Most likely this shouldn't be a problem.",
            "a notice, no fault",
        ),
        (
            "[h264_nvenc @ 0x561355b9bcc0] dl_fn->cuda_dl->cuCtxCreate(&ctx->cu_context_internal, 0, cu_device) failed -> CUDA_ERROR_OUT_OF_MEMORY: out of memory\n[h264_nvenc @ 0x561355b9bcc0] No NVENC capable devices found",
            "memory ran out",
        ),
        ("NCCL error: remote process exited or there was a network error, NCCL version 2.21.5", "another process"),
        ("OSError: [Errno 28] No space left on device", "a disk is full"),
        (
            "OSError: [WinError 1455] 页面文件太小，无法完成操作。 Error loading \"D:\\x\\torch\\lib\\cudnn_cnn_infer64_8.dll\" or one of its dependencies.",
            "page file",
        ),
        (
            "UserWarning: Plan failed with a cudnnException: CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: cudnnFinalize Descriptor Failed cudnn_status: CUDNN_STATUS_NOT_SUPPORTED",
            "a notice, no fault",
        ),
        (
            "nvcc warning : incompatible redefinition for option 'std', the last value of this option was used",
            "a notice, no fault",
        ),
        ("RuntimeError: module compiled against API version 0xe but this version of numpy is 0xd", "a newer NumPy"),
        ("NVRM: Xid (PCI:0000:26:00): 109, pid=55914, Ch 00000046, errorString CTX SWITCH TIMEOUT", "in time"),
        ("InternalError: Blas xGEMM launch failed : a.shape=[1,20000,3]", "could not multiply matrices"),
        ("TypeError: pybind11::init(): factory function returned nullptr", "TensorRT's Builder"),
        ("pyopencl._cl.LogicError: clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR", "OpenCL finds no driver"),
        ("vkCreateInstance failed with ERROR_INCOMPATIBLE_DRIVER", "Vulkan finds no driver"),
        ("[Rank 65] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1559", "waited for the others"),
        (
            "NCCL WARN NET/IB : Got completion from peer 172.36.143.59<44206> with status=12 vendor err 129",
            "the network",
        ),
        ("Memory cgroup out of memory: Killed process 4242 (python)", "not the GPU"),
        (
            "/usr/bin/ld: wrapnvml.o: undefined reference to symbol 'dlclose@@GLIBC_2.2.5'\n/lib/x86_64-linux-gnu/libdl.so.2: error adding symbols: DSO missing from command line",
            "given to the linker",
        ),
        (
            "nvptx_compiler.cc:460] ptxas returned an error during compilation of ptx to sass: 'INTERNAL: couldn't get temp CUBIN file name'",
            "temporary files",
        ),
    ] {
        let verdict = diagnose(text, &BUILTIN);
        assert!(verdict.findings.is_empty(), "{text}");
        assert!(verdict.aside.is_some_and(|aside| aside.means.contains(says)), "{text}");
    }
}
