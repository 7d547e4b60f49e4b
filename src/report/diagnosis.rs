//! A diagnosis for people: what the message means, what was read out of it, what to change.

use crate::diagnose::{Extract, Finding, Value, Verdict};

use super::screen::{Screen, clean};

/// Findings that are told in full; the rest is named.
const TOLD: usize = 3;

/// The whole answer.
pub(super) fn render(screen: &Screen, verdict: &Verdict) -> String {
    let mut text = String::new();
    for finding in verdict.findings.iter().take(TOLD) {
        text += &one(screen, finding);
    }
    let more: Vec<&str> = verdict.findings.iter().skip(TOLD).map(|finding| finding.code.as_str()).collect();
    if !more.is_empty() {
        text += &screen.wrapped("also found: ", &more.join(", "));
    }
    if verdict.findings.is_empty() {
        text += &screen.wrapped(
            &format!("{} ", screen.warning("unknown:")),
            "no message that gpuenv knows is in this text; it may have nothing to do with versions",
        );
        text += &read_out(screen, &verdict.extract);
    }
    text
}

fn one(screen: &Screen, finding: &Finding) -> String {
    let head = screen.error(&format!("{}[{}]:", finding.component, finding.code));
    let mut text = screen.wrapped(&format!("{head} "), &clean(&finding.meaning));
    text += &read_out(screen, &finding.extract);
    for (at, remedy) in finding.remedies.iter().enumerate() {
        text += &screen.wrapped(&format!("  {}. ", at + 1), &clean(remedy));
    }
    text
}

fn read_out(screen: &Screen, extract: &Extract) -> String {
    if extract.is_empty() {
        return String::new();
    }
    let shown = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::List(list) => list.join(" "),
    };
    let pairs: Vec<String> = extract.iter().map(|(key, value)| format!("{key} {}", shown(value))).collect();
    screen.wrapped("  read: ", &clean(&pairs.join(", ")))
}
