//! Tests of `diagnose::pattern`.

use super::*;

#[test]
fn no_match_is_longer() {
    for (pattern, wanted) in [
        (r"abc", 3),
        (r"ab?c\.", 4),
        (r"(?:one|three)x", 6),
        (r"a(?<x>\d{2,3})b", 5),
        (r"a.{0,10}?b[^)x]z{3}", 2 + 30 + 3 + 3),
        (r"a\d+?b", 2 + ENDLESS),
        (r"^(?:a|[]b-d])*$", 3 * ENDLESS),
    ] {
        assert_eq!(longest(pattern), wanted, "{pattern}");
    }
}

#[test]
fn every_match_holds_one_of_the_literals() {
    for (pattern, wanted) in [
        (r"Driver is too old \(found (?<x>\d+)", vec!["driveristooold(found"]),
        ("colou?rs and more", vec!["rsandmore"]),
        ("(?:either|or)", vec!["either", "or"]),
        ("one|other", vec!["one", "other"]),
        (r"one|\d+", vec![]),
        ("(?:one|other)? of", vec!["of"]),
        ("a(?<x>whole[0-9]group)b?", vec!["whole"]),
        ("a(?:whole)?b ?cd", vec!["bcd"]),
        ("ab{2,3}cdef", vec!["cdef"]),
        (r"[]a^]xyz\d+q", vec!["xyz"]),
    ] {
        assert_eq!(Pattern::normalised(pattern).literals, wanted, "{pattern}");
    }
}
