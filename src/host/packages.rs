//! Which packages decide whether a GPU stack runs: those of an interpreter and of a pasted list that a record keeps.

/// How their names begin.
const BEGINNINGS: &[&str] = &[
    "apex",
    "auto-gptq",
    "bitsandbytes",
    "causal-conv1d",
    "colossalai",
    "ctranslate2",
    "cuda-",
    "cudf",
    "cugraph",
    "cuml",
    "cupy",
    "deepspeed",
    "faiss-",
    "fbgemm-gpu",
    "flash-attn",
    "flashinfer",
    "jax",
    "lmcache",
    "lmdeploy",
    "mamba-ssm",
    "numba",
    "numpy",
    "nvidia-",
    "onnxruntime",
    "open3d",
    "paddlepaddle",
    "pycuda",
    "pytorch-",
    "rmm",
    "sgl-kernel",
    "sglang",
    "tensorflow",
    "tensorrt",
    "tf-keras",
    "torch",
    "transformer-engine",
    "triton",
    "vllm",
    "xformers",
    "xgboost",
];

/// Whether a package, by its name as indexes compare names, is one of them.
pub fn matters(name: &str) -> bool {
    BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

/// Which of them a word names: a program of its own, and no library that others load.
pub fn program(word: &str) -> Option<&'static str> {
    const LIBRARIES: &[&str] = &["cuda-", "numpy", "nvidia-"];
    let word = word.strip_prefix("py").filter(|rest| rest.starts_with("torch")).unwrap_or(word);
    let begins = |begin: &&str| word.starts_with(begin) && !LIBRARIES.contains(begin);
    BEGINNINGS.iter().copied().find(begins).map(|begin| begin.trim_end_matches('-'))
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

    /// What can be locked is kept, so that a draft of a host can name it.
    #[test]
    fn packages_of_the_catalog_are_kept() {
        for row in crate::catalog::BUILTIN.companions.iter() {
            assert!(matters(&row.package), "{}", row.package);
        }
    }
}
