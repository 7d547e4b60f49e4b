//! One clause that breaks one rule, for specs that set this rule aside.

use gpuenv::catalog::BUILTIN;
use gpuenv::types::{CpuArch, Version};

use super::era::Era;
use super::machine;
use super::overlay;
use super::random::Random;
use super::sheet::{Lines, Sheet, listed, quoted, set};

/// Changes one target, or the stack, so that a rule is broken; the rules to set aside and the target's name.
pub fn astray(sheet: &mut Sheet, era: &Era, random: &mut Random) -> (Vec<String>, String) {
    let at = random.below(sheet.targets.len());
    let name = sheet.targets[at].0.clone();
    let lines = &mut sheet.targets[at].1;
    let rules = match random.below(11) {
        0 => gpu(era, lines, random),
        1 | 2 => driver(era, lines, random),
        3 => written(lines, "glibc", "2.12", &["wheel-glibc"]),
        4 => {
            sheet.build = Some(sheet.build.clone().unwrap_or_default());
            written(lines, "gcc", "16.1", &["nvcc-gcc"])
        }
        5 => {
            lines.retain(|(key, _)| key != "runtime" && key != "os");
            let tag = machine::withdrawn(random);
            written(lines, "image", &tag, &["image-tag", "image-require-cuda", "wheel-glibc"])
        }
        6 => {
            set(&mut sheet.stack, "python", quoted(random.pick(&["3.6", "3.7", "3.14", "3.15"])));
            vec!["wheel-python".to_string()]
        }
        7 => {
            set(&mut sheet.stack, &era.build.package, quoted(&format!("{}+cpu", era.build.version)));
            vec!["cpu-build".to_string()]
        }
        8 => other_toolkit(era, sheet, at, random),
        9 => image(era, lines, random),
        _ => vec![overlay::rule(era, random)],
    };
    (rules, name)
}

fn written(lines: &mut Lines, key: &str, value: &str, rules: &[&str]) -> Vec<String> {
    set(lines, key, quoted(value));
    rules.iter().map(|rule| rule.to_string()).collect()
}

/// A GPU that the build has no code for, and the rules about its generation.
fn gpu(era: &Era, lines: &mut Lines, random: &mut Random) -> Vec<String> {
    let lacks = |cc| !era.is_native(cc) && !era.has_ptx_for(cc);
    let rows: Vec<_> = BUILTIN.gpus.iter().filter(|row| lacks(row.cc) && row.cpu.is_none()).collect();
    if rows.is_empty() {
        return vec!["gpu-code".to_string()];
    }
    let row = random.pick(&rows);
    set(lines, "gpu", listed(&[row.name.to_string()]));
    let generation = format!("gpu-{}", row.cc.major);
    let about = BUILTIN.rules.iter().filter(|rule| rule.id.starts_with(&generation) && random.percent(70));
    ["gpu-code".to_string()].into_iter().chain(about.map(|rule| rule.id.to_string())).collect()
}

/// A driver older than the CUDA asks for.
fn driver(era: &Era, lines: &mut Lines, random: &mut Random) -> Vec<String> {
    let line = era.line.unwrap_or_else(|| Version::parse("12.4").expect("a version"));
    let older = |cuda: Version| cuda.major() < line.major() || line.major() < 11 && cuda < line;
    let rows: Vec<_> = BUILTIN.branches.iter().filter(|row| row.cuda.is_some_and(older)).collect();
    if let Some(row) = rows.len().checked_sub(4).map(|first| random.pick(&rows[first..])) {
        lines.retain(|(key, _)| key != "driver-cuda");
        set(lines, "driver", quoted(row.branch.as_str()));
    }
    let rule = if line.major() < 11 { format!("cuda-{line}-driver") } else { format!("cuda-{}-driver", line.major()) };
    if random.percent(50) { vec![rule, "image-require-cuda".to_string()] } else { vec![rule] }
}

/// A toolkit of another major than the wheels.
fn other_toolkit(era: &Era, sheet: &mut Sheet, at: usize, random: &mut Random) -> Vec<String> {
    let line = era.line.unwrap_or_else(|| Version::parse("12.4").expect("a version"));
    let other = if line.major() >= 12 { random.pick(&["11.8", "11.7"]) } else { random.pick(&["12.4", "12.1"]) };
    sheet.build = Some(sheet.build.clone().unwrap_or_default());
    sheet.targets[at].1.retain(|(key, _)| key != "image" && key != "runtime");
    written(&mut sheet.targets[at].1, "toolkit", other, &["extension-cuda-major"])
}

/// An image of a newer CUDA than the driver, or of another system or processor than what is written.
fn image(era: &Era, lines: &mut Lines, random: &mut Random) -> Vec<String> {
    lines.retain(|(key, _)| key != "runtime");
    let tag = random.pick(&["nvidia/cuda:12.8.1-base-ubuntu22.04", "nvidia/cuda:12.4.1-base-ubuntu20.04"]);
    match random.below(3) {
        0 => {
            lines.retain(|(key, _)| key != "driver-cuda");
            set(lines, "driver", quoted(random.pick(&["530.41.03", "525.116.03", "545"])));
            written(lines, "image", tag, &["image-require-cuda"])
        }
        1 => {
            set(lines, "os", quoted("debian12"));
            written(lines, "image", tag, &["image-os"])
        }
        _ if era.build.arch == CpuArch::Aarch64 => {
            written(lines, "image", "nvidia/cuda:11.4.3-base-ubuntu18.04", &["image-arch"])
        }
        _ => written(lines, "image", "nvidia/cuda:12.4.1-runtime-ubuntu22.04", &["image-flavour"]),
    }
}
