//! A build of one's own in `[stack]`: a table in the place of a constraint, which holds what its owner says.

use super::error::Refusal;
use super::field::Read;
use super::{OwnBuild, OwnCuda, Written};
use crate::types::variant::{self, line_of};
use crate::types::{Constraint, Version, address};

/// What the name of a wheel's file tells: `torch-2.8.0a0+git1234-cp312-cp312-linux_x86_64.whl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WheelName<'a> {
    /// The version with its label.
    pub version: &'a str,
    /// The tag of the Python, `cp312`.
    pub python: &'a str,
    /// The tag of the interface, `cp312`, or `abi3` of one that later Pythons have too.
    pub abi: &'a str,
    /// The tag of the platform, `manylinux_2_28_x86_64`.
    pub platform: &'a str,
}

impl<'a> WheelName<'a> {
    /// Of an address; none where its file is not named as wheels are.
    pub fn of(url: &'a str) -> Option<Self> {
        let (at, _) = address::wheel(url)?;
        let name = at.rsplit('/').next()?.strip_suffix(".whl")?;
        let parts: Vec<&str> = name.split('-').collect();
        let [_, version, .., python, abi, platform] = parts.as_slice() else { return None };
        Some(WheelName { version, python, abi, platform })
    }

    /// The line of Python that it is for, `3.12`; none of `py3`, and of a stable interface that later ones take.
    pub fn python_line(&self) -> Option<Version> {
        let digits = self.python.strip_prefix("cp").filter(|digits| digits.len() > 1 && self.abi != "abi3")?;
        let (major, minor) = digits.split_at_checked(1)?;
        Version::parse(&format!("{major}.{minor}")).ok()
    }

    /// The version with its label spelled as versions are: addresses write `+` as `%2B` too.
    pub fn full_version(&self) -> String {
        self.version.replace("%2B", "+").replace("%2b", "+")
    }
}

impl OwnBuild {
    /// What it calls itself, with its label: `2.8.0a0+git1234`.
    pub fn full_version(&self) -> String {
        let written = self.version.as_ref().map_or("", |version| version.value.as_str());
        let of_file = self.url.as_ref().and_then(|url| WheelName::of(&url.value)).map(|name| name.full_version());
        of_file.filter(|_| !written.contains('+')).unwrap_or_else(|| written.to_string())
    }

    /// The version without its label.
    pub fn public(&self) -> Option<Version> {
        Version::parse(variant::public(&self.version.as_ref()?.value)).ok()
    }

    /// Its CUDA: as written, else as the label tells, `cu126`. None where nobody says.
    pub fn cuda(&self) -> Option<OwnCuda> {
        self.cuda.as_ref().map(|cuda| cuda.value).or_else(|| self.cuda_of_label())
    }

    /// What the label of its version says, `cu126`; none of one that names no CUDA.
    fn cuda_of_label(&self) -> Option<OwnCuda> {
        let full = self.full_version();
        let label = full.split_once('+')?.1;
        let word = label.split(['.', '_', '-']).find(|word| *word == "cpu" || word.starts_with("cu"))?;
        if word == "cpu" {
            return Some(OwnCuda::None);
        }
        word.strip_prefix("cu").filter(|digits| address::is_number(digits))?;
        // A whole major, `cu12`, names no line.
        line_of(word).filter(|line| line.len() > 1).map(OwnCuda::Line)
    }

    /// What does not go together, and what is missing.
    pub(super) fn wrong(&self) -> Option<Refusal> {
        let refuse = |message: String, help: &str| Some(Refusal::new("own-build", message).help(help));
        let Some(version) = &self.version else {
            return refuse(
                format!("`version` is missing in the build of {}", self.package),
                "write `version = \"…\"`: what the wheel calls itself",
            );
        };
        if let (Some(written), Some(label)) = (&self.cuda, self.cuda_of_label())
            && !label.is_line_of(written.value)
        {
            let (full, cuda) = (self.full_version(), written.value);
            return refuse(
                format!("`cuda` is \"{cuda}\", but the build calls itself {full}"),
                "write the CUDA that the label names, or leave `cuda` out: the label tells it",
            );
        }
        let Some(cuda) = self.cuda() else {
            return refuse(
                format!(
                    "`cuda` is missing: it is not known which CUDA your build of {} was compiled with",
                    self.package
                ),
                "write `cuda = \"12.6\"`, or `cuda = \"none\"` for a build that computes on the CPU",
            );
        };
        let code = self.arch_list.is_some().then_some("arch-list").or(self.cudnn.is_some().then_some("cudnn"));
        if let Some(key) = code.filter(|_| cuda == OwnCuda::None) {
            return refuse(format!("`{key}` needs a CUDA, but `cuda` is \"none\""), "drop one of the two");
        }
        if self.url.is_some() && self.index.is_some() {
            return refuse(
                "`url` and `index` exclude each other: both say where the build is".to_string(),
                "keep `url` for a single wheel, `index` for an index that has one for each Python",
            );
        }
        let named = self.url.as_ref().and_then(|url| WheelName::of(&url.value))?;
        let (file, said) = (named.full_version(), version.value.as_str());
        let same = address::is_same_version(variant::public(&file), variant::public(said))
            && (!said.contains('+') || file == said);
        if !same {
            return refuse(
                format!("`version` is {said}, but the file of `url` is named {file}"),
                "write the version that the file is named by",
            );
        }
        let line = named.python_line().zip(self.python.as_ref());
        if let Some((line, python)) = line.filter(|(line, python)| python.value.cmp_prefix(line).is_ne()) {
            return refuse(
                format!("`python` is {}, but the file of `url` is for Python {line}", python.value),
                "write the Python that the file is named by, or leave `python` out",
            );
        }
        None
    }

    /// What is asked for: this release and no other.
    pub(super) fn constraint(&self) -> Read<Constraint> {
        let text =
            format!("=={}", variant::public(&self.version.as_ref().map_or(String::new(), |one| one.value.clone())));
        Constraint::parse(&text).map_err(|error| Refusal::new("constraint", error.to_string()))
    }

    /// All that is said of it, in one spelling and order.
    pub(super) fn canonical(&self) -> String {
        let text = |key: &str, value: Option<String>| value.map(|value| format!("{key} = \"{value}\""));
        let version = |written: &Option<Written<Version>>| written.as_ref().map(|one| one.value.to_string());
        let plain = |written: &Option<Written<String>>| written.as_ref().map(|one| one.value.clone());
        let fields = [
            text("version", plain(&self.version)),
            text("cuda", self.cuda.as_ref().map(|cuda| cuda.value.to_string())),
            text("cudnn", version(&self.cudnn)),
            text("arch-list", self.arch_list.as_ref().map(|list| list.value.torch())),
            text("python", version(&self.python)),
            text("url", plain(&self.url)),
            text("index", plain(&self.index)),
        ];
        format!("{{ {} }}", fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl OwnCuda {
    /// Whether a CUDA is this line, or one of its releases.
    fn is_line_of(self, cuda: OwnCuda) -> bool {
        match (self, cuda) {
            (OwnCuda::None, OwnCuda::None) => true,
            (OwnCuda::Line(line), OwnCuda::Line(cuda)) => cuda.cmp_prefix(&line).is_eq(),
            _ => false,
        }
    }
}

impl std::fmt::Display for OwnCuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OwnCuda::None => f.write_str("none"),
            OwnCuda::Line(line) => write!(f, "{line}"),
        }
    }
}
