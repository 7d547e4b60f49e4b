//! What a matrix says, as plain data.

use serde::Serialize;

/// What runs on what.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    /// The framework.
    pub package: String,
    /// What is judged, for a heading: `torch on NVIDIA H100 NVL`.
    pub title: String,
    /// The driver that everything was judged with, as it was asked for.
    pub driver: Option<String>,
    /// The processor.
    pub arch: String,
    /// A table each.
    pub panels: Vec<Panel>,
}

/// One table.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// What it is about: a GPU, a release.
    pub title: String,
    /// What its rows are.
    pub rows_are: Axis,
    /// What its columns are.
    pub columns_are: Axis,
    /// The rows, the newest first.
    pub rows: Vec<String>,
    /// The columns.
    pub columns: Vec<String>,
    /// The cells by row; none where there is no such build.
    pub cells: Vec<Vec<Option<Cell>>>,
}

/// What rows or columns are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Axis {
    /// Releases of the framework.
    #[default]
    Releases,
    /// Its builds for lines of CUDA.
    Variants,
    /// GPUs.
    Gpus,
    /// Drivers.
    Drivers,
    /// Systems that bring their driver: releases of JetPack.
    Systems,
}

/// Whether one build runs on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cell {
    /// The build, `2.5.1+cu124`.
    pub build: String,
    /// The GPU as it can be asked for.
    pub gpu: String,
    /// The driver that it was judged with; null: any.
    pub driver: Option<String>,
    /// The system that it was judged on, where that brings the driver: a release of JetPack; null: any.
    pub system: Option<String>,
    /// How it runs.
    pub state: State,
    /// The oldest driver that suffices.
    #[serde(rename = "minimum_driver")]
    pub minimum: Option<String>,
    /// The mechanism: native, minor-version or forward-compat.
    pub mode: Option<&'static str>,
    /// The cuda-compat package without which the driver does not suffice.
    pub compat: Option<String>,
    /// The Pythons that it has wheels for.
    pub pythons: Vec<String>,
    /// Why, in a few words.
    pub why: String,
}

impl Cell {
    /// How it runs in a word; on a driver that does not suffice by itself it is `compat`.
    pub fn word(&self) -> &'static str {
        if self.compat.is_some() { "compat" } else { self.state.as_str() }
    }
}

/// How a build runs on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ProbeStatus"))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// By its machine code.
    Native,
    /// By PTX, which the driver compiles.
    Ptx,
    /// Nobody can tell.
    Unknown,
    /// Not at all.
    No,
}

impl State {
    /// Every state, the best first.
    pub const ALL: [State; 4] = [State::Native, State::Ptx, State::Unknown, State::No];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Native => "native",
            State::Ptx => "ptx",
            State::Unknown => "unknown",
            State::No => "no",
        }
    }
}

impl Axis {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Axis::Releases => "release",
            Axis::Variants => "variant",
            Axis::Gpus => "gpu",
            Axis::Drivers => "driver",
            Axis::Systems => "system",
        }
    }
}

/// Pythons in a few characters: `3.9-3.12`, where none between is missing.
pub fn python_range(pythons: &[String]) -> String {
    let minor = |python: &String| python.rsplit('.').next().and_then(|minor| minor.parse::<u32>().ok());
    let minors: Vec<u32> = pythons.iter().filter_map(minor).collect();
    let whole = minors.len() == pythons.len() && minors.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match pythons {
        [first, _, .., last] if whole => format!("{first}-{last}"),
        few => few.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pythons_are_a_range_where_none_is_missing() {
        let range = |list: &[&str]| python_range(&list.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(range(&["3.9", "3.10", "3.11"]), "3.9-3.11");
        assert_eq!(range(&["3.9", "3.11", "3.12"]), "3.9, 3.11, 3.12");
        assert_eq!(range(&["3.9", "3.10"]), "3.9, 3.10");
        assert_eq!(range(&["2.7", "3.5", "3.6"]), "2.7, 3.5, 3.6");
    }
}
