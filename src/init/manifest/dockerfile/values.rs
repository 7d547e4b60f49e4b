//! The values of arguments and variables in the words of a Dockerfile.

use super::super::pip;
use super::super::shell::{MOST_DEEP, bare, commands, inside, piece, words};
use super::{FILLED_CAP, Reader};
use crate::types::CpuArch;

/// Words as a program is given them, and those of them of which a part is not known, each with the reason.
#[derive(Default)]
pub(super) struct Filled {
    pub words: Vec<String>,
    pub unknown: Vec<(String, String)>,
}

impl Filled {
    /// What is known of the words from a place on, and what is told of the others.
    pub fn known(&self, from: usize) -> (Vec<String>, Vec<(String, String)>) {
        let (mut known, mut told) = (Vec::<String>::new(), Vec::new());
        for word in &self.words[from..] {
            match (self.unknown.iter().find(|(unknown, _)| unknown == word), word.split_once('+')) {
                (None, _) => known.push(word.clone()),
                // `torch==2.1.2+cu$CUDA`: the version is known, the build of it is not.
                (Some((_, why)), Some((version, _))) if version.contains("==") && !version.contains('$') => {
                    known.push(version.to_string());
                    told.push((word.clone(), format!("taken without its build: {why}")));
                }
                (Some(one), _) => {
                    // An option without its value would take the next word for it.
                    let option = known.pop_if(|before| before.starts_with('-') && !before.contains('='));
                    let option = option.as_deref().or(word.split('=').next()).unwrap_or_default();
                    if !pip::says_nothing(option) {
                        told.push(one.clone());
                    }
                }
            }
        }
        (known, told)
    }
}

/// Words that are being made of one that is written.
struct Out {
    words: Vec<String>,
    word: Option<String>,
    /// Whether blanks in values part words.
    splits: bool,
}

impl Out {
    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    /// Adds the value of something that stands outside of quotes.
    fn value(&mut self, value: &str) {
        if !self.splits {
            return self.push(value);
        }
        for (at, part) in value.split(char::is_whitespace).enumerate() {
            if at > 0 {
                self.words.extend(self.word.take());
            }
            if !part.is_empty() {
                self.push(part);
            }
        }
    }
}

impl Reader {
    /// Words that are written, as a program is given them.
    pub(super) fn each_filled(&self, words: &[String]) -> Filled {
        let (mut filled, stage) = (Filled::default(), self.stages.len().checked_sub(1));
        for word in words {
            let mut out = Out { words: Vec::new(), word: None, splits: true };
            match self.fill(word, stage, 0, &mut out) {
                Ok(()) => filled.words.extend(out.words.into_iter().chain(out.word)),
                Err(why) => {
                    filled.words.push(bare(word));
                    filled.unknown.push((bare(word), why));
                }
            }
        }
        filled
    }

    /// The value that is known of an argument or a variable in a stage: that of the platform, its own, that of the stages it is
    /// built on, or that of the whole file.
    pub(super) fn value(&self, name: &str, mut stage: Option<usize>) -> Option<String> {
        let arch = if self.arch == Some(CpuArch::Aarch64) { "arm64" } else { "amd64" };
        match name {
            "TARGETARCH" | "BUILDARCH" => return Some(arch.to_string()),
            "TARGETPLATFORM" | "BUILDPLATFORM" => return Some(format!("linux/{arch}")),
            _ => {}
        }
        while let Some(of) = stage.map(|at| &self.stages[at]) {
            if let Some(own) = of.values.get(name) {
                return own.clone();
            }
            stage = of.on;
        }
        self.values.get(name).cloned()
    }

    /// Sets the value in the stage at hand, or that of the whole file.
    pub(super) fn put(&mut self, name: &str, value: Option<String>) {
        match (self.stages.last_mut(), value) {
            (Some(stage), value) => drop(stage.values.insert(name.to_string(), value)),
            (None, Some(value)) => drop(self.values.insert(name.to_string(), value)),
            (None, None) => drop(self.values.remove(name)),
        }
    }

    /// A word with the arguments in it replaced; an error says why one cannot be.
    pub(super) fn filled(&self, word: &str) -> Result<String, String> {
        self.filled_on(word, self.stages.len().checked_sub(1))
    }

    /// The same in some stage; none: before them all.
    pub(super) fn filled_on(&self, word: &str, stage: Option<usize>) -> Result<String, String> {
        self.filled_within(word, stage, 0)
    }

    /// The same within some braces.
    fn filled_within(&self, word: &str, stage: Option<usize>, depth: usize) -> Result<String, String> {
        let mut out = Out { words: Vec::new(), word: None, splits: false };
        self.fill(word, stage, depth, &mut out)?;
        Ok(out.word.unwrap_or_default())
    }

    /// Takes the quotes off a word and fills in what stands behind a `$`, in the order of the shell.
    fn fill(&self, word: &str, stage: Option<usize>, depth: usize, out: &mut Out) -> Result<(), String> {
        let mut rest = word;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(piece(rest, 0));
            rest = behind;
            match piece.as_bytes()[0] {
                b'\\' => out.push(&piece[1..]),
                b'\'' => out.push(inside(piece)),
                b'"' => out.push(&self.between_quotes(inside(piece), stage, depth)?),
                b'$' => {
                    let (value, behind) = self.behind_dollar(piece, behind, stage, depth)?;
                    out.value(&value);
                    rest = behind;
                }
                b'`' => out.value(&self.printed(inside(piece), stage, depth)?),
                _ => out.push(piece),
            }
        }
        Ok(())
    }

    /// What stands between double quotes, where single ones and blanks are letters.
    fn between_quotes(&self, text: &str, stage: Option<usize>, depth: usize) -> Result<String, String> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(c) = rest.chars().next() {
            let length = if "'\"".contains(c) { 1 } else { piece(rest, 0) };
            let (piece, behind) = rest.split_at(length);
            rest = behind;
            match c {
                '\\' if piece[1..].starts_with(['$', '"', '\\', '`']) => out += &piece[1..],
                '$' => {
                    let (value, behind) = self.behind_dollar(piece, behind, stage, depth)?;
                    out += &value;
                    rest = behind;
                }
                '`' => out += &self.printed(inside(piece), stage, depth)?,
                _ => out += piece,
            }
        }
        Ok(out)
    }

    /// The value of what begins with a `$`, and what stands behind it.
    fn behind_dollar<'t>(
        &self,
        piece: &str,
        behind: &'t str,
        stage: Option<usize>,
        depth: usize,
    ) -> Result<(String, &'t str), String> {
        if let Some(command) = piece.strip_prefix("$(") {
            let command = command.strip_suffix(')').unwrap_or(command);
            return Ok((self.printed(command, stage, depth)?, behind));
        }
        let (name, word, behind) = match piece.strip_prefix("${") {
            Some(inner) => {
                let inner = inner.strip_suffix('}').filter(|_| depth < MOST_DEEP);
                let inner = inner.ok_or_else(|| format!("the argument {} has no `}}`", &piece[1..]))?;
                // `${CUDA//./}`
                if let Some((name, change)) = inner.split_once("//")
                    && let Some((old, new)) = change.split_once('/')
                    && let Some(value) = self.value(name, stage).filter(|_| !old.is_empty() && new.is_empty())
                {
                    return Ok((value.replace(old, ""), behind));
                }
                let (name, word) = inner.split_at(inner.find(':').unwrap_or(inner.len()));
                (name, word, behind)
            }
            None => {
                let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(behind.len());
                (&behind[..end], "", &behind[end..])
            }
        };
        if name.is_empty() && !behind.starts_with(['!', '#', '$', '*', '-', '?', '@']) {
            return Ok(("$".to_string(), behind));
        }
        // For `:-` and `:+` an empty value is none.
        let known = self.value(name, stage).filter(|known| word.is_empty() || !known.is_empty());
        let value = match (known, word.get(..2)) {
            (Some(_), Some(":+")) | (None, Some(":-")) => self.filled_within(&word[2..], stage, depth + 1)?,
            (None, Some(":+")) => String::new(),
            (Some(known), _) => known,
            (None, _) if name.is_empty() => return Err(OF_COMMAND.to_string()),
            (None, _) => return Err(format!("the value of {name} is not in this file")),
        };
        self.filled.update(|filled| filled + value.len());
        if self.filled.get() > FILLED_CAP {
            return Err(format!("the arguments of this file hold more than {} MiB", FILLED_CAP >> 20));
        }
        Ok((value, behind))
    }

    /// What a command prints: the name of the processor, or a value of which letters are taken out.
    fn printed(&self, command: &str, stage: Option<usize>, depth: usize) -> Result<String, String> {
        let unknown = || OF_COMMAND.to_string();
        let (all, mut printed) = (words(command), String::new());
        for (at, one) in commands(&all).iter().filter(|_| depth < MOST_DEEP).enumerate() {
            let mut each = Vec::new();
            for word in one.words {
                each.push(self.filled_within(word, stage, depth + 1)?);
            }
            let each: Vec<&str> = each.iter().map(String::as_str).collect();
            printed = match each[..] {
                ["arch"] | ["uname", "-m" | "-p" | "-i"] if at == 0 => self.arch.unwrap_or(CpuArch::X86_64).to_string(),
                ["dpkg", "--print-architecture"] if at == 0 => self.value("TARGETARCH", None).ok_or_else(unknown)?,
                ["echo", ref words @ ..] if at == 0 => words.join(" "),
                ["tr", "-d", letters] => printed.replace(|c| letters.contains(c), ""),
                ["cut", ref options @ ..] => cut(&printed, &options.concat()).ok_or_else(unknown)?,
                _ => return Err(unknown()),
            };
            if one.end != "|" && at + 1 < commands(&all).len() {
                return Err(unknown());
            }
        }
        Some(printed).filter(|printed| !printed.is_empty()).ok_or_else(unknown)
    }
}

const OF_COMMAND: &str = "a command gives its value";

/// The fields that `cut -d. -f1,2` prints.
fn cut(text: &str, options: &str) -> Option<String> {
    let (mark, fields) = options.strip_prefix("-d")?.split_once("-f")?;
    let bound = |word: &str| word.parse::<usize>().ok().filter(|field| *field > 0);
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => Some((bound(first).unwrap_or(1), bound(last).unwrap_or(usize::MAX))),
        None => bound(part).map(|field| (field, field)),
    };
    let ranges: Option<Vec<_>> = fields.split(',').map(range).collect();
    let ranges = ranges.filter(|_| mark.chars().count() == 1)?;
    let is_in = |at: &usize| ranges.iter().any(|(first, last)| (first..=last).contains(&at));
    let kept = text.split(mark).enumerate().filter(|(at, _)| is_in(&(at + 1))).map(|(_, field)| field);
    Some(kept.collect::<Vec<_>>().join(mark))
}
