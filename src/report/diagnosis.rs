//! A diagnosis for people: what the message means, what was found in the text, what to change.

use crate::diagnose::{Extract, Finding, Verdict, in_words};

use super::screen::{Screen, clean};

/// Findings that are told in full; the rest is named.
const TOLD: usize = 3;

/// The whole answer.
pub(super) fn render(screen: &Screen, verdict: &Verdict) -> String {
    let mut text = String::new();
    for finding in verdict.findings.iter().take(TOLD) {
        text += &one(screen, &format!("{}[{}]:", finding.component, finding.code), finding);
    }
    let more: Vec<&str> = verdict.findings.iter().skip(TOLD).map(|finding| finding.code.as_str()).collect();
    if !more.is_empty() {
        text += &screen.wrapped("also found: ", &more.join(", "));
    }
    if verdict.findings.is_empty() {
        let unknown = "no message that gpuenv knows is in this text; it may have nothing to do with versions";
        let means = verdict.aside.map_or(unknown, |aside| aside.means);
        text += &screen.wrapped(&format!("{} ", screen.warning("unknown:")), means);
        match &verdict.notice {
            Some(notice) => text += &one(screen, "notice:", notice),
            None => text += &found(screen, &verdict.extract),
        }
        let names_a_machine = ["gpu", "driver"].iter().any(|key| verdict.extract.contains_key(*key));
        let help = match verdict.aside {
            Some(aside) => aside.help,
            None if names_a_machine => "`gpuenv init --host FILE` writes a gpuenv.toml for the machine of such a text",
            None => "give more of the text, from its first error on",
        };
        text += &screen.wrapped(&format!("  {} ", screen.help("help:")), help);
    }
    text
}

fn one(screen: &Screen, head: &str, finding: &Finding) -> String {
    let head = screen.help(head);
    let mut text = screen.wrapped(&format!("{head} "), &clean(&finding.meaning));
    let mut extract = finding.extract.clone();
    let implied = if finding.has_number { None } else { extract.remove("cuda_error") };
    text += &found(screen, &extract);
    if let Some(number) = implied {
        text += &screen.wrapped("  that is: ", &format!("CUDA error {number}"));
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        text += &screen.wrapped(&format!("  {}. ", at + 1), &clean(remedy));
    }
    text
}

fn found(screen: &Screen, extract: &Extract) -> String {
    let words = in_words(extract);
    if words.is_empty() {
        return String::new();
    }
    screen.wrapped("  found in the text: ", &clean(&words.join(", ")))
}
