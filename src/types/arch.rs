//! Compute capabilities, GPU architectures and CPU architectures.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Version;

/// A compute capability, for example 9.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cc {
    /// The generation.
    pub major: u8,
    /// The step within it.
    pub minor: u8,
}

/// What may follow an architecture's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// `sm_90`: the baseline.
    None,
    /// `sm_100f`: the members of one family.
    Family,
    /// `sm_90a`: exactly this architecture.
    Specific,
}

/// A compilation target: a compute capability with its suffix, `9.0`, `9.0a`, `12.0f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// The compute capability in the name.
    pub cc: Cc,
    /// The suffix.
    pub suffix: Suffix,
}

/// Why a text names no compute capability or architecture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an architecture{hint}")]
pub struct ArchError {
    text: String,
    hint: String,
}

impl Cc {
    /// A compute capability from its two numbers.
    pub const fn new(major: u8, minor: u8) -> Self {
        Cc { major, minor }
    }

    /// Reads `9.0`, `sm_90`, `sm90`, `compute_90` (never a bare `90`: torch would refuse it).
    pub fn parse(text: &str) -> Result<Self, ArchError> {
        let arch = Arch::parse(text)?;
        if arch.suffix == Suffix::None {
            Ok(arch.cc)
        } else {
            Err(ArchError { text: text.escape_debug().to_string(), hint: ": a GPU has no suffix".into() })
        }
    }

    /// As a version, as which rules speak of it.
    pub fn version(self) -> Version {
        Version::parse(&self.to_string()).expect("a capability is a version")
    }

    /// `90` for 9.0, `120` for 12.0: the number in `sm_90`.
    pub fn number(self) -> u32 {
        u32::from(self.major) * 10 + u32::from(self.minor)
    }
}

impl ArchError {
    /// The same of an entry of a list, where only what torch takes can be offered.
    pub(super) fn in_list(self) -> Self {
        ArchError { hint: ": a compute capability such as \"8.6\" is expected".into(), ..self }
    }
}

impl Arch {
    /// The baseline target of a compute capability.
    pub const fn base(cc: Cc) -> Self {
        Arch { cc, suffix: Suffix::None }
    }

    /// Reads the dotted form (`9.0a`) or the named one (`sm_90a`, `compute_90`).
    pub fn parse(text: &str) -> Result<Self, ArchError> {
        let fail =
            |hint: String| ArchError { text: text.chars().take(40).flat_map(char::escape_debug).collect(), hint };
        let (body, suffix) = suffixed(text);
        let named = ["sm_", "compute_", "sm"].iter().find_map(|prefix| body.strip_prefix(prefix));
        if let Some(digits) = named {
            return from_digits(digits).map(|cc| Arch { cc, suffix }).ok_or_else(|| fail(String::new()));
        }
        if let Some((major, minor)) = body.split_once('.') {
            let cc = small(major, 2).zip(small(minor, 1)).map(|(major, minor)| Cc { major, minor });
            return cc.map(|cc| Arch { cc, suffix }).ok_or_else(|| fail(String::new()));
        }
        match Arch::undotted(text) {
            Some(meant) => Err(fail(format!(": write \"{meant}\""))),
            None => Err(fail(": \"8.6\" or \"sm_86\" is expected".into())),
        }
    }

    /// What a number without a dot is meant to be: `86` 8.6, and `12` the generation, 12.0, for no GPU in use has 1.2.
    pub(super) fn undotted(text: &str) -> Option<Arch> {
        let (body, suffix) = suffixed(text);
        let generation = Some(body).filter(|body| body.len() == 2 && body.starts_with('1'));
        let generation = generation.and_then(|body| small(body, 2)).map(|major| Cc::new(major, 0));
        generation.or_else(|| from_digits(body)).map(|cc| Arch { cc, suffix })
    }

    /// The number with its suffix, `90a`: what follows `sm_`.
    pub fn code(self) -> String {
        format!("{}{}", self.cc.number(), self.suffix)
    }
}

fn small(text: &str, max_len: usize) -> Option<u8> {
    let fits = !text.is_empty() && text.len() <= max_len && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// `86` is 8.6 and `120` is 12.0: the last digit is the minor.
/// A text and the suffix behind it.
fn suffixed(text: &str) -> (&str, Suffix) {
    match text.as_bytes().last() {
        Some(b'a') => (&text[..text.len() - 1], Suffix::Specific),
        Some(b'f') => (&text[..text.len() - 1], Suffix::Family),
        _ => (text, Suffix::None),
    }
}

fn from_digits(digits: &str) -> Option<Cc> {
    if !(2..=3).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (major, minor) = digits.split_at(digits.len() - 1);
    Some(Cc { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

impl fmt::Display for Cc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Suffix::None => "",
            Suffix::Family => "f",
            Suffix::Specific => "a",
        })
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.cc, self.suffix)
    }
}

/// How a packed catalog holds them: small numbers, read without a text.
impl Cc {
    fn packed(self) -> u32 {
        u32::from(self.major) << 8 | u32::from(self.minor)
    }

    fn of_packed(number: u32) -> Option<Self> {
        Some(Cc { major: u8::try_from(number >> 8).ok()?, minor: number as u8 })
    }
}

impl Arch {
    fn packed(self) -> u32 {
        let suffix = match self.suffix {
            Suffix::None => 0,
            Suffix::Family => 1,
            Suffix::Specific => 2,
        };
        self.cc.packed() << 2 | suffix
    }

    fn of_packed(number: u32) -> Option<Self> {
        let suffix = match number & 3 {
            0 => Suffix::None,
            1 => Suffix::Family,
            2 => Suffix::Specific,
            _ => return None,
        };
        Some(Arch { cc: Cc::of_packed(number >> 2)?, suffix })
    }
}

impl CpuArch {
    fn packed(self) -> u32 {
        match self {
            CpuArch::X86_64 => 0,
            CpuArch::Aarch64 => 1,
        }
    }

    fn of_packed(number: u32) -> Option<Self> {
        match number {
            0 => Some(CpuArch::X86_64),
            1 => Some(CpuArch::Aarch64),
            _ => None,
        }
    }
}

macro_rules! text_serde {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.serialize_newtype_struct(stringify!($type), &self.to_string()),
                    false => serializer.serialize_u32(self.packed()),
                }
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    return <$type>::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom);
                }
                let missing = || serde::de::Error::custom("there is no such architecture");
                <$type>::of_packed(u32::deserialize(deserializer)?).ok_or_else(missing)
            }
        }
    )*};
}

/// The CPU architecture of a machine or a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuArch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl CpuArch {
    /// Reads `x86_64` or `aarch64`, and the names Docker uses for them.
    pub fn parse(text: &str) -> Result<Self, ArchError> {
        match text {
            "x86_64" | "amd64" => Ok(CpuArch::X86_64),
            "aarch64" | "arm64" => Ok(CpuArch::Aarch64),
            other => Err(ArchError {
                text: other.chars().take(40).flat_map(char::escape_debug).collect(),
                hint: ": \"x86_64\" or \"aarch64\" is expected".into(),
            }),
        }
    }

    /// `x86_64` or `aarch64`.
    pub fn as_str(self) -> &'static str {
        match self {
            CpuArch::X86_64 => "x86_64",
            CpuArch::Aarch64 => "aarch64",
        }
    }

    /// Docker's name for it, `amd64` or `arm64`.
    pub fn docker(self) -> &'static str {
        match self {
            CpuArch::X86_64 => "amd64",
            CpuArch::Aarch64 => "arm64",
        }
    }
}

impl fmt::Display for CpuArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_serde!(Cc, Arch, CpuArch);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_architecture() {
        for (text, printed, code) in [
            ("9.0", "9.0", "90"),
            ("sm_90a", "9.0a", "90a"),
            ("compute_120", "12.0", "120"),
            ("10.3f", "10.3f", "103f"),
            ("sm86", "8.6", "86"),
        ] {
            let arch = Arch::parse(text).unwrap();
            assert_eq!((arch.to_string().as_str(), arch.code().as_str()), (printed, code), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_the_right_spelling() {
        let error = Arch::parse("86").unwrap_err().to_string();
        assert!(error.contains("\"8.6\""), "{error}");
        for text in ["", "8", "8.", ".6", "8.66", "sm_", "sm_8", "sm_1234", "turing", "8,6", "é", "a", "f"] {
            assert!(Arch::parse(text).is_err(), "{text:?}");
        }
    }
}
