//! What publishers' practices tell of properties that nobody has read: a build is expected to have what the others of its
//! group have. That a build exists is never expected.

use std::collections::BTreeMap;

use super::rows::*;
use super::tables::Catalog;
use crate::types::Version;

impl Catalog {
    /// Fills in what practices tell, and marks it as expected. What a practice says rests on what is known alone, not on
    /// what another one made of it.
    pub fn expect(&mut self) {
        let known = self.builds.clone();
        let practices = self.practices.clone();
        for practice in practices.iter() {
            let of_package = |build: &&Build| {
                build.package == practice.package && build.systems.is_empty() && build.index_url.is_none()
            };
            let mut groups: BTreeMap<String, Vec<&Build>> = BTreeMap::new();
            for build in known.iter().filter(of_package) {
                groups.entry(group(build, practice.among)).or_default().push(build);
            }
            for build in self.builds.to_mut().iter_mut().filter(|build| of_package(&&**build)) {
                let group = group(build, practice.among);
                if practice.exceptions.iter().all(|exception| **exception != *group) {
                    expect(build, practice.property, &groups[&group]);
                }
            }
        }
    }
}

/// What a build is expected to have, if nobody has read it and all others of its group agree.
fn expect(build: &mut Build, property: Property, group: &[&Build]) {
    if property == Property::Pythons {
        return expect_pythons(build, group);
    }
    let mut values: Vec<Version> = group.iter().filter_map(|other| told(other, property)).collect();
    values.dedup();
    let [value] = values.as_slice() else { return };
    let place = match property {
        Property::Pythons => return,
        Property::Toolkit => &mut build.toolkit,
        Property::Cudnn => &mut build.cudnn,
        Property::Nccl => &mut build.nccl,
        Property::Triton => &mut build.triton,
    };
    if place.is_none() && build.variant != "cpu" {
        *place = Some(*value);
        build.expected = more_expected(build, property);
    }
}

/// Every Python that some build of a group was seen with.
fn expect_pythons(build: &mut Build, group: &[&Build]) {
    if !build.pythons_partial {
        return;
    }
    let mut more: Vec<Version> = group.iter().flat_map(|other| other.pythons.iter().copied()).collect();
    more.sort();
    more.dedup();
    more.retain(|line| !build.pythons.contains(line));
    if !more.is_empty() {
        build.expected_pythons = more.into();
        build.expected = more_expected(build, Property::Pythons);
    }
}

/// The library that a build is known to come with.
pub(super) fn told(build: &Build, property: Property) -> Option<Version> {
    let pin = match property {
        Property::Pythons => return None,
        Property::Toolkit => build.toolkit,
        Property::Cudnn => build.cudnn,
        Property::Nccl => build.nccl,
        Property::Triton => build.triton,
    };
    // What a practice tells is no ground for one.
    pin.filter(|_| build.variant != "cpu" && !build.expected.contains(&property))
}

/// The group that a build belongs to.
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
