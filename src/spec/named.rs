//! The targets of a spec, in file order and by name: a spec may have thousands, and much is asked of one of them.

use std::ops::Deref;

use super::Target;

/// `[target.*]`
#[derive(Debug, Clone, Default)]
pub struct Targets {
    in_order: Vec<Target>,
    /// Where each stands, by its name.
    by_name: Vec<usize>,
}

impl Targets {
    fn new(in_order: Vec<Target>) -> Targets {
        let mut by_name: Vec<usize> = (0..in_order.len()).collect();
        crate::types::sort_by_key(&mut by_name, |at| in_order[*at].name.as_str());
        Targets { in_order, by_name }
    }

    /// The target of this name.
    pub fn named(&self, name: &str) -> Option<&Target> {
        self.place(name).map(|at| &self.in_order[at])
    }

    pub(super) fn named_mut(&mut self, name: &str) -> Option<&mut Target> {
        self.place(name).map(|at| &mut self.in_order[at])
    }

    fn place(&self, name: &str) -> Option<usize> {
        let found = self.by_name.binary_search_by(|at| self.in_order[*at].name.as_str().cmp(name));
        found.ok().map(|found| self.by_name[found])
    }
}

impl FromIterator<Target> for Targets {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Targets {
        Targets::new(targets.into_iter().collect())
    }
}

impl Deref for Targets {
    type Target = [Target];

    fn deref(&self) -> &[Target] {
        &self.in_order
    }
}
