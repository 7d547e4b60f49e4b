//! One question of a matrix: whether one build runs on one GPU, asked as `gpuenv lock` asks it.

use crate::catalog::rows::{Build, Subject};
use crate::coverage::Coverage;
use crate::explain;
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::fits;
use crate::solve::problem::Problem;
use crate::solve::release::Release;
use crate::solve::request::{PackageRequest, Request, TargetRequest};
use crate::solve::resolve::{Resolution, resolve};
use crate::solve::solution::TargetSolution;
use crate::spec::{Spec, Target};
use crate::types::{Arch, Constraint, Version};

use super::model::{Cell, State};

/// A target whose builds are asked for one by one.
pub struct Machine<'c> {
    /// What requests have in common.
    pub problem: &'c Problem<'c>,
    /// The target as it would be written.
    pub target: Target,
    /// The question without a package.
    pub request: Request<'c>,
    /// The GPU as it was asked for.
    pub gpu: String,
    /// The driver that it has.
    pub driver: Option<String>,
}

impl<'c> Machine<'c> {
    fn asked(&self) -> &TargetRequest<'c> {
        &self.request.targets[0]
    }

    /// Whether its driver comes with its system, and has none of the numbers that servers' drivers have.
    pub fn has_system_driver(&self) -> bool {
        self.asked().has_unnumbered_driver()
    }

    /// The compute capabilities of its GPUs.
    pub fn boards(&self) -> impl Iterator<Item = Version> {
        self.asked().named_gpus().iter().map(|gpu| gpu.cc_version)
    }

    /// The build of a release for this machine.
    pub fn build(&self, release: &Release<'c>) -> Option<&'c Build> {
        release.on(self.asked().platform)
    }

    /// Whether a release runs here; none where it has no build for such machines.
    pub fn cell(&self, package: &'c str, release: &Release<'c>) -> Option<Cell> {
        let build = self.build(release)?;
        let name = format!("{}+{}", release.version, release.variant);
        let constraint = Constraint::parse(&name).ok()?;
        let request = Request {
            frameworks: vec![PackageRequest { package, constraint, own: false, before_all: None }],
            ..self.request.of(self.request.targets.clone())
        };
        let mut cell = Cell {
            state: State::Unknown,
            gpu: self.gpu.clone(),
            build: name,
            driver: self.driver.clone(),
            system: self.target.os.as_ref().map(|os| os.text.clone()),
            minimum: None,
            mode: None,
            compat: None,
            pythons: pythons(self.problem, build),
            why: String::new(),
        };
        match resolve(&request, &Locked::new(), &Steps::default()) {
            Resolution::Solution(answer) => {
                let chosen = &answer.targets[0].chosen;
                (cell.state, cell.why) = self.reached(chosen, build);
                let driver = chosen.driver.as_ref().filter(|_| !self.has_system_driver());
                cell.minimum = chosen.minimum.filter(|_| driver.is_some()).map(|minimum| minimum.to_string());
                cell.mode = driver.map(|_| chosen.mode().as_str());
                if let Some(compat) = chosen.driver.as_ref().and_then(|driver| driver.compat) {
                    cell.compat = Some(compat.package().to_string());
                    cell.why += &format!("; with {} installed", compat.package());
                }
            }
            Resolution::Undetermined(unknowns) => {
                cell.why = unknowns.first().map_or(String::new(), |unknown| format!("not known: {}", unknown.fact));
            }
            Resolution::GaveUp => cell.why = "the step limit was reached".to_string(),
            Resolution::Conflict => {
                cell.state = State::No;
                cell.why = self.refusal(package, release, build);
            }
        }
        Some(cell)
    }

    /// How an answer reaches the GPUs: as the one that it reaches worst.
    fn reached(&self, chosen: &TargetSolution<'_>, build: &Build) -> (State, String) {
        let codes: Option<Vec<Coverage>> = chosen.gpus.iter().map(|gpu| gpu.coverage).collect();
        match codes.and_then(|codes| codes.into_iter().max()) {
            Some(Coverage::Native) => (State::Native, "machine code for it".to_string()),
            Some(Coverage::Jit) => {
                let ptx = build.ptx.iter().max().map_or(String::new(), |arch| format!(" of compute_{}", number(arch)));
                (State::Ptx, format!("only PTX{ptx}, which the driver compiles"))
            }
            Some(Coverage::None) | None => {
                (State::Unknown, "it is not known which GPUs the wheel supports".to_string())
            }
        }
    }

    /// The first law that refuses a build by itself.
    fn refusal(&self, package: &str, release: &Release<'c>, build: &Build) -> String {
        let (machine, line) = (&self.asked().machine, release.line);
        for kind in &machine.kinds {
            if fits::coverage(build, release.toolkit(self.asked().platform), kind.gpu.cc) == Some(Coverage::None) {
                return format!("no code for sm_{}: it holds {}", kind.gpu.cc.number(), held(build));
            }
        }
        let of_line = line.map(|line| self.problem.newest_of(line));
        for rule in machine.kinds.iter().flat_map(|kind| &kind.cuda) {
            if of_line.is_some_and(|line| !rule.needs.admits(&line)) {
                return rule.row.says.trim_end_matches('.').to_string();
            }
        }
        let drivers: Vec<Version> = machine.drivers(self.problem).rows.iter().map(|row| row.version).collect();
        let of_gpus = machine.kinds.iter().flat_map(|kind| &kind.driver);
        let of_cuda = line
            .into_iter()
            .flat_map(|line| self.problem.rules.about(Subject::Cuda, &line, Subject::Driver).collect::<Vec<_>>());
        for rule in of_gpus.chain(of_cuda) {
            if drivers.iter().all(|driver| !rule.needs.admits(driver)) {
                return rule.row.says.trim_end_matches('.').to_string();
            }
        }
        self.explained(package, release)
    }

    /// What `gpuenv lock` says of it.
    fn explained(&self, package: &str, release: &Release<'c>) -> String {
        let text = format!("[stack]\n{package} = \"{}+{}\"\n", release.version, release.variant);
        let (mut spec, _): (Spec, _) = crate::spec::parse_part(&text);
        spec.targets = [self.target.clone()].into_iter().collect();
        let conflict = explain::first_conflict(&spec, self.problem, &Steps::default());
        conflict.map_or_else(|| "it is refused".to_string(), |conflict| conflict.explanation.join("; "))
    }
}

fn number(arch: &Arch) -> String {
    arch.code().chars().skip_while(|c| !c.is_ascii_digit()).collect()
}

/// What a build holds, in a few words: `sm_50 to sm_90`.
fn held(build: &Build) -> String {
    let (first, last) = (build.sass.iter().min(), build.sass.iter().max());
    match (first, last) {
        (Some(first), Some(last)) if first != last => format!("sm_{} to sm_{}", number(first), number(last)),
        (Some(only), _) => format!("sm_{}", number(only)),
        _ => "PTX only".to_string(),
    }
}

/// The Pythons that a build has wheels for, as far as they are known or expected, the oldest first.
fn pythons(problem: &Problem<'_>, build: &Build) -> Vec<String> {
    let lines = problem.catalog.pythons.iter().filter(|row| row.stable && build.installs_on(&row.version));
    lines.map(|row| row.version.to_string()).collect()
}
