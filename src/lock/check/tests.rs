//! Tests of `lock::check`.

use super::*;

/// What people wrote in a few lines is told as they wrote it; what hides or reorders text is refused.
#[test]
fn prose_has_lines_and_nothing_unseen() {
    for good in ["", "älter als\r\n\tdas, 2.5 (§ 1)", "{ version = \"2.5.1\" }"] {
        assert!(is_prose(good), "{good:?}");
    }
    for bad in ["\u{1b}[31mred", "a\u{0}", "a\u{202e}b", "a\u{200b}b", "a\u{b}b"] {
        assert!(!is_prose(bad), "{bad:?}");
    }
}

/// `2027-03` or `2027-03-31`, and nothing longer.
#[test]
fn support_ends_on_a_day_or_in_a_month() {
    let of = |until: &str| RecommendedLock {
        release: "595.99.02".into(),
        branch: "595".into(),
        until: Some(until.into()),
        modules: None,
    };
    let is_taken = |until: &str| {
        let (minimum, mode, cuda) = (Some("550.54.14".into()), "native".into(), "12.4".into());
        let (others, except, recommended) = (Vec::new(), Vec::new(), Some(of(until)));
        driver("", &DriverLock { minimum, others, except, mode, cuda, compat: None, recommended }).is_ok()
    };
    assert!(is_taken("2027-03") && is_taken("2027-03-31"));
    assert!(!is_taken("2027-03-311") && !is_taken("2027-03-3x"));
}

#[test]
fn texts_have_a_length() {
    assert!(is_arch("x86_64") && !is_arch("z80") && !is_arch(""));
    let mode = |text| one_of(MODE, String::new, text).is_ok();
    assert!(mode("minor-version") && !mode("PWNED") && !mode(""));
    assert!(is_digest(&"a".repeat(64)) && !is_digest(&"a".repeat(65)) && !is_digest(""));
}

/// A lock names files as files are named, the spec below the lock, and an overlay with its sha256: one half will not do.
#[test]
fn files_are_named_as_files_are() {
    let of_overlay = |overlay: String| {
        let (version, digest) = ("2026.11.28".into(), "a".repeat(64));
        stamp(&CatalogStamp { version, digest, overlays: vec![overlay] }).is_ok()
    };
    let sha256 = "a".repeat(64);
    assert!(of_overlay(format!("site.toml sha256:{sha256}")));
    for bad in [format!("$(touch x) sha256:{sha256}"), "site.toml sha256:a".into(), "site.toml".into()] {
        assert!(!of_overlay(bad.clone()), "{bad}");
    }
    let mut lock = crate::lock::parse(include_str!("../../../gpuenv.lock")).unwrap();
    for (spec, is_taken) in [("jobs/a.toml", true), ("/etc/a.toml", false), ("$(touch x)", false)] {
        lock.spec = Some(spec.into());
        assert_eq!(values(&lock).is_ok(), is_taken, "{spec}");
    }
}
