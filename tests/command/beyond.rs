//! Machines that have what the catalog does not know yet, or not at all: they are judged as the nearest that is known, and
//! what has no answer so is undetermined, not a conflict.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const CASES: &[Case] = &[
    // A driver that shows CUDA 13.5 may be out; a known one shows what it shows.
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"cuda>=13.5\"",
        3,
        &["which driver meets `cuda>=13.5`: the newest branch known is R615, which shows CUDA 13.4"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver = \"900\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"cuda>=13.9\"",
        3,
        &["which CUDA version driver 900 shows", "write it as `driver-cuda`"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver = \"580.65.06\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"cuda>=13.9\"",
        1,
        &[
            "`driver = \"580.65.06\"` is incompatible with `image-requires = \"cuda>=13.9\"`",
            "driver 580.65.06 supports CUDA up to 13.0",
        ],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver = \"<=615\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"cuda>=13.5\"",
        1,
        &["is incompatible with `image-requires"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver-cuda = \"13.6\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"cuda>=13.5\"",
        0,
        &["newer-than-catalog"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\nimage = \"ghcr.io/a/b:1\"\nimage-requires = \"brand=geforce,driver>=999\"",
        1,
        &["`gpu = \"A100\"`"],
    ),
    // The compiler of a system that nobody lists is not that of its relative.
    case(
        "torch = \"2.5\"\n[build]",
        "gpu = \"A100\"\nos = \"ubuntu28.04\"",
        3,
        &["the catalog does not list it; its nearest relative, Ubuntu 26.04 LTS, has", "`gcc --version`"],
    ),
    case("torch = \"2.5\"\n[build]", "gpu = \"A100\"\nos = \"debian15\"", 3, &["the catalog does not list it"]),
    case("torch = \"2.5\"\n[build]", "gpu = \"A100\"\nos = \"fedora50\"", 3, &["the catalog does not list it"]),
    case("torch = \"2.5\"\n[build]", "gpu = \"A100\"\nos = \"ubuntu28.04\"\ngcc = \"15\"", 1, &["gcc"]),
    case(
        "torch = \"2.5\"\n[build]",
        "gpu = \"A100\"\nos = \"ubuntu28.04\"\ngcc = \"13\"\nglibc = \"2.39\"",
        0,
        &["os-not-listed"],
    ),
    case("torch = \"2.5\"\n[build]", "gpu = \"A100\"\nos = \"ubuntu26.04\"", 1, &["gcc 15.2.0"]),
    // A toolkit that is newer than all goes with what is built for its major, whatever else it takes.
    case(
        "torch = \"2.15\"\n[build]",
        "gpu = \"A100\"\nos = \"ubuntu24.04\"\ntoolkit = \"13.6\"",
        3,
        &["what CUDA toolkit 13.6 takes: the newest known is 13.5.0; the catalog is of 2026."],
    ),
    case("torch = \"2.15\"\n[build]", "gpu = \"A100\"\nos = \"ubuntu24.04\"\ntoolkit = \"14.0\"", 3, &["toolkit 14.0"]),
    case("torch = \"2.5.1\"\n[build]", "gpu = \"A100\"\nos = \"ubuntu24.04\"\ntoolkit = \"13.6\"", 1, &["same major"]),
    case("torch = \"2.15\"\n[build]", "gpu = \"A100\"\ntoolkit = [\"13.6\", \"13.2\"]", 0, &["13.2"]),
    // Releases that no list has are told, on Windows those from before the first of their branch.
    case(
        "torch = \"2.5\"",
        "gpu = \"A100\"\ndriver = \"535.55\"",
        0,
        &["535.55 is not in the catalog, which has 535.54.03"],
    ),
    case("torch = \"2.5\"", "gpu = \"A100\"\ndriver = \"535.100.99\"", 0, &["driver-not-listed"]),
    case("torch = \"2.5\"", "gpu = \"A100\"\ndriver = \"580.70.01\"", 0, &["driver-not-listed"]),
    case("torch = \"2.5\"", "gpu = \"A100\"\ndriver = \"535.183.01\"", 0, &["!driver-not-listed"]),
    case("torch = \"2.5\"", "gpu = \"A100\"\ndriver = \"535.183\"", 0, &["!driver-not-listed"]),
    case(
        "torch = \"2.9\"",
        "gpu = \"RTX 4090\"\nplatform = \"wsl2\"\ndriver = \"555.12\"",
        0,
        &["555.12 is not in the catalog, whose oldest of branch R555 is 555.85"],
    ),
    case("torch = \"2.9\"", "gpu = \"RTX 4090\"\nplatform = \"wsl2\"\ndriver = \"556.12\"", 0, &["!driver-not-listed"]),
    // The lock pins no patch release of Python.
    case("torch = \"2.8\"\npython = \"3.12.99\"", "gpu = \"A100\"", 0, &["Python 3.12.99 counts as 3.12"]),
    case("torch = \"2.8\"\npython = \">=3.10.4\"", "gpu = \"A100\"", 0, &["!python-patch"]),
    // What the container toolkit prints in its errors. Source: github.com/docker/model-runner/issues/978.
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver = \"535.183.01\"\nimage = \"ghcr.io/a/b:1\"\n\
         image-requires = \"cuda>=13.3||brand=tesla&&driver>=535 && driver<536\"",
        0,
        &[],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"A100\"\ndriver = \"550.54.14\"\nimage = \"ghcr.io/a/b:1\"\n\
         image-requires = \"cuda>=13.3||brand=tesla&&driver>=535&&driver<536\"",
        1,
        &["starts only where `cuda>=13.3 brand=tesla,driver>=535,driver<536` holds"],
    ),
    // Variants that nobody saw, where the index was not read whole and no rule speaks of them.
    case("torch = \"2.8.0+cu127\"", "gpu = \"A100\"", 3, &["whether torch 2.8.0+cu127 was published"]),
    case("torch = \"2.9.1+cu131\"", "gpu = \"A100\"", 3, &["whether torch 2.9.1+cu131 was published"]),
    case("torch = \"2.10.0+cu131\"", "gpu = \"A100\"", 3, &["whether torch 2.10.0+cu131 was published"]),
    case("torch = \"2.9.1+cu132\"", "gpu = \"A100\"", 1, &["nor for CUDA 13.2"]),
    case("torch = \"2.5.1+cu127\"", "gpu = \"A100\"", 1, &["only as of"]),
];

/// Sentences that told of something else than what decides.
const WORDS: &[Case] = &[
    case(
        "torch = \"2.8\"",
        "gpu = \"RTX 4090\"\ndriver = \"535\"\nimage = \"ghcr.io/me/x:1\"\n\
         image-requires = \"cuda>=12.8 brand=tesla,driver>=535,driver<536\"",
        1,
        &["RTX 4090 is of one of the brands `geforce`, `geforcertx`", "!has compute capability"],
    ),
    case(
        "torch = \"*\"\nnccl = \"2.25\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:25.02-py3\"",
        3,
        &[
            "which NCCL comes with the torch 2.7.0 in `nvcr.io/nvidia/pytorch:25.02-py3`",
            "docker run --rm",
            "!METADATA",
        ],
    ),
    case(
        "torch = \"2.14.1+cu126\"\npython = \"3.9\"",
        "gpu = \"V100\"",
        1,
        &["has wheels for Python 3.10 to 3.15 as of", "3.12 and 3.13 were seen", "!only", "!listing torch 2.8.0"],
    ),
    case(
        "torch = { version = \"2.9.0\", cuda = \"12.8\", arch-list = \"12.0\", python = \"3.16\" }",
        "gpu = \"RTX 5090\"",
        1,
        &["your build of torch 2.9.0 is for Python 3.16 only; the newest Python known is 3.15", "!as of"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"H100 NVL\"\nplatform = \"wsl2\"",
        0,
        &["first listed in driver 535.104.05 of Linux, of branch R535; 528.33 of Windows"],
    ),
    case("torch = \"2.15\"", "gpu = \"A100-SXM6-160GB\"", 2, &["NVIDIA A100", "sm_80", "!P100"]),
    case("torch = \"2.15\"", "gpu = \"RTX PRO 7000 Rubin\"", 2, &["RTX PRO", "!Quadro"]),
];

/// Numbers, tags and nightlies of which nobody has read whether they are.
const BETWEEN: &[Case] = &[
    // 581 is a number of Windows' driver, which nvidia-smi shows under WSL2 too, and drives what R580 does.
    case(
        "torch = \"2.8\"",
        "gpu = \"GTX 1080 Ti\"\ndriver = \"581.29\"",
        0,
        &["judged as branch R580", "under WSL2 write `platform = \"wsl2\"`"],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"GTX 970\"\ndriver = \"585\"",
        0,
        &["judged as branch R580", "`platform = \"wsl2\"`"],
    ),
    case("torch = \"2.8\"", "gpu = \"GTX 1080 Ti\"\ndriver = \"595.58.03\"", 1, &["Branch 580 is the last"]),
    case("torch = \"2.8\"", "gpu = \"GTX 1080 Ti\"\ndriver = \"900\"", 1, &["Branch 580 is the last", "!wsl2"]),
    // No registry was read, so a tag that is not known may be there, of whatever release.
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.6.0-cuda12.9-cudnn9-runtime\"",
        3,
        &[
            "whether `pytorch/pytorch:2.6.0-cuda12.9-cudnn9-runtime` exists",
            "the nearest that is known is `pytorch/pytorch:2.6.0-cuda12.",
        ],
    ),
    case(
        "torch = \"2.8\"",
        "gpu = \"H100\"\nimage = \"pytorch/pytorch:latest\"",
        3,
        &["whether `pytorch/pytorch:latest` exists", "the nearest that is known is `pytorch/pytorch:2."],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.4.9-base-ubuntu22.04\"",
        1,
        &["nvidia/cuda has no tag `12.4.9-base-ubuntu22.04`"],
    ),
    // Nightlies are kept for some weeks, on an index that nobody has read.
    case(
        "torch = \"1.14.0.dev20221101+cu117\"",
        "gpu = \"A100\"",
        3,
        &["whether torch 1.14.0.dev20221101+cu117 was published", "as a build of your own"],
    ),
    case("torch = \"2.8.1.dev20250801+cu128\"", "gpu = \"A100\"", 3, &["whether torch 2.8.1.dev20250801+cu128"]),
    case("torch = \"2.8.0.dev20250327+cu128\"", "gpu = \"A100\"", 0, &["judged as the release 2.8.0"]),
    case(
        "torch = \"2.99.0.dev20261101+cu132\"",
        "gpu = \"A100\"",
        1,
        &["newer-than-catalog", "`{ version = \"…\", cuda = \"…\", arch-list = \"…\" }`"],
    ),
    case("torch = \"2.99\"", "gpu = \"A100\"", 1, &["newer-than-catalog", "!arch-list"]),
    // Of a package that has no release yet, what is written of that release is not what precedes it.
    case("torch = \"*\"\nflash-attn-4 = \"*\"", "gpu = \"H100 NVL\"", 0, &["lock: 4.0.0b"]),
    case("torch = \"*\"\nflash-attn-4 = \"4\"", "gpu = \"H100 NVL\"", 0, &["lock: 4.0.0b"]),
    case("torch = \"*\"\nflash-attn-4 = \">=4.0.0b30\"", "gpu = \"H100 NVL\"", 0, &["lock: 4.0.0b"]),
    case("torch = \"*\"\nflash-attn-4 = \"4.0.0\"", "gpu = \"H100 NVL\"", 1, &["flash-attn-4 4.0.0", "4.0.0b"]),
    case("torch = \"*\"\nflash-attn-4 = \">=4.0.0\"", "gpu = \"H100 NVL\"", 1, &["flash-attn-4", "4.0.0b"]),
    // What is older than all that are listed has no more than the oldest of them.
    case(
        "torch = \"2.9\"",
        "gpu = \"A100\"\nos = \"ubuntu12.04\"",
        3,
        &["its nearest relative, Ubuntu 14.04 LTS, has glibc 2.19"],
    ),
    case("torch = \"2.9\"", "gpu = \"A100\"\nos = \"fedora25\"", 3, &["nearest relative, Fedora 26, has"]),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack3.3\"",
        1,
        &["is not in the catalog and is judged as NVIDIA JetPack 4.4", "is made for boards"],
    ),
    // Whether an older torch fits an older toolkit is as open as for an older CUDA.
    case("torch = \"*\"\n[build]", "gpu = \"GTX 980\"\ntoolkit = [\"7.5\"]", 3, &["whether a torch older than"]),
    // What is told of the newest release is that of the machine in question, and of a range where it ends.
    case(
        "torch = \"*\"\nxformers = \"0.0.99\"",
        "gpu = \"H100 NVL\"\narch = \"x86_64\"",
        1,
        &["the newest xformers known is", "it is for torch >=2.10;"],
    ),
    case(
        "jax = \"0.4.28\"\ntorch = \"2.5.1\"",
        "gpu = \"H100 NVL\"",
        1,
        &["cuDNN <9.0,>=8.9.2.26", "!8.9.2.26 or newer"],
    ),
];

#[test]
fn what_lies_between_is_no_never() {
    hold("between", BETWEEN);
}

/// What pip cannot be told is not what comes next.
#[test]
fn the_next_command_is_one_that_works() {
    let spec = "[stack]\ntorch = \"2.13.0\"\nxformers = \"0.0.35\"\n[target.t]\ngpu = \"A100\"\n";
    let place = Sandbox::new("beyond-next", spec);
    let told = place.run(&["lock"]).exits(0);
    assert_eq!(place.run(&["export", "requirements"]).code, 2, "pip can be told: another spec has to be found");
    assert!(!format!("{told:?}").contains("export requirements"), "{told:?}");
    place.run(&["lock", "--fresh"]).exits(0);
    place.run(&["export", "uv"]).exits(0);
}

/// The catalog that a lock was made with has withdrawn nothing that the lock names, and drivers belong on hosts.
#[test]
fn an_edited_fact_and_a_containers_system_are_told_as_what_they_are() {
    let spec = "[stack]\ntorch = \"2.14\"\n[target.t]\ngpu = \"L40S\"\nos = \"ubuntu24.04\"\n";
    let place = Sandbox::new("beyond-edited", spec);
    place.run(&["lock"]).exits(0);
    place.run(&["explain", "driver"]).exits(0).tells("`apt install");
    let lock = std::fs::read_to_string(place.path("gpuenv.lock")).unwrap();
    let (_, rest) = lock.split_once("id = \"torch-2.14").unwrap();
    let id = format!("torch-2.14{}", rest.split('"').next().unwrap());
    std::fs::write(place.path("gpuenv.lock"), lock.replace(&id, "torch-2.14.0-cu99-linux-x86_64")).unwrap();
    let told = place.run(&["lock", "--check"]).exits(1).says("the catalog has no `torch-2.14.0-cu99-linux-x86_64`");
    assert!(!told.err.contains("withdrawn"), "{told:?}");
    place.write(&format!("{spec}runtime = \"container\"\n"));
    place.run(&["lock", "--fresh"]).exits(0);
    let told = place.run(&["explain", "driver"]).exits(0);
    assert!(!told.out.contains("apt install"), "{told:?}");
}

#[test]
fn what_decides_is_told() {
    hold("words", WORDS);
}

#[test]
fn what_lies_beyond_the_catalog_is_no_conflict() {
    hold("beyond", CASES);
}

#[test]
fn what_is_newer_than_the_catalog_has_its_code() {
    let spec = "[stack]\ntorch = \"2.15\"\n[build]\n[target.t]\ngpu = \"A100\"\ntoolkit = \"13.6\"\n";
    let (code, told) = Sandbox::new("beyond-code", spec).json(&["lock"]);
    assert_eq!((code, &told["unknowns"][0]["code"]), (3, &"newer-than-catalog".into()), "{told}");
}

/// A package of the stack goes there, an ordinary one under [packages], and each is removed from where it stands.
#[test]
fn an_ordinary_package_is_added_and_removed() {
    let sandbox = Sandbox::new("beyond-add", "[stack]\ntorch = \"2.5.1\"\n\n[target.t]\ngpu = \"A100\"\n");
    sandbox.run(&["add", "transformers>=4.50", "torchvision"]).exits(0).says("+ transformers = \">=4.50\"");
    let text = sandbox.spec();
    assert!(text.contains("[packages]\ntransformers = \">=4.50\"") && text.contains("torchvision = \"*\""), "{text}");
    sandbox.run(&["add", "transformers"]).exits(0).says("is in [packages] already, as `>=4.50`, which stays");
    sandbox.run(&["add", "transformers==4.51.0"]).exits(0).says("`>=4.50` becomes `==4.51.0`");
    sandbox.run(&["remove", "transformers", "torchvision"]).exits(0).says("- transformers");
    let text = sandbox.spec();
    assert!(!text.contains("transformers") && !text.contains("torchvision"), "{text}");
    sandbox.run(&["remove", "transformers"]).exits(2).says("is not in [stack] or [packages]");
}

#[test]
fn a_package_that_names_another_cuda_than_the_stack_is_told() {
    let spec = "[stack]\ntorch = \"2.8.0+cu128\"\n[packages]\nspconv-cu126 = \"*\"\nspconv-cu12 = \"*\"\n[target.t]\ngpu = \"A100\"\n";
    let ran = Sandbox::new("beyond-cuda", spec).run(&["lock"]).exits(0);
    let ran = ran.says("spconv-cu126 under [packages] is for CUDA 12.6 by its name");
    assert!(!ran.err.contains("spconv-cu12 under"), "{}", ran.err);
}
