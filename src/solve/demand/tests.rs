//! Tests of `solve::demand`.

use super::*;
use crate::catalog::rows::Branch;

#[test]
fn requirements_are_read_as_the_container_runtime_reads_them() {
    let branch = |number: &'static str, cuda: &'static str| Branch {
        branch: Version::parse(number).unwrap(),
        kind: None,
        cuda: Some(Version::parse(cuda).unwrap()),
        eol: None,
        source: "test".into(),
        cuda_source: None,
    };
    let (r535, r570) = (branch("535", "12.2"), branch("570", "12.8"));
    let driver = |version: &'static str, branch| DriverRow {
        version: Version::parse(version).unwrap(),
        branch,
        compat: None,
        installed: false,
        windows: false,
    };
    let requirement = "cuda>=12.8 brand=tesla,driver>=535,driver<536 brand=unknown,driver>=535,driver<536";
    let (old, new) = (driver("535.183.01", &r535), driver("570.86.15", &r570));
    let demand = Demand::parse(requirement);
    assert!(demand.admits(&new, (Some(&["geforce"]), None)));
    assert!(demand.admits(&old, (Some(&["tesla", "nvidia"]), None)));
    assert!(!demand.admits(&old, (Some(&["geforce"]), None)));
    assert!(!demand.admits(&old, (Some(&[]), None)));
    // A brand that nobody knows may be any that is named.
    assert!(demand.admits(&old, (None, None)) && !Demand::parse("cuda>=12.8").admits(&old, (None, None)));
    let windows = |version| DriverRow { windows: true, ..driver(version, &r535) };
    assert!(demand.admits(&windows("535.98"), (Some(&["tesla"]), None)));
    assert!(
        !demand.admits(&windows("537.58"), (Some(&["tesla"]), None))
            && !demand.admits(&windows("535"), (Some(&["tesla"]), None))
    );
    assert!(Demand::parse("").admits(&new, (Some(&["tesla"]), None)));
    assert!(!Demand::parse("os=linux").admits(&new, (Some(&["tesla"]), None)));
    let unknown = Branch { cuda: None, ..r570.clone() };
    assert!(!demand.admits(&driver("570.86.15", &unknown), (Some(&["tesla"]), None)));
    assert!(Demand::parse("CUDA>=12.3").admits(&new, (Some(&[]), None)));
    let (turing, ampere) = (Version::parse("7.5").unwrap(), Version::parse("8.6").unwrap());
    assert!(!Demand::parse("arch>=8.0").admits(&new, (Some(&["tesla"]), Some(&turing))));
    assert!(Demand::parse("arch>=8.0").admits(&new, (Some(&["tesla"]), Some(&ampere))));
}
