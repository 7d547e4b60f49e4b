//! Whole cases: a spec, what lies beside it, and the runs of `gpuenv lock` that follow each other.

use super::astray::astray;
use super::era::{Era, versions_of};
use super::machine;
use super::overlay;
use super::packages;
use super::random::Random;
use super::sheet::{Lines, Sheet, quoted, set};

/// A case: what is done in one folder.
#[derive(Debug, Clone)]
pub struct Case {
    /// What made it, or where it was read.
    pub name: String,
    pub steps: Vec<Step>,
}

/// One run of `gpuenv lock`.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Files that are written before, by their names.
    pub files: Vec<(String, String)>,
    /// What follows `lock`.
    pub args: Vec<String>,
}

/// Warnings that people silence.
const SILENCED: &[&str] = &[
    "driver-end-of-life",
    "driver-not-listed",
    "experimental-variant",
    "forward-compat",
    "gpu-not-checked",
    "gpu-not-listed",
    "image-not-checked",
    "os-end-of-life",
    "cuda-on-cpu",
];

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    let mut random = Random::seeded(seed);
    let mut era = Era::random(&mut random);
    let count = match random.weighted(&[46, 22, 20, 8, 4]) {
        0 => 1,
        1 => 2,
        2 => random.within(3, 5),
        3 => random.within(6, 10),
        _ => random.within(11, 20),
    };
    // With every target more can clash.
    era.wild = if count > 2 { era.wild / count } else { era.wild };
    let mut sheet = sheet(&era, count, &mut random);
    let mut steps = Vec::new();
    let mut files = Vec::new();
    if random.percent(12) {
        sheet.overlays.push(overlay::NAME.to_string());
        files.push((overlay::NAME.to_string(), overlay::overlay(&era, &mut random)));
    }
    let again = random.percent(45);
    let first = if again && random.percent(75) { narrowed(&sheet, &era, &mut random) } else { sheet.clone() };
    files.push(("gpuenv.toml".to_string(), first.text()));
    steps.push(Step { files, args: Vec::new() });
    if again {
        follow(&mut steps, sheet, &era, &mut random);
    }
    if random.percent(8) {
        steps.push(Step { files: Vec::new(), args: vec!["--check".to_string()] });
    }
    Case { name: seed.to_string(), steps }
}

fn sheet(era: &Era, count: usize, random: &mut Random) -> Sheet {
    let mut sheet = Sheet { stack: packages::stack(era, random), ..Sheet::default() };
    let mut capabilities = Vec::new();
    let builds = random.percent(25);
    for at in 0..count {
        let (lines, own) = machine::target(era, builds, random);
        capabilities.extend(own);
        sheet.targets.push((format!("t{at}"), lines));
    }
    if builds {
        sheet.build = Some(packages::build(&capabilities, era, random));
    }
    if sheet.stack.is_empty() && sheet.build.is_none() {
        set(&mut sheet.stack, &era.build.package, quoted("*"));
    }
    let share = random.pick(&["stack", "versions", "versions", "none"]);
    if count > 1 && random.percent(70) || random.percent(6) {
        set(&mut sheet.resolve, "share", quoted(share));
    }
    if random.percent(16) {
        set(&mut sheet.resolve, "prefer", quoted(random.pick(&["oldest-driver", "oldest-driver", "newest"])));
    }
    if random.percent(12) {
        set(&mut sheet.resolve, "allow-experimental", random.percent(80).to_string());
    }
    if random.percent(2) {
        sheet.requires = Some(random.pick(&[">=0.1", "0.1", ">=0.1, <9", ">=9"]).to_string());
    }
    remarks(&mut sheet, era, random);
    sheet
}

/// Overrides and silences.
fn remarks(sheet: &mut Sheet, era: &Era, random: &mut Random) {
    let names: Vec<String> = sheet.targets.iter().map(|(name, _)| name.clone()).collect();
    let aimed = |lines: &mut Lines, random: &mut Random| {
        if random.percent(40) {
            set(lines, "target", quoted(&names[random.below(names.len())]));
        }
    };
    let mut seen = Vec::new();
    if random.percent(8) {
        let (rules, target) = astray(sheet, era, random);
        let everywhere = random.percent(50);
        for rule in rules {
            let mut lines = vec![("rule".to_string(), quoted(&rule))];
            if !everywhere {
                set(&mut lines, "target", quoted(&target));
            }
            set(&mut lines, "reason", quoted("measured on our hosts"));
            sheet.overrides.push(lines);
            seen.push(rule);
        }
    }
    for _ in 0..if random.percent(8) { random.within(1, 3) } else { 0 } {
        let rule = overlay::rule(era, random);
        if !seen.contains(&rule) {
            let mut lines = vec![("rule".to_string(), quoted(&rule))];
            aimed(&mut lines, random);
            set(&mut lines, "reason", quoted("measured on our hosts"));
            sheet.overrides.push(lines);
            seen.push(rule);
        }
    }
    for _ in 0..if random.percent(9) { random.within(1, 2) } else { 0 } {
        let code = random.pick(SILENCED).to_string();
        if !seen.contains(&code) {
            let mut lines = vec![("warning".to_string(), quoted(&code))];
            aimed(&mut lines, random);
            set(&mut lines, "reason", quoted("known"));
            sheet.silences.push(lines);
            seen.push(code);
        }
    }
}

/// The spec as it may have stood before: releases pinned, so that a relock has something to keep.
fn narrowed(sheet: &Sheet, era: &Era, random: &mut Random) -> Sheet {
    let mut before = sheet.clone();
    let package = &*era.build.package;
    set(&mut before.stack, package, quoted(era.build.version.as_str()));
    if random.percent(30) {
        let pythons: Vec<_> = era.build.pythons.iter().collect();
        set(&mut before.stack, "python", quoted(random.pick(&pythons).as_str()));
    }
    before.stack.retain(|(key, _)| key == package || key == "python" || random.percent(80));
    if before.targets.len() > 1 && random.percent(25) {
        before.targets.pop();
        before.overrides.clear();
        before.silences.clear();
    }
    before
}

/// What is done after the first lock.
fn follow(steps: &mut Vec<Step>, mut sheet: Sheet, era: &Era, random: &mut Random) {
    let mut args = Vec::new();
    match random.weighted(&[46, 10, 26, 8, 10]) {
        0 => {}
        1 => args.push("--upgrade".to_string()),
        2 => {
            for _ in 0..random.within(1, 2) {
                args.push("--upgrade-package".to_string());
                args.push(upgrade(&sheet, era, random));
            }
        }
        3 => args.push("--fresh".to_string()),
        _ => sheet.overlays = vec![overlay::NAME.to_string()],
    }
    let mut files = Vec::new();
    if sheet.overlays.is_empty() || random.percent(60) {
        edit(&mut sheet, era, random);
    }
    if !sheet.overlays.is_empty() {
        files.push((overlay::NAME.to_string(), overlay::overlay(era, random)));
    }
    files.push(("gpuenv.toml".to_string(), sheet.text()));
    steps.push(Step { files, args });
    if random.percent(20) {
        edit(&mut sheet, era, random);
        let files = vec![("gpuenv.toml".to_string(), sheet.text())];
        steps.push(Step { files, args: Vec::new() });
    }
}

/// `NAME` or `NAME=VERSION` for `--upgrade-package`.
fn upgrade(sheet: &Sheet, era: &Era, random: &mut Random) -> String {
    let mut names: Vec<&str> = sheet.stack.iter().map(|(name, _)| name.as_str()).collect();
    names.extend([&*era.build.package, "python", "cudnn", "torchvision"]);
    let name = random.pick(&names);
    if random.percent(55) {
        return name.to_string();
    }
    let versions = versions_of(name);
    if versions.is_empty() {
        return format!("{name}={}", random.pick(&["3.11", "9", "12", "12.4", "3.10"]));
    }
    let home = versions.iter().position(|version| *version == era.build.version).unwrap_or(versions.len() / 2);
    let version = versions[random.near(home, 8, versions.len())];
    if random.percent(60) { format!("{name}={version}") } else { format!("{name}={}", version.prefix(2)) }
}

/// A small change of the spec, as somebody makes it between two locks.
fn edit(sheet: &mut Sheet, era: &Era, random: &mut Random) {
    match random.below(10) {
        0 => {}
        1 if sheet.stack.len() > 1 => {
            let at = random.below(sheet.stack.len());
            sheet.stack.remove(at);
        }
        2 | 3 => {
            let more = packages::stack(era, random);
            more.into_iter().for_each(|(key, value)| set(&mut sheet.stack, &key, value));
        }
        4 => {
            let (lines, _) = machine::target(era, sheet.build.is_some(), random);
            sheet.targets.push((format!("more{}", sheet.targets.len()), lines));
        }
        5 => {
            let (lines, _) = machine::target(era, sheet.build.is_some(), random);
            let at = random.below(sheet.targets.len());
            sheet.targets[at].1 = lines;
        }
        6 => set(&mut sheet.resolve, "share", quoted(random.pick(&["stack", "versions", "none"]))),
        7 => set(&mut sheet.resolve, "prefer", quoted(random.pick(&["newest", "oldest-driver"]))),
        8 => {
            let at = random.below(sheet.targets.len());
            let lines = &mut sheet.targets[at].1;
            if !lines.is_empty() {
                let gone = random.below(lines.len());
                lines.remove(gone);
            }
        }
        _ => {
            sheet.overrides.clear();
            sheet.silences.clear();
            remarks(sheet, era, random);
        }
    }
}
