//! Builds, what follows them, what extension builders take, Pythons.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::super::wheels::{Digests, FileName};
use super::{Say, constraint};
use crate::types::{Arch, Constraint, CpuArch, Specifier, Version, address};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    builds(catalog, say);
    architectures(catalog, say);
    requirements(catalog, say);
    libraries(catalog, say);
    defaults(catalog, say);
    companions(catalog, say);
    contents(catalog, say);
    published(catalog, say);
    finished_wheels(catalog, say);
    source_builds(catalog, say);
    extensions(catalog, say);
}

fn builds(catalog: &Catalog, say: Say<'_>) {
    let newest_glibc = catalog.oses.iter().filter_map(|row| row.glibc.as_ref()).max();
    let pythons: HashSet<&Version> = catalog.pythons.iter().map(|row| &row.version).collect();
    for row in catalog.builds.iter().filter(|row| !row.is_in_image()) {
        let name = Named(row);
        if !FRAMEWORKS.contains(&&*row.package) {
            let says = format!("a build is of {}; other packages are a `companion`", FRAMEWORKS.join(", "));
            say("framework", "build", &name, says);
        }
        if row.index.is_empty() && row.index_url.is_none() && row.url.is_none() {
            say("unchoosable", "build", &name, "it can be installed from nowhere: index, index_url or url".into());
        }
        let address = (row.index_url.as_deref(), row.wheel.as_deref());
        addresses("build", &name, address, row.index_url.is_some() || row.url.is_some(), say);
        if let Some(url) = &row.url {
            let indexed = !row.index.is_empty() || row.index_url.is_some();
            only_wheel("build", &name, (&row.package, url), (&row.pythons, row.arch), indexed, say);
        }
        systems("build", catalog, &name, &row.systems, say);
        if !row.pythons.iter().any(|python| pythons.contains(python)) {
            say("unchoosable", "build", &name, "it has a wheel for no Python of the catalog".into());
        }
        if !row.is_cpu() && row.line().is_none() {
            say("variant", "build", &name, "a variant is `cpu`, or `cu` and the CUDA line".into());
        }
        if row.glibc.as_ref().is_some_and(|glibc| newest_glibc.is_some_and(|newest| glibc > newest)) {
            say("unchoosable", "build", &name, "it needs a glibc that no system of the catalog has".into());
        }
        let code = !row.sass.is_empty() || !row.ptx.is_empty();
        if code && row.arch_source.is_none() {
            say("belongs-together", "build", &name, "sass and ptx need an arch_source".into());
        }
        if !code && row.arch_source.is_some() && !row.is_cpu() {
            say("belongs-together", "build", &name, "arch_source without sass or ptx".into());
        }
        let pins = [&row.toolkit, &row.cudnn, &row.nccl, &row.triton].iter().any(|pin| pin.is_some());
        if pins != row.pins_source.is_some() {
            let says = "pins (toolkit, cudnn, nccl, triton) and pins_source belong together";
            say("belongs-together", "build", &name, says.into());
        }
        let cuda = code || row.toolkit.is_some() || row.cudnn.is_some() || row.nccl.is_some();
        if row.is_cpu() && cuda {
            say("cpu-build", "build", &name, "a CPU build holds nothing of CUDA".into());
        }
    }
}

/// What companions hold of their own.
fn contents(catalog: &Catalog, say: Say<'_>) {
    let known: HashSet<&Arch> = catalog.toolkits.iter().flat_map(|row| row.sass.iter().chain(row.ptx.iter())).collect();
    for row in catalog.companions.iter() {
        let name = Named(row);
        let held = row.sass.iter().chain(row.ptx.iter()).chain(row.arm_sass.iter());
        for arch in held.filter(|arch| !known.contains(arch)) {
            say("architecture", "companion", &name, format!("no toolkit compiles for {arch}"));
        }
        let holds_none = row.sass.is_empty() && row.ptx.is_empty() && row.arm_sass.is_empty();
        let says_nothing = holds_none && row.cuda.is_none() && row.cpu_only.is_empty();
        if row.arch_source.is_some() == says_nothing {
            let says = "arch_source stands beside cuda, sass, ptx or cpu_only, and not without";
            say("belongs-together", "companion", &name, says.into());
        }
        // A wheel of what runs on a GPU without code of its own is told of too, beside that for another processor.
        let has_wheel = |arch: &CpuArch| row.arches.contains(arch) || (row.arches.is_empty() && !row.gpu_code);
        if !row.cpu_only.iter().all(has_wheel) {
            let says = "cpu_only names processors of `arches`";
            say("belongs-together", "companion", &name, says.into());
        }
        if row.arm_glibc.is_some() && (row.glibc.is_none() || row.arm_glibc == row.glibc) {
            say(
                "belongs-together",
                "companion",
                &name,
                "arm_glibc is another glibc than that of its other wheel".into(),
            );
        }
        let told = [(&row.offered, &row.offered_source), (&row.arm_offered, &row.arm_offered_source)];
        if told.iter().any(|(of, source)| of.is_empty() == source.is_some() || !of.is_empty() && row.variant.is_some())
        {
            let says = "offered and arm_offered stand beside their sources, in the row without a variant";
            say("belongs-together", "companion", &name, says.into());
        }
        if row.abi_variants.is_empty() == row.abi_source.is_some()
            || !row.abi_variants.is_empty() && row.variant.is_some()
        {
            let says = "abi_variants stands beside its source, in the row without a variant";
            say("belongs-together", "companion", &name, says.into());
        }
        if !row.arm_sass.is_empty() && !row.arches.contains(&CpuArch::Aarch64) {
            let says = "arm_sass is what a wheel for aarch64 holds, and `arches` names none";
            say("belongs-together", "companion", &name, says.into());
        }
    }
}

/// What a package asks for of others is a range of one that there is.
fn requirements(catalog: &Catalog, say: Say<'_>) {
    let packages: HashSet<&str> =
        catalog.companions.iter().map(|row| &*row.package).chain(FRAMEWORKS.iter().copied()).collect();
    for row in catalog.companions.iter() {
        for (package, range, only) in row.requirements() {
            let known = packages.contains(package) && *package != *row.package && *package != *row.framework;
            let processor = only.is_none_or(|only| only == EXTRA || CpuArch::parse(only).is_ok());
            let ranged = range.is_empty() || Specifier::parse(range).is_ok();
            if !(known || library_major(package).is_some()) || !processor || !ranged {
                let says = "is no other package of the catalog with a range that pip reads: `torchvision==0.29.0`";
                say("requires", "companion", &Named(row), format!("`{package}{range}` {says}"));
            }
        }
    }
}

/// What releases pin, and the digests of wheels.
fn published(catalog: &Catalog, say: Say<'_>) {
    let is_asked = |(package, range): (&str, &str)| {
        address::is_package(package) && (range.is_empty() || Constraint::parse(range).is_ok())
    };
    for row in catalog.libraries.iter().filter(|row| !row.asked().all(is_asked)) {
        let says =
            "pins are written `package==version`, with a range (`package<2,>=1`) or bare, with one blank between";
        say("pins", "libraries", &Named(row), says.into());
    }
    for row in catalog.wheels.iter() {
        if let Some(refusal) = Digests::refusal(row) {
            say("wheel-file", "wheel", &Named(row), refusal.into());
        }
    }
}

/// `elsewhere`: it lies on another index than the Python package index.
fn addresses(
    kind: &str,
    name: &dyn std::fmt::Display,
    (url, wheel): (Option<&str>, Option<&str>),
    elsewhere: bool,
    say: Say<'_>,
) {
    if let Some(url) = url.filter(|url| !address::is_index(url)) {
        let says = format!("`{url}` is not the address of a wheel index: https://, no credentials, no blanks");
        say("index-address", kind, name, says);
    }
    if let Some(wheel) = wheel.filter(|wheel| !address::is_wheel_version(wheel)) {
        say("wheel-version", kind, name, format!("`{wheel}` is not a version that a requirement can pin"));
    }
    if wheel.is_some() && !elsewhere {
        say("belongs-together", kind, name, "`wheel` needs the index_url that carries it".into());
    }
}

/// The address of a single wheel: its file is of the package, the Python and the platform of the row.
fn only_wheel(
    kind: &str,
    name: &dyn std::fmt::Display,
    (package, url): (&str, &str),
    (pythons, arch): (&[Version], CpuArch),
    indexed: bool,
    say: Say<'_>,
) {
    let Some((at, _)) = address::wheel(url) else {
        let says =
            format!("`{url}` is not the address of a wheel: https://, ending in .whl, perhaps with #sha256= behind it");
        return say("wheel-address", kind, name, says);
    };
    let file = at.rsplit('/').next().and_then(FileName::parse);
    let tag = |python: &Version| format!("cp{}{}", python.major(), python.minor());
    let is_it = |file: FileName<'_>| {
        file.package == package
            && file.platform == arch.as_str()
            && pythons.iter().map(tag).eq([file.python.to_string()])
    };
    if indexed || !file.is_some_and(is_it) {
        let says = format!("`{at}` is not the only wheel of this package, Python and platform, or an index has it");
        say("wheel-address", kind, name, says);
    }
}

/// The systems that a row is for take what is made for them, and nothing else.
fn systems(kind: &str, catalog: &Catalog, name: &dyn std::fmt::Display, systems: &[Text], say: Say<'_>) {
    let takes = |system: &Text| catalog.oses.iter().any(|os| os.id == *system && os.own_packages);
    if let Some(system) = systems.iter().find(|system| !takes(system)) {
        let says = format!("no system `{system}` with `own_packages` is known, so nothing would choose it");
        say("unchoosable", kind, name, says);
    }
    if systems.windows(2).any(|pair| pair[0] >= pair[1]) {
        say("list-order", kind, name, "systems are written once each, in order".into());
    }
}

/// The toolkits a build may have been compiled with: the one it pins, else those of its line.
fn compilers<'c>(catalog: &'c Catalog, row: &Build) -> Vec<&'c Toolkit> {
    let line = row.toolkit.or_else(|| row.line());
    let of_line = |kit: &&Toolkit| line.as_ref().is_some_and(|line| kit.version.cmp_prefix(line).is_eq());
    catalog.toolkits.iter().filter(of_line).collect()
}

/// Code in a wheel was written by a compiler that knows the architecture, and reaches some GPU.
fn architectures(catalog: &Catalog, say: Say<'_>) {
    let mut known: HashMap<(&str, Option<&Version>), Vec<&Toolkit>> = HashMap::new();
    for row in catalog.builds.iter() {
        let name = Named(row);
        let key = (&*row.variant, row.toolkit.as_ref());
        let kits = known.entry(key).or_insert_with(|| compilers(catalog, row));
        if kits.is_empty() && !row.is_cpu() {
            say("unknown-toolkit", "build", &name, "no toolkit is of its release or line".into());
            continue;
        }
        let lacks = |archs: &[Arch], of: fn(&Toolkit) -> &[Arch]| -> Vec<Arch> {
            archs.iter().filter(|arch| kits.iter().all(|kit| !of(kit).contains(arch))).copied().collect()
        };
        for arch in lacks(&row.sass, |kit| &kit.sass).into_iter().chain(lacks(&row.ptx, |kit| &kit.ptx)) {
            let says = format!("no toolkit of its line ({}) compiles for {arch}", row.variant);
            say("build-archs", "build", &name, says);
        }
        for list in [&row.sass, &row.ptx] {
            if list.windows(2).any(|pair| pair[0] >= pair[1]) {
                say("list-order", "build", &name, "architectures are written once each, in order".into());
            }
        }
        if let (Some(line), Some(toolkit)) = (row.line(), &row.toolkit)
            && toolkit.cmp_prefix(&line).is_ne()
        {
            say("build-toolkit", "build", &name, format!("toolkit {toolkit} is not of line {line}"));
        }
    }
}

/// Every cuDNN and NCCL that a build names has a row for that CUDA. TensorFlow, JAX and what takes the system's name the
/// beginning of a version only.
fn libraries(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.builds.iter() {
        let Some(line) = row.line() else { continue };
        let exact = row.package == FRAMEWORKS[0] && !row.system_cuda;
        let is_it = |known: &Version, wanted: &Version| match exact {
            true => known == wanted,
            false => known.cmp_prefix(wanted).is_eq() || known >= wanted,
        };
        let same_major = |cuda: &Version| cuda.major() == line.major();
        let fits = |cuda: &Version| line.cmp_prefix(cuda).is_eq() || (!exact && same_major(cuda));
        if let Some(wanted) = &row.cudnn
            && !catalog.cudnns.iter().any(|known| is_it(&known.version, wanted) && fits(&known.cuda))
        {
            say("unknown-cudnn", "build", &Named(row), format!("cuDNN {wanted} for CUDA {line} does not exist"));
        }
        if let Some(wanted) = &row.nccl
            && !catalog.nccls.iter().any(|known| is_it(&known.version, wanted) && same_major(&known.cuda))
        {
            say("unknown-nccl", "build", &Named(row), format!("NCCL {wanted} for CUDA {line} does not exist"));
        }
    }
}

/// The index has one default for each platform.
fn defaults(catalog: &Catalog, say: Say<'_>) {
    let mut seen: HashMap<(&str, &Version, _), &Build> = HashMap::new();
    for row in catalog.builds.iter().filter(|row| row.default) {
        if let Some(other) = seen.insert((&row.package, &row.version, row.arch), row) {
            let says = format!("{} is the default of this release and platform too", other.variant);
            say("two-defaults", "build", &Named(row), says);
        }
    }
}

fn companions(catalog: &Catalog, say: Say<'_>) {
    let mut versions: HashMap<&str, HashSet<&Version>> = HashMap::new();
    for build in catalog.builds.iter() {
        versions.entry(&build.package).or_default().insert(&build.version);
    }
    for row in catalog.companions.iter() {
        let name = Named(row);
        let of_row = &mut |lint: &'static str, says: String| say(lint, "companion", &name, says);
        named(row, of_row);
        brought(row, catalog, of_row);
        kept_together(row, of_row);
        let address = (row.index_url.as_deref(), row.wheel.as_deref());
        let elsewhere = row.index_url.is_some() || row.url.is_some() || row.variant.is_some();
        addresses("companion", &name, address, elsewhere, say);
        systems("companion", catalog, &name, &row.systems, say);
        let needs = constraint("companion", &name, &row.needs, say);
        let python = row.python.as_ref().and_then(|text| constraint("companion", &name, text, say));
        let of_row = &mut |lint: &'static str, says: String| say(lint, "companion", &name, says);
        if let Some(needs) = needs {
            choosable(row, &needs, versions.get(&*row.framework), of_row);
        }
        for_pythons(row, python.as_ref(), catalog, of_row);
    }
}

/// Says what is wrong with a row.
type Of<'a> = &'a mut dyn FnMut(&'static str, String);

/// A companion has a name of its own and follows something.
fn named(row: &Companion, say: Of<'_>) {
    let spelled = row.package.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !spelled || row.package.contains("--") || !address::is_package(&row.package) {
        say("package-name", "a package is named in lower case, with one `-` between words".into());
    }
    if FRAMEWORKS.contains(&&*row.package) {
        say("framework", "a framework follows none: it is a `build`".into());
    }
    // What links its runtime in runs beside any CUDA, what asks for another package follows the CUDA of that one, and what
    // loads the libraries of the system takes those that are there.
    let of_any = row.cuda.is_none() && !row.gpu_code && row.requires.is_empty() && !row.system_cuda;
    if row.follows_cuda() && (of_any || row.needs != "*") {
        say("framework", "what follows a CUDA major says which, in `cuda`, and needs `*`".into());
    } else if !row.follows_cuda() && !FRAMEWORKS.contains(&&*row.framework) {
        say("framework", format!("`{}` is not a framework: {}", row.framework, FRAMEWORKS.join(", ")));
    }
}

/// What it brings, and the variant that it is for, are in the catalog.
fn brought(row: &Companion, catalog: &Catalog, say: Of<'_>) {
    let is_known = |pin: &str| {
        let (package, asked) = pin.split_at(pin.find(['=', '<', '>', '!', '~']).unwrap_or(pin.len()));
        !asked.is_empty()
            && Constraint::parse(asked).is_ok()
            && catalog.companions.of(package).iter().any(|one| one.framework == row.framework)
    };
    if let Some(pin) = row.brings.iter().find(|pin| row.variant.is_none() || !is_known(pin)) {
        let says = "`brings` tells of a wheel for a variant which other companions it asks for, `torchvision==0.26.0`";
        say("belongs-together", format!("`{pin}`: {says}"));
    }
    if let Some(variant) = &row.variant
        && !catalog.builds.of(&row.framework).iter().any(|build| build.variant == *variant)
    {
        say("variant", format!("no {} is `{variant}`", row.framework));
    }
}

/// Fields that stand together or not at all.
fn kept_together(row: &Companion, say: Of<'_>) {
    let mut refuse = |is_wrong: bool, says: &str| {
        if is_wrong {
            say("belongs-together", says.into());
        }
    };
    refuse(
        row.url.is_some() && (row.index_url.is_some() || row.sdist || row.arches.is_empty()),
        "`url` stands beside `arches`, and beside no index_url and no sdist",
    );
    refuse(
        row.sdist && (row.gpu_code || row.variant.is_some()),
        "what is published as source holds no GPU code and is made for no variant",
    );
}

/// Some release of its framework is in what it needs.
fn choosable(row: &Companion, needs: &Constraint, known: Option<&HashSet<&Version>>, say: Of<'_>) {
    if needs.comparisons().any(|one| one.variant.is_some()) {
        say("companion-variant", format!("`{}` names a variant, which a companion cannot ask for", row.needs));
    }
    let admits_one = known.is_some_and(|all| all.iter().any(|version| needs.admits(version)));
    if !row.follows_cuda() && !admits_one {
        say("unchoosable", format!("no {} is in `{}`", row.framework, row.needs));
    }
}

/// It accepts some Python, and its own file is named for each of them.
fn for_pythons(row: &Companion, python: Option<&Constraint>, catalog: &Catalog, say: Of<'_>) {
    let admits = |line: &Version| python.is_none_or(|python| python.cut_to(line.len()).admits(line));
    let lines = || catalog.pythons.iter().map(|row| &row.version).filter(|line| admits(line));
    if lines().next().is_none() {
        say("unchoosable", "it accepts no Python of the catalog".into());
    }
    if let Some(url) = &row.url
        && !row.arches.iter().all(|&arch| lines().all(|line| is_own_file(row, arch, line)))
    {
        let says = "no https:// address of the wheel of this release, variant, `{arch}` and `{python}`";
        say("wheel-address", format!("`{url}` is {says}"));
    }
}

/// Whether the wheel that lies on no index is named for this release, variant, processor and Python.
fn is_own_file(row: &Companion, arch: CpuArch, line: &Version) -> bool {
    let file = row.file(arch, Some(line)).unwrap_or_default();
    let Some(name) = named_for(&file, &row.package, arch) else { return false };
    let version = name.label.map_or_else(|| name.version.to_string(), |label| format!("{}+{label}", name.version));
    version == row.carried() && [python_tag(line).as_str(), "abi3", "py3"].contains(&name.python)
}

/// What the file of a wheel at an address is named, if that is for this package and processor.
fn named_for<'f>(file: &'f str, package: &str, arch: CpuArch) -> Option<FileName<'f>> {
    let (at, _) = address::wheel(file)?;
    let name = FileName::parse(at.rsplit('/').next()?)?;
    (name.package == package && name.platform == arch.as_str()).then_some(name)
}

/// A line of Python as file names spell it, `cp312`.
fn python_tag(line: &Version) -> String {
    ["cp", &line.as_str().replace('.', "")].concat()
}

/// A finished wheel is one of a release that comes as source, for Pythons of the catalog, and named for what it is.
fn finished_wheels(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.finished_wheels.iter() {
        let name = Named(row);
        let is_it = |one: &&Companion| one.version == row.version && one.sdist;
        let Some(of) = catalog.companions.of(&row.package).iter().find(is_it) else {
            say("unchoosable", "finished_wheel", &name, "no companion of this release comes as source".into());
            continue;
        };
        let is_beside = |build: &Build| {
            build.package == of.framework
                && build.version.prefix(2) == row.beside
                && build.line().is_some_and(|line| line.major() == row.cuda.major())
        };
        let builds: Vec<&Build> = catalog.builds.of(&of.framework).iter().filter(|build| is_beside(build)).collect();
        let is_known = |variant: &Text| builds.iter().any(|build| build.variant == *variant);
        if builds.is_empty() || !row.variants.iter().all(is_known) {
            say("variant", "finished_wheel", &name, format!("no {} is what it was compiled beside", of.framework));
        }
        let python = Constraint::parse(&row.python);
        let lines = catalog.pythons.iter().map(|one| &one.version);
        let lines: Vec<&Version> = lines.filter(|line| python.as_ref().is_ok_and(|seen| seen.admits(line))).collect();
        let is_own = |line: &&Version| {
            named_for(&row.file(line), &row.package, row.arch)
                .is_some_and(|name| name.version == row.version.as_str() && name.python == python_tag(line))
        };
        if lines.is_empty() || !lines.iter().all(is_own) {
            let says = format!("`{}` is not an https:// address of its wheel for each `{{python}}`", row.url);
            say("wheel-address", "finished_wheel", &name, says);
        }
        if row.sass.is_empty() {
            say("belongs-together", "finished_wheel", &name, "it holds machine code for some GPU".into());
        }
    }
}

/// What is compiled is a companion that comes as source, with packages as tools and for architectures that exist.
fn source_builds(catalog: &Catalog, say: Say<'_>) {
    let known: HashSet<u32> =
        catalog.toolkits.iter().flat_map(|row| row.sass.iter().map(|arch| arch.cc.number())).collect();
    for row in catalog.source_builds.iter() {
        let name = Named(row);
        if row.unread.as_ref().is_some_and(|address| !address.starts_with("https://")) {
            say("wheel-address", "source_build", &name, "`unread` is not an https address".into());
        }
        let is_it = |one: &Companion| one.version == row.from && one.sdist;
        if !catalog.companions.of(&row.package).iter().any(is_it) {
            say("unchoosable", "source_build", &name, "no companion of this release comes as source".into());
        }
        if let Some(bad) = row.tools.iter().find(|package| !address::is_package(package)) {
            say("package-name", "source_build", &name, format!("`{bad}` is not the name of a package"));
        }
        if let Some(bad) = row.requires.iter().find(|one| row.requirement(one, &row.from, "1").is_none()) {
            say("package-name", "source_build", &name, format!("`{bad}` is not a requirement"));
        }
        let in_order = |list: &[Text]| list.windows(2).all(|pair| pair[0] < pair[1]);
        if row.tools.is_empty() || !in_order(&row.tools) || !in_order(&row.requires) {
            let says = "tools and requirements are written once each, in order, and one tool at least";
            say("list-order", "source_build", &name, says.into());
        }
        let mut switches = row.switch.iter().chain(&row.force);
        if switches.any(|switch| address::switch(switch).is_none()) {
            let says =
                "`switch` is a variable and a number, `FORCE_CUDA=1`, `force` one and TRUE, `X_FORCE_BUILD=TRUE`";
            say("architecture", "source_build", &name, says.into());
        }
        let archs = row.archs.as_deref().map(|archs| address::arch_variable(archs).map(|read| read.1));
        if archs.is_some_and(|read| !read.is_some_and(|taken| taken.iter().all(|one| known.contains(one)))) {
            let says = "`archs` is a variable and architectures that a toolkit knows, `NAME_ARCHS=80;90`";
            say("architecture", "source_build", &name, says.into());
        }
    }
}

fn extensions(catalog: &Catalog, say: Say<'_>) {
    let known: HashSet<&Arch> = catalog.toolkits.iter().flat_map(|row| row.sass.iter().chain(row.ptx.iter())).collect();
    for row in catalog.extensions.iter() {
        if !catalog.builds.of(&row.package).iter().any(|build| build.version == row.from) {
            say("unchoosable", "extension", &Named(row), format!("no {} {} exists", row.package, row.from));
        }
        for arch in row.archs.iter().filter(|arch| !known.contains(arch)) {
            say("build-archs", "extension", &Named(row), format!("no toolkit compiles for {arch}"));
        }
    }
}
