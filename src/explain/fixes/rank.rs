//! Which fixes are offered, and in which order.

use super::super::{Change, Fix};
use super::Finder;
use crate::catalog::rows::FRAMEWORKS;
use crate::explain::target_of;
use crate::spec::{Runtime, Spec};
use crate::types::constraint::Op;
use crate::types::name::STACK_PARTS;
use crate::types::{Constraint, Version, distinct, sort_by_key, variant};

/// How many fixes are offered.
const OFFERED: usize = 7;
/// How many fixes of the same keys.
const ALIKE: usize = 3;

impl Finder<'_, '_> {
    /// What is known to fail on a GPU last, and what otherwise fails as it is where another does not; then fewer changes first,
    /// then those that are easier to make.
    pub(super) fn best(mut self) -> Vec<Fix> {
        let spec = self.spec;
        // What fails as it is does not serve yet, the less the more of it fails, nor does a machine that has to be installed anew.
        let codes_of = |fix: &Fix| distinct(fix.failing.iter().map(|(code, _)| *code)).len();
        let serves_later = |fix: &Fix| codes_of(fix) + usize::from(replaces_system(spec, fix));
        // What stays as it is fails with or without a change.
        let has = |fix: &Fix, code: &str| fix.failing.iter().any(|(of, _)| *of == code);
        let codes = self.found.iter().flat_map(|fix| &fix.failing).map(|(code, _)| *code);
        let apart: Vec<&str> = codes.filter(|code| !self.found.iter().all(|fix| has(fix, code))).collect();
        let brings = |fix: &Fix| fix.is_of_build && apart.iter().any(|code| has(fix, code));
        let is_brought = self.found.iter().any(brings);
        // Nor is a machine that is installed anew better than what fails.
        let fails = |fix: &Fix| fix.fails_on_gpu || brings(fix) || is_brought && replaces_system(spec, fix);
        let is_toolkit = |fix: &Fix| matches!(&fix.changes[..], [only] if only.key.ends_with(".toolkit"));
        let has_toolkit = self.found.iter().any(is_toolkit);
        self.found.sort_by_key(|fix| {
            (
                fails(fix),
                fix.changes.len(),
                serves_later(fix),
                fix.changes.iter().map(|change| effort(change, has_toolkit)).max(),
                fix.changes.iter().map(|change| change.key.clone()).collect::<Vec<_>>(),
                // Of the same keys a stable build comes first, wherever the experimental one lies.
                fix.experimental,
            )
        });
        let nearer = |fix: &Fix| self.found.iter().any(|other| self.is_nearer(other, fix));
        let found: Vec<Fix> = self.found.iter().filter(|fix| !nearer(fix)).cloned().collect();
        let keys = |fix: &Fix| fix.changes.iter().map(|change| change.key.clone()).collect::<Vec<_>>();
        // One of each kind comes before the second of any: who cannot change a wheel may change a machine.
        let mut seen: Vec<Vec<String>> = Vec::new();
        let mut ranked: Vec<(usize, Fix)> = Vec::new();
        for fix in found {
            seen.push(keys(&fix));
            let alike = seen.iter().filter(|known| **known == keys(&fix)).count();
            ranked.push((alike, fix));
        }
        ranked.retain(|(alike, _)| *alike <= ALIKE);
        // Another system on the machine itself comes after what changes more of the file, where no other single line would do.
        let one_line = |(_, fix): &(usize, Fix)| {
            let keeps_boards = !matches!(GivesUp::of(fix), GivesUp::SomeBoards | GivesUp::Board);
            fix.changes.len() == 1 && keeps_boards && !replaces_system(spec, fix)
        };
        let has_one_line = ranked.iter().any(one_line);
        sort_by_key(&mut ranked, |(alike, fix)| {
            let system = !has_one_line && replaces_system(spec, fix);
            (GivesUp::of(fix), system, fails(fix), fix.changes.len(), serves_later(fix), *alike)
        });
        ranked.into_iter().map(|(_, fix)| fix).take(OFFERED).collect()
    }

    /// Whether a fix stays at the version written and takes the variant that another takes of another version; or stays at
    /// the CUDA major too, where another falls back to an older one and what is written was never published.
    fn is_nearer(&self, fix: &Fix, than: &Fix) -> bool {
        let ([one], [other]) = (fix.changes.as_slice(), than.changes.as_slice()) else { return false };
        let parts = |text: &Option<String>| {
            let (version, variant) = text.as_deref()?.split_once('+')?;
            Some((version.to_string(), variant.to_string()))
        };
        let (Some(from), Some(near), Some(far)) = (parts(&one.from), parts(&one.to), parts(&other.to)) else {
            return false;
        };
        let major = |variant: &str| variant::line_of(variant).map(|line| line.major());
        let falls_back = || {
            let is_older = major(&far.1).zip(major(&from.1)).is_some_and(|(far, from)| far < from);
            let written = one.from.as_deref().and_then(|from| Constraint::parse(from).ok());
            let package = one.key.strip_prefix("stack.").unwrap_or_default();
            is_older && major(&near.1) == major(&from.1) && !written.is_some_and(|of| self.is_published(package, &of))
        };
        one.key == other.key && near.0 == from.0 && far.0 != from.0 && (near.1 == far.1 || falls_back())
    }

    /// Whether a build that is written of a package is one that is known.
    pub(super) fn is_published(&self, package: &str, written: &Constraint) -> bool {
        let mut builds = self.asker.catalog.builds.of(package).iter();
        builds.any(|row| !row.is_in_image() && written.admits_build(&row.version, &row.variant))
    }
}

/// What of that which was written a fix gives up: another board comes last, whatever else must change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GivesUp {
    /// Neither boards nor all that was asked for.
    Nothing,
    /// Some of several boards.
    SomeBoards,
    /// The packages that were asked for, and it does no more.
    Packages,
    /// The board.
    Board,
}

impl GivesUp {
    fn of(fix: &Fix) -> Self {
        match fix.changes.iter().find(|change| change.key.ends_with(".gpu")) {
            Some(gpu) if is_fewer(gpu) => GivesUp::SomeBoards,
            Some(_) => GivesUp::Board,
            None if fix.changes.iter().all(is_removed) => GivesUp::Packages,
            None => GivesUp::Nothing,
        }
    }
}

/// Whether a change takes a package out of the stack.
fn is_removed(change: &Change) -> bool {
    let package = change.key.strip_prefix("stack.").filter(|name| !STACK_PARTS.contains(name));
    package.is_some() && change.to.is_none()
}

/// Whether a change leaves out some of several boards.
fn is_fewer(change: &Change) -> bool {
    let (from, to) = (change.from.as_deref().unwrap_or_default(), change.to.as_deref().unwrap_or_default());
    from.starts_with('[') && (to.starts_with('[') || from.contains(&format!("\"{to}\"")))
}

/// Whether a fix installs another system on a machine.
fn replaces_system(spec: &Spec, fix: &Fix) -> bool {
    let is_system = |key: &str| key.ends_with(".os") || key.ends_with(".glibc");
    let is_machine = |key: &str| spec.target(target_of(key)).is_some_and(|on| on.runtime() == Runtime::BareMetal);
    fix.changes.iter().any(|change| is_system(&change.key) && is_machine(&change.key))
}

/// How hard a change is to make: another wheel is a line, another machine is not. `has_toolkit`: another toolkit alone would do.
fn effort(change: &Change, has_toolkit: bool) -> u8 {
    let same_version = |from: &str, to: &str| variant::public(from) == variant::public(to);
    match change.key.rsplit('.').next().unwrap_or("") {
        // What was built for a framework follows the framework, not the other way round.
        package if change.key.starts_with("stack.") => match (&change.from, &change.to) {
            // Doing without is the last thing that anybody wants.
            (_, None) => 8,
            (Some(from), Some(to)) if same_version(from, to) => 0,
            // Who asks for a release does not mean a snapshot before one.
            (Some(_), Some(to)) if is_prerelease(to) => 4,
            // Years back is further than a newer driver.
            (Some(from), Some(to)) if FRAMEWORKS.contains(&package) && far_below(from, to) => 7,
            // Another CUDA beside the one that is there is less than years of releases.
            (Some(from), Some(to)) if has_toolkit && FRAMEWORKS.contains(&package) && far_below(to, from) => 4,
            // Who writes which release is the least needs that one.
            (Some(from), Some(to)) if is_below(from, to) => 3,
            _ if FRAMEWORKS.contains(&package) => 2,
            _ => 1,
        },
        "arch-list" => 2,
        // A second compiler is installed beside the first, as a package.
        "gcc" if change.from.is_none() => 1,
        "clang" | "compat" | "cudnn" => 2,
        // Without the image the target is another one.
        "image" if change.to.is_none() => 7,
        "image" | "toolkit" | "kernel-module" => 3,
        "forward-compat" => 4,
        "share" => 5,
        "driver" | "driver-cuda" => 6,
        "gcc" => 7,
        "gpu" => 9,
        _ => 8,
    }
}

/// Whether a version precedes its release, as those in NVIDIA's images do.
fn is_prerelease(text: &str) -> bool {
    Version::parse(variant::public(text)).is_ok_and(|version| version.is_prerelease())
}

/// Whether a version lies below a bound that was written.
fn is_below(from: &str, to: &str) -> bool {
    let version = Version::parse(variant::public(to)).ok();
    let bounds = Constraint::parse(from).ok();
    let mut bounds =
        bounds.iter().flat_map(Constraint::comparisons).filter(|one| matches!(one.op, Op::AtLeast | Op::Above));
    bounds.any(|one| version.zip(one.version).is_some_and(|(version, bound)| version < bound))
}

/// Minor releases that make up about a year.
const YEAR: u64 = 6;

/// Whether a version lies at least a year before every one that was wished for by number.
fn far_below(from: &str, to: &str) -> bool {
    let named = |text: &str| Constraint::parse(text).ok()?.comparisons().filter_map(|one| one.version).max();
    named(from).zip(named(to)).is_some_and(|(from, to)| {
        to.major() < from.major() || to.major() == from.major() && to.minor() + YEAR <= from.minor()
    })
}
