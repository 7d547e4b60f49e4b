//! The catalogs that are at hand, and what became of one that was to be installed.

use serde::Serialize;

use super::{Screen, clean};

/// A catalog that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "AtHand"))]
pub struct CatalogState {
    /// Its version.
    pub version: String,
    /// The file that it was installed into; null: it is built in.
    pub file: Option<String>,
    /// Whether it answers.
    #[serde(rename = "in_use")]
    pub is_used: bool,
}

/// A line for each, newest first.
pub(super) fn listed(states: &[CatalogState]) -> String {
    let mut text = String::new();
    for state in states {
        let place = state.file.as_deref().map_or("built-in".into(), clean);
        let mark = if state.is_used { "  (in use)" } else { "" };
        text += &format!("{}  {place}{mark}\n", state.version);
    }
    text
}

/// What was done, and what to do next.
pub(super) fn done(screen: &Screen, done: &str, before: &str, states: &[CatalogState]) -> String {
    let used = states.iter().find(|state| state.is_used).map_or("", |state| &state.version);
    let head = match done {
        "installed" if used == before => format!("Installed; catalog {used} goes on answering here"),
        "installed" => format!("Installed catalog {used} (was {before})"),
        "rolled-back" => format!("Catalog {used} is in use (was {before})"),
        _ => format!("Catalog {used} is in use already"),
    };
    let next = match done {
        "installed" if used == before => {
            "`gpuenv catalog update` lists what is there; a project names its own by `version` under [catalog]"
        }
        "current" => "`gpuenv catalog` shows what it holds",
        _ => "`gpuenv lock` keeps what your lock says; `gpuenv lock --upgrade` makes use of what is new",
    };
    format!("{head}\n{}", screen.wrapped(&format!("{} ", screen.help("next:")), next))
}
