//! `[[silence]]`: warnings that are known and not to be repeated, each with the reason.

use std::collections::HashSet;

use super::error::{Refusal, quote};
use super::field;
use super::parse::known_target;
use super::value::{Item, Reader};
use super::{Silence, Written};

const SILENCE: &[&str] = &["warning", "target", "reason"];

impl Reader<'_> {
    /// The list of tables. Whether a code exists is asked later, like every name.
    pub(super) fn silences(&mut self, item: &Item<'_>, targets: Option<&Item<'_>>) -> Vec<Silence> {
        let tables = item.get_ref().as_array().filter(|list| list.iter().all(|item| item.get_ref().is_table()));
        let Some(tables) = tables else {
            let refusal = Refusal::new("type", "`silence` must be a list of tables");
            self.error(refusal.help("write `[[silence]]`, with two brackets on each side"), item.span());
            return Vec::new();
        };
        let mut seen = HashSet::new();
        let mut silences = Vec::new();
        for item in tables.iter() {
            let Some(read) = self.one_silence(item, targets) else { continue };
            let of = |one: &Written<String>| one.value.clone();
            if seen.insert((of(&read.warning), read.target.as_ref().map(of))) {
                silences.push(read);
            } else {
                let message = format!("warning {} is silenced twice for the same machines", quote(&read.warning.value));
                self.error(Refusal::new("duplicate", message).help("keep one of the two"), read.warning.span);
            }
        }
        silences
    }

    fn one_silence(&mut self, item: &Item<'_>, targets: Option<&Item<'_>>) -> Option<Silence> {
        let table = item.get_ref().as_table()?;
        let (mut warning, mut target, mut reason) = (None, None, None);
        for (key, span, item) in self.entries(table) {
            match key {
                "warning" => warning = self.string(key, item, |text| field::id("warning", text)),
                "target" => target = self.string(key, item, |text| known_target(text, targets)),
                "reason" => reason = self.string(key, item, field::reason),
                _ => self.unknown("silence", key, span, SILENCE),
            }
        }
        for (key, why) in [("warning", "the code between brackets"), ("reason", "why it is no matter here")] {
            if !table.contains_key(key) {
                let refusal = Refusal::new("missing", format!("this silence lacks `{key}`"));
                self.error(refusal.help(format!("add `{key} = \"…\"`: {why}")), item.span());
            }
        }
        Some(Silence { warning: warning?, target, reason: reason? })
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::parse;

    const HEAD: &str = "[stack]\ntorch = \"2.4\"\n[target.a]\ngpu = \"H100 NVL\"\n";

    fn codes(tail: &str) -> Vec<&'static str> {
        parse(&format!("{HEAD}{tail}")).err().unwrap_or_default().iter().map(|error| error.code).collect()
    }

    #[test]
    fn a_silence_names_a_warning_and_a_reason() {
        let text = format!("{HEAD}[[silence]]\nwarning = \"jit-only\"\ntarget = \"a\"\nreason = \"known\"\n");
        let spec = parse(&text).unwrap();
        let read = &spec.silences[0];
        assert_eq!((read.warning.value.as_str(), read.reason.value.as_str()), ("jit-only", "known"));
        assert_eq!(read.target.as_ref().map(|target| target.value.as_str()), Some("a"));
        assert!(spec.inputs().keys().all(|key| !key.contains("silence")), "no answer rests on it");
    }

    #[test]
    fn what_is_wrong_with_a_silence_is_told() {
        assert_eq!(codes("[[silence]]\nwarning = \"jit-only\"\n"), ["missing"]);
        assert_eq!(codes("[silence]\nwarning = \"jit-only\"\nreason = \"r\"\n"), ["type"]);
        assert_eq!(codes("[[silence]]\ncode = \"x\"\nwarning = \"x\"\nreason = \"r\"\n"), ["unknown-key"]);
        assert_eq!(codes("[[silence]]\nwarning = \"x\"\nreason = \"r\"\ntarget = \"b\"\n"), ["value"]);
        let twice = "[[silence]]\nwarning = \"x\"\nreason = \"r\"\n".repeat(2);
        assert_eq!(codes(&twice), ["duplicate"]);
    }
}
