//! What the catalog adds to a message: the driver for a release, the toolkit for an architecture, the builds for a GPU.
//!
//! Each is a placeholder of the catalog's sentences; what is not known fills nothing, and its sentence is left out.

use super::decode::own_wheel;
use super::nearest_build::{self, holds_code, is_stable, torch_builds, torch_cuda, variant_of};
use super::system::{has_windows_driver, is_of_windows, is_of_wsl};
use super::template::{Filling, placeholders};
use super::value::{Extract, Value, text};
use crate::catalog::rows::{Build, Class, Gpu, Os, Ptxas, Subject, Toolkit};
use crate::catalog::{Catalog, GpuMatch};
use crate::coverage::Coverage;
use crate::solve::fits::coverage;
use crate::solve::problem::Problem;
use crate::solve::rules::Rules;
use crate::types::{Arch, Cc, CpuArch, Version, name, variant};

/// How a placeholder is looked up in the catalog.
type Lookup = fn(&Facts<'_>) -> Option<String>;

/// The placeholders that catalog facts fill, beside the keys of what was read out.
const DERIVED: &[(&str, Lookup)] = &[
    ("branch_found", |facts| branch_with(&facts.cuda_found()?, facts.catalog)),
    ("torch_for_driver", |facts| torch_for_driver(&facts.cuda_found()?, &facts.capabilities(), facts.catalog)),
    ("compat_boards", |facts| facts.compat_boards()),
    ("cuda_of_driver", |facts| Some(cuda_of_driver(facts.version("driver")?, facts.catalog)?.to_string())),
    ("driver_for_needed", |facts| facts.driver_for("cuda_needed")),
    // Of a torch and the one that something was made for.
    ("other_torch", |facts| facts.torch_beside(|torch, needed| torch != needed && !torch.ends_with("+cpu"))),
    ("same_torch", |facts| facts.torch_beside(|torch, needed| torch == needed)),
    ("cpu_torch", |facts| facts.torch_beside(|torch, needed| torch != needed && torch.ends_with("+cpu"))),
    ("driver_for_torch", |facts| facts.driver_for("cuda_torch")),
    ("driver_behind", |facts| facts.driver_behind()),
    ("torch_line", |facts| nearest_build::exact(&facts.version("cuda_found")?, facts.python().as_ref(), facts.catalog)),
    ("torch_near_line", |facts| {
        nearest_build::near(&facts.version("cuda_found")?, facts.python().as_ref(), facts.catalog)
    }),
    // What was loaded is newer than what a program was built with, and was refused all the same.
    ("cudnn_line", |facts| {
        let (found, needed) = (facts.version("cudnn_found")?, facts.version("cudnn_needed")?);
        (found.major() == needed.major() && found > needed).then(|| needed.prefix(2).to_string())
    }),
    ("torch_cuda", |facts| torch_cuda(&facts.version("torch")?, facts.catalog)),
    ("toolkit_first", |facts| first_toolkit(facts.arch()?, facts.catalog)),
    ("toolkit_last", |facts| last_toolkit(facts.arch()?, facts.catalog)),
    // An architecture that only a newer toolkit can be short of, and any other.
    ("dropped_arch", |facts| facts.is_dropped().then(|| text(facts.extract, "arch").map(str::to_string))?),
    ("kept_arch", |facts| {
        let arch = || text(facts.extract, "arch").filter(|text| text.contains('_')).unwrap_or("the architecture");
        (!facts.is_dropped()).then(|| arch().to_string())
    }),
    ("triton_for_arch", |facts| triton_for(facts.arch()?, facts.catalog)),
    ("toolkit_for_gcc", |facts| toolkit_beyond(&facts.version("gcc_max")?, facts.catalog)),
    ("toolkit_for_cc", |facts| first_toolkit(facts.arch_of_cc()?, facts.catalog)),
    ("toolkit_last_for_cc", |facts| last_toolkit(facts.arch_of_cc()?, facts.catalog)),
    ("os_for_glibc", |facts| os_for(&facts.version("glibc_needed")?, facts.catalog)),
    ("gpu_cc", |facts| Some(facts.cc_of_name()?.to_string())),
    ("last_branch", |facts| Some(facts.gpus().first()?.last_branch.as_ref()?.to_string())),
    ("torch_first", |facts| facts.first_torch_with_code()),
    ("torch_newest", |facts| Some(facts.newest_torch_with_code()?.to_string())),
    ("torch_here", |facts| facts.same_torch_with_code()),
    ("torch_all_the_same", |facts| facts.torch_serves().then(String::new)),
    ("torch_lacking", |facts| (!facts.torch_serves()).then(String::new)),
    ("torch_variants", |facts| facts.variants_with_code()),
    ("for_python", |facts| Some(facts.python().map(|python| format!(" for Python {python}")).unwrap_or_default())),
    ("extension", |facts| extension(facts.known_package()?, facts.catalog)),
    ("extension_release", |facts| {
        let name = extension(facts.known_package()?, facts.catalog)?;
        Some(text(facts.extract, "version").map_or(name.clone(), |version| format!("{name}=={version}")))
    }),
    // Before a command that compiles: what keeps the package's own setup from taking a finished wheel instead.
    ("by_force", |facts| Some(facts.known_package().and_then(|name| forced(name, facts.catalog)).unwrap_or_default())),
    // A package with wheels, whose source the index does not have as something to build.
    ("paired", |facts| {
        Some(facts.known_package()?.to_string()).filter(|name| extension(name, facts.catalog).is_none())
    }),
    // Empty: they only decide whether a sentence is said.
    ("windows", |facts| is_of_windows(facts.extract).then(String::new)),
    ("elsewhere", |facts| (!is_of_windows(facts.extract)).then(String::new)),
    ("kernel_newer", |facts| (facts.version("driver")? > facts.version("nvml_library")?).then(String::new)),
    ("linux_first", |facts| {
        let package = text(facts.extract, "package")?;
        (package == "triton" || package.starts_with("nvidia-")).then(String::new)
    }),
    ("wsl", |facts| is_of_wsl(facts.extract).then(String::new)),
    ("numba", |facts| text(facts.extract, "package").filter(|name| *name == "numba").map(|_| String::new())),
    ("unknown_arch", |facts| facts.unknown_arch()),
    ("asker", |facts| {
        let (package, version) = (text(facts.extract, "package")?, text(facts.extract, "version"));
        Some(version.map_or(package.to_string(), |version| format!("{package} {version}")))
    }),
    ("release_asked", |facts| {
        let package = text(facts.extract, "package")?;
        let version = text(facts.extract, "version");
        Some(version.map_or(format!("such a release of {package}"), |version| format!("{package} {version}")))
    }),
    ("listed", |facts| facts.extract.contains_key("versions_offered").then(String::new)),
    ("bare_libcuda", |facts| {
        facts.extract.get("missing").filter(|all| all.to_string() == "libcuda.so").map(|_| String::new())
    }),
    ("unnumbered", |facts| {
        let all = facts.extract.get("missing").map(ToString::to_string)?;
        all.ends_with(".so").then_some(all)
    }),
    ("index_variant", |facts| Some(facts.index_variant())),
    ("index_plain", |facts| facts.index_asked_plainly()),
    ("index_told", |facts| facts.indexes().is_some_and(|all| facts.is_of_variant(all)).then(String::new)),
    // No index that could have it was asked; one of another variant has no plain release either.
    ("index_lacking", |facts| {
        let is_told = |all| facts.label().is_none() || facts.is_of_variant(all);
        (!facts.indexes().is_some_and(is_told)).then(String::new)
    }),
    ("cuda_lacking", |facts| {
        let is_possible = facts.torch_of_other_cuda().is_none() && facts.driver_behind().is_none();
        text(facts.extract, "cuda_needed").filter(|_| is_possible).map(str::to_string)
    }),
    ("torch_of_other_cuda", |facts| facts.torch_of_other_cuda()),
    ("own_wheel", |facts| own_wheel(text(facts.extract, "library")?)),
    ("python_lacking", |facts| {
        let (version, python) = (facts.version("version")?, facts.python()?);
        let mut builds =
            torch_builds(facts.catalog).filter(|build| build.version.cmp_prefix(&version).is_eq()).peekable();
        let is_torch = text(facts.extract, "package") == Some("torch") && builds.peek().is_some();
        (is_torch && builds.all(|build| !build.pythons.is_empty() && !build.pythons.contains(&python)))
            .then(|| python.to_string())
    }),
];

/// Whether catalog facts can fill a placeholder.
pub fn is_derived(name: &str) -> bool {
    DERIVED.iter().any(|(known, _)| *known == name)
}

/// What the placeholders of sentences stand for, as far as it is known; `boards` are the GPUs of a text that names none.
pub fn filling<'t>(
    sentences: impl Iterator<Item = &'t str>,
    extract: &Extract,
    boards: &[String],
    catalog: &Catalog,
) -> Filling {
    let facts = Facts { extract, boards, catalog };
    let mut filling = Filling::new();
    for name in sentences.flat_map(placeholders) {
        if filling.contains_key(name) {
            continue;
        }
        let value = match DERIVED.iter().find(|(known, _)| *known == name) {
            Some((_, lookup)) => lookup(&facts),
            None => extract.get(name).map(ToString::to_string),
        };
        if let Some(value) = value {
            filling.insert(name.to_string(), value);
        }
    }
    filling
}

/// What was read out of a text, and where more is looked up.
struct Facts<'a> {
    extract: &'a Extract,
    /// The GPUs that the text is about, where it does not say so itself.
    boards: &'a [String],
    catalog: &'a Catalog,
}

impl<'a> Facts<'a> {
    /// The torch that is installed, where this holds of it and the one that something was made for.
    fn torch_beside(&self, holds: impl Fn(&str, &str) -> bool) -> Option<String> {
        let (torch, needed) = (text(self.extract, "torch")?, text(self.extract, "torch_needed")?);
        holds(torch, needed).then(|| torch.to_string())
    }

    fn version(&self, key: &str) -> Option<Version> {
        Version::parse(text(self.extract, key)?).ok()
    }

    /// The CUDA version that was found, or that the driver offers.
    fn cuda_found(&self) -> Option<Version> {
        self.version("cuda_found").or_else(|| cuda_of_driver(self.version("driver")?, self.catalog))
    }

    /// The oldest driver that the release notes ask for in a CUDA line, on the system of the text.
    fn driver_for(&self, key: &str) -> Option<String> {
        let cuda = self.version(key)?;
        let least = if has_windows_driver(self.extract) {
            let line = self.catalog.windows_drivers.iter().filter(|row| row.cuda.cmp_prefix(&cuda).is_eq());
            line.map(|row| &row.driver).min()
        } else {
            let line = self.catalog.toolkits.iter().filter(|row| row.version.cmp_prefix(&cuda).is_eq());
            line.filter_map(|row| row.driver.as_ref()).min()
        };
        least.map(ToString::to_string)
    }

    /// The driver of the text, if it is too old for the oldest release of the CUDA line that is needed.
    fn driver_behind(&self) -> Option<String> {
        let (cuda, driver) = (self.version("cuda_needed")?, self.version("driver")?);
        let line = self.catalog.toolkits.iter().filter(|row| row.version.cmp_prefix(&cuda).is_eq());
        let oldest = line.map(|row| row.version.prefix(2)).min()?;
        let is_behind = !has_windows_driver(self.extract) && needs_newer_driver(&oldest, &driver, self.catalog)?;
        is_behind.then(|| driver.to_string())
    }

    fn arch_of_cc(&self) -> Option<Arch> {
        Arch::parse(&format!("sm_{}", self.cc()?.number())).ok()
    }

    fn arch(&self) -> Option<Arch> {
        first_arch(text(self.extract, "arch")?)
    }

    /// Whether only a newer toolkit can be short of the architecture.
    fn is_dropped(&self) -> bool {
        let Some(arch) = self.arch() else { return false };
        first_toolkit(arch, self.catalog).is_none() && last_toolkit(arch, self.catalog).is_some()
    }

    /// The catalog's name of a package that is built on a framework: what a file's name suggests may be no package at
    /// all, and no framework is taken again for one message.
    fn known_package(&self) -> Option<&'a str> {
        let name = name::package(text(self.extract, "package")?);
        let same = |package: &&str| *package == name;
        let packages = self.catalog.companions.heads().into_iter();
        let mut packages = packages.chain(self.catalog.source_builds.iter().map(|row| &*row.package));
        let is_framework = self.catalog.builds.heads().iter().any(same);
        packages.find(same).filter(|_| !is_framework)
    }

    /// The variant that a release asked for names, as an index is named.
    fn index_variant(&self) -> String {
        self.label().filter(|label| *label == "cpu").unwrap_or("cuXXX").to_string()
    }

    fn label(&self) -> Option<&str> {
        Some(text(self.extract, "version")?.split_once('+')?.1)
    }

    /// PyTorch's own indexes that the text tells of.
    fn indexes(&self) -> Option<&[String]> {
        match self.extract.get("index")? {
            Value::List(all) => Some(all),
            _ => None,
        }
    }

    /// The one index of a variant that an installer which lists nothing asked for a release without a label.
    fn index_asked_plainly(&self) -> Option<String> {
        let is_listed = self.extract.contains_key("versions_offered");
        let [index] = self.indexes()? else { return None };
        (!is_listed && self.label().is_none() && index != "torch_stable").then(|| index.clone())
    }

    /// Whether one of them has the variant that is asked for; the old page has those of all.
    fn is_of_variant(&self, indexes: &[String]) -> bool {
        self.label().is_some_and(|label| indexes.iter().any(|index| index == label || index == "torch_stable"))
    }

    /// The torch of the text, if it is built for another CUDA major than what is missing.
    fn torch_of_other_cuda(&self) -> Option<String> {
        let (torch, needed) = (text(self.extract, "torch")?, self.version("cuda_needed")?);
        let label = torch.split_once("+cu")?.1;
        let own: u64 = label.get(..label.len().checked_sub(1)?)?.parse().ok()?;
        (Version::parse(&own.to_string()).ok()?.major() != needed.major()).then(|| torch.to_string())
    }

    /// The architecture as it is written, if neither a GPU nor a toolkit of the catalog has it.
    fn unknown_arch(&self) -> Option<String> {
        let (arch, written) = (self.arch()?, text(self.extract, "arch")?);
        let is_known =
            self.catalog.gpus.iter().any(|gpu| gpu.cc == arch.cc) || knows(arch, self.catalog).next().is_some();
        (!is_known && written.contains('_')).then(|| written.to_string())
    }

    /// The products that the GPU's name can mean.
    fn gpus(&self) -> Vec<&'a Gpu> {
        text(self.extract, "gpu").map(|name| products(name, self.catalog)).unwrap_or_default()
    }

    /// The compute capability of the GPU's name, if all that it can mean have the same.
    fn cc_of_name(&self) -> Option<Cc> {
        let gpus = self.gpus();
        gpus.first().map(|gpu| gpu.cc).filter(|cc| gpus.iter().all(|gpu| gpu.cc == *cc))
    }

    fn cc(&self) -> Option<Cc> {
        let told = text(self.extract, "cc").and_then(|text| Cc::parse(text).ok());
        told.or_else(|| Some(self.arch()?.cc)).or_else(|| Some(self.gpus().first()?.cc))
    }

    /// The compute capabilities of the GPUs that it is about.
    fn capabilities(&self) -> Vec<Cc> {
        if let Some(told) = self.cc() {
            return vec![told];
        }
        let bare = |name: &String| match self.catalog.gpu(name) {
            GpuMatch::Bare(cc) => Some(cc),
            _ => None,
        };
        let named = self.boards.iter().flat_map(|name| products(name, self.catalog)).map(|gpu| gpu.cc);
        named.chain(self.boards.iter().filter_map(bare)).collect()
    }

    /// On which GPUs cuda-compat works, as a part of a sentence; none where it is about others, or the driver is Windows'.
    fn compat_boards(&self) -> Option<String> {
        let never = |gpu: &Gpu| matches!(gpu.class, Class::Geforce | Class::Titan | Class::Mining | Class::Jetson);
        let named = self.boards.iter().flat_map(|name| products(name, self.catalog));
        let is_refused = self.gpus().into_iter().chain(named).any(never);
        (!is_refused && !has_windows_driver(self.extract)).then(|| "on a data-centre GPU only".to_string())
    }

    fn python(&self) -> Option<Version> {
        Some(self.version("python")?.prefix(2)).filter(|python| python.len() == 2)
    }

    /// The builds of torch for the processor that comes with the GPU, or with every board of its capability.
    fn builds_there(&self) -> impl Iterator<Item = &'a Build> + use<'a> {
        let gpus = self.gpus();
        let of_name = gpus.first().and_then(|gpu| gpu.cpu).filter(|cpu| gpus.iter().all(|gpu| gpu.cpu == Some(*cpu)));
        let arch = of_name.or_else(|| self.catalog.cpu_of(self.cc()?)).unwrap_or(CpuArch::X86_64);
        nearest_build::installed_on(arch, self.catalog)
    }

    /// The builds of the torch that the text tells of: its release, and the variant where there is one.
    fn torch_told(&self) -> (Vec<&'a Build>, Option<&str>) {
        let (release, label) = variant::parts(text(self.extract, "torch").unwrap_or_default());
        (self.builds_there().filter(|row| row.version.as_str() == release).collect(), label)
    }

    /// Whether the torch that the text tells of holds code that the GPU runs, whatever a warning says.
    fn torch_serves(&self) -> bool {
        let (builds, Some(label)) = self.torch_told() else { return false };
        let own = builds.iter().find(|row| *row.variant == *label);
        own.zip(self.cc()).is_some_and(|(row, cc)| {
            let toolkit = row.toolkit.as_ref().and_then(|toolkit| self.catalog.toolkit(toolkit));
            coverage(row, toolkit, cc) == Some(Coverage::Native)
        })
    }

    /// The same release in the variants that hold code for the GPU.
    fn same_torch_with_code(&self) -> Option<String> {
        let (cc, (builds, _)) = (self.cc()?, self.torch_told());
        let with_code = builds.iter().filter(|row| is_stable(row) && holds_code(row, cc));
        let variants: Vec<String> = with_code.map(|row| variant_of(row, self.catalog)).collect();
        let release = &builds.first()?.version;
        (!variants.is_empty()).then(|| format!("{release}, variant {}", variants.join(" or ")))
    }

    /// Builds of torch with code for the GPU, for the Python that the text tells of; none where the one that is there does.
    fn torch_with_code(&self) -> Option<impl Iterator<Item = &'a Build>> {
        let (cc, python) = (self.cc().filter(|_| !self.torch_serves())?, self.python());
        let serves = move |row: &&Build| {
            holds_code(row, cc) && python.is_none_or(|python| row.pythons.is_empty() || row.pythons.contains(&python))
        };
        Some(self.builds_there().filter(serves))
    }

    /// The oldest of them, in the variant of the oldest toolkit: what an old driver admits first.
    fn first_torch_with_code(&self) -> Option<String> {
        let first = self.torch_with_code()?.min_by_key(|row| (&row.version, &row.toolkit))?;
        Some(format!("{}+{}", first.version, variant_of(first, self.catalog)))
    }

    fn newest_torch_with_code(&self) -> Option<&'a Version> {
        self.torch_with_code()?.filter(is_stable).map(|row| &row.version).max()
    }

    /// The variants of the newest of them.
    fn variants_with_code(&self) -> Option<String> {
        let newest = self.newest_torch_with_code()?;
        let rows = self.torch_with_code()?.filter(is_stable).filter(|row| row.version == *newest);
        let variants: Vec<String> = rows.map(|row| variant_of(row, self.catalog)).collect();
        Some(variants.join(" or "))
    }
}

/// Whether a CUDA release needs a newer driver than this one; none where no rule speaks of the release.
pub fn needs_newer_driver(cuda: &Version, driver: &Version, catalog: &Catalog) -> Option<bool> {
    let rules = Rules::new(catalog);
    let mut of_cuda = rules.about(Subject::Cuda, cuda, Subject::Driver).peekable();
    of_cuda.peek()?;
    Some(of_cuda.any(|rule| !rule.needs.admits(driver)))
}

/// The package, where the index has its source and it is known how that is built beside a framework.
fn extension(name: &str, catalog: &Catalog) -> Option<String> {
    let row = catalog.source_builds.iter().find(|row| *row.package == *name)?;
    Some(row.package.to_string())
}

/// `FLASH_ATTENTION_FORCE_BUILD=TRUE `, of the newest release of an extension that heeds one.
fn forced(name: &str, catalog: &Catalog) -> Option<String> {
    let own = catalog.source_builds.iter().filter(|row| *row.package == *name);
    Some(format!("{} ", own.filter_map(|row| row.force.as_ref()).next_back()?))
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

/// Toolkits that compile for an architecture, oldest first.
fn knows(arch: Arch, catalog: &Catalog) -> impl Iterator<Item = &Toolkit> {
    catalog.toolkits.iter().filter(move |row| row.sass.contains(&arch) && !row.components_only)
}

/// The first release that compiles for an architecture; none where the oldest release of the catalog does: which one was the
/// first nobody has told then.
fn first_toolkit(arch: Arch, catalog: &Catalog) -> Option<String> {
    let first = &knows(arch, catalog).min_by_key(|row| &row.version)?.version;
    let oldest = catalog.toolkits.iter().filter(|row| !row.components_only).map(|row| &row.version).min()?;
    (first.prefix(2) != oldest.prefix(2)).then(|| first.prefix(2).to_string())
}

/// The last release that compiles for an architecture, if later ones do not.
fn last_toolkit(arch: Arch, catalog: &Catalog) -> Option<String> {
    let newest = catalog.toolkits.iter().filter(|row| !row.components_only).map(|row| &row.version).max()?;
    let last = &knows(arch, catalog).max_by_key(|row| &row.version)?.version;
    (last.prefix(2) != newest.prefix(2)).then(|| last.prefix(2).to_string())
}

/// The first Triton whose own ptxas compiles for an architecture.
fn triton_for(arch: Arch, catalog: &Catalog) -> Option<String> {
    let compiles = |row: &&Ptxas| {
        knows(arch, catalog).any(|toolkit| toolkit.version.prefix(2) == row.release_for(arch.cc).prefix(2))
    };
    Some(catalog.ptxases.iter().filter(compiles).min_by_key(|row| &row.triton)?.triton.to_string())
}

/// The first release whose nvcc takes a newer gcc than this; none where it is the oldest of the catalog: an older one may
/// have been the first.
fn toolkit_beyond(gcc_max: &Version, catalog: &Catalog) -> Option<String> {
    let beyond = |row: &&Toolkit| row.gcc_max.as_ref().is_some_and(|max| max > gcc_max);
    let first = catalog.toolkits.iter().find(beyond)?;
    let is_oldest = !catalog.toolkits.iter().any(|row| row.version < first.version && row.gcc_max.is_some());
    (!is_oldest).then(|| first.version.prefix(2).to_string())
}

/// The oldest system with this glibc that is still supported and that NVIDIA makes images of, for many can go there, and the
/// oldest Ubuntu, which most images are made of. That of a board is for no other machine.
fn os_for(glibc: &Version, catalog: &Catalog) -> Option<String> {
    let rows = catalog.oses.iter().filter(|row| row.glibc.as_ref().is_some_and(|own| own >= glibc));
    let has_ended = |row: &Os| row.eol.as_ref().is_some_and(|end| catalog.has_ended(end));
    let is_for_all = |row: &Os| row.refused.is_none() && row.boards.is_empty();
    let all: Vec<&Os> = rows.filter(|row| is_for_all(row) && !has_ended(row)).collect();
    let of_images: Vec<&Os> = all.iter().copied().filter(|row| !row.images.is_empty()).collect();
    let rows = if of_images.is_empty() { all } else { of_images };
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

/// The newest torch that runs on some driver with this CUDA version, by minor-version compatibility or natively; none if
/// the driver knows no GPU of these capabilities.
fn torch_for_driver(cuda: &Version, capabilities: &[Cc], catalog: &Catalog) -> Option<String> {
    let branch = catalog.branches.iter().rev().find(|row| row.cuda.as_ref() == Some(cuda))?;
    let driver = catalog.drivers.iter().rev().find(|row| row.version.major() == branch.branch.major())?;
    let rules = Problem::new(catalog);
    for cc in capabilities {
        let gpu = Version::parse(&cc.to_string()).ok()?;
        let mut of_boards =
            rules.rules.about(Subject::Gpu, &gpu, Subject::Driver).filter(|rule| rule.row.instances.is_empty());
        if of_boards.any(|rule| !rule.needs.admits(&driver.version)) {
            return None;
        }
    }
    let fits = |row: &&Build| {
        let line = row.line();
        line.is_some_and(|line| {
            rules.rules.about(Subject::Cuda, &line, Subject::Driver).all(|rule| rule.needs.admits(&driver.version))
        })
    };
    let serves = |row: &&Build| capabilities.iter().all(|cc| holds_code(row, *cc));
    let fitting = torch_builds(catalog).filter(is_stable).filter(serves).filter(fits);
    let newest = fitting.max_by_key(|row| (&row.version, &row.toolkit))?;
    Some(format!("{}+{}", newest.version, newest.variant))
}
