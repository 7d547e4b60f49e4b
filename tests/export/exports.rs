//! `gpuenv export` as people use it: files that are kept, what comes next, `[export]`, and the hooks and the action that
//! are made of it.

use std::path::Path;
use std::process::Command;

use gpuenv::export::FORMATS;

use crate::common::checkout::{Place, Ran};
use crate::common::tools;

const SPEC: &str = "[stack]\ntorch = \"2.7.1+cu118\"\npython = \"3.11\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n\
                    os = \"ubuntu22.04\"\nimage = \"nvidia/cuda\"\n";
const EXPORT: &str = "[export]\nuv = \"pyproject.toml\"\ndockerfile = \"docker/{target}.Dockerfile\"\n\
                      slurm = { file = \"job.sh\", target = \"prod\", gres = \"gpu:a100:8\" }\n\
                      requirements = [{ file = \"a.txt\" }, { file = \"b.txt\", constraints = true }]\n";

fn locked(name: &str, spec: &str) -> Place {
    let place = Place::with(name, spec);
    place.run(&["lock"]).exits(0);
    place
}

#[test]
fn a_file_that_people_wrote_is_kept() {
    let place = locked("kept", SPEC);
    place.write("checkout/Dockerfile", "FROM scratch\n");
    place.run(&["export", "dockerfile", "-o", "Dockerfile"]).exits(2).says("error[exists]").says("--force");
    assert_eq!(place.read("checkout/Dockerfile"), "FROM scratch\n");
    place.run(&["export", "dockerfile", "-o", "Dockerfile", "--check"]).exits(1).says("error[stale]").says("help: run");
    place.run(&["export", "dockerfile", "-o", "Dockerfile", "--force"]).exits(0).says("wrote Dockerfile");
    // What gpuenv wrote it may write again.
    let again = place.run(&["export", "dockerfile", "-o", "Dockerfile"]).exits(0);
    again.says("next: docker build -f Dockerfile .");
    place.run(&["export", "dockerfile", "-o", "Dockerfile", "--check"]).exits(0);
    // A pyproject.toml is merged into.
    place.write("checkout/pyproject.toml", "# mine\n[project]\nname = \"mine\"\nversion = \"1\"\n");
    place.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0).says("next: uv sync");
    let merged = place.read("checkout/pyproject.toml");
    assert!(merged.starts_with("# mine\n[project]\nname = \"mine\"\n"), "{merged}");
    assert!(merged.contains("torch==2.7.1+cu118") && merged.contains("torchvision==0.22.1"), "{merged}");
    place.run(&["export", "uv", "-o", "pyproject.toml", "--check"]).exits(0);
}

/// An edit is never lost unasked, whatever the format; what nobody edited follows the lock.
#[test]
fn a_file_that_was_edited_is_kept() {
    let place = locked("edited", SPEC);
    let formats = FORMATS.iter().filter(|format| format.merge.is_none() && format.name != "json");
    let names: Vec<&str> = formats.map(|format| format.name).filter(|name| *name != "pylock").collect();
    let written = |name: &str| place.read(&format!("checkout/{name}.out"));
    let export = |name: &str| place.run(&["export", name, "-o", &format!("{name}.out")]);
    names.iter().for_each(|name| drop(export(name).exits(0)));
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.7.1+cu118", "2.6.0+cu118"));
    place.run(&["lock"]).exits(0);
    for name in names {
        export(name).exits(0);
        let whole = written(name);
        let lines: Vec<&str> = whole.lines().collect();
        let middle = lines.len() / 2;
        let without = [&lines[..middle], &lines[middle + 1..]].concat().join("\n");
        for edited in [format!("{whole}more\n"), without, whole.replacen(lines[middle], "other", 1)] {
            place.write(&format!("checkout/{name}.out"), &edited);
            export(name).exits(2).says("was edited after gpuenv wrote it").says("help: move your lines");
            assert_eq!(written(name), edited);
        }
        place.run(&["export", name, "-o", &format!("{name}.out"), "--force"]).exits(0);
        // A tool that ends lines in another way has edited nothing.
        place.write(&format!("checkout/{name}.out"), &whole.replace('\n', "\r\n"));
        export(name).exits(0);
        assert_eq!(written(name), whole);
    }
    // Of the files of the spec none is written where one would be lost, and the way out is in the spec.
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\ndockerfile = \"D\"\nrequirements = \"r.txt\"\n"));
    place.run(&["lock"]).exits(0);
    place.write("checkout/D", "FROM scratch\n");
    place.run(&["export"]).exits(2).says("help: name another file under [export], or replace it with --force");
    assert!(!place.has("checkout/r.txt"));
}

/// Where a file invites lines of the user's own it keeps them.
#[test]
fn lines_that_a_file_asks_for_are_kept() {
    let build = format!("{SPEC}[build]\n");
    let place = locked("own-lines", &build);
    for (format, own) in [("dockerfile", "COPY ext /src"), ("apptainer", "    make -C /src")] {
        let export = ["export", format, "-o", "out"];
        place.write("checkout/out", "");
        place.run(&export).exits(0);
        let mark = "go below this one: gpuenv keeps them when it writes this file again.";
        let text = place.read("checkout/out");
        assert!(text.contains(mark), "{text}");
        place.write("checkout/out", &text.replacen(mark, &format!("{mark}\n{own}\n\n{own} 2"), 1));
        place.run(&[&export[..], &["--check"]].concat()).exits(0);
        place.write("checkout/gpuenv.toml", &build.replace("2.7.1+cu118", "2.6.0+cu118"));
        place.run(&["lock"]).exits(0);
        place.run(&export).exits(0);
        let text = place.read("checkout/out");
        assert!(text.contains(&format!("{mark}\n{own}\n\n{own} 2\n")) && text.contains("2.6.0+cu118"), "{text}");
        // Without a build there is no place for them.
        place.write("checkout/gpuenv.toml", SPEC);
        place.run(&["lock"]).exits(0);
        place.run(&export).exits(2).says("has lines of yours for the build").says("--force");
        assert_eq!(place.read("checkout/out"), text);
        place.run(&[&export[..], &["--force"]].concat()).exits(0);
        place.write("checkout/gpuenv.toml", &build);
        place.run(&["lock"]).exits(0);
    }
}

#[test]
fn what_comes_next_is_said_on_stderr() {
    let place = locked("next", SPEC);
    let ran = place.run(&["export", "requirements"]).exits(0);
    assert!(!ran.out.contains("next:"), "{ran:?}");
    ran.says("next: save it as requirements.txt, then: pip install -r requirements.txt");
    place.write("checkout/scripts/run.sh", "");
    for (args, says) in [
        (&["env"][..], "next: save it as env.sh, then: . ./env.sh"),
        // What takes it back is another file, and so are the lines of another shell.
        (&["env", "--deactivate"], "next: save it as env-deactivate.sh, then: . ./env-deactivate.sh"),
        (&["env", "--shell", "fish"], "next: save it as env.fish, then: source ./env.fish"),
        (&["env", "--shell", "fish", "--deactivate"], "next: save it as env-deactivate.fish"),
        (&["env", "--shell", "direnv"], "next: save it as .envrc, then: direnv allow"),
        (&["env", "-o", "scripts/env.sh"], "next: . scripts/env.sh"),
        (&["env", "--shell", "fish", "-o", "env.fish"], "next: source ./env.fish"),
        (&["env", "--shell", "direnv", "-o", ".envrc"], "next: direnv allow"),
    ] {
        place.run(&[&["export"], args].concat()).exits(0).says(says);
    }
    place.run(&["export", "kubernetes"]).exits(0).says("then name it here with --image REF");
    place.run(&["export", "kubernetes", "--image", "x/y:1"]).exits(0).says("then: kubectl apply -f gpuenv.yaml");
    let (code, document) = place.json(&["export", "uv", "-o", "x.toml"]);
    assert_eq!((code, document["file"].as_str()), (0, Some("x.toml")), "{document}");
    for args in [["export", "json", "--shell", "fish"], ["export", "requirements", "--gres", "gpu:1"]] {
        place.run(&args).exits(2).says("error[not-an-option]");
    }
}

#[test]
fn a_lock_of_another_spec_is_told() {
    let place = locked("stale", SPEC);
    place.write("checkout/gpuenv.toml", &SPEC.replace("3.11", "3.12"));
    place.run(&["export", "uv"]).exits(0).says("warning[stale-lock]");
    place.run(&["export", "uv", "--locked"]).exits(1).says("error[stale-lock]").says("help: run `gpuenv lock`");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}{EXPORT}"));
    let ran = place.run(&["export", "uv", "--locked"]).exits(0);
    assert!(!ran.err.contains("stale"), "[export] is no input: {ran:?}");
}

#[test]
fn everything_that_export_names_is_written_and_checked() {
    let place = locked("all", &format!("{SPEC}{EXPORT}"));
    place.run(&["export", "--check"]).exits(1).says("pyproject.toml does not exist");
    place.run(&["export"]).exits(0).says("wrote docker/prod.Dockerfile").says("next: uv sync");
    assert!(place.read("checkout/job.sh").contains("#SBATCH --gres=gpu:a100:8\n"));
    assert!(place.read("checkout/b.txt").contains("\ntorchvision==0.22.1"));
    place.run(&["export", "--check"]).exits(0);
    place.run(&["export"]).exits(0).says("unchanged: job.sh");
    place.write("checkout/job.sh", &place.read("checkout/job.sh").replace("a100:8", "a100:4"));
    place.run(&["export", "--check"]).exits(1).says("job.sh differs");
    let (code, document) = place.json(&["export", "--check"]);
    assert_eq!((code, document["status"].as_str()), (1, Some("stale")), "{document}");
    let ran = place.run(&["export", "--check", "--format", "github"]).exits(1);
    assert!(ran.out.starts_with("::error file=job.sh,line=1,"), "{ran:?}");
    place.run(&["export"]).exits(2).says("job.sh was edited after gpuenv wrote it");
    let (code, document) = place.json(&["export", "--force"]);
    assert_eq!((code, document["files"].as_array().map(Vec::len)), (0, Some(5)), "{document}");
    // The others are not written where one cannot be.
    place.remove("checkout/job.sh");
    place.write("checkout/a.txt", "mine\n");
    place.run(&["export"]).exits(2).says("a.txt exists already");
    assert!(!place.has("checkout/job.sh"));
}

/// A lock may lie alone: what is missing then is a spec, as for every command that reads one.
#[test]
fn without_a_spec_nothing_names_a_format() {
    let place = locked("alone", SPEC);
    place.remove("checkout/gpuenv.toml");
    for arguments in [&["export"][..], &["export", "--check"], &["lock"]] {
        place.run(arguments).exits(2).says("error[no-spec]").says("gpuenv.toml");
    }
    place.run(&["export", "uv"]).exits(0);
    place.run(&["export", "--spec", "other.toml", "--lock", "gpuenv.lock"]).exits(4).says("error[not-found]");
}

/// The document is that of the command, however many files there are.
#[test]
fn what_export_names_is_listed_be_it_one_file_or_several() {
    let place = locked("listed", &format!("{SPEC}[export]\nuv = \"pyproject.toml\"\n"));
    for arguments in [&["export"][..], &["export", "--check"]] {
        let (code, document) = place.json(arguments);
        assert_eq!((code, document["files"].as_array().map(Vec::len)), (0, Some(1)), "{document}");
        assert_eq!(document.get("format"), None, "{document}");
    }
    let (code, document) = place.json(&["export", "uv", "-o", "pyproject.toml"]);
    assert_eq!((code, document["file"].as_str()), (0, Some("pyproject.toml")), "{document}");
}

#[test]
fn what_export_says_wrong_is_shown_at_its_place() {
    for (line, code, told) in [
        ("dockerfil = \"x\"", "unknown-format", "did you mean `dockerfile`"),
        ("dockerfile = { file = \"x\", gres = \"y\" }", "not-an-option", "--user"),
        ("dockerfile = { target = \"prod\" }", "missing", "file"),
        ("dockerfile = { file = \"x\", target = \"pord\" }", "value", "did you mean"),
        ("uv = \"../pyproject.toml\"", "value", "does not lie below"),
        ("uv = \"/etc/x\"", "value", "does not lie below"),
        ("uv = \".git/hooks/post-checkout\"", "value", "lies in git's own folder"),
        ("uv = \"sub/.GIT/hooks/x\"", "value", "lies in git's own folder"),
        ("uv = \"a\"\nconda = \"a\"", "value", "[export] writes a twice"),
        ("uv = \"\"", "value", "`uv` is empty"),
        ("uv = { file = \"a;b\" }", "value", "`file` cannot be"),
    ] {
        let place = locked("wrong", SPEC);
        place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\n{line}\n"));
        place.run(&["export"]).exits(2).says(&format!("error[{code}]")).says(told).says("gpuenv.toml:");
        // A format or an option that there is not is told by the lock already, at the same place.
        if ["unknown-format", "not-an-option"].contains(&code) {
            for arguments in [&["lock"][..], &["lock", "--check"], &["lock", "--fresh"]] {
                place.run(arguments).exits(2).says(&format!("error[{code}]")).says(told).says("gpuenv.toml:");
            }
        }
    }
    let place = locked("none", SPEC);
    place.run(&["export"]).exits(2).says("no format was named");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\nuv = \"link.toml\"\n"));
    place.link("checkout/link.toml", "../home/x.toml");
    place.run(&["export"]).exits(2).says("error[outside-project]");
    assert!(!place.has("home/x.toml"));
}

/// A lock from a spec, as users write it: what torchvision comes in through is vllm.
#[test]
fn an_image_with_torch_and_a_digest_are_kept() {
    let spec = "[stack]\ntorch = \"2.6.0\"\ntransformer-engine = \"*\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n\
                image = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"\n";
    let place = Place::with("inside", &spec.replace("transformer-engine = \"*\"\n", ""));
    place.run(&["lock"]).exits(0);
    let ran = place.run(&["export", "dockerfile"]).exits(0);
    assert!(!ran.out.contains("uv ") && ran.out.contains("FROM docker.io/pytorch/pytorch:2.6.0"), "{ran:?}");
    let place = Place::with("inside-more", spec);
    place.run(&["lock"]).exits(0);
    for format in ["uv", "conda", "pixi", "pylock"] {
        place.run(&["export", format]).exits(2).says("error[in-image]").says("`gpuenv export dockerfile`");
    }
    // Libraries that its torch leaves open are the image's as well.
    let place = Place::with(
        "inside-open",
        "[stack]\ntorch = \"2.14.1\"\n[target.i]\ngpu = \"A100-PCIE-40GB\"\nimage = \"pytorch/pytorch\"\n",
    );
    place.run(&["lock"]).exits(0);
    assert!(!place.run(&["export", "dockerfile"]).exits(0).out.contains("nvidia-"));
    let digest = format!("sha256:{}", "0a".repeat(32));
    let spec = SPEC.replace("\"nvidia/cuda\"", &format!("\"nvidia/cuda:12.4.1-base-ubuntu22.04@{digest}\""));
    let place = locked("digest", &spec);
    let ran = place.run(&["export", "dockerfile"]).exits(0);
    let from = format!("FROM docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04@{digest}\n");
    assert!(ran.out.contains(&from), "{ran:?}");
    place.run(&["lock", "--check"]).exits(0);
    // An image that nobody could check stands there as it was written.
    let place = locked("untagged", &SPEC.replace("\"nvidia/cuda\"", "\"example/train\""));
    let ran = place.run(&["export", "dockerfile"]).exits(0);
    assert!(ran.out.contains("\nFROM docker.io/example/train\n"), "{ran:?}");
}

#[test]
fn annotations_name_files_from_the_checkout_and_the_step_gets_a_summary() {
    let place = locked("github", SPEC);
    place.write("checkout/below/x", "");
    place.write("checkout/gpuenv.toml", &SPEC.replace("3.11", "3.12"));
    let mut command = place.command("checkout/below", &["lock", "--check", "--format", "github"]);
    let summary = place.path("home/summary.md");
    command.env("GITHUB_WORKSPACE", place.path("checkout")).env("GITHUB_STEP_SUMMARY", &summary);
    let ran = Ran::of(&mut command).exits(1);
    assert!(ran.out.starts_with("::error file=gpuenv.toml,line=3,col="), "{ran:?}");
    let told = place.read("home/summary.md");
    assert!(told.starts_with("### gpuenv.lock is out of date\n\n- `stack.python`"), "{told}");
}

/// The hooks, as pkg:pypi/prek runs them.
#[test]
fn the_hooks_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hooks = std::fs::read_to_string(root.join(".pre-commit-hooks.yaml")).unwrap();
    for command in ["entry: gpuenv lock --check\n", "entry: gpuenv export --check\n"] {
        assert!(hooks.contains(command), "{command}");
    }
    let (Some(prek), Some(git)) = (tools::find("prek"), tools::find("git")) else { return };
    let place = locked("hooks", &format!("{SPEC}{EXPORT}"));
    place.run(&["export"]).exits(0);
    std::fs::remove_dir_all(place.path("checkout/.git")).unwrap();
    // A repository of hooks is cloned at a revision: this one has nothing but the hooks.
    let git = |folder: &str, args: &[&str]| {
        let mut command = Command::new(&git);
        command.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]).args(args);
        tools::succeed(command.current_dir(place.path(folder)).env("HOME", place.path("home")));
    };
    place.write("hooks/.pre-commit-hooks.yaml", &hooks);
    for folder in ["hooks", "checkout"] {
        git(folder, &["init", "--quiet", "--initial-branch", "main"]);
    }
    git("hooks", &["add", "."]);
    git("hooks", &["commit", "--quiet", "-m", "x"]);
    git("hooks", &["tag", "v1"]);
    let repo = place.path("hooks").display().to_string();
    let config = format!("repos:\n- repo: {repo}\n  rev: v1\n  hooks:\n  - id: gpuenv-lock\n  - id: gpuenv-export\n");
    place.write("checkout/.pre-commit-config.yaml", &config);
    git("checkout", &["add", "."]);
    let folder = Path::new(env!("CARGO_BIN_EXE_gpuenv")).parent().unwrap().to_path_buf();
    let path = std::env::join_paths([folder.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    let run = || {
        let mut command = Command::new(&prek);
        command.args(["run", "--all-files"]).current_dir(place.path("checkout"));
        command.env("PATH", &path).env("HOME", place.path("home")).env("PREK_HOME", place.path("home/prek"));
        let output = command.output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).to_string() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (passed, told) = run();
    assert!(passed && told.matches("Passed").count() == 2, "{told}");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}{EXPORT}").replace("3.11", "3.12"));
    let (passed, told) = run();
    assert!(!passed && told.contains("stale"), "{told}");
}

/// The action: its file as its schema asks, its steps by themselves as a runner runs them.
#[test]
fn the_action_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("action.yml");
    let text = std::fs::read_to_string(&file).unwrap();
    if let Some(check) = tools::find("check-jsonschema") {
        let schema = ["--builtin-schema", "vendor.github-actions"];
        tools::succeed(Command::new(&check).args(schema).arg(&file));
        let bad = tools::folder("action").join("action.yml");
        std::fs::write(&bad, text.replace("using: composite", "using: composition")).unwrap();
        assert!(!Command::new(&check).args(schema).arg(bad).output().unwrap().status.success());
    }
    let steps: Vec<String> = text.split("      run: |\n").skip(1).map(script).collect();
    assert_eq!(steps.len(), 2);
    let place = locked("action", SPEC);
    let folder = Path::new(env!("CARGO_BIN_EXE_gpuenv")).parent().unwrap().to_path_buf();
    let path = std::env::join_paths([folder.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    let run = |step: &str, command: &str| {
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step]).current_dir(place.path("checkout"));
        bash.env("PATH", &path).env("COMMAND", command).env("ACTION_PATH", root).env("RUNNER_TEMP", place.path("home"));
        Ran::of(bash.env("GITHUB_PATH", place.path("home/path")).env("GITHUB_WORKSPACE", place.path("checkout")))
    };
    run(&steps[0], "").exits(0);
    assert!(!place.has("home/path"), "gpuenv is installed");
    run(&steps[1], "lock --check").exits(0);
    run(&steps[1], "lock --check; touch pwned").exits(2);
    run(&steps[1], "export $(touch pwned)").exits(2);
    assert!(!place.has("checkout/pwned"));
    place.write("checkout/gpuenv.toml", &SPEC.replace("3.11", "3.12"));
    let ran = run(&steps[1], "lock --check").exits(1);
    assert!(ran.out.contains("::error file=gpuenv.toml,line=3"), "{ran:?}");
}

/// The lines of a step's script.
fn script(rest: &str) -> String {
    rest.lines().take_while(|line| line.starts_with("        ")).map(|line| format!("{}\n", &line[8..])).collect()
}

#[test]
fn force_keeps_what_is_somebody_elses_in_a_file_that_is_merged_into() {
    let place = locked("force", &format!("{SPEC}[export]\nuv = \"pyproject.toml\"\ndockerfile = \"Dockerfile\"\n"));
    let theirs = "# mine\n[project]\nname = \"mine\"\nversion = \"1\"\ndependencies = [\"requests\"]\n\n\
                  [tool.black]\nline-length = 99\n";
    place.write("checkout/pyproject.toml", theirs);
    place.write("checkout/Dockerfile", "FROM scratch\n");
    place.run(&["export"]).exits(2).says("error[exists]");
    assert_eq!(place.read("checkout/pyproject.toml"), theirs);
    place.run(&["export", "--force"]).exits(0);
    let merged = place.read("checkout/pyproject.toml");
    for part in
        ["# mine\n", "name = \"mine\"", "\"requests\"", "[tool.black]\nline-length = 99\n", "torch==2.7.1+cu118"]
    {
        assert!(merged.contains(part), "{part} in {merged}");
    }
    assert!(place.read("checkout/Dockerfile").contains("gpuenv export dockerfile"));
    place.run(&["export", "uv", "-o", "pyproject.toml", "--force"]).exits(0);
    assert_eq!(place.read("checkout/pyproject.toml"), merged);
    // What cannot be merged is not dropped either.
    for text in ["[project\nname = \"mine\"\n", "[project]\nname = \"mine\"\ndependencies = [\"torch==1.0\"]\n"] {
        place.write("checkout/pyproject.toml", text);
        place.run(&["export", "uv", "-o", "pyproject.toml", "--force"]).exits(2).says("error[taken]");
        assert_eq!(place.read("checkout/pyproject.toml"), text);
    }
}

#[test]
fn whatever_uv_resolves_with_the_lock_must_admit_it() {
    let place = locked("lists", SPEC);
    for (list, name) in [
        ("[dependency-groups]\ndev = [\"torch==2.1\"]\n", "dependency-groups.dev"),
        ("[project.optional-dependencies]\nx = [\"torch==1.0\"]\n", "project.optional-dependencies.x"),
        ("[tool.uv]\ndev-dependencies = [\"torch==1.0\"]\n", "tool.uv.dev-dependencies"),
        ("[tool.uv]\nconstraint-dependencies = [\"torch<2\"]\n", "tool.uv.constraint-dependencies"),
    ] {
        let text = format!("[project]\nname = \"mine\"\nversion = \"1\"\n\n{list}");
        place.write("checkout/pyproject.toml", &text);
        let ran = place.run(&["export", "uv", "-o", "pyproject.toml"]).exits(2).says("error[taken]");
        ran.says(&format!("`{name}` of pyproject.toml has `torch"));
        assert_eq!(place.read("checkout/pyproject.toml"), text);
    }
    // A group that admits it, one that includes another, and what an earlier export wrote are no contradiction.
    let fine = "[project]\nname = \"mine\"\nversion = \"1\"\n\n[dependency-groups]\n\
                dev = [\"torch>=2\", { include-group = \"docs\" }]\ndocs = [\"sphinx\"]\n";
    place.write("checkout/pyproject.toml", fine);
    place.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.7.1+cu118", "2.6.0+cu118"));
    place.run(&["lock"]).exits(0);
    place.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    assert!(place.read("checkout/pyproject.toml").contains("torch==2.6.0+cu118"));
}

const TWO: &str =
    "[target.lab]\ngpu = \"RTX 3090\"\ndriver = \"470\"\nos = \"ubuntu20.04\"\n[resolve]\nshare = \"none\"\n";

#[test]
fn an_entry_that_needs_a_target_is_told_how_to_name_it() {
    let other = SPEC.replace("2.7.1+cu118", "2.7.1");
    let place = locked("which", &format!("{other}{TWO}[export]\npixi = \"pixi.toml\"\n"));
    let ran = place.run(&["export"]).exits(2).says("error[target-needed]");
    let line = "pixi = { file = \"pixi.toml\", target = \"lab\" }";
    ran.says(&format!("write `{line}` under [export]")).hides("--target");
    place.write("checkout/gpuenv.toml", &format!("{other}{TWO}[export]\n{line}\n"));
    place.run(&["export"]).exits(0);
}

#[test]
fn a_target_for_which_a_format_has_nothing_is_left_out_with_a_word() {
    let export = "[export]\ndockerfile = \"docker/{target}.Dockerfile\"\n";
    let place = locked("bare", &format!("{SPEC}{TWO}{export}"));
    let ran = place.run(&["export"]).exits(0).says("wrote docker/prod.Dockerfile");
    ran.says("docker/lab.Dockerfile is left out: target `lab` has no image");
    assert!(place.has("checkout/docker/prod.Dockerfile") && !place.has("checkout/docker/lab.Dockerfile"));
    place.run(&["export", "--check"]).exits(0);
    // Where nothing is left, or the target was named, it is an error.
    let bare = SPEC.replace("image = \"nvidia/cuda\"\n", "");
    let place = locked("all-bare", &format!("{bare}{export}"));
    place.run(&["export"]).exits(2).says("error[no-image]");
}
