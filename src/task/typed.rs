//! Mistakes in what was typed, told of the options: the text that they were found in was made of those, and nobody wrote it.

use crate::report::Problem;
use crate::spec::SpecError;

/// The key whose line this byte stands in.
pub fn key_at(text: &str, at: usize) -> Option<&str> {
    let start = text[..at.min(text.len())].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.split_once('=').map(|(key, _)| key.trim()).filter(|_| !line.starts_with(['[', '#']))
}

/// A mistake in a text that nobody wrote, told of the option that its line comes from, one of the command's `options`.
pub fn typed(error: SpecError, text: &str, options: &[&str]) -> Problem {
    let Some(option) = key_at(text, error.span.start) else {
        return Problem { code: error.code, message: error.message, span: None, help: error.help };
    };
    let says = error.message.strip_prefix(&format!("`{option}`: ")).unwrap_or(&error.message);
    let of_options = |text: &str| {
        let parts = text.split('`').enumerate().map(|(at, part)| as_typed(options, part, at % 2 == 1));
        parts.collect::<Vec<_>>().join("`")
    };
    let message = format!("invalid value for `--{option}`: {}", of_options(says));
    let help = error.help.map(|help| of_options(&help));
    Problem { code: error.code, message, span: None, help }
}

/// A line of gpuenv.toml that is shown, as its option is typed: `--gpu "H100" --gpu "A100"` for `gpu = ["H100", "A100"]`; and
/// a key that is `quoted` as its option. No option takes a table.
fn as_typed(options: &[&str], part: &str, quoted: bool) -> String {
    match part.split_once(" = ").filter(|(key, value)| options.contains(key) && !value.starts_with('{')) {
        Some((option, value)) => {
            let texts = value.split('"').skip(1).step_by(2);
            texts.map(|text| format!("--{option} \"{text}\"")).collect::<Vec<_>>().join(" ")
        }
        None if quoted && options.contains(&part) => format!("--{part}"),
        None => part.to_string(),
    }
}
