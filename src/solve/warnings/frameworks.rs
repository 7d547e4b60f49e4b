//! Frameworks that `[packages]` brings along where none is chosen, and bounds of Python that a lock of its line does not hold.

use crate::catalog::rows::{Asks, FoundIn, TORCH};
use crate::solve::ordinary::newest_of;
use crate::solve::request::ImageRequest;
use crate::types::constraint::{Comparison, Op};
use crate::types::{Constraint, Specifier};
use crate::warning::{PackageFramework, PythonPatch, Warning};

use super::About;

/// Of packages that need torch where none is locked. The torch of the package index is made for CUDA; what the index has of
/// other frameworks computes on the CPU and brings nothing else along.
pub(super) fn warning(about: &About<'_, '_>) -> Option<Warning> {
    let target = about.target;
    let is_here = target.builds.iter().any(|build| *build.package == *TORCH);
    // Of an image that nobody has read it may be a part.
    let is_unread = matches!(about.asked.image, ImageRequest::Unchecked(_) | ImageRequest::UnseenTag(..));
    if is_here || is_unread || target.image.is_some_and(|image| image.torch.is_some()) {
        return None;
    }
    let needing = about.request.packages.iter().filter(|(name, asked)| needs(about, name, asked));
    let packages: Vec<&str> = needing.map(|(name, _)| name.as_str()).collect();
    let keys: Vec<String> = packages.iter().map(|name| format!("packages.{name}")).collect();
    let brings = PackageFramework { packages: &packages, framework: TORCH };
    (!packages.is_empty()).then(|| Warning::about(&brings, &keys))
}

/// A bound within the line of Python that was chosen: what is installed may lie beyond it. What names one release alone was
/// told when it was read; all of a line lie at its beginning or above.
pub(super) fn python_bound(about: &About<'_, '_>) -> Option<Warning> {
    let (wanted, line) = (about.request.python.as_ref()?, *about.target.python?);
    let divides = |one: &Comparison| {
        let Some(bound) = one.version.filter(|bound| bound.len() > 2 && bound.prefix(2) == line) else { return false };
        let is_start = bound.components().skip(2).all(|number| number == 0);
        one.op != Op::Prefix && !(one.op == Op::AtLeast && is_start)
    };
    let patch = PythonPatch { written: wanted.as_str(), line };
    wanted.comparisons().any(divides).then(|| Warning::about(&patch, &["stack.python".to_string()]))
}

/// Whether the newest release that is asked for needs torch: by its metadata, or by an extra of that name.
fn needs(about: &About<'_, '_>, name: &str, asked: &Specifier) -> bool {
    let wants = about.request.problem.wants(name);
    let by_extra = asked.extras.iter().any(|extra| extra == TORCH);
    let is_told = |row: &Asks| *row.of == *TORCH && (by_extra || row.found_in == FoundIn::Metadata);
    let newest = newest_of(wants.rows().iter(), asked);
    // A range ends with the newest release that was read: those after it are as that one.
    let last = |range: &Constraint| range.comparisons().filter(|one| one.op == Op::AtMost).find_map(|one| one.version);
    let goes_on = |range: &Constraint| last(range).is_some_and(|last| newest.is_some_and(|newest| newest > last));
    let takes =
        |range: &Constraint| range.is_any() || newest.is_some_and(|newest| range.admits(&newest)) || goes_on(range);
    wants.rows().iter().any(|(range, row)| is_told(row) && takes(range))
}
