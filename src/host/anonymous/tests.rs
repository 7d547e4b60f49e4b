//! Tests of `host::anonymous`.

use super::*;
use crate::host::{Gpu, Nvml};

const ONE: &str = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
const TWO: &str = "MIG-0123abcd-d72c-4106-c12f-20bd9faed9f6";

#[test]
fn a_uuid_has_one_number_everywhere() {
    let gpu = |uuid: &str| Gpu { uuid: Some(uuid.to_string()), ..Gpu::default() };
    let environment = [("CUDA_VISIBLE_DEVICES", "MIG-0123abcd,GPU-8932F9"), ("NVIDIA_VISIBLE_DEVICES", "GPU-ffff")];
    let record = Record {
        environment: environment.map(|(name, value)| (name.to_string(), value.to_string())).into(),
        nvml: Some(Nvml { gpus: vec![gpu(ONE), gpu(TWO), gpu(ONE)], ..Nvml::default() }),
        ..Record::default()
    };
    let record = anonymous(record);
    let uuids: Vec<String> = record.nvml.unwrap().gpus.into_iter().filter_map(|gpu| gpu.uuid).collect();
    assert_eq!(uuids[0], "GPU-00000001-0000-0000-0000-000000000000");
    assert_eq!(uuids[1], "MIG-00000002-0000-0000-0000-000000000000");
    assert_eq!(uuids[2], uuids[0]);
    assert_eq!(record.environment["CUDA_VISIBLE_DEVICES"], "MIG-00000002,GPU-000000");
    assert_eq!(record.environment["NVIDIA_VISIBLE_DEVICES"], "GPU-0000");
}

#[test]
fn what_is_no_uuid_stays() {
    for text in ["0000:65:00.0", "NVIDIA H100", "libcuda.so.535.183.01", "/opt/cuda-12.4/lib", "GPU-", "--", "é-1"] {
        assert_eq!(uuids(text), [], "{text}");
    }
    assert_eq!(uuids(&format!("{TWO}/1/0 and {ONE}")).len(), 2);
}
