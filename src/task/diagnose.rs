//! An error message read, and asked of a gpuenv.toml.

use crate::catalog::Catalog;
use crate::diagnose::Verdict;
use crate::explain::host::{OnHost, Unplaced, on_host};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::spec::{Observed, Spec};

/// What a spec comes to on the host that a text tells of; none where it tells nothing that bears on the spec.
pub fn solved<'r>(
    spec: &Spec,
    observed: &Observed,
    target: Option<&str>,
    rules: &'r Problem<'r>,
) -> Result<Option<OnHost>, Unplaced> {
    match on_host(spec, observed, target, rules, &Steps::default()) {
        Ok(host) => Ok(Some(host)),
        Err(Unplaced::NothingKnown) => Ok(None),
        Err(unplaced) => Err(unplaced),
    }
}

/// Puts what was solved for this spec before what holds for everybody with its GPUs.
pub fn lead_with(verdict: &mut Verdict, host: &OnHost, catalog: &Catalog) {
    if let Some(first) = verdict.findings.first_mut() {
        let general = first.remedies_on(&host.gpus, catalog);
        first.remedies = host.remedies().into_iter().chain(general).collect();
    }
}
