//! The facts behind a clash, told in plain sentences.
//!
//! Which rules bind a clash is found like the clash itself: by asking again with rules set aside, until no
//! fewer rules refuse. What remains is told from the catalog's rows, in the order a person would tell it.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::catalog::Row;
use crate::catalog::rows::{Build, Companion, Family, Pins, Subject, Toolkit};
use crate::coverage::Coverage;
use crate::solve::fits;
use crate::solve::question::{ImageAsk, Off, Question, TargetAsk};
use crate::solve::resolve::is_solvable;
use crate::solve::rulebook::{Needs, law};
use crate::solve::{class, driver, image};
use crate::spec::{Spec, list_text};
use crate::words::{Arrange, Constraint, CpuArch, Version};

use super::{Asker, Conflict, FactNote};

/// Tells one clash.
pub fn tell(asker: &Asker<'_, '_>, spec: &Spec, culprits: &[String]) -> Conflict {
    let keys = spec.keys();
    let others = keys.iter().filter(|key| !culprits.contains(key));
    let alone = spec.without_all(others.map(String::as_str));
    let alone = fewest_boards(asker, alone, culprits);
    let mut conflict = Conflict { code: None, culprits: culprits.to_vec(), explanation: Vec::new(), facts: Vec::new() };
    let Some(question) = asker.question(&alone) else { return conflict };
    let binding = shortest(asker, &question, binding_rules(asker, &question));
    let mut teller = Teller { question: &question, culprits, says: Vec::new(), facts: Vec::new() };
    conflict.code = teller.special();
    for rule in least_demanding(&question, &binding) {
        teller.rule(rule);
    }
    if teller.says.is_empty() {
        teller.nothing_published();
        teller.cite(if conflict.code == Some("image-tag") { law::IMAGE_TAG } else { law::PUBLISHED });
    }
    conflict.explanation = teller.says;
    conflict.facts = teller.facts;
    conflict
}

/// Lists with more boards than this are told as they are.
const MOST_BOARDS: usize = 64;

/// The spec without the boards of its lists that are not needed for it to clash.
fn fewest_boards(asker: &Asker<'_, '_>, mut spec: Spec, culprits: &[String]) -> Spec {
    let targets: Vec<String> = spec.targets.iter().map(|target| target.name.clone()).collect();
    for target in targets {
        let key = format!("target.{target}.gpu");
        let named = spec.target(&target).and_then(|target| target.gpu.as_ref()).map(|gpu| gpu.value.clone());
        let Some(mut names) = named.filter(|names| culprits.contains(&key) && (2..=MOST_BOARDS).contains(&names.len()))
        else {
            continue;
        };
        for name in names.clone() {
            let fewer: Vec<String> = names.iter().filter(|other| **other != name).cloned().collect();
            let Ok(changed) = spec.with(&key, Some(&list_text(&fewer))) else { continue };
            let clashes = asker.question(&changed).and_then(|question| is_solvable(&question, asker.steps));
            if !fewer.is_empty() && clashes == Some(false) {
                (names, spec) = (fewer, changed);
            }
        }
    }
    spec
}

/// One rule about the GPUs that says it all, where the rules that were found say it in several steps.
fn shortest(asker: &Asker<'_, '_>, question: &Question<'_>, binding: Vec<String>) -> Vec<String> {
    let is_rule = |id: &&String| question.rules.all().any(|rule| rule.row.id == **id);
    if binding.iter().filter(is_rule).count() < 2 || binding.iter().any(|id| law::ALL.contains(&id.as_str())) {
        return binding;
    }
    let gpus: Vec<&Version> =
        question.targets.iter().flat_map(|target| target.named_gpus()).map(|gpu| &gpu.cc_version).collect();
    let about = |rule: &&Needs<'_>| {
        rule.row.subject == Subject::Gpu
            && rule.row.object == Subject::Cuda
            && gpus.iter().any(|cc| rule.range.admits(cc))
    };
    let alone = |rule: &&Needs<'_>| {
        let mut asked = question.clone();
        let others = law::ALL.iter().copied().chain(question.rules.all().map(|rule| &*rule.row.id));
        let others = others.filter(|id| *id != &*rule.row.id);
        asked.off.extend(others.map(|id| Off { rule: id.to_string(), target: None }));
        is_solvable(&asked, asker.steps) == Some(false)
    };
    match question.rules.all().filter(about).find(alone) {
        Some(rule) => vec![rule.row.id.to_string()],
        None => binding,
    }
}

/// The rules that a clash needs, in the order of the telling: without any one of them there is no clash.
fn binding_rules(asker: &Asker<'_, '_>, question: &Question<'_>) -> Vec<String> {
    // Rules that only restate what code coverage says come last here, so they are the first to be given up.
    let laws = law::ALL.iter().copied();
    let needs = question.rules.all().map(|rule| &*rule.row.id);
    let all: Vec<&str> = laws.chain(needs).collect();
    let mut asked = question.clone();
    let written = asked.off.len();
    let mut clashes = |found: &[usize], prefix: usize| {
        asked.off.truncate(written);
        let set_aside = (prefix..all.len()).filter(|rule| !found.contains(rule));
        asked.off.extend(set_aside.map(|rule| Off { rule: all[rule].to_string(), target: None }));
        is_solvable(&asked, asker.steps) == Some(false)
    };
    let mut binding = least_set(all.len(), &mut clashes);
    binding.arrange();
    binding.into_iter().map(|rule| all[rule].to_string()).collect()
}

/// A set of positions below `len` of which none can be spared, preferring early ones. `clashes` tells whether
/// what was found and all before some position clash.
///
/// The last member of such a set ends the shortest prefix that clashes. With that member given, the shortest
/// prefix that clashes beside it ends with the next, and so on until what is found clashes by itself.
fn least_set(len: usize, clashes: &mut dyn FnMut(&[usize], usize) -> bool) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut end = len;
    while !clashes(&found, 0) {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = (low + high) / 2;
            match clashes(&found, middle + 1) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        if low == end {
            break; // Nothing clashes: somebody asked about a spec that has an answer.
        }
        found.push(low);
        end = low;
    }
    found
}

/// Where several CUDA lines each need a newer driver than there is, the one that needs least tells it.
fn least_demanding<'r>(question: &Question<'_>, binding: &'r [String]) -> Vec<&'r String> {
    let floor = |id: &&String| {
        let rule = question.rules.all().find(|rule| rule.row.id == **id)?;
        let of_driver = rule.row.subject == Subject::Cuda && rule.row.object == Subject::Driver;
        rule.needs.comparisons().find_map(|one| one.version).filter(|_| of_driver)
    };
    let least = binding.iter().filter_map(|id| floor(&id)).min();
    binding.iter().filter(|id| floor(id).is_none_or(|floor| Some(floor) == least)).collect()
}

struct Teller<'q, 'c> {
    question: &'q Question<'c>,
    culprits: &'q [String],
    says: Vec<String>,
    facts: Vec<FactNote>,
}

impl<'c> Teller<'_, 'c> {
    fn say(&mut self, sentence: String) {
        if !self.says.contains(&sentence) {
            self.says.push(sentence);
        }
    }

    fn fact(&mut self, id: String, source: String) {
        let source = self.question.catalog.provenance(&id, source);
        let note = FactNote { id, source };
        if !self.facts.contains(&note) {
            self.facts.push(note);
        }
    }

    fn target_with(&self, setting: &str) -> Option<&TargetAsk<'c>> {
        self.question.targets.iter().find(|target| self.culprits.contains(&target.key(setting)))
    }

    /// The target the clash is about: the first that one of its keys names.
    fn target(&self) -> Option<&TargetAsk<'c>> {
        let blamed =
            |target: &&TargetAsk| self.culprits.iter().any(|key| key.starts_with(&format!("target.{}.", target.name)));
        self.question.targets.iter().find(blamed).or(self.question.targets.first())
    }

    /// Clashes of a kind that deserve a code of their own.
    fn special(&mut self) -> Option<&'static str> {
        let newer = self.question.frameworks.iter().any(|ask| {
            let newest = self
                .question
                .catalog
                .builds
                .iter()
                .filter(|row| row.package == ask.package)
                .map(|row| &row.version)
                .max();
            self.culprits.contains(&format!("stack.{}", ask.package))
                && newest.is_some_and(|newest| is_above(&ask.constraint, newest))
        }) || self.question.companions.iter().any(|ask| {
            let newest = self
                .question
                .catalog
                .companions
                .iter()
                .filter(|row| row.package == ask.package)
                .map(|row| &row.version)
                .max();
            self.culprits.contains(&format!("stack.{}", ask.package))
                && newest.is_some_and(|newest| is_above(&ask.constraint, newest))
        }) || self.parts_above();
        let no_tag = self.target_with("image").is_some_and(|target| matches!(target.image, ImageAsk::NoSuchTag(_)));
        match (newer, no_tag) {
            (true, _) => Some("newer-than-catalog"),
            (_, true) => Some("image-tag"),
            _ => None,
        }
    }

    fn parts_above(&self) -> bool {
        let catalog = self.question.catalog;
        let above = |name: &str, wanted: &Option<crate::words::Constraint>, newest: Option<&Version>| {
            let blamed = self.culprits.contains(&format!("stack.{name}"));
            blamed && wanted.as_ref().zip(newest).is_some_and(|(wanted, newest)| is_above(wanted, newest))
        };
        above("cuda", &self.question.cuda, catalog.toolkits.last().map(|row| &row.version))
            || above("cudnn", &self.question.cudnn, catalog.cudnns.last().map(|row| &row.version))
            || above("nccl", &self.question.nccl, catalog.nccls.last().map(|row| &row.version))
            || above("python", &self.question.python, catalog.pythons.last().map(|row| &row.version))
    }

    fn rule(&mut self, id: &str) {
        match id {
            law::COVERAGE => {
                self.coverage();
                self.companions_hold();
            }
            law::CPU_BUILD => return self.cpu_build(),
            law::PUBLISHED => {
                self.nothing_published();
                self.companions_say(|row| {
                    let arches: Vec<&str> = row.arches.iter().map(|arch| arch.as_str()).collect();
                    (!arches.is_empty()).then(|| format!("has wheels for {} only", list(&arches)))
                });
            }
            law::PYTHON => self.pythons(),
            law::GLIBC => {
                self.glibc();
                self.companions_say(|row| Some(format!("needs glibc {} or newer", row.glibc.as_ref()?)));
            }
            law::IMAGE_TAG | law::IMAGE_ARCH | law::IMAGE_OS | law::IMAGE_HOLDS => self.image(id),
            law::IMAGE_REQUIRE => self.image_requires(),
            law::NVCC_ARCH => self.nvcc_arch(),
            law::NVCC_GCC => self.nvcc_gcc(),
            law::EXTENSION_ARCH => self.extension_arch(),
            law::EXTENSION_MAJOR => self.extension_major(),
            law::ARCH_LIST => self.arch_list(),
            law::COMPANION => self.companion(),
            law::PTX_DRIVER => self.ptx_driver(),
            law::PRODUCT_CPU => self.product_cpu(),
            law::LIBRARY_CUDA => {
                self.library_lines();
                self.lines();
            }
            law::TOGETHER => self.framework_libraries(),
            _ => {}
        }
        self.cite(id);
    }

    /// The rule's own words, where it is one of the catalog's, and its source.
    fn cite(&mut self, id: &str) {
        let catalog = self.question.catalog;
        if let Some(rule) = catalog.rules.iter().find(|rule| rule.id == id) {
            self.subject(rule.subject);
            self.say(rule.says.trim_end_matches('.').to_string());
            self.subject(rule.object);
            self.fact(id.to_string(), catalog.source_of(&rule.source, "", "", ""));
        } else if let Some(law) = catalog.laws.iter().find(|law| law.id == id) {
            self.fact(id.to_string(), catalog.source_of(&law.source, "", "", ""));
        }
    }

    /// What the spec has of the thing a rule speaks of.
    fn subject(&mut self, subject: Subject) {
        let Some(target) = self.target() else { return };
        match subject {
            Subject::Gpu => self.gpus(),
            Subject::Driver => {
                if let Some(sentence) = driver_words(self.question, target) {
                    self.say(sentence);
                }
            }
            Subject::Cudnn => self.cudnn(),
            Subject::Glibc => {
                if let Some(glibc) = &target.glibc {
                    let of = target.os.map_or("the host".to_string(), |os| os.name.to_string());
                    let sentence = format!("{of} has glibc {glibc}");
                    self.say(sentence);
                }
            }
            Subject::Gcc => self.gcc(),
            Subject::Cuda => self.lines(),
            Subject::Toolkit | Subject::Triton | Subject::Package | Subject::Nccl => {}
        }
    }

    /// The host compiler of the target, and whose it is.
    fn gcc(&mut self) {
        let Some(target) = self.target() else { return };
        let of_os = target.os.filter(|_| !self.culprits.contains(&target.key("gcc")));
        let of = of_os.map_or("the host", |os| &os.name).to_string();
        if let Some(gcc) = target.gcc {
            self.say(format!("{of} has gcc {gcc}"));
        }
    }

    /// The CUDA majors that the releases asked for of a library were built for.
    fn library_lines(&mut self) {
        let catalog = self.question.catalog;
        let majors = |rows: Vec<(&Version, &Version)>, wanted: &Constraint| {
            let of = rows.into_iter().filter(|(version, _)| wanted.admits(version)).map(|(_, cuda)| cuda.prefix(1));
            let majors: BTreeSet<String> = of.map(|major| major.to_string()).collect();
            majors.into_iter().collect::<Vec<String>>().join(" and ")
        };
        let cudnns = catalog.cudnns.iter().map(|row| (&row.version, &row.cuda)).collect();
        let nccls = catalog.nccls.iter().map(|row| (&row.version, &row.cuda)).collect();
        let asked = [("cudnn", "cuDNN", &self.question.cudnn, cudnns), ("nccl", "NCCL", &self.question.nccl, nccls)];
        for (key, name, wanted, rows) in asked {
            let Some(wanted) = wanted.as_ref().filter(|_| self.blames(key)) else { continue };
            let majors = majors(rows, wanted);
            self.say(format!("{name} {wanted} was built for CUDA {majors} only"));
        }
    }

    /// What the newest admitted build of each blamed framework asks of the libraries they would share.
    fn framework_libraries(&mut self) {
        let builds = self.builds();
        for ask in &self.question.frameworks {
            let of = |build: &&&Build| build.package == ask.package && build.variant != "cpu";
            let Some(build) = builds.iter().rev().find(of).filter(|_| self.blames(ask.package)) else { continue };
            let (least, exactly) = (build.pins == Some(Pins::AtLeast), build.pins == Some(Pins::Exact));
            let line = fits::line_of(&build.variant).map(|line| format!("CUDA {line}"));
            let cudnn =
                build.cudnn.as_ref().map(|cudnn| format!("cuDNN {cudnn}{}", if least { " or newer" } else { "" }));
            let parts: Vec<String> = line.into_iter().chain(cudnn).collect();
            let exactly = if exactly { "exactly " } else { "" };
            self.say(format!("{} is made for {exactly}{}", name_of(build), parts.join(" and ")));
            self.cite_builds(&[*build]);
        }
        self.say("one environment holds one copy of each NVIDIA library".into());
    }

    /// The CUDA lines that the admitted builds were made for.
    fn lines(&mut self) {
        for ask in &self.question.frameworks {
            if !self.blames(ask.package) {
                continue;
            }
            let of: Vec<&Build> = self.builds().into_iter().filter(|build| build.package == ask.package).collect();
            let mut lines: Vec<Version> = of.iter().filter_map(|build| fits::line_of(&build.variant)).collect();
            lines.arrange();
            lines.dedup();
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            let of: Vec<&Build> = of.into_iter().filter(|build| build.variant != "cpu").collect();
            let which = match lines.len() {
                1 => format!("CUDA {first}"),
                2 => format!("CUDA {first} and {last}"),
                _ => format!("CUDA {first} to {last}"),
            };
            self.say(format!("{} built for {which}", plainly(&of, "is", "are")));
        }
        if let Some(wanted) = self.question.cuda.as_ref().filter(|_| self.blames("cuda")) {
            self.say(format!("`cuda = \"{wanted}\"` is asked for"));
        }
    }

    /// Whether a package's constraint is among the culprits.
    fn blames(&self, package: &str) -> bool {
        self.culprits.iter().any(|key| key.strip_prefix("stack.") == Some(package))
    }

    /// The GPUs that the clash names, of whichever target, with what they are.
    fn gpus(&mut self) {
        let mut told: Vec<(&crate::catalog::rows::Gpu, String)> = Vec::new();
        let blamed = self.question.targets.iter().filter(|target| self.culprits.contains(&target.key("gpu")));
        for gpu in blamed.flat_map(|target| target.named_gpus()) {
            let Some(row) = gpu.row else { continue };
            if told.len() < 3 && told.iter().all(|(known, _)| known.cc != gpu.cc) {
                told.push((row, gpu.written.clone()));
            }
        }
        for (row, written) in told {
            self.say(format!("{written} has compute capability {}", row.cc));
            self.fact(row.id(), self.question.catalog.origin_of(row, &row.source));
        }
    }

    /// The published builds the clash is about.
    fn builds(&self) -> Vec<&'c Build> {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        let asked =
            |build: &&Build| {
                self.question.frameworks.iter().any(|ask| {
                    ask.package == build.package && ask.constraint.admits_build(&build.version, &build.variant)
                }) && build.arch == arch
            };
        self.question.catalog.builds.iter().filter(asked).collect()
    }

    fn cite_builds(&mut self, builds: &[&'c Build]) {
        for build in builds.iter().rev().take(3) {
            let source = build.arch_source.as_ref().unwrap_or(&build.source);
            self.fact(build_id(build), self.question.catalog.origin_of(*build, source));
        }
    }

    fn coverage(&mut self) {
        let gpu_builds: Vec<&Build> =
            self.builds().into_iter().filter(|build| build.variant != "cpu" && build.arch_source.is_some()).collect();
        let mut groups: Vec<(String, Vec<&Build>)> = Vec::new();
        for build in gpu_builds.iter().rev() {
            let names = crate::words::ArchList::from_targets(&build.sass, &build.ptx).names();
            match groups.iter_mut().find(|(known, _)| *known == names) {
                Some((_, builds)) => builds.push(build),
                None => groups.push((names, vec![build])),
            }
        }
        self.gpus();
        if groups.len() > 3 {
            let one = self.coverage_of_many(&gpu_builds);
            groups.truncate(usize::from(one));
        }
        for (names, builds) in groups {
            // Elsewhere than on most machines, that the platform has wheels of its own is news.
            let platform = match builds.first() {
                Some(build) if build.arch != CpuArch::X86_64 => format!("for {} ", build.arch),
                _ => String::new(),
            };
            let of = describe(&builds, &format!("{platform}holds"), &format!("{platform}hold"));
            self.say(format!("{of} code for {} only", names.replace(' ', ", ")));
        }
        self.cite_builds(&gpu_builds);
    }

    /// One sentence for more builds than anybody would read of; whether it is about one kind of GPU only.
    fn coverage_of_many(&mut self, builds: &[&Build]) -> bool {
        let blamed = self.question.targets.iter().filter(|target| self.culprits.contains(&target.key("gpu")));
        let rules: Vec<_> = blamed.flat_map(|target| class::gpu_rules(self.question, target)).collect();
        let serves = |build: &&&Build| {
            rules.iter().all(|gpu| {
                let toolkit = self.question.toolkit_of(build);
                fits::coverage(build, toolkit, gpu).is_some_and(|coverage| coverage != Coverage::None)
            })
        };
        let serving: Vec<&Build> = builds.iter().filter(serves).copied().collect();
        let span = serving.iter().min_by(by_version).zip(serving.iter().max_by(by_version));
        let lies_within =
            |build: &&&Build| span.is_some_and(|(a, b)| build.version >= a.version && build.version <= b.version);
        let within = builds.iter().filter(lies_within).count();
        let one = rules.iter().all(|gpu| gpu.gpu.cc == rules[0].gpu.cc);
        let it = if one { "it" } else { "all of them" };
        let all = plainly(builds, "", "").trim_end().to_string();
        self.say(match serving.is_empty() {
            true => format!("of the {} builds of {all}, none holds code for {it}", builds.len()),
            // Where they lie scattered, from the first to the last says nothing.
            false if 2 * serving.len() < within => {
                format!("of the {} builds of {all}, {} hold code for {it}", builds.len(), serving.len())
            }
            false => {
                let only = plainly(&serving, "holds", "hold");
                format!("of the {} builds of {all}, only {only} code for {it}", builds.len())
            }
        });
        one
    }

    fn cpu_build(&mut self) {
        // Where nobody asked for such a build, that it serves no GPU goes without saying.
        let asked = self.question.frameworks.iter().find(|ask| ask.constraint.names_variant("cpu"));
        let Some(ask) = asked else { return };
        let (package, constraint) = (ask.package, ask.constraint.to_string());
        self.say(format!("{package} {constraint} is a build without GPU code"));
        if let Some(name) = self.target().map(|target| target.name.clone()) {
            self.say(format!("target `{name}` runs on a GPU"));
        }
        self.cite(law::CPU_BUILD);
    }

    /// No build of that version, variant and platform was ever published: what was?
    fn nothing_published(&mut self) {
        let catalog = self.question.catalog;
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        for ask in &self.question.frameworks {
            if !self.blames(ask.package) {
                continue;
            }
            let constraint = &ask.constraint;
            let of_package: Vec<&Build> = catalog.builds.iter().filter(|row| row.package == ask.package).collect();
            let Some(newest) = of_package.last() else { continue };
            if is_above(constraint, &newest.version) {
                self.say(format!(
                    "the newest {} known is {}; the catalog is of {}",
                    ask.package, newest.version, catalog.version
                ));
                self.cite_builds(&[*newest]);
                continue;
            }
            let same_version: Vec<&&Build> =
                of_package.iter().filter(|row| row.arch == arch && version_matches(constraint, &row.version)).collect();
            let variants: Vec<&str> = same_version.iter().map(|row| &*row.variant).collect();
            if same_version.is_empty() {
                let known = || of_package.iter().filter(|row| row.arch == arch).map(|row| &row.version);
                let wish = constraint.comparisons().filter_map(|one| one.version.as_ref()).max();
                match (wish, known().min()) {
                    // Of what is older than the catalog nobody says that it was not published.
                    (Some(wish), Some(oldest)) if wish < oldest => self.say(format!(
                        "{} {constraint} is older than the catalog, whose oldest for {arch} is {oldest}",
                        ask.package
                    )),
                    _ => {
                        let nearest = nearest_versions(constraint, known());
                        self.say(format!("{} {constraint} was never published for {arch}{nearest}", ask.package));
                    }
                }
            } else if constraint.pins_variant()
                && same_version.iter().all(|row| !constraint.names_variant(&row.variant))
            {
                let unsolved = self.unsolved(ask.package, constraint, arch);
                self.say(format!(
                    "{} {} published for {arch} as {}{}",
                    ask.package,
                    versions_of(&same_version),
                    list(&variants),
                    if unsolved { "" } else { " only" }
                ));
            } else if variants.iter().all(|variant| *variant == "cpu") {
                self.say(format!(
                    "{} {} published for {arch} without CUDA only",
                    ask.package,
                    versions_of(&same_version)
                ));
            } else {
                let lines: Vec<&str> = variants.into_iter().filter(|variant| *variant != "cpu").collect();
                self.say(format!(
                    "{} {} published for {arch} as {}",
                    ask.package,
                    versions_of(&same_version),
                    list(&lines)
                ));
                self.libraries(&same_version);
            }
            let cited: Vec<&Build> = same_version.into_iter().copied().collect();
            self.cite_builds(&cited);
        }
        for ask in &self.question.companions {
            let newest = catalog.companions.iter().rev().find(|row| row.package == ask.package);
            if let Some(newest) = newest.filter(|_| self.culprits.contains(&format!("stack.{}", ask.package))) {
                self.say(format!(
                    "the newest {} known is {}, for {} {}",
                    ask.package, newest.version, newest.framework, newest.needs
                ));
            }
        }
        self.parts();
        self.toolkits_installed();
        self.image_missing();
    }

    /// A build beside the usual ones that is asked for: it exists, and nothing is solved with it.
    fn unsolved(&mut self, package: &str, constraint: &Constraint, arch: CpuArch) -> bool {
        let catalog = self.question.catalog;
        let named = catalog.other_builds.iter().find(|row| {
            let here = row.package == package && row.os == Family::Linux && row.arch == arch;
            here && constraint.names_variant(&row.variant) && version_matches(constraint, &row.version)
        });
        let Some(row) = named else { return false };
        self.say(format!(
            "{package} {}+{} was published, but nobody has read what is in it, and nothing is solved with it",
            row.version, row.variant
        ));
        self.fact(catalog.cite(row).id, catalog.origin_of(row, &row.source));
        true
    }

    /// The cuDNN or NCCL that builds bring, where that is what clashes.
    fn libraries(&mut self, builds: &[&&'c Build]) {
        let of = |name: &str, build: &'c Build| match name {
            "cudnn" => build.cudnn.as_ref(),
            _ => build.nccl.as_ref(),
        };
        for (name, title) in [("cudnn", "cuDNN"), ("nccl", "NCCL")] {
            let mut brought: Vec<&Version> = builds.iter().filter_map(|build| of(name, build)).collect();
            brought.arrange();
            brought.dedup();
            if !self.blames(name) || brought.is_empty() {
                continue;
            }
            let words: Vec<&str> = brought.iter().map(|version| version.as_str()).collect();
            let it = if builds.len() == 1 { "it brings" } else { "they bring" };
            self.say(format!("{it} {title} {}", list(&words)));
        }
    }

    /// `cuda`, `cudnn`, `nccl`, `python` that match nothing known.
    fn parts(&mut self) {
        let catalog = self.question.catalog;
        let parts = [
            ("cuda", &self.question.cuda, catalog.toolkits.iter().map(|row| &row.version).collect::<Vec<_>>()),
            ("cudnn", &self.question.cudnn, catalog.cudnns.iter().map(|row| &row.version).collect()),
            ("nccl", &self.question.nccl, catalog.nccls.iter().map(|row| &row.version).collect()),
            ("python", &self.question.python, catalog.pythons.iter().map(|row| &row.version).collect()),
        ];
        for (name, wanted, known) in parts {
            let Some(wanted) = wanted.as_ref().filter(|_| self.culprits.contains(&format!("stack.{name}"))) else {
                continue;
            };
            if known.iter().any(|version| wanted.cut_to(version.len()).admits(version)) {
                self.say(format!("`{name} = \"{wanted}\"` is asked for"));
            } else {
                let nearest = nearest_versions(wanted, known.into_iter());
                self.say(format!("no {name} {wanted} is known{nearest}"));
            }
        }
    }

    fn toolkits_installed(&mut self) {
        let Some(target) = self.target_with("toolkit") else { return };
        let Some(installed) = &target.toolkits else { return };
        let known = &self.question.catalog.toolkits;
        let unknown = |version: &&Version| known.iter().all(|row| row.version.cmp_prefix(version).is_ne());
        let newest = known.iter().rev().find(|row| !row.components_only).map(|row| &row.version);
        let sentence = |version: &Version| match newest.filter(|newest| version > *newest) {
            Some(newest) => format!("no CUDA toolkit {version} is known, the newest is {newest}"),
            None => format!("no CUDA toolkit {version} is known"),
        };
        let sentences: Vec<String> = installed.iter().filter(unknown).map(sentence).collect();
        sentences.into_iter().for_each(|sentence| self.say(sentence));
    }

    fn image_missing(&mut self) {
        let Some(target) = self.target_with("image") else { return };
        let name = target.name.clone();
        match &target.image {
            ImageAsk::NoSuchTag(wanted) => {
                let tag = wanted.tag.clone().unwrap_or_default();
                let nearest = image::nearest_tag(self.question.catalog, &wanted.repository, &tag);
                let near = nearest.map_or(String::new(), |row| format!("; the nearest is `{}`", row.tag));
                let sentence = format!("{} has no tag `{}`{near}", wanted.repository, tag.escape_debug());
                self.say(sentence);
            }
            ImageAsk::Choose(repository) => {
                let os = target.os.filter(|_| self.culprits.contains(&target.key("os")));
                let sentence = match os {
                    Some(os) => format!("{repository} has no tag for {} that serves target `{name}`", os.name),
                    None => format!("no tag of {repository} serves target `{name}`"),
                };
                self.say(sentence);
            }
            _ => {}
        }
    }

    fn pythons(&mut self) {
        self.companions_say(|row| Some(format!("is for Python {} only", row.python?)));
        // Where no framework is to blame, its Pythons say nothing.
        let blamed = self.question.frameworks.iter().any(|ask| self.blames(ask.package));
        let told = !self.says.is_empty();
        let builds = if blamed || !told { self.builds() } else { Vec::new() };
        let mut lines: Vec<&Version> = builds.iter().flat_map(|build| build.pythons.iter()).collect();
        lines.arrange();
        lines.dedup();
        if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            let of: Vec<&Build> = builds.clone();
            let span = if first == last { first.to_string() } else { format!("{first} to {last}") };
            self.say(format!("{} wheels for Python {span} only", describe(&of, "has", "have")));
        }
        if let Some(python) = &self.question.python {
            self.say(format!("Python {python} is asked for"));
        }
        for build in builds.iter().rev().take(2) {
            self.fact(build_id(build), self.question.catalog.origin_of(*build, &build.source));
        }
    }

    fn glibc(&mut self) {
        let builds = self.builds();
        let lowest = builds.iter().filter_map(|build| build.glibc.as_ref()).min();
        if let Some(lowest) = lowest {
            self.say(format!("{} glibc {lowest} or newer", describe(&builds, "needs", "need")));
        }
        self.subject(Subject::Glibc);
        self.cite_builds(&builds);
    }

    fn cudnn(&mut self) {
        let mut versions: Vec<&Version> = self.builds().iter().filter_map(|build| build.cudnn.as_ref()).collect();
        versions.arrange();
        versions.dedup();
        if let [version] = versions.as_slice() {
            let sentence = format!("{} cuDNN {version}", plainly(&self.builds(), "brings", "bring"));
            self.say(sentence);
        } else if let Some(wanted) = &self.question.cudnn {
            self.say(format!("cuDNN {wanted} is asked for"));
        }
    }

    fn image(&mut self, id: &str) {
        let Some(target) = self.target_with("image").or(self.target()) else { return };
        let ImageAsk::Known(image) = &target.image else { return self.image_missing() };
        let name = format!("{}:{}", image.repository, image.tag);
        let sentence = match id {
            law::IMAGE_TAG => format!("{name} can no longer be pulled"),
            law::IMAGE_ARCH => {
                let arches: Vec<&str> = image.arches.iter().map(|arch| arch.as_str()).collect();
                format!("{name} exists for {} only", list(&arches))
            }
            law::IMAGE_OS => {
                format!("{name} is {}, not {}", image.os, target.os.map_or("what is asked for", |os| &os.id))
            }
            law::IMAGE_HOLDS if self.question.build.is_some() => format!("{name} holds no nvcc, which `[build]` needs"),
            _ => format!("{name} does not hold the cuDNN asked for"),
        };
        let source = self.question.catalog.source_of(&image.source, image.tag.as_ref(), &image.repository, "");
        self.say(sentence);
        self.fact(format!("image {name}"), source);
    }

    fn image_requires(&mut self) {
        let Some(target) = self.target_with("image").or(self.target()) else { return };
        if let ImageAsk::Known(image) = &target.image {
            if let Some(requirement) = image::requirement(self.question.catalog, image, target.arch) {
                let requirement = &requirement.row.require;
                let short = requirement.split_whitespace().next().unwrap_or("");
                let short = short
                    .strip_prefix("cuda>=")
                    .map_or(short.to_string(), |cuda| format!("drivers whose CUDA version is {cuda} or newer"));
                let more = if requirement.contains(' ') { ", or on some older ones that it names" } else { "" };
                let sentence = format!("{}:{} starts only on {short}{more}", image.repository, image.tag);
                let source = self.question.catalog.source_of(&image.source, image.tag.as_ref(), &image.repository, "");
                let id = format!("image {}:{}", image.repository, image.tag);
                let driver = driver_words(self.question, target);
                self.say(sentence);
                driver.into_iter().for_each(|sentence| self.say(sentence));
                self.fact(id, source);
            }
        } else if let ImageAsk::Choose(repository) = &target.image {
            let sentence = format!("no tag of {repository} may be started on that driver");
            let driver = driver_words(self.question, target);
            driver.into_iter().for_each(|sentence| self.say(sentence));
            self.say(sentence);
        }
        self.gpus();
    }

    /// The toolkits that are admitted at all.
    fn toolkits(&self) -> Vec<&'c Toolkit> {
        let target = self.target();
        let installed = target.and_then(|target| target.toolkits.as_ref());
        let asked = |row: &&Toolkit| {
            self.question.cuda.as_ref().is_none_or(|wanted| wanted.admits(&row.version))
                && installed.is_none_or(|installed| installed.iter().any(|has| row.version.cmp_prefix(has).is_eq()))
        };
        self.question.catalog.toolkits.iter().filter(asked).collect()
    }

    /// Those of them that extensions of the admitted builds can be compiled with.
    fn toolkits_of_builds(&self) -> Vec<&'c Toolkit> {
        let lines = self.builds().into_iter().filter_map(|build| fits::line_of(&build.variant));
        let majors: Vec<u64> = lines.map(|line| line.major()).collect();
        let all = self.toolkits();
        let serves = |row: &&Toolkit| majors.is_empty() || majors.contains(&row.version.major());
        let serving: Vec<&Toolkit> = all.iter().copied().filter(serves).collect();
        if serving.is_empty() { all } else { serving }
    }

    fn cite_toolkit(&mut self, toolkit: &Toolkit, source: &str) {
        let source = self.question.catalog.source_of(source, toolkit.version.as_str(), "", "");
        self.fact(format!("toolkit {}", toolkit.version), source);
    }

    fn nvcc_arch(&mut self) {
        let toolkits = self.toolkits_of_builds();
        let Some(newest) = toolkits.last() else { return };
        let listed = self.question.build.as_ref().and_then(|build| build.arch_list.as_ref());
        let wanted: Vec<crate::words::Arch> = match listed {
            Some(list) => list.entries().iter().map(|entry| entry.arch).collect(),
            None => self.target().map_or(Vec::new(), |target| {
                target.named_gpus().iter().map(|gpu| crate::words::Arch::base(gpu.cc)).collect()
            }),
        };
        for arch in wanted.iter().filter(|arch| !newest.sass.contains(arch)) {
            let all = &self.question.catalog.toolkits;
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

    fn nvcc_gcc(&mut self) {
        let toolkits = self.toolkits_of_builds();
        let Some((newest, most)) = toolkits.last().and_then(|row| Some((row, row.gcc_max.as_ref()?))) else { return };
        self.say(format!("nvcc of CUDA {} accepts gcc up to {most}", newest.version.prefix(2)));
        self.gcc();
        let source = newest.host_source;
        if let Some(source) = source {
            self.cite_toolkit(newest, &source);
        }
    }

    fn extension_arch(&mut self) {
        let builds = self.builds();
        let Some(build) = builds.last() else { return };
        if let Some(known) = fits::extension_row(self.question.catalog, &build.package, &build.version) {
            let base: Vec<String> = known
                .archs
                .iter()
                .filter(|arch| arch.suffix == crate::words::Suffix::None)
                .map(|arch| arch.to_string())
                .collect();
            let words: Vec<&str> = base.iter().map(String::as_str).collect();
            let of = describe(&builds, "builds", "build");
            self.say(format!("{of} extensions for {} only", list(&words)));
            let source = self.question.catalog.source_of(&known.source, known.from.as_str(), &known.package, "");
            self.fact(format!("extension {} {}", known.package, known.from), source);
        }
        self.gpus();
    }

    fn extension_major(&mut self) {
        let builds: Vec<&Build> = self.builds().into_iter().filter(|build| build.variant != "cpu").collect();
        let lines: Vec<Version> = builds.iter().filter_map(|build| fits::line_of(&build.variant)).collect();
        let mut majors: Vec<String> = lines.iter().map(|line| line.major().to_string()).collect();
        majors.arrange();
        majors.dedup();
        let majors: Vec<&str> = majors.iter().map(String::as_str).collect();
        let of = plainly(&builds, "compiles", "compile");
        self.say(format!("{of} extensions only with a CUDA toolkit of the same major, {}", list(&majors)));
        if let Some(ImageAsk::Known(image)) = self.target_with("image").map(|target| &target.image) {
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
        if let Some(known) =
            builds.last().and_then(|build| fits::extension_row(self.question.catalog, &build.package, &build.version))
        {
            let source = self.question.catalog.source_of(&known.source, known.from.as_str(), &known.package, "");
            self.fact(format!("extension {} {}", known.package, known.from), source);
        }
    }

    fn arch_list(&mut self) {
        let Some(text) =
            self.question.build.as_ref().and_then(|build| build.arch_list.as_ref()).map(|listed| listed.torch())
        else {
            return;
        };
        self.say(format!("`arch-list` asks for code for {text} only"));
        self.gpus();
        self.say("machine code runs on GPUs of the same major and an equal or greater minor capability".into());
    }

    /// What the newest admitted releases of the blamed packages say of themselves.
    fn companions_say(&mut self, mut says: impl FnMut(&Companion) -> Option<String>) {
        let catalog = self.question.catalog;
        for ask in
            self.question.companions.iter().filter(|ask| self.culprits.contains(&format!("stack.{}", ask.package)))
        {
            let admitted = |row: &&Companion| row.package == ask.package && ask.constraint.admits(&row.version);
            for row in catalog.companions.iter().rev().filter(admitted).take(2) {
                let Some(sentence) = says(row) else { continue };
                self.say(format!("{} {} {sentence}", row.package, row.version));
                let source = row.arch_source.as_ref().unwrap_or(&row.source);
                let source = catalog.source_of(source, row.version.as_str(), &row.package, "");
                self.fact(format!("{}-{}", row.package, row.version), source);
            }
        }
    }

    fn companions_hold(&mut self) {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        self.companions_say(|row| {
            row.arch_source.as_ref().filter(|_| row.gpu_code)?;
            let (sass, ptx) = fits::companion_targets(row, arch);
            let names = crate::words::ArchList::from_targets(sass, ptx).names();
            (!names.is_empty()).then(|| format!("holds code for {} only", names.replace(' ', ", ")))
        });
    }

    fn companion(&mut self) {
        if self.follow_versions() {
            self.companion_lines();
        }
        for ask in &self.question.companions {
            let rows: Vec<_> = self
                .question
                .catalog
                .companions
                .iter()
                .filter(|row| row.package == ask.package && ask.constraint.admits(&row.version))
                .collect();
            for row in rows.iter().rev().filter(|row| row.needs != "*").take(2) {
                self.say(format!("{} {} needs {} {}", row.package, row.version, row.framework, row.needs));
                let source = self.question.catalog.source_of(&row.source, row.version.as_str(), &row.package, "");
                self.fact(format!("{}-{}", row.package, row.version), source);
            }
        }
        for ask in &self.question.frameworks {
            if self.culprits.contains(&format!("stack.{}", ask.package)) {
                self.say(format!("{} {} is asked for", ask.package, ask.constraint));
            }
        }
    }

    /// Whether some release asked for goes with some framework asked for by its version: then their CUDA does not.
    fn follow_versions(&self) -> bool {
        let (catalog, rules) = (self.question.catalog, self.question.rules);
        let builds = self.builds();
        let asked = |row: &&Companion| {
            let mut asks = self.question.companions.iter().filter(|ask| self.blames(ask.package));
            asks.any(|ask| row.package == ask.package && ask.constraint.admits(&row.version))
        };
        catalog.companions.iter().filter(asked).any(|row| {
            let needs = rules.range(row.needs.as_str());
            let fits = |build: &&Build| needs.as_ref().is_none_or(|needs| needs.admits(&build.version));
            builds.iter().any(|build| build.package == row.framework && fits(build))
        })
    }

    /// The CUDA of packages that follow a framework.
    fn companion_lines(&mut self) {
        self.companions_say(|row| Some(format!("loads the libraries of CUDA {}", row.cuda.as_ref()?)));
    }

    /// A product that is sold with its CPU.
    fn product_cpu(&mut self) {
        let Some(target) = self.target_with("gpu").or(self.target()) else { return };
        let arch = target.arch;
        let other = target.named_gpus().iter().find_map(|gpu| {
            let cpu = gpu.row?.cpu.filter(|cpu| *cpu != arch)?;
            Some(format!("{} comes with an {cpu} CPU", gpu.written))
        });
        let Some(sentence) = other else { return };
        self.say(sentence);
        self.say(format!("`arch = \"{arch}\"` is asked for"));
    }

    fn ptx_driver(&mut self) {
        self.gpus();
        self.say("the GPU is reached by PTX only, which the driver must compile".into());
        if let Some(sentence) = self.target().and_then(|target| driver_words(self.question, target)) {
            self.say(sentence);
        }
    }
}

/// `torch-2.5.1-cu124-linux-x86_64`
pub fn build_id(build: &Build) -> String {
    format!("{}-{}-{}-linux-{}", build.package, build.version, build.variant, build.arch)
}

/// `torch 2.5.1+cu124`
fn name_of(build: &Build) -> String {
    format!("{} {}+{}", build.package, build.version, build.variant)
}

/// What is said of a target's driver, in words.
fn driver_words(question: &Question<'_>, target: &TargetAsk<'_>) -> Option<String> {
    use crate::solve::question::DriverAsk;
    let cuda = |version: &Version| {
        driver::branch_of(question.catalog, version)?
            .cuda
            .as_ref()
            .map(|cuda| format!(", whose CUDA version is {cuda}"))
    };
    match &target.driver {
        DriverAsk::Exact(version) => {
            Some(format!("the hosts have driver {version}{}", cuda(version).unwrap_or_default()))
        }
        DriverAsk::AtWorst(constraint) => {
            Some(format!("the hosts have driver {constraint}, and the oldest that this admits must do"))
        }
        DriverAsk::Cuda(version) if target.has_system_driver() => {
            let os = target.os.map_or("", |os| &os.name);
            Some(format!("{os} comes with a driver of CUDA {version}"))
        }
        DriverAsk::Cuda(version) => Some(format!("the hosts' nvidia-smi shows CUDA {version}")),
        DriverAsk::Free(Some(bound)) => Some(format!("the driver must be {bound}")),
        DriverAsk::Free(None) => None,
    }
}

/// `torch 1.12.1+cu102 holds`, `torch 2.0.0 to 2.0.1 (cu117, cu118) hold`.
fn describe(builds: &[&Build], one: &str, many: &str) -> String {
    let (Some(first), Some(last)) = (builds.iter().min_by(by_version), builds.iter().max_by(by_version)) else {
        return many.to_string();
    };
    let mut variants: Vec<&str> = builds.iter().map(|build| &*build.variant).collect();
    variants.arrange();
    variants.dedup();
    if builds.len() == 1 {
        return format!("{} {}+{} {one}", first.package, first.version, first.variant);
    }
    let (versions, verb) = match first.version == last.version {
        true => (first.version.to_string(), one),
        false => (format!("{} to {}", first.version, last.version), many),
    };
    let which = if variants.len() <= 4 { format!(" ({})", variants.join(", ")) } else { String::new() };
    format!("{} {versions}{which} {verb}", first.package)
}

fn by_version(a: &&&Build, b: &&&Build) -> Ordering {
    a.version.cmp(&b.version)
}

/// `2.5.1 was`, `2.5.0 to 2.5.1 were`
fn versions_of(builds: &[&&Build]) -> String {
    let versions = || builds.iter().map(|build| &build.version);
    match (versions().min(), versions().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last} were"),
        (Some(first), _) => format!("{first} was"),
        _ => String::new(),
    }
}

/// `torch 1.12.1+cu102 holds`, `torch 2.0.0 to 2.0.1 hold`: without the variants.
fn plainly(builds: &[&Build], one: &str, many: &str) -> String {
    match (builds.iter().min_by(by_version), builds.iter().max_by(by_version)) {
        (Some(only), Some(_)) if builds.len() == 1 => describe(&[only], one, many),
        (Some(first), Some(last)) if first.version == last.version => {
            format!("{} {} {one}", first.package, first.version)
        }
        (Some(first), Some(last)) => format!("{} {} to {} {many}", first.package, first.version, last.version),
        _ => many.to_string(),
    }
}

fn list(items: &[&str]) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for item in items {
        if !unique.contains(item) {
            unique.push(item);
        }
    }
    match unique.as_slice() {
        [] => "nothing".into(),
        [one] => (*one).into(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Whether everything a constraint could admit lies above the newest known.
fn is_above(constraint: &crate::words::Constraint, newest: &Version) -> bool {
    use crate::words::constraint::Op;
    constraint.alternatives().iter().all(|all| {
        all.iter().any(|one| {
            let lower = matches!(one.op, Op::AtLeast | Op::Above | Op::Prefix | Op::Compatible);
            lower && one.version.as_ref().is_some_and(|bound| newest.cmp_prefix(bound) == Ordering::Less)
        })
    })
}

fn version_matches(constraint: &crate::words::Constraint, version: &Version) -> bool {
    let mut variants = constraint.comparisons().filter_map(|one| one.variant.as_deref());
    let named = variants.next();
    constraint.admits_build(version, named.unwrap_or(""))
}

/// `; the nearest are 2.0.1 and 2.1.0`
fn nearest_versions<'v>(constraint: &crate::words::Constraint, known: impl Iterator<Item = &'v Version>) -> String {
    let Some(wanted) = constraint.comparisons().find_map(|one| one.version) else { return String::new() };
    let mut known: Vec<&Version> = known.collect();
    known.arrange();
    known.dedup();
    let after = known.partition_point(|version| **version < wanted);
    let near: Vec<&str> = [after.checked_sub(1), Some(after)]
        .into_iter()
        .flatten()
        .filter_map(|at| known.get(at).map(|version| version.as_str()))
        .collect();
    if near.is_empty() { String::new() } else { format!("; the nearest known: {}", list(&near)) }
}
