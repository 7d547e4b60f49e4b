//! Requirements of images, and what they admit.

use super::*;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

/// A Tesla of 9.0 under driver 535.183.01 with CUDA 12.2.
fn tesla(text: &str) -> Result<bool, Unreadable> {
    let (cuda, driver, arch) = (version("12.2"), version("535.183.01"), version("9.0"));
    let subjects = Subjects { cuda: Some(&cuda), driver: Some(&driver), arch: Some(&arch), brand: Some("Tesla") };
    Requirement::parse(text).holds(&subjects)
}

#[test]
fn every_operator_on_versions_below_at_and_above() {
    for (operator, below, at, above) in [
        ("=", false, true, false),
        ("!=", true, false, true),
        ("!", true, false, true),
        ("<", true, false, false),
        ("<=", true, true, false),
        (">", false, false, true),
        (">=", false, true, true),
    ] {
        // 12.2 lies below 12.10, at 12.2 in every spelling of it, and above 12.
        for (values, wanted) in [
            (&["12.3", "12.10", "13", "12.2.1", "12.2.0.1"][..], below),
            (&["12.2", "12.2.0", "12.2.0.0", "12.02", "012.2", "12.2.", "12..2", "12.2..0."], at),
            (&["12", "12.1", "12.1.99", "9", "0", "12.0.9"], above),
        ] {
            for value in values {
                assert_eq!(tesla(&format!("cuda{operator}{value}")), Ok(wanted), "12.2 {operator} {value}");
            }
        }
    }
}

#[test]
fn every_rule_and_its_spelling() {
    for (text, wanted) in [
        ("cuda>=12.2", true),
        ("CUDA>=12.2", true),
        ("driver>=535,driver<536", true),
        ("Driver=535.183.1", true),
        ("arch>=9.0", true),
        ("arch<9", false),
        ("Arch=9", true),
        ("brand=tesla", true),
        ("BRAND=TESLA", true),
        ("brand!=Tesla", false),
        ("brand!=geforce", true),
        ("brand=geforce", false),
    ] {
        assert_eq!(tesla(text), Ok(wanted), "{text}");
    }
}

#[test]
fn blanks_are_or_and_commas_are_and() {
    let (yes, no) = ("cuda>=12", "cuda>=13");
    for (text, wanted) in [
        (String::new(), true),
        (" ".to_string(), true),
        (",".to_string(), true),
        (format!("{yes} {no}"), true),
        (format!("{no} {yes}"), true),
        (format!("{no} {no}"), false),
        (format!("{yes},{no}"), false),
        (format!("{yes},{yes}"), true),
        (format!("{yes},,{yes}"), true),
        (format!(",{no}"), false),
        (format!("{no},{yes} {yes}"), true),
        (format!("{no},{yes} {no},{yes}"), false),
        (format!("  {no}   {yes}  "), true),
        // Nothing but commas leaves what was found before, and ends the search.
        (format!("{no} ,"), false),
        (format!("{no} , {yes}"), false),
    ] {
        assert_eq!(tesla(&text), Ok(wanted), "{text:?}");
    }
}

#[test]
fn what_cannot_be_read_refuses_where_it_is_reached() {
    for text in [
        "cuda",
        "cuda>=",
        ">=12",
        "cuda==12",
        "cuda=>12",
        "cuda<>12",
        "cuda=!12",
        "cuda>=12.x",
        "cuda>=v12",
        "cuda>=.5",
        "cuda>=.",
        "cuda>=+12",
        "cuda>=18446744073709551615",
        "cuda>=99999999999999999999",
        "os=linux",
        "vram>=16",
        "brand>tesla",
        "brand<=tesla",
        "brand==tesla",
        "brand=",
        "brand=,cuda>=12",
        "arch>=sm_90",
        "driver>=535\tcuda>=12",
        "cuda>=13 os=linux",
        "cuda>=12,os=linux",
    ] {
        assert!(tesla(text).is_err(), "{text:?} gave {:?}", tesla(text));
    }
    for text in ["cuda>=12 os=linux", "cuda>=13,os=linux cuda>=12", "brand=geforce,os=linux cuda>=12"] {
        assert_eq!(tesla(text), Ok(true), "{text}");
    }
    assert_eq!(tesla("cuda>=13,os=linux"), Ok(false));
    assert!(Requirement::parse("cuda>=12 os=linux").unreadable().is_some());
    assert!(Requirement::parse("cuda>=12 brand=tesla,driver>=535").unreadable().is_none());
}

#[test]
fn a_condition_that_fails_must_be_short() {
    let long = |digits: usize| format!("cuda>=13.{}", "0".repeat(digits));
    assert_eq!(tesla(&long(100)), Ok(false));
    assert!(tesla(&long(130)).is_err());
    assert_eq!(tesla(&format!("cuda>=12.{}", "0".repeat(130))), Ok(true));
}

#[test]
fn what_nobody_could_tell_passes() {
    let holds = |text: &'static str, subjects: &Subjects<'_>| Requirement::parse(text).holds(subjects);
    let nothing = Subjects::default();
    for text in ["cuda>=99", "driver<1", "arch=1", "brand=geforce", "brand>x", "cuda>=x", "cuda!=1,driver=2"] {
        assert_eq!(holds(text, &nothing), Ok(true), "{text}");
    }
    assert!(holds("os=linux", &nothing).is_err());
    let driver = version("450.80.02");
    let machine = Subjects { driver: Some(&driver), ..nothing };
    assert_eq!(holds("cuda>=99", &machine), Ok(true));
    assert_eq!(holds("driver>=450.80.2,driver<=450.80.02.0", &machine), Ok(true));
    assert_eq!(holds("brand=tesla,driver>=451 brand=geforce,driver<=451", &machine), Ok(true));
}

#[test]
fn brands_that_share_a_range_are_read_like_each_by_itself() {
    let text = "cuda>=12.8 brand=unknown,driver>=535,driver<536 brand=tesla,driver>=535,driver<536 \
                brand=tesla,driver>=470,driver<471";
    assert_eq!(tesla(text), Ok(true));
    assert_eq!(tesla(&text.replace("535", "534").replace("536", "535")), Ok(false));
}

#[test]
fn environments_say_what_is_required() {
    let of = |environment: &[(&'static str, &'static str)]| of_environment(environment.iter().copied());
    let cuda = ("NVIDIA_REQUIRE_CUDA", "cuda>=12.4");
    assert_eq!(of(&[cuda, ("CUDA_VERSION", "12.4.1")]), [(cuda.0, cuda.1.to_string())]);
    assert_eq!(of(&[cuda, ("NVIDIA_REQUIRE_ARCH", "arch>=8"), ("NVIDIA_REQUIRE_JETPACK", "x")]).len(), 2);
    assert_eq!(of(&[("CUDA_VERSION", "9.0.176")]), [("CUDA_VERSION", "cuda>=9.0".to_string())]);
    for (value, disabled) in [("true", true), ("1", true), ("yes", false), ("false", false), ("", false)] {
        assert_eq!(of(&[cuda, ("NVIDIA_DISABLE_REQUIRE", value)]).is_empty(), disabled, "{value}");
    }
    assert!(of(&[("CUDA_VERSION", "latest"), ("PATH", "/bin")]).is_empty());
}
