//! How each way of printing a value is decoded: packed versions, wrapped names, file names that tell a release.

use crate::types::name;

/// One word: a blank ends it, a line break inside does not, unless a sentence begins there or the next line is empty.
pub fn token(original: &str) -> String {
    let mut lines = original.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_string();
    let joined =
        lines.take_while(|line| !line.is_empty() && !begins_sentence(line)).fold(first, |joined, line| joined + line);
    let word = joined.split_whitespace().next().unwrap_or("");
    let quotes = ['\'', '"', '`', '*', '‘', '’', '“', '”'];
    // What follows a closing quote without a blank is another word.
    word.split(quotes).find(|part| !part.is_empty()).unwrap_or_default().to_string()
}

/// `ERROR conda.cli`, `Traceback`: letters alone, and more after them or a capital before.
pub fn begins_sentence(line: &str) -> bool {
    let (word, more) = line.split_once(char::is_whitespace).map_or((line, false), |(word, _)| (word, true));
    let letters = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    // Python shows the line that warned below its warning.
    let source = matches!(word, "warn" | "warnings");
    letters && (more || source || word.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Several words with single blanks.
pub fn phrase(original: &str) -> String {
    let text = original.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace(['"', '\'', '`'], "")
}

/// `compute_92 2`, where a numbered line followed, is `compute_92`, and so is `compute_92 f`; `sm_12 0` was broken in two, for
/// there is no sm_12. What is no number ends with its word.
pub fn architecture(phrase: &str) -> String {
    let number = phrase.split_once('_').and_then(|(_, number)| number.split_once(' '));
    let Some((number, rest)) = number else { return phrase.to_string() };
    let is_broken = number.is_empty() && rest.starts_with(|next: char| next.is_ascii_digit());
    if number.trim_end_matches(['a', 'f']).parse::<u32>().map_or(!is_broken, |number| number >= 20) {
        phrase.split(' ').next().unwrap_or_default().to_string()
    } else {
        phrase.replace(' ', "")
    }
}

/// A product's name without the words that a sentence put before it.
pub fn gpu(phrase: &str) -> String {
    let makers = ["nvidia ", "geforce ", "tesla ", "quadro ", "grid ", "titan ", "rtx ", "gtx "];
    let lower = phrase.to_ascii_lowercase();
    let start = makers.iter().filter_map(|maker| lower.find(maker)).min().unwrap_or(0);
    // What follows in parentheses is its address or identity.
    phrase[start..].split(" (").next().unwrap_or_default().to_string()
}

/// The last part of a path, of either kind.
pub fn base(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_string()
}

/// The package behind a compiled module's name: `flash_attn_2_cuda` belongs to `flash-attn`.
pub fn module(name: &str) -> String {
    let name = name.split('.').next().unwrap_or(name);
    let name = name.trim_start_matches('_').trim_end_matches("_cuda").trim_end_matches("_C");
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    name::package(name)
}

/// `11040`
pub fn thousand(raw: &str) -> String {
    match raw.parse::<u32>() {
        // PyTorch once wrote 7500 for the 7.5 that CUDA itself packs as 7050.
        Ok(number) if number % 1000 >= 100 => format!("{}.{}", number / 1000, number % 1000 / 100),
        Ok(number) => format!("{}.{}", number / 1000, number % 1000 / 10),
        Err(_) => raw.to_string(),
    }
}

/// `118`
pub fn ten(raw: &str) -> String {
    match raw.parse::<u32>() {
        Ok(number) => format!("{}.{}", number / 10, number % 10),
        Err(_) => raw.to_string(),
    }
}

/// `311`, as folders and modules of Python are named.
pub fn digits(raw: &str) -> String {
    match raw.split_at_checked(1) {
        Some((major, minor)) if !minor.is_empty() => format!("{major}.{minor}"),
        _ => raw.to_string(),
    }
}

/// What comes before `4.9`, from which on something is refused.
pub fn below(raw: &str) -> String {
    let (major, last) = raw.rsplit_once('.').unwrap_or(("", raw));
    let before = last.parse::<u32>().ok().and_then(|last| last.checked_sub(1));
    match before {
        Some(before) if major.is_empty() => before.to_string(),
        Some(before) => format!("{major}.{before}"),
        None => raw.to_string(),
    }
}

/// `1108`
pub fn hundred(raw: &str) -> String {
    match raw.parse::<u32>() {
        Ok(number) if number >= 10_000 => thousand(raw),
        Ok(number) => format!("{}.{}", number / 100, number % 100),
        Err(_) => raw.to_string(),
    }
}

pub fn packed(raw: &str, major: u32, minor: u32) -> String {
    match raw.parse::<u32>() {
        Ok(number) => format!("{}.{}.{}", number / major, number % major / minor, number % minor),
        Err(_) => raw.to_string(),
    }
}

/// cuDNN changed how it packs its version when its major reached two more digits of minor.
pub fn cudnn(raw: &str) -> String {
    match raw.len() {
        5 => packed(raw, 10_000, 100),
        4 => packed(raw, 1000, 100),
        _ => raw.to_string(),
    }
}

/// The first release whose runtime library serves every release of its major.
const ONE_RUNTIME_A_MAJOR: u32 = 11;

/// The CUDA line of a runtime library's name.
pub fn runtime_of(library: &str) -> Option<String> {
    // The one that is of a single release, whatever the major.
    if let Some(release) = library.strip_prefix("libnvrtc-builtins.so.") {
        return release.contains('.').then(|| release.split('.').take(2).collect::<Vec<_>>().join("."));
    }
    let number = match library.strip_prefix("cudart64_").or_else(|| library.strip_prefix("cublas64_")) {
        Some(tail) => {
            let digits = tail.split('.').next().filter(|digits| digits.len() >= 2)?;
            let (major, minor) = digits.split_at(2);
            if minor.is_empty() { major.to_string() } else { format!("{major}.{minor}") }
        }
        None => {
            let names =
                ["libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvrtc.so.", "libcufft.so.", "libcurand.so."];
            let (name, tail) = names.iter().find_map(|name| Some((*name, library.strip_prefix(name)?)))?;
            // These number themselves apart from CUDA since its major has one runtime.
            if name.contains("cufft") || name.contains("curand") {
                tail.contains('.').then_some(tail)?;
            }
            tail.to_string()
        }
    };
    let major: u32 = number.split('.').next()?.parse().ok()?;
    match major >= ONE_RUNTIME_A_MAJOR {
        true => Some(major.to_string()),
        false => number.contains('.').then(|| number.split('.').take(2).collect::<Vec<_>>().join(".")),
    }
}

/// The cuDNN major of a library's name.
pub fn cudnn_of(library: &str) -> Option<String> {
    let tail = match library.strip_prefix("libcudnn") {
        Some(rest) => rest.split(".so.").nth(1)?,
        None => library.strip_prefix("cudnn64_").or_else(|| library.split("cudnn").nth(1)?.split("64_").nth(1))?,
    };
    let major = tail.split('.').next()?;
    major.bytes().all(|byte| byte.is_ascii_digit()).then(|| major.to_string())
}

/// The wheel that brings a library which builds on CUDA, in releases before the next number of its file: `libcudss.so.0`.
pub fn own_wheel(library: &str) -> Option<String> {
    let lower = library.to_ascii_lowercase();
    let (stem, number) = lower.strip_prefix("lib")?.split_once(".so")?;
    // cuTENSOR's library for several GPUs lies in the same wheel.
    let stem = stem.split('_').next()?.trim_end_matches("mg");
    let owner = if ["cutensor", "custatevec", "cudensitymat"].contains(&stem) { "" } else { "nvidia-" };
    let number = number.split('.').nth(1).and_then(|number| number.parse::<u32>().ok());
    let below = number.map(|number| format!("<{}", number + 1)).unwrap_or_default();
    Some(format!("`{owner}{stem}-cuXX{below}`"))
}

#[cfg(test)]
mod tests;
