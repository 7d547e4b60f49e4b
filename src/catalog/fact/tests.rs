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
    assert_ne!(digest(&says(&row).to_string()), digest(&says(&corrected).to_string()));
    #[derive(Serialize)]
    struct Wider {
        #[serde(flatten)]
        row: Driver,
        new: Option<u8>,
        flag: bool,
    }
    let wider = Wider { row: row.clone(), new: None, flag: false };
    assert_eq!(digest(&says(&row).to_string()), digest(&says(&wider).to_string()));
}

#[test]
fn whatever_a_row_cites_is_told_as_its_source() {
    /// Fields that name a source, and whose names say what it tells.
    const OTHERS: &[&str] = &["tegra_disputed", "pools", "cudnn_headers", "broken"];
    fn check<'r, R: Cite + 'r>(rows: impl IntoIterator<Item = &'r R>) {
        for row in rows {
            let full = BUILTIN.full("", row);
            let told: HashSet<&str> = full.sources.iter().map(|basis| basis.id.as_str()).collect();
            assert_eq!(told, row.cites().into_iter().collect(), "{}", full.fact.id);
            let names_source = |field: &str| field.ends_with("source") || OTHERS.contains(&field);
            assert!(full.sources.iter().all(|basis| names_source(&basis.field)), "{full:?}");
            assert!(!full.told().any(|(field, _)| names_source(field)), "{full:?}");
        }
    }
    let c = &BUILTIN;
    check(&c.gpus);
    check(&c.branches);
    check(&c.oses);
    check(&c.rules);
    check(&c.practices);
    check(&c.python_patches);
    check(&c.toolkits);
    check(&c.cudnns);
    check(&c.nccls);
    check(&c.finished_wheels);
    check(&c.image_requires);
    check(c.builds.iter());
    check(c.companions.iter());
    check(c.images.iter());
    check(c.asks.iter());
}
