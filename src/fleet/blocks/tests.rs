//! Tests of `fleet::blocks`.

use super::*;

#[test]
fn hosts_stand_above_what_they_said() {
    let of = |text: &str| -> Vec<(String, Option<String>)> {
        let blocks =
            of_text(text, |block| block.text.as_ref().is_ok_and(|text| text.contains("GPU"))).unwrap_or_default();
        blocks.into_iter().map(|block| (block.hosts.join(" "), block.text.ok())).collect()
    };
    let said = |hosts: &str, text: &str| (hosts.to_string(), Some(text.to_string()));
    let unsaid = |hosts: &str| (hosts.to_string(), None);
    let rule = "-".repeat(15);
    let clush = format!("{rule}\nn[08-10,12],login1 (5)\n{rule}\na\nb\n{rule}\nr1n[1-2]\n{rule}\nc\n");
    assert_eq!(of(&clush), [said("n08 n09 n10 n12 login1", "a\nb\n"), said("r1n1 r1n2", "c\n")]);
    let lab = format!("{rule}\nstout\n{rule}\nGPU\n{rule}\nbock\n{rule}\nno GPU\n");
    assert_eq!(of(&lab), [said("stout", "GPU\n"), said("bock", "no GPU\n")]);
    let groups = format!("{rule}\nn[1-5/2] (3)\n{rule}\na\n{rule}\n@old (12)\n{rule}\nb\n{rule}\nstout\n{rule}\nc\n");
    assert_eq!(of(&groups), [said("n1 n3 n5", "a\n"), unsaid("@old (12)"), said("stout", "c\n")]);
    let first = format!("{rule}\n@old (12)\n{rule}\na\n{rule}\nn1\n{rule}\nb\n");
    assert_eq!(of(&first), [unsaid("@old (12)"), said("n1", "b\n")]);
    // Of a host's own report its rules are others.
    let report = format!("{rule}\nn1\n{rule}\n-----\nPATH\n-----\na\n");
    assert_eq!(of(&report), [said("n1", "-----\nPATH\n-----\na\n")]);
    let ansible = "n21 | CHANGED | rc=0 >>\na\nn23 | UNREACHABLE! => {\n    \"changed\": false\n}\n";
    assert_eq!(of(ansible), [said("n21", "a\n"), ("n23".to_string(), None)]);
    for other in [
        format!("{rule}\nEnvironment\n{rule}\nOS: Linux\n"),
        format!("{rule}\nGPUs\n{rule}\nGPU\n{rule}\nPackages\n{rule}\ntorch\n"),
        format!("a report\n{rule}\nn1\n{rule}\n"),
        format!("{rule}\nn[1-99999999]\n{rule}\n"),
        format!("{rule}\nn[3-1]\n{rule}\n"),
        format!("{rule}\nn[{}-1]\n{rule}\n", "0".repeat(70_000)),
        format!("{rule}\nn[1-60000][1-60000]\n{rule}\n"),
        "| NVIDIA-SMI | CHANGED |\n".to_string(),
    ] {
        assert_eq!(of(&other), [], "{other}");
    }
}
