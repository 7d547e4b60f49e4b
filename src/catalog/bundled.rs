//! The torch that stands in images alone, as builds: whoever takes such an image has it, and nobody else can install it.

use super::rows::*;
use super::tables::{Catalog, Row};
use crate::types::{CpuArch, Version};

impl Catalog {
    /// Adds a build for each torch that an image holds and that was published nowhere else: a snapshot, or one with a
    /// label of its own. It is made for that image. Which GPUs it has code for is not known.
    pub fn unpack_images(&mut self) {
        let mut found: Vec<Build> = Vec::new();
        for image in self.images.iter() {
            for &arch in image.arches.iter() {
                let known = |build: &Build| build.arch == arch && build.systems.iter().any(|of| **of == *image.name());
                if !self.builds.iter().any(known) {
                    let toolkit = self.toolkits.iter().any(|row| row.version == image.cuda);
                    found.extend(inside(image, arch, toolkit));
                }
            }
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
    Some(Build {
        package: "torch".into(),
        version: Version::parse(release.trim_end_matches('.')).ok()?,
        variant: format!("cu{}{}", image.cuda.major(), image.cuda.minor()).into(),
        arch,
        systems: vec![image.name().into()].into(),
        default: false,
        status: Status::Stable,
        index: List::default(),
        index_url: None,
        url: None,
        wheel: Some(*torch),
        extra: None,
        pythons: image.python.into_iter().collect::<Vec<Version>>().into(),
        pythons_partial: false,
        sass: List::default(),
        ptx: List::default(),
        ptx_isa: None,
        glibc: None,
        toolkit: toolkit.then_some(image.cuda),
        pins: None,
        cudnn: None,
        cudnn_range: None,
        system_cuda: false,
        loads: List::default(),
        nccl: None,
        triton: None,
        triton_python: None,
        source: image.source,
        arch_source: None,
        pins_source: toolkit.then_some(image.source),
        expected: List::default(),
        expected_pythons: List::default(),
        extra_pythons: List::default(),
    })
}
