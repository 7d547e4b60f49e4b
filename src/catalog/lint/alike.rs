//! Rows that speak of one thing agree about it: what a release is and what its files hold does not depend on the row
//! that tells it.

use std::collections::HashMap;

use super::super::parts::LibraryRelease;
use super::super::rows::*;
use super::super::tables::{Catalog, Named, Row, RowName};
use super::Say;
use crate::types::variant::{PLAIN, line_of};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    let mut alike = Alike { seen: HashMap::new(), say };
    images(catalog, &mut alike);
    builds(catalog, &mut alike);
    companions(catalog, &mut alike);
    libraries(catalog, &mut alike);
}

struct Alike<'s> {
    /// What was told first of a thing, by field and thing, and the row that did.
    seen: HashMap<(&'static str, String), (String, RowName)>,
    say: Say<'s>,
}

impl Alike<'_> {
    /// Hears what rows tell of `thing`, each in a field.
    fn hear(&mut self, kind: &str, row: &impl Row, thing: &str, tells: &[(&'static str, String)]) {
        let name = row.row_name();
        for (field, value) in tells {
            let (first, by) =
                self.seen.entry((field, thing.to_string())).or_insert_with(|| (value.clone(), name.clone()));
            if first != value {
                (self.say)("disagreement", kind, &name, format!("`{field}` is {value} here and {first} in {by}"));
            }
        }
    }
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn told<T: std::fmt::Display>(value: &Option<T>) -> String {
    value.as_ref().map_or("unsaid".into(), |value| value.to_string())
}

/// Images of one CUDA, system and cuDNN are built one from another, and a publisher lists or drops all of a system; a
/// torch comes in images that differ in what of CUDA they hold, and those of one CUDA in nothing: for another they were at
/// times built on another day, with another Python. A list of tags is that of one repository.
fn images(catalog: &Catalog, alike: &mut Alike<'_>) {
    for row in catalog.images.iter() {
        let (os, cuda, source) = (&row.os, &row.cuda, || ("source", row.source.to_string()));
        let arches = || ("arches", list(&row.arches));
        alike.hear("image", row, &format!("list {}", row.source), &[("repository", row.repository.to_string())]);
        if row.repository == super::images::TELLING {
            let cudnn = row.tag.split('-').find(|part| part.starts_with("cudnn")).unwrap_or_default();
            let inside = [arches(), ("require", told(&row.require)), ("cudnn", told(&row.cudnn))];
            alike.hear("image", row, &format!("{cuda} {os} {cudnn}"), &inside);
            alike.hear("image", row, &format!("{cuda} {os}"), &[("withdrawn", row.withdrawn.to_string()), source()]);
        } else if let (Some(torch), Some((line, _))) = (&row.torch, row.tag.rsplit_once('-')) {
            let inside = [("os", os.to_string()), arches(), source()];
            alike.hear("image", row, &format!("{} {torch}", row.repository), &inside);
            let of_line = [("cuda", cuda.to_string()), ("python", told(&row.python))];
            alike.hear("image", row, &format!("{} {line}", row.repository), &of_line);
        }
    }
}

/// A release pins the same libraries for every platform, its wheels of one index serve the same Pythons (of 3, where
/// none was left out), and its patch releases are published as it is.
fn builds(catalog: &Catalog, alike: &mut Alike<'_>) {
    for row in catalog.builds.iter() {
        let Build { package, version, variant, .. } = row;
        // What is made for single systems is published apart, and its libraries are theirs.
        let arch = &format!("{}{}", row.arch, row.systems.first().map_or("", |system| &**system));
        let package = &format!("{package}{}", row.systems.first().map_or("", |system| &**system));
        let line = line_of(variant).map(|line| line.major());
        let mut tell = |thing: &str, field, value: Option<String>| {
            value.into_iter().for_each(|value| alike.hear("build", row, thing, &[(field, value)]));
        };
        let text = |value: &Option<crate::types::Version>| value.as_ref().map(ToString::to_string);
        tell(&format!("{package} {version}"), "triton", text(&row.triton));
        tell(&format!("{package} {version} {variant}"), "nccl", text(&row.nccl));
        tell(&format!("{package} {version} {variant}"), "cudnn", text(&row.cudnn));
        let on_index = row.index.contains(&Index::Pypi);
        let pythons: Vec<_> = row.pythons.iter().filter(|python| python.major() > 2).collect();
        let files = format!("{package} {version} {arch} {on_index}");
        tell(&files, "pythons", (!row.pythons_partial).then(|| list(&pythons)));
        tell(&files, "glibc", row.glibc.as_ref().filter(|_| on_index).map(ToString::to_string));
        let minor = version.prefix(2);
        tell(&format!("{package} {minor} {variant} {arch}"), "status", Some(row.status.to_string()));
        if line.is_some() && !row.variant.ends_with(PLAIN) {
            tell(&format!("{package} {minor}"), "system_cuda", Some(row.system_cuda.to_string()));
        }
    }
}

/// A release asks for the same whichever variant it was built for, and is published as source for all.
fn companions(catalog: &Catalog, alike: &mut Alike<'_>) {
    for row in catalog.companions.iter() {
        let of_package = [("framework", row.framework.to_string()), ("system_cuda", row.system_cuda.to_string())];
        alike.hear("companion", row, &row.package, &of_package);
        let of_release = [
            ("needs", row.needs.to_string()),
            ("extra", told(&row.extra)),
            ("gpu_code", row.gpu_code.to_string()),
            ("sdist", row.sdist.to_string()),
        ];
        let system = row.systems.first().map_or("", |system| &**system);
        let release = format!("{} {} {system}", row.package, row.version);
        alike.hear("companion", row, &release, &[("requires", list(&row.requires))]);
        // A wheel says what it was built beside, and the source of it what it takes.
        let form = if row.source_for().is_some() { "source" } else { "wheel" };
        alike.hear("companion", row, &format!("{release} {form}"), &of_release);
        if row.variant.is_some() && row.index_url.is_none() && row.url.is_none() && !row.is_of_package_index() {
            // Files that lock files name and those of notes lie in one place.
            let source = catalog.sources.iter().find(|source| source.id == row.source);
            let place = source.map_or("", |source| &*source.at);
            alike.hear("companion", row, "wheels for variants", &[("source", place.to_string())]);
        }
    }
}

/// A library lies in a package that is named after its CUDA line.
fn libraries(catalog: &Catalog, alike: &mut Alike<'_>) {
    let named: HashMap<&str, u64> = catalog
        .sources
        .iter()
        .filter_map(|row| Some((&*row.id, row.at.rsplit_once("-cu")?.1.split(['@', '/']).next()?.parse().ok()?)))
        .collect();
    for LibraryRelease { subject, row, source, cuda, .. } in catalog.library_releases() {
        if let Some(major) = named.get(source).filter(|major| **major != cuda.major()) {
            let says = format!("`{source}` is of CUDA {major}, not {cuda}");
            (alike.say)("library-line", subject.as_str(), &Named(row), says);
        }
    }
}
