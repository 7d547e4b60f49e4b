//! Pairs of constraints, and what both admit.

use super::*;

#[test]
fn what_both_admit_is_said_in_few_words() {
    for (one, other, both) in [
        (">=2.0", "<2.4", Some(">=2.0,<2.4")),
        (">=1.13.0", ">=2.2.0", Some(">=2.2.0")),
        (">=1.13.0", ">=2.2.0,<3", Some(">=2.2.0,<3")),
        (">=1.9,<4", ">=2.2.0,<3", Some(">=2.2.0,<3")),
        ("2.3.1", ">=2", Some("2.3.1")),
        ("2.3.1", "+cu121", Some("2.3.1+cu121")),
        (">=2.4,+cu124", "2.6.0", Some("2.6.0+cu124")),
        ("2.3.1", "2.3.1+cu121", Some("2.3.1+cu121")),
        ("2.3.1+cu118", "2.3.1+cu121", None),
        ("*", ">=2.0rc1", Some(">=2.0rc1")),
        ("*", "*", Some("*")),
        (">=2.4", "2.3.1", None),
        ("!=2.3.1", "2.3.1", None),
        (">=2.0", "!=2.1.0", Some(">=2.0,!=2.1.0")),
        (">=2.6.0,+cu130", "<=2.10.0", Some(">=2.6.0,<=2.10.0,+cu130")),
        ("2.8.3,<2.8.3.post1", ">=2.8", Some("2.8.3,<2.8.3.post1")),
        ("3.12", ">=3.10", Some("3.12")),
        ("11.8.0", "11.8", Some("11.8.0")),
        ("0.4.30||0.4.31", ">=0.4.31", Some("0.4.31")),
        (">2.4.0,<2.5", "~=2.4", Some(">2.4.0,<2.5")),
        ("~=2.4", "<2.6", Some("~=2.4,<2.6")),
        (">2.4.0", "<2.4.1", None),
    ] {
        let read = |text: &str| Constraint::parse(text).unwrap();
        let told = |one, other| intersect(&read(one), &read(other)).map(|both| both.as_str().to_string());
        assert_eq!(told(one, other).as_deref(), both, "{one} and {other}");
        assert_eq!(told(other, one).is_some(), both.is_some(), "{other} and {one}");
    }
}
