//! Of what several commands install, what is there behind the last of them. A list stands where the command does that installs
//! it, with the index and the options of that command.

use std::collections::BTreeSet;

use super::shell::file_name;
use super::{Found, Kind, MOST, Manifest, OTHER_FILE, Wanted};
use crate::catalog::rows::TORCH;
use crate::types::{Specifier, variant};

/// A file of the project whose packages a line installs.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub line: usize,
    /// How the line is told where nobody named the file.
    pub text: String,
    /// The path of the file, or of the folder of a project.
    pub file: String,
    pub is_project: bool,
    /// Whether it bounds what is installed, and installs nothing.
    pub is_bound: bool,
    /// Which command of its file it is.
    pub at: usize,
    /// The variant and the own indexes that the options of the command name.
    pub variant: Option<String>,
    pub owns: Vec<(String, String)>,
    pub is_forced: bool,
    pub is_renewed: bool,
    /// What commands before it did to the file.
    pub edits: Vec<Edit>,
}

/// What a command does to the lines of a list before they are installed.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    /// What the lines fit that it takes out or changes; none: nobody could tell.
    pub lines: Option<regex::bytes::Regex>,
    /// Whether it is those that do not.
    pub is_kept: bool,
    /// The command, and the line that it stands in.
    pub by: String,
    pub line: usize,
}

/// A package that a command installs, with the file that names it and the line of the command.
struct Laid {
    of: usize,
    line: usize,
    one: Wanted,
}

type Files<'m> = [(&'m Manifest, Found)];

/// Whether a line of pip's asks for one version whatever the place.
fn is_pin(one: &Wanted) -> bool {
    let version = one.version.trim_start_matches('=');
    let is_one = version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([',', '*', '|']);
    is_one && one.marker.is_none() && !one.is_of_conda && !one.is_over
}

/// Whether pip takes out what one line installed for what a later one asks for.
fn is_replaced(one: &Wanted, later: &Wanted) -> bool {
    if later.is_forced || later.is_renewed && !is_pin(later) {
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

/// Puts the lists that commands install where these stand, and leaves of all that is installed what is there at the end.
pub(super) fn by_commands(files: &mut Vec<(&Manifest, Found)>) {
    share(files);
    let mut of_commands = BTreeSet::new();
    for docker in (0..files.len()).filter(|at| files[*at].0.kind == Kind::Dockerfile).collect::<Vec<_>>() {
        let lay = |one: Wanted| Laid { of: docker, line: one.line, one };
        let mut laid: Vec<Laid> = std::mem::take(&mut files[docker].1.wanted).into_iter().map(lay).collect();
        for list in std::mem::take(&mut files[docker].1.lists) {
            for of in matched(&list, files) {
                of_commands.insert(of);
                settle(docker, &list, of, files, &mut laid);
            }
        }
        laid.sort_by_key(|one| one.one.at);
        let name = files[docker].0.name.clone();
        let (kept, gone) = replaced(laid, &files[docker].1.uninstalls, docker, &name);
        for Laid { of, one, .. } in kept {
            files[of].1.wanted.push(one);
        }
        for (Laid { of, one, .. }, why) in gone {
            files[of].1.leave(one.line, &one.written, why);
        }
    }
    // What commands install comes before a list that none of them does.
    let is_aside = |at: usize, file: &Manifest| !of_commands.contains(&at) && file.kind != Kind::Dockerfile;
    if !of_commands.is_empty() {
        let each = std::mem::take(files).into_iter().enumerate();
        let (aside, first): (Vec<_>, Vec<_>) = each.partition(|(at, (file, _))| is_aside(*at, file));
        files.extend(first.into_iter().chain(aside).map(|(_, file)| file));
    }
}

/// The index options of all lists of one command are one set: what one of them says holds for those that it leads to, and for it.
fn share(files: &mut Files<'_>) {
    for _ in 0..files.len() {
        for from in 0..files.len() {
            let of_project = files[from].0.kind != Kind::Dockerfile;
            for list in files[from].1.lists.clone().into_iter().filter(|_| of_project) {
                for to in matched(&list, files).into_iter().filter(|to| *to != from) {
                    let down = list.variant.clone().or_else(|| files[from].1.variant.clone());
                    let (down, up) = (down, files[to].1.variant.clone());
                    if files[to].1.variant.is_none() {
                        files[to].1.variant = down;
                    }
                    if files[from].0.kind == Kind::Requirements && files[from].1.variant.is_none() {
                        files[from].1.variant = up;
                    }
                }
            }
        }
    }
}

/// The files that are read which a line installs: of several of one name that whose folders are the same.
fn matched(list: &List, files: &Files<'_>) -> Vec<usize> {
    let folder = |at: usize| files[at].0.name.rsplit_once('/').map_or("", |(folder, _)| folder);
    if list.is_project {
        let is_project = |at: &usize| [Kind::Pyproject, Kind::Setup].contains(&files[*at].0.kind);
        let all: Vec<usize> = (0..files.len()).filter(is_project).collect();
        let is_one = all.windows(2).all(|pair| folder(pair[0]) == folder(pair[1]));
        let name = file_name(list.file.trim_end_matches('/'));
        let is_it = |at: &usize| is_one || file_name(folder(*at)) == name.trim_start_matches('.');
        return all.into_iter().filter(is_it).collect();
    }
    let same = |at: &usize| {
        let (one, other) = (list.file.rsplit('/'), files[*at].0.name.rsplit('/'));
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let each = (0..files.len()).filter(|at| files[*at].0.kind != Kind::Dockerfile && same(at) > 0);
    each.rev().max_by_key(same).into_iter().collect()
}

/// Puts a list, with those that it leads to, where its command stands.
fn settle(docker: usize, list: &List, first: usize, files: &mut Files<'_>, laid: &mut Vec<Laid>) {
    files[docker].1.left.retain(|(line, text, why)| (*line, text) != (list.line, &list.text) || why != OTHER_FILE);
    let (mut open, mut seen) = (vec![first], vec![first]);
    while let Some(of) = open.pop() {
        for other in &files[of].1.lists.clone() {
            let new = matched(other, files).into_iter().filter(|at| !other.is_bound && !seen.contains(at));
            let new: Vec<usize> = new.collect();
            seen.extend(&new);
            open.extend(new);
        }
    }
    let of_command = |laid: &Laid| laid.of == docker && laid.one.at == list.at;
    let variant = list.variant.clone().or_else(|| seen.iter().find_map(|of| files[*of].1.variant.clone()));
    for one in laid.iter_mut().filter(|laid| of_command(laid)) {
        one.one.variant = one.one.variant.take().or_else(|| variant.clone());
    }
    let variant = variant.or_else(|| files[docker].1.variant.clone());
    for of in seen {
        if files[of].1.variant.is_none() {
            files[of].1.variant.clone_from(&variant);
        }
        if !list.is_bound {
            lay(docker, list, of, files, laid);
        }
    }
}

/// The lines of one file.
fn lay(docker: usize, list: &List, of: usize, files: &mut Files<'_>, laid: &mut Vec<Laid>) {
    let name = files[docker].0.name.clone();
    let found = &mut files[of].1;
    let of_all = found.variant.clone();
    for mut one in std::mem::take(&mut found.wanted) {
        let fits = |lines: &regex::bytes::Regex| lines.is_match(one.written.as_bytes());
        let is_it = |edit: &&Edit| edit.lines.as_ref().is_none_or(|lines| fits(lines) != edit.is_kept);
        if let Some(edit) = list.edits.iter().find(is_it) {
            let why = format!("{name}:{} changes it or takes it out before it is installed (`{}`)", edit.line, edit.by);
            found.leave(one.line, &one.written, why);
            continue;
        }
        one.variant = one.variant.take().or_else(|| of_all.clone());
        one.owned_by(&list.owns);
        (one.at, one.is_forced, one.is_renewed) = (list.at, list.is_forced, list.is_renewed && !list.is_project);
        laid.push(Laid { of, line: list.line, one });
    }
}

impl Found {
    /// Takes another file as one whose packages are installed.
    pub fn list(&mut self, list: List) {
        if self.lists.len() <= MOST {
            self.lists.push(list);
        }
    }

    /// The same of a file that a line names, which is told as long as nobody named it.
    pub fn file(&mut self, line: usize, text: String, file: &str, is_bound: bool) {
        self.leave(line, &text, OTHER_FILE);
        self.list(List { line, text, file: file.to_string(), is_bound, ..List::default() });
    }
}

impl Wanted {
    /// Takes the CUDA of an index that has this package alone.
    pub fn owned_by(&mut self, owns: &[(String, String)]) {
        let own = owns.iter().find(|(name, _)| self.name.starts_with(name));
        self.own_cuda = self.own_cuda.take().or_else(|| own.map(|(_, cuda)| cuda.clone()));
    }
}

/// pip replaces what it installed before by what a later command asks for, where that is not there already. An index is that of
/// what is installed from it: it goes with what is replaced, and counts for nothing where nothing is installed. What is taken out
/// later is not there, either. What one command asks for holds together.
fn replaced(
    all: Vec<Laid>,
    uninstalls: &[(String, usize, usize)],
    docker: usize,
    name: &str,
) -> (Vec<Laid>, Vec<(Laid, String)>) {
    let is_open = |one: &Wanted| one.marker.is_none() && !one.is_of_conda && !one.is_over && one.group.is_none();
    let (mut kept, mut gone): (Vec<Laid>, Vec<(Laid, String)>) = (Vec::new(), Vec::new());
    let place = |of: [usize; 2], line: usize| match of == [docker; 2] {
        true => format!("line {line}"),
        false => format!("{name}:{line}"),
    };
    for mut laid in all {
        let taken_out = uninstalls.iter().find(|(of, _, at)| *of == laid.one.name && *at > laid.one.at);
        if let Some((_, line, _)) = taken_out.filter(|_| laid.one.group.is_none() && laid.one.at > 0) {
            let why = format!("{} takes it out again", place([laid.of, docker], *line));
            gone.push((laid, why));
            continue;
        }
        let wanted = &mut laid.one;
        let is_same = |one: &Wanted| one.name == wanted.name && one.name != "python" && one.at != wanted.at;
        let is_before = |one: &Wanted| is_same(one) && is_open(one) && is_open(wanted);
        let (mut ends, mut is_there) = (Vec::new(), false);
        for (at, one) in kept.iter_mut().enumerate().filter(|(_, one)| is_before(&one.one)) {
            match is_replaced(&one.one, wanted) {
                true => ends.push(at),
                // What is there is a release that nobody names, and what is named is another as often as not.
                false if is_pin(wanted) && !is_pin(&one.one) => one.one.variant = None,
                false => is_there = true,
            }
        }
        if is_there {
            wanted.variant = None;
            wanted.sources.clear();
        }
        for at in ends.into_iter().rev() {
            let before = kept.remove(at);
            let place = place([before.of, laid.of], laid.line);
            gone.push((before, format!("{place} installs {} in its place", laid.one.written)));
        }
        kept.push(laid);
    }
    // What comes with torch brings it from the same index.
    if let Some(at) = kept.iter().position(|one| one.one.name == TORCH && is_open(&one.one)) {
        let brings = |one: &&Laid| ["torchaudio", "torchvision"].contains(&&*one.one.name) && is_pin(&one.one);
        let of_it = kept[..at].iter().filter(brings).find_map(|one| one.one.variant.clone());
        kept[at].one.variant = kept[at].one.variant.take().or(of_it);
    }
    (kept, gone)
}
