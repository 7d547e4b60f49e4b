//! A lock that somebody has edited must not put instructions into what is printed from it.

use std::collections::BTreeSet;

use gpuenv::export::{ExportError, FORMATS, Format, Options};
use gpuenv::lock::{self, Lock};

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
        lock.wheel[0].sha256 = "0a".repeat(32);
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
        driver.minimum = Some(text);
        prod(lock).driver = Some(driver);
    }),
    (["numpy<2", "numpy<1"], &["{}", "numpy{}", "numpy<2{}"], |lock, text| lock.wheel[0].asks = vec![text]),
    (["numpy<2", "numpy<1"], &["{}", "numpy{}", "numpy<2{}"], |lock, text| prod(lock).asks = vec![text]),
    ([">=4.50", ">=4.51"], &["{}", ">=4{}"], |lock, text| {
        lock.inputs.insert("packages.transformers".into(), text);
    }),
    (["transformers", "timm"], &[], |lock, text| {
        lock.inputs.insert(format!("packages.{text}"), "*".into());
    }),
    (["torch", "torch2"], &["{}", "torch=={}"], |lock, text| compiled(lock).unisolated = Some(text)),
    (["ninja", "wheel"], &[], |lock, text| compiled(lock).tools = vec![text]),
    (["einops", "torch"], &["{}", "torch<{}"], |lock, text| compiled(lock).requires = Some(vec![text])),
    (["FORCE_CUDA=1", "OTHER_CUDA=1"], &["{}", "FORCE_CUDA={}"], |lock, text| lock.wheel[0].switch = Some(text)),
    (["A_ARCHS=80;90", "B_ARCHS=80;90"], &["{}", "A_ARCHS={}"], |lock, text| lock.wheel[0].archs = Some(text)),
    (["3.11.4", "3.11.5"], &[], |lock, text| lock.wheel[0].python = Some(text)),
    (["cu12", "cu13"], &[], |lock, text| lock.wheel[0].extra = Some(text)),
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

/// What is compiled beside a framework.
fn compiled(lock: &mut Lock) -> &mut gpuenv::lock::Wheel {
    lock.wheel[0].unisolated = Some("torch".into());
    &mut lock.wheel[0]
}

/// A constraint, beside a wheel of another index.
fn constrained(lock: &mut Lock) -> &mut gpuenv::lock::ConstraintLock {
    let other = locks::constrained();
    lock.wheel.push(other.wheel[1].clone());
    lock.constraint = other.constraint;
    &mut lock.constraint[0]
}

/// Where a payload is put: alone, or within a value, of which nothing makes nothing else.
fn forms_of(forms: &'static [&'static str], payload: &str) -> &'static [&'static str] {
    if forms.is_empty() || payload.is_empty() { &["{}"] } else { forms }
}

fn edited(edit: Edit, text: &str) -> Lock {
    let mut lock = locks::container_with_build();
    edit(&mut lock, text.to_string());
    lock
}

#[test]
fn nothing_that_was_smuggled_in_is_printed() {
    let mut reached = BTreeSet::new();
    for ([one, other], forms, edit) in EDITS {
        let printed = |format: &&&Format| {
            let texts = [one, other].map(|text| render(format.name, &edited(*edit, text)));
            texts.iter().all(Result::is_ok) && texts[0] != texts[1]
        };
        // JSON's strings hold anything.
        let formats: Vec<&&Format> = FORMATS.iter().filter(|format| format.name != "json").filter(printed).collect();
        assert!(!formats.is_empty(), "{one}");
        reached.extend(formats.iter().map(|format| format.name));
        for payload in PAYLOADS {
            for form in forms_of(forms, payload) {
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
    let untried = FORMATS.iter().map(|format| format.name).filter(|name| !reached.contains(name) && *name != "json");
    assert_eq!(untried.collect::<Vec<_>>(), [""; 0]);
}

/// A lock that holds such a value is not read, so that no format is asked for it; what is read is what was written.
#[test]
fn a_lock_with_what_cannot_be_printed_is_not_read() {
    for ([one, _], forms, edit) in EDITS {
        let written = |text: &str| {
            let mut lock = edited(*edit, text);
            lock.catalog.digest = "0a".repeat(8);
            lock
        };
        assert_eq!(lock::parse(&lock::to_text(&written(one))).unwrap(), written(one), "{one}");
        for payload in PAYLOADS {
            for form in forms_of(forms, payload) {
                let lock = written(&form.replace("{}", payload));
                let read = lock::parse(&lock::to_text(&lock));
                assert!(read.is_err(), "{one} {payload:?} is read: {read:?}");
            }
        }
    }
}

/// What a wheel asks for of NVIDIA's libraries is a package and its version, and neither is anything else.
#[test]
fn a_pinned_library_is_a_package_and_its_version() {
    for (library, is_read) in [
        ("nvidia-cublas-cu12==12.4.5.8", true),
        ("nvidia-cublas-cu12==$(touch /pwned)", false),
        ("$(touch /pwned)==12.4.5.8", false),
        ("nvidia-cublas-cu12", false),
    ] {
        let mut lock = locks::container();
        lock.catalog.digest = "0a".repeat(8);
        lock.wheel[0].libraries = vec![library.into()];
        assert_eq!(lock::parse(&lock::to_text(&lock)).is_ok(), is_read, "{library}");
    }
}

/// Whether a lock is of a spec is told by its first lines.
#[test]
fn a_lock_begins_with_what_it_was_made_from() {
    let lock = locks::container();
    let begins_with = |inputs| lock::to_text(&lock).starts_with(&lock::head(None, &lock.catalog, inputs));
    let mut other = lock.inputs.clone();
    other.insert("stack.torch".into(), "2.6.0".into());
    assert!(begins_with(&lock.inputs) && !begins_with(&other));
}

/// What every option that takes a text takes for once.
const TAKEN: &[(&str, &str)] = &[
    ("image", "example/train:1"),
    ("dockerfile", "docker/Dockerfile"),
    ("gpus", "2"),
    ("shm-size", "16g"),
    ("service", "app"),
    ("host-compiler", "/usr/bin/g++-12"),
    ("name", "my-env"),
    ("user", "app"),
    ("gpu-runner", "self-hosted,gpu"),
    ("cpu-runner", "ubuntu-24.04"),
    ("resource", "nvidia.com/gpu"),
    ("runtime-class", "nvidia"),
    ("toolkit", "/opt/cuda"),
    ("venv", "/srv/venv"),
    ("accelerators", "H100:8"),
    ("gres", "gpu:h100:8"),
    ("constraint", "a100|h100"),
    ("partition", "gpu"),
    ("time", "2:00:00"),
    ("nodes", "2"),
    ("modules", "cuda/12.4"),
    ("container", "/srv/stack.sif"),
    ("verify-lock", "gpuenv.lock"),
];

/// Whatever stands behind an option: it is refused, or quoted where the format has quotes.
#[test]
fn nothing_gets_in_through_an_option() {
    let locks = [locks::container_with_build(), locks::bare_metal(), locks::mixed()];
    for format in FORMATS {
        for option in format.options.iter().filter(|option| !option.is_switch()) {
            let render = |value: &str| {
                let tried = locks.iter().map(|lock| format.render(lock, &Options::default().with(option.name, value)));
                tried.collect::<Vec<_>>()
            };
            let good = TAKEN.iter().find(|(name, _)| *name == option.name).map(|(_, good)| *good);
            let good = good.or(option.choices.first().copied());
            let good = good.unwrap_or_else(|| panic!("{} {} is not tried", format.name, option.name));
            assert!(render(good).iter().any(Result::is_ok), "{} {good}: {:?}", format.name, render(good));
            for payload in PAYLOADS {
                for text in [payload.to_string(), format!("{good}{payload}"), format!("{payload}{good}")] {
                    // One word, in which no language here reads anything.
                    let is_word = text.chars().all(|one| one.is_ascii_alphanumeric() || ":_-./=|,".contains(one));
                    if text == good || (is_word && !text.is_empty() && !text.starts_with('-')) {
                        continue;
                    }
                    // What has no place for it is as it would be anyway.
                    for (result, usual) in render(&text).into_iter().zip(render(good)) {
                        let is_kept_out = result.is_err() || result.as_ref().ok() == usual.as_ref().ok();
                        assert!(is_kept_out, "{} --{} {text:?}: {result:?}", format.name, option.name);
                    }
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
