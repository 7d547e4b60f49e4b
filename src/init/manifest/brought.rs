//! Which of NVIDIA's libraries a draft's frameworks bring: those that their own metadata asks for, and no others.

use crate::catalog::Catalog;
use crate::catalog::rows::{FRAMEWORKS, Libraries, TRITON};
use crate::init::{Entry, Value};
use crate::spec::other_names::without_cuda;
use crate::types::constraint::admits;
use crate::types::{CpuArch, Specifier};

/// Whether a framework of the stack asks for a library itself, or one that a package of it follows, for whichever CUDA.
pub(super) fn is_brought(catalog: &Catalog, stack: &[Entry], library: &str) -> bool {
    let base = |name: &str| without_cuda(name).unwrap_or(name).to_string();
    let library = base(library);
    let follows =
        |entry: &Entry, framework: &str| catalog.companions.of(&entry.key).iter().any(|row| row.framework == framework);
    let may_be = |row: &Libraries| {
        let framework = &*row.package;
        match stack.iter().find(|entry| entry.key == framework).map(|entry| &entry.value) {
            Some(Value::Text(asked)) => admits(asked, &row.version),
            _ => stack.iter().any(|entry| follows(entry, framework)),
        }
    };
    let asks = |row: &Libraries| {
        row.pins.split(' ').any(|pin| Specifier::split(pin).is_some_and(|(name, _)| base(name) == library))
    };
    let frameworks = FRAMEWORKS.iter().flat_map(|framework| catalog.libraries.of(framework));
    frameworks.filter(|row| may_be(row)).any(asks)
}

/// Whether a package of the stack asks for another one, in some release.
pub(super) fn is_asked(catalog: &Catalog, stack: &[Entry], name: &str) -> bool {
    let asks = |entry: &Entry| {
        let mut rows = catalog.companions.of(&entry.key).iter();
        rows.any(|row| row.asked(CpuArch::X86_64).any(|(of, _)| of == name))
            || name == TRITON && catalog.builds.of(&entry.key).iter().any(|row| row.triton.is_some())
    };
    stack.iter().any(asks)
}
