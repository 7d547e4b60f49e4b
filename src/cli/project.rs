//! What belongs to the project: a file that is found, by its usual name or through gpuenv.toml, is not read or written
//! where it is a link out of it. A checkout would write into the user's home otherwise, or print what lies there.
//!
//! The project is the enclosing git work tree, without git's own folder, else the folder of the spec. What is named on the
//! command line is the user's, wherever it leads.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::probe::project::{GIT, called_so, is_gits_own, is_home, work_tree};
use crate::report::{Exit, Failure, clean};

/// The spec's usual name.
pub const SPEC: &str = "gpuenv.toml";
/// The lock's usual name.
pub const LOCK: &str = "gpuenv.lock";
/// Links that are followed before they are taken for a ring.
const MAX_LINKS: usize = 40;

/// Where a file of the project leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Into it.
    Inside,
    /// Out of it, by its own spelling: `../site.toml`.
    Beside,
    /// Out of it by a link, or into git's own folder.
    Out {
        /// To this place.
        to: PathBuf,
        /// Out of this folder.
        project: PathBuf,
    },
}

/// Where `path`, as written in a file of this folder, leads.
pub fn way(folder: &Path, path: &Path) -> io::Result<Way> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let start = folder.canonicalize()?;
    let project = work_tree(&start).unwrap_or_else(|| start.clone());
    let (to, linked) = end(&start, path)?;
    let above = || to.ancestors().take_while(|folder| *folder != project);
    let in_git = |below: &Path| below.iter().any(|part| part.eq_ignore_ascii_case(GIT)) || above().any(is_gits_own);
    Ok(match to.strip_prefix(&project).ok().map(in_git) {
        Some(false) => Way::Inside,
        None if !linked => Way::Beside,
        _ => Way::Out { to, project },
    })
}

/// Refuses a file that was found where it is a link out of the project; with `option` the user may name it.
pub fn check_found(path: &Path, option: &str) -> Result<(), Failure> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    match way(folder, Path::new(name)) {
        Ok(Way::Out { to, project }) => {
            let help = format!("remove the link, or name the file to say that it is meant: {option} {}", shown(path));
            Err(outside(path, &to, &project).help(help))
        }
        // Whoever reads or writes it says what is wrong with a folder that is not there, or with a ring of links.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A file that is a link out of the project, or leads into git's own folder.
pub fn outside(path: &Path, to: &Path, project: &Path) -> Failure {
    let why = match to.starts_with(project) {
        true => format!("leads to {}, which lies in git's own folder", shown(to)),
        false => format!("is a link to {}, which is outside the project {}", shown(to), shown(project)),
    };
    let message = format!("{} {why}: it was neither read nor written", shown(path));
    Failure::new(Exit::BadInput, "outside-project", message)
}

/// Where a path ends, be anything there or not, and whether a link was on the way.
fn end(start: &Path, path: &Path) -> io::Result<(PathBuf, bool)> {
    let mut at = start.to_path_buf();
    let mut rest: VecDeque<PathBuf> = VecDeque::from([path.to_path_buf()]);
    let mut links = 0;
    while let Some(path) = rest.pop_front() {
        let mut components = path.components();
        let Some(next) = components.next() else { continue };
        rest.push_front(components.as_path().to_path_buf());
        match next {
            Component::RootDir | Component::Prefix(_) => at = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => match fs::read_link(at.join(name)) {
                Ok(_) if links == MAX_LINKS => return Err(io::Error::other("its links form a ring")),
                Ok(to) => {
                    links += 1;
                    rest.push_front(to);
                }
                Err(_) => at.push(name),
            },
        }
    }
    Ok((at, links > 0))
}

/// A path as it is shown.
pub fn shown(path: &Path) -> String {
    clean(&path.to_string_lossy()).into_owned()
}

/// Whether a file or folder lies in the project around a folder, by the way to it or as what it links to.
pub fn is_inside(folder: &Path, path: &Path) -> bool {
    let Ok(here) = folder.canonicalize() else { return false };
    let holds = |folder: &&Path| [SPEC, LOCK].iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok());
    let of_spec = || here.ancestors().find(holds).filter(|folder| !is_home(folder) && folder.parent().is_some());
    let project = called_so(&here).or_else(|| of_spec().map(Path::to_path_buf));
    let is_in = |path: &Path| project.as_ref().is_some_and(|project| path.starts_with(project));
    is_in(path) || path.canonicalize().is_ok_and(|path| is_in(&path))
}
