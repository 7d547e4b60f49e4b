//! Specs in a table, each with the exit code of `gpuenv lock` and what it says.

use std::fs;

use super::sandbox::Sandbox;

/// A spec, the exit code of `gpuenv lock`, and what it says or writes into the lock (`lock: ` before that); `!` before what
/// it does not.
#[must_use]
pub struct Case {
    stack: &'static str,
    target: &'static str,
    exits: i32,
    says: &'static [&'static str],
}

pub const fn case(stack: &'static str, target: &'static str, exits: i32, says: &'static [&'static str]) -> Case {
    Case { stack, target, exits, says }
}

/// Locks each, and fails with all that are answered otherwise.
pub fn hold(name: &str, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let spec = format!("[stack]\n{}\n[target.t]\n{}\n", case.stack, case.target);
        let sandbox = Sandbox::new(&format!("{name}-{at}"), &spec);
        let ran = sandbox.with(&["lock"], &[("COLUMNS", "400")]);
        let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap_or_default();
        let said = format!("{}{}", ran.out, ran.err);
        // Where a sentence is broken into lines is no matter here.
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (told, written) = (flat(&said), flat(&lock));
        let holds = |words: &str| match words.strip_prefix("lock: ") {
            Some(words) => written.contains(&flat(words)),
            None => told.contains(&flat(words)),
        };
        let says = |words: &str| words.strip_prefix('!').map_or_else(|| holds(words), |words| !holds(words));
        let missing: Vec<&&str> = case.says.iter().filter(|words| !says(words)).collect();
        if ran.code != case.exits || !missing.is_empty() {
            wrong
                .push(format!("{spec}exits {} (expected {}), does not say {missing:?}:\n{said}", ran.code, case.exits));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}
