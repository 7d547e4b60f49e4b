//! Tests of `types::constraint`.

use super::*;

fn admits(constraint: &str, version: &str) -> bool {
    Constraint::parse(constraint).unwrap().admits(&Version::parse(version).unwrap())
}

#[test]
fn operators_compare_only_written_components() {
    for (constraint, yes, no) in [
        ("12.4", "12.4.1", "12.40.1"),
        ("12.4.*", "12.4.0", "12.5.0"),
        ("<=12.4", "12.4.1", "12.5.0"),
        ("<=535", "535.183.01", "545.23.06"),
        (">535", "545.23.06", "535.183.01"),
        (">=2.4,<2.8", "2.7.1", "2.8.0"),
        ("!=2.5", "2.4.1", "2.5.1"),
        ("~=2.4", "2.9.0", "3.0.0"),
        ("~=2.4.1", "2.4.2", "2.5.0"),
        ("1.12 || >=2.4", "1.12.1", "2.3.0"),
        ("*", "9.9", "9.9rc1"),
        ("==2.15.0rc1", "2.15.0rc1", "2.15.0"),
        (">=450.80.02", "450.80.02", "450.57"),
    ] {
        assert!(admits(constraint, yes), "{constraint} admits {yes}");
        assert!(!admits(constraint, no), "{constraint} refuses {no}");
    }
}

#[test]
fn variants_stand_after_bare_versions_or_alone() {
    let version = Version::parse("2.5.1").unwrap();
    let pinned = Constraint::parse("2.5.1+cu124").unwrap();
    assert!(pinned.admits_build(&version, "cu124"));
    assert!(!pinned.admits_build(&version, "cu121"));
    assert!(pinned.pins_variant() && pinned.names_variant("cu124"));
    assert!(Constraint::parse("+cu118").unwrap().admits_build(&version, "cu118"));
    assert!(matches!(Constraint::parse("<2.5+cu124"), Err(ConstraintError::VariantAfterOrder(_))));
    assert!(matches!(Constraint::parse("2.5+"), Err(ConstraintError::Variant(_))));
}

#[test]
fn malformed_constraints_say_why() {
    for text in ["", ",", ">=", ">=2,", "||", "=>2", ">=1.*", "~=2", "2 3", "two", "+CU124", "==+", "\u{1b}[31m"] {
        let error = Constraint::parse(text).unwrap_err().to_string();
        assert!(!error.is_empty() && !error.contains('\u{1b}'), "{text:?}: {error:?}");
    }
}

#[test]
fn cutting_never_refuses_what_the_longer_text_admits() {
    for text in ["12.4.1", ">=12.4.1", "<12.4.1", ">12.4.1", "!=12.4.1", "~=12.4.1", "<=12.4.1,>=11"] {
        let full = Constraint::parse(text).unwrap();
        let cut = full.cut_to(2);
        for patch in ["11.0.1", "12.3.2", "12.4.0", "12.4.1", "12.4.2", "12.5.0"] {
            let version = Version::parse(patch).unwrap();
            if full.admits(&version) {
                assert!(cut.admits(&version.prefix(2)), "{text} cut admits {patch}");
            }
        }
    }
}
