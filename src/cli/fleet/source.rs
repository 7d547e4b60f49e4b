//! The sources of hosts, read piece by piece: files, folders and stdin.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::fleet::{self, Elements, Host, Labelled, Piece};
use crate::host;
use crate::report::{Exit, Failure};
use crate::types::beside;
use crate::types::plain::{NAMED, shorten};

use crate::cli::files::{is_pipe, reason};
use crate::cli::inputs::{self, Identity};
use crate::cli::output::Output;
use crate::cli::project::shown;

/// More of a report in text is not read, and that is told: half a million hosts say less, and reading takes some times as
/// much memory.
const TEXT_CAP: usize = 32 << 20;
/// What a source is shows in so many of its first lines: a shell or a scheduler may have said something before.
const HEAD: usize = 64;
/// More of one line is not read to see what a source is.
const LINE: u64 = 64 << 10;
/// A line that has not ended after so many more bytes has no end.
const ENDLESS: u64 = 1 << 30;
/// No fleet has more hosts.
const MOST: usize = 1_000_000;
/// How many bytes are handed on at once: enough to keep every core busy, little enough to hold.
const BATCH: usize = 8 << 20;
/// What is made of a document takes so much, however short it is.
const DOCUMENT: usize = 4 << 10;
/// Folders in folders are followed so deep.
const DEPTH: usize = 8;

/// What is handed on: pieces of JSON, or a whole text.
enum Batch {
    /// Documents of a source; the flag: it holds this one alone.
    Documents(Vec<Piece>, String, bool),
    /// A text and its source.
    Text(String, String),
    /// A source of which a part was not read, and why.
    Unread(String, String),
}

/// Reads every source and hands its hosts on, each as something makes of it. A source that holds none is one of which nothing
/// is known. What was left out of folders is told in the end, if anything was. `output` is what this run writes.
pub fn each<T: Send>(
    sources: &[PathBuf],
    output: Option<&Output<'_>>,
    of: impl Fn(Host) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), Failure>,
) -> Result<Option<String>, Failure> {
    let run = Run { output: output.and_then(Output::earlier), ..Run::default() };
    let mut hand = |batch| {
        hosts(batch, &of, |host| {
            run.count.set(run.count.get() + 1);
            check_count(run.count.get())?;
            take(host)
        })
    };
    let stdin = [PathBuf::from("-")];
    let sources = if sources.is_empty() { &stdin } else { sources };
    let alone = sources.len() == 1;
    for source in sources {
        let before = run.count.get();
        let is_stdin = source == Path::new("-");
        if is_stdin {
            inputs::enter(Path::new(inputs::STDIN));
            stream(&mut io::stdin().lock(), "stdin", &mut hand)?;
        } else {
            place(source, Way { top: None, alone, depth: DEPTH, run: &run }, &mut hand)?;
        }
        if run.count.get() == before && !alone {
            let name = if is_stdin { "stdin".to_string() } else { shown(source) };
            hand(Batch::Unread(name, "no host stands in this source: gather its records again".to_string()))?;
        }
    }
    let left_out = run.left_out.into_inner();
    let left_out = (!left_out.is_empty()).then(|| format!("not read in the folders: {}", shorten(&left_out, NAMED)));
    match run.count.get() {
        0 => Err(no_host(left_out)),
        _ => Ok(left_out),
    }
}

/// Takes the hosts of a batch, read side by side, each as something makes of it, in their order.
fn hosts<T: Send>(
    batch: Batch,
    of: impl Fn(Host) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match batch {
        Batch::Unread(name, why) => take(of(Host { name, record: Err(why) })),
        Batch::Text(text, name) => fleet::of_text(&text, &name).try_for_each(|host| take(of(host))),
        Batch::Documents(pieces, name, alone) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let part = pieces.len().div_ceil(cores).max(1);
            let read = |pieces: &[Piece]| -> Vec<T> {
                let hosts = pieces.iter().flat_map(|piece| fleet::of_document(piece, &name, alone));
                hosts.map(&of).collect()
            };
            let parts: Vec<&[Piece]> = pieces.chunks(part).collect();
            beside::each(&parts, |some| read(some)).into_iter().flatten().try_for_each(take)
        }
    }
}

/// There was nothing in them.
fn no_host(left_out: Option<String>) -> Failure {
    let left_out = left_out.map_or(String::new(), |left_out| format!("; {left_out}"));
    Failure::new(Exit::BadInput, "nothing-to-judge", format!("the sources hold no host{left_out}"))
        .help("gather records with the job that `gpuenv fleet job slurm` or `gpuenv fleet job kubernetes` prints")
}

/// Refuses what has no end: more hosts than anybody has.
fn check_count(hosts: usize) -> Result<(), Failure> {
    if hosts <= MOST {
        return Ok(());
    }
    let message = format!("the sources hold more than {MOST} hosts, the most that are judged at once");
    Err(Failure::new(Exit::BadInput, "too-many", message).help("judge them in parts"))
}

/// What a run keeps in mind of its sources.
#[derive(Default)]
struct Run {
    /// How many hosts were handed on, and files that had been read before.
    count: Cell<usize>,
    /// The files of several sources that were read: one that is named twice, or again by its folder, holds the same hosts.
    read: RefCell<BTreeSet<PathBuf>>,
    /// What lies in folders and was not read, and why.
    left_out: RefCell<Vec<String>>,
    /// What an earlier run left in the place that this one writes to.
    output: Option<Identity>,
}

impl Run {
    fn leave_out(&self, path: &Path, why: &str) {
        self.left_out.borrow_mut().push(format!("{} ({why})", shown(path)));
    }
}

/// How a place was come to.
#[derive(Clone, Copy)]
struct Way<'p> {
    /// The folder that was named, where it is not the place itself.
    top: Option<&'p Path>,
    /// Nothing else was named.
    alone: bool,
    /// Folders are followed so deep from here.
    depth: usize,
    run: &'p Run,
}

impl Way<'_> {
    /// Why something in a folder is not looked at, if it is not.
    fn not_followed(&self, path: &Path) -> Option<&'static str> {
        match () {
            () if is_hidden(path) => Some("hidden"),
            () if self.depth == 0 => Some("too deep"),
            () if self.run.output.is_some() && inputs::identity(path) == self.run.output => Some("written anew"),
            () => None,
        }
    }
}

/// A file or what lies in a folder. What was named must be there.
fn place(path: &Path, way: Way<'_>, hand: &mut dyn FnMut(Batch) -> Result<(), Failure>) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let code = if error.kind() == io::ErrorKind::NotFound { "not-found" } else { UNREAD };
        Failure::io(code, format!("{} cannot be read: {}", shown(path), reason(&error)))
            .help("check its name, and that you may read it")
    };
    let about = path.metadata().map_err(failed)?;
    if about.is_dir() {
        let mut inside: Vec<PathBuf> = Vec::new();
        for entry in path.read_dir().map_err(failed)? {
            inside.push(entry.map_err(failed)?.path());
        }
        inside.sort_unstable();
        let top = way.top.unwrap_or(path);
        let inward = Way { top: Some(top), depth: way.depth.saturating_sub(1), ..way };
        for path in &inside {
            if let Some(why) = way.not_followed(path) {
                way.run.leave_out(path, why);
                continue;
            }
            match is_read_elsewhere(path, top).and_then(|elsewhere| readable(path).map(|()| elsewhere)) {
                Ok(true) => {}
                Ok(false) => match place(path, inward, hand) {
                    // What opens need not be readable: that costs the host of this file alone.
                    Err(failure) if is_unread(&failure) => hand(Batch::Unread(stem(path), why(failure)))?,
                    other => other?,
                },
                Err(why) => hand(Batch::Unread(stem(path), why))?,
            }
        }
        return Ok(());
    }
    let named = way.top.is_none();
    // A pipe that was named is what `<(…)` makes; a device could be read for ever.
    let is_read = about.is_file() || named && is_pipe(&about);
    if !is_read {
        return match named {
            true => Err(Failure::io("not-a-file", format!("{} is not a regular file", shown(path)))
                .help("name a file or a folder of records, or pipe them in")),
            false => {
                way.run.leave_out(path, "not a regular file");
                Ok(())
            }
        };
    }
    if about.is_file() && !way.alone && path.canonicalize().is_ok_and(|whole| !way.run.read.borrow_mut().insert(whole))
    {
        way.run.count.set(way.run.count.get() + 1);
        return Ok(());
    }
    inputs::enter(path);
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
    match stream(&mut file, &stem(path), hand)? {
        true => Ok(()),
        // What many hosts were gathered into holds none.
        false if named && way.alone => Ok(()),
        // Whoever was to write a record failed before the first word of it.
        false => hand(Batch::Unread(stem(path), "the file is empty: gather this host's record again".to_string())),
    }
}

/// The name of a host whose file does not say it.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| shown(path), |stem| shown(Path::new(stem)))
}

/// Whether what lies in a folder can be read; else why not.
fn readable(path: &Path) -> Result<(), String> {
    let about = path.metadata().map_err(|error| format!("it cannot be read: {}", reason(&error)))?;
    let opened = match about.is_dir() {
        true => path.read_dir().map(drop),
        false if about.is_file() => File::open(path).map(drop),
        false => Ok(()),
    };
    opened.map_err(|error| format!("{} cannot be read: {}", shown(path), reason(&error)))
}

/// Whether this is a link to what lies in the same folder and is read by its own name; why it cannot be followed.
fn is_read_elsewhere(path: &Path, top: &Path) -> Result<bool, String> {
    if !path.is_symlink() {
        return Ok(false);
    }
    let to = path.canonicalize().map_err(|error| format!("this link cannot be followed: {}", reason(&error)))?;
    let Ok(top) = top.canonicalize() else { return Ok(false) };
    match to.strip_prefix(&top) {
        Ok(inside) => Ok(!inside.iter().any(|part| is_hidden(Path::new(part)))),
        Err(_) if top.starts_with(&to) => Err("this link leads to a folder that holds this one".to_string()),
        Err(_) => Ok(false),
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// One source from its beginning to its end; whether anything was in it.
fn stream(
    from: &mut dyn BufRead,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let (mut head, mut lines, mut is_json, mut has_names) = (Vec::new(), 0, false, false);
    while !is_json && lines < HEAD && head.len() < TEXT_CAP {
        let begun = head.len();
        // A list of a whole fleet may stand on one line.
        let portion = (&mut *from).take(LINE).read_until(b'\n', &mut head);
        if portion.map_err(|error| failed(name, &error))? == 0 {
            break;
        }
        if lines == 0 && [b"\xff\xfe", b"\xfe\xff"].iter().any(|mark| head.starts_with(*mark)) {
            return utf16(head, from, name, hand);
        }
        let line = head[begun..].trim_ascii_start();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
        if !line.is_empty() {
            lines += 1;
            // Later on it must be a document on a line of its own: reports hold braces too.
            has_names = fleet::begins_labelled(line);
            is_json = has_names || line.starts_with(if lines == 1 { b"{" } else { b"{\"" });
            if lines == 1 && is_list(line) {
                return elements(&head, from, name, hand).map(|()| true);
            }
        }
    }
    match (lines, is_json) {
        (0, _) => Ok(false),
        (_, true) => documents(head, from, Labelled::new(has_names), name, hand).map(|()| true),
        (_, false) if is_binary(&head) => {
            hand(Batch::Unread(name.to_string(), "this is no text: name records and reports".to_string()))
                .map(|()| true)
        }
        (_, false) => text(head, from, TEXT_CAP, name, hand).map(|()| true),
    }
}

/// A source as PowerShell writes what it redirects, up to a size.
fn utf16(
    mut bytes: Vec<u8>,
    from: impl BufRead,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    from.take(TEXT_CAP as u64).read_to_end(&mut bytes).map_err(|error| failed(name, &error))?;
    let is_cut = bytes.len() > TEXT_CAP;
    let any = stream(&mut host::decode(&bytes).as_bytes(), name, hand)?;
    if is_cut {
        hand(Batch::Unread(format!("{name} (the rest)"), unread(TEXT_CAP)))?;
    }
    Ok(any)
}

/// Why a part of a text was left out.
fn unread(cap: usize) -> String {
    format!("what stands behind the first {} MiB of this text was not read: give it in parts", cap >> 20)
}

/// Whether this is the beginning of a program or an archive: a text may hold a stray byte of either kind, and hardly both.
fn is_binary(head: &[u8]) -> bool {
    head.contains(&0) && std::str::from_utf8(head).is_err()
}

/// Whether a list of documents begins here: the brackets of loggers and terminals hold something else.
fn is_list(line: &[u8]) -> bool {
    let inside = line.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| inside.is_empty() || inside.starts_with(b"{") || inside.starts_with(b"]"))
}

/// A list of documents, of which the beginning was read.
fn elements(
    head: &[u8],
    mut from: impl BufRead,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut elements, mut pieces, mut size) = (Elements::default(), Vec::new(), head.len());
    elements.take(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head), &mut pieces);
    loop {
        if size + pieces.len() * DOCUMENT >= BATCH && !pieces.is_empty() {
            hand(Batch::Documents(std::mem::take(&mut pieces), name.to_string(), false))?;
            size = 0;
        }
        let portion = from.fill_buf().map_err(|error| failed(name, &error))?;
        if portion.is_empty() {
            break;
        }
        let taken = portion.len();
        elements.take(portion, &mut pieces);
        from.consume(taken);
        size += taken;
    }
    elements.end(&mut pieces);
    match pieces.is_empty() {
        true => Ok(()),
        false => hand(Batch::Documents(pieces, name.to_string(), false)),
    }
}

/// The code of a source that could not be read to its end.
const UNREAD: &str = "read-failed";

fn failed(name: &str, error: &io::Error) -> Failure {
    let help = "name a file that can be read, and check the disk that it is on";
    Failure::io(UNREAD, format!("{name} cannot be read: {}", reason(error))).help(help)
}

/// Whether it is a source that failed, and not who takes its hosts.
fn is_unread(failure: &Failure) -> bool {
    failure.problems.iter().all(|problem| problem.code == UNREAD)
}

fn why(failure: Failure) -> String {
    failure.problems.into_iter().map(|problem| problem.message).collect()
}

/// The rest of a text, up to a size.
fn text(
    mut bytes: Vec<u8>,
    from: impl BufRead,
    cap: usize,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    from.take(cap as u64).read_to_end(&mut bytes).map_err(|error| failed(name, &error))?;
    let is_cut = bytes.len() > cap;
    if is_cut {
        // What is left ends with a whole line.
        let end = bytes[..cap].iter().rposition(|byte| *byte == b'\n').map_or(cap, |at| at + 1);
        bytes.truncate(end);
    }
    hand(Batch::Text(host::decode(bytes), name.to_string()))?;
    if is_cut {
        hand(Batch::Unread(format!("{name} (the rest)"), unread(cap)))?;
    }
    Ok(())
}

/// A stream of documents, whose first lines were read.
fn documents(
    mut head: Vec<u8>,
    mut from: impl BufRead,
    mut splitter: Labelled,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut pieces, mut size, mut batches) = (Vec::new(), 0, 0);
    // The beginning may end within a line.
    let begun = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut line = head.split_off(begun);
    head.split_inclusive(|byte| *byte == b'\n').for_each(|line| splitter.line(line, &mut pieces));
    loop {
        if size + pieces.len() * DOCUMENT >= BATCH && !pieces.is_empty() {
            hand(Batch::Documents(std::mem::take(&mut pieces), name.to_string(), false))?;
            (size, batches) = (0, batches + 1);
        }
        let skipped = end_of_line(&mut from, fleet::CAP, &mut line).map_err(|error| failed(name, &error))?;
        if line.is_empty() {
            break;
        }
        if skipped > 0 {
            let why =
                format!("a line of it is longer than {} MiB and was not read: give one host a line", fleet::CAP >> 20);
            hand(Batch::Unread(name.to_string(), why))?;
            line.clear();
            if skipped >= ENDLESS {
                let why = "this line has no end, and what may follow was not read";
                hand(Batch::Unread(format!("{name} (the rest)"), why.to_string()))?;
                break;
            }
            line.push(b'\n');
        }
        size += line.len();
        splitter.line(&line, &mut pieces);
        line.clear();
    }
    splitter.end(&mut pieces);
    let alone = batches == 0 && pieces.len() == 1;
    hand(Batch::Documents(pieces, name.to_string(), alone))
}

/// Reads on to the end of a line, which is kept up to a size; how many more bytes of it were passed over.
fn end_of_line(from: &mut impl BufRead, cap: usize, line: &mut Vec<u8>) -> io::Result<u64> {
    from.by_ref().take(cap.saturating_sub(line.len()) as u64).read_until(b'\n', line)?;
    match line.len() >= cap && !line.ends_with(b"\n") {
        true => from.by_ref().take(ENDLESS).skip_until(b'\n').map(|count| count as u64),
        false => Ok(0),
    }
}

#[cfg(test)]
mod tests;
