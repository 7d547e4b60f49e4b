//! Tests of `export::uv::contradiction`.

use super::*;

#[test]
fn what_excludes_the_locked_release_is_found() {
    let locked = ["torch==2.5.1+cu124".to_string(), "nvidia-nccl-cu12==2.21.5".to_string()];
    for (written, found) in [
        ("torch==2.1", true),
        ("torch == 2.5", true),
        ("torch>=2.6,<3", true),
        ("Torch<2", true),
        ("torch==2.5.1", false),
        ("torch==2.5.*", false),
        ("torch>=2", false),
        ("torch", false),
        ("torch~=2.1", false),
        ("torch @ https://example.org/torch.whl", false),
        ("torch<2; sys_platform == 'darwin'", false),
        ("nvidia_nccl_cu12<2.20", true),
        ("requests<1", false),
    ] {
        assert_eq!(find(&[written.to_string()], &locked).is_some(), found, "{written}");
    }
    let by_address = ["torch @ https://a.example/torch.whl".to_string(), "xformers==0.0.32".to_string()];
    for (written, found) in [
        ("xformers @ git+https://github.com/facebookresearch/xformers", true),
        ("Xformers[all]@file:///wheels/x.whl", true),
        ("torch@https://a.example/torch.whl", false),
        ("torch @ https://b.example/torch.whl", true),
        ("xformers @ https://b.example/x.whl ; sys_platform == 'darwin'", false),
        ("requests @ https://b.example/r.whl", false),
        ("xformers==0.0.32", false),
    ] {
        assert_eq!(addressed(&[written.to_string()], &by_address).is_some(), found, "{written}");
    }
    let brought = ["nvidia-cudnn==9.10.2.21".to_string(), "triton==3.4.0".to_string()];
    for (one, replaced) in [
        ("nvidia-cudnn-cu12==9.1.0.70", true),
        ("nvidia-cudnn-cu12==9.10.2.21", false),
        ("nvidia-cudnn-cu12>=9", true),
        ("nvidia_cudnn_cu12", true),
        ("triton==3.1.0", true),
        ("triton==3.4.0; sys_platform == 'linux'", false),
        ("nvidia-cudnn-frontend==1.0", false),
        ("nvidia-cudnn-cu==9.1.0.70", true),
        ("nvidia-cudnn-cu12x==9.1.0.70", false),
    ] {
        assert_eq!(replaces_brought(one, &brought), replaced, "{one}");
    }
    // Several targets: one of them is met.
    let two = ["torch==2.5.1+cpu".to_string(), "torch==2.7.1+cu126".to_string()];
    assert!(find(&["torch<2.6".to_string()], &two).is_none());
}
