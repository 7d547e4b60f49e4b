//! Why this and not a better one: for each choice of an answer, the better values that exist and what forbids them.
//!
//! A better value is forced upon the spec and asked for like anything else. The clash that comes of it is the
//! reason; where there is none, what it would cost elsewhere is.

mod minimum;
mod place;
mod stack;

use serde::Serialize;

use crate::catalog::rows::{Build, Status};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::World;
use crate::solve::solution::{Solution, TargetAnswer};
use crate::solve::warnings::warnings;
use crate::spec::{ForwardCompat, Prefer, Share, Spec, Target};
use crate::types::{Constraint, Version, distinct};
use crate::warning::Warning;

use super::ask::Asker;
use super::unlocks::{self, Opening};
use super::{Conflict, FactNote, conflict_beside};

/// More boards than these are counted, not named.
const NAMED: usize = 3;

/// Why an answer is what it is.
#[derive(Debug, Clone)]
pub struct Why {
    /// Every choice: the stack's, then each target's.
    pub choices: Vec<Choice>,
    /// Single changes that would make something newer possible, what opens most first.
    pub openings: Vec<Opening>,
}

/// One choice.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Choice {
    /// Where it stands or would stand in gpuenv.toml, `stack.torch`.
    pub key: String,
    /// Which part of it: a wheel's version and variant are two choices.
    #[cfg_attr(test, schemars(extend("enum" = ["version", "variant", "release", "tag", "coverage", "minimum", "services"])))]
    pub part: &'static str,
    /// What was chosen.
    pub chosen: String,
    /// How it stands among the values that exist.
    pub verdict: Verdict,
    /// Why, in plain sentences.
    #[serde(rename = "explanation")]
    pub because: Vec<String>,
    /// Better values that were not possible.
    pub rejected: Vec<Rejected>,
    /// The rows and rules behind the sentences.
    pub facts: Vec<FactNote>,
}

/// How a choice stands among the values that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing better is known.
    Best,
    /// Something better is known, which gpuenv.toml does not ask for.
    BestAdmitted,
    /// Something better is asked for, which other things forbid.
    Limited,
    /// It follows from another choice.
    Follows,
    /// It is the least that suffices.
    Minimum,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: &'static [Verdict] =
        &[Verdict::Best, Verdict::BestAdmitted, Verdict::Limited, Verdict::Follows, Verdict::Minimum];

    /// The word programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Best => "best",
            Verdict::BestAdmitted => "best-admitted",
            Verdict::Limited => "limited",
            Verdict::Follows => "follows",
            Verdict::Minimum => "minimum",
        }
    }
}

/// A better value that was not possible.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rejected {
    /// The value.
    pub value: String,
    /// The written keys that clash with it.
    pub culprits: Vec<String>,
    /// Why, in plain sentences.
    #[serde(rename = "explanation")]
    pub because: Vec<String>,
    /// The rows and rules behind them.
    pub facts: Vec<FactNote>,
}

impl Rejected {
    /// A value of a key that clashes with others.
    fn by(conflict: Conflict, key: &str, value: &str) -> Rejected {
        let Conflict { culprits, explanation: because, facts, .. } = conflict;
        let culprits = culprits.into_iter().filter(|culprit| culprit != key).collect();
        Rejected { value: value.to_string(), culprits, because, facts }
    }
}

/// Explains the answer of a spec that keeps the choices of a lock, as far as they still serve; none if it has no answer,
/// or nobody could tell within the limit.
pub fn why<'c>(spec: &Spec, problem: &'c Problem<'c>, kept: &Locked, steps: &Steps) -> Option<Why> {
    let asker = Asker::new(spec, problem, World::Known, steps);
    let request = asker.base()?;
    let answer = asker.keeping(request, kept)?;
    let explainer = Explainer { asker: &asker, spec, request, answer: &answer };
    let mut choices = explainer.stacks();
    for target in &answer.targets {
        choices.extend(explainer.target(target));
    }
    Some(Why { choices, openings: unlocks::find(&asker, spec, &answer) })
}

struct Explainer<'a, 'c> {
    asker: &'a Asker<'a, 'c>,
    spec: &'a Spec,
    request: &'a Request<'c>,
    answer: &'a Solution<'c>,
}

/// One stack, and the spec that asks for it alone.
struct Scope<'a, 'c> {
    prefix: String,
    spec: Spec,
    target: &'a TargetAnswer<'c>,
}

/// The values of one choice.
struct Values<'v> {
    key: String,
    part: &'static str,
    chosen: String,
    /// Better ones that exist, best first.
    better: Vec<String>,
    /// Those of them that gpuenv.toml asks for, best first.
    admitted: Vec<String>,
    /// What to say where nothing better exists.
    best: String,
    /// What gpuenv.toml asks for.
    clause: Option<&'v str>,
    facts: Vec<FactNote>,
}

impl<'c> Explainer<'_, 'c> {
    /// The choices of every stack.
    fn stacks(&self) -> Vec<Choice> {
        let Some(lead) = self.answer.lead() else { return Vec::new() };
        let one = self.request.share == Share::Stack || self.answer.targets.len() == 1;
        let scopes: Vec<Scope> = match one {
            true => vec![Scope { prefix: "stack".into(), spec: self.spec.clone(), target: lead }],
            false => self.answer.targets.iter().map(|target| self.scope(target)).collect(),
        };
        let mut choices: Vec<Choice> = Vec::new();
        for scope in &scopes {
            choices.extend(self.stack(scope));
        }
        choices
    }

    /// A target by itself. Where the versions are shared, they are no longer its own to choose.
    fn scope<'a>(&self, target: &'a TargetAnswer<'c>) -> Scope<'a, 'c> {
        let own = self.spec.target(&target.name).cloned();
        let mut spec = Spec { targets: own.into_iter().collect(), ..self.spec.clone_without_targets() };
        if self.request.share == Share::Versions {
            for build in &target.builds {
                spec = settle(&spec, &format!("stack.{}", build.package), build.version.as_str());
            }
        }
        Scope { prefix: format!("target.{}.stack", target.name), spec, target }
    }

    fn note(&self, fact: crate::catalog::Fact) -> FactNote {
        FactNote { id: fact.id, source: fact.source }
    }

    fn written(&self, key: &str) -> Option<Constraint> {
        Constraint::parse(&self.spec.text(key)?).ok()
    }

    fn own_key(&self, scope: &Scope<'_, '_>, key: &str) -> String {
        key.replacen("stack", &scope.prefix, 1)
    }

    /// Weighs a choice against the better values.
    fn judge(&self, scope: &Scope<'_, 'c>, spec: &Spec, key: &str, values: Values<'_>) -> Choice {
        let mut because = Vec::new();
        let mut rejected: Vec<Rejected> = Vec::new();
        let verdict = match (values.better.first(), values.admitted.as_slice()) {
            (None, _) => {
                because.push(values.best);
                Verdict::Best
            }
            (Some(newest), []) => {
                because.push(match values.clause {
                    Some(clause) => format!("limited by `{clause}` (newest: {newest})"),
                    None => format!("the newest that is admitted (newest: {newest})"),
                });
                Verdict::BestAdmitted
            }
            (Some(_), [best, .., next]) => {
                rejected.extend(self.reject(scope, spec, key, best));
                // The next step up is often nearer to what somebody wants than the very newest.
                let next = self.reject(scope, spec, key, next);
                rejected.extend(next.filter(|next| rejected.iter().all(|one| one.culprits != next.culprits)));
                Verdict::Limited
            }
            (Some(_), [only]) => {
                rejected.extend(self.reject(scope, spec, key, only));
                Verdict::Limited
            }
        };
        let Values { key, part, chosen, facts, .. } = values;
        Choice { key, part, chosen, verdict, because, rejected, facts }
    }

    /// Forces a value and says what forbids it.
    fn reject(&self, scope: &Scope<'_, 'c>, spec: &Spec, key: &str, value: &str) -> Option<Rejected> {
        let forced = spec.with(key, Some(value)).ok()?;
        if let Some(conflict) = self.clash(&forced) {
            let settled = |culprit: &&String| *culprit != key && spec.text(culprit) != self.spec.text(culprit);
            let settled: Vec<String> = conflict.culprits.iter().filter(settled).cloned().collect();
            if settled.is_empty() {
                return Some(Rejected::by(conflict, key, value));
            }
            // What clashes is a choice that was made before: to blame are the lines that hold it there, if there are any.
            let written = Spec { targets: spec.targets.clone(), ..self.spec.clone_without_targets() };
            if let Some(by_lines) = written.with(key, Some(value)).ok().and_then(|forced| self.clash(&forced)) {
                return Some(Rejected::by(by_lines, key, value));
            }
            let mut rejected = Rejected::by(conflict, key, value);
            rejected.culprits.retain(|culprit| !settled.contains(culprit));
            rejected.because.extend(settled.iter().filter_map(|key| {
                let name = key.rsplit('.').next().unwrap_or(key);
                Some(format!("{name} {} is chosen first", spec.text(key)?))
            }));
            return Some(rejected);
        }
        let question = self.asker.question(&forced)?;
        let answer = self.asker.best(&question)?;
        let mut cost = self.cost(scope, &answer);
        if cost.is_empty() {
            cost = self.warned(&question, &answer);
        }
        // Where forward compatibility alone makes it possible, what it makes up for is the better half of the story.
        let without_compat = |target: &Target| Target { forward_compat: ForwardCompat::Never, ..target.clone() };
        let native = Spec { targets: forced.targets.iter().map(without_compat).collect(), ..forced };
        let conflict = self.clash(&native);
        let (culprits, mut because, facts) = conflict.map_or_else(Default::default, |conflict| {
            let culprits: Vec<String> = conflict.culprits.into_iter().filter(|culprit| culprit != key).collect();
            (culprits, conflict.explanation, conflict.facts)
        });
        because.extend(cost);
        Some(Rejected { value: value.to_string(), culprits, because, facts })
    }

    /// The first conflict of a spec that was made of the user's own.
    fn clash(&self, spec: &Spec) -> Option<Conflict> {
        conflict_beside(spec, self.spec, self.asker.problem, self.asker.steps)
    }

    fn is_young(&self, python: &Version) -> bool {
        let row = self.request.catalog.pythons.iter().find(|row| row.version == *python);
        row.is_some_and(|row| self.request.problem.is_young(row.date.as_deref()))
    }

    /// What speaks against an answer that is possible.
    fn cost(&self, scope: &Scope<'_, 'c>, other: &Solution<'c>) -> Vec<String> {
        let mut costs = Vec::new();
        for target in &other.targets {
            let now = self.answer.target(&target.name).unwrap_or(scope.target);
            let compat = |target: &TargetAnswer<'c>| target.driver.as_ref().and_then(|driver| driver.compat);
            if let (Some(package), None) = (compat(target), compat(now)) {
                costs.push(format!(
                    "it would need {} on target `{}`, which is used only where nothing else works",
                    package.package(),
                    target.name
                ));
            }
            for build in &target.builds {
                let name = format!("{} {}+{}", build.package, build.version, build.variant);
                let doubtful = |build: &Build| build.status == Status::Experimental && !build.default;
                if doubtful(build) && !now.builds.iter().any(|now| doubtful(now)) {
                    costs.push(format!("{name} is an experimental build, which is used only where nothing else fits"));
                }
                let unknown = |build: &Build| !build.is_cpu() && build.arch_source.is_none();
                if unknown(build) && !now.builds.iter().any(|now| unknown(now)) {
                    costs.push(format!("it is not known which GPUs {name} supports"));
                }
                if let Some(python) =
                    target.python.filter(|python| now.python != Some(*python) && self.is_young(python))
                {
                    costs
                        .push(format!("Python {python} is younger than a year, and is taken only where it is written"));
                }
                if target.python.is_some_and(|python| build.expected_pythons.contains(python)) {
                    costs.push(format!("a wheel of {name} for this Python was not seen"));
                }
            }
            if let (Prefer::OldestDriver, Some(then), Some(now)) = (self.request.prefer, &target.minimum, &now.minimum)
                && then > now
            {
                costs.push(format!("it would raise the driver minimum of `{}` from {now} to {then}", target.name));
            }
        }
        costs.dedup();
        costs
    }

    /// What a possible answer would be warned of, and this one is not; where that is nothing, it lies elsewhere.
    fn warned(&self, question: &Request<'c>, other: &Solution<'c>) -> Vec<String> {
        let now = warnings(self.request, self.answer);
        let is_new = |warning: &Warning| now.iter().all(|known| known.message != warning.message);
        let new = warnings(question, other).into_iter().filter(is_new);
        let told: Vec<String> = new
            .map(|warning| format!("possible, but with a warning ({}): {}", warning.code, warning.message))
            .collect();
        match told.is_empty() {
            true => vec!["possible, but it would change a higher-priority choice".to_string()],
            false => told,
        }
    }
}

/// The spec with a choice made: what is chosen is among what was asked for, so nothing else need be said of it.
fn settle(spec: &Spec, key: &str, value: &str) -> Spec {
    spec.with(key, Some(value)).unwrap_or_else(|_| spec.clone())
}

fn newest_first<'v>(versions: impl Iterator<Item = &'v Version>) -> Vec<String> {
    let versions = distinct(versions);
    versions.iter().rev().map(ToString::to_string).collect()
}
