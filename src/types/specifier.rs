//! Specifiers of pip, as PEP 440 and PEP 508 write them behind a package's name: `>=4.50`, `[torch]>=4,<5`.
//!
//! Narrower than those: no addresses and no markers, and of versions the spellings that indexes use. Nothing that passes
//! holds a quote, a `$`, a `;` or a blank, so it can be written into any export.

use std::fmt;

use super::address::{all, is_number, is_package};
use super::{Constraint, Version, distinct, variant};

/// What is asked for of a package that nothing is solved with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Specifier {
    /// The extras, `torch` of `[torch]>=4`.
    pub extras: Vec<String>,
    /// The comparisons, `>=4` and `<5`; empty for any version.
    pub comparisons: Vec<String>,
}

/// Why a text is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecifierError {
    /// Nothing was written.
    #[error("a requirement is missing: write \"*\" for any version")]
    Empty,
    /// `>=4; python_version < "3.12"`
    #[error("a marker behind `;` is not taken: what is written holds for all targets")]
    Marker,
    /// `@ https://…`
    #[error("an address is not taken: the package comes from the package index")]
    Address,
    /// `[a b]>=1`
    #[error("`{0}` is not a list of extras such as `[torch]` or `[audio,video]`")]
    Extras(String),
    /// `4.50`
    #[error("`{0}` has no operator, and pip takes none without: one of >= > <= < == != ~=")]
    Bare(String),
    /// `^4`, `=4`, `=>4`
    #[error("`{0}` is not an operator of pip; use one of >= > <= < == != ~=")]
    Operator(String),
    /// `>=four`
    #[error("`{0}` is not a version as packages have them, such as `4.50.1` or `2.0rc1`")]
    Version(String),
    /// `>=4.*`
    #[error("`*` can only end a version behind == or !=")]
    Star,
    /// `~=4`
    #[error("`~={0}` needs at least two numbers, as in `~=4.50`")]
    Short(String),
    /// `>=4+cu126`
    #[error("`+` names a build, which has no order: it can only follow == or !=")]
    Local,
}

const OPERATORS: [&str; 8] = ["===", "==", "!=", "<=", ">=", "~=", "<", ">"];
const MAX_COMPARISONS: usize = 32;

impl Specifier {
    /// Reads what stands behind a package's name; `*` is any version.
    pub fn parse(text: &str) -> Result<Self, SpecifierError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SpecifierError::Empty);
        }
        if text.contains(';') {
            return Err(SpecifierError::Marker);
        }
        if text.starts_with('@') || text.contains("://") {
            return Err(SpecifierError::Address);
        }
        let (extras, rest) = match text.strip_prefix('[').map(|text| text.split_once(']')) {
            Some(Some((inside, rest))) => (extras(inside)?, rest.trim()),
            Some(None) => return Err(SpecifierError::Extras(shown(text))),
            None => (Vec::new(), text),
        };
        let mut comparisons = Vec::new();
        if !matches!(rest, "" | "*") {
            for part in rest.split(',') {
                comparisons.push(comparison(part.trim())?);
            }
        }
        if comparisons.len() > MAX_COMPARISONS {
            return Err(SpecifierError::Version(shown(text)));
        }
        Ok(Specifier { extras, comparisons })
    }

    /// A package and what is asked for of it, `numpy` and `<2` of `numpy<2`.
    pub fn split(text: &str) -> Option<(&str, Specifier)> {
        let end = text.find(['[', '<', '>', '=', '!', '~']).unwrap_or(text.len());
        let (package, rest) = text.split_at(end);
        let rest = if rest.is_empty() { "*" } else { rest };
        Some((package, Specifier::parse(rest).ok()?)).filter(|_| is_package(package))
    }

    /// Whether it asks for an extra, however that is spelled.
    pub fn has_extra(&self, extra: &str) -> bool {
        self.extras.iter().any(|one| one.replace(['_', '.'], "-").eq_ignore_ascii_case(extra))
    }

    /// Whether any release will do.
    pub fn is_any(&self) -> bool {
        self.comparisons.is_empty()
    }

    /// The comparisons as pip reads them, nothing for any version.
    pub fn specifier(&self) -> String {
        self.comparisons.join(",")
    }

    /// The releases that it admits. To pip `==4.57` and `<=4.57` end with 4.57.0; none where no constraint says the same.
    pub fn range(&self) -> Option<Constraint> {
        if self.comparisons.is_empty() {
            return Some(Constraint::any());
        }
        let mut parts = Vec::new();
        for part in &self.comparisons {
            let part = part.replacen("===", "==", 1);
            let version = part.trim_start_matches(['=', '<', '>', '!', '~']);
            let is_whole = !version.ends_with(".*") && !part.starts_with("~=");
            let missing = 2_usize.saturating_sub(variant::public(version).matches('.').count());
            let plain = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let zeros = if is_whole && plain { ".0".repeat(missing) } else { String::new() };
            parts.push(format!("{part}{zeros}"));
        }
        Constraint::parse(&parts.join(",")).ok()
    }

    /// Whether a release is among them, as pip reads it: `==0.0.31` is that one alone, without 0.0.31.post1, `!=0.0.31` all but
    /// that one, and `<=2.4` ends with 2.4.0. What no version of the catalog compares with is let pass.
    pub fn admits(&self, version: &Version) -> bool {
        let is_named = || self.bounds().iter().any(Version::is_prerelease);
        self.comparisons.iter().all(|one| compares(one, version)) && (!version.is_prerelease() || is_named())
    }

    /// Whether no release can be what both ask for. Asked of the versions that they name, and of those right beside them.
    pub fn excludes(&self, other: &Specifier) -> bool {
        let tried: Vec<Version> = self.bounds().into_iter().chain(other.bounds()).flat_map(around).collect();
        !tried.is_empty() && !tried.iter().any(|version| self.admits(version) && other.admits(version))
    }

    /// The versions that it names.
    pub fn bounds(&self) -> Vec<Version> {
        self.comparisons.iter().filter_map(|one| Version::parse(parts(one).1).ok()).collect()
    }

    /// The whole requirement, one word: `transformers[torch]>=4.50,<5`.
    pub fn of(&self, package: &str) -> String {
        format!("{package}{}{}", self.bracketed(), self.specifier())
    }

    /// This and what another one asks for.
    pub fn and(mut self, other: &Specifier) -> Specifier {
        self.extras.extend(other.extras.iter().cloned());
        self.extras.sort_unstable();
        self.extras.dedup();
        for one in &other.comparisons {
            if !self.comparisons.contains(one) {
                self.comparisons.push(one.clone());
            }
        }
        self
    }

    /// The same without the bounds that one version meets which it names: beside a bound no installer takes a withdrawn one.
    pub fn pinned(mut self) -> Specifier {
        let is_pin = |one: &&String| one.starts_with("==") && !one.ends_with('*');
        let pin = self.comparisons.iter().find(is_pin).cloned().unwrap_or_default();
        if let Ok(version) = Version::parse(parts(&pin).1) {
            self.comparisons.retain(|one| *one == pin || !compares(one, &version));
        }
        self
    }

    fn bracketed(&self) -> String {
        if self.extras.is_empty() { String::new() } else { format!("[{}]", self.extras.join(",")) }
    }
}

/// Operator and public version of a comparison, and whether `.*` stands behind it: `!=`, `2.1` and true of `!=2.1.*`.
fn parts(comparison: &str) -> (&str, &str, bool) {
    let version = comparison.trim_start_matches(['=', '<', '>', '!', '~']);
    let operator = &comparison[..comparison.len() - version.len()];
    let public = variant::public(version);
    let number = public.strip_suffix(".*");
    (operator, number.unwrap_or(public), number.is_some())
}

/// Whether a version is what one comparison asks for, by PEP 440.
fn compares(comparison: &str, version: &Version) -> bool {
    let (operator, number, is_prefix) = parts(comparison);
    let Ok(bound) = Version::parse(number) else { return true };
    let begins = |with: &Version| version.cmp_prefix(with).is_eq();
    match operator {
        "==" if is_prefix => begins(&bound),
        "!=" if is_prefix => !begins(&bound),
        // What is spelled as it is numbered is equal by either.
        "==" | "===" => *version == bound,
        "!=" => *version != bound,
        ">=" => *version >= bound,
        "<=" => *version <= bound,
        "<" => *version < bound,
        // A post-release is not above its own release.
        ">" => *version > bound && version.prefix(version.len()) != bound,
        "~=" => *version >= bound && begins(&bound.prefix(bound.len().saturating_sub(1))),
        _ => true,
    }
}

/// As gpuenv.toml writes it.
impl fmt::Display for Specifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = self.comparisons.is_empty() && self.extras.is_empty();
        write!(f, "{}{}", self.bracketed(), if any { "*".to_string() } else { self.specifier() })
    }
}

fn extras(inside: &str) -> Result<Vec<String>, SpecifierError> {
    let mut found = Vec::new();
    for extra in inside.split(',').map(str::trim) {
        if !is_package(extra) {
            return Err(SpecifierError::Extras(shown(&format!("[{inside}]"))));
        }
        found.push(extra.to_string());
    }
    Ok(distinct(found))
}

fn comparison(text: &str) -> Result<String, SpecifierError> {
    let version = text.trim_start_matches(['=', '<', '>', '!', '~', '^', '|', '&']);
    let (operator, version) = (&text[..text.len() - version.len()], version.trim());
    if operator.is_empty() {
        return Err(if is_version(version) {
            SpecifierError::Bare(shown(version))
        } else {
            SpecifierError::Version(shown(version))
        });
    }
    if !OPERATORS.contains(&operator) {
        return Err(SpecifierError::Operator(shown(operator)));
    }
    let exact = matches!(operator, "===" | "==" | "!=");
    let number = match version.strip_suffix(".*") {
        Some(_) if !exact || operator == "===" => return Err(SpecifierError::Star),
        Some(number) => number,
        None => version,
    };
    if !is_version(number) {
        return Err(SpecifierError::Version(shown(version)));
    }
    if number.contains('+') && (!exact || number.len() < version.len()) {
        return Err(SpecifierError::Local);
    }
    if operator == "~=" && !number.contains('.') {
        return Err(SpecifierError::Short(shown(number)));
    }
    Ok(format!("{operator}{version}"))
}

/// A version of PEP 440 in its normal spelling, or one near to it: `1!2.0.3rc1.post2.dev4+cu126`.
fn is_version(text: &str) -> bool {
    let (public, local) = variant::parts(text);
    let public = public.split_once('!').filter(|(epoch, _)| is_number(epoch)).map_or(public, |(_, rest)| rest);
    let is_local = |local: &str| {
        !local.is_empty() && all(local, b"._-") && local.split(['.', '_', '-']).all(|part| !part.is_empty())
    };
    let release: usize = public.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(public.len());
    let (release, mut rest) = (public[..release].trim_end_matches('.'), &public[release..]);
    for (names, sign) in [(&["alpha", "beta", "rc", "a", "b", "c"][..], ""), (&["post"], "."), (&["dev"], ".")] {
        let bare = rest.strip_prefix(sign).unwrap_or(rest);
        if let Some(number) = names.iter().find_map(|name| bare.strip_prefix(name)) {
            rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    let numbers = release.split('.').all(is_number);
    numbers && rest.is_empty() && local.is_none_or(is_local) && text.len() <= 64
}

fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

/// A version and those right beside it: of 2.0.0 the one below is 1.999, for 0 has no number before it.
pub fn around(bound: Version) -> Vec<Version> {
    let numbers: Vec<u64> = bound.components().collect();
    let with = |at: usize, number: u64, end: &str| {
        let before: String = numbers[..at].iter().map(|one| format!("{one}.")).collect();
        Version::parse(&format!("{before}{number}{end}")).ok()
    };
    let mut found = vec![bound];
    if let Some(last) = numbers.len().checked_sub(1) {
        found.extend(with(last, numbers[last].saturating_add(1), ""));
        found.extend(with(last, numbers[last], ".1"));
    }
    if let Some(at) = numbers.iter().rposition(|number| *number > 0) {
        found.extend(with(at, numbers[at] - 1, ".999"));
    }
    found
}

#[cfg(test)]
mod tests;
