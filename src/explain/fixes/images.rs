//! Another image in the place of one that is written, or none.

use std::collections::BTreeMap;

use crate::catalog::rows::{Image, TORCH, repeated};
use crate::explain::target_of;
use crate::solve::image::{self, TagMatch};
use crate::solve::request::Direction;
use crate::solve::solution::Solution;
use crate::spec::ImageRef;

use super::written::chosen;
use super::{Edit, Finder, set, unset};

/// The key of the framework that images hold.
const TORCH_KEY: &str = "stack.torch";

impl<'c> Finder<'_, 'c> {
    /// The tags most like the one written, then whatever the repository offers, then no image at all.
    pub(super) fn try_image(&mut self, key: &str) {
        let target = self.spec.target(target_of(key));
        let Some(image) = target.and_then(|target| target.image.as_ref()) else { return };
        let repository = &image.value.repository;
        // No tag for servers takes the place of one for Jetsons.
        if image.value.tag.as_deref().is_some_and(image::is_for_jetson) {
            self.offer(&[unset(key)]);
            return;
        }
        let before = self.found.len();
        let has_nearest = self.try_nearest_torch(key, &image.value);
        if let Some(tag) =
            image.value.tag.as_ref().filter(|tag| !has_nearest && tag.contains(|c: char| c.is_ascii_digit()))
        {
            let nearest = self.other_tags(repository, tag);
            let nearest: Vec<String> = nearest.iter().map(|tag| format!("{}:{tag}", image.value.name())).collect();
            self.try_values(key, &nearest);
        }
        let of_system = self.written_system(key).map(|os| set(&format!("target.{}.os", target_of(key)), os));
        let kept = of_system.is_some_and(|of_system| self.try_repository(key, &[set(key, repository), of_system]));
        if !kept {
            self.try_repository(key, &[set(key, repository)]);
        }
        if self.found.len() == before {
            self.try_repositories(key, repository);
        }
        self.offer(&[unset(key)]);
    }

    /// In place of an image with a published torch the one whose torch is nearest: of its release, else the next newer one,
    /// else the last older one; whether one is offered.
    fn try_nearest_torch(&mut self, key: &str, image: &ImageRef) -> bool {
        let catalog = self.asker.catalog;
        let row = image.tag.as_deref().map(|tag| image::tag(catalog, &image.repository, tag));
        let Some(TagMatch::Known(row)) = row else { return false };
        let Some(inside) = image::published_torch(row) else { return false };
        let is_own = self.spec.own.iter().any(|own| own.package == TORCH);
        let written = self.written(TORCH_KEY).filter(|written| !is_own && !written.contains("||"));
        let Some(written) = written else { return false };
        let within = |bound: String| match written.as_str() {
            "*" => bound,
            written => format!("{written},{bound}"),
        };
        let ways = [(format!(">={inside}"), Direction::Oldest), (format!("<{inside}"), Direction::Newest)];
        ways.into_iter().any(|(bound, from)| {
            let edits = [set(key, &image.repository), set(TORCH_KEY, within(bound))];
            let answer = self.answer(&edits, Some((&[TORCH], from)));
            answer.and_then(|answer| self.image_of(&answer, key)).is_some_and(|value| self.offer(&[set(key, value)]))
        })
    }

    /// The tag of a repository that is chosen with some edits; whether it is one that is offered.
    fn try_repository(&mut self, key: &str, edits: &[Edit]) -> bool {
        let answer = self.answer(edits, None);
        let Some(value) = answer.and_then(|answer| self.image_of(&answer, key)) else { return false };
        let fix = [set(key, value)];
        let changes = self.changes(&fix);
        self.offer(&fix) || self.found.iter().any(|found| found.changes == changes)
    }

    /// The system that the tag of an image names, where no other key does: what takes the place of the image had better be of
    /// that one too.
    fn written_system(&self, key: &str) -> Option<&'c str> {
        let target = self.spec.target(target_of(key)).filter(|target| target.os.is_none())?;
        let image = &target.image.as_ref()?.value;
        let words: Vec<&str> = image.tag.as_deref()?.split('-').collect();
        let mut images = self.asker.catalog.images.of(repeated(&image.repository)).iter();
        images.find(|row| words.contains(&&*row.os)).map(|row| &*row.os)
    }

    /// The image that an answer chose, as it would be written: the smallest that serves is chosen where none is named, but what
    /// was named holds more on purpose, so of those of its CUDA and system it is the one of the flavour written.
    pub(super) fn image_of(&self, answer: &Solution<'c>, key: &str) -> Option<String> {
        let chosen = answer.target(target_of(key))?.image?;
        let written = self.spec.target(target_of(key)).and_then(|target| target.image.as_ref());
        if written.and_then(|image| image.value.tag.as_deref()).is_some_and(image::is_for_jetson) {
            return None;
        }
        let words: Vec<&str> =
            written.and_then(|image| image.value.tag.as_deref()).unwrap_or_default().split('-').collect();
        let has_cudnn = chosen.cudnn.is_some() || words.iter().any(|word| word.starts_with("cudnn"));
        let is_alike = |row: &&Image| {
            let is_beside =
                row.cuda == chosen.cuda && row.os == chosen.os && row.torch == chosen.torch && !row.withdrawn;
            let serves = row.require == chosen.require && row.arches == chosen.arches;
            let is_written = words.contains(&row.flavour.as_str()) && row.flavour >= chosen.flavour;
            is_beside && serves && is_written && row.cudnn.is_some() == has_cudnn
        };
        let row = self.asker.catalog.images.of(&chosen.repository).iter().find(is_alike).unwrap_or(chosen);
        Some(self.spelt(key, format!("{}:{}", row.repository, row.tag)))
    }

    /// An image of the repository that is written, as that is spelt.
    pub(super) fn spelt(&self, key: &str, image: String) -> String {
        let written = self.spec.target(target_of(key)).and_then(|target| target.image.as_ref());
        written.and_then(|written| image::spelt(&written.value, &image)).unwrap_or(image)
    }

    /// A tag of another repository, one without frameworks of its own first. Who asks for no torch is offered no image
    /// that holds it.
    fn try_repositories(&mut self, key: &str, other_than: &str) {
        let asked = self.asker.base();
        let wants_torch = asked.is_some_and(|asked| asked.frameworks.iter().any(|ask| ask.package == TORCH));
        let images = self.asker.catalog.images.iter().filter(|row| row.repository != other_than && !row.withdrawn);
        let images = images.filter(|row| wants_torch || row.torch.is_none());
        let mut repositories: BTreeMap<&str, bool> = BTreeMap::new();
        for row in images {
            *repositories.entry(&row.repository).or_default() |= row.torch.is_some();
        }
        let mut repositories: Vec<(bool, &str)> = repositories.into_iter().map(|(name, torch)| (torch, name)).collect();
        repositories.sort_unstable();
        for (_, repository) in repositories {
            let answer = self.answer(&[set(key, repository)], None);
            if answer.and_then(|answer| chosen(&answer, key)).is_some_and(|value| self.offer(&[set(key, value)])) {
                return;
            }
        }
    }
}
