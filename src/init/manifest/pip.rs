//! pip: its requirement lists, and the words of its command line.

use super::{Found, requirement, variant_of};

/// Options whose value says nothing of what is installed.
const VALUED: &[&str] = &[
    "-t",
    "--target",
    "--prefix",
    "--root",
    "--cache-dir",
    "--python",
    "--platform",
    "--python-version",
    "--timeout",
    "--retries",
    "--trusted-host",
    "--progress-bar",
    "--no-binary",
    "--only-binary",
    "--config-settings",
    "-C",
    "--global-option",
    "--proxy",
    "--abi",
    "--implementation",
    "--hash",
    "--upgrade-strategy",
    "--index-strategy",
];

/// A requirements.txt.
pub(super) fn requirements(text: &str) -> Found {
    let mut found = Found::default();
    for (line, text) in joined(text, '\\') {
        let text = without_comment(&text);
        // Hashes pin files, which the lock pins anew.
        let text = text.split(" --hash").next().unwrap_or(text).trim();
        if text.is_empty() {
            continue;
        }
        if text.starts_with('-') {
            let text = text.replacen('=', " ", usize::from(text.starts_with("--")));
            let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
            words_of_pip(&words, line, &mut found);
            continue;
        }
        package(text, line, &mut found);
    }
    found
}

/// The words behind `pip install`.
pub(super) fn words_of_pip(words: &[String], line: usize, found: &mut Found) {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let (option, glued) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        let mut value = || glued.map(str::to_string).or_else(|| words.next().map(str::to_string)).unwrap_or_default();
        match option {
            "--extra-index-url" | "-i" | "--index-url" | "--index" | "--default-index" | "-f" | "--find-links" => {
                index(&value(), word, line, found);
            }
            "-r" | "--requirement" | "-c" | "--constraint" => {
                let file = value();
                found.leave(line, &format!("{option} {file}"), "another file: name it with --from too");
            }
            "-e" | "--editable" => {
                let what = value();
                let why = match what.contains("://") {
                    true => "it comes from an address, of which the version is not known",
                    false => "a package of this project or of a folder",
                };
                found.leave(line, &format!("{option} {what}"), why);
            }
            _ if VALUED.contains(&option) => drop(value()),
            _ if word.starts_with('-') => {}
            "." => found.leave(line, word, "a package of this project or of a folder"),
            _ => package(word, line, found),
        }
    }
}

fn package(text: &str, line: usize, found: &mut Found) {
    match requirement::read(text, line) {
        Ok(wanted) => found.want(wanted),
        Err(why) => found.leave(line, text, why),
    }
}

fn index(address: &str, option: &str, line: usize, found: &mut Found) {
    match variant_of(address) {
        Some(variant) => found.variant = found.variant.take().or(Some(variant)),
        None if address.contains("rocm") => {
            found.leave(line, &format!("{option} {address}"), "wheels for AMD GPUs; gpuenv knows NVIDIA's");
        }
        None => found.leave(
            line,
            &format!("{option} {address}"),
            "an index that does not tell which CUDA its wheels are for",
        ),
    }
}

/// Lines with those that go on in the next one joined, each with the number of its first.
pub(super) fn joined(text: &str, mark: char) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in text.lines().enumerate() {
        // A comment ends with its line.
        let is_comment = line.trim_start().starts_with('#');
        let next = line.trim_end().strip_suffix(mark).filter(|_| !is_comment);
        let part = next.unwrap_or(line);
        match lines.last_mut().filter(|_| goes_on) {
            // A comment between the parts of a command is none of them.
            Some(_) if is_comment => continue,
            Some((_, text)) => {
                text.push(' ');
                text.push_str(part.trim());
            }
            None => lines.push((at + 1, part.to_string())),
        }
        goes_on = next.is_some();
    }
    lines
}

/// A `#` at the start or behind a blank begins a comment; in an address it does not.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or(line)
}
