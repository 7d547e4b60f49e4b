//! Toolkits, host compilers and interpreters, good, bad and absurd.

use std::time::{Duration, Instant};

use gpuenv::host::{ProbeStatus, Record};
use gpuenv::probe::{compilers, python, toolkits};

use super::{Scratch, ended};

const NVCC: &str = "echo 'nvcc: NVIDIA (R) Cuda compiler driver'\n\
                    echo 'Cuda compilation tools, release 12.4, V12.4.131'";

#[test]
fn toolkits_are_told_with_who_points_to_them() {
    let scratch = Scratch::new("toolkits");
    scratch.script("cuda-12.4/bin/nvcc", NVCC);
    scratch.write("cuda-12.4/version.json", r#"{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}"#);
    scratch.script("cuda-11.8/bin/nvcc", &NVCC.replace("12.4", "11.8").replace("131", "89"));
    scratch.write("cuda-11.8/version.json", r#"{"cuda": {"version": "11.8.0"}}"#);
    std::os::unix::fs::symlink("cuda-12.4", scratch.at("cuda")).unwrap();
    let (home, path) = (scratch.shown("cuda"), scratch.shown("cuda-11.8/bin"));
    let context = scratch.context(&[
        ("CUDA_HOME", &home),
        ("CUDA_PATH", &home),
        ("PATH", &path),
        ("CONDA_PREFIX", "/nonexistent"),
    ]);
    let mut record = Record::default();
    toolkits::look(&context, &mut record);
    let ours: Vec<_> = record.toolkits.iter().filter(|toolkit| toolkit.root.starts_with(&scratch.shown(""))).collect();
    let [first, second] = &ours[..] else { panic!("{:#?}", record.toolkits) };
    assert_eq!(
        (&first.root, &first.named_by[..]),
        (&scratch.shown("cuda-12.4"), &["CUDA_HOME", "CUDA_PATH"].map(String::from)[..])
    );
    assert_eq!((&second.root, &second.named_by[..]), (&scratch.shown("cuda-11.8"), &["PATH".to_string()][..]));
    let versions = |at: usize| [&ours[at].version, &ours[at].nvcc].map(|version| version.as_ref().unwrap().to_string());
    assert_eq!(
        (versions(0), versions(1)),
        (["12.4.1", "12.4.131"].map(String::from), ["11.8.0", "11.8.89"].map(String::from))
    );
    assert_eq!(first.nvcc_path, Some(scratch.shown("cuda-12.4/bin/nvcc")));
    assert_eq!(ended(&record, "toolkits"), ProbeStatus::Done);
}

#[test]
fn a_toolkit_that_is_named_and_not_there_is_told() {
    let scratch = Scratch::new("gone");
    let home = scratch.shown("nowhere");
    let mut record = Record::default();
    toolkits::look(&scratch.context(&[("CUDA_HOME", &home), ("CONDA_PREFIX", &home)]), &mut record);
    let found = record.toolkits.iter().find(|toolkit| toolkit.root == home).unwrap();
    assert_eq!(
        (&found.named_by[..], found.fault.as_ref().unwrap().name.as_deref()),
        (&["CUDA_HOME".to_string()][..], Some("ENOENT"))
    );
}

#[test]
fn an_nvcc_that_hangs_crashes_or_prints_garbage_is_told() {
    for (name, script, fault) in [
        ("hang", "sleep 60", "ETIMEDOUT"),
        ("crash", "kill -SEGV $$", "SIGSEGV"),
        ("fail", "echo no licence >&2; exit 3", "no licence"),
        ("garbage", "printf '\\033[2J\\377\\000release 12'", "does not say a version"),
        ("loud", "yes", "MiB"),
        ("daemon", "(sleep 60) & sleep 60", "ETIMEDOUT"),
    ] {
        let scratch = Scratch::new(&format!("nvcc-{name}"));
        scratch.script("cuda/bin/nvcc", script);
        scratch.write("cuda/version.txt", "CUDA Version 10.2.89\n");
        let home = scratch.shown("cuda");
        let context =
            scratch.context(&[("CUDA_HOME", &home), ("PATH", "/usr/bin:/bin"), ("GPUENV_PROBE_LIMIT_MS", "1500")]);
        let began = Instant::now();
        let mut record = Record::default();
        toolkits::look(&context, &mut record);
        assert!(began.elapsed() < Duration::from_secs(20), "{name}");
        let found = record.toolkits.iter().find(|toolkit| toolkit.root == home).unwrap();
        assert_eq!((found.version.as_ref().unwrap().as_str(), &found.nvcc), ("10.2.89", &None));
        let told = format!("{:?}", found.fault);
        assert!(told.contains(fault), "{name}: {told}");
    }
}

#[test]
fn only_programs_are_compilers() {
    let scratch = Scratch::new("compilers");
    let gcc =
        "echo 'gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0'; echo 'Copyright (C) 2021 Free Software Foundation, Inc.'";
    scratch.script("bin/gcc", gcc);
    scratch.script("bin/clang", "echo 'Ubuntu clang version 14.0.0-1ubuntu1'");
    scratch.write("bin/g++", "not executable");
    scratch.at("bin/clang++/x");
    scratch.script("other/g++-12", &gcc.replace("11.4.0", "12.3.0"));
    let (path, cxx) = (scratch.shown("bin"), format!("{} -O2", scratch.shown("other/g++-12")));
    let context =
        scratch.context(&[("PATH", &path), ("CXX", &cxx), ("NVCC_CCBIN", "/dev/null"), ("CUDAHOSTCXX", "gcc")]);
    let mut record = Record::default();
    compilers::look(&context, &mut record);
    let told: Vec<(&str, &str, String)> = record
        .compilers
        .iter()
        .map(|found| (found.name.as_str(), found.version.as_ref().unwrap().as_str(), found.named_by.join(" ")))
        .collect();
    let wanted = [("gcc", "11.4.0", "CUDAHOSTCXX PATH"), ("gcc", "12.3.0", "CXX"), ("clang", "14.0.0", "PATH")];
    assert_eq!(told, wanted.map(|(name, version, by)| (name, version, by.to_string())));
}

/// What a script for an interpreter is called with: `-E -B -c SCRIPT`.
fn ask(scratch: &Scratch, interpreter: &str, variables: &[(&str, &str)]) -> Record {
    let mut all = vec![("GPUENV_PROBE_LIMIT_MS", "3000"), ("PATH", "/usr/bin:/bin")];
    all.extend(variables);
    let mut context = scratch.context(&all);
    context.options.python = Some(scratch.0.join(interpreter));
    let mut record = Record::default();
    python::look(&context, &mut record);
    record
}

#[test]
fn interpreters_that_misbehave_are_told() {
    for (name, script, how, word) in [
        ("hang", "sleep 60", ProbeStatus::TimedOut, "no answer"),
        ("escape", "printf '\\033]0;owned\\007\\033[2J'", ProbeStatus::Garbled, "makes sense"),
        ("flood", "head -c 100000000 /dev/zero", ProbeStatus::Failed, "MiB"),
        ("crash", "kill -BUS $$", ProbeStatus::Crashed, "SIGBUS"),
        ("old", "echo 'Unknown option: -E' >&2; exit 2", ProbeStatus::Failed, "Unknown option"),
        ("wrong", "echo 'gpuenv=[1, \"two\"]'", ProbeStatus::Garbled, "makes sense"),
        ("deep", "printf 'gpuenv='; head -c 100000 /dev/zero | tr '\\0' '['", ProbeStatus::Garbled, "makes sense"),
        ("invalid", "printf 'gpuenv={\"version\": \"3.11.\\377\"}\\n'; exit 0", ProbeStatus::Done, ""),
    ] {
        let scratch = Scratch::new(&format!("python-{name}"));
        scratch.script("python", script);
        let record = ask(&scratch, "python", &[]);
        let python = record.python.as_ref().unwrap();
        assert_eq!(ended(&record, "python"), how, "{name}: {python:?}");
        assert!(format!("{:?}", python.fault).contains(word), "{name}: {python:?}");
        assert_eq!((&python.version, python.packages.len()), (&None, 0));
    }
}

#[test]
fn an_interpreter_that_is_not_there_is_told() {
    let scratch = Scratch::new("python-none");
    let record = ask(&scratch, "nowhere/python", &[]);
    assert_eq!(ended(&record, "python"), ProbeStatus::Failed);
    assert!(record.python.unwrap().fault.unwrap().message.unwrap().contains("could not be started"));
}

#[test]
fn a_32_bit_interpreter_says_so() {
    let scratch = Scratch::new("python-32");
    scratch.script("python", "echo noise; echo 'gpuenv={\"version\": \"2.7.18\", \"bits\": 32, \"packages\": {\"torch\": \"1.4.0\", \"x\": \"1\"}}'");
    let python = ask(&scratch, "python", &[]).python.unwrap();
    assert_eq!((python.bits, python.version.unwrap().as_str(), python.packages.len()), (Some(32), "2.7.18", 1));
}

/// A virtual environment of the Python here, without pip. None, and said so, where that cannot be made.
fn environment(scratch: &Scratch) -> Option<std::path::PathBuf> {
    let made =
        std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(scratch.at("venv")).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: python3 cannot make a virtual environment");
        return None;
    }
    let lib = scratch.0.join("venv/lib");
    let python = std::fs::read_dir(lib).unwrap().next().unwrap().unwrap().path();
    Some(python.join("site-packages"))
}

#[test]
fn a_real_interpreter_tells_its_packages_without_importing_them() {
    let scratch = Scratch::new("venv");
    let Some(site) = environment(&scratch) else { return };
    for name in ["torch-2.5.1+cu124", "nvidia_cudnn_cu12-9.1.0.70", "requests-2.32.0", "Flash_Attn-2.7.0.post2"] {
        std::fs::create_dir(site.join(format!("{name}.dist-info"))).unwrap();
    }
    // Notes of installers (PEP 610), and what is none.
    let note = |name: &str, text: &str| {
        std::fs::create_dir_all(site.join(format!("{name}.dist-info"))).unwrap();
        std::fs::write(site.join(format!("{name}.dist-info/direct_url.json")), text).unwrap();
    };
    let url = "\"url\": \"https://user:secret@wheels.example/x.whl\"";
    let digest = "AB".repeat(32);
    note("torch-2.5.1+cu124", &format!("{{{url}, \"archive_info\": {{\"hashes\": {{\"sha256\": \"{digest}\"}}}}}}"));
    note("nvidia_cudnn_cu12-9.1.0.70", &format!("{{{url}, \"archive_info\": {{\"hash\": \"sha256={digest}\"}}}}"));
    note("Flash_Attn-2.7.0.post2", &format!("{{{url}, \"vcs_info\": {{\"vcs\": \"git\"}}}}"));
    note("triton-3.1.0", &format!("{{{url}, \"archive_info\": {{}}}}"));
    note("jax-0.4.30", &format!("{{{url}, \"dir_info\": {{\"editable\": true}}}}"));
    for (name, text) in [("numpy-1.26", "[1]"), ("vllm-0.9.1", &"[".repeat(40_000)), ("xformers-0.0.28", "\u{fffd}")] {
        note(name, text);
    }
    std::fs::create_dir(site.join("torch")).unwrap();
    std::fs::write(site.join("torch/__init__.py"), "raise SystemExit('imported')").unwrap();
    std::fs::write(site.join("sitecustomize.py"), "print('\\x1b[31mwelcome')").unwrap();
    let record = ask(&scratch, "venv/bin/python", &[("PYTHONHOME", "/nonexistent"), ("PYTHONPATH", "/nonexistent")]);
    let python = record.python.as_ref().unwrap();
    assert_eq!(ended(&record, "python"), ProbeStatus::Done, "{python:?}");
    assert_eq!((python.bits, python.version.as_ref().unwrap().major()), (Some(64), 3));
    let told: Vec<(&str, &str)> =
        python.packages.iter().map(|(name, version)| (name.as_str(), version.as_str())).collect();
    let wanted = "flash-attn 2.7.0.post2, jax 0.4.30, numpy 1.26, nvidia-cudnn-cu12 9.1.0.70, torch 2.5.1+cu124, \
                  triton 3.1.0, vllm 0.9.1, xformers 0.0.28";
    assert_eq!(told.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", "), wanted);
    let origins: Vec<String> = python.origins.iter().map(|(name, origin)| format!("{name} {origin}")).collect();
    let file = format!("sha256:{}", digest.to_lowercase());
    assert_eq!(
        origins,
        [
            "flash-attn repository".to_string(),
            "jax folder".to_string(),
            format!("nvidia-cudnn-cu12 {file}"),
            format!("torch {file}"),
            "triton file".to_string()
        ]
    );
    assert!(python.sites.contains(&site.display().to_string()), "{python:?}");
    assert_eq!(python.named_by.as_deref(), Some("--python"));

    let venv = scratch.shown("venv");
    let mut record = Record::default();
    python::look(&scratch.context(&[("VIRTUAL_ENV", &venv)]), &mut record);
    let python = record.python.unwrap();
    assert_eq!((python.named_by.as_deref(), python.packages.len()), (Some("VIRTUAL_ENV"), 8));
    // What is locked matters whatever it is called.
    let mut context = scratch.context(&[("VIRTUAL_ENV", &venv)]);
    context.options.packages.insert("requests".to_string());
    let mut record = Record::default();
    python::look(&context, &mut record);
    assert_eq!(record.python.unwrap().packages["requests"], "2.32.0");
}

/// As modules of clusters and `pip install --target` leave packages: what a program imports comes from there.
#[test]
fn folders_of_pythonpath_come_before_site_packages() {
    let scratch = Scratch::new("pythonpath");
    let Some(site) = environment(&scratch) else { return };
    let module = scratch.0.join("module");
    for folder in [site.join("torch-2.5.1+cu124.dist-info"), module.join("torch-2.1.0+cu118.dist-info")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let torch = |value: &str| {
        let record = ask(&scratch, "venv/bin/python", &[("PYTHONPATH", value)]);
        record.python.unwrap().packages["torch"].to_string()
    };
    assert_eq!(torch(&format!("/nonexistent:{}", module.display())), "2.1.0+cu118");
    // What depends on where one stands is left out.
    assert_eq!(torch("module:"), "2.5.1+cu124");
}

#[test]
fn torch_is_imported_only_where_everything_is_looked_at_and_may_break() {
    let fake = "import types, warnings\n\
        __version__ = '2.5.1+cu124'\n\
        version = types.SimpleNamespace(cuda='12.4')\n\
        cuda = types.SimpleNamespace(is_available=lambda: warnings.warn('driver too old') or False,\n\
            get_arch_list=lambda: ['sm_80', 'sm_90'], nccl=types.SimpleNamespace(version=lambda: (2, 21, 5)))\n\
        _C = None\n\
        backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 90100))\n";
    for (name, source, how) in [
        ("fine", fake.to_string(), ProbeStatus::Done),
        (
            "missing",
            "raise ImportError('libcudnn.so.9: cannot open shared object file')".to_string(),
            ProbeStatus::Done,
        ),
        (
            "crash",
            format!("{fake}import os\nversion = None\ndef f(): os.kill(os.getpid(), 11)\ncuda.is_available = f\n"),
            ProbeStatus::Crashed,
        ),
        ("hang", "import time\ntime.sleep(60)".to_string(), ProbeStatus::TimedOut),
        ("exit", "import os\nos._exit(0)".to_string(), ProbeStatus::Garbled),
    ] {
        let scratch = Scratch::new(&format!("torch-{name}"));
        let Some(site) = environment(&scratch) else { return };
        std::fs::create_dir(site.join("torch-2.5.1+cu124.dist-info")).unwrap();
        std::fs::create_dir(site.join("torch")).unwrap();
        std::fs::write(site.join("torch/__init__.py"), source).unwrap();
        let mut record = ask(&scratch, "venv/bin/python", &[]);
        let mut context = scratch.context(&[("GPUENV_PROBE_LIMIT_MS", "3000")]);
        context.options.python = Some(scratch.0.join("venv/bin/python"));
        python::look_at_torch(&context, &mut record);
        assert_eq!(ended(&record, "torch"), how, "{name}: {record:#?}");
        let torch = record.python.unwrap().torch.unwrap();
        match name {
            "fine" => {
                assert_eq!((torch.version.as_deref(), torch.available), (Some("2.5.1+cu124"), Some(false)));
                assert_eq!((torch.cuda.unwrap().as_str(), torch.cudnn.unwrap().as_str()), ("12.4", "9.1.0"));
                assert_eq!((torch.nccl.unwrap().as_str(), torch.arch_list.len()), ("2.21.5", 2));
                assert_eq!((torch.computed, &torch.messages[..]), (None, &["driver too old".to_string()][..]));
            }
            "missing" => assert!(torch.messages[0].contains("libcudnn.so.9"), "{:?}", torch.messages),
            "crash" => assert_eq!(torch.version.as_deref(), Some("2.5.1+cu124"), "what it told before is kept"),
            _ => assert_eq!(torch.version, None),
        }
    }
}

#[test]
fn another_machines_programs_are_not_run() {
    let scratch = Scratch::new("elsewhere");
    for name in ["python3", "gcc"] {
        scratch.script(&format!("usr/bin/{name}"), "touch /tmp/gpuenv-was-run; kill -SEGV $$");
    }
    scratch.script("usr/local/cuda-12.4/bin/nvcc", "touch /tmp/gpuenv-was-run");
    scratch.write("usr/local/cuda-12.4/version.json", r#"{"cuda": {"version": "12.4.1"}}"#);
    let mut context = scratch.context(&[("PATH", "/usr/bin")]);
    context.root = scratch.0.clone();
    let mut record = Record::default();
    python::look(&context, &mut record);
    compilers::look(&context, &mut record);
    toolkits::look(&context, &mut record);
    assert_eq!(ended(&record, "python"), ProbeStatus::Refused);
    assert_eq!(record.python.unwrap().path.as_deref(), Some("/usr/bin/python3"));
    assert_eq!((record.compilers.len(), &record.compilers[0].version), (1, &None));
    assert_eq!(record.toolkits[0].version.as_ref().unwrap().as_str(), "12.4.1");
    assert_eq!(
        (&record.toolkits[0].nvcc, record.toolkits[0].nvcc_path.as_deref()),
        (&None, Some("/usr/local/cuda-12.4/bin/nvcc"))
    );
    assert!(!std::path::Path::new("/tmp/gpuenv-was-run").exists());
}
