//! Every JSON document the tool prints, held against the schema it publishes.

use gpuenv::explain::why::Verdict;
use gpuenv::report::schema;
use serde_json::{Value, json};

use crate::common::sandbox::Sandbox;
use crate::common::validate;

const SPEC: &str = r#"
[stack]
torch = ">=2.4,<2.8"
torchvision = "*"

[build]
ptx = true

[target.prod]
gpu = ["A100-PCIE-40GB", "H100 NVL"]
driver = "525.116.03"
image = "nvidia/cuda"

[target.cpu]
gpu = "none"
os = "ubuntu20.04"

[[override]]
rule = "wheel-glibc"
target = "cpu"
reason = "tried"
"#;

fn schema_of(name: &str) -> Value {
    serde_json::from_str(&schema::find(name).expect(name).text()).expect(name)
}

#[track_caller]
fn fits(name: &str, document: &Value) {
    let wrong = validate::errors(&schema_of(name), document);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{document:#}");
}

#[test]
fn documents_fit_their_schemas() {
    let sandbox = Sandbox::new("schema", SPEC);
    fits("stale", &sandbox.json(&["lock", "--check"]).1);
    fits("lock", &sandbox.json(&["lock"]).1);
    fits("lock", &sandbox.json(&["export", "json"]).1);
    fits("explain", &sandbox.json(&["explain"]).1);
    fits("explain", &sandbox.json(&["explain", "stack.torch"]).1);
    fits("lock", &sandbox.json(&["add", "torchaudio", "--dry-run"]).1);
    std::fs::write(sandbox.path("requirements.txt"), "torch==2.5.1\nnumpy\n-e .\n").unwrap();
    fits("init", &sandbox.json(&["init", "--from", "requirements.txt", "-o", "-"]).1);
    fits("graph", &sandbox.json(&["explain", "--graph", "mermaid"]).1);
    fits("rendered", &sandbox.json(&["lock", "--help"]).1);
    fits("rendered", &sandbox.json(&["export", "requirements", "--target", "prod"]).1);
    for name in ["cuda-12-driver", "gpu-code", "forward-compat", "os ubuntu22.04", "toolkit 12.4.1"] {
        fits("topics", &sandbox.json(&["explain", name]).1);
    }
    for what in ["torch@2.8.0", "RTX 5090", "driver@570", "source torch-pypi", "gpu-code"] {
        fits("topics", &sandbox.json(&["catalog", "show", what]).1);
    }
    fits("catalog", &sandbox.json(&["catalog"]).1);
    fits("list", &sandbox.json(&["catalog", "list"]).1);
    fits("list", &sandbox.json(&["catalog", "list", "gpus"]).1);
    fits("search", &sandbox.json(&["catalog", "search", "5090"]).1);
    fits("search", &sandbox.json(&["catalog", "search", "5091", "nowhere"]).1);
    fits("checked", &sandbox.json(&["catalog", "check"]).1);
    fits("catalogs", &sandbox.json(&["catalog", "update"]).1);
    fits("inspected", &sandbox.json(&["catalog", "inspect", env!("CARGO_BIN_EXE_gpuenv")]).1);
    fits("schemas", &sandbox.json(&["schema"]).1);
    for args in
        [&["lock", "--bogus"][..], &["explain", "nobody"], &["schema", "nobody"], &["export", "json", "--lock", "no"]]
    {
        fits("error", &sandbox.json(args).1);
    }
    sandbox.write(&SPEC.replace("torch =", "torhc ="));
    fits("error", &sandbox.json(&["lock"]).1);
    for spec in [
        "[stack]\ntorch = \"1.12.1+cu102\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n",
        "[stack]\ntorch = \"99\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"470.57.02\"\n",
        "[stack]\ntorch = \">=2.8\"\npython = \"3.8\"\n[target.a]\ngpu = \"RTX 3090\"\ndriver = \"470.57.02\"\n",
    ] {
        sandbox.write(spec);
        fits("conflict", &sandbox.json(&["lock"]).1);
        fits("conflict", &sandbox.json(&["explain"]).1);
    }
    fits("lock", &sandbox.json(&["lock", "--apply-fix", "1"]).1);
}

/// What some machines need beside their driver is a choice too.
#[test]
fn explanations_of_machines_that_need_services_fit() {
    for gpu in ["NVIDIA B200", "NVIDIA A100-SXM4-80GB MIG 1g.10gb"] {
        let spec = format!("[stack]\ntorch = \"2.8.0\"\n[target.a]\ngpu = \"{gpu}\"\nimage = \"nvidia/cuda\"\n");
        let (code, told) = Sandbox::new("schema-services", &spec).json(&["explain"]);
        assert_eq!(code, 0, "{told:#}");
        assert!(told.to_string().contains("\"services\""), "{told:#}");
        fits("explain", &told);
    }
}

#[test]
fn diagnoses_fit_their_schema() {
    let old_driver = "The NVIDIA driver on your system is too old (found version 11040).";
    let sandbox = Sandbox::new("schema-diagnose", "[stack]\ntorch = \">=2.10\"\n[target.a]\ngpu = \"RTX 3090\"\n");
    let conflict = sandbox.json(&["diagnose", old_driver]).1;
    assert_eq!(conflict["host"]["status"], "conflict", "{conflict:#}");
    fits("diagnose", &conflict);
    sandbox.write("[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 3090\"\n");
    let answer = sandbox.json(&["diagnose", old_driver]).1;
    assert_eq!(answer["host"]["status"], "ok", "{answer:#}");
    fits("diagnose", &answer);
    fits("diagnose", &sandbox.json(&["diagnose", "Driver Version: 535.54.03"]).1);
    fits("diagnose", &sandbox.json(&["diagnose", "nvcc fatal : Unsupported gpu architecture 'compute_120'"]).1);
    fits("error", &sandbox.json(&["diagnose", " "]).1);
}

/// The schema of gpuenv.toml admits every spec of this project, and nothing that the program refuses.
#[test]
fn specs_fit_their_schema() {
    let schema = schema_of("spec");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in ["examples", "tests/scenarios"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path().join("gpuenv.toml");
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let spec: toml::Table = toml::from_str(&text).expect("a spec is TOML");
            let wrong = validate::errors(&schema, &serde_json::to_value(spec).unwrap());
            assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100);
    for wrong in
        [json!({}), json!({ "target": { "a": { "gpus": "x" } } }), json!({ "target": {}, "stack": { "torch": 2 } })]
    {
        assert!(!validate::errors(&schema, &wrong).is_empty(), "{wrong}");
    }
}

#[test]
fn share_does_not_change_the_shape() {
    for share in ["versions", "none"] {
        let sandbox = Sandbox::new(&format!("schema-{share}"), &format!("{SPEC}[resolve]\nshare = \"{share}\"\n"));
        fits("lock", &sandbox.json(&["lock"]).1);
        fits("explain", &sandbox.json(&["explain"]).1);
    }
}

#[test]
fn every_schema_is_listed_and_printed() {
    let sandbox = Sandbox::new("schemas", "");
    let listed = sandbox.run(&["schema"]).exits(0);
    assert!(schema::ALL.is_sorted_by_key(|one| one.name));
    for one in schema::ALL {
        assert!(listed.out.contains(one.name));
        let schema = schema_of(one.name);
        assert_eq!(sandbox.run(&["schema", one.name]).exits(0).out, format!("{schema:#}\n"));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(schema["additionalProperties"] == false && schema["properties"].is_object(), "{}", one.name);
    }
    let verdicts: Vec<&str> = Verdict::ALL.iter().map(|one| one.as_str()).collect();
    let listed = schema_of("explain")["$defs"]["Verdict"]["oneOf"].as_array().unwrap().clone();
    assert_eq!(listed.iter().map(|one| one["const"].as_str().unwrap()).collect::<Vec<_>>(), verdicts);
    assert_eq!(schema_of("host")["required"], json!(["format"]));
}

#[test]
fn the_validator_finds_what_is_wrong() {
    for document in [
        json!({ "status": "error", "errors": [] }),
        json!({ "status": "ok", "errors": [{ "code": "a", "message": "b", "file": null, "span": null, "help": null }] }),
        json!({ "status": "error", "errors": [{ "code": 1, "message": "b", "file": null, "span": null, "help": null }] }),
        json!({ "status": "error", "errors": [{ "code": "a", "message": "b", "file": null, "span": {}, "help": null }] }),
        json!({ "status": "error", "errors": [{ "code": "a", "message": "b", "file": null, "help": null }] }),
        json!({ "status": "error", "more": 1, "errors": [{ "code": "a", "message": "b", "file": null, "span": null, "help": null }] }),
    ] {
        assert!(!validate::errors(&schema_of("error"), &document).is_empty(), "{document}");
    }
}
