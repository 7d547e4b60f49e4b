//! Every format in front of its own reader, on twelve locks; and a twin of each with one mistake, which the reader refuses
//! or the check could not fail. What has no reader here (marked so in docs/exports.md) is held against a grammar of our
//! own.

use std::path::Path;
use std::process::Command;

use gpuenv::export::{Options, format};
use gpuenv::lock::{Lock, Wheel};

use crate::common::tools;
use crate::locks;

/// Locks of all kinds by name, each with the target to render.
fn all() -> Vec<(&'static str, Lock, &'static str)> {
    let mut cpu = locks::container();
    cpu.target.get_mut("prod").unwrap().driver = None;
    cpu.target.get_mut("prod").unwrap().gpu.clear();
    let mut compat = locks::container();
    compat.target.get_mut("prod").unwrap().driver = Some(locks::driver("forward-compat"));
    let mut arm = locks::container();
    arm.target.get_mut("prod").unwrap().arch = "aarch64".into();
    arm.wheel[0].arch = "aarch64".into();
    let mut digest = locks::container();
    digest.target.get_mut("prod").unwrap().image = Some(format!("nvidia/cuda:12.4@sha256:{}", "0a".repeat(32)));
    vec![
        ("container", locks::container(), "prod"),
        ("build", locks::container_with_build(), "prod"),
        ("bare", locks::bare_metal(), "lab"),
        ("mixed", locks::mixed(), "lab"),
        ("platforms", locks::two_platforms(), "lab"),
        ("public", locks::public_index(), "prod"),
        ("indexes", locks::two_indexes(), "prod"),
        ("release", locks::beside_a_release(), "prod"),
        ("beside", locks::compiled_beside(), "prod"),
        ("constrained", locks::constrained(), "prod"),
        ("inside", locks::image_with_torch(), "prod"),
        ("cpu", cpu, "prod"),
        ("compat", compat, "prod"),
        ("arm", arm, "prod"),
        ("digest", digest, "prod"),
        ("own", locks::own_build(), "prod"),
    ]
}

/// The locks in this format with these options, where they can be rendered, by their names: twelve at least.
pub fn rendered(name: &str, values: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let mut rendered = Vec::new();
    for (lock_name, mut lock, target) in all() {
        if name == "pylock" {
            lock.wheel.iter_mut().for_each(addressed);
        }
        let mut options = Options { target: Some(target.into()), ..Options::default() };
        for (option, value) in values {
            options = options.with(option, value);
        }
        let text = match format(name).unwrap().render(&lock, &options) {
            Ok(text) => text,
            // What an image needs, what pip cannot tell apart, what a service has no machine for, and a lock of which nothing is left
            // to install.
            Err(error)
                if ["no-image", "ambiguous-index", "nothing-to-install", "in-image", "own-build", "other-cpu"]
                    .contains(&error.code()) =>
            {
                continue;
            }
            Err(error) => panic!("{name} of {lock_name}: {error}"),
        };
        rendered.push((lock_name, text));
    }
    assert!(rendered.len() >= 12, "{name} of {} locks", rendered.len());
    rendered
}

/// The same, each in a file of this name.
pub fn files(name: &str, file: &str, values: &[(&str, &str)]) -> Vec<std::path::PathBuf> {
    let written = rendered(name, values).into_iter().map(|(lock_name, text)| {
        let folder = tools::folder(&format!("readers-{name}-{lock_name}-{}", values.len()));
        std::fs::write(folder.join(file), text).unwrap();
        folder.join(file)
    });
    written.collect()
}

/// A wheel whose file is known.
fn addressed(wheel: &mut Wheel) {
    let file = format!("{}-{}-py3-none-any.whl", wheel.package.replace('-', "_"), wheel.version.replace('+', "%2B"));
    wheel.url = Some(format!("https://wheels.acme.example/{file}"));
    (wheel.index, wheel.sha256) = (None, "a".repeat(64));
}

/// The file's twin with one mistake.
pub fn twin(file: &Path, from: &str, to: &str) -> std::path::PathBuf {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    let folder = tools::folder(&format!("{}-twin", file.parent().unwrap().file_name().unwrap().to_str().unwrap()));
    let twin = folder.join(file.file_name().unwrap());
    std::fs::write(&twin, text.replacen(from, to, 1)).unwrap();
    twin
}

pub fn accepts(command: &mut Command) -> bool {
    command.output().unwrap().status.success()
}

const SHELLS: &[&str] = &["bash", "dash", "zsh", "mksh", "fish"];

/// All files are accepted, the twin of the first is not.
pub fn check(program: &str, arguments: &[&str], files: &[std::path::PathBuf], mistake: (&str, &str)) {
    // A shell reads one file; the others take all of them, and each start of one takes a second.
    let at_once = if SHELLS.contains(&program) { 1 } else { files.len() };
    let Some(program) = tools::find(program) else { return };
    for files in files.chunks(at_once) {
        tools::succeed(Command::new(&program).args(arguments).args(files).current_dir(files[0].parent().unwrap()));
    }
    let twin = twin(&files[0], mistake.0, mistake.1);
    let mut command = Command::new(&program);
    command.args(arguments).arg(&twin).current_dir(twin.parent().unwrap());
    assert!(!accepts(&mut command), "{program:?} accepts {mistake:?}");
}

#[test]
fn kubernetes() {
    for values in [&[][..], &[("kind", "pod")], &[("kind", "deployment"), ("runtime-class", "nvidia")]] {
        let files = files("kubernetes", "gpuenv.yaml", values);
        check("kubernetes-validate", &["--strict"], &files, ("nodeSelectorTerms", "nodeSelectorTerm"));
    }
    let text = std::fs::read_to_string(&files("kubernetes", "gpuenv.yaml", &[])[0]).unwrap();
    assert!(text.contains("key: \"nvidia.com/cuda.driver-version.major\"\n"), "{text}");
    assert!(text.contains("operator: \"Gt\"\n") && text.contains("- \"550\"\n"), "{text}");
    let claims = files("kubernetes", "gpuenv.yaml", &[("dra", ""), ("kind", "pod")]);
    check("kubernetes-validate", &["--strict"], &claims, ("deviceClassName", "deviceClass"));
    let text = std::fs::read_to_string(&claims[0]).unwrap();
    assert!(text.contains("driverVersion.compareTo(semver('550.54.14')) >= 0"), "{text}");
    assert!(!text.contains("nvidia.com/gpu\""), "{text}");
}

#[test]
fn compose() {
    for values in [&[][..], &[("ipc", "host"), ("gpus", "2"), ("image", "example/train:1")]] {
        let files = files("compose", "compose.yaml", values);
        let mistake = ("capabilities: [\"gpu\"]", "capability: [\"gpu\"]");
        check("check-jsonschema", &["--builtin-schema", "vendor.compose-spec"], &files, mistake);
    }
}

#[test]
fn github_actions() {
    let files = files("github-actions", "gpuenv.yml", &[("gpu-runner", "self-hosted,a100")]);
    check("check-jsonschema", &["--builtin-schema", "vendor.github-workflows"], &files, ("runs-on", "run-on"));
}

#[test]
fn cmake() {
    let files = files("cmake", "CMakePresets.json", &[("host-compiler", "/usr/bin/g++-12")]);
    let text = std::fs::read_to_string(&files[1]).unwrap();
    assert!(text.contains("-gencode=arch=compute_80,code=sm_80"), "{text}");
    assert!(text.contains("-gencode=arch=compute_90,code=[compute_90,sm_90]"), "{text}");
    let Some(cmake) = tools::find("cmake") else { return };
    let list = |file: &Path| {
        let folder = file.parent().unwrap();
        std::fs::write(folder.join("CMakeLists.txt"), "cmake_minimum_required(VERSION 3.21)\nproject(x NONE)\n")
            .unwrap();
        let mut command = Command::new(&cmake);
        command.arg("--list-presets").current_dir(folder);
        command.output().unwrap()
    };
    for file in &files {
        let output = list(file);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told = String::from_utf8_lossy(&output.stdout).to_string();
        assert!(told.contains("\"prod\"") || told.contains("\"lab\""), "{told}");
    }
    assert!(!list(&twin(&files[0], "\"binaryDir\"", "\"binaryDirectory\"")).status.success());
}

#[test]
fn module_files() {
    let tcl = files("modulefile", "gpuenv", &[("venv", "/opt/venv")]);
    let program = tools::find("modulecmd.tcl").or_else(|| {
        let usual = Path::new("/usr/lib/x86_64-linux-gnu/modulecmd.tcl");
        usual.is_file().then(|| usual.to_path_buf())
    });
    if let (Some(modulecmd), Some(tclsh)) = (program, tools::find("tclsh")) {
        let load = |file: &Path, shell: &str| {
            let mut command = Command::new(&tclsh);
            command.arg(&modulecmd).args([shell, "load"]).arg(file).env_remove("LOADEDMODULES").env_remove("_LMFILES_");
            let output = command.output().unwrap();
            String::from_utf8_lossy(&output.stdout).to_string() + &String::from_utf8_lossy(&output.stderr)
        };
        for file in &tcl {
            for shell in ["bash", "fish", "zsh", "csh"] {
                let told = load(file, shell);
                assert!(told.contains("VIRTUAL_ENV") && !told.contains("ERROR"), "{told}");
            }
        }
        let bare = tcl.iter().find(|file| file.to_str().unwrap().contains("-bare-")).unwrap();
        assert!(load(bare, "bash").contains("/usr/local/cuda-12.4/bin"));
        assert!(load(&twin(&tcl[0], "setenv", "setenvironment"), "bash").contains("ERROR"));
        // What would be loaded in place of the wheels' goes, the toolkit's own bin stays.
        let mut command = Command::new(&tclsh);
        command.arg(&modulecmd).args(["bash", "load"]).arg(&tcl[0]).env_remove("LOADEDMODULES").env_remove("_LMFILES_");
        command.env("LD_LIBRARY_PATH", "/opt/own:/usr/local/cuda/lib64:/usr/local/cuda-12.1/targets/x86_64-linux/lib");
        let told = String::from_utf8_lossy(&command.output().unwrap().stdout).to_string();
        assert!(told.contains("LD_LIBRARY_PATH=/opt/own;"), "{told}");
    }
    let lua = files("modulefile", "gpuenv.lua", &[("syntax", "lua")]);
    let Some(interpreter) = tools::find("lua5.4") else { return };
    let stubs = "function whatis(t) assert(type(t) == 'string') end setenv = function(n, v) assert(n and v) end prepend_path = setenv; remove_path = setenv; dofile(arg[1])";
    let run = |file: &Path| {
        let script = file.with_file_name("run.lua");
        std::fs::write(&script, stubs).unwrap();
        accepts(Command::new(&interpreter).arg(script).arg(file))
    };
    for file in &lua {
        assert!(run(file), "{}", file.display());
    }
    assert!(!run(&twin(&lua[0], "whatis(", "whatis ")));
}

#[test]
fn slurm() {
    let options = [("gres", "gpu:h100:8"), ("constraint", "a100|h100"), ("venv", "/opt/venv"), ("time", "2:00:00")];
    let files = files("slurm", "job.sh", &options);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    // sbatch reads its lines until the first command, and nothing in them is expanded.
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    for line in ["#SBATCH --gres=gpu:h100:8", "#SBATCH --constraint=a100|h100", "#SBATCH --time=2:00:00"] {
        assert!(head.contains(&line), "{text}");
    }
    assert!(text.contains("\ngpuenv verify --quick --target prod\n"), "{text}");
    check("bash", &["-n"], &files, ("fi\n", "f i\n"));
    check("shellcheck", &["--norc", "--exclude=SC1091"], &files, ("\"$@\"", "$@"));
    let refused = |name: &str, value: &str| {
        let options = Options::default().with(name, value);
        format("slurm").unwrap().render(&locks::container(), &options).unwrap_err().code() == "bad-option"
    };
    for value in ["gpu:1 --uid=0", "gpu:1\n#SBATCH --uid=0", "", "-x", "$(id)", "a'b"] {
        assert!(refused("gres", value) && refused("constraint", value) && refused("venv", value), "{value:?}");
    }
}

#[test]
fn apptainer() {
    let files = files("apptainer", "stack.def", &[]);
    let mut activated = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let sections = ["%files", "%post", "%environment", "%labels"];
        for line in text.lines().filter(|line| line.starts_with('%')) {
            assert!(sections.contains(&line.split(' ').next().unwrap()), "{line}");
        }
        assert!(text.contains("\nBootstrap: docker\nFrom: ") && !text.contains("{{"), "{text}");
        // Where the last stage activates an environment, whoever starts the container is in it.
        if let Some((_, last)) = text.rsplit_once("%post").filter(|(_, last)| last.contains("export VIRTUAL_ENV=")) {
            let (post, environment) = last.split_once("\n%environment\n").expect("what holds when the container runs");
            assert!(post.contains("export VIRTUAL_ENV=") == environment.contains("export VIRTUAL_ENV="), "{text}");
            activated += 1;
        }
        let from = text.lines().filter_map(|line| line.strip_prefix("From: "));
        assert!(
            from.into_iter()
                .all(|image| !(image.contains('@') && image.rsplit('/').next().unwrap().matches(':').count() > 1))
        );
    }
    assert!(activated >= 5, "{activated} of {}", files.len());
    let Some(python) = tools::find("python3") else { return };
    if !accepts(Command::new(&python).args(["-c", "import spython"])) {
        eprintln!("skipped: spython is not installed");
        return;
    }
    // It reads as many stages as there are, each from its image.
    let read = "import sys; from spython.main.parse.parsers import SingularityParser as P; r = P(sys.argv[1]).recipe; \
                found = [s.fromHeader for s in r.values()]; assert found == sys.argv[2:], found";
    let images = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().filter_map(|line| line.strip_prefix("From: ")).map(str::to_string).collect::<Vec<_>>()
    };
    for file in &files {
        tools::succeed(Command::new(&python).args(["-c", read]).arg(file).args(images(file)));
    }
    let bad = twin(&files[0], "\nFrom: docker.io", "\nForm: docker.io");
    assert!(!accepts(Command::new(&python).args(["-c", read]).arg(bad).args(images(&files[0]))));
}

#[test]
fn conda() {
    let conda = files("conda", "environment.yml", &[]);
    if let Some(python) = tools::find("python3") {
        if !accepts(Command::new(&python).args(["-c", "import rattler, ruamel.yaml"])) {
            eprintln!("skipped: py-rattler is not installed");
        } else {
            let read = "import sys, rattler, ruamel.yaml; e = ruamel.yaml.YAML(typ='safe').load(open(sys.argv[1])); \
                        [rattler.MatchSpec(d) for d in e['dependencies'] if isinstance(d, str)]; \
                        assert [d for d in e['dependencies'] if isinstance(d, dict)][0]['pip']";
            for file in &conda {
                tools::succeed(Command::new(&python).args(["-c", read]).arg(file));
            }
            assert!(!accepts(Command::new(&python).args(["-c", read]).arg(twin(&conda[0], "python=", "python=>="))));
        }
    }
}

#[test]
fn pylock() {
    let render = |lock: &Lock| format("pylock").unwrap().render(lock, &Options::default());
    let error = render(&locks::container()).unwrap_err();
    assert_eq!(error.code(), "unknown-address");
    let mut lock = locks::beside_a_release();
    lock.wheel.remove(0);
    assert_eq!(render(&lock).unwrap_err().code(), "unknown-hash");
    lock.wheel[0].sha256 = "a".repeat(64);
    lock.wheel[0].url = lock.wheel[0].url.take().map(|url| url.replace('+', "%2B"));
    let text = render(&lock).unwrap();
    assert!(text.contains("name = \"vllm-0.6.4+cu124-cp38") && !text.contains("# Not in it"), "{text}");
    lock.inputs.insert("packages.transformers".into(), ">=4.50".into());
    assert!(render(&lock).unwrap().contains("no files are known of them: transformers>=4.50\n"));
    let Some(python) = tools::find("python3") else { return };
    let read = "import sys, tomllib; from packaging.pylock import Pylock; \
                Pylock.from_dict(tomllib.load(open(sys.argv[1], 'rb')))";
    if !accepts(Command::new(&python).args(["-c", "import packaging.pylock"])) {
        eprintln!("skipped: a packaging that reads pylock.toml is not installed");
        return;
    }
    let all = files("pylock", "pylock.toml", &[]);
    for file in &all {
        tools::succeed(Command::new(&python).args(["-c", read]).arg(file));
    }
    for (from, to) in
        [("hashes", "hash"), ("-py3-none-any.whl\"", ".whl\""), ("lock-version = \"1", "lock-version = \"2")]
    {
        assert!(!accepts(Command::new(&python).args(["-c", read]).arg(twin(&all[0], from, to))), "{from}");
    }
}

#[test]
fn dockerfiles_parse_as_an_engine_reads_them() {
    let files = files("dockerfile", "Dockerfile", &[("user", "app")]);
    // moby's own parser would be pkg:pypi/dockerfile; hadolint reads the same grammar.
    check("hadolint", &["--no-color", "--ignore", "DL3059", "--ignore", "DL3006"], &files, ("\nRUN ", "\nRNU "));
}

/// `--deactivate` of `json` says nothing: an option of one format must not be taken by others.
#[test]
fn options_of_one_format_are_refused_by_others() {
    for (name, option) in [("json", "shell"), ("requirements", "deactivate"), ("uv", "gres"), ("slurm", "hashes")] {
        let error = format(name).unwrap().render(&locks::container(), &Options::default().with(option, ""));
        assert_eq!(error.unwrap_err().code(), "not-an-option", "{name} --{option}");
    }
}
