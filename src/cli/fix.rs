//! `gpuenv lock --apply-fix N`: one of the fixes offered, as a change of gpuenv.toml.

use crate::explain::{self, Change};
use crate::report::{Exit, Failure};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::question::Question;
use crate::solve::resolve::{Resolution, resolve};
use crate::spec;

use super::lock::{Asked, STEPS, gave_up};

/// What fix `number` changes, and the text of the spec with it.
pub fn apply(asked: &Asked, number: usize) -> Result<(Vec<Change>, String), Failure> {
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
            let message = format!("nothing to fix: {} resolves", file.name);
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
    Ok((fix.changes.clone(), after))
}
