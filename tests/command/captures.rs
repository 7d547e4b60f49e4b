//! An overlay takes no name of the catalog in silence: neither by another spelling of it, nor by an alias, nor with
//! another compute capability.

use std::fs;

use crate::common::sandbox::Sandbox;

const SOURCE: &str =
    "source = [{ id = \"acme\", at = \"https://wiki.acme.example\", kind = \"measured\", seen = \"2026-11-22\" }]\n";

fn site(name: &str, gpu: &str, rows: &str) -> Sandbox {
    let spec = format!(
        "[stack]\ntorch = \"2.7\"\npython = \"3.11\"\n[target.a]\ngpu = \"{gpu}\"\n[catalog]\noverlays = [\"site.toml\"]\n"
    );
    let sandbox = Sandbox::new(name, &spec);
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{rows}")).unwrap();
    sandbox
}

fn gpu(fields: &str) -> String {
    format!("gpu = [{{ {fields}, class = \"datacenter\", architecture = \"Hopper\", source = \"acme\" }}]\n")
}

#[test]
fn a_name_that_means_a_product_is_not_taken_in_silence() {
    for (fields, taken) in [
        // Another capability, which made it another row; and which one a spec got was decided by the order.
        ("name = \"NVIDIA A100-PCIE-40GB\", cc = \"9.0\"", "NVIDIA A100-PCIE-40GB"),
        ("name = \"NVIDIA  A100-PCIE-40GB\", cc = \"8.0\"", "NVIDIA  A100-PCIE-40GB"),
        ("name = \"nvidia a100-pcie-40gb\", cc = \"8.0\"", "nvidia a100-pcie-40gb"),
        ("name = \"A100 PCIE 40GB\", cc = \"9.0\"", "A100 PCIE 40GB"),
        ("name = \"NVIDIA X100\", aliases = [\"A100-PCIE-40GB\"], cc = \"9.0\"", "A100-PCIE-40GB"),
        ("name = \"NVIDIA X100\", aliases = [\"Acme\", \"a100\"], cc = \"9.0\"", "a100"),
        ("name = \"NVIDIA X100\", aliases = [\"RTX 5000\"], cc = \"9.0\"", "RTX 5000"),
    ] {
        let sandbox = site("silent", "A100-PCIE-40GB", &gpu(fields));
        sandbox
            .run(&["lock"])
            .exits(2)
            .says("error[overlay-captures]")
            .says(&format!("`{}` already means", taken.split_whitespace().collect::<Vec<_>>().join(" ")))
            .says("replace = true");
        assert!(!sandbox.path("gpuenv.lock").exists());
    }
}

#[test]
fn a_row_that_says_so_takes_the_name_and_nothing_else_has_it() {
    let replaced = gpu("name = \"NVIDIA A100-PCIE-40GB\", cc = \"9.0\", replace = true");
    let sandbox = site("taken", "A100-PCIE-40GB", &replaced);
    sandbox.run(&["lock"]).exits(0);
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    assert!(lock.contains("{ name = \"NVIDIA A100-PCIE-40GB\", compute-capability = \"9.0\""), "{lock}");
    // What is not captured is left alone, and a replacement of nothing is still one.
    sandbox.run(&["catalog", "show", "A100-SXM4-80GB"]).exits(0);
    fs::write(
        sandbox.path("site.toml"),
        format!("{SOURCE}{}", gpu("name = \"NVIDIA X100\", cc = \"9.0\", replace = true")),
    )
    .unwrap();
    sandbox.run(&["lock"]).exits(2).says("overlay-replaces-nothing");
    // One of two products of a name can be replaced alone.
    let one = "gpu = [{ name = \"NVIDIA GeForce GTX 750\", cc = \"5.0\", replace = true, class = \"geforce\", architecture = \"Maxwell\", last_branch = \"580\", source = \"acme\" }]\n";
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{one}")).unwrap();
    let both = sandbox.run(&["catalog", "search", "GTX", "750", "Maxwell"]);
    assert!(both.out.contains("GTX 750 5.0") && both.out.contains("GTX 750 5.2"), "{both:?}");
}

#[test]
fn another_spelling_of_a_version_is_no_other_release() {
    for row in [
        "driver = [{ version = \"570.026\", date = \"2025-01-02\", source = \"acme\" }]\n",
        "driver = [{ version = \"570.26.0\", date = \"2025-01-02\", source = \"acme\" }]\n",
        "python = [{ version = \"3.011\", stable = true, source = \"acme\" }]\n",
    ] {
        let sandbox = site("spelling", "A100-PCIE-40GB", row);
        sandbox.run(&["lock"]).exits(2).says("overlay-captures").says("already means");
    }
}

/// Two rows of one overlay with one name: nothing in it says which is meant.
#[test]
fn two_products_of_one_name_are_ambiguous_however_alike_they_are() {
    let row = |name: &str| {
        format!(
            "{{ name = \"{name}\", cc = \"9.0\", class = \"datacenter\", architecture = \"Hopper\", source = \"acme\" }}"
        )
    };
    let sandbox = site("namesakes", "X100", &format!("gpu = [{}, {}]\n", row("NVIDIA X100"), row("NVIDIA  X100")));
    let (code, document) = sandbox.json(&["lock"]);
    assert_eq!((code, document["errors"][0]["code"].as_str()), (2, Some("ambiguous-gpu")), "{document}");
    let sandbox = site("alone", "X100", &format!("gpu = [{}]\n", row("NVIDIA X100")));
    sandbox.run(&["lock"]).exits(0);
}
