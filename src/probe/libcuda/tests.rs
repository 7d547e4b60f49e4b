//! Tests of `probe::libcuda`.

use super::*;
use std::path::PathBuf;

#[test]
fn uuids_are_spelled_as_nvml_does() {
    let bytes = std::array::from_fn(|at| at as u8 * 17);
    assert_eq!(spelled(&bytes, false), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_eq!(spelled(&bytes, true), "MIG-00112233-4455-6677-8899-aabbccddeeff");
}

#[test]
fn stubs_and_compat_are_told_by_their_folders() {
    let of = |path: &str| {
        let found = Found {
            path: PathBuf::from(path),
            file: PathBuf::from(path),
            by: super::super::loader::By::Cache,
            shadows: vec![],
        };
        let file = file(&found, false);
        (file.stub, file.compat, file.file_version.map(|version| version.to_string()))
    };
    assert_eq!(of("/usr/local/cuda/lib64/stubs/libcuda.so"), (Some(true), Some(false), None));
    assert_eq!(of("/usr/local/cuda-12.4/compat/libcuda.so.550.54"), (Some(false), Some(true), Some("550.54".into())));
    assert_eq!(of("/usr/lib/libcuda.so.1"), (Some(false), Some(false), None));
}
