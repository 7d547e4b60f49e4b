//! A stream of JSON documents of which other programs may have written a name before each line, as `srun -l`, pdsh and
//! clush do: `node7: {"host": …`. The lines of many hosts may be mixed.

use std::collections::BTreeMap;

use super::blocks::is_name;
use super::split::{Piece, Splitter};
use super::text::without_engine;

/// Cuts what it is given line by line.
#[derive(Debug, Default)]
pub struct Labelled {
    plain: Splitter,
    /// Of each name its own lines; none: names are not looked for.
    of_name: Option<BTreeMap<String, Splitter>>,
}

impl Labelled {
    /// With names before the lines, or without.
    pub fn new(has_names: bool) -> Self {
        Labelled { plain: Splitter::default(), of_name: has_names.then(BTreeMap::new) }
    }

    /// Takes a line with its end; gives the documents that it completes.
    pub fn line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        let found = self.of_name.as_mut().and_then(|known| Some((known, split(line)?)));
        let Some((known, (name, rest))) = found else { return self.plain.line(line, pieces) };
        let before = pieces.len();
        if !known.contains_key(name) {
            known.insert(name.to_string(), Splitter::default());
        }
        if let Some(splitter) = known.get_mut(name) {
            splitter.line(rest, pieces);
        }
        pieces[before..].iter_mut().for_each(|piece| piece.name = Some(name.to_string()));
    }

    /// What is left when nothing more comes.
    pub fn end(&mut self, pieces: &mut Vec<Piece>) {
        self.plain.end(pieces);
        for (name, splitter) in self.of_name.iter_mut().flatten() {
            let before = pieces.len();
            splitter.end(pieces);
            pieces[before..].iter_mut().for_each(|piece| piece.name = Some(name.clone()));
        }
    }
}

/// Whether a document begins on a line behind a name.
pub fn begins_labelled(line: &[u8]) -> bool {
    split(line).is_some_and(|(_, rest)| rest.starts_with(b"{\"") || rest.trim_ascii() == b"{")
}

/// The name before a line, and the line.
fn split(line: &[u8]) -> Option<(&str, &[u8])> {
    // A line of a record is long, and its name short.
    let head = &line[..line.len().min(300)];
    let valid = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let told = without_engine(valid);
    let (name, _) = told.split_once(':')?;
    let rest = &line[valid.len() - told.len() + name.len() + 1..];
    is_name(name).then(|| (name, rest.strip_prefix(b" ").unwrap_or(rest)))
}

#[cfg(test)]
mod tests;
