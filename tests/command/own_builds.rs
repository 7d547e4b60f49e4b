//! Builds that a spec itself brings: one's own, which holds what is said of it, and nightlies; and which catalogs may
//! answer.

use crate::common::cases::{Case, case, hold};
use crate::common::checkout::Place;

const FILE: &str = "https://wheels.example.org/torch-2.8.0a0%2Bgit12-cp312-cp312-manylinux_2_28_x86_64.whl";

fn place(name: &str, stack: &str, target: &str) -> Place {
    Place::with(name, &format!("[stack]\n{stack}\n[target.prod]\n{target}\n"))
}

#[test]
fn it_holds_what_is_said_and_not_what_the_catalog_knows() {
    // The published 2.8.0+cu126 holds code for sm_50 to sm_90.
    let own = "torch = { version = \"2.8.0\", cuda = \"12.6\", cudnn = \"9.10.2\", arch-list = \"8.6;9.0\", python = \"3.12\" }";
    let works = place("own", own, "gpu = \"RTX 3090\"\nos = \"ubuntu22.04\"");
    works.run(&["lock"]).exits(0);
    let (_, json) = works.json(&["export", "json"]);
    assert_eq!(json["stack"]["torch"], "2.8.0", "{json}");
    assert_eq!((json["stack"]["python"].as_str(), json["stack"]["cudnn"].as_str()), (Some("3.12"), Some("9.10.2")));
    assert_eq!(json["targets"]["prod"]["driver"]["minimum"], "525.60.13", "{json}");
    assert_eq!(json["targets"]["prod"]["gpus"][0]["coverage"], "native");
    works.run(&["lock", "--check"]).exits(0);
    works.run(&["lock"]).exits(0).says("is up to date");
    let clash = place("own-clash", own, "gpu = \"V100\"");
    let (code, json) = clash.json(&["lock"]);
    assert_eq!(code, 1, "{json}");
    assert_eq!(json["culprits"], serde_json::json!(["stack.torch", "target.prod.gpu"]), "{json}");
    let told = json["explanation"].to_string();
    assert!(told.contains("your build of torch 2.8.0 holds code for sm_86, sm_90 only"), "{told}");
    let python = place("own-python", &format!("{own}\npython = \"3.11\""), "gpu = \"RTX 3090\"");
    let told = python.json(&["lock"]).1["explanation"].to_string();
    assert!(told.contains("your build of torch 2.8.0 is for Python 3.12 only"), "{told}");
    let old = place("own-driver", own, "gpu = \"RTX 3090\"\ndriver = \"470.82.01\"");
    let (code, json) = old.json(&["lock"]);
    assert_eq!((code, &json["culprits"]), (1, &serde_json::json!(["stack.torch", "target.prod.driver"])), "{json}");
    let told = json["explanation"].to_string();
    assert!(told.contains("your build of torch 2.8.0 is built for CUDA 12.6"), "{told}");
}

#[test]
fn its_file_is_not_the_published_one_of_that_name() {
    let named = "https://example.org/torch-2.8.0-cp312-cp312-manylinux_2_28_x86_64.whl";
    let own = format!("torch = {{ version = \"2.8.0\", cuda = \"12.6\", arch-list = \"9.0\", url = \"{named}\" }}");
    let lab = place("own-hash", &own, "gpu = \"H100 NVL\"");
    lab.run(&["lock"]).exits(0);
    assert!(!lab.read("checkout/gpuenv.lock").contains("sha256 = \"b2aca0"), "the hash of the index's wheel");
    let known = lab.run(&["export", "requirements"]).exits(0).out;
    assert!(known.contains(named) && !known.contains("sha256"), "{known}");
}

/// A file with several platform tags is installed where one of them is admitted.
#[test]
fn the_oldest_c_library_of_its_tags_suffices() {
    let on = |glibc: &str| {
        let tags = "manylinux_2_27_x86_64.manylinux_2_28_x86_64";
        let own = format!(
            "torch = {{ version = \"2.8.0\", cuda = \"12.6\", arch-list = \"9.0\", url = \"https://example.org/torch-2.8.0-cp312-cp312-{tags}.whl\" }}"
        );
        place("own-tags", &own, &format!("gpu = \"H100 NVL\"\nglibc = \"{glibc}\"")).run(&["lock"])
    };
    on("2.27").exits(0);
    on("2.26").exits(1).says("needs glibc 2.27 or newer");
}

/// A file whose tag is `musllinux` is for systems with musl, and for no other: pip refuses it beside glibc.
#[test]
fn a_build_with_musl_is_for_systems_with_musl() {
    let on = |tag: &str, os: &str| {
        let url = format!("https://example.org/torch-2.5.1-cp312-cp312-{tag}.whl");
        let own = format!("torch = {{ version = \"2.5.1\", cuda = \"none\", url = \"{url}\" }}");
        place("own-musl", &own, &format!("gpu = \"none\"{os}")).run(&["lock"])
    };
    let (musl, glibc) = ("musllinux_1_2_x86_64", "manylinux_2_28_x86_64");
    on(musl, "\nos = \"alpine3.20\"").exits(0);
    on(musl, "").exits(0);
    on(musl, "\nos = \"ubuntu22.04\"").exits(1).says("for musl, a musllinux tag").says("uses glibc instead of musl");
    on(glibc, "\nos = \"ubuntu22.04\"").exits(0);
    on(glibc, "\nos = \"alpine3.20\"").exits(1).says("uses musl instead of glibc");
}

#[test]
fn the_published_build_nearest_to_it_is_offered_in_its_place() {
    let own = "torch = { version = \"2.14.0\", cuda = \"13.0\", arch-list = \"8.0;9.0\" }";
    let fixes = place("own-fixes", own, "gpu = \"V100\"").json(&["lock"]).1["fixes"].to_string();
    assert!(fixes.contains("2.14.0+cu126"), "{fixes}");
}

#[test]
fn what_needs_that_release_still_does() {
    let own = "torch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"9.0\" }";
    let fits = place("own-vision", &format!("{own}\ntorchvision = \"*\""), "gpu = \"H100 NVL\"");
    fits.run(&["lock"]).exits(0).says("own-build-python");
    assert!(fits.read("checkout/gpuenv.lock").contains("stack.torchvision = \"0.23.0\""));
    let other = place("own-other", &format!("{own}\ntorchvision = \"0.22.0\""), "gpu = \"H100 NVL\"");
    let (code, json) = other.json(&["lock"]);
    assert_eq!((code, &json["culprits"]), (1, &serde_json::json!(["stack.torch", "stack.torchvision"])), "{json}");
}

#[test]
fn what_is_not_said_is_told() {
    let own = "torch = { version = \"2.8.0+cu126\", python = \"3.12\" }";
    place("own-code", own, "gpu = \"V100\"")
        .run(&["lock"])
        .exits(0)
        .says("unknown-gpu-code")
        .says("has no `arch-list`");
    let cpu = "torch = { version = \"2.8.0\", cuda = \"none\", python = \"3.12\" }";
    let (code, json) = place("own-cpu", cpu, "gpu = \"V100\"").json(&["lock"]);
    assert_eq!(code, 1, "{json}");
    assert!(
        json["explanation"].to_string().contains("your build of torch 2.8.0 is a CPU build: it holds no GPU code"),
        "{json}"
    );
    place("own-cpu-fits", cpu, "gpu = \"none\"").run(&["lock"]).exits(0);
    for (package, version) in [("tensorflow", "2.18.0"), ("jax", "0.5.0")] {
        let own = format!(
            "{package} = {{ version = \"{version}\", cuda = \"12.5\", arch-list = \"9.0\", python = \"3.11\" }}"
        );
        place("own-others", &own, "gpu = \"H100 NVL\"").run(&["lock"]).exits(0);
        place("own-others", &own, "gpu = \"V100\"").run(&["lock"]).exits(1);
    }
}

#[test]
fn exports_take_it_from_where_it_is_or_say_that_it_is_missing() {
    let nowhere =
        "torch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"9.0\", python = \"3.12\" }\ntorchvision = \"*\"";
    let target = "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"";
    let place_ = place("own-nowhere", nowhere, target);
    place_.run(&["lock"]).exits(0);
    for format in ["requirements", "uv", "dockerfile", "apptainer", "pixi", "conda", "github-actions"] {
        let ran = place_.run(&["export", format]).exits(0);
        assert!(ran.out.contains("your build of torch 2.8.0"), "{format}: {}", ran.out);
        assert!(!ran.out.contains("torch==") && !ran.out.contains("torch@"), "{format}: {}", ran.out);
        ran.says("your build of torch 2.8.0 is not in it");
    }
    let alone = place("own-alone", nowhere.split('\n').next().unwrap(), target);
    alone.run(&["lock"]).exits(0);
    alone.run(&["export", "uv"]).exits(2).says("error[own-build]").says("add `url` or `index`");
    let at = format!("torch = {{ version = \"2.8.0a0\", cuda = \"12.6\", arch-list = \"9.0\", url = \"{FILE}\" }}");
    let place_ = place("own-url", &at, target);
    place_.run(&["lock"]).exits(0);
    assert!(place_.read("checkout/gpuenv.lock").contains("stack.python = \"3.12\""));
    assert!(place_.read("checkout/gpuenv.lock").contains("stack.torch = \"2.8.0a0+git12\""));
    for format in ["requirements", "uv", "dockerfile", "conda", "github-actions"] {
        let ran = place_.run(&["export", format]).exits(0);
        assert!(ran.out.contains(&format!("torch@{FILE}")), "{format}: {}", ran.out);
    }
    // Its file is for one processor and one Python, and for a C library.
    let arm = place("own-arm", &at, "gpu = \"GH200\"");
    arm.run(&["lock"]).exits(1);
    place("own-glibc", &at, "gpu = \"H100 NVL\"\nglibc = \"2.17\"").run(&["lock"]).exits(1).says("glibc 2.28");
    let index = "torch = { version = \"2.8.0+acme1\", cuda = \"12.6\", arch-list = \"9.0\", python = \"3.12\", index = \"https://wheels.example.org/simple\" }";
    let place_ = place("own-index", index, target);
    place_.run(&["lock"]).exits(0);
    let uv = place_.run(&["export", "uv"]).exits(0).out;
    assert!(
        uv.contains("\"torch==2.8.0+acme1\"") && uv.contains("url = \"https://wheels.example.org/simple\""),
        "{uv}"
    );
}

#[test]
fn every_misuse_says_what_to_write() {
    for (own, code, help) in [
        ("torch = { version = \"2.8.0\" }", "own-build", "cuda = \"none\""),
        ("torch = { cuda = \"12.6\" }", "own-build", "`version` is missing"),
        ("torch = { version = \">=2.8\", cuda = \"12.6\" }", "value", "for a release write"),
        ("torch = { version = \"2.8.0\", cuda = \"12\" }", "value", "major and minor"),
        ("torch = { version = \"2.8.0\", cuda = \"99.1\" }", "unknown-cuda", "the nearest older one"),
        ("torch = { version = \"2.8.0\", cuda = \"none\", arch-list = \"9.0\" }", "own-build", "drop one of the two"),
        ("torch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"90\" }", "arch-list", "9.0"),
        ("torch = { version = \"2.8.0\", cuda = \"12.6\", arch = \"9.0\" }", "unknown-key", "arch-list"),
        (
            "torch = { version = \"2.8.0\", cuda = \"12.6\", url = \"http://a.b/torch-2.8.0-cp312-cp312-linux_x86_64.whl\" }",
            "value",
            "https://",
        ),
        ("torch = { version = \"2.8.0\", cuda = \"12.6\", url = \"https://me:pw@a.b/t.whl\" }", "value", "no password"),
        ("torch = { version = \"2.8.0\", cuda = \"12.6\", url = \"https://a.b/$(id).whl\" }", "value", "https://"),
        (
            "torch = { version = \"2.7.0\", cuda = \"12.6\", url = \"https://a.b/torch-2.8.0-cp312-cp312-linux_x86_64.whl\" }",
            "own-build",
            "named 2.8.0",
        ),
        (
            "torch = { version = \"2.8.0\", cuda = \"12.6\", index = \"https://a.b\", url = \"https://a.b/torch-2.8.0-cp312-cp312-linux_x86_64.whl\" }",
            "own-build",
            "exclude each other",
        ),
        ("torchvision = { version = \"0.23.0\", cuda = \"12.6\" }", "own-build", "torch, tensorflow, jax"),
        ("python = { version = \"3.12\", cuda = \"none\" }", "type", "must be a string, not a table"),
    ] {
        let ran = place("own-misuse", own, "gpu = \"H100 NVL\"").run(&["lock"]).exits(2);
        ran.says(&format!("error[{code}]")).says(help);
    }
}

#[test]
fn a_nightly_is_judged_as_the_release_that_it_precedes() {
    let nightly = place("nightly", "torch = \"2.8.0.dev20250327+cu126\"", "gpu = \"H100 NVL\"");
    nightly.run(&["lock"]).exits(0).says("[nightly]").says("judged as the release 2.8.0");
    let lock = nightly.read("checkout/gpuenv.lock");
    assert!(lock.contains("stack.torch = \"2.8.0.dev20250327+cu126\""), "{lock}");
    assert!(lock.contains("torch-2.8.0-cu126-linux-x86_64"), "{lock}");
    let text = nightly.run(&["export", "requirements"]).exits(0).out;
    assert!(text.contains("https://download.pytorch.org/whl/nightly/cu126"), "{text}");
    assert!(text.contains("torch==2.8.0.dev20250327+cu126"), "{text}");
    let uv = nightly.run(&["export", "uv"]).exits(0).out;
    assert!(uv.contains("pytorch-triton = [{ index = ") && uv.contains("\"pytorch-triton>=0\""), "{uv}");
    // So do targets that want other wheels.
    let both = "gpu = \"H100 NVL\"\n[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"";
    let two = place("nightly-two", "torch = \"2.8.0.dev20250327\"", both);
    two.run(&["lock"]).exits(0);
    let uv = two.run(&["export", "uv"]).exits(0).out;
    assert!(uv.contains("\npytorch-triton = [{ index = ") && uv.contains("\"pytorch-triton>=0\""), "{uv}");
    let pixi = nightly.run(&["export", "pixi"]).exits(0).out;
    assert!(pixi.contains("extra-index-urls = [\"https://download.pytorch.org/whl/nightly/cu126\"]"), "{pixi}");
    nightly.run(&["lock", "--check"]).exits(0);
    // As its release: no code for a K80, a driver for its CUDA.
    let told = place("nightly-gpu", "torch = \"2.8.0.dev20250327+cu126\"", "gpu = \"Tesla K80\"").json(&["lock"]);
    assert_eq!(
        (told.0, &told.1["culprits"]),
        (1, &serde_json::json!(["stack.torch", "target.prod.gpu"])),
        "{}",
        told.1
    );
    // No release has this variant: nobody knows what it holds.
    let ran =
        place("nightly-other", "torch = \"2.8.0.dev20250327+cu124\"", "gpu = \"H100 NVL\"").run(&["lock"]).exits(0);
    ran.says("[nightly]").says("[unknown-gpu-code]");
    // One of a release that the catalog does not know is newer than it.
    // For a processor that the release has none for.
    let arm = place("nightly-arm", "torch = \"2.8.0.dev20250318+cu128\"", "gpu = \"GH200 480GB\"");
    arm.run(&["lock"]).exits(0).says("no cu128 build of the release 2.8.0 is known for aarch64");
    // A processor that has no build of the default CUDA gets that of another one.
    let other = place("nightly-arm-plain", "torch = \"2.7.0.dev20250301\"", "gpu = \"GH200 480GB\"");
    other.run(&["lock"]).exits(0).says("2.7.0.dev20250301+cu128");
    // Other makers' are for their GPUs, and what has no day is no nightly.
    for (torch, code) in
        [("2.8.0.dev20250416+rocm6.3", 2), ("2.8.0.dev20259999+cu128", 3), ("2.8.0.dev20250431+cu128", 3)]
    {
        place("nightly-no", &format!("torch = \"{torch}\""), "gpu = \"RTX 3090\"").run(&["lock"]).exits(code);
    }
    // Whose variant nobody names is taken as its release's default: when those of others began is not known.
    let plain = place("nightly-plain", "torch = \"2.8.0.dev20250401\"", "gpu = \"RTX 3080\"");
    plain.run(&["lock"]).exits(0).says("2.8.0.dev20250401+cu128");
    place("nightly-cpu", "torch = \"2.8.0.dev20250416+cpu\"", "gpu = \"none\"").run(&["lock"]).says("[nightly]");
    let told = place("nightly-newer", "torch = \"99.0.0.dev20270101+cu132\"", "gpu = \"H100 NVL\"").json(&["lock"]);
    assert_eq!(
        (told.0, told.1["code"].as_str().or(told.1["conflicts"][0]["code"].as_str())),
        (1, Some("newer-than-catalog")),
        "{}",
        told.1
    );
    // A build of one's own of another framework stands beside it.
    let jax = "jax = { version = \"0.7.0\", cuda = \"12.8\", arch-list = \"9.0\" }";
    let beside = format!("torch = \"2.8.0.dev20250401+cu128\"\n{jax}");
    place("nightly-beside", &beside, "gpu = \"H100 NVL\"").run(&["lock"]).exits(0).says("[nightly]");
    // Packages of torch have nightlies too.
    let both = "torch = \"2.8.0.dev20250627+cu128\"\ntorchvision = \"0.23.0.dev20250627\"";
    let both = place("nightly-both", both, "gpu = \"H100 NVL\"");
    both.run(&["lock"]).exits(0);
    assert!(both.read("checkout/gpuenv.lock").contains("0.23.0.dev20250627+cu128"));
    // Nobody gets one who did not name it.
    // The numbers of what follows torch lag behind; a younger torch it cannot have been built for.
    let lag = |torch: &str, vision: &str| {
        let stack = format!("torch = \"2.8.0.dev{torch}+cu128\"\ntorchvision = \"0.22.0.dev{vision}\"");
        place("nightly-lag", &stack, "gpu = \"RTX 5090\"").run(&["lock"])
    };
    assert!(!lag("20250416", "20250416").exits(0).err.contains("of its own day"));
    assert!(!lag("20250331", "20250401").exits(0).err.contains("of its own day"));
    lag("20250331", "20250501").exits(0).says("the torch nightly of its own day or of the day before");
    lag("20250416", "20250601").exits(0).says("the torch nightly of its own day or of the day before");
    lag("20250417", "20250416").exits(1).says("requires torch 2.8.0.dev20250416");
    let any = place("nightly-none", "torch = \"*\"", "gpu = \"H100 NVL\"");
    any.run(&["lock"]).exits(0);
    assert!(!any.read("checkout/gpuenv.lock").contains(".dev"));
}

#[test]
fn only_a_catalog_that_is_admitted_answers() {
    let with = |version: &str| {
        Place::with(
            "catalog",
            &format!("[stack]\ntorch = \"2.7\"\n[target.a]\ngpu = \"L4\"\n[catalog]\nversion = \"{version}\"\n"),
        )
    };
    for good in [">=2026.11.22", "2026.11", ">=2026-01-01", "<2030"] {
        let place = with(good);
        place.run(&["lock"]).exits(0);
        assert!(place.read("checkout/gpuenv.lock").contains("inputs.\"catalog.version\""));
    }
    let newer = with(">=2099.1.1").run(&["lock"]).exits(2);
    newer
        .says("error[catalog-version]")
        .says("the catalog at hand is")
        .says("install a newer one")
        .says("gpuenv catalog update");
    with("<2020").run(&["explain"]).exits(2).says("error[catalog-version]").says("requires-gpuenv");
    for bad in ["12.4", "+cu118", "yesterday"] {
        with(bad).run(&["lock"]).exits(2);
    }
}

/// Two C++ ABIs were published of torch 2.6; whether somebody's own build has the one of a package nobody knows.
#[test]
fn an_own_build_may_have_either_abi() {
    let own = "torch = { version = \"2.6.0\", cuda = \"12.6\", arch-list = \"8.0\", python = \"3.12\" }";
    for package in ["vllm = \"0.8.5\"", "sgl-kernel = \"0.1.0\""] {
        let place = place("own-abi", &format!("{own}\n{package}"), "gpu = \"A100\"");
        place.run(&["lock"]).exits(0).says("[own-build-abi]");
    }
    let published = place("published-abi", "torch = \"2.6.0+cu124\"\nvllm = \"0.8.5\"", "gpu = \"A100\"");
    published.run(&["lock"]).exits(0).hides("own-build-abi");
}

/// cuDNN 8.9 was published for CUDA 11 and 12, 7.6 for CUDA 10 and older, 9.99 for none that is known.
const CUDNNS: &[Case] = &[
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.8\", cudnn = \"8.9\", arch-list = \"9.0\" }",
        "gpu = \"H100 NVL\"",
        0,
        &[],
    ),
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.8\", cudnn = \"9.8.0\", arch-list = \"9.0\" }",
        "gpu = \"H100 NVL\"",
        0,
        &[],
    ),
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.8\", cudnn = \"7.6\", arch-list = \"9.0\" }",
        "gpu = \"H100 NVL\"",
        3,
        &["whether there is a cuDNN 7.6 for CUDA 12"],
    ),
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.6\", cudnn = \"9.99\", arch-list = \"9.0\" }",
        "gpu = \"H100 NVL\"",
        3,
        &["whether there is a cuDNN 9.99 for CUDA 12", "torch.backends.cudnn.version()"],
    ),
];

#[test]
fn the_cudnn_of_a_build_is_one_for_its_cuda() {
    hold("own-cudnns", CUDNNS);
}

/// What follows torch is published for its releases.
const BESIDE: &[Case] = &[
    case(
        "torch = \"2.8.0.dev20250327+cu126\"\ntorchvision = \"*\"",
        "gpu = \"H100 NVL\"",
        1,
        &[
            "releases of torchvision are built for releases of torch, and 2.8.0.dev20250327 precedes one",
            "name its nightly of that day, if there is one (`torchvision = \"….dev20250327\"`), or leave it out",
        ],
    ),
    case(
        "torch = { version = \"2.8.0a0\", cuda = \"12.8\", arch-list = \"9.0\" }\ntorchvision = \"*\"",
        "gpu = \"H100 NVL\"",
        1,
        &["and 2.8.0a0 precedes one: describe the build of it that you have in an overlay"],
    ),
    case("torch = \"2.8.0.dev20250327+cu126\"\ntorchvision = \"0.23.0.dev20250327\"", "gpu = \"H100 NVL\"", 0, &[]),
];

/// Images that hold a torch, chosen and named.
const IMAGES: &[Case] = &[
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.8\", arch-list = \"8.0\" }",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch\"",
        1,
        &[
            "the images of pytorch/pytorch hold a torch of their own, which your build is not",
            "image that is named by its tag",
            "!gpuenv.toml sets `torch",
            "change image from pytorch/pytorch to nvidia/cuda:12.8.1",
        ],
    ),
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.8\", arch-list = \"8.0\" }",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime\"",
        0,
        &["[two-torches]"],
    ),
];

#[test]
fn it_goes_beside_the_torch_of_an_image_that_is_named() {
    hold("own-images", IMAGES);
}

#[test]
fn what_follows_torch_is_made_for_its_releases() {
    hold("beside-laid", BESIDE);
}
