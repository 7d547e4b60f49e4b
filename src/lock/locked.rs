//! An earlier lock's choices as the solver takes them: what it tries first.

use std::collections::HashMap;

use crate::catalog::rows::FRAMEWORKS;
use crate::solve::compile::Locked;
use crate::spec::Share;

use super::{Lock, Stack, TargetLock};

/// What may change although it is locked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Upgrade {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything.
    All,
    /// These packages.
    Packages(Vec<String>),
}

impl Upgrade {
    fn frees(&self, name: &str) -> bool {
        match self {
            Upgrade::Nothing => false,
            Upgrade::All => true,
            Upgrade::Packages(packages) => packages.iter().any(|package| package == name),
        }
    }
}

/// Behind the name of a framework, the key of its build.
pub(super) const VARIANT: &str = ".variant";

/// The choices to keep for these targets. Drivers are never kept: the oldest that suffices is found anew.
pub fn locked(lock: &Lock, share: Share, targets: &[&str], upgrade: &Upgrade) -> Locked {
    let mut choices = Choices { share, upgrade, kept: HashMap::new() };
    for name in targets {
        if let Some(target) = lock.target.get(*name) {
            choices.stack(name, lock.stack_of(target));
            choices.place(name, target);
        }
    }
    choices.kept.into_iter().filter_map(|(key, label)| Some((key, label?))).collect()
}

struct Choices<'a> {
    share: Share,
    upgrade: &'a Upgrade,
    /// None where targets disagree about a choice that the solver makes once.
    kept: HashMap<String, Option<String>>,
}

impl Choices<'_> {
    fn keep(&mut self, key: String, label: &str) {
        let kept = self.kept.entry(key).or_insert_with(|| Some(label.to_string()));
        if kept.as_deref() != Some(label) {
            *kept = None;
        }
    }

    fn stack(&mut self, target: &str, stack: &Stack) {
        for (name, version) in stack.iter().filter(|(name, _)| !self.upgrade.frees(name)) {
            match version.split_once('+').filter(|_| FRAMEWORKS.contains(&name.as_str())) {
                None => self.keep(name.clone(), version),
                // A build is kept with its release: of another one the build is chosen anew.
                Some((release, _)) => {
                    self.keep(name.clone(), release);
                    match self.share {
                        Share::Versions => self.keep(format!("{name}{VARIANT}.{target}"), version),
                        Share::Stack | Share::None => self.keep(format!("{name}{VARIANT}"), version),
                    }
                }
            }
        }
    }

    fn place(&mut self, name: &str, target: &TargetLock) {
        if *self.upgrade == Upgrade::All || self.upgrade.frees("cuda") {
            return;
        }
        if let Some(toolkit) = &target.toolkit {
            self.keep(format!("target.{name}.toolkit"), toolkit);
        }
        if let Some((_, tag)) = target.image.as_ref().and_then(|image| image.rsplit_once(':')) {
            self.keep(format!("target.{name}.image"), tag);
        }
    }
}
