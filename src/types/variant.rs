//! What the variants of wheels are called, `cu124`, `cpu`, and how a version carries one behind a `+`.

use super::Version;

/// The variant without CUDA.
pub const CPU: &str = "cpu";

/// What the variant ends with of a wheel without the extra that brings its CUDA: it loads what the system has.
pub const PLAIN: &str = ".plain";

/// A version and the label behind it: `2.5.1` and `cu124` of `2.5.1+cu124`.
pub fn parts(version: &str) -> (&str, Option<&str>) {
    version.split_once('+').map_or((version, None), |(public, label)| (public, Some(label)))
}

/// A version without its label.
pub fn public(version: &str) -> &str {
    parts(version).0
}

/// The PyTorch wheel index of a variant.
pub fn pytorch_index(variant: &str) -> String {
    format!("https://download.pytorch.org/whl/{variant}")
}

/// The CUDA line of a variant: `12.4` of `cu124`, `12` of `cu12`; none of `cpu`.
pub fn line_of(variant: &str) -> Option<Version> {
    let digits = variant.strip_prefix("cu")?;
    let digits = digits.strip_suffix(PLAIN).unwrap_or(digits);
    let split = digits.len().checked_sub(1).filter(|&at| at > 0)?;
    // Two digits are a major of its own (`cu12`) unless they are too great for one (`cu92`).
    if digits.len() == 2 && digits < "50" {
        return Version::parse(digits).ok();
    }
    Version::parse(&[&digits[..split], ".", &digits[split..]].concat()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_names_its_cuda_line() {
        for (variant, line) in [
            ("cu124", "12.4"),
            ("cu102", "10.2"),
            ("cu92", "9.2"),
            ("cu80", "8.0"),
            ("cu118", "11.8"),
            ("cu130", "13.0"),
            ("cu12", "12"),
            ("cu118.plain", "11.8"),
        ] {
            assert_eq!(line_of(variant).unwrap().as_str(), line, "{variant}");
        }
        assert!(line_of("cpu").is_none() && line_of("cu").is_none() && line_of("rocm6").is_none());
    }
}
