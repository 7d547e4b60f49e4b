//! Answers that were wrong once: each case is a law that was missing.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

/// A spec of torch on an A100 in a container.
fn in_image(image: &str) -> String {
    format!("[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.t]\ngpu = \"A100\"\nimage = \"{image}\"\n")
}

fn lock_of(place: &Sandbox) -> String {
    std::fs::read_to_string(place.path("gpuenv.lock")).unwrap()
}

#[test]
fn an_image_stays_as_it_is_spelt() {
    let digest = format!("@sha256:{}", "0a".repeat(32));
    for (at, (written, locked)) in [
        ("docker.io/nvidia/cuda", "docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04"),
        ("index.docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04", ""),
        ("docker.io/library/ubuntu:22.04", ""),
        (&*format!("docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04{digest}"), ""),
        (&format!("docker.io/nvidia/cuda{digest}"), ""),
        ("nvcr.io/nvidia/cuda", "nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04"),
    ]
    .into_iter()
    .enumerate()
    {
        let place = Sandbox::new(&format!("spelt-{at}"), &in_image(written));
        place.run(&["lock"]).exits(0);
        let locked = if locked.is_empty() { written } else { locked };
        assert!(lock_of(&place).contains(&format!("target.t.image = \"{locked}\"\n")), "{written}");
        place.run(&["export", "dockerfile"]).exits(0).tells(&format!("FROM {locked}"));
        place.run(&["lock", "--check"]).exits(0);
    }
    // So is one that a fix proposes.
    let place = Sandbox::new("spelt-fix", &in_image("docker.io/nvidia/cuda:12.4.9-base-ubuntu22.04"));
    place.run(&["lock"]).exits(1).says("to docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04");
}

const CASES: &[Case] = &[
    // What jax loads is of the line that compiles beside it, not of the newest one that the driver knows.
    case(
        "jax = \"0.8.*\"\n[build]",
        "gpu = \"H100\"\ndriver = \"595\"\ntoolkit = \"13.0\"\nos = \"ubuntu24.04\"",
        0,
        &["lock: package = \"nvidia-cuda-runtime\", version = \"13.0."],
    ),
    // One release of two is older than what was read of the listing.
    case(
        "cudf-cu12 = \"==24.2.1 || ==25.1.7\"",
        "gpu = \"H100\"",
        3,
        &["the list of its releases was read from 24.12.0 on"],
    ),
    case("cudf-cu12 = \"==25.1.6 || ==25.1.7\"", "gpu = \"H100\"", 1, &["is not on its index"]),
    // Of two frameworks each is told with its own versions.
    case(
        "torch = \"1.9\"\njax = \"0.6\"",
        "gpu = \"T4\"",
        1,
        &[
            "jax 0.6.0 to 0.6.",
            "for Python 3.10 to ",
            "torch 1.9.0 to 1.9.1 (",
            "for Python 3.6 to 3.9 only",
            "!jax 0.6.0 to 1.9.1",
        ],
    ),
    case(
        "jax = \"0.6\"\ntensorflow = \"2.10\"",
        "gpu = \"T4\"\n[build]",
        1,
        &["same major, 12", "tensorflow 2.10.0 to 2.10.1 compile", "same major, 11", "!jax 0.6.0 to 2.10.1"],
    ),
    // No release has a fourth number, whichever it begins with.
    case(
        "torch = \"2.6\"\ncuda = \"12.4.1.5\"",
        "gpu = \"T4\"",
        1,
        &["matches `12.4.1.5`; the nearest are 12.4.1 and"],
    ),
    // PTX is of the highest architecture of a list that is written, too.
    case("torch = \"2.6\"", "gpu = \"H100\"\n[build]\nptx = true\narch-list = \"8.0;9.0\"", 0, &["8.0;9.0+PTX"]),
    // Nobody has the driver `*`.
    case("torch = \"2.6\"", "gpu = \"T4\"\ndriver = \"*\"", 0, &["!you have"]),
    case("torch = \"2.6\"", "gpu = \"T4\"\ndriver = \"550\"", 0, &["you have 550"]),
    // Docker's official images on Alpine say so in their names; what others made may bring glibc along.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"alpine:3.19\"",
        1,
        &["a manylinux tag", "alpine:3.19 holds Alpine Linux", "uses musl instead of glibc"],
    ),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"docker.io/library/python:3.12-alpine3.19\"",
        1,
        &["docker.io/library/python:3.12-alpine3.19 holds Alpine Linux"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nimage = \"python:3.12-slim\"", 0, &["image-not-checked"]),
    // So do those on other systems.
    case("torch = \"2.7.0\"", "gpu = \"A100\"\nimage = \"centos:7.9.2009\"", 1, &["RHEL / CentOS 7 has glibc 2.17"]),
    case("torch = \"2.7.0\"", "gpu = \"A100\"\nimage = \"node:16-stretch\"", 1, &["Debian 9 has glibc 2.24"]),
    case(
        "torch = \"2.7.0\"",
        "gpu = \"A100\"\nimage = \"ubuntu:jammy-20240111\"",
        0,
        &["its system, Ubuntu 22.04 LTS"],
    ),
    case("torch = \"2.7.0\"", "gpu = \"A100\"\nimage = \"acme/centos:7\"", 0, &["nothing is known of image"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nimage = \"acme/python:3.12-alpine\"", 0, &["image-not-checked"]),
    // What was not published was not on a day.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.6.3-base-ubuntu26.04\"",
        1,
        &["has no tag `12.6.3-base-ubuntu26.04` as of 2025-12", "facts: image nvidia/cuda:12.6.3-base-ubuntu22.04"],
    ),
    case(
        "torch = \"2.5.1+cu92\"",
        "gpu = \"A100\"",
        1,
        &["as cpu, cu118, cu121 and cu124 only as of 2025-07-01", "listing torch"],
    ),
    case(
        "torch = \"2.5.1\"\npython = \"3.14\"",
        "gpu = \"A100\"",
        1,
        &["for Python 3.9 to 3.13 only as of 2026-11-20"],
    ),
    case("vllm = \"0.8.5\"", "gpu = \"GH200\"", 1, &["has wheels for x86_64 only as of 2026-"]),
    case(
        "tensorflow = \"2.18\"",
        "gpu = \"GH200\"",
        1,
        &[
            "without CUDA only as of 2026-",
            "no release of tensorflow is known that was published for aarch64 with CUDA",
        ],
    ),
    // A release of CUDA that came after all of which the tags were read may have some.
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda:13.2.2-base-ubuntu24.04\"", 3, &["13.2.2"]),
    // Which NCCL comes along is told, or that nobody knows it.
    case("torch = \"2.5.1+cu118\"", "gpu = \"A100\"", 0, &["nccl 2.21.5", "!unknown-library"]),
    case("torch = \"2.4.0+cu118\"\nnccl = \"2.20.5\"", "gpu = \"A100\"", 0, &["triton 3.0.0"]),
    case("torch = \"2.5.0+cu118\"", "gpu = \"A100\"", 0, &["NCCL 2.21.5 is assumed"]),
    case(
        "torch = \"2.12.1+cu129\"",
        "gpu = \"A100\"",
        0,
        &["warning[unknown-library]: it is not known which nccl comes with torch 2.12.1+cu129"],
    ),
    case("torch = \"2.0.1+cu118\"", "gpu = \"A100\"", 0, &["warning[unknown-library]"]),
    case("torch = \"2.8.0\"", "gpu = \"A100\"", 0, &["!unknown-library"]),
    // What a release requires is for some Pythons and processors only.
    case(
        "torch = \"2.5.1\"\nlmdeploy = \"0.16.0\"\npython = \"3.13\"",
        "gpu = \"H100\"",
        1,
        &["requires torchvision 0.20.1, for Python 3.9, 3.10, 3.11 and 3.12"],
    ),
    case("torch = \"2.5\"\nlmdeploy = \"*\"", "gpu = \"H100\"", 0, &["python 3.12"]),
    case(
        "jax = \"*\"\ntransformer-engine-jax = \"2.17.0\"",
        "gpu = \"GH200\"",
        1,
        &["transformer-engine-jax 2.17.0 requires a part that has wheels for x86_64 only"],
    ),
    case("jax = \"*\"\ntransformer-engine-jax = \"2.17.1\"", "gpu = \"GH200\"", 0, &[]),
    // What has wheels for x86_64 alone is compiled from its source on aarch64, and takes other releases of torch there.
    case(
        "torch = \"2.7.1\"\nxformers = \"0.0.31\"",
        "gpu = \"GH200\"",
        0,
        &["xformers 0.0.31.post1 on aarch64 comes as source only", "torch 2.7.1"],
    ),
    case("torch = \"2.9.1\"\nxformers = \"0.0.31\"", "gpu = \"GH200\"", 1, &["to 0.0.33.post2"]),
    case("torch = \"2.9.1\"\nxformers = \"0.0.31\"", "gpu = \"L40S\"", 1, &["xformers 0.0.31 requires torch 2.7.1"]),
    case("torch = \"2.6\"\nxformers = \"0.0.31\"", "gpu = \"GH200\"", 1, &["torch 2.6.0", "to 2.7"]),
    case("torch = \"2.0\"\nxformers = \"0.0.18\"", "gpu = \"GH200\"", 1, &["wheels for x86_64 only"]),
    // A driver that compiles the PTX which alone there is for the GPU is not said to compile none.
    case(
        "tensorflow = \"2.15\"",
        "gpu = \"A100\"\ndriver = \"525.60.13\"",
        0,
        &["jit-only", "!jit-limited", "(minor-version)"],
    ),
    // Parts of boards that no board has.
    case("torch = \"2.8\"", "gpu = \"NVIDIA A100-SXM4-80GB MIG 9g.99gb\"", 2, &["no such MIG instance"]),
    case("torch = \"2.8\"", "gpu = \"NVIDIA A100-SXM4-80GB MIG 1g.99gb\"", 2, &["no such MIG instance"]),
    case("torch = \"2.8\"", "gpu = \"GRID A100D-80C\"", 0, &[]),
    case("torch = \"2.8\"", "gpu = \"GRID A100-99C\"", 2, &["unknown GPU `GRID A100-99C`"]),
    // A board can be split from a later driver on than it runs with.
    case(
        "torch = \"2.7\"",
        "gpu = \"NVIDIA B200 MIG 1g.23gb\"\ndriver = \"570.86.15\"",
        1,
        &["MIG instances of B200 and GB200 need driver 570.133.20", "to 570.133.20 or newer"],
    ),
    case("torch = \"2.7\"", "gpu = \"NVIDIA B200\"\ndriver = \"570.86.15\"", 0, &["!mig-b200-driver"]),
    case(
        "torch = \"2.8\"",
        "gpu = [\"NVIDIA RTX PRO 6000 Blackwell Server Edition\", \"NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb\"]",
        0,
        &["driver", ">=575.51.03"],
    ),
    case(
        "torch = \"1.9\"",
        "gpu = \"A100-SXM4-40GB MIG 3g.20gb\"\ndriver = \"450.51.05\"",
        1,
        &["MIG instances of A100 need driver 450.80.02"],
    ),
    // What decides nothing where it stands.
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\nos = \"ubuntu22.04\"\nclang = \"17\"",
        0,
        &["warning[unused-key]: `clang`"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"\nkernel-module = \"open\"",
        0,
        &["warning[unused-key]: `kernel-module`"],
    ),
    // Drivers of Windows beyond all that are known.
    case("torch = \"2.8\"", "gpu = \"A100\"\nplatform = \"wsl2\"\ndriver = \"999.1\"", 0, &["driver-not-listed"]),
    case("torch = \"2.8\"", "gpu = \"A100\"\nplatform = \"wsl2\"\ndriver = \">=999\"", 0, &["driver-not-listed"]),
    case("torch = \"2.8\"", "gpu = \"A100\"\nplatform = \"wsl2\"\ndriver = \"572.61\"", 0, &["!driver-not-listed"]),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"python:3.12-alpine\"\nos = \"ubuntu22.04\"",
        2,
        &["[exclusive]", "the image is Alpine Linux"],
    ),
    // A cuda-compat that is older than the driver takes nothing away from what the stack needs of a driver.
    case(
        "torch = \"2.5.1+cu124\"",
        "gpu = \"A100\"\ndriver = \"580\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\ncompat = \"12.4\"",
        0,
        &["driver >=", "you have 580"],
    ),
    case(
        "torch = \"2.9.1+cu129\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.9.1-base-ubuntu22.04\"\ncompat = \"12.9\"",
        0,
        &["recommended driver", "[compat-installed]"],
    ),
    // Source: github.com/rsxdalv/TTS-WebUI/issues/561 pins 2.7.0.dev20250310+cu128.
    case("torch = \"2.7.0.dev20250310\"", "gpu = \"RTX 5090\"", 0, &["2.7.0.dev20250310+cu128"]),
    case(
        "torch = { version = \"2.9.0\", cuda = \"12.8\", arch-list = \"8.0\" }",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.9.0-cuda12.8-cudnn9-devel\"",
        0,
        &["[two-torches]"],
    ),
    case("torch = \"*\"", "gpu = \"R200\"\narch = \"x86_64\"", 0, &["2.15.0"]),
    case("torch = \"2.5\"", "gpu = \"A100\"\nos = \"centos8\"", 0, &["CentOS Linux 8 ended 2021-12-31"]),
    // What clashes without the image is told of published builds, not of the torch in it.
    case(
        "torch = \"2.7.1+cu128\"",
        "gpu = \"V100-SXM2-32GB\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"",
        1,
        &["torch 2.7.1+cu128 holds code for sm_75", "built for CUDA 12.8"],
    ),
    case(
        "torch = \"+cpu\"",
        "gpu = \"P100-PCIE-16GB\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"",
        1,
        &["torch +cpu is a CPU build"],
    ),
    case(
        "torch = \"1.13.1+cu117\"",
        "gpu = \"GH200\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"",
        1,
        &["torch 1.13.1 was published for aarch64 as cpu only"],
    ),
    // All targets share the torch of an image, of which there is no wheel: neither `*` nor the CUDA it was built with is why.
    case(
        "torch = \"*\"",
        "gpu = \"L4\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"\n[target.u]\ngpu = \"L4\"",
        1,
        &[
            "target `u` must have the same torch (`share = \"stack\"`)",
            "no wheel of torch 2.5.0 (cu126) is known",
            "!sets `torch = \"*\"`",
            "!built for CUDA 12.6 |",
        ],
    ),
    case(
        "torch = \"2.6\"\ndeepspeed = \"*\"",
        "gpu = \"L4\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"\n[target.u]\ngpu = \"L4\"",
        1,
        &["`deepspeed = \"*\"` is incompatible with `image", "!it is for torch >=2.0.0"],
    ),
    // Both halves of a chain are told: what a package needs, and that there is none.
    case(
        "torch = \"2.10\"\ntorchvision = \"0.15.2\"",
        "gpu = \"GB10\"\ntoolkit = \"13.0\"\n[build]",
        1,
        &["torch 2.0.1 was published for aarch64 without CUDA only as of"],
    ),
    case(
        "torchvision = \"0.15.2\"\ncudf-cu12 = \"*\"",
        "gpu = \"A100\"",
        1,
        &["torchvision 0.15.2 requires torch 2.0.1", "loads the libraries of CUDA 12"],
    ),
    // The advice on a driver stands behind its change.
    case(
        "torch = \"2.6.0\"\ntorchvision = \"0.15.2\"",
        "gpu = \"L4\"\ndriver = \"450\"\ngcc = \"4\"\n[build]",
        1,
        &["525.105.17 or newer (R595 recommended, supported until 2027-03), and change gcc from 4 to 6; resolves"],
    ),
    // Source: i.hsfzxjy.site/diving-from-the-cuda-error-804-into-a-bug-of-libnvidia-container
    case(
        "torch = \"1.12.1+cu113\"",
        "gpu = \"RTX 3090\"\ndriver = \"460.67\"\nimage = \"nvidia/cuda:11.3.0-cudnn8-devel-ubuntu20.04\"",
        1,
        &["1. change image", "11.2.2-cudnn8-devel-ubuntu20.04; resolves", "(with the warning `image-compat`)"],
    ),
    // The libstdc++ of a system is that of its gcc, whatever the tag of a wheel says.
    case(
        "torch = \"2.4.1+cu121\"\nbitsandbytes = \"0.45\"",
        "gpu = \"Tesla T4\"\nos = \"centos7\"",
        1,
        &["change os from centos7", "!change bitsandbytes"],
    ),
    case("cupy-cuda12x = \"*\"", "gpu = \"Tesla T4\"\nos = \"centos7\"", 0, &["13.6.0"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"Tesla T4\"\nos = \"ubuntu16.04\"", 0, &["14.2.0"]),
    case(
        "paddlepaddle-gpu = \"2.6.2\"",
        "gpu = \"Tesla T4\"\nos = \"ubuntu16.04\"",
        1,
        &["the libstdc++ of Ubuntu 16.04 LTS ends with GLIBCXX_3.4.21", "glibc 2.23, GLIBCXX_3.4.21"],
    ),
    // The torch in an image is judged as one that is named, whatever the GPU: where forward compatibility helps, with its package.
    case(
        "python = \"*\"",
        "gpu = \"A100\"\ndriver = \"450.80.02\"\nimage = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"",
        0,
        &[
            "warning[image-torch]",
            "holds does not run here: its CUDA 12.4 needs driver 525.60.13 or newer, and the hosts have driver 450.80.02",
        ],
    ),
    case(
        "python = \"*\"",
        "gpu = \"T4\"\ndriver = \"470.82.01\"\nimage = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"",
        0,
        &["holds runs here only with cuda-compat-12-4"],
    ),
    case(
        "python = \"*\"",
        "gpu = \"T4\"\ndriver = \"470.82.01\"\nforward-compat = \"never\"\nimage = \"nvcr.io/nvidia/pytorch:24.10-py3\"",
        0,
        &["holds does not run here: its CUDA 12.6"],
    ),
    case(
        "python = \"*\"",
        "gpu = \"RTX 3090\"\nplatform = \"wsl2\"\ndriver = \"527.41\"\nimage = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"",
        0,
        &["needs driver 528.33 or newer"],
    ),
    case(
        "python = \"*\"",
        "gpu = \"A100\"\ndriver = \"525.60.13\"\nimage = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"",
        0,
        &["!image-torch"],
    ),
    // What is compiled as PTX alone is told beside wheels with machine code, too.
    case(
        "torch = \"2.8.0\"\n[build]\narch-list = \"7.5+PTX\"",
        "gpu = \"A100\"",
        0,
        &["warning[jit-only]: `arch-list = \"7.5+PTX\"` holds only PTX for A100"],
    ),
    case("torch = \"2.8.0\"\n[build]\narch-list = \"8.0+PTX\"", "gpu = \"A100\"", 0, &["!jit-only"]),
    // Of hosts that are known by their CUDA no release is named that nobody wrote.
    case(
        "torch = \"2.9.0+cu128\"",
        "gpu = \"A100\"\ndriver-cuda = \"12.2\"",
        0,
        &["jit-limited", "driver of CUDA 12.2, the stack uses CUDA 12.8"],
    ),
    // What pip brings of CUDA is bound by no image's, and one environment serves both.
    case(
        "cudf-cu12 = \"25.12\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n[target.u]\ngpu = \"T4\"\n\
         image = \"nvidia/cuda:12.6.3-base-ubuntu22.04\"",
        0,
        &["lock: 12.4.1-base-ubuntu22.04", "lock: 12.6.3-base-ubuntu22.04"],
    ),
    case(
        "cudf-cu12 = \"25.12\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:11.8.0-base-ubuntu22.04\"",
        1,
        &["holds CUDA 11.8"],
    ),
    // A label for a CUDA of which torch was seen in images alone.
    case(
        "torch = \"2.9.0\"\ntorchvision = \"0.24.0+cu131\"",
        "gpu = \"RTX 4090\"",
        3,
        &["whether torchvision 0.24.0+cu131 was published", "/whl/cu131/torchvision/"],
    ),
    case("torchcodec = \"0.9.1+cu131\"", "gpu = \"H100\"", 3, &["whether torchcodec 0.9.1+cu131 was published"]),
    case(
        "torch = \"2.7.1\"\ntorchvision = \"0.22.1+cu131\"",
        "gpu = \"RTX 4090\"",
        1,
        &["goes with torch +cu131", "torch 2.7.1 was published for x86_64 as cpu, cu118, cu126 and cu128 only as of"],
    ),
    // The list of an index tells nothing of wheels with a label, which lie elsewhere.
    case(
        "vllm = \"0.12.0+cu130\"",
        "gpu = \"DGX Spark\"",
        3,
        &["whether vllm 0.12.0+cu130 was published for aarch64", "look for it where that for x86_64 lies"],
    ),
    case("torch = \"2.9.0+corp.1\"", "gpu = \"RTX 4090\"", 3, &["write it as a build of your own", "!whl/corp.1"]),
    case("torch = \"2.15.0+cu140\"", "gpu = \"RTX 4090\"", 3, &["with one for a toolkit of CUDA 14.0"]),
    // What nobody has told of WSL2 is no mistake.
    case(
        "torch = \"2.15.0\"",
        "gpu = \"NVIDIA RTX Spark N1X\"\nplatform = \"wsl2\"\nos = \"ubuntu24.04\"",
        0,
        &["warning[wsl2]: WSL2 on aarch64 is not known"],
    ),
    case("torch = \"*\"", "gpu = \"sm_121\"\nplatform = \"wsl2\"\narch = \"aarch64\"", 0, &["WSL2 on aarch64"]),
    case("torch = \"*\"", "gpu = \"Jetson AGX Orin\"\nplatform = \"wsl2\"", 2, &["is a Jetson"]),
    // Of what is older than all that are listed of its family the oldest tells the most that it can have.
    case(
        "torch = \"2.6.0+cu124\"",
        "gpu = \"V100-SXM2-16GB\"\nos = \"fedora22\"",
        3,
        &["it is older than Fedora 26, which has glibc 2.25", "write `glibc` under [target.t]"],
    ),
    case("torch = \"2.6.0+cu126\"", "gpu = \"V100-SXM2-16GB\"\nos = \"fedora27\"", 1, &["Fedora 27 has glibc 2.26"]),
    case("torch = \"2.6.0+cu124\"", "gpu = \"V100-SXM2-16GB\"\nos = \"fedora22\"\nglibc = \"2.21\"", 0, &[]),
    case(
        "torch = \"2.9.1\"",
        "gpu = \"V100-SXM2-16GB\"\nos = \"opensuse-leap42.3\"",
        1,
        &["openSUSE Leap 42.3 has glibc 2.22"],
    ),
    case(
        "torch = \"2.9.1+cu126\"\nnccl = \"2.26\"",
        "gpu = \"RTX 4090\"",
        1,
        &["torch 2.9.1+cu126 is expected to bring NCCL"],
    ),
];

#[test]
fn what_was_answered_wrongly_once() {
    hold("once-wrong", CASES);
}

/// A fleet of both processors has one release of a package: as a wheel here, as its source there.
#[test]
fn one_release_is_a_wheel_and_a_source() {
    let spec =
        "[stack]\ntorch = \"2.7.1\"\nxformers = \"*\"\n[target.a]\ngpu = \"GH200\"\n[target.x]\ngpu = \"L40S\"\n";
    let place = Sandbox::new("both", spec);
    place.run(&["lock"]).exits(0).says("xformers 0.0.31.post1 on aarch64 comes as source only").says("(target `a`)");
    let lock = lock_of(&place);
    let of_package: Vec<&str> = lock.lines().filter(|line| line.contains("package = \"xformers\"")).collect();
    let has = |part: &str| of_package.iter().filter(|line| line.contains(part)).count();
    assert_eq!((of_package.len(), has("0.0.31.post1"), has("sdist = true")), (2, 2, 1), "{of_package:#?}");
    let sources: Vec<&&str> = of_package.iter().filter(|line| line.contains("sdist = true")).collect();
    assert!(sources[0].contains("arch = \"aarch64\""), "{sources:?}");
    place.run(&["export", "uv"]).exits(0).tells("no-build-isolation-package = [\"xformers\"]");
    place.run(&["lock", "--check"]).exits(0);
}

/// A board and a part of it are two machines, whichever is asked for first.
#[test]
fn a_board_and_a_part_of_it_need_drivers_of_their_own() {
    let (whole, part) = ("gpu = \"NVIDIA B200\"\n", "gpu = \"NVIDIA B200 MIG 1g.23gb\"\n");
    for (at, (a, b, minima)) in
        [(whole, part, ["570.26", "570.133.20"]), (part, whole, ["570.133.20", "570.26"])].into_iter().enumerate()
    {
        let spec = format!("[stack]\ntorch = \"2.7.1\"\n[target.a]\n{a}[target.b]\n{b}");
        let place = Sandbox::new(&format!("part-{at}"), &spec);
        place.run(&["lock"]).exits(0);
        for (target, minimum) in ["a", "b"].iter().zip(minima) {
            let line = format!("target.{target}.driver.minimum = \"{minimum}\"");
            assert!(lock_of(&place).contains(&line), "{line}\n{}", lock_of(&place));
        }
    }
}

/// The metadata of torch pins its triton, whatever an overlay adds.
#[test]
fn an_overlay_of_triton_keeps_to_what_torch_pins() {
    let spec =
        "[stack]\ntorch = \"2.8.0\"\ntriton = \"*\"\n[target.t]\ngpu = \"A100\"\n[catalog]\noverlays = [\"o.toml\"]\n";
    let place = Sandbox::new("triton", spec);
    let row = "[[companion]]\npackage = \"triton\"\nversion = \"77.1\"\nframework = \"torch\"\nneeds = \"*\"\nsource = \"o\"\n";
    let source =
        "source = [{ id = \"o\", at = \"https://acme.example\", kind = \"measured\", seen = \"2026-11-18\" }]\n";
    std::fs::write(place.path("o.toml"), format!("{source}{row}")).unwrap();
    place.run(&["lock"]).exits(0);
    assert!(lock_of(&place).contains("stack.triton = \"3.4.0\""));
    place.write(&spec.replace("\"*\"", "\"77.1\""));
    place.run(&["lock"]).exits(1).says("torch 2.8.0 requires triton 3.4.0");
}

/// What a build of one's own says of itself goes together, and a nightly is for a CUDA that somebody knows.
#[test]
fn builds_that_contradict_themselves_are_refused() {
    let own = |fields: &str| format!("{{ version = \"2.8.0{fields}, arch-list = \"8.0\" }}");
    for (torch, code, says) in [
        (own("+cu126\", cuda = \"13.0\", python = \"3.12\""), "own-build", "the build calls itself 2.8.0+cu126"),
        (own("+cpu\", cuda = \"12.4\", python = \"3.12\""), "own-build", "the build calls itself 2.8.0+cpu"),
        (
            own(
                "\", cuda = \"12.6\", python = \"3.12\", url = \"https://x.example/torch-2.8.0-cp311-cp311-linux_x86_64.whl\"",
            ),
            "own-build",
            "is for Python 3.11",
        ),
        ("\"2.8.0.dev20250327+cu140\"".to_string(), "unknown-cuda", "CUDA 14.0, which this catalog does not know"),
    ] {
        let place = Sandbox::new("contradicts", &format!("[stack]\ntorch = {torch}\n[target.a]\ngpu = \"A100\"\n"));
        place.run(&["lock"]).exits(2).says(&format!("error[{code}]")).says(says);
    }
    let agrees = own(
        "+cu126\", cuda = \"12.6\", python = \"3.12\", url = \"https://x.example/torch-2.8.0%2Bcu126-cp38-abi3-linux_x86_64.whl\"",
    );
    let place = Sandbox::new("agrees", &format!("[stack]\ntorch = {agrees}\n[target.a]\ngpu = \"A100\"\n"));
    place.run(&["lock"]).exits(0);
}

/// What nobody can read of a build of one's own, its owner tells in its table.
#[test]
fn what_is_unknown_of_an_own_build_is_asked_of_its_owner() {
    let torch = "{ version = \"2.8.0\", cuda = \"12.6\", python = \"3.12\", arch-list = \"8.0\" }";
    let spec = format!("[stack]\ntorch = {torch}\ncudnn = \">=9\"\n[target.a]\ngpu = \"A100\"\n");
    let place = Sandbox::new("own-cudnn", &spec);
    let ran =
        place.run(&["lock"]).exits(3).says("which cuDNN comes with your build of torch").says("write it as `cudnn`");
    assert!(!ran.err.contains("METADATA"), "{}", ran.err);
    place.write(&spec.replace("\"8.0\" }", "\"8.0\", cudnn = \"9.10.2\" }"));
    place.run(&["lock"]).exits(0);
    // Nobody is asked what an image holds that does not hold it.
    let in_image = spec.replace("cudnn = \">=9\"", "nccl = \">=2.20\"") + "image = \"nvidia/cuda\"\n";
    Sandbox::new("own-nccl", &in_image)
        .run(&["lock"])
        .exits(3)
        .says("nothing can be written of the NCCL of your build");
}

/// A conflict that would come to light later is told where it has a reason of its own.
#[test]
fn what_comes_to_light_later_says_more_than_what_is_told() {
    let place = Sandbox::new("later", "");
    place.write("[build]\narch-list = \"7.0\"\n[target.t]\ngpu = \"V100\"\ntoolkit = \"13.0\"\nos = \"ubuntu24.04\"\n");
    place.run(&["lock"]).exits(1).says("once that is fixed").says("V100 has compute capability 7.0");
}
