//! What is known of the stack for a system that is not solved for, so that a refusal is of use: which builds were
//! published for it, for which Pythons, and the driver that their CUDA needs there.

use crate::catalog::Catalog;
use crate::catalog::rows::{FRAMEWORKS, Family, OtherBuild};
use crate::spec::Written;
use crate::types::variant::line_of;
use crate::types::{Constraint, CpuArch, distinct};

/// A family of systems and a processor.
type Platform = (Family, CpuArch);

/// A sentence or two on each framework asked for; nothing if none is.
pub fn told(catalog: &Catalog, stack: &[(String, Written<Constraint>)], platform: Platform) -> Option<String> {
    let asked = |name: &str| stack.iter().find(|(key, _)| key == name).map(|(_, written)| &written.value);
    let mut says: Vec<String> = Vec::new();
    for framework in FRAMEWORKS {
        let Some(wanted) = asked(framework) else { continue };
        let known: Vec<&OtherBuild> = catalog
            .other_builds
            .iter()
            .filter(|row| row.package == *framework && (row.os, row.arch) == platform)
            .collect();
        match newest(&known, wanted) {
            found if found.is_empty() => says.push(none(framework, wanted, &known, platform)),
            found => {
                says.push(published(&found, wanted, asked("python"), platform, is_whole(catalog, &found, wanted)));
                says.extend(driver(catalog, &found));
            }
        }
    }
    (!says.is_empty()).then(|| says.join(" "))
}

/// The builds that were asked for, of the newest release among them.
fn newest<'c>(known: &[&'c OtherBuild], wanted: &Constraint) -> Vec<&'c OtherBuild> {
    let admitted = |row: &&&OtherBuild| wanted.admits_build(&row.version, &row.variant);
    let version = known.iter().filter(admitted).map(|row| &row.version).max();
    known.iter().filter(admitted).filter(|row| Some(&row.version) == version).copied().collect()
}

/// Whether what is known has every variant that the same release has on Linux, so that none was merely not seen.
fn is_whole(catalog: &Catalog, found: &[&OtherBuild], wanted: &Constraint) -> bool {
    let one = found[0];
    let linux = catalog.builds.of(&one.package).iter().filter(|row| row.version == one.version && row.arch == one.arch);
    let mut asked = linux.filter(|row| wanted.admits_build(&row.version, &row.variant));
    asked.all(|row| found.iter().any(|known| known.variant == row.variant))
}

/// `torch 2.8.0 was published for Windows x86_64 as cpu (the default), cu126, cu128 and cu129, with Python 3.9 to 3.13`
fn published(
    found: &[&OtherBuild],
    wanted: &Constraint,
    python: Option<&Constraint>,
    platform: Platform,
    is_whole: bool,
) -> String {
    let release = format!("{} {}", found[0].package, found[0].version);
    let names: Vec<String> = found
        .iter()
        .map(|row| match row.default && !wanted.pins_variant() {
            true => format!("{} (what the package index serves)", row.variant),
            false => row.variant.to_string(),
        })
        .collect();
    let pythons = distinct(found.iter().flat_map(|row| row.pythons.iter()));
    let has = |wanted: &Constraint| pythons.iter().any(|one| wanted.cut_to(one.len()).admits(one));
    let for_pythons = match (python, pythons.as_slice()) {
        (_, []) => String::new(),
        (Some(wanted), _) if !has(wanted) && found.iter().all(|row| !row.pythons_partial) => {
            format!(", but not for Python {wanted}")
        }
        (_, [only]) => format!(", for Python {only}"),
        (_, [first, .., last]) => format!(", for Python {first} to {last}"),
    };
    let is_so = if is_whole { "was published" } else { "is known so far" };
    format!("{release} {is_so} for {} as {}{for_pythons}.", name(platform), names.join(", "))
}

/// What there is instead of what was asked for.
fn none(framework: &str, wanted: &Constraint, known: &[&OtherBuild], platform: Platform) -> String {
    let same: Vec<&str> = known.iter().filter(|row| wanted.admits(&row.version)).map(|row| &*row.variant).collect();
    let instead = match (same.as_slice(), known.iter().max_by(|one, other| one.version.cmp(&other.version))) {
        ([], Some(last)) => format!("; the newest known is {}", last.version),
        ([], None) => String::new(),
        (variants, _) => {
            let mut variants = variants.to_vec();
            variants.sort_unstable();
            variants.dedup();
            format!("; known are {}", variants.join(", "))
        }
    };
    format!("No {framework} {wanted} for {} is known{instead}.", name(platform))
}

/// The oldest driver of Windows for the CUDA of these builds: what serves the whole major, else the line's own.
fn driver(catalog: &Catalog, found: &[&OtherBuild]) -> Option<String> {
    let floors = found.iter().filter_map(|row| {
        let line = line_of(&row.variant)?;
        let rows = || catalog.windows_drivers.iter();
        let of_major = rows().find(|row| row.cuda.len() == 1 && line.cmp_prefix(&row.cuda).is_eq());
        let of_line = || rows().filter(|row| row.cuda.cmp_prefix(&line).is_eq()).min_by_key(|row| &row.driver);
        let floor = of_major.or_else(of_line)?.driver.to_string();
        Some((line, floor))
    });
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for (line, floor) in floors {
        match told.iter_mut().find(|(known, _)| *known == floor) {
            Some((_, lines)) => lines.push(line.to_string()),
            None => told.push((floor, vec![line.to_string()])),
        }
    }
    let each = told.iter().map(|(floor, lines)| format!(">={floor} for CUDA {}", lines.join(", ")));
    (!told.is_empty()).then(|| format!("Windows needs driver {}.", each.collect::<Vec<_>>().join("; ")))
}

fn name((os, arch): Platform) -> String {
    match os {
        Family::Linux => format!("Linux {arch}"),
        Family::Windows => format!("Windows {arch}"),
    }
}

#[cfg(test)]
mod tests;
