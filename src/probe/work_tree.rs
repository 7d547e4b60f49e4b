//! The git work tree around a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::answers::answers;

/// Who has an account here, and where their homes are.
const ACCOUNTS: &str = "/etc/passwd";
/// Variables that name a home: that of whoever runs this, and that of who became another by sudo.
const HOMES: &[&str] = &["HOME", "SUDO_HOME"];

/// The git work tree that encloses a folder, unless it is a home.
pub fn work_tree(folder: &Path) -> Option<PathBuf> {
    let tree = folder.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
    tree.filter(|tree| !is_home(tree)).map(Path::to_path_buf)
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

#[cfg(unix)]
fn owner(folder: &Path) -> Option<u32> {
    fs::metadata(folder).ok().map(|about| std::os::unix::fs::MetadataExt::uid(&about))
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<u32> {
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
