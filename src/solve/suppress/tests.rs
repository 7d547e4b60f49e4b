//! Tests of `solve::suppress`.

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
