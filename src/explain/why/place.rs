//! Why a target is what it is: toolkit, image, GPUs, driver.

use crate::catalog::rows::{Image, Toolkit};
use crate::explain::FactNote;
use crate::solve::request::{ImageRequest, TargetRequest};
use crate::solve::services;
use crate::solve::solution::{GpuAnswer, TargetAnswer};
use crate::types::{Version, distinct, sort_by_key};

use super::{Choice, Explainer, NAMED, Scope, Values, Verdict, minimum, settle};

impl<'c> Explainer<'_, 'c> {
    /// Toolkit, image, GPUs and driver of a target.
    pub(super) fn target(&self, target: &TargetAnswer<'c>) -> Vec<Choice> {
        let Some(asked) = self.request.target(&target.name) else {
            return Vec::new();
        };
        let mut scope = self.scope(target);
        for build in &target.builds {
            let value = format!("{}+{}", build.version, build.variant);
            scope.spec = settle(&scope.spec, &format!("stack.{}", build.package), &value);
        }
        let line = target.builds.iter().find_map(|build| build.line());
        let toolkit = target.toolkit.map(|toolkit| self.toolkit(&scope, asked, toolkit, line.as_ref()));
        let image = target.image.map(|image| self.image(&scope, asked, image, line.as_ref()));
        let gpus = self.gpus(asked, target);
        let driver = minimum::driver(self.request, asked, target);
        let services = self.services(asked, target);
        toolkit.into_iter().chain(image).chain(gpus).chain(driver).chain(services).collect()
    }

    fn toolkit(
        &self,
        scope: &Scope<'_, 'c>,
        asked: &TargetRequest<'c>,
        chosen: &Toolkit,
        line: Option<&Version>,
    ) -> Choice {
        let key = asked.key("toolkit");
        let on_line = |row: &Toolkit| line.is_none_or(|line| row.version.cmp_prefix(line).is_eq());
        let better: Vec<&Toolkit> = self
            .asker
            .catalog
            .toolkits
            .iter()
            .rev()
            .filter(|row| !row.components_only && on_line(row) && (row.version > chosen.version || !on_line(chosen)))
            .collect();
        let installed = asked.toolkits.as_ref();
        let asks = |row: &&&Toolkit| {
            installed.is_none_or(|has| has.iter().any(|has| row.version.cmp_prefix(has).is_eq()))
                && self.request.cuda.as_ref().is_none_or(|wanted| wanted.admits(&row.version))
        };
        let best = match line {
            Some(line) => format!("the newest release of the wheels' own CUDA line {line}"),
            None => format!("the newest toolkit of catalog {}", self.asker.catalog.version),
        };
        self.judge(
            scope,
            &scope.spec,
            &key,
            Values {
                key: key.clone(),
                part: "release",
                chosen: chosen.version.to_string(),
                better: better.iter().map(|row| row.version.to_string()).collect(),
                admitted: better.iter().filter(asks).map(|row| row.version.to_string()).collect(),
                best,
                clause: self.spec.text(&key).as_deref(),
                facts: vec![self.note(self.asker.catalog.cite(chosen))],
            },
        )
    }

    fn image(
        &self,
        scope: &Scope<'_, 'c>,
        asked: &TargetRequest<'c>,
        chosen: &Image,
        line: Option<&Version>,
    ) -> Choice {
        let key = asked.key("image");
        let name = |image: &Image| format!("{}:{}", image.repository, image.tag);
        let facts = vec![self.note(self.asker.catalog.cite(chosen))];
        if !matches!(asked.image, ImageRequest::Choose(_)) {
            return self.follows(key, "tag", name(chosen), "gpuenv.toml names it".to_string(), facts);
        }
        let on_line = |row: &Image| line.is_none_or(|line| row.cuda.cmp_prefix(line).is_eq());
        let better = |row: &&Image| {
            row.flavour == chosen.flavour
                && row.cudnn.is_some() == chosen.cudnn.is_some()
                && row.os == chosen.os
                && !row.withdrawn
                && row.arches.contains(&asked.arch)
                && on_line(row)
                && (row.cuda > chosen.cuda || !on_line(chosen))
        };
        let mut rows: Vec<&Image> = self.asker.catalog.images.of(&chosen.repository).iter().filter(better).collect();
        sort_by_key(&mut rows, |row| std::cmp::Reverse(row.cuda));
        let better: Vec<String> = rows.iter().map(|row| name(row)).collect();
        let flavour = chosen.flavour.as_str();
        let best = match line {
            Some(line) if on_line(chosen) => {
                format!("of the wheels' own CUDA line {line}, and `{flavour}` is the smallest flavour that works")
            }
            Some(line) => format!("no tag of CUDA {line} exists for this system and platform; this is the nearest"),
            None => format!("the newest tag that works, and `{flavour}` is the smallest flavour that does"),
        };
        self.judge(
            scope,
            &scope.spec,
            &key,
            Values {
                key: key.clone(),
                part: "tag",
                chosen: name(chosen),
                admitted: better.clone(),
                better,
                best,
                clause: None,
                facts,
            },
        )
    }

    /// What the machine needs beside its driver.
    fn services(&self, asked: &TargetRequest<'c>, target: &TargetAnswer<'c>) -> Option<Choice> {
        let driver = target.driver.as_ref().map(|driver| &driver.version);
        let rows = services::of_target(self.asker.catalog, asked, driver);
        let needed: Vec<_> = rows.into_iter().filter(|row| row.needs.is_some()).collect();
        let names: Vec<&str> = needed.iter().filter_map(|row| row.needs.as_deref()).collect();
        (!names.is_empty()).then(|| Choice {
            key: asked.key("requires"),
            part: "services",
            chosen: names.join(", "),
            verdict: Verdict::Follows,
            because: needed.iter().map(|row| row.says.trim_end_matches('.').to_string()).collect(),
            rejected: Vec::new(),
            facts: needed.iter().map(|row| self.note(self.asker.catalog.cite(*row))).collect(),
        })
    }

    /// How each GPU is reached.
    fn gpus(&self, asked: &TargetRequest<'c>, target: &TargetAnswer<'c>) -> Option<Choice> {
        let named = asked.named_gpus();
        if named.is_empty() {
            return None;
        }
        let mut because = Vec::new();
        // A family name means many boards, of which mostly the same is to be said.
        let mut alike: Vec<Vec<&GpuAnswer>> = Vec::new();
        for gpu in &target.gpus {
            match alike.iter_mut().find(|group| group[0].cc == gpu.cc && group[0].coverage == gpu.coverage) {
                Some(group) => group.push(gpu),
                None => alike.push(vec![gpu]),
            }
        }
        for group in &alike {
            let (it, has) = if group.len() > 1 { ("them", "have") } else { ("it", "has") };
            let how = match group[0].coverage.and_then(|coverage| coverage.as_str()) {
                Some("native") => format!("machine code in the stack runs on {it}"),
                Some("jit") => format!("the driver compiles PTX for {it}"),
                _ => format!("it is not known whether the stack holds code for {it}"),
            };
            let names: Vec<&str> = group.iter().map(|gpu| gpu.name.as_str()).collect();
            let boards = if names.len() > NAMED { format!("{} GPUs", names.len()) } else { names.join(", ") };
            because.push(format!("{boards} {has} compute capability {}: {how}", group[0].cc));
        }
        let cited = named.iter().filter_map(|gpu| gpu.row);
        let mut facts: Vec<FactNote> = cited.map(|row| self.note(self.asker.catalog.cite(row))).collect();
        facts.dedup();
        for row in services::of_some(self.asker.catalog, asked) {
            because.push(format!(
                "some GPUs of that name need more (name the product to have it in the lock): {}",
                row.says.trim_end_matches('.')
            ));
            facts.push(self.note(self.asker.catalog.cite(row)));
        }
        let names: Vec<&str> = target.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
        let written = distinct(named.iter().map(|gpu| gpu.written.as_str()));
        let shown = match names.len() > NAMED {
            true => format!("{} ({} GPUs)", written.join(", "), names.len()),
            false => names.join(", "),
        };
        Some(Choice {
            key: asked.key("gpu"),
            part: "coverage",
            chosen: shown,
            verdict: Verdict::Follows,
            because,
            rejected: Vec::new(),
            facts,
        })
    }
}
