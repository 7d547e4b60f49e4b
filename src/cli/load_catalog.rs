//! The catalog a command asks: the one at hand, or that with the overlays of a spec laid over it.

use std::borrow::Cow;
use std::path::Path;

use crate::catalog::overlay::{self, Mistake};
use crate::catalog::{Catalog, at_hand};
use crate::lock::{CatalogStamp, Lock};
use crate::report::{Exit, Failure, Problem, Report, SourceFile};
use crate::solve::own;
use crate::spec::{self, Spec, Written, is_incomplete};

use super::common::Common;
use super::files;
use super::project::{self, SPEC, Way, shown};

/// The catalog of a spec. Its overlays lie relative to it and are laid in the order they are written in.
pub fn of_spec(spec: &Spec, file: &SourceFile, place: &Path) -> Result<Cow<'static, Catalog>, Failure> {
    let mut catalog = Cow::Borrowed(at_hand());
    if let Some(refused) = spec.refused_overlays() {
        return Err(Failure::spec(vec![refused], file.clone()));
    }
    for written in &spec.overlays {
        let folder = place.with_file_name("");
        let path = folder.join(&written.value);
        let way = project::way(&folder, Path::new(&written.value)).unwrap_or(Way::Inside);
        let overlay = match &way {
            Way::Out { to, project } => {
                let failure = project::outside(&path, to, project).help("put the file itself into the project");
                Err(at_its_name(failure, written, file))
            }
            _ => files::read_overlay(&path).map_err(|failure| at_its_name(failure, written, file)),
        }?;
        let laid = overlay::lay(&catalog, &written.value, &overlay.text);
        catalog = Cow::Owned(laid.map_err(|mistakes| match way {
            Way::Inside => refused(mistakes, overlay),
            _ => at_its_name(untold(&path), written, file),
        })?);
    }
    Ok(own::lay(spec, &catalog).map_or(catalog, Cow::Owned))
}

/// What is wrong with a file outside the project may not be told: gpuenv.toml chose it, and it may be any file.
fn untold(path: &Path) -> Failure {
    let name = shown(path);
    let message =
        format!("{name} is not an overlay that can be read; it is outside the project, so nothing of it is shown");
    let help = format!("if it is yours, `gpuenv catalog check {name}` says what is wrong with it");
    Failure::new(Exit::BadInput, "outside-project", message).help(help)
}

/// The catalog of the spec here, if there is one, else the one at hand: for commands that need no spec.
pub fn nearby(common: &Common) -> Result<Cow<'static, Catalog>, Failure> {
    with_lost(common).map(|(catalog, _)| catalog)
}

/// The same for whoever asks what is in it: overlays that could not be looked up are told.
pub fn told(common: &Common, report: &Report) -> Result<Cow<'static, Catalog>, Failure> {
    let (catalog, lost) = with_lost(common)?;
    if let Some(problem) = lost.and_then(|failure| failure.problems.into_iter().next()) {
        report.note(&format!("what overlays of {SPEC} hold is left out, for it cannot be read: {}", problem.message));
    }
    Ok(catalog)
}

/// The same for whoever asks whether it is sound: overlays that could not be looked up are a failure.
pub fn whole(common: &Common) -> Result<Cow<'static, Catalog>, Failure> {
    match with_lost(common)? {
        (_, Some(failure)) => Err(failure),
        (catalog, None) => Ok(catalog),
    }
}

/// The catalog nearby, and why the overlays of a spec that was only found are not in it.
fn with_lost(common: &Common) -> Result<(Cow<'static, Catalog>, Option<Failure>), Failure> {
    let Some(place) = files::spec_place(common)? else { return Ok((Cow::Borrowed(at_hand()), None)) };
    let file = match files::read_spec(&place) {
        Ok(file) => file,
        Err(failure) if common.spec.is_some() => return Err(failure),
        Err(failure) => return Ok((Cow::Borrowed(at_hand()), Some(failure))),
    };
    let (spec, errors) = spec::parse_part(&file.text);
    if common.spec.is_some() && !errors.iter().all(is_incomplete) {
        return Err(Failure::spec(errors, file));
    }
    let catalog = of_spec(&spec, &file, &place)?;
    // Other mistakes of a spec that was only found do not matter here.
    let is_lost = spec.overlays.is_empty() && !errors.is_empty() && file.text.contains("overlays");
    Ok((catalog, is_lost.then(|| Failure::spec(errors, file))))
}

/// The catalog that a lock was made with. Where its overlays are not beside it any more as they were, that is told: the
/// lock still decides, and what only they knew is not known.
pub fn of_lock(lock: &Lock, common: &Common, report: &Report) -> Result<Cow<'static, Catalog>, Failure> {
    let wanted = &lock.catalog.overlays;
    if wanted.is_empty() {
        return Ok(Cow::Borrowed(at_hand()));
    }
    let beside_it = || files::beside_lock(common);
    let spec = common.spec.clone().map_or_else(beside_it, Ok)?;
    match beside(&spec) {
        Ok(catalog) if is_of(wanted, &catalog) => Ok(catalog),
        Err(failure) if common.spec.is_some() => Err(failure),
        other => {
            let names: Vec<&str> = wanted.iter().map(|one| name(one)).collect();
            let is_named = |catalog: &Catalog| {
                let now = CatalogStamp::of(catalog).overlays;
                now.iter().map(|one| name(one)).eq(names.iter().copied())
            };
            let why = match other {
                Ok(catalog) if is_named(&catalog) => ", which has changed since".to_string(),
                Ok(_) => format!(", which {} does not name any more", shown(&spec)),
                Err(failure) => match failure.problems.into_iter().next() {
                    Some(problem) => format!(", and {}", problem.message),
                    None => String::new(),
                },
            };
            report.note(&format!(
                "the lock was made with {}{why}: what only an overlay tells is not known here",
                names.join(", ")
            ));
            Ok(Cow::Borrowed(at_hand()))
        }
    }
}

/// Whether the overlays of a lock are those of a catalog.
fn is_of(wanted: &[String], catalog: &Catalog) -> bool {
    wanted.len() == catalog.overlays.len() && wanted.iter().all(|one| CatalogStamp::is_of_any(one, catalog))
}

/// The name in an overlay's stamp, which the digest follows.
fn name(stamp: &str) -> &str {
    stamp.rsplit_once(' ').map_or(stamp, |(name, _)| name)
}

/// The catalog of a spec of which nothing but its overlays matters.
pub fn beside(spec: &Path) -> Result<Cow<'static, Catalog>, Failure> {
    let file = files::read_spec(spec)?;
    of_spec(&spec::parse_part(&file.text).0, &file, spec)
}

/// A file that cannot be read is told where gpuenv.toml names it.
fn at_its_name(failure: Failure, written: &Written<String>, file: &SourceFile) -> Failure {
    // What is wrong inside the file is told there.
    if failure.file.is_some() {
        return failure;
    }
    let problems = failure.problems.into_iter().map(|problem| Problem {
        span: Some(written.span.clone()),
        help: match problem.code {
            "not-found" => Some("`overlays` names files relative to gpuenv.toml".into()),
            _ => problem.help,
        },
        ..problem
    });
    Failure { exit: failure.exit, problems: problems.collect(), file: Some(file.clone()) }
}

/// What to do about what a lint found.
fn of_lint(lint: &str) -> &'static str {
    match lint {
        "unknown-source" => "add a `[[source]]` row with this id, as `gpuenv explain overlay` shows one",
        _ => "`gpuenv explain overlay` shows rows",
    }
}

/// What is wrong with an overlay, at its places in the file.
pub fn refused(mistakes: Vec<Mistake>, file: SourceFile) -> Failure {
    let problems = mistakes.into_iter().map(|mistake| Problem {
        code: mistake.code,
        message: mistake.message,
        span: mistake.span,
        help: mistake.help.or_else(|| Some(of_lint(mistake.code).into())),
    });
    Failure { exit: Exit::BadInput, problems: problems.collect(), file: Some(file) }
}
