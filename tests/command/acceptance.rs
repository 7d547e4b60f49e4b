//! The promises made to users and scripts that nothing else holds, kept through the program itself: the shapes of
//! the JSON documents, what a conflict says, what a relock leaves alone, what bad input comes to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const STORY: &str = "[stack]\ntorch = \"1.12.1\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"460.32.03\"\n";

/// A folder of its own that is gone after the test.
struct Sandbox(PathBuf);

/// What a run left behind.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Sandbox {
    fn new(spec: impl AsRef<[u8]>) -> Sandbox {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("accept-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let sandbox = Sandbox(path);
        sandbox.write(spec);
        sandbox
    }

    fn write(&self, spec: impl AsRef<[u8]>) {
        fs::write(self.0.join("gpuenv.toml"), spec).unwrap();
    }

    fn lock_path(&self) -> PathBuf {
        self.0.join("gpuenv.lock")
    }

    fn lock_text(&self) -> String {
        fs::read_to_string(self.lock_path()).unwrap()
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        let output = command
            .current_dir(&self.0)
            .args(args)
            .stdin(Stdio::null())
            .env("SOURCE_DATE_EPOCH", "0")
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with `--format json`: one document on stdout, nothing beside it.
    #[track_caller]
    fn json(&self, args: &[&str]) -> (i32, Value) {
        let ran = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(ran.stderr, "", "{args:?}");
        let document = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.code, document)
    }

    #[track_caller]
    fn locked(spec: impl AsRef<[u8]>) -> Sandbox {
        let sandbox = Sandbox::new(spec);
        let ran = sandbox.run(&["lock"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        sandbox
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A spec of one target.
fn one(stack: &str, target: &str) -> String {
    format!("[stack]\n{stack}\n[target.t]\n{target}\n")
}

/// The names in an object, sorted.
fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[track_caller]
fn conflict(spec: &str) -> Value {
    let (code, document) = Sandbox::new(spec).json(&["lock"]);
    assert_eq!((code, document["status"].as_str()), (1, Some("conflict")), "{spec}\n{document:#}");
    document
}

#[track_caller]
fn answer(spec: &str) -> Value {
    let (code, document) = Sandbox::new(spec).json(&["lock"]);
    assert_eq!((code, document["status"].as_str()), (0, Some("ok")), "{spec}\n{document:#}");
    document
}

fn warned(document: &Value) -> Vec<&str> {
    document["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// The code of the first error of a spec that is refused with exit code 2.
#[track_caller]
fn refused(spec: &str) -> (String, String) {
    let (code, document) = Sandbox::new(spec).json(&["lock"]);
    assert_eq!((code, document["status"].as_str()), (2, Some("error")), "{spec}\n{document:#}");
    let error = &document["errors"][0];
    let told = format!("{} {}", error["message"].as_str().unwrap(), error["help"].as_str().unwrap_or(""));
    (error["code"].as_str().unwrap().to_string(), told)
}

/// The file's text with a fix's changes made by hand, as a reader of the report would.
fn edited(spec: &str, changes: &Value) -> String {
    let mut tables: Vec<(String, Vec<String>)> = vec![(String::new(), Vec::new())];
    for line in spec.lines() {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(table) => tables.push((table.to_string(), Vec::new())),
            None => tables.last_mut().unwrap().1.push(line.to_string()),
        }
    }
    for change in changes.as_array().unwrap() {
        let (table, key) = change["key"].as_str().unwrap().rsplit_once('.').unwrap();
        if !tables.iter().any(|(name, _)| name == table) {
            tables.push((table.to_string(), Vec::new()));
        }
        let lines = &mut tables.iter_mut().find(|(name, _)| name == table).unwrap().1;
        let at = lines.iter().position(|line| line.split('=').next().unwrap().trim() == key);
        assert_eq!(at.is_some(), change["from"].is_string(), "{change}");
        let new = change["to"].as_str().map(|to| match to.starts_with('[') {
            true => format!("{key} = {to}"),
            false => format!("{key} = {}", json!(to)),
        });
        match (at, new) {
            (Some(at), Some(new)) => lines[at] = new,
            (Some(at), None) => drop(lines.remove(at)),
            (None, new) => lines.extend(new),
        }
    }
    let table = |(name, lines): &(String, Vec<String>)| match name.is_empty() {
        true => lines.join("\n"),
        false => format!("[{name}]\n{}\n", lines.join("\n")),
    };
    tables.iter().map(table).collect()
}

mod shapes {
    use super::*;

    #[test]
    fn an_answer() {
        let document = answer(
            "[stack]\ntorch = \"2.5.1\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"525.60.13\"\nimage = \"nvidia/cuda\"\n",
        );
        assert_eq!(
            names(&document),
            ["arch_list", "format", "overrides", "stack", "status", "targets", "warnings", "wheels"]
        );
        assert_eq!(
            document["stack"],
            json!({"torch": "2.5.1+cu124", "cuda": "12.4.1", "cudnn": "9.1.0.70", "nccl": "2.21.5", "python": "3.12", "triton": "3.1.0"})
        );
        assert_eq!(document["arch_list"], json!({"torch": "8.0", "cmake": "80-real"}));
        let prod = &document["targets"]["prod"];
        let gpu = json!({"name": "NVIDIA A100-PCIE-40GB", "compute_capability": "8.0", "coverage": "native"});
        assert_eq!(prod["gpus"], json!([gpu]));
        let driver = json!({"minimum": "525.60.13", "mode": "minor-version", "cuda": "12.0", "compat": null});
        assert_eq!(prod["driver"], driver);
        assert_eq!(prod["image"], "nvidia/cuda:12.4.1-base-ubuntu22.04");
        let warning = &document["warnings"][0];
        assert_eq!(names(warning), ["code", "keys", "message"]);
        assert_eq!((&warning["code"], &warning["keys"]), (&json!("jit-limited"), &json!(["target.prod.driver"])));
    }

    #[test]
    fn a_conflict() {
        let document = conflict(&STORY.replace("1.12.1", "1.12.1+cu102"));
        let top = ["alternatives", "conflicts", "culprits", "explanation", "facts", "fixes", "format", "status"];
        assert_eq!(names(&document), top);
        assert_eq!(document["culprits"], json!(["stack.torch", "target.prod.gpu"]));
        let told = texts(&document["explanation"]);
        assert!(told.contains(&"torch 1.12.1+cu102 holds code for sm_37, sm_50, sm_60, sm_70 only"), "{told:?}");
        assert_eq!(document["alternatives"], json!([]));
        let first = &document["conflicts"][0];
        for key in ["culprits", "explanation", "facts"] {
            assert_eq!(document[key], first[key]);
        }
        let facts = document["facts"].as_array().unwrap();
        assert!(facts.iter().all(|fact| names(fact) == ["id", "source"] && fact["source"].is_string()), "{facts:?}");
        assert!(facts.iter().any(|fact| fact["id"] == "torch-1.12.1-cu102-linux-x86_64"), "{facts:?}");
        let fix = &document["fixes"][0];
        assert_eq!(names(fix), ["changes", "stack"]);
        let change = json!({"key": "stack.torch", "from": "1.12.1+cu102", "to": "1.12.1+cu113"});
        assert_eq!(fix["changes"], json!([change]));
        assert_eq!(fix["stack"]["torch"], "1.12.1+cu113");
    }

    #[test]
    fn an_error() {
        let spec = "[stack]\ntorch = 2.10\n[target.prod]\ngpu = \"H100 NVL\"\ncuda = 12.10\n";
        let (code, document) = Sandbox::new(spec).json(&["lock"]);
        assert_eq!((code, names(&document)), (2, vec!["errors", "status"]));
        let errors = document["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 2, "all of a file in one run: {document:#}");
        for error in errors {
            assert!(error["code"].is_string() && error["message"].is_string(), "{error}");
            let span = &error["span"];
            let (start, end) = (span["start"].as_u64().unwrap() as usize, span["end"].as_u64().unwrap() as usize);
            let line = spec[..start].lines().count() as u64 + u64::from(spec[..start].ends_with('\n'));
            assert!(start < end && end <= spec.len() && span["line"] == json!(line), "{error}");
        }
        assert!(errors[0].to_string().contains("2.10"), "the quoted form is shown: {errors:?}");
    }

    #[test]
    fn targets_with_stacks_of_their_own_and_what_all_have_in_common() {
        for share in ["versions", "none"] {
            let document = answer(&format!(
                "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.ci]\ngpu = \"none\"\n[target.gpu]\ngpu = \"T4\"\n[resolve]\nshare = \"{share}\"\n"
            ));
            assert_eq!(document["stack"], json!({"python": "3.11"}));
            assert_eq!(document["targets"]["ci"]["stack"], json!({"python": "3.11", "torch": "2.5.1+cpu"}));
            assert_eq!(document["targets"]["gpu"]["stack"]["torch"], "2.5.1+cu124");
            assert_eq!(document["targets"]["gpu"]["arch_list"]["torch"], "7.5");
            assert_eq!(document["targets"]["ci"]["driver"], Value::Null);
        }
    }
}

mod conflicts {
    use super::*;

    /// Specs without an answer, of every kind.
    const CLASHES: &[(&str, &str, &str)] = &[
        ("torch = \"1.12.1+cu102\"", "gpu = \"A100-PCIE-40GB\"", ""),
        ("torch = \"2.5.1\"", "gpu = \"RTX 5080\"", ""),
        ("torch = \"2.5+cpu\"", "gpu = \"T4\"", ""),
        ("torch = \"*\"", "gpu = \"B200\"\ndriver = \"550.90.07\"", ""),
        ("torch = \"*\"", "gpu = \"V100\"\ndriver = \"595\"", ""),
        ("torch = \">=1.8\"", "gpu = \"RTX 2080 Ti\"\ndriver = \"410.48\"", ""),
        ("torch = \"*\"\ncuda = \"13\"", "gpu = \"RTX 4090\"\ndriver = \"550.90.07\"", ""),
        (
            "torch = \"*\"\ncuda = \"12\"",
            "gpu = \"A100-SXM4-80GB\"\ndriver = \"450.191.01\"\nforward-compat = \"never\"",
            "",
        ),
        ("torch = \"2.5\"\npython = \"3.15\"", "gpu = \"T4\"", ""),
        ("torch = \"2.5\"\ntorchvision = \"0.19\"", "gpu = \"T4\"", ""),
        ("torch = \"2.5\"\ncudnn = \"8\"", "gpu = \"T4\"", ""),
        ("torch = \"2.5\"\ncuda = \"12.8\"", "gpu = \"T4\"", ""),
        ("torch = \"2.7\"", "gpu = \"T4\"\nos = \"centos7\"", ""),
        ("torch = \"2.7\"", "gpu = \"T4\"\nglibc = \"2.17\"", ""),
        ("torch = \"2.5\"", "gpu = \"T4\"\narch = \"aarch64\"", ""),
        ("torch = \"2.5\"", "gpu = \"GH200 480GB\"\narch = \"x86_64\"", ""),
        ("torch = \"2.5\"", "gpu = \"T4\"\nimage = \"nvidia/cuda\"\nos = \"debian12\"", ""),
        ("torch = \"2.5\"", "gpu = \"T4\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu2204\"", ""),
        (
            "torch = \"2.5+cu118\"",
            "gpu = \"T4\"\ndriver = \"450.80.02\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
            "",
        ),
        ("torch = \"2.5.1\"", "gpu = \"T4\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"", "[build]\n"),
        ("torch = \"2.5.1+cu118\"", "gpu = \"T4\"\ntoolkit = \"12.4\"", "[build]\n"),
        ("torch = \"2.5.1+cu118\"", "gpu = \"T4\"\ngcc = \"14\"", "[build]\n"),
        ("torch = \"2.5.1\"", "gpu = \"RTX 4090\"", "[build]\narch-list = \"9.0\"\n"),
        ("cuda = \"12.4\"", "gpu = \"RTX 5090\"", "[build]\n"),
        ("torch = \"2.5.1\"", "gpu = \"RTX 5090\"", "[target.u]\ngpu = \"Tesla K80\"\n"),
        ("torch = \"*\"", "gpu = \"Tesla K80\"", "[target.u]\ngpu = \"B200\"\n"),
        (
            "torch = \"2.5.1+cu118\"\npython = \"3.13\"\ntorchvision = \"0.19\"",
            "gpu = \"RTX 5090\"\ndriver = \"535\"\nos = \"centos7\"",
            "",
        ),
        ("tensorflow = \"2.3\"", "gpu = \"RTX 3090\"", ""),
    ];

    fn each(check: impl Fn(&str, &Value) + Sync) {
        for (stack, target, more) in CLASHES {
            let spec = one(stack, target) + more;
            check(&spec, &conflict(&spec));
        }
    }

    #[test]
    fn every_fix_written_into_the_file_gives_a_lock() {
        each(|spec, document| {
            let fixes = document["fixes"].as_array().unwrap();
            assert!(!fixes.is_empty(), "at least one:\n{spec}\n{document:#}");
            for fix in fixes {
                let fixed = edited(spec, &fix["changes"]);
                let found = answer(&fixed);
                for (package, version) in fix["stack"].as_object().unwrap() {
                    assert_eq!(&found["stack"][package], version, "{fixed}\n{found:#}");
                }
            }
        });
    }

    #[test]
    fn a_fix_by_forward_compatibility_says_what_it_takes() {
        let document = conflict(&one("torch = \">=2.8\"\ncuda = \">=13\"", "gpu = \"V100\"\ndriver = \"470\""));
        assert_eq!(document["fixes"][0]["advice"], "needs cuda-compat-12-6 on the hosts or in the image");
    }

    #[test]
    fn the_culprits_are_written_keys_and_none_is_innocent() {
        each(|spec, document| {
            let culprits = texts(&document["culprits"]);
            assert!(!culprits.is_empty() && !texts(&document["explanation"]).is_empty(), "{spec}\n{document:#}");
            let (stack, rest) = spec.split_once("[target").unwrap();
            let written = |key: &&str| {
                let (table, name) = key.rsplit_once('.').unwrap();
                let inside = if table == "stack" { stack } else { rest };
                inside.contains(&format!("{name} ="))
            };
            assert!(culprits.iter().all(written), "{spec}\n{culprits:?}");
            // Without any one of them, that conflict is gone: what is left has other culprits, or an answer.
            for culprit in &culprits {
                let removed = json!([{ "key": culprit, "from": "", "to": null }]);
                let (code, left) = Sandbox::new(edited(spec, &removed)).json(&["lock"]);
                let conflicts = left["conflicts"].as_array().cloned().unwrap_or_default();
                let same = conflicts.iter().any(|conflict| conflict["culprits"] == document["culprits"]);
                assert!(code != 1 || !same, "{culprit} of\n{spec}");
            }
        });
    }

    #[test]
    fn independent_conflicts_are_all_found_and_share_no_key() {
        let document = conflict(
            "[stack]\ntorch = \"2.5.1\"\ntorchvision = \"0.19\"\n[target.a]\ngpu = \"B200\"\ndriver = \"535.183.01\"\n[target.b]\ngpu = \"none\"\nimage = \"nvidia/cuda:0.0.0\"\n",
        );
        let conflicts = document["conflicts"].as_array().unwrap();
        let keys: Vec<&str> = conflicts.iter().flat_map(|conflict| texts(&conflict["culprits"])).collect();
        let mut unique = keys.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!((conflicts.len(), keys.len()), (3, unique.len()), "{document:#}");
    }

    #[test]
    fn what_lies_beyond_the_catalog_has_a_code_of_its_own() {
        for (stack, culprit) in [
            ("torch = \">=9\"", "stack.torch"),
            ("torch = \"*\"\npython = \"3.19\"", "stack.python"),
            ("torch = \"*\"\ncuda = \"15.0\"", "stack.cuda"),
            ("torch = \"*\"\ntorchvision = \"9.9\"", "stack.torchvision"),
        ] {
            let document = conflict(&one(stack, "gpu = \"T4\""));
            assert_eq!(document["code"], "newer-than-catalog", "{stack}");
            assert_eq!(texts(&document["culprits"]), [culprit], "{stack}");
        }
    }

    #[test]
    fn what_matches_nothing_names_the_nearest() {
        for (stack, target, near) in [
            ("torch = \"2.5.9\"", "", "2.5.1 and 2.6.0"),
            ("torch = \"2.15+cu126\"", "", "cu132"),
            ("torch = \"*\"", "image = \"nvidia/cuda:12.4.1-base-ubuntu2204\"", "`12.4.1-base-ubuntu22.04`"),
            ("torch = \"*\"", "image = \"nvidia/cuda:latest\"", "-base-ubuntu"),
        ] {
            let document = conflict(&one(stack, &format!("gpu = \"T4\"\n{target}")));
            assert!(document["explanation"].to_string().contains(near), "{document:#}");
        }
    }

    #[test]
    fn a_driver_is_raised_no_further_than_needed() {
        for (stack, target, minimum) in [
            ("torch = \"*\"", "gpu = \"B200\"\ndriver = \"550.90.07\"", ">=570.26"),
            ("torch = \">=1.8\"", "gpu = \"RTX 2080 Ti\"\ndriver = \"410.48\"", ">=418.39"),
        ] {
            let document = conflict(&one(stack, target));
            let fixes = document["fixes"].as_array().unwrap();
            let raised = fixes.iter().map(|fix| &fix["changes"][0]).find(|change| change["key"] == "target.t.driver");
            assert_eq!(raised.unwrap()["to"], minimum, "{document:#}");
        }
    }
}

mod warnings {
    use super::*;

    #[test]
    fn host_facts_beyond_the_catalog_degrade_with_a_warning() {
        for (target, code) in [
            ("driver = \"999.99\"", "driver-not-listed"),
            ("os = \"ubuntu30.04\"", "os-not-listed"),
            ("driver-cuda = \"13.9\"", "newer-than-catalog"),
            ("image = \"mycorp/base:1\"", "image-not-checked"),
            (
                "image = \"ghcr.io/some/one@sha256:0000000000000000000000000000000000000000000000000000000000000000\"",
                "image-not-checked",
            ),
        ] {
            let document = answer(&one("torch = \"2.9\"", &format!("gpu = \"T4\"\n{target}")));
            assert!(warned(&document).contains(&code), "{target}: {document:#}");
        }
        assert!(warned(&answer(&one("torch = \"2.5\"", "os = \"ubuntu22.04\""))).contains(&"gpu-not-checked"));
    }

    #[test]
    fn two_cudnns_for_one_process_are_told() {
        // This torch holds its cuDNN; where both ask pip for one, nothing can be installed that suits both.
        let document = answer(&one("torch = \"2.1.2\"\ntensorflow = \"2.16\"", "gpu = \"RTX 4090\""));
        assert!(warned(&document).contains(&"two-cudnns"), "{document:#}");
        assert_eq!(document["stack"]["cudnn"], "8.9.2.26", "the first framework's");
        let document = answer(&one("torch = \"2.15\"\njax = \"0.11\"", "gpu = \"H100 PCIe\""));
        assert!(!warned(&document).contains(&"two-cudnns"), "an older one of the same major: {document:#}");
    }

    #[test]
    fn a_family_of_which_the_driver_lists_not_every_member_is_remarked_on() {
        let document = answer(&one("torch = \"2.10\"", "gpu = \"H200\"\ndriver = \"550.127.05\""));
        assert!(warned(&document).contains(&"gpu-not-listed"), "{document:#}");
        let document = answer(&one("torch = \"1.8\"", "gpu = \"Tesla V100S-PCIE-32GB\"\ndriver = \"418.67\""));
        assert!(warned(&document).contains(&"gpu-not-listed"), "{document:#}");
    }

    #[test]
    fn warnings_name_keys_that_lead_somewhere() {
        let document = answer(&(one("torch = \"2.5.1\"", "gpu = \"RTX 4090\"\nos = \"fedora40\"") + "[build]\n"));
        let minor = document["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == "toolkit-minor");
        assert_eq!(minor.unwrap()["keys"], json!(["target.t"]), "there is neither an image nor a toolkit to name");
    }

    #[test]
    fn with_words_they_go_to_stderr_and_are_no_failure() {
        let ran = Sandbox::new(one("torch = \"2.5\"", "driver = \"999.99\"")).run(&["lock"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
        assert!(ran.stderr.contains("warning[gpu-not-checked]:") && ran.stderr.contains("warning[driver-not-listed]:"));
    }
}

mod input {
    use super::*;

    #[test]
    fn mistakes_come_with_the_right_spelling() {
        for (spec, code, help) in [
            (one("torch = \"2.5\"", "gpu = \"RTX 4009\""), "unknown-gpu", "RTX 4090"),
            (one("torch = \"2.5\"", "gpu = \"MI300X\""), "unknown-gpu", "not an NVIDIA GPU"),
            (one("torch = \"2.5\"", "gpu = \"RTX 5000\""), "ambiguous-gpu", "Ada Generation"),
            (one("torch = \"2.5\"", "gpu = [\"none\", \"T4\"]"), "value", "target of their own"),
            (one("troch = \"2.5\"", "gpu = \"T4\""), "unknown-package", "torch"),
            (one("torch = \"2.5\"", "gpus = \"T4\""), "unknown-key", "gpu"),
            (one("torch = \"2.5\"\nglibc = \"2.17\"", "gpu = \"T4\""), "unknown-key", "[target.NAME]"),
            (one("torch = 2.5", "gpu = \"T4\""), "type", "\"2.5\""),
            (one("torch = \"<2.5+cu118\"", "gpu = \"T4\""), "constraint", ""),
            (one("torch = \"2.5\"", "gpu = \"T4\"") + "[build]\narch-list = \"86 90\"\n", "arch-list", "8.6"),
            (
                one("torch = \"2.5\"", "gpu = \"T4\"") + "[[override]]\nrule = \"cuda-12-drivers\"\nreason = \"x\"\n",
                "unknown-rule",
                "cuda-12-driver",
            ),
        ] {
            let (found, told) = refused(&spec);
            assert_eq!(found, code, "{spec}\n{told}");
            assert!(told.contains(help), "{help:?} in {told:?}");
        }
    }

    #[test]
    fn names_the_catalog_lacks_are_told_beside_every_other_mistake() {
        let spec = one("torch = 2.5", "gpu = \"RTX 4009\"\ndriver = \"57x\"");
        let ran = Sandbox::new(spec).run(&["lock"]);
        assert_eq!(ran.code, 2);
        let heads = ran.stderr.lines().filter(|line| line.starts_with("error["));
        let codes: Vec<&str> = heads.filter_map(|line| line["error[".len()..].split(']').next()).collect();
        assert_eq!(codes, ["type", "unknown-gpu", "constraint"], "in the order of the file:\n{}", ran.stderr);
    }

    /// Everything here ends soon, with exit code 2 or 4 and words, and leaves the lock alone.
    #[test]
    fn hostile_files_end_soon_and_harm_nothing() {
        let good = one("torch = \"2.5\"", "gpu = \"T4\"");
        let sandbox = Sandbox::locked(&good);
        let lock = sandbox.lock_text();
        let nested =
            |open: &str, close: &str| format!("[stack]\ntorch = {}{}\n", open.repeat(100_000), close.repeat(100_000));
        let utf16: Vec<u8> = "\u{feff}[stack]\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let files: Vec<(&str, Vec<u8>)> = vec![
            ("nested arrays", nested("[", "]").into()),
            ("unclosed arrays", nested("[", "").into()),
            ("nested tables", nested("{a=", "}").into()),
            ("a header of many dots", format!("[{}a]\n", "a.".repeat(100_000)).into()),
            ("many headers", "[[override]]\n".repeat(100_000).into()),
            ("many keys", (0..100_000).map(|at| format!("k{at} = 1\n")).collect::<String>().into()),
            ("invalid UTF-8", b"[stack]\ntorch = \"\xff\xfe\x80\"\n".to_vec()),
            ("UTF-16", utf16),
            ("nothing but zeroes", vec![0; 100_000]),
            ("control characters", b"[stack]\ntorch = \"2.5\x1b[31m\x07\"\n".to_vec()),
            ("escaped control characters", good.replace("2.5", "2.5\\u001b[31m").into()),
            ("an empty file", Vec::new()),
            ("a range of nothing", good.replace("2.5", "").into()),
            ("only commas", good.replace("2.5", ",,,,").into()),
            ("an absurd version", good.replace("2.5", &"9".repeat(100_000)).into()),
            ("a version of many parts", good.replace("2.5", &["1"; 50_000].join(".")).into()),
            ("many alternatives", good.replace("2.5", &["2.5"; 50_000].join(" || ")).into()),
            ("a long name", good.replace("T4", &"RTX ".repeat(50_000)).into()),
            ("merge markers", format!("<<<<<<< ours\n{good}=======\n{good}>>>>>>> theirs\n").into()),
            ("a hostile target name", good.replace("target.t", "target.\"../../x\\n\\u001b\"").into()),
        ];
        for (name, content) in files {
            sandbox.write(&content);
            let begun = Instant::now();
            let ran = sandbox.run(&["lock"]);
            assert!(begun.elapsed() < Duration::from_secs(20), "{name} took {:?}", begun.elapsed());
            assert!(matches!(ran.code, 1 | 2), "{name}: {} {}", ran.code, &ran.stderr[..ran.stderr.len().min(500)]);
            assert!(!ran.stderr.is_empty() && ran.stderr.len() < 20_000, "{name}: {} bytes", ran.stderr.len());
            assert!(!ran.stderr.contains(|c: char| c.is_control() && c != '\n'), "{name}: {:?}", ran.stderr);
            assert!(ran.stdout.is_empty() && !ran.stderr.contains("panicked"), "{name}: {ran:?}");
            assert_eq!(sandbox.lock_text(), lock, "{name}");
            let (code, document) = sandbox.json(&["lock"]);
            assert_eq!(code, ran.code, "{name}: {document}");
        }
    }

    #[test]
    fn the_ranges_that_hold_nothing_are_conflicts_not_crashes() {
        for range in [">2.5,<2.5", ">=2.6,<2.5", "==2.5,==2.6", "!=*"] {
            let ran = Sandbox::new(one(&format!("torch = \"{range}\""), "gpu = \"T4\"")).run(&["lock"]);
            assert!(matches!(ran.code, 1 | 2), "{range}: {ran:?}");
        }
    }
}

mod determinism {
    use super::*;

    #[test]
    fn the_same_question_in_other_words_is_the_same_lock() {
        let plain = "[stack]\ntorch = \">=2.4,<2.6\"\npython = \"3.11\"\n[target.a]\ngpu = [\"T4\", \"H100 NVL\"]\nos = \"ubuntu22.04\"\n[target.b]\ngpu = \"L4\"\ndriver = \"535.104.05\"\n[build]\nptx = true\n";
        let shuffled = "# first\nbuild = { ptx = true }\n[target.b]\n'driver' = '535.104.05' # hosts\ngpu=\"L4\"\n\n[target.a]\nos = \"ubuntu22.04\"\ngpu = [\n  \"H100 NVL\", # new\n  \"T4\",\n]\n[stack]\npython = \"3.11\"\ntorch = \" >=2.4 , <2.6 \"\n";
        let lock = Sandbox::locked(plain).lock_text();
        let variants = [
            shuffled.to_string(),
            plain.replace('\n', "\r\n"),
            format!("\u{feff}{plain}"),
            plain.replace(" = ", "=").replace('\n', "   \n\n"),
        ];
        for text in variants {
            let sandbox = Sandbox::locked(&text);
            assert_eq!(sandbox.lock_text(), lock, "{text}");
            assert_eq!(sandbox.run(&["lock", "--check"]).code, 0);
        }
        let sandbox = Sandbox::locked(plain);
        sandbox.write(shuffled);
        assert_eq!(sandbox.run(&["lock", "--check"]).code, 0, "formatting makes no lock stale");
        assert!(!lock.contains(env!("CARGO_TARGET_TMPDIR")) && !lock.contains('\r'));
    }
}

mod relocking {
    use super::*;

    fn stack(sandbox: &Sandbox) -> Value {
        sandbox.json(&["lock"]).1["stack"].clone()
    }

    #[test]
    fn one_package_may_move_alone() {
        let spec =
            |torch: &str| one(&format!("torch = \"{torch}\"\ntorchvision = \"*\"\npython = \"*\""), "gpu = \"T4\"");
        let sandbox = Sandbox::locked(spec(">=2.4,<2.5").replace("torchvision = \"*\"", "torchvision = \"0.19.0\""));
        let before = stack(&sandbox);
        sandbox.write(spec(">=2.4,<2.5"));
        assert_eq!(stack(&sandbox), before, "what is locked and still holds stays");
        // Its pairing binds torchvision to torch, so the older torch keeps it too.
        let (code, after) = sandbox.json(&["lock", "--upgrade-package", "python"]);
        assert_eq!((code, &after["stack"]), (0, &before));
        let (code, after) = sandbox.json(&["lock", "--upgrade-package", "torchvision"]);
        assert_eq!(code, 0);
        let others = ["torch", "python", "cudnn", "nccl"];
        let moved: Vec<&&str> = others.iter().filter(|name| after["stack"][**name] != before[**name]).collect();
        assert!(moved.is_empty(), "{moved:?}\n{before:#}\n{after:#}");
    }

    #[test]
    fn upgrades_and_fresh_locks_reach_the_best_again() {
        let sandbox = Sandbox::locked(one("torch = \"2.4\"", "gpu = \"T4\""));
        sandbox.write(one("torch = \">=2.4,<2.7\"", "gpu = \"T4\""));
        assert_eq!(stack(&sandbox)["torch"], "2.4.1+cu121");
        assert_eq!(sandbox.json(&["lock", "--upgrade-package", "torch=2.5.0"]).1["stack"]["torch"], "2.5.0+cu124");
        let upgraded = sandbox.json(&["lock", "--upgrade"]).1;
        assert_eq!(upgraded["stack"]["torch"], "2.6.0+cu124");
        let text = sandbox.lock_text();
        assert_eq!(sandbox.json(&["lock", "--fresh"]).1, upgraded);
        assert_eq!(sandbox.lock_text(), text);
        let (code, _) = sandbox.json(&["lock", "--upgrade-package", "torhc"]);
        assert_eq!((code, sandbox.lock_text()), (2, text));
        // Where there is no lock a version that is asked for binds as well.
        fs::remove_file(sandbox.0.join("gpuenv.lock")).unwrap();
        assert_eq!(sandbox.json(&["lock", "--upgrade-package", "torhc"]).0, 2);
        assert_eq!(sandbox.json(&["lock", "--upgrade-package", "torch=2.5.0"]).1["stack"]["torch"], "2.5.0+cu124");
    }

    #[test]
    fn check_gives_every_reason_and_writes_nothing() {
        let sandbox = Sandbox::locked(one("torch = \"2.4\"\npython = \"3.11\"", "gpu = \"T4\""));
        let lock = sandbox.lock_text();
        sandbox.write(one("torch = \"2.5\"\ncudnn = \"9\"", "gpu = [\"T4\", \"L4\"]"));
        let (code, document) = sandbox.json(&["lock", "--check"]);
        assert_eq!((code, names(&document)), (1, vec!["format", "reasons", "status"]));
        let reasons = document["reasons"].to_string();
        for key in ["stack.torch", "stack.python", "stack.cudnn", "target.t.gpu"] {
            assert!(reasons.contains(key), "{key} in {reasons}");
        }
        assert_eq!(sandbox.lock_text(), lock);
    }

    #[test]
    fn a_conflict_leaves_the_lock_as_it_was() {
        let sandbox = Sandbox::locked(one("torch = \"2.5\"", "gpu = \"T4\""));
        let lock = sandbox.lock_text();
        sandbox.write(one("torch = \"2.5\"", "gpu = \"RTX 5090\""));
        for args in [&["lock"][..], &["lock", "--fresh"], &["lock", "--upgrade"]] {
            assert_eq!(sandbox.run(args).code, 1);
            assert_eq!(sandbox.lock_text(), lock);
        }
    }
}

mod overriding {
    use super::*;

    fn spec(target: &str, more: &str) -> String {
        one("torch = \"2.5.1+cu124\"", target)
            + "[[override]]\nrule = \"cuda-12-driver\"\nreason = \"ticket 123\"\n"
            + more
    }

    #[test]
    fn a_used_one_is_recorded_with_its_reason_and_an_unused_one_warns() {
        let used = Sandbox::locked(spec("gpu = \"RTX 3090\"\ndriver = \"470.57.02\"", "target = \"t\"\n"));
        let lock = used.lock_text();
        assert!(lock.contains("cuda-12-driver") && lock.contains("ticket 123"), "{lock}");
        let other = spec("gpu = \"RTX 3090\"", "").replace("cuda-12-driver", "cuda-13-driver");
        let unused = answer(&other);
        assert!(warned(&unused).iter().any(|code| code.contains("override")), "{unused:#}");
        let (_, told) = refused(&spec("gpu = \"RTX 3090\"", "target = \"nowhere\"\n"));
        assert!(told.contains("nowhere"), "{told}");
    }
}

mod exporting {
    use super::*;

    #[test]
    fn outputs_that_differ_ask_for_a_target_by_name() {
        let sandbox = Sandbox::locked(
            "[stack]\ntorch = \"2.5.1\"\n[target.ci]\ngpu = \"none\"\n[target.gpu]\ngpu = \"T4\"\n[resolve]\nshare = \"versions\"\n",
        );
        let ran = sandbox.run(&["export", "requirements"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(ran.stderr.contains("ci") && ran.stderr.contains("gpu") && ran.stderr.contains("--target"), "{ran:?}");
        let ci = sandbox.run(&["export", "requirements", "--target", "ci"]);
        assert!(ci.code == 0 && ci.stdout.contains("2.5.1+cpu") && ci.stderr.starts_with("next: "), "{ci:?}");
        let unknown = sandbox.run(&["export", "requirements", "--target", "gpo"]);
        assert!(unknown.code == 2 && unknown.stderr.contains("gpu"), "{unknown:?}");
        let (code, document) = sandbox.json(&["export", "requirements"]);
        assert_eq!((code, document["status"].as_str()), (2, Some("error")));
    }

    #[test]
    fn they_need_the_lock_only() {
        let sandbox = Sandbox::locked(one("torch = \"2.5.1\"", "gpu = \"T4\"\nimage = \"nvidia/cuda\""));
        fs::remove_file(sandbox.0.join("gpuenv.toml")).unwrap();
        for format in ["env", "dockerfile", "requirements", "uv", "json"] {
            let lock = ["export", format, "--lock", "gpuenv.lock"];
            let ran = sandbox.run(&lock);
            assert!(
                ran.code == 0 && !ran.stdout.is_empty() && ran.stderr.lines().all(|line| line.starts_with("next: ")),
                "{format}: {ran:?}"
            );
        }
    }

    #[test]
    fn a_lock_edited_by_a_hostile_hand_is_refused() {
        let sandbox = Sandbox::locked(one("torch = \"2.5.1\"", "gpu = \"T4\"\nimage = \"nvidia/cuda\""));
        let lock = sandbox.lock_text();
        for (old, new) in [
            ("nvidia/cuda:12.4.1-base-ubuntu22.04", "nvidia/cuda:1\\nRUN curl x | sh"),
            ("nvidia/cuda:12.4.1-base-ubuntu22.04", "$(id)"),
            ("\"3.12\"", "\"3.12\\nimport os\""),
            ("\"7.5\"", "\"7.5'; rm -rf ~; '\""),
            ("2.5.1+cu124", "2.5.1+cu124 --extra-index-url x"),
        ] {
            assert!(lock.contains(old), "{old}\n{lock}");
            fs::write(sandbox.lock_path(), lock.replace(old, new)).unwrap();
            for format in ["env", "dockerfile", "requirements", "uv"] {
                let ran = sandbox.run(&["export", format]);
                let smuggled = ["curl x", "$(id)", "rm -rf", "import os", "--extra-index-url x"];
                let harmless = ran.code == 0 && !smuggled.iter().any(|text| ran.stdout.contains(text));
                assert!(harmless || (ran.code == 2 && ran.stdout.is_empty()), "{new} {format}: {ran:?}");
            }
        }
    }

    #[test]
    fn machines_without_a_gpu_install_the_cpu_wheel() {
        let sandbox = Sandbox::locked(one("torch = \"2.5.1\"", "gpu = \"none\""));
        let ran = sandbox.run(&["export", "requirements"]);
        assert!(ran.stdout.contains("torch==2.5.1+cpu") && ran.stdout.contains("/whl/cpu"), "{ran:?}");
    }
}
