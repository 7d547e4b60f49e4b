//! The CUDA libraries a process would really load: which file answers to each name, in the order in which the chosen
//! interpreter's framework makes the loader look, and which copies lose against it.
//!
//! A framework's own libraries say where they want others to be looked for. torch's wheels do so with DT_RPATH (read
//! in 1.13, 2.1, 2.5 and 2.9), which beats LD_LIBRARY_PATH; NVIDIA's wheels and most others with DT_RUNPATH, which
//! LD_LIBRARY_PATH beats. So the tags are read, not assumed. Beside that newer torch loads NVRTC and nvJitLink by their
//! full paths as it is imported, and every other CUDA library where the loader has failed to find one.
//!
//! The search runs in a child, each library's own version function (`version.rs`) in another.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::{ApiError, Library, Record, Shadowed};
use crate::types::{Version, first};

use super::child::{self, Progress, Task};
use super::context::ProbeContext;
use super::dynamic::{self, Dynamic};
use super::loader::{self, By, Found, Loader};
use super::program;
use super::question::{ChildRequest, Place};
use super::version;

/// How long the search may take.
const LIMIT: Duration = Duration::from_secs(10);
/// More of a text file is not read.
const CAP: u64 = 8 << 20;

/// A library that is looked for.
struct Kind {
    /// As the record calls it.
    name: &'static str,
    /// What its file names begin with.
    stem: &'static str,
    /// What the names of its parts begin with.
    parts: Option<&'static str>,
}

/// The libraries, each after those it needs.
const KINDS: &[Kind] = &[
    Kind { name: "cudart", stem: "libcudart", parts: None },
    Kind { name: "nvrtc", stem: "libnvrtc", parts: Some("libnvrtc-builtins.so.") },
    Kind { name: "nvjitlink", stem: "libnvJitLink", parts: None },
    Kind { name: "cublaslt", stem: "libcublasLt", parts: None },
    Kind { name: "cublas", stem: "libcublas", parts: None },
    Kind { name: "cudnn", stem: "libcudnn", parts: Some("libcudnn_") },
    Kind { name: "nccl", stem: "libnccl", parts: None },
];

/// The driver's own libraries that CUDA programs need, as a container is to be given them: the last two compile PTX
/// and link what was compiled.
const OF_DRIVER: &[(&str, &str)] = &[
    ("cuda", "libcuda.so.1"),
    ("nvidia-ml", "libnvidia-ml.so.1"),
    ("nvidia-ptxjitcompiler", "libnvidia-ptxjitcompiler.so.1"),
    ("nvidia-nvvm", "libnvidia-nvvm.so.4"),
];

/// What the child found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reply {
    libraries: Vec<Library>,
    driver_libraries: Vec<Library>,
}

/// Searches, then asks every file found for its version.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let python = record.python.as_ref();
    let place = Place {
        root: context.root.clone(),
        library_path: context.library_path(),
        python: python.and_then(|python| python.path.as_ref()).map(PathBuf::from),
        sites: python.map_or(Vec::new(), |python| python.sites.iter().map(PathBuf::from).collect()),
        conda: context.variable("CONDA_PREFIX").map(PathBuf::from),
        cuda: context.options.cuda,
    };
    let task = Task { program: &context.program, name: "libraries", limit: context.limit(LIMIT), environment: &[] };
    let reply = child::ask::<_, Reply>(&task, &ChildRequest::Search(place));
    record.probes.push(reply.probe);
    let Reply { mut libraries, driver_libraries } = reply.answer.unwrap_or_default();
    record.driver_libraries = driver_libraries;
    if context.is_here() {
        version::ask_all(context, &mut libraries);
    }
    record.libraries = libraries;
}

/// The child's side of it.
pub fn inside(request: &str, progress: &mut Progress) -> Result<(), String> {
    let place = match serde_json::from_str(request).map_err(|error| error.to_string())? {
        ChildRequest::Search(place) => place,
        ChildRequest::Ask(question) => return version::answer(&question, progress),
    };
    progress.doing("searching for CUDA libraries");
    let search = Search::new(&place);
    let libraries: Vec<Library> = KINDS.iter().flat_map(|kind| search.of_kind(kind)).collect();
    let driver_libraries = of_driver(&search.loader);
    let nothing = libraries.is_empty() && driver_libraries.is_empty();
    progress.learnt(&Reply { libraries, driver_libraries });
    if nothing {
        progress.absent("no CUDA library where the loader looks");
    }
    Ok(())
}

struct Search<'r> {
    request: &'r Place,
    loader: Loader,
    /// The libraries of the framework, that which is loaded first at the beginning.
    framework: Vec<Dynamic>,
    /// NVIDIA's wheels beside it.
    wheels: Vec<Dynamic>,
    /// The directories of NVIDIA's wheels.
    folders: Vec<PathBuf>,
    /// The stems of what the framework loads by full path before it asks the loader for anything.
    preloaded: Vec<&'static str>,
    /// What the interpreter itself wants searched first.
    interpreter: Vec<PathBuf>,
}

impl<'r> Search<'r> {
    fn new(request: &'r Place) -> Self {
        let folders = wheel_folders(request);
        let python = request.python.as_ref().and_then(|python| loader::resolve(&request.root, python));
        let interpreter = python.and_then(|python| dynamic::read(&request.root, &python));
        let libraries = |folder: &PathBuf| {
            let names = names_in(request, folder).into_iter().filter(|name| name.contains(".so."));
            names.filter_map(|name| dynamic::read(&request.root, &folder.join(name))).collect::<Vec<_>>()
        };
        Search {
            request,
            loader: Loader::new(&request.root, &request.library_path),
            framework: framework(request),
            wheels: folders.iter().flat_map(libraries).collect(),
            preloaded: preloaded(request),
            interpreter: interpreter.map_or(Vec::new(), |own| own.before),
            folders,
        }
    }

    /// Every library of a kind that a process may load: those the framework needs first, whether they are there or
    /// not, then those of the CUDA line that is wished, then what else lies where the loader looks.
    fn of_kind(&self, kind: &Kind) -> Vec<Library> {
        let needed = self.framework.iter().flat_map(|asker| &asker.needed).filter(|name| is_soname(kind.stem, name));
        let mut sonames: Vec<&str> = Vec::new();
        for name in needed {
            if !sonames.contains(&name.as_str()) {
                sonames.push(name);
            }
        }
        let wanted = sonames.len();
        let conda = self.conda().into_iter().collect();
        let everywhere = self.loader.clone().before([self.own_folders(), self.folders.clone()].concat()).after(conda);
        let mut others = everywhere.names(kind.stem);
        others.retain(|name| is_soname(kind.stem, name) && !sonames.contains(&name.as_str()));
        let of_line = |name: &String| {
            let major = self.request.cuda.as_ref().map(|cuda| format!(".so.{}", cuda.major()));
            major.is_some_and(|major| name.ends_with(&major) || name.contains(&format!("{major}.")))
        };
        others = first(others, of_line);
        sonames.extend(others.iter().map(String::as_str));
        let found = sonames.iter().enumerate().map(|(at, soname)| self.library(kind, soname, at < wanted));
        found.flatten().collect()
    }

    fn library(&self, kind: &Kind, soname: &str, needed: bool) -> Option<Library> {
        let library = Library { name: kind.name.to_string(), soname: soname.to_string(), ..Library::default() };
        let Some(found) = self.find(kind, soname) else {
            let message = Some("the framework needs it and the loader finds it nowhere".to_string());
            let fault = ApiError { at: "ld.so".into(), code: None, name: Some("ENOENT".into()), message };
            return needed.then_some(Library { fault: Some(fault), ..library });
        };
        Some(Library {
            path: Some(shown(&found.file)),
            found_by: Some(found.by.as_str().to_string()),
            file_version: self.version_of(&found.path, &found.file),
            parts: self.parts(kind, soname, &found),
            shadows: self.shadows(soname, &found),
            ..library
        })
    }

    /// The file that a process loads for this name.
    fn find(&self, kind: &Kind, soname: &str) -> Option<Found> {
        let needs = |asker: &&Dynamic| asker.needed.iter().any(|name| name == soname);
        let asker = self.framework.iter().chain(&self.wheels).find(needs).or(self.framework.first());
        let Some(asker) = asker.filter(|_| !self.framework.is_empty()) else {
            // Without a framework it is cuda-python and its like that load a wheel's library, by its full path.
            let found = self.loader.clone().before(self.folders.clone()).find(soname);
            return found.or_else(|| self.at(self.conda()?.join(soname), By::Conda));
        };
        let mut before = Vec::new();
        if self.preloaded.contains(&kind.stem) {
            before.extend(self.folders.clone());
        }
        before.extend(asker.before.clone());
        if asker.after.is_empty() {
            // Without a DT_RUNPATH the DT_RPATHs of whoever loaded the asker hold too.
            before.extend(self.own_folders());
            before.extend(self.interpreter.clone());
        }
        let found = self.loader.clone().before(before).after(asker.after.clone()).find(soname);
        // What the loader does not find torch loads by its full path.
        found.or_else(|| self.folders.iter().find_map(|folder| self.at(folder.join(soname), By::Own)))
    }

    /// The library at a place, if it is there.
    fn at(&self, path: PathBuf, by: By) -> Option<Found> {
        let file = loader::resolve(&self.request.root, &path)?;
        Some(Found { path, file, by, shadows: Vec::new() })
    }

    /// Where the active conda environment has libraries.
    fn conda(&self) -> Option<PathBuf> {
        self.request.conda.as_ref().map(|prefix| prefix.join("lib"))
    }

    /// The directories that the framework's libraries want searched before LD_LIBRARY_PATH.
    fn own_folders(&self) -> Vec<PathBuf> {
        self.framework.first().map_or(Vec::new(), |first| first.before.clone())
    }

    /// The files of a library's parts: its own search path is what counts for them, not the framework's.
    fn parts(&self, kind: &Kind, soname: &str, found: &Found) -> Vec<String> {
        let Some(prefix) = kind.parts else { return Vec::new() };
        let own = dynamic::read(&self.request.root, &found.path).unwrap_or_default();
        let folder = found.path.parent().map(Path::to_path_buf);
        let mut before = own.before;
        if kind.name == "nvrtc" && found.by == By::Own {
            // Who takes NVRTC out of a wheel loads the builtins beside it first: those for CUDA 13 say no place to look.
            before.extend(folder.clone());
        }
        let loader = self.loader.clone().before(before).after(own.after);
        let mut names = loader.clone().after(folder.into_iter().collect()).names(prefix);
        match soname.rsplit_once(".so.") {
            // All of one major version: `libcudnn_ops.so.9`.
            Some((_, major)) if prefix.ends_with('_') => names.retain(|name| name.ends_with(&format!(".so.{major}"))),
            _ => names.retain(|name| is_soname(prefix.trim_end_matches(".so."), name)),
        }
        let beside = |name: &&String| found.path.with_file_name(name.as_str());
        let here = names.iter().filter(|name| loader::resolve(&self.request.root, &beside(name)).is_some());
        let here: Vec<&String> = here.collect();
        // Which builtins an NVRTC asks for only it knows: those that came with it, where there are any.
        let wanted = if kind.name == "nvrtc" && !here.is_empty() { here } else { names.iter().collect() };
        let found = wanted.into_iter().filter_map(|name| Some(shown(&loader.find(name)?.file)));
        found.collect()
    }

    /// The other copies, wherever the loader, an interpreter or conda would have taken them from.
    fn shadows(&self, soname: &str, found: &Found) -> Vec<Shadowed> {
        let mut copies: Vec<(PathBuf, PathBuf, Option<By>)> = Vec::new();
        copies.extend(found.shadows.iter().map(|(file, by)| (file.clone(), file.clone(), Some(*by))));
        let conda = self.conda().into_iter().map(|folder| (folder, None));
        let wheels = self.folders.iter().map(|folder| (folder.clone(), Some(By::Own)));
        for (folder, by) in wheels.chain(conda) {
            let path = folder.join(soname);
            if let Some(file) = loader::resolve(&self.request.root, &path) {
                copies.push((path, file, by));
            }
        }
        let mut shadows: Vec<Shadowed> = Vec::new();
        for (path, file, by) in copies {
            if file != found.file && !shadows.iter().any(|known| known.path == shown(&file)) {
                let found_by = by.map(|by| by.as_str().to_string());
                shadows.push(Shadowed { found_by, version: self.version_of(&path, &file), path: shown(&file) });
            }
        }
        shadows
    }

    /// The version in a file's name, else of the wheel that brought it.
    fn version_of(&self, path: &Path, file: &Path) -> Option<Version> {
        let name = file.file_name()?.to_string_lossy();
        let (_, tail) = name.split_once(".so.").unwrap_or_default();
        if tail.split('.').count() > 2 {
            return program::leading_version(tail).and_then(|text| Version::parse(text).ok());
        }
        self.request.sites.iter().find_map(|site| {
            let resolved = loader::resolve(&self.request.root, site)?;
            let named = normal(path);
            // A wheel's files may be links into an installer's cache, which says nothing of the package.
            let inside = file.strip_prefix(&resolved).or_else(|_| named.strip_prefix(site)).ok()?;
            let line = format!("{},", inside.display());
            let wheels = names_in(self.request, site).into_iter().filter(|name| name.starts_with("nvidia_"));
            let owner = wheels.filter(|name| name.ends_with(".dist-info")).find(|name| {
                let list = text_of(self.request, &site.join(name).join("RECORD")).unwrap_or_default();
                list.lines().any(|known| known.starts_with(&line))
            })?;
            Version::parse(owner.strip_suffix(".dist-info")?.rsplit_once('-')?.1).ok()
        })
    }
}

/// The driver's libraries, those that are missing too where any is there.
fn of_driver(loader: &Loader) -> Vec<Library> {
    let all = OF_DRIVER.iter().map(|(name, soname)| {
        let library = Library { name: name.to_string(), soname: soname.to_string(), ..Library::default() };
        let Some(found) = loader.find(soname) else { return library };
        let release = found.file.file_name().and_then(|name| Version::parse(name.to_str()?.split_once(".so.")?.1).ok());
        let shadows = found.shadows.iter().map(|(file, by)| {
            let found_by = Some(by.as_str().to_string());
            Shadowed { path: shown(file), found_by, version: None }
        });
        Library {
            path: Some(shown(&found.file)),
            found_by: Some(found.by.as_str().to_string()),
            // A single number is the name's, not the driver's.
            file_version: release.filter(|release| release.len() > 1),
            shadows: shadows.collect(),
            ..library
        }
    });
    let all: Vec<Library> = all.collect();
    if all.iter().any(|library| library.path.is_some()) { all } else { Vec::new() }
}

/// Whether a file's name is one that libraries are asked for by: a stem, `.so.`, and not a whole version. Wheels that
/// bundle a library put a hash behind its stem.
fn is_soname(stem: &str, name: &str) -> bool {
    let Some((head, tail)) = name.split_once(".so.") else { return false };
    let bundled = |rest: &str| rest.strip_prefix('-').is_some_and(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()));
    let numbers: Vec<&str> = tail.split('.').collect();
    head.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || bundled(rest))
        && numbers.len() <= 2
        && numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The libraries of the first framework that is installed. What torch needs is spread over several.
fn framework(request: &Place) -> Vec<Dynamic> {
    const TORCH: &[&str] = &[
        "libtorch_global_deps.so",
        "libtorch_cuda.so",
        "libtorch_cuda_cpp.so",
        "libtorch_cuda_cu.so",
        "libtorch_cpu.so",
        "libcaffe2_nvrtc.so",
        "libtorch_cuda_linalg.so",
    ];
    const TENSORFLOW: &[&str] = &["libtensorflow_cc.so.2", "libtensorflow_framework.so.2"];
    for site in &request.sites {
        let read = |folder: &Path, names: &[&str]| -> Vec<Dynamic> {
            names.iter().filter_map(|name| dynamic::read(&request.root, &folder.join(name))).collect()
        };
        let mut plugins = names_in(request, &site.join("jax_plugins"));
        plugins.sort_unstable();
        let jax = plugins.iter().flat_map(|name| read(&site.join("jax_plugins").join(name), &["xla_cuda_plugin.so"]));
        let frameworks =
            [read(&site.join("torch/lib"), TORCH), read(&site.join("tensorflow"), TENSORFLOW), jax.collect()];
        if let Some(found) = frameworks.into_iter().find(|libraries| !libraries.is_empty()) {
            return found;
        }
    }
    Vec::new()
}

/// What torch loads by full path whatever the loader would find: its source says so.
fn preloaded(request: &Place) -> Vec<&'static str> {
    let mut sources = request.sites.iter().filter_map(|site| text_of(request, &site.join("torch/__init__.py")));
    let Some(source) = sources.next() else { return Vec::new() };
    // From torch 2.10 on one call loads all that stand in a list.
    if source.contains("def _preload_cuda_deps(err") {
        let listed = |kind: &&Kind| source.contains(&format!("\"{}.so.", kind.stem));
        return KINDS.iter().filter(listed).map(|kind| kind.stem).collect();
    }
    let calls = [("cuda_nvrtc", "libnvrtc"), ("nvjitlink", "libnvJitLink")];
    let called = |wheel: &str| source.contains(&format!("_preload_cuda_deps(\"{wheel}\""));
    calls.into_iter().filter(|(wheel, _)| called(wheel)).map(|(_, stem)| stem).collect()
}

/// The directories that NVIDIA's wheels put libraries into: `nvidia/cudnn/lib`, since CUDA 13 also `nvidia/cu13/lib`.
fn wheel_folders(request: &Place) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for site in &request.sites {
        let mut names = names_in(request, &site.join("nvidia"));
        names.sort_unstable();
        folders.extend(names.into_iter().map(|name| site.join("nvidia").join(name).join("lib")));
    }
    folders.retain(|folder| loader::resolve(&request.root, folder).is_some());
    folders
}

/// The names in a directory; none where there is none.
fn names_in(request: &Place, folder: &Path) -> Vec<String> {
    let Some(folder) = loader::resolve(&request.root, folder) else { return Vec::new() };
    let place = request.root.join(folder.strip_prefix("/").unwrap_or(&folder));
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The beginning of a text file.
fn text_of(request: &Place, file: &Path) -> Option<String> {
    let file = loader::resolve(&request.root, file)?;
    let place = request.root.join(file.strip_prefix("/").unwrap_or(&file));
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(fs::File::open(place).ok()?, CAP), &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path without `..`, as if no directory in it were a link.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
        whole
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_libraries_are_asked_for_by() {
        for (stem, name, wanted) in [
            ("libcudart", "libcudart.so.12", true),
            ("libcudart", "libcudart.so.11.0", true),
            ("libcudart", "libcudart-e409450e.so.11.0", true),
            ("libcudart", "libcudart.so.12.4.127", false),
            ("libcudart", "libcudart.so", false),
            ("libcudart", "libcudart_static.so.12", false),
            ("libcublas", "libcublasLt.so.12", false),
            ("libcudnn", "libcudnn_ops.so.9", false),
            ("libnvrtc", "libnvrtc-builtins.so.12.4", false),
            ("libnvrtc-builtins", "libnvrtc-builtins.so.12.4", true),
            ("libnccl", "libnccl.so.2", true),
            ("libnccl", "libnccl.so.", false),
        ] {
            assert_eq!(is_soname(stem, name), wanted, "{name}");
        }
    }
}
