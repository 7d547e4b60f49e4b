//! What a mark in gpuenv.toml says: in a few words, the property of a written value that a conflict turns on.

use crate::catalog::rows::{Build, Subject};
use crate::solve::image;
use crate::solve::request::{DriverRequest, ImageRequest, TargetRequest, Told};
use crate::types::require::Requirement;
use crate::types::variant::line_of;
use crate::types::{CpuArch, Version, distinct};

use super::Explainer;
use super::words::{cuda_of, list, oldest_of};

/// More values than this are no label.
const MOST: usize = 4;

impl Explainer<'_, '_> {
    /// A label for each of the keys; empty where there is nothing short to say.
    pub(super) fn labels(&self) -> Vec<String> {
        self.culprits.iter().map(|key| self.label(key).unwrap_or_default()).collect()
    }

    fn label(&self, key: &str) -> Option<String> {
        if let Some(package) = key.strip_prefix("stack.") {
            return self.built_for(package).or_else(|| self.compiled(package));
        }
        let (name, setting) = key.strip_prefix("target.")?.rsplit_once('.')?;
        let target = self.request.target(name)?;
        match setting {
            "gpu" => {
                // Of what is published for the usual processor much is not for another, or is another build.
                let processor = Some(target.arch).filter(|arch| *arch != CpuArch::X86_64);
                let with = processor.map_or(String::new(), |arch| format!(", processor {arch}"));
                self.brand(target).or_else(|| capabilities(target).map(|of| of + &with))
            }
            "driver" => {
                let driver = match &target.driver {
                    DriverRequest::Exact(version) => version,
                    DriverRequest::AtWorst(admits) => oldest_of(self.request.catalog, admits)?,
                    DriverRequest::Cuda(cuda, Told::Jetson(_)) => return Some(format!("supports CUDA up to {cuda}")),
                    DriverRequest::Cuda(..) | DriverRequest::Free(_) => return None,
                };
                Some(format!("supports CUDA up to {}", cuda_of(self.request.catalog, driver)?))
            }
            "os" => {
                let glibc = target.glibc.map(|glibc| format!("glibc {glibc}"));
                let gcc = target.gcc.filter(|_| self.request.build.is_some()).map(|gcc| format!("gcc {gcc}"));
                let mut asking =
                    self.request.rules.on(Subject::Libstdcxx).filter_map(|rule| rule.row.package.as_deref());
                let is_asked = asking.any(|package| self.blames(package));
                let libstdcxx = target.libstdcxx().filter(|_| is_asked).map(|has| format!("GLIBCXX_{has}"));
                let parts: Vec<String> = glibc.into_iter().chain(libstdcxx).chain(gcc).collect();
                (!parts.is_empty()).then(|| parts.join(", "))
            }
            "image" => match &target.image {
                ImageRequest::Known(image) => Some(format!("holds CUDA {}", image.cuda.prefix(2))),
                _ => None,
            },
            _ => None,
        }
    }

    /// The brand of a target's GPUs, where what is written of its image counts by that.
    fn brand(&self, target: &TargetRequest<'_>) -> Option<String> {
        let text =
            target.image_requires.as_deref().filter(|_| self.culprits.contains(&target.key("image-requires")))?;
        let brands = image::brands(Some(target.named_gpus().first()?.row?.class));
        let counts = Requirement::parse(text).names_brand() && !brands.is_empty();
        counts.then(|| format!("brand {}", brands.join(" or ")))
    }

    /// The CUDA that the admitted builds of a framework are made for.
    fn built_for(&self, package: &str) -> Option<String> {
        let builds = self.admitted();
        let of: Vec<&Build> = builds.into_iter().filter(|build| build.package == *package).collect();
        // What stands in an image is told there.
        if of.iter().any(|build| build.is_in_image()) {
            return None;
        }
        if !of.is_empty() && of.iter().all(|build| build.is_cpu()) {
            return Some("holds no GPU code".to_string());
        }
        let mut lines = distinct(of.iter().filter_map(|build| build.line()));
        if of.is_empty() {
            // Of what may exist though nobody has seen it the variant that is written tells it.
            let ask = self.request.frameworks.iter().find(|ask| ask.package == package)?;
            let (framework, on) = (self.request.problem.framework(package)?, self.platform());
            framework.releases.iter().find(|one| ask.takes(one) && framework.is_unseen(one, on))?;
            lines = distinct(ask.constraint.comparisons().filter_map(|one| line_of(one.variant.as_deref()?)));
        }
        let words: Vec<&str> = lines.iter().map(Version::as_str).collect();
        (1..=MOST).contains(&words.len()).then(|| format!("built for CUDA {}", list(&words)))
    }

    /// That a package has to be compiled, where toolkits are told to be in the way.
    fn compiled(&self, package: &str) -> Option<String> {
        let ask = self.request.companions.iter().find(|ask| ask.package == package)?;
        self.culprits.iter().find(|key| key.ends_with(".toolkit"))?;
        let rows = self.request.catalog.companions.of(package).iter();
        let mut asked = rows.filter(|row| ask.constraint.admits(&row.version)).peekable();
        asked.peek()?;
        asked.all(|row| row.sdist).then(|| "comes as source".to_string())
    }
}

/// The capabilities of a target's GPUs.
fn capabilities(target: &TargetRequest<'_>) -> Option<String> {
    let of = distinct(target.named_gpus().iter().map(|gpu| &gpu.cc_version));
    let words: Vec<&str> = of.into_iter().map(Version::as_str).collect();
    (1..=MOST).contains(&words.len()).then(|| format!("compute capability {}", list(&words)))
}
