//! The solver's work does not grow with the catalog: decisions are counted, not timed.

use gpuenv::catalog::{BUILTIN, Catalog};
use gpuenv::explain;
use gpuenv::explain::why::why;
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::resolve;
use gpuenv::spec;

use crate::common::synthetic;

const SPECS: &[(&str, &str)] = &[
    (
        "two targets",
        "[stack]\ntorch = \">=2.4,<2.8\"\ntorchvision = \"*\"\npython = \"3.11\"\n\
         [target.prod]\ngpu = [\"A100-PCIE-40GB\", \"H100 NVL\"]\ndriver = \"525.116.03\"\nimage = \"nvidia/cuda\"\nos = \"ubuntu22.04\"\n\
         [target.lab]\ngpu = \"RTX 3090\"\nos = \"ubuntu20.04\"\n",
    ),
    (
        "a conflict",
        "[stack]\ntorch = \"+cu126\"\npython = \"3.11\"\n\
         [target.prod]\ngpu = \"RTX 2080 Ti\"\ndriver = \"450.80.02\"\nimage = \"nvidia/cuda\"\nos = \"ubuntu22.04\"\n",
    ),
    (
        "anything that runs",
        "[stack]\ntorch = \"*\"\n[target.old]\ngpu = \"Tesla V100\"\ndriver = \"450.80.02\"\nos = \"ubuntu18.04\"\n",
    ),
];

fn decisions(catalog: &Catalog, text: &str) -> u64 {
    let rules = Problem::new(catalog);
    let spec = spec::parse(text).expect("the spec parses");
    let (request, _) = Request::new(&spec, &rules).expect("its names are known");
    let steps = Steps::default();
    resolve(&request, &Locked::new(), &steps);
    steps.taken()
}

#[test]
fn decisions_stay_within_a_fifth_when_the_catalog_grows() {
    for scale in [10, 100] {
        let grown = synthetic::grown(scale);
        assert_eq!(grown.builds.len(), BUILTIN.builds.len() * scale);
        for (name, text) in SPECS {
            let (small, large) = (decisions(&BUILTIN, text), decisions(&grown, text));
            let most = small + small.div_ceil(5);
            assert!(small > 0 && large <= most, "{name}: {small} decisions, {large} at {scale} times the catalog");
        }
    }
}

/// A target of these lines, many times.
fn alike(many: usize, stack: &str, lines: &str) -> spec::Spec {
    let targets: String = (0..many).map(|at| format!("[target.t{at:03}]\n{lines}")).collect();
    spec::parse(&format!("[stack]\n{stack}\n{targets}")).expect("the spec parses")
}

#[test]
fn explaining_does_not_grow_with_targets_that_are_alike() {
    let rules = Problem::new(&BUILTIN);
    let work = |many: usize| {
        let steps = Steps::default();
        let lines = "gpu = \"H100 NVL\"\ndriver = \"450\"\nos = \"ubuntu22.04\"\n";
        let told =
            explain::conflicts(&alike(many, "torch = \"2.5\"", lines), &rules, &steps).expect("it has no answer");
        assert_eq!((told.conflicts.len(), told.conflicts[0].also.len()), (1, many - 1));
        assert!(!told.fixes.is_empty() && told.fixes.iter().all(|fix| fix.changes.len() >= many));
        steps.taken()
    };
    assert!(work(200) <= work(2) + work(2) / 5, "{} steps for 2, {} for 200", work(2), work(200));
    let why = |many: usize| {
        let steps = Steps::default();
        let lines = "gpu = \"T4\"\ndriver = \"535\"\nos = \"ubuntu22.04\"\n";
        assert!(why(&alike(many, "torch = \"2.5\"", lines), &rules, &Locked::new(), &steps).is_some());
        steps.taken()
    };
    assert!(why(200) <= why(2) + why(2) / 5, "{} steps for 2, {} for 200", why(2), why(200));
}

#[test]
fn conflicts_that_have_nothing_in_common_end_within_the_limit() {
    // Drivers that all are too old, each in its own way.
    let lines = |at: usize| format!("[target.t{at:03}]\ngpu = \"H100 NVL\"\ndriver = \"{}.10\"\n", 390 + at);
    let text: String = (0..40).map(lines).collect();
    let spec = spec::parse(&format!("[stack]\ntorch = \"2.5\"\n{text}")).expect("the spec parses");
    let rules = Problem::new(&BUILTIN);
    for limit in [2_000, Steps::LIMIT] {
        let steps = Steps::new(limit);
        let told = explain::conflicts(&spec, &rules, &steps);
        assert_eq!(told.and_then(|told| told.gave_up), (limit == 2_000).then_some(limit), "{}", steps.taken());
        // What a single question takes may come on top.
        assert!(steps.taken() < limit + 2_000, "{}", steps.taken());
    }
}
