//! A lock that somebody has edited must not put instructions into what is printed from it.

use gpuenv::export::{ExportError, FORMATS, Options};
use gpuenv::lock::Lock;

use crate::{locks, render};

/// What is tried in place of each value.
const PAYLOADS: &[&str] = &[
    "x\nRUN touch /pwned",
    "x\r\nUSER root",
    "$(touch /pwned)",
    "`touch /pwned`",
    "'; touch /pwned; '",
    "\"; touch /pwned; \"",
    "x # comment",
    "--extra-index-url=https://evil.example",
    "x\u{1b}[2J",
    "x\u{0}",
    "x\u{2028}y",
    "",
];

type Edit = fn(&mut Lock, String);

/// Every place of the lock from which text is printed, with the formats that print it.
const EDITS: &[(&str, Edit)] = &[
    ("dockerfile apptainer compose devcontainer kubernetes github-actions", |lock, text| prod(lock).image = Some(text)),
    ("dockerfile apptainer kubernetes modal", |lock, text| prod(lock).runtime_image = Some(text)),
    (
        "dockerfile requirements uv apptainer compose devcontainer kubernetes pixi github-actions skypilot modal",
        |lock, text| prod(lock).arch = text,
    ),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].package = text
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].version = text
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].version = format!("2.5.1+{text}")
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].index = Some(text)
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].index = Some(format!("https://x/ {text}"))
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].url = Some(text)
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.wheel[0].url = Some(format!("https://x/{text}.whl"))
    }),
    ("dockerfile requirements uv apptainer conda pixi github-actions skypilot modal", |lock, text| {
        lock.stack.insert("python".into(), text);
    }),
    ("env slurm modulefile cmake", |lock, text| prod(lock).toolkit = Some(text)),
    ("env dockerfile apptainer slurm modulefile cmake", |lock, text| lock.arch_list.as_mut().unwrap().torch = text),
    ("env dockerfile apptainer slurm modulefile cmake", |lock, text| lock.arch_list.as_mut().unwrap().cmake = text),
    ("dockerfile apptainer kubernetes", |lock, text| {
        let mut driver = locks::driver("native");
        driver.minimum = text;
        prod(lock).driver = Some(driver);
    }),
    ("kubernetes", |lock, text| prod(lock).gpu[0].compute_capability = text),
    ("dockerfile uv requirements conda pixi skypilot modal", |lock, text| constrained(lock).package = text),
    ("dockerfile uv requirements conda pixi skypilot modal", |lock, text| constrained(lock).index = Some(text)),
    ("dockerfile uv pixi", |lock, text| constrained(lock).version = text),
    ("env dockerfile", |lock, text| {
        let mut driver = locks::driver("forward-compat");
        driver.compat = Some(text);
        prod(lock).driver = Some(driver);
    }),
];

fn prod(lock: &mut Lock) -> &mut gpuenv::lock::TargetLock {
    lock.target.get_mut("prod").unwrap()
}

/// A constraint, beside a wheel of another index.
fn constrained(lock: &mut Lock) -> &mut gpuenv::lock::ConstraintLock {
    let other = locks::constrained();
    lock.wheel.push(other.wheel[1].clone());
    lock.constraint = other.constraint;
    &mut lock.constraint[0]
}

#[test]
fn nothing_that_was_smuggled_in_is_printed() {
    for (formats, edit) in EDITS {
        for payload in PAYLOADS {
            for name in formats.split(' ') {
                let mut lock = locks::container_with_build();
                edit(&mut lock, payload.to_string());
                let result = render(name, &lock);
                assert!(matches!(result, Err(ExportError::BadValue { .. })), "{name} {payload:?}: {result:?}");
                let message = result.unwrap_err().to_string();
                assert!(!message.contains(char::is_control), "{message:?}");
            }
        }
    }
}

/// Whatever the tables above forget: no format but JSON, whose strings hold anything, prints it.
#[test]
fn what_is_smuggled_in_reaches_no_format() {
    for (_, edit) in EDITS {
        for payload in PAYLOADS.iter().filter(|payload| !payload.is_empty()) {
            let mut lock = locks::container_with_build();
            edit(&mut lock, payload.to_string());
            for format in FORMATS.iter().filter(|format| format.name != "json") {
                let text = render(format.name, &lock).unwrap_or_default();
                assert!(!text.contains(payload), "{} {payload:?}: {text}", format.name);
            }
        }
    }
}

#[test]
fn names_and_reasons_are_printed_nowhere_but_in_json() {
    for payload in PAYLOADS {
        let mut lock = locks::container_with_build();
        let target = lock.target.remove("prod").unwrap();
        lock.target.insert(payload.to_string(), target);
        lock.wheel[0].targets = vec![payload.to_string()];
        for format in FORMATS {
            for shell in ["sh", "fish", "direnv"] {
                let options = Options::default();
                let options = if format.name == "env" { options.with("shell", shell) } else { options };
                let text = match format.render(&lock, &options) {
                    Ok(text) => text,
                    // Where a name is printed, it is looked at first; and not every format suits this lock.
                    Err(ExportError::BadValue { .. } | ExportError::UnknownAddress(_)) => continue,
                    Err(error) => panic!("{}: {error}", format.name),
                };
                assert!(!text.contains("touch") || format.name == "json", "{}", format.name);
                assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{} {payload:?}", format.name);
            }
        }
    }
}
