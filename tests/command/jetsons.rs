//! Jetsons: the driver comes with the JetPack, whether that is written, or the Ubuntu that it is based on, or nothing.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const CASES: &[Case] = &[
    // It has none of the numbers of servers' drivers.
    case(
        "torch = \"*\"",
        "gpu = \"Orin Nano\"\nos = \"jetpack6.2\"\nimage = \"nvcr.io/nvidia/l4t-jetpack\"",
        0,
        &["driver that of the system (native)", "!lock: driver.minimum", "lock: driver.cuda = \"12.6\""],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Thor\"\nos = \"jetpack7.0\"\ndriver = \"580.00\"",
        0,
        &["that of the system", "!580.65.06", "!lock: driver.minimum"],
    ),
    case("torch = \"*\"", "gpu = \"Jetson AGX Orin\"", 0, &["jetson-driver", "!that of other machines"]),
    // The Ubuntu tells the newest JetPack that is based on it; what is made for it and its driver are taken.
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"ubuntu22.04\"",
        0,
        &["lock: target.t.os = \"jetpack6.2\"", "+cu126", "it counts as jetpack6.2", "CUDA up to 12.6"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"ubuntu20.04\"",
        0,
        &["lock: target.t.os = \"jetpack5.1\"", "+cu114"],
    ),
    case("torch = \"*\"", "gpu = \"Jetson AGX Thor\"\nos = \"ubuntu24.04\"", 0, &["it counts as jetpack7.2"]),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Thor\"\nos = \"ubuntu22.04\"",
        0,
        &["on which no known JetPack for its board is based"],
    ),
    case("torch = \"2.13\"", "gpu = \"Jetson AGX Orin\"\nos = \"ubuntu22.04\"", 3, &["was built for jetpack6.2"]),
    // What comes along has a build for it too, under the number of PyPI's, which is for another CUDA.
    case(
        "torch = \"2.10.0\"\n[packages]\nultralytics = \"*\"",
        "gpu = \"Orin Nano\"\nos = \"jetpack6.2\"",
        0,
        &[
            "package-brings",
            "brings torchvision, whose build for torch 2.10.0",
            "write `torchvision = \"*\"` under [stack]",
        ],
    ),
    case(
        "torch = \"2.10.0\"\ntorchvision = \"*\"\n[packages]\nultralytics = \"*\"",
        "gpu = \"Orin Nano\"\nos = \"jetpack6.2\"",
        0,
        &["!brings torchvision", "lock: torchvision-0.25.0-cp310-cp310-linux_aarch64.whl"],
    ),
    // One that shows an older CUDA is an older JetPack.
    case(
        "torch = \"2.3\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"ubuntu22.04\"\ndriver-cuda = \"12.2\"",
        0,
        &["lock: target.t.os = \"jetpack6.0\""],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"L4\"\nos = \"ubuntu22.04\"",
        0,
        &["!JetPack", "lock: target.t.os = \"ubuntu22.04\""],
    ),
    // Who takes only what is made for a JetPack runs no image of a CUDA that is newer than each of them, cuda-compat included.
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Xavier\"\nimage = \"nvcr.io/nvidia/pytorch:25.06-py3\"",
        1,
        &["no JetPack for Jetson AGX Xavier has a driver for more than CUDA 12.2, not even with cuda-compat"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Xavier\"\nimage = \"nvcr.io/nvidia/pytorch:23.06-py3\"",
        1,
        &["!to nvcr.io/nvidia/pytorch"],
    ),
    // An image for servers is none in the place of one for Jetsons: github.com/remsky/Kokoro-FastAPI/issues/181.
    case(
        "torch = \"2.6\"",
        "gpu = \"Jetson AGX Orin\"\nimage = \"nvcr.io/nvidia/pytorch:25.01-py3-igpu\"",
        3,
        &["whether `nvcr.io/nvidia/pytorch:25.01-py3-igpu` exists", "!25.01-py3`", "!25.01-py3;"],
    ),
    // Source: NVIDIA's table of upgrade packages; github.com/NVIDIA/TensorRT/issues/4300 runs 12.2 on a Xavier.
    case(
        "cuda = \"12.2\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack5.1\"\ntoolkit = \"12.2\"\n[build]",
        0,
        &["install cuda-compat-12-2", "lock: driver.compat = \"cuda-compat-12-2\""],
    ),
    case(
        "cuda = \"11.8\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack5.1\"\n[build]",
        0,
        &["!forward-compat", "(minor-version)"],
    ),
    case(
        "cuda = \"12.4\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack5.1\"\n[build]",
        1,
        &["NVIDIA JetPack 5.1 comes with a driver that supports CUDA up to 11.4"],
    ),
    case(
        "cuda = \"12.2\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack5.1\"\nforward-compat = \"never\"\n[build]",
        1,
        &[],
    ),
    case("cuda = \"13.0\"", "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"\n[build]", 1, &[]),
    // Where no JetPack is written, it is one for the board.
    case("cuda = \"*\"", "gpu = \"Jetson Nano\"\n[build]", 0, &["lock: stack.cuda = \"10.2.89\""]),
    case(
        "cuda = \"12.2\"",
        "gpu = \"Jetson Nano\"\n[build]",
        1,
        &["no JetPack for Jetson Nano has a driver for more than CUDA 10.2"],
    ),
    case("cuda = \"12.2\"", "gpu = \"Jetson AGX Xavier\"\n[build]", 0, &[]),
    case(
        "torch = { version = \"2.9.0\", cuda = \"13.0\", arch-list = \"7.2\", python = \"3.10\" }",
        "gpu = \"Jetson AGX Xavier\"",
        1,
        &["for more than CUDA 12.2, not even with cuda-compat", "facts: os jetpack5.1"],
    ),
    case("cuda = \"13.2\"", "gpu = \"Jetson AGX Orin\"\n[build]", 0, &[]),
];

#[test]
fn the_driver_of_a_jetson_is_that_of_its_jetpack() {
    hold("jetsons", CASES);
}

/// What `torch.utils.collect_env` prints on a JetPack 6.2, whose driver is 540.4.0.
const COLLECTED: &str = "Collecting environment information...\nPyTorch version: 2.8.0\nCUDA used to build PyTorch: 12.6\n\n\
    OS: Ubuntu 22.04.5 LTS (aarch64)\nLibc version: glibc-2.35\n\
    Python platform: Linux-5.15.148-tegra-aarch64-with-glibc2.35\nIs CUDA available: True\n\
    GPU models and configuration: GPU 0: Orin\nNvidia driver version: 540.4.0\n";

#[test]
fn no_number_of_servers_drivers_is_asked_of_a_jetson() {
    let image = "image = \"nvcr.io/nvidia/l4t-jetpack\"";
    let spec = format!("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"Orin Nano\"\nos = \"jetpack6.2\"\n{image}\n");
    let sandbox = Sandbox::new("jetson-numbers", &spec);
    sandbox.run(&["lock"]).exits(0);
    let file = sandbox.run(&["export", "dockerfile"]).exits(0).out;
    assert!(file.contains("NVIDIA_REQUIRE_CUDA=\"arch>=8.7\"") && !file.contains("driver-minimum"), "{file}");
    std::fs::write(sandbox.path("host.txt"), COLLECTED).unwrap();
    sandbox.run(&["verify", "--host", "host.txt"]).tells("pass    driver-minimum");
}

/// cuDNN comes with the JetPack: 9.3.0 with 6.1 and 6.2, as the wheels that are made for them were built with.
const CUDNNS: &[Case] = &[
    case(
        "torch = \"*\"\ncudnn = \"9.9\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"",
        0,
        &["loads cuDNN 9.9.0.52 from the system and brings none"],
    ),
    case(
        "torch = \"*\"\ncudnn = \"9.9\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"\ncudnn = \"9.9.0\"",
        0,
        &["!from the system and brings none"],
    ),
    case("torch = \"*\"\ncudnn = \"9.3\"", "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"", 0, &["!brings none"]),
    case("torch = \"*\"", "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"", 0, &["!brings none"]),
    case(
        "torch = \"*\"\ncudnn = \"8.9\"",
        "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack5.1\"",
        0,
        &["loads cuDNN 8.9."],
    ),
];

#[test]
fn a_cudnn_beside_the_one_of_a_jetpack_is_told() {
    hold("jetson-cudnns", CUDNNS);
}

/// Of a JetPack that the catalog does not list nobody knows for which boards it is.
const UNLISTED: &[Case] = &[
    case("torch = \"*\"", "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.9\"", 0, &["os-not-listed"]),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Thor\"\nos = \"jetpack6.9\"",
        3,
        &["for which boards the JetPack of target `t` is made", "its nearest relative is NVIDIA JetPack 6.2"],
    ),
    case("torch = \"*\"", "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack6.9\"", 3, &["for which boards"]),
    case("cuda = \"*\"", "gpu = \"Jetson AGX Xavier\"\nos = \"jetpack8.0\"\n[build]", 3, &["for which boards"]),
    // What no JetPack changes is as certain as before.
    case("torch = \"99\"", "gpu = \"Jetson AGX Thor\"\nos = \"jetpack6.9\"", 1, &["the newest torch known"]),
    case("torch = \"*\"", "gpu = \"Jetson AGX Thor\"\nos = \"jetpack6.2\"", 1, &["is made for boards of"]),
];

#[test]
fn a_jetpack_that_is_not_listed_refuses_no_board() {
    hold("jetpacks-unlisted", UNLISTED);
}
