//! Packages in one environment that come with different libraries.

use crate::types::Version;

use super::Kind;

/// Two frameworks that each come with a cuDNN of their own.
pub struct TwoCudnns<'a> {
    /// The framework whose cuDNN is loaded, and that cuDNN.
    pub first: (&'a str, &'a Version),
    /// The other one, and what it needs.
    pub other: (&'a str, &'a Version),
}

impl Kind for TwoCudnns<'_> {
    const CODE: &'static str = "two-cudnns";
    const FAILS: bool = true;
    const EXPLAINED: &'static str = "Two frameworks in one environment each come with a cuDNN of one major, of which a process loads one, and \
        the first is older than the other needs. Put them into environments of their own, or choose releases that agree on cuDNN.";

    fn message(&self) -> String {
        let ((first, loaded), (other, needed)) = (self.first, self.other);
        format!("{first} comes with cuDNN {loaded}, {other} needs {needed}: a process loads only one of that major")
    }
}

/// A framework that holds older libraries of CUDA than another in its environment asks for.
pub struct TwoCudas<'a> {
    /// What holds its own, and the toolkit release that they are of.
    pub holds: (&'a str, &'a Version),
    /// The other one, and the least line that it asks for.
    pub other: (&'a str, &'a Version),
}

impl Kind for TwoCudas<'_> {
    const CODE: &'static str = "two-cudas";
    const EXPLAINED: &'static str = "The wheel of one framework holds libraries of CUDA, and another framework asks pip for newer ones of the \
        same major. A process loads those of the framework that is imported first; JAX compares what it finds with what it was \
        built with, and where that is older it computes on the CPU. Import that one first, put them into environments of their \
        own, or choose releases that agree.";

    fn message(&self) -> String {
        let ((first, holds), (other, needed)) = (self.holds, self.other);
        format!(
            "{first} holds libraries of CUDA {holds}, {other} asks for those of {needed} or newer: a process loads those of what \
             is imported first, and {other} may not use the GPU with the older ones; import it first, or give each an \
             environment of its own"
        )
    }
}

/// An ordinary package whose name tells another CUDA than the stack's.
pub struct PackageCuda<'a> {
    /// The package.
    pub package: &'a str,
    /// The CUDA that it names.
    pub names: &'a Version,
    /// What the stack is built for, and that CUDA.
    pub stack: (&'a str, &'a Version),
}

impl Kind for PackageCuda<'_> {
    const CODE: &'static str = "package-cuda";
    const EXPLAINED: &'static str = "A package under [packages] is carried as it is written, and nothing of it is checked. The name of this one tells a CUDA \
        that is not the one of the locked stack: its libraries may lack, or be loaded beside those of the stack. Write the package \
        for the stack's CUDA, or choose a stack for the package's (`cuda` under [stack]).";

    fn message(&self) -> String {
        let (PackageCuda { package, names, .. }, (stack, cuda)) = (self, self.stack);
        format!("{package} under [packages] is for CUDA {names} by its name, and {stack} is built for CUDA {cuda}")
    }
}
