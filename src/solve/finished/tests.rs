//! Tests of `solve::finished`.

use super::*;
use crate::catalog::BUILTIN;
use crate::solve::request::Request;
use crate::spec;

/// What its build would take, and what then ends in "no kernel image".
#[test]
fn a_wheel_without_code_for_a_gpu_is_refused() {
    let text = "[stack]\ntorch = \"2.8.0\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\n";
    let (spec, problem) = (spec::parse(text).unwrap(), crate::solve::problem::Problem::new(&BUILTIN));
    let (request, _) = Request::new(&spec, &problem).unwrap();
    let row = BUILTIN.companions.of("flash-attn").iter().find(|row| row.version.as_str() == "2.8.3").unwrap();
    let is_it = |build: &&Build| {
        build.version.as_str() == "2.8.0" && build.variant == *"cu128" && build.arch.as_str() == "x86_64"
    };
    let build = BUILTIN.builds.of("torch").iter().find(is_it).unwrap();
    let python = Version::parse("3.12").unwrap();
    for (gpu, becomes) in [
        (Cc { major: 8, minor: 6 }, Use::Taken),
        (Cc { major: 7, minor: 5 }, Use::Uncovered(Cc { major: 7, minor: 5 })),
    ] {
        let machine = (&request.targets[0].machine.reading, None, &[gpu][..]);
        let found = of_release(&BUILTIN, row, &[build], machine, Some(&python)).unwrap();
        assert_eq!(found.use_of, becomes);
        assert_eq!(found.refusal().is_some(), becomes.is_refused());
    }
}
