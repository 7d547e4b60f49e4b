//! Things that can be looked up by their name alone: a rule, a warning, a row of the catalog.
//!
//! `gpuenv explain` and `gpuenv catalog show` ask here: an id leads to one row, `torch@2.8` or `driver@570` to all
//! that it admits, and a product is found by the names people use.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::catalog::rows::FRAMEWORKS;
use crate::catalog::{Catalog, Cite, FullRow, GpuMatch, OsMatch};
use crate::meaning::{self, Meaning};
use crate::nearest;
use crate::spec::{KeyDoc, Spec, tables};
use crate::types::variant::line_of;
use crate::types::{Constraint, Version, distinct};

/// One thing that has a name.
#[derive(Debug, Clone)]
pub enum Topic {
    /// A rule of the catalog, or a law that is code.
    Rule(Box<RuleTopic>),
    /// A kind of warning.
    Warning(&'static Meaning),
    /// A row of the catalog.
    Row(FullRow),
    /// What a few sentences explain.
    Described(Described),
}

/// Something that a few sentences explain.
#[derive(Debug, Clone)]
pub struct Described {
    /// What it is: an `error`, a `check` of a host, a `message` of another program, a `package` of `[packages]`, a `word`,
    /// a `key` of gpuenv.toml, a `table` of it.
    pub kind: &'static str,
    /// Its name.
    pub id: String,
    /// What it means.
    pub says: String,
    /// What to change.
    pub remedies: Vec<String>,
}

impl Topic {
    /// What is explained, without anything to change.
    pub fn described(kind: &'static str, id: impl Into<String>, says: impl Into<String>) -> Topic {
        Topic::Described(Described { kind, id: id.into(), says: says.into(), remedies: Vec::new() })
    }

    /// What a name means among those of a kind.
    pub fn meant(kind: &'static str, all: &'static [Meaning], name: &str) -> Option<Topic> {
        meaning::find(all, name).map(|one| Topic::described(kind, one.code, one.says()))
    }
}

/// A rule with its source and its own tests.
#[derive(Debug, Clone)]
pub struct RuleTopic {
    /// Its id, as overrides name it.
    pub id: String,
    /// What it says.
    pub says: String,
    /// What it speaks of and what that needs, as subject and range; none for a law.
    pub range: Option<(String, String)>,
    /// See `range`.
    pub needs: Option<(String, String)>,
    /// The row, with everything it rests on.
    pub row: FullRow,
    /// Pairs that satisfy it.
    pub holds: Vec<String>,
    /// Pairs that break it.
    pub fails: Vec<String>,
    /// The overlay that set it aside, and why: `site.toml:12`.
    pub retracted: Option<(String, String)>,
}

/// Everything of this name: a rule and a warning may share one.
pub fn find(catalog: &Catalog, name: &str) -> Vec<Topic> {
    let mut found: Vec<Topic> = rule(catalog, name).map(|rule| Topic::Rule(Box::new(rule))).into_iter().collect();
    found.extend(meaning::find(meaning::WARNINGS, name).map(Topic::Warning));
    found.extend(Topic::meant("word", meaning::WORDS, &name.to_lowercase().replace(' ', "-")));
    if found.is_empty() {
        found.extend(catalog.row(name).map(Topic::Row));
    }
    if found.is_empty() {
        found.extend(described(catalog, name).into_iter().map(Topic::Row));
    }
    found
}

/// A package of `[packages]`: it is carried along, and nothing is solved with it.
///
/// `needed` are the requirements of locked packages that exports hold it to, `vllm 0.9.2` and `transformers<5`; `here` is what
/// the lock holds.
pub fn ordinary(
    catalog: &Catalog,
    spec: &Spec,
    name: &str,
    needed: &[(String, String)],
    here: &BTreeSet<String>,
) -> Option<Topic> {
    let name = name.strip_prefix("packages.").unwrap_or(name);
    let (name, written) = spec.packages.iter().find(|(known, _)| known == name)?;
    let mut says = format!(
        "`{name} = \"{}\"` stands under [packages]: nothing is solved with it. It is in the lock as it is written and in \
         every export that installs packages, and the installer chooses the release.",
        written.text
    );
    for (package, asked) in needed.iter().filter(|(_, asked)| names(asked, name)) {
        says += &format!(" Exports add `{asked}`, which {package} of the lock needs and its metadata does not say.");
    }
    // What metadata says is a matter of installers.
    let is_here = |name: &str| {
        here.contains(name)
            || spec.stack.iter().any(|(one, _)| one == name)
            || spec.packages.iter().any(|(one, _)| one == name)
    };
    for row in catalog.asks.iter().filter(|row| !row.says.is_empty() && is_here(&row.package) && is_here(&row.of)) {
        let id = if row.id.is_empty() { String::new() } else { format!(" ({})", row.id) };
        if *row.of == **name || *row.package == **name {
            says += &format!(" {} {} needs {} {}: {}{id}", row.package, row.range, row.of, row.needs, row.says);
        }
    }
    Some(Topic::described("package", name, says))
}

/// A key of gpuenv.toml or one of its tables, by its name alone or behind that of its table: its line of the reference, and
/// what a spec sets. What stands in the stack and under `[packages]` is told by what was chosen.
pub fn keys(spec: Option<&Spec>, name: &str) -> Vec<Topic> {
    let parts: Vec<&str> = name.split('.').collect();
    let of_target = parts.get(1).filter(|_| parts.len() == 3 && parts[0] == "target");
    let mut found = Vec::new();
    for table in tables().into_iter().filter(|table| table.name != "stack") {
        let names: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
        if table.name == name && name != "target" {
            let says = format!("{} Its keys: {}.", table.about, names.join(", "));
            found.push(Topic::described("table", table.header, says));
        }
        let is_below = name.strip_prefix(table.name).is_some_and(|rest| rest.starts_with('.'));
        let is_one = |key: &&KeyDoc| name == key.name || is_below && parts.last() == Some(&key.name);
        for key in table.keys.iter().filter(is_one).filter(|_| table.name != "packages") {
            let id = if table.name.is_empty() { key.name.to_string() } else { format!("{}.{}", table.name, key.name) };
            let set = spec.map_or_else(String::new, |spec| set_by(spec, &id, table.name, key.name, of_target));
            let says = format!("{} As in `{} = {}`.{set}", key.description(), key.name, key.example);
            found.push(Topic::described("key", id, says));
        }
    }
    found
}

/// What a spec sets a key to.
fn set_by(spec: &Spec, id: &str, table: &str, key: &str, of_target: Option<&&str>) -> String {
    let value = |text: String| match text.starts_with('[') || ["true", "false"].contains(&&*text) {
        true => format!("`{key} = {text}`"),
        false => format!("`{key} = \"{text}\"`"),
    };
    if table != "target" {
        return spec.text(id).map_or_else(String::new, |text| format!(" gpuenv.toml sets {}.", value(text)));
    }
    let is_asked = |name: &str| of_target.is_none_or(|asked| ["*", "NAME", name].contains(asked));
    let asked = spec.targets.iter().filter(|target| is_asked(&target.name));
    let told = asked.map(|target| match spec.text(&format!("target.{}.{key}", target.name)) {
        Some(text) => format!(" Target `{}` sets {}: that is given, not chosen.", target.name, value(text)),
        None => format!(" Target `{}` does not set it.", target.name),
    });
    told.collect()
}

/// Whether a requirement is one of this package.
fn names(asked: &str, package: &str) -> bool {
    asked
        .strip_prefix(package)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c)))
}

/// The rows that a description means: `cuda@12.8`, `image@nvidia/cuda:12.8.1-base-ubuntu22.04`, a product's name.
fn described(catalog: &Catalog, name: &str) -> Vec<FullRow> {
    let (what, which) = match name.split_once('@') {
        Some((what, which)) => (what.trim(), Some(which.trim())),
        None => (name, None),
    };
    match which {
        Some(which) => of_kind(catalog, &what.to_lowercase(), which),
        None => {
            let found = of_kind(catalog, &name.to_lowercase(), "*");
            if !found.is_empty() {
                return found;
            }
            // The number of a driver branch is also in names of products: whoever types it alone may mean either.
            let mut found = if is_branch(catalog, name) { of_kind(catalog, "driver", name) } else { Vec::new() };
            found.extend(gpus(catalog, name));
            let found = if found.is_empty() { systems(catalog, name) } else { found };
            match by_its_form(name) {
                Some((what, which)) if found.is_empty() => of_kind(catalog, &what.to_lowercase(), &which),
                _ => found,
            }
        }
    }
}

fn is_branch(catalog: &Catalog, name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit()) && catalog.branches.iter().any(|row| row.branch.as_str() == name)
}

/// What a name must be that stands alone: `nvidia/cuda:TAG` is an image, `R535` and `535.104.05` are drivers, `cu126` and
/// `12.6` are of CUDA; of two words the second is a release, as in `torch 2.8`.
fn by_its_form(name: &str) -> Option<(&str, Cow<'_, str>)> {
    if name.contains('/') {
        return Some(("image", name.into()));
    }
    if let Some((what, which)) = name.split_once(' ') {
        return Some((what, which.into()));
    }
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(line) = name.strip_prefix("cu").filter(is_number).and_then(|_| line_of(name)) {
        return Some(("cuda", line.to_string().into()));
    }
    let (major, _) = name.split_once('.').filter(|(major, _)| is_number(major)).unwrap_or_default();
    match (name.strip_prefix(['R', 'r']).filter(is_number), major.len()) {
        (Some(branch), _) => Some(("driver", branch.into())),
        (None, 3) => Some(("driver", name.into())),
        (None, 1..=2) => Some(("cuda", name.into())),
        _ => None,
    }
}

/// The kinds that can stand before `@`; packages can too.
const KINDS: &[&str] =
    &["cuda", "driver", "cudnn", "nccl", "python", "image", "gpu", "os", "cuda-compat", "ptx-isa", "source"];

fn of_kind(catalog: &Catalog, what: &str, which: &str) -> Vec<FullRow> {
    match what {
        "image" => return images(catalog, which),
        "gpu" if which != "*" => return gpus(catalog, which),
        "os" if which != "*" => return systems(catalog, which),
        "source" if which != "*" => return catalog.row(&format!("source {which}")).into_iter().collect(),
        _ => {}
    }
    let Ok(wanted) = Constraint::parse(which) else { return Vec::new() };
    let admits = |version: &Version| wanted.admits(version);
    match what {
        "cuda" | "toolkit" => {
            let line = |cuda: &Version| wanted.single().is_some_and(|single| single.prefix(2) == *cuda);
            let mut rows = pick(catalog, "toolkit", &catalog.toolkits, |row| admits(&row.version));
            rows.extend(pick(catalog, "compat", &catalog.compats, |row| line(&row.cuda)));
            let of_single = |cuda: &Version| wanted.single().is_some_and(|single| single.cmp_prefix(cuda).is_eq());
            // The driver of a whole major is no answer to who asks for a release that is not known.
            if !rows.is_empty() {
                rows.extend(pick(catalog, "windows_driver", &catalog.windows_drivers, |row| {
                    of_single(&row.cuda) || (row.cuda.len() > 1 && admits(&row.cuda))
                }));
            }
            rows
        }
        "driver" => {
            let branch = |branch: &Version| wanted.single().is_some_and(|single| single.major() == branch.major());
            let mut rows = pick(catalog, "branch", &catalog.branches, |row| which == "*" || branch(&row.branch));
            let releases = pick(catalog, "driver", &catalog.drivers, |row| which != "*" && admits(&row.version));
            // A branch is no answer to who asks for a release that is not known.
            if releases.is_empty() && wanted.depth() > 1 {
                rows.clear();
            }
            rows.extend(releases);
            rows
        }
        "branch" => pick(catalog, "branch", &catalog.branches, |row| admits(&row.branch)),
        "cudnn" => pick(catalog, "cudnn", &catalog.cudnns, |row| admits(&row.version)),
        "nccl" => pick(catalog, "nccl", &catalog.nccls, |row| admits(&row.version)),
        "python" => {
            pick(catalog, "python", &catalog.pythons, |row| wanted.cut_to(row.version.len()).admits(&row.version))
        }
        "cuda-compat" => pick(catalog, "compat", &catalog.compats, |row| admits(&row.cuda)),
        "ptx" | "ptx-isa" => pick(catalog, "ptx_isa", &catalog.ptx_isas, |row| admits(&row.isa)),
        package => {
            let mut rows = pick(catalog, "build", catalog.builds.of(package), |row| {
                wanted.admits_build(&row.version, &row.variant)
            });
            rows.extend(pick(catalog, "other_build", &catalog.other_builds, |row| {
                row.package == package && wanted.admits_build(&row.version, &row.variant)
            }));
            rows.extend(pick(catalog, "companion", catalog.companions.of(package), |row| wanted.admits(&row.version)));
            rows
        }
    }
}

/// The rows that are wanted, the newest first: tables hold the oldest first.
fn pick<R: Cite>(catalog: &Catalog, kind: &'static str, rows: &[R], wanted: impl Fn(&R) -> bool) -> Vec<FullRow> {
    rows.iter().rev().filter(|row| wanted(row)).map(|row| catalog.full(kind, row)).collect()
}

/// A repository stands for all of its tags, a tag for itself.
fn images(catalog: &Catalog, which: &str) -> Vec<FullRow> {
    let (repository, tag) = match which.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (which, None),
    };
    let repositories = if which == "*" { catalog.images.heads() } else { vec![repository] };
    let of_repository =
        |name| pick(catalog, "image", catalog.images.of(name), |row| tag.is_none_or(|tag| row.tag == tag));
    repositories.into_iter().rev().flat_map(of_repository).collect()
}

fn gpus(catalog: &Catalog, name: &str) -> Vec<FullRow> {
    match catalog.gpu(name) {
        GpuMatch::Found(rows) | GpuMatch::Ambiguous(rows) => {
            rows.into_iter().map(|row| catalog.full("gpu", row)).collect()
        }
        GpuMatch::Bare(cc) => pick(catalog, "gpu", &catalog.gpus, |row| row.cc == cc),
        GpuMatch::Cpu | GpuMatch::Unknown => Vec::new(),
    }
}

fn systems(catalog: &Catalog, name: &str) -> Vec<FullRow> {
    match catalog.os(name) {
        OsMatch::Found(row) => vec![catalog.full("os", row)],
        OsMatch::Unknown(_) => Vec::new(),
    }
}

/// The names that were meant, if any are near. Of a release or tag of something that is known, nothing else is.
pub fn nearest(catalog: &Catalog, name: &str) -> Vec<String> {
    if let Some((what, which)) = of_known(catalog, name) {
        // As pip writes a release: `torch==2.8.0` is `torch@2.8.0`.
        let meant = format!("{what}@{which}");
        return if find(catalog, &meant).is_empty() { near_versions(catalog, &what, which) } else { vec![meant] };
    }
    // The beginning of an id: `torch-2.8`.
    let begun = name.rsplit_once('-').map(|(what, which)| format!("{what}@{which}"));
    if let Some(meant) = begun.filter(|meant| !find(catalog, meant).is_empty()) {
        return vec![meant];
    }
    let rules = catalog.rules.iter().map(|row| &*row.id).chain(catalog.laws.iter().map(|row| &*row.id));
    let rules = rules.chain(catalog.diagnoses.iter().map(|row| &*row.code));
    let packages = catalog.companions.heads().into_iter().chain(FRAMEWORKS.iter().copied());
    let names = rules.chain(meaning::WARNINGS.iter().map(|one| one.code)).chain(packages).chain(KINDS.iter().copied());
    let (before, after) = name.split_once('@').map_or((name, None), |(what, which)| (what, Some(which)));
    if let Some(near) = nearest::nearest(before, names) {
        return vec![after.map_or(near.to_string(), |which| format!("{near}@{which}"))];
    }
    let near = if catalog.gpu(name) == GpuMatch::Unknown { catalog.near_gpus(name) } else { Vec::new() };
    match near.is_empty() {
        true => {
            // Who names a package alone means no other one that begins like it.
            let is_word = !name.contains(|c: char| c == '-' || c == '@' || c.is_whitespace());
            let is_near = |word: &str| nearest::nearest(name, [&*word.to_lowercase()]).is_some();
            let mut like = catalog.ids_like(name);
            like.retain(|id| !is_word || id.split(['-', '@', ' ']).any(is_near));
            like
        }
        false => near.into_iter().map(str::to_string).collect(),
    }
}

/// What is known of those that have releases or tags, and which one is meant: `torch@2.99`, `torch==2.99`, `torch 2.99`.
fn of_known<'n>(catalog: &Catalog, name: &'n str) -> Option<(String, &'n str)> {
    let parts = ["==", "@", " "].iter().find_map(|between| name.split_once(between));
    let (what, which) = parts.map(|(what, which)| (what.trim().to_lowercase(), which.trim()))?;
    (!of_kind(catalog, &what, "*").is_empty()).then_some((what, which))
}

/// The releases or tags next to one that is not known, the newer first; of a known one its builds.
fn near_versions(catalog: &Catalog, what: &str, which: &str) -> Vec<String> {
    if what == "image" {
        return near_tags(catalog, which);
    }
    let wanted = Constraint::parse(which).ok();
    let Some(wanted) = wanted.as_ref().and_then(|wanted| wanted.comparisons().find_map(|one| one.version)) else {
        return Vec::new();
    };
    let builds = catalog.builds.of(what).iter().rev().filter(|row| row.version == wanted);
    let builds = distinct(builds.map(|row| format!("{what}@{wanted}+{}", row.variant)));
    if !builds.is_empty() {
        return builds;
    }
    let field = |row: &FullRow| {
        let text = ["version", "branch", "cuda", "isa"].iter().find_map(|field| row.says.get(*field)?.as_str());
        text.and_then(|text| Version::parse(text).ok())
    };
    let versions: Vec<Version> = match what {
        "driver" => catalog.drivers.iter().map(|row| row.version).collect(),
        _ => of_kind(catalog, what, "*").iter().filter_map(field).collect(),
    };
    let near = beside(versions.into_iter().map(|one| (one, one)), &wanted);
    // Beyond all that are known the last one is near only within its major.
    let is_near = near.len() > 1 || near.iter().any(|one| one.major() == wanted.major());
    let near: Vec<_> = near.into_iter().filter(|_| is_near).collect();
    // A number of CUDA is none of a driver.
    let of_cuda = || (what == "driver" && !of_kind(catalog, "cuda", which).is_empty()).then(|| format!("cuda@{which}"));
    match near.is_empty() {
        true => of_cuda().into_iter().collect(),
        false => near.iter().map(|version| format!("{what}@{version}")).collect(),
    }
}

/// The tag of the same number that is nearest, else those of the same ending, `-base-ubuntu22.04`, next to one that is not there.
fn near_tags(catalog: &Catalog, which: &str) -> Vec<String> {
    let Some((repository, tag)) = which.rsplit_once(':') else { return Vec::new() };
    let parted = |tag: &str| {
        let (version, ending) = tag.split_once('-').unwrap_or((tag, ""));
        Some((Version::parse(version).ok()?, ending.to_string()))
    };
    let Some((wanted, ending)) = parted(tag) else { return Vec::new() };
    let rows = catalog.images.of(repository).iter();
    let tags: Vec<_> = rows.filter_map(|row| Some((parted(&row.tag)?, &*row.tag))).collect();
    let of_number = tags.iter().filter(|((version, _), _)| *version == wanted).map(|(_, tag)| *tag);
    let like = || tags.iter().filter(|((_, of), _)| *of == ending).map(|((version, _), tag)| (*version, *tag));
    let near = nearest::nearest(tag, of_number).map_or_else(|| beside(like(), &wanted), |tag| vec![tag]);
    near.into_iter().map(|tag| format!("image {repository}:{tag}")).collect()
}

/// What is numbered next to a version that is not there, the newer first.
fn beside<T>(all: impl Iterator<Item = (Version, T)>, wanted: &Version) -> Vec<T> {
    let (after, before): (Vec<_>, Vec<_>) = all.partition(|(version, _)| version > wanted);
    let after = after.into_iter().min_by_key(|(version, _)| *version);
    let before = before.into_iter().filter(|(version, _)| version < wanted).max_by_key(|(version, _)| *version);
    after.into_iter().chain(before).map(|(_, one)| one).collect()
}

fn rule(catalog: &Catalog, name: &str) -> Option<RuleTopic> {
    let retracted = catalog.retraction(name).map(|one| (one.at.to_string(), one.reason.to_string()));
    if let Some(row) = catalog.rules.iter().find(|row| row.id == name) {
        return Some(RuleTopic {
            id: row.id.to_string(),
            says: row.says.to_string(),
            range: Some((row.package.as_deref().unwrap_or(row.subject.as_str()).to_string(), row.range.to_string())),
            needs: Some((row.object.as_str().to_string(), row.needs.to_string())),
            row: catalog.full("rule", row),
            holds: row.holds.iter().map(ToString::to_string).collect(),
            fails: row.fails.iter().map(ToString::to_string).collect(),
            retracted,
        });
    }
    let law = catalog.laws.iter().find(|row| row.id == name)?;
    Some(RuleTopic {
        id: law.id.to_string(),
        says: law.says.to_string(),
        range: None,
        needs: None,
        row: catalog.full("law", law),
        holds: Vec::new(),
        fails: Vec::new(),
        retracted,
    })
}
