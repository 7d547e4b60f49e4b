//! What publishers' practices tell of properties that nobody has read: a build is expected to have what the others of its
//! group have. That a build exists is never expected, nor that what it would come with was published for its processor.

use std::collections::BTreeMap;

use super::rows::*;
use super::tables::Catalog;
use crate::types::{CpuArch, Version, distinct};

impl Catalog {
    /// Fills in what practices tell, and marks it as expected. What a practice says rests on what is known alone, not on
    /// what another one made of it.
    pub fn expect(&mut self) {
        let known = self.builds.clone();
        let (practices, tritons) = (self.practices.clone(), self.companions.of(TRITON).to_vec());
        for practice in practices.iter() {
            let mut groups: BTreeMap<String, Vec<&Build>> = BTreeMap::new();
            for build in known.iter().filter(|build| is_about(practice, build)) {
                groups.entry(group(build, practice.among)).or_default().push(build);
            }
            for build in self.builds.to_mut().iter_mut().filter(|build| is_about(practice, build)) {
                let group = group(build, practice.among);
                if practice.exceptions.iter().all(|exception| **exception != *group) {
                    expect(build, practice.property, &groups[&group], &tritons);
                }
            }
        }
    }

    /// The practice by which a build is expected to have a property: the first whose group tells of it. A nightly has what
    /// the release has that it precedes.
    pub fn practice_of(&self, build: &Build, property: Property) -> Option<&Practice> {
        let build = &Build { version: build.version.prefix(build.version.len()), ..build.clone() };
        let tells = |practice: &Practice, other: &Build| match property {
            Property::Pythons => build.expected_pythons.iter().any(|line| other.pythons.contains(line)),
            _ => told(other, property).is_some() && of_one_group(other, build, practice.among),
        };
        let mut of_property = self.practices.iter().filter(|practice| practice.property == property);
        of_property.find(|practice| {
            let mut others = self.builds.of(&practice.package).iter().filter(|other| is_about(practice, other));
            practice.package == build.package && others.any(|other| tells(practice, other))
        })
    }
}

/// Whether a practice speaks of a build: in-house builds and those for one system follow none.
fn is_about(practice: &Practice, build: &Build) -> bool {
    build.package == practice.package && build.systems.is_empty() && build.index_url.is_none()
}

/// Whether a library that is installed with a build was published for its processor, as far as is known.
fn is_published(property: Property, version: &Version, arch: CpuArch, tritons: &[Companion]) -> bool {
    let is_it = |row: &&Companion| property == Property::Triton && row.version == *version;
    let mut wheels = tritons.iter().filter(is_it).peekable();
    wheels.peek().is_none() || wheels.any(|row| row.is_for_arch(arch))
}

/// What a build is expected to have, if nobody has read it and all others of its group agree.
fn expect(build: &mut Build, property: Property, group: &[&Build], tritons: &[Companion]) {
    if property == Property::Pythons {
        return expect_pythons(build, group);
    }
    let mut values: Vec<Version> = group.iter().filter_map(|other| told(other, property)).collect();
    values.dedup();
    let [value] = values.as_slice() else { return };
    if !is_published(property, value, build.arch, tritons) {
        return;
    }
    let is_cpu = build.is_cpu();
    let place = match property {
        Property::Pythons => return,
        Property::Toolkit => &mut build.toolkit,
        Property::Cudnn => &mut build.cudnn,
        Property::Nccl => &mut build.nccl,
        Property::Triton => &mut build.triton,
    };
    if place.is_none() && !is_cpu {
        *place = Some(*value);
        build.expected = more_expected(build, property);
    }
}

/// Every Python that some build of a group was seen with.
fn expect_pythons(build: &mut Build, group: &[&Build]) {
    if !build.pythons_partial {
        return;
    }
    let mut more = distinct(group.iter().flat_map(|other| other.pythons.iter().copied()));
    more.retain(|line| !build.pythons.contains(line));
    if !more.is_empty() {
        build.expected_pythons = more.into();
        build.expected = more_expected(build, Property::Pythons);
    }
}

/// The library that a build is known to come with.
pub(super) fn told(build: &Build, property: Property) -> Option<Version> {
    // What a practice tells is no ground for one.
    build.part(property.as_str()).copied().filter(|_| !build.is_cpu() && !build.expected.contains(&property))
}

/// Whether two builds belong to the same group, as [`group`] tells it, without writing out its name for each of a package's builds.
fn of_one_group(one: &Build, other: &Build, among: Among) -> bool {
    let same_variant = one.variant == other.variant;
    match among {
        Among::Variants => one.arch == other.arch && one.version == other.version,
        Among::Processors => same_variant && one.version == other.version,
        Among::Patches => {
            same_variant && one.arch == other.arch && one.version.cmp_prefix(&other.version.prefix(2)).is_eq()
        }
    }
}

/// The group that a build belongs to, as practices name it.
pub(super) fn group(build: &Build, among: Among) -> String {
    let Build { version, variant, arch, .. } = build;
    match among {
        Among::Variants => format!("{version} {arch}"),
        Among::Processors => format!("{version} {variant}"),
        Among::Patches => format!("{} {variant} {arch}", version.prefix(2)),
    }
}

fn more_expected(build: &Build, property: Property) -> List<Property> {
    build.expected.iter().copied().chain([property]).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    #[test]
    fn a_property_is_expected_by_the_practice_that_tells_of_it() {
        let is_it =
            |row: &&Build| row.version.as_str() == "2.4.0" && row.arch == CpuArch::Aarch64 && row.variant == "cu124";
        let build = BUILTIN.builds.iter().find(is_it).expect("it was seen");
        let practice = BUILTIN.practice_of(build, Property::Nccl).map(|practice| &*practice.id);
        assert_eq!(practice, Some("torch-processors-nccl"));
        assert!(build.triton.is_none(), "its triton was published for x86_64 only");
    }

    #[test]
    fn builds_are_of_one_group_where_it_has_one_name() {
        for practice in BUILTIN.practices.iter() {
            let builds = BUILTIN.builds.of(&practice.package).iter().filter(|build| is_about(practice, build));
            let named: Vec<(&Build, String)> = builds.map(|build| (build, group(build, practice.among))).collect();
            for (one, name) in named.iter().step_by(5) {
                let mut others = named.iter();
                let differs = others.find(|(other, of)| of_one_group(one, other, practice.among) != (of == name));
                assert!(differs.is_none(), "{}: {name}, {differs:?}", practice.id);
            }
        }
    }
}
