//! Tests of `diagnose::text`.

use super::*;

#[test]
fn what_surrounds_a_message_goes() {
    for (raw, wanted) in [
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07text\r\n", "red text"),
        ("> > quoted\n> again", "quoted\nagain"),
        ("api-1  | 2024-05-01T10:00:00.123Z error", "error"),
        ("CUDA%20error%3A%20no", "CUDA error: no"),
        ("1.181 cflags\n12.346 IndexError", "cflags\nIndexError"),
        ("27.23 one\n127.2 two\n0.1234 three", "one\ntwo\nthree"),
        ("it is built for\n535.183 and newer", "it is built for\n535.183 and newer"),
        ("(EngineCore_0 pid=123) ERROR 05-27 11:47:57 [core.py:396] error", "error"),
        ("one&gt;two &quot;x&quot;", "one>two \"x\""),
        ("cli: error\\\\nnext", "cli: error\nnext"),
        ("a symbol\n>>> quit()", "a symbol\n\nquit()"),
        ("C:\\new\\path\nline", "C:\\new\\path\nline"),
        ("cudaErrorNoDevice = 100, CUDA_ERROR_NO_DEVICE", " CUDA_ERROR_NO_DEVICE"),
        ("if (e == cudaErrorNoDevice)", "if (e )"),
    ] {
        assert_eq!(plain(raw), wanted, "{raw:?}");
    }
}

#[test]
fn ranks_are_read_one_after_another() {
    let text = plain("[rank0]: first\n[rank1]: first\n[rank0]: second\n[rank1]: second");
    assert!(text.contains("first\nsecond\nfirst\nsecond"), "{text}");
}

#[test]
fn what_is_said_abroad_is_read_as_well() {
    let (text, wanted) = ("cuda.h：没有那个文件或目录", "cuda.h:Nosuchfileordirectory");
    assert_eq!(Normalised::new(&plain(text)).text, wanted);
}

#[test]
fn a_line_that_ended_is_not_joined() {
    let broken = "a line that a terminal of eighty columns breaks because it is full, wher";
    for (text, joined) in [
        ("it failed.\nnext", true),
        ("a word\nNext", true),
        ("a wor\nd more", false),
        ("a word\nusb 1-2: more", true),
        (&format!("{broken}\never it is"), false),
        (&format!("{broken}\nusb 1-2: device not accepting address"), true),
        (&format!("{broken}\nEXT4-fs error (device sda1): lblock 0"), true),
        (&format!("{broken}\nKeyError: 'labels'"), true),
        ("one", false),
    ] {
        let normalised = Normalised::new(text);
        assert_eq!(normalised.joins_lines(0, normalised.text.len()), joined, "{text:?}");
    }
}

#[test]
fn a_name_ends_where_its_line_ended() {
    let long = format!("{}_ZN3c104cuda", "x".repeat(60));
    for (plain, wanted) in [
        ("symbol cudnnCreate\nctranslate2", "symbol cudnnCreate\n\nctranslate2".to_string()),
        (&format!("{long}\n9SetDeviceEi"), format!("{long}\n9SetDeviceEi")),
        (&format!("{long}\ntorch==2.4.0"), format!("{long}\n\ntorch==2.4.0")),
        (&format!("{long}\nroot@host:/x# ls"), format!("{long}\n\nroot@host:/x# ls")),
        (&format!("{long}\nvllm-0.5"), format!("{long}\n\nvllm-0.5")),
    ] {
        let text = Normalised::new(plain);
        assert_eq!(text.words(0, text.text.len()), wanted);
    }
    let text = Normalised::new("'a_ext'b c_d");
    assert_eq!([5, 6, 7].map(|at| text.ends_word(at)), [true, true, false]);
}

#[test]
fn normalised_text_knows_its_origin() {
    let plain = "a “b” c\n  d\\x";
    let normalised = Normalised::new(plain);
    assert_eq!(normalised.text, "abcd/x");
    assert_eq!(normalised.original(1, 4), "b” c\n  d");
    assert_eq!(normalised.original(2, 2), "");
}
