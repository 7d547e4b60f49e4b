//! Several keys at once, where one does not suffice: two of them, all of them, or boards and what changes besides.

use crate::explain::{needed, target_of};

use super::written::{chosen, written_down};
use super::{Edit, Finder, Fix, PASSED_BY, set, unset};
use crate::catalog::rows::{FRAMEWORKS, Image, repeated};
use crate::solve::image::{self, TagMatch};
use crate::solve::request::Direction;
use crate::solve::solution::Solution;
use crate::types::name::STACK_PARTS;
use crate::types::{Version, distinct, first, variant};

/// Specs with more keys than this are not loosened as a whole.
const MOST_KEYS: usize = 500;
/// How many fixes of two keys are enough.
const PAIRS: usize = 6;
/// How many changes of one more key are tried beside those of the clashes.
const EXTRAS: usize = 192;
/// How many boards are tried in the place of one where more than the board changes.
const BOARDS: usize = 4;

impl<'c> Finder<'_, 'c> {
    /// Where the clashing keys alone do not help: one key of each clash and any other, or what the targets share.
    pub(super) fn try_one_more(&mut self, ways: &[Vec<String>]) {
        let before = self.found.len();
        let all = self.spec.keys();
        let share: &[&str] = if self.spec.targets.len() > 1 { &["versions", "none"] } else { &[] };
        let shared = share.iter().map(|share| (None, vec![set("resolve.share", *share)]));
        let extras: Vec<(Option<&String>, Vec<Edit>)> =
            all.iter().filter(|key| !key.ends_with(".gpu")).map(|key| (Some(key), Vec::new())).chain(shared).collect();
        // What is easy to change before what is not.
        let extras = first(extras, |(key, _)| !key.is_some_and(|key| key.starts_with("target.")));
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

    /// Where a package of the stack has no other release beside the rest, it and what follows it: packages of its family,
    /// and the image or the toolkit that it is compiled with.
    pub(super) fn try_followers(&mut self, key: &str) {
        let moves = |fix: &Fix| fix.changes.iter().any(|change| change.key == *key);
        if !key.starts_with("stack.") || self.found.iter().any(moves) {
            return;
        }
        let is_package = |key: &str| key.strip_prefix("stack.").is_some_and(|name| !STACK_PARTS.contains(&name));
        let follows = |other: &String| {
            *other != *key && (is_package(other) || other.ends_with(".image") || other.ends_with(".toolkit"))
        };
        let keys: Vec<String> = self.spec.keys().into_iter().filter(follows).collect();
        let alone = self.loosened(&[key.to_string()], &[]);
        let needed = self.to_be_loosened(&keys, &alone).filter(|needed| !needed.is_empty());
        if let Some(needed) = needed {
            let together: Vec<String> = std::iter::once(key.to_string()).chain(needed).collect();
            self.try_together(&together, &[]);
        }
    }

    /// Where no release of a companion serves, the stack without it.
    pub(super) fn try_without(&mut self, ways: &[Vec<String>]) {
        let request = self.asker.base();
        let Some(request) = request else { return };
        for keys in ways {
            let [key] = keys.as_slice() else { continue };
            let companion = request.companions.iter().any(|ask| key.strip_prefix("stack.") == Some(ask.package));
            // Without what brings the framework along there is nothing left to run.
            let is_left = |package: &str| self.written(&format!("stack.{package}")).is_some();
            let others = request.companions.iter().filter(|ask| key.strip_prefix("stack.") != Some(ask.package));
            let left = || request.frameworks.iter().chain(others).any(|ask| is_left(ask.package));
            if companion && left() {
                self.offer(&[unset(key)]);
            }
        }
    }

    /// Other boards, and what must change besides.
    pub(super) fn try_boards_and_more(&mut self, ways: &[Vec<String>]) {
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

    /// The last resort: loosens all keys but the GPUs, beside edits that are settled, then takes back every change that
    /// is not needed.
    pub(super) fn try_everything(&mut self, with: &[Edit]) {
        let keys: Vec<String> = self.spec.keys().into_iter().filter(|key| !key.ends_with(".gpu")).collect();
        if keys.len() > MOST_KEYS {
            return;
        }
        let apart: &[&str] = if self.spec.targets.len() > 1 { &["versions", "none"] } else { &[] };
        for share in std::iter::once(None).chain(apart.iter().copied().map(Some)) {
            let share = share.map(|share| set("resolve.share", share));
            let with: Vec<Edit> = with.iter().cloned().chain(share).collect();
            let Some(needed) = self.to_be_loosened(&keys, &with) else { continue };
            self.try_together(&needed, &with);
            if !self.found.is_empty() {
                return;
            }
            let Some(answer) = self.answer(&self.loosened(&needed, &with), None) else { return };
            let mut changes: Vec<Edit> =
                needed.iter().map(|key| (key.clone(), written_down(self, &answer, key))).collect();
            changes.extend(with);
            self.keep_written(&mut changes);
            if self.offer(&changes) {
                return;
            }
        }
    }

    /// Where even that does not help: another board, and whatever must change besides.
    pub(super) fn try_boards_and_everything(&mut self, ways: &[Vec<String>]) {
        let boards = distinct(ways.iter().flatten().filter(|key| key.ends_with(".gpu")));
        for key in boards {
            for value in self.board_values(key).into_iter().take(BOARDS) {
                self.try_everything(&[set(key, value)]);
                if !self.found.is_empty() {
                    return;
                }
            }
        }
    }

    /// The fewest of some keys that must be loosened for an answer; none if loosening all of them gives none.
    fn to_be_loosened(&self, keys: &[String], share: &[Edit]) -> Option<Vec<String>> {
        let suffice = |keys: &[String]| self.has_answer(&self.loosened(keys, share));
        suffice(keys).then(|| needed(keys, |fewer| Some(suffice(fewer))))?
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
    pub(super) fn try_together(&mut self, keys: &[String], with: &[Edit]) {
        if keys.iter().any(|key| key.ends_with(".gpu")) {
            return; // Not asking for the GPU any more is no way out.
        }
        if keys.len() > 1 && !self.has_answer(&self.loosened(keys, with)) {
            return; // What does not help without any of them does not help with other values.
        }
        if let Some(at) = keys.iter().position(|key| key == "stack.cuda").filter(|_| keys.len() > 1) {
            let rest = [&keys[..at], &keys[at + 1..]].concat();
            if let Some(with) = self.with_nearest_line(&keys[at], &rest, with) {
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
        let packages: Vec<&str> = keys.iter().filter_map(|key| key.strip_prefix("stack.")).collect();
        let first = (!packages.is_empty()).then_some((&packages[..], Direction::Oldest));
        let mut wishes = loosen(true);
        let mut near = self.answer(&wishes, first).or_else(|| self.answer(&loosen(false), None));
        for tried in 0..PASSED_BY {
            let Some(answer) = near else { return };
            let mut changes: Vec<Edit> =
                keys.iter().map(|key| (key.clone(), written_down(self, &answer, key))).collect();
            changes.extend(with.iter().cloned());
            self.keep_written(&mut changes);
            let is_kept = self.offer(&changes);
            let fails_on_gpu = is_kept && self.found.last().is_some_and(|fix| fix.fails_on_gpu);
            if tried == 0 && is_kept {
                self.try_failing(keys, &wishes, &answer);
            }
            // Of what fails on a GPU the nearest, and the first one behind it that does not.
            if !fails_on_gpu {
                return;
            }
            if tried > 0 {
                self.found.pop();
            }
            if !go_beyond(&mut wishes, &changes) {
                return;
            }
            near = self.answer(&wishes, first);
        }
    }

    /// Where a package that stays fails beside what changes, it as well: the nearest newer release of it.
    fn try_failing(&mut self, keys: &[String], wishes: &[Edit], answer: &Solution<'c>) {
        let failing = self.found.last().map(|fix| fix.failing.clone()).unwrap_or_default();
        let stays = |key: &&String| self.written(key).is_some() && !keys.contains(key);
        let Some(key) = failing.iter().flat_map(|(_, keys)| keys).find(stays) else { return };
        let Some(package) = key.strip_prefix("stack.") else { return };
        let Some(mut at) = chosen(answer, key) else { return };
        let packages = keys.iter().filter_map(|key| key.strip_prefix("stack."));
        let packages: Vec<&str> = packages.chain([package]).collect();
        for _ in 0..PASSED_BY {
            let above = set(key, format!(">{}", variant::public(&at)));
            let wishes: Vec<Edit> = wishes.iter().cloned().chain([above]).collect();
            let Some(near) = self.answer(&wishes, Some((&packages, Direction::Oldest))) else { return };
            let together = keys.iter().chain([key]);
            let edits: Vec<Edit> = together.map(|key| (key.clone(), written_down(self, &near, key))).collect();
            // Not `offer`, which spares what the solver does without.
            let kept = self.answer(&edits, None).is_some_and(|answer| self.keep(&edits, self.changes(&edits), &answer));
            if kept {
                if self.found.last().is_some_and(|fix| fix.failing.is_empty()) {
                    return;
                }
                self.found.pop();
            }
            let Some(next) = chosen(&near, key) else { return };
            at = next;
        }
    }

    /// Edits that also move the CUDA line, no further than it must whatever else changes.
    fn with_nearest_line(&self, cuda: &str, rest: &[String], with: &[Edit]) -> Option<Vec<Edit>> {
        let beside = |line: &str| with.iter().cloned().chain([set(cuda, line)]).collect::<Vec<Edit>>();
        let serves = |with: &Vec<Edit>| self.has_answer(&self.loosened(rest, with));
        let lines = self.newer_lines(cuda);
        let major = |line: &String| line.split('.').next().unwrap_or_default().to_string();
        // Where a major does not serve, none of its lines does.
        let majors = lines.chunk_by(|one, next| major(one) == major(next));
        let lines = majors.filter(|lines| serves(&beside(&major(&lines[0])))).flatten();
        lines.map(|line| beside(line)).find(serves)
    }

    /// The repository of an image that a key names.
    fn repository(&self, key: &str) -> Option<String> {
        let target = self.spec.target(target_of(key)).filter(|_| key.ends_with(".image"))?;
        Some(target.image.as_ref()?.value.repository.clone())
    }

    /// A system, C library, compiler, toolkit or driver that would be removed gets the nearest value that also serves, if any does.
    fn keep_written(&self, changes: &mut [Edit]) {
        self.leave_lists_open(changes);
        self.keep_python(changes);
        self.keep_tag(changes);
        self.keep_system(changes);
        for at in 0..changes.len() {
            let (key, None) = changes[at].clone() else { continue };
            let values = match key.rsplit('.').next().filter(|_| key.starts_with("target.")) {
                Some("os") => self.other_systems(&key),
                Some("glibc") => self.other_glibcs(&key),
                Some("gcc") => self.other_compilers(target_of(&key)),
                Some("toolkit") => self.other_toolkits(&key),
                Some("driver" | "driver-cuda") => self.newest_branches(&key),
                _ => continue,
            };
            // What has no answer without a system has none with any.
            if !self.has_answer(changes) {
                return;
            }
            let with = |edit: Edit| {
                let mut tried = changes.to_vec();
                tried[at] = edit;
                tried
            };
            // A compiler is installed beside a system, which is not exchanged for it.
            let gcc = format!("target.{}.gcc", target_of(&key));
            let compilers = if key.ends_with(".os") { self.other_compilers(target_of(&key)) } else { Vec::new() };
            let compiled = compilers.into_iter().map(|value| (gcc.clone(), Some(value)));
            let values = compiled.chain(values.into_iter().map(|value| (key.clone(), Some(value))));
            if let Some(edit) = values.into_iter().find(|edit| self.has_answer(&with(edit.clone()))) {
                changes[at] = edit;
            }
        }
    }

    /// Of a Python that must change the nearest one that serves.
    fn keep_python(&self, changes: &mut [Edit]) {
        const KEY: &str = "stack.python";
        let Some(at) = changes.iter().position(|(key, to)| key == KEY && to.is_some()) else { return };
        let Some(written) = self.newest_wish(KEY) else { return };
        let (newer, older): (Vec<Version>, Vec<Version>) =
            self.known_versions("python").into_iter().partition(|python| *python > written);
        for python in newer.into_iter().chain(older.into_iter().rev()) {
            let taken = changes[at].1.replace(python.to_string());
            if taken == changes[at].1 || self.has_answer(changes) {
                return;
            }
            changes[at].1 = taken;
        }
    }

    /// In the place of a tag that does not exist stands the nearest that does, as where it is the only one: that was meant.
    fn keep_tag(&self, changes: &mut [Edit]) {
        for at in 0..changes.len() {
            let (key, Some(value)) = changes[at].clone() else { continue };
            let target = self.spec.target(target_of(&key)).filter(|_| key.ends_with(".image"));
            let Some(image) = target.and_then(|target| target.image.as_ref()).map(|image| &image.value) else {
                continue;
            };
            let Some(tag) = image.tag.as_ref() else { continue };
            if matches!(image::tag(self.asker.catalog, &image.repository, tag), TagMatch::Known(_)) {
                continue;
            }
            for near in self.other_tags(&image.repository, tag).iter() {
                changes[at].1 = Some(format!("{}:{near}", image.name()));
                if changes[at].1.as_ref() == Some(&value) || self.has_answer(changes) {
                    break;
                }
                changes[at].1 = Some(value.clone());
            }
        }
    }

    /// An image in the place of another keeps its system, where there is such a one for the CUDA that is chosen.
    fn keep_system(&self, changes: &mut [Edit]) {
        let images = |repository: &str| self.asker.catalog.images.of(repository).iter();
        let row = |repository: &str, tag: &str| images(repeated(repository)).find(|row| row.tag == *tag);
        for at in 0..changes.len() {
            let (key, Some(value)) = changes[at].clone() else { continue };
            let target = self.spec.target(target_of(&key)).filter(|_| key.ends_with(".image"));
            let Some(image) = target.and_then(|target| target.image.as_ref()) else { continue };
            let repository = &image.value.repository;
            let from = image.value.tag.as_ref().and_then(|tag| row(repository, tag));
            let to = value.rsplit_once(':').and_then(|(_, tag)| row(repository, tag));
            let Some((from, to)) = from.zip(to).filter(|(from, to)| from.os != to.os) else { continue };
            let is_near = |row: &&Image| {
                let holds = |row: &Image| (row.cuda, row.flavour, row.cudnn.is_some());
                row.os == from.os && holds(row) == holds(to) && !row.withdrawn
            };
            let Some(near) = images(&to.repository).find(is_near) else { continue };
            let mut tried = changes.to_vec();
            tried[at].1 = Some(format!("{}:{}", image.value.name(), near.tag));
            if self.has_answer(&tried) {
                changes.clone_from_slice(&tried);
            }
        }
    }

    /// Targets that choose apart may compile with toolkits of which none knows the architectures of all: then each
    /// gets the list of its own GPUs, by not insisting on any.
    fn leave_lists_open(&self, changes: &mut [Edit]) {
        let list = changes.iter().position(|(key, to)| key == "build.arch-list" && to.is_some());
        if let Some(at) = list.filter(|_| !self.has_answer(changes)) {
            changes[at].1 = None;
        }
    }
}

/// Asks for newer frameworks than those of some changes; false where these change none.
fn go_beyond(wishes: &mut [Edit], changes: &[Edit]) -> bool {
    let mut is_asked = false;
    for (key, wish) in wishes {
        let is_framework = key.strip_prefix("stack.").is_some_and(|package| FRAMEWORKS.contains(&package));
        let taken = changes.iter().find(|(changed, _)| changed == key).and_then(|(_, to)| to.as_deref());
        if let Some(taken) = taken.map(variant::public).filter(|taken| is_framework && Version::parse(taken).is_ok()) {
            *wish = Some(format!(">{taken}"));
            is_asked = true;
        }
    }
    is_asked
}
