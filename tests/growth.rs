//! The solver's work does not grow with the catalog: decisions are counted, not timed.

#[path = "common/synthetic.rs"]
mod synthetic;

use gpuenv::catalog::{BUILTIN, Catalog};
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::resolve;
use gpuenv::spec;

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
    let steps = Steps::new(1_000_000);
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
