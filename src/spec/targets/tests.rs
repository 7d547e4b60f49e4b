//! Tests of `spec::targets`.

use super::*;

const SPEC: &str = "# ours\n[stack]\ntorch = \"2.5\" # why\n\n# the node\n[target.a]\ngpu = \"L4\" # four\n\n\
                    [resolve]\nshare = \"versions\"\n";

fn keys(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

#[test]
fn a_new_target_stands_behind_the_others_and_nothing_else_moves() {
    let text = add_target(SPEC, "b", &keys(&[("gpu", "[\"A100\", \"L4\"]"), ("driver", "535")])).unwrap();
    let wanted = "gpu = \"L4\" # four\n\n[target.b]\ngpu = [\"A100\", \"L4\"]\ndriver = \"535\"\n\n[resolve]";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(text.replace("[target.b]\ngpu = [\"A100\", \"L4\"]\ndriver = \"535\"\n\n", ""), SPEC);
    assert_eq!(remove_target(&text, "b").unwrap(), SPEC);
    let ends = add_target(&SPEC.replace('\n', "\r\n"), "b", &keys(&[("gpu", "L4")])).unwrap();
    assert!(!ends.replace("\r\n", "").contains('\n'), "{ends:?}");
}

#[test]
fn a_new_target_stands_behind_the_comments_of_the_one_before() {
    let head = "[stack]\ntorch = \"2.5\"\n\n[target.a]\ngpu = \"L4\"\n";
    let new = "\n[target.b]\ngpu = \"T4\"\n";
    let of_it = "# driver = \"550\"\n# image = \"nvidia/cuda\"\n";
    for (own, below) in [
        (of_it, ""),
        (of_it, "\n# [build]\n# ptx = true\n"),
        (of_it, "\n# of the next\n[resolve]\nshare = \"stack\"\n"),
        ("", "\n# of the next\n[resolve]\nshare = \"stack\"\n"),
        ("", "# of either\n[resolve]\nshare = \"stack\"\n"),
    ] {
        let text = add_target(&format!("{head}{own}{below}"), "b", &keys(&[("gpu", "T4")])).unwrap();
        assert_eq!(text, format!("{head}{own}{new}{below}"));
    }
}

#[test]
fn comments_go_with_what_they_stand_beside() {
    let spec = "[stack]\ntorch = \"2.5.1\"\n# keep this: ticket 9\n\n# the old node\n[target.lab]\ngpu = \"L4\"\n\
                # rack 12\n\n# between\n\n# new\n[target.prod]\ngpu = \"T4\"\n# rack 13\n";
    let text = remove_target(spec, "lab").unwrap();
    let head = "[stack]\ntorch = \"2.5.1\"\n# keep this: ticket 9\n\n";
    assert_eq!(text, format!("{head}# between\n\n# new\n[target.prod]\ngpu = \"T4\"\n# rack 13\n"));
    let text = remove_target(spec, "prod").unwrap();
    let kept = spec.split("# new").next().unwrap();
    assert_eq!(text, kept);
}

#[test]
fn the_first_target_of_a_file_and_targets_in_braces() {
    let text = add_target("[stack]\ntorch = \"*\"\n", "a", &keys(&[("gpu", "L4")])).unwrap();
    assert_eq!(text, "[stack]\ntorch = \"*\"\n\n[target.a]\ngpu = \"L4\"\n");
    let text = add_target("[stack]\ntorch = \"*\"\n", "a", &[]).unwrap();
    assert_eq!(text, "[stack]\ntorch = \"*\"\n\n[target.a]\n");
    let braces = "stack.torch = \"*\"\ntarget = { a = { gpu = \"L4\" } }\n";
    let text = add_target(braces, "b", &keys(&[("gpu", "T4")])).unwrap();
    assert!(text.contains("a = { gpu = \"L4\" }") && text.contains("b = { gpu = \"T4\""), "{text}");
    assert!(remove_target(&text, "a").unwrap().contains("b = {"));
    assert!(remove_target(SPEC, "c").is_err());
}
