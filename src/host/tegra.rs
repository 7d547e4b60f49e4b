//! What a Jetson tells of its system.

/// How the catalog's names of Jetson Linux begin.
pub const PREFIX: &str = "l4t";

/// The release of Jetson Linux in a line of /etc/nv_tegra_release, as the catalog spells it: `l4t35.3.1` of
/// `# R35 (release), REVISION: 3.1, GCID: …`.
pub fn release(line: &str) -> Option<String> {
    let (major, rest) = line.trim().strip_prefix("# R")?.split_once(" (release), REVISION: ")?;
    let revision = rest.split(',').next().unwrap_or_default().trim();
    let is_numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = revision.strip_suffix(".0").unwrap_or(revision);
    (is_numeric(major) && numbers.split('.').all(is_numeric)).then(|| format!("{PREFIX}{major}.{numbers}"))
}
