//! What keeps extensions from being compiled: toolkits, host compilers, lists of architectures.

use crate::catalog::rows::{Build, Os, Subject, Toolkit};
use crate::solve::request::ImageRequest;
use crate::types::{Arch, Suffix, Version};

use super::Explainer;
use super::words::{by_package, describe, list, named, numbers};

impl<'c> Explainer<'_, 'c> {
    /// The host compiler of the target, and whose it is.
    pub(super) fn gcc(&mut self) {
        let Some(target) = self.request.targets.iter().find(|target| target.compiler().is_some()) else {
            return;
        };
        // One that is written is not the system's own.
        let is_its_own = |os: &&Os| os.gcc == target.compiler() && !self.culprits.contains(&target.key("gcc"));
        let of_os = target.os.filter(is_its_own);
        let of = of_os.map_or_else(|| format!("target `{}`", target.name), |os| os.name.to_string());
        if let Some(gcc) = target.compiler() {
            self.say(format!("{of} has gcc {gcc}"));
        }
    }

    /// The clang that a target has as its host compiler.
    pub(super) fn clang(&mut self) {
        let target = self.target_with("clang").or(self.request.targets.iter().find(|target| target.clang.is_some()));
        if let Some(clang) = target.and_then(|target| target.clang) {
            self.say(format!("the host has clang {clang}"));
        }
    }

    /// The toolkits that are admitted at all.
    fn toolkits(&self) -> Vec<&'c Toolkit> {
        let target = self.target();
        let installed = target.and_then(|target| target.toolkits.as_ref());
        let inside = self.target_with("image").and_then(|target| match &target.image {
            ImageRequest::Known(image) => Some(image.cuda),
            _ => None,
        });
        let asked = |row: &&Toolkit| {
            let is_there = inside.is_none_or(|inside| row.version.cmp_prefix(&inside).is_eq());
            is_there
                && self.request.cuda.as_ref().is_none_or(|wanted| wanted.admits(&row.version))
                && installed.is_none_or(|installed| installed.iter().any(|has| row.version.cmp_prefix(has).is_eq()))
        };
        self.request.catalog.toolkits.iter().filter(asked).collect()
    }

    /// Those of them that extensions of the admitted builds can be compiled with.
    fn toolkits_of_builds(&self) -> Vec<&'c Toolkit> {
        let lines = self.left.iter().copied().filter_map(|build| build.line());
        let majors: Vec<u64> = lines.map(|line| line.major()).collect();
        let all = self.toolkits();
        let serves = |row: &&Toolkit| majors.is_empty() || majors.contains(&row.version.major());
        let serving: Vec<&Toolkit> = all.iter().copied().filter(serves).collect();
        if serving.is_empty() { all } else { serving }
    }

    fn cite_toolkit(&mut self, toolkit: &Toolkit, source: &str) {
        let source = self.request.catalog.source_of(source, toolkit.version.as_str(), "", "");
        self.fact(format!("toolkit {}", toolkit.version), source);
    }

    /// The architectures to compile for: those of the list, else those of the target's GPUs.
    fn archs_wanted(&self) -> Vec<Arch> {
        let of_gpus = || self.target().map(|target| target.named_gpus().iter().map(|gpu| Arch::base(gpu.cc)).collect());
        match self.request.build.as_ref().and_then(|build| build.arch_list.as_ref()) {
            Some(list) => list.entries().iter().map(|entry| entry.arch).collect(),
            None => of_gpus().unwrap_or_default(),
        }
    }

    pub(super) fn nvcc_arch(&mut self) {
        let toolkits = self.toolkits_of_builds();
        let Some(newest) = toolkits.last() else { return };
        for arch in self.archs_wanted().iter().filter(|arch| !newest.sass.contains(arch)) {
            let all = &self.request.catalog.toolkits;
            let knowing: Vec<&Toolkit> = all.iter().filter(|row| row.sass.contains(arch)).collect();
            let when = match (knowing.first(), knowing.last()) {
                (Some(first), _) if first.version > newest.version => {
                    format!("; CUDA {} is the first that does", first.version.prefix(2))
                }
                (_, Some(last)) if last.version < newest.version => {
                    format!("; CUDA {} was the last that did", last.version.prefix(2))
                }
                _ => String::new(),
            };
            self.say(format!("nvcc of CUDA {} does not know sm_{}{when}", newest.version.prefix(2), arch.code()));
        }
        self.gpus();
        self.cite_toolkit(newest, &newest.arch_source);
    }

    pub(super) fn nvcc_gcc(&mut self) {
        let mut toolkits = self.toolkits_of_builds();
        // Of toolkits that the list rules out nobody asks which compiler they take.
        let wanted = self.archs_wanted();
        let knows = |row: &&Toolkit| wanted.iter().all(|arch| row.sass.contains(arch));
        if toolkits.iter().any(knows) {
            toolkits.retain(knows);
        }
        self.retain_run_by_driver(&mut toolkits);
        let Some((newest, most)) = toolkits.last().and_then(|row| Some((row, row.gcc_max.as_ref()?))) else { return };
        self.say(format!("nvcc of CUDA {} accepts gcc up to {most}", newest.version.prefix(2)));
        self.gcc();
        let source = newest.host_source;
        if let Some(source) = source {
            self.cite_toolkit(newest, &source);
        }
    }

    /// Where a driver is among the culprits, the toolkits whose programs it runs, if there are some.
    fn retain_run_by_driver(&self, toolkits: &mut Vec<&'c Toolkit>) {
        let Some(target) = self.target_with("driver") else { return };
        let drivers = target.machine.drivers(self.request.problem);
        let runs = |row: &&Toolkit| {
            let mut own = drivers.rows.iter().filter(|driver| driver.compat.is_none());
            own.any(|driver| {
                let mut rules = self.request.rules.about(Subject::Cuda, &row.version, Subject::Driver);
                rules.all(|rule| rule.needs.admits(&driver.version))
            })
        };
        if toolkits.iter().any(runs) {
            toolkits.retain(runs);
        }
    }

    /// As [`Self::nvcc_gcc`], for a clang that is written.
    pub(super) fn nvcc_clang(&mut self) {
        let mut toolkits = self.toolkits_of_builds();
        let wanted = self.archs_wanted();
        let knows = |row: &&Toolkit| wanted.iter().all(|arch| row.sass.contains(arch));
        if toolkits.iter().any(knows) {
            toolkits.retain(knows);
        }
        let Some((newest, most)) = toolkits.last().and_then(|row| Some((row, row.clang_max.as_ref()?))) else { return };
        self.say(format!("nvcc of CUDA {} accepts clang up to {most}", newest.version.prefix(2)));
        self.clang();
        if let Some(source) = newest.host_source {
            self.cite_toolkit(newest, &source);
        }
    }

    pub(super) fn extension_arch(&mut self) {
        for builds in by_package(&self.left.clone()) {
            self.extension_archs_of(&builds);
        }
        self.gpus();
    }

    fn extension_archs_of(&mut self, builds: &[&'c Build]) {
        let Some(build) = builds.last() else { return };
        let Some(known) = self.request.catalog.extension_of(build) else { return };
        let own = build.own_archs().iter().filter(|arch| !known.archs.contains(arch));
        // Those for one GPU or family matter only beside one that is asked for: then the list is whole.
        let is_plain = self.archs_wanted().iter().all(|arch| arch.suffix == Suffix::None);
        let base = known.archs.iter().chain(own).filter(|arch| !is_plain || arch.suffix == Suffix::None);
        let base: Vec<String> = base.map(|arch| arch.to_string()).collect();
        let words: Vec<&str> = base.iter().map(String::as_str).collect();
        let of = describe(builds, "builds", "build");
        self.say(format!("{of} extensions for {} only", list(&words)));
        self.cite_extension(build);
    }

    fn cite_extension(&mut self, build: &'c Build) {
        if let Some(known) = self.request.catalog.extension_of(build) {
            let source = self.request.catalog.source_of(&known.source, known.from.as_str(), &known.package, "");
            self.fact(format!("extension {} {}", known.package, known.from), source);
        }
    }

    pub(super) fn extension_major(&mut self) {
        let gpu_builds: Vec<&Build> = self.left.iter().copied().filter(|build| !build.is_cpu()).collect();
        let packages = by_package(&gpu_builds);
        for builds in &packages {
            let lines: Vec<Version> = builds.iter().filter_map(|build| build.line()).collect();
            let majors = numbers(lines.iter().map(|line| line.major()).collect());
            let of = named(self.request.catalog, builds, "compiles", "compile");
            self.say(format!("{of} extensions only with a CUDA toolkit of the same major, {majors}"));
        }
        if let Some(ImageRequest::Known(image)) = self.target_with("image").map(|target| &target.image) {
            let sentence = format!("{}:{} holds CUDA {}", image.repository, image.tag, image.cuda.prefix(2));
            self.say(sentence);
        }
        let toolkits = self.toolkits();
        let mut lines: Vec<String> = toolkits.iter().map(|row| row.version.prefix(2).to_string()).collect();
        lines.dedup();
        let words: Vec<&str> = lines.iter().map(String::as_str).collect();
        if words.len() <= 4 {
            self.say(format!("the toolkit is CUDA {}", list(&words)));
        }
        for build in packages.iter().filter_map(|builds| builds.last()) {
            self.cite_extension(build);
        }
    }

    pub(super) fn arch_list(&mut self) {
        let request = self.request;
        let Some(listed) = request.build.as_ref().and_then(|build| build.arch_list.as_ref()) else { return };
        self.say(format!("`arch-list` compiles code for {} only", listed.torch()));
        self.gpus();
        let laws = [
            (Suffix::None, "machine code runs on GPUs of the same major and an equal or greater minor capability"),
            (Suffix::Family, "machine code for an architecture with `f` runs on GPUs of its family only"),
            (Suffix::Specific, "machine code for an architecture with `a` runs on GPUs of that very capability only"),
        ];
        for (suffix, law) in laws {
            if listed.entries().iter().any(|entry| entry.arch.suffix == suffix) {
                self.say(law.into());
            }
        }
        let code: Vec<Arch> = listed.sass().collect();
        self.integrated(&code);
    }
}
