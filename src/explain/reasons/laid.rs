//! Packages beside a torch that is no published release: a nightly, or a build of somebody's own from before a release.

use crate::solve::own;

use super::Explainer;
use super::words::list;

impl Explainer<'_, '_> {
    /// What packages that follow a framework say of themselves beside it.
    pub(super) fn companions(&mut self) {
        self.companion();
        self.made_for_releases();
    }

    /// That releases of blamed packages are made for releases of their framework, and what goes beside one that is none.
    fn made_for_releases(&mut self) {
        let companions = self.request.companions.iter();
        let companions = companions.filter(|ask| self.blames(ask.package) && !ask.names_prerelease());
        let names: Vec<&str> = companions.map(|ask| ask.package).collect();
        let frameworks = self.request.frameworks.iter().filter(|ask| self.blames(ask.package));
        let mut early = frameworks.filter_map(|ask| Some((ask, ask.constraint.single()?)));
        let Some((ask, version)) = early.find(|(_, version)| version.is_prerelease()) else { return };
        let Some(first) = names.first() else { return };
        let instead = match own::nightly(&ask.constraint).and(version.as_str().split_once(".dev")) {
            Some((_, day)) => format!("name its nightly of that day, if there is one (`{first} = \"….dev{day}\"`)"),
            None => "describe the build of it that you have in an overlay (`gpuenv explain overlay`)".to_string(),
        };
        self.say(format!(
            "releases of {} are built for releases of {}, and {version} precedes one: {instead}, or leave it out",
            list(&names),
            ask.package
        ));
    }
}
