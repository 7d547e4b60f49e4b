//! Changes that help: each is found by loosening a clashing key, reading what the solver then chooses, writing
//! that down as a value and solving the changed spec once more.

mod boards;
mod rank;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::rows::Subject;
use crate::solve::answer::Answer;
use crate::solve::fits::extension_row;
use crate::solve::plan::Locked;
use crate::solve::question::{DriverAsk, FRAMEWORKS, Question};
use crate::solve::resolve::{Resolution, is_solvable, resolve};
use crate::solve::warnings;
use crate::spec::Spec;
use crate::words::{ArchEntry, ArchList, Arrange, Constraint, Version};

use super::core::Cores;
use super::{Asker, Change, Fix, advice, target_of};

/// Specs with more keys than this are not loosened as a whole.
const MOST_KEYS: usize = 500;
/// How many fixes of two keys are enough.
const PAIRS: usize = 6;
/// How many combinations of keys are tried where one key does not suffice.
const COMBINATIONS: usize = 64;
/// How many changes of one more key are tried beside those of the clashes.
const EXTRAS: usize = 192;
/// How many boards are tried in the place of one where more than the board changes.
const BOARDS: usize = 4;

/// Fixes for every clash at once, those that change least first.
pub fn find(asker: &Asker<'_, '_>, spec: &Spec, cores: &Cores) -> Vec<Fix> {
    let mut finder = Finder { asker, spec, found: Vec::new(), answers: RefCell::default() };
    let ways = hitting(cores);
    let is_board = |keys: &&Vec<String>| matches!(keys.as_slice(), [key] if key.ends_with(".gpu"));
    for keys in ways.iter().filter(|keys| !is_board(keys)) {
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
        finder.try_everything();
    }
    if finder.found.is_empty() {
        finder.try_without(&ways);
    }
    // Nobody changes boards before everything else was tried.
    for keys in ways.iter().filter(is_board) {
        keys.iter().for_each(|key| finder.try_boards(key));
    }
    if finder.found.is_empty() {
        finder.try_boards_and_more(&ways);
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
        longer.arrange_by_key(BTreeSet::len);
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

struct Finder<'a, 'c, 's> {
    asker: &'a Asker<'c, 's>,
    spec: &'a Spec,
    found: Vec<Fix>,
    /// Answers found so far: what is looked for as a value is often what is then offered.
    answers: RefCell<HashMap<Asked, Option<Answer<'c>>>>,
}

/// A key and its new text; none removes it.
type Edit = (String, Option<String>);

/// Edits to the spec, and the package of which the oldest version is wanted.
type Asked = (Vec<Edit>, Option<String>);

fn set(key: &str, value: impl Into<String>) -> Edit {
    (key.to_string(), Some(value.into()))
}

fn unset(key: &str) -> Edit {
    (key.to_string(), None)
}

impl<'c> Finder<'_, 'c, '_> {
    /// Every direction in which one key can be loosened.
    fn try_key(&mut self, key: &str) {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        match section {
            "stack" if name == "cuda" => self.try_lines(key),
            "stack" if !matches!(name, "cuda" | "cudnn" | "nccl") => {
                self.try_variants(key, name);
                self.try_versions(key, name);
            }
            "target" => match key.rsplit('.').next().unwrap_or("") {
                "driver" | "driver-cuda" => self.try_driver(key),
                "image" => self.try_image(key),
                "os" => {
                    self.try_compiler(target_of(key));
                    self.try_values(key, &self.other_systems(key));
                }
                "glibc" => self.try_values(key, &self.other_glibcs(key)),
                "gcc" => self.try_values(key, &self.other_compilers(target_of(key))),
                "arch" => self.try_values(key, &["x86_64".into(), "aarch64".into()]),
                "toolkit" => self.try_values(key, &self.other_toolkits(key)),
                _ => self.try_together(&[key.to_string()], &[]),
            },
            _ => {
                self.try_together(&[key.to_string()], &[]);
                if key == "build.arch-list" {
                    self.try_shorter_lists();
                }
            }
        }
    }

    /// The nearest newer CUDA line; else whatever line is then chosen.
    fn try_lines(&mut self, key: &str) {
        let before = self.found.len();
        self.try_values(key, &self.newer_lines(key));
        if self.found.len() == before {
            self.try_together(&[key.to_string()], &[]);
        }
    }

    /// The CUDA lines above the one written, nearest first.
    fn newer_lines(&self, key: &str) -> Vec<String> {
        let wish = self.newest_wish(key);
        let mut newer: Vec<Version> = self.asker.catalog.toolkits.iter().map(|row| row.version.prefix(2)).collect();
        newer.retain(|line| wish.as_ref().is_some_and(|wish| line.cmp_prefix(wish).is_gt()));
        newer.dedup();
        newer.iter().map(Version::to_string).collect()
    }

    /// The same version in another variant, the same variant in the nearest versions, and the nearest of both.
    fn try_versions(&mut self, key: &str, package: &str) {
        let Some(written) = self.written(key).and_then(|text| Constraint::parse(&text).ok()) else { return };
        let variant = written.comparisons().find_map(|one| one.variant.clone());
        let known = self.known_versions(package);
        let admitted = known.iter().filter(|version| {
            written.comparisons().all(|one| one.version.is_none()) || admits_any_variant(&written, version)
        });
        let named: Vec<Version> = written.comparisons().filter_map(|one| one.version).collect();
        let (low, high) = match (admitted.clone().min(), admitted.max()) {
            (Some(low), Some(high)) => (*low, *high),
            _ => match named.iter().max() {
                Some(version) => (*version, *version),
                None => return,
            },
        };
        let mut wishes: Vec<(String, bool)> = Vec::new();
        if variant.is_some() && !named.is_empty() {
            wishes.push((versions_only(&written), false));
        }
        for variant in variant.iter().map(|variant| Some(variant.as_str())).chain([None]) {
            for (bounds, ascending) in [(format!(">{high}"), true), (format!("<{low}"), false)] {
                match variant {
                    Some(name) if FRAMEWORKS.contains(&package) => {
                        if let Some(version) = self.nearest_with_variant(key, package, name, &bounds, ascending, &known)
                        {
                            wishes.push((version, false));
                        }
                    }
                    // Nobody leaves out more releases of Python than must be.
                    _ if package == "python" => {
                        let near = self.nearest_python(key, &bounds, ascending, &known);
                        wishes.extend(near.map(|version| (version, false)));
                    }
                    _ => wishes.push((bounds, ascending)),
                }
            }
        }
        for (wish, ascending) in wishes {
            let older = wish.starts_with('<');
            let Some(answer) = self.answer(&[set(key, wish)], ascending.then_some(package)) else { continue };
            if older && takes_any_newer(&answer, package) {
                continue;
            }
            if let Some(value) = chosen(&answer, key).or_else(|| outermost(&answer, package, older)) {
                self.offer(&[set(key, value)]);
            }
        }
    }

    /// The Python nearest to a bound that has an answer.
    fn nearest_python(&self, key: &str, bounds: &str, ascending: bool, known: &[Version]) -> Option<String> {
        let bounds = Constraint::parse(bounds).ok()?;
        let mut versions: Vec<&Version> = known.iter().filter(|version| bounds.admits(version)).collect();
        if !ascending {
            versions.reverse();
        }
        versions.into_iter().map(Version::to_string).find(|value| self.has_answer(&[set(key, value)]))
    }

    /// Where a variant stands alone: the nearest other one.
    fn try_variants(&mut self, key: &str, package: &str) {
        let Some(written) = self.written(key) else { return };
        let Some(variant) = written.strip_prefix('+') else { return };
        let others = self.other_variants(package, variant);
        let values: Vec<String> = others.into_iter().map(|variant| format!("+{variant}")).collect();
        self.try_values(key, &values);
    }

    /// The version nearest to a bound that has an answer in a given variant.
    fn nearest_with_variant(
        &self,
        key: &str,
        package: &str,
        variant: &str,
        bounds: &str,
        ascending: bool,
        known: &[Version],
    ) -> Option<String> {
        // Where no version within the bounds will do, one question tells so of all.
        if !self.has_answer(&[set(key, format!("+{variant},{bounds}"))]) {
            return None;
        }
        let bounds = Constraint::parse(bounds).ok()?;
        let builds = &self.asker.catalog.builds;
        let built = |version: &&Version| {
            bounds.admits(version)
                && builds.iter().any(|row| row.package == package && row.variant == variant && row.version == **version)
        };
        let mut versions: Vec<&Version> = known.iter().filter(built).collect();
        if !ascending {
            versions.reverse();
        }
        versions
            .into_iter()
            .map(|version| format!("{version}+{variant}"))
            .find(|value| self.has_answer(&[set(key, value)]) && self.answer(&[set(key, value)], None).is_some())
    }

    /// The oldest driver that suffices; where the pinned one is too new, the newest branch that still serves.
    fn try_driver(&mut self, key: &str) {
        let target = target_of(key);
        let pinned = self.asker.question(self.spec).and_then(|question| pinned_driver(&question, target));
        let write = |driver: Version| match key.ends_with("driver-cuda") {
            true => self.cuda_of(&driver),
            false => Some(format!(">={driver}")),
        };
        let floors = pinned.iter().flat_map(|pinned| self.floors_above(pinned));
        let higher: Vec<String> = floors.filter_map(write).collect();
        let before = self.found.len();
        self.try_values(key, &higher);
        if self.found.len() > before {
            return;
        }
        let Some(answer) = self.answer(&[unset(key)], None) else { return };
        let Some(minimum) = minimum(&answer, target) else { return };
        if pinned.is_none_or(|pinned| pinned < minimum) {
            let value =
                if key.ends_with("driver-cuda") { self.cuda_of(&minimum) } else { Some(format!(">={minimum}")) };
            self.offer(&[(key.to_string(), value)]);
            return;
        }
        let branches = self.asker.catalog.branches.iter().rev();
        let values =
            branches.map(|row| if key.ends_with("driver-cuda") { row.cuda.as_ref() } else { Some(&row.branch) });
        let older: Vec<String> = values.flatten().map(Version::to_string).collect();
        self.try_values(key, &older);
    }

    /// Every driver that some rule asks for, above a host's, lowest first: who must change a driver wants to know
    /// how little suffices.
    fn floors_above(&self, pinned: &Version) -> Vec<Version> {
        let rules = self.asker.catalog.rules.iter().filter(|rule| rule.object == Subject::Driver);
        let needs = rules.filter_map(|rule| Constraint::parse(&rule.needs).ok());
        let mut floors: Vec<Version> = needs
            .flat_map(|needs| needs.comparisons().filter_map(|one| one.version).collect::<Vec<Version>>())
            .filter(|floor| floor > pinned)
            .collect();
        floors.arrange();
        floors.dedup();
        floors
    }

    fn cuda_of(&self, driver: &Version) -> Option<String> {
        self.asker.catalog.branch_of(driver)?.cuda.as_ref().map(Version::to_string)
    }

    /// The tags most like the one written, then whatever the repository offers, then no image at all.
    fn try_image(&mut self, key: &str) {
        let target = self.spec.targets.iter().find(|target| key == format!("target.{}.image", target.name));
        let Some(image) = target.and_then(|target| target.image.as_ref()) else { return };
        let repository = &image.value.repository;
        let before = self.found.len();
        if let Some(tag) = image.value.tag.as_ref().filter(|tag| tag.contains(|c: char| c.is_ascii_digit())) {
            let nearest = self.other_tags(repository, tag);
            let nearest: Vec<String> = nearest.into_iter().map(|tag| format!("{repository}:{tag}")).collect();
            self.try_values(key, &nearest);
        }
        let answer = self.answer(&[set(key, repository)], None);
        if let Some(value) = answer.and_then(|answer| chosen(&answer, key)) {
            self.offer(&[set(key, value)]);
        }
        if self.found.len() == before {
            self.try_repositories(key, repository);
        }
        self.offer(&[unset(key)]);
    }

    /// A tag of another repository, one without frameworks of its own first.
    fn try_repositories(&mut self, key: &str, other_than: &str) {
        let images = self.asker.catalog.images.iter().filter(|row| row.repository != other_than && !row.withdrawn);
        let mut repositories: BTreeMap<&str, bool> = BTreeMap::new();
        for row in images {
            *repositories.entry(&row.repository).or_default() |= row.torch.is_some();
        }
        let mut repositories: Vec<(bool, &str)> = repositories.into_iter().map(|(name, torch)| (torch, name)).collect();
        repositories.arrange();
        for (_, repository) in repositories {
            let answer = self.answer(&[set(key, repository)], None);
            if answer.and_then(|answer| chosen(&answer, key)).is_some_and(|value| self.offer(&[set(key, value)])) {
                return;
            }
        }
    }

    /// Another compiler beside the one that comes with the system, where nothing is said of it yet.
    fn try_compiler(&mut self, target: &str) {
        let key = format!("target.{target}.gcc");
        let builds = self.spec.build.as_ref().is_some_and(|build| build.cuda_extensions);
        if !builds || self.written(&key).is_some() {
            return;
        }
        let mut values = self.other_compilers(target).into_iter();
        if let Some(gcc) = values.find(|gcc| self.offer(&[set(&key, gcc)]))
            && let Some(fix) = self.found.last_mut()
        {
            fix.advice.get_or_insert(format!("install gcc {gcc} beside the default one and build with it"));
        }
    }

    /// The first of some values with which the spec has an answer.
    fn try_values(&mut self, key: &str, values: &[String]) {
        for value in values {
            if self.offer(&[set(key, value)]) {
                return;
            }
        }
    }

    /// The written list without what nothing else knows.
    fn try_shorter_lists(&mut self) {
        let Some(list) = self.spec.build.as_ref().and_then(|build| build.arch_list.as_ref()) else { return };
        let entries = list.value.entries();
        let kept = |entry: &&ArchEntry| {
            let alone = set("build.arch-list", ArchList::new([**entry]).torch());
            let keys = self.spec.keys();
            let gpus = keys.iter().filter(|key| key.ends_with(".gpu")).map(|key| unset(key));
            self.answer(&[alone].into_iter().chain(gpus).collect::<Vec<Edit>>(), None).is_some()
        };
        let shorter = ArchList::new(entries.iter().filter(kept).copied());
        if !shorter.is_empty() && shorter != list.value {
            self.offer(&[set("build.arch-list", shorter.torch())]);
        }
    }

    /// Settings that are no clash by themselves but open another way out.
    fn try_switches(&mut self) {
        for target in &self.spec.targets {
            if target.forward_compat == crate::spec::ForwardCompat::Never {
                self.offer(&[set(&format!("target.{}.forward-compat", target.name), "auto")]);
            }
        }
        if self.spec.targets.len() > 1 {
            self.try_values("resolve.share", &["versions".into(), "none".into()]);
        }
    }

    /// Where the clashing keys alone do not help: one key of each clash and any other, or what the targets share.
    fn try_one_more(&mut self, ways: &[Vec<String>]) {
        let before = self.found.len();
        let all = self.spec.keys();
        let share: &[&str] = if self.spec.targets.len() > 1 { &["versions", "none"] } else { &[] };
        let shared = share.iter().map(|share| (None, vec![set("resolve.share", *share)]));
        let mut extras: Vec<(Option<&String>, Vec<Edit>)> =
            all.iter().filter(|key| !key.ends_with(".gpu")).map(|key| (Some(key), Vec::new())).chain(shared).collect();
        // What is easy to change before what is not.
        extras.arrange_by_key(|(key, _)| key.is_some_and(|key| key.starts_with("target.")));
        let usable = ways.iter().filter(|keys| !keys.iter().any(|key| key.ends_with(".gpu")));
        let tries = usable.flat_map(|keys| extras.iter().map(move |extra| (keys, extra)));
        for (keys, (extra, with)) in
            tries.filter(|(keys, (extra, _))| extra.is_none_or(|key| !keys.contains(key))).take(EXTRAS)
        {
            let keys: Vec<String> = keys.iter().chain(*extra).cloned().collect();
            if self.has_answer(&self.loosened(&keys, with)) {
                self.try_together(&keys, with);
            }
            if self.found.len() >= before + PAIRS {
                return;
            }
        }
    }

    /// Where no release of a companion serves, the stack without it.
    fn try_without(&mut self, ways: &[Vec<String>]) {
        let question = self.asker.question(self.spec);
        let Some(question) = question.filter(|question| !question.frameworks.is_empty()) else { return };
        for keys in ways {
            let [key] = keys.as_slice() else { continue };
            let companion = question.companions.iter().any(|ask| key.strip_prefix("stack.") == Some(ask.package));
            // Without what brings the framework along there is nothing left to run.
            let alone =
                || question.frameworks.iter().any(|ask| self.written(&format!("stack.{}", ask.package)).is_some());
            if companion && alone() {
                self.offer(&[unset(key)]);
            }
        }
    }

    /// Other boards, and what must change besides.
    fn try_boards_and_more(&mut self, ways: &[Vec<String>]) {
        for keys in ways {
            let (boards, rest): (Vec<&String>, Vec<&String>) = keys.iter().partition(|key| key.ends_with(".gpu"));
            let rest: Vec<String> = rest.into_iter().cloned().collect();
            let [key] = boards.as_slice() else { continue };
            for value in self.board_values(key).into_iter().take(BOARDS) {
                let with = [set(key, value)];
                if self.has_answer(&self.loosened(&rest, &with)) {
                    self.try_together(&rest, &with);
                }
                if self.found.len() >= PAIRS {
                    return;
                }
            }
        }
    }

    /// The last resort: loosens all keys but the GPUs, then takes back every change that is not needed.
    fn try_everything(&mut self) {
        let keys: Vec<String> = self.spec.keys().into_iter().filter(|key| !key.ends_with(".gpu")).collect();
        if keys.len() > MOST_KEYS {
            return;
        }
        for share in [None, Some("versions"), Some("none")] {
            let share: Vec<Edit> = share.map(|share| set("resolve.share", share)).into_iter().collect();
            let Some(needed) = self.needed(&keys, &share) else { continue };
            self.try_together(&needed, &share);
            if !self.found.is_empty() {
                return;
            }
            let Some(answer) = self.answer(&self.loosened(&needed, &share), None) else { return };
            let mut changes: Vec<Edit> =
                needed.iter().map(|key| (key.clone(), written_down(self, &answer, key))).collect();
            changes.extend(share);
            self.keep_written(&mut changes);
            if self.offer(&changes) {
                return;
            }
        }
    }

    /// The fewest of some keys that must be loosened for an answer; none if loosening all of them gives none.
    fn needed(&self, keys: &[String], share: &[Edit]) -> Option<Vec<String>> {
        let mut needed = keys.to_vec();
        if !self.has_answer(&self.loosened(&needed, share)) {
            return None;
        }
        let mut many = needed.len().div_ceil(2);
        while many > 0 {
            let mut at = 0;
            while at < needed.len() {
                let end = needed.len().min(at + many);
                let fewer = [&needed[..at], &needed[end..]].concat();
                if self.has_answer(&self.loosened(&fewer, share)) {
                    needed = fewer;
                } else {
                    at = end;
                }
            }
            many /= 2;
        }
        Some(needed)
    }

    /// Edits after which some keys ask for nothing in particular.
    fn loosened(&self, keys: &[String], share: &[Edit]) -> Vec<Edit> {
        let loosen = |key: &String| {
            let edit = set(key, "*");
            let takes_any = key.starts_with("stack.") && self.edited(std::slice::from_ref(&edit)).is_some();
            if takes_any { edit } else { unset(key) }
        };
        share.iter().cloned().chain(keys.iter().map(loosen)).collect()
    }

    /// Loosens some keys at once, beside edits that are settled, and writes down what is then chosen for each.
    fn try_together(&mut self, keys: &[String], with: &[Edit]) {
        if keys.iter().any(|key| key.ends_with(".gpu")) {
            return; // Not asking for the GPU any more is no way out.
        }
        // A CUDA line moves no further than it must, whatever else changes.
        if let Some(at) = keys.iter().position(|key| key == "stack.cuda").filter(|_| keys.len() > 1) {
            let (cuda, mut rest) = (keys[at].clone(), keys.to_vec());
            rest.remove(at);
            let beside = |line: String| with.iter().cloned().chain([set(&cuda, line)]).collect::<Vec<Edit>>();
            let mut tried = self.newer_lines(&cuda).into_iter().map(beside);
            if let Some(with) = tried.find(|with| self.has_answer(&self.loosened(&rest, with))) {
                return self.try_together(&rest, &with);
            }
        }
        let loosen = |newer_only: bool| {
            let loosened = keys.iter().map(|key| {
                let above = self.newest_wish(key).filter(|_| newer_only).map(|wish| format!(">={wish}"));
                let any = || above.clone().unwrap_or("*".into());
                let value = if key.starts_with("stack.") { Some(any()) } else { self.repository(key) };
                (key.clone(), value.filter(|value| self.spec.with(key, Some(value)).is_ok()))
            });
            loosened.chain(with.iter().cloned()).collect::<Vec<Edit>>()
        };
        let package = keys.iter().find_map(|key| key.strip_prefix("stack."));
        let near = self.answer(&loosen(true), package);
        let Some(answer) = near.or_else(|| self.answer(&loosen(false), None)) else { return };
        let mut changes: Vec<Edit> = keys.iter().map(|key| (key.clone(), written_down(self, &answer, key))).collect();
        changes.extend(with.iter().cloned());
        self.keep_written(&mut changes);
        self.offer(&changes);
    }

    /// The repository of an image that a key names.
    fn repository(&self, key: &str) -> Option<String> {
        let target = self.spec.target(target_of(key)).filter(|_| key.ends_with(".image"))?;
        Some(target.image.as_ref()?.value.repository.clone())
    }

    /// A system, C library or compiler that would be removed gets the nearest value that also serves, if any does.
    fn keep_written(&self, changes: &mut [Edit]) {
        for at in 0..changes.len() {
            let (key, None) = changes[at].clone() else { continue };
            let values = match key.rsplit('.').next().filter(|_| key.starts_with("target.")) {
                Some("os") => self.other_systems(&key),
                Some("glibc") => self.other_glibcs(&key),
                Some("gcc") => self.other_compilers(target_of(&key)),
                _ => continue,
            };
            let serves = |value: &String| {
                let mut tried = changes.to_vec();
                tried[at].1 = Some(value.clone());
                self.has_answer(&tried)
            };
            changes[at].1 = values.into_iter().find(serves);
        }
    }

    /// Solves the spec with these edits and keeps them if it then has an answer.
    fn offer(&mut self, edits: &[Edit]) -> bool {
        let mut changes: Vec<Change> = edits
            .iter()
            .map(|(key, to)| Change { key: key.clone(), from: self.written(key), to: to.clone() })
            .filter(|change| change.from != change.to)
            .collect();
        // As they stand in the file; what is added comes last.
        let keys = self.spec.keys();
        changes.arrange_by_key(|change| keys.iter().position(|key| *key == change.key).unwrap_or(keys.len()));
        if changes.is_empty() || self.found.iter().any(|fix| fix.changes == changes) {
            return false;
        }
        // A change that is not needed beside the others is none to recommend.
        let spared = |at: usize| -> Vec<Edit> {
            let others = changes.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, change)| (change.key.clone(), change.to.clone())).collect()
        };
        if let Some(fewer) = (0..changes.len()).map(spared).find(|fewer| !fewer.is_empty() && self.has_answer(fewer)) {
            return self.offer(&fewer);
        }
        let Some(answer) = self.answer(edits, None) else { return false };
        let changed = self.edited(edits).and_then(|spec| self.asker.question(&spec));
        if changed
            .is_none_or(|question| rests_on_the_unknown(&question, &answer) || ignores_the_list(&question, &answer))
        {
            return false;
        }
        self.found.push(Fix { changes, stack: common_stack(&answer), advice: advice::compat(&answer) });
        true
    }

    /// The spec with these edits; none if one of them cannot be written.
    fn edited(&self, edits: &[Edit]) -> Option<Spec> {
        self.spec.edited(edits).ok()
    }

    /// The answer to the spec with these edits, of one package perhaps with the oldest version that has one.
    fn answer(&self, edits: &[Edit], ascending: Option<&str>) -> Option<Answer<'c>> {
        let asked: Asked = (edits.to_vec(), ascending.map(str::to_string));
        if let Some(known) = self.answers.borrow().get(&asked) {
            return known.clone();
        }
        if self.asker.steps.spent().is_some() {
            return None;
        }
        let found = self.solve(&self.edited(edits)?, ascending);
        self.answers.borrow_mut().insert(asked, found.clone());
        found
    }

    /// Whether the spec with these edits has any answer, which is quicker to tell than which is the best.
    fn has_answer(&self, edits: &[Edit]) -> bool {
        if self.asker.steps.spent().is_some() {
            return false;
        }
        let question = self.edited(edits).and_then(|spec| self.asker.question(&spec));
        question.is_some_and(|question| is_solvable(&question, self.asker.steps) == Some(true))
    }

    fn solve(&self, spec: &Spec, ascending: Option<&str>) -> Option<Answer<'c>> {
        let mut question = self.asker.question(spec)?;
        for ask in question.frameworks.iter_mut().chain(question.companions.iter_mut()) {
            ask.oldest_first = ascending == Some(ask.package);
        }
        match resolve(&question, &Locked::new(), self.asker.steps) {
            Resolution::Answer(answer) => Some(answer),
            _ => None,
        }
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

/// Whether a release of a companion sets no upper bound on its framework: of a framework that is younger than
/// itself it could not know, so an old one of these is no way out to recommend.
fn takes_any_newer(answer: &Answer<'_>, package: &str) -> bool {
    let companions = answer.targets.iter().flat_map(|target| &target.companions);
    let mut of_package = companions.filter(|row| &*row.package == package);
    let beyond = Version::parse("9999").ok();
    let unbounded = |needs: &str| {
        let needs = Constraint::parse(needs).ok();
        needs.zip(beyond.as_ref()).is_some_and(|(needs, beyond)| needs.admits(beyond))
    };
    of_package.any(|row| unbounded(&row.needs))
}

/// Whether a clashing wish is only met because nobody knows better: no way out to recommend.
fn rests_on_the_unknown<'c>(question: &Question<'c>, answer: &Answer<'c>) -> bool {
    warnings::warnings(question, answer)
        .iter()
        .any(|warning| matches!(warning.code, "unknown-library" | "unknown-python" | "image-require-unknown"))
}

/// Whether a list insisted on is met only because the release does not read any.
fn ignores_the_list(question: &Question<'_>, answer: &Answer<'_>) -> bool {
    let insists = question.build.as_ref().is_some_and(|build| build.arch_list.is_some());
    let mut builds = answer.targets.iter().flat_map(|target| &target.builds);
    insists
        && builds.any(|row| row.package == "torch" && extension_row(question.catalog, "torch", &row.version).is_none())
}

/// What an answer chose for a key, as it would be written.
fn chosen(answer: &Answer<'_>, key: &str) -> Option<String> {
    if key == "build.arch-list" {
        // Targets that share nothing have lists of their own, and the one that is written must hold them all.
        let lists = answer.targets.iter().filter_map(|target| target.arch_list.as_ref());
        let all = ArchList::new(lists.flat_map(|list| list.entries().iter().copied()));
        return (!all.is_empty()).then(|| all.torch());
    }
    if let Some(package) = key.strip_prefix("stack.") {
        let version = common_version(answer, package)?;
        let line = || Version::parse(&version).map(|version| version.prefix(2).to_string()).ok();
        return if package == "cuda" { line() } else { Some(version) };
    }
    let target = answer.targets.iter().find(|target| target.name == target_of(key))?;
    match key.rsplit('.').next()? {
        "toolkit" => target.toolkit.map(|toolkit| format!("[\"{}\"]", toolkit.version.prefix(2))),
        "image" => target.image.map(|image| format!("{}:{}", image.repository, image.tag)),
        _ => None,
    }
}

/// The version of a package in all targets alike: with its variant where that is the same too.
fn common_version(answer: &Answer<'_>, package: &str) -> Option<String> {
    let versions = versions_of(answer, package)?;
    let first = versions.first()?;
    let plain = without_variant(first);
    if versions.iter().all(|version| version == first) {
        return Some(first.clone());
    }
    versions.iter().all(|version| without_variant(version) == plain).then(|| plain.to_string())
}

/// Where targets that are free to differ do: the newest version among them, or the oldest of older ones, which may
/// serve the others as well.
fn outermost(answer: &Answer<'_>, package: &str, older: bool) -> Option<String> {
    let versions = versions_of(answer, package)?;
    let versions = versions.iter().filter_map(|version| Version::parse(without_variant(version)).ok());
    if older { versions.min() } else { versions.max() }.map(|version| version.to_string())
}

/// The version of a package in every target; none if one goes without.
fn versions_of(answer: &Answer<'_>, package: &str) -> Option<Vec<String>> {
    answer.targets.iter().map(|target| target.stack().remove(package)).collect()
}

fn without_variant(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

/// What to write for a loosened key so that this answer comes out.
fn written_down(finder: &Finder<'_, '_, '_>, answer: &Answer<'_>, key: &str) -> Option<String> {
    match key.rsplit('.').next() {
        Some("driver") if key.starts_with("target.") => {
            minimum(answer, target_of(key)).map(|minimum| format!(">={minimum}"))
        }
        Some("driver-cuda") => minimum(answer, target_of(key)).and_then(|minimum| finder.cuda_of(&minimum)),
        // A package that was asked for stays asked for, whichever version each target then gets.
        _ if key.starts_with("stack.") => chosen(answer, key).or(Some("*".into())),
        _ => chosen(answer, key),
    }
}

fn minimum(answer: &Answer<'_>, target: &str) -> Option<Version> {
    answer.targets.iter().find(|answer| answer.name == target)?.minimum
}

fn pinned_driver(question: &Question<'_>, target: &str) -> Option<Version> {
    match &question.targets.iter().find(|ask| ask.name == target)?.driver {
        DriverAsk::Exact(version) => Some(*version),
        DriverAsk::AtWorst(constraint) => constraint.comparisons().filter_map(|one| one.version).min(),
        DriverAsk::Cuda(cuda) => {
            let branch = question.catalog.branches.iter().find(|row| row.cuda.as_ref() == Some(cuda));
            branch.map(|row| row.branch)
        }
        DriverAsk::Free(_) => None,
    }
}

fn admits_any_variant(constraint: &Constraint, version: &Version) -> bool {
    Constraint::parse(&versions_only(constraint)).is_ok_and(|constraint| constraint.admits(version))
}

/// The constraint without its variants: `2.5.1+cu124` is `2.5.1`.
fn versions_only(constraint: &Constraint) -> String {
    let cut = |part: &str| part.split('+').next().unwrap_or("").trim().to_string();
    let alternatives = constraint.as_str().split("||").map(|alternative| {
        let parts: Vec<String> = alternative.split(',').map(cut).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { "*".to_string() } else { parts.join(",") }
    });
    alternatives.collect::<Vec<String>>().join(" || ")
}

/// What the stacks of all targets have in common.
pub(super) fn common_stack(answer: &Answer<'_>) -> BTreeMap<String, String> {
    let mut stacks = answer.targets.iter().map(|target| target.stack());
    let mut common = stacks.next().unwrap_or_default();
    for stack in stacks {
        common.retain(|package, version| stack.get(package) == Some(version));
    }
    common
}
