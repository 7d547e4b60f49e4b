//! Packages whose wheels hold one module: installers take both, and the files of one replace those of the other.

use crate::common::checkout::Place;

/// A stack, what `[packages]` asks for, and what is told of it; nothing where both go together.
const CASES: &[(&str, &str, &str)] = &[
    // https://github.com/microsoft/onnxruntime/issues/23833
    ("onnxruntime-gpu = \"1.22.0\"", "onnxruntime = \"==1.22.0\"", "take it out of [packages]"),
    (
        "onnxruntime-gpu = \"1.22.0\"",
        "onnxruntime-openvino = \"*\"",
        "the locked onnxruntime-gpu 1.22.0, `onnxruntime`",
    ),
    ("onnxruntime-gpu = \"1.22.0\"", "onnxruntime-qnn = \"*\"", ""),
    ("onnxruntime-gpu = \"1.22.0\"", "faster-whisper = \"==1.1.1\"", "faster-whisper requires onnxruntime"),
    ("onnxruntime-gpu = \"1.22.0\"", "faster-whisper = \"*\"", "faster-whisper requires onnxruntime"),
    ("onnxruntime-gpu = \"1.22.0\"", "faster-whisper = \"==0.2.0\"", ""),
    ("onnxruntime-gpu = \"1.22.0\"", "silero-vad = \"==5.1\"", "silero-vad requires onnxruntime"),
    ("onnxruntime-gpu = \"1.22.0\"", "silero-vad = \"*\"", ""),
    ("onnxruntime-gpu = \"1.22.0\"", "numpy = \"*\"", ""),
    // Nothing that is locked has the module.
    ("torch = \"2.7.1\"", "onnxruntime = \"*\"\nfaster-whisper = \"*\"", ""),
    ("faiss-gpu-cu12 = \"*\"", "faiss-cpu = \"*\"", "`faiss-cpu` of [packages] installs the same module"),
    ("faiss-gpu-cu12 = \"*\"\nfaiss-gpu = \"*\"", "numpy = \"*\"", "ask for one of the two"),
    ("xgboost = \"2.1.0\"", "xgboost-cpu = \"*\"", "the locked xgboost 2.1.0, `xgboost`"),
    ("sgl-kernel = \"*\"\nsglang-kernel = \"*\"", "numpy = \"*\"", "`sgl_kernel`: installers take both"),
    (
        "transformer-engine-cu12 = \"*\"\ntransformer-engine-cu13 = \"*\"",
        "numpy = \"*\"",
        "`transformer_engine`: installers take both",
    ),
];

#[test]
fn two_packages_with_one_module_are_told() {
    for (at, (stack, packages, told)) in CASES.iter().enumerate() {
        let spec =
            format!("[stack]\n{stack}\n[packages]\n{packages}\n[target.t]\ngpu = \"A100\"\nos = \"ubuntu24.04\"\n");
        let place = Place::with(&format!("one-module-{at}"), &spec);
        let ran = place.run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = usize::from(!told.is_empty());
        assert_eq!(flat.matches("[same-module]").count(), expected, "{stack} {packages}: {flat}");
        assert!(flat.contains(told), "{stack} {packages}: {flat}");
        let lock = place.read("checkout/gpuenv.lock");
        assert_eq!(lock.contains("id = \"module-"), expected == 1, "{stack} {packages}");
    }
}
