//! The operating system of a target: one of the catalog's, or what a name in another spelling means.

use crate::catalog::rows::Os;
use crate::catalog::{OsMatch, OsName};
use crate::solve::reading::Judged;
use crate::spec::{Target, Written};
use crate::types::Version;
use crate::types::plain::shorten;
use crate::warning::{NewerThanCatalog, OsNotListed, OsPartsUnknown};

use super::reader::Reader;
use crate::solve::values::ImageRequest;

/// So many letters differ where a name was mistyped.
const MOST_SLIPS: usize = 2;

impl<'c> Reader<'_, 'c> {
    /// The system that the name of an image tells, of whose repository nothing else is known.
    pub(super) fn named_by(&self, image: &ImageRequest<'_>) -> Option<&'c Os> {
        let ImageRequest::Unchecked(image) = image else { return None };
        self.catalog.os_named_by(&image.repository, image.tag.as_deref())
    }

    /// The system whose C library and compiler are used: that of the image on a board, whose own lies beneath it.
    pub(super) fn within(&self, os: Option<&'c Os>, image: &ImageRequest<'c>) -> Option<&'c Os> {
        match image {
            _ if !os.is_some_and(Os::is_beneath_images) => os,
            ImageRequest::No => os,
            ImageRequest::Known(image) => self.catalog.os_of_image(image),
            image => self.named_by(image),
        }
    }

    /// Toolkits and a gcc that the catalog does not have, where nothing is compiled that would be held against them.
    pub(super) fn unlisted_compilers(&mut self, target: &Target) {
        let toolkits = &self.catalog.toolkits;
        for written in target.toolkit.iter().flat_map(|written| &written.value) {
            let is_known = toolkits.iter().any(|row| row.version.cmp_prefix(written).is_eq());
            let newest = toolkits.last().map(|row| row.version).filter(|_| !is_known);
            self.taken_as_written(target, ("toolkit", "CUDA toolkit"), written, newest);
        }
        let gccs =
            toolkits.iter().filter_map(|row| row.gcc_max).chain(self.catalog.oses.iter().filter_map(|os| os.gcc));
        if let (Some(written), Some(newest)) = (&target.gcc, gccs.max()) {
            let is_newer = written.value.major() > newest.major();
            self.taken_as_written(target, ("gcc", "gcc"), &written.value, Some(newest).filter(|_| is_newer));
        }
    }

    /// Warns of a number that nobody is known to have; `newest` is the newest that is known, none where it is known itself.
    pub(super) fn taken_as_written(
        &mut self,
        target: &Target,
        (key, what): (&str, &str),
        version: &Version,
        newest: Option<Version>,
    ) {
        let Some(nearest) = &newest else { return };
        let unlisted = NewerThanCatalog { what, version, nearest, is_compared: true };
        self.warn(&unlisted, format!("target.{}.{key}", target.name));
    }

    pub(super) fn os(
        &mut self,
        target: &Target,
        written: &Written<String>,
        image: &ImageRequest<'_>,
    ) -> Option<&'c Os> {
        if let OsMatch::Found(os) = self.catalog.os(&written.value) {
            self.refused_os(target, os, written);
            let differs = |inside: &&Os| (inside.musl, inside.glibc) != (os.musl, os.glibc) && !os.is_beneath_images();
            if let Some(inside) = self.named_by(image).filter(differs).filter(|_| os.refused.is_none()) {
                let message = format!("`os` says {}, and the image is {}", os.name, inside.name);
                let help = format!("write `os = \"{}\"`, or leave `os` out: it is that of the container", inside.id);
                self.error("exclusive", message, Some(help), written);
            }
            return Some(os);
        }
        let plain = written.value.to_lowercase().replace(['-', '_', ' ', ':'], "");
        let named = match self.catalog.os(&plain) {
            OsMatch::Found(os) => match self.catalog.os_named(&written.value) {
                OsName::Spelling(spelling, same) if same.id == os.id => OsName::Spelling(os.as_called(spelling), os),
                _ => OsName::Spelling(&os.id, os),
            },
            OsMatch::Unknown(_) => match self.numbered(&plain) {
                several if several.is_empty() => self.catalog.os_named(&written.value),
                several => OsName::Several(several),
            },
        };
        // A known system in another spelling is a slip, not a system that nobody knows.
        let help = match named {
            OsName::Spelling(_, os) if os.refused.is_some() => {
                self.refused_os(target, os, written);
                return Some(os);
            }
            OsName::Spelling(spelling, os) => match os.as_called(spelling) == &*os.id {
                true => format!("did you mean `{spelling}`?"),
                false => format!("did you mean `{spelling}`? It is judged as {}", os.name),
            },
            OsName::Several(releases) => match releases.as_slice() {
                [only] => format!("did you mean `{only}`?"),
                all => {
                    let all: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
                    format!("name its release: {}", shorten(&all, 5))
                }
            },
            OsName::Relative(os) | OsName::Older(os) => return self.not_listed(target, written, Some(os)),
            OsName::Stranger => return self.not_listed(target, written, None),
        };
        self.error("unknown-os", format!("unknown os `{}`", written.value.escape_debug()), Some(help), written);
        None
    }

    /// What is that of a relative which stands for a system that the catalog does not list.
    pub(super) fn judged(&self, target: &Target, os: Option<&Os>) -> Judged {
        let is_listed = |written: &Written<String>| matches!(self.catalog.os(&written.value), OsMatch::Found(_));
        match target.os.as_ref().zip(os).filter(|(written, os)| os.refused.is_none() && !is_listed(written)) {
            Some((written, os)) => Judged {
                glibc: os.glibc.is_some() && target.glibc.is_none(),
                gcc: os.gcc.is_some() && target.gcc.is_none(),
                newer: os.boards.is_empty() && matches!(self.catalog.os_named(&written.value), OsName::Older(_)),
                jetpack: !os.boards.is_empty() && !is_before(&written.value, &os.id),
            },
            None => Judged::default(),
        }
    }

    /// The systems of which a number alone, `22.04`, may be the release.
    fn numbered(&self, number: &str) -> Vec<&'c str> {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        let of_number = |os: &&Os| is_number && os.id.strip_suffix(number).is_some_and(is_name);
        self.catalog.oses.iter().filter(of_number).map(|os| &*os.id).collect()
    }

    /// A system that the catalog lacks is judged as its nearest relative, if it has one.
    fn not_listed(&mut self, target: &Target, written: &Written<String>, nearest: Option<&'c Os>) -> Option<&'c Os> {
        let name = written.value.escape_debug().to_string();
        let lower = written.value.to_lowercase();
        let near = self.catalog.oses.iter().filter(|os| os.id.len().abs_diff(lower.len()) <= MOST_SLIPS);
        let slips = near.map(|os| (strsim::damerau_levenshtein(&os.id, &lower), &*os.id));
        let meant = slips.min_by_key(|(slips, _)| *slips).filter(|(slips, _)| *slips <= MOST_SLIPS).map(|(_, id)| id);
        let not_listed = OsNotListed { os: &name, nearest: nearest.map(|os| &*os.id), meant };
        self.warn(&not_listed, format!("target.{}.os", target.name));
        nearest
    }

    /// What nobody has read of a system that the catalog lists is not checked, and that is said.
    pub(super) fn unknown_parts(&mut self, target: &Target, os: &Os, parts: &[(&str, bool)]) {
        let unknown: Vec<&str> = parts.iter().filter(|(_, unknown)| *unknown).map(|(part, _)| *part).collect();
        if !unknown.is_empty() {
            self.warn(&OsPartsUnknown { os: &os.name, parts: &unknown }, format!("target.{}.os", target.name));
        }
    }
}

/// Whether the number behind one system's name is below that behind another's: it holds nothing that came later.
fn is_before(one: &str, other: &str) -> bool {
    let number = |name: &str| Version::parse(name.trim_start_matches(|c: char| !c.is_ascii_digit())).ok();
    number(one).zip(number(other)).is_some_and(|(one, other)| one < other)
}
