//! What `[packages]` says of a requirement: the name, extras and comparisons of PEP 440. Poetry's `^` and `~` are written
//! as the range that they mean.

use super::Wanted;
use crate::types::Specifier;

/// The requirement as pip writes it; an error is why `[packages]` cannot hold it.
pub(super) fn requirement(wanted: &Wanted) -> Result<String, String> {
    if wanted.written.contains(" @ ") {
        return Err("it comes from an address, and [packages] holds versions".to_string());
    }
    if let Some(marker) = &wanted.marker {
        return Err(format!("it holds only where `{marker}`, and [packages] has no conditions"));
    }
    let parts = wanted.version.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "*");
    let parts: Option<Vec<String>> = parts.map(comparison).collect();
    let extras = if wanted.extras.is_empty() { String::new() } else { format!("[{}]", wanted.extras.join(",")) };
    let text = parts.map(|parts| format!("{}{extras}{}", wanted.name, parts.join(",")));
    let held = text.filter(|text| Specifier::split(text).is_some());
    held.ok_or_else(|| format!("`{}` is no version that [packages] can say", wanted.version))
}

/// One comparison; none where it has no operator, or where a `^` or `~` stands before something else than numbers.
fn comparison(part: &str) -> Option<String> {
    if part.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(format!("=={part}"));
    }
    let (number, is_caret) =
        match (part.strip_prefix('^'), part.strip_prefix('~').filter(|rest| !rest.starts_with('='))) {
            (Some(number), _) => (number.trim(), true),
            (None, Some(number)) => (number.trim(), false),
            (None, None) => return part.starts_with(['<', '>', '=', '!', '~']).then(|| part.to_string()),
        };
    let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
    let parts = parts?;
    // `^` keeps the first number that is not zero, `~` the first two that are written.
    let kept = match is_caret {
        true => parts.iter().position(|part| *part != 0).unwrap_or(parts.len() - 1),
        false => parts.len().min(2) - 1,
    };
    let mut next: Vec<String> = parts[..kept].iter().map(u64::to_string).collect();
    next.push(parts[kept].checked_add(1)?.to_string());
    Some(format!(">={number},<{}", next.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_as_pip_reads_them() {
        for (version, wanted) in [
            ("", "one"),
            ("1.26.4", "one==1.26.4"),
            (">=1.10,<2", "one>=1.10,<2"),
            ("^4.41", "one>=4.41,<5"),
            ("^0.2.3", "one>=0.2.3,<0.3"),
            ("^0.0", "one>=0.0,<0.1"),
            ("~1.2.3", "one>=1.2.3,<1.3"),
            ("~1", "one>=1,<2"),
            ("~=1.2", "one~=1.2"),
        ] {
            assert_eq!(requirement(&Wanted::new("one", version, 1)).as_deref(), Ok(wanted), "{version}");
        }
        for version in ["1||2", "^1.x", "latest"] {
            assert!(requirement(&Wanted::new("one", version, 1)).unwrap_err().contains(version));
        }
    }
}
