//! What the text of each key means, wherever the text came from: a file, or a fix that tries a change.

mod machine;

use std::borrow::Cow;

use super::error::{Refusal, clip, quote};
use super::{OwnCuda, repair};
use crate::nearest::nearest;
use crate::types::name::{self, STACK_PARTS, is_unseen};
use crate::types::secret::masked;
use crate::types::specifier::SpecifierError;
use crate::types::variant::line_of;
use crate::types::{ArchList, ArchListError, Constraint, Specifier, Version, address, variant};

pub(super) use machine::{
    compat, cpu, driver, driver_cuda, drivers, glibc, gpu, gpus, image_requires, os, toolkit, toolkits,
};

/// What a text means, or why it means nothing.
pub(super) type Read<T> = Result<T, Refusal>;

/// No honest constraint or list is longer; a hostile one must not cost time.
const MAX_TEXT: usize = 512;
/// It travels in the lock.
const MAX_REASON: usize = 4096;
/// Longer than any product name, file name or OS.
const MAX_NAME: usize = 256;
const MAX_OVERLAYS: usize = 16;

/// Whether a key is no wheel's, so that a `+variant` means nothing there: a part of the stack, or the driver.
fn has_no_variant(key: &str) -> bool {
    STACK_PARTS.contains(&key) || key == "driver"
}

/// What can be asked of a version.
const CONSTRAINTS: &str = "write a version, a range with a comma between its bounds, alternatives with `||` between them, or \
                           `*` for any";

/// What is said of a build that no release is.
const BETWEEN_RELEASES: &str = "a build between releases is not in the catalog: describe the one that you have under [stack], as in `torch = \
                                { version = \"2.8.0a0\", cuda = \"12.8\" }`, or write the release that it comes before";

/// A package's name as the Python packaging rules compare names: `Flash_Attn` is `flash-attn`.
pub(super) fn package(name: &str) -> Read<String> {
    let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let fits = name.len() <= MAX_NAME
        && alphanumeric(name.chars().next())
        && alphanumeric(name.chars().next_back())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !fits {
        let message = format!("invalid package name {}", quote(name));
        return Err(Refusal::new("name", message).help("letters, digits and single `-`, `_` or `.` between them"));
    }
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    Ok(words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-"))
}

/// The name of a target.
pub(super) fn target_name(text: &str) -> Read<String> {
    if name::is_target(text) {
        return Ok(text.to_string());
    }
    let message = format!("invalid target name {}", quote(text));
    Err(Refusal::new("name", message)
        .help(format!("1 to {} letters, digits, `-` and `_`, a letter or digit first", name::MAX_TARGET)))
}

/// The constraint of a package or of the driver.
pub(super) fn constraint(key: &str, text: &str) -> Read<Constraint> {
    short(key, text)?;
    let refusal = |why: String| Refusal::new("constraint", format!("`{}`: {why}", clip(key)));
    let has_variant = |one: &Constraint| one.comparisons().any(|one| one.variant.is_some());
    let stands =
        |meant: &String| !has_no_variant(key) || Constraint::parse(meant).is_ok_and(|meant| !has_variant(&meant));
    // `cu124` is a line of CUDA, and `cpu` none.
    let of_variant = match text.trim().trim_start_matches('+') {
        _ if key != "cuda" => None,
        "cpu" => Some("write `torch = \"+cpu\"` for the build without CUDA, and drop `cuda`".to_string()),
        variant => line_of(variant).map(|line| format!("write `cuda = \"{line}\"`")),
    };
    let why = |error: &dyn std::fmt::Display| match text.contains('+') && has_no_variant(key) {
        true => format!("{} is not a version", quote(text)),
        false => error.to_string(),
    };
    let constraint = Constraint::parse(text).map_err(|error| match repair::constraint(key, text).filter(stands) {
        _ if of_variant.is_some() => refusal(why(&error)).help(of_variant.clone().unwrap_or_default()),
        Some(meant) => refusal(why(&error)).help(format!("write `{key} = \"{meant}\"`")),
        None => match repair::with_gil(key, text) {
            Some(line) => refusal(why(&error))
                .help(format!("free-threaded Pythons are not solved for; with the GIL write `python = \"{line}\"`")),
            None if repair::is_between_releases(text) => refusal(why(&error)).help(BETWEEN_RELEASES),
            None if !has_no_variant(key) && text.trim_start_matches('+').to_lowercase().starts_with("cu") => refusal(
                why(&error),
            )
            .help(format!(
                "gpuenv takes a build with CUDA by itself: write `{key} = \"*\"`, and the CUDA that it must have as in \
                     `cuda = \"12\"`"
            )),
            None => refusal(why(&error)).help(CONSTRAINTS),
        },
    })?;
    let variant = constraint.comparisons().find_map(|one| one.variant.as_deref());
    match variant {
        Some(variant) if has_no_variant(key) => {
            Err(refusal(format!("`+{}` names a wheel variant, and this is not a wheel", clip(variant)))
                .help(of_variant.unwrap_or("pin the variant at the framework, as in `torch = \"+cu…\"`".to_string())))
        }
        Some(variant) => match repair::label(variant).map(|label| text.replace(variant, &label)) {
            Some(meant) => Err(refusal(format!("`+{}` is not a wheel variant", clip(variant)))
                .help(format!("write `{key} = \"{meant}\"`"))),
            None => Ok(constraint),
        },
        None => Ok(constraint),
    }
}

/// What is asked for of a package that nothing is solved with, as pip writes it. `is_chosen`: it is a key of `[stack]`.
pub(super) fn specifier(key: &str, text: &str, is_chosen: bool) -> Read<Specifier> {
    short(key, text)?;
    Specifier::parse(text).map_err(|error| {
        // It would be no better with an operator.
        if is_chosen || has_no_variant(key) {
            let message = format!("gpuenv chooses the version of `{key}`: it belongs under [stack]");
            let asked = if Constraint::parse(text).is_ok() { text } else { "*" };
            return Refusal::new("stack-package", message)
                .help(format!("move it under [stack]: `{key} = \"{asked}\"`"));
        }
        let refusal = Refusal::new("requirement", format!("`{}`: {error}", clip(key)));
        let before = text.split(';').next().and_then(|text| Specifier::parse(text).ok());
        match repair::specifier(key, text) {
            Some(meant) => refusal.help(format!("write `{} = \"{meant}\"`", clip(key))),
            None if error == SpecifierError::Address => refusal.help(
                "write the release that it is, as in `==4.50.1`; where only the address has it, leave the line out and install \
                 it behind the export",
            ),
            None if before.is_some() => refusal.help(format!(
                "where the marker holds for the locked Python on Linux, write `{} = \"{}\"`; else leave the line out",
                clip(key),
                before.unwrap_or_default()
            )),
            None => refusal.help("write what pip takes behind the name: `>=4.50,<5`, `==4.50.1`, or `*` for any"),
        }
    })
}

/// What a build of one's own calls itself, `2.8.0a0+git1234`.
pub(super) fn own_version(_: &str, text: &str) -> Read<String> {
    short("version", text)?;
    let public = variant::public(text);
    if address::is_wheel_version(text) && Version::parse(public).is_ok() {
        return Ok(text.to_string());
    }
    let refusal = Refusal::new("value", format!("`version`: {} is not a version of a wheel", quote(text)));
    if let Some(meant) = repair::constraint("version", text) {
        let help = format!("a table describes a build of your own; for a release write `\"{meant}\"` in its place");
        return Err(refusal.help(help));
    }
    Err(refusal.help("write the one version that your build has, as its wheel is named: `2.8.0`, `2.8.0a0+git1234`"))
}

/// The CUDA of a build of one's own.
pub(super) fn own_cuda(key: &str, text: &str) -> Read<OwnCuda> {
    if ["none", "cpu"].contains(&text.to_ascii_lowercase().as_str()) {
        return Ok(OwnCuda::None);
    }
    if let Some(line) = line_of(text).filter(|line| line.len() > 1) {
        let refusal = Refusal::new("value", format!("`cuda`: {} is the name of a wheel variant", quote(text)));
        return Err(refusal.help(format!("write `cuda = \"{line}\"`")));
    }
    let line = version(key, text)?;
    if line.len() < 2 || line.is_prerelease() {
        let message = format!("`cuda`: {} does not name a line of CUDA", quote(text));
        return Err(Refusal::new("value", message).help("write major and minor, as `torch.version.cuda` shows them"));
    }
    Ok(OwnCuda::Line(line))
}

/// The line of Python of a build of one's own.
pub(super) fn own_python(key: &str, text: &str) -> Read<Version> {
    let line = version(key, text)?;
    if line.len() != 2 || line.is_prerelease() {
        let message = format!("`python`: {} is not a line of Python", quote(text));
        return Err(Refusal::new("value", message).help("write major and minor, such as `python = \"3.12\"`"));
    }
    Ok(line)
}

/// The address of a wheel.
pub(super) fn own_url(_: &str, text: &str) -> Read<String> {
    if address::wheel(text).is_some() {
        return Ok(text.to_string());
    }
    let message = format!("`url`: {} {}", quote(text), no_address(text, "of a wheel"));
    Err(Refusal::new("value", message)
        .help("it ends in `.whl`, perhaps with `#sha256=…` behind it, and holds no password"))
}

/// Why an address is none that is taken.
fn no_address(text: &str, what: &str) -> String {
    match masked(text) {
        Cow::Owned(_) => "holds a user name or a password, and a lock is read by everybody".to_string(),
        Cow::Borrowed(_) => format!("is not the https:// address {what}"),
    }
}

/// The address of a wheel index.
pub(super) fn own_index(_: &str, text: &str) -> Read<String> {
    if address::is_index(text) {
        return Ok(text.to_string());
    }
    let message = format!("`index`: {} {}", quote(text), no_address(text, "of a wheel index"));
    Err(Refusal::new("value", message).help("write it as pip's `--index-url` takes it, without a password"))
}

/// `build.arch-list`
pub(super) fn arch_list(text: &str) -> Read<ArchList> {
    short("arch-list", text)?;
    ArchList::parse_torch(text).map_err(|error| {
        let help = match &error {
            ArchListError::Undotted(meant) | ArchListError::Separator(meant) => {
                format!("write `arch-list = \"{meant}\"`")
            }
            ArchListError::Entry(_) | ArchListError::Empty => {
                "write compute capabilities, `;` between them: `arch-list = \"8.0;9.0+PTX\"`".to_string()
            }
        };
        Refusal::new("arch-list", format!("`arch-list`: {error}")).help(help)
    })
}

/// The id of a rule or the code of a warning.
pub(super) fn id(key: &str, text: &str) -> Read<String> {
    name(key, text, name::is_id, "letters, digits, blanks and any of `._+-/(),:@`")
}

/// A name without the blanks around it: it ends up in locks and scripts, so it may not be any text.
fn name(key: &str, text: &str, is: impl Fn(&str) -> bool, holds: &str) -> Read<String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Refusal::new("value", format!("`{key}` is empty")).help("write a value, or drop the key"));
    }
    within(key, text, MAX_NAME)?;
    if !is(trimmed) {
        let refusal = Refusal::new("value", format!("`{key}` cannot be {}", quote(text)));
        return Err(refusal.help(format!("it is made of {holds}")));
    }
    Ok(trimmed.to_string())
}

/// One entry of `catalog.overlays`. The lock repeats it, so it must mean the same file on every machine.
pub(super) fn overlay(text: &str) -> Read<String> {
    let drive = text.as_bytes().get(1) == Some(&b':');
    if text.trim().starts_with(['/', '\\', '~']) || drive {
        let message = format!("`overlays`: {} is not relative to gpuenv.toml", quote(text));
        let help = "copy the file beside gpuenv.toml, or write a way to it such as `../site-catalog.toml`";
        return Err(Refusal::new("value", message).help(help));
    }
    name("overlays", text, name::is_file, "letters, digits, blanks and any of `._-+/@()=,~`")
}

/// `catalog.version`: catalogs are numbered by their day.
pub(super) fn catalog_version(key: &str, text: &str) -> Read<Constraint> {
    let asked = constraint(key, &text.replace('-', "."))?;
    let is_day = |version: &Version| (2000..3000).contains(&version.major()) && version.len() <= 3;
    if asked.comparisons().all(|one| one.variant.is_none() && one.version.as_ref().is_none_or(is_day)) {
        return Ok(asked);
    }
    let message = format!("`version`: {} is not a version of the catalog, which is a day", quote(text));
    Err(Refusal::new("value", message)
        .help("`gpuenv catalog` shows the one at hand; write it as in `version = \">=2026.11.22\"`"))
}

/// Where an export is written: within the folder of gpuenv.toml, since a checkout chooses it. `{target}` may stand in it.
pub(super) fn export_file(key: &str, text: &str) -> Read<String> {
    let drive = text.as_bytes().get(1) == Some(&b':');
    let has = |part: &str| text.split(['/', '\\']).any(|one| one.eq_ignore_ascii_case(part));
    if has(".git") {
        let message = format!("the file {} of [export] lies in git's own folder", quote(text));
        return Err(Refusal::new("value", message).help("write another folder, such as `docker/Dockerfile`"));
    }
    let leaves = has("..");
    if text.trim().starts_with(['/', '\\', '~']) || drive || leaves {
        let message = format!("the file {} of [export] does not lie below gpuenv.toml", quote(text));
        return Err(Refusal::new("value", message).help("write a way down from there, such as `docker/Dockerfile`"));
    }
    if matches!(text.trim().rsplit(['/', '\\']).next(), Some("" | ".")) && !text.trim().is_empty() {
        let message = format!("the file {} of [export] is the name of a folder", quote(text));
        return Err(Refusal::new("value", message).help("write the file in it too, such as `docker/Dockerfile`"));
    }
    if text.trim().starts_with('-') {
        let message = format!("the file {} of [export] begins with `-`, as options do", quote(text));
        return Err(Refusal::new("value", message).help(format!("write `./{}`", clip(text.trim()))));
    }
    let is_path = |text: &str| name::is_file(&text.replace("{target}", "target"));
    name(key, text, is_path, "letters, digits, blanks and any of `._-+/@()=,~`, and `{target}`")?;
    Ok(text.to_string())
}

/// All of `catalog.overlays`.
pub(super) fn overlays(paths: &[String]) -> Read<()> {
    if paths.len() > MAX_OVERLAYS {
        let message = format!("`overlays` names {} files; at most {MAX_OVERLAYS} are taken", paths.len());
        return Err(Refusal::new("too-many", message).help("put their rows into fewer files"));
    }
    // `./site.toml` is `site.toml`.
    let mut seen = std::collections::HashSet::new();
    let mut is_new = |path: &String| {
        let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
        seen.insert(steps.map(str::to_string).collect::<Vec<_>>())
    };
    match paths.iter().find(|path| !is_new(path)) {
        Some(path) => {
            let message = format!("`overlays` names {} twice", quote(path));
            Err(Refusal::new("duplicate", message).help("remove one of the two"))
        }
        None => Ok(()),
    }
}

/// `reason`: prose, so it may have lines.
pub(super) fn reason(text: &str) -> Read<String> {
    if text.trim().is_empty() {
        let refusal =
            Refusal::new("value", "`reason` is empty: without one nobody can judge later whether it still holds");
        return Err(refusal.help("say what was measured, or name the ticket"));
    }
    if text.chars().any(|c| is_unseen(c) && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(unseen("reason", text));
    }
    if text.len() > MAX_REASON {
        let message = format!("`reason` is longer than {MAX_REASON} bytes");
        return Err(Refusal::new("value", message).help("name the ticket or the page that tells more"));
    }
    Ok(text.trim().to_string())
}

/// A version of the machine: `glibc`, `gcc`.
pub(super) fn version(key: &str, text: &str) -> Read<Version> {
    short(key, text)?;
    Version::parse(text.trim()).map_err(|error| {
        let refusal = Refusal::new("value", format!("`{key}`: {error}"));
        if text.contains(['<', '>', '=', '*', ',', '|']) {
            return refusal.help("this is a fact about the machine: one version is expected, not a range");
        }
        // `gcc-9`, `GLIBC_2.31`, `cu124`
        let bare = text.trim().trim_start_matches(|c: char| !c.is_ascii_digit());
        let is_of_cuda = ["toolkit", "driver-cuda", "compat"].contains(&key);
        let meant =
            line_of(&text.trim().to_lowercase()).filter(|_| is_of_cuda).map_or_else(|| Version::parse(bare), Ok);
        match meant {
            Ok(version) if !is_of_cuda || version.len() > 1 => refusal.help(format!("write `{key} = \"{version}\"`")),
            _ if key == "gcc" && text.contains("clang") => refusal.help("write `clang = \"…\"` instead"),
            _ => refusal.help(format!("write the number alone, `{key} = \"…\"`, or drop the key")),
        }
    })
}

/// `requires-gpuenv`
pub(super) fn requirement(text: &str) -> Read<semver::VersionReq> {
    short("requires-gpuenv", text)?;
    semver::VersionReq::parse(text).map_err(|_| {
        let message = format!("`requires-gpuenv`: {} is not a version requirement", quote(text));
        Refusal::new("constraint", message).help("write it as in `requires-gpuenv = \">=0.1\"`: `>=`, `>`, `<`, `<=`, `=`, `^` or `~` and a version, a comma for and")
    })
}

/// One of some words; `slips` is what others call them.
pub(super) fn choice<T: Copy>(
    key: &str,
    text: &str,
    words: &[(&'static str, T)],
    slips: &[(&[&str], &str)],
) -> Read<T> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    Err(no_choice(key, text, &names, slips))
}

fn no_choice(key: &str, text: &str, words: &[&str], slips: &[(&[&str], &str)]) -> Refusal {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let expected = match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    };
    let slip = slips.iter().find(|(slips, _)| slips.contains(&&*text.to_ascii_lowercase()));
    let begins = |word: &&str| !text.is_empty() && word.starts_with(&text.to_ascii_lowercase());
    let near = nearest(text, words.iter().copied()).or_else(|| words.iter().copied().find(begins));
    let refusal = Refusal::new("value", format!("invalid `{key}` {}: expected {expected}", quote(text)));
    match (slip, near) {
        (Some((_, meant)), _) => {
            let end = meant.find(' ').unwrap_or(meant.len());
            refusal.help(format!("use \"{}\"{}", &meant[..end], &meant[end..]))
        }
        (None, Some(word)) => refusal.help(format!("did you mean \"{word}\"?")),
        (None, None) => refusal.help(format!("write `{key} = \"{}\"`, or drop the key", words.first().unwrap_or(&""))),
    }
}

fn short(key: &str, text: &str) -> Read<()> {
    within(key, text, MAX_TEXT)
}

/// Refuses what is too long for a value, or holds what nobody sees.
fn within(key: &str, text: &str, most: usize) -> Read<()> {
    if text.chars().any(is_unseen) {
        return Err(unseen(key, text));
    }
    if text.len() > most {
        let message = format!("`{}` is longer than {most} bytes: {}", clip(key), quote(text));
        return Err(Refusal::new("value", message).help("write the name or version alone"));
    }
    Ok(())
}

fn unseen(key: &str, text: &str) -> Refusal {
    let seen: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    let refusal =
        Refusal::new("value", format!("`{}` holds characters that cannot be seen: {}", clip(key), quote(text)));
    refusal.help(format!("type it anew: {}", quote(seen.trim())))
}
