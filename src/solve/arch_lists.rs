//! What extensions are compiled for.

use crate::words::{Arch, ArchEntry, ArchList};

use super::answer::Chosen;
use super::compile::Class;
use super::fits;
use super::question::Question;

/// What extensions for a class are compiled for.
pub(super) fn arch_list(question: &Question<'_>, class: &Class<'_, '_>, answer: &Chosen<'_>) -> Option<ArchList> {
    if let Some(list) = question.build.as_ref().and_then(|build| build.arch_list.as_ref()) {
        return Some(list.clone());
    }
    let toolkit =
        answer.toolkit.or(answer.cuda).or_else(|| answer.builds.iter().find_map(|build| question.toolkit_of(build)))?;
    let builder: &[Arch] = answer
        .builds
        .iter()
        .find_map(|build| fits::extension_row(question.catalog, &build.package, &build.version))
        .map_or(&toolkit.sass, |row| &row.archs);
    let tegra = fits::tegra_of(toolkit);
    let kinds = class.machine().kinds.iter();
    let best = kinds.filter_map(|kind| fits::best_arch(kind.gpu.cc, &toolkit.sass, builder, tegra));
    let mut entries: Vec<ArchEntry> = best.map(|arch| ArchEntry { arch, sass: true, ptx: false }).collect();
    entries.sort();
    entries.dedup();
    if let Some(highest) = entries.last_mut() {
        highest.ptx = question.build.as_ref().is_some_and(|build| build.ptx);
    }
    (!entries.is_empty()).then(|| ArchList::new(entries))
}

/// One stack is compiled once: every target's list holds the architectures of all, where its toolkit knows them.
pub(super) fn share_arch_list(classes: &mut [Chosen<'_>]) {
    let lists = classes.iter().filter_map(|answer| answer.arch_list.as_ref());
    let ptx = lists.clone().any(|list| list.ptx().next().is_some());
    let mut all: Vec<Arch> = lists.flat_map(ArchList::sass).collect();
    all.sort();
    all.dedup();
    let knows =
        |answer: &Chosen| answer.toolkit.is_none_or(|toolkit| all.iter().all(|arch| toolkit.sass.contains(arch)));
    if all.is_empty() || !classes.iter().all(knows) {
        return;
    }
    let highest = *all.last().expect("not empty");
    let shared = ArchList::new(all.iter().map(|&arch| ArchEntry { arch, sass: true, ptx: ptx && arch == highest }));
    for answer in classes.iter_mut().filter(|answer| !answer.gpus.is_empty() || answer.arch_list.is_some()) {
        answer.arch_list = Some(shared.clone());
    }
}
