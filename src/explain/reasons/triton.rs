//! What is said of the triton that torch brings along, where packages ask for another.

use crate::catalog::rows::{Build, Companion, TRITON};
use crate::solve::request::PackageRequest;
use crate::solve::thirds;
use crate::types::Version;
use crate::types::constraint::admits;

use super::Explainer;

impl<'c> Explainer<'_, 'c> {
    /// The triton that the newest blamed build brings along, where a release that is left is one or asks for one.
    pub(super) fn what_torch_brings(&mut self) {
        let Some((build, triton)) = self.left_with_triton() else { return };
        let brought = format!("=={triton}");
        let of_it = |(of, range, _): (&str, &str, Option<&str>)| thirds::clash((of, range), (TRITON, &brought));
        let asks = |row: &Companion| *row.package == *TRITON || row.requirements().any(of_it);
        let mut blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let is_asked = blamed.any(|ask| {
            let mut rows = self.request.catalog.companions.of(ask.package).iter();
            rows.any(|row| ask.constraint.admits(&row.version) && asks(row))
        });
        // Two packages that ask for different ones clash whatever torch there is.
        let is_told = self.says.iter().filter(|says| says.contains(" requires triton ")).count() > 1;
        let is_blamed = self.newest_left().iter().any(|build| build.triton.is_some());
        if is_asked && (is_blamed || !is_told) {
            self.say(format!("{} {} requires {TRITON} {triton}", build.package, build.version));
        }
    }

    /// The newest blamed build with a triton; where none is blamed, that which blamed packages ask for.
    pub(super) fn left_with_triton(&self) -> Option<(&'c Build, &'c Version)> {
        *self.triton.get_or_init(|| self.find_triton())
    }

    fn find_triton(&self) -> Option<(&'c Build, &'c Version)> {
        let brings = |build: &'c Build| Some((build, build.triton.as_ref()?));
        let is_bound = || {
            let blamed = || self.request.companions.iter().filter(|ask| self.blames(ask.package));
            let takes = |ask: &PackageRequest<'c>, build: &Build| {
                let mut rows = self.asked_releases(ask);
                rows.any(|row| row.framework != build.package || admits(&row.needs, &build.version))
            };
            let going = |build: &&Build| blamed().all(|ask| takes(ask, build));
            let all = || self.left.iter().copied().filter(|build| build.triton.is_some());
            let newest = all().max_by_key(|build| build.version)?;
            // One package alone has no quarrel over triton, and of what each of them takes none is asked for.
            let is_asked = |build: &&Build| build.version != newest.version && blamed().count() > 1;
            all().filter(going).max_by_key(|build| build.version).filter(is_asked)
        };
        self.newest_left().into_iter().find_map(brings).or_else(|| is_bound().and_then(brings))
    }
}
