//! `gpuenv diagnose` where a gpuenv.toml is at hand: what the text tells of the host is put into the spec, and what is
//! then proposed holds.

use gpuenv::spec;
use serde_json::Value;

use crate::common::sandbox::Sandbox;

const OLD_DRIVER: &str = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).";
const NEW_BOARD: &str = "NVIDIA GeForce RTX 5060 Ti with CUDA capability sm_120 is not compatible with the current \
                         PyTorch installation.\n| NVIDIA-SMI 550.144.03   Driver Version: 550.144.03   CUDA Version: \
                         12.4 |";

fn first_remedy(document: &Value) -> String {
    document["findings"][0]["remedies"][0].as_str().expect("a remedy").to_string()
}

/// Key and new text of changes, as gpuenv.toml is rewritten with them.
fn edits(changes: &Value) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_string);
    let changes = changes.as_array().expect("a list").iter();
    changes.map(|change| (text(&change["key"]).expect("a key"), text(&change["to"]))).collect()
}

#[test]
fn every_change_that_is_proposed_holds_on_the_host() {
    let mut tried = 0;
    for (at, (text, message)) in [
        ("[stack]\ntorch = \">=2.10\"\n[target.a]\ngpu = \"RTX 3090\"\ndriver = \"580\"\n", OLD_DRIVER),
        ("[stack]\ntorch = \"2.6.0\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"550\"\n", NEW_BOARD),
        ("[stack]\ntorch = \"2.9.1+cu130\"\n[target.a]\ngpu = \"L4\"\n", OLD_DRIVER),
    ]
    .into_iter()
    .enumerate()
    {
        let sandbox = Sandbox::new(&format!("diagnose-host-{at}"), text);
        let (_, document) = sandbox.json(&["diagnose", message]);
        let host = &document["host"];
        assert_eq!(host["status"], "conflict", "{document:#}");
        assert!(first_remedy(&document).contains("the spec does not resolve: "), "{document:#}");
        let differs = edits(&host["differs"]);
        let hosted = spec::rewrite(text, &differs).expect("the host can be written down");
        sandbox.write(&hosted);
        sandbox.run(&["lock"]).exits(1);
        for fix in host["fixes"].as_array().expect("a list") {
            sandbox.write(&spec::rewrite(&hosted, &edits(&fix["changes"])).expect("the fix can be written down"));
            sandbox.run(&["lock", "--fresh"]).exits(0);
            tried += 1;
        }
    }
    assert!(tried >= 4, "{tried} fixes");
}

#[test]
fn the_answer_for_the_spec_is_told_first() {
    let sandbox =
        Sandbox::new("diagnose-host-ok", "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 3090\"\ndriver = \"470\"\n");
    let (code, document) = sandbox.json(&["diagnose", OLD_DRIVER]);
    assert_eq!((code, &document["host"]["status"]), (0, &Value::from("ok")));
    assert_eq!(document["host"]["differs"], Value::Array(Vec::new()));
    let first = first_remedy(&document);
    assert!(first.starts_with("With target `a` of gpuenv.toml, which describes this host"), "{first}");
    let stack = document["host"]["stack"]["torch"].as_str().unwrap();
    assert!(first.contains(&format!("torch {stack}")), "{first}");
}

/// What holds for everybody is told of the GPUs of the spec.
#[test]
fn what_the_gpus_of_the_spec_exclude_is_not_proposed() {
    for (gpu, keeps, compat) in [("RTX 5090", false, false), ("A100", true, true), ("RTX 3090", true, false)] {
        let sandbox =
            Sandbox::new("diagnose-host-gpu", &format!("[stack]\ntorch = \"2.7.1\"\n[target.a]\ngpu = \"{gpu}\"\n"));
        let (_, document) = sandbox.json(&["diagnose", &OLD_DRIVER.replace("11040", "12040")]);
        let told = document["findings"][0]["remedies"].to_string();
        assert_eq!(told.contains("Or keep the driver"), keeps, "{gpu}: {told}");
        assert_eq!(told.contains("install the cuda-compat package"), compat, "{gpu}: {told}");
    }
}

#[test]
fn of_several_targets_the_one_with_the_gpu_is_meant_or_one_is_named() {
    let both = "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 3090\"\n[target.b]\ngpu = \"RTX 5060 Ti\"\n";
    let sandbox = Sandbox::new("diagnose-host-several", both);
    assert_eq!(sandbox.json(&["diagnose", NEW_BOARD]).1["host"]["target"], "b");
    let unclear = sandbox.run(&["diagnose", OLD_DRIVER]).exits(0);
    assert!(unclear.err.contains("--target: a, b"), "{}", unclear.err);
    assert!(sandbox.json(&["diagnose", OLD_DRIVER]).1["host"].is_null());
    assert_eq!(sandbox.json(&["diagnose", "--target", "a", OLD_DRIVER]).1["host"]["target"], "a");
    let wrong = sandbox.run(&["diagnose", "--target", "c", OLD_DRIVER]).exits(2);
    assert!(wrong.err.contains("unknown-target") && wrong.err.contains("a, b"), "{}", wrong.err);
}

#[test]
fn a_spec_that_cannot_be_read_spoils_the_diagnosis_only_where_it_was_named() {
    let sandbox = Sandbox::new("diagnose-host-broken", "[stack\n");
    let lying_here = sandbox.run(&["diagnose", OLD_DRIVER]).exits(0);
    assert!(lying_here.err.contains("was left aside") && lying_here.out.contains("driver-too-old"));
    assert_eq!(sandbox.run(&["diagnose", OLD_DRIVER, "--format", "json"]).exits(0).err, "");
    sandbox.run(&["diagnose", OLD_DRIVER, "--spec", "gpuenv.toml"]).exits(2);
    sandbox.run(&["diagnose", OLD_DRIVER, "--spec", "none.toml"]).exits(4);
    sandbox.run(&["diagnose", "nothing that anybody knows"]).exits(3);
    // What no choice of versions cures is not solved for.
    sandbox.write("[stack]\ntorch = \"99\"\n[target.a]\ngpu = \"RTX 3090\"\n");
    let lost = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\nDriver Version: 550.54.15";
    assert!(sandbox.json(&["diagnose", lost]).1["host"].is_null());
}

#[test]
fn a_recorded_host_says_more_than_the_message() {
    let sandbox = Sandbox::new("diagnose-host-record", "[stack]\ntorch = \">=2.10\"\n[target.a]\ngpu = \"RTX 3090\"\n");
    let smi = "| NVIDIA-SMI 470.223.02   Driver Version: 470.223.02   CUDA Version: 11.4     |\n\
               |-------------------------------+----------------------+----------------------+\n\
               | GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n\
               |   0  NVIDIA GeForce RTX 3090  Off  | 00000000:65:00.0 Off |                  N/A |\n";
    std::fs::write(sandbox.path("host.txt"), smi).unwrap();
    let message = "CUDA driver version is insufficient for CUDA runtime version";
    assert!(sandbox.json(&["diagnose", message]).1["host"].is_null());
    let (code, document) = sandbox.json(&["diagnose", message, "--host", "host.txt"]);
    assert_eq!((code, &document["host"]["status"]), (0, &Value::from("conflict")), "{document:#}");
    let differs = document["host"]["differs"].to_string();
    assert!(differs.contains("target.a.driver") && differs.contains("470.223.02"), "{differs}");
    sandbox.run(&["diagnose", message, "--host", "nobody.toml"]).exits(4);
}

/// What clashes whatever the host has is no fault of the host: its target is asked by itself.
#[test]
fn the_conflict_of_another_target_is_not_blamed_on_the_host() {
    let text = "[stack]\ntorch = \"2.7.1+cu118\"\n[target.a]\ngpu = \"A100\"\ndriver = \"535\"\n\
                [target.b]\ngpu = \"RTX 5090\"\ndriver = \"570\"\n";
    let sandbox = Sandbox::new("diagnose-host-other", text);
    let told = |text: &str, message: &str| {
        sandbox.write(text);
        let (_, document) = sandbox.json(&["diagnose", message, "--target", "a"]);
        let remedies = document["findings"][0]["remedies"].as_array().unwrap().clone();
        let remedies: Vec<String> = remedies.iter().map(|one| one.as_str().unwrap().to_string()).collect();
        (document["host"].clone(), remedies)
    };
    let (host, remedies) = told(text, OLD_DRIVER);
    assert_eq!((&host["status"], &host["alone"]), (&"ok".into(), &true.into()), "{host:#}");
    assert!(remedies[0].contains("does not resolve without this host's values either"), "{remedies:?}");
    assert!(remedies[1].contains("`a` alone resolves to torch 2.7.1+cu118"), "{remedies:?}");
    assert!(!remedies.concat().contains("5090"), "{remedies:?}");
    // Alone it may have none either.
    let (host, remedies) = told(&text.replace("cu118", "cu126"), &OLD_DRIVER.replace("11040", "11020"));
    assert_eq!((&host["status"], &host["alone"]), (&"conflict".into(), &true.into()), "{host:#}");
    assert!(
        remedies[1].contains("`a` alone does not resolve: ") && !remedies.concat().contains("5090"),
        "{remedies:?}"
    );
    // Where the spec has an answer without the host's values, they are what clashes, be it with another target.
    let solvable = text.replace("2.7.1+cu118", "2.7.1");
    let (host, remedies) = told(&solvable, &OLD_DRIVER.replace("11040", "10000"));
    assert_eq!(host["alone"], false, "{host:#}");
    assert!(remedies[0].contains("the spec does not resolve: "), "{remedies:?}");
}
