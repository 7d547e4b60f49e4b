//! What targets have from their image alone: what lies there beside a torch that was published nowhere else.

use std::borrow::Cow;

use crate::catalog::rows::{Companion, Image};
use crate::solve::fits;
use crate::solve::values::ImageRequest;
use crate::types::{Constraint, Version, variant};

use super::{PackageRequest, Request, TargetRequest};

impl<'c> Request<'c> {
    /// The same without the packages that are left to images.
    pub fn without_left(&self) -> Cow<'_, Request<'c>> {
        if self.targets.iter().any(|target| target.platform.image().is_none()) {
            return Cow::Borrowed(self);
        }
        let left: Vec<&str> = self.left_to_image(&self.targets).map(|ask| ask.package).collect();
        match left.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(self.without(&left)),
        }
    }

    /// The packages that some targets have from their image alone, and of which what that should hold will do.
    pub fn left_to_image<'a>(
        &'a self,
        targets: &'a [TargetRequest<'c>],
    ) -> impl Iterator<Item = &'a PackageRequest<'c>> {
        let serves = |target: &TargetRequest<'c>, ask: &PackageRequest<'c>| {
            let own = || self.expected_in_image(target, ask.package);
            let admits = || ask.constraint.single().is_none() && own().is_some_and(|own| ask.constraint.admits(&own));
            ask.constraint.is_any() || admits()
        };
        let has = move |target: &&TargetRequest<'c>, ask: &PackageRequest<'c>| {
            self.has_from_image(target, ask.package) && serves(target, ask)
        };
        self.companions.iter().filter(move |ask| targets.iter().all(|target| has(&target, ask)))
    }

    /// The release that an image should hold of a package that goes with one torch each: a snapshot counts as the release that
    /// it precedes, as the torch beside it does.
    pub fn expected_in_image(&self, target: &TargetRequest<'c>, package: &str) -> Option<Version> {
        let ImageRequest::Known(image) = &target.image else { return None };
        let torch = Version::parse(variant::parts(image.torch.as_ref()?).0).ok()?.release();
        let goes_with = |row: &&Companion| Constraint::parse(&row.needs).is_ok_and(|needs| needs.admits(&torch));
        self.catalog.companions.of(package).iter().filter(goes_with).map(|row| row.version).min()
    }

    /// Whether a target has a package from its image alone: the image holds it, and what is compiled against one published
    /// torch has no wheel for a torch that was published nowhere else.
    pub fn has_from_image(&self, target: &TargetRequest<'c>, package: &str) -> bool {
        let Some(place) = target.platform.image() else { return false };
        let holds = |image: &Image| image.holds.iter().any(|held| *held == *package);
        let held = match &target.image {
            ImageRequest::Known(image) => holds(image),
            ImageRequest::Choose(_) => self.catalog.images.of(place).iter().all(holds),
            _ => false,
        };
        held && fits::is_tied_to_releases(self.catalog, package)
            && !self.catalog.companions.of(package).iter().any(|row| target.platform.takes_companion(row))
    }
}
