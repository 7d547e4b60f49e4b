//! Changes that help: each is found by loosening a clashing key, reading what the solver then chooses, writing
//! that down as a value and solving the changed spec once more.

mod boards;
mod branches;
mod images;
mod keys;
mod rank;
mod several;
mod values;
mod written;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use crate::catalog::rows::repeated;
use crate::solve::kept::Kept;
use crate::solve::request::{Direction, Request, TargetRequest};
use crate::solve::resolve::is_solvable;
use crate::solve::solution::Solution;
use crate::solve::values::Archs;
use crate::solve::warnings;
use crate::spec::{Share, Spec};
use crate::types::{Constraint, Version, sort_by_key};
use crate::warning::{CudaGpu, Kind, Warning};

use super::ask::{Asker, Edit};
use super::core::Cores;
use super::{Change, Fix, advice, target_of};

/// So many releases that fail as they are, on either side of the one written, are passed by for one that does not.
const PASSED_BY: usize = 24;

/// How many combinations of keys are tried where one key does not suffice.
const COMBINATIONS: usize = 64;

/// Fixes for every clash at once, those that change least first.
pub fn find(asker: &Asker<'_, '_>, cores: &Cores) -> Vec<Fix> {
    let mut finder = Finder {
        asker,
        cores,
        spec: asker.spec,
        found: Vec::new(),
        answers: RefCell::default(),
        tags: Kept::default(),
        elsewhere: OnceCell::new(),
    };
    let ways = hitting(cores);
    let is_gpu = |keys: &&Vec<String>| matches!(keys.as_slice(), [key] if key.ends_with(".gpu"));
    for keys in ways.iter().filter(|keys| !is_gpu(keys)) {
        match keys.as_slice() {
            [key] => finder.try_key(key),
            keys => finder.try_together(keys, &[]),
        }
    }
    finder.try_switches();
    if finder.found.is_empty() {
        finder.try_one_more(&ways);
    }
    if finder.found.is_empty() {
        finder.try_everything(&[]);
    }
    if finder.found.is_empty() {
        finder.try_without(&ways);
    }
    // Nobody changes boards before everything else was tried.
    for keys in ways.iter().filter(is_gpu) {
        keys.iter().for_each(|key| finder.try_boards(key));
    }
    if finder.found.is_empty() {
        finder.try_boards_and_more(&ways);
    }
    if finder.found.is_empty() {
        finder.try_boards_and_everything(&ways);
    }
    for keys in &ways {
        if let [key] = keys.as_slice() {
            finder.try_followers(key);
            finder.try_siblings(key);
        }
    }
    finder.best()
}

/// Every way to pick one key of each clash, the fewest keys first: less than one of these cannot help.
fn hitting(cores: &Cores) -> Vec<Vec<String>> {
    let clashes = cores.independent.iter().chain(&cores.alternatives);
    let mut ways: Vec<BTreeSet<&String>> = vec![BTreeSet::new()];
    for clash in clashes {
        let mut longer: Vec<BTreeSet<&String>> = Vec::new();
        for way in ways {
            if clash.iter().any(|key| way.contains(key)) {
                longer.push(way);
            } else {
                longer.extend(clash.iter().map(|key| way.iter().copied().chain([key]).collect()));
            }
        }
        sort_by_key(&mut longer, BTreeSet::len);
        let mut least: Vec<BTreeSet<&String>> = Vec::new();
        for way in longer {
            if !least.iter().any(|less| less.is_subset(&way)) {
                least.push(way);
            }
        }
        least.truncate(COMBINATIONS);
        ways = least;
    }
    ways.into_iter().map(|way| way.into_iter().cloned().collect()).collect()
}

struct Finder<'a, 'c> {
    asker: &'a Asker<'a, 'c>,
    cores: &'a Cores,
    spec: &'a Spec,
    found: Vec<Fix>,
    /// Answers found so far: what is looked for as a value is often what is then offered.
    answers: RefCell<HashMap<Asked, Option<Solution<'c>>>>,
    /// The tags of a repository that are like one of a name.
    tags: Kept<(String, String), [&'c str]>,
    /// What nobody knows of targets that no clash is about, whatever is changed.
    elsewhere: OnceCell<Vec<Warning>>,
}

/// Packages that are decided before everything else, and from which end.
type BeforeAll<'a> = Option<(&'a [&'a str], Direction)>;

/// Edits to the spec, and the packages that are decided first.
type Asked = (Vec<Edit>, Option<(Vec<String>, Direction)>);

fn set(key: &str, value: impl Into<String>) -> Edit {
    (key.to_string(), Some(value.into()))
}

fn unset(key: &str) -> Edit {
    (key.to_string(), None)
}

impl<'c> Finder<'_, 'c> {
    /// Solves the spec with these edits and keeps them if it then has an answer.
    fn offer(&mut self, edits: &[Edit]) -> bool {
        let changes = self.changes(edits);
        let leads_nowhere =
            changes.is_empty() || self.redescribes(edits) || changes.iter().any(|one| self.forgets(one));
        if leads_nowhere || self.found.iter().any(|fix| fix.changes == changes) {
            return false;
        }
        let Some(answer) = self.answer(edits, None) else { return false };
        // A change that is not needed beside the others is none to recommend.
        let spared = |at: usize| -> Vec<Edit> {
            let others = changes.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, change)| (change.key.clone(), change.to.clone())).collect()
        };
        if let Some(fewer) = (0..changes.len())
            .map(spared)
            .find(|fewer| !fewer.is_empty() && !self.redescribes(fewer) && self.has_answer(fewer))
        {
            return self.offer(&fewer);
        }
        self.keep(edits, changes, &answer)
    }

    /// Whether edits say something else of an image that stays: of one that nobody knows, `os` and `glibc` tell what it holds.
    fn redescribes(&self, edits: &[Edit]) -> bool {
        edits.iter().any(|(key, _)| {
            let is_description = key.ends_with(".os") || key.ends_with(".glibc");
            let image = self.strange_image(target_of(key)).filter(|_| is_description);
            image.is_some_and(|image| !edits.iter().any(|(key, _)| *key == image))
        })
    }

    /// Whether a change leaves out what a machine is: that nobody says it any more makes it no other. Of a container whose
    /// image is named, that tells the system.
    fn forgets(&self, change: &Change) -> bool {
        let target = target_of(&change.key);
        let Some(name) = change.key.strip_prefix("target.").and_then(|key| key.rsplit('.').next()) else {
            return false;
        };
        let is_in_image = || {
            let has_image = self.spec.target(target).is_some_and(|target| target.image.is_some());
            has_image && self.runs_on_jetpack(target) != Some(true)
        };
        change.to.is_none()
            && match name {
                "platform" | "arch" | "toolkit" | "gcc" => true,
                "os" | "glibc" => !is_in_image(),
                _ => false,
            }
    }

    /// Whether the system of a target is that of a board, whatever its image: JetPack. None where the target cannot be read.
    fn runs_on_jetpack(&self, target: &str) -> Option<bool> {
        let request = self.asker.base()?;
        Some(request.target(target)?.os.is_some_and(|os| !os.boards.is_empty()))
    }

    /// The key of a target's image, if that is of a repository that nobody has read, and the system is the image's.
    fn strange_image(&self, target: &str) -> Option<String> {
        let image = self.spec.target(target)?.image.as_ref()?;
        let is_known = self.asker.catalog.images.of(repeated(&image.value.repository)).iter().next().is_some();
        (!self.runs_on_jetpack(target)? && !is_known).then(|| format!("target.{target}.image"))
    }

    /// What edits change, as it stands in the file; what is added comes last.
    fn changes(&self, edits: &[Edit]) -> Vec<Change> {
        let mut changes: Vec<Change> = edits
            .iter()
            .map(|(key, to)| Change { key: key.clone(), from: self.written(key), to: to.clone() })
            .filter(|change| change.from != change.to)
            .collect();
        let keys = self.spec.keys();
        sort_by_key(&mut changes, |change| keys.iter().position(|key| *key == change.key).unwrap_or(keys.len()));
        changes
    }

    /// Keeps changes that lead to an answer, unless that rests on something that nobody knows.
    fn keep(&mut self, edits: &[Edit], changes: Vec<Change>, answer: &Solution<'c>) -> bool {
        let Some(request) = self.asker.vary(edits) else { return false };
        let warned = warnings::warnings(&request, answer);
        if self.rests_on_the_unknown(&request, answer, &warned, edits) || ignores_the_list(&request, answer) {
            return false;
        }
        // A build that is experimental as it is written is no news.
        let is_of_build = |change: &Change| change.key.starts_with("stack.") || change.key.ends_with(".image");
        let experimental = advice::is_experimental(&warned) && changes.iter().any(is_of_build);
        let failing = advice::failing(&warned);
        // What stays as it is fails with or without a change.
        let is_of_build = changes.iter().any(is_of_build);
        let fails_on_gpu = is_of_build && warned.iter().any(|warning| warning.code == CudaGpu::CODE);
        let warned = advice::warned_of(&warned, experimental);
        let advice: Vec<String> =
            advice::compat(answer).into_iter().chain(warned).chain(advice::flashed(&request, &changes)).collect();
        let advice = (!advice.is_empty()).then(|| advice.join(", "));
        self.found.push(Fix {
            changes,
            stack: answer.common_stack(request.share == Share::Stack),
            advice,
            failing,
            is_of_build,
            fails_on_gpu,
            experimental,
        });
        true
    }

    /// Whether a clashing wish is only met because nobody knows better: no way out to recommend.
    fn rests_on_the_unknown(
        &self,
        request: &Request<'c>,
        answer: &Solution<'c>,
        warned: &[Warning],
        edits: &[Edit],
    ) -> bool {
        let is_unproven = |asked: &TargetRequest<'c>| {
            let of_target = answer.targets.iter().filter(|target| target.name == asked.name);
            let mut builds = of_target.flat_map(|target| &target.builds);
            builds.any(|build| asked.named_gpus().iter().any(|gpu| request.unproven_rule(build, gpu).is_some()))
        };
        let is_new = |warning: &Warning| {
            let same = |known: &Warning| (known.code, &known.keys) == (warning.code, &warning.keys);
            !Self::is_of_what_stays(warning, edits)
                && !self.elsewhere.get_or_init(|| self.unknown_elsewhere()).iter().any(same)
        };
        request.targets.iter().any(is_unproven)
            || warned.iter().any(|warning| tells_unknown(warning) && is_new(warning))
    }

    /// Whether nobody knows something of a machine that edits leave as it is: then the change does not rest on it.
    fn is_of_what_stays(warning: &Warning, edits: &[Edit]) -> bool {
        let changes = |key: &String| edits.iter().any(|(edited, _)| edited == key);
        warning.keys.iter().all(|key| key.starts_with("target.") && !changes(key))
    }

    /// What nobody knows of the other targets where those with a clashing key are left out, and keys that clash by themselves.
    fn unknown_elsewhere(&self) -> Vec<Warning> {
        let all = || self.cores.independent.iter().chain(&self.cores.alternatives).chain(&self.cores.further);
        let is_of_target = |key: &&String| key.starts_with("target.");
        let targets: BTreeSet<&str> = all().flatten().filter(is_of_target).map(|key| target_of(key)).collect();
        let by_themselves = all().filter(|clash| !clash.iter().any(|key| is_of_target(&key)));
        let dropped: BTreeSet<&String> = by_themselves.flatten().collect();
        let edits: Vec<Edit> = dropped.into_iter().map(|key| unset(key)).collect();
        let Some(mut request) = self.asker.vary(&edits) else { return Vec::new() };
        request.targets.retain(|target| !targets.contains(target.name.as_str()));
        if request.targets.is_empty() {
            return Vec::new();
        }
        let Some(answer) = self.asker.best(&request) else { return Vec::new() };
        let mut warned = warnings::warnings(&request, &answer);
        warned.retain(tells_unknown);
        warned
    }

    /// The spec with these edits; none if one of them cannot be written.
    fn edited(&self, edits: &[Edit]) -> Option<Spec> {
        self.spec.edited(edits).ok()
    }

    /// The answer to the spec with these edits, of one package perhaps with the oldest or newest version that has one.
    fn answer(&self, edits: &[Edit], first: BeforeAll<'_>) -> Option<Solution<'c>> {
        let asked: Asked =
            (edits.to_vec(), first.map(|(packages, from)| (packages.iter().map(ToString::to_string).collect(), from)));
        if let Some(known) = self.answers.borrow().get(&asked) {
            return known.clone();
        }
        if self.asker.steps.spent().is_some() {
            return None;
        }
        let found = self.solve(edits, first);
        self.answers.borrow_mut().insert(asked, found.clone());
        found
    }

    /// Whether the spec with these edits has any answer, which is quicker to tell than which is the best.
    fn has_answer(&self, edits: &[Edit]) -> bool {
        if self.asker.steps.spent().is_some() {
            return false;
        }
        self.asker.has_answer(edits)
    }

    fn solve(&self, edits: &[Edit], first: BeforeAll<'_>) -> Option<Solution<'c>> {
        let mut request = self.asker.vary(edits)?;
        for ask in request.frameworks.iter_mut().chain(request.companions.iter_mut()) {
            ask.before_all = first.filter(|(packages, _)| packages.contains(&ask.package)).map(|(_, from)| from);
        }
        // Most questions have no answer, which is quicker to tell and may be known.
        if is_solvable(&request, self.asker.steps) != Some(true) {
            return None;
        }
        self.asker.best(&request)
    }

    /// The greatest version a key names.
    fn newest_wish(&self, key: &str) -> Option<Version> {
        let written = Constraint::parse(&self.written(key)?).ok()?;
        written.comparisons().filter_map(|one| one.version).max()
    }

    fn written(&self, key: &str) -> Option<String> {
        self.spec.text(key)
    }
}

/// Whether a warning says that nobody knows whether something works: that a library is unknown of which nothing is asked
/// says nothing of that.
fn tells_unknown(warning: &Warning) -> bool {
    let is_asked_for = || warning.keys.iter().any(|key| matches!(key.as_str(), "stack.cudnn" | "stack.nccl"));
    match warning.code {
        "unknown-library" => is_asked_for(),
        code => code == "image-require-unknown",
    }
}

/// Whether a list insisted on is met only because the release does not read any.
fn ignores_the_list(request: &Request<'_>, answer: &Solution<'_>) -> bool {
    let mut builds = answer.targets.iter().flat_map(|target| &target.builds);
    let reads_lists = |package: &str| request.catalog.extensions.iter().any(|row| row.package == package);
    request.archs() == Archs::Listed
        && builds.any(|row| reads_lists(&row.package) && request.catalog.extension_of(row).is_none())
}
