//! Reports of frameworks on top of torch: detectron2's table, mmengine's and mmcv's keys, `python -m sglang.check_env`,
//! `transformers-cli env`, `llamafactory-cli env`, `xformers.info`, ComfyUI's report and the beginning of its log.
//!
//! Seen in <https://github.com/facebookresearch/detectron2/issues/722> (oldest),
//! <https://github.com/facebookresearch/detectron2/issues/4928>, <https://github.com/open-mmlab/mmdetection/issues/4659>,
//! <https://github.com/open-mmlab/mmdeploy/issues/1355> (behind a log's prefix),
//! <https://github.com/sgl-project/sglang/issues/2805>, <https://github.com/sgl-project/sglang/issues/14327>,
//! <https://github.com/HuangJunJie2017/BEVDet/issues/93>, <https://github.com/huggingface/diffusers/pull/7403>,
//! <https://github.com/ShivamShrirao/diffusers/issues/18>, <https://github.com/hiyouga/LlamaFactory/issues/8290>,
//! <https://github.com/hiyouga/LlamaFactory/issues/9053>, <https://github.com/comfyanonymous/ComfyUI/issues/7063>.

use super::lines::{field, told};
use super::seen::{Seen, fill, version};
use super::{smi_list, system};
use crate::host::System;
use crate::types::{Cc, Version, variant};

/// detectron2's table: a key, blanks, a value.
pub(super) fn detectron(lines: &[&str], seen: &mut Seen) -> bool {
    if !lines.iter().any(|line| line.starts_with("detectron2"))
        || !lines.iter().any(|line| line.starts_with("PyTorch "))
    {
        return false;
    }
    for line in lines {
        let Some((key, value)) = line.split_once("  ") else { continue };
        let Some(value) = told(value.trim()) else { continue };
        match key.trim() {
            "Python" => fill(&mut seen.python().version, version(value)),
            "PyTorch" => fill(&mut seen.torch().version, release(value)),
            "GPU available" | "CUDA available" => {
                fill(&mut seen.torch().available, Some(value.starts_with("Yes") || value.starts_with("True")))
            }
            "CUDA compiler" => seen.nvcc(value.strip_prefix("CUDA ").and_then(version)),
            "Driver version" => seen.driver(version(value)),
            "torchvision" => package("torchvision", value, seen),
            key => gpus(key, value, seen),
        }
    }
    true
}

/// mmengine's and mmcv's keys with colons.
pub(super) fn mmengine(lines: &[&str], seen: &mut Seen) -> bool {
    if !lines.iter().any(|line| line.contains("PyTorch compiling details: ")) {
        return false;
    }
    for line in lines {
        if let Some(cuda) = line.trim().strip_prefix("- CUDA Runtime ") {
            fill(&mut seen.torch().cuda, version(cuda));
        }
        // Some log it line by line.
        let line = line.rsplit_once(" - INFO - ").map_or(*line, |(_, line)| line);
        let Some((key, value)) = field(line) else { continue };
        let Some(value) = told(value) else { continue };
        match key {
            "TorchVision" => package("torchvision", value, seen),
            "GCC" => system::compiler(value, seen),
            key if is_common(key, value, seen) => {}
            key => gpus(key, value, seen),
        }
    }
    true
}

/// What reports with colons call alike; whether a key is one of those.
fn is_common(key: &str, value: &str, seen: &mut Seen) -> bool {
    match key {
        "Python" => fill(&mut seen.python().version, version(value)),
        "PyTorch" => fill(&mut seen.torch().version, release(value)),
        "CUDA available" => fill(&mut seen.torch().available, Some(value == "True")),
        "NVCC" => seen.nvcc(nvcc(value)),
        _ => return false,
    }
    true
}

/// `python -m sglang.check_env`: keys with colons, the packages among them.
pub(super) fn sglang(lines: &[&str], seen: &mut Seen) -> bool {
    let has = |key: &str| lines.iter().any(|line| line.starts_with(key));
    if !has("CUDA Driver Version: ") || !has("PyTorch: ") {
        return false;
    }
    for line in lines {
        let Some((key, value)) = field(line) else { continue };
        let Some(value) = told(value) else { continue };
        match key {
            key if is_common(key, value, seen) => {}
            "CUDA Driver Version" => seen.driver(version(value)),
            key if key.ends_with(CAPABILITY) => capability(key.trim_end_matches(CAPABILITY), value, seen),
            key if key.starts_with("GPU ") => gpus(key, value, seen),
            key if !key.contains(' ') => package(key, value, seen),
            _ => {}
        }
    }
    true
}

/// The end of a key that is about the GPUs of some numbers.
const CAPABILITY: &str = " Compute Capability";

/// `GPU 0,1 Compute Capability: 8.6`
fn capability(key: &str, value: &str, seen: &mut Seen) {
    let numbers = key.strip_prefix("GPU ").unwrap_or_default().split(',');
    for index in numbers.filter_map(|number| number.trim().parse().ok()) {
        if let Some(gpu) = seen.gpu(index) {
            fill(&mut gpu.compute_capability, Cc::parse(value).ok());
        }
    }
}

/// `transformers-cli env`: a list of keys.
pub(super) fn transformers(lines: &[&str], seen: &mut Seen) -> bool {
    let asks =
        |line: &&str| line.contains("PyTorch version (GPU?):") || line.contains("PyTorch version (accelerator?):");
    if !lines.iter().any(asks) {
        return false;
    }
    for line in lines {
        let Some((key, value)) = field(line.trim().trim_start_matches("- ")) else { continue };
        let Some(value) = told(value) else { continue };
        match key {
            "Platform" => system::platform(value, seen),
            "Python version" => fill(&mut seen.python().version, version(value)),
            "PyTorch version (GPU?)" | "PyTorch version (accelerator?)" => {
                if let Some(release) = release(value) {
                    fill(&mut seen.torch().version, Some(release));
                    fill(&mut seen.torch().available, Some(value.ends_with("(True)") || value.ends_with("(CUDA)")));
                }
            }
            "Tensorflow version (GPU?)" => package("tensorflow", value, seen),
            "`transformers` version" | "transformers` version" => package("transformers", value, seen),
            "GPU type" if !value.contains('<') => seen.name(0, value),
            _ => {}
        }
    }
    true
}

/// `llamafactory-cli env`: the same list, in which "(GPU)" stands behind torch where CUDA is available.
pub(super) fn llamafactory(lines: &[&str], seen: &mut Seen) -> bool {
    let listed = || lines.iter().filter_map(|line| field(line.trim().trim_start_matches("- ")));
    if !listed().any(|(key, _)| key.replace('`', "") == "llamafactory version") {
        return false;
    }
    for (key, value) in listed() {
        match key {
            "Platform" => system::platform(value, seen),
            "Python version" => fill(&mut seen.python().version, version(value)),
            "PyTorch version" => {
                fill(&mut seen.torch().version, release(value));
                fill(&mut seen.torch().available, value.ends_with("(GPU)").then_some(true));
            }
            "GPU type" => told(value).into_iter().for_each(|name| seen.name(0, name)),
            "vLLM version" => package("vllm", value, seen),
            "DeepSpeed version" => package("deepspeed", value, seen),
            "Bitsandbytes version" => package("bitsandbytes", value, seen),
            _ => {}
        }
    }
    true
}

/// `python -m xformers.info`: the torch that it was built with and the one beside it, the GPU, and which of its kernels load.
pub(super) fn xformers(lines: &[&str], seen: &mut Seen) -> bool {
    let keyed = |key: &str| lines.iter().filter_map(|line| field(line)).find(|(own, _)| *own == key);
    let value = |key: &str| keyed(key).and_then(|(_, value)| told(value));
    let Some(torch) = value("pytorch.version") else { return false };
    fill(&mut seen.torch().version, release(torch));
    fill(&mut seen.torch().available, value("pytorch.cuda").map(|said| said == "available"));
    if let Some(name) = value("gpu.name").filter(|_| seen.listed(0).is_none()) {
        seen.name(0, name);
        let cc = value("gpu.compute_capability").and_then(|cc| Cc::parse(cc).ok());
        seen.listed(0).into_iter().for_each(|gpu| fill(&mut gpu.compute_capability, cc));
    }
    let mut kernels = lines.iter().filter(|line| line.starts_with("memory_efficient_attention.")).peekable();
    let other = value("build.torch_version").filter(|built| variant::public(built) != variant::public(torch));
    if let Some(built) = other {
        seen.failed("xformers", format!("it was built with torch {built} and finds torch {torch}"));
    } else if kernels.peek().is_some() && kernels.all(|line| line.ends_with("unavailable")) {
        seen.failed("xformers", "it says of each of its kernels that it is unavailable".to_string());
    }
    true
}

/// ComfyUI's report, a list of bold keys, and its log, which calls them alike.
pub(super) fn comfyui(lines: &[&str], seen: &mut Seen) -> bool {
    let keyed = |line: &&str| {
        let line = line.replace('*', "");
        let (key, value) = field(line.trim_start_matches(['-', ' ']))?;
        Some((key.to_ascii_lowercase(), value.to_string()))
    };
    let told: Vec<(String, String)> = lines.iter().filter_map(keyed).collect();
    if !told.iter().any(|(key, _)| ["comfyui version", "set vram state to"].contains(&key.as_str())) {
        return false;
    }
    for (key, value) in &told {
        match key.as_str() {
            "pytorch version" => fill(&mut seen.torch().version, release(value)),
            "python version" => fill(&mut seen.python().version, version(value)),
            "os" | "platform" if ["nt", "win32", "Windows"].contains(&value.as_str()) => {
                fill(&mut seen.record.platform.system, Some(System::Windows));
            }
            "name" | "device" => {
                // `cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync`
                let device = value.strip_prefix("cuda:").and_then(|rest| rest.split(" : ").next()?.split_once(' '));
                let device = device.and_then(|(index, name)| Some((index.parse().ok()?, name.trim())));
                device.into_iter().for_each(|(index, name)| seen.name(index, name));
            }
            _ => {}
        }
    }
    true
}

/// `CUDA 11.1`, `Build cuda_11.1.TC455_06.29190527_0`, `Cuda compilation tools, release 11.1, V11.1.74`
fn nvcc(value: &str) -> Option<Version> {
    ["CUDA ", "cuda_", ", V"].iter().find_map(|before| version(value.split_once(before)?.1))
}

/// `GPU 0,1`: the same product under several numbers, with its architecture behind it or not.
fn gpus(key: &str, value: &str, seen: &mut Seen) {
    let Some(numbers) = key.strip_prefix("GPU ") else { return };
    let (name, arch) = match value.split_once(" (arch=") {
        Some((name, arch)) => (name, Cc::parse(arch.trim_end_matches(')')).ok()),
        None => (value, None),
    };
    for number in numbers.split(',') {
        let Ok(index) = number.trim().parse::<u64>() else { return };
        smi_list::device(&format!("GPU {index}: {name}"), None, seen);
        if let Some(gpu) = seen.gpu(index) {
            fill(&mut gpu.compute_capability, arch);
        }
    }
}

/// A version that begins the value; none for words such as `not installed (NA)`.
fn release(value: &str) -> Option<String> {
    let word = value.split_whitespace().next()?;
    word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_string())
}

/// A package where the key is the name of one: a warning between the lines names a file.
fn package(name: &str, value: &str, seen: &mut Seen) {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    release(value).filter(|_| is_name).into_iter().for_each(|version| seen.package(name, &version));
}
