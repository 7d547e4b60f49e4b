//! Which things go together, as plain functions of the things: how code reaches GPUs, what compiles for what.

use crate::catalog::rows::{BESIDE_TORCH, Build, Companion, Index, Reading, Subject, TRITON, Toolkit, library_major};
use crate::catalog::{Catalog, Row};
use crate::coverage::{Coverage, Tegra, covers, covers_targets};
use crate::types::constraint::Op;
use crate::types::variant::line_of;
use crate::types::{Arch, ArchEntry, ArchList, Cc, Constraint, CpuArch, Specifier, Suffix, Version, distinct};

use super::described::{Described, Refusals};
use super::facts::Facts;
use super::platform::Platform;
use super::release::Release;
use super::rowset::RowSet;
use super::rules::law;
use super::unseen;
use super::values::Archs;

/// Whether the release of a build was published without GPU code too, for the same processor.
pub fn has_cpu_build(catalog: &Catalog, build: &Build) -> bool {
    let is_it = |row: &&Build| row.version == build.version && row.arch == build.arch;
    catalog.builds.of(&build.package).iter().filter(is_it).any(|row| row.is_cpu())
}

/// The build of a package, of those that are chosen together.
pub fn build_of<'c>(builds: &[&'c Build], package: &str) -> Option<&'c Build> {
    builds.iter().copied().find(|build| *build.package == *package)
}

/// How a build reaches a GPU; none if the catalog does not know its contents.
pub fn coverage(build: &Build, toolkit: Option<&Toolkit>, gpu: Cc) -> Option<Coverage> {
    build.arch_source.as_ref()?;
    let code = |tegra| covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), gpu, tegra);
    let coverage = code(tegra(toolkit));
    (!is_disputed(toolkit) || coverage == code(Tegra::Unified)).then_some(coverage)
}

/// Whether evidence differs on how integrated GPUs load what a toolkit compiled.
fn is_disputed(toolkit: Option<&Toolkit>) -> bool {
    toolkit.is_some_and(|toolkit| toolkit.tegra_disputed.is_some())
}

/// How integrated GPUs load what a toolkit compiled.
pub fn tegra(toolkit: Option<&Toolkit>) -> Tegra {
    if toolkit.is_some_and(|toolkit| toolkit.tegra_unified) { Tegra::Unified } else { Tegra::Apart }
}

/// Whether a package was made for a variant, of `line`, of the framework that it follows: its variant, its C++ ABI, and a
/// CUDA that goes with its own.
pub fn made_for(row: &Companion, variant: &str, line: Option<&Version>) -> bool {
    row.has_abi_of(variant) && made_whatever_abi(row, variant, line)
}

/// The same beside a build of somebody's own, of which nobody tells the C++ ABI.
pub fn made_whatever_abi(row: &Companion, variant: &str, line: Option<&Version>) -> bool {
    // What lies beside torch is made for the CPU too, whatever CUDA the wheel of the package index is for.
    let is_for_cpu = line.is_none() && BESIDE_TORCH.contains(&&*row.package);
    row.variant.as_ref().is_none_or(|of| *of == variant) && (is_for_cpu || companion_line(row, line))
}

/// Whether a wheel that its project publishes itself, with a label, loads the libraries of a framework's line of CUDA: files of
/// one major have the same names. Who names its label has chosen it beside that one.
pub fn is_own_of(row: &Companion, line: Option<&Version>) -> bool {
    let is_for_all = row.url.is_some() && row.systems.is_empty();
    let own = row.variant.as_deref().filter(|_| is_for_all).and_then(line_of);
    own.zip(line).is_some_and(|(own, line)| own.major() == line.major())
}

/// Whether a release of a package may be the wheel for a variant that a constraint names: it is one, or stands for those that
/// the PyTorch index has of it for every variant, or for those on whose index its publisher says that they lie.
pub fn may_be_variant(catalog: &Catalog, row: &Companion, wanted: &Constraint) -> bool {
    match &row.variant {
        Some(variant) => wanted.names_variant(variant),
        None if unseen::is_kept_for_named(catalog, row, wanted) => true,
        None if row.offered.iter().chain(&*row.arm_offered).any(|variant| wanted.names_variant(variant)) => true,
        None => {
            // What stands in an image is beside nothing that is installed elsewhere.
            let is_beside = |build: &Build| build.systems.is_empty() || build.systems == row.systems;
            let mut builds = catalog.builds.of(&row.framework).iter().filter(|build| is_beside(build));
            catalog.listing(&row.package, Index::Pytorch, &row.version).is_some()
                && builds.any(|build| wanted.names_variant(&build.variant))
        }
    }
}

/// Whether there may be a wheel of a release for a variant of which nobody has seen one: not where the framework beside which it
/// would lie was never published for the CUDA of that variant.
pub fn may_lie_unseen(catalog: &Catalog, row: &Companion, wanted: &Constraint) -> bool {
    let lines: Vec<Version> = wanted.comparisons().filter_map(|one| line_of(one.variant.as_deref()?)).collect();
    let is_listed = catalog.listing(&row.package, Index::Pytorch, &row.version).is_some();
    if !is_listed || lines.is_empty() {
        return true;
    }
    let (Ok(needs), package) = (Constraint::parse(&row.needs), &row.framework) else { return true };
    let may_be = |version: &Version| {
        let listing = catalog.listing(package, Index::Pytorch, version);
        let is_given_up = |line: &Version| unseen::is_given_up_for(catalog, package, version, line);
        listing.is_none_or(|listing| listing.reading != Reading::Whole) && !lines.iter().all(is_given_up)
    };
    let builds = catalog.builds.of(package).iter().filter(|build| build.systems.is_empty() && !build.is_laid());
    distinct(builds.map(|build| build.version)).iter().any(|version| needs.admits(version) && may_be(version))
}

/// Whether a package and a release are made for the same systems, beside a target of which nobody has said its own.
pub fn same_systems(on: Platform<'_>, row: &Companion, release: &Release<'_>) -> bool {
    let systems = || release.on(on).map(|build| build.systems).unwrap_or_default();
    row.sdist || row.systems == systems()
}

/// How the GPU code that a package cannot do without reaches a GPU; none if it has none, nobody has read it, or it is
/// disputed.
pub fn companion_code(catalog: &Catalog, row: &Companion, arch: CpuArch, gpu: Cc) -> Option<Coverage> {
    if row.gpu_code && row.cpu_only.contains(&arch) {
        return Some(Coverage::None);
    }
    let (sass, ptx) = companion_targets(row, arch);
    if !row.gpu_code || (sass.is_empty() && ptx.is_empty()) {
        return None;
    }
    let code = |tegra| covers_targets(sass.iter().copied(), ptx.iter().copied(), gpu, tegra);
    let (apart, unified) = (code(Tegra::Apart), code(Tegra::Unified));
    if apart == unified {
        return Some(apart);
    }
    // An integrated GPU: it matters which toolkit compiled the code.
    let of_all = |as_it_is: fn(&Toolkit) -> bool| compilers(catalog, row, arch).all(as_it_is);
    if of_all(|toolkit| toolkit.tegra_unified) {
        return Some(unified);
    }
    of_all(|toolkit| !toolkit.tegra_unified && toolkit.tegra_disputed.is_none()).then_some(apart)
}

/// Where evidence differs on how a GPU loads the code of a package: the source of that.
pub fn disputed_code<'c>(catalog: &'c Catalog, row: &Companion, arch: CpuArch, gpu: Cc) -> Option<&'c str> {
    let (sass, ptx) = companion_targets(row, arch);
    let is_read = row.gpu_code && !(sass.is_empty() && ptx.is_empty());
    let is_open = is_read && companion_code(catalog, row, arch, gpu).is_none();
    compilers(catalog, row, arch).filter(|_| is_open).find_map(|toolkit| toolkit.tegra_disputed.as_deref())
}

/// The toolkits that may have compiled the wheel of a package: those of the CUDA that it names, else any.
fn compilers<'c>(catalog: &'c Catalog, row: &Companion, arch: CpuArch) -> impl Iterator<Item = &'c Toolkit> {
    let line = compiling_line(catalog, row, arch);
    let toolkits = catalog.toolkits.iter();
    toolkits.filter(move |toolkit| line.is_none_or(|line| toolkit.version.cmp_prefix(&line).is_eq()))
}

/// The CUDA that compiled the wheel of a package, as far as its variant, its code or what it loads tells.
fn compiling_line(catalog: &Catalog, row: &Companion, arch: CpuArch) -> Option<Version> {
    let of_variant = row.variant.as_deref().and_then(line_of);
    of_variant.or_else(|| compiled_by(catalog, row, arch)).or(row.cuda)
}

/// The wheel of a release that was read in place of one that nobody has read, where none that was reaches a GPU though its
/// compiler knew that: what was left out there is not expected in the other. Compilers drop old GPUs and learn new ones, so the
/// wheel for another CUDA tells nothing of those that its own did not know.
pub fn read_beside<'c>(catalog: &'c Catalog, row: &Companion, arch: CpuArch, gpu: Cc) -> Option<&'c Companion> {
    if !row.gpu_code || companion_code(catalog, row, arch, gpu).is_some() || catalog.overlaid(&row.id()).is_some() {
        return None;
    }
    let same = catalog.companions.of(&row.package).iter();
    let same = same.filter(|one| one.version == row.version && one.systems == row.systems && one.gpu_code);
    let mut read = same.filter(|one| companion_targets(one, arch) != (&[], &[])).peekable();
    let first = *read.peek()?;
    let is_left_out = |one: &Companion| {
        companion_code(catalog, one, arch, gpu) == Some(Coverage::None) && is_known_to_compiler(catalog, one, arch, gpu)
    };
    read.all(is_left_out).then_some(first)
}

/// Whether each toolkit that may have compiled a wheel knows a GPU.
fn is_known_to_compiler(catalog: &Catalog, row: &Companion, arch: CpuArch, gpu: Cc) -> bool {
    let Some(line) = compiling_line(catalog, row, arch) else { return false };
    let toolkits = catalog.toolkits.iter().filter(|toolkit| toolkit.version.cmp_prefix(&line).is_eq());
    let mut knows =
        toolkits.map(|toolkit| best_arch(gpu, &toolkit.sass, &toolkit.sass, Tegra::Apart).is_some()).peekable();
    knows.peek().is_some() && knows.all(|knows| knows)
}

/// The packages that compile kernels when they are first used: what a release requires on a processor, then itself.
pub fn compiled_when_used<'c>(
    catalog: &'c Catalog,
    row: &'c Companion,
    arch: CpuArch,
) -> impl Iterator<Item = &'c Companion> {
    let newest = |of, range| admitted(catalog, of, range).max_by_key(|one| one.version);
    let required = row.asked(arch).filter_map(move |(of, range)| newest(of, range).filter(|one| one.jit));
    required.chain(row.jit.then_some(row))
}

/// The releases of a package that a requirement admits.
pub fn admitted<'c>(catalog: &'c Catalog, package: &str, range: &str) -> impl Iterator<Item = &'c Companion> {
    let range = Specifier::parse(if range.is_empty() { "*" } else { range });
    let of_range = |range: Specifier| {
        let rows = catalog.companions.of(package).iter();
        rows.filter(move |one| range.admits(&one.version))
    };
    range.into_iter().flat_map(of_range)
}

/// Whether a package is compiled where it is installed or used, itself or what it requires; one with a finished wheel
/// beside one of the builds may not be. What reads headers alone finds those of the builds.
pub fn is_compiled(catalog: &Catalog, row: &Companion, builds: &[&Build], arch: CpuArch) -> bool {
    if row.headers_from.is_some() && builds.is_empty() {
        return true;
    }
    let is_finished = |build: &&Build| catalog.finished_beside(row, build, arch).next().is_some();
    let from_source = || row.sdist && !builds.iter().any(is_finished) && catalog.source_build(row).is_some();
    from_source() || compiled_when_used(catalog, row, arch).next().is_some()
}

/// The machine code and PTX inside the wheel of a package that follows a framework, as far as they were read.
pub fn companion_targets(row: &Companion, arch: CpuArch) -> (&[Arch], &[Arch]) {
    match arch {
        CpuArch::X86_64 => (&row.sass, &row.ptx),
        CpuArch::Aarch64 => (&row.arm_sass, &[]),
    }
}

/// The CUDA line of the runtime that a package carries inside, at the least: it was compiled by a toolkit that knows all
/// which it holds code for, of the major of the libraries that it asks pip for. None where it carries none.
pub fn carried_line(catalog: &Catalog, row: &Companion, arch: CpuArch) -> Option<Version> {
    if !row.gpu_code || !row.follows_cuda() || row.system_cuda || row.cuda.is_some() {
        return None;
    }
    let (sass, ptx) = companion_targets(row, arch);
    let major = row.asked(arch).filter_map(|(of, _)| library_major(of)).max();
    if sass.is_empty() && ptx.is_empty() && major.is_none() {
        return None;
    }
    if let Some(line) = compiled_by(catalog, row, arch) {
        return Some(line);
    }
    let knows = |toolkit: &&Toolkit| {
        sass.iter().all(|target| toolkit.sass.contains(target)) && ptx.iter().all(|target| toolkit.ptx.contains(target))
    };
    let of_major = |toolkit: &&Toolkit| major.is_none_or(|major| toolkit.version.major() >= major);
    catalog.toolkits.iter().filter(of_major).find(knows).map(|toolkit| toolkit.version.prefix(2))
}

/// The line of CUDA that compiled the kernels of a package, as their PTX tells.
pub fn compiled_by(catalog: &Catalog, row: &Companion, arch: CpuArch) -> Option<Version> {
    let isa = row.ptx_isa.filter(|_| arch == CpuArch::X86_64)?;
    catalog.toolkits.iter().find(|toolkit| toolkit.ptx_isa == isa).map(|toolkit| toolkit.version.prefix(2))
}

/// Whether a package has wheels, and none for a processor.
pub fn lacks_wheels(row: &Companion, arch: CpuArch) -> bool {
    !row.sdist && !row.is_for_arch(arch)
}

/// Whether a package that loads a CUDA runtime runs beside a build: one process holds one CUDA major.
pub fn companion_line(row: &Companion, line: Option<&Version>) -> bool {
    row.cuda.as_ref().is_none_or(|cuda| line.is_some_and(|line| line.cmp_prefix(cuda).is_eq()))
}

/// Whether a package that loads the system's CUDA finds it in one of the toolkits that are installed: the names of its files
/// tell the major.
pub fn finds_cuda(row: &Companion, installed: &[Version]) -> bool {
    let is_there = |cuda: Version| installed.iter().any(|toolkit| toolkit.major() == cuda.major());
    !row.system_cuda || row.cuda.is_none_or(is_there)
}

/// Whether a package is compiled against one release of torch: releases of it name the only one that they go with. Others
/// follow CUDA alone, or take any torch from some release on.
pub fn is_tied_to_releases(catalog: &Catalog, package: &str) -> bool {
    let rows = catalog.companions.of(package).iter().filter(|row| !row.follows_cuda() && !row.sdist);
    let names_one = |row: &Companion| {
        Constraint::parse(&row.needs)
            .is_ok_and(|needs| needs.comparisons().any(|one| one.op == Op::Prefix && one.version.is_some()))
    };
    rows.into_iter().any(names_one)
}

/// The toolkits that cannot compile for a machine, whatever else is chosen.
pub fn refused_toolkits<'c>(facts: &Facts<'c>, machine: &Described<'c>, list: Option<&ArchList>) -> Refusals {
    let toolkits = facts.toolkits();
    let rows = |refused: &dyn Fn(&Toolkit) -> bool| RowSet::filter(toolkits.len(), |row| refused(toolkits[row]));
    let asked = &machine.reading;
    let mut refusals = Refusals::default();
    if let Some(installed) = &asked.toolkits {
        refusals.always = rows(&|toolkit| installed.iter().all(|has| toolkit.version.cmp_prefix(has).is_ne()));
    }
    if let Some(gcc) = asked.gcc {
        let too_new = |toolkit: &Toolkit| toolkit.gcc_max.is_some_and(|most| gcc.major() > most.major());
        refusals.add(law::id::NVCC_GCC, rows(&too_new));
    }
    if let Some(clang) = asked.clang {
        let too_new = |toolkit: &Toolkit| toolkit.clang_max.is_some_and(|most| clang.major() > most.major());
        refusals.add(law::id::NVCC_CLANG, rows(&too_new));
    }
    // nvcc and what it links are made for glibc.
    if asked.os.is_some_and(|os| os.musl) {
        refusals.add(law::id::GLIBC, RowSet::first(toolkits.len()));
    }
    for rule in machine.host.iter().filter(|rule| rule.row.subject == Subject::Toolkit) {
        refusals.add(rule.id, rows(&|toolkit| rule.range.admits(&toolkit.version)));
    }
    match list {
        Some(list) => {
            let unknown = |toolkit: &Toolkit| !list.entries().iter().all(|entry| compiles_entry(toolkit, entry));
            refusals.add(law::id::NVCC_ARCH, rows(&unknown));
            let reached = |toolkit: &Toolkit, gpu: Cc| covers(list, gpu, tegra(Some(toolkit))) != Coverage::None;
            let missed = |toolkit: &Toolkit| !machine.kinds.iter().all(|kind| reached(toolkit, kind.gpu.cc));
            refusals.add(law::id::ARCH_LIST, rows(&missed));
        }
        None => {
            let compiles = |toolkit: &Toolkit, gpu: Cc| {
                best_arch(gpu, &toolkit.sass, &toolkit.sass, tegra(Some(toolkit))).is_some()
            };
            let missed = |toolkit: &Toolkit| !machine.kinds.iter().all(|kind| compiles(toolkit, kind.gpu.cc));
            refusals.add(law::id::NVCC_ARCH, rows(&missed));
        }
    }
    // What a list reaches by PTX runs: a warning tells of the libraries beside it.
    for kind in &machine.kinds {
        let by_ptx = |toolkit: &Toolkit| {
            list.is_some_and(|list| covers(list, kind.gpu.cc, tegra(Some(toolkit))) == Coverage::Jit)
        };
        for rule in &kind.cuda {
            let refused = |toolkit: &Toolkit| !rule.needs.admits(&toolkit.version.prefix(2)) && !by_ptx(toolkit);
            refusals.add(rule.id, rows(&refused));
        }
    }
    refusals
}

fn compiles_entry(toolkit: &Toolkit, entry: &ArchEntry) -> bool {
    toolkit.sass.contains(&entry.arch) && (!entry.ptx || toolkit.ptx.contains(&entry.arch))
}

/// The toolkits with which torch does not build extensions of a release.
pub fn refused_extensions<'c>(
    facts: &Facts<'c>,
    machine: &Described<'c>,
    release: &Release<'c>,
    line: &Version,
    archs: Archs,
) -> Refusals {
    let toolkits = facts.toolkits();
    let rows = |refused: &dyn Fn(&Toolkit) -> bool| RowSet::filter(toolkits.len(), |row| refused(toolkits[row]));
    let mut refusals = Refusals::default();
    // Old builders do not look, and what they build does not run.
    refusals.add(law::id::EXTENSION_MAJOR, rows(&|toolkit| toolkit.version.major() != line.major()));
    if let Some(known) = release.extension_archs(machine.reading.platform).filter(|_| archs == Archs::Free) {
        let reaches =
            |toolkit: &Toolkit, gpu: Cc| best_arch(gpu, &toolkit.sass, &known, tegra(Some(toolkit))).is_some();
        let missed = |toolkit: &Toolkit| !machine.kinds.iter().all(|kind| reaches(toolkit, kind.gpu.cc));
        refusals.add(law::id::EXTENSION_ARCH, rows(&missed));
    }
    refusals
}

/// The architecture to compile for a GPU: its own, else the highest whose code it loads, among those that both
/// lists hold. Never one with a suffix: that is asked for, not assumed.
pub fn best_arch(gpu: crate::types::Cc, toolkit: &[Arch], builder: &[Arch], tegra: Tegra) -> Option<Arch> {
    let runs = |arch: &Arch| arch.suffix == Suffix::None && crate::coverage::sass_runs(*arch, gpu, tegra);
    toolkit.iter().copied().filter(|arch| runs(arch) && builder.contains(arch)).max()
}

/// The triton that a build asks for: on the Pythons that its metadata names, else on those that triton has wheels for.
pub fn triton_of<'c>(catalog: &'c Catalog, builds: &[&'c Build], python: Option<&Version>) -> Option<&'c Version> {
    builds.iter().find(|build| build.triton.is_some()).and_then(|build| triton_by_python(catalog, build)(python))
}

/// The same of one build, to be asked for many Pythons.
pub fn triton_by_python<'c>(catalog: &Catalog, build: &'c Build) -> impl Fn(Option<&Version>) -> Option<&'c Version> {
    let of_wheels = |version: &Version| {
        let row = catalog.companions.of(TRITON).iter().find(|row| row.version == *version);
        row.and_then(|row| row.python.as_deref())
    };
    let version = build.triton.as_ref();
    let accepted = version.and_then(|version| build.triton_python.as_deref().or_else(|| of_wheels(version)));
    let accepted = accepted.and_then(|text| Constraint::parse(text).ok());
    let is_there = move |line: &Version| accepted.as_ref().is_none_or(|accepted| accepted.admits(line));
    move |python| version.filter(|_| python.is_none_or(&is_there))
}

#[cfg(test)]
mod tests;
