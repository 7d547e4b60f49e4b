//! Tests of `probe::environment`.

use super::*;
use crate::probe::tests::Tree;

fn context(pairs: &[(&str, &str)]) -> ProbeContext {
    let environment = pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
    ProbeContext { environment, ..Tree::new("environment").context() }
}

#[test]
fn secrets_are_not_recorded() {
    let context = context(&[
        ("CUDA_VISIBLE_DEVICES", "0"),
        ("NVIDIA_API_KEY", "nvapi-1"),
        ("NCCL_TOKEN", "1"),
        ("NVIDIA_AUTH", "1"),
        ("CUDA_PASSPHRASE", "1"),
        ("PYTORCH_BUILD_PW", "1"),
        ("CUDA_WHATEVER_COMES", "1"),
        ("USER", "alice"),
        ("CONDA_PREFIX", "/opt/conda"),
    ]);
    let names: Vec<String> = that_matters(&context).into_keys().collect();
    assert_eq!(names, ["CONDA_PREFIX", "CUDA_VISIBLE_DEVICES"]);
}

#[test]
fn children_run_no_foreign_code_by_the_environment() {
    let mut context = context(&[
        ("LD_PRELOAD", "/x.so"),
        ("CUDA_INJECTION64_PATH", "/y.so"),
        ("LD_LIBRARY_PATH", ":/usr/lib"),
        ("LANG", "de_DE.UTF-8"),
        ("CUDA_VISIBLE_DEVICES", "1"),
    ]);
    context.options.trust = true;
    let given: BTreeMap<OsString, OsString> = of_child(&context).into_iter().collect();
    let names: Vec<&str> = given.keys().filter_map(|name| name.to_str()).collect();
    assert_eq!(names, ["CUDA_VISIBLE_DEVICES", "LC_ALL", "LD_LIBRARY_PATH"]);
    assert_eq!(given[std::ffi::OsStr::new("LD_LIBRARY_PATH")], "/usr/lib");
}

#[test]
fn what_depends_on_where_one_stands_is_not_handed_on() {
    let mut context = context(&[("PATH", ":bin:/usr/bin:./x:/bin"), ("LD_LIBRARY_PATH", "lib:/usr/lib:.")]);
    context.options.trust = true;
    let given: BTreeMap<OsString, OsString> = of_child(&context).into_iter().collect();
    let of = |name: &str| given[std::ffi::OsStr::new(name)].to_str().unwrap().to_string();
    assert_eq!((of("PATH"), of("LD_LIBRARY_PATH")), ("/usr/bin:/bin".to_string(), "/usr/lib".to_string()));
}
