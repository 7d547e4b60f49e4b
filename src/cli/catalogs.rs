//! The catalog a command asks: the built-in one, or that with the overlays of a spec laid over it.

use std::borrow::Cow;
use std::path::Path;

use crate::catalog::overlay::{self, Mistake};
use crate::catalog::{BUILTIN, Catalog};
use crate::report::{Exit, Failure, Problem, SourceFile};
use crate::spec::{self, Spec, Written};

use super::args::Common;
use super::files;

/// The catalog of a spec. Its overlays lie relative to it and are laid in the order they are written in.
pub fn of_spec(spec: &Spec, file: &SourceFile, place: &Path) -> Result<Cow<'static, Catalog>, Failure> {
    let mut catalog = Cow::Borrowed(&BUILTIN);
    for written in &spec.overlays {
        let path = place.with_file_name("").join(&written.value);
        let overlay = files::read_overlay(&path).map_err(|failure| at_its_name(failure, written, file))?;
        let laid = overlay::lay(&catalog, &written.value, &overlay.text);
        catalog = Cow::Owned(laid.map_err(|mistakes| refused(mistakes, overlay))?);
    }
    Ok(catalog)
}

/// The catalog of the spec here, if there is one, else the built-in one: for commands that need no spec.
pub fn nearby(common: &Common) -> Result<Cow<'static, Catalog>, Failure> {
    let named = common.spec.is_some();
    let Ok(places) = files::places(common) else { return Ok(Cow::Borrowed(&BUILTIN)) };
    match files::read_spec(&places.spec) {
        // A spec's other mistakes are no matter here.
        Ok(file) => of_spec(&spec::parse_part(&file.text).0, &file, &places.spec),
        Err(failure) if named => Err(failure),
        Err(_) => Ok(Cow::Borrowed(&BUILTIN)),
    }
}

/// A file that cannot be read is told where gpuenv.toml names it.
fn at_its_name(failure: Failure, written: &Written<String>, file: &SourceFile) -> Failure {
    // What is wrong inside the file is told there.
    if failure.file.is_some() {
        return failure;
    }
    let problems = failure.problems.into_iter().map(|problem| Problem {
        span: Some(written.span.clone()),
        help: problem.help.or_else(|| Some("`overlays` names files relative to gpuenv.toml".into())),
        ..problem
    });
    Failure { exit: failure.exit, problems: problems.collect(), file: Some(file.clone()) }
}

/// What is wrong with an overlay, at its places in the file.
pub fn refused(mistakes: Vec<Mistake>, file: SourceFile) -> Failure {
    let problems = mistakes.into_iter().map(|mistake| Problem {
        code: mistake.code,
        message: mistake.message,
        span: mistake.span,
        help: mistake.help,
    });
    Failure { exit: Exit::BadInput, problems: problems.collect(), file: Some(file) }
}
