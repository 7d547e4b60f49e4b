//! Tests of `artifact::fatbin`.

use super::*;

/// Made by CUDA 13.0's fatbinary of an empty kernel; cuobjdump lists the same.
const MADE: &[u8] = include_bytes!("../../../tests/data/artifacts/empty.fatbin");

fn read(bytes: &[u8], step: usize) -> Counts {
    let mut scanner = Scanner::default();
    bytes.chunks(step).for_each(|chunk| scanner.take(chunk));
    scanner.end();
    scanner.counts
}

fn made() -> Code {
    let arch = |text| Arch::parse(text).unwrap();
    let sass = ["8.0", "9.0", "9.0a", "10.0f"].map(arch).to_vec();
    let ptx = vec![(arch("8.0"), (8, 0)), (arch("9.0a"), (8, 0)), (arch("10.0f"), (8, 8))];
    Code { sass, ptx }
}

#[test]
fn what_fatbinary_wrote_is_read_however_it_arrives() {
    for step in [1, 7, 64, 4096, usize::MAX] {
        assert_eq!(read(MADE, step), Counts::from([(made(), 1)]), "{step}");
    }
    let twice = [b"\x50\xed\x55\xba no container".as_slice(), MADE, b"between", MADE, &MADE[..4]].concat();
    assert_eq!(read(&twice, 1000), Counts::from([(made(), 2)]));
}

#[test]
fn a_container_that_breaks_off_is_read_as_far_as_it_goes() {
    for end in (0..MADE.len()).step_by(11) {
        let counts = read(&MADE[..end], 512);
        assert!(counts.keys().all(|code| code.sass.iter().all(|arch| made().sass.contains(arch))), "{end}");
    }
}

#[test]
fn what_most_files_are_compiled_for_counts() {
    let code = |archs: &[&str]| Code { sass: archs.iter().map(|a| Arch::parse(a).unwrap()).collect(), ptx: vec![] };
    let counts = Counts::from([(code(&["9.0a"]), 900), (code(&["8.0", "9.0"]), 20), (code(&["8.0", "8.6"]), 3)]);
    assert_eq!(main_code(&counts), Some((&code(&["8.0", "9.0"]), 20)));
    assert_eq!(main_code(&Counts::new()), None);
}
