//! The catalog as a whole: one table for each kind of row, and what all rows have in common.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::names;
use super::rows::*;
use crate::words::Version;

/// A row's identity within its table. It orders the table, names the row in messages and must be unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowName {
    /// The package, repository, product or id; empty where the version alone is the name.
    pub head: String,
    /// The versions, most significant first.
    pub versions: Vec<Version>,
    /// What tells rows of one version apart.
    pub tail: String,
}

/// What every kind of row can be asked.
pub trait Row {
    /// The row's identity.
    fn row_name(&self) -> RowName;
    /// The ids of the sources it rests on.
    fn cites(&self) -> Vec<&str>;
}

/// A row without its type: for listings, searches and lints.
#[derive(Debug, Clone)]
pub struct AnyRow<'c> {
    /// The kind, as it is written in catalog files.
    pub kind: &'static str,
    /// Its identity.
    pub name: RowName,
    /// The ids of the sources it rests on.
    pub cites: Vec<&'c str>,
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions = self.versions.iter().map(Version::as_str);
        let parts = [self.head.as_str()].into_iter().chain(versions).chain([self.tail.as_str()]);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(" "))
    }
}

macro_rules! row {
    ($type:ty, [$($head:ident)?], [$($version:ident),*], [$($tail:ident),*], cites $($source:ident)+ $(, maybe $($maybe:ident)+)?) => {
        impl Row for $type {
            fn row_name(&self) -> RowName {
                RowName {
                    head: String::new() $(+ &self.$head)?,
                    versions: vec![$(self.$version.clone()),*],
                    tail: Vec::<String>::from([$(self.$tail.to_string()),*]).join(" "),
                }
            }
            fn cites(&self) -> Vec<&str> {
                #[allow(unused_mut)]
                let mut cites: Vec<&str> = vec![$(&*self.$source),+];
                $($(cites.extend(self.$maybe.as_deref());)+)?
                cites
            }
        }
    };
}

impl Row for Source {
    fn row_name(&self) -> RowName {
        RowName { head: self.id.to_string(), versions: Vec::new(), tail: String::new() }
    }
    fn cites(&self) -> Vec<&str> {
        Vec::new()
    }
}

row!(Gpu, [name], [], [cc], cites source, maybe driver_source);
row!(Branch, [], [branch], [], cites source, maybe cuda_source);
row!(Driver, [], [version], [], cites source);
row!(Toolkit, [], [version], [], cites source arch_source, maybe host_source);
row!(PtxIsa, [], [isa], [], cites source);
row!(Compat, [], [cuda], [], cites source);
row!(Cudnn, [], [version, cuda], [], cites source);
row!(Nccl, [], [version, cuda], [], cites source);
row!(Build, [package], [version], [variant, arch], cites source, maybe arch_source pins_source);
row!(Companion, [package], [version], [framework], cites source);
row!(Extension, [package], [from], [], cites source);
row!(Os, [id], [], [], cites source, maybe gcc_source);
row!(Image, [repository], [cuda], [tag], cites source);
row!(ImageRequire, [id], [], [], cites source);
row!(Module, [id], [], [], cites source);
row!(Ptxas, [], [triton], [], cites source);
row!(Python, [], [version], [], cites source);
row!(Rule, [id], [], [], cites source);
row!(Law, [id], [], [], cites source);
row!(Diagnosis, [code], [], [], cites source);
row!(Clue, [id], [], [], cites source);

macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $row:ident = $kind:literal,)+) => {
        /// Every fact gpuenv knows, or a file's share of them.
        ///
        /// Read from TOML, each table is an array named after its kind of row (`driver = [ … ]`).
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Catalog {
            /// The catalog's own version, the day it speaks of.
            pub version: Text,
            /// The versions of gpuenv that can read it, a semver requirement.
            pub reader: Text,
            /// The sha256 of the files it was built from; empty for a file read at run time.
            #[serde(skip_deserializing)]
            pub digest: Text,
            /// Where products stand by the words of their names; empty until the catalog is put in order.
            #[serde(skip_deserializing)]
            pub gpu_index: Text,
            $($(#[$doc])* #[serde(rename(deserialize = $kind))] pub $table: List<$row>,)+
        }

        impl Catalog {
            /// Every row of every table.
            pub fn rows(&self) -> impl Iterator<Item = AnyRow<'_>> {
                std::iter::empty()
                    $(.chain(self.$table.iter().map(|row| AnyRow {
                        kind: $kind,
                        name: row.row_name(),
                        cites: row.cites(),
                    })))+
            }

            /// Appends the rows of another catalog.
            pub fn extend(&mut self, other: Catalog) {
                self.gpu_index = Text::default();
                $(self.$table.to_mut().extend(other.$table.into_owned());)+
            }

            /// Orders every table, so that the order of files and lines never matters.
            pub fn sort(&mut self) {
                $(self.$table.to_mut().sort_by_cached_key(Row::row_name);)+
                self.gpu_index = names::index(&self.gpus).into();
            }
        }
    };
}

tables! {
    /// Where facts can be looked up.
    sources: Source = "source",
    /// GPU products.
    gpus: Gpu = "gpu",
    /// Driver branches.
    branches: Branch = "branch",
    /// Linux driver releases.
    drivers: Driver = "driver",
    /// CUDA toolkit releases.
    toolkits: Toolkit = "toolkit",
    /// PTX ISA versions and the driver branches that know them.
    ptx_isas: PtxIsa = "ptx_isa",
    /// Forward-compatibility packages.
    compats: Compat = "compat",
    /// cuDNN releases.
    cudnns: Cudnn = "cudnn",
    /// NCCL releases.
    nccls: Nccl = "nccl",
    /// Framework builds.
    builds: Build = "build",
    /// Packages that follow a framework.
    companions: Companion = "companion",
    /// What extension builders accept.
    extensions: Extension = "extension",
    /// Operating systems.
    oses: Os = "os",
    /// Image tags.
    images: Image = "image",
    /// The requirements images share.
    image_requires: ImageRequire = "image_require",
    /// GPUs that one flavour of kernel modules drives.
    modules: Module = "module",
    /// The compilers that Triton brings.
    ptxases: Ptxas = "ptxas",
    /// Python lines.
    pythons: Python = "python",
    /// Rules of the form "this range needs that range".
    rules: Rule = "rule",
    /// Rules that are code.
    laws: Law = "law",
    /// Messages and what they mean.
    diagnoses: Diagnosis = "diagnosis",
    /// What logs tell in passing.
    clues: Clue = "clue",
}
