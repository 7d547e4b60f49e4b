//! pyproject.toml: the standard's `[project]`, the sources and indexes of uv, and Poetry's tables.

use toml::{Table, Value};

use crate::types::name;

use super::{Found, Wanted, line_of_key, line_with, rank, requirement, table, variant_of};

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    let toml = table(text)?;
    let mut reader = Reader { text, toml: &toml, found: Found::default() };
    reader.project();
    reader.poetry();
    reader.sources();
    reader.others();
    Ok(reader.found)
}

struct Reader<'t> {
    text: &'t str,
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
            let line = line_with(self.text, "requires-python");
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
        if let Some(list) = self.at("tool.uv.dev-dependencies") {
            self.found.groups.insert("dev".to_string());
            self.list(Some(list), Some("dev"));
        }
        let dynamic = self.at("project.dynamic").and_then(Value::as_array).into_iter().flatten();
        if dynamic.filter_map(Value::as_str).any(|part| part == "dependencies") {
            let line = line_with(self.text, "dynamic");
            let why = "the requirements stand in another file: name that with --from, too";
            self.found.leave(line, "dynamic = [\"dependencies\"]", why);
        }
    }

    /// Requirements. Those of an extra or a group are not what the project needs at the least.
    fn list(&mut self, list: Option<&Value>, group: Option<&str>) {
        let each = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for one in each {
            let line = line_with(self.text, one);
            match (requirement::read(one, line), group) {
                // An extra that brings others of the project's.
                (Ok(wanted), Some(group)) if Some(&wanted.name) == self.found.project.as_ref() => {
                    self.found.brings.extend(wanted.extras.into_iter().map(|other| (group.to_string(), other)));
                }
                (Ok(wanted), group) => {
                    self.found.want(Wanted { group: group.map(str::to_string), ..wanted });
                }
                (Err(why), _) => self.found.leave(line, one, why),
            }
        }
    }

    fn poetry(&mut self) {
        self.poetry_table("tool.poetry.dependencies", None);
        self.poetry_table("tool.poetry.dev-dependencies", Some("dev"));
        let groups = self.at("tool.poetry.group").and_then(Value::as_table).into_iter().flat_map(Table::keys);
        for group in groups {
            self.poetry_table(&format!("tool.poetry.group.{group}.dependencies"), Some(group));
        }
    }

    /// A table of Poetry's requirements.
    fn poetry_table(&mut self, path: &str, group: Option<&str>) {
        for (name, value) in self.at(path).and_then(Value::as_table).into_iter().flat_map(Table::iter) {
            let line = line_of_key(self.text, path, name);
            let version = value.as_str().or_else(|| value.get("version").and_then(Value::as_str));
            let Some(version) = version else {
                let why = match value.is_array() {
                    true => "it has a version for each of several conditions: write one under [stack] or [packages]",
                    false => "it comes from an address or a folder",
                };
                self.found.leave(line, &format!("{name} = {value}"), why);
                continue;
            };
            let version = if version == "*" { "" } else { version };
            let mut wanted = Wanted::new(name, version, line);
            let source = value.get("source").and_then(Value::as_str);
            wanted.variant = source.and_then(|source| self.index("tool.poetry.source", source));
            let extras = value.get("extras").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            wanted.extras = extras.map(name::package).collect();
            let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
            let extra = self.poetry_extra(name).filter(|_| is_optional);
            wanted.group = extra.or(group).map(str::to_string);
            self.found.want(wanted);
        }
    }

    /// The extra of Poetry's that lists a package.
    fn poetry_extra(&self, name: &str) -> Option<&'t str> {
        let lists =
            |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| one.as_str() == Some(name)));
        let mut extras = self.at("tool.poetry.extras")?.as_table()?.iter();
        extras.find(|(_, list)| lists(list)).map(|(extra, _)| extra.as_str())
    }

    /// The variant of a named index in a list of indexes.
    fn index(&self, list: &str, name: &str) -> Option<String> {
        let each = self.at(list)?.as_array()?.iter();
        let mut named = each.filter(|index| index.get("name").and_then(Value::as_str) == Some(name));
        variant_of(named.next()?.get("url")?.as_str()?)
    }

    /// uv's sources tell from which index a package comes.
    fn sources(&mut self) {
        let Some(sources) = self.at("tool.uv.sources").and_then(Value::as_table) else { return };
        for (name, source) in sources {
            let each: Vec<&Value> = source.as_array().map_or_else(|| vec![source], |list| list.iter().collect());
            let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_string);
            let line = line_of_key(self.text, "tool.uv.sources", name);
            let mut variants = Vec::new();
            for one in each {
                let marker = text(one, "marker").unwrap_or_default();
                let elsewhere = requirement::read(&format!("{name}; {marker}"), line).is_err();
                match text(one, "index") {
                    Some(index) if !elsewhere => variants.extend(self.index("tool.uv.index", &index)),
                    Some(_) => {}
                    None => self.found.leave(line, &format!("{name} = {one}"), "it comes from an address or a folder"),
                }
            }
            // With a choice of extras, the one for a GPU is what gpuenv is asked for.
            crate::types::sort_by_key(&mut variants, |variant: &String| {
                std::cmp::Reverse(rank(Some(variant.as_str())))
            });
            let Some(first) = variants.first().cloned() else { continue };
            if variants.len() > 1 {
                let others = variants[1..].join(", ");
                self.found.leave(line, &format!("{name}: {others}"), format!("`{first}` was taken of several"));
            }
            let folded = name::package(name);
            for wanted in self.found.wanted.iter_mut().filter(|wanted| wanted.name == folded) {
                wanted.variant = Some(first.clone());
            }
        }
    }

    /// Tables of tools that are not read.
    fn others(&mut self) {
        for tool in ["pixi", "conda", "hatch.envs", "pdm.dev-dependencies"] {
            if self.at(&format!("tool.{tool}")).is_some() {
                let head = format!("[tool.{tool}");
                self.found.leave(line_with(self.text, &head), &format!("{head}]"), "this table is not read");
            }
        }
        for key in ["constraint-dependencies", "override-dependencies"] {
            if self.at(&format!("tool.uv.{key}")).is_some() {
                self.found.leave(line_with(self.text, key), &format!("tool.uv.{key}"), "this list is not read");
            }
        }
    }
}
