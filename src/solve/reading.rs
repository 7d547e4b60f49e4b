//! A target's lines as values.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::rc::Rc;

use crate::catalog::rows::{Compat, Os};
use crate::spec::{KernelModule, Runtime};
use crate::types::{CpuArch, Version};

use super::platform::Platform;
use super::values::{DriverRequest, GpuRequest, Gpus, ImageRequest, Told};

/// A target's lines as values, with every name looked up.
#[derive(Debug, Clone)]
pub struct Reading<'c> {
    /// Where the stack runs.
    pub runtime: Runtime,
    /// The CPU architecture: as written, else what a product implies, else x86_64.
    pub arch: CpuArch,
    /// The kind of machine it is to wheels.
    pub platform: Platform<'c>,
    /// The GPUs.
    pub gpus: Gpus<'c>,
    /// The driver.
    pub driver: DriverRequest,
    /// The OS of the machine or image.
    pub os: Option<&'c Os>,
    /// What it implies as the nearest relative of one that is not listed.
    pub judged: Judged,
    /// Of the systems that are one to the catalog the one whose images are meant, where `os` names it: `ubi9`.
    pub image_os: Option<&'c str>,
    /// The C library of the machine or image: as written, else what the OS implies.
    pub glibc: Option<Version>,
    /// The host compiler: as written, else what the OS implies.
    pub gcc: Option<Version>,
    /// The same where nothing of the user's own is compiled: what packages that come as source are compiled with.
    pub own_gcc: Option<Version>,
    /// Whether it is written.
    pub has_gcc: bool,
    /// The host compiler where it is clang; then no gcc is asked.
    pub clang: Option<Version>,
    /// Toolkits installed there.
    pub toolkits: Option<Vec<Version>>,
    /// A cuDNN that is installed there.
    pub cudnn: Option<Version>,
    /// A cuda-compat package that is installed there.
    pub compat: Option<&'c Compat>,
    /// The flavour of kernel modules that is installed there.
    pub kernel_module: Option<KernelModule>,
    /// What the image asks for in NVIDIA_REQUIRE_CUDA, where that is written.
    pub image_requires: Option<Rc<str>>,
    /// Whether its driver is that of Windows, as under WSL2.
    pub windows_driver: bool,
    /// The image.
    pub image: ImageRequest<'c>,
    /// Whether forward compatibility may be used.
    pub forward_compat: bool,
}

/// Which parts of a machine are those of its system's nearest relative, for the catalog does not list the system itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Judged {
    /// Its C library.
    pub glibc: bool,
    /// Its host compiler.
    pub gcc: bool,
    /// The relative is newer: what the system has is at most that.
    pub newer: bool,
    /// Its boards, and all that comes with it: it is a JetPack, and its relative is an older one.
    pub jetpack: bool,
}

impl Reading<'_> {
    /// Whether its toolkits are written, which are all that is installed there then; in an image it is that one's.
    pub fn has_all_toolkits(&self) -> bool {
        self.toolkits.is_some() && !self.is_cpu() && matches!(self.image, ImageRequest::No)
    }

    /// The gcc that compiles: of packages that come as source one that is written.
    pub fn compiler(&self) -> Option<Version> {
        self.gcc.or(self.own_gcc.filter(|_| self.has_gcc))
    }

    /// The C++ library of its system, where that is known to be in the way of something.
    pub fn libstdcxx(&self) -> Option<Version> {
        self.os?.libstdcxx
    }

    /// Everything the solver looks at: not how GPUs are written, but which they are. A field that is not told here makes
    /// one machine of two.
    fn identity(&self) -> impl PartialEq + Hash + '_ {
        let Reading {
            runtime,
            arch: _, // The platform's.
            platform,
            gpus,
            driver,
            os,
            judged,
            image_os,
            glibc,
            gcc,
            own_gcc,
            has_gcc,
            clang,
            toolkits,
            cudnn,
            compat,
            kernel_module,
            image_requires,
            windows_driver,
            image,
            forward_compat,
        } = self;
        let named: Vec<(&str, _, bool)> = match gpus {
            Gpus::Unsaid | Gpus::Cpu => Vec::new(),
            Gpus::These(gpus) => gpus.iter().map(|gpu| (gpu.name.as_str(), gpu.cc, gpu.is_instance)).collect(),
        };
        let gpus = (discriminant(gpus), named);
        let (repository, known) = match image {
            ImageRequest::Choose(repository) => (Some(repository), None),
            ImageRequest::Known(image) => (None, Some(std::ptr::from_ref(*image))),
            ImageRequest::No
            | ImageRequest::NoSuchTag(_)
            | ImageRequest::Unchecked(_)
            | ImageRequest::UnseenTag(..) => (None, None),
        };
        let image = (discriminant(image), repository, known);
        let host = (os.map(|os| &*os.id), judged, image_os, glibc, (gcc, own_gcc, has_gcc), clang, toolkits, cudnn);
        let beneath = (driver, windows_driver, compat.map(|compat| compat.cuda), kernel_module, image_requires);
        (runtime, platform, gpus, beneath, host, image, forward_compat)
    }
}

impl PartialEq for Reading<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Reading<'_> {}

impl Hash for Reading<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl<'c> Reading<'c> {
    /// The CUDA lines of the cuda-compat packages that a Jetson's system takes beside its own driver: none where it is not
    /// told. Others take what NVIDIA says of their driver's branch.
    pub fn own_compats(&self) -> Option<&'c [Version]> {
        self.gpus.are_jetsons().then(|| self.os.map_or(&[][..], |os| &os.compats))
    }

    /// Whether one of its GPUs is a Jetson's, whose driver comes with its system image.
    pub fn is_jetson(&self) -> bool {
        self.named_gpus().iter().any(GpuRequest::is_jetson)
    }

    /// The GPUs named, if any.
    pub fn named_gpus(&self) -> &[GpuRequest<'c>] {
        match &self.gpus {
            Gpus::These(gpus) => gpus,
            _ => &[],
        }
    }

    /// Whether the target has no GPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self.gpus, Gpus::Cpu)
    }

    /// Whether anything definite is said of the driver.
    pub fn pins_driver(&self) -> bool {
        !matches!(self.driver, DriverRequest::Free(_))
    }

    /// Whether the driver is the one that comes with the system, whose release number nobody needs to know.
    pub fn has_system_driver(&self) -> bool {
        matches!(&self.driver, DriverRequest::Cuda(_, Told::System | Told::Jetson(_)))
    }

    /// Whether the driver comes with the system, told or not, and so has none of the numbers that servers' drivers have.
    pub fn has_unnumbered_driver(&self) -> bool {
        self.has_system_driver() || self.gpus.are_jetsons()
    }

    /// The setting that tells what driver there is.
    pub fn driver_setting(&self) -> &'static str {
        match &self.driver {
            DriverRequest::Cuda(_, Told::System) => "os",
            DriverRequest::Cuda(_, Told::Key(_)) => "driver-cuda",
            _ => "driver",
        }
    }
}
