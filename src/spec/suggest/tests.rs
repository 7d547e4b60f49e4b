//! Tests of `spec::suggest`.

use super::*;

#[test]
fn a_package_is_a_slip_of_another_only_where_it_is_the_same() {
    let known = [
        "torch",
        "torchvision",
        "torchaudio",
        "tensorflow",
        "jax",
        "flash-attn",
        "flashinfer-python",
        "faiss-gpu",
        "cudf-cu12",
        "vllm",
    ];
    for (word, meant) in [
        ("troch", Some("torch")),
        ("pytorch", Some("torch")),
        ("pytorhc", Some("torch")),
        ("tensorflow-gpus", Some("tensorflow")),
        ("torchvison", Some("torchvision")),
        ("flashattn", Some("flash-attn")),
        ("tensorflow-gpu", Some("tensorflow")),
        ("flash-attention", Some("flash-attn")),
        ("FlashInfer", Some("flashinfer-python")),
        ("faiss-gpus", Some("faiss-gpu")),
        ("faiss-cpu", None),
        ("flash-attn-4", None),
        ("flash-attn3", None),
        ("cudf-cu11", None),
        ("torchao", None),
        ("torchdata", None),
        ("transformers", None),
        ("max", None),
    ] {
        assert_eq!(slip(word, known), meant, "{word}");
    }
}

#[test]
fn what_to_write_holds_what_was_written() {
    for (table, key, value, help) in [
        ("", "CUDA_VERSION", Some("'12'"), "write `cuda = '12'` under `[stack]`"),
        ("", "torch", Some("'2.5'"), "move it under `[stack]`"),
        ("stack", "requires-gpuenv", Some("'>=0.1'"), "move it to the top of gpuenv.toml, before the first table"),
        ("", "torch", None, "write `torch = \">=2.4,<2.8\"` under `[stack]`"),
        ("target", "docker", Some("true"), "write `runtime = \"container\"`"),
        ("target", "gpus", Some("['L4', 'T4']"), "write `gpu = ['L4', 'T4']`"),
        ("stack", "driver", Some("'535'"), "move it under `[target.NAME]`"),
        ("build", "gcc", Some("'11'"), "move it under `[target.NAME]`"),
    ] {
        assert_eq!(unknown_key(table, key, value).0, help, "{table} {key}");
    }
}

#[test]
fn every_slip_means_one_key_and_hides_none() {
    for doc in tables() {
        let names: Vec<&str> = doc.keys.iter().map(|key| key.name).collect();
        let slips: Vec<&str> = doc.keys.iter().flat_map(|key| key.slips).copied().collect();
        for slip in &slips {
            assert!(!names.contains(slip) && slips.iter().filter(|other| *other == slip).count() == 1, "{slip}");
            assert_eq!(fold(slip).as_deref(), Some(*slip));
        }
    }
    assert!(!is_no_package("torch") && !is_no_package("flash-attn") && is_no_package("Driver_Version"));
}
