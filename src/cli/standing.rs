//! What becomes of a file that stands where an export goes: gpuenv's own is replaced, what somebody else wrote is kept.

use std::borrow::Cow;
use std::path::Path;

use crate::export::{self, ExportError, Merge, Merged, Whose};
use crate::report::{Exit, Failure};

use super::files;
use super::project::shown;

/// No file that is merged into, or compared with, is larger.
const MAX_BYTES: u64 = 16 << 20;

/// What an export does to what stands there.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Puts the text into a file that people wrote.
    pub merge: Option<Merge>,
    /// Nothing is written, so that nothing can be lost.
    pub compares: bool,
    /// `--force`
    pub force: bool,
    /// The file is named by `[export]` and not by `-o`.
    pub of_spec: bool,
}

impl Way {
    /// How to have it elsewhere.
    fn elsewhere(self) -> &'static str {
        if self.of_spec { "name another file under [export]" } else { "name another with -o" }
    }
}

/// What is to be written.
pub struct Content {
    /// The text; none where the file says so already.
    pub text: Option<String>,
    /// What is to be told of it.
    pub notes: Vec<String>,
    /// What the command that comes next has to say for it.
    pub argument: Option<String>,
}

/// What becomes of what stands there.
pub fn content(path: &Path, text: &str, way: Way) -> Result<Content, Failure> {
    // What is no file of ours to read (a device, a pipe) is written to as it was asked for.
    if !path.is_file() {
        return Ok(Content { text: Some(text.to_string()), notes: Vec::new(), argument: None });
    }
    let bytes = files::read(path, MAX_BYTES + 1)?;
    if bytes.len() as u64 > MAX_BYTES && (way.merge.is_some() || !way.force) {
        let message = format!("{} is larger than {} MiB, the most that is read of it", shown(path), MAX_BYTES >> 20);
        let help = format!("make it shorter, or {}", way.elsewhere());
        return Err(Failure::new(Exit::BadInput, "too-large", message).help(help));
    }
    let old = String::from_utf8_lossy(&bytes);
    let Merged { text: new, notes, argument } = match way.merge {
        Some(_) if matches!(old, Cow::Owned(_)) => {
            let message = format!("{} is not UTF-8, and what is not could not be kept", shown(path));
            let help = format!("save it as UTF-8, or {}", way.elsewhere());
            return Err(Failure::new(Exit::BadInput, "encoding", message).help(help));
        }
        // `--force` too replaces nothing of what others wrote there.
        Some(merge) if !old.trim().is_empty() => merged(merge, &old, text, path)?,
        Some(_) => Merged { text: text.to_string(), ..Merged::default() },
        None => Merged { text: replaced(&old, text, path, way)?, ..Merged::default() },
    };
    Ok(Content { text: (old != new).then_some(new), notes, argument })
}

/// The new text of a file that is not merged into, with the lines of the user's own in it.
fn replaced(old: &str, new: &str, path: &Path, way: Way) -> Result<String, Failure> {
    let exists = |message: String, help: String| Failure::new(Exit::BadInput, "exists", message).help(help);
    let own = export::carried(old, new);
    if old.trim().is_empty() || way.force || way.compares {
        // Lines without a place are what `--force` gives up.
        return Ok(own.unwrap_or_else(|_| new.to_string()));
    }
    let name = shown(path);
    let or = format!("{}, or replace it with --force", way.elsewhere());
    match (export::whose(old, export::EXPORT), own) {
        (Whose::Ours, Ok(text)) => Ok(text),
        (Whose::Ours, Err(place)) => Err(exists(
            format!("{name} has lines of yours for {place}, which the new file has no place for"),
            format!("move them to a file of your own, then remove them there; or {or}"),
        )),
        (Whose::Edited, _) => Err(exists(
            format!("{name} was edited after gpuenv wrote it, and the edits would be lost"),
            format!("move your lines to a file of your own; or {or}"),
        )),
        (Whose::Theirs, _) => Err(exists(format!("{name} exists already, and gpuenv did not write it"), or)),
    }
}

/// What others wrote keeps its bytes: the mark in front, and the ends of its lines where they are all alike.
fn merged(merge: Merge, old: &str, rendered: &str, path: &Path) -> Result<Merged, Failure> {
    const MARK: &str = "\u{feff}";
    let (mark, text) = old.strip_prefix(MARK).map_or(("", old), |text| (MARK, text));
    let merged = merge(text, rendered, &shown(path)).map_err(refused)?;
    let new = &merged.text;
    let is_dos = text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
    let new = if is_dos { &new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new };
    Ok(Merged { text: format!("{mark}{new}"), ..merged })
}

/// Why an export was not written.
pub fn refused(error: ExportError) -> Failure {
    let exit = match error {
        ExportError::UnknownHash(_) | ExportError::UnknownAddress(_) | ExportError::AddressWithoutHash(_) => {
            Exit::Unknown
        }
        _ => Exit::BadInput,
    };
    Failure::of_export(exit, &error)
}
