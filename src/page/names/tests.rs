//! Tests of `page::names`.

use super::*;

#[test]
fn names_and_releases_are_the_catalogs() {
    let names: serde_json::Value = serde_json::from_str(&names()).unwrap();
    for kind in ["gpus", "packages", "drivers", "systems", "images", "pythons", "formats"] {
        assert!(names[kind].as_array().is_some_and(|list| list.len() > 3), "{kind}");
    }
    let gpus = names["gpus"].as_array().unwrap();
    assert!(gpus.iter().any(|gpu| gpu["name"] == "RTX 4090"), "{:?}", gpus[0]);
    let torch: Vec<String> = serde_json::from_str(&releases("torch")).unwrap();
    let at = torch.iter().position(|name| name == "2.5.1").expect("a release");
    assert!(torch[at + 1].starts_with("2.5.1+"), "{torch:?}");
    for (typed, name) in [("rtx4090", "RTX 4090"), ("3060ti", "RTX 3060 Ti"), ("4080 lap", "RTX 4080 Laptop GPU")] {
        let found: Vec<serde_json::Value> = serde_json::from_str(&matching("gpus", typed)).unwrap();
        assert!(found.first().is_some_and(|first| first["name"] == name), "{typed}: {found:?}");
    }
    assert!(matching("packages", "torchv").contains("torchvision") && matching("gpus", "radeon") == "[]");
    assert!(releases("cudnn").len() > 100 && releases("nothing") == "[]");
}
