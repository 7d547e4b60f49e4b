//! The JSON Schemas (draft 2020-12) of every JSON document that gpuenv prints, and of gpuenv.toml itself.

/// A schema.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name, for `gpuenv schema NAME`.
    pub name: &'static str,
    /// Which documents it describes.
    pub about: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

/// Every schema, by name.
pub const ALL: &[Schema] = &[
    Schema { name: "catalog", about: "`catalog` without a command", text: include_str!("schemas/catalog.json") },
    Schema {
        name: "checked",
        about: "`catalog check`, where nothing was found",
        text: include_str!("schemas/checked.json"),
    },
    Schema {
        name: "conflict",
        about: "`lock` and `explain`, where there is no answer",
        text: include_str!("schemas/conflict.json"),
    },
    Schema { name: "diagnose", about: "`diagnose`", text: include_str!("schemas/diagnose.json") },
    Schema {
        name: "error",
        about: "every command, where it failed, and `catalog check`, where something was found",
        text: include_str!("schemas/error.json"),
    },
    Schema { name: "explain", about: "`explain`, with or without a key", text: include_str!("schemas/explain.json") },
    Schema { name: "graph", about: "`explain --graph`", text: include_str!("schemas/graph.json") },
    Schema { name: "host", about: "`probe`: the record of a host", text: include_str!("schemas/host.json") },
    Schema { name: "init", about: "`init`", text: include_str!("schemas/init.json") },
    Schema { name: "lock", about: "`lock` and `export json`", text: include_str!("schemas/lock.json") },
    Schema {
        name: "rendered",
        about: "`export` of other formats, and help",
        text: include_str!("schemas/rendered.json"),
    },
    Schema { name: "schemas", about: "`schema` without a name", text: include_str!("schemas/schemas.json") },
    Schema { name: "search", about: "`catalog search`", text: include_str!("schemas/search.json") },
    Schema {
        name: "spec",
        about: "gpuenv.toml, read as JSON: for editors that complete and check it",
        text: include_str!("schemas/spec.json"),
    },
    Schema { name: "stale", about: "`lock --check`, where it says no", text: include_str!("schemas/stale.json") },
    Schema {
        name: "topics",
        about: "`catalog show`, and `explain` of a rule, a warning, a check or a fact",
        text: include_str!("schemas/topics.json"),
    },
    Schema { name: "verify", about: "`verify`", text: include_str!("schemas/verify.json") },
];
