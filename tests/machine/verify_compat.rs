//! `gpuenv verify` of a cuda-compat, of wheels that nobody loaded and of PTX: hosts that differ in one thing, and what is
//! said of each.

use gpuenv::verify::Status;
use serde_json::{Value, json};

use crate::common::judge;
use crate::common::judge::{healthy, lock, set, with, worst};

const GPU: &str = "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n";

/// A driver of branch 535 behind the cuda-compat of CUDA 13.0.
fn behind(changes: &[(&str, Value)]) -> Value {
    let mut host = healthy();
    for (at, to) in [
        ("/nvml/driver", json!("535.104.05")),
        ("/nvml/file_version", json!("535.104.05")),
        ("/nvml/cuda", json!("12.2")),
        ("/module/version", json!("535.104.05")),
        ("/libcuda/path", json!(COMPAT)),
        ("/libcuda/file_version", json!("580.65.06")),
        ("/libcuda/cuda", json!("13.0")),
        ("/compat/0/path", json!(COMPAT)),
        ("/compat/0/cuda", json!("13.0")),
        ("/python", Value::Null),
        ("/libraries", Value::Null),
    ] {
        set(&mut host, at, to);
    }
    changes.iter().for_each(|(at, to)| set(&mut host, at, to.clone()));
    host
}
const COMPAT: &str = "/usr/local/cuda-13.0/compat/libcuda.so.580.65.06";

/// What a driver runs of its own major's CUDA begins with CUDA 11, and there with a release: below it the locked package is
/// needed, and is missed.
#[test]
fn a_cuda_compat_is_needed_where_no_minor_version_compatibility_is() {
    use Status::{Fail, Pass, Skip};
    for (torch, locked, driver, cuda, told) in [
        ("1.6.0+cu102", "418.67", "418.67", "10.1", [Skip, Fail]),
        ("1.10.2+cu113", "450.51.05", "450.51.05", "11.0", [Skip, Fail]),
        ("1.10.2+cu113", "450.51.05", "450.80.02", "11.0", [Pass, Pass]),
        ("1.6.0+cu102", "418.67", "440.33.01", "10.2", [Pass, Pass]),
    ] {
        let target =
            format!("[target.f]\ngpu = \"Tesla V100-PCIE-16GB\"\ndriver = \"{locked}\"\nos = \"ubuntu18.04\"\n");
        let lock = lock(&format!("[stack]\ntorch = \"{torch}\"\n{target}"));
        assert_eq!(lock.target["f"].driver.as_ref().unwrap().mode, "forward-compat", "{torch}");
        let own = format!("/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}");
        let host = behind(&[
            ("/nvml/driver", json!(driver)),
            ("/nvml/file_version", json!(driver)),
            ("/module/version", json!(driver)),
            ("/nvml/cuda", json!(cuda)),
            ("/libcuda/path", json!(own)),
            ("/libcuda/cuda", json!(cuda)),
            ("/libcuda/devices/0/name", json!("Tesla V100-PCIE-16GB")),
            ("/compat", json!([])),
        ]);
        let verdict = judge::judge(&lock, &host);
        let status = |id: &str| verdict.checks.iter().find(|check| check.id == id).unwrap().status;
        assert_eq!([status("driver-cuda"), status("forward-compat")], told, "{torch} on {driver}");
    }
}

/// The locked cuda-compat: what is changed on such a host, the check that speaks of it, how that ends, what is to be done, a
/// word of what was found or of the hint.
#[rustfmt::skip]
#[test]
fn a_locked_cuda_compat_is_held_against_gpu_driver_and_what_is_loaded() {
    use Status::{Fail, Pass, Skip, Unknown, Warn};
    let forward = |stack: &str| format!("{stack}\n[target.f]\ngpu = \"H100 NVL\"\ndriver = \"535.104.05\"\nos = \"ubuntu22.04\"\n");
    let locks = [
        lock(&forward("[stack]\ntorch = \"2.9.1+cu130\"")),
        lock(&(forward("[stack]\ntorch = \"2.9.1+cu130\"") + "image = \"nvidia/cuda\"\n")),
    ];
    let (bare, contained) = (&locks[0], &locks[1]);
    let named = |name: &str| behind(&[("/libcuda/devices/0/name", json!(name))]);
    let own = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06";
    let with_driver = |version: &str, cuda: &str, path: &str| {
        let version = json!(version);
        behind(&[("/nvml/driver", version.clone()), ("/nvml/file_version", version.clone()), ("/module/version", version),
                 ("/nvml/cuda", json!(cuda)), ("/libcuda/path", json!(path)), ("/libcuda/cuda", json!(if path == own { cuda } else { "13.0" }))])
    };
    let none = || ("/compat", json!([]));
    let cases = [
        (bare, behind(&[]), "forward-compat", Pass, "none", "/usr/local/cuda-13.0"),
        (bare, named("NVIDIA H200"), "forward-compat-gpu", Pass, "none", "H200"),
        (bare, named("NVIDIA GeForce RTX 4090"), "forward-compat-gpu", Fail, "ask-admin", "804"),
        (bare, named("NVIDIA Z999"), "forward-compat-gpu", Unknown, "change-lock", "name it in gpuenv.toml"),
        (bare, with_driver("580.65.06", "13.0", COMPAT), "forward-compat", Warn, "fix-environment", "leave it out"),
        (bare, with_driver("580.65.06", "13.0", own), "forward-compat", Pass, "none", "by itself"),
        (bare, with_driver("575.57.08", "12.9", COMPAT), "forward-compat", Fail, "ask-admin", "supports the branches 535, 550 only"),
        (bare, behind(&[("/compat/0/branches", json!([]))]), "forward-compat", Unknown, "none", "does not say"),
        (bare, behind(&[none()]), "forward-compat", Fail, "fix-environment", "install the package"),
        (bare, behind(&[none(), ("/origin", json!("pasted"))]), "forward-compat", Unknown, "none", "does not tell"),
        (bare, behind(&[("/libcuda/path", json!(own)), ("/libcuda/cuda", json!("12.2"))]), "forward-compat", Fail, "fix-environment", "is loaded instead"),
        (bare, behind(&[("/libcuda/cuda", json!("12.8"))]), "driver-cuda", Fail, "fix-environment", "load the locked one"),
        (bare, behind(&[("/libcuda/path", json!(own)), ("/libcuda/cuda", json!("12.2"))]), "driver-cuda", Skip, "none", "is to bring it"),
        (contained, behind(&[none()]), "forward-compat", Skip, "none", "inside the container"),
        (contained, behind(&[none(), ("/platform/container", json!("docker"))]), "forward-compat", Fail, "fix-environment", "run the locked image"),
    ];
    let mut wrong = Vec::new();
    for (lock, host, id, status, action, says) in &cases {
        let verdict = judge::judge(lock, host);
        let Some(check) = verdict.checks.iter().find(|check| check.id == *id) else {
            wrong.push(format!("no {id} for {says}"));
            continue;
        };
        let told = [&check.found, &check.hint].map(|text| text.clone().unwrap_or_default()).join(" ");
        if (check.status, check.action.as_str()) != (*status, *action) || !told.contains(says) {
            wrong.push(format!("{id} {says}: {:?} {} {told:?}", check.status, check.action.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A GPU that the lock names was found eligible when it was made.
    let sound = judge::judge(bare, &behind(&[]));
    assert!(sound.checks.iter().all(|check| check.id != "forward-compat-gpu"), "{sound:#?}");
}

/// A cuda-compat serves the branches that NVIDIA names for it, each from a release of its own on, whoever brings it; a driver
/// that offers the CUDA by itself needs none.
#[rustfmt::skip]
#[test]
fn a_locked_cuda_compat_serves_the_branches_that_are_named_for_it() {
    use Status::{Fail, Pass, Skip, Unknown};
    let forward = "[stack]\ntorch = \"2.9.1+cu130\"\n[target.f]\ngpu = \"H100 NVL\"\ndriver = \"535\"\nos = \"ubuntu22.04\"\n";
    let locks = [lock(forward), lock(&format!("{forward}image = \"nvidia/cuda\"\n")), lock(&format!("{forward}image = \"ghcr.io/me/app:1\"\n"))];
    let on = |driver: &str, cuda: Value| {
        let version = json!(driver);
        let own = json!(format!("/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}"));
        behind(&[("/nvml/driver", version.clone()), ("/nvml/file_version", version.clone()), ("/module/version", version.clone()), ("/nvml/cuda", cuda.clone()),
                 ("/libcuda/path", own), ("/libcuda/file_version", version), ("/libcuda/cuda", cuda), ("/compat", json!([])), ("/origin", json!("pasted"))])
    };
    // What a container says where the package serves; on bare metal a pasted text does not tell whether it is there.
    for (driver, cuda, status, says) in [
        ("535.104.05", "12.2", Skip, ""),
        ("545.23.08", "12.3", Fail, "535 (from 535.86), 550 (from 550.54), 565, 570, 575 only"),
        ("550.40.07", "12.4", Fail, "from 550.54 on"),
        ("550.54.14", "12.4", Skip, ""),
        ("550", "12.4", Unknown, "was not told"),
        ("555.42.06", "12.5", Fail, "change the driver's branch"),
        ("560.35.03", "12.6", Fail, "change the driver's branch"),
        ("565", "12.7", Skip, ""),
        ("570.124.06", "12.8", Skip, ""),
        ("580.65.06", "13.0", Pass, ""),
        ("595.45.04", "13.2", Pass, ""),
        // That it is too old is told by its minimum.
        ("470.57.02", "11.4", Skip, ""),
        ("535.54.03", "12.2", Skip, ""),
    ] {
        for (at, lock) in locks.iter().enumerate() {
            let verdict = judge::judge(lock, &on(driver, json!(cuda)));
            let check = verdict.checks.iter().find(|check| check.id == "forward-compat").unwrap();
            let wanted = if at == 0 && status == Skip { Unknown } else { status };
            let hint = check.hint.as_deref().unwrap_or_default();
            assert!(check.status == wanted && hint.contains(says), "{at} {driver}: {check:?}");
        }
    }
    // A branch that nobody knows is not refused, and neither is a package.
    let host = on("579.10.02", Value::Null);
    assert_eq!(worst(&judge::judge(&locks[1], &host), "forward-compat").status, Unknown);
    let mut later = locks[1].clone();
    later.target.get_mut("f").unwrap().driver.as_mut().unwrap().compat = Some("cuda-compat-13-77".into());
    assert_eq!(worst(&judge::judge(&later, &on("560.35.03", json!("12.6"))), "forward-compat").status, Unknown);
    assert_eq!(worst(&judge::judge(&later, &on("535.104.05", json!("12.2"))), "forward-compat").status, Skip);
    // Who knows the CUDA of a driver alone knows its branch.
    for (cuda, status) in [("12.2", Skip), ("12.4", Unknown), ("12.6", Fail), ("12.7", Skip), ("13.0", Pass)] {
        let mut host = on("560.35.03", json!(cuda));
        for at in ["/nvml/driver", "/nvml/file_version", "/module/version", "/libcuda/file_version"] {
            set(&mut host, at, Value::Null);
        }
        assert_eq!(worst(&judge::judge(&locks[2], &host), "forward-compat").status, status, "{cuda}");
    }
    // What the package itself names counts for more, but for the releases of a branch.
    let noted = |driver: &str, cuda: &str, branches: &[u64]| {
        let mut host = on(driver, json!(cuda));
        set(&mut host, "/origin", json!("observed"));
        set(&mut host, "/libcuda/path", json!(COMPAT));
        set(&mut host, "/libcuda/cuda", json!("13.0"));
        set(&mut host, "/compat", json!([{ "path": COMPAT, "cuda": "13.0", "branches": branches }]));
        worst(&judge::judge(&locks[0], &host), "forward-compat").status
    };
    assert_eq!(noted("560.35.03", "12.6", &[535, 560]), Pass);
    assert_eq!(noted("560.35.03", "12.6", &[535, 550]), Fail);
    assert_eq!(noted("560.35.03", "12.6", &[]), Fail);
    assert_eq!(noted("550.40.07", "12.4", &[535, 550]), Fail);
    assert_eq!(noted("570.124.06", "12.8", &[535, 570]), Pass);
}

/// A driver of the stack's CUDA major runs its machine code by itself, but compiles no PTX of a later release.
#[test]
fn a_cuda_compat_is_needless_where_the_driver_is_of_the_same_major_and_no_ptx_is_compiled() {
    let spec = |list: &str| {
        format!(
            "[stack]\ncuda = \"13.2\"\n[build]\narch-list = \"{list}\"\n[target.f]\ngpu = \"H100 NVL\"\ndriver = \"535.104.05\"\nos = \"ubuntu24.04\"\n"
        )
    };
    let own = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06";
    let host = behind(&[
        ("/nvml/driver", json!("580.65.06")),
        ("/module/version", json!("580.65.06")),
        ("/libcuda/path", json!(own)),
        ("/compat/0/path", json!("/usr/local/cuda-13.2/compat/libcuda.so.595.45.04")),
        ("/compat/0/cuda", json!("13.2")),
        ("/compat/0/branches", json!([535, 580])),
    ]);
    for (list, status, cuda) in [("9.0", Status::Pass, Status::Pass), ("8.0+PTX", Status::Fail, Status::Skip)] {
        let verdict = judge::judge(&lock(&spec(list)), &host);
        assert_eq!(worst(&verdict, "forward-compat").status, status, "{list}: {verdict:#?}");
        assert_eq!(worst(&verdict, "driver-cuda").status, cuda, "{list}: {verdict:#?}");
    }
}

/// Whose libcuda is loaded is told by its folder, or by the list of packages.
#[test]
fn a_cuda_compat_is_known_by_its_folder_or_by_the_packages() {
    let own = healthy()["libcuda"]["path"].clone();
    let packages = json!([{ "path": "/usr/local/cuda-12.8/compat/libcuda.so.570.86.15" }, { "path": "/opt/newer/libcuda.so.575.57.08" }]);
    for (path, compat, is_compat) in [
        (json!("/opt/newer/libcuda.so.575.57.08"), packages.clone(), true),
        (json!("/usr/local/cuda-12.8/compat/libcuda.so.570.86.15"), json!([]), true),
        (json!("/opt/newer/libcuda.so.575.57.08"), json!([]), false),
        (own, packages, false),
        (Value::Null, json!([]), false),
    ] {
        let fault = ("/libcuda/fault", json!({ "at": "cuInit", "code": 803 }));
        let verdict = judge::judge(&lock(GPU), &with(&[fault, ("/libcuda/path", path.clone()), ("/compat", compat)]));
        let wanted = if is_compat { "fix-environment" } else { "reboot" };
        assert_eq!(worst(&verdict, "libcuda").action.as_str(), wanted, "{path}: {verdict:#?}");
        let unwanted = verdict.checks.iter().any(|check| check.id == "forward-compat" && check.status == Status::Warn);
        assert_eq!(unwanted, is_compat, "{path}");
    }
}

/// Where nobody looked at a library, the wheel that holds it tells its version: that of the stack's CUDA, else the only one.
#[rustfmt::skip]
#[test]
fn the_wheel_of_a_library_speaks_for_it() {
    use Status::{Fail, Pass, Skip, Warn};
    let stack = |torch: &str| lock(&format!("[stack]\ntorch = \"{torch}\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n"));
    let (cu124, cu130) = (stack("2.5.1+cu124"), stack("2.9.1+cu130"));
    for (lock, packages, id, status, says) in [
        (&cu124, json!({ "nvidia-cudnn-cu12": "9.1.0.70" }), "library-cudnn", Pass, "nvidia-cudnn-cu12 9.1.0.70"),
        (&cu124, json!({ "Nvidia_cuDNN_cu12": "9.1.0.70" }), "library-cudnn", Pass, "9.1.0.70"),
        (&cu124, json!({ "nvidia-cudnn-cu12": "9.5.0.1" }), "library-cudnn", Warn, "9.5.0.1"),
        (&cu124, json!({ "nvidia-cudnn-cu12": "8.9.7.29" }), "library-cudnn", Fail, "8.9.7.29"),
        (&cu124, json!({ "nvidia-cudnn-cu11": "8.9.7.29" }), "library-cudnn", Fail, "cu11 8.9.7.29"),
        (&cu124, json!({ "nvidia-cudnn-cu11": "8.9.7.29", "nvidia-cudnn-cu12": "9.1.0.70" }), "library-cudnn", Pass, "cu12"),
        (&cu124, json!({ "nvidia-cudnn-frontend": "1.5.0" }), "library-cudnn", Skip, ""),
        (&cu124, json!({ "nvidia-cudnn-cu12": "nightly" }), "library-cudnn", Skip, "nightly"),
        (&cu124, json!({ "nvidia-nccl-cu12": "2.21.5" }), "library-nccl", Pass, "nvidia-nccl-cu12"),
        (&cu124, json!({ "nvidia-nccl-cu13": "2.27.7" }), "library-nccl", Warn, "nvidia-nccl-cu13"),
        // The lock names CUDA's release, of which the runtime's number tells the line.
        (&cu124, json!({ "nvidia-cuda-runtime-cu12": "12.4.127" }), "library-cudart", Pass, "12.4.127"),
        (&cu124, json!({ "nvidia-cuda-runtime-cu12": "12.1.105" }), "library-cudart", Warn, "12.1.105"),
        (&cu130, json!({ "nvidia-cuda-runtime": "13.0.48" }), "library-cudart", Pass, "nvidia-cuda-runtime 13.0.48"),
        (&cu130, json!({ "nvidia-cuda-runtime": "13.0.48", "nvidia-cuda-runtime-cu12": "12.8.90" }), "library-cudart", Pass, "13.0.48"),
        (&cu130, json!({ "nvidia-cuda-runtime-cu12": "12.8.90" }), "library-cudart", Fail, "12.8.90"),
    ] {
        let verdict = judge::judge(lock, &with(&[("/libraries", json!([])), ("/python/packages", packages.clone())]));
        let check = worst(&verdict, id);
        assert_eq!(check.status, status, "{packages}: {check:?}");
        assert!(check.found.as_deref().unwrap_or_default().contains(says), "{packages}: {check:?}");
    }
}
