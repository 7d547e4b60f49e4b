//! What an answer should not be taken without knowing. Each warning has a stable code and names the keys it is
//! about; none is given for what is merely as asked.

use std::collections::HashMap;

use crate::catalog::rows::{Build, Class, Companion, Property, Status, Subject};
use crate::coverage::Coverage;
use crate::spec::Share;
use crate::words::{CpuArch, Version};

use super::answer::{Answer, Chosen};
use super::beneath;
use super::fits;
use super::hardware;
use super::image;
use super::inside;
use super::lifetime;
use super::machine::gpu_rules;
use super::ordinary;
use super::own;
use super::platform::Takes;
use super::question::{DriverAsk, GpuAsk, ImageAsk, Question, TargetAsk, Warning};

/// The warnings an answer deserves, by target.
pub fn warnings<'c>(question: &Question<'c>, answer: &Answer<'c>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for group in answer.alike() {
        let all: Vec<&TargetAsk> = group.iter().map(|&at| &question.targets[at]).collect();
        let about = About { question, asked: all[0], all, target: &answer.targets[group[0]].chosen };
        warnings.extend(about.builds());
        warnings.extend(about.libraries());
        warnings.extend(about.companions());
        warnings.extend(about.code());
        warnings.extend(about.driver());
        warnings.extend(about.image());
        warnings.extend(about.toolkit());
        warnings.extend(beneath::warnings(question, &about.all, about.target));
        warnings.extend(lifetime::warnings(question, &about.all, about.target));
        for asked in &about.all {
            warnings.extend(hardware::warnings(question, asked, about.target));
        }
    }
    warnings.extend(ordinary::warnings(question, answer));
    merged(warnings)
}

/// Equal warnings of several targets are one that names the keys of all.
fn merged(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut at: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut merged: Vec<Warning> = Vec::new();
    for warning in warnings {
        let known = *at.entry((warning.code, warning.message.clone())).or_insert(merged.len());
        match merged.get_mut(known) {
            None => merged.push(warning),
            Some(known) => known.keys.extend(warning.keys),
        }
    }
    for warning in &mut merged {
        warning.keys.sort();
        warning.keys.dedup();
    }
    merged
}

struct About<'a, 'c> {
    question: &'a Question<'c>,
    /// The first of the targets that share this choice, and all of them.
    asked: &'a TargetAsk<'c>,
    all: Vec<&'a TargetAsk<'c>>,
    target: &'a Chosen<'c>,
}

impl<'c> About<'_, 'c> {
    fn key(&self, setting: &str) -> Vec<String> {
        self.all.iter().map(|target| target.key(setting)).collect()
    }

    fn gpu_builds(&self) -> impl Iterator<Item = &&Build> {
        self.target.builds.iter().filter(|build| build.variant != "cpu")
    }

    /// Builds taken although their publisher or the catalog does not stand behind them.
    fn builds(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for build in self.gpu_builds() {
            let name = build.named();
            let key = [format!("stack.{}", build.package)];
            let ask = self.question.frameworks.iter().find(|ask| ask.package == build.package);
            let named = ask.is_some_and(|ask| ask.own || ask.constraint.names_variant(&build.variant));
            if build.is_nightly() {
                warnings.push(self.nightly(build, &key));
            }
            if let Some(carried) = build.wheel.as_ref().filter(|_| build.is_snapshot()) {
                let message = match build.is_in_image() {
                    true => format!(
                        "the {name} in the image is a snapshot from before release {}, as which it counts here: what needs \
                         that release may refuse it",
                        build.version
                    ),
                    false => format!("{name} is a snapshot from before that release, {carried}; nothing else fits"),
                };
                warnings.push(Warning::new("snapshot-build", message, &key));
            } else if build.status == Status::Experimental
                && !build.default
                && !named
                && !self.question.allow_experimental
            {
                let message = format!("{name} is an experimental build; nothing else fits");
                warnings.push(Warning::new("experimental-variant", message, &key));
            }
            if !build.loads.is_empty() {
                let files: Vec<&str> = build.loads.iter().map(|file| &**file).collect();
                let message = format!(
                    "{name} loads {}, which neither pip nor the system installs: install it yourself",
                    files.join(", ")
                );
                warnings.push(Warning::new("library-missing", message, &key));
            }
            if self.asked.platform.takes == Takes::Either && !build.systems.is_empty() {
                let systems: Vec<&str> = build.systems.iter().map(|system| &**system).collect();
                let message = format!(
                    "{name} is made for {}, but target `{}` does not set `os`",
                    systems.join(", "),
                    self.asked.name
                );
                warnings.push(Warning::new("system-unsaid", message, &[format!("target.{}", self.asked.name)]));
            }
            if build.arch_source.is_none() && !self.asked.named_gpus().is_empty() {
                let message = match build.is_own() {
                    true => format!("{name} has no `arch-list`, so it is not known which GPUs it supports"),
                    false => format!("it is not known which GPUs {name} for {} supports", build.arch),
                };
                warnings.push(Warning::new("unknown-gpu-code", message, &key));
            }
            warnings.extend(self.disputed_code(build, &name));
            if self.asked.is_cpu()
                && build.variant != "cpu"
                && self.question.share == Share::Stack
                && self.beside_gpus()
            {
                let message = format!(
                    "target `{}` has no GPU but installs {name}, because all targets share one stack; `share = \"versions\"` \
                     gives it the CPU build",
                    self.asked.name
                );
                warnings.push(Warning::new("cuda-on-cpu", message, &self.key("gpu")));
            }
            let alone = self.question.targets.iter().all(|target: &TargetAsk| target.is_cpu())
                || self.question.share != Share::Stack;
            if self.asked.is_cpu()
                && alone
                && !named
                && fits::has_cpu_builds(self.question.catalog, &build.package, build.arch)
            {
                let message =
                    format!("no build of {} {} without CUDA was seen for {}", build.package, build.version, build.arch);
                warnings.push(Warning::new("cuda-on-cpu", message, &key));
            }
            warnings.extend(self.expected(build, &name, &key));
            let unknown = |wanted: bool, has: bool, what: &str| {
                let message = format!("it is not known which {what} comes with {name}");
                (wanted && !has).then(|| Warning::new("unknown-library", message, &[format!("stack.{what}")]))
            };
            warnings.extend(unknown(self.question.cudnn.is_some(), build.cudnn.is_some(), "cudnn"));
            warnings.extend(unknown(self.question.nccl.is_some(), build.nccl.is_some(), "nccl"));
        }
        warnings
    }

    /// Code of which evidence differs on whether a GPU loads it.
    fn disputed_code(&self, build: &Build, name: &str) -> Option<Warning> {
        build.arch_source.as_ref()?;
        let toolkit = self.question.toolkit_of(build);
        let unknown = |gpu: &&GpuAsk<'_>| fits::coverage(build, toolkit, gpu.cc).is_none();
        let gpu = self.asked.named_gpus().iter().find(unknown)?;
        let source = self.question.catalog.source_of(toolkit?.tegra_disputed.as_deref()?, "", "", "");
        let settled = self.question.catalog.toolkits.iter().find(|row| row.tegra_unified);
        let settled = settled.map_or_else(String::new, |row| {
            format!("; builds of CUDA {} and newer are certain", row.version.prefix(2))
        });
        let message = format!(
            "it is not certain that {} loads the code in {name}: the framework's own table says it does not, while tests \
             on such a board passed ({source}){settled}",
            gpu.name
        );
        Some(Warning::new("unknown-gpu-code", message, &self.key("gpu")))
    }

    /// What a nightly was judged by.
    fn nightly(&self, build: &Build, key: &[String]) -> Warning {
        let release = own::precedes(&build.version);
        let of_release = |row: &&Build| {
            row.package == build.package && row.version == release && row.variant == build.variant && !row.is_laid()
        };
        let name = build.named();
        let message = match self.question.catalog.builds.iter().find(of_release) {
            Some(_) => format!("{name} is a nightly and judged as the release {release}, which may differ from it"),
            None => format!(
                "{name} is a nightly, and the release {release} has no build for {}: what it holds and brings is not known",
                build.variant
            ),
        };
        Warning::new("nightly", message, key)
    }

    /// Whether other targets have GPUs.
    fn beside_gpus(&self) -> bool {
        self.question.targets.iter().any(|target| !target.is_cpu())
    }

    /// What nobody has read of a build, and a practice of its publisher tells.
    fn expected(&self, build: &Build, name: &str, key: &[String]) -> Option<Warning> {
        let expected = build.expected_of(self.target.python);
        let mut words: Vec<String> = Vec::new();
        for property in &expected {
            let version = |of: &Option<Version>| of.map_or_else(String::new, |version| format!(" {version}"));
            words.push(match property {
                Property::Pythons => {
                    self.target.python.map_or_else(String::new, |line| format!("a wheel for Python {line}"))
                }
                Property::Toolkit => format!("CUDA{}", version(&build.toolkit)),
                Property::Cudnn => format!("cuDNN{}", version(&build.cudnn)),
                Property::Nccl => format!("NCCL{}", version(&build.nccl)),
                Property::Triton => format!("triton{}", version(&build.triton)),
            });
        }
        let practices = self.question.catalog.practices.iter();
        let says = practices.filter(|row| row.package == build.package && expected.contains(&row.property));
        let says =
            says.map(|row| format!("{} ({} of {} times)", row.says.trim_end_matches('.'), row.holds, row.of)).next()?;
        let message = format!("{name}: {} expected, not read from this build: {says}", words.join(", "));
        Some(Warning::new("expected", message, key))
    }

    /// Two frameworks that each come with a cuDNN of their own, where one environment holds one only.
    fn libraries(&self) -> Option<Warning> {
        let mut bringing = self.gpu_builds().filter_map(|build| Some((*build, build.cudnn.as_ref()?)));
        let (first, loaded) = bringing.next()?;
        // What all of them ask pip for they agree on. Else an older one of the same major is what the other was built
        // with, and that it runs with.
        let apart = |other: &Build, wanted: &Version| {
            (first.pins.is_none() || other.pins.is_none()) && (wanted.major() != loaded.major() || wanted > loaded)
        };
        let (other, wanted) = bringing.find(|(other, wanted)| apart(other, wanted))?;
        let message = format!(
            "{} {} comes with cuDNN {loaded}, {} {} needs {wanted}: one environment holds only one of them",
            first.package, first.version, other.package, other.version
        );
        let keys = [format!("stack.{}", first.package), format!("stack.{}", other.package)];
        Some(Warning::new("two-cudnns", message, &keys))
    }

    /// Packages with GPU code of their own that nobody has read, or that only a driver's compiler makes run.
    fn companions(&self) -> Vec<Warning> {
        let rows = || self.target.companions.iter();
        let mut warnings: Vec<Warning> = rows().filter_map(|row| self.source_only(row)).collect();
        warnings.extend(rows().filter_map(|row| self.brought(row)));
        for row in self.target.companions.iter().filter(|row| row.gpu_code) {
            let name = format!("{} {}", row.package, row.version);
            let key = [format!("stack.{}", row.package)];
            let code = |gpu: &GpuAsk<'_>| fits::companion_code(row, self.asked.arch, gpu.cc);
            let gpus = self.asked.named_gpus();
            if gpus.iter().any(|gpu| code(gpu).is_none()) {
                let message = format!("it is not known which GPUs {name} supports");
                warnings.push(Warning::new("unknown-gpu-code", message, &key));
            }
            let jit: Vec<&str> =
                gpus.iter().filter(|gpu| code(gpu) == Some(Coverage::Jit)).map(|gpu| gpu.name.as_str()).collect();
            if !jit.is_empty() {
                let message = format!(
                    "{name} holds only PTX for {}: the driver compiles it at the first start, which is slow and needs a driver that \
                     knows that PTX version",
                    jit.join(", ")
                );
                warnings.push(Warning::new("jit-only", message, &key));
            }
        }
        warnings
    }

    /// What a wheel for a variant brings along from the package index, where it may be for another CUDA.
    fn brought(&self, row: &Companion) -> Option<Warning> {
        let named = |pin: &str| {
            let mut asked = self.question.companions.iter().filter_map(|ask| pin.strip_prefix(ask.package));
            asked.any(|rest| rest.starts_with(['=', '>']))
        };
        let brought: Vec<&str> = row.brings.iter().map(|pin| &**pin).filter(|pin| !named(pin)).collect();
        let message = format!(
            "{} {}+{} requires {}, which installers take from the default package index, where it may be built for another \
             CUDA; put it under [stack] to take it from the index of {}",
            row.package,
            row.version,
            row.variant.as_deref()?,
            brought.join(" and "),
            row.framework
        );
        (!brought.is_empty()).then(|| Warning::new("brings-other-cuda", message, &[format!("stack.{}", row.package)]))
    }

    /// A package that is compiled where it is installed, and with what.
    fn source_only(&self, row: &Companion) -> Option<Warning> {
        let lined = |build: &&Build| Some((fits::line_of(&build.variant)?, build.version.prefix(2)));
        let (line, of_framework) =
            self.gpu_builds().filter(|build| build.package == row.framework).find_map(lined).filter(|_| row.sdist)?;
        let bounds = self.question.rules.of_package(&row.package, Subject::Toolkit);
        let bounds = bounds.about(&row.version).map(|needs| format!(" {}", needs.row.needs));
        let (bounds, framework) = (bounds.collect::<String>(), &row.framework);
        let with = match self.target.toolkit {
            Some(toolkit) => format!("the toolkit that was chosen, {}", toolkit.version),
            None => format!("a CUDA {} toolkit{bounds}; a [build] table has gpuenv choose it", line.major()),
        };
        let made_for = format!("{of_framework}+cu{}", line.major());
        let finished = match row.finished.iter().any(|one| *one == made_for) && self.asked.arch == CpuArch::X86_64 {
            true => format!(
                "unless its build finds the wheel that was made for {framework} {of_framework}, CUDA {}, the Python and \
                 the C++ ABI beside its release, ",
                line.major()
            ),
            false => String::new(),
        };
        let message = format!(
            "{} {} comes as source only: {finished}its CUDA code is compiled where it is installed or first used, \
             beside an installed {framework} (pip's --no-build-isolation) and with {with}",
            row.package, row.version
        );
        Some(Warning::new("source-only", message, &[format!("stack.{}", row.package)]))
    }

    /// GPUs that only a driver's compiler makes the code run on.
    fn code(&self) -> Vec<Warning> {
        let jit = self.target.gpus.iter().filter(|gpu| gpu.coverage == Some(Coverage::Jit));
        let names: Vec<&str> = jit.map(|gpu| gpu.name.as_str()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let message = format!(
            "the stack holds only PTX for {}: the driver compiles it at the first start, which is slow and needs a driver that \
             knows that PTX version",
            names.join(", ")
        );
        vec![Warning::new("jit-only", message, &self.key("gpu"))]
    }

    fn driver(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let Some(driver) = &self.target.driver else { return warnings };
        let setting = self.asked.driver_setting();
        if self.asked.pins_driver() && self.target.mode() == "minor-version" {
            let of_system = self.asked.os.filter(|_| self.asked.has_system_driver());
            let name = of_system.map_or_else(|| driver.version.to_string(), |os| format!("of {}", os.name));
            let lines = self.gpu_builds().filter_map(|build| fits::line_of(&build.variant));
            let newest = lines.chain(self.target.toolkit.iter().map(|toolkit| toolkit.version.prefix(2))).max();
            let has = driver.branch.cuda.map_or_else(String::new, |cuda| format!(" supports CUDA up to {cuda}"));
            let uses = newest.map_or_else(|| "a newer CUDA".to_string(), |line| format!("CUDA {line}"));
            let message = format!(
                "driver {name}{has}, the stack uses {uses}: precompiled kernels run, but PTX of {uses} cannot be \
                 compiled; usually harmless"
            );
            warnings.push(Warning::new("jit-limited", message, &self.key(setting)));
        }
        if let Some(compat) = driver.added() {
            let message = format!(
                "driver {} is too old for this stack by itself: install {} on the hosts or in the image, where its \
                 libcuda is found before the driver's; `forward-compat = \"never\"` chooses an older CUDA instead",
                driver.version,
                compat.package()
            );
            warnings.push(Warning::new("forward-compat", message, &self.key(setting)));
        }
        let gpus = self.asked.named_gpus().iter().filter(|_| !self.asked.has_system_driver());
        let jetson = gpus.into_iter().find(|gpu| gpu.row.is_some_and(|row| row.class == Class::Jetson));
        if let (Some(gpu), Some(minimum)) = (jetson, &self.target.minimum) {
            let cuda =
                driver.branch.cuda.as_ref().map_or(String::new(), |cuda| format!(" whose CUDA is {cuda} or newer"));
            let message = format!(
                "the driver of {} comes with JetPack: take one{cuda}; the number {minimum} is that of other machines",
                gpu.name
            );
            warnings.push(Warning::new("jetson-driver", message, &self.key("gpu")));
        }
        // A family name is fine as long as the driver lists any member of it.
        let listed = |gpu: &GpuAsk<'_>| {
            let first = gpu.row.and_then(|row| row.first_driver.as_ref());
            first.is_none_or(|first| driver.version.major() >= first.major())
        };
        let named = self.asked.named_gpus();
        let unlisted = named.iter().find_map(|gpu| {
            let family_listed = named.iter().any(|other| other.written == gpu.written && listed(other));
            (!family_listed).then_some((gpu, gpu.row?.first_driver.as_ref()?))
        });
        if let Some((gpu, first)) = unlisted {
            let message =
                format!("{} is first listed in driver {first}; {} may not know the board", gpu.name, driver.version);
            warnings.push(Warning::new("gpu-not-listed", message, &[self.key("gpu"), self.key(setting)].concat()));
        }
        warnings.extend(self.dropped(setting));
        warnings
    }

    /// Branches that the hosts may have and that no longer drive the GPU.
    fn dropped(&self, setting: &str) -> Option<Warning> {
        let DriverAsk::AtWorst(constraint) = &self.asked.driver else { return None };
        let gpus = gpu_rules(self.question, self.asked);
        let dropping = self.question.catalog.branches.iter().find(|row| {
            constraint.admits(&row.branch)
                && gpus.iter().any(|gpu| gpu.driver.iter().any(|needs| !needs.needs.admits(&row.branch)))
        })?;
        let gpu = gpus.iter().find(|gpu| gpu.driver.iter().any(|needs| !needs.needs.admits(&dropping.branch)))?;
        let later = dropping.branch > self.target.driver.as_ref()?.branch.branch;
        let message = format!(
            "branch R{} and newer, which `{constraint}` admits, no longer support {}",
            dropping.branch, gpu.gpu.name
        );
        later.then(|| Warning::new("driver-drops-gpu", message, &self.key(setting)))
    }

    fn image(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let Some(chosen) = self.target.image else { return warnings };
        let name = format!("{}:{}", chosen.repository, chosen.tag);
        let key = self.key("image");
        warnings.extend(inside::warnings(self.question, self.asked, self.target, &key));
        let two_torches = warnings.iter().any(|warning| warning.code == "two-torches");
        let own = self.gpu_builds().filter(|build| !build.system_cuda && !two_torches);
        let lines: Vec<_> = own.filter_map(|build| fits::line_of(&build.variant)).collect();
        if let Some(line) = lines.iter().find(|line| chosen.cuda.cmp_prefix(line).is_ne()) {
            let why = match self.asked.image {
                ImageAsk::Choose(_) => "no image of that CUDA line works here",
                _ => "the wheel's own is the one that runs",
            };
            let message = format!("{name} holds CUDA {}, the wheels bring CUDA {line}: {why}", chosen.cuda.prefix(2));
            warnings.push(Warning::new("two-runtimes", message, &self.key("image")));
        }
        let known = image::requirement(self.question.catalog, chosen, self.asked.arch);
        let known_text = known.filter(|known| known.own).map(|known| &*known.row.require);
        match known {
            _ if self.asked.image_requires.is_some() => {
                let written = self.asked.image_requires.as_deref();
                if known_text.is_some_and(|known| Some(known) != written) {
                    let message =
                        format!("{name} asks for something else than `image-requires`, which is what was judged by");
                    warnings.push(Warning::new("image-requires", message, &self.key("image-requires")));
                }
            }
            Some(requirement) if !requirement.own => {
                let guess = requirement.row.id.split('@').next().unwrap_or_default();
                let message = format!("it is not known which drivers {name} starts on; it is judged as CUDA {guess}");
                warnings.push(Warning::new("image-require-unknown", message, &self.key("image")));
            }
            None if !self.asked.is_cpu() => {
                let message = format!("it is not known which drivers {name} starts on");
                warnings.push(Warning::new("image-require-unknown", message, &self.key("image")));
            }
            _ => {}
        }
        let gpus = self.asked.named_gpus().iter();
        let driver = self.target.driver.as_ref().filter(|_| self.asked.pins_driver());
        if let Some(driver) = driver.filter(|driver| image::leans_on_compat(chosen, driver, gpus)) {
            let message = format!(
                "{name} holds CUDA {}, newer than driver {} knows, and a cuda-compat package that is for data-centre \
                 GPUs only: a container runtime that puts it first makes CUDA fail with error 804",
                chosen.cuda.prefix(2),
                driver.version
            );
            warnings.push(Warning::new("image-compat", message, &self.key("image")));
        }
        if chosen.withdrawn {
            let message = format!("{name} can no longer be pulled");
            warnings.push(Warning::new("image-withdrawn", message, &self.key("image")));
        }
        if chosen.arches.is_empty() {
            let message = format!("it is not known which CPU architectures {name} exists for");
            warnings.push(Warning::new("image-arch-unknown", message, &self.key("image")));
        }
        warnings
    }

    /// A toolkit of another minor than the wheel's.
    fn toolkit(&self) -> Vec<Warning> {
        let Some(toolkit) = self.target.toolkit else { return Vec::new() };
        let lines = self.gpu_builds().filter_map(|build| fits::line_of(&build.variant));
        let other = lines.into_iter().find(|line| toolkit.version.cmp_prefix(line).is_ne());
        let Some(line) = other else { return Vec::new() };
        let message = format!(
            "extensions are compiled with CUDA {} while the wheels use CUDA {line}: torch warns about it, and it mostly works",
            toolkit.version.prefix(2)
        );
        let key = match (&self.asked.toolkits, &self.asked.image) {
            (Some(_), _) => self.asked.key("toolkit"),
            (None, ImageAsk::No) => format!("target.{}", self.asked.name),
            (None, _) => self.asked.key("image"),
        };
        vec![Warning::new("toolkit-minor", message, &[key])]
    }
}
