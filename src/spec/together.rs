//! Keys of a target that cannot stand together: each says what the other denies.

use std::ops::Range;

use super::error::Refusal;
use super::{Runtime, Target, Written};
use crate::types::Constraint;

/// Why two keys cannot stand together, and where to say so.
type Contradiction = (Refusal, Range<usize>);

impl Target {
    /// Why two of its keys cannot stand together, and where to say so.
    pub(super) fn contradiction(&self) -> Option<Contradiction> {
        self.two_drivers()
            .or_else(|| self.image_on_bare_metal())
            .or_else(|| self.two_compilers())
            .or_else(|| self.driver_without_gpu())
            .or_else(|| self.not_on_wsl2())
    }

    fn two_drivers(&self) -> Option<Contradiction> {
        let (driver, cuda) = (self.driver.as_ref()?, self.driver_cuda.as_ref()?);
        let message = "`driver` and `driver-cuda` exclude each other: both say what the hosts have";
        let refusal = Refusal::new("exclusive", message).help("keep `driver` if its release is known");
        Some((refusal, later(driver, cuda)))
    }

    fn image_on_bare_metal(&self) -> Option<Contradiction> {
        if self.runtime() != Runtime::BareMetal {
            return None;
        }
        if let Some(image) = &self.image {
            let refusal = Refusal::new("exclusive", "`image` needs a container, but `runtime` is \"bare-metal\"");
            let help = "drop one of the two; an image implies `runtime = \"container\"`";
            return Some((refusal.help(help), image.span.clone()));
        }
        let requires = self.image_requires.as_ref()?;
        let refusal =
            Refusal::new("exclusive", "`image-requires` needs a container: on bare metal no image is started");
        Some((refusal.help("name the image with `image`, or write `runtime = \"container\"`"), requires.span.clone()))
    }

    fn two_compilers(&self) -> Option<Contradiction> {
        let (gcc, clang) = (self.gcc.as_ref()?, self.clang.as_ref()?);
        let message = "`gcc` and `clang` exclude each other: nvcc calls one host compiler";
        let refusal = Refusal::new("exclusive", message).help("keep the one that is named to nvcc with `-ccbin`");
        Some((refusal, later(gcc, clang)))
    }

    /// Without a GPU there is neither a driver nor anything that it would load.
    fn driver_without_gpu(&self) -> Option<Contradiction> {
        let none = self.gpu.as_ref().is_some_and(|gpus| gpus.value.iter().any(|name| name == "none"));
        let module = self.kernel_module.as_ref().map(|written| ("kernel-module", &written.span));
        let compat = self.compat.as_ref().map(|written| ("compat", &written.span));
        let (key, span) = module.or(compat).filter(|_| none)?;
        let message = format!("`{key}` belongs to a driver, but `gpu` is \"none\": nothing loads one");
        let refusal = Refusal::new("exclusive", message).help(format!("drop `{key}`, or name the GPU"));
        Some((refusal, span.clone()))
    }

    /// What Linux inside Windows does not have.
    fn not_on_wsl2(&self) -> Option<Contradiction> {
        if !self.is_wsl2() {
            return None;
        }
        let refuse = |message: &str, help: &str, span: &Range<usize>| {
            Some((Refusal::new("exclusive", message).help(help), span.clone()))
        };
        if let Some(module) = &self.kernel_module {
            let message =
                "`kernel-module` means nothing under WSL2: the driver is that of Windows, which has one flavour";
            return refuse(message, "drop `kernel-module`", &module.span);
        }
        let driver = self.driver.as_ref().filter(|driver| is_of_linux(&driver.value))?;
        let message =
            format!("`driver`: `{}` is a driver of Linux, and under WSL2 the driver is Windows'", driver.value);
        let refusal = Refusal::new("exclusive", message);
        let help = "write what nvidia-smi shows as \"Driver Version\": two numbers, such as \"572.61\"";
        Some((refusal.help(help), driver.span.clone()))
    }
}

/// Releases of Windows' driver have two numbers, those of Linux mostly three.
fn is_of_linux(driver: &Constraint) -> bool {
    driver.comparisons().filter_map(|one| one.version).any(|version| version.len() > 2)
}

/// Where the later of two values stands.
fn later<A, B>(one: &Written<A>, other: &Written<B>) -> Range<usize> {
    if one.span.start > other.span.start { one.span.clone() } else { other.span.clone() }
}
