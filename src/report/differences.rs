//! What two locks choose differently, for people: a line each, under the target it is about.

use crate::lock::Difference;

use super::screen::{Screen, clean};
use crate::explain::importance;

/// The whole report.
pub(super) fn render(screen: &Screen, differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "no differences\n".to_string();
    }
    let mut differences: Vec<&Difference> = differences.iter().collect();
    // Drivers come first, for hosts change slowest.
    crate::types::sort_by_key(&mut differences, |one| {
        (one.part != "driver", one.part != "target", one.target.clone(), importance(&one.part))
    });
    let label = |one: &Difference| {
        let target = one.target.as_ref().map_or_else(String::new, |target| format!("{}: ", clean(target)));
        format!("{target}{}", clean(&one.part))
    };
    let wide = differences.iter().map(|one| label(one).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for one in differences {
        let change = match (&one.from, &one.to) {
            (Some(old), Some(new)) => screen.change(old, new),
            (None, Some(new)) => screen.after(&format!("{} (new)", clean(new))),
            (Some(old), None) => screen.before(&format!("{} (removed)", clean(old))),
            (None, None) => String::new(),
        };
        text += &format!("{:wide$}  {change}\n", label(one));
    }
    text
}
