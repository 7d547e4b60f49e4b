//! What stands in a `[target.NAME]`: GPUs, drivers, systems, images, toolkits.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Class, Driver, Gpu, Image, Os};
use gpuenv::words::{CpuArch, Version};

use super::era::Era;
use super::random::Random;
use super::sheet::{Lines, listed, quoted, set};

/// What people write, families included.
const USUAL: &[&str] = &[
    "A100",
    "A100-PCIE-40GB",
    "A100-SXM4-80GB",
    "H100",
    "H100 NVL",
    "H100 PCIe",
    "H200",
    "V100",
    "Tesla V100-SXM2-16GB",
    "T4",
    "Tesla P100-PCIE-16GB",
    "Tesla P40",
    "Tesla K80",
    "Tesla M60",
    "A10",
    "A30",
    "A40",
    "L4",
    "L40S",
    "B200",
    "B300",
    "GB200",
    "GB10",
    "GH200 480GB",
    "RTX A6000",
    "RTX 6000 Ada Generation",
    "RTX PRO 6000 Blackwell Server Edition",
    "GTX 1060 6GB",
    "GTX 1080",
    "GTX 1080 Ti",
    "GTX 1660 Ti",
    "GTX 970",
    "RTX 2080 Ti",
    "RTX 3060",
    "RTX 3090",
    "RTX 4070",
    "RTX 4090",
    "RTX 5070",
    "RTX 5090",
    "NVIDIA TITAN RTX",
];

/// A target, and the capabilities of its GPUs.
pub fn target(era: &Era, builds: bool, random: &mut Random) -> (Lines, Vec<String>) {
    let mut lines = Lines::new();
    let (names, capabilities) = gpus(era, random);
    if let Some(names) = &names {
        set(&mut lines, "gpu", listed(names));
    }
    let without_gpu = names.is_some_and(|names| names == ["none"]);
    driver(era, if without_gpu { 10 } else { 68 }, &mut lines, random);
    place(era, &mut lines, random);
    if era.build.arch == CpuArch::Aarch64 && (capabilities.is_empty() || random.percent(70)) && !era.strays(random)
        || random.percent(2)
    {
        set(&mut lines, "arch", quoted("aarch64"));
    } else if random.percent(4) {
        set(&mut lines, "arch", quoted("x86_64"));
    }
    let container = lines.iter().any(|(key, value)| key == "image" || value == "\"container\"");
    if random.percent(if builds && !container { 45 } else { 4 }) {
        set(&mut lines, "toolkit", listed(&toolkits(era, random)));
    }
    if random.percent(if builds { 25 } else { 3 }) {
        let gcc = random.pick(&["4.8", "7.5", "8.5", "9.4", "10.2", "11.4", "12.3", "13.2", "14.2", "15.1"]);
        set(&mut lines, "gcc", quoted(gcc));
    }
    if random.percent(6) {
        let glibc = random.pick(&["2.17", "2.27", "2.28", "2.31", "2.34", "2.35", "2.39", "2.41", "2.42"]);
        set(&mut lines, "glibc", quoted(glibc));
    }
    if random.percent(14) {
        set(&mut lines, "forward-compat", quoted(random.pick(&["never", "never", "auto"])));
    }
    (lines, capabilities)
}

/// The names of a target's GPUs, none where the key is left out.
fn gpus(era: &Era, random: &mut Random) -> (Option<Vec<String>>, Vec<String>) {
    let cpu = era.line.is_none();
    match random.weighted(&[if cpu { 60 } else { 6 }, if cpu { 20 } else { 6 }, 66, 22]) {
        0 => (Some(vec!["none".to_string()]), Vec::new()),
        1 => (None, Vec::new()),
        more => {
            let count = if more == 2 { 1 } else { random.within(2, 4) };
            let (mut names, mut capabilities) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let (name, capability) = gpu(era, random);
                names.push(name);
                capabilities.push(capability);
            }
            (Some(names), capabilities)
        }
    }
}

/// A GPU that the era's build has code for, unless it strays; its name in one of its spellings.
fn gpu(era: &Era, random: &mut Random) -> (String, String) {
    let strays = era.strays(random);
    let suits = |row: &Gpu| {
        (strays || era.reaches(row.cc))
            && (row.class == Class::Jetson) == era.jetson
            && (era.jetson || strays || row.cpu.is_none_or(|cpu| cpu == era.build.arch))
    };
    let usual = random.percent(70) && !era.jetson;
    for _ in 0..60 {
        let row: &Gpu = &BUILTIN.gpus[random.below(BUILTIN.gpus.len())];
        let bare = row.name.trim_start_matches("NVIDIA ");
        if !suits(row) || usual && !USUAL.iter().any(|name| bare.contains(name)) {
            continue;
        }
        let family = USUAL.iter().find(|name| bare.contains(**name));
        let name = match random.weighted(&[45, 25, 8, 8, 4, 20]) {
            0 => row.name.to_string(),
            1 => bare.to_string(),
            2 if !row.aliases.is_empty() => random.pick(&row.aliases.iter().collect::<Vec<_>>()).to_string(),
            3 => format!("sm_{}", row.cc.number()),
            4 => row.cc.to_string(),
            5 => family.map_or(row.name.to_string(), |family| family.to_string()),
            _ => row.name.to_string(),
        };
        return (name, row.cc.to_string());
    }
    ("A100-PCIE-40GB".to_string(), "8.0".to_string())
}

/// `driver` or `driver-cuda`, so often.
fn driver(era: &Era, often: usize, lines: &mut Lines, random: &mut Random) {
    if !random.percent(often) {
        return;
    }
    let branches: Vec<_> = BUILTIN.branches.iter().filter(|row| row.cuda.is_some()).collect();
    let line = era.line.unwrap_or(branches[branches.len() / 2].cuda.unwrap_or(branches[0].branch));
    let first = branches.iter().position(|row| row.cuda >= Some(line)).unwrap_or(branches.len() - 1);
    let at = match (era.strays(random), random.percent(25)) {
        (true, _) => random.near(first, 9, branches.len()),
        // The same major of CUDA, for minor-version compatibility.
        (_, true) => {
            let major = branches.iter().position(|row| row.cuda.is_some_and(|cuda| cuda.major() == line.major()));
            random.within(major.unwrap_or(first).min(first), first)
        }
        _ => random.within(first, (first + 7).min(branches.len() - 1)),
    };
    if random.percent(9) {
        let shown = branches[at].cuda.unwrap_or(line);
        let shown =
            if random.percent(10) { format!("{}.{}", shown.major(), shown.minor() + 5) } else { shown.to_string() };
        return set(lines, "driver-cuda", quoted(&shown));
    }
    let branch = branches[at].branch.major();
    let above = branches[(at + random.below(5)).min(branches.len() - 1)].branch.major();
    let releases: Vec<&Driver> = BUILTIN.drivers.iter().filter(|row| row.version.major() == branch).collect();
    let release = if releases.is_empty() { branch.to_string() } else { random.pick(&releases).version.to_string() };
    let form = match random.weighted(&[48, 14, 12, 7, 4, 5, 4, 3, 2, 2, 1]) {
        0 => release,
        1 => branch.to_string(),
        2 => format!(">={branch}"),
        3 => format!("<={above}"),
        4 => format!("<{above}"),
        5 => format!(">={branch},<={above}"),
        6 => format!("{above} || {branch}"),
        7 => format!(">={release}"),
        8 => release.rsplit_once('.').map_or(release.clone(), |(start, _)| start.to_string()),
        9 => format!("{branch}.{}", random.within(1, 300)),
        _ => "*".into(),
    };
    set(lines, "driver", quoted(&form));
}

/// Runtime, system and image.
fn place(era: &Era, lines: &mut Lines, random: &mut Random) {
    if era.jetson {
        let own: Vec<String> = era.build.systems.iter().map(|id| id.to_string()).collect();
        let jetpacks: Vec<&Os> = BUILTIN.oses.iter().filter(|row| row.own_packages).collect();
        let os = if era.strays(random) || own.is_empty() {
            random.pick(&jetpacks).id.to_string()
        } else {
            own[random.below(own.len())].clone()
        };
        return set(lines, "os", quoted(&os));
    }
    match random.weighted(&[34, 26, 30, 6, 4]) {
        0 => {}
        1 => set(lines, "os", quoted(&system(era, random))),
        2 => set(lines, "image", quoted(&image(era, random))),
        3 => {
            set(lines, "image", quoted(&image(era, random)));
            set(lines, "os", quoted(&system(era, random)));
        }
        _ => {
            set(lines, "runtime", quoted(random.pick(&["container", "bare-metal"])));
            set(lines, "os", quoted(&system(era, random)));
        }
    }
}

fn system(era: &Era, random: &mut Random) -> String {
    let strays = era.strays(random);
    let suits = |row: &&Os| row.refused.is_none() && !row.own_packages && (strays || row.glibc >= era.build.glibc);
    let rows: Vec<&Os> = BUILTIN.oses.iter().filter(suits).collect();
    let usual: Vec<&Os> = rows.iter().copied().filter(|row| row.id.starts_with("ubuntu")).collect();
    let any = usual.is_empty() || random.percent(45);
    let row = random.pick(if any { &rows } else { &usual });
    let aliases: Vec<_> = row.aliases.iter().collect();
    if !aliases.is_empty() && random.percent(15) { random.pick(&aliases).to_string() } else { row.id.to_string() }
}

fn image(era: &Era, random: &mut Random) -> String {
    let digest = format!("@sha256:{}", "4f".repeat(32));
    let end = if random.percent(4) { digest.as_str() } else { "" };
    match random.weighted(&[44, 30, 4, 7, 7, 5, 3]) {
        0 => "nvidia/cuda".into(),
        1 => tag("nvidia/cuda", era, random) + end,
        2 => {
            let known = tag("nvidia/cuda", era, random);
            random
                .pick(&["nvidia/cuda:12.4.9-base-ubuntu22.04", "nvidia/cuda:latest", &format!("{known}x")])
                .to_string()
        }
        3 => {
            let name = random.pick(&["registry.example.com/team/train:1.4", "example/train", "localhost:5000/a/b:2"]);
            format!("{name}{end}")
        }
        4 => random_tag("pytorch/pytorch", era, random),
        5 => random_tag("nvcr.io/nvidia/pytorch", era, random),
        _ => {
            let gone = |row: &&Image| row.withdrawn && row.repository == "nvidia/cuda";
            let rows: Vec<&Image> = BUILTIN.images.iter().filter(gone).collect();
            let row = random.pick(&rows);
            format!("{}:{}", row.repository, row.tag)
        }
    }
}

/// A repository that can be asked to choose, or one of its tags.
fn random_tag(repository: &str, era: &Era, random: &mut Random) -> String {
    if random.percent(20) { repository.to_string() } else { tag(repository, era, random) }
}

/// A tag of the era's CUDA major and platform, unless it strays.
fn tag(repository: &str, era: &Era, random: &mut Random) -> String {
    let strays = era.strays(random);
    let of = |row: &&Image| row.repository == repository && !row.withdrawn;
    let torch = |row: &Image| row.torch.as_ref().is_none_or(|torch| torch.starts_with(era.build.version.as_str()));
    let suits = |row: &&Image| {
        era.line.is_none_or(|line| row.cuda.major() == line.major() && row.cuda.prefix(2) <= line)
            && (row.arches.is_empty() || row.arches.contains(&era.build.arch))
            && torch(row)
    };
    let all: Vec<&Image> = BUILTIN.images.iter().filter(of).collect();
    let fitting: Vec<&Image> = all.iter().copied().filter(suits).collect();
    let row = random.pick_late(if strays || fitting.is_empty() { &all } else { &fitting });
    format!("{repository}:{}", row.tag)
}

/// Toolkits near the era's CUDA.
fn toolkits(era: &Era, random: &mut Random) -> Vec<String> {
    let all: Vec<Version> = BUILTIN.toolkits.iter().map(|row| row.version).collect();
    let line = era.line.unwrap_or(all[all.len() - 1]);
    let home = all.partition_point(|version| *version < line).min(all.len() - 1);
    let mut found = Vec::new();
    for _ in 0..random.weighted(&[0, 60, 30, 10]) {
        let at = if era.strays(random) { random.near(home, 10, all.len()) } else { random.near(home, 2, all.len()) };
        let version = if random.percent(70) { all[at].prefix(2) } else { all[at] };
        found.push(version.to_string());
    }
    found.sort();
    found.dedup();
    found
}
