//! What is said of the wheel of a package beside torch: whether anybody saw it, and which GPUs its own operators run on.

use crate::types::Version;

use super::Kind;

/// A wheel on the index of a variant that nobody is known to have seen there.
pub struct UnseenWheel<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// The variant.
    pub variant: &'a str,
    /// The processor.
    pub arch: &'a str,
    /// The Python of the lock, and those for which a wheel of the variant was seen.
    pub python: Option<(&'a str, &'a str)>,
    /// The other variants that were seen of the release.
    pub others: &'a [String],
    /// An older release that goes with the same framework and is known to lie there.
    pub older: Option<&'a Version>,
}

impl Kind for UnseenWheel<'_> {
    const CODE: &'static str = "unseen-wheel";

    fn message(&self) -> String {
        let UnseenWheel { name, variant, arch, .. } = self;
        let index = format!("https://download.pytorch.org/whl/{variant}");
        let or = self.older.map_or_else(String::new, |older| format!(", or take {older}, which is known to be there"));
        if let Some((python, seen)) = self.python {
            let seen = seen.replace(" || ", ", ");
            return format!(
                "no wheel of {name} for {variant}, {arch} and Python {python} has been seen, only for Python {seen}: look for \
                 it at {index} before you install{or}"
            );
        }
        let others = match self.others {
            [] => String::new(),
            others => format!(" (of that release {} have been seen)", others.join(", ")),
        };
        format!(
            "no wheel of {name} for {variant} and {arch} has been seen{others}: look for it at {index} before you install{or}"
        )
    }
}

/// A package whose wheel holds no code for GPUs of the target.
pub enum OperatorsMissing<'a> {
    /// It was read, and a GPU runs the rest of it.
    Read {
        /// The package and its release.
        name: &'a str,
        /// The GPUs.
        gpus: &'a [&'a str],
    },
    /// Another wheel of the release was read.
    Other {
        /// The package and its release.
        name: &'a str,
        /// The variant that is installed.
        variant: Option<&'a str>,
        /// The variant that was read.
        read: Option<&'a str>,
        /// What that holds code for: `sm_75 sm_80`.
        code: &'a str,
        /// The GPUs.
        gpus: &'a str,
    },
}

impl Kind for OperatorsMissing<'_> {
    const CODE: &'static str = "operators-missing";

    fn message(&self) -> String {
        match self {
            OperatorsMissing::Read { name, gpus } => format!(
                "the wheel of {name} holds no code for {}: what it computes itself fails there with \"no kernel image is \
                 available\"; compile it for these GPUs, or take a release whose wheel holds code for them",
                gpus.join(", ")
            ),
            OperatorsMissing::Other { name, variant, read, code, gpus } => {
                let variant = variant.map_or_else(String::new, |variant| format!(" for {variant}"));
                let read = read.map_or("on the package index".to_string(), |read| format!("for {read}"));
                format!(
                    "the wheel of {name}{variant} was not read, and the one {read} holds code for {} only: what runs on {} may fail \
                     with \"no kernel image is available\"; take a release whose wheel holds code for these GPUs",
                    code.replace(' ', ", "),
                    gpus
                )
            }
        }
    }
}

/// A package whose wheel for a processor holds no GPU code, where a GPU runs the rest.
pub struct OperatorsOnCpu<'a> {
    /// The package and its release.
    pub name: &'a str,
    /// The processor.
    pub arch: &'a str,
    /// The variant of the framework.
    pub variant: &'a str,
    /// The Pythons for which the index of that variant is known to have a wheel of the release.
    pub pythons: Option<&'a str>,
    /// Whether releases of the package lie on the index of variants.
    pub is_on_index: bool,
    /// The release from which on the package index has wheels with GPU code.
    pub newer: Option<&'a Version>,
}

impl Kind for OperatorsOnCpu<'_> {
    const CODE: &'static str = "operators-on-cpu";

    fn message(&self) -> String {
        let OperatorsOnCpu { name, arch, variant, .. } = self;
        let index = format!("https://download.pytorch.org/whl/{variant}");
        let mut ways = Vec::new();
        match self.pythons {
            Some(pythons) => {
                ways.push(format!("take Python {}, for which {index} has it", pythons.replace(" || ", " or ")))
            }
            None if self.is_on_index => ways.push(format!("look for a wheel with GPU code at {index}")),
            None => {}
        }
        ways.extend(self.newer.map(|newer| format!("take {newer} or newer")));
        if ways.is_empty() {
            ways.push("compile it".to_string());
        }
        format!(
            "the wheel of {name} for {arch} holds no GPU code: what it computes itself runs on the CPU alone; if you need it \
             on the GPU, {}",
            ways.join(", or ")
        )
    }
}
