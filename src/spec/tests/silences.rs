//! `[[silence]]`: warnings that are known and not to be repeated, each with the reason.

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
