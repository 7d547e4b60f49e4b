//! Of what several commands install, what is there behind the last of them.

use super::shell::file_name;
use super::{Found, Kind, Manifest, OTHER_FILE, Wanted};
use crate::catalog::rows::TORCH;
use crate::types::{Specifier, variant};

/// Whether a line of pip's asks for one version whatever the place.
fn is_pin(one: &Wanted) -> bool {
    let version = one.version.trim_start_matches('=');
    let is_one = version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([',', '*', '|']);
    is_one && one.marker.is_none() && !one.is_of_conda && !one.is_over
}

/// Whether pip takes out what one line installed for what a later one asks for.
fn is_replaced(one: &Wanted, later: &Wanted) -> bool {
    if later.is_forced {
        return true;
    }
    if is_pin(one) && is_pin(later) {
        // A build meets a version without one.
        let parts = |of: &Wanted| {
            let (public, label) = variant::parts(of.version.trim_start_matches('='));
            (public.to_string(), label.map(str::to_string))
        };
        let (one, later) = (parts(one), parts(later));
        return one.0 != later.0 || later.1.is_some() && one.1 != later.1;
    }
    let asked = |of: &Wanted| Specifier::parse(variant::public(&of.version)).ok();
    asked(one).zip(asked(later)).is_some_and(|(one, later)| one.excludes(&later))
}

/// pip replaces what it installed before by what a later command asks for, where that is not there already. An index is that of
/// what is installed from it: it goes with what is replaced, and counts for nothing where nothing is installed.
pub(super) fn replaced(found: &mut Found) {
    let is_open = |one: &Wanted| one.marker.is_none() && !one.is_of_conda && !one.is_over;
    let mut kept: Vec<Wanted> = Vec::new();
    for mut wanted in std::mem::take(&mut found.wanted) {
        let is_before = |one: &Wanted| one.name == wanted.name && is_open(one) && is_open(&wanted);
        let (mut gone, mut is_there) = (Vec::new(), false);
        for (at, one) in kept.iter_mut().enumerate().filter(|(_, one)| is_before(one)) {
            match is_replaced(one, &wanted) {
                true => gone.push(at),
                // What is there is a release that nobody names, and what is named is another as often as not.
                false if is_pin(&wanted) && !is_pin(one) => one.variant = None,
                false => is_there = true,
            }
        }
        if is_there {
            wanted.variant = None;
        }
        for at in gone.into_iter().rev() {
            let before = kept.remove(at);
            let why = format!("line {} installs {} in its place", wanted.line, wanted.written);
            found.leave(before.line, &before.written, why);
        }
        kept.push(wanted);
    }
    // What comes with torch brings it from the same index.
    if let Some(at) = kept.iter().position(|one| one.name == TORCH && is_open(one)) {
        let brings = |one: &&Wanted| ["torchaudio", "torchvision"].contains(&&*one.name) && is_pin(one);
        let of_it = kept[..at].iter().filter(brings).find_map(|one| one.variant.clone());
        kept[at].variant = kept[at].variant.take().or(of_it);
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
