//! What the lines of a target mean: its GPUs, its driver, its image.

use crate::catalog::rows::{Class, Gpu, Image};
use crate::spec::ImageRef;
use crate::types::{Cc, Constraint, Version};

/// What is known of a target's GPUs.
#[derive(Debug, Clone)]
pub enum Gpus<'c> {
    /// `gpu` is omitted.
    Unsaid,
    /// `gpu = "none"`
    Cpu,
    /// Each of these must work alone.
    These(Vec<GpuRequest<'c>>),
}

impl Gpus<'_> {
    /// Whether they are boards of NVIDIA's Jetson line, which come with a driver of their own.
    pub fn are_jetsons(&self) -> bool {
        match self {
            Gpus::These(gpus) => gpus.iter().all(GpuRequest::is_jetson),
            Gpus::Unsaid | Gpus::Cpu => false,
        }
    }
}

/// What is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Archs {
    /// A list of architectures that is insisted on.
    Listed,
    /// What the GPUs have and the compilers know.
    Free,
}

/// One GPU product, or a bare capability.
#[derive(Debug, Clone)]
pub struct GpuRequest<'c> {
    /// NVML's name, or `sm_90`.
    pub name: String,
    /// The name as it was written, which may mean several products.
    pub written: String,
    /// Whether it is named itself, beside a family of that name or not.
    pub is_named: bool,
    /// Its compute capability.
    pub cc: Cc,
    /// The same as a version, for rules.
    pub cc_version: Version,
    /// The product's row; none for a bare capability.
    pub row: Option<&'c Gpu>,
    /// Whether it is a MIG instance of that product.
    pub is_instance: bool,
}

/// What is said of a target's driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DriverRequest {
    /// Nothing, or only upper bounds: the lock states the minimum.
    Free(Option<Constraint>),
    /// The hosts have exactly this release.
    Exact(Version),
    /// The hosts have at worst the oldest branch this admits.
    AtWorst(Constraint),
    /// The hosts' nvidia-smi shows this CUDA version, and how that is known.
    Cuda(Version, Told),
}

impl DriverRequest {
    /// What a constraint on the driver means, where it is none of Jetsons or Windows' own.
    pub fn of(constraint: &Constraint) -> Self {
        if constraint.is_any() {
            return DriverRequest::Free(None);
        }
        if constraint.only_upper_bounds() {
            return DriverRequest::Free(Some(constraint.clone()));
        }
        match constraint.single() {
            Some(version) if version.len() >= 2 => DriverRequest::Exact(*version),
            _ => DriverRequest::AtWorst(constraint.clone()),
        }
    }

    /// The drivers of a list, each of which some host has; none of what is no list.
    pub fn listed(&self) -> Vec<DriverRequest> {
        match self {
            DriverRequest::AtWorst(list) if list.alternatives().len() > 1 => {
                let each = list.apart().map(|one| DriverRequest::of(&one));
                each.filter(|one| !matches!(one, DriverRequest::Free(_))).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What tells the CUDA version of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Told {
    /// `driver-cuda`, and what is written there.
    Key(Version),
    /// The system, which the driver comes with.
    System,
    /// This number of a driver that Jetsons alone have.
    Jetson(Version),
}

/// What is said of a target's image.
#[derive(Debug, Clone)]
pub enum ImageRequest<'c> {
    /// No image.
    No,
    /// Choose a tag of this repository.
    Choose(String),
    /// This image, known to the catalog.
    Known(&'c Image),
    /// This tag of a known repository, which has no such tag.
    NoSuchTag(ImageRef),
    /// This tag of a known repository of which not all tags are known.
    UnseenTag(ImageRef),
    /// An image of a repository the catalog does not know, or described in the spec: nothing else of it is checked.
    Unchecked(ImageRef),
}

impl GpuRequest<'_> {
    /// Whether cuda-compat may run on it.
    pub fn is_datacenter(&self) -> bool {
        self.row.is_some_and(|row| row.class == Class::Datacenter)
    }

    /// Whether it is a board of NVIDIA's Jetson line, which comes with a driver of its own.
    pub fn is_jetson(&self) -> bool {
        self.row.is_some_and(|row| row.class == Class::Jetson)
    }
}
