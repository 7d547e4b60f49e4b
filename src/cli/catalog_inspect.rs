//! `gpuenv catalog inspect`: the GPU code of a library, a wheel or a folder, and the overlay's row for it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::artifact::{self, Artifact, Bytes, Held, Known, Library, Place, ReadError, Sink, metadata, zip};
use crate::catalog::rows::{Companion, FRAMEWORKS};
use crate::catalog::{Catalog, overlay};
use crate::report::{Exit, Failure, Inspected, Progress, Report};
use crate::types::{Constraint, address, sort_by_key};

use super::args::catalog::InspectArgs;
use super::common::Common;
use super::project::shown;
use super::{catalog_age, files, load_catalog};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;
/// Folders are not followed deeper, and not for more files.
const DEEPEST: usize = 32;
const MOST_FILES: usize = 500_000;

/// Runs the command.
pub fn run(common: &Common, args: &InspectArgs, report: &Report) -> Result<Exit, Failure> {
    let place = place(args.url.as_deref())?;
    let artifact = read(&args.file, &report.progress())?;
    let catalog = load_catalog::told(common, report)?;
    let overlay = overlay_of(&artifact, &catalog, place);
    if args.overlay {
        let text = overlay.map_err(|why| {
            let message = format!("no row can be written for {}: {why}", shown(&args.file));
            Failure::new(Exit::BadInput, "no-row", message)
                .help("`gpuenv catalog inspect` without --overlay shows what was read")
        })?;
        report.text(&text)?;
        return Ok(Exit::Yes);
    }
    let typed = shown(&args.file);
    let overlay = overlay.as_deref().map_err(String::as_str);
    report.inspected(&Inspected { artifact: &artifact, overlay, typed: &typed })?;
    Ok(Exit::Yes)
}

fn place(url: Option<&str>) -> Result<Place<'_>, Failure> {
    match url {
        None => Ok(Place::Usual),
        Some(url) if address::wheel(url).is_some() => Ok(Place::File(url)),
        Some(url) if address::is_index(url) && !url.ends_with(".whl") => Ok(Place::Index(url)),
        Some(url) => {
            let message = format!("`{}` is not the address of a wheel or a wheel index", crate::report::clean(url));
            let help = "it begins with https:// and holds no credentials; that of a wheel ends in .whl";
            Err(Failure::new(Exit::BadInput, "usage", message).help(help))
        }
    }
}

/// The overlay for an artifact, if it is one that the catalog takes.
fn overlay_of(artifact: &Artifact, catalog: &Catalog, place: Place<'_>) -> Result<String, String> {
    let is_package = |name: &str| FRAMEWORKS.contains(&name) || !catalog.companions.of(name).is_empty();
    let follows = |name: &str| catalog.companions.of(name).last().map(|row| row.framework.to_string());
    let held = |name: &str, version: &str, variant: Option<&str>| {
        let is_it = |row: &&Companion| row.version.as_str() == version && row.variant.as_deref() == variant;
        catalog.companions.of(name).iter().filter(|row| row.systems.is_empty() && !row.sdist).find(is_it).map(held)
    };
    let known = Known {
        frameworks: FRAMEWORKS,
        is_package: &is_package,
        // Where the catalog has its GPU code and does not ask for it.
        runs_without: &|name| catalog.companions.of(name).iter().any(|row| !row.gpu_code && !row.sdist),
        has: &|id| catalog.rows().any(|row| row.id == id),
        follows: &follows,
        held: &held,
        today: &catalog_age::day(),
    };
    let text = artifact::overlay(artifact, &known, place)?;
    match overlay::lay(catalog, "site-catalog.toml", &text) {
        Ok(_) => Ok(text),
        Err(mistakes) => Err(mistakes.into_iter().next().map_or(String::new(), |mistake| mistake.message)),
    }
}

/// What a row says that one file need not tell.
fn held(row: &Companion) -> Held {
    let flags = [("gpu_code", row.gpu_code), ("jit", row.jit), ("system_cuda", row.system_cuda)];
    let versions = [
        ("cuda", &row.cuda),
        ("ptx_isa", &row.ptx_isa),
        ("nvjitlink", &row.nvjitlink),
        ("cpu_glibc", &row.cpu_glibc),
        ("arm_glibc", &row.arm_glibc),
    ];
    let versions = versions.into_iter().filter_map(|(key, version)| Some((key, Some(version.as_ref()?.to_string()))));
    let texts = [("extra", &row.extra), ("gone", &row.gone)];
    let flags = flags.into_iter().filter(|(_, is)| *is).map(|(key, _)| (key, None));
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Some(text.as_ref()?.to_string()))));
    Held {
        needs: row.needs.to_string(),
        python: row.python.as_deref().and_then(|python| Constraint::parse(python).ok()),
        arches: texts_of(&row.arches),
        glibc: row.glibc,
        words: flags.chain(texts).chain(versions).collect(),
        lists: vec![
            ("requires", texts_of(&row.requires)),
            ("brings", texts_of(&row.brings)),
            ("sass", texts_of(&row.sass)),
            ("ptx", texts_of(&row.ptx)),
            ("arm_sass", texts_of(&row.arm_sass)),
            ("cpu_only", texts_of(&row.cpu_only)),
            ("loads", texts_of(&row.loads)),
            ("unreached", texts_of(&row.unreached)),
        ],
    }
}

fn texts_of(list: &[impl ToString]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// Reads what lies there.
fn read(path: &Path, progress: &Progress) -> Result<Artifact, Failure> {
    let failed = |error: std::io::Error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { "not-found" } else { "read-failed" };
        Failure::io(code, format!("{} cannot be read: {}", shown(path), files::reason(&error)))
            .help("check its name, and that you may read it")
    };
    let about = fs::metadata(path).map_err(failed)?;
    let name = fs::canonicalize(path).map_err(failed)?;
    let name = name.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let mut reader = Reader { artifact: Artifact { name, ..Artifact::default() }, total: 0, progress };
    if about.is_dir() {
        reader.folder(path).map_err(|fault| refused(path, &fault))?;
        return Ok(reader.artifact);
    }
    if !about.is_file() {
        let message = format!("{} is not a regular file", shown(path));
        return Err(Failure::io("not-a-file", message).help(READABLE));
    }
    let mut bytes = OnDisk::open(path).map_err(|fault| refused(path, &fault))?;
    let head = bytes.read(0, bytes.length().min(64) as usize).map_err(|fault| refused(path, &fault))?;
    let outcome = match artifact::elf::is_library(&head) {
        true => reader.file(path, &reader.artifact.name.clone()),
        false if head.starts_with(b"PK") => reader.wheel(&mut bytes),
        false => Err(ReadError::broken("it is neither a wheel nor a shared library for Linux of 64 bits")),
    };
    outcome.map_err(|fault| refused(path, &fault))?;
    Ok(reader.artifact)
}

/// What can be inspected.
const READABLE: &str = "name a .so file, a .whl file or a folder";

fn refused(path: &Path, fault: &ReadError) -> Failure {
    let message = format!("{} cannot be read: {}", shown(path), fault.says);
    match fault.is_broken {
        true => Failure::new(Exit::BadInput, "bad-artifact", message).help(READABLE),
        false => Failure::io("read-failed", message).help("check that you may read it"),
    }
}

/// A file whose bytes are read where they lie.
struct OnDisk {
    file: File,
    length: u64,
}

impl OnDisk {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(fault)?;
        let length = file.metadata().map_err(fault)?.len();
        Ok(OnDisk { file, length })
    }
}

fn fault(error: std::io::Error) -> ReadError {
    ReadError { is_broken: false, says: files::reason(&error) }
}

impl Bytes for OnDisk {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&mut self, at: u64, count: usize) -> Result<Vec<u8>, ReadError> {
        if at.checked_add(count as u64).is_none_or(|end| end > self.length) {
            return Err(ReadError::broken("it breaks off"));
        }
        let mut bytes = vec![0; count];
        self.file.seek(SeekFrom::Start(at)).map_err(fault)?;
        self.file.read_exact(&mut bytes).map_err(fault)?;
        Ok(bytes)
    }
}

/// One inspection.
struct Reader<'r> {
    artifact: Artifact,
    /// Bytes of libraries so far.
    total: u64,
    progress: &'r Progress,
}

impl Reader<'_> {
    /// What one library adds to the bytes that are looked at; more than is honest is refused.
    fn counts(&mut self, name: &str, size: u64) -> Result<(), ReadError> {
        self.total = self.total.saturating_add(size);
        let libraries = self.artifact.libraries.len() + self.artifact.others.len();
        let is_much = self.total > artifact::MAX_TOTAL || libraries >= artifact::MAX_LIBRARIES;
        if size > artifact::MAX_LIBRARY || is_much {
            return Err(ReadError::broken(&format!("with {name} there is more in it than is read")));
        }
        self.progress.says(name);
        Ok(())
    }

    fn add(&mut self, library: Option<Library>) {
        if let Some(library) = library {
            self.artifact.add(library);
        }
    }

    /// A library that lies by itself.
    fn file(&mut self, path: &Path, name: &str) -> Result<(), ReadError> {
        let length = fs::metadata(path).map_err(fault)?.len();
        self.counts(name, length)?;
        let library = artifact::library(name, length, &mut |sink| stream(path, sink))?;
        self.add(library);
        Ok(())
    }

    fn wheel(&mut self, bytes: &mut OnDisk) -> Result<(), ReadError> {
        let members = zip::members(bytes)?;
        self.artifact.tags = metadata::tags_of_name(&self.artifact.name).unwrap_or_default();
        let of_info = |name: &str, file: &str| {
            name.split_once('/').is_some_and(|(folder, rest)| folder.ends_with(".dist-info") && rest == file)
        };
        for member in &members {
            if of_info(&member.name, "METADATA") {
                self.artifact.metadata = metadata::metadata(&text_of(bytes, member)?);
            } else if of_info(&member.name, "WHEEL") && self.artifact.tags.pythons.is_empty() {
                self.artifact.tags = metadata::tags_of_wheel(&text_of(bytes, member)?);
            } else if member.name == "torch/version.py" {
                self.artifact.built_for = built_for(&text_of(bytes, member)?);
            } else if is_library_name(&member.name) && member.size > 0 {
                self.counts(&member.name, member.size)?;
                let library = artifact::library(&member.name, member.size, &mut |sink| {
                    zip::stream(bytes, member, member.size, sink)
                })?;
                self.add(library);
            }
        }
        if self.artifact.libraries.is_empty() && members.iter().any(|member| is_for_windows(&member.name)) {
            return Err(ReadError::broken("its libraries are for Windows, and those are not read"));
        }
        if self.artifact.metadata.is_some() {
            self.artifact.sha256 = Some(sha256(bytes)?);
        }
        Ok(())
    }

    /// Every library below a folder, and what its .dist-info says where there is just one. Links are not followed.
    fn folder(&mut self, folder: &Path) -> Result<(), ReadError> {
        let mut waiting = vec![(folder.to_path_buf(), 0)];
        let (mut seen, mut infos, mut has_windows) = (0, Vec::new(), false);
        while let Some((place, depth)) = waiting.pop() {
            let mut entries: Vec<fs::DirEntry> = fs::read_dir(&place).map_err(fault)?.flatten().collect();
            sort_by_key(&mut entries, fs::DirEntry::file_name);
            for entry in entries {
                seen += 1;
                if seen > MOST_FILES {
                    return Err(ReadError::broken("there are more files in it than are looked at"));
                }
                let (path, kind) = (entry.path(), entry.file_type().map_err(fault)?);
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                has_windows |= is_for_windows(&name);
                if kind.is_dir() && depth < DEEPEST {
                    if name.ends_with(".dist-info") && depth == 0 {
                        infos.push(path.clone());
                    }
                    waiting.push((path, depth + 1));
                } else if kind.is_file() && is_library_name(&name) {
                    self.file(&path, &name).map_err(|fault| match fault.is_broken {
                        true => fault,
                        false => ReadError { says: format!("{name}: {}", fault.says), ..fault },
                    })?;
                }
            }
        }
        if self.artifact.libraries.is_empty() && has_windows {
            return Err(ReadError::broken("its libraries are for Windows, and those are not read"));
        }
        if let [info] = infos.as_slice() {
            self.info(folder, info)?;
        }
        Ok(())
    }

    fn info(&mut self, folder: &Path, info: &Path) -> Result<(), ReadError> {
        let text = |path: PathBuf| -> Result<Option<String>, ReadError> {
            let Ok(mut file) = OnDisk::open(&path) else { return Ok(None) };
            let bytes = file.read(0, file.length().min(artifact::MAX_TEXT) as usize)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        };
        self.artifact.metadata = text(info.join("METADATA"))?.and_then(|text| metadata::metadata(&text));
        self.artifact.tags =
            text(info.join("WHEEL"))?.map_or_else(Default::default, |text| metadata::tags_of_wheel(&text));
        self.artifact.built_for = text(folder.join("torch/version.py"))?.and_then(|text| built_for(&text));
        Ok(())
    }
}

/// Gives a file's bytes from the beginning.
fn stream(path: &Path, sink: Sink<'_>) -> Result<(), ReadError> {
    let mut file = File::open(path).map_err(fault)?;
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece).map_err(fault)?;
        if count == 0 || !sink(&piece[..count]) {
            return Ok(());
        }
    }
}

/// A small member as text.
fn text_of(bytes: &mut OnDisk, member: &zip::Member) -> Result<String, ReadError> {
    let mut found = Vec::new();
    zip::stream(bytes, member, artifact::MAX_TEXT, &mut |piece| {
        found.extend_from_slice(piece);
        true
    })?;
    Ok(String::from_utf8_lossy(&found).into_owned())
}

/// `libx.so`, `libx.so.12`, `_C.abi3.so`
fn is_library_name(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.ends_with(".so") || file.contains(".so.")
}

/// `_C.cp311-win_amd64.pyd`, `cudart64_12.dll`
fn is_for_windows(name: &str) -> bool {
    name.ends_with(".pyd") || name.ends_with(".dll")
}

/// The CUDA that `torch/version.py` names: `cuda: Optional[str] = '12.4'`.
fn built_for(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("cuda"))?;
    let value = line.split_once('=')?.1.trim().trim_matches(['\'', '"']);
    let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| value.to_string())
}

fn sha256(bytes: &mut OnDisk) -> Result<String, ReadError> {
    let mut digest = Sha256::new();
    let mut at = 0;
    while at < bytes.length() {
        let piece = bytes.read(at, (bytes.length() - at).min(PIECE as u64) as usize)?;
        at += piece.len() as u64;
        digest.update(&piece);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
