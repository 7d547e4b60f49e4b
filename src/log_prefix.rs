//! L0, log prefixes: what terminals, loggers, containers and forums put around a line.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// What stands before a line and belongs to who wrote it down, not to the message.
///
/// Only prefixes that repeat inside a wrapped message matter: a pattern may begin anywhere.
static PREFIXES: LazyLock<Regex> = LazyLock::new(|| {
    let all = [
        // Quoting and source lines that tools frame.
        r"^\s*>+\s?",
        // torchrun, mpirun, srun, Ray, Lightning, vLLM.
        r"^\[(?:rank|default|worker|local_rank|[a-z0-9.-]+:)?\s?\d+(?:,\d+)?\](?:<std(?:out|err)>)?:\s?",
        r"^\([A-Za-z_.][A-Za-z0-9_.]*(?:<[^>]*>)? ?(?:\([^)]*\) )?(?:pid|rank)=\d+[^)]*\)\s?",
        r"^ *\d{1,3}: ",
        // docker compose, kubectl logs --prefix, systemd, dmesg.
        r"^[A-Za-z0-9][A-Za-z0-9._-]*\s*\|\s",
        r"^\[pod/[^\]]*\]\s?",
        r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+(?:\[\d+\])?: ",
        r"^\[ *\d+\.\d{6}\] ",
        // Timestamps of loggers.
        r"^\[?\d{4}[-/]\d\d[-/]\d\d,?[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d| UTC)?\]?:?\s",
        r"^[IWEF]\d{4} \d\d:\d\d:\d+\.\d+\s+\d+ [^\]\s]{1,80}\]\s",
        r"^(?:\| |- [A-Za-z0-9_.]+ - |\{[^}\s]+:\d+\} )?\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|FATAL)\]?(?: \d\d-\d\d \d\d:\d\d:\d\d)? +(?:\[[^\]\s]+:\d+[^\]]*\]|-|\| [^\s|]+:\d+ -) ",
        // Builds and notebooks.
        r"^##\[[a-z]+\]",
        r"^#\d+ \d+\.\d+ ",
        r"^\d+\.\d+s?\s+\d+\s",
        r"^E {3,}",
        r"^(?:std(?:out|err)) [FP] ",
    ];
    // The first that matches is meant, as in a list.
    RegexBuilder::new(&all.join("|")).unicode(false).build().expect("a constant")
});

/// What somebody else put before a line: a quote's `> `, a container's name, a time. None: nothing.
pub fn prefix(line: &str) -> Option<&str> {
    line.get(..PREFIXES.find(line.as_bytes())?.end())
}

/// Without terminal escapes and control characters.
pub fn printable(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\n' => text.push('\n'),
            '\t' => text.push(' '),
            c if c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}') => {}
            '\u{a0}' | '\u{202f}' => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // Colours and cursor movements end with a letter.
        Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        // Titles and links end with a bell or ESC \.
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\x07' || c == '\x1b' && chars.next_if_eq(&'\\').is_some() {
                    break;
                }
            }
        }
        _ => {}
    }
}
