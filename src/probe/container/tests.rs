//! Tests of `probe::container`.

use super::*;

const YAML: &str = r#"---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  hooks:
  - args:
    - nvidia-cdi-hook
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15
    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15
    options:
    - ro
  - hostPath: "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.15"
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: all
kind: nvidia.com/gpu
"#;

#[test]
fn specifications_in_both_languages_say_the_same() {
    let yaml = of_yaml(YAML);
    assert_eq!(yaml.kind.as_deref(), Some("nvidia.com/gpu"));
    assert_eq!(yaml.devices, ["0", "all"]);
    assert_eq!(yaml.driver().map(|version| version.to_string()).as_deref(), Some("570.86.15"));
    let json = r#"{"kind": "nvidia.com/gpu", "devices": [{"name": "0"}, {"name": "all"}], "containerEdits":
            {"mounts": [{"hostPath": "/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15", "containerPath": "/x"},
                        {"hostPath": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.15"}]}}"#;
    assert_eq!(of_json(json), yaml);
    for garbage in ["", "{", "[[[[", ":\n:::\n- :", "\u{1b}]0;x\u{7}", "kind", "{\"devices\": 7}"] {
        assert_eq!(of_yaml(garbage).driver(), None);
        assert_eq!(of_json(garbage), Outline::default());
    }
}

#[test]
fn runtimes_say_their_versions_in_many_ways() {
    for (text, wanted) in [
        ("Docker version 27.3.1, build ce12230", "27.3.1"),
        ("podman version 4.9.3", "4.9.3"),
        ("containerd containerd.io 1.7.22 7f7fdf5fed64eb6a7caf99b3e12efcf9d60e311c", "1.7.22"),
        ("containerd github.com/containerd/containerd/v2 v2.0.0 207ad711eabd375a", "2.0.0"),
        ("crio version 1.30.0\nGitCommit: x", "1.30.0"),
        ("3.5.0", "3.5.0"),
        ("apptainer version 1.3.3-1.el9", "1.3.3"),
        ("singularity-ce version 4.1.0", "4.1.0"),
        ("NVIDIA Container Toolkit CLI version 1.17.8\ncommit: x", "1.17.8"),
        ("", ""),
        ("Emulate Docker CLI using podman.", ""),
    ] {
        assert_eq!(first_version(text).map(|version| version.to_string()).unwrap_or_default(), wanted, "{text}");
    }
}
