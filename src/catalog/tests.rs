//! Tests of `catalog`.

use super::*;

#[test]
fn the_builtin_catalog_stands_on_its_own() {
    assert_eq!(lint::lint_built_in(&BUILTIN), []);
    assert_eq!(BUILTIN.digest.len(), 64);
    assert!(BUILTIN.rows().count() > 1000);
}

#[test]
fn a_broken_catalog_is_refused_with_its_row() {
    let text = r#"
        driver = [
          { version = "535.54.03", source = "nowhere" },
          { version = "535.54.03", date = "yesterday", source = "nowhere" },
          { version = "535.98", date = "2026-08-08", source = "nowhere" },
          { version = "535.104.05", date = "2023-08-08", source = "nowhere" },
        ]
    "#;
    let said: Vec<String> = lint::lint(&toml::from_str(text).unwrap()).into_iter().map(|f| f.says).collect();
    for part in [
        "stands twice",
        "`nowhere` does not exist",
        "`yesterday` is not a date",
        "branch 535 does not exist",
        "is dated long before",
    ] {
        assert!(said.iter().any(|says| says.contains(part)), "{part}: {said:?}");
    }
    assert!(toml::from_str::<Catalog>("drivers = []").is_err());
    assert!(toml::from_str::<Catalog>("driver = [{ version = \"1\", source = \"s\", colour = \"red\" }]").is_err());
}
