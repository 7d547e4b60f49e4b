//! Packages that come as source beside the snapshot of torch in an image of NVIDIA: their setup.py would take a finished
//! wheel that was compiled with the release. <https://github.com/Dao-AILab/flash-attention/issues/784>,
//! <https://github.com/state-spaces/mamba/issues/50>.

use crate::common::sandbox::Sandbox;

/// A stack, an image, and what has the build compile; none where its setup.py looks for no wheel, or may take it.
const CASES: &[(&str, &str, &[&str])] = &[
    ("flash-attn = \"2.3.6\"", "nvcr.io/nvidia/pytorch:23.11-py3", &["FLASH_ATTENTION_FORCE_BUILD"]),
    ("flash-attn = \"2.5.0\"", "nvcr.io/nvidia/pytorch:23.12-py3", &["FLASH_ATTENTION_FORCE_BUILD"]),
    (
        "causal-conv1d = \"1.0.2\"\nmamba-ssm = \"1.0.1\"",
        "nvcr.io/nvidia/pytorch:23.06-py3",
        &["CAUSAL_CONV1D_FORCE_BUILD", "MAMBA_FORCE_BUILD"],
    ),
    ("flash-attn = \"2.0.4\"", "nvcr.io/nvidia/pytorch:23.11-py3", &[]),
    ("torch = \"2.1.2\"\nflash-attn = \"2.5.0\"", "pytorch/pytorch:2.1.2-cuda12.1-cudnn8-devel", &[]),
];

#[test]
fn a_wheel_for_the_release_is_not_taken_beside_a_snapshot() {
    for (at, (stack, image, forced)) in CASES.iter().enumerate() {
        let spec = format!("[stack]\n{stack}\n[target.t]\ngpu = \"A100-SXM4-80GB\"\nimage = \"{image}\"\n");
        let sandbox = Sandbox::new(&format!("snapshots-{at}"), &spec);
        let ran = sandbox.with(&["lock"], &[("COLUMNS", "400")]).exits(0);
        assert_eq!(ran.err.contains("not with this snapshot"), !forced.is_empty(), "{}", ran.err);
        let text = sandbox.run(&["export", "dockerfile"]).exits(0).out;
        assert_eq!(text.matches("_FORCE_BUILD=\"TRUE\"").count(), forced.len(), "{text}");
        for variable in *forced {
            assert!(ran.err.contains(&format!("set {variable}=TRUE")), "{}", ran.err);
            assert!(text.contains(&format!("{variable}=\"TRUE\"")), "{text}");
        }
    }
}
