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
    /// Why the package does not do.
    pub why: CompatFails<'a>,
}

/// Why the cuda-compat package of an image does not do on a target.
pub enum CompatFails<'a> {
    /// It is for other GPUs.
    Gpu,
    /// The branch that it is of no longer drives a GPU.
    Dropped(&'a Version, &'a str),
    /// NVIDIA does not name the driver's branch.
    Branch(u64),
}

impl Kind for ImageCompat<'_> {
    const CODE: &'static str = "image-compat";

    fn message(&self) -> String {
        let package = match self.why {
            CompatFails::Gpu => {
                "that is for data-centre GPUs only: a container runtime that puts it first makes CUDA fail with error 804"
                    .to_string()
            }
            CompatFails::Dropped(branch, gpu) => format!(
                "of driver branch R{branch}, which no longer drives {gpu}: a container runtime that puts it first finds no GPU"
            ),
            CompatFails::Branch(branch) => format!(
                "that NVIDIA does not name for branch R{branch}: a container runtime that puts it first may find no GPU; remove it, \
                 or take a driver of another branch"
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
    /// Whether it was written, and not assumed.
    pub is_written: bool,
}

impl Kind for ImagePython<'_> {
    const CODE: &'static str = "image-python";

    fn message(&self) -> String {
        if self.is_written {
            return format!(
                "it is not known which Python {} holds, and `python = \"{}\"` is taken for it: see that \
                 `docker run --rm {} python --version` prints that one",
                self.image, self.python, self.image
            );
        }
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

    fn message(&self) -> String {
        let ImageTorch { image, torch, compat, why } = self;
        let runs = compat.map_or("does not run here".to_string(), |package| format!("runs here only with {package}"));
        format!("the torch {torch} that {image} holds {runs}: {why}")
    }
}

/// An image whose CUDA does not serve a GPU, where it is nearly all that is asked for.
pub struct ImageCuda<'a> {
    /// The image.
    pub image: &'a str,
    /// Its CUDA.
    pub cuda: Version,
    /// The GPU.
    pub gpu: &'a str,
    /// Why not.
    pub says: &'a str,
}

impl Kind for ImageCuda<'_> {
    const CODE: &'static str = "image-cuda";

    fn message(&self) -> String {
        let ImageCuda { image, cuda, gpu, says } = self;
        format!(
            "the CUDA {cuda} in {image} does not serve {gpu}: {}; only what brings another CUDA computes there",
            says.trim_end_matches('.')
        )
    }
}

/// An image that was taken from its registry.
pub struct ImageWithdrawn<'a> {
    /// The image.
    pub image: &'a str,
}

impl Kind for ImageWithdrawn<'_> {
    const CODE: &'static str = "image-withdrawn";

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
    /// The release that it should hold, for its torch.
    pub expected: Option<Version>,
}

impl Kind for LeftToImage<'_> {
    const CODE: &'static str = "left-to-image";

    fn message(&self) -> String {
        let LeftToImage { package, image, expected } = self;
        let expected = expected.map_or(String::new(), |release| {
            format!("; nobody has read which release that is: for this torch it should be {release} or a snapshot from before it")
        });
        format!(
            "no wheel of {package} is for the torch in {image}: what the image holds of {package} is used{expected}"
        )
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
