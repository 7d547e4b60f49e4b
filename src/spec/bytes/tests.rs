//! Tests of `spec::bytes`.

use super::*;

fn refused(bytes: &[u8]) -> SpecError {
    decode(bytes.to_vec()).unwrap_err()
}

#[test]
fn marks_and_line_ends_are_taken_as_they_come() {
    assert_eq!(decode(b"\xef\xbb\xbfa = 1\r\n".to_vec()).unwrap(), "a = 1\r\n");
    assert_eq!(decode(Vec::new()).unwrap(), "");
}

#[test]
fn other_encodings_are_named_with_their_place() {
    for order in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        for text in ["\u{feff}[stack]\n", "[stack]\n"] {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(order).collect();
            let error = refused(&bytes);
            assert!(error.code == "encoding" && error.message.contains("UTF-16"), "{error:?}");
        }
    }
    let error = refused(b"[stack]\n# caf\xe9\n");
    assert!(error.message.contains("line 2") && error.message.contains("byte 6 (0xe9)"), "{error:?}");
}

#[test]
fn the_cap_is_named() {
    assert!(decode(vec![b'#'; MAX_BYTES]).is_ok());
    let error = refused(&vec![b'#'; MAX_BYTES + 1]);
    assert!(error.code == "too-large" && error.message.contains("4 MiB"), "{error:?}");
}
