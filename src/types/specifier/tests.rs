//! Tests of `types::specifier`.

use super::*;

#[test]
fn specifiers_of_pip_are_kept_as_written() {
    for (text, told) in [
        (">=4.50", ">=4.50"),
        (" >= 4.50 , < 5 ", ">=4.50,<5"),
        ("==1.2.*", "==1.2.*"),
        ("~=1.4.2", "~=1.4.2"),
        ("!=2.0.0rc1", "!=2.0.0rc1"),
        ("==1!2.0.post1.dev3", "==1!2.0.post1.dev3"),
        ("==2.8.0+cu126", "==2.8.0+cu126"),
        ("[torch,audio]>=4", "[audio,torch]>=4"),
        ("[torch]", "[torch]"),
        ("[torch] *", "[torch]"),
        ("*", "*"),
    ] {
        assert_eq!(Specifier::parse(text).unwrap().to_string(), told, "{text}");
    }
    assert_eq!(Specifier::parse("[a]>=1,<2").unwrap().of("x"), "x[a]>=1,<2");
    assert_eq!(Specifier::parse("*").unwrap().of("x"), "x");
    let both = Specifier::parse(">=1.26").unwrap().and(&Specifier::parse("<2").unwrap());
    assert_eq!(both.of("numpy"), "numpy>=1.26,<2");
}

#[test]
fn metadata_means_whole_versions() {
    for (asked, yes, no) in [
        ("==0.29.0", "0.29.0", "0.29.1"),
        ("==0.29", "0.29.0", "0.29.1"),
        ("==0.0.31", "0.0.31", "0.0.31.post1"),
        ("==26.8.*", "26.8.1", "26.10.0"),
        ("!=10.14.1.48,<10.15.0,>=10.14.1", "10.14.1.48.post1", "10.14.1.48"),
        ("!=2.1.*", "2.2.0", "2.1.3"),
        ("<=2.4", "2.4.0", "2.4.1"),
        (">1.7", "1.7.1", "1.7.post1"),
        (">1.7.post1", "1.7.post2", "1.7"),
        ("~=10.4.0", "10.4.1", "10.5.0"),
        ("<=2.4.0,>=2.4.0", "2.4.0", "2.4.1"),
        (">=2.8.0rc1", "2.8.0rc2", "2.8.0.dev20250327"),
        (">=2.7", "2.8.0", "2.8.0rc2"),
        ("*", "2.8.0", "2.8.0rc2"),
        ("===2.8.0", "2.8.0", "2.8.1"),
        ("==2.8.0+cu126", "2.8.0", "2.8.1"),
    ] {
        let specifier = Specifier::parse(asked).unwrap();
        assert!(specifier.admits(&Version::parse(yes).unwrap()), "{asked} admits {yes}");
        assert!(!specifier.admits(&Version::parse(no).unwrap()), "{asked} leaves out {no}");
    }
}

#[test]
fn what_is_none_or_would_be_more_is_refused() {
    for text in [
        "",
        "4.50",
        "latest",
        "^4",
        "===4.*",
        "=>4",
        ">=four",
        ">=4.*",
        "~=4",
        ">=4+cu126",
        ">=",
        ">=4,",
        "[a",
        "[]>=1",
        "[a b]>=1",
        ">=4; python_version<'3.12'",
        "@ https://host/a.whl",
        ">=4 --index-url x",
        ">=4\n-r y",
        ">=$(id)",
        ">=4'",
        ">=4\"",
        ">=4`id`",
        ">=4#x",
        ">=4 || <3",
        "==1+a+b",
        "==1+",
        "==1..2",
        "==.1",
        "==1!",
        "==1.2final",
    ] {
        let read = Specifier::parse(text);
        assert!(read.is_err(), "{text:?} is {read:?}");
    }
}
