//! The hosts in a text that is no JSON: one host's report, many hosts' lines as pdsh, clush and `srun -l` prefix them, or
//! their blocks as `clush -b`, dshbak, ansible and salt print them.

use std::collections::BTreeMap;

use crate::host;

use super::Host;
use super::blocks::{self, is_name};

/// The part of a text's lines, in hundredths, that must have a prefix.
const PREFIXED: usize = 90;

/// The hosts of a text; a text of one host has its source's name.
pub fn of_text(text: &str, source: &str) -> Vec<Host> {
    if let Some((groups, stray)) = by_prefix(text) {
        let read = |(name, lines): (String, String)| Host { name, record: read(&lines) };
        let mut hosts: Vec<Host> = groups.into_iter().map(read).collect();
        if is_of_many(&hosts, text) {
            hosts.extend(stray.first().map(|line| Host {
                name: format!("{source}:{line}"),
                record: Err(match stray.len() {
                    1 => "no host's name stands before this line".to_string(),
                    many => format!("no host's name stands before this line and {} others", many - 1),
                }),
            }));
            return hosts;
        }
    }
    if let Some(blocks) = blocks::indented(text) {
        let hosts: Vec<Host> = blocks.into_iter().flat_map(of_block).collect();
        if is_of_many(&hosts, text) {
            return hosts;
        }
    }
    match blocks::of_text(text) {
        Some(blocks) => blocks.into_iter().flat_map(of_block).collect(),
        None => vec![Host { name: source.to_string(), record: read(text) }],
    }
}

/// The hosts that said one thing.
fn of_block(block: blocks::Block) -> Vec<Host> {
    let record = match &block.text {
        Some(text) => read(text),
        None => Err("the command could not be run on this host".to_string()),
    };
    block.hosts.into_iter().map(|name| Host { name, record: record.clone() }).collect()
}

fn read(text: &str) -> Result<host::Record, String> {
    host::read_any(text).map_err(|error| error.to_string())
}

/// Whether prefixes are hosts' names. `OS: …` and `Driver: …` are none: what stands behind them describes no host. Nor
/// does what a dead host says, so one that is described tells, unless the text as it stands is a host's report.
fn is_of_many(hosts: &[Host], text: &str) -> bool {
    let described = hosts.iter().filter(|host| host.record.is_ok()).count();
    let first = hosts.first().is_some_and(|host| host.record.is_ok());
    first || described > 1 || described == 1 && read(text).is_err()
}

/// The lines of each prefix, without it, and the numbers of those that have none; none where too few lines have one.
fn by_prefix(text: &str) -> Option<(BTreeMap<String, String>, Vec<usize>)> {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    let (mut lines, mut stray) = (0, Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        lines += 1;
        let line = without_engine(line);
        let (name, rest) = line.split_once(": ").or_else(|| line.split_once(':')).unwrap_or_default();
        let name = name.trim();
        if is_name(name) {
            let lines = groups.entry(name.to_string()).or_default();
            *lines += rest;
            lines.push('\n');
        } else {
            stray.push(at + 1);
        }
    }
    (lines > 0 && (lines - stray.len()) * 100 >= lines * PREFIXED).then_some((groups, stray))
}

/// What those who run a command on many hosts say of one themselves: `pdsh@mgmt: node41: ssh exited with exit code 255`.
pub fn without_engine(line: &str) -> &str {
    let pdsh = line.strip_prefix("pdsh@").and_then(|rest| Some(rest.split_once(": ")?.1));
    let other = || ["clush: ", "srun: error: "].iter().find_map(|engine| line.strip_prefix(engine));
    pdsh.or_else(other).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixed_lines_are_many_hosts() {
        let csv = "node1: name, driver_version, compute_cap\nnode2: name, driver_version, compute_cap\n\
                   node1: NVIDIA H100 NVL, 550.54.15, 9.0\nnode2: Tesla T4, 535.104.05, 7.5\n";
        let hosts = of_text(csv, "all.csv");
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["node1", "node2"]);
        let driver = hosts[1].record.as_ref().unwrap().nvml.as_ref().unwrap().driver;
        assert_eq!(driver.unwrap().as_str(), "535.104.05");
        let one = "OS: Ubuntu 22.04.3 LTS (x86_64)\nPyTorch version: 2.5.1+cu124\nNvidia driver version: 550.54.15\n";
        assert_eq!(of_text(one, "report.txt")[0].name, "report.txt");
        assert!(of_text("nothing\n", "x").iter().all(|host| host.record.is_err()));
    }

    #[test]
    fn the_minions_of_salt_are_hosts() {
        let salt = "a1:\n    NVIDIA H100 NVL, 550.54.15\na2:\n    Minion did not return. [No response]\n\
                    a3:\n    /bin/sh: nvidia-smi: not found\na4.example:\n    Tesla T4, 535.104.05\n";
        let ends: Vec<(String, bool)> =
            of_text(salt, "all").into_iter().map(|host| (host.name, host.record.is_ok())).collect();
        let wanted = [("a1", true), ("a2", false), ("a3", false), ("a4.example", true)];
        assert_eq!(ends, wanted.map(|(name, read)| (name.to_string(), read)));
        let report = "Driver:\n    CUDA Version: 12.4\nelse\n";
        assert_eq!(of_text(report, "report.txt")[0].name, "report.txt");
    }

    #[test]
    fn a_dead_host_costs_itself_alone() {
        let ends = |text: &str| -> Vec<(String, bool)> {
            of_text(text, "all").into_iter().map(|host| (host.name, host.record.is_ok())).collect()
        };
        let good = |name: &str| format!("{name}: NVIDIA H100 NVL, 550.54.15, 9.0\n");
        let of = |wanted: &[(&str, bool)]| -> Vec<(String, bool)> {
            wanted.iter().map(|(name, read)| (name.to_string(), *read)).collect()
        };
        let dead = "node1: bash: nvidia-smi: command not found\n".to_string();
        assert_eq!(ends(&(dead.clone() + &good("node2"))), of(&[("node1", false), ("node2", true)]));
        let dead = good("node2") + "pdsh@mgmt: node9: ssh exited with exit code 255\n";
        assert_eq!(ends(&dead), of(&[("node2", true), ("node9", false)]));
        let many: String = (10..30).map(|at| good(&format!("n{at}"))).collect();
        let stray = ends(&(many + "Killed\nKilled\n"));
        assert_eq!((stray.len(), stray.last().unwrap()), (21, &("all:21".to_string(), false)));
    }
}
