//! What kept texts are held to, and what of them may be older.

use crate::common::golden::{about, nearly};

#[test]
fn incidental_values_are_blank_and_others_are_not() {
    let lock =
        "catalog.version = \"2026.11.22\"\nstack.torch = \"2.7.1\"\n{ id = \"a\", source = \"b\", digest = \"c\" }\n";
    let blank = "catalog.version = \"\"\nstack.torch = \"2.7.1\"\n{ id = \"a\", source = \"\", digest = \"\" }\n";
    assert_eq!(about(lock), blank);
    assert_eq!(about("locked with catalog 2026.11.22\n"), "locked with catalog \n");
    assert_eq!(about("the catalog is of 2026.11.22."), "the catalog is of .");
    assert_eq!(about("catalog 12.4.1 and catalog of 3"), "catalog 12.4.1 and catalog of 3");
    assert_eq!(about("{\n  \"source\": \"https://x\"\n}"), "{\n  \"source\": \"\"\n}");
    assert!(nearly("drivers  590 12", "drivers 601  14") && !nearly("drivers 590", "drivers 690"));
    assert!(!nearly("drivers 590", "releases 590") && !nearly("drivers 590", "drivers 590 1"));
}
