//! Tests of `types::version`.

use super::*;

fn v(text: &str) -> Version {
    Version::parse(text).unwrap()
}

#[test]
fn spelling_is_kept_and_numbers_decide() {
    assert_eq!(v("460.32.03").to_string(), "460.32.03");
    assert_eq!(v("450.80.02"), v("450.80.2"));
    assert_eq!(v("12.4"), v("12.4.0"));
    for (less, more) in [
        ("2.9.1", "2.10.0"),
        ("9.1.0.70", "9.1.1.17"),
        ("525.60.13", "525.116.03"),
        ("2.15.0rc1", "2.15.0"),
        ("2.8.0.dev20250408", "2.8.0rc1"),
        ("2.25.1", "2.25.1.post1"),
    ] {
        assert!(v(less) < v(more), "{less} < {more}");
    }
}

#[test]
fn prefix_comparison_looks_only_at_what_was_written() {
    assert_eq!(v("12.4.1").cmp_prefix(&v("12.4")), Ordering::Equal);
    assert_eq!(v("535.183.01").cmp_prefix(&v("535")), Ordering::Equal);
    assert_eq!(v("12.10").cmp_prefix(&v("12.9")), Ordering::Greater);
    assert_eq!(v("535.183.01").prefix(1).as_str(), "535");
    assert_eq!(v("12.4").prefix(5).as_str(), "12.4");
}

#[test]
fn rubbish_is_refused() {
    for text in ["", ".", "12.", ".4", "12..4", "a", "12.x", "1.2foo3", "１２", "12 4", "-1", &"9".repeat(65)] {
        assert!(Version::parse(text).is_err(), "{text:?}");
    }
    assert!(Version::parse("999999999999999999.0").is_ok());
}

#[test]
fn the_fast_path_agrees_with_the_slow_one() {
    let texts = [
        "0",
        "1",
        "1.0",
        "1.0.1",
        "1.2.3.4",
        "1.2.3.4.5",
        "1.2.3.4.0",
        "4294967296.1",
        "1rc1",
        "1.0rc1",
        "1.0.dev20250408",
        "1.0.post2",
        "1.0.0.post10",
        "1.2.3.4.post1",
        "1.2.3.4.5rc1",
    ];
    let slow = |text: &str| Version(Box::leak(Box::new(Written { fits: false, ..Written::new(v(text).0.text) })));
    for a in texts {
        for b in texts {
            assert_eq!(v(a).cmp(&v(b)), slow(a).cmp(&slow(b)), "{a} {b}");
            assert_eq!(v(a).cmp_prefix(&v(b)), slow(a).cmp_prefix(&slow(b)), "{a} {b}");
        }
        assert_eq!(v(a).len(), split_tail(a).0.split('.').count(), "{a}");
    }
}

#[test]
fn equal_versions_hash_alike() {
    use std::collections::HashSet;
    let set: HashSet<Version> = [v("12.4"), v("12.4.0"), v("12.04"), v("12.4.0.0.0")].into_iter().collect();
    assert_eq!(set.len(), 1);
}
