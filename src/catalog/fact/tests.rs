//! Tests of `catalog::fact`.

use std::collections::HashSet;

use super::super::BUILTIN;
use super::*;

#[test]
fn every_id_is_one_of_a_kind() {
    let mut seen = HashSet::new();
    let twice: Vec<String> = BUILTIN.rows().map(|row| row.id).filter(|id| !seen.insert(id.clone())).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn every_id_leads_back_to_its_row() {
    let mut kind = "";
    for (at, row) in BUILTIN.rows().enumerate() {
        if at % 7 != 0 && row.kind == kind {
            continue;
        }
        kind = row.kind;
        let found = BUILTIN.row(&row.id).unwrap_or_else(|| panic!("{}", row.id));
        assert!(found.kind == kind && found.fact.id == row.id && found.fact.digest.len() == 16, "{found:?}");
        assert!(!found.fact.source.is_empty() && !found.fact.source.contains('{'), "{found:?}");
    }
    assert_eq!(BUILTIN.cited("torch-0.0-cu1-linux-x86_64"), None);
}

#[test]
fn a_corrected_row_has_another_digest_and_an_unsaid_field_changes_nothing() {
    let row = BUILTIN.drivers[0].clone();
    let corrected = Driver { date: Some("2000-01-01".into()), ..row.clone() };
    assert_ne!(digest(&says(&row)), digest(&says(&corrected)));
    #[derive(Serialize)]
    struct Wider {
        #[serde(flatten)]
        row: Driver,
        new: Option<u8>,
        flag: bool,
    }
    assert_eq!(digest(&says(&row)), digest(&says(&Wider { row: row.clone(), new: None, flag: false })));
}
