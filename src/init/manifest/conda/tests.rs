//! Match specs of conda, and what each asks for.

use super::*;

/// Names that the catalog tells of.
const KNOWN: [&str; 5] = ["librosa", "numpy", "pyyaml", "seaborn", "typing-extensions"];

#[test]
fn libraries_of_conda_are_told_from_packages_of_python() {
    for (spec, is_library) in [
        ("openssl=3.0.13=h7f8727e_1", true),
        ("openssl=3.0.13", true),
        ("ld_impl_linux-64=2.38", true),
        ("librosa=0.10.1", false),
        ("numpy=1.26.4=py310h5f9d8c6_0", false),
        ("numpy=1.26.4", false),
        ("yaml", true),
        ("pyyaml=6.0.1", false),
        // It brings seaborn-base, and its build says nothing of Python.
        ("seaborn=0.13.2=hd8ed1ab_3", false),
        ("typing-extensions=4.15.0=h396c80c_0", false),
        ("xorg-libxi=1.8.2", true),
        ("aws-c-s3=0.7.0", true),
        ("dav1d=1.2.1", true),
        ("r-base=4.0.5", true),
    ] {
        let mut found = Found::default();
        package(spec, 1, &mut found);
        let wanted = &found.wanted[0];
        assert_eq!(
            wanted.is_library || wanted.is_vague && !KNOWN.contains(&wanted.name.as_str()),
            is_library,
            "{spec}"
        );
    }
}

#[test]
fn a_compiler_of_conda_asks_for_a_build() {
    let mut found = Found::default();
    package("cuda-nvcc=12.4", 1, &mut found);
    assert!(found.builds && found.wanted.is_empty() && found.left.len() == 1, "{found:?}");
    package("opencv=4.5.5", 2, &mut found);
    assert!(found.left[1].2.contains("opencv-python"), "{found:?}");
}

#[test]
fn match_specs_are_read() {
    for (spec, name, version, variant) in [
        ("python=3.10", "python", "3.10.*", None),
        ("pytorch::pytorch=2.1.*", "torch", "2.1.*", None),
        ("pytorch=1.13.1=py3.10_cuda11.7_cudnn8.5.0_0", "torch", "1.13.1", Some("cu117")),
        ("pytorch=2.1.0=py3.10_cpu_0", "torch", "2.1.0", Some("cpu")),
        ("pytorch=2.4.1=cuda118_py310h8b36b8a_0", "torch", "2.4.1", Some("cu118")),
        ("pytorch=2.4.1=*cpu*", "torch", "2.4.1", Some("cpu")),
        ("pytorch-cpu", "torch", "", Some("cpu")),
        ("pytorch-cuda=12.1", "cuda", "12.1.*", None),
        ("cudatoolkit-dev=11.6", "cuda", "11.6.*", None),
        ("cudatoolkit=11.1.74=h6bb024c_0", "cuda", "11.1", None),
        ("cudatoolkit=11.8.0=h6a678d5_0", "cuda", "11.8.0", None),
        ("numpy-base=1.20.3=py37h74d4b33_0", "numpy", "1.20.3", None),
        ("cudatoolkit 11.3", "cuda", "11.3", None),
        ("nvidia/label/cuda-11.8.0::cuda-toolkit", "cuda", "11.8", None),
        ("cuda-version>=12.4,<13", "cuda", ">=12.4,<13", None),
        ("numpy", "numpy", "", None),
        ("scipy>=1.10", "scipy", ">=1.10", None),
        ("pandas==2.1.0", "pandas", "2.1.0", None),
        ("jax=0.4.30|0.4.31", "jax", "0.4.30||0.4.31", None),
    ] {
        let mut found = Found::default();
        package(spec, 1, &mut found);
        let read = found.wanted.first().unwrap_or_else(|| panic!("{spec}: {:?}", found.left));
        assert_eq!(
            (read.name.as_str(), read.version.as_str(), read.variant.as_deref()),
            (name, version, variant),
            "{spec}"
        );
    }
}
