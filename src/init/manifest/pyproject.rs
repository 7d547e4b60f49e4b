//! pyproject.toml: the standard's `[project]`, the sources and indexes of uv, and Poetry's tables.

use toml::{Table, Value};

use crate::types::{distinct, name};

use super::lines::Lines;
use super::order::List;
use super::sources::Source;
use super::{
    FOLDER, Found, OTHER_FILE, OTHER_SYSTEM, Wanted, conda, cuda_of_index, is_variant, ordinary, own_of, pip,
    requirement, table, variant_of,
};
use crate::types::marker::on_linux;

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    let toml = table(text)?;
    let mut reader = Reader { lines: Lines::of(text), toml: &toml, found: Found::default() };
    reader.project();
    reader.poetry();
    reader.overrides();
    reader.sources();
    reader.others();
    Ok(reader.found)
}

/// What an override says with a condition that Linux never meets: `torch; sys_platform == 'never'`.
const TAKEN_OUT: &str = "an override that keeps it from being installed: it comes from the image or the system";

/// What an index is that a file names.
#[derive(PartialEq, Eq)]
enum Index {
    /// The one that packages come from by default.
    Public,
    /// One of PyTorch's, of a variant.
    Variant(String),
    /// Any other: what it has under a name is not what the public one has; with the CUDA that it tells, and the one that it has
    /// a package of its own for.
    Other(Option<String>, Option<String>),
}

impl Index {
    /// What a package from there is.
    fn source(self, marker: Option<String>) -> Source {
        let is_elsewhere = matches!(self, Index::Other(..));
        let (variant, own_cuda) = match self {
            Index::Variant(variant) => (Some(variant), None),
            Index::Other(variant, own) => (variant, own),
            Index::Public => (None, None),
        };
        Source { marker, variant, is_elsewhere, own_cuda }
    }
}

struct Reader<'t> {
    lines: Lines<'t>,
    toml: &'t Table,
    found: Found,
}

impl<'t> Reader<'t> {
    /// What stands at a path: `tool.uv.sources`.
    fn at(&self, path: &str) -> Option<&'t Value> {
        let mut parts = path.split('.');
        let first = self.toml.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    fn project(&mut self) {
        if let Some(python) = self.at("project.requires-python").and_then(Value::as_str) {
            let line = self.lines.with("requires-python");
            self.found.want(Wanted::new("python", python, line));
        }
        self.found.project = self.at("project.name").and_then(Value::as_str).map(name::package);
        self.list(self.at("project.dependencies"), None);
        let tables = |path: &str| self.at(path).and_then(Value::as_table).into_iter().flat_map(Table::iter);
        let (extras, groups): (Vec<_>, Vec<_>) =
            (tables("project.optional-dependencies").collect(), tables("dependency-groups").collect());
        self.found.groups = groups.iter().map(|(group, _)| (*group).clone()).collect();
        for (group, list) in extras.into_iter().chain(groups) {
            self.list(Some(list), Some(group));
            let each = list.as_array().into_iter().flatten().filter_map(|one| one.get("include-group")?.as_str());
            self.found.brings.extend(each.map(|other| (group.clone(), name::package(other))));
        }
        if self.at("tool.rapids-build-backend").is_some() {
            self.of_rapids();
        }
        let defaults = self.at("tool.uv.default-groups");
        let is_default = |group: &&String| match defaults {
            Some(Value::Array(some)) => some.iter().any(|one| one.as_str() == Some(group)),
            all => all.is_some(),
        };
        self.found.defaults = self.found.groups.iter().filter(is_default).cloned().collect();
        if let Some(list) = self.at("tool.uv.dev-dependencies") {
            self.found.groups.insert("dev".to_string());
            self.list(Some(list), Some("dev"));
        }
        let dynamic = self.at("project.dynamic").and_then(Value::as_array).into_iter().flatten();
        for part in dynamic.filter_map(Value::as_str).filter(|part| part.ends_with("dependencies")) {
            let line = self.lines.with("dynamic");
            let files = self.at(&format!("tool.setuptools.dynamic.{part}"));
            let of_hatch = || self.at("tool.hatch.metadata.hooks.requirements_txt.files");
            let files = files.or_else(of_hatch).map_or(String::new(), |files| files.to_string());
            let files = files.replace(['[', ']', '{', '}', '=', '"', ','], " ").replace(" file ", " ");
            let files = files.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = format!("dynamic = [\"{part}\"] {files}");
            self.found.leave(line, &text, OTHER_FILE);
            for file in files.split(' ').filter(|_| part == "dependencies") {
                self.found.list(List { line, text: text.clone(), file: file.to_string(), ..List::default() });
            }
        }
    }

    /// The build backend of RAPIDS puts the CUDA into the names of its own packages, whose releases are bounded by a first alpha.
    fn of_rapids(&mut self) {
        let cuda = |wanted: &Wanted| Some(wanted.name.strip_prefix("cupy-cuda")?.strip_suffix('x')?.to_string());
        let cuda = self.found.wanted.iter().find_map(cuda);
        for wanted in std::mem::take(&mut self.found.wanted) {
            match &cuda {
                _ if !wanted.version.ends_with("a0") => self.found.want(wanted),
                Some(cuda) => self.found.want(Wanted { name: format!("{}-cu{cuda}", wanted.name), ..wanted }),
                None => {
                    self.found.leave(wanted.line, &wanted.written, "its build backend puts the CUDA into this name")
                }
            }
        }
    }

    /// The keys of a table.
    fn keys(&self, path: &str) -> impl Iterator<Item = &'t String> + use<'t> {
        self.at(path).and_then(Value::as_table).into_iter().flat_map(Table::keys)
    }

    /// Requirements. Those of an extra or a group are not what the project needs at the least.
    fn list(&mut self, list: Option<&Value>, group: Option<&str>) {
        let each = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for one in each {
            self.found.want_of(group, one, self.lines.with(one));
        }
    }

    fn poetry(&mut self) {
        self.poetry_table("tool.poetry.dependencies", None);
        self.poetry_table("tool.poetry.dev-dependencies", Some("dev"));
        for group in self.keys("tool.poetry.group") {
            self.poetry_table(&format!("tool.poetry.group.{group}.dependencies"), Some(group));
        }
    }

    /// A table of Poetry's requirements.
    fn poetry_table(&mut self, path: &str, group: Option<&str>) {
        for (name, value) in self.at(path).and_then(Value::as_table).into_iter().flat_map(Table::iter) {
            let line = self.lines.of_key(path, name);
            match value.as_array() {
                Some(several) => several.iter().for_each(|one| self.poetry_one(name, one, line, group)),
                None => self.poetry_one(name, value, line, group),
            }
        }
    }

    /// A requirement of Poetry's, or one of several for different systems and Pythons.
    fn poetry_one(&mut self, name: &str, value: &Value, line: usize, group: Option<&str>) {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let version = value.as_str().or_else(|| text("version"));
        let Some(version) = version else {
            return self.found.leave(line, &format!("{name} = {value}"), FOLDER);
        };
        let python = text("python").map(of_python);
        let platform = text("platform").map(|platform| format!("sys_platform == '{platform}'"));
        let each = [text("markers").map(|marker| format!("({marker})")), python, platform].into_iter().flatten();
        let marker = Some(each.collect::<Vec<_>>().join(" and ")).filter(|marker| !marker.is_empty());
        let holds = marker.as_deref().and_then(on_linux);
        if holds == Some(false) {
            return self.found.leave(line, &format!("{name} = {value}"), OTHER_SYSTEM);
        }
        let marker = marker.filter(|_| holds.is_none());
        let version = if version == "*" { "" } else { version };
        let mut wanted = Wanted { marker, ..Wanted::new(name, version, line) };
        if let Some(source) = value.get("source").and_then(Value::as_str) {
            wanted.take_source(&self.index("tool.poetry.source", source).source(None));
        }
        let extras = value.get("extras").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        wanted.extras = extras.map(name::package).collect();
        let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
        let extras = if is_optional { self.poetry_extras(name) } else { Vec::new() };
        if extras.is_empty() {
            self.found.want(Wanted { group: group.map(str::to_string), ..wanted.clone() });
        }
        extras.into_iter().for_each(|extra| self.found.want(Wanted { group: Some(extra), ..wanted.clone() }));
    }

    /// The extras of Poetry's that list a package.
    fn poetry_extras(&self, name: &str) -> Vec<String> {
        let lists =
            |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| one.as_str() == Some(name)));
        let extras = self.at("tool.poetry.extras").and_then(Value::as_table).into_iter().flat_map(Table::iter);
        extras.filter(|(_, list)| lists(list)).map(|(extra, _)| extra.clone()).collect()
    }

    /// What a named index of a list of indexes is.
    fn index(&self, list: &str, name: &str) -> Index {
        let mut each = self.at(list).and_then(Value::as_array).into_iter().flatten();
        let named = each.find(|index| index.get("name").and_then(Value::as_str) == Some(name));
        let variant = named.and_then(|index| variant_of(index.get("url")?.as_str()?));
        let is_default = named.and_then(|index| index.get("default")).and_then(Value::as_bool) == Some(true);
        match variant {
            Some(variant) => Index::Variant(variant),
            None if is_default || name.eq_ignore_ascii_case("pypi") => Index::Public,
            None => {
                let address = named.and_then(|index| index.get("url")?.as_str()).unwrap_or_default();
                let of_name = name.rsplit('-').next().filter(|word| is_variant(word)).map(str::to_string);
                Index::Other(cuda_of_index(address).or(of_name), own_of(address).map(|(_, cuda)| cuda))
            }
        }
    }

    /// uv's sources tell from where a package comes, for Linux: of an extra or group with a source of its own, from there.
    fn sources(&mut self) {
        let Some(sources) = self.at("tool.uv.sources").and_then(Value::as_table) else { return };
        for (name, source) in sources {
            let each: Vec<&Value> = source.as_array().map_or_else(|| vec![source], |list| list.iter().collect());
            let line = self.lines.of_key("tool.uv.sources", name);
            let text = |one: &'t Value, key: &str| one.get(key).and_then(Value::as_str);
            let is_elsewhere = |one: &Value| {
                let marker = one.get("marker").and_then(Value::as_str).unwrap_or_default();
                requirement::read(&format!("{name}; {marker}"), line).is_err()
            };
            let group = |one| text(one, "extra").or(text(one, "group"));
            let each: Vec<&Value> = each.into_iter().filter(|one| !is_elsewhere(one)).collect();
            for group in distinct(each.iter().map(|one| group(one))) {
                let of_it = each.iter().copied().filter(|one| text(one, "extra").or(text(one, "group")) == group);
                self.source(name, group, &of_it.collect::<Vec<_>>(), line);
            }
        }
    }

    /// What the sources of a package say of it, in an extra or group or wherever none has a source of its own.
    fn source(&mut self, name: &str, group: Option<&str>, each: &[&Value], line: usize) {
        let marker = |one: &Value| one.get("marker").and_then(Value::as_str).map(str::to_string);
        let marker = |one: &Value| marker(one).filter(|marker| on_linux(marker).is_none());
        let index = |one: &&Value| Some(self.index("tool.uv.index", one.get("index")?.as_str()?).source(marker(one)));
        let sources: Vec<Source> = each.iter().filter_map(index).collect();
        let is_of_index = |one: &&&Value| one.get("index").is_some();
        let address = each.iter().find(|one| !is_of_index(one));
        let wheel = address.and_then(|one| one.get("url")?.as_str());
        let wheel = wheel.and_then(|address| requirement::read(&format!("{name} @ {address}"), line).ok());
        if let Some(one) = address.filter(|_| wheel.is_none()) {
            self.found.leave(line, &format!("{name} = {one}"), FOLDER);
        }
        let folded = name::package(name);
        let is_meant = |wanted: &Wanted| wanted.name == folded && (group.is_none() || wanted.group.as_deref() == group);
        // A name that no index has is nobody's there, or somebody else's.
        if wheel.is_none() && address.is_some() && sources.is_empty() {
            return self.found.wanted.retain(|wanted| !is_meant(wanted));
        }
        for wanted in self.found.wanted.iter_mut().filter(|wanted| is_meant(wanted)) {
            match &wheel {
                Some(wheel) if sources.is_empty() => {
                    let Wanted { group, marker, extras, .. } = std::mem::replace(wanted, wheel.clone());
                    *wanted = Wanted { group, marker, extras, ..wheel.clone() };
                }
                _ => {
                    wanted.sources.clone_from(&sources);
                    wanted.sources_line = line;
                }
            }
        }
    }

    /// Tables of tools that are not read.
    fn others(&mut self) {
        for group in self.keys("tool.hatch.envs") {
            for key in ["dependencies", "extra-dependencies"] {
                self.list(self.at(&format!("tool.hatch.envs.{group}.{key}")), Some(group));
            }
        }
        for group in self.keys("tool.pdm.dev-dependencies") {
            self.list(self.at(&format!("tool.pdm.dev-dependencies.{group}")), Some(group));
        }
        for name in self.keys("tool.pixi.dependencies") {
            let path = "tool.pixi.dependencies";
            let value = self.at(path).and_then(|table| table.get(name));
            let version = value.and_then(|value| value.as_str().or_else(|| value.get("version")?.as_str()));
            let line = self.lines.of_key(path, name);
            conda::package(&format!("{name} {}", version.unwrap_or("*")), line, &mut self.found);
        }
        if self.at("tool.pixi").is_some() {
            self.poetry_table("tool.pixi.pypi-dependencies", None);
            conda::of_its_own(&mut self.found);
        }
        for head in ["tool.pixi.feature", "tool.conda"] {
            if self.at(head).is_some() {
                self.found.leave(self.lines.of_table(head), &format!("[{head}]"), "this table is not read");
            }
        }
        self.bounds();
        self.indexes();
    }

    /// What uv holds to bounds is what anybody asks for, not what stands there alone.
    fn bounds(&mut self) {
        let list = self.at("tool.uv.constraint-dependencies").and_then(Value::as_array);
        for one in list.into_iter().flatten().filter_map(Value::as_str) {
            let line = self.lines.with("constraint-dependencies");
            let Ok(wanted) = requirement::read(one, line) else { continue };
            let groups =
                self.found.wanted.iter().filter(|known| known.name == wanted.name).map(|known| known.group.clone());
            let groups = distinct(groups);
            if groups.is_empty() {
                let why = "a bound of what others bring: put it under [stack] or [packages] to have it there";
                self.found.leave(line, one, why);
            }
            groups.into_iter().for_each(|group| self.found.want(Wanted { group, ..wanted.clone() }));
        }
    }

    /// Indexes that stand for all packages: PyTorch's tells which CUDA is meant, where no package has a source.
    fn indexes(&mut self) {
        if let Some(backend) = self.at("tool.uv.pip.torch-backend").and_then(Value::as_str) {
            pip::backend(backend, "torch-backend", self.lines.with("torch-backend"), &mut self.found);
        }
        let has_source = self.found.wanted.iter().any(|wanted| wanted.variant.is_some() || !wanted.sources.is_empty());
        let lists = ["tool.uv.index", "tool.pdm.source"].iter().filter_map(|path| self.at(path)?.as_array());
        let open = lists.flatten().filter(|one| one.get("explicit").and_then(Value::as_bool) != Some(true));
        let addresses: Vec<&str> = open.filter_map(|one| one.get("url")?.as_str()).collect();
        let of_pytorch: Vec<&&str> = addresses.iter().filter(|address| variant_of(address).is_some()).collect();
        if let ([only], false) = (&of_pytorch[..], has_source) {
            pip::index(only, "index", self.lines.with(only), &mut self.found);
        }
    }

    /// uv installs what an override says in place of what anybody asks for, others that are installed too.
    fn overrides(&mut self) {
        let list = self.at("tool.uv.override-dependencies").and_then(Value::as_array);
        for one in list.into_iter().flatten().filter_map(Value::as_str) {
            let line = self.lines.with("override-dependencies");
            let wanted = match requirement::read(one, line) {
                Ok(wanted) => wanted,
                Err(why) => {
                    // An override that holds nowhere takes a package out of what gets installed.
                    let why = if why == OTHER_SYSTEM { TAKEN_OUT.to_string() } else { why };
                    self.found.leave(line, one, why);
                    continue;
                }
            };
            let mut is_asked = false;
            for known in self.found.wanted.iter_mut().filter(|known| known.name == wanted.name) {
                let group = known.group.take();
                *known = Wanted { group, is_over: true, ..wanted.clone() };
                is_asked = true;
            }
            if !is_asked {
                let why = "an override of what others bring: put it under [packages] to have it there";
                self.found.leave(line, one, why);
                self.found.overrides.push((wanted.name, wanted.version, line));
            }
        }
    }
}

/// Poetry's range of Pythons as a condition.
fn of_python(asked: &str) -> String {
    let parts = asked.split(',').map(|part| ordinary::comparison(part.trim()).unwrap_or_else(|| part.to_string()));
    let asked = parts.collect::<Vec<_>>().join(",");
    let one = |part: &str| {
        let (sign, number) = part.split_at(part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len()));
        format!("python_version {} '{}'", sign.trim(), number.trim())
    };
    asked.split(',').map(one).collect::<Vec<_>>().join(" and ")
}
