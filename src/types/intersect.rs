//! What two constraints admit together, in as few words as say it.

use super::constraint::{Comparison, Constraint};
use super::specifier::around;
use super::{Version, distinct};

/// A version and the label of its build.
type Build<'c> = (Version, &'c str);

/// Two with more comparisons are not put together: each is held against every version that they name.
const MOST: usize = 16;

/// What both admit; none if no build can be what both ask for. Asked of the versions that they name and of those right beside
/// them, in every build that they name: between these nothing begins and nothing ends.
pub fn intersect(one: &Constraint, other: &Constraint) -> Option<Constraint> {
    let named = || one.comparisons().chain(other.comparisons());
    if one == other || other.is_any() && other.alternatives().len() == 1 {
        return Some(one.clone());
    }
    if named().count().max(one.alternatives().len() * other.alternatives().len()) > MOST {
        return None;
    }
    let versions = named().filter_map(|part| part.version).flat_map(around).chain(Version::parse("0"));
    let labels = distinct(named().filter_map(|part| part.variant.as_deref()).chain([""]));
    let builds: Vec<Build<'_>> =
        distinct(versions).into_iter().flat_map(|version| labels.iter().map(move |label| (version, *label))).collect();
    let admits = |by: &Constraint, (version, label): &Build<'_>| by.admits_build(version, label);
    if !builds.iter().any(|build| parts_admit(one, build) && parts_admit(other, build)) {
        return None;
    }
    let is_within = |part, whole| builds.iter().all(|build| !admits(part, build) || admits(whole, build));
    match (is_within(one, other), is_within(other, one)) {
        (true, true) if other.as_str().len() < one.as_str().len() => return Some(other.clone()),
        (true, _) => return Some(one.clone()),
        (_, true) => return Some(other.clone()),
        _ => {}
    }
    let mut alternatives: Vec<String> = Vec::new();
    for mine in one.as_str().split("||") {
        for theirs in other.as_str().split("||") {
            let text = joined(mine, theirs, &builds)?;
            let has_any = Constraint::parse(&text).is_ok_and(|both| builds.iter().any(|build| admits(&both, build)));
            if has_any && !alternatives.contains(&text) {
                alternatives.push(text);
            }
        }
    }
    Constraint::parse(&alternatives.join("||")).ok()
}

/// Whether a build is admitted, a pre-release too: what both ask for may name one.
fn parts_admit(by: &Constraint, build: &Build<'_>) -> bool {
    by.alternatives().iter().any(|all| all.iter().all(|part| part_admits(part, build)))
}

fn part_admits(part: &Comparison, (version, label): &Build<'_>) -> bool {
    part.admits(version) && part.variant.as_deref().is_none_or(|wanted| wanted == *label)
}

/// The comparisons of two alternatives without those that another of them implies.
fn joined(mine: &str, theirs: &str, builds: &[Build<'_>]) -> Option<String> {
    let texts: Vec<&str> = mine.split(',').chain(theirs.split(',')).map(str::trim).collect();
    let parts: Option<Vec<Comparison>> = texts.iter().map(|text| Comparison::parse(text).ok()).collect();
    let parts = parts?;
    let implies = |part: &Comparison, whole: &Comparison| {
        builds.iter().all(|build| !part_admits(part, build) || part_admits(whole, build))
    };
    let is_needless = |at: usize| {
        let mut others = (0..parts.len()).filter(|other| *other != at);
        others.any(|other| implies(&parts[other], &parts[at]) && (other < at || !implies(&parts[at], &parts[other])))
    };
    let mut kept: Vec<String> =
        (0..parts.len()).filter(|at| !is_needless(*at)).map(|at| texts[at].to_string()).collect();
    // The label of a build stands behind the one version that is asked for.
    let is_bare = |text: &String| text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['+', '*']);
    if let (Some(label), Some(bare)) =
        (kept.iter().position(|text| text.starts_with('+')), kept.iter().position(is_bare))
    {
        let label = kept[label].clone();
        kept[bare] += &label;
        kept.retain(|text| *text != label);
    }
    let (labels, mut kept): (Vec<String>, Vec<String>) = kept.into_iter().partition(|text| text.starts_with('+'));
    kept.extend(labels);
    Some(kept.join(","))
}

#[cfg(test)]
mod tests;
