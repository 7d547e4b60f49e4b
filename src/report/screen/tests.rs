//! Tests of `report::screen`.

use super::*;

#[test]
fn nothing_hostile_reaches_a_terminal() {
    assert_eq!(clean("torch 2"), "torch 2");
    assert_eq!(clean("a\x1b[31mb\u{9b}c\u{202e}d\n"), "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{a}");
}

#[test]
fn the_door_lets_lines_and_our_colours_through() {
    let text = "a\tb\n\x1b[1;31mred\x1b[0m \x1b]0;title\x07 \x1b[2J \u{202e}\u{2028}\u{9b}31m \x1b[";
    let end = "\\u{1b}]0;title\\u{7} \\u{1b}[2J \\u{202e}\\u{2028}\\u{9b}31m \\u{1b}[";
    assert_eq!(plain(text, true), format!("a\tb\n\x1b[1;31mred\x1b[0m {end}"));
    assert_eq!(plain(text, false), format!("a\tb\n\\u{{1b}}[1;31mred\\u{{1b}}[0m {end}"));
    assert!(matches!(plain("plain é\n", false), Cow::Borrowed(_)));
}

#[test]
fn json_says_the_same_without_what_a_terminal_obeys() {
    let text = serde_json::json!({ "\u{1b}key": "a\u{9b}b\u{202e}c\u{2028}d\u{7f}e\u{e0041}f\ng é" }).to_string();
    let plain = plain_json(&text);
    assert!(plain.chars().all(|c| !is_unseen(c)), "{plain}");
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(read(&plain), read(&text));
}

#[test]
fn paragraphs_keep_to_their_width() {
    let screen = Screen { color: true, unicode: false, width: 40, narrated: false, project: ProjectFiles::default() };
    let text = screen.wrapped(&screen.warning("  1. "), &"word ".repeat(30));
    assert!(text.lines().all(|line| visible(line) <= 40), "{text}");
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("     word")), "{text}");
}
