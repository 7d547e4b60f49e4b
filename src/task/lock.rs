//! A gpuenv.toml read, and resolved.

use std::borrow::Cow;

use crate::catalog::{Catalog, at_hand};
use crate::explain::{self, Explanation};
use crate::export::{self, Options};
use crate::lock::{Lock, Renewed, Upgrade, renew};
use crate::report::{Exit, Failure, Problem, SourceFile};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem as Compiled;
use crate::solve::request::Request;
use crate::solve::unknowns::Unknown;
use crate::spec::{self, Spec, SpecError};
use crate::types::Version;
use crate::warning::Warning;

use super::gave_up;

/// A spec, the file it was read from and the catalog it asks.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The file.
    pub file: SourceFile,
    /// What it says.
    pub spec: Spec,
    /// The facts, with the spec's overlays.
    pub catalog: Cow<'static, Catalog>,
}

/// What came of a spec.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A lock, and what solving it brought up.
    Locked(Box<Lock>, Vec<Warning>),
    /// Nothing satisfies it, and why.
    Conflict(Explanation),
    /// It depends on what nobody has read; beside it the changes that do without, as far as there are any.
    Undetermined(Vec<Unknown>, Option<Explanation>),
}

/// Reads a spec; `catalog_of` lays its overlays. If the spec has mistakes, the names that the catalog lacks are told in
/// the same run.
pub fn read(
    file: SourceFile,
    catalog_of: impl Fn(&Spec, &SourceFile) -> Result<Cow<'static, Catalog>, Failure>,
) -> Result<Asked, Failure> {
    let (spec, mut errors) = spec::parse_part(&file.text);
    if errors.is_empty() {
        check_supported(&spec, &file)?;
        check_version(&spec, &file)?;
        check_exports(&spec, &file)?;
        let catalog = catalog_of(&spec, &file)?;
        return Ok(Asked { file, spec, catalog });
    }
    // Without all of its overlays, names would be missed that are there.
    if let Ok(catalog) = catalog_of(&spec, &file) {
        errors.extend(Request::new(&spec, &Compiled::new(&catalog)).err().into_iter().flatten());
        SpecError::in_file_order(&mut errors);
    }
    Err(Failure::spec(errors, file))
}

/// That a spec is for another gpuenv, which may read it otherwise.
pub fn required(spec: &Spec) -> Option<String> {
    let here = env!("CARGO_PKG_VERSION");
    let wanted = &spec.requires_gpuenv.as_ref()?.value;
    let is_met = semver::Version::parse(here).is_ok_and(|version| wanted.matches(&version));
    (!is_met).then(|| format!("this spec requires gpuenv {wanted}; this is gpuenv {here}"))
}

/// What this version of gpuenv cannot do must not look as if it had been done.
fn check_supported(spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
    if let Some(message) = required(spec) {
        let problem = Problem {
            code: "requires-gpuenv",
            message,
            span: spec.requires_gpuenv.as_ref().map(|wanted| wanted.span.clone()),
            help: Some("install a gpuenv of that version".into()),
        };
        return Err(Failure { exit: Exit::BadInput, problems: vec![problem], file: Some(file.clone()) });
    }
    Ok(())
}

/// A slip in `[export]` is told before the first export, which may run elsewhere and much later.
fn check_exports(spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for entry in &spec.exports {
        let checked =
            export::format(&entry.format).and_then(|format| format.check(&Options::of(entry.options.iter().cloned())));
        let told = |error| Problem { span: Some(entry.span.clone()), ..Problem::of_export(&error) };
        problems.extend(checked.err().map(told));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure { exit: Exit::BadInput, problems, file: Some(file.clone()) })
}

/// Refuses to answer with a catalog that gpuenv.toml does not admit.
fn check_version(spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
    let Some(asked) = &spec.catalog_version else { return Ok(()) };
    let Ok(here) = Version::parse(&at_hand().version) else { return Ok(()) };
    if asked.value.admits(&here) {
        return Ok(());
    }
    let message = format!("the catalog at hand is {here}, and gpuenv.toml requires `{}`", asked.text.escape_debug());
    let is_below = asked.value.comparisons().any(|one| one.version.is_some_and(|wanted| here < wanted));
    let help = match is_below {
        true => format!(
            "install a newer one (`gpuenv catalog update FILE`, or a newer gpuenv), or change `version` under [catalog]: \
             `version = \">={here}\"`"
        ),
        false => format!(
            "name in full one that is installed (`gpuenv catalog update` lists them), install such a one (`gpuenv catalog \
             update FILE --rollback VERSION`) or the gpuenv that came with it (`requires-gpuenv` names its version), or change \
             `version` under [catalog]: `version = \">={here}\"`"
        ),
    };
    let error = SpecError { code: "catalog-version", message, span: asked.span.clone(), help: Some(help) };
    Err(Failure::spec(vec![error], file.clone()))
}

/// Resolves a spec. Choices of the previous lock that still hold are kept, except what is upgraded.
pub fn resolve<'r>(
    spec: &Spec,
    request: &Request<'_>,
    rules: &'r Compiled<'r>,
    previous: Option<&Lock>,
    upgrade: &Upgrade,
) -> Result<Outcome, Failure> {
    match renew(spec, request, previous, upgrade, &Steps::default()) {
        Renewed::Lock(lock, warnings) => Ok(Outcome::Locked(lock, warnings)),
        Renewed::Conflict => {
            let found = explain::conflicts(spec, rules, &Steps::default());
            Ok(Outcome::Conflict(found.unwrap_or(Explanation::gave_up(Steps::LIMIT))))
        }
        Renewed::Undetermined(unknowns) => {
            Ok(Outcome::Undetermined(unknowns, explain::obstacles(spec, rules, &Steps::default())))
        }
        Renewed::GaveUp => Err(gave_up()),
    }
}
