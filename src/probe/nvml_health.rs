//! What the management library tells of a GPU's health: what it wants done first, what of its memory is broken, and
//! whether a virtual one has its licence. What cannot be asked is absent; it is no fault.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::foreign::{Foreign, done};

/// NVML_ERROR_NOT_SUPPORTED, which stands where a driver wrote nothing.
const NOT_SUPPORTED: c_uint = 3;

/// `nvmlFieldValue_t`, with a value that is an unsigned.
#[derive(Clone, Copy)]
#[repr(C)]
struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: i64,
    latency: i64,
    kind: c_uint,
    code: c_uint,
    value: [c_uint; 2],
}

/// What the driver asks for before more work is given to the GPU.
pub fn recovery(foreign: &Foreign, handle: *mut c_void) -> Option<String> {
    type FieldValues = unsafe extern "C" fn(*mut c_void, c_int, *mut FieldValue) -> c_int;
    /// NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
    const RECOVERY_ACTION: c_uint = 230;
    /// By their numbers in nvml.h.
    const ACTIONS: &[Option<&str>] = &[None, Some("reset"), Some("reboot"), Some("drain-p2p"), Some("drain-and-reset")];
    let mut answer = FieldValue {
        field: RECOVERY_ACTION,
        scope: 0,
        timestamp: 0,
        latency: 0,
        kind: 0,
        code: NOT_SUPPORTED,
        value: [0; 2],
    };
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, int count, nvmlFieldValue_t *values)`, of one value.
    done(unsafe { foreign.function::<FieldValues>("nvmlDeviceGetFieldValues").ok()?(handle, 1, &mut answer) }).ok()?;
    let action = ACTIONS.get(answer.value[0] as usize).copied().flatten();
    action.filter(|_| answer.code == 0).map(str::to_string)
}

/// Whether rows of its memory wait to be replaced, and whether some could not be.
pub fn remapping(foreign: &Foreign, handle: *mut c_void) -> Option<[bool; 2]> {
    type Rows = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
    let [mut correctable, mut uncorrectable, mut pending, mut failed] = [0; 4];
    // SAFETY: this is its signature, four numbers to be written.
    done(unsafe {
        foreign.function::<Rows>("nvmlDeviceGetRemappedRows").ok()?(
            handle,
            &mut correctable,
            &mut uncorrectable,
            &mut pending,
            &mut failed,
        )
    })
    .ok()?;
    Some([pending != 0, failed != 0])
}

/// `nvmlGridLicensableFeature_t`
#[derive(Clone, Copy)]
#[repr(C)]
struct LicensableFeature {
    code: c_uint,
    state: c_uint,
    info: [c_char; 128],
    product: [c_char; 128],
    enabled: c_uint,
    expiry_year: c_uint,
    expiry: [u16; 5],
    expiry_status: u8,
}

/// `nvmlGridLicensableFeatures_t`
#[derive(Clone, Copy)]
#[repr(C)]
struct LicensableFeatures {
    is_supported: c_int,
    count: c_uint,
    features: [LicensableFeature; 3],
}

/// Whether a virtual GPU has its licence, by what it could be licensed for and is told to be.
pub fn licence(foreign: &Foreign, handle: *mut c_void) -> Option<String> {
    let feature = LicensableFeature {
        code: 0,
        state: 0,
        info: [0; 128],
        product: [0; 128],
        enabled: 0,
        expiry_year: 0,
        expiry: [0; 5],
        expiry_status: 0,
    };
    let blank = LicensableFeatures { is_supported: 0, count: 0, features: [feature; 3] };
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, nvmlGridLicensableFeatures_t *features)`
    let told = unsafe { foreign.value_of("nvmlDeviceGetGridLicensableFeatures_v4", handle, blank) }.ok()?;
    if told.is_supported != 1 {
        return None;
    }
    let features = told.features.iter().take(told.count as usize);
    let states: Vec<bool> = features.filter(|feature| feature.enabled != 0).map(|feature| feature.state != 0).collect();
    match states.as_slice() {
        [] => None,
        states if states.contains(&true) => Some("licensed".to_string()),
        _ => Some("unlicensed".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_drivers_layout() {
        assert_eq!(size_of::<FieldValue>(), 40);
        assert_eq!(size_of::<LicensableFeature>(), 4 + 4 + 128 + 128 + 4 + 4 + 10 + 1 + 1);
        assert_eq!(size_of::<LicensableFeatures>(), 8 + 3 * 284);
    }
}
