//! `gpuenv lock --apply-fix N`: one of the fixes offered, written into gpuenv.toml.

use std::fs;
use std::path::Path;

use crate::explain::{self, Change};
use crate::report::{Exit, Failure, Report};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::question::Question;
use crate::solve::resolve::{Resolution, resolve};
use crate::spec;

use super::files;
use super::lock::{Asked, STEPS, gave_up};
use super::replace::replace;

/// Writes fix `number` into the spec, shows what changed, and says which keys did.
pub fn apply(path: &Path, asked: &Asked, number: usize, report: &Report) -> Result<Vec<Change>, Failure> {
    let Asked { file, spec, catalog } = asked;
    let rules = &Problem::new(catalog);
    let refuse = |code, message: String| Failure::new(Exit::BadInput, code, message);
    let (question, _) = Question::new(spec, rules).map_err(|errors| Failure::spec(errors, file.clone()))?;
    // The same fixes in the same order as `gpuenv lock` has shown.
    let told = match resolve(&question, &Locked::new(), &Steps::new(STEPS)) {
        Resolution::Conflict => explain::conflicts(spec, rules, &Steps::new(STEPS)),
        Resolution::Undetermined(_) => explain::obstacles(spec, rules, &Steps::new(STEPS)),
        Resolution::GaveUp => return Err(gave_up()),
        Resolution::Answer(_) => {
            let message = "--apply-fix: there is nothing to fix, this spec has an answer".to_string();
            return Err(refuse("nothing-to-fix", message).help("run `gpuenv lock`"));
        }
    };
    let told = told.ok_or_else(gave_up)?;
    let Some(fix) = number.checked_sub(1).and_then(|at| told.fixes.get(at)) else {
        let message = match told.fixes.len() {
            0 => format!("--apply-fix {number}: no fix was found for this spec"),
            1 => format!("--apply-fix {number}: there is one fix, number 1"),
            most => format!("--apply-fix {number}: there are fixes 1 to {most}"),
        };
        return Err(refuse("no-such-fix", message).help("`gpuenv lock --verbose` shows them all"));
    };
    let changes: Vec<(String, Option<String>)> =
        fix.changes.iter().map(|change| (change.key.clone(), change.to.clone())).collect();
    let after = spec::rewrite(&file.text, &changes).map_err(|error| refuse("rewrite", error.to_string()))?;
    // Somebody may have saved the file while it was thought about: their work is worth more than a fix of old text.
    let bytes = fs::read(path).unwrap_or_default();
    let mark = if bytes.starts_with("\u{feff}".as_bytes()) { "\u{feff}" } else { "" };
    if !spec::decode(bytes).is_ok_and(|text| text == file.text) {
        let message = format!("{} was changed by somebody else meanwhile: nothing was written", files::shown(path));
        return Err(refuse("spec-changed", message).help("run the command once more"));
    }
    replace(path, &format!("{mark}{after}"))?;
    report.edited(file, &after);
    Ok(fix.changes.clone())
}
