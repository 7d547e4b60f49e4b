//! Tests of `artifact::metadata`.

use super::*;

#[test]
fn metadata_says_what_is_asked_for() {
    let text = "Metadata-Version: 2.1\nName: Flash_Attn\nVersion: 2.8.0+cu128\nRequires-Python: >=3.9\n\
        Requires-Dist: torch (==2.7.0)\nRequires-Dist: nvidia-nccl-cu12==2.26.2; platform_machine == 'x86_64'\n\
        Requires-Dist: ray[cgraph]!=2.44.*,>=2.43.0\nRequires-Dist: fastai; extra == \"x\"\n\
        Requires-Dist: own @ https://a/b.whl\n\nRequires-Dist: no\n";
    let found = metadata(text).unwrap();
    assert_eq!((found.package.as_str(), found.version.as_str()), ("flash-attn", "2.8.0+cu128"));
    let asked: Vec<_> = found.requires.iter().map(|one| (one.package.as_str(), one.range.as_str())).collect();
    let expected = [("torch", "==2.7.0"), ("nvidia-nccl-cu12", "==2.26.2"), ("ray", "!=2.44.*,>=2.43.0"), ("own", "")];
    assert_eq!(asked, expected);
    assert_eq!((found.requires[1].counts_on("x86_64"), found.requires[1].counts_on("aarch64")), (true, false));
    assert_eq!(metadata("Name: only\n"), None);
}

#[test]
fn tags_say_where_it_installs() {
    let tags = tags_of_name("triton-3.0.0-1-cp310-cp310-manylinux2014_x86_64.manylinux_2_17_x86_64.whl").unwrap();
    assert_eq!((tags.glibc(), tags.processors(), tags.lines()), (Some((2, 17)), vec!["x86_64"], vec!["3.10".into()]));
    let tags = tags_of_wheel("Wheel-Version: 1.0\nTag: cp38-abi3-manylinux1_x86_64\nTag: py3-none-any\n");
    assert_eq!((tags.glibc(), tags.lines()), (Some((2, 5)), vec![]));
    for name in ["", ".whl", "a.whl", "a-b.whl", "a-1-py3-none.whl", "torch-2.zip"] {
        assert_eq!(tags_of_name(name), None, "{name}");
    }
}
