//! `gpuenv explain`, and what it shares with `gpuenv lock`: conflicts that fit a screen, fixes that are applied,
//! warnings that are explained and silenced, annotations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gpuenv::catalog::BUILTIN;
use gpuenv::explain;
use gpuenv::meaning::WARNINGS;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::spec;

use crate::common::sandbox::Sandbox;

const SPEC: &str = r#"
[stack]
torch = ">=2.4,<2.8"
torchvision = "*"
python = "3.11"

[target.prod]
gpu = ["A100-PCIE-40GB", "H100 NVL"]
driver = "525.116.03"
image = "nvidia/cuda"
os = "ubuntu22.04"

[target.lab]
gpu = "RTX 3090"
driver = "535.183.01"
os = "ubuntu20.04"
"#;

const CONFLICT: &str = r#"# ours
[stack]
torch = ">=2.8"   # new

[target.prod]
gpu = "RTX 3090"
driver = '470.57.02'
"#;

// Why this

#[test]
fn every_choice_is_answered() {
    let sandbox = Sandbox::new("why", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["explain"]).exits(0);
    assert_eq!(ran.err, "");
    for part in [
        "stack.torch: 2.7.1\n  limited by `>=2.4,<2.8`",
        "stack.torch variant: cu126",
        "stack.python: 3.11",
        "stack.cudnn: 9.5.1.17\n  comes with torch 2.7.1+cu126",
        "target.prod.image: nvidia/cuda:12.4.1-base-ubuntu22.04\n  not nvidia/cuda:12.6.3-base-ubuntu22.04 with",
        "target.prod.driver minimum: >=525.60.13\n  CUDA 12 runs on driver 525.60.13 or newer",
        "to get a newer version:\n  - change stack.torch from >=2.4,<2.8 to *: allows torch 2.",
    ] {
        assert!(ran.out.contains(part), "{part:?} in\n{}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

/// A100 is a family: what some of its boards need is told beside whatever other GPU the target has.
#[test]
fn what_some_boards_of_a_family_need_is_told() {
    let needs = |gpu: &str| {
        let spec = format!("[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = {gpu}\n");
        Sandbox::new("some-boards", &spec).run(&["explain"]).exits(0).out.contains("some GPUs of that name need more")
    };
    assert!(needs("[\"A100\", \"T4\"]") && !needs("[\"A100-PCIE-40GB\", \"T4\"]"));
}

#[test]
fn a_key_shows_its_own_part() {
    let sandbox = Sandbox::new("key", SPEC);
    let ran = sandbox.run(&["explain", "target.prod.driver"]).exits(0).tells("target.prod.driver minimum");
    assert!(!ran.out.contains("stack.torch:") && !ran.out.contains("target.lab"), "{}", ran.out);
    sandbox.run(&["explain", "stack.torch"]).exits(0).tells("variant: cu126");
    sandbox.run(&["explain", "target.prod"]).exits(0).tells("target.prod.image").tells("target.prod.driver");
    sandbox.run(&["explain", "target.prod.os"]).exits(0).tells("key target.os").tells("given, not chosen");
    sandbox.run(&["explain", "target.nobody.os"]).exits(2).says("there is no target `nobody`").says("prod, lab");
}

/// Every key of the reference is explained, with a project and without one, and tables are.
#[test]
fn every_key_is_explained() {
    let sandbox = Sandbox::new("keys", &format!("{SPEC}[resolve]\nshare = \"versions\"\n"));
    let empty = Sandbox::new("no-keys", "");
    std::fs::remove_file(empty.path("gpuenv.toml")).unwrap();
    for table in gpuenv::spec::tables() {
        for key in table.keys.iter().filter(|_| !["stack", "packages"].contains(&table.name)) {
            let mut names = vec![key.name.to_string()];
            names.extend((!table.name.is_empty()).then(|| format!("{}.{}", table.name, key.name)));
            for name in names.iter().filter(|name| !name.starts_with("stack.") && *name != "target") {
                sandbox.run(&["explain", name]).exits(0);
                if !name.starts_with("target.") {
                    empty.run(&["explain", name]).exits(0);
                }
            }
        }
    }
    sandbox.run(&["explain", "resolve.share"]).exits(0).tells("gpuenv.toml sets `share = \"versions\"`");
    sandbox.run(&["explain", "runtime"]).exits(0).tells("Target `prod`");
    sandbox.run(&["explain", "target.NAME.gcc"]).exits(0).tells("key target.gcc");
    sandbox.run(&["explain", "override"]).exits(0).tells("table [[override]]");
}

/// Of an ordinary package only what bears on the project is told, and no id that a fact does not have.
#[test]
fn an_ordinary_package_is_told_beside_what_is_there() {
    let spec = "[stack]\ntorch = \"2.6\"\n[packages]\ntransformers = \"*\"\n[target.a]\ngpu = \"A100\"\n";
    let sandbox = Sandbox::new("ordinary-here", spec);
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["explain", "transformers"]).exits(0).tells("needs torch");
    assert!(!ran.out.contains("(.)") && !ran.out.contains("vllm") && !ran.out.contains("mamba"), "{}", ran.out);
}

/// Who has a project means its own choice, asked for by name or brought along.
#[test]
fn what_is_locked_is_meant_whether_it_is_written_or_not() {
    let sandbox = Sandbox::new("brought", "[stack]\nvllm = \"0.9.2\"\n[target.prod]\ngpu = \"A100\"\n");
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["explain", "torch"]).exits(0).tells("stack.torch: 2.7.0").tells("vllm 0.9.2 requires torch 2.7.0");
    sandbox.run(&["explain", "triton"]).exits(0).tells("stack.triton: 3.3.0\n  comes with torch 2.7.0+cu126");
    // What is not locked is a thing of the catalog.
    sandbox.run(&["explain", "jax"]).exits(0).tells("jax-");
}

#[test]
fn a_key_of_the_stack_shows_what_each_target_got() {
    let sandbox = Sandbox::new("own-stacks", &format!("{SPEC}[resolve]\nshare = \"versions\"\n"));
    let ran = sandbox.run(&["explain", "stack.torch"]).exits(0).tells("target.lab.stack.torch");
    assert!(!ran.out.contains("stack.python"), "{}", ran.out);
}

#[test]
fn raising_the_driver_is_told_where_it_opens_something() {
    let spec = "[stack]\ntorch = \"*\"\n[target.prod]\ngpu = \"RTX 3090\"\ndriver = \"535.183.01\"\n";
    let sandbox = Sandbox::new("open", spec);
    let (code, told) = sandbox.json(&["explain"]);
    assert_eq!((code, told["status"].as_str()), (0, Some("ok")));
    let opening = &told["openings"][0];
    assert_eq!(opening["change"]["key"], "target.prod.driver", "{told}");
    let (to, version) = (opening["change"]["to"].as_str().unwrap(), opening["to"].as_str().unwrap());
    assert!(opening["advice"].as_str().unwrap().contains("supported until"), "{opening}");
    let torch = |told: &serde_json::Value| told["choices"][0]["chosen"].as_str().unwrap().to_string();
    assert_ne!(torch(&told), version);
    assert_eq!(told["choices"][0]["verdict"], "limited");
    assert_eq!(told["choices"][0]["rejected"][0]["culprits"], serde_json::json!(["target.prod.driver"]));
    // What is promised holds.
    sandbox.write(&spec.replace("535.183.01", to));
    assert_eq!(torch(&sandbox.json(&["explain"]).1), version);
}

#[test]
fn what_the_lock_keeps_is_told() {
    let sandbox = Sandbox::new("kept", &SPEC.replace("<2.8", "<2.6"));
    sandbox.run(&["lock"]).exits(0);
    sandbox.write(SPEC);
    sandbox.run(&["lock"]).exits(0);
    let told = sandbox.run(&["explain", "stack.torch"]).exits(0).tells("stack.torch: 2.5.1");
    told.tells("kept by the lock").tells("`gpuenv lock --upgrade` takes 2.7.1");
}

/// Nothing in gpuenv.toml stands in the way of what the lock alone holds back.
#[test]
fn no_change_is_advised_for_what_the_lock_alone_keeps() {
    let of = |torch: &str| format!("[stack]\ntorch = \"{torch}\"\n[target.x]\ngpu = \"A100\"\nos = \"rhel8\"\n");
    let sandbox = Sandbox::new("explain-kept", &of("2.5"));
    sandbox.run(&["lock"]).exits(0);
    sandbox.write(&of("*"));
    let ran = sandbox.run(&["explain"]).exits(0).tells("kept by the lock");
    assert!(!ran.out.contains("allows torch"), "{}", ran.out);
}

#[test]
fn every_word_in_brackets_and_in_an_answer_is_explained() {
    let sandbox = Sandbox::new("explain-words", "[stack]\ntorch = \"*\"\n[target.lab]\ngpu = \"A100\"\n");
    for row in BUILTIN.diagnoses.iter() {
        let found = gpuenv::diagnose::of_code(&row.code);
        assert!(found.is_some_and(|one| !one.meaning.is_empty() && !one.remedies.is_empty()), "{}", row.code);
    }
    sandbox.run(&["explain", "no-kernel-image"]).exits(0).tells("message no-kernel-image").tells("  1. ");
    let words = ["mode", "native", "minor-version", "forward-compat", "jit"];
    for word in words.into_iter().chain([
        "variant",
        "recommended",
        "spec",
        "overlay",
        "compute-capability",
        "compute capability",
    ]) {
        sandbox.run(&["explain", word]).exits(0).tells(&format!("word {}", word.replace(' ', "-")));
    }
    // The name of a target is that of the project's own.
    sandbox.run(&["explain", "lab"]).exits(0).tells("target.lab");
}

#[test]
fn a_lock_made_with_a_newer_catalog_is_explained_with_that_word() {
    let sandbox = Sandbox::new("of-newer", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    let newer = lock.replace(&*BUILTIN.version, "2999.1.1");
    assert_ne!(newer, lock);
    fs::write(sandbox.path("gpuenv.lock"), newer).unwrap();
    let ran = sandbox.run(&["explain", "torch"]).exits(0).tells("stack.torch: 2.7.1");
    ran.says("warning[lock-newer-catalog]: gpuenv.lock was made with catalog 2999.1.1");
}

/// People ask which CUDA, which driver, which Python
/// their project has, not which there are.
#[test]
fn short_names_tell_of_the_lock_of_this_project() {
    let sandbox = Sandbox::new("short", SPEC);
    sandbox.run(&["lock"]).exits(0);
    for (name, key) in [
        ("driver", "target.prod.driver"),
        ("gpu", "target.lab.gpu"),
        ("cuda", "stack.cuda"),
        ("python", "stack.python"),
    ] {
        let ran = sandbox.run(&["explain", name]).exits(0).tells(key);
        assert!(!ran.out.contains("branch 304") && ran.out.lines().count() < 25, "{ran:?}");
        assert!(!ran.err.contains("stale"), "{ran:?}");
        let (code, told) = sandbox.json(&["explain", name]);
        assert_eq!((code, &told["lock"]["status"]), (0, &"current".into()), "{told}");
        let keys: Vec<&str> =
            told["choices"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
        assert!(!keys.is_empty() && keys.iter().all(|one| one.ends_with(&format!(".{name}"))), "{keys:?}");
    }
    // Of each target.
    sandbox.run(&["explain", "driver"]).exits(0).tells("target.prod.driver").tells("target.lab.driver");
}

#[test]
fn a_lock_that_is_no_longer_true_is_not_explained() {
    let sandbox = Sandbox::new("untrue", SPEC);
    let missing = sandbox.run(&["explain", "python"]).exits(0).says("gpuenv.lock does not exist");
    assert!(!missing.err.contains("stale"), "{missing:?}");
    sandbox.run(&["lock"]).exits(0);
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    sandbox.write(&SPEC.replace("<2.8", "<2.6"));
    for name in ["driver", "gpu", "cuda", "python", "torch"] {
        let ran = sandbox.run(&["explain", name]).exits(0);
        assert!(ran.err.starts_with("warning[stale-lock]: gpuenv.lock is out of date"), "{ran:?}");
        ran.says("`stack.torch` was `>=2.4,<2.8` and is now `>=2.4,<2.6`").says("not what is locked");
    }
    let (_, told) = sandbox.json(&["explain", "torch"]);
    assert_eq!((&told["lock"]["status"], &told["choices"][0]["chosen"]), (&"stale".into(), &"2.5.1".into()), "{told}");
    sandbox.write(SPEC);
    let edited = lock.replace("stack.python = \"3.11\"", "stack.python = \"3.12\"");
    assert_ne!(edited, lock);
    fs::write(sandbox.path("gpuenv.lock"), edited).unwrap();
    sandbox.run(&["explain", "python"]).exits(0).says("edited by hand").tells("stack.python: 3.11");
    assert_eq!(sandbox.json(&["explain", "python"]).1["lock"]["status"], "stale");
}

#[test]
fn shared_versions_and_targets_by_themselves_are_explained() {
    for share in ["versions", "none"] {
        let sandbox = Sandbox::new(share, &format!("{SPEC}[resolve]\nshare = \"{share}\"\n"));
        let ran = sandbox.run(&["explain"]).exits(0);
        assert!(ran.out.contains("target.lab.stack.torch: 2.7.1"), "{}", ran.out);
        assert!(ran.out.contains("target.lab.stack.torch variant:"), "{}", ran.out);
        assert!(ran.out.contains("the same for target prod"), "{}", ran.out);
        let prod = sandbox.run(&["explain", "target.prod.stack.torch"]).exits(0);
        assert!(prod.out.starts_with("target.prod.stack.torch: 2.7.1"), "{}", prod.out);
    }
}

#[test]
fn a_conflict_is_the_story_that_lock_tells() {
    let sandbox = Sandbox::new("same", CONFLICT);
    let (told, locked) = (sandbox.run(&["explain"]).exits(1), sandbox.run(&["lock"]).exits(1));
    assert_eq!((told.out, told.err), (locked.out, locked.err));
    assert_eq!(sandbox.json(&["explain"]), sandbox.json(&["lock"]));
    assert_eq!(sandbox.run(&["explain", "stack.torch"]).code, 1);
}

// Things with a name

#[test]
fn every_rule_law_and_warning_can_be_looked_up() {
    let sandbox = Sandbox::new("names", "");
    let rules = BUILTIN.rules.iter().map(|row| &*row.id).chain(BUILTIN.laws.iter().map(|row| &*row.id));
    for name in rules.chain(WARNINGS.iter().map(|one| one.code)) {
        assert!(!gpuenv::explain::topic::find(&BUILTIN, name).is_empty(), "{name}");
    }
    sandbox
        .run(&["explain", "cuda-12-driver"])
        .exits(0)
        .tells("where cuda is")
        .tells("source  http")
        .tells("fails for:");
    sandbox.run(&["explain", "jit-only"]).exits(0).tells("[[silence]]\n    warning = \"jit-only\"");
    sandbox.run(&["explain", "forward-compat"]).exits(0).tells("rule forward-compat").tells("warning forward-compat");
    sandbox
        .run(&["explain", "torch-2.5.1-cu124-linux-x86_64"])
        .exits(0)
        .tells("sass           5.0, 6.0")
        .tells("pkg:pypi/torch@2.5.1");
    sandbox.run(&["explain", "kernel-module-open-blackwell"]).exits(0).tells("source  https://");
    sandbox.run(&["explain", "jit-onyl"]).exits(2).says("did you mean `jit-only`?");
    let hostile = sandbox.run(&["explain", "\u{1b}[31mx"]).exits(2);
    assert!(!hostile.err.contains('\u{1b}'));
}

/// The code of all files of a folder, without tests.
fn code_of(folder: &Path) -> String {
    let mut code = String::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            code += &code_of(&path);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            code += text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        }
    }
    code
}

#[test]
fn every_kind_of_warning_is_listed_and_given() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (kinds, all) = (code_of(&src.join("warning")), code_of(&src));
    let names: Vec<&str> =
        kinds.split("impl Kind for ").skip(1).filter_map(|rest| rest.split(['<', ' ']).next()).collect();
    assert_eq!(names.len(), WARNINGS.len());
    for one in WARNINGS {
        let code = format!("const CODE: &'static str = \"{}\";", one.code);
        assert!(kinds.contains(&code), "no kind of warning is called {}", one.code);
    }
    for name in names {
        let is_given = |rest: &str| rest.starts_with(" {") || rest.starts_with("::");
        let given = |code: &str| {
            code.match_indices(&format!(" {name}")).filter(|(at, found)| is_given(&code[at + found.len()..])).count()
                + code
                    .match_indices(&format!("(&{name}"))
                    .filter(|(at, found)| is_given(&code[at + found.len()..]))
                    .count()
        };
        assert!(given(&all) > given(&kinds), "{name} is never given");
    }
}

// Drawings

/// What the lock keeps is drawn, not what would be chosen today; of a lock that is out of date this is said.
#[test]
fn what_is_locked_is_drawn() {
    let spec = "[stack]\ntorch = \">=2.6\"\n[target.a]\ngpu = \"L4\"\ndriver = \"550\"\n";
    for share in ["stack", "none"] {
        let spec = format!("{spec}[resolve]\nshare = \"{share}\"\n");
        let sandbox = Sandbox::new(&format!("graph-locked-{share}"), &spec);
        let nodes = |sandbox: &Sandbox| {
            let (_, told) = sandbox.json(&["explain", "--graph", "mermaid"]);
            let nodes =
                told["nodes"].as_array().unwrap().iter().map(|node| node["label"].as_str().unwrap().to_string());
            (told["lock"]["status"].as_str().unwrap().to_string(), nodes.collect::<BTreeSet<_>>())
        };
        let (status, fresh) = nodes(&sandbox);
        assert_eq!(status, "missing");
        assert!(!fresh.contains("torch 2.6.0+cu124"), "{fresh:?}");
        sandbox.run(&["lock"]).exits(0);
        sandbox.run(&["lock", "--upgrade-package", "torch=2.6"]).exits(0);
        let (status, locked) = nodes(&sandbox);
        assert_eq!(status, "current");
        assert!(locked.contains("torch 2.6.0+cu124"), "{locked:?}");
        sandbox.write(&spec.replace("550", "560"));
        sandbox.run(&["explain", "--graph", "dot"]).exits(0).says("gpuenv.lock is out of date").tells("torch 2.6.0");
    }
}

#[test]
fn the_answer_is_drawn() {
    let sandbox = Sandbox::new("graph", SPEC);
    let mermaid = sandbox.run(&["explain", "--graph", "mermaid"]).exits(0);
    assert!(mermaid.out.starts_with("flowchart LR\n"), "{}", mermaid.out);
    assert!(mermaid.out.contains("-->|\"cuda-12-driver\"| driver_prod"), "{}", mermaid.out);
    let dot = sandbox.run(&["explain", "--graph", "dot"]).exits(0);
    assert!(dot.out.starts_with("digraph gpuenv {") && dot.out.ends_with("}\n"), "{}", dot.out);
    let (_, told) = sandbox.json(&["explain", "--graph", "dot"]);
    let ids: BTreeSet<&str> =
        told["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    for edge in told["edges"].as_array().unwrap() {
        assert!(ids.contains(edge["from"].as_str().unwrap()) && ids.contains(edge["to"].as_str().unwrap()), "{edge}");
        let rule = edge["rule"].as_str().unwrap();
        assert!(rule == "brings" || !gpuenv::explain::topic::find(&BUILTIN, rule).is_empty(), "{rule}");
    }
}

// Conflicts

#[test]
fn one_conflict_fits_a_terminal_and_every_width_holds_it() {
    let hard = "[stack]\ntorch = \"*\"\n[build]\nptx = true\n[target.prod]\n\
                gpu = [\"Tesla V100\", \"Tesla P100\", \"RTX 5090\"]\ndriver = \"570.86.15\"\nimage = \"nvidia/cuda\"\n";
    for (at, spec) in [CONFLICT, hard].iter().enumerate() {
        let sandbox = Sandbox::new(&format!("width{at}"), spec);
        let ran = sandbox.run(&["lock"]).exits(1);
        assert!(ran.err.lines().count() <= 25, "{}\n{}", ran.err.lines().count(), ran.err);
        assert!(ran.err.lines().all(|line| line.chars().count() <= 80), "{}", ran.err);
        for columns in [1, 40, 60, 100, 200, 100_000] {
            let ran = sandbox.with(&["lock"], &[("COLUMNS", &columns.to_string())]).exits(1);
            let prose = ran.err.lines().filter(|line| line.starts_with("  ") && !line.contains(['|', ':']));
            let most = columns.clamp(40, 110);
            assert!(prose.clone().all(|line| line.chars().count() <= most), "{columns}: {}", ran.err);
            assert!(ran.err.starts_with("error[conflict]:"), "{}", ran.err);
        }
    }
}

#[test]
fn verbose_tells_every_fact_with_its_source() {
    let sandbox = Sandbox::new("verbose", CONFLICT);
    let (_, told) = sandbox.json(&["lock"]);
    let ran = sandbox.run(&["lock", "--verbose"]).exits(1);
    let facts = told["facts"].as_array().unwrap();
    assert!(!facts.is_empty());
    for fact in facts {
        let line = format!("  fact {}: {}\n", fact["id"].as_str().unwrap(), fact["source"].as_str().unwrap());
        assert!(ran.err.contains(&line), "{line} in {}", ran.err);
    }
    assert!(!sandbox.run(&["lock"]).err.contains("https://"));
    sandbox.run(&["explain", "-v"]).exits(1).says("fact cuda-12-driver: https://");
}

#[test]
fn narrated_reports_draw_nothing() {
    let sandbox = Sandbox::new("narrated", CONFLICT);
    let narrated = [("GPUENV_REPORT", "narrated"), ("COLUMNS", "80")];
    let ran = sandbox.with(&["lock"], &narrated).exits(1);
    assert!(ran.err.contains("gpuenv.toml, line 3, column 9, stack.torch"), "{}", ran.err);
    assert!(
        ran.err.contains("from 470.57.02 to ") && !ran.err.contains("->") && !ran.err.contains("^^"),
        "{}",
        ran.err
    );
    sandbox.write("[stack]\ntorhc = \"2\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    sandbox.with(&["lock"], &narrated).exits(2).says("line 2, column 9: torhc");
}

#[test]
fn a_driver_that_suffices_stands_beside_the_one_to_install() {
    let sandbox = Sandbox::new("advice", CONFLICT);
    let (_, told) = sandbox.json(&["lock"]);
    let fixes = told["fixes"].as_array().unwrap();
    let raised = fixes.iter().find(|fix| fix["changes"][0]["key"] == "target.prod.driver").unwrap();
    let advice = raised["advice"].as_str().unwrap();
    let end = advice.rsplit(' ').next().unwrap();
    assert!(!BUILTIN.has_ended(end), "{advice}");
    assert!(fixes.iter().filter(|fix| fix["changes"][0]["key"] == "stack.torch").all(|fix| fix["advice"].is_null()));
}

// Fixes

/// The fixes of a spec: the changed keys with their new texts, and the advice.
fn offered(name: &str, spec: &str) -> Vec<(String, String)> {
    let (_, told) = Sandbox::new(name, spec).json(&["lock"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_string();
    let fix = |fix: &serde_json::Value| {
        let changes = fix["changes"].as_array().unwrap().iter();
        let changes: Vec<String> = changes.map(|one| format!("{} = {}", text(&one["key"]), text(&one["to"]))).collect();
        (changes.join("; "), text(&fix["advice"]))
    };
    told["fixes"].as_array().unwrap().iter().map(fix).collect()
}

#[test]
fn targets_that_differ_in_variant_get_a_version_that_all_have() {
    let spec = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.a]\ngpu = \"A100\"\ndriver = \"535.183.01\"\n\
                [target.b]\ngpu = [\"RTX 5090\", \"L40S\"]\ndriver = \"575.57.08\"\n[target.c]\ngpu = \"none\"\n\
                [target.d]\ngpu = \"V100\"\nimage = \"nvidia/cuda\"\nos = \"ubuntu22.04\"\ndriver = \">=525\"\n\
                [resolve]\nshare = \"none\"\n";
    let fixes = offered("variants", spec);
    let version = fixes[0].0.strip_prefix("stack.torch = ").expect("another torch comes first");
    assert!(version.starts_with("2.") && !version.contains('+'), "{fixes:?}");
}

#[test]
fn boards_come_last_and_say_what_they_take() {
    // What no stack of this spec serves, beside what it serves.
    let beside = |torch: &str| {
        format!("[stack]\ntorch = \"{torch}\"\n[target.b]\ngpu = [\"RTX 5090\", \"L40S\"]\ndriver = \"575.57.08\"\n")
    };
    let fixes = offered("beside", &beside("2.5.1"));
    let (change, advice) = fixes.last().unwrap();
    assert_eq!(change, "target.b.gpu = L40S");
    assert_eq!(advice, "RTX 5090 needs a gpuenv.toml of its own, which asks for something else");
    assert!(fixes[0].0.starts_with("stack.torch = "), "{fixes:?}");
    // Boards that each find an answer, but none together.
    let apart = "[stack]\ntorch = \"*\"\n[target.b]\ngpu = [\"B200\", \"Tesla K80\"]\n";
    let fixes = offered("apart", apart);
    let own = "needs a target of its own, with resolve.share = \"none\"";
    assert!(fixes.iter().any(|(_, advice)| advice == &format!("Tesla K80 {own}")), "{fixes:?}");
    // With one version, of another variant each.
    let fixes = offered("apart-variants", "[stack]\ntorch = \"*\"\n[target.b]\ngpu = [\"P100\", \"RTX 5070\"]\n");
    let own = "RTX 5070 needs a target of its own, with resolve.share = \"versions\"";
    assert!(fixes.iter().any(|(_, advice)| advice == own), "{fixes:?}");
    // A single board: another one is another machine.
    let fixes = offered("single", "[stack]\ntorch = \"2.5.1\"\n[target.b]\ngpu = \"RTX 5090\"\n");
    let boards: Vec<bool> = fixes.iter().map(|(change, _)| change.starts_with("target.b.gpu")).collect();
    assert!(boards.is_sorted() && !boards[0] && boards[boards.len() - 1], "{fixes:?}");
    assert!(fixes.last().unwrap().1.starts_with("another machine, "), "{fixes:?}");
}

#[test]
fn equal_targets_are_told_once_and_families_are_counted() {
    let machine = "gpu = \"A100\"\ndriver = \"535\"\n";
    let spec =
        format!("[stack]\ntorch = \"*\"\n[target.a]\n{machine}[target.b]\n{machine}[resolve]\nshare = \"none\"\n");
    let sandbox = Sandbox::new("equal", &spec);
    let told = sandbox.run(&["explain"]).exits(0).out;
    assert!(told.contains("the same for target b") && !told.contains("target.b."), "{told}");
    assert!(told.contains("GPUs have compute capability 8.0: machine code"), "{told}");
    assert!(sandbox.run(&["explain", "--graph", "dot"]).exits(0).out.contains("[label=\"A100 (8.0)\"]"));
}

#[test]
fn no_fix_changes_what_may_stay_as_it_is() {
    let target = "[target.t]\ngpu = \"Quadro RTX 5000\"\ndriver = \"590.48.01\"\nos = \"ubuntu24.04\"\n";
    let companion = format!("[stack]\ntorch = \"2.9.1+cu130\"\nflash-attn = \">=2\"\n{target}");
    let fixes = offered("needless", &companion);
    assert!(fixes.iter().all(|(change, _)| !change.contains("; ")), "{fixes:?}");
    assert!(fixes[0].0.starts_with("stack.flash-attn = "), "{fixes:?}");
}

#[test]
fn a_list_that_no_toolkit_of_all_machines_knows_is_left_open() {
    // What compiles for the old driver knows nothing of the new GPU, and each machine has a toolkit of its own.
    let fixes = offered(
        "apart-lists",
        "[stack]\ntorch = \"2.7\"\n[build]\narch-list = \"7.5\"\n[target.new]\ngpu = \"B200\"\ndriver = \"570.86.15\"\n\
         [target.old]\ngpu = \"RTX 2080 Ti\"\ndriver = \"470.57.02\"\n[resolve]\nshare = \"versions\"\n",
    );
    assert_eq!(fixes[0].0, "build.arch-list = ", "nothing is written in its place: {fixes:?}");
}

#[test]
fn a_jetson_gets_the_system_that_comes_with_its_driver() {
    let spec = "[stack]\ntorch = \"2.8\"\n[target.robot]\ngpu = \"Jetson Orin Nano\"\nos = \"jetpack5.1\"\n";
    let fixes = offered("jetson", spec);
    assert!(fixes.iter().any(|(change, _)| change == "target.robot.os = jetpack6.1"), "{fixes:?}");
}

/// What is the newest is the newest of the catalog, whatever machines a newer one was made for.
#[test]
fn a_newer_release_for_other_machines_has_its_reason() {
    let newest = BUILTIN.builds.of("torch").iter().filter(|row| !row.version.is_prerelease()).map(|row| row.version);
    let newest = newest.max().unwrap().to_string();
    for os in ["jetpack6.2", "jetpack5.1.2"] {
        let spec = format!("[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"Jetson AGX Orin\"\nos = \"{os}\"\n");
        let sandbox = Sandbox::new("explain-jetson", &spec);
        let (_, told) = sandbox.json(&["explain", "stack.torch"]);
        let version = told["choices"].as_array().unwrap().iter().find(|one| one["part"] == "version").unwrap();
        assert_eq!(version["verdict"], "limited", "{told:#}");
        assert_eq!(version["rejected"][0]["value"].as_str(), Some(&*newest), "{told:#}");
        assert!(version["rejected"][0]["culprits"].to_string().contains("target.a."), "{told:#}");
        // Not to name the system only stops the check.
        let openings = told["openings"].as_array().into_iter().flatten();
        assert!(openings.clone().all(|one| one["change"]["key"] != "target.a.os"), "{told:#}");
    }
}

/// What a possible image costs is said, where it is a warning.
#[test]
fn a_newer_image_that_would_be_warned_of_is_told_with_that() {
    let spec = "[stack]\ntorch = \"2.9.1\"\n[target.a]\ngpu = \"H100\"\nimage = \"nvidia/cuda\"\n";
    let sandbox = Sandbox::new("explain-image", spec);
    let (_, told) = sandbox.json(&["explain", "target.a.image"]);
    let vague = "possible, but it would change a higher-priority choice";
    assert!(!told.to_string().contains(vague), "{told:#}");
}

#[test]
fn a_package_that_is_asked_for_is_explained_by_its_name() {
    let sandbox = Sandbox::new("by-name", SPEC);
    let by_key = sandbox.run(&["explain", "stack.torch"]).exits(0).out;
    assert_eq!(sandbox.run(&["explain", "torch"]).exits(0).out, by_key);
    assert!(by_key.starts_with("stack.torch: "), "{by_key}");
    // What the spec does not ask for is looked up among the facts.
    let facts = sandbox.run(&["explain", "xformers", "--verbose"]).exits(0).out;
    let of = |version: &str| facts.find(&format!("xformers-{version}")).unwrap_or_else(|| panic!("{version}: {facts}"));
    assert!(of("0.0.30") < of("0.0.29.post3"), "the newest first");
    assert!(sandbox.run(&["explain", "no-spec"]).exits(0).out.contains("`gpuenv init` creates one"));
    sandbox.run(&["explain", "not-found"]).exits(0).tells("There is no file of this name");
    sandbox.run(&["explain", "permission-denied"]).exits(0);
    // What a machine says is a message.
    for (said, code) in [("Xid 79", "gpu-lost"), ("CUDA_ERROR_NO_DEVICE", "no-device")] {
        sandbox.run(&["explain", said]).exits(2).says(&format!("`gpuenv explain {code}`"));
        sandbox.run(&["explain", code]).exits(0);
    }
    // Rows of an overlay are refused by the names of lints.
    for lint in gpuenv::catalog::lint::NAMES {
        assert!(sandbox.run(&["explain", lint]).code == 0, "{lint}");
    }
}

#[test]
fn a_key_of_a_target_is_asked_for_with_its_target() {
    let sandbox = Sandbox::new("key-of-target", SPEC);
    sandbox.run(&["explain", "gcc"]).exits(0).tells("key target.gcc").tells("Target `prod` does not set it");
    let by_key = sandbox.run(&["explain", "target.prod"]).exits(0).out;
    assert_eq!(sandbox.run(&["explain", "prod"]).exits(0).out, by_key);
}

/// The floors of Windows, with their facts.
#[test]
fn a_driver_of_windows_is_explained_by_its_own_floors() {
    let spec =
        |torch: &str| format!("[stack]\ntorch = \"{torch}\"\n[target.a]\ngpu = \"RTX 4090\"\nplatform = \"wsl2\"\n");
    for (torch, says, facts) in [
        (
            "2.8.0+cu128",
            "CUDA 12 needs driver 528.33 of Windows or a newer one",
            &["cuda-12-driver", "windows-driver 12"][..],
        ),
        ("2.9.0+cu130", "of Windows or a newer one", &["cuda-13-driver"]),
    ] {
        let sandbox = Sandbox::new("windows-floor", &spec(torch));
        sandbox.run(&["lock"]).exits(0);
        let (_, told) = sandbox.json(&["explain", "target.a.driver"]);
        let choice = told["choices"].as_array().unwrap().iter().find(|one| one["part"] == "minimum").unwrap();
        assert!(choice["explanation"][0].as_str().unwrap().contains(says), "{choice}");
        for fact in facts {
            assert!(choice["facts"].to_string().contains(fact), "{choice}");
        }
    }
}

#[test]
fn of_one_variant_the_version_written_is_enough() {
    let fixes = offered("near", "[stack]\ntorch = \"2.7.1+cu118\"\n[target.t]\ngpu = \"RTX 5070\"\n");
    let torch: Vec<&str> = fixes.iter().filter_map(|(change, _)| change.strip_prefix("stack.torch = ")).collect();
    assert_eq!(torch, ["2.7.1+cu128", "2.15.0+cu132"], "the nearest, and the newest: {fixes:?}");
}

#[test]
fn a_stack_goes_without_a_companion_that_nothing_makes_run() {
    let spec = "[stack]\ntorch = \"2.6.0+cu124\"\nvllm = \"==0.8.5\"\n[target.t]\ngpu = \"Tesla P40\"\n";
    assert_eq!(offered("without", spec)[0].0, "stack.vllm = ");
}

#[test]
fn a_cuda_line_moves_no_further_than_it_must() {
    let spec =
        "[stack]\ncuda = \"9.0\"\n[target.t]\ngpu = \"GTX 1080\"\ndriver = \"375.26\"\nimage = \"nvidia/cuda\"\n";
    let fixes = offered("lines", spec);
    assert!(fixes[0].0.contains("stack.cuda = 11.0") && fixes[0].0.contains("driver = >=450"), "{fixes:?}");
}

#[test]
fn another_repository_serves_where_the_one_written_has_nothing_for_a_machine() {
    let image = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-devel";
    let spec = format!("[stack]\ntorch = \"2.13.0+cu130\"\n[target.t]\ngpu = \"GB200\"\nimage = \"{image}\"\n");
    let fixes = offered("repository", &spec);
    assert!(fixes[0].0.starts_with("target.t.image = nvidia/cuda:13.0"), "{fixes:?}");
}

/// What is told of the first conflict of a spec.
fn told(name: &str, spec: &str) -> Vec<String> {
    let (_, told) = Sandbox::new(name, spec).json(&["lock"]);
    told["explanation"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_string()).collect()
}

#[test]
fn what_holds_of_some_builds_is_not_told_of_all() {
    let lines = told("some", "[stack]\ntorch = \">=2.6\"\n[target.t]\ngpu = \"Tesla K80\"\n");
    assert!(lines.contains(&"torch 2.6.0 to 2.7.1 (cu118) bring cuDNN 9.1.0.70".to_string()), "{lines:?}");
}

#[test]
fn what_another_target_has_is_told() {
    let new = "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 5090\"\n[target.b]\n";
    let lines = told("old-libc", &format!("{new}gpu = \"none\"\nos = \"centos7\"\n"));
    assert!(lines.contains(&"RHEL / CentOS 7 has glibc 2.17".to_string()), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("need glibc 2.28 or newer")), "{lines:?}");
    let old = "gpu = \"A100-PCIE-40GB\"\ndriver = \"470.57.02\"\nforward-compat = \"never\"\n";
    let lines = told("old-driver", &format!("{new}{old}"));
    assert!(lines.iter().any(|line| line.starts_with("driver 470.57.02 supports CUDA up to")), "{lines:?}");
}

#[test]
fn majors_are_told_in_the_order_of_numbers() {
    let lines = told("majors", "[stack]\ntorch = \"<2\"\n[build]\n[target.t]\ntoolkit = [\"12.4\"]\n");
    assert!(lines.iter().any(|line| line.ends_with(", 8, 9, 10 and 11")), "{lines:?}");
    let lines = told("library", "[stack]\ncudnn = \"7.6\"\ncuda = \"12\"\n[target.t]\ngpu = \"RTX 3090\"\n");
    assert_eq!(lines[0], "cuDNN 7.6 was built for CUDA 9 and 10 only");
}

#[test]
fn a_variant_is_held_against_the_line_asked_for() {
    let lines = told("line", "[stack]\ntorch = \"2.4.1+cu118\"\ncuda = \"12\"\n[target.t]\ngpu = \"L4\"\n");
    assert_eq!(lines, ["torch 2.4.1+cu118 is built for CUDA 11.8", "gpuenv.toml sets `cuda = \"12\"`"]);
}

#[test]
fn releases_that_go_with_what_is_asked_for_are_told_apart() {
    let lines = told("apart", "[stack]\ntorch = \">=2.6\"\nxformers = \"<0.0.20\"\n[target.t]\ngpu = \"L4\"\n");
    assert!(lines.contains(&"xformers 0.0.13 to 0.0.19 work with torch 1.12.0 to 2.0.0 only".to_string()), "{lines:?}");
}

#[test]
fn the_nearest_tag_is_of_the_line_written() {
    let image = "nvidia/cuda:12.4.9-base-ubuntu22.04";
    let spec = format!("[stack]\ntorch = \"2.5\"\n[target.t]\ngpu = \"L4\"\nimage = \"{image}\"\n");
    assert_eq!(offered("tag", &spec)[0].0, "target.t.image = nvidia/cuda:12.4.1-base-ubuntu22.04");
}

/// Of several tags that do not exist each is changed to the one that is told to be the nearest, if that starts on the driver.
#[test]
fn the_nearest_tags_are_written_where_several_do_not_exist() {
    let target = |name: &str, driver: &str, tag: &str| {
        let driver = format!("driver = \"{driver}\"\n");
        format!("[target.{name}]\ngpu = \"RTX 3090\"\n{driver}image = \"nvidia/cuda:{tag}\"\n")
    };
    let two = |driver: &str, second: &str| {
        let spec = format!("[stack]\ntorch = \"2.6.0\"\n{}", target("a", driver, "12.4.9-devel-ubuntu22.04"));
        let (_, told) = Sandbox::new("tags", &(spec + &target("b", driver, second))).json(&["lock"]);
        let changes = told["fixes"][0]["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| change["to"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let near = "nvidia/cuda:12.4.1-devel-ubuntu22.04";
    assert_eq!(two("560", "12.6.9-devel-ubuntu22.04"), [near, "nvidia/cuda:12.6.3-devel-ubuntu22.04"]);
    assert_eq!(two("550", "12.6.9-devel-ubuntu22.04"), [near, near]);
    assert_eq!(two("560", "12.4.9-base-ubuntu20.04"), [near, "nvidia/cuda:12.4.1-base-ubuntu20.04"]);
    // A tag that exists stays.
    assert_eq!(two("560", "12.6.3-devel-ubuntu22.04"), [near]);
}

#[test]
fn a_companion_without_code_for_a_board_is_all_that_is_told() {
    let lines = told("companion", "[stack]\nbitsandbytes = \"==0.42.0\"\n[target.t]\ngpu = \"RTX 5090\"\n");
    assert!(lines.iter().all(|line| !line.contains("torch")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("bitsandbytes 0.42.0 holds code for")), "{lines:?}");
}

#[test]
fn the_compiler_told_is_that_of_a_toolkit_which_knows_the_list() {
    let target = "[target.t]\nos = \"ubuntu20.04\"\n";
    let lines = told("compiler", &format!("[build]\narch-list = \"3.0\"\n{target}"));
    assert!(lines.contains(&"nvcc of CUDA 10.2 accepts gcc up to 8".to_string()), "{lines:?}");
}

#[test]
fn tags_that_are_gone_are_said_to_be() {
    let lines = told("gone", "[stack]\ncuda = \"10.0\"\n[target.t]\ngpu = \"Tesla P4\"\nimage = \"nvidia/cuda\"\n");
    assert_eq!(
        lines,
        ["the tags of nvidia/cuda for CUDA 10.0 can no longer be pulled; the oldest kept are of CUDA 11.0.3"]
    );
}

#[test]
fn a_name_of_several_kinds_is_answered_with_one_of_each() {
    let (_, told) = Sandbox::new("kinds", "[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"RTX 5000\"\n").json(&["lock"]);
    let told = told.to_string();
    assert!(told.contains("Quadro RTX 5000 (7.5, Turing)"), "{told}");
    assert!(told.contains("NVIDIA RTX 5000 Ada Generation (8.9, Ada Lovelace)"), "{told}");
}

#[test]
fn a_release_that_reads_no_list_is_no_way_to_keep_it() {
    let spec = "[stack]\ntorch = \"1.12.1\"\n[build]\narch-list = \"9.0\"\n[target.t]\ntoolkit = [\"11.8\"]\n";
    let fixes = offered("unread", spec);
    assert!(fixes.iter().any(|(change, _)| change.starts_with("stack.torch = 2.0.0")), "{fixes:?}");
    assert!(fixes.iter().all(|(change, _)| !change.starts_with("stack.torch = 1.")), "{fixes:?}");
}

#[test]
fn a_fix_is_written_shown_and_locked() {
    let sandbox = Sandbox::new("apply", &CONFLICT.replace('\n', "\r\n"));
    let (_, told) = sandbox.json(&["lock"]);
    for (at, fix) in told["fixes"].as_array().unwrap().iter().enumerate() {
        let sandbox = Sandbox::new(&format!("apply{at}"), &CONFLICT.replace('\n', "\r\n"));
        let ran = sandbox.run(&["lock", "--apply-fix", &(at + 1).to_string()]).exits(0);
        let change = &fix["changes"][0];
        let (from, to) = (change["from"].as_str().unwrap(), change["to"].as_str().unwrap());
        assert_eq!(sandbox.spec(), CONFLICT.replace('\n', "\r\n").replace(from, to));
        assert!(ran.err.contains("changed gpuenv.toml:\n  - ") && ran.err.contains("locked 1 target"), "{}", ran.err);
        sandbox.run(&["lock", "--check"]).exits(0);
    }
    let (code, locked) = sandbox.json(&["lock", "--apply-fix", "1"]);
    assert_eq!((code, &locked["applied"]), (0, &told["fixes"][0]["changes"]));
}

#[test]
fn a_fix_that_is_not_there_changes_nothing() {
    let sandbox = Sandbox::new("apply-none", CONFLICT);
    for number in ["0", "99"] {
        sandbox.run(&["lock", "--apply-fix", number]).exits(2).says("error[no-such-fix]");
    }
    sandbox.run(&["lock", "--apply-fix", "x"]).exits(2);
    sandbox.run(&["lock", "--apply-fix", "1", "--check"]).exits(2);
    assert_eq!(sandbox.spec(), CONFLICT);
    assert!(!sandbox.path("gpuenv.lock").exists());
    sandbox.write(SPEC);
    sandbox.run(&["lock", "--apply-fix", "1"]).exits(2).says("error[nothing-to-fix]");
    assert_eq!(sandbox.spec(), SPEC);
}

// Warnings

fn warned(sandbox: &Sandbox) -> Vec<String> {
    let (_, told) = sandbox.json(&["lock"]);
    let warnings = told["warnings"].as_array().unwrap_or_else(|| panic!("{told}")).iter();
    warnings.map(|one| format!("{} {}", one["code"].as_str().unwrap(), one["keys"][0].as_str().unwrap())).collect()
}

#[test]
fn ended_support_is_told_and_never_locked() {
    let sandbox = Sandbox::new("ended", SPEC);
    let told = warned(&sandbox);
    for warning in [
        "driver-end-of-life target.prod.driver",
        "driver-end-of-life target.lab.driver",
        "os-end-of-life target.lab.os",
    ] {
        assert!(told.iter().any(|one| one == warning), "{warning}: {told:?}");
    }
    assert!(!told.iter().any(|one| one == "os-end-of-life target.prod.os"), "{told:?}");
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    assert!(!lock.contains("end-of-life") && !lock.contains("2025-05-31"));
    // A promise that supported branches keep too is nobody's fault; nor is a minimum that was only stated.
    for driver in ["driver = \">=535\"\n", ""] {
        sandbox.write(&format!("[stack]\ntorch = \"2.5\"\n[target.a]\ngpu = \"RTX 3090\"\n{driver}"));
        assert!(warned(&sandbox).iter().all(|one| !one.starts_with("driver-end")), "{driver}");
    }
    sandbox.write("[stack]\ntorch = \"2.5\"\n[target.a]\ngpu = \"RTX 3090\"\ndriver-cuda = \"12.4\"\n");
    assert!(warned(&sandbox).contains(&"driver-end-of-life target.a.driver-cuda".to_string()));
}

#[test]
fn gpus_tell_their_kernel_modules_and_what_compiles_for_them() {
    let told = |gpu: &str, rest: &str| {
        let spec = format!("[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"{gpu}\"\n{rest}");
        let sandbox = Sandbox::new(&format!("gpu{}", gpu.len() + rest.len() * 100), &spec);
        let codes = warned(&sandbox).into_iter();
        codes.filter(|one| one.starts_with("kernel-module") || one.starts_with("triton")).collect::<Vec<_>>()
    };
    assert_eq!(told("RTX 5090", ""), ["kernel-module target.a.gpu"]);
    assert_eq!(told("GH200 480GB", ""), ["kernel-module target.a.gpu"]);
    assert_eq!(told("H100 NVL", ""), Vec::<String>::new());
    assert_eq!(told("Tesla V100-SXM2-16GB", ""), ["kernel-module target.a.gpu"]);
    assert_eq!(told("Tesla V100-SXM2-16GB", "driver = \"535.183.01\"\n"), Vec::<String>::new());
    let pascal = told("Tesla P40", "driver = \"535.183.01\"\n");
    assert_eq!(pascal, ["triton-gpu target.a.gpu"]);
}

#[test]
fn a_driver_that_runs_the_wheel_but_not_its_compiler_is_told() {
    let spec =
        |driver: &str| format!("[stack]\ntorch = \"2.0.1+cu117\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n{driver}");
    let told = |driver: &str, at: usize| {
        let sandbox = Sandbox::new(&format!("compiler{at}"), &spec(driver));
        warned(&sandbox).into_iter().filter(|one| one.starts_with("triton")).collect::<Vec<_>>()
    };
    assert_eq!(told("driver = \"470.223.02\"\n", 0), ["triton-driver target.a.driver"]);
    assert_eq!(told("driver-cuda = \"11.4\"\n", 1), ["triton-driver target.a.driver-cuda"]);
    assert_eq!(told("driver = \"535.183.01\"\n", 2), Vec::<String>::new());
    assert_eq!(told("", 3), Vec::<String>::new());
    let newer = BUILTIN.ptxases.iter().find(|row| row.newer.is_some()).unwrap();
    let cc = |text: &str| gpuenv::types::Cc::parse(text).unwrap();
    assert_eq!(newer.release_for(cc("9.0")), &newer.ptxas);
    assert_eq!(Some(newer.release_for(cc("12.0"))), newer.newer.as_ref());
}

#[test]
fn a_search_that_is_given_up_says_so_and_still_offers_only_what_holds() {
    let spec = spec::parse(CONFLICT).unwrap();
    // What a rule book was asked before costs nothing: each search has one of its own.
    let search = |spec: &spec::Spec, steps: &Steps| explain::conflicts(spec, &Problem::new(&BUILTIN), steps);
    let whole = Steps::new(1_000_000);
    let all = search(&spec, &whole).expect("a conflict");
    assert_eq!(all.gave_up, None);
    let mut broken_off = 0;
    assert!(whole.taken() > 100, "{}", whole.taken());
    for limit in (0..16).map(|part| whole.taken() * part / 16) {
        let steps = Steps::new(limit);
        let Some(told) = search(&spec, &steps) else { continue };
        assert_eq!(told.gave_up, Some(limit));
        assert!(told.fixes.len() <= all.fixes.len());
        for fix in &told.fixes {
            let fixed = fix.changes.iter().fold(spec.clone(), |spec, change| {
                spec.with(&change.key, change.to.as_deref()).expect("a fix can be written")
            });
            assert!(search(&fixed, &Steps::new(1_000_000)).is_none(), "{fix:?}");
        }
        broken_off += 1;
    }
    assert!(broken_off > 0);
}

/// What costs is not only to decide but to put the request: a spec of many unlike machines asks many large ones.
#[test]
fn a_hostile_spec_is_given_up_soon_and_a_common_one_never() {
    let rules = Problem::new(&BUILTIN);
    let limit = 1_000_000;
    let common = Steps::new(limit);
    explain::conflicts(&spec::parse(CONFLICT).unwrap(), &rules, &common).expect("a conflict");
    assert!(common.taken() * 100 < limit, "{}", common.taken());
    let gpus = ["V100", "T4", "A100", "RTX 3090", "L40S", "H100 NVL", "B200", "RTX 5090"];
    let mut hostile = "[stack]\ntorch = \"*\"\n".to_string();
    for at in 0..24 {
        let (gpu, driver) = (gpus[at % gpus.len()], ["470.57.02", "535.183.01", "590.48.01"][at % 3]);
        hostile += &format!("[target.m{at}]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\n");
    }
    let spec = spec::parse(&hostile).unwrap();
    let steps = Steps::new(1_000);
    let told = explain::conflicts(&spec, &rules, &steps);
    assert!(told.is_none_or(|told| told.gave_up == Some(1_000)));
    assert!((1_000..1_200).contains(&steps.taken()), "{}", steps.taken());
}

/// In a fleet every machine that cannot run is told of, with keys none of which can be spared, and a way out.
#[test]
fn every_clash_of_a_fleet_is_told() {
    let sound = ["A100", "RTX 3090", "L40S", "H100 NVL"];
    let mut fleet = "[stack]\ntorch = \"2.7.1+cu126\"\n".to_string();
    for at in 0..40 {
        let (gpu, driver) = match at {
            7 => ("RTX 4090", "450.80.02"),
            19 => ("B200", "570.86.15"),
            31 => ("H100 NVL", "470.57.02"),
            _ => (sound[at % sound.len()], "560.28.03"),
        };
        fleet += &format!("[target.m{at}]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\n");
    }
    let spec = spec::parse(&fleet).unwrap();
    let search = |spec: &spec::Spec| explain::conflicts(spec, &Problem::new(&BUILTIN), &Steps::new(1_000_000));
    let told = search(&spec).expect("a conflict");
    assert_eq!(told.gave_up, None);
    let culprits: Vec<String> = told.conflicts.iter().map(|one| one.culprits.join(" ")).collect();
    // The first of equally small ones in the order of the file; what shares a key with it comes next.
    assert_eq!(culprits, ["stack.torch target.m7.driver", "target.m31.gpu target.m31.driver"]);
    let next: Vec<String> = told.further.iter().map(|one| one.culprits.join(" ")).collect();
    assert!(next.contains(&"stack.torch target.m19.gpu".to_string()), "{next:?}");
    for clash in told.conflicts.iter().chain(&told.further).map(|one| &one.culprits) {
        let keys = spec.keys();
        let alone = spec.without_all(keys.iter().filter(|key| !clash.contains(key)).map(String::as_str));
        assert!(search(&alone).is_some(), "{clash:?} is no clash");
        for key in clash {
            assert!(search(&alone.without_all(std::iter::once(key.as_str()))).is_none(), "{key} can be spared");
        }
    }
    let fix = told.fixes.first().expect("a fix");
    let fixed = fix
        .changes
        .iter()
        .fold(spec.clone(), |spec, change| spec.with(&change.key, change.to.as_deref()).expect("a fix can be written"));
    assert!(search(&fixed).is_none(), "{fix:?}");
}

#[test]
fn a_conflict_hidden_behind_another_is_told_in_the_same_run() {
    let sandbox = Sandbox::new(
        "next",
        "[stack]\ntorch = \"2.8.0\"\npython = \"3.8\"\n[target.a]\ngpu = \"A100\"\ndriver = \"470.57.02\"\nforward-compat = \"never\"\n",
    );
    let (_, told) = sandbox.json(&["lock"]);
    assert_eq!(told["culprits"], serde_json::json!(["stack.torch", "stack.python"]), "{told:#}");
    assert_eq!(told["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(told["further"][0]["culprits"], serde_json::json!(["stack.torch", "target.a.driver"]), "{told:#}");
    let shown = sandbox.run(&["lock"]).err;
    let next = shown.find("once that is fixed: `torch = \"2.8.0\"` is incompatible with").expect("it is told");
    assert!(next > shown.find("error[conflict]").unwrap() && next < shown.find("fixes (each").unwrap(), "{shown}");
    // Who follows the first change by hand meets just this.
    sandbox.write(
        "[stack]\ntorch = \"2.8.0\"\n[target.a]\ngpu = \"A100\"\ndriver = \"470.57.02\"\nforward-compat = \"never\"\n",
    );
    let (_, left) = sandbox.json(&["lock"]);
    assert_eq!(left["culprits"], told["further"][0]["culprits"]);
}

/// However many conflicts there are: one fits 25 lines of 80 columns, several fit 40.
#[test]
fn reports_fit_their_screen() {
    let broken = [
        "gpu = \"RTX 5090\"\ndriver = \"535.183.01\"",
        "gpu = \"V100\"\ndriver = \"595.58.03\"",
        "gpu = \"L4\"\nimage = \"nvidia/cuda:12.3-base\"",
        "gpu = \"A10\"\nos = \"ubuntu22.04\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu20.04\"",
        "gpu = \"B200\"\ndriver-cuda = \"12.2\"",
        "gpu = \"GH200 480GB\"\narch = \"x86_64\"",
    ];
    for count in 1..=broken.len() {
        for from in 0..broken.len() {
            let mut spec = "[stack]\ntorch = \"*\"\n".to_string();
            for at in 0..count {
                spec += &format!("[target.machine-with-a-long-name-{at}]\n{}\n", broken[(from + at) % broken.len()]);
            }
            let sandbox = Sandbox::new(&format!("screen{count}-{from}"), &spec);
            let ran = sandbox.run(&["lock"]).exits(1);
            let told = ran.err.lines().filter(|line| line.starts_with("error[")).count();
            let room = if told > 1 || ran.err.contains("more conflict") { 40 } else { 25 };
            let lines = ran.err.lines().count();
            assert!(lines <= room && told >= 1, "{lines} lines, {told} conflicts\n{}", ran.err);
            assert!(ran.err.lines().all(|line| line.chars().count() <= 80), "{}", ran.err);
        }
    }
}

#[test]
fn a_story_that_breaks_off_says_so() {
    let spec = "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 5090\"\n[target.b]\ngpu = \"Tesla K80\"\n";
    let sandbox = Sandbox::new("breaks-off", spec);
    let at = |columns: &str| sandbox.with(&["lock"], &[("COLUMNS", columns)]).exits(1).err.replace('\n', " ");
    assert!(at("40").contains("shows the whole story, 2 more fixes"), "{}", at("40"));
    assert!(!at("80").contains("the whole story"), "{}", at("80"));
}

#[test]
fn a_long_line_is_cut_to_every_width() {
    let gpus: Vec<String> =
        (0..40).map(|at| format!("\"A100-PCIE-40GB{}\"", if at == 39 { " X" } else { "" })).collect();
    let spec = format!("[stack]\ntorch = \"*\"\n[target.a]\ngpu = [{}]\n", gpus.join(", "));
    let sandbox = Sandbox::new("long", &spec);
    for columns in [40, 60, 80, 110] {
        let ran = sandbox.with(&["lock"], &[("COLUMNS", &columns.to_string())]).exits(2);
        assert!(ran.err.contains("gpu = [") && ran.err.contains("..."), "{}", ran.err);
        assert!(ran.err.lines().all(|line| line.chars().count() <= columns), "{columns}: {}", ran.err);
    }
}

#[test]
fn a_pinned_tag_that_is_gone_is_used_under_protest() {
    let row = BUILTIN.images.iter().rev().find(|row| row.withdrawn && row.flavour.as_str() == "base").unwrap();
    let spec = format!(
        "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"Tesla T4\"\nimage = \"{}:{}\"\n[[override]]\n\
         rule = \"image-tag\"\nreason = \"mirrored\"\n",
        row.repository, row.tag
    );
    let sandbox = Sandbox::new("withdrawn", &spec);
    let (code, told) = sandbox.json(&["lock"]);
    if code == 0 {
        assert!(told["warnings"].to_string().contains("image-withdrawn"), "{told}");
    } else {
        assert!(!told["culprits"].to_string().is_empty());
    }
}

#[test]
fn a_silence_takes_a_warning_away_and_is_told_when_it_takes_none() {
    let silence = |code: &str, more: &str| format!("[[silence]]\nwarning = \"{code}\"\nreason = \"planned\"\n{more}");
    let sandbox = Sandbox::new("silence", &format!("{SPEC}{}", silence("driver-end-of-life", "")));
    assert!(warned(&sandbox).iter().all(|one| !one.starts_with("driver-end-of-life")));
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    sandbox.write(SPEC);
    sandbox.run(&["lock", "--check"]).exits(0);
    assert!(!lock.contains("silence"));
    sandbox.write(&format!("{SPEC}{}", silence("driver-end-of-life", "target = \"lab\"\n")));
    let told = warned(&sandbox);
    assert!(told.contains(&"driver-end-of-life target.prod.driver".to_string()), "{told:?}");
    assert!(!told.contains(&"driver-end-of-life target.lab.driver".to_string()), "{told:?}");
    sandbox.write(&format!("{SPEC}{}", silence("jit-only", "")));
    assert!(warned(&sandbox).contains(&"unused-silence silence.jit-only".to_string()));
    sandbox.write(&format!("{SPEC}{}", silence("jit-onyl", "")));
    sandbox.run(&["lock"]).exits(2).says("error[unknown-warning]").says("did you mean `jit-only`?");
}

// Annotations

#[test]
fn annotations_stand_at_their_lines() {
    let sandbox = Sandbox::new("github", SPEC);
    let ran = sandbox.run(&["lock", "--format", "github"]).exits(0).says("locked 2 targets");
    ran.tells("::warning file=gpuenv.toml,line=9,col=10,title=driver-end-of-life::support of driver branch R525 ended");
    sandbox.write(CONFLICT);
    let ran = sandbox.run(&["lock", "--format", "github"]).exits(1).says("error[conflict]");
    assert!(ran.out.starts_with("::error file=gpuenv.toml,line=3,col=9,title=conflict::`torch = "), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    sandbox.run(&["lock", "--check", "--format", "github"]).exits(1).tells("title=stale::");
    sandbox.write("[stack]\ntorhc = \"2\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    sandbox
        .run(&["lock", "--format", "github"])
        .exits(2)
        .tells("::error file=gpuenv.toml,line=2,col=9,title=unknown-package::");
    sandbox.run(&["lock", "--bogus", "--format=github"]).exits(2).tells("::error title=usage::");
}

/// What a package holds for a GPU, or carries inside, asks for the driver.
#[test]
fn a_driver_that_a_package_needs_is_told_with_its_reason() {
    for (stack, gpu, says, fact) in [
        ("vllm = \"0.13.0\"", "RTX 5090", "vLLM's FlashAttention 2", "vllm-0.12-driver"),
        ("onnxruntime-gpu = \"1.19.2\"", "H800 PCIe", "PTX 8.2 needs driver branch R535", "ptx-isa 8.2"),
        ("xgboost = \"2.1.4\"", "RTX 3090", "CUDA 12 runs on driver 525.60.13", "cuda-12-driver"),
    ] {
        let spec = format!("[stack]\n{stack}\n[target.t]\ngpu = \"{gpu}\"\nforward-compat = \"never\"\n");
        let sandbox = Sandbox::new("explain-package-driver", &spec);
        sandbox.run(&["lock"]).exits(0);
        sandbox.run(&["explain", "driver"]).exits(0).tells(says);
        let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
        assert!(lock.contains(&format!("id = \"{fact}\"")), "{lock}");
    }
}

/// Of systems that have no support any more those that images are made of come first: they had it for years.
#[test]
fn another_system_is_one_that_was_supported_for_long() {
    let target = "[target.a]\ngpu = \"A100\"\nos = \"ubuntu22.04\"\ntoolkit = [\"11.6\"]\n";
    let fixes = offered("old-system", &format!("[stack]\ntorch = \"1.12\"\n[build]\n{target}"));
    let systems: Vec<&str> = fixes.iter().filter_map(|(change, _)| change.strip_prefix("target.a.os = ")).collect();
    assert_eq!(systems, ["ubuntu20.04"], "{fixes:?}");
    // One that is supported comes before all of them.
    let fixes = offered("new-system", "[stack]\ntorch = \"2.8\"\n[target.a]\ngpu = \"A100\"\nos = \"rhel7\"\n");
    assert!(fixes.iter().any(|(change, _)| change == "target.a.os = rhel8"), "{fixes:?}");
}
