//! What images are and ask for, and what comes with the machine.

use crate::catalog::rows::{Build, Flavour, Image, TORCH};
use crate::solve::demand;
use crate::solve::driver;
use crate::solve::request::{ImageRequest, TargetRequest};
use crate::solve::rules::law;
use crate::solve::{bundled_torch, coinstall, image};
use crate::spec::Share;
use crate::types::Constraint;
use crate::types::name::STACK_PARTS;

use super::Explainer;
use super::words::list;

impl<'c> Explainer<'_, 'c> {
    pub(super) fn image_tag(&mut self) {
        self.image(|name, _, _| vec![format!("{name} can no longer be pulled")]);
    }

    pub(super) fn image_arch(&mut self) {
        self.image(|name, image, target| {
            let arches: Vec<&str> = image.arches.iter().map(|arch| arch.as_str()).collect();
            let board = target.named_gpus().first().filter(|gpu| gpu.row.is_some_and(|row| row.cpu.is_some()));
            let machine = board.map_or(format!("target `{}`", target.name), |gpu| gpu.written.clone());
            vec![format!("{name} exists for {} only", list(&arches)), format!("{machine} is {}", target.arch)]
        });
    }

    pub(super) fn image_gpu(&mut self) {
        let Some(image) = self.image_of() else { return self.image(|_, _, _| Vec::new()) };
        let (Some(least), Some(source)) = (image.least_gpu, &image.least_gpu_source) else { return };
        let source = self.request.catalog.source_of(source, &image.tag, &image.repository, "");
        self.say(format!("NVIDIA supports {} on GPUs of compute capability {least} and later", image.name()));
        self.fact(format!("image {}", image.name()), source);
        self.gpus();
    }

    pub(super) fn image_os(&mut self) {
        self.image(|name, image, target| {
            vec![format!("{name} is {}, not {}", image.os, target.os.map_or("the system that is set", |os| &os.id))]
        });
    }

    pub(super) fn image_holds(&mut self) {
        let image = self.image_of();
        let compiles = self.request.build.is_some();
        let lacks_nvcc = compiles && image.is_none_or(|image| image.flavour != Flavour::Devel);
        let is_told = !lacks_nvcc && image.is_some_and(|image| self.libraries_in(image));
        let told = match lacks_nvcc {
            true => vec!["has no nvcc, which `[build]` needs".to_string()],
            false if is_told => Vec::new(),
            false => image.map(|image| format!("holds {}", cudnn_in(image))).into_iter().collect(),
        };
        self.image(|name, _, _| told.iter().map(|told| format!("{name} {told}")).collect());
    }

    /// The image that is named.
    fn image_of(&self) -> Option<&'c Image> {
        match self.target_with("image").or(self.target())?.image {
            ImageRequest::Known(image) => Some(image),
            _ => None,
        }
    }

    /// What builds load from the system that an image has otherwise, if there are any such.
    fn libraries_in(&mut self, image: &Image) -> bool {
        let loading = self.loading();
        if loading.is_empty() {
            return false;
        }
        let name = image.name();
        if image.flavour < Flavour::Runtime {
            self.loads_of_system(&loading);
            self.say(format!("{name} is of flavour {}, which holds none of them", image.flavour.as_str()));
        } else if !loading.iter().any(|build| coinstall::finds_cuda(build, &[image.cuda])) {
            self.loads_of_system(&loading);
            self.say(format!("{name} holds CUDA {}, whose libraries have other file names", image.cuda.prefix(2)));
            self.cite(law::SYSTEM_CUDA);
        } else {
            self.needs_of_cudnn(&loading);
            self.say(format!("{name} holds {}", cudnn_in(image)));
        }
        self.cite_builds(&loading);
        true
    }

    /// What is said of the image that is named, or that none can be.
    fn image(&mut self, says: impl FnOnce(&str, &Image, &TargetRequest<'c>) -> Vec<String>) {
        let Some(target) = self.target_with("image").or(self.target()) else { return };
        let ImageRequest::Known(image) = &target.image else { return self.image_missing() };
        let name = image.name();
        let source = self.request.catalog.source_of(&image.source, image.tag.as_ref(), &image.repository, "");
        let sentences = says(&name, image, target);
        sentences.into_iter().for_each(|sentence| self.say(sentence));
        self.fact(format!("image {name}"), source);
    }

    /// What the image that is named holds.
    pub(super) fn torch_in_image(&mut self) {
        let Some(image) = self.image_of().filter(|image| image.torch.is_some()) else { return };
        let python = image.python.map_or_else(String::new, |python| format!(" for Python {python}"));
        let torch = image.torch.as_deref().unwrap_or_default();
        let cuda = image.cuda.prefix(2);
        let sentence = format!("{} holds torch {torch}{python}, built with CUDA {cuda}", image.name());
        let source = self.request.catalog.source_of(&image.source, &image.tag, &image.repository, "");
        self.say(sentence);
        self.fact(format!("image {}", image.name()), source);
    }

    /// The torch and the Python that an image comes with.
    pub(super) fn image_torch(&mut self) {
        let Some(target) = self.target_with("image").or(self.target()) else { return };
        match &target.image {
            ImageRequest::Known(_) => self.torch_in_image(),
            ImageRequest::Choose(repository) => {
                let none = format!("no image of {repository} that works for target `{}` holds", target.name);
                let own = self.request.frameworks.iter().any(|ask| ask.package == TORCH && ask.own);
                let is_of_package = || self.request.companions.iter().any(|ask| self.blames(ask.package));
                let sentence = match (self.blames(TORCH), self.blames("python")) {
                    (false, true) => format!("{none} a torch for such a Python"),
                    (false, false) if is_of_package() => {
                        format!("the images of {repository} hold a torch of their own")
                    }
                    (true, _) if own => format!(
                        "the images of {repository} hold a torch of their own, which your build is not; only beside the one of an \
                         image that is named by its tag is yours installed"
                    ),
                    _ => format!("{none} such a torch"),
                };
                self.say(sentence);
            }
            _ => {}
        }
        if let Some(python) = self.request.python.as_ref().filter(|_| self.blames("python")) {
            self.say_line("python", python);
        }
        let shared = self.torch_elsewhere();
        let asks = self.request.frameworks.iter().filter(|ask| self.blames(ask.package));
        let asked = asks.filter(|ask| shared.is_empty() || ask.package != TORCH);
        let asked: Vec<_> = asked.collect();
        shared.into_iter().for_each(|sentence| self.say(sentence));
        asked.into_iter().filter(|ask| !ask.own).for_each(|ask| self.say_line(ask.package, &ask.constraint));
    }

    /// Whether a build is none that the named image holds another one of.
    pub(super) fn may_be_in_image(&self, build: &Build) -> bool {
        build.package != TORCH || self.image_of().is_none_or(|image| bundled_torch::runs_in(image, build))
    }

    /// Where another target must have the torch of the image and there is none for it.
    pub(super) fn torch_elsewhere(&self) -> Vec<String> {
        let request = self.request;
        let (platform, is_shared) = (self.platform(), request.share == Share::Stack);
        let other = request.targets.iter().find(|other| other.platform.image().is_none());
        let held = self.admitted().into_iter().find(|build| build.package == TORCH && build.is_in_image());
        let Some((other, held)) = other.zip(held).filter(|_| is_shared && platform.image().is_some()) else {
            return Vec::new();
        };
        let (version, variant) = (&held.version, &held.variant);
        let is_it = |build: &&Build| other.platform.takes(build) && build.version == *version;
        let mut of_torch = request.catalog.builds.of(TORCH).iter().filter(is_it);
        if of_torch.any(|build| build.variant == *variant) {
            return Vec::new();
        }
        vec![
            format!("target `{}` must have the same torch (`share = \"stack\"`)", other.name),
            format!("no wheel of torch {version} ({variant}) is known for {}", other.arch),
        ]
    }

    pub(super) fn image_requires(&mut self) {
        if self.written_requirement() {
            return;
        }
        let Some(target) = self.target_with("image").or(self.target()) else { return };
        if let ImageRequest::Known(image) = &target.image {
            if let Some(requirement) = demand::requirement(self.request.catalog, image, target.arch) {
                let requirement = &requirement.row.require;
                let short = requirement.split_whitespace().next().unwrap_or("");
                let short = short
                    .strip_prefix("cuda>=")
                    .map_or(short.to_string(), |cuda| format!("drivers whose CUDA version is {cuda} or newer"));
                let more = if requirement.contains(' ') { ", or on some older ones that it names" } else { "" };
                let sentence = format!("{}:{} starts only on {short}{more}", image.repository, image.tag);
                let source = self.request.catalog.source_of(&image.source, image.tag.as_ref(), &image.repository, "");
                let id = format!("image {}:{}", image.repository, image.tag);
                let driver = self.driver_words(target);
                self.say(sentence);
                driver.into_iter().for_each(|sentence| self.say(sentence));
                self.fact(id, source);
                self.gpus_to(requirement);
            }
        } else if let ImageRequest::Choose(repository) = &target.image {
            let sentence = format!("no tag of {repository}{} starts on that driver", self.asked_of_tags());
            let driver = self.driver_words(target);
            driver.into_iter().for_each(|sentence| self.say(sentence));
            self.say(sentence);
            self.brands();
        }
    }

    /// A product that is sold with its CPU.
    pub(super) fn product_cpu(&mut self) {
        let Some(target) = self.target_with("gpu").or(self.target()) else { return };
        let arch = target.arch;
        let other = target.named_gpus().iter().find_map(|gpu| {
            let cpu = gpu.row?.cpu.filter(|cpu| *cpu != arch)?;
            Some(format!("{} comes with an {cpu} CPU", gpu.written))
        });
        let Some(sentence) = other else { return };
        self.say(sentence);
        self.say_line("arch", &arch);
    }

    /// A system that is made for other boards.
    pub(super) fn system_boards(&mut self) {
        self.board_without_system();
        let of_boards = |target: &TargetRequest<'c>| target.os.filter(|os| !os.boards.is_empty());
        // An image of a JetPack has its system.
        let target = self.target_with("os").or_else(|| self.target_with("image"));
        let Some((target, os)) = target.and_then(|target| Some((target, of_boards(target)?))) else {
            return;
        };
        let other = target.named_gpus().iter().find(|gpu| !os.boards.contains(&gpu.cc_version));
        let Some(board) = other.map(|gpu| format!("{} has compute capability {}", gpu.written, gpu.cc)) else { return };
        let boards: Vec<&str> = os.boards.iter().map(|cc| cc.as_str()).collect();
        if target.judged.glibc || target.judged.gcc {
            let system = format!("the system of target `{}`", target.name);
            self.say(format!("{system} is not in the catalog and is judged as {}", os.name));
        }
        self.say(format!("{} is made for boards of compute capability {} only", os.name, list(&boards)));
        self.say(board);
        let source = os.boards_source.as_deref().unwrap_or_default();
        self.fact(format!("os {}", os.id), self.request.catalog.source_at(source));
    }

    /// A Jetson whose JetPack is not told: no JetPack for it comes with a driver that is new enough.
    fn board_without_system(&mut self) {
        let Some(target) = self.target_with("gpu") else { return };
        let Some((newest, os)) = driver::newest_on_boards(self.request.catalog, target) else { return };
        let (with, source) = match &os.compats_source {
            Some(source) if os.cuda != Some(newest) => (", not even with cuda-compat", source),
            _ => ("", &os.source),
        };
        let boards: Vec<&str> = target.named_gpus().iter().map(|gpu| gpu.written.as_str()).collect();
        self.say(format!("no JetPack for {} has a driver for more than CUDA {newest}{with}", list(&boards)));
        self.fact(format!("os {}", os.id), self.request.catalog.source_at(source));
    }

    /// What of the stack a tag has to go with, where that is blamed as well: without it some tag works. Nothing where the
    /// machine alone refuses every tag.
    fn asked_of_tags(&self) -> String {
        let request = self.request;
        let asks = request.frameworks.iter().chain(&request.companions).map(|ask| (ask.package, &ask.constraint));
        let parts = STACK_PARTS.into_iter().filter_map(|name| Some((name, request.part(name)?)));
        let blamed = asks.chain(parts).filter(|(name, _)| self.blames(name));
        let lines: Vec<String> = blamed
            .map(|(name, wanted)| match self.forced.iter().any(|forced| forced == name) {
                true => format!("{name} {wanted}"),
                false => format!("`{name} = \"{wanted}\"`"),
            })
            .collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!(" that goes with {}", list(&lines.iter().map(String::as_str).collect::<Vec<_>>())),
        }
    }

    /// Whether every tag of a repository for the CUDA that is blamed can no longer be pulled.
    fn line_is_gone(&self, repository: &str) -> bool {
        let Some(wanted) = self.request.cuda.as_ref().filter(|_| self.blames("cuda")) else { return false };
        let images = self.request.catalog.images.of(repository).iter();
        let mut of_line = images.filter(|row| wanted.admits(&row.cuda)).peekable();
        of_line.peek().is_some() && of_line.all(|row| row.withdrawn)
    }

    fn gone(&self, repository: &str) -> String {
        let kept = self.request.catalog.images.of(repository).iter().filter(|row| !row.withdrawn);
        let oldest = kept.map(|row| &row.cuda).min();
        let oldest = oldest.map_or(String::new(), |cuda| format!("; the oldest kept are of CUDA {cuda}"));
        let wanted = self.request.cuda.as_ref().map_or("", Constraint::as_str);
        format!("the tags of {repository} for CUDA {wanted} can no longer be pulled{oldest}")
    }

    /// Whether a blamed package loads the libraries of one CUDA.
    pub(super) fn blames_what_loads_cuda(&self) -> bool {
        let mut blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        blamed.any(|ask| self.asked_releases(ask).any(|row| row.follows_cuda() && row.cuda.is_some()))
    }

    pub(super) fn image_missing(&mut self) {
        let Some(target) = self.target_with("image") else { return };
        let (name, catalog) = (target.name.clone(), self.request.catalog);
        match &target.image {
            ImageRequest::NoSuchTag(wanted) => {
                let tag = wanted.tag.clone().unwrap_or_default();
                let nearest = image::nearest_tag(self.request.catalog, &wanted.repository, &tag);
                let repository = wanted.repository.clone();
                let Some(near) = nearest else {
                    return self.say(format!("{repository} has no tag that can be pulled"));
                };
                self.say(image::missing(catalog, &repository, &tag));
                let source = catalog.source_of(&near.source, &near.tag, &near.repository, "");
                self.fact(format!("image {}", near.name()), source);
            }
            ImageRequest::Choose(repository) => {
                let os = target.os.filter(|_| self.culprits.contains(&target.key("os")));
                let asked = self.asked_of_tags();
                let of_os = os.map_or_else(String::new, |os| format!(" for {}", os.name));
                match self.line_is_gone(repository) {
                    true => self.say(self.gone(repository)),
                    // What was told of the packages is the reason, and tags that go with others may well work.
                    false if !asked.is_empty() && !self.says.is_empty() => {}
                    false => self.say(format!("no tag of {repository}{of_os}{asked} works for target `{name}`")),
                }
            }
            ImageRequest::Known(image) if self.blames("cuda") || self.blames_what_loads_cuda() => {
                let name = format!("{}:{}", image.repository, image.tag);
                let source = self.request.catalog.source_of(&image.source, image.tag.as_ref(), &image.repository, "");
                self.say(format!("{name} holds CUDA {}", image.cuda.prefix(2)));
                self.fact(format!("image {name}"), source);
            }
            _ => {}
        }
    }
}

/// The cuDNN in an image that does not serve.
fn cudnn_in(image: &Image) -> String {
    match image.cudnn {
        None => "no cuDNN".to_string(),
        Some(_) if image::holds_unread_cudnn(image) => "a cuDNN of another major".to_string(),
        Some(cudnn) => format!("cuDNN {cudnn}"),
    }
}
