//! The sources of hosts, read piece by piece: files, folders and stdin.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::fleet::{self, Host, Piece, Splitter};
use crate::host;
use crate::report::{Exit, Failure};

use crate::cli::files::{reason, shown};

/// No report in text is larger.
const TEXT_CAP: u64 = 64 << 20;
/// How many bytes are handed on at once: enough to keep every core busy, little enough to hold.
const BATCH: usize = 8 << 20;
/// Folders in folders are followed so deep.
const DEPTH: usize = 8;

/// What is handed on: pieces of JSON, or a whole text.
pub enum Batch {
    /// Documents of a source; the flag: it holds this one alone.
    Documents(Vec<Piece>, String, bool),
    /// A text and its source.
    Text(String, String),
}

/// Reads every source and hands its hosts on.
pub fn each(sources: &[PathBuf], hand: &mut dyn FnMut(Batch) -> Result<(), Failure>) -> Result<(), Failure> {
    if sources.is_empty() {
        return stream(io::stdin().lock(), "stdin", hand);
    }
    for source in sources {
        if source == Path::new("-") {
            stream(io::stdin().lock(), "stdin", hand)?;
        } else {
            place(source, true, DEPTH, hand)?;
        }
    }
    Ok(())
}

/// The hosts of a batch, read side by side, each as something makes of it, in their order.
pub fn hosts<T: Send>(batch: Batch, of: impl Fn(Host) -> T + Sync) -> Vec<T> {
    match batch {
        Batch::Text(text, name) => fleet::of_text(&text, &name).into_iter().map(&of).collect(),
        Batch::Documents(pieces, name, alone) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let part = pieces.len().div_ceil(cores).max(1);
            let read = |pieces: &[Piece]| -> Vec<T> {
                let hosts = pieces.iter().flat_map(|piece| fleet::of_document(piece, &name, alone));
                hosts.map(&of).collect()
            };
            std::thread::scope(|scope| {
                let read = &read;
                let threads: Vec<_> = pieces.chunks(part).map(|some| scope.spawn(move || read(some))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
            })
        }
    }
}

/// There was nothing in them.
pub fn no_host() -> Failure {
    Failure::new(Exit::BadInput, "nothing-to-judge", "the sources hold no host")
        .help("gather records with the job that `gpuenv fleet job slurm` or `gpuenv fleet job kubernetes` prints")
}

/// A file or what lies in a folder. What was named must be there.
fn place(
    path: &Path,
    named: bool,
    depth: usize,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let code = if error.kind() == io::ErrorKind::NotFound { "not-found" } else { "read-failed" };
        Failure::io(code, format!("{} cannot be read: {}", shown(path), reason(&error)))
    };
    let about = path.metadata().map_err(failed)?;
    if about.is_dir() {
        let mut inside: Vec<PathBuf> = Vec::new();
        for entry in path.read_dir().map_err(failed)? {
            inside.push(entry.map_err(failed)?.path());
        }
        inside.sort();
        for path in inside.iter().filter(|path| depth > 0 && !is_hidden(path) && !path.is_symlink()) {
            place(path, false, depth - 1, hand)?;
        }
        return Ok(());
    }
    // A pipe that was named is what `<(…)` makes; a device could be read for ever.
    let is_pipe = std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type());
    let is_read = about.is_file() || named && is_pipe;
    if !is_read {
        return match named {
            true => Err(Failure::new(Exit::Io, "not-a-file", format!("{} is no regular file", shown(path)))),
            false => Ok(()),
        };
    }
    let stem = path.file_stem().map_or_else(|| shown(path), |stem| shown(Path::new(stem)));
    stream(BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?), &stem, hand)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// One source from its beginning to its end.
fn stream(
    mut from: impl BufRead,
    name: &str,
    hand: &mut dyn FnMut(Batch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io("read-failed", format!("{name} cannot be read: {}", reason(&error)));
    let mut line = Vec::new();
    let blank = |line: &[u8]| line.iter().all(|byte| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte));
    // What it is shows in its first line that is not empty.
    while blank(&line) {
        line.clear();
        if from.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(());
        }
    }
    if !line.trim_ascii_start().starts_with(b"{") && !line.starts_with(b"\xef\xbb\xbf{") {
        let mut bytes = line;
        from.take(TEXT_CAP).read_to_end(&mut bytes).map_err(failed)?;
        return hand(Batch::Text(host::decode(&bytes), name.to_string()));
    }
    let (mut splitter, mut pieces, mut size, mut batches) = (Splitter::default(), Vec::new(), 0, 0);
    loop {
        size += line.len();
        splitter.line(&line, &mut pieces);
        if size >= BATCH && !pieces.is_empty() {
            hand(Batch::Documents(std::mem::take(&mut pieces), name.to_string(), false))?;
            (size, batches) = (0, batches + 1);
        }
        line.clear();
        if from.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
    }
    splitter.end(&mut pieces);
    let alone = batches == 0 && pieces.len() == 1;
    hand(Batch::Documents(pieces, name.to_string(), alone))
}
