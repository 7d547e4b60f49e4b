//! Tests of `diagnose::side_by_side`.

use super::*;

/// What nvidia-smi, nvcc and torch say, in this order.
fn told(text: &str) -> String {
    let extract = read(&Normalised::new(text)).unwrap_or_default();
    let said = |key: &str| value::text(&extract, key).unwrap_or("-").to_string();
    ["cuda_found", "cuda_toolkit", "cuda_torch"].map(said).join(" ")
}

#[test]
fn a_number_belongs_to_the_label_that_touches_it() {
    for (text, wanted) in [
        ("nvidia-smi says 12.8, nvcc 11.5, torch 12.4", "12.8 11.5 12.4"),
        ("nvidia-smi says 12.8 and nvcc says 11.5", "12.8 11.5 -"),
        ("CUDA 12.8 (nvidia-smi), CUDA 11.5 (nvcc), torch 2.6.0+cu124", "12.8 11.5 12.4"),
        ("torch 2.6.0+cu124, CUDA 12.8 (nvidia-smi), CUDA 11.5 (nvcc)", "12.8 11.5 12.4"),
        ("12.8 from nvidia-smi, 11.5 from nvcc, torch 2.6.0+cu124", "12.8 11.5 12.4"),
        ("12.8 in nvidia-smi; 11.5 in nvcc; torch 2.6.0+cu124", "12.8 11.5 12.4"),
        ("11.5 according to nvcc, 12.8 according to `nvidia-smi`", "12.8 11.5 -"),
        ("CUDA: 12.8 (nvidia-smi)\nnvcc: 11.5", "12.8 11.5 -"),
        ("CUDA Version 12.8 (`nvidia-smi`), 11.5 (`nvcc`)", "12.8 11.5 -"),
        ("My nvidia-smi works. I have CUDA 11.5 (nvcc) and torch 12.4", "- 11.5 12.4"),
        ("nvidia-smi: 12.8, gcc 11.4, nvcc release 11.5, V11.5.119", "12.8 11.5 -"),
        ("torch CUDA version: 12.4, nvcc 11.5", "- 11.5 12.4"),
        ("nvcc 11.5 (gcc 9.4), torch 2.6.0+cu124, driver 550.54.14", "12.4 11.5 12.4"),
        ("torch 2.10.0+cu130, nvidia-smi shows CUDA Version: 13.0", "13.0 - 13.0"),
        ("nvcc 11.5 alone", "- - -"),
        ("my torch.version.cuda is 9.0.176, but my nvcc --version is 10.0", "- 10.0 9.0"),
        (
            "nvcc: NVIDIA (R) Cuda compiler driver\nCopyright (c) 2005-2021\nCuda compilation tools, release 11.5, V11.5.119\nDriver Version: 570.86.15   CUDA Version: 12.8",
            "12.8 11.5 -",
        ),
    ] {
        assert_eq!(told(text), wanted, "{text}");
    }
}
