//! Packages that nothing is solved with, as every format that installs packages writes them: what `[packages]` asks for,
//! and what the locked wheels need that their metadata does not say.

use std::collections::BTreeMap;

use crate::lock::Lock;
use crate::types::Specifier;

use super::format::{Options, Targets};
use super::{ExportError, valid};

/// A package and what is asked for of it.
pub type Asked = (String, Specifier);

/// What stands above such packages, where a format has comments.
pub const NOTE: &str = "As [packages] and the pins require them: the installer chooses the release.";

/// What a target asks for, by name; two who ask for one package are one entry. What `[packages]` says stands as it is
/// written: where no release is what the pins need too, which the lock warned of, their need gives way.
pub fn of(lock: &Lock, target: &str) -> Result<Vec<Asked>, ExportError> {
    let mut all = written(lock)?;
    let present = lock.target.get(target).into_iter().flat_map(|target| &target.asks);
    for (name, asked) in needed(lock.wheels_of(target).flat_map(|wheel| &wheel.asks).chain(present))? {
        let both = match all.remove(&name) {
            Some(written) if written.excludes(&asked) => written,
            Some(written) => written.and(&asked),
            None => asked,
        };
        all.insert(name, both);
    }
    Ok(all.into_iter().collect())
}

/// What `[packages]` asks for.
pub fn written(lock: &Lock) -> Result<BTreeMap<String, Specifier>, ExportError> {
    let mut all = BTreeMap::new();
    for (name, asked) in lock.packages() {
        all.insert(valid::package(name)?.to_string(), valid::specifier(asked)?);
    }
    Ok(all)
}

/// What is locked needs.
fn needed<'a>(asks: impl Iterator<Item = &'a String>) -> Result<BTreeMap<String, Specifier>, ExportError> {
    let mut all: BTreeMap<String, Specifier> = BTreeMap::new();
    for text in asks {
        let (name, asked) = valid::requirement(text)?;
        let both = all.remove(name).map_or(asked.clone(), |known| known.and(&asked));
        all.insert(name.to_string(), both);
    }
    Ok(all)
}

/// One requirement each.
pub fn lines(asked: &[Asked]) -> Vec<String> {
    asked.iter().map(|(name, asked)| asked.of(name)).collect()
}

/// What a format leaves out, in words for whoever runs it.
pub fn left_out(lock: &Lock, targets: &Targets, format: &str, options: &Options) -> Option<String> {
    let why = match format {
        "pylock" => {
            "it names files, not ranges: `gpuenv export uv` and `uv export --format pylock.toml` make one with all"
        }
        "requirements" if options.has("hashes") => "no sha256 is known here: install what is missing afterwards",
        _ => return None,
    };
    let mut names: Vec<String> = Vec::new();
    for (target, _) in targets {
        names.extend(lines(&of(lock, target).ok()?));
    }
    names.sort_unstable();
    names.dedup();
    (!names.is_empty())
        .then(|| format!("{} {} not in it, for {why}", names.join(", "), if names.len() == 1 { "is" } else { "are" }))
}
