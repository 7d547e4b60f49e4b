//! What is known and no matter of versions: a text that no finding claims can tell of memory that ran out, of a kernel
//! that refused what it was given, of processes and tensors in the wrong place.

use std::ops::Range;

use super::signatures::Match;

/// What such a text tells.
#[derive(Debug, PartialEq, Eq)]
pub struct Aside {
    /// What programs print, in lower case and without blanks.
    words: &'static [&'static str],
    /// What makes something else of the words where they go on like this.
    but: &'static [&'static str],
    /// What the text must hold as well; empty for nothing.
    with: &'static str,
    /// What it means.
    pub means: &'static str,
    /// What helps.
    pub help: &'static str,
    /// Words of findings that only follow from it, without blanks; empty for none.
    follows: &'static [&'static str],
}

/// What an installer says of something that it did not find.
const NOT_FOUND: &[&str] = &[
    "satisfiestherequirement",
    "nomatchingdistribution",
    "fromversions:",
    "packagesnotfound",
    "unabletolocatepackage",
    "hasnoinstallationcandidate",
    "noversionsof",
    "noversionof",
];

/// What the libraries above CUDA say when a kernel has failed before.
const STATUS: &[&str] = &[
    "cublas_status",
    "cudnn_status",
    "cusolver_status",
    "cusparse_status",
    "cufft_",
    "unhandledcudaerror",
    "unabletofindanengine",
];

/// What fails where a file was not written.
const FILE: &[&str] = &["cannotopensharedobject", "nosuchfile", "nomodulenamed"];

/// A fault of a kernel has a finding of its own; what comes after it says nothing more.
static KERNEL_FAULT: Aside =
    Aside { words: &["illegalmemoryaccess", "cuda_error_illegal_address"], follows: STATUS, ..PLAIN };

/// An installer that is cut off finds nothing.
static CUT_OFF: Aside = Aside {
    words: &[
        "couldnotfetchurl",
        "newconnectionerror(",
        "connecttimeouterror(",
        "readtimeouterror(",
        "getaddrinfofailed",
        "innameresolution",
        "sslerror(",
        "sslmoduleinpythonisnotavailable",
        "sslmoduleisnotavailable",
        "proxyerror(",
        "http000connectionfailed",
        "couldnotresolve",
    ],
    means: "the package manager did not reach its index, so what it did not find there tells nothing of releases",
    help: "see that this machine reaches the index: name resolution, proxy (HTTPS_PROXY), certificates, the clock, a Python \
           with its ssl module",
    follows: NOT_FOUND,
    ..PLAIN
};

static ASIDES: [Aside; 28] = [
    Aside {
        words: &["hiperror:", "hiperrorinvaliddevicefunction", "hiperrornobinaryforgpu"],
        means: "the text is of AMD's HIP: gpuenv knows NVIDIA's GPUs alone",
        help: "see what the build of the program says about ROCm and this GPU",
        ..PLAIN
    },
    Aside {
        words: &["unauthorized"],
        with: "nvcr.io",
        means: "the registry nvcr.io asks for a login: that is no matter of versions",
        help: "`docker login nvcr.io` with the name `$oauthtoken` and an API key of NVIDIA NGC; an old login is ended by \
               `docker logout nvcr.io`",
        ..PLAIN
    },
    Aside {
        words: &["insufficientsharedmemory(shm)", "workersareoutofsharedmemory", "killedbysignal:buserror"],
        means: "the workers that load data share memory in /dev/shm, and that is full: that is no matter of versions",
        help: "start the container with more (`--shm-size=8g`, or `--ipc=host`), or with fewer workers (`num_workers`)",
        ..PLAIN
    },
    Aside {
        words: &["oomkilled", "memorycgroupoutofmemory", "outofmemory:killedprocess", "invokedoom-killer"],
        means: "the system ended the process, for the machine or its container ran out of memory (not the GPU): that is no \
                matter of versions",
        help: "give the container or job more memory, or load less at a time",
        ..PLAIN
    },
    Aside {
        words: &[
            "outofmemory",
            "out_of_memory",
            "cudaerrormemoryallocation",
            "cublas_status_alloc_failed",
            "cudnn_status_alloc_failed",
            "cannotallocatememory",
            "resourceexhaustederror",
            "noavailablememoryforthecacheblocks",
            "lessthandesiredgpumemoryutilization",
            "tokensthatcanbestoredinkvcache",
        ],
        // Java's own.
        but: &["error:javaheap"],
        // FFmpeg says so after each encoder that it could not open.
        follows: &["capabledevicesfound"],
        means: "the text tells that memory ran out: that is no matter of versions",
        help: "see what else is on the GPU (`nvidia-smi`), or take a smaller batch, context or model",
        ..PLAIN
    },
    Aside {
        words: &["device-sideassert", "cudaerrorassert", "cuda_error_assert", "],thread:["],
        // torch tells with every error how to "enable device-side assertions".
        but: &["ion"],
        follows: STATUS,
        means: "a check inside a GPU kernel failed, mostly of an index or a class label that is out of range: that is no \
                matter of versions",
        help: "run it on the CPU, or with CUDA_LAUNCH_BLOCKING=1, to see the line that passes such a value",
        ..PLAIN
    },
    Aside {
        words: &["diedduetosignal9", "killedsignalterminatedprogram"],
        means: "the system ended the compiler, mostly because memory ran out: that is no matter of versions",
        help: "compile fewer files at a time: `MAX_JOBS=2` for packages built with torch, `-j2` for make and ninja",
        ..PLAIN
    },
    Aside {
        words: &["_cpu_notimplementedforhalf", "_cpunotimplementedforhalf", "kernelimplnotimplementedforhalf"],
        means: "the model runs on the CPU, in a data type that its kernels lack there",
        help: "move it to the GPU; where `torch.cuda.is_available()` is False, `gpuenv verify` finds out why",
        ..PLAIN
    },
    Aside {
        words: &["outofresource:sharedmemory", "toomanyresourcesrequestedforlaunch"],
        means: "a kernel asks for more shared memory or registers than a multiprocessor of this GPU has",
        help: "make its blocks smaller (with Triton also `num_stages`), or take a release of the program that is tuned for this GPU",
        ..PLAIN
    },
    Aside {
        words: &["cannotre-initializecudainforkedsubprocess"],
        means: "the program used the GPU and forked afterwards, which CUDA does not support: that is no matter of versions",
        help: "start worker processes with `torch.multiprocessing.set_start_method(\"spawn\")`, or use the GPU only in them",
        ..PLAIN
    },
    Aside {
        words: &["expectedalltensorstobeonthesamedevice"],
        means: "the program mixes tensors of several devices: that is no matter of versions",
        help: "move the model and its input to one device with `.to(device)`",
        ..PLAIN
    },
    Aside {
        words: &["torch.cpuhasnoattributedevice", "torchhasnoattributehip"],
        means: "no release of torch has this name: the program made it of the device that it believes to have, cpu where it \
                finds no GPU, hip on AMD's",
        help: "see that the GPU is found (`torch.cuda.is_available()`, `nvidia-smi`) and that the program supports it",
        ..PLAIN
    },
    Aside {
        words: &["registerallocationfailedwithregistercount"],
        means: "a kernel needs more registers than ptxas may give it: that is no matter of versions",
        help: "make its blocks smaller or give it more warps (with Triton `num_warps`), or take another release of what wrote \
               the kernel",
        ..PLAIN
    },
    Aside {
        words: &["cublas_status_execution_failed"],
        means: "cuBLAS could not run a kernel: an earlier fault of the program (an index out of range), memory that ran out, \
                or a CUDA release older than the GPU; the text does not tell which",
        help: "run it again with CUDA_LAUNCH_BLOCKING=1; `gpuenv lock` with the GPU tells which CUDA releases know it",
        ..PLAIN
    },
    Aside {
        words: &["couldnotloaddynamiclibrarylibnvinfer", "couldnotfindtensorrt", "couldnotloaddynamiclibrarynvinfer"],
        means: "a notice, no fault: TensorFlow finds no TensorRT, which it uses for models converted by TF-TRT alone",
        help: "look for the error behind it",
        ..PLAIN
    },
    Aside {
        words: &["onlyslow8-bitmatmulissupported"],
        means: "a notice, no fault: bitsandbytes multiplies matrices of 8 bits more slowly on this GPU",
        help: "look for the error behind it",
        ..PLAIN
    },
    Aside {
        words: &["hasaminorversionmismatchwiththeversionthatwasusedtocompilepytorch"],
        means: "a notice, no fault: nvcc and torch are of one CUDA major and differ in the minor alone, which extensions bear",
        help: "look for the error behind it",
        ..PLAIN
    },
    Aside {
        words: &["execformaterror"],
        means: "the program was built for another processor (x86-64, ARM) than this one",
        help: "compare `uname -m` with what the program or image is for (`file PROGRAM`, `docker image inspect IMAGE`)",
        ..PLAIN
    },
    Aside {
        words: &["torchwasnotcompiledwithflashattention", "torchwasnotcompiledwithmemoryefficientattention"],
        means: "a notice, no fault: this build of torch, as those for Windows, lacks a kernel for attention and takes another",
        help: "look for the error behind it",
        ..PLAIN
    },
    Aside {
        words: &["moduletorch.cudahasnoattributeis_a", "moduletorch.cudahasnoattributeisa"],
        but: &["vailable"],
        means: "the program misspells a name: every release of torch has `torch.cuda.is_available`",
        help: "correct the line that the traceback names",
        ..PLAIN
    },
    Aside {
        words: &["):13,", "):31,", "):43,", "):45,"],
        with: "xid(pci:",
        means: "the kernel log tells of an Xid of the program that ran (13, 31, 43 or 45), as a rule a fault of that program or \
                its end: that is no matter of versions",
        help: "run the program under `compute-sanitizer`; if programs without a fault cause it, too, have the GPU checked",
        ..PLAIN
    },
    Aside {
        words: &[
            "no_pubkeyddcae044f796ecb0",
            "nvidia.github.io/libnvidia-container/stable/deb/amd64inreleaseisnotsigned",
        ],
        means: "apt lacks the key of the NVIDIA Container Toolkit's repository: that is no matter of versions",
        help: "add it as the toolkit's installation guide says: `curl -fsSL https://nvidia.github.io/libnvidia-container/gpgkey \
               | sudo gpg --dearmor -o /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg`, named by `signed-by` in the \
               repository's line",
        ..PLAIN
    },
    Aside {
        words: &[
            "optionsigned-byregardingsourcehttps://nvidia",
            "optionsigned-byregardingsourcehttps://developer.download.nvidia",
        ],
        means: "two files in /etc/apt/sources.list.d name one repository of NVIDIA's with different keys: that is no matter of \
                versions",
        help: "`grep -l nvidia /etc/apt/sources.list.d/*` finds them: keep the one that the installation guide writes today, and \
               remove the other",
        ..PLAIN
    },
    Aside {
        words: &["no_pubkeya4b469963bf863cc"],
        means: "apt lacks the key that NVIDIA signs its CUDA repositories with since April 2022: that is no matter of versions",
        help: "install the package cuda-keyring of your system from https://developer.download.nvidia.com/compute/cuda/repos/; \
               in a Dockerfile before the first `apt-get update`, or take a newer base image",
        ..PLAIN
    },
    Aside {
        words: &["remoteprocessexitedortherewasanetworkerror", "ncclremoteerror"],
        means: "another process of the job ended, or the network between them broke, and this one only noticed: that is no \
                matter of versions",
        help: "read the logs of the other ranks: the first error is in one of them",
        ..PLAIN
    },
    Aside {
        words: &["nospaceleftondevice"],
        follows: FILE,
        means: "a disk is full: that is no matter of versions",
        help: "see which with `df -h`; `docker system prune`, `pip cache purge` and another TMPDIR make room",
        ..PLAIN
    },
    Aside {
        words: &[
            "cannotaccessgatedrepo",
            "youaretryingtoaccessagatedrepo",
            "isrestrictedandyouarenotintheauthorizedlist",
        ],
        means: "the model is gated: that is no matter of versions",
        help: "accept its terms on its page, and log in: `huggingface-cli login`, or HF_TOKEN in the environment",
        ..PLAIN
    },
    // The last one: it stands below every error of CUDA that torch reports.
    Aside {
        words: &["torch_use_cuda_dsa"],
        with: "cudaerror:",
        means: "torch reports an error of CUDA that tells nothing of versions; the line about TORCH_USE_CUDA_DSA stands below \
                each of them",
        help: "run it again with CUDA_LAUNCH_BLOCKING=1: then the traceback ends at the call that failed",
        ..PLAIN
    },
];

/// What most asides leave empty.
const PLAIN: Aside = Aside { words: &[], but: &[], with: "", means: "", help: "", follows: &[] };

impl Aside {
    /// What a program says of what it lacks before it goes on another way.
    pub const NOTICE: Aside = Aside {
        means: "what gpuenv knows of this text are notices, no faults: the program says what it takes instead",
        help: "look for the error behind them",
        ..PLAIN
    };

    /// Versions that are told without a fault.
    pub const VERSIONS: Aside = Aside {
        means: "these versions mean different things and need not be equal: nvidia-smi shows the newest CUDA that the driver \
                supports, torch brings the CUDA libraries it was built for, and nvcc only compiles",
        help: "change nothing to run torch; to compile extensions for it, nvcc must be of the CUDA major that torch was built for",
        ..PLAIN
    };

    /// What a normalised text in lower case tells.
    pub fn told(lower: &str) -> Option<&'static Aside> {
        ASIDES.iter().find(|aside| aside.stands_in(lower))
    }

    /// Whether a finding only follows from it. An installer that lists the releases which the finding is about has reached
    /// its index.
    fn leads_to(&self, found: &Match, lower: &str) -> bool {
        let lists = found.row.offered.is_some() && found.extract.contains_key("versions_offered");
        let says = |place: &Range<usize>| self.follows.iter().any(|words| lower[place.clone()].contains(words));
        !lists && !found.places.is_empty() && found.places.iter().all(says)
    }

    fn stands_in(&self, lower: &str) -> bool {
        lower.contains(self.with) && self.words.iter().any(|words| self.says(words, lower))
    }

    /// Whether words stand in a text and do not go on to mean something else.
    fn says(&self, words: &str, lower: &str) -> bool {
        lower.match_indices(words).any(|(at, _)| {
            let rest = &lower[at + words.len()..];
            !self.but.iter().any(|but| rest.starts_with(but))
        })
    }
}

/// Drops the findings that only follow from what the text tells besides, and says what that is.
pub fn drop_consequences(matches: &mut Vec<Match>, lower: &str) -> Option<&'static Aside> {
    let mut cause = None;
    let causes = ASIDES.iter().chain([&CUT_OFF, &KERNEL_FAULT]).filter(|aside| !aside.follows.is_empty());
    if matches.is_empty() {
        return None;
    }
    for aside in causes.filter(|aside| aside.stands_in(lower)) {
        let before = matches.len();
        matches.retain(|found| !aside.leads_to(found, lower));
        if matches.len() < before && !aside.means.is_empty() {
            cause = cause.or(Some(aside));
        }
    }
    cause
}
