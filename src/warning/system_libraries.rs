//! What is said of libraries that are loaded and that nothing of the stack brings.

use crate::types::Version;

use super::Kind;

/// CUDA libraries that a build loads and nobody brings along.
pub enum SystemCuda<'a> {
    /// Nobody says that they are there.
    Install {
        /// The build.
        name: &'a str,
        /// What it loads: `CUDA 11.0 and cuDNN 8.0`.
        what: &'a str,
        /// The keys that name them.
        keys: &'a str,
    },
    /// Those of an older release are there.
    Older {
        /// The build.
        name: &'a str,
        /// The CUDA it was built with.
        cuda: Version,
        /// The one that is installed.
        installed: &'a Version,
    },
    /// Only those of a CUDA that does not serve are there.
    OtherMajor {
        /// The package.
        name: &'a str,
        /// What it loads: `CUDA 12`.
        what: &'a str,
        /// What is there: "`toolkit` names CUDA 11.8, 12.4 only".
        there: &'a str,
    },
    /// Nobody has read what the image holds.
    ImageUnread {
        /// The build or package.
        name: &'a str,
        /// What it loads: `CUDA 12`.
        what: &'a str,
        /// The image.
        image: &'a str,
    },
    /// The image holds CUDA's runtime and no other library of it.
    ImageBase {
        /// The package.
        name: &'a str,
        /// What it loads: `CUDA 12`.
        what: &'a str,
        /// The image.
        image: &'a str,
    },
    /// The image holds CUDA's libraries without the headers that kernels are compiled with when they run.
    ImageHeaders {
        /// The package.
        name: &'a str,
        /// The image.
        image: &'a str,
    },
    /// The image holds CUDA's libraries without a file of the compiler that it reads when it runs.
    ImageCompiler {
        /// The build.
        name: &'a str,
        /// The CUDA it was built with.
        cuda: Version,
        /// The file, below the folder of the toolkit.
        file: &'a str,
        /// The image.
        image: &'a str,
    },
    /// It chooses its kernels by a CUDA that it looks for itself, and nobody says that one is there.
    Finds {
        /// The package.
        name: &'a str,
        /// The releases that it has kernels for: `>=11.0,<12.2`.
        needs: &'a str,
        /// The image that does not hold the files which it looks for.
        image: Option<&'a str>,
    },
    /// It has no kernels for the CUDA that it will find.
    FindsOther {
        /// The package.
        name: &'a str,
        /// The releases that it has kernels for.
        needs: &'a str,
        /// What is there: `CUDA 12.4`.
        has: &'a str,
    },
    /// The image holds a cuDNN of which nobody has read the release.
    ImageCudnn {
        /// The build.
        name: &'a str,
        /// The cuDNN that it needs.
        needs: &'a Version,
        /// The image.
        image: &'a str,
    },
}

impl Kind for SystemCuda<'_> {
    const CODE: &'static str = "system-cuda";

    fn message(&self) -> String {
        match self {
            SystemCuda::Install { name, what, keys } => {
                format!(
                    "{name} loads {what} from the system and brings none: install what is missing, and set {keys} of the target"
                )
            }
            SystemCuda::Older { name, cuda, installed } => format!(
                "{name} was built with CUDA {cuda} and would load the libraries of CUDA {installed}, which may lack what it calls: \
                 install CUDA {cuda} too"
            ),
            SystemCuda::OtherMajor { name, what, there } => {
                format!(
                    "{name} loads the libraries of {what} from the system, and {there}, which does not serve: install {what} too"
                )
            }
            SystemCuda::ImageUnread { name, what, image } => format!(
                "{name} loads {what} from the system and brings none, and nobody has read whether `{image}` holds that, which images \
                 of distributions and of Python do not: install what is missing in it, or take an image that has it"
            ),
            SystemCuda::ImageBase { name, what, image } => format!(
                "{name} loads {what} from the system and brings none, and {image} is of flavour base, which holds the runtime and \
                 no other library of CUDA: take the image of flavour runtime"
            ),
            SystemCuda::ImageHeaders { name, image } => format!(
                "{name} compiles its kernels when they run, with headers of CUDA that {image} does not hold: take the image of \
                 flavour devel, or install the runtime of the same CUDA beside it (the wheel whose name begins with \
                 nvidia-cuda-runtime)"
            ),
            SystemCuda::ImageCompiler { name, cuda, file, image } => format!(
                "{name} compiles kernels when it runs and reads {file} of CUDA's compiler, which {image} does not hold: take the \
                 image of flavour devel, or install the nvcc of CUDA {cuda} in it"
            ),
            SystemCuda::Finds { name, needs, image } => {
                let set = match image {
                    Some(image) => format!("{image} holds none that it recognizes: take the image of flavour devel"),
                    None => "install that, and set `toolkit` of the target".to_string(),
                };
                format!(
                    "{name} does not ask its framework for its CUDA: it looks for libcudart.so in the conda environment, in LD_LIBRARY_PATH \
                     and in /usr/local/cuda, needs CUDA {needs} there, and computes on the CPU only where it finds none; {set}"
                )
            }
            SystemCuda::FindsOther { name, needs, has } => format!(
                "{name} chooses its kernels by the libcudart.so that it finds in the conda environment, in LD_LIBRARY_PATH or in \
                 /usr/local/cuda, not by its framework, and has none for what is there ({has}): it needs CUDA {needs}; install that \
                 beside it, and have LD_LIBRARY_PATH name its lib64 first"
            ),
            SystemCuda::ImageCudnn { name, needs, image } => format!(
                "{name} needs cuDNN {needs} or a later one of that major, and it is not known which one {image} holds: look there, and \
                 set `cudnn` of the target"
            ),
        }
    }
}

/// Libraries that a wheel loads and nothing installs.
pub enum LibraryMissing<'a> {
    /// Nothing brings them.
    Nowhere {
        /// The build or package.
        name: &'a str,
        /// The libraries.
        files: &'a [&'a str],
    },
    /// The build of its framework beside it has them inside.
    Borrowed {
        /// The package.
        name: &'a str,
        /// The libraries, without the number that ends their names.
        files: &'a [String],
        /// The build.
        build: &'a str,
        /// The major of its CUDA.
        cuda: u64,
        /// The framework.
        of: &'a str,
    },
    /// A wheel brings them, where the loader does not look.
    Unreached {
        /// The package.
        name: &'a str,
        /// The libraries.
        files: &'a [&'a str],
        /// The folder that they lie in, below that of the environment's packages.
        folder: &'a str,
        /// A cuDNN of the machine that does not serve, and the one that the package was built with.
        other: Option<(&'a Version, &'a Version)>,
    },
}

impl Kind for LibraryMissing<'_> {
    const CODE: &'static str = "library-missing";

    fn message(&self) -> String {
        match self {
            LibraryMissing::Nowhere { name, files } => {
                format!(
                    "{name} loads {}, which neither pip nor the system installs: install it yourself",
                    files.join(", ")
                )
            }
            LibraryMissing::Borrowed { name, files, build, cuda, of } => format!(
                "{name} loads {} of CUDA {cuda}, which {build} has inside where nothing else loads it: install a toolkit of \
                 CUDA {cuda} and set `toolkit` of the target, or take a release of {of} that has pip install its CUDA",
                files.join(" and ")
            ),
            LibraryMissing::Unreached { name, files, folder, other } => {
                let other = other.map_or_else(String::new, |(has, needs)| {
                    format!(": the cuDNN {has} that is there does not serve, it was built with {needs}")
                });
                let put = if folder.contains('*') { "every folder" } else { "the folder" };
                let what = if files.len() > 1 { "those libraries" } else { "that library" };
                format!(
                    "{name} loads {} by name, which pip installs where the loader does not look: put {put} {folder} of the \
                     environment's site-packages into `LD_LIBRARY_PATH` before Python starts, or install {what} on the system{other}",
                    files.join(" and ")
                )
            }
        }
    }
}

/// A ptxas in PATH that a framework runs in place of its own.
pub struct PathPtxas<'a> {
    /// The framework and its release.
    pub name: &'a str,
    /// The CUDA of the one in PATH.
    pub cuda: &'a Version,
    /// The CUDA whose ptxas reads what it writes.
    pub needs: &'a str,
    /// What the rule says.
    pub says: &'a str,
}

impl Kind for PathPtxas<'_> {
    const CODE: &'static str = "path-ptxas";

    fn message(&self) -> String {
        let PathPtxas { name, cuda, needs, says } = self;
        format!(
            "where the ptxas of CUDA {cuda} is the first in PATH, {name} fails: take it out of PATH, or put one of CUDA {needs} \
             before it. {says}"
        )
    }
}

/// A cuDNN that is older than a GPU.
pub struct CudnnGpu<'a> {
    /// The GPUs.
    pub gpus: &'a str,
    /// The cuDNN that is loaded.
    pub cudnn: &'a Version,
    /// Those that support them.
    pub needs: &'a str,
    /// What the rule says.
    pub says: &'a str,
}

impl Kind for CudnnGpu<'_> {
    const CODE: &'static str = "cudnn-gpu";

    fn message(&self) -> String {
        let CudnnGpu { gpus, cudnn, needs, says } = self;
        format!("cuDNN {cudnn} is older than {gpus}: take one of {needs}. {says}")
    }
}

/// Libraries of a toolkit that need a newer C library than there is.
pub struct ToolkitGlibc<'a> {
    /// The toolkit.
    pub toolkit: &'a Version,
    /// The C library of the target.
    pub glibc: &'a Version,
    /// Those with which they load.
    pub needs: &'a str,
    /// What the rule says.
    pub says: &'a str,
    /// The newest CUDA whose libraries do.
    pub instead: Option<&'a Version>,
}

impl Kind for ToolkitGlibc<'_> {
    const CODE: &'static str = "toolkit-glibc";

    fn message(&self) -> String {
        let ToolkitGlibc { toolkit, glibc, needs, says, instead } = self;
        let instead = instead.map_or_else(String::new, |cuda| format!("take CUDA {cuda} or older, "));
        format!(
            "some libraries of CUDA {toolkit} need glibc {needs}, and the target has {glibc}: {instead}take a newer system, or \
             link none of them. {says}"
        )
    }
}
