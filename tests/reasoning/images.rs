//! Which tag is chosen where the repository alone is written, and which driver an image needs by itself.

use crate::common::solver::{Short, lock, warned};

/// Warnings that another tag of a repository may spare.
const OF_IMAGES: &[&str] = &["image-cuda", "image-compat", "image-torch", "cudnn-missing", "package-brings"];

/// What a spec chooses, its minimal driver, its mode, and what it is warned of because of its image.
fn told(spec: &str) -> (String, String, &'static str, Vec<&'static str>) {
    let spec = spec.replace(" | ", "\n");
    let target = lock(&spec).target();
    let image = target.image.map_or_else(String::new, |image| image.tag.to_string());
    let minimum = target.minimum.map_or_else(String::new, |minimum| minimum.to_string());
    let warned = warned(&spec).into_iter().filter(|code| OF_IMAGES.contains(code)).collect();
    (image, minimum, target.mode().as_str(), warned)
}

#[track_caller]
fn choose(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (spec, tag) in cases {
        let (chosen, _, _, warned) = told(spec);
        if !chosen.starts_with(tag) || !warned.is_empty() {
            wrong.push(format!("{spec}: {chosen} for {tag}, {warned:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An image that nothing but the target asks for serves its GPU and its driver.
#[test]
fn the_gpu_and_the_driver_bind_a_tag_that_is_chosen() {
    choose(&[
        ("[target.t] | gpu = \"V100\" | image = \"nvidia/cuda\"", "12.9.1-runtime"),
        ("[stack] | xgboost = \"2.1.4\" | [target.t] | gpu = \"V100\" | image = \"nvidia/cuda\"", "12.9.1-runtime"),
        ("[target.t] | gpu = \"GTX 1080\" | driver = \"580\" | image = \"nvidia/cuda\"", "12.9.1-runtime"),
        ("[target.t] | gpu = \"K80\" | driver = \"470\" | image = \"nvidia/cuda\"", "11.4.3-runtime"),
        ("[target.t] | gpu = \"RTX 3060\" | driver = \"535\" | image = \"nvidia/cuda\"", "12.2.2-runtime"),
        ("[target.t] | gpu = \"RTX 2080\" | driver = \"470\" | image = \"nvidia/cuda\"", "11.4.3-runtime"),
        ("[target.t] | gpu = \"A100\" | driver = \"460\" | image = \"nvidia/cuda\"", "11.2.2-runtime"),
        ("[target.t] | gpu = \"P100\" | image = \"pytorch/pytorch\"", "2.14.1-cuda12.6"),
        ("[target.t] | gpu = \"RTX 5090\" | driver = \"570\" | image = \"nvcr.io/nvidia/pytorch\"", "25.07"),
        (
            "[stack] | tensorflow = \"*\" | [target.t] | gpu = \"GTX 1080\" | image = \"pytorch/pytorch\"",
            "2.14.1-cuda12.6",
        ),
    ]);
}

/// What `[packages]` bring along finds its CUDA and its cuDNN there.
#[test]
fn what_packages_bring_binds_a_tag_that_is_chosen() {
    choose(&[
        (
            "[stack] | python = \"3.11\" | [packages] | faster-whisper = \"*\" | [target.t] | gpu = \"RTX 4090\" | image = \"nvidia/cuda\"",
            "12.9.1-",
        ),
        (
            "[stack] | python = \"3.11\" | cuda = \"*\" | [packages] | faster-whisper = \"*\" | [target.t] | gpu = \"RTX 4090\" | image = \"nvidia/cuda\"",
            "12.9.1-",
        ),
        (
            "[stack] | python = \"3.11\" | [packages] | faster-whisper = \"==0.10.1\" | [target.t] | gpu = \"RTX 3060\" | image = \"nvidia/cuda\"",
            "11.8.0-cudnn8-runtime",
        ),
        (
            "[stack] | python = \"3.11\" | [packages] | cucim-cu12 = \"*\" | [target.t] | gpu = \"RTX 4090\" | image = \"nvidia/cuda\"",
            "12.9.1-runtime",
        ),
    ]);
}

/// The cuDNN is that of the release that is locked, whatever the range admits and whatever a framework brings for itself.
#[test]
fn the_locked_release_tells_the_cudnn_of_a_tag_that_is_chosen() {
    choose(&[
        (
            "[stack] | onnxruntime-gpu = \"*\" | cuda = \"11.8\" | [target.t] | gpu = \"RTX 3060\" | image = \"nvidia/cuda\"",
            "11.8.0-cudnn8-runtime",
        ),
        (
            "[stack] | ctranslate2 = \"*\" | cuda = \"11.8\" | [target.t] | gpu = \"RTX 3060\" | image = \"nvidia/cuda\"",
            "11.8.0-cudnn8-runtime",
        ),
        (
            "[stack] | onnxruntime-gpu = \"1.20.0\" | torch = \"2.3.1+cu121\" | [target.t] | gpu = \"RTX 3060\" | driver = \"550.120\" | image = \"nvidia/cuda\"",
            "12.3.2-cudnn9-runtime",
        ),
        (
            "[stack] | paddlepaddle-gpu = \"2.6.2\" | [target.t] | gpu = \"RTX 3060\" | image = \"pytorch/pytorch\"",
            "2.3.1-cuda11.8-cudnn8",
        ),
    ]);
}

/// An image whose cuDNN nobody has read holds one of the major that its tag tells.
#[test]
fn a_tag_tells_the_major_of_its_cudnn() {
    let missing = |stack: &str, image: &str| {
        let spec = format!("[stack] | {stack} | [target.t] | gpu = \"RTX 3060\" | image = \"{image}\"");
        told(&spec).3.contains(&"cudnn-missing")
    };
    let of_8 = "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel";
    assert!(missing("onnxruntime-gpu = \"1.20.0\"", of_8));
    assert!(!missing("onnxruntime-gpu = \"1.18.1\"", of_8.replace("12.1", "11.8").as_str()));
    assert!(missing("ctranslate2 = \"4.4.0\"", "nvidia/cuda:12.9.2-cudnn-runtime-ubuntu24.04"));
    assert!(!missing("ctranslate2 = \"4.5.0\"", "nvidia/cuda:12.9.2-cudnn-runtime-ubuntu24.04"));
}

/// The CUDA of an image needs its driver where the stack has no other, and so does its torch.
#[test]
fn the_floor_is_that_of_the_cuda_in_an_image() {
    for (spec, minimum, mode) in [
        (
            "[target.t] | gpu = \"T4\" | image = \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\"",
            "525.60.13",
            "minor-version",
        ),
        ("[target.t] | gpu = \"V100\" | image = \"nvcr.io/nvidia/pytorch:24.12-py3\"", "525.60.13", "minor-version"),
        (
            "[target.t] | gpu = \"RTX 3090\" | driver = \"470\" | image = \"pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime\"",
            "525.60.13",
            "minor-version",
        ),
        ("[target.t] | gpu = \"RTX 3090\" | driver = \"470\" | image = \"nvidia/cuda\"", "470.42.01", "native"),
        (
            "[target.t] | gpu = \"A100\" | driver = \"470.256.02\" | image = \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\"",
            "470.57.02",
            "forward-compat",
        ),
        // No driver of this board runs CUDA 12: of that a warning tells.
        (
            "[target.t] | gpu = \"K80\" | image = \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\"",
            "470.42.01",
            "minor-version",
        ),
    ] {
        let (_, floor, how, _) = told(spec);
        assert_eq!((floor.as_str(), how), (minimum, mode), "{spec}");
    }
}

/// Where the lock chooses the CUDA of a framework for several machines, their images are not of a newer one.
#[test]
fn an_image_is_no_newer_than_what_machines_share() {
    for package in ["jax", "tensorflow"] {
        for driver in ["550", "570", "575"] {
            let spec = format!(
                "[stack]\n{package} = \"*\"\n[target.t0]\ngpu = \"L4\"\ndriver = \"{driver}\"\n[target.t1]\ngpu = \"L4\"\nimage = \"nvidia/cuda\"\n"
            );
            let target = lock(&spec).targets().remove(1);
            let (stack, image) = (target.has("cuda"), target.tag());
            let line = |text: &str| text.split('.').take(2).map(|part| part.parse().unwrap()).collect::<Vec<u32>>();
            assert!(line(&image) <= line(&stack), "{package}, {driver}: {image} for CUDA {stack}");
        }
    }
}
