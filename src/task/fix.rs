//! One of the fixes that were offered, written into the text of a gpuenv.toml.

use crate::explain::{self, Change};
use crate::report::{Exit, Failure};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::{Resolution, resolve};
use crate::spec;

use super::gave_up;
use super::lock::Asked;

/// A text with a fix in it.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// What is new in it.
    pub changes: Vec<Change>,
}

/// Applies fix `number`: the same fixes in the same order as `gpuenv lock` shows.
pub fn apply<'r>(asked: &Asked, rules: &'r Problem<'r>, number: usize) -> Result<Fixed, Failure> {
    let Asked { file, spec, .. } = asked;
    let (request, _) = Request::new(spec, rules).map_err(|errors| Failure::spec(errors, file.clone()))?;
    let told = match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Conflict => explain::conflicts(spec, rules, &Steps::default()),
        Resolution::Undetermined(_) => explain::obstacles(spec, rules, &Steps::default()),
        Resolution::GaveUp => return Err(gave_up()),
        Resolution::Solution(_) => {
            let message = format!("nothing to fix: {} resolves", file.name);
            return Err(refused("nothing-to-fix", message).help("run `gpuenv lock`"));
        }
    };
    let told = told.ok_or_else(gave_up)?;
    let Some(fix) = number.checked_sub(1).and_then(|at| told.fixes.get(at)) else {
        let message = match told.fixes.len() {
            0 => format!("--apply-fix {number}: no fix was found for this spec"),
            1 => format!("--apply-fix {number}: there is one fix, number 1"),
            most => format!("--apply-fix {number}: there are fixes 1 to {most}"),
        };
        return Err(refused("no-such-fix", message).help("`gpuenv lock --verbose` shows them all"));
    };
    let changes: Vec<(String, Option<String>)> =
        fix.changes.iter().map(|change| (change.key.clone(), change.to.clone())).collect();
    let text = spec::rewrite(&file.text, &changes).map_err(|error| refused("rewrite", error.to_string()))?;
    Ok(Fixed { text, changes: fix.changes.clone() })
}

fn refused(code: &'static str, message: String) -> Failure {
    Failure::new(Exit::BadInput, code, message)
}
