//! What the files of this run are called, so that what is said names them, and commands that are shown act on them.

use std::borrow::Cow;

/// The names of a project's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The lock, as it is shown.
    pub lock: String,
    /// The options that name the files where they are not where gpuenv looks, as a shell takes them: `--spec b.toml`.
    pub options: String,
}

impl Default for ProjectFiles {
    fn default() -> Self {
        ProjectFiles { lock: "gpuenv.lock".to_string(), options: String::new() }
    }
}

/// The commands that ask a spec or its lock.
const ASKING: [&str; 8] = ["lock", "export", "explain", "verify", "add", "remove", "target", "fleet"];

impl ProjectFiles {
    /// A sentence whose commands, which stand between backticks, name the files: what is typed as it is shown acts on them.
    pub fn named<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.options.is_empty() || !text.contains("`gpuenv ") {
            return Cow::Borrowed(text);
        }
        let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 == 1 && self.is_without(part) {
            true => Cow::Owned(format!("{part} {}", self.options)),
            false => Cow::Borrowed(part),
        });
        Cow::Owned(parts.collect::<Vec<_>>().join("`"))
    }

    /// Whether it is a command that asks a project, and names none.
    fn is_without(&self, command: &str) -> bool {
        let mut words = command.split_whitespace();
        let asks = words.next() == Some("gpuenv") && words.next().is_some_and(|word| ASKING.contains(&word));
        asks && words.all(|word| !["--spec", "--lock"].contains(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_between_backticks_name_the_files() {
        let files = ProjectFiles { lock: "b.lock".into(), options: "--spec b.toml".into() };
        for (text, named) in [
            ("apply it with `gpuenv lock --apply-fix 1`)", "apply it with `gpuenv lock --apply-fix 1 --spec b.toml`)"),
            ("`gpuenv export uv` or `gpuenv diff A B`", "`gpuenv export uv --spec b.toml` or `gpuenv diff A B`"),
            ("`gpuenv lock --spec c.toml`; gpuenv lock", "`gpuenv lock --spec c.toml`; gpuenv lock"),
        ] {
            assert_eq!(files.named(text), named);
            assert_eq!(ProjectFiles::default().named(text), text);
        }
    }
}
