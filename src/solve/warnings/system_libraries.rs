//! Libraries that packages load and do not bring: those of the system's CUDA and cuDNN, and what the loader does not find.

use crate::catalog::rows::{Build, Companion, Flavour, Subject};
use crate::solve::by_pip;
use crate::solve::image::{self, CudnnInside};
use crate::solve::in_image::{Cudnns, is_cudnn, opened};
use crate::solve::libraries;
use crate::solve::problem::Along;
use crate::solve::request::ImageRequest;
use crate::solve::rules::Needs;
use crate::types::{Version, nvidia};
use crate::warning::{CudnnMissing, LibraryMissing, SystemCuda, Warning};

use super::nvcc::listed;
use super::{About, key};

/// What is said of the libraries that a package loads.
pub(super) fn warnings(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let name = format!("{} {}", row.package, row.version);
    let system = system_cuda(about, row, &name, row).or_else(|| system_cuda_along(about, row, &name));
    let missing = [system, found_cuda(about, row), cudnn_missing(about, row)];
    let files = [library_missing(about, row), library_borrowed(about, row), library_unreached(about, row)];
    missing.into_iter().chain(files).flatten().collect()
}

/// The same of what a package requires and nobody names, if pip brings it nothing of a toolkit.
fn system_cuda_along(about: &About<'_, '_>, row: &Companion, name: &str) -> Option<Warning> {
    let (problem, arch) = (about.request.problem, about.asked.arch);
    let package = problem.package(&row.package)?;
    let at = package.place_of(row).filter(|at| !problem.brings_toolkit(package, *at, arch))?;
    let is_named = |of: &str| about.target.companions.iter().any(|one| *one.package == *of);
    let loads = |_: &Along<'_>, one: &Companion| (one.system_cuda && !is_named(&one.package)).then_some(());
    let (one, ()) = problem.lacking(package, at, arch, loads)?;
    system_cuda(about, one, &format!("{}, which {name} requires,", one.package), row)
}

/// CUDA's libraries that a package takes from the system, where nothing else brings them and nobody says that they are there;
/// `by`: the one that is asked for.
fn system_cuda(about: &About<'_, '_>, row: &Companion, name: &str, by: &Companion) -> Option<Warning> {
    let (asked, target) = (about.asked, about.target);
    let rules: Vec<&Needs<'_>> =
        about.request.rules.of_package(&row.package, Subject::Cuda).about(&row.version).collect();
    // The names of the files tell the major.
    let serves = |cuda: &Version| {
        row.cuda.is_none_or(|own| own.major() == cuda.major()) && rules.iter().all(|rule| rule.needs.admits(cuda))
    };
    // Only what asks pip for these libraries brings them, whatever follows CUDA beside it.
    let brings = |other: &Companion| {
        let wants = about.request.problem.wants(&other.package);
        let asks = |other| wants.at_row(other, &[asked.arch]).iter().any(|(name, _)| nvidia::is_of_toolkit(name));
        other.follows_cuda() && !other.system_cuda && other.cuda.is_none_or(|cuda| serves(&cuda)) && asks(other)
    };
    let mut lines = about.gpu_builds().filter(|build| !build.system_cuda).map(|build| build.line());
    let is_brought =
        target.companions.iter().any(|other| brings(other)) || lines.any(|line| line.is_none_or(|line| serves(&line)));
    let opened: Vec<&str> = opened(row).collect();
    if !row.system_cuda || asked.is_cpu() || is_brought && opened.is_empty() {
        return None;
    }
    let unbrought = || format!(" ({}: no wheel beside it holds files of these names)", opened.join(" and "));
    let what = loaded(row, &rules) + &if is_brought { unbrought() } else { String::new() };
    if let Some(installed) = &asked.toolkits {
        let there = format!("`toolkit` names CUDA {} only", listed(installed));
        let other = SystemCuda::OtherMajor { name, what: &what, there: &there };
        return (!installed.iter().any(serves)).then(|| Warning::about(&other, &about.keys("toolkit")));
    }
    if let Some(image) = target.image {
        let reference = format!("{}:{}", image.repository, image.tag);
        let holds = format!("{reference} holds CUDA {}", image.cuda.prefix(2));
        let lacking = match (image.flavour, row.headers_from.is_some_and(|from| image.cuda >= from)) {
            (Flavour::Base | Flavour::Runtime, true) => SystemCuda::ImageHeaders { name, image: &reference },
            (Flavour::Base, false) => SystemCuda::ImageBase { name, what: &what, image: &reference },
            _ if !serves(&image.cuda) => SystemCuda::OtherMajor { name, what: &what, there: &holds },
            _ => return None,
        };
        return Some(Warning::about(&lacking, &about.keys("image")));
    }
    if let Some(image) = about.unread_image() {
        let unread = SystemCuda::ImageUnread { name, what: &what, image: &image };
        return Some(Warning::about(&unread, &about.keys("image")));
    }
    if !matches!(asked.image, ImageRequest::No) {
        return None;
    }
    // The toolkit that compiles is installed there, and its libraries are loaded.
    let Some(chosen) = target.toolkit.map(|toolkit| &toolkit.version) else {
        let install = SystemCuda::Install { name, what: &what, keys: "`toolkit`" };
        return Some(Warning::about(&install, &key(by)));
    };
    let there = format!("the toolkit that was chosen is of CUDA {}", chosen.prefix(2));
    let other = SystemCuda::OtherMajor { name, what: &what, there: &there };
    (!serves(chosen)).then(|| Warning::about(&other, &key(by)))
}

/// The CUDA that a package loads, `CUDA 12` or `CUDA >=11.0,<12.2`.
fn loaded(row: &Companion, rules: &[&Needs<'_>]) -> String {
    match (row.cuda, rules.first()) {
        (Some(cuda), _) => format!("CUDA {cuda}"),
        (None, Some(rule)) => format!("CUDA {}", rule.row.needs),
        (None, None) => "CUDA".to_string(),
    }
}

/// The CUDA that a package looks for, which is not the framework's: a release that it has kernels for must be there.
fn found_cuda(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (asked, target) = (about.asked, about.target);
    let rules: Vec<&Needs<'_>> =
        about.request.rules.of_package(&row.package, Subject::Toolkit).about(&row.version).collect();
    if !row.finds_cuda || asked.is_cpu() || rules.is_empty() {
        return None;
    }
    let name = format!("{} {}", row.package, row.version);
    let needs: Vec<&str> = rules.iter().map(|rule| &*rule.row.needs).collect();
    let needs = needs.join(" and ");
    let serves = |cuda: &Version| rules.iter().all(|rule| rule.needs.admits(cuda));
    let chosen = target.toolkit.map(|toolkit| toolkit.version);
    let named: Vec<Version> = asked.toolkits.iter().flatten().copied().chain(chosen).collect();
    if named.iter().any(serves) {
        return None;
    }
    if !named.is_empty() {
        let other = SystemCuda::FindsOther { name: &name, needs: &needs, has: &format!("CUDA {}", listed(&named)) };
        return Some(Warning::about(&other, &about.keys("toolkit")));
    }
    if let Some(image) = target.image {
        let reference = format!("{}:{}", image.repository, image.tag);
        let finds = match image.flavour {
            Flavour::Devel if serves(&image.cuda) => return None,
            Flavour::Devel => {
                SystemCuda::FindsOther { name: &name, needs: &needs, has: &format!("{reference}, CUDA {}", image.cuda) }
            }
            _ => SystemCuda::Finds { name: &name, needs: &needs, image: Some(&reference) },
        };
        return Some(Warning::about(&finds, &about.keys("image")));
    }
    let finds = SystemCuda::Finds { name: &name, needs: &needs, image: None };
    matches!(asked.image, ImageRequest::No).then(|| Warning::about(&finds, &key(row)))
}

/// A cuDNN that a package loads, where neither a wheel nor the image nor the system has one that does.
fn cudnn_missing(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let target = about.target;
    if about.asked.is_cpu() {
        return None;
    }
    let mut brought: Vec<&Version> = target.builds.iter().filter_map(|build| build.cudnn.as_ref()).collect();
    brought.extend(by_pip::cudnn(&target.by_pip));
    let cudnns = Cudnns { problem: about.request.problem, brought, installed: about.asked.cudnn.as_ref() };
    let rules = about.request.rules.of_package(&row.package, Subject::Cudnn);
    let lacks = |rule: &&Needs<'_>| cudnns.inside(row, rule, target.image) == CudnnInside::Lacks;
    let rule = rules.about(&row.version).find(lacks)?;
    let opened = opened(row).find(|file| is_cudnn(file) && !cudnns.brought.is_empty());
    let in_image = target.image.and_then(|image| image::told_cudnn(about.request.catalog, image));
    let others = in_image.as_ref().into_iter().chain(cudnns.installed);
    let brought = cudnns.brought.iter().copied().filter(|_| opened.is_none());
    let missing = CudnnMissing {
        name: &format!("{} {}", row.package, row.version),
        needs: &opened.map_or(rule.row.needs.to_string(), |file| format!("{} as {file}", rule.row.needs)),
        has: brought.chain(others).next(),
    };
    Some(Warning::about(&missing, &key(row)))
}

/// Libraries that a package loads and nothing brings, where no toolkit or image may hold them.
fn library_missing(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    // What it takes from the system's CUDA is told by itself on a machine with a GPU.
    if row.system_cuda && !about.asked.is_cpu() {
        return None;
    }
    // What it opens when it first needs it is no matter on the CPU.
    let files: Vec<&str> = row.loads.iter().map(|file| &**file).filter(|file| !file.ends_with(".so")).collect();
    let name = format!("{} {}", row.package, row.version);
    // An image of a framework that is no devel image holds the libraries that pip installs for that, and no toolkit.
    let has_libraries = about.target.image.is_some_and(|image| match image.flavour {
        Flavour::Base => false,
        Flavour::Runtime => image.torch.is_none(),
        Flavour::Devel => true,
    });
    let is_missing = about.asked.toolkits.is_none() && about.target.toolkit.is_none() && !has_libraries;
    let missing = LibraryMissing::Nowhere { name: &name, files: &files };
    (is_missing && !files.is_empty()).then(|| Warning::about(&missing, &key(row)))
}

/// Libraries of CUDA that a package leaves to what its framework has pip install, beside one that has its CUDA inside.
fn library_borrowed(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let asked = about.asked;
    let is_beside = |build: &Build| build.package == row.framework || row.follows_cuda();
    let mut builds = about.gpu_builds().filter(|build| is_beside(build) && !build.is_own());
    let build = builds.find(|build| build.pins.is_none() && !build.system_cuda)?;
    let line = build.line()?;
    let in_image = about.target.image.filter(|image| image.flavour != Flavour::Base).map(|image| &image.cuda);
    let chosen = about.target.toolkit.map(|toolkit| &toolkit.version);
    let mut there = asked.toolkits.iter().flatten().chain(in_image).chain(chosen);
    // What looks for a CUDA itself loads the libraries of that.
    if asked.is_cpu() || there.any(|cuda| row.finds_cuda || cuda.major() == line.major()) {
        return None;
    }
    // Of some whose metadata asks for a part of CUDA that part is there.
    let is_asked = |library: &str| {
        let wheel = format!("nvidia-{library}-cu{}", line.major());
        libraries::metadata_of(about.request.catalog, build, asked.arch, &wheel).is_some()
    };
    let inside = row.borrows.iter().filter(|library| !is_asked(library));
    let files: Vec<String> = inside.map(|library| format!("lib{library}.so")).collect();
    let name = format!("{} {}", row.package, row.version);
    let borrowed = LibraryMissing::Borrowed {
        name: &name,
        files: &files,
        build: &build.named(),
        cuda: line.major(),
        of: &build.package,
    };
    (!files.is_empty()).then(|| Warning::about(&borrowed, &key(row)))
}

/// Libraries that a package has the loader look for, where wheels alone bring them: the loader does not look there.
fn library_unreached(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    if about.asked.is_cpu() {
        return None;
    }
    let is_missed = |path: &&&str| is_in_wheels(about, path) && !is_on_system(about, path);
    let paths: Vec<&str> = row.unreached.iter().map(|path| &**path).collect();
    let left: Vec<(&str, &str)> = paths.iter().filter(is_missed).filter_map(|path| path.rsplit_once('/')).collect();
    let inside = about.gpu_builds().find(|build| build.pins.is_none() && !build.system_cuda && build.cudnn.is_some());
    let inside = inside.map(|build| format!("{}/lib", build.package));
    let of_wheels = left.first()?.0;
    let folder = inside.as_deref().filter(|_| of_wheels.starts_with(CUDNN_FOLDER)).unwrap_or(of_wheels);
    let files: Vec<&str> = left.iter().map(|(_, file)| *file).collect();
    let name = format!("{} {}", row.package, row.version);
    Some(Warning::about(&LibraryMissing::Unreached { name: &name, files: &files, folder, other: None }, &key(row)))
}

/// Where wheels of cuDNN have their libraries, whatever its major and CUDA's.
const CUDNN_FOLDER: &str = "nvidia/cudnn/";

/// The CUDA major whose libraries a framework has pip install.
fn major_by_pip(about: &About<'_, '_>) -> Option<u64> {
    let is_by_pip = |build: &&&Build| build.pins.is_some() && !build.system_cuda;
    about.gpu_builds().find(is_by_pip).and_then(|build| build.line()).map(|line| line.major())
}

/// Whether pip installs a library, for a framework or because it was chosen, or a framework holds it.
fn is_in_wheels(about: &About<'_, '_>, path: &str) -> bool {
    if path.starts_with(CUDNN_FOLDER) {
        let of_builds = about.gpu_builds().filter(|build| !build.system_cuda);
        let mut cudnns = of_builds.filter_map(|build| build.cudnn.as_ref()).chain(by_pip::cudnn(&about.target.by_pip));
        // The names of the files tell the major.
        return cudnns.any(|cudnn| path.ends_with(&format!(".so.{}", cudnn.major())));
    }
    let of_major = path.split('/').find_map(|part| part.strip_prefix("cu")?.parse::<u64>().ok());
    major_by_pip(about).is_some_and(|major| of_major.is_none_or(|of| of == major))
}

/// Whether the machine or the image is said to have a library too.
fn is_on_system(about: &About<'_, '_>, path: &str) -> bool {
    let (asked, image) = (about.asked, about.target.image);
    if path.starts_with(CUDNN_FOLDER) {
        return asked.cudnn.is_some() || image.is_some_and(|image| image.cudnn.is_some());
    }
    let in_image = image.filter(|image| image.flavour != Flavour::Base).map(|image| &image.cuda);
    let mut there = asked.toolkits.iter().flatten().chain(in_image);
    there.any(|cuda| major_by_pip(about).is_none_or(|major| cuda.major() == major))
}
