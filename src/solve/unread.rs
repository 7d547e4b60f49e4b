//! What is asked for of packages where nobody has read: releases that stand where a listing was not read, and what may
//! have been made for a single system. Of such a thing anything may be true, so a request has no answer only where it has
//! none without it either.

use crate::catalog::LIBRARIES;
use crate::catalog::absence::Gap;
use crate::catalog::rows::{Build, Companion, Family, Index, OtherBuild, Reading as ListingReading, Subject};
use crate::spec::Share;
use crate::types::constraint::{Comparison, Op};
use crate::types::variant::line_of;
use crate::types::{Constraint, CpuArch, Version};

use super::fits;
use super::older;
use super::own;
use super::platform::{ITS_JETPACK, Platform, Takes};
use super::reading::Reading;
use super::request::{PackageRequest, Request, TargetRequest};
use super::required;
use super::rules::Needs;
use super::unknowns::{self, OVERLAY, Unknown};
use super::unseen;
use crate::types::variant::pytorch_index;

/// What nobody has read of what a request asks for.
#[derive(Debug, Default)]
pub struct Unread<'c> {
    /// What would have to be read.
    pub unknowns: Vec<Unknown>,
    /// Packages asked for by a release that may exist.
    releases: Vec<&'c str>,
    /// Packages that may have been made for the system of some targets, and these targets' machines.
    for_systems: Vec<(&'c str, Platform<'c>)>,
    /// CUDA, cuDNN and NCCL where what is asked for is older than the catalog.
    parts: Vec<&'static str>,
    /// Targets with no toolkit but such that are older than the catalog, by position.
    old_toolkits: Vec<usize>,
}

impl<'c> Unread<'c> {
    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.unknowns.is_empty()
    }

    /// What a request asks for where nobody has read.
    pub fn of(request: &Request<'c>) -> Unread<'c> {
        let mut unread = Unread::default();
        for ask in request.frameworks.iter().chain(&request.companions).filter(|ask| !ask.own) {
            let of_build = of_contents(request, ask).or_else(|| of_variant(request, ask));
            let of_build = of_build.or_else(|| of_label_elsewhere(request, ask));
            let of_release = of_build.or_else(|| of_release(request, ask));
            let of_release = of_release.or_else(|| older::of(request, ask));
            if let Some(unknown) = of_release.or_else(|| required::of(request, ask)) {
                unread.unknowns.push(unknown);
                unread.releases.push(ask.package);
                continue;
            }
            for (platform, unknown) in of_systems(request, ask) {
                if !unread.unknowns.contains(&unknown) {
                    unread.unknowns.push(unknown);
                }
                unread.for_systems.push((ask.package, platform));
            }
        }
        // A framework brings its own CUDA, which is known.
        match request.frameworks.is_empty() {
            true => unread.of_parts(request),
            false => unread.of_bundled(request),
        }
        unread.of_installed(request);
        unread
    }

    /// A cuDNN or an NCCL that no row names where it is one that somebody installs himself: NVIDIA publishes those outside of the
    /// package index too, and nobody has read the list of them.
    fn of_installed(&mut self, request: &Request<'c>) {
        let catalog = request.catalog;
        let is_here = |build: &Build| request.targets.iter().any(|target| target.platform.takes(build));
        let takes_systems = |ask: &PackageRequest| {
            let mut builds = catalog.builds.of(ask.package).iter();
            builds.any(|build| build.system_cuda && ask.takes_build(build) && is_here(build))
        };
        let loads_systems = request.frameworks.is_empty() || request.frameworks.iter().any(takes_systems);
        for (part, is_installed) in [("cudnn", loads_systems), ("nccl", request.frameworks.is_empty())] {
            let Some(wanted) = request.part(part).filter(|_| is_installed && !self.parts.contains(&part)) else {
                continue;
            };
            let known = catalog.versions_of(part);
            let Some((oldest, newest)) = known.iter().min().zip(known.iter().max()) else { continue };
            if is_older(wanted, oldest) || is_above(wanted, newest) || known.iter().any(|one| wanted.admits(one)) {
                continue;
            }
            let fact =
                format!("whether {part} {wanted} was published: the list of what NVIDIA publishes was not read whole");
            let how = format!(
                "see whether NVIDIA has it; then {OVERLAY}, or take one that is known (`gpuenv catalog show {part}`)"
            );
            self.unknowns.push(Unknown::of(format!("stack.{part}"), fact, how));
            self.parts.push(part);
        }
    }

    /// A cuDNN or an NCCL from before the catalog begins, where a framework may hold it: nobody has read which it holds.
    fn of_bundled(&mut self, request: &Request<'c>) {
        let catalog = request.catalog;
        let holds_unread = |part: &str| {
            let is_read = |build: &Build| build.part(part).is_some();
            let is_here = |build: &Build| request.targets.iter().any(|target| target.platform.takes(build));
            let is_asked =
                |ask: &PackageRequest, build: &Build| !build.is_cpu() && ask.takes_build(build) && is_here(build);
            request.frameworks.iter().any(|ask| {
                let mut builds = catalog.builds.of(ask.package).iter().filter(|build| is_asked(ask, build));
                let first_read = catalog
                    .builds
                    .of(ask.package)
                    .iter()
                    .filter(|build| is_read(build))
                    .map(|build| build.version)
                    .min();
                // What an older release holds is not older than that in a later one.
                let may_be_older = |other: &OtherBuild| first_read.is_none_or(|first| other.version < first);
                builds.any(|build| !is_read(build))
                    || published(request, ask).any(|other| line_of(&other.variant).is_some() && may_be_older(other))
            })
        };
        for (part, _) in LIBRARIES {
            if request.part(part).is_some() && holds_unread(part) {
                self.of_old_part(request, part);
            }
        }
    }

    /// Releases of CUDA and of its libraries from before the catalog begins.
    fn of_parts(&mut self, request: &Request<'c>) {
        let catalog = request.catalog;
        let oldest_toolkit = catalog.toolkits.iter().map(|row| row.version).min();
        ["cuda", "cudnn", "nccl"].into_iter().for_each(|part| self.of_old_part(request, part));
        let Some(oldest) = oldest_toolkit else { return };
        for (at, target) in request.targets.iter().enumerate() {
            let Some(newest) =
                target.toolkits.iter().flatten().max().filter(|newest| oldest.cmp_prefix(newest).is_gt())
            else {
                continue;
            };
            let unknown = older_than_all("the toolkit", newest.as_str(), &oldest, target.key("toolkit"));
            self.unknowns.push(unknown);
            self.old_toolkits.push(at);
        }
    }

    /// One of them, if it is asked for.
    fn of_old_part(&mut self, request: &Request<'c>, part: &'static str) {
        let oldest = request.catalog.versions_of(part).into_iter().min();
        let Some((wanted, oldest)) = request.part(part).zip(oldest) else { return };
        if is_older(wanted, &oldest) {
            self.unknowns.push(older_than_all(part, wanted.as_str(), &oldest, format!("stack.{part}")));
            self.parts.push(part);
        }
    }

    /// The requests that all have an answer if this one may have one: what is read of it on all targets, and what was made
    /// for some targets' systems on the others.
    pub fn rest(&self, request: &Request<'c>) -> Vec<Request<'c>> {
        let mut base = request.without(&self.releases);
        // What leaves the GPU to a framework that nobody has read depends on that one.
        let is_cpu = |ask: &PackageRequest<'_>| ask.constraint.names_variant("cpu");
        if request.frameworks.iter().any(|ask| !is_cpu(ask)) && base.frameworks.iter().all(is_cpu) {
            base.frameworks.clear();
        }
        base.forget(&self.parts);
        for &at in &self.old_toolkits {
            let target = &base.targets[at];
            let reading = Reading { toolkits: None, ..(*target.reading).clone() };
            base.targets[at] = TargetRequest::new(request.problem, &target.name, reading);
        }
        if self.for_systems.is_empty() {
            return vec![base];
        }
        let packages: Vec<&str> = self.for_systems.iter().map(|(package, _)| *package).collect();
        let is_other = |platform: Platform<'_>| self.for_systems.iter().all(|(_, of)| *of != platform);
        let others: Vec<_> = base.targets.iter().filter(|target| is_other(target.platform)).cloned().collect();
        let mut rest = vec![base.without(&packages)];
        if !others.is_empty() {
            rest.push(base.of(others));
        }
        rest
    }
}

/// A build beside the usual ones that is asked for by its label: it was published, and nobody has read what it holds. Of one
/// that is told by its CUDA more is known (`unseen`).
fn of_contents<'c>(request: &Request<'c>, ask: &PackageRequest<'c>) -> Option<Unknown> {
    if !ask.constraint.pins_variant() {
        return None;
    }
    let found = published(request, ask).filter(|row| line_of(&row.variant).is_none()).last()?;
    Some(unknowns::of_contents(ask.package, &found.version, &found.variant))
}

/// The builds that were published for a target, and of which nobody has read what they hold, that a request admits.
fn published<'c>(request: &Request<'c>, ask: &PackageRequest<'c>) -> impl Iterator<Item = &'c OtherBuild> {
    let is_it = |row: &&OtherBuild| {
        let here = row.os == Family::Linux && request.targets.iter().any(|target| target.arch == row.arch);
        here && row.package == ask.package && ask.constraint.admits_build(&row.version, &row.variant)
    };
    request.catalog.other_builds.iter().filter(is_it)
}

/// A build of a known release for a CUDA that no release of the package was seen for, where the index was not read whole.
fn of_variant(request: &Request<'_>, ask: &PackageRequest<'_>) -> Option<Unknown> {
    let (catalog, package, wanted) = (request.catalog, ask.package, &ask.constraint);
    let builds = || catalog.builds.of(package).iter().filter(|build| !build.is_laid() && build.systems.is_empty());
    let named = wanted.comparisons().find_map(|one| one.variant.as_deref()).filter(|_| wanted.pins_variant());
    // A CUDA is asked for by one that exists; a label names its own.
    let by_cuda =
        |line: &Version| request.cuda_line.as_ref().is_some_and(|cuda| cuda.single().is_some() && cuda.admits(line));
    let known = || catalog.toolkits.iter().map(|row| row.version.prefix(2));
    let line = named.map_or_else(|| known().rfind(by_cuda), line_of);
    let variant = match (&line, named) {
        (Some(line), _) if line.len() == 2 => format!("cu{}{}", line.major(), line.minor()),
        // A label that tells no CUDA is as little known.
        (None, Some(label)) => label.to_string(),
        _ => return None,
    };
    if builds().any(|build| *build.variant == *variant) {
        return None;
    }
    let of_version = |build: &&Build| wanted.admits_build(&build.version, named.unwrap_or(&build.variant));
    let version = builds().filter(of_version).map(|build| build.version).max()?;
    let is_given_up = line.is_some_and(|line| unseen::is_given_up_for(catalog, package, &version, &line));
    let elsewhere = "where its project keeps wheels";
    let (is_possible, place) = match catalog.listing(package, Index::Pytorch, &version) {
        Some(listing) => {
            let is_read = listing.reading == ListingReading::Whole;
            let of_cuda = line.map(|_| format!("at {}/{package}/", pytorch_index(&variant)));
            (!is_read && !is_given_up, of_cuda.unwrap_or_else(|| elsewhere.to_string()))
        }
        // No version on the package index has a label: `0.4.25+cuda11.cudnn86` of jaxlib lies elsewhere.
        None => (line.is_none(), elsewhere.to_string()),
    };
    // No row has a label that tells no CUDA, and none a CUDA of which there is no toolkit.
    let then = match &line {
        None => "write it as a build of your own".to_string(),
        Some(line) if known().any(|of| of == line.prefix(2)) => {
            format!("{OVERLAY}, or write it as a build of your own")
        }
        Some(line) => format!("{OVERLAY}, with one for a toolkit of CUDA {line}"),
    };
    let fact = format!("whether {package} {version}+{variant} was published");
    is_possible
        .then(|| Unknown::of(format!("stack.{package}"), fact, format!("look for it {place}; if it is there, {then}")))
}

/// A labelled wheel that was seen for another processor only, where its project keeps it beside the index: no list of those files
/// was read, and that of the index tells of wheels without a label.
fn of_label_elsewhere(request: &Request<'_>, ask: &PackageRequest<'_>) -> Option<Unknown> {
    let named = |row: &&Companion| {
        let is_labelled = row.variant.as_deref().is_some_and(|variant| ask.constraint.names_variant(variant));
        is_labelled && ask.constraint.admits(&row.version)
    };
    let rows: Vec<&Companion> = request.catalog.companions.of(ask.package).iter().filter(named).collect();
    let is_elsewhere = |row: &&Companion| row.url.is_some() && row.systems.is_empty();
    let lacks = |arch: CpuArch| rows.iter().all(|row| fits::lacks_wheels(row, arch));
    let arch = request.targets.iter().map(|target| target.arch).find(|arch| lacks(*arch))?;
    let first = rows.first().filter(|_| ask.constraint.pins_variant() && rows.iter().all(is_elsewhere))?;
    let (seen, url) = (first.arches.first()?, first.url.as_deref()?);
    let fact = format!("whether {} {} was published for {arch}", ask.package, ask.constraint);
    let how =
        format!("look for it where that for {seen} lies ({url}); if it is there, {OVERLAY}; or leave the label out");
    Some(Unknown::of(format!("stack.{}", ask.package), fact, how))
}

/// A release that is not known, and that may have been published for all that anybody has read.
fn of_release(request: &Request<'_>, ask: &PackageRequest<'_>) -> Option<Unknown> {
    let (catalog, package, wanted) = (request.catalog, ask.package, &ask.constraint);
    if is_on_all(request, ask) {
        return None;
    }
    let builds = catalog.builds.of(package).iter().map(|row| row.version);
    let companions = catalog.companions.of(package).iter().map(|row| row.version);
    let known: Vec<Version> = builds.chain(companions).collect();
    let (oldest, newest) = (known.iter().min()?, known.iter().max()?);
    let unknown = |fact: String, what: &str, or: &str| {
        let how = format!("see whether {what} was published, for which Pythons and for which CUDA; then {OVERLAY}{or}");
        Some(Unknown::of(format!("stack.{package}"), fact, how))
    };
    let whether = |why: String| format!("whether {package} {wanted} was published: {why}");
    let unread_index = |index| format!("its project keeps releases at {index}, which nobody has read");
    let is_here = |arch| request.targets.iter().any(|target| target.arch == arch);
    let mut unread = unseen::published(catalog, package, &[]).filter(|one| is_here(one.arch));
    if known.iter().any(|version| wanted.admits(version))
        || unread.any(|one| wanted.admits_build(one.version, one.variant))
    {
        let index = catalog.elsewhere(package, newest).filter(|_| has_no_end(wanted))?;
        return unknown(format!("whether a {package} newer than {newest} fits: {}", unread_index(index)), "one", "");
    }
    if is_older(wanted, oldest) {
        let fact = format!("{package} {wanted}, which is older than the catalog, whose oldest is {oldest}");
        return unknown(fact, "it", &format!(", or take {oldest} or newer"));
    }
    let gap = catalog.absent(package, wanted).err();
    if let Some(Gap::Elsewhere(index)) = gap {
        return unknown(whether(unread_index(index)), "it", "");
    }
    if names_prerelease(request, ask, newest) && !catalog.is_unreleased(package) {
        let why = "the catalog has releases, not what precedes them".to_string();
        let nightly = wanted.single().is_some_and(|version| own::is_told_by_its_release(package, version));
        let or = if nightly { format!(", or {}", own::AS_TABLE) } else { String::new() };
        return unknown(whether(why), "it", &format!("{or}, or take a release"));
    }
    if is_above(wanted, newest) {
        return None;
    }
    let why = match gap? {
        Gap::Elsewhere(index) => unread_index(index),
        Gap::Seen(Index::Pypi) => "of the package index only a part was seen".to_string(),
        Gap::Seen(_) => "of the PyTorch index only a part was seen".to_string(),
        Gap::Before(from) => format!("the list of its releases was read from {from} on"),
        Gap::Unlisted => "nobody has read the list of its releases".to_string(),
    };
    let or = format!(", or take a release that is known (`gpuenv catalog show {package}`)");
    unknown(whether(why), "it", &or)
}

/// Whether a constraint admits releases newer than every one.
fn has_no_end(wanted: &Constraint) -> bool {
    let is_open = |one: &Comparison| one.version.is_none() || matches!(one.op, Op::Not | Op::AtLeast | Op::Above);
    wanted.alternatives().iter().any(|all| all.iter().all(is_open))
}

/// Whether all that a constraint names is older than the oldest that is known.
pub fn is_older(wanted: &Constraint, oldest: &Version) -> bool {
    wanted.comparisons().filter_map(|one| one.version).max().is_some_and(|newest| newest < *oldest)
        && !wanted.admits(oldest)
}

fn older_than_all(what: &str, wanted: &str, oldest: &Version, key: String) -> Unknown {
    let fact = format!("{what} {wanted}, which is older than the catalog, whose oldest is {oldest}");
    let how = format!("see what NVIDIA's notes on that release say; then {OVERLAY}, or take {oldest} or newer");
    Unknown::of(key, fact, how)
}

/// Whether what is asked for is known for every target: a snapshot that lies in its image is no release.
fn is_on_all(request: &Request<'_>, ask: &PackageRequest<'_>) -> bool {
    let known = |on: Platform<'_>| {
        let mut builds = request.catalog.builds.of(ask.package).iter().filter(|build| on.takes(build));
        builds.any(|build| ask.takes_build(build))
    };
    ask.names_prerelease() && request.targets.iter().all(|target| known(target.platform))
}

/// Whether some pre-release is asked for by its name, of which listings say nothing. Nightlies of torch are told by the
/// release that they precede, where one followed that is known, or may yet.
fn names_prerelease(request: &Request<'_>, ask: &PackageRequest<'_>, newest: &Version) -> bool {
    let (catalog, package) = (request.catalog, ask.package);
    let mut named = ask.constraint.comparisons().filter_map(|one| one.version.filter(Version::is_prerelease));
    let is_followed = |version: &Version| {
        own::precedes(version) > *newest || own::builds_after(catalog, package, version).next().is_some()
    };
    named.any(|version| !own::is_told_by_its_release(package, &version) || !is_followed(&version))
}

/// Whether everything that a constraint could admit lies above the newest known.
pub fn is_above(wanted: &Constraint, newest: &Version) -> bool {
    wanted.alternatives().iter().all(|all| {
        let reaches = |one: &Comparison| match (one.op, &one.version) {
            (op, Some(bound)) if op.is_lower() => newest.cmp_prefix(bound).is_lt(),
            (Op::Above, Some(bound)) => newest.cmp_prefix(bound).is_le(),
            _ => false,
        };
        all.iter().any(reaches)
    })
}

/// The machines that take only what was made for their system, of which nobody lists all, where nothing that is known to
/// be made for them is what is asked for.
fn of_systems<'c>(request: &Request<'c>, ask: &PackageRequest<'c>) -> Vec<(Platform<'c>, Unknown)> {
    let catalog = request.catalog;
    let targets = &request.targets;
    // Machines of other systems never share what is made for one.
    let share = |platform: Platform<'_>| {
        request.share != Share::Stack || targets.iter().all(|target| target.platform == platform)
    };
    let mut found: Vec<(Platform<'c>, Unknown)> = Vec::new();
    for target in targets.iter().filter(|target| !target.is_cpu()) {
        let on = target.platform;
        let system = match on.takes {
            Takes::ForSystem(system) if on.is_one_system() => system,
            Takes::Either => ITS_JETPACK,
            _ => continue,
        };
        let is_asked = |row: &Companion| {
            let is_variant = || fits::may_be_variant(catalog, row, &ask.constraint);
            ask.constraint.admits(&row.version) && (!ask.constraint.pins_variant() || is_variant())
        };
        // What a package's own build does not compile for a board somebody else may have compiled for its system.
        let rules = request.rules.of_package(ask.package, Subject::Gpu);
        let misses = |row: &Companion| {
            let gpus = || target.named_gpus().iter().map(|gpu| &gpu.cc_version);
            let is_broken = |rule: &&Needs<'c>| gpus().any(|gpu| !rule.needs.admits(gpu));
            rules.iter().filter(|rule| rule.row.source_only && rule.binds(row)).find(is_broken)
        };
        let rows = catalog.companions.of(ask.package).iter().filter(|row| on.takes_companion(row) && is_asked(row));
        let missing: Vec<Option<&Needs<'c>>> = rows.map(misses).collect();
        let is_made =
            missing.iter().any(Option::is_none) || catalog.builds.of(ask.package).iter().any(|row| on.takes(row));
        if !is_made && share(on) && found.iter().all(|(known, _)| *known != on) {
            let asked = if ask.constraint.is_any() { "" } else { ask.constraint.as_str() };
            let mut unknown = unknowns::of_system(ask.package, asked, system);
            if let Some(rule) = missing.last().copied().flatten() {
                unknown.fact +=
                    &format!(" by somebody else: what its own build compiles does not run there. {}", rule.row.says);
            }
            found.push((on, unknown));
        }
    }
    found
}
