//! Tests of `solve::unsupported_os`.

use super::*;
use crate::catalog::BUILTIN;

#[test]
fn pythons_are_told_where_some_are_known() {
    let any = Constraint::any();
    let row = BUILTIN.other_builds.iter().find(|row| row.os == Family::Windows && row.pythons.len() > 1).unwrap();
    let says = |row: &OtherBuild, python: Option<&str>| {
        let python = python.map(|python| Constraint::parse(python).unwrap());
        published(&[row], &any, python.as_ref(), (row.os, row.arch), true)
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

#[test]
fn what_was_only_not_seen_is_left_open() {
    let any = Constraint::any();
    let first = BUILTIN.other_builds.iter().find(|row| row.package == "torch" && row.os == Family::Windows).unwrap();
    let all: Vec<&OtherBuild> =
        BUILTIN.other_builds.iter().filter(|row| row.version == first.version && row.os == first.os).collect();
    let says = |is_whole| published(&all, &any, None, (first.os, first.arch), is_whole);
    assert!(says(true).contains("was published for Windows") && says(false).contains("is known so far for Windows"));
    // Of a release that Linux has more variants of than were seen, others may be there.
    let linux = BUILTIN.builds.of("torch").iter().rfind(|row| !row.is_cpu()).unwrap();
    let cpu = OtherBuild { version: linux.version, arch: linux.arch, variant: "cpu".into(), ..first.clone() };
    assert!(!is_whole(&BUILTIN, &[&cpu], &any) && is_whole(&BUILTIN, &[&cpu], &Constraint::parse("+cpu").unwrap()));
}
