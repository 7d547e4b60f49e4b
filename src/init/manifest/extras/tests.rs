//! Commands, and the extras that they name.

use super::*;

#[test]
fn lines_name_what_they_install_of_a_project() {
    for (word, names) in [
        (".[a,b_c]", &["a", "b-c"][..]),
        ("/opt/x[a]", &["a"]),
        (".", &[]),
        ("trl[vlm]", &[]),
        ("https://x.org/y[a]", &[]),
    ] {
        assert_eq!(of_folder(word), names, "{word}");
    }
    for (command, names) in [
        ("uv sync --frozen --extra a --extra=b", &[DEFAULT.0, "a", "b"][..]),
        ("/bin/uv sync --no-dev --all-groups", &[ALL_GROUPS]),
        ("poetry install -E a --with b,c", &["a", "b", "c"]),
    ] {
        let words: Vec<String> = command.split(' ').map(str::to_string).collect();
        assert_eq!(of_sync(&words), names, "{command}");
    }
}
