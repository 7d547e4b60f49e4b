//! Rows held against lists that others published: a number, a day or a source that no list tells is a slip.

use std::collections::BTreeMap;

use gpuenv::catalog::Catalog;
use gpuenv::types::{Text, Version};

/// The cells of a table below its comments.
fn table(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

/// Who tells of drivers, best first, and the source that stands for them.
const TELLERS: &[(&str, &str)] = &[
    ("modules", "nvidia-open-module-tags"),
    ("settings", "nvidia-driver-tags"),
    ("debian", "debian-driver-changelog"),
    ("releases", "nvidia-driver-releases"),
    ("endoflife", "endoflife-nvidia-releases"),
    ("notes", "cuda-release-notes"),
    ("notes-8", "cuda-8-notes-copy"),
    ("flathub", "flathub-nvidia"),
    ("quoted", "nvidia-smi-quoted"),
];

/// A driver is one that was seen published. Its date is the first day that anybody tells, its source who does; of equal
/// days, and where nobody tells the day, the best teller counts.
pub fn drivers(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    let mut rows: BTreeMap<_, _> = catalog.drivers.iter().map(|row| (row.version.as_str(), row)).collect();
    for cells in table(include_str!("../data/driver_releases.tsv")) {
        let [version, line, places] = cells[..] else { panic!("{cells:?}") };
        let Some(row) = rows.remove(version) else {
            broken.push(format!("driver {version}: published, but no row"));
            continue;
        };
        let places: BTreeMap<&str, Option<&str>> = places
            .split(' ')
            .map(|place| place.split_once('=').map_or((place, None), |(place, day)| (place, Some(day))))
            .collect();
        let told = TELLERS.iter().filter_map(|(place, source)| Some((*places.get(place)?, *source)));
        let (day, source) = told.min_by_key(|(day, _)| (day.is_none(), *day)).expect("somebody tells of it");
        if (row.date.as_deref(), &*row.source, row.beta) != (day, source, line == "vulkan") {
            broken.push(format!("driver {version}: the lists say {day:?}, {source}, `{line}`"));
        }
    }
    broken.extend(rows.keys().map(|version| format!("driver {version}: on no list")));
    broken
}

/// What toolkits ask for, and what their installers carry, on Linux and on Windows.
pub fn toolkit_drivers(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    let mut windows: BTreeMap<_, _> = catalog.windows_drivers.iter().map(|row| (row.cuda.as_str(), row)).collect();
    for cells in table(include_str!("../data/toolkit_drivers.tsv")) {
        let [cuda, asked, on_windows, in_runfile] = cells[..] else { panic!("{cells:?}") };
        let mut same = |what: &str, has: Option<&str>, published: &str| {
            if has.unwrap_or("-") != published {
                broken.push(format!("{what} of CUDA {cuda} is {has:?}, but {published} was published"));
            }
        };
        let row = windows.remove(cuda);
        same("the driver for Windows", row.map(|row| row.driver.as_str()), on_windows);
        let source = match cuda.split('.').collect::<Vec<_>>()[..] {
            [_] => "cuda-minor-version-compatibility",
            ["8", ..] => "cuda-8-notes-copy",
            _ => "cuda-release-notes",
        };
        same("its source", row.map_or(Some(source), |row| Some(&*row.source)), source);
        let text = |version: &Option<Version>| version.as_ref().map(|version| version.as_str().to_string());
        if let Some(kit) = catalog.toolkits.iter().find(|kit| kit.version.as_str() == cuda) {
            same("the driver", text(&kit.driver).as_deref(), asked);
            same("the runfile's driver", text(&kit.runfile).as_deref(), in_runfile);
        } else if cuda.contains('.') {
            broken.push(format!("CUDA {cuda}: published, but no row"));
        }
    }
    broken.extend(windows.keys().map(|cuda| format!("windows_driver {cuda}: on no list")));
    broken
}

/// Branches whose compiler is trusted with a PTX version later than the history says: a toolkit asks for that driver.
const LATER: &[(&str, u64)] = &[("5.0", 367)];

/// The CUDA that a branch reports and the PTX that it reads, as NVIDIA's history of PTX tells; later ones it does not know.
pub fn ptx_history(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    let history: Vec<(&str, &str, u64)> = table(include_str!("../data/ptx_history.tsv"))
        .map(|cells| {
            let [isa, cuda, branch] = cells[..] else { panic!("{cells:?}") };
            (isa, cuda, branch.parse().unwrap())
        })
        .collect();
    let branches: Vec<u64> = catalog.branches.iter().map(|row| row.branch.major()).collect();
    let last = history.last().expect("a history").2;
    for row in catalog.branches.iter().filter(|row| row.branch.major() <= last) {
        let came_with = history.iter().rfind(|(.., branch)| *branch <= row.branch.major());
        if let (Some(cuda), Some((_, told, _))) = (&row.cuda, came_with)
            && cuda.as_str() != *told
        {
            broken.push(format!("branch {} reports CUDA {cuda}, but {told} by the history of PTX", row.branch));
        }
    }
    for row in catalog.ptx_isas.iter() {
        let isa = row.isa.as_str();
        let Some((_, _, first)) = history.iter().find(|(known, ..)| *known == isa) else {
            if row.branch.as_ref().is_some_and(|branch| branch.major() <= last) {
                broken.push(format!("ptx_isa {isa} is in no history"));
            }
            continue;
        };
        let published = branches.iter().copied().filter(|branch| branch >= first).min();
        let later = LATER.iter().find(|(known, _)| *known == isa).map(|(_, branch)| *branch);
        if row.branch.as_ref().map(Version::major) != later.or(published) {
            broken.push(format!("ptx_isa {isa} comes with R{first} by the history of PTX"));
        }
    }
    broken
}

/// The C library and compiler of a system, its code name and the day its support ends, as far as others tell.
pub fn systems(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    for cells in table(include_str!("../data/systems.tsv")) {
        let [id, glibc, gcc, codename, end] = cells[..] else { panic!("{cells:?}") };
        let Some(row) = catalog.oses.iter().find(|row| row.id == id) else {
            broken.push(format!("os {id}: no row"));
            continue;
        };
        let is = |told: &str, version: &Option<Version>| {
            told == "-" || version.as_ref().is_some_and(|has| has.cmp_prefix(&Version::parse(told).unwrap()).is_eq())
        };
        let named = codename == "-" || row.aliases.iter().any(|alias| *alias == codename);
        let ends = end == "-" || row.eol.as_deref() == Some(end);
        if !is(glibc, &row.glibc) || !is(gcc, &row.gcc) || !named || !ends {
            broken.push(format!("os {id}: others tell {}", cells[1..].join(", ")));
        }
    }
    broken
}

/// What the extension builder of each release of torch takes.
pub fn extensions(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    for cells in table(include_str!("../data/extension_archs.tsv")) {
        let [release, stops, archs] = cells[..] else { panic!("{cells:?}") };
        let version = Version::parse(release).unwrap();
        let mut rows = catalog.extensions.iter().filter(|row| row.package == "torch" && row.from <= version);
        let row = rows.next_back();
        let taken = row.map(|row| row.archs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        if taken.as_deref() != Some(archs) || row.is_some_and(|row| row.same_major != (stops == "yes")) {
            broken.push(format!("extension: torch {release} takes {archs}"));
        }
    }
    broken
}

/// What compiling each source distribution needs.
pub fn source_builds(catalog: &Catalog) -> Vec<String> {
    let mut broken = Vec::new();
    for cells in table(include_str!("../data/source_builds.tsv")) {
        let [package, release, tools, archs, switch, requires] = cells[..] else { panic!("{cells:?}") };
        let row = catalog.build_from_source(package, &Version::parse(release).unwrap());
        let words = |list: &[Text]| match list {
            [] => "-".to_string(),
            _ => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        };
        let same = row.is_some_and(|row| {
            words(&row.tools) == tools
                && words(&row.requires) == requires
                && row.archs.as_deref().unwrap_or("-") == archs
                && row.switch.as_deref().unwrap_or("-") == switch
        });
        if !same {
            broken.push(format!(
                "source_build: {package} {release} imports {tools}, takes {archs} and {switch}, requires {requires}"
            ));
        }
    }
    broken
}
