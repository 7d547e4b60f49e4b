//! Tests of `diagnose::signatures`.

use super::*;

#[test]
fn majors_are_compared_where_both_are_known() {
    let mut extract = Extract::new();
    value::add(&mut extract, "cuda_torch", "12.4");
    assert!(!majors_hold("cuda_torch != cuda_toolkit", &extract));
    value::add(&mut extract, "cuda_toolkit", "11.5");
    assert!(majors_hold("cuda_torch != cuda_toolkit", &extract));
    assert!(majors_hold("cuda_torch > cuda_toolkit", &extract));
    assert!(!majors_hold("cuda_toolkit > cuda_torch", &extract));
    for (driver, behind) in [("470.256.02", true), ("550.54.15", false), ("525.60.13", false)] {
        extract.remove("driver");
        value::add(&mut extract, "driver", driver);
        assert_eq!(majors_hold("cuda_torch > driver", &extract), behind, "{driver}");
    }
}

#[test]
fn one_endless_line_is_read_in_part() {
    let endless = "ünd gpu 0: é ".repeat(300_000);
    let text = Normalised::new(&endless);
    let literals: Vec<_> = text.lower.match_indices("gpu0:").map(|(at, word)| at..at + word.len()).collect();
    let read: usize = surroundings(&literals, 50, &text.lower).iter().map(Range::len).sum();
    assert!(read <= 2 * READ, "{read} of {}", text.text.len());
}
