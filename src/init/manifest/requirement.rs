//! A requirement as pip writes it: `jax[cuda12]>=0.4; python_version >= "3.10"`.

use crate::types::name;

use super::{OTHER_SYSTEM, Wanted};
use crate::types::marker::on_linux;

/// Reads one; an error is why it is left out.
pub(super) fn read(text: &str, line: usize) -> Result<Wanted, String> {
    let text = text.trim();
    // No name of a package has a slash.
    let has_slash = text.split([' ', ';', '[', '@', '=', '<', '>', '!', '~']).next().is_some_and(|it| it.contains('/'));
    let starts_file = has_slash || text.starts_with('.') || text.contains("://") && !text.contains('@');
    let is_wheel = text.split([';', ' ']).next().is_some_and(|file| file.ends_with(".whl"));
    let is_address = starts_file || is_wheel || text.starts_with("git+");
    // In an address a semicolon may stand, so its marker has a blank beside it.
    let parted = match is_address {
        true => text.split_once("; ").or_else(|| text.split_once(" ;")),
        false => text.split_once(';'),
    };
    let (head, marker) = match parted {
        Some((head, marker)) => (head.trim(), Some(marker.trim().to_string())),
        None => (text, None),
    };
    // What holds on every Linux is no condition here.
    let marker = marker.filter(|marker| !marker.is_empty());
    let holds = marker.as_deref().and_then(on_linux);
    if holds == Some(false) {
        return Err(OTHER_SYSTEM.to_string());
    }
    let marker = marker.filter(|_| holds.is_none());
    if is_address {
        return Ok(Wanted { marker, ..of_address("", head, line)? });
    }
    let end = head.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(head.len());
    let (name, rest) = (&head[..end], head[end..].trim());
    // A number alone is the value of an option or a slip.
    if !name.contains(|c: char| c.is_ascii_alphabetic()) {
        return Err("it is not a requirement".to_string());
    }
    let (extras, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((extras, rest)) => (extras.split(',').map(name::package).collect(), rest.trim()),
        None => (Vec::new(), rest),
    };
    let wanted = match rest.strip_prefix('@') {
        Some(address) => of_address(name, address.trim(), line)?,
        None => {
            let version = rest.trim_start_matches('(').trim_end_matches(')');
            Wanted::new(name, &comparisons(version)?, line)
        }
    };
    Ok(Wanted { extras, marker, written: text.to_string(), ..wanted })
}

/// Comparisons without the blanks in them; an error says what pip cannot read.
fn comparisons(text: &str) -> Result<String, String> {
    const SIGNS: [&str; 8] = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];
    let one = |part: &str| {
        let (sign, version) =
            SIGNS.iter().find_map(|sign| Some((*sign, part.trim().strip_prefix(sign)?.trim()))).unwrap_or_default();
        // `v1.0` is 1.0 to pip.
        let plain = version.strip_prefix(['v', 'V']).filter(|plain| plain.starts_with(|c: char| c.is_ascii_digit()));
        let version = plain.unwrap_or(version);
        let is_version = |c: char| c.is_ascii_alphanumeric() || ".*+!_-${}".contains(c);
        let is_read = !sign.is_empty() && !version.is_empty() && version.chars().all(is_version);
        is_read.then(|| format!("{sign}{version}"))
    };
    let parts: Option<Vec<String>> = text.split(',').map(one).collect();
    match parts {
        _ if text.trim().is_empty() => Ok(String::new()),
        Some(parts) => Ok(parts.join(",")),
        None => Err(format!("pip cannot read `{text}`: between commas it takes an operator, as `==`, and one version")),
    }
}

/// The name and version in the name of a wheel; of any other address nobody could tell what it holds.
fn of_address(name: &str, address: &str, line: usize) -> Result<Wanted, String> {
    let path = address.split(['#', '?']).next().unwrap_or(address);
    let file = path.rsplit('/').next().unwrap_or(path).replace("%2B", "+").replace("%2b", "+");
    let Some(stem) = file.strip_suffix(".whl") else {
        let is_local = name.is_empty() && !address.contains("://");
        return Err(match is_local {
            true => "a package of this project or of a folder".to_string(),
            false => "it comes from an address, of which the version is not known".to_string(),
        });
    };
    let parts: Vec<&str> = stem.split('-').collect();
    let [of_file, version, tags @ ..] = parts.as_slice() else {
        return Err("its file is not named as wheels are".to_string());
    };
    let name = if name.is_empty() { of_file } else { name };
    let wanted = Wanted::new(name, version, line);
    let written = format!("{} @ {address}", wanted.name);
    Ok(Wanted { written, address: Some(address.to_string()), python: only_python(tags), ..wanted })
}

/// The Python that the tags of a wheel name, where it runs on no other: `3.10` of `cp310-cp310-linux_x86_64`.
fn only_python(tags: &[&str]) -> Option<String> {
    let [.., python, abi, _] = tags else { return None };
    let digits = python.strip_prefix("cp").filter(|_| abi.starts_with("cp"))?;
    let (major, minor) = digits.split_at_checked(1)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests;
