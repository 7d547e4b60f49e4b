//! The JSON Schemas (draft 2020-12) of every JSON document that gpuenv prints, and of gpuenv.toml itself: derived from
//! the types that are serialised, and from the keys of [`crate::spec`], and kept in docs/reference/schemas; the program
//! carries the kept ones, packed. Only tests derive them: whoever builds gpuenv need not compile that.

#[cfg(test)]
mod derived;

use std::ops::Range;
use std::sync::LazyLock;

use serde::Serialize;

use crate::types::inflated;

/// A schema.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ListedSchema"))]
pub struct Schema {
    /// Its name, for `gpuenv schema NAME`.
    pub name: &'static str,
    /// Which documents it describes.
    pub about: &'static str,
}

/// All schemas in one, unpacked when the first is asked for, and where each of them stands: `catalog/build.rs` packed them.
static TEXTS: LazyLock<String> =
    LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"))));
const PLACES: &[(&str, Range<usize>)] = include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

impl Schema {
    /// The schema itself.
    pub fn text(&self) -> String {
        let place = PLACES.iter().find(|(name, _)| *name == self.name).map(|(_, place)| place.clone());
        place.and_then(|place| TEXTS.get(place)).unwrap_or_default().to_string()
    }
}

/// A row for each schema: its name, what it describes, and how it is derived.
macro_rules! schemas {
    ($($name:literal, $about:literal, $derive:expr;)+) => {
        /// Every schema, by name.
        pub const ALL: &[Schema] = &[$(Schema {
            name: $name,
            about: $about,
        }),+];

        /// A schema as it is derived from the types.
        #[cfg(test)]
        fn derived(name: &str) -> Option<serde_json::Value> {
            use super::json;
            use derived::{filed, printed, read, spec};
            match name {
                $($name => Some(filed($name, $derive())),)+
                _ => None,
            }
        }
    };
}

schemas! {
    "catalog", "`catalog` without a command", printed::<json::Census>;
    "catalogs", "`catalog update`", printed::<json::Catalogs>;
    "checked", "`catalog check`, where nothing was found", printed::<json::Checked>;
    "conflict", "`lock`, `explain`, `add`, `remove` and `target`, where there is no answer", printed::<json::NoAnswer>;
    "diagnose", "`diagnose`", printed::<json::Diagnosed>;
    "diff", "`diff`", printed::<json::Differences>;
    "error", "every command, where it failed, and `catalog check`, where something was found", printed::<json::Errors>;
    "explain", "`explain`, with or without a key", printed::<json::Explained>;
    "exports", "`export` without a format", printed::<json::Exports>;
    "fleet", "`fleet check`", printed::<json::FleetGroups>;
    "fleet-host", "a line of `fleet check --format ndjson`", printed::<json::FleetHost>;
    "fleet-plan", "`fleet plan`", printed::<json::FleetPlan>;
    "graph", "`explain --graph`", printed::<json::Graph>;
    "host", "`probe`: the record of a host", read::<crate::host::Record>;
    "init", "`init`", printed::<json::Init>;
    "inspected", "`catalog inspect`", printed::<json::Inspected>;
    "list", "`catalog list`", printed::<json::Listed>;
    "lock", "`lock` and `export json`", printed::<json::Locked>;
    "matrix", "`matrix`", printed::<json::MatrixCells>;
    "rendered", "`export` of other formats, `catalog inspect --overlay`, `completions`, `man` and help", printed::<json::Rendered>;
    "schemas", "`schema` without a name", printed::<json::Schemas>;
    "search", "`catalog search`", printed::<json::Found>;
    "spec", "gpuenv.toml, read as JSON: for editors that complete and check it", spec;
    "stale", "`lock --check` and `export --check`, where they say no", printed::<json::Stale>;
    "topics", "`catalog show`, and `explain` of a rule, a warning, a check or a fact", printed::<json::Topics>;
    "undetermined", "`lock` and `explain`, where an answer depends on what is not known", printed::<json::Undetermined>;
    "verify", "`verify`", printed::<json::Verified>;
}

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}
