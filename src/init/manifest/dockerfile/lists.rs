//! Which files of the project the lists in an image are: by what name they are copied there, and what commands make of them.

use regex::bytes::{Regex, RegexBuilder};

use super::super::order::{Edit, List};
use super::super::shell::{file_name, shown};
use super::super::{MOST, extras};
use super::Reader;

/// A file in the image, or what a command prints.
#[derive(Clone, Default)]
pub(super) struct Made {
    path: String,
    /// The file of the project that it is made of.
    source: String,
    edits: Vec<Edit>,
}

impl Made {
    fn bounded(mut self) -> Made {
        if self.edits.len() > MOST_EDITS {
            self.edits.truncate(MOST_EDITS);
            self.edits.iter_mut().for_each(|edit| edit.lines = None);
        }
        self
    }
}

/// What reads what the command before it prints.
const STDIN: [&str; 3] = ["-", "/dev/stdin", "/proc/self/fd/0"];
/// No file is changed more often; what is left of one that is, nobody reads.
const MOST_EDITS: usize = 50;
/// No more patterns are compiled of a file, and none that is larger then.
const MOST_PATTERNS: usize = 500;
const MOST_PATTERN: usize = 1 << 16;

impl Reader {
    /// A list by its name in the image.
    pub(super) fn placed(&self, list: List, at: usize) -> List {
        if list.is_project {
            return List { at, ..list };
        }
        let Made { source: file, edits, .. } = self.made(&list.file);
        List { at, file, edits, ..list }
    }

    /// What a path stands for, by the last command that made it.
    fn made(&self, path: &str) -> Made {
        let path = path.trim_start_matches("./");
        let ends =
            |one: &str, other: &str| one.strip_suffix(other).is_some_and(|it| it.is_empty() || it.ends_with('/'));
        let piped = self.piped.clone().filter(|_| STDIN.contains(&path));
        let of_files = || self.files.iter().rev().find(|it| ends(&it.path, path) || ends(path, &it.path)).cloned();
        let source = || Made { path: path.to_string(), source: path.to_string(), edits: Vec::new() };
        piped.or_else(of_files).unwrap_or_else(source)
    }

    /// Files that are copied, from the project or within the image.
    pub(super) fn copied(&mut self, paths: &[String], target: &str, is_of_project: bool) {
        let has_ending = |path: &str| file_name(path).trim_start_matches('.').contains('.');
        let is_folder = paths.len() > 1 || target.ends_with('/') || !has_ending(target);
        for path in paths.iter().filter(|path| has_ending(path)) {
            let made = match is_of_project {
                true => Made { source: path.clone(), ..Made::default() },
                false => self.made(path),
            };
            let folder = target.trim_end_matches('/').trim_start_matches('.');
            let place = if is_folder { format!("{folder}/{}", file_name(path)) } else { target.to_string() };
            self.put_file(Made { path: place.trim_start_matches("./").to_string(), ..made });
        }
    }

    fn put_file(&mut self, made: Made) {
        if self.files.len() <= MOST {
            self.files.push(made.bounded());
        }
    }

    /// What a command that installs nothing makes of files, or prints of them.
    pub(super) fn makes(&mut self, words: &[String], writes: &str, line: usize) {
        let Some(program) = words.first().map(|word| file_name(word)) else { return };
        let plain = || words[1..].iter().filter(|word| !word.starts_with('-')).cloned();
        match program {
            "cp" | "mv" => {
                let mut paths: Vec<String> = plain().collect();
                let target = paths.pop().unwrap_or_default();
                self.copied(&paths, &target, false);
            }
            "cd" | "git" | "pushd" => self.is_away = true,
            "cat" => {
                let path = plain().next().unwrap_or_default();
                self.prints(self.made(&path), writes);
            }
            "grep" | "egrep" | "fgrep" | "sed" => {
                let call = Call::of(program, &words[1..]);
                let by = shown(words);
                self.patterns += call.patterns.len();
                let is_few = self.patterns <= MOST_PATTERNS;
                let edits = if is_few { call.edits(program) } else { vec![(None, false)] };
                let edits = edits.into_iter().map(|(lines, is_kept)| Edit { lines, is_kept, by: by.clone(), line });
                let edits: Vec<Edit> = edits.collect();
                let paths = if call.files.is_empty() { vec![STDIN[0].to_string()] } else { call.files };
                for path in paths {
                    let mut made = self.made(&path);
                    made.edits.extend(edits.iter().cloned());
                    match call.in_place {
                        true => self.put_file(Made { path, ..made }),
                        false => self.prints(made, writes),
                    }
                }
            }
            _ => self.exports(words, writes),
        }
    }

    /// Lists that tools make of a project: `uv export --extra a -o r.txt`, `uv pip compile pyproject.toml -o r.txt`.
    fn exports(&mut self, words: &[String], writes: &str) {
        let is_tool = |word: &String| ["uv", "poetry", "pdm", "pip-compile"].contains(&file_name(word));
        let is_verb = |word: &String| ["export", "compile", "pip-compile"].contains(&file_name(word));
        if !words.first().is_some_and(is_tool) || !words.iter().take(3).any(is_verb) {
            return;
        }
        let mut output = words.iter().skip_while(|word| !["-o", "--output", "--output-file"].contains(&word.as_str()));
        let glued =
            words.iter().find_map(|word| word.strip_prefix("--output-file=").or(word.strip_prefix("--output=")));
        let output = glued.or_else(|| output.nth(1).map(String::as_str)).unwrap_or(writes).to_string();
        let is_source = |word: &&String| [".in", ".toml"].iter().any(|ending| word.ends_with(ending));
        let source = words.iter().find(is_source).cloned().unwrap_or_else(|| "pyproject.toml".to_string());
        if let Some(stage) = self.stages.last_mut() {
            stage.found().installs.extend(extras::of_sync(words));
        }
        self.prints(Made { source, ..Made::default() }, &output);
    }

    /// What a command prints goes into a file or to the next command.
    fn prints(&mut self, made: Made, writes: &str) {
        match writes {
            "" => self.piped = Some(made.bounded()),
            path => self.put_file(Made { path: path.trim_start_matches("./").to_string(), ..made }),
        }
    }
}

/// The words of sed or grep.
#[derive(Default)]
struct Call {
    /// The letters of all options.
    letters: String,
    patterns: Vec<String>,
    files: Vec<String>,
    in_place: bool,
}

impl Call {
    fn of(program: &str, words: &[String]) -> Call {
        let (mut call, mut words) = (Call::default(), words.iter());
        while let Some(word) = words.next() {
            match word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                Some("e" | "-expression" | "-regexp") => call.patterns.extend(words.next().cloned()),
                Some("-in-place") => call.in_place = true,
                Some("-invert-match") => call.letters.push('v'),
                Some(letters) if letters.starts_with('-') => {}
                // A suffix may stand behind `-i` of sed: `-i.bak`.
                Some(letters) => {
                    let own = letters.split('i').next().unwrap_or_default();
                    call.in_place |= program == "sed" && own.len() < letters.len();
                    call.letters += if program == "sed" { own } else { letters };
                    if letters.ends_with('e') && (program != "sed" || own.len() == letters.len()) {
                        call.patterns.extend(words.next().cloned());
                    }
                }
                None => call.files.push(word.clone()),
            }
        }
        if call.patterns.is_empty() && !call.files.is_empty() {
            call.patterns.push(call.files.remove(0));
        }
        call
    }

    /// Which lines each pattern takes out or changes, and whether it is those that do not fit it.
    fn edits(&self, program: &str) -> Vec<(Option<Regex>, bool)> {
        let has = |letters: &str| self.letters.contains(|letter| letters.contains(letter));
        if program == "sed" {
            let each = self.patterns.iter().flat_map(|script| script.split([';', '\n'])).map(str::trim);
            let each = each.filter(|one| !one.is_empty());
            return each.map(|one| (of_sed(one, has("Er")).filter(|_| !has("n")), false)).collect();
        }
        let is_extended = program == "egrep" || has("EP");
        let pattern = |one: &String| {
            let text = if program == "fgrep" || has("F") { regex::escape(one) } else { extended(one, is_extended) };
            let text = if has("w") { format!("\\b(?:{text})\\b") } else { text };
            compiled(&text, has("i")).filter(|_| !has("fx"))
        };
        // Of several patterns a line has to fit none, or one.
        let each: Vec<Option<Regex>> = self.patterns.iter().map(pattern).collect();
        match has("v") || each.len() == 1 {
            true => each.into_iter().map(|one| (one, !has("v"))).collect(),
            false => vec![(None, false)],
        }
    }
}

/// The lines that one command of sed takes out or changes: `/x/d`, `s/x/y/`; nothing of others.
fn of_sed(script: &str, is_extended: bool) -> Option<Regex> {
    let (mark, rest) = match script.strip_prefix('s') {
        Some(rest) => (rest.chars().next()?, rest),
        None => ('/', script),
    };
    let rest = rest.strip_prefix(mark)?;
    let mut is_quoted = false;
    let end = rest.find(|c| {
        let is_end = c == mark && !is_quoted;
        is_quoted = c == '\\' && !is_quoted;
        is_end
    })?;
    let what = rest[end + mark.len_utf8()..].trim();
    let is_read = script.starts_with('s') || ["d", "Id"].contains(&what);
    let ignores_case = what.rsplit(mark).next().is_some_and(|flags| flags.contains('I'));
    compiled(&extended(&rest[..end], is_extended), ignores_case).filter(|_| is_read)
}

/// A pattern as one of the extended kind: in others `|`, `+`, `?`, braces and parentheses count behind a backslash.
fn extended(pattern: &str, is_extended: bool) -> String {
    let (mut out, mut letters) = (String::new(), pattern.chars());
    let is_mark = |c: char| !is_extended && "|(){}+?".contains(c);
    while let Some(c) = letters.next() {
        match (c, if c == '\\' { letters.next() } else { None }) {
            (_, Some('<' | '>')) => out += "\\b",
            (_, Some(next)) if is_mark(next) => out.push(next),
            (_, Some(next)) => out.extend([c, next]),
            _ if is_mark(c) => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

fn compiled(pattern: &str, ignores_case: bool) -> Option<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.unicode(false).case_insensitive(ignores_case).size_limit(MOST_PATTERN).nest_limit(50).build().ok()
}
