//! What hosts said, in blocks under their names: `clush -b` and `dshbak -c`, where one block may be that of many,
//! ansible's, and salt's.

use std::collections::BTreeMap;
use std::str::Lines;

/// No cluster has more nodes: a longer list is none of hosts.
const MOST: usize = 1 << 16;
/// No node's number has more.
const DIGITS: usize = 9;

/// A block: the hosts that it is of, and what they said.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Their names.
    pub hosts: Vec<String>,
    /// Their lines, or why there are none.
    pub text: Result<String, String>,
}

/// Why a host said nothing.
const NOT_RUN: &str = "the command could not be run on this host";

/// Whether it may be the name of a host.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// The blocks of a text; none where it does not begin with the heading of one. `is_host`: whether a block is a host's report,
/// which is asked where the headings may be those of a report.
pub fn of_text(text: &str, is_host: impl Fn(&Block) -> bool) -> Option<Vec<Block>> {
    let blocks = between_headings(text)?;
    // The headings of reports have no numbers; ansible's are no rules.
    let numbered = blocks.iter().any(|block| block.hosts.iter().all(|name| is_numbered(name)));
    let is_sure = numbered || text.trim_start().lines().next().is_some_and(|line| !is_rule(line));
    (is_sure || blocks.iter().filter(|block| is_host(block)).take(2).count() == 2).then_some(blocks)
}

fn between_headings(text: &str) -> Option<Vec<Block>> {
    let mut lines = text.lines();
    // Whoever prints them rules all of them alike.
    let rule = lines.clone().find(|line| !line.trim().is_empty()).filter(|line| is_rule(line));
    let mut blocks: Vec<Block> = Vec::new();
    // A heading has three lines at most.
    while let [Some(line), ..] = three(&lines) {
        if let Some((block, length)) = heading(&three(&lines), rule) {
            blocks.push(block);
            lines.nth(length - 1);
            continue;
        }
        match blocks.last_mut() {
            Some(block) => {
                if let Ok(text) = &mut block.text {
                    *text += line;
                    text.push('\n');
                }
            }
            None if line.trim().is_empty() => {}
            None => return None,
        }
        lines.next();
    }
    (!blocks.is_empty()).then_some(blocks)
}

/// The blocks of a text in which `name:` stands at the margin and everything else is indented, as salt prints it; none
/// where a line is neither.
pub fn indented(text: &str) -> Option<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.lines() {
        match line.strip_suffix(':').filter(|name| is_name(name)) {
            Some(name) => blocks.push(Block { hosts: vec![name.to_string()], text: Ok(String::new()) }),
            None if line.trim().is_empty() => {}
            None => {
                let said = blocks.last_mut()?.text.as_mut().ok()?;
                *said += line.strip_prefix(SALT)?;
                said.push('\n');
            }
        }
    }
    (!blocks.is_empty()).then_some(blocks)
}

/// The blocks where each host stands in one: who stands in several said all of it.
pub fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let mut said: BTreeMap<String, (usize, Result<String, String>)> = BTreeMap::new();
    for block in &blocks {
        for host in &block.hosts {
            let (count, all) = said.entry(host.clone()).or_insert((0, Err(NOT_RUN.to_string())));
            *count += 1;
            match (all, &block.text) {
                (Ok(all), Ok(text)) => *all += text,
                (all, Ok(text)) => *all = Ok(text.clone()),
                _ => {}
            }
        }
    }
    said.retain(|_, (count, _)| *count > 1);
    let mut once: Vec<Block> = Vec::new();
    for mut block in blocks {
        block.hosts.retain(|host| !said.contains_key(host));
        once.push(block);
    }
    once.extend(said.into_iter().map(|(host, (_, text))| Block { hosts: vec![host], text }));
    once
}

/// What salt puts before each line of a minion.
const SALT: &str = "    ";

/// The next lines.
fn three<'t>(lines: &Lines<'t>) -> [Option<&'t str>; 3] {
    let mut next = lines.clone();
    std::array::from_fn(|_| next.next())
}

/// A heading that begins here, and its length in lines.
fn heading(lines: &[Option<&str>; 3], rule: Option<&str>) -> Option<(Block, usize)> {
    let is_rule = |line: Option<&str>| line.is_some() && line == rule;
    if let [first, Some(title), third] = *lines
        && is_rule(first)
        && is_rule(third)
        && !is_rule(Some(title))
        && !title.trim().is_empty()
    {
        let title = title.trim();
        // What stands below a heading is none of the host before it, whatever the heading means.
        let untold = || format!("which hosts the heading `{title}` means is not known: have their names printed");
        return Some(match named(title) {
            Some(hosts) => (Block { hosts, text: Ok(String::new()) }, 3),
            None => (Block { hosts: vec![title.to_string()], text: Err(untold()) }, 3),
        });
    }
    let (name, rest) = lines[0]?.split_once(" | ")?;
    let word = rest.split([' ', '!']).next().unwrap_or_default();
    let text = match word {
        "CHANGED" | "SUCCESS" => Ok(String::new()),
        "FAILED" | "UNREACHABLE" => Err(NOT_RUN.to_string()),
        _ => return None,
    };
    is_name(name).then(|| (Block { hosts: vec![name.to_string()], text }, 1))
}

fn is_rule(line: &str) -> bool {
    line.len() >= 5 && line.bytes().all(|byte| byte == b'-')
}

fn is_numbered(name: &str) -> bool {
    is_name(name) && name.bytes().any(|byte| byte.is_ascii_digit())
}

/// `n[11-13,17],login1 (5)`: each name with a number in it, as the headings of reports have none.
pub fn listed(names: &str) -> Option<Vec<String>> {
    named(names).filter(|hosts| hosts.iter().all(|name| is_numbered(name)))
}

/// The same of any names.
fn named(names: &str) -> Option<Vec<String>> {
    let names = names.split_once(" (").map_or(names, |(names, _)| names);
    let mut hosts = Vec::new();
    for part in apart(names) {
        expand(part, "", &mut hosts)?;
    }
    (!hosts.is_empty() && hosts.iter().all(|name| is_name(name))).then_some(hosts)
}

/// The parts between commas, but for those in brackets.
fn apart(names: &str) -> Vec<&str> {
    let mut inside = false;
    let is_between = |byte: char| {
        inside = byte == '[' || inside && byte != ']';
        byte == ',' && !inside
    };
    names.split(is_between).collect()
}

/// Adds the names that a part with ranges means; none where it means none, or too many.
fn expand(part: &str, before: &str, hosts: &mut Vec<String>) -> Option<()> {
    let Some((head, rest)) = part.split_once('[') else {
        hosts.push(format!("{before}{part}"));
        return (hosts.len() <= MOST).then_some(());
    };
    let (ranges, tail) = rest.split_once(']')?;
    for range in ranges.split(',') {
        // `1-9/2`
        let (range, step) = range.split_once('/').unwrap_or((range, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        let step = step.parse().ok().filter(|step| *step > 0)?;
        if from > to || to - from >= MOST || first.len() > DIGITS {
            return None;
        }
        for number in (from..=to).step_by(step) {
            // `n[01-03]` keeps its noughts.
            expand(tail, &format!("{before}{head}{number:0width$}", width = first.len()), hosts)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
