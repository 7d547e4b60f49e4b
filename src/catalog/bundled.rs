//! The torch that stands in images alone, as builds: whoever takes such an image has it, and nobody else can install it.

use std::collections::HashSet;

use super::rows::*;
use super::tables::{Catalog, Row};
use crate::types::{CpuArch, Version};

impl Catalog {
    /// Adds a build for each torch that an image holds and that was published nowhere else: a snapshot, or one with a
    /// label of its own. It is made for that image. Which GPUs it has code for is not known.
    pub fn unpack_images(&mut self) {
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
        pins_source: toolkit.then_some(image.source),
        ..Build::bare("torch".into(), version, variant.into(), arch, image.source)
    })
}
