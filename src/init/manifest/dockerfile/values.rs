//! The values of arguments and variables in the words of a Dockerfile.

use super::{FILLED_CAP, Reader};

/// No value is nested so deep, and each level takes the stack of the program.
const MOST_DEEP: usize = 20;

impl Reader {
    /// Words with the arguments in them replaced, and those in which one cannot be, each with the reason.
    pub(super) fn each_filled(&self, words: &[String]) -> (Vec<String>, Vec<(String, String)>) {
        let (mut filled, mut unfilled) = (Vec::<String>::new(), Vec::new());
        for word in words {
            match (self.filled(word), word.split_once('+')) {
                (Ok(word), _) => filled.push(word),
                // `torch==2.1.2+cu$CUDA`: the version is known, the build of it is not.
                (Err(why), Some((version, _))) if version.contains("==") && !version.contains('$') => {
                    filled.push(version.to_string());
                    unfilled.push((word.clone(), format!("taken without its build: {why}")));
                }
                (Err(why), _) => {
                    // An option without its value would take the next word for it.
                    filled.pop_if(|before| before.starts_with('-'));
                    unfilled.push((word.clone(), why));
                }
            }
        }
        (filled, unfilled)
    }

    /// The value that is known of an argument or a variable in a stage: its own, that of the stages it is built on, or that of the
    /// whole file.
    pub(super) fn value(&self, name: &str, mut stage: Option<usize>) -> Option<&String> {
        while let Some(of) = stage.map(|at| &self.stages[at]) {
            if let Some(own) = of.values.get(name) {
                return own.as_ref();
            }
            stage = of.on;
        }
        self.values.get(name)
    }

    /// Sets the value in the stage at hand, or that of the whole file.
    pub(super) fn put(&mut self, name: &str, value: Option<String>) {
        match (self.stages.last_mut(), value) {
            (Some(stage), value) => drop(stage.values.insert(name.to_string(), value)),
            (None, Some(value)) => drop(self.values.insert(name.to_string(), value)),
            (None, None) => drop(self.values.remove(name)),
        }
    }

    /// A text with the arguments in it replaced; an error says why one cannot be.
    pub(super) fn filled(&self, text: &str) -> Result<String, String> {
        self.filled_on(text, self.stages.len().checked_sub(1))
    }

    /// The same in some stage; none: before them all.
    pub(super) fn filled_on(&self, text: &str, stage: Option<usize>) -> Result<String, String> {
        self.filled_within(text, stage, 0)
    }

    /// The same within some braces.
    fn filled_within(&self, text: &str, stage: Option<usize>, depth: usize) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out += before;
            let (name, word, end) = match after.strip_prefix('{') {
                Some(inner) => {
                    let end = closing(inner).filter(|_| depth < MOST_DEEP);
                    let end = end.ok_or_else(|| format!("the argument {after} has no `}}`"))?;
                    let (name, word) = inner[..end].split_at(inner[..end].find(':').unwrap_or(end));
                    (name, word, &inner[end + 1..])
                }
                None => {
                    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                    (&after[..end], "", &after[end..])
                }
            };
            // For `:-` and `:+` an empty value is none.
            let known = self.value(name, stage).filter(|known| word.is_empty() || !known.is_empty());
            let value = match (known, word.get(..2)) {
                (Some(_), Some(":+")) | (None, Some(":-")) => {
                    self.filled_within(word[2..].trim_matches(['"', '\'']), stage, depth + 1)?
                }
                (None, Some(":+")) => String::new(),
                (Some(known), _) => known.clone(),
                (None, _) if name.is_empty() => return Err("a command gives its value".to_string()),
                (None, _) => return Err(format!("the value of {name} is not in this file")),
            };
            self.filled.update(|filled| filled + value.len());
            if self.filled.get() > FILLED_CAP {
                return Err(format!("the arguments of this file hold more than {} MiB", FILLED_CAP >> 20));
            }
            out += &value;
            rest = end;
        }
        Ok(out + rest)
    }
}

/// Where the brace ends that was opened before a text: `A:-${B}` of `A:-${B}}/c`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}
