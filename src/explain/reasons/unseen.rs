//! Builds that are asked for and that nobody has seen: they are judged by the builds next to them.

use crate::catalog::Row;
use crate::catalog::rows::{Build, Toolkit};
use crate::coverage::{Coverage, covers_targets};
use crate::solve::fits;
use crate::types::ArchList;

use super::Explainer;

impl<'c> Explainer<'_, 'c> {
    /// The builds before and after those of blamed frameworks that nobody has seen, where none was seen.
    pub(super) fn next_to_unseen(&mut self) -> Vec<&'c Build> {
        let (request, on) = (self.request, self.platform());
        let mut next = Vec::new();
        for ask in &request.frameworks {
            let Some(framework) = request.problem.framework(ask.package).filter(|_| self.is_unseen(ask.package)) else {
                continue;
            };
            let unseen = framework.releases.iter().filter(|one| ask.takes(one) && framework.is_unseen(one, on));
            let was_published = unseen.clone().any(|release| release.was_published(on.arch));
            let like: Vec<&Build> = unseen.flat_map(|release| release.like(on)).copied().collect();
            if !like.is_empty() {
                let lacks = if was_published { "was not read" } else { "was not seen" };
                self.say(format!("{} {} {lacks}: it is judged by the builds next to it", ask.package, ask.constraint));
                next.extend(like);
            }
        }
        next
    }

    /// Whether the CUDA that is named compiles for none of what a blamed GPU runs, which is told: no build of it can.
    pub(super) fn left_out_by_cuda(&mut self) -> bool {
        let catalog = self.request.catalog;
        let asked: Vec<_> = self.request.frameworks.iter().filter(|ask| self.blames(ask.package)).collect();
        let is_named = |toolkit: &&Toolkit| {
            let variant = format!("cu{}", toolkit.version.prefix(2).as_str().replace('.', ""));
            asked.iter().any(|ask| ask.constraint.pins_variant() && ask.constraint.names_variant(&variant))
        };
        // Each release of a line compiles for the same.
        let Some(toolkit) = catalog.toolkits.iter().rfind(is_named) else { return false };
        let (known, tegra) = (&toolkit.sass, fits::tegra(Some(toolkit)));
        let runs = |cc| covers_targets(known.iter().copied(), known.iter().copied(), cc, tegra) != Coverage::None;
        if self.blamed_gpus().iter().all(|gpu| runs(gpu.gpu.cc)) {
            return false;
        }
        let names = ArchList::from_targets(known, &[]).names().replace(' ', ", ");
        self.say(format!("CUDA {} compiles for {names} only", toolkit.version.prefix(2)));
        self.fact(toolkit.id(), catalog.origin_of(toolkit, &toolkit.source));
        true
    }

    /// Blamed frameworks of which nothing was seen and no sentence speaks.
    pub(super) fn quote_unseen(&mut self) {
        for ask in &self.request.frameworks {
            let constraint = ask.constraint.to_string();
            if self.is_unseen(ask.package) && !self.says.iter().any(|told| told.contains(&constraint)) {
                self.say_line(ask.package, &constraint);
            }
        }
    }

    /// Whether a framework is blamed of which no build was seen that is asked for.
    pub(super) fn is_unseen(&self, package: &str) -> bool {
        self.blames(package) && self.admitted().iter().all(|build| build.package != *package)
    }
}
