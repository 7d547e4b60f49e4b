//! What extensions are compiled for.

use crate::catalog::rows::{Build, Toolkit};
use crate::types::{Arch, ArchEntry, ArchList, distinct};

use super::compile::Class;
use super::fits;
use super::request::Request;

/// What extensions for a class are compiled for, with a toolkit or with that of the builds.
pub(super) fn arch_list(
    request: &Request<'_>,
    class: &Class<'_, '_>,
    toolkit: Option<&Toolkit>,
    builds: &[&Build],
) -> Option<ArchList> {
    if let Some(list) = request.build.as_ref().and_then(|build| build.arch_list.as_ref()) {
        return Some(list.clone());
    }
    let toolkit = toolkit.or_else(|| builds.iter().find_map(|build| request.catalog.toolkit_of(build)))?;
    let known = builds.iter().find_map(|build| Some([&request.catalog.extension_of(build)?.archs, build.own_archs()]));
    let builder: Vec<Arch> = known.map_or_else(|| toolkit.sass.to_vec(), |taken| taken.concat());
    let tegra = fits::tegra(Some(toolkit));
    let kinds = class.machine().kinds.iter();
    let best = kinds.filter_map(|kind| fits::best_arch(kind.gpu.cc, &toolkit.sass, &builder, tegra));
    let entries = distinct(best.map(|arch| ArchEntry { arch, sass: true, ptx: false }));
    let ptx = request.build.as_ref().is_some_and(|build| build.ptx);
    (!entries.is_empty()).then(|| ArchList::new(entries).with_ptx(ptx))
}
