//! What the name of an image tells, and that of what is copied from one.

use super::super::line_of_python;
use super::super::shell::file_name;

/// The Python that an image tells in its tag: one of Python, or any with a part such as `py3.11` or `py311`.
pub(super) fn python_of_image(image: &str) -> Option<String> {
    let (name, tag) = image.rsplit('/').next()?.split_once(':')?;
    let line = |text: &str| line_of_python(text).map(|python| python.to_string());
    if name == "python" {
        return line(&tag[..tag.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tag.len())]);
    }
    let numbers = tag.split(['-', '_']).filter_map(|part| part.strip_prefix("py"));
    let dotted = numbers.map(|number| match number.strip_prefix('3').filter(|minor| !minor.starts_with('.')) {
        Some(minor) => format!("3.{minor}"),
        None => number.to_string(),
    });
    dotted.filter_map(|number| line(&number)).next()
}

/// Whether the path of something copied is that of a file, by its ending.
pub(super) fn is_file(path: &str) -> bool {
    let name = file_name(path.trim_matches(['[', ']', '"', ',']));
    let is_ending = |(stem, ending): (&str, &str)| {
        !stem.is_empty()
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.rsplit_once('.').is_some_and(is_ending)
}
