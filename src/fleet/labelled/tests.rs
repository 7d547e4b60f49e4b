//! Tests of `fleet::labelled`.

use super::*;

#[test]
fn lines_of_many_hosts_are_sorted_out() {
    let text = "0: {\"a\":1}\n1: {\n0: {\"b\":2}\n1:   \"c\": 3\n1: }\nsrun: error: n7: task 2: Exited\n{\"d\":4}\n";
    let (mut labelled, mut pieces) = (Labelled::new(true), Vec::new());
    text.split_inclusive('\n').for_each(|line| labelled.line(line.as_bytes(), &mut pieces));
    labelled.end(&mut pieces);
    let told = |piece: &Piece| {
        let text = String::from_utf8_lossy(&piece.bytes).split_whitespace().collect::<String>();
        (piece.name.clone().unwrap_or_default(), text)
    };
    let told: Vec<(String, String)> = pieces.iter().map(told).collect();
    let of = |name: &str, text: &str| (name.to_string(), text.to_string());
    let wanted = [
        of("0", "{\"a\":1}"),
        of("0", "{\"b\":2}"),
        of("1", "{\"c\":3}"),
        of("n7", "task2:Exited"),
        of("", "{\"d\":4}"),
    ];
    assert_eq!(told, wanted);
    assert!(
        begins_labelled(b"node-7: {\"host\"") && !begins_labelled(b"{\"host\": {\"") && !begins_labelled(b"a b: {\"")
    );
}
