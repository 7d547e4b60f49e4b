//! Why this and not a better one: for each choice of an answer, the better values that exist and what forbids them.
//!
//! A better value is forced upon the spec and asked for like anything else. The clash that comes of it is the
//! reason; where there is none, what it would cost elsewhere is.

use crate::catalog::rows::{Build, Image, Status, Toolkit};
use crate::solve::answer::{Answer, GpuAnswer, TargetAnswer};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::fits;
use crate::solve::problem::Problem;
use crate::solve::question::{FRAMEWORKS, ImageAsk, Question, TargetAsk};
use crate::solve::resolve::World;
use crate::spec::{Prefer, Share, Spec};
use crate::words::{Constraint, Version};

use super::ask::Asker;
use super::{Change, FactNote, first_conflict, opening, reason};

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
#[derive(Debug, Clone)]
pub struct Choice {
    /// Where it stands or would stand in gpuenv.toml, `stack.torch`, `target.prod.driver`.
    pub key: String,
    /// Which part of it: a wheel's `version` and `variant` are two choices.
    pub part: &'static str,
    /// What was chosen.
    pub chosen: String,
    /// How it stands among the others.
    pub verdict: Verdict,
    /// Why, in plain sentences.
    pub because: Vec<String>,
    /// Better values that were not possible.
    pub rejected: Vec<Rejected>,
    /// The rows and rules behind the sentences.
    pub facts: Vec<FactNote>,
}

/// How a choice stands among the values that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A better value and what forbids it.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// The value.
    pub value: String,
    /// The written keys that clash with it.
    pub culprits: Vec<String>,
    /// Why, in plain sentences.
    pub because: Vec<String>,
    /// The rows and rules behind them.
    pub facts: Vec<FactNote>,
}

/// A single change and what becomes possible with it.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The change.
    pub change: Change,
    /// What becomes newer.
    pub key: String,
    /// What it is now.
    pub from: String,
    /// What it would be.
    pub to: String,
    /// What to do rather than the least that suffices.
    pub advice: Option<String>,
}

/// Explains the answer of a spec that keeps the choices of a lock, as far as they still serve; none if it has no answer,
/// or nobody could tell within the limit.
pub fn why<'c>(spec: &Spec, problem: &'c Problem<'c>, kept: &Locked, steps: &Steps) -> Option<Why> {
    let asker = Asker::new(spec, problem, World::Known, steps);
    let question = asker.base()?;
    let answer = asker.keeping(question, kept)?;
    let teller = Teller { asker: &asker, spec, question, answer: &answer };
    let mut choices = teller.stacks();
    for target in &answer.targets {
        choices.extend(teller.target(target));
    }
    Some(Why { choices, openings: opening::find(&asker, spec, &answer) })
}

struct Teller<'a, 'c> {
    asker: &'a Asker<'a, 'c>,
    spec: &'a Spec,
    question: &'a Question<'c>,
    answer: &'a Answer<'c>,
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

impl<'c> Teller<'_, 'c> {
    /// The choices of every stack.
    fn stacks(&self) -> Vec<Choice> {
        let lead = self.answer.targets.iter().find(|target| target.driver.is_some()).or(self.answer.targets.first());
        let Some(lead) = lead else { return Vec::new() };
        let one = self.question.share == Share::Stack || self.answer.targets.len() == 1;
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
        let mut spec = self.spec.clone();
        spec.targets.retain(|one| one.name == target.name);
        if self.question.share == Share::Versions {
            for build in &target.builds {
                spec = settle(&spec, &format!("stack.{}", build.package), build.version.as_str());
            }
        }
        Scope { prefix: format!("target.{}.stack", target.name), spec, target }
    }

    fn stack(&self, scope: &Scope<'_, 'c>) -> Vec<Choice> {
        let mut choices = Vec::new();
        // What was decided before stays decided: each choice is the best beside the earlier ones.
        let mut spec = scope.spec.clone();
        let mut builds = scope.target.builds.clone();
        builds.sort_by_key(|build| FRAMEWORKS.iter().position(|name| *name == build.package));
        for build in builds {
            let key = format!("stack.{}", build.package);
            choices.push(self.version(scope, &spec, build, &key));
            spec = settle(&spec, &key, build.version.as_str());
            choices.push(self.variant(scope, &spec, build, &key));
            spec = settle(&spec, &key, &format!("{}+{}", build.version, build.variant));
        }
        for companion in &scope.target.companions {
            let key = format!("stack.{}", companion.package);
            let rows = self.asker.catalog.companions.iter().filter(|row| row.package == companion.package);
            let known = rows.map(|row| row.version).collect();
            let facts = vec![self.note(self.asker.catalog.cite(*companion))];
            choices.push(self.plain(scope, &spec, &key, &companion.version, known, facts));
            spec = settle(&spec, &key, companion.version.as_str());
        }
        if let Some(python) = scope.target.python {
            let rows = self.asker.catalog.pythons.iter().filter(|row| row.stable);
            let known = rows.map(|row| row.version).collect();
            choices.push(self.plain(scope, &spec, "stack.python", python, known, Vec::new()));
            spec = settle(&spec, "stack.python", python.as_str());
        }
        choices.extend(self.library(scope, &spec, "cudnn"));
        choices.extend(self.library(scope, &spec, "nccl"));
        choices.extend(self.cuda(scope));
        choices
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

    fn version(&self, scope: &Scope<'_, 'c>, spec: &Spec, build: &Build, key: &str) -> Choice {
        let clause = self.written(key);
        let platforms: Vec<_> = self.question.targets.iter().map(|target| target.platform).collect();
        let newer = |row: &&Build| {
            row.package == build.package
                && row.version > build.version
                && !row.version.is_prerelease()
                && platforms.iter().any(|platform| platform.takes(row))
        };
        let rows: Vec<&Build> = self.asker.catalog.builds.iter().filter(newer).collect();
        let asked =
            |row: &&&Build| clause.as_ref().is_none_or(|clause| clause.admits_build(&row.version, &row.variant));
        let better = newest_first(rows.iter().map(|row| &row.version));
        let admitted = newest_first(rows.iter().filter(asked).map(|row| &row.version));
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "version",
                chosen: build.version.to_string(),
                better,
                admitted,
                best: format!("the newest {} of catalog {}", build.package, self.asker.catalog.version),
                clause: self.spec.text(key).as_deref(),
                facts: vec![self.note(self.asker.catalog.cite(build))],
            },
        )
    }

    fn variant(&self, scope: &Scope<'_, 'c>, spec: &Spec, build: &Build, key: &str) -> Choice {
        let clause = self.written(key);
        let rank = |row: &Build| {
            let line = fits::line_of(&row.variant);
            (!row.default, row.status != Status::Stable, std::cmp::Reverse(line))
        };
        let alike = |row: &&Build| {
            row.package == build.package
                && row.version == build.version
                && (row.arch, row.systems) == (build.arch, build.systems)
                && (row.variant == "cpu") == (build.variant == "cpu")
        };
        let mut rows: Vec<&Build> = self.asker.catalog.builds.iter().filter(alike).collect();
        rows.sort_by_key(|row| rank(row));
        rows.retain(|row| rank(row) < rank(build));
        let asked = |row: &&&Build| {
            let line = fits::line_of(&row.variant);
            let in_line = |cuda: &Constraint| line.as_ref().is_some_and(|line| cuda.admits(line));
            clause.as_ref().is_none_or(|clause| clause.admits_build(&row.version, &row.variant))
                && self.question.cuda_line.as_ref().is_none_or(in_line)
        };
        let value = |row: &&Build| format!("{}+{}", row.version, row.variant);
        let best = match (build.variant.as_ref(), build.default) {
            ("cpu", _) => "the target has no GPU".to_string(),
            (_, true) => "the build that the package index serves by default".to_string(),
            _ => "the newest stable CUDA line it was published for".to_string(),
        };
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "variant",
                chosen: build.variant.to_string(),
                better: rows.iter().map(value).collect(),
                admitted: rows.iter().filter(asked).map(value).collect(),
                best,
                clause: self.spec.text(key).as_deref(),
                facts: Vec::new(),
            },
        )
    }

    /// A choice among versions without variants.
    fn plain(
        &self,
        scope: &Scope<'_, 'c>,
        spec: &Spec,
        key: &str,
        chosen: &Version,
        known: Vec<Version>,
        facts: Vec<FactNote>,
    ) -> Choice {
        let clause = self.written(key);
        let newer: Vec<&Version> =
            known.iter().filter(|version| *version > chosen && !version.is_prerelease()).collect();
        let asked = |version: &&&Version| clause.as_ref().is_none_or(|clause| clause.admits(version));
        let name = key.rsplit('.').next().unwrap_or(key);
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "version",
                chosen: chosen.to_string(),
                better: newest_first(newer.iter().copied()),
                admitted: newest_first(newer.iter().filter(asked).copied()),
                best: format!("the newest {name} of catalog {}", self.asker.catalog.version),
                clause: self.spec.text(key).as_deref(),
                facts,
            },
        )
    }

    /// cuDNN or NCCL: inside a wheel, else of the system.
    fn library(&self, scope: &Scope<'_, 'c>, spec: &Spec, name: &'static str) -> Option<Choice> {
        let target = scope.target;
        let of = |build: &&&'c Build| if name == "cudnn" { build.cudnn.as_ref() } else { build.nccl.as_ref() };
        let open = name == "cudnn" && target.cudnn.is_some();
        let bringing = target.builds.iter().find_map(|build| Some((*build, of(&build)?))).filter(|_| !open);
        let key = format!("stack.{name}");
        if let Some((build, version)) = bringing {
            let because = format!("comes with {} {}+{}", build.package, build.version, build.variant);
            let mut fact = self.note(self.asker.catalog.cite(build));
            if let Some(source) = &build.pins_source {
                let catalog = self.asker.catalog;
                let at = catalog.origin_of(build, source);
                fact.source = catalog.provenance(&fact.id, at);
            }
            return Some(self.follows(self.own_key(scope, &key), "version", version.to_string(), because, vec![fact]));
        }
        let catalog = self.asker.catalog;
        let (chosen, known): (&Version, Vec<Version>) = match name {
            "cudnn" => (&target.cudnn?.version, catalog.cudnns.iter().map(|row| row.version).collect()),
            _ => (&target.nccl?.version, catalog.nccls.iter().map(|row| row.version).collect()),
        };
        Some(self.plain(scope, spec, &key, chosen, known, Vec::new()))
    }

    fn cuda(&self, scope: &Scope<'_, 'c>) -> Option<Choice> {
        let target = scope.target;
        let release = target.cuda_release()?;
        let of_image = target.image.is_some_and(|image| image.cuda == release);
        let because = match (target.toolkit, target.builds.iter().find(|build| build.variant != "cpu")) {
            (Some(toolkit), _) if toolkit.version == release => "the release of the toolkit".to_string(),
            (_, Some(_)) if of_image => "the release in the image, of the wheels' line".to_string(),
            (_, Some(build)) => format!("the runtime of {} {}+{}", build.package, build.version, build.variant),
            _ => "the release that runs".to_string(),
        };
        let row = self.asker.catalog.toolkit(&release);
        let facts = row.map(|row| self.note(self.asker.catalog.cite(row))).into_iter().collect();
        Some(self.follows(self.own_key(scope, "stack.cuda"), "version", release.to_string(), because, facts))
    }

    fn follows(
        &self,
        key: String,
        part: &'static str,
        chosen: String,
        because: String,
        facts: Vec<FactNote>,
    ) -> Choice {
        Choice { key, part, chosen, verdict: Verdict::Follows, because: vec![because], rejected: Vec::new(), facts }
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
        if let Some(conflict) = first_conflict(&forced, self.asker.problem, self.asker.steps) {
            let culprits = conflict.culprits.into_iter().filter(|culprit| culprit != key).collect();
            return Some(Rejected {
                value: value.to_string(),
                culprits,
                because: conflict.explanation,
                facts: conflict.facts,
            });
        }
        let answer = self.asker.best(&self.asker.question(&forced)?)?;
        let cost = self.cost(scope, &answer);
        // Where forward compatibility alone makes it possible, what it makes up for is the better half of the story.
        let names = forced.targets.iter().map(|target| format!("target.{}.forward-compat", target.name));
        let native =
            names.collect::<Vec<_>>().iter().try_fold(forced, |spec, key| spec.with(key, Some("never"))).ok()?;
        let conflict = first_conflict(&native, self.asker.problem, self.asker.steps);
        let (culprits, mut because, facts) = conflict.map_or_else(Default::default, |conflict| {
            let culprits: Vec<String> = conflict.culprits.into_iter().filter(|culprit| culprit != key).collect();
            (culprits, conflict.explanation, conflict.facts)
        });
        because.extend(cost);
        Some(Rejected { value: value.to_string(), culprits, because, facts })
    }

    /// What speaks against an answer that is possible.
    fn cost(&self, scope: &Scope<'_, 'c>, other: &Answer<'c>) -> Vec<String> {
        let mut costs = Vec::new();
        for target in &other.targets {
            let now = self.answer.targets.iter().find(|now| now.name == target.name).unwrap_or(scope.target);
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
                let unknown = |build: &Build| build.variant != "cpu" && build.arch_source.is_none();
                if unknown(build) && !now.builds.iter().any(|now| unknown(now)) {
                    costs.push(format!("it is not known which GPUs {name} supports"));
                }
                if target.python.is_some_and(|python| build.expected_pythons.contains(python)) {
                    costs.push(format!("a wheel of {name} for this Python was not seen"));
                }
            }
            if let (Prefer::OldestDriver, Some(then), Some(now)) = (self.question.prefer, &target.minimum, &now.minimum)
                && then > now
            {
                costs.push(format!("it would raise the driver minimum of `{}` from {now} to {then}", target.name));
            }
        }
        costs.dedup();
        if costs.is_empty() {
            costs.push("possible, but it would change a higher-priority choice".to_string());
        }
        costs
    }

    /// Toolkit, image, GPUs and driver of a target.
    fn target(&self, target: &TargetAnswer<'c>) -> Vec<Choice> {
        let Some(asked) = self.question.targets.iter().find(|asked| asked.name == target.name) else {
            return Vec::new();
        };
        let mut scope = self.scope(target);
        for build in &target.builds {
            let value = format!("{}+{}", build.version, build.variant);
            scope.spec = settle(&scope.spec, &format!("stack.{}", build.package), &value);
        }
        let line = target.builds.iter().find_map(|build| fits::line_of(&build.variant));
        let toolkit = target.toolkit.map(|toolkit| self.toolkit(&scope, asked, toolkit, line.as_ref()));
        let image = target.image.map(|image| self.image(&scope, asked, image, line.as_ref()));
        let gpus = self.gpus(asked, target);
        let driver = reason::driver(self.question, asked, target);
        toolkit.into_iter().chain(image).chain(gpus).chain(driver).collect()
    }

    fn toolkit(
        &self,
        scope: &Scope<'_, 'c>,
        asked: &TargetAsk<'c>,
        chosen: &Toolkit,
        line: Option<&Version>,
    ) -> Choice {
        let key = asked.key("toolkit");
        let on_line = |row: &Toolkit| line.is_none_or(|line| row.version.cmp_prefix(line).is_eq());
        let better: Vec<&Toolkit> = self
            .asker
            .catalog
            .toolkits
            .iter()
            .rev()
            .filter(|row| !row.components_only && on_line(row) && (row.version > chosen.version || !on_line(chosen)))
            .collect();
        let installed = asked.toolkits.as_ref();
        let asks = |row: &&&Toolkit| {
            installed.is_none_or(|has| has.iter().any(|has| row.version.cmp_prefix(has).is_eq()))
                && self.question.cuda.as_ref().is_none_or(|wanted| wanted.admits(&row.version))
        };
        let best = match line {
            Some(line) => format!("the newest release of the wheels' own CUDA line {line}"),
            None => format!("the newest toolkit of catalog {}", self.asker.catalog.version),
        };
        self.judge(
            scope,
            &scope.spec,
            &key,
            Values {
                key: key.clone(),
                part: "release",
                chosen: chosen.version.to_string(),
                better: better.iter().map(|row| row.version.to_string()).collect(),
                admitted: better.iter().filter(asks).map(|row| row.version.to_string()).collect(),
                best,
                clause: self.spec.text(&key).as_deref(),
                facts: vec![self.note(self.asker.catalog.cite(chosen))],
            },
        )
    }

    fn image(&self, scope: &Scope<'_, 'c>, asked: &TargetAsk<'c>, chosen: &Image, line: Option<&Version>) -> Choice {
        let key = asked.key("image");
        let name = |image: &Image| format!("{}:{}", image.repository, image.tag);
        let facts = vec![self.note(self.asker.catalog.cite(chosen))];
        if !matches!(asked.image, ImageAsk::Choose(_)) {
            return self.follows(key, "tag", name(chosen), "gpuenv.toml names it".to_string(), facts);
        }
        let on_line = |row: &Image| line.is_none_or(|line| row.cuda.cmp_prefix(line).is_eq());
        let better = |row: &&Image| {
            row.repository == chosen.repository
                && row.flavour == chosen.flavour
                && row.cudnn.is_some() == chosen.cudnn.is_some()
                && row.os == chosen.os
                && !row.withdrawn
                && row.arches.contains(&asked.arch)
                && on_line(row)
                && (row.cuda > chosen.cuda || !on_line(chosen))
        };
        let mut rows: Vec<&Image> = self.asker.catalog.images.iter().filter(better).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.cuda));
        let better: Vec<String> = rows.iter().map(|row| name(row)).collect();
        let flavour = chosen.flavour.as_str();
        let best = match line {
            Some(line) if on_line(chosen) => {
                format!("of the wheels' own CUDA line {line}, and `{flavour}` is the smallest flavour that works")
            }
            Some(line) => format!("no tag of CUDA {line} exists for this system and platform; this is the nearest"),
            None => format!("the newest tag that works, and `{flavour}` is the smallest flavour that does"),
        };
        self.judge(
            scope,
            &scope.spec,
            &key,
            Values {
                key: key.clone(),
                part: "tag",
                chosen: name(chosen),
                admitted: better.clone(),
                better,
                best,
                clause: None,
                facts,
            },
        )
    }

    /// How each GPU is reached.
    fn gpus(&self, asked: &TargetAsk<'c>, target: &TargetAnswer<'c>) -> Option<Choice> {
        let named = asked.named_gpus();
        if named.is_empty() {
            return None;
        }
        let mut because = Vec::new();
        // A family name means many boards, of which mostly the same is to be said.
        let mut alike: Vec<Vec<&GpuAnswer>> = Vec::new();
        for gpu in &target.gpus {
            match alike.iter_mut().find(|group| group[0].cc == gpu.cc && group[0].coverage == gpu.coverage) {
                Some(group) => group.push(gpu),
                None => alike.push(vec![gpu]),
            }
        }
        for group in &alike {
            let (it, has) = if group.len() > 1 { ("them", "have") } else { ("it", "has") };
            let how = match group[0].coverage.and_then(|coverage| coverage.as_str()) {
                Some("native") => format!("machine code in the stack runs on {it}"),
                Some("jit") => format!("the driver compiles PTX for {it}"),
                _ => format!("it is not known whether the stack holds code for {it}"),
            };
            let names: Vec<&str> = group.iter().map(|gpu| gpu.name.as_str()).collect();
            let boards = if names.len() > NAMED { format!("{} boards", names.len()) } else { names.join(", ") };
            because.push(format!("{boards} {has} compute capability {}: {how}", group[0].cc));
        }
        let cited = named.iter().filter_map(|gpu| gpu.row);
        let mut facts: Vec<FactNote> = cited.map(|row| self.note(self.asker.catalog.cite(row))).collect();
        facts.dedup();
        let names: Vec<&str> = target.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
        let shown = if names.len() > NAMED { format!("{} boards", names.len()) } else { names.join(", ") };
        Some(Choice {
            key: asked.key("gpu"),
            part: "coverage",
            chosen: shown,
            verdict: Verdict::Follows,
            because,
            rejected: Vec::new(),
            facts,
        })
    }
}

/// The spec with a choice made: what is chosen is among what was asked for, so nothing else need be said of it.
fn settle(spec: &Spec, key: &str, value: &str) -> Spec {
    spec.with(key, Some(value)).unwrap_or_else(|_| spec.clone())
}

fn newest_first<'v>(versions: impl Iterator<Item = &'v Version>) -> Vec<String> {
    let mut versions: Vec<&Version> = versions.collect();
    versions.sort();
    versions.dedup();
    versions.iter().rev().map(ToString::to_string).collect()
}
