//! Toolkits and the libraries beside them.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::{Say, months};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::types::{Constraint, Version, map_of};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    toolkits(catalog, say);
    order_of_toolkits(catalog, say);
    drivers_of_toolkits(catalog, say);
    libraries(catalog, say);
    code(catalog, say);
}

fn toolkits(catalog: &Catalog, say: Say<'_>) {
    let isas: HashSet<&Version> = catalog.ptx_isas.iter().map(|row| &row.isa).collect();
    builds(catalog, &isas, say);
    for row in catalog.toolkits.iter() {
        let name = Named(row);
        if !isas.contains(&row.ptx_isa) {
            say("unknown-ptx-isa", "toolkit", &name, format!("PTX ISA {} does not exist", row.ptx_isa));
        }
        if row.sass.is_empty() || row.ptx.is_empty() {
            say("toolkit-archs", "toolkit", &name, "compiles for no architecture".into());
        }
        // Machine code is compiled from PTX: what has PTX has machine code, and nearly the reverse (2.1 was made of 2.0).
        for arch in row.ptx.iter().filter(|arch| !row.sass.contains(arch)) {
            say("toolkit-archs", "toolkit", &name, format!("takes {arch} for PTX but not for machine code"));
        }
        if let Some(nvcc) = row.nvcc.as_ref().filter(|nvcc| nvcc.prefix(2) != row.version.prefix(2)) {
            say("toolkit-nvcc", "toolkit", &name, format!("nvcc {nvcc} is of another line"));
        }
        let limits = row.gcc_max.is_some() || row.clang_max.is_some();
        if limits != row.host_source.is_some() {
            say("belongs-together", "toolkit", &name, "compiler limits and host_source belong together".into());
        }
    }
}

/// Later releases ask for no older driver, write no older PTX and refuse no compiler that earlier ones took; releases
/// of one line compile for the same GPUs.
fn order_of_toolkits(catalog: &Catalog, say: Say<'_>) {
    let mut rows: Vec<&Toolkit> = catalog.toolkits.iter().collect();
    rows.sort_unstable_by_key(|one| one.version);
    let mut numbers = |field: &str, of: fn(&Toolkit) -> Option<&Version>| {
        let told: Vec<(&Toolkit, &Version)> = rows.iter().filter_map(|row| Some((*row, of(row)?))).collect();
        for pair in told.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
            let says = format!("{field} {} is less than {} of {}", pair[1].1, pair[0].1, pair[0].0.version);
            say("toolkit-order", "toolkit", &Named(pair[1].0), says);
        }
    };
    numbers("driver", |row| row.driver.as_ref());
    numbers("nvcc", |row| row.nvcc.as_ref());
    numbers("PTX ISA", |row| Some(&row.ptx_isa));
    numbers("gcc_max", |row| row.gcc_max.as_ref());
    numbers("clang_max", |row| row.clang_max.as_ref());
    for pair in rows.windows(2).filter(|pair| pair[0].version.prefix(2) == pair[1].version.prefix(2)) {
        let (one, next) = (pair[0], pair[1]);
        if (&one.sass, &one.ptx, &one.ptx_isa) != (&next.sass, &next.ptx, &next.ptx_isa) {
            let says = format!("compiles for other GPUs than {} of the same line", one.version);
            say("toolkit-line", "toolkit", &Named(next), says);
        }
        let month = |row: &Toolkit| row.released.as_deref().and_then(months);
        if month(one).zip(month(next)).is_some_and(|(one, next)| next < one) {
            say("toolkit-order", "toolkit", &Named(next), format!("was released before {}", one.version));
        }
    }
    let first_of_line = |at: usize| at == 0 || rows[at - 1].version.prefix(2) != rows[at].version.prefix(2);
    let firsts: Vec<(&Toolkit, u32)> = (0..rows.len())
        .filter(|at| first_of_line(*at))
        .filter_map(|at| Some((rows[at], rows[at].released.as_deref().and_then(months)?)))
        .collect();
    for pair in firsts.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
        say("toolkit-order", "toolkit", &Named(pair[1].0), format!("was released before {}", pair[0].0.version));
    }
}

/// The driver a toolkit's table asks for reports that toolkit's CUDA version, so it knows its PTX ISA too.
fn drivers_of_toolkits(catalog: &Catalog, say: Say<'_>) {
    let branches: HashMap<u64, &Branch> = catalog.branches.iter().map(|row| (row.branch.major(), row)).collect();
    let isas: HashMap<&Version, &PtxIsa> = catalog.ptx_isas.iter().map(|row| (&row.isa, row)).collect();
    for row in catalog.toolkits.iter() {
        for driver in row.driver.iter().chain(&row.runfile) {
            if !branches.contains_key(&driver.major()) {
                let says = format!("branch {} does not exist", driver.major());
                say("unknown-branch", "toolkit", &Named(row), says);
            }
        }
        let Some(driver) = &row.driver else { continue };
        let reported = branches.get(&driver.major()).and_then(|branch| branch.cuda.as_ref());
        if let Some(reported) = reported.filter(|reported| **reported < row.version.prefix(2)) {
            say("toolkit-driver", "toolkit", &Named(row), format!("driver {driver} reports CUDA {reported} only"));
        }
        let first = isas.get(&row.ptx_isa).and_then(|isa| isa.branch.as_ref());
        if let Some(first) = first.filter(|first| driver.major() < first.major()) {
            let says = format!("driver {driver} does not know PTX ISA {}, which comes with R{first}", row.ptx_isa);
            say("toolkit-driver", "toolkit", &Named(row), says);
        }
    }
}

/// cuDNN and NCCL are built for a line that exists.
fn libraries(catalog: &Catalog, say: Say<'_>) {
    let exists = |line: &Version| catalog.toolkits.iter().any(|row| row.version.cmp_prefix(line).is_eq());
    for one in catalog.library_releases().filter(|one| !exists(&one.cuda)) {
        say("unchoosable", one.subject.as_str(), &Named(one.row), format!("no toolkit is of CUDA {}", one.cuda));
    }
    for row in catalog.nccls.iter() {
        let Some(with) = &row.built_with else { continue };
        if with.major() != row.cuda.major() || !exists(with) {
            let says = format!("built with CUDA {with}, which is not a line of CUDA {}", row.cuda);
            say("nccl-cuda", "nccl", &Named(row), says);
        }
    }
}

/// A GPU that rules admit for cuDNN or NCCL is one that the code read out of them reaches. Rules may be stricter.
fn code(catalog: &Catalog, say: Say<'_>) {
    let lines = Rules::of(catalog, Subject::Gpu, Subject::Cuda);
    // Servers were read: boards with a CPU of their own have libraries of their own.
    let boards = catalog.gpus.iter().filter(|row| row.cpu.is_none() && row.class != Class::Jetson);
    let gpus = map_of(boards.filter_map(|row| Some((row.cc, Version::parse(&row.cc.to_string()).ok()?))));
    for row in catalog.library_releases() {
        let (kind, name) = (row.subject.as_str(), Named(row.row));
        if row.arch_source.is_some() == (row.sass.is_empty() && row.ptx.is_empty()) {
            let says = "arch_source stands beside sass or ptx, and not without";
            say("belongs-together", kind, &name, says.into());
        }
        let rules = Rules::of(catalog, row.subject, Subject::Gpu);
        // GPUs that came later are its CUDA line's matter.
        let newest = row.sass.iter().chain(row.ptx).map(|arch| arch.cc).max();
        for (cc, number) in gpus.iter().filter(|(cc, number)| Some(**cc) <= newest && lines.admit(number, &row.cuda)) {
            let (sass, ptx) = (row.sass.iter().copied(), row.ptx.iter().copied());
            let reached = covers_targets(sass, ptx, *cc, Tegra::Apart) != Coverage::None;
            if !reached && rules.admit(&row.version, number) {
                say("library-gpu", kind, &name, format!("holds no code for {cc}, and no rule says so"));
            }
        }
    }
}

/// What rules say of one pair of things. A rule that does not parse is another lint's matter.
struct Rules(Vec<(Constraint, Constraint)>);

impl Rules {
    fn of(catalog: &Catalog, subject: Subject, object: Subject) -> Rules {
        let rows = catalog.rules.iter().filter(|row| row.subject == subject && row.object == object);
        let read = |row: &Rule| Constraint::parse(&row.range).ok().zip(Constraint::parse(&row.needs).ok());
        Rules(rows.filter_map(read).collect())
    }

    fn admit(&self, subject: &Version, object: &Version) -> bool {
        self.0.iter().all(|(range, needs)| !range.admits(subject) || needs.admits(object))
    }
}

/// No compiler writes PTX that its toolkit does not know yet.
fn builds(catalog: &Catalog, isas: &HashSet<&Version>, say: Say<'_>) {
    for row in catalog.companions.iter() {
        let Some(isa) = &row.ptx_isa else { continue };
        let of_major = |kit: &&Toolkit| row.cuda.as_ref().is_none_or(|cuda| kit.version.cmp_prefix(cuda).is_eq());
        let is_written = catalog.toolkits.iter().filter(of_major).any(|kit| kit.ptx_isa == *isa);
        if row.ptx.is_empty() || !is_written {
            let says = format!("no toolkit of its CUDA writes PTX ISA {isa}, or there is no PTX");
            say("unknown-ptx-isa", "companion", &Named(row), says);
        }
    }
    for row in catalog.builds.iter() {
        let Some(isa) = &row.ptx_isa else { continue };
        let line = row.line();
        let of_line = |kit: &&Toolkit| line.is_some_and(|line| kit.version.cmp_prefix(&line).is_eq());
        let newest = catalog.toolkits.iter().filter(of_line).map(|kit| kit.ptx_isa).max();
        if row.ptx.is_empty() || !isas.contains(isa) || newest.is_none_or(|newest| *isa > newest) {
            let says = format!("PTX ISA {isa} does not exist, its toolkit does not write it, or there is no PTX");
            say("unknown-ptx-isa", "build", &Named(row), says);
        }
    }
}
