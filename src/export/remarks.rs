//! What a format does not say although the lock asks for it.

use crate::lock::{Lock, Wheel};

use super::format::{Format, Options, Targets, choose};
use super::{ordinary, own, wheels};

impl Format {
    /// What the text does not hold although the lock asks for it, in sentences.
    pub fn remarks(&self, lock: &Lock, options: &Options) -> Vec<String> {
        let Ok(chosen) = choose(lock, options) else { return Vec::new() };
        let own = own::left_out(lock, &chosen, self.name);
        let ordinary = ordinary::left_out(lock, &chosen, self.name, options);
        [own, ordinary, not_isolated(lock, &chosen, self.name)].into_iter().flatten().collect()
    }
}

/// What formats without a place for it say of packages that are compiled beside an installed framework.
fn not_isolated(lock: &Lock, targets: &Targets, format: &str) -> Option<String> {
    if !["conda", "pixi", "github-actions"].contains(&format) {
        return None;
    }
    let of_all: Vec<&Wheel> = targets.iter().flat_map(|(name, _)| lock.wheels_of(name)).collect();
    let (packages, tools) = wheels::unisolated(&of_all).ok()?;
    let tools = if tools.is_empty() { String::new() } else { format!(", after {}", tools.join(", ")) };
    (!packages.is_empty()).then(|| {
        format!(
            "{} must be compiled beside the installed framework, which this format cannot say: install it afterwards with `pip \
             install --no-build-isolation`{tools}",
            packages.join(", ")
        )
    })
}
