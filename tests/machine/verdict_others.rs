//! One fact in every shape in which nvidia-smi prints it, messages of programs that are not locked, and listings that name another
//! build than the locked one, or no GPU.

use gpuenv::lock::Lock;
use gpuenv::verify::Status::{Fail, Pass, Unknown, Warn};

use crate::common::judge::lock;
use crate::pasted::{ends, judged, passes, sound, table};

fn stack(lines: &str) -> Lock {
    lock(&format!("[stack]\n{lines}\npython = \"3.11\"\n[target.t]\ngpu = \"RTX 3090\"\n"))
}

fn torch() -> Lock {
    stack("torch = \"2.6.0+cu124\"")
}

/// nvidia-smi of R591 on Windows and of R610 there; the Linux inside has a persistence mode as well.
#[test]
fn windows_is_windows_in_every_shape() {
    let csv =
        |fields: &str, values: &str| format!("name, driver_version{fields}\nNVIDIA GeForce RTX 3090, 591.86{values}\n");
    let log = |persistence: &str, model: &str| {
        format!(
            "==============NVSMI LOG==============\n\nDriver Version                            : 591.86\n\n\
             Attached GPUs                             : 1\nGPU 00000000:01:00.0\n    \
             Product Name                          : NVIDIA GeForce RTX 3090\n    \
             Persistence Mode                      : {persistence}\n    Driver Model\n        \
             Current                           : {model}\n"
        )
    };
    let query = "[N/A], WDDM, WDDM";
    for text in [
        csv(", persistence_mode, driver_model.current, driver_model.pending", &format!(", {query}")),
        csv(", driver_model.current, persistence_mode", ", WDDM, [N/A]"),
        csv(", driver_model.current", ", MCDM"),
        "NVIDIA GeForce RTX 3090, 591.86, WDDM\n".to_string(),
        log("N/A", "WDDM"),
        // In the Linux inside there is no TCC.
        log("Enabled", "TCC"),
        table("591.86", "13.1", "NVIDIA GeForce RTX 3090").replace("Off  |", "TCC |"),
    ] {
        ends(&torch(), &text, "platform-system", Unknown, "Windows");
    }
    for text in [
        csv(", driver_model.current, persistence_mode", ", WDDM, Enabled"),
        csv(", driver_model.current", ", [N/A]"),
        log("Enabled", "WDDM"),
        log("Enabled", "WDDM").replace("==============NVSMI LOG==============\n", ""),
    ] {
        passes(&torch(), &text);
    }
}

#[test]
fn pages_that_wait_for_a_reset_are_told_in_every_shape() {
    for text in [
        "name, driver_version, retired_pages.pending\nNVIDIA GeForce RTX 3090, 550.120, Yes\n",
        "Driver Version : 550.120\nAttached GPUs : 1\nGPU 00000000:01:00.0\n    Product Name : NVIDIA GeForce RTX 3090\n    \
         Retired Pages\n        Pending Page Blacklist : Yes\n",
        "<nvidia_smi_log><driver_version>550.120</driver_version><gpu id=\"00000000:01:00.0\"><product_name>NVIDIA GeForce RTX 3090\
         </product_name><retired_pages><pending_blacklist>Yes</pending_blacklist></retired_pages></gpu></nvidia_smi_log>\n",
    ] {
        ends(&torch(), text, "gpu-health", Warn, "wait for a reset");
    }
}

/// <https://github.com/huggingface/diffusers/pull/7403>: torch computes beside a JAX that does not.
#[test]
fn messages_of_programs_that_are_not_locked_are_notices() {
    for (own, text) in [
        (
            "jax",
            "WARNING:jax._src.xla_bridge:An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
        ),
        ("jax", "WARNING:absl:No GPU/TPU found, falling back to CPU."),
        (
            "tensorflow",
            "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2343] Cannot dlopen some GPU libraries.\nSkipping registering GPU devices...",
        ),
        (
            "xformers",
            "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n    PyTorch 2.5.1+cu124 with CUDA 1204 (you have 2.6.0+cu124)\n    Python  3.11.11 (you have 3.12.3)",
        ),
        (
            "flash-attn",
            "FlashAttention2 has been toggled on, but it cannot be used due to the following error: the package flash_attn seems to be not installed.",
        ),
        (
            "onnxruntime-gpu",
            "[W:onnxruntime:Default, onnxruntime_pybind_state.cc:640 CreateExecutionProviderInstance] Failed to create CUDAExecutionProvider.",
        ),
        (
            "onnxruntime-gpu",
            "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.",
        ),
        ("cupy-cuda12x", "cupy.cuda.compiler.CompileException: nvrtc: error: failed to open libnvrtc-builtins.so.12.4"),
        ("vllm", "ModuleNotFoundError: No module named 'vllm._C'"),
        (
            "transformer-engine",
            "ImportError: /opt/conda/lib/python3.11/site-packages/transformer_engine_torch.so: undefined symbol: _ZN3c104cuda9SetDeviceEab",
        ),
    ] {
        let text = format!("{}{text}\n", table("590.48.01", "13.1", "NVIDIA GeForce RTX 3090"));
        ends(&torch(), &text, "probe", Warn, "not locked");
        // With a torch of its own, where it goes with one.
        let with_torch = if ["jax", "tensorflow", "cupy-cuda12x"].contains(&own) { "" } else { "torch = \"*\"\n" };
        let verdict = judged(&stack(&format!("{with_torch}{own} = \"*\"")), &text);
        assert!(
            verdict.checks.iter().any(|check| check.id == "probe" && check.status == Unknown),
            "{own}: {verdict:#?}"
        );
    }
    // An image may hold it.
    let image = lock("[target.t]\ngpu = \"RTX 3090\"\nimage = \"nvcr.io/nvidia/pytorch:24.05-py3\"\n");
    for text in
        ["AssertionError: Torch not compiled with CUDA enabled", "ModuleNotFoundError: No module named 'vllm._C'"]
    {
        let text = format!("{text}\n{}", table("590.48.01", "13.1", "NVIDIA GeForce RTX 3090"));
        ends(&image, &text, "probe", Unknown, "error in the text: ");
    }
    // What is said of the driver or the GPU is said of every stack, and so is what names no package.
    for text in [
        "numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: Call to cuInit results in CUDA_ERROR_NO_DEVICE",
        "Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}\nInvalid handle. Cannot load symbol cudnnCreateTensorDescriptor",
        "ModuleNotFoundError: No module named 'vllm._C'\nRuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
    ] {
        ends(&torch(), &format!("{}{text}\n", sound()), "probe", Unknown, "error in the text: ");
    }
}

#[test]
fn a_list_of_devices_without_a_gpu_is_one() {
    let tensorflow = stack("tensorflow = \"2.16.1\"");
    let jax = stack("jax = \"0.4.30\"");
    for (locked, text) in [
        (
            &tensorflow,
            ">>> tf.config.list_physical_devices()\n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU'), PhysicalDevice(name='/physical_device:XLA_GPU:0', device_type='XLA_GPU')]",
        ),
        (
            &tensorflow,
            ">>> device_lib.list_local_devices()\n[name: \"/device:CPU:0\"\ndevice_type: \"CPU\"\nmemory_limit: 268435456\nlocality {\n}\n]",
        ),
        (&tensorflow, "Num GPUs: 0"),
        (
            &tensorflow,
            ">>> tf.sysconfig.get_build_info()\nOrderedDict([('is_cuda_build', False), ('is_rocm_build', False)])",
        ),
        (&tensorflow, ">>> tf.test.gpu_device_name()\n''"),
        (&tensorflow, "Default GPU Device: "),
        (&jax, "[TFRT_CPU_0]"),
    ] {
        ends(locked, &format!("{text}\n{}", sound()), "probe", Unknown, "lists no GPU");
        passes(&torch(), &format!("{text}\n{}", sound()));
    }
    for text in [
        ">>> tf.config.list_physical_devices('CPU')\n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]",
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU'), PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]",
        ">>> device_lib.list_local_devices()\n[name: \"/device:CPU:0\"\ndevice_type: \"CPU\"\n, name: \"/device:GPU:0\"\ndevice_type: \"GPU\"\n]",
        ">>> tf.test.gpu_device_name()\n'/device:GPU:0'",
        "Num GPUs: 1",
        "Default GPU Device: /device:GPU:0",
        "OrderedDict([('cuda_version', '12.3'), ('is_cuda_build', True)])",
    ] {
        passes(&tensorflow, &format!("{text}\n{}", sound()));
    }
}

/// The ways in which people list what is installed: the locked build passes, another one does not.
#[test]
fn another_build_does_not_pass_however_it_is_listed() {
    for (line, is_read) in [
        (
            "accelerate==1.3.0\n├── numpy [required: >=1.17,<3.0.0, installed: 1.26.4]\n└── torch [required: >=2.0.0, installed: V]",
            true,
        ),
        ("Requirement already satisfied: torch in /usr/lib/python3.11/dist-packages (V)", true),
        ("Requirement already satisfied: torch>=2.0 in ./site-packages (from accelerate) (V)", true),
        ("myproj v0.1.0\n├── numpy v1.26.4\n├── torch vV\n│   └── triton v3.2.0\n└── transformers v4.48.0", true),
        ("torchaudio 2.5.1+cu121 requires torch==2.5.1, but you have torch V which is incompatible.", true),
        (
            "[[package]]\nname = \"torch\"\nversion = \"V\"\nsource = { registry = \"https://download.pytorch.org/whl/cu124\" }",
            false,
        ),
        (">>> f'{torch.__version__=}'\n\"torch.__version__='V'\"", false),
        ("name,version\ntorch,V", false),
        ("torch版本：V", false),
        ("torch -> V", false),
    ] {
        let beside = |version: &str| format!("{}{}\n", sound(), line.replace('V', version));
        let other = judged(&torch(), &beside("2.5.1+cu121")).status;
        assert!(other == Unknown || is_read && other == Fail, "{line}: {other:?}");
        assert_eq!(judged(&torch(), &beside("2.6.0+cu124")).status, Pass, "{line}");
    }
    let cuda = |cuda: &str| format!("PyTorch build CUDA version: {cuda}\n{}", sound());
    passes(&torch(), &cuda("12.4"));
    assert_eq!(judged(&torch(), &cuda("11.8")).status, Fail);
}

/// <https://github.com/comfyanonymous/ComfyUI/issues/7126>, <https://github.com/comfyanonymous/ComfyUI/issues/7063>
#[test]
fn reports_of_comfyui_are_read() {
    let report = "## System Information\n- **ComfyUI Version:** 0.3.26\n- **OS:** posix\n\
        - **Python Version:** 3.11.9 (main, Feb 12 2025, 14:52:31)\n- **PyTorch Version:** 2.6.0+cu124\n## Devices\n\n\
        - **Name:** cuda:0 NVIDIA GeForce RTX 3090 : cudaMallocAsync\n  - **Type:** cuda\n";
    let log = "pytorch version: 2.6.0+cu124\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 3090 : native\n\
        ** Platform: Linux\n** Python version: 3.11.9 (main, Feb  4 2025, 15:27:58) [GCC 13.3.0]\n";
    for text in [report, log] {
        passes(&torch(), &format!("{text}{}", sound()));
        // Alone it does not tell the driver.
        assert_eq!(judged(&torch(), text).status, Unknown);
        for (from, to, id) in [
            ("2.6.0", "2.5.1", "python-package"),
            ("3.11.9", "3.12.9", "python-version"),
            ("GeForce RTX 3090", "GeForce GTX 1080", "gpu-supported"),
        ] {
            let other = judged(&stack("torch = \"2.6.0+cu124\""), &text.replace(from, to));
            let is_it = |check: &&gpuenv::verify::Check| check.id == id && check.status >= Unknown;
            assert!(other.checks.iter().any(|check| is_it(&check)), "{id}: {other:#?}");
        }
    }
    for windows in [report.replace("posix", "nt"), log.replace("Linux", "Windows")] {
        let verdict = judged(&torch(), &windows);
        assert!(
            verdict.checks.iter().any(|check| check.id == "platform-system" && check.status == Unknown),
            "{verdict:#?}"
        );
    }
}

/// <https://github.com/skypilot-org/skypilot/issues/4404>
#[test]
fn labels_without_a_product_tell_what_it_can_do() {
    let labels = |minor: u32, driver: u32| {
        format!(
            "nvidia.com/cuda.driver.major={driver}\nnvidia.com/cuda.driver.minor=104\nnvidia.com/cuda.driver.rev=12\n\
             nvidia.com/gpu.compute.major=8\nnvidia.com/gpu.compute.minor={minor}\nnvidia.com/gpu.count=4\n"
        )
    };
    passes(&torch(), &labels(6, 535));
    assert_eq!(judged(&torch(), &labels(6, 470)).status, Fail);
}
