//! What a format does not say although the lock asks for it.

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Options, Targets, choose};
use super::requirements::{self, Later};
use super::{ExportError, builds, cmake, ordinary, own, quote, valid};

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
        let unseen = by_pip.map_or_else(Vec::new, |_| unseen(lock, &chosen));
        [own, ordinary].into_iter().flatten().chain(unseen).chain(rest.into_iter().flatten()).collect()
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
fn unseen(lock: &Lock, targets: &Targets) -> Vec<String> {
    let [asked, brought] = requirements::unseen(lock, targets);
    let told = |unseen: Vec<String>, condition: &str| {
        (!unseen.is_empty()).then(|| {
            format!(
                "no file of {} with the label of the locked torch is known: {condition}pip may take the build of another CUDA, \
                 and `pip list` does not show which; `gpuenv export uv` takes it from torch's index alone",
                unseen.join(" or ")
            )
        })
    };
    [told(asked, ""), told(brought, "if anything asks for it, ")].into_iter().flatten().collect()
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

/// What formats that install all at once say of packages that are compiled beside what is installed already.
fn not_isolated(lock: &Lock, targets: &Targets) -> Option<String> {
    let mut commands: Vec<String> =
        targets.iter().filter_map(|(name, target)| compile_later(lock, name, target)).collect();
    commands.dedup();
    (!commands.is_empty()).then(|| {
        format!(
            "what is compiled beside the locked wheels is not in it; install it afterwards: {}",
            commands.join("; ")
        )
    })
}

/// The commands for a target's, each in its marks.
fn compile_later(lock: &Lock, name: &str, target: &TargetLock) -> Option<String> {
    let commands = compile_commands(lock, name, target).ok()?;
    let marked: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
    (!marked.is_empty()).then(|| marked.join(", then "))
}

/// The same as a comment of the text, a line each.
pub(super) fn compiled_comment(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let commands = compile_commands(lock, name, target)?;
    if commands.is_empty() {
        return Ok(String::new());
    }
    let head = "# Not in here, for it is compiled beside what is: install it afterwards with\n".to_string();
    Ok(commands.iter().fold(head, |head, command| head + &format!("#   {command}\n")))
}

fn compile_commands(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<String>, ExportError> {
    let Some(Later { tools, variables, lines }) = requirements::later(lock, name, target)? else {
        return Ok(Vec::new());
    };
    // An option of a requirements file is two words.
    let word = |word: &String| if word.starts_with("--") { word.clone() } else { quote::sh(word) };
    let words = |words: &[String]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let mut commands = Vec::new();
    if !tools.is_empty() {
        commands.push(format!("pip install {}", words(&tools)));
    }
    let command = format!("{} pip install --no-build-isolation {}", builds::assigned(&variables), words(&lines));
    commands.push(command.trim_start().to_string());
    Ok(commands)
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
