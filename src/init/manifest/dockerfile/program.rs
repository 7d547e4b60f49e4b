//! What a command of a Dockerfile installs with.

use super::super::shell::file_name;

/// Programs that install packages of conda.
const CONDAS: [&str; 4] = ["conda", "mamba", "micromamba", "pixi"];
/// Programs that install packages of the operating system.
const SYSTEMS: [&str; 7] = ["apt", "apt-get", "apk", "dnf", "microdnf", "yum", "zypper"];
/// Commands that install what another file says.
const OF_FILES: [(&str, &str); 10] = [
    ("env", "create"),
    ("env", "update"),
    ("pdm", "install"),
    ("pdm", "sync"),
    ("pipenv", "install"),
    ("pipenv", "sync"),
    ("pixi", "install"),
    ("poetry", "install"),
    ("poetry", "sync"),
    ("uv", "sync"),
];
/// Programs that install nothing of Python's, and words of commands that install nothing at all.
const OTHERS: &str = "\
    brew bundle cargo cmake cpan dpkg echo gem git go helm lfs luarocks make meson ninja nmake npm opam playwright pnpm \
    pre-commit printf rustup snap yarn";
/// Programs of Python's that add packages to a project.
const ADDERS: [&str; 5] = ["hatch", "pdm", "pipenv", "poetry", "rye"];

/// What a command installs with.
#[derive(PartialEq, Eq)]
pub(super) enum Program<'w> {
    Pip,
    Conda,
    System,
    Other(&'w str),
}

/// The program of a command that installs packages, and the place of the word that says so.
pub(super) fn program(words: &[String]) -> Option<(Program<'_>, usize)> {
    let at = words.iter().position(|word| ["install", "add", "create", "sync"].contains(&word.as_str()))?;
    let before: Vec<&str> =
        words[..at].iter().filter(|word| !word.starts_with('-')).map(|word| file_name(word)).collect();
    let is_any = |names: &[&str]| before.iter().any(|word| names.contains(word));
    let verb = words[at].as_str();
    let last = *before.last()?;
    let is_pip = is_pip(&words[..at]) || last == "uv";
    let is_name = last.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_other = is_name && !OTHERS.split_whitespace().any(|other| before.contains(&other));
    let program = match verb {
        "install" | "add" | "sync" if is_pip => Program::Pip,
        "install" | "add" | "create" if is_any(&CONDAS) => Program::Conda,
        "install" | "add" if is_any(&SYSTEMS) => Program::System,
        "install" if is_other => Program::Other(last),
        "add" if is_any(&ADDERS) => Program::Other(last),
        _ => return None,
    };
    Some((program, at))
}

/// Whether a command is pip's, by the words before its verb.
pub(super) fn is_pip(before: &[String]) -> bool {
    before.iter().map(|word| file_name(word)).any(|word| word == "pip" || word.starts_with("pip3"))
}

/// Whether a command installs what another file says.
pub(super) fn is_of_file(words: &[String]) -> bool {
    words.windows(2).any(|pair| OF_FILES.contains(&(file_name(&pair[0]), pair[1].as_str())))
}

/// The folders into which a command of pip's installs that names some.
pub(super) fn targets(words: &[String]) -> impl Iterator<Item = String> {
    const OPTIONS: [&str; 4] = ["--prefix", "--root", "--target", "-t"];
    let next = words.iter().skip(1).map(Some).chain([None]);
    let of = |(word, next): (&String, Option<&String>)| match word.split_once('=') {
        Some((option, value)) => OPTIONS.contains(&option).then(|| value.to_string()),
        None => next.filter(|_| OPTIONS.contains(&word.as_str())).cloned(),
    };
    words.iter().zip(next).filter_map(of)
}
