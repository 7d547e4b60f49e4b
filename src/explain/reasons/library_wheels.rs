//! The C library that wheels of NVIDIA's libraries need: of those that are chosen beside builds which leave them open, and of a
//! cuDNN or an NCCL that is asked for.

use crate::catalog::LIBRARIES;
use crate::catalog::rows::{Build, Subject};
use crate::solve::coinstall;
use crate::solve::libraries::{self, compiles_for};
use crate::types::Version;

use super::Explainer;
use super::words::name_of;

impl<'c> Explainer<'_, 'c> {
    /// Says what needs a newer C library than there is in every release that is taken; not where it is the builds that do.
    pub(super) fn glibc_of_libraries(&mut self) -> bool {
        let Some(has) = self.of_oldest_glibc().and_then(|target| target.glibc) else { return false };
        if self.left.iter().any(|build| self.lacks_glibc(build)) {
            return false;
        }
        let open: Vec<&Build> = self.newest_left().into_iter().filter(|build| coinstall::leaves_open(build)).collect();
        let before = self.says.len();
        for build in &open {
            self.glibc_of_open(build, has);
        }
        if open.is_empty() {
            self.glibc_of_asked(has);
            self.glibc_of_brought(has);
        }
        let is_said = self.says.len() > before;
        if is_said {
            self.subject(Subject::Glibc);
            self.cite_builds(&open);
        }
        is_said
    }

    /// What a build leaves open.
    fn glibc_of_open(&mut self, build: &'c Build, has: Version) {
        let catalog = self.request.catalog;
        let wanted = |name: &str, version: &Version| {
            self.request.part(name).filter(|_| self.blames(name)).is_none_or(|asked| asked.admits(version))
        };
        let cudnns = coinstall::accepted(catalog, build).into_iter().flatten();
        let cudnns: Vec<_> = cudnns.filter(|row| wanted("cudnn", &row.version)).map(|row| row.glibc).collect();
        let line = build.line().map(|line| line.major());
        let is_taken = |version: &Version| build.nccl.is_some_and(|least| *version >= least);
        let nccls = catalog.nccls.iter().filter(|row| Some(row.cuda.major()) == line && is_taken(&row.version));
        let nccls: Vec<_> = nccls.filter(|row| wanted("nccl", &row.version)).map(|row| row.glibc).collect();
        for (name, least, needs) in [("cuDNN", build.cudnn, cudnns), ("NCCL", build.nccl, nccls)] {
            if let Some((least, needs)) = least.zip(all_need(needs, has)) {
                let of = format!("{name} {least} or newer");
                self.say(format!("{} requires {of}, whose wheels need glibc {needs} or newer", name_of(build)));
            }
        }
        self.glibc_of_pieces(build, has);
    }

    /// The components of the toolkit, of a release that knows the GPUs and is asked for.
    fn glibc_of_pieces(&mut self, build: &'c Build, has: Version) {
        let (catalog, problem) = (self.request.catalog, self.request.problem);
        let Some(target) = self.of_oldest_glibc() else { return };
        let wanted = self.request.cuda.as_ref().filter(|_| self.blames("cuda"));
        let releases = problem.kits_for(build);
        let taken =
            |kit: &&Version| compiles_for(catalog, &target.machine, kit) && wanted.is_none_or(|it| it.admits(kit));
        let names: Vec<&str> = libraries::asked_of(catalog, build, Some(target.arch)).map(|(name, _)| name).collect();
        let kits = problem.kits();
        let newest_of = |release: &Version| {
            let kit = kits.iter().find(|kit| kit.version == *release)?;
            let each = names.iter().rev().filter_map(|name| Some((kit.needs_glibc(name, target.arch)?, *name)));
            each.max_by_key(|(needs, _)| *needs)
        };
        let taken: Vec<&Version> = releases.iter().filter(taken).collect();
        let told: Vec<_> = taken.iter().map(|release| newest_of(release)).collect();
        let needs = all_need(told.iter().map(|one| one.map(|(needs, _)| needs)).collect(), has);
        if let Some((((_, name), oldest), needs)) = told.first().copied().flatten().zip(taken.iter().min()).zip(needs) {
            let of = format!("{name}, whose wheels from CUDA {oldest} on need glibc {needs} or newer");
            self.say(format!("{} requires {of}", name_of(build)));
            self.gpus();
            if let Some(wanted) = wanted {
                self.say_line("cuda", wanted);
            }
        }
    }

    /// A cuDNN or an NCCL that no framework brings.
    fn glibc_of_asked(&mut self, has: Version) {
        for (key, name) in LIBRARIES {
            let Some(wanted) = self.request.part(key).filter(|_| self.blames(key)) else { continue };
            let of = self.request.catalog.releases_of(key).filter(|one| wanted.admits(&one.version));
            if let Some(needs) = all_need(of.map(|one| one.glibc).collect(), has) {
                self.say(format!("the wheels of {name} {wanted} need glibc {needs} or newer"));
            }
        }
    }
}

impl<'c> Explainer<'_, 'c> {
    /// The components that packages ask pip for, of the CUDA that is asked for.
    fn glibc_of_brought(&mut self, has: Version) {
        let (problem, arch) = (self.request.problem, self.platform().arch);
        let Some(wanted) = &self.request.cuda else { return };
        let kits = problem.kits();
        self.companions_say(|row| {
            let wants = problem.wants(&row.package);
            let asked = wants.at(&row.version).map(|(piece, _)| piece);
            asked.filter(|piece| piece.starts_with("nvidia-")).find_map(|piece| {
                let of_cuda = kits.iter().filter(|kit| wanted.admits(&kit.version) && kit.version_of(piece).is_some());
                let needs = all_need(of_cuda.map(|kit| kit.needs_glibc(piece, arch)).collect(), has)?;
                Some(format!("requires {piece}, whose wheels for CUDA {wanted} need glibc {needs} or newer"))
            })
        });
    }
}

/// The oldest glibc that one of some wheels needs, where each needs a newer one than there is.
fn all_need(needs: Vec<Option<Version>>, has: Version) -> Option<Version> {
    let all: Option<Vec<Version>> = needs.into_iter().collect();
    all?.into_iter().min().filter(|least| has < *least)
}
