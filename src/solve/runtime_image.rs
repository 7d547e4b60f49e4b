//! The image that a program runs in, beside the one with compilers that it is built in.

use crate::catalog::rows::{Flavour, Image};

use super::request::{ImageRequest, Request, TargetRequest};

/// The image of the same CUDA and OS with no compiler in it.
pub fn runtime_sibling<'c>(request: &Request<'c>, devel: &Image, target: &TargetRequest<'_>) -> Option<&'c Image> {
    let needs = request.needs_of_images();
    let smallest = needs.smallest_flavour();
    // Taken for its headers, it need not hold the library where a framework brings one.
    let for_headers = needs.cudnn_headers && !needs.system_cuda && matches!(target.image, ImageRequest::Choose(_));
    let holds_cudnn = devel.cudnn.is_some() && !for_headers;
    let siblings = request.catalog.images.of(&devel.repository).iter().filter(|image| {
        image.cuda == devel.cuda
            && image.os == devel.os
            && image.cudnn.is_some() == holds_cudnn
            && image.torch == devel.torch
            && (smallest..Flavour::Devel).contains(&image.flavour)
            && !image.withdrawn
            && image.arches.contains(&target.arch)
    });
    siblings.min_by_key(|image| image.flavour)
}
