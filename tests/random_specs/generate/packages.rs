//! What stands under `[stack]` and `[build]`: constraints in every form that the grammar has.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Build, Companion};
use gpuenv::types::{Constraint, Version};

use super::era::{Era, versions_of};
use super::random::Random;
use super::sheet::{Lines, quoted, set};

/// How far from the era's version a bound or a straying version stands, in releases.
const REACH: usize = 6;

/// The lines of `[stack]`.
pub fn stack(era: &Era, random: &mut Random) -> Lines {
    let mut lines = Lines::new();
    let package = &*era.build.package;
    if !random.percent(4) {
        set(&mut lines, package, quoted(&framework(era, random)));
    }
    if random.percent(7) {
        let other = random.pick(&["torch", "tensorflow", "jax"]);
        if other != package {
            let versions = versions_of(other);
            let at = random.below(versions.len());
            let form = if random.percent(60) { "*".to_string() } else { constraint(&versions, at, random) };
            set(&mut lines, other, quoted(&form));
        }
    }
    let companions = random.weighted(&[50, 30, 12, 5, 3]);
    for _ in 0..companions {
        if let Some((name, form)) = companion(era, random) {
            set(&mut lines, &name, quoted(&form));
        }
    }
    if random.percent(35) {
        set(&mut lines, "python", quoted(&python(era, random)));
    }
    if random.percent(22) {
        set(&mut lines, "cuda", quoted(&cuda(era, random)));
    }
    if random.percent(12) {
        let known: Vec<Version> = BUILTIN.cudnns.iter().map(|row| row.version).collect();
        set(&mut lines, "cudnn", quoted(&library(&known, era.build.cudnn.as_ref(), era, random)));
    }
    if random.percent(8) {
        let known: Vec<Version> = BUILTIN.nccls.iter().map(|row| row.version).collect();
        set(&mut lines, "nccl", quoted(&library(&known, era.build.nccl.as_ref(), era, random)));
    }
    lines
}

/// The constraint of the framework the era is named after.
fn framework(era: &Era, random: &mut Random) -> String {
    let package = &*era.build.package;
    let versions = versions_of(package);
    let home = versions.iter().position(|version| *version == era.build.version).unwrap_or_default();
    let at = if era.strays(random) { random.near(home, REACH, versions.len()) } else { home };
    if !random.percent(28) {
        return constraint(&versions, at, random);
    }
    let variants: Vec<&str> = variants_of(package, &versions[at]);
    let variant = match random.below(10) {
        0 => "cpu",
        1 => random.pick(&["cu118", "cu121", "cu124", "cu126", "cu128", "cu130", "cu102", "cu113"]),
        2 | 3 if era.strays(random) && !variants.is_empty() => random.pick(&variants),
        _ => &era.build.variant,
    };
    match random.below(6) {
        0 | 1 => format!("+{variant}"),
        2 => format!("=={}+{variant}", versions[at]),
        3 => format!("{}+{variant}", versions[at].prefix(2)),
        _ => format!("{}+{variant}", versions[at]),
    }
}

fn variants_of(package: &str, version: &Version) -> Vec<&'static str> {
    let rows = BUILTIN.builds.iter().filter(|row| row.package == package && row.version == *version);
    rows.map(|row: &Build| &*row.variant).collect()
}

/// A constraint that admits one version of a list, and others near it.
pub fn constraint(versions: &[Version], at: usize, random: &mut Random) -> String {
    let version = versions[at];
    let below = versions[random.within(at.saturating_sub(REACH), at)];
    let above = versions[random.within(at, (at + REACH).min(versions.len() - 1))];
    // Bounds of which the version itself is no part.
    let (before, after) = (versions[at.saturating_sub(1)], versions[(at + 1).min(versions.len() - 1)]);
    let other = versions[random.near(at, REACH, versions.len())];
    let minor = version.prefix(2);
    let next = format!("{}.{}", minor.major(), minor.minor() + 1);
    match random.weighted(&[14, 14, 10, 4, 12, 10, 4, 4, 5, 4, 4, 4, 4, 3, 2, 1, 1]) {
        0 => "*".into(),
        1 => version.to_string(),
        2 => minor.to_string(),
        3 => version.prefix(1).to_string(),
        4 => format!(">={below}"),
        5 => format!(">={below},<={above}"),
        6 => format!("<={above}"),
        7 => format!("~={minor}"),
        8 => format!("{version} || {other}"),
        9 => format!("!={other},>={below}"),
        10 => format!("=={version}"),
        11 => format!("{minor}.*"),
        12 => format!(">={minor},<{next}"),
        13 => format!("<={below} || >={version}"),
        14 => format!("<{after}"),
        15 => format!(">{before}"),
        _ => format!("{minor}.{}", 41 + random.below(9)),
    }
}

/// A package that follows the framework: of a release that accepts the era's, unless it strays.
fn companion(era: &Era, random: &mut Random) -> Option<(String, String)> {
    let framework = &era.build.package;
    let accepts = |row: &&Companion| {
        row.framework == *framework
            && row.systems.is_empty() != era.jetson
            && Constraint::parse(&row.needs).is_ok_and(|needs| needs.admits(&era.build.version))
    };
    let mut names: Vec<&str> = BUILTIN.companions.iter().filter(accepts).map(|row| &*row.package).collect();
    names.dedup();
    if names.is_empty() || era.strays(random) && random.percent(25) {
        names = BUILTIN.companions.iter().map(|row| &*row.package).collect();
        names.dedup();
    }
    // What most people ask for beside torch.
    let usual: Vec<&str> = names.iter().copied().filter(|name| name.starts_with("torch")).collect();
    let name = if !usual.is_empty() && random.percent(35) { random.pick(&usual) } else { random.pick(&names) };
    let versions = versions_of(name);
    let fitting: Vec<&Companion> =
        BUILTIN.companions.iter().filter(|row| row.package == name).filter(accepts).collect();
    if fitting.is_empty() {
        let at = random.below(versions.len());
        return Some((name.to_string(), constraint(&versions, at, random)));
    }
    let row = random.pick_late(&fitting);
    let home = versions.iter().position(|version| *version == row.version)?;
    let at = if era.strays(random) { random.near(home, REACH, versions.len()) } else { home };
    let form = match (&row.variant, random.percent(6)) {
        (Some(variant), true) => format!("{}+{variant}", row.version),
        _ if random.percent(35) => "*".to_string(),
        _ => constraint(&versions, at, random),
    };
    Some((name.to_string(), form))
}

fn python(era: &Era, random: &mut Random) -> String {
    let lines: Vec<Version> = BUILTIN.pythons.iter().map(|row| row.version).collect();
    let home = if era.strays(random) { random.pick(&lines) } else { random.pick(&era.build.pythons) };
    let at = lines.iter().position(|line| *line == home).unwrap_or(lines.len() - 1);
    let (below, above) = (lines[at.saturating_sub(1)], lines[(at + 1).min(lines.len() - 1)]);
    match random.below(8) {
        0..=3 => home.to_string(),
        4 => format!(">={below}"),
        5 => format!("<={home}"),
        6 => format!(">={below},<={above}"),
        _ => format!("{home} || {above}"),
    }
}

fn cuda(era: &Era, random: &mut Random) -> String {
    let versions: Vec<Version> = BUILTIN.toolkits.iter().map(|row| row.version).collect();
    let line = era.line.unwrap_or(versions[versions.len() - 1]);
    let first = versions.partition_point(|version| *version < line).min(versions.len() - 1);
    let at = if era.strays(random) { random.near(first, 9, versions.len()) } else { first };
    let version = versions[at];
    match random.below(10) {
        0..=2 => version.major().to_string(),
        3..=5 => version.prefix(2).to_string(),
        6 => version.to_string(),
        7 => format!(">={}", version.prefix(2)),
        8 => format!(">={},<{}", version.prefix(2), version.major() + 1),
        _ => format!("<={}", version.prefix(2)),
    }
}

/// cuDNN or NCCL.
fn library(known: &[Version], held: Option<&Version>, era: &Era, random: &mut Random) -> String {
    let mut versions = known.to_vec();
    versions.sort();
    versions.dedup();
    let home = held.map_or(versions.len() - 1, |held| versions.partition_point(|version| version < held));
    let home = home.min(versions.len() - 1);
    let at = if era.strays(random) { random.near(home, 12, versions.len()) } else { home };
    match random.below(5) {
        0 => "*".into(),
        1 => versions[at].major().to_string(),
        2 => format!(">={}", versions[at].prefix(2)),
        _ => constraint(&versions, at, random),
    }
}

/// The lines of `[build]`; `capabilities` are those of the targets' GPUs.
pub fn build(capabilities: &[String], era: &Era, random: &mut Random) -> Lines {
    let mut lines = Lines::new();
    if random.percent(12) {
        set(&mut lines, "cuda-extensions", random.percent(35).to_string());
    }
    if random.percent(25) {
        set(&mut lines, "ptx", random.percent(85).to_string());
    }
    if random.percent(30) {
        let mut list: Vec<String> = capabilities.to_vec();
        if list.is_empty() || era.strays(random) {
            list = vec![random.pick(&["7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "9.0a", "10.0", "12.0"]).to_string()];
        }
        if random.percent(30) {
            list.push(random.pick(&["6.0", "7.0", "8.0", "8.6", "9.0", "12.0"]).to_string());
        }
        list.sort();
        list.dedup();
        let end = if random.percent(30) { "+PTX" } else { "" };
        let text = format!("{}{end}", list.join(random.pick(&[";", " "])));
        set(&mut lines, "arch-list", quoted(&text));
    }
    lines
}
