//! The readers that look at the form of a file alone, and the grammars of our own where a format has none (marked so in
//! docs/exports.md): every lock is accepted, and the twin with one mistake is not.

use std::path::{Path, PathBuf};
use std::process::Command;

use gpuenv::report::schema;
use serde_json::Value;

use crate::common::{tools, validate};
use crate::readers::{accepts, check, files, twin};

/// A project and all of `[tool.uv]` as uv reads them; what it resolves is tests/export/resolves.rs's.
#[test]
fn uv() {
    let Some(uv) = tools::find("uv") else { return };
    let reads = |file: &Path| {
        let mut command = Command::new(&uv);
        command.args(["version", "--offline", "--no-cache", "--no-progress"]).current_dir(file.parent().unwrap());
        accepts(&mut command)
    };
    let all = files("uv", "pyproject.toml", &[]);
    for file in &all {
        assert!(reads(file), "{}", file.display());
    }
    assert!(!reads(&twin(&all[0], "explicit = true", "explicit = 3")));
}

/// The lines of a requirements file as pip's own parser splits them, each a requirement.
#[test]
fn requirements() {
    let Some(python) = tools::find("python3") else { return };
    let read = "import sys; from pip._internal.network.session import PipSession as S; \
                from pip._internal.req.req_file import parse_requirements as p; \
                from pip._internal.req.constructors import install_req_from_parsed_requirement as r; \
                read = [[r(one) for one in p(file, session=S())] for file in sys.argv[1:]]; \
                assert all(found and all(one.req for one in found) for found in read)";
    if !accepts(Command::new(&python).args(["-c", "import pip"])) {
        eprintln!("skipped: pip is not installed");
        return;
    }
    for values in [&[][..], &[("constraints", "")]] {
        let all = files("requirements", "requirements.txt", values);
        tools::succeed(Command::new(&python).args(["-c", read]).args(&all));
        for (from, to) in [("==", "="), ("--", "--x")] {
            let Some(file) = all.iter().find(|file| std::fs::read_to_string(file).unwrap().contains(from)) else {
                continue;
            };
            assert!(!accepts(Command::new(&python).args(["-c", read]).arg(twin(file, from, to))), "{from} {to}");
        }
    }
}

#[test]
fn environments() {
    let of = |shell: &str, name: &str| files("env", name, &[("shell", shell)]);
    let mistake = ("export TORCH_CUDA_ARCH_LIST=", "export TORCH_CUDA_ARCH_LIST=(");
    for shell in ["bash", "dash", "zsh", "mksh"] {
        check(shell, &["-n"], &of(if shell == "zsh" { "zsh" } else { "sh" }, "env.sh"), mistake);
    }
    check("fish", &["--no-config", "--no-execute"], &of("fish", "env.fish"), ("\nend", "\nedn"));
    // An .envrc is run, by direnv itself where it is there.
    let all = of("direnv", ".envrc");
    check("bash", &["-n"], &all, mistake);
    let Some(direnv) = tools::find("direnv") else { return };
    let home = tools::folder("readers-direnv-home");
    let told = |file: &Path| {
        let folder = file.parent().unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(&direnv);
            command.args(arguments).current_dir(folder).env("HOME", &home).env("XDG_DATA_HOME", home.join("data"));
            command.output().unwrap()
        };
        run(&["allow", "."]);
        let output = run(&["exec", ".", "sh", "-c", "echo \"list=${TORCH_CUDA_ARCH_LIST-}\""]);
        String::from_utf8_lossy(&output.stdout).to_string()
    };
    for file in &all {
        let lists = std::fs::read_to_string(file).unwrap().contains("TORCH_CUDA_ARCH_LIST");
        assert_eq!(told(file).trim() != "list=", lists, "{}", file.display());
    }
    let with_lists = all.iter().find(|file| told(file).trim() != "list=").unwrap();
    assert_eq!(told(&twin(with_lists, mistake.0, mistake.1)).trim(), "list=");
}

#[test]
fn json() {
    let known: Value = serde_json::from_str(&schema::find("lock").unwrap().text()).unwrap();
    let wrong = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap();
        validate::errors(&known, &serde_json::from_str(&text).unwrap())
    };
    let all = files("json", "stack.json", &[]);
    for file in &all {
        assert!(wrong(file).is_empty(), "{:#?}", wrong(file));
    }
    assert!(!wrong(&twin(&all[0], "\"stack\"", "\"stakc\"")).is_empty());
}

/// The fields of the schema of the devcontainers specification that are written here.
fn is_devcontainer(text: &str) -> bool {
    let fields = ["build", "hostRequirements", "image", "name", "runArgs"];
    let plain: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let Ok(Value::Object(file)) = serde_json::from_str::<Value>(&plain) else { return false };
    let known = |(name, value): (&String, &Value)| match name.as_str() {
        "build" => value.as_object().is_some_and(|build| {
            build.contains_key("dockerfile")
                && build.keys().all(|key| ["context", "dockerfile", "options"].contains(&&**key))
        }),
        "hostRequirements" => *value == serde_json::json!({ "gpu": true }),
        "runArgs" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        name => fields.contains(&name) && value.is_string(),
    };
    file.iter().all(known) && file.contains_key("image") != file.contains_key("build")
}

/// The reference implementation refuses next to nothing, but gives back what it has understood.
#[test]
fn devcontainer() {
    let all = files("devcontainer", "devcontainer.json", &[("shm-size", "16g")]);
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    for file in &all {
        assert!(is_devcontainer(&read(file)), "{}", read(file));
    }
    for (from, to) in
        [("\"runArgs\"", "\"runArg\""), ("\"name\": \"", "\"name\": 7, \"x\": \""), ("\"gpu\": true", "\"gpus\": true")]
    {
        let file = all.iter().find(|file| read(file).contains(from)).unwrap();
        assert!(!is_devcontainer(&read(&twin(file, from, to))), "{from} {to}");
    }
    let (Some(cli), Some(node)) = (tools::find("devcontainer"), tools::find("node")) else { return };
    let understood = |file: &Path| -> Option<Value> {
        let folder = file.parent().unwrap();
        std::fs::create_dir_all(folder.join(".devcontainer")).unwrap();
        std::fs::copy(file, folder.join(".devcontainer/devcontainer.json")).unwrap();
        let mut command = Command::new(&node);
        command.arg(&cli).args(["read-configuration", "--docker-path", "/bin/true", "--workspace-folder"]).arg(folder);
        let output = command.output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).ok()?;
        told.get("configuration").cloned()
    };
    let wanted = |text: &str| -> Value {
        let plain: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        serde_json::from_str(&plain).unwrap()
    };
    let same = |file: &Path, wanted: &Value| {
        understood(file).is_some_and(|told| wanted.as_object().unwrap().iter().all(|(key, value)| told[key] == *value))
    };
    for file in &all {
        assert!(same(file, &wanted(&read(file))), "{}", file.display());
    }
    assert!(!same(&twin(&all[0], "\"name\":", "\"name\""), &wanted(&read(&all[0]))));
}

/// The tables and fields of pixi's schema that are written here.
fn is_pixi(text: &str) -> bool {
    let Ok(file) = text.parse::<toml::Table>() else { return false };
    let known = ["workspace", "system-requirements", "dependencies", "pypi-dependencies", "pypi-options"];
    let is_spec = |spec: &toml::Value| match spec {
        toml::Value::String(range) => !range.is_empty(),
        toml::Value::Table(fields) => {
            let known = |field: &String| ["version", "index", "url", "extras"].contains(&field.as_str());
            fields.keys().all(known) && fields.contains_key("version") != fields.contains_key("url")
        }
        _ => false,
    };
    let are_specs = |table: Option<&toml::Value>| {
        table.is_none_or(|table| table.as_table().is_some_and(|table| table.values().all(is_spec)))
    };
    let options = file.get("pypi-options").and_then(toml::Value::as_table);
    let cuda = |table: &toml::Value| table.get("cuda").is_some_and(toml::Value::is_str);
    file.keys().all(|key| known.contains(&key.as_str()))
        && file.get("workspace").and_then(|table| table.get("platforms")).is_some_and(toml::Value::is_array)
        && file.get("system-requirements").is_none_or(cuda)
        && are_specs(file.get("pypi-dependencies"))
        && options.is_none_or(|table| table.keys().all(|key| key == "dependency-overrides" || key == "no-binary"))
        && are_specs(options.and_then(|table| table.get("dependency-overrides")))
}

#[test]
fn pixi() {
    let all = files("pixi", "pixi.toml", &[]);
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    for file in &all {
        assert!(is_pixi(&read(file)), "{}", read(file));
    }
    for (from, to) in [("platforms", "platform"), ("version = \"==", "versions = \"=="), ("cuda = \"", "__cuda = \"")] {
        let file = all.iter().find(|file| read(file).contains(from)).unwrap();
        let bad = read(&twin(file, from, to));
        assert!(!is_pixi(&bad), "{bad}");
    }
    let overrides = all.iter().find(|file| read(file).contains("[pypi-options.dependency-overrides]"));
    let text = read(overrides.expect("a lock with constraints"));
    assert!(text.contains("torchvision = { version = \"=="), "{text}");
}

/// Lmod, whose folder `.ci/tools` unpacks: it cannot be installed beside Environment Modules.
#[test]
fn lmod() {
    let Some(root) = std::env::var_os("GPUENV_TEST_LMOD").map(PathBuf::from).filter(|root| root.is_dir()) else {
        eprintln!("skipped: Lmod is not installed");
        return;
    };
    let share = root.join("usr/share");
    let load = |file: &Path| {
        let folder = file.parent().unwrap();
        let mut command = Command::new(root.join("usr/bin/lua5.3"));
        command.arg(share.join("lmod/lmod/libexec/lmod")).args(["bash", "load"]);
        command
            .arg(file.file_stem().unwrap())
            .env("MODULEPATH", folder)
            .env_remove("LOADEDMODULES")
            .env_remove("_LMFILES_");
        command.env("LUA_PATH", format!("{0}/lua/5.3/?.lua;{0}/lua/5.3/?/init.lua;;", share.display()));
        command.env("LUA_CPATH", format!("{}/usr/lib/x86_64-linux-gnu/lua/5.3/?.so;;", root.display()));
        command.env("LD_LIBRARY_PATH", "/opt/own:/usr/local/cuda/lib64:/usr/local/cuda-12.1/targets/x86_64-linux/lib");
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).to_string() + &String::from_utf8_lossy(&output.stderr)
    };
    for (syntax, name) in [("lua", "gpuenv.lua"), ("tcl", "gpuenv")] {
        let all = files("modulefile", name, &[("syntax", syntax), ("venv", "/opt/venv")]);
        for file in &all {
            let told = load(file);
            assert!(told.contains("VIRTUAL_ENV=") && !told.contains("error"), "{}: {told}", file.display());
        }
        // Wheels that bring their libraries are not shadowed.
        assert!(load(&all[0]).contains("\nLD_LIBRARY_PATH=/opt/own;"), "{}", load(&all[0]));
        assert!(load(&twin(&all[0], "setenv", "setenvironment")).contains("error"));
    }
}
