//! `[packages]` beside each other and beside what locked packages bring along: what no installer knows of two ordinary ones.

use crate::common::checkout::Place;

const TARGET: &str = "[target.t]\ngpu = \"H100 80GB HBM3\"\nos = \"ubuntu24.04\"\n";

fn place(name: &str, stack: &str, packages: &str) -> Place {
    Place::with(name, &format!("[stack]\n{stack}\npython = \"3.12\"\n[packages]\n{packages}\n{TARGET}"))
}

/// <https://github.com/sgl-project/sglang/issues/27654>: transformers fails to import beside the kernels that nobody bounds.
#[test]
fn kernels_that_transformers_fails_beside_are_told() {
    for (at, (stack, packages, told)) in [
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"==0.15.2\"", "transformers==5.6.0 needs"),
        ("torch = \"2.9.1\"", "transformers = \"<5\"\nkernels = \">=0.15\"", "transformers<5 needs"),
        ("torch = \"2.9.1\"", "transformers = \"==4.51.0\"\nkernels = \">=0.16\"", "transformers==4.51.0 needs"),
        ("torch = \"2.9.1\"", "transformers = \"==4.50.3\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.13.0\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"*\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \">=4.51\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"==0.14.1\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"*\"", ""),
        ("torch = \"2.9.1\"", "kernels = \"==0.15.2\"", ""),
        ("sglang = \"0.5.12\"", "kernels = \"==0.15.2\"", "the locked sglang 0.5.12"),
        ("sglang = \"0.5.13\"", "kernels = \"==0.15.2\"", "the locked sglang 0.5.13"),
        ("sglang = \"0.5.10\"", "kernels = \"==0.15.2\"", "transformers==5.3.0 needs"),
        ("vllm = \"0.11.0\"", "kernels = \"==0.15.2\"", "transformers>=4.55.2,<5 needs"),
        ("vllm = \"0.8.5.post1\"", "kernels = \"==0.14.1\"", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let ran = place(&format!("kernels-{at}"), stack, packages).run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches("package-excluded").count(), usize::from(!told.is_empty()), "{packages}: {flat}");
        assert!(flat.contains(told), "{packages}: {flat}");
    }
}

/// Where nothing excludes it, exports hold it back; where nobody asks for it, it is not installed.
#[test]
fn kernels_that_are_open_are_held_back() {
    for (at, (stack, packages, held)) in [
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"*\"", true),
        ("torch = \"2.9.1\"", "transformers = \"<5.13\"\nkernels = \">=0.10\"", true),
        ("torch = \"2.9.1\"", "transformers = \"*\"\nkernels = \"*\"", false),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"", false),
        ("sglang = \"0.5.12\"", "", true),
        ("sglang = \"0.5.11\"", "kernels = \"*\"", true),
        ("sglang = \"0.5.10\"", "", false),
    ]
    .into_iter()
    .enumerate()
    {
        let place = place(&format!("kernels-held-{at}"), stack, packages);
        place.run(&["lock"]).exits(0);
        for format in ["uv", "requirements"] {
            let text = place.run(&["export", format]).exits(0).out;
            assert_eq!(text.contains("<0.15"), held, "{stack} {packages} {format}:\n{text}");
        }
        place.run(&["lock", "--check"]).exits(0);
    }
}

/// What an import loads of an ordinary package is for releases of torch that its metadata does not name.
#[test]
fn libraries_for_another_torch_are_told() {
    for (at, (torch, packages, told, exported)) in [
        // https://github.com/dmlc/dgl/issues/7247 and 7822
        ("2.2.2", "dgl = \"==2.1.0\"", "`dgl = \"==2.1.0\"` needs torch >=2.0.0,<2.2.2", "\"dgl==2.1.0\""),
        ("2.4.1", "dgl = \"*\"", "", "\"dgl<2.1\""),
        ("2.1.2", "dgl = \"==2.1.0\"", "", "\"dgl==2.1.0\""),
        ("2.2.1", "dgl = \"*\"", "", "\"dgl\""),
        // The wheels of its own index go on.
        ("2.4.1", "dgl = \">=2.4\"", "", "\"dgl>=2.4\""),
        // https://github.com/casper-hansen/AutoAWQ/issues/466
        ("2.3.0", "autoawq-kernels = \"==0.0.6\"", "needs torch >=2.1,<2.3", "\"autoawq-kernels==0.0.6\""),
        ("2.3.0", "autoawq = \"==0.1.8\"", "needs torch >=2.1,<2.3", "\"autoawq==0.1.8\""),
        ("2.0.1", "autoawq = \"==0.1.8\"", "needs torch >=2.1,<2.3", "\"autoawq==0.1.8\""),
        ("2.2.0", "autoawq = \"==0.1.8\"", "", "\"autoawq==0.1.8\""),
        ("2.0.1", "autoawq = \"==0.1.5\"", "", "\"autoawq==0.1.5\""),
        ("2.3.1", "autoawq-kernels = \"==0.0.7\"", "", "\"autoawq-kernels==0.0.7\""),
        ("2.4.0", "autoawq-kernels = \"==0.0.9\"", "requires torch >=2.5.1", "\"autoawq-kernels==0.0.9\""),
    ]
    .into_iter()
    .enumerate()
    {
        let stack = format!("torch = \"{torch}\"");
        let spec = format!("[stack]\n{stack}\npython = \"3.11\"\n[packages]\n{packages}\n{TARGET}");
        let place = Place::with(&format!("other-torch-{at}"), &spec);
        let ran = place.run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.contains("package-excluded"), !told.is_empty(), "{stack} {packages}: {flat}");
        assert!(flat.contains(told), "{stack} {packages}: {flat}");
        let text = place.run(&["export", "uv"]).exits(0).out;
        assert!(text.contains(exported), "{stack} {packages}: {text}");
    }
}

/// What pip refuses is no answer: pkg:pypi/colossalai@0.5.0 pins a transformers that is for newer Pythons.
#[test]
fn what_a_package_pins_holds_its_python() {
    let spec = |colossalai: &str, python: &str| {
        format!("[stack]\ntorch = \"*\"\ncolossalai = \"{colossalai}\"\npython = \"{python}\"\n{TARGET}")
    };
    let place = Place::with("pinned-python", &spec("0.5.0", "3.8"));
    let ran = place.run(&["lock"]).exits(1);
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("requires transformers ==4.51.3, which requires Python >=3.9"), "{flat}");
    assert!(!flat.contains("for Python >=3.6 only"), "{flat}");
    for (colossalai, python, locked) in [("0.5.0", "3.9", "0.5.0"), ("*", "3.8", "0.4.9")] {
        let place = Place::with(&format!("pinned-python-{python}"), &spec(colossalai, python));
        let ran = place.run(&["lock"]).exits(0);
        assert!(ran.err.contains(locked) && !ran.err.contains("package-excluded"), "{}", ran.err);
    }
}
