//! Another GPU: the last thing to change, and the only one that helps where a stack has left a generation behind.

use crate::catalog::GpuMatch;
use crate::catalog::rows::{Class, Gpu};
use crate::solve::resolve::is_solvable;
use crate::spec::{Share, list_text};
use crate::types::{self, Cc, sort_by_key};

use super::{Finder, set};
use crate::explain::target_of;

/// How many generations are tried.
const GENERATIONS: usize = 12;

impl<'c> Finder<'_, 'c> {
    /// For the boards of a target that find no answer: the nearest generation of their class that does; if there is
    /// none and the driver is to stay, of data-centre boards, which may load a newer libcuda.
    pub(super) fn try_boards(&mut self, key: &str) {
        let target = self.spec.target(target_of(key)).and_then(|target| target.gpu.as_ref());
        let Some(written) = target.map(|gpu| gpu.value.clone()) else { return };
        let alone = |name: &String| self.has_answer(&[set(key, name.clone())]);
        let (served, unserved): (Vec<String>, Vec<String>) = written.into_iter().partition(alone);
        let board = |name: &String| match self.asker.catalog.gpu(name) {
            // What comes with its CPU is no board that can be replaced.
            GpuMatch::Found(boards) => boards.first().filter(|board| board.cpu.is_none()).copied(),
            _ => None,
        };
        // Boards beside others that are served, or that only clash with each other, are to be parted from them.
        let Some(replaced) = unserved.first().filter(|_| served.is_empty()).and_then(board) else {
            return self.try_fewer_boards(key);
        };
        let driver = self.spec.target(target_of(key)).is_some_and(|it| it.driver.is_some() || it.driver_cuda.is_some());
        let class = alike(replaced.class);
        let classes = if driver { &[class, Class::Datacenter][..] } else { &[class][..] };
        for &of in classes {
            let others = self.other_boards(replaced, of).into_iter();
            let served = others
                .map(|board| (board, board.name.to_string()))
                .find(|(_, name)| self.offer(&[set(key, name.clone())]));
            let (Some((board, _)), Some(fix)) = (served, self.found.last_mut()) else { continue };
            let like =
                format!("another machine, with this or another {} board of compute capability {}", words(of), board.cc);
            fix.advice.get_or_insert(like);
            return;
        }
    }

    /// The list without one board, which then needs a target of its own, or does not go with this spec at all.
    fn try_fewer_boards(&mut self, key: &str) {
        for (fewer, parted) in self.fewer_boards(key) {
            if !self.offer(&[set(key, fewer.clone())]) {
                continue;
            }
            let place = match self.has_answer(&[set(key, parted.clone())]) {
                true => format!("a target of its own{}", self.sharing(key, &fewer, &parted)),
                false => "a gpuenv.toml of its own, which asks for something else".to_string(),
            };
            if let Some(fix) = self.found.last_mut() {
                fix.advice.get_or_insert(format!("{parted} needs {place}"));
            }
        }
    }

    /// What targets share at the most where one has each of two values of a key, if that is less than they do.
    pub(super) fn sharing(&self, key: &str, one: &str, other: &str) -> &'static str {
        let share_versions = || {
            let (mut both, other) = (self.asker.vary(&[set(key, one)])?, self.asker.vary(&[set(key, other)])?);
            both.targets.extend(other.target(target_of(key)).cloned());
            both.share = Share::Versions;
            is_solvable(&both, self.asker.steps)
        };
        let is_enough = self.spec.resolve.share != Share::None && share_versions() == Some(true);
        match self.spec.resolve.share {
            Share::Stack if is_enough => ", with resolve.share = \"versions\"",
            Share::Stack | Share::Versions if !is_enough => ", with resolve.share = \"none\"",
            _ => "",
        }
    }

    /// What can be written for the boards of a target instead: fewer of them, or for a single one another.
    pub(super) fn board_values(&self, key: &str) -> Vec<String> {
        let fewer: Vec<String> = self.fewer_boards(key).into_iter().map(|(fewer, _)| fewer).collect();
        let written = self.spec.target(target_of(key)).and_then(|target| target.gpu.as_ref());
        let Some([only]) = written.map(|gpu| gpu.value.as_slice()) else { return fewer };
        match self.asker.catalog.gpu(only) {
            GpuMatch::Found(boards) => {
                let board = boards.first().filter(|board| board.cpu.is_none());
                let others = board.map(|board| self.other_boards(board, alike(board.class))).unwrap_or_default();
                others.into_iter().map(|board| board.name.to_string()).collect()
            }
            _ => fewer,
        }
    }

    /// The list of a target without each of its boards, and the board that is left out.
    fn fewer_boards(&self, key: &str) -> Vec<(String, String)> {
        let written = self.spec.target(target_of(key)).and_then(|target| target.gpu.as_ref());
        let names = written.map(|gpu| gpu.value.clone()).unwrap_or_default();
        if names.len() < 2 {
            return Vec::new();
        }
        let without = |at: usize| {
            let rest: Vec<String> =
                names.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, name)| name.clone()).collect();
            (if let [only] = rest.as_slice() { only.clone() } else { list_text(&rest) }, names[at].clone())
        };
        // The board written last is the first to go.
        (0..names.len()).rev().map(without).collect()
    }

    /// A board of each generation of a class, those made for the same first, then the nearest above a capability
    /// before those below.
    fn other_boards(&self, replaced: &Gpu, class: Class) -> Vec<&'c Gpu> {
        let cc = replaced.cc;
        // Products that imply a CPU are machines of their own, and nobody buys a generation that drivers have left.
        let of_class = self.asker.catalog.gpus.iter().filter(|board| board.class == class && board.cpu.is_none());
        let kept = of_class.filter(|board| board.last_branch.is_none());
        let mut boards: Vec<&Gpu> = kept.filter(|board| board.cc != cc || board.class != replaced.class).collect();
        // The board that came first is the one that people know a generation by.
        let first = |board: &Gpu| (board.first_driver.is_none(), board.first_driver, board.name);
        sort_by_key(&mut boards, |board| (board.cc, first(board)));
        boards.dedup_by_key(|board| board.cc);
        let (below, above): (Vec<&Gpu>, Vec<&Gpu>) = boards.into_iter().partition(|board| board.cc < cc);
        let boards: Vec<&Gpu> = above.into_iter().chain(below.into_iter().rev()).take(GENERATIONS).collect();
        types::first(boards, |board| self.only_computes(board.cc) == self.only_computes(cc))
    }

    /// Whether a generation is made for computing alone: no GeForce has its capability.
    fn only_computes(&self, cc: Cc) -> bool {
        !self.asker.catalog.gpus.iter().any(|board| board.class == Class::Geforce && board.cc == cc)
    }
}

/// A class as people write it before "board".
fn words(class: Class) -> &'static str {
    match class {
        Class::Datacenter => "data-centre",
        Class::Geforce => "GeForce",
        Class::Titan => "TITAN",
        Class::Jetson => "Jetson",
        class => class.as_str(),
    }
}

/// The class in which to look for another board: some classes were given up.
fn alike(class: Class) -> Class {
    match class {
        Class::Titan | Class::Mining => Class::Geforce,
        Class::Other => Class::Workstation,
        class => class,
    }
}
