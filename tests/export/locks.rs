//! The locks the tests render.

use std::collections::BTreeMap;

use gpuenv::lock::{
    ArchLists, CatalogStamp, ConstraintLock, DriverLock, FORMAT, FactLock, GpuLock, Lock, Stack, TargetLock, Wheel,
};

/// Where the CUDA 12.4 wheels of PyTorch are.
pub const CU124: &str = "https://download.pytorch.org/whl/cu124";

/// Where wheels lie that are on no index.
pub const RELEASE: &str = "https://github.com/vllm-project/vllm/releases/download/v0.6.4";

/// An H100 in a container: torch 2.5.1+cu124 on a base image.
pub fn container() -> Lock {
    let target = TargetLock {
        os: Some("ubuntu22.04".into()),
        image: Some("nvidia/cuda:12.4.1-base-ubuntu22.04".into()),
        driver: Some(driver("native")),
        gpu: vec![gpu("NVIDIA H100 NVL", "9.0")],
        ..bare("container")
    };
    let mut lock = lock_of(&[("torch", "2.5.1+cu124"), ("cuda", "12.4.1"), ("python", "3.11")], "prod", target);
    lock.arch_list = Some(arch_lists("9.0", "90-real"));
    lock.wheel = vec![wheel("torch", "2.5.1+cu124", Some(CU124), &["prod"])];
    lock
}

/// The same for a machine without a GPU.
pub fn without_gpu(mut lock: Lock) -> Lock {
    let target = lock.target.get_mut("prod").unwrap();
    (target.driver, target.gpu) = (None, Vec::new());
    lock.inputs.insert("target.prod.gpu".into(), "[\"none\"]".into());
    lock
}

/// The same, with CUDA code compiled on top of it.
pub fn container_with_build() -> Lock {
    let mut lock = container();
    let target = lock.target.get_mut("prod").unwrap();
    target.image = Some("nvidia/cuda:12.4.1-devel-ubuntu22.04".into());
    target.runtime_image = Some("nvidia/cuda:12.4.1-base-ubuntu22.04".into());
    target.toolkit = Some("12.4.1".into());
    lock.arch_list = Some(arch_lists("8.0;9.0+PTX", "80-real;90"));
    let image = FactLock {
        id: "image nvidia/cuda:12.4.1-devel-ubuntu22.04".into(),
        source: "https://example.org/tags".into(),
        digest: "00".into(),
        supports: vec!["target.prod.image".into()],
        grade: None,
    };
    lock.fact = vec![image];
    lock
}

/// An RTX 4090 on bare metal with a toolkit.
pub fn bare_metal() -> Lock {
    let target = TargetLock {
        os: Some("ubuntu22.04".into()),
        toolkit: Some("12.4.1".into()),
        driver: Some(driver("native")),
        gpu: vec![gpu("NVIDIA GeForce RTX 4090", "8.9")],
        ..bare("bare-metal")
    };
    let mut lock = lock_of(&[("torch", "2.5.1+cu124"), ("cuda", "12.4.1"), ("python", "3.11")], "lab", target);
    lock.arch_list = Some(arch_lists("8.9+PTX", "89"));
    lock.wheel = vec![wheel("torch", "2.5.1+cu124", Some(CU124), &["lab"])];
    lock
}

/// `share = "versions"`: one target with CUDA and one without a GPU.
pub fn mixed() -> Lock {
    let mut lock = bare_metal();
    let stack = |torch: &str| Stack::from([("torch".into(), torch.into()), ("python".into(), "3.11".into())]);
    lock.target.get_mut("lab").unwrap().stack = Some(stack("2.5.1+cu124"));
    lock.target.insert("ci".into(), TargetLock { stack: Some(stack("2.5.1+cpu")), ..bare("bare-metal") });
    lock.stack = Stack::from([("python".into(), "3.11".into())]);
    lock.wheel.push(wheel("torch", "2.5.1+cpu", Some("https://download.pytorch.org/whl/cpu"), &["ci"]));
    lock
}

/// One stack on two platforms, whose wheels differ.
pub fn two_platforms() -> Lock {
    let mut lock = bare_metal();
    let arm = TargetLock { arch: "aarch64".into(), ..lock.target["lab"].clone() };
    lock.target.insert("arm".into(), arm);
    lock.wheel.push(Wheel { arch: "aarch64".into(), ..wheel("torch", "2.5.1", None, &["arm"]) });
    lock
}

/// The default wheel of the public index.
pub fn public_index() -> Lock {
    let mut lock = container();
    lock.wheel = vec![wheel("torch", "2.5.1", None, &["prod"])];
    lock
}

/// A wheel of each kind.
pub fn two_indexes() -> Lock {
    let mut lock = container();
    lock.wheel.push(wheel("tensorflow", "2.18.0", None, &["prod"]));
    lock
}

/// torch from an index, and a wheel that lies on none.
pub fn beside_a_release() -> Lock {
    let mut lock = container();
    let url = Some(format!("{RELEASE}/vllm-0.6.4+cu124-cp38-abi3-manylinux1_x86_64.whl"));
    lock.wheel.push(Wheel { url, ..wheel("vllm", "0.6.4+cu124", None, &["prod"]) });
    lock
}

/// A wheel that is to be had by its address only, in a file named after another version.
pub fn addressed() -> Lock {
    let mut lock = container();
    let url = "https://wheels.acme.example/torch-2.5.0a0+872d.nv24.08.17-cp310-cp310-linux_aarch64.whl";
    let torch = wheel("torch", "2.5.0a0+872d.nv24.8", None, &["prod"]);
    lock.wheel = vec![Wheel { url: Some(url.into()), ..torch }, wheel("torchvision", "0.20.0", None, &["prod"])];
    lock
}

/// torch, and what is compiled beside it.
pub fn compiled_beside() -> Lock {
    let mut lock = container_with_build();
    let beside = |package: &str, extra: Option<&str>, unisolated: &str, tools: &[&str], archs: Option<&str>| Wheel {
        sdist: true,
        unisolated: Some(unisolated.into()),
        tools: tools.iter().map(|tool| tool.to_string()).collect(),
        requires: Some(vec!["einops".into(), "torch".into()]),
        archs: archs.map(String::from),
        extra: extra.map(String::from),
        ..wheel(package, "2.8.3", None, &["prod"])
    };
    lock.wheel.insert(0, beside("flash-attn", None, "flash-attn", &["ninja", "wheel"], Some("FA_ARCHS=80;90;100")));
    let scatter = beside("torch-scatter", None, "torch-scatter", &["wheel"], None);
    lock.wheel.push(Wheel { requires: Some(Vec::new()), switch: Some("FORCE_CUDA=1".into()), ..scatter });
    let plugin = "transformer-engine-torch";
    lock.wheel.push(beside("transformer-engine", Some("pytorch"), plugin, &["pip", "wheel"], None));
    lock.wheel.push(Wheel { sdist: true, ..wheel("deepspeed", "0.17.0", None, &["prod"]) });
    lock
}

/// A wheel.
pub fn wheel(package: &str, version: &str, index: Option<&str>, targets: &[&str]) -> Wheel {
    Wheel {
        package: package.into(),
        version: version.into(),
        arch: "x86_64".into(),
        index: index.map(String::from),
        url: None,
        extra: None,
        system_cuda: false,
        sdist: false,
        unisolated: None,
        tools: Vec::new(),
        requires: None,
        switch: None,
        archs: None,
        sha256: "unknown".into(),
        libraries: Vec::new(),
        python: None,
        asks: Vec::new(),
        targets: targets.iter().map(|target| target.to_string()).collect(),
    }
}

/// torch of another CUDA than the default one, and what goes with it where others bring it in.
pub fn constrained() -> Lock {
    let mut lock = two_indexes();
    lock.constraint = vec![ConstraintLock {
        package: "torchvision".into(),
        version: "0.20.1+cu124".into(),
        arch: "x86_64".into(),
        index: Some(CU124.into()),
        brought: true,
        targets: vec!["prod".into()],
    }];
    lock
}

/// The container image holds torch: the lock has no wheel for it.
pub fn image_with_torch() -> Lock {
    let mut lock = container();
    lock.target.get_mut("prod").unwrap().image = Some("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime".into());
    lock.wheel = vec![wheel("transformers", "4.50.0", None, &["prod"])];
    lock
}

/// torch is a build of somebody's own of which nobody says where it is, and a package depends on it.
pub fn own_build() -> Lock {
    let mut lock = container();
    lock.wheel.clear();
    lock.inputs.insert("stack.torch".into(), "{ version = \"2.5.1+cu124\", cuda = \"12.4\" }".into());
    lock.inputs.insert("packages.timm".into(), "*".into());
    lock
}

/// A driver that suffices, and how.
pub fn driver(mode: &str) -> DriverLock {
    let compat = (mode == "forward-compat").then(|| "cuda-compat-12-4".to_string());
    DriverLock {
        minimum: Some("550.54.14".into()),
        others: Vec::new(),
        except: Vec::new(),
        mode: mode.into(),
        cuda: "12.4".into(),
        compat,
        recommended: None,
    }
}

/// An architecture list in both spellings.
pub fn arch_lists(torch: &str, cmake: &str) -> ArchLists {
    ArchLists { torch: torch.into(), cmake: cmake.into() }
}

/// A target of which nothing but the runtime is known.
fn bare(runtime: &str) -> TargetLock {
    TargetLock {
        runtime: runtime.into(),
        arch: "x86_64".into(),
        platform: None,
        os: None,
        image: None,
        runtime_image: None,
        toolkit: None,
        driver: None,
        requires: Vec::new(),
        asks: Vec::new(),
        stack: None,
        arch_list: None,
        gpu: Vec::new(),
    }
}

/// A GPU that is reached by machine code.
pub fn gpu(name: &str, capability: &str) -> GpuLock {
    GpuLock { name: name.into(), compute_capability: capability.into(), coverage: Some("native".into()) }
}

fn lock_of(stack: &[(&str, &str)], name: &str, target: TargetLock) -> Lock {
    Lock {
        spec: None,
        version: FORMAT,
        catalog: CatalogStamp { version: "2026.11.20".into(), digest: "sha256:00".into(), overlays: Vec::new() },
        inputs: BTreeMap::new(),
        stack: stack.iter().map(|(name, version)| (name.to_string(), version.to_string())).collect(),
        arch_list: None,
        target: BTreeMap::from([(name.to_string(), target)]),
        wheel: Vec::new(),
        constraint: Vec::new(),
        overrides: Vec::new(),
        fact: Vec::new(),
    }
}
