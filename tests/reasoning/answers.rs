//! What is answered to every situation of tests/scenarios that has an answer, as it is kept in tests/data/answers.txt: who
//! changes the solver or the catalog sees in the difference whose answer became another one, and says why that is right.
//!
//! `UPDATE_EXAMPLES=1 cargo test --test reasoning answers::` writes it anew. What changes with each new driver is left out of it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::lock::{self, Lock, Stack, TargetLock};
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::warnings;
use gpuenv::spec;

use crate::common::parallel;
use crate::common::solver::{LIMIT, rules_of};

#[test]
fn answers_are_those_that_were_read_once() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(here.join("tests/scenarios")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let told: Vec<Option<String>> = parallel::each(&folders, |folder| told(folder));
    let text: String = told.into_iter().flatten().collect();
    let path = here.join("tests/data/answers.txt");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(text.matches("\n\n").count() >= 200, "{text}");
    let other = |one: &str, other: &str| -> Vec<String> {
        let known: Vec<&str> = other.split("\n\n").collect();
        one.split("\n\n").filter(|part| !known.contains(part)).map(str::to_string).collect()
    };
    let (new, old) = (other(&text, &kept), other(&kept, &text));
    assert!(
        text == kept,
        "UPDATE_EXAMPLES=1 cargo test --test reasoning answers:: writes them anew; {} differ\n{}\n---- kept ----\n{}",
        new.len(),
        new.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n"),
        old.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n"),
    );
}

/// The answer to a situation and what is said of it; none where there is none.
fn told(folder: &Path) -> Option<String> {
    let spec = spec::parse(&fs::read_to_string(folder.join("gpuenv.toml")).unwrap()).ok()?;
    let (request, remarks) = Request::new(&spec, rules_of(&spec)).ok()?;
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::new(LIMIT)) else { return None };
    let mut text = folder.file_name()?.to_string_lossy().into_owned() + "\n";
    write(&mut text, &lock::make(&spec, &request, &answer, Vec::new()));
    for warning in remarks.iter().chain(&warnings::warnings(&request, &answer)) {
        let _ = writeln!(text, "  warns {} {}", warning.code, warning.keys.join(" "));
    }
    Some(text + "\n")
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
        parts.push(format!("driver {} {} {} {compat}{modules}", driver.minimum, driver.cuda, driver.mode));
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
