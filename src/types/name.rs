//! What names may be made of: of targets, systems, GPUs, rules, files, sources.
//!
//! A name ends up in a lock, a script and a terminal. So none holds a quote, a backslash, a `$`, a `` ` ``, a `;` or a
//! character that cannot be seen, and none begins as an option does; other than that, whatever such names hold.

use super::address::all;

/// No honest name is longer.
const MAX_NAME: usize = 256;
/// It becomes a part of keys, file names and command lines.
pub const MAX_TARGET: usize = 64;
/// No honest address of a source is longer, be it that of an overlay with its own source behind it.
const MAX_SOURCE: usize = 4096;

/// Names in `[stack]` that are no packages of their own.
pub const STACK_PARTS: [&str; 4] = ["python", "cuda", "cudnn", "nccl"];

/// What stands in product names beside ASCII.
const MARKS: [char; 2] = ['®', '™'];

/// A package of Python as indexes compare names (PEP 503): `flash-attn` for `Flash_Attn`.
pub fn package(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in name.trim().chars() {
        let c = if matches!(c, '_' | '.') { '-' } else { c.to_ascii_lowercase() };
        if c != '-' || !folded.ends_with('-') {
            folded.push(c);
        }
    }
    folded
}

/// A target of gpuenv.toml, `prod`.
pub fn is_target(name: &str) -> bool {
    fits(name) && name.len() <= MAX_TARGET && all(name, b"-_")
}

/// An operating system as people and its own files spell it, `ubuntu22.04` or `Debian GNU/Linux 12 (bookworm)`.
pub fn is_os(name: &str) -> bool {
    fits(name) && all(name, b" ._+-/()")
}

/// A GPU as people and drivers name it, `NVIDIA A100-SXM4-80GB MIG 1g.10gb`; several parted by commas, too, which is
/// told apart elsewhere.
pub fn is_gpu(name: &str) -> bool {
    fits(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || " ._+-/(),:".contains(c) || MARKS.contains(&c))
}

/// The id of a rule, a warning or a fact, or the path of a key: `cuda-12-driver`, `image nvidia/cuda:12.6.3-base`.
pub fn is_id(name: &str) -> bool {
    fits(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || " ._+-/(),:@".contains(c) || MARKS.contains(&c))
}

/// A file by the way to it, `../site catalog.toml`. Names of files know all scripts.
pub fn is_file(path: &str) -> bool {
    let spelled = |c: char| (c.is_alphanumeric() && !is_unseen(c)) || " ._-+/@()=,~".contains(c);
    !path.is_empty() && path.len() <= MAX_NAME && !path.starts_with(['-', ' ']) && path.chars().all(spelled)
}

/// Where a fact can be looked up: a URL or purl, perhaps behind the overlay that brought it.
pub fn is_source(at: &str) -> bool {
    let spelled = |c: char| (c.is_alphanumeric() && !is_unseen(c)) || " ._-+/@()=,~:?&#%{}!*[]".contains(c);
    !at.is_empty() && at.len() <= MAX_SOURCE && !at.starts_with(['-', ' ']) && at.chars().all(spelled)
}

/// Characters that must reach neither a name nor a terminal: controls, and the marks that hide or reorder text or have
/// no shape of their own.
pub fn is_unseen(c: char) -> bool {
    let marks = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    let blanks = matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    c.is_control() || marks || blanks
}

/// What holds for each name: it begins with a letter or a digit and is no text.
fn fits(name: &str) -> bool {
    name.len() <= MAX_NAME && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_one_name() {
        for name in ["ruamel-yaml", "Ruamel.YAML", "ruamel__yaml", " ruamel-._yaml"] {
            assert_eq!(package(name), "ruamel-yaml");
        }
    }

    #[test]
    fn names_are_told_from_instructions() {
        type Kind = (&'static str, fn(&str) -> bool);
        let kinds: [Kind; 6] = [
            ("prod-1_a", is_target),
            ("Debian GNU/Linux 12 (bookworm)", is_os),
            ("NVIDIA® GeForce RTX™ 4090 Laptop GPU (8 GB)", is_gpu),
            ("image-require 12.6.3@x86_64", is_id),
            ("../site ä (2).toml", is_file),
            ("your overlay site.toml:12 (https://a.example/x?y=1&z=%20#L3)", is_source),
        ];
        for (good, is) in kinds {
            assert!(is(good), "{good}");
            for bad in ["", "-x", " x", "$(id)", "a$b", "`id`", "a;b", "a'b", "a\"b", "a\\b", "a|b", "a<b", "a>b"] {
                assert!(!is(bad), "{good}: {bad}");
            }
            for bad in
                ["a\nb", "a\0b", "a\u{1b}[2J", "a\u{9b}b", "a\u{202e}b", "a\u{2028}b", "a\u{200b}b", "a\u{3164}b"]
            {
                assert!(!is(bad), "{good}: {bad:?}");
            }
            assert!(!is(&"a".repeat(5000)), "{good}");
        }
    }
}
