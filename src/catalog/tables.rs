//! The catalog as a whole: one table for each kind of row, and what all rows have in common.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::names;
use super::row::any_row;
pub use super::row::{AnyRow, Entry, Named, Row, RowName};
use super::rows::*;
use super::table::Headed;
pub use super::table::{Grouped, Holder, Table};
use super::wheels::Digests;
use crate::types::{CpuArch, Version};

/// Something that is done to tables of any kind of row.
pub trait TableVisitor {
    /// Why it could not be done.
    type Error;
    /// Does it to the table of a kind.
    fn visit<H: Holder>(&mut self, kind: &'static str, holder: &mut H) -> Result<(), Self::Error>;
}

macro_rules! row {
    ($type:ty, [$($head:ident)?], [$($version:ident),*], [$($tail:ident $(($($called:tt)*))?),*], $row:ident is $id:expr, cites $($source:ident)+ $(, maybe $($maybe:ident)+)?) => {
        impl Row for $type {
            fn row_name(&self) -> RowName {
                RowName {
                    head: String::new() $(+ &self.$head)?,
                    versions: vec![$(self.$version.clone()),*],
                    tail: Vec::<String>::from([$(self.$tail $(($($called)*))?.to_string()),*]).join(" "),
                }
            }
            fn id(&self) -> String {
                let $row = self;
                $id
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

/// What tells a row for some systems from the one for Linux in general: the first of them.
fn of_systems(systems: &[Text]) -> String {
    systems.first().map_or(String::new(), |system| format!("-{system}"))
}

impl Row for Build {
    fn row_name(&self) -> RowName {
        // A build of one's own comes after all that were published of its version.
        let own = if self.is_own() { "~own " } else { "" };
        let tail = format!("{own}{} {}{}", self.variant, self.arch, of_systems(&self.systems));
        RowName { head: self.package.to_string(), versions: vec![self.version], tail }
    }
    fn id(&self) -> String {
        let Build { package, version, variant, arch, .. } = self;
        if self.is_own() {
            return format!("{package}-{version}-{variant}-own-linux-{arch}");
        }
        format!("{package}-{version}-{variant}-linux-{arch}{}", of_systems(&self.systems))
    }
    fn cites(&self) -> Vec<&str> {
        [Some(&self.source), self.arch_source.as_ref(), self.pins_source.as_ref(), self.pools.as_ref()]
            .into_iter()
            .flatten()
            .map(|id| &**id)
            .collect()
    }
}

impl Row for Libraries {
    fn row_name(&self) -> RowName {
        let (variant, arch) = (self.variant.as_deref().unwrap_or_default(), self.arch.map_or("", CpuArch::as_str));
        let tail = format!("{variant} {arch}").trim().to_string();
        RowName { head: self.package.to_string(), versions: vec![self.version], tail }
    }
    fn id(&self) -> String {
        format!("libraries {}", self.row_name())
    }
    fn cites(&self) -> Vec<&str> {
        vec![&*self.source]
    }
}

impl Row for Companion {
    fn row_name(&self) -> RowName {
        // The release of the package index comes before those of single variants, and its source after them.
        let variant = self.variant.as_deref().unwrap_or_default();
        let source = self.source_for().map_or(String::new(), |arch| format!("~source {arch}"));
        let tail = format!("{} {variant}{}{source}", self.framework, of_systems(&self.systems));
        let tail = tail.trim_end().to_string();
        RowName { head: self.package.to_string(), versions: vec![self.version], tail }
    }
    fn id(&self) -> String {
        match &self.variant {
            None if self.source_for().is_some() => format!("{}-{}-source", self.package, self.version),
            None => format!("{}-{}{}", self.package, self.version, of_systems(&self.systems)),
            Some(variant) => {
                format!("{}-{}+{variant}{}", self.package, self.version, of_systems(&self.systems))
            }
        }
    }
    fn cites(&self) -> Vec<&str> {
        [&*self.source]
            .into_iter()
            .chain(self.arch_source.as_deref())
            .chain(self.cudnn_headers.as_deref())
            .chain(self.kernels_source.as_deref())
            .chain(
                [
                    &self.headers_source,
                    &self.wsl2_source,
                    &self.offered_source,
                    &self.arm_offered_source,
                    &self.abi_source,
                ]
                .into_iter()
                .flatten()
                .map(|id| &**id),
            )
            .chain(self.pools.as_deref())
            .collect()
    }
}

impl Row for FinishedWheel {
    fn row_name(&self) -> RowName {
        let variants: Vec<&str> = self.variants.iter().map(|variant| &**variant).collect();
        let tail = format!("cu{} {} {}", self.cuda, self.arch, variants.join(" ")).trim_end().to_string();
        RowName { head: self.package.to_string(), versions: vec![self.version, self.beside], tail }
    }
    fn id(&self) -> String {
        format!("finished-wheel {}", self.row_name())
    }
    fn cites(&self) -> Vec<&str> {
        let named = [&self.source, &self.arch_source, &self.glibc_source].into_iter().chain(&self.broken);
        named.map(|id| &**id).collect()
    }
}

impl Row for Listing {
    fn row_name(&self) -> RowName {
        RowName { head: self.package.to_string(), versions: vec![self.from], tail: self.index.to_string() }
    }
    fn id(&self) -> String {
        format!("listing {} {} {}", self.package, self.from, self.index)
    }
    fn cites(&self) -> Vec<&str> {
        Some(&*self.source).into_iter().chain(self.builds_source.as_deref()).collect()
    }
}

impl Row for WheelFile {
    fn row_name(&self) -> RowName {
        let tail = self.index.as_deref().unwrap_or_default().to_string();
        RowName { head: self.file.to_string(), versions: Vec::new(), tail }
    }
    fn id(&self) -> String {
        format!("wheel {} {}", self.file, self.index.as_deref().unwrap_or_default()).trim_end().to_string()
    }
    fn cites(&self) -> Vec<&str> {
        vec![&*self.source]
    }
}

impl Row for Source {
    fn row_name(&self) -> RowName {
        RowName { head: self.id.to_string(), versions: Vec::new(), tail: String::new() }
    }
    fn id(&self) -> String {
        format!("source {}", self.id)
    }
    fn cites(&self) -> Vec<&str> {
        Vec::new()
    }
}

row!(Gpu, [name], [], [cc], row is format!("gpu {} {}", row.name, row.cc), cites source, maybe driver_source);
row!(Branch, [], [branch], [], row is format!("branch {}", row.branch), cites source, maybe cuda_source);
row!(Driver, [], [version], [], row is format!("driver {}", row.version), cites source, maybe cuda_source);
row!(Toolkit, [], [version], [], row is format!("toolkit {}", row.version), cites source arch_source, maybe host_source tegra_disputed);
row!(WindowsDriver, [], [cuda], [], row is format!("windows-driver {}", row.cuda), cites source);
row!(PtxIsa, [], [isa], [], row is format!("ptx-isa {}", row.isa), cites source);
row!(Compat, [], [cuda], [], row is format!("cuda-compat {}", row.cuda), cites source);
row!(Cudnn, [], [version, cuda], [], row is format!("cudnn {} cuda{}", row.version, row.cuda),
    cites source, maybe arch_source);
row!(Nccl, [], [version, cuda], [], row is format!("nccl {} cuda{}", row.version, row.cuda),
    cites source, maybe arch_source pools);
row!(OtherBuild, [package], [version], [variant, os, arch],
    row is format!("{}-{}-{}-{}-{}", row.package, row.version, row.variant, row.os, row.arch), cites source);
row!(SourceBuild, [package], [from], [], row is format!("source-build {} {}", row.package, row.from), cites source);
row!(Extension, [package], [from], [], row is format!("extension {} {}", row.package, row.from), cites source);
row!(Os, [id], [], [], row is format!("os {}", row.id), cites source, maybe gcc_source python_source kernel_source libstdcxx_source boards_source driver_source driver_package_source compats_source);
row!(Image, [repository], [cuda], [tag], row is format!("image {}:{}", row.repository, row.tag), cites source, maybe holds_source least_gpu_source);
row!(ImageRequire, [id], [], [], row is format!("image-require {}", row.id), cites source, maybe wider_source);
row!(Module, [id], [], [], row is row.id.to_string(), cites source);
row!(SharedModule, [id], [], [], row is row.id.to_string(), cites source);
row!(Service, [id], [], [], row is row.id.to_string(), cites source);
row!(Practice, [id], [], [], row is row.id.to_string(), cites source);
row!(Ptxas, [], [triton], [], row is format!("ptxas {}", row.triton), cites source);
row!(PythonPatch, [package], [from], [], row is format!("python-patch {} {}", row.package, row.from), cites source);
row!(Python, [], [version], [], row is format!("python {}", row.version), cites source);
row!(Rule, [id], [], [], row is row.id.to_string(), cites source);
row!(Asks, [package], [], [name()], row is row.name(), cites source);
row!(Law, [id], [], [], row is row.id.to_string(), cites source);
row!(ErrorSignature, [code], [], [], row is format!("diagnosis {}", row.code), cites source);
row!(LogField, [id], [], [], row is format!("clue {}", row.id), cites source);

macro_rules! headed {
    ($($row:ident by $head:ident),+) => {$(
        impl Headed for $row {
            fn head(&self) -> &str {
                &self.$head
            }
        }
    )+};
}

headed!(Build by package, Companion by package, Asks by package, Libraries by package, Listing by package, Image by repository);

/// A file laid over the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overlay {
    /// Its name as gpuenv.toml writes it.
    pub name: Text,
    /// The sha256 of its rows, comments and layout aside.
    pub digest: Text,
    /// The sha256 of the file itself.
    pub file: Text,
}

/// A row that an overlay brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Laid {
    /// The row's id.
    pub id: Text,
    /// Where it stands, `site.toml:12`.
    pub at: Text,
}

/// A rule that an overlay set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Retraction {
    /// The rule's id.
    pub rule: Text,
    /// Why.
    pub reason: Text,
    /// Where that stands, `site.toml:12`.
    pub at: Text,
}

macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $holder:ident<$row:ident> = $kind:literal,)+) => {
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
            /// The files laid over it, in their order.
            #[serde(skip_deserializing)]
            pub overlays: Table<Overlay>,
            /// The rows these brought, by id.
            #[serde(skip_deserializing)]
            pub laid: Table<Laid>,
            /// The rules these set aside.
            #[serde(skip_deserializing)]
            pub retractions: Table<Retraction>,
            /// The sha256 of the rows of `wheels`, as locks ask for them.
            #[serde(skip_deserializing)]
            pub wheel_digests: Digests,
            $($(#[$doc])* #[serde(rename(deserialize = $kind))] pub $table: $holder<$row>,)+
        }

        impl Catalog {
            /// Every row of every table.
            pub fn rows(&self) -> impl Iterator<Item = AnyRow<'_>> {
                let tables: Vec<Box<dyn Iterator<Item = AnyRow<'_>> + '_>> =
                    vec![$(Box::new(self.$table.iter().map(|row| any_row($kind, row)))),+];
                tables.into_iter().flatten()
            }

            /// Appends the rows of another catalog.
            pub fn extend(&mut self, mut other: Catalog) {
                self.gpu_index = Text::default();
                $(self.$table.to_mut().extend(std::mem::take(other.$table.to_mut()));)+
            }

            /// The kinds of rows, as they are written in catalog files.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// Reads a row of a kind and puts it last in its table.
            pub fn read<'de, D: serde::Deserializer<'de>>(&mut self, kind: &str, row: D) -> Result<Entry, D::Error> {
                match kind {
                    $($kind => {
                        let row = $row::deserialize(row)?;
                        let entry = Entry { name: row.row_name(), id: row.id() };
                        self.$table.to_mut().push(row);
                        Ok(entry)
                    })+
                    _ => Err(serde::de::Error::custom(format!("there is no kind of row called `{kind}`"))),
                }
            }

            /// Writes the table of a kind.
            pub fn write<S: serde::Serializer>(&self, kind: &str, to: S) -> Result<S::Ok, S::Error> {
                match kind {
                    $($kind => self.$table.serialize(to),)+
                    _ => Err(serde::ser::Error::custom(format!("there is no kind of row called `{kind}`"))),
                }
            }

            /// Does something to every table, in a fixed order, whatever its rows are.
            pub fn each_table<V: TableVisitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
                $(visitor.visit($kind, &mut self.$table)?;)+
                Ok(())
            }

            /// Takes rows out of a table, by their places in it.
            pub fn remove(&mut self, kind: &str, gone: &BTreeSet<usize>) {
                match kind {
                    $($kind => {
                        let mut at = 0..;
                        self.$table.to_mut().retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
                    })+
                    _ => {}
                }
            }

            /// Adds the rows of another catalog at their places. Tables that gain none are not touched.
            pub fn merge(&mut self, mut other: Catalog) {
                if !other.gpus.is_empty() {
                    self.gpu_index = Text::default();
                }
                $(if !other.$table.is_empty() {
                    self.$table.to_mut().extend(std::mem::take(other.$table.to_mut()));
                    self.$table.to_mut().sort_by_cached_key(Row::row_name);
                })+
                if self.gpu_index.is_empty() {
                    self.gpu_index = names::index(&self.gpus).into();
                }
                self.wheel_digests = self.wheel_digests.with(&self.wheels);
                self.unpack_images();
            }

            /// Orders every table, so that the order of files and lines never matters.
            pub fn sort(&mut self) {
                $(self.$table.to_mut().sort_by_cached_key(Row::row_name);)+
                self.gpu_index = names::index(&self.gpus).into();
                self.wheel_digests = self.wheel_digests.with(&self.wheels);
            }
        }
    };
}

tables! {
    /// Where facts can be looked up.
    sources: Table<Source> = "source",
    /// GPU products.
    gpus: Table<Gpu> = "gpu",
    /// Driver branches.
    branches: Table<Branch> = "branch",
    /// Linux driver releases.
    drivers: Table<Driver> = "driver",
    /// CUDA toolkit releases.
    toolkits: Table<Toolkit> = "toolkit",
    /// The oldest drivers of Windows for CUDA.
    windows_drivers: Table<WindowsDriver> = "windows_driver",
    /// PTX ISA versions and the driver branches that know them.
    ptx_isas: Table<PtxIsa> = "ptx_isa",
    /// Forward-compatibility packages.
    compats: Table<Compat> = "compat",
    /// cuDNN releases.
    cudnns: Table<Cudnn> = "cudnn",
    /// NCCL releases.
    nccls: Table<Nccl> = "nccl",
    /// Framework builds.
    builds: Grouped<Build> = "build",
    /// Builds that nothing is solved with.
    other_builds: Table<OtherBuild> = "other_build",
    /// Packages that follow a framework.
    companions: Grouped<Companion> = "companion",
    /// How packages that come as source are compiled.
    source_builds: Table<SourceBuild> = "source_build",
    /// Wheels of such packages that lie beside their releases.
    finished_wheels: Table<FinishedWheel> = "finished_wheel",
    /// What packages need of others that the catalog has no releases of.
    asks: Grouped<Asks> = "asks",
    /// Packages that install one module.
    shared_modules: Table<SharedModule> = "shared_module",
    /// The NVIDIA libraries that releases pin.
    libraries: Grouped<Libraries> = "libraries",
    /// How much of the listings of indexes was read.
    listings: Grouped<Listing> = "listing",
    /// What publishers always do.
    practices: Table<Practice> = "practice",
    /// Wheels and their sha256; packed away when the catalog is built in.
    wheels: Table<WheelFile> = "wheel",
    /// What extension builders accept.
    extensions: Table<Extension> = "extension",
    /// Operating systems.
    oses: Table<Os> = "os",
    /// Image tags.
    images: Grouped<Image> = "image",
    /// The requirements images share.
    image_requires: Table<ImageRequire> = "image_require",
    /// GPUs that one flavour of kernel modules drives.
    modules: Table<Module> = "module",
    /// What machines need beside a driver.
    services: Table<Service> = "service",
    /// The compilers that Triton brings.
    ptxases: Table<Ptxas> = "ptxas",
    /// Python lines.
    pythons: Table<Python> = "python",
    /// Patch releases of Python that packages need.
    python_patches: Table<PythonPatch> = "python_patch",
    /// Rules of the form "this range needs that range".
    rules: Table<Rule> = "rule",
    /// Rules that are code.
    laws: Table<Law> = "law",
    /// Messages and what they mean.
    diagnoses: Table<ErrorSignature> = "diagnosis",
    /// What logs tell in passing.
    clues: Table<LogField> = "clue",
}

/// Of rows that each hold from a release on, until the next of them begins, the one that holds for a version.
pub fn in_force<'r, R>(
    rows: impl Iterator<Item = &'r R>,
    from: impl Fn(&R) -> Version,
    version: &Version,
) -> Option<&'r R> {
    let release = version.release();
    rows.filter(|row| from(row) <= release).max_by_key(|row| from(row))
}

impl Catalog {
    /// Whether all that is known of a package precedes its first release: then installers take that.
    pub fn is_unreleased(&self, package: &str) -> bool {
        let rows = self.companions.of(package);
        !rows.is_empty() && rows.iter().all(|row| row.version.is_prerelease())
    }
}
