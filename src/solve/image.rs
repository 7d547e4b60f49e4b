//! Images: which tags serve a target, and what an image demands of the driver it is started on.

mod compat;
mod cudnn;
mod tags;

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Class as Market, Flavour, Image, SAMPLED, Text};
use crate::types::{Constraint, CpuArch, Version};

use super::coinstall::finds_cuda;
use super::demand::{self, Bearing, Demand, DemandKey, is_given, is_known};
use super::described::Described;
use super::driver_row::DriverRow;
use super::facts::Facts;
use super::kept::Kept;
use super::reading::Reading;
use super::rowset::RowSet;
use super::rules::Rules;
use super::rules::law::{self, RuleId};
use super::values::ImageRequest;

pub use compat::{compat_fails, holds_compat, may_load_compat};
pub use cudnn::{CudnnInside, cudnn_inside, has_cudnn_headers, holds_unread_cudnn, may_hold, told_cudnn};
pub use tags::{
    TagMatch, holds_torch, is_for_jetson, is_sampled, missing, nearest_tag, oldest_gpu, published_torch, spelt, tag,
    unread_releases,
};

/// Everything that the choice of images for a machine depends on: they are found from this alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ImageKey<'c> {
    place: Place<'c>,
    /// The machine's system, and the systems whose images are its own.
    os: Option<(&'c str, &'c [Text])>,
    /// The one whose images are preferred.
    image_os: Option<&'c str>,
    arch: CpuArch,
    needs: Needs,
    /// Whether a cuDNN is installed on top of it.
    cudnn_installed: bool,
    /// The cuDNN that the image must hold, where one is asked for and no framework brings its own.
    cudnn: Option<Constraint>,
    /// The rules that keep some cuDNN releases from the machine's GPUs, where one is asked for.
    cudnn_rules: RowSet,
    /// The newest CUDA that the machine's boards take, where they are Jetsons that take nothing made for servers.
    boards: Option<Version>,
    /// The oldest of its GPUs, where some of these images tell from which on they support them.
    oldest_gpu: Option<Version>,
    /// The laws about images that are set aside.
    off: RowSet,
}

/// The repository to choose from, or the image that was named.
#[derive(Debug, Clone)]
enum Place<'c> {
    In(String),
    This(&'c Image),
}

impl Place<'_> {
    fn identity(&self) -> (&str, Option<&str>) {
        match self {
            Place::In(repository) => (repository, None),
            Place::This(image) => (&image.repository, Some(&image.tag)),
        }
    }
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Place<'_> {}

impl Hash for Place<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// What a stack needs of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Needs {
    /// A compiler.
    pub compiler: bool,
    /// CUDA's libraries, for no framework brings them.
    pub libraries: bool,
    /// Libraries and cuDNN for some releases of a framework.
    pub system_cuda: bool,
    /// Files of the compiler for some of those.
    pub compiler_files: bool,
    /// A compiler, for what may be compiled where it is installed or used: an image that is chosen had better hold one.
    pub compiles: bool,
    /// cuDNN's headers, for what is compiled: an image that is chosen had better hold them.
    pub cudnn_headers: bool,
}

impl Needs {
    /// The least that must be in an image to run in: wheels bring their libraries along, a bare stack does not.
    pub fn smallest_flavour(self) -> Flavour {
        match self {
            Needs { libraries: true, .. } => Flavour::Runtime,
            _ => Flavour::Base,
        }
    }
}

/// What must be in an image, or had better be, for the packages of a stack.
#[derive(Debug)]
pub struct Inside<'a> {
    /// The flavour.
    pub needs: Needs,
    /// The cuDNN that is asked for, where no framework brings its own.
    pub cudnn: Option<&'a Constraint>,
}

/// The images to choose from as a table, preferred first.
#[derive(Debug, Default)]
pub struct Images<'c> {
    /// Their number: machines that may take the same have the same.
    pub id: usize,
    /// The rows.
    pub rows: Rc<[&'c Image]>,
    /// Those of which the platforms and the drivers that they start on are known.
    pub known: RowSet,
    /// What they demand of a driver, and which of them do, by what of a machine decides it.
    demands: Kept<Bearing, [(DemandKey<'c>, RowSet)]>,
    /// The C libraries in them, as far as anybody knows, and which of them have each.
    glibcs: Vec<(Version, RowSet)>,
}

impl<'c> Images<'c> {
    /// Those that a key tells.
    pub(super) fn new(facts: &Facts<'c>, id: usize, key: &ImageKey<'c>) -> Self {
        let (catalog, asked) = (facts.catalog, Asked { catalog: facts.catalog, rules: &facts.rules, key });
        let rows: Vec<&Image> = match &key.place {
            Place::This(image) => [*image].into_iter().filter(|image| asked.admits(image)).collect(),
            Place::In(repository) => {
                let admitted = catalog.images.of(repository).iter().filter(|image| asked.admits(image)).collect();
                preferred_first(admitted, key.image_os)
            }
        };
        let known = RowSet::filter(rows.len(), |row| is_known(catalog, rows[row], key.arch));
        let glibcs = rows_by(&rows, |image| catalog.os_of_image(image)?.glibc);
        Images { id, rows: rows.into(), known, demands: Kept::default(), glibcs }
    }

    /// What they demand of a driver on a machine, and which of them do.
    pub fn demands(&self, catalog: &'c Catalog, on: Bearing) -> Rc<[(DemandKey<'c>, RowSet)]> {
        self.demands.get(on, || rows_by(&self.rows, |image| Some(demand::of_image(catalog, on, image))))
    }

    /// Those whose C library is new enough for something; of a machine that has one of its own, all or none.
    pub fn with_glibc(&self, needs: Version, own: Option<Version>) -> RowSet {
        let mut left = RowSet::first(self.rows.len());
        match own {
            Some(has) if has < needs => left = RowSet::default(),
            Some(_) => {}
            None => self.glibcs.iter().filter(|(has, _)| *has < needs).for_each(|(_, images)| left.subtract(images)),
        }
        left
    }

    /// Those whose system a build was made for, of those whose system takes nothing else: a JetPack. It is asked where
    /// nothing but the image says which system it is.
    pub fn of_systems(&self, catalog: &Catalog, systems: &[Text]) -> RowSet {
        RowSet::filter(self.rows.len(), |row| match catalog.os_of_image(self.rows[row]) {
            Some(os) if os.own_packages => systems.contains(&os.id),
            _ => true,
        })
    }

    /// Those that hold the CUDA libraries and the cuDNN that a build expects of the system. What brings its own minds none:
    /// smaller images are preferred, and what stands beside it may need a larger one.
    pub fn serving(&self, catalog: &Catalog, asked: &Reading<'_>, cudnn: Option<&Constraint>, build: &Build) -> RowSet {
        match build.system_cuda {
            true => RowSet::filter(self.rows.len(), |row| holds_cuda(catalog, asked, cudnn, build, self.rows[row])),
            false => RowSet::first(self.rows.len()),
        }
    }
}

/// What some images have, and which of them have it.
fn rows_by<K: PartialEq>(images: &[&Image], of: impl Fn(&Image) -> Option<K>) -> Vec<(K, RowSet)> {
    let mut by: Vec<(K, RowSet)> = Vec::new();
    for (at, image) in images.iter().enumerate() {
        let Some(has) = of(image) else { continue };
        match by.iter_mut().find(|(known, _)| *known == has) {
            Some((_, rows)) => rows.insert(at),
            None => by.push((has, RowSet::filter(images.len(), |row| row == at))),
        }
    }
    by
}

/// What the choice of images for a machine depends on; none where it has none to choose.
pub(super) fn key<'c>(
    machine: &Described<'c>,
    inside: &Inside<'_>,
    off: &RowSet,
    (boards, oldest_gpu): (Option<Version>, Option<Version>),
) -> Option<ImageKey<'c>> {
    let reading = &machine.reading;
    let place = match &reading.image {
        ImageRequest::Known(image) => Place::This(image),
        ImageRequest::Choose(repository) => Place::In(repository.clone()),
        _ => return None,
    };
    let laws = [
        law::id::IMAGE_TAG,
        law::id::IMAGE_ARCH,
        law::id::IMAGE_GPU,
        law::id::IMAGE_OS,
        law::id::IMAGE_HOLDS,
        law::id::SYSTEM_BOARDS,
    ];
    let (mut laws_off, mut cudnn_rules) = (RowSet::default(), RowSet::default());
    laws.into_iter().filter(|rule| off.has(*rule)).for_each(|rule| laws_off.insert(rule));
    if inside.cudnn.is_some() {
        machine.cudnn_rules(off).for_each(|rule| cudnn_rules.insert(rule.id));
    }
    Some(ImageKey {
        place,
        os: reading.os.filter(|os| !os.is_beneath_images()).map(|os| (&*os.id, &*os.images)),
        image_os: reading.image_os,
        arch: reading.arch,
        needs: inside.needs,
        cudnn_installed: reading.cudnn.is_some(),
        cudnn: inside.cudnn.cloned(),
        cudnn_rules,
        boards,
        oldest_gpu,
        off: laws_off,
    })
}

/// Newest CUDA and release first, without a cuDNN before with one, then by system, the one that is named before others, and the
/// smallest flavour; of those that nothing here tells apart, one: the smallest without a compiler, and the one with it.
fn preferred_first<'c>(mut images: Vec<&'c Image>, named: Option<&str>) -> Vec<&'c Image> {
    let mut systems: Vec<&str> = Vec::new();
    for image in &images {
        if !systems.contains(&&*image.os) {
            systems.push(&image.os);
        }
    }
    systems.sort_by_key(|os| (named != Some(*os), os_rank(os)));
    // Of a line of CUDA the newest release of the image: a tag begins with that.
    let release = |image: &Image| image.tag.split('-').next().and_then(|release| Version::parse(release).ok());
    let newest = |image: &Image| (Reverse(image.cuda.prefix(2)), Reverse(release(image)), Reverse(image.cuda));
    images.sort_by_cached_key(|image| {
        let system = systems.iter().position(|os| *os == image.os);
        (newest(image), image.cudnn.is_some(), system, image.flavour)
    });
    images.dedup_by(|later, kept| {
        let compiles = |image: &Image| image.flavour == Flavour::Devel;
        let inside = |image: &Image| (image.cuda, image.cudnn, image.torch, compiles(image));
        later.require == kept.require && inside(later) == inside(kept)
    });
    images
}

/// What is asked of a machine's image, whatever the driver and the stack.
struct Asked<'a, 'c> {
    catalog: &'a Catalog,
    rules: &'a Rules<'c>,
    key: &'a ImageKey<'c>,
}

impl Asked<'_, '_> {
    /// Whether no law keeps an image from the machine.
    fn admits(&self, image: &Image) -> bool {
        let key = self.key;
        let fine = |rule: RuleId, fine: bool| fine || key.off.has(rule);
        let of_os = || key.os.is_none_or(|(os, images)| *os == *image.os || images.contains(&image.os));
        let for_arch = match image.arches.is_empty() {
            true => key.arch == CpuArch::X86_64,
            false => image.arches.contains(&key.arch),
        };
        fine(law::id::IMAGE_TAG, !image.withdrawn)
            && fine(law::id::IMAGE_ARCH, for_arch)
            && fine(
                law::id::IMAGE_GPU,
                image.least_gpu.is_none_or(|least| key.oldest_gpu.is_none_or(|gpu| least <= gpu)),
            )
            && fine(law::id::IMAGE_HOLDS, self.holds_enough(image))
            && fine(law::id::IMAGE_OS, of_os())
            && fine(law::id::SYSTEM_BOARDS, key.boards.is_none_or(|newest| image.cuda.cmp_prefix(&newest).is_le()))
    }

    fn holds_enough(&self, image: &Image) -> bool {
        let (key, needs) = (self.key, self.key.needs);
        let pinned = matches!(key.place, Place::This(_));
        // Images with a torch of their own come as they are: there is no smaller one to prefer.
        let whole = image.torch.is_some() || SAMPLED.contains(&&*image.repository);
        if needs.compiler && image.flavour != Flavour::Devel {
            return false;
        }
        match &key.cudnn {
            Some(wanted) => image.cudnn.as_ref().is_some_and(|inside| {
                let known = wanted.admits(inside) && self.takes_cudnn(inside);
                known || ((pinned || whole) && may_hold(self.catalog, image, |major| wanted.cut_to(1).admits(major)))
            }),
            None if pinned || whole => true,
            // Which of the two a framework needs depends on its release: see `serves`.
            None if needs.system_cuda && (image.cudnn.is_some() || key.cudnn_installed) => {
                image.flavour == Flavour::Runtime
                    || (needs.compiler || needs.compiler_files) && image.flavour == Flavour::Devel
            }
            None => {
                let is_for_compiling = (needs.compiler || needs.compiles) && image.flavour == Flavour::Devel;
                // Which packages load a cuDNN depends on their releases: see `local_choice`.
                let is_for_cudnn = image.cudnn.is_some() && image.flavour == Flavour::Runtime;
                image.flavour == needs.smallest_flavour() || is_for_compiling || is_for_cudnn
            }
        }
    }

    /// Whether no rule about the machine's GPUs refuses a cuDNN release.
    fn takes_cudnn(&self, cudnn: &Version) -> bool {
        let mut rules = self.key.cudnn_rules.rows().filter_map(|id| self.rules.of_id(id));
        !rules.any(|rule| rule.range.admits(cudnn))
    }
}

/// Whether an image holds the CUDA libraries and the cuDNN that a build expects of the system.
fn holds_cuda(
    catalog: &Catalog,
    asked: &Reading<'_>,
    cudnn: Option<&Constraint>,
    build: &Build,
    image: &Image,
) -> bool {
    // What was installed on top of the image is judged where the release is.
    let installed = asked.cudnn.is_some();
    let same_cudnn = build.cudnn.as_ref().zip(image.cudnn.as_ref());
    let wanted = |inside: &Version| cudnn.is_none_or(|wanted| wanted.admits(inside));
    // An image of a JetPack holds what the JetPack does, for which such builds are made.
    let of_system =
        |needs: &Version, inside: &Version| inside.major() == 0 && !build.systems.is_empty() && wanted(needs);
    let serves =
        |needs: &Version, inside: &Version| inside.major() == needs.major() && inside >= needs && wanted(inside);
    let of_major =
        |needs: &Version| is_given(asked) && may_hold(catalog, image, |major| major.major() == needs.major());
    let same_cudnn =
        same_cudnn.is_some_and(|(needs, inside)| of_system(needs, inside) || serves(needs, inside) || of_major(needs));
    has_libraries(asked, build, image) && (installed || same_cudnn)
}

/// Whether a build that takes the system's CUDA finds its libraries in an image, by their file names. Where there is a choice
/// they are not older than those it was built with, and what it reads of the compiler is there.
fn has_libraries(asked: &Reading<'_>, build: &Build, image: &Image) -> bool {
    let older = build.line().is_some_and(|line| image.cuda.cmp_prefix(&line).is_lt());
    let lacks_files = build.reads_of_compiler().is_some() && image.flavour != Flavour::Devel;
    let suits = is_given(asked) || !(older || lacks_files);
    image.flavour >= Flavour::Runtime && finds_cuda(build, &[image.cuda]) && suits
}

/// Ubuntu first, newest first; then everything else by name.
fn os_rank(os: &str) -> (bool, Reverse<Option<Version>>, &str) {
    let version = os.strip_prefix("ubuntu").and_then(|version| Version::parse(version).ok());
    (version.is_none(), Reverse(version), os)
}

/// On which drivers an image that demands this starts, for every GPU of a machine.
pub fn starts_on<'a, 'c>(
    facts: &'a Facts<'c>,
    machine: &'a Described<'c>,
    key: DemandKey<'c>,
) -> impl Fn(&DriverRow<'_>) -> bool + use<'a, 'c> {
    let demand: Rc<Demand<'a>> = match key {
        DemandKey::Text(text) => facts.demand(text),
        DemandKey::Written => Rc::new(Demand::parse(machine.reading.image_requires.as_deref().unwrap_or_default())),
        DemandKey::Nothing => Rc::new(Demand::parse("")),
        DemandKey::Line(least) => Rc::new(Demand::of_line(least)),
    };
    let mut gpus: Vec<(Option<&[&str]>, Option<&Version>)> = Vec::new();
    for kind in &machine.kinds {
        let market = kind.gpu.row.map(|row| row.class);
        let brands = match facts.catalog.is_vgpu(&kind.gpu.written) {
            // Its licence tells.
            true => Some(VIRTUAL),
            false => may_tell(market).then(|| brands(market)),
        };
        gpus.push((brands, Some(&kind.gpu.cc_version)));
    }
    let unsaid = gpus.is_empty();
    if unsaid {
        gpus.extend(MARKETS.iter().map(|&market| (Some(brands(Some(market))), None)));
    }
    // Nothing is said of the GPU: an image that was chosen must start on every brand, one that was given on any.
    let any = unsaid && (is_given(&machine.reading) || key == DemandKey::Written);
    move |driver: &DriverRow<'_>| {
        let mut starts = gpus.iter().map(|&gpu| demand.admits(driver, gpu));
        if any { starts.any(|starts| starts) } else { starts.all(|starts| starts) }
    }
}

/// The markets whose brands requirements speak of.
const MARKETS: &[Market] = &[Market::Datacenter, Market::Workstation, Market::Geforce, Market::Titan];

/// The brands that vGPUs may have: those of boards, and those that NVML names after their licences, as the requirements of
/// nvidia/cuda spell them.
const VIRTUAL: &[&str] = &["tesla", "quadro", "nvidia", "grid", "vapps", "vpc", "vcs", "vws"];

/// Whether it is known what a board is to conditions on its brand. No requirement speaks of other markets' boards, so of their
/// brand nobody knows anything, and any may be theirs. A Jetson has none, and of a bare capability none is taken.
fn may_tell(market: Option<Market>) -> bool {
    market.is_none_or(|market| market == Market::Jetson || MARKETS.contains(&market))
}

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
