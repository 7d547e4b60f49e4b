//! Versions of pip, and the words of gpuenv.toml for them.

use super::versions::as_spec;
use super::*;

#[test]
fn versions_mean_what_pip_means() {
    let known = ["2.8.3", "2.8.3.post1", "2.8.3.post2", "2.9.1", "2.9.1.1"].map(|text| Version::parse(text).unwrap());
    for (pip, ours) in [
        ("==2.4", Some("2.4.0")),
        ("==2.4.*", Some("2.4")),
        ("!=2.4,<2.4.2", Some("!=2.4.0,<2.4.2")),
        (">2.4,<2.5", Some(">2.4.0,<2.5")),
        ("<=2.4", Some("<=2.4.0")),
        (">=2.4,~=2.4", Some(">=2.4,~=2.4")),
        ("^2.4", Some("^2.4")),
        ("==2.8.3", Some("2.8.3,<2.8.3.post1")),
        ("==2.8.3.post1", Some("2.8.3.post1")),
        ("==2.9.1", Some("2.9.1,<2.9.1.1")),
        ("<=2.8.3", Some("<=2.8.3,<2.8.3.post1")),
        ("!=2.8.3", None),
        (">2.8.3", Some(">2.8.3")),
        ("0.4.30||0.4.31", Some("0.4.30||0.4.31")),
        ("", Some("")),
    ] {
        assert_eq!(as_spec("flash-attn", pip, &known).as_deref(), ours, "{pip}");
    }
    assert_eq!(as_spec("python", ">3.9,!=3.9.7", &[]).as_deref(), Some(">=3.9,!=3.9.7"));
    assert_eq!(as_spec("cuda", "12.1", &[]).as_deref(), Some("12.1"));
}
