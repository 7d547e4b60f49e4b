//! What is answered, in lines that can be read and compared: the versions, the warnings, the keys to blame and the changes
//! that would help. What changes with each new driver is left out.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gpuenv::explain::{self, Explanation};
use gpuenv::lock::{self, Lock, Stack, TargetLock};
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::warnings;
use gpuenv::spec;

use crate::common::solver::rules_of;

/// The answer to a spec and what is said of it; none where it has none.
pub fn answer(text: &str) -> Option<String> {
    let spec = spec::parse(text).ok()?;
    let (request, remarks) = Request::new(&spec, rules_of(&spec)).ok()?;
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else { return None };
    let mut text = String::new();
    write(&mut text, &lock::make(&spec, &request, &answer, Vec::new()));
    for warning in remarks.iter().chain(&warnings::warnings(&request, &answer)) {
        let _ = writeln!(text, "  warns {} {}", warning.code, warning.keys.join(" "));
    }
    Some(text)
}

/// Why a spec has no answer and what would give it one, behind what it is called: `conflict`, `undetermined`.
pub fn refusal(text: &str) -> (&'static str, String) {
    let spec = spec::parse(text).expect("the spec can be read");
    let (request, _) = Request::new(&spec, rules_of(&spec)).expect("every name is known");
    let steps = Steps::default();
    match resolve(&request, &Locked::new(), &steps) {
        Resolution::Conflict => {
            let why = explain::conflicts(&spec, rules_of(&spec), &Steps::default()).expect("it is a conflict");
            ("conflict", reasons(&why))
        }
        Resolution::Undetermined(unknowns) => {
            let keys: Vec<String> = unknowns.iter().map(|one| format!("  unknown {}\n", one.keys.join(" "))).collect();
            let why = explain::obstacles(&spec, rules_of(&spec), &Steps::default());
            ("undetermined", keys.concat() + &why.as_ref().map(reasons).unwrap_or_default())
        }
        _ => panic!("it has an answer, or nobody could tell:\n{text}"),
    }
}

fn reasons(why: &Explanation) -> String {
    let mut text = String::new();
    for (word, conflicts) in [("clash", &why.conflicts), ("later", &why.further)] {
        for one in conflicts {
            let facts: Vec<&str> = one.facts.iter().map(|fact| fact.id.as_str()).collect();
            let _ = writeln!(text, "  {word} {}: {}", one.culprits.join(" "), facts.join(" "));
        }
    }
    for other in &why.alternatives {
        let _ = writeln!(text, "  or {}", other.join(" "));
    }
    for fix in &why.fixes {
        let change = |one: &explain::Change| format!("{} = {}", one.key, one.to.as_deref().unwrap_or("-"));
        let changes: Vec<String> = fix.changes.iter().map(change).collect();
        let _ = writeln!(text, "  fix {}", changes.join(", "));
    }
    text
}

/// Holds a text of parts, an empty line between them, against the kept file of tests/data; UPDATE_EXAMPLES writes it anew.
pub fn is_kept(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let other = |one: &str, other: &str| -> Vec<String> {
        let known: Vec<&str> = other.split("\n\n").collect();
        one.split("\n\n").filter(|part| !known.contains(part)).map(str::to_string).collect()
    };
    let (new, old) = (other(text, &kept), other(&kept, text));
    assert!(
        *text == kept,
        "UPDATE_EXAMPLES=1 cargo test --test reasoning writes tests/data/{name} anew; {} differ\n{}\n---- kept ----\n{}",
        new.len(),
        new.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n"),
        old.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n"),
    );
}

fn write(text: &mut String, lock: &Lock) {
    let _ = writeln!(text, "  stack {}", stack(&lock.stack));
    if let Some(list) = &lock.arch_list {
        let _ = writeln!(text, "  arch-list {}", list.torch);
    }
    for (name, one) in &lock.target {
        let _ = writeln!(text, "  target {name}: {}", target(one));
    }
    for one in &lock.wheel {
        let index = one.index.as_deref().or(one.url.as_deref()).and_then(|url| url.rsplit('/').next());
        let how = [index, one.unisolated.as_deref(), one.archs.as_deref(), one.sdist.then_some("source")];
        let how: Vec<&str> = how.into_iter().flatten().collect();
        let asks = one.libraries.iter().chain(&one.asks).map(String::as_str).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  wheel {} {} {asks}", one.requirement().split('@').next().unwrap(), how.join(" "));
    }
    for one in &lock.constraint {
        let _ = writeln!(text, "  beside {} {}", one.package, one.version);
    }
}

fn stack(stack: &Stack) -> String {
    stack.iter().map(|(package, version)| format!("{package} {version}")).collect::<Vec<_>>().join(", ")
}

fn target(target: &TargetLock) -> String {
    let mut parts = vec![target.runtime.clone(), target.arch.clone()];
    parts.extend(target.platform.clone());
    parts.extend(target.os.clone());
    parts.extend(target.image.clone());
    parts.extend(target.runtime_image.as_ref().map(|image| format!("to run in {image}")));
    parts.extend(target.toolkit.as_ref().map(|toolkit| format!("toolkit {toolkit}")));
    if let Some(driver) = &target.driver {
        let compat = driver.compat.as_deref().unwrap_or_default();
        let modules = driver.recommended.as_ref().and_then(|one| one.modules.as_deref()).unwrap_or_default();
        parts.push(format!(
            "driver {} {} {} {compat}{modules}",
            driver.minimum.as_deref().unwrap_or("of the system"),
            driver.cuda,
            driver.mode
        ));
    }
    parts.extend(target.requires.iter().map(|what| format!("needs {what}")));
    parts.extend(target.stack.as_ref().map(|own| format!("stack {}", stack(own))));
    parts.extend(target.arch_list.as_ref().map(|list| format!("arch-list {}", list.torch)));
    for gpu in &target.gpu {
        parts.push(format!("{} {}", gpu.compute_capability, gpu.coverage.as_deref().unwrap_or("?")));
    }
    parts.dedup();
    parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join(", ")
}
