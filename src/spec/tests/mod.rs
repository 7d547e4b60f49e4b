//! The spec reader as its users meet it: files in, values or errors out.

mod bad;
mod edits;
mod fuzz;
mod good;
mod silences;

use super::{Spec, SpecError, parse};

/// A file that uses every key there is.
const FULL: &str = r#"requires-gpuenv = ">=0.1"            # the tool

[stack]
torch       = ">=2.4,<2.8"
torchvision = "*"
python      = "3.11"
cuda        = "12"
cudnn       = ">=9"
nccl        = "*"

[build]
cuda-extensions = true
ptx             = true
arch-list       = "8.0;8.6+PTX"

[target.prod]
gpu     = ["A100-PCIE-40GB", "H100 NVL"]
driver  = "525.116.03"
runtime = "container"
os      = "ubuntu22.04"
arch    = "x86_64"
image   = "nvidia/cuda"
forward-compat = "auto"

[target.lab]
gpu     = "RTX 3090"
driver-cuda = "12.2"
runtime = "bare-metal"
os      = "ubuntu20.04"
glibc   = "2.31"
gcc     = "9.4"
toolkit = ["11.8", "12.4"]

[resolve]
share   = "stack"
prefer  = "newest"
allow-experimental = false

[catalog]
overlays = ["site-catalog.toml"]

[[override]]
rule   = "some-rule-id"
target = "lab"
reason = "measured on our hosts, ticket 123"
"#;

fn good(source: &str) -> Spec {
    parse(source).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"))
}

fn errors(source: &str) -> Vec<SpecError> {
    let errors = parse(source).err().unwrap_or_else(|| panic!("accepted:\n{source}"));
    assert_tame(source, &errors);
    errors
}

/// What every error promises, whatever the file.
fn assert_tame(source: &str, errors: &[SpecError]) {
    assert!(!errors.is_empty());
    assert!(errors.windows(2).all(|pair| pair[0].span.start <= pair[1].span.start), "not in file order: {errors:?}");
    for error in errors {
        assert!(source.get(error.span.clone()).is_some(), "{error:?} does not fit the file");
        for text in [Some(&error.message), error.help.as_ref()].into_iter().flatten() {
            assert!(!text.is_empty() && text.chars().count() < 3000, "{error:?}");
            assert!(!text.chars().any(crate::types::name::is_unseen), "{error:?}");
        }
    }
}
