//! Why the stack is what it is: versions, variants, libraries, CUDA.

use crate::catalog::rows::{Build, FRAMEWORKS, Status, TORCH, TRITON};
use crate::explain::FactNote;
use crate::solve::coinstall;
use crate::solve::pieces::Pieces;
use crate::solve::request::ImageRequest;
use crate::spec::Spec;
use crate::types::{Constraint, Version, sort_by_key};

use super::{Choice, Explainer, Scope, Values, Verdict, newest_first, settle};

impl<'c> Explainer<'_, 'c> {
    pub(super) fn stack(&self, scope: &Scope<'_, 'c>) -> Vec<Choice> {
        let mut choices = Vec::new();
        // What was decided before stays decided: each choice is the best beside the earlier ones.
        let mut spec = scope.spec.clone();
        let mut builds = scope.target.builds.clone();
        sort_by_key(&mut builds, |build| FRAMEWORKS.iter().position(|name| *name == build.package));
        for build in builds {
            let key = format!("stack.{}", build.package);
            if build.is_own() {
                choices.push(self.own_build(scope, build, &key));
                continue;
            }
            choices.push(self.version(scope, &spec, build, &key));
            spec = settle(&spec, &key, build.version.as_str());
            choices.push(self.variant(scope, &spec, build, &key));
            spec = settle(&spec, &key, &format!("{}+{}", build.version, build.variant));
        }
        for companion in &scope.target.companions {
            let key = format!("stack.{}", companion.package);
            let rows = self.asker.catalog.companions.of(&companion.package).iter();
            let known = rows.map(|row| row.version).collect();
            let facts = vec![self.note(self.asker.catalog.cite(*companion))];
            choices.push(self.plain(scope, &spec, &key, &companion.version, known, facts));
            spec = settle(&spec, &key, companion.version.as_str());
        }
        if let Some(python) = scope.target.python {
            let rows = self.asker.catalog.pythons.iter().filter(|row| row.stable);
            let known = rows.map(|row| row.version).collect();
            choices.push(self.plain(scope, &spec, "stack.python", python, known, Vec::new()));
            spec = settle(&spec, "stack.python", python.as_str());
        }
        choices.extend(self.triton(scope));
        choices.extend(self.library(scope, &spec, "cudnn"));
        choices.extend(self.library(scope, &spec, "nccl"));
        choices.extend(self.cuda(scope));
        choices
    }

    /// A build of somebody's own is in nobody's place.
    fn own_build(&self, scope: &Scope<'_, 'c>, build: &Build, key: &str) -> Choice {
        let chosen = as_locked(build);
        let because = vec!["it is your build, as gpuenv.toml describes it".to_string()];
        let key = self.own_key(scope, key);
        Choice { key, part: "version", chosen, verdict: Verdict::Best, because, rejected: vec![], facts: vec![] }
    }

    fn version(&self, scope: &Scope<'_, 'c>, spec: &Spec, build: &Build, key: &str) -> Choice {
        let clause = self.written(key);
        // One that was made for other machines is newer too: that it was is the reason.
        // Where a repository is named whose images hold a torch, one of those is chosen among.
        let asked_of = self.request.target(&scope.target.name).filter(|_| *build.package == *TORCH);
        let repository = asked_of.and_then(|asked| match asked.image {
            ImageRequest::Choose(_) => asked.platform.image(),
            _ => None,
        });
        let is_there = |row: &Build| repository.is_none() || asked_of.is_none_or(|asked| asked.platform.takes(row));
        let newer = |row: &&Build| row.version > build.version && !row.version.is_prerelease() && is_there(row);
        let rows: Vec<&Build> = self.asker.catalog.builds.of(&build.package).iter().filter(newer).collect();
        let asked =
            |row: &&&Build| clause.as_ref().is_none_or(|clause| clause.admits_build(&row.version, &row.variant));
        let better = newest_first(rows.iter().map(|row| &row.version));
        let admitted = newest_first(rows.iter().filter(asked).map(|row| &row.version));
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "version",
                chosen: as_locked(build),
                better,
                admitted,
                best: match repository {
                    Some(repository) => format!("the newest {} in the images of {repository}", build.package),
                    None => format!("the newest {} of catalog {}", build.package, self.asker.catalog.version),
                },
                clause: self.spec.text(key).as_deref(),
                facts: vec![self.note(self.asker.catalog.cite(build))],
            },
        )
    }

    fn variant(&self, scope: &Scope<'_, 'c>, spec: &Spec, build: &Build, key: &str) -> Choice {
        let clause = self.written(key);
        let rank = |row: &Build| {
            let line = row.line();
            (!row.default, row.status != Status::Stable, std::cmp::Reverse(line))
        };
        let alike = |row: &&Build| {
            row.version == build.version
                && (row.arch, row.systems) == (build.arch, build.systems)
                && row.is_cpu() == build.is_cpu()
        };
        let mut rows: Vec<&Build> = self.asker.catalog.builds.of(&build.package).iter().filter(alike).collect();
        sort_by_key(&mut rows, |row| rank(row));
        rows.retain(|row| rank(row) < rank(build));
        let asked = |row: &&&Build| {
            let line = row.line();
            let in_line = |cuda: &Constraint| line.as_ref().is_some_and(|line| cuda.admits(line));
            clause.as_ref().is_none_or(|clause| clause.admits_build(&row.version, &row.variant))
                && self.request.cuda_line.as_ref().is_none_or(in_line)
        };
        let value = |row: &&Build| format!("{}+{}", row.version, row.variant);
        let best = match (build.variant.as_ref(), build.default) {
            ("cpu", _) => "the target has no GPU".to_string(),
            (_, true) => "the build that the package index serves by default".to_string(),
            _ => "the newest stable CUDA line it was published for".to_string(),
        };
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "variant",
                chosen: build.variant.to_string(),
                better: rows.iter().map(value).collect(),
                admitted: rows.iter().filter(asked).map(value).collect(),
                best,
                clause: self.spec.text(key).as_deref(),
                facts: Vec::new(),
            },
        )
    }

    /// A choice among versions without variants.
    fn plain(
        &self,
        scope: &Scope<'_, 'c>,
        spec: &Spec,
        key: &str,
        chosen: &Version,
        known: Vec<Version>,
        facts: Vec<FactNote>,
    ) -> Choice {
        let clause = self.written(key);
        let newer: Vec<&Version> =
            known.iter().filter(|version| *version > chosen && !version.is_prerelease()).collect();
        let asked = |version: &&&Version| clause.as_ref().is_none_or(|clause| clause.admits(version));
        let name = key.rsplit('.').next().unwrap_or(key);
        self.judge(
            scope,
            spec,
            key,
            Values {
                key: self.own_key(scope, key),
                part: "version",
                chosen: chosen.to_string(),
                better: newest_first(newer.iter().copied()),
                admitted: newest_first(newer.iter().filter(asked).copied()),
                best: format!("the newest {name} of catalog {}", self.asker.catalog.version),
                clause: self.spec.text(key).as_deref(),
                facts,
            },
        )
    }

    /// The triton that a build asks for; one that is asked for itself is a choice as others are.
    fn triton(&self, scope: &Scope<'_, 'c>) -> Option<Choice> {
        let version =
            scope.target.triton.filter(|_| scope.target.companions.iter().all(|row| *row.package != *TRITON))?;
        let build = scope.target.builds.iter().find(|build| build.triton.is_some())?;
        Some(self.brought(scope, "stack.triton", build, version))
    }

    /// What a build brings along.
    fn brought(&self, scope: &Scope<'_, 'c>, key: &str, build: &Build, version: &Version) -> Choice {
        let because = format!("comes with {} {}+{}", build.package, build.version, build.variant);
        let catalog = self.asker.catalog;
        let mut fact = self.note(catalog.cite(build));
        if let Some(source) = &build.pins_source {
            let at = catalog.origin_of(build, source);
            fact.source = catalog.provenance(&fact.id, at);
        }
        self.follows(self.own_key(scope, key), "version", version.to_string(), because, vec![fact])
    }

    /// cuDNN or NCCL: of the system where builds load that, inside a wheel, or chosen.
    fn library(&self, scope: &Scope<'_, 'c>, spec: &Spec, name: &'static str) -> Option<Choice> {
        let target = scope.target;
        let of = |build: &&&'c Build| build.part(name);
        let chosen =
            if name == "cudnn" { target.cudnn.map(|row| &row.version) } else { target.nccl.map(|row| &row.version) };
        let bringing = target.builds.iter().find_map(|build| Some((*build, of(&build)?)));
        let key = format!("stack.{name}");
        if let Some((build, _)) = bringing.filter(|(build, _)| build.system_cuda)
            && let Some(version) = target.system_cudnn().filter(|_| name == "cudnn")
        {
            let installed = target.installed_cudnn.as_ref() == Some(version);
            let has = if installed { "target is said to have" } else { "image has" };
            let because = format!("what the {has}; {} loads the system's", build.named());
            let facts = vec![self.note(self.asker.catalog.cite(build))];
            return Some(self.follows(self.own_key(scope, &key), "version", version.to_string(), because, facts));
        }
        if let Some((build, version)) = bringing.filter(|_| chosen.is_none()) {
            return Some(self.brought(scope, &key, build, version));
        }
        let (catalog, chosen) = (self.asker.catalog, chosen?);
        // One that a wheel holds inside is a copy of its own, and asking for a newer one would ask it of that too.
        let mut holding = target.builds.iter().filter(|build| build.pins.is_none() && !build.system_cuda);
        if let Some((holding, inside)) = holding.find_map(|build| Some((build, of(&build)?))) {
            let open = target.builds.iter().filter(|build| coinstall::leaves_open(build)).map(|build| build.named());
            let because = format!(
                "pip installs it for {}; {} holds {inside} inside its wheel",
                open.collect::<Vec<_>>().join(" and "),
                holding.named()
            );
            let facts = vec![self.note(catalog.cite(*holding))];
            return Some(self.follows(self.own_key(scope, &key), "version", chosen.to_string(), because, facts));
        }
        Some(self.plain(scope, spec, &key, chosen, catalog.versions_of(name), Vec::new()))
    }

    fn cuda(&self, scope: &Scope<'_, 'c>) -> Option<Choice> {
        let target = scope.target;
        let release = target.cuda_release()?;
        let of_image = target.image.is_some_and(|image| image.cuda == release);
        let by_pip = target.pieces.as_ref().is_some_and(Pieces::bring_runtime);
        let mut gpu_builds = target.builds.iter().filter(|build| !build.is_cpu());
        let because = match (target.toolkit, gpu_builds.find(|build| !by_pip || coinstall::leaves_open(build))) {
            (Some(toolkit), _) if toolkit.version == release => "the release of the toolkit".to_string(),
            (_, Some(_)) if of_image => "the release in the image, of the wheels' line".to_string(),
            (_, Some(build)) if build.system_cuda => format!("what {} loads of the system", build.named()),
            (_, Some(build)) => format!("the runtime of {}", build.named()),
            _ => "the release that runs".to_string(),
        };
        let row = self.asker.catalog.toolkit(&release);
        let facts = row.map(|row| self.note(self.asker.catalog.cite(row))).into_iter().collect();
        Some(self.follows(self.own_key(scope, "stack.cuda"), "version", release.to_string(), because, facts))
    }

    pub(super) fn follows(
        &self,
        key: String,
        part: &'static str,
        chosen: String,
        because: String,
        facts: Vec<FactNote>,
    ) -> Choice {
        Choice { key, part, chosen, verdict: Verdict::Follows, because: vec![because], rejected: Vec::new(), facts }
    }
}

/// A build's version as the lock has it: what stands in an image and builds of somebody's own keep the name that they have
/// there, whatever release they count as.
fn as_locked(build: &Build) -> String {
    match build.is_in_image() || build.is_own() {
        true => build.shown().split('+').next().unwrap_or_default().to_string(),
        false => build.version.to_string(),
    }
}
