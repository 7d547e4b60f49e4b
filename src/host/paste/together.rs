//! Whether a text can be one host's report: programs print it once, one row after another, and nobody's refusal stands
//! beside it.

use super::super::record::Record;
use super::lines::clean;
use super::seen::Seen;
use super::smi_csv;
use crate::types::plain::brief;

/// What a report holds once: the words of such lines.
const ONCE: &[&[&str]] = &[
    &["NVIDIA-SMI", "Driver Version:"],
    &["NVIDIA-SMI", "KMD Version:"],
    &["NVSMI LOG"],
    &["<nvidia_smi_log>"],
    &["PyTorch version:"],
    &["GPU 0:", "(UUID:"],
    &["nvidia.com/gpu.product="],
    &["nvidia.com/gpu.product:"],
    &["nvidia.com/gpu.product\":"],
    &["kind: Node"],
    &["Roles:  "],
];

/// What is said in place of a host's report.
const REFUSALS: &[&str] = &[
    "nvidia-smi: command not found",
    "nvidia-smi: not found",
    "ssh: connect to host",
    "Connection refused",
    "Connection timed out",
    "No route to host",
    "Permission denied (",
    "Host key verification failed",
    "UNREACHABLE!",
    "[FAILURE]",
];

/// Why a text is not that of the one host as which it was read, as far as its lines tell.
pub fn not_one_host(text: &str, record: &Record) -> Option<String> {
    let text = clean(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_list = |line: &str| line.starts_with("NAME ") && line.contains(" STATUS ");
    let of_nodes = lines.iter().position(|line| is_list(line)).map(|at| &lines[at + 1..]);
    let nodes = of_nodes.into_iter().flatten().filter(|line| !line.trim().is_empty()).count();
    let says =
        |line: &str, words: &[&str]| words.iter().all(|word| line.contains(word)) && !line.contains("f:nvidia.com");
    let is_twice = |words: &&&[&str]| lines.iter().filter(|line| says(line, words)).take(2).count() > 1;
    if let Some(words) = ONCE.iter().find(is_twice) {
        return Some(several(&format!("it holds `{}` more than once", words[0])));
    }
    if nodes > 1 {
        return Some(several("it lists several nodes"));
    }
    let at = |at: usize| format!("line {} (`{}`)", at + 1, brief(lines[at].trim()));
    if let Some(line) = lines.iter().position(|line| REFUSALS.iter().any(|words| line.contains(words))) {
        return Some(several(&format!("{} is the answer of another", at(line))));
    }
    let (rows, _) = smi_csv::rows(&lines, &mut Seen::default());
    let (first, last) = (rows.first()?, rows.last()?);
    let is_csv_alone = record.probes.iter().filter(|probe| probe.detail.is_none()).count() == 1;
    let is_command = |line: &str| line.contains("nvidia-smi");
    let between = |place: &usize| is_csv_alone || (first..last).contains(&place);
    let mut others =
        (0..lines.len()).filter(|place| rows.binary_search(place).is_err() && !lines[*place].trim().is_empty());
    let left = others.find(|place| between(place) && !is_command(lines[*place]))?;
    Some(several(&format!("{} is no row of its query", at(left))))
}

fn several(why: &str) -> String {
    format!(
        "these may be several hosts, and which line is whose is not told: {why}; give each host a file, or have its \
             name printed before each line (pdsh, clush), nodes of Kubernetes as `kubectl get nodes -o json`"
    )
}
