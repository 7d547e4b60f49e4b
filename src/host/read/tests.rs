//! Tests of `host::read`.

use super::*;

#[test]
fn records_are_read_and_their_mistakes_placed() {
    assert_eq!(read_any("\u{feff}{\"format\": 1}").unwrap().format, 1);
    for (text, wanted) in [
        ("", "it is empty"),
        ("\n \u{feff}", "describes no host"),
        ("{\"format\": 2, \"colour\": 1}", "format 2"),
        ("{}", "does not say its `format`"),
        ("{\"format\": 1,\n \"colour\": 1}", "unknown field `colour`"),
        ("{\"format\": 1", "EOF"),
        ("[]", "describes no host"),
    ] {
        let error = read_any(text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{text:?}: {error}");
    }
    let many =
        format!("{{\"format\": 1, \"nvml\": {{\"gpus\": [{}{{\"index\": 1}}]}}}}", "{\"index\": 0},".repeat(1_024));
    assert!(read_any(&many).unwrap_err().to_string().contains("it lists 1025 GPUs"));
    let Err(ReadError::Malformed { line, column, .. }) = read_any("{\"format\": 1,\n \"colour\": 1}") else {
        panic!("read")
    };
    assert_eq!((line, column), (2, 9));
}

#[test]
fn every_encoding_is_read() {
    let wide: Vec<u8> = "\u{feff}OS: é".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(decode(&wide), "OS: é");
    assert_eq!(decode(b"\xef\xbb\xbfOS: \xc3\xa9"), "OS: é");
    assert_eq!(decode(b"OS: \xff"), "OS: \u{fffd}");
}
