//! What `[stack]` calls by other names than the files: packages with a name for each major of CUDA, and extras, of which it has
//! none; and what of conda's the package index has.

use std::collections::BTreeMap;

use super::{AND_CUDA, COMES_ALONG, Found, Manifest, Merged, Wanted, constraint, extra_variant, place, with_variant};
use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, FRAMEWORKS, Rule, TORCH};
use crate::spec::other_names;
use crate::types::constraint::admits;
use crate::types::{Constraint, Version, distinct, name, nvidia};

/// What the lines of files install from an address, by the name that this tells, each with its place: `x @ git+…`, `…#egg=x`,
/// `…/x.git@v1`.
pub(super) fn elsewhere(files: &[(&Manifest, Found)]) -> BTreeMap<String, String> {
    let named = |text: &str| {
        let (before, address) = text.split_once(" @ ").unwrap_or(("", text));
        let address = address.split_whitespace().last().filter(|word| word.starts_with("git+"))?;
        let (path, egg) = address.split_once("#egg=").unwrap_or((address, ""));
        let folder = path.split('#').next()?.split("://").nth(1)?.split('@').next()?;
        let of_path = folder.rsplit('/').next()?.trim_end_matches(".git");
        let written = [before, egg, of_path].into_iter().find(|word| !word.is_empty())?;
        let package = name::package(written.split(['[', '&']).next()?);
        Some(other_names::other_name(&package).map_or(package, str::to_string))
    };
    let each = files.iter().flat_map(|(file, found)| found.left.iter().map(move |(line, text, _)| (*file, line, text)));
    each.filter_map(|(file, line, text)| Some((named(text)?, place(&file.name, *line)))).collect()
}

/// The groups that are installed by default and hold something that gpuenv chooses: others are tools of those who work on it.
pub(super) fn defaults(catalog: &Catalog, found: &Found) -> Vec<String> {
    let is_chosen = |wanted: &Wanted| {
        let name = other_names::other_name(&wanted.name).unwrap_or(&wanted.name);
        !catalog.builds.of(name).is_empty() || !catalog.companions.of(name).is_empty()
    };
    let holds_one =
        |group: &&String| found.wanted.iter().any(|one| one.group.as_ref() == Some(group) && is_chosen(one));
    found.defaults.iter().filter(holds_one).map(|group| name::package(group)).collect()
}

impl Merged<'_> {
    /// What a package is called here.
    pub(super) fn name_of<'w>(&self, wanted: &'w Wanted) -> &'w str {
        // What JAX brings has its own version; its requirement is told of as one that comes along.
        let is_own = |_: &&str| !COMES_ALONG.iter().any(|along| wanted.name.starts_with(along));
        let called = other_names::other_name(&wanted.name).filter(is_own);
        called.or(nvidia::part_of(&wanted.name)).unwrap_or(&wanted.name)
    }

    /// Tells of the extras that `[stack]` does not hold: what some bring, as the CUDA of JAX, is locked anyway.
    pub(super) fn leave_extras(&mut self, file: &str, name: &str, wanted: &Wanted) {
        let rows = self.catalog.companions.of(name);
        let is_framework = FRAMEWORKS.contains(&name);
        let is_held = |extra: &String| {
            rows.iter().any(|row| row.extra.as_deref() == Some(extra))
                || is_framework && ([AND_CUDA, "cpu"].contains(&extra.as_str()) || extra_variant(extra).is_some())
        };
        let extras: Vec<&str> = wanted.extras.iter().filter(|one| !is_held(one)).map(String::as_str).collect();
        if !extras.is_empty() {
            let why = format!("taken without [{}]: put what that brings under [packages]", extras.join(","));
            self.leave(file, wanted.line, &wanted.written, why);
        }
    }

    /// The variant of torch that a line names, if its wheels have it: conda builds for other CUDAs, too.
    pub(super) fn of_wheels(
        &mut self,
        file: &str,
        wanted: &Wanted,
        variant: Option<String>,
        known: &[Version],
    ) -> Option<String> {
        let variant = variant?;
        if !wanted.is_of_conda {
            return Some(variant);
        }
        let asked = constraint(TORCH, wanted, None, known)?;
        let mut builds = self.catalog.builds.of(TORCH).iter();
        if builds.any(|row| *row.variant == *variant && row.systems.is_empty() && asked.admits(&row.version)) {
            return Some(variant);
        }
        let why = format!("taken without its build: no wheel of that torch is known for `{variant}`");
        self.leave(file, wanted.line, &wanted.written, why);
        None
    }

    /// Why a package of conda's that follows a framework is none of the package index's: this has no such release, or a wheel
    /// that holds code for a CUDA of its own, where conda builds one for that of its environment.
    pub(super) fn of_conda_alone(&self, name: &str, asked: &Constraint) -> Option<&'static str> {
        let rows = self.catalog.companions.of(name);
        if !rows.iter().any(|row| asked.admits(&row.version)) && self.catalog.absent(name, asked).is_ok() {
            return Some(
                "a release of conda's that the package index does not have: put one that it has under [stack]",
            );
        }
        self.has_own_cuda(name).then_some(
            "conda's own build, of which the facts of wheels say nothing: put a wheel's release under [stack]",
        )
    }

    /// Whether the wheels of a package hold code for a CUDA of their own, which their name does not tell.
    pub(super) fn has_own_cuda(&self, name: &str) -> bool {
        let rows = self.catalog.companions.of(name);
        other_names::cuda_of(name).is_none() && rows.iter().any(|row| row.framework == "cuda" && row.gpu_code)
    }

    /// The same with the label of a wheel that its project publishes for a CUDA of its own, beside those of the package index.
    pub(super) fn with_label(&self, name: &str, asked: Constraint, label: Option<&str>) -> Option<Constraint> {
        let is_it =
            |row: &Companion| row.url.is_some() && row.variant.as_deref() == label && asked.admits(&row.version);
        match label.filter(|_| self.catalog.companions.of(name).iter().any(is_it)) {
            Some(label) => with_variant(&asked, label),
            None => Some(asked),
        }
    }

    /// Why a line asks for nothing more: it takes any version, and another line installs one from an address.
    pub(super) fn met(&self, name: &str, wanted: &Wanted) -> Option<String> {
        let is_bare = wanted.version.is_empty() && wanted.address.is_none() && !FRAMEWORKS.contains(&name);
        let place = self.elsewhere.get(name).filter(|_| is_bare)?;
        Some(format!("{place} installs one from an address: install it so behind what the lock names"))
    }

    /// Whether the catalog tells anything of an ordinary package: it has read it on the package index.
    pub(super) fn is_read(&self, name: &str) -> bool {
        self.catalog.asks.iter().any(|row| *row.package == *name || *row.of == *name)
    }

    /// What a package is called for each major of CUDA that the catalog knows: `cudf-cu12` and `cudf-cu13` of `cudf`.
    pub(super) fn names_of(&self, name: &str) -> Vec<String> {
        let known = self.known.iter().filter(|known| other_names::without_cuda(known) == Some(name));
        known.cloned().collect()
    }

    /// Sets the rules aside that are about an older release of a library than the one which an override lays over it: they rest
    /// on the same source as what is known of that library.
    pub(super) fn rules_of_overrides(&mut self) {
        for (name, version, at) in std::mem::take(&mut self.overrides) {
            let Ok(version) = Version::parse(version.trim_start_matches('=')) else { continue };
            let library = other_names::without_cuda(&name).unwrap_or(&name);
            let asks = self.catalog.asks.iter().filter(|row| *row.of == *library && admits(&row.needs, &version));
            let sources: Vec<_> = asks.map(|row| &row.source).collect();
            let is_in_stack = |name: &str| self.draft.stack.iter().any(|entry| entry.key == name);
            let is_about = |rule: &&Rule| rule.package.as_deref().is_some_and(is_in_stack);
            let rules = self.catalog.rules.iter().filter(|rule| sources.contains(&&rule.source)).filter(is_about);
            let ids: Vec<String> = rules.map(|rule| rule.id.to_string()).collect();
            let why = format!("{at} lays {name} {version} over the one that others bring");
            self.draft.overrides.extend(ids.into_iter().map(|id| (id, why.clone())));
        }
    }

    /// The packages that have a name for each major of CUDA, by that of the major that the files ask for.
    pub(super) fn named_by_cuda(&mut self) {
        let of = |asked: &Constraint| {
            let lines = self.catalog.toolkits.iter().filter(|row| asked.admits(&row.version));
            distinct(lines.map(|row| row.version.major()))
        };
        let majors = self.stack.of("cuda").next().map(of).unwrap_or_default();
        let major = if let [only] = majors[..] { Some(only) } else { None };
        for (manifest, wanted) in std::mem::take(&mut self.of_each_cuda) {
            let each = self.names_of(&wanted.name);
            let is_meant =
                |name: &&String| major.is_some() && other_names::cuda_of(name).map(|cuda| cuda.major()) == major;
            let meant = each.iter().find(is_meant).cloned();
            // Those of the package index alone are named in the same way.
            let unlisted = major.filter(|_| each.is_empty()).map(|major| format!("{}-cu{major}", wanted.name));
            let meant = meant.or(unlisted);
            let why = match (&meant, &each[..]) {
                (Some(_), _) => String::new(),
                (None, []) => {
                    format!("it has a name for each major of CUDA: put yours under [packages], {}-cuNN", wanted.name)
                }
                (None, each) => {
                    format!("it has a name for each major of CUDA: put one under [stack], {}", each.join(" or "))
                }
            };
            match meant {
                Some(name) => self.package(manifest, Wanted { name, is_vague: false, ..wanted }, None),
                None => self.leave(&manifest.name, wanted.line, &wanted.written, why),
            }
        }
    }
}
