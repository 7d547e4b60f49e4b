//! Tests of `diagnose::fields`.

use super::*;

fn places(text: &str, word: &str) -> Vec<Range<usize>> {
    text.match_indices(word).map(|(at, word)| at..at + word.len()).collect()
}

#[test]
fn lines_are_found_by_their_literals() {
    let text = "first one\nnothing\nlast one, one";
    let found = |word| lines(text, &places(text, word)).into_iter().map(|line| &text[line]).collect::<Vec<_>>();
    assert_eq!(found("one"), ["first one", "last one, one"]);
    assert_eq!(found("nothing"), ["nothing"]);
    assert_eq!(found("no such"), [""; 0]);
}

#[test]
fn one_endless_line_is_read_in_part() {
    let endless = "ünd gpu 0: é ".repeat(300_000);
    let read: usize = lines(&endless, &places(&endless, "gpu")).iter().map(Range::len).sum();
    assert!(read <= LINES * (2 * LINE + 16), "{read} of {}", endless.len());
    let last = format!("{} driver 7", "x".repeat(1 << 20));
    assert!(lines(&last, &places(&last, "driver")).iter().any(|line| last[line.clone()].ends_with("driver 7")));
}
