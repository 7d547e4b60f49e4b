//! The values that a key can take instead of the one written, the nearest first.

use std::cmp::Reverse;
use std::rc::Rc;

use crate::catalog::OsMatch;
use crate::catalog::rows::{FRAMEWORKS, Image, Os, repeated};
use crate::solve::image;
use crate::types::{Version, distinct, first, sort_by_key};

use super::Finder;
use crate::explain::target_of;
use crate::types::variant::line_of;

/// The distribution of a system and its release: `ubuntu` and 22.04.
fn family(id: &str) -> (&str, Option<Version>) {
    let family = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    (family, Version::parse(&id[family.len()..]).ok())
}

/// How many releases on either side of the one written are tried.
const NEIGHBOURS: usize = 4;

/// How many tags of a repository are tried.
const TAGS: usize = 24;

impl<'c> Finder<'_, 'c> {
    /// Newer releases of the same system first, oldest of them first; then the newest of others; what is out of support
    /// only after these. A Jetson runs only what comes with a driver for it, rather that with the C library of the system
    /// written.
    pub(super) fn other_systems(&self, key: &str) -> Vec<String> {
        let written = self.written(key).unwrap_or_default();
        // `centos7` is the RHEL 7 of the catalog, and RHEL 8 is what comes after it.
        let (written, glibc) = match self.asker.catalog.os(&written) {
            OsMatch::Found(os) => (os.id.to_string(), os.glibc),
            _ => (written, None),
        };
        let (own, release) = family(&written);
        // To compile on a system whose compiler nobody has read would be no way out that is known.
        let builds = self.spec.build.as_ref().is_some_and(|build| build.cuda_extensions);
        let is_known = |os: &&Os| !builds || os.gcc.is_some();
        let usable = self.asker.catalog.oses.iter().filter(|os| os.refused.is_none()).filter(is_known);
        let mut same: Vec<(Option<Version>, &str)> = Vec::new();
        let mut ubuntu: Vec<&str> = Vec::new();
        for os in usable {
            match family(&os.id) {
                (of, release) if of == own => same.push((release, &os.id)),
                ("ubuntu", _) => ubuntu.push(&os.id),
                _ => {}
            }
        }
        same.sort_unstable();
        let (older, newer): (Vec<_>, Vec<_>) = same.into_iter().partition(|(of, _)| *of <= release);
        let same = newer.into_iter().chain(older.into_iter().rev()).map(|(_, id)| id);
        let mut others = ubuntu;
        let asked = self.asker.base();
        if asked.is_some_and(|asked| asked.target(target_of(key)).is_some_and(|target| target.is_jetson())) {
            let own: Vec<&Os> = self.asker.catalog.oses.iter().filter(|os| os.cuda.is_some()).collect();
            others = first(own, |os| os.glibc != glibc).into_iter().map(|os| &*os.id).collect();
        }
        let mut systems: Vec<&str> = same.chain(others.into_iter().rev()).collect();
        // Of those without support the ones that images are made of were supported for years.
        let standing = |id: &str| match self.asker.catalog.oses.iter().find(|os| os.id == id) {
            Some(os) if self.has_ended(os) => 1 + u8::from(os.images.is_empty()),
            _ => 0,
        };
        sort_by_key(&mut systems, |id| standing(id));
        systems.into_iter().map(str::to_string).collect()
    }

    fn has_ended(&self, os: &Os) -> bool {
        os.eol.as_ref().is_some_and(|end| self.asker.catalog.has_ended(end))
    }

    /// The C libraries of known systems, nearest first.
    pub(super) fn other_glibcs(&self, key: &str) -> Vec<String> {
        let Some(written) = self.written(key).and_then(|text| Version::parse(&text).ok()) else { return Vec::new() };
        let known = distinct(self.asker.catalog.oses.iter().filter_map(|os| os.glibc));
        let (older, newer): (Vec<Version>, Vec<Version>) = known.into_iter().partition(|version| *version < written);
        newer.into_iter().chain(older.into_iter().rev()).map(|version| version.to_string()).collect()
    }

    /// Toolkit lines: that of the wheels if the spec names it, then those just above what is written, then those
    /// below; of a line that is not known, those of its major first.
    pub(super) fn other_toolkits(&self, key: &str) -> Vec<String> {
        let target = self.spec.target(target_of(key));
        let written = target.and_then(|target| target.toolkit.as_ref()).and_then(|written| written.value.iter().max());
        let mut lines: Vec<Version> = self.asker.catalog.toolkits.iter().map(|row| row.version.prefix(2)).collect();
        lines.dedup();
        let unseen = written.filter(|written| !lines.contains(&written.prefix(2)));
        let (below, above): (Vec<Version>, Vec<Version>) = lines.into_iter().partition(|line| Some(line) < written);
        let of_wheels = self.written_line().filter(|line| above.contains(line) || below.contains(line));
        let mut near: Vec<Version> = of_wheels.into_iter().chain(above).chain(below.into_iter().rev()).collect();
        sort_by_key(&mut near, |line| unseen.is_some_and(|unseen| unseen.major() != line.major()));
        near.iter().map(Version::to_string).collect()
    }

    /// Tags of a repository: the one that is told to come nearest, then those most like it: of the same system, the same
    /// flavour, with cuDNN if it had it, of its CUDA line, and of the nearest CUDA, newer before older; where that says
    /// nothing, those spelt most alike. Another release of a distribution is nearer than another distribution.
    pub(super) fn other_tags(&self, repository: &str, tag: &str) -> Rc<[&'c str]> {
        self.tags.get((repository.to_string(), tag.to_string()), || self.tags_like(repository, tag))
    }

    fn tags_like(&self, repository: &str, tag: &str) -> Vec<&'c str> {
        let words: Vec<&str> = tag.split('-').collect();
        // Tags of images that hold a framework begin with its release, or with their own.
        let wish = words.first().and_then(|word| Version::parse(word).ok());
        let wish = wish.filter(|_| !image::holds_torch(self.asker.catalog, repository));
        let cudnn = words.iter().any(|word| word.starts_with("cudnn"));
        let images = self.asker.catalog.images.of(repeated(repository)).iter();
        let system = |row: &'c Image| self.asker.catalog.os_of_image(row).map_or((&*row.os, None), |os| family(&os.id));
        let written = images.clone().find(|row| words.contains(&&*row.os)).map(system);
        let alike = |row: &'c Image| {
            let has = |word: &str| words.contains(&word);
            let (family, release) = system(row);
            let of = written.filter(|(of, _)| *of == family);
            let unlike = [!has(&row.os), of.is_none(), !has(row.flavour.as_str()), cudnn != row.cudnn.is_some()];
            let unlike = unlike.into_iter().filter(|unlike| *unlike).count();
            let major = wish.as_ref().map_or(0, |wish| wish.major().abs_diff(row.cuda.major()));
            // Of newer ones the oldest is the nearest, of older ones the newest.
            let newer = wish.as_ref().filter(|wish| row.cuda >= **wish).map(|_| row.cuda);
            let older = newer.is_none().then_some(Reverse(row.cuda));
            let other_line = wish.as_ref().is_some_and(|wish| row.cuda.cmp_prefix(&wish.prefix(2)).is_ne());
            let releases = of.and_then(|(_, of)| of).zip(release);
            let apart = releases.map(|(one, other)| one.major().abs_diff(other.major()));
            (unlike, major, other_line, newer.is_none(), newer, older, apart)
        };
        let images = images.filter(|row| !row.withdrawn);
        let mut rows: Vec<(_, &'c Image)> = images.map(|row| (alike(row), row)).collect();
        rows.sort_unstable_by_key(|(alike, _)| *alike);
        // How alike two tags are spelt takes long to tell, and is asked of those only that may be tried.
        if let Some(last) = rows.get(TAGS).map(|(alike, _)| *alike) {
            rows.truncate(rows.partition_point(|(alike, _)| *alike <= last));
        }
        let spelt = |row: &Image| (strsim::jaro_winkler(tag, &row.tag) * 1e6) as u64;
        rows.sort_by_cached_key(|(alike, row)| (*alike, Reverse(spelt(row)), &*row.tag));
        let nearest = image::nearest_tag(self.asker.catalog, repository, tag);
        let others = rows.into_iter().map(|(_, row)| row);
        let others = others.filter(|row| nearest.is_none_or(|nearest| nearest.tag != row.tag));
        nearest.into_iter().chain(others).take(TAGS).map(|row| &*row.tag).collect()
    }

    /// The CUDA line of the variant that the stack names.
    fn written_line(&self) -> Option<Version> {
        let written = FRAMEWORKS.iter().filter_map(|package| self.written(&format!("stack.{package}")));
        written.filter_map(|text| line_of(text.split_once('+')?.1.trim())).next()
    }

    /// The newest toolkit that a clashing target says it has.
    fn installed_line(&self) -> Option<Version> {
        let installed = self.spec.targets.iter().filter_map(|target| target.toolkit.as_ref());
        installed.flat_map(|toolkits| &toolkits.value).max().map(|version| version.prefix(2))
    }

    /// The other variants of a package, nearest to the toolkit it is to be built with; else to the one written,
    /// older lines first.
    pub(super) fn other_variants(&self, package: &str, written: &str) -> Vec<String> {
        let builds = self.asker.catalog.builds.of(package).iter();
        let lines = distinct(builds.filter_map(|row| Some((row.line()?, &*row.variant))));
        let toolkit = self.installed_line().filter(|_| self.spec.build.is_some());
        let (older, newer): (Vec<_>, Vec<_>) = match &toolkit {
            Some(toolkit) => lines.into_iter().partition(|(line, _)| line <= toolkit),
            None => {
                let wanted = line_of(written);
                lines.into_iter().partition(|(line, _)| Some(line) < wanted.as_ref())
            }
        };
        let major = |line: &Version| toolkit.as_ref().is_some_and(|toolkit| toolkit.major() != line.major());
        let mut nearest: Vec<(Version, &str)> = older.into_iter().rev().chain(newer).collect();
        sort_by_key(&mut nearest, |(line, _)| major(line));
        nearest.into_iter().map(|(_, variant)| variant.to_string()).filter(|variant| variant != written).collect()
    }

    /// The compilers of known systems, nearest to the one that a target has, newer before older.
    pub(super) fn other_compilers(&self, target: &str) -> Vec<String> {
        let request = self.asker.base();
        let asked = request.as_ref().and_then(|request| request.target(target));
        let Some(own) = asked.and_then(|asked| asked.compiler()) else { return Vec::new() };
        let of_systems = self.asker.catalog.oses.iter().filter_map(|os| os.gcc.as_ref());
        let majors = distinct(of_systems.map(Version::major).filter(|major| *major != own.major()));
        let (older, newer): (Vec<u64>, Vec<u64>) = majors.into_iter().partition(|major| *major < own.major());
        newer.into_iter().chain(older.into_iter().rev()).map(|major| major.to_string()).collect()
    }

    /// The clangs below the one that a target has, newest first: what some nvcc takes at most.
    pub(super) fn other_clangs(&self, key: &str) -> Vec<String> {
        let own = self.written(key).and_then(|text| Version::parse(&text).ok());
        let limits = self.asker.catalog.toolkits.iter().filter_map(|row| row.clang_max.as_ref()).map(Version::major);
        let majors = distinct(limits.filter(|most| own.is_some_and(|own| *most < own.major())));
        majors.into_iter().rev().map(|major| major.to_string()).collect()
    }

    /// The cuDNN releases above the one that is written, nearest first, then those below.
    pub(super) fn newer_cudnns(&self, key: &str) -> Vec<String> {
        let (newer, older) = self.other_cudnns(key, |version| version.prefix(3));
        newer.into_iter().chain(older).map(|version| version.to_string()).collect()
    }

    /// A few of them on either side: a framework takes one of its own, or any from some release on.
    pub(super) fn near_cudnns(&self, key: &str) -> Vec<String> {
        let (newer, older) = self.other_cudnns(key, |version| *version);
        let near = newer.into_iter().take(NEIGHBOURS).chain(older.into_iter().take(NEIGHBOURS));
        near.map(|version| version.to_string()).collect()
    }

    /// The cuDNN releases above and below the one that is written, each nearest first.
    fn other_cudnns(&self, key: &str, as_told: fn(&Version) -> Version) -> (Vec<Version>, Vec<Version>) {
        let Some(own) = self.written(key).and_then(|text| Version::parse(&text).ok()) else {
            return Default::default();
        };
        let mut versions: Vec<Version> = self.asker.catalog.cudnns.iter().map(|row| as_told(&row.version)).collect();
        versions.retain(|version| version.cmp_prefix(&own).is_ne());
        versions.sort_unstable();
        versions.dedup();
        let (newer, mut older): (Vec<Version>, Vec<Version>) = versions.into_iter().partition(|version| *version > own);
        older.reverse();
        (newer, older)
    }

    /// Every version of a package that the catalog knows, ascending.
    pub(super) fn known_versions(&self, package: &str) -> Vec<Version> {
        let catalog = self.asker.catalog;
        let mut versions: Vec<Version> = match package {
            "python" => catalog.pythons.iter().filter(|row| row.stable).map(|row| row.version).collect(),
            _ => {
                let builds = catalog.builds.of(package).iter().map(|row| row.version);
                let companions = catalog.companions.of(package).iter();
                builds.chain(companions.map(|row| row.version)).collect()
            }
        };
        versions.sort_unstable();
        versions.dedup();
        versions
    }
}
