//! From which index a package comes where a file names several, each under a condition.

use super::{Wanted, rank};
use crate::types::marker::{self, Known};
use crate::types::sort_by_key;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub marker: Option<String>,
    pub variant: Option<String>,
    /// Whether what it has is not what the public index has.
    pub is_elsewhere: bool,
    /// The major of CUDA that an index of its own is for.
    pub own_cuda: Option<String>,
}

impl Wanted {
    /// Takes the one whose condition holds: of several that may, the one for a GPU. The variants of the others, and whether more
    /// knowledge would decide.
    pub fn choose(&mut self, known: &Known<'_>) -> (Vec<String>, bool) {
        let holds = |source: &Source| source.marker.as_deref().map_or(Some(true), |marker| marker::on(marker, known));
        let mut sources = std::mem::take(&mut self.sources);
        sources.retain(|source| holds(source) != Some(false));
        sort_by_key(&mut sources, |source: &Source| {
            (holds(source).is_none(), std::cmp::Reverse(rank(source.variant.as_deref())))
        });
        let mut sources = sources.into_iter();
        let Some(first) = sources.next() else { return (Vec::new(), false) };
        let is_open = holds(&first).is_none();
        self.take_source(&first);
        (sources.filter_map(|source| source.variant).collect(), is_open)
    }

    /// Comes from there.
    pub fn take_source(&mut self, source: &Source) {
        self.variant.clone_from(&source.variant);
        self.own_cuda.clone_from(&source.own_cuda);
        self.is_elsewhere = source.is_elsewhere;
    }
}
