//! Where things stand in a file of TOML, looked up once for all: a parser that tells values alone does not say.

use std::collections::HashMap;

/// The lines of what a text holds, each counted from one.
pub(super) struct Lines<'t> {
    /// Keys and quoted words, where each stands first.
    words: HashMap<&'t str, usize>,
    /// Keys below the header of a table.
    keys: HashMap<(&'t str, &'t str), usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut lines = Lines { words: HashMap::new(), keys: HashMap::new() };
        let mut table = "";
        for (at, line) in text.lines().enumerate() {
            let written = line.trim();
            if let Some(header) = written.strip_prefix('[') {
                // What ends a header ends no list of values.
                table = header.trim_start_matches('[').split(']').next().unwrap_or_default();
                lines.words.entry(table).or_insert(at + 1);
            } else if let Some((key, _)) = written.split_once('=') {
                let key = key.trim().trim_matches(['"', '\'']);
                lines.keys.entry((table, key)).or_insert(at + 1);
                lines.words.entry(key).or_insert(at + 1);
            }
            for word in quoted(written) {
                lines.words.entry(word).or_insert(at + 1);
            }
        }
        lines
    }

    /// The first line with a quoted word, a key or a header; where there is none, the first of all.
    pub(super) fn with(&self, word: &str) -> usize {
        self.words.get(word).copied().unwrap_or(1)
    }

    /// The first header of a table, or of one below it.
    pub(super) fn of_table(&self, table: &str) -> usize {
        let lines = self.words.iter().filter(|(word, _)| word.starts_with(table)).map(|(_, line)| *line);
        lines.min().unwrap_or(1)
    }

    /// The line of a key in a table; where it is spelled otherwise, the first with that key.
    pub(super) fn of_key(&self, table: &str, key: &str) -> usize {
        self.keys.get(&(table, key)).copied().unwrap_or_else(|| self.with(key))
    }
}

/// The words of a line that stand in quotes of either kind.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(['"', '\''])?;
        let (mark, after) = (&rest[start..=start], &rest[start + 1..]);
        let end = after.find(mark)?;
        rest = &after[end + 1..];
        Some(&after[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keys_and_headers_are_where_they_stand_first() {
        let text = "[project]\ndependencies = [\n  \"torch>=2; sys_platform == 'linux'\", 'numpy',\n]\n\
                    [tool.uv.sources]\ntorch = { index = \"cu128\" }\n\"numpy\" = 1\n[other]\ntorch = 1\n";
        let lines = Lines::of(text);
        assert_eq!(lines.with("torch>=2; sys_platform == 'linux'"), 3);
        assert_eq!((lines.with("numpy"), lines.with("dependencies"), lines.with("nowhere")), (3, 2, 1));
        assert_eq!((lines.of_key("tool.uv.sources", "torch"), lines.of_key("other", "torch")), (6, 9));
        assert_eq!((lines.of_key("tool.uv.sources", "numpy"), lines.of_key("spelt.otherwise", "torch")), (7, 6));
        assert_eq!((lines.with("tool.uv.sources"), lines.of_table("tool.uv")), (5, 5));
    }
}
