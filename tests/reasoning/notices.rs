//! What programs only mention: lines about what they take instead, and what the rest of the text denies. And advice that
//! must be possible with what the text tells.

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose::{self, Verdict};

fn diagnose(text: &str) -> Verdict {
    diagnose::diagnose(text, &BUILTIN)
}

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.findings.iter().map(|one| one.code.as_str()).collect()
}

fn told(verdict: &Verdict) -> String {
    verdict.findings.iter().map(|one| format!("{} {}", one.meaning, one.remedies.join(" "))).collect()
}

/// As vLLM, OpenCV and CUDA.jl print them.
const NOTICES: &[(&str, &str)] = &[
    (
        "INFO 11-01 17:09:41 selector.py:224] Cannot use FlashAttention-2 backend for Volta and Turing GPUs.\nINFO 11-01 17:09:41 selector.py:115] Using XFormers backend.\n",
        "flash-attention-gpu",
    ),
    // vLLM takes another backend after it.
    (
        "ERROR 05-12 10:11:12 [fa_utils.py:57] Cannot use FA version 2 is not supported due to FA2 is only supported on devices with compute capability >= 8\n",
        "flash-attention-gpu",
    ),
    (
        "[ WARN:0] global ./modules/dnn/src/dnn.cpp (1447) setUpNet DNN module was not built with CUDA backend; switching to CPU\n",
        "opencv-without-cuda-backend",
    ),
    (
        "┌ Warning: The NVIDIA driver on this system only supports up to CUDA 11.0.0.\n│ For performance reasons, it is recommended to upgrade to a driver that supports CUDA 11.2 or higher.\n",
        "driver-below-requirement",
    ),
];

/// Alone it is what is asked about. Before another fault it is no cause, and before one of the GPU it may be.
#[test]
fn a_notice_is_no_cause_of_another_fault() {
    for (notice, code) in NOTICES {
        assert_eq!(codes(&diagnose(notice)), [*code]);
        let other = diagnose(&format!("{notice}[rank0]: KeyError: 'layers.21.mlp.gate_up_proj.weight'\n"));
        assert_eq!(codes(&other), Vec::<&str>::new());
        assert!(other.aside.is_some_and(|aside| aside.means.contains("notices")), "{notice}");
        assert_eq!(codes(&diagnose(&format!("{notice}RuntimeError: no GPU to use\n"))), [*code]);
    }
}

/// TensorFlow looks for TensorRT at every start, and a GPU that it made a device of was not lost.
#[test]
fn a_library_that_is_not_needed_or_was_found_is_not_missing() {
    let line = |library: &str| {
        format!(
            "W tensorflow/x.cc:64] Could not load dynamic library '{library}'; dlerror: {library}: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib\n"
        )
    };
    let created = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1616] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13775 MB memory:  -> device: 0, name: Tesla T4\n";
    let tensorrt = line("libnvinfer.so.7") + &line("libnvinfer_plugin.so.7");
    let verdict = diagnose(&tensorrt);
    assert_eq!(codes(&verdict), Vec::<&str>::new());
    assert!(verdict.aside.is_some_and(|aside| aside.means.contains("TensorRT")));
    let cuda = tensorrt + &line("libcudart.so.11.0");
    let verdict = diagnose(&cuda);
    assert_eq!(codes(&verdict), ["tensorflow-library-missing"]);
    assert!(told(&verdict).contains("missing: libcudart.so.11.0."), "{}", told(&verdict));
    assert_eq!(codes(&diagnose(&(cuda + created))), Vec::<&str>::new());
}

/// A fault stays one beside a warning in the same words, and the words after a library's name say what is wrong with it.
#[test]
fn a_line_is_read_to_its_end() {
    let warning = "UserWarning: Plan failed with a cudnnException: cudnn_status: CUDNN_STATUS_NOT_SUPPORTED (Triggered internally at Conv_v8.cpp:919.)\n  return F.conv1d(\n";
    let fault = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED";
    for (text, wanted) in [
        (warning.to_string(), vec![]),
        (warning.to_string() + fault, vec!["cudnn-not-supported"]),
        ("ld: cannot find -lcuda: No such file or directory".into(), vec!["libcuda-not-linked"]),
        ("ld: cannot find -lCUDA::nvToolsExt: No such file or directory".into(), vec!["nvtoolsext-gone"]),
        ("libcudart.so.12: cannot open shared object file: Permission denied".into(), vec!["library-not-mapped"]),
        ("libcudart.so.12: cannot open shared object file: No such file".into(), vec!["cuda-library-missing"]),
        ("libcudart.so.12: file too short".into(), vec!["library-file-broken"]),
        (
            "LoadLibrary failed with error 126 loading x\\onnxruntime_providers_cuda.dll".into(),
            vec!["cuda-library-missing"],
        ),
    ] {
        assert_eq!(codes(&diagnose(&text)), wanted, "{text}");
    }
}

/// The name of a host, and what a program would take, is no GPU of the machine.
#[test]
fn a_gpu_is_named_by_itself() {
    for (text, gpu) in [
        ("bm-h100-02:4766:4780 [0] NCCL INFO", None),
        ("requires GPU with sm80 minimum compute capacity, e.g., A100/H100/L4", None),
        ("node label NVIDIA-A100-SXM4-40GB", Some("A100-SXM4-40GB")),
        ("we run it on H100 with 4 GPUs", Some("H100")),
    ] {
        let read = diagnose(text).extract.get("gpu").map(ToString::to_string);
        assert_eq!(read.as_deref(), gpu, "{text}");
    }
}

#[test]
fn what_is_advised_is_possible() {
    let mismatch = |nvcc: &str, python: &str| {
        format!(
            "Python version: {python}\nRuntimeError: The detected CUDA version ({nvcc}) mismatches the version that was used to compile PyTorch (12.4). Please make sure to use the same CUDA versions."
        )
    };
    let cublas = |driver: &str| {
        format!(
            "OSError: libcublas.so.13: cannot open shared object file: No such file or directory\nNvidia Driver: {driver} (Nvidia-smi)"
        )
    };
    let cudnn = |found: &str| {
        format!(
            "E tensorflow/stream_executor/cuda/cuda_dnn.cc:378] Loaded runtime CuDNN library: {found} (compatibility version {found}) but source was compiled with 7102 (compatibility version 7100)."
        )
    };
    for (text, says, not) in [
        (mismatch("11.8", "3.10.4"), "PyTorch made with CUDA 11.8.", "none was made"),
        (mismatch("11.2", "3.8.1"), "PyTorch made with CUDA 11.3: none was made with 11.2", "with CUDA 11.2."),
        (mismatch("12.2", "3.10.4"), "PyTorch made with CUDA 12.1", "with CUDA 12.2."),
        (mismatch("9.1", "3.12.4"), "Install the toolkit of CUDA 12.4", "a build of PyTorch made"),
        (cublas("570.86.10"), "for CUDA 12.8 or older", "Install the libraries of CUDA 13"),
        (cublas("580.95.05"), "Install the libraries of CUDA 13", "or older"),
        (cudnn("7600"), "Install cuDNN 7.1,", "or a later release"),
        (cudnn("7005"), "or a later release", "Install cuDNN 7.1,"),
    ] {
        let told = told(&diagnose(&text));
        assert!(told.contains(says) && !told.contains(not), "{text}: {told}");
    }
}

/// The number 500 is of a kernel that is not there, and of a driver's function only where CUDA starts.
#[test]
fn a_name_that_is_not_found_is_told_by_where_it_was_looked_for() {
    for (text, code) in [
        (
            "Error: DriverError(CUDA_ERROR_NOT_FOUND, \"named symbol not found\") when loading cast_f32_bf16",
            "kernel-not-in-module",
        ),
        ("failed call to cuInit: CUDA_ERROR_NOT_FOUND: named symbol not found", "wsl-cuda-in-container"),
        ("run in wsl2\nError: DriverError(CUDA_ERROR_NOT_FOUND, \"named symbol not found\")", "wsl-cuda-in-container"),
        ("CUDA failure 500: named symbol not found\nexpr=cudaSetDevice(info_.device_id)", "wsl-cuda-in-container"),
        ("ImportError: /x/gpu.cpython-36m-x86_64-linux-gnu.so: undefined symbol: cudaMalloc", "cudart-not-linked"),
        ("ImportError: /x/gpu.cpython-36m-x86_64-linux-gnu.so: undefined symbol: cuInit", "libcuda-not-loaded"),
        (
            "ImportError: /x/gpu.cpython-36m-x86_64-linux-gnu.so: undefined symbol: cuGreenCtxDestroy",
            "driver-call-not-found",
        ),
    ] {
        assert_eq!(codes(&diagnose(text)).first(), Some(&code), "{text}");
    }
}

/// As bitsandbytes 0.38 warns at each start that finds two libcudart, and in other words and quotes.
#[test]
fn what_a_sentence_of_advice_names_has_not_happened() {
    for advice in [
        "UserWarning: Found duplicate libcudart.so.\nIf you get `CUDA error: invalid device function` errors, the above might be the cause",
        "If you see “CUDA error: no kernel image is available for execution on the device”, please build from source.",
        "Note: in case of 'CUDA driver version is insufficient for CUDA runtime version' update your driver.",
        "If you encounter ImportError: libcuda.so.1: cannot open shared object file, add it to LD_LIBRARY_PATH",
        "To avoid `undefined symbol: _ZN3c105ErrorC1ENS_14SourceLocationERKSs` errors import torch first",
        "This can lead to `NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus`.",
        "If the build fails with 'nvcc fatal : Unsupported gpu architecture 'compute_89'', set TORCH_CUDA_ARCH_LIST.",
        "warnings.warn('If you run into \"CUDNN_STATUS_NOT_INITIALIZED\" try reducing memory')",
    ] {
        assert_eq!(codes(&diagnose(advice)), Vec::<&str>::new(), "{advice}");
        let fault = format!("{advice}\nRuntimeError: CUDA error: an illegal memory access was encountered");
        assert_eq!(codes(&diagnose(&fault)), ["kernel-fault"], "{advice}");
    }
    let told = diagnose("If I start it I get `CUDA error: invalid device function`.");
    assert_eq!(codes(&told), ["invalid-device-function"]);
}

/// A program goes on behind a warning, a probe or an optional search: such a line is the cause of what it can bring, and before
/// any other fault the lesser or none.
#[test]
fn what_a_program_goes_on_behind_is_no_other_fault() {
    let cl = "x\\cpp_extension.py:209: UserWarning: Error checking compiler version for cl: [WinError 2] The system cannot find the file specified\n";
    let bnb = "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...\n";
    let cupti = "W dso_loader.cc:64] Could not load dynamic library 'libcupti.so.10.1'; dlerror: libcupti.so.10.1: cannot open shared object file: No such file or directory\n";
    let runtime = "No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'\n";
    let nvcc = "/bin/sh: 1: nvcc: not found\n";
    let cmake = "-- Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR CUDA_NVCC_EXECUTABLE)\n";
    let banner = "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n";
    let lines = [
        (cl, "msvc-not-found", "error: command 'cl.exe' failed: No such file or directory"),
        (bnb, "bitsandbytes-binary-missing", "RuntimeError: bitsandbytes cannot be used"),
        (cupti, "tensorflow-profiler-library", "RuntimeError: CUPTI is needed to profile"),
        (runtime, "torch-without-cuda", "RuntimeError: no GPU to build for"),
        (nvcc, "toolkit-missing", "RuntimeError: Error compiling objects for extension"),
        (cmake, "toolkit-missing", "-- Configuring incomplete, errors occurred!"),
        (banner, "container-without-driver", "RuntimeError: No CUDA GPUs are available"),
    ];
    for (line, code, brought) in lines {
        for (behind, wanted) in [
            ("", vec![code]),
            (brought, vec![code]),
            ("KeyError: 'foo'", vec![]),
            ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", vec![]),
            ("Successfully installed mypackage-0.1", vec![]),
        ] {
            let verdict = diagnose(&format!("{line}{behind}\n"));
            assert_eq!(codes(&verdict).first(), wanted.first(), "{line}{behind}");
            assert!(!wanted.is_empty() || verdict.aside.is_some(), "{line}{behind}");
        }
        let fault = diagnose(&format!("{line}RuntimeError: CUDA error: an illegal memory access was encountered"));
        let first = if code == "container-without-driver" { code } else { "kernel-fault" };
        assert_eq!(codes(&fault).first(), Some(&first), "{line}");
    }
    let loaded = "CUDA SETUP: Loading binary C:\\x\\libbitsandbytes_cuda118.so...\nCUDA SETUP: Problem: The main CUDA runtime library was not detected.";
    assert_eq!(codes(&diagnose(&format!("{bnb}{loaded}"))), ["bitsandbytes-binary-missing"]);
    for (text, wanted) in [
        (format!("{nvcc}RuntimeError: No CUDA GPUs are available"), vec!["no-device", "toolkit-missing"]),
        (format!("{cmake}-- Configuring done\n[100%] Built target app"), vec![]),
        (format!("{bnb}CUDA SETUP: CUDA runtime path found: /x/libcudart.so.11.0\n"), vec![]),
        (format!("{cl}\"C:\\x\\cl.exe\" /c src\\udf.cpp"), vec![]),
        (format!("{cl}error: command 'C:\\x\\cl.exe' failed with exit status 2"), vec![]),
        (nvcc.to_string() + &(1..40).map(|row| format!("{row} 0.5\n")).collect::<String>(), vec![]),
    ] {
        assert_eq!(codes(&diagnose(&text)), wanted, "{text}");
    }
}

/// Lines of programs that went on, marked so by a level, by Python or by their own words, whichever row knows them.
const MARKED: &[&str] = &[
    "I0411 11:31:51.893953 47132171940032 xla_bridge.py:895] Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'",
    "2025-04-11 11:31:52.378781: W external/xla/xla/service/gpu/nvptx_compiler.cc:930] The NVIDIA driver's CUDA version is 12.4 which is older than the PTX compiler version 12.6.77. Because the driver is older than the PTX compiler version, XLA is disabling parallel compilation.",
    "/x/torch_geometric/typing.py:54: UserWarning: An issue occurred while importing 'pyg-lib'. Disabling its usage. Stacktrace: /lib64/libm.so.6: version `GLIBC_2.27' not found (required by /x/libpyg.so)",
    "-> The distribution-provided pre-install script failed!  Are you sure you want to continue? (Answer: Continue installation)",
    "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n    PyTorch 2.3.0+cu121 with CUDA 1201 (you have 2.1.0+cu121)",
    "/x/torch/cuda/__init__.py:118: UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx",
    "/x/bitsandbytes/cextension.py:34: UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers, 8-bit multiplication, and GPU quantization are unavailable.",
    "[node01:1234] mca_base_component_repository_open: unable to open mca_btl_smcuda: libcuda.so.1: cannot open shared object file: No such file or directory (ignored)",
    "/x/onnxruntime_inference_collection.py:69: UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'",
    "2018-12-17 19:38:41,868 sagemaker-containers INFO     No GPUs detected (normal if no gpus installed)",
    "W1209 17:28:31.056532 232107 init.cc:128] Compiled with WITH_GPU, but no GPU found in runtime.",
    "INFO 05-27 11:47:41 [cuda.py:95] Cannot use FlashAttention-2 backend for Volta and Turing GPUs.",
    "* Device #1: CUDA SDK Toolkit installation NOT detected.\n             CUDA SDK Toolkit installation required for proper device support and utilization\n             Falling back to OpenCL Runtime",
    "2020-01-01 00:00:00.0: E tensorflow/stream_executor/cuda/cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR (303)",
];

/// No such line is the fault where another follows, be it known or not.
#[test]
fn a_marked_line_stands_behind_every_fault() {
    for line in MARKED {
        for (behind, first) in [
            ("KeyError: 'foo'", None),
            ("botocore.exceptions.NoCredentialsError: Unable to locate credentials", None),
            ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.", None),
            ("OSError: [Errno 28] No space left on device", None),
            ("RuntimeError: CUDA error: an illegal memory access was encountered", Some("kernel-fault")),
            ("NVRM: Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.", Some("gpu-lost")),
        ] {
            let verdict = diagnose(&format!("{line}\n{behind}\n"));
            assert_eq!(codes(&verdict).first().copied(), first, "{line}\n{behind}");
        }
    }
    // What says that it is no fault, or that it went on, is told as the notice that it is.
    for (words, code) in [("normal if", "no-gpu-found"), ("(ignored)", "libcuda-missing"), ("OpenCL", "toolkit-failed")]
    {
        let alone = diagnose(MARKED.iter().find(|line| line.contains(words)).unwrap());
        assert_eq!(codes(&alone), Vec::<&str>::new());
        assert_eq!(alone.notice.map(|notice| notice.code).as_deref(), Some(code));
    }
    let tried = "[Sat May  9 19:32:11 2026] NVRM: nvCheckOkFailedNoLog: Check failed: Requested object not found [NV_ERR_OBJECT_NOT_FOUND] (0x00000057) returned from gisubscriptionGetGPUInstanceSubscription(pRsClient) @ kernel_mig_manager.c:3091";
    assert_eq!(codes(&diagnose(tried)), Vec::<&str>::new());
    let warned = MARKED.iter().find(|line| line.contains("Found no NVIDIA driver")).unwrap();
    let brought = diagnose(&format!("{warned}\nRuntimeError: No CUDA GPUs are available"));
    assert_eq!(codes(&brought).first(), Some(&"driver-not-found"));
}

/// What a text holds of another machine, package or disk is none of this one's.
#[test]
fn what_is_told_is_of_what_it_is_about() {
    let aside = |text: &str| diagnose(text).aside.map_or("", |aside| aside.means);
    assert!(aside("UCX  ERROR inotify_add_watch(/tmp) failed: No space left on device").contains("inotify"));
    assert!(aside("OSError: [Errno 28] No space left on device: '/dev/shm/torch_123'").contains("/dev/shm"));
    assert!(aside("OSError: [Errno 122] Disk quota exceeded").contains("disk"));
    assert!(aside("detected NVSwitch non-fatal error 12028 on fid 0").contains("not call Fatal"));
    assert!(aside("ImportError: DLL load failed: The specified module could not be found.").contains("Windows"));
    assert!(aside("GPU: rx 6600\nZLUDA\nCannot load libnvidia-encode.so.1").contains("AMD"));
    let told = |text: &str| codes(&diagnose(text)).join(" ");
    let hidden = "inotify_add_watch(/tmp) failed: No space left on device\nImportError: libcudart.so.12: cannot open shared object file";
    assert_eq!(told(hidden), "cuda-library-missing");
    let project = "Because there is no version of torch==2.7.0+cu126 and your project depends on torch==2.7.0+cu126, we can conclude that your project's requirements are unsatisfiable.";
    assert_eq!(told(project), "no-such-release");
    let marker =
        diagnose(&format!("for split (python_full_version >= '3.12' and platform_machine != 'aarch64'):\n{project}"));
    assert_eq!(marker.findings[0].extract.get("platform"), None);
}

/// That a tool is missing tells something of the driver only where nothing tells more.
#[test]
fn a_missing_tool_counts_last() {
    let missing = "/bin/sh: 1: nvidia-smi: not found\n";
    for (other, wanted) in [
        ("", vec!["nvidia-smi-missing"]),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", vec![]),
        ("Device: cuda:0 NVIDIA GeForce RTX 3060\nKeyError: 'foo'", vec![]),
        ("# R35 (release), REVISION: 4.1, BOARD: t186ref", vec![]),
        ("docker run --gpus all -it nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3", vec![]),
        ("KeyError: 'foo'", vec![]),
        ("error: unsupported target: 'gfx906'\nRuntimeError: PassManager::run failed", vec![]),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED", vec!["cudnn-not-supported", "nvidia-smi-missing"]),
        ("RuntimeError: CUDA error: no CUDA-capable device is detected", vec!["no-device"]),
    ] {
        assert_eq!(codes(&diagnose(&format!("{missing}{other}"))), wanted, "{other}");
    }
}

/// What is no matter of versions is told as what it is.
#[test]
fn what_has_no_finding_has_a_word() {
    for (text, word) in [
        ("[launch.py:315:sigkill_handler] main.py exits with return code = -9", "killed"),
        ("ERROR: failed (exitcode: -9) local_rank: 0 (pid: 1234) of binary: /usr/bin/python", "killed"),
        ("Process finished with exit code 137 (interrupted by signal 9:SIGKILL)", "killed"),
        ("DataLoader worker (pid 47) is killed by signal: Killed.", "killed"),
        ("exits with return code = -7", "/dev/shm"),
        ("Error: llama runner process has terminated: exit status 0xc000001d", "AVX"),
        ("HTTPSConnectionPool(host='download.pytorch.org', port=443): Max retries exceeded with url: /whl", "network"),
        ("OSError: We couldn't connect to 'https://huggingface.co' to load this file", "network"),
        ("misc/socket.cc:480 NCCL WARN socketStartConnect: Connect to 10.0.0.1<38007> failed : refused", "of the job"),
        ("NCCL WARN NET/IB : Got async event : port error", "of the job"),
        ("include/socket.h 398 NCCL WARN Call to write failed : Connection reset by peer.", "of the job"),
        ("misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]", "notice"),
        ("NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2)", "not call Fatal"),
        ("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 36 egress", "not call Fatal"),
        ("CUDA error: operation failed due to a previous error during capture", "CUDA graph"),
        ("RuntimeError: CUDA error: invalid argument", "refuses"),
        ("error: Invalid GRES data for gpu, CPUs=48-63,176-191", "gres.conf"),
        ("RuntimeError: No HIP GPUs are available", "AMD"),
        ("RuntimeError: HIP error: shared object initialization failed", "AMD"),
        (
            "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
            "",
        ),
    ] {
        let verdict = diagnose(text);
        assert_eq!(codes(&verdict), Vec::<&str>::new(), "{text}");
        assert!(verdict.aside.is_some_and(|aside| aside.means.contains(word)) || word.is_empty(), "{text}");
    }
}
