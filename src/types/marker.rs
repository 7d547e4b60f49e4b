//! The condition behind a requirement, `sys_platform != "win32" and python_version >= "3.10"`: whether it holds on Linux.

use std::collections::BTreeSet;

use super::{CpuArch, Version, name};

/// What is the same on every Linux that gpuenv locks for.
const KNOWN: [(&str, &str); 5] = [
    ("sys_platform", "linux"),
    ("platform_system", "Linux"),
    ("os_name", "posix"),
    ("implementation_name", "cpython"),
    ("platform_python_implementation", "CPython"),
];
/// No condition has so many parentheses within each other, and each takes the stack of the program.
const MOST_DEEP: usize = 50;

/// Whether it holds on every Linux or on none; nothing where it depends on more, or is no condition.
pub fn on_linux(marker: &str) -> Option<bool> {
    on(marker, &Known::default())
}

/// What is known of the place where something is installed.
#[derive(Clone, Copy, Default)]
pub struct Known<'k> {
    /// The lines of Python, `3.11`, of which it is one; none where it may be any.
    pub pythons: &'k [Version],
    /// The processor.
    pub arch: Option<CpuArch>,
    /// The extras and groups that are installed.
    pub extras: Option<&'k BTreeSet<String>>,
}

/// The same where more is known: of several Pythons only what is the same on each.
pub fn on(marker: &str, known: &Known<'_>) -> Option<bool> {
    let of = |python: Option<Version>| {
        let mut reader = Reader { words: words(marker), at: 0, is_broken: false, python, known: *known };
        let value = reader.any(0);
        value.filter(|_| !reader.is_broken && reader.at == reader.words.len())
    };
    let mut each = known.pythons.iter().map(|python| of(Some(*python)));
    let Some(first) = each.next().filter(|_| speaks_of_python(marker)) else { return of(None) };
    first.filter(|_| each.all(|other| other == first))
}

/// Whether a condition speaks of the Python that is installed.
pub fn speaks_of_python(marker: &str) -> bool {
    PYTHONS.iter().any(|word| marker.contains(word))
}

struct Reader<'k> {
    python: Option<Version>,
    words: Vec<String>,
    at: usize,
    is_broken: bool,
    known: Known<'k>,
}

impl Reader<'_> {
    fn next(&mut self) -> String {
        self.at += 1;
        self.words.get(self.at - 1).cloned().unwrap_or_default()
    }

    fn take(&mut self, word: &str) -> bool {
        let is_it = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn any(&mut self, depth: usize) -> Option<bool> {
        let mut value = self.all(depth);
        while self.take("or") {
            value = or(value, self.all(depth));
        }
        value
    }

    fn all(&mut self, depth: usize) -> Option<bool> {
        let mut value = self.one(depth);
        while self.take("and") {
            value = not(or(not(value), not(self.one(depth))));
        }
        value
    }

    fn one(&mut self, depth: usize) -> Option<bool> {
        if self.take("(") {
            if depth == MOST_DEEP {
                self.is_broken = true;
                return None;
            }
            let value = self.any(depth + 1);
            self.is_broken |= !self.take(")");
            return value;
        }
        let left = self.next();
        let is_not = self.take("not");
        let (sign, right) = (self.next(), self.next());
        self.is_broken |= right.is_empty();
        if let Some(python) = self.python.filter(|_| !is_not && PYTHONS.contains(&left.as_str())) {
            return of_python(&python, &sign, right.strip_prefix('"')?);
        }
        if let Some(extras) = self.known.extras.filter(|_| left == "extra" && ["==", "!="].contains(&&*sign)) {
            return Some(extras.contains(&extra_of(right.strip_prefix('"')?)?) == (sign == "=="));
        }
        // What other systems call their processors none of Linux is called.
        let arch = self.known.arch.map(CpuArch::as_str).or_else(|| is_of_others(&right).then_some(""));
        let value = |word| if word == "platform_machine" { arch } else { value(word) };
        let (left, right) = (value(&left)?, value(&right)?);
        match (sign.as_str(), is_not) {
            ("==", false) => Some(left == right),
            ("!=", false) => Some(left != right),
            ("in", _) => Some(right.contains(left) != is_not),
            _ => None,
        }
    }
}

/// The extra or group that a condition names; uv.lock names it behind its project, `extra-4-demo-old`.
fn extra_of(written: &str) -> Option<String> {
    let of_project = |rest: &str| {
        let (length, rest) = rest.split_once('-')?;
        rest.get(length.parse().ok()?..)?.strip_prefix('-').map(str::to_string)
    };
    match written.split_once('-') {
        Some(("extra" | "group", rest)) => of_project(rest).or_else(|| Some(name::package(written))),
        Some(("project", rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => None,
        _ => Some(name::package(written)),
    }
}

/// Whether a text is the name of a processor, but that of none on Linux: `arm64`, `AMD64`.
fn is_of_others(word: &str) -> bool {
    let name = word.strip_prefix('"').unwrap_or_default();
    !name.is_empty() && !name.contains([' ', ',']) && CpuArch::parse(name).map_or("", CpuArch::as_str) != name
}

/// What a condition calls the Python that is installed.
const PYTHONS: [&str; 2] = ["python_version", "python_full_version"];

/// Whether a line of Python stands so to a release; none where that depends on its patch release.
fn of_python(line: &Version, sign: &str, written: &str) -> Option<bool> {
    // `3.11.*` is the whole line.
    let begun = written.strip_suffix(".*").filter(|begun| begun.contains('.'));
    let release = Version::parse(begun.unwrap_or(written)).ok()?;
    let order = line.cmp(&release.prefix(2));
    if order.is_eq() && release.len() > 2 {
        return None;
    }
    match sign {
        ">=" => Some(order.is_ge()),
        ">" => Some(order.is_gt()),
        "<=" => Some(order.is_le()),
        "<" => Some(order.is_lt()),
        "==" => Some(order.is_eq()),
        "!=" => Some(order.is_ne()),
        _ => None,
    }
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn not(value: Option<bool>) -> Option<bool> {
    value.map(|value| !value)
}

/// What a word stands for: its text in quotes, or what is known of Linux.
fn value(word: &str) -> Option<&str> {
    let known = KNOWN.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    known.or_else(|| word.strip_prefix('"'))
}

/// Words, signs and parentheses; a text in either quotes begins with one.
fn words(marker: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = marker.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' => {
                let end = rest[1..].find(first).map_or(rest.len(), |end| end + 1);
                words.push(format!("\"{}", &rest[1..end]));
                rest = rest.get(end + 1..).unwrap_or_default().trim_start();
                continue;
            }
            '(' | ')' => 1,
            _ if is_sign(first) => rest.find(|c| !is_sign(c)).unwrap_or(rest.len()),
            _ => rest.find(|c: char| c.is_whitespace() || "()\"'".contains(c) || is_sign(c)).unwrap_or(rest.len()),
        };
        words.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    words
}

fn is_sign(c: char) -> bool {
    "=!<>~".contains(c)
}

#[cfg(test)]
mod tests;
