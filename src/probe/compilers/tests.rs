//! Tests of `probe::compilers`.

use super::*;

#[test]
fn compilers_say_their_versions_in_many_ways() {
    let fsf = "\nCopyright (C) 2023 Free Software Foundation, Inc.";
    for (first, kind, version) in [
        ("g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", Some("gcc"), Some("13.3.0")),
        ("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-18)", Some("gcc"), Some("8.5.0")),
        ("c++ (Debian 12.2.0-14) 12.2.0", Some("gcc"), Some("12.2.0")),
        ("gcc (\u{1b}[31m) nothing", Some("gcc"), None),
    ] {
        let wanted = version.map(|text| Version::parse(text).unwrap());
        assert_eq!(read(&format!("{first}{fsf}")), (kind, wanted), "{first}");
    }
    let clang = |text| read(text).1.map(|version| version.to_string());
    assert_eq!(clang("Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x"), Some("18.1.3".into()));
    assert_eq!(clang("clang version 17.0.6"), Some("17.0.6".into()));
    assert_eq!(read("icpx 2024.1"), (None, None));
}
