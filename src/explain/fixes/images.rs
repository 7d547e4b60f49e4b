//! Another image in the place of one that is written, or none.

use std::collections::BTreeMap;

use crate::catalog::rows::Image;
use crate::explain::target_of;
use crate::solve::image;

use super::written::chosen;
use super::{Finder, set, unset};

impl<'c> Finder<'_, 'c> {
    /// The tags most like the one written, then whatever the repository offers, then no image at all.
    pub(super) fn try_image(&mut self, key: &str) {
        let target = self.spec.target(target_of(key));
        let Some(image) = target.and_then(|target| target.image.as_ref()) else { return };
        let repository = &image.value.repository;
        let before = self.found.len();
        if let Some(tag) = image.value.tag.as_ref().filter(|tag| tag.contains(|c: char| c.is_ascii_digit())) {
            let nearest = self.other_tags(repository, tag);
            let nearest: Vec<String> = nearest.into_iter().map(|tag| format!("{}:{tag}", image.value.name())).collect();
            self.try_values(key, &nearest);
        }
        let answer = self.answer(&[set(key, repository)], None);
        if let Some(offered) = answer.and_then(|answer| answer.target(target_of(key))?.image) {
            let alike = image.value.tag.as_ref().and_then(|tag| self.alike(offered, tag));
            let tags = [alike, Some(offered)].into_iter().flatten();
            let values: Vec<String> =
                tags.map(|row| self.spelt(key, format!("{}:{}", row.repository, row.tag))).collect();
            self.try_values(key, &values);
        }
        if self.found.len() == before {
            self.try_repositories(key, repository);
        }
        self.offer(&[unset(key)]);
    }

    /// The image beside another, of its CUDA and system, that is of the flavour which a tag names: the smallest that serves is
    /// chosen where none is written, but what was written holds more on purpose.
    fn alike(&self, of: &Image, tag: &str) -> Option<&'c Image> {
        let words: Vec<&str> = tag.split('-').collect();
        let has_cudnn = words.iter().any(|word| word.starts_with("cudnn"));
        let mut images = self.asker.catalog.images.of(&of.repository).iter();
        images.find(|row| {
            let is_beside = row.cuda == of.cuda && row.os == of.os && !row.withdrawn;
            is_beside && words.contains(&row.flavour.as_str()) && row.cudnn.is_some() == has_cudnn
        })
    }

    /// An image of the repository that is written, as that is spelt.
    pub(super) fn spelt(&self, key: &str, image: String) -> String {
        let written = self.spec.target(target_of(key)).and_then(|target| target.image.as_ref());
        written.and_then(|written| image::spelt(&written.value, &image)).unwrap_or(image)
    }

    /// A tag of another repository, one without frameworks of its own first. Who asks for no torch is offered no image
    /// that holds it.
    fn try_repositories(&mut self, key: &str, other_than: &str) {
        let asked = self.asker.question(self.spec);
        let wants_torch = asked.is_some_and(|asked| asked.frameworks.iter().any(|ask| ask.package == "torch"));
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
