//! What each check asks, for `gpuenv explain CHECK-ID`: the one list of their ids, which never change their meaning.

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its id.
    pub id: &'static str,
    /// What it asks and why.
    pub says: &'static str,
}

/// The check of this id.
pub fn find(id: &str) -> Option<&'static About> {
    ALL.iter().find(|about| about.id == id)
}

/// Every check, in the order in which they are made.
pub const ALL: &[About] = &[
    About {
        id: "target-choice",
        says: "A target without a GPU fits every host. It answers by itself only where the bus was looked at and holds no NVIDIA GPU. On other hosts, and for a pasted report, which does not show the bus, it is judged only where --target names it, so that it never hides a driver that is dead.",
    },
    About {
        id: "platform-system",
        says: "Which kind of system it is: the lock's wheels are for Linux, and in WSL and on Jetson the driver comes another way.",
    },
    About {
        id: "stale-lock",
        says: "The lock is that of the gpuenv.toml beside it. Of a stale one `verify`, `export` and `explain` warn; with --locked `verify` and `export` fail. `gpuenv lock` brings it up to date.",
    },
    About { id: "platform-arch", says: "The CPU architecture is the locked one: wheels and images are for one only." },
    About {
        id: "platform-os",
        says: "The distribution is the locked one. Another one warns: most of what is locked does not depend on it.",
    },
    About {
        id: "platform-glibc",
        says: "The C library is as new as the locked wheels need, or as the lock was solved for.",
    },
    About {
        id: "driver-present",
        says: "There is an NVIDIA driver to ask, and its kernel module is loaded. No trace of NVIDIA at all leaves the question open (exit 3); a GPU without its driver fails.",
    },
    About {
        id: "driver-flavour",
        says: "The kernel modules are of the flavour, open or proprietary, that drives the locked GPUs.",
    },
    About { id: "device-nodes", says: "The device nodes of the GPUs, nvidiactl and nvidia-uvm can be opened." },
    About {
        id: "driver-match",
        says: "Kernel module, libnvidia-ml and libcuda are of one release; an upgrade without a reboot leaves two.",
    },
    About {
        id: "driver-minimum",
        says: "The driver is the release that the lock states as its minimum, or a later one. One that is older than the first known to list a GPU of the host warns.",
    },
    About {
        id: "driver-cuda",
        says: "The CUDA version that the driver offers reaches the stack's, or runs it by minor-version compatibility, in which PTX of the stack's own CUDA cannot be compiled.",
    },
    About {
        id: "forward-compat",
        says: "The locked cuda-compat package is here, supports this driver's branch and is the one that is loaded; or none is loaded where none is locked.",
    },
    About {
        id: "forward-compat-gpu",
        says: "A GPU that the lock does not name is of the data-centre market, to which forward compatibility is limited.",
    },
    About { id: "nvml", says: "libnvidia-ml loads and answers." },
    About {
        id: "libcuda",
        says: "libcuda loads, is not a stub, and initialises. Its error numbers each have their own remedy.",
    },
    About { id: "gpu-present", says: "A process sees at least one GPU." },
    About {
        id: "gpu-hidden",
        says: "GPUs that are in the machine and that a process does not see, by the reason: CUDA_VISIBLE_DEVICES, MIG, another kernel driver, the container, the job. One that nothing keeps from it fails.",
    },
    About {
        id: "gpu-supported",
        says: "The lock names this GPU, or its list of architectures covers it and its wheels hold code for it. A lock for other GPUs was solved for those: name this one in gpuenv.toml, even where a wheel holds code for it.",
    },
    About { id: "gpu-usable", says: "CUDA can ask this GPU for its properties." },
    About {
        id: "gpu-health",
        says: "The driver can ask this GPU: it is on the bus, waits for no reset and no other recovery, its InfoROM is intact and its broken memory replaced. In a pasted text an error stands in the place of what every GPU tells that works; a fan or a sensor may be broken on one that computes.",
    },
    About { id: "gpu-compute-mode", says: "The compute mode admits this process." },
    About { id: "gpu-mig", says: "A GPU that is cut into instances has some, and a process gets one of them." },
    About {
        id: "gpu-fabric",
        says: "The GPU is registered with its NVLink fabric; before that, CUDA does not start (802).",
    },
    About { id: "gpu-confidential", says: "With confidential computing on, the GPU accepts work." },
    About { id: "gpu-virtual", says: "A virtual GPU depends on its licence, its profile and the hypervisor's driver." },
    About { id: "gpu-memory", says: "Nobody else fills the GPU's memory." },
    About {
        id: "gpu-persistence",
        says: "Whether the driver stays loaded without clients: a matter of waiting, never of working.",
    },
    About { id: "kernel-native", says: "Machine code of the locked architectures was loaded and ran on this GPU." },
    About {
        id: "kernel-jit",
        says: "The driver compiled PTX and it ran. It decides only where the lock reaches the GPU by nothing else.",
    },
    About {
        id: "kernel-result",
        says: "The kernels' results equal the host's own. Right code that computes wrong is a fault of the hardware.",
    },
    About {
        id: "compile-nvrtc",
        says: "The NVRTC that a process would load compiles the test kernels. A compiler that fails says nothing about the GPU.",
    },
    About {
        id: "compile-nvcc",
        says: "With [build]: the toolkit's nvcc compiles the test kernels. A compiler that fails says nothing about the GPU.",
    },
    About {
        id: "library-cudart",
        says: "The CUDA runtime that a process would load is of the locked line. Where no wheel of the lock brings it, the system must have it, and so with cuDNN and NCCL.",
    },
    About {
        id: "library-cudnn",
        says: "The cuDNN that a process would load is the locked one; an older one than a framework was built with is refused by it.",
    },
    About { id: "library-nccl", says: "The NCCL that a process would load is the locked one." },
    About {
        id: "library-missing",
        says: "The other CUDA libraries that the framework needs (cuBLAS, NVRTC, nvJitLink) are found and can be loaded.",
    },
    About {
        id: "library-mixed",
        says: "All parts of a library come from one folder: parts of two releases break each other.",
    },
    About { id: "library-shadowed", says: "LD_LIBRARY_PATH does not put another copy before a wheel's own." },
    About {
        id: "library-duplicates",
        says: "There are no further copies of a library, of which the first one found would be loaded.",
    },
    About { id: "driver-jit-compiler", says: "The driver's PTX compiler library is where libcuda finds it." },
    About { id: "toolkit", says: "With [build]: the locked CUDA toolkit is installed." },
    About { id: "toolkit-path", says: "With [build]: PATH, CUDA_HOME and CUDA_PATH lead to the locked toolkit." },
    About { id: "host-compiler", says: "With [build]: the host compiler is one that the toolkit's nvcc accepts." },
    About { id: "python-version", says: "The interpreter is of the locked Python." },
    About { id: "python-bits", says: "The interpreter is a 64-bit one: there are no CUDA wheels for others." },
    About { id: "python-package", says: "A package that is installed is the locked build of it." },
    About {
        id: "python-wheel",
        says: "A package that was installed from a file or an address came from the locked file, by the sha256 that its installer noted beside it. An index leaves no note: then it is not known from which file a package was installed.",
    },
    About {
        id: "torch-import",
        says: "With --full: torch can be imported. Where that failed the loader's own words say why; where it did not end, nothing else that torch would say of itself is known.",
    },
    About {
        id: "torch-cuda",
        says: "The installed torch was built with the locked CUDA line, and is not a CPU build.",
    },
    About { id: "torch-arch-list", says: "The installed torch holds code for this GPU, by its own list." },
    About { id: "torch-available", says: "torch.cuda.is_available() says yes." },
    About { id: "torch-computed", says: "A small computation of torch came out right on each GPU." },
    About { id: "torch-peers", says: "With --full: a copy between each two GPUs arrives unchanged." },
    About { id: "torch-allreduce", says: "With --full: NCCL's all-reduce over all GPUs comes out right." },
    About { id: "torch-libraries", says: "The cuDNN and NCCL that torch has loaded are the locked ones." },
    About {
        id: "image-require",
        says: "The image's NVIDIA_REQUIRE_CUDA holds on this driver, for each GPU, as libnvidia-container evaluates it. The runtime's CDI modes do not look at it.",
    },
    About {
        id: "container-runtime",
        says: "A container runtime and the NVIDIA Container Toolkit or CDI specifications are here.",
    },
    About { id: "container-cdi", says: "CDI specifications were generated for the driver that runs." },
    About {
        id: "container-dev-char",
        says: "Device nodes have their links in /dev/char, without which containers lose GPUs at a daemon reload.",
    },
    About { id: "container-capabilities", says: "The container was given the driver's compute and utility libraries." },
    About { id: "container-shm", says: "/dev/shm of the container is large enough for data loaders and NCCL." },
    About { id: "environment-variables", says: "No variable is set that makes CUDA slow, profiled or watched." },
    About {
        id: "environment-jit",
        says: "CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT do not forbid what the lock needs, nor do CUDA_FORCE_PTX_JIT and CUDA_FORCE_JIT have the driver ignore it.",
    },
    About {
        id: "environment-library-path",
        says: "LD_LIBRARY_PATH has no empty or relative element, no stubs folder and no cuda-compat that the lock does not want.",
    },
    About {
        id: "environment-visible-devices",
        says: "Of a host that was described: CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES leave a process at least one GPU.",
    },
    About { id: "environment-preload", says: "LD_PRELOAD is not set. The probes run without it, and a job has it." },
    About { id: "environment-mps", says: "Where MPS's variable is set, its daemon answers." },
    About {
        id: "nothing-checked",
        says: "Something could be checked at all. Where every check was skipped, nothing is proven (exit 3).",
    },
    About {
        id: "probe",
        says: "A probe came to its end. One that crashed, timed out or was refused leaves open what it would have seen.",
    },
];
