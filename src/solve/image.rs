//! Images: which tags serve a target, and what an image demands of the driver it is started on.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Class as Market, Flavour, Image, ImageRequire, SAMPLED};
use crate::words::require::{self, Subjects};
use crate::words::version::Written;
use crate::words::{CpuArch, Version};

use super::class::{Class, GpuRules};
use super::driver::DriverRow;
use super::fits;
use super::question::{GpuAsk, ImageAsk, Question};
use super::rulebook::law;

/// The images a class may take, preferred first. Empty where an image is asked for and none serves.
pub fn rows<'c>(question: &Question<'c>, class: &Class<'_, 'c>) -> Vec<&'c Image> {
    let takes_system_cuda = question.takes_system_cuda();
    let serves = |image: &&Image| serves_class(question, class, takes_system_cuda, image);
    match &class.target.image {
        ImageAsk::Known(image) => [*image].into_iter().filter(serves).collect(),
        ImageAsk::Choose(repository) => {
            question.rules.images(identity(question, class, takes_system_cuda, repository), || {
                let images = &question.catalog.images;
                let first = images.partition_point(|image| *image.repository < **repository);
                let of_repository = images[first..].iter().take_while(|image| image.repository == repository.as_str());
                preferred_first(of_repository.filter(serves).collect())
            })
        }
        _ => Vec::new(),
    }
}

/// What a tag of a repository that the catalog knows is to it.
#[derive(Debug, Clone, Copy)]
pub enum TagMatch<'c> {
    /// A row.
    Known(&'c Image),
    /// There is no such tag.
    NotThere,
    /// There may be such a tag: not all of the repository's are known. This one comes nearest.
    Unlisted(Option<&'c Image>),
}

/// Looks up a tag of a repository that the catalog knows.
///
/// Where only a part of the tags is known, those of one torch release are known together: they are built together.
pub fn tag<'c>(catalog: &'c Catalog, repository: &str, tag: &str) -> TagMatch<'c> {
    let rows = || catalog.images.iter().filter(|row| *row.repository == *repository);
    if let Some(row) = rows().find(|row| row.tag == tag) {
        return TagMatch::Known(row);
    }
    let of_release = |torch: &str| tag.strip_prefix(torch).is_some_and(|rest| rest.starts_with('-'));
    if !SAMPLED.contains(&repository) || rows().filter_map(|row| row.torch.as_deref()).any(of_release) {
        return TagMatch::NotThere;
    }
    TagMatch::Unlisted(nearest_tag(catalog, repository, tag))
}

/// The tag that can be pulled and comes nearest to one that is not there. A tag without a number, `latest`, is like
/// none of the others: the newest tells what they look like.
pub fn nearest_tag<'c>(catalog: &'c Catalog, repository: &str, tag: &str) -> Option<&'c Image> {
    let rows = catalog.images.iter().filter(|row| *row.repository == *repository && !row.withdrawn);
    let like = |row: &Image| match tag.contains(|c: char| c.is_ascii_digit()) {
        true => strsim::jaro_winkler(tag, &row.tag),
        false => 0.0,
    };
    rows.max_by(|a, b| like(a).total_cmp(&like(b)).then(a.cuda.cmp(&b.cuda)).then(b.tag.cmp(&a.tag)))
}

/// Newest CUDA first, then by system and the smallest flavour; of those that nothing here tells apart, one.
fn preferred_first(mut images: Vec<&Image>) -> Vec<&Image> {
    let mut systems: Vec<&str> = Vec::new();
    for image in &images {
        if !systems.contains(&&*image.os) {
            systems.push(&image.os);
        }
    }
    systems.sort_by_key(|os| os_rank(os));
    images.sort_by_key(|image| (Reverse(&image.cuda), systems.iter().position(|os| *os == image.os), image.flavour));
    images.dedup_by(|later, kept| {
        let inside = |image: &Image| (image.cuda, image.cudnn.is_some(), image.torch);
        later.require == kept.require && inside(later) == inside(kept)
    });
    images
}

/// Everything the choice of images depends on: variations of one spec ask for the same ones again and again.
fn identity(question: &Question<'_>, class: &Class<'_, '_>, takes_system_cuda: bool, repository: &str) -> String {
    let os = class.target.os.map_or("", |os| &os.id);
    let wanted =
        question.system_cudnn().map_or(String::new(), |wanted| format!("{wanted} for {:?}", class.target.gpus));
    let here = question.off.iter().filter(|off| off.target.as_deref().is_none_or(|name| name == class.target.name));
    let matters = |rule: &&str| !wanted.is_empty() || rule.starts_with("image-");
    let off: Vec<&str> = here.map(|off| &*off.rule).filter(matters).collect();
    let takes = (question.build.is_some(), question.frameworks.is_empty(), takes_system_cuda);
    format!("{repository} {os} {} {takes:?} {wanted} {}", class.target.arch, off.join(" "))
}

/// Whether no law keeps an image from a class, whatever the driver and the stack.
fn serves_class(question: &Question<'_>, class: &Class<'_, '_>, takes_system_cuda: bool, image: &Image) -> bool {
    let target = class.target;
    let fine = |rule: &'static str, fine: bool| fine || !question.holds(rule, &target.name);
    let of_os = || target.os.is_none_or(|os| os.id == image.os || os.images.contains(&image.os));
    let for_arch = match image.arches.is_empty() {
        true => target.arch == CpuArch::X86_64,
        false => image.arches.contains(&target.arch),
    };
    fine(law::IMAGE_TAG, !image.withdrawn)
        && fine(law::IMAGE_ARCH, for_arch)
        && fine(law::IMAGE_HOLDS, holds_enough(question, class, takes_system_cuda, image))
        && fine(law::IMAGE_OS, of_os())
}

fn holds_enough(question: &Question<'_>, class: &Class<'_, '_>, takes_system_cuda: bool, image: &Image) -> bool {
    let pinned = is_given(class);
    // Images with a torch of their own come as they are: there is no smaller one to prefer.
    let whole = image.torch.is_some() || SAMPLED.contains(&&*image.repository);
    if question.build.is_some() {
        let no_more = image.cudnn.is_none() == question.system_cudnn().is_none();
        return image.flavour == Flavour::Devel && (pinned || whole || no_more);
    }
    match question.system_cudnn() {
        Some(wanted) => {
            image.cudnn.as_ref().is_some_and(|inside| wanted.admits(inside) && fits::cudnn_serves(class, inside))
        }
        None if pinned || whole => true,
        // Which of the two a framework needs depends on its release: see `serves`.
        None if takes_system_cuda && image.cudnn.is_some() => image.flavour == Flavour::Runtime,
        None => image.flavour == smallest_flavour(question) && image.cudnn.is_none(),
    }
}

/// The least that must be in an image to run in: wheels bring their libraries along, a bare stack does not.
pub fn smallest_flavour(question: &Question<'_>) -> Flavour {
    if question.frameworks.is_empty() { Flavour::Runtime } else { Flavour::Base }
}

/// Whether an image holds the CUDA libraries and the cuDNN that a build expects of the system, and no more than
/// the build needs if the image was chosen for it.
pub fn serves(
    question: &Question<'_>,
    class: &Class<'_, '_>,
    build: &Build,
    line: Option<&Version>,
    image: &Image,
) -> bool {
    let same_line = line.is_none_or(|line| image.cuda.cmp_prefix(line).is_eq());
    let same_cudnn = build.cudnn.as_ref().zip(image.cudnn.as_ref());
    let asked = |inside: &Version| question.cudnn.as_ref().is_none_or(|wanted| wanted.admits(inside));
    // An image of a JetPack holds what the JetPack does, for which such builds are made.
    let of_system = |inside: &Version| inside.major() == 0 && !build.systems.is_empty() && question.cudnn.is_none();
    let serves =
        |needs: &Version, inside: &Version| inside.major() == needs.major() && inside >= needs && asked(inside);
    let same_cudnn = same_cudnn.is_some_and(|(needs, inside)| of_system(inside) || serves(needs, inside));
    match build.system_cuda {
        true => image.flavour >= Flavour::Runtime && same_line && same_cudnn,
        false => {
            let whole = image.torch.is_some() || image.flavour == Flavour::Devel;
            is_given(class) || image.cudnn.is_none() || whole
        }
    }
}

/// Whether an image is newer than a driver that may start it: it counts on the cuda-compat package that it brings,
/// which is for data-centre GPUs. On others CUDA then fails where the container runtime puts that package first.
pub fn leans_on_compat<'a, 'c: 'a>(
    image: &Image,
    driver: &DriverRow<'_>,
    mut gpus: impl Iterator<Item = &'a GpuAsk<'c>>,
) -> bool {
    let newer = driver.branch.cuda.as_ref().is_some_and(|cuda| *cuda < image.cuda.prefix(2));
    let refuses = |gpu: &GpuAsk<'_>| gpu.row.is_some_and(|row| row.class != Market::Jetson) && !gpu.is_datacenter();
    // Those with a torch of their own are another matter: most do without the package.
    let plain = image.require.is_some() && image.torch.is_none();
    plain && newer && driver.compat.is_none() && gpus.any(refuses)
}

/// Ubuntu first, newest first; then everything else by name.
fn os_rank(os: &str) -> (bool, Reverse<Option<Version>>, &str) {
    let version = os.strip_prefix("ubuntu").and_then(|version| Version::parse(version).ok());
    (version.is_none(), Reverse(version), os)
}

/// An image's `NVIDIA_REQUIRE_CUDA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement<'c> {
    /// The row it was read from.
    pub row: &'c ImageRequire,
    /// The text is the image's own; else that of an image of the same CUDA line, which is the best guess.
    pub own: bool,
}

/// The requirement of an image for a platform; none where none of its CUDA line is known.
pub fn requirement<'c>(catalog: &'c Catalog, image: &Image, arch: CpuArch) -> Option<Requirement<'c>> {
    if let Some(row) = own_requirement(catalog, image, arch) {
        return Some(Requirement { row, own: true });
    }
    let rows = &catalog.image_requires;
    let line = image.cuda.prefix(2);
    let of_line = |row: &&ImageRequire| {
        let release = row.id.strip_suffix(arch.as_str()).and_then(|id| id.strip_suffix('@'));
        let beyond = release.and_then(|release| release.strip_prefix(line.as_str()));
        beyond.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    rows.iter().rev().find(of_line).map(|row| Requirement { row, own: false })
}

/// The requirement that is the image's own.
fn own_requirement<'c>(catalog: &'c Catalog, image: &Image, arch: CpuArch) -> Option<&'c ImageRequire> {
    let require = image.require?;
    let id = || [require.as_str(), "@", arch.as_str()].into_iter().flat_map(str::bytes);
    let rows = &catalog.image_requires;
    rows.binary_search_by(|row| row.id.bytes().cmp(id())).ok().map(|at| &rows[at])
}

/// Whether it is known for which platforms an image exists and which drivers it starts on.
pub fn is_known(catalog: &Catalog, image: &Image, arch: CpuArch) -> bool {
    !image.arches.is_empty() && own_requirement(catalog, image, arch).is_some()
}

/// What an image demands of the machine it is started on, read once.
#[derive(Debug, Clone)]
pub struct Demand<'c> {
    requirement: require::Requirement<'c>,
    /// The oldest CUDA version of a driver that may start it, where that is all that is known.
    least: Option<Version>,
}

impl<'c> Demand<'c> {
    /// libnvidia-container's reading.
    pub fn parse(requirement: &'c str) -> Self {
        Demand { requirement: require::Requirement::parse(requirement), least: None }
    }

    fn nothing() -> Self {
        Demand::parse("")
    }

    fn own_line(image: &Image) -> Self {
        Demand { least: Some(image.cuda.prefix(2)), ..Demand::nothing() }
    }

    /// Whether it starts on a driver under one of these brands. A driver of which no CUDA version is known fulfils no
    /// minimum: to the runtime it would be known.
    fn admits(&self, driver: &DriverRow<'_>, brands: &[&str]) -> bool {
        const UNKNOWN: &Version = &Version::of(const { &Written::new("0") });
        let cuda = driver.branch.cuda.as_ref().unwrap_or(UNKNOWN);
        let starts = |brand| {
            let subjects = Subjects { cuda: Some(cuda), driver: Some(&driver.version), arch: None, brand: Some(brand) };
            self.requirement.holds(&subjects).unwrap_or(false)
        };
        let any_brand = if brands.is_empty() { &[""] } else { brands };
        self.least.as_ref().is_none_or(|least| cuda >= least) && any_brand.iter().any(|brand| starts(brand))
    }
}

/// What an image demands on a platform. Every requirement known admits the image's own line; what else one of
/// unknown text admits nobody knows, which is enough to keep the user's image but not to choose one.
pub fn demand<'c>(question: &Question<'c>, class: &Class<'_, 'c>, image: &'c Image) -> Arc<Demand<'c>> {
    let arch = class.target.arch;
    let given = is_given(class);
    let text = || requirement(question.catalog, image, arch).map(|requirement| &*requirement.row.require);
    let unknown = || if given { Demand::nothing() } else { Demand::own_line(image) };
    question.rules.demand((image, arch, given), text, unknown)
}

/// Whether the user named the tag.
fn is_given(class: &Class<'_, '_>) -> bool {
    matches!(class.target.image, ImageAsk::Known(_))
}

/// Whether an image may be started on a driver, for every GPU of the class.
pub fn admits<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    demand: &Arc<Demand<'c>>,
    driver: &DriverRow<'_>,
) -> bool {
    if !question.holds(law::IMAGE_REQUIRE, &class.target.name) {
        return true;
    }
    let starts = |brands: &'static [&'static str]| {
        question.rules.starts(demand, driver.version, brands, || demand.admits(driver, brands))
    };
    let brands_of = |gpu: &GpuRules| brands(gpu.gpu.row.map(|row| row.class));
    if class.gpus.is_empty() {
        // Nothing is said of the GPU: an image that was chosen must start on every brand, one that was given on any.
        let mut every = MARKETS.iter().map(|&market| starts(brands(Some(market))));
        return if is_given(class) { every.any(|starts| starts) } else { every.all(|starts| starts) };
    }
    class.gpus.iter().all(|gpu| starts(brands_of(gpu)))
}

/// The markets whose brands requirements speak of.
const MARKETS: &[Market] = &[Market::Datacenter, Market::Workstation, Market::Geforce, Market::Titan];

/// The brands a container runtime may see for a market: NVML's names differ from driver to driver.
pub fn brands(market: Option<Market>) -> &'static [&'static str] {
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
            branch: Version::parse(number).unwrap(),
            kind: None,
            cuda: Some(Version::parse(cuda).unwrap()),
            eol: None,
            source: "test".into(),
            cuda_source: None,
        };
        let (r535, r570) = (branch("535", "12.2"), branch("570", "12.8"));
        let driver = |version: &'static str, branch| DriverRow {
            version: Version::parse(version).unwrap(),
            branch,
            compat: None,
        };
        let requirement = "cuda>=12.8 brand=tesla,driver>=535,driver<536 brand=unknown,driver>=535,driver<536";
        let (old, new) = (driver("535.183.01", &r535), driver("570.86.15", &r570));
        let demand = Demand::parse(requirement);
        assert!(demand.admits(&new, &["geforce"]));
        assert!(demand.admits(&old, &["tesla", "nvidia"]));
        assert!(!demand.admits(&old, &["geforce"]));
        assert!(!demand.admits(&old, &[]));
        assert!(Demand::parse("").admits(&new, &["tesla"]));
        assert!(!Demand::parse("os=linux").admits(&new, &["tesla"]));
        let unknown = Branch { cuda: None, ..r570.clone() };
        assert!(!demand.admits(&driver("570.86.15", &unknown), &["tesla"]));
        assert!(Demand::parse("CUDA>=12.3").admits(&new, &[]));
    }
}
