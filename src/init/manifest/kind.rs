//! What kinds of files of a project are read, and how one is known.

use std::fmt;

use crate::types::Specifier;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A requirements.txt, or the input or output of pip-compile.
    Requirements,
    /// A pyproject.toml, of the standard's tables or of Poetry's.
    Pyproject,
    /// A setup.py or setup.cfg of setuptools.
    Setup,
    /// A uv.lock.
    UvLock,
    /// An environment.yml of conda.
    Conda,
    /// A Dockerfile.
    Dockerfile,
}

impl Kind {
    /// The names of the files that are read.
    pub const NAMES: &str = "requirements.txt, pyproject.toml, setup.py, setup.cfg, uv.lock, environment.yml, \
                             Dockerfile, Containerfile, other lists of packages (.txt, .in)";

    /// No file of the kind is larger, in KiB.
    pub(super) fn most(self) -> usize {
        match self {
            // Hashes make them long: these hold one for each file of each package.
            Kind::Requirements | Kind::UvLock => 4096,
            Kind::Pyproject => 1024,
            Kind::Setup | Kind::Conda | Kind::Dockerfile => 512,
        }
    }

    /// What a file of this name is; none if it is none of these.
    pub fn of(file_name: &str) -> Option<Kind> {
        let name = file_name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Some(match name.as_str() {
            "pyproject.toml" => Kind::Pyproject,
            "setup.py" | "setup.cfg" => Kind::Setup,
            "uv.lock" => Kind::UvLock,
            _ if name.starts_with("dockerfile") || name.starts_with("containerfile") => Kind::Dockerfile,
            // `app.Dockerfile`, `GPUDockerfile`
            _ if ends(&["dockerfile", "containerfile"]) => Kind::Dockerfile,
            _ if ends(&[".yml", ".yaml"]) => Kind::Conda,
            _ if ends(&[".in"]) || name.contains("requirements") && ends(&[".txt"]) => Kind::Requirements,
            _ => return None,
        })
    }

    /// What a text is that has no name; none where that cannot be told.
    pub fn of_text(text: &str) -> Option<Kind> {
        let lines = || text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let is_table = |names: &[&str]| lines().any(|line| names.iter().any(|name| line.starts_with(name)));
        let first = lines().next()?;
        let word = first.split_whitespace().next()?.to_ascii_uppercase();
        // A name and what is asked of it, or an option of pip; prose is neither.
        let is_required = |line: &str| {
            let asked: String = line.split([';', '#']).next().unwrap_or(line).split_whitespace().collect();
            let is_one =
                Specifier::split(&asked).is_some_and(|(name, asked)| line.starts_with(name) && !asked.is_any());
            // `key=[…]` is TOML.
            let is_key = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
            let is_line = line.split_once('=').is_some_and(|(key, rest)| is_key(key) && !rest.starts_with('='));
            let is_word = !line.contains(char::is_whitespace) && !is_line;
            line.starts_with('-') || line.contains(" @ ") || is_one || is_word
        };
        if ["FROM", "ARG"].contains(&word.as_str()) {
            return Some(Kind::Dockerfile);
        }
        let tables: [(&[&str], Kind); 3] = [
            (&["[[package]]"], Kind::UvLock),
            (&["[project]", "[tool.", "[build-system]"], Kind::Pyproject),
            (&["dependencies:"], Kind::Conda),
        ];
        let found = tables.into_iter().find(|(begins, _)| is_table(begins)).map(|(_, kind)| kind);
        found.or_else(|| lines().all(is_required).then_some(Kind::Requirements))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Requirements => "a list of packages",
            Kind::Pyproject => "a pyproject.toml",
            Kind::Setup => "a setup.py or setup.cfg",
            Kind::UvLock => "a uv.lock",
            Kind::Conda => "an environment.yml of conda",
            Kind::Dockerfile => "a Dockerfile",
        })
    }
}
