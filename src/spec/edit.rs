//! A spec with one key changed: how minimal conflicts and fixes ask their questions.

use std::ops::Range;

use toml::de::DeValue;

use super::error::Refusal;
use super::value::list_text;
use super::{Build, ForwardCompat, ImageRef, Resolve, Spec, Target, Written, field};

/// The keys of a target that a conflict can blame.
const CULPRITS: [&str; 9] = ["gpu", "driver", "driver-cuda", "os", "arch", "image", "glibc", "gcc", "toolkit"];

impl Spec {
    /// The bytes of a key's value: `stack.torch`, `build.arch-list`, `target.prod.gpu`; of a target's header
    /// for `target.prod`.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        if key == "requires-gpuenv" {
            return span(&self.requires_gpuenv);
        }
        match key.split_once('.')? {
            ("stack", name) => self.stack.iter().find(|(known, _)| known == name).map(|(_, one)| one.span.clone()),
            ("build", "arch-list") => span(&self.build.as_ref()?.arch_list),
            ("target", path) => match path.split_once('.') {
                Some((name, key)) => self.target(name)?.key_span(key),
                None => Some(self.target(path)?.span.clone()),
            },
            _ => None,
        }
    }

    /// What is written for a key, as [`Written::text`](super::Written) has it; switches left at their default are
    /// not written.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = |one: Option<&str>| one.map(str::to_string);
        match key.split_once('.')? {
            ("stack", name) => {
                text(self.stack.iter().find(|(known, _)| known == name).map(|(_, one)| one.text.as_str()))
            }
            ("build", "arch-list") => text(written(&self.build.as_ref()?.arch_list)),
            ("resolve", "share") => text(match self.resolve.share {
                super::Share::Stack => None,
                super::Share::Versions => Some("versions"),
                super::Share::None => Some("none"),
            }),
            ("target", path) => {
                let (name, key) = path.split_once('.')?;
                text(self.target(name)?.text(key))
            }
            _ => None,
        }
    }

    /// Every written key that a conflict can blame, in file order.
    pub fn keys(&self) -> Vec<String> {
        let stack = self.stack.iter().map(|(name, one)| (one.span.start, format!("stack.{name}")));
        let mut keys: Vec<(usize, String)> = stack.collect();
        keys.extend(self.key_span("build.arch-list").map(|span| (span.start, "build.arch-list".to_string())));
        for target in &self.targets {
            let written = CULPRITS.iter().filter_map(|key| Some((target.key_span(key)?.start, *key)));
            keys.extend(written.map(|(at, key)| (at, format!("target.{}.{key}", target.name))));
        }
        keys.sort_by_key(|(at, _)| *at);
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
            build: self.build.clone(),
            targets: Vec::new(),
            resolve: self.resolve.clone(),
            overlays: self.overlays.clone(),
            silences: self.silences.clone(),
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

    /// The target of this name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    fn set(&mut self, key: &str, text: Option<&str>) -> Result<(), Refusal> {
        let unknown = || Refusal::new("unknown-key", format!("`{key}` cannot be changed"));
        match key.split_once('.').ok_or_else(unknown)? {
            ("stack", name) => return self.set_package(name, text),
            // Removing from a table that is not there must not bring it into being.
            ("build", "cuda-extensions" | "ptx" | "arch-list") if text.is_none() && self.build.is_none() => {}
            ("build", "cuda-extensions") => self.build_mut().cuda_extensions = switch(text, true)?,
            ("build", "ptx") => self.build_mut().ptx = switch(text, false)?,
            ("build", "arch-list") => put(&mut self.build_mut().arch_list, text, 0..0, field::arch_list)?,
            ("resolve", key) => return self.resolve.set(key, text).unwrap_or_else(|| Err(unknown())),
            ("target", path) => {
                let (name, key) = path.split_once('.').ok_or_else(unknown)?;
                let target = self.targets.iter_mut().find(|target| target.name == name).ok_or_else(unknown)?;
                return target.set(key, text).unwrap_or_else(|| Err(unknown()));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn set_package(&mut self, name: &str, text: Option<&str>) -> Result<(), Refusal> {
        let name = field::package(name)?;
        let known = self.stack.iter().position(|(known, _)| *known == name);
        let Some(text) = text else {
            known.map(|at| self.stack.remove(at));
            return Ok(());
        };
        let value = field::constraint(&name, text)?;
        let end = self.stack.iter().map(|(_, one)| one.span.end).max().unwrap_or(0);
        let written = |span| Written { value, text: text.to_string(), span };
        match known {
            Some(at) => self.stack[at].1 = written(self.stack[at].1.span.clone()),
            None => self.stack.push((name, written(end..end))),
        }
        Ok(())
    }

    fn build_mut(&mut self) -> &mut Build {
        self.build.get_or_insert_with(Build::default)
    }
}

impl Resolve {
    /// None: there is no such key.
    fn set(&mut self, key: &str, text: Option<&str>) -> Option<Result<(), Refusal>> {
        let default = Resolve::default();
        Some(match key {
            "share" => read_or(text, default.share, field::share).map(|share| self.share = share),
            "prefer" => read_or(text, default.prefer, field::prefer).map(|prefer| self.prefer = prefer),
            "allow-experimental" => switch(text, false).map(|allow| self.allow_experimental = allow),
            _ => return None,
        })
    }
}

impl Target {
    /// A target of which nothing is known yet.
    pub(super) fn new(name: String, span: Range<usize>) -> Self {
        Target {
            name,
            span,
            gpu: None,
            driver: None,
            driver_cuda: None,
            runtime: None,
            os: None,
            arch: None,
            image: None,
            forward_compat: ForwardCompat::default(),
            glibc: None,
            gcc: None,
            toolkit: None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        match key {
            "gpu" => written(&self.gpu),
            "driver" => written(&self.driver),
            "driver-cuda" => written(&self.driver_cuda),
            "os" => written(&self.os),
            "arch" => written(&self.arch),
            "image" => written(&self.image),
            "glibc" => written(&self.glibc),
            "gcc" => written(&self.gcc),
            "toolkit" => written(&self.toolkit),
            "forward-compat" => (self.forward_compat == super::ForwardCompat::Never).then_some("never"),
            _ => None,
        }
    }

    fn key_span(&self, key: &str) -> Option<Range<usize>> {
        match key {
            "gpu" => span(&self.gpu),
            "driver" => span(&self.driver),
            "driver-cuda" => span(&self.driver_cuda),
            "os" => span(&self.os),
            "arch" => span(&self.arch),
            "image" => span(&self.image),
            "glibc" => span(&self.glibc),
            "gcc" => span(&self.gcc),
            "toolkit" => span(&self.toolkit),
            _ => None,
        }
    }

    /// None: there is no such key.
    fn set(&mut self, key: &str, text: Option<&str>) -> Option<Result<(), Refusal>> {
        let exclusive = |other: &str| Refusal::new("exclusive", format!("`{key}` and `{other}` exclude each other"));
        match (key, text) {
            ("driver", Some(_)) if self.driver_cuda.is_some() => return Some(Err(exclusive("driver-cuda"))),
            ("driver-cuda", Some(_)) if self.driver.is_some() => return Some(Err(exclusive("driver"))),
            ("image", Some(_)) if self.runtime == Some(super::Runtime::BareMetal) => {
                return Some(Err(exclusive("runtime = \"bare-metal\"")));
            }
            ("runtime", Some("bare-metal")) if self.image.is_some() => return Some(Err(exclusive("image"))),
            _ => {}
        }
        let end = self.end();
        Some(match key {
            "gpu" => put_list(&mut self.gpu, text, end, field::gpu, field::gpus),
            "driver" => put(&mut self.driver, text, end, |text| field::constraint("driver", text)),
            "driver-cuda" => put(&mut self.driver_cuda, text, end, field::driver_cuda),
            "runtime" => text.map(field::runtime).transpose().map(|runtime| self.runtime = runtime),
            "os" => put(&mut self.os, text, end, field::os),
            "arch" => put(&mut self.arch, text, end, field::cpu),
            "image" => put(&mut self.image, text, end, ImageRef::parse),
            "forward-compat" => {
                let policy = read_or(text, ForwardCompat::default(), field::forward_compat);
                policy.map(|policy| self.forward_compat = policy)
            }
            "glibc" => put(&mut self.glibc, text, end, |text| field::version("glibc", text)),
            "gcc" => put(&mut self.gcc, text, end, |text| field::version("gcc", text)),
            "toolkit" => put_list(&mut self.toolkit, text, end, field::toolkit, field::toolkits),
            _ => return None,
        })
    }

    /// Where a new key would be written.
    fn end(&self) -> Range<usize> {
        let ends = CULPRITS.iter().filter_map(|key| Some(self.key_span(key)?.end));
        let end = ends.max().unwrap_or(self.span.end);
        end..end
    }
}

fn written<T>(one: &Option<Written<T>>) -> Option<&str> {
    one.as_ref().map(|one| one.text.as_str())
}

fn span<T>(written: &Option<Written<T>>) -> Option<Range<usize>> {
    written.as_ref().map(|written| written.span.clone())
}

fn read_or<T>(text: Option<&str>, default: T, read: impl Fn(&str) -> Result<T, Refusal>) -> Result<T, Refusal> {
    text.map_or(Ok(default), read)
}

fn switch(text: Option<&str>, default: bool) -> Result<bool, Refusal> {
    read_or(text, default, |text| field::switch("a switch", text))
}

/// A value keeps its place in the file when it changes, so that the order of keys stays the file's.
fn put<T>(
    slot: &mut Option<Written<T>>,
    text: Option<&str>,
    end: Range<usize>,
    read: impl Fn(&str) -> Result<T, Refusal>,
) -> Result<(), Refusal> {
    let span = span(slot).unwrap_or(end);
    *slot = match text {
        Some(text) => Some(Written { value: read(text)?, text: text.to_string(), span }),
        None => None,
    };
    Ok(())
}

fn put_list<T, U>(
    slot: &mut Option<Written<U>>,
    text: Option<&str>,
    end: Range<usize>,
    each: impl Fn(&str) -> Result<T, Refusal>,
    all: impl Fn(Vec<T>) -> Result<U, Refusal>,
) -> Result<(), Refusal> {
    put(slot, text, end, |text| {
        let texts = list(text)?.unwrap_or_else(|| vec![text.to_string()]);
        all(texts.iter().map(|text| each(text)).collect::<Result<_, _>>()?)
    })?;
    if let Some(written) = slot
        && let Ok(Some(texts)) = list(&written.text)
    {
        written.text = list_text(&texts);
    }
    Ok(())
}

/// The strings of a text in brackets; none where it is one plain string.
fn list(text: &str) -> Result<Option<Vec<String>>, Refusal> {
    if !text.starts_with('[') {
        return Ok(None);
    }
    let wrong = || Refusal::new("type", format!("{} is not a list of strings", super::error::quote(text)));
    let value = DeValue::parse(text).map_err(|_| wrong())?;
    let list = value.get_ref().as_array().ok_or_else(wrong)?;
    let texts = list.iter().map(|item| item.get_ref().as_str().map(str::to_string));
    texts.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
}
