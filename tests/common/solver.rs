//! Asking the solver in a test: from the text of a gpuenv.toml to what came of it.

use gpuenv::catalog::BUILTIN;
use gpuenv::explain;
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::solution::{Solution, TargetAnswer};
use gpuenv::spec;
use gpuenv::warning::Warning;

/// What came of a spec.
#[derive(Debug)]
pub enum Outcome {
    /// An answer, and what was remarked about the request.
    Solution(Solution<'static>, Vec<Warning>),
    /// There is none unless what nobody has read turns out well.
    Undetermined,
    /// None.
    Conflict,
    /// The spec could not be asked; the codes of its errors.
    Refused(Vec<&'static str>),
}

/// The rules of the built-in catalog.
pub fn rules() -> &'static Problem<'static> {
    thread_local! {
        static RULES: &'static Problem<'static> = Box::leak(Box::new(Problem::new(&BUILTIN)));
    }
    RULES.with(|rules| *rules)
}

/// The same with the builds that a spec brings itself.
pub fn rules_of(spec: &spec::Spec) -> &'static Problem<'static> {
    match gpuenv::solve::own::lay(spec, &BUILTIN) {
        Some(laid) => Box::leak(Box::new(Problem::new(Box::leak(Box::new(laid))))),
        None => rules(),
    }
}

/// Parses a spec, looks its names up and resolves it.
pub fn lock(text: &str) -> Outcome {
    let codes = |errors: Vec<spec::SpecError>| Outcome::Refused(errors.iter().map(|error| error.code).collect());
    let spec = match spec::parse(text) {
        Ok(spec) => spec,
        Err(errors) => return codes(errors),
    };
    let (request, warnings) = match Request::new(&spec, rules_of(&spec)) {
        Ok(asked) => asked,
        Err(errors) => return codes(errors),
    };
    match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Solution(answer) => Outcome::Solution(answer, warnings),
        Resolution::Conflict => Outcome::Conflict,
        Resolution::Undetermined(_) => Outcome::Undetermined,
        Resolution::GaveUp => panic!("the step limit was reached:\n{text}"),
    }
}

/// The codes of everything that is said of a spec's answer.
pub fn warned(text: &str) -> Vec<&'static str> {
    warnings(text).iter().map(|warning| warning.code).collect()
}

/// All that is said of a spec's answer.
pub fn warnings(text: &str) -> Vec<Warning> {
    let spec = spec::parse(text).expect("the spec parses");
    let (request, mut remarks) = Request::new(&spec, rules_of(&spec)).expect("every name is known");
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else {
        panic!("an answer was expected:\n{text}");
    };
    remarks.extend(gpuenv::solve::warnings::warnings(&request, &answer));
    remarks
}

/// The culprits of a spec's first conflict.
pub fn culprits(text: &str) -> Vec<String> {
    let spec = spec::parse(text).expect("the spec parses");
    let told = explain::conflicts(&spec, rules_of(&spec), &Steps::default()).expect("there is a conflict");
    told.conflicts[0].culprits.clone()
}

/// The changes that a spec's fixes make, fix by fix: `key -> value`.
pub fn fixes(text: &str) -> Vec<Vec<String>> {
    let spec = spec::parse(text).expect("the spec parses");
    let told = explain::conflicts(&spec, rules_of(&spec), &Steps::default()).expect("there is a conflict");
    let line = |change: &explain::Change| format!("{} -> {}", change.key, change.to.as_deref().unwrap_or("-"));
    told.fixes.iter().map(|fix| fix.changes.iter().map(line).collect()).collect()
}

impl Outcome {
    /// The answer's targets, by name.
    #[track_caller]
    pub fn targets(self) -> Vec<TargetAnswer<'static>> {
        match self {
            Outcome::Solution(answer, _) => answer.targets,
            other => panic!("an answer was expected: {other:?}"),
        }
    }

    /// The only target of the answer.
    #[track_caller]
    pub fn target(self) -> TargetAnswer<'static> {
        let mut targets = self.targets();
        assert_eq!(targets.len(), 1);
        targets.remove(0)
    }

    /// Whether nobody can tell.
    pub fn is_undetermined(&self) -> bool {
        matches!(self, Outcome::Undetermined)
    }

    /// Whether there is no answer.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Outcome::Conflict)
    }

    /// The codes of the remarks about the request.
    pub fn remarks(&self) -> Vec<&'static str> {
        match self {
            Outcome::Solution(_, warnings) => warnings.iter().map(|warning| warning.code).collect(),
            _ => Vec::new(),
        }
    }
}

/// What tests look at in a target's answer.
pub trait Short {
    /// The version of a package in the stack, empty if it is not there.
    fn has(&self, package: &str) -> String;
    /// The oldest driver that suffices.
    fn minimum(&self) -> String;
    /// The tag of the image.
    fn tag(&self) -> String;
    /// The arch list in torch's spelling.
    fn archs(&self) -> String;
    /// How the GPUs are reached, each word once.
    fn coverage(&self) -> String;
}

impl Short for TargetAnswer<'_> {
    fn has(&self, package: &str) -> String {
        self.stack().remove(package).unwrap_or_default()
    }
    fn minimum(&self) -> String {
        self.minimum.as_ref().map(ToString::to_string).unwrap_or_default()
    }
    fn tag(&self) -> String {
        self.image.map(|image| image.tag.to_string()).unwrap_or_default()
    }
    fn archs(&self) -> String {
        self.arch_list.as_ref().map(|list| list.torch()).unwrap_or_default()
    }
    fn coverage(&self) -> String {
        let mut words: Vec<&str> = self.gpus.iter().filter_map(|gpu| gpu.coverage?.as_str()).collect();
        words.dedup();
        words.join(" ")
    }
}
