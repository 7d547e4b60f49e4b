//! What no wheel of a lock brings must be on the machine: there, absent, or not known.

use gpuenv::verify::Status::{self, Fail, Pass, Skip, Unknown, Warn};
use serde_json::{Value, json};

use crate::common::judge::{judge, lock, set, with, worst};

/// TensorFlow without the CUDA of pip, CuPy, and libraries alone.
const TENSORFLOW: &str =
    "[stack]\ntensorflow = \"2.12\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";
const CUPY: &str = "[stack]\ncupy-cuda12x = \"14.2.0\"\ncudnn = \"9\"\nnccl = \"*\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";
const LIBRARIES: &str =
    "[stack]\ncuda = \"12.4\"\ncudnn = \"9\"\nnccl = \"*\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";

/// A host that was looked at, with these libraries and toolkits and nothing of the stack in its Python.
fn host(libraries: &Value, toolkits: &Value) -> Value {
    let python =
        json!({ "path": "/v/bin/python", "named_by": "VIRTUAL_ENV", "version": "3.11.9", "bits": 64, "packages": {} });
    with(&[
        ("/libraries", libraries.clone()),
        ("/toolkits", toolkits.clone()),
        ("/python", python),
        ("/environment", json!({})),
    ])
}

fn library(name: &str, soname: &str, version: &str) -> Value {
    let path = format!("/usr/lib/x86_64-linux-gnu/{soname}");
    json!({ "name": name, "soname": soname, "path": path, "found_by": "ld.so.cache", "version": version })
}

fn toolkit(version: &str) -> Value {
    json!([{ "root": format!("/usr/local/cuda-{version}"), "version": version, "named_by": ["PATH"] }])
}

#[track_caller]
fn ends(spec: &str, host: &Value, wanted: &[(&str, Status, &str)]) {
    let verdict = judge(&lock(spec), host);
    for (id, status, says) in wanted {
        let check = worst(&verdict, id);
        let text =
            format!("{} {}", check.hint.as_deref().unwrap_or_default(), check.found.as_deref().unwrap_or_default());
        assert!(check.status == *status && text.contains(says), "{id} {status:?} {says:?}: {check:#?}");
    }
    let worst = wanted.iter().map(|(_, status, _)| *status).max().unwrap();
    let all = match worst {
        Fail | Unknown => worst,
        _ => Pass,
    };
    assert_eq!(verdict.status, all, "{:#?}", verdict.checks.iter().filter(|one| one.status > Skip).collect::<Vec<_>>());
}

#[test]
fn what_the_system_has_is_enough() {
    let of_tensorflow =
        json!([library("cudart", "libcudart.so.11.0", "11.8"), library("cudnn", "libcudnn.so.8", "8.6.0")]);
    ends(TENSORFLOW, &host(&of_tensorflow, &json!([])), &[("library-cudart", Pass, ""), ("library-cudnn", Pass, "")]);
    // Beside those of another major.
    let mut both = vec![library("cudart", "libcudart.so.12", "12.4"), library("cudnn", "libcudnn.so.9", "9.1.0")];
    both.extend(of_tensorflow.as_array().unwrap().clone());
    ends(TENSORFLOW, &host(&json!(both), &json!([])), &[("library-cudart", Pass, ""), ("library-cudnn", Pass, "")]);
    // CuPy looks for a toolkit, or takes what of CUDA the loader finds; its cuDNN and NCCL come with pip.
    let own = ("library-cudnn", Skip, "not installed here");
    ends(CUPY, &host(&json!([]), &toolkit("12.8")), &[("library-cudart", Pass, "/usr/local/cuda-12.8"), own]);
    let part = json!([library("cublas", "libcublas.so.12", "12.4")]);
    ends(CUPY, &host(&part, &json!([])), &[("library-cudart", Pass, "libcublas.so.12"), own]);
    // A wheel of NVIDIA's that happens to be installed.
    let mut by_pip = host(&json!([]), &json!([]));
    set(&mut by_pip, "/python/packages", json!({ "nvidia-cuda-runtime-cu12": "12.9.79" }));
    ends(CUPY, &by_pip, &[("library-cudart", Pass, "")]);
}

#[test]
fn what_is_absent_although_it_was_looked_for_fails() {
    let nothing = host(&json!([]), &json!([]));
    let tensorflow = "tensorflow loads CUDA 11.8 of the system";
    ends(TENSORFLOW, &nothing, &[("library-cudart", Fail, tensorflow), ("library-cudnn", Fail, "cuDNN 8.6")]);
    let mut declared = nothing.clone();
    for (at, name) in [(4, "libraries"), (5, "toolkits")] {
        set(&mut declared, &format!("/probes/{at}"), json!({ "name": name, "ended": "absent" }));
    }
    let spec = format!("{TENSORFLOW}toolkit = \"11.8\"\ncudnn = \"8.6.0\"\n");
    ends(&spec, &declared, &[("library-cudart", Fail, "install it"), ("library-cudnn", Fail, "install it")]);
    ends(
        LIBRARIES,
        &nothing,
        &[
            ("library-cudart", Fail, "no wheel of the lock brings CUDA 12.4"),
            ("library-cudnn", Fail, "cuDNN 9"),
            ("library-nccl", Fail, "NCCL 2"),
        ],
    );
    // What is there is of another major.
    let older = json!([library("cudart", "libcudart.so.11.0", "11.8"), library("cublas", "libcublas.so.11", "11.11")]);
    ends(CUPY, &host(&older, &toolkit("11.8")), &[("library-cudart", Fail, "libcudart.so.11.0")]);
    // The loader does not look into a toolkit.
    let cudnn = json!([library("cudnn", "libcudnn.so.8", "8.6.0")]);
    ends(TENSORFLOW, &host(&cudnn, &toolkit("11.8")), &[("library-cudart", Fail, "lib64 into LD_LIBRARY_PATH")]);
}

#[test]
fn what_nobody_looked_at_is_said() {
    let nothing = host(&json!([]), &json!([]));
    let probed = |ended: Value| {
        let mut host = nothing.clone();
        set(&mut host, "/probes/4", ended);
        host
    };
    let quick = probed(json!({ "name": "container", "ended": "done" }));
    ends(TENSORFLOW, &quick, &[("library-cudart", Warn, "without `--quick`")]);
    let cut = probed(json!({ "name": "libraries", "ended": "timed-out" }));
    ends(TENSORFLOW, &cut, &[("library-cudart", Unknown, "see the probe `libraries`")]);
}

/// Wheels that bring their own are not installed yet, and a container is judged inside.
#[test]
fn who_brings_it_needs_nothing_of_the_system() {
    let nothing = host(&json!([]), &json!([]));
    for spec in [
        "[stack]\ntorch = \"2.5.1+cu124\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n",
        "[stack]\njax = \"0.4.33\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n",
        "[stack]\ncudf-cu12 = \"25.2\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\n",
        "[stack]\ntensorflow = \"2.12\"\npython = \"3.11\"\n[target.a]\ngpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"\n",
        "[stack]\n[build]\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\ntoolkit = \"12.4\"\n",
    ] {
        let verdict = judge(&lock(spec), &nothing);
        let absent = verdict.checks.iter().find(|one| one.id.starts_with("library-") && one.status > Skip);
        assert!(absent.is_none_or(|one| one.status == Pass), "{spec}\n{absent:#?}");
    }
}
