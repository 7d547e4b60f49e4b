//! What is told holds when it is asked again: what an explanation says of a lock, what a help names, what a conflict leaves.

use std::fs;

use serde_json::{Value, json};

use crate::common::sandbox::Sandbox;

fn culprits(told: &Value, of: &str) -> Vec<Vec<String>> {
    let each = told[of].as_array().into_iter().flatten();
    each.map(|one| serde_json::from_value(one["culprits"].clone()).unwrap()).collect()
}

/// Nothing that was locked a moment ago is an earlier choice.
#[test]
fn a_fresh_lock_holds_no_earlier_choice() {
    let image = "[target.b]\ngpu = \"L4\"\nimage = \"nvidia/cuda\"\n";
    for spec in [
        format!("[stack]\ntorch = \"2.7.1\"\n{image}"),
        format!("[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"L4\"\n{image}"),
        format!("[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"L4\"\n{image}[resolve]\nshare = \"versions\"\n"),
    ] {
        let sandbox = Sandbox::new("again-fresh", &spec);
        sandbox.run(&["lock"]).exits(0);
        let told = sandbox.run(&["explain"]).exits(0);
        assert!(!told.out.contains("an earlier choice"), "{spec}\n{told:?}");
        let (_, told) = sandbox.json(&["explain"]);
        let held = told["choices"].as_array().unwrap().iter().filter(|one| one["locked"] != Value::Null);
        assert_eq!(held.count(), 0, "{spec}\n{told:#}");
    }
}

/// A way to something newer leads there, as it is written.
#[test]
fn an_opening_opens_what_it_says() {
    let of =
        |driver: &str| format!("[stack]\ncupy-cuda12x = \"*\"\n[target.t]\ngpu = \"A10\"\ndriver = \"{driver}\"\n");
    let sandbox = Sandbox::new("again-opening", &of("560.35.03"));
    let (_, told) = sandbox.json(&["explain"]);
    let opening = told["openings"].as_array().unwrap().iter().find(|one| one["change"]["key"] == "target.t.driver");
    let opening = opening.unwrap_or_else(|| panic!("{told:#}"));
    sandbox.write(&of(opening["change"]["to"].as_str().unwrap()));
    let (_, then) = sandbox.json(&["lock"]);
    assert_eq!(then["stack"]["cuda"], opening["to"], "{opening}\n{then:#}");
}

/// Whatever the order of the keys, conflicts without a common key are told side by side.
#[test]
fn conflicts_that_share_no_key_are_all_told() {
    let (stack, gpu) = ("[stack]\ntorch = \"2.9\"\ncuda = \"13\"\n", "gpu = \"K80\"\n");
    let driver = "driver = \"470.256.02\"\n";
    for spec in [
        format!("{stack}[target.t]\n{gpu}{driver}"),
        format!("{stack}[target.t]\n{driver}{gpu}"),
        format!("[target.t]\n{gpu}{driver}{stack}"),
    ] {
        let (code, told) = Sandbox::new("again-apart", &spec).json(&["lock"]);
        let (found, others) = (culprits(&told, "conflicts"), culprits(&told, "further"));
        assert_eq!((code, found.len()), (1, 2), "{spec}\n{told:#}");
        for other in
            others.iter().chain(&serde_json::from_value::<Vec<Vec<String>>>(told["alternatives"].clone()).unwrap())
        {
            assert!(found.iter().flatten().any(|key| other.contains(key)), "{spec}\n{told:#}");
        }
    }
}

/// Whoever mends one key of each conflict meets what was hidden behind several of them.
#[test]
fn a_conflict_behind_several_others_is_told() {
    let spec = "[stack]\ntorch = \"2.5.1\"\ntorchvision = \"0.18.0\"\n[target.a]\ngpu = \"K80\"\nkernel-module = \"open\"\n\
                [target.b]\ngpu = \"RTX 3090\"\nimage = \"nvidia/cuda:12.4.9-base-ubuntu22.04\"\n";
    let (code, told) = Sandbox::new("again-behind", spec).json(&["lock"]);
    assert_eq!((code, culprits(&told, "conflicts").len()), (1, 3), "{told:#}");
    let hidden = vec!["stack.torch".to_string(), "target.a.gpu".to_string()];
    assert!(culprits(&told, "further").contains(&hidden), "{told:#}");
}

/// A lock that is named is brought up to date from the spec beside it.
#[test]
fn the_command_for_a_lock_out_of_date_names_its_spec() {
    let spec = "[stack]\ntorch = \"2.7.1\"\n[target.t]\ngpu = \"H100\"\n";
    let sandbox = Sandbox::new("again-stale", "[stack]\njax = \"*\"\n[target.t]\ngpu = \"L4\"\n");
    fs::write(sandbox.path("a.toml"), spec).unwrap();
    sandbox.run(&["lock", "--spec", "a.toml"]).exits(0);
    fs::write(sandbox.path("a.toml"), spec.replace("2.7.1", "2.6.0")).unwrap();
    sandbox.run(&["export", "requirements", "--lock", "a.lock"]).says("`gpuenv lock --spec a.toml`");
    let refused = sandbox.run(&["lock", "--lock", "a.lock"]).exits(2);
    refused.says("lock the spec beside it with `gpuenv lock --spec a.toml`");
    sandbox.run(&["lock", "--spec", "a.toml"]).exits(0);
    sandbox.run(&["export", "requirements", "--locked", "--lock", "a.lock"]).exits(0);
    // Files of one name are told apart.
    fs::create_dir(sandbox.path("other")).unwrap();
    fs::write(sandbox.path("other/gpuenv.toml"), spec).unwrap();
    sandbox.run(&["lock", "--spec", "other/gpuenv.toml"]).exits(0);
    let refused = sandbox.run(&["lock", "--lock", "other/gpuenv.lock"]).exits(2);
    refused.says("was made from other/gpuenv.toml, not from gpuenv.toml");
}

/// Status and exit code say the same.
#[test]
fn a_lock_that_cannot_be_read_is_an_error_to_programs() {
    let sandbox = Sandbox::new("again-unreadable", "[stack]\ntorch = \"2.7.1\"\n[target.t]\ngpu = \"H100\"\n");
    fs::write(sandbox.path("gpuenv.lock"), "garbage\n").unwrap();
    for args in [&["explain"][..], &["explain", "stack.torch"], &["explain", "--graph", "dot"]] {
        let (code, told) = sandbox.json(args);
        assert_eq!((code, &told["status"]), (2, &json!("error")), "{args:?} {told:#}");
    }
    sandbox.run(&["explain"]).exits(2).says("error[").tells("stack.torch");
}

/// What is offered in the place of a list is read.
#[test]
fn one_value_is_offered_for_a_list_of_machines() {
    for (key, list, offered) in [
        ("os", "[\"ubuntu22.04\", \"ubuntu20.04\"]", "os = \"ubuntu22.04\""),
        ("gcc", "[\"9\", \"11\"]", "gcc = \"9\""),
        ("arch", "[\"x86_64\", \"aarch64\"]", "arch = \"x86_64\""),
    ] {
        let spec = |value: &str| format!("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"H100\"\n{value}\n");
        let sandbox = Sandbox::new("again-list", &spec(&format!("{key} = {list}")));
        sandbox.run(&["lock"]).exits(2).says(&format!("write one of them: `{offered}`"));
        sandbox.write(&spec(offered));
        sandbox.run(&["lock"]).exits(0);
    }
    // Of two numbers one proves nothing.
    let sandbox = Sandbox::new("again-glibc", "[stack]\ntorch = \"2.7.1\"\n[target.t]\ngpu = \"L4\"\nglibc = \"2\"\n");
    sandbox.run(&["lock"]).exits(2).says("`glibc`: `2` does not name a minor version").says("ldd --version");
}

const SOURCE: &str =
    "source = [{ id = \"acme\", at = \"https://acme.example\", kind = \"measured\", seen = \"2026-11-18\" }]\n";

/// Who describes one tag of a registry loses none of the others.
#[test]
fn a_tag_beside_one_of_an_overlay_is_what_it_is_without_it() {
    let spec =
        "[stack]\ntorch = \"2.7.1\"\n[target.t]\ngpu = \"H100\"\nimage = \"registry.acme.example/ml/cuda:12.6-r4\"\n";
    let row = "image = [{ repository = \"registry.acme.example/ml/cuda\", tag = \"12.6-r3\", cuda = \"12.6.3\", flavour = \"base\", os = \"ubuntu22.04\", arches = [\"x86_64\"], source = \"acme\" }]\n";
    let sandbox = Sandbox::new("again-tag", &format!("{spec}[catalog]\noverlays = [\"site.toml\"]\n"));
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{row}")).unwrap();
    sandbox.run(&["lock"]).exits(0).says("image-not-checked").says("the nearest tag that is known is `12.6-r3`");
}

/// A name that a rule speaks of can be taken, too.
#[test]
fn an_overlay_takes_the_name_of_any_board() {
    for name in ["H100 NVL", "A100-PCIE-40GB", "B200"] {
        let spec =
            format!("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"{name}\"\n[catalog]\noverlays = [\"site.toml\"]\n");
        let row = format!(
            "gpu = [{{ name = \"NVIDIA X100\", aliases = [\"{name}\"], cc = \"12.0\", class = \"datacenter\", architecture = \"Blackwell\", source = \"acme\", replace = true }}]\n"
        );
        let sandbox = Sandbox::new("again-alias", &spec);
        fs::write(sandbox.path("site.toml"), format!("{SOURCE}{row}")).unwrap();
        sandbox.run(&["lock"]).exits(0);
        assert!(fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap().contains("NVIDIA X100"), "{name}");
    }
}
