//! A fleet as one page of HTML with its pictures, which needs no network: how many hosts each target and each driver
//! has, and the groups with what to do.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::fleet::Tally;
use crate::verify::Status;

use super::screen::{clean, markup};

pub(super) const STYLE: &str = include_str!("fleet_page.css");

/// The bars of a picture at most; what is rarer is one bar.
const BARS: usize = 20;
/// The width of a whole bar.
const WIDTH: usize = 420;
/// The height of a bar with the gap below it.
const HEIGHT: usize = 22;
/// The room for a bar's name.
const NAME: usize = 260;

/// What a bar is made of: hosts that pass, fail or are not known.
pub(super) type Parts = [usize; 3];

/// The order of a bar's parts, with their colours.
const STATUSES: [(Status, &str); 3] =
    [(Status::Pass, "#3a8f3a"), (Status::Fail, "#c0392b"), (Status::Unknown, "#d4a017")];

/// The page.
pub(super) fn render(tally: &Tally) -> String {
    let [passed, failed, open] = STATUSES.map(|(status, _)| tally.count(status));
    let hosts = tally.hosts;
    let heading = format!("{hosts} hosts: {passed} pass, {failed} fail, {open} not known");
    let mut page = begun("gpuenv fleet", STYLE, &heading);
    let mut targets: BTreeMap<String, Parts> = BTreeMap::new();
    for group in &tally.groups {
        let name = group.target.clone().unwrap_or_else(|| "no readable record".to_string());
        let at = STATUSES.iter().position(|(status, _)| *status == group.status).unwrap_or(0);
        targets.entry(name).or_default()[at] += group.hosts.len();
    }
    picture(&mut page, "Hosts by the target that fits best", targets.into_iter().collect());
    let counted = |counts: &BTreeMap<String, usize>| -> Vec<(String, Parts)> {
        counts.iter().map(|(name, count)| (name.clone(), [*count, 0, 0])).collect()
    };
    picture(&mut page, "Hosts by driver", counted(&tally.drivers));
    picture(&mut page, "Hosts by GPU", counted(&tally.gpus));
    groups(&mut page, tally);
    page += "</body></html>\n";
    page
}

/// A page up to its heading.
pub(super) fn begun(title: &str, style: &str, heading: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{style}</style></head><body>\n\
         <h1>{heading}</h1>\n"
    )
}

/// Bars, the longest first.
pub(super) fn picture(page: &mut String, title: &str, mut bars: Vec<(String, Parts)>) {
    let whole = |parts: &Parts| parts.iter().sum::<usize>();
    crate::types::sort_by_key(&mut bars, |(name, parts)| (std::cmp::Reverse(whole(parts)), name.clone()));
    if bars.len() > BARS {
        let rest = bars.split_off(BARS - 1);
        let mut sum = Parts::default();
        for (_, parts) in &rest {
            sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        bars.push((format!("{} others", rest.len()), sum));
    }
    let most = bars.iter().map(|(_, parts)| whole(parts)).max().unwrap_or(0).max(1);
    let (across, down) = (NAME + WIDTH + 90, bars.len() * HEIGHT);
    let _ = write!(
        page,
        "<h2>{title}</h2>\n<svg role=\"img\" aria-label=\"{title}\" viewBox=\"0 0 {across} {down}\" \
         width=\"{across}\" height=\"{down}\" font-family=\"system-ui,sans-serif\" font-size=\"13\">\n"
    );
    for (at, (name, parts)) in bars.iter().enumerate() {
        let (top, text) = (at * HEIGHT, at * HEIGHT + 15);
        let _ = write!(page, "<text x=\"0\" y=\"{text}\">{}</text>", escaped(name));
        let mut left = NAME;
        for ((status, colour), count) in STATUSES.iter().zip(parts).filter(|(_, count)| **count > 0) {
            let wide = (count * WIDTH / most).max(2);
            let _ = write!(
                page,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{}\" fill=\"{colour}\"><title>{count} \
                 {}</title></rect>",
                HEIGHT - 4,
                status.as_str()
            );
            left += wide;
        }
        let _ = writeln!(page, "<text x=\"{}\" y=\"{text}\">{}</text>", left + 6, whole(parts));
    }
    *page += "</svg>\n";
}

fn groups(page: &mut String, tally: &Tally) {
    *page += "<h2>Groups</h2>\n<table><thead><tr><th>Hosts</th><th>Status</th><th>Target</th><th>Why, and what to do\
              </th></tr></thead><tbody>\n";
    for group in tally.in_order() {
        let status = group.status.as_str();
        let target = group.target.as_deref().unwrap_or_default();
        let _ = write!(
            page,
            "<tr><td>{}</td><td class=\"{status}\">{status}</td><td>{}</td><td>",
            group.hosts.len(),
            escaped(target)
        );
        for cause in &group.causes {
            let _ = write!(page, "<p><code>{}</code>: {}</p>", escaped(&cause.check), escaped(&cause.hint));
        }
        let found: Vec<String> = group.found.iter().map(|(text, count)| format!("{text} ({count})")).collect();
        if !found.is_empty() {
            let _ = write!(page, "<p>found: {}</p>", escaped(&found.join(", ")));
        }
        let names = escaped(&group.hosts.join(", "));
        let _ = writeln!(page, "<details><summary>hosts</summary>{names}</details></td></tr>");
    }
    *page += "</tbody></table>\n";
}

/// A text as it may stand in HTML.
pub(super) fn escaped(text: &str) -> String {
    markup(&clean(text))
}
