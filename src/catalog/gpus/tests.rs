//! Names of GPUs as people, shops and drivers write them.

use super::super::BUILTIN;
use super::*;

fn cc(name: &str) -> String {
    match BUILTIN.gpu(name) {
        GpuMatch::Found(gpus) => gpus[0].cc.to_string(),
        GpuMatch::Bare(cc) => format!("bare {cc}"),
        GpuMatch::Cpu => "cpu".into(),
        GpuMatch::Ambiguous(gpus) => format!("ambiguous: {:?}", gpus.iter().map(|g| &g.name).collect::<Vec<_>>()),
        GpuMatch::Unknown => format!("unknown, near {:?}", BUILTIN.near_gpus(name)),
    }
}

fn names(name: &str) -> Vec<&'static str> {
    match BUILTIN.gpu(name) {
        GpuMatch::Found(gpus) => gpus.into_iter().map(|gpu| &*gpu.name).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Names as they stand in nvidia-smi output and reports of real machines.
const REAL: &[(&str, &str)] = &[
    ("2.1", "NVS 4200M"),
    ("3.0", "GeForce GT 750M, Quadro K2000"),
    ("3.5", "Tesla K40m, Tesla K40, K20X"),
    ("3.7", "Tesla K80"),
    ("3.0", "GRID K1, GRID K2, GeForce GTX 870M"),
    ("5.0", "Tesla M10, M10, GRID M10-8Q"),
    ("5.2", "Tesla M60, Quadro M2000"),
    ("5.3", "NVIDIA Tegra X1, Jetson Nano"),
    ("6.0", "Tesla P100-PCIE-16GB, Tesla P100, P100"),
    ("6.1", "NVIDIA GeForce GTX 1050, NVIDIA GeForce GTX 1050 Ti, NVIDIA GeForce GTX 1060 6GB, GTX 1060 6GB"),
    ("6.1", "NVIDIA GeForce GTX 1080, NVIDIA GeForce GTX 1080 Ti, GTX1080Ti, NVIDIA P104-100"),
    ("6.1", "TITAN Xp, TITAN X (Pascal)"),
    ("7.0", "Tesla V100, Tesla V100-PCIE-16GB, Tesla V100-PCIE-32GB, Tesla V100-SXM2-32GB, V100"),
    ("7.0", "Tesla V100S-PCIE-32GB, TITAN V"),
    ("7.5", "GeForce GTX 1660 Ti, NVIDIA GeForce GTX 1660 Ti, GeForce RTX 2080 Ti, NVIDIA GeForce RTX 2080 Ti"),
    ("7.5", "NVIDIA GeForce RTX 2060, NVIDIA GeForce RTX 2070, NVIDIA GeForce RTX 2070 SUPER"),
    ("7.5", "NVIDIA GeForce RTX 2080 Super, NVIDIA TITAN RTX, Quadro RTX 6000, Quadro RTX 8000, Tesla T4, T4"),
    ("8.0", "A100, NVIDIA A100-PCIE-40GB, A100-SXM4-40GB, NVIDIA A100-SXM4-80GB, NVIDIA A100 80GB PCIe"),
    ("8.0", "NVIDIA A100-SXM-64GB, NVIDIA A800-SXM4-80GB, NVIDIA A30, GRID A100X-40C, NVIDIA PG509-210"),
    ("8.6", "NVIDIA A10, A10, NVIDIA A10G, NVIDIA A16, RTX A6000, NVIDIA RTX A6000, A6000, NVIDIA A40"),
    ("8.6", "NVIDIA GeForce RTX 3050 Laptop GPU, NVIDIA GeForce RTX 3050 Ti Laptop GPU, NVIDIA GeForce RTX 3060"),
    ("8.6", "NVIDIA GeForce RTX 3060 Laptop GPU, NVIDIA GeForce RTX 3070 Laptop GPU, NVIDIA GeForce RTX 3080"),
    ("8.6", "NVIDIA GeForce RTX 3080 Ti, NVIDIA GeForce RTX 3090, RTX 3090, NVIDIA GeForce RTX 3090 Ti, RTX3090"),
    ("8.7", "Orin, NVIDIA Orin, Jetson AGX Orin, Jetson Orin, Jetson Orin Nano"),
    ("8.9", "NVIDIA GeForce RTX 4060, NVIDIA GeForce RTX 4060 Ti, NVIDIA GeForce RTX 4070 Laptop GPU"),
    ("8.9", "NVIDIA GeForce RTX 4080, NVIDIA GeForce RTX 4080 Laptop GPU, NVIDIA GeForce RTX 4080 SUPER"),
    ("8.9", "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090 D, NVIDIA L4, L4, NVIDIA L20, NVIDIA L40, NVIDIA L40S"),
    ("8.9", "NVIDIA L40S-48C, NVIDIA RTX 4000 Ada Generation, NVIDIA RTX 4500 Ada Generation"),
    ("8.9", "NVIDIA RTX 5000 Ada Generation, NVIDIA RTX 6000 Ada Generation, RTX 6000 Ada"),
    ("9.0", "H100, NVIDIA H100, H100 NVL, NVIDIA H100 PCIe, NVIDIA H100 80GB HBM3, NVIDIA H200, NVIDIA H800"),
    ("9.0", "GH200, NVIDIA GH200 480GB, GH200 480GB, NVIDIA GH200 144G HBM3e"),
    ("10.0", "NVIDIA B200, GB200"),
    ("10.3", "B300, GB300"),
    ("11.0", "NVIDIA Thor, Thor, Jetson AGX Thor"),
    ("12.0", "NVIDIA GeForce RTX 5070, NVIDIA GeForce RTX 5080 Laptop GPU, NVIDIA GeForce RTX 5090, RTX 5090, 5090"),
    ("12.0", "NVIDIA GeForce RTX 5060 Ti, NVIDIA RTX PRO 5000 Blackwell"),
    ("12.0", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition, NVIDIA RTX PRO 6000 Blackwell Max-Q"),
    ("12.0", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition, NVIDIA RTX PRO 1000 Blac..."),
    ("12.1", "NVIDIA GB10, GB10, DGX Spark"),
    ("7.0", "DGX-2, GRID V100D-32C, GRID V100DX-16Q, V100S-8Q"),
    ("7.5", "Tesla T10, GTX 1660 Ti Max-Q, NVIDIA GeForce GTX 1660 Ti with Max-Q Design, RTX 2080 Max-Q, GRID T4-16C"),
    ("8.0", "DGX A100, NVIDIA DGX A100, GRID A100D-40C, NVIDIA A100D-80C, GRID A100D-1-10C, GRID A100DX-40C"),
    ("8.0", "NVIDIA A100-SXM4-80GB MIG 1g.10gb, A100-SXM4-40GB MIG 1c.3g.20gb, NVIDIA A30 MIG 2g.12gb+me"),
    (
        "9.0",
        "DGX H100, DGX H200, NVIDIA H100 80GB HBM3 MIG 1g.10gb+me, NVIDIA-H100-80GB-HBM3-MIG-1g.10gb, NVIDIA H100XM-80C, NVIDIA H100L-94C",
    ),
    ("10.0", "DGX B200"),
    ("bare 9.0", "sm_90, 9.0, SM_90"),
    ("cpu", "none, None"),
];

#[test]
fn real_names_are_found() {
    for (wanted, list) in REAL {
        for name in list.split(", ") {
            assert_eq!(cc(name), *wanted, "{name}");
        }
    }
}

#[test]
fn names_of_different_silicon_are_ambiguous() {
    for name in
        ["RTX 5000", "RTX 4000", "RTX 6000", "GTX 750", "GT 730", "GeForce GT 740M", "TITAN X", "NVIDIA GeForce ..."]
    {
        assert!(matches!(BUILTIN.gpu(name), GpuMatch::Ambiguous(_)), "{name}: {}", cc(name));
    }
}

#[test]
fn whole_names_win_over_families_and_families_are_whole_words() {
    assert_eq!(names("RTX 3090"), ["NVIDIA GeForce RTX 3090"]);
    assert_eq!(names("A10"), ["NVIDIA A10"]);
    assert_eq!(names("L40"), ["NVIDIA L40"]);
    assert!(names("H100").len() > 3 && names("H100").contains(&"NVIDIA H100 NVL"));
    assert!(names("Tesla V100").iter().all(|name| name.starts_with("Tesla V100-")));
}

#[test]
fn a_laptop_is_what_pci_ids_calls_mobile() {
    for (name, board) in [
        ("RTX 4060 Mobile", "NVIDIA GeForce RTX 4060 Laptop GPU"),
        ("GeForce RTX 4060 Max-Q / Mobile", "NVIDIA GeForce RTX 4060 Laptop GPU"),
        ("GeForce RTX 3080 Mobile / Max-Q 8GB/16GB", "NVIDIA GeForce RTX 3080 Laptop GPU"),
        ("RTX A2000 Mobile", "NVIDIA RTX A2000 Laptop GPU"),
        ("Quadro T1000 Mobile", "Quadro T1000"),
        ("GTX 1050 Mobile", "NVIDIA GeForce GTX 1050"),
        ("GeForce RTX 2070 Mobile / Max-Q Refresh", "NVIDIA GeForce RTX 2070"),
    ] {
        assert_eq!(names(name), [board], "{name}");
    }
    for name in ["Mobile", "RTX 4061 Mobile"] {
        assert!(matches!(BUILTIN.gpu(name), GpuMatch::Unknown), "{name}");
    }
}

#[test]
fn a_family_is_every_product_that_its_name_begins() {
    assert!(cc("Titan").starts_with("ambiguous") && cc("GTX TITAN") == "3.5" && cc("TITAN Black") == "3.5");
    assert!(cc("RTX PRO 6000") == "12.0" && cc("RTX PRO 6000 Blackwell") == "12.0");
    assert!(cc("RTX 4090D") == "8.9" && cc("RTX 5090D") == "12.0" && cc("ASUS Ascent GX10") == "12.1");
    let sxm = names("A100 SXM");
    assert!(sxm.contains(&"NVIDIA A100-SXM4-40GB") && sxm.contains(&"NVIDIA A100-SXM-64GB"), "{sxm:?}");
    assert_eq!(names("RTX 3050 6GB"), ["NVIDIA GeForce RTX 3050 6GB Laptop GPU", "NVIDIA GeForce RTX 3050"]);
    // A vGPU type has the whole name of its board.
    assert_eq!(names("GRID RTX6000-4Q"), ["Quadro RTX 6000"]);
    assert_eq!(names("NVIDIA RTXA6000-48Q"), ["NVIDIA RTX A6000"]);
    // Some types name the board by a letter that no other name of it has.
    assert_eq!(names("GRID P100C-12Q"), ["Tesla P100-PCIE-12GB"]);
    assert_eq!(names("GRID RTX6000P-24Q"), ["Quadro RTX 6000"]);
    assert_eq!(names("NVIDIA H200X-141C"), ["NVIDIA H200"]);
}

#[test]
fn unknown_names_are_not_guessed() {
    for name in ["", "NVIDIA", "RTX", "NVIDIA vGPU-48GB", "L20-2-PCIE-48GB-48GB-L-H-V", "Radeon VII", "-", "..."] {
        assert!(!matches!(BUILTIN.gpu(name), GpuMatch::Found(_)), "{name:?}: {}", cc(name));
    }
    for name in
        ["NVIDIA A100-SXM4-80GB MIG", "RTX 3090 MIG 1g.gb", "NVIDIA GeForce RTX 3090-8Q", "MIG 1g.10gb", "DGX-1"]
    {
        assert!(!matches!(BUILTIN.gpu(name), GpuMatch::Found(gpus) if gpus.len() == 1), "{name:?}: {}", cc(name));
    }
    // No board is cut into nine, and this one has no more memory than it says.
    for name in ["NVIDIA A100-SXM4-80GB MIG 9g.80gb", "NVIDIA A100-SXM4-80GB MIG 1g.99gb"] {
        assert_eq!(BUILTIN.gpu(name), GpuMatch::Unknown, "{name}");
        assert!(BUILTIN.without_cuda(name).is_some(), "{name}");
    }
    let unknown = |name| {
        assert_eq!(BUILTIN.gpu(name), GpuMatch::Unknown, "{name} is found");
        BUILTIN.near_gpus(name)
    };
    // A board is told apart by its number.
    for name in ["DGX A400X", "Tesla T109", "GTX A1007"] {
        let near = unknown(name);
        assert!(!near.iter().any(|one| one.contains("1050") || one.contains("T1000")), "{name}: {near:?}");
    }
    let near = unknown("RTX 3091");
    assert_eq!(near[0], "NVIDIA GeForce RTX 3090");
    assert_eq!(unknown("4090ti")[0], "NVIDIA GeForce RTX 4090");
    for (name, board) in [("4090ti", "NVIDIA GeForce RTX 4090"), ("h100sxm", "NVIDIA H100")] {
        let near = unknown(name);
        assert!(near[0].starts_with(board), "{name}: {near:?}");
    }
    for (name, board) in [
        ("RTX 6000 Pro", "NVIDIA RTX Pro 6000"),
        ("RTXPro6000D", "NVIDIA RTX PRO 6000D"),
        ("rack of GB300", "NVIDIA GB300"),
        ("A100-SXM-80GB", "NVIDIA A100-SXM4-80GB"),
        ("MSI GeForce RTX 4090 Gaming X Trio", "NVIDIA GeForce RTX 4090"),
        ("ASUS TUF 3080", "NVIDIA GeForce RTX 3080"),
        ("EVGA 3090 FTW3", "NVIDIA GeForce RTX 3090"),
        ("Gigabyte AORUS RTX 4080 Super Master 16G", "NVIDIA GeForce RTX 4080 SUPER"),
        ("ZOTAC GAMING GeForce RTX 3060 Ti Twin Edge", "NVIDIA GeForce RTX 3060 Ti"),
        ("PNY RTX A6000", "NVIDIA RTX A6000"),
        // Letters for digits, and a type that there is not of a board that there is.
        ("A1OO", "NVIDIA A100"),
        ("Tesla V10O", "Tesla V100"),
        ("RTX 4O9O", "NVIDIA GeForce RTX 4090"),
        ("GRID A100D-99Z", "NVIDIA A100"),
    ] {
        let near = unknown(name);
        assert!(near[0].to_lowercase().starts_with(&board.to_lowercase()), "{name}: {near:?}");
    }
    let near = unknown("Jetson AGX Orino");
    assert_eq!(near[0], "Jetson AGX Orin");
}

#[test]
fn what_shops_write_behind_a_name_is_no_other_board() {
    for (name, board) in [
        ("RTX 4060 Ti 16GB", "NVIDIA GeForce RTX 4060 Ti"),
        ("RTX 3060 12 GB", "NVIDIA GeForce RTX 3060"),
        ("L4 (24GB)", "NVIDIA L4"),
        ("RTX 3060 12G", "NVIDIA GeForce RTX 3060"),
        ("GTX 1060 6G", "NVIDIA GeForce GTX 1060 6GB"),
        ("GTX 1060 6GB", "NVIDIA GeForce GTX 1060 6GB"),
        ("Jetson AGX Orin 64GB", "Orin"),
        ("NVIDIA Jetson AGX Orin Developer Kit", "Orin"),
        ("Jetson Orin Nano 8GB Developer Kit", "Orin"),
    ] {
        assert_eq!(names(name), [board], "{name}");
    }
    for name in ["64GB", "RTX GB", "RTX 3091 24GB", "Developer Kit"] {
        assert!(matches!(BUILTIN.gpu(name), GpuMatch::Unknown), "{name}: {}", cc(name));
    }
}

/// HGX and racks are called after their boards, memory is written with and without its B, and pci.ids names boards of one chip
/// together. The board that no list of NVIDIA's has: github.com/liangrj2014/ISPD25_contest/issues/29.
#[test]
fn systems_and_boards_of_one_chip_are_what_they_are_called_after() {
    for (name, same) in [
        ("HGX B200", "DGX B200"),
        ("NVIDIA HGX A100", "DGX A100"),
        ("GB300 NVL72", "GB300"),
        ("GB200 NVL4", "GB200"),
        ("A100 80G", "A100 80GB"),
        ("A100 40G", "A100 40GB"),
        ("H100 80g", "H100 80GB"),
        ("H100 NVL", "NVIDIA H100 NVL"),
    ] {
        assert_eq!(names(name), names(same), "{name}");
    }
    assert_eq!(names("Quadro RTX 6000/8000"), ["Quadro RTX 6000", "Quadro RTX 8000"]);
    assert_eq!(cc("PG506-230"), "8.0");
    for name in ["HGX", "HGX RTX 4090", "RTX 5090 NVL72", "NVL72", "H100 NVLink", "RTX 4090/A100", "/"] {
        assert!(!matches!(BUILTIN.gpu(name), GpuMatch::Found(_)), "{name}: {}", cc(name));
    }
}

#[test]
fn a_capability_may_imply_a_processor() {
    let of = |text: &str| BUILTIN.cpu_of(Cc::parse(text).unwrap());
    assert_eq!(of("11.0"), Some(CpuArch::Aarch64));
    assert_eq!(of("8.7"), Some(CpuArch::Aarch64));
    assert_eq!((of("9.0"), of("10.3"), of("13.0")), (None, None, None));
}

#[test]
fn arm_products_say_so() {
    for name in ["GH200", "GB200", "GB300", "GB10", "Orin", "NVIDIA Thor", "Jetson Nano"] {
        let GpuMatch::Found(gpus) = BUILTIN.gpu(name) else { panic!("{name}") };
        assert!(gpus.iter().all(|gpu| gpu.cpu == Some(CpuArch::Aarch64)), "{name}");
    }
}
