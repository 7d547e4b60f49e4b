//! Ranges of Poetry's and pip's, and what `[packages]` says of them.

use super::*;

#[test]
fn ranges_are_written_as_pip_reads_them() {
    for (version, wanted) in [
        ("", "one"),
        ("1.26.4", "one==1.26.4"),
        (">=1.10,<2", "one>=1.10,<2"),
        ("^4.41", "one>=4.41,<5"),
        ("^0.2.3", "one>=0.2.3,<0.3"),
        ("^0.0", "one>=0.0,<0.1"),
        ("^0.0.3", "one>=0.0.3,<0.0.4"),
        ("~1.2.3", "one~=1.2.3"),
        ("~1", "one==1.*"),
        ("~=1.2", "one~=1.2"),
    ] {
        assert_eq!(requirement(&Wanted::new("one", version, 1)).as_deref(), Ok(wanted), "{version}");
    }
    for version in ["1||2", "^1.x", "latest"] {
        assert!(requirement(&Wanted::new("one", version, 1)).unwrap_err().contains(version));
    }
}
