//! Tags by their names: whether one is there, and which comes nearest; and what the images of a repository tell.

use std::cmp::Reverse;

use crate::catalog::Catalog;
use crate::catalog::rows::{Image, LISTED, Os, repeated};
use crate::solve::described::Described;
use crate::solve::values::ImageRequest;
use crate::spec::ImageRef;
use crate::types::{Constraint, Version, distinct};

/// The systems whose tags were read of releases that are newer than the list of all tags: Ubuntu's.
const READ_LATER: &str = "ubuntu";

/// What a tag of a repository that the catalog knows is to it.
#[derive(Debug, Clone, Copy)]
pub enum TagMatch<'c> {
    /// A row.
    Known(&'c Image),
    /// There is no such tag.
    NotThere,
    /// There may be such a tag: not all of the repository's are known. This one comes nearest.
    Unlisted(Option<&'c Image>),
}

/// Looks up a tag of a repository that the catalog knows.
pub fn tag<'c>(catalog: &'c Catalog, repository: &str, tag: &str) -> TagMatch<'c> {
    let repository = repeated(repository);
    if let Some(row) = catalog.images.of(repository).iter().find(|row| row.tag == tag) {
        return TagMatch::Known(row);
    }
    match listed_on(catalog, repository, tag) {
        None => TagMatch::Unlisted(nearest_tag(catalog, repository, tag)),
        Some(_) => TagMatch::NotThere,
    }
}

/// An image of the catalog in the spelling of a reference that names the same repository, or a mirror of it; none if it
/// names another.
pub fn spelt(written: &ImageRef, image: &str) -> Option<String> {
    let tag = image.strip_prefix(repeated(&written.repository))?.strip_prefix(':')?;
    Some(format!("{}:{tag}", written.name()))
}

/// The day of the list that would name a tag; none where nobody has read one. A list names the tags of what was published by
/// its day; of what was published later the tags of some systems alone were read.
fn listed_on<'c>(catalog: &'c Catalog, repository: &str, tag: &str) -> Option<&'c str> {
    let repository = repeated(repository);
    let rows = || catalog.images.of(repository).iter().filter(|row| !row.arches.is_empty());
    let day = |source: &str| Some(&*catalog.source(source)?.seen);
    let sources = distinct(rows().map(|row| &*row.source));
    let listed = sources.into_iter().filter_map(day).min().filter(|_| !is_sampled(repository))?;
    let Some(release) = tag.split('-').next().and_then(|release| Version::parse(release).ok()) else {
        return Some(listed);
    };
    let published = |cuda: &Version| catalog.toolkits.iter().find(|row| row.version == *cuda)?.released;
    let is_later = |cuda: &Version| published(cuda).is_some_and(|published| *published > *listed);
    let newest = distinct(rows().map(|row| row.cuda)).into_iter().rfind(|cuda| !is_later(cuda))?;
    if release <= newest && !is_later(&release) {
        return Some(listed);
    }
    let is_of = |row: &&Image| row.cuda.cmp_prefix(&release).is_eq() && row.os.starts_with(READ_LATER);
    let is_named = tag.split('-').any(|word| word.starts_with(READ_LATER));
    rows().find(is_of).filter(|_| is_named).and_then(|row| day(&row.source))
}

/// The releases of CUDA, newest first, that a constraint admits and for which a repository may have tags for a system that
/// nobody has read, where it has others for that; where no system is told, for those of which most was read.
pub fn unread_releases(catalog: &Catalog, repository: &str, wanted: &Constraint, os: Option<&Os>) -> Vec<Version> {
    let is_of = |image: &&Image| match os {
        Some(os) => image.os == os.id || os.images.contains(&image.os),
        None => image.os.starts_with(READ_LATER),
    };
    let images = catalog.images.of(repository).iter().filter(|_| !is_sampled(repository)).filter(is_of);
    let systems = distinct(images.map(|image| &*image.os));
    let is_unread = |cuda: &Version| {
        systems.iter().any(|os| listed_on(catalog, repository, &format!("{cuda}-base-{os}")).is_none())
    };
    let releases = catalog.toolkits.iter().rev().map(|row| row.version);
    releases.filter(|cuda| wanted.admits(cuda) && is_unread(cuda)).collect()
}

/// Whether a repository is one of which no list of tags was read: so is one that an overlay alone names.
pub fn is_sampled(repository: &str) -> bool {
    !LISTED.contains(&repeated(repository))
}

/// Whether images of a repository come with a torch of their own.
pub fn holds_torch(catalog: &Catalog, repository: &str) -> bool {
    catalog.images.of(repository).iter().any(|row| row.torch.is_some())
}

/// The release of torch in an image; none of a snapshot, or a build that was published nowhere else.
pub fn published_torch(image: &Image) -> Option<&str> {
    image.torch.as_deref().filter(|torch| torch.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
}

/// The tag that can be pulled and comes nearest to one that is not there: of the nearest version one that goes on like it,
/// else the one that looks most like it; of such the newest, and of those the plainest. A tag without a number, `latest`, is
/// like none of the others: the newest tells what they look like.
pub fn nearest_tag<'c>(catalog: &'c Catalog, repository: &str, tag: &str) -> Option<&'c Image> {
    let is_alike = |row: &&Image| !row.withdrawn && is_for_jetson(&row.tag) == is_for_jetson(tag);
    let rows = catalog.images.of(repeated(repository)).iter().filter(is_alike);
    let rows: Vec<(Vec<u32>, &Image)> = rows.map(|row| (steps_between(tag, &row.tag), row)).collect();
    let nearest = rows.iter().map(|(steps, _)| steps).min()?;
    // How alike two tags look takes long to tell, and is asked of those of the nearest version only.
    let rank = |row: &&'c Image| {
        let has = |word| row.tag.split('-').any(|other| other == word);
        let unlike = match tag.split('-').skip(1).all(has) {
            true => 0,
            false => 2000 - (strsim::jaro_winkler(tag, &row.tag) * 1000.0) as u32,
        };
        let plain = (row.tag.matches('-').count(), row.flavour);
        (unlike, Reverse((numbers(&row.tag), row.cuda)), plain, Reverse(&row.tag))
    };
    rows.iter().filter(|(steps, _)| steps == nearest).map(|(_, row)| *row).min_by_key(rank)
}

/// That a repository has no such tag, as of the day of the list that would name it, and which comes nearest: that may have
/// been seen since.
pub fn missing(catalog: &Catalog, repository: &str, tag: &str) -> String {
    let listed = listed_on(catalog, repository, tag);
    let as_of = listed.map_or_else(String::new, |day| format!(" as of {day}"));
    let is_later = |near: &Image| {
        let day = catalog.source(&near.source).map(|source| &*source.seen);
        listed.is_some_and(|listed| day.is_some_and(|day| !day.starts_with(listed) && *day > *listed))
    };
    let nearest = nearest_tag(catalog, repository, tag).map_or_else(String::new, |near| {
        let seen = if is_later(near) { ", seen later," } else { "" };
        format!("; the nearest{seen} is `{}`", near.tag)
    });
    format!("{repository} has no tag `{}`{as_of}{nearest}", tag.escape_debug())
}

/// Whether a tag names an image for Jetsons, beside one for servers on the same processor, whose code is for other GPUs.
pub fn is_for_jetson(tag: &str) -> bool {
    tag.split('-').any(|word| word == "igpu")
}

/// The numbers of the version that a tag begins with.
fn numbers(tag: &str) -> Vec<u32> {
    let version = tag.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    version.split('.').filter_map(|number| number.parse().ok()).collect()
}

/// The month that a tag is named after: `23.01-py3` comes right behind `22.12-py3`.
fn month(tag: &str) -> Option<u32> {
    let (year, month) = tag.split_once('-')?.0.split_once('.')?;
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|_| digits.len() == 2);
    let month = number(month).filter(|month| (1..=12).contains(month))?;
    Some(12 * number(year)? + month)
}

/// How far apart the versions are with which two tags begin, as far as the first is written: 23.10 is nearer to 23.09 than
/// to 25.10.
fn steps_between(written: &str, other: &str) -> Vec<u32> {
    if let (Some(written), Some(other)) = (month(written), month(other)) {
        return vec![written.abs_diff(other)];
    }
    let other = numbers(other);
    let number = |at: usize| other.get(at).copied().unwrap_or_default();
    numbers(written).into_iter().enumerate().map(|(at, step)| step.abs_diff(number(at))).collect()
}

/// The oldest GPU of a machine, where some image that it may take tells from which on it supports them. What it tells is of
/// servers: of a Jetson its system decides.
pub fn oldest_gpu(catalog: &Catalog, machine: &Described<'_>) -> Option<Version> {
    let tells = match &machine.reading.image {
        ImageRequest::Known(image) => image.least_gpu.is_some(),
        ImageRequest::Choose(repository) => catalog.images.of(repository).iter().any(|image| image.least_gpu.is_some()),
        _ => false,
    };
    machine.kinds.iter().map(|kind| kind.gpu.cc_version).min().filter(|_| tells && !machine.reading.gpus.are_jetsons())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_tag_is_the_one_of_the_nearest_version() {
        assert!(steps_between("23.10-py3", "23.09-py3") < steps_between("23.10-py3", "25.10-py3"));
        assert!(steps_between("12.4.9-base", "12.4.1-base") < steps_between("12.4.9-base", "12.5.1-base"));
        assert_eq!(steps_between("12.4", "12.4.1-devel"), [0, 0]);
        assert!(steps_between("22.12-py3", "23.01-py3") < steps_between("22.12-py3", "23.12-py3"));
        let near = nearest_tag(&crate::catalog::BUILTIN, "nvidia/cuda", "12.4.9-devel-ubuntu22.04");
        assert_eq!(near.map(|row| &*row.tag), Some("12.4.1-devel-ubuntu22.04"));
        for (written, meant) in [
            ("12.4-base", "12.4.1-base-ubuntu22.04"),
            ("12.4.1-base-ubuntu-22.04", "12.4.1-base-ubuntu22.04"),
            ("12.4.1-ubuntu22.04", "12.4.1-base-ubuntu22.04"),
        ] {
            let near = nearest_tag(&crate::catalog::BUILTIN, "nvidia/cuda", written);
            assert_eq!(near.map(|row| &*row.tag), Some(meant), "{written}");
        }
    }

    #[test]
    fn a_tag_that_was_seen_after_the_list_is_told_so() {
        let said = |tag: &str| missing(&crate::catalog::BUILTIN, "nvidia/cuda", tag);
        assert!(said("nope").starts_with("nvidia/cuda has no tag `nope` as of 2025-12; the nearest, seen later, is `"));
        assert!(said("12.4.9-base-ubuntu22.04").contains(" as of 2025-12; the nearest is `12.4.1-"));
    }

    #[test]
    fn what_was_published_after_the_list_is_known_of_ubuntu_alone() {
        let is_listed = |tag: &str| listed_on(&crate::catalog::BUILTIN, "nvidia/cuda", tag).is_some();
        for tag in ["12.4.9-base-rockylinux8", "13.1.0-base-debian12", "13.2.1-base-ubuntu20.04", "latest"] {
            assert!(is_listed(tag), "{tag}");
        }
        for tag in
            ["13.2.0-devel-rockylinux8", "13.0.3-devel-rockylinux9", "12.8.2-base-ubi9", "13.5.0-base-ubuntu24.04"]
        {
            assert!(!is_listed(tag), "{tag}");
        }
    }
}
