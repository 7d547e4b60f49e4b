//! Another GPU: the last thing to change, and the only one that helps where a stack has left a generation behind.

use crate::catalog::GpuMatch;
use crate::catalog::rows::{Class, Gpu};
use crate::spec::list_text;
use crate::words::Cc;

use super::{Finder, set, target_of};

/// How many generations are tried.
const GENERATIONS: usize = 12;

impl<'c> Finder<'_, 'c, '_> {
    /// For the boards of a target that find no answer: the nearest generation of their class that does; if there is
    /// none and the driver is to stay, of data-centre boards, which may load a newer libcuda.
    pub(super) fn try_boards(&mut self, key: &str) {
        let target = self.spec.target(target_of(key)).and_then(|target| target.gpu.as_ref());
        let Some(written) = target.map(|gpu| gpu.value.clone()) else { return };
        let list = |names: &[String]| match names {
            [only] => only.clone(),
            names => list_text(names),
        };
        let alone = |name: &String| self.has_answer(&[set(key, name.clone())]);
        let (served, unserved): (Vec<String>, Vec<String>) = written.into_iter().partition(alone);
        let board = |name: &String| match self.asker.catalog.gpu(name) {
            // What comes with its CPU is no board that can be replaced.
            GpuMatch::Found(boards) => boards.first().filter(|board| board.cpu.is_none()).copied(),
            _ => None,
        };
        // Boards that only clash with each other are not to be replaced but to be parted.
        let Some(&Gpu { cc, class, .. }) = unserved.first().and_then(board) else { return };
        let driver = self.spec.target(target_of(key)).is_some_and(|it| it.driver.is_some() || it.driver_cuda.is_some());
        let classes = if driver { &[class, Class::Datacenter][..] } else { &[class][..] };
        for &of in classes {
            let others = self.other_boards(cc, of).into_iter().filter(|board| board.cc != cc || board.class != class);
            let served = others.into_iter().find(|board| {
                let names: Vec<String> = served.iter().cloned().chain([board.name.to_string()]).collect();
                self.offer(&[set(key, list(&names))])
            });
            let (Some(board), Some(fix)) = (served, self.found.last_mut()) else { continue };
            let like = format!("or another {} board of compute capability {}", of.as_str(), board.cc);
            fix.advice.get_or_insert(like);
            return;
        }
    }

    /// A board of each generation of a class, the nearest above a capability first, then those below.
    fn other_boards(&self, cc: Cc, class: Class) -> Vec<&'c Gpu> {
        // Products that imply a CPU are machines of their own.
        let of_class = self.asker.catalog.gpus.iter().filter(|board| board.class == class && board.cpu.is_none());
        let mut boards: Vec<&Gpu> = of_class.filter(|board| board.last_branch.is_none()).collect();
        // The board that came first is the one that people know a generation by.
        let first = |board: &Gpu| (board.first_driver.is_none(), board.first_driver, board.name);
        boards.sort_by_cached_key(|board| (board.cc, first(board)));
        boards.dedup_by_key(|board| board.cc);
        let (below, above): (Vec<&Gpu>, Vec<&Gpu>) = boards.into_iter().partition(|board| board.cc < cc);
        above.into_iter().chain(below.into_iter().rev()).take(GENERATIONS).collect()
    }
}
