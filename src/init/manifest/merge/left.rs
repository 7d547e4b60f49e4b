//! What is told of lines that the draft does not hold as they stand.

use super::super::claims::{Claim, Settled};
use super::super::{Left, Wanted};
use super::{Merged, place};
use crate::types::{distinct, variant};

impl Merged<'_> {
    /// Tells of the extras and groups that were not taken: those with something that gpuenv chooses, and all others.
    pub(super) fn leave_groups(&mut self, file: &str, beside: &[Wanted]) {
        let mut told: [Option<(usize, String)>; 2] = [None, None];
        for group in distinct(beside.iter().filter_map(|one| one.group.as_deref())) {
            let of_it: Vec<&Wanted> = beside.iter().filter(|one| one.group.as_deref() == Some(group)).collect();
            let text = of_it.iter().map(|one| one.written.as_str()).collect::<Vec<_>>().join(", ");
            let place = &mut told[usize::from(!of_it.iter().any(|one| self.is_chosen(one)))];
            match place {
                Some((_, all)) => *all += &format!("; {group}: {text}"),
                None => *place = Some((of_it[0].line, format!("{group}: {text}"))),
            }
        }
        for (told, which) in told.into_iter().zip([" with packages that gpuenv chooses", ""]) {
            let Some((line, text)) = told else { continue };
            let why = format!("extras and groups{which}, which no line of these files names: take one with --extra");
            self.leave(file, line, &text, why);
        }
    }

    /// Tells of libraries in one line: an exported environment has a hundred of them.
    pub(super) fn leave_libraries(&mut self, file: &str) {
        let libraries = std::mem::take(&mut self.libraries);
        let Some((line, _)) = libraries.first() else { return };
        let names: Vec<&str> = libraries.iter().map(|(_, name)| name.as_str()).collect();
        let why =
            "of conda alone, or not known to be on the package index by this name: put under [packages] what it has";
        self.leave(file, *line, &names.join(", "), why.to_string());
    }

    /// Tells of a wheel's address, which the draft does not hold; what lies on an index of PyTorch's
    /// is found there again.
    pub(super) fn leave_address(&mut self, file: &str, wanted: &Wanted) {
        let Some(address) = &wanted.address else { return };
        self.of_wheel(file, wanted);
        if !address.contains("download.pytorch.org") {
            let why =
                "the version is taken, not this file: to have it, write a build of your own, with `url` and `cuda`";
            self.leave(file, wanted.line, &wanted.written, why.to_string());
        }
    }

    /// Takes the Python and the torch that a wheel is for which a line names.
    pub(super) fn of_wheel(&mut self, file: &str, wanted: &Wanted) {
        let of_wheel = format!("{}, whose wheel is for it", place(file, wanted.line));
        if let Some(python) = wanted.python.clone().filter(|_| wanted.marker.is_none()) {
            self.pythons.push((python, of_wheel.clone()));
        }
        // `2.8.3+cu12torch2.8cxx11abiFALSE`
        let label = variant::parts(&wanted.version).1.and_then(|label| label.split_once("torch"));
        let line =
            label.map_or("", |(_, torch)| torch.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or(""));
        if line.contains('.') && wanted.address.is_some() && wanted.marker.is_none() {
            self.torches.push((line.to_string(), of_wheel));
        }
    }

    pub(super) fn leave(&mut self, file: &str, line: usize, text: &str, why: String) {
        let left = Left { file: file.to_string(), line, text: text.to_string(), why };
        if !self.left.contains(&left) {
            self.left.push(left);
        }
    }

    /// Tells of the lines that do not go with what was taken.
    pub(super) fn leave_refused<T>(&mut self, taken: &str, settled: &Settled<T>) {
        self.leave_each(&settled.refused, &format!("`{taken}` is taken instead ({})", settled.note()));
    }

    pub(super) fn leave_each<T>(&mut self, claims: &[Claim<T>], why: &str) {
        for Claim { line: (file, line, text), .. } in claims {
            self.leave(file, *line, text, why.to_string());
        }
    }
}
