//! A list of drivers without those that the stack does not run on: their hosts get one of the others.

use crate::explain::target_of;
use crate::spec::list_text;
use crate::types::Constraint;

use super::{Finder, set};

impl Finder<'_, '_> {
    /// The drivers of a list that have an answer by themselves, and those that have none; nothing of what is no list.
    pub(super) fn listed_drivers(&self, key: &str) -> (Vec<Constraint>, Vec<Constraint>) {
        let target = self.spec.target(target_of(key)).filter(|_| key.ends_with(".driver"));
        let listed = target.and_then(|target| target.driver.as_ref()).map(|written| &written.value);
        let Some(listed) = listed.filter(|listed| listed.alternatives().len() > 1) else { return Default::default() };
        listed.apart().partition(|one| self.has_answer(&[set(key, one.as_str())]))
    }

    /// The list without the drivers that have no answer; where each has one, without one of them.
    pub(super) fn try_fewer_drivers(&mut self, key: &str, served: &[Constraint], unserved: &[Constraint]) {
        let text = |list: &[&Constraint]| match list {
            [one] => one.to_string(),
            list => list_text(&list.iter().map(|one| one.to_string()).collect::<Vec<_>>()),
        };
        let all: Vec<&Constraint> = served.iter().collect();
        let shorter: Vec<(Vec<&Constraint>, String)> = match unserved {
            [] => all
                .iter()
                .map(|one| (all.iter().copied().filter(|other| other != one).collect(), one.to_string()))
                .collect(),
            _ => vec![(all, unserved.iter().map(Constraint::as_str).collect::<Vec<_>>().join(" and "))],
        };
        for (fewer, parted) in shorter.into_iter().filter(|(fewer, _)| !fewer.is_empty()) {
            if !self.offer(&[set(key, text(&fewer))]) {
                continue;
            }
            let place = match unserved {
                [] => {
                    let sharing = self.sharing(key, &text(&fewer), &parted);
                    format!("hosts with driver {parted} need a target of their own{sharing}")
                }
                _ => format!("hosts with driver {parted} need another one"),
            };
            if let Some(fix) = self.found.last_mut() {
                fix.advice.get_or_insert(place);
            }
        }
    }
}
