//! Tests of `cli::fleet::source`.

use super::*;

#[test]
fn what_is_not_read_of_a_text_is_told() {
    let names = |cap: usize| {
        let (mut names, lines) = (Vec::new(), "n1: Tesla T4, 550.54.15\nn2: Tesla T4, 470.57.02\n");
        text(lines.as_bytes()[..24].to_vec(), &lines.as_bytes()[24..], cap, "all", &mut |batch| {
            hosts(
                batch,
                |host| (host.name, host.record.is_ok()),
                |host| {
                    names.push(host);
                    Ok(())
                },
            )
        })
        .unwrap();
        names
    };
    let of = |name: &str, read| (name.to_string(), read);
    assert_eq!(names(1 << 20), [of("n1", true), of("n2", true)]);
    assert_eq!(names(30), [of("n1", true), of("all (the rest)", false)]);
}

#[test]
fn a_line_is_kept_up_to_a_size() {
    let lines = |mut text: &[u8]| {
        let mut found = Vec::new();
        loop {
            let mut line = Vec::new();
            let is_cut = end_of_line(&mut text, 4, &mut line).unwrap();
            if line.is_empty() {
                return found;
            }
            found.push((String::from_utf8(line).unwrap(), is_cut > 0));
        }
    };
    let of = |line: &str, is_cut| (line.to_string(), is_cut);
    assert_eq!(
        lines(b"abc\nabcd\nabcdef\na"),
        [of("abc\n", false), of("abcd", true), of("abcd", true), of("a", false)]
    );
    assert_eq!(lines(b"abcd"), [of("abcd", false)]);
}

/// A folder of hosts may hold programs, whose hundred megabytes are not to be searched for hosts.
#[test]
fn a_program_is_not_read_as_a_text() {
    let read = |mut bytes: &[u8]| {
        let mut unread = Vec::new();
        let mut hand = |batch| {
            unread.push(matches!(batch, Batch::Unread(..)));
            Ok(())
        };
        assert!(stream(&mut bytes, "file", &mut hand).unwrap());
        (unread, bytes.len())
    };
    let mut program = b"\x7fELF\x02\x01\x01\0\0\xfe\n".repeat(HEAD);
    program.extend([0; 100]);
    assert_eq!(read(&program), (vec![true], 100));
    assert_eq!(read("Tesla T4\0, 550.54.15 – é\n".as_bytes()), (vec![false], 0));
    assert_eq!(read(b"Tesla T4, 550.54.15\xff\n"), (vec![false], 0));
}
