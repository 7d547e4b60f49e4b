//! A gpuenv.toml in parts, so that clauses can be added, changed and dropped before it is written.

/// The keys and values of a table, values as TOML writes them.
pub type Lines = Vec<(String, String)>;

/// A whole gpuenv.toml.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    pub requires: Option<String>,
    pub stack: Lines,
    pub build: Option<Lines>,
    pub targets: Vec<(String, Lines)>,
    pub resolve: Lines,
    pub overlays: Vec<String>,
    pub overrides: Vec<Lines>,
    pub silences: Vec<Lines>,
}

/// A text as TOML writes it.
pub fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// A list as TOML writes it; a single text stands alone.
pub fn listed(texts: &[String]) -> String {
    match texts {
        [one] => quoted(one),
        _ => format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
    }
}

/// Sets a key, wherever it stood before.
pub fn set(lines: &mut Lines, key: &str, value: String) {
    lines.retain(|(known, _)| known != key);
    lines.push((key.to_string(), value));
}

impl Sheet {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(requires) = &self.requires {
            text += &format!("requires-gpuenv = {}\n\n", quoted(requires));
        }
        table(&mut text, "[stack]", &self.stack);
        if let Some(build) = &self.build {
            table(&mut text, "[build]", build);
        }
        for (name, lines) in &self.targets {
            table(&mut text, &format!("[target.{name}]"), lines);
        }
        if !self.resolve.is_empty() {
            table(&mut text, "[resolve]", &self.resolve);
        }
        if !self.overlays.is_empty() {
            text += &format!(
                "[catalog]\noverlays = [{}]\n\n",
                self.overlays.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
            );
        }
        self.overrides.iter().for_each(|lines| table(&mut text, "[[override]]", lines));
        self.silences.iter().for_each(|lines| table(&mut text, "[[silence]]", lines));
        text
    }
}

fn table(text: &mut String, head: &str, lines: &Lines) {
    *text += head;
    text.push('\n');
    for (key, value) in lines {
        *text += &format!("{key} = {value}\n");
    }
    text.push('\n');
}
