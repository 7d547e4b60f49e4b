//! Tests of `probe::nvml`.

use super::*;

#[test]
fn garbage_is_no_cuda_version() {
    let version = |number| cuda_version(number).map(|version| version.to_string());
    assert_eq!(version(12_040).as_deref(), Some("12.4"));
    assert_eq!(version(11_080).as_deref(), Some("11.8"));
    assert_eq!(version(1_000).as_deref(), Some("1.0"));
    for garbage in [0, 34, 999, 99_991, -1, i32::MIN, i32::MAX] {
        assert_eq!(version(garbage), None, "{garbage}");
    }
}

#[test]
fn every_code_has_its_name() {
    assert_eq!(name(9), Some("NVML_ERROR_DRIVER_NOT_LOADED"));
    assert_eq!(name(18), Some("NVML_ERROR_LIB_RM_VERSION_MISMATCH"));
    assert_eq!(name(30), Some("NVML_ERROR_RESET_TYPE_NOT_SUPPORTED"));
    assert_eq!(name(999), Some("NVML_ERROR_UNKNOWN"));
    assert_eq!([name(31), name(-1), name(i64::MAX)], [None; 3]);
}

#[test]
fn what_is_not_supported_is_no_failure() {
    assert!(!matters(Miss::NoSymbol) && !matters(Miss::Code(3)) && !matters(Miss::Code(13)));
    assert!(matters(Miss::Code(15)) && matters(Miss::Code(999)) && matters(Miss::Code(77)));
}

#[test]
fn structures_have_the_drivers_layout() {
    assert_eq!(size_of::<FabricInfo>(), 36);
    assert_eq!(std::mem::offset_of!(PciInfo, domain), 16);
}
