//! Every warning by its code: what it means and what can be done about it. Whoever gives a warning uses a code
//! of this list, so that `gpuenv explain CODE` always has an answer and a `[[silence]]` can be checked.

/// A kind of warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Its stable name, as it stands between brackets.
    pub code: &'static str,
    /// What it means, for a reader who has just met it.
    pub says: &'static str,
}

/// The kind of warning with this code.
pub fn find(code: &str) -> Option<&'static Code> {
    ALL.iter().find(|one| one.code == code)
}

/// Every kind of warning, in the order of the alphabet.
pub const ALL: &[Code] = &[
    Code {
        code: "brings-other-cuda",
        says: "A wheel for one CUDA line asks for further packages by version only, and installers take those from the \
               package index, where they are made for another line: two CUDA runtimes, or libraries that do not load. \
               Name these packages under `[stack]`, and they come from the index of the framework's variant.",
    },
    Code {
        code: "catalog-old",
        says: "The facts were gathered more than half a year before today: drivers, wheels and images published since \
               are unknown to this gpuenv, and what is newest here may no longer be. Install a newer catalog \
               (`gpuenv catalog update`) or a newer gpuenv. The lock does not depend on the day.",
    },
    Code {
        code: "catalog-unusable",
        says: "A newer catalog is installed in your data folder, and its file is damaged or made for another gpuenv: the \
               built-in catalog answers instead, so newer releases are not known. Install it again, or go back to the \
               built-in one with `gpuenv catalog update --rollback built-in`.",
    },
    Code {
        code: "compat-installed",
        says: "A cuda-compat package is installed, as the target says, and is not what the answer rests on: the driver is as \
               new, so that nothing should load it; or nobody knows whether this GPU or this driver branch takes it. \
               Where it is not needed, remove the package, or keep its folder off the library path.",
    },
    Code {
        code: "cuda-on-cpu",
        says: "A target without a GPU gets a wheel built for CUDA, because no CPU build of that release was seen for \
               its platform. It works and is larger than it need be. `+cpu` insists on a CPU build.",
    },
    Code {
        code: "cudnn-installed",
        says: "The cuDNN that the target says is installed is not the one that runs: the wheel brings its own, of another \
               major; or it is a release that the catalog does not know. Two of them on one library path are found in \
               the order of that path. Keep the installed one off it where the wheel's is meant.",
    },
    Code {
        code: "driver-drops-gpu",
        says: "The spec promises a driver branch or any later one, but later branches no longer drive this GPU. The \
               choice holds for the branches that do. An upper bound such as `<` with the first branch that dropped \
               the GPU keeps an upgrade of the hosts from breaking it.",
    },
    Code {
        code: "driver-end-of-life",
        says: "Every driver branch that the spec says the hosts have was out of support when this catalog was made: \
               no more fixes, security fixes included. It still runs the stack. Plan a move to the branch that \
               `gpuenv explain` recommends.",
    },
    Code {
        code: "driver-not-listed",
        says: "The catalog does not know the driver branch that is written, so it is judged as the nearest older one \
               that is known: a newer driver can only do more. Check the number for a slip of the pen.",
    },
    Code {
        code: "expected",
        says: "Something about this build was not read from the build itself: its publisher does it the same way for all \
               builds of a kind, as often as the message tells, and so it is expected here. Whether a build exists is \
               never expected. `gpuenv catalog search practice` lists what is counted so.",
    },
    Code {
        code: "experimental-variant",
        says: "The wheel that was chosen is published as experimental, or was published without a word in the release \
               notes, and no stable one fits. Name the variant in the spec, or set `allow-experimental`, to say that \
               this is wanted.",
    },
    Code {
        code: "forward-compat",
        says: "The driver of the hosts is too old for this CUDA line, and the spec has an answer only because these \
               data-centre GPUs may load a newer libcuda from a cuda-compat package. The package must be installed \
               and its folder must come first on the library path. A newer driver makes it unnecessary; \
               `forward-compat = \"never\"` forbids it.",
    },
    Code {
        code: "gpu-not-checked",
        says: "The target says nothing of its GPUs, so whether the wheels hold code for them was not checked. Write \
               `gpu`, or `gpu = \"none\"` for machines that compute on the CPU.",
    },
    Code {
        code: "gpu-not-listed",
        says: "The driver of the hosts is older than the first release known to list this board. Its architecture may \
               be supported all the same, and boards often work before they are listed: look at what nvidia-smi says \
               on such a host.",
    },
    Code {
        code: "image-arch-unknown",
        says: "Nobody has told which CPU architectures this image tag exists for, so it is taken to be an x86_64 one. \
               Pull it once on the machine it is for.",
    },
    Code {
        code: "image-compat",
        says: "The image starts on drivers older than its CUDA, for it brings a cuda-compat package with a newer \
               libcuda. That library refuses GeForce, TITAN and workstation boards: \"forward compatibility was \
               attempted on non supported HW\" (804). NVIDIA's container toolkit puts it before the driver's own \
               unless `cuda-compat-mode` is \"disabled\" in its configuration. Take a newer driver, an image whose \
               CUDA is no newer than the driver's, or switch the mode off: the wheels do without.",
    },
    Code {
        code: "image-not-checked",
        says: "The image is not of a repository the catalog knows, or it is named by digest only, or its tag is one of \
               a repository of which not all tags are known. It is taken as it is written: neither its CUDA, nor its system, nor the drivers it starts on were checked.",
    },
    Code {
        code: "image-require-unknown",
        says: "Images state in NVIDIA_REQUIRE_CUDA which drivers they start on. What this one states was not read; it \
               is judged by its CUDA line. `docker inspect` on the image shows the variable.",
    },
    Code {
        code: "image-requires",
        says: "The catalog knows what this image asks for in NVIDIA_REQUIRE_CUDA, and `image-requires` says something else. \
               What is written counts: an image of one's own may set the variable anew. Delete `image-requires` if the \
               image is the published one.",
    },
    Code {
        code: "image-torch",
        says: "No torch is asked for, so the one inside the image is what would run, and it does not run on this \
               machine: it holds no code for the GPU, or its CUDA is newer than the driver. Take another tag, or ask \
               for torch in `[stack]`.",
    },
    Code {
        code: "image-withdrawn",
        says: "The tag was taken from the registry, and it is used only because an override says so. It works where a \
               copy of the image is kept. Mirror it, or move to a tag that can be pulled.",
    },
    Code {
        code: "jetson-driver",
        says: "A Jetson's driver comes with its system image and has no release number of its own among the drivers \
               of the catalog. What the target needs of it was not checked: the JetPack release decides.",
    },
    Code {
        code: "jit-limited",
        says: "The driver is older than the CUDA line of the wheels and runs them by minor-version compatibility. \
               Machine code runs; PTX written by that newer CUDA does not, which concerns kernels compiled at run \
               time by other tools than the driver's own. A driver of the wheels' CUDA line lifts the limit.",
    },
    Code {
        code: "jit-only",
        says: "The wheel holds no machine code for this GPU, only PTX that the driver compiles when a kernel is first \
               loaded. The first start takes minutes, the result is kept in a cache, and the driver must know that \
               version of PTX. Another release or variant may hold machine code for it.",
    },
    Code {
        code: "kernel-module",
        says: "The driver's kernel modules come in two flavours, open and proprietary, and this GPU is driven by one of \
               them only. With the other one the driver installs without complaint and finds no GPU. Choose the \
               flavour when the driver is installed on the hosts; containers use that of their host.",
    },
    Code {
        code: "library-missing",
        says: "The wheel was linked against a library that it does not declare and that is in no JetPack: importing it \
               ends in \"cannot open shared object file\" until that library is installed where the loader looks. \
               libcudss is NVIDIA's cuDSS, libcusparseLt its cuSPARSELt; NVIDIA offers both for Jetson.",
    },
    Code {
        code: "lock-newer-catalog",
        says: "The lock was made with a newer catalog than this gpuenv has, and may rest on facts that are not known here. It \
               is kept as it is. Install that catalog (`gpuenv catalog update`) or a newer gpuenv; only \
               `gpuenv lock --fresh` puts an answer of the older facts in its place.",
    },
    Code {
        code: "lock-outdated",
        says: "The lock was made with another catalog, and with what is known today the spec has no answer. The lock \
               was left alone. `gpuenv explain` tells what speaks against it, `gpuenv lock --upgrade` starts over.",
    },
    Code {
        code: "nccl-gpu",
        says: "Each of these GPUs runs the stack, but NCCL, through which several work together, holds no code for \
               them: a job on more than one fails (\"no kernel image is available\"). Take an older release, whose \
               NCCL still does, or use one GPU in a process.",
    },
    Code {
        code: "newer-than-catalog",
        says: "Something about the hosts is newer than everything the catalog knows and is judged as the newest known. \
               A later gpuenv may know it.",
    },
    Code {
        code: "nightly",
        says: "A nightly is a build of a day, and nobody has read it: its libraries, Pythons and GPU code are taken to be \
               those of the release that it precedes. Nightlies stay on their index for some weeks only, and packages that \
               need that very release do not take them: name the nightlies of those too.",
    },
    Code {
        code: "os-end-of-life",
        says: "The standard support of the operating system had ended when this catalog was made. Paid extensions, \
               where they exist, are not counted. It still runs the stack; newer wheels will ask for a newer glibc \
               sooner or later.",
    },
    Code {
        code: "os-not-listed",
        says: "The catalog does not know this operating system. A relative of the same family is taken in its place, \
               or its glibc and gcc are not checked at all. State `glibc`, and `gcc` under `[build]`, to have them \
               checked.",
    },
    Code {
        code: "os-parts-unknown",
        says: "The catalog lists this operating system, but nobody has read its glibc, or under `[build]` the gcc that \
               comes with it, so whether wheels install and nvcc takes the compiler was not checked. State `glibc`, and \
               `gcc` under `[build]`: `ldd --version` and `gcc --version` tell them on such a host.",
    },
    Code {
        code: "own-build-python",
        says: "A wheel with compiled code is for one line of Python. Neither `python` nor the name of the file in `url` says \
               which yours is for, so the Python was chosen as for the published release of the same version. Write `python` \
               in the table of your build, or under `[stack]`.",
    },
    Code {
        code: "package-excluded",
        says: "What `[packages]` asks for leaves out every release that a locked package runs with. Installers may take \
               both all the same, for the metadata of the locked package does not say so, and it fails when it is \
               imported or used. Ask for what the message names, or for a newer release of the locked package.",
    },
    Code {
        code: "snapshot-build",
        says: "What NVIDIA builds for a JetPack or for its images is often of the development branch, and its version says \
               so: what ends in a0 comes before the release of that number. Here it counts as that release, because \
               nothing nearer to it is known for the system, or because the image holds this one. What asks for that \
               release or a later one may refuse it, and features that came last may be missing. Ask for an earlier \
               release, or take a newer JetPack or image.",
    },
    Code {
        code: "source-only",
        says: "The package index has no wheel of this package, or none of its part for the framework, so pip compiles \
               it on the machine or in the image where it is installed. That takes minutes to hours, needs nvcc of the \
               CUDA major of the wheels, a host compiler, and the framework installed before it: install the rest \
               first, then this with pip's --no-build-isolation. A [build] table has gpuenv choose the toolkit and an \
               image that holds it. Where wheels lie beside the releases, flash-attn's build downloads one of the very \
               release, torch, CUDA major, Python and C++ ABI, and compiles only where there is none.",
    },
    Code {
        code: "system-unsaid",
        says: "The wheel was made for some releases of JetPack and runs on those only, but the target does not say \
               which it has. Write `os`, such as \"jetpack6.2\".",
    },
    Code {
        code: "toolkit-minor",
        says: "Extensions are compiled with a toolkit of another minor release than the wheel's CUDA. torch prints a \
               warning while building and the result mostly works, as CUDA promises within a major. Install the \
               toolkit of the wheel's own line to be on the safe side.",
    },
    Code {
        code: "triton-driver",
        says: "The wheel runs with this driver, but torch.compile may not: Triton brings a compiler of a newer CUDA \
               major, and this driver does not load what it makes (\"device kernel image is invalid\"). Raise the \
               driver to the number named, or do without torch.compile: setting TORCHDYNAMO_DISABLE to 1 makes such \
               code run uncompiled.",
    },
    Code {
        code: "triton-gpu",
        says: "The wheel runs on this GPU, but torch.compile does not: it generates code with Triton, which needs a \
               newer GPU, or whose assembler is older than the GPU. Code that calls torch.compile fails at its first \
               run; setting TORCHDYNAMO_DISABLE to 1 makes it run uncompiled. Where the assembler is too old, \
               TRITON_PTXAS_PATH can name the ptxas of an installed toolkit.",
    },
    Code {
        code: "two-cudnns",
        says: "Two frameworks in one environment each come with a cuDNN, and the one that is loaded is not the one both \
               were built with. Put them into environments of their own, or choose releases that agree on cuDNN.",
    },
    Code {
        code: "two-runtimes",
        says: "The image holds one CUDA line and the wheels bring another of their own. The process loads the wheels' \
               libraries, so it works; the image's are dead weight, and a program that links against them by chance \
               meets the wrong one. An image of flavour `base` of the wheels' line avoids it.",
    },
    Code {
        code: "two-torches",
        says: "The image holds a torch of its own and the lock installs another beside it. Both are there: the lock's \
               for programs that its Python runs, the image's for all others. Ask for the release that the image \
               holds, take an image without torch (`nvidia/cuda`), or leave torch out of `[stack]`.",
    },
    Code {
        code: "unknown-gpu-code",
        says: "Which GPUs this wheel holds code for is not known, and nothing better documented fits. It may fail with \
               \"no kernel image is available\". `torch.cuda.get_arch_list()` tells it where the wheel is installed.",
    },
    Code {
        code: "unknown-library",
        says: "The spec constrains a library that comes inside the wheel, and which release of it this wheel brings is \
               not known. The constraint was not checked.",
    },
    Code {
        code: "unused-override",
        says: "An override sets a rule aside, but the answer is the same without it. Delete it: should the rule begin \
               to matter one day, nobody would notice.",
    },
    Code {
        code: "unused-silence",
        says: "A `[[silence]]` names a warning that was not given, or not for that target. Delete it: should the \
               warning return for another reason, nobody would see it.",
    },
    Code {
        code: "wsl2",
        says: "Linux inside Windows uses the driver of Windows, and NVIDIA does not support everything there that it supports \
               on Linux. What the message names may work all the same; who needs it to is safer with Linux itself.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_explained() {
        assert!(ALL.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(ALL.iter().all(|one| one.says.len() > 80 && one.says.ends_with('.')));
    }
}
