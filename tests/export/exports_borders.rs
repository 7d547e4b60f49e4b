//! Exports beside which another lies that is written or refused otherwise: one word tells the two apart.

use std::fs;

use crate::common::sandbox::{Ran, Sandbox};

const A100: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.12\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\n";

fn locked(name: &str, spec: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("exports-borders-{name}"), spec);
    sandbox.with(&["lock"], &[("COLUMNS", "400")]).exits(0);
    sandbox
}

fn export(sandbox: &Sandbox, args: &[&str]) -> Ran {
    sandbox.with(&[&["export"], args].concat(), &[("COLUMNS", "400")])
}

#[test]
fn a_user_is_named_as_a_system_creates_one() {
    let sandbox = locked("user", &format!("{A100}image = \"nvidia/cuda\"\n"));
    for (user, code) in
        [("user1", 0), ("us_er", 0), ("us-er", 0), ("_u", 0), ("us.er", 2), ("1user", 2), ("User", 2), ("root", 2)]
    {
        let ran = export(&sandbox, &["dockerfile", &format!("--user={user}")]);
        assert_eq!(ran.code, code, "{user}: {ran:?}");
    }
}

/// A Jetson's image is another than those of other machines.
#[test]
fn the_image_that_is_missing_is_one_for_the_machine() {
    let jetson = "[stack]\ntorch = \"2.8\"\n[target.t]\ngpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"\n";
    for (name, spec, image) in [("jetson", jetson, "nvcr.io/nvidia/l4t-jetpack"), ("server", A100, "nvidia/cuda")] {
        let ran = export(&locked(name, spec), &["dockerfile"]).exits(2);
        ran.says(&format!("set image = \"{image}\""));
    }
}

#[test]
fn wheels_without_a_known_hash_are_counted() {
    let stack = "[stack]\ntorch = \"1.8.1+cu111\"\npython = \"3.8\"\ntorchvision = \"*\"\n";
    let target = "[target.t]\ngpu = \"A100-PCIE-40GB\"\n";
    for (name, spec, says) in [
        ("one", format!("{stack}{target}"), "the sha256 of torchvision 0.9.1 is not known, and pip"),
        ("one", format!("{stack}{target}"), "every requirement has one: it stands in the file as a comment"),
        ("two", format!("{stack}torchaudio = \"*\"\n{target}"), "every requirement has one: they stand in the file"),
    ] {
        export(&locked(name, &spec), &["requirements", "--hashes"]).says(says);
    }
}

/// From an index that is not explicit uv takes any package: one at torch's address would bring the wheels of another CUDA.
#[test]
fn an_index_of_somebody_elses_is_in_the_way_only_at_the_same_address() {
    const TORCH: &str = "https://download.pytorch.org/whl/cu124";
    let sandbox = locked("index", A100);
    for (name, url, explicit, code) in [
        ("corp", "https://corp.example/simple", "", 0),
        ("corp", TORCH, "", 2),
        ("corp", &format!("{TORCH}/"), "", 2),
        ("corp", TORCH, "explicit = true\n", 0),
    ] {
        let index = format!("[[tool.uv.index]]\nname = \"{name}\"\nurl = \"{url}\"\n{explicit}");
        fs::write(sandbox.path("pyproject.toml"), format!("[project]\nname = \"x\"\nversion = \"1\"\n{index}"))
            .unwrap();
        let ran = export(&sandbox, &["uv", "-o", "pyproject.toml"]);
        assert_eq!(ran.code, code, "{index}{ran:?}");
        assert_eq!(ran.err.contains("is not `explicit = true`: any package may come from it"), code == 2, "{ran:?}");
    }
}

/// A label names its line of CUDA by two digits too, `cu92`, and a major alone, `cu12`: then the locked CUDA tells the line.
#[test]
fn what_is_beside_the_wheels_keeps_to_the_line_that_their_label_names() {
    let v100 = "[target.t]\ngpu = \"V100-SXM2-16GB\"\ndriver = \"418\"\n";
    for (name, stack, line) in [
        ("cu92", "torch = \"1.7.1+cu92\"", "9.2"),
        ("cu90", "torch = \"1.1.0+cu90\"", "9.0"),
        ("cu101", "torch = \"1.7.1+cu101\"", "10.1"),
    ] {
        let sandbox = locked(name, &format!("[stack]\n{stack}\n{v100}"));
        export(&sandbox, &["conda"]).exits(0).tells(&format!("  - \"cuda-version={line}\""));
        export(&sandbox, &["pixi"]).exits(0).tells(&format!(
            "[system-requirements]\n# The virtual package __cuda: what the driver can run.\ncuda = \"{line}"
        ));
        export(&sandbox, &["env"]).exits(0).tells("LD_LIBRARY_PATH");
    }
}
