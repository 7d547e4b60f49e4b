//! Which part asks for a driver minimum: everything that refuses the release just below it.

use crate::catalog::rows::{Build, Subject};
use crate::coverage::Coverage;
use crate::explain::FactNote;
use crate::solve::demand::{self, Bearing};
use crate::solve::driver::{self, DriverNeed};
use crate::solve::driver_row::DriverRow;
use crate::solve::image;
use crate::solve::recommended;
use crate::solve::request::{Request, TargetRequest};
use crate::solve::rules::{Needs, law};
use crate::solve::solution::TargetAnswer;
use crate::solve::windows;
use crate::spec::Runtime;
use crate::types::{DriverMode, Version};

use super::{Choice, Verdict};

/// Why a target's driver minimum is what it is; none without a driver.
pub(super) fn driver<'c>(
    request: &Request<'c>,
    asked: &TargetRequest<'c>,
    target: &TargetAnswer<'c>,
) -> Option<Choice> {
    let minimum = target.minimum.as_ref().filter(|_| !asked.has_unnumbered_driver())?;
    let judged = target.driver.as_ref()?;
    let mut reasons = Reasons { request, asked, target, because: Vec::new(), facts: Vec::new() };
    let turning = driver::candidates(request.problem, &asked.machine);
    let below = turning.iter().rev().find(|candidate| **candidate < minimum);
    if let Some(below) = below {
        reasons.cuda(below);
        reasons.generation(below);
        reasons.jit(below);
        reasons.packages(below);
        reasons.image(below);
        if reasons.because.is_empty() {
            reasons.boards(below);
        }
    }
    reasons.compat(judged);
    if reasons.because.is_empty() {
        reasons.because.push("nothing needs more than the oldest driver known".into());
    }
    if asked.pins_driver() {
        let mode = match target.mode() {
            _ if target.is_beyond_driver() => "which does not run the image's own CUDA",
            DriverMode::Native => "whose own CUDA version covers the stack",
            DriverMode::MinorVersion => "which runs the stack by minor-version compatibility",
            DriverMode::ForwardCompat => "which runs the stack with the newer libcuda of a cuda-compat package",
        };
        reasons.because.push(format!("judged at driver {}, {mode}", judged.version));
    }
    reasons.recommended();
    let Reasons { because, facts, .. } = reasons;
    let chosen = format!(">={minimum}");
    let (key, verdict) = (asked.key("driver"), Verdict::Minimum);
    Some(Choice { key, part: "minimum", chosen, verdict, because, rejected: Vec::new(), facts })
}

struct Reasons<'a, 'c> {
    request: &'a Request<'c>,
    asked: &'a TargetRequest<'c>,
    target: &'a TargetAnswer<'c>,
    because: Vec<String>,
    facts: Vec<FactNote>,
}

impl Reasons<'_, '_> {
    fn put(&mut self, says: &str, fact: crate::catalog::Fact) {
        let says = says.trim_end_matches('.').to_string();
        if !self.because.contains(&says) {
            self.because.push(says);
            self.facts.push(FactNote { id: fact.id, source: fact.source });
        }
    }

    /// The driver whose libcuda would be loaded, had the hosts a driver this old.
    fn user_mode<'v>(&'v self, below: &'v Version) -> &'v Version {
        self.target.driver.as_ref().and_then(|driver| driver.compat).map_or(below, |compat| &compat.branch)
    }

    fn cuda(&mut self, below: &Version) {
        let mut lines: Vec<Version> = self.target.builds.iter().filter_map(|build| build.line()).collect();
        lines.extend(self.target.toolkit.map(|row| row.version.prefix(2)));
        lines.into_iter().for_each(|line| self.line(&line, below));
    }

    /// Rules about a line of CUDA.
    fn line(&mut self, line: &Version, below: &Version) {
        let rules = self.request.rules.about(Subject::Cuda, line, Subject::Driver);
        rules.for_each(|rule| self.rule(rule, below));
    }

    fn rule(&mut self, rule: &Needs<'_>, below: &Version) {
        let (catalog, row) = (self.request.catalog, rule.row);
        if !self.request.holds(&row.id, &self.asked.name) {
            return;
        }
        if self.asked.windows_driver {
            return self.windows_floor(rule, below);
        }
        if !rule.needs.admits(self.user_mode(below)) {
            self.put(&row.says, catalog.cite(row));
        }
    }

    /// The same of a driver of Windows, of which only lines of CUDA ask for one.
    fn windows_floor(&mut self, rule: &Needs<'_>, below: &Version) {
        let catalog = self.request.catalog;
        let floor = windows::floor(catalog, rule);
        if rule.row.subject == Subject::Cuda && windows::is_too_old(floor, rule, below) {
            let says = windows::says(floor, rule);
            self.put(&says, catalog.cite(rule.row));
            let fact = floor.map(|row| catalog.cite(row));
            self.facts.extend(fact.map(|fact| FactNote { id: fact.id, source: fact.source }));
        }
    }

    /// The CUDA that packages carry inside or the image has run, the PTX that a GPU runs of them, and rules about them.
    fn packages(&mut self, below: &Version) {
        let request = self.request;
        let off = request.off_at(&self.asked.name);
        for need in self.target.driver_needs(request.problem, &self.asked.machine, &off) {
            match need {
                DriverNeed::Line(line, _) => self.line(&line, below),
                DriverNeed::Ptx(isa) => self.ptx(&isa, below),
                DriverNeed::Rule(id) => {
                    if let Some(rule) = request.rules.of_id(id).filter(|rule| !rule.row.compat) {
                        self.rule(rule, below);
                    }
                }
                DriverNeed::Nothing => {}
            }
        }
    }

    /// Rules about the GPUs' architecture.
    fn generation(&mut self, below: &Version) {
        let (request, asked) = (self.request, self.asked);
        let Some(row) = DriverRow::plain(request.catalog, *below, asked.windows_driver) else { return };
        for gpu in request.gpu_rules(asked) {
            for rule in gpu.driver.iter().filter(|rule| !row.is_admitted(&rule.needs)) {
                self.put(&rule.row.says, request.catalog.cite(rule.row));
            }
        }
    }

    fn jit(&mut self, below: &Version) {
        if self.target.gpus.iter().all(|gpu| gpu.coverage != Some(Coverage::Jit)) {
            return;
        }
        let request = self.request;
        let of_build =
            |build: &&Build| build.ptx_isa.or(request.catalog.toolkit_of(build).map(|toolkit| toolkit.ptx_isa));
        let compiled = self.target.toolkit.map(|toolkit| toolkit.ptx_isa);
        let isas: Vec<Version> = self.target.builds.iter().filter_map(of_build).chain(compiled).collect();
        isas.iter().for_each(|isa| self.ptx(isa, below));
    }

    fn ptx(&mut self, isa: &Version, below: &Version) {
        let request = self.request;
        let Some(row) = request.catalog.ptx_isas.iter().find(|row| row.isa == *isa) else { return };
        if let Some(branch) = row.branch.as_ref().filter(|branch| branch.major() > self.user_mode(below).major()) {
            let says = format!("PTX {} needs driver branch R{branch} or newer", row.isa);
            self.put(&says, request.catalog.cite(row));
        }
    }

    fn image(&mut self, below: &Version) {
        let (request, Some(chosen)) = (self.request, self.target.image) else { return };
        let Some(row) = DriverRow::plain(request.catalog, *below, self.asked.windows_driver) else { return };
        let demand = demand::of_image(request.catalog, Bearing::of(self.asked), chosen);
        let starts = image::starts_on(request.problem, &self.asked.machine, demand);
        if request.holds(law::IMAGE_REQUIRE, &self.asked.name) && !starts(&row) {
            let says = format!("{}:{} does not start on driver {below}", chosen.repository, chosen.tag);
            self.put(&says, request.catalog.cite(chosen));
        }
    }

    /// The release that is the first to list a board.
    fn boards(&mut self, below: &Version) {
        let request = self.request;
        for row in self.asked.named_gpus().iter().filter_map(|gpu| gpu.row) {
            let Some(first) = row.first_driver.as_ref().filter(|first| *first > below) else { continue };
            let says = format!("driver {first} is the first known to list {}", row.name);
            self.put(&says, request.catalog.cite(row));
        }
    }

    fn compat(&mut self, judged: &DriverRow<'_>) {
        let Some(compat) = judged.compat else { return };
        let bases: Vec<String> = compat.bases.iter().map(ToString::to_string).collect();
        let says = format!("{} runs on drivers {} of their branches and newer", compat.package(), bases.join(", "));
        self.put(&says, self.request.catalog.cite(compat));
    }

    /// The driver to install, and what installs it on the target's system.
    fn recommended(&mut self) {
        let Some(recommended) = recommended::driver(self.request, self.asked, self.target) else { return };
        let (release, branch) = (recommended.release, recommended.branch.branch.major());
        let ended = recommended.branch.eol.as_ref().filter(|end| self.request.catalog.has_ended(end));
        let mut says = match ended {
            Some(end) if self.asked.pins_driver() => {
                format!("newest release that `driver` admits: {release}; support of R{branch} ended {end}")
            }
            Some(end) => format!("newest release that drives the GPUs: {release}; support of R{branch} ended {end}"),
            None => format!("recommended where it can be changed: {release}"),
        };
        // In a container the system is that of the image, and the driver is that of the host.
        let is_host = !self.asked.windows_driver && self.asked.runtime != Runtime::Container;
        let system = self.asked.os.filter(|_| is_host);
        let command = system.and_then(|os| match recommended.modules {
            Some("proprietary") => os.driver_proprietary.as_ref(),
            _ => os.driver_open.as_ref(),
        });
        if let (Some(os), Some(command)) = (system, command) {
            let command = command.replace("{branch}", &branch.to_string());
            says += &format!(" ({command} on {})", os.id);
        }
        self.because.push(says);
    }
}
