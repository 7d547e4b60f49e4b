//! `gpuenv export`: one format to stdout or into a file, or all that `[export]` names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::export::{self, ExportError, Format, Options, VERIFY_LOCK, quote};
use crate::lock::Lock;
use crate::report::{Exit, Exported, Failure, Report, Screen, SourceFile, Written};
use crate::solve::own;
use crate::spec::{self, Export, Spec};

use super::args::ExportArgs;
use super::atomic_write::{Prepared, check};
use super::common::Common;
use super::files;
use super::load_catalog;
use super::output::{named, place_of, refuse_own};
use super::project::{self, Way};
use super::project::{LOCK, shown};
use super::stale;
use super::standing::{self, Content, refused};

/// Runs the command.
pub fn run(common: &Common, args: &ExportArgs, report: &Report) -> Result<Exit, Failure> {
    let format = args.into.as_deref().map(|name| export::format(name).map_err(refused)).transpose()?;
    let place = files::lock_place(common)?;
    let lock = files::read_lock(&place)?.ok_or_else(|| files::missing_lock(common, &place, files::LOCK_FIRST))?;
    if !is_current(&lock, common, args.locked, report)? {
        return Ok(Exit::No);
    }
    let Some(format) = format else { return everything(common, args, &lock, report) };
    let output = named(&args.output);
    let file = output.and_then(|path| from_project(&std::path::absolute(path).ok()?, &place));
    let options = Options { target: args.target.clone(), values: args.options.0.clone(), file, ..Options::default() };
    let options = with_lock(options, format, &place);
    let options = output.map_or(Ok(options.clone()), |path| in_its_language(options, format, path))?;
    let text = format.render(&lock, &options).map_err(refused)?;
    let all_known = tell(format, &lock, &options, report);
    let exit = match output {
        Some(path) => {
            let file =
                File { format, path: path.to_path_buf(), text, next: (format.next)(&lock, &shown(path), &options) };
            finish(&[file], (common, args), report)?
        }
        None if args.check => {
            let message = "--check compares with a file, and none is named";
            return Err(Failure::new(Exit::BadInput, "usage", message).help("name it with -o FILE"));
        }
        None => {
            report.export(format.name, &text)?;
            report.next(&next_of_text(format, &lock, &options));
            Exit::Yes
        }
    };
    Ok(of_whole(exit, all_known, args))
}

/// What comes after a text that was printed: on a screen it is in no file yet, and elsewhere in one of a name that is not
/// known.
fn next_of_text(format: &Format, lock: &Lock, options: &Options) -> String {
    let file = usual_file(format, options);
    let next = (format.next)(lock, file, options);
    if !Screen::is_watched() {
        return format!("save it as {file}, then: {next}");
    }
    let target = options.target.as_ref().map_or(String::new(), |target| format!(" --target {target}"));
    let told = options.values.iter().filter(|(name, _)| format.options.iter().any(|one| one.name == *name));
    let word = |(name, value): (&String, &String)| match value.is_empty() {
        true => format!(" --{name}"),
        false => format!(" --{name} {}", quote::sh_word(value)),
    };
    let told: String = told.map(word).collect();
    format!("`gpuenv export {}{target}{told} -o {file}`, then: {next}", format.name)
}

/// The file that a text usually is: lines of another shell, or those that take others back, are not what stands in the first.
fn usual_file(format: &Format, options: &Options) -> &'static str {
    match (options.get("shell"), options.has("deactivate")) {
        (Some("direnv"), _) => ".envrc",
        (Some("fish"), false) => "env.fish",
        (Some("fish"), true) => "env-deactivate.fish",
        (_, true) => "env-deactivate.sh",
        (_, false) => format.file,
    }
}

/// Says what a text leaves out. False where it does because nobody knows it.
fn tell(format: &Format, lock: &Lock, options: &Options, report: &Report) -> bool {
    let unknown = format.undetermined(lock, options);
    let remarks = format.remarks(lock, options);
    let all = remarks.iter().chain(&unknown);
    all.for_each(|remark| report.note(&format!("{}: {remark}", format.name)));
    unknown.is_none()
}

/// What is written is not all that was asked for, if something is not known; a comparison asks for no more than what is
/// written.
fn of_whole(exit: Exit, all_known: bool, args: &ExportArgs) -> Exit {
    if exit == Exit::Yes && !all_known && !args.check { Exit::Unknown } else { exit }
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
    if common.spec.is_none() && fs::symlink_metadata(&place).is_err() {
        let failure =
            files::no_spec(format!("no format was named, and there is no {} whose [export] names one", shown(&place)));
        return Err(failure.help("name a format, for example `gpuenv export uv`, or the spec with --spec FILE"));
    }
    let source = files::read_spec(&place)?;
    let spec = spec::parse(&source.text).map_err(|errors| Failure::spec(errors, source.clone()))?;
    if spec.exports.is_empty() {
        let message = format!("no format was named, and {} has no [export]", shown(&place));
        let help = "name a format, for example `gpuenv export uv`, or write `[export]` with `uv = \"pyproject.toml\"`";
        return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
    }
    let (mut written, mut places) = (Vec::new(), BTreeSet::new());
    let mut all_known = true;
    for export in &spec.exports {
        if let Ok(format) = export::format(&export.format) {
            all_known &= tell(format, lock, &options_of(export), report);
        }
        let told = |failure: Failure| failure.within(export.span.clone(), &source);
        let (files, left) = files_of(export, (lock, &spec.exports), &place).map_err(told)?;
        left.iter().for_each(|why| report.note(&format!("{}: {why}", export.format)));
        for file in files {
            if !places.insert(place_of(&file.path)) {
                let message = format!("[export] writes {} twice", shown(&file.path));
                return Err(told(Failure::new(Exit::BadInput, "value", message).help("give each its own file")));
            }
            written.push(file);
        }
    }
    let exit = finish(&written, (common, args), report)?;
    Ok(of_whole(exit, all_known, args))
}

fn options_of(export: &Export) -> Options {
    let target = export.target.as_ref().map(|target| target.value.clone());
    Options { target, ..Options::of(export.options.iter().cloned()) }
}

/// The files of an entry: one, or one for each target; and for which targets there is none, and why.
fn files_of(
    export: &Export,
    (lock, all): (&Lock, &[Export]),
    place: &Path,
) -> Result<(Vec<File>, Vec<String>), Failure> {
    let format = export::format(&export.format).map_err(refused)?;
    let Some(file) = &export.file else { return Ok((Vec::new(), Vec::new())) };
    let options = options_of(export);
    let each = match (&options.target, file.value.contains("{target}")) {
        (None, true) => {
            lock.target.keys().map(|name| Options { target: Some(name.clone()), ..options.clone() }).collect()
        }
        _ => vec![options],
    };
    let folder = place.with_file_name("");
    let (mut written, mut left, mut first) = (Vec::new(), Vec::new(), None);
    for options in each {
        let name = file.value.replace("{target}", options.target.as_deref().unwrap_or_default());
        let path = folder.join(&name);
        if let Ok(Way::Out { to, project }) = project::way(&folder, Path::new(&name)) {
            return Err(project::outside(&path, &to, &project).help("remove the link"));
        }
        let file = project_of(place).and_then(|project| from_project(&project.join(&name), place));
        let options = Options { file, ..options };
        let options = with_dockerfile(with_lock(options, format, &files::lock_of(place)), format, (lock, all))?;
        let options = in_its_language(options, format, &path)?;
        match format.render(lock, &options) {
            Ok(text) => written.push(File { format, next: (format.next)(lock, &shown(&path), &options), path, text }),
            Err(error) if options.target != options_of(export).target && error.is_of_another_format() => {
                left.push(format!("{} is left out: {error}", shown(&path)));
                first.get_or_insert(error);
            }
            Err(error) => return Err(unrendered(error, export, format, lock)),
        }
    }
    match first.filter(|_| written.is_empty()) {
        Some(error) => Err(refused(error)),
        None => Ok((written, left)),
    }
}

/// An entry that was not rendered: what would be typed as an option is written into it.
fn unrendered(error: ExportError, export: &Export, format: &Format, lock: &Lock) -> Failure {
    let (ExportError::TargetNeeded(targets), Some(file)) = (&error, &export.file) else { return refused(error) };
    let suits = |target: &&String| {
        let options = Options { target: Some(target.to_string()), ..options_of(export) };
        format.render(lock, &options).is_ok()
    };
    let target = targets.iter().find(suits).or(targets.first()).map_or("NAME", String::as_str);
    let more = if export.options.is_empty() { "" } else { ", …" };
    let entry = format!("`{} = {{ file = \"{}\", target = \"{target}\"{more} }}`", export.format, file.value);
    let help = format!("write {entry} under [export], or a path with `{{target}}` in it for a file of each target");
    refused(error).help(help)
}

/// What compares a host with the lock names it, where it is not the one that would be found.
fn with_lock(options: Options, format: &Format, lock: &Path) -> Options {
    let compares = format.options.iter().any(|option| option.name == VERIFY_LOCK);
    let is_usual = lock.file_name().is_some_and(|name| name == LOCK);
    match compares && !is_usual && !options.has(VERIFY_LOCK) {
        true => options.with(VERIFY_LOCK, &shown(lock)),
        false => options,
    }
}

/// What a file is written in where its name says so to whoever reads it: Lmod takes for Lua what ends so, and all else for Tcl.
fn in_its_language(options: Options, format: &Format, path: &Path) -> Result<Options, Failure> {
    const OPTION: &str = "syntax";
    let is_lua = path.extension().is_some_and(|ending| ending == "lua");
    match options.get(OPTION) {
        _ if format.options.iter().all(|option| option.name != OPTION) => Ok(options),
        None if is_lua => Ok(options.with(OPTION, "lua")),
        Some(syntax) if (syntax == "lua") != is_lua => {
            let message =
                format!("{} would be read as {}, and is {syntax}", shown(path), if is_lua { "Lua" } else { "Tcl" });
            let help = "a module file in Lua has a name that ends in .lua, and one in Tcl another";
            Err(Failure::new(Exit::BadInput, "value", message).help(help))
        }
        _ => Ok(options),
    }
}

/// The folder of the spec or lock at `place`.
fn project_of(place: &Path) -> Option<PathBuf> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
}

/// A file as it is named from the folder of the spec or lock at `place`; none of a file that is not below it.
fn from_project(file: &Path, place: &Path) -> Option<String> {
    let name = |part: Component| match part {
        Component::Normal(name) => name.to_str().map(str::to_string),
        _ => None,
    };
    let names: Option<Vec<String>> = file.strip_prefix(project_of(place)?).ok()?.components().map(name).collect();
    names.map(|names| names.join("/"))
}

/// What builds a Dockerfile builds the one that `[export]` writes for its target, if nothing else is said.
fn with_dockerfile(options: Options, format: &Format, (lock, all): (&Lock, &[Export])) -> Result<Options, Failure> {
    let can_build = format.options.iter().any(|option| option.name == "dockerfile");
    let entries: Vec<&Export> = all.iter().filter(|one| one.format == "dockerfile" && one.file.is_some()).collect();
    if !can_build || options.has("dockerfile") || entries.is_empty() || !export::builds(lock, &options) {
        return Ok(options);
    }
    let only = lock.target.keys().next().filter(|_| lock.target.len() == 1);
    let target = options.target.clone().or(only.cloned());
    let of_target = |entry: &&Export| {
        let file = &entry.file.as_ref()?.value;
        match (&entry.target, &target) {
            (Some(of), _) => (Some(&of.value) == target.as_ref()).then(|| file.clone()),
            (None, Some(target)) => Some(file.replace("{target}", target)),
            (None, None) => (!file.contains("{target}")).then(|| file.clone()),
        }
    };
    match entries.iter().find_map(of_target) {
        Some(file) => Ok(options.with("dockerfile", &file)),
        None => Err(no_dockerfile(format, target.as_deref())),
    }
}

fn no_dockerfile(format: &Format, target: Option<&str>) -> Failure {
    let whose = target.map_or("all targets at once".to_string(), |target| format!("target `{target}`"));
    let name = target.unwrap_or("NAME");
    let message = format!("[export] writes no Dockerfile for {whose}, and `{}` builds one", format.name);
    Failure::new(Exit::BadInput, "missing", message).help(format!(
        "add `dockerfile = {{ file = \"{name}.Dockerfile\", target = \"{name}\" }}`, or name one that you wrote with `dockerfile` \
         or what is built already with `image`"
    ))
}

/// Writes the files, or compares them. Nothing is written where one of them can be seen not to be writable.
fn finish(files: &[File], (common, args): (&Common, &ExportArgs), report: &Report) -> Result<Exit, Failure> {
    let (mut texts, mut next) = (Vec::new(), Vec::new());
    for file in files {
        refuse_own(&file.path, common)?;
        let how = standing::Way {
            merge: file.format.merge,
            compares: args.check,
            force: args.force,
            of_spec: args.into.is_none(),
        };
        let Content { text, notes, argument } = standing::content(&file.path, &file.text, how)?;
        notes.iter().filter(|_| !args.check).for_each(|note| report.note(&format!("{}: {note}", file.format.name)));
        texts.push(text);
        next.push(argument.map_or(file.next.clone(), |argument| format!("{} {argument}", file.next)));
    }
    if !args.check {
        files.iter().try_for_each(|file| check(&file.path))?;
    }
    let fates = match args.check {
        true => files.iter().zip(&texts).map(|of| compared(of, args)).collect(),
        // A folder that [export] names is part of what it asks for; one that was typed may be a slip.
        false => write(files, &texts, args.into.is_none())?,
    };
    let tell = |((file, fate), next): ((&File, Written), String)| Exported {
        format: file.format.name,
        file: shown(&file.path),
        fate,
        next,
    };
    let told: Vec<Exported> = files.iter().zip(fates).zip(next).map(tell).collect();
    let all_same = told.iter().all(|one| matches!(one.fate, Written::Now | Written::Same));
    report.exported(&told, args.into.is_none(), args.check)?;
    Ok(if all_same { Exit::Yes } else { Exit::No })
}

/// What `--check` finds.
fn compared((file, text): (&File, &Option<String>), args: &ExportArgs) -> Written {
    let writing =
        standing::Way { merge: file.format.merge, compares: false, force: false, of_spec: args.into.is_none() };
    match text {
        None => Written::Same,
        Some(_) if !file.path.exists() => Written::Missing,
        // What would be said without `--check` decides what is advised.
        Some(_) if standing::content(&file.path, &file.text, writing).is_err() => Written::Kept,
        Some(_) => Written::Differs,
    }
}

/// Writes all or none: each text lies beside its file, on its disk, before the first takes its place.
fn write(files: &[File], texts: &[Option<String>], with_folders: bool) -> Result<Vec<Written>, Failure> {
    let mut made = Folders::default();
    let mut prepared = Vec::new();
    for (file, text) in files.iter().zip(texts) {
        if with_folders {
            made.make(&file.path)?;
        }
        let text = text.as_ref().map(|text| Prepared::new(&file.path, text.as_bytes()));
        prepared.push(text.transpose()?.flatten());
    }
    let mut fates = Vec::new();
    for one in prepared {
        fates.push(if one.is_some() { Written::Now } else { Written::Same });
        one.map_or(Ok(()), Prepared::put)?;
    }
    Ok(fates)
}

/// Folders that were made for files. Those that hold nothing when all is done are gone again.
#[derive(Default)]
struct Folders(Vec<PathBuf>);

impl Folders {
    /// Makes the folder of a file.
    fn make(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        self.0.extend(missing.map(Path::to_path_buf));
        fs::create_dir_all(folder).map_err(|error| {
            Failure::io("write-failed", format!("{} cannot be made: {}", shown(folder), files::reason(&error)))
                .help("name another place, or make the folder yourself")
        })
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        self.0.sort_unstable();
        // The inner ones first; what holds a file stays.
        for folder in self.0.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Whether the spec beside the lock asks for what the lock holds; if not, that is told.
fn is_current(lock: &Lock, common: &Common, locked: bool, report: &Report) -> Result<bool, Failure> {
    let place = match files::spec_of(lock, common) {
        Ok(Some(place)) => place,
        Err(failure) if locked => return Err(failure),
        _ => {
            if locked {
                files::tell_unchecked(common, report);
            }
            return Ok(true);
        }
    };
    let source = match files::read_spec(&place) {
        Ok(source) => source,
        // An export is made of the lock alone; whoever insists on a current one has to have its spec.
        Err(failure) if locked || common.spec.is_some() => return Err(failure),
        Err(_) => return Ok(true),
    };
    let (spec, errors): (Spec, _) = spec::parse_part(&source.text);
    if common.spec.is_some() && !errors.is_empty() {
        return Err(Failure::spec(errors, source));
    }
    let is_same = errors.is_empty() && spec.inputs() == lock.inputs;
    let edited = match is_same.then(|| edited(lock, &spec, &source, &place)).transpose() {
        Ok(edited) => edited.flatten(),
        Err(failure) if locked => return Err(failure),
        Err(failure) => {
            let why = failure.problems.into_iter().next().map(|problem| problem.message).unwrap_or_default();
            let lock = files::lock_place(common)?;
            report.note(&format!("{why}: whether {} is up to date was not checked", shown(&lock)));
            return Ok(true);
        }
    };
    if is_same && edited.is_none() {
        return Ok(true);
    }
    let reason = match errors.is_empty() {
        true => edited,
        // What cannot be read says nothing else than the lock: it says nothing.
        false => Some(format!("{} has mistakes, which `gpuenv lock` tells", shown(&place))),
    };
    report.stale_lock(&shown(&place), reason.as_deref(), locked)?;
    Ok(!locked)
}

/// Why a lock of these inputs is not what they lead to, if it is not: somebody edited it.
fn edited(lock: &Lock, spec: &Spec, source: &SourceFile, place: &Path) -> Result<Option<String>, Failure> {
    let catalog = load_catalog::of_spec(spec, source, place)?;
    let laid = own::lay(spec, &catalog);
    Ok(stale::of(lock, spec, &source.name, laid.as_ref().unwrap_or(&catalog)))
}
