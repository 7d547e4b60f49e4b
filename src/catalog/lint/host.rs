//! What stands in a machine: GPUs, drivers and their branches, forward compatibility, operating systems.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::{Say, months};
use crate::types::{Cc, Version};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    let branches: HashMap<u64, &Branch> = catalog.branches.iter().map(|row| (row.branch.major(), row)).collect();
    gpus(catalog, &branches, say);
    families(catalog, say);
    drivers(catalog, &branches, say);
    named_drivers(catalog, say);
    order_of_drivers(catalog, say);
    order_of_branches(catalog, say);
    compats(catalog, &branches, say);
    systems(catalog, say);
}

/// A driver that another row names is a release, or the beginning of one: tables print `440.33` for 440.33.01. What
/// is newer than every release is not out yet.
fn named_drivers(catalog: &Catalog, say: Say<'_>) {
    let newest = catalog.drivers.iter().map(|row| &row.version).max();
    let known = |named: &Version| {
        let from = catalog.drivers.partition_point(|row| row.version < *named);
        newest.is_none_or(|newest| named > newest)
            || catalog.drivers.get(from).is_some_and(|row| row.version.cmp_prefix(named).is_eq())
    };
    let mut missing = |kind, name: Named<'_>, named: &Version| {
        say("unknown-driver", kind, &name, format!("driver {named} does not exist"));
    };
    for row in catalog.gpus.iter() {
        row.first_driver.iter().filter(|named| !known(named)).for_each(|named| missing("gpu", Named(row), named));
    }
    for row in catalog.toolkits.iter() {
        let named = row.driver.iter().chain(&row.runfile).filter(|named| !known(named));
        named.for_each(|named| missing("toolkit", Named(row), named));
    }
    for row in catalog.compats.iter() {
        let named = row.bases.iter().chain([&row.branch]).filter(|named| !known(named));
        named.for_each(|named| missing("compat", Named(row), named));
    }
}

fn gpus(catalog: &Catalog, branches: &HashMap<u64, &Branch>, say: Say<'_>) {
    for row in catalog.gpus.iter() {
        let name = Named(row);
        for version in row.first_driver.iter().chain(row.last_branch.iter()) {
            if !branches.contains_key(&version.major()) {
                say("unknown-branch", "gpu", &name, format!("branch {} does not exist", version.major()));
            }
        }
        let unsaid = row.first_driver.is_none() && row.first_driver_by.is_some();
        if unsaid || row.first_driver.is_some() != row.driver_source.is_some() {
            say("belongs-together", "gpu", &name, "first_driver and driver_source belong together".into());
        }
        if let (Some(first), Some(last)) = (&row.first_driver, &row.last_branch)
            && first.major() > last.major()
        {
            say("gpu-driver", "gpu", &name, format!("its first driver {first} is after its last branch {last}"));
        }
        if row.last_branch.as_ref().is_some_and(|last| last.len() > 1) {
            say("gpu-driver", "gpu", &name, "last_branch is a branch, not a release".into());
        }
        // A driver that lists a board is in no rule's way, but for those that speak of parts of it.
        let about = catalog.rules.iter().filter(|rule| (rule.subject, rule.object) == (Subject::Gpu, Subject::Driver));
        let about = about.filter(|rule| rule.instances.is_empty());
        for (rule, driver) in about.flat_map(|rule| row.first_driver.iter().map(move |driver| (rule, driver))) {
            if rule.judges(&format!("{} {driver}", row.cc)) == Some(false) {
                let says = format!("driver {driver} lists it, which rule `{}` says cannot be", rule.id);
                say("gpu-rule", "gpu", &name, says);
            }
        }
        market(row, say);
    }
}

/// A product's name says its market; TITAN is looked for first.
fn market(row: &Gpu, say: Say<'_>) {
    const BRANDS: &[(&str, Class)] = &[
        ("TITAN", Class::Titan),
        ("GeForce", Class::Geforce),
        ("Quadro", Class::Workstation),
        ("Tesla", Class::Datacenter),
        ("CMP", Class::Mining),
        ("Jetson", Class::Jetson),
    ];
    // Boards of other makers carry NVIDIA's brands somewhere inside; a GeForce GTX TITAN is a TITAN.
    let name = row.name.trim_start_matches("NVIDIA ");
    let is = |brand: &str| name.starts_with(brand) || (brand == "TITAN" && name.contains(brand));
    let brand = BRANDS.iter().find(|(brand, _)| is(brand));
    if let Some((brand, class)) = brand.filter(|(_, class)| row.class != *class) {
        let says = format!("a {brand} is of class `{}`, not `{}`", class.as_str(), row.class.as_str());
        say("gpu-class", "gpu", &Named(row), says);
    }
}

/// GPUs of one compute capability are of one architecture and leave the drivers together; one chip has one
/// capability.
fn families(catalog: &Catalog, say: Say<'_>) {
    let discrete = |row: &&Gpu| row.class != Class::Jetson;
    let mut architectures: HashMap<Cc, &Gpu> = HashMap::new();
    let mut chips: HashMap<&str, &Gpu> = HashMap::new();
    let mut ends: HashMap<Cc, &Gpu> = HashMap::new();
    for row in catalog.gpus.iter() {
        let first = *architectures.entry(row.cc).or_insert(row);
        if first.architecture != row.architecture {
            let says =
                format!("{} of the same capability is {}, not {}", first.name, first.architecture, row.architecture);
            say("gpu-architecture", "gpu", &Named(row), says);
        }
        if let Some(chip) = &row.chip {
            let first = *chips.entry(chip).or_insert(row);
            if first.cc != row.cc {
                let says = format!("{} with the same chip {chip} has capability {}", first.name, first.cc);
                say("gpu-chip", "gpu", &Named(row), says);
            }
        }
    }
    for row in catalog.gpus.iter().filter(discrete) {
        let first = *ends.entry(row.cc).or_insert(row);
        if first.last_branch != row.last_branch {
            let end = |row: &Gpu| row.last_branch.as_ref().map_or("none yet".to_string(), |last| format!("R{last}"));
            let says = format!("its last branch is {}, that of {} is {}", end(row), first.name, end(first));
            say("gpu-last-branch", "gpu", &Named(row), says);
        }
    }
}

fn drivers(catalog: &Catalog, branches: &HashMap<u64, &Branch>, say: Say<'_>) {
    for row in catalog.drivers.iter() {
        if !branches.contains_key(&row.version.major()) {
            let says = format!("branch {} does not exist", row.version.major());
            say("unknown-branch", "driver", &Named(row), says);
        }
    }
    for row in catalog.drivers.iter().filter(|row| row.cuda.is_some() != row.cuda_source.is_some()) {
        say("belongs-together", "driver", &Named(row), "cuda and cuda_source belong together".into());
    }
    for row in catalog.branches.iter().filter(|row| row.branch.len() > 1) {
        say("branch-number", "branch", &Named(row), "a branch is one number".into());
    }
    for row in catalog.branches.iter().filter(|row| row.cuda.is_some() != row.cuda_source.is_some()) {
        say("belongs-together", "branch", &Named(row), "cuda and cuda_source belong together".into());
    }
    let released: HashSet<u64> = catalog.drivers.iter().map(|row| row.version.major()).collect();
    for row in catalog.branches.iter().filter(|row| !released.contains(&row.branch.major())) {
        say("unchoosable", "branch", &Named(row), "no driver is of this branch".into());
    }
}

/// Months a driver may be dated before a lower number of its branch: side lines are numbered apart.
const SLACK_MONTHS: u32 = 3;

/// Within a branch, greater numbers are not much older: a date in the wrong row shows here.
fn order_of_drivers(catalog: &Catalog, say: Say<'_>) {
    let mut latest: HashMap<u64, u32> = HashMap::new();
    let mut rows: Vec<&Driver> = catalog.drivers.iter().filter(|row| !row.beta).collect();
    rows.sort_unstable_by_key(|left| left.version);
    for row in rows {
        let Some(month) = row.date.as_deref().and_then(months) else { continue };
        let newest = latest.entry(row.version.major()).or_insert(month);
        if month + SLACK_MONTHS < *newest {
            let says = "is dated long before a lower number of its branch";
            say("driver-order", "driver", &Named(row), says.into());
        }
        *newest = month.max(*newest);
    }
}

/// Later branches report no older CUDA, and later PTX versions come with no older branch.
fn order_of_branches(catalog: &Catalog, say: Say<'_>) {
    let mut told: Vec<(&Branch, &Version)> =
        catalog.branches.iter().filter_map(|row| Some((row, row.cuda.as_ref()?))).collect();
    told.sort_unstable_by_key(|one| one.0.branch);
    for pair in told.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
        let says = format!("reports CUDA {}, but the older R{} reports {}", pair[1].1, pair[0].0.branch, pair[0].1);
        say("branch-cuda", "branch", &Named(pair[1].0), says);
    }
    let mut isas: Vec<(&PtxIsa, &Version)> =
        catalog.ptx_isas.iter().filter_map(|row| Some((row, row.branch.as_ref()?))).collect();
    isas.sort_unstable_by_key(|one| one.0.isa);
    for pair in isas.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
        let says = format!("comes with R{}, but the older {} with R{}", pair[1].1, pair[0].0.isa, pair[0].1);
        say("ptx-isa-branch", "ptx_isa", &Named(pair[1].0), says);
    }
    let known: HashSet<&Version> = catalog.branches.iter().map(|row| &row.branch).collect();
    for (row, branch) in isas.iter().filter(|(_, branch)| !known.contains(branch)) {
        say("unknown-branch", "ptx_isa", &Named(*row), format!("branch {branch} does not exist"));
    }
}

/// A forward-compatibility package is a driver branch's libcuda for older branches.
fn compats(catalog: &Catalog, branches: &HashMap<u64, &Branch>, say: Say<'_>) {
    for row in catalog.compats.iter() {
        let name = Named(row);
        for base in [&row.branch].into_iter().chain(row.bases.iter()) {
            if !branches.contains_key(&base.major()) {
                say("unknown-branch", "compat", &name, format!("branch {base} does not exist"));
            }
        }
        let reported = branches.get(&row.branch.major()).and_then(|branch| branch.cuda.as_ref());
        if let Some(reported) = reported.filter(|reported| **reported != row.cuda) {
            let says = format!("branch R{} reports CUDA {reported}, not {}", row.branch, row.cuda);
            say("compat-branch", "compat", &name, says);
        }
        for base in row.bases.iter().filter(|base| base.major() >= row.branch.major()) {
            say("compat-base", "compat", &name, format!("base {base} is not older than branch R{}", row.branch));
        }
        if row.bases.is_empty() {
            say("unchoosable", "compat", &name, "it runs on no branch".into());
        }
    }
    let mut floors: HashMap<u64, &Version> = HashMap::new();
    for row in catalog.compats.iter() {
        for base in row.bases.iter() {
            let first = *floors.entry(base.major()).or_insert(base);
            if first != base {
                let says = format!("patch levels of one branch do not differ from package to package: {base}, {first}");
                say("compat-base", "compat", &Named(row), says);
            }
        }
    }
}

/// An operating system's spellings lead to one row only.
fn systems(catalog: &Catalog, say: Say<'_>) {
    let mut owner: HashMap<String, &str> = HashMap::new();
    let mut in_tags: HashMap<&str, &str> = HashMap::new();
    for row in catalog.oses.iter() {
        for spelling in [&row.id].into_iter().chain(row.aliases.iter()) {
            if let Some(other) = owner.insert(spelling.to_lowercase(), &row.id) {
                say("os-spelling", "os", &Named(row), format!("`{spelling}` is also a spelling of {other}"));
            }
        }
        for spelling in row.images.iter() {
            // A Jetson runs the images of its own JetPack and of earlier ones; a tag means the first that has it.
            if let Some(other) = in_tags.insert(spelling, &row.id).filter(|_| row.cuda.is_none()) {
                say("os-spelling", "os", &Named(row), format!("tags with `{spelling}` are also those of {other}"));
            }
        }
        if row.driver_open.is_some() != row.driver_package_source.is_some()
            || row.driver_open.is_some() != row.driver_proprietary.is_some()
        {
            say("belongs-together", "os", &Named(row), "driver packages and their source belong together".into());
        }
        if row.gcc.is_some() != row.gcc_source.is_some() {
            say("belongs-together", "os", &Named(row), "gcc and gcc_source belong together".into());
        }
        if row.kernel.is_some() != row.kernel_source.is_some() {
            say("belongs-together", "os", &Named(row), "kernel and kernel_source belong together".into());
        }
        if row.libstdcxx.is_some() != row.libstdcxx_source.is_some() {
            say("belongs-together", "os", &Named(row), "libstdcxx and libstdcxx_source belong together".into());
        }
        if row.boards.is_empty() == row.boards_source.is_some() {
            say("belongs-together", "os", &Named(row), "boards and boards_source belong together".into());
        }
        if row.compats.is_empty() == row.compats_source.is_some() {
            say("belongs-together", "os", &Named(row), "compats and compats_source belong together".into());
        }
        let is_known = |line: &&Version| catalog.compats.iter().any(|compat| compat.cuda == **line);
        if let Some(line) = row.compats.iter().find(|line| !is_known(line)) {
            say("compat-base", "os", &Named(row), format!("no cuda-compat for CUDA {line} is known"));
        }
        if row.driver.is_some() != (row.driver_source.is_some() && row.cuda.is_some()) {
            let message = "driver, driver_source and cuda belong together".into();
            say("belongs-together", "os", &Named(row), message);
        }
    }
}
