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
            Answer { exit: Exit::No as u8, document: json::text(&json::NoAnswer::new(&explanation)), text: None }
        }
        Outcome::Undetermined(unknowns, known) => {
            let document = json::text(&json::Undetermined::new(&unknowns, known.as_ref()));
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
mod tests {
    use super::*;

    const SPEC: &str = "[stack]\ntorch = \"1.12.1+cu102\" # why\n\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n\
                        driver = \"460.32.03\"\n";

    #[test]
    fn a_conflict_has_fixes_that_lead_to_an_answer() {
        let answer = lock(SPEC);
        assert!(answer.exit == 1 && answer.document.contains("\"culprits\""), "{answer:?}");
        let fixed = apply_fix(SPEC, 1).text.expect("the new text");
        assert!(fixed.contains("# why") && fixed != SPEC, "{fixed}");
        let answer = lock(&fixed);
        let text = answer.text.expect("a lock");
        assert!(answer.exit == 0 && text.contains("torch"), "{text}");
        assert!(export(&text, "dockerfile", "").exit == 2, "bare metal has no Dockerfile");
        assert!(export(&text, "requirements", "").text.is_some_and(|text| text.contains("torch==")));
        assert!(apply_fix(SPEC, 99).document.contains("no-such-fix"));
    }

    #[test]
    fn builds_that_a_spec_brings_are_taken() {
        let own = "[stack]\ntorch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"8.0\", python = \"3.12\" }\n";
        let answer = lock(&format!("{own}[target.a]\ngpu = \"A100-PCIE-40GB\"\n"));
        assert!(answer.exit == 0 && answer.document.contains("\"torch\": \"2.8.0\""), "{answer:?}");
        let conflict = lock(&format!("{own}[target.a]\ngpu = \"V100\"\n"));
        assert!(conflict.exit == 1 && conflict.document.contains("your build of torch 2.8.0"), "{conflict:?}");
        let later = format!("{own}[target.a]\ngpu = \"none\"\n[catalog]\nversion = \">=2999.1.1\"\n");
        assert!(lock(&later).document.contains("catalog-version"));
    }

    #[test]
    fn overlays_are_refused_at_their_place() {
        let text = format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n");
        let answer = lock(&text);
        assert!(answer.exit == 2 && answer.document.contains("\"no-files\""), "{answer:?}");
        assert!(answer.document.contains("\"line\": 8"), "{answer:?}");
    }

    #[test]
    fn a_matrix_is_the_picture_of_the_command_with_its_cells() {
        let answer = matrix("torch", "RTX 5090", "2.9", "");
        let document: serde_json::Value = serde_json::from_str(&answer.document).unwrap();
        let cells = document["tables"][0]["cells"].as_array().unwrap();
        let picture = answer.text.expect("a picture");
        assert_eq!(picture.matches("<g class=").count(), cells.len());
        let first = picture.split("<g class=\"").nth(1).unwrap();
        assert!(first.starts_with(cells[0]["state"].as_str().unwrap()), "{first}");
        for (gpu, driver) in [("RTX 9999", ""), ("none", ""), ("H100", "5x5")] {
            assert_eq!(matrix("torch", gpu, "", driver).exit, 2, "{gpu} {driver}");
        }
        assert_eq!(matrix("torch", "", "99", "").exit, 2);
    }

    #[test]
    fn a_message_is_read_beside_the_spec() {
        let text = SPEC.replace("+cu102", "");
        let message = "RuntimeError: CUDA error: no kernel image is available for execution on the device";
        assert!(diagnose(message, &text).document.contains("\"recognised\""));
        assert_eq!(diagnose("good morning", "").exit, 3);
    }
}
