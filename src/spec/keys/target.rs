//! The keys of `[target.*]`: one kind of machine that the stack must run on.

use crate::spec::slot::{Choice, Many, One, Word, place};
use crate::spec::value::sorted;
use crate::spec::{DriverPolicy, ForwardCompat, ImageRef, KernelModule, Platform, Runtime, Target, field};
use crate::types::{Constraint, Version};

use super::{Key, Table};

pub(in crate::spec) static TARGET: Table<Target> = Table {
    name: "target",
    header: "[target.NAME]",
    about: "One kind of machine that the stack must run on; at least one. NAME is yours: letters, digits, `-` and `_`.",
    slips: &["targets", "machine", "machines", "host", "hosts"],
    keys: &[
        Key {
            name: "gpu",
            brief: "product names; each alone must work; \"none\" for CPU only",
            about: "As people or nvidia-smi write them, or by compute capability, `sm_90`. If it is absent, GPU code is \
                    not checked, and a warning says so.",
            example: "[\"A100-PCIE-40GB\", \"RTX 3090\"]",
            slips: &["gpus", "device", "devices", "card", "sm", "cc", "compute-capability", "capability", "gpu-arch"],
            slot: &Many(place!(Target.gpu), |_, text| field::gpu(text), field::gpus, |names| sorted(names)),
        },
        Key {
            name: "driver",
            brief: "what the hosts have; without it the lock says what they need",
            about: "A release, `525.116.03`, is what they have; a branch, `535`, `R535` or `>=535`, is the worst that they \
                    have; a list of branches means that each of them occurs. With only an upper bound the lock states \
                    the minimum.",
            example: "\"535\"",
            slips: &["driver-version", "nvidia-driver", "driver-branch"],
            slot: &Many(place!(Target.driver), field::driver, field::drivers, Constraint::canonical),
        },
        Key {
            name: "driver-cuda",
            brief: "the \"CUDA Version\" that nvidia-smi shows",
            about: "Instead of `driver`, for who only knows this: the branches with that number. The CUDA of the wheels \
                    is `cuda` under `[stack]`.",
            example: "\"12.2\"",
            slips: &["cuda-version", "cuda-driver", "driver-cuda-version"],
            slot: &One(place!(Target.driver_cuda), |_, text| field::driver_cuda(text), ToString::to_string),
        },
        Key {
            name: "runtime",
            brief: "where the stack runs",
            about: "Default: `container` if `image` is given, else `bare-metal`.",
            example: "\"container\"",
            slips: &["container", "docker"],
            slot: &Choice(place!(Target.runtime), RUNTIMES, CALLED_RUNTIMES),
        },
        Key {
            name: "os",
            brief: "of the machine, or of the image in a container",
            about: "It implies glibc, libstdc++ and the default host compiler.",
            example: "\"ubuntu22.04\"",
            slips: &["distro", "distribution", "operating-system"],
            slot: &One(place!(Target.os), |_, text| field::os(text), String::clone),
        },
        Key {
            name: "arch",
            brief: "the processor",
            about: "`x86_64` or `aarch64`. Default: what the product implies (GH200, GB10, Jetson: aarch64), else x86_64.",
            example: "\"x86_64\"",
            slips: &["cpu", "machine"],
            slot: &One(place!(Target.arch), |_, text| field::cpu(text), ToString::to_string),
        },
        Key {
            name: "image",
            brief: "a container: gpuenv chooses the tag",
            about: "A full reference, with a tag or a digest, is taken as it is.",
            example: "\"nvidia/cuda\"",
            slips: &["base-image", "docker-image", "container-image", "from"],
            slot: &One(place!(Target.image), |_, text| ImageRef::parse(text), ToString::to_string),
        },
        Key {
            name: "forward-compat",
            brief: "whether cuda-compat may be used",
            about: "`auto`: only if the whole spec has no answer without it, and then for as few targets as possible. \
                    `never`: not at all. Default: `auto`.",
            example: "\"never\"",
            slips: &["forward-compatibility"],
            slot: &Choice(place!(Target.forward_compat), POLICIES, &[(&["no", "off", "false"], "never")]),
        },
        Key {
            name: "driver-policy",
            brief: "which driver branches the lock may recommend",
            about: "`any`: a production branch in support, else another in support; where none in support drives the GPUs, the newest that does, and its support has ended. \
                    `production`: production and long-term support \
                    branches. `long-term`: long-term support branches. It changes no verdict. Default: `any`.",
            example: "\"long-term\"",
            slips: &["driver-kind", "recommend"],
            slot: &Choice(place!(Target.driver_policy), DRIVER_POLICIES, &[(&["lts", "ltsb"], "long-term")]),
        },
        Key {
            name: "glibc",
            brief: "the C library, in place of what `os` implies",
            about: "",
            example: "\"2.31\"",
            slips: &["libc"],
            slot: &One(place!(Target.glibc), |_, text| field::glibc(text), ToString::to_string),
        },
        Key {
            name: "gcc",
            brief: "the host compiler, in place of what `os` implies",
            about: "",
            example: "\"9.4\"",
            slips: &["compiler", "gxx", "g++", "host-compiler"],
            slot: &One(place!(Target.gcc), field::version, ToString::to_string),
        },
        Key {
            name: "clang",
            brief: "the host compiler where it is not gcc",
            about: "In place of `gcc`: nvcc is then told to use clang, and the gcc of `os` is not asked.",
            example: "\"17\"",
            slips: &["clang++", "llvm"],
            slot: &One(place!(Target.clang), field::version, ToString::to_string),
        },
        Key {
            name: "toolkit",
            brief: "the CUDA toolkits that are installed there",
            about: "No other is there: what loads CUDA of the system, and what of `[stack]` comes as source, has to do with one of \
                    them. If it is absent, the lock says which one to install.",
            example: "[\"11.8\", \"12.4\"]",
            slips: &["cuda-toolkit", "toolkits", "nvcc"],
            slot: &Many(place!(Target.toolkit), |_, text| field::toolkit(text), field::toolkits, toolkits),
        },
        Key {
            name: "cudnn",
            brief: "a cuDNN that is installed on the machine or in the image",
            about: "For what brings none of its own: frameworks and packages that load the system's cuDNN, and source builds. \
                    What comes with a cuDNN ignores it.",
            example: "\"8.9.7\"",
            slips: &["libcudnn", "cudnn-version", "system-cudnn"],
            slot: &One(place!(Target.cudnn), field::version, ToString::to_string),
        },
        Key {
            name: "compat",
            brief: "a cuda-compat package that is installed there, wanted or not",
            about: "Its CUDA line, `12.9` for cuda-compat-12-9. Where it is newer than the driver, its libcuda is loaded in \
                    place of the driver's: data-centre GPUs then run the stack by it, GeForce boards run nothing.",
            example: "\"12.9\"",
            slips: &["cuda-compat", "compat-package"],
            slot: &One(place!(Target.compat), |_, text| field::compat(text), ToString::to_string),
        },
        Key {
            name: "kernel-module",
            brief: "the flavour of the driver's kernel modules",
            about: "`open` or `proprietary`. If it is absent, the lock says which one the GPUs need.",
            example: "\"open\"",
            slips: &["kernel-modules", "module", "modules", "driver-flavour", "driver-flavor"],
            slot: &Word(
                place!(Target.kernel_module),
                KERNEL_MODULES,
                None,
                &[(&["closed", "legacy", "nvidia"], "proprietary"), (&["nvidia-open", "open-source"], "open")],
            ),
        },
        Key {
            name: "platform",
            brief: "what runs the Linux system",
            about: "`linux`, or `wsl2`: Linux inside Windows, whose driver it uses; then `driver` is the number of the \
                    Windows driver. Default: `linux`.",
            example: "\"wsl2\"",
            slips: &["wsl", "wsl2", "system"],
            slot: &Word(
                place!(Target.platform),
                PLATFORMS,
                Some(Platform::Linux),
                &[
                    (&["wsl", "wsl-2"], "wsl2"),
                    (
                        &["windows", "windows10", "windows11", "win"],
                        "wsl2 for Linux inside Windows, with the distribution as `os` and the Windows driver as `driver`: \
                         gpuenv solves for Linux",
                    ),
                ],
            ),
        },
        Key {
            name: "image-requires",
            brief: "the NVIDIA_REQUIRE_CUDA of an image that the catalog does not know",
            about: "Which drivers the image starts on; `docker inspect` shows it, and \"\" says that it asks for nothing. Of an \
                    image that the catalog knows it replaces what is known.",
            example: "\"cuda>=12.8 brand=tesla,driver>=535\"",
            slips: &["nvidia-require-cuda", "require-cuda", "image-require", "requires"],
            slot: &One(place!(Target.image_requires), |_, text| field::image_requires(text), String::clone),
        },
    ],
};

const RUNTIMES: &[(&str, Option<Runtime>)] =
    &[("container", Some(Runtime::Container)), ("bare-metal", Some(Runtime::BareMetal))];
const CALLED_RUNTIMES: &[(&[&str], &str)] = &[
    (&["docker", "podman", "kubernetes", "k8s", "apptainer", "singularity", "enroot"], "container"),
    (&["host", "native", "metal", "bare", "vm", "none", "conda", "venv"], "bare-metal"),
];
const POLICIES: &[(&str, ForwardCompat)] = &[("auto", ForwardCompat::Auto), ("never", ForwardCompat::Never)];
const KERNEL_MODULES: &[(&str, KernelModule)] =
    &[("open", KernelModule::Open), ("proprietary", KernelModule::Proprietary)];
const PLATFORMS: &[(&str, Platform)] = &[("linux", Platform::Linux), ("wsl2", Platform::Wsl2)];
const DRIVER_POLICIES: &[(&str, DriverPolicy)] =
    &[("any", DriverPolicy::Any), ("production", DriverPolicy::Production), ("long-term", DriverPolicy::LongTerm)];

/// All toolkits that are installed somewhere, in one spelling.
#[allow(clippy::ptr_arg)] // What a table of keys points to takes the value of the key as it is.
fn toolkits(versions: &Vec<Version>) -> String {
    sorted(&versions.iter().map(Version::as_str).collect::<Vec<_>>())
}
