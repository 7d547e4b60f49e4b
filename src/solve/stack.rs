//! The versions of an answer as a user would name them.

use std::collections::BTreeMap;

use crate::catalog::LIBRARIES;
use crate::catalog::rows::{Build, TRITON};
use crate::types::Version;

use super::by_pip;
use super::solution::TargetSolution;

impl TargetSolution<'_> {
    /// The versions a user would name: package to version.
    pub fn stack(&self) -> BTreeMap<String, String> {
        let mut stack = BTreeMap::new();
        for build in &self.builds {
            stack.insert(build.package.to_string(), build.shown());
            for (name, _) in LIBRARIES {
                if let Some(version) = build.part(name) {
                    // The first framework's pins are exact and installed; what later ones name is what they accept.
                    stack.entry(name.to_string()).or_insert_with(|| version.to_string());
                }
            }
        }
        let mut put = |name: &str, version: String| {
            stack.insert(name.to_string(), version);
        };
        if let Some(triton) = self.triton {
            put(TRITON, triton.to_string());
        }
        for companion in &self.companions {
            put(&companion.package, companion.version.to_string());
        }
        if let Some(python) = self.python {
            put("python", python.to_string());
        }
        let of_system = || self.system_cudnn();
        let chosen = self.cudnn.map(|row| &row.version);
        // A framework that takes the system's loads what the image holds.
        let cudnn = if self.builds.is_empty() { chosen.or_else(of_system) } else { of_system().or(chosen) };
        if let Some(cudnn) = cudnn {
            put("cudnn", cudnn.to_string());
        }
        if let Some(nccl) = self.nccl {
            put("nccl", nccl.version.to_string());
        }
        if let Some(cuda) = self.cuda_release() {
            put("cuda", cuda.to_string());
        }
        stack
    }

    /// The cuDNN that the system has for builds that bring none: what is installed, else what is in the image.
    pub fn system_cudnn(&self) -> Option<&Version> {
        if !self.builds.iter().all(|build| build.system_cuda) {
            return None;
        }
        let installed = self.installed_cudnn.as_ref().filter(|_| !self.builds.is_empty());
        let inside = self.image.and_then(|image| image.cudnn.as_ref()).filter(|version| version.major() > 0);
        installed.or(inside)
    }

    /// Every cuDNN that a process may load: of the frameworks, of what pip installs, in the image, and installed there.
    pub fn cudnns(&self) -> Vec<&Version> {
        let mut there: Vec<&Version> = self.builds.iter().filter_map(|build| build.cudnn.as_ref()).collect();
        there.extend(by_pip::cudnn(&self.by_pip));
        there.extend(self.image.and_then(|image| image.cudnn.as_ref()));
        there.extend(self.installed_cudnn.as_ref());
        there
    }

    /// The CUDA release in the stack: the toolkit's or image's if of the wheel's line, else the one whose runtime
    /// the wheel carries.
    pub fn cuda_release(&self) -> Option<Version> {
        // Beside a framework that pins the runtime they are a compiler or so.
        let pieces = self.pieces.as_ref().filter(|pieces| pieces.bring_runtime()).map(|pieces| pieces.toolkit.version);
        let of_build = |build: &&Build| Some((build.line()?, build.toolkit));
        let wheel = match pieces {
            Some(version) => Some((version.prefix(2), Some(version))),
            None => self.builds.iter().find_map(of_build),
        };
        match wheel {
            None if self.builds.iter().any(|build| build.is_cpu()) => None,
            None => self.around(),
            Some((line, runtime)) => {
                let around = self.around().filter(|release| release.cmp_prefix(&line).is_eq());
                Some(around.or(runtime).unwrap_or(line))
            }
        }
    }

    /// The CUDA release around the wheels: the toolkit's, else the image's.
    pub fn around(&self) -> Option<Version> {
        self.toolkit.or(self.cuda).map(|toolkit| toolkit.version).or(self.image.map(|image| image.cuda))
    }
}
