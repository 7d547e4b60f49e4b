//! Overlays: rows of the catalog altered a little, rows of a site's own, rules retracted.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Companion, Driver, Image};
use gpuenv::types::{Arch, Constraint, Version};
use serde::Serialize;
use toml::{Table, Value};

use super::era::Era;
use super::random::Random;

/// The name of the file.
pub const NAME: &str = "site.toml";

/// The source that a site's own rows name.
const SOURCE: &str =
    "source = [{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\" }]\n";

/// Rows of a site's own that rules out drivers the catalog takes.
const RULES: &[&str] = &[
    "[[rule]]\nid = \"site-cuda-12-driver\"\nsubject = \"cuda\"\nrange = \"12\"\nobject = \"driver\"\nneeds = \">=550\"\n\
     says = \"CUDA 12 runs here on branch 550 or newer.\"\nsource = \"acme\"\nholds = [\"12.4 560.35.03\"]\nfails = [\"12.4 535.183.01\"]\n",
    "[[rule]]\nid = \"site-ampere-cuda\"\nsubject = \"gpu\"\nrange = \"8\"\nobject = \"cuda\"\nneeds = \">=11.8\"\n\
     says = \"Boards of capability 8 take CUDA 11.8 or newer here.\"\nsource = \"acme\"\nholds = [\"8.0 12.1\"]\nfails = [\"8.0 11.3\"]\n",
];

/// The text of an overlay, none where what was drawn has no row here.
pub fn overlay(era: &Era, random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.weighted(&[0, 60, 30, 10]) {
        let piece = piece(era, random);
        if !text.contains(piece.lines().next().unwrap_or_default()) {
            text += &piece;
        }
    }
    if text.is_empty() {
        text = retraction(era, random);
    }
    if text.contains("\"acme\"") { format!("{SOURCE}\n{text}") } else { text }
}

fn piece(era: &Era, random: &mut Random) -> String {
    match random.below(9) {
        0 => in_house_build(era),
        1 => replaced_build(era),
        2 => driver(random),
        3 => board(era, random),
        4 => companion(era, random),
        5 => image(era, random),
        6 => random.pick(RULES).to_string(),
        _ => retraction(era, random),
    }
}

/// `[[kind]]` with the fields of a row, some of them altered.
fn row(kind: &str, row: &impl Serialize, alter: impl FnOnce(&mut Table)) -> String {
    let Ok(Value::Table(mut fields)) = Value::try_from(row) else { return String::new() };
    alter(&mut fields);
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("[[{kind}]]\n{}\n", fields.concat())
}

fn put(fields: &mut Table, key: &str, value: impl Into<Value>) {
    fields.insert(key.to_string(), value.into());
}

/// A later patch release of the era's build, from an index of the site's own.
fn in_house_build(era: &Era) -> String {
    row("build", era.build, |fields| {
        put(fields, "version", format!("{}.7", era.build.version));
        put(fields, "index_url", "https://wheels.acme.example/simple");
        put(fields, "wheel", format!("{}+acme", era.build.version));
        put(fields, "source", "acme");
        put(fields, "default", false);
        fields.remove("index");
        fields.remove("url");
    })
}

/// The era's build with code for one more architecture.
fn replaced_build(era: &Era) -> String {
    let toolkit = BUILTIN.toolkits.iter().find(|row| Some(row.version) == era.build.toolkit);
    let (Some(toolkit), Some(_)) = (toolkit, &era.build.arch_source) else { return String::new() };
    let lacks = |text: &&str| {
        Arch::parse(text).is_ok_and(|arch| !era.build.sass.contains(&arch) && toolkit.sass.contains(&arch))
    };
    let Some(more) = ["8.9", "7.5", "6.1"].into_iter().find(lacks) else { return String::new() };
    row("build", era.build, |fields| {
        if let Some(Value::Array(archs)) = fields.get_mut("sass") {
            archs.push(Value::from(more));
            archs.sort_by_key(|arch| arch.as_str().and_then(|arch| Arch::parse(arch).ok()));
        }
        put(fields, "replace", true);
    })
}

/// A release that the catalog does not list.
fn driver(random: &mut Random) -> String {
    let fits = |row: &&Driver| !row.beta && row.date.is_some();
    let known: Vec<&Driver> = BUILTIN.drivers.iter().filter(fits).collect();
    let last = random.pick_late(&known);
    row("driver", last, |fields| {
        put(fields, "version", format!("{}.77", last.version));
        put(fields, "source", "acme");
    })
}

/// A board that is not yet sold.
fn board(era: &Era, random: &mut Random) -> String {
    let sass: Vec<_> = era.build.sass.iter().map(|arch| arch.cc).collect();
    let known = BUILTIN.gpus.iter().find(|row| sass.first() == Some(&row.cc));
    let (cc, architecture, last) = match known {
        Some(row) if !random.percent(30) => (row.cc.to_string(), &*row.architecture, row.last_branch),
        _ => ("14.0".to_string(), "Later", None),
    };
    let last = last.map_or(String::new(), |last| format!("last_branch = \"{last}\"\n"));
    format!(
        "[[gpu]]\nname = \"NVIDIA X100\"\ncc = \"{cc}\"\nclass = \"datacenter\"\narchitecture = \"{architecture}\"\n\
         {last}source = \"acme\"\n\n"
    )
}

/// A later release of a package that follows the era's framework.
fn companion(era: &Era, random: &mut Random) -> String {
    let accepts = |row: &&Companion| {
        row.framework == era.build.package
            && row.systems.is_empty()
            && !row.version.as_str().contains("post")
            && Constraint::parse(&row.needs).is_ok_and(|needs| needs.admits(&era.build.version))
    };
    let rows: Vec<&Companion> = BUILTIN.companions.iter().filter(accepts).collect();
    if rows.is_empty() {
        return String::new();
    }
    let base = random.pick(&rows);
    row("companion", base, |fields| {
        put(fields, "version", format!("{}.7", base.version));
        put(fields, "index_url", "https://wheels.acme.example/simple");
        put(fields, "source", "acme");
        for gone in ["url", "wheel", "finished", "finished_source"] {
            fields.remove(gone);
        }
    })
}

/// A tag of a registry of the site's own.
fn image(era: &Era, random: &mut Random) -> String {
    let fits = |row: &&Image| {
        row.repository == "nvidia/cuda"
            && row.torch.is_none()
            && !row.withdrawn
            && !row.arches.is_empty()
            && era.line.is_none_or(|line| row.cuda.major() == line.major())
    };
    let rows: Vec<&Image> = BUILTIN.images.iter().filter(fits).collect();
    if rows.is_empty() {
        return String::new();
    }
    let base = random.pick(&rows);
    row("image", base, |fields| {
        put(fields, "repository", "registry.acme.example/ml/cuda");
        put(fields, "source", "acme");
    })
}

/// A rule set aside: one that may well matter here.
fn retraction(era: &Era, random: &mut Random) -> String {
    let rule = rule(era, random);
    format!("[[retract]]\nrule = \"{rule}\"\nreason = \"measured on our hosts\"\n\n")
}

/// A rule that often decides, for retractions and overrides.
pub fn rule(era: &Era, random: &mut Random) -> String {
    let laws: Vec<&str> = BUILTIN.laws.iter().map(|law| &*law.id).collect();
    if random.percent(60) {
        return random.pick(&laws).to_string();
    }
    let line = era.line.unwrap_or(Version::parse("12.4").expect("a version"));
    let speaks = |range: &str, of: &Version| Constraint::parse(range).is_ok_and(|range| range.admits(of));
    let near: Vec<&str> = BUILTIN
        .rules
        .iter()
        .filter(|row| row.package.is_some() || speaks(&row.range, &line) || row.subject.as_str() == "gpu")
        .map(|row| &*row.id)
        .collect();
    random.pick(&near).to_string()
}
