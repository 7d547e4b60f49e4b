//! Warnings that the user has heard and answered: left out, and those that answer nothing are told in turn.

use crate::spec::{Silence, Spec};

use crate::warning::{CatalogOld, Kind, UnusedSilence, Warning};

/// Stays even where everything else is silenced, unless it is silenced by name itself.
const UNUSED: &str = UnusedSilence::CODE;

/// Given on stderr by the day: that it was not given today is no reason to delete its silence.
const OF_THE_DAY: &str = CatalogOld::CODE;

/// What is left of the warnings. A silence for one target takes away that target's part of a warning only.
pub fn heard(spec: &Spec, warnings: Vec<Warning>) -> Vec<Warning> {
    let mut used: Vec<bool> = spec.silences.iter().map(|silence| silence.warning.value == OF_THE_DAY).collect();
    let mut heard = Vec::new();
    for mut warning in warnings {
        let mut silenced = false;
        for (silence, used) in spec.silences.iter().zip(&mut used) {
            if silence.warning.value != warning.code {
                continue;
            }
            let Some(target) = &silence.target else {
                (silenced, *used) = (true, true);
                continue;
            };
            let before = warning.keys.len();
            warning.keys.retain(|key| !is_of(key, &target.value));
            if warning.keys.len() < before {
                *used = true;
                // Of a warning about no target any more the keys of packages say nothing.
                silenced |= !warning.keys.iter().any(|key| key.starts_with("target."));
            }
        }
        if !silenced {
            heard.push(warning);
        }
    }
    let unused = spec.silences.iter().zip(used).filter(|(_, used)| !used).map(|(silence, _)| silence);
    // One that silences this very warning is unused where it has none to silence.
    let (own, others): (Vec<&Silence>, Vec<&Silence>) = unused.partition(|one| one.warning.value == UNUSED);
    let told = match (own.is_empty(), others.is_empty()) {
        (true, _) => others,
        (false, true) => own,
        (false, false) => Vec::new(),
    };
    heard.extend(told.into_iter().map(self::unused));
    heard
}

fn is_of(key: &str, target: &str) -> bool {
    let rest = key.strip_prefix("target.").and_then(|rest| rest.strip_prefix(target));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn unused(silence: &Silence) -> Warning {
    let unused = UnusedSilence {
        warning: &silence.warning.value,
        target: silence.target.as_ref().map(|target| target.value.as_str()),
    };
    Warning::about(&unused, &[format!("silence.{}", silence.warning.value)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warning::JitOnly;

    const HEAD: &str = "[stack]\ntorch = \"2.4\"\n[target.a]\n[target.ab]\n";

    fn left(tables: &str, warnings: Vec<Warning>) -> Vec<(&'static str, usize)> {
        let spec = crate::spec::parse(&format!("{HEAD}{tables}")).unwrap();
        heard(&spec, warnings).iter().map(|warning| (warning.code, warning.keys.len())).collect()
    }

    fn given() -> Vec<Warning> {
        let keys = ["target.a.gpu".to_string(), "target.ab.gpu".to_string()];
        vec![Warning::about(&JitOnly { what: "it", gpus: &["K80"] }, &keys)]
    }

    #[test]
    fn a_silence_takes_away_what_it_names() {
        let one = "[[silence]]\nwarning = \"jit-only\"\nreason = \"known\"\n";
        assert_eq!(left(one, given()), []);
        assert_eq!(left("", given()), [("jit-only", 2)]);
        let of_a = format!("{one}target = \"a\"\n");
        assert_eq!(left(&of_a, given()), [("jit-only", 1)]);
        assert_eq!(left(&format!("{of_a}{one}target = \"ab\"\n"), given()), []);
        let of_a_alone =
            vec![Warning { keys: vec!["stack.torch".to_string(), "target.a.gpu".to_string()], ..given().remove(0) }];
        assert_eq!(left(&of_a, of_a_alone), []);
    }

    #[test]
    fn a_silence_of_nothing_is_told() {
        let other = "[[silence]]\nwarning = \"jit-limited\"\nreason = \"known\"\n";
        assert_eq!(left(other, given()), [("jit-only", 2), ("unused-silence", 1)]);
        let this = "[[silence]]\nwarning = \"unused-silence\"\nreason = \"one spec for many hosts\"\n";
        assert_eq!(left(&format!("{other}{this}"), given()), [("jit-only", 2)]);
        assert_eq!(left(this, given()), [("jit-only", 2), ("unused-silence", 1)]);
    }
}
