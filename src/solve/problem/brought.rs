//! What packages bring along: a package that a release requires and nobody named is installed all the same, so some known
//! release of it had better go with the rest of the stack.

use crate::catalog::Catalog;
use crate::catalog::rows::{BESIDE_TORCH, Companion, TRITON};
use crate::coverage::Coverage;
use crate::types::{Cc, Constraint, CpuArch, Specifier, Version};

use super::{Package, Problem};
use crate::solve::fits;
use crate::solve::framework::Framework;
use crate::solve::release::Release;
use crate::solve::rowset::RowSet;

/// The known releases of what the releases of a package bring along beside a framework.
#[derive(Debug)]
pub struct Brought<'c> {
    catalog: &'c Catalog,
    /// For each release of the package what it brings, by number.
    of_row: Vec<Vec<usize>>,
    wanted: Vec<Wanted<'c>>,
}

/// What is brought along on a processor, and its known releases.
#[derive(Debug)]
struct Wanted<'c> {
    arch: CpuArch,
    of: &'c str,
    releases: Vec<&'c Companion>,
}

impl<'c> Brought<'c> {
    /// On some processors.
    pub fn new(problem: &Problem<'c>, package: &Package<'c>, framework: &Framework<'c>, arches: &[CpuArch]) -> Self {
        let mut texts: Vec<(CpuArch, &str, &str, &str)> = Vec::new();
        let mut brought = Brought { catalog: problem.catalog, of_row: Vec::new(), wanted: Vec::new() };
        for row in package.releases.iter() {
            let mut of_row = Vec::new();
            for (arch, (of, range)) in arches.iter().flat_map(|arch| row.asked(*arch).map(move |asked| (*arch, asked)))
            {
                let text = (arch, of, range, &*row.needs);
                let known = texts.iter().position(|known| *known == text);
                let number = known.unwrap_or_else(|| {
                    texts.push(text);
                    let releases = releases(problem, framework, row, (of, range), arch);
                    brought.wanted.push(Wanted { arch, of, releases });
                    brought.wanted.len() - 1
                });
                if !brought.wanted[number].releases.is_empty() {
                    of_row.push(number);
                }
            }
            brought.of_row.push(of_row);
        }
        brought
    }

    /// Whether nothing is brought along that anybody knows of.
    pub fn is_nothing(&self) -> bool {
        self.of_row.iter().all(Vec::is_empty)
    }

    /// The releases of the package whose brought ones go with a release of the framework on some machines: on each
    /// processor some GPUs. What is named is chosen, and judged by what is chosen.
    pub fn beside(&self, release: &Release<'c>, machines: &[(CpuArch, Vec<Cc>)], named: &[&str]) -> RowSet {
        let all = self.of_row.len();
        if release.is_cpu() {
            return RowSet::first(all);
        }
        let goes = |wanted: &Wanted| {
            let on = machines.iter().filter(|(arch, _)| *arch == wanted.arch);
            named.contains(&wanted.of)
                || on.into_iter().all(|(arch, gpus)| {
                    let beside = (release.variant, release.line.as_ref());
                    wanted.releases.iter().any(|one| serves(self.catalog, one, beside, *arch, gpus))
                })
        };
        let serving: Vec<bool> = self.wanted.iter().map(goes).collect();
        RowSet::filter(all, |row| self.of_row[row].iter().all(|number| serving[*number]))
    }
}

/// The known releases of a package that somebody requires on a processor. What lies beside torch is made for each of its
/// variants, and triton is torch's own.
pub fn releases<'c>(
    problem: &Problem<'c>,
    framework: &Framework<'c>,
    row: &Companion,
    (of, range): (&str, &str),
    arch: CpuArch,
) -> Vec<&'c Companion> {
    let package = problem.package(of).filter(|_| of != TRITON && !BESIDE_TORCH.contains(&of));
    let Some(package) = package else { return Vec::new() };
    let asked = Specifier::parse(range).ok();
    let admits = |one: &Companion| range.is_empty() || asked.as_ref().is_some_and(|asked| asked.admits(&one.version));
    // What is compiled against one release of the framework comes along with that one only.
    let takes = |one: &Companion| Constraint::parse(&one.needs).ok();
    let own = takes(row);
    let meet = |one: &Companion| {
        let (Some(own), Some(needs)) = (&own, takes(one)) else { return true };
        framework.versions.iter().any(|version| own.admits(version) && needs.admits(version))
    };
    let follows = |one: &Companion| one.framework == framework.package && (!package.is_tied() || meet(one));
    let rows = package.releases.iter().copied().filter(|one| !one.is_source_beside_wheels(arch));
    rows.filter(|one| admits(one) && (one.follows_cuda() || follows(one))).collect()
}

/// Whether a release of what is brought along loads beside a variant, and computes on some GPUs, for all that is known.
pub fn serves(
    catalog: &Catalog,
    one: &Companion,
    (variant, line): (&str, Option<&Version>),
    arch: CpuArch,
    gpus: &[Cc],
) -> bool {
    let misses = |gpu: &Cc| match fits::companion_code(catalog, one, arch, *gpu) {
        None => fits::read_beside(catalog, one, arch, *gpu).is_some(),
        code => code == Some(Coverage::None),
    };
    fits::made_for(one, variant, line) && !gpus.iter().any(misses)
}
