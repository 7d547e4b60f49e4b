//! Every lint is heard: a row that breaks it, laid over the built-in catalog.

use std::collections::BTreeSet;

use super::super::overlay::lay;
use super::super::{BUILTIN, Catalog};
use super::{NAMES, lint_built_in};

/// A lint and rows of which it complains; `acme` is a source that the test adds.
const BROKEN: &[(&str, &str)] = &[
    ("id-spelling", "[[source]]\nid = \"Acme Wiki\"\nat = \"https://a\"\nkind = \"vendor\"\nseen = \"2026-11-20\""),
    ("unknown-source", "[[driver]]\nversion = \"570.27\"\nsource = \"nowhere\""),
    ("unused-source", "[[source]]\nid = \"idle\"\nat = \"https://a\"\nkind = \"vendor\"\nseen = \"2026-11-20\""),
    ("article-note", "[[source]]\nid = \"idle\"\nat = \"https://a\"\nkind = \"article\"\nseen = \"2026-11-20\""),
    ("source-address", "[[source]]\nid = \"idle\"\nat = \"a wiki\"\nkind = \"vendor\"\nseen = \"2026-11-20\""),
    ("date", "[[driver]]\nversion = \"570.27\"\ndate = \"2026-13-01\"\nsource = \"acme\""),
    ("date-order", "[[driver]]\nversion = \"570.27\"\ndate = \"1999-01-01\"\nsource = \"acme\""),
    ("driver-order", "[[driver]]\nversion = \"570.999\"\ndate = \"2020-01-01\"\nsource = \"acme\""),
    ("unknown-branch", "[[driver]]\nversion = \"999.1\"\nsource = \"acme\""),
    ("branch-number", "[[branch]]\nbranch = \"999.1\"\nsource = \"acme\""),
    ("unchoosable", "[[branch]]\nbranch = \"999\"\nsource = \"acme\""),
    (
        "branch-cuda",
        "[[branch]]\nbranch = \"570\"\ncuda = \"11.0\"\nreplace = true\nsource = \"acme\"\ncuda_source = \"acme\"",
    ),
    ("belongs-together", "[[branch]]\nbranch = \"570\"\ncuda = \"12.8\"\nreplace = true\nsource = \"acme\""),
    (
        "gpu-class",
        "[[gpu]]\nname = \"Tesla X1\"\ncc = \"9.0\"\nclass = \"geforce\"\narchitecture = \"Hopper\"\nsource = \"acme\"",
    ),
    (
        "gpu-architecture",
        "[[gpu]]\nname = \"X1\"\ncc = \"9.0\"\nclass = \"other\"\narchitecture = \"Volta\"\nsource = \"acme\"",
    ),
    (
        "gpu-chip",
        "[[gpu]]\nname = \"X1\"\ncc = \"9.0\"\nclass = \"other\"\narchitecture = \"Hopper\"\nchip = \"GB202\"\nsource = \"acme\"",
    ),
    (
        "gpu-last-branch",
        "[[gpu]]\nname = \"X1\"\ncc = \"9.0\"\nclass = \"other\"\narchitecture = \"Hopper\"\nlast_branch = \"570\"\nsource = \"acme\"",
    ),
    (
        "gpu-rule",
        "[[gpu]]\nname = \"X1\"\ncc = \"12.0\"\nclass = \"other\"\narchitecture = \"Blackwell\"\nfirst_driver = \"535.54.03\"\nsource = \"acme\"\ndriver_source = \"acme\"",
    ),
    (
        "gpu-driver",
        "[[gpu]]\nname = \"X1\"\ncc = \"9.0\"\nclass = \"other\"\narchitecture = \"Hopper\"\nfirst_driver = \"570.26\"\nlast_branch = \"535\"\nsource = \"acme\"\ndriver_source = \"acme\"",
    ),
    ("ptx-isa-branch", "[[ptx_isa]]\nisa = \"8.4\"\nbranch = \"610\"\nreplace = true\nsource = \"acme\""),
    (
        "compat-branch",
        "[[compat]]\ncuda = \"12.4\"\nbranch = \"570\"\nbases = [\"470.57\"]\nreplace = true\nsource = \"acme\"",
    ),
    (
        "compat-base",
        "[[compat]]\ncuda = \"12.4\"\nbranch = \"550\"\nbases = [\"570\"]\nreplace = true\nsource = \"acme\"",
    ),
    (
        "pins",
        "[[libraries]]\npackage = \"torch\"\nversion = \"9.9\"\npins = \"nvidia-cublas-cu12=>12\"\nsource = \"acme\"",
    ),
    ("wheel-file", "[[wheel]]\nfile = \"torch-9.9-cp311-cp311-win_amd64.whl\"\nsha256 = \"ab\"\nsource = \"acme\""),
    (
        "architecture",
        "[[companion]]\npackage = \"mine\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.5.1\"\ngpu_code = true\nsass = [\"9.9\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "requires",
        "[[companion]]\npackage = \"mine\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.5.1\"\nrequires = [\"numpy==2\"]\nsource = \"acme\"",
    ),
    (
        "belongs-together",
        "[[gpu]]\nname = \"X1\"\ncc = \"12.0\"\nclass = \"other\"\narchitecture = \"Blackwell\"\nfirst_driver_by = \"ran\"\nsource = \"acme\"",
    ),
    (
        "other-build",
        "[[other_build]]\npackage = \"torch\"\nversion = \"9.9.9\"\nvariant = \"cpu\"\nos = \"windows\"\narch = \"x86_64\"\npythons = [\"3.12\"]\nsource = \"acme\"",
    ),
    (
        "other-build",
        "[[other_build]]\npackage = \"torch\"\nversion = \"2.8.0\"\nvariant = \"cu121\"\nos = \"linux\"\narch = \"x86_64\"\npythons = [\"3.12\"]\nsource = \"acme\"",
    ),
    (
        "other-pythons",
        "[[other_build]]\npackage = \"torch\"\nversion = \"2.8.0\"\nvariant = \"cu118\"\nos = \"windows\"\narch = \"x86_64\"\npythons = [\"3.12\", \"3.14\"]\nsource = \"acme\"",
    ),
    (
        "two-defaults",
        "[[other_build]]\npackage = \"torch\"\nversion = \"2.8.0\"\nvariant = \"cu118\"\nos = \"windows\"\narch = \"x86_64\"\ndefault = true\npythons = [\"3.12\"]\nsource = \"acme\"",
    ),
    ("windows-driver", "[[windows_driver]]\ncuda = \"12.8.1\"\ndriver = \"551.78\"\nreplace = true\nsource = \"acme\""),
    ("os-spelling", "[[os]]\nid = \"mine\"\naliases = [\"jammy\"]\nname = \"Mine\"\nsource = \"acme\""),
    (
        "toolkit-order",
        "[[toolkit]]\nversion = \"12.4.9\"\ndriver = \"525.60.13\"\nptx_isa = \"8.4\"\nsass = [\"9.0\"]\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "toolkit-line",
        "[[toolkit]]\nversion = \"12.4.9\"\nptx_isa = \"8.4\"\nsass = [\"9.0\"]\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "toolkit-driver",
        "[[toolkit]]\nversion = \"12.4.9\"\ndriver = \"525.60.13\"\nptx_isa = \"8.4\"\nsass = [\"9.0\"]\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "toolkit-archs",
        "[[toolkit]]\nversion = \"14.0.0\"\nptx_isa = \"8.4\"\nsass = []\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "toolkit-nvcc",
        "[[toolkit]]\nversion = \"14.0.0\"\nnvcc = \"13.0.1\"\nptx_isa = \"9.9\"\nsass = [\"9.0\"]\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "unknown-ptx-isa",
        "[[toolkit]]\nversion = \"14.0.0\"\nptx_isa = \"99.9\"\nsass = [\"9.0\"]\nptx = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    (
        "library-gpu",
        "[[nccl]]\nversion = \"2.99.0\"\ncuda = \"12\"\nsass = [\"9.0\"]\nsource = \"acme\"\narch_source = \"acme\"",
    ),
    ("belongs-together", "[[cudnn]]\nversion = \"9.99.0\"\ncuda = \"12\"\nsass = [\"7.5\"]\nsource = \"acme\""),
    ("nccl-cuda", "[[nccl]]\nversion = \"2.99.0\"\ncuda = \"12\"\nbuilt_with = \"11.8\"\nsource = \"acme\""),
    (
        "framework",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"a\"\nneeds = \"1\"\nsource = \"acme\"",
    ),
    (
        "package-name",
        "[[companion]]\npackage = \"A_b\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nsource = \"acme\"",
    ),
    (
        "variant",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nvariant = \"cu999\"\nframework = \"torch\"\nneeds = \"2.7\"\nsource = \"acme\"",
    ),
    (
        "belongs-together",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nsdist = true\ngpu_code = true\nframework = \"torch\"\nneeds = \"2.7\"\nsource = \"acme\"",
    ),
    (
        "belongs-together",
        "[[rule]]\nid = \"a\"\nsubject = \"gpu\"\npackage = \"vllm\"\nrange = \"7.0\"\nobject = \"driver\"\nneeds = \">=1\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"7.0 2\"]\nfails = [\"7.0 0.1\"]",
    ),
    (
        "belongs-together",
        "[[rule]]\nid = \"a\"\nsubject = \"gpu\"\nrange = \"7.0\"\nobject = \"driver\"\nneeds = \">=1\"\ngpu = \"7.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"7.0 2\"]\nfails = [\"7.0 0.1\"]",
    ),
    (
        "unknown-ptx-isa",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"cuda\"\ngpu_code = true\narch_source = \"acme\"\nsass = [\"7.5\"]\nptx = [\"7.5\"]\nptx_isa = \"1.0\"\nneeds = \"*\"\nsource = \"acme\"",
    ),
    (
        "rule-range",
        "[[rule]]\nid = \"a\"\nsubject = \"package\"\npackage = \"vllm\"\nrange = \"<99\"\nobject = \"driver\"\nneeds = \">=500\"\ngpu = \"99.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"1 500\"]\nfails = [\"1 499\"]",
    ),
    (
        "rule-range",
        "[[rule]]\nid = \"a\"\nsubject = \"package\"\npackage = \"vllm\"\nrange = \">99\"\nobject = \"gpu\"\nneeds = \">=8.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"100 8.0\"]\nfails = [\"100 7.0\"]",
    ),
    (
        "unchoosable",
        "[[source_build]]\npackage = \"torch\"\nfrom = \"2.7.0\"\ntools = [\"wheel\"]\nrequires = [\"torch\"]\nsource = \"acme\"",
    ),
    (
        "package-name",
        "[[source_build]]\npackage = \"flash-attn\"\nfrom = \"2.8.3\"\ntools = [\"a b\"]\nrequires = [\"torch\"]\nsource = \"acme\"",
    ),
    (
        "package-name",
        "[[source_build]]\npackage = \"flash-attn\"\nfrom = \"2.8.3\"\ntools = [\"wheel\"]\nrequires = [\"a b\"]\nsource = \"acme\"",
    ),
    (
        "list-order",
        "[[source_build]]\npackage = \"flash-attn\"\nfrom = \"2.8.3\"\ntools = [\"wheel\", \"ninja\"]\nrequires = [\"torch\"]\nsource = \"acme\"",
    ),
    (
        "architecture",
        "[[source_build]]\npackage = \"flash-attn\"\nfrom = \"2.8.3\"\ntools = [\"wheel\"]\nrequires = [\"torch\"]\narchs = \"A_ARCHS=99\"\nsource = \"acme\"",
    ),
    (
        "companion-variant",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7+cu126\"\nsource = \"acme\"",
    ),
    (
        "unchoosable",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.8\"\nsdist = false\nsource = \"acme\"\n[[finished_wheel]]\npackage = \"a\"\nversion = \"1\"\nbeside = \"2.8\"\ncuda = \"12\"\narch = \"x86_64\"\npython = \"3.12\"\nurl = \"https://a/a-1+cu12-cp{python}-cp{python}-linux_x86_64.whl\"\nglibc = \"2.31\"\nsass = [\"8.0\"]\nsource = \"acme\"\narch_source = \"acme\"\nglibc_source = \"acme\"",
    ),
    (
        "wheel-address",
        "[[source_build]]\npackage = \"flash-attn\"\nfrom = \"2.8.3\"\ntools = [\"wheel\"]\nrequires = [\"torch\"]\nunread = \"ftp://a\"\nsource = \"acme\"",
    ),
    (
        "rule-range",
        "[[rule]]\nid = \"a\"\nsubject = \"cublas\"\nrange = \"12.1\"\nobject = \"gpu\"\nneeds = \"<9.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"12.1 8.0\"]\nfails = [\"12.1 9.0\"]\nboards = [\"NVIDIA H999\"]",
    ),
    (
        "belongs-together",
        "[[rule]]\nid = \"a\"\nsubject = \"cublas\"\nrange = \"12.1\"\nobject = \"gpu\"\nneeds = \"<9.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"12.1 8.0\"]\nfails = [\"12.1 9.0\"]\nuntil = \"1.13\"",
    ),
    (
        "belongs-together",
        "[[rule]]\nid = \"a\"\nsubject = \"nvrtc\"\nrange = \"12.1\"\nobject = \"gpu\"\nneeds = \"<9.0\"\nsays = \"A.\"\nsource = \"acme\"\nholds = [\"12.1 8.0\"]\nfails = [\"12.1 9.0\"]\nuntil = \"1.13\"",
    ),
    (
        "variant",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.8\"\nsdist = true\nsource = \"acme\"\n[[finished_wheel]]\npackage = \"a\"\nversion = \"1\"\nbeside = \"2.99\"\ncuda = \"12\"\narch = \"x86_64\"\npython = \"3.12\"\nurl = \"https://a/a-1+cu12-cp{python}-cp{python}-linux_x86_64.whl\"\nglibc = \"2.31\"\nsass = [\"8.0\"]\nsource = \"acme\"\narch_source = \"acme\"\nglibc_source = \"acme\"",
    ),
    (
        "wheel-address",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.8\"\nsdist = true\nsource = \"acme\"\n[[finished_wheel]]\npackage = \"a\"\nversion = \"1\"\nbeside = \"2.8\"\ncuda = \"12\"\narch = \"x86_64\"\npython = \"3.12\"\nurl = \"https://a/a-2+cu12-cp{python}-cp{python}-linux_x86_64.whl\"\nglibc = \"2.31\"\nsass = [\"8.0\"]\nsource = \"acme\"\narch_source = \"acme\"\nglibc_source = \"acme\"",
    ),
    (
        "belongs-together",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.8\"\nsdist = true\nsource = \"acme\"\n[[finished_wheel]]\npackage = \"a\"\nversion = \"1\"\nbeside = \"2.8\"\ncuda = \"12\"\narch = \"x86_64\"\npython = \"3.12\"\nurl = \"https://a/a-1+cu12-cp{python}-cp{python}-linux_x86_64.whl\"\nglibc = \"2.31\"\nsass = []\nsource = \"acme\"\narch_source = \"acme\"\nglibc_source = \"acme\"",
    ),
    (
        "constraint",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \">>2\"\nsource = \"acme\"",
    ),
    (
        "index-address",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nindex_url = \"ftp://a\"\nsource = \"acme\"",
    ),
    (
        "wheel-address",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nvariant = \"cu129\"\nframework = \"torch\"\nneeds = \"2.8\"\narches = [\"x86_64\"]\nurl = \"https://a/a-1+cu128-cp38-abi3-linux_{arch}.whl\"\nsource = \"acme\"",
    ),
    (
        "wheel-version",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nindex_url = \"https://a\"\nwheel = \"a b\"\nsource = \"acme\"",
    ),
    (
        "wheel-address",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\npython = \"3.10\"\narches = [\"aarch64\"]\nurl = \"https://a/a-1.tar.gz\"\nsource = \"acme\"",
    ),
    (
        "wheel-address",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\npython = \"3.11\"\narches = [\"aarch64\"]\nurl = \"https://a/a-1-cp310-cp310-linux_aarch64.whl\"\nsource = \"acme\"",
    ),
    (
        "unchoosable",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nsystems = [\"jetpack7.0\"]\nsource = \"acme\"",
    ),
    (
        "list-order",
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nsystems = [\"jetpack6.2\", \"jetpack6.1\"]\nsource = \"acme\"",
    ),
    (
        "image-name",
        "[[image]]\nrepository = \"A b\"\ntag = \"1\"\ncuda = \"12.4.1\"\nflavour = \"base\"\nos = \"ubuntu22.04\"\narches = []\nsource = \"acme\"",
    ),
    (
        "image-cuda",
        "[[image]]\nrepository = \"a\"\ntag = \"1\"\ncuda = \"99.1\"\nflavour = \"base\"\nos = \"ubuntu22.04\"\narches = []\nsource = \"acme\"",
    ),
    (
        "image-os",
        "[[image]]\nrepository = \"a\"\ntag = \"1\"\ncuda = \"12.4.1\"\nflavour = \"base\"\nos = \"plan9\"\narches = []\nsource = \"acme\"",
    ),
    (
        "image-tag",
        "[[image]]\nrepository = \"nvidia/cuda\"\ntag = \"12.4.1-base-ubuntu22.04\"\ncuda = \"12.4.0\"\nreplace = true\nflavour = \"base\"\nos = \"ubuntu22.04\"\narches = []\nsource = \"acme\"",
    ),
    (
        "image-torch",
        "[[image]]\nrepository = \"a\"\ntag = \"2.5.1-cuda12.4-runtime\"\ncuda = \"12.4.1\"\nflavour = \"devel\"\nos = \"ubuntu22.04\"\narches = []\ntorch = \"2.5.1\"\nsource = \"acme\"",
    ),
    (
        "unknown-driver",
        "[[gpu]]\nname = \"X1\"\ncc = \"9.0\"\nclass = \"other\"\narchitecture = \"Hopper\"\nfirst_driver = \"570.27\"\nsource = \"acme\"\ndriver_source = \"acme\"",
    ),
    (
        "unknown-require",
        "[[image]]\nrepository = \"a\"\ntag = \"1\"\ncuda = \"12.4.1\"\nflavour = \"base\"\nos = \"ubuntu22.04\"\narches = [\"x86_64\"]\nrequire = \"none\"\nsource = \"acme\"",
    ),
    ("unused-require", "[[image_require]]\nid = \"mine@x86_64\"\nrequire = \"cuda>=12.4\"\nsource = \"acme\""),
    (
        "require-grammar",
        "[[image_require]]\nid = \"12.4.1@x86_64\"\nrequire = \"cuda>=12.4 + 12 brands\"\nreplace = true\nsource = \"acme\"",
    ),
    (
        "require-line",
        "[[image_require]]\nid = \"12.4.1@x86_64\"\nrequire = \"cuda>=12.5\"\nreplace = true\nsource = \"acme\"",
    ),
    (
        "rule-pair",
        "[[rule]]\nid = \"r\"\nsubject = \"gcc\"\nrange = \"9\"\nobject = \"glibc\"\nneeds = \">=2.30\"\nsays = \"x\"\nsource = \"acme\"\nholds = [\"9 2.31\"]\nfails = [\"9 2.17\"]",
    ),
    (
        "rule-range",
        "[[rule]]\nid = \"r\"\nsubject = \"cuda\"\nrange = \"99\"\nobject = \"driver\"\nneeds = \">=570\"\nsays = \"x\"\nsource = \"acme\"\nholds = [\"99 570.26\"]\nfails = [\"99 535.54\"]",
    ),
    (
        "rule-trial",
        "[[rule]]\nid = \"r\"\nsubject = \"cuda\"\nrange = \"12\"\nobject = \"driver\"\nneeds = \">=570\"\nsays = \"x\"\nsource = \"acme\"\nholds = []\nfails = []",
    ),
];

/// A build of torch with this in place of a part of it.
fn build(from: &str, to: &str) -> String {
    let sound = "[[build]]\npackage = \"torch\"\nversion = \"2.7.1.1\"\nvariant = \"cu126\"\narch = \"x86_64\"\nstatus = \
                 \"stable\"\nindex = [\"pytorch\"]\npythons = [\"3.12\"]\nsass = [\"8.0\", \"9.0\"]\ntoolkit = \"12.6.3\"\n\
                 cudnn = \"9.5.1.17\"\nnccl = \"2.26.2\"\nsource = \"acme\"\narch_source = \"acme\"\npins_source = \"acme\"\n";
    assert!(sound.contains(from), "{from}");
    sound.replace(from, to)
}

/// What is changed in a sound build, and the lint that hears of it.
const BUILDS: &[(&str, &str, &str)] = &[
    ("framework", "\"torch\"", "\"mine\""),
    ("unchoosable", "index = [\"pytorch\"]\n", ""),
    ("unchoosable", "\"3.12\"", "\"2.0\""),
    ("variant", "\"cu126\"", "\"rocm6\""),
    ("cpu-build", "\"cu126\"", "\"cpu\""),
    ("unknown-toolkit", "\"12.6.3\"", "\"12.6.99\""),
    ("build-toolkit", "\"12.6.3\"", "\"12.8.1\""),
    ("build-archs", "\"9.0\"", "\"12.0\""),
    ("list-order", "\"8.0\", \"9.0\"", "\"9.0\", \"8.0\""),
    ("unknown-cudnn", "\"9.5.1.17\"", "\"9.5.1.18\""),
    ("unknown-nccl", "\"2.26.2\"", "\"2.26.222\""),
    ("belongs-together", "arch_source = \"acme\"\n", ""),
    ("belongs-together", "pins_source = \"acme\"\n", ""),
    ("belongs-together", "index = [", "wheel = \"1\"\nindex = ["),
];

fn heard(rows: &str) -> BTreeSet<&'static str> {
    let source = "[[source]]\nid = \"acme\"\nat = \"https://a\"\nkind = \"measured\"\nseen = \"2026-11-20\"\n";
    match lay(&BUILTIN, "site.toml", &format!("{source}{rows}\n")) {
        Ok(_) => BTreeSet::new(),
        Err(mistakes) => mistakes.iter().map(|mistake| mistake.code).collect(),
    }
}

#[test]
fn every_lint_is_heard() {
    for (lint, rows) in BROKEN {
        assert!(NAMES.contains(lint), "{lint}");
        assert!(heard(rows).contains(lint), "{lint}: {:?}\n{rows}", heard(rows));
    }
    assert_eq!(heard(&build("cu126", "cu126")), BTreeSet::new());
    for (lint, from, to) in BUILDS {
        let rows = build(from, to);
        assert!(heard(&rows).contains(lint), "{lint}: {:?}\n{rows}", heard(&rows));
    }
    let twice = build("stable", "stable").replace("index =", "default = true\nindex =");
    let other = twice.replace("cu126", "cu118").replace("12.6.3", "11.8.0").replace("9.5.1.17", "9.1.0.70");
    assert!(heard(&format!("{twice}{other}")).contains("two-defaults"));
}

/// A lint, a row of the built-in catalog by kind and id, and a value in it that is wrong: rows are held against their
/// neighbours only where no overlay brought them.
const SPOILED: &[(&str, &str, &str, &str, &str)] = &[
    ("disagreement", "image", "image nvidia/cuda:12.4.1-base-ubuntu22.04", "arches", "[\"x86_64\"]"),
    ("disagreement", "image", "image nvidia/cuda:12.4.1-base-ubuntu22.04", "withdrawn", "true"),
    ("disagreement", "image", "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "cudnn", "\"0\""),
    ("disagreement", "image", "image pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", "os", "\"ubuntu20.04\""),
    ("disagreement", "build", "torch-2.5.1-cu124-linux-x86_64", "triton", "\"3.1.1\""),
    ("disagreement", "build", "torch-2.5.1-cu121-linux-x86_64", "pythons", "[\"3.9\", \"3.10\", \"3.11\"]"),
    ("disagreement", "build", "torch-2.5.1-cu121-linux-x86_64", "system_cuda", "true"),
    ("disagreement", "companion", "torchvision-0.20.1+cu124", "needs", "\"2.5.0\""),
    ("library-line", "cudnn", "cudnn 9.1.0.70 cuda12", "source", "\"cudnn-cu11\""),
    ("library-order", "cudnn", "cudnn 9.1.0.70 cuda12", "date", "\"2026-01-01\""),
    ("library-order", "nccl", "nccl 2.21.5 cuda12", "date", "\"2023-01-01\""),
    ("python-gap", "build", "torch-2.5.1-cu121-linux-x86_64", "pythons", "[\"3.9\", \"3.11\", \"3.12\"]"),
    ("python-gap", "other_build", "torch-2.5.1-cu121-windows-x86_64", "pythons", "[\"3.9\", \"3.11\", \"3.12\"]"),
    ("python-order", "python", "python 3.11", "stable", "false"),
    ("os-order", "os", "os ubuntu22.04", "glibc", "\"2.45\""),
    ("os-order", "os", "os ubuntu22.04", "gcc", "\"4.8\""),
    ("ptxas", "ptxas", "ptxas 3.3.0", "newer", "\"12.3.1\""),
    ("ptxas", "ptxas", "ptxas 3.3.0", "ptxas", "\"12.9.1\""),
    ("belongs-together", "ptxas", "ptxas 3.3.0", "newer_from", "null"),
    ("wheel-pythons", "build", "torch-2.6.0-cu124-linux-x86_64", "pythons", "[\"3.9\", \"3.10\", \"3.11\", \"3.12\"]"),
    ("wheel-pythons", "companion", "torchvision-0.20.1", "python", "\"3.9 || 3.10 || 3.11\""),
    ("wheel-pythons", "companion", "torchvision-0.20.1", "python", "\">=3.9\""),
    ("wheel-files", "companion", "torchvision-0.20.1", "version", "\"0.20.7\""),
    ("wheel-files", "companion", "triton-3.0.0", "arches", "[\"aarch64\", \"x86_64\"]"),
    ("unread-code", "build", "torch-2.6.0-cu124-linux-x86_64", "arch_source", "\"torch-build-script\""),
    ("pins", "build", "torch-2.6.0-cu124-linux-x86_64", "cudnn", "\"9.1.1.17\""),
    ("pins", "build", "torch-2.6.0-cu124-linux-x86_64", "toolkit", "\"12.4.0\""),
    ("pins", "build", "jax-0.10.1-cu13-linux-x86_64", "cudnn_range", "\"<10\""),
    ("pins", "build", "jax-0.4.28-cu12-linux-x86_64", "nccl", "\"2.19.3\""),
    ("unknown-ptx-isa", "build", "tensorflow-2.18.0-cu125-linux-x86_64", "ptx_isa", "\"9.0\""),
    ("listing", "listing", "listing torch 2.8.0 pytorch", "reading", "\"whole\""),
    ("listing", "listing", "listing torch 2.8.0 pytorch", "index", "\"pytorch-unlabelled\""),
    ("listing", "listing", "listing auto-gptq 0.5.0 pypi", "builds_for", "[]"),
    ("listing", "listing", "listing torch 1.0.0 pypi", "from", "\"1.8.0\""),
    ("listing", "listing", "listing jax 0.4.23 pypi", "yanked", "[\"0.4.99\"]"),
    ("listing", "listing", "listing sgl-kernel 0.1.0 pypi", "now", "\"sglang-kernels\""),
    ("practice-count", "practice", "torch-variants-triton", "holds", "29"),
    ("practice-count", "practice", "torch-variants-pythons", "exceptions", "[]"),
    ("disagreement", "companion", "vllm-0.30.0+cu129", "requires", "[]"),
    ("unchoosable", "libraries", "libraries jax 0.4.28 cu12", "variant", "\"cu13\""),
    ("unchoosable", "libraries", "libraries torch 2.6.0 x86_64", "version", "\"2.6.3\""),
    ("unchoosable", "libraries", "libraries cuda-toolkit 12.4.1", "version", "\"12.4.9\""),
];

/// The built-in catalog with one value changed, and the lints that hear of it.
fn spoiled(kind: &str, id: &str, field: &str, value: &str) -> BTreeSet<&'static str> {
    let rows = BUILTIN.write(kind, serde_json::value::Serializer).unwrap();
    let at = BUILTIN.rows().filter(|row| row.kind == kind).position(|row| row.id == id).expect(id);
    let mut row = rows[at].clone();
    row[field] = serde_json::from_str(value).unwrap();
    let mut added = Catalog::default();
    added.read(kind, row).unwrap();
    let mut catalog = BUILTIN.clone();
    catalog.remove(kind, &BTreeSet::from([at]));
    catalog.merge(added);
    lint_built_in(&catalog).iter().map(|finding| finding.lint).collect()
}

#[test]
fn rows_are_held_against_their_neighbours() {
    let unheard: Vec<_> = SPOILED.iter().filter(|one| !spoiled(one.1, one.2, one.3, one.4).contains(one.0)).collect();
    assert!(unheard.is_empty(), "{unheard:#?}");
}

/// Whoever replaces a row knows better than its neighbours.
#[test]
fn what_an_overlay_replaces_may_differ_from_its_neighbours() {
    let image = "[[image]]\nrepository = \"nvidia/cuda\"\ntag = \"12.4.1-base-ubuntu22.04\"\ncuda = \"12.4.1\"\nflavour = \
                 \"base\"\nos = \"ubuntu22.04\"\narches = [\"x86_64\"]\nreplace = true\nsource = \"acme\"";
    assert_eq!(heard(image), BTreeSet::new());
}
