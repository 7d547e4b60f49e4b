//! What nobody has read is neither told as there nor as never published: each spec rests on something that the catalog does
//! not know, or on something that it does and that a reading of names alone would miss.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const CASES: &[Case] = &[
    // Of repositories whose list of tags nobody could read no tag is known not to be there.
    case(
        "torch = \"1.5.0\"",
        "gpu = \"V100-SXM2-16GB\"\nimage = \"pytorch/pytorch\"",
        3,
        &["whether pytorch/pytorch has a tag that fits: the list of its tags could not be read"],
    ),
    case("torch = \"2.15.0\"", "gpu = \"H100 PCIe\"\nimage = \"pytorch/pytorch\"", 3, &["has a tag that fits"]),
    case(
        "torch = \"1.5.0\"",
        "gpu = \"RTX 5090\"\nimage = \"pytorch/pytorch\"",
        1,
        &["`torch = \"1.5.0\"` is incompatible with `gpu = \"RTX 5090\"`"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"GTX 1080\"\ndriver = \"450.80.02\"\nimage = \"nvcr.io/nvidia/pytorch\"",
        3,
        &["whether nvcr.io/nvidia/pytorch has a tag that fits"],
    ),
    // For which Python a build of one's own is made is assumed where nobody says so.
    case(
        "torch = { version = \"2.4.0\", cuda = \"12.4\", arch-list = \"9.0\" }\npython = \"3.13\"",
        "gpu = \"H100 PCIe\"",
        0,
        &["python 3.13"],
    ),
    case(
        "torch = { version = \"2.4.0\", cuda = \"12.4\", arch-list = \"9.0\", python = \"3.12\" }\npython = \"3.13\"",
        "gpu = \"H100 PCIe\"",
        1,
        &[],
    ),
    // The cuDNN of an image is that of the torch in it.
    case(
        "torch = \"*\"\ncudnn = \">=9.5\"",
        "gpu = \"H100 PCIe\"\ndriver = \"580\"\nimage = \"nvcr.io/nvidia/pytorch:25.10-py3\"",
        0,
        &["cudnn 9.14.0.64"],
    ),
    case(
        "torch = \"*\"\ncudnn = \">=9.20\"",
        "gpu = \"H100 PCIe\"\ndriver = \"580\"\nimage = \"nvcr.io/nvidia/pytorch:25.10-py3\"",
        1,
        &[],
    ),
    case(
        "torch = \"2.15.0.dev20260901+cu130\"\ncudnn = \"9.26\"",
        "gpu = \"H100 PCIe\"",
        3,
        &["which cuDNN comes with torch 2.15.0.dev20260901+cu130", "arch-list = \"…\", cudnn = \"…\" }`"],
    ),
    // A point release that is not listed is another system, as a release is.
    case("torch = \"2.9.1\"", "gpu = \"H100 PCIe\"\nos = \"sles16.1\"", 0, &["os-not-listed", "judged as `sles16.0`"]),
    // No driver that shows an older CUDA than the hosts' is advised.
    case("torch = \"2.9.1\"", "gpu = \"H100 PCIe\"\ndriver-cuda = \"13.5\"", 0, &["newer-than-catalog", "!595.99.02"]),
    case("torch = \"2.9.1\"", "gpu = \"H100 PCIe\"\ndriver-cuda = \"13.0\"", 0, &["595.99.02"]),
    // What stands for the wheels of all variants needs no older a C library than each of them.
    case(
        "torch = { version = \"2.9.0\", cuda = \"12.9\", arch-list = \"9.0\", python = \"3.12\" }\ntorchvision = \"*\"",
        "gpu = \"H100 PCIe\"\nos = \"rhel7\"",
        1,
        &["needs glibc 2.28 or newer", "!unseen-wheel"],
    ),
    // A wheel that nobody has seen is the last thing to count on, and none that is asked for by its variant.
    case(
        "torch = \"2.14.0\"\ntorchvision = \"*\"",
        "gpu = \"A100\"\ndriver = \"535\"",
        0,
        &["torchvision 0.29.0", "!unseen-wheel"],
    ),
    case(
        "torch = \"2.14.1\"\ntorchvision = \"0.29.1\"",
        "gpu = \"A100\"\ndriver = \"535\"",
        0,
        &["torchvision 0.29.1", "unseen-wheel"],
    ),
    case(
        "torch = \"2.14.1\"\ntorchvision = \"0.29.1+cu126\"",
        "gpu = \"A100\"\ndriver = \"535\"",
        3,
        &["whether torchvision 0.29.1 was published for cu126"],
    ),
    // What the builds before and after it do not come with, one that nobody has seen does not.
    case("torch = \">=2.6\"\ncudnn = \"8\"", "gpu = \"A100\"", 1, &["cuDNN"]),
    case("torch = \"2.15\"\ncudnn = \"9.27\"", "gpu = \"A100\"", 3, &["cuDNN 9.27"]),
    // What `python` says of an image that nobody has read may be wrong.
    case(
        "torch = \"2.9.1\"\npython = \"3.13\"",
        "gpu = \"H100 PCIe\"\nimage = \"pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime\"",
        0,
        &["image-python"],
    ),
    // No version on the package index has a label: what is asked for by one that is no variant lies elsewhere.
    case(
        "jax = \"0.4.25+cuda12.cudnn89\"",
        "gpu = \"A100\"",
        3,
        &["whether jax 0.4.25+cuda12.cudnn89 was published", "change jax from 0.4.25+cuda12.cudnn89 to 0.4.25+cu12"],
    ),
    case("jax = \"0.4.30+cu11\"", "gpu = \"A100\"", 1, &["as cpu and cu12 only"]),
    // A compute capability that no GPU has, or none that is known.
    case(
        "torch = \"*\"",
        "gpu = \"sm_130\"",
        2,
        &["no GPU of compute capability 13.0 is known", "the newest known is 12.1"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"7.6\"",
        2,
        &["no GPU of compute capability 7.6 is known", "known are 7.0, 7.2, 7.5", "!a newer gpuenv"],
    ),
    case("torch = \"2.13\"", "gpu = \"sm_90\"", 0, &[]),
    // The variant of a package is that of its wheel.
    case(
        "torch = \"*\"\nvllm = \"0.33.0+cu129\"",
        "gpu = \"H100 NVL\"",
        3,
        &["whether vllm 0.33.0+cu129 was published"],
    ),
    case(
        "torch = \"*\"\nflash-attn = \"2.8.3+cu12torch2.8\"",
        "gpu = \"H100 NVL\"",
        3,
        &["flash-attn 2.8.3+cu12torch2.8"],
    ),
    // A list of wheels that is not whole may lack newer Pythons than its release was seen with, but not older ones.
    case("torch = \"2.12.1+cu132\"\npython = \"3.15\"", "gpu = \"H100 NVL\"", 3, &["has a wheel for Python 3.15"]),
    case("torch = \"2.9.1+cu126\"\npython = \"3.15\"", "gpu = \"H100 NVL\"", 3, &["has a wheel for Python 3.15"]),
    case("torch = \"2.9.1+cu126\"\npython = \"3.9\"", "gpu = \"H100 NVL\"", 1, &["incompatible"]),
    case("torch = \"2.8.0\"\npython = \"3.15\"", "gpu = \"H100 NVL\"", 1, &["incompatible"]),
    // What an extra pins may have no wheel for a Python that the package itself has one for.
    case("tensorflow = \"2.14\"", "gpu = \"RTX 3090\"", 0, &["3.10"]),
    case(
        "tensorflow = \"2.14.1\"\npython = \"3.11\"",
        "gpu = \"RTX 3090\"",
        1,
        &["what tensorflow[and-cuda] pins has wheels for Python 3.9 and 3.10 only"],
    ),
    // A label that nobody has seen hides nothing that is known.
    case(
        "torch = \"2.5.1\"\ntorchvision = \"0.20.1+xyz\"",
        "gpu = \"H100 NVL\"",
        3,
        &["whether torchvision 0.20.1+xyz was published", "!incompatible"],
    ),
    case(
        "torch = \"2.5.1\"\ntorchvision = \"0.20.1+xyz\"",
        "gpu = \"RTX 5090\"",
        1,
        &["`torch = \"2.5.1\"` is incompatible with `gpu = \"RTX 5090\"`"],
    ),
    case(
        "torch = \"2.9.1\"\nxformers = \"0.0.33.post2+cu121\"",
        "gpu = \"H100 NVL\"",
        1,
        &["torch 2.9.1 was seen for x86_64 as cpu, cu126, cu128, cu129 and cu130", "no builds for CUDA before 12.6"],
    ),
    case("torch = \"2.9.1\"\ntorchvision = \"0.24.1+cu126\"", "gpu = \"H100 NVL\"", 0, &["torch        2.9.1+cu126"]),
    case(
        "torch = \"2.9.1+cu130\"\ntorchvision = \"0.24.1+cu126\"",
        "gpu = \"H100 NVL\"",
        1,
        &["`torch = \"2.9.1+cu130\"` is incompatible with `torchvision = \"0.24.1+cu126\"`"],
    ),
    case(
        "torch = \"*\"\ntorchvision = \"+cpu\"",
        "gpu = \"H100 NVL\"",
        1,
        &[
            "`torchvision = \"+cpu\"` is incompatible with `gpu = \"H100 NVL\"`",
            "allow any torchvision instead of +cpu",
        ],
    ),
    case("torch = \"*\"\ntorchvision = \"0.20.1+cpu\"", "arch = \"x86_64\"", 0, &["torch        2.5.1+cpu"]),
    // GPU code of packages that follow no framework binds too. Sources: github.com/microsoft/onnxruntime/issues/26221
    // ("1.22.0 works, 1.23.0 fails" on an RTX 5090), github.com/Di-Is/faiss-gpu-wheels/issues/110.
    case(
        "onnxruntime-gpu = \"1.23.0\"",
        "gpu = \"RTX 5090\"",
        1,
        &["onnxruntime-gpu 1.23.0 holds code for sm_60", "change onnxruntime-gpu from 1.23.0 to 1.23.2"],
    ),
    case("onnxruntime-gpu = \"1.22.0\"", "gpu = \"RTX 5090\"", 0, &[]),
    case("faiss-gpu-cu12 = \"1.12.0\"", "gpu = \"RTX 5080\"", 1, &["holds code for sm_70, sm_80 only"]),
    // What the C library of a system refuses is told of what is refused, and not of a torch that runs there.
    // Source: github.com/vllm-project/vllm/issues/6562.
    case(
        "vllm = \"0.5.2\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["vllm 0.5.2 needs glibc", "!to 2.15.0 need glibc"],
    ),
    // What a release pins may be compiled, as was seen: that is told. What has no source, or needs more than a C compiler, is
    // refused. Sources: github.com/studio-dots-ai/dots.ocr/issues/35, `uv pip compile --no-build` of vllm 0.33.0 for manylinux_2_28.
    case(
        "vllm = \"0.8.5.post1\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        0,
        &[
            "[source-only]",
            "xformers 0.0.29.post2, which vllm 0.8.5.post1 pins, has no wheel for glibc 2.17: pip compiles it",
        ],
    ),
    case("vllm = \"0.8.5.post1\"", "gpu = \"A100\"\nos = \"rocky8\"", 0, &["!source-only"]),
    case("vllm = \"0.7.3\"", "gpu = \"A100\"\nos = \"centos7\"", 1, &["pins xgrammar 0.1.11"]),
    case("vllm = \"*\"", "gpu = \"A100\"\nos = \"rocky8\"", 0, &["vllm 0.21.0"]),
    case(
        "vllm = \"0.33.0\"",
        "gpu = \"A100\"\nos = \"rocky8\"",
        1,
        &["llguidance 1.7 or newer, whose wheels need glibc 2.31", "to 0.21.0"],
    ),
    case("vllm = \"0.33.0\"", "gpu = \"A100\"\nos = \"ubuntu20.04\"", 0, &["vllm 0.33.0"]),
    // A package that pins its torch is told with that torch. Source: github.com/vllm-project/vllm/issues/23307.
    case(
        "vllm = \"0.8.5.post1\"",
        "gpu = \"RTX 5090\"",
        1,
        &["vllm 0.8.5.post1 requires torch 2.6.0", "!builds of torch"],
    ),
    // The cuda-compat of an image may be too new for a board. Source: github.com/jax-ml/jax/issues/15961.
    case(
        "torch = \"1.13.1+cu117\"",
        "gpu = \"K80\"\ndriver = \"470.182.03\"\nimage = \"nvidia/cuda:11.8.0-cudnn8-devel-ubuntu18.04\"",
        0,
        &["[image-compat]", "of driver branch R520, which no longer drives K80"],
    ),
    // A nightly is what a range admits, and not what a pin does. Source: github.com/PsycheFoundation/nousnet/pull/208.
    case("torch = \"2.8.0.dev20250601+cu128\"\nbitsandbytes = \"0.46.0\"", "gpu = \"H100 NVL\"", 0, &["[nightly]"]),
    case(
        "torch = { version = \"2.8.0a0+git1\", cuda = \"12.8\", arch-list = \"9.0\", python = \"3.12\" }\ndeepspeed = \"*\"",
        "gpu = \"H100 NVL\"",
        0,
        &[],
    ),
    case("torch = \"2.8.0.dev20250601+cu128\"\ntorchvision = \"0.23.0\"", "gpu = \"H100 NVL\"", 1, &[]),
    // What stands where a listing was not read may have been published. Sources: pypi.org/project/numba-cuda lists 0.18.1,
    // github.com/NVIDIA/TensorRT-LLM/issues/1861 runs 0.11.0, github.com/NVIDIA/TensorRT/issues/3826 recommends 9.1.0.
    case("numba-cuda = \">=0.16,<0.19\"", "gpu = \"H100 NVL\"", 3, &["numba-cuda >=0.16,<0.19 was published"]),
    case("tensorrt-llm = \"0.11.0\"", "gpu = \"H100 NVL\"", 3, &["whether tensorrt-llm 0.11.0 was published"]),
    case("tensorrt = \"9.1.0\"", "gpu = \"H100 NVL\"", 3, &["tensorrt 9.1.0"]),
    // Whether there is such a wheel nobody knows; what its CUDA compiles for everybody does.
    case("torch = \"2.15.0+cu130\"", "gpu = \"TITAN V\"", 1, &["CUDA 13.0 compiles for sm_75, sm_80"]),
    case(
        "torch = \"2.15.0+cu130\"\ncupy-cuda12x = \"*\"",
        "gpu = \"H100\"",
        1,
        &["loads the libraries of CUDA 12", "built for CUDA 13.0", "sets `torch = \"2.15.0+cu130\"`"],
    ),
    case(
        "torch = \"2.15.0+cu130\"\npython = \"3.8\"",
        "gpu = \"H100\"",
        1,
        &[
            "torch 2.15.0+cu130 was not seen: it is judged by the builds next to it",
            "torch 2.14.1+cu130 has wheels for Python 3.10 to 3.14",
        ],
    ),
    case(
        "torch = \"2.15.0+cu130\"",
        "gpu = \"H100\"\nos = \"centos7\"",
        1,
        &["judged by the builds next to it", "torch 2.14.1+cu130 needs glibc 2.28 or newer"],
    ),
    case(
        "torch = \"2.15.0+cu130\"\ntensorflow = \"2.15\"",
        "gpu = \"H100\"\n[build]",
        1,
        &["same major, 12", "sets `torch = \"2.15.0+cu130\"`"],
    ),
    case("vllm = \"0.20.99\"", "gpu = \"H100 NVL\"", 1, &["vllm 0.20.99 is not on its index as of 2026-"]),
    case("torch = \"2.5.9\"", "gpu = \"H100 NVL\"", 1, &["torch 2.5.9 is not on its index as of 2025-07-01"]),
    case(
        "sgl-kernel = \"0.3.8\"\ntorch = \"2.5.1\"",
        "gpu = \"RTX 5090\"",
        1,
        &["`torch = \"2.5.1\"` is incompatible with `gpu = \"RTX 5090\"`", "!sgl-kernel 0.3.8 was"],
    ),
    // Packages give up old machines, so what fits none of the releases that were read may fit one before them. Sources:
    // github.com/fastai/fastai/issues/440 (torch 0.3.0 ran there), docs.jax.dev: jaxlib for CUDA 11 until 0.4.25,
    // github.com/deepinsight/insightface/issues/1736; of onnxruntime-gpu the index has no older release.
    case("torch = \"*\"", "gpu = \"Quadro K2000M\"", 3, &["whether a torch older than 0.4.1 fits"]),
    case("jax = \"*\"", "gpu = \"RTX 3090\"\ndriver = \"470\"", 3, &["whether a jax older than 0.4.23 fits"]),
    case("lmcache = \"*\"", "gpu = \"V100\"\nos = \"centos7\"", 3, &["whether a lmcache older than"]),
    case("onnxruntime-gpu = \"*\"", "gpu = \"GTX 1080 Ti\"\ndriver = \"440.100\"", 1, &[]),
    case("jax = \">=0.5\"", "gpu = \"RTX 3090\"\ndriver = \"470\"", 1, &[]),
    case("vllm = \"*\"", "gpu = \"Tesla K80\"\ndriver = \"470\"", 1, &["!older than"]),
    // None of vllm's releases goes with a torch of 2018, and none of CUDA 12.6 is as old as that.
    case("torch = \"*\"\nvllm = \"*\"", "gpu = \"GTX 580\"", 1, &["none holds code for it", "!older than"]),
    case("torch = \"+cu126\"", "gpu = \"GTX 580\"", 1, &["hold code for", "!older than"]),
    // The oldest that was read is for this Python already: an older one knows no newer GPU.
    case("torch = \"*\"\npython = \"2.7\"", "gpu = \"H100 NVL\"", 1, &["!older than"]),
    case("jax = \"*\"\npython = \"3.8\"", "gpu = \"A100\"", 3, &["whether a jax older than 0.4.23 fits"]),
    case("jax = \"*\"\npython = \"3.9\"", "gpu = \"A100\"", 0, &[]),
    // Listings tell of releases only. Sources: github.com/tensorflow/tensorflow/issues/66987 and 121157,
    // github.com/AI-Hypercomputer/maxtext/issues/1509.
    case("tensorflow = \"2.17.0.dev20240504\"", "gpu = \"RTX 3080\"", 3, &["not what precedes them"]),
    case("tensorflow = \"2.22.0.dev20260530\"", "gpu = \"RTX 3080\"", 3, &["not what precedes them"]),
    case("tensorflow = \"2.6.0rc1\"", "gpu = \"RTX 3080\"", 3, &["whether tensorflow 2.6.0rc1 was published"]),
    case("jax = \"0.6.0.dev20250401\"", "gpu = \"RTX 3080\"", 3, &["not what precedes them"]),
    case("torch = \"2.9.0rc3\"", "gpu = \"RTX 3080\"", 3, &["whether torch 2.9.0rc3 was published"]),
    // Source: github.com/PaddlePaddle/PaddleX/issues/4682 installs it from Paddle's own index.
    case("paddlepaddle-gpu = \"3.2.0\"", "gpu = \"H100 NVL\"", 3, &["its project keeps releases at"]),
    // What is above a bound that the newest release begins with is newer than it.
    case("torch = \">2.15\"", "gpu = \"H100 NVL\"", 1, &["[newer-than-catalog]", "`>=2.15` takes them"]),
    // A number of the hosts that nothing is known to have is told as such, and judged as what is nearest.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\ndriver-cuda = \"12.99\"",
        0,
        &["[newer-than-catalog]", "no driver shows CUDA 12.99", "judged as 12.9"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ndriver-cuda = \"12.2\"", 0, &["!newer-than-catalog"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nglibc = \"2.99\"", 0, &["no system has glibc 2.99"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nglibc = \"2.33\"", 0, &["!newer-than-catalog"]),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\ndriver = \">=600\"",
        0,
        &["[driver-not-listed]", "driver branch R600 is not in the catalog; 600 is judged as branch R610"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ndriver = \">=535,<600\"", 0, &["!driver-not-listed"]),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\ntoolkit = \"12.99\"\n[build]",
        1,
        &["no CUDA toolkit 12.99 is known; the nearest are 12.9.2 and 13.0.0", "change toolkit from 12.99 to 12.9;"],
    ),
    case("cuda = \"12.99\"", "gpu = \"A100\"", 1, &["change cuda from 12.99 to 12.9"]),
    // Which Pythons a build has is known only where all its indexes were read whole.
    case(
        "torch = \"2.14.1+cu130\"\npython = \"3.15\"",
        "gpu = \"H100 NVL\"",
        3,
        &["whether torch 2.14.1+cu130 has a wheel for Python 3.15"],
    ),
    case(
        "torch = \"2.14.1+cu130\"\npython = \"3.15\"",
        "gpu = \"GH200 480GB\"",
        3,
        &["whether torch 2.14.1+cu130 has a wheel for Python 3.15"],
    ),
    // NVIDIA's wheels for one JetPack are not those for another: torch 1.6.0 was made for 4.4, 1.11.0 for 4.6.1. Source:
    // forums.developer.nvidia.com/t/72048.
    case(
        "torch = \"1.6\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack4.4.1\"",
        3,
        &["whether torch 1.6 was built for jetpack4.4", "!os-not-listed"],
    ),
    case("torch = \"*\"", "gpu = \"Jetson Nano\"\nos = \"jetpack4.5.1\"", 3, &["was built for jetpack4.5", "!locked"]),
    // What a framework leaves open is not what compiles wrongly for the GPU. Source: github.com/jax-ml/jax/pull/25091.
    case("jax = \"0.4.34\"", "gpu = \"H100 NVL\"\ndriver = \"535\"", 0, &["cuda 12.6.3"]),
    case("jax = \"0.4.34\"", "gpu = \"A100\"\ndriver = \"535\"", 0, &["cuda 12.2.2"]),
    // What boards need beside a driver, by the names that people write.
    case("torch = \"2.9.1\"", "gpu = \"H200\"", 0, &["requires nvidia-fabricmanager on machines with NVSwitches"]),
    case("torch = \"2.9.1\"", "gpu = \"V100-SXM3-32GB\"", 0, &["requires nvidia-fabricmanager", "!on machines"]),
    // A driver is nothing to a machine without a GPU.
    case("torch = \"2.8\"", "gpu = \"none\"\ndriver = \"550\"", 0, &["[unused-key]", "`driver` decides nothing here"]),
    case("torch = \"2.8\"", "gpu = \"none\"\ndriver-cuda = \"12.4\"", 0, &["`driver-cuda` decides nothing here"]),
    case("torch = \"2.8\"", "gpu = \"L4\"\ndriver = \"550\"", 0, &["!unused-key"]),
    case("torch = \"2.8\"", "driver = \"550\"", 0, &["!unused-key"]),
    // The Python to write is named. Source: pypi.org/project/torch/2.5.1 (triton for Python before 3.13).
    case(
        "torch = \"2.5\"\npython = \"3.13\"",
        "gpu = \"A100\"",
        0,
        &["`python = \"3.12\"` under [stack] is the newest with which it does"],
    ),
    case(
        "torch = \"2.3\"\npython = \"3.12\"",
        "gpu = \"A100\"",
        0,
        &["`python = \"3.11\"` under [stack] is the newest with which it does"],
    ),
    case("torch = \"2.4\"", "gpu = \"A100\"", 0, &["!triton-python"]),
    case("torch = \"2.9.1\"", "gpu = \"H200 NVL\"", 0, &["!nvidia-fabricmanager"]),
    case("torch = \"2.9.1\"", "gpu = \"H100\"", 0, &["!nvidia-fabricmanager"]),
    case(
        "torch = \"2.9.1\"",
        "gpu = \"GB200\"\nruntime = \"container\"",
        0,
        &["requires nvidia-container-toolkit>=1.14.6, nvidia-imex"],
    ),
    // What nothing can meet is no conflict of machines.
    case("torch = \">2.6,<2.5\"", "gpu = \"H100 NVL\"", 2, &["[empty-constraint]"]),
    case("torch = \"2.5.1,2.6\"", "gpu = \"H100 NVL\"", 2, &["[empty-constraint]", "`2.5.1 || 2.6`"]),
    case("torch = \">2,<2.5\"", "gpu = \"H100 NVL\"", 2, &["write `>=2`"]),
    // Source: github.com/SWivid/F5-TTS installs it; it is for AMD's boards.
    case("torch = \"2.5.1+rocm6.2\"", "gpu = \"H100 NVL\"", 2, &["is for AMD's GPUs", "!published"]),
    case("torch = \"+xpu\"", "gpu = \"none\"", 2, &["is for Intel's GPUs"]),
    // Every board of some capabilities comes with an Arm processor.
    case("torch = \"*\"", "gpu = \"sm_110\"", 0, &["torch        2.15.0"]),
    // A family is every product that its name begins.
    case("torch = \"*\"", "gpu = \"Titan\"", 2, &["[ambiguous-gpu]", "TITAN V"]),
    case("torch = \"*\"", "gpu = \"RTX PRO 6000\"", 0, &["arch-list    12.0"]),
    // Wheels for a JetPack lie where nobody has read all of them. Source: github.com/dusty-nv/jetson-containers/issues/1283.
    case(
        "onnxruntime-gpu = \"*\"\npython = \"3.10\"",
        "gpu = \"Jetson Orin NX 16GB\"\nos = \"jetpack6.2\"",
        3,
        &["was built for jetpack6.2", "pypi.jetson-ai-lab.io"],
    ),
    // Sources: github.com/microsoft/onnxruntime/issues/12523 (cp36 for a Jetson Nano), github.com/vllm-project/vllm/issues/15169.
    case(
        "onnxruntime-gpu = \"1.11.0\"\npython = \"3.6\"",
        "gpu = \"Jetson Nano\"\nos = \"jetpack4.6\"",
        3,
        &["whether onnxruntime-gpu 1.11.0 was built for jetpack4.6", "!x86_64"],
    ),
    case("onnxruntime-gpu = \"1.11.0\"", "gpu = \"Jetson Nano\"", 3, &["for the JetPack of its"]),
    case(
        "torch = \"2.6.0+cu126\"\npython = \"3.10\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"",
        3,
        &["whether torch 2.6.0 was built for jetpack6.2"],
    ),
    // Source: github.com/dusty-nv/jetson-containers/issues/1403 (540.4.0 shows CUDA 12.6).
    case(
        "",
        "gpu = \"Jetson AGX Orin 64GB\"\ndriver = \"540.4.0\"\nimage = \"example/a:1\"\nimage-requires = \"cuda>=12.6\"\n[build]",
        0,
        &[],
    ),
    case(
        "",
        "gpu = \"Jetson AGX Orin 64GB\"\ndriver = \"540.4.0\"\nimage = \"example/a:1\"\nimage-requires = \"cuda>=13.0\"\n[build]",
        1,
        &["driver 540.4.0, which comes with a JetPack, supports CUDA up to 12.6"],
    ),
    // A branch is no Jetson's number, though 580.00 is one.
    case("torch = \"2.9\"", "gpu = \"H100 NVL\"\ndriver = \"580\"", 0, &["recommended  driver"]),
    // Two frameworks that need another cuDNN each. Source: github.com/AlphaGPU/leetgpu-challenges/issues/205.
    case(
        "jax = \"0.8.0\"\ntorch = \"2.7.1+cu126\"",
        "gpu = \"H100 NVL\"",
        1,
        &["exactly CUDA 12.6 and cuDNN 9.5.1.17"],
    ),
    // What is required compiles kernels when they are first used. Source: github.com/meta-pytorch/torchforge/pull/748.
    case(
        "vllm = \"0.13.0\"",
        "gpu = \"A10G\"\nimage = \"nvidia/cuda:12.8.1-base-ubuntu24.04\"",
        0,
        &["flashinfer-python 0.5.3, which vllm 0.13.0 requires, compiles"],
    ),
    case("vllm = \"0.13.0\"", "gpu = \"A10G\"\nimage = \"nvidia/cuda\"\n[build]", 0, &["-devel-", "!runtime-image"]),
    // The same of what comes as source. Source: github.com/deepspeedai/DeepSpeed/issues/3223 (no nvcc in a runtime image).
    case(
        "torch = \"2.6\"\ndeepspeed = \"*\"",
        "gpu = \"H100\"\nimage = \"nvidia/cuda\"\n[build]",
        0,
        &["-devel-", "comes as source only", "!runtime-image"],
    ),
    // An overridden rule about drivers leaves no minimum to state.
    case(
        "torch = \"2.7.1+cu126\"",
        "gpu = \"H100 NVL\"\n[[override]]\nrule = \"cuda-12-driver\"\nreason = \"tried\"",
        0,
        &["`cuda-12-driver` is overridden, so the target has no driver minimum"],
    ),
    // A library of which no release is called so comes with no unseen build either.
    case("torch = \"*\"\nnccl = \"2.99\"", "gpu = \"H100 NVL\"", 1, &["no known release of nccl matches `2.99`"]),
    // No such release of a line that is known, where nothing is installed but wheels of the line.
    case(
        "torch = \"*\"\ncuda = \"12.8.7\"",
        "gpu = \"H100 NVL\"",
        1,
        &["no known release of cuda matches `12.8.7`; the nearest are 12.8.2 and 12.9.0"],
    ),
    case("torch = \"*\"\ncudnn = \"9.99\"", "gpu = \"H100 NVL\"", 1, &["no known release of cudnn matches `9.99`"]),
    // The drivers of Jetsons are numbered by themselves. Source: github.com/vllm-project/vllm/issues/34470 (Thor, driver
    // 580.00, torch 2.10.0+cu130, "Is CUDA available: True").
    case(
        "torch = \"2.10.0+cu130\"\npython = \"3.12\"",
        "gpu = \"NVIDIA Thor\"\ndriver = \"580.00\"",
        0,
        &["torch      2.10.0+cu130"],
    ),
    case(
        "torch = \"2.10.0+cu130\"\npython = \"3.12\"",
        "gpu = \"NVIDIA Thor\"\ndriver = \"580.00\"\nos = \"jetpack7.0\"",
        0,
        &[],
    ),
    case("torch = \"2.8.0\"", "gpu = \"Orin\"\ndriver = \"540.4.0\"\nos = \"jetpack6.2\"", 0, &[]),
    // As where the JetPack of that driver is named.
    case("torch = \"2.9.0+cu130\"", "gpu = \"Jetson AGX Orin\"\ndriver = \"540.4.0\"", 3, &["for the JetPack of its"]),
    case("torch = \"*\"\ntorchvision = \"+cu999\"", "gpu = \"RTX 4090\"", 3, &["whether torchvision +cu999"]),
    // What is made for a JetPack lies on no index. torch 2.7.0 for JetPack 6.2 is named in public scripts.
    case(
        "torch = \"2.7.0\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"",
        3,
        &["whether torch 2.7.0 was built for jetpack6.2", "jetson-ai-lab"],
    ),
    // Python 3.8 is the one of JetPack 5, but of what others built for it nobody has read a list. Source: github.com/dusty-nv/jetson-inference/issues/1932
    case("torch = \"2.1.0\"\npython = \"3.10\"", "gpu = \"Orin\"\nos = \"jetpack5.1\"", 3, &[]),
    // Of the newest releases not all images were listed; of older ones all were.
    case(
        "torch = \"2.15.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:13.4.0-devel-ubuntu24.04\"",
        3,
        &["whether `nvidia/cuda:13.4.0-devel-ubuntu24.04` exists", "image-requires"],
    ),
    case(
        "torch = \"2.15.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:13.4.0-base-ubuntu24.04\"\nimage-requires = \"\"",
        0,
        &["[image-not-checked]"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"L4\"\nimage = \"nvidia/cuda:12.4.9-base-ubuntu22.04\"", 1, &["has no tag"]),
    // What an image requires does not tell which torch it holds.
    case(
        "torch = \"*\"",
        "gpu = \"H100 NVL\"\nimage = \"nvcr.io/nvidia/pytorch:26.12-py3\"\nimage-requires = \"cuda>=13.0\"",
        0,
        &["[two-torches]", "[image-not-checked]"],
    ),
    // Each branch of a list occurs, known or not.
    case(
        "torch = \"2.9.1+cu126\"",
        "gpu = \"V100-SXM2-16GB\"\ndriver = [\"580\", \"620\"]",
        1,
        &["Branch 580 is the last", "`driver` lists 620"],
    ),
    case("torch = \"2.9.1+cu126\"", "gpu = \"A100\"\ndriver = [\"580\", \"620\"]", 0, &["[driver-not-listed]"]),
    // What is older than the catalog may have been published. Sources: github.com/jax-ml/jax/releases (0.4.9),
    // github.com/sgl-project/sglang/releases (0.4.2).
    case("jax = \"0.4.9\"", "gpu = \"A100\"", 3, &["jax 0.4.9, which is older than the catalog"]),
    case(
        "torch = \"2.5.1\"\nsglang = \"0.4.2\"",
        "gpu = \"A100\"",
        3,
        &["sglang 0.4.2, which is older", "!torch 2.5.1 req"],
    ),
    case(
        "torch = \"2.9\"\nsglang = \"0.4.2\"",
        "gpu = \"A100\"\ndriver = \"390\"",
        1,
        &["`torch = \"2.9\"` is incompatible with `driver = \"390\"`"],
    ),
    case("torch = \"1.99\"", "gpu = \"A100\"", 1, &["torch 1.99 is not on its index"]),
    // CUDA 7.5 was published in 2015: the catalog begins later, and says nothing of it. What a framework brings is known.
    case("cuda = \"7.5\"", "gpu = \"Tesla K40c\"", 3, &["cuda 7.5, which is older than the catalog"]),
    case("cuda = \"7.5\"\ntorch = \"1.4\"", "gpu = \"Tesla K40c\"", 1, &["`cuda = \"7.5\"`"]),
    case("cuda = \">=9\"\ncudnn = \"4\"", "gpu = \"Tesla K40c\"", 3, &["cudnn 4, which is older than the catalog"]),
    // Which cuDNN an image holds nobody has read; its tag tells the major. Source: github.com/tensorflow/tensorflow/issues/53755
    // (TensorFlow 2.5 in this image).
    case(
        "tensorflow = \"2.5\"\npython = \"3.6\"",
        "gpu = \"GeForce RTX 3070\"\nimage = \"nvidia/cuda:11.2.2-cudnn8-devel-ubuntu18.04\"",
        0,
        &["it is not known which one nvidia/cuda:11.2.2-cudnn8-devel-ubuntu18.04 holds"],
    ),
    case(
        "cudnn = \"9\"\ncuda = \"13.1\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:13.1.1-cudnn-devel-ubuntu24.04\"\n[build]",
        3,
        &["which cuDNN `nvidia/cuda:13.1.1-cudnn-devel-ubuntu24.04` holds"],
    ),
    case(
        "cudnn = \"9\"\ncuda = \"11.2\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:11.2.2-cudnn8-devel-ubuntu18.04\"",
        1,
        &[],
    ),
    // An instance or a type of a board that runs no CUDA.
    case("torch = \"*\"", "gpu = \"NVIDIA L40S-2B\"", 2, &["unknown GPU", "series A and B run no CUDA"]),
    case("torch = \"*\"", "gpu = \"GRID T4-16Q\"", 0, &[]),
    case("torch = \"*\"", "gpu = \"NVIDIA GeForce RTX 4090 MIG 1g.10gb\"", 2, &["unknown GPU", "no MIG instances"]),
    case("torch = \"*\"", "gpu = \"NVIDIA B200 MIG 1g.23gb\"", 0, &[]),
    case(
        "torch = \"*\"",
        "gpu = \"NVIDIA R9000 MIG 1g.23gb\"",
        2,
        &["unknown GPU", "any GPU can be named by its compute capability"],
    ),
    // On the PyTorch index, read from public lists of files. Source: github.com/unslothai/unsloth/pull/6955
    case("torch = \"2.12.1+cu130\"\nxformers = \"0.0.35\"", "gpu = \"H100 NVL\"", 0, &["xformers"]),
    // A Python that nobody has read is told also where a range is written: it is taken to be that of the release before.
    case(
        "torch = \"2.9.1\"\npython = \">=3.10\"",
        "gpu = \"H100 NVL\"\nimage = \"pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime\"",
        0,
        &["[image-python]", "3.11 was assumed"],
    ),
    // What was made for a JetPack lies on no list that anybody has read: neither before nor after what is known.
    case(
        "torch = \"2.2.0\"",
        "gpu = \"Jetson Orin NX\"\nos = \"jetpack6.0\"",
        3,
        &["torch 2.2.0 was built for jetpack6.0"],
    ),
    case("torch = \"1.10.0\"", "gpu = \"Jetson Nano\"\nos = \"jetpack4.6\"", 3, &["torch 1.10.0 was built for"]),
    // A cuDNN that was seen for one CUDA only, between releases that were seen for both.
    case(
        "jax = \"0.7.0\"\ncuda = \"12\"\ncudnn = \"9.19.1\"",
        "gpu = \"H100 NVL\"",
        3,
        &["whether cuDNN 9.19.1.2 was published for CUDA 12"],
    ),
    // Only what is compiled against one release of torch cannot stand beside an image's own.
    case(
        "torch = \"*\"\ntorchvision = \"0.24\"",
        "gpu = \"H100 NVL\"\nimage = \"nvcr.io/nvidia/pytorch:25.10-py3\"",
        1,
        &["wheels of torchvision are built for published releases of torch"],
    ),
    case(
        "torch = \"*\"\ncupy-cuda12x = \"*\"",
        "gpu = \"H100 NVL\"\nimage = \"nvcr.io/nvidia/pytorch:25.10-py3\"",
        1,
        &["loads the libraries of CUDA 12"],
    ),
    // JAX compiles for the GPU itself; from which release on it knows Blackwell was not read.
    case(
        "jax = \"0.5.0\"",
        "gpu = \"RTX 5090\"\ndriver = \"580\"",
        0,
        &["[unknown-gpu-code]", "not known whether jax 0.5.0+cu12 computes on", "!jit-only"],
    ),
    // Source: github.com/NVIDIA/nvidia-container-toolkit/issues/520.
    case(
        "torch = \"2.3.1\"",
        "gpu = \"RTX 4090\"\nplatform = \"wsl2\"\ndriver = \"555.85\"\nruntime = \"container\"",
        0,
        &["nvidia-container-toolkit>=1.14.4"],
    ),
    case(
        "torch = \"2.3.1\"",
        "gpu = \"RTX 4090\"\nplatform = \"wsl2\"\ndriver = \"552.44\"\nruntime = \"container\"",
        0,
        &["!nvidia-container-toolkit"],
    ),
    case(
        "torch = \"2.3.1\"",
        "gpu = \"RTX 4090\"\nplatform = \"wsl2\"\ndriver = \"555.85\"",
        0,
        &["!nvidia-container-toolkit"],
    ),
];

#[test]
fn what_nobody_has_read_is_neither_a_yes_nor_a_never() {
    hold("world", CASES);
}

/// What computes on the CPU asks for no driver, whichever its hosts have; a CUDA build for the same hosts does.
#[test]
fn a_cpu_build_asks_for_no_driver() {
    for (torch, target, asks) in [
        ("2.5.1+cpu", "driver = \"535\"", false),
        ("2.5.1+cpu", "driver = \"535\"\nimage = \"ubuntu:22.04\"", false),
        ("2.5.1", "driver = \"535\"", true),
    ] {
        let sandbox = Sandbox::new("cpu-driver", &format!("[stack]\ntorch = \"{torch}\"\n[target.a]\n{target}\n"));
        let (code, told) = sandbox.json(&["lock"]);
        assert_eq!((code, told["targets"]["a"]["driver"]["minimum"].is_string()), (0, asks), "{torch} {target} {told}");
    }
}

#[test]
fn a_range_of_an_ordinary_package_that_admits_nothing_is_an_error() {
    let spec = "[stack]\ntorch = \"2.6.0\"\n[packages]\nnumpy = \"<2,>=2.1\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n";
    let sandbox = crate::common::sandbox::Sandbox::new("empty-package", spec);
    sandbox.run(&["lock"]).exits(2).says("`numpy = \"<2,>=2.1\"` admits no version");
}
