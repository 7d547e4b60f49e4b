//! Tests of `export::seal`.

use super::*;

fn text() -> String {
    format!("# Written by `gpuenv export x`; do not edit.\nA\n# {}\nB\n", place("the build").replace('\n', "\n# "))
}

#[test]
fn one_changed_character_is_an_edit_and_an_own_line_is_none() {
    let whole = sealed(text(), EXPORT);
    assert_eq!(whose(&whole, EXPORT), Whose::Ours);
    assert_eq!(whose(&whole.replace('\n', "\r\n"), EXPORT), Whose::Ours);
    assert_eq!(whose(&format!("{whole}\n\n"), EXPORT), Whose::Ours);
    let at: Vec<usize> = whole.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(at, _)| at).collect();
    for at in at {
        let mut edited = whole.clone();
        edited.replace_range(at..=at, "~");
        assert_ne!(whose(&edited, EXPORT), Whose::Ours, "{edited}");
    }
    let own = whole.replace(KEPT, &format!("{KEPT}\nCOPY . .\nRUN make"));
    assert_eq!(whose(&own, EXPORT), Whose::Ours, "{own}");
    assert_eq!(carried(&own, &whole).as_deref(), Ok(&*own));
    assert_eq!(carried(&own, "nothing\n"), Err("the build".to_string()));
    assert_eq!(carried(&whole, "nothing\n").as_deref(), Ok("nothing\n"));
}

#[test]
fn what_others_wrote_is_theirs() {
    for text in ["", "FROM scratch\n", "# Written by hand\n", "Written by `gpuenv export", "Written by `gpuenv matrix`"]
    {
        assert_eq!(whose(text, EXPORT), Whose::Theirs, "{text}");
    }
    assert_eq!(whose("# Written by `gpuenv export x`; do not edit.\n", EXPORT), Whose::Edited);
}

/// Whatever a report is written in, it stays that and says who wrote it; what was edited since is told from it, and so is
/// what another command wrote.
#[test]
fn every_report_has_room_for_its_seal() {
    const COMMAND: &str = "gpuenv matrix";
    let json = "{\n  \"format\": 1,\n  \"cells\": {}\n}\n";
    let lines = "{\"host\":\"a\",\"x\":{}}\n{\"host\":\"b\",\"x\":{}}\n";
    for (text, room, says) in [
        ("native: it runs\n", Room::Line("\n", ""), "runs\n\nWritten by `gpuenv matrix` (digest "),
        ("<svg></svg>\n", Room::Line("<!-- ", " -->"), "</svg>\n<!-- Written by `gpuenv matrix` (digest "),
        ("# Made by `gpuenv matrix`: x\n", Room::None, "# Made by `gpuenv matrix` (digest "),
        (json, Room::Member, "\"cells\": {},\n  \"written\": \"by `gpuenv matrix` (digest "),
        (lines, Room::Member, "{\"host\":\"b\",\"x\":{},\"written\":\"by `gpuenv matrix` (digest "),
        ("a,b\n1,2\n3,4\n", Room::Column, "a,b,written\n1,2,\n3,4,by `gpuenv matrix` (digest "),
    ] {
        let whole = signed(text, COMMAND, room);
        assert!(whole.contains(says), "{whole}");
        assert_eq!(whose(&whole, COMMAND), Whose::Ours, "{whole}");
        assert_eq!(whose(&whole, "gpuenv probe"), Whose::Theirs, "{whole}");
        for edited in [format!("#{whole}"), format!("{whole}x\n")] {
            assert_eq!(whose(&edited, COMMAND), Whose::Edited, "{edited}");
        }
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert!(room != Room::Member || is_json(&whole) || whole.lines().all(is_json), "{whole}");
    }
}
