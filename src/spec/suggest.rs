//! What was meant by a key or a word that does not exist.

/// Frequent mistakes: the table they are made in (`""` is the top), the key, and what to write.
///
/// Names of the contract only; which packages exist is the catalog's to know.
const HINTS: &[(&str, &[&str], &str)] = &[
    ("", &["targets", "machine", "machines", "host", "hosts"], "each machine is a table of its own: `[target.NAME]`"),
    (
        "",
        &["torch", "pytorch", "torchvision", "torchaudio", "tensorflow", "jax", "python", "cuda", "cudnn", "nccl"],
        "packages stand under `[stack]`",
    ),
    ("", &["dependencies", "packages", "require", "requires", "frameworks"], "packages stand under `[stack]`"),
    ("", &["cuda-version", "cuda_version"], "the CUDA line is `cuda` under `[stack]`"),
    ("", &["python-version", "python_version", "requires-python"], "write `python` under `[stack]`"),
    (
        "",
        &["gpu", "gpus", "driver", "driver-cuda", "driver-version", "runtime", "os", "arch", "image", "forward-compat"],
        "this belongs to a machine: write it under `[target.NAME]`",
    ),
    ("", &["glibc", "gcc", "toolkit"], "this belongs to a machine: write it under `[target.NAME]`"),
    (
        "",
        &["project", "package", "tool", "name", "version"],
        "what your project is stays in its own manifest; here `[stack]` says what must run and `[target.NAME]` where",
    ),
    ("", &["overrides"], "each override is a table of its own: `[[override]]`"),
    ("", &["share", "prefer", "allow-experimental"], "this stands under `[resolve]`"),
    ("", &["overlay", "overlays"], "write `overlays` under `[catalog]`"),
    ("", &["arch-list", "ptx", "cuda-extensions"], "this stands under `[build]`"),
    ("stack", &["pytorch"], "the package is called `torch`"),
    ("stack", &["cuda-version", "cuda-toolkit", "cudatoolkit", "cuda-line"], "the CUDA line is called `cuda`"),
    ("stack", &["python-version", "requires-python"], "write `python`"),
    ("stack", &["torch-version"], "write `torch`"),
    ("stack", &["cudnn-version"], "write `cudnn`"),
    ("stack", &["nccl-version"], "write `nccl`"),
    (
        "stack",
        &["gpu", "gpus", "driver", "driver-cuda", "driver-version", "runtime", "os", "arch", "image", "glibc", "gcc"],
        "this belongs to a machine: write it under `[target.NAME]`",
    ),
    ("stack", &["toolkit", "forward-compat"], "this belongs to a machine: write it under `[target.NAME]`"),
    ("build", &["toolkit", "gcc", "host-compiler"], "`toolkit` and `gcc` are the machine's: see `[target.NAME]`"),
    ("build", &["cuda"], "the CUDA line is `cuda` under `[stack]`"),
    ("build", &["archs", "arch", "architectures", "cuda-architectures", "torch-cuda-arch-list"], "write `arch-list`"),
    ("target", &["gpus", "device", "devices", "card"], "write `gpu`; it takes one name or a list"),
    (
        "target",
        &["sm", "cc", "compute-capability", "capability", "gpu-arch"],
        "write `gpu`; it takes \"sm_XY\" in place of a product name",
    ),
    ("target", &["driver-version", "nvidia-driver"], "write `driver`"),
    (
        "target",
        &["cuda-version", "cuda-driver", "driver-cuda-version"],
        "write `driver-cuda` for the \"CUDA Version\" that nvidia-smi shows; the CUDA line is `cuda` under `[stack]`",
    ),
    (
        "target",
        &["torch", "pytorch", "torchvision", "torchaudio", "tensorflow", "jax", "python", "cuda", "cudnn", "nccl"],
        "all targets run one stack: write it under `[stack]`",
    ),
    ("target", &["container", "docker"], "write `runtime = \"container\"`, and `image` if it is given"),
    ("target", &["base-image", "docker-image", "from"], "write `image`"),
    ("target", &["cuda-toolkit", "toolkits", "nvcc"], "write `toolkit`"),
    ("target", &["cpu", "platform", "machine"], "write `arch`"),
    ("target", &["compiler", "gxx", "g++"], "write `gcc`"),
    ("target", &["arch-list", "ptx"], "this stands under `[build]`"),
    ("target", &["share", "prefer", "allow-experimental"], "this stands under `[resolve]`"),
    ("target", &["compat", "cuda-compat"], "write `forward-compat`"),
    ("override", &["id", "name", "rule-id"], "write `rule`"),
    ("override", &["targets"], "write `target`; one override names one target or none"),
    ("override", &["why", "comment", "note"], "write `reason`"),
    ("silence", &["code", "id", "name", "warn"], "write `warning`"),
    ("silence", &["targets"], "write `target`; one table names one target or none"),
    ("silence", &["why", "comment", "note"], "write `reason`"),
    ("", &["silences", "ignore", "allow", "suppress"], "each silenced warning is a table of its own: `[[silence]]`"),
    ("catalog", &["overlay", "path", "file", "files"], "write `overlays = [\"FILE\"]`"),
];

/// Longer words are no slips of the pen, and comparing them costs time.
const MAX_COMPARED: usize = 40;

/// What to write for a key that this table does not have.
pub(super) fn hint(section: &str, key: &str) -> Option<&'static str> {
    let folded = if key.len() > MAX_COMPARED { return None } else { key.to_ascii_lowercase().replace('_', "-") };
    let known = |keys: &&[&str]| keys.iter().any(|known| *known == folded || *known == key);
    HINTS.iter().find(|(place, keys, _)| *place == section && known(keys)).map(|(_, _, help)| *help)
}

/// The known word that is nearest, if it is near.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > MAX_COMPARED {
        return None;
    }
    let folded = word.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(nearest("drivre", ["driver", "arch"]), Some("driver"));
        assert_eq!(nearest("Driver_CUDA", ["driver", "driver-cuda"]), Some("driver-cuda"));
        assert_eq!(nearest("colour", ["driver", "arch"]), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), ["x"]), None);
        assert!(hint("", "CUDA_VERSION").unwrap().contains("[stack]"));
        assert_eq!(hint("stack", "torch"), None);
    }
}
