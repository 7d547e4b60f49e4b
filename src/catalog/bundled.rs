//! The torch that stands in images alone, as builds: whoever takes such an image has it, and nobody else can install it.

use std::collections::{HashMap, HashSet};

use super::rows::*;
use super::tables::{Catalog, Row};
use crate::types::{CpuArch, Version};

impl Catalog {
    /// Adds a build for each torch that an image holds and that was published nowhere else: a snapshot, or one with a
    /// label of its own. It is made for that image, and loads its cuDNN. Which GPUs it has code for is not known.
    pub fn unpack_images(&mut self) {
        self.take_cudnns();
        let mut found: Vec<Build> = Vec::new();
        let known: HashSet<(CpuArch, &str)> =
            self.builds.iter().flat_map(|build| build.systems.iter().map(|of| (build.arch, &**of))).collect();
        for image in self.images.iter().filter(|image| image.torch.is_some()) {
            let toolkit = self.toolkits.iter().any(|row| row.version == image.cuda);
            let unknown = image.arches.iter().filter(|arch| !known.contains(&(**arch, &*image.name())));
            found.extend(unknown.filter_map(|arch| inside(image, *arch, toolkit)));
        }
        if !found.is_empty() {
            self.builds.to_mut().extend(found);
            self.builds.to_mut().sort_by_cached_key(Row::row_name);
        }
    }

    /// Where the row of an image tells its cuDNN, that is the one which the torch in it loads.
    fn take_cudnns(&mut self) {
        let held: HashMap<String, (Version, Text)> = self
            .images
            .iter()
            .filter(|image| image.torch.is_some())
            .filter_map(|image| Some((image.name(), (read_cudnn(image)?, image.source))))
            .collect();
        let holding = |build: &Build| {
            let mut systems = build.systems.iter().filter(|_| build.cudnn.is_none() && build.package == TORCH);
            systems.find_map(|image| held.get(&**image).copied())
        };
        if !self.builds.iter().any(|build| holding(build).is_some()) {
            return;
        }
        for build in self.builds.to_mut() {
            if let Some((cudnn, source)) = holding(build) {
                build.cudnn = Some(cudnn);
                build.pins_source = build.pins_source.or(Some(source));
            }
        }
    }
}

/// The cuDNN of an image, where somebody has read which it is.
fn read_cudnn(image: &Image) -> Option<Version> {
    image.cudnn.filter(|cudnn| cudnn.major() > 0)
}

/// The torch of an image, if it is none that was published; whether the toolkit it is built with has a row.
fn inside(image: &Image, arch: CpuArch, toolkit: bool) -> Option<Build> {
    let torch = image.torch.as_ref()?;
    let release = &torch[..torch.find(|c: char| c != '.' && !c.is_ascii_digit())?];
    let version = Version::parse(release.trim_end_matches('.')).ok()?;
    let variant = format!("cu{}{}", image.cuda.major(), image.cuda.minor());
    Some(Build {
        systems: vec![image.name().into()].into(),
        wheel: Some(*torch),
        pythons: image.python.into_iter().collect::<Vec<Version>>().into(),
        toolkit: toolkit.then_some(image.cuda),
        cudnn: read_cudnn(image),
        pins_source: (toolkit || read_cudnn(image).is_some()).then_some(image.source),
        ..Build::bare("torch".into(), version, variant.into(), arch, image.source)
    })
}
