//! What the variants of wheels are called: `cu124`, `cpu`.

use super::Version;

/// The CUDA line of a variant: `12.4` of `cu124`, `12` of `cu12`; none of `cpu`.
pub fn line_of(variant: &str) -> Option<Version> {
    let digits = variant.strip_prefix("cu")?;
    let split = digits.len().checked_sub(1).filter(|&at| at > 0)?;
    // Two digits are a major of its own (`cu12`) unless they are too great for one (`cu92`).
    if digits.len() == 2 && digits < "50" {
        return Version::parse(digits).ok();
    }
    Version::parse(&[&digits[..split], ".", &digits[split..]].concat()).ok()
}
