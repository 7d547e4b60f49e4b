//! What stands in a `[target.NAME]`: GPUs, drivers, systems, images, toolkits.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Branch, Class, Driver, Gpu, Image, Os};
use gpuenv::types::{CpuArch, Version};

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
    let home = era.jetson.then(|| jetpack(era, random));
    let (names, rows) = gpus(era, home, random);
    if let Some(names) = &names {
        set(&mut lines, "gpu", listed(names));
    }
    let without_gpu = names.is_some_and(|names| names == ["none"]);
    let often = if era.compat { 100 } else { 68 };
    if random.percent(if without_gpu || era.jetson { 10 } else { often }) {
        driver(era, &rows, &mut lines, random);
    }
    match home {
        Some(os) => set(&mut lines, "os", quoted(&os.id)),
        None => place(era, &mut lines, random),
    }
    let arm = era.build.arch == CpuArch::Aarch64 && !era.strays(random);
    let implied = rows.iter().any(|row| row.cpu.is_some());
    if arm && !(implied && random.percent(50)) || random.percent(1) {
        set(&mut lines, "arch", quoted("aarch64"));
    } else if !implied && random.percent(4) {
        set(&mut lines, "arch", quoted("x86_64"));
    }
    host(era, builds, &mut lines, random);
    (lines, rows.iter().map(|row| row.cc.to_string()).collect())
}

/// What else the machine has.
fn host(era: &Era, builds: bool, lines: &mut Lines, random: &mut Random) {
    let container = lines.iter().any(|(key, value)| key == "image" || value == "\"container\"");
    if random.percent(if builds && !container { 45 } else { 4 }) {
        set(lines, "toolkit", listed(&toolkits(era, random)));
    }
    if random.percent(if builds { 25 } else { 3 }) {
        let all = ["4.8", "7.5", "8.5", "9.4", "10.2", "11.4", "12.3", "13.2", "14.2", "15.1"];
        let gcc = if era.strays(random) { random.pick(&all) } else { random.pick(&all[1..6]) };
        set(lines, "gcc", quoted(gcc));
    }
    if random.percent(6) {
        let all = ["2.17", "2.27", "2.28", "2.31", "2.34", "2.35", "2.39", "2.41", "2.42"];
        let glibc = if era.strays(random) { random.pick(&all) } else { random.pick(&all[3..7]) };
        set(lines, "glibc", quoted(glibc));
    }
    if random.percent(if era.compat { 4 } else { 14 }) {
        set(lines, "forward-compat", quoted(random.pick(&["never", "never", "auto"])));
    }
}

/// The names of a target's GPUs, none where the key is left out, and their rows.
fn gpus(era: &Era, home: Option<&Os>, random: &mut Random) -> (Option<Vec<String>>, Vec<&'static Gpu>) {
    let cpu = if era.line.is_none() { 10 } else { 1 };
    let often = if era.compat { 0 } else { 6 * cpu };
    match random.weighted(&[often, often, 66, 22]) {
        0 => (Some(vec!["none".to_string()]), Vec::new()),
        1 => (None, Vec::new()),
        more => {
            let count = if more == 2 { 1 } else { random.within(2, 4) };
            let (mut names, mut rows) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let row = gpu(era, home, random);
                names.push(spelled(row, random));
                rows.push(row);
            }
            (Some(names), rows)
        }
    }
}

/// A GPU that the era's build has code for, unless it strays.
fn gpu(era: &Era, home: Option<&Os>, random: &mut Random) -> &'static Gpu {
    let strays = era.strays(random);
    let by_ptx = random.percent(15);
    let suits = |row: &Gpu| {
        let code = era.line.is_none() || era.is_native(row.cc) || by_ptx && era.has_ptx_for(row.cc);
        let cpu = row.cpu.is_none_or(|cpu| cpu == era.build.arch);
        let board = home.is_none_or(|os| os.boards.iter().any(|board| *board == version(&row.cc.to_string())));
        (row.class == Class::Jetson) == era.jetson
            && (strays || code && board && (cpu || era.jetson))
            && (!era.compat || row.class == Class::Datacenter)
    };
    let all: Vec<&'static Gpu> = BUILTIN.gpus.iter().filter(|row| suits(row)).collect();
    let usual: Vec<&'static Gpu> = all.iter().copied().filter(|row| family(row).is_some()).collect();
    let by_ptx: Vec<&'static Gpu> = all.iter().copied().filter(|row| by_ptx && !era.is_native(row.cc)).collect();
    let from = if usual.is_empty() || random.percent(30) { &all } else { &usual };
    let from = if by_ptx.is_empty() { from } else { &by_ptx };
    if from.is_empty() { random.pick(&BUILTIN.gpus.iter().collect::<Vec<_>>()) } else { random.pick(from) }
}

/// The name that people usually write for a board.
fn family(row: &Gpu) -> Option<&'static str> {
    USUAL.iter().copied().find(|name| row.name.contains(name))
}

/// A board in one of its spellings.
fn spelled(row: &Gpu, random: &mut Random) -> String {
    let aliases: Vec<_> = row.aliases.iter().collect();
    match random.weighted(&[45, 25, 8, 6, 3, 20]) {
        1 => row.name.trim_start_matches("NVIDIA ").to_string(),
        2 if !aliases.is_empty() => random.pick(&aliases).to_string(),
        3 => format!("sm_{}", row.cc.number()),
        4 => row.cc.to_string(),
        5 => family(row).unwrap_or(&row.name).to_string(),
        _ => row.name.to_string(),
    }
}

/// The branches that may stand in the era: those that every board is driven by, where there are some.
fn branches(boards: &[&Gpu]) -> Vec<&'static Branch> {
    let all = || BUILTIN.branches.iter().filter(|row| row.cuda.is_some());
    let drives = |row: &&Branch| {
        let number = row.branch.major();
        boards.iter().all(|gpu| {
            gpu.first_driver.is_none_or(|first| first.major() <= number)
                && gpu.last_branch.is_none_or(|last| number <= last.major())
        })
    };
    let driving: Vec<&Branch> = all().filter(drives).collect();
    if driving.is_empty() { all().collect() } else { driving }
}

/// `driver` or `driver-cuda`.
fn driver(era: &Era, boards: &[&Gpu], lines: &mut Lines, random: &mut Random) {
    let branches = if era.strays(random) { branches(&[]) } else { branches(boards) };
    let line = era.line.or(branches[branches.len() / 2].cuda).unwrap_or(branches[0].branch);
    let last = branches.len() - 1;
    let first = branches.iter().position(|row| row.cuda >= Some(line)).unwrap_or(last);
    let at = if era.compat {
        random.within(first.saturating_sub(9), first)
    } else if era.strays(random) {
        random.near(first, 9, branches.len())
    } else if random.percent(25) {
        // The same major of CUDA, for minor-version compatibility.
        let major = branches.iter().position(|row| row.cuda.is_some_and(|cuda| cuda.major() == line.major()));
        random.within(major.unwrap_or(first).min(first), first)
    } else {
        random.within(first, (first + 7).min(last))
    };
    if random.percent(9) {
        let shown = branches[at].cuda.unwrap_or(line);
        let unseen = format!("{}.{}", shown.major(), shown.minor() + 5);
        let shown = if random.percent(10) { unseen } else { shown.to_string() };
        return set(lines, "driver-cuda", quoted(&shown));
    }
    let branch = branches[at].branch.major();
    let above = branches[random.within(at, (at + 4).min(last))].branch.major();
    let text = release(branch, above, random);
    set(lines, "driver", quoted(&text));
}

/// What is written of a branch, or of it and a later one.
fn release(branch: u64, above: u64, random: &mut Random) -> String {
    let releases: Vec<&Driver> = BUILTIN.drivers.iter().filter(|row| row.version.major() == branch).collect();
    let release = if releases.is_empty() { branch.to_string() } else { random.pick(&releases).version.to_string() };
    match random.weighted(&[48, 14, 12, 7, 4, 5, 4, 3, 2, 2, 1]) {
        0 => release,
        1 => branch.to_string(),
        2 => format!(">={branch}"),
        3 => format!("<={above}"),
        4 => format!("<{}", above + 1),
        5 => format!(">={branch},<={above}"),
        6 => format!("{above} || {branch}"),
        7 => format!(">={release}"),
        8 => release.rsplit_once('.').map_or(release.clone(), |(start, _)| start.to_string()),
        9 => format!("{branch}.{}", random.within(1, 300)),
        _ => "*".into(),
    }
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("capabilities are numbers")
}

/// The system of a Jetson.
fn jetpack(era: &Era, random: &mut Random) -> &'static Os {
    let all: Vec<&'static Os> = BUILTIN.oses.iter().filter(|row| row.own_packages).collect();
    let own: Vec<&'static Os> = all.iter().copied().filter(|row| era.build.systems.contains(&row.id)).collect();
    let any = own.is_empty() || era.strays(random);
    random.pick(if any { &all } else { &own })
}

/// Runtime, system and image.
fn place(era: &Era, lines: &mut Lines, random: &mut Random) {
    match random.weighted(&[34, 28, 28, 5, 5]) {
        0 => {}
        1 => set(lines, "os", quoted(&spelled_os(system(era, random), random))),
        2 => set(lines, "image", quoted(&image(era, None, random))),
        3 => {
            let os = system(era, random);
            set(lines, "image", quoted(&image(era, (!era.strays(random)).then_some(os), random)));
            set(lines, "os", quoted(&spelled_os(os, random)));
        }
        _ => {
            set(lines, "runtime", quoted(random.pick(&["container", "bare-metal"])));
            set(lines, "os", quoted(&spelled_os(system(era, random), random)));
        }
    }
}

/// A system on which the era's build can be installed, unless it strays.
fn system(era: &Era, random: &mut Random) -> &'static Os {
    let strays = era.strays(random);
    let suits = |row: &&Os| row.refused.is_none() && !row.own_packages && (strays || row.glibc >= era.build.glibc);
    let rows: Vec<&'static Os> = BUILTIN.oses.iter().filter(suits).collect();
    let usual: Vec<&'static Os> = rows.iter().copied().filter(|row| row.id.starts_with("ubuntu")).collect();
    let any = usual.is_empty() || random.percent(40);
    random.pick(if any { &rows } else { &usual })
}

fn spelled_os(row: &Os, random: &mut Random) -> String {
    let aliases: Vec<_> = row.aliases.iter().collect();
    if !aliases.is_empty() && random.percent(15) { random.pick(&aliases).to_string() } else { row.id.to_string() }
}

/// An image; where its system is written too, of that one.
fn image(era: &Era, os: Option<&Os>, random: &mut Random) -> String {
    let digest = format!("@sha256:{}", "4f".repeat(32));
    let end = if random.percent(4) { digest.as_str() } else { "" };
    match random.weighted(&[46, 34, 2, 7, 7, 5, 1]) {
        0 => "nvidia/cuda".into(),
        1 => tag("nvidia/cuda", era, os, random) + end,
        2 => {
            let near = format!("{}x", tag("nvidia/cuda", era, os, random));
            random.pick(&["nvidia/cuda:12.4.9-base-ubuntu22.04", "nvidia/cuda:latest", &near]).to_string()
        }
        3 => {
            let name = random.pick(&["registry.example.com/team/train:1.4", "example/train", "localhost:5000/a/b:2"]);
            format!("{name}{end}")
        }
        4 | 5 if os.is_some() => "nvidia/cuda".into(),
        4 => random_tag("pytorch/pytorch", era, random),
        5 => random_tag("nvcr.io/nvidia/pytorch", era, random),
        _ => withdrawn(random),
    }
}

/// A tag that can no longer be pulled.
pub fn withdrawn(random: &mut Random) -> String {
    let gone = |row: &&Image| row.withdrawn && row.repository == "nvidia/cuda";
    let rows: Vec<&Image> = BUILTIN.images.iter().filter(gone).collect();
    let row = random.pick(&rows);
    format!("{}:{}", row.repository, row.tag)
}

/// A repository that can be asked to choose, or one of its tags.
fn random_tag(repository: &str, era: &Era, random: &mut Random) -> String {
    if random.percent(20) { repository.to_string() } else { tag(repository, era, None, random) }
}

/// A tag of the era's CUDA major and platform, unless it strays.
fn tag(repository: &str, era: &Era, os: Option<&Os>, random: &mut Random) -> String {
    let strays = era.strays(random);
    let of = |row: &&Image| row.repository == repository && !row.withdrawn;
    let torch = |row: &Image| row.torch.as_ref().is_none_or(|torch| torch.starts_with(era.build.version.as_str()));
    let glibc = |row: &Image| {
        let known = BUILTIN.oses.iter().find(|os| os.images.contains(&row.os));
        known.is_none_or(|known| known.glibc >= era.build.glibc)
    };
    let suits = |row: &&Image| {
        era.line.is_none_or(|line| row.cuda.major() == line.major() && row.cuda.prefix(2) <= line)
            && (row.arches.is_empty() || row.arches.contains(&era.build.arch))
            && os.map_or_else(|| glibc(row), |os| os.images.contains(&row.os))
            && torch(row)
    };
    let all: Vec<&Image> = BUILTIN.images.iter().filter(of).collect();
    let fitting: Vec<&Image> = all.iter().copied().filter(suits).collect();
    if fitting.is_empty() && !strays {
        return repository.to_string();
    }
    let row = random.pick_late(if strays { &all } else { &fitting });
    format!("{repository}:{}", row.tag)
}

/// Toolkits near the era's CUDA.
pub fn toolkits(era: &Era, random: &mut Random) -> Vec<String> {
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
