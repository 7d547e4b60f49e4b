//! Version constraints: `>=2.4,<2.8`, `12.4`, `2.5.1+cu124`, `==1.12.* || >=2`.
//!
//! `,` is and, `||` is or. Every operator compares only as many components as are written, so `<=12.4`
//! admits 12.4.1 and `<=535` admits 535.183.01. A bare version is a prefix. A `+variant` may follow a bare
//! or `==` version or stand alone. Pre-releases are admitted only where one is named.

use std::cmp::Ordering;
use std::fmt;

use super::distinct;
use super::version::{Version, VersionError};

/// A parsed constraint; it remembers its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Constraint {
    text: String,
    alternatives: Vec<Vec<Comparison>>,
    /// Pre-releases are admitted that it does not name.
    unnamed: bool,
}

/// One `operator version` pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// How to compare.
    pub op: Op,
    /// With what. `None` only for a `+variant` that stands alone and for `*`.
    pub version: Option<Version>,
    /// The wheel variant asked for, `cu124` or `cpu`.
    pub variant: Option<String>,
}

/// The comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// A bare version, `==` or `*`: the prefix must be equal.
    Prefix,
    /// `!=`
    Not,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `~=`: at least this, and everything but the last written component equal.
    Compatible,
}

/// Why a text is not a constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// Nothing stands where a comparison should.
    #[error("a constraint is missing{0}")]
    Empty(&'static str),
    /// The version part does not parse.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// `<2.5+cu124`: a variant has no order.
    #[error("`+{0}` can only follow a bare version or `==`: a wheel variant has no order")]
    VariantAfterOrder(String),
    /// `+` without a name, or with characters no variant has.
    #[error("`+{0}` is not a wheel variant: `+cu124` or `+cpu` is expected")]
    Variant(String),
    /// `~=2`
    #[error("`~={0}` needs at least two components, as in `~=2.4`")]
    CompatibleTooShort(String),
    /// `>=1.2.*`
    #[error("`*` can only end a bare version, `==` or `!=`")]
    StarAfterOrder,
    /// `>>2` or similar.
    #[error("`{0}` is not an operator; use one of >= > <= < == != ~=")]
    Operator(String),
    /// Too many alternatives or comparisons.
    #[error("a constraint may hold at most {MAX_COMPARISONS} comparisons")]
    TooMany,
}

const MAX_COMPARISONS: usize = 64;

impl Constraint {
    /// The constraint that admits every release (and no pre-release): `*`.
    pub fn any() -> Self {
        Constraint::parse("*").expect("`*` is a constraint")
    }

    /// Reads a constraint.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(ConstraintError::Empty(": write \"*\" for any version"));
        }
        let mut alternatives = Vec::new();
        let mut count = 0;
        for alternative in trimmed.split("||") {
            let mut all = Vec::new();
            for part in alternative.split(',') {
                count += 1;
                if count > MAX_COMPARISONS {
                    return Err(ConstraintError::TooMany);
                }
                all.push(comparison(part.trim())?);
            }
            alternatives.push(all);
        }
        Ok(Constraint { text: trimmed.to_string(), alternatives, unnamed: false })
    }

    /// The same constraint, which also admits pre-releases that it does not name: installers take those of a package that
    /// has no release yet.
    pub fn with_prereleases(self) -> Self {
        Constraint { unnamed: true, ..self }
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What is asked, in one spelling: `2.8` of `== 2.8.*`, without blanks.
    pub fn canonical(&self) -> String {
        let all = |all: &Vec<Comparison>| all.iter().map(Comparison::canonical).collect::<Vec<_>>().join(",");
        self.alternatives.iter().map(all).collect::<Vec<_>>().join("||")
    }

    /// Whether two ask the same, in whatever order.
    pub fn asks_the_same(&self, other: &Constraint) -> bool {
        let parts = |one: &Constraint| {
            let all = |all: &Vec<Comparison>| distinct(all.iter().map(Comparison::canonical));
            distinct(one.alternatives.iter().map(all))
        };
        parts(self) == parts(other)
    }

    /// The comparisons: an or of ands.
    pub fn alternatives(&self) -> &[Vec<Comparison>] {
        &self.alternatives
    }

    /// Whether a release without variants (a driver, a toolkit, a Python) is admitted.
    pub fn admits(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|one| one.admits(version)) && self.may_be(all, version))
    }

    /// Whether what is installed is admitted: a pre-release counts as the release that it precedes, unless one version alone
    /// is asked for, which it is not.
    pub fn admits_installed(&self, version: &Version) -> bool {
        let counts = version.is_prerelease() && self.single().is_none();
        self.admits(version) || counts && self.admits(&version.prefix(version.len()))
    }

    /// Whether a build with this version and variant is admitted.
    pub fn admits_build(&self, version: &Version, variant: &str) -> bool {
        self.alternatives.iter().any(|all| {
            all.iter().all(|one| one.admits(version) && one.variant.as_deref().is_none_or(|wanted| wanted == variant))
                && self.may_be(all, version)
        })
    }

    /// Whether a version is none that precedes its release, or is named, or nothing that is written is that release or newer.
    fn may_be(&self, all: &[Comparison], version: &Version) -> bool {
        prerelease_named(all, version) || self.unnamed && !all.iter().any(|one| one.names_release_of(version))
    }

    /// The versions of a list such as `535 || 550`: the alternatives that are one version each.
    pub fn listed(&self) -> impl Iterator<Item = &Version> {
        self.alternatives.iter().filter_map(|all| match all.as_slice() {
            [Comparison { op: Op::Prefix, version, .. }] => version.as_ref(),
            _ => None,
        })
    }

    /// Each alternative by itself: `535` and `>=550` of `535 || >=550`.
    pub fn apart(&self) -> impl Iterator<Item = Constraint> + '_ {
        let texts = self.text.split("||").map(|text| text.trim().to_string());
        let alternatives = self.alternatives.iter().map(|all| vec![all.clone()]);
        let one = |(text, alternatives)| Constraint { text, alternatives, unnamed: self.unnamed };
        texts.zip(alternatives).map(one)
    }

    /// Whether any part of the constraint names this variant.
    pub fn names_variant(&self, variant: &str) -> bool {
        self.comparisons().any(|one| one.variant.as_deref() == Some(variant))
    }

    /// Whether every alternative names a variant.
    pub fn pins_variant(&self) -> bool {
        self.alternatives.iter().all(|all| all.iter().any(|one| one.variant.is_some()))
    }

    /// Whether nothing is asked: `*`.
    pub fn is_any(&self) -> bool {
        self.alternatives.iter().any(|all| all.iter().all(|one| one.version.is_none() && one.variant.is_none()))
    }

    /// Whether only upper bounds are written (`<=535`), so that nothing is promised about a minimum.
    pub fn only_upper_bounds(&self) -> bool {
        self.comparisons().all(|one| matches!(one.op, Op::Below | Op::AtMost | Op::Not) || one.version.is_none())
    }

    /// The single version written, if the constraint is one bare or `==` version.
    pub fn single(&self) -> Option<&Version> {
        match self.alternatives.as_slice() {
            [all] => match all.as_slice() {
                [Comparison { op: Op::Prefix, version: Some(version), .. }] => Some(version),
                _ => None,
            },
            _ => None,
        }
    }

    /// The greatest number of components written in any comparison.
    pub fn depth(&self) -> usize {
        self.comparisons().filter_map(|one| one.version.as_ref().map(Version::len)).max().unwrap_or(0)
    }

    /// Every comparison of every alternative.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.alternatives.iter().flatten()
    }

    /// The same constraint with every version cut to `count` components and variants kept.
    ///
    /// `cuda = "12.4.1"` constrains wheels only by its line, `12.4`: cutting loosens `<12.4.1` to `<=12.4`
    /// and drops `!=12.4.1`, so that nothing is refused that the longer text would admit.
    pub fn cut_to(&self, count: usize) -> Constraint {
        let alternatives = self
            .alternatives
            .iter()
            .map(|all| {
                all.iter()
                    .filter_map(|one| {
                        let Some(version) = &one.version else { return Some(one.clone()) };
                        if version.len() <= count {
                            return Some(one.clone());
                        }
                        let op = match one.op {
                            Op::Not => return None,
                            Op::Below => Op::AtMost,
                            Op::Above => Op::AtLeast,
                            Op::Compatible => Op::Prefix,
                            other => other,
                        };
                        Some(Comparison { op, version: Some(version.prefix(count)), variant: one.variant.clone() })
                    })
                    .collect()
            })
            .collect();
        Constraint { text: self.text.clone(), alternatives, unnamed: self.unnamed }
    }
}

impl Op {
    /// Whether the version written is the least one admitted: `12.4`, `>=12.4`, `~=12.4`.
    pub fn is_lower(self) -> bool {
        matches!(self, Op::Prefix | Op::AtLeast | Op::Compatible)
    }
}

impl Comparison {
    /// In the shortest spelling: a prefix is a bare version.
    fn canonical(&self) -> String {
        let sign = match self.op {
            Op::Prefix => "",
            Op::Not => "!=",
            Op::AtLeast => ">=",
            Op::Above => ">",
            Op::AtMost => "<=",
            Op::Below => "<",
            Op::Compatible => "~=",
        };
        let version = self.version.as_ref().map_or("", Version::as_str);
        match &self.variant {
            Some(variant) => format!("{sign}{version}+{variant}"),
            None if version.is_empty() => "*".to_string(),
            None => format!("{sign}{version}"),
        }
    }

    /// Whether it takes nothing older than the release that a version precedes: `4.0.0` and `>=4.0` for 4.0.0b36, but not `4.0`.
    fn names_release_of(&self, version: &Version) -> bool {
        let is_it = |bound: &Version| match self.op {
            Op::Prefix => bound.len() >= version.len(),
            Op::AtLeast | Op::Compatible => version.cmp_prefix(bound).is_eq(),
            _ => false,
        };
        self.version.as_ref().is_some_and(is_it)
    }

    /// Reads one comparison, `>=535`.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        comparison(text.trim())
    }

    /// Whether a version satisfies it.
    pub fn admits(&self, version: &Version) -> bool {
        let Some(bound) = &self.version else { return true };
        let order = version.cmp_prefix(bound);
        match self.op {
            Op::Prefix => order == Ordering::Equal,
            Op::Not => order != Ordering::Equal,
            Op::AtLeast => order != Ordering::Less,
            Op::Above => order == Ordering::Greater,
            Op::AtMost => order != Ordering::Greater,
            Op::Below => order == Ordering::Less,
            Op::Compatible => {
                order != Ordering::Less && version.cmp_prefix(&bound.prefix(bound.len() - 1)) == Ordering::Equal
            }
        }
    }
}

/// The least version that comparisons which all hold admit; none where they say nothing of it.
pub fn least(all: &[Comparison]) -> Option<Version> {
    let lower = all.iter().filter(|one| one.op.is_lower() || one.op == Op::Above);
    lower.filter_map(|one| one.version).max()
}

/// A pre-release is admitted only if the alternative names one of the same release.
fn prerelease_named(all: &[Comparison], version: &Version) -> bool {
    !version.is_prerelease() || all.iter().filter_map(|one| one.version.as_ref()).any(Version::is_prerelease)
}

/// Whether a constraint that is written as a text admits a version; what is none admits nothing.
pub fn admits(text: &str, version: &Version) -> bool {
    Constraint::parse(text).is_ok_and(|constraint| constraint.admits(version))
}

fn comparison(text: &str) -> Result<Comparison, ConstraintError> {
    if text.is_empty() {
        return Err(ConstraintError::Empty(" beside `,` or `||`"));
    }
    if let Some(variant) = text.strip_prefix('+') {
        return Ok(Comparison { op: Op::Prefix, version: None, variant: Some(parse_variant(variant)?) });
    }
    let rest = text.trim_start_matches(['<', '>', '=', '!', '~']);
    let symbol = &text[..text.len() - rest.len()];
    let op = match symbol {
        "" | "==" => Op::Prefix,
        "!=" => Op::Not,
        ">=" => Op::AtLeast,
        ">" => Op::Above,
        "<=" => Op::AtMost,
        "<" => Op::Below,
        "~=" => Op::Compatible,
        other => return Err(ConstraintError::Operator(other.chars().take(8).collect())),
    };
    let (number, variant) = match rest.trim().split_once('+') {
        Some((number, variant)) => (number.trim(), Some(parse_variant(variant.trim())?)),
        None => (rest.trim(), None),
    };
    if let (Some(name), false) = (&variant, op == Op::Prefix) {
        return Err(ConstraintError::VariantAfterOrder(name.clone()));
    }
    if number == "*" {
        return if op == Op::Prefix {
            Ok(Comparison { op, version: None, variant })
        } else {
            Err(ConstraintError::StarAfterOrder)
        };
    }
    let number = match number.strip_suffix(".*") {
        Some(_) if !matches!(op, Op::Prefix | Op::Not) => return Err(ConstraintError::StarAfterOrder),
        Some(prefix) => prefix,
        None => number,
    };
    let version = Version::parse(number)?;
    if op == Op::Compatible && version.len() < 2 {
        return Err(ConstraintError::CompatibleTooShort(number.to_string()));
    }
    Ok(Comparison { op, version: Some(version), variant })
}

fn parse_variant(text: &str) -> Result<String, ConstraintError> {
    let fits = !text.is_empty()
        && text.len() <= 32
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.' || byte == b'_');
    if fits {
        Ok(text.to_string())
    } else {
        Err(ConstraintError::Variant(text.chars().take(40).flat_map(char::escape_debug).collect()))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
