//! What a wheel says of itself: the name of its file, WHEEL and METADATA.

use super::Pair;

/// The oldest promises have names of their own.
const OLD_TAGS: [(&str, Pair); 3] = [("manylinux1", (2, 5)), ("manylinux2010", (2, 12)), ("manylinux2014", (2, 17))];

/// A wheel's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The package, as an index files it: `flash-attn`.
    pub package: String,
    /// `2.8.0+cu128`
    pub version: String,
    /// The Pythons that it asks for, `>=3.9,<3.13`.
    pub requires_python: Option<String>,
    /// What it asks for, extras aside.
    pub requires: Vec<Requirement>,
}

/// One package that a wheel asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The package, as an index files it.
    pub package: String,
    /// `==2.7.0`; empty where any does.
    pub range: String,
    /// When it counts, as it is written: `platform_machine == "x86_64"`.
    pub marker: Option<String>,
}

/// The tags of a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags {
    /// `cp311-cp311`, `cp38-abi3`, `py3-none`: each once.
    pub pythons: Vec<String>,
    /// `manylinux_2_28_x86_64`, each once.
    pub platforms: Vec<String>,
}

/// Reads METADATA. What stands behind the first empty line is a description.
pub fn metadata(text: &str) -> Option<Metadata> {
    let mut found = Metadata::default();
    for line in text.lines().take_while(|line| !line.is_empty()) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key {
            "Name" => found.package = canonical(value),
            "Version" => found.version = value.to_string(),
            "Requires-Python" => found.requires_python = Some(value.to_string()),
            "Requires-Dist" => found.requires.extend(requirement(value)),
            _ => {}
        }
    }
    (!found.package.is_empty() && !found.version.is_empty()).then_some(found)
}

/// `torch (==2.7.0) ; platform_system == "Linux"`; nothing for what only an extra asks for.
fn requirement(text: &str) -> Option<Requirement> {
    let (asked, marker) = match text.split_once(';') {
        Some((asked, marker)) => (asked, Some(marker.trim().to_string())),
        None => (text, None),
    };
    if marker.as_ref().is_some_and(|marker| marker.contains("extra")) {
        return None;
    }
    let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = asked.find(|c| !named(c)).unwrap_or(asked.len());
    let (package, rest) = asked.split_at(end);
    // An extra of the other package asks for more, but the range is the same.
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(rest, |(_, rest)| rest);
    let range: String = rest.chars().filter(|c| !c.is_whitespace() && !"()".contains(*c)).collect();
    let is_address = range.starts_with('@');
    let range = if is_address { String::new() } else { range };
    (!package.is_empty()).then(|| Requirement { package: canonical(package), range, marker })
}

/// A package's name as indexes file it.
pub fn canonical(name: &str) -> String {
    let mut found = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            '-' | '_' | '.' if found.ends_with('-') => {}
            '-' | '_' | '.' => found.push('-'),
            c => found.push(c),
        }
    }
    found
}

/// The tags in a file's name: `vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl`.
pub fn tags_of_name(file: &str) -> Option<Tags> {
    let mut parts = file.strip_suffix(".whl")?.rsplitn(4, '-');
    let (platforms, abis, pythons) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next()?.split_once('-')?;
    let mut tags = Tags::default();
    tags.add(pythons, abis, platforms);
    Some(tags)
}

/// The tags that WHEEL lists.
pub fn tags_of_wheel(text: &str) -> Tags {
    let mut tags = Tags::default();
    for tag in text.lines().filter_map(|line| line.strip_prefix("Tag:")) {
        let mut parts = tag.trim().splitn(3, '-');
        if let (Some(python), Some(abi), Some(platform)) = (parts.next(), parts.next(), parts.next()) {
            tags.add(python, abi, platform);
        }
    }
    tags
}

impl Tags {
    fn add(&mut self, pythons: &str, abis: &str, platforms: &str) {
        // No honest name has more parts, and they multiply.
        for python in pythons.split('.').take(16) {
            for abi in abis.split('.').take(16) {
                add(&mut self.pythons, format!("{python}-{abi}"));
            }
        }
        platforms.split('.').take(16).for_each(|platform| add(&mut self.platforms, platform.to_string()));
    }

    /// The oldest glibc that they promise to do with.
    pub fn glibc(&self) -> Option<Pair> {
        self.platforms.iter().filter_map(|platform| promised(platform)).min()
    }

    /// The processors that they are for, `x86_64`; none for any.
    pub fn processors(&self) -> Vec<&'static str> {
        let is_for =
            |cpu: &&&str| self.platforms.iter().any(|platform| platform.contains("linux") && platform.ends_with(**cpu));
        ["aarch64", "x86_64"].iter().filter(is_for).copied().collect()
    }

    /// The one line of Python that each of them is for, `3.11`; empty where one serves several.
    pub fn lines(&self) -> Vec<String> {
        let line = |tag: &String| {
            let (python, abi) = tag.split_once('-')?;
            let digits = python.strip_prefix("cp").filter(|_| abi != "abi3" && abi != "none")?;
            let minor: u8 = digits.strip_prefix('3')?.parse().ok()?;
            Some(format!("3.{minor}"))
        };
        let found: Option<Vec<String>> = self.pythons.iter().map(line).collect();
        found.unwrap_or_default()
    }
}

fn add(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) && list.len() < 64 {
        list.push(text);
    }
}

fn promised(platform: &str) -> Option<Pair> {
    if let Some(rest) = platform.strip_prefix("manylinux_") {
        let mut parts = rest.splitn(3, '_');
        return Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?));
    }
    OLD_TAGS.iter().find(|(tag, _)| platform.strip_prefix(tag).is_some_and(|rest| rest.starts_with('_'))).map(|it| it.1)
}

impl Requirement {
    /// Whether it counts on Linux on this processor. What is not understood counts.
    pub fn counts_on(&self, processor: &str) -> bool {
        let Some(marker) = &self.marker else { return true };
        let marker = marker.replace(['(', ')', '"', '\''], "");
        marker.split(" or ").any(|all| all.split(" and ").all(|one| may_hold(one, processor)))
    }
}

/// Whether one comparison of a marker may hold on Linux on a processor.
fn may_hold(comparison: &str, processor: &str) -> bool {
    let words: Vec<&str> = comparison.split_whitespace().collect();
    let [name, operator, value] = words.as_slice() else { return true };
    let is = match *name {
        "platform_machine" => processor,
        "platform_system" => "Linux",
        "sys_platform" => "linux",
        "os_name" => "posix",
        _ => return true,
    };
    match *operator {
        "==" => is == *value,
        "!=" => is != *value,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
