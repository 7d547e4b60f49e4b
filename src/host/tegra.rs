//! What a Jetson tells of its system.

/// How the catalog's names of Jetson Linux begin.
pub const PREFIX: &str = "l4t";

/// The release of Jetson Linux in a line of /etc/nv_tegra_release, as the catalog spells it: `l4t35.3.1` of
/// `# R35 (release), REVISION: 3.1, GCID: …`.
pub fn release(line: &str) -> Option<String> {
    let (major, rest) = line.trim().strip_prefix("# R")?.split_once(" (release), REVISION: ")?;
    let revision = rest.split(',').next().unwrap_or_default().trim();
    spelled(&format!("{major}.{revision}"))
}

/// A release of Jetson Linux as the catalog spells it: `l4t36.4` of `36.4.0`.
pub fn spelled(release: &str) -> Option<String> {
    let numbers: Vec<&str> = release.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let significant = if numbers.len() == 3 && numbers[2] == "0" { &numbers[..2] } else { &numbers[..] };
    ((2..4).contains(&numbers.len()) && numbers.iter().all(is_number))
        .then(|| format!("{PREFIX}{}", significant.join(".")))
}
