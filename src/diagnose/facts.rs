//! What the catalog adds to a message: the driver for a release, the toolkit for an architecture, the builds for a GPU.
//!
//! Each is a placeholder of the catalog's sentences; what is not known fills nothing, and its sentence is left out.

use std::collections::BTreeMap;

use super::value::{Extract, Value, text};
use crate::catalog::rows::{Build, Gpu, Os, Status, Subject, Toolkit};
use crate::catalog::{Catalog, GpuMatch};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::solve::fits::line_of;
use crate::solve::problem::Problem;
use crate::words::{Arch, Cc, CpuArch, Version};

/// What placeholders stand for.
pub type Filling = BTreeMap<String, String>;

/// The placeholders that catalog facts fill, beside the keys of what was read out.
pub const DERIVED: &[&str] = &[
    "branch_found",
    "driver_for_needed",
    "cuda_of_driver",
    "toolkit_first",
    "toolkit_last",
    "toolkit_for_gcc",
    "toolkit_for_cc",
    "gpu_cc",
    "torch_newest",
    "torch_variants",
    "torch_first",
    "torch_for_driver",
    "os_for_glibc",
    "last_branch",
    "torch_cuda",
];

/// Everything that can be filled in for what was read out of a text.
pub fn filling(extract: &Extract, catalog: &Catalog) -> Filling {
    let mut filling: Filling = extract.iter().map(|(key, value)| (key.clone(), shown(value))).collect();
    let mut add = |key: &str, value: Option<String>| {
        debug_assert!(DERIVED.contains(&key), "{key}");
        if let Some(value) = value {
            filling.insert(key.into(), value);
        }
    };
    let version = |key: &str| text(extract, key).and_then(|text| Version::parse(text).ok());
    let found = version("cuda_found").or_else(|| cuda_of_driver(version("driver")?, catalog));
    if let Some(found) = &found {
        add("branch_found", branch_with(found, catalog));
        add("torch_for_driver", torch_for_driver(found, catalog));
    }
    add(
        "cuda_of_driver",
        version("driver").and_then(|driver| cuda_of_driver(driver, catalog)).map(|cuda| cuda.to_string()),
    );
    add("driver_for_needed", version("cuda_needed").and_then(|cuda| driver_for(&cuda, catalog)));
    add("torch_cuda", version("torch").and_then(|torch| torch_cuda(&torch, catalog)));
    let arch = text(extract, "arch").and_then(first_arch);
    if let Some(arch) = arch {
        add("toolkit_first", knows(arch, catalog).next().map(|row| row.version.prefix(2).to_string()));
        add("toolkit_last", last_toolkit(arch, catalog));
    }
    add("toolkit_for_gcc", version("gcc_max").and_then(|max| toolkit_beyond(&max, catalog)));
    add("os_for_glibc", version("glibc_needed").and_then(|glibc| os_for(&glibc, catalog)));
    let gpus = text(extract, "gpu").map(|name| products(name, catalog)).unwrap_or_default();
    if let Some(cc) = gpus.first().map(|gpu| gpu.cc).filter(|cc| gpus.iter().all(|gpu| gpu.cc == *cc)) {
        add("gpu_cc", Some(cc.to_string()));
    }
    let last = gpus.first().and_then(|gpu| gpu.last_branch.as_ref());
    add("last_branch", last.map(ToString::to_string));
    let cc = text(extract, "cc").and_then(|text| Cc::parse(text).ok());
    let cc = cc.or(arch.map(|arch| arch.cc)).or(gpus.first().map(|gpu| gpu.cc));
    if let Some(cc) = cc {
        let plain = Arch::parse(&format!("sm_{}", cc.number())).ok();
        add(
            "toolkit_for_cc",
            plain.and_then(|arch| knows(arch, catalog).next()).map(|row| row.version.prefix(2).to_string()),
        );
        add("torch_first", first_torch_with_code_for(cc, catalog));
        let (newest, variants) = torch_with_code_for(cc, catalog);
        add("torch_newest", newest);
        add("torch_variants", variants);
    }
    filling
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::List(list) => list.join(", "),
    }
}

/// The architecture in `sm_90`, `compute_90`, `9.0+PTX`, `8.6;8.9`.
fn first_arch(text: &str) -> Option<Arch> {
    let first = text.split([';', '；', ',', ' ']).next()?.trim_end_matches("+PTX");
    Arch::parse(&first.replace("compute_", "sm_")).ok()
}

fn cuda_of_driver(driver: Version, catalog: &Catalog) -> Option<Version> {
    catalog.branch_of(&driver)?.cuda
}

/// The driver branches that report a CUDA version.
fn branch_with(cuda: &Version, catalog: &Catalog) -> Option<String> {
    let rows = catalog.branches.iter().filter(|row| row.cuda.as_ref() == Some(cuda));
    let names: Vec<String> = rows.map(|row| row.branch.to_string()).collect();
    (!names.is_empty()).then(|| names.join(" or "))
}

/// The oldest driver the release notes ask for in a CUDA line.
fn driver_for(cuda: &Version, catalog: &Catalog) -> Option<String> {
    let line = catalog.toolkits.iter().filter(|row| row.version.cmp_prefix(cuda).is_eq());
    line.filter_map(|row| row.driver.as_ref()).min().map(ToString::to_string)
}

/// Toolkits that compile for an architecture, oldest first.
fn knows(arch: Arch, catalog: &Catalog) -> impl Iterator<Item = &Toolkit> {
    catalog.toolkits.iter().filter(move |row| row.sass.contains(&arch) && !row.components_only)
}

/// The last release that compiles for an architecture, if later ones do not.
fn last_toolkit(arch: Arch, catalog: &Catalog) -> Option<String> {
    let newest = catalog.toolkits.iter().filter(|row| !row.components_only).map(|row| &row.version).max()?;
    let last = &knows(arch, catalog).max_by_key(|row| &row.version)?.version;
    (last.prefix(2) != newest.prefix(2)).then(|| last.prefix(2).to_string())
}

/// The first release whose nvcc takes a newer gcc than this.
fn toolkit_beyond(gcc_max: &Version, catalog: &Catalog) -> Option<String> {
    let beyond = |row: &&Toolkit| row.gcc_max.as_ref().is_some_and(|max| max > gcc_max);
    Some(catalog.toolkits.iter().find(beyond)?.version.prefix(2).to_string())
}

/// The oldest system with this glibc, and the oldest Ubuntu, which most images are made of.
fn os_for(glibc: &Version, catalog: &Catalog) -> Option<String> {
    let rows = catalog.oses.iter().filter(|row| row.glibc.as_ref().is_some_and(|own| own >= glibc));
    let rows: Vec<&Os> = rows.filter(|row| row.refused.is_none()).collect();
    let oldest = rows.iter().min_by_key(|row| &row.glibc)?;
    let ubuntus = rows.iter().filter(|row| row.name.starts_with("Ubuntu") && row.name != oldest.name);
    let ubuntu = ubuntus.min_by_key(|row| &row.glibc).filter(|_| !oldest.name.starts_with("Ubuntu"));
    Some(match ubuntu {
        Some(ubuntu) => format!("{} or {}", oldest.name, ubuntu.name),
        None => oldest.name.to_string(),
    })
}

fn products<'c>(name: &str, catalog: &'c Catalog) -> Vec<&'c Gpu> {
    match catalog.gpu(name) {
        GpuMatch::Found(gpus) | GpuMatch::Ambiguous(gpus) => gpus,
        _ => Vec::new(),
    }
}

/// Stable builds of torch for the platform most people have.
fn torch_builds(catalog: &Catalog) -> impl Iterator<Item = &Build> {
    let wanted = |row: &&Build| row.package == "torch" && row.arch == CpuArch::X86_64 && row.variant != "cpu";
    catalog.builds.iter().filter(wanted).filter(|row| row.status == Status::Stable)
}

/// The oldest torch with code for a GPU, in the variant of the oldest toolkit: what an old driver admits first.
fn first_torch_with_code_for(cc: Cc, catalog: &Catalog) -> Option<String> {
    let rows = torch_builds(catalog).filter(|row| holds_code(row, cc));
    let first = rows.min_by_key(|row| (&row.version, &row.toolkit))?;
    Some(format!("{}+{}", first.version, first.variant))
}

fn holds_code(row: &Build, cc: Cc) -> bool {
    covers_targets(row.sass.iter().copied(), row.ptx.iter().copied(), cc, Tegra::Apart) == Coverage::Native
}

/// The newest torch with code for a GPU, and that release's variants that hold it.
fn torch_with_code_for(cc: Cc, catalog: &Catalog) -> (Option<String>, Option<String>) {
    let rows: Vec<&Build> = torch_builds(catalog).filter(|row| holds_code(row, cc)).collect();
    let Some(newest) = rows.iter().map(|row| &row.version).max() else { return (None, None) };
    let variants: Vec<&str> = rows.iter().filter(|row| row.version == *newest).map(|row| &*row.variant).collect();
    (Some(newest.to_string()), Some(variants.join(", ")))
}

/// The newest torch that runs on some driver with this CUDA version, by minor-version compatibility or natively.
fn torch_for_driver(cuda: &Version, catalog: &Catalog) -> Option<String> {
    let branch = catalog.branches.iter().rev().find(|row| row.cuda.as_ref() == Some(cuda))?;
    let driver = catalog.drivers.iter().rev().find(|row| row.version.major() == branch.branch.major())?;
    let rules = Problem::new(catalog);
    let fits = |row: &&Build| {
        let line = line_of(&row.variant);
        line.is_some_and(|line| {
            rules.rules.about(Subject::Cuda, &line, Subject::Driver).all(|rule| rule.needs.admits(&driver.version))
        })
    };
    let newest = torch_builds(catalog).filter(fits).max_by_key(|row| (&row.version, &row.toolkit))?;
    Some(format!("{}+{}", newest.version, newest.variant))
}

/// The CUDA line a build of torch was made for.
fn torch_cuda(torch: &Version, catalog: &Catalog) -> Option<String> {
    let text = torch.as_str();
    let (release, variant) = text.split_once('+')?;
    let row = torch_builds(catalog).find(|row| row.version.as_str() == release && row.variant == variant)?;
    Some(row.toolkit.as_ref()?.prefix(2).to_string())
}

/// A sentence with its placeholders filled; none if one of them is not known.
pub fn fill(template: &str, filling: &Filling) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once('{') {
        let (name, after) = tail.split_once('}')?;
        filled += before;
        filled += filling.get(name)?;
        rest = after;
    }
    Some(filled + rest)
}

/// The placeholders of a sentence.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|tail| Some(tail.split_once('}')?.0))
}
