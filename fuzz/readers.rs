//! What is fuzzed: each reader of files and texts of others, and what holds whatever it is given. `tests/house/fuzz_seeds.rs`
//! gives each its corpus in every `cargo test`.

use std::ops::Range;
use std::sync::LazyLock;

use gpuenv::artifact::{self, Bytes, ReadError, metadata, zip};
use gpuenv::catalog::lint::lint;
use gpuenv::catalog::packed::{self, HEADER};
use gpuenv::catalog::{BUILTIN, overlay};
use gpuenv::export::{FORMATS, Options};
use gpuenv::init::manifest::{self, Kind, Manifest};
use gpuenv::lock::Lock;
use gpuenv::types::{ArchList, Constraint, Requirement, Specifier, Version};
use gpuenv::{diagnose, fleet, host, init, lock, page, spec, verify};

/// A reader by its name, which is that of its target and of its corpus.
pub type Reader = (&'static str, fn(&[u8]));

/// All of them.
pub const READERS: &[Reader] = &[
    ("spec", read_spec),
    ("answer", answer),
    ("lock", read_lock),
    ("overlay", read_overlay),
    ("record", read_host),
    ("paste", read_host),
    ("diagnose", read_message),
    ("requirement", read_requirement),
    ("manifest", read_manifest),
    ("artifact", read_artifact),
    ("catalog", read_catalog),
];

/// What messages underline lies in the text, on whole characters: a renderer slices with it.
fn assert_lies_in(span: &Range<usize>, text: &str) {
    assert!(span.start <= span.end && text.get(span.clone()).is_some(), "{span:?} of {} bytes", text.len());
}

/// A catalog as `gpuenv catalog update` takes it, behind its signature: with the length and the checksum of what it holds, so
/// that what lies behind them is read too.
fn read_catalog(data: &[u8]) {
    let mut bytes = data.to_vec();
    if let Some(body) = data.get(HEADER..) {
        bytes[12..16].copy_from_slice(&(data.len() as u32).to_le_bytes());
        bytes[16..20].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    }
    let bytes: *mut [u8] = Box::into_raw(bytes.into());
    // SAFETY: nobody else has them. What is read of them are parts of the bytes, which stay for the rest of the process.
    if let Ok(catalog) = packed::unpack_whole(unsafe { &*bytes }) {
        assert!(catalog.rows().all(|row| row.kind.is_ascii()));
        drop(lint(&catalog));
    }
    // SAFETY: the catalog is gone, and nobody asks again what its numbers stood for. Some million inputs would fill the memory.
    drop(unsafe { Box::from_raw(bytes) });
}

/// gpuenv.toml
fn read_spec(data: &[u8]) {
    let text = match spec::decode(data.to_vec()) {
        Ok(text) => text,
        Err(error) => return drop(error.to_string()),
    };
    let (_, errors) = spec::parse_part(&text);
    for error in &errors {
        assert_lies_in(&error.span, &text);
    }
    assert_eq!(spec::parse(&text).is_err(), !errors.is_empty());
    if errors.is_empty() {
        let edits = [("stack.torch".to_string(), Some("2.5.1".to_string()))];
        if let Ok(after) = spec::rewrite(&text, &edits) {
            assert!(spec::parse(&after).is_ok(), "an edit broke it:\n{after}");
        }
    }
}

/// A request, from the text to the lock and to what is exported of it.
fn answer(data: &[u8]) {
    // Many targets are many questions, and take their time.
    let Some(text) = std::str::from_utf8(data).ok().filter(|text| text.len() <= 700) else { return };
    let answer = page::lock(text);
    let Some(locked) = answer.text else { return };
    let lock =
        lock::parse(&locked).unwrap_or_else(|error| panic!("a lock that cannot be read back: {error}\n{locked}"));
    assert_eq!(lock::to_text(&lock), locked);
    render(&lock);
}

/// Every export of a lock, for its first target.
fn render(lock: &Lock) {
    let options = Options { target: lock.target.keys().next().cloned(), ..Options::default() };
    for format in FORMATS {
        let _ = format.render(lock, &options);
        let _ = format.remarks(lock, &options);
    }
}

/// gpuenv.lock
fn read_lock(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match lock::parse(text) {
        Ok(lock) => {
            render(&lock);
            let again = lock::parse(&lock::to_text(&lock)).expect("what is written is read back");
            assert_eq!(lock::to_text(&again), lock::to_text(&lock));
        }
        Err(error) => drop((error.to_string(), error.help())),
    }
}

/// An overlay.
fn read_overlay(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for mistake in overlay::lay(&BUILTIN, "site.toml", text).err().into_iter().flatten() {
        mistake.span.iter().for_each(|span| assert_lies_in(span, text));
    }
}

/// A host's record, or a pasted text: read, written back, judged, drafted from.
fn read_host(data: &[u8]) {
    static LOCK: LazyLock<Lock> = LazyLock::new(|| lock::parse(include_str!("../gpuenv.lock")).expect("our own lock"));
    let text = host::decode(data);
    fleet::of_text(&text, "here").for_each(drop);
    let Ok(record) = host::read_any(&text) else { return };
    let written = serde_json::to_string(&record).expect("a record has a JSON form");
    let again = host::read_any(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(serde_json::to_string(&again).expect("a record has a JSON form"), written);
    for target in LOCK.target.keys() {
        drop(verify::judge(&LOCK, target, &record, &BUILTIN));
    }
    drop(init::of_host(&record, &BUILTIN, true).text());
}

/// A log or an error message.
fn read_message(data: &[u8]) {
    let verdict = diagnose::diagnose(&host::decode(data), &BUILTIN);
    drop(verdict.observed());
}

/// The small languages: what images, packages and people ask for.
fn read_requirement(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let requirement = Requirement::parse(text);
    drop((requirement.unreadable(), requirement.bounds().count()));
    drop((Specifier::parse(text).map_err(|error| error.to_string()), Specifier::split(text)));
    drop(ArchList::parse_torch(text).map_err(|error| error.to_string()));
    if let Some(meant) = spec::meant("torch", text) {
        assert!(Constraint::parse(&meant).is_ok(), "{text:?} is said to mean {meant:?}");
    }
    if let (Ok(constraint), Ok(version)) = (Constraint::parse(text), Version::parse("12.4.1")) {
        constraint.admits(&version);
    }
    if let Ok(version) = Version::parse(text) {
        assert_eq!(Version::parse(&version.to_string()).as_ref(), Ok(&version));
    }
}

/// A requirements.txt, pyproject.toml, uv.lock, environment.yml, Dockerfile or setup.py: the first byte chooses.
fn read_manifest(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let names = ["requirements.txt", "pyproject.toml", "uv.lock", "environment.yml", "Dockerfile", "setup.py"];
    let name = names[usize::from(*first) % names.len()];
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let Some(kind) = Kind::of(name) else { return };
    let manifest = Manifest { kind, name: name.to_string(), text: text.to_string() };
    if let Ok((init, _)) = manifest::of_manifests(&[manifest], &BUILTIN, &[], (None, None)) {
        drop(spec::parse_part(&init.text()));
    }
}

/// Bytes that lie in memory.
struct InMemory<'b>(&'b [u8]);

impl Bytes for InMemory<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, at: u64, count: usize) -> Result<Vec<u8>, ReadError> {
        let from = usize::try_from(at).ok();
        let bytes = from.and_then(|from| self.0.get(from..from.checked_add(count)?));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| ReadError::broken("it breaks off"))
    }
}

/// A library or a wheel.
fn read_artifact(data: &[u8]) {
    let _ = artifact::library("lib.so", data.len() as u64, &mut |sink| {
        sink(data);
        Ok(())
    });
    let mut file = InMemory(data);
    for member in zip::members(&mut file).unwrap_or_default() {
        let mut text = Vec::new();
        let _ = zip::stream(&mut file, &member, 1 << 20, &mut |bytes| {
            text.extend_from_slice(bytes);
            true
        });
        let text = String::from_utf8_lossy(&text);
        drop((metadata::metadata(&text), metadata::tags_of_wheel(&text), metadata::tags_of_name(&member.name)));
    }
}

/// The reader of this name.
pub fn run(name: &str, data: &[u8]) {
    let (_, read) = READERS.iter().find(|(known, _)| *known == name).expect("each target has a reader");
    read(data);
}
