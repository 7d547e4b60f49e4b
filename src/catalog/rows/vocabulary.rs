//! The closed vocabularies of the catalog: each word, and how it is written.

use serde::{Deserialize, Serialize};

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }
        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The word used in files and messages.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// How a source knows. Earlier is stronger: where two disagree, the stronger wins.
    SourceKind {
        /// Read out of a published binary, or compiled and tried.
        Measured = "measured",
        /// Told by a package's own metadata or a registry's listing.
        Package = "package",
        /// Told by the vendor's documentation or release scripts.
        Vendor = "vendor",
        /// Told by third parties only.
        Article = "article",
    }
}

vocabulary! {
    /// The market a GPU was made for. Forward compatibility and image requirements depend on it.
    Class {
        /// Tesla and its successors: A100, H100, L4, GH200.
        Datacenter = "datacenter",
        /// Quadro and RTX workstation cards.
        Workstation = "workstation",
        /// GeForce.
        Geforce = "geforce",
        /// TITAN.
        Titan = "titan",
        /// Jetson modules: integrated GPU, L4T driver.
        Jetson = "jetson",
        /// Mining cards (CMP, P10x).
        Mining = "mining",
        /// DGX Spark and other client systems on a chip.
        ClientSoc = "client-soc",
        /// Embedded boards that are not Jetson.
        Embedded = "embedded",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// How the first driver of a board is known.
    FirstDriver {
        /// The release's own highlights say that it added the board.
        Added = "added",
        /// It is the first release that was seen to list the board: older ones may run it.
        Listed = "listed",
        /// It is the oldest release that a host with the board was seen to run on.
        Ran = "ran",
    }
}

vocabulary! {
    /// How much of CUDA an image of `nvidia/cuda` holds, smallest first.
    Flavour {
        /// Only the runtime's core library (cudart).
        Base = "base",
        /// All runtime libraries.
        Runtime = "runtime",
        /// Runtime, headers, nvcc.
        Devel = "devel",
    }
}

vocabulary! {
    /// What the publisher says of a build.
    Status {
        /// A build the release notes call stable.
        Stable = "stable",
        /// A build the release notes call experimental, or do not list although it was published.
        Experimental = "experimental",
    }
}

vocabulary! {
    /// The family of systems that a wheel is made for.
    Family {
        /// Linux with glibc.
        Linux = "linux",
        /// Windows itself; inside WSL2 wheels are those for Linux.
        Windows = "windows",
    }
}

vocabulary! {
    /// Where a wheel can be installed from.
    Index {
        /// The Python package index, under the plain version.
        Pypi = "pypi",
        /// The PyTorch wheel index of the variant (`https://download.pytorch.org/whl/<variant>`), as `version+variant`.
        Pytorch = "pytorch",
        /// The PyTorch wheel index of the variant, under the plain version.
        PytorchUnlabelled = "pytorch-unlabelled",
        /// What NVIDIA's notes tell of: a list to read, nothing to install from.
        Nvidia = "nvidia",
    }
}

vocabulary! {
    /// Where it stands what a release needs of another package, and so who knows.
    FoundIn {
        /// In its metadata: installers choose a release that fits, or refuse.
        Metadata = "metadata",
        /// In the tags of its wheels, where nothing else is published: for what they leave out installers find no release.
        OnlyWheels = "only-wheels",
        /// In its code alone: it installs, and fails or does without when it runs.
        Code = "code",
        /// In the tags of its wheels: for what they leave out installers compile its source.
        Wheels = "wheels",
        /// In the code of a part: it installs and runs without that, so nothing is held to it.
        Part = "part",
    }
}

/// Most of what packages need stands there.
impl Default for FoundIn {
    fn default() -> Self {
        FoundIn::Metadata
    }
}

vocabulary! {
    /// How much of a listing was read.
    Reading {
        /// From end to end: what it lacks was not published, as of the day its source was read.
        Whole = "whole",
        /// Only what public files name of it: there may be more.
        Seen = "seen",
    }
}

vocabulary! {
    /// What a publisher's practice says something about: the field of a build.
    Property {
        /// Pythons with a wheel.
        Pythons = "pythons",
        /// The CUDA toolkit release.
        Toolkit = "toolkit",
        /// cuDNN.
        Cudnn = "cudnn",
        /// NCCL.
        Nccl = "nccl",
        /// triton.
        Triton = "triton",
    }
}

vocabulary! {
    /// The builds that a practice holds alike.
    Among {
        /// Those of one release and processor, whatever their variant; of libraries only the builds for CUDA.
        Variants = "variants",
        /// Those of one release and variant, whatever their processor.
        Processors = "processors",
        /// Those of one minor release, variant and processor: 2.14.0 and 2.14.1.
        Patches = "patches",
    }
}

vocabulary! {
    /// How a wheel asks pip for NVIDIA's libraries.
    Pins {
        /// For one release of each.
        Exact = "exact",
        /// For a least release of each: pip installs the newest.
        AtLeast = "at-least",
    }
}

vocabulary! {
    /// The two flavours in which the driver's kernel modules come.
    ModuleKind {
        /// Published as source, for GPUs with a system processor of their own.
        Open = "open",
        /// The binary ones NVIDIA has always shipped.
        Proprietary = "proprietary",
    }
}

vocabulary! {
    /// What a `needs` rule is about.
    Subject {
        /// A GPU, by compute capability.
        Gpu = "gpu",
        /// A CUDA line (`12.4`): of a wheel, a toolkit or an image.
        Cuda = "cuda",
        /// A CUDA toolkit release that compiles (`12.4.1`).
        Toolkit = "toolkit",
        /// A driver release; of a pair with cuda-compat, the one whose libcuda is loaded.
        Driver = "driver",
        /// A cuDNN release.
        Cudnn = "cudnn",
        /// The C library of the machine or image.
        Glibc = "glibc",
        /// The C++ library of the machine or image, by the newest of its GLIBCXX symbols (`3.4.19`).
        Libstdcxx = "libstdcxx",
        /// The GNU host compiler.
        Gcc = "gcc",
        /// A Triton release, the compiler behind torch.compile.
        Triton = "triton",
        /// A release of a package, a framework or what follows one; the rule names which.
        Package = "package",
        /// An NCCL release, through which several GPUs work together.
        Nccl = "nccl",
        /// clang as the host compiler.
        Clang = "clang",
        /// The cuFFT of a CUDA line, which computes FFTs for frameworks.
        Cufft = "cufft",
        /// The NVRTC of a CUDA line, which compiles kernels while a program runs.
        Nvrtc = "nvrtc",
        /// The cuBLAS of a CUDA line, which multiplies matrices.
        Cublas = "cublas",
        /// The ptxas that a program finds in PATH, by its CUDA: of a toolkit that is installed, or in an image.
        Ptxas = "ptxas",
        /// torch.compile of a release of torch.
        Compile = "torch-compile",
        /// A line of Python.
        Python = "python",
        /// The Linux kernel of the machine.
        Kernel = "kernel",
    }
}

vocabulary! {
    /// The part of a machine or stack that an error message speaks of.
    Component {
        /// The driver on the host, its kernel module included.
        Driver = "driver",
        /// The GPU's generation.
        Gpu = "gpu",
        /// torch, or a package built against another torch.
        Torch = "torch",
        /// nvcc, ptxas and what else compiles.
        Toolkit = "toolkit",
        /// cuDNN.
        Cudnn = "cudnn",
        /// NCCL.
        Nccl = "nccl",
        /// The container image.
        Image = "image",
        /// What hands GPUs to containers.
        ContainerRuntime = "container-runtime",
        /// The C and C++ runtime libraries.
        Glibc = "glibc",
        /// The host compiler, clang and others included.
        Gcc = "gcc",
        /// The Python interpreter or a wheel's tags.
        Python = "python",
        /// Which copy of a library is found, if any.
        LibraryPath = "library-path",
        /// A device: absent, busy or broken.
        Hardware = "hardware",
        /// None of these.
        Other = "other",
    }
}

vocabulary! {
    /// Where a machine's need of something beside its driver arises.
    Place {
        /// Wherever the board is.
        Host = "host",
        /// Where the stack runs in a container.
        Container = "container",
        /// Linux inside Windows.
        Wsl2 = "wsl2",
        /// A container in Linux inside Windows.
        Wsl2Container = "wsl2-container",
    }
}
