//! A row as locks and explanations cite it: a stable id, the source in full, and a digest of what it says.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Catalog;
use super::rows::*;

/// A row as it is cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The row's name among all rows of all tables, `torch-2.5.1-cu124-linux-x86_64`.
    pub id: String,
    /// Where it can be looked up, a URL or purl.
    pub source: String,
    /// A short digest of the row: another one means that the row was corrected.
    pub digest: String,
}

/// A row that can be cited.
pub trait Cite: Serialize {
    /// Its id.
    fn id(&self) -> String;
    /// A part of the id: rows that lack it are passed over without spelling out theirs.
    fn hint(&self) -> &str;
    /// The id of its source, then what fills the source's placeholders: version, package, platform,
    /// variant.
    fn origin(&self) -> [&str; 5];
}

macro_rules! cite {
    ($($type:ty: $row:ident => $id:expr, $hint:expr, [$($origin:expr),*];)+) => {
        $(impl Cite for $type {
            fn id(&self) -> String {
                let $row = self;
                $id
            }
            fn hint(&self) -> &str {
                let $row = self;
                $hint
            }
            fn origin(&self) -> [&str; 5] {
                let $row = self;
                [&*$row.source, $($origin),*]
            }
        })+
    };
}

cite! {
    Gpu: row => format!("gpu {} {}", row.name, row.cc), &row.name, ["", &row.name, "", ""];
    Branch: row => format!("branch {}", row.branch), row.branch.as_str(), [row.branch.as_str(), "", "", ""];
    Driver: row => format!("driver {}", row.version), row.version.as_str(), [row.version.as_str(), "", "", ""];
    Toolkit: row => format!("toolkit {}", row.version), row.version.as_str(), [row.version.as_str(), "", "", ""];
    PtxIsa: row => format!("ptx-isa {}", row.isa), row.isa.as_str(), [row.isa.as_str(), "", "", ""];
    Compat: row => format!("cuda-compat {}", row.cuda), row.cuda.as_str(), [row.cuda.as_str(), "", "", ""];
    Cudnn: row => format!("cudnn {} cuda{}", row.version, row.cuda), row.version.as_str(),
        [row.version.as_str(), "", "", ""];
    Nccl: row => format!("nccl {} cuda{}", row.version, row.cuda), row.version.as_str(),
        [row.version.as_str(), "", "", ""];
    Build: row => format!("{}-{}-{}-linux-{}", row.package, row.version, row.variant, row.arch),
        row.version.as_str(), [row.version.as_str(), &row.package, row.arch.as_str(), &row.variant];
    Companion: row => format!("{}-{}", row.package, row.version), row.version.as_str(),
        [row.version.as_str(), &row.package, "", ""];
    Extension: row => format!("extension {} {}", row.package, row.from), row.from.as_str(),
        [row.from.as_str(), &row.package, "", ""];
    Os: row => format!("os {}", row.id), &row.id, ["", "", "", ""];
    Image: row => format!("image {}:{}", row.repository, row.tag), &row.tag,
        [row.cuda.as_str(), &row.repository, "", ""];
    ImageRequire: row => format!("image-require {}", row.id), &row.id, ["", "", "", ""];
    Module: row => row.id.to_string(), &row.id, ["", "", "", ""];
    Ptxas: row => format!("ptxas {}", row.triton), row.triton.as_str(), [row.triton.as_str(), "", "", ""];
    Python: row => format!("python {}", row.version), row.version.as_str(), [row.version.as_str(), "", "", ""];
    Rule: row => row.id.to_string(), &row.id, ["", "", "", ""];
}

impl Catalog {
    /// A row as it is cited.
    pub fn cite(&self, row: &impl Cite) -> Fact {
        let [source, version, package, arch, variant] = row.origin();
        let source = self.source_of(source, version, package, arch).replace("{variant}", variant);
        Fact { id: row.id(), source, digest: digest(row) }
    }

    /// The row with this id, if the catalog still holds it.
    pub fn cited(&self, id: &str) -> Option<Fact> {
        self.row(id).map(|(fact, _)| fact)
    }

    /// The row with this id and everything it says, by field.
    pub fn row(&self, id: &str) -> Option<(Fact, Value)> {
        match id.split_once(' ').map(|(kind, _)| kind) {
            Some("gpu") => self.find(&self.gpus, id),
            Some("branch") => self.find(&self.branches, id),
            Some("driver") => self.find(&self.drivers, id),
            Some("toolkit") => self.find(&self.toolkits, id),
            Some("ptx-isa") => self.find(&self.ptx_isas, id),
            Some("cuda-compat") => self.find(&self.compats, id),
            Some("cudnn") => self.find(&self.cudnns, id),
            Some("nccl") => self.find(&self.nccls, id),
            Some("extension") => self.find(&self.extensions, id),
            Some("os") => self.find(&self.oses, id),
            Some("image") => self.find(&self.images, id),
            Some("image-require") => self.find(&self.image_requires, id),
            Some("ptxas") => self.find(&self.ptxases, id),
            Some("python") => self.find(&self.pythons, id),
            Some(_) => None,
            None if id.contains("-linux-") => self.find(&self.builds, id),
            None => self
                .find(&self.rules, id)
                .or_else(|| self.find(&self.modules, id))
                .or_else(|| self.find(&self.companions, id)),
        }
    }

    fn find<R: Cite>(&self, rows: &[R], id: &str) -> Option<(Fact, Value)> {
        let row = rows.iter().find(|row| id.contains(row.hint()) && row.id() == id)?;
        Some((self.cite(row), serde_json::to_value(row).map(said).unwrap_or_default()))
    }
}

/// The first sixteen digits of the row's sha256.
///
/// Fields that say nothing are left out: a later gpuenv whose rows have more fields finds the same digest.
fn digest(row: &impl Serialize) -> String {
    let said = serde_json::to_value(row).map(said).unwrap_or_default();
    let hash = Sha256::digest(said.to_string());
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn said(value: Value) -> Value {
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| says(value)).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::BUILTIN;
    use super::*;

    fn all_ids() -> Vec<String> {
        fn ids<R: Cite>(rows: &[R]) -> impl Iterator<Item = String> + '_ {
            rows.iter().map(|row| {
                assert!(row.id().contains(row.hint()), "{}", row.id());
                row.id()
            })
        }
        let c = &BUILTIN;
        let hosts = ids(&c.gpus).chain(ids(&c.branches)).chain(ids(&c.drivers)).chain(ids(&c.oses));
        let cuda = ids(&c.toolkits).chain(ids(&c.ptx_isas)).chain(ids(&c.compats)).chain(ids(&c.extensions));
        let libraries = ids(&c.cudnns).chain(ids(&c.nccls)).chain(ids(&c.builds)).chain(ids(&c.companions));
        let images = ids(&c.images)
            .chain(ids(&c.image_requires))
            .chain(ids(&c.pythons))
            .chain(ids(&c.rules))
            .chain(ids(&c.modules))
            .chain(ids(&c.ptxases));
        hosts.chain(cuda).chain(libraries).chain(images).collect()
    }

    #[test]
    fn every_id_is_one_of_a_kind() {
        let ids = all_ids();
        let mut seen = HashSet::new();
        let twice: Vec<&String> = ids.iter().filter(|id| !seen.insert(*id)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn every_id_leads_back_to_its_row() {
        let ids = all_ids();
        for id in ids.iter().step_by(7) {
            let fact = BUILTIN.cited(id).unwrap_or_else(|| panic!("{id}"));
            assert!(fact.id == *id && fact.digest.len() == 16 && !fact.source.is_empty(), "{fact:?}");
            assert!(!fact.source.contains('{'), "{fact:?}");
        }
        assert_eq!(BUILTIN.cited("torch-0.0-cu1-linux-x86_64"), None);
    }

    #[test]
    fn a_corrected_row_has_another_digest_and_an_unsaid_field_changes_nothing() {
        let row = BUILTIN.drivers[0].clone();
        let corrected = Driver { date: Some("2000-01-01".into()), ..row.clone() };
        assert_ne!(digest(&row), digest(&corrected));
        #[derive(Serialize)]
        struct Wider {
            #[serde(flatten)]
            row: Driver,
            new: Option<u8>,
            flag: bool,
        }
        assert_eq!(digest(&row), digest(&Wider { row: row.clone(), new: None, flag: false }));
    }
}
