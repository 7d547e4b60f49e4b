//! A lock that somebody has edited must not put instructions into what is printed from it.

use gpuenv::export::{ExportError, FORMATS, Format, Options};
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

/// Every place of the lock from which text is printed: two values that may stand there, how something is put into it (in
/// place of it, where nothing is said), and where it stands. The formats that print it are those that tell the two apart.
const EDITS: &[([&str; 2], &[&str], Edit)] = &[
    (["nvidia/cuda:12.4.1-devel-ubuntu22.04", "nvidia/cuda:12.4.0-devel-ubuntu22.04"], &[], |lock, text| {
        prod(lock).image = Some(text)
    }),
    (["nvidia/cuda:12.4.1-base-ubuntu22.04", "nvidia/cuda:12.4.0-base-ubuntu22.04"], &[], |lock, text| {
        prod(lock).runtime_image = Some(text)
    }),
    (["x86_64", "aarch64"], &[], |lock, text| prod(lock).arch = text),
    (["torchvision", "torchaudio"], &[], |lock, text| {
        let other = gpuenv::lock::Wheel { package: text, ..lock.wheel[0].clone() };
        lock.wheel.push(other);
    }),
    (["2.5.1+cu124", "2.5.0+cu124"], &["{}", "2.5.1+{}"], |lock, text| lock.wheel[0].version = text),
    (["https://a.example/whl", "https://b.example/whl"], &["{}", "https://x/ {}"], |lock, text| {
        lock.wheel[0].index = Some(text)
    }),
    (["https://a.example/torch.whl", "https://b.example/torch.whl"], &["{}", "https://x/{}.whl"], |lock, text| {
        lock.wheel[0].url = Some(text)
    }),
    (["3.11", "3.12"], &[], |lock, text| {
        lock.stack.insert("python".into(), text);
    }),
    (["12.4.1", "12.6.3"], &[], |lock, text| prod(lock).toolkit = Some(text)),
    (["8.0;9.0", "9.0"], &[], |lock, text| lock.arch_list.as_mut().unwrap().torch = text),
    (["80-real;90", "90"], &[], |lock, text| lock.arch_list.as_mut().unwrap().cmake = text),
    (["550.54.14", "550.54.15"], &[], |lock, text| {
        let mut driver = locks::driver("native");
        driver.minimum = text;
        prod(lock).driver = Some(driver);
    }),
    (["9.0", "9.1"], &[], |lock, text| prod(lock).gpu[0].compute_capability = text),
    (["torchvision", "torchaudio"], &[], |lock, text| constrained(lock).package = text),
    (["https://a.example/whl", "https://b.example/whl"], &[], |lock, text| constrained(lock).index = Some(text)),
    (["0.20.1+cu124", "0.20.0+cu124"], &["0.20.1+{}"], |lock, text| constrained(lock).version = text),
    (["cuda-compat-12-4", "cuda-compat-12-5"], &[], |lock, text| {
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

fn edited(edit: Edit, text: &str) -> Lock {
    let mut lock = locks::container_with_build();
    edit(&mut lock, text.to_string());
    lock
}

#[test]
fn nothing_that_was_smuggled_in_is_printed() {
    for ([one, other], forms, edit) in EDITS {
        let printed = |format: &&&Format| {
            let texts = [one, other].map(|text| render(format.name, &edited(*edit, text)));
            texts.iter().all(Result::is_ok) && texts[0] != texts[1]
        };
        // JSON's strings hold anything.
        let formats: Vec<&&Format> = FORMATS.iter().filter(|format| format.name != "json").filter(printed).collect();
        assert!(!formats.is_empty(), "{one}");
        for payload in PAYLOADS {
            for form in if forms.is_empty() { &["{}"] } else { *forms } {
                for format in &formats {
                    let result = render(format.name, &edited(*edit, &form.replace("{}", payload)));
                    let refused = matches!(result, Err(ExportError::BadValue { .. }));
                    assert!(refused, "{} {payload:?}: {result:?}", format.name);
                    let message = result.unwrap_err().to_string();
                    assert!(!message.contains(char::is_control), "{message:?}");
                }
            }
        }
    }
}

/// Whatever the table above forgets: no format but JSON prints it.
#[test]
fn what_is_smuggled_in_reaches_no_format() {
    for (_, _, edit) in EDITS {
        for payload in PAYLOADS.iter().filter(|payload| !payload.is_empty()) {
            let lock = edited(*edit, payload);
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
