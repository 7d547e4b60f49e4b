//! Builds that a spec itself brings, as rows beside those of the catalog: builds of one's own, which hold what their owner
//! says, and nightlies, which are judged as the release that they precede. Nothing but the entry that names one takes it.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, FRAMEWORKS, Index, List, Status, TORCH, Text};
use crate::spec::{OwnBuild, OwnCuda, Spec, WheelName};
use crate::types::calendar::{day_of, days_to};
use crate::types::variant::line_of;
use crate::types::{Constraint, CpuArch, Version, distinct};

/// The catalog with the builds that a spec brings laid over it; none where it brings none.
pub fn lay(spec: &Spec, catalog: &Catalog) -> Option<Catalog> {
    let mut added = Catalog::default();
    for own in &spec.own {
        if FRAMEWORKS.contains(&&*own.package) {
            let python = spec.stack.iter().find(|(key, _)| key == "python").map(|(_, written)| &written.value);
            added.builds.to_mut().extend(rows(own, python, catalog));
        }
    }
    for (package, written) in &spec.stack {
        let own = spec.own.iter().any(|own| own.package == *package);
        if let Some(version) = nightly(&written.value).filter(|_| !own) {
            added.builds.to_mut().extend(nightly_builds(catalog, package, version, &written.value));
            added.companions.to_mut().extend(nightly_companions(catalog, package, version, spec));
        }
    }
    if added.builds.is_empty() && added.companions.is_empty() {
        return None;
    }
    let mut laid = catalog.clone();
    laid.merge(added);
    Some(laid)
}

/// The published build that one of one's own has the version and the CUDA of, as it is asked for: `2.8.0+cu126`.
pub fn published(own: &OwnBuild) -> Option<Constraint> {
    Constraint::parse(&format!("{}+{}", own.public()?, variant(&own.cuda()?))).ok()
}

fn variant(cuda: &OwnCuda) -> String {
    match cuda {
        OwnCuda::None => "cpu".to_string(),
        OwnCuda::Line(line) => format!("cu{}{}", line.major(), line.minor()),
    }
}

/// The rows of a build of one's own: one for each processor that it may be for.
fn rows(own: &OwnBuild, python: Option<&Constraint>, catalog: &Catalog) -> Vec<Build> {
    let (Some(version), Some(cuda)) = (own.public(), own.cuda()) else { return Vec::new() };
    let file = own.url.as_ref().and_then(|url| WheelName::of(&url.value));
    let variant = variant(&cuda);
    // What comes before a release is made for the Pythons of that release.
    let published = || {
        let same = |row: &&Build| row.version == version.release() && !row.is_laid();
        catalog.builds.of(&own.package).iter().filter(same)
    };
    let is_there = |row: &Build| (row.version, &*row.variant) == (version, &*variant);
    let on_pytorch = published().any(|row| is_there(row) && row.index.contains(&Index::Pytorch));
    let mut found = Vec::new();
    for arch in [CpuArch::Aarch64, CpuArch::X86_64] {
        // `any` and what nobody can read say nothing of the processor.
        let other = |name: &WheelName| {
            let of = |arch: CpuArch| name.platform.ends_with(arch.as_str());
            !of(arch) && (of(CpuArch::X86_64) || of(CpuArch::Aarch64))
        };
        if file.as_ref().is_some_and(other) {
            continue;
        }
        let (sass, ptx) = own.arch_list.as_ref().map_or_else(Default::default, |list| {
            (list.value.sass().collect::<Vec<_>>(), list.value.ptx().collect::<Vec<_>>())
        });
        let source = Text::from(Build::OWN);
        found.push(Build {
            index: if on_pytorch { vec![Index::Pytorch].into() } else { List::default() },
            index_url: own.index.as_ref().map(|index| index.value.clone().into()),
            url: own.url.as_ref().map(|url| url.value.clone().into()),
            wheel: Some(own.full_version().into()),
            pythons: pythons(own, file.as_ref(), (python, catalog), published().filter(|row| row.arch == arch)).into(),
            sass: sass.into(),
            ptx: ptx.into(),
            glibc: file.as_ref().and_then(glibc),
            toolkit: match cuda {
                OwnCuda::Line(line) if line.len() > 2 => Some(line),
                _ => None,
            },
            cudnn: own.cudnn.as_ref().map(|cudnn| cudnn.value),
            arch_source: own.arch_list.as_ref().map(|_| source),
            ..Build::bare(own.package.clone().into(), version, variant.clone().into(), arch, source)
        });
    }
    found
}

/// The Pythons of a build: as written, else as the file is named, else those of the published release, else any. Those are
/// assumed only: where the Python that the stack is written for is none of them, the build is one for that.
fn pythons<'c>(
    own: &OwnBuild,
    file: Option<&WheelName<'_>>,
    (wanted, catalog): (Option<&Constraint>, &Catalog),
    published: impl Iterator<Item = &'c Build>,
) -> Vec<Version> {
    if let Some(line) = own.python.as_ref().map(|python| python.value).or_else(|| file?.python_line()) {
        return vec![line];
    }
    let is_wanted = |line: &Version| wanted.is_none_or(|wanted| wanted.cut_to(line.len()).admits(line));
    let known: Vec<Version> = published.flat_map(|row| row.pythons.iter().copied()).collect();
    if known.iter().any(is_wanted) {
        return distinct(known);
    }
    let stable: Vec<Version> = catalog.pythons.iter().filter(|row| row.stable).map(|row| row.version).collect();
    distinct(if stable.iter().any(is_wanted) || known.is_empty() { stable } else { known })
}

/// Whether nobody says for which Python a build was made.
pub fn has_open_python(own: &OwnBuild) -> bool {
    let of_file = own.url.as_ref().and_then(|url| WheelName::of(&url.value)?.python_line());
    own.python.is_none() && of_file.is_none()
}

/// The oldest C library that a file's platform tag admits.
fn glibc(file: &WheelName<'_>) -> Option<Version> {
    let tags = file.platform.split('.').filter_map(|tag| {
        let mut numbers = tag.strip_prefix("manylinux_")?.split('_');
        Version::parse(&format!("{}.{}", numbers.next()?, numbers.next()?)).ok()
    });
    tags.min()
}

/// Whether a build is linked with musl, by the platform tag of its file: installers refuse it beside glibc.
pub fn is_musl(build: &Build) -> bool {
    build.url.as_ref().and_then(|url| WheelName::of(url)).is_some_and(|file| file.platform.starts_with("musllinux_"))
}

/// The nightly that a constraint names: `2.8.0.dev20250327`.
pub fn nightly(constraint: &Constraint) -> Option<Version> {
    constraint.single().filter(|version| day(version).is_some()).copied()
}

/// The day of a nightly, where it is one: of `2.8.0.dev20250327` how many days after 1970-01-01.
pub fn day(nightly: &Version) -> Option<i64> {
    let date = nightly.as_str().split_once(".dev")?.1;
    let number: i64 = date.parse().ok().filter(|_| date.len() == 8)?;
    let written = (number / 10_000, number / 100 % 100, number % 100);
    let day = days_to(written.0, written.1, written.2);
    // There is no 31st of April.
    (day_of(day) == written).then_some(day)
}

/// How a nightly is written of which nobody has read the release.
pub const AS_TABLE: &str = "write it as a build of your own (`{ version = \"…\", cuda = \"…\", arch-list = \"…\" }`)";

/// The release that a nightly precedes.
pub fn precedes(nightly: &Version) -> Version {
    nightly.release()
}

/// The builds of the release that a nightly of torch precedes.
pub fn builds_after<'c>(catalog: &'c Catalog, package: &str, nightly: &Version) -> impl Iterator<Item = &'c Build> {
    let release = precedes(nightly);
    let is_told = is_told_by_its_release(package, nightly);
    let rows = catalog.builds.of(package).iter();
    rows.filter(move |row| is_told && row.version == release && row.systems.is_empty() && !row.is_laid())
}

/// Whether a version is a nightly that is told by the release that it precedes: those of torch.
pub fn is_told_by_its_release(package: &str, version: &Version) -> bool {
    package == TORCH && version.as_str().contains(".dev")
}

/// The address of the nightlies of a variant.
fn nightly_index(variant: &str) -> String {
    format!("https://download.pytorch.org/whl/nightly/{variant}")
}

/// The builds of the release that a nightly precedes, as that nightly's. One that the release does not have, for a CUDA or a
/// processor, is named by the user alone: nothing is known of what it holds.
fn nightly_builds(catalog: &Catalog, package: &str, version: Version, constraint: &Constraint) -> Vec<Build> {
    let of_release: Vec<&Build> = builds_after(catalog, package, &version).collect();
    let named = constraint.comparisons().find_map(|one| one.variant.as_deref());
    // Of one that has a row, in an overlay, that tells more.
    let read: Vec<&Build> = catalog.builds.of(package).iter().filter(|row| row.version == version).collect();
    let is_read = |variant: &str, arch| read.iter().any(|row| *row.variant == *variant && row.arch == arch);
    let mut found = Vec::new();
    for row in of_release.iter().filter(|row| named.is_none_or(|named| *row.variant == *named)) {
        if is_read(&row.variant, row.arch) {
            continue;
        }
        let last = named.is_none() && !is_usual(row, &of_release);
        let status = if last { Status::Experimental } else { Status::Stable };
        found.push(Build { status, ..as_nightly(row, version, &row.variant) });
    }
    // ROCm's and Intel's are for other boards.
    let Some(variant) = named.filter(|named| line_of(named).is_some()) else { return found };
    for arch in [CpuArch::Aarch64, CpuArch::X86_64] {
        let like = of_release.iter().find(|row| row.arch == arch).or(of_release.first());
        if let Some(like) = like.filter(|_| found.iter().all(|row| row.arch != arch) && !is_read(variant, arch)) {
            found.push(unread(as_nightly(like, version, variant), arch));
        }
    }
    found
}

/// Whether a build is the one that its release has by default, or without CUDA: the nightlies of others began some day
/// before it that nobody has read, so such a one is taken only where no other serves.
fn is_usual(build: &Build, of_release: &[&Build]) -> bool {
    let default = of_release.iter().find(|row| row.default && !row.is_cpu()).map(|row| &row.variant);
    let has_default = of_release.iter().any(|row| row.arch == build.arch && Some(&row.variant) == default);
    build.is_cpu() || !has_default || Some(&build.variant) == default
}

/// A build for a processor of which nothing else is known.
fn unread(build: Build, arch: CpuArch) -> Build {
    Build {
        arch,
        sass: List::default(),
        ptx: List::default(),
        arch_source: None,
        toolkit: None,
        pins: None,
        cudnn: None,
        cudnn_range: None,
        nccl: None,
        triton: None,
        triton_python: None,
        pins_source: None,
        ..build
    }
}

fn as_nightly(row: &Build, version: Version, variant: &str) -> Build {
    Build {
        version,
        variant: variant.to_string().into(),
        default: false,
        status: Status::Stable,
        index: List::default(),
        index_url: Some(nightly_index(variant).into()),
        url: None,
        wheel: None,
        ..row.clone()
    }
}

/// A nightly of a package that follows torch goes with the nightly of torch that is asked for beside it, whatever release it
/// counts towards: these lag behind torch's. But for one that is younger than itself it cannot have been built: it needs that
/// of its own day.
fn nightly_companions(catalog: &Catalog, package: &str, version: Version, spec: &Spec) -> Vec<Companion> {
    let torch = spec.stack.iter().find(|(name, _)| name == TORCH).map(|(_, written)| &written.value);
    let Some(beside) = torch.and_then(nightly) else { return Vec::new() };
    let variant = torch.and_then(|torch| torch.comparisons().find_map(|one| one.variant.clone()));
    let release = precedes(&version);
    let needs = match day(&beside) > day(&version) {
        true => format!("{}.dev{}", precedes(&beside), version.as_str().split_once(".dev").map_or("", |(_, day)| day)),
        false => beside.to_string(),
    };
    let is_of_release = |row: &&Companion| row.version == release && row.framework == TORCH && row.variant.is_none();
    let nightly = |row: &Companion| Companion {
        version,
        needs: needs.clone().into(),
        index_url: variant.as_ref().map(|variant| nightly_index(variant).into()),
        url: None,
        wheel: variant.as_ref().map(|variant| format!("{version}+{variant}").into()),
        requires: List::default(),
        ..row.clone()
    };
    catalog.companions.of(package).iter().filter(is_of_release).map(nightly).collect()
}
