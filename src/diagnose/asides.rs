//! What is known and no matter of versions: a text that no finding claims can tell of memory that ran out, of a kernel
//! that refused what it was given, of processes and tensors in the wrong place.

/// What such a text tells.
#[derive(Debug, PartialEq, Eq)]
pub struct Aside {
    /// What programs print, in lower case and without blanks.
    words: &'static [&'static str],
    /// What it means.
    pub means: &'static str,
    /// What helps.
    pub help: &'static str,
}

static ASIDES: [Aside; 8] = [
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
        means: "the text tells that memory ran out: that is no matter of versions",
        help: "see what else is on the GPU (`nvidia-smi`), or take a smaller batch, context or model",
    },
    Aside {
        words: &["device-sideassert", "cudaerrorassert", "cuda_error_assert", "],thread:["],
        means: "a check inside a GPU kernel failed, mostly of an index or a class label that is out of range: that is no \
                matter of versions",
        help: "run it on the CPU, or with CUDA_LAUNCH_BLOCKING=1, to see the line that passes such a value",
    },
    Aside {
        words: &["diedduetosignal9", "killedsignalterminatedprogram"],
        means: "the system ended the compiler, mostly because memory ran out: that is no matter of versions",
        help: "compile fewer files at a time: `MAX_JOBS=2` for packages built with torch, `-j2` for make and ninja",
    },
    Aside {
        words: &["_cpu_notimplementedforhalf", "_cpunotimplementedforhalf", "kernelimplnotimplementedforhalf"],
        means: "the model runs on the CPU, in a data type that its kernels lack there",
        help: "move it to the GPU; where `torch.cuda.is_available()` is False, `gpuenv verify` finds out why",
    },
    Aside {
        words: &["outofresource:sharedmemory", "toomanyresourcesrequestedforlaunch"],
        means: "a kernel asks for more shared memory or registers than a multiprocessor of this GPU has",
        help: "make its blocks smaller (with Triton also `num_stages`), or take a release of the program that is tuned for this GPU",
    },
    Aside {
        words: &["cannotre-initializecudainforkedsubprocess"],
        means: "the program used the GPU and forked afterwards, which CUDA does not support: that is no matter of versions",
        help: "start worker processes with `torch.multiprocessing.set_start_method(\"spawn\")`, or use the GPU only in them",
    },
    Aside {
        words: &["expectedalltensorstobeonthesamedevice"],
        means: "the program mixes tensors of several devices: that is no matter of versions",
        help: "move the model and its input to one device with `.to(device)`",
    },
    Aside {
        words: &["torchwasnotcompiledwithflashattention", "torchwasnotcompiledwithmemoryefficientattention"],
        means: "a notice, no fault: this build of torch, as those for Windows, lacks a kernel for attention and takes another",
        help: "look for the error behind it",
    },
];

impl Aside {
    /// What a normalised text in lower case tells.
    pub fn told(lower: &str) -> Option<&'static Aside> {
        ASIDES.iter().find(|aside| aside.words.iter().any(|words| lower.contains(words)))
    }
}
