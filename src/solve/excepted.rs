//! The branches of drivers between others on which an image is not started: images name the older branches that do one by one.

use crate::catalog::rows::Image;
use crate::types::{Version, distinct};

use super::compile::Class;
use super::demand::{self, Bearing};
use super::request::Request;
use super::rules::law;
use super::values::DriverRequest;
use super::{driver, image};

/// Those after the minimum's; none where the driver is what it is.
pub fn branches<'c>(request: &Request<'c>, class: &Class<'_, 'c>, image: &Image, minimum: &Version) -> Vec<Version> {
    let is_as_it_is = matches!(class.target.driver, DriverRequest::Exact(_)) || class.target.has_unnumbered_driver();
    if class.off.has(law::id::IMAGE_REQUIRE) || is_as_it_is {
        return Vec::new();
    }
    let key = demand::of_image(request.catalog, Bearing::of(&class.target.reading), image);
    let starts = image::starts_on(request.problem, class.machine(), key);
    let rows = driver::of_generation(request.problem, class.machine(), &class.off);
    let later = rows.iter().filter(|row| row.version.major() > minimum.major());
    let (good, bad): (Vec<_>, Vec<_>) = later.partition(|row| starts(row));
    let branches = distinct(bad.into_iter().map(|row| row.branch.branch));
    branches.into_iter().filter(|branch| good.iter().all(|row| row.branch.branch != *branch)).collect()
}
