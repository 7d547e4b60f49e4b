//! What hands GPUs to containers, read from another machine's files.

use gpuenv::host::{ProbeStatus, Record};
use gpuenv::probe::container;

use super::{Scratch, ended};

fn look(scratch: &Scratch) -> Record {
    let mut context = scratch.context(&[("PATH", "/usr/bin")]);
    context.root = scratch.0.clone();
    let mut record = Record::default();
    container::look(&context, &mut record);
    record
}

#[test]
fn a_machine_without_containers_has_none() {
    let record = look(&Scratch::new("none"));
    assert_eq!((ended(&record, "container"), record.container), (ProbeStatus::Absent, None));
}

#[test]
fn configurations_are_read() {
    let scratch = Scratch::new("configured");
    scratch.script("usr/bin/docker", "exit 1");
    scratch.write(
        "etc/docker/daemon.json",
        r#"{"default-runtime": "nvidia", "exec-opts": ["native.cgroupdriver=systemd"], "features": {"cdi": true},
            "runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}}"#,
    );
    scratch.write("etc/nvidia-container-runtime/config.toml", "[nvidia-container-runtime]\nmode = \"legacy\"\n");
    scratch.write(
        "var/lib/dpkg/status",
        "Package: nvidia-container-toolkit-base\nStatus: install ok installed\nVersion: 9.9.9-1\n\n\
         Package: nvidia-container-toolkit\nStatus: install ok installed\nVersion: 1.17.8-1\n\n",
    );
    scratch.write("sys/fs/cgroup/cgroup.controllers", "cpu");
    let found = look(&scratch).container.unwrap();
    assert_eq!(found.runtimes.get("docker").map(String::as_str), Some(""));
    assert_eq!(
        (found.docker_default.as_deref(), &found.docker_runtimes[..]),
        (Some("nvidia"), &["nvidia".to_string()][..])
    );
    assert_eq!(
        (found.docker_cdi, found.cgroup_driver.as_deref(), found.cgroup_version),
        (Some(true), Some("systemd"), Some(2))
    );
    assert_eq!((found.toolkit.unwrap().as_str(), found.mode.as_deref()), ("1.17.8", Some("legacy")));
    assert_eq!(found.dev_char, None);
}

#[test]
fn a_specification_of_an_older_driver_names_what_is_gone() {
    let scratch = Scratch::new("cdi");
    let spec = |release: &str| {
        format!(
            "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ncontainerEdits:\n  mounts:\n  - hostPath: /usr/lib/libcuda.so.{release}\n\
             devices:\n- name: all\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n"
        )
    };
    scratch.write("etc/cdi/nvidia.yaml", &spec("535.183.01"));
    scratch.write("etc/cdi/other.yaml", "kind: example.com/nic\ndevices:\n- name: eth0\n");
    scratch.write("etc/cdi/nvidia-broken.json", "{\"kind\": ");
    scratch.write("var/run/cdi/nvidia.yaml", &spec("570.86.15"));
    scratch.write("usr/lib/libcuda.so.570.86.15", "");
    let found = look(&scratch).container.unwrap().cdi;
    let [broken, old, new] = &found[..] else { panic!("{found:#?}") };
    assert!(broken.fault.is_some() && broken.kind.is_none());
    assert_eq!((old.path.as_str(), old.driver.as_ref().unwrap().as_str()), ("/etc/cdi/nvidia.yaml", "535.183.01"));
    assert_eq!(old.missing, ["/usr/lib/libcuda.so.535.183.01"]);
    assert_eq!(
        (new.driver.as_ref().unwrap().as_str(), &new.missing[..], &new.devices[..]),
        ("570.86.15", &[][..], &["all".to_string()][..])
    );
}

#[test]
fn garbage_in_configurations_is_nothing() {
    for garbage in
        ["", "{", "[]", "\u{1b}[2J", "null", "= = =", "{\"runtimes\": [], \"features\": 3, \"exec-opts\": {}}"]
    {
        let scratch = Scratch::new("garbage");
        for path in ["etc/docker/daemon.json", "etc/nvidia-container-runtime/config.toml", "var/lib/dpkg/status"] {
            scratch.write(path, garbage);
        }
        assert_eq!(look(&scratch).container, None, "{garbage:?}");
    }
}
