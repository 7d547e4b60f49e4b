//! Hosts as people described them in public, as records: they read, their names are known, and the spec that `init`
//! drafts from each has the outcome that was reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::{BUILTIN, GpuMatch};
use gpuenv::explain;
use gpuenv::host::{Origin, Record, System, read_any};
use gpuenv::init;
use gpuenv::lock::{Lock, Renewed, Upgrade, renew};
use gpuenv::solve::engine::Steps;
use gpuenv::solve::own;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::spec;
use gpuenv::types::Version;
use gpuenv::verify::{self, Status};
use serde::Deserialize;

/// Names that are no product's: boards of one customer, slices of somebody's virtual machine, names cut off too early.
const NO_PRODUCTS: [&str; 3] = ["NVIDIA GeForce ...", "L20-2-PCIE-48GB-48GB-L-H-V", "NVIDIA vGPU-48GB"];

/// Builds that were never published: from source, of a container of NVIDIA's, of one night.
const NO_RELEASES: [&str; 4] =
    ["2.8.0.dev20250408+cu128", "2.9.0a0+145a3a7bda.nv25.10", "2.2.0a0+81ea7a4", "2.1.0a0+32f93b1"];

/// Drivers on Linux that no list of releases holds: of a cloud's own, of a Jetson.
const NO_DRIVERS: [&str; 2] = ["550.54.17", "580.00"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    host: Vec<Told>,
}

/// What was told of a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    pub id: String,
    /// `true`, `false` or `unknown`.
    works: String,
    /// How that is known.
    why: String,
    /// Where it does not work for what a spec can say: the keys to blame.
    #[serde(default)]
    culprits: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts")
}

pub fn told() -> Vec<Told> {
    let text = fs::read_to_string(folder().join("hosts.toml")).unwrap();
    toml::from_str::<Index>(&text).unwrap().host
}

fn text(id: &str) -> String {
    fs::read_to_string(folder().join(format!("{id}.json"))).unwrap_or_else(|error| panic!("{id}: {error}"))
}

pub fn record(id: &str) -> Record {
    read_any(&text(id)).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn driver(record: &Record) -> Option<&str> {
    record.nvml.as_ref()?.driver.as_ref().map(|driver| driver.as_str())
}

/// A fact that is changed, where a report tells it, and the findings that speak of it, the first of which must fail.
type Change = (&'static str, fn(&mut Record) -> Option<()>, &'static [&'static str]);

const CHANGES: &[Change] = &[
    ("another processor", |host| host.platform.arch.replace("riscv64".into()).map(drop), &["platform-arch"]),
    ("an old C library", |host| host.platform.glibc.replace(version("2.5")).map(drop), &["platform-glibc"]),
    (
        "an old driver",
        |host| host.nvml.as_mut()?.driver.replace(version("304.137")).map(drop),
        &["driver-minimum", "driver-match", "driver-flavour"],
    ),
    (
        "an old GPU",
        |host| {
            for gpu in &mut host.nvml.as_mut()?.gpus {
                (gpu.name, gpu.compute_capability) = (Some("Tesla K80".into()), None);
            }
            Some(())
        },
        &["gpu-supported", "driver-minimum", "torch-arch-list", "driver-flavour"],
    ),
    ("another Python", |host| host.python.as_mut()?.version.replace(version("2.7.18")).map(drop), &["python-version"]),
    (
        "a build for another CUDA",
        |host| host.python.as_mut()?.torch.as_mut()?.cuda.replace(version("7.5")).map(drop),
        &["torch-cuda"],
    ),
    (
        "no GPU for torch",
        |host| host.python.as_mut()?.torch.as_mut()?.available.replace(false).map(drop),
        &["torch-available"],
    ),
];

/// Where a lock leaves it open: two virtual machines whose GPU has no product's name and one report without a
/// framework lock no GPU code, and nobody has told what the wheels of a Jetson, a nightly or somebody's own build ask of the
/// C library: that is unknown, and no pass.
const NOT_DECIDED: [(&str, &str); 8] = [
    ("vllm-17448-vgpu-48gb", "an old GPU"),
    ("vllm-10652-l20-2-pcie-48gb-48gb-l-h-v", "an old GPU"),
    ("dnnrocket-55-nvcc101-465", "an old GPU"),
    ("pytorch-120186-jetson-jp5", "an old C library"),
    ("vllm-16336-b200", "an old C library"),
    ("vllm-29676-a10g", "an old C library"),
    ("vllm-3744-gh200-480gb", "an old C library"),
    ("vllm-8099-a16", "an old C library"),
];

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

/// What became of the spec that is drafted from a host.
struct Outcome {
    spec: String,
    /// The keys that cannot hold together; none: there is an answer.
    culprits: Vec<String>,
    /// How the host is judged against that answer, and what failed.
    verdict: Option<(Status, Vec<String>)>,
}

fn outcome(record: &Record) -> Outcome {
    let text = init::of_host(record, &BUILTIN, false).text();
    let spec = spec::parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let laid = own::lay(&spec, &BUILTIN);
    let rules = Problem::new(laid.as_ref().unwrap_or(&BUILTIN));
    let asked = Request::new(&spec, &rules);
    let (request, _) = asked.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let steps = Steps::default();
    match renew(&spec, &request, None, &Upgrade::Nothing, &steps) {
        Renewed::Lock(lock, _) => {
            let verdict = verify::judge(&lock, "host", record, &BUILTIN).expect("the target is there");
            let failed = verdict.checks.iter().filter(|check| check.status == Status::Fail);
            let failed = failed.map(|check| format!("{}: {:?}", check.id, check.found)).collect();
            Outcome { spec: text, culprits: Vec::new(), verdict: Some((verdict.status, failed)) }
        }
        Renewed::Conflict | Renewed::Undetermined(_) => {
            let told = explain::obstacles(&spec, &rules, &steps).expect("there is no answer");
            let culprits = told.conflicts.into_iter().flat_map(|one| one.culprits).collect();
            Outcome { spec: text, culprits, verdict: None }
        }
        Renewed::GaveUp => panic!("the step limit was reached:\n{text}"),
    }
}

#[test]
fn every_record_is_listed_and_reads() {
    let listed: BTreeSet<String> = told().into_iter().map(|told| told.id).collect();
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let there: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(listed, there);
    assert!(listed.len() >= 102);
    for id in &listed {
        let (text, record) = (text(id), record(id));
        assert_eq!(serde_json::to_string_pretty(&record).unwrap() + "\n", text, "{id} is not as it would be written");
        assert_eq!(record.origin, Origin::Pasted, "{id}: nobody probed it");
        assert!(record.source.as_ref().is_some_and(|source| source.starts_with("https://")), "{id} has no source");
        for private in ["\"uuid\"", "\"serial", "@"] {
            assert!(!text.contains(private), "{id} holds {private}");
        }
        let homes = text.matches("/home/").count();
        assert_eq!(homes, text.matches("/home/user").count(), "{id} names somebody");
    }
}

#[test]
fn their_names_are_known() {
    let (mut products, mut releases, mut drivers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for told in told() {
        let record = record(&told.id);
        let names = record.nvml.iter().flat_map(|nvml| &nvml.gpus).filter_map(|gpu| gpu.name.clone());
        products.extend(names.filter(|name| !matches!(BUILTIN.gpu(name), GpuMatch::Found(_))));
        let torch = record.python.as_ref().and_then(|python| python.torch.as_ref()?.version.clone());
        releases.extend(torch.filter(|torch| {
            let release = torch.split('+').next().unwrap_or(torch);
            !BUILTIN.builds.iter().any(|row| row.package == "torch" && row.version.as_str() == release)
        }));
        // Windows' drivers, WSL2's among them, are numbered by themselves.
        let linux = !matches!(record.platform.system, Some(System::Windows | System::Wsl));
        let dotted =
            driver(&record).filter(|driver| linux && driver.matches('.').count() == 2 || driver.ends_with(".00"));
        let known = |driver: &str| BUILTIN.drivers.iter().any(|row| row.version.as_str() == driver);
        drivers.extend(dotted.filter(|driver| !known(driver) && linux).map(str::to_string));
    }
    assert_eq!(products, NO_PRODUCTS.map(String::from).into());
    assert_eq!(releases, NO_RELEASES.map(String::from).into());
    assert_eq!(drivers, NO_DRIVERS.map(String::from).into());
}

/// A stack that was seen working is never called impossible, one that a spec can tell is not is.
#[test]
fn what_was_seen_working_is_no_conflict() {
    let mut wrong = Vec::new();
    for told in told() {
        let record = record(&told.id);
        let outcome = outcome(&record);
        let expected = if told.works == "false" { told.culprits } else { Vec::new() };
        if outcome.culprits != expected {
            let (why, culprits, spec) = (told.why, outcome.culprits, outcome.spec);
            wrong.push(format!("{}, works {}: {why}\n{culprits:?}\n{spec}", told.id, told.works));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nor does such a host fail against a lock of what is installed there. Whether one that does not work passes is
/// the question of what its report tells: most of these faults lie in libraries that nobody listed.
#[test]
fn what_was_seen_working_is_not_refused() {
    let (mut wrong, mut judged, mut passed) = (Vec::new(), 0, 0);
    for told in told() {
        let record = record(&told.id);
        let available = record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
        let works = told.works == "true" || told.works == "unknown" && available == Some(true);
        let outcome = outcome(&record);
        // What the catalog does not have is not in the lock.
        let all = !outcome.spec.contains("the catalog has no such build") && !outcome.spec.contains("# arch");
        let Some((status, failed)) = outcome.verdict.filter(|_| works && all) else { continue };
        judged += 1;
        passed += usize::from(status != Status::Unknown);
        if status == Status::Fail {
            wrong.push(format!("{}: {failed:?}\n{}", told.id, outcome.spec));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged > 60 && passed > 50, "{passed} of {judged}");
}

/// Reports list torch as the package index names it, without the variant that torch tells of itself: the build is the
/// locked one all the same.
#[test]
fn a_build_without_its_variant_in_pips_list_is_no_other_build() {
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for told in told() {
        let mut host = record(&told.id);
        let Some(lock) = lock_of(&host) else { continue };
        let before = verify::judge(&lock, "host", &host, &BUILTIN).unwrap().status;
        let Some(python) = host.python.as_mut() else { continue };
        let version = python.torch.as_ref().and_then(|torch| torch.version.clone());
        let Some((release, _)) = version.as_ref().and_then(|version| version.split_once('+')) else { continue };
        // What the catalog does not have is not in the lock.
        if lock.stack.get("torch") != version.as_ref() {
            continue;
        }
        python.packages.insert("torch".to_string(), release.to_string());
        let verdict = verify::judge(&lock, "host", &host, &BUILTIN).unwrap();
        judged += 1;
        if verdict.status != before {
            let failed: Vec<_> = verdict.checks.iter().filter(|check| check.status == verdict.status).collect();
            wrong.push(format!("{}: {before:?}, then {failed:?}", told.id));
        }
        // Another build is told as before.
        host.python.as_mut().unwrap().packages.insert("torch".to_string(), "0.4.1".to_string());
        host.python.as_mut().unwrap().torch.as_mut().unwrap().version = Some("0.4.1+cu92".to_string());
        let other = verify::judge(&lock, "host", &host, &BUILTIN).unwrap();
        let told_so = other.checks.iter().any(|check| check.id == "python-package" && check.status == Status::Fail);
        if lock.target["host"].runtime == "bare-metal" && lock.stack.contains_key("torch") && !told_so {
            wrong.push(format!("{}: another build passes", told.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged >= 45, "{judged}");
}

/// Hosts that do not pass the lock of their own `init`, and why that is right.
const NOT_THEIR_OWN: [(&str, &str); 22] = [
    ("deepspeed-2055-nvcc113", "no GPU told"),
    ("deepspeed-pr6762-dsreport", "no driver told"),
    ("dnnrocket-55-nvcc101-465", "the GPU's name is cut off"),
    ("jax-18027-cublas-mix", "no driver told"),
    ("nndetection-220-rtx3090", "no driver told"),
    ("nni-2463-titanx-pascal", "Windows, its driver is from before Linux inside it had CUDA"),
    ("petric2-27-windows-551", "no GPU told"),
    ("pytorch-120186-jetson-jp5", "no driver told"),
    ("pytorch-186591-nccl-resume", "no driver told"),
    ("surroundocc-121-510", "no GPU told"),
    ("vllm-10652-l20-2-pcie-48gb-48gb-l-h-v", "the GPU's name is a provider's own"),
    ("vllm-17448-vgpu-48gb", "the GPU's name is a provider's own"),
    ("vllm-28110-gb10-cu129", "no driver told"),
    ("vllm-6118-pg509-210", "its torch finds no GPU"),
    ("vllm-6147-rtx4000ada-wsl-e2", "its torch finds no GPU"),
    ("vllm-8255-rtx4000ada-wsl-e2", "its torch finds no GPU"),
    ("vllm-6486-ubuntu2004-11060", "its driver is too old for its torch"),
    ("vllm-3617-tesla-v100-sxm2-32gb", "ppc64le, for which a spec has no word"),
    ("vllm-11739-rtx-3060", "a CPU build beside a GPU"),
    ("vllm-12384-rtx-4090-d", "a CPU build beside a GPU"),
    ("vllm-25464-rtx-3090", "a CPU build beside a GPU"),
    ("vllm-7680-a100-80gb-pcie", "a CPU build beside a GPU"),
];

/// Every other host passes it, as its report would be printed with pip's lines.
#[test]
fn hosts_pass_the_lock_of_their_own_init() {
    let mut others = BTreeMap::new();
    for told in told() {
        let mut host = record(&told.id);
        let python = host.python.get_or_insert_default();
        let version = python.torch.as_ref().and_then(|torch| torch.version.clone());
        if let Some(release) = version.as_ref().and_then(|version| version.split('+').next()) {
            python.packages.insert("torch".to_string(), release.to_string());
        }
        let judged = |lock: Lock| verify::judge(&lock, "host", &host, &BUILTIN).unwrap().status;
        let status = lock_of(&host).map(judged);
        if status != Some(Status::Pass) {
            others.insert(told.id, status);
        }
    }
    let known = NOT_THEIR_OWN.map(|(id, _)| id.to_string());
    let others_too: BTreeSet<String> = others.keys().cloned().collect();
    assert_eq!(others_too, known.into(), "{others:?}");
}

/// On every host that passes: one changed fact changes the findings that speak of it, and no other.
#[test]
fn one_changed_fact_changes_what_speaks_of_it() {
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for told in told() {
        let host = record(&told.id);
        let Some(lock) = lock_of(&host) else { continue };
        let before = ends(&lock, &host);
        if before.values().any(|status| *status == Status::Fail) {
            continue;
        }
        for (what, change, speaking) in CHANGES {
            let mut changed = host.clone();
            if change(&mut changed).is_none() || !before.contains_key(speaking[0]) {
                continue;
            }
            let after = ends(&lock, &changed);
            let ids: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
            let others = ids.into_iter().filter(|id| before.get(id) != after.get(id) && !speaking.contains(id));
            let others: Vec<&str> = others.collect();
            // What is skipped there, because the report or the lock leaves it out, cannot fail.
            let skipped = before[speaking[0]] == Status::Skip && after.get(speaking[0]) == Some(&Status::Skip);
            let open = NOT_DECIDED.contains(&(told.id.as_str(), what));
            if !others.is_empty() || !skipped && !open && after.get(speaking[0]) != Some(&Status::Fail) {
                wrong.push(format!("{}: {what}: {:?}, others {others:?}", told.id, after.get(speaking[0])));
            }
            *tried.entry(what).or_default() += usize::from(!skipped);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried.len() == CHANGES.len() && tried.values().all(|tries| *tries >= 20), "{tried:?}");
}

/// Reports name the toolkit that a host has, and mostly not where it lies.
#[test]
fn a_toolkit_is_told_without_a_place_that_nobody_told() {
    let spec = "[stack]\ntorch = \"2.7.1\"\n[build]\n[target.host]\ngpu = \"RTX 4000 Ada\"\n";
    let spec = spec::parse(spec).unwrap();
    let rules = Problem::new(&BUILTIN);
    let (request, _) = Request::new(&spec, &rules).unwrap();
    let Renewed::Lock(lock, _) = renew(&spec, &request, None, &Upgrade::Nothing, &Steps::default()) else {
        panic!("no lock")
    };
    let record = record("vllm-6147-rtx4000ada-wsl-e2");
    let checks = verify::judge(&lock, "host", &record, &BUILTIN).unwrap().checks;
    let toolkit = checks.iter().find(|check| check.id == "toolkit").expect("the lock builds");
    assert_eq!(toolkit.found.as_deref(), Some("12.1.66"));
}

/// The lock of the spec that is drafted from a host.
fn lock_of(host: &Record) -> Option<Lock> {
    let spec = spec::parse(&init::of_host(host, &BUILTIN, false).text()).unwrap();
    let laid = own::lay(&spec, &BUILTIN);
    let rules = Problem::new(laid.as_ref().unwrap_or(&BUILTIN));
    let (request, _) = Request::new(&spec, &rules).unwrap();
    match renew(&spec, &request, None, &Upgrade::Nothing, &Steps::default()) {
        Renewed::Lock(lock, _) => Some(*lock),
        _ => None,
    }
}

/// How each check ends, the worst of several GPUs.
fn ends(lock: &Lock, host: &Record) -> BTreeMap<&'static str, Status> {
    let mut ends = BTreeMap::new();
    for check in verify::judge(lock, "host", host, &BUILTIN).unwrap().checks {
        let end = ends.entry(check.id).or_insert(check.status);
        *end = check.status.max(*end);
    }
    ends
}

/// The kinds of machines that people have.
#[test]
fn every_kind_of_machine_is_there() {
    let all: Vec<Record> = told().iter().map(|told| record(&told.id)).collect();
    let gpus = |record: &Record| record.nvml.as_ref().map(|nvml| nvml.gpus.clone()).unwrap_or_default();
    let named = |part: &str| {
        let has = |record: &&Record| gpus(record).iter().any(|gpu| gpu.name.as_ref().is_some_and(|n| n.contains(part)));
        all.iter().filter(has).count()
    };
    for part in ["RTX", "T4", "V100", "A100", "H100", "GH200", "B200", "GB10", "GRID", "Laptop"] {
        assert!(named(part) > 0, "{part}");
    }
    let of = |system: System| all.iter().filter(|record| record.platform.system == Some(system)).count();
    assert!(of(System::Wsl) >= 5 && of(System::Tegra) >= 3 && of(System::Windows) >= 2);
    let mig = |record: &&Record| gpus(record).iter().any(|gpu| gpu.mig == Some(true));
    assert!(all.iter().filter(mig).count() >= 3);
}
