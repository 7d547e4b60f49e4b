//! Images: which tags serve a target, and what an image demands of the driver it is started on.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Class as Market, Flavour, Image};
use crate::words::constraint::Comparison;
use crate::words::{CpuArch, Version};

use super::class::{Class, GpuRules};
use super::driver::DriverRow;
use super::question::{ImageAsk, Question};
use super::rulebook::law;

/// The images a class may take, preferred first. Empty where an image is asked for and none serves.
pub fn rows<'c>(question: &Question<'c>, class: &Class<'_, 'c>) -> Vec<&'c Image> {
    let serves = |image: &&Image| refusal(question, class, image).is_none();
    match &class.target.image {
        ImageAsk::Known(image) => [*image].into_iter().filter(serves).collect(),
        ImageAsk::Choose(repository) => {
            let of_repository = question.catalog.images.iter().filter(|image| image.repository == repository.as_str());
            let mut images: Vec<&Image> = of_repository.filter(serves).collect();
            images.sort_by(|a, b| {
                b.cuda.cmp(&a.cuda).then_with(|| os_rank(&a.os).cmp(&os_rank(&b.os))).then(a.flavour.cmp(&b.flavour))
            });
            images.dedup_by(|later, kept| later.cuda == kept.cuda && later.require == kept.require);
            images
        }
        _ => Vec::new(),
    }
}

/// Which law keeps an image from a class, whatever the driver and the stack.
pub fn refusal(question: &Question<'_>, class: &Class<'_, '_>, image: &Image) -> Option<&'static str> {
    let target = class.target;
    let pinned = matches!(target.image, ImageAsk::Known(_));
    let broken = |rule: &'static str, broken: bool| (broken && question.holds(rule, &target.name)).then_some(rule);
    let os_differs = target.os.is_some_and(|os| os.id != image.os && !os.images.contains(&image.os));
    let arch_missing = match image.arches.is_empty() {
        true => target.arch != CpuArch::X86_64,
        false => !image.arches.contains(&target.arch),
    };
    broken(law::IMAGE_TAG, image.withdrawn)
        .or_else(|| broken(law::IMAGE_ARCH, arch_missing))
        .or_else(|| broken(law::IMAGE_OS, os_differs))
        .or_else(|| broken(law::IMAGE_HOLDS, !holds_enough(question, class, image, pinned)))
}

fn holds_enough(question: &Question<'_>, class: &Class<'_, '_>, image: &Image, pinned: bool) -> bool {
    if question.build.is_some() {
        return image.flavour == Flavour::Devel
            && (pinned || image.cudnn.is_none() == question.system_cudnn().is_none());
    }
    match question.system_cudnn() {
        Some(wanted) => {
            image.cudnn.as_ref().is_some_and(|inside| wanted.admits(inside)) && cudnn_serves(question, class, image)
        }
        None if pinned => true,
        None => image.flavour == smallest_flavour(question) && image.cudnn.is_none(),
    }
}

/// The least that must be in an image to run in: wheels bring their libraries along, a bare stack does not.
pub fn smallest_flavour(question: &Question<'_>) -> Flavour {
    if question.frameworks.is_empty() { Flavour::Runtime } else { Flavour::Base }
}

fn cudnn_serves(question: &Question<'_>, class: &Class<'_, '_>, image: &Image) -> bool {
    image
        .cudnn
        .as_ref()
        .is_none_or(|cudnn| class.gpus.iter().all(|gpu| question.cudnn_refusal(class, gpu, cudnn).is_none()))
}

/// Ubuntu first, newest first; then everything else by name.
fn os_rank(os: &str) -> (bool, std::cmp::Reverse<Option<Version>>, String) {
    let version = os.strip_prefix("ubuntu").and_then(|version| Version::parse(version).ok());
    (version.is_none(), std::cmp::Reverse(version), os.to_string())
}

/// The image's `NVIDIA_REQUIRE_CUDA` for a platform; none where the catalog knows none.
pub fn requirement<'c>(catalog: &'c Catalog, image: &Image, arch: CpuArch) -> Option<&'c str> {
    let id = format!("{}@{arch}", image.require.as_deref()?);
    let found = catalog.image_requires.binary_search_by(|row| (*row.id).cmp(id.as_str())).ok();
    found.map(|at| &*catalog.image_requires[at].require)
}

/// What an image demands of the machine it is started on, read once.
#[derive(Debug, Clone)]
pub struct Demand<'c> {
    /// Any one of these suffices.
    alternatives: Vec<Vec<Condition<'c>>>,
}

#[derive(Debug, Clone)]
enum Condition<'c> {
    Brand(&'c str),
    Driver(Comparison),
    Cuda(Comparison),
    /// Something that is never fulfilled, because nobody here can tell what it asks.
    Unknown,
}

impl<'c> Demand<'c> {
    /// libnvidia-container's reading: blanks part alternatives, commas part conditions.
    pub fn parse(requirement: &'c str) -> Self {
        let alternatives = requirement.split_whitespace();
        Demand { alternatives: alternatives.map(|all| all.split(',').map(Condition::parse).collect()).collect() }
    }

    fn nothing() -> Self {
        Demand { alternatives: vec![Vec::new()] }
    }

    fn own_line(image: &Image) -> Self {
        let line = Comparison::parse(&format!(">={}", image.cuda.prefix(2)));
        Demand { alternatives: vec![vec![line.map_or(Condition::Unknown, Condition::Cuda)]] }
    }

    fn admits(&self, driver: &DriverRow<'_>, brands: &[&str]) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|condition| condition.holds(driver, brands)))
    }
}

impl<'c> Condition<'c> {
    fn parse(text: &'c str) -> Self {
        let (subject, bound) = text.split_at(text.find(['<', '>', '=', '!']).unwrap_or(text.len()));
        let constraint = || Comparison::parse(bound).ok();
        match subject.to_ascii_lowercase().as_str() {
            "brand" => bound.strip_prefix('=').map_or(Condition::Unknown, Condition::Brand),
            "driver" => constraint().map_or(Condition::Unknown, Condition::Driver),
            "cuda" => constraint().map_or(Condition::Unknown, Condition::Cuda),
            _ => Condition::Unknown,
        }
    }

    fn holds(&self, driver: &DriverRow<'_>, brands: &[&str]) -> bool {
        match self {
            Condition::Brand(brand) => brands.contains(brand),
            Condition::Driver(bound) => bound.admits(&driver.version),
            Condition::Cuda(bound) => driver.branch.cuda.as_ref().is_some_and(|cuda| bound.admits(cuda)),
            Condition::Unknown => false,
        }
    }
}

/// What an image demands on a platform. Every requirement known admits the image's own line; what else one of
/// unknown text admits nobody knows, which is enough to keep the user's image but not to choose one.
pub fn demand<'c>(question: &Question<'c>, class: &Class<'_, 'c>, image: &Image) -> Arc<Demand<'c>> {
    match requirement(question.catalog, image, class.target.arch) {
        Some(text) => question.rules.demand(text),
        None if is_given(class) => Arc::new(Demand::nothing()),
        None => Arc::new(Demand::own_line(image)),
    }
}

/// Whether the user named the tag.
fn is_given(class: &Class<'_, '_>) -> bool {
    matches!(class.target.image, ImageAsk::Known(_))
}

/// Whether an image may be started on a driver, for every GPU of the class.
pub fn admits(question: &Question<'_>, class: &Class<'_, '_>, demand: &Demand<'_>, driver: &DriverRow<'_>) -> bool {
    if !question.holds(law::IMAGE_REQUIRE, &class.target.name) {
        return true;
    }
    let brands_of = |gpu: &GpuRules| brands(gpu.gpu.row.map(|row| row.class));
    if class.gpus.is_empty() {
        // Nothing is said of the GPU: an image that was chosen must start on every brand, one that was given on any.
        let mut every = MARKETS.iter().map(|&market| demand.admits(driver, brands(Some(market))));
        return if is_given(class) { every.any(|starts| starts) } else { every.all(|starts| starts) };
    }
    class.gpus.iter().all(|gpu| demand.admits(driver, brands_of(gpu)))
}

/// The markets whose brands requirements speak of.
const MARKETS: &[Market] = &[Market::Datacenter, Market::Workstation, Market::Geforce, Market::Titan];

/// The brands a container runtime may see for a market: NVML's names differ from driver to driver.
fn brands(market: Option<Market>) -> &'static [&'static str] {
    match market {
        Some(Market::Datacenter) => &["tesla", "nvidia"],
        Some(Market::Workstation) => &["quadro", "quadrortx", "nvidiartx", "nvidia"],
        Some(Market::Geforce) => &["geforce", "geforcertx"],
        Some(Market::Titan) => &["titan", "titanrtx"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::rows::Branch;

    #[test]
    fn requirements_are_read_as_the_container_runtime_reads_them() {
        let branch = |number: &'static str, cuda: &'static str| Branch {
            branch: Version::from_static(number),
            kind: None,
            cuda: Some(Version::from_static(cuda)),
            eol: None,
            source: "test".into(),
            cuda_source: None,
        };
        let (r535, r570) = (branch("535", "12.2"), branch("570", "12.8"));
        let driver =
            |version: &'static str, branch| DriverRow { version: Version::from_static(version), branch, compat: None };
        let requirement = "cuda>=12.8 brand=tesla,driver>=535,driver<536 brand=unknown,driver>=535,driver<536";
        let (old, new) = (driver("535.183.01", &r535), driver("570.86.15", &r570));
        let demand = Demand::parse(requirement);
        assert!(demand.admits(&new, &["geforce"]));
        assert!(demand.admits(&old, &["tesla", "nvidia"]));
        assert!(!demand.admits(&old, &["geforce"]));
        assert!(!demand.admits(&old, &[]));
        assert!(!Demand::parse("").admits(&new, &["tesla"]));
        assert!(Demand::parse("CUDA>=12.3").admits(&new, &[]));
    }
}
