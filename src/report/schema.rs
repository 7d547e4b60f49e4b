//! The JSON Schemas (draft 2020-12) of every JSON document that gpuenv prints, and of gpuenv.toml itself.

/// A schema; its text is packed.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name, for `gpuenv schema NAME`.
    pub name: &'static str,
    /// Which documents it describes.
    pub about: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

impl Schema {
    /// Its text.
    pub fn text(&self) -> String {
        let before = TEXTS.iter().take_while(|(name, _)| *name != self.name).map(|(_, len)| len).sum();
        let len = TEXTS.iter().find(|(name, _)| *name == self.name).map_or(0, |(_, len)| *len);
        let all = miniz_oxide::inflate::decompress_to_vec(PACKED).expect("what the build packed can be unpacked");
        String::from_utf8_lossy(&all[before..before + len]).into_owned()
    }
}

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

/// Every schema, by name.
pub const ALL: &[Schema] = &[
    Schema { name: "catalog", about: "`catalog` without a command" },
    Schema { name: "checked", about: "`catalog check`, where nothing was found" },
    Schema { name: "conflict", about: "`lock` and `explain`, where there is no answer" },
    Schema { name: "diagnose", about: "`diagnose`" },
    Schema { name: "error", about: "every command, where it failed, and `catalog check`, where something was found" },
    Schema { name: "explain", about: "`explain`, with or without a key" },
    Schema { name: "graph", about: "`explain --graph`" },
    Schema { name: "host", about: "`probe`: the record of a host" },
    Schema { name: "init", about: "`init`" },
    Schema { name: "lock", about: "`lock` and `export json`" },
    Schema { name: "rendered", about: "`export` of other formats, and help" },
    Schema { name: "schemas", about: "`schema` without a name" },
    Schema { name: "search", about: "`catalog search`" },
    Schema { name: "spec", about: "gpuenv.toml, read as JSON: for editors that complete and check it" },
    Schema { name: "stale", about: "`lock --check`, where it says no" },
    Schema { name: "topics", about: "`catalog show`, and `explain` of a rule, a warning, a check or a fact" },
    Schema { name: "verify", about: "`verify`" },
];
