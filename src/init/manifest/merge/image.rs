//! What an image holds that a draft's target runs in: its torch and its Python.

use super::super::claims::Claim;
use super::super::line_of_python;
use super::{Merged, place};
use crate::catalog::rows::{Image, TORCH, repeated};
use crate::init::{Entry, Value, torch_inside};
use crate::solve::image;
use crate::spec::ImageRef;
use crate::types::constraint::admits;
use crate::types::{Constraint, Version};

impl<'c> Merged<'c> {
    /// The image, if it holds a torch.
    fn image_with_torch(&self) -> Option<ImageRef> {
        self.draft.image().filter(|image| image::holds_torch(self.catalog, repeated(&image.repository)))
    }

    /// The row of an image.
    fn row(&self, image: &ImageRef) -> Option<&'c Image> {
        match image::tag(self.catalog, &image.repository, image.tag.as_deref()?) {
            image::TagMatch::Known(row) => Some(row),
            _ => None,
        }
    }

    /// What the image's own pip installs goes with the torch that is there, unless a line asks for another or takes it out, or a
    /// package brings its own.
    pub(super) fn torch_of_image(&mut self) {
        let is_other = self.stack.has(TORCH) || self.apart.is_some() || self.uninstalled.is_some();
        let Some(image) = self.image_with_torch().filter(|_| !is_other) else { return };
        let held = torch_inside(self.catalog, &image).unwrap_or_else(|| "*".to_string());
        if self.brings_torch(&held) {
            return;
        }
        let Ok(asked) = Constraint::parse(&held) else { return };
        let (line, note) = ((String::new(), 0, TORCH.to_string()), "the one in the image".to_string());
        self.stack.push(TORCH, Claim { asked, is_exact: false, group: None, condition: None, line, note });
    }

    /// Whether pip replaces the torch that is there: it takes the newest release of what is asked for, and with it the torch
    /// that this requires.
    fn brings_torch(&self, held: &str) -> bool {
        let held = Version::parse(held).ok();
        self.stack.names().any(|name| {
            let of_torch = self.catalog.companions.of(name).iter().filter(|row| row.framework == TORCH);
            let asked = |version: &Version| self.stack.of(name).all(|asked| asked.admits(version));
            let newest = of_torch.filter(|row| !row.version.is_prerelease() && asked(&row.version));
            let newest = newest.max_by_key(|row| row.version);
            newest.is_some_and(|row| held.map_or(*row.needs != *"*", |held| !admits(&row.needs, &held)))
        })
    }

    /// pip replaces the published torch of an image by the one that a line asks for.
    fn torch_over_image(&mut self, image: Option<ImageRef>) {
        let Some(image) = image else { return };
        let Some(held) = self.row(&image).and_then(image::published_torch) else { return };
        let asked = self.draft.stack.iter().find(|entry: &&Entry| entry.key == TORCH).map(|entry| &entry.value);
        let Some(Value::Text(asked)) = asked else { return };
        if Version::parse(held).is_ok_and(|held| !admits(asked, &held)) {
            self.draft.torch_beside_image = Some(format!("torch {asked} is installed over the {held} of the image"));
            self.python_of_image(&image);
        }
    }

    /// Where the torch of an image is taken out another one may be installed, and none where nobody asks for it: there the Python
    /// is the image's. An environment of its own sees no torch of the image, and has its Python unless it names another.
    pub(super) fn torch_beside_image(&mut self) {
        let in_image = self.image_with_torch();
        let in_image = in_image.filter(|_| self.draft.stack.iter().any(|entry| entry.key == TORCH));
        let (apart, uninstalled) = (self.apart.take(), self.uninstalled.take());
        if let Some(((file, line, by_conda), image)) = apart.zip(in_image.as_ref()) {
            let at = place(&file, line);
            self.draft.torch_beside_image = Some(format!("{at} makes an environment of its own in the image"));
            return if !by_conda {
                self.python_of_image(image);
            };
        }
        let Some((file, line)) = uninstalled else { return self.torch_over_image(in_image) };
        if let Some(image) = in_image {
            self.draft.torch_beside_image = Some(format!("{} takes the torch of the image out", place(&file, line)));
            return self.python_of_image(&image);
        }
        let why = "to install another torch in an image that holds one, set the rule `torch-of-image` aside with an [[override]]";
        self.leave(&file, line, "pip uninstall torch", why.to_string());
    }

    /// What the pip of an image installs is for the Python of that image.
    fn python_of_image(&mut self, image: &ImageRef) {
        let Some(row) = self.row(image) else { return };
        let Some(python) = row.python.or_else(|| self.catalog.python_nearby(row)) else { return };
        let is_said = |entry: &Entry| {
            entry.key == "python" && matches!(&entry.value, Value::Text(asked) if line_of_python(asked).is_some())
        };
        let is_open = !self.draft.stack.iter().any(is_said) && self.draft.admits_python(&python);
        if is_open {
            self.draft.bind_python(python.prefix(2), "the Python of the image that it is installed in");
        }
    }
}
