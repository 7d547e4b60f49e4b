//! Tests of `fleet::split`.

use super::*;

fn cut(text: &str) -> Vec<(usize, String, bool)> {
    let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
    text.split_inclusive('\n').for_each(|line| splitter.line(line.as_bytes(), &mut pieces));
    splitter.end(&mut pieces);
    let told = |piece: Piece| (piece.line, String::from_utf8(piece.bytes).unwrap().trim().to_string(), piece.whole);
    pieces.into_iter().map(told).collect()
}

#[test]
fn documents_are_cut_out_of_lines() {
    let one = |line: usize, text: &str, whole| (line, text.to_string(), whole);
    assert_eq!(cut("{\"a\":1}\n\n{\"b\":2}\n"), [one(1, "{\"a\":1}", true), one(3, "{\"b\":2}", true)]);
    assert_eq!(cut("{\n \"a\": \"}\\\"{\"\n}\n{}"), [one(1, "{\n \"a\": \"}\\\"{\"\n}", true), one(4, "{}", true)]);
    assert_eq!(cut("{\"a\":[1\n{\"b\":2}\n"), [one(1, "{\"a\":[1", false), one(2, "{\"b\":2}", true)]);
    let list = "{\"items\":[\n{\"a\":1},\n{\"b\":2}\n]}";
    assert_eq!(cut(list), [one(1, list, true)]);
    assert_eq!(
        cut("{\"a\":[\n{\"b\":2}\n{\"c\":3}"),
        [one(1, "{\"a\":[", false), one(2, "{\"b\":2}", true), one(3, "{\"c\":3}", true)]
    );
    assert_eq!(cut("garbage\n{}\n{\"a"), [one(1, "garbage", true), one(2, "{}", true), one(3, "{\"a", false)]);
}
