//! Tests of `fleet::alike`.

use super::*;
use crate::host::{Gpu, Nvml, Probe};

fn host(uuid: &str, driver: &str, millis: u64) -> Record {
    let gpu = Gpu { uuid: Some(uuid.into()), ..Gpu::default() };
    let nvml = Nvml { driver: crate::types::Version::parse(driver).ok(), gpus: vec![gpu], ..Nvml::default() };
    let probe =
        Probe { name: "nvml".into(), ended: crate::host::ProbeStatus::Done, detail: None, millis: Some(millis) };
    Record { nvml: Some(nvml), probes: vec![probe], ..Record::default() }
}

#[test]
fn what_is_judged_tells_hosts_apart_and_nothing_else() {
    let of = |uuid, driver, millis| digest(host(uuid, driver, millis)).1;
    assert_eq!(of("GPU-1", "550.54.15", 3), of("GPU-2", "550.54.15", 4));
    assert_ne!(of("GPU-1", "550.54.15", 3), of("GPU-1", "550.54.14", 3));
    let with_shm = |shm| {
        let mut host = host("GPU-1", "550.54.15", 3);
        host.platform.shm = shm;
        digest(host).1
    };
    assert_eq!(with_shm(Some(64 << 20)), with_shm(Some(65 << 20)));
    assert_eq!(with_shm(Some(SHM_LEAST)), with_shm(Some(400 << 30)));
    assert_ne!(with_shm(Some(SHM_LEAST)), with_shm(Some(SHM_LEAST - 1)));
    assert_ne!(with_shm(Some(SHM_LEAST)), with_shm(None));
    let given = |uuid: &str, value: &str| {
        let mut host = host(uuid, "550.54.15", 3);
        host.environment.insert("CUDA_VISIBLE_DEVICES".into(), value.into());
        digest(host)
    };
    let (record, one) = given("GPU-1f", "GPU-1f");
    assert_eq!(record.environment["CUDA_VISIBLE_DEVICES"], record.nvml.unwrap().gpus[0].uuid.clone().unwrap());
    assert_eq!((one, given("GPU-2f", "GPU-2").1), (given("GPU-2f", "GPU-2f").1, one));
    assert_ne!(one, given("GPU-1f", "GPU-3f").1);
}
