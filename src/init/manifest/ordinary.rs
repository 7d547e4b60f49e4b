//! What `[packages]` says of a requirement: the name, extras and comparisons of PEP 440. Poetry's `^` and `~` are written
//! as the range that they mean.

use super::Wanted;
use crate::spec;
use crate::types::Specifier;

/// The requirement as pip writes it; an error is why `[packages]` cannot hold it.
pub(super) fn requirement(wanted: &Wanted) -> Result<String, String> {
    if wanted.written.contains(" @ ") {
        return Err("it comes from an address, and [packages] holds versions".to_string());
    }
    if let Some(marker) = &wanted.marker {
        let why = "and [packages] has no conditions: --python and --arch may decide it";
        return Err(format!("it holds only where `{marker}`, {why}"));
    }
    let parts = wanted.version.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "*");
    let parts: Option<Vec<String>> = parts.map(comparison).collect();
    let extras = if wanted.extras.is_empty() { String::new() } else { format!("[{}]", wanted.extras.join(",")) };
    let text = parts.map(|parts| format!("{}{extras}{}", wanted.name, parts.join(",")));
    let held = text.filter(|text| Specifier::split(text).is_some());
    held.ok_or_else(|| format!("`{}` is not a version that [packages] can say", wanted.version))
}

/// One comparison; none where it has no operator and is no version.
pub(super) fn comparison(part: &str) -> Option<String> {
    let is_of_poetry = part.starts_with('^') || part.starts_with('~') && !part.starts_with("~=");
    // `=4.30` of Poetry is `==4.30`.
    let plain = part.strip_prefix('=').unwrap_or(part);
    match plain.starts_with(|c: char| c.is_ascii_digit()) {
        true => Some(format!("=={plain}")),
        false if is_of_poetry => spec::meant_specifier("", part),
        false => part.starts_with(['<', '>', '=', '!', '~']).then(|| part.to_string()),
    }
}

#[cfg(test)]
mod tests;
