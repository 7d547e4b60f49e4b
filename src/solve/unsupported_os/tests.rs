//! Tests of `solve::unsupported_os`.

use super::*;
use crate::catalog::BUILTIN;

#[test]
fn pythons_are_told_where_some_are_known() {
    let any = Constraint::any();
    let row = BUILTIN.other_builds.iter().find(|row| row.os == Family::Windows && row.pythons.len() > 1).unwrap();
    let says = |row: &OtherBuild, python: Option<&str>| {
        let python = python.map(|python| Constraint::parse(python).unwrap());
        published(&[row], &any, python.as_ref(), (row.os, row.arch))
    };
    let (first, last) = (row.pythons[0], row.pythons[row.pythons.len() - 1]);
    assert!(says(row, None).ends_with(&format!(", for Python {first} to {last}.")), "{}", says(row, None));
    assert!(says(row, Some("2.0")).ends_with(", but not for Python 2.0."));
    let only = OtherBuild { pythons: vec![first].into(), ..row.clone() };
    assert!(says(&only, None).ends_with(&format!(", for Python {first}.")));
    // Of a row without any nothing is said, not even that one is missing.
    let bare = OtherBuild { pythons: Vec::new().into(), default: false, ..row.clone() };
    let plain = format!("{} {} was published for Windows {} as {}.", row.package, row.version, row.arch, row.variant);
    assert_eq!((says(&bare, None), says(&bare, Some("3.12"))), (plain.clone(), plain));
}
