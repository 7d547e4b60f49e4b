//! Dependencies that somebody wrote into a pyproject.toml and that the locked releases do not meet: both in one list have no
//! answer, and uv would say so only later, and of all of them.

use crate::types::marker::{self, Known};
use crate::types::{CpuArch, Specifier, Version, name};

/// A dependency that somebody wrote and a locked one that it excludes. Where the lock has several of a package, for several
/// targets, all of them have to be excluded.
pub fn find(written: &[String], locked: &[String]) -> Option<(String, String)> {
    // What holds under a marker is another matter, which uv judges.
    for one in written.iter().filter(|one| !one.contains(';')) {
        let Some((package, asked)) = requirement(one) else { continue };
        let of_package: Vec<(&String, Version)> = locked
            .iter()
            .filter_map(|locked| Some((locked, requirement(locked)?)))
            .filter(|(_, (name, _))| *name == package)
            .filter_map(|(locked, (_, pin))| Some((locked, pinned(&pin)?)))
            .collect();
        let Some(admitted) = asked.range() else { continue };
        if of_package.iter().all(|(_, version)| !admitted.admits(version))
            && let Some((locked, _)) = of_package.first()
        {
            return Some((one.clone(), (*locked).clone()));
        }
    }
    None
}

/// A dependency on an address that somebody wrote of a locked package, unless the lock has it from there.
pub fn addressed<'w>(written: &'w [String], locked: &[String]) -> Option<&'w String> {
    let read = |text: &str| -> Option<(String, Option<String>)> {
        let words: String = text.split(" ;").next()?.split_whitespace().collect();
        let name: String = words.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
        let address = words.split_once('@').filter(|(before, _)| !before.contains(['=', '<', '>']));
        Some((name::package(&name), address.map(|(_, address)| address.to_string())))
    };
    let locked: Vec<_> = locked.iter().filter_map(|one| read(one)).collect();
    // The address ends at a blank: what holds under a marker is uv's to judge.
    written.iter().filter(|one| !one.contains(" ;")).find(|one| {
        let Some((name, Some(address))) = read(one) else { return false };
        let of_it = || locked.iter().filter(|(package, _)| *package == name);
        of_it().count() > 0 && of_it().all(|(_, own)| own.as_ref() != Some(&address))
    })
}

/// Whether an override would take another release than the one that is locked, or might.
pub fn replaces(one: &str, locked: &[String]) -> bool {
    let Some((package, asked)) = requirement(one) else { return false };
    let own = pinned(&asked);
    let pins = locked.iter().filter_map(|locked| requirement(locked)).filter(|(name, _)| *name == package);
    pins.filter_map(|(_, pin)| pinned(&pin)).any(|version| own != Some(version))
}

/// The same of what the pins bring along, where the CUDA of a library is a part of its name: `nvidia-cudnn-cu12`.
pub fn replaces_brought(one: &str, brought: &[String]) -> bool {
    let Some((package, asked)) = requirement(one) else { return false };
    let name = package.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix("-cu").unwrap_or(&package);
    let own = asked.comparisons.first().map_or_else(|| name.to_string(), |only| format!("{name}{only}"));
    replaces(&own, brought)
}

/// The packages of which one release is locked.
pub fn pinned_names(locked: &[String]) -> Vec<String> {
    let requirements = locked.iter().filter_map(|locked| requirement(locked));
    requirements.filter(|(_, pin)| pinned(pin).is_some()).map(|(name, _)| name).collect()
}

/// The packages that requirements name, but for those with an address.
pub fn names(written: &[String]) -> Vec<String> {
    written.iter().filter_map(|one| Some(requirement(one)?.0)).collect()
}

/// Whether a `requires-python` leaves out every Python that another one admits.
pub fn python(written: &str, locked: &str) -> bool {
    let words = |text: &str| -> String { text.split_whitespace().collect() };
    let read = |text: &str| Specifier::parse(&words(text)).ok();
    // 3.12 is 3.12.0 there, and nobody has that one.
    let meant = |asked: Specifier| Specifier {
        comparisons: asked.comparisons.into_iter().map(|one| line_before(&one).unwrap_or(one)).collect(),
        ..asked
    };
    read(written).map(meant).zip(read(locked)).is_some_and(|(written, locked)| written.excludes(&locked))
}

/// `<3.12` for `<=3.12`.
fn line_before(comparison: &str) -> Option<String> {
    let line = comparison.strip_prefix("<=").filter(|line| line.matches('.').count() == 1)?;
    Some(format!("<{line}"))
}

/// Whether the marker of a requirement may hold on one of some platforms, which are markers themselves.
pub fn may_hold(one: &str, platforms: &[String]) -> bool {
    let Some((_, marker)) = one.split_once(';') else { return true };
    let is_named = |arch: &CpuArch| platforms.iter().any(|platform| platform.contains(arch.as_str()));
    let mut named = [CpuArch::X86_64, CpuArch::Aarch64].into_iter().filter(is_named).peekable();
    let holds = |arch| marker::on(marker, &Known { arch, ..Known::default() }) != Some(false);
    if named.peek().is_none() { holds(None) } else { named.any(|arch| holds(Some(arch))) }
}

/// The package and what is asked of it, whatever the marker; none of an address.
fn requirement(text: &str) -> Option<(String, Specifier)> {
    let words: String = text.split(';').next()?.split_whitespace().collect();
    let (package, asked) = Specifier::split(&words)?;
    Some((name::package(package), asked))
}

/// The release of `==2.5.1+cu124`.
fn pinned(pin: &Specifier) -> Option<Version> {
    let [only] = pin.comparisons.as_slice() else { return None };
    Version::parse(only.strip_prefix("==")?.split('+').next()?).ok()
}

#[cfg(test)]
mod tests;
