//! Tests of `probe::kernels::plan`.

use super::*;

fn device(cc: &str) -> CudaDevice {
    CudaDevice { compute_capability: Cc::parse(cc).ok(), ..CudaDevice::default() }
}

fn archs(texts: &[&str]) -> Vec<Arch> {
    texts.iter().map(|text| Arch::parse(text).unwrap()).collect()
}

fn told(jobs: &[Job]) -> Vec<String> {
    let told = jobs.iter().map(|job| {
        let by = match &job.by {
            By::BuiltIn => "",
            By::Nvrtc(..) => " nvrtc",
            By::Nvcc(..) => " nvcc",
        };
        match &job.code {
            Code::Cubin(arch) => format!("sm_{}{by}", arch.code()),
            Code::Ptx(cc) => format!("ptx {cc}{by}"),
            Code::PtxOfIsa(None) => "ptx".to_string(),
            Code::PtxOfIsa(Some(isa)) => format!("ptx {isa}"),
        }
    });
    told.collect()
}

fn host() -> Record {
    let nvrtc = |version: &str| Library {
        name: "nvrtc".into(),
        path: Some(format!("/lib/libnvrtc.so.{version}")),
        version: Version::parse(version).ok(),
        ..Library::default()
    };
    let toolkit =
        Toolkit { root: "/usr/local/cuda".into(), nvcc: Version::parse("12.4.131").ok(), ..Toolkit::default() };
    Record { libraries: vec![nvrtc("12.8"), nvrtc("12.4")], toolkits: vec![toolkit], ..Record::default() }
}

#[test]
fn quick_runs_one_trivial_program() {
    let quick = ProbeOptions { depth: Depth::Quick, sass: archs(&["8.0", "8.6", "9.0"]), ..ProbeOptions::default() };
    let jobs_of = |cc: &str| jobs(&quick, &host(), &device(cc));
    assert_eq!(told(&jobs_of("8.9")), ["sm_86"]);
    assert!(jobs_of("8.9")[0].trivial);
    assert_eq!(told(&jobs_of("7.5")), ["sm_75"], "the lock has nothing for it");
    assert_eq!(told(&jobs_of("13.0")), ["ptx"], "nothing is built for it");
    assert_eq!(told(&jobs(&quick, &host(), &CudaDevice::default())), ["ptx"]);
}

#[test]
fn a_lock_says_what_runs_and_who_compiles() {
    let options = ProbeOptions {
        sass: archs(&["7.5", "8.0", "9.0a", "9.0"]),
        ptx_isa: Version::parse("8.4").ok(),
        cuda: Version::parse("12.4.1").ok(),
        build: true,
        ..ProbeOptions::default()
    };
    let told = told(&jobs(&options, &host(), &device("9.0")));
    assert_eq!(told, ["sm_90", "ptx", "ptx 8.4", "sm_90a nvrtc", "sm_90 nvrtc", "ptx 9.0 nvrtc", "sm_90a nvcc"]);
    let plain = ProbeOptions { build: false, cuda: Version::parse("11.8").ok(), ..options };
    assert_eq!(super::tests::told(&jobs(&plain, &host(), &device("8.6"))), ["sm_80", "ptx", "ptx 8.4"]);
}

#[test]
fn without_a_lock_the_best_and_the_least_are_run() {
    let told = told(&jobs(&ProbeOptions::default(), &Record::default(), &device("8.9")));
    assert_eq!(told, ["sm_89", "sm_80", "ptx"]);
    let thor = super::tests::told(&jobs(&ProbeOptions::default(), &Record::default(), &device("11.0")));
    assert_eq!(thor, ["sm_110", "ptx"]);
}
