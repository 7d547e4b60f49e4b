//! Tests of `diagnose::conflicts`.

use super::*;

fn conflict(text: &str, kind: About) -> String {
    let extract = read(&Normalised::new(text), kind).unwrap_or_default();
    let told = ["package", "version", "dependency", "dependency_needed", "dependency_found", "torch_needed", "torch"];
    let told = told.iter().filter_map(|key| extract.get(*key).map(ToString::to_string));
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_grammars_of_installers_are_read() {
    for (text, kind, wanted) in [
        (
            "torch 2.3.1 requires nvidia-cudnn-cu12==8.9.2.26; platform_system == \"Linux\" and platform_machine == \"x86_64\", but you have nvidia-cudnn-cu12 8.9.7.29 which is incompatible.",
            About::Library,
            "torch 2.3.1 nvidia-cudnn-cu12 8.9.2.26 8.9.7.29",
        ),
        (
            "torch 2.13.0+cu129 has requirement nvidia-nccl-cu12==2.29.7, but you have nvidia-nccl-cu12 2.30.7.",
            About::Library,
            "torch 2.13.0+cu129 nvidia-nccl-cu12 2.29.7 2.30.7",
        ),
        (
            "torch requires nvidia-nccl-cu12==2.27.5, installed 2.28.3\ndatasets requires x",
            About::Library,
            "torch nvidia-nccl-cu12 2.27.5 2.28.3",
        ),
        (
            "The conflict is caused by:\n    The user requested nvidia-nccl-cu12==2.18.1\n    torch 2.2.2 depends on nvidia-nccl-cu12==2.19.3; platform_system",
            About::Library,
            "torch 2.2.2 nvidia-nccl-cu12 2.19.3 2.18.1",
        ),
        (
            "Because torch==2.11.0+cu130 depends on cuda-toolkit[cublas]==13.0.2 and you require cuda-toolkit==13.2.1, we can conclude\n that",
            About::Library,
            "torch 2.11.0+cu130 cuda-toolkit 13.0.2 13.2.1",
        ),
        (
            "tensordict 0.5.0 requires torch>=2.4.0, but you have torch 2.2.0 which is incompatible.\nvllm 0.6.3 requires torch==2.4.0, but you have torch 2.2.0 which is incompatible.",
            About::Torch,
            "vllm 0.6.3 2.4.0 2.2.0",
        ),
        (
            "whisperx 3.7.2 requires triton>=3.3.0; sys_platform == \"linux\", but you have triton 2.2.0 which is incompatible.",
            About::Package,
            "whisperx 3.7.2 triton >=3.3.0 2.2.0",
        ),
        (
            "The conflict is caused by:\n    vllm 0.19.1 depends on torch==2.10.0; platform_machine == \"aarch64\"\n    compressed-tensors 0.15.0.1 depends on torch>=1.7.0\n    vllm-ascend 0.19.1rc1 depends on torch==2.9.0",
            About::Torch,
            "vllm 0.19.1 2.10.0 2.9.0",
        ),
        // <https://github.com/NIRVANALAN/GaussianAnything/issues/9>
        (
            "The conflict is caused by:\n    The user requested torch==2.1.0\n    torchvision 0.16.0 depends on torch==2.1.0\n    xformers 0.0.26.post1 depends on torch==2.3.0\n\nTo fix",
            About::Torch,
            "xformers 0.0.26.post1 2.3.0 2.1.0",
        ),
        (
            "The conflict is caused by:\n    The user requested torch==2.6.0+cu124\n    torchvision 0.21.0 depends on torch==2.6.0\n    vllm 0.6.3 depends on torch<2.5,>=2.4",
            About::Torch,
            "vllm 0.6.3 <2.5,>=2.4 2.6.0+cu124",
        ),
        (
            "scipy 1.13.1 requires numpy<2.3,>=1.22.4, but you have numpy 1.21.0 which is incompatible.",
            About::Package,
            "",
        ),
        ("yolox 0.3.0 requires torch>=1.7, but you have torch 1.5.1 which is incompatible.", About::Torch, ""),
        ("torch 2.3.1 requires nvidia-nccl-cu12==2.20.5", About::Library, ""),
    ] {
        assert_eq!(conflict(text, kind), wanted, "{text}");
    }
}
