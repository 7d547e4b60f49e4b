//! `uv`: a pyproject.toml for uv, whole as it stands, or merged into the one that is there.
//!
//! Every index is `explicit`: only the packages that the lock took from it are looked up there, so that
//! nothing else can come from it and nothing else is missed for its sake. What others bring in has a constraint and a
//! source: uv follows a source for what the project itself names only, and a constraint names it. `environments` keeps
//! uv from resolving for platforms that the lock says nothing about.
//!
//! Targets that want other wheels on one platform become extras that exclude each other.

mod contradiction;
mod edit;
mod merge;
mod moved;
mod plan;
mod refused;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::lock::{Lock, TargetLock, Wheel};
use crate::types::nvidia;

use super::format::{self, Format, Installs, Options, Render, Targets, choose, names};
use super::wheels::{self, UNCHECKED, misnamed, pin, unisolated};
use super::{ExportError, builds, images, own, quote, valid};

use plan::{Entry, Plan};

/// `gpuenv export uv`
pub const FORMAT: Format = Format {
    name: "uv",
    help: "A pyproject.toml for uv, each package tied to its index; merged into the one that is there",
    file: "pyproject.toml",
    options: &[],
    next,
    merge: Some(merge::merge),
    installs: Installs::IN_ORDER,
    render: Render::Whole(render),
};

/// An extra has to be named, where the targets are extras.
fn next(lock: &Lock, file: &str, options: &Options) -> String {
    let targets = choose(lock, options).unwrap_or_default();
    let Ok(plan) = Plan::new(lock, &targets) else { return sync(file) };
    // What somebody has installed himself is none of the project's, and would be removed.
    let inexact = if plan.excluded.is_empty() { "" } else { " --inexact" };
    let extra = plan.extras.first().map_or(String::new(), |extra| format!(" --extra {extra}"));
    let mut told = targets.first().and_then(|of| read_by_builds(lock, of).ok()).unwrap_or_default();
    if !misnamed(&plan.all).is_empty() {
        told = format!("{told} {UNCHECKED}=1");
    }
    let command = format!("{told} uv sync{}{inexact}{extra}", format::folder_option("--project", file));
    format::by_its_name(file, FORMAT.file, command.trim_start())
}

/// `uv sync` of the project that a file is of.
fn sync(file: &str) -> String {
    format!("uv sync{}", format::folder_option("--project", file))
}

/// The variables that the builds for a target read, in front of a command.
fn read_by_builds(lock: &Lock, (name, target): &(&str, &TargetLock)) -> Result<String, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    Ok(builds::assigned(&builds::variables(lock, target, &wheels)?))
}

/// How uv is run, where that is not plain: a comment.
fn how_to_run(lock: &Lock, targets: &Targets, plan: &Plan) -> Result<String, ExportError> {
    let mut out = String::new();
    let named = misnamed(&plan.all);
    if !named.is_empty() {
        let named = named.join(", ");
        let _ = writeln!(
            out,
            "# The file of {named} is named otherwise than its metadata says: run uv with {UNCHECKED}=1."
        );
    }
    let mut told: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for of in targets {
        told.entry(read_by_builds(lock, of)?).or_default().push(of.0);
    }
    let differ = told.len() > 1;
    for (variables, names) in told.iter().filter(|(variables, _)| !variables.is_empty()) {
        let whose = if differ { format!(" for {}", names.join(", ")) } else { String::new() };
        let _ =
            writeln!(out, "# What uv compiles{whose} may not run on the locked GPUs unless uv runs with {variables}");
    }
    Ok(if out.is_empty() { out } else { format!("\n{out}") })
}

/// What it writes above the lists that it makes.
mod above {
    pub const BUILD: &str = "# What the builds below import.";
    pub const UNISOLATED: &str =
        "# Compiled beside an installed framework, as the documentation tells, or since the build imports it.";
    pub const ENVIRONMENTS: &str = "# What the lock was made for, and nothing else.";
    pub const CONFLICTS: &str = "# No two of the targets can be installed together.";
    pub const NIGHTLY: &str = "# A nightly of torch asks for a Triton that its own index alone has.";
    pub const CONSTRAINTS: &str = "# Where other packages bring these in, they must not be those of another CUDA.";
    pub const EXCLUDED: &str = "# You install these yourself: nothing may bring another build. `uv sync --inexact` keeps what it does not know.";
    /// All of them.
    pub const ALL: [&str; 7] = [BUILD, UNISOLATED, ENVIRONMENTS, CONFLICTS, NIGHTLY, CONSTRAINTS, EXCLUDED];
    /// The record begins so.
    pub const RECORD: &str = "# What `gpuenv export uv` wrote above";
}

/// What stands in which list of the file, so that the next export knows what is its own.
type Record = Vec<(&'static str, Vec<String>)>;

fn render(lock: &Lock, targets: &Targets, _: &Options) -> Result<String, ExportError> {
    let plan = Plan::new(lock, targets)?;
    let mut pythons: BTreeSet<Option<&str>> = BTreeSet::new();
    for (_, target) in targets {
        pythons.insert(wheels::python(lock, target)?);
    }
    if pythons.len() > 1 {
        return Err(ExportError::TargetNeeded(names(targets)));
    }
    let mut record = Record::new();
    let mut out =
        "# Written by `gpuenv export uv`. What it wrote is listed under [tool.gpuenv] and replaced when it writes\n\
                   # again; the rest of the file is yours.\n\n"
            .to_string();
    if let Some(note) = targets.iter().map(|(name, target)| own::comment(lock, name, target)).find(|it| !it.is_empty())
    {
        out += &format!("{note}\n");
    }
    out += "[project]\nname = \"gpu-stack\"\nversion = \"0\"\n";
    if let Some(pythons) = wheels::pythons(lock, targets)? {
        let _ = writeln!(out, "requires-python = {}", quote::toml(&pythons));
        record.push(("requires-python", vec![pythons]));
    }
    out += &dependencies(&plan, &mut record)?;
    out += &how_to_run(lock, targets, &plan)?;
    let (unisolated, tools) = unisolated(&plan.all)?;
    if !unisolated.is_empty() {
        let _ = write!(out, "\n[dependency-groups]\n{}\nbuild = {}\n", above::BUILD, list(&tools));
        record.push(("build", tools.iter().map(ToString::to_string).collect()));
    }
    out += "\n[tool.uv]\n";
    if !unisolated.is_empty() {
        let _ = write!(
            out,
            "{}\nno-build-isolation-package = {}\ndefault-groups = [\"build\"]\n",
            above::UNISOLATED,
            list(&unisolated)
        );
        record.push(("no-build-isolation-package", unisolated.iter().map(ToString::to_string).collect()));
        record.push(("default-groups", vec!["build".to_string()]));
    }
    out += &tool_uv(&plan, &mut record)?;
    out += &requirements_once_built(&plan, targets, &mut record)?;
    out += &indexes_and_sources(&plan, &mut record)?;
    let brought = brought(lock, targets)?;
    let and = if brought.is_empty() { "" } else { ", and what that brings" };
    record.push(("brought", brought));
    let _ = write!(out, "\n{}{and}.\n[tool.gpuenv]\n", above::RECORD);
    for (key, entries) in record.iter().filter(|(_, entries)| !entries.is_empty()) {
        out += &lines(key, entries);
    }
    for (name, target) in targets {
        images::refuse_framework_inside(lock, name, target)?;
    }
    Ok(out)
}

/// What the pins bring along in the locked releases, without the CUDA in the names of some of them.
fn brought(lock: &Lock, targets: &Targets) -> Result<Vec<String>, ExportError> {
    let mut all = BTreeSet::new();
    for (_, target) in targets {
        let stack = lock.stack_of(target);
        for (key, package) in nvidia::PARTS.into_iter().chain([("triton", "triton")]) {
            if let Some(version) = stack.get(key) {
                all.insert(format!("{package}=={}", valid::wheel_version(version)?));
            }
        }
    }
    Ok(all.into_iter().collect())
}

/// The pins, for all or by extra.
fn dependencies(plan: &Plan, record: &mut Record) -> Result<String, ExportError> {
    let mut common = Vec::new();
    let mut extras: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in &plan.wheels {
        let line = format!("{}{}", pin(entry.of)?, marked(entry));
        match &entry.extra {
            Some(extra) => extras.entry(extra).or_default().push(line),
            None => common.push(line),
        }
    }
    for (line, extra) in &plan.ordinary {
        match extra {
            Some(extra) => extras.entry(extra).or_default().push(line.clone()),
            None => common.push(line.clone()),
        }
    }
    // A constraint knows no extras, and a source of an extra speaks only of what that extra names.
    for entry in &plan.constraints {
        if let Some(extra) = &entry.extra {
            let line = format!("{}{}", wheels::constraint(entry.of)?, marked(entry));
            extras.entry(extra).or_default().push(line);
        }
    }
    let is_shared = plan.extras.is_empty() || !common.is_empty();
    let mut out = if is_shared { lines("dependencies", &common) } else { String::new() };
    record.push(("dependencies", common));
    if !plan.extras.is_empty() {
        out += "\n# One for each target; they exclude each other. What other packages may bring in is named here too: uv would\n\
                # take that of another CUDA.\n[project.optional-dependencies]\n";
        for extra in &plan.extras {
            out += &lines(extra, extras.get(extra.as_str()).map_or(&[][..], Vec::as_slice));
        }
        record.push(("optional-dependencies", plan.extras.clone()));
    }
    Ok(out)
}

/// What holds for the resolution as a whole.
fn tool_uv(plan: &Plan, record: &mut Record) -> Result<String, ExportError> {
    let mut out = format!("{}\n", above::ENVIRONMENTS);
    let environments: Vec<String> = plan.arches.iter().map(|arch| plan::marker(*arch)).collect();
    out += &lines("environments", &environments);
    record.push(("environments", environments));
    if plan.extras.len() > 1 {
        let members: Vec<String> =
            plan.extras.iter().map(|extra| format!("{{ extra = {} }}", quote::toml(extra))).collect();
        let set = format!("[{}]", members.join(", "));
        let _ = writeln!(out, "{}\nconflicts = [{set}]", above::CONFLICTS);
        record.push(("conflicts", vec![set]));
    }
    let mut constraints = Vec::new();
    for entry in plan.constraints.iter().filter(|entry| entry.extra.is_none()) {
        constraints.push(format!("{}{}", wheels::constraint(entry.of)?, marked(entry)));
    }
    if plan.nightlies().is_some() {
        let _ = writeln!(out, "{}", above::NIGHTLY);
        // uv follows the source of a constraint only where that has a bound.
        constraints.extend(wheels::WITH_NIGHTLIES.map(|package| format!("{package}>=0")));
    }
    if !constraints.is_empty() {
        let _ = writeln!(out, "{}", above::CONSTRAINTS);
        out += &lines("constraint-dependencies", &constraints);
    }
    record.push(("constraint-dependencies", constraints));
    let excluded: Vec<String> = plan.excluded.iter().cloned().collect();
    if !excluded.is_empty() {
        let _ = writeln!(out, "{}", above::EXCLUDED);
        out += &lines("exclude-dependencies", &excluded);
    }
    record.push(("exclude-dependencies", excluded));
    Ok(out)
}

/// `[[tool.uv.dependency-metadata]]`: what is compiled requires, which uv would run builds to learn, where no framework is
/// installed yet.
fn requirements_once_built(plan: &Plan, targets: &Targets, record: &mut Record) -> Result<String, ExportError> {
    let mut known: BTreeMap<(&str, &str), &[String]> = BTreeMap::new();
    for wheel in &plan.all {
        let (Some((package, version)), Some(requires)) = (wheel.compiled(), &wheel.requires) else { continue };
        let told = known.entry((valid::package(package)?, valid::wheel_version(version)?)).or_insert(requires);
        // Built beside a framework of another CUDA it requires others, and the table knows no extras.
        if told != requires {
            return Err(ExportError::TargetNeeded(names(targets)));
        }
    }
    let mut out = String::new();
    let mut entries = Vec::new();
    for ((package, version), requires) in &known {
        let requires: Vec<&str> =
            requires.iter().map(|one| valid::requirement(one).map(|_| one.as_str())).collect::<Result<_, _>>()?;
        let _ = write!(
            out,
            "\n# What it requires once it is built, so that uv need not build it to lock.\n[[tool.uv.dependency-metadata]]\n\
             name = {}\nversion = {}\nrequires-dist = {}\n",
            quote::toml(package),
            quote::toml(version),
            list(&requires)
        );
        entries.push(format!("{package} {version}"));
    }
    record.push(("dependency-metadata", entries));
    Ok(out)
}

/// `[[tool.uv.index]]`, and `[tool.uv.sources]`: which package comes from which index.
fn indexes_and_sources(plan: &Plan, record: &mut Record) -> Result<String, ExportError> {
    let indexes = plan.indexes()?;
    let mut out = String::new();
    for (url, name) in &indexes {
        let _ = write!(
            out,
            "\n[[tool.uv.index]]\nname = {}\nurl = {}\n# Only for the packages that name it below.\nexplicit = true\n",
            quote::toml(name),
            quote::toml(url)
        );
    }
    record.push(("index", indexes.values().cloned().collect()));
    let mut sources: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in plan.sources() {
        let Some(name) = indexes.get(source.index) else { continue };
        let mut fields = vec![format!("index = {}", quote::toml(name))];
        fields.extend(source.extra.as_ref().map(|extra| format!("extra = {}", quote::toml(extra))));
        fields.extend(source.marker.as_ref().map(|marker| format!("marker = {}", quote::toml(marker))));
        let line = format!("{{ {} }}", fields.join(", "));
        let known = sources.entry(valid::package(source.package)?).or_default();
        if !known.contains(&line) {
            known.push(line);
        }
    }
    if !sources.is_empty() {
        out += "\n[tool.uv.sources]\n";
    }
    for (package, tables) in &sources {
        let _ = writeln!(out, "{} = [{}]", quote::toml_key(package), tables.join(", "));
    }
    record.push(("sources", sources.keys().map(ToString::to_string).collect()));
    Ok(out)
}

/// ` ; sys_platform == …` where an entry is not for all platforms.
fn marked<T>(entry: &Entry<T>) -> String {
    entry.marker.as_ref().map_or(String::new(), |marker| format!(" ; {marker}"))
}

/// A list, one entry a line.
fn lines(key: &str, entries: &[String]) -> String {
    let mut out = format!("{} = [\n", quote::toml_key(key));
    for entry in entries {
        let _ = writeln!(out, "    {},", quote::toml(entry));
    }
    out + "]\n"
}

fn list(words: &[&str]) -> String {
    format!("[{}]", words.iter().map(|word| quote::toml(word)).collect::<Vec<_>>().join(", "))
}
