//! Tests of `host::signs`.

use serde_json::{Value, json};

use super::*;
use crate::host::read_any;

#[test]
fn only_a_look_at_the_bus_tells_that_there_is_no_gpu() {
    let of = |text: &str| presence(&read_any(text).unwrap());
    for (rest, wanted) in [
        ("\"probes\": [{\"name\": \"module\", \"ended\": \"absent\"}]", Presence::Absent),
        ("\"probes\": [{\"name\": \"module\", \"ended\": \"timed-out\"}]", Presence::Unknown),
        ("\"origin\": \"pasted\"", Presence::Unknown),
        ("\"origin\": \"pasted\", \"probes\": [{\"name\": \"pci\", \"ended\": \"done\"}]", Presence::Absent),
        ("\"nvml\": {\"cuda\": \"11.6\"}", Presence::Seen),
        ("\"nvml\": {\"count\": 0}", Presence::Seen),
        ("\"nvml\": {\"fault\": {\"at\": \"nvmlInit_v2\", \"code\": 9}}", Presence::Seen),
        ("\"nvml\": {\"fault\": {\"at\": \"dlopen\", \"name\": \"ENOENT\"}}", Presence::Unknown),
        ("\"probes\": []", Presence::Unknown),
        ("\"probes\": [{\"name\": \"nvml\", \"ended\": \"absent\"}]", Presence::Unknown),
        (
            "\"probes\": [{\"name\": \"module\", \"ended\": \"done\"}], \"nvml\": {\"fault\": {\"at\": \"nvmlInit_v2\", \"code\": 9}}, \"libcuda\": {\"path\": \"/cuda/stubs/libcuda.so\", \"cuda\": \"12.4\"}",
            Presence::Absent,
        ),
        (
            "\"probes\": [{\"name\": \"module\", \"ended\": \"done\"}], \"module\": {\"version\": \"550.54.15\"}, \"nvml\": {\"fault\": {\"at\": \"nvmlInit_v2\", \"code\": 9}}",
            Presence::Seen,
        ),
        ("\"pci\": [{\"address\": \"0000:65:00.0\"}]", Presence::Seen),
        (
            "\"probes\": [{\"name\": \"module\", \"ended\": \"absent\"}, {\"name\": \"nvml\", \"ended\": \"timed-out\"}]",
            Presence::Seen,
        ),
        ("\"platform\": {\"system\": \"tegra\"}", Presence::Seen),
    ] {
        assert_eq!(of(&format!("{{\"format\": 1, {rest}}}")), wanted, "{rest}");
    }
}
/// Where a sandbox hides the card, its driver's libraries are all that is to be seen of it.
#[test]
fn only_what_is_said_without_a_driver_tells_that_there_is_none() {
    let of = |nvml: Option<i64>, cuda: Option<i64>, more: Value| {
        let library = |at: &str, code: Option<i64>| {
            code.map(|code| json!({ "path": "/lib/x.so.1", "fault": { "at": at, "code": code } }))
        };
        let probes = json!([{ "name": "module", "ended": "absent" }, more]);
        let (nvml, cuda) = (library("nvmlInit_v2", nvml), library("cuInit", cuda));
        let text = json!({ "format": 1, "probes": probes, "nvml": nvml, "libcuda": cuda }).to_string();
        presence(&read_any(&text).unwrap())
    };
    let libcuda = |ended: &str| json!({ "name": "libcuda", "ended": ended });
    for (nvml, cuda, wanted) in [
        (Some(9), Some(100), Presence::Absent),
        (None, Some(100), Presence::Absent),
        (None, Some(34), Presence::Absent),
        (Some(12), None, Presence::Absent),
        (Some(18), Some(803), Presence::Seen),
        (Some(9), Some(999), Presence::Seen),
        (Some(999), Some(100), Presence::Seen),
        (None, Some(999), Presence::Seen),
    ] {
        assert_eq!(of(nvml, cuda, libcuda("done")), wanted, "{nvml:?} {cuda:?}");
    }
    for (ended, wanted) in [("crashed", Presence::Seen), ("garbled", Presence::Seen), ("refused", Presence::Absent)] {
        assert_eq!(of(Some(9), Some(100), libcuda(ended)), wanted, "{ended}");
    }
    let needs = json!({ "at": "dlopen", "message": "libneeded.so: cannot open shared object file" });
    let host = json!({ "format": 1, "probes": [{ "name": "module", "ended": "absent" }], "libcuda": { "path": "/lib/libcuda.so.1", "fault": needs } });
    assert_eq!(presence(&read_any(&host.to_string()).unwrap()), Presence::Seen);
}
