//! What `[packages]` asks for that the locked packages or the locked Python are known not to go with, and what locked
//! packages ask for that has no wheel for the locked Python.

use crate::catalog::rows::{Asks, BESIDE_TORCH, Build, Companion, FoundIn, TORCH};
use crate::solve::followers::{Bar, bar, followers};
use crate::solve::held::{PIP, all_beside};
use crate::solve::libraries::CudaLines;
use crate::solve::ordinary::coming::{coming, missing};
use crate::solve::ordinary::shared::{By, doubled};
use crate::solve::ordinary::{
    Among, Beside, Follows, Judged, asked_by, elsewhere, excludes, is_excluded, is_unread, judged, left_untold,
    unread_extras, without_part, without_wheels,
};
use crate::solve::request::{TargetRequest, is_ordinary, lies_elsewhere};
use crate::solve::{ordinary, thirds};
use crate::types::{Constraint, Specifier, Version};
use crate::warning::{
    Bars, Brought, Cure, ExcludedBy, Kind, KnownTo, PackageBrings, PackageCuda, PackageExcluded, PackageNotChecked,
    PartLacks, SameModule, Side, Warning,
};

use super::{About, cures};

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let problem = about.request.problem;
    let beside = all_beside(problem, about.target, &about.request.packages);
    let mut warnings = Vec::new();
    for (name, asked) in about.request.packages.iter() {
        for one in judged(problem, &beside, name, asked) {
            if one.beside.going.is_some() {
                warnings.push(of_brought(about, (name, asked), &one));
                continue;
            }
            let Follows::Excluded(instead) = &one.follows else { continue };
            let (row, locked, comes_along) = (one.row, locked(&one.beside), one.beside.with.is_some());
            let (needs, known) = (&row.needs, known_to(row));
            let by = match *row.package == **name {
                _ if *row.of == *PIP => ExcludedBy::Installer { pip: needs },
                true => {
                    let of = if *row.of == *"python" { "Python" } else { &row.of };
                    let cure = cure(about, &format!("packages.{name}"), row);
                    ExcludedBy::Needs { asking: None, of, needs, locked: &locked, comes_along, known, cure }
                }
                false => {
                    let side = if comes_along { Side::LockedAlong } else { Side::Locked };
                    ExcludedBy::Needed { side, by: &locked, needs, known }
                }
            };
            let excluded =
                PackageExcluded { package: name, asked: &asked.to_string(), by, instead: instead.as_deref() };
            warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
        }
        warnings.extend(of_other_places(about, name, asked));
    }
    warnings.extend(of_elsewhere(about));
    warnings.extend(of_unfit(about));
    warnings.extend(of_missing(about));
    warnings.extend(of_unknown(about, &beside));
    warnings.extend(of_each_other(about));
    warnings.extend(of_one_module(about));
    warnings.extend(of_parts(about));
    warnings.extend(about.request.packages.iter().filter_map(|(name, asked)| of_other_cuda(about, name, asked)));
    if let Some(python) = about.target.python {
        about.target.companions.iter().for_each(|row| warnings.extend(of_release(about, row, python)));
    }
    for warning in warnings.iter_mut().filter(|one| [PackageCuda::CODE, PackageBrings::CODE].contains(&one.code)) {
        if let Some(names) = warning.keys.iter().find_map(|key| about.upgrades.get(key)) {
            warning.message += &format!("; `gpuenv lock {names}` chooses what goes with it");
        }
    }
    warnings
}

/// What can be done about the release of another package that is locked, for one that a key asks for.
fn cure<'a>(about: &'a About<'_, '_>, key: &str, row: &Asks) -> Cure<'a> {
    if let Some(names) = about.upgrades.get(key) {
        return Cure::Upgrade(names);
    }
    let (request, Ok(needs)) = (about.request, Specifier::parse(&row.needs)) else { return Cure::Change };
    let is_admitted = |asked: Option<&Constraint>, version: &Version| {
        needs.admits(version) && asked.is_none_or(|asked| asked.cut_to(version.len()).admits(version))
    };
    let mut asks = request.frameworks.iter().chain(&request.companions);
    let is_admitted = match asks.find(|ask| *ask.package == *row.of) {
        Some(ask) => {
            let framework = request.problem.framework(ask.package).map(|framework| &*framework.versions);
            let package = || request.problem.package(ask.package).map(|package| &*package.versions);
            let mut versions = framework.or_else(package).unwrap_or_default().iter();
            versions.any(|version| is_admitted(Some(&ask.constraint), version))
        }
        None if *row.of == *"python" => {
            let mut lines = request.catalog.pythons.iter().filter(|line| line.stable);
            lines.any(|line| is_admitted(request.python.as_ref(), &line.version))
        }
        None => false,
    };
    if is_admitted { Cure::Ask } else { Cure::Change }
}

/// Of a package that brings along what goes with nothing that is locked, and nobody names.
fn of_brought(about: &About<'_, '_>, (name, asked): (&str, &Specifier), one: &Judged<'_>) -> Warning {
    let (held, instead) = match &one.follows {
        Follows::Held(below) => (Some(&**below), None),
        Follows::Excluded(instead) => (None, instead.as_deref().filter(|instead| cures::goes(about, name, instead))),
    };
    // What is held is so because of each release that brings one: they ask for several ranges.
    let needs = if held.is_some() { "*" } else { &one.row.needs };
    let brings = format!("{} {needs}", one.row.of);
    let bar = match bar(about.request.problem, about.target, &one.row.of, &Specifier::parse(needs).unwrap_or_default())
    {
        Bar::Build => Bars::None,
        Bar::Gpu(says) => Bars::Gpu(says),
        Bar::Python(needs) => about.target.python.map_or(Bars::None, |locked| Bars::Python(needs, locked)),
    };
    let instead = instead.map(|instead| format!("write `{name} = \"{instead}\"` under [packages]"));
    let cures: Vec<String> = instead.into_iter().chain(cures::of_package(about, &one.row.of, needs)).collect();
    let brought = PackageBrings {
        named: &format!("{name} = \"{asked}\""),
        brings: (brings.trim_end_matches(" *"), &*one.row.of),
        how: Brought::Unfit { build: &made_for(about, &one.beside.locked().0), bar, held },
        cure: &cures.join(", or "),
    };
    Warning::about(&brought, &[format!("packages.{name}")])
}

/// The build that something goes with, or the CUDA where no framework is locked.
fn made_for(about: &About<'_, '_>, framework: &str) -> String {
    let build = about.target.builds.iter().find(|build| *build.package == *framework);
    let cuda = || about.target.cuda.map_or_else(String::new, |toolkit| format!("CUDA {}", toolkit.version));
    build.map_or_else(cuda, |build| build.named().to_string())
}

/// Of what comes along from another place than the locked one, where its number tells nothing of that: it lies on torch's own
/// index without a label, or at an address of its own as torch does, which no constraint names.
fn of_elsewhere(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages, locked) = (about.request.problem, &about.request.packages, about.target.locked());
    let followers = followers(problem, about.target, packages).into_iter().filter(|one| one.is_elsewhere);
    let by_uv = " and use `gpuenv export uv`, which takes it from there";
    let on_index = followers.map(|one| (&*one.row.package, &*one.row.framework, Some(by_uv)));
    let mut builds = about.target.builds.iter().filter(|build| build.package == TORCH && !build.systems.is_empty());
    let is_addressed = builds.any(|build| build.url.is_some() || build.index_url.is_some());
    let is_locked = |package: &str| locked.iter().any(|(one, _)| *one == *package);
    let beside_torch = BESIDE_TORCH.into_iter().filter(|package| is_addressed && !is_locked(package));
    let told =
        on_index.chain(beside_torch.map(|package| (package, TORCH, None))).filter_map(|(package, framework, by)| {
            let brings = |of: &&(String, Specifier)| coming(problem, &locked, &[(*of).clone()]).contains_key(package);
            let (name, asked) = packages.iter().find(brings)?;
            let cure = match (cures::of_package(about, package, "*"), by) {
                (Some(cure), by) => cure + by.unwrap_or_default(),
                (None, Some(_)) => String::new(),
                // Nobody knows that one lies there.
                (None, None) => return None,
            };
            let brought = PackageBrings {
                named: &format!("{name} = \"{asked}\""),
                brings: (package, package),
                how: Brought::Elsewhere { build: &made_for(about, framework) },
                cure: &cure,
            };
            Some(Warning::about(&brought, &[format!("packages.{name}")]))
        });
    told.collect()
}

/// Of what comes along and goes with nothing that the target says, where no framework and no CUDA is locked for it to be held
/// against.
fn of_unfit(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages, locked) = (about.request.problem, &about.request.packages, about.target.locked());
    if about.asked.is_cpu() || about.target.cuda.is_some() || about.gpu_builds().next().is_some() {
        return Vec::new();
    }
    let all = coming(problem, &locked, packages);
    let targets: Vec<&str> = about.all.iter().map(|target| &*target.name).collect();
    let told = all.iter().filter_map(|(of, asked)| {
        let brings = |one: &&(String, Specifier)| coming(problem, &locked, &[(*one).clone()]).contains_key(of);
        let (name, written) = packages.iter().find(brings).filter(|_| cures::is_refused(about, of, asked))?;
        let brought = PackageBrings {
            named: &format!("{name} = \"{written}\""),
            brings: (&format!("{of} {}", asked.specifier()), of),
            how: Brought::Refused { targets: &targets },
            cure: &format!("write `{of} = \"{}\"` under [stack] for the reason and what would help", asked),
        };
        Some(Warning::about(&brought, &[format!("packages.{name}")]))
    });
    told.collect()
}

/// Of packages that do not start without one that nothing brings.
fn of_missing(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let told = |(name, asked, row): (String, Specifier, &Asks)| {
        let is_written = packages.iter().any(|(written, _)| *written == name);
        let missing = PackageBrings {
            named: &format!("{name} = \"{asked}\""),
            brings: ("", &row.of),
            how: Brought::Missing { says: &row.says },
            cure: &cures::of_package(about, &row.of, &row.needs).unwrap_or_default(),
        };
        Warning::about(&missing, &[if is_written { format!("packages.{name}") } else { "packages".into() }])
    };
    missing(problem, &about.target.locked(), packages).into_iter().map(told).collect()
}

/// Of packages of which nothing is known, or nothing of the releases or the extras that are asked for.
fn of_unknown(about: &About<'_, '_>, beside: &[Beside]) -> Option<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let unread = |(name, asked): &(String, Specifier)| match is_ordinary(problem, name) {
        false => vec![name.clone()],
        // What later ones need at the least is told then.
        true if is_unread(problem, name, asked) && !is_excluded(problem, beside, name, asked) => {
            vec![format!("{name} = \"{asked}\"")]
        }
        true => {
            let left = left_untold(problem, beside, name, asked).map(|left| format!("{name} = \"{left}\""));
            let extras = unread_extras(problem, name, asked).map(|extra| format!("{name}[{extra}]"));
            left.into_iter().chain(extras).collect()
        }
    };
    let (mut keys, mut unknown) = (Vec::new(), Vec::new());
    for one in packages.iter() {
        let named = unread(one).into_iter().map(|named| (named, lies_elsewhere(problem, &one.0)));
        let before = unknown.len();
        unknown.extend(named);
        keys.extend((unknown.len() > before).then(|| format!("packages.{}", one.0)));
    }
    (!unknown.is_empty()).then(|| Warning::about(&PackageNotChecked { packages: unknown }, &keys))
}

/// Of a package that has nothing but wheels, for other processors or a newer glibc than targets have.
fn of_other_places(about: &About<'_, '_>, name: &str, asked: &Specifier) -> Vec<Warning> {
    let elsewhere = |target: &&TargetRequest<'_>| {
        let one = elsewhere(about.request.problem, (target.arch, target.glibc), name, asked)?;
        let Follows::Excluded(instead) = &one.follows else { return None };
        let named = |arch: &dyn ToString, glibc: Option<Version>| {
            arch.to_string() + &glibc.map_or(String::new(), |glibc| format!(" with glibc {glibc}"))
        };
        let needs = one.row.needs_glibc(target.arch);
        let arches: Vec<String> = one.row.arches.iter().map(ToString::to_string).collect();
        let arch = if arches.is_empty() { "Linux".to_string() } else { arches.join(" and ") };
        let excluded = PackageExcluded {
            package: name,
            asked: &asked.to_string(),
            by: ExcludedBy::Machine {
                wheels: &named(&arch, needs),
                target: &named(&target.arch, target.glibc.filter(|_| needs.is_some())),
            },
            instead: instead.as_deref(),
        };
        Some(Warning::about(&excluded, &[format!("packages.{name}")]))
    };
    about.all.iter().filter_map(elsewhere).collect()
}

/// Of packages that are asked for and do not go with each other.
fn of_each_other(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let among = Among::of(problem, &about.target.locked(), packages);
    let mut warnings = Vec::new();
    for (name, asked) in packages.iter() {
        for (row, by) in among.needed_of(problem, name) {
            if !excludes(asked, &row.needs) {
                continue;
            }
            let by = by.asked.of(&by.package);
            let known = KnownTo::Code(&row.says);
            let excluded = PackageExcluded {
                package: name,
                asked: &asked.to_string(),
                by: ExcludedBy::Needed { side: Side::Beside, by: &by, needs: &row.needs, known },
                instead: Some(&row.needs),
            };
            warnings.push(Warning::about(&excluded, &[format!("packages.{name}")]));
        }
    }
    warnings
}

/// Of packages that install one module.
fn of_one_module(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, packages) = (about.request.problem, &about.request.packages);
    let mut warnings = Vec::new();
    for one in doubled(problem, &about.target.locked(), packages) {
        let (requirer, key) = match &one.by {
            By::Written => (None, format!("packages.{}", one.other)),
            By::Locked(_) => (None, format!("stack.{}", one.other)),
            By::Companion((package, version)) => (Some(named(package, version)), format!("stack.{package}")),
            By::Ordinary(package, _) => (Some(package.clone()), format!("packages.{package}")),
        };
        let same = SameModule {
            module: &one.row.module,
            locked: &named(&one.locked.0, &one.locked.1),
            other: one.other,
            requirer: requirer.as_deref(),
            is_written: one.by == By::Written,
        };
        warnings.push(Warning::about(&same, &[key]));
    }
    warnings
}

/// Of packages that run without a part beside what is locked, or without CUDA where the stack computes with it.
fn of_parts_of_packages(about: &About<'_, '_>) -> Vec<Warning> {
    let cuda = about.gpu_builds().find_map(|build| build.line());
    let cuda = cuda.or(about.target.cuda.map(|cuda| cuda.version.prefix(2)));
    let mut locked = about.target.locked();
    locked.extend(cuda.map(|line| (CUDA.to_string(), line)));
    let mut warnings = Vec::new();
    for (name, asked, one) in without_part(about.request.problem, &locked, &about.request.packages) {
        let (package, version) = one.beside.what;
        // A label names a build of another index.
        if package == CUDA && asked.to_string().contains('+') {
            continue;
        }
        let what = if asked.comparisons.is_empty() { name.clone() } else { format!("`{name} = \"{asked}\"`") };
        let on = format!("beside {}", named(&package, &version));
        let is_written = about.request.packages.iter().any(|(written, _)| *written == name);
        let key = match is_written {
            true => format!("packages.{name}"),
            false if package == CUDA => "packages".to_string(),
            false => format!("stack.{package}"),
        };
        warnings.push(Warning::about(&PartLacks { name: &what, on: &on, says: &one.row.says }, &[key]));
    }
    warnings
}

/// Of what runs without a part beside what is locked, or because of what is not.
fn of_parts(about: &About<'_, '_>) -> Vec<Warning> {
    let (problem, locked) = (about.request.problem, about.target.locked());
    let mut warnings = of_parts_of_packages(about);
    let companions = &about.target.companions;
    // What nobody asked for was brought by something that may not use that part.
    let is_asked = |row: &&&Companion| about.request.companions.iter().any(|ask| *ask.package == *row.package);
    for row in companions.iter().filter(is_asked) {
        let what = format!("{} {}", row.package, row.version);
        let lacks = |on: &str, asks: &Asks| {
            let lacking = PartLacks { name: &what, on, says: &asks.says };
            Warning::about(&lacking, &[format!("stack.{}", row.package)])
        };
        // A piece of the toolkit is there, as a build pins it.
        for asks in problem.pieces_of_parts(row) {
            let pieces = about.target.pieces.iter().flat_map(|pieces| &pieces.pins);
            if pieces.into_iter().any(|(piece, _)| **piece == *asks.of) {
                continue; // It was chosen as the part needs it.
            }
            let pins = |build: &&&Build| {
                let pinned = thirds::of_build(problem.catalog, build, &asks.of);
                pinned.is_some_and(|pinned| thirds::clash(pinned, (&*asks.of, &*asks.needs)))
            };
            warnings
                .extend(about.gpu_builds().find(pins).map(|build| lacks(&format!("beside {}", build.named()), asks)));
        }
        let parts = ordinary::of_parts(problem, &row.package, &row.version).into_iter();
        for asks in parts.filter(|asks| !asks.of.starts_with("nvidia-")) {
            let is_locked = locked.iter().any(|(package, _)| *package == *asks.of);
            let comes = companions.iter().any(|one| one.asked(about.asked.arch).any(|(of, _)| *of == *asks.of));
            if !is_locked && !comes {
                warnings.push(lacks(&format!("where {} is missing", asks.of), asks));
            }
        }
    }
    warnings
}

/// Of a package that is for another CUDA than the locked frameworks: by its name, or as one of a toolkit's libraries whose
/// name tells none.
fn of_other_cuda(about: &About<'_, '_>, name: &str, asked: &Specifier) -> Option<Warning> {
    let lines = CudaLines::of(about.request.problem, name, asked);
    let mut builds = about.target.builds.iter().filter_map(|build| Some((build, build.line()?)));
    let (build, line) = builds.find(|(_, line)| lines.distance(line) > 0)?;
    let stack = format!("{} {}+{}", build.package, build.version, build.variant);
    let other =
        PackageCuda { package: name, names: lines.all.first()?, by_name: lines.by_name, stack: (&stack, &line) };
    Some(Warning::about(&other, &[format!("packages.{name}")]))
}

/// Of what a locked release asks for.
fn of_release<'c>(about: &About<'_, 'c>, row: &Companion, python: &Version) -> Vec<Warning> {
    let problem = about.request.problem;
    let named_by = format!("{} {}", row.package, row.version);
    let mut warnings = Vec::new();
    let Some(package) = problem.package(&row.package) else { return warnings };
    if !package.is_unserved(problem, &row.version, python) {
        return warnings;
    }
    for asks in asked_by(problem, Some(*python), &(row.package.to_string(), row.version)) {
        let Some(one) = without_wheels(problem, asks, python) else { continue };
        let by = ExcludedBy::Needs {
            asking: Some(&named_by),
            of: "Python",
            needs: &one.row.needs,
            locked: &named("python", python),
            comes_along: false,
            known: known_to(one.row),
            cure: cure(about, &format!("stack.{}", row.package), one.row),
        };
        let excluded = PackageExcluded { package: &asks.of, asked: &asks.needs, by, instead: None };
        warnings.push(Warning::about(&excluded, &[format!("stack.{}", row.package)]));
    }
    warnings
}

/// The part of the stack that what computes on the CPU alone does without.
const CUDA: &str = "cuda";

/// What releases need of Python that the index has for none.
const NO_PYTHON: &str = "<1";

/// Who knows what a row says that a package needs.
fn known_to(row: &Asks) -> KnownTo<'_> {
    match row.found_in {
        FoundIn::Metadata => KnownTo::Installers,
        FoundIn::OnlyWheels if *row.needs == *NO_PYTHON => KnownTo::Nowhere,
        FoundIn::OnlyWheels => KnownTo::OnlyWheels,
        _ if row.says.is_empty() => KnownTo::Wheels,
        _ => KnownTo::Code(&row.says),
    }
}

/// What is beside a package of `[packages]`, and what it comes with.
fn locked(beside: &Beside) -> String {
    let what = named(&beside.what.0, &beside.what.1);
    let Some((package, version)) = &beside.with else { return what };
    let comes = if beside.sure { "brings" } else { "goes with" };
    format!("{} {comes} {what}", named(package, version))
}

fn named(package: &str, version: &Version) -> String {
    let name = match package {
        "python" => "Python",
        CUDA => "CUDA",
        _ => package,
    };
    format!("{name} {version}")
}
