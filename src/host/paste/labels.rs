//! The labels of GPU feature discovery, as `kubectl describe node` and `kubectl get node -o yaml` print them.

use super::super::labels::{Labels, OURS};
use super::seen::{Seen, fill};

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
        if gpu.name.as_ref().is_none_or(|known| known.replace(' ', "-") != name) {
            seen.name(told.index, &name);
        }
    }
    seen.driver(told.driver);
    fill(&mut seen.nvml().cuda, told.cuda);
    labels.closed().into_iter().for_each(|why| seen.failed("GPU feature discovery", why));
    true
}
