//! Promises that hold for every spec, tried on random ones over the real catalog with fixed seeds.

use std::collections::BTreeMap;

use gpuenv::catalog::rows::{Build, Class, Subject};
use gpuenv::catalog::{BUILTIN, GpuMatch};
use gpuenv::coverage::{Coverage, Tegra, covers_targets};
use gpuenv::explain;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::is_solvable;
use gpuenv::solve::solution::TargetAnswer;
use gpuenv::spec;
use gpuenv::types::{Cc, Constraint, Version};

use crate::common::solver::{Outcome, Short, lock, rules};

/// A small deterministic generator: tests must not depend on the day they run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

const GPUS: &[&str] = &[
    "A100-PCIE-40GB",
    "A100",
    "H100 NVL",
    "H100 PCIe",
    "V100",
    "T4",
    "Tesla P100-PCIE-16GB",
    "GTX 1080",
    "RTX 2080 Ti",
    "RTX 3090",
    "RTX 4090",
    "RTX 5090",
    "L40S",
    "B200",
    "Tesla K80",
    "sm_80",
    "sm_86",
    "sm_90",
    "sm_120",
    "GH200 480GB",
];
const DRIVERS: &[&str] = &[
    "450.80.02",
    "460.32.03",
    "470.57.02",
    "525.60.13",
    "525.116.03",
    "530.41.03",
    "535.183.01",
    "550.54.15",
    "570.86.16",
    "580.65.06",
    "590.48.01",
    "535",
    ">=525",
    "<=550",
    "470",
    "<525",
    "450.66",
    "418.226.00",
];
const TORCH: &[&str] = &[
    "*",
    ">=2",
    ">=2.4,<2.8",
    "2.5.1",
    "2.7.1",
    "1.12.1",
    "1.13",
    "<2",
    "2.5.1+cu124",
    "+cu118",
    "2.10",
    ">=2.11",
    "1.8.1 || 2.1",
    "2.6.0",
    "!=2.15,>=2.8",
    "1.9.1",
    "1.5.1",
    "2.6.0+cu126",
    "~=2.9",
];
const OSES: &[&str] = &["ubuntu18.04", "ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "debian13", "rocky8", "centos7"];

/// The lines of a spec, so that they can be shuffled and dropped.
#[derive(Debug, Clone, Default)]
struct Draft {
    stack: Vec<String>,
    targets: Vec<(String, Vec<String>)>,
    build: Option<Vec<String>>,
    share: &'static str,
}

impl Draft {
    fn random(random: &mut Random, most_targets: usize) -> Draft {
        let mut draft = Draft { share: "stack", ..Draft::default() };
        draft.stack.push(format!("torch = \"{}\"", random.pick(TORCH)));
        if random.once_in(3) {
            draft
                .stack
                .push(format!("python = \"{}\"", random.pick(&["3.8", "3.9", ">=3.10", "3.11", "<3.12", "3.13"])));
        }
        if random.once_in(4) {
            draft
                .stack
                .push(format!("cuda = \"{}\"", random.pick(&["12", "11", "12.4", "12.4.1", "11.8", ">=12.6", "13"])));
        }
        if random.once_in(5) {
            draft.stack.push(format!("torchvision = \"{}\"", random.pick(&["*", "0.20", ">=0.15"])));
        }
        if random.once_in(3) {
            let lists: &[&str] = &["", "", "ptx = true", "arch-list = \"8.0;9.0+PTX\"", "arch-list = \"7.0;8.6\""];
            let line = random.pick(lists);
            draft.build = Some(if line.is_empty() { Vec::new() } else { vec![line.to_string()] });
        }
        for at in 0..1 + random.below(most_targets) {
            let mut lines = Vec::new();
            match random.below(12) {
                0 => lines.push("gpu = \"none\"".to_string()),
                1 => {}
                2 => lines.push(format!("gpu = [\"{}\", \"{}\"]", random.pick(GPUS), random.pick(GPUS))),
                _ => lines.push(format!("gpu = \"{}\"", random.pick(GPUS))),
            }
            if !random.once_in(3) {
                lines.push(format!("driver = \"{}\"", random.pick(DRIVERS)));
            }
            match random.below(5) {
                0 => lines.push("image = \"nvidia/cuda\"".into()),
                1 => lines.push(format!(
                    "image = \"nvidia/cuda:{}\"",
                    random.pick(&[
                        "12.4.1-base-ubuntu22.04",
                        "11.8.0-devel-ubuntu20.04",
                        "12.8.1-devel-ubuntu24.04",
                        "10.2-base-ubuntu18.04",
                        "13.0.1-base-ubuntu22.04",
                        "12.1.1-cudnn8-devel-rockylinux8",
                    ])
                )),
                2 => lines.push(format!("os = \"{}\"", random.pick(OSES))),
                _ => {}
            }
            if random.once_in(6) {
                lines.push("forward-compat = \"never\"".into());
            }
            draft.targets.push((format!("t{at}"), lines));
        }
        draft.share = ["stack", "stack", "versions", "none"][random.below(4)];
        draft
    }

    fn text(&self) -> String {
        let mut text = format!("[stack]\n{}\n", self.stack.join("\n"));
        if let Some(build) = &self.build {
            text += &format!("[build]\n{}\n", build.join("\n"));
        }
        for (name, lines) in &self.targets {
            text += &format!("[target.{name}]\n{}\n", lines.join("\n"));
        }
        text + &format!("[resolve]\nshare = \"{}\"\n", self.share)
    }

    /// The same declarations in another order.
    fn shuffled(&self, random: &mut Random) -> Draft {
        fn shuffle<T>(items: &mut [T], random: &mut Random) {
            for at in (1..items.len()).rev() {
                items.swap(at, random.below(at + 1));
            }
        }
        let mut other = self.clone();
        shuffle(&mut other.stack, random);
        shuffle(&mut other.targets, random);
        other.targets.iter_mut().for_each(|(_, lines)| shuffle(lines, random));
        other
    }
}

/// An answer as a text, for comparing.
fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Solution(answer, _) => answer
            .targets
            .iter()
            .map(|target| {
                format!(
                    "{} {:?} {:?} {} {} {} {} {}\n",
                    target.name,
                    target.stack(),
                    target.wheels(),
                    target.minimum(),
                    target.mode().as_str(),
                    target.tag(),
                    target.archs(),
                    target.coverage()
                )
            })
            .collect(),
        Outcome::Conflict => "conflict".into(),
        Outcome::Undetermined => "undetermined".into(),
        Outcome::Refused(codes) => format!("refused {codes:?}"),
    }
}

#[test]
fn the_order_of_declarations_changes_nothing() {
    let mut random = Random(11);
    for _ in 0..300 {
        let draft = Draft::random(&mut random, 3);
        let other = draft.shuffled(&mut random);
        assert_eq!(shown(&lock(&draft.text())), shown(&lock(&other.text())), "{}\n{}", draft.text(), other.text());
    }
}

#[test]
fn one_more_clause_never_turns_a_conflict_into_an_answer() {
    let mut random = Random(12);
    let mut conflicts = 0;
    for _ in 0..400 {
        let draft = Draft::random(&mut random, 2);
        let mut less = draft.clone();
        match random.below(2) {
            0 if less.stack.len() > 1 => drop(less.stack.remove(1)),
            _ => {
                let lines = &mut less.targets[0].1;
                // `gpu` and `image` change what is asked rather than narrow it.
                lines.retain(|line| !line.starts_with("driver =") && !line.starts_with("forward-compat"));
            }
        }
        if lock(&less.text()).is_conflict() {
            conflicts += 1;
            assert!(lock(&draft.text()).is_conflict(), "{}\n---\n{}", less.text(), draft.text());
        }
    }
    assert!(conflicts > 40, "the generator must make conflicts: {conflicts}");
}

/// An independent judge: reads the catalog's rows directly and knows nothing of how the answer was found.
mod judge {
    use super::*;

    pub fn line(variant: &str) -> Option<Version> {
        let digits = variant.strip_prefix("cu")?;
        let (major, minor) = digits.split_at(digits.len() - 1);
        Version::parse(&format!("{major}.{minor}")).ok()
    }

    /// Whether every rule of the catalog between two kinds of things holds for a pair. No random spec has a part of a board.
    pub fn rules_hold(subject: Subject, of: &str, object: Subject, has: &str) -> Result<(), String> {
        let (of, has) = (Version::parse(of).unwrap(), Version::parse(has).unwrap());
        let between = BUILTIN.rules.iter().filter(|rule| rule.subject == subject && rule.object == object);
        for rule in between.filter(|rule| rule.instances.is_empty()) {
            let within = |range: &str, version: &Version| Constraint::parse(range).unwrap().admits(version);
            if within(&rule.range, &of) && !within(&rule.needs, &has) {
                return Err(format!("{}: {of} with {has}", rule.id));
            }
        }
        Ok(())
    }

    fn cuda_of(driver: &Version) -> Version {
        let older = BUILTIN.branches.iter().filter(|row| row.branch.major() <= driver.major());
        older
            .max_by_key(|row| row.branch.major())
            .and_then(|row| row.cuda)
            .unwrap_or_else(|| Version::parse("0").unwrap())
    }

    fn classes(name: &str) -> Vec<(Cc, Option<Class>)> {
        BUILTIN.gpus.iter().filter(|gpu| gpu.name == name).map(|gpu| (gpu.cc, Some(gpu.class))).collect()
    }

    pub fn target(target: &TargetAnswer<'_>, lines: &[String], builds: bool) -> Result<(), String> {
        let fail = |what: String| Err(what);
        let libcuda = target.driver.as_ref().map(|driver| match driver.compat {
            Some(compat) => compat.branch,
            None => driver.version,
        });
        for build in &target.builds {
            if build.arch != target.arch {
                return fail(format!("{} is for {}", build.version, build.arch));
            }
            let published = |row: &Build| row == *build;
            if !BUILTIN.builds.iter().any(published) {
                return fail("never published".into());
            }
            if let Some(python) = target.python
                && !build.pythons.contains(python)
                && !build.pythons_partial
            {
                return fail(format!("no wheel for {python}"));
            }
            let Some(line) = line(&build.variant) else {
                if !target.gpus.is_empty() {
                    return fail("a CPU build for a GPU".into());
                }
                continue;
            };
            if let (Some(driver), false) = (&libcuda, target.gpus.is_empty() && target.driver.is_none()) {
                rules_hold(Subject::Cuda, line.as_str(), Subject::Driver, driver.as_str())?;
            }
            for gpu in &target.gpus {
                let cc = gpu.cc.to_string();
                rules_hold(Subject::Gpu, &cc, Subject::Cuda, line.as_str())?;
                if let Some(cudnn) = &build.cudnn {
                    rules_hold(Subject::Cudnn, cudnn.as_str(), Subject::Gpu, &cc)?;
                }
                let toolkit = build.toolkit.as_ref().and_then(|version| BUILTIN.toolkit(version));
                let tegra = if toolkit.is_some_and(|row| row.tegra_unified) { Tegra::Unified } else { Tegra::Apart };
                let reached = covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), gpu.cc, tegra);
                if reached == Coverage::None || gpu.coverage != Some(reached) {
                    return fail(format!("{} reaches {cc} by {reached:?}, said {:?}", build.variant, gpu.coverage));
                }
            }
        }
        for companion in &target.companions {
            let torch = &target.builds[0].version;
            if !Constraint::parse(&companion.needs).unwrap().admits(torch) {
                return fail(format!("{} {} with torch {torch}", companion.package, companion.version));
            }
        }
        if let Some(driver) = &target.driver {
            for gpu in &target.gpus {
                rules_hold(Subject::Gpu, &gpu.cc.to_string(), Subject::Driver, driver.version.as_str())?;
                if driver.compat.is_some()
                    && classes(&gpu.name).iter().all(|(_, class)| *class != Some(Class::Datacenter))
                {
                    return fail(format!("forward compatibility on {}", gpu.name));
                }
            }
            if let Some(compat) = driver.compat
                && !compat.bases.iter().any(|base| base.major() == driver.version.major())
            {
                return fail(format!("cuda-compat {} on {}", compat.cuda, driver.version));
            }
            let minimum = target.minimum.as_ref().unwrap();
            if *minimum > driver.version {
                return fail(format!("minimum {minimum} above {}", driver.version));
            }
            if let Some(line) = lines.iter().find(|line| line.starts_with("driver =")) {
                let asked = Constraint::parse(line.split('"').nth(1).unwrap()).unwrap();
                if !asked.admits(&driver.version) {
                    return fail(format!("{} is not {asked}", driver.version));
                }
                if driver.compat.is_some() && asked.only_upper_bounds() {
                    return fail("forward compatibility for a free driver".into());
                }
            }
        }
        image(target, builds)?;
        let os = lines.iter().find_map(|line| line.strip_prefix("os = \"")).map(|os| os.trim_end_matches('"'));
        let system = match (os, target.image) {
            (Some(os), _) => {
                BUILTIN.oses.iter().find(|row| row.id == os || row.aliases.iter().any(|alias| alias == os))
            }
            (None, Some(image)) => BUILTIN.oses.iter().find(|row| row.images.contains(&image.os)),
            _ => None,
        };
        if let Some(glibc) = system.and_then(|row| row.glibc.as_ref()) {
            for build in &target.builds {
                if build.glibc.as_ref().is_some_and(|needs| needs > glibc) {
                    return fail(format!("glibc {glibc} for {}", build.version));
                }
            }
            if let Some(toolkit) = target.toolkit {
                rules_hold(Subject::Toolkit, toolkit.version.as_str(), Subject::Glibc, glibc.as_str())?;
            }
        }
        if let (Some(toolkit), Some(gcc)) = (target.toolkit, system.and_then(|row| row.gcc.as_ref()))
            && toolkit.gcc_max.as_ref().is_some_and(|most| gcc.major() > most.major())
        {
            return fail(format!("gcc {gcc} with {}", toolkit.version));
        }
        if let (Some(toolkit), Some(gcc)) = (target.toolkit, system.and_then(|row| row.gcc.as_ref())) {
            rules_hold(Subject::Toolkit, toolkit.version.as_str(), Subject::Gcc, gcc.as_str())?;
        }
        compiled(target, builds)
    }

    fn image(target: &TargetAnswer<'_>, builds: bool) -> Result<(), String> {
        let Some(image) = target.image else { return Ok(()) };
        if image.withdrawn || !(image.arches.is_empty() || image.arches.contains(&target.arch)) {
            return Err(format!("{} cannot be pulled", image.tag));
        }
        if builds && target.toolkit.is_some_and(|toolkit| toolkit.version != image.cuda) {
            return Err(format!("{} does not hold the toolkit", image.tag));
        }
        let (Some(driver), Some(require)) = (&target.driver, &image.require) else { return Ok(()) };
        let id = format!("{require}@{}", target.arch);
        let Some(row) = BUILTIN.image_requires.iter().find(|row| row.id == id) else { return Ok(()) };
        let cuda = cuda_of(&driver.version);
        for gpu in &target.gpus {
            let market = classes(&gpu.name).iter().find(|(cc, _)| *cc == gpu.cc).and_then(|(_, class)| *class);
            let brand_fits = |brand: &str| match market {
                Some(Class::Datacenter) => brand == "tesla" || brand == "nvidia",
                Some(Class::Geforce) => brand.starts_with("geforce"),
                Some(Class::Workstation) => brand.starts_with("quadro") || brand.starts_with("nvidia"),
                Some(Class::Titan) => brand.starts_with("titan"),
                Some(Class::Jetson) | None => false,
                Some(_) => true,
            };
            let starts = row.require.split(' ').any(|alternative| {
                alternative.split(',').all(|condition| {
                    if let Some(brand) = condition.strip_prefix("brand=") {
                        brand_fits(brand)
                    } else if let Some(bound) = condition.strip_prefix("cuda") {
                        Constraint::parse(bound).unwrap().admits(&cuda)
                    } else {
                        let bound = condition.strip_prefix("driver").unwrap();
                        Constraint::parse(bound).unwrap().admits(&driver.version)
                    }
                })
            });
            if !starts {
                return Err(format!("{} does not start on {} with {}", image.tag, gpu.name, driver.version));
            }
        }
        Ok(())
    }

    fn compiled(target: &TargetAnswer<'_>, builds: bool) -> Result<(), String> {
        let (Some(toolkit), true) = (target.toolkit, builds) else { return Ok(()) };
        let Some(list) = &target.arch_list else { return Ok(()) };
        if let Some(unknown) = list.sass().find(|arch| !toolkit.sass.contains(arch)) {
            return Err(format!("nvcc {} does not know {unknown}", toolkit.version));
        }
        for build in target.builds.iter().filter(|build| build.variant != "cpu") {
            let line = line(&build.variant).unwrap();
            let checks =
                BUILTIN.extensions.iter().filter(|row| row.package == build.package && row.from <= build.version);
            let known = checks.max_by(|a, b| a.from.cmp(&b.from));
            if line.major() != toolkit.version.major() {
                return Err(format!("{} extensions with {}", build.variant, toolkit.version));
            }
            if let Some(unknown) = known.and_then(|row| list.sass().find(|arch| !row.archs.contains(arch))) {
                return Err(format!("torch {} does not know {unknown}", build.version));
            }
        }
        for gpu in &target.gpus {
            let tegra = if toolkit.tegra_unified { Tegra::Unified } else { Tegra::Apart };
            if covers_targets(list.sass(), list.ptx(), gpu.cc, tegra) == Coverage::None {
                return Err(format!("{} does not reach {}", list.torch(), gpu.cc));
            }
        }
        Ok(())
    }
}

#[test]
fn a_second_judge_agrees_with_every_answer() {
    let mut random = Random(13);
    let (mut answers, mut conflicts) = (0, 0);
    for _ in 0..1200 {
        let draft = Draft::random(&mut random, 2);
        match lock(&draft.text()) {
            Outcome::Solution(answer, _) => {
                answers += 1;
                for target in &answer.targets {
                    let lines = &draft.targets.iter().find(|(name, _)| *name == target.name).unwrap().1;
                    if let Err(why) = judge::target(target, lines, draft.build.is_some()) {
                        panic!("{why}\n{}\n{}", draft.text(), shown(&Outcome::Solution(answer.clone(), Vec::new())));
                    }
                }
                if draft.share == "stack" {
                    let stacks: Vec<_> = answer.targets.iter().map(|target| target.has("torch")).collect();
                    assert!(stacks.windows(2).all(|pair| pair[0] == pair[1]), "{}", draft.text());
                }
            }
            Outcome::Conflict | Outcome::Undetermined => conflicts += 1,
            Outcome::Refused(codes) => panic!("{codes:?}\n{}", draft.text()),
        }
    }
    assert!(answers > 300 && conflicts > 200, "{answers} answers, {conflicts} conflicts");
}

/// What a lock states as the minimum must itself be a driver on which the chosen stack runs.
#[test]
fn the_stated_minimum_suffices() {
    let mut random = Random(16);
    let mut tried = 0;
    while tried < 300 {
        let mut draft = Draft::random(&mut random, 1);
        let Outcome::Solution(answer, _) = lock(&draft.text()) else { continue };
        let target = &answer.targets[0];
        let Some(minimum) = &target.minimum else { continue };
        tried += 1;
        let (torch, before) = (target.has("torch"), draft.text());
        draft.stack[0] = format!("torch = \"{torch}\"");
        let lines = &mut draft.targets[0].1;
        lines.retain(|line| !line.starts_with("driver ="));
        lines.push(format!("driver = \"{minimum}\""));
        if let Some(image) = target.image {
            lines.retain(|line| !line.starts_with("image"));
            lines.push(format!("image = \"{}:{}\"", image.repository, image.tag));
        }
        let again = lock(&draft.text());
        assert!(matches!(again, Outcome::Solution(..)), "{before}\n---\n{}", draft.text());
    }
}

/// With the chosen stack written out, nothing else is chosen: an answer is its own best answer.
#[test]
fn an_answer_written_down_is_answered_by_itself() {
    let mut random = Random(17);
    for _ in 0..200 {
        let mut draft = Draft::random(&mut random, 2);
        draft.share = "stack";
        let Outcome::Solution(answer, _) = lock(&draft.text()) else { continue };
        let target = &answer.targets[0];
        let python = target.python.map(ToString::to_string).unwrap_or_default();
        let before = draft.text();
        draft.stack.retain(|line| !line.starts_with("torch =") && !line.starts_with("python"));
        draft.stack.push(format!("torch = \"{}\"\npython = \"{python}\"", target.has("torch")));
        assert_eq!(shown(&lock(&draft.text())), shown(&Outcome::Solution(answer.clone(), Vec::new())), "{before}");
    }
}

/// For one GPU target without build or image: every (version, variant) tried, by rows and rules alone.
#[test]
fn exhaustive_search_agrees_on_verdict_and_newest_version() {
    let mut random = Random(14);
    for _ in 0..500 {
        let (wanted, gpu, driver) = (random.pick(TORCH), random.pick(GPUS), random.pick(&DRIVERS[..11]));
        let cc: Vec<Cc> = match BUILTIN.gpu(gpu) {
            GpuMatch::Found(rows) => rows.iter().map(|row| row.cc).collect(),
            GpuMatch::Bare(cc) => vec![cc],
            other => panic!("{other:?}"),
        };
        let arch = if gpu.starts_with("GH200") { "aarch64" } else { "x86_64" };
        let constraint = Constraint::parse(wanted).unwrap();
        let fits = |build: &Build| {
            let Some(line) = judge::line(&build.variant) else { return false };
            let pair = |subject, of: &str, object, has: &str| judge::rules_hold(subject, of, object, has).is_ok();
            let toolkit = build.toolkit.as_ref().and_then(|version| BUILTIN.toolkit(version));
            let tegra = if toolkit.is_some_and(|row| row.tegra_unified) { Tegra::Unified } else { Tegra::Apart };
            build.package == "torch"
                && build.arch.as_str() == arch
                && constraint.admits_build(&build.version, &build.variant)
                && pair(Subject::Cuda, line.as_str(), Subject::Driver, driver)
                && cc.iter().all(|cc| {
                    let name = cc.to_string();
                    let reached = covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), *cc, tegra);
                    let knows = || {
                        let isa = BUILTIN.ptx_isas.iter().find(|row| toolkit.is_some_and(|kit| kit.ptx_isa == row.isa));
                        let first = isa.and_then(|row| row.branch.as_ref());
                        first.is_some_and(|first| Version::parse(driver).unwrap().major() >= first.major())
                    };
                    (reached == Coverage::Native || reached == Coverage::Jit && knows())
                        && pair(Subject::Gpu, &name, Subject::Cuda, line.as_str())
                        && pair(Subject::Gpu, &name, Subject::Driver, driver)
                        && build
                            .cudnn
                            .as_ref()
                            .is_none_or(|row| pair(Subject::Cudnn, row.as_str(), Subject::Gpu, &name))
                })
        };
        let eligible = |build: &&Build| {
            let named = constraint.names_variant(&build.variant);
            build.status == gpuenv::catalog::rows::Status::Stable || build.default || named
        };
        let all: Vec<&Build> = BUILTIN.builds.iter().filter(|build| fits(build)).collect();
        let stable = all.iter().copied().filter(eligible).map(|build| &build.version).max();
        let newest = stable.or(all.iter().map(|build| &build.version).max());
        let text = format!(
            "[stack]\ntorch = \"{wanted}\"\n[target.t]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\nforward-compat = \"never\"\n"
        );
        let got = match lock(&text) {
            Outcome::Solution(answer, _) => Some(answer.targets[0].builds[0].version),
            _ => None,
        };
        assert_eq!(got.as_ref(), newest, "{text}");
    }
}

#[test]
fn whether_there_is_an_answer_is_told_like_the_answer() {
    let mut random = Random(17);
    let (mut answers, mut conflicts) = (0, 0);
    for _ in 0..300 {
        let mut draft = Draft::random(&mut random, 3);
        // Who looks for clashing keys drops all that targets say.
        for (_, lines) in draft.targets.iter_mut().skip(1) {
            if random.once_in(2) {
                lines.clear();
            }
        }
        let text = draft.text();
        let spec = spec::parse(&text).unwrap();
        let (request, _) = Request::new(&spec, rules()).unwrap();
        let told = is_solvable(&request, &Steps::default()).unwrap();
        assert_eq!(told, matches!(lock(&text), Outcome::Solution(..)), "{text}");
        if told { answers += 1 } else { conflicts += 1 }
    }
    assert!(answers > 60 && conflicts > 60, "{answers} {conflicts}");
}

#[test]
fn the_culprits_clash_and_no_smaller_set_does() {
    let mut random = Random(15);
    let (mut seen, mut next) = (0, 0);
    while seen < 60 {
        let draft = Draft::random(&mut random, 1);
        let text = draft.text();
        if !lock(&text).is_conflict() {
            continue;
        }
        seen += 1;
        let spec = spec::parse(&text).unwrap();
        let told = explain::conflicts(&spec, rules(), &Steps::default()).expect("a conflict is explained");
        let core = &told.conflicts[0].culprits;
        let keys = spec.keys();
        let mut known: BTreeMap<u32, bool> = BTreeMap::new();
        let mut solvable = |kept: u32| {
            *known.entry(kept).or_insert_with(|| {
                let dropped = keys.iter().enumerate().filter(|(at, _)| kept >> at & 1 == 0);
                let less = dropped.fold(spec.clone(), |spec, (_, key)| spec.without(key));
                match Request::new(&less, rules()) {
                    Ok((request, _)) => is_solvable(&request, &Steps::default()).unwrap(),
                    Err(_) => true,
                }
            })
        };
        let set = |names: &[String]| {
            names.iter().fold(0u32, |set, name| set | 1 << keys.iter().position(|key| key == name).unwrap())
        };
        let mine = set(core);
        assert!(!solvable(mine), "{core:?} do not clash\n{text}");
        for key in core {
            assert!(solvable(mine & !set(std::slice::from_ref(key))), "{core:?} clash without {key}\n{text}");
        }
        for kept in 0..1u32 << keys.len() {
            if (kept.count_ones() as usize) < core.len() {
                assert!(solvable(kept), "{kept:b} of {keys:?} clash, which is less than {core:?}\n{text}");
            }
        }
        // What one key of a clash leaves behind is told too, as a clash that shares a key with it.
        let told_keys = told.conflicts.iter().fold(0u32, |all, one| all | set(&one.culprits));
        for clash in told.further.iter().map(|one| &one.culprits) {
            next += 1;
            assert!(!solvable(set(clash)) && set(clash) & told_keys != 0, "{clash:?} beside {core:?}\n{text}");
            for key in clash {
                assert!(solvable(set(clash) & !set(std::slice::from_ref(key))), "{clash:?} without {key}\n{text}");
            }
        }
        let others = told_keys & !mine;
        let mut leaves_one =
            |key: &&String| !solvable(!others & !set(std::slice::from_ref(key)) & ((1 << keys.len()) - 1));
        // Who changes a version does not do without the package: not everything that a deleted line leaves is told.
        // What lies between several clashes comes to light where one key of each is gone.
        let is_of_core = |clash: u32| clash & mine != 0 && clash & others == 0;
        let is_left = told.further.iter().any(|one| is_of_core(set(&one.culprits)));
        assert!(!is_left || core.iter().any(|key| leaves_one(&key)), "{text}");
        // What is no package has no other value that keeps it: there the deleted line tells all.
        let of_machine = |key: &&String| key.starts_with("target.");
        if core.len() > 1 && core.iter().filter(of_machine).any(|key| leaves_one(&key)) {
            assert!(shares_a_key(&told, core), "{text}");
        }
    }
    assert!(next > 10, "{next}");
}

/// Whether a conflict that would be met next shares a key with a clash.
fn shares_a_key(told: &explain::Explanation, clash: &[String]) -> bool {
    told.further.iter().any(|one| one.culprits.iter().any(|key| clash.contains(key)))
}

#[test]
fn every_fix_can_be_written_and_then_answers() {
    let mut random = Random(16);
    let (mut seen, mut fixes) = (0, 0);
    while seen < 60 {
        let text = Draft::random(&mut random, 2).text();
        if !lock(&text).is_conflict() {
            continue;
        }
        seen += 1;
        let spec = spec::parse(&text).unwrap();
        let told = explain::conflicts(&spec, rules(), &Steps::default()).expect("a conflict is explained");
        for fix in &told.fixes {
            let changes: Vec<(String, Option<String>)> =
                fix.changes.iter().map(|change| (change.key.clone(), change.to.clone())).collect();
            for source in [text.clone(), text.replace('\n', "\r\n"), format!("# ours\n\n{text}\n# end")] {
                let after =
                    spec::rewrite(&source, &changes).unwrap_or_else(|error| panic!("{error}: {changes:?}\n{text}"));
                assert!(matches!(lock(&after), Outcome::Solution(..)), "{changes:?}\n{after}");
                assert_eq!(source.contains('\r'), after.contains('\r'), "{after:?}");
                assert!(!source.contains('\r') || !after.replace("\r\n", "").contains('\n'), "{after:?}");
                assert_eq!(source.matches('#').count(), after.matches('#').count(), "{after}");
                fixes += 1;
            }
        }
    }
    assert!(fixes > 60, "{fixes}");
}
