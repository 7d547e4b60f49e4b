//! Quoting, one function a language.
//!
//! Control characters never get this far (`valid` refuses them), so no function has to invent a spelling
//! for a newline: in a Dockerfile there is none that every parser shares.

use serde_json::Value;

/// A word of any POSIX shell. Quoted only where needed, so that plain values stay readable.
pub fn sh(value: &str) -> String {
    if is_plain(value) { value.to_string() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}

/// A requirement as a word of a command of sh: quoted where a shell would read something into it. `=`, `+` and `@`
/// mean themselves there.
pub fn sh_word(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:=+@%".contains(&byte));
    if is_plain && !value.is_empty() { value.to_string() } else { sh(value) }
}

/// An option with its value, as a shell takes them: `--spec a.toml`, and with `=` where the value looks like an option.
pub fn sh_option(option: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("{option}{between}{}", sh_word(value))
}

/// A word of fish, whose single quotes know two escapes.
pub fn fish(value: &str) -> String {
    if is_plain(value) { value.to_string() } else { format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'")) }
}

/// A value of a Dockerfile's ENV, which expands `$` inside double quotes.
pub fn docker(value: &str) -> String {
    let mut quoted = String::from("\"");
    for character in value.chars() {
        if matches!(character, '\\' | '"' | '$') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted + "\""
}

/// A TOML string.
pub fn toml(value: &str) -> String {
    toml::Value::String(value.to_string()).to_string()
}

/// A TOML key: bare where that is possible, since a dot in a bare key would open a table.
pub fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_string() } else { toml(key) }
}

/// A word of Tcl. In braces nothing has a meaning but braces and backslashes, which no value holds.
pub fn tcl(value: &str) -> String {
    let is_bare =
        !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte));
    if is_bare { value.to_string() } else { format!("{{{}}}", value.replace(['{', '}', '\\'], "_")) }
}

/// A string of Lua.
pub fn lua(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A string of JSON, and of YAML.
pub fn json(value: &str) -> String {
    serde_json::Value::String(value.to_string()).to_string()
}

/// As YAML in block style, every string quoted: YAML takes `9.0` for a number else, and `no` for false.
pub fn yaml(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let nested = |value: &Value| {
        matches!(value, Value::Object(map) if !map.is_empty())
            || matches!(value, Value::Array(list) if !list.is_empty())
    };
    let mut out = String::new();
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = if is_plain_key(key) { key.clone() } else { json(key) };
                out += &match nested(value) {
                    true => format!("{indent}{key}:\n{}", yaml(value, depth + 1)),
                    false => format!("{indent}{key}: {value}\n"),
                };
            }
        }
        Value::Array(list) => {
            for value in list {
                let text = if nested(value) { yaml(value, depth + 1) } else { format!("{value}\n") };
                out += &format!("{indent}- {}", text.trim_start());
            }
        }
        _ => out += &format!("{indent}{value}\n"),
    }
    out
}

fn is_plain_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
        && !["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&key)
}

/// Means itself in every shell. `~` and `=` do not: zsh expands words that start with them.
fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(sh("/usr/local/cuda-12.4"), "/usr/local/cuda-12.4");
        assert_eq!(fish("8.0"), "8.0");
    }

    #[test]
    fn keys_that_yaml_reads_as_something_else_are_quoted() {
        let keys = serde_json::json!({ "gpu1": 1, "1gpu": 2, "on": 3, "a: b": 4 });
        assert_eq!(yaml(&keys, 0), "\"1gpu\": 2\n\"a: b\": 4\ngpu1: 1\n\"on\": 3\n");
    }

    #[test]
    fn keys_that_toml_reads_as_something_else_are_quoted() {
        assert_eq!(["gpu-1", "a.b", ""].map(toml_key), ["gpu-1", "\"a.b\"", "\"\""]);
    }

    #[test]
    fn special_characters_lose_their_meaning() {
        assert_eq!(sh("8.0;9.0+PTX"), "'8.0;9.0+PTX'");
        assert_eq!(sh("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(sh(""), "''");
        assert_eq!(fish(r"it's \ $HOME"), r"'it\'s \\ $HOME'");
        assert_eq!(docker(r#"a "$HOME" \"#), r#""a \"\$HOME\" \\""#);
        assert_eq!(toml::from_str::<toml::Table>(&format!("x = {}", toml(r#"a'"\b"#))).unwrap()["x"].as_str(), {
            Some(r#"a'"\b"#)
        });
    }
}
