//! gpuenv.toml, table by table. Every mistake of a file is found in one run.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use toml::de::DeTable;

use crate::nearest::nearest;

use super::bytes::{check_memory, check_size};
use super::error::{Refusal, SpecError, clip, line_at, line_of, quote};
use super::keys::{self, ORDINARY, Table};
use super::slot::{STACKED, Slot};
use super::value::{Item, Reader};
use super::{
    Build, Exception, Export, Override, OwnBuild, Silence, Spec, Target, Targets, Written, field, suggest, syntax,
};
use crate::types::name::STACK_PARTS;

/// More exceptions or files of one format nobody has.
const MAX_TABLES: usize = 256;

/// Reads a gpuenv.toml. All errors are reported, in file order.
pub fn parse(source: &str) -> Result<Spec, Vec<SpecError>> {
    let (spec, errors) = parse_part(source);
    if errors.is_empty() { Ok(spec) } else { Err(errors) }
}

/// What can be read of a gpuenv.toml, nothing if its TOML is broken, and the errors of the rest, in file order.
pub fn parse_part(source: &str) -> (Spec, Vec<SpecError>) {
    if let Err(error) = check_size(source.len()).and_then(|()| check_memory(source)) {
        return (Spec::default(), vec![error]);
    }
    let (tree, mut broken) = syntax::read(source);
    let markers = syntax::merge_markers(source, &broken);
    if !markers.is_empty() {
        return (Spec::default(), markers);
    }
    let mut reader = Reader::new(source);
    let spec = tree.map(|tree| reader.root(tree.get_ref())).unwrap_or_default();
    let errors = reader.finish();
    if broken.is_empty() {
        return (spec, errors);
    }
    // Behind broken TOML the tree is a guess, and what seems missing may stand in the part that was lost.
    let sound =
        broken.iter().filter(|error| error.code == "toml-syntax").map(|error| line_at(source, error.span.start).0);
    let sound = sound.min().unwrap_or(usize::MAX);
    // What the parser put in for a broken value stands nowhere.
    let is_sound = |error: &SpecError| error.code != "missing" && error.span.end <= sound && error.span != (0..0);
    broken.extend(errors.into_iter().filter(is_sound));
    SpecError::in_file_order(&mut broken);
    (Spec::default(), broken)
}

impl Reader<'_> {
    fn root(&mut self, toml: &DeTable<'_>) -> Spec {
        let mut spec = Spec::default();
        for (name, span, item) in self.entries(toml) {
            match name {
                "stack" => self.stack(item, &mut spec),
                "packages" => self.packages(item, &mut spec),
                "build" => self.section(&keys::BUILD, item, spec.build.insert(Build::default())),
                "target" => spec.targets = self.targets(item),
                "resolve" => self.section(&keys::RESOLVE, item, &mut spec.resolve),
                "catalog" => self.section(&keys::CATALOG, item, &mut spec),
                "override" => {
                    let read = self.exceptions(&keys::OVERRIDE, item, toml.get("target"));
                    spec.overrides = read.into_iter().filter_map(Exception::into_override).collect();
                }
                "silence" => {
                    let read = self.exceptions(&keys::SILENCE, item, toml.get("target"));
                    spec.silences = read.into_iter().filter_map(Exception::into_silence).collect();
                }
                "export" => spec.exports = self.exports(item, toml.get("target")),
                _ => match keys::ROOT.key(name) {
                    Some(key) => key.slot.read(&mut spec, name, item, self),
                    None => self.unknown(&keys::ROOT, name, span, item),
                },
            }
        }
        if !self.misplaced {
            self.something_to_solve(toml, &spec);
        }
        spec
    }

    /// An empty question has no answer worth a lock.
    fn something_to_solve(&mut self, toml: &DeTable<'_>, spec: &Spec) {
        // Behind the last line nothing could be shown.
        let end = self.source.trim_end().len();
        let filled = |key: &str| {
            toml.get(key).is_some_and(|item| item.get_ref().as_table().is_none_or(|table| !table.is_empty()))
        };
        let builds = match &spec.build {
            Some(build) => build.cuda_extensions,
            None => toml.contains_key("build"),
        };
        // Whether an image starts on its hosts is a question by itself.
        let has_image = spec.targets.iter().any(|target| target.image.is_some());
        if !filled("stack") && !builds && !has_image {
            let refusal =
                Refusal::new("missing", "nothing to lock: there is no `[build]` and no image, and `[stack]` is empty");
            let place = toml.get("stack").map_or(end, |item| item.span().end);
            self.error(refusal.help("name what must run, for example `torch = \"*\"` under `[stack]`"), place..place);
        }
        if !filled("target") {
            let refusal = Refusal::new("missing", "no target: describe at least one kind of machine");
            self.error(refusal.help("add a table such as `[target.prod]` with `gpu = \"…\"` in it"), end..end);
        }
    }

    fn section<O>(&mut self, table: &Table<O>, item: &Item<'_>, owner: &mut O) {
        if let Some(toml) = self.table(table.name, item, table.header) {
            self.fill(table, toml, owner);
        }
    }

    /// Reads the keys of a table into what they fill.
    fn fill<O>(&mut self, table: &Table<O>, toml: &DeTable<'_>, owner: &mut O) {
        for (name, span, item) in self.entries(toml) {
            match table.key(name) {
                Some(key) => key.slot.read(owner, name, item, self),
                None => self.unknown(table, name, span, item),
            }
        }
    }

    fn stack(&mut self, item: &Item<'_>, spec: &mut Spec) {
        let Some(toml) = self.table("stack", item, keys::STACK.header) else { return };
        let mut seen = HashMap::new();
        for (key, span, item) in self.entries(toml) {
            if suggest::is_no_package(key) {
                self.unknown(&keys::STACK, key, span, item);
            } else if let Some(name) = self.package(key, span.clone(), &mut seen) {
                // Only a package can be a build of one's own.
                match item.get_ref().as_table().filter(|_| !STACK_PARTS.contains(&&*name)) {
                    Some(table) => self.own(&name, table, (span, item.span()), spec),
                    None => STACKED.read(spec, &name, item, self),
                }
            }
        }
    }

    /// A build of one's own: a table in the place of a constraint.
    fn own(&mut self, name: &str, toml: &DeTable<'_>, (key, span): (Range<usize>, Range<usize>), spec: &mut Spec) {
        let mut own = OwnBuild { package: name.to_string(), ..OwnBuild::default() };
        let before = self.count();
        self.fill(&keys::OWN, toml, &mut own);
        if self.count() > before {
            return;
        }
        if let Some(refusal) = own.wrong() {
            return self.error(refusal, key);
        }
        if let Some(value) = self.checked(own.constraint(), &span) {
            let text = own.canonical();
            spec.stack.push((name.to_string(), Written { value, text, span }));
            spec.own.push(own);
        }
    }

    fn packages(&mut self, item: &Item<'_>, spec: &mut Spec) {
        let Some(toml) = self.table("packages", item, keys::PACKAGES.header) else { return };
        let mut seen = HashMap::new();
        for (key, span, item) in self.entries(toml) {
            if let Some(name) = self.package(key, span, &mut seen) {
                ORDINARY.read(spec, &name, item, self);
            }
        }
    }

    /// A key as the name of a package, which its table names once.
    fn package(&mut self, key: &str, span: Range<usize>, seen: &mut HashMap<String, usize>) -> Option<String> {
        let name = self.checked(field::package(key), &span)?;
        if let Some(first) = seen.get(&name) {
            let line = line_of(self.source, *first);
            let message = format!("{} is the package `{name}` again, see line {line}", quote(key));
            self.error(Refusal::new("duplicate", message).help("keep one of the two"), span);
            return None;
        }
        seen.insert(name.clone(), span.start);
        Some(name)
    }

    fn targets(&mut self, item: &Item<'_>) -> Targets {
        let header = keys::TARGET.header;
        let Some(toml) = self.table("target", item, header) else { return Targets::default() };
        let mut targets = Vec::new();
        for (name, span, item) in self.entries(toml) {
            if keys::TARGET.key(name).is_some() && !item.get_ref().is_table() {
                let refusal = Refusal::new("unknown-key", format!("`{name}` stands in [target], outside any machine"));
                self.error(refusal.help("give the machine a name: `[target.prod]`"), span);
                continue;
            }
            let named = self.checked(field::target_name(name), &span);
            let (Some(name), Some(toml)) = (named, self.table(name, item, header)) else { continue };
            // Only a header's own span covers the header; elsewhere the name is what to point at.
            let place = Some(item.span()).filter(|span| self.source[span.clone()].starts_with('['));
            let mut target = Target { name, span: place.unwrap_or(span), ..Target::default() };
            self.fill(&keys::TARGET, toml, &mut target);
            if let Some((refusal, span)) = target.contradiction() {
                self.error(refusal, span);
            }
            targets.push(target);
        }
        targets.into_iter().collect()
    }

    /// The tables of `[[override]]` or `[[silence]]`. Whether a rule or a code exists is asked later, like every name.
    fn exceptions(&mut self, table: &Table<Exception>, item: &Item<'_>, targets: Option<&Item<'_>>) -> Vec<Exception> {
        let list = item.get_ref().as_array().filter(|list| list.iter().all(|item| item.get_ref().is_table()));
        let Some(list) = list else {
            let refusal = Refusal::new("type", format!("`{}` must be a list of tables", table.name));
            self.error(refusal.help(format!("write `{}`, with two brackets on each side", table.header)), item.span());
            return Vec::new();
        };
        if self.too_many(table.name, list.len(), "one without `target` holds for all targets", item) {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let mut exceptions = Vec::new();
        for item in list.iter() {
            let Some(toml) = item.get_ref().as_table() else { continue };
            let mut one = Exception::default();
            self.fill(table, toml, &mut one);
            for key in table.keys.iter().filter(|key| key.is_required() && !toml.contains_key(key.name)) {
                let refusal = Refusal::new("missing", format!("`{}` is missing in {}", key.name, table.header));
                self.error(refusal.help(format!("add `{} = \"…\"`: {}", key.name, key.brief)), item.span());
            }
            if let Some(target) = &one.target {
                let known = known_target(&target.value, targets);
                self.checked(known, &target.span);
            }
            let text = |written: &Option<Written<String>>| written.as_ref().map(|written| written.value.clone());
            if let Some(about) = &one.about
                && !seen.insert((text(&one.about), text(&one.target)))
            {
                let message =
                    format!("{} is named twice in {} for the same machines", quote(&about.text), table.header);
                self.error(Refusal::new("duplicate", message).help("keep one of the two"), about.span.clone());
            }
            exceptions.push(one);
        }
        exceptions
    }

    /// Whether a list of tables is longer than any that somebody wrote; for each of them is solved or written.
    fn too_many(&mut self, key: &str, count: usize, help: &str, item: &Item<'_>) -> bool {
        let is_so = count > MAX_TABLES;
        if is_so {
            let message = format!("`{}` stands {count} times; at most {MAX_TABLES} are taken", clip(key));
            let refusal = Refusal::new("too-many", message);
            self.error(refusal.help(help), item.span());
        }
        is_so
    }

    /// The files that are written of a lock. Which formats there are, and which options they have, is asked later.
    fn exports(&mut self, item: &Item<'_>, targets: Option<&Item<'_>>) -> Vec<Export> {
        let Some(toml) = self.table("export", item, "[export]") else { return Vec::new() };
        let mut exports = Vec::new();
        for (format, span, item) in self.entries(toml) {
            let tables = item.get_ref().as_array().filter(|list| list.iter().all(|one| one.get_ref().is_table()));
            let each: Vec<&Item<'_>> = tables.map_or_else(|| vec![item], |list| list.iter().collect());
            if self.too_many(format, each.len(), "`{target}` in a path stands for each target", item) {
                continue;
            }
            for one in each {
                let mut export = Export { format: format.to_string(), span: span.clone(), ..Export::default() };
                match one.get_ref().as_table() {
                    Some(table) => self.export(table, &mut export),
                    None => export.file = self.string(format, one, |text| field::export_file(format, text)),
                }
                if let Some(target) = &export.target {
                    let known = known_target(&target.value, targets);
                    self.checked(known, &target.span);
                }
                let is_told = one.get_ref().as_table().is_none_or(|table| table.contains_key("file"));
                if !is_told {
                    let refusal = Refusal::new("missing", format!("`file` is missing in `export.{}`", clip(format)));
                    self.error(refusal.help("add `file = \"…\"`: where it is written"), span.clone());
                }
                exports.push(export);
            }
        }
        exports
    }

    fn export(&mut self, table: &DeTable<'_>, export: &mut Export) {
        for (name, _, item) in self.entries(table) {
            if let Some(key) = keys::EXPORT.key(name) {
                key.slot.read(export, name, item, self);
            } else if item.get_ref().as_bool() == Some(true) {
                export.options.push((name.to_string(), String::new()));
            } else if let Some(number) = item.get_ref().as_integer() {
                export.options.push((name.to_string(), number.as_str().to_string()));
            } else if item.get_ref().as_bool().is_none() {
                let read = self.string(name, item, |text| Ok(text.to_string()));
                export.options.extend(read.map(|written| (name.to_string(), written.value)));
            }
        }
    }

    /// Refuses a key that its table does not have.
    fn unknown<O>(&mut self, table: &Table<O>, key: &str, span: Range<usize>, item: &Item<'_>) {
        // Wording costs time, and a file of strangers has too many to word.
        if self.is_full() {
            return self.error(Refusal::new("unknown-key", ""), span);
        }
        let value = self.source[item.span()].lines().next().filter(|_| !item.get_ref().is_table());
        let (help, belongs_elsewhere) = suggest::unknown_key(table.name, key, value);
        // A table that nobody knows may be the one that is missing.
        self.misplaced |= belongs_elsewhere || table.name.is_empty() && item.get_ref().is_table();
        let own = self.header_above(span.start).filter(|_| table.name == keys::TARGET.name);
        let header = own.as_deref().unwrap_or(table.header);
        let place = if table.name.is_empty() { String::new() } else { format!(" in {header}") };
        let message = format!("unknown key {}{place}", quote(key));
        self.error(Refusal::new("unknown-key", message).help(help), span);
    }
}

impl Reader<'_> {
    /// The header of the target that a byte stands in, as it is written.
    fn header_above(&self, at: usize) -> Option<String> {
        let header = self.source[..at].lines().rev().find_map(|line| line.trim_start().strip_prefix('['))?;
        let (name, _) = header.split_once(']').filter(|(name, _)| name.starts_with("target."))?;
        Some(format!("[{}]", clip(name)))
    }
}

impl Exception {
    fn into_override(self) -> Option<Override> {
        Some(Override { rule: self.about?, target: self.target, reason: self.reason? })
    }

    fn into_silence(self) -> Option<Silence> {
        Some(Silence { warning: self.about?, target: self.target, reason: self.reason? })
    }
}

/// Judged by the names in the file, so that a broken target does not break its overrides too.
fn known_target(text: &str, targets: Option<&Item<'_>>) -> Result<(), Refusal> {
    let table = targets.and_then(|item| item.get_ref().as_table());
    if table.is_some_and(|table| table.contains_key(text)) {
        return Ok(());
    }
    let refusal = Refusal::new("value", format!("unknown target {}", quote(text)));
    let names = || table.into_iter().flat_map(|table| table.keys().map(|key| key.get_ref().as_ref()));
    Err(match nearest(text, names().take(1000)) {
        Some(near) => refusal.help(format!("did you mean \"{}\"?", clip(near))),
        None => refusal.help("drop `target` if all targets are meant"),
    })
}
