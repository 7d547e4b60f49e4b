//! What nobody knows of cuDNN: that of a build of one's own, of an image, or of another CUDA.

use crate::catalog::rows::Image;
use crate::types::Version;

use super::super::compile::Group;
use super::super::engine::Selection;
use super::super::image;
use super::super::request::{Request, TargetRequest};
use super::{OVERLAY, Unknown};

/// A cuDNN that was seen for another CUDA than that of what loads it.
pub(super) fn of_cudnn(selection: &Selection, group: &Group<'_>) -> Option<Unknown> {
    let cudnn = group.cudnn.as_ref()?.of(selection.rows());
    let of_frameworks = group.releases.iter().filter_map(|release| release.of(selection.rows()).line);
    let line = of_frameworks.chain(group.cudas.iter().map(|(_, cuda)| cuda.of(selection.rows()).version.prefix(2)));
    let line = line.into_iter().find(|line| line.cmp_prefix(&cudnn.cuda).is_ne())?;
    let (version, major, seen) = (&cudnn.version, line.prefix(1), cudnn.cuda);
    let fact = format!("whether cuDNN {version} was published for CUDA {major}: it was seen for CUDA {seen} only");
    let how = format!(
        "look for {version} for CUDA {major} at developer.download.nvidia.com/compute/cudnn/redist; if it is there, {OVERLAY}"
    );
    Some(Unknown::of("stack.cudnn".to_string(), fact, how))
}

/// The cuDNN that a build of one's own is said to hold, where none of that number is known for its CUDA. No list of what
/// NVIDIA keeps of it was read whole.
pub fn of_own_cudnn(request: &Request<'_>) -> Vec<Unknown> {
    let catalog = request.catalog;
    let mut unknowns = Vec::new();
    let of_asked = request.frameworks.iter().flat_map(|ask| {
        let own = catalog.builds.of(ask.package).iter().filter(|build| build.is_own());
        own.filter(|build| ask.takes_build(build))
    });
    for build in of_asked {
        let Some((holds, line)) = build.cudnn.zip(build.line()) else { continue };
        let released = catalog.cudnns.iter().map(|row| (row.version, row.cuda));
        let held = catalog.builds.iter().filter(|other| !other.is_own());
        let held = held.filter_map(|other| Some((other.cudnn?, other.line()?)));
        let of_major = released.chain(held).filter(|(_, cuda)| cuda.major() == line.major());
        let known: Vec<Version> = of_major.map(|(version, _)| version).collect();
        let Some((oldest, newest)) = known.iter().min().zip(known.iter().max()) else { continue };
        let cuda = line.major();
        let fact =
            format!("whether there is a cuDNN {holds} for CUDA {cuda}: those that are known are {oldest} to {newest}");
        let how =
            format!("ask your build (torch.backends.cudnn.version()) and correct its `cudnn`; if it is so, {OVERLAY}");
        let unknown = Unknown::of(format!("stack.{}", build.package), fact, how);
        if known.iter().all(|one| one.cmp_prefix(&holds).is_ne() && holds.cmp_prefix(one).is_ne())
            && !unknowns.contains(&unknown)
        {
            unknowns.push(unknown);
        }
    }
    unknowns
}

/// The cuDNN in an image, where one is asked for and nobody has read which it is.
pub(super) fn of_cudnn_inside(request: &Request<'_>, target: &TargetRequest<'_>, image: &Image) -> Option<Unknown> {
    let wanted = request.system_cudnn().filter(|wanted| !wanted.is_any() && target.cudnn.is_none())?;
    let name = format!("{}:{}", image.repository, image.tag);
    image::may_hold(request.catalog, image, |major| wanted.cut_to(1).admits(major)).then(|| Unknown {
        code: None,
        fact: format!("which cuDNN `{name}` holds, and so whether it is {wanted}"),
        keys: vec!["stack.cudnn".to_string(), target.key("image")],
        how: format!(
            "look into it (`docker run --rm {name} sh -c 'ls /usr/lib/*/libcudnn.so.*'`), and set `cudnn` of the target"
        ),
    })
}
