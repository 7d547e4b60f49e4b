//! setup.py and setup.cfg of setuptools: what stands there as it is. The program itself is not run.

use super::{Found, Wanted, line_of, pip};

/// Why a list is told that the program makes.
const MADE: &str = "what the program makes of it is not read: write that to a requirements.txt";

/// The key of extras that a program makes.
pub(super) const EXTRAS: &str = "extras_require";

/// Reads one.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    for key in ["install_requires", "python_requires"] {
        let Some((at, value)) = value_of(text, key) else { continue };
        let value = of_name(text, value).unwrap_or(value);
        let is_program = value.starts_with(['[', '(', '"', '\'']);
        let line = line_of(text, at);
        match literals(text, text.len() - value.len()).filter(|_| is_program) {
            _ if key == "python_requires" => {
                let version = value.lines().next().unwrap_or_default();
                let version = version.trim_end_matches([',', ')']).trim_matches(['"', '\'', ' ']);
                if version.starts_with(['<', '>', '=', '~', '!']) {
                    found.want(Wanted::new("python", &version.replace(' ', ""), line));
                }
            }
            Some(each) => each.into_iter().for_each(|(line, one)| pip::package(&one, line, &mut found)),
            None if is_config(text) => of_config(text, value, &mut found),
            None => found.leave(line, key, MADE),
        }
    }
    if is_config(text) {
        of_extras(text, &mut found);
    }
    if let Some((at, _)) = value_of(text, EXTRAS) {
        found.leave(line_of(text, at), EXTRAS, "its extras are not read: put what is meant under [packages]");
    }
    found
}

/// Whether it is a setup.cfg.
fn is_config(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[options]")
}

/// What a name stands for that is given once and changed nowhere: `requirements = [...]`.
fn of_name<'t>(text: &'t str, value: &str) -> Option<&'t str> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let (name, rest) = value.split_at(value.find(is_end)?);
    let is_changed = [".", " +=", "+=", "["].iter().any(|sign| text.contains(&format!("{name}{sign}")));
    let is_name = !name.is_empty() && rest.starts_with([',', ')', '\n', '\r']) && !is_changed && !is_config(text);
    let is_start = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let given = || places(text, name).filter(|(at, _)| is_start(at)).map(|(_, value)| value).next();
    is_name.then(given).flatten()
}

/// Where a key stands, and what begins behind its equals sign.
fn value_of<'t>(text: &'t str, key: &str) -> Option<(usize, &'t str)> {
    places(text, key).next()
}

/// All places of a key that is given a value, but for those in comments.
fn places<'t>(text: &'t str, key: &str) -> impl Iterator<Item = (usize, &'t str)> {
    let starts = |at: usize| text[..at].rsplit('\n').next().is_some_and(|before| !before.contains('#'));
    let value = |at: usize| text[at + key.len()..].trim_start_matches(' ').strip_prefix('=').map(str::trim_start);
    text.match_indices(key).filter(move |(at, _)| starts(*at)).filter_map(move |(at, _)| Some((at, value(at)?)))
}

/// The texts of a list that begins there, each with its line; none where it holds something else, or goes on.
fn literals(text: &str, begin: usize) -> Option<Vec<(usize, String)>> {
    let (mut each, mut rest) = (Vec::new(), text[begin..].strip_prefix(['[', '('])?);
    let (mut told, mut line) = (begin, line_of(text, begin));
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let first = rest.chars().next()?;
        match first {
            ']' | ')' => {
                let next = rest[1..].trim_start_matches(' ').chars().next();
                return next.is_none_or(|next| ",)\n\r#".contains(next)).then_some(each);
            }
            ',' => rest = &rest[1..],
            '#' => rest = rest.split_once('\n')?.1,
            '"' | '\'' => {
                let (one, behind) = rest[1..].split_once(first)?;
                line += text[told..at].matches('\n').count();
                told = at;
                each.push((line, one.to_string()));
                rest = behind;
            }
            _ => return None,
        }
    }
}

/// The extras of a setup.cfg: each a key with its lines.
fn of_extras(text: &str, found: &mut Found) {
    let mut extra = None;
    let below = text.lines().enumerate().skip_while(|(_, line)| line.trim() != "[options.extras_require]").skip(1);
    for (at, line) in below.take_while(|(_, line)| !line.starts_with('[')) {
        let own = line.split_once('=').filter(|_| !line.starts_with([' ', '\t', '#', ';']));
        let one = own.map_or(line, |(_, rest)| rest).split(" #").next().unwrap_or_default().trim();
        extra = own.map(|(name, _)| name.trim().to_string()).or(extra);
        if let Some(extra) = extra.clone().filter(|_| !one.is_empty() && !one.starts_with(['#', ';'])) {
            found.want_of(Some(&extra), one, at + 1);
        }
    }
}

/// The lines of a key of setup.cfg: those that go on are indented.
fn of_config(text: &str, value: &str, found: &mut Found) {
    let begin = text.len() - value.len();
    let is_empty = text[..begin].ends_with('\n');
    let first = line_of(text, begin);
    let within = value.lines().enumerate().take_while(|(at, line)| *at == 0 || line.starts_with([' ', '\t']));
    for (at, line) in within.filter(|_| !is_empty) {
        match line.split(" #").next().unwrap_or(line).trim() {
            line if line.is_empty() || line.starts_with('#') => {}
            line if line.starts_with("file:") => {
                let file = line.trim_start_matches("file:").trim();
                found.file(first, line.to_string(), file, false);
            }
            line => pip::package(line, first + at, found),
        }
    }
}
