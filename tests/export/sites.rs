//! What depends on the machine at hand: compilers by their names, modules of a site, runners.

use gpuenv::export::{Options, format};
use gpuenv::lock::Lock;

use crate::{locks, render, render_for};

/// Compilers by the names that distributions give them; where they give none, nothing is made up.
#[test]
fn cmake_names_the_host_compiler() {
    let preset = |os: Option<&str>, key: &str, version: &str| {
        let mut lock = locks::bare_metal();
        lock.target.get_mut("lab").unwrap().os = os.map(String::from);
        lock.inputs.insert(format!("target.lab.{key}"), version.into());
        let remarks = format("cmake").unwrap().remarks(&lock, &Options::default()).join(" ");
        (render("cmake", &lock).unwrap(), remarks)
    };
    for (os, key, version, name) in [
        ("ubuntu22.04", "clang", "17", "clang++-17"),
        ("rocky9", "clang", "17.0.6", "clang++-17"),
        ("ubuntu20.04", "gcc", "9.4", "g++-9"),
        ("debian12", "gcc", "11", "g++-11"),
    ] {
        let (text, remarks) = preset(Some(os), key, version);
        assert!(text.contains(&format!("\"CMAKE_CUDA_HOST_COMPILER\": \"{name}\"")) && remarks.is_empty(), "{text}");
    }
    // Of a system that nobody names the compiler may be in any place.
    for os in [Some("fedora40"), None] {
        let (text, remarks) = preset(os, "gcc", "11");
        assert!(!text.contains("HOST_COMPILER") && remarks.contains("--host-compiler"), "{os:?}: {remarks}");
    }
}

/// Modules stand in place of the toolkit's path, and of nothing else.
#[test]
fn a_job_with_modules_keeps_the_lists_and_what_the_wheels_bring() {
    let with_modules = |lock: &Lock| {
        let options = Options { target: Some("lab".into()), ..Options::default() }.with("modules", "cuda/12.4");
        let text = format("slurm").unwrap().render(lock, &options).unwrap();
        text.split_once("module load cuda/12.4\n").unwrap().1.to_string()
    };
    let mut other = locks::bare_metal();
    other.target.get_mut("lab").unwrap().toolkit = Some("12.6.3".into());
    let text = with_modules(&other);
    assert!(
        text.contains("TORCH_CUDA_ARCH_LIST") && text.contains("CUDAARCHS") && !text.contains("CUDA_HOME"),
        "{text}"
    );
    assert!(text.contains("LD_LIBRARY_PATH") && text.contains("*/cuda/lib64*"), "{text}");
    // The libraries of the wheels' own line may stay.
    assert!(!with_modules(&locks::bare_metal()).contains("LD_LIBRARY_PATH"));
}

/// pixi takes the CUDA of the driver where the stack runs by minor-version compatibility, and the stack's where nobody knows it.
#[test]
fn pixi_asks_for_a_cuda_that_is_known() {
    let text = |cuda: &str| {
        let mut lock = locks::bare_metal();
        let mut driver = locks::driver("minor-version");
        driver.cuda = cuda.into();
        lock.target.get_mut("lab").unwrap().driver = Some(driver);
        render("pixi", &lock).unwrap()
    };
    assert!(
        text("12.2").contains("cuda = \"12.2\"") && text("unknown").contains("cuda = \"12.4\""),
        "{}",
        text("unknown")
    );
}

/// A runner of the target's processor, and no code of strangers on it.
#[test]
fn a_workflow_runs_where_the_target_does() {
    let text = render("github-actions", &locks::two_platforms()).unwrap();
    assert!(text.contains("\"arm64\"") && text.contains("\"x64\"") && !text.contains("pull_request"), "{text}");
    let cpu = render_for("github-actions", &locks::mixed(), "ci").unwrap();
    assert!(cpu.contains("pull_request") && !cpu.contains("self-hosted"), "{cpu}");
    // One machine of one's own among others is enough.
    let both = render("github-actions", &locks::mixed()).unwrap();
    assert!(both.contains("ubuntu-latest") && both.contains("self-hosted") && !both.contains("pull_request"), "{both}");
}

/// Values that a format takes, and those that it cannot.
#[test]
fn options_take_what_sites_have() {
    for (name, option, good, bad) in [
        ("kubernetes", "gpus", "2", "all"),
        ("kubernetes", "resource", "nvidia.com/mig-1g.10gb", "gpu"),
        ("conda", "name", "my_env", "-x"),
        ("dockerfile", "user", "app", "root"),
        ("compose", "dockerfile", "docker/Dockerfile", "/etc/Dockerfile"),
        ("env", "shell", "fish", "csh"),
    ] {
        let rendered =
            |value: &str| format(name).unwrap().render(&locks::container(), &Options::default().with(option, value));
        assert!(rendered(good).is_ok_and(|text| option == "shell" || text.contains(good)), "{name} {good}");
        let error = rendered(bad).unwrap_err();
        assert!(error.code() == "bad-option" && !error.to_string().contains("SHELL"), "{error}");
    }
}

/// One request for GPUs: what asks the tools for all of them stands beside no count.
#[test]
fn a_devcontainer_asks_once_for_gpus() {
    let rendered = |gpus: &str| {
        format("devcontainer").unwrap().render(&locks::container(), &Options::default().with("gpus", gpus)).unwrap()
    };
    assert!(rendered("all").contains("\"hostRequirements\"") && rendered("all").contains("--gpus=all"));
    assert!(!rendered("2").contains("hostRequirements") && rendered("2").contains("--gpus=2"));
}

/// What conda and pixi install keeps to the CUDA of the pins, be it that a metapackage or somebody's own build names it.
#[test]
fn conda_keeps_to_the_cuda_of_what_is_installed() {
    let mut rapids = locks::container();
    rapids.stack.remove("torch");
    rapids.wheel = ["cuda-toolkit", "cudf-cu12"].map(|package| locks::wheel(package, "12.9.2", None, &["prod"])).into();
    let mut own = locks::own_build();
    own.stack.insert("torch".into(), "2.5.1".into());
    // The runtime of CUDA 12 has the major in its name, that of CUDA 13 has not; one of a compiler is none.
    let brings = |package: &str, version: &str| {
        let mut lock = rapids.clone();
        lock.wheel = vec![locks::wheel(package, version, None, &["prod"])];
        lock
    };
    let named = brings("nvidia-cuda-runtime-cu12", "12.9.79");
    let unnamed = brings("nvidia-cuda-runtime", "13.0.96");
    for (lock, line) in [(rapids.clone(), "12.9"), (own, "12.4"), (named, "12.9"), (unnamed, "13.0")] {
        let conda = render("conda", &lock).unwrap();
        assert!(conda.contains(&format!("\"cuda-version={line}\"")), "{conda}");
        assert!(render("pixi", &lock).unwrap().contains(&format!("cuda = \"{line}\"")), "{line}");
    }
}

/// An instance of a GPU has a resource of its own where the cluster's strategy is `mixed`, and none where it is `single`.
#[test]
fn what_a_cluster_calls_an_instance_is_said() {
    let remarks = |gpu: &str, options: Options| {
        let mut lock = locks::container();
        lock.inputs.insert("target.prod.gpu".into(), format!("[\"{gpu}\"]"));
        format("kubernetes").unwrap().remarks(&lock, &options).join(" ")
    };
    let instance = "NVIDIA A100-SXM4-80GB MIG 1g.10gb+me";
    assert!(remarks(instance, Options::default()).contains("add --resource nvidia.com/mig-1g.10gb.me"));
    for (gpu, options) in [
        ("NVIDIA A100-SXM4-80GB", Options::default()),
        (instance, Options::default().with("resource", "nvidia.com/gpu")),
        (instance, Options::default().with("dra", "")),
    ] {
        assert_eq!(remarks(gpu, options), "", "{gpu}");
    }
}

/// actions/setup-python has builds for Ubuntu alone.
#[test]
fn a_job_elsewhere_than_on_ubuntu_takes_the_python_of_uv() {
    let by_uv = |os: Option<&str>, container: bool, gpu: bool| {
        let lock = if gpu { locks::container() } else { locks::without_gpu(locks::container()) };
        let mut lock = lock;
        let target = lock.target.get_mut("prod").unwrap();
        target.os = os.map(String::from);
        target.image = target.image.take().filter(|_| container);
        render("github-actions", &lock).unwrap().contains("python-by-uv: \"3.11\"")
    };
    for (os, container, gpu, expected) in [
        (Some("ubuntu22.04"), true, true, false),
        (Some("rhel9"), true, true, true),
        (Some("rhel9"), true, false, true),
        (None, true, true, true),
        (Some("rhel9"), false, true, true),
        (None, false, true, false),
        // GitHub's own runners are Ubuntu, whatever the target is.
        (Some("rhel9"), false, false, false),
    ] {
        assert_eq!(by_uv(os, container, gpu), expected, "{os:?} {container} {gpu}");
    }
    let mut old = locks::container();
    old.target.get_mut("prod").unwrap().os = Some("rhel9".into());
    old.stack.insert("python".into(), "3.7".into());
    assert_eq!(render("github-actions", &old).unwrap_err().code(), "python-too-old");
}

#[test]
fn modal_has_no_old_python_and_no_other_processor() {
    let mut lock = locks::container();
    lock.stack.insert("python".into(), "3.9".into());
    assert_eq!(render("modal", &lock).unwrap_err().code(), "python-too-old");
    lock.stack.insert("python".into(), "3.10".into());
    assert!(render("modal", &lock).is_ok());
    lock.target.get_mut("prod").unwrap().arch = "aarch64".into();
    assert_eq!(render("modal", &lock).unwrap_err().code(), "other-cpu");
}

/// An option must not look as if it had done something.
#[test]
fn options_that_do_nothing_are_refused() {
    let refused = |name: &str, lock: &Lock, values: &[(&str, &str)]| {
        let values = values.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let rendered = format(name).unwrap().render(lock, &Options::of(values));
        rendered.is_err_and(|error| error.to_string().contains("cannot stand beside"))
    };
    let lock = locks::container();
    for name in ["compose", "devcontainer"] {
        assert!(refused(name, &lock, &[("ipc", "host"), ("shm-size", "8g")]));
        assert!(refused(name, &lock, &[("image", "a/b:1"), ("dockerfile", "D")]));
        assert!(!refused(name, &lock, &[("ipc", "private"), ("shm-size", "8g"), ("image", "a/b:1")]));
    }
    assert!(refused("kubernetes", &lock, &[("dra", ""), ("resource", "nvidia.com/gpu")]));
    let mut without = locks::bare_metal();
    assert!(!refused("modulefile", &without, &[("toolkit", "/opt/cuda")]));
    without.target.get_mut("lab").unwrap().toolkit = None;
    assert!(refused("modulefile", &without, &[("toolkit", "/opt/cuda")]));
}

/// What a comment tells to run is the file that is written.
#[test]
fn comments_name_the_file_that_is_written() {
    let lock = locks::bare_metal();
    for (name, usual, told) in [("conda", "environment.yml", "env create -f "), ("slurm", "job.sh", "sbatch ")] {
        for (file, expected) in [(None, usual), (Some("ci/own.file"), "ci/own.file"), (Some("a b"), usual)] {
            let options = Options { file: file.map(String::from), target: Some("lab".into()), ..Options::default() };
            let text = format(name).unwrap().render(&lock, &options).unwrap();
            assert!(text.contains(&format!("{told}{expected}")), "{text}");
        }
    }
}

/// A lock whose driver runs the stack by a cuda-compat.
fn by_compat(mut lock: Lock, name: &str) -> Lock {
    let driver = gpuenv::lock::DriverLock { cuda: "12.2".into(), ..locks::driver("forward-compat") };
    lock.target.get_mut(name).unwrap().driver = Some(driver);
    lock
}

/// conda asks the driver, which is older than what its cuda-compat offers: the environment could not be solved.
#[test]
fn conda_is_told_what_the_compat_offers() {
    let text = render("conda", &by_compat(locks::bare_metal(), "lab")).unwrap();
    assert!(text.contains("CONDA_OVERRIDE_CUDA=12.4 ") && text.contains("cuda-compat"), "{text}");
    let cuda = locks::driver("native").cuda;
    let text = render("conda", &locks::bare_metal()).unwrap();
    assert!(text.contains(&format!("CONDA_OVERRIDE_CUDA={cuda} ")) && !text.contains("cuda-compat"), "{text}");
}

/// What runs on a machine by its cuda-compat finds it; in a container the runtime decides.
#[test]
fn jobs_on_bare_metal_load_the_compat() {
    for name in ["skypilot", "github-actions"] {
        let mut lock = by_compat(locks::bare_metal(), "lab");
        lock.wheel = locks::container().wheel;
        lock.wheel[0].targets = vec!["lab".into()];
        let text = render(name, &lock).unwrap();
        assert!(text.contains("/usr/local/cuda-12.4/compat") && text.contains("LD_LIBRARY_PATH"), "{name}: {text}");
        let text = render(name, &by_compat(locks::container(), "prod")).unwrap();
        assert!(!text.contains("compat"), "{name}: {text}");
    }
}

/// Triton calls a C compiler where it runs, and the smallest images have none.
#[test]
fn a_container_gets_the_compiler_that_triton_calls() {
    let mut lock = locks::container();
    for name in ["modal", "github-actions"] {
        assert!(!render(name, &lock).unwrap().contains("gcc"), "{name}");
    }
    lock.stack.insert("triton".into(), "3.1.0".into());
    for name in ["modal", "github-actions"] {
        let text = render(name, &lock).unwrap();
        let (gcc, wheels) = (text.find("command -v gcc").unwrap(), text.find("pip").unwrap());
        assert!(gcc < wheels || name == "github-actions", "{name}: {text}");
    }
    // Modal's own image has one, and so has whatever a runner is.
    lock.target.get_mut("prod").unwrap().image = None;
    for name in ["modal", "github-actions"] {
        assert!(!render(name, &lock).unwrap().contains("gcc"), "{name}");
    }
}
