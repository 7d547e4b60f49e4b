//! How a file that gpuenv wrote is told from one that somebody edited since: in its first lines or in its last one it says
//! which command wrote it, with a digest of the rest. What stands at the places for lines of the user's own is not part of
//! it, and is kept.

use sha2::{Digest, Sha256};

/// What exports are written by; the name of the format follows.
pub const EXPORT: &str = "gpuenv export";
/// How far down the command stands at most, else how far from the end.
const HEAD: usize = 600;
const TAIL: usize = 200;

/// Around the digest.
const BEFORE: &str = " (digest ";
const AFTER: &str = ")";
/// Characters of the digest: it tells texts apart and is no defence.
const LENGTH: usize = 16;

/// Around the lines of the user's own; the name of the place stands between the first two.
const BEGIN: &str = "Your lines for ";
const KEPT: &str = " go below this one: gpuenv keeps them when it writes this file again.";
const END: &str = "Here they end.";

/// Whose a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// As gpuenv wrote it, but for what stands at the places for lines of the user's own.
    Ours,
    /// Written by gpuenv and changed since; or by one that left no digest.
    Edited,
    /// Somebody else's.
    Theirs,
}

/// Whose the text of a file is, for a command that would write there. How lines end, and blanks there, are a matter of tools
/// and make no difference.
pub fn whose(text: &str, command: &str) -> Whose {
    let Some(at) = place_of_seal(text, command) else { return Whose::Theirs };
    match seal_at(text, at) {
        Some((digest, rest)) if digest == digest_of(&rest) => Whose::Ours,
        _ => Whose::Edited,
    }
}

/// A text that says which command wrote it, with its digest.
pub fn sealed(text: String, command: &str) -> String {
    match place_of_seal(&text, command) {
        Some(at) => format!("{}{BEFORE}{}{AFTER}{}", &text[..at], digest_of(&text), &text[at..]),
        None => text,
    }
}

/// Where a text that does not say who wrote it has room for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// It says so by itself.
    None,
    /// In a last line, between these signs.
    Line(&'static str, &'static str),
    /// In the last member of the last document, [`WRITTEN`].
    Member,
    /// In the last row of a further column of that name: such tables have no other.
    Column,
}

/// The member, or the column, that says who wrote a file.
pub const WRITTEN: &str = "written";

/// The same of a report, which says it where it has room.
pub fn signed(text: &str, command: &str, room: Room) -> String {
    let by = format!("by `{command}`");
    let text = match room {
        Room::None => text.to_string(),
        Room::Line(before, after) => format!("{text}{before}Written {by}{after}\n"),
        Room::Member => {
            let text = text.trim_end();
            let body = text.strip_suffix('}').unwrap_or(text);
            let (begin, blank, end) = if body.ends_with('\n') { ("\n  ", " ", "\n") } else { ("", "", "") };
            format!("{},{begin}\"{WRITTEN}\":{blank}\"{by}\"{end}}}\n", body.trim_end())
        }
        Room::Column => {
            let rows = text.trim_end().replace('\n', ",\n");
            format!("{},{by}\n", rows.replacen(",\n", &format!(",{WRITTEN}\n"), 1))
        }
    };
    sealed(text, command)
}

/// The two lines around a place for lines of the user's own, without the sign of a comment.
pub fn place(name: &str) -> String {
    format!("{BEGIN}{name}{KEPT}\n{END}")
}

/// A new text with what the user wrote into the old one; the name of a place that the new one no longer has, if the old
/// one has lines there.
pub fn carried(old: &str, new: &str) -> Result<String, String> {
    let mut own = places(old);
    own.retain(|(_, lines)| lines.iter().any(|line| !line.trim().is_empty()));
    let mut out = String::new();
    for line in new.split_inclusive('\n') {
        out += line;
        let Some(at) = name_of(line).and_then(|name| own.iter().position(|(own, _)| *own == name)) else { continue };
        own.remove(at).1.iter().for_each(|line| out += &format!("{}\n", line.trim_end_matches('\r')));
    }
    own.first().map_or(Ok(out), |(name, _)| Err(name.to_string()))
}

/// Behind the name of the command.
fn place_of_seal(text: &str, command: &str) -> Option<usize> {
    let by = format!("by `{command}");
    let head = text.find(&by).filter(|start| *start < HEAD);
    let start = head.or_else(|| text.rfind(&by).filter(|start| start + TAIL > text.len()))? + by.len();
    Some(start + text[start..].find('`')? + 1)
}

/// The digest that a text holds, and the text without it.
fn seal_at(text: &str, at: usize) -> Option<(&str, String)> {
    let digest = text[at..].strip_prefix(BEFORE)?.get(..LENGTH)?;
    let rest = text[at + BEFORE.len() + LENGTH..].strip_prefix(AFTER)?;
    Some((digest, format!("{}{rest}", &text[..at])))
}

fn digest_of(text: &str) -> String {
    let mut hash = Sha256::new();
    let mut is_own = false;
    for line in text.trim_end().lines() {
        is_own &= !is_end(line);
        if !is_own {
            hash.update(line.trim_end());
            hash.update("\n");
        }
        is_own |= name_of(line).is_some();
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>()[..LENGTH].to_string()
}

/// What stands at each place.
fn places(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_own = false;
    for line in text.lines() {
        is_own &= !is_end(line);
        if is_own {
            all.last_mut().into_iter().for_each(|(_, lines)| lines.push(line));
        } else if let Some(name) = name_of(line) {
            all.push((name, Vec::new()));
            is_own = true;
        }
    }
    all
}

/// The place that a line opens.
fn name_of(line: &str) -> Option<&str> {
    comment(line)?.strip_prefix(BEGIN)?.strip_suffix(KEPT)
}

fn is_end(line: &str) -> bool {
    comment(line) == Some(END)
}

fn comment(line: &str) -> Option<&str> {
    line.trim().strip_prefix("# ")
}

#[cfg(test)]
mod tests;
