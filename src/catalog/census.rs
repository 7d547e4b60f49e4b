//! How many facts of each kind there are and how they are known: what the README and `gpuenv catalog` count.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::rows::SourceKind;
use super::tables::Catalog;

/// One line of the census.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The kind, as catalog files write it; of facts within a row, the field that names their source.
    pub kind: &'static str,
    /// What it is to readers.
    pub name: &'static str,
    /// How many there are.
    pub rows: usize,
    /// How many of them rest on a source of each kind, in the order of [`SourceKind::ALL`].
    pub by_kind: [usize; 4],
}

/// What a kind of row is to readers.
const NAMES: &[(&str, &str)] = &[
    ("gpu", "GPU products"),
    ("branch", "driver branches"),
    ("driver", "driver releases"),
    ("toolkit", "CUDA toolkits"),
    ("windows_driver", "oldest drivers of Windows"),
    ("ptx_isa", "PTX versions"),
    ("compat", "forward-compatibility packages"),
    ("cudnn", "cuDNN releases"),
    ("nccl", "NCCL releases"),
    ("build", "builds of frameworks"),
    ("other_build", "builds that are not chosen"),
    ("companion", "packages that follow one"),
    ("source_build", "builds from source"),
    ("finished_wheel", "finished wheels beside releases"),
    ("listing", "listings read"),
    ("practice", "practices of publishers"),
    ("libraries", "releases with exact libraries"),
    ("extension", "what extension builders accept"),
    ("module", "needs of kernel modules"),
    ("service", "what machines need beside a driver"),
    ("asks", "what builds need beside them"),
    ("shared_module", "packages with one module"),
    ("diagnosis", "meanings of messages"),
    ("clue", "what logs tell in passing"),
    ("ptxas", "compilers that Triton brings"),
    ("python", "Pythons"),
    ("python_patch", "patches of Python needed"),
    ("os", "operating systems"),
    ("image", "image tags"),
    ("image_require", "what images ask of drivers"),
    ("rule", "rules over ranges"),
];

impl Catalog {
    /// Each row counted once, by the source that says it exists; then what builds hold and pin, by their own sources.
    pub fn census(&self) -> Vec<Count> {
        let kinds: HashMap<&str, SourceKind> = self.sources.iter().map(|row| (&*row.id, row.kind)).collect();
        let mut cited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in self.rows() {
            cited.entry(row.kind).or_default().extend(row.cites.first());
        }
        let count = |kind, name, sources: &[&str]| {
            let by = |wanted: SourceKind| sources.iter().filter(|id| kinds.get(**id) == Some(&wanted)).count();
            let by_kind = [SourceKind::Measured, SourceKind::Package, SourceKind::Vendor, SourceKind::Article].map(by);
            Count { kind, name, rows: sources.len(), by_kind }
        };
        let mut counts = Vec::new();
        for (kind, name) in NAMES {
            counts.push(count(*kind, *name, cited.get(kind).map_or(&[], Vec::as_slice)));
            if *kind == "toolkit" {
                let targets: Vec<&str> = self.toolkits.iter().map(|row| &*row.arch_source).collect();
                let hosts: Vec<&str> = self.toolkits.iter().filter_map(|row| row.host_source.as_deref()).collect();
                counts.push(count("toolkit.arch_source", "  whose targets are known", &targets));
                counts.push(count("toolkit.host_source", "  whose compilers are known", &hosts));
            }
            for library in ["cudnn.arch_source", "nccl.arch_source"] {
                if library.strip_suffix(".arch_source") == Some(kind) {
                    let codes: Vec<&str> = self.releases_of(kind).filter_map(|one| one.arch_source).collect();
                    counts.push(count(library, "  whose GPU code is known", &codes));
                }
            }
            if *kind == "companion" {
                // Of much that follows a CUDA major only that major is told there.
                let read = self.companions.iter().filter(|row| !row.follows_cuda() || row.gpu_code);
                let codes: Vec<&str> = read.filter_map(|row| row.arch_source.as_deref()).collect();
                counts.push(count("companion.arch_source", "  whose own GPU code is known", &codes));
            }
            if *kind == "build" {
                let codes: Vec<&str> = self.builds.iter().filter_map(|row| row.arch_source.as_deref()).collect();
                let pins: Vec<&str> = self.builds.iter().filter_map(|row| row.pins_source.as_deref()).collect();
                counts.push(count("build.arch_source", "  whose GPU code is known", &codes));
                let (served, elsewhere) = self.code_by_place();
                counts.push(count("build.arch_source.pypi", "    and lies on the package index", &served));
                counts.push(count("build.arch_source.unread", "    and lies elsewhere, unread", &elsewhere));
                counts.push(count("build.pins_source", "  whose libraries are known", &pins));
            }
        }
        counts
    }

    /// The sources of the GPU code of builds: of those on the package index, then of those whose files were not read.
    fn code_by_place(&self) -> (Vec<&str>, Vec<&str>) {
        let known = self.builds.iter().filter_map(|row| Some((row.arch_source.as_deref()?, row.unread())));
        let (served, elsewhere): (Vec<_>, Vec<_>) = known.partition(|(_, unread)| unread.is_none());
        (served.into_iter().map(|(id, _)| id).collect(), elsewhere.into_iter().map(|(id, _)| id).collect())
    }

    /// How often rows other than those of images name a source, and how often that is an article.
    pub fn citations(&self) -> (usize, usize) {
        let articles = self.sources.iter().filter(|row| row.kind == SourceKind::Article);
        let articles: HashSet<&str> = articles.map(|row| &*row.id).collect();
        // A build that stands in an image is what the rows of images say of it.
        let of_image = |kind: &str, id: &str| kind.starts_with("image") || (kind == "build" && id.contains(':'));
        let told = self.rows().filter(|row| row.kind != "wheel" && !of_image(row.kind, &row.id));
        let cited: Vec<&str> = told.flat_map(|row| row.cites).collect();
        (cited.len(), cited.iter().filter(|id| articles.contains(*id)).count())
    }

    /// The days on which sources were read and how many on each, the oldest first.
    pub fn freshness(&self) -> BTreeMap<&str, usize> {
        let mut days = BTreeMap::new();
        for source in self.sources.iter() {
            *days.entry(&*source.seen).or_insert(0) += 1;
        }
        days
    }
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;
    use super::*;

    #[test]
    fn every_kind_of_fact_is_counted() {
        // Wheels are packed away when the catalog is built in.
        let uncounted = ["source", "law", "wheel"];
        let named: Vec<&str> = NAMES.iter().map(|(kind, _)| *kind).chain(uncounted).collect();
        for kind in Catalog::KINDS {
            assert!(named.contains(kind), "{kind}");
        }
        for count in BUILTIN.census() {
            assert_eq!(count.by_kind.iter().sum::<usize>(), count.rows, "{}", count.kind);
        }
        assert_eq!(BUILTIN.freshness().values().sum::<usize>(), BUILTIN.sources.len());
    }
}
