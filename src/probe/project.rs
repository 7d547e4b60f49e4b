//! The project that the current folder is part of: nothing that lies in it is run or loaded, for it may be a stranger's
//! checkout. What the user has activated or named is another matter.
//!
//! It is the enclosing git work tree, or what passes for one, else the folder of the gpuenv.toml or gpuenv.lock that is found
//! from here. A home is none, even if it is kept under git: there lies what its user has put there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::answers::answers;
use super::context::ProbeContext;
pub use super::work_tree::{GIT, called_so, is_gits_own, is_home, work_tree};

/// Files that make a folder a project.
const FILES: &[&str] = &["gpuenv.toml", "gpuenv.lock"];
/// Variables that name an environment that the user has activated.
const ACTIVE: &[&str] = &["VIRTUAL_ENV", "CONDA_PREFIX"];
/// The interpreter of the environment that uv and others make beside a project.
const BESIDE: &str = ".venv/bin/python";

/// The project around the current folder, if there is one.
fn here() -> Option<&'static Path> {
    static HERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let here = std::env::current_dir().ok().filter(|here| answers(here))?;
        let here = fs::canonicalize(here).ok()?;
        let holds = |folder: &&Path| FILES.iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok());
        let of_spec = || here.ancestors().find(holds).filter(|folder| !is_home(folder) && folder.parent().is_some());
        called_so(&here).or_else(|| of_spec().map(Path::to_path_buf))
    };
    HERE.get_or_init(find).as_deref()
}

impl ProbeContext {
    /// Whether a file lies in the project and in no environment that is active; by the way to it or as what it links to.
    pub fn is_of_project(&self, file: &Path) -> bool {
        let folder = file.parent().and_then(|folder| fs::canonicalize(folder).ok());
        if folder.as_ref().is_some_and(|folder| self.is_active(folder)) {
            return false;
        }
        let file = fs::canonicalize(file).ok();
        folder.iter().chain(&file).any(|place| self.is_in_project(place))
    }

    /// The same of a folder of programs.
    pub fn is_folder_of_project(&self, folder: &Path) -> bool {
        fs::canonicalize(folder).is_ok_and(|folder| self.is_in_project(&folder) && !self.is_active(&folder))
    }

    fn is_in_project(&self, place: &Path) -> bool {
        self.is_here() && here().is_some_and(|project| place.starts_with(project))
    }

    fn is_active(&self, folder: &Path) -> bool {
        // What is active is so wherever one stands: a relative one would be any checkout.
        let named = ACTIVE.iter().filter_map(|name| self.variable(name)).filter(|root| Path::new(root).is_absolute());
        let environments = named.filter_map(|root| fs::canonicalize(root).ok());
        // A variable that names the root would make everything active.
        environments.filter(|root| root.parent().is_some()).any(|root| folder.starts_with(root))
    }

    /// The interpreter that lies beside the project and is not asked, as a way to it from here: it is for the user to
    /// name it, or to activate its environment.
    pub fn unasked_python(&self) -> Option<PathBuf> {
        if !self.is_here()
            || self.options.python.is_some()
            || self.variable("VIRTUAL_ENV").is_some_and(|it| Path::new(it).is_absolute())
        {
            return None;
        }
        let here = std::env::current_dir().ok()?;
        let end = self::here();
        let mut way = PathBuf::new();
        for folder in here.ancestors() {
            let python = way.join(BESIDE);
            if super::program::is_program(&python) {
                return Some(python);
            }
            if end.is_none_or(|end| folder == end) {
                return None;
            }
            way.push("..");
        }
        None
    }
}
