//! The labels of GPU feature discovery, as `kubectl describe node` and `kubectl get node -o yaml` print them, and what stands
//! there beside them: whether the node is ready, what it offers pods.

use super::super::labels::{Kubelet, Labels, OURS};
use super::lines::field;
use super::seen::{Seen, fill};

/// What the kubelet tells, with the titles of its columns, as keys of YAML, or in the list of nodes.
fn kubelet(lines: &[&str]) -> Kubelet {
    let mut told = Kubelet::default();
    let (mut status, mut is_ready) = (String::new(), false);
    let (mut part, mut is_list) = (String::new(), false);
    for line in lines {
        let bare = line.trim();
        let words: Vec<&str> = bare.split_whitespace().collect();
        match words[..] {
            ["NAME", "STATUS", ..] => is_list = true,
            [_, state, ..] if is_list && (state.starts_with("Ready") || state.starts_with("NotReady")) => {
                told.is_cordoned |= state.ends_with("SchedulingDisabled");
                fill(&mut told.ready, Some(if state.starts_with("Not") { "False" } else { "True" }.to_string()));
            }
            ["Ready", state @ ("True" | "False" | "Unknown"), ..] => fill(&mut told.ready, Some(state.to_string())),
            _ => {}
        }
        if bare.starts_with(['-', '{']) {
            (status, is_ready) = (String::new(), false);
        }
        let Some((key, value)) = field(bare.trim_start_matches("- ")) else { continue };
        let (key, value) = (key.trim_matches('"').to_lowercase(), value.trim_matches(['"', '\'', ',', ' ']));
        match (&*key, value) {
            ("capacity" | "allocatable", "" | "{") => part.clone_from(&key),
            ("unschedulable", _) => told.is_cordoned |= value == "true",
            ("status", _) => status = value.to_string(),
            ("type", "Ready") => is_ready = true,
            (_, "" | "{") => part.clear(),
            _ => {
                let amount = value.parse().ok().filter(|_| key.starts_with(OURS));
                let of = if part == "capacity" { Some(&mut told.capacity) } else { None };
                let of = of.or_else(|| (part == "allocatable").then(|| told.allocatable.get_or_insert_default()));
                if let Some((of, amount)) = of.zip(amount) {
                    of.insert(key, amount);
                }
            }
        }
        if is_ready && !status.is_empty() {
            fill(&mut told.ready, Some(std::mem::take(&mut status)));
        }
    }
    told
}

/// Whether a label tells of the node's driver or product. What is offered to pods and what is left of it may differ.
fn is_of_node(name: &str) -> bool {
    let name = name.strip_prefix(OURS).unwrap_or_default();
    name.starts_with("cuda.") || name.starts_with("gpu.") && name != "gpu.shared"
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    // `--show-labels` prints them on one line, and JSON with quotes; no label holds either.
    let labels = lines.iter().flat_map(|line| line.split(',')).filter_map(|label| {
        let (before, label) = label.split_at(label.find(OURS)?);
        let (name, value) = label.split_once(['=', ':'])?;
        // Kubernetes notes who wrote a field as `f:nvidia.com/gpu.product: {}`.
        let is_note = before.trim_end_matches('"').ends_with("f:");
        let told = (name.trim_matches([' ', '"']), value.trim_matches([' ', '\t', '"', '\'']));
        (!is_note).then_some(told)
    });
    let told: Vec<(&str, &str)> = labels.collect();
    // What a node has one of, and two nodes may differ in.
    let first = |name: &str| told.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    for (name, value) in told.iter().filter(|(name, value)| is_of_node(name) && first(name) != *value) {
        seen.quarrel(name, first(name), value);
    }
    let labels: Labels = told.into_iter().collect();
    let kubelet = kubelet(lines);
    if !labels.describe_gpu() {
        return false;
    }
    let told = labels.nvml();
    for told in told.gpus {
        let name = told.name.unwrap_or_default();
        let Some(gpu) = seen.gpu(told.index) else { break };
        fill(&mut gpu.compute_capability, told.compute_capability);
        fill(&mut gpu.memory, told.memory);
        fill(&mut gpu.mig, told.mig);
        fill(&mut gpu.instance_count, told.instance_count);
        if gpu.instances.is_empty() {
            gpu.instances = told.instances;
        }
        // A label's spelling of a name is no other name.
        if !name.is_empty() && gpu.name.as_ref().is_none_or(|known| known.replace(' ', "-") != name) {
            seen.name(told.index, &name);
        }
    }
    seen.driver(told.driver);
    fill(&mut seen.nvml().cuda, told.cuda);
    let untold = labels.closed().or_else(|| kubelet.untold(&labels));
    let of_kubelet = [kubelet.silent(), kubelet.withheld(&labels)].into_iter().flatten();
    untold.into_iter().for_each(|why| seen.failed("GPU feature discovery", why));
    of_kubelet.for_each(|why| seen.failed("device plugin", why));
    true
}
