//! The machines that wheels are made for: a processor and, where a system takes only what was made for it, that system.

use crate::catalog::rows::{Build, Class, Companion, Os, Text};
use crate::words::CpuArch;

use super::question::Gpus;

/// The kind of machine that a target is, to wheels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform<'c> {
    /// The processor.
    pub arch: CpuArch,
    /// What it takes.
    pub takes: Takes<'c>,
}

/// Which wheels a machine takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Takes<'c> {
    /// Those for Linux in general.
    General,
    /// Those made for this system.
    Own(&'c str),
    /// Either, for nobody has said which system it has: a Jetson, which may have one of each kind.
    Either,
}

impl<'c> Platform<'c> {
    /// A target's machine. One without a GPU takes wheels for Linux in general.
    pub fn new(arch: CpuArch, os: Option<&'c Os>, gpus: &Gpus<'_>) -> Self {
        let jetson = match gpus {
            Gpus::These(gpus) => gpus.iter().all(|gpu| gpu.row.is_some_and(|row| row.class == Class::Jetson)),
            _ => false,
        };
        let takes = match os {
            Some(os) if os.own_packages && !matches!(gpus, Gpus::Cpu) => Takes::Own(&os.id),
            None if jetson => Takes::Either,
            _ => Takes::General,
        };
        Platform { arch, takes }
    }

    /// Any machine with a processor.
    pub fn general(arch: CpuArch) -> Self {
        Platform { arch, takes: Takes::General }
    }

    /// Whether a build of a framework was made for such machines.
    pub fn takes(&self, build: &Build) -> bool {
        build.arch == self.arch && (self.is_of(&build.systems) || build.is_own())
    }

    /// Whether the wheels of a package were made for such machines. What comes as source is compiled there.
    pub fn takes_companion(&self, row: &Companion) -> bool {
        let on_arch = row.arches.is_empty() || row.arches.contains(&self.arch);
        on_arch && (self.is_of(&row.systems) || row.sdist && row.systems.is_empty())
    }

    fn is_of(&self, systems: &[Text]) -> bool {
        match self.takes {
            Takes::General => systems.is_empty(),
            Takes::Own(system) => systems
                .iter()
                .any(|one| one.strip_prefix(system).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))),
            Takes::Either => true,
        }
    }
}
