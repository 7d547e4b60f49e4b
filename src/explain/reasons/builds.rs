//! What the builds asked for are made of and made for: their GPU code, Pythons, C library and libraries.

use crate::catalog::LIBRARIES;
use crate::catalog::rows::{Build, Companion, Os, Pins, Subject};
use crate::coverage::Coverage;
use crate::solve::coinstall;
use crate::solve::described::GpuKind;
use crate::solve::fits;
use crate::solve::libraries;
use crate::solve::own;
use crate::solve::request::{ImageRequest, PackageRequest};
use crate::solve::rules::law;
use crate::solve::wants::Want;
use crate::types::{Arch, ArchList, CpuArch, Specifier, Version, distinct};

use super::Explainer;
use super::words::{by_package, by_version, describe, list, name_of, named, numbers, plainly};

impl<'c> Explainer<'_, 'c> {
    pub(super) fn coverage(&mut self) {
        let has_code = |build: &&Build| !build.is_cpu() && build.arch_source.is_some();
        self.gpus();
        let mut gpu_builds: Vec<&Build> = self.left.iter().copied().filter(has_code).collect();
        if gpu_builds.is_empty() && !self.left_out_by_cuda() {
            gpu_builds.extend(self.next_to_unseen());
        }
        let mut groups: Vec<(String, Vec<&Build>)> = Vec::new();
        for build in gpu_builds.iter().rev() {
            let names = ArchList::from_targets(&build.sass, &build.ptx).names();
            match groups.iter_mut().find(|(known, _)| *known == names) {
                Some((_, builds)) => builds.push(build),
                None => groups.push((names, vec![build])),
            }
        }
        if groups.len() > 3 {
            let example = self.coverage_of_many(&gpu_builds);
            groups.truncate(usize::from(example));
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
        let code: Vec<Arch> = gpu_builds.iter().flat_map(|build| build.sass.iter().copied()).collect();
        self.integrated(&code);
        self.cite_builds(&gpu_builds);
    }

    /// Whether a build holds code for all the GPUs that the clash names.
    pub(super) fn serves(&self, build: &Build) -> bool {
        self.blamed_gpus().iter().all(|gpu| {
            let toolkit = self.request.catalog.toolkit_of(build);
            fits::coverage(build, toolkit, gpu.gpu.cc).is_some_and(|coverage| coverage != Coverage::None)
        })
    }

    pub(super) fn blamed_gpus(&self) -> Vec<GpuKind<'c>> {
        let blamed = self.request.targets.iter().filter(|target| self.culprits.contains(&target.key("gpu")));
        blamed.flat_map(|target| self.request.gpu_rules(target)).collect()
    }

    /// One sentence for more builds than anybody would read of; whether it wants an example of what they hold, since
    /// none serves the one kind of GPU in request.
    fn coverage_of_many(&mut self, builds: &[&Build]) -> bool {
        let serving: Vec<&Build> = builds.iter().copied().filter(|build| self.serves(build)).collect();
        let span = serving.iter().min_by(by_version).zip(serving.iter().max_by(by_version));
        let lies_within =
            |build: &&&Build| span.is_some_and(|(a, b)| build.version >= a.version && build.version <= b.version);
        let within = builds.iter().filter(lies_within).count();
        let gpus = self.blamed_gpus();
        let one = gpus.iter().all(|gpu| gpu.gpu.cc == gpus[0].gpu.cc);
        let it = if one { "it" } else { "all of them" };
        let all = plainly(builds, "", "").trim_end().to_string();
        let which = match serving.len() {
            0 => "none holds".to_string(),
            1 => format!("only {}", plainly(&serving, "holds", "hold")),
            // Where they lie scattered, from the first to the last says nothing, nor where that is the span of all.
            few if 2 * few < within => format!("{few} hold"),
            some if some < within && plainly(&serving, "", "").trim_end() == all => format!("{some} hold"),
            some if some < within => format!("only {some} of {}", plainly(&serving, "hold", "hold")),
            _ => format!("only {}", plainly(&serving, "holds", "hold")),
        };
        self.say(format!("of the {} builds of {all}, {which} code for {it}", builds.len()));
        one && serving.is_empty()
    }

    pub(super) fn cpu_build(&mut self) {
        // Where nobody asked for such a build, that it serves no GPU goes without saying; that there is no other does not.
        let asked = self.request.frameworks.iter().find(|ask| ask.own || ask.constraint.names_variant("cpu"));
        let Some(ask) = asked else { return self.followed_without_cuda() };
        let own = self.left.iter().find(|build| build.is_own());
        let name = own.map_or_else(|| format!("{} {}", ask.package, ask.constraint), |build| build.named());
        self.holds_no_gpu_code(&name);
    }

    /// That a build is one for the CPU, where a GPU is to run it.
    pub(super) fn holds_no_gpu_code(&mut self, name: &str) {
        self.say(format!("{name} is a CPU build: it holds no GPU code"));
        if let Some(target) = self.target_with("gpu").map(|target| target.name.clone()) {
            self.say(format!("target `{target}` has a GPU"));
        }
        self.cite(law::CPU_BUILD);
    }

    pub(super) fn ptx_driver(&mut self) {
        if !self.compiled_at_run_time() {
            self.gpus();
            self.say("the build has only PTX for this GPU, which the driver must compile".into());
        }
        self.driver();
    }

    /// That a package has the driver compile its kernels, whose PTX is of the CUDA that is there, if one does.
    fn compiled_at_run_time(&mut self) -> bool {
        let asked = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let links_from =
            |ask: &PackageRequest<'c>| Some((ask.package, self.asked_releases(ask).find_map(|row| row.nvjitlink)?));
        let Some((package, first)) = asked.filter_map(links_from).next() else { return false };
        self.say(format!(
            "{package} compiles its kernels while it runs, to PTX of the CUDA that is there, which the driver must know; from CUDA \
             {first} on nvJitLink compiles them instead"
        ));
        true
    }

    pub(super) fn glibc(&mut self) {
        self.glibc_of_builds();
        let (arch, cpu) = (self.platform().arch, self.target().is_some_and(|target| target.is_cpu()));
        let has = self.target().and_then(|target| target.glibc);
        let problem = self.request.problem;
        self.companions_say(|row| {
            let needs = problem.package(&row.package)?.glibc_of(row, arch, cpu);
            let needs = needs.filter(|needs| has.is_none_or(|has| has < *needs))?;
            Some(format!("needs glibc {needs} or newer"))
        });
        self.along_says(|along, one| {
            let needs = has.filter(|has| along.needs_newer_glibc(one, arch, *has)).and(one.needs_glibc(arch, false))?;
            Some(format!("whose wheels need glibc {needs} or newer"))
        });
    }

    /// The builds that need more than the target has, or all where it is not the builds that do.
    fn glibc_of_builds(&mut self) {
        if self.other_c_library() {
            return;
        }
        if self.glibc_of_libraries() {
            return;
        }
        let unseen = self.next_to_unseen();
        let (lacking, others): (Vec<&Build>, Vec<&Build>) =
            self.left.iter().copied().chain(unseen).partition(|build| self.lacks_glibc(build));
        // Beside builds that run there, the C library is no reason against a framework: it is one against what follows it.
        let beside = others.iter().filter(|build| !build.is_cpu()).count();
        if beside > 0 && self.companions_lack_glibc(lacking.is_empty()) {
            return self.subject(Subject::Glibc);
        }
        let builds = if lacking.is_empty() { others.clone() } else { lacking.clone() };
        for of in by_package(&builds) {
            let is_beside = |build: &&&Build| !build.is_cpu() && build.package == of[0].package;
            let some = if lacking.is_empty() { 0 } else { of.len() };
            let all = some + others.iter().filter(is_beside).count();
            let Some(lowest) = of.iter().filter_map(|build| build.glibc.as_ref()).min() else { continue };
            let who = match (1..all).contains(&some) {
                true => format!("{some} of the {all} builds of {} need", of[0].package),
                false => describe(&of, "needs", "need"),
            };
            self.say(format!("{who} glibc {lowest} or newer"));
        }
        self.subject(Subject::Glibc);
        self.cite_builds(&builds);
    }

    /// Whether a system has another C library than the builds were linked with, musl or glibc: who they are for, and which it is.
    fn other_c_library(&mut self) -> bool {
        let systems = self.request.targets.iter().filter_map(|target| Some((target, target.os?)));
        let (musl, glibc): (Vec<&Build>, Vec<&Build>) =
            self.left.iter().copied().partition(|build| own::is_musl(build));
        let has_other = |os: &Os| if os.musl { musl.is_empty() || !glibc.is_empty() } else { !musl.is_empty() };
        let others = systems.filter(|(_, os)| has_other(os));
        let Some((target, os)) = others.min_by_key(|(_, os)| !os.musl) else { return false };
        let builds = if os.musl { glibc } else { musl };
        let oldest = builds.iter().filter_map(|build| build.glibc.as_ref()).min();
        let tag = match oldest {
            _ if !os.musl => "musl, a musllinux tag".to_string(),
            Some(glibc) => format!("glibc {glibc} or newer, a manylinux tag"),
            None => "glibc".to_string(),
        };
        self.say(match builds.is_empty() {
            true if self.request.build.is_some() => "nvcc is published for glibc".to_string(),
            true => "CUDA is published for glibc".to_string(),
            false => format!("{} {tag}", describe(&builds, "is published for", "are published for")),
        });
        if let ImageRequest::Unchecked(image) = &target.image {
            self.say(format!("{image} holds {}", os.name));
        }
        let (has, other) = if os.musl { ("musl", "glibc") } else { ("glibc", "musl") };
        self.say(format!("{} uses {has} instead of {other}", os.name));
        self.fact(format!("os {}", os.id), self.request.catalog.source_at(&os.source));
        self.cite_builds(&builds);
        true
    }

    /// Whether some blamed package needs a newer C library than there is, itself or by what it requires: in every release,
    /// or in some.
    fn companions_lack_glibc(&self, in_some: bool) -> bool {
        let Some((has, arch)) = self.of_oldest_glibc().and_then(|target| Some((target.glibc?, target.arch))) else {
            return false;
        };
        let mut blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        blamed.any(|ask| {
            let mut rows = self.asked_releases(ask).peekable();
            let lacks = |row: &'c Companion| self.lacks_glibc_in(row, arch, has);
            if in_some { rows.any(lacks) } else { rows.peek().is_some() && rows.all(lacks) }
        })
    }

    fn lacks_glibc_in(&self, row: &Companion, arch: CpuArch, has: Version) -> bool {
        let problem = self.request.problem;
        let Some(package) = problem.package(&row.package) else { return false };
        let (own, along) = (package.newer_glibc(arch, has, false), problem.lacking_glibc(package, arch, has));
        let at = package.place_of(row);
        at.is_some_and(|at| own.has(at) || along.has(at))
    }

    /// Whether a build needs a newer C library than its target has.
    pub(super) fn lacks_glibc(&self, build: &Build) -> bool {
        let has = self.of_oldest_glibc().and_then(|target| target.glibc.as_ref());
        has.zip(build.glibc.as_ref()).is_some_and(|(has, needs)| has < needs)
    }

    pub(super) fn cudnn(&mut self) {
        let installed = self.target_with("cudnn").and_then(|target| target.cudnn);
        if let Some(has) = installed {
            self.say(format!("cuDNN {has} is installed there"));
        }
        // Beside what is installed a framework is to blame only for the one that it brings.
        let tells = |build: &&Build| installed.is_none() || self.blames(&build.package) && !build.system_cuda;
        let known: Vec<&Build> =
            self.left.iter().copied().filter(|build| build.cudnn.is_some() && tells(build)).collect();
        let versions = distinct(known.iter().filter_map(|build| build.cudnn.as_ref()));
        if let [version] = versions.as_slice() {
            let (one, many) = match known.iter().any(|build| build.system_cuda) {
                true => ("needs", "need"),
                false => ("brings", "bring"),
            };
            let sentence = format!("{} cuDNN {version}", named(self.request.catalog, &known, one, many));
            self.say(sentence);
        } else if let Some(wanted) = self.request.cudnn.as_ref().filter(|_| installed.is_none()) {
            self.say_line("cudnn", wanted);
        }
    }

    /// The CUDA lines that the admitted builds were made for.
    pub(super) fn lines(&mut self) {
        for ask in &self.request.frameworks {
            if !self.blames(ask.package) {
                continue;
            }
            let of: Vec<&Build> = self.left.iter().copied().filter(|build| build.package == ask.package).collect();
            let lines = distinct(of.iter().filter_map(|build| build.line()));
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            let of: Vec<&Build> = of.into_iter().filter(|build| !build.is_cpu()).collect();
            let which = match lines.len() {
                1 => format!("CUDA {first}"),
                2 => format!("CUDA {first} and {last}"),
                _ => format!("CUDA {first} to {last}"),
            };
            self.say(format!("{} built for {which}", named(self.request.catalog, &of, "is", "are")));
        }
        if let Some(wanted) = self.request.cuda.as_ref().filter(|_| self.blames("cuda")) {
            self.say_line("cuda", wanted);
        }
        self.companion_runtimes();
    }

    pub(super) fn library_cuda(&mut self) {
        self.library_lines();
        self.companion_libraries();
        self.lines();
    }

    /// The CUDA majors that the releases asked for of a library were built for; their lines, where one of another line is installed.
    fn library_lines(&mut self) {
        for (key, name) in LIBRARIES {
            let Some(wanted) = self.request.part(key).filter(|_| self.blames(key)) else { continue };
            let of = self.request.catalog.releases_of(key).filter(|one| wanted.admits(&one.version));
            let lines: Vec<Version> = distinct(of.map(|one| one.cuda));
            let majors: Vec<_> = lines.iter().map(Version::major).collect();
            let mut installed = self.request.targets.iter().flat_map(|target| target.toolkits.iter().flatten());
            let which = match installed.any(|toolkit| majors.contains(&toolkit.major())) {
                true => list(&lines.iter().map(Version::as_str).collect::<Vec<_>>()),
                false => numbers(majors),
            };
            self.say(format!("{name} {wanted} was built for CUDA {which} only"));
        }
    }

    /// What is asked for of NVIDIA's libraries under `[packages]`, and by the newest admitted build of each blamed framework.
    fn written_libraries(&mut self) -> bool {
        let (request, arch) = (self.request, self.platform().arch);
        let blamed = |name: &str| self.culprits.iter().any(|key| key.strip_prefix("packages.") == Some(name));
        let written: Vec<(&str, &Specifier)> = request.libraries().filter(|(name, _)| blamed(name)).collect();
        if written.is_empty() {
            return false;
        }
        let builds = self.newest_left();
        for (name, range) in &written {
            for build in &builds {
                if let Some(asked) = libraries::metadata_of(request.catalog, build, arch, name) {
                    self.say(format!("{} requires {name} {asked}", build.named()));
                }
            }
            self.say(format!("[packages] requires {name} {range}"));
        }
        self.cite_builds(&builds);
        true
    }

    /// What two of some builds ask pip for of a library of which no release is both.
    fn libraries_at_odds(&mut self, builds: &[&'c Build]) -> bool {
        let catalog = self.request.catalog;
        let asked: Vec<Vec<Want>> = builds.iter().map(|build| libraries::read_of(catalog, build)).collect();
        // What CUDA and cuDNN tell says more.
        let alike = |a: &Build, b: &Build| {
            coinstall::agree(a, b) && a.line().map(|of| of.major()) == b.line().map(|of| of.major())
        };
        let pairs = (0..builds.len()).flat_map(|one| (one + 1..builds.len()).map(move |other| [one, other]));
        let pairs = pairs.filter(|pair| alike(builds[pair[0]], builds[pair[1]]));
        let problem = self.request.problem;
        let exclude = |one, other| problem.exclude(one, other);
        let odds = |[one, other]: [usize; 2]| libraries::at_odds(&exclude, &asked[one], &asked[other]);
        let mut odd = pairs.filter_map(|pair| Some((pair, odds(pair)?)));
        let Some((pair, ranges)) = odd.next() else { return false };
        for (at, (name, range)) in pair.iter().zip(ranges) {
            let Ok(range) = Specifier::parse(range) else { continue };
            self.say(format!("{} requires {name} {range}", name_of(builds[*at])));
        }
        true
    }

    /// What the newest admitted build of each blamed framework asks of the libraries they would share.
    pub(super) fn framework_libraries(&mut self) {
        if self.written_libraries() {
            return;
        }
        let left = self.left.clone();
        let asks = self.request.frameworks.iter().filter(|ask| self.blames(ask.package));
        let of = |package: &str| left.iter().rev().find(|build| build.package == *package && !build.is_cpu()).copied();
        let builds: Vec<_> = asks.filter_map(|ask| of(ask.package)).collect();
        if !self.libraries_at_odds(&builds) {
            let is_nccl = builds.iter().any(|one| builds.iter().any(|other| clash_by_nccl(one, other)));
            for build in &builds {
                self.say(format!("{} is made for {}", name_of(build), made_for(build, is_nccl)));
            }
        }
        builds.iter().for_each(|build| self.cite_builds(&[*build]));
        self.say("one environment can hold only one copy of each NVIDIA library".into());
    }
}

/// Whether it is their NCCL alone by which two builds do not go together.
fn clash_by_nccl(one: &Build, other: &Build) -> bool {
    !coinstall::agree(one, other) && coinstall::agree(&Build { nccl: None, ..one.clone() }, other)
}

/// Of which CUDA and which cuDNN a build was made, and of which NCCL where that is what clashes.
fn made_for(build: &Build, is_nccl: bool) -> String {
    let (least, exactly) = (build.pins == Some(Pins::AtLeast), build.pins == Some(Pins::Exact));
    let line = build.line().map(|line| format!("CUDA {line}"));
    let or_newer = if least { " or newer" } else { "" };
    // A range ends somewhere, and that may be what clashes.
    let range = build.cudnn_range.as_ref().map(|range| format!("cuDNN {range}"));
    let from = || build.cudnn.as_ref().map(|cudnn| format!("cuDNN {cudnn}{or_newer}"));
    let library = match build.nccl.as_ref().filter(|_| is_nccl) {
        Some(nccl) => Some(format!("NCCL {nccl}{or_newer}")),
        None => range.or_else(from),
    };
    let parts: Vec<String> = line.into_iter().chain(library).collect();
    format!("{}{}", if exactly { "exactly " } else { "" }, parts.join(" and "))
}
