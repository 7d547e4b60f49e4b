//! What changes from one lock to another, and for whom: the drivers that hosts need come first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{ConstraintLock, DriverLock, Lock, TargetLock, Wheel};

/// One choice that two locks make differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The target it is about; null = all of them alike.
    pub target: Option<String>,
    /// `driver`, `image`, the name of a package.
    pub part: String,
    /// Null where the first lock has none.
    pub from: Option<String>,
    /// Null where the second has none.
    pub to: Option<String>,
}

/// A part, and its choices in both locks.
type Change = (String, Option<String>, Option<String>);

/// Every choice that two locks make differently: drivers, then targets that came or went, then the rest by name. What
/// changes for all targets alike is told once.
pub fn diff(old: &Lock, new: &Lock) -> Vec<Difference> {
    let names: BTreeSet<&String> = old.target.keys().chain(new.target.keys()).collect();
    let (old, new) = (Installed::of(old), Installed::of(new));
    let mut by_change: BTreeMap<Change, Vec<&String>> = BTreeMap::new();
    for &name in &names {
        let (before, after) = (choices(&old, name), choices(&new, name));
        let of_wheels = of_wheels(&old, &new, name);
        let parts: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let chosen = parts.into_iter().map(|part| (part.clone(), before.get(part).cloned(), after.get(part).cloned()));
        for (part, from, to) in chosen.chain(of_wheels).filter(|(_, from, to)| from != to) {
            by_change.entry((part, from, to)).or_default().push(name);
        }
    }
    let mut differences: Vec<Difference> = Vec::new();
    for ((part, from, to), targets) in by_change {
        let all = targets.len() == names.len() && names.len() > 1;
        let told: Vec<Option<String>> = if all { vec![None] } else { targets.into_iter().cloned().map(Some).collect() };
        let each = told.into_iter().map(|target| Difference {
            target,
            part: part.clone(),
            from: from.clone(),
            to: to.clone(),
        });
        differences.extend(each);
    }
    differences.sort_unstable_by(|one, other| {
        let key = |it: &Difference| (it.part != DRIVER, it.part != TARGET, it.target.clone(), it.part.clone());
        key(one).cmp(&key(other))
    });
    differences
}

const DRIVER: &str = "driver";
const TARGET: &str = "target";

/// A lock, and what it installs by the targets that it is for.
struct Installed<'l> {
    lock: &'l Lock,
    wheels: HashMap<&'l str, Vec<&'l Wheel>>,
    constraints: HashMap<&'l str, Vec<&'l ConstraintLock>>,
}

impl<'l> Installed<'l> {
    fn of(lock: &'l Lock) -> Self {
        Installed {
            lock,
            wheels: by_target(&lock.wheel, |wheel| &wheel.targets),
            constraints: by_target(&lock.constraint, |one| &one.targets),
        }
    }

    fn wheels(&self, target: &str) -> impl Iterator<Item = &'l Wheel> {
        self.wheels.get(target).into_iter().flatten().copied()
    }
}

fn by_target<T>(rows: &[T], targets: impl Fn(&T) -> &[String]) -> HashMap<&str, Vec<&T>> {
    let mut by_target: HashMap<&str, Vec<&T>> = HashMap::new();
    for row in rows {
        targets(row).iter().for_each(|target| by_target.entry(target).or_default().push(row));
    }
    by_target
}

/// Everything a lock chose for a target; nothing if it has no such target.
fn choices(installed: &Installed<'_>, name: &str) -> BTreeMap<String, String> {
    let lock = installed.lock;
    let Some(target) = lock.target.get(name) else { return BTreeMap::new() };
    let mut choices: BTreeMap<String, String> = lock.stack_of(target).clone();
    let TargetLock { runtime, arch, platform, os, image, runtime_image, toolkit, driver, requires, asks, .. } = target;
    let mut put = |part: &str, value: Option<String>| {
        choices.extend(value.map(|value| (part.to_string(), value)));
    };
    put(TARGET, Some(format!("{runtime}, {arch}")));
    put("platform", platform.clone());
    put("os", os.clone());
    put("image", image.clone());
    put("runtime-image", runtime_image.clone());
    put("toolkit", toolkit.clone());
    put(DRIVER, driver.as_ref().map(needed));
    put("recommended", driver.as_ref().and_then(recommended));
    put("requires", (!requires.is_empty()).then(|| requires.join(", ")));
    put("asks for", (!asks.is_empty()).then(|| asks.join(", ")));
    let reached = target.gpu.iter().map(|gpu| match gpu.coverage.as_deref() {
        Some(coverage) => format!("{} ({coverage})", gpu.name),
        None => gpu.name.clone(),
    });
    let gpus: Vec<String> = reached.collect();
    put("gpu", (!gpus.is_empty()).then(|| gpus.join(", ")));
    let list = target.arch_list.as_ref().or(lock.arch_list.as_ref());
    put("arch-list", list.map(|list| list.torch.clone()));
    for (package, asked) in lock.packages() {
        put(&format!("packages.{package}"), Some(asked.to_string()));
    }
    for one in lock.overrides.iter().filter(|one| one.target.as_deref().is_none_or(|of| of == name)) {
        put(&format!("override.{}", one.rule), Some(one.reason.clone()));
    }
    // What comes along is chosen, too, though nobody asked for it.
    for wheel in installed.wheels(name) {
        choices.entry(wheel.package.clone()).or_insert_with(|| wheel.version.clone());
    }
    for one in installed.constraints.get(name).into_iter().flatten() {
        choices.entry(one.package.clone()).or_insert_with(|| format!("{} (where a package asks for it)", one.version));
    }
    choices
}

/// `>=535.54.03 or >=550.54.14 (forward-compat, cuda-compat-12-6)`
fn needed(driver: &DriverLock) -> String {
    let compat = driver.compat.as_ref().map_or_else(String::new, |package| format!(", {package}"));
    let others: String = driver.others.iter().map(|other| format!(" or >={other}")).collect();
    format!("{}{others} ({}{compat})", driver.stated(), driver.mode)
}

/// `595.99.02 (open modules)`
fn recommended(driver: &DriverLock) -> Option<String> {
    let one = driver.recommended.as_ref()?;
    let modules = one.modules.as_ref().map_or_else(String::new, |modules| format!(" ({modules} modules)"));
    Some(format!("{}{modules}", one.release))
}

/// What differs between wheels of one version: which file it is, what it brings and asks for, and how it is built.
fn of_wheels(old: &Installed<'_>, new: &Installed<'_>, target: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    let of_new: HashMap<_, &Wheel> =
        new.wheels(target).map(|wheel| ((&wheel.package, &wheel.version), wheel)).collect();
    for before in old.wheels(target) {
        let Some(after) = of_new.get(&(&before.package, &before.version)) else { continue };
        for (part, tells) in TOLD_OF_WHEELS {
            let [from, to] = [before, after].map(|wheel| Some(tells(wheel)).filter(|text| !text.is_empty()));
            changes.push((format!("{} {part}", before.package), from, to));
        }
    }
    changes
}

/// A part of a wheel, and what is told of it.
type OfWheel = (&'static str, fn(&Wheel) -> String);

const TOLD_OF_WHEELS: [OfWheel; 5] = [
    ("file", |wheel| {
        let place = wheel.url.as_ref().or(wheel.index.as_ref()).map_or("the package index", String::as_str);
        let hashes: Vec<String> =
            wheel.sha256.split(' ').map(|hash| hash.chars().take(16).collect::<String>()).collect();
        format!("{place}, sha256 {}", hashes.join(" or "))
    }),
    ("libraries", |wheel| wheel.libraries.join(", ")),
    ("asks for", |wheel| {
        let extra = wheel.extra.iter().map(|extra| format!("[{extra}]"));
        let python = wheel.python.iter().map(|python| format!("Python {python} or newer"));
        extra.chain(python).chain(wheel.asks.iter().cloned()).collect::<Vec<_>>().join(", ")
    }),
    ("requires", |wheel| wheel.requires.iter().flatten().cloned().collect::<Vec<_>>().join(", ")),
    ("build", |wheel| {
        let flags = [("from source", wheel.sdist), ("with CUDA of the system", wheel.system_cuda)];
        let flags = flags.into_iter().filter(|(_, is_so)| *is_so).map(|(flag, _)| flag.to_string());
        let settings = [&wheel.unisolated, &wheel.switch, &wheel.archs].into_iter().flatten().cloned();
        flags.chain(settings).chain(wheel.tools.iter().cloned()).collect::<Vec<_>>().join(", ")
    }),
];
