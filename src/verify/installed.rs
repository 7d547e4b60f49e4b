//! Whether a package that is installed is the locked build: its release, and the CUDA that it was built for.

use std::collections::BTreeMap;

use crate::catalog::rows::{BESIDE_TORCH, Companion, TORCH};
use crate::host::Python;
use crate::lock::{ConstraintLock, Wheel};
use crate::types::address::is_same_version;
use crate::types::constraint::Constraint;
use crate::types::name::STACK_PARTS;
use crate::types::{Version, name, variant};

use super::context::CheckContext;

/// A package as it is to be installed.
#[derive(Clone, Copy)]
pub struct Wanted<'c> {
    pub name: &'c str,
    /// Its version in the stack, else that of its constraint.
    pub locked: &'c str,
    /// What installs it; none where it stands in an image, is somebody's own, or comes in through others.
    pub wheel: Option<&'c Wheel>,
    /// What it is held to where others bring it in.
    pub constraint: Option<&'c ConstraintLock>,
    /// Its user has described it in gpuenv.toml, in as many numbers as he liked.
    is_own: bool,
}

/// What an installed package is of the locked build.
pub enum Build {
    Locked,
    /// The locked build by the name that another index gives it.
    Relabelled(String),
    /// It may be the locked build.
    Unclear(String),
    Other,
}

impl<'c> Wanted<'c> {
    /// The packages of the stack, and those that are not named and may come in through others.
    pub fn all(context: &CheckContext<'c>) -> Vec<Wanted<'c>> {
        let stack = context.stack().iter().filter(|(name, _)| !STACK_PARTS.contains(&name.as_str()));
        let named = stack.map(|(name, locked)| Wanted::new(context, name, locked, None));
        let others = context.lock.constraints_of(context.name);
        let others = others.filter(|one| !context.stack().contains_key(&one.package));
        named.chain(others.map(|one| Wanted::new(context, &one.package, &one.version, Some(one)))).collect()
    }

    /// One of the stack.
    pub fn of_stack(context: &CheckContext<'c>, name: &str) -> Option<Wanted<'c>> {
        let (name, locked) = context.stack().get_key_value(name)?;
        Some(Wanted::new(context, name, locked, None))
    }

    fn new(
        context: &CheckContext<'c>,
        name: &'c str,
        locked: &'c str,
        constraint: Option<&'c ConstraintLock>,
    ) -> Wanted<'c> {
        let wheel = context.lock.wheels_of(context.name).find(|wheel| wheel.package == name);
        let is_own = context.lock.own_builds().any(|own| own == name);
        Wanted { name, locked, wheel, constraint, is_own }
    }

    /// The version and the index by which installers are told.
    fn required(&self) -> Option<(&'c str, Option<&'c str>)> {
        let by_wheel = self.wheel.map(|wheel| (&*wheel.version, wheel.index.as_deref()));
        by_wheel.or_else(|| self.constraint.map(|one| (&*one.version, one.index.as_deref())))
    }

    /// Its version with the label that tells its build, where it has one.
    pub fn shown(&self) -> &'c str {
        self.required().map(|(version, _)| version).filter(|version| version.contains('+')).unwrap_or(self.locked)
    }

    /// The variant that is wanted: by its label, by its index, or what the package index has of it.
    fn variant(&self, context: &CheckContext<'c>) -> Option<&'c str> {
        let label = |version: &'c str| variant::parts(version).1;
        let (version, index) = self.required().unwrap_or((self.locked, None));
        let index = index.filter(|_| !self.is_own);
        let of_index = || index?.rsplit('/').find(|part| !part.is_empty()).filter(|part| cuda_of(part).is_some());
        let is_plain = self.required().is_some()
            && index.is_none()
            && !self.is_own
            && self.wheel.is_none_or(|wheel| wheel.url.is_none());
        let of_package_index = || is_plain.then(|| self.default_variant(context)).flatten();
        label(self.locked).or_else(|| label(version)).or_else(of_index).or_else(of_package_index)
    }

    /// The variant that the package index serves without being asked for one, on the locked processor. What lies beside torch
    /// is built there with the torch that lies there.
    fn default_variant(&self, context: &CheckContext<'c>) -> Option<&'c str> {
        let release = Version::parse(variant::public(self.locked)).ok()?;
        let (framework, release) = match BESIDE_TORCH.contains(&self.name) {
            true => (TORCH, built_with(&self.plain(context, &release)?.needs)?),
            false => (self.name, release),
        };
        let builds = context.catalog.builds.of(framework).iter();
        let is_it = |row: &&crate::catalog::rows::Build| {
            row.default && row.version.cmp_prefix(&release).is_eq() && row.arch.as_str() == context.target.arch
        };
        builds.into_iter().find(is_it).map(|row| &*row.variant)
    }

    /// The row of the wheel that the package index has of a companion.
    fn plain(&self, context: &CheckContext<'c>, release: &Version) -> Option<&'c Companion> {
        let is_it = |row: &&Companion| {
            row.version == *release && row.variant.is_none() && row.url.is_none() && row.systems.is_empty()
        };
        context.catalog.companions.of(self.name).iter().find(is_it)
    }

    /// Whether a version without a label is the locked release.
    pub fn is_release(&self, found: &str) -> bool {
        is_release(found, variant::public(self.locked), self.is_own)
    }

    /// Whether a version has the locked build's own name, by one that an index gives it.
    pub fn is(&self, context: &CheckContext<'c>, found: &str) -> bool {
        let (release, label) = variant::parts(found);
        let is_labelled = self.required().map_or(self.locked, |(version, _)| version).contains('+');
        self.is_written(found)
            || self.is_release(release)
                && match label {
                    Some(label) => matches!(self.by_label(context, found, label), Build::Locked),
                    None => !is_labelled,
                }
    }

    fn is_written(&self, found: &str) -> bool {
        match self.required() {
            Some((version, _)) => is_same_version(version, found),
            None => is_same_version(found, self.locked),
        }
    }

    /// An installed version against the locked build. An index may serve a build without the variant in its name, and then
    /// what torch says of itself decides, else which build the package index serves by default.
    pub fn build(&self, context: &CheckContext<'c>, python: &Python, found: &str) -> Build {
        if let Some(said) = own_build(python, self.name) {
            return match (self.is(context, said), self.is(context, found)) {
                (true, true) => Build::Locked,
                // A list that names another variant is of another installation.
                (true, false) if found.contains('+') => Build::Other,
                (true, false) => {
                    Build::Relabelled(format!("torch says of itself that it is {said}: the build is the same"))
                }
                (false, _) => Build::Other,
            };
        }
        if self.is(context, found) {
            return Build::Locked;
        }
        if begins(found, variant::public(self.locked)) {
            return Build::Unclear(format!("which release of {} {found} it is was not told", self.name));
        }
        match variant::parts(found) {
            (release, Some(label)) if self.is_release(release) => self.by_label(context, found, label),
            (release, None) if self.is_release(of_conda_forge(self.name, release).unwrap_or(release)) => {
                self.by_source(context, python, found)
            }
            _ => Build::Other,
        }
    }

    /// A locked release by the label behind its number.
    fn by_label(&self, context: &CheckContext<'c>, found: &str, label: &str) -> Build {
        let untold = || Build::Unclear(format!("for which CUDA {} {found} was built is not told", self.name));
        match (self.variant(context), cuda_of(label)) {
            (Some(variant), _) if is_same_version(variant, label) => Build::Locked,
            (Some(variant), Some(line)) => match cuda_of(variant) {
                Some(wanted) if agree(wanted.as_ref(), line.as_ref()) => Build::Locked,
                _ => Build::Other,
            },
            (Some(_), None) if self.locked.contains('+') => Build::Other,
            (Some(_), None) => untold(),
            (None, Some(None)) if context.needs_gpu() => untold(),
            // What is not locked by its CUDA goes with any of the major of the stack.
            (None, Some(Some(line))) if context.line().is_some_and(|locked| locked.major() != line.major()) => {
                Build::Other
            }
            (None, _) => Build::Locked,
        }
    }

    /// A locked release without a label, where the locked build has one: by where it came from.
    fn by_source(&self, context: &CheckContext<'c>, python: &Python, found: &str) -> Build {
        let Some(wanted) = self.variant(context) else { return Build::Other };
        let untold = |whence: &str| {
            Build::Unclear(format!("{} {found} comes from {whence}: which build it is was not told", self.name))
        };
        let told = python.torch.as_ref().filter(|_| self.name == TORCH).and_then(|torch| torch.cuda.as_ref());
        if let Some(cuda) = told {
            return match cuda_of(wanted) == Some(Some(cuda.prefix(2))) {
                true => Build::Relabelled(format!("torch says of itself that it was built for CUDA {cuda}")),
                false => Build::Other,
            };
        }
        if of_conda_forge(self.name, found).is_some() {
            return untold("conda-forge");
        }
        let default = self.default_variant(context);
        if default == Some(wanted) {
            return Build::Relabelled(format!(
                "what the package index serves as {} {found} is the {wanted} build",
                self.name
            ));
        }
        let release = Version::parse(found).ok();
        let loads = release.and_then(|release| self.plain(context, &release)?.cuda);
        let is_other =
            loads.is_some_and(|loads| cuda_of(wanted) != Some(None) && !agree(line(wanted).as_ref(), Some(&loads)));
        let torch = own_build(python, TORCH).or_else(|| installed(python, TORCH));
        match (torch, Wanted::of_stack(context, TORCH)) {
            _ if self.name == TORCH => Build::Other,
            // A companion without a variant in its name comes from where such a torch came from.
            (Some(torch), Some(locked)) if !torch.contains('+') => match locked.build(context, python, torch) {
                Build::Other => Build::Other,
                _ => untold("another index"),
            },
            (Some(_), _) if default.is_some() || is_other => Build::Other,
            _ => untold("another index"),
        }
    }

    /// What is installed instead, and the command that installs the locked build.
    pub fn install(&self, found: &str) -> String {
        let (version, index) = self.required().unwrap_or((self.locked, None));
        let requirement = self.wheel.map_or_else(|| format!("{}=={version}", self.name), Wheel::requirement);
        let what = if found.ends_with("+cpu") { "the CPU build is installed" } else { "another build is installed" };
        format!("{what}: `pip install '{requirement}'{}`", option(index))
    }
}

/// The torch that something was built with: the only one that it takes, else the oldest.
fn built_with(needs: &str) -> Option<Version> {
    let needs = Constraint::parse(needs).ok()?;
    let oldest = || needs.comparisons().find(|one| one.op.is_lower()).and_then(|one| one.version);
    needs.single().copied().or_else(oldest)
}

/// The option that names an index.
pub fn option(index: Option<&str>) -> String {
    index.map_or(String::new(), |index| format!(" --index-url {index}"))
}

/// Whether a version without a variant is this release, and none of the builds before or after it.
fn is_release(found: &str, release: &str, is_rough: bool) -> bool {
    match (Version::parse(found), Version::parse(release)) {
        (Ok(found), Ok(release)) if is_rough => found.cmp_prefix(&release).is_eq(),
        (Ok(found), Ok(release)) => found == release,
        _ => found == release,
    }
}

/// Whether a version is the beginning of one in more numbers, in two as people type it.
pub fn begins(short: &str, whole: &str) -> bool {
    let parsed = Version::parse(short).ok().zip(Version::parse(whole).ok());
    is_line(short) && parsed.is_some_and(|(short, whole)| whole.len() > 2 && whole.cmp_prefix(&short).is_eq())
}

fn is_line(version: &str) -> bool {
    Version::parse(version).is_ok_and(|version| version.len() == 2)
}

/// The release of a torch in which conda-forge counts its builds: `2.5.1` of `2.5.1.post303`.
fn of_conda_forge<'t>(name: &str, found: &'t str) -> Option<&'t str> {
    found.split_once(".post").filter(|(_, build)| name == TORCH && !build.contains('+')).map(|(release, _)| release)
}

/// The CUDA that a label names, `12.1` of `pt21cu121`, `12` of `cuda12.cudnn89`; none within where it names a build without
/// CUDA, and none at all where it says nothing of that.
fn cuda_of(label: &str) -> Option<Option<Version>> {
    if let Some(line) = line(label) {
        return Some(Some(line));
    }
    ["cpu", "rocm", "xpu"].iter().any(|word| label.contains(word)).then_some(None)
}

fn line(label: &str) -> Option<Version> {
    label.match_indices("cu").find_map(|(at, _)| {
        let rest = &label[at + 2..];
        let rest = rest.strip_prefix("da").unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        variant::line_of(&format!("cu{}", &rest[..end]))
    })
}

/// Whether two builds are for one CUDA, in as many numbers as both tell.
fn agree(one: Option<&Version>, other: Option<&Version>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let length = one.len().min(other.len());
            one.prefix(length) == other.prefix(length)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// What the torch that is imported says of its release where the list names another: two are installed. With the variant in
/// its version it is told apart further on.
pub fn own_release<'p>(python: &'p Python, name: &str, listed: &str) -> Option<&'p str> {
    let said = python.torch.as_ref().filter(|_| name == TORCH)?.version.as_deref()?;
    let listed = variant::public(listed);
    (!said.contains('+') && !is_release(listed, said, false) && !is_line(said)).then_some(said)
}

/// What the torch that is imported says of itself, where that tells its build.
pub fn own_build<'p>(python: &'p Python, name: &str) -> Option<&'p str> {
    let said = python.torch.as_ref().filter(|_| name == TORCH)?.version.as_deref();
    said.filter(|said| said.contains('+'))
}

/// What is told of a package, by its name in either spelling.
pub fn entry<'p>(told: &'p BTreeMap<String, String>, name: &str) -> Option<&'p str> {
    told.iter().find(|(known, _)| name::package(known) == name).map(|(_, text)| text.as_str())
}

/// The version of a package that is installed.
pub fn installed<'p>(python: &'p Python, name: &str) -> Option<&'p str> {
    entry(&python.packages, name)
}

#[cfg(test)]
mod tests;
