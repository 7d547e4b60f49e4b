//! What the name of an image tells, and that of what is copied from one.

use super::super::line_of_python;
use super::super::shell::file_name;
use super::Stage;

/// The Python that an image tells in its tag: one of Python, or any with a part such as `py3.11` or `py311`.
pub(super) fn python_of_image(image: &str) -> Option<String> {
    let (name, tag) = image.rsplit('/').next()?.split_once(':')?;
    let line = |text: &str| line_of_python(text).map(|python| python.to_string());
    if name == "python" {
        return line(&tag[..tag.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tag.len())]);
    }
    let numbers = tag.split(['-', '_']).filter_map(|part| part.strip_prefix("py"));
    let dotted = numbers.map(|number| match number.strip_prefix('3').filter(|minor| !minor.starts_with('.')) {
        Some(minor) => format!("3.{minor}"),
        None => number.to_string(),
    });
    dotted.filter_map(|number| line(&number)).next()
}

/// Folders that hold those in which the system keeps packages.
const ABOVE: [&str; 2] = ["/usr/lib", "/usr/local"];
/// How the paths begin in which they are.
const WITHIN: [&str; 3] = ["/usr/lib/python", "/usr/local/lib", "/usr/local/python"];

/// Whether something copied may hold packages: it is an environment, holds one or lies in one. A build's output is none.
pub(super) fn holds_packages(path: &str, target: &str, stage: &Stage) -> bool {
    let (path, target) = (path.trim_end_matches('/'), target.trim_end_matches('/'));
    if is_file(path) {
        return false;
    }
    let is_part = |part: &str| {
        let made = || stage.environments.get(part).is_some_and(|one| one.made.is_some());
        let is_named = ["conda", "venv", "mamba", "miniforge"].iter().any(|one| part.contains(one));
        is_named || [".local", "dist-packages", "envs", "site-packages"].contains(&part) || !part.is_empty() && made()
    };
    let parts = |path: &str| path.split('/').any(is_part);
    // `uv sync` puts its environment into the folder of the project, and a folder of the root may hold any.
    let is_project = stage.environments.contains_key(".venv") || stage.has_project;
    let most = if is_project { 3 } else { 2 };
    let is_above = |other: &String| format!("{}/", other.trim_end_matches('/')).starts_with(&format!("{path}/"));
    ABOVE.contains(&path)
        || WITHIN.iter().any(|begin| path.starts_with(begin))
        || parts(path)
        || path.split('/').count() <= most
        || stage.targets.iter().any(is_above)
        || ["/usr", "/usr/local"].contains(&target)
}

/// Whether a stage only hands out what others made: nothing runs in it.
pub(super) fn is_export(stage: &Stage) -> bool {
    stage.base == "scratch" && stage.environments.values().all(|one| one.found.wanted.is_empty())
}

/// Whether the path of something copied is that of a file, by its ending.
fn is_file(path: &str) -> bool {
    let name = file_name(path);
    let is_ending = |(stem, ending): (&str, &str)| {
        !stem.is_empty()
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.rsplit_once('.').is_some_and(is_ending)
}
