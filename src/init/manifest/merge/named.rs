//! What `[stack]` calls by other names than the files: packages with a name for each major of CUDA, and extras, of which it has
//! none.

use super::{COMES_ALONG, Merged, Wanted, extra_variant};
use crate::catalog::rows::FRAMEWORKS;
use crate::spec::other_names;
use crate::types::{Constraint, distinct, nvidia};

impl Merged<'_> {
    /// What a package is called here.
    pub(super) fn name_of<'w>(&self, wanted: &'w Wanted) -> &'w str {
        // What JAX brings has its own version; its requirement is told of as one that comes along.
        let is_own = |_: &&str| !COMES_ALONG.iter().any(|along| wanted.name.starts_with(along));
        let called = other_names::other_name(&wanted.name).filter(is_own);
        let library =
            nvidia::PARTS.iter().find(|(_, library)| nvidia::is(library, &wanted.name)).map(|(part, _)| *part);
        called.or(library).unwrap_or(&wanted.name)
    }

    /// Tells of the extras that `[stack]` does not hold: what some bring, as the CUDA of JAX, is locked anyway.
    pub(super) fn leave_extras(&mut self, file: &str, name: &str, wanted: &Wanted) {
        let rows = self.catalog.companions.of(name);
        let is_framework = FRAMEWORKS.contains(&name);
        let is_held = |extra: &String| {
            rows.iter().any(|row| row.extra.as_deref() == Some(extra))
                || is_framework && (["and-cuda", "cpu"].contains(&extra.as_str()) || extra_variant(extra).is_some())
        };
        let extras: Vec<&str> = wanted.extras.iter().filter(|one| !is_held(one)).map(String::as_str).collect();
        if !extras.is_empty() {
            let why = format!("taken without [{}]: put what that brings under [packages]", extras.join(","));
            self.leave(file, wanted.line, &wanted.written, why);
        }
    }

    /// What a package is called for each major of CUDA that the catalog knows: `cudf-cu12` and `cudf-cu13` of `cudf`.
    pub(super) fn names_of(&self, name: &str) -> Vec<String> {
        let known = self.known.iter().filter(|known| other_names::without_cuda(known) == Some(name));
        known.cloned().collect()
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
                Some(name) => self.package(manifest, Wanted { name, ..wanted }, None),
                None => self.leave(&manifest.name, wanted.line, &wanted.written, why),
            }
        }
    }
}
