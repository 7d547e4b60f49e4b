//! What an installer is told to install for a choice: wheels with their index, and the libraries that they leave open.

use crate::catalog::rows::{BESIDE_TORCH, Companion, Index, TORCH};
use crate::types::variant::pytorch_index;

use super::finished::{Finished, Use};
use super::solution::TargetSolution;

/// A wheel to install.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Install {
    /// Its package.
    pub package: String,
    /// The version a requirement must name on the index.
    pub version: String,
    /// The wheel index; none = the Python package index.
    pub index: Option<String>,
    /// The address of the wheel itself, in place of an index; with `#sha256=` behind it where that is known.
    pub url: Option<String>,
    /// The extra that brings the CUDA part.
    pub extra: Option<String>,
    /// Whether it loads CUDA and cuDNN of the system.
    pub system_cuda: bool,
    /// Whether it comes as source only.
    pub sdist: bool,
}

impl Install {
    /// A library of the Python package index.
    pub fn from_pypi(package: String, version: String) -> Self {
        Install { package, version, index: None, url: None, extra: None, system_cuda: false, sdist: false }
    }
}

impl TargetSolution<'_> {
    /// What to install, by package.
    pub fn wheels(&self) -> Vec<Install> {
        let mut wheels = Vec::new();
        let mut torch_index = None;
        for build in &self.builds {
            let index = |of: Index| build.index.contains(&of);
            let url = pytorch_index(&build.variant);
            let labelled = || format!("{}+{}", build.version, build.variant);
            let carried = || build.wheel.as_ref().map_or_else(labelled, ToString::to_string);
            let is_nowhere = build.is_own() && build.url.is_none() && build.index_url.is_none();
            let (version, url) = if is_nowhere {
                (carried(), index(Index::Pytorch).then_some(url))
            } else if let Some(own) = &build.index_url {
                (carried(), Some(own.to_string()))
            } else if build.url.is_some() {
                (carried(), None)
            } else if index(Index::Pytorch) {
                (labelled(), Some(url))
            } else if index(Index::Pypi) {
                (build.version.to_string(), None)
            } else {
                (build.version.to_string(), Some(url))
            };
            if build.package == TORCH {
                torch_index = url.clone();
            }
            // Whoever built it has it; nobody says where.
            if is_nowhere {
                continue;
            }
            wheels.push(Install {
                package: build.package.to_string(),
                version,
                index: url,
                url: build.url.as_ref().map(ToString::to_string),
                extra: build.extra.as_ref().filter(|_| !build.is_cpu()).map(|extra| extra.to_string()),
                system_cuda: build.system_cuda && !build.is_cpu(),
                sdist: false,
            });
        }
        let pieces = self.pieces.iter().flat_map(|pieces| &pieces.pins);
        let by_pip = self.by_pip.iter().cloned();
        wheels.extend(by_pip.map(|(package, version)| Install::from_pypi(package, version.to_string())));
        wheels.extend(pieces.map(|(name, version)| Install::from_pypi(name.to_string(), version.to_string())));
        let companions = self.companions.iter().zip(&self.finished);
        wheels.extend(companions.map(|(row, finished)| self.companion(row, *finished, torch_index.as_deref())));
        wheels.sort_unstable();
        wheels
    }

    /// A package that follows a framework: the finished wheel beside what comes as source, where that is taken.
    fn companion(&self, row: &Companion, finished: Option<Finished<'_>>, torch_index: Option<&str>) -> Install {
        let taken = finished.filter(|finished| finished.use_of == Use::Taken);
        let finished = taken.zip(self.python).map(|(finished, python)| finished.wheel.file(python));
        let url = finished.or_else(|| row.file(self.arch, self.python));
        let beside_torch = BESIDE_TORCH.contains(&&*row.package);
        let own = row.index_url.as_ref().map(ToString::to_string);
        // What its own release's wheel serves lies on the package index: only what it brings is another for the variant.
        let of_variant =
            row.variant.as_ref().filter(|_| !row.is_of_package_index()).map(|variant| pytorch_index(variant));
        let of_torch = torch_index.filter(|_| beside_torch).map(str::to_string);
        Install {
            package: row.package.to_string(),
            version: row.carried(),
            index: own.or(of_variant).or(of_torch).filter(|_| url.is_none()),
            url,
            extra: row.extra.as_ref().map(ToString::to_string),
            system_cuda: false,
            sdist: row.sdist && taken.is_none(),
        }
    }
}
