//! Tests of `solve::rowset`.

use super::*;

/// Every operation against the plain definition, over sets with and without tail and across word borders.
#[test]
fn operations_agree_with_membership() {
    let base: Vec<RowSet> = vec![
        RowSet::empty(),
        RowSet::first(1),
        RowSet::first(64),
        RowSet::first(65),
        RowSet::filter(200, |row| row % 3 == 0),
        RowSet::filter(200, |row| row % 64 == 63),
        RowSet::singleton(130),
    ];
    let sets: Vec<RowSet> = base.iter().cloned().chain(base.iter().map(RowSet::complement)).collect();
    for a in &sets {
        assert_eq!(&a.complement().complement(), a);
        for b in &sets {
            let (both, either) = (a.intersection(b), a.union(b));
            for row in 0..260 {
                assert_eq!(both.has(row), a.has(row) && b.has(row));
                assert_eq!(either.has(row), a.has(row) || b.has(row));
                assert_eq!(a.complement().has(row), !a.has(row));
            }
            assert_eq!(a.is_disjoint(b), both == RowSet::empty());
            assert_eq!(a.subset_of(b), &both == a);
        }
    }
}

#[test]
fn rows_are_listed_in_order() {
    let rows: Vec<usize> = RowSet::filter(130, |row| row % 43 == 1).rows().collect();
    assert_eq!(rows, [1, 44, 87]);
    assert_eq!(RowSet::first(3).rows().count(), 3);
}
