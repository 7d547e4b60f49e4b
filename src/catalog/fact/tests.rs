//! Tests of `catalog::fact`.

use std::collections::HashSet;

use super::super::BUILTIN;
use super::*;

fn all_ids() -> Vec<String> {
    fn ids<'r, R: Cite + 'r>(rows: impl IntoIterator<Item = &'r R>) -> impl Iterator<Item = String> {
        rows.into_iter().map(|row| {
            assert!(row.id().contains(row.hint()), "{}", row.id());
            row.id()
        })
    }
    let c = &BUILTIN;
    let pins = ids(&c.libraries).chain(ids(&c.source_builds)).chain(ids(&c.listings)).chain(ids(&c.practices));
    let hosts = ids(&c.gpus).chain(ids(&c.branches)).chain(ids(&c.drivers)).chain(ids(&c.oses));
    let cuda = ids(&c.toolkits).chain(ids(&c.ptx_isas)).chain(ids(&c.compats)).chain(ids(&c.extensions));
    let libraries = ids(&c.cudnns).chain(ids(&c.nccls)).chain(ids(c.builds.iter())).chain(ids(c.companions.iter()));
    let others = ids(&c.other_builds).chain(ids(&c.finished_wheels)).chain(ids(&c.windows_drivers));
    let images = ids(c.images.iter())
        .chain(ids(&c.image_requires))
        .chain(ids(&c.pythons))
        .chain(ids(&c.python_patches))
        .chain(ids(&c.rules))
        .chain(ids(&c.modules))
        .chain(ids(&c.services))
        .chain(ids(&c.shared_modules))
        .chain(ids(c.asks.iter()))
        .chain(ids(&c.ptxases));
    hosts.chain(pins).chain(cuda).chain(libraries).chain(others).chain(images).collect()
}

#[test]
fn every_id_is_one_of_a_kind() {
    let ids = all_ids();
    let mut seen = HashSet::new();
    let twice: Vec<&String> = ids.iter().filter(|id| !seen.insert(*id)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn every_id_leads_back_to_its_row() {
    let ids = all_ids();
    for id in ids.iter().step_by(7) {
        let fact = BUILTIN.cited(id).unwrap_or_else(|| panic!("{id}"));
        assert!(fact.id == *id && fact.digest.len() == 16 && !fact.source.is_empty(), "{fact:?}");
        assert!(!fact.source.contains('{'), "{fact:?}");
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
    (
        check(&c.gpus),
        check(&c.branches),
        check(&c.oses),
        check(&c.rules),
        check(&c.practices),
        check(&c.python_patches),
    );
    (check(&c.toolkits), check(&c.cudnns), check(&c.nccls), check(&c.finished_wheels), check(&c.image_requires));
    (check(c.builds.iter()), check(c.companions.iter()), check(c.images.iter()), check(c.asks.iter()));
}
