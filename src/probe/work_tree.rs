//! The git work tree around a folder.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::answers::answers;

/// Who has an account here, and where their homes are.
const ACCOUNTS: &str = "/etc/passwd";
/// Variables that name a home: that of whoever runs this, and that of who became another by sudo.
const HOMES: &[&str] = &["HOME", "SUDO_HOME"];

/// What makes a folder a work tree: git's own folder, or a file that names it.
pub const GIT: &str = ".git";
/// How such a file begins, and so much of it is read.
const NAMES: &str = "gitdir:";
const LONGEST: u64 = 4096;

/// The git work tree that encloses a folder, unless it is a home. Somebody else's repository around it is none of it: who
/// can write to a folder above could widen the project otherwise, by an empty `.git`.
pub fn work_tree(folder: &Path) -> Option<PathBuf> {
    called_so(folder).filter(|tree| is_repository(&tree.join(GIT)) && is_trusted(tree, folder))
}

/// The folder around this one that holds something of git's name, unless it is a home: what lies there is foreign, whatever
/// is wrong with it.
pub fn called_so(folder: &Path) -> Option<PathBuf> {
    let tree = folder.ancestors().find(|folder| fs::symlink_metadata(folder.join(GIT)).is_ok());
    tree.filter(|tree| !is_home(tree)).map(Path::to_path_buf)
}

/// Whether a folder is what git takes for one of its own, whatever it is called: that of a bare repository, of a module, or
/// where `git init --separate-git-dir` has put it.
pub fn is_gits_own(folder: &Path) -> bool {
    let holds = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    holds("HEAD") && (holds("commondir") || holds("objects") && holds("refs"))
}

/// Whether it is a repository, or a file that names one.
fn is_repository(git: &Path) -> bool {
    let holds_one = |folder: &Path| fs::symlink_metadata(folder.join("HEAD")).is_ok();
    let named = || {
        let mut text = String::new();
        File::open(git).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
        let folder = git.with_file_name(text.strip_prefix(NAMES)?.trim());
        Some(answers(&folder) && holds_one(&folder))
    };
    match fs::metadata(git) {
        Ok(about) if about.is_dir() => holds_one(git),
        Ok(about) => about.is_file() && named().unwrap_or_default(),
        Err(_) => false,
    }
}

/// Whether a repository belongs to whoever runs this; or, with its work tree, to the owner of the folder that is asked about,
/// in which root may work.
fn is_trusted(tree: &Path, folder: &Path) -> bool {
    let Some(git) = fs::symlink_metadata(tree.join(GIT)).ok().and_then(|about| owner_of(&about)) else { return true };
    runner().is_none_or(|runner| runner == git) || [tree, folder].iter().all(|folder| owner(folder) == Some(git))
}

/// Who runs this, where there is a root who works in the folders of others.
#[cfg(target_os = "linux")]
fn runner() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(target_os = "linux"))]
fn runner() -> Option<u32> {
    None
}

/// Whether a folder is the user's home, or that of whoever owns it: root also works in homes of others.
pub fn is_home(folder: &Path) -> bool {
    // Homes are mounted from elsewhere in many places.
    let is_it =
        |home: &Path| home.is_absolute() && answers(home) && fs::canonicalize(home).is_ok_and(|home| home == folder);
    let named = HOMES.iter().filter_map(std::env::var_os).any(|home| is_it(Path::new(&home)));
    named || owner(folder).is_some_and(|owner| homes_of(owner, &accounts()).any(|home| is_it(Path::new(home))))
}

/// The homes of an account.
fn homes_of(owner: u32, accounts: &str) -> impl Iterator<Item = &str> {
    accounts.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split(':').collect();
        fields.get(2).filter(|id| id.parse() == Ok(owner)).and_then(|_| fields.get(5).copied())
    })
}

fn accounts() -> String {
    fs::read(ACCOUNTS).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn owner(folder: &Path) -> Option<u32> {
    fs::metadata(folder).ok().and_then(|about| owner_of(&about))
}

#[cfg(unix)]
fn owner_of(about: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(about))
}

#[cfg(not(unix))]
fn owner_of(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_whoever_owns_a_folder_is_told_by_the_accounts() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nsync:x:4\nu:x:1000:1000:U,,,:/home/u:/bin/sh\n+::::::\n";
        let homes = |owner| homes_of(owner, accounts).collect::<Vec<_>>();
        assert_eq!(homes(1000), ["/home/u"]);
        assert_eq!(homes(0), ["/root"]);
        assert!(homes(4).is_empty() && homes(7).is_empty());
    }
}
