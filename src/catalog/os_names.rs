//! Operating systems as /etc/os-release, shops and people name them: `CentOS Linux 7 (Core)`, `Ubuntu 18.04.6 LTS`, `ubuntu22`.

use super::rows::Os;
use super::tables::Catalog;
use crate::types::Version;

/// Longer names are no systems, and reading them costs time.
const MAX_NAME: usize = 128;
/// No family has a name of more words: `SUSE Linux Enterprise Server`.
const MAX_WORDS: usize = 5;

/// What a name means that is none of the catalog's spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OsName<'c> {
    /// The system that this spelling is of, which says its release.
    Spelling(&'c str, &'c Os),
    /// A family alone, or several of its releases: theirs, the newest first.
    Several(Vec<&'c str>),
    /// A release that is not listed of a family that is, and the nearest older one: its C library and compiler are no older. Of
    /// what takes only packages of its own also the oldest.
    Relative(&'c Os),
    /// A release from before all that are listed of its family, and the oldest of these: its C library is no newer.
    Older(&'c Os),
    /// Nothing that is listed.
    Stranger,
}

impl Os {
    /// The images that a name of the system means: `rockylinux9` where it is called `rocky9`, and the first of them, `ubi9`,
    /// where it is called as none of them is, `rhel9`.
    pub fn preferred_image(&self, name: &str) -> Option<&str> {
        let plain = |name: &str| name.to_ascii_lowercase().replace("linux", "");
        let mut images = self.images.iter().map(|image| &**image);
        images.clone().find(|image| plain(image) == plain(name)).or_else(|| images.next())
    }
}

impl Os {
    /// What is written for it where it is called so: a name that another family has for it, and its own else.
    pub fn as_called(&self, name: &str) -> &str {
        let family = |text: &str| parted(self, text).family;
        let alias = self.aliases.iter().find(|alias| ***alias == *name && family(alias) != family(&self.id));
        alias.unwrap_or(&self.id)
    }
}

/// A spelling of the catalog's in its parts.
struct Spelling<'c> {
    row: &'c Os,
    text: &'c str,
    family: String,
    release: Option<Version>,
}

impl Spelling<'_> {
    /// Whether it is what its row is called by this family: its id, if that names it.
    fn is_first(&self) -> bool {
        let is_id = self.text == &*self.row.id;
        self.row.refused.is_none() && (is_id || parted(self.row, &self.row.id).family != self.family)
    }
}

impl Catalog {
    /// What a name means that is none of the catalog's spellings: the words of a family in it, and the number behind them.
    pub fn os_named(&self, name: &str) -> OsName<'_> {
        let written = families(&words(name));
        let all = self.oses.iter().flat_map(|row| {
            let texts = [&*row.id].into_iter().chain(row.aliases.iter().map(|alias| &**alias));
            texts.map(move |text| parted(row, text))
        });
        let of_name = |known: &Spelling<'_>| written.iter().find(|(family, _)| *family == known.family).cloned();
        let known: Vec<(Spelling<'_>, Option<Version>)> =
            all.filter_map(|known| of_name(&known).map(|(_, asked)| (known, asked))).collect();
        let is_meant = |(known, asked): &&(Spelling<'_>, Option<Version>)| match (&known.release, asked) {
            (None, _) => true,
            (Some(release), Some(asked)) => begins_with(asked, release) && !is_other_point(known.row, release, asked),
            (Some(_), None) => false,
        };
        let weight = |known: &Spelling<'_>| {
            (known.release.is_some(), known.family.len(), known.release.map_or(0, |release| release.len()))
        };
        if let Some((meant, _)) = known.iter().filter(is_meant).max_by_key(|(known, _)| weight(known)) {
            let text = if meant.release.is_some() { meant.text } else { &meant.row.id };
            return OsName::Spelling(text, meant.row);
        }
        let longest = known.iter().map(|(known, _)| known.family.len()).max().unwrap_or(0);
        let mut family: Vec<&(Spelling<'_>, Option<Version>)> =
            known.iter().filter(|(known, _)| known.family.len() == longest && known.is_first()).collect();
        // Leap 42 came before Leap 15: the C library tells.
        crate::types::sort_by_key(&mut family, |(known, _)| std::cmp::Reverse((known.row.glibc, known.release)));
        // A number that is only the beginning of theirs says no more than the family's name.
        let begins = |(known, asked): &&&(Spelling<'_>, Option<Version>)| match (&known.release, asked) {
            (Some(release), Some(asked)) => release.len() > asked.len() && release.cmp_prefix(asked).is_eq(),
            _ => asked.is_none(),
        };
        let several: Vec<&str> = family.iter().filter(begins).map(|(known, _)| known.text).collect();
        if !several.is_empty() {
            return OsName::Several(several);
        }
        match (family.iter().find(|(known, asked)| known.release <= *asked), family.last()) {
            (Some((known, _)), _) => OsName::Relative(known.row),
            (None, Some((known, _))) => OsName::Older(known.row),
            (None, None) => OsName::Stranger,
        }
    }
}

/// Whether a row is of one point release, `sles16` of 16.0, and another one is asked for, 16.1: which nobody has listed.
fn is_other_point(row: &Os, release: &Version, asked: &Version) -> bool {
    let texts = std::iter::once(&row.id).chain(row.aliases.iter());
    let points = texts.filter_map(|text| parted(row, text).release).filter(|point| point.len() > release.len());
    let points: Vec<Version> = points.filter(|point| begins_with(point, release)).collect();
    let is_told = |point: &Version| point.len() <= asked.len();
    points.iter().any(is_told) && !points.iter().any(|point| begins_with(asked, point))
}

fn begins_with(number: &Version, beginning: &Version) -> bool {
    beginning.len() <= number.len() && number.cmp_prefix(beginning).is_eq()
}

fn parted<'c>(row: &'c Os, text: &'c str) -> Spelling<'c> {
    let words = words(text);
    let family = words.iter().filter(|word| !is_number(word)).map(String::as_str).collect();
    let release = words.iter().rev().find(|word| is_number(word)).and_then(|number| Version::parse(number).ok());
    Spelling { row, text, family, release }
}

/// The letters and the numbers of a name; a service pack is a part of its number: `15 SP5` is 15.5.
fn words(name: &str) -> Vec<String> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut words: Vec<String> = Vec::new();
    let mut glued = false;
    for c in name.to_lowercase().chars().take(MAX_NAME) {
        match words.last_mut().filter(|word| glued && is_number(word) == is_of_number(c)) {
            Some(word) if c.is_alphanumeric() || c == '.' => word.push(c),
            _ if c.is_alphanumeric() => words.push(c.to_string()),
            _ => {}
        }
        glued = c.is_alphanumeric() || c == '.';
    }
    while let Some(at) = words.windows(3).position(|of| is_number(&of[0]) && of[1] == "sp" && is_number(&of[2])) {
        let release = format!("{}.{}", words[at], words[at + 2]);
        words.splice(at..at + 3, [release]);
    }
    words.iter_mut().for_each(|word| word.truncate(word.trim_end_matches('.').len()));
    words
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Every run of words that may name a family, and the number that stands behind it.
fn families(words: &[String]) -> Vec<(String, Option<Version>)> {
    let mut families = Vec::new();
    for from in 0..words.len() {
        let most = words[from..].iter().take(MAX_WORDS).take_while(|word| !is_number(word)).count();
        for to in from + 1..=from + most {
            let number = words[to..].iter().find(|word| is_number(word));
            families.push((words[from..to].concat(), number.and_then(|number| Version::parse(number).ok())));
        }
    }
    families
}

#[cfg(test)]
mod tests;
