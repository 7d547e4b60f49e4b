//! What a case is made around: one published build, and how far values stray from what goes with it.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::Build;
use gpuenv::types::{Cc, CpuArch, Version};

use super::random::Random;

/// The build that a case is made around.
#[derive(Debug, Clone)]
pub struct Era {
    pub build: &'static Build,
    /// The CUDA line of its variant; none of a CPU build.
    pub line: Option<Version>,
    /// Of a hundred clauses so many stray.
    pub wild: usize,
    /// The case is about Jetsons.
    pub jetson: bool,
    /// The case is about data-centre boards on drivers older than the CUDA, for which there are cuda-compat packages.
    pub compat: bool,
}

/// The frameworks and how often a case is made around each.
const FRAMEWORKS: [(&str, usize); 3] = [("torch", 74), ("tensorflow", 12), ("jax", 14)];

impl Era {
    /// An era, later ones being likelier.
    pub fn random(random: &mut Random) -> Era {
        let jetson = random.percent(3);
        let weights: Vec<usize> = FRAMEWORKS.iter().map(|(_, weight)| *weight).collect();
        let package = if jetson { "torch" } else { FRAMEWORKS[random.weighted(&weights)].0 };
        let is_cpu = !jetson && random.percent(8);
        let arch = if random.percent(15) { CpuArch::Aarch64 } else { CpuArch::X86_64 };
        let rows = || BUILTIN.builds.iter().filter(|row| row.package == package && row.systems.is_empty() != jetson);
        let kind = |row: &&&Build| (row.variant == "cpu") == is_cpu && (jetson || row.arch == arch);
        let mut versions: Vec<Version> = rows().map(|row| row.version).collect();
        versions.dedup();
        let version = random.pick_late(&versions);
        let of_version: Vec<&Build> = rows().filter(|row| row.version == version).collect();
        let fitting: Vec<&Build> = of_version.iter().filter(kind).copied().collect();
        let build = random.pick(if fitting.is_empty() { &of_version } else { &fitting });
        let wild = random.pick(&[0, 0, 2, 4, 8, 12, 20, 35, 60]);
        let line = build.line();
        let compat = !jetson && line.is_some_and(|line| line.major() >= 10) && random.percent(7);
        Era { build, line, wild, jetson, compat }
    }

    /// Whether the next clause strays.
    pub fn strays(&self, random: &mut Random) -> bool {
        random.percent(self.wild)
    }

    /// Whether the build holds machine code for a GPU.
    pub fn is_native(&self, cc: Cc) -> bool {
        self.build.sass.iter().any(|arch| arch.cc.major == cc.major && arch.cc.minor <= cc.minor)
    }

    /// Whether the build has PTX that a driver may compile for a GPU.
    pub fn has_ptx_for(&self, cc: Cc) -> bool {
        self.build.ptx.iter().any(|arch| arch.cc <= cc)
    }
}

/// Every version of a package, oldest first.
pub fn versions_of(package: &str) -> Vec<Version> {
    let builds = BUILTIN.builds.iter().filter(|row| row.package == package).map(|row| row.version);
    let companions = BUILTIN.companions.iter().filter(|row| row.package == package).map(|row| row.version);
    let mut versions: Vec<Version> = builds.chain(companions).collect();
    versions.sort();
    versions.dedup();
    versions
}
