//! The machine below any GPU: the distribution, the kernel, the C library, the compiler, from `uname`, `hostnamectl`,
//! `/etc/os-release`, `/etc/redhat-release`, `lsb_release`, `lscpu`, `ldd --version`, `getconf`, `gcc --version` and the lines of collect_env.

use super::super::record::{Compiler, System};
use crate::types::Version;

use super::lines::told;
use super::seen::{Seen, fill, version};

/// How distributions begin their names, how the catalog begins theirs, and how many numbers follow.
const DISTRIBUTIONS: &[(&str, &str, usize)] = &[
    ("Ubuntu", "ubuntu", 2),
    ("Debian GNU/Linux", "debian", 1),
    ("Rocky Linux", "rocky", 1),
    ("AlmaLinux", "alma", 1),
    ("CentOS Stream", "centos-stream", 1),
    ("CentOS", "centos", 1),
    ("Red Hat Enterprise Linux", "rhel", 1),
    ("Oracle Linux", "ol", 1),
    ("Amazon Linux", "amzn", 1),
    ("Fedora", "fedora", 1),
    ("openSUSE Leap", "opensuse", 2),
    ("Microsoft Azure Linux", "azl", 1),
    ("Arch Linux", "arch", 0),
    ("Alpine Linux v", "alpine", 2),
];

/// The processors that Linux hosts with these GPUs have.
const ARCHS: [&str; 4] = ["x86_64", "aarch64", "ppc64le", "arm64"];
/// What else stands behind `Architecture:` where that is the processor's: GPUs, models and packages have one, too.
const TITLED: [&str; 6] = ["amd64", "x86-64", "armv7l", "i686", "riscv64", "s390x"];

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut found = false;
    // `lsb_release -a`
    let is_lsb = lines.iter().any(|line| line.trim().starts_with("Distributor ID:"));
    for line in lines {
        let line = line.trim();
        if let Some(pretty) = line.strip_prefix("PRETTY_NAME=") {
            name(pretty.trim_matches('"'), seen);
            found = true;
        } else if let Some(release) = line.strip_prefix("Description:").filter(|_| is_lsb) {
            name(release.trim(), seen);
            found = true;
        } else if let Some(system) = named(line) {
            name(system, seen);
            found = true;
        } else if line.starts_with("Linux ") && line.ends_with("GNU/Linux") {
            // `uname -a`: the second word is the host's own name, which is nobody's business.
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(kernel) = words.get(2) {
                kernel_is(kernel, seen);
            }
            let arch = words.iter().rev().find(|word| ARCHS.contains(word));
            arch.into_iter().for_each(|arch| seen.processor(arch));
            found = true;
        } else if let Some(arch) = processor(line) {
            seen.processor(arch);
            found = true;
        } else if let Some((_, told)) = line.split_once("__glibc=") {
            // `conda info`
            fill(&mut seen.record.platform.glibc, version(told));
            found = true;
        } else if line.starts_with("musl libc") {
            fill(&mut seen.record.platform.os, Some("musl libc".to_string()));
            found = true;
        } else if let Some(number) = line.strip_prefix("glibc ").and_then(version) {
            // `getconf GNU_LIBC_VERSION`
            fill(&mut seen.record.platform.glibc, Some(number));
            found = true;
        } else if let Some(rest) = line.strip_prefix("ldd (") {
            fill(&mut seen.record.platform.glibc, rest.rsplit_once(' ').and_then(|(_, number)| version(number)));
            found = true;
        } else if compiler_of(line).is_some() {
            compiler(line, seen);
            found = true;
        }
    }
    found
}

/// The processor as `uname -m` tells it, alone on its line, or `lscpu`, `hostnamectl`, `kubectl describe node` and `conda info` with
/// a title.
fn processor(line: &str) -> Option<&str> {
    let titled = || line.strip_prefix("Architecture:").map(str::trim).filter(|name| TITLED.contains(name));
    let of_conda = || line.strip_prefix("platform : linux-");
    let alone = line.strip_prefix("Architecture:").or_else(of_conda).map_or(line, str::trim);
    Some(alone).filter(|name| ARCHS.contains(name)).or_else(titled)
}

/// The system that a line names: of `hostnamectl` behind a title, in /etc/redhat-release as all that it holds,
/// `Rocky Linux release 8.9 (Green Obsidian)`.
fn named(line: &str) -> Option<&str> {
    let starts = |written: &&str| DISTRIBUTIONS.iter().any(|(start, ..)| written.starts_with(start));
    if let Some(system) = line.strip_prefix("Operating System:") {
        return Some(system.trim()).filter(starts);
    }
    let (name, _) = line.split_once(" release ")?;
    let is_it = |(start, ..): &(&str, &str, usize)| name == *start || name.strip_suffix(" Linux") == Some(*start);
    DISTRIBUTIONS.iter().any(is_it).then_some(line)
}

/// The host compiler in the first line of `gcc --version` or `clang --version`, by whatever name it was called:
/// `x86_64-linux-gnu-g++-12 (Debian 12.2.0-14) 12.2.0`, `Ubuntu clang version 14.0.0-1ubuntu1`.
fn compiler_of(line: &str) -> Option<Compiler> {
    let of =
        |name: &str, version| Some(Compiler { name: name.to_string(), version: Some(version), ..Compiler::default() });
    if let Some((before, number)) = line.split_once("clang version ") {
        return of("clang", version(number.trim()).filter(|_| before.split_whitespace().count() <= 1)?);
    }
    let (program, rest) = line.split_once(" (")?;
    let is_it = program.split('-').any(|part| matches!(part, "gcc" | "g++" | "cc" | "c++"));
    of("gcc", unpacked(&format!("({rest}")).filter(|_| is_it && !program.contains(' '))?)
}

/// Writes a compiler down, unless its like is known.
pub(super) fn compiler(line: &str, seen: &mut Seen) {
    let Some(found) = compiler_of(line) else { return };
    if !seen.record.compilers.iter().any(|known| known.name == found.name) {
        seen.record.compilers.push(found);
    }
}

/// A system's own name, with the processor in brackets behind it or not.
pub(super) fn name(written: &str, seen: &mut Seen) {
    let Some(written) = told(written) else { return };
    let (name, arch) = match written.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        Some((name, arch)) if ARCHS.contains(&arch) => (name, Some(arch)),
        Some((name, arch)) if arch.ends_with("-bit") => (name, None),
        _ => (written, None),
    };
    let platform = &mut seen.record.platform;
    if name.starts_with("Microsoft Windows") || name.starts_with("Windows") {
        fill(&mut platform.system, Some(System::Windows));
    }
    fill(&mut platform.os, Some(id(name)));
    arch.into_iter().for_each(|arch| seen.processor(arch));
}

/// The catalog's spelling of a distribution, where the name tells it; else the name.
fn id(name: &str) -> String {
    let sles = name.strip_prefix("SUSE Linux Enterprise Server ").and_then(|rest| rest.split_once(" SP"));
    if let Some((release, pack)) = sles {
        return format!("sles{release}.{}", pack.split_whitespace().next().unwrap_or(pack));
    }
    let Some((rest, id, numbers)) =
        DISTRIBUTIONS.iter().find_map(|(start, id, numbers)| Some((name.strip_prefix(start)?, id, *numbers)))
    else {
        return name.to_string();
    };
    let release = rest.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    match release.and_then(version) {
        Some(release) if numbers > 0 => format!("{id}{}", release.prefix(numbers)),
        None if numbers == 0 => id.to_string(),
        _ => name.to_string(),
    }
}

/// Python's `Linux-5.15.0-105-generic-x86_64-with-glibc2.35`. The C library in it is the one the interpreter was
/// built for, not the one that is here.
pub(super) fn platform(value: &str, seen: &mut Seen) {
    if value.starts_with("Windows") {
        fill(&mut seen.record.platform.system, Some(System::Windows));
    }
    let Some(rest) = value.strip_prefix("Linux-") else { return };
    let rest = rest.split_once("-with-").map_or(rest, |(rest, _)| rest);
    let arch = ARCHS.iter().find(|arch| rest.contains(&format!("-{arch}")));
    let kernel = arch.and_then(|arch| rest.split_once(&format!("-{arch}"))).map_or(rest, |(kernel, _)| kernel);
    // RHEL's kernels name the processor themselves: `4.18.0-513.el8.x86_64-x86_64`.
    kernel_is(kernel, seen);
    arch.into_iter().for_each(|arch| seen.processor(arch));
}

fn kernel_is(kernel: &str, seen: &mut Seen) {
    let lower = kernel.to_lowercase();
    let system = if lower.contains("microsoft") {
        System::Wsl
    } else if lower.contains("tegra") {
        System::Tegra
    } else {
        System::Linux
    };
    fill(&mut seen.record.platform.kernel, Some(kernel.to_string()));
    fill(&mut seen.record.platform.system, Some(system));
}

pub(super) fn unpacked(value: &str) -> Option<Version> {
    let rest = match value.starts_with('(') {
        true => value.split_once(')')?.1,
        false => value,
    };
    version(rest.trim_start())
}
