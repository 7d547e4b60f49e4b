//! What an answer rests on: each row and rule that speaks of something chosen, with the choices it supports.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::rows::{Build, Subject};
use crate::catalog::{Cite, Fact};
use crate::coverage::Coverage;
use crate::solve::answer::{Answer, TargetAnswer};
use crate::solve::fits;
use crate::solve::question::{Question, TargetAsk};
use crate::spec::Share;
use crate::words::Version;

use super::FactLock;

/// Every fact of an answer, by id.
pub fn facts(question: &Question<'_>, answer: &Answer<'_>) -> Vec<FactLock> {
    let mut ledger = Ledger { question, facts: BTreeMap::new() };
    for (asked, target) in question.targets.iter().zip(&answer.targets) {
        let book = Entry { asked, target, stack: stack_prefix(question, asked) };
        ledger.stack(&book);
        ledger.place(&book);
        ledger.driver(&book);
        ledger.rules(&book);
    }
    ledger.close()
}

/// One stack for all targets has one name; stacks of their own are named after their target.
fn stack_prefix(question: &Question<'_>, asked: &TargetAsk<'_>) -> String {
    match question.share {
        Share::Stack => "stack".to_string(),
        Share::Versions | Share::None => asked.key("stack"),
    }
}

struct Ledger<'q, 'c> {
    question: &'q Question<'c>,
    facts: BTreeMap<String, (Fact, BTreeSet<String>)>,
}

/// A target's part of the question and of the answer.
struct Entry<'a, 'c> {
    asked: &'a TargetAsk<'c>,
    target: &'a TargetAnswer<'c>,
    stack: String,
}

impl Entry<'_, '_> {
    fn in_stack(&self, name: &str) -> String {
        format!("{}.{name}", self.stack)
    }

    fn key(&self, setting: &str) -> String {
        self.asked.key(setting)
    }
}

impl Ledger<'_, '_> {
    fn put(&mut self, row: &impl Cite, supports: impl IntoIterator<Item = String>) {
        let catalog = self.question.catalog;
        let (_, known) = self.facts.entry(row.id()).or_insert_with(|| (catalog.cite(row), BTreeSet::new()));
        known.extend(supports);
    }

    /// Frameworks, what follows them, and the libraries below.
    fn stack(&mut self, entry: &Entry<'_, '_>) {
        let target = entry.target;
        for build in &target.builds {
            let mut supports = vec![entry.in_stack(&build.package)];
            let parts = [("cudnn", &build.cudnn), ("nccl", &build.nccl), ("triton", &build.triton)];
            supports.extend(parts.iter().filter(|(_, part)| part.is_some()).map(|(name, _)| entry.in_stack(name)));
            supports.extend((!target.gpus.is_empty()).then(|| entry.key("gpu")));
            self.put(*build, supports);
            if let Some(toolkit) = self.question.toolkit_of(build) {
                self.put(toolkit, [entry.in_stack("cuda")]);
            }
        }
        for companion in &target.companions {
            self.put(*companion, [entry.in_stack(&companion.package)]);
        }
        let pythons = self.question.catalog.pythons.iter();
        if let Some(row) = pythons.into_iter().find(|row| target.python == Some(&row.version)) {
            self.put(row, [entry.in_stack("python")]);
        }
        if let Some(row) = target.cudnn {
            self.put(row, [entry.in_stack("cudnn")]);
        }
        if let Some(row) = target.nccl {
            self.put(row, [entry.in_stack("nccl")]);
        }
        if let Some(row) = target.cuda {
            self.put(row, [entry.in_stack("cuda")]);
        }
    }

    /// Where it runs and is compiled: GPU, OS, image, toolkit.
    fn place(&mut self, entry: &Entry<'_, '_>) {
        let (asked, target, catalog) = (entry.asked, entry.target, self.question.catalog);
        for row in asked.named_gpus().iter().filter_map(|gpu| gpu.row) {
            self.put(row, [entry.key("gpu")]);
        }
        if let Some(row) = asked.os {
            self.put(row, [entry.key("os")]);
        }
        if let Some(row) = target.toolkit {
            self.put(row, [entry.key("toolkit")]);
        }
        for build in target.builds.iter().filter(|_| target.toolkit.is_some()) {
            if let Some(row) = fits::extension_row(self.question, build) {
                self.put(row, [entry.key("arch-list"), entry.key("toolkit")]);
            }
        }
        for image in target.image.iter().chain(&target.runtime_image) {
            self.put(*image, [entry.key("image")]);
            let id = image.require.as_ref().map(|require| format!("{require}@{}", target.arch));
            let requires = catalog.image_requires.iter();
            if let Some(row) = requires.into_iter().find(|row| id.as_deref() == Some(&*row.id)) {
                self.put(row, [entry.key("driver"), entry.key("image")]);
            }
        }
    }

    /// The driver: the release named, its branch, and what stands before it.
    fn driver(&mut self, entry: &Entry<'_, '_>) {
        let Some(driver) = &entry.target.driver else { return };
        let (catalog, key) = (self.question.catalog, entry.key("driver"));
        self.put(driver.branch, [key.clone()]);
        if let Some(compat) = driver.compat {
            self.put(compat, [key.clone()]);
        }
        if let Some(row) = entry.target.minimum.as_ref().and_then(|minimum| catalog.driver(minimum)) {
            self.put(row, [key.clone()]);
        }
        if entry.target.gpus.iter().any(|gpu| gpu.coverage == Some(Coverage::Jit)) {
            let builds = entry.target.builds.iter().filter_map(|build| self.question.toolkit_of(build));
            let isas: Vec<Version> = builds.chain(entry.target.toolkit).map(|row| row.ptx_isa.clone()).collect();
            for row in catalog.ptx_isas.iter().filter(|row| isas.contains(&row.isa)) {
                self.put(row, [key.clone()]);
            }
        }
    }

    /// The rules of the catalog that speak of what was chosen.
    fn rules(&mut self, entry: &Entry<'_, '_>) {
        let (asked, target) = (entry.asked, entry.target);
        let line = |build: &&Build| fits::line_of(&build.variant);
        let mut lines: Vec<Version> = target.builds.iter().filter_map(line).collect();
        lines.extend(target.toolkit.iter().chain(&target.cuda).map(|row| row.version.prefix(2)));
        lines.sort();
        lines.dedup();
        let cuda =
            if target.builds.is_empty() { entry.in_stack("cuda") } else { entry.in_stack(&target.builds[0].package) };
        for gpu in asked.named_gpus() {
            self.about(entry, Subject::Gpu, &gpu.cc_version, Subject::Cuda, &[&cuda]);
            self.about(entry, Subject::Gpu, &gpu.cc_version, Subject::Driver, &[&entry.key("driver")]);
        }
        if target.driver.is_some() {
            for line in &lines {
                self.about(entry, Subject::Cuda, line, Subject::Driver, &[&entry.key("driver")]);
            }
        }
        if !asked.named_gpus().is_empty() {
            let bundled = target.builds.iter().filter_map(|build| build.cudnn.as_ref());
            let cudnns: Vec<Version> = bundled.chain(target.cudnn.map(|row| &row.version)).cloned().collect();
            for cudnn in &cudnns {
                self.about(entry, Subject::Cudnn, cudnn, Subject::Gpu, &[&entry.in_stack("cudnn")]);
            }
        }
        if let Some(toolkit) = target.toolkit {
            self.about(entry, Subject::Toolkit, &toolkit.version, Subject::Glibc, &[&entry.key("toolkit")]);
        }
    }

    fn about(&mut self, entry: &Entry<'_, '_>, subject: Subject, of: &Version, object: Subject, supports: &[&str]) {
        let question = self.question;
        for needs in question.rules.about(subject, of, object) {
            if question.holds(&needs.row.id, &entry.asked.name) {
                self.put(needs.row, supports.iter().map(|key| key.to_string()));
            }
        }
    }

    fn close(self) -> Vec<FactLock> {
        let facts = self.facts.into_values().map(|(fact, supports)| FactLock {
            id: fact.id,
            source: fact.source,
            digest: fact.digest,
            supports: supports.into_iter().collect(),
        });
        facts.collect()
    }
}
