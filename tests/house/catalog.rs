//! The built-in catalog against what is known from elsewhere: hard facts written by hand, and what torch's wheels
//! say of themselves.

use std::collections::{BTreeMap, BTreeSet};

use gpuenv::catalog::rows::{Build, Companion, Flavour, Index, Reading, Subject};
use gpuenv::catalog::{BUILTIN, Catalog};
use gpuenv::coverage::Coverage;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::rules::law;
use gpuenv::solve::solution::TargetAnswer;
use gpuenv::types::variant::line_of;
use gpuenv::types::{CpuArch, Version};

use crate::common::practice;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn torch(release: &str) -> impl Iterator<Item = &'static Build> {
    let release = version(release);
    BUILTIN.builds.iter().filter(move |row| row.package == "torch" && row.version == release)
}

/// The architectures of a torch build, `5.0 6.0`; panics where there is no such build.
fn sass(release: &str, variant: &str, arch: CpuArch) -> String {
    let build = torch(release).find(|row| row.variant == variant && row.arch == arch).expect("published");
    build.sass.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The cells of each line after comments and head.
fn table(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split('\t').collect())
}

#[test]
fn every_law_in_code_is_described_and_no_other() {
    let described: BTreeSet<&str> = BUILTIN.laws.iter().map(|row| &*row.id).collect();
    let in_code: BTreeSet<&str> = law::ALL.iter().copied().collect();
    assert_eq!(described, in_code);
    assert_eq!(in_code.len(), law::ALL.len());
    for row in BUILTIN.laws.iter() {
        assert!(row.says.ends_with('.') && row.says.len() > 60, "{}: {}", row.id, row.says);
        assert!(BUILTIN.rules.iter().all(|rule| rule.id != row.id), "{} is also a rule", row.id);
    }
}

#[test]
fn publishers_do_as_they_always_did() {
    assert_eq!(practice::broken(&BUILTIN), [""; 0]);
}

#[test]
fn rules_hold_and_fail_where_they_say() {
    for rule in BUILTIN.rules.iter() {
        for (pairs, wanted) in [(&rule.holds, true), (&rule.fails, false)] {
            // Whatever a package's kernels are written in, no release of that fails it.
            let is_of_any = rule.object == Subject::Triton && rule.needs == "*";
            assert_eq!(pairs.is_empty(), is_of_any && !wanted, "{}", rule.id);
            for pair in pairs.iter() {
                assert_eq!(rule.judges(pair), Some(wanted), "{}: {pair}", rule.id);
            }
        }
    }
}

#[test]
fn there_is_as_much_as_promised() {
    let builds = |package: &str| BUILTIN.builds.iter().filter(|row| row.package == package).count();
    let others = |package: &str| BUILTIN.other_builds.iter().filter(|row| row.package == package).count();
    let torch = builds("torch");
    for (kind, has, least) in [
        ("gpu", BUILTIN.gpus.len(), 500),
        ("driver", BUILTIN.drivers.len(), 570),
        ("toolkit", BUILTIN.toolkits.len(), 73),
        ("image", BUILTIN.images.len(), 2_300),
        ("torch build", torch, 270),
        ("torch build of any platform", torch + others("torch"), 450),
        ("tensorflow build", builds("tensorflow"), 150),
        ("jax build", builds("jax"), 190),
        ("driver of Windows", BUILTIN.windows_drivers.len(), 56),
        ("cudnn", BUILTIN.cudnns.len(), 200),
        ("nccl", BUILTIN.nccls.len(), 50),
        ("companion or extension", BUILTIN.companions.len() + BUILTIN.extensions.len(), 850),
        ("compat", BUILTIN.compats.len(), 26),
        ("os", BUILTIN.oses.len(), 60),
        ("rule", BUILTIN.rules.len(), 60),
    ] {
        assert!(has >= least, "{kind}: {has} < {least}");
    }
}

/// What comes as source has one file for every platform and Python, whose sha256 is on the index.
#[test]
fn source_distributions_have_their_sha256() {
    let sources = BUILTIN.companions.iter().filter(|row| row.source == "companion-sdist");
    let unknown: Vec<String> = sources
        .filter(|row| BUILTIN.wheel_digests.of(&row.package, row.version.as_str(), "", "3.11", "x86_64").is_empty())
        .map(|row| format!("{} {}", row.package, row.version))
        .collect();
    assert_eq!(unknown, [""; 0]);
    let unisolated = |package: &str, version: &str| {
        let is_it = |row: &&Companion| row.package == package && row.version.as_str() == version && row.sdist;
        let row = BUILTIN.companions.iter().find(is_it).unwrap();
        BUILTIN.source_build(row).map(|(row, version)| format!("{} {version}", row.package))
    };
    let unisolated = |package, version| unisolated(package, version).unwrap_or_default();
    assert_eq!(unisolated("flash-attn", "1.0.9"), "flash-attn 1.0.9");
    assert_eq!(unisolated("causal-conv1d", "1.5.1"), "causal-conv1d 1.5.1");
    // What a package pins comes along in that release, and imports torch in releases whose description says nothing.
    assert_eq!(unisolated("transformer-engine", "1.9.0.post1"), "transformer-engine-torch 1.9.0");
    assert_eq!(unisolated("torch-scatter", "2.1.2"), "torch-scatter 2.1.2");
    assert_eq!(unisolated("deepspeed", "0.17.0"), "");
    assert_eq!(unisolated("transformer-engine", "2.3.0"), "transformer-engine-torch 2.3.0");
    assert_eq!(unisolated("flashinfer-python", "0.4.1"), "");
}

#[test]
fn every_cuda_line_has_a_toolkit() {
    let lines = "8.0 9.0 9.1 9.2 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8 \
                 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5";
    let has: BTreeSet<Version> = BUILTIN.toolkits.iter().map(|row| row.version.prefix(2)).collect();
    assert_eq!(has, lines.split_whitespace().map(version).collect());
}

#[test]
fn architectures_of_torch_builds() {
    use CpuArch::{Aarch64, X86_64};
    assert_eq!(sass("1.12.1", "cu102", X86_64), "3.7 5.0 6.0 7.0");
    assert_eq!(sass("1.12.1", "cu113", X86_64), "3.7 5.0 6.0 7.0 7.5 8.0 8.6");
    assert_eq!(sass("1.12.1", "cu116", X86_64), "3.7 5.0 6.0 7.0 7.5 8.0 8.6");
    for (release, volta) in
        [("2.7.0", false), ("2.7.1", false), ("2.8.0", true), ("2.9.1", true), ("2.10.0", true), ("2.11.0", false)]
    {
        assert_eq!(sass(release, "cu128", X86_64).starts_with("7.0 "), volta, "{release}");
    }
    assert_eq!(sass("2.8.0", "cu129", Aarch64), "8.0 9.0 10.0 12.0");
}

#[test]
fn only_what_was_published_is_there() {
    let variants = |release: &str, arch: Option<CpuArch>| -> BTreeSet<&str> {
        let general = torch(release).filter(|row| row.systems.is_empty());
        general.filter(|row| arch.is_none_or(|arch| row.arch == arch)).map(|row| &*row.variant).collect()
    };
    assert_eq!(variants("2.15.0", None), BTreeSet::from(["cu132"]));
    assert_eq!(variants("2.8.0", Some(CpuArch::Aarch64)), BTreeSet::from(["cpu", "cu129"]));
    assert!(!BUILTIN.builds.iter().any(|row| row.package == "torch" && row.variant == "cu134" && !row.is_in_image()));
}

#[test]
fn images_that_are_there_and_images_that_are_gone() {
    let of_line = |line: &str| {
        let line = version(line);
        BUILTIN.images.iter().filter(move |row| row.repository == "nvidia/cuda" && row.cuda.prefix(2) == line)
    };
    assert!(of_line("10.2").count() > 0 && of_line("10.2").all(|row| row.withdrawn));
    assert!(of_line("11.1").any(|row| row.tag == "11.1.1-cudnn8-devel-ubuntu20.04" && !row.withdrawn));
    assert!(of_line("11.2").any(|row| row.flavour == Flavour::Base && !row.withdrawn));
}

/// A default wheel's own requirements decide: where the catalog differs, it is wrong.
#[test]
fn torch_wheels_require_what_the_catalog_says() {
    let runtimes: BTreeMap<Version, &str> = table(include_str!("../data/toolkit_runtimes.tsv"))
        .map(|cells| {
            let [toolkit, runtime] = cells[..] else { panic!("{cells:?}") };
            (version(toolkit), runtime)
        })
        .collect();
    let mut compared = 0;
    for cells in table(include_str!("../data/torch_pins.tsv")) {
        let [release, platform, cudnn, nccl, triton, runtime] = cells[..] else { panic!("{cells:?}") };
        let mut defaults = torch(release).filter(|row| row.default && row.arch.as_str() == platform);
        let build = defaults.next().unwrap_or_else(|| panic!("{release} {platform}: no default"));
        assert!(defaults.next().is_none(), "{release} {platform}: two defaults");
        assert_eq!(build.variant == "cpu", runtime == "-", "{release} {platform}");
        let pinned = |has: &Option<Version>, pin: &str, what: &str| {
            let wanted = (pin != "-").then(|| version(pin.trim_start_matches("~=")));
            assert_eq!(*has, wanted, "{release} {platform}: {what}");
        };
        pinned(&build.cudnn, cudnn, "cuDNN");
        pinned(&build.nccl, nccl, "NCCL");
        pinned(&build.triton, triton, "triton");
        match (runtime.strip_prefix("toolkit "), &build.toolkit) {
            (Some(exact), has) => assert_eq!(has.as_ref(), Some(&version(exact)), "{release} {platform}"),
            (None, Some(has)) => {
                assert_eq!(version(runtime).prefix(2), has.prefix(2), "{release} {platform}");
                assert!(runtimes.get(has).is_none_or(|pin| *pin == runtime), "{release} {platform}: {has}");
            }
            (None, None) => assert_eq!(runtime, "-", "{release} {platform}"),
        }
        compared += 1;
    }
    assert_eq!(compared, 60);
}

/// Every cuDNN and NCCL that a build or an image names has a row for that CUDA.
#[test]
fn libraries_that_others_name_have_rows() {
    let cudnn = |wanted: &Version, cuda: &Version| {
        BUILTIN.cudnns.iter().any(|row| row.version == *wanted && cuda.cmp_prefix(&row.cuda).is_eq())
    };
    for build in BUILTIN.builds.iter() {
        let Some(line) = line_of(&build.variant) else { continue };
        let name = format!("{} {} {}", build.package, build.version, build.variant);
        if let Some(wanted) = &build.cudnn {
            // TensorFlow, JAX and what takes the system's name the beginning of a version only.
            let loose = build.package != "torch" || build.system_cuda;
            let begins = BUILTIN.cudnns.iter().any(|row| row.version.cmp_prefix(wanted).is_eq());
            assert!(cudnn(wanted, &line) || (loose && begins), "{name}: cuDNN {wanted}");
        }
        if let Some(wanted) = &build.nccl {
            let fits = BUILTIN.nccls.iter().any(|row| row.version == *wanted && row.cuda.major() == line.major());
            assert!(fits, "{name}: NCCL {wanted}");
        }
        if let Some(wanted) = &build.toolkit {
            assert!(BUILTIN.toolkits.iter().any(|row| row.version == *wanted), "{name}: toolkit {wanted}");
        }
    }
    for image in BUILTIN.images.iter() {
        let unknown = version("0");
        if let Some(wanted) = image.cudnn.as_ref().filter(|wanted| **wanted != unknown) {
            assert!(cudnn(wanted, &image.cuda), "{}: cuDNN {wanted}", image.tag);
        }
    }
}

/// A base of forward compatibility is a release, or a bare branch, older than the package; patch levels of one
/// branch do not differ from package to package.
#[test]
fn bases_of_forward_compatibility_are_older_branches() {
    let mut floors: BTreeMap<u64, &Version> = BTreeMap::new();
    for compat in BUILTIN.compats.iter() {
        for base in compat.bases.iter() {
            assert!(base.major() < compat.branch.major(), "{}: {base}", compat.cuda);
            assert_eq!(*floors.entry(base.major()).or_insert(base), base, "{}", compat.cuda);
        }
    }
    assert_eq!(floors[&418], &version("418.40.04"));
    assert_eq!(floors[&535], &version("535.86"));
}

/// What the first target of a spec gets.
fn solved<T>(spec: &str, read: impl FnOnce(&TargetAnswer<'_>) -> T) -> Option<T> {
    solved_with(&BUILTIN, spec, read)
}

fn solved_with<T>(catalog: &Catalog, spec: &str, read: impl FnOnce(&TargetAnswer<'_>) -> T) -> Option<T> {
    let rules = Problem::new(catalog);
    let spec = gpuenv::spec::parse(spec).unwrap();
    let (request, _) = Request::new(&spec, &rules).unwrap();
    match resolve(&request, &Default::default(), &Steps::new(1_000_000)) {
        Resolution::Solution(answer) => Some(read(&answer.targets[0])),
        _ => None,
    }
}

#[test]
fn a_base_below_its_patch_level_is_none() {
    let driver = |written: &str| {
        let spec = format!(
            "[stack]\ntorch = \"+cu130\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"{written}\"\nos = \"ubuntu22.04\"\n"
        );
        solved(&spec, |target| target.driver.as_ref().map(|row| (row.version.to_string(), row.compat.is_some())))
    };
    assert_eq!(driver("535.54.03"), None);
    assert_eq!(driver("535.183.01"), Some(Some(("535.183.01".into(), true))));
    // A branch is a promise about the branch: the answer states from which patch level on it holds.
    assert_eq!(driver("535"), Some(Some(("535.86.05".into(), true))));
}

/// A framework without a GPU is its CPU build, as torch is; with one it never is.
#[test]
fn targets_without_a_gpu_get_cpu_builds() {
    let variant = |stack: &str, target: &str| {
        let spec = format!("[stack]\n{stack}\n[target.t]\nos = \"ubuntu22.04\"\n{target}\n");
        solved(&spec, |target| target.builds[0].variant.to_string())
    };
    for stack in ["tensorflow = \"2.10\"", "tensorflow = \"2.16\"", "jax = \"0.10\"", "jax = \"*\"", "torch = \"2.8\""]
    {
        assert_eq!(variant(stack, "gpu = \"none\"").as_deref(), Some("cpu"), "{stack}");
        assert_eq!(variant(stack, "gpu = \"none\"\narch = \"aarch64\"").as_deref(), Some("cpu"), "{stack}");
        let with_gpu = variant(stack, "gpu = \"A100-PCIE-40GB\"");
        assert!(with_gpu.as_ref().is_some_and(|variant| variant.starts_with("cu")), "{stack}: {with_gpu:?}");
        assert!(variant(stack, "").is_some_and(|variant| variant.starts_with("cu")), "{stack}");
    }
    // For this processor TensorFlow is published without CUDA only.
    assert_eq!(variant("tensorflow = \"*\"", "gpu = \"GH200\""), None);
}

/// What the package index lists for Linux is there, from the first release with a CUDA build on.
#[test]
fn tensorflow_and_jax_are_complete() {
    let has = |package: &str, wanted: &str| {
        BUILTIN
            .builds
            .iter()
            .any(|row| row.package == package && row.version == version(wanted) && row.variant != "cpu")
    };
    for wanted in "2.1.0 2.1.1 2.1.2 2.1.3 2.1.4 2.2.0 2.2.1 2.2.2 2.2.3 2.3.0 2.3.1 2.3.2 2.3.3 2.3.4".split(' ') {
        assert!(has("tensorflow", wanted), "{wanted}");
    }
    for wanted in ["0.4.36", "0.4.37", "0.4.38", "0.5.1", "0.5.2", "0.5.3"] {
        assert!(has("jax", wanted), "{wanted}");
    }
}

#[test]
fn builds_for_windows_are_those_that_were_seen() {
    use gpuenv::catalog::rows::Family;
    let variants = |release: &str, arch: CpuArch| -> BTreeSet<&str> {
        let rows = BUILTIN.other_builds.iter().filter(|row| row.os == Family::Windows && row.package == "torch");
        rows.filter(|row| row.version == version(release) && row.arch == arch).map(|row| &*row.variant).collect()
    };
    let x86_64 = |release| variants(release, CpuArch::X86_64);
    assert_eq!(x86_64("1.8.0"), BTreeSet::from(["cpu", "cu101", "cu102", "cu111"]));
    assert_eq!(x86_64("2.5.1"), BTreeSet::from(["cpu", "cu118", "cu121", "cu124"]));
    assert_eq!(x86_64("2.9.1"), BTreeSet::from(["cpu", "cu126", "cu128", "cu130"]));
    assert_eq!(x86_64("2.15.0"), BTreeSet::from(["cpu"]));
    assert_eq!(variants("2.8.0", CpuArch::Aarch64), BTreeSet::from(["cpu"]));
    // On the package index Windows gets a build without CUDA, from 1.7 on, when it got any.
    let defaults: Vec<_> = BUILTIN.other_builds.iter().filter(|row| row.package == "torch" && row.default).collect();
    assert!(defaults.len() >= 42 && defaults.iter().all(|row| row.variant == "cpu"));
    // The last release of TensorFlow with CUDA there is 2.10.
    for row in BUILTIN.other_builds.iter().filter(|row| row.package == "tensorflow") {
        assert_eq!(row.variant == "cpu", row.version >= version("2.11"), "{}", row.version);
    }
}

/// A toolkit of which only the components were published.
const COMPONENTS: &str = r#"
[[source]]
id = "wheels"
at = "pkg:pypi/nvidia-cuda-nvcc@13.9.1"
kind = "package"
seen = "2026-11-20"
[[toolkit]]
version = "13.9.0"
ptx_isa = "9.5"
components_only = true
sass = ["9.0"]
ptx = ["9.0"]
source = "wheels"
arch_source = "wheels"
"#;

#[test]
fn a_toolkit_of_components_is_only_there_for_who_names_it() {
    let catalog = gpuenv::catalog::overlay::lay(&BUILTIN, "site.toml", COMPONENTS).unwrap();
    let toolkit_for = |stack: &str, target: &str| {
        let spec = format!("[stack]\n{stack}\n[build]\n[target.t]\ngpu = \"sm_90\"\n{target}\n");
        solved_with(&catalog, &spec, |target| target.toolkit.map(|row| row.version.to_string())).flatten()
    };
    for stack in ["", "cuda = \"*\"", "cuda = \"13\"", "cuda = \">=13\"", "cuda = \"<=13.9\"", "cuda = \"!=13.4\""] {
        assert_ne!(toolkit_for(stack, ""), Some("13.9.0".into()), "{stack}");
    }
    assert_eq!(toolkit_for("cuda = \"13\"", ""), Some("13.5.0".into()));
    for stack in ["cuda = \"13.9\"", "cuda = \"13.9.0\"", "cuda = \">=13.9\"", "cuda = \"~=13.9\""] {
        assert_eq!(toolkit_for(stack, ""), Some("13.9.0".into()), "{stack}");
    }
    assert_eq!(toolkit_for("cuda = \"13\"", "toolkit = \"13.9\""), Some("13.9.0".into()));
}

/// How a listing was read decides what may be said of what it lacks.
#[test]
fn listings_say_how_they_were_read() {
    let reading = |package: &str, index: Index, release: &str| {
        BUILTIN.listing(package, index, &version(release)).map(|row| (row.reading, &*row.source))
    };
    assert_eq!(reading("torch", Index::Pytorch, "2.7.1"), Some((Reading::Whole, "torch-index-copy")));
    assert_eq!(reading("torch", Index::PytorchUnlabelled, "1.0.0"), Some((Reading::Whole, "torch-index-copy")));
    assert_eq!(reading("torch", Index::Pytorch, "2.14.1").map(|(how, _)| how), Some(Reading::Seen));
    assert_eq!(reading("torch", Index::Pypi, "2.15.0").map(|(how, _)| how), Some(Reading::Whole));
    assert_eq!(reading("torch", Index::Pytorch, "0.3.0"), None);
    // Nearly always is often enough to expect it.
    for row in BUILTIN.practices.iter() {
        assert!(row.of >= 20 && row.holds * 20 >= row.of * 19, "{}: {} of {}", row.id, row.holds, row.of);
    }
}

/// Builds that people have and that were once passed over as never published.
#[test]
fn newer_builds_of_torch_are_known() {
    for (torch, gpu, rest) in [
        ("2.14.1", "Tesla V100", "python = \"3.12\""),
        ("2.14.1", "GTX 1080 Ti", ""),
        ("2.9.1+cu126", "GTX 1080 Ti", "python = \"3.12\""),
        ("2.14.0+cu126", "Tesla P100", "python = \"3.10\""),
        ("2.13.0+cu130", "A100", "python = \"3.15\""),
    ] {
        let spec = format!("[stack]\ntorch = \"{torch}\"\n{rest}\n[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu22.04\"\n");
        let build = solved(&spec, |target| target.builds[0].clone());
        assert!(build.is_some_and(|build| torch.starts_with(build.version.as_str())), "{spec}");
    }
}

/// The PTX of TensorFlow is older than its toolkit, and all that reaches the newest GPU of its list.
#[test]
fn tensorflow_is_compiled_for_its_newest_gpu_when_it_starts() {
    for (release, gpu, jit, least) in [
        ("2.18.0", "H100", true, "545"),
        ("2.18.0", "A100", false, "525"),
        ("2.21.0", "H100", true, "555"),
        ("2.15.1", "A100", true, "525"),
        ("2.7.4", "A100", false, "450"),
    ] {
        let spec = format!("[stack]\ntensorflow = \"{release}\"\n[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu22.04\"\n");
        let told = solved(&spec, |target| (target.gpus[0].coverage, target.minimum)).expect("it fits");
        assert_eq!(told.0 == Some(Coverage::Jit), jit, "{release} on {gpu}");
        let minimum = told.1.expect("there is a minimum");
        assert_eq!(minimum.prefix(1), version(least), "{release} on {gpu}: {minimum}");
    }
}

/// What jax asks pip for has an end: cuDNN 9 of torch 2.4 is none of jax 0.4.28.
#[test]
fn ranges_of_libraries_have_two_ends() {
    let together = |jax: &str, torch: &str| {
        let spec = format!(
            "[stack]\njax = \"=={jax}\"\ntorch = \"{torch}\"\n[target.t]\ngpu = \"A100\"\nos = \"ubuntu22.04\"\n"
        );
        solved(&spec, |_| ()).is_some()
    };
    assert!(!together("0.4.28", "==2.5.1") && !together("0.4.26", "==2.4.1") && together("0.4.29", "==2.4.1"));
    assert!(together("0.4.28", "==2.3.0"));
}

/// vGPU types are written as nvidia-smi prints them, which is not how their boards are called.
#[test]
fn vgpu_types_name_their_boards() {
    for (name, board) in [
        ("NVIDIA RTXA6000-48Q", "NVIDIA RTX A6000"),
        ("RTXA5000-24Q", "NVIDIA RTX A5000"),
        ("A800D-80C", "NVIDIA A800 80GB PCIe"),
    ] {
        let gpuenv::catalog::GpuMatch::Found(gpus) = BUILTIN.gpu(name) else { panic!("{name} is unknown") };
        assert_eq!(gpus[0].name, *board, "{name}");
    }
}
