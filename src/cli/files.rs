//! Finding and reading gpuenv.toml and gpuenv.lock.

use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::catalog::overlay;
use crate::export::quote;
use crate::init::manifest::Kind;
use crate::lock::{self, Lock};
use crate::report::{Exit, Failure, ProjectFiles, Report, SourceFile};
use crate::spec;
use crate::types::Constraint;

use super::common::Common;
use super::inputs;
use super::project::{self, LOCK, SPEC, shown};

/// No spec is larger; the spec's reader says so in its own words.
const SPEC_CAP: u64 = (4 << 20) + 1;
/// No overlay is larger.
const OVERLAY_CAP: u64 = overlay::MAX_BYTES as u64;
/// No lock is larger.
pub const LOCK_CAP: u64 = lock::MAX_BYTES as u64;
/// Where spec and lock are.
#[derive(Debug, Clone)]
pub struct Places {
    /// gpuenv.toml
    pub spec: PathBuf,
    /// gpuenv.lock
    pub lock: PathBuf,
}

/// Where the spec is, and the lock beside it.
pub fn places(common: &Common) -> Result<Places, Failure> {
    let spec = spec_place(common)?.ok_or_else(|| {
        let help = "create one with `gpuenv init`, or name it with --spec FILE";
        not_found(no_spec(format!("{SPEC} not found here or in any parent")).help(help), SPEC)
    })?;
    let lock = match &common.lock {
        Some(lock) => named_lock(lock)?,
        None => found(lock_of(&spec), "--lock")?,
    };
    if is_same(&spec, &lock) {
        let message = format!("{} cannot be both the spec and the lock", shown(&spec));
        return Err(Failure::new(Exit::BadInput, "usage", message).help("name another file with --lock"));
    }
    if lock.file_name().is_some_and(|name| name == SPEC) {
        let message = format!("{} is a spec by its name, and no place for a lock", shown(&lock));
        return Err(Failure::new(Exit::BadInput, "usage", message).help("name another file with --lock"));
    }
    Ok(Places { spec, lock })
}

/// There is no spec where one is looked for: it is still to be made. One that was named and is not there is another matter.
pub fn no_spec(message: String) -> Failure {
    Failure::new(Exit::BadInput, "no-spec", message)
}

/// Whether both are one file: a lock would be written over what it was made from.
fn is_same(spec: &Path, lock: &Path) -> bool {
    spec == lock || spec.canonicalize().is_ok_and(|spec| lock.canonicalize().is_ok_and(|lock| lock == spec))
}

/// The spec, for commands that can do without one: none if none was named and none is found.
pub fn spec_place(common: &Common) -> Result<Option<PathBuf>, Failure> {
    match &common.spec {
        Some(spec) => Ok(Some(spec.clone())),
        None => nearest(&[SPEC])?.map(|folder| found(folder.join(SPEC), "--spec")).transpose(),
    }
}

/// The catalogs that a spec admits, where one is at hand that says so. What is wrong with it is told where it is read for
/// its own sake; a pipe can be read but once.
pub fn admitted_catalogs(common: &Common) -> Option<Constraint> {
    let place = spec_place(common).ok()??;
    if !place.metadata().ok()?.is_file() {
        return None;
    }
    let text = String::from_utf8(read(&place, SPEC_CAP).ok()?).ok()?;
    spec::parse_part(&text).0.catalog_version.map(|written| written.value)
}

/// A file that was found, unless it leads out of the project; `option` is how the user would name it.
fn found(path: PathBuf, option: &str) -> Result<PathBuf, Failure> {
    project::check_found(&path, option).map(|()| path)
}

/// Where the lock is, for commands that read nothing else.
pub fn lock_place(common: &Common) -> Result<PathBuf, Failure> {
    match (&common.lock, &common.spec) {
        (Some(lock), _) => named_lock(lock),
        (None, Some(spec)) => found(lock_of(spec), "--lock"),
        // A project without a lock must not be given that of a folder above it.
        (None, None) => {
            let folder = nearest(&[SPEC, LOCK])?.ok_or_else(|| {
                let missing = format!("{LOCK} not found here or in any parent");
                let failure = Failure::new(Exit::BadInput, "no-lock", missing);
                not_found(
                    failure.help(
                        "make a spec with `gpuenv init` and lock it with `gpuenv lock`, or name one with --lock FILE",
                    ),
                    LOCK,
                )
            })?;
            found(folder.join(LOCK), "--lock")
        }
    }
}

/// A lock that was named: a file, which is read and replaced.
fn named_lock(lock: &Path) -> Result<PathBuf, Failure> {
    match lock == Path::new("-") {
        true => Err(Failure::new(Exit::BadInput, "usage", "`--lock -`: a lock is a file, and `-` is none")
            .help("name it, as in `--lock gpuenv.lock`")),
        false => Ok(lock.to_path_buf()),
    }
}

/// The lock of a spec lies beside it under its name: two specs in one folder have a lock each.
pub fn lock_of(spec: &Path) -> PathBuf {
    match spec.file_name() {
        Some(_) => spec.with_extension("lock"),
        None => spec.join(LOCK),
    }
}

/// The same of a spec that a command was asked of, which need not be the project's.
pub fn named_spec(spec: &Path) -> ProjectFiles {
    named(&Common { spec: Some(spec.to_path_buf()), ..Common::default() })
}

/// Whether a name means stdin.
pub fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Refuses two inputs that are both stdin, by the options that name it.
pub fn one_stdin(options: &[&str]) -> Result<(), Failure> {
    let [first, second, ..] = options else { return Ok(()) };
    let message = format!("stdin can be read once, and `{first}` and `{second}` both read it");
    Err(Failure::new(Exit::BadInput, "usage", message).help("write one of the two to a file and name that"))
}

/// What spec and lock are called, and the options that name them again: a lock by the spec that it is of, where that lies
/// beside it, for what makes a lock anew has to find that.
pub fn named(common: &Common) -> ProjectFiles {
    if let (None, Some(lock)) = (&common.spec, &common.lock) {
        let own = lock.with_extension("toml");
        if own != Path::new(SPEC) && lock_of(&own) == *lock && own.is_file() {
            return ProjectFiles { lock: shown(lock), ..named_spec(&own) };
        }
    }
    let option = |name: &str, path: &Option<PathBuf>| path.as_ref().map(|path| quote::sh_option(name, &shown(path)));
    let options: Vec<String> =
        [option("--spec", &common.spec), option("--lock", &common.lock)].into_iter().flatten().collect();
    let lock = common.lock.clone().or_else(|| common.spec.as_deref().map(lock_of));
    ProjectFiles { lock: lock.as_deref().map_or(LOCK.to_string(), shown), options: options.join(" ") }
}

/// The spec that a lock was made from, for commands that read the lock; none if none is there. One that is a link out of the
/// project is there, and refused.
pub fn spec_of(lock: &Lock, common: &Common) -> Result<Option<PathBuf>, Failure> {
    let place = match (&common.spec, &lock.spec) {
        (Some(spec), _) => return Ok(Some(spec.clone())),
        (None, Some(spec)) => {
            let folder = lock_place(common)?.with_file_name("");
            let place = folder.join(spec);
            match project::way(&folder, Path::new(spec)) {
                Ok(project::Way::Inside) => place,
                Ok(project::Way::Out { to, project }) => return Err(project::outside(&place, &to, &project)),
                _ => return Ok(None),
            }
        }
        (None, None) => match &common.lock {
            Some(lock) => lock.with_extension("toml"),
            None => beside_lock(common)?,
        },
    };
    Ok(Some(place).filter(|place| fs::symlink_metadata(place).is_ok()))
}

/// Tells whoever insists on a current lock (`--locked`) that none is there of its spec: a lock may travel without it.
pub fn tell_unchecked(common: &Common, report: &Report) {
    let beside = beside_lock(common).map_or_else(|_| SPEC.to_string(), |place| shown(&place));
    report.note(&format!("there is no {beside}: whether the lock is up to date was not checked"));
}

/// The spec that lies beside the lock.
pub fn beside_lock(common: &Common) -> Result<PathBuf, Failure> {
    let lock = lock_place(common)?;
    let own = lock.with_extension("toml");
    // A lock of another name than its spec's lies beside the usual one.
    let spec = if own.exists() { own } else { lock.with_file_name(SPEC) };
    found(spec, "--spec")
}

/// The nearest folder that holds one of these, as a way up from here: `../..`.
fn nearest(names: &[&str]) -> Result<Option<PathBuf>, Failure> {
    let here = std::env::current_dir().map_err(|error| {
        let message = format!("the current folder cannot be read: {}", reason(&error));
        Failure::io("no-folder", message).help("change to a folder that exists")
    })?;
    let mut way = PathBuf::new();
    for _ in here.ancestors() {
        if names.iter().any(|name| fs::symlink_metadata(way.join(name)).is_ok()) {
            return Ok(Some(way));
        }
        way.push("..");
    }
    Ok(None)
}

/// That a file was not found; where a folder may not be entered, that it could not be looked for there.
fn not_found(mut failure: Failure, name: &str) -> Failure {
    let steps = std::env::current_dir().map_or(1, |here| here.ancestors().count());
    let mut ways = std::iter::successors(Some(PathBuf::new()), |way| Some(way.join(".."))).take(steps);
    let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let closed = ways.find(|way| fs::symlink_metadata(way.join(name)).is_err_and(denied));
    if let (Some(way), Some(problem)) = (closed, failure.problems.first_mut()) {
        let folder = if way.as_os_str().is_empty() { "this folder".to_string() } else { shown(&way) };
        problem.message = format!("{name} could not be looked for: {folder} may not be entered");
        failure.exit = Exit::Io;
        problem.help = Some("ask its owner for permission to enter it, or change to another folder".to_string());
    }
    failure
}

/// Reads gpuenv.toml.
pub fn read_spec(path: &Path) -> Result<SourceFile, Failure> {
    let name = shown(path);
    let bytes = read(path, SPEC_CAP).map_err(|failure| match failure.problems.first().map(|problem| problem.code) {
        Some("not-found") if path == Path::new("-") => {
            failure.help("a spec is read from a file: its lock lies beside it, and what it names is found from there")
        }
        Some("not-found") if !path.is_symlink() => failure
            .help(format!("check its name, or create it with `gpuenv init {}`", quote::sh_option("--spec", &name))),
        _ => failure,
    })?;
    let text = spec::decode(bytes).map_err(|error| {
        let file = SourceFile { name: name.clone(), text: String::new() };
        Failure::spec(vec![error], file)
    })?;
    // A spec may have any name but that of another file; what has no table is none.
    let is_table = |line: &str| line.trim_start().starts_with('[');
    let is_list = || !text.lines().any(is_table) && Kind::of_text(&text) == Some(Kind::Requirements);
    let kind = path.file_name().and_then(|name| Kind::of(&name.to_string_lossy()));
    if let Some(kind) = kind.or_else(|| (!path.ends_with(SPEC) && is_list()).then_some(Kind::Requirements)) {
        let message = format!("{name} is {kind}, and not a spec");
        return Err(Failure::new(Exit::BadInput, "not-a-spec", message)
            .help(format!("make one of it: `gpuenv init {}`", quote::sh_option("--from", &name))));
    }
    if !text.trim().is_empty() && lock::is_remnant(&text) {
        let message = format!("{name} is a lock, and not a spec");
        return Err(Failure::new(Exit::BadInput, "not-a-spec", message)
            .help("name its gpuenv.toml here, and the lock with --lock"));
    }
    Ok(SourceFile { name, text })
}

/// Reads an overlay.
pub fn read_overlay(path: &Path) -> Result<SourceFile, Failure> {
    let name = shown(path);
    let bytes = read(path, OVERLAY_CAP)?;
    if bytes.len() as u64 == OVERLAY_CAP {
        let message = format!("{name} is larger than {} MiB, the most that is read of an overlay", OVERLAY_CAP >> 20);
        let help = "split it: [catalog] takes several overlays";
        return Err(Failure::new(Exit::BadInput, "too-large", message).help(help));
    }
    spec::decode(bytes).map(|text| SourceFile { name: name.clone(), text }).map_err(|error| {
        let file = SourceFile { name, text: String::new() };
        Failure::spec(vec![error], file)
    })
}

/// Reads gpuenv.lock; none if there is no such file, or nothing in it.
pub fn read_lock(path: &Path) -> Result<Option<Lock>, Failure> {
    lock_text(path)?.map(|text| parse_lock(path, &text)).transpose()
}

/// There is no such lock: it is still to be made. One that was named is not found, and nor is a spec that was.
pub fn missing_lock(common: &Common, place: &Path, help: &str) -> Failure {
    let of_spec = common.spec.as_deref().filter(|_| common.lock.is_none());
    match of_spec.map(read_spec) {
        Some(Err(failure)) => failure,
        _ if common.lock.is_some() && !place.exists() => Failure::io("not-found", absence(place)).help(help),
        _ => Failure::new(Exit::BadInput, "no-lock", absence(place)).help(help),
    }
}

/// What to do where there is no lock.
pub const LOCK_FIRST: &str = "run `gpuenv lock` first";

/// Why there is no lock in this place.
pub fn absence(place: &Path) -> String {
    format!("{} {}", shown(place), if place.exists() { "is empty" } else { "does not exist" })
}

/// What stands in gpuenv.lock; none if there is no such file, or nothing in it.
pub fn lock_text(path: &Path) -> Result<Option<String>, Failure> {
    let bytes = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => match fs::metadata(path) {
            // A link to a lock that is still to be made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => read(path, LOCK_CAP)?,
        },
    };
    // After a power cut a file may be empty: it holds nothing that could be lost.
    if bytes.is_empty() {
        return Ok(None);
    }
    let fresh = "run `gpuenv lock --fresh` to make it anew";
    if bytes.len() as u64 >= LOCK_CAP {
        let message = format!("this file is larger than {} MiB, the most that is read", LOCK_CAP >> 20);
        return Err(bad_lock(path, &bytes, "too-large", &message, fresh));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let bytes = error.into_bytes();
            let said = spec::decode(bytes.clone()).map_or_else(|error| error.message, |_| "it is not text".to_string());
            Err(bad_lock(path, &bytes, "bad-lock", &said, fresh))
        }
    }
}

/// Reads the text of gpuenv.lock.
pub fn parse_lock(path: &Path, text: &str) -> Result<Lock, Failure> {
    lock::parse(text.strip_prefix('\u{feff}').unwrap_or(text))
        .map_err(|error| bad_lock(path, text.as_bytes(), error.code(), &error.to_string(), error.help()))
}

/// Refuses a lock that would not be read again, before anything is replaced.
pub fn check_new_lock(path: &Path, text: &str) -> Result<(), Failure> {
    if lock::is_readable(text) {
        return Ok(());
    }
    // Each target has a runtime.
    let targets = text.lines().filter(|line| line.starts_with("target.") && line.contains(".runtime = ")).count();
    let room = match targets * lock::readable_percent(text) / 100 {
        room if targets > 1 => format!(": of these {targets} targets about {room} fit"),
        _ => String::new(),
    };
    let message =
        format!("{} would be larger than the largest lock that is read{room}; nothing was written", shown(path));
    Err(Failure::new(Exit::BadInput, "too-large", message).help(
        "ask for fewer targets, or fewer GPUs in each (`A100` means every A100 there is); machines that are alike are one \
         target",
    ))
}

/// The code of a file that is no lock at all: somebody else wrote it.
pub const NOT_A_LOCK: &str = "not-a-lock";

/// A file that cannot be read as a lock: one that was gpuenv's, or has its lock's name, may be made anew, of any other that
/// would lose what it holds.
fn bad_lock(path: &Path, bytes: &[u8], code: &'static str, message: &str, help: &str) -> Failure {
    let is_ours = path.file_name().is_some_and(|name| name == LOCK);
    if is_ours || lock::is_remnant(&String::from_utf8_lossy(bytes)) {
        return Failure::new(Exit::BadInput, code, format!("{}: {message}", shown(path))).help(help);
    }
    let name = shown(path);
    if is_spec(&String::from_utf8_lossy(bytes)) {
        let message = format!("{name} is a spec, and not a lock");
        let help = format!("name it with --spec {name}, and the lock with --lock");
        return Failure::new(Exit::BadInput, NOT_A_LOCK, message).help(help);
    }
    let message = format!("{name} is not a lock, and gpuenv did not write it");
    Failure::new(Exit::BadInput, NOT_A_LOCK, message).help("name another file with --lock")
}

/// Whether a spec stands in a place: no lock is put there, whoever asks for it.
pub fn holds_spec(path: &Path) -> bool {
    read(path, SPEC_CAP).is_ok_and(|bytes| is_spec(&String::from_utf8_lossy(&bytes)))
}

/// Whether a text has what specs have, and locks have not.
fn is_spec(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == "[stack]" || line.starts_with("[target"))
}

/// Whether it is a pipe, as `<(ssh node gpuenv probe)` makes them.
#[cfg(unix)]
pub(in crate::cli) fn is_pipe(about: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type())
}

/// On other systems none has a name among files.
#[cfg(not(unix))]
pub(in crate::cli) fn is_pipe(_: &Metadata) -> bool {
    false
}

/// At most `cap` bytes of a regular file or of a pipe.
pub(super) fn read_or_pipe(path: &Path, cap: u64) -> Result<Vec<u8>, Failure> {
    if !fs::metadata(path).is_ok_and(|about| is_pipe(&about)) {
        return read_regular(path, cap);
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(cap).read_to_end(&mut bytes));
    let failed = |error| Failure::io("read-failed", format!("{} cannot be read: {}", shown(path), reason(&error)));
    read.map_err(failed).map(|_| bytes)
}

/// At most `cap` bytes of stdin; `what` a person is asked to paste there.
pub(super) fn read_stdin(what: &str, cap: u64, report: &Report) -> Result<Vec<u8>, Failure> {
    let stdin = io::stdin();
    inputs::enter(Path::new(inputs::STDIN));
    if stdin.is_terminal() {
        report.waiting(&format!("paste what {what}, then press Ctrl-D on a line of its own"));
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(cap).read_to_end(&mut bytes);
    read.map_err(|error| {
        Failure::io("read-failed", format!("stdin cannot be read: {}", reason(&error)))
            .help("pipe the text in, or name a file that holds it")
    })?;
    Ok(bytes)
}

/// Where the kernel makes up what is read: some of it calls itself a regular file, and never ends or is gone once it was read.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// The one folder there whose files are on a file system as others are.
const IN_MEMORY: &str = "/dev/shm";

/// At most `cap` bytes of a file of the project.
pub(super) fn read(path: &Path, cap: u64) -> Result<Vec<u8>, Failure> {
    let place = path.canonicalize().unwrap_or_default();
    if OF_KERNEL.iter().any(|root| place.starts_with(root)) && !place.starts_with(IN_MEMORY) && place.is_file() {
        let message = format!("{} leads to {}, which is no file of a project", shown(path), shown(&place));
        let help = "only files that somebody wrote are read here: copy what it holds into one";
        return Err(Failure::new(Exit::BadInput, "outside-project", message).help(help));
    }
    read_regular(path, cap)
}

/// At most `cap` bytes of a regular file: a device or a pipe could be read for ever.
fn read_regular(path: &Path, cap: u64) -> Result<Vec<u8>, Failure> {
    let name = shown(path);
    let failed = |error: io::Error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => "not-found",
            io::ErrorKind::PermissionDenied => "permission-denied",
            _ => "read-failed",
        };
        let (why, help) = told(path, &error);
        Failure::io(code, format!("{name} cannot be read: {why}")).help(help)
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        // What is called as a file is in the place of one.
        let (what, help) = match (about.is_dir(), path.extension().is_some()) {
            (true, true) => ("a folder", "name a file in it, or move the folder out of the way"),
            (true, false) => ("a folder", "name a file in it"),
            (false, _) => ("not a regular file", "only regular files are read here: copy what it holds into one"),
        };
        return Err(Failure::io("not-a-file", format!("{name} is {what}")).help(help));
    }
    inputs::enter(path);
    let mut bytes = Vec::with_capacity(about.len().min(cap) as usize);
    File::open(path).and_then(|file| file.take(cap).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// Why a file cannot be read, and what to do.
fn told(path: &Path, error: &io::Error) -> (String, &'static str) {
    let missing = error.kind() == io::ErrorKind::NotFound;
    if let Some(to) = fs::read_link(path).ok().filter(|_| missing) {
        return (format!("it is a link to {}, which does not exist", shown(&to)), "mend the link or remove it");
    }
    let help = match error.kind() {
        io::ErrorKind::NotFound => "check its name and the folder that you are in",
        io::ErrorKind::PermissionDenied => "ask its owner for permission to read it and to enter its folder",
        _ if path.is_symlink() => "the link leads to no file: mend it or remove it",
        _ => "check its name, and that the disk it is on can be read",
    };
    (reason(error), help)
}

/// An I/O error without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}
