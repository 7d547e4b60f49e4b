//! L5, the page: what `page/` asks of the library in a browser. Texts in, texts out; what is answered is to the byte what
//! the command prints.

#[cfg(target_arch = "wasm32")]
mod door;
mod form;
mod names;

use std::borrow::Cow;

use crate::catalog::{BUILTIN, Catalog};
use crate::export::{self, ExportError, Options};
use crate::lock::{self, Upgrade};
use crate::report::{Exit, Failure, SourceFile, json, matrix_picture};
use crate::solve::own;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::suppress::heard;
use crate::spec::{self, Spec};
use crate::task::lock::{Asked, Outcome, read, resolve};
use crate::task::{self, fix};

pub use form::{add_target, change, form, remove_target};
pub use names::{matching, names, releases};

/// The name of the file that is edited.
const SPEC: &str = "gpuenv.toml";

/// What came of a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The exit code that the command would end with.
    pub exit: u8,
    /// What `--format json` prints.
    pub document: String,
    /// The lock, the changed spec or the rendered file; none where there is none.
    pub text: Option<String>,
}

// The built-in catalog compiled for solving. Its parts are worked out once and serve every question after.
thread_local! {
    static RULES: &'static Problem<'static> = Box::leak(Box::new(Problem::new(&BUILTIN)));
}

fn rules() -> &'static Problem<'static> {
    RULES.with(|rules| *rules)
}

impl Answer {
    fn refused(failure: &Failure) -> Answer {
        Answer { exit: failure.exit as u8, document: json::text(&json::Errors::new(failure)), text: None }
    }

    fn of(outcome: Result<Answer, Failure>) -> Answer {
        outcome.unwrap_or_else(|failure| Answer::refused(&failure))
    }
}

/// `gpuenv lock`, with the text of gpuenv.lock.
pub fn lock(text: &str) -> Answer {
    Answer::of(locked(text))
}

fn locked(text: &str) -> Result<Answer, Failure> {
    let asked = asked(text)?;
    with_rules(&asked, |rules| answered(&asked, rules))
}

fn answered<'r>(asked: &Asked, rules: &'r Problem<'r>) -> Result<Answer, Failure> {
    let Asked { file, spec, .. } = asked;
    let (request, mut warnings) = Request::new(spec, rules).map_err(|errors| Failure::spec(errors, file.clone()))?;
    Ok(match resolve(spec, &request, rules, None, &Upgrade::Nothing)? {
        Outcome::Locked(lock, more) => {
            warnings.extend(more);
            let document = json::text(&json::Locked::new(&lock, &heard(spec, warnings), &[]));
            Answer { exit: Exit::Yes as u8, document, text: Some(lock::to_text(&lock)) }
        }
        Outcome::Conflict(explanation) => {
            Answer { exit: Exit::No as u8, document: json::text(&json::NoAnswer::new(&explanation, &[])), text: None }
        }
        Outcome::Undetermined(unknowns, known) => {
            let document = json::text(&json::Undetermined::new(&unknowns, known.as_ref(), &[]));
            Answer { exit: Exit::Unknown as u8, document, text: None }
        }
    })
}

/// `gpuenv lock --apply-fix N`, with the new text of gpuenv.toml.
pub fn apply_fix(text: &str, number: usize) -> Answer {
    Answer::of(asked(text).and_then(|asked| {
        let fixed = with_rules(&asked, |rules| fix::apply(&asked, rules, number))?;
        Ok(Answer { exit: Exit::Yes as u8, document: String::new(), text: Some(fixed.text) })
    }))
}

/// `gpuenv export FORMAT`, with the rendered text. The document is the command that comes next.
pub fn export(lock: &str, format: &str, target: &str) -> Answer {
    Answer::of(exported(lock, format, target))
}

fn exported(lock: &str, format: &str, target: &str) -> Result<Answer, Failure> {
    let lock = lock::parse(lock).map_err(|error| Failure::new(Exit::BadInput, error.code(), error.to_string()))?;
    let target = (!target.is_empty()).then(|| target.to_string());
    let options = Options { target, ..Options::default() };
    let refused = |error: ExportError| Failure::of_export(Exit::BadInput, &error);
    let format = export::format(format).map_err(refused)?;
    let text = format.render(&lock, &options).map_err(refused)?;
    Ok(Answer { exit: Exit::Yes as u8, document: (format.next)(&lock, format.file, &options), text: Some(text) })
}

/// `gpuenv matrix --format svg`, with the cells as `--format json` prints them, in the picture's order. An empty text
/// asks for nothing.
pub fn matrix(package: &str, gpu: &str, version: &str, driver: &str) -> Answer {
    let told = |text: &'_ str| (!text.trim().is_empty()).then(|| text.trim().to_string());
    let gpus: Vec<String> = told(gpu).into_iter().collect();
    let (version, driver) = (told(version), told(driver));
    let asked = task::matrix::Asked {
        package,
        gpus: &gpus,
        version: version.as_deref(),
        driver: driver.as_deref(),
        ..Default::default()
    };
    Answer::of(task::matrix::drawn_up(&asked, rules()).map(|matrix| Answer {
        exit: Exit::Yes as u8,
        document: json::text(&json::MatrixCells::new(&matrix)),
        text: Some(matrix_picture(&matrix)),
    }))
}

/// `gpuenv diagnose` beside a gpuenv.toml; an empty one is none.
pub fn diagnose(message: &str, text: &str) -> Answer {
    let mut verdict = crate::diagnose::diagnose(message, &BUILTIN);
    let observed = verdict.observed();
    let beside = if observed.is_empty() { None } else { asked(text).ok() };
    let host = beside.and_then(|asked| {
        with_rules(&asked, |rules| task::diagnose::solved(&asked.spec, &observed, None, rules).ok().flatten())
    });
    host.iter().for_each(|host| task::diagnose::lead_with(&mut verdict, host, &BUILTIN));
    let exit = if verdict.findings.is_empty() { Exit::Unknown } else { Exit::Yes };
    Answer { exit: exit as u8, document: json::text(&json::Diagnosed::new(&verdict, host.as_ref())), text: None }
}

/// Reads the text as the command reads the file.
fn asked(text: &str) -> Result<Asked, Failure> {
    let file = |text: String| SourceFile { name: SPEC.to_string(), text };
    let text =
        spec::decode(text.as_bytes().to_vec()).map_err(|error| Failure::spec(vec![error], file(String::new())))?;
    read(file(text), catalog_of)
}

/// Asks something of a spec's catalog: the built-in one is compiled already, one with builds that a spec brings is not.
fn with_rules<T>(asked: &Asked, ask: impl for<'r> FnOnce(&'r Problem<'r>) -> T) -> T {
    match &asked.catalog {
        Cow::Borrowed(_) => ask(rules()),
        Cow::Owned(catalog) => ask(&Problem::new(catalog)),
    }
}

/// A page has no other files.
fn catalog_of(spec: &Spec, file: &SourceFile) -> Result<Cow<'static, Catalog>, Failure> {
    let Some(first) = spec.overlays.first() else {
        return Ok(own::lay(spec, &BUILTIN).map_or(Cow::Borrowed(&BUILTIN), Cow::Owned));
    };
    let message = "overlays are files, and this page reads none";
    let failure = Failure::new(Exit::BadInput, "no-files", message);
    Err(failure.help("run `gpuenv lock` where they lie, or remove `overlays`").within(first.span.clone(), file))
}

#[cfg(test)]
mod tests;
