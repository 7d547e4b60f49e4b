//! A row as locks and explanations cite it: a stable id, the source in full, and a digest of what it says.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::rows::*;
use super::tables::{Catalog, Row};
use crate::types::{Version, first};

/// What the source of a row begins with that an overlay brought.
pub const OVERLAY: &str = "your overlay ";

/// A row as it is cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The row's name among all rows of all tables, `torch-2.5.1-cu124-linux-x86_64`.
    pub id: String,
    /// Where it can be looked up, a URL or purl.
    pub source: String,
    /// A short digest of the row: another one means that the row was corrected.
    pub digest: String,
    /// That of a row of an overlay with its line, as older gpuenvs wrote it.
    pub placed: Option<String>,
}

/// A row that can be cited.
pub trait Cite: Row + Serialize {
    /// A part of the id: rows that lack it are passed over without spelling out theirs.
    fn hint(&self) -> &str;
    /// The id of its source, then what fills the source's placeholders: version, package, platform,
    /// variant.
    fn origin(&self) -> [&str; 5];
    /// Why nobody read the GPU code in its file, where that is so.
    fn unread(&self) -> Option<&'static str> {
        None
    }
}

macro_rules! cite {
    ($($type:ty: $row:ident => $hint:expr, [$($origin:expr),*] $(, unread $unread:expr)?;)+) => {
        $(impl Cite for $type {
            fn hint(&self) -> &str {
                let $row = self;
                $hint
            }
            fn origin(&self) -> [&str; 5] {
                let $row = self;
                [&*$row.source, $($origin),*]
            }
            $(fn unread(&self) -> Option<&'static str> {
                let $row = self;
                $unread
            })?
        })+
    };
}

cite! {
    Gpu: row => &row.name, ["", &row.name, "", ""];
    Branch: row => row.branch.as_str(), [row.branch.as_str(), "", "", ""];
    Driver: row => row.version.as_str(), [row.version.as_str(), "", "", ""];
    Toolkit: row => row.version.as_str(), [row.version.as_str(), "", "", ""];
    WindowsDriver: row => row.cuda.as_str(), [row.cuda.as_str(), "", "", ""];
    PtxIsa: row => row.isa.as_str(), [row.isa.as_str(), "", "", ""];
    Compat: row => row.cuda.as_str(), [row.cuda.as_str(), "", "", ""];
    Cudnn: row => row.version.as_str(), [row.version.as_str(), "", "", row.cuda.as_str()];
    Nccl: row => row.version.as_str(), [row.version.as_str(), "", "", row.cuda.as_str()];
    Build: row => row.version.as_str(), [row.version.as_str(), &row.package, row.arch.as_str(), &row.variant], unread row.unread();
    OtherBuild: row => row.version.as_str(), [row.version.as_str(), &row.package, row.arch.as_str(), &row.variant];
    Companion: row => row.version.as_str(),
        [row.version.as_str(), &row.package, "", row.variant.as_deref().unwrap_or_default()];
    Libraries: row => row.version.as_str(), [row.version.as_str(), &row.package, "", ""];
    Listing: row => row.from.as_str(), [row.from.as_str(), &row.package, "", ""];
    Practice: row => &row.id, ["", &row.package, "", ""];
    SourceBuild: row => row.from.as_str(), [row.from.as_str(), &row.package, "", ""];
    FinishedWheel: row => row.version.as_str(), [row.version.as_str(), &row.package, row.arch.as_str(), ""];
    Extension: row => row.from.as_str(), [row.from.as_str(), &row.package, "", ""];
    Os: row => &row.id, ["", "", "", ""];
    Image: row => &row.tag, [row.cuda.as_str(), &row.repository, "", ""];
    ImageRequire: row => &row.id, ["", "", "", ""];
    Module: row => &row.id, ["", "", "", ""];
    SharedModule: row => &row.id, ["", "", "", ""];
    Service: row => &row.id, ["", "", "", ""];
    PythonPatch: row => row.from.as_str(), [row.from.as_str(), &row.package, "", ""];
    Ptxas: row => row.triton.as_str(), [row.triton.as_str(), "", "", ""];
    Python: row => row.version.as_str(), [row.version.as_str(), "", "", ""];
    Asks: row => if row.id.is_empty() { &row.package } else { &row.id }, [row.read.as_ref().map_or("", Version::as_str), &row.package, "", ""];
    Rule: row => &row.id, ["", row.package.as_deref().unwrap_or_default(), "", ""];
    Law: row => &row.id, ["", "", "", ""];
    ErrorSignature: row => &row.code, ["", "", "", ""];
    LogField: row => &row.id, ["", "", "", ""];
}

/// A source is looked up where it says itself.
impl Cite for Source {
    fn hint(&self) -> &str {
        &self.id
    }
    fn origin(&self) -> [&str; 5] {
        [&self.id, "", "", "", ""]
    }
}

/// A row with everything it says.
#[derive(Debug, Clone, PartialEq)]
pub struct FullRow {
    /// As it is cited.
    pub fact: Fact,
    /// Its kind, as catalog files write it.
    pub kind: &'static str,
    /// What it says, by field.
    pub says: Value,
    /// Everything it rests on.
    pub sources: Vec<Basis>,
    /// Why nobody read the GPU code in its file, where that is so.
    pub unread: Option<&'static str>,
}

impl FullRow {
    /// What it says by itself: all but the fields that name what it rests on.
    pub fn told(&self) -> impl Iterator<Item = (&String, &Value)> {
        let is_source = |field: &str| self.sources.iter().any(|basis| basis.field == field);
        self.says.as_object().into_iter().flatten().filter(move |(field, _)| !is_source(field))
    }
}

/// What a row, or some field of it, rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Source"))]
pub struct Basis {
    /// The field that names it.
    pub field: String,
    /// The source's id.
    pub id: String,
    /// A URL or purl.
    pub at: String,
    /// How it knows.
    #[cfg_attr(test, schemars(with = "String", extend("enum" = SourceKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>())))]
    pub kind: SourceKind,
    /// When it was read.
    pub seen: String,
    /// What a reader should know about it.
    pub note: Option<String>,
}

impl Catalog {
    /// A row as it is cited.
    pub fn cite(&self, row: &impl Cite) -> Fact {
        self.fact(row.id(), row.origin(), &says(row))
    }

    /// What rows of all types have in common is compiled once: it takes what they say, not themselves.
    fn fact(&self, id: String, origin: [&str; 5], says: &Value) -> Fact {
        let source = self.provenance(&id, self.filled(origin[0], origin));
        let says = says.to_string();
        // Where a row stands in its overlay is nothing that it says.
        let placed = self.overlaid(&id).and_then(|at| Some((at, at.rsplit_once(':')?.0)));
        match placed {
            Some((at, file)) => {
                let alone = says.replace(&format!("{at} says: "), &format!("{file} says: "));
                Fact { id, source, digest: digest(&alone), placed: Some(digest(&says)) }
            }
            None => Fact { id, source, digest: digest(&says), placed: None },
        }
    }

    /// A source as it is cited by the row of an id: where an overlay brought that row, its place is told first.
    pub fn provenance(&self, id: &str, source: String) -> String {
        match self.overlaid(id) {
            Some(at) => format!("{OVERLAY}{at} ({source})"),
            None => source,
        }
    }

    /// Where the overlay that brought a row says it, `site.toml:12`; none for rows of the built-in catalog.
    pub fn overlaid(&self, id: &str) -> Option<&str> {
        let at = self.laid.binary_search_by(|row| (*row.id).cmp(id)).ok()?;
        Some(&self.laid[at].at)
    }

    /// A source of a row with the placeholders filled in.
    pub fn origin_of(&self, row: &impl Cite, source: &str) -> String {
        self.filled(source, row.origin())
    }

    fn filled(&self, source: &str, [_, version, package, arch, variant]: [&str; 5]) -> String {
        let at = self.source_of(source, version, package, arch);
        // What speaks of an index whatever the variant names the place above them.
        let at = if variant.is_empty() { at.replace("{variant}/", "") } else { at };
        at.replace("{variant}", variant)
    }

    /// The row with this id, if the catalog still holds it.
    pub fn cited(&self, id: &str) -> Option<Fact> {
        self.row(id).map(|row| row.fact)
    }

    /// The row with this id and everything it says, by field.
    pub fn row(&self, id: &str) -> Option<FullRow> {
        match id.split_once(' ').map(|(kind, _)| kind) {
            Some("gpu") => self.find("gpu", &self.gpus, id),
            Some("branch") => self.find("branch", &self.branches, id),
            Some("driver") => self.find("driver", &self.drivers, id),
            Some("toolkit") => self.find("toolkit", &self.toolkits, id),
            Some("windows-driver") => self.find("windows_driver", &self.windows_drivers, id),
            Some("ptx-isa") => self.find("ptx_isa", &self.ptx_isas, id),
            Some("cuda-compat") => self.find("compat", &self.compats, id),
            Some("cudnn") => self.find("cudnn", &self.cudnns, id),
            Some("nccl") => self.find("nccl", &self.nccls, id),
            Some("extension") => self.find("extension", &self.extensions, id),
            Some("source-build") => self.find("source_build", &self.source_builds, id),
            Some("finished-wheel") => self.find("finished_wheel", &self.finished_wheels, id),
            Some("listing") => self.find("listing", self.listings.iter(), id),
            Some("libraries") => self.find("libraries", self.libraries.iter(), id),
            Some("os") => self.find("os", &self.oses, id),
            Some("image") => self.find("image", self.images.of_beginning(id.trim_start_matches("image ")), id),
            Some("image-require") => self.find("image_require", &self.image_requires, id),
            Some("ptxas") => self.find("ptxas", &self.ptxases, id),
            Some("python-patch") => self.find("python_patch", &self.python_patches, id),
            Some("python") => self.find("python", &self.pythons, id),
            Some("source") => self.find("source", &self.sources, id),
            Some("diagnosis") => self.find("diagnosis", &self.diagnoses, id),
            Some("clue") => self.find("clue", &self.clues, id),
            Some(_) => None,
            None if id.contains("-linux-") || id.contains("-windows-") => self
                .find("build", self.builds.of_beginning(id), id)
                .or_else(|| self.find("other_build", &self.other_builds, id)),
            None => self
                .find("rule", &self.rules, id)
                .or_else(|| self.find("law", &self.laws, id))
                .or_else(|| self.find("module", &self.modules, id))
                .or_else(|| self.find("service", &self.services, id))
                .or_else(|| self.find("shared_module", &self.shared_modules, id))
                .or_else(|| self.find("companion", self.companions.of_beginning(id), id))
                .or_else(|| self.find("asks", self.asks.of_beginning(id), id))
                .or_else(|| self.find("practice", &self.practices, id))
                // An overlay may call what it adds as it likes.
                .or_else(|| self.find("asks", self.asks.iter(), id)),
        }
    }

    fn find<'c, R: Cite + 'c>(
        &self,
        kind: &'static str,
        rows: impl IntoIterator<Item = &'c R>,
        id: &str,
    ) -> Option<FullRow> {
        let row = rows.into_iter().find(|row| id.contains(row.hint()) && row.id() == id)?;
        Some(self.full(kind, row))
    }

    /// Everything a row says and rests on.
    pub fn full(&self, kind: &'static str, row: &impl Cite) -> FullRow {
        self.full_row(kind, row.id(), (row.origin(), &row.cites()), (says(row), row.unread()))
    }

    fn full_row(
        &self,
        kind: &'static str,
        id: String,
        (origin, cites): ([&str; 5], &[&str]),
        (says, unread): (Value, Option<&'static str>),
    ) -> FullRow {
        let mut sources = Vec::new();
        for (field, id) in says.as_object().into_iter().flatten() {
            let cited = id.as_str().filter(|id| field != "id" && cites.contains(id));
            let Some(source) = cited.and_then(|id| self.source(id)) else { continue };
            sources.push(Basis {
                field: field.to_string(),
                id: source.id.to_string(),
                at: self.filled(&source.id, origin),
                kind: source.kind,
                seen: source.seen.to_string(),
                note: source.note.as_ref().map(ToString::to_string),
            });
        }
        // `source` says that the thing exists: it comes first.
        sources = first(sources, |basis| basis.field == "source");
        // Who laid it over the catalog may have read it.
        let read = |basis: &Basis| basis.field == "arch_source" && basis.kind == SourceKind::Measured;
        let unread = unread.filter(|_| !sources.iter().any(read));
        FullRow { fact: self.fact(id, origin, &says), kind, says, sources, unread }
    }
}

/// What a row says, by field.
fn says(row: &impl Serialize) -> Value {
    serde_json::to_value(row).map(said).unwrap_or_default()
}

/// The first sixteen digits of the sha256 of what a row says.
///
/// Fields that say nothing are left out: a later gpuenv whose rows have more fields finds the same digest.
fn digest(says: &str) -> String {
    let hash = Sha256::digest(says);
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn said(value: Value) -> Value {
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    match value {
        Value::Object(mut fields) => {
            fields.retain(|_, value| says(value));
            Value::Object(fields)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
