//! Tests of `solve::ordinary`.

use super::*;
use crate::catalog::BUILTIN;

#[test]
fn ranges_that_share_no_release_exclude_each_other() {
    for (asked, needs, excluded) in [
        (">=2", "<2", true),
        ("==2.1.*", "<2", true),
        (">=1.26", "<2", false),
        ("*", "<2", false),
        ("<2", "<2", false),
        ("==1.26.4", "<2", false),
        ("~=2.0", "<2", true),
        ("!=1.24", "<2", false),
        ("==5.2.0", ">=4.56.0,<5", true),
        ("<=4.56", ">=4.56.0,<5", false),
        ("==4.56", ">=4.56.1,<5", true),
    ] {
        assert_eq!(excludes(&Specifier::parse(asked).unwrap(), needs), excluded, "{asked} {needs}");
    }
}

/// What follows for a package beside one locked release: `held <5.1`, `excluded: >=2.1`, nothing.
fn told(package: &str, asked: &str, of: &str, version: &str) -> String {
    let locked = [(of.to_string(), Version::parse(version).unwrap()).into()];
    let judged = judged(&Facts::new(&BUILTIN), &locked, package, &Specifier::parse(asked).unwrap());
    let words = judged.iter().map(|one| match &one.follows {
        Follows::Held(below) => format!("held {below}"),
        Follows::Excluded(instead) => format!("excluded: {}", instead.as_deref().unwrap_or("nothing known")),
    });
    words.collect::<Vec<_>>().join("; ")
}

#[test]
fn what_only_code_knows_holds_an_open_range_and_warns_of_a_pinned_one() {
    for (asked, torch, says) in [
        ("*", "2.3.0", "held <5.1"),
        (">=4.43.3", "2.3.0", "held <5.1"),
        (">=4.38.2", "2.0.1", "held <4.50"),
        (">=4.52", "2.0.1", "excluded: <4.50"),
        ("==4.57.*", "2.0.1", "excluded: <4.50"),
        ("==4.57.1", "2.1.0", ""),
        ("==5.3.0", "2.3.1", "excluded: <5.1"),
        ("<5", "2.3.0", ""),
        ("*", "2.8.0", ""),
        // A nightly is of the release that it precedes.
        ("==5.3.0", "2.4.0.dev20240612", ""),
    ] {
        assert_eq!(told("transformers", asked, "torch", torch), says, "{asked} beside torch {torch}");
    }
}

#[test]
fn what_metadata_says_warns_only_where_nothing_is_left() {
    for (package, asked, of, version, says) in [
        ("accelerate", "==1.10.0", "torch", "1.13.1", "excluded: <1.3"),
        ("accelerate", "*", "torch", "1.13.1", ""),
        ("accelerate", ">=1", "torch", "1.13.1", ""),
        ("lightning", "==2.5.5", "torch", "2.0.1", "excluded: <2.4"),
        // Beyond the newest that was read nothing is known.
        ("lightning", ">=2.5", "torch", "2.0.1", "excluded: <2.4"),
        ("lightning", ">=99", "torch", "2.0.1", ""),
        ("numpy", "==1.21.6", "python", "3.13", "excluded: >=2.1"),
        ("numpy", "~=1.25.2", "python", "3.12", "excluded: >=1.26"),
        ("numpy", ">=1.25.2", "python", "3.12", ""),
        ("numpy", "==2.2.*", "python", "3.14", "excluded: >=2.3.2"),
        ("numpy", "<1.26", "python", "3.11", ""),
        // A release from before all that were read has no wheel for a Python that came later; for an older one it may.
        ("numpy", "<2", "python", "3.13", "excluded: >=2.1"),
        ("numpy", "<2", "python", "3.14", "excluded: >=2.3.2"),
        ("numpy", "<2", "python", "3.12", ""),
        ("numpy", "<1.14", "python", "3.14", "excluded: >=2.3.2"),
        ("numpy", "<3", "python", "3.14", ""),
        // Without a source distribution nothing is left for another Python.
        ("kt-kernel", "==0.7.2", "python", "3.14", "excluded: nothing known"),
        ("kt-kernel", "==0.7.2", "python", "3.12", ""),
        ("autoawq-kernels", "==0.0.9", "python", "3.13", "excluded: nothing known"),
        ("transformers", "==5.3.0", "vllm", "0.17.1", "excluded: >=4.56.0,<5"),
        ("numpy", ">=2", "tensorflow", "2.15.1", "excluded: >=1.23.5,<2.0.0"),
    ] {
        assert_eq!(told(package, asked, of, version), says, "{package} {asked} beside {of} {version}");
    }
}

/// METADATA of lmdeploy 0.18.0, which asks for flash-linear-attention and for transformers, and of flash-linear-attention 0.6.0,
/// which asks for transformers, too.
#[test]
fn what_comes_along_asks_in_turn() {
    let locked = [("lmdeploy".to_string(), Version::parse("0.18.0").unwrap())];
    let coming = coming::coming(&Facts::new(&BUILTIN), &locked, &[]);
    let asked = coming["transformers"].to_string();
    assert!(asked.contains("<6") && asked.contains(">=4.56.0"), "{asked}");
}
