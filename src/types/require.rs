//! What an image demands of the machine it is started on: the language of `NVIDIA_REQUIRE_*`.
//!
//! `cuda>=12.4 brand=tesla,driver>=535,driver<536`: blanks part alternatives, commas part conditions that must hold
//! together. This is how libnvidia-container reads it (`src/cli/dsl.c` and `configure.c`, which its legacy mode runs):
//! from left to right, up to the first alternative that holds. A condition it cannot read refuses the container, but
//! only once it is reached; a version or brand nobody could tell fulfils every condition.
//!
//! The container toolkit's csv mode (Jetson) reads the same texts with a program of its own: there names are
//! case-sensitive, an unknown name is skipped, versions are semantic ones of at most three numbers, and everything is
//! read before anything is judged. Its CDI modes read none of this: then nothing but a look like this one does.

use std::cmp::Ordering;

use super::Version;

/// An expression, read once. Reading never fails: what is wrong in it matters only where evaluation gets to it.
#[derive(Debug, Clone)]
pub struct Requirement<'t> {
    /// Any one of these suffices.
    alternatives: Vec<Alternative<'t>>,
}

/// Conditions that must hold together, for any of some brands. The texts repeat one driver range for a dozen brands in
/// a row, so equal ranges are read once.
#[derive(Debug, Clone)]
struct Alternative<'t> {
    /// The brands named at its beginning; none named: it speaks of every brand.
    brands: Vec<&'t str>,
    text: &'t str,
    conditions: Vec<Condition<'t>>,
}

#[derive(Debug, Clone)]
enum Condition<'t> {
    Version(Subject, Relation, Number, &'t str),
    Brand(Relation, &'t str),
    Unreadable(&'t str),
}

/// What a condition compares with a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The CUDA version of the driver.
    Cuda,
    /// The driver's release.
    Driver,
    /// The device's compute capability.
    Arch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Numbers parted by dots, compared one by one; missing ones are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Number(Vec<u64>);

/// What is asked about: the machine, and one device that the container is to see. Whatever is none passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Subjects<'a> {
    /// The CUDA version of the driver.
    pub cuda: Option<&'a Version>,
    /// The driver's release.
    pub driver: Option<&'a Version>,
    /// The device's compute capability, `9.0`.
    pub arch: Option<&'a Version>,
    /// The device's brand: `tesla`, `geforcertx`.
    pub brand: Option<&'a str>,
}

/// Why evaluation stopped: a condition that cannot be read, which refuses the container.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a condition: cuda, driver, arch or brand is expected, one of = != < <= > >=, and a value")]
pub struct Unreadable(pub String);

/// A condition that does not hold must print shorter than this, or the original gives up on it.
const CONDITION_MAX: usize = 128;
/// So long may a brand be that `brand = …` prints shorter than that.
const BRAND_MAX: usize = CONDITION_MAX - "brand = ".len();

impl<'t> Requirement<'t> {
    /// Reads an expression.
    pub fn parse(text: &'t str) -> Self {
        let mut alternatives: Vec<Alternative> = Vec::new();
        for alternative in text.split(' ').filter(|text| !text.is_empty()) {
            let (brand, rest) = match alternative.strip_prefix("brand=") {
                Some(tail) => match tail.split_once(',') {
                    Some((brand, rest)) => (Some(brand), rest),
                    None => (Some(tail), ""),
                },
                None => (None, alternative),
            };
            let plain = |brand: &&str| !brand.is_empty() && !brand.contains(OPERATOR) && brand.len() < BRAND_MAX;
            let brand = brand.filter(plain);
            let rest = if brand.is_some() { rest } else { alternative };
            match (brand, alternatives.last_mut()) {
                (Some(brand), Some(last)) if !last.brands.is_empty() && last.text == rest => last.brands.push(brand),
                _ => {
                    let conditions = rest.split(',').filter(|text| !text.is_empty()).map(Condition::parse).collect();
                    alternatives.push(Alternative { brands: brand.into_iter().collect(), text: rest, conditions });
                }
            }
        }
        Requirement { alternatives }
    }

    /// The versions that it names of each subject: where its answer can change.
    pub fn bounds(&self) -> impl Iterator<Item = (Subject, Version)> + '_ {
        let conditions = self.alternatives.iter().flat_map(|alternative| &alternative.conditions);
        conditions.filter_map(|condition| match condition {
            Condition::Version(subject, _, _, text) => {
                let version = Version::parse(text.trim_start_matches(|c: char| !c.is_ascii_digit())).ok();
                version.map(|version| (*subject, version))
            }
            _ => None,
        })
    }

    /// Whether its answer differs from brand to brand.
    pub fn names_brand(&self) -> bool {
        let is_about_brand = |condition: &Condition<'_>| matches!(condition, Condition::Brand(..));
        let names = |one: &Alternative<'_>| !one.brands.is_empty() || one.conditions.iter().any(is_about_brand);
        self.alternatives.iter().any(names)
    }

    /// Whether a container is started on this machine with this device. A requirement that asks nothing holds.
    pub fn holds(&self, subjects: &Subjects<'_>) -> Result<bool, Unreadable> {
        let mut held = true;
        for alternative in &self.alternatives {
            if !alternative.brands.is_empty() {
                held =
                    subjects.brand.is_none_or(|own| alternative.brands.iter().any(|one| one.eq_ignore_ascii_case(own)));
                if !held {
                    continue;
                }
            }
            // An alternative of nothing but commas decides nothing and ends the search, as it does there.
            let mut failed = false;
            for condition in &alternative.conditions {
                held = condition.holds(subjects)?;
                if !held {
                    failed = true;
                    break;
                }
            }
            if !failed {
                break;
            }
        }
        Ok(held)
    }

    /// The first condition that evaluation would refuse if it got there.
    pub fn unreadable(&self) -> Option<Unreadable> {
        self.alternatives.iter().flat_map(|alternative| &alternative.conditions).find_map(|condition| match condition {
            Condition::Unreadable(text) => Some(Unreadable((*text).to_string())),
            Condition::Version(_, relation, bound, value) if bound.0.is_empty() => {
                Some(Unreadable(format!("{}{value}", relation.written())))
            }
            _ => None,
        })
    }
}

/// The characters operators are made of.
const OPERATOR: [char; 4] = ['<', '>', '=', '!'];

impl<'t> Condition<'t> {
    fn parse(text: &'t str) -> Self {
        let (name, rest) = text.split_at(text.find(OPERATOR).unwrap_or(text.len()));
        let (operator, value) = rest.split_at(rest.find(|c| !OPERATOR.contains(&c)).unwrap_or(rest.len()));
        let relation = match operator {
            "=" => Relation::Equal,
            // The original compares as many characters as were written, so that `!` is taken for `!=`.
            "!=" | "!" => Relation::NotEqual,
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            ">" => Relation::Greater,
            ">=" => Relation::AtLeast,
            _ => return Condition::Unreadable(text),
        };
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let subjects = [("cuda", Subject::Cuda), ("driver", Subject::Driver), ("arch", Subject::Arch)];
        let subject = subjects.into_iter().find(|(known, _)| is(known)).map(|(_, subject)| subject);
        let subject = match subject.filter(|_| !value.is_empty()) {
            Some(subject) => subject,
            None if is("brand") && !value.is_empty() => return Condition::Brand(relation, value),
            None => return Condition::Unreadable(text),
        };
        // What is no version is wrong only where there is one to compare it with.
        Condition::Version(subject, relation, Number::parse(value).unwrap_or(Number(Vec::new())), value)
    }

    fn holds(&self, subjects: &Subjects<'_>) -> Result<bool, Unreadable> {
        let (held, name, relation, value) = match self {
            Condition::Unreadable(text) => return Err(Unreadable((*text).to_string())),
            Condition::Brand(relation, wanted) => {
                let Some(brand) = subjects.brand else { return Ok(true) };
                let same = brand.eq_ignore_ascii_case(wanted);
                let held = match relation {
                    Relation::Equal => same,
                    Relation::NotEqual => !same,
                    _ => return Err(Unreadable(format!("brand{}{wanted}", relation.written()))),
                };
                (held, "brand", relation, *wanted)
            }
            Condition::Version(subject, relation, bound, value) => {
                let (name, version) = match subject {
                    Subject::Cuda => ("cuda", subjects.cuda),
                    Subject::Driver => ("driver", subjects.driver),
                    Subject::Arch => ("arch", subjects.arch),
                };
                let Some(version) = version else { return Ok(true) };
                if bound.0.is_empty() {
                    return Err(Unreadable(format!("{name}{}{value}", relation.written())));
                }
                (relation.holds(bound.compared_to(version)), name, relation, *value)
            }
        };
        if !held && name.len() + relation.written().len() + value.len() + 2 >= CONDITION_MAX {
            return Err(Unreadable(format!("{name}{}{value}", relation.written())));
        }
        Ok(held)
    }
}

impl Number {
    /// Digits and dots that begin with a digit; dots in a row count once, the last one not at all.
    fn parse(text: &str) -> Option<Self> {
        let numeric = text.starts_with(|c: char| c.is_ascii_digit());
        let numbers = text.split('.').filter(|part| !part.is_empty());
        let numbers: Option<Vec<u64>> = numbers
            .map(|part| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten())
            .collect();
        numbers.filter(|numbers| numeric && !numbers.contains(&u64::MAX)).map(Number)
    }

    /// How a version lies to this number.
    fn compared_to(&self, version: &Version) -> Ordering {
        let mut theirs = version.components();
        for mine in &self.0 {
            match theirs.next().unwrap_or(0).cmp(mine) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        if theirs.any(|more| more > 0) { Ordering::Greater } else { Ordering::Equal }
    }
}

impl Relation {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Relation::Equal => ordering.is_eq(),
            Relation::NotEqual => ordering.is_ne(),
            Relation::Less => ordering.is_lt(),
            Relation::AtMost => ordering.is_le(),
            Relation::Greater => ordering.is_gt(),
            Relation::AtLeast => ordering.is_ge(),
        }
    }

    fn written(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
        }
    }
}

/// A requirement as the variable spells it. The container toolkit prints it as an expression in its errors: there `&&` joins
/// what a comma joins, and `||` parts what a blank parts.
pub fn in_own_spelling(text: &str) -> String {
    let joined = |alternative: &str| alternative.split("&&").map(str::trim).collect::<Vec<_>>().join(",");
    text.split("||").map(joined).collect::<Vec<_>>().join(" ")
}

/// The expressions a container of this environment is started under, each of which must hold: every `NVIDIA_REQUIRE_*`
/// but Jetpack's, none where `NVIDIA_DISABLE_REQUIRE` says so, and the CUDA version of an image from before
/// `NVIDIA_REQUIRE_CUDA`.
pub fn of_environment<'e>(environment: impl Iterator<Item = (&'e str, &'e str)> + Clone) -> Vec<(&'e str, String)> {
    let variable = |wanted: &str| environment.clone().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    if variable("NVIDIA_DISABLE_REQUIRE").is_some_and(|value| TRUE.contains(&value)) {
        return Vec::new();
    }
    let of_interest =
        |(name, _): &(&str, &str)| name.starts_with("NVIDIA_REQUIRE_") && !name.starts_with("NVIDIA_REQUIRE_JETPACK");
    let mut found: Vec<(&str, String)> =
        environment.clone().filter(of_interest).map(|(name, value)| (name, value.to_string())).collect();
    if variable("NVIDIA_REQUIRE_CUDA").is_none_or(str::is_empty)
        && let Some(version) =
            variable("CUDA_VERSION").and_then(|text| Version::parse(text.trim_start_matches('v')).ok())
    {
        found.push(("CUDA_VERSION", format!("cuda>={}.{}", version.major(), version.minor())));
    }
    found
}

/// What Go's `strconv.ParseBool` takes for true.
const TRUE: &[&str] = &["1", "t", "T", "TRUE", "true", "True"];

#[cfg(test)]
mod tests;
