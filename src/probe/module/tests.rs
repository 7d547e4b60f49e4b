//! Tests of `probe::module`.

use super::*;
use crate::probe::tests::Tree;

const OPEN: &str =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  555.42.02  Release Build  (dvs-builder@U16)\nGCC 12.3";
const CLOSED: &str = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 16:14:05 UTC 2021\n";

#[test]
fn the_module_is_read_from_either_file() {
    let both =
        Tree::new("both").with("sys/module/nvidia/version", "555.42.02\n").with("proc/driver/nvidia/version", OPEN);
    let found = module(&both.with("proc/modules", "nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1").context()).unwrap();
    assert_eq!(found.version.unwrap().as_str(), "555.42.02");
    assert_eq!((found.flavour.as_deref(), found.uvm, found.nouveau), (Some("open"), Some(true), Some(false)));

    let found = module(&Tree::new("proc").with("proc/driver/nvidia/version", CLOSED).context()).unwrap();
    assert_eq!(found.version.unwrap().as_str(), "470.57.02");
    assert_eq!((found.flavour.as_deref(), found.uvm), (Some("proprietary"), None));
    assert_eq!(found.path.as_deref(), Some("/proc/driver/nvidia/version"));

    assert_eq!(module(&Tree::new("hidden").context()), None);
    let nouveau = module(&Tree::new("nouveau").with("sys/module/nouveau/refcnt", "1").context()).unwrap();
    assert_eq!((nouveau.version, nouveau.nouveau), (None, Some(true)));
    let rubbish = Tree::new("rubbish").with("sys/module/nvidia/version", "\u{1b}[31mN/A\n");
    assert_eq!(module(&rubbish.context()).unwrap().version, None);
}

#[test]
fn gpus_on_the_bus_are_nvidias_displays() {
    let device = |tree: Tree, address: &str, vendor: &str, class: &str| {
        let at = |name| format!("sys/bus/pci/devices/{address}/{name}");
        tree.with(&at("vendor"), vendor).with(&at("class"), class).with(&at("device"), "0x2335\n")
    };
    let tree = device(Tree::new("pci"), "0000:65:00.0", "0x10de\n", "0x030200\n");
    let tree = device(tree, "0000:65:00.1", "0x10de\n", "0x040300\n");
    let tree = device(tree, "0000:00:02.0", "0x8086\n", "0x030000\n");
    let tree = tree.link("sys/bus/pci/devices/0000:65:00.0/driver", "../../../bus/pci/drivers/vfio-pci");
    let found = pci(&tree.context());
    let expected = PciGpu {
        address: "0000:65:00.0".to_string(),
        device: Some("2335".to_string()),
        driver: Some("vfio-pci".to_string()),
    };
    assert_eq!(found, [expected]);
}

#[test]
fn nodes_follow_the_kind_of_system() {
    let tree = Tree::new("nodes").with("dev/nvidia10", "").with("dev/nvidia2", "").with("dev/nvidiactl", "");
    let tree = tree.with("dev/nvidia-modeset", "").with("dev/nvhost-ctrl", "");
    let of = |system| paths(&tree.context(), Some(system));
    assert_eq!(of(System::Linux), ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia2", "/dev/nvidia10"]);
    assert_eq!(of(System::Tegra)[..2], ["/dev/nvmap", "/dev/nvidia2"]);
    assert_eq!(recorded(&tree.context(), "/dev/nvidia2").errno, None);
    assert_eq!(recorded(&tree.context(), "/dev/nvidia3").errno.as_deref(), Some("ENOENT"));
}
