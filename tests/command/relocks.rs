//! What a lock keeps when it is made again, and what `--upgrade` and `--upgrade-package` give up.

use std::fs;

use serde_json::Value;

use crate::common::sandbox::Sandbox;

/// The lock that a run writes, as JSON.
fn locked(sandbox: &Sandbox, args: &[&str]) -> Value {
    let (code, document) = sandbox.json(&[&["lock"], args].concat());
    assert_eq!(code, 0, "{document:#}");
    document
}

fn text(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap()
}

/// A sandbox whose first spec is locked and which then has the second.
fn relocked(name: &str, first: &str, second: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("relock-{name}"), first);
    locked(&sandbox, &[]);
    sandbox.write(second);
    sandbox
}

/// The version of a package in a target's stack.
fn has<'a>(document: &'a Value, target: &str, package: &str) -> &'a str {
    let own = &document["targets"][target]["stack"][package];
    own.as_str().or(document["stack"][package].as_str()).unwrap_or_else(|| panic!("{package}: {document:#}"))
}

fn codes(document: &Value) -> Vec<&str> {
    document["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// What means the same is no change, however it is spelled; what was locked by an older gpuenv is spelled as it was written.
#[test]
fn the_spelling_of_a_constraint_makes_no_lock_stale() {
    let spec = |torch: &str, cuda: &str| {
        format!("[stack]\ntorch = \"{torch}\"\ncuda = \"{cuda}\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\n")
    };
    let sandbox = relocked("spelling", &spec("2.8", ">=12.4,<13"), &spec("==2.8.*", "<13, >=12.4"));
    sandbox.run(&["lock", "--check"]).exits(0);
    assert!(text(&sandbox).contains("\"stack.torch\" = \"2.8\""), "{}", text(&sandbox));
    let older = text(&sandbox).replace("\"stack.torch\" = \"2.8\"", "\"stack.torch\" = \"==2.8.*\"");
    fs::write(sandbox.path("gpuenv.lock"), &older).unwrap();
    sandbox.write(&spec("2.8.*", ">=12.4,<13"));
    sandbox.run(&["lock", "--check"]).exits(0);
    sandbox.run(&["lock"]).exits(0);
    assert_eq!(text(&sandbox), older);
    sandbox.write(&spec("2.8.0", ">=12.4,<13"));
    sandbox.run(&["lock", "--check"]).exits(1).says("is now `2.8.0`");
}

mod upgrades {
    use super::*;

    fn spec(torch: &str, python: &str, bitsandbytes: &str, deepspeed: &str) -> String {
        format!(
            "[stack]\ntorch = \"{torch}\"\npython = \"{python}\"\nbitsandbytes = \"{bitsandbytes}\"\n\
             deepspeed = \"{deepspeed}\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"550.54.15\"\n"
        )
    }

    /// A sandbox with old releases in its lock and nothing that holds them in its spec.
    fn loosened(name: &str) -> Sandbox {
        relocked(name, &spec("2.5.0", "3.10", "0.44.0", "0.15.0"), &spec("*", "*", "*", "*"))
    }

    fn stack(document: &Value) -> [&str; 4] {
        ["torch", "python", "bitsandbytes", "deepspeed"].map(|package| has(document, "t", package))
    }

    const KEPT: [&str; 4] = ["2.5.0+cu124", "3.10", "0.44.0", "0.15.0"];

    #[test]
    fn two_packages_move_at_once_and_the_others_stay() {
        let sandbox = loosened("two");
        assert_eq!(stack(&locked(&sandbox, &[])), KEPT, "nothing moves by itself");
        let both = ["--upgrade-package", "bitsandbytes", "--upgrade-package", "deepspeed"];
        let moved = locked(&sandbox, &both);
        let [torch, python, bitsandbytes, deepspeed] = stack(&moved);
        assert_eq!([torch, python], [KEPT[0], KEPT[1]]);
        assert!(bitsandbytes != KEPT[2] && deepspeed != KEPT[3], "{bitsandbytes} {deepspeed}");
        let first = text(&sandbox);
        let turned = loosened("two-turned");
        locked(&turned, &["--upgrade-package", "deepspeed", "--upgrade-package", "bitsandbytes"]);
        assert_eq!(text(&turned), first, "in whatever order they are named");
    }

    #[test]
    fn each_of_two_may_name_its_version() {
        let sandbox = loosened("versions");
        let args = ["--upgrade-package", "bitsandbytes=0.45.0", "--upgrade-package", "deepspeed=0.15.1"];
        assert_eq!(stack(&locked(&sandbox, &args)), [KEPT[0], KEPT[1], "0.45.0", "0.15.1"]);
        // One by name and one by version.
        let sandbox = loosened("mixed");
        let args = ["--upgrade-package", "python", "--upgrade-package", "deepspeed=0.15.1"];
        let moved = locked(&sandbox, &args);
        let [torch, python, bitsandbytes, deepspeed] = stack(&moved);
        assert_eq!([torch, bitsandbytes, deepspeed], [KEPT[0], KEPT[2], "0.15.1"]);
        assert_ne!(python, KEPT[1]);
    }

    #[test]
    fn a_package_that_is_not_named_stays() {
        // A newer torch would not have the other's Python.
        for (at, package) in [(1, "python"), (2, "bitsandbytes"), (3, "deepspeed")] {
            let sandbox = loosened(package);
            let document = locked(&sandbox, &["--upgrade-package", package]);
            for (other, (now, then)) in stack(&document).iter().zip(KEPT).enumerate() {
                assert_eq!(*now == then, other != at, "{package}: {now} {then}");
            }
        }
    }

    #[test]
    fn all_of_them_move_with_upgrade() {
        let sandbox = loosened("all");
        let upgraded = locked(&sandbox, &["--upgrade"]);
        assert!(stack(&upgraded).iter().zip(KEPT).all(|(now, then)| *now != then), "{upgraded:#}");
    }
}

/// METADATA of litgpt 0.5.5 (`torch<2.6.0,>=2.5.0`), axolotl 0.21, NumPy 1.21.6 and what whisperx 3.1.5 brings along.
mod let_go {
    use super::*;

    fn spec(stack: &str, packages: &str) -> String {
        format!("[stack]\n{stack}\n[packages]\n{packages}\n[target.t]\ngpu = \"T4\"\n")
    }

    /// What is locked after packages were added, as it is without the older lock.
    fn added(name: &str, stack: &str, packages: &str) -> (Sandbox, Value) {
        let sandbox = relocked(&format!("let-go-{name}"), &spec(stack, ""), &spec(stack, packages));
        let kept = locked(&sandbox, &[]);
        let before = text(&sandbox);
        sandbox.run(&["lock", "--check"]).exits(0);
        sandbox.run(&["lock"]).exits(0);
        assert_eq!(text(&sandbox), before, "{name}: it is what it stays");
        (sandbox, kept)
    }

    #[test]
    fn what_excludes_a_new_package_is_not_kept() {
        for (packages, package, chosen) in [
            ("litgpt = \"==0.5.5\"", "torch", "2.5.1+cu124"),
            ("axolotl = \"==0.21\"", "torch", "2.14.1+cu130"),
            ("nvidia-cublas = \"==13.1.0.3\"", "torch", "2.12.1+cu130"),
            ("numpy = \"==1.21.6\"", "python", "3.10"),
            ("whisperx = \"==3.1.5\"", "python", "3.12"),
        ] {
            let (sandbox, kept) = added(package, "torch = \"*\"", packages);
            assert_eq!(has(&kept, "t", package), chosen, "{packages}");
            assert!(!codes(&kept).iter().any(|code| ["package-excluded", "package-cuda"].contains(code)), "{kept:#}");
            locked(&sandbox, &["--fresh"]);
        }
    }

    #[test]
    fn nothing_else_is_let_go() {
        let [first, second] = ["torch = \"2.9.1\"\npython = \"3.12\"", "torch = \"*\"\npython = \"*\""];
        let sandbox = relocked("let-go-rest", &spec(first, ""), &spec(second, "numpy = \"==1.21.6\""));
        let kept = locked(&sandbox, &[]);
        assert_eq!([has(&kept, "t", "torch"), has(&kept, "t", "python")], ["2.9.1+cu128", "3.10"]);
        // What nothing would spare is no reason to change anything.
        let sandbox = relocked("let-go-none", &spec(first, ""), &spec(second, "numpy = \"==1.10.0\""));
        let kept = locked(&sandbox, &[]);
        assert_eq!([has(&kept, "t", "torch"), has(&kept, "t", "python")], ["2.9.1+cu128", "3.12"]);
        // The build of a release goes before the release.
        let [first, second] = ["torch = \"2.11.0\"", "torch = \"*\""];
        let sandbox = relocked("let-go-build", &spec(first, ""), &spec(second, "faster-whisper = \"*\""));
        assert_eq!(has(&locked(&sandbox, &[]), "t", "torch"), "2.11.0+cu128");
    }

    /// Of another release the build is chosen anew.
    #[test]
    fn a_build_is_kept_with_its_release() {
        let target = "[target.t]\ngpu = \"RTX 5090\"\n";
        let [first, second] =
            ["", "python = \"3.10\"\n"].map(|python| format!("[stack]\ntorch = \"*\"\n{python}{target}"));
        let sandbox = relocked("let-go-variant", &first, &second);
        let kept = locked(&sandbox, &[]);
        assert_eq!(has(&kept, "t", "torch"), "2.14.1+cu130");
        assert!(!codes(&kept).contains(&"expected"), "{kept:#}");
    }

    /// A lock that is up to date stays what it is, whatever another catalog knows of it; then the cure is told.
    #[test]
    fn what_could_be_let_go_is_told() {
        let packages = "litgpt = \"==0.5.5\"";
        let sandbox = relocked("let-go-told", &spec("torch = \"2.15.0\"", ""), &spec("torch = \"2.15.0\"", packages));
        let told = sandbox.run(&["lock"]).exits(0).err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("or use torch >=2.5.0,<2.6.0"), "{told}");
        let older = text(&sandbox).replace(&*gpuenv::catalog::BUILTIN.digest, "0000");
        fs::write(
            sandbox.path("gpuenv.lock"),
            older.replace("\"stack.torch\" = \"2.15.0\"", "\"stack.torch\" = \"*\""),
        )
        .unwrap();
        sandbox.write(&spec("torch = \"*\"", packages));
        let told = sandbox.run(&["lock"]).exits(0).err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("or run `gpuenv lock --upgrade-package torch`"), "{told}");
        assert_eq!(has(&locked(&sandbox, &["--upgrade-package", "torch"]), "t", "torch"), "2.5.1+cu124");
        // Where no other release fits, what stands against it is to be asked for.
        sandbox.write(&spec("torch = \"*\"", packages).replace("T4", "RTX 5090"));
        let told = sandbox.run(&["lock"]).exits(0).err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("or write `torch = \">=2.5.0,<2.6.0\"` under [stack] to see what stands against it"),
            "{told}"
        );
    }
}

mod places {
    use super::*;

    fn spec(cuda: &str) -> String {
        format!(
            "[stack]\ntorch = \"2.5.1+cu124\"\ncuda = \"{cuda}\"\n[build]\n\
             [target.image]\ngpu = \"A100-PCIE-40GB\"\nimage = \"nvidia/cuda\"\n\
             [target.metal]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\n"
        )
    }

    fn toolkits(document: &Value) -> [&str; 3] {
        let of = |target: &str, key: &str| document["targets"][target][key].as_str().unwrap();
        [of("image", "image"), of("image", "toolkit"), of("metal", "toolkit")]
    }

    const OLD: [&str; 3] = ["nvidia/cuda:12.4.0-devel-ubuntu22.04", "12.4.0", "12.4.0"];
    const NEW: [&str; 3] = ["nvidia/cuda:12.4.1-devel-ubuntu22.04", "12.4.1", "12.4.1"];

    #[test]
    fn toolkit_and_image_are_kept_while_they_hold() {
        let sandbox = relocked("places", &spec("12.4.0"), &spec("12.4"));
        assert_eq!(toolkits(&locked(&sandbox, &[])), OLD);
        assert_eq!(toolkits(&locked(&sandbox, &["--upgrade-package", "torch"])), OLD, "CUDA was not named");
        assert_eq!(toolkits(&locked(&sandbox, &["--upgrade-package", "cuda"])), NEW);
    }

    #[test]
    fn toolkit_and_image_move_where_everything_does() {
        for args in ["--upgrade", "--fresh"] {
            let sandbox = relocked(args.trim_start_matches('-'), &spec("12.4.0"), &spec("12.4"));
            assert_eq!(toolkits(&locked(&sandbox, &[args])), NEW, "{args}");
        }
    }

    #[test]
    fn what_the_spec_refuses_is_not_kept() {
        let sandbox = relocked("refused", &spec("12.4.0"), &spec("12.4.1"));
        assert_eq!(toolkits(&locked(&sandbox, &[])), NEW);
    }

    /// One target has an image, the other a toolkit: neither is tied to the other by the lock.
    #[test]
    fn each_target_keeps_its_own() {
        let spec = |image: &str, toolkit: &str| {
            format!(
                "[stack]\ntorch = \"2.5.1+cu124\"\n[build]\n\
                 [target.image]\ngpu = \"A100-PCIE-40GB\"\nimage = \"nvidia/cuda{image}\"\n\
                 [target.metal]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\n{toolkit}\n"
            )
        };
        let sandbox = relocked("own", &spec("", "toolkit = [\"12.4.0\"]"), &spec("", ""));
        assert_eq!(toolkits(&locked(&sandbox, &[])), [NEW[0], NEW[1], OLD[2]]);
        let sandbox = relocked("own-image", &spec(":12.4.0-devel-ubuntu22.04", ""), &spec("", ""));
        assert_eq!(toolkits(&locked(&sandbox, &[])), [OLD[0], OLD[1], NEW[2]]);
    }

    #[test]
    fn the_image_to_run_in_is_kept_too() {
        let spec = |image: &str| {
            format!(
                "[stack]\ntorch = \"2.5.1+cu124\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\nimage = \"nvidia/cuda{image}\"\n"
            )
        };
        let sandbox = relocked("runs", &spec(":12.4.0-base-ubuntu22.04"), &spec(""));
        assert_eq!(locked(&sandbox, &[])["targets"]["t"]["image"], "nvidia/cuda:12.4.0-base-ubuntu22.04");
        assert_eq!(locked(&sandbox, &["--upgrade"])["targets"]["t"]["image"], "nvidia/cuda:12.4.1-base-ubuntu22.04");
    }
}

mod shares {
    use super::*;

    /// Two kinds of machines; the driver of the first decides which variants it can have.
    fn spec(share: &str, torch: &str, names: [&str; 2], driver: &str) -> String {
        format!(
            "[stack]\ntorch = \"{torch}\"\n[target.{}]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"{driver}\"\n\
             [target.{}]\ngpu = \"L40S\"\ndriver = \"580.65.06\"\n[resolve]\nshare = \"{share}\"\n",
            names[0], names[1]
        )
    }

    const SHARES: [&str; 3] = ["stack", "versions", "none"];
    const OLD: &str = "470.57.02";
    const NEW: &str = "580.65.06";

    #[test]
    fn a_variant_that_was_pinned_once_stays() {
        for share in SHARES {
            let [first, second] = ["2.6.0+cu118", "2.6.0"].map(|torch| spec(share, torch, ["a", "b"], NEW));
            let sandbox = relocked(&format!("pinned-{share}"), &first, &second);
            let kept = locked(&sandbox, &[]);
            assert_eq!([has(&kept, "a", "torch"), has(&kept, "b", "torch")], ["2.6.0+cu118"; 2], "{share}");
            let moved = locked(&sandbox, &["--upgrade-package", "torch"]);
            assert_eq!([has(&moved, "a", "torch"), has(&moved, "b", "torch")], ["2.6.0+cu124"; 2], "{share}");
        }
    }

    #[test]
    fn a_variant_that_a_driver_asked_for_stays_when_the_driver_is_newer() {
        for (share, a, b) in [
            ("stack", "2.6.0+cu118", "2.6.0+cu118"),
            ("versions", "2.6.0+cu118", "2.6.0+cu124"),
            ("none", "2.6.0+cu118", "2.6.0+cu124"),
        ] {
            for names in [["a", "b"], ["b", "a"]] {
                let [first, second] = [OLD, NEW].map(|driver| spec(share, "2.6.0", names, driver));
                let sandbox = relocked(&format!("asked-{share}-{}", names[0]), &first, &second);
                let kept = locked(&sandbox, &[]);
                let found = names.map(|name| has(&kept, name, "torch"));
                assert_eq!(found, [a, b], "{share} {names:?}");
            }
        }
    }

    #[test]
    fn of_stacks_that_disagree_none_is_kept_for_all() {
        // Each machine for itself had another torch. One stack for both is no heir of either.
        for names in [["a", "b"], ["b", "a"]] {
            for share in ["stack", "versions"] {
                let first = spec("none", "<2.15", names, OLD);
                let sandbox =
                    relocked(&format!("heir-{share}-{}", names[0]), &first, &spec(share, "<2.15", names, NEW));
                let found = locked(&sandbox, &[]);
                let best = locked(&sandbox, &["--fresh"]);
                assert_eq!(found["stack"], best["stack"], "{share} {names:?}");
            }
        }
    }

    #[test]
    fn each_stack_of_its_own_is_kept_as_it_was() {
        for names in [["a", "b"], ["b", "a"]] {
            let [first, second] = [OLD, NEW].map(|driver| spec("none", "*", names, driver));
            let sandbox = relocked(&format!("alone-{}", names[0]), &first, &first);
            let before = locked(&sandbox, &[]);
            assert_ne!(has(&before, names[0], "torch"), has(&before, names[1], "torch"));
            sandbox.write(&second);
            let after = locked(&sandbox, &[]);
            for name in names {
                assert_eq!(before["targets"][name]["stack"], after["targets"][name]["stack"], "{name}");
            }
        }
    }

    #[test]
    fn a_target_that_joins_takes_what_the_others_have() {
        let first = "[stack]\ntorch = \"2.5.1+cu121\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n";
        let second = "[stack]\ntorch = \"2\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n[target.b]\ngpu = \"L40S\"\n";
        let sandbox = relocked("joins", first, second);
        let joined = locked(&sandbox, &[]);
        assert_eq!([has(&joined, "a", "torch"), has(&joined, "b", "torch")], ["2.5.1+cu121"; 2]);
        // With versions in common the newcomer is free in its variant.
        let sandbox = relocked("joins-versions", first, &format!("{second}[resolve]\nshare = \"versions\"\n"));
        let joined = locked(&sandbox, &[]);
        assert_eq!([has(&joined, "a", "torch"), has(&joined, "b", "torch")], ["2.5.1+cu121", "2.5.1+cu124"]);
    }
}

mod set_aside {
    use super::*;

    const RETRACT: &str = "[[retract]]\nrule = \"cuda-12-driver\"\nreason = \"measured everywhere\"\n";

    fn spec(more: &str) -> String {
        format!(
            "[stack]\ntorch = \"2.5.1+cu124\"\n\
             [target.a]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"515.65.01\"\nforward-compat = \"never\"\n\
             [target.b]\ngpu = \"A100-PCIE-40GB\"\n{more}"
        )
    }

    fn aimed(target: &str) -> String {
        format!("[[override]]\nrule = \"cuda-12-driver\"\ntarget = \"{target}\"\nreason = \"measured on a\"\n")
    }

    const OVERLAY: &str = "[catalog]\noverlays = [\"site.toml\"]\n";

    fn minimum<'a>(document: &'a Value, target: &str) -> &'a str {
        document["targets"][target]["driver"]["minimum"].as_str().unwrap()
    }

    #[test]
    fn an_override_for_one_target_frees_that_one_alone() {
        let sandbox = Sandbox::new("relock-aimed", &spec(&aimed("a")));
        let document = locked(&sandbox, &[]);
        assert_eq!(minimum(&document, "b"), "525.60.13");
        assert!(document["targets"]["a"]["driver"].is_null(), "{document}");
        let recorded = &document["overrides"];
        assert_eq!(
            (&recorded[0]["target"], &recorded[0]["overlay"], recorded.as_array().unwrap().len()),
            (&"a".into(), &Value::Null, 1)
        );
        sandbox.write(&spec(&aimed("b")));
        let (code, document) = sandbox.json(&["lock"]);
        assert_eq!((code, &document["culprits"]), (1, &serde_json::json!(["stack.torch", "target.a.driver"])));
    }

    #[test]
    fn a_retraction_takes_the_place_of_a_targeted_override() {
        let sandbox = Sandbox::new("relock-retracted", &spec(&aimed("a")));
        locked(&sandbox, &[]);
        fs::write(sandbox.path("site.toml"), RETRACT).unwrap();
        sandbox.write(&spec(&format!("{}{OVERLAY}", aimed("a"))));
        sandbox.run(&["lock", "--check"]).exits(1);
        let document = locked(&sandbox, &[]);
        assert!(document["targets"]["b"]["driver"]["minimum"].is_null(), "it frees the other target too: {document:#}");
        let recorded = document["overrides"].as_array().unwrap();
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        assert_eq!((&recorded[0]["overlay"], &recorded[0]["target"]), (&"site.toml:1".into(), &Value::Null));
        assert!(codes(&document).contains(&"unused-override"), "{document:#}");
        sandbox.run(&["lock", "--check"]).exits(0);
        // Without the override all stays as it is, but for the warning.
        sandbox.write(&spec(OVERLAY));
        let alone = locked(&sandbox, &[]);
        assert_eq!((&alone["targets"], &alone["overrides"]), (&document["targets"], &document["overrides"]));
        assert!(!codes(&alone).contains(&"unused-override"), "{alone:#}");
        // Without the retraction the override counts again.
        sandbox.write(&spec(&aimed("a")));
        assert_eq!(locked(&sandbox, &[])["overrides"][0]["target"], "a");
    }

    /// Where a row stands in its file is nothing that it says.
    #[test]
    fn a_line_above_a_row_makes_no_lock_stale() {
        let rule = "[[rule]]\nid = \"site-driver\"\nsubject = \"cuda\"\nrange = \"12\"\nobject = \"driver\"\n\
                    needs = \">=510\"\nsays = \"Ours hang below 510.\"\nsource = \"nvidia-driver-tags\"\n\
                    holds = [\"12.4 515.65.01\"]\nfails = [\"12.4 470.256.02\"]\n";
        let sandbox = Sandbox::new("relock-lines", &spec(OVERLAY));
        fs::write(sandbox.path("site.toml"), format!("{RETRACT}{rule}")).unwrap();
        locked(&sandbox, &[]);
        assert!(text(&sandbox).contains("site.toml:4"), "{}", text(&sandbox));
        fs::write(sandbox.path("site.toml"), format!("# measured in March\n\n{RETRACT}\n{rule}")).unwrap();
        sandbox.run(&["lock", "--check"]).exits(0);
        fs::write(sandbox.path("site.toml"), format!("{RETRACT}{}", rule.replace("below", "before"))).unwrap();
        sandbox.run(&["lock", "--check"]).exits(1).says("the overlay site.toml has changed");
    }

    #[test]
    fn a_retraction_takes_the_place_of_an_override_for_all() {
        let everywhere = "[[override]]\nrule = \"cuda-12-driver\"\nreason = \"measured everywhere\"\n";
        let sandbox = Sandbox::new("relock-everywhere", &spec(&format!("{everywhere}{OVERLAY}")));
        fs::write(sandbox.path("site.toml"), RETRACT).unwrap();
        let document = locked(&sandbox, &[]);
        let recorded = document["overrides"].as_array().unwrap();
        assert_eq!((recorded.len(), &recorded[0]["overlay"]), (1, &"site.toml:1".into()), "{recorded:?}");
        assert!(codes(&document).contains(&"unused-override"), "{document:#}");
    }

    #[test]
    fn of_two_overrides_of_one_rule_the_one_that_changes_nothing_is_told() {
        let everywhere = "[[override]]\nrule = \"cuda-12-driver\"\nreason = \"measured everywhere\"\n";
        let sandbox = Sandbox::new("relock-both", &spec(&format!("{everywhere}{}", aimed("a"))));
        let document = locked(&sandbox, &[]);
        let recorded = document["overrides"].as_array().unwrap();
        assert_eq!((recorded.len(), &recorded[0]["target"]), (1, &Value::Null), "{recorded:?}");
        assert!(codes(&document).contains(&"unused-override"));
    }
}

mod formats {
    use super::*;

    const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"550.54.15\"\n";

    /// Runs that read the lock first.
    const READING: [&[&str]; 5] = [
        &["lock"],
        &["lock", "--check"],
        &["lock", "--upgrade"],
        &["lock", "--upgrade-package", "torch"],
        &["export", "env"],
    ];

    #[test]
    fn a_lock_of_another_format_is_neither_read_nor_replaced() {
        let sandbox = Sandbox::new("relock-format", SPEC);
        locked(&sandbox, &[]);
        let sound = text(&sandbox);
        assert!(sound.contains("\nversion = 2\n"), "{sound}");
        // The last is beyond what TOML has for numbers.
        for (format, code) in [("0", "bad-lock"), ("3", "newer-lock"), ("99999999999999999999", "newer-lock")] {
            let other = sound.replacen("\nversion = 2\n", &format!("\nversion = {format}\n"), 1);
            fs::write(sandbox.path("gpuenv.lock"), &other).unwrap();
            for args in READING {
                let (exit, document) = sandbox.json(args);
                assert_eq!(
                    (exit, &document["errors"][0]["code"]),
                    (2, &code.into()),
                    "{format} {args:?}: {document:#}"
                );
                assert_eq!(text(&sandbox), other, "{format} {args:?}");
            }
            // What a later gpuenv wrote is left alone whatever is asked: only that one can read it.
            let (exit, _) = sandbox.json(&["lock", "--fresh"]);
            let left = if code == "newer-lock" { (2, &other) } else { (0, &sound) };
            assert_eq!((exit, &text(&sandbox)), left, "{format}");
            fs::remove_file(sandbox.path("gpuenv.lock")).unwrap();
            locked(&sandbox, &[]);
        }
    }
}

/// A file that a power cut has emptied holds nothing that could be lost.
#[test]
fn an_empty_lock_is_made_again() {
    let sandbox = relocked("empty", "[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"T4\"\n", "");
    let (whole, spec) = (text(&sandbox), "[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"T4\"\n");
    sandbox.write(spec);
    fs::write(sandbox.path("gpuenv.lock"), "").unwrap();
    sandbox.run(&["lock", "--check"]).exits(1).says("gpuenv.lock is empty");
    sandbox.run(&["export", "env"]).exits(2).says("gpuenv.lock is empty").says("run `gpuenv lock` first");
    sandbox.run(&["verify", "--quick"]).exits(2).says("gpuenv.lock is empty");
    sandbox.run(&["lock"]).exits(0);
    assert_eq!(text(&sandbox), whole);
}

/// Of what a lock was made with nothing is chosen otherwise when its own choices are kept, and every command asks alike.
#[test]
fn a_lock_that_was_just_written_is_not_stale() {
    for (stack, gpu, os) in [("jax = \"*\"", "L4", "ubuntu22.04"), ("tensorflow = \"*\"", "H200", "ubuntu24.04")] {
        let spec = format!("[stack]\n{stack}\n[target.a]\ngpu = \"{gpu}\"\nos = \"{os}\"\nimage = \"nvidia/cuda\"\n");
        let place = Sandbox::new("relock-fresh", &spec);
        place.run(&["lock"]).exits(0);
        place.run(&["lock", "--check"]).exits(0);
        place.run(&["export", "requirements", "--locked"]).exits(0);
        let written = text(&place);
        fs::write(place.path("gpuenv.lock"), format!("{written}# a remark\n")).unwrap();
        place.run(&["lock", "--check"]).exits(0);
        place.run(&["lock", "--upgrade-package", "python"]).exits(0);
        assert_eq!(text(&place), written, "{stack}");
    }
}
