//! A lock that somebody has edited must not put instructions into what is printed from it.

use gpuenv::export::{ExportError, FORMATS, Options, Shell};
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
    ("dockerfile", |lock, text| prod(lock).image = Some(text)),
    ("dockerfile", |lock, text| prod(lock).runtime_image = Some(text)),
    ("dockerfile requirements uv", |lock, text| prod(lock).arch = text),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].package = text),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].version = text),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].version = format!("2.5.1+{text}")),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].index = Some(text)),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].index = Some(format!("https://x/ {text}"))),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].url = Some(text)),
    ("dockerfile requirements uv", |lock, text| lock.wheel[0].url = Some(format!("https://x/{text}.whl"))),
    ("dockerfile requirements uv", |lock, text| {
        lock.stack.insert("python".into(), text);
    }),
    ("env", |lock, text| prod(lock).toolkit = Some(text)),
    ("env dockerfile", |lock, text| lock.arch_list.as_mut().unwrap().torch = text),
    ("env dockerfile", |lock, text| lock.arch_list.as_mut().unwrap().cmake = text),
    ("env dockerfile", |lock, text| {
        let mut driver = locks::driver("forward-compat");
        driver.compat = Some(text);
        prod(lock).driver = Some(driver);
    }),
];

fn prod(lock: &mut Lock) -> &mut gpuenv::lock::TargetLock {
    lock.target.get_mut("prod").unwrap()
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

#[test]
fn names_and_reasons_are_printed_nowhere_but_in_json() {
    for payload in PAYLOADS {
        let mut lock = locks::container_with_build();
        let target = lock.target.remove("prod").unwrap();
        lock.target.insert(payload.to_string(), target);
        lock.wheel[0].targets = vec![payload.to_string()];
        for format in FORMATS {
            for shell in Shell::ALL {
                let text = format.render(&lock, &Options { shell: *shell, ..Options::default() }).unwrap();
                assert!(!text.contains("touch") || format.name == "json", "{}", format.name);
                assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{} {payload:?}", format.name);
            }
        }
    }
}
