//! `uv`: each package tied to its index, each platform to its wheel.

use std::process::Command;

use gpuenv::export::{Options, format};
use gpuenv::lock::Wheel;
use toml::{Table, Value};

use crate::common::tools;
use crate::{locks, render};

fn parse(text: &str) -> Table {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

const X86: &str = "sys_platform == 'linux' and platform_machine == 'x86_64'";

#[test]
fn one_platform() {
    let table = parse(&render("uv", &locks::container()).unwrap());
    assert_eq!(table["project"]["requires-python"].as_str(), Some("==3.11.*"));
    assert_eq!(strings(&table["project"]["dependencies"]), ["torch==2.5.1+cu124"]);
    let uv = &table["tool"]["uv"];
    assert_eq!(strings(&uv["environments"]), [X86]);
    assert_eq!(uv["index"][0]["name"].as_str(), Some("pytorch-cu124"));
    assert_eq!(uv["index"][0]["url"].as_str(), Some(locks::CU124));
    assert_eq!(uv["index"][0]["explicit"].as_bool(), Some(true));
    assert_eq!(uv["sources"]["torch"][0]["index"].as_str(), Some("pytorch-cu124"));
}

#[test]
fn the_default_index_needs_no_source() {
    let table = parse(&render("uv", &locks::public_index()).unwrap());
    assert!(table["tool"]["uv"].get("index").is_none());
    assert!(table["tool"]["uv"].get("sources").is_none());
}

#[test]
fn what_comes_next_lets_uv_take_a_file_that_is_named_otherwise() {
    let next = |lock| (format("uv").unwrap().next)(&lock, "pyproject.toml", &Options::default());
    assert_eq!(next(locks::addressed()), "UV_SKIP_WHEEL_FILENAME_CHECK=1 uv sync");
    assert_eq!(next(locks::container()), "uv sync");
}

#[test]
fn what_is_compiled_beside_a_framework_is_not_isolated() {
    let table = parse(&render("uv", &locks::compiled_beside()).unwrap());
    let uv = &table["tool"]["uv"];
    assert_eq!(strings(&uv["no-build-isolation-package"]), ["flash-attn", "torch-scatter", "transformer-engine-torch"]);
    assert_eq!(strings(&uv["default-groups"]), ["build"]);
    assert!(strings(&table["dependency-groups"]["build"]).contains(&"ninja"));
    let plain = parse(&render("uv", &locks::container()).unwrap());
    assert!(plain.get("dependency-groups").is_none() && plain["tool"]["uv"].get("default-groups").is_none());
    let mut lock = locks::compiled_beside();
    lock.wheel[0].unisolated = Some("x\"]\n[evil".into());
    assert!(render("uv", &lock).is_err() && render("dockerfile", &lock).is_err());
    assert!(render("requirements", &lock).is_err());
}

/// A build that compiles for CUDA only where it sees a GPU is told to.
#[test]
fn a_build_that_sees_no_gpu_compiles_for_cuda() {
    let lock = locks::compiled_beside();
    assert!(render("dockerfile", &lock).unwrap().contains("\nENV FORCE_CUDA=\"1\"\n"));
    let modal = render("modal", &lock).unwrap();
    let told = "\"FORCE_CUDA\": \"1\", \"FA_ARCHS\": \"90\"})";
    let (env, compiled) = (modal.find(told).unwrap(), modal.find("\"flash-attn==2.8.3").unwrap());
    assert!(env < compiled, "{modal}");
    let told = "TORCH_CUDA_ARCH_LIST='8.0;9.0+PTX' CUDAARCHS='80-real;90' FORCE_CUDA=1 FA_ARCHS=90";
    let next = (format("uv").unwrap().next)(&lock, "pyproject.toml", &Options::default());
    assert_eq!(next, format!("{told} uv sync"));
    for (name, before, after) in [
        ("requirements", "# Set ", " for it"),
        ("uv", "unless uv runs with ", "\n"),
        ("conda", "#   ", " pip install --no-build-isolation"),
        ("pixi", "#   ", " pip install --no-build-isolation"),
        ("skypilot", "\\nexport ", "\\nprintf"),
    ] {
        let text = render(name, &lock).unwrap();
        assert!(text.contains(&format!("{before}{told}{after}")), "{text}");
    }
    let workflow = render("github-actions", &lock).unwrap();
    assert!(
        workflow.contains(&format!("variables: \"{}\\n\"", told.replace('\'', "").replace(' ', "\\n"))),
        "{workflow}"
    );
    // Whose GPUs nobody names gets no lists.
    let mut unsaid = lock;
    unsaid.arch_list = None;
    unsaid.target.values_mut().for_each(|target| {
        target.arch_list = None;
        target.gpu.clear();
    });
    let image = render("dockerfile", &unsaid).unwrap();
    assert!(image.contains("\nENV FORCE_CUDA=\"1\"\n") && !image.contains("ARCH_LIST"), "{image}");
}

/// uv need not build what is compiled beside torch to learn what that requires: there is no torch yet when it locks.
#[test]
fn what_is_compiled_is_locked_without_being_built() {
    let text = render("uv", &locks::compiled_beside()).unwrap();
    let told = |table: &Table| {
        let tables = table["tool"]["uv"]["dependency-metadata"].as_array().unwrap();
        let entry =
            |one: &Value| format!("{} {} {}", one["name"], one["version"], one["requires-dist"]).replace('"', "");
        tables.iter().map(entry).collect::<Vec<_>>()
    };
    let both = [
        "flash-attn 2.8.3 [einops, torch]",
        "torch-scatter 2.8.3 []",
        "transformer-engine-torch 2.8.3 [einops, torch]",
    ];
    assert_eq!(told(&parse(&text)), both);
    // What somebody knows better stays; twice is once; another lock takes the place of the first.
    let theirs = "[[tool.uv.dependency-metadata]]\nname = \"Flash_Attn\"\nrequires-dist = [\"torch\"]\n";
    let first = merged(&format!("{MINE}\n{theirs}"), &locks::compiled_beside()).unwrap();
    assert!(
        first.contains(theirs) && parse(&first)["tool"]["uv"]["dependency-metadata"].as_array().unwrap().len() == 3
    );
    assert_eq!(merged(&first, &locks::compiled_beside()).unwrap(), first);
    let second = merged(&first, &locks::container()).unwrap();
    assert!(second.contains(theirs) && !second.contains("transformer-engine"), "{second}");
    let mut newer = locks::compiled_beside();
    newer.wheel[0].requires = Some(vec!["torch".into()]);
    let again = merged(&merged(MINE, &locks::compiled_beside()).unwrap(), &newer).unwrap();
    assert_eq!(told(&parse(&again)), ["flash-attn 2.8.3 [torch]", both[1], both[2]]);
    assert!(!merged(&again, &locks::container()).unwrap().contains("dependency-metadata"));

    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-sources");
    let indexes = tools::Indexes::publish(&python, &folder);
    let wheels = [("transformer-engine", "2.8.3", "transformer-engine-torch==2.8.3"), ("deepspeed", "0.17.0", "")];
    let tools_of_builds = ["einops", "ninja", "pip", "wheel"].map(|name| (name, "1", ""));
    for (name, version, needs) in wheels.into_iter().chain(tools_of_builds) {
        tools::publish(&python, &folder, &[("public", name, version, needs)]);
    }
    for name in ["flash-attn", "torch-scatter", "transformer-engine-torch"] {
        tools::publish_source(&python, &folder, ("public", name, "2.8.3"));
    }
    let lock = |text: &str| {
        let text = text.replace(locks::CU124, &indexes.private).replace("==3.11.*", ">=3.8");
        std::fs::write(folder.join("pyproject.toml"), text).unwrap();
        let mut lock = Command::new(&uv);
        lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
        lock.current_dir(&folder).output().unwrap()
    };
    let ran = lock(&text);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let locked = std::fs::read_to_string(folder.join("uv.lock")).unwrap();
    assert!(
        locked.contains("transformer_engine_torch-2.8.3.tar.gz") && locked.contains("name = \"einops\""),
        "{locked}"
    );
    std::fs::remove_file(folder.join("uv.lock")).unwrap();
    let untold = text.replace("tool.uv.dependency-metadata", "tool.gpuenv.nothing");
    assert!(!lock(&untold).status.success(), "uv builds it");
}

#[test]
fn a_file_named_otherwise_than_its_metadata_says_is_told() {
    let mut lock = locks::addressed();
    let (uv, docker) = (render("uv", &lock).unwrap(), render("dockerfile", &lock).unwrap());
    let url = lock.wheel[0].url.clone().unwrap();
    assert_eq!(strings(&parse(&uv)["project"]["dependencies"])[0], format!("torch@{url}"));
    assert!(docker.contains(&format!(" torch@{url}")), "{docker}");
    assert!(uv.contains("UV_SKIP_WHEEL_FILENAME_CHECK") && docker.contains("ENV UV_SKIP_WHEEL_FILENAME_CHECK=\"1\""));
    lock.wheel[0].version = "2.5.0a0+872d.nv24.08.17".into();
    let (uv, docker) = (render("uv", &lock).unwrap(), render("dockerfile", &lock).unwrap());
    assert!(!uv.contains("UV_SKIP") && !docker.contains("UV_SKIP"));
}

#[test]
fn platforms_with_different_wheels_get_markers() {
    let table = parse(&render("uv", &locks::two_platforms()).unwrap());
    assert_eq!(
        strings(&table["project"]["dependencies"]),
        [format!("torch==2.5.1 ; {}", X86.replace("x86_64", "aarch64")), format!("torch==2.5.1+cu124 ; {X86}")]
    );
    let sources = table["tool"]["uv"]["sources"]["torch"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "the other wheel is of the default index");
    assert_eq!(sources[0]["marker"].as_str(), Some(X86));
}

#[test]
fn platforms_with_the_same_wheel_get_none() {
    let mut lock = locks::two_platforms();
    lock.wheel[1].version = "2.5.1+cu124".into();
    lock.wheel[1].index = Some(locks::CU124.into());
    let table = parse(&render("uv", &lock).unwrap());
    assert_eq!(strings(&table["project"]["dependencies"]), ["torch==2.5.1+cu124"]);
    assert!(table["tool"]["uv"]["sources"]["torch"][0].get("marker").is_none());
    assert_eq!(strings(&table["tool"]["uv"]["environments"]).len(), 2);
}

/// What is for one processor alone is looked for on its index there alone, whatever else comes from that index.
#[test]
fn a_package_for_one_processor_has_its_source_there() {
    let mut lock = locks::two_platforms();
    lock.wheel[1] = Wheel { index: Some(locks::CU124.into()), ..lock.wheel[1].clone() };
    lock.wheel.push(locks::wheel("xformers", "0.0.29", Some(locks::CU124), &["lab"]));
    let table = parse(&render("uv", &lock).unwrap());
    let sources = &table["tool"]["uv"]["sources"];
    assert_eq!(sources["xformers"][0]["marker"].as_str(), Some(X86));
    // torch has a wheel for each of the two, and both are there.
    assert!(sources["torch"][0].get("marker").is_none(), "{sources:?}");
}

#[test]
fn indexes_with_similar_addresses_get_different_names() {
    let mut lock = locks::container();
    let other = "https://download.pytorch.org/whl/cu124/";
    lock.wheel.push(locks::wheel("torchvision", "0.20.1+cu124", Some(other), &["prod"]));
    let table = parse(&render("uv", &lock).unwrap());
    let sources = &table["tool"]["uv"]["sources"];
    assert_ne!(sources["torch"][0]["index"], sources["torchvision"][0]["index"]);
}

#[test]
fn what_others_bring_in_is_that_of_the_locked_cuda() {
    let text = render("uv", &locks::constrained()).unwrap();
    let uv = &parse(&text)["tool"]["uv"];
    assert_eq!(strings(&uv["constraint-dependencies"]), ["torchvision==0.20.1+cu124"]);
    assert_eq!(uv["sources"]["torchvision"][0]["index"].as_str(), Some("pytorch-cu124"));
    let (Some(program), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-constrained");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    let found = |text: &str| {
        let text = text.replace(locks::CU124, &indexes.private).replace("==3.11.*", ">=3.8");
        let text = text.replace("dependencies = [\n    \"t", "dependencies = [\n    \"timm\",\n    \"t");
        std::fs::write(folder.join("pyproject.toml"), text).unwrap();
        let _ = std::fs::remove_file(folder.join("uv.lock"));
        let mut lock = Command::new(&program);
        lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
        tools::succeed(lock.current_dir(&folder));
        let locked = parse(&std::fs::read_to_string(folder.join("uv.lock")).unwrap());
        let packages = locked["package"].as_array().unwrap().clone();
        let package = packages.iter().find(|package| package["name"].as_str() == Some("torchvision")).unwrap();
        package["version"].as_str().unwrap().to_string()
    };
    assert_eq!(found(&text), "0.20.1+cu124");
    assert_eq!(found(&render("uv", &locks::two_indexes()).unwrap()), "0.20.1", "the check can fail");
}

/// Targets that differ on one platform are extras, of which no two go together.
#[test]
fn targets_that_differ_are_extras_that_exclude_each_other() {
    let mut lock = locks::mixed();
    let beside = |version: &str, index: &str, target: &str| gpuenv::lock::ConstraintLock {
        version: version.into(),
        index: Some(index.into()),
        targets: vec![target.into()],
        ..locks::constrained().constraint[0].clone()
    };
    let whl_cpu = "https://download.pytorch.org/whl/cpu";
    lock.constraint = vec![beside("0.20.1+cpu", whl_cpu, "ci"), beside("0.20.1+cu124", locks::CU124, "lab")];
    let text = render("uv", &lock).unwrap();
    let table = parse(&text);
    let extras = &table["project"]["optional-dependencies"];
    assert_eq!(strings(&extras["ci"]), ["torch==2.5.1+cpu", "torchvision==0.20.1+cpu"]);
    assert_eq!(strings(&extras["lab"]), ["torch==2.5.1+cu124", "torchvision==0.20.1+cu124"]);
    let uv = &table["tool"]["uv"];
    assert_eq!(uv["conflicts"][0][0]["extra"].as_str(), Some("ci"));
    assert_eq!(uv["sources"]["torch"][0]["extra"].as_str(), Some("ci"));
    let (Some(program), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-extras");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    let cpu = [("cpu", "torch", "2.5.1+cpu", ""), ("cpu", "torchvision", "0.20.1+cpu", "torch==2.5.1")];
    tools::publish(&python, &folder, &cpu);
    let cpu = format!("file://{}", folder.join("cpu").display());
    let text = text.replace(locks::CU124, &indexes.private).replace(whl_cpu, &cpu);
    let text = text.replace("version = \"0\"\n", "version = \"0\"\ndependencies = [\"timm\"]\n");
    std::fs::write(folder.join("pyproject.toml"), text.replace("==3.11.*", ">=3.8")).unwrap();
    let mut lock = Command::new(&program);
    lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
    tools::succeed(lock.current_dir(&folder));
    let locked = std::fs::read_to_string(folder.join("uv.lock")).unwrap();
    for extra in ["cpu", "cu124"] {
        assert!(
            locked.contains(&format!("\"2.5.1+{extra}\"")) && locked.contains(&format!("\"0.20.1+{extra}\"")),
            "{locked}"
        );
    }
}

/// The extras of an earlier export give way to those of the next; one of somebody's own must go with them.
#[test]
fn extras_of_ones_own_stand_beside_those_of_targets() {
    let first = merged(MINE, &locks::mixed()).unwrap();
    let mut newer = locks::mixed();
    newer.wheel.iter_mut().for_each(|wheel| wheel.version = wheel.version.replace("2.5.1", "2.5.0"));
    let second = merged(&first, &newer).unwrap();
    assert_eq!(strings(&parse(&second)["project"]["optional-dependencies"]["ci"]), ["torch==2.5.0+cpu"]);
    let head = "[project.optional-dependencies]\n";
    assert!(first.contains(head), "{first}");
    let error = merged(&first.replace(head, &format!("{head}old = [\"torch==2.1\"]\n")), &locks::mixed()).unwrap_err();
    assert!(error.contains("`torch==2.1`, which excludes the locked"), "{error}");
}

const MINE: &str = "\
# mine
[project]
name = \"mine\"   # kept
version = \"1\"
dependencies = [\"rich>=13\", \"requests\"]

[tool.ruff]
line-length = 99

[tool.uv.sources]
rich = { git = \"https://git.example/rich\" }
";

fn merged(old: &str, lock: &gpuenv::lock::Lock) -> Result<String, String> {
    let merge = gpuenv::export::format("uv").unwrap().merge.unwrap();
    merge(old, &render("uv", lock).unwrap(), "pyproject.toml")
        .map(|merged| merged.text)
        .map_err(|error| error.to_string())
}

#[test]
fn a_file_that_is_there_keeps_all_that_gpuenv_did_not_write() {
    let first = merged(MINE, &locks::constrained()).unwrap();
    let table = parse(&first);
    let dependencies = strings(&table["project"]["dependencies"]);
    assert_eq!(dependencies, ["rich>=13", "requests", "tensorflow==2.18.0", "torch==2.5.1+cu124"]);
    for kept in ["# mine\n", "name = \"mine\"   # kept\n", "[tool.ruff]\nline-length = 99\n", "rich = { git = "] {
        assert!(first.contains(kept), "{kept}\n{first}");
    }
    assert_eq!(table["project"]["requires-python"].as_str(), Some("==3.11.*"));
    assert_eq!(merged(&first, &locks::constrained()).unwrap(), first, "twice is once");
    // Another lock takes the place of the first one.
    let second = merged(&first, &locks::public_index()).unwrap();
    let table = parse(&second);
    assert_eq!(strings(&table["project"]["dependencies"]), ["rich>=13", "requests", "torch==2.5.1"]);
    assert!(!second.contains("pytorch-cu124") && !second.contains("constraint-dependencies"), "{second}");
    assert!(second.contains("rich = { git = "), "{second}");
    assert_eq!(merged(&second, &locks::constrained()).unwrap().matches("torchvision==").count(), 2);
    // What was rendered merges into itself as it is.
    let whole = render("uv", &locks::mixed()).unwrap();
    assert_eq!(merged(&whole, &locks::mixed()).unwrap(), whole);
}

/// Every comment, wherever one can stand, in lists of every form, whatever becomes of what gpuenv wrote beside it.
#[test]
fn a_list_keeps_its_comments() {
    let lists = [
        "[\n    \"rich\",\n    \"scipy\",  # one\n    # two\n]",
        "[\n    \"rich\",  # one\n    \"scipy\"  # two\n]",
        "[\n    # one\n    \"rich\",\n\n    # two\n    \"scipy\",\n    ]",
        "[\"rich\", \"scipy\"]  # one",
        "[\"rich\", \"scipy\",  # one\n]",
        "[ # one\n  \"rich\" # two\n  , \"scipy\" ]",
        "[\n    # one\n]",
        "[ # one\n    # two\n]  # three",
        "[]",
        "[]  # one",
    ];
    for list in lists {
        let old = format!(
            "[project]\nname = \"mine\"\nversion = \"1\"\n# four\ndependencies = {list}\n\n\
             [tool.uv]\n# five\nconstraint-dependencies = {list}\n# six\nexclude-dependencies = {list}\n# seven\n"
        );
        let mut text = old.clone();
        for lock in [
            locks::constrained(),
            locks::public_index(),
            locks::constrained(),
            locks::own_build(),
            locks::public_index(),
            locks::mixed(),
        ] {
            text = merged(&text, &lock).unwrap();
            let table = parse(&text);
            for word in ["one", "two", "three", "four", "five", "six", "seven"] {
                let count = |text: &str| text.matches(&format!("# {word}\n")).count();
                assert_eq!(count(&text), count(&old), "{word} of\n{old}in\n{text}");
            }
            for entry in ["rich", "scipy"].iter().filter(|entry| list.contains(*entry)) {
                for part in [&table["project"]["dependencies"], &table["tool"]["uv"]["constraint-dependencies"]] {
                    assert!(strings(part).contains(entry), "{entry} of\n{old}in\n{text}");
                }
            }
            assert_eq!(merged(&text, &lock).unwrap(), text, "twice is once");
        }
    }
}

/// A comment stays at the line that it is about, and above what it was above.
#[test]
fn a_comment_stays_where_it_was() {
    let of = |list: &str| format!("[project]\nname = \"mine\"\nversion = \"1\"\ndependencies = {list}\n");
    let old = of("[\n    \"numpy<2\",\n    \"scipy\",  # pinned by ops, see T-12\n    # TODO: drop scipy\n]");
    let first = merged(&old, &locks::constrained()).unwrap();
    let kept = "    \"numpy<2\",\n    \"scipy\",  # pinned by ops, see T-12\n    # TODO: drop scipy\n";
    assert!(first.contains(&format!("{kept}    \"tensorflow==2.18.0\",\n    \"torch==2.5.1+cu124\",\n]")), "{first}");
    let second = merged(&first, &locks::public_index()).unwrap();
    assert!(second.contains(&format!("{kept}    \"torch==2.5.1\",\n]")), "{second}");
    // One of somebody's on a line of gpuenv's has the line to itself, when that goes.
    let noted = first.replacen("cu124\",\n]", "cu124\",  # ask Ann\n    \"rich\",\n]", 1);
    let second = merged(&noted, &locks::public_index()).unwrap();
    assert!(second.contains(&format!("{kept}    # ask Ann\n    \"rich\",\n    \"torch==2.5.1\",\n]")), "{second}");
    // Without a comma behind the last entry its comment stays at it.
    let first = merged(&of("[\n    \"scipy\"  # pinned\n]"), &locks::public_index()).unwrap();
    assert!(first.contains("[\n    \"scipy\",  # pinned\n    \"torch==2.5.1\",\n]"), "{first}");
}

/// So do comments at the keys and tables that gpuenv sets, when their values change.
#[test]
fn what_is_set_anew_keeps_the_comments_at_it() {
    let first = merged(MINE, &locks::constrained()).unwrap();
    let noted = first
        .replace("\ntorch = [", "\n# one\ntorch = [")
        .replace("explicit = true\n", "explicit = true  # two\n")
        .replace("[tool.gpuenv]\n", "# three\n[tool.gpuenv]\n")
        .replace("/whl/cu124\"\n", "/whl/else\"  # four\n");
    assert_ne!(noted, first);
    let second = merged(&noted, &locks::constrained()).unwrap();
    for kept in ["# one\ntorch = [", "explicit = true  # two\n", "# three\n", "/whl/cu124\"  # four\n"] {
        assert!(second.contains(kept), "{kept} in\n{second}");
    }
    assert_eq!(merged(&second, &locks::constrained()).unwrap(), second, "twice is once");
}

#[test]
fn what_others_wrote_is_not_replaced() {
    for (old, told) in [
        ("[tool.uv.sources]\ntorch = { path = \"x\" }\n", "`tool.uv.sources.torch`"),
        ("[[tool.uv.index]]\nname = \"pytorch-cu124\"\nurl = \"https://else.example\"\n", "another index"),
        ("[project]\nname = \"a\"\ndependencies = [\"torch==2.1\"]\n", "`torch==2.1`, which excludes the locked"),
        ("[[tool.uv.index]]\nname = \"mine\"\nurl = \"https://download.pytorch.org/whl/cu124/\"\n", "`mine`"),
        ("[tool.poetry]\nname = \"a\"\n", "Poetry"),
        ("[project]\nname = \"a\"\ndynamic = [\"dependencies\"]\n", "computed"),
        ("[project\n", "not TOML"),
    ] {
        let error = merged(old, &locks::container()).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}

/// What a build backend computes is not written beside its word for it.
#[test]
fn what_is_computed_is_left_to_the_backend() {
    let old = "[project]\nname = \"a\"\ndynamic = [\"version\", \"requires-python\"]\n";
    let text = merged(old, &locks::container()).unwrap();
    let project = text.parse::<toml::Table>().unwrap()["project"].clone();
    assert!(project.get("version").is_none() && project.get("requires-python").is_none(), "{text}");
    let text = merged(&old.replace("\"version\", ", ""), &locks::container()).unwrap();
    assert!(text.parse::<toml::Table>().unwrap()["project"].get("version").is_some(), "{text}");
}

/// Of what comes from the package index the lock writes no source; one of the user's own would take it from elsewhere.
#[test]
fn a_source_of_a_package_that_comes_from_the_index_is_not_overlooked() {
    let old = "[tool.uv.sources]\ntorch = { index = \"mine\" }\n";
    let error = merged(old, &locks::public_index()).unwrap_err();
    assert!(error.contains("says where a locked package comes from"), "{error}");
}

/// What comes with the pins in the locked release is held like them.
#[test]
fn overrides_of_what_the_pins_bring_are_refused() {
    let mut lock = locks::container();
    lock.stack.insert("cudnn".into(), "9.1.0.70".into());
    lock.stack.insert("triton".into(), "3.1.0".into());
    let with = |one: &str| merged(&format!("[tool.uv]\noverride-dependencies = [\"{one}\"]\n"), &lock);
    for one in ["nvidia-cudnn-cu12==9.10.2.21", "triton==3.2.0", "triton"] {
        assert!(with(one).unwrap_err().contains(one), "{one}");
    }
    for one in ["nvidia-cudnn-cu12==9.1.0.70", "triton==3.1.0", "certifi==2026.1.1"] {
        let text = with(one).unwrap();
        assert!(strings(&parse(&text)["tool"]["gpuenv"]["brought"]).contains(&"triton==3.1.0"), "{text}");
    }
}

#[test]
fn uv_takes_each_wheel_from_its_own_index() {
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-lock");
    let indexes = tools::Indexes::publish(&python, &folder);
    let project = render("uv", &locks::two_indexes()).unwrap();
    // Locking needs some Python at hand, not the locked one.
    let project = project.replace(locks::CU124, &indexes.private).replace("==3.11.*", ">=3.8");
    std::fs::write(folder.join("pyproject.toml"), project).unwrap();
    let mut lock = Command::new(&uv);
    lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
    tools::succeed(lock.current_dir(&folder));

    let locked = parse(&std::fs::read_to_string(folder.join("uv.lock")).unwrap());
    let found = |name: &str| {
        let packages = locked["package"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"].as_str() == Some(name)).unwrap();
        let index = package["source"]["registry"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{} from {index}", package["version"].as_str().unwrap())
    };
    assert_eq!(found("torch"), "2.5.1+cu124 from private");
    assert_eq!(found("tensorflow"), "2.18.0 from public");
    assert_eq!(found("nvidia-cublas-cu12"), "12.4.5.8 from public");
}

/// What somebody installs himself is resolved for nobody: an index has other builds of it.
#[test]
fn a_build_of_ones_own_is_taken_from_no_index() {
    let text = render("uv", &locks::own_build()).unwrap();
    assert_eq!(strings(&parse(&text)["tool"]["uv"]["exclude-dependencies"]), ["torch"]);
    let merged_text = merged(MINE, &locks::own_build()).unwrap();
    assert!(merged_text.contains("exclude-dependencies"), "{merged_text}");
    assert!(!merged(&merged_text, &locks::public_index()).unwrap().contains("exclude-dependencies"));
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-own");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    std::fs::write(folder.join("pyproject.toml"), text.replace("==3.11.*", ">=3.8")).unwrap();
    let mut lock = Command::new(&uv);
    lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
    tools::succeed(lock.current_dir(&folder));
    let locked = std::fs::read_to_string(folder.join("uv.lock")).unwrap();
    assert!(locked.contains("name = \"torchvision\"") && !locked.contains("name = \"torch\"\n"), "{locked}");
}

/// A project that admits more Pythons than the lock is for keeps its line, and uv is held to the locked one.
#[test]
fn a_wider_python_is_held_to_the_locked_one() {
    let held = format!("{X86} and python_version == '3.11'");
    let old = MINE.replace("version = \"1\"\n", "version = \"1\"\nrequires-python = \">=3.10\"\n");
    let first = merged(&old, &locks::container()).unwrap();
    let table = parse(&first);
    assert_eq!(table["project"]["requires-python"].as_str(), Some(">=3.10"));
    assert_eq!(strings(&table["tool"]["uv"]["environments"]), [held.as_str()]);
    assert_eq!(strings(&table["tool"]["gpuenv"]["environments"]), [held.as_str()]);
    assert_eq!(merged(&first, &locks::container()).unwrap(), first, "twice is once");
    let merge = gpuenv::export::format("uv").unwrap().merge.unwrap();
    let notes = merge(&old, &render("uv", &locks::container()).unwrap(), "pyproject.toml").unwrap().notes.join(" ");
    assert!(notes.contains("`uv sync --python 3.11`") && notes.contains("macOS"), "{notes}");
    assert!(table["tool"]["gpuenv"].get("requires-python").is_none(), "{first}");
    // Whoever narrows it needs no more.
    let narrow = merged(&first.replace(">=3.10", "==3.11.*"), &locks::container()).unwrap();
    assert_eq!(strings(&parse(&narrow)["tool"]["uv"]["environments"]), [X86]);
}

/// The Pythons that an export wrote are replaced when the lock moves on; those that somebody wrote are not.
#[test]
fn the_python_of_an_earlier_export_follows_the_lock() {
    let mut newer = locks::container();
    newer.stack.insert("python".to_string(), "3.12".to_string());
    let python = |text: &str| parse(text)["project"]["requires-python"].as_str().map(str::to_string);
    for old in [render("uv", &locks::container()).unwrap(), merged(MINE, &locks::container()).unwrap()] {
        let noted = old.replace("\"==3.11.*\"\n", "\"==3.11.*\"  # kept\n");
        let next = merged(&noted, &newer).unwrap();
        assert_eq!(python(&next).as_deref(), Some("==3.12.*"));
        assert!(next.contains("# kept"), "{next}");
        assert_eq!(merged(&next, &newer).unwrap(), next, "twice is once");
        let back = merged(&next, &locks::container()).unwrap();
        assert_eq!(back, noted);
        // Whoever changes it owns it.
        let own = old.replace("requires-python = \"==3.11.*\"", "requires-python = \">=3.11,<3.12\"");
        let kept = merged(&own, &locks::container()).unwrap();
        assert_eq!(python(&kept).as_deref(), Some(">=3.11,<3.12"));
        assert!(merged(&kept, &newer).unwrap_err().contains("`requires-python`"));
    }
    let mine = MINE.replace("version = \"1\"\n", "version = \"1\"\nrequires-python = \"==3.11.*\"\n");
    let own = merged(&mine, &locks::container()).unwrap();
    assert!(merged(&own, &newer).unwrap_err().contains("`requires-python`"), "{own}");
}
