//! The hosts in a text that is no JSON: one host's report, many hosts' lines as pdsh, clush (`-b` and `-L` too) and `srun -l`
//! prefix them, or their blocks as `clush -b`, dshbak, ansible and salt print them.

use std::collections::BTreeMap;

use crate::diagnose;
use crate::host;
use crate::log_prefix::printable;

use super::Host;
use super::blocks::{self, is_name, listed};

/// The part of a text's lines, in hundredths, that must have a prefix.
const PREFIXED: usize = 90;

/// The hosts of a text, each read when it is asked for: a record is some times as long as what it was read from. A text of
/// one host has its source's name.
pub fn of_text(text: &str, source: &str) -> Box<dyn Iterator<Item = Host>> {
    // Who prints names may colour them.
    if text.contains('\x1b') {
        return of_text(&printable(text), source);
    }
    if let Some((groups, stray)) = by_prefix(text)
        && is_of_many(groups.values().map(|lines| read(lines).is_ok()), text)
    {
        let stray = stray.first.map(|line| Host {
            name: format!("{source}:{line}"),
            record: Err(match stray.count {
                1 => "no host's name stands before this line".to_string(),
                many => format!("no host's name stands before this line and {} others", many - 1),
            }),
        });
        let read = |(name, lines): (String, String)| Host { name, record: read(&lines) };
        return Box::new(groups.into_iter().map(read).chain(stray));
    }
    let is_read = |block: &blocks::Block| std::iter::repeat_n(said(block).is_ok(), block.hosts.len());
    if let Some(blocks) = blocks::indented(text)
        && is_of_many(blocks.iter().flat_map(is_read), text)
    {
        return Box::new(blocks::joined(blocks).into_iter().flat_map(of_block));
    }
    let is_host = |block: &blocks::Block| said(block).is_ok_and(|record| record.nvml.is_some());
    match blocks::of_text(text, is_host) {
        Some(blocks) => Box::new(blocks::joined(blocks).into_iter().flat_map(of_block)),
        None => {
            let one = read(text).and_then(|record| match host::paste::not_one_host(text, &record) {
                Some(why) => Err(why),
                None => Ok(record),
            });
            Box::new(std::iter::once(Host { name: source.to_string(), record: one }))
        }
    }
}

/// The hosts that said one thing.
fn of_block(block: blocks::Block) -> impl Iterator<Item = Host> {
    let record = said(&block);
    block.hosts.into_iter().map(move |name| Host { name, record: record.clone() })
}

/// What the hosts of a block said.
fn said(block: &blocks::Block) -> Result<host::Record, String> {
    block.text.as_ref().map_err(String::clone).and_then(|text| read(text))
}

fn read(text: &str) -> Result<host::Record, String> {
    diagnose::host_of(text).map_err(|error| {
        let words = answered(text).filter(|_| error.code() == "unrecognised");
        words.unwrap_or_else(|| error.to_string())
    })
}

/// An answer of so few lines is quoted: that of a host which could not be reached, or has no such command.
const FEW: usize = 3;
/// More of a line is cut off.
const QUOTED: usize = 160;

/// What a host said that described nothing, in its own words.
fn answered(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().filter(|first| !first.starts_with(['{', '[', '<']) && lines.count() < FEW)?;
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.char_indices().nth(QUOTED).map(|(at, _)| at);
    let words = end.map_or(words.clone(), |end| format!("{}…", &words[..end]));
    Some(format!("the host answered `{words}`, which tells nothing of a GPU or a driver"))
}

/// Whether prefixes are hosts' names. `OS: …` and `Driver: …` are none: what stands behind them describes no host. Nor
/// does what a dead host says, so one that is described tells, unless the text as it stands is a host's report.
fn is_of_many(mut described: impl Iterator<Item = bool>, text: &str) -> bool {
    described.next() == Some(true)
        || match described.filter(|is_described| *is_described).take(2).count() {
            0 => false,
            1 => read(text).is_err(),
            _ => true,
        }
}

/// Lines that many hosts said stand for no more than this, over one for each.
const MOST: usize = 1 << 20;

/// Lines without a host's name: the number of the first, and how many there are.
#[derive(Default)]
struct Stray {
    first: Option<usize>,
    count: usize,
}

/// The lines of each prefix, without it, and those that have none; none where too few lines have one. A prefix may name
/// many hosts, as `clush -bL` folds them.
fn by_prefix(text: &str) -> Option<(BTreeMap<String, String>, Stray)> {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    let (mut lines, mut said, mut stray) = (0, 0, Stray::default());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        lines += 1;
        let line = without_engine(line);
        let named = of_rank(line).or_else(|| line.split_once(": ")).or_else(|| line.split_once(':'));
        let (name, rest) = named.unwrap_or_default();
        let name = name.trim();
        let folded = if name.contains('[') || name.contains(',') { listed(name) } else { None };
        let names = folded.unwrap_or_else(|| if is_name(name) { vec![name.to_string()] } else { Vec::new() });
        if names.is_empty() {
            stray.first.get_or_insert(at + 1);
            stray.count += 1;
        }
        said += names.len();
        if said > lines + MOST {
            return None;
        }
        for name in names {
            let lines = groups.entry(name).or_default();
            *lines += rest;
            lines.push('\n');
        }
    }
    (lines > 0 && (lines - stray.count) * 100 >= lines * PREFIXED).then_some((groups, stray))
}

/// The rank before a line of `mpirun --tag-output`, and the line: `[1,0]<stdout>:`, `[prterun-n1-77@1,0]<stdout>: `.
fn of_rank(line: &str) -> Option<(&str, &str)> {
    let (job, rest) = line.strip_prefix('[')?.split_once(']')?;
    let rest = ["<stdout>:", "<stderr>:"].iter().find_map(|stream| rest.strip_prefix(stream))?;
    let (_, rank) = job.rsplit_once(',')?;
    rank.bytes().all(|byte| byte.is_ascii_digit()).then_some((rank, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// What those who run a command on many hosts say of one themselves: `pdsh@mgmt: node41: ssh exited with exit code 255`.
pub fn without_engine(line: &str) -> &str {
    let pdsh = line.strip_prefix("pdsh@").and_then(|rest| Some(rest.split_once(": ")?.1));
    let other = || ["clush: ", "srun: error: "].iter().find_map(|engine| line.strip_prefix(engine));
    pdsh.or_else(other).unwrap_or(line)
}

#[cfg(test)]
mod tests;
