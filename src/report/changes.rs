//! What `gpuenv lock` did: what the lock holds, or what is chosen differently from before, and the next command.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::catalog::at_hand;
use crate::catalog::rows::{Service, Text};
use crate::explain::importance;
use crate::export::{self, EXPORT, Format, Options, Whose, whose};
use crate::lock::{Lock, TargetLock};
use crate::types::{calendar, distinct};

use super::Fate;
use super::screen::{Screen, clean};

/// Longer tables are cut: a first lock of many machines is read in the file.
const ROWS: usize = 40;
/// Of so many targets it is tried what can be written for all of them, and for which where not: for one all can, and of
/// thousands it takes longer than the lock.
const TRIED: usize = 8;

/// A section's rows: what all targets share, then each target.
type Section = Vec<(String, String)>;

/// The report.
pub(super) fn render(screen: &Screen, lock: &Lock, old: Option<&Lock>, fate: Fate) -> String {
    let targets = match lock.target.len() {
        1 => "1 target".to_string(),
        count => format!("{count} targets"),
    };
    let catalog = clean(&lock.catalog.version);
    let name = clean(&screen.project.lock);
    let changed = changes(screen, lock, old);
    let mut text = match fate {
        Fate::Current => screen.wrapped("", &format!("{name} is up to date: {}", heart(lock, &targets))),
        Fate::Same => format!("locked {targets} with catalog {catalog}: nothing changed\n"),
        Fate::Written if old.is_some() && changed.is_empty() => {
            let what = match old {
                Some(old) if old.inputs != lock.inputs => "the inputs",
                Some(old) if old.version != lock.version => "the lock's format",
                _ => "what it rests on",
            };
            format!("locked {targets} with catalog {catalog}: {what} changed, the versions did not\n")
        }
        Fate::Planned => format!("would lock {targets} with catalog {catalog}; {name} was not written\n"),
        Fate::Written => format!("locked {targets} with catalog {catalog}\n"),
    };
    let rows: usize = changed.iter().map(|(_, rows)| rows.len()).sum();
    let wide = changed.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut left = ROWS;
    for (target, rows) in &changed {
        let indent = if target.is_empty() { "  " } else { "    " };
        if !target.is_empty() && left > 0 {
            text += &format!("  target `{}`\n", clean(target));
        }
        for (name, value) in rows.iter().take(left) {
            let written = lock.inputs.get(&format!("target.{target}.driver"));
            // `*` and `<=551` are no driver that anybody has.
            let is_had = |driver: &String| driver.split("||").all(|one| !one.trim_start().starts_with(['*', '<', '!']));
            let written = written.filter(|driver| is_had(driver));
            let written = written.filter(|_| name == "driver" && lock.target.contains_key(target));
            let has =
                written.map_or(String::new(), |driver| format!("; you have {}", clean(driver).replace("||", " or ")));
            text += &screen.column(&format!("{indent}{:wide$}  ", clean(name)), &format!("{value}{has}"));
        }
        left = left.saturating_sub(rows.len());
    }
    if rows > ROWS {
        text += &format!("  and {} more, in the lock\n", rows - ROWS);
    }
    match fate {
        Fate::Written => text + &next(screen, lock),
        Fate::Current | Fate::Same | Fate::Planned => text,
    }
}

/// The heart of a lock in a line: its most important packages.
fn heart(lock: &Lock, targets: &str) -> String {
    let mut parts = stack(lock);
    parts.truncate(4);
    parts.push(targets.to_string());
    clean(&parts.join(", ")).into_owned()
}

/// The packages of a lock with their versions, the most important first.
pub(super) fn stack(lock: &Lock) -> Vec<String> {
    packages(&lock.stack).into_iter().map(|(name, version)| format!("{name} {version}")).collect()
}

/// What to do with a lock: commands that work as they stand.
fn next(screen: &Screen, lock: &Lock) -> String {
    let contained = lock.target.values().any(|target| target.image.is_some());
    let installs = !lock.wheel.is_empty() || lock.packages().next().is_some();
    let formats: &[&str] = match (contained, !installs) {
        (true, true) => &["dockerfile", "env"],
        (true, false) => &["dockerfile", "uv", "requirements"],
        (false, true) => &["env"],
        (false, false) => &["uv", "requirements", "env"],
    };
    let commands: Vec<String> = formats.iter().filter_map(|name| command(lock, name)).collect();
    if commands.is_empty() {
        return String::new();
    }
    screen.wrapped(&format!("{} ", screen.help("next:")), &either(&commands))
}

/// What writes a format, with the file: a text on the screen is nothing that the tool could read. Where the targets differ,
/// for the first that it can be written for.
fn command(lock: &Lock, name: &str) -> Option<String> {
    let format = export::format(name).ok()?;
    let can = |target: Option<&String>| {
        format.render(lock, &Options { target: target.cloned(), ..Options::default() }).is_ok()
    };
    let target = match lock.target.len() > TRIED || can(None) {
        true => None,
        false => Some(lock.target.keys().find(|target| can(Some(target)))?),
    };
    if let Some(merge) = format.merge
        && let Ok(old) = fs::read_to_string(format.file)
        && !old.trim().is_empty()
    {
        // What would be refused is no advice.
        let text = format.render(lock, &Options { target: target.cloned(), ..Options::default() }).ok()?;
        merge(&old, &text, format.file).ok()?;
    }
    let target = target.map_or(String::new(), |target| format!(" --target {target}"));
    Some(format!("`gpuenv export {name}{target} -o {}`", place(format)))
}

/// The usual file of a format; another beside it where somebody else's stands there.
fn place(format: &Format) -> String {
    let file = Path::new(format.file);
    let is_free = |text: String| text.trim().is_empty() || whose(&text, EXPORT) == Whose::Ours;
    match format.merge.is_some() || !file.is_file() || fs::read_to_string(file).is_ok_and(is_free) {
        true => format.file.to_string(),
        false => format!("gpu-{}", format.file),
    }
}

/// `a`; `a or b`; `a, b or c`.
fn either(words: &[String]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// The rows that a lock and an older one do not share, with what became of them.
fn changes(screen: &Screen, lock: &Lock, old: Option<&Lock>) -> Vec<(String, Section)> {
    let before = old.map(|old| choices(old, Some(lock))).unwrap_or_default();
    let after = choices(lock, old);
    let sections = distinct(before.keys().chain(after.keys()));
    let none = Vec::new();
    let mut changed = Vec::new();
    for section in sections {
        let (was, is) = (before.get(section).unwrap_or(&none), after.get(section).unwrap_or(&none));
        let [value_was, value_is] = [was, is].map(|rows| rows.iter().cloned().collect::<BTreeMap<String, String>>());
        let mut rows: Section = Vec::new();
        let gone = was.iter().filter(|(name, _)| !value_is.contains_key(name));
        for (name, _) in is.iter().chain(gone) {
            rows.extend(match (value_was.get(name), value_is.get(name)) {
                (Some(old), Some(new)) if old != new => Some((name.clone(), screen.change(old, new))),
                (None, Some(new)) if old.is_some() => {
                    Some((name.clone(), screen.after(&format!("{} (new)", clean(new)))))
                }
                (None, Some(new)) => Some((name.clone(), screen.after(&clean(new)))),
                (Some(old), None) => Some((name.clone(), screen.before(&format!("{} (removed)", clean(old))))),
                _ => None,
            });
        }
        if !rows.is_empty() {
            changed.push((section.clone(), rows));
        }
    }
    changed
}

/// Every choice of a lock under the name a reader knows it by, in the order of importance, but for targets that are the
/// same in the other: first what all share, then each target.
fn choices(lock: &Lock, other: Option<&Lock>) -> BTreeMap<String, Section> {
    let comparable = other.filter(|other| other.stack == lock.stack);
    let same = |name: &str, target| comparable.is_some_and(|other| other.target.get(name) == Some(target));
    let mut shared = packages(&lock.stack);
    shared.extend(lock.arch_list.as_ref().map(|list| ("arch-list".to_string(), list.torch.clone())));
    let mut choices = BTreeMap::from([(String::new(), shared)]);
    for (name, target) in lock.target.iter().filter(|(name, target)| !same(name, target)) {
        choices.insert(name.clone(), of_target(lock, target));
    }
    choices
}

/// What a machine needs beside its driver, with the machines that it is needed on where that is not all with these GPUs.
fn required(target: &TargetLock) -> String {
    let has = |board: &Text| target.gpu.iter().any(|gpu| gpu.name == **board);
    let of = |one: &String| {
        let is_of = |row: &&Service| row.needs.as_deref() == Some(one) && row.boards.iter().any(has);
        let mut rows = at_hand().services.iter().filter(is_of).map(|row| row.condition.as_deref());
        match rows.next().flatten().filter(|first| rows.all(|other| other == Some(first))) {
            Some(condition) => format!("{one} {condition}"),
            None => one.clone(),
        }
    };
    target.requires.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Packages in the order of importance.
fn packages(stack: &BTreeMap<String, String>) -> Section {
    let mut rows: Section = stack.iter().map(|(name, version)| (name.clone(), version.clone())).collect();
    crate::types::sort_by_key(&mut rows, |(name, _)| importance(name));
    rows
}

/// The choices of one target.
fn of_target(lock: &Lock, target: &TargetLock) -> Section {
    let mut own = target.stack.clone().unwrap_or_default();
    own.retain(|name, version| lock.stack.get(name) != Some(version));
    let mut rows = packages(&own);
    let mut put = |key: &str, value: Option<String>| rows.extend(value.map(|value| (key.to_string(), value)));
    put("image", target.image.clone());
    put("runtime-image", target.runtime_image.clone());
    put("toolkit", target.toolkit.clone());
    let driver = target.driver.as_ref();
    put("driver", driver.map(|driver| format!("{} ({})", driver.stated(), driver.mode)));
    let recommended = driver.and_then(|driver| driver.recommended.as_ref());
    if let Some(one) = recommended {
        let day = lock.catalog.version.replace('.', "-");
        let has_ended = one.until.as_ref().is_some_and(|end| calendar::has_ended(end, &day));
        // Of a branch that has ended it is the newest that the range admits, and nobody's advice.
        let key = if has_ended { "newest" } else { "recommended" };
        let until = one.until.as_ref().map_or_else(String::new, |end| match has_ended {
            true => format!(", support ended {end}"),
            false => format!(", supported until {end}"),
        });
        put(key, Some(format!("driver {} (R{}{until})", one.release, one.branch)));
    }
    put("requires", (!target.requires.is_empty()).then(|| required(target)));
    put("arch-list", target.arch_list.as_ref().map(|list| list.torch.clone()));
    rows
}
