//! A package as it is typed behind `gpuenv add`: its name, and what is asked of its version.

use crate::report::{Exit, Failure, Problem, clean};
use crate::spec;

/// What ends a name and begins a constraint. `+` begins the variant of a wheel, which may stand alone.
const BEGINS: [char; 6] = ['<', '>', '=', '!', '~', '+'];

/// The name and the constraint of `torch>=2.4,<2.8`; `*` where nothing is asked for.
pub fn read(word: &str) -> Result<(String, String), Failure> {
    let word = word.trim();
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(word.len());
    let (written, rest) = (&word[..end], word[end..].trim());
    let name = name(written);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(refuse(word, "write a package, `torch`, or one with a version, `torch==2.5.1`"));
    }
    let constraint = match rest.chars().next() {
        None => "*".to_string(),
        Some('@') => return Err(refuse(word, &instead(&name, rest.trim_start_matches('@').trim()))),
        Some('[') => {
            return Err(refuse(
                word,
                &format!("write `{name}` without the extra: gpuenv takes the one that brings CUDA"),
            ));
        }
        Some(_) if rest.contains(';') => {
            return Err(refuse(
                word,
                "leave the part behind `;` out: what differs between machines is told of targets",
            ));
        }
        Some('=') if !rest.starts_with("==") => return Err(refuse(word, &instead(&name, &rest[1..]))),
        Some('=') if rest.starts_with("===") => return Err(refuse(word, &instead(&name, &rest[3..]))),
        Some(c) if BEGINS.contains(&c) => bare(rest),
        Some(':') => return Err(refuse(word, &instead(&name, &rest[1..]))),
        Some(_) => return Err(refuse(word, &instead(&name, rest))),
    };
    check(&name, &constraint).map(|()| (name, constraint))
}

/// A package's name in the spelling of gpuenv.toml.
pub fn name(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace(['_', '.'], "-")
}

/// `2.5.1` for `==2.5.1`: a bare version is how gpuenv.toml says that.
fn bare(constraint: &str) -> String {
    match constraint.strip_prefix("==") {
        Some(version) if !version.contains([',', '|']) => version.trim().to_string(),
        _ => constraint.to_string(),
    }
}

fn instead(name: &str, version: &str) -> String {
    let version = version.trim();
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && check(name, version).is_ok();
    match is_version {
        true => format!("write `{name}=={version}`"),
        false => examples(name),
    }
}

fn examples(name: &str) -> String {
    format!("write `{name}` for any version, `{name}==2.5.1`, or a range in quotes, `\"{name}>=2.4,<2.8\"`")
}

/// Refuses what `[stack]` would not take, in its words.
fn check(name: &str, constraint: &str) -> Result<(), Failure> {
    let (key, value) = (toml::Value::from(name), toml::Value::from(constraint));
    let (_, errors) = spec::parse_part(&format!("[stack]\n{key} = {value}\n[target.x]\ngpu = \"none\"\n"));
    if errors.is_empty() {
        return Ok(());
    }
    let problem = |error: spec::SpecError| {
        // What is general is told better by examples of this package.
        let is_general = |help: &String| error.code == "constraint" && !help.starts_with("write `");
        let help = error.help.filter(|help| !is_general(help)).or_else(|| Some(examples(name)));
        Problem { code: error.code, message: error.message, span: None, help }
    };
    Err(Failure { exit: Exit::BadInput, problems: errors.into_iter().map(problem).collect(), file: None })
}

fn refuse(word: &str, help: &str) -> Failure {
    let message = format!("`{}` is not a package and a constraint of its version", clean(word));
    Failure::new(Exit::BadInput, "usage", message).help(clean(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_as_they_are_typed() {
        for (word, name, constraint) in [
            ("torch", "torch", "*"),
            ("torch>=2.4,<2.8", "torch", ">=2.4,<2.8"),
            ("torch >= 2.4", "torch", ">= 2.4"),
            ("torch==2.5.1+cu124", "torch", "2.5.1+cu124"),
            ("torch+cu118", "torch", "+cu118"),
            ("Flash_Attn~=2.7", "flash-attn", "~=2.7"),
            ("python==3.11", "python", "3.11"),
            ("torch==2.4||==2.5", "torch", "==2.4||==2.5"),
        ] {
            let read = read(word).unwrap_or_else(|failure| panic!("{word}: {failure:?}"));
            assert_eq!(read, (name.to_string(), constraint.to_string()), "{word}");
        }
    }

    #[test]
    fn what_others_write_is_told_in_our_spelling() {
        for (word, help) in [
            ("torch@2.5", "write `torch==2.5`"),
            ("torch=2.5", "write `torch==2.5`"),
            ("torch:2.5", "write `torch==2.5`"),
            ("torch 2.5", "write `torch==2.5`"),
            ("torch===2.5", "write `torch==2.5`"),
            ("torch@latest", "`torch` for any version"),
            ("jax[cuda12]", "without the extra"),
            ("torch>=2; python_version < '3.9'", "behind `;`"),
            (">=2.4", "write a package"),
            ("torch>=", "write"),
            ("pytorch", "torch"),
            ("driver>=535", "[target.NAME]"),
            ("torch>=2.5+cu124", "write"),
        ] {
            let failure = read(word).expect_err(word);
            let told = failure.problems.iter().map(|one| format!("{} {:?}", one.message, one.help)).collect::<String>();
            assert!(failure.exit == Exit::BadInput && told.contains(help), "{word}: {told}");
        }
    }
}
