//! The words of a product's name, and an index from words to products.
//!
//! The index is one text of sorted lines, written when a catalog is put in order. The built-in catalog's is a
//! constant without a single pointer, so that it costs nothing until a name is looked up, and then a binary
//! search instead of folding every name there is.

use std::collections::BTreeMap;

use super::rows::Gpu;

/// Words that name a brand and are left out as often as not.
const BRANDS: [&str; 9] = ["nvidia", "tesla", "geforce", "quadro", "titan", "jetson", "rtx", "gtx", "gt"];

/// Shorter words are parts of a product's number: the T of a T4.
const NUMBERED: usize = 3;

/// Ends a key whose words are all of a product's name that tells it from others.
const WHOLE: char = '=';
/// Ends a key of which brand words before it make up the rest.
const PART: char = '~';

/// The product's name and aliases, in words.
pub(super) fn written(gpu: &Gpu) -> impl Iterator<Item = Vec<String>> {
    [&gpu.name].into_iter().chain(gpu.aliases.iter()).map(|name| fold(name))
}

/// Lower case, in words: blanks, hyphens and brackets part them, and so does a letter series glued to its
/// number (`rtx3090`, `1080ti`).
pub(super) fn fold(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut words = Vec::new();
    // Most people leave them out: "GTX 1660 Ti with Max-Q Design".
    let tells = |word: &&str| !["", "with", "design"].contains(word);
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(tells) {
        // `RTXA6000` is what vGPU types call the RTX A6000.
        let starts_number = |rest: &&str| {
            let number = rest.strip_prefix('a').unwrap_or(rest);
            number.starts_with(|c: char| c.is_ascii_digit())
        };
        let series =
            ["rtx", "gtx"].into_iter().find(|series| word.strip_prefix(series).is_some_and(|r| starts_number(&r)));
        let rest = series.map_or(word, |series| &word[series.len()..]);
        words.extend(series.map(String::from));
        match rest.strip_suffix("ti").filter(|number| is_number(number) && !number.is_empty()) {
            Some(number) => words.extend([number.to_string(), "ti".to_string()]),
            // A size as people write it, `40G`.
            None => match rest.strip_suffix('g').filter(|size| size.parse::<u16>().is_ok()) {
                Some(size) => words.push(format!("{size}gb")),
                None => words.push(rest.to_string()),
            },
        }
    }
    words
}

/// Words that are written as one apart: `4090ti` is `4090 ti`, `h100sxm` is `h100 sxm`.
pub(super) fn apart(name: &str) -> String {
    let mut apart = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        // One letter behind a number is a part of it: L40S, GTX 750M.
        let is_word = letter.is_ascii_alphabetic() && letters.peek().is_some_and(char::is_ascii_alphabetic);
        if before.is_ascii_digit() && is_word {
            apart.push(' ');
        }
        apart.push(letter);
        before = letter;
    }
    apart
}

/// Whether a name can become of what was typed so far: each word of it begins a word of the name, blanks within the name
/// aside: `rtx4090`, `3060t`, `4080 lap`.
pub fn may_become(typed: &str, name: &str) -> bool {
    let words = plain_words(name);
    let rests: Vec<String> = (0..words.len()).map(|at| words[at..].concat()).collect();
    plain_words(typed).iter().all(|part| rests.iter().any(|rest| rest.starts_with(part.as_str())))
}

/// Whether a name begins with what was typed, blanks and hyphens aside.
pub fn begins(typed: &str, name: &str) -> bool {
    plain_words(name).concat().starts_with(&plain_words(typed).concat())
}

fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Drops the words that never tell two products apart.
pub(super) fn without_maker(words: &[String]) -> &[String] {
    let skip = words.iter().take_while(|word| ["nvidia", "tesla", "geforce"].contains(&word.as_str())).count();
    &words[skip..]
}

/// Drops the series before a number or a TITAN, so that "5090" is the GeForce RTX 5090.
fn without_series(words: &[String]) -> &[String] {
    let series = ["rtx", "gtx", "gt"];
    match words {
        [first, next, ..] if series.contains(&first.as_str()) && (is_number(next) || next == "titan") => &words[1..],
        _ => words,
    }
}

/// Whether a name is made of brands alone.
pub(super) fn is_brand(words: &str) -> bool {
    words.split(' ').all(|word| BRANDS.contains(&word))
}

/// Whether there are only digits.
pub(super) fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The index of a table: a line for each way to begin a product's name, brand words before it left out or not.
pub(super) fn index(gpus: &[Gpu]) -> String {
    let mut keys: BTreeMap<(String, usize), bool> = BTreeMap::new();
    for (at, gpu) in gpus.iter().enumerate() {
        for product in written(gpu) {
            let whole = without_maker(&product);
            let brands = product.iter().take_while(|word| BRANDS.contains(&word.as_str())).count();
            for skip in (0..=brands).filter(|skip| *skip < product.len()) {
                let words = &product[skip..];
                let tells_apart = words == whole || words == without_series(whole);
                *keys.entry((words.join(" "), at)).or_default() |= tells_apart;
            }
        }
    }
    let line =
        |((key, at), whole): (&(String, usize), &bool)| format!("{key}{}{at}\n", if *whole { WHOLE } else { PART });
    keys.iter().map(line).collect()
}

/// What the index knows of the words of a name.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// Products of exactly this name.
    pub whole: Vec<usize>,
    /// Products whose name is these words, brand words before them aside.
    pub called: Vec<usize>,
    /// Products whose name begins with these words, brand words before them aside.
    pub family: Vec<usize>,
}

/// Looks words up in an index; each list comes in the order of the table.
pub(super) fn hits(index: &str, words: &str) -> Hits {
    let mut hits = Hits::default();
    // A family is made of whole words: "a10" does not begin "a100". What is no number may be numbered: "sxm" begins "sxm4".
    let last = words.rsplit(' ').next().unwrap_or("");
    let ends_in_letters = last.len() >= NUMBERED && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    for line in index[first_line(index, words)..].lines().map_while(|line| line.strip_prefix(words)) {
        let Some((rest, at)) = line.rsplit_once([WHOLE, PART]) else { continue };
        let Ok(at) = at.parse() else { continue };
        if rest.is_empty() && line.starts_with(WHOLE) {
            hits.whole.push(at);
        }
        if rest.is_empty() {
            hits.called.push(at);
        }
        let is_numbered = ends_in_letters && rest.starts_with(|c: char| c.is_ascii_digit());
        if rest.is_empty() || rest.starts_with(' ') || is_numbered {
            hits.family.push(at);
        }
    }
    for list in [&mut hits.whole, &mut hits.called, &mut hits.family] {
        list.sort_unstable();
        list.dedup();
    }
    hits
}

/// Where the first line begins whose key is not before the words wanted.
fn first_line(index: &str, words: &str) -> usize {
    let is_end = |byte: &u8| *byte == b'\n';
    let bytes = index.as_bytes();
    let (mut low, mut high) = (0, index.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = bytes[low..middle].iter().rposition(is_end).map_or(low, |newline| low + newline + 1);
        let end = bytes[start..].iter().position(is_end).map_or(index.len(), |length| start + length + 1);
        let key = index[start..end].split([WHOLE, PART]).next().unwrap_or("");
        if key < words {
            low = end;
        } else {
            high = start;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;
    use super::*;

    /// The index answers as reading every name does.
    #[test]
    fn the_index_agrees_with_a_scan() {
        let begins = |wanted: &[String], product: &[String]| {
            let brands = product.iter().take_while(|word| BRANDS.contains(&word.as_str())).count();
            (0..=brands).any(|skip| product[skip..].starts_with(wanted))
        };
        let is = |wanted: &[String], product: &[String]| {
            let product = without_maker(product);
            product == wanted || without_series(product) == wanted
        };
        let scan = |fits: &dyn Fn(&[String]) -> bool| -> Vec<usize> {
            (0..BUILTIN.gpus.len()).filter(|&at| written(&BUILTIN.gpus[at]).any(|product| fits(&product))).collect()
        };
        for gpu in BUILTIN.gpus.iter().step_by(3) {
            let product = fold(&gpu.name);
            let words = without_maker(&product);
            for wanted in [&words[words.len() - 1..], &words[..1], &words[..words.len().div_ceil(2)], words] {
                let found = hits(&BUILTIN.gpu_index, &wanted.join(" "));
                assert_eq!(found.whole, scan(&|product| is(wanted, product)), "{wanted:?}");
                assert_eq!(found.family, scan(&|product| begins(wanted, product)), "{wanted:?}");
            }
        }
    }

    #[test]
    fn a_name_is_found_as_one_types() {
        let name = "NVIDIA GeForce RTX 3060 Ti";
        for typed in ["", "rtx3060", "3060t", "3060ti", "RTX 306", "\"RTX 306", "geforce ti", "RTX-3060-Ti", "306"] {
            assert!(may_become(typed, name), "{typed}");
        }
        for typed in ["4090", "rtx4090", "60", "3060x", "tix"] {
            assert!(!may_become(typed, name), "{typed}");
        }
    }

    #[test]
    fn any_text_may_be_looked_up() {
        for words in ["", "zz", "\u{e9}", "~", "=", "\n", "a", "rtx"] {
            hits(&BUILTIN.gpu_index, words);
            hits("", words);
            hits("\u{e9}\u{e9}=0\nz=1\n", words);
        }
        assert_eq!(hits("\u{e9}\u{e9}=0\n", "\u{e9}\u{e9}").whole, [0]);
    }
}
