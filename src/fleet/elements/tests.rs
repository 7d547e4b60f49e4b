//! Tests of `fleet::elements`.

use super::*;

#[test]
fn elements_are_cut_out_wherever_the_portions_end() {
    let text = "[\n {\"a\": [1, 2, \"]}\\\"\"]},{\"b\":2}, 7,\n  null\n, {\"c\"";
    let wanted = [
        (2, "{\"a\": [1, 2, \"]}\\\"\"]}", true),
        (2, "{\"b\":2}", true),
        (2, "7", true),
        (3, "null", true),
        (4, "{\"c\"", false),
    ];
    for size in [1, 2, 5, 1_000] {
        let (mut elements, mut pieces) = (Elements::default(), Vec::new());
        text.as_bytes().chunks(size).for_each(|part| elements.take(part, &mut pieces));
        elements.end(&mut pieces);
        let told: Vec<(usize, &str, bool)> =
            pieces.iter().map(|piece| (piece.line, std::str::from_utf8(&piece.bytes).unwrap(), piece.whole)).collect();
        assert_eq!(told, wanted, "portions of {size}");
    }
}
