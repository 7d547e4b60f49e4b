//! What `gpuenv lock` did: one line about the lock, then what is chosen differently from before.

use std::collections::BTreeMap;

use crate::lock::Lock;

use super::Fate;
use super::screen::{Screen, clean};

/// Longer tables are cut: a first lock of many machines is read in the file.
const ROWS: usize = 40;

/// The report.
pub(super) fn render(screen: &Screen, lock: &Lock, old: Option<&Lock>, fate: Fate) -> String {
    let targets = match lock.target.len() {
        1 => "1 target".to_string(),
        count => format!("{count} targets"),
    };
    let catalog = clean(&lock.catalog.version);
    let mut text = match fate {
        Fate::Current => format!("gpuenv.lock is current: {targets}, catalog {catalog}\n"),
        Fate::Same => format!("locked {targets} with catalog {catalog}; nothing changed\n"),
        Fate::Planned => format!("would lock {targets} with catalog {catalog}; gpuenv.lock was not written\n"),
        Fate::Written => format!("locked {targets} with catalog {catalog}\n"),
    };
    let before = old.map(|old| choices(old, Some(lock))).unwrap_or_default();
    let after = choices(lock, old);
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| before.get(*key) != after.get(*key));
    let wide = keys.iter().map(|key| key.chars().count()).max().unwrap_or(0);
    for key in keys.iter().take(ROWS) {
        let shown = clean(key);
        let change = match (before.get(*key), after.get(*key)) {
            (Some(old), Some(new)) => screen.change(old, new),
            (None, Some(new)) => screen.after(&clean(new)),
            (Some(old), None) => screen.change(old, "(gone)"),
            (None, None) => String::new(),
        };
        text += &format!("  {shown:wide$}  {change}\n");
    }
    if let Some(more) = keys.len().checked_sub(ROWS).filter(|more| *more > 0) {
        text += &format!("  and {more} more\n");
    }
    text
}

/// Every choice of a lock under the name a reader knows it by, but for targets that are the same in the other.
fn choices(lock: &Lock, other: Option<&Lock>) -> BTreeMap<String, String> {
    let comparable = other.filter(|other| other.stack == lock.stack);
    let same = |name: &str, target| comparable.is_some_and(|other| other.target.get(name) == Some(target));

    let mut choices: BTreeMap<String, String> = lock.stack.clone();
    let mut put = |key: String, value: Option<&String>| {
        choices.extend(value.map(|value| (key, value.clone())));
    };
    put("arch-list".into(), lock.arch_list.as_ref().map(|list| &list.torch));
    for (name, target) in lock.target.iter().filter(|(name, target)| !same(name, target)) {
        put(format!("{name}: image"), target.image.as_ref());
        put(format!("{name}: runtime-image"), target.runtime_image.as_ref());
        put(format!("{name}: toolkit"), target.toolkit.as_ref());
        let driver = target.driver.as_ref();
        let driver = driver.map(|driver| format!(">={} ({})", driver.minimum, driver.mode));
        put(format!("{name}: driver"), driver.as_ref());
        let recommended = target.driver.as_ref().and_then(|driver| driver.recommended.as_ref());
        let recommended = recommended.map(|one| {
            let until = one.until.as_ref().map_or_else(String::new, |end| format!(", supported until {end}"));
            format!("driver {} (R{}{until})", one.release, one.branch)
        });
        put(format!("{name}: recommended"), recommended.as_ref());
        put(format!("{name}: arch-list"), target.arch_list.as_ref().map(|list| &list.torch));
        for (package, version) in target.stack.iter().flatten() {
            if lock.stack.get(package) != Some(version) {
                put(format!("{name}: {package}"), Some(version));
            }
        }
    }
    choices
}
