//! The labels of GPU feature discovery, as `kubectl describe node` and `kubectl get node -o yaml` print them.

use super::super::labels::{Labels, OURS};
use super::seen::{Seen, fill};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    // `--show-labels` prints them on one line, and JSON with quotes; no label holds either.
    let labels = lines.iter().flat_map(|line| line.split(',')).filter_map(|label| {
        let (name, value) = label[label.find(OURS)?..].split_once(['=', ':'])?;
        Some((name.trim_matches([' ', '"']), value.trim_matches([' ', '\t', '"', '\''])))
    });
    let labels: Labels = labels.collect();
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
