//! Which packages decide whether a GPU stack runs: those of an interpreter and of a pasted list that a record keeps.

/// How their names begin.
const BEGINNINGS: &[&str] = &[
    "apex",
    "bitsandbytes",
    "cuda-",
    "cupy",
    "deepspeed",
    "flash-attn",
    "flashinfer",
    "jax",
    "numba",
    "numpy",
    "nvidia-",
    "onnxruntime",
    "pycuda",
    "pytorch-",
    "sgl-kernel",
    "tensorflow",
    "tensorrt",
    "tf-keras",
    "torch",
    "transformer-engine",
    "triton",
    "vllm",
    "xformers",
];

/// Whether a package, by its name as indexes compare names, is one of them.
pub fn matters(name: &str) -> bool {
    BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_decide_what_runs() {
        for name in ["torch", "nvidia-cudnn-cu12", "jax-cuda12-plugin", "flash-attn", "numba-cuda", "torchvision"] {
            assert!(matters(name), "{name}");
        }
        assert!(!matters("requests"));
    }
}
