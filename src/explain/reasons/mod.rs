//! The facts behind a clash, told in plain sentences.
//!
//! Which rules bind a clash is found like the clash itself: by asking again with rules set aside, until no
//! fewer rules refuse. What remains is told from the catalog's rows, in the order a person would tell it.

mod binding;
mod branches;
mod builds;
mod companions;
mod compile;
mod installed;
mod integrated;
mod labels;
mod laid;
mod laws;
mod library_wheels;
mod listed;
mod place;
mod published;
mod pythons;
mod triton;
mod unseen;
mod variants;
mod words;

use std::cell::OnceCell;
use std::rc::Rc;

use crate::catalog::Row;
use crate::catalog::rows::{Build, Companion, Gpu, Subject};
use crate::solve::platform::{Platform, Takes};
use crate::solve::problem::Along;
use crate::solve::request::{DriverRequest, PackageRequest, Request, TargetRequest};
use crate::solve::rules::{Needs, law};
use crate::solve::{fits, image};
use crate::types::require::{self, Requirement};
use crate::types::{CpuArch, Version, first};

use super::ask::Asker;
use super::{Conflict, FactNote, SETS, core};
use binding::{binding_rules, fewest_boards, least_demanding, shortest};
use words::{build_id, driver_words, list};

/// Tells one clash.
pub fn tell(asker: &Asker<'_, '_>, culprits: &[String]) -> Conflict {
    let alone = core::only(asker.spec, culprits);
    let alone = fewest_boards(asker, alone, culprits);
    let mut conflict = Conflict { culprits: culprits.to_vec(), ..Conflict::default() };
    let Some(request) = asker.question(&alone).map(|alone| asker.on_their_machines(alone)) else { return conflict };
    let (request, listed) = branches::one_of_each(asker, request);
    let binding = shortest(asker, &request, binding_rules(asker, &request));
    let mut explainer = Explainer {
        forced: forced(asker),
        typed: typed(asker),
        listed,
        whole: asker.base(),
        request: &request,
        culprits,
        left: Vec::new(),
        triton: OnceCell::new(),
        says: Vec::new(),
        facts: Vec::new(),
    };
    explainer.left = explainer.admitted();
    conflict.code = explainer.special();
    let mut told = least_demanding(&request, &binding);
    // Which CUDA a GPU needs narrows what is then told of Pythons and C libraries.
    if told.iter().any(|rule| [law::PYTHON, law::GLIBC].contains(&rule.as_str())) {
        told = first(told, |rule| explainer.cuda_of_gpu(rule).is_some());
    }
    // Which framework a package asks for narrows whose code is then told of.
    if !request.frameworks.iter().any(|ask| explainer.blames(ask.package)) {
        told = first(told, |rule| rule.as_str() == law::COMPANION);
    }
    // Which torch an image holds narrows whose code is then told of.
    let has = |law: &str| told.iter().any(|rule| rule.as_str() == law);
    if has(law::COVERAGE) && has(law::IMAGE_TORCH) {
        explainer.torch_in_image();
        explainer.narrow(law::IMAGE_TORCH);
    }
    let companion = law::COMPANION.to_string();
    if explainer.is_bound_by_label(&told) {
        told.insert(0, &companion);
    }
    let of_lines = told.iter().any(|rule| explainer.is_about_lines(rule));
    for rule in told {
        explainer.rule(rule);
    }
    if of_lines {
        explainer.given_up();
    }
    if !explainer.says.is_empty() {
        explainer.libraries_left();
    }
    if explainer.says.is_empty() {
        explainer.nothing_published();
        explainer.cite(if conflict.code == Some("image-tag") { law::IMAGE_TAG } else { law::PUBLISHED });
    } else {
        explainer.quote_unseen();
    }
    conflict.labels = explainer.labels();
    conflict.explanation = explainer.says;
    conflict.facts = explainer.facts;
    conflict
}

/// The names of the keys that a spec has otherwise than the user's own.
fn forced(asker: &Asker<'_, '_>) -> Vec<String> {
    let keys = asker.spec.keys();
    let forced = keys.iter().filter(|key| asker.spec.text(key) != asker.file.text(key));
    forced.filter_map(|key| key.rsplit('.').next()).map(str::to_string).collect()
}

/// What was typed on the command line, by the last part of its key.
fn typed(asker: &Asker<'_, '_>) -> Vec<String> {
    let keys = asker.spec.keys();
    let typed = keys.iter().filter(|key| asker.spec.key_span(key).is_some_and(|span| span.is_empty()));
    typed.filter_map(|key| key.rsplit('.').next()).map(str::to_string).collect()
}

struct Explainer<'q, 'c> {
    request: &'q Request<'c>,
    /// The names of keys that were forced upon what the user has written: no line of the file says so.
    forced: Vec<String>,
    /// What was typed: no line of the file says so either.
    typed: Vec<String>,
    /// The targets of whose listed drivers one is told of.
    listed: Vec<String>,
    /// What the whole spec asks.
    whole: Option<&'q Request<'c>>,
    culprits: &'q [String],
    /// The builds asked for that nothing told so far refuses: what is told next is about these.
    left: Vec<&'c Build>,
    /// The triton that one of these brings along, once somebody asks for it.
    triton: OnceCell<Option<(&'c Build, &'c Version)>>,
    says: Vec<String>,
    facts: Vec<FactNote>,
}

impl<'q, 'c> Explainer<'q, 'c> {
    fn say(&mut self, sentence: String) {
        if !self.says.contains(&sentence) {
            self.says.push(sentence);
        }
    }

    /// A line of gpuenv.toml.
    fn say_line(&mut self, key: &str, value: &dyn std::fmt::Display) {
        if !self.forced.iter().any(|forced| forced == key) {
            self.say(self.line(key, value));
        }
    }

    /// What gpuenv.toml says, or what was typed, in a sentence.
    fn line(&self, key: &str, value: &dyn std::fmt::Display) -> String {
        let who = if self.typed.iter().any(|typed| typed == key) { "you typed " } else { SETS };
        format!("{who}`{key} = \"{value}\"`")
    }

    fn fact(&mut self, id: String, source: String) {
        let source = self.request.catalog.provenance(&id, source);
        let note = FactNote { id, source };
        if !self.facts.contains(&note) {
            self.facts.push(note);
        }
    }

    /// Whether it is a label that ties a blamed package to builds without code for a GPU: then each release of its framework
    /// lacks it, and which one the package asks for is no rule that the clash needs, but whose code is to be told of.
    fn is_bound_by_label(&self, told: &[&String]) -> bool {
        let has = |law: &str| told.iter().any(|rule| rule.as_str() == law);
        let is_labelled = |ask: &PackageRequest<'_>| self.blames(ask.package) && ask.constraint.pins_variant();
        has(law::COVERAGE)
            && !has(law::COMPANION)
            && !self.request.frameworks.iter().any(|ask| self.blames(ask.package))
            && self.request.companions.iter().any(is_labelled)
    }

    fn target_with(&self, setting: &str) -> Option<&TargetRequest<'c>> {
        self.request.targets.iter().find(|target| self.culprits.contains(&target.key(setting)))
    }

    /// The target the clash is about: the first that one of its keys names.
    fn target(&self) -> Option<&TargetRequest<'c>> {
        let blamed = |target: &&TargetRequest| {
            self.culprits.iter().any(|key| key.starts_with(&format!("target.{}.", target.name)))
        };
        self.request.targets.iter().find(blamed).or(self.request.targets.first())
    }

    /// The kind of machine that the clash is about.
    fn platform(&self) -> Platform<'c> {
        self.target().map_or(Platform::general(CpuArch::X86_64), |target| target.platform)
    }

    /// Such machines in words: `aarch64`, `NVIDIA JetPack 6.2`, `nvcr.io/nvidia/pytorch:25.02-py3`.
    fn platform_name(&self) -> String {
        let platform = self.platform();
        if let Some(image) = platform.image() {
            return image.to_string();
        }
        let system = self.request.catalog.oses.iter().find(|os| platform.takes == Takes::ForSystem(&os.id));
        system.map_or(platform.arch.to_string(), |os| os.name.to_string())
    }

    /// Whether a package's constraint is among the culprits.
    fn blames(&self, package: &str) -> bool {
        self.culprits.iter().any(|key| key.strip_prefix("stack.") == Some(package))
    }

    fn rule(&mut self, id: &str) {
        let told = laws::of(id);
        if let Some(law) = told {
            (law.tells)(self);
        }
        if told.is_none_or(|law| law.is_cited) {
            self.cite(id);
        }
        self.narrow(id);
    }

    /// Builds without code for the GPUs, or packages where they alone explain it.
    fn gpu_code(&mut self) {
        // What is compiled beside a framework reaches fewer GPUs than it: told first, it is not what a short report leaves out.
        self.companions_hold();
        if !self.a_companion_is_enough() {
            self.coverage();
        }
    }

    fn published(&mut self) {
        self.nothing_published();
        let general = !matches!(self.platform().takes, Takes::ForSystem(_));
        self.companions_say(|row| Some(format!("requires {}, which is no longer published", row.gone.as_ref()?)));
        let (problem, arch) = (self.request.problem, self.platform().arch);
        // Where a part that it requires has no wheels, its own may well be for every processor: that part is named below.
        let lacks_part = |row: &Companion| {
            let package = problem.package(&row.package)?;
            let at = package.place_of(row)?;
            problem.lacking_wheels(package, arch).has(at).then_some(())
        };
        self.companions_lack(|row| {
            let arches: Vec<&str> = row.arches.iter().map(|arch| arch.as_str()).collect();
            let has = if row.sdist { "requires a part that has" } else { "has" };
            let is_said = general && !arches.is_empty() && row.source_for().is_none() && lacks_part(row).is_none();
            is_said.then(|| format!("{has} wheels for {} only", list(&arches)))
        });
        self.along_says(|_, one| {
            let arches: Vec<&str> = one.arches.iter().map(|arch| arch.as_str()).collect();
            fits::lacks_wheels(one, arch).then(|| format!("which has wheels for {} only", list(&arches)))
        });
    }

    /// What is said of what comes along with blamed packages: of the newest release, where it can be said of each.
    fn along_says(&mut self, says: impl Fn(&Along<'c>, &Companion) -> Option<String>) {
        let (problem, arch) = (self.request.problem, self.platform().arch);
        self.companions_say(|row| {
            let package = problem.package(&row.package)?;
            let at = package.place_of(row)?;
            let (lacking, says) = problem.lacking(package, at, arch, &says)?;
            Some(format!("requires {}, {says}", lacking.package))
        });
    }

    /// That blamed packages require another one, of which a rule speaks.
    fn comes_along(&mut self, package: &str) {
        let arch = self.platform().arch;
        self.companions_say(|row| {
            let (of, range) = row.asked(arch).find(|(of, _)| *of == package)?;
            Some(format!("requires {of} {range}"))
        });
    }

    /// Whether a rule tells which line of CUDA is needed or what a line needs, or what its builds hold.
    fn is_about_lines(&self, id: &str) -> bool {
        let is_cuda = |rule: &Rc<Needs>| rule.row.subject == Subject::Cuda || rule.row.object == Subject::Cuda;
        id == law::COVERAGE || self.request.rules.named(id).is_some_and(is_cuda)
    }

    /// The lines of CUDA for which a publisher has said that a blamed framework is no longer made: those below a bound. What
    /// tells every line of a release is cited where one of them is asked for.
    fn given_up(&mut self) {
        let request = self.request;
        let blamed: Vec<&str> = request.frameworks.iter().map(|ask| ask.package).filter(|it| self.blames(it)).collect();
        for package in blamed {
            for rule in request.rules.of_package(package, Subject::Cuda).iter() {
                let builds: Vec<&Build> = self.left.iter().copied().filter(|build| build.package == *package).collect();
                let is_bound = rule.needs.comparisons().count() == 1;
                if is_bound && !builds.is_empty() && builds.iter().all(|build| rule.range.admits(&build.version)) {
                    self.cite(&rule.row.id);
                }
            }
        }
    }

    /// Leaves out the builds that a rule refuses, unless it refuses them all.
    fn narrow(&mut self, id: &str) {
        let left: Vec<&Build> = self.left.iter().copied().filter(|build| self.passes(build, id)).collect();
        if !left.is_empty() {
            self.left = left;
            self.triton = OnceCell::new();
        }
    }

    /// Whether a rule about builds lets one pass.
    fn passes(&self, build: &Build, id: &str) -> bool {
        if let Some(lets_pass) = laws::of(id).and_then(|law| law.lets_pass) {
            return lets_pass(self, build);
        }
        self.cuda_of_gpu(id).is_none_or(|rule| build.line().is_some_and(|line| rule.needs.admits(&line)))
    }

    /// Whether a build has wheels for the Python that is asked for.
    fn has_python(&self, build: &Build) -> bool {
        let wanted = self.request.python.as_ref();
        let mut lines = build.pythons.iter().filter(|line| build.pins_install_on(line));
        wanted.is_none_or(|wanted| lines.any(|line| wanted.cut_to(line.len()).admits(line)))
    }

    /// The rule of that name, if it tells which CUDA a GPU needs.
    fn cuda_of_gpu(&self, id: &str) -> Option<&'q Needs<'c>> {
        let is_one = |rule: &&Rc<Needs>| (rule.row.subject, rule.row.object) == (Subject::Gpu, Subject::Cuda);
        self.request.rules.named(id).filter(is_one).map(|rule| &**rule)
    }

    /// The rule's own words, where it is one of the catalog's, and its source.
    fn cite(&mut self, id: &str) {
        let catalog = self.request.catalog;
        if let Some(needs) = self.request.rules.named(id) {
            let rule = needs.row;
            self.subject(rule.subject);
            if let Some(package) = rule.package.as_deref().filter(|package| !self.blames(package)) {
                self.comes_along(package);
            }
            if self.windows_floor(needs) {
                return self.subject(rule.object);
            }
            self.say(rule.says.trim_end_matches('.').to_string());
            self.subject(rule.object);
            self.fact(id.to_string(), catalog.source_at(&rule.source));
        } else if let Some(law) = catalog.laws.iter().find(|law| law.id == id) {
            self.fact(id.to_string(), catalog.source_at(&law.source));
        }
    }

    /// What the spec has of the thing a rule speaks of.
    fn subject(&mut self, subject: Subject) {
        match subject {
            Subject::Gpu => self.gpus(),
            Subject::Driver => self.driver(),
            Subject::Cudnn => self.cudnn(),
            Subject::Glibc => {
                let Some(target) = self.of_oldest_glibc() else { return };
                if let Some(glibc) = &target.glibc {
                    let of = target.os.map_or_else(|| format!("target `{}`", target.name), |os| os.name.to_string());
                    let sentence = format!("{of} has glibc {glibc}");
                    self.say(sentence);
                }
            }
            Subject::Libstdcxx => {
                let with = |target: &&TargetRequest<'_>| target.libstdcxx().is_some();
                let os = self.request.targets.iter().find(with).and_then(|target| target.os);
                if let Some((os, has)) = os.and_then(|os| Some((os, os.libstdcxx?))) {
                    self.say(format!("the libstdc++ of {} ends with GLIBCXX_{has}", os.name));
                }
            }
            Subject::Gcc => self.gcc(),
            Subject::Clang => self.clang(),
            Subject::Cuda => self.lines(),
            Subject::Toolkit | Subject::Triton | Subject::Package | Subject::Nccl => {}
            // What these say is a warning.
            Subject::Cufft
            | Subject::Nvrtc
            | Subject::Cublas
            | Subject::Ptxas
            | Subject::Compile
            | Subject::Python
            | Subject::Kernel => {}
        }
    }

    /// What is said of the driver, by the first target that says something.
    fn driver(&mut self) {
        let says = |target: &&TargetRequest| target.driver != DriverRequest::Free(None);
        let target = self.request.targets.iter().find(says);
        if let Some(sentence) = target.and_then(|target| self.driver_words(target)) {
            self.say(sentence);
        }
        self.compat_unnamed();
    }

    /// What is said of a target's driver, in words.
    fn driver_words(&self, target: &TargetRequest<'_>) -> Option<String> {
        driver_words(self.request, target, self.listed.contains(&target.name))
    }

    /// The target with the oldest C library, of those where it is known.
    fn of_oldest_glibc(&self) -> Option<&'q TargetRequest<'c>> {
        let known = self.request.targets.iter().filter(|target| target.glibc.is_some());
        known.min_by(|a, b| a.glibc.cmp(&b.glibc))
    }

    /// The GPUs that the clash names, of whichever target, with what they are.
    fn gpus(&mut self) {
        let mut told: Vec<(&Gpu, String)> = Vec::new();
        let blamed = self.request.targets.iter().filter(|target| self.culprits.contains(&target.key("gpu")));
        for gpu in blamed.flat_map(|target| target.named_gpus()) {
            let Some(row) = gpu.row else { continue };
            if told.len() < 3 && told.iter().all(|(known, _)| known.cc != gpu.cc) {
                told.push((row, gpu.written.clone()));
            }
        }
        for (row, written) in told {
            self.say(format!("{written} has compute capability {}", row.cc));
            self.fact(row.id(), self.request.catalog.origin_of(row, &row.source));
        }
    }

    /// Of which brands the GPUs are that the clash names, where a text refuses some brands and takes others; and what they can
    /// compute, where it asks for that.
    fn gpus_to(&mut self, requirement: &str) {
        let requirement = Requirement::parse(requirement);
        if requirement.names_brand() {
            self.brands();
        }
        if requirement.bounds().any(|(subject, _)| subject == require::Subject::Arch) {
            self.gpus();
        }
    }

    fn brands(&mut self) {
        let blamed = self.request.targets.iter().filter(|target| self.culprits.contains(&target.key("gpu")));
        let rows =
            blamed.flat_map(|target| target.named_gpus()).filter_map(|gpu| Some((gpu.row?, gpu.written.clone())));
        let mut told: Vec<(&Gpu, String)> = Vec::new();
        for (row, written) in rows {
            if told.len() < 3 && told.iter().all(|(known, _)| known.class != row.class) {
                told.push((row, written));
            }
        }
        for (row, written) in told {
            let brands: Vec<String> = image::brands(Some(row.class)).iter().map(|brand| format!("`{brand}`")).collect();
            if !brands.is_empty() {
                let several = if brands.len() > 1 { "one of the brands" } else { "the brand" };
                self.say(format!("to the container runtime {written} is of {several} {}", brands.join(", ")));
                self.fact(row.id(), self.request.catalog.origin_of(row, &row.source));
            }
        }
    }

    /// The published builds that the spec admits.
    fn admitted(&self) -> Vec<&'c Build> {
        let platform = self.platform();
        let mut asks: Vec<_> = self.request.frameworks.iter().collect();
        asks.sort_unstable_by_key(|ask| ask.package);
        let mut admitted = Vec::new();
        for ask in asks {
            let builds = self.request.catalog.builds.of(ask.package).iter();
            admitted.extend(builds.filter(|build| platform.takes(build) && ask.takes_build(build)));
        }
        admitted
    }

    fn cite_builds(&mut self, builds: &[&'c Build]) {
        for build in builds.iter().rev().take(3) {
            let source = build.arch_source.as_ref().unwrap_or(&build.source);
            self.fact(build_id(build), self.request.catalog.origin_of(*build, source));
        }
    }
}
