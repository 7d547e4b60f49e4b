//! `gpuenv catalog update`: a newer catalog from a file or an address that the user names, checked as a whole before it is
//! written.

use std::fs;
use std::path::Path;

use crate::catalog::packed::{self, Header, Refused};
use crate::catalog::{BUILTIN, Catalog, at_hand, lint};
use crate::diagnose;
use crate::report::{CatalogState, Exit, Failure, Problem, Report, clean};
use crate::types::Version;

use super::args::catalog::UpdateArgs;
use super::atomic_write::replace_bytes;
use super::common::Common;
use super::download;
use super::files::{self, reason};
use super::installed::{self, Installed};
use super::project::shown;
use super::signature::{self, Unsigned};

/// What `--rollback` takes for the catalog that is compiled in, beside its version.
const BUILT_IN: &str = "built-in";
/// No more findings of a refused catalog are told.
const FINDINGS: usize = 20;

/// Runs the command.
pub fn run(common: &Common, args: &UpdateArgs, report: &Report) -> Result<Exit, Failure> {
    let before = at_hand().version.to_string();
    match (&args.from, &args.rollback) {
        (None, None) => report.catalogs("listed", None, &states(common))?,
        (None, Some(version)) => {
            rollback(version)?;
            report.catalogs("rolled-back", Some(&before), &states(common))?;
        }
        (Some(from), rollback) => {
            let (name, bytes) = read(from)?;
            let done = match install(&name, bytes, rollback.as_deref())? {
                true => "installed",
                false => "current",
            };
            report.catalogs(done, Some(&before), &states(common))?;
        }
    }
    Ok(Exit::Yes)
}

/// The name and the content of what is to be installed.
fn read(from: &str) -> Result<(String, Vec<u8>), Failure> {
    let bytes = match download::is_address(from) {
        true => download::fetch(from, packed::MAX_BYTES)?,
        false => files::read(Path::new(from), packed::MAX_BYTES + 1)?,
    };
    Ok((clean(from).into_owned(), bytes))
}

/// Installs a catalog. False: it is there already.
fn install(name: &str, bytes: Vec<u8>, rollback: Option<&str>) -> Result<bool, Failure> {
    let bytes: &'static [u8] = bytes.leak();
    let catalog = open(name, bytes)?;
    let version = version_of(&catalog.version)?;
    if let Some(wanted) = rollback.filter(|wanted| *wanted != version.as_str()) {
        let message = format!("{name} holds catalog {version}, not {}", clean(wanted));
        return Err(Failure::new(Exit::BadInput, "catalog-version", message).help(format!("`--rollback {version}`")));
    }
    if catalog.digest == BUILTIN.digest && catalog.version == BUILTIN.version {
        return Ok(false);
    }
    if version == version_of(&BUILTIN.version)? {
        let message = format!("{name} holds another catalog {version} than the built-in one: it would never answer");
        let help = "fetch the file again, from where gpuenv is published";
        return Err(Failure::new(Exit::BadInput, "catalog-older", message).help(help));
    }
    let newer = newer_than(&version);
    if rollback.is_none() {
        check_is_newest(name, &version, &newer)?;
    }
    check_sound(name, &catalog)?;
    let folder = installed::folder().ok_or_else(no_folder)?;
    fs::create_dir_all(&folder).map_err(|error| {
        Failure::io("write-failed", format!("{} cannot be made: {}", shown(&folder), reason(&error)))
    })?;
    let written = replace_bytes(&installed::path_of(&folder, version.as_str()), bytes)?;
    remove(&newer)?;
    Ok(written || !newer.is_empty())
}

/// The installed catalogs that are to go where an older one is to answer. One that is older than the built-in one answers
/// whoever names it, beside all others.
fn newer_than(version: &Version) -> Vec<Installed> {
    let is_newer = |other: &Installed| installed::is_news(version) && other.version > *version;
    installed::all().into_iter().filter(is_newer).collect()
}

/// Refuses a catalog that would not answer by its age alone.
fn check_is_newest(name: &str, version: &Version, newer: &[Installed]) -> Result<(), Failure> {
    let (message, help) = match newer.first() {
        _ if !installed::is_news(version) => (
            format!("{name} holds catalog {version}, and the built-in one is {}", BUILTIN.version),
            format!("to have it answer {}, add `--rollback {version}`", who_names(version)),
        ),
        Some(newest) => (
            format!("{name} holds catalog {version}, and {} is installed", newest.version),
            format!("to go back to the older one, add `--rollback {version}`"),
        ),
        None => return Ok(()),
    };
    Err(Failure::new(Exit::BadInput, "catalog-older", message).help(help))
}

/// Whom a catalog answers that is older than the built-in one.
fn who_names(version: &Version) -> String {
    format!("the projects that name it (`version = \"{version}\"` under [catalog])")
}

/// Goes back to an older catalog that is at hand: those that are newer are removed.
fn rollback(wanted: &str) -> Result<(), Failure> {
    let all = installed::all();
    let to = if wanted == BUILT_IN { &*BUILTIN.version } else { wanted };
    let known = to == &*BUILTIN.version || all.iter().any(|one| one.version.as_str() == to);
    if !known {
        let mut there: Vec<String> = all.iter().map(|one| one.version.to_string()).collect();
        there.push(format!("{} ({BUILT_IN})", BUILTIN.version));
        let message = format!("catalog {} is not installed", clean(wanted));
        return Err(Failure::new(Exit::BadInput, "catalog-unknown", message)
            .help(format!("there are: {}; of another one, name the file too", there.join(", "))));
    }
    let to = version_of(to)?;
    if to < version_of(&BUILTIN.version)? {
        let message =
            format!("catalog {to} is installed, and the built-in one, {}, cannot be removed", BUILTIN.version);
        let help = format!("it answers {} and no others; for these use the gpuenv that came with it", who_names(&to));
        return Err(Failure::new(Exit::BadInput, "catalog-older", message).help(help));
    }
    // Nothing is removed for one that cannot answer.
    let answering = all.iter().find(|one| one.version == to && installed::is_news(&to));
    if let Some(why) = answering.and_then(|one| installed::load(one).err()) {
        let message = format!("installed catalog {to} cannot be used: {why}; nothing was removed");
        return Err(Failure::new(Exit::BadInput, "catalog-damaged", message)
            .help(format!("fetch its file again and name it: `gpuenv catalog update FILE --rollback {to}`")));
    }
    remove(&all.into_iter().filter(|one| one.version > to).collect::<Vec<_>>())
}

/// The newest first: whenever this is interrupted, the newest that is left answers.
fn remove(newer: &[Installed]) -> Result<(), Failure> {
    for one in newer {
        fs::remove_file(&one.path).map_err(|error| {
            Failure::io("write-failed", format!("{} cannot be removed: {}", shown(&one.path), reason(&error)))
        })?;
    }
    Ok(())
}

/// The catalog of a file, if it is whole, signed and for this gpuenv.
fn open(name: &str, bytes: &'static [u8]) -> Result<Catalog, Failure> {
    let refuse = |refused: Refused| self::refuse(name, &refused);
    let header = Header::read(bytes).map_err(refuse)?;
    let (signed, signature) = bytes.split_at_checked(header.length).ok_or_else(|| refuse(Refused::Truncated))?;
    signature::verify(signed, signature).map_err(|why| unsigned(name, why))?;
    packed::unpack_whole(signed).map_err(refuse)
}

/// Holds a catalog to the lints that the built-in one is held to.
fn check_sound(name: &str, catalog: &Catalog) -> Result<(), Failure> {
    let findings = lint::lint_built_in(catalog).into_iter();
    let mut wrong: Vec<_> = findings.map(|found| (found.lint, format!("{}: {}", found.row, found.says))).collect();
    wrong.extend(diagnose::lint::lint(catalog).into_iter().map(|says| ("diagnosis", says)));
    let mut ordered = catalog.clone();
    ordered.sort();
    if ordered.gpu_index != catalog.gpu_index {
        wrong.push(("gpu-index", "the index of GPU names is not that of its GPUs".into()));
    }
    let more = wrong.len().saturating_sub(FINDINGS);
    let mut problems: Vec<Problem> =
        wrong.into_iter().take(FINDINGS).map(|(code, message)| problem(code, message)).collect();
    let Some(last) = problems.last_mut() else { return Ok(()) };
    let rest = if more > 0 { format!("there are {more} more findings; ") } else { String::new() };
    last.help = Some(format!("{rest}{name} was not installed: it was made for another gpuenv, or wrongly"));
    Err(Failure { exit: Exit::BadInput, problems, file: None })
}

fn problem(code: &'static str, message: String) -> Problem {
    Problem { code, message, span: None, help: None }
}

fn refuse(name: &str, refused: &Refused) -> Failure {
    let (code, help) = match refused {
        Refused::OtherFile => ("catalog-format", "name a file that was published as a catalog of gpuenv"),
        Refused::Later(_) | Refused::Requires(_) => {
            ("catalog-format", "install a newer gpuenv: it reads this catalog, or brings a newer one")
        }
        Refused::Earlier(_) => ("catalog-format", "fetch a newer catalog, or use the gpuenv that it was made for"),
        Refused::Truncated | Refused::Damaged => ("catalog-damaged", "fetch the file again"),
    };
    let own = &at_hand().version;
    Failure::new(Exit::BadInput, code, format!("{name} was not installed: {refused}; catalog {own} goes on answering"))
        .help(help)
}

fn unsigned(name: &str, why: Unsigned) -> Failure {
    let help = match why {
        Unsigned::Missing | Unsigned::Unreadable | Unsigned::Followed => {
            "fetch the file as it was published; facts of your own go into an overlay (`[catalog] overlays`)"
        }
        Unsigned::OtherKey => {
            "install a newer gpuenv if the key was replaced; facts of your own go into an overlay (`[catalog] overlays`)"
        }
        Unsigned::Wrong => "fetch the file again, from where gpuenv is published",
    };
    let own = &at_hand().version;
    let message = format!("{name} was not installed: {}; catalog {own} goes on answering", why.says());
    Failure::new(Exit::BadInput, "catalog-signature", message).help(help)
}

fn version_of(text: &str) -> Result<Version, Failure> {
    Version::parse(text).map_err(|error| Failure::new(Exit::BadInput, "catalog-version", error.to_string()))
}

fn no_folder() -> Failure {
    Failure::io("no-folder", "nothing says where your data lie: neither XDG_DATA_HOME nor HOME is set")
        .help("set one of them to an absolute folder")
}

/// What is there, newest first.
fn states(common: &Common) -> Vec<CatalogState> {
    let mut states: Vec<CatalogState> = installed::all()
        .into_iter()
        .map(|one| CatalogState { version: one.version.to_string(), file: Some(shown(&one.path)), is_used: false })
        .collect();
    states.push(CatalogState { version: BUILTIN.version.to_string(), file: None, is_used: false });
    let used = installed::usable(|| files::admitted_catalogs(common));
    for state in &mut states {
        state.is_used = *state.version == *used;
    }
    states
}
