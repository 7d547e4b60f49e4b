//! Of what several commands install, what the last of them pins.

use super::shell::file_name;
use super::{Found, Kind, Manifest, OTHER_FILE, Wanted};

/// Whether a line of pip's asks for one version whatever the place.
fn is_pin(one: &Wanted) -> bool {
    let version = one.version.trim_start_matches('=');
    let is_one = version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([',', '*', '|']);
    is_one && one.marker.is_none() && !one.is_of_conda && !one.is_over
}

/// pip replaces what it installed before by what a later command pins.
pub(super) fn replaced(found: &mut Found) {
    let mut kept: Vec<Wanted> = Vec::new();
    for wanted in std::mem::take(&mut found.wanted) {
        let is_before = |one: &Wanted| one.name == wanted.name && is_pin(one) && one.version != wanted.version;
        if let Some(at) = kept.iter().position(is_before).filter(|_| is_pin(&wanted)) {
            let before = kept.remove(at);
            let why = format!("line {} installs {} in its place", wanted.line, wanted.written);
            found.leave(before.line, &before.written, why);
        }
        kept.push(wanted);
    }
    found.wanted = kept;
}

/// The same of a Dockerfile and the lists that its commands install: `pip install -r requirements.txt`.
pub(super) fn by_commands(files: &mut [(&Manifest, Found)]) {
    for of in (0..files.len()).filter(|at| files[*at].0.kind == Kind::Dockerfile).collect::<Vec<_>>() {
        for list in (0..files.len()).filter(|at| files[*at].0.kind == Kind::Requirements).collect::<Vec<_>>() {
            let name = file_name(&files[list].0.name);
            let is_it = |text: &str| text.split_whitespace().any(|word| file_name(word) == name);
            let mut commands = files[of].1.left.iter().filter(|(_, text, why)| why == OTHER_FILE && is_it(text));
            let Some(line) = commands.next().map(|(line, ..)| *line) else { continue };
            let pins: Vec<Wanted> = files[list].1.wanted.iter().filter(|one| is_pin(one)).cloned().collect();
            for pin in pins {
                let is_other = |one: &Wanted| one.name == pin.name && is_pin(one) && one.version != pin.version;
                let Some(at) = files[of].1.wanted.iter().position(is_other) else { continue };
                let other = files[of].1.wanted[at].clone();
                let is_later = other.line > line;
                let (before, after) = if is_later { (&pin, &other) } else { (&other, &pin) };
                let at = line.max(other.line);
                let why = format!("{}:{at} installs {} in its place", files[of].0.name, after.written);
                let found = &mut files[if is_later { list } else { of }].1;
                found.wanted.retain(|one| one != before);
                found.leave(before.line, &before.written, why);
            }
        }
    }
}
