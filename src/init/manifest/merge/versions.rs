//! Versions as pip means them, in the words of `[stack]`.

use super::{Found, Manifest, Wanted, is_variant};
use crate::catalog::Catalog;
use crate::catalog::rows::FRAMEWORKS;
use crate::init::releases;
use crate::spec;
use crate::types::{Constraint, Version, variant};

/// What `[stack]` says for `==2.8.3`, where that is a release by itself, and so is 2.8.3.post1 or 2.8.3.1; none where a plain
/// number says it.
pub fn alone(catalog: &Catalog, name: &str, version: &str) -> Option<String> {
    let release = Version::parse(version).ok()?;
    let known = known_releases(name, catalog);
    let is_one = release.len() > 2 && known.contains(&release);
    as_spec(name, version, &known).filter(|said| is_one && said.contains(','))
}

/// The line of Python, where it is known; else all of the catalog that the files take.
pub(super) fn pythons(catalog: &Catalog, files: &[(&Manifest, Found)], known: Option<Version>) -> Vec<Version> {
    let asked = files.iter().flat_map(|(_, found)| &found.wanted);
    let asked = asked.filter(|wanted| wanted.name == "python" && wanted.group.is_none() && wanted.marker.is_none());
    let asked: Vec<Constraint> = asked.filter_map(|wanted| constraint("python", wanted, None, &[])).collect();
    let lines = catalog.pythons.iter().map(|row| row.version);
    let mut all: Vec<Version> = lines.filter(|line| asked.iter().all(|asked| asked.admits(line))).collect();
    all.sort_unstable();
    known.map_or(all, |known| vec![known])
}

/// The releases of a package that the catalog knows.
pub(super) fn known_releases(name: &str, catalog: &Catalog) -> Vec<Version> {
    releases(catalog, name).copied().collect()
}

/// What `[stack]` says of a requirement; none if it cannot.
pub(super) fn constraint(
    name: &str,
    wanted: &Wanted,
    variant: Option<String>,
    known: &[Version],
) -> Option<Constraint> {
    let is_framework = FRAMEWORKS.contains(&name);
    let version = wanted.version.trim_start_matches("===");
    // What stands behind `+` in the version of a companion tells of its framework.
    let (version, label) = variant::parts(version);
    let of_extra = wanted.extras.iter().find_map(|extra| extra_variant(extra)).filter(|_| name == "jax");
    let variant =
        label.map(str::to_string).filter(|label| is_variant(label)).or(variant).or(of_extra).filter(|_| is_framework);
    let said = as_spec(name, version, known)?;
    let plain = if said.is_empty() { "*" } else { said.as_str() };
    // Patch releases of Python are all alike to wheels.
    let minor = plain.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let is_plain = plain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let plain = if name == "python" && is_plain { minor.as_str() } else { plain };
    let read = Constraint::parse(plain).ok().or_else(|| Constraint::parse(&spec::meant(name, plain)?).ok())?;
    match variant {
        Some(variant) => with_variant(&read, &variant),
        None => Some(read),
    }
}

/// The same in a variant.
pub(super) fn with_variant(asked: &Constraint, variant: &str) -> Option<Constraint> {
    let text = asked.as_str();
    let is_bare = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains([',', '|', '*']);
    Constraint::parse(&match is_bare {
        true => format!("{text}+{variant}"),
        false if asked.is_any() => format!("+{variant}"),
        false => format!("{text},+{variant}"),
    })
    .ok()
}

/// Versions as pip means them, in the words of gpuenv.toml. There `2.4` is every 2.4.x, and an operator compares only
/// what is written; for pip `==2.4` is 2.4.0 alone, and neither 2.4.0.post1 nor 2.4.0.1. None where that cannot be said.
pub(super) fn as_spec(name: &str, version: &str, known: &[Version]) -> Option<String> {
    let mut said = Vec::new();
    for alternative in version.split("||") {
        let parts: Option<Vec<String>> = alternative.split(',').map(|part| comparison(name, part, known)).collect();
        said.push(parts?.join(","));
    }
    Some(said.join("||"))
}

/// One comparison of [`as_spec`].
fn comparison(name: &str, part: &str, known: &[Version]) -> Option<String> {
    let part = part.trim();
    let number = part.trim_start_matches(['=', '!', '<', '>', '~', '^']);
    let (sign, number) = (&part[..part.len() - number.len()], number.trim());
    let sign = if sign.starts_with("==") { "" } else { sign };
    if let Some(prefix) = number.strip_suffix(".*") {
        return Some(format!("{sign}{prefix}"));
    }
    // Patch releases of Python are all alike to wheels, and the line of CUDA has none.
    if ["python", "cuda"].contains(&name) {
        let sign = match (name, sign) {
            ("python", ">") => ">=",
            // 3.12 is 3.12.0 there, and nobody has that one: the lines before it are meant.
            ("python", "<=") if number.matches('.').count() == 1 => "<",
            _ => sign,
        };
        return Some(format!("{sign}{number}"));
    }
    if !matches!(sign, "" | "!=" | ">" | "<=") || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(format!("{sign}{number}"));
    }
    let whole = whole(number);
    let Ok(release) = Version::parse(&whole) else { return Some(format!("{sign}{number}")) };
    // One that is written is no longer beyond what is written.
    let beyond = known.iter().filter(|other| other.cmp_prefix(&release).is_eq() && **other > release).min();
    match (sign, beyond) {
        ("" | "<=", Some(beyond)) => Some(format!("{sign}{whole},<{beyond}")),
        ("!=", Some(_)) => None,
        _ => Some(format!("{sign}{whole}")),
    }
}

/// `2.4.0` for `2.4`: pip counts what is not written as zero.
fn whole(number: &str) -> String {
    let is_release = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let missing = 2_usize.saturating_sub(number.matches('.').count());
    format!("{number}{}", if is_release { ".0".repeat(missing) } else { String::new() })
}

/// The variant that an extra of JAX brings: `cuda12`, `cuda12-pip`.
pub(super) fn extra_variant(extra: &str) -> Option<String> {
    let major: String = extra.strip_prefix("cuda")?.chars().take_while(char::is_ascii_digit).collect();
    (!major.is_empty()).then(|| format!("cu{major}"))
}
