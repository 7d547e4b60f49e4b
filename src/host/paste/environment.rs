//! Variables that change what a CUDA process sees or loads, from vLLM's collect_env or anybody's `env`.

use crate::host::anonymous::without_user;
use crate::host::environment::is_kept;

use super::seen::Seen;

/// `NAME=value` on a line of its own. This alone describes no host. What stands before a command holds for that
/// command alone.
pub(super) fn read(lines: &[&str], seen: &mut Seen) {
    for line in lines {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else { continue };
        if is_kept(name) {
            let Some(value) = whole(value.trim()) else { continue };
            seen.record.environment.entry(name.to_string()).or_insert(without_user(value));
        }
    }
}

/// A value, without its quotes; none where a command stands behind it.
fn whole(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (own, behind) = match quote.and_then(|quote| value[1..].split_once(quote)) {
        Some((own, behind)) => (own, behind),
        None => value.split_once(char::is_whitespace).filter(|(_, rest)| !goes_on(rest)).unwrap_or((value, "")),
    };
    let is_last =
        own.ends_with(';') || behind.trim_start().is_empty() || behind.trim_start().starts_with(['#', ';', '&']);
    is_last.then(|| own.trim_end_matches(';').trim_matches(['"', '\'']))
}

/// Whether what stands behind a blank is still of the value, as `env` prints it: numbers, options, and parts of a
/// condition or a path. Another assignment and a program's name or path are not.
fn goes_on(rest: &str) -> bool {
    let word = rest.trim_start();
    let word = word.split_whitespace().next().unwrap_or_default();
    let is_assignment =
        word.split_once('=').is_some_and(|(name, _)| !name.bytes().any(|byte| byte.is_ascii_lowercase()));
    let is_part = word.len() > 1
        && word.contains(['<', '>', '=', '/', '\\'])
        && !word.starts_with(['.', '/', '~', '$'])
        && !is_assignment;
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-') || is_part
}
