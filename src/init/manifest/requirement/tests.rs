//! Requirements as pip writes them, and what is left out of a list.

use super::*;

#[test]
fn requirements_are_read() {
    for (text, name, version, extras) in [
        ("torch==2.5.1+cu124", "torch", "==2.5.1+cu124", &[][..]),
        ("jax[cuda12] >= 0.4, <0.5", "jax", ">=0.4,<0.5", &["cuda12"]),
        ("Flash_Attn", "flash-attn", "", &[]),
        ("torch (>=2.0)", "torch", ">=2.0", &[]),
        ("torch>=2 ; sys_platform == 'linux'", "torch", ">=2", &[]),
        ("uvloop>=0.2; sys_platform!='win32'", "uvloop", ">=0.2", &[]),
        (
            "https://x.org/flash_attn-2.8.3-cp310-cp310-linux_x86_64.whl ; platform_system == 'Linux'",
            "flash-attn",
            "2.8.3",
            &[],
        ),
        (
            "torch @ https://x.org/whl/cu121/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl",
            "torch",
            "2.1.0+cu121",
            &[],
        ),
        (
            "https://x.org/flash_attn-2.5.8+cu122torch2.3-cp310-cp310-linux_x86_64.whl",
            "flash-attn",
            "2.5.8+cu122torch2.3",
            &[],
        ),
    ] {
        let read = read(text, 1).unwrap_or_else(|why| panic!("{text}: {why}"));
        let of_file = if text.contains("cp310") { Some("3.10") } else { None };
        assert_eq!(read.python.as_deref(), of_file, "{text}");
        let seen: Vec<&str> = read.extras.iter().map(String::as_str).collect();
        assert_eq!((read.name.as_str(), read.version.as_str(), &seen[..]), (name, version, extras), "{text}");
    }
}

#[test]
fn a_wheel_for_several_pythons_names_none() {
    for tags in ["cp38-abi3-linux_x86_64", "py3-none-any", "cp310.cp311-cp310-any", "cp310-cp310", ""] {
        assert_eq!(only_python(&tags.split('-').collect::<Vec<_>>()), None, "{tags}");
    }
    assert_eq!(only_python(&["1", "cp36", "cp36m", "linux_x86_64"]).as_deref(), Some("3.6"));
}

#[test]
fn what_is_left_out_has_a_reason() {
    for (text, why) in [
        ("torch; sys_platform == 'darwin'", "another system"),
        ("torch; sys_platform != \"linux\"", "another system"),
        ("torch; sys_platform=='win32'", "another system"),
        ("https://x.org/torch-2.1.0-cp310-cp310-win_amd64.whl ; sys_platform == 'win32'", "another system"),
        ("git+https://github.com/x/y.git", "address"),
        ("detectron2 @ git+https://github.com/x/y.git", "address"),
        ("./local", "this project"),
        ("submodules/simple-knn", "of a folder"),
        ("/opt/thing; sys_platform == 'linux'", "of a folder"),
        (">=2", "not a requirement"),
        ("999", "not a requirement"),
        ("3.11", "not a requirement"),
    ] {
        let told = read(text, 1).expect_err(text);
        assert!(told.contains(why), "{text}: {told}");
    }
    assert!(read("torch; platform_system != 'Darwin'", 1).is_ok());
}
