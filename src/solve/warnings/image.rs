//! What the chosen image holds beside the stack and needs of the driver, and the toolkit that extensions are compiled with.

use crate::catalog::rows::{Build, Companion, Compat, Flavour, Image, TORCH};
use crate::solve::bundled_torch;
use crate::solve::coinstall;
use crate::solve::demand;
use crate::solve::described::GpuKind;
use crate::solve::driver;
use crate::solve::finished::Use;
use crate::solve::in_image::OwnCuda;
use crate::solve::request::{GpuRequest, ImageRequest, TargetRequest};
use crate::solve::{image, parts};
use crate::types::Version;
use crate::warning::{
    ImageArchUnknown, ImageCompat, ImageCuda, ImagePython, ImageRequireUnknown, ImageRequires, ImageTorch,
    ImageWithdrawn, MinorRefused, ToolkitMinor, TwoRuntimes, TwoTorches, UnknownGpuCode, Warning,
};

use super::About;
use super::driver::as_written;

pub(super) fn warnings<'c>(about: &About<'_, 'c>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(chosen) = about.target.image {
        let one = One { about, image: chosen, name: chosen.name(), keys: about.keys("image") };
        let torch = one.torch();
        let two_torches = torch.as_ref().is_some_and(|warning| warning.code == "two-torches");
        warnings.extend(torch);
        warnings.extend(one.cuda());
        warnings.extend(one.python());
        warnings.extend(one.two_runtimes().filter(|_| !two_torches));
        warnings.extend(one.requirement());
        warnings.extend(one.compat());
        if chosen.withdrawn {
            warnings.push(Warning::about(&ImageWithdrawn { image: &one.name }, &one.keys));
        }
        if chosen.arches.is_empty() {
            warnings.push(Warning::about(&ImageArchUnknown { image: &one.name }, &one.keys));
        }
    }
    warnings.extend(unread_torch(about));
    let refused: Vec<Warning> = about.target.companions.iter().filter_map(|row| minor_refused(about, row)).collect();
    warnings.extend(toolkit_minor(about).filter(|_| refused.is_empty()));
    warnings.extend(refused);
    warnings
}

/// Torches that are installed into images of which nobody has read what they hold, where others of their repository hold one.
/// Such images are all alike to the solver, so each target tells its own.
fn unread_torch(about: &About<'_, '_>) -> Vec<Warning> {
    let Some(build) = about.target.build(TORCH) else { return Vec::new() };
    let installed = format!("{}+{}", build.version, build.variant);
    let of_target = |asked: &&TargetRequest<'_>| {
        let ImageRequest::Unchecked(image) = &asked.image else { return None };
        let unknown = TwoTorches::Unknown { image: &image.to_string(), installed: &installed };
        let holds_torch = image::holds_torch(about.request.catalog, &image.repository);
        holds_torch.then(|| Warning::about(&unknown, &[asked.key("image")]))
    };
    about.all.iter().filter_map(of_target).collect()
}

/// The image that was chosen.
struct One<'a, 'c> {
    about: &'a About<'a, 'c>,
    image: &'c Image,
    name: String,
    keys: Vec<String>,
}

impl<'c> One<'_, 'c> {
    /// A torch in the image: beside another one, or one that does not run here.
    fn torch(&self) -> Option<Warning> {
        let image = self.image;
        let installed = self.about.target.build(TORCH);
        let named = |build: &Build| format!("{}+{}", build.version, build.variant);
        let Some(inside) = image.torch.as_deref() else {
            let images = self.about.request.catalog.images.of(&image.repository);
            let holds_some = images.iter().any(|one| one.torch.is_some());
            let installed = named(installed.filter(|_| holds_some)?);
            let unknown = TwoTorches::Unknown { image: &self.name, installed: &installed };
            return Some(Warning::about(&unknown, &self.keys));
        };
        if let Some(build) = installed {
            let cuda = image.cuda.prefix(2);
            let other = TwoTorches::Other { image: &self.name, inside, cuda, installed: &named(build) };
            return (!bundled_torch::is_inside(image, inside, build)).then(|| Warning::about(&other, &self.keys));
        }
        let own = self.about.target.own_cuda(self.about.request.problem, &self.about.asked.machine)?;
        let why = self.no_code(&own).map(|why| (why, None)).or_else(|| self.no_driver(&own));
        let Some((why, compat)) = why else { return self.unread_code(inside) };
        let torch = ImageTorch { image: &self.name, torch: inside, compat: compat.as_deref(), why: &why };
        Some(Warning::about(&torch, &self.keys))
    }

    /// A CUDA that does not serve a GPU, where no part of the stack takes another one: what does is judged by its own.
    fn cuda(&self) -> Option<Warning> {
        let (about, image) = (self.about, self.image);
        let has_none = about.target.cuda.is_none() && about.target.toolkit.is_none();
        let is_all = image.torch.is_none() && has_none && about.target.builds.is_empty();
        let cuda = image.cuda.prefix(2);
        let gpus = about.request.gpu_rules(about.asked).into_iter().filter(|_| is_all);
        let broken = |gpu: GpuKind<'c>| {
            let rule = gpu.cuda.iter().find(|rule| !rule.needs.admits(&cuda))?;
            let warning = ImageCuda { image: &self.name, cuda, gpu: &gpu.gpu.written, says: &rule.row.says };
            Some(Warning::about(&warning, &self.keys))
        };
        gpus.filter_map(broken).next()
    }

    /// A torch of the image that is used, for a Python that nobody has read.
    fn python(&self) -> Option<Warning> {
        let inside = self.image.torch.as_deref().filter(|_| self.image.python.is_none())?;
        let python = self.about.target.python?;
        let asked = self.about.request.python.as_ref();
        let is_written = asked.is_some_and(|asked| asked.single().is_some());
        let is_used = |build: &&Build| build.package == TORCH && bundled_torch::is_inside(self.image, inside, build);
        let unknown = ImagePython { image: &self.name, python, is_written };
        self.about.target.builds.iter().any(is_used).then(|| Warning::about(&unknown, &self.keys))
    }

    /// A GPU that the image's torch holds no code for, where its release is one whose code is known, or that the CUDA it was
    /// built with does not know.
    fn no_code(&self, own: &OwnCuda<'c>) -> Option<String> {
        let (request, line) = (self.about.request, own.line);
        let gpus = request.gpu_rules(self.about.asked);
        if let Some(gpu) = own.lacks_code(request.problem, &gpus) {
            return Some(format!("it has no code for {} (compute capability {})", gpu.gpu.name, gpu.gpu.cc));
        }
        let rule = gpus.iter().flat_map(|gpu| &gpu.cuda).find(|rule| !rule.needs.admits(&line))?;
        Some(format!("it is built with CUDA {line}, and {}", rule.row.says.trim_end_matches('.')))
    }

    /// A Jetson, for which images of servers need not be made, and a torch of which nobody has read what it holds.
    fn unread_code(&self, inside: &str) -> Option<Warning> {
        let (catalog, asked) = (self.about.request.catalog, self.about.asked);
        let is_read =
            |build: &Build| bundled_torch::is_inside(self.image, inside, build) && build.arch_source.is_some();
        let is_known = catalog.builds.of(TORCH).iter().any(is_read);
        let unread = UnknownGpuCode::Build { name: &format!("the torch in {}", self.name), arch: asked.arch.as_str() };
        let is_open = !is_known && asked.named_gpus().iter().any(GpuRequest::is_jetson);
        is_open.then(|| Warning::about(&unread, &self.keys))
    }

    /// A driver on which the image's torch does not run, judged as one that is named is, and the cuda-compat package with
    /// which it does.
    fn no_driver(&self, own: &OwnCuda<'c>) -> Option<(String, Option<String>)> {
        let (request, asked) = (self.about.request, self.about.asked);
        let (problem, machine) = (request.problem, &asked.machine);
        let is_judged = asked.pins_driver() && !asked.has_system_driver();
        let driver = self.about.target.driver.as_ref().filter(|_| is_judged)?;
        let line = own.line;
        let off = request.off_at(&asked.name);
        let runs = driver::met_by(problem, own.need, &off);
        if runs(driver) {
            return None;
        }
        let oldest = driver::of_generation(problem, machine, &off).into_iter().find(&runs);
        let needs = match oldest {
            Some(oldest) => format!("its CUDA {line} needs driver {} or newer", oldest.version),
            None => format!("no driver of these GPUs runs its CUDA {line}"),
        };
        let drivers = machine.drivers(problem);
        let admitted = drivers.admitted(&off, true);
        let added = admitted.rows().filter_map(|at| drivers.rows[at].added().filter(|_| runs(&drivers.rows[at])));
        let compat = added.min_by_key(|compat| compat.cuda).map(Compat::package);
        let has = as_written(asked, driver);
        Some((format!("{needs}, and the hosts have driver {has}"), compat))
    }

    /// A CUDA of the image beside the wheels' own.
    fn two_runtimes(&self) -> Option<Warning> {
        // What leaves its libraries open brings those of the toolkit release that was chosen for it.
        let pieces = self.about.target.pieces.as_ref().map(|pieces| pieces.toolkit.version.prefix(2));
        let own = self.about.gpu_builds().filter(|build| !build.system_cuda);
        let brings = |build: &&Build| pieces.filter(|_| coinstall::leaves_open(build)).or(build.line());
        let mut lines = own.filter_map(brings);
        let wheels = lines.find(|line| self.image.cuda.cmp_prefix(line).is_ne())?;
        let chosen = pieces.is_none() && matches!(self.about.asked.image, ImageRequest::Choose(_));
        let two = TwoRuntimes { image: &self.name, holds: self.image.cuda.prefix(2), wheels, chosen };
        Some(Warning::about(&two, &self.keys))
    }

    /// Which drivers it starts on, where that is not known or written otherwise.
    fn requirement(&self) -> Option<Warning> {
        let asked = self.about.asked;
        let known = demand::requirement(self.about.request.catalog, self.image, asked.arch);
        if let Some(written) = asked.image_requires.as_deref() {
            let published = known.filter(|known| known.own)?;
            let differs = ImageRequires { image: &self.name };
            return (*published.row.require != *written)
                .then(|| Warning::about(&differs, &self.about.keys("image-requires")));
        }
        let judged = match &known {
            Some(requirement) if requirement.own => return self.only_some_builds(&requirement.row.require),
            Some(requirement) => requirement.row.id.split('@').next(),
            None if asked.is_cpu() => return None,
            None => None,
        };
        Some(Warning::about(&ImageRequireUnknown::Unread { image: &self.name, judged }, &self.keys))
    }

    /// A driver on which one published build of the tag starts and another does not.
    fn only_some_builds(&self, require: &'c str) -> Option<Warning> {
        let asked = self.about.asked;
        let driver = self.about.target.driver.as_ref().filter(|_| asked.pins_driver())?;
        let key = demand::DemandKey::Text(require);
        let starts = image::starts_on(self.about.request.problem, &asked.machine, key);
        let some = ImageRequireUnknown::OfBuilds { image: &self.name, driver: &driver.version };
        (!starts(driver)).then(|| Warning::about(&some, &self.keys))
    }

    /// A cuda-compat package in the image that the GPUs refuse, or that refuses them.
    fn compat(&self) -> Option<Warning> {
        let asked = self.about.asked;
        let driver = self.about.target.driver.as_ref().filter(|_| asked.pins_driver())?;
        let why = image::compat_fails(self.about.request.catalog, self.image, driver, asked.named_gpus())?;
        let cuda = self.image.cuda.prefix(2);
        let compat = ImageCompat { image: &self.name, cuda, driver: &driver.version, why };
        Some(Warning::about(&compat, &self.keys))
    }
}

/// A package that is compiled with another minor than the wheel's, and refuses to be imported then.
fn minor_refused(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (source, _) = about.request.catalog.source_build(row)?;
    let is_taken = about.target.finished_of(&row.package).is_some_and(|finished| finished.use_of == Use::Taken);
    let build = about.gpu_builds().find(|build| build.package == row.framework)?;
    let line = build.line().filter(|line| row.sdist && source.same_minor && !is_taken && line.len() > 1)?;
    let of_major = parts::compilers(about.asked, about.target, &line);
    let toolkit = *of_major.first().filter(|_| !of_major.contains(&line))?;
    let name = format!("{} {}", row.package, row.version);
    let refused = MinorRefused { name: &name, toolkit, wheels: line, build: &build.named() };
    let in_image = about.target.image.is_some_and(|image| image.flavour == Flavour::Devel);
    let key = if in_image && about.asked.toolkits.is_none() { "image" } else { "toolkit" };
    Some(Warning::about(&refused, &about.keys(key)))
}

/// A toolkit of another minor than the wheel's.
fn toolkit_minor(about: &About<'_, '_>) -> Option<Warning> {
    let chosen = about.target.toolkit.map(|toolkit| toolkit.version.prefix(2));
    // What a framework leaves open is that of the pieces that pip installs for it.
    let pieces = about.target.pieces.as_ref().filter(|pieces| pieces.bring_runtime());
    let of_pieces = pieces.map(|pieces| pieces.toolkit.version.prefix(2));
    let line_of = |build: &&Build| match coinstall::leaves_open(build) {
        true => of_pieces.or(build.line().filter(|line| line.len() > 1)),
        false => build.line(),
    };
    let mut lines = about.gpu_builds().filter_map(line_of);
    let (toolkit, wheels) = match chosen {
        Some(toolkit) => (toolkit, lines.find(|line| toolkit != *line)?),
        None => lines.find_map(|line| Some((newer_toolkit(about, &line)?, line)))?,
    };
    let keys = match (&about.asked.toolkits, &about.asked.image) {
        (Some(_), _) => about.keys("toolkit"),
        (None, ImageRequest::No) => about.whole(),
        (None, _) => about.keys("image"),
    };
    let of_torch = about.gpu_builds().any(|build| build.package == TORCH);
    Some(Warning::about(&ToolkitMinor { toolkit, wheels, of_torch }, &keys))
}

/// What compiles a package when it is installed or used, where no `[build]` chooses a toolkit and every one that the machine has
/// of the wheel's major is newer than the wheel.
fn newer_toolkit(about: &About<'_, '_>, line: &Version) -> Option<Version> {
    let mut rows = about.target.companions.iter().zip(&about.target.finished);
    if !rows.any(|(row, finished)| row.jit || row.sdist && finished.is_none()) {
        return None;
    }
    let of_major = about.asked.toolkits.iter().flatten().filter(|toolkit| toolkit.major() == line.major());
    of_major.map(|toolkit| toolkit.prefix(2)).min().filter(|oldest| oldest > line)
}
