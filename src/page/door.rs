//! The functions that the page's scripts call. They hand on and do nothing else.

use wasm_bindgen::prelude::wasm_bindgen;

/// What came of a request.
#[wasm_bindgen(getter_with_clone)]
#[derive(Debug)]
pub struct Told {
    /// The exit code that the command would end with.
    pub exit: u8,
    /// What `--format json` prints.
    pub document: String,
    /// The file that came of it.
    pub text: Option<String>,
}

impl From<super::Answer> for Told {
    fn from(answer: super::Answer) -> Told {
        Told { exit: answer.exit, document: answer.document, text: answer.text }
    }
}

/// `gpuenv lock`
#[wasm_bindgen]
pub fn lock(text: &str) -> Told {
    super::lock(text).into()
}

/// `gpuenv lock --apply-fix N`
#[wasm_bindgen(js_name = applyFix)]
pub fn apply_fix(text: &str, number: usize) -> Told {
    super::apply_fix(text, number).into()
}

/// `gpuenv export FORMAT`
#[wasm_bindgen(js_name = exportLock)]
pub fn export_lock(lock: &str, format: &str, target: &str) -> Told {
    super::export(lock, format, target).into()
}

/// `gpuenv diagnose`
#[wasm_bindgen]
pub fn diagnose(message: &str, text: &str) -> Told {
    super::diagnose(message, text).into()
}

/// `gpuenv matrix --format svg`
#[wasm_bindgen]
pub fn matrix(package: &str, gpu: &str, version: &str, driver: &str) -> Told {
    super::matrix(package, gpu, version, driver).into()
}

/// What can be written.
#[wasm_bindgen]
pub fn names() -> String {
    super::names()
}

/// The names that can become of what was typed.
#[wasm_bindgen]
pub fn matching(kind: &str, typed: &str) -> String {
    super::matching(kind, typed)
}

/// The releases of a package.
#[wasm_bindgen]
pub fn releases(package: &str) -> String {
    super::releases(package)
}

/// The fields of the form.
#[wasm_bindgen]
pub fn form(text: &str) -> String {
    super::form(text)
}

/// The text with one field changed.
#[wasm_bindgen]
pub fn change(text: &str, key: &str, value: Option<String>) -> Told {
    super::change(text, key, value.as_deref()).into()
}

/// The text with one machine more.
#[wasm_bindgen(js_name = addTarget)]
pub fn add_target(text: &str) -> String {
    super::add_target(text)
}

/// The text with one machine less.
#[wasm_bindgen(js_name = removeTarget)]
pub fn remove_target(text: &str, name: &str) -> String {
    super::remove_target(text, name)
}
