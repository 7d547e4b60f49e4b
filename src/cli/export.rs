//! `gpuenv export`: one format to stdout or into a file, or all that `[export]` names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::export::{self, ExportError, Format, Options, is_ours};
use crate::lock::Lock;
use crate::report::{Exit, Exported, Failure, Report, Written};
use crate::spec::{self, Export, Spec};

use super::args::{Common, ExportArgs};
use super::atomic_write::replace;
use super::files::{self, shown};
use super::project::{self, Way};

/// No file that is merged into, or compared with, is larger.
const MAX_BYTES: u64 = 16 << 20;

/// Runs the command.
pub fn run(common: &Common, args: &ExportArgs, report: &Report) -> Result<Exit, Failure> {
    let format = args.into.as_deref().map(|name| export::format(name).map_err(refused)).transpose()?;
    let place = files::lock_place(common)?;
    let lock = files::read_lock(&place)?.ok_or_else(|| files::missing_lock(common, &place))?;
    if !is_current(&lock, common, args.locked, report)? {
        return Ok(Exit::No);
    }
    let Some(format) = format else { return everything(common, args, &lock, report) };
    let options = Options { target: args.target.clone(), values: args.options.0.clone() };
    let text = format.render(&lock, &options).map_err(refused)?;
    format.remarks(&lock, &options).iter().for_each(|remark| report.note(&format!("{}: {remark}", format.name)));
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let file = File { format, path: path.to_path_buf(), text, next: (format.next)(&shown(path), &options) };
            finish(&[file], args, report)
        }
        None if args.check => {
            Err(Failure::new(Exit::BadInput, "usage", "--check compares with a file: name it with -o FILE"))
        }
        None => {
            report.export(format.name, &text)?;
            report.next(&(format.next)(format.file, &options));
            Ok(Exit::Yes)
        }
    }
}

/// A file to write.
struct File {
    format: &'static Format,
    path: PathBuf,
    text: String,
    next: String,
}

/// All of `[export]`.
fn everything(common: &Common, args: &ExportArgs, lock: &Lock, report: &Report) -> Result<Exit, Failure> {
    let place = match &common.spec {
        Some(spec) => spec.clone(),
        None => files::beside_lock(common)?,
    };
    let source = files::read_spec(&place)?;
    let spec = spec::parse(&source.text).map_err(|errors| Failure::spec(errors, source.clone()))?;
    if spec.exports.is_empty() {
        let message = format!("no format was named, and {} has no [export]", shown(&place));
        let help = "name a format, for example `gpuenv export uv`, or write `[export]` with `uv = \"pyproject.toml\"`";
        return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
    }
    let mut written = Vec::new();
    for export in &spec.exports {
        if let Ok(format) = export::format(&export.format) {
            let remarks = format.remarks(lock, &options_of(export));
            remarks.iter().for_each(|remark| report.note(&format!("{}: {remark}", format.name)));
        }
        let told = |failure: Failure| failure.within(export.span.clone(), &source);
        written.extend(files_of(export, lock, &place).map_err(told)?);
    }
    let mut paths: Vec<&PathBuf> = written.iter().map(|file| &file.path).collect();
    paths.sort();
    if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("[export] writes {} twice", shown(twice[0]));
        return Err(Failure::new(Exit::BadInput, "value", message).help("give each its own file"));
    }
    finish(&written, args, report)
}

fn options_of(export: &Export) -> Options {
    let values = export.options.iter().cloned().collect();
    Options { target: export.target.as_ref().map(|target| target.value.clone()), values }
}

/// The files of an entry: one, or one for each target.
fn files_of(export: &Export, lock: &Lock, place: &Path) -> Result<Vec<File>, Failure> {
    let format = export::format(&export.format).map_err(refused)?;
    let Some(file) = &export.file else { return Ok(Vec::new()) };
    let options = options_of(export);
    let each = match (&options.target, file.value.contains("{target}")) {
        (None, true) => {
            lock.target.keys().map(|name| Options { target: Some(name.clone()), ..options.clone() }).collect()
        }
        _ => vec![options],
    };
    let folder = place.with_file_name("");
    let mut written = Vec::new();
    for options in each {
        let name = file.value.replace("{target}", options.target.as_deref().unwrap_or_default());
        let path = folder.join(&name);
        if let Ok(Way::Out { to, project }) = project::way(&folder, Path::new(&name)) {
            return Err(project::outside(&path, &to, &project).help("remove the link"));
        }
        let text = format.render(lock, &options).map_err(refused)?;
        written.push(File { format, next: (format.next)(&shown(&path), &options), path, text });
    }
    Ok(written)
}

/// Writes the files, or compares them. Nothing is written unless all of it can be.
fn finish(files: &[File], args: &ExportArgs, report: &Report) -> Result<Exit, Failure> {
    let mut texts = Vec::new();
    for file in files {
        texts.push(content(file, args)?);
    }
    let mut told = Vec::new();
    for (file, text) in files.iter().zip(&texts) {
        let fate = match (text, args.check) {
            (None, _) => Written::Same,
            (Some(_), true) if file.path.exists() => Written::Differs,
            (Some(_), true) => Written::Missing,
            (Some(text), false) => {
                // A folder that [export] names is part of what it asks for; one that was typed may be a slip.
                if args.into.is_none() {
                    make_folder(&file.path)?;
                }
                if replace(&file.path, text)? { Written::Now } else { Written::Same }
            }
        };
        told.push(Exported { format: file.format.name, file: shown(&file.path), fate, next: file.next.clone() });
    }
    let all_same = told.iter().all(|one| matches!(one.fate, Written::Now | Written::Same));
    report.exported(&told, args.check)?;
    Ok(if all_same { Exit::Yes } else { Exit::No })
}

/// What is to be written; none where the file says so already.
fn content(file: &File, args: &ExportArgs) -> Result<Option<String>, Failure> {
    let path = &file.path;
    // What is no file of ours to read (a device, a pipe) is written to as it was asked for.
    if !path.is_file() {
        return Ok(Some(file.text.clone()));
    }
    let bytes = files::read(path, MAX_BYTES)?;
    let old = String::from_utf8_lossy(&bytes);
    let new = match file.format.merge {
        Some(merge) if !args.force && !old.trim().is_empty() => merge(&old, &file.text).map_err(refused)?,
        _ => file.text.clone(),
    };
    if old == new {
        return Ok(None);
    }
    let may = args.force || args.check || file.format.merge.is_some() || is_ours(&old) || old.trim().is_empty();
    if !may {
        let message = format!("{} exists already, and gpuenv did not write it", shown(path));
        let help = "replace it with --force, or name another with -o";
        return Err(Failure::new(Exit::BadInput, "exists", message).help(help));
    }
    Ok(Some(new))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) else {
        return Ok(());
    };
    let failed = |error: std::io::Error| {
        Failure::io("write-failed", format!("{} cannot be made: {}", shown(folder), files::reason(&error)))
    };
    fs::create_dir(folder).map_err(failed)
}

/// Whether the spec beside the lock asks for what the lock holds; if not, that is told.
fn is_current(lock: &Lock, common: &Common, locked: bool, report: &Report) -> Result<bool, Failure> {
    let Some(place) = files::spec_of(lock, common) else { return Ok(true) };
    let source = files::read_spec(&place)?;
    let (spec, errors): (Spec, _) = spec::parse_part(&source.text);
    if errors.is_empty() && spec.inputs() == lock.inputs {
        return Ok(true);
    }
    report.stale_lock(&shown(&place), locked)?;
    Ok(!locked)
}

fn refused(error: ExportError) -> Failure {
    let exit = if matches!(error, ExportError::UnknownHash(_) | ExportError::UnknownAddress(_)) {
        Exit::Unknown
    } else {
        Exit::BadInput
    };
    Failure::new(exit, error.code(), error.to_string())
}
