//! Tests of `page`.

use super::*;

const SPEC: &str = "[stack]\ntorch = \"1.12.1+cu102\" # why\n\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n\
                    driver = \"460.32.03\"\n";

#[test]
fn a_conflict_has_fixes_that_lead_to_an_answer() {
    let answer = lock(SPEC);
    assert!(answer.exit == 1 && answer.document.contains("\"culprits\""), "{answer:?}");
    let fixed = apply_fix(SPEC, 1).text.expect("the new text");
    assert!(fixed.contains("# why") && fixed != SPEC, "{fixed}");
    let answer = lock(&fixed);
    let text = answer.text.expect("a lock");
    assert!(answer.exit == 0 && text.contains("torch"), "{text}");
    assert!(export(&text, "dockerfile", "").exit == 2, "bare metal has no Dockerfile");
    assert!(export(&text, "requirements", "").text.is_some_and(|text| text.contains("torch==")));
    assert!(apply_fix(SPEC, 99).document.contains("no-such-fix"));
}

#[test]
fn builds_that_a_spec_brings_are_taken() {
    let own = "[stack]\ntorch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"8.0\", python = \"3.12\" }\n";
    let answer = lock(&format!("{own}[target.a]\ngpu = \"A100-PCIE-40GB\"\n"));
    assert!(answer.exit == 0 && answer.document.contains("\"torch\": \"2.8.0\""), "{answer:?}");
    let conflict = lock(&format!("{own}[target.a]\ngpu = \"V100\"\n"));
    assert!(conflict.exit == 1 && conflict.document.contains("your build of torch 2.8.0"), "{conflict:?}");
    let later = format!("{own}[target.a]\ngpu = \"none\"\n[catalog]\nversion = \">=2999.1.1\"\n");
    assert!(lock(&later).document.contains("catalog-version"));
}

#[test]
fn overlays_are_refused_at_their_place() {
    let text = format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n");
    let answer = lock(&text);
    assert!(answer.exit == 2 && answer.document.contains("\"no-files\""), "{answer:?}");
    assert!(answer.document.contains("\"line\": 8"), "{answer:?}");
}

#[test]
fn a_matrix_is_the_picture_of_the_command_with_its_cells() {
    let answer = matrix("torch", "RTX 5090", "2.9", "");
    let document: serde_json::Value = serde_json::from_str(&answer.document).unwrap();
    let cells = document["tables"][0]["cells"].as_array().unwrap();
    let picture = answer.text.expect("a picture");
    assert_eq!(picture.matches("<g class=").count(), cells.len());
    let first = picture.split("<g class=\"").nth(1).unwrap();
    assert!(first.starts_with(cells[0]["state"].as_str().unwrap()), "{first}");
    for (gpu, driver) in [("RTX 9999", ""), ("none", ""), ("H100", "5x5")] {
        assert_eq!(matrix("torch", gpu, "", driver).exit, 2, "{gpu} {driver}");
    }
    assert_eq!(matrix("torch", "", "99", "").exit, 2);
}

#[test]
fn a_message_is_read_beside_the_spec() {
    let text = SPEC.replace("+cu102", "");
    let message = "RuntimeError: CUDA error: no kernel image is available for execution on the device";
    assert!(diagnose(message, &text).document.contains("\"recognised\""));
    assert_eq!(diagnose("good morning", "").exit, 3);
}
