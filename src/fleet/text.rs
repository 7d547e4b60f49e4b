//! The hosts in a text that is no JSON: one host's report, or many hosts' lines as pdsh, clush and `srun -l` prefix them.

use std::collections::BTreeMap;

use crate::host;

use super::Host;

/// The part of a text's lines, in hundredths, that must have a prefix.
const PREFIXED: usize = 90;

/// The hosts of a text; a text of one host has its source's name.
pub fn of_text(text: &str, source: &str) -> Vec<Host> {
    if let Some(groups) = by_prefix(text) {
        let mut groups = groups.into_iter();
        // `OS: …` and `Driver: …` are no hosts' names: what stands behind them describes none.
        if let Some((name, lines)) = groups.next()
            && let Ok(record) = host::read_any(&lines)
        {
            let others = groups.map(|(name, lines)| Host { name, record: read(&lines) });
            return std::iter::once(Host { name, record: Ok(record) }).chain(others).collect();
        }
    }
    vec![Host { name: source.to_string(), record: read(text) }]
}

fn read(text: &str) -> Result<host::Record, String> {
    host::read_any(text).map_err(|error| error.to_string())
}

/// The lines of each prefix, without it; none where too few lines have one.
fn by_prefix(text: &str) -> Option<BTreeMap<String, String>> {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    let (mut lines, mut prefixed) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        let Some((name, rest)) = line.split_once(": ").or_else(|| line.split_once(':')) else { continue };
        let name = name.trim();
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if is_name {
            prefixed += 1;
            let lines = groups.entry(name.to_string()).or_default();
            *lines += rest;
            lines.push('\n');
        }
    }
    (lines > 0 && prefixed * 100 >= lines * PREFIXED).then_some(groups)
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
}
