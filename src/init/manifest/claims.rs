//! What several lines ask of one package, made one: bounds that go together all hold. Where they do not, one version that the
//! project itself asks for comes before its ranges, these before what it asks for under a condition, and all of it before what an
//! extra or a group asks for; of two alike the first.

use crate::types::sort_by_key;

/// A line of a file.
pub(super) type Line = (String, usize, String);

/// What one line asks of a package.
#[derive(Debug, Clone)]
pub(super) struct Claim<T> {
    pub asked: T,
    /// Whether it asks for one version.
    pub is_exact: bool,
    /// The extra or group that it is of.
    pub group: Option<String>,
    /// The condition under which it is asked, which nobody could decide.
    pub condition: Option<String>,
    pub line: Line,
    /// Where it stands, for people.
    pub note: String,
}

/// The claims on each package, in the order in which they were found.
#[derive(Debug)]
pub(super) struct Claims<T>(Vec<(String, Vec<Claim<T>>)>);

impl<T> Default for Claims<T> {
    fn default() -> Self {
        Claims(Vec::new())
    }
}

/// What was made of the claims on a package.
#[derive(Debug)]
pub(super) struct Settled<T> {
    pub asked: T,
    /// The claims that it consists of; those that say no more than these are not among them.
    pub of: Vec<Claim<T>>,
    /// Those that cannot hold beside it.
    pub refused: Vec<Claim<T>>,
}

impl<T: Clone + PartialEq> Claims<T> {
    pub fn push(&mut self, name: &str, claim: Claim<T>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, claims)) => claims.push(claim),
            None => self.0.push((name.to_string(), vec![claim])),
        }
    }

    /// Takes out what some lines ask of a package.
    pub fn without(&mut self, name: &str, is_one: impl Fn(&Claim<T>) -> bool) -> Vec<Claim<T>> {
        let found = self.0.iter_mut().find(|(known, _)| known == name);
        let taken = found.map_or(Vec::new(), |(_, claims)| claims.extract_if(.., |claim| is_one(claim)).collect());
        self.0.retain(|(_, claims)| !claims.is_empty());
        taken
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The packages that something is asked of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// What is asked of a package, line by line.
    pub fn of<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s T> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.into_iter().flat_map(|(_, claims)| claims).map(|claim| &claim.asked)
    }

    /// One for each package; `both` is what two ask for together, none if nothing can be that.
    pub fn settled(self, both: impl Fn(&T, &T) -> Option<T>) -> Vec<(String, Settled<T>)> {
        let settle = |(name, mut claims): (String, Vec<Claim<T>>)| {
            sort_by_key(&mut claims, |claim| (claim.group.is_some(), claim.condition.is_some(), !claim.is_exact));
            let mut claims = claims.into_iter();
            let first = claims.next()?;
            let mut settled = Settled { asked: first.asked.clone(), of: vec![first], refused: Vec::new() };
            for claim in claims {
                // A range under one condition bounds nothing that is asked for without it.
                let is_range = claim.condition.is_some() && !claim.is_exact;
                let is_aside = is_range && settled.of.iter().any(|of| of.condition != claim.condition);
                match both(&settled.asked, &claim.asked) {
                    Some(asked) if asked == settled.asked => {}
                    None => settled.refused.push(claim),
                    Some(_) if is_aside => settled.refused.push(claim),
                    Some(asked) => {
                        if asked == claim.asked {
                            settled.of.clear();
                        }
                        settled.asked = asked;
                        settled.of.push(claim);
                    }
                }
            }
            Some((name, settled))
        };
        self.0.into_iter().filter_map(settle).collect()
    }
}

impl<T> Settled<T> {
    /// Where it comes from, for people.
    pub fn note(&self) -> String {
        self.of.iter().map(|claim| claim.note.as_str()).collect::<Vec<_>>().join(" and ")
    }
}
