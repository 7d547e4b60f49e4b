//! What is said of images, and of the toolkit that extensions are compiled with.

use crate::types::Version;

use super::Kind;

/// An image of which it is not known for which processors it exists.
pub struct ImageArchUnknown<'a> {
    /// The image.
    pub image: &'a str,
}

impl Kind for ImageArchUnknown<'_> {
    const CODE: &'static str = "image-arch-unknown";
    const EXPLAINED: &'static str = "Nobody has told which CPU architectures this image tag exists for, so it is taken to be an x86_64 one. \
        Pull it once on the machine it is for.";

    fn message(&self) -> String {
        format!("it is not known which CPU architectures {} exists for", self.image)
    }
}

/// An image with a cuda-compat package that the GPU refuses, or that refuses the GPU.
pub struct ImageCompat<'a> {
    /// The image.
    pub image: &'a str,
    /// Its CUDA.
    pub cuda: Version,
    /// The driver.
    pub driver: &'a Version,
    /// The branch that the package is of and a GPU that this branch no longer drives; none where the package is for other GPUs.
    pub dropped: Option<(&'a Version, &'a str)>,
}

impl Kind for ImageCompat<'_> {
    const CODE: &'static str = "image-compat";
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "The image starts on drivers older than its CUDA, for it brings a cuda-compat package with a newer \
        libcuda. That library refuses GeForce, TITAN and workstation boards: \"forward compatibility was \
        attempted on non supported HW\" (804). A data-centre board may be older than that library: a driver \
        branch that no longer drives it finds no device. NVIDIA's container toolkit puts it before the driver's own \
        unless `cuda-compat-mode` is \"disabled\" in its configuration. Take a newer driver, an image whose \
        CUDA is no newer than the driver's, or switch the mode off: the wheels do without.";

    fn message(&self) -> String {
        let package = match self.dropped {
            None => {
                "that is for data-centre GPUs only: a container runtime that puts it first makes CUDA fail with error 804"
                    .to_string()
            }
            Some((branch, gpu)) => format!(
                "of driver branch R{branch}, which no longer drives {gpu}: a container runtime that puts it first finds no GPU"
            ),
        };
        format!(
            "{} holds CUDA {}, newer than driver {} knows, and a cuda-compat package {package}",
            self.image, self.cuda, self.driver
        )
    }
}

/// An image that the catalog does not know.
pub struct ImageNotChecked<'a> {
    /// What is written.
    pub image: &'a str,
    /// The system that its name tells.
    pub os: Option<&'a str>,
    /// Whether `image-requires` says what it needs of the driver.
    pub has_requires: bool,
    /// What was meant, or what is nearest to it, as it ends the sentence.
    pub near: &'a str,
}

impl Kind for ImageNotChecked<'_> {
    const CODE: &'static str = "image-not-checked";
    const EXPLAINED: &'static str = "The image is not of a repository the catalog knows, or it is named by digest only, or its tag is one of \
        a repository of which not all tags are known. It is taken as it is written: neither its CUDA, nor the drivers it starts on were checked, nor its \
        system, unless its name tells that (`ubuntu:22.04`, `python:3.12-slim-bookworm`).";

    fn message(&self) -> String {
        let but = if self.has_requires { " but what `image-requires` says" } else { "" };
        let (known, else_) = match self.os {
            Some(os) => (format!("nothing but its system, {os}, is known"), " else"),
            None => ("nothing is known".to_string(), ""),
        };
        format!("{known} of image `{}`, so nothing{else_} of it is checked{but}{}", self.image, self.near)
    }
}

/// An image whose torch is used, and of which it is not known for which Python it holds it.
pub struct ImagePython<'a> {
    /// The image.
    pub image: &'a str,
    /// The Python in the lock.
    pub python: &'a Version,
}

impl Kind for ImagePython<'_> {
    const CODE: &'static str = "image-python";
    const EXPLAINED: &'static str = "The torch in an image is installed for one Python, and it is not known which one this image holds. The lock names the \
         newest that this release of torch was published for, by which packages with compiled code were chosen. Run \
         `python --version` in the image and write what it says as `python` under `[stack]`.";

    fn message(&self) -> String {
        format!(
            "it is not known which Python {} holds, and {} was assumed: write the one that `docker run --rm {} python --version` \
             prints as `python` under [stack]",
            self.image, self.python, self.image
        )
    }
}

/// An image of which it is not known on which drivers it starts.
pub enum ImageRequireUnknown<'a> {
    /// Nobody has read what it asks for.
    Unread {
        /// The image.
        image: &'a str,
        /// The CUDA that it is judged as.
        judged: Option<&'a str>,
    },
    /// Its tag was built several times, and not every build starts there.
    OfBuilds {
        /// The image.
        image: &'a str,
        /// The driver.
        driver: &'a Version,
    },
}

impl Kind for ImageRequireUnknown<'_> {
    const CODE: &'static str = "image-require-unknown";
    const EXPLAINED: &'static str = "Images state in NVIDIA_REQUIRE_CUDA which drivers they start on. What this one states was not read; it \
        is judged by its CUDA line. Some tags were built several times with different values, and a host keeps the build \
        that it pulled. `docker inspect` on the image shows the variable.";

    fn message(&self) -> String {
        match self {
            ImageRequireUnknown::Unread { image, judged } => {
                let judged = judged.map_or_else(String::new, |cuda| format!("; it is judged as CUDA {cuda}"));
                format!("it is not known which drivers {image} starts on{judged}")
            }
            ImageRequireUnknown::OfBuilds { image, driver } => format!(
                "{image} was built several times: one build starts on driver {driver}, another does not; `docker inspect` \
                 shows in NVIDIA_REQUIRE_CUDA what yours asks for"
            ),
        }
    }
}

/// A requirement that is written of an image and differs from the published one.
pub struct ImageRequires<'a> {
    /// The image.
    pub image: &'a str,
}

impl Kind for ImageRequires<'_> {
    const CODE: &'static str = "image-requires";
    const EXPLAINED: &'static str = "The catalog knows what this image requires in NVIDIA_REQUIRE_CUDA, and `image-requires` says something else. \
        What is written counts: an image of one's own may set the variable anew. Delete `image-requires` if the \
        image is the published one.";

    fn message(&self) -> String {
        format!("{} requires something other than `image-requires`, which is what was judged by", self.image)
    }
}

/// An image whose torch does not run on the target.
pub struct ImageTorch<'a> {
    /// The image.
    pub image: &'a str,
    /// The torch in it.
    pub torch: &'a str,
    /// The cuda-compat package with which it does run.
    pub compat: Option<&'a str>,
    /// Why not.
    pub why: &'a str,
}

impl Kind for ImageTorch<'_> {
    const CODE: &'static str = "image-torch";
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "No torch is asked for, so the one inside the image is what would run, and it does not run on this \
        machine: it holds no code for the GPU, or its CUDA is newer than the driver. Where a cuda-compat package helps, \
        as on data-centre GPUs, it has to be installed on the hosts or in the image, unless the image holds it and the \
        container toolkit loads it. Take another tag, or ask for torch in `[stack]`.";

    fn message(&self) -> String {
        let ImageTorch { image, torch, compat, why } = self;
        let runs = compat.map_or("does not run here".to_string(), |package| format!("runs here only with {package}"));
        format!("the torch {torch} that {image} holds {runs}: {why}")
    }
}

/// An image that was taken from its registry.
pub struct ImageWithdrawn<'a> {
    /// The image.
    pub image: &'a str,
}

impl Kind for ImageWithdrawn<'_> {
    const CODE: &'static str = "image-withdrawn";
    const EXPLAINED: &'static str = "The tag was taken from the registry, and it is used only because an override says so. It works where a \
        copy of the image is kept. Mirror it, or move to a tag that can be pulled.";

    fn message(&self) -> String {
        format!("{} can no longer be pulled", self.image)
    }
}

/// A toolkit of another minor release than the wheels'.
pub struct ToolkitMinor {
    /// The toolkit's CUDA line.
    pub toolkit: Version,
    /// The wheels'.
    pub wheels: Version,
    /// Whether torch's extension builder compares them.
    pub of_torch: bool,
}

impl Kind for ToolkitMinor {
    const CODE: &'static str = "toolkit-minor";
    const EXPLAINED: &'static str = "Extensions are compiled with a toolkit of another minor release than the wheel's CUDA. torch prints a \
        warning while building. What an older toolkit compiles mostly works, as CUDA promises within a major. What a newer one \
        compiles may ask the wheel's older CUDA runtime for functions that it lacks, and then does not load (\"undefined symbol: \
        cudaGetDriverEntryPointByVersion\"). The setup.py of some packages, apex's among them, stops at another minor release. \
        Install the toolkit of the wheel's own line to be on the safe side.";

    fn message(&self) -> String {
        let (toolkit, wheels) = (self.toolkit, self.wheels);
        let follows = match toolkit > wheels {
            true => "what is compiled may not load beside the wheels' older CUDA runtime (\"undefined symbol\")",
            false => "what is compiled usually works",
        };
        let compared = format!("extensions are compiled with CUDA {toolkit} while the wheels use CUDA {wheels}");
        match self.of_torch {
            true => format!(
                "{compared}: torch prints a warning while building, {follows}, and some packages (apex) refuse to build; \
                 toolkit {wheels} avoids this"
            ),
            false => format!("{compared}: {follows}; toolkit {wheels} avoids this"),
        }
    }
}

/// A toolkit of another minor release than the wheels', with which a package is compiled that refuses to be imported then.
pub struct MinorRefused<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// The toolkit's CUDA line.
    pub toolkit: Version,
    /// The framework's.
    pub wheels: Version,
    /// The framework and its build.
    pub build: &'a str,
}

impl Kind for MinorRefused<'_> {
    const CODE: &'static str = "minor-refused";
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "The package is compiled where it is installed, keeps the CUDA release that compiled it, and compares it with that of \
        its framework when it is imported: another minor release ends in \"Detected that PyTorch and torch_scatter were \
        compiled with different CUDA versions\". Compile it with the toolkit of the framework's own line, take a finished wheel \
        for the framework, or a later release of the package, which compares the major alone.";

    fn message(&self) -> String {
        let MinorRefused { name, toolkit, wheels, build } = self;
        format!(
            "{name} refuses to be imported where CUDA {toolkit} compiled it, for {build} is built for CUDA {wheels} (\"compiled \
             with different CUDA versions\"): install the toolkit of CUDA {wheels} and compile it with that, or take a finished \
             wheel for {build}"
        )
    }
}

/// An image of another CUDA line than the wheels'.
pub struct TwoRuntimes<'a> {
    /// The image.
    pub image: &'a str,
    /// Its CUDA line.
    pub holds: Version,
    /// The wheels'.
    pub wheels: Version,
    /// Whether gpuenv chose the image.
    pub chosen: bool,
}

impl Kind for TwoRuntimes<'_> {
    const CODE: &'static str = "two-runtimes";
    const EXPLAINED: &'static str = "The image holds one CUDA line and the wheels bring another of their own. The process loads the wheels' \
        libraries, so it works; the image's are dead weight, and a program that links against them by chance \
        meets the wrong one. An image of flavour `base` of the wheels' line avoids it.";

    fn message(&self) -> String {
        let why = match self.chosen {
            true => "no image of that CUDA line works here",
            false => "the wheel's own is the one that runs",
        };
        format!("{} holds CUDA {}, the wheels bring CUDA {}: {why}", self.image, self.holds, self.wheels)
    }
}

/// A package of which an image's torch takes no wheel.
pub struct LeftToImage<'a> {
    /// The package.
    pub package: &'a str,
    /// The image.
    pub image: &'a str,
}

impl Kind for LeftToImage<'_> {
    const CODE: &'static str = "left-to-image";
    const EXPLAINED: &'static str = "Wheels of packages such as torchvision are built for one published release of torch, and the torch in \
        this image is none: a wheel would not load, or would replace it. The image holds one that was compiled with its torch. \
        As any release of the package will do, nothing is locked or installed, and the image's is used; `pip show` in the \
        image tells its version.";

    fn message(&self) -> String {
        let LeftToImage { package, image } = self;
        format!("no wheel of {package} is for the torch in {image}: what the image holds of {package} is used")
    }
}

/// A torch beside the image's own.
pub enum TwoTorches<'a> {
    /// It is not known which one the image holds.
    Unknown {
        /// The image.
        image: &'a str,
        /// What is installed.
        installed: &'a str,
    },
    /// The image holds another one.
    Other {
        /// The image.
        image: &'a str,
        /// The torch in it.
        inside: &'a str,
        /// Its CUDA line.
        cuda: Version,
        /// What is installed.
        installed: &'a str,
    },
}

impl Kind for TwoTorches<'_> {
    const CODE: &'static str = "two-torches";
    const EXPLAINED: &'static str = "The image holds a torch of its own and the lock installs another beside it. Both are there: the lock's \
        for programs that its Python runs, the image's for all others. Ask for the release that the image \
        holds, take an image without torch (`nvidia/cuda`), or leave torch out of `[stack]`.";

    fn message(&self) -> String {
        match self {
            TwoTorches::Unknown { image, installed } => format!(
                "{image} holds a torch of its own, of which nobody knows the release, and torch {installed} is installed \
                 beside it"
            ),
            TwoTorches::Other { image, inside, cuda, installed } => format!(
                "{image} holds torch {inside} for CUDA {cuda} of its own, and torch {installed} is installed beside it: a \
                 program that is not started with the locked Python meets the image's"
            ),
        }
    }
}
