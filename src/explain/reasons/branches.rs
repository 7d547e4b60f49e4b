//! Which driver of a list a clash is about: all of them occur, and one is often enough for it.

use crate::explain::ask::Asker;
use crate::solve::reading::Reading;
use crate::solve::request::{DriverRequest, Request, TargetRequest};

/// A request that clashes with each list of drivers cut down to the first that clashes by itself, and the targets whose lists
/// were cut. Of several the one is told that clashes in the whole spec too, where more is known of its target.
pub(super) fn one_of_each<'c>(asker: &Asker<'_, 'c>, mut request: Request<'c>) -> (Request<'c>, Vec<String>) {
    let mut cut = Vec::new();
    for at in 0..request.targets.len() {
        let name = request.targets[at].name.clone();
        let with = |target: &TargetRequest<'c>, driver: &DriverRequest| {
            let reading = Reading { driver: driver.clone(), ..Reading::clone(&target.reading) };
            let alone = TargetRequest::new(asker.problem, &target.name, reading);
            TargetRequest { driver_policy: target.driver_policy, ..alone }
        };
        let clashes = |driver: &&DriverRequest| {
            let mut asked = request.clone();
            asked.targets[at] = with(&asked.targets[at], driver);
            asker.is_refuted(&asked) == Some(true)
        };
        let in_whole = |driver: &&&DriverRequest| {
            let whole = asker.base().and_then(|base| Some(base.of(vec![with(base.target(&name)?, driver)])));
            whole.is_some_and(|whole| asker.is_refuted(&whole) == Some(true))
        };
        let listed = request.targets[at].driver.listed();
        let clashing: Vec<&DriverRequest> = listed.iter().filter(clashes).collect();
        let Some(&first) = clashing.first() else { continue };
        let driver = clashing.iter().find(in_whole).copied().unwrap_or(first);
        request.targets[at] = with(&request.targets[at], driver);
        cut.push(name);
    }
    (request, cut)
}
