//! Tests of `cli::complete`.

use super::*;
use crate::catalog::BUILTIN;

fn offered(completer: &ArgValueCompleter, typed: &str) -> Vec<String> {
    let found = completer.complete(OsStr::new(typed));
    found.iter().map(|one| one.get_value().to_str().unwrap().to_string()).collect()
}

#[test]
fn gpus_are_found_by_any_word_and_need_no_quotes() {
    let found = offered(&gpus(), "rtx-4090");
    assert!(found[0] == "RTX-4090" && found.contains(&"RTX-4090-Laptop-GPU".to_string()), "{found:?}");
    assert!(offered(&gpus(), "4090").contains(&"RTX-4090".to_string()));
    for (typed, name) in
        [("rtx4090", "RTX-4090"), ("3060ti", "RTX-3060-Ti"), ("RTX 409", "RTX-4090"), ("'RTX 409", "RTX-4090")]
    {
        assert_eq!(offered(&gpus(), typed).first().map(String::as_str), Some(name), "{typed}");
    }
    assert!(offered(&gpus(), "H1").contains(&"H100-NVL".to_string()));
    assert!(offered(&gpus(), "Radeon").is_empty());
    let all = offered(&gpus(), "");
    assert!(all.len() > BUILTIN.gpus.len() / 2, "{} of {}", all.len(), BUILTIN.gpus.len());
    assert!(all.iter().all(|name| !name.contains(char::is_whitespace)), "{all:?}");
}

#[test]
fn packages_and_releases_come_from_the_catalog() {
    assert!(offered(&packages(), "to").contains(&"torchvision".to_string()));
    assert!(offered(&packages(), "vll").contains(&"vllm".to_string()));
    let torch = offered(&releases("torch"), "2.");
    assert!(torch.len() > 20 && torch.contains(&"2.5.1".to_string()), "{torch:?}");
    assert!(offered(&systems(), "ubuntu22").contains(&"ubuntu22.04".to_string()));
    assert!(offered(&images(), "nvidia").contains(&"nvidia/cuda".to_string()));
    assert!(offered(&topics(), "driver-").contains(&"driver-end-of-life".to_string()));
}
