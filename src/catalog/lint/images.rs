//! Image tags, and what images ask of the driver.

use std::collections::HashSet;

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::Say;
use crate::types::{Requirement, Version, address};

/// The repository whose tags say what is inside.
pub(super) const TELLING: &str = "nvidia/cuda";

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    let requires: HashSet<&str> = catalog.image_requires.iter().map(|row| &*row.id).collect();
    let systems: HashSet<&str> = catalog.oses.iter().flat_map(|row| row.images.iter().map(|tag| &**tag)).collect();
    let toolkits: HashSet<Version> =
        catalog.toolkits.iter().flat_map(|row| [row.version, row.version.prefix(2)]).collect();
    let mut asked: HashSet<&str> = HashSet::new();
    for row in catalog.images.iter() {
        let name = Named(row);
        if !address::is_repository(&row.repository) || !address::is_tag(&row.tag) {
            say("image-name", "image", &name, "no registry takes this repository or tag".into());
        }
        if let Some(plain) = row.repository.strip_prefix("docker.io/") {
            say("image-name", "image", &name, format!("write `{plain}`: specs are read without `docker.io/`"));
        }
        for arch in row.arches.iter() {
            let wanted = row.require.as_ref().map(|id| format!("{id}@{arch}"));
            match wanted.as_ref().map(|id| (id, requires.get(id.as_str()))) {
                Some((id, None)) => {
                    say("unknown-require", "image", &name, format!("image_require `{id}` does not exist"));
                }
                Some((_, Some(known))) => {
                    asked.insert(known);
                }
                None => {}
            }
        }
        if row.repository == TELLING {
            tag(row, say);
        }
        torch(row, say);
        if row.holds.is_empty() == row.holds_source.is_some() || !row.holds.is_empty() && row.torch.is_none() {
            say("belongs-together", "image", &name, "holds, holds_source and torch belong together".into());
        }
        if row.least_gpu.is_some() != row.least_gpu_source.is_some() {
            say("belongs-together", "image", &name, "least_gpu and least_gpu_source belong together".into());
        }
        // What can no longer be pulled may be older than every table.
        if row.withdrawn {
            continue;
        }
        if !toolkits.contains(&row.cuda) {
            say("image-cuda", "image", &name, format!("no toolkit is of CUDA {}", row.cuda));
        }
        if !systems.contains(&*row.os) {
            let says = format!("`{}` is in no `images` list of an `os` row", row.os);
            say("image-os", "image", &name, says);
        }
        cudnn(catalog, row, say);
    }
    requirements(catalog, &asked, say);
}

/// A tag agrees with the row's fields.
fn tag(row: &Image, say: Say<'_>) {
    let name = Named(row);
    let parts: Vec<&str> = row.tag.split('-').collect();
    let cudnn = parts.iter().find_map(|part| part.strip_prefix("cudnn"));
    let agrees = [
        (parts.first() == Some(&row.cuda.as_str()), "cuda"),
        (parts.contains(&row.flavour.as_str()), "flavour"),
        (row.tag.ends_with(&format!("-{}", row.os)), "os"),
        (cudnn.is_some() == row.cudnn.is_some(), "cudnn"),
    ];
    for (_, field) in agrees.iter().filter(|(agrees, _)| !agrees) {
        say("image-tag", "image", &name, format!("the tag says another `{field}` than the row"));
    }
    let major = cudnn.and_then(|major| major.parse::<u64>().ok());
    let inside = row.cudnn.as_ref().map(Version::major).filter(|inside| *inside > 0);
    if major.zip(inside).is_some_and(|(major, inside)| major != inside) {
        say("image-tag", "image", &name, "the tag says another major of cuDNN than the row".into());
    }
}

/// A torch inside is a version, and a tag that begins with a release says which and for which CUDA.
fn torch(row: &Image, say: Say<'_>) {
    let Some(inside) = &row.torch else { return };
    if Version::parse(inside.split('+').next().unwrap_or_default()).is_err() {
        say("image-torch", "image", &Named(row), format!("torch `{inside}` is not a version"));
    }
    let line = format!("-cuda{}-", row.cuda.prefix(2));
    let told = row.tag.contains("-cuda");
    let agrees = row.tag.starts_with(&format!("{inside}-"))
        && row.tag.contains(&line)
        && row.tag.ends_with(&format!("-{}", row.flavour.as_str()));
    if told && !agrees {
        say("image-torch", "image", &Named(row), "the tag says another torch, CUDA or flavour than the row".into());
    }
}

/// The cuDNN inside is known for that CUDA; of one of unknown version there is nothing to know.
fn cudnn(catalog: &Catalog, row: &Image, say: Say<'_>) {
    let Some(inside) = row.cudnn.as_ref().filter(|inside| inside.major() > 0) else { return };
    let known = |one: &Cudnn| one.version == *inside && row.cuda.cmp_prefix(&one.cuda).is_eq();
    if !catalog.cudnns.iter().any(known) {
        let says = format!("cuDNN {inside} for CUDA {} does not exist", row.cuda);
        say("unknown-cudnn", "image", &Named(row), says);
    }
}

fn requirements(catalog: &Catalog, asked: &HashSet<&str>, say: Say<'_>) {
    for row in catalog.image_requires.iter() {
        let name = Named(row);
        if !asked.contains(&*row.id) {
            say("unused-require", "image_require", &name, "no image asks it".into());
        }
        if let Some(unreadable) = Requirement::parse(&row.require).unreadable() {
            say("require-grammar", "image_require", &name, unreadable.to_string());
        }
        // `12.4.1@x86_64` asks for the CUDA line it is named after.
        let line = row.id.split(['@', '-']).next().and_then(|id| Version::parse(id).ok());
        let first = row.require.split([' ', ',']).next().and_then(|first| first.strip_prefix("cuda>="));
        if let (Some(line), Some(first)) = (line, first.and_then(|first| Version::parse(first).ok()))
            && first.prefix(2) != line.prefix(2)
        {
            say("require-line", "image_require", &name, format!("asks for CUDA {first}, but is named after {line}"));
        }
    }
}
