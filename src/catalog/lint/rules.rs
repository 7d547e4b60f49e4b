//! Rules: their ranges, their own trials, and that somebody asks them.

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::{Say, constraint};
use crate::types::{Constraint, Version};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.rules.iter() {
        let name = Named(row);
        let range = constraint("rule", &name, &row.range, say);
        let needs = constraint("rule", &name, &row.needs, say);
        if !ASKED.contains(&(row.subject, row.object)) {
            let pairs: Vec<String> =
                ASKED.iter().map(|(one, other)| format!("{} {}", one.as_str(), other.as_str())).collect();
            let says = format!(
                "nothing asks what a {} needs of a {}: rules are of {}",
                row.subject.as_str(),
                row.object.as_str(),
                pairs.join(", ")
            );
            say("rule-pair", "rule", &name, says);
        }
        let may_name = matches!(row.subject, Subject::Cufft | Subject::Cublas | Subject::Cudnn);
        if !may_name && row.package.is_some() != matches!(row.subject, Subject::Package | Subject::Nvrtc) {
            let says =
                "a rule of subject `package` or `nvrtc` names a package, one of `cufft`, `cublas` or `cudnn` may";
            say("belongs-together", "rule", &name, says.into());
        }
        only_where(row, catalog, say);
        let package = row.package.as_deref();
        for (range, subject, text) in [(&range, row.subject, &row.range), (&needs, row.object, &row.needs)] {
            if range.as_ref().is_some_and(|range| !matches_something(catalog, subject, package, range)) {
                let what = package.filter(|_| subject == Subject::Package).unwrap_or(subject.as_str());
                say("rule-range", "rule", &name, format!("no {what} is in `{text}`"));
            }
        }
        trials(row, say);
    }
    for row in catalog.modules.iter() {
        let gpus = constraint("module", &Named(row), &row.gpus, say);
        if gpus.is_some_and(|gpus| !matches_something(catalog, Subject::Gpu, None, &gpus)) {
            say("rule-range", "module", &Named(row), format!("no gpu is in `{}`", row.gpus));
        }
    }
    for row in catalog.services.iter() {
        let gpus = row.gpus.as_ref().and_then(|gpus| constraint("service", &Named(row), gpus, say));
        if gpus.is_some_and(|gpus| !matches_something(catalog, Subject::Gpu, None, &gpus)) {
            say("rule-range", "service", &Named(row), "no gpu is in `gpus`".to_string());
        }
        for board in row.boards.iter().filter(|board| !catalog.gpus.iter().any(|gpu| gpu.name == **board)) {
            say("rule-range", "service", &Named(row), format!("no gpu is named `{board}`"));
        }
        let drivers = row.drivers.as_ref().and_then(|range| constraint("service", &Named(row), range, say));
        if drivers.is_some_and(|drivers| !matches_something(catalog, Subject::Driver, None, &drivers)) {
            say("rule-range", "service", &Named(row), "no driver is in `drivers`".to_string());
        }
        let named = usize::from(!row.boards.is_empty()) + usize::from(row.gpus.is_some());
        if named > 1 || named == 0 && row.drivers.is_none() {
            say(
                "rule-range",
                "service",
                &Named(row),
                "one of `boards` and `gpus`, or `drivers`, is expected".to_string(),
            );
        }
    }
}

/// Where alone a rule holds: the GPUs, toolkits and CUDA lines that it names, if it may.
fn only_where(row: &Rule, catalog: &Catalog, say: Say<'_>) {
    let name = Named(row);
    let is_of = |objects: &[Subject]| row.subject == Subject::Package && objects.contains(&row.object);
    let misplaced: [(bool, &[Subject], &str); 8] = [
        (row.gpu.is_some(), &[Subject::Driver, Subject::Toolkit], "a driver or a toolkit, and no other, names GPUs"),
        (row.toolkit.is_some(), &[Subject::Gcc, Subject::Clang], "a host compiler, and no other, names toolkits"),
        (
            row.cuda.is_some() && row.minors.is_empty(),
            &[Subject::Glibc, Subject::Gpu],
            "a C library or a GPU, and no other, names CUDA lines",
        ),
        (row.compat, &[Subject::Driver], "a driver, and no other, speaks of cuda-compat"),
        (row.heeds_list.is_some(), &[Subject::Toolkit], "a toolkit, and no other, heeds a list"),
        (
            row.part && row.minors.is_empty(),
            &[Subject::Glibc, Subject::Gpu, Subject::Cudnn],
            "a C library, GPU or cuDNN alone is about a part",
        ),
        (row.source_only, &[Subject::Gpu], "a GPU, and no other, tells what its build compiles"),
        (!row.minors.is_empty(), &[Subject::Toolkit], "a toolkit, and no other, has `minors`"),
    ];
    for (_, _, says) in misplaced.iter().filter(|(is_said, objects, _)| *is_said && !is_of(objects)) {
        say("belongs-together", "rule", &name, format!("a rule of a package and {says}"));
    }
    let is_entry = |entry: &Text| entry.split(' ').all(|word| Version::parse(word).is_ok()) && entry.contains(' ');
    let is_list = row.minors.is_empty() || row.part && row.minors.iter().all(is_entry);
    if !is_list {
        let says = "`minors` are of a part, and each a release and the CUDA that came with it: `0.5.2 11.4`";
        say("belongs-together", "rule", &name, says.into());
    }
    if !row.instances.is_empty() && (row.subject, row.object) != (Subject::Gpu, Subject::Driver) {
        say("belongs-together", "rule", &name, "a rule of a GPU and a driver, and no other, names boards".into());
    }
    let is_library = matches!(row.subject, Subject::Cufft | Subject::Nvrtc | Subject::Cublas);
    if !row.boards.is_empty() && !is_library {
        say("belongs-together", "rule", &name, "a rule of a library of CUDA, and no other, has `boards`".into());
    }
    if row.until.is_some() && row.subject != Subject::Nvrtc {
        say("belongs-together", "rule", &name, "a rule of NVRTC, and no other, has `until`".into());
    }
    for board in row
        .instances
        .iter()
        .chain(row.boards.iter())
        .filter(|board| !catalog.gpus.iter().any(|gpu| gpu.name == **board))
    {
        say("rule-range", "rule", &name, format!("no GPU is named `{board}`"));
    }
    for (subject, only) in [(Subject::Gpu, &row.gpu), (Subject::Toolkit, &row.toolkit), (Subject::Cuda, &row.cuda)] {
        let Some(text) = only else { continue };
        let range = constraint("rule", &name, text, say);
        if range.is_some_and(|range| !matches_something(catalog, subject, None, &range)) {
            say("rule-range", "rule", &name, format!("no {} is in `{text}`", subject.as_str()));
        }
    }
}

/// A rule's own examples.
fn trials(row: &Rule, say: Say<'_>) {
    let name = Named(row);
    let pairs = row.holds.iter().map(|pair| (pair, true)).chain(row.fails.iter().map(|pair| (pair, false)));
    for (pair, wanted) in pairs {
        if row.judges(pair) != Some(wanted) {
            let list = if wanted { "holds" } else { "fails" };
            let says = format!("`{pair}` stands under {list}, but the rule says otherwise");
            say("rule-trial", "rule", &name, says);
        }
    }
    // Of a package whose kernels are Triton's that alone is told: with any Triton they are.
    let is_of_any = row.object == Subject::Triton && row.needs == "*";
    if row.holds.is_empty() || row.fails.is_empty() != is_of_any {
        say("rule-trial", "rule", &name, "a rule needs a pair that holds and one that fails".into());
    }
}

/// Whether any row of the subject's table is in the range. Host compilers and C libraries have no table.
pub(super) fn matches_something(
    catalog: &Catalog,
    subject: Subject,
    package: Option<&str>,
    range: &Constraint,
) -> bool {
    let numbers = |number: &dyn std::fmt::Display| Version::parse(&number.to_string()).is_ok_and(|v| range.admits(&v));
    match subject {
        Subject::Gpu => catalog.gpus.iter().any(|row| numbers(&row.cc)),
        Subject::Cuda | Subject::Toolkit | Subject::Cufft | Subject::Nvrtc | Subject::Cublas | Subject::Ptxas => {
            catalog.toolkits.iter().any(|row| range.admits(&row.version))
        }
        Subject::Driver => catalog.drivers.iter().any(|row| range.admits(&row.version)),
        Subject::Cudnn | Subject::Nccl => catalog.releases_of(subject.as_str()).any(|one| range.admits(&one.version)),
        Subject::Triton => catalog.builds.iter().any(|row| row.triton.as_ref().is_some_and(|it| range.admits(it))),
        Subject::Kernel => catalog.oses.iter().any(|row| row.kernel.as_ref().is_some_and(|it| !range.admits(it))),
        Subject::Python => catalog.pythons.iter().any(|row| range.admits(&row.version)),
        Subject::Package | Subject::Compile => {
            let name = package.unwrap_or(FRAMEWORKS[0]);
            let companions = catalog.companions.of(name).iter().map(|row| &row.version);
            let mut all = catalog.builds.of(name).iter().map(|row| &row.version).chain(companions);
            all.any(|version| range.admits(version)) || range.is_any() && catalog.asks.of(name).iter().next().is_some()
        }
        Subject::Glibc => catalog.oses.iter().any(|row| row.glibc.as_ref().is_some_and(|it| range.admits(it))),
        Subject::Libstdcxx => catalog.oses.iter().any(|row| row.libstdcxx.is_some_and(|it| range.admits(&it))),
        Subject::Gcc => catalog.oses.iter().any(|row| row.gcc.as_ref().is_some_and(|it| range.admits(it))),
        Subject::Clang => catalog.toolkits.iter().any(|row| row.clang_max.as_ref().is_some_and(|it| range.admits(it))),
    }
}

impl Rule {
    /// Judges a pair `subject object`, as `holds` and `fails` write it; none if the pair or the rule does not parse.
    ///
    /// A subject outside the rule's range satisfies it.
    pub fn judges(&self, pair: &str) -> Option<bool> {
        let (subject, object) = pair.split_once(' ')?;
        let (subject, object) = (Version::parse(subject).ok()?, Version::parse(object).ok()?);
        let (range, needs) = (Constraint::parse(&self.range).ok()?, Constraint::parse(&self.needs).ok()?);
        let lists = self.minors.is_empty() || self.lists(&subject, &object);
        Some(!range.admits(&subject) || needs.admits(&object) && lists)
    }
}
