//! The machines that wheels are made for: a processor and, where a system takes only what was made for it, that system.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Image, Os, TORCH, Text};
use crate::types::CpuArch;

use super::values::{Gpus, ImageRequest};

/// How the system of a Jetson is called that names none.
pub(super) const ITS_JETPACK: &str = "the JetPack of its boards";

/// The kind of machine that a target is, to wheels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform<'c> {
    /// The processor.
    pub arch: CpuArch,
    /// What it takes.
    pub takes: Takes<'c>,
}

/// Which wheels a machine takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Takes<'c> {
    /// Those for Linux in general.
    General,
    /// Those made for this system, or that stand in this image, or in some image of this repository.
    ForSystem(&'c str),
    /// Either, for nobody has said which system it has: a Jetson, which may have one of each kind.
    Either,
}

impl<'c> Platform<'c> {
    /// A target's machine. One without a GPU takes wheels for Linux in general.
    pub fn new(arch: CpuArch, os: Option<&'c Os>, gpus: &Gpus<'_>) -> Self {
        let takes = match os {
            Some(os) if os.own_packages && !matches!(gpus, Gpus::Cpu) => Takes::ForSystem(&os.id),
            None if gpus.are_jetsons() => Takes::Either,
            _ => Takes::General,
        };
        Platform { arch, takes }
    }

    /// The same where an image holds a framework that was published nowhere else: it runs there and nowhere else.
    pub fn in_image(self, catalog: &'c Catalog, image: &ImageRequest<'c>) -> Self {
        let own = match image {
            ImageRequest::Known(image) if holds_its_own(image) => {
                let name = image.name();
                let systems = catalog.builds.iter().flat_map(|build| build.systems.iter());
                systems.map(|system| &**system).find(|system| *system == name)
            }
            ImageRequest::Choose(repository) => {
                let mut images = catalog.images.of(repository).iter();
                images.find(|image| holds_its_own(image)).map(|image| &*image.repository)
            }
            _ => None,
        };
        Platform { takes: own.map_or(self.takes, Takes::ForSystem), ..self }
    }

    /// The image, or the repository of images, whose own framework runs there.
    pub fn image(&self) -> Option<&'c str> {
        match self.takes {
            Takes::ForSystem(place) if place.contains('/') => Some(place),
            _ => None,
        }
    }

    /// Whether it takes only what was made for its system, as a JetPack does.
    pub fn is_one_system(&self) -> bool {
        matches!(self.takes, Takes::ForSystem(_)) && self.image().is_none()
    }

    /// Any machine with a processor.
    pub fn general(arch: CpuArch) -> Self {
        Platform { arch, takes: Takes::General }
    }

    /// Whether a build of a framework was made for such machines.
    pub fn takes(&self, build: &Build) -> bool {
        let beside_torch = build.package != TORCH && self.runs_in_image(&build.systems);
        build.arch == self.arch && (self.is_of(&build.systems) || build.is_own() || beside_torch)
    }

    /// Whether the wheels of a package were made for such machines. What comes as source is compiled there.
    pub fn takes_companion(&self, row: &Companion) -> bool {
        // Beside the torch of a single system nobody was seen to compile what has wheels elsewhere.
        if row.source_for().is_some() && self.takes != Takes::General {
            return false;
        }
        let beside_torch = row.framework != TORCH && self.runs_in_image(&row.systems);
        row.is_for_arch(self.arch) && (self.is_of(&row.systems) || row.sdist && row.systems.is_empty() || beside_torch)
    }

    /// Whether the wheels of a package that goes with any torch were made for such machines: beside a torch that an image
    /// holds, those for Linux in general run too.
    pub fn takes_beside_any_torch(&self, row: &Companion) -> bool {
        self.takes_companion(row) || row.is_for_arch(self.arch) && self.runs_in_image(&row.systems)
    }

    /// Whether what is made for Linux in general runs here because an image holds a torch, and no more than that.
    fn runs_in_image(&self, systems: &[Text]) -> bool {
        self.image().is_some() && systems.is_empty()
    }

    fn is_of(&self, systems: &[Text]) -> bool {
        match self.takes {
            Takes::General => systems.is_empty(),
            Takes::ForSystem(system) => systems
                .iter()
                .any(|one| one.strip_prefix(system).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))),
            // What stands in an image is installed nowhere else.
            Takes::Either => systems.is_empty() || systems.iter().any(|one| !one.contains('/')),
        }
    }
}

/// Whether an image holds a torch that was published nowhere else: a snapshot, or one with a label of its own.
fn holds_its_own(image: &Image) -> bool {
    image.torch.as_ref().is_some_and(|torch| torch.contains(|c: char| c != '.' && !c.is_ascii_digit()))
}
