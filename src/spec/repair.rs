//! What was meant by a value that is spelled as other tools, people or makers spell it.

use super::other_names::other_name;
use crate::types::variant::line_of;
use crate::types::{Constraint, Specifier, Version};

/// Words for whatever there is.
const ANY: [&str; 8] = ["latest", "newest", "any", "stable", "default", "auto", "all", "x"];

/// The constraint that was meant, if it can be told: `>=2.5,<3` for `^2.5`, `==1.13.1` for `torch==1.13.1`.
pub fn constraint(key: &str, text: &str) -> Option<String> {
    let text = text.trim();
    if ANY.contains(&text.to_ascii_lowercase().as_str()) {
        return Some("*".to_string());
    }
    // Some call it otherwise: `pytorch==2.5`.
    let name = text.split(['=', '<', '>', '!', '~', ' ']).next().unwrap_or_default();
    let is_name = name.eq_ignore_ascii_case(key) || other_name(name) == Some(key);
    let begins = text.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key));
    let named = if is_name {
        name.len()
    } else if begins {
        key.len()
    } else {
        0
    };
    let text = match named {
        0 => text,
        _ => text[named..].trim_start_matches(['-', '_', ' ']).trim(),
    };
    if let Some(interval) = interval(text) {
        return Constraint::parse(&interval).is_ok().then_some(interval);
    }
    if let Some(version) = undotted(key, text) {
        return Version::parse(&version).is_ok().then_some(version);
    }
    // An extra says what gpuenv takes anyway: `2.15[and-cuda]`; an index of PyTorch's is that of a variant.
    let text = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some(("", _)) => "*",
        Some((version, _)) => version.trim(),
        None => text,
    };
    let text = match text.strip_prefix("https://download.pytorch.org/whl/") {
        Some(variant) => variant.trim_end_matches('/'),
        None => text,
    };
    // Semicolons and "or" between alternatives, blanks and "and" between bounds.
    let text = text.replace(" or ", "||").replace(';', "||").replace(" and ", ",");
    let mut meant = Vec::new();
    for alternative in text.split("||") {
        let parted = parted(alternative);
        let parts: Option<Vec<String>> =
            parted.split([',', '&']).filter(|part| !part.trim().is_empty()).map(part).collect();
        meant.push(parts?.join(","));
    }
    resolved(meant.join(" || "))
}

/// What is read as it is written, its labels in the spelling of wheels: no build is called `+cuda` or `+cu12`.
fn resolved(mut meant: String) -> Option<String> {
    let read = Constraint::parse(&meant).ok()?;
    for variant in read.comparisons().filter_map(|one| one.variant.as_deref()) {
        let own = label(variant);
        let name = own.as_deref().unwrap_or(variant);
        if name.starts_with("cu") && line_of(name).is_none_or(|line| line.len() < 2) {
            return None;
        }
        meant = meant.replace(variant, name);
    }
    Some(meant)
}

/// A version without its dots, `cp310` of Python, or with a comma in place of one, as in `12,4`.
fn undotted(key: &str, text: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((major, minor)) = text.split_once(',') {
        return (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"));
    }
    let digits = ["cp", "py"].iter().find_map(|tag| text.strip_prefix(tag)).filter(|_| key == "python")?;
    let (major, minor) = digits.split_at_checked(1).filter(|(_, minor)| is_number(minor))?;
    Some(format!("{major}.{minor}"))
}

/// Bounds in brackets, as mathematicians write them: `>=2.5,<2.7` for `[2.5,2.7)`.
fn interval(text: &str) -> Option<String> {
    let low = if text.starts_with('[') { ">=" } else { ">" };
    let high = if text.ends_with(']') { "<=" } else { "<" };
    let (from, to) = text.strip_prefix(['[', '('])?.strip_suffix([']', ')'])?.split_once(',')?;
    Some(format!("{low}{},{high}{}", from.trim(), to.trim()))
}

/// The line of Python that a free-threaded one is of: `3.13` for `3.13t`.
pub(super) fn with_gil<'t>(key: &str, text: &'t str) -> Option<&'t str> {
    let line = text.trim().strip_suffix(['t', 'T']).filter(|_| key == "python")?;
    Version::parse(line).is_ok().then_some(line)
}

/// Whether it names what is built between releases.
pub(super) fn is_between_releases(text: &str) -> bool {
    ["nightly", "dev", "main", "master", "head", "trunk", "preview", "pre"]
        .contains(&text.trim().to_ascii_lowercase().as_str())
}

/// The requirement specifier that was meant, if it can be told: `>=4.50,<5` for `^4.50`, `==4.50.*` for `4.50`.
pub fn specifier(key: &str, text: &str) -> Option<String> {
    // A marker would be lost.
    if text.contains([';', '@', '[']) {
        return None;
    }
    let meant = constraint(key, text)?;
    let pinned: Vec<String> = meant
        .split(',')
        .map(|part| match part {
            number if number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('+') => format!("=={number}"),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => format!("=={number}.*").replace(".*.*", ".*"),
            part => part.to_string(),
        })
        .collect();
    Specifier::parse(&pinned.join(",")).ok().map(|meant| meant.to_string())
}

/// The label that is meant by one with a dot in its CUDA, or with the whole word, which no build has: `cu124` by `cu12.4` and
/// `cuda124`.
pub(super) fn label(variant: &str) -> Option<String> {
    let (is_word, cuda) = match variant.strip_prefix("cuda") {
        Some(rest) => (true, rest),
        None => (false, variant.strip_prefix("cu")?),
    };
    if is_word && cuda.len() > 1 && cuda.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("cu{cuda}"));
    }
    let cuda = Version::parse(cuda).ok().filter(|cuda| cuda.len() > 1)?;
    Some(format!("cu{}{}", cuda.major(), cuda.minor()))
}

/// Comparisons with a comma between them, where a blank was or nothing: `>=2.4,<2.6` for `>=2.4 <2.6` and `>=2.4<2.6`.
fn parted(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for c in text.chars() {
        let begins = ['<', '>', '!'].contains(&c) && apart.ends_with(|before: char| before.is_ascii_digit());
        apart.extend(begins.then_some(' '));
        apart.push(c);
    }
    let mut parted = String::new();
    for word in apart.split_whitespace() {
        let begins = word.starts_with(['<', '>', '=', '!', '~', '^']);
        let goes_on = parted.is_empty() || parted.ends_with([',', '<', '>', '=', '~', '^', '-']);
        match (begins, goes_on) {
            (true, false) => parted.push(','),
            (false, false) => parted.push(' '),
            _ => {}
        }
        parted += word;
    }
    parted
}

/// One comparison, in the spelling of gpuenv.toml.
fn part(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(version) = text.strip_prefix('^') {
        return caret(version.trim());
    }
    if let Some(version) = text.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        let version = Version::parse(version.trim()).ok()?;
        return Some(if version.len() > 2 { format!("~={version}") } else { version.to_string() });
    }
    if let Some((low, high)) = text.split_once('-') {
        let (low, high) = (plain(low), plain(high));
        // Behind the version of a package stands its revision: `535.104.05-1`.
        if let (Ok(from), Ok(to)) = (Version::parse(low), Version::parse(high))
            && from < to
        {
            return Some(format!(">={low},<={high}"));
        }
    }
    let starts_version = |c: char| c.is_ascii_alphanumeric() || c == '*';
    let (op, version) = text.split_at(text.find(starts_version)?);
    let op = match op.trim() {
        "=" | "===" => "==",
        "=>" => ">=",
        "=<" => "<=",
        op => op,
    };
    // A variant is glued to its version with anything but `+`: `2.5.1-cu124`.
    let version = plain(version);
    let version = version.to_ascii_lowercase();
    let variant = version.rfind("cu").or(version.rfind("cpu")).map(|at| version.split_at(at));
    // A variant has no order, so it stands beside a range.
    let is_range = !["", "=="].contains(&op);
    let Some((version, variant)) = variant else { return Some(format!("{op}{version}")) };
    let version = version.trim_end_matches(['-', '_', '+', ' ', '/']);
    Some(match op {
        // A release is left out with all of its builds: beside it the variant would ask for the very build.
        "!=" => format!("!={version}"),
        _ if is_range => format!("{op}{version},+{variant}"),
        _ => format!("{op}{version}+{variant}"),
    })
}

/// `>=2.5,<3` for `2.5`: the first number that is not zero stays.
fn caret(version: &str) -> Option<String> {
    let parsed = Version::parse(version).ok()?;
    let numbers: Vec<u64> = parsed.components().collect();
    let first = numbers.iter().position(|&number| number > 0).unwrap_or(numbers.len() - 1);
    let zeros = "0.".repeat(first);
    let next = format!("{zeros}{}", numbers[first] + 1);
    Some(format!(">={version},<{next}"))
}

/// A version without what others write around it: `v2.5`, `R535`, `535.x`.
fn plain(version: &str) -> &str {
    let version = version.trim();
    let bare = version.strip_prefix(['v', 'V', 'r', 'R']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let bare = bare.unwrap_or(version);
    bare.strip_suffix(".x").or(bare.strip_suffix(".X")).or(bare.strip_suffix('.')).unwrap_or(bare)
}

/// A branch or release of a driver without what people write around its number; as it is where it is more than that.
pub(super) fn driver(text: &str) -> &str {
    let bare = plain(text);
    let is_number = bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number && !bare.is_empty() { bare } else { text }
}

/// The driver that a text of another kind names, as a key and its value: a package (`nvidia-driver-535-server`), a branch and
/// more (`535+`), the number of CUDA, or that of Windows (`32.0.15.6636` is 566.36).
pub(super) fn driver_named(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    let numbers: Vec<&str> = lower
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        .map(|part| part.trim_end_matches('.'))
        .collect();
    if let [number] = numbers[..]
        && lower.starts_with("cuda")
        && Version::parse(number).is_ok_and(|version| version.len() == 2)
    {
        return Some(format!("driver-cuda = \"{number}\""));
    }
    if let Some(number) = of_windows(&lower) {
        return Some(format!("driver = \"{number}\"` with `platform = \"wsl2\""));
    }
    let is_driver = |number: &&&str| number.split('.').next().is_some_and(|major| major.len() == 3);
    let number = numbers.iter().find(is_driver)?;
    let at_least = lower.strip_suffix('+').is_some_and(|rest| rest == *number);
    Some(format!("driver = \"{}{number}\"", if at_least { ">=" } else { "" }))
}

/// The driver in the number that Windows shows of it: the last five digits of `32.0.15.6636` are 566.36.
pub(super) fn of_windows(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.trim().split('.').collect();
    let [_, _, model, build] = parts[..] else { return None };
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !parts.iter().all(is_number) || model.len() != 2 || build.len() != 4 {
        return None;
    }
    Some(format!("{}{}.{}", &model[1..], &build[..2], &build[2..]))
}

/// How a machine without a GPU is called elsewhere.
pub(super) fn is_no_gpu(text: &str) -> bool {
    ["cpu", "cpu only", "cpu-only"].contains(&text.trim().to_ascii_lowercase().as_str())
}

/// Whether it is what programs call a device, `cuda:0`.
pub(super) fn is_device(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.strip_prefix("cuda:").unwrap_or_default();
    lower == "cuda" || number.parse::<u16>().is_ok()
}

/// What `8x H100` is corrected with.
const COUNTED: &str = "how many there are changes nothing";

/// The product in a line that a tool printed, or beside a count, and why it stands alone: `GA102 [GeForce RTX 3090]`,
/// `GPU 0: Tesla T4 (UUID: …)`, `8x H100`, `gpu:a100:4`.
pub(super) fn gpu(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim();
    if let Some((_, rest)) = text.rsplit_once('[') {
        let name = rest.split_once(']').map(|(name, _)| name.trim()).filter(|name| !name.is_empty());
        return name.map(|name| (name, "the name stands between the brackets"));
    }
    let is_count = |count: &str| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((number, rest)) = text.strip_prefix("GPU ").and_then(|rest| rest.split_once(':'))
        && is_count(number)
    {
        return Some((
            rest.split(" (UUID").next().unwrap_or(rest).trim(),
            "the number and the UUID are not part of the name",
        ));
    }
    if let Some((count, name)) = text.split_once(['x', 'X', '*', '\u{d7}'])
        && is_count(count.trim())
    {
        return Some((name.trim(), COUNTED));
    }
    if let Some((name, count)) = text.rsplit_once(':')
        && is_count(count)
    {
        return Some((name.strip_prefix("gpu:").unwrap_or(name).trim(), COUNTED));
    }
    // The X of a Tegra X1 is its name.
    let (name, count) = text.rsplit_once(" x")?;
    is_count(count).then_some((name.trim(), COUNTED))
}

/// Whether it is what a cloud calls a machine: `p4d.24xlarge`, `a2-highgpu-1g`, `Standard_NC24ads_A100_v4`.
pub(super) fn is_machine_type(text: &str) -> bool {
    let name = text.trim().to_ascii_lowercase();
    let of_aws = name.split_once('.').is_some_and(|(_, size)| size.ends_with("large") || size == "metal");
    of_aws
        || name.starts_with("standard_n")
        || ["-highgpu-", "-megagpu-", "-ultragpu-"].iter().any(|part| name.contains(part))
}

/// The maker of a GPU that is none of NVIDIA's.
pub(super) fn other_maker(gpu: &str) -> Option<&'static str> {
    let name = gpu.to_ascii_lowercase();
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix).map(|rest| rest.trim_start_matches(['-', ' ']));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let has = |words: &[&str]| name.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    if numbered("mi") || numbered("gfx") || numbered("rx") || has(&["amd", "radeon", "instinct", "vega"]) {
        return Some("AMD");
    }
    if has(&["intel", "gaudi", "gaudi2", "gaudi3", "arc", "iris"]) {
        return Some("Intel");
    }
    // An M4 alone is a Tesla; a Mac's has a size behind it.
    let is_of_mac = name.split_once(' ').is_some_and(|(chip, size)| {
        chip.strip_prefix('m').is_some_and(|number| number.parse::<u8>().is_ok())
            && ["pro", "max", "ultra"].contains(&size)
    });
    if is_of_mac || has(&["apple", "mps"]) {
        return Some("Apple");
    }
    has(&["tpu", "tpuv4", "tpuv5"]).then_some("Google")
}

#[cfg(test)]
mod tests;
