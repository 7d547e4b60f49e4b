//! Images that hold a torch of their own.

use crate::catalog::rows::{Build, Image, TORCH};

use super::framework::Framework;
use super::platform::Platform;
use super::rowset::RowSet;

/// Whether the image holds this very build.
pub fn is_inside(image: &Image, inside: &str, build: &Build) -> bool {
    if build.is_in_image() {
        return build.wheel.as_deref() == Some(inside);
    }
    // A build of one's own is another one, whatever release it counts as.
    !build.is_own()
        && build.version.as_str() == inside
        && build.line().is_some_and(|line| image.cuda.cmp_prefix(&line).is_eq())
}

/// Whether it may be the build that the image holds, of which nobody has read more than its release.
pub fn may_be_inside(inside: &str, build: &Build) -> bool {
    !build.is_in_image() && build.version.as_str() == inside
}

/// For each of some images, whether the torch in it is one of the releases.
pub fn holding(framework: &Framework<'_>, on: Platform<'_>, images: &[&Image]) -> RowSet {
    let held = |image: &Image| {
        let Some(inside) = image.torch.as_deref() else { return false };
        framework.releases.iter().filter_map(|release| release.on(on)).any(|build| is_inside(image, inside, build))
    };
    let held = |image: &Image| framework.package == TORCH && held(image);
    RowSet::filter(images.len(), |row| held(images[row]))
}

/// Whether a build runs in an image that holds one of the releases: it is the one inside.
pub fn runs_in(image: &Image, build: &Build) -> bool {
    match image.torch.as_deref() {
        Some(inside) => build.is_own() || is_inside(image, inside, build),
        None => !build.is_in_image(),
    }
}
