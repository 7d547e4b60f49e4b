//! `requirements`: a file for pip.
//!
//! pip has no index per package, its index options count for the whole file, and with an extra index any
//! package may come from either one: in 2022 a name that PyTorch had only on its own index was taken on the
//! public one, and got installed. So there are three cases and no extra index in any of them:
//!
//! - all wheels from pip's own default: pins alone.
//! - all from one other index: that index instead of the default. PyTorch's carry all that torch depends on.
//! - mixed: the default index, and the *page of each package* as a place to find links. Such a page can only
//!   offer the one package, and the local label in the pin (`+cu124`), which public indexes refuse, says
//!   which wheel is meant.
//!
//! What has an address of its own is asked for by that.
//!
//! What others may bring in (torchvision, for one) has a page of its own in the third case too, and is asked for: pip reads
//! constraints from a second file only, and a release that does not name one torch goes with any, of whatever CUDA.
//! `--constraints` prints such a file for `pip install -c`, with every package of the lock, for installs that come later.
//!
//! What `[packages]` asks for comes from the default index, so with it the third case is the second one's too.
//!
//! With `--hashes` every pin carries the sha256 of its wheel; pip knows them for all or for none, so that a pin whose sha256
//! nobody has read is a comment.
//!
//! The Python version is a comment: a marker would make pip skip a pin silently on another Python.

use crate::lock::{BESIDE_TORCH, ConstraintLock, Lock, TargetLock, Wheel};
use crate::types::distinct;

use super::format::{Format, Installs, Opt, Options, Render, Targets};
use super::ordinary::{self, Asked};
use super::wheels::{self, pin, unisolated};
use super::{ExportError, builds, images, own, valid};

/// `gpuenv export requirements`
pub const FORMAT: Format = Format {
    name: "requirements",
    help: "A requirements.txt for pip",
    file: "requirements.txt",
    options: &[
        Opt::switch("hashes", "The sha256 of every wheel, for `pip install --no-deps --require-hashes`"),
        Opt::switch("constraints", "A constraints file instead, for `pip install -c`: it installs nothing by itself"),
    ],
    next,
    merge: None,
    installs: Installs::BY_PIP_IN_ORDER,
    render: Render::Target(render),
};

/// How the file is installed. Where packages are compiled beside others, its head tells what comes first.
fn next(lock: &Lock, file: &str, options: &Options) -> String {
    if options.has("constraints") {
        return format!("pip install -c {file} PACKAGE");
    }
    let compiles = |name: &String| lock.wheels_of(name).any(|wheel| wheel.unisolated.is_some());
    let mut targets = lock.target.keys().filter(|name| options.target.as_ref().is_none_or(|target| target == *name));
    if targets.any(compiles) {
        return format!("install what the head of {file} names, then pip install --no-build-isolation -r {file}");
    }
    format!("pip install {}-r {file}", if options.has("hashes") { "--no-deps --require-hashes " } else { "" })
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    let beside = brought_in(lock, name, target);
    let others = ordinary::of(lock, name)?;
    if wheels.is_empty() && others.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    let head = head(lock, name, target)?;
    let with_hashes = options.has("hashes");
    if options.has("constraints") {
        if with_hashes {
            let why = "pip wants no hashes in constraints";
            return Err(ExportError::Beside { name: "hashes", beside: "--constraints", why });
        }
        let beside: Vec<&ConstraintLock> = lock.constraints_of(name).collect();
        return Ok(head + &own::constraints(lock, name, target)? + &constraints(&wheels, &beside, &others)?);
    }
    let mut out = head;
    if with_hashes {
        out += ABOUT_HASHES;
        if wheels.iter().all(|wheel| wheel.hashes().is_none()) {
            let unknown = wheels.iter().map(shown).chain(others.iter().map(|(name, _)| name.to_string()));
            return Err(ExportError::UnknownHash(unknown.collect()));
        }
    }
    let (wheels, unhashed): (Vec<&Wheel>, Vec<&Wheel>) =
        wheels.into_iter().partition(|wheel| !with_hashes || wheel.hashes().is_some());
    out += &compiled(lock, target, &wheels)?;
    if let Some(line) = images::inside_line(lock, name, target)? {
        out += &format!("# It stands in the image, and stays as it is:\n{line}\n");
    }
    out += &sources(lock, &wheels, &beside, &others)?;
    out += &pins(&wheels, &unhashed, with_hashes)?;
    // Without dependencies nothing brings them in.
    if !with_hashes {
        let held = held(&beside)?;
        if !held.is_empty() {
            out += &format!("# {HELD}\n{}\n", held.join("\n"));
        }
    }
    if others.is_empty() {
        return Ok(out);
    }
    // pip takes hashes for all or for none.
    let (note, sign) = match with_hashes {
        true => ("Without a sha256 here; to be installed afterwards:", "#   "),
        false => (ordinary::NOTE, ""),
    };
    out += &format!("# {note}\n");
    for line in ordinary::lines(&others) {
        out += &format!("{sign}{line}\n");
    }
    Ok(out)
}

/// What stands above all requirements: what they are for, and how pip is to look for them.
fn head(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let mut out = "# Written by `gpuenv export requirements`; do not edit.\n".to_string();
    if let Some(python) = wheels::python(lock, target)? {
        let arch = valid::cpu_arch(&target.arch)?;
        let range = wheels::pythons(lock, &[(name, target)])?.filter(|pythons| pythons.starts_with('>'));
        let range = range.map_or(String::new(), |range| format!(" ({range})"));
        out += &format!("# For Python {python}{range} on Linux {arch}.\n");
    }
    out += &own::comment(lock, name, target);
    for line in own::pip_lines(lock, name, target)? {
        out += &format!("{line}\n");
    }
    Ok(out)
}

/// What stands above requirements with hashes.
const ABOUT_HASHES: &str = "\
# Holds no dependencies, which have no sha256 here: `pip install --no-deps --require-hashes -r` this file,
# then the rest as you are used to, with these versions as constraints. For the hashes of all, dependencies too:
#   uv pip compile --generate-hashes --emit-index-url -o requirements.lock requirements.txt
";

/// The pins, with their hashes where those are asked for; the others as comments.
fn pins(wheels: &[&Wheel], unhashed: &[&Wheel], with_hashes: bool) -> Result<String, ExportError> {
    let mut out = String::new();
    for wheel in wheels {
        out += &pin(wheel)?;
        // An address carries its own.
        for hash in wheels::hashes(wheel)?.iter().filter(|_| with_hashes) {
            out += &format!(" \\\n    {hash}");
        }
        out.push('\n');
    }
    if !unhashed.is_empty() {
        out += "# The sha256 of these is not known; to be installed afterwards:\n";
    }
    for wheel in unhashed {
        out += &format!("#   {}\n", pin(wheel)?);
    }
    Ok(out)
}

/// What stands above packages that are asked for lest another build of theirs comes in.
const HELD: &str = "Where others bring these in, they must be those of the locked CUDA, which pip keeps to only if they are asked for.";

/// What others may bring in beside a framework. Beside one that stands in the image it is the image's own, which stays.
fn brought_in<'l>(lock: &'l Lock, name: &'l str, target: &TargetLock) -> Vec<&'l ConstraintLock> {
    match images::framework_inside(lock, name, target) {
        Some(_) => Vec::new(),
        None => lock.constraints_of(name).collect(),
    }
}

/// The requirements that keep what others may bring in to the lock; none where nothing that is installed does. What has no
/// label on its index is none that pip would find there for sure, and is better not asked for; what lies beside torch comes in
/// right from the package index where torch does.
fn held(beside: &[&ConstraintLock]) -> Result<Vec<String>, ExportError> {
    let comes_in = |one: &ConstraintLock| one.index.is_none() && !BESIDE_TORCH.contains(&&*one.package);
    let asked = beside.iter().filter(|one| one.brought && (one.version.contains('+') || comes_in(one)));
    asked.map(|one| wheels::constraint(one)).collect()
}

/// What nobody has seen on the index of the locked CUDA, though torch is from there: pip takes that of another CUDA where the
/// page of that index lacks it, and `uv` fails. First what is asked for, then what others may bring in.
pub(super) fn unseen(lock: &Lock, targets: &Targets) -> [Vec<String>; 2] {
    let [mut asked, mut brought] = [Vec::new(), Vec::new()];
    let is_unlabelled = |index: &Option<String>, version: &str| index.is_some() && !version.contains('+');
    for (name, target) in targets {
        let is_labelled =
            |wheel: &Wheel| wheel.package == "torch" && wheel.index.is_some() && wheel.version.contains('+');
        if !lock.wheels_of(name).any(is_labelled) {
            continue;
        }
        // Where that index is the only one, pip finds no other.
        let is_alone = |line: &String| line.starts_with("--index-url");
        if !lines(lock, name, target).is_ok_and(|lines| lines.iter().any(is_alone)) {
            let beside_torch = lock.wheels_of(name).filter(|wheel| BESIDE_TORCH.contains(&&*wheel.package));
            asked.extend(beside_torch.filter(|wheel| is_unlabelled(&wheel.index, &wheel.version)).map(|it| shown(&it)));
        }
        let held = lock.constraints_of(name).filter(|one| one.brought && is_unlabelled(&one.index, &one.version));
        brought.extend(held.map(|one| format!("{} {}", one.package, one.version)));
    }
    [asked, brought].map(distinct)
}

/// What stands above pages.
const PAGES: &str = "# Each page below offers one package only; everything else comes from your usual index.\n";

/// What later installs must keep to, and where it is found.
fn constraints(wheels: &[&Wheel], beside: &[&ConstraintLock], others: &[Asked]) -> Result<String, ExportError> {
    let mut out = String::new();
    for wheel in wheels {
        if let Some(index) = &wheel.index {
            refuse_ambiguous(&wheel.package, &wheel.version, index)?;
            out += &format!("--find-links {}\n", wheels::page(index, &wheel.package)?);
        }
    }
    out += &pages(beside)?;
    if !out.is_empty() {
        out.insert_str(0, PAGES);
    }
    for wheel in wheels {
        out += &(wheels::locked(wheel)? + "\n");
    }
    for one in beside {
        out += &(wheels::constraint(one)? + "\n");
    }
    // A constraint has no extras, and asks for something.
    for (name, asked) in others.iter().filter(|(_, asked)| !asked.comparisons.is_empty()) {
        out += &format!("{name}{}\n", asked.specifier());
    }
    Ok(out)
}

/// Where what others bring in is found.
fn pages(beside: &[&ConstraintLock]) -> Result<String, ExportError> {
    let mut out = String::new();
    for one in beside {
        wheels::constraint(one)?;
        if let Some(index) = &one.index {
            refuse_ambiguous(&one.package, &one.version, index)?;
            out += &format!("--find-links {}\n", wheels::page(index, &one.package)?);
        }
    }
    Ok(out)
}

/// Of one number on two indexes pip takes either, and whoever puts one on PyPI is asked for nothing. Those beside torch carry
/// its label there, be it that nobody has read the names of their files; and of two builds of one release pip takes the one
/// with a label.
fn refuse_ambiguous(package: &str, version: &str, index: &str) -> Result<(), ExportError> {
    if version.contains('+') || BESIDE_TORCH.contains(&package) {
        return Ok(());
    }
    let (package, version) = (valid::package(package)?.to_string(), valid::wheel_version(version)?.to_string());
    Err(ExportError::Ambiguous { package, version, index: valid::index(index)?.to_string() })
}

/// What a file for pip has no option for: some packages are compiled beside what is installed already.
fn compiled(lock: &Lock, target: &TargetLock, wheels: &[&Wheel]) -> Result<String, ExportError> {
    let (packages, tools) = unisolated(wheels)?;
    if packages.is_empty() {
        return Ok(String::new());
    }
    let tools = if tools.is_empty() { String::new() } else { format!(" ({})", tools.join(", ")) };
    let told = builds::assigned(&builds::variables(lock, target, wheels)?);
    let switched = match told.is_empty() {
        true => told,
        false => format!("# Set {told} for it: what is built otherwise may not run on the locked GPUs.\n"),
    };
    Ok(format!(
        "# Compiled beside an installed framework, as the documentation tells: {}.\n\
         # Install the other pins first, and what such builds import{tools}; then\n\
         # `pip install --no-build-isolation -r` this file. In the isolation pip builds in otherwise they fail.\n{switched}",
        packages.join(", ")
    ))
}

/// What `--hashes` leaves out, because nobody has read its sha256.
pub(super) fn unhashed(lock: &Lock, targets: &Targets) -> Vec<String> {
    let of_all = targets.iter().flat_map(|(name, _)| lock.wheels_of(name));
    distinct(of_all.filter(|wheel| wheel.hashes().is_none()).map(|wheel| shown(&wheel)))
}

fn shown(wheel: &&Wheel) -> String {
    format!("{} {}", wheel.package, wheel.version)
}

/// What pip is told for a target, a line each and no comments: where packages come from, then which. Empty where nothing is
/// installed. What is compiled beside these is [`later`]'s: at once with them pip would build it where no torch is.
pub(super) fn lines(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<String>, ExportError> {
    let all: Vec<&Wheel> = lock.wheels_of(name).collect();
    let beside = brought_in(lock, name, target);
    let others = ordinary::of(lock, name)?;
    if all.is_empty() && others.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = own::pip_lines(lock, name, target)?;
    lines.extend(source_lines(lock, &all, &beside, &others)?);
    lines.extend(images::inside_line(lock, name, target)?);
    for wheel in all.iter().filter(|wheel| wheel.unisolated.is_none()) {
        lines.push(pin(wheel)?);
    }
    lines.extend(held(&beside)?);
    lines.extend(ordinary::lines(&others));
    Ok(lines)
}

/// What is compiled beside what is installed by then, for a `pip install` of its own without isolation.
pub(super) struct Later {
    /// Packages that the builds import.
    pub tools: Vec<String>,
    /// The variables that they read.
    pub variables: Vec<(String, String)>,
    /// The lines for what is built.
    pub lines: Vec<String>,
}

/// None where nothing is.
pub(super) fn later(lock: &Lock, name: &str, target: &TargetLock) -> Result<Option<Later>, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).filter(|wheel| wheel.unisolated.is_some()).collect();
    if wheels.is_empty() {
        return Ok(None);
    }
    let (_, tools) = unisolated(&wheels)?;
    let mut lines = source_lines(lock, &wheels, &[], &[])?;
    for wheel in &wheels {
        lines.push(pin(wheel)?);
    }
    let tools = tools.into_iter().map(str::to_string).collect();
    Ok(Some(Later { tools, variables: builds::variables(lock, target, &wheels)?, lines }))
}

fn source_lines(
    lock: &Lock,
    wheels: &[&Wheel],
    beside: &[&ConstraintLock],
    others: &[Asked],
) -> Result<Vec<String>, ExportError> {
    let sources = sources(lock, wheels, beside, others)?;
    Ok(sources.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect())
}

/// The lines that say where the pins come from.
fn sources(
    lock: &Lock,
    wheels: &[&Wheel],
    beside: &[&ConstraintLock],
    others: &[Asked],
) -> Result<String, ExportError> {
    let Some(first) = wheels.first().map(|wheel| wheel.index.as_deref()) else {
        return if others.is_empty() { Err(ExportError::NothingToInstall) } else { Ok(String::new()) };
    };
    if wheels.iter().any(|wheel| wheel.index.as_deref() != first) {
        return pages_of(wheels, beside);
    }
    let Some(index) = first else { return Ok(String::new()) };
    // No other index is known to have all of what `[packages]` asks for and of what the pins need. Of the latter PyTorch's has
    // copies (NumPy, setuptools), which have to do where pip cannot be told of the pages alone.
    match pages_of(wheels, beside) {
        pages @ Ok(_) if !others.is_empty() => pages,
        refused @ Err(_) if lock.packages().next().is_some() => refused,
        _ => Ok(format!(
            "# pip takes everything here from this one index, dependencies included. Install the file by itself,\n\
             # then your other packages from your usual index, with the pins below as constraints.\n\
             --index-url {}\n",
            valid::index(index)?
        )),
    }
}

/// A page of its own for each package that comes from another index than the default one.
fn pages_of(wheels: &[&Wheel], beside: &[&ConstraintLock]) -> Result<String, ExportError> {
    let mut out = PAGES.to_string();
    for wheel in wheels {
        if let Some(index) = &wheel.index {
            let package = valid::package(&wheel.package)?;
            refuse_ambiguous(package, &wheel.version, index)?;
            out += &format!("--find-links {}\n", wheels::page(index, package)?);
        }
        if let Some(index) = wheels::nightlies(wheel) {
            for package in wheels::WITH_NIGHTLIES {
                out += &format!("--find-links {}\n", wheels::page(index, package)?);
            }
        }
    }
    Ok(out + &pages(beside)?)
}
