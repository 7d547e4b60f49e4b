//! Tests of `report::cut`.

use super::*;

#[test]
fn short_lines_stay() {
    let text = "a = 1\nb = 2\n";
    let whole = cut(text, &[0..1, 10..11], 20);
    assert_eq!((whole.text.as_str(), whole.marks, whole.shifts.len()), (text, vec![0..1, 10..11], 0));
}

#[test]
fn a_long_line_is_cut_around_its_mark_and_the_rest_follows() {
    let text = format!("first\nkey = \"{}HERE{}\"\nlast = 1\n", "x".repeat(100), "y".repeat(100));
    let here = text.find("HERE").unwrap();
    let last = text.find("last").unwrap();
    let done = cut(&text, &[here..here + 4, last..last + 4], 40);
    assert_eq!(&done.text[done.marks[0].clone()], "HERE");
    assert_eq!(&done.text[done.marks[1].clone()], "last");
    let line = done.text.lines().nth(1).unwrap();
    assert!(line.len() <= 40 && line.starts_with("...") && line.ends_with("..."), "{line}");
    let before = line.find("HERE").unwrap() + done.shifts[&1];
    assert_eq!(before, here - 6);
}

#[test]
fn a_mark_that_is_too_long_itself_loses_its_end() {
    let text = format!("key = \"{}\"", "é".repeat(300));
    let all = 6..text.len();
    let done = cut(&text, std::slice::from_ref(&all), 40);
    assert!(done.text.chars().count() <= 40 && done.text.starts_with("key = \"é"), "{}", done.text);
    assert_eq!(done.marks[0].start, 6);
    assert!(done.text.is_char_boundary(done.marks[0].end));
}

#[test]
fn a_mark_at_the_very_end_stays_there() {
    let (end, nothing) = (2..2, 0..0);
    let done = cut("a\n", std::slice::from_ref(&end), 10);
    assert_eq!((done.text.as_str(), &done.marks[0]), ("a\n", &end));
    assert_eq!(cut("", std::slice::from_ref(&nothing), 10).marks[0], nothing);
}
