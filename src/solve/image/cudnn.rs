//! The cuDNN in an image: its release where somebody has read it, else the major that its tag tells.

use crate::catalog::Catalog;
use crate::catalog::rows::{Flavour, Image};
use crate::types::{Constraint, Version, distinct};

/// What a tag calls a cuDNN, with its major behind it or without.
const WORD: &str = "cudnn";

/// What an image holds for something that loads a cuDNN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CudnnInside {
    /// One that does.
    Serves,
    /// One that may: of its release nothing but the major is known, or not even that.
    MayServe,
    /// None that does.
    Lacks,
}

/// Whether the cuDNN in an image is within a range.
pub fn cudnn_inside(catalog: &Catalog, image: &Image, range: &Constraint) -> CudnnInside {
    let is_known = image.cudnn.is_some_and(|inside| inside.major() > 0 && range.admits(&inside));
    match is_known {
        true => CudnnInside::Serves,
        false if may_hold(catalog, image, |major| range.cut_to(1).admits(major)) => CudnnInside::MayServe,
        false => CudnnInside::Lacks,
    }
}

/// Whether an image holds the headers of the cuDNN that a stack loads: they stand beside nvcc, and those of another major
/// tell of another library.
pub fn has_cudnn_headers(catalog: &Catalog, image: &Image, loaded: Option<&Version>) -> bool {
    let is_it = |inside: &Version| {
        loaded.is_none_or(|loaded| {
            loaded.major() == inside.major() || may_hold(catalog, image, |told| told.major() == loaded.major())
        })
    };
    image.flavour == Flavour::Devel && image.cudnn.as_ref().is_some_and(is_it)
}

/// Whether an image may hold a cuDNN of a major, where nobody has read which release it holds: its tag tells that much.
pub fn may_hold(catalog: &Catalog, image: &Image, admits: impl Fn(&Version) -> bool) -> bool {
    holds_unread_cudnn(image) && told_major(catalog, image).is_none_or(|major| admits(&major))
}

/// The major that a tag tells: `cudnn8`; of a plain `cudnn` that which every image of the repository holds, of those that were
/// read, whose tag says the same.
fn told_major(catalog: &Catalog, image: &Image) -> Option<Version> {
    let word = |tag: &'static str| tag.split('-').find_map(|part| part.strip_prefix(WORD));
    let digits = word(image.tag.as_str())?;
    if !digits.is_empty() {
        return Version::parse(digits).ok();
    }
    let alike = catalog.images.of(&image.repository).iter().filter(|one| word(one.tag.as_str()) == Some(""));
    let majors = distinct(alike.filter_map(|one| one.cudnn).map(|inside| inside.prefix(1)));
    let mut read = majors.into_iter().filter(|major| major.major() > 0);
    read.next().filter(|_| read.next().is_none())
}

/// The release of the cuDNN in an image, or the major that its tag tells.
pub fn told_cudnn(catalog: &Catalog, image: &Image) -> Option<Version> {
    if holds_unread_cudnn(image) { told_major(catalog, image) } else { image.cudnn }
}

/// Whether an image holds a cuDNN of which nobody has read the release.
pub fn holds_unread_cudnn(image: &Image) -> bool {
    image.cudnn.as_ref().is_some_and(|inside| inside.major() == 0)
}
