//! Pasted text made readable: what terminals, loggers, containers, forums and mail have put around a message is
//! taken off, so that one pattern recognises it everywhere.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, bytes};

use super::{advice, records};
use crate::log_prefix::{prefix, printable};

/// More writers than this are not told apart.
const OWNERS: usize = 64;

/// What stands before typed lines: Python's prompts, a shell's, a notebook's.
const PROMPTS: &[&str] = &[">>> ", "... ", "$ ", "In ["];

/// The text without what surrounds it, escapes, encodings and line prefixes, and without what it only advises about.
pub fn plain(raw: &str) -> String {
    let text = in_english(without_probes(without_code(breaks(&decoded(&printable(&records::messages(raw)))))));
    // One such line may as well begin with a version.
    let is_timed = text.lines().filter(|line| SECONDS.is_match(line)).nth(1).is_some();
    let mut plain = String::with_capacity(text.len());
    let mut owners: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
    for line in text.lines() {
        let seconds = if is_timed { SECONDS.find(line).map_or(0, |seconds| seconds.end()) } else { 0 };
        let (owner, level, rest) = without_prefixes(&line[seconds..]);
        // What was typed continues no word: an empty line ends what stands before it.
        if PROMPTS.iter().any(|prompt| line.trim_start().starts_with(prompt)) {
            plain.push('\n');
        }
        let start = plain.len();
        plain.extend(std::iter::repeat_n(LEVEL, level));
        plain += rest;
        if !owner.is_empty() && (owners.len() <= OWNERS || owners.contains_key(&owner)) {
            owners.entry(owner).or_default().push(start..plain.len());
        }
        plain.push('\n');
    }
    plain.pop();
    // Several processes write into one log: each one's lines are also read in a row.
    if (2..=OWNERS).contains(&owners.len()) {
        for lines in owners.into_values() {
            plain.push('\n');
            for line in lines {
                plain.extend_from_within(line);
                plain.push('\n');
            }
            plain.pop();
        }
    }
    advice::without(plain)
}

/// What C libraries, loaders (Windows' too) and compilers say in other languages of the things that messages turn on: as the
/// translations of glibc have it (pkg:deb/debian/libc-l10n@2.36), and other wordings as people pasted them.
const TRANSLATED: &[(&str, &[&str])] = &[
    (
        "The specified module could not be found",
        &["找不到指定的模块", "找不到指定的模組", "Das angegebene Modul wurde nicht gefunden"],
    ),
    (
        "A dynamic link library (DLL) initialization routine failed",
        &[
            "动态链接库(DLL)初始化例程失败",
            "Une routine d'initialisation d'une bibliothèque de liens dynamiques (DLL) a échoué",
        ],
    ),
    (
        "The specified procedure could not be found",
        &["找不到指定的程序", "Die angegebene Prozedur wurde nicht gefunden"],
    ),
    ("undefined reference to", &["référence indéfinie vers"]),
    (
        "No such file or directory",
        &[
            "没有那个文件或目录",
            "没有这样的文件或目录",
            "沒有此一檔案或目錄",
            "そのようなファイルやディレクトリはありません",
            "No existe el archivo o el directorio",
            "No existe el fichero o el directorio",
            "Datei oder Verzeichnis nicht gefunden",
            "Aucun fichier ou dossier de ce type",
            "Нет такого файла или каталога",
        ],
    ),
    (
        "cannot open shared object file",
        &[
            "无法打开共享对象文件",
            "無法開啟共用物件",
            "共有オブジェクトファイルを開けません",
            "no se puede abrir el archivo del objeto compartido",
            "no se puede abrir el fichero del objeto compartido",
            "Kann die Shared-Object-Datei nicht öffnen",
            "impossible d'ouvrir le fichier d'objet partagé",
            "Ne peut ouvrir le fichier d'objet partagé",
            "невозможно открыть разделяемый объектный файл",
        ],
    ),
];

fn in_english(text: String) -> String {
    // What clang says of a header, as gcc says it.
    static HEADER: LazyLock<Regex> =
        LazyLock::new(|| ascii(r"(fatal error: )['\x22`]?([A-Za-z0-9_./+-]{1,160})['\x22`]? file not found"));
    let text = if text.contains(" file not found") {
        HEADER.replace_all(&text, "$1$2: No such file or directory").into_owned()
    } else {
        text
    };
    let spoken = TRANSLATED.iter().flat_map(|(english, others)| others.iter().map(move |other| (*english, *other)));
    spoken.fold(text, |text, (english, other)| if text.contains(other) { text.replace(other, english) } else { text })
}

/// Without the names of errors that source code only mentions: where it defines them, and where it asks for them.
fn without_code(text: String) -> String {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        let name = r"(?:cudaError[A-Z]\w+|(?:CUDA_ERROR|CUDNN_STATUS|NVML_ERROR)_[A-Z_]+)";
        ascii(&format!(r"\b{name}\s*=\s*\d+\s*,|(?:\bcase |\breturn |[!=]= ?){name}"))
    });
    let named = ["cudaError", "CUDA_ERROR_", "CUDNN_STATUS_", "NVML_ERROR_"].iter().any(|name| text.contains(name));
    if named { NAMES.replace_all(&text, "").into_owned() } else { text }
}

/// Without what a loader of plug-ins only informs about: it tries them all, and what does not load is not needed.
fn without_probes(text: String) -> String {
    static PROBE: LazyLock<bytes::Regex> = LazyLock::new(|| {
        let plugin = "(?:adapter|plug-?in)";
        let unloaded = format!("(?:failed to|could not|cannot|unable to) load [a-z ]{{0,20}}{plugin}");
        let absent = format!("{plugin} [a-z_ ]{{0,30}}(?:not available|unavailable)");
        let probe = format!("(?i)(?:^|[^a-z_])(?:info|debug|trace|verbose)[^a-z_].*(?:{unloaded}|{absent})");
        bytes::RegexBuilder::new(&probe).unicode(false).build().expect("a constant")
    });
    if !["adapter", "plugin", "plug-in"].iter().any(|word| text.contains(word)) {
        return text;
    }
    let said = text.split('\n').filter(|line| !PROBE.is_match(line.as_bytes()));
    said.collect::<Vec<_>>().join("\n")
}

/// A regular expression about ASCII alone.
fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("a constant")
}

/// A blank that nobody types, before a line of which a logger says that it only warns; two where it only informs.
pub const LEVEL: char = '\u{1680}';

/// Who wrote a line (its prefixes without digits of time), how far below an error it is, and what was written.
fn without_prefixes(line: &str) -> (String, usize, &str) {
    let (mut owner, mut level, mut rest) = (String::new(), 0, line);
    // Prefixes nest: compose before a timestamp before a rank.
    for _ in 0..4 {
        let Some(text) = prefix(rest) else { break };
        if text.contains(['|', '(', '[']) && !text.contains('.') {
            owner += text.trim();
        }
        let is = |word: &str, letter: char| text.contains(word) || text.starts_with(letter) && !text.contains('|');
        let levels = [("INFO", 'I', 2), ("WARN", 'W', 1), ("ERROR", 'E', 0), ("FATAL", 'F', 0)];
        level = levels.iter().find(|(word, letter, _)| is(word, *letter)).map_or(level, |(_, _, own)| *own);
        rest = &rest[text.len()..];
    }
    // One logger hands on what another wrote: TensorFlow's `E` is an error.
    (owner, if rest.starts_with("E ") { 0 } else { level }, rest)
}

/// Without the encodings of web pages and addresses.
fn decoded(text: &str) -> String {
    let mut text = text.to_string();
    if text.contains('&') {
        for (entity, c) in [
            ("&gt;", ">"),
            ("&lt;", "<"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&#x27;", "'"),
            ("&nbsp;", " "),
            ("&amp;", "&"),
        ] {
            text = text.replace(entity, c);
        }
    }
    let encoded = ["%20", "%3A", "%27", "%0A"].iter().any(|code| text.contains(code));
    if !encoded && !is_form(&text) { text } else { unescaped(&text) }
}

/// `a+long+line+without+a+blank`, as addresses hold it.
fn is_form(text: &str) -> bool {
    text.matches('+').count() >= 4 && !text.trim().contains(char::is_whitespace)
}

fn unescaped(text: &str) -> String {
    let blanks = if is_form(text) { text.replace('+', " ") } else { text.to_string() };
    let mut bytes = Vec::with_capacity(blanks.len());
    let mut rest = blanks.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = (byte == b'%').then(|| tail.get(..2).and_then(|two| std::str::from_utf8(two).ok())).flatten();
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|code| *code >= b' ' || *code == b'\n') {
            Some(code) => {
                bytes.push(code);
                rest = &tail[2..];
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Line breaks that were written out as `\n` by a program that quotes another.
fn breaks(text: &str) -> String {
    static MANY: LazyLock<Regex> = LazyLock::new(|| ascii(r"\\{2,}[nr]"));
    let text = MANY.replace_all(text, "\n");
    // A single backslash may as well be a Windows path: only a text of one line writes its breaks like this.
    if text.trim().contains('\n') { text.into_owned() } else { text.replace("\\n", "\n") }
}

/// Terminals and forums break longer lines; what is shorter ended by itself.
const BROKEN: usize = 60;

/// What begins a line of its own: the name of what writes it, and a colon.
static ANEW: LazyLock<Regex> = LazyLock::new(|| {
    ascii(r"^\s*(?:\[[\w .:-]+\]|(?:[A-Z][\w./-]*(?: [\w.()\[\]/-]+){0,3}|[a-z][\w./-]*\d[\w./-]*|[a-z]+ [\d.-]+): )")
});

/// What begins a line anew that follows a name: a requirement, a prompt, a label, a release.
static NO_NAME: LazyLock<Regex> = LazyLock::new(|| {
    ascii(r"^\s*(?:[A-Za-z][\w.-]*(?:[=<>~!]=|@[\w.-]+[:~$#])|[A-Za-z]\w{2,}: |[A-Za-z]\w*-\d[\w.]*\s*$)")
});

/// What only warns: the tools of CUDA's toolkit, and the modules of the kernel.
static WARNING: LazyLock<Regex> = LazyLock::new(|| {
    ascii(r"(?i)\b(?:nvcc[a-z-]*|ptxas|nvlink|fatbinary|cicc)(?:\.exe)? ?warning ?:|\bnvidia-[a-z]+: ?warning:")
});

/// What BuildKit writes before the lines of a step that failed: its seconds, of which it prints four digits.
static SECONDS: LazyLock<Regex> = LazyLock::new(|| ascii(r"^(?:\d+\.\d{3,4}|\d\d\.\d\d|\d{3}\.\d) "));

/// A text without blanks, quotes and frames, in which a message is in one piece however it was wrapped; and where
/// each of its bytes came from.
pub struct Normalised<'t> {
    /// Where it came from.
    pub plain: &'t str,
    /// What is left.
    pub text: String,
    /// The same in lower case, for searching; of the same length.
    pub lower: String,
    origin: Vec<usize>,
    /// Characters of its longest line: where whoever shows it breaks lines, if anywhere.
    widest: usize,
}

impl<'t> Normalised<'t> {
    /// Normalises a plain text.
    pub fn new(plain: &'t str) -> Self {
        let mut text = String::with_capacity(plain.len());
        let mut origin = Vec::with_capacity(plain.len());
        let mut chars = plain.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let kept = match c {
                '\\' => chars.peek().is_some_and(|(_, next)| next.is_ascii_alphanumeric()).then_some('/'),
                '‐'..='―' | '−' => Some('-'),
                // The wide forms of East Asian typing, in the order of ASCII.
                '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).filter(|c| !is_blank(*c)),
                // What is quoted ends inside a path.
                '\'' | '"' if plain[..at].ends_with(is_of_path) && plain[at + 1..].starts_with(['/', '\\']) => {
                    Some(':')
                }
                c if is_blank(c) => None,
                c => Some(c),
            };
            if let Some(c) = kept {
                text.push(c);
                origin.resize(text.len(), at);
            }
        }
        let widest = plain.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        Normalised { plain, lower: text.to_ascii_lowercase(), text, origin, widest }
    }

    /// Whether a line ends inside a part, and not because it was broken for its length.
    pub fn joins_lines(&self, start: usize, end: usize) -> bool {
        let (from, original) = (self.origin[start], self.original(start, end));
        original.match_indices('\n').any(|(at, _)| {
            let (before, after) = (&self.plain[..from + at], &self.plain[from + at + 1..]);
            let line = before.rsplit('\n').next().unwrap_or_default();
            let ended = line.ends_with(['.', ';', '!', ')', ']', '}']) || after.starts_with(char::is_uppercase);
            ended && line.len() < BROKEN || ANEW.is_match(after)
        })
    }

    /// Whether a tool of the toolkit or a module of the kernel only warns in the line that a part begins in.
    pub fn is_warning(&self, part: &Range<usize>) -> bool {
        WARNING.is_match(self.line_until(part))
    }

    /// The lines of the original that hold a part.
    pub fn line(&self, part: &Range<usize>) -> Range<usize> {
        let (first, last) = (self.origin[part.start], self.origin[part.end - 1]);
        let start = self.plain[..first].rfind('\n').map_or(0, |end| end + 1);
        start..self.plain[last..].find('\n').map_or(self.plain.len(), |at| last + at)
    }

    /// The same with the two lines after them.
    pub fn lines(&self, part: &Range<usize>) -> &'t str {
        let Range { start, end } = self.line(part);
        let second = self.plain[end..].match_indices('\n').nth(2).map(|(at, _)| end + at);
        &self.plain[start..second.unwrap_or(self.plain.len())]
    }

    /// The original from where its line begins, or the one that was broken for its length, to the end of a part.
    pub fn line_until(&self, part: &Range<usize>) -> &'t str {
        let (first, last) = (self.origin[part.start], self.origin[part.end - 1]);
        let begin = |at: usize| self.plain[..at].rfind('\n').map_or(0, |end| end + 1);
        let start = begin(first);
        let before = begin(start.saturating_sub(1));
        let line = self.plain[before..start].trim_end_matches(['\r', '\n']);
        let is_broken =
            self.widest >= BROKEN && line.chars().count() == self.widest && !ANEW.is_match(&self.plain[start..]);
        &self.plain[if is_broken { before } else { start }..last]
    }

    /// Where in the original the line begins that follows the one that a part ends in.
    pub fn rest(&self, end: usize) -> usize {
        let last = end.checked_sub(1).map_or(0, |last| self.origin[last]);
        self.plain[last..].find('\n').map_or(self.plain.len(), |at| last + at + 1)
    }

    /// The same with an empty line behind each that ended by itself: no word goes on there.
    pub fn words(&self, start: usize, end: usize) -> String {
        let mut words = String::new();
        let mut at = self.origin.get(start).copied().unwrap_or_default();
        for line in self.original(start, end).split_inclusive('\n') {
            words += line;
            at += line.len();
            if let Some(before) = self.plain[..at].strip_suffix('\n').filter(|_| line.ends_with('\n')) {
                let whole = before.rsplit('\n').next().unwrap_or_default();
                let next = self.plain[at..].lines().next().unwrap_or_default();
                words += if whole.len() < BROKEN || NO_NAME.is_match(next) { "\n" } else { "" };
            }
        }
        words
    }

    /// Whether a word ends at a place: a blank or a quote stood there, or what follows belongs to none.
    pub fn ends_word(&self, at: usize) -> bool {
        let follows = self.text.as_bytes().get(at).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_');
        !follows || at.checked_sub(1).is_some_and(|last| self.origin[last] + 1 < self.origin[at])
    }

    /// The original of a part, blanks included.
    pub fn original(&self, start: usize, end: usize) -> &'t str {
        let Some(&from) = self.origin.get(start).filter(|_| start < end) else { return "" };
        let last = self.origin[end - 1];
        let width = self.plain[last..].chars().next().map_or(0, char::len_utf8);
        &self.plain[from..last + width]
    }
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Blanks, quotes of all kinds, emphasis and the frames that pretty printers draw.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\'' | '"' | '`' | '´' | '*' | '|' | '‘'..='‟' | '«' | '»' | '\u{2500}'..='\u{257f}' | '′' | '″' | '＂' | '＇')
}

#[cfg(test)]
mod tests;
