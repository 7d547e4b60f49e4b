//! What ordinary packages bring along that follows a framework or CUDA, and nobody names: an installer that is told nothing takes
//! the newest release, whatever torch is locked.

use crate::catalog::rows::{BESIDE_TORCH, Companion, Index, Subject, TORCH, TRITON};
use crate::types::constraint::admits;
use crate::types::{Cc, Constraint, Specifier, Version, variant};

use super::brought::{is_on_index, loads, refusing};
use super::ordinary::coming::coming;
use super::ordinary::{Beside, is_excluded};
use super::problem::Problem;
use super::solution::TargetSolution;

/// A package that comes along.
#[derive(Debug)]
pub struct Follower<'c> {
    /// The release that it is held to; of what cannot be held the newest that is asked for.
    pub row: &'c Companion,
    /// What goes with the stack of what cannot be held: somebody insists on a release that brings another one.
    pub going: Option<Vec<Version>>,
    /// What goes with the stack lies on torch's own index without a label, so that pip cannot be held to it, and what the package
    /// index has under its number is another.
    pub is_elsewhere: bool,
}

/// What comes along and would not go with torch, its CUDA or the GPUs, were an installer left alone with it. What a locked
/// package asks for is held for that one.
pub fn followers<'c>(
    problem: &Problem<'c>,
    chosen: &TargetSolution<'_>,
    packages: &[(String, Specifier)],
) -> Vec<Follower<'c>> {
    let is_told = |name: &str| {
        let is_it = |row: &&Companion| *row.package == *name || row.asked(chosen.arch).any(|(of, _)| of == name);
        name == TRITON || BESIDE_TORCH.contains(&name) || chosen.companions.iter().any(is_it)
    };
    let locked: Vec<Beside> = chosen.locked().into_iter().map(Beside::from).collect();
    let gpus = gpus_of(chosen);
    let follower = |(name, asked): (&str, Specifier)| {
        // Newest first.
        let all = on_index(problem, chosen, name);
        let is_asked = |row: &&&'c Companion| asked.admits(&row.version);
        let mut plain = all.iter().filter(|row| row.variant.is_none()).filter(is_asked);
        let newest = plain.clone().find(|row| for_python(chosen, row)).or_else(|| plain.next())?;
        let goes = |row: &&&'c Companion| goes(problem, chosen, row, &gpus) && for_python(chosen, row);
        let going: Vec<&'c Companion> = all.iter().filter(goes).copied().collect();
        // Where none of what is asked for goes, an installer may take older releases of all that ask for it: those would have
        // to ask for one that goes.
        let is_taken = |row: &&&'c Companion| {
            let with_it = [locked.as_slice(), &[(name.to_string(), row.version).into()]].concat();
            let goes = |beside: &[Beside], by: &str, asked: &Specifier| !is_excluded(problem, beside, by, asked);
            packages.iter().all(|(by, asked)| goes(&with_it, by, asked) || !goes(&locked, by, asked))
        };
        match going.iter().find(is_asked) {
            Some(row) => {
                // Of two of one number pip takes that of the package index, which is as good where it goes.
                let has_label = variant::parts(&row.carried()).1.is_some();
                let is_like = |one: &&&Companion| one.variant.is_none() && one.version == row.version && !has_label;
                let row = going.iter().find(is_like).unwrap_or(row);
                let is_taken = row.variant.is_none() && row.version == newest.version;
                let is_elsewhere = row.variant.is_some() && !has_label;
                (!is_taken).then_some(Follower { row, going: None, is_elsewhere })
            }
            // One goes with an older release of who asks for it: nobody knows that none does.
            None if going.iter().any(|row| is_taken(&row)) => None,
            None => {
                let going = going.iter().map(|row| row.version).collect();
                Some(Follower { row: newest, going: Some(going), is_elsewhere: false })
            }
        }
    };
    let coming = coming(problem, &chosen.locked(), packages);
    let coming = coming.iter().filter(|(name, _)| !is_told(name));
    coming.filter_map(|(name, asked)| follower((name, asked.clone()))).collect()
}

/// What of a package that comes along goes with nothing else that is chosen than the GPUs or the Python.
#[derive(Debug)]
pub enum Bar<'c> {
    /// The framework, its CUDA or its cuDNN.
    Build,
    /// The GPUs: what a rule says of them; none where there is no code for them.
    Gpu(Option<&'c str>),
    /// The Python: those that there are wheels for.
    Python(&'c str),
}

/// What keeps every release that is asked for of a package from going with a choice.
pub fn bar<'c>(problem: &Problem<'c>, chosen: &TargetSolution<'_>, name: &str, asked: &Specifier) -> Bar<'c> {
    let all = on_index(problem, chosen, name).into_iter();
    let mut going = all.filter(|row| asked.admits(&row.version) && goes(problem, chosen, row, &[]));
    let Some(newest) = going.clone().find(|row| for_python(chosen, row)).or_else(|| going.next()) else {
        return Bar::Build;
    };
    let rules = problem.rules.of_package(name, Subject::Gpu);
    let says = || gpus_of(chosen).into_iter().find_map(|gpu| refusing(&rules, newest, gpu));
    match newest.python.as_deref().filter(|_| !for_python(chosen, newest)) {
        Some(needs) => Bar::Python(needs),
        None => Bar::Gpu(says()),
    }
}

/// The GPUs of a target.
fn gpus_of(chosen: &TargetSolution<'_>) -> Vec<Cc> {
    chosen.gpus.iter().map(|gpu| gpu.cc).collect()
}

/// Whether a release is for the Python that is chosen.
fn for_python(chosen: &TargetSolution<'_>, row: &Companion) -> bool {
    chosen.python.zip(row.python.as_deref()).is_none_or(|(line, needs)| admits(needs, line))
}

/// The releases of a package on the package index, and on torch's own, which has wheels of others for its CUDA; newest first.
fn on_index<'c>(problem: &Problem<'c>, chosen: &TargetSolution<'_>, name: &str) -> Vec<&'c Companion> {
    let torch = chosen.builds.iter().find(|build| build.package == TORCH && build.index.contains(&Index::Pytorch));
    let of_torch = torch.map(|build| &*build.variant);
    let is_there = |row: &&Companion| is_on_index(row, chosen.arch, of_torch);
    problem.package(name).into_iter().flat_map(|of| of.releases.iter().copied()).filter(is_there).collect()
}

/// Whether a release goes with a choice, as far as anybody knows: with the release of its framework, the CUDA and the C++ ABI
/// of that, the GPUs, and the cuDNN that is there.
fn goes(problem: &Problem<'_>, chosen: &TargetSolution<'_>, row: &Companion, gpus: &[Cc]) -> bool {
    let own = chosen.builds.iter().find(|build| *build.package == *row.framework);
    let needs = Constraint::parse(&row.needs).ok().filter(|_| !row.follows_cuda());
    let is_out = |needs: &Constraint| own.is_some_and(|build| !needs.admits(&build.version.release()));
    if needs.as_ref().is_some_and(is_out) {
        return false;
    }
    let on_gpu = || chosen.builds.iter().find(|build| !build.is_cpu());
    // Of what follows a framework that is not locked nothing is known, for that comes along as it likes.
    if own.is_none() && !row.follows_cuda() || !chosen.builds.is_empty() && on_gpu().is_none() {
        return true;
    }
    let build = own.or_else(on_gpu);
    let line = match build {
        Some(build) => build.line(),
        None => chosen.cuda.map(|toolkit| toolkit.version.prefix(2)),
    };
    if build.is_none() && line.is_none() {
        return true;
    }
    let variant = build.map_or("", |build| &*build.variant);
    loads(problem, row, (variant, line.as_ref()), &chosen.cudnns(), (chosen.arch, gpus))
}
