//! What an image holds that a draft's target runs in: its torch and its Python.

use super::super::{BUILD_ADDED, line_of_python};
use super::{Merged, place};
use crate::catalog::rows::{Flavour, Image, Os, TORCH, repeated};
use crate::init::{Entry, Value, torch_inside};
use crate::solve::image;
use crate::solve::rules::law;
use crate::spec::ImageRef;
use crate::types::constraint::admits;
use crate::types::{Constraint, Version, variant};

/// Where a torch comes from that no line asks for.
const IN_IMAGE: &str = "the one in the image";

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

    /// The line of CUDA in an image that holds a torch.
    pub(super) fn cudas_of_image(&self) -> Option<Vec<Version>> {
        let row = self.row(&self.image_with_torch()?)?;
        Some(vec![row.cuda.prefix(2)])
    }

    /// A range that the torch of the image meets installs none, from whichever index: the same without the build of that one.
    pub(super) fn met_in_image(&self, name: &str, asked: &Constraint) -> Option<Constraint> {
        let is_own = self.apart.is_none() && self.uninstalled.is_none() && name == TORCH;
        let image = self.image_with_torch().filter(|_| is_own && asked.single().is_none() && asked.pins_variant())?;
        let row = self.row(&image)?;
        let held = row.torch.as_deref()?;
        if self.is_renewed && image::published_torch(row).is_some() {
            return None;
        }
        let parts: Vec<&str> = asked.as_str().split(',').filter(|part| !part.starts_with('+')).collect();
        let plain = parts.join(",");
        let plain = Constraint::parse(if parts.is_empty() { "*" } else { &plain }).ok()?;
        let held = Version::parse(held.split('+').next()?).ok()?;
        (!plain.pins_variant() && plain.admits_installed(&held)).then_some(plain)
    }

    /// In an image without nvcc nothing compiles CUDA code, whatever is set there: a toolkit of its own is in another one.
    pub(super) fn build_in_image(&mut self) {
        let image = self.draft.image();
        let row = image.as_ref().and_then(|image| self.row(image));
        let Some(row) = row.filter(|row| self.draft.build && row.flavour != Flavour::Devel) else { return };
        self.draft.build = false;
        let why = format!(
            "no [build], for {} holds no nvcc: if CUDA code is compiled there, take a devel image and add [build]",
            row.tag
        );
        let mut told = self.left.iter_mut().filter(|left| left.why.starts_with(BUILD_ADDED)).peekable();
        let is_told = told.peek().is_some();
        told.for_each(|left| left.why.clone_from(&why));
        if let Some(entry) = self.draft.machine.iter().find(|entry| entry.key == "image").filter(|_| !is_told) {
            let at = entry.note.clone().unwrap_or_default();
            let (file, line) = at.rsplit_once(':').unwrap_or((&at, "1"));
            self.leave(file, line.parse().unwrap_or(1), &row.tag, why);
        }
    }

    /// The JetPack that an image for Jetsons is of, and the torch in its tag: `l4t-pytorch:r35.2.1-pth2.0-py3`.
    pub(super) fn jetpack_of_image(&mut self) {
        let Some(image) = self.draft.image().filter(|image| image.repository.contains("/l4t-")) else { return };
        let tag = image.tag.as_deref().unwrap_or_default();
        let mut parts = tag.split('-');
        let release = parts.next().and_then(|part| part.strip_prefix('r')).unwrap_or_default();
        let line = format!("l4t{}", release.splitn(3, '.').take(2).collect::<Vec<_>>().join("."));
        let whole = format!("l4t{release}");
        let is_it = |row: &&Os| row.aliases.iter().any(|name| **name == whole || **name == line);
        let mut rows = self.catalog.oses.iter();
        let row = rows
            .find(is_it)
            .or_else(|| self.catalog.oses.iter().find(|row| row.images.iter().any(|name| **name == line)));
        if let Some(row) = row {
            self.set_os(row, format!("the image is for it ({tag})"));
        }
        if let Some(torch) = parts.find_map(|part| part.strip_prefix("pth")).filter(|_| !self.stack.has(TORCH)) {
            self.ask_for(TORCH, torch, IN_IMAGE.to_string());
        }
    }

    /// The newest JetPack with the CUDA of an index for it: `jp6/cu126`.
    pub(super) fn jetpack_of_index(&mut self, begins: &str, variant: Option<&str>, at: &str) {
        let line = variant.and_then(variant::line_of);
        let is_it = |row: &&Os| row.id.starts_with(begins) && line.is_none_or(|line| row.cuda == Some(line));
        if let Some(row) = self.catalog.oses.iter().rev().find(is_it) {
            self.set_os(row, format!("{at}, whose index is for JetPacks with that CUDA"));
        }
    }

    /// The Python of the system in an image, where that is the one that is installed.
    pub(super) fn python_of_system(&mut self) {
        let Some((at, image)) = self.system_python.take().zip(self.draft.image()) else { return };
        if self.image_with_torch().is_some() {
            return;
        }
        let named = || self.catalog.os_named_by(&image.repository, image.tag.as_deref());
        let os = self.row(&image).and_then(|row| self.catalog.os_of_image(row)).or_else(named);
        if let Some((os, python)) = os.and_then(|os| Some((os, os.python?))) {
            self.ask_for("python", python.as_str(), format!("{at}, the Python of {}", os.name));
        }
    }

    fn set_os(&mut self, row: &Os, note: String) {
        if !self.draft.machine.iter().any(|entry| entry.key == "os") {
            self.draft.machine.push(Entry::on("os", Value::Text(row.id.to_string()), note));
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
        self.ask_for(TORCH, &held, IN_IMAGE.to_string());
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
        if self.is_renewed || Version::parse(held).is_ok_and(|held| !admits(asked, &held)) {
            let why = format!("torch {asked} is installed over the {held} of the image");
            self.draft.overrides.push((law::IMAGE_TORCH.to_string(), why));
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
            let why = format!("{at} makes an environment of its own in the image");
            self.draft.overrides.push((law::IMAGE_TORCH.to_string(), why));
            return if !by_conda {
                self.python_of_image(image);
            };
        }
        let Some((file, line)) = uninstalled else { return self.torch_over_image(in_image) };
        if let Some(image) = in_image {
            let why = format!("{} takes the torch of the image out", place(&file, line));
            self.draft.overrides.push((law::IMAGE_TORCH.to_string(), why));
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
