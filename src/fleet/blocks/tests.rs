//! Tests of `fleet::blocks`.

use super::*;

#[test]
fn hosts_stand_above_what_they_said() {
    let of = |text: &str| -> Vec<(String, Option<String>)> {
        let blocks = of_text(text).unwrap_or_default();
        blocks.into_iter().map(|block| (block.hosts.join(" "), block.text)).collect()
    };
    let said = |hosts: &str, text: &str| (hosts.to_string(), Some(text.to_string()));
    let rule = "-".repeat(15);
    let clush = format!("{rule}\nn[08-10,12],login1 (5)\n{rule}\na\nb\n{rule}\nr1n[1-2]\n{rule}\nc\n");
    assert_eq!(of(&clush), [said("n08 n09 n10 n12 login1", "a\nb\n"), said("r1n1 r1n2", "c\n")]);
    let ansible = "n21 | CHANGED | rc=0 >>\na\nn23 | UNREACHABLE! => {\n    \"changed\": false\n}\n";
    assert_eq!(of(ansible), [said("n21", "a\n"), ("n23".to_string(), None)]);
    for other in [
        format!("{rule}\nEnvironment\n{rule}\nOS: Linux\n"),
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
