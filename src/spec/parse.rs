//! gpuenv.toml, table by table. Every mistake of a file is found in one run.

use std::collections::HashMap;
use std::ops::Range;

use toml::de::DeTable;

use super::bytes::check_size;
use super::error::{Refusal, SpecError, clip, line_at, line_of, quote};
use super::value::{Item, Reader};
use super::{Build, ForwardCompat, ImageRef, Override, Resolve, Runtime, Spec, Target, Written};
use super::{field, suggest, syntax};

const ROOT: &[&str] = &["requires-gpuenv", "stack", "build", "target", "resolve", "catalog", "override", "silence"];
const BUILD: &[&str] = &["cuda-extensions", "ptx", "arch-list"];
const TARGET: &[&str] =
    &["gpu", "driver", "driver-cuda", "runtime", "os", "arch", "image", "forward-compat", "glibc", "gcc", "toolkit"];
const RESOLVE: &[&str] = &["share", "prefer", "allow-experimental"];
const CATALOG: &[&str] = &["overlays"];
const OVERRIDE: &[&str] = &["rule", "target", "reason"];

/// Reads a gpuenv.toml. All errors are reported, in file order.
pub fn parse(source: &str) -> Result<Spec, Vec<SpecError>> {
    let (spec, errors) = parse_part(source);
    if errors.is_empty() { Ok(spec) } else { Err(errors) }
}

/// What can be read of a gpuenv.toml, nothing if its TOML is broken, and the errors of the rest, in file order.
pub fn parse_part(source: &str) -> (Spec, Vec<SpecError>) {
    if let Err(error) = check_size(source.len()) {
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
    broken.extend(errors.into_iter().filter(|error| error.code != "missing" && error.span.end <= sound));
    broken.sort_by_key(|error| error.span.start);
    (Spec::default(), broken)
}

impl Reader<'_> {
    fn root(&mut self, table: &DeTable<'_>) -> Spec {
        let mut spec = Spec::default();
        for (key, span, item) in self.entries(table) {
            match key {
                "requires-gpuenv" => spec.requires_gpuenv = self.string(key, item, field::requirement),
                "stack" => spec.stack = self.stack(item),
                "build" => spec.build = self.build(item),
                "target" => spec.targets = self.targets(item),
                "resolve" => spec.resolve = self.resolve(item),
                "catalog" => spec.overlays = self.catalog(item),
                "override" => spec.overrides = self.overrides(item, table.get("target")),
                "silence" => spec.silences = self.silences(item, table.get("target")),
                _ => self.unknown("", key, span, ROOT),
            }
        }
        self.something_to_solve(table, &spec);
        spec
    }

    /// An empty question has no answer worth a lock.
    fn something_to_solve(&mut self, table: &DeTable<'_>, spec: &Spec) {
        let end = self.source.len()..self.source.len();
        let filled = |key: &str| {
            table.get(key).is_some_and(|item| item.get_ref().as_table().is_none_or(|table| !table.is_empty()))
        };
        let builds = match &spec.build {
            Some(build) => build.cuda_extensions,
            None => table.contains_key("build"),
        };
        if !filled("stack") && !builds {
            let refusal =
                Refusal::new("missing", "nothing is asked for: there is neither an entry under [stack] nor a [build]");
            self.error(refusal.help("name what must run, for example `torch = \"*\"` under `[stack]`"), end.clone());
        }
        if !filled("target") {
            let refusal = Refusal::new("missing", "no target is given: at least one machine must be described");
            self.error(refusal.help("add a table such as `[target.prod]` with `gpu = \"…\"` in it"), end);
        }
    }

    fn stack(&mut self, item: &Item<'_>) -> Vec<(String, Written<crate::words::Constraint>)> {
        let Some(table) = self.table("stack", item, "[stack]") else { return Vec::new() };
        let mut stack = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (key, span, item) in self.entries(table) {
            if let Some(help) = suggest::hint("stack", key) {
                let refusal = Refusal::new("unknown-key", format!("{} is no key of [stack]", quote(key)));
                self.error(refusal.help(help), span);
                continue;
            }
            let Some(name) = self.checked(field::package(key), &span) else { continue };
            if let Some(first) = seen.get(&name) {
                let message = format!(
                    "{} is `{name}` once more, which stands on line {}",
                    quote(key),
                    line_of(self.source, *first)
                );
                self.error(Refusal::new("duplicate", message).help("keep one of the two"), span);
                continue;
            }
            seen.insert(name.clone(), span.start);
            if let Some(constraint) = self.string(key, item, |text| field::constraint(&name, text)) {
                stack.push((name, constraint));
            }
        }
        stack
    }

    fn build(&mut self, item: &Item<'_>) -> Option<Build> {
        let table = self.table("build", item, "[build]")?;
        let mut build = Build::default();
        for (key, span, item) in self.entries(table) {
            match key {
                "cuda-extensions" => build.cuda_extensions = self.boolean(key, item).unwrap_or(build.cuda_extensions),
                "ptx" => build.ptx = self.boolean(key, item).unwrap_or(build.ptx),
                "arch-list" => build.arch_list = self.string(key, item, field::arch_list),
                _ => self.unknown("build", key, span, BUILD),
            }
        }
        Some(build)
    }

    fn targets(&mut self, item: &Item<'_>) -> Vec<Target> {
        let Some(table) = self.table("target", item, "[target.NAME]") else { return Vec::new() };
        let mut targets = Vec::new();
        for (name, span, item) in self.entries(table) {
            if TARGET.contains(&name) && !item.get_ref().is_table() {
                let refusal = Refusal::new("unknown-key", format!("`{name}` stands in [target], outside any machine"));
                self.error(refusal.help("give the machine a name: `[target.prod]`"), span);
                continue;
            }
            let named = self.checked(field::target_name(name), &span);
            let table = self.table(name, item, "[target.NAME]");
            let (Some(name), Some(table)) = (named, table) else { continue };
            // Only a header's own span covers the header; elsewhere the name is what to point at.
            let header = Some(item.span()).filter(|span| self.source[span.clone()].starts_with('['));
            targets.push(self.target(name, header.unwrap_or(span), table));
        }
        targets
    }

    fn target(&mut self, name: String, header: Range<usize>, table: &DeTable<'_>) -> Target {
        let mut target = Target::new(name, header);
        let mut bare_metal = false;
        for (key, span, item) in self.entries(table) {
            match key {
                "gpu" => target.gpu = self.strings(key, item, field::gpu, field::gpus),
                "driver" => target.driver = self.string(key, item, |text| field::constraint("driver", text)),
                "driver-cuda" => target.driver_cuda = self.string(key, item, field::driver_cuda),
                "runtime" => {
                    target.runtime = self.string(key, item, field::runtime).map(|runtime| runtime.value);
                    bare_metal = target.runtime == Some(Runtime::BareMetal);
                }
                "os" => target.os = self.string(key, item, field::os),
                "arch" => target.arch = self.string(key, item, field::cpu),
                "image" => target.image = self.string(key, item, ImageRef::parse),
                "forward-compat" => {
                    let policy = self.string(key, item, field::forward_compat);
                    target.forward_compat = policy.map_or(ForwardCompat::default(), |policy| policy.value);
                }
                "glibc" => target.glibc = self.string(key, item, |text| field::version("glibc", text)),
                "gcc" => target.gcc = self.string(key, item, |text| field::version("gcc", text)),
                "toolkit" => target.toolkit = self.strings(key, item, field::toolkit, field::toolkits),
                _ => self.unknown("target", key, span, TARGET),
            }
        }
        if let (Some(driver), Some(cuda)) = (table.get("driver"), table.get("driver-cuda")) {
            let later = if driver.span().start > cuda.span().start { driver } else { cuda };
            let refusal = Refusal::new(
                "exclusive",
                "`driver` and `driver-cuda` exclude each other: both say what the hosts have",
            );
            self.error(refusal.help("keep `driver` if its release is known"), later.span());
        }
        if let (Some(image), true) = (table.get("image"), bare_metal) {
            let refusal =
                Refusal::new("exclusive", "`image` is given, but `runtime` is \"bare-metal\": nothing would run in it");
            self.error(refusal.help("drop one of the two; an image implies `runtime = \"container\"`"), image.span());
        }
        target
    }

    fn resolve(&mut self, item: &Item<'_>) -> Resolve {
        let mut resolve = Resolve::default();
        let Some(table) = self.table("resolve", item, "[resolve]") else { return resolve };
        for (key, span, item) in self.entries(table) {
            match key {
                "share" => {
                    resolve.share = self.string(key, item, field::share).map_or(resolve.share, |share| share.value)
                }
                "prefer" => {
                    resolve.prefer = self.string(key, item, field::prefer).map_or(resolve.prefer, |prefer| prefer.value)
                }
                "allow-experimental" => resolve.allow_experimental = self.boolean(key, item).unwrap_or_default(),
                _ => self.unknown("resolve", key, span, RESOLVE),
            }
        }
        resolve
    }

    fn catalog(&mut self, item: &Item<'_>) -> Vec<Written<String>> {
        let mut overlays = Vec::new();
        let Some(table) = self.table("catalog", item, "[catalog]") else { return overlays };
        for (key, span, item) in self.entries(table) {
            match (key, item.get_ref().as_array()) {
                ("overlays", Some(list)) => {
                    overlays = list.iter().filter_map(|item| self.string(key, item, field::overlay)).collect();
                    let paths: Vec<String> = overlays.iter().map(|path| path.value.clone()).collect();
                    if let Err(refusal) = field::overlays(&paths) {
                        self.error(refusal, item.span());
                    }
                }
                ("overlays", None) => {
                    let text = item.get_ref().as_str().map_or_else(|| "FILE".to_string(), clip);
                    let refusal = Refusal::new("type", "`overlays` must be a list of files");
                    self.error(refusal.help(format!("write `overlays = [\"{text}\"]`")), item.span());
                }
                _ => self.unknown("catalog", key, span, CATALOG),
            }
        }
        overlays
    }

    fn overrides(&mut self, item: &Item<'_>, targets: Option<&Item<'_>>) -> Vec<Override> {
        let tables = item.get_ref().as_array().filter(|list| list.iter().all(|item| item.get_ref().is_table()));
        let Some(tables) = tables else {
            let refusal = Refusal::new("type", "`override` must be a list of tables");
            self.error(refusal.help("write `[[override]]`, with two brackets on each side"), item.span());
            return Vec::new();
        };
        let mut seen = std::collections::HashSet::new();
        let mut overrides = Vec::new();
        for item in tables.iter() {
            let Some(read) = self.one_override(item, targets) else { continue };
            let aim = (read.rule.value.clone(), read.target.as_ref().map(|target| target.value.clone()));
            if seen.insert(aim) {
                overrides.push(read);
            } else {
                let message = format!("rule {} is overridden twice for the same machines", quote(&read.rule.value));
                self.error(Refusal::new("duplicate", message).help("keep one of the two"), read.rule.span);
            }
        }
        overrides
    }

    fn one_override(&mut self, item: &Item<'_>, targets: Option<&Item<'_>>) -> Option<Override> {
        let table = item.get_ref().as_table()?;
        let (mut rule, mut target, mut reason) = (None, None, None);
        for (key, span, item) in self.entries(table) {
            match key {
                "rule" => rule = self.string(key, item, |text| field::id("rule", text)),
                "target" => target = self.string(key, item, |text| known_target(text, targets)),
                "reason" => reason = self.string(key, item, field::reason),
                _ => self.unknown("override", key, span, OVERRIDE),
            }
        }
        for (key, why) in [("rule", "which rule is set aside"), ("reason", "why the rule does not hold here")] {
            if !table.contains_key(key) {
                let refusal = Refusal::new("missing", format!("this override lacks `{key}`"));
                self.error(refusal.help(format!("add `{key} = \"…\"`: {why}")), item.span());
            }
        }
        Some(Override { rule: rule?, target, reason: reason? })
    }

    pub(super) fn unknown(&mut self, section: &str, key: &str, span: Range<usize>, known: &[&str]) {
        let place = match section {
            "" => "gpuenv.toml".to_string(),
            "target" => "[target.NAME]".to_string(),
            "override" | "silence" => format!("[[{section}]]"),
            other => format!("[{other}]"),
        };
        let mut refusal = Refusal::new("unknown-key", format!("{} is no key of {place}", quote(key)));
        // Wording costs time, and a file of strangers has too many to word.
        if !self.is_full() {
            let near = || suggest::nearest(key, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let all = || format!("its keys are {}", known.join(", "));
            refusal = refusal.help(suggest::hint(section, key).map(str::to_string).or_else(near).unwrap_or_else(all));
        }
        self.error(refusal, span);
    }
}

/// Judged by the names in the file, so that a broken target does not break its overrides too.
pub(super) fn known_target(text: &str, targets: Option<&Item<'_>>) -> Result<String, Refusal> {
    let table = targets.and_then(|item| item.get_ref().as_table());
    if table.is_some_and(|table| table.contains_key(text)) {
        return Ok(text.to_string());
    }
    let refusal = Refusal::new("value", format!("{} is not a target of this file", quote(text)));
    let names = || table.into_iter().flat_map(|table| table.keys().map(|key| key.get_ref().as_ref()));
    Err(match suggest::nearest(text, names().take(1000)) {
        Some(near) => refusal.help(format!("did you mean \"{}\"?", clip(near))),
        None => refusal.help("drop `target` if all targets are meant"),
    })
}
