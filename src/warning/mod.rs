//! What an answer should not be taken without knowing. A kind of warning is a type: it holds what it speaks of, says it in
//! one sentence, and has a stable code. When one is given is decided where the answer is known; here stands what is said. A
//! new kind is such a type and its row in `src/meanings.toml`.

mod build;
mod companion;
mod driver;
mod excluded;
mod gpu;
mod host;
mod image;
mod lock;
mod system_libraries;
mod together;
mod triton;
mod wheel;

use serde::Serialize;

pub use build::*;
pub use companion::*;
pub use driver::*;
pub use excluded::*;
pub use gpu::*;
pub use host::*;
pub use image::*;
pub use lock::*;
pub use system_libraries::*;
pub use together::*;
pub use triton::*;
pub use wheel::*;

/// A sentence of the catalog behind a colon.
fn inside(says: &str) -> String {
    let says = says.trim_end_matches('.');
    match says.split(' ').next() {
        Some(word @ ("It" | "Its" | "The" | "They" | "Of")) => word.to_lowercase() + &says[word.len()..],
        _ => says.to_string(),
    }
}

/// A kind of warning.
pub trait Kind {
    /// Its stable name, as it stands between brackets.
    const CODE: &'static str;
    /// What it says of the case at hand.
    fn message(&self) -> String;
}

/// What somebody should know of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// Its stable name.
    pub code: &'static str,
    /// What it says.
    pub message: String,
    /// The keys of gpuenv.toml that it is about.
    pub keys: Vec<String>,
}

impl Warning {
    /// A warning about some keys.
    pub fn about<K: Kind>(kind: &K, keys: &[String]) -> Self {
        Warning { code: K::CODE, message: kind.message(), keys: keys.to_vec() }
    }
}
