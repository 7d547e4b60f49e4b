//! What nobody knows yet of a machine: a driver or a toolkit newer than the catalog, and what comes with a system that it
//! does not list. Each is judged as the nearest that is known; what has no answer so is no conflict, for it may have one.

use std::borrow::Cow;

use crate::catalog::rows::{Branch, Os, TORCH, repeated};
use crate::spec::{ImageRef, Share};
use crate::types::require::{Requirement, Subject};
use crate::types::{Constraint, Version, distinct};

use super::demand::DemandKey;
use super::driver_row::{DriverRow, branch_of};
use super::fits;
use super::image;
use super::platform::{Platform, Takes};
use super::reading::{Judged, Reading};
use super::request::{DriverRequest, ImageRequest, Request, TargetRequest, Told};
use super::unknowns::{NEWER, OVERLAY, Unknown, of_images};
use super::unread::{is_above, is_older};

/// What a request asks of machines where nobody knows, and the same request without that; none where all is known.
pub fn of<'c>(request: &Request<'c>) -> Option<(Vec<Unknown>, Request<'c>)> {
    let mut targets = request.targets.clone();
    // What an image holds that nobody has seen is not bounded by what its framework has published.
    targets.retain(|target| !may_hold_torch(request, target));
    let mut unknowns = if targets.len() < request.targets.len() { of_images(request) } else { Vec::new() };
    let mut unread = Vec::new();
    for target in &mut targets {
        let mut reading = Cow::Borrowed(&*target.reading);
        unknowns.extend(later_toolkits(request, target, &mut reading));
        unknowns.extend(unlisted_system(target, &mut reading));
        unknowns.extend(later_driver(request, target, &mut reading));
        let releases = unread_of(request, target);
        unknowns.extend(unread_tags(request, target, releases.first(), &mut reading));
        unread.extend(releases);
        // Of most machines all is known.
        if let Cow::Owned(reading) = reading {
            *target = TargetRequest {
                driver_policy: target.driver_policy,
                ..TargetRequest::new(request.problem, &target.name, reading)
            };
        }
    }
    let mut asked = request.of(targets);
    // What nobody has read is of these releases: whether others have an answer is known.
    if !unread.is_empty() && (request.share == Share::Stack || request.targets.len() == 1) {
        let any: Vec<String> = distinct(unread).iter().map(ToString::to_string).collect();
        asked.cuda = Constraint::parse(&any.join(" || ")).ok().or(asked.cuda);
    }
    (!unknowns.is_empty()).then_some((unknowns, asked))
}

/// The same request with each system that its Jetsons may have where they name none: a key that is left open makes no answer
/// stronger than any of its values does.
pub fn each_system<'c>(request: &Request<'c>) -> Vec<(&'c Os, Request<'c>)> {
    let is_open = |target: &&TargetRequest<'c>| target.platform.takes == Takes::Either;
    let boards: Vec<_> = request.targets.iter().filter(is_open).flat_map(|target| target.named_gpus()).collect();
    let with = |os: &'c Os| {
        let targets = request.targets.iter().map(|target| match is_open(&target) {
            true => on_system(request, target, os),
            false => target.clone(),
        });
        (os, request.of(targets.collect()))
    };
    let is_for = |os: &&Os| os.own_packages && boards.iter().all(|gpu| os.boards.contains(&gpu.cc_version));
    request.catalog.oses.iter().filter(|_| !boards.is_empty()).filter(is_for).map(with).collect()
}

fn on_system<'c>(request: &Request<'c>, target: &TargetRequest<'c>, os: &'c Os) -> TargetRequest<'c> {
    let mut reading = (*target.reading).clone();
    reading.platform.takes = Takes::ForSystem(&os.id);
    (reading.os, reading.judged) = (Some(os), Judged::default());
    reading.glibc = reading.glibc.or(os.glibc);
    if let (DriverRequest::Free(None), Some(cuda)) = (&reading.driver, os.cuda) {
        reading.driver = DriverRequest::Cuda(cuda, Told::System);
    }
    TargetRequest { driver_policy: target.driver_policy, ..TargetRequest::new(request.problem, &target.name, reading) }
}

/// Whether a target runs in an image that nobody has seen, of a repository whose images hold torch.
fn may_hold_torch(request: &Request<'_>, target: &TargetRequest<'_>) -> bool {
    let ImageRequest::UnseenTag(image) = &target.image else { return false };
    request.frameworks.iter().any(|ask| ask.package == TORCH)
        && image::holds_torch(request.catalog, repeated(&image.repository))
}

/// The releases of CUDA that are asked for and of whose tags a target's repository may have some that nobody has read.
fn unread_of(request: &Request<'_>, target: &TargetRequest<'_>) -> Vec<Version> {
    let (ImageRequest::Choose(repository), Some(cuda)) = (&target.image, &request.cuda) else { return Vec::new() };
    image::unread_releases(request.catalog, repository, cuda, target.os)
}

/// Whether something is asked for that goes with no torch that an image of a repository comes with, whatever its tag.
fn is_out_of_images(request: &Request<'_>, target: &TargetRequest<'_>) -> bool {
    let mut companions = request.companions.iter();
    let is_tied = |package: &str| fits::is_tied_to_releases(request.catalog, package);
    request.frameworks.iter().any(|ask| ask.own)
        || target.platform.image().is_some()
            && (companions.any(|ask| is_tied(ask.package)) || is_between_read_ones(request, target))
}

/// Whether a torch is asked for from between those of an image's read releases, of which there is one a month: none has it.
fn is_between_read_ones(request: &Request<'_>, target: &TargetRequest<'_>) -> bool {
    let ImageRequest::Choose(repository) = &target.image else { return false };
    let of_images = request.catalog.images.of(repeated(repository)).iter();
    let read: Vec<Version> =
        of_images.filter_map(|row| Some(Version::parse(row.torch.as_deref()?).ok()?.release())).collect();
    let Some((oldest, newest)) = read.iter().min().zip(read.iter().max()) else { return false };
    let mut asked = request.frameworks.iter().filter(|ask| ask.package == TORCH).map(|ask| &ask.constraint);
    asked.any(|asked| {
        !is_older(asked, oldest) && !is_above(asked, newest) && !read.iter().any(|version| asked.admits(version))
    })
}

/// Tags that nobody has read, of a release of CUDA that is asked for, or any where no list of them was read: one of them may
/// do where none that is known does.
fn unread_tags(
    request: &Request<'_>,
    target: &TargetRequest<'_>,
    cuda: Option<&Version>,
    reading: &mut Cow<'_, Reading<'_>>,
) -> Option<Unknown> {
    let ImageRequest::Choose(repository) = &target.image else { return None };
    let of_os = target.os.map_or_else(String::new, |os| format!(" for {}", os.name));
    let torch = request.frameworks.iter().any(|ask| ask.package == TORCH).then(|| "stack.torch".to_string());
    let (fact, with) = match cuda {
        Some(cuda) => {
            let fact = format!(
                "whether {repository} has tags of CUDA {cuda}{of_os}: the list that was read is older than that release"
            );
            (fact, Some("stack.cuda".to_string()))
        }
        None if image::is_sampled(repository) && !is_out_of_images(request, target) => {
            let fact = format!(
                "whether {repository} has a tag that fits{of_os}: the list of its tags could not be read, and none of those \
                 that are known does"
            );
            (fact, torch.filter(|_| image::holds_torch(request.catalog, repository)))
        }
        None => return None,
    };
    let image = ImageRef { hub: String::new(), repository: repository.clone(), tag: None, digest: None };
    let reading = reading.to_mut();
    reading.image = ImageRequest::Unchecked(image);
    // Its own torch is told by what was published elsewhere.
    reading.platform = Platform::new(reading.arch, reading.os, &reading.gpus);
    let keys = with.into_iter().chain([target.key("image")]);
    Some(Unknown {
        code: None,
        fact,
        keys: keys.chain(target.os.map(|_| target.key("os"))).collect(),
        how: format!(
            "look for one in the registry; if it is there, name it as `image` with `image-requires`, or {OVERLAY}"
        ),
    })
}

/// Toolkits newer than every known one. They go with what was built for their major; which compilers and C libraries they take,
/// and all of a major that nobody knows, is open.
fn later_toolkits<'c>(
    request: &Request<'c>,
    target: &TargetRequest<'c>,
    reading: &mut Cow<'_, Reading<'c>>,
) -> Option<Unknown> {
    let catalog = request.catalog;
    let newest = catalog.toolkits.last()?.version;
    let (later, mut kept): (Vec<Version>, Vec<Version>) =
        target.toolkits.iter().flatten().copied().partition(|written| newest.cmp_prefix(written).is_lt());
    let first = later.first()?;
    let of_major = |row: &Version| later.iter().any(|later| later.major() == row.major());
    kept.extend(catalog.toolkits.iter().map(|row| row.version).filter(of_major));
    let is_unknown = later.iter().any(|later| later.major() > newest.major());
    let reading = reading.to_mut();
    reading.toolkits = (!is_unknown).then_some(kept);
    (reading.glibc, reading.gcc, reading.clang) = (None, None, None);
    Some(Unknown {
        code: Some(NEWER),
        fact: format!(
            "what CUDA toolkit {first} takes: the newest known is {newest}; the catalog is of {}",
            catalog.version
        ),
        keys: vec![target.key("toolkit")],
        how: format!("see what NVIDIA's notes on that release say; then {OVERLAY}, or install {newest} or older"),
    })
}

/// What comes with a system that is judged as its nearest relative, where nobody wrote it.
fn unlisted_system<'c>(target: &TargetRequest<'c>, reading: &mut Cow<'_, Reading<'c>>) -> Option<Unknown> {
    let os = target.os?;
    if target.judged.jetpack {
        return Some(unlisted_jetpack(target, os, reading.to_mut()));
    }
    let has = |version: Option<Version>| version.map_or(String::new(), |version| version.to_string());
    let mut parts = Vec::new();
    if target.judged.glibc && reading.glibc.is_some() {
        reading.to_mut().glibc = None;
        parts.push(("glibc", "ldd", has(target.glibc)));
    }
    if target.judged.gcc && reading.gcc.is_some() {
        reading.to_mut().gcc = None;
        parts.push(("gcc", "gcc", has(target.gcc)));
    }
    if parts.is_empty() {
        return None;
    }
    reading.to_mut().judged = Judged::default();
    let list = |of: &dyn Fn(&(&str, &str, String)) -> String| parts.iter().map(of).collect::<Vec<_>>().join(" and ");
    let target = &target.name;
    Some(Unknown {
        code: None,
        fact: format!(
            "which {} the system of target `{target}` has: the catalog does not list it; its nearest relative, {}, has {}",
            list(&|(part, ..)| part.to_string()),
            os.name,
            list(&|(part, _, has)| format!("{part} {has}")),
        ),
        keys: vec![format!("target.{target}.os")],
        how: format!(
            "ask such a machine ({}), and write {} under [target.{target}]",
            list(&|(_, program, _)| format!("`{program} --version`")),
            list(&|(part, ..)| format!("`{part}`")),
        ),
    })
}

/// A JetPack that the catalog does not list: its boards, its driver and all that comes with it are open, and so is what was
/// made for it.
fn unlisted_jetpack(target: &TargetRequest<'_>, os: &Os, reading: &mut Reading<'_>) -> Unknown {
    (reading.os, reading.platform) = (None, Platform { takes: Takes::Either, ..reading.platform });
    if target.judged.glibc {
        reading.glibc = None;
    }
    if target.judged.gcc {
        (reading.gcc, reading.own_gcc) = (None, None);
    }
    if target.has_system_driver() {
        reading.driver = DriverRequest::Free(None);
    }
    Unknown {
        code: None,
        fact: format!(
            "for which boards the JetPack of target `{}` is made, and what comes with it: the catalog does not list it; its \
             nearest relative is {}",
            target.name, os.name
        ),
        keys: vec![target.key("os")],
        how: format!("see NVIDIA's notes on that JetPack; then {OVERLAY}, or write one that the catalog lists"),
    }
}

/// A written requirement of an image that a driver which nobody knows may meet.
fn later_driver<'c>(
    request: &Request<'c>,
    target: &TargetRequest<'c>,
    reading: &mut Cow<'_, Reading<'c>>,
) -> Option<Unknown> {
    let catalog = request.catalog;
    let text = target.image_requires.as_deref()?;
    let newest = catalog.branches.last()?;
    let bounds = Bounds::of(text);
    let open = Open::of(request, target, newest)?;
    let starts = image::starts_on(request.problem, &target.machine, DemandKey::Written);
    let mut later = open.numbers(&bounds).into_iter().flat_map(|number| {
        let shown = bounds.between(Subject::Cuda, &open.low, open.high.as_ref());
        shown.into_iter().map(move |cuda| (number, cuda))
    });
    let windows = target.windows_driver;
    let may_start = later.any(|(version, cuda)| {
        let branch = Branch { cuda: Some(cuda), ..newest.clone() };
        starts(&DriverRow { version, branch: &branch, compat: None, installed: false, windows })
    });
    if !may_start {
        return None;
    }
    reading.to_mut().image_requires = None;
    let shows = newest.cuda.map_or(String::new(), |cuda| format!(", which shows CUDA {cuda}"));
    let known = format!("the newest branch known is R{}{shows}; the catalog is of {}", newest.branch, catalog.version);
    let mut keys = vec![target.key("image-requires")];
    let (fact, how) = match open.number {
        Some(number) => {
            keys.push(target.key("driver"));
            let how = "see what `nvidia-smi` on such a host shows as CUDA Version, and write it as `driver-cuda` \
                       instead of `driver`";
            (format!("which CUDA version driver {number} shows: {known}"), how.to_string())
        }
        None => {
            let how =
                format!("see whether NVIDIA has released such a driver; if so, {OVERLAY}, or install a newer gpuenv");
            (format!("which driver meets `{text}`: {known}"), how)
        }
    };
    Some(Unknown { code: Some(NEWER), fact, keys, how })
}

/// What is open of a driver: its number, or the CUDA version that it shows.
struct Open<'t> {
    /// Its number, where that is written.
    number: Option<Version>,
    /// The oldest that it may be, and what it has to be within.
    least: Version,
    within: Option<&'t Constraint>,
    /// The CUDA version that it shows at least, and at most.
    low: Version,
    high: Option<Version>,
}

impl<'t> Open<'t> {
    /// None for a driver of which all is known.
    fn of<'c>(request: &Request<'c>, target: &'t TargetRequest<'c>, newest: &Branch) -> Option<Self> {
        let catalog = request.catalog;
        let after = Version::parse(&(newest.branch.major() + 1).to_string()).ok()?;
        let free = |within: Option<&'t Constraint>, low| Open { number: None, least: after, within, low, high: None };
        match &target.driver {
            DriverRequest::Free(within) => Some(free(within.as_ref(), newest.cuda?)),
            DriverRequest::Cuda(_, Told::Key(written)) if newest.cuda? < *written => {
                Some(Open { high: Some(*written), ..free(None, *written) })
            }
            DriverRequest::Cuda(..) => None,
            DriverRequest::Exact(_) | DriverRequest::AtWorst(_) => {
                let drivers = target.machine.drivers(request.problem);
                let number = drivers.rows.iter().map(|row| row.version).max()?;
                let of_branch = branch_of(catalog, &number)?;
                if of_branch.branch.major() == number.major() && of_branch.cuda.is_some() {
                    return None;
                }
                let shown = || catalog.branches.iter().filter_map(|row| Some((row.branch.major(), row.cuda?)));
                let low = shown().take_while(|(major, _)| *major <= number.major()).last();
                let high = shown().find(|(major, _)| *major > number.major());
                // Windows numbers the releases of a branch beyond it.
                if target.windows_driver && high.is_some() {
                    return None;
                }
                let (low, high) = (low.map_or(after, |(_, cuda)| cuda), high.map(|(_, cuda)| cuda));
                Some(Open { number: Some(number), least: number, within: None, low, high })
            }
        }
    }

    /// The numbers at which an answer can change.
    fn numbers(&self, bounds: &Bounds) -> Vec<Version> {
        match self.number {
            Some(number) => vec![number],
            None => {
                let mut numbers = bounds.between(Subject::Driver, &self.least, None);
                numbers.retain(|number| self.within.is_none_or(|within| within.admits(number)));
                numbers
            }
        }
    }
}

/// The versions that a requirement names: at each, and just above it, its answer can change.
struct Bounds(Vec<(Subject, Version)>);

impl Bounds {
    fn of(text: &str) -> Self {
        Bounds(Requirement::parse(text).bounds().collect())
    }

    /// Those of a subject from one version to another, and the first.
    fn between(&self, subject: Subject, low: &Version, high: Option<&Version>) -> Vec<Version> {
        let named = self.0.iter().filter(|(of, _)| *of == subject).map(|(_, version)| *version);
        let above = |version: Version| Version::parse(&format!("{version}.1")).ok();
        let all = named.flat_map(|version| [Some(version), above(version)]).flatten();
        let is_within = |version: &Version| version >= low && high.is_none_or(|high| version <= high);
        [*low].into_iter().chain(all.filter(is_within)).collect()
    }
}
