//! What `gpuenv explain` and conflicts blame: the lines that hold a choice, and no others.

use serde_json::Value;

use crate::common::sandbox::Sandbox;

/// The sentences of an answer and of what it was not, with the keys that each rejected value is said to clash with.
fn told_of(sandbox: &Sandbox, key: &str) -> (String, Vec<(String, Vec<String>, String)>) {
    let (code, told) = sandbox.json(&["explain", key]);
    assert_eq!(code, 0, "{told:#}");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_string()).collect()
    };
    let one = |one: &Value| {
        (one["value"].as_str().unwrap().to_string(), texts(&one["culprits"]), texts(&one["explanation"]).join("; "))
    };
    let choice = &told["choices"][0];
    let rejected = choice["rejected"].as_array().unwrap().iter().map(one).collect();
    (choice["chosen"].as_str().unwrap().to_string(), rejected)
}

/// What an image holds is chosen among the images of the repository, and called as the lock calls it.
#[test]
fn a_repository_of_images_with_torch_is_explained_by_what_they_hold() {
    let spec = "[stack]\ntorch = \"*\"\n[target.gh]\ngpu = \"H100\"\ndriver = \"550.127.08\"\n\
                image = \"nvcr.io/nvidia/pytorch\"\n";
    let sandbox = Sandbox::new("explain-ngc", spec);
    sandbox.run(&["lock"]).exits(0);
    let (chosen, rejected) = told_of(&sandbox, "torch");
    assert_eq!(chosen, "2.2.0a0");
    let ran = sandbox.run(&["explain", "torch"]).exits(0);
    for wrong in ["gpuenv.toml sets", "no tag of", "--upgrade", "2.2.1"] {
        assert!(!ran.out.contains(wrong), "{wrong}: {}", ran.out);
    }
    // The next image is passed over because nobody has read what its torch holds, which no key is to blame for.
    let (value, culprits, because) = rejected.last().unwrap();
    assert!(
        *value == "2.3.0" && culprits.is_empty() && because.contains("not known which GPUs torch 2.3.0"),
        "{because}"
    );
    // Elsewhere a wheel that was made for other machines is newer, and that is the reason.
    let wheels = Sandbox::new("explain-wheels", &spec.replace("nvcr.io/nvidia/pytorch", "nvidia/cuda"));
    assert!(told_of(&wheels, "torch").1.iter().any(|(_, culprits, _)| culprits == &["target.gh.driver"]));
}

/// Of a repository no tag works only where the machine alone refuses each.
#[test]
fn that_no_tag_works_is_said_of_machines_alone() {
    let sandbox = Sandbox::new("explain-tags", "");
    let because = |stack: &str, machine: &str| {
        sandbox.write(&format!("[stack]\n{stack}\n[target.t]\n{machine}\n"));
        let (code, told) = sandbox.json(&["lock"]);
        assert_eq!(code, 1, "{told:#}");
        told["explanation"].to_string()
    };
    let ngc = "gpu = \"H100\"\nimage = \"nvcr.io/nvidia/pytorch\"";
    for package in ["vllm", "xformers"] {
        for torch in ["torch = \"*\"\n", ""] {
            let told = because(&format!("{torch}{package} = \"*\""), ngc);
            assert!(told.contains("are built for published releases of torch, not for the one in the image"), "{told}");
            assert!(!told.contains("no tag of") && !told.contains("such a torch"), "{told}");
        }
    }
    let told = because("torch = \"2.2.1\"", ngc);
    assert!(told.contains("no image of nvcr.io/nvidia/pytorch that works for target `t` holds such a torch"), "{told}");
    assert!(told.contains("gpuenv.toml sets `torch = ") && !told.contains("no tag of"), "{told}");
    let told = because("torch = \"*\"", "os = \"debian12\"\nimage = \"nvidia/cuda\"");
    assert!(told.contains("no tag of nvidia/cuda for Debian 12 works for target `t`"), "{told}");
}

/// A line that admits a version is not to blame for another package's choice: the one that holds it is, or the choice itself.
#[test]
fn a_line_that_admits_a_version_is_not_blamed() {
    let stack = "[stack]\ntorch = \">=2.6\"\nvllm = \">=0.9\"\nflash-attn = \"*\"\n[target.a]\ngpu = \"L40S\"\n";
    let sandbox = Sandbox::new("explain-line", stack);
    let (_, rejected) = told_of(&sandbox, "vllm");
    assert!(
        !rejected.is_empty() && rejected.iter().all(|(_, culprits, _)| culprits == &["stack.flash-attn"]),
        "{rejected:?}"
    );
    // Pythons are those of every wheel of a release that comes along, whatever its variant.
    let (_, rejected) = told_of(&sandbox, "python");
    let because = &rejected[0].2;
    assert!(because.contains("torchaudio 2.11.0, for Python 3.10, 3.11, 3.12, 3.13 and 3.14"), "{because}");
    assert!(!because.contains("flashinfer-python"), "what has that Python is no reason: {because}");
    sandbox.write("[stack]\ntorch = \"*\"\nxformers = \"*\"\n[target.a]\ngpu = \"A100\"\n");
    let (_, rejected) = told_of(&sandbox, "python");
    let (_, culprits, because) = &rejected[0];
    assert!(culprits.is_empty() && because.contains(" is chosen first"), "{culprits:?} {because}");
    // A line that admits no other is.
    sandbox.write("[stack]\ntorch = \"2.5.1\"\nvllm = \"*\"\n[target.a]\ngpu = \"A100\"\n");
    let (_, rejected) = told_of(&sandbox, "vllm");
    let (_, culprits, because) = &rejected[0];
    assert!(culprits == &["stack.torch"] && because.contains("gpuenv.toml sets `torch = \"2.5.1\"`"), "{because}");
}

/// Whose code is told of beside an image is the torch that it holds, and what takes its place is the nearest.
#[test]
fn an_image_without_code_for_a_gpu_is_told_by_what_it_holds() {
    let sandbox = Sandbox::new("explain-image", "");
    let told = |torch: &str, gpu: &str, tag: &str| {
        let target = format!("[target.t]\ngpu = \"{gpu}\"\nimage = \"pytorch/pytorch:{tag}\"\n");
        sandbox.write(&format!("[stack]\ntorch = \"{torch}\"\n{target}"));
        let (code, told) = sandbox.json(&["lock"]);
        assert_eq!(code, 1, "{told:#}");
        let first = |at: usize| told["fixes"][at]["changes"][0]["to"].as_str().unwrap_or_default().to_string();
        (told["explanation"].to_string(), [first(0), first(1)])
    };
    for torch in ["*", "1.9.0"] {
        let (because, fixes) = told(torch, "RTX 3080", "1.9.0-cuda10.2-cudnn7-runtime");
        assert!(because.contains("holds torch 1.9.0, built with CUDA 10.2"), "{because}");
        assert!(because.contains("torch 1.9.0+cu102 holds code for sm_37, sm_50, sm_60, sm_70 only"), "{because}");
        assert!(!because.contains("of the ") && !because.contains("cu111"), "{because}");
        assert_eq!(fixes[0], "pytorch/pytorch:1.9.0-cuda11.1-cudnn8-runtime");
    }
    // The nearest stable one first, then the newest: none of an experimental variant.
    let (_, fixes) = told("*", "RTX 5090", "2.1.0-cuda12.1-cudnn8-runtime");
    assert_eq!(fixes[0], "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime");
    assert!(fixes[1].contains("-cuda13.0-"), "{fixes:?}");
    // Where none is newer, an older one.
    let (_, fixes) = told("*", "K80", "2.4.0-cuda12.4-cudnn9-runtime");
    assert_eq!(fixes[0], "pytorch/pytorch:2.3.1-cuda11.8-cudnn8-runtime");
}

/// A Dockerfile asks for the torch of its image, where that is a release.
#[test]
fn init_takes_the_torch_of_an_image() {
    let sandbox = Sandbox::new("init-image-torch", "");
    let asked = |image: &str, line: &str| {
        std::fs::write(sandbox.path("Dockerfile"), format!("FROM {image}\n{line}\n")).unwrap();
        sandbox.run(&["init", "--from", "Dockerfile", "--gpu", "A100", "--force"]).exits(0);
        let spec = sandbox.spec();
        spec.lines().find(|line| line.starts_with("torch ")).map(str::to_string)
    };
    let is = |torch: &str| Some(format!("torch = \"{torch}\"  # the one in the image"));
    assert_eq!(asked("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", ""), is("2.5.1"));
    assert_eq!(asked("docker.io/pytorch/pytorch:1.9.0-cuda11.1-cudnn8-runtime", ""), is("1.9.0"));
    // A snapshot is no release, and of a tag that is not known nothing is.
    assert_eq!(asked("nvcr.io/nvidia/pytorch:24.01-py3", ""), is("*"));
    assert_eq!(asked("pytorch/pytorch:latest", ""), is("*"));
    // What the file itself installs is asked for as it says.
    let own = asked("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", "RUN pip install torch==2.6.0");
    assert!(
        own.as_ref().is_some_and(|line| line.starts_with("torch = \"==2.6.0\"") || line.contains("2.6.0")),
        "{own:?}"
    );
    assert_eq!(asked("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", "RUN pip install vllm"), None);
}

/// What is proposed for a name that is not known means the same thing.
#[test]
fn a_name_is_not_taken_for_one_that_begins_like_it() {
    let sandbox = Sandbox::new("explain-near", "");
    let said = |args: &[&str]| sandbox.run(args).exits(2).err;
    for command in [&["explain"][..], &["catalog", "show"]] {
        let ask = |name: &str| said(&[command, &[name]].concat());
        assert!(ask("torch==2.8.0").contains("did you mean `torch@2.8.0`?"), "{}", ask("torch==2.8.0"));
        assert!(!ask("numpy").contains("numpyro"), "{}", ask("numpy"));
        assert!(ask("tensorfow").contains("did you mean `tensorflow`?"), "{}", ask("tensorfow"));
    }
}

/// What a package asks for of its framework is no reason by itself: what that brings is.
#[test]
fn the_library_that_an_unwritten_framework_brings_is_told() {
    let sandbox = Sandbox::new("explain-library", "");
    for (stack, brings) in [
        ("vllm = \"0.10.0\"\ncudnn = \"9.8.0.87\"", "torch 2.7.1 brings cuDNN 9."),
        ("vllm = \"0.11.0\"\nnccl = \"2.20.*\"", "torch 2.8.0 brings NCCL 2.27.3"),
    ] {
        sandbox.write(&format!("[stack]\n{stack}\n[target.t]\ngpu = \"A100\"\n"));
        let (code, told) = sandbox.json(&["lock"]);
        assert_eq!(code, 1, "{told:#}");
        assert!(told["explanation"].to_string().contains(brings), "{told:#}");
    }
}

/// Where torch comes with another package, the triton that it brings is told, unless two packages clash over theirs.
#[test]
fn the_triton_of_an_unwritten_torch_is_told() {
    for (stack, says, torch) in [
        (
            "vllm = \"0.10.0\"\nbitsandbytes = \"0.44.1\"",
            "bitsandbytes 0.44.1 requires triton <3.2",
            "torch 2.7.1 requires triton 3.3.1",
        ),
        (
            "torchvision = \"0.22.1\"\nbitsandbytes = \"0.44.1\"",
            "torchvision 0.22.1 requires torch 2.7.1",
            "torch 2.7.1 requires triton 3.3.1",
        ),
        (
            "xformers = \"0.0.30\"\nlmdeploy = \"0.18.0\"",
            "lmdeploy 0.18.0 requires triton <=3.7.1,>=3.4.0",
            "torch 2.7.0 requires triton 3.3.0",
        ),
        ("lmdeploy = \"0.18.0\"\nbitsandbytes = \"0.44.1\"", "lmdeploy 0.18.0 requires triton <=3.7.1,>=3.4.0", ""),
    ] {
        let sandbox = Sandbox::new("triton-unwritten", &format!("[stack]\n{stack}\n[target.t]\ngpu = \"A100\"\n"));
        let (code, told) = sandbox.json(&["lock"]);
        let told = told["explanation"].to_string();
        assert!(code == 1 && told.contains(says) && told.contains(torch), "{stack}: {told}");
        assert!(!torch.is_empty() || !told.contains("torch 2.12.1 requires"), "{stack}: {told}");
    }
}
