//! A spec with one key changed: how minimal conflicts and fixes ask their questions.

use std::ops::Range;

use super::error::Refusal;
use super::field::Read;
use super::keys::{self, Key, ORDINARY};
use super::slot::{STACKED, Shape, Slot};
use super::{Build, Resolve, Spec, Target, Targets};

/// What a key of the whole file names, `target.prod.gpu`.
enum Place<'k> {
    Package(&'k str),
    Ordinary(&'k str),
    Build(&'static Key<Build>),
    Resolve(&'static Key<Resolve>),
    Target(&'k str, &'static Key<Target>),
}

impl<'k> Place<'k> {
    fn of(key: &'k str) -> Option<Self> {
        Some(match key.split_once('.')? {
            ("stack", name) => Place::Package(name),
            ("packages", name) => Place::Ordinary(name),
            ("build", key) => Place::Build(keys::BUILD.key(key)?),
            ("resolve", key) => Place::Resolve(keys::RESOLVE.key(key)?),
            ("target", path) => {
                let (name, key) = path.split_once('.')?;
                Place::Target(name, keys::TARGET.key(key)?)
            }
            _ => return None,
        })
    }
}

/// What a key of the whole file may hold.
pub(super) fn shape(key: &str) -> Option<Shape> {
    Some(match Place::of(key)? {
        Place::Package(_) => STACKED.shape(),
        Place::Ordinary(_) => ORDINARY.shape(),
        Place::Build(key) => key.slot.shape(),
        Place::Resolve(key) => key.slot.shape(),
        Place::Target(_, key) => key.slot.shape(),
    })
}

impl Spec {
    /// The bytes of a key's value: `stack.torch`, `build.arch-list`, `target.prod.gpu`; of a target's header
    /// for `target.prod`.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        let span = |written: Option<(&str, &Range<usize>)>| written.map(|(_, span)| span.clone());
        match Place::of(key) {
            Some(Place::Package(name)) => span(STACKED.written(self, name)),
            Some(Place::Ordinary(name)) => span(ORDINARY.written(self, name)),
            Some(Place::Build(key)) => span(key.slot.written(self.build.as_ref()?, key.name)),
            Some(Place::Resolve(_)) => None,
            Some(Place::Target(name, key)) => span(key.slot.written(self.target(name)?, key.name)),
            None if key == "requires-gpuenv" => self.requires_gpuenv.as_ref().map(|written| written.span.clone()),
            None => self.target(key.strip_prefix("target.")?).map(|target| target.span.clone()),
        }
    }

    /// What is written for a key, as [`Written::text`](super::Written) has it; switches left at their default are
    /// not written.
    pub fn text(&self, key: &str) -> Option<String> {
        fn text<O>(slot: &dyn Slot<O>, owner: &O, key: &str) -> Option<String> {
            slot.written(owner, key).map(|(text, _)| text.to_string()).or_else(|| slot.input(owner))
        }
        match Place::of(key)? {
            Place::Package(name) => text(&STACKED, self, name),
            Place::Ordinary(name) => text(&ORDINARY, self, name),
            Place::Build(key) => text(key.slot, self.build.as_ref()?, key.name),
            Place::Resolve(key) => text(key.slot, &self.resolve, key.name),
            Place::Target(name, key) => text(key.slot, self.target(name)?, key.name),
        }
    }

    /// Every written key that a conflict can blame, in file order.
    pub fn keys(&self) -> Vec<String> {
        let stack = self.stack.iter().map(|(name, one)| (one.span.start, format!("stack.{name}")));
        // Of what is under `[packages]` only NVIDIA's libraries bear on what is chosen.
        let libraries = self.packages.iter().filter(|(name, _)| is_of_nvidia(name));
        let libraries = libraries.map(|(name, one)| (one.span.start, format!("packages.{name}")));
        let mut keys: Vec<(usize, String)> = stack.chain(libraries).collect();
        if let Some(build) = &self.build {
            for key in keys::BUILD.keys {
                let written = key.slot.written(build, key.name);
                keys.extend(written.map(|(_, span)| (span.start, format!("build.{}", key.name))));
            }
        }
        for target in self.targets.iter() {
            for (key, span) in target.written() {
                keys.push((span.start, format!("target.{}.{key}", target.name)));
            }
        }
        crate::types::sort_by_key(&mut keys, |(at, _)| *at);
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// The spec as if the key's line were deleted. A key that is not written changes nothing.
    pub fn without(&self, key: &str) -> Spec {
        self.without_all([key].into_iter())
    }

    /// A copy in which no target stands.
    pub fn clone_without_targets(&self) -> Spec {
        Spec {
            requires_gpuenv: self.requires_gpuenv.clone(),
            stack: self.stack.clone(),
            own: self.own.clone(),
            packages: self.packages.clone(),
            build: self.build.clone(),
            targets: Targets::default(),
            resolve: self.resolve.clone(),
            catalog_version: self.catalog_version.clone(),
            overlays: self.overlays.clone(),
            silences: self.silences.clone(),
            exports: self.exports.clone(),
            overrides: self.overrides.clone(),
        }
    }

    /// The spec without some keys.
    pub fn without_all<'k>(&self, keys: impl Iterator<Item = &'k str>) -> Spec {
        let mut spec = self.clone();
        for key in keys {
            let _ = spec.set(key, None); // What cannot be removed was not there.
        }
        spec
    }

    /// The spec after some edits of keys, each as [`Spec::with`] makes it but that nothing is removed which is not there.
    pub fn edited(&self, edits: &[(String, Option<String>)]) -> Result<Spec, String> {
        let mut spec = self.without_all(edits.iter().filter(|(_, text)| text.is_none()).map(|(key, _)| key.as_str()));
        for (key, text) in edits.iter().filter(|(_, text)| text.is_some()) {
            spec.set(key, text.as_deref()).map_err(|refusal| refusal.at(0..0).message)?;
        }
        Ok(spec)
    }

    /// The spec with a key set to a text as a fix writes it (`>=570`, `["12.4"]`), or removed.
    ///
    /// A key that was not written before gets an empty place at the end of what its table already holds.
    pub fn with(&self, key: &str, text: Option<&str>) -> Result<Spec, String> {
        let mut spec = self.clone();
        let set = spec.set(key, text);
        set.map_err(|refusal| refusal.at(0..0).message)?;
        Ok(spec)
    }

    /// The spec with a package as it was typed on the command line: no place of the file says so.
    pub fn typed(&self, package: &str, text: &str) -> Result<Spec, String> {
        let mut spec = self.with(&format!("stack.{package}"), Some(text))?;
        for (_, written) in spec.stack.iter_mut().filter(|(name, _)| name == package) {
            written.span.end = written.span.start;
        }
        Ok(spec)
    }

    /// The target of this name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.named(name)
    }

    fn set(&mut self, key: &str, text: Option<&str>) -> Read<()> {
        let unknown = || Refusal::new("unknown-key", format!("`{key}` cannot be changed"));
        match Place::of(key).ok_or_else(unknown)? {
            Place::Package(name) => {
                let end = self.stack.iter().map(|(_, one)| one.span.end).max().unwrap_or(0);
                STACKED.set(self, name, text, end)
            }
            Place::Ordinary(name) => {
                let end = self.packages.iter().map(|(_, one)| one.span.end).max().unwrap_or(0);
                ORDINARY.set(self, name, text, end)
            }
            // Removing from a table that is not there must not bring it into being.
            Place::Build(_) if text.is_none() && self.build.is_none() => Ok(()),
            Place::Build(key) => key.slot.set(self.build.get_or_insert_with(Build::default), key.name, text, 0),
            Place::Resolve(key) => key.slot.set(&mut self.resolve, key.name, text, 0),
            Place::Target(name, key) => {
                let target = self.targets.named_mut(name).ok_or_else(unknown)?;
                // A new key is written behind what stands there.
                let end = target.written().map(|(_, span)| span.end).max().unwrap_or(target.span.end);
                key.slot.set(target, key.name, text, end)?;
                target.contradiction().map_or(Ok(()), |(refusal, _)| Err(refusal))
            }
        }
    }
}

impl Target {
    /// The keys that a conflict can blame, and where their values stand.
    fn written(&self) -> impl Iterator<Item = (&'static str, &Range<usize>)> {
        keys::TARGET.keys.iter().filter_map(|key| Some((key.name, key.slot.written(self, key.name)?.1)))
    }
}

/// Whether a package is one of NVIDIA's libraries, or the metapackage of them: frameworks ask pip for these.
pub fn is_of_nvidia(name: &str) -> bool {
    name.starts_with("nvidia-") || name.starts_with("cuda-")
}
