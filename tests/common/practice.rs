//! What publishers do although nothing forces them to: relations between rows that held so far, with every exception
//! by name. A new row that breaks one is a slip, or an exception more: then it is named here.

use std::collections::HashMap;

use super::published;
use gpuenv::catalog::Catalog;
use gpuenv::catalog::rows::{Build, Companion, Index, Os, OtherBuild};
use gpuenv::types::{Constraint, Version};

/// Everything of a catalog that breaks a practice.
pub fn broken(catalog: &Catalog) -> Vec<String> {
    let mut practice = Practice::default();
    patches(catalog, &mut practice);
    sources(catalog, &mut practice);
    companions(catalog, &mut practice);
    systems(catalog, &mut practice);
    requirements(catalog, &mut practice);
    neighbours(catalog, &mut practice);
    practice.broken.extend(published::drivers(catalog));
    practice.broken.extend(published::toolkit_drivers(catalog));
    practice.broken.extend(published::ptx_history(catalog));
    practice.broken.extend(published::systems(catalog));
    practice.broken.extend(published::extensions(catalog));
    practice.broken.extend(published::source_builds(catalog));
    practice.broken
}

/// Things and fields in which rows of one kind do differ.
const EXCEPTIONS: &[(&str, &str)] = &[
    // 1.3.1 dropped what is older than 3.7.
    ("torch 1.3 cu92 x86_64", "sass"),
    ("torch 1.3 cu92 x86_64", "ptx"),
    ("torch 1.3 cu100 x86_64", "sass"),
    ("torch 1.3 cu100 x86_64", "ptx"),
    ("torch 1.3 cu101 x86_64", "sass"),
    ("torch 1.3 cu101 x86_64", "ptx"),
    // From 0.10.1 on, or 0.11.1, jax compiles for other GPUs or pins another cuDNN.
    ("jax 0.10 cu12 x86_64", "sass"),
    ("jax 0.10 cu12 aarch64", "sass"),
    ("jax 0.10 cu13 x86_64", "sass"),
    ("jax 0.10 cu13 aarch64", "sass"),
    ("jax 0.11 cu12 x86_64", "cudnn"),
    ("jax 0.11 cu12 aarch64", "cudnn"),
    ("jax 0.4 cu12 x86_64", "cudnn"),
    ("jax 0.4 cu12 aarch64", "cudnn"),
    ("jax 0.4 cu12 x86_64", "nccl"),
    ("jax 0.4 cu12 aarch64", "nccl"),
    // Releases whose default moved to the package index or away from it.
    ("torch 1.0 cu90 x86_64", "index"),
    ("torch 1.0 cu90 x86_64", "glibc"),
    ("torch 1.8 cu102 x86_64", "index"),
    ("torch 2.14 cu130 x86_64", "index"),
    ("torch 2.14 cu130 aarch64", "index"),
    ("jax 0.7 cu12 x86_64", "glibc"),
    ("jax 0.7 cu12 aarch64", "glibc"),
    // Published as wheels first, as source later.
    ("flashinfer-python", "sdist"),
    ("flashinfer-python", "gpu_code"),
];

/// Releases that ask for an older framework than the one before.
const ASKS_FOR_LESS: &[&str] = &[
    "tensorrt-llm 0.16.0",
    "deepspeed 0.19.8",
    "torchao 0.4.0",
    "transformer-engine 2.20.2",
    "transformer-engine-torch 2.20.2",
];

/// Systems whose C library was read elsewhere than that of their family, and families of which each was.
const READ_ELSEWHERE: &[&str] = &["debian9", "debian10", "sles15.0", "jetpack"];
/// Families of which some releases are kept for longer than later ones.
const LONG_KEPT: &[&str] = &["sles", "ubuntu"];
/// Families whose compilers were all read in one place.
const COMPILERS_TOLD: &[&str] = &["fedora", "opensuse-leap", "sles"];
/// Spellings that later releases of a family no longer go by: CentOS has become a family of its own, a few are dead.
const LAPSED: &[&str] = &["centos", "centos-stream", "scientific", "opensuse-leap", "sles", "jetpack"];

/// Systems built on some releases of a family, with numbers of their own.
const BUILT_ON_IT: &[&str] = &["dgxos", "linuxmint"];
/// Of Oracle Linux the 7th has a row of its own, for its kernel.
const OF_ITS_OWN: &[&str] = &["oraclelinux", "ol"];

#[derive(Default)]
struct Practice {
    seen: HashMap<(String, &'static str), String>,
    broken: Vec<String>,
}

impl Practice {
    /// Rows that speak of `thing` say the same in `field`.
    fn same(&mut self, thing: &str, field: &'static str, value: impl ToString) {
        let value = value.to_string();
        let first = self.seen.entry((thing.to_string(), field)).or_insert_with(|| value.clone());
        if *first != value && !EXCEPTIONS.contains(&(thing, field)) {
            self.broken.push(format!("{thing}: `{field}` is {first} here and {value} there"));
        }
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A patch release is built as the release it patches.
fn patches(catalog: &Catalog, practice: &mut Practice) {
    for row in catalog.builds.iter() {
        let Build { package, version, variant, arch, systems, .. } = row;
        // What is made for single systems is published apart.
        let arch = format!("{arch}{}", systems.first().map_or("", |system| &**system));
        let thing = format!("{package} {} {variant} {arch}", version.prefix(2));
        for (field, archs) in [("sass", &row.sass), ("ptx", &row.ptx)] {
            if row.arch_source.is_some() {
                practice.same(&thing, field, list(archs));
            }
        }
        for (field, pin) in [("toolkit", &row.toolkit), ("cudnn", &row.cudnn), ("nccl", &row.nccl)] {
            pin.iter().for_each(|pin| practice.same(&thing, field, pin));
        }
        if variant != "cpu" {
            row.glibc.iter().for_each(|glibc| practice.same(&thing, "glibc", glibc));
            practice.same(&thing, "index", format!("{:?}", row.index));
        }
        practice.same(&format!("{package} {variant} {}", version.prefix(2)), "extra", format!("{:?}", row.extra));
    }
}

/// What the package index publishes of a package is known in one way.
fn sources(catalog: &Catalog, practice: &mut Practice) {
    for row in catalog.builds.iter().filter(|row| row.default || row.package == "tensorflow") {
        let Build { package, default, .. } = row;
        let thing = format!("build of {package}, {}, {default}", row.variant == "cpu");
        practice.same(&thing, "source", row.source);
        if *default && !row.index.contains(&Index::Pypi) {
            practice.broken.push(format!("{package} {}: a default that is not on the package index", row.version));
        }
    }
    for row in catalog.other_builds.iter().filter(|row| row.default || row.package != "torch") {
        let OtherBuild { package, os, default, .. } = row;
        practice.same(&format!("build of {package} for {os}, {default}"), "source", row.source);
    }
    for (kind, source, row) in catalog
        .libraries
        .iter()
        .map(|row| ("libraries", &row.source, row.package.to_string()))
        .chain(catalog.ptxases.iter().map(|row| ("ptxas", &row.source, String::new())))
        .chain(catalog.extensions.iter().map(|row| ("extension", &row.source, row.package.to_string())))
        .chain(catalog.source_builds.iter().map(|row| ("source_build", &row.source, row.package.to_string())))
    {
        practice.same(&format!("{kind} {row}"), "source", source);
    }
}

/// Later releases of a package ask for no older framework; GPU code of its own is in all of them, or in none.
fn companions(catalog: &Catalog, practice: &mut Practice) {
    let mut newest: HashMap<&str, (Version, &Companion)> = HashMap::new();
    // The source of a release that has wheels is another form of it.
    let of_index = |row: &&Companion| row.systems.is_empty() && row.source_for().is_none();
    for row in catalog.companions.iter().filter(of_index) {
        practice.same(&row.package, "sdist", row.sdist);
        practice.same(&row.package, "gpu_code", row.gpu_code);
        let metadata = matches!(&*row.source, "companion-metadata" | "companion-sdist");
        if metadata && row.variant.is_none() && row.package != "flashinfer-python" {
            practice.same(&row.package, "source", row.source);
        }
        let lower: Vec<&str> = row.needs.split(',').filter(|bound| !bound.starts_with('<')).collect();
        let Ok(asked) = Constraint::parse(&lower.join(",")) else { continue };
        let Some(least) = asked.comparisons().filter_map(|one| one.version).min() else { continue };
        // What was read in the libraries tells how each was built, lmcache 0.3.5 with an older torch than 0.3.4, and what was
        // read in the code which names it takes, of torch 2.2 in torchao 0.3.1.
        if let Some((known, by)) = newest.get(&*row.package)
            && !matches!(&*row.source, "torch-symbols" | "torch-names")
            && least.prefix(2) < known.prefix(2)
            && row.version > by.version
            && !ASKS_FOR_LESS.contains(&&*format!("{} {}", row.package, row.version))
        {
            practice.broken.push(format!("{} {} asks for less than {}", row.package, row.version, by.version));
        }
        newest.insert(&row.package, (least, row));
    }
}

/// What two releases of a package have in common, the one between them has too.
fn neighbours(catalog: &Catalog, practice: &mut Practice) {
    let mut by_kind: HashMap<(&str, Option<&str>), Vec<&Companion>> = HashMap::new();
    let of_index = |row: &&Companion| row.systems.is_empty() && row.source_for().is_none();
    for row in catalog.companions.iter().filter(of_index) {
        by_kind.entry((&row.package, row.variant.as_deref())).or_default().push(row);
    }
    for rows in by_kind.values() {
        for [before, row, after] in rows.windows(3).filter_map(|rows| <[&Companion; 3]>::try_from(rows).ok()) {
            for (field, value) in FIELDS {
                let is_alone = value(before) == value(after) && value(row) != value(before);
                let thing = format!("{} {}", row.package, row.version);
                if is_alone && !ALONE.iter().any(|known| *known == thing || *known == &*row.package) {
                    practice.broken.push(format!("{thing}: `{field}` is that of neither neighbour"));
                }
            }
        }
    }
}

/// A field of a package's release, and what it says.
type Field = (&'static str, fn(&Companion) -> String);

const FIELDS: &[Field] = &[
    ("jit", |row| row.jit.to_string()),
    ("finds_cuda", |row| row.finds_cuda.to_string()),
    ("system_cuda", |row| row.system_cuda.to_string()),
    ("borrows", |row| format!("{:?}", row.borrows)),
    ("glibc", |row| format!("{:?}", row.glibc)),
    ("sass", |row| list(&row.sass)),
    ("ptx", |row| list(&row.ptx)),
    ("arm_sass", |row| list(&row.arm_sass)),
    ("ptx_isa", |row| format!("{:?}", row.ptx_isa)),
];

/// Releases that were built otherwise than the ones before and after them, as their wheels say.
const ALONE: &[&str] = &[
    "nvidia-dali-cuda110 1.19.0",
    "onnxruntime-gpu 1.23.0",
    "torch-tensorrt 2.2.0",
    "torchvision 0.8.0",
    "transformer-engine 1.9.0.post1",
    "transformer-engine-cu12 2.6.0",
    "transformer-engine-cu12 2.8.0",
    "vllm 0.4.0",
    "vllm 0.5.2",
    "xformers 0.0.33",
    // Its post releases are builds for another CUDA.
    "paddlepaddle-gpu",
];

/// The family and the numbers in a system's name: `ubuntu` and 22.04.
fn named(id: &str) -> (&str, Option<Version>) {
    let (family, number) = id.split_at(id.find(|letter: char| letter.is_ascii_digit()).unwrap_or(id.len()));
    (family, Version::parse(number).ok())
}

/// Later releases of a system bring no older C library, compiler or Python and are kept for longer; their names differ in
/// the number alone, and all of a family were read in one place.
fn systems(catalog: &Catalog, practice: &mut Practice) {
    let mut families: HashMap<&str, Vec<(Version, &Os)>> = HashMap::new();
    for row in catalog.oses.iter() {
        let (family, Some(version)) = named(&row.id) else { continue };
        families.entry(family).or_default().push((version, row));
        if row.glibc.is_some() && ![&row.id, family].iter().any(|one| READ_ELSEWHERE.contains(one)) {
            practice.same(&format!("os {family}"), "source", row.source);
        }
        if let Some(source) = row.gcc_source.as_ref().filter(|_| COMPILERS_TOLD.contains(&family)) {
            practice.same(&format!("os {family}"), "gcc_source", source);
        }
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let own = digits(&row.id);
        for other in row.aliases.iter().chain(row.images.iter()).filter(|other| !other.starts_with("l4t")) {
            let number = digits(other);
            let is_own = !BUILT_ON_IT.contains(&named(other).0);
            if is_own && !number.starts_with(&own) && !own.starts_with(&number) {
                practice.broken.push(format!("os {}: `{other}` is another release", row.id));
            }
        }
    }
    for (family, mut rows) in families {
        rows.sort_by_key(|(version, _)| *version);
        for ((_, earlier), (_, later)) in rows.iter().zip(&rows[1..]) {
            follows(family, earlier, later, practice);
        }
    }
}

/// What a release of a system has in common with the one before.
fn follows(family: &str, earlier: &Os, later: &Os, practice: &mut Practice) {
    let falls = |old: &Option<Version>, new: &Option<Version>| old.zip(*new).is_some_and(|(old, new)| new < old);
    let ends = earlier.eol.as_ref().zip(later.eol.as_ref());
    let shorter = ends.is_some_and(|(old, new)| new < old) && !LONG_KEPT.contains(&family);
    let behind = [(&earlier.glibc, &later.glibc), (&earlier.gcc, &later.gcc), (&earlier.python, &later.python)];
    if shorter || behind.iter().any(|(old, new)| falls(old, new)) {
        practice.broken.push(format!("os {} is behind {}", later.id, earlier.id));
    }
    // Fedora brings each release of the C library, of which there are as many.
    let minor = |row: &Os| row.glibc.and_then(|glibc| glibc.to_string().split_once('.')?.1.parse::<u32>().ok());
    if family == "fedora" && minor(later) != minor(earlier).map(|minor| minor + 1) {
        practice.broken.push(format!("os {} has not the next C library", later.id));
    }
    let spelled = |row: &Os| -> Vec<String> {
        let shapes = row.aliases.iter().map(|alias| named(alias)).filter(|(_, number)| number.is_some());
        shapes.map(|(shape, _)| shape.to_string()).collect()
    };
    let kept = spelled(later);
    let mut lost = spelled(earlier).into_iter().filter(|shape| !kept.contains(shape));
    let goes_on =
        |shape: &str| !LAPSED.contains(&shape) && !BUILT_ON_IT.contains(&shape) && !OF_ITS_OWN.contains(&shape);
    if let Some(shape) = lost.find(|shape| goes_on(shape)) {
        practice.broken.push(format!("os {}: no `{shape}` as for {}", later.id, earlier.id));
    }
}

/// An image admits branches one by one, each older than the one that its CUDA came with; whatever the brand.
fn requirements(catalog: &Catalog, practice: &mut Practice) {
    for row in catalog.image_requires.iter() {
        for clause in row.require.split(' ') {
            let number = |start: &str| -> Option<u64> {
                clause.split(',').find_map(|part| part.strip_prefix(start))?.parse().ok()
            };
            let Some(below) = number("driver<") else { continue };
            let from = number("driver>=");
            let known = catalog.branches.iter().any(|branch| Some(branch.branch.major()) == from);
            if from != Some(below - 1) || !known {
                practice.broken.push(format!("image_require {}: `{clause}` is no branch", row.id));
            }
        }
    }
}
