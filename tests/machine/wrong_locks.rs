//! Locks for other machines, against every host that people described: whatever a host tells that does not fit is
//! refused by the check that speaks of it, and what fits is not.

use std::collections::BTreeMap;

use gpuenv::catalog::{BUILTIN, OsMatch};
use gpuenv::host::{Record, System};
use gpuenv::lock::Lock;
use gpuenv::types::{Cc, Version};
use gpuenv::verify::{self, Status};

use crate::common::judge::{lock, try_lock};
use crate::hosts::{record, told};

/// A host's verdict on a lock, and how the worst of one check ended.
fn judged(lock: &Lock, host: &Record, id: &str) -> (Status, Option<Status>) {
    let (target, _) = lock.target.first_key_value().expect("one target");
    let verdict = verify::judge(lock, target, host, &BUILTIN).unwrap();
    let ends = verdict.checks.iter().filter(|check| check.id == id).map(|check| check.status);
    (verdict.status, ends.max())
}

/// What a host says that is held against a lock: none where it does not tell.
type Fits = fn(lock: &Lock, host: &Record) -> Option<bool>;

/// Every host against every lock: by check and end, how many. What does not fit must fail, what fits must not.
fn tried(locks: &[Lock], id: &str, of: fn(&Record) -> bool, fits: Fits) -> [usize; 3] {
    let (mut wrong, mut counts) = (Vec::new(), [0; 3]);
    for told in told() {
        let host = record(&told.id);
        for lock in locks.iter().filter(|_| of(&host)) {
            let (status, end) = judged(lock, &host, id);
            let told = || format!("{} against {:?}: {status:?}, {id} {end:?}", told.id, lock.inputs);
            let (at, is_right) = match fits(lock, &host) {
                Some(false) => (0, status == Status::Fail && end == Some(Status::Fail)),
                Some(true) => (1, end != Some(Status::Fail)),
                None => (2, end != Some(Status::Pass)),
            };
            counts[at] += 1;
            if !is_right {
                wrong.push(told());
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    counts
}

fn locks(specs: &[&str]) -> Vec<Lock> {
    specs.iter().map(|spec| lock(spec)).collect()
}

/// The capabilities of a host's GPUs, by what it tells or by their names.
fn capabilities(host: &Record) -> Option<Vec<Cc>> {
    let of = |gpu: &gpuenv::host::Gpu| {
        let by_name = || match BUILTIN.gpu(gpu.name.as_deref()?) {
            gpuenv::catalog::GpuMatch::Found(rows) => rows.first().map(|row| row.cc),
            _ => None,
        };
        gpu.compute_capability.or_else(by_name)
    };
    let gpus = host.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
    let all: Vec<Cc> = gpus.iter().map(of).collect::<Option<_>>()?;
    (!all.is_empty()).then_some(all)
}

/// The rule of NVIDIA's in few words: machine code runs within its major, PTX on whatever is newer.
fn is_covered(list: &str, cc: Cc) -> bool {
    let parts = |cc: &str| cc.split_once('.').map(|(major, minor)| (major.parse::<u8>(), minor.parse::<u8>()));
    list.split(';').any(|entry| {
        let code = entry.trim_end_matches("+PTX");
        let Some((Ok(major), Ok(minor))) = parts(code) else { panic!("{entry}") };
        let own = (cc.major, cc.minor);
        major == own.0 && minor <= own.1 || entry.ends_with("+PTX") && (major, minor) <= own
    })
}

#[test]
fn a_lock_for_another_gpu_is_refused() {
    let of = |gpu: &str, torch: &str| {
        lock(&format!("[stack]\ntorch = \"{torch}\"\n[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu22.04\"\n"))
    };
    let locks = [of("V100-SXM2-32GB", "2.5.1"), of("T4", "2.5.1"), of("H100 NVL", "2.5.1"), of("B200", "2.9.1")];
    let counts = tried(
        &locks,
        "gpu-supported",
        |_| true,
        |lock, host| {
            let list = &lock.arch_list.as_ref().expect("one list").torch;
            Some(capabilities(host)?.into_iter().all(|cc| is_covered(list, cc)))
        },
    );
    assert!(counts[0] > 300 && counts[1] > 30, "{counts:?}");
}

#[test]
fn a_lock_for_another_processor_is_refused() {
    let specs = [
        "[stack]\ntorch = \"2.9.1\"\n[target.t]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n",
        "[stack]\ntorch = \"2.9.1\"\n[target.t]\ngpu = \"GH200 480GB\"\nos = \"ubuntu22.04\"\n",
    ];
    let counts = tried(
        &locks(&specs),
        "platform-arch",
        |_| true,
        |lock, host| Some(*host.platform.arch.as_ref()? == lock.target.first_key_value()?.1.arch),
    );
    assert!(counts[0] > 80 && counts[1] > 80, "{counts:?}");
}

#[test]
fn a_lock_for_a_newer_driver_is_refused() {
    let of =
        |torch: &str| lock(&format!("[stack]\ntorch = \"{torch}\"\n[target.t]\ngpu = \"T4\"\nos = \"ubuntu22.04\"\n"));
    let mut locks = ["1.13.1+cu117", "2.5.1+cu118", "2.5.1+cu124", "2.9.1+cu128", "2.9.1+cu130"].map(of).to_vec();
    // One for a driver that nobody has yet.
    let mut newest = locks[4].clone();
    let driver = newest.target.get_mut("t").unwrap().driver.as_mut().unwrap();
    (driver.minimum, driver.cuda) = (Some("9999.10".to_string()), "99.0".to_string());
    locks.push(newest);
    // On a Jetson its system decides, Windows has floors of its own, and of a branch alone the release is open.
    let is_numbered = |host: &Record| {
        let driver = host.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref());
        let other = matches!(host.platform.system, Some(System::Tegra | System::Windows));
        !other && driver.is_some_and(|driver| driver.as_str().contains('.'))
    };
    let counts = tried(&locks, "driver-minimum", is_numbered, |lock, host| {
        let told = host.nvml.as_ref()?.driver.as_ref()?;
        let locked = lock.target.first_key_value()?.1.driver.as_ref()?;
        let minimum = Version::parse(locked.minimum.as_ref().unwrap()).unwrap();
        // WSL2 numbers its releases otherwise, under the same branches.
        Some(match host.platform.system {
            Some(System::Wsl) => told.prefix(1) >= minimum.prefix(1),
            _ => *told >= minimum,
        })
    });
    assert!(counts[0] > 120 && counts[1] > 120, "{counts:?}");
}

#[test]
fn a_lock_for_a_newer_c_library_is_refused() {
    let specs = ["[stack]\ntorch = \"2.9.1\"\n[target.t]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n"];
    let counts = tried(
        &locks(&specs),
        "platform-glibc",
        |_| true,
        |_, host| {
            // A system comes with its own.
            let of_system = || match BUILTIN.os(host.platform.os.as_deref()?) {
                OsMatch::Found(row) => row.glibc,
                OsMatch::Unknown(_) => None,
            };
            Some(host.platform.glibc.or_else(of_system)? >= Version::parse("2.28").unwrap())
        },
    );
    assert!(counts[0] >= 3 && counts[1] > 60, "{counts:?}");
}

/// A build for CPUs where one for CUDA is installed, and the other way round.
#[test]
fn a_lock_with_another_build_is_refused() {
    let mut of_release: BTreeMap<String, Option<[Lock; 2]>> = BTreeMap::new();
    let (mut wrong, mut tried) = (Vec::new(), [0, 0]);
    for told in told() {
        let host = record(&told.id);
        let installed = host.python.as_ref().and_then(|python| python.torch.as_ref()?.version.clone());
        let Some((release, build)) = installed.as_deref().and_then(|version| version.split_once('+')) else { continue };
        let make = || {
            let spec = |build: &str, gpu: &str| {
                let spec = format!(
                    "[stack]\ntorch = \"{release}{build}\"\n[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu20.04\"\n"
                );
                try_lock(&spec).ok()
            };
            Some([spec("+cpu", "none")?, spec("", "A100-SXM4-40GB")?])
        };
        let Some(locks) = of_release.entry(release.to_string()).or_insert_with(make) else { continue };
        let is_cpu = build.starts_with("cpu");
        let other = &locks[usize::from(is_cpu)];
        let (status, end) = judged(other, &host, "python-package");
        tried[usize::from(is_cpu)] += 1;
        if status != Status::Fail || end != Some(Status::Fail) {
            wrong.push(format!(
                "{}: {installed:?} against {:?}: {status:?}, {end:?}",
                told.id,
                other.stack.get("torch")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried[0] > 40 && tried[1] >= 3, "{tried:?}");
}
