//! What a format does not say although the lock asks for it.

use crate::lock::{Lock, TargetLock, Wheel};

use super::format::{Format, Options, Targets, choose};
use super::{cmake, ordinary, own, requirements, valid, wheels};

impl Format {
    /// What the text does not hold although the lock asks for it, in sentences.
    pub fn remarks(&self, lock: &Lock, options: &Options) -> Vec<String> {
        let Ok(chosen) = choose(lock, options) else { return Vec::new() };
        let own = self.installs.and_then(|_| own::left_out(lock, &chosen));
        let ordinary = ordinary::left_out(lock, &chosen, self.name, options);
        let rest = [
            self.installs.filter(|how| how.at_once).and_then(|_| not_isolated(lock, &chosen)),
            unnamed_gcc(lock, &chosen, self.name, options),
            mig(lock, &chosen, self.name, options),
        ];
        let by_pip = self.installs.filter(|how| how.by_pip && !options.has("hashes"));
        let unseen = by_pip.and_then(|_| unseen(lock, &chosen));
        [own, ordinary, unseen].into_iter().chain(rest).flatten().collect()
    }
}

impl Format {
    /// What was asked for and is not in the text because nobody knows it, in a sentence: the answer is then undetermined.
    pub fn undetermined(&self, lock: &Lock, options: &Options) -> Option<String> {
        let unknown = match self.name == "requirements" && options.has("hashes") {
            true => requirements::unhashed(lock, &choose(lock, options).ok()?),
            false => Vec::new(),
        };
        let stand = if unknown.len() == 1 { "it stands" } else { "they stand" };
        (!unknown.is_empty()).then(|| {
            format!(
                "the sha256 of {} is not known, and pip accepts hashes only if every requirement has one: {stand} in the file as \
                 a comment, to be installed afterwards; `uv pip compile --generate-hashes` fetches all of them",
                unknown.join(", ")
            )
        })
    }
}

/// What pip may take from elsewhere, since nobody has seen it with the label of the locked CUDA.
fn unseen(lock: &Lock, targets: &Targets) -> Option<String> {
    let unseen = requirements::unseen(lock, targets);
    (!unseen.is_empty()).then(|| {
        format!(
            "no file of {} with the label of the locked torch is known: if anything asks for it, pip may take the build of \
             another CUDA, and `pip list` does not show which; `gpuenv export uv` takes it from torch's index alone",
            unseen.join(" or ")
        )
    })
}

/// A gcc that gpuenv.toml names and that has no name by which every system of that kind installs it.
fn unnamed_gcc(lock: &Lock, targets: &Targets, format: &str, options: &Options) -> Option<String> {
    if format != "cmake" || options.get("host-compiler").is_some() {
        return None;
    }
    let unnamed = |(name, target): &(&str, &TargetLock)| {
        let gcc = lock.inputs.get(&format!("target.{name}.gcc"))?;
        let is_named = cmake::host_compiler(lock, name, target).ok()?.is_some();
        (!is_named).then(|| {
            format!("CMake takes the default compiler of target `{name}`: if that is not gcc {gcc}, say where it is with --host-compiler PATH")
        })
    };
    targets.iter().find_map(unnamed)
}

/// What formats without a place for it say of packages that are compiled beside an installed framework.
fn not_isolated(lock: &Lock, targets: &Targets) -> Option<String> {
    let of_all: Vec<&Wheel> = targets.iter().flat_map(|(name, _)| lock.wheels_of(name)).collect();
    let (packages, tools) = wheels::unisolated(&of_all).ok()?;
    let tools = if tools.is_empty() { String::new() } else { format!(", after {}", tools.join(", ")) };
    (!packages.is_empty()).then(|| {
        format!(
            "{} must be compiled beside the installed framework, which this format cannot say: install it afterwards with `pip \
             install --no-build-isolation`{tools}",
            packages.join(", ")
        )
    })
}

/// What a scheduler calls an instance of a partitioned GPU depends on how its site hands them out.
fn mig(lock: &Lock, targets: &Targets, format: &str, options: &Options) -> Option<String> {
    if format != "kubernetes" || options.get("resource").is_some() || options.has("dra") {
        return None;
    }
    targets.iter().find_map(|(name, _)| {
        let written = lock.inputs.get(&format!("target.{name}.gpu"))?;
        let profile = written.split_once(" MIG ")?.1.split(['"', ' ', ',']).next()?;
        let resource = format!("nvidia.com/mig-{}", profile.to_ascii_lowercase().replace('+', "."));
        valid::is_resource(&resource).then(|| {
            format!(
                "it asks for nvidia.com/gpu, as clusters with MIG strategy `single` call an instance {profile}: where the strategy is \
                 `mixed`, add --resource {resource}"
            )
        })
    })
}
