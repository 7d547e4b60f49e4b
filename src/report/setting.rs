//! Written keys for people: the line as it stands in gpuenv.toml, and the target it belongs to.

use crate::spec::Spec;
use crate::types::distinct;

use super::screen::clean;

/// Of a longer value only the beginning is quoted.
const LONGEST: usize = 48;

/// `` `driver = "550"` ``; the key alone where nothing is written for it.
pub(super) fn line(key: &str, spec: &Spec) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    if let Some(own) = spec.own.iter().find(|own| key.strip_prefix("stack.") == Some(&*own.package)) {
        return format!("your build of {} {}", clean(name), clean(&own.full_version()));
    }
    match spec.text(key) {
        Some(text) if spec.key_span(key).is_some() => format!("`{} = {}`", clean(name), value(&text)),
        _ => format!("`{}`", clean(key)),
    }
}

/// More targets that are alike are counted, not named.
const NAMED: usize = 3;

/// Several lines, the target named after them where all belong to one, else after each. `also` are targets of which the
/// same holds.
pub(super) fn lines(keys: &[String], also: &[String], spec: &Spec) -> (Vec<String>, String) {
    let targets: Vec<&str> = keys.iter().map(|key| target(key)).filter(|target| !target.is_empty()).collect();
    let of = |target: &str| match target {
        "" => String::new(),
        target => format!(" (target `{}`)", clean(target)),
    };
    match targets.first() {
        Some(first) if targets.iter().all(|target| target == first) => {
            let of_all = if also.is_empty() { of(first) } else { of_each(first, also) };
            (keys.iter().map(|key| line(key, spec)).collect(), of_all)
        }
        _ => {
            let more =
                if also.is_empty() { String::new() } else { format!(" (and {} targets like these)", also.len()) };
            (keys.iter().map(|key| line(key, spec) + &of(target(key))).collect(), more)
        }
    }
}

/// A target and those that are like it: `` (targets `a`, `b` and `c`) ``, `` (target `a` and 24 like it) ``.
fn of_each(first: &str, also: &[String]) -> String {
    if also.len() >= NAMED {
        return format!(" (target `{}` and {} like it)", clean(first), also.len());
    }
    let named = |name: &str| format!("`{}`", clean(name));
    let all: Vec<String> = std::iter::once(first).chain(also.iter().map(String::as_str)).map(named).collect();
    match all.split_last() {
        Some((last, others)) => format!(" (targets {} and {last})", others.join(", ")),
        None => String::new(),
    }
}

/// The target that a key belongs to; empty for those of none.
pub(super) fn target(key: &str) -> &str {
    key.strip_prefix("target.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(target, _)| target)
}

/// Targets that are listed by name; more are counted.
const TARGETS: usize = 4;

/// The targets that keys or whole tables belong to, as words behind a sentence that names none of them.
pub(super) fn targets_beside(sentence: &str, keys: &[String]) -> String {
    let names = keys.iter().filter_map(|key| key.strip_prefix("target.")?.split('.').next());
    let mut names = distinct(names.map(quoted));
    if names.iter().any(|name| sentence.contains(&format!("target {name}"))) {
        return String::new();
    }
    let more = names.len().saturating_sub(TARGETS);
    names.truncate(TARGETS);
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    match names.len() {
        0 => String::new(),
        1 => format!(" (target {})", names[0]),
        _ => format!(" (targets {}{others})", names.join(", ")),
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// A value as TOML writes it.
pub(super) fn value(text: &str) -> String {
    let text = clean(text);
    let bare = text.starts_with('[') || matches!(&*text, "true" | "false");
    let short = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    };
    if bare { short } else { format!("\"{short}\"") }
}
