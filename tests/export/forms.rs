//! Every document that the formats make, on at least twelve locks: a format, or options of it that give another document.
//! Each is read by the test that names it in `readers.rs`, `plain_readers.rs` or here, and so is its twin with one mistake,
//! which that reader refuses.

use std::path::{Path, PathBuf};
use std::process::Command;

use gpuenv::export::{FORMATS, Options, format};

use crate::common::tools;
use crate::locks;
use crate::readers::{accepts, check, files, rendered, twin};

/// Options with their values.
type Given = &'static [(&'static str, &'static str)];

/// A format, the options that make this document of it, and the test that reads it.
pub const FORMS: &[(&str, Given, &str)] = &[
    ("uv", &[], "plain_readers::uv"),
    ("pylock", &[], "readers::pylock"),
    ("requirements", &[], "plain_readers::requirements"),
    ("requirements", &[("constraints", "")], "plain_readers::requirements"),
    ("dockerfile", &[], "readers::dockerfiles_parse_as_an_engine_reads_them"),
    ("apptainer", &[], "readers::apptainer"),
    ("compose", &[], "readers::compose"),
    ("devcontainer", &[], "plain_readers::devcontainer"),
    ("kubernetes", &[], "readers::kubernetes"),
    ("kubernetes", &[("dra", "")], "readers::kubernetes"),
    ("slurm", &[], "readers::slurm"),
    ("modulefile", &[], "readers::module_files"),
    ("modulefile", &[("syntax", "lua")], "plain_readers::lmod"),
    ("cmake", &[], "readers::cmake"),
    ("env", &[], "plain_readers::environments"),
    ("env", &[("shell", "fish")], "plain_readers::environments"),
    ("env", &[("shell", "direnv")], "plain_readers::environments"),
    ("pixi", &[], "plain_readers::pixi"),
    ("conda", &[], "readers::conda"),
    ("github-actions", &[], "readers::github_actions"),
    ("skypilot", &[], "forms::skypilot"),
    ("skypilot", &[("accelerators", "H100:8,A100-80GB:8")], "forms::skypilot"),
    ("skypilot", &[("image", "example/train:1")], "forms::skypilot"),
    ("modal", &[], "forms::modal"),
    ("modal", &[("accelerators", "H100:8,L40S")], "forms::modal"),
    ("modal", &[("image", "example/train:1")], "forms::modal"),
    ("json", &[], "plain_readers::json"),
];

/// The tests of this folder that have readers, by file.
const READERS: &[(&str, &str)] = &[
    ("readers", include_str!("readers.rs")),
    ("plain_readers", include_str!("plain_readers.rs")),
    ("forms", include_str!("forms.rs")),
];

#[test]
fn twenty_documents_of_twelve_locks_each_are_read() {
    assert!(FORMS.len() >= 20, "{}", FORMS.len());
    for format in FORMATS {
        assert!(FORMS.iter().any(|(name, ..)| *name == format.name), "{} is read by no test", format.name);
    }
    for (name, values, test) in FORMS {
        assert!(rendered(name, values).len() >= 12);
        let (place, of) = test.split_once("::").unwrap();
        let text = READERS.iter().find(|(known, _)| known == &place).unwrap().1;
        let body = text.split(&format!("fn {of}()")).nth(1).unwrap_or_else(|| panic!("there is no {test}"));
        let body = body.split("\n}\n").next().unwrap();
        assert!(body.contains(&format!("\"{name}\"")), "{test} does not read {name}");
        assert!(values.iter().all(|(option, _)| body.contains(&format!("\"{option}\""))), "{test}: {values:?}");
        assert!(body.contains("twin(") || body.contains("check("), "{test} tries no twin");
    }
}

/// What SkyPilot takes of what is written here, a part of its own schema (which `.ci/recipes` asks).
const SKY_TASK: &str = r#"{
  "type": "object", "additionalProperties": false, "required": ["name", "resources", "run", "workdir"],
  "properties": {
    "name": { "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" },
    "workdir": { "const": "." },
    "setup": { "type": "string" },
    "run": { "type": "string" },
    "resources": { "type": "object", "additionalProperties": false, "properties": {
      "accelerators": { "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?$" } },
      "image_id": { "type": "string", "pattern": "^docker:[a-z0-9]" } } } } }"#;

#[test]
fn skypilot() {
    let schema = tools::folder("readers-skypilot-schema").join("task.json");
    std::fs::write(&schema, SKY_TASK).unwrap();
    for values in
        [&[][..], &[("accelerators", "H100:8,A100-80GB:8")], &[("image", "example/train:1"), ("accelerators", "L4")]]
    {
        let all = files("skypilot", "sky.yaml", values);
        let arguments = ["--schemafile", schema.to_str().unwrap()];
        check("check-jsonschema", &arguments, &all, ("resources:", "resource:"));
    }
    let all = files("skypilot", "sky.yaml", &[("accelerators", "H100:8")]);
    check("check-jsonschema", &["--schemafile", schema.to_str().unwrap()], &all, ("accelerators:", "accelerator:"));
    // Both scripts are sh, as SkyPilot runs them; the second twin is none.
    let scripts = |file: &Path| -> Vec<PathBuf> {
        let text = std::fs::read_to_string(file).unwrap();
        let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key).map(str::to_string));
        let found = ["setup: ", "run: "].into_iter().filter_map(of).enumerate();
        found
            .map(|(number, script)| {
                let script: String = serde_json::from_str(&script).unwrap();
                let path = file.with_file_name(format!("script-{number}.sh"));
                std::fs::write(&path, script).unwrap();
                path
            })
            .collect()
    };
    let both: Vec<PathBuf> = all.iter().flat_map(|file| scripts(file)).collect();
    assert_eq!(both.len(), 2 * all.len());
    check("bash", &["-n"], &both[..1], ("printf '", "printf ("));
    check("shellcheck", &["--norc", "--shell=bash", "--exclude=SC1091"], &both, ("printf '", "printf (' "));
}

/// The parts of Modal that are called, with the arguments that they take; `.ci/recipes` asks Modal itself.
const MODAL: &str = "
import runpy, sys, types
class Image:
    @classmethod
    def from_registry(cls, tag, *, add_python=None):
        assert isinstance(tag, str) and isinstance(add_python, (str, type(None)))
        return cls()
    @classmethod
    def debian_slim(cls, python_version=None):
        assert isinstance(python_version, (str, type(None)))
        return cls()
    def pip_install(self, *packages, extra_options=''):
        assert packages and all(isinstance(one, str) for one in packages) and isinstance(extra_options, str)
        return self
    def run_commands(self, *commands):
        assert commands and all(isinstance(one, str) for one in commands)
        return self
    def env(self, variables):
        assert all(isinstance(one, str) for pair in variables.items() for one in pair)
        return self
class App:
    def __init__(self, name, *, image):
        assert isinstance(name, str) and isinstance(image, Image)
    def function(self, *, gpu):
        assert gpu is None or all(isinstance(one, str) for one in gpu)
        return lambda function: function
sys.modules['modal'] = types.SimpleNamespace(Image=Image, App=App)
for file in sys.argv[1:]:
    assert callable(runpy.run_path(file)['installed'])
";

#[test]
fn modal() {
    let Some(python) = tools::find("python3") else { return };
    for values in [&[][..], &[("accelerators", "H100:8,L40S")], &[("image", "example/train:1"), ("accelerators", "L4")]]
    {
        let all = files("modal", "gpu_stack.py", values);
        tools::succeed(Command::new(&python).args(["-c", MODAL]).args(&all));
    }
    let all = files("modal", "gpu_stack.py", &[]);
    for (from, to) in [("add_python=", "python="), (".pip_install(", ".pip_instal("), ("image=image", "images=image")] {
        assert!(!accepts(Command::new(&python).args(["-c", MODAL]).arg(twin(&all[0], from, to))), "{from}");
    }
}

/// A service's names for GPUs are no text for its file.
#[test]
fn accelerators_are_names_and_numbers() {
    for name in ["skypilot", "modal"] {
        for bad in ["H100:0", "H100:", ":8", "H100 8", "H100\nx", "", "H100,", "$(id)", "8xH100"] {
            let options = Options::default().with("accelerators", bad);
            let error = format(name).unwrap().render(&locks::container(), &options).unwrap_err();
            assert_eq!(error.code(), "bad-option", "{name} {bad:?}");
        }
        let text = format(name).unwrap().render(&locks::container(), &Options::default()).unwrap();
        assert!(text.contains("It asks for no GPU yet"), "{text}");
        let text = format(name).unwrap().render(&locks::without_gpu(locks::container()), &Options::default()).unwrap();
        assert!(!text.contains("GPU yet"), "{text}");
    }
}
