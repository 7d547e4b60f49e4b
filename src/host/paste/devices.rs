//! Lists of devices that TensorFlow and JAX print whole: where none is a GPU, they compute without.
//!
//! Seen in <https://github.com/tensorflow/tensorflow/issues/38990>, <https://github.com/tensorflow/tensorflow/issues/41374>.

use crate::types::plain::brief;

use super::seen::Seen;

pub(super) fn note(lines: &[&str], seen: &mut Seen) {
    let mut first = None;
    let (mut has_gpu, mut before) = (false, "");
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        // Whoever asked for the processors alone was told of no other.
        let asks_cpu = [before, line].iter().any(|line| line.replace('"', "'").contains("list_physical_devices('CPU"));
        for kind in line.split("device_type").skip(1).filter_map(kind).filter(|_| !asks_cpu) {
            has_gpu |= kind == "GPU";
            first.get_or_insert(line);
        }
        if is_without(&line.to_ascii_lowercase()) {
            lists_none("tensorflow", line, seen);
        }
        if line.trim_matches(['[', ']']).starts_with("TFRT_CPU_") {
            lists_none("jax", line, seen);
        }
        before = line;
    }
    first.filter(|_| !has_gpu).into_iter().for_each(|line| lists_none("tensorflow", line, seen));
}

fn lists_none(name: &'static str, line: &str, seen: &mut Seen) {
    seen.failed(name, format!("it lists no GPU: `{}`", brief(line)));
}

/// `='XLA_GPU')`, `: "CPU"`: compiled by XLA alone, a GPU is none for anything else.
fn kind(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', ':', '=', '\'', '"']);
    let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|kind| !kind.is_empty())
}

/// What is said in place of a list.
fn is_without(line: &str) -> bool {
    let is_none = line.strip_prefix("num gpus").is_some_and(|rest| rest.trim_matches([' ', ':']) == "0");
    is_none || line == "default gpu device:" || line.replace(['\'', '"'], "").contains("is_cuda_build, false")
}
