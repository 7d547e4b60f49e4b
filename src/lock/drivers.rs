//! Which drivers a lock takes, and the words that it says of them.

use crate::coverage::Coverage;
use crate::types::name::STACK_PARTS;
use crate::types::{DriverMode, Version, nvidia, variant};

use super::{DriverLock, GpuLock, Lock, TargetLock};

/// The drivers that a lock admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted<'a> {
    /// This release and every later one, but those of some branches.
    From(&'a str, &'a [String]),
    /// With cuda-compat: those of the branches that the package was chosen for, the minimum's first, and those that bring
    /// the CUDA of the stack by themselves. Which others take the package only the catalog tells.
    OfBranches {
        /// The oldest release of each branch, and the number that ends it.
        branches: Vec<(&'a str, u64)>,
        /// The CUDA that a driver without the package must offer: `13.0`, or `13.1` where it compiles PTX of that.
        cuda: Version,
    },
}

impl Admitted<'_> {
    /// Whether a driver is among those that run the stack as it is locked, with the package where there is one.
    pub fn admits(&self, driver: &Version) -> bool {
        let is_from = |minimum: &str| Version::parse(minimum).is_ok_and(|minimum| *driver >= minimum);
        match self {
            Admitted::From(minimum, except) => {
                is_from(minimum) && !except.iter().any(|one| *one == driver.major().to_string())
            }
            Admitted::OfBranches { branches, .. } => {
                branches.iter().any(|(least, next)| is_from(least) && driver.major() < *next)
            }
        }
    }
}

impl DriverLock {
    /// Whether a cuda-compat package stands before the driver.
    pub fn is_forward_compat(&self) -> bool {
        self.mode == DriverMode::ForwardCompat.as_str()
    }

    /// The oldest release that suffices, as people read it: `>=535.54.03`, or `>=535.54.03 but not 545 or 555`.
    pub fn stated(&self) -> String {
        let Some(minimum) = &self.minimum else { return "that of the system".to_string() };
        let but = if self.except.is_empty() { String::new() } else { format!(" but not {}", self.except.join(" or ")) };
        format!(">={minimum}{but}")
    }

    /// The CUDA line of its cuda-compat package, `13.0` of `cuda-compat-13-0`.
    pub fn compat_line(&self) -> Option<Version> {
        let line = self.compat.as_deref()?.strip_prefix("cuda-compat-")?;
        Version::parse(&line.replace('-', ".")).ok()
    }
}

impl Lock {
    /// What a target asks of the number of its driver; none where it asks nothing, its driver comes with its system, or what is
    /// locked names no driver.
    pub fn admitted<'a>(&self, name: &str, target: &'a TargetLock) -> Option<Admitted<'a>> {
        let driver = target.driver.as_ref()?;
        let minimum = driver.minimum.as_deref()?;
        if !driver.is_forward_compat() {
            return Some(Admitted::From(minimum, &driver.except));
        }
        let all = std::iter::once(minimum).chain(driver.others.iter().map(String::as_str));
        let branch = |least| Some((least, Version::parse(least).ok()?.major().saturating_add(1)));
        let branches: Vec<(&str, u64)> = all.map(branch).collect::<Option<_>>()?;
        let line = self.cuda_line(name, target).or_else(|| driver.compat_line())?;
        let cuda = match target.compiles_ptx() {
            true => line,
            false => Version::parse(&format!("{}.0", line.major())).ok()?,
        };
        Some(Admitted::OfBranches { branches, cuda })
    }

    /// The CUDA line that a target's wheels bring the libraries of; none where none does: that of the locked runtime, else
    /// the label's, `12.4` for `2.5.1+cu124`. A label of a whole major, `cu13` of jax, leaves the line to the locked CUDA.
    pub fn cuda_line(&self, name: &str, target: &TargetLock) -> Option<Version> {
        let runtime = self.wheels_of(name).find(|wheel| is_runtime(&wheel.package));
        if let Some(locked) = runtime.and_then(|wheel| Version::parse(&wheel.version).ok()) {
            return Some(locked.prefix(2));
        }
        let stack = self.stack_of(target);
        let of_label = |version: &String| {
            let line = variant::line_of(variant::parts(version).1?)?;
            if line.len() > 1 {
                return Some(line);
            }
            let cuda = Version::parse(stack.get("cuda")?).ok()?;
            (cuda.major() == line.major()).then(|| cuda.prefix(2))
        };
        let is_brought =
            |package: &&String| !self.wheel.iter().any(|wheel| wheel.package == **package && wheel.system_cuda);
        stack.iter().filter(|(package, _)| is_brought(package)).find_map(|(_, version)| of_label(version))
    }

    /// The toolkit whose folders a target is told of: the one that it compiles with; else, on a machine itself, the CUDA that
    /// its stack loads from there, or that is all it asks for.
    pub fn toolkit_of<'a>(&'a self, name: &str, target: &'a TargetLock) -> Option<&'a str> {
        let of_system = || {
            let stack = self.stack_of(target);
            let loads = self.wheels_of(name).any(|wheel| wheel.system_cuda)
                || stack.keys().all(|package| STACK_PARTS.contains(&package.as_str()));
            let is_there = loads && !target.is_for_container() && self.cuda_line(name, target).is_none();
            stack.get("cuda").filter(|_| is_there && self.uses_gpu(name, target))
        };
        target.toolkit.as_deref().or_else(|| of_system().map(String::as_str))
    }
}

/// `nvidia-cuda-runtime-cu12`, since CUDA 13 without the major; or the metapackage of a release, whose parts bring it.
fn is_runtime(package: &str) -> bool {
    package == nvidia::TOOLKIT || nvidia::is(nvidia::RUNTIME, package)
}

impl TargetLock {
    /// Whether it runs in a container.
    pub fn is_for_container(&self) -> bool {
        self.runtime == "container"
    }

    /// Whether some GPU runs nothing but PTX, which the driver compiles.
    pub fn compiles_ptx(&self) -> bool {
        self.gpu.iter().any(GpuLock::compiles_ptx)
    }
}

impl GpuLock {
    /// Whether it runs nothing but PTX, which the driver compiles.
    pub fn compiles_ptx(&self) -> bool {
        self.coverage.as_deref() == Coverage::Jit.as_str()
    }
}
