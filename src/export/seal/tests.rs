//! Tests of `export::seal`.

use super::*;

fn text() -> String {
    format!("# Written by `gpuenv export x`; do not edit.\nA\n# {}\nB\n", place("the build").replace('\n', "\n# "))
}

#[test]
fn one_changed_character_is_an_edit_and_an_own_line_is_none() {
    let whole = sealed(text());
    assert_eq!(whose(&whole), Whose::Ours);
    assert_eq!(whose(&whole.replace('\n', "\r\n")), Whose::Ours);
    assert_eq!(whose(&format!("{whole}\n\n")), Whose::Ours);
    let at: Vec<usize> = whole.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(at, _)| at).collect();
    for at in at {
        let mut edited = whole.clone();
        edited.replace_range(at..=at, "~");
        assert_ne!(whose(&edited), Whose::Ours, "{edited}");
    }
    let own = whole.replace(KEPT, &format!("{KEPT}\nCOPY . .\nRUN make"));
    assert_eq!(whose(&own), Whose::Ours, "{own}");
    assert_eq!(carried(&own, &whole).as_deref(), Ok(&*own));
    assert_eq!(carried(&own, "nothing\n"), Err("the build".to_string()));
    assert_eq!(carried(&whole, "nothing\n").as_deref(), Ok("nothing\n"));
}

#[test]
fn what_others_wrote_is_theirs() {
    for text in ["", "FROM scratch\n", "# Written by hand\n", "Written by `gpuenv export"] {
        assert_eq!(whose(text), Whose::Theirs, "{text}");
    }
    assert_eq!(whose("# Written by `gpuenv export x`; do not edit.\n"), Whose::Edited);
}
