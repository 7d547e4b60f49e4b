//! What would have to be read to tell whether a request has an answer.

mod cudnn;

use serde::Serialize;

use crate::catalog::rows::{Build, Companion, Image, Index, TORCH};
use crate::catalog::{Catalog, LIBRARIES};
use crate::types::{CpuArch, Specifier, Version};

use super::bundled_torch;
use super::compile::{Group, Plan, ReleaseChoice};
use super::engine::Selection;
use super::fits;
use super::image;
use super::libraries;
use super::own;
use super::platform::{Platform, Takes};
use super::release::Release;
use super::request::{ImageRequest, PackageRequest, Request, TargetRequest};
use super::rules::law;
use super::solution::Solution;
use super::unseen;
use crate::types::variant::{line_of, pytorch_index};

use cudnn::{of_cudnn, of_cudnn_inside};

pub use cudnn::of_own_cudnn;

/// What makes a finding known.
pub(super) const OVERLAY: &str = "add the row to an overlay (`gpuenv explain overlay`)";

/// The code of what lies beyond the catalog.
pub(super) const NEWER: &str = "newer-than-catalog";

/// Something that nobody has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "UnknownFact"))]
pub struct Unknown {
    /// What kind it is, where that has a name: `newer-than-catalog`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// What it is.
    pub fact: String,
    /// The keys that ask for it.
    pub keys: Vec<String>,
    /// How it can be found out.
    pub how: String,
}

impl Unknown {
    /// What one key asks for.
    pub(super) fn of(key: String, fact: String, how: String) -> Unknown {
        Unknown { code: None, fact, keys: vec![key], how }
    }
}

/// What nobody has read of a selection that is only possible.
pub fn of(plan: &Plan<'_, '_>, selection: &Selection) -> Vec<Unknown> {
    let mut unknowns = of_labels(plan.request);
    for group in &plan.groups {
        for release in &group.releases {
            for &class in &group.classes {
                let on = plan.classes[class].target.platform;
                let image = image_of(plan, selection, release, class);
                for unknown in of_release(plan, selection, release, (on, image)) {
                    if !unknowns.contains(&unknown) {
                        unknowns.push(unknown);
                    }
                }
            }
        }
        unknowns.extend(of_cudnn(selection, group));
        for &class in &group.classes {
            unknowns.extend(of_image_torch(plan, selection, group, class));
            unknowns.extend(of_image_python(plan, selection, group, class));
        }
        let asks = &plan.request.companions;
        let is_named =
            |row: &Companion| asks.iter().any(|ask| *ask.package == *row.package && ask.constraint.pins_variant());
        for choice in &group.companions {
            let row = choice.of(selection.rows());
            let platforms = group.classes.iter().map(|&class| plan.classes[class].target.platform);
            let (own, general): (Vec<Platform>, Vec<Platform>) = platforms.partition(|on| on.is_one_system());
            // Where each takes what was made for its system, the PyTorch index is no place to look.
            let follows = |release: &&ReleaseChoice<'_>| *row.framework == *release.framework.package;
            let unknown = of_kept(plan, selection, group, row).or_else(|| {
                group.releases.iter().filter(follows).find_map(|release| {
                    let named_on = general.iter().filter(|_| is_named(row)).map(|on| on.arch);
                    of_variant(plan.request.catalog, row, release.of(selection.rows()), named_on)
                })
            });
            unknowns.extend(unknown.filter(|_| !general.is_empty()));
            for on in own.iter().filter(|on| !on.takes_companion(row)) {
                let Takes::ForSystem(system) = on.takes else { continue };
                unknowns.push(of_system(&row.package, row.version.as_str(), system));
            }
        }
    }
    // Which Python is chosen where nobody asks for one means nothing while something else is not known.
    if plan.request.python.is_some() || unknowns.is_empty() {
        unknowns.extend(of_pythons(plan, selection));
    }
    unknowns.dedup();
    unknowns
}

/// The chosen line of Python, for which no wheel of a chosen build was seen.
fn of_pythons(plan: &Plan<'_, '_>, selection: &Selection) -> Vec<Unknown> {
    let Some(python) = &plan.python else { return Vec::new() };
    let line = &python.of(selection.rows()).version;
    let mut found = Vec::new();
    for group in &plan.groups {
        for (release, &class) in
            group.releases.iter().flat_map(|one| group.classes.iter().map(move |class| (one, class)))
        {
            let on = plan.classes[class].target.platform;
            found.extend(release.of(selection.rows()).on(on).and_then(|build| unseen_python(build, on, line)));
        }
    }
    found
}

/// A build for the chosen CUDA of what is known for another alone: its project keeps such builds, and nobody has read which.
fn of_kept<'c>(plan: &Plan<'_, 'c>, selection: &Selection, group: &Group<'c>, row: &Companion) -> Option<Unknown> {
    let (catalog, rows) = (plan.request.catalog, selection.rows());
    let of_releases = group.releases.iter().filter_map(|release| release.of(rows).line);
    let of_system = group.cudas.iter().map(|(_, cuda)| cuda.of(rows).version.prefix(2));
    let installed = group.classes.iter().filter_map(|&class| plan.classes[class].target.toolkits.as_deref());
    let of_installed = installed.filter(|has| !fits::finds_cuda(row, has)).flatten().map(|toolkit| toolkit.prefix(2));
    let unfit = |line: &Version| !fits::companion_line(row, Some(line));
    let line = of_releases.chain(of_installed).chain(of_system).find(unfit)?;
    let place = unseen::kept_for(catalog, row, &line)?;
    let (package, version) = (&row.package, row.version);
    // Beside one that was seen, it is that for another Python.
    let is_seen = |one: &Companion| one.variant.as_deref().and_then(line_of) == Some(line);
    let seen = || catalog.companions.of(package).iter().any(|one| one.version == version && is_seen(one));
    let python = plan.python.as_ref().filter(|_| seen());
    let python = python.map_or(String::new(), |python| format!(" and Python {}", python.of(rows).version));
    let fact = format!("whether {package} {version} was published for CUDA {line}{python}");
    Some(Unknown::of(format!("stack.{package}"), fact, format!("look for it at {place}; if it is there, {OVERLAY}")))
}

/// A package that goes with a release only if there is a wheel for its variant that nobody has seen, or of which one is asked
/// for by its variant on some processors.
fn of_variant(
    catalog: &Catalog,
    row: &Companion,
    release: &Release<'_>,
    mut named_on: impl Iterator<Item = CpuArch>,
) -> Option<Unknown> {
    let made_for = if release.is_own() { fits::made_whatever_abi } else { fits::made_for };
    let is_unseen = named_on.any(|arch| unseen::is_unseen(catalog, row, release.variant, arch));
    if made_for(row, release.variant, release.line.as_ref()) && !is_unseen || row.variant.is_some() {
        return None;
    }
    let package = &*row.package;
    let place = match release.is_cpu() {
        true => "where its project publishes wheels".to_string(),
        false => format!("at {}/{package}/", pytorch_index(release.variant)),
    };
    let fact = format!("whether {package} {} was published for {}", row.version, release.variant);
    Some(Unknown::of(format!("stack.{package}"), fact, format!("look for it {place}; if it is there, {OVERLAY}")))
}

/// The image of a class that holds a torch, that torch, and the build of torch that is chosen.
fn torch_inside<'c>(
    plan: &Plan<'_, 'c>,
    selection: &Selection,
    group: &Group<'c>,
    class: usize,
) -> Option<(&'c Image, &'c str, &'c Build)> {
    let image = plan.locals[class].image.as_ref().filter(|_| !plan.classes[class].off.has(law::id::IMAGE_TORCH))?;
    let image: &'c Image = image.of(selection.rows());
    let on = plan.classes[class].target.platform;
    let mut releases = group.releases.iter().filter(|choice| choice.framework.package == TORCH);
    let build = releases.find_map(|choice| choice.of(selection.rows()).on(on))?;
    Some((image, image.torch.as_deref()?, build))
}

/// The torch in an image, of whose build nobody has read more than its release.
fn of_image_torch<'c>(plan: &Plan<'_, 'c>, selection: &Selection, group: &Group<'c>, class: usize) -> Option<Unknown> {
    let (image, inside, build) = torch_inside(plan, selection, group, class)?;
    if bundled_torch::runs_in(image, build) {
        return None;
    }
    let target = plan.classes[class].target;
    let name = image.name();
    let fact = format!("for which GPUs, Python and libraries the torch {inside} in `{name}` was built");
    let how = format!(
        "ask it (`docker run --rm {name} python3 -c 'import torch; print(torch.__version__, torch.cuda.get_arch_list())'`); \
         then {OVERLAY}"
    );
    Some(Unknown::of(target.key("image"), fact, how))
}

/// The Python of the torch in a chosen image, where one is written.
fn of_image_python<'c>(plan: &Plan<'_, 'c>, selection: &Selection, group: &Group<'c>, class: usize) -> Option<Unknown> {
    let (image, inside, build) = torch_inside(plan, selection, group, class)?;
    let target = plan.classes[class].target;
    let is_asked = plan.request.python.is_some() && matches!(target.image, ImageRequest::Choose(_));
    if !is_asked || image.python.is_some() || !bundled_torch::is_inside(image, inside, build) {
        return None;
    }
    let name = image.name();
    Some(Unknown {
        code: None,
        fact: format!("for which Python the torch in `{name}` is installed"),
        keys: vec!["stack.python".to_string(), target.key("image")],
        how: format!(
            "ask it (`docker run --rm {name} python --version`); if it is the one that you want, write `{name}` as the image: \
             what `python` says is then taken for it"
        ),
    })
}

/// Packages asked for by a variant of which nobody has seen a wheel.
fn of_labels(request: &Request<'_>) -> Vec<Unknown> {
    let unseen = request.companions.iter().filter(|ask| ask.names_unseen_variant(request.catalog));
    let unknown = |ask: &PackageRequest<'_>| {
        // On the PyTorch index it lies beside the release of its framework for the same CUDA.
        let index = ask.constraint.comparisons().find_map(|one| {
            let listed = request.catalog.listing(ask.package, Index::Pytorch, one.version.as_ref()?);
            listed.and(one.variant.as_deref()).filter(|label| line_of(label).is_some()).map(pytorch_index)
        });
        let place = match index {
            Some(index) => format!("at {index}/{}/, and for its framework beside it", ask.package),
            None => "where its project publishes wheels".to_string(),
        };
        let fact = format!("whether {} {} was published", ask.package, ask.constraint);
        let how = format!(
            "look for it {place}; if it is there, {OVERLAY}; or leave the label out, and write the variant behind the release \
             of torch"
        );
        Unknown::of(format!("stack.{}", ask.package), fact, how)
    };
    unseen.map(unknown).collect()
}

/// Libraries of NVIDIA that `[packages]` asks for by a release of which nobody knows whether there is one. They are installed
/// whatever the builds ask for, so no choice of a build does without.
pub fn of_written_libraries(request: &Request<'_>) -> Vec<Unknown> {
    let mut unknowns = Vec::new();
    for (name, range) in request.libraries() {
        let known = libraries::known_of(request.problem, name);
        let Some(newest) = known.iter().max() else { continue };
        if known.iter().any(|version| range.admits(version)) {
            continue;
        }
        let fact = format!(
            "whether {name} {range} was published: no CUDA toolkit or build that is known has it, and the newest known is \
             {newest}"
        );
        let how = format!("look for it on the package index; if it is there, {OVERLAY}, or write `{name} = \"*\"`");
        unknowns.push(Unknown::of(format!("packages.{name}"), fact, how));
    }
    unknowns
}

/// The C library of systems that are older than all that the catalog lists of their family: it has at most that of the oldest,
/// so an answer is none yet.
pub fn of_older_systems(request: &Request<'_>) -> Vec<Unknown> {
    let installs = !request.frameworks.is_empty() || !request.companions.is_empty();
    let is_older = |target: &&TargetRequest<'_>| installs && target.judged.newer && target.judged.glibc;
    let unknown = |target: &TargetRequest<'_>| {
        let (os, name) = (target.os?, &target.name);
        Some(Unknown {
            code: None,
            fact: format!(
                "which glibc the system of target `{name}` has: the catalog does not list it; it is older than {}, which has \
                 glibc {}",
                os.name, os.glibc?
            ),
            keys: vec![target.key("os")],
            how: format!("ask such a machine (`ldd --version`), and write `glibc` under [target.{name}]"),
        })
    };
    request.targets.iter().filter(is_older).filter_map(unknown).collect()
}

/// What a build holds that was published, and that nobody has read.
pub(super) fn of_contents(package: &str, version: &Version, variant: &str) -> Unknown {
    let fact = format!("what {package} {version}+{variant} holds: it was published, and nobody has read it");
    let how =
        format!("read its wheel with `gpuenv catalog inspect`; then {OVERLAY}, or write it as a build of your own");
    Unknown::of(format!("stack.{package}"), fact, how)
}

/// Whether a package was built for a system that takes only what was made for it.
pub(super) fn of_system(package: &str, asked: &str, system: &str) -> Unknown {
    let fact = format!("whether {} was built for {system}", format!("{package} {asked}").trim_end());
    Unknown::of(format!("stack.{package}"), fact, where_for(system))
}

/// Where wheels for a single system are found.
fn where_for(system: &str) -> String {
    format!(
        "look for it where wheels for {system} are kept (NVIDIA's developer.download.nvidia.com/compute/redist/jp, its forum's \
         list \"PyTorch for Jetson\", whose files have to be kept elsewhere under their names, and the Jetson AI Lab's \
         pypi.jetson-ai-lab.io); if it is there, {OVERLAY}"
    )
}

/// Images of which nobody has read whether they exist, and so what they hold.
pub fn of_images(request: &Request<'_>) -> Vec<Unknown> {
    let mut unknowns = Vec::new();
    for target in &request.targets {
        if let ImageRequest::Known(image) = &target.image {
            unknowns.extend(of_cudnn_inside(request, target, image));
        }
        // What could take its place is offered as a fix where it serves.
        let ImageRequest::UnseenTag(image) = &target.image else { continue };
        // Beside a driver that is pinned nobody knows whether another tag starts.
        let like = image.tag.as_ref().filter(|tag| !image::is_for_jetson(tag) && !target.pins_driver());
        let nearest = like.and_then(|tag| image::nearest_tag(request.catalog, &image.repository, tag));
        let nearest =
            nearest.map_or_else(String::new, |row| format!("; the nearest that is known is `{}`", row.name()));
        let how = format!(
            "look for it in the registry; if it is there, set `image-requires` to its NVIDIA_REQUIRE_CUDA (`docker image \
             inspect`; \"\" if it has none), or {OVERLAY}{nearest}"
        );
        let fact = format!("whether `{image}` exists, and what it holds");
        unknowns.push(Unknown::of(target.key("image"), fact, how));
    }
    unknowns
}

/// The same of images that were chosen.
pub fn of_chosen_images(request: &Request<'_>, answer: &Solution<'_>) -> Vec<Unknown> {
    let chosen = answer.targets.iter().filter_map(|answer| Some((request.target(&answer.name)?, answer.chosen.image?)));
    let chosen = chosen.filter(|(target, _)| matches!(target.image, ImageRequest::Choose(_)));
    chosen.filter_map(|(target, image)| of_cudnn_inside(request, target, image)).collect()
}

fn of_release<'c>(
    plan: &Plan<'_, 'c>,
    selection: &Selection,
    choice: &ReleaseChoice<'c>,
    (on, image): (Platform<'c>, Option<&'c Image>),
) -> Vec<Unknown> {
    let (package, release) = (choice.framework.package, choice.of(selection.rows()));
    let name = format!("{package} {}+{}", release.version, release.variant);
    let Some(build) = release.on(on) else {
        if !choice.framework.is_unseen(release, on) {
            return Vec::new();
        }
        if let Takes::ForSystem(system) = on.takes {
            // Beside one that is known its CUDA tells it apart.
            let is_known = |other: &Release<'_>| other.version == release.version && other.on(on).is_some();
            let asked = match choice.framework.releases.iter().any(is_known) {
                true => format!("{}+{}", release.version, release.variant),
                false => release.version.to_string(),
            };
            return vec![of_system(package, &asked, system)];
        }
        if release.was_published(on.arch) {
            return vec![of_contents(package, release.version, release.variant)];
        }
        let mut fact = format!("whether {name} was published for {}", on.arch);
        let mut keys = vec![format!("stack.{package}")];
        let request = plan.request;
        for (key, title) in LIBRARIES {
            if let Some(wanted) = request.part(key).filter(|wanted| !wanted.is_any() && !release.is_cpu()) {
                fact += &format!(", with {title} {wanted}");
                keys.push(format!("stack.{key}"));
            }
        }
        let index = pytorch_index(release.variant);
        let how = format!("look for it at {index}/{package}/; if it is there, {OVERLAY}");
        return vec![Unknown { code: None, fact, keys, how }];
    };
    let mut unknowns = Vec::new();
    let request = plan.request;
    for (key, title) in LIBRARIES {
        let is_asked = request.part(key).is_some_and(|wanted| !wanted.is_any());
        if is_asked && build.part(key).is_none() && !release.is_cpu() {
            let (whose, how) = of_library(build, (key, title), image);
            unknowns.push(Unknown::of(format!("stack.{key}"), format!("which {title} comes with {whose}"), how));
        }
    }
    for (library, range) in request.libraries() {
        let expected = libraries::expected(request.problem, build, library);
        let own = expected.and_then(|has| Some((has, Specifier::parse(&format!("=={has}")).ok()?)));
        if let Some((has, _)) = own.filter(|(_, own)| range.excludes(own)) {
            let fact = format!("which {library} {name} asks for: the CUDA that it was built with has {has}");
            let how = format!("read the METADATA of its wheel; then {OVERLAY}; or write `{library} = \"*\"`");
            unknowns.push(Unknown::of(format!("packages.{library}"), fact, how));
        }
    }
    unknowns
}

/// Whose library it is that nobody has read, and how it can be found out: a build's own, or that of the image it lies in.
fn of_library(build: &Build, (key, title): (&str, &str), image: Option<&Image>) -> (String, String) {
    let version = if key == "cudnn" { "torch.backends.cudnn.version()" } else { "torch.cuda.nccl.version()" };
    if let Some(image) = image {
        let name = image.name();
        let how =
            format!("ask it (`docker run --rm {name} python3 -c 'import torch; print({version})'`); then {OVERLAY}");
        return (format!("the {} {} in `{name}`", build.package, build.version), how);
    }
    let ask = format!("ask an installed one ({version})");
    match (build.is_own(), key) {
        (true, "cudnn") => (build.named(), format!("{ask}; then write it as `cudnn` in the table of your build")),
        (true, _) => {
            let how = format!("{ask}; nothing can be written of the {title} of your build, so leave `{key}` out");
            (build.named(), how)
        }
        (false, _) => {
            let or = if build.is_nightly() && key == "cudnn" {
                format!(", or {}", own::AS_TABLE.replace(" }`", ", cudnn = \"…\" }`"))
            } else {
                String::new()
            };
            let how =
                format!("look up in the METADATA of its wheel which {title} it requires, or {ask}; then {OVERLAY}{or}");
            (build.named(), how)
        }
    }
}

/// The image in which the build of a release lies that a class takes.
fn image_of<'c>(
    plan: &Plan<'_, 'c>,
    selection: &Selection,
    choice: &ReleaseChoice<'c>,
    class: usize,
) -> Option<&'c Image> {
    let build = choice.of(selection.rows()).on(plan.classes[class].target.platform)?;
    let image: &'c Image = plan.locals[class].image.as_ref()?.of(selection.rows());
    (build.is_in_image() && bundled_torch::runs_in(image, build)).then_some(image)
}

/// A line of Python for which no wheel of a build was seen.
fn unseen_python(build: &Build, on: Platform<'_>, line: &Version) -> Option<Unknown> {
    if build.installs_on(line) {
        return None;
    }
    let fact = format!("whether {} {}+{} has a wheel for Python {line}", build.package, build.version, build.variant);
    let how = match on.takes {
        Takes::ForSystem(system) if build.is_of_one_system() => where_for(system),
        _ => format!(
            "try `pip download --no-deps --python-version {line} --only-binary :all: {}=={}+{}` with its index; if it is there, {OVERLAY}",
            build.package, build.version, build.variant
        ),
    };
    Some(Unknown::of("stack.python".to_string(), fact, how))
}
