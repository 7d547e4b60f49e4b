//! Tests of `probe::compat`.

use super::*;

fn written(owner: &str, text: &str) -> Vec<u8> {
    let (owner, text) = (format!("{owner}\0"), format!("{text}\0"));
    let mut note = Vec::new();
    for number in [owner.len(), text.len(), 1] {
        note.extend_from_slice(&(number as u32).to_le_bytes());
    }
    for part in [owner, text] {
        note.extend_from_slice(part.as_bytes());
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

#[test]
fn notes_are_read_whatever_stands_in_them() {
    let text = r#"{"Format": "1.0", "CUDA Version": "13.0", "Driver": [535, 550, 570], "Device": [1]}"#;
    let note = written("NVIDIA Corporation", text);
    let expected = |branches: &[u64]| Note { cuda: Version::parse("13.0").ok(), branches: branches.to_vec() };
    assert_eq!(read(&note), Some(expected(&[535, 550, 570])));
    // As it stands in the libcuda of 580.95.05, in cuda-compat-13-0, and in that of the driver 580.159.04.
    let seen =
        r#"{"format":1,"CUDA version":"13.0","driver":[535,550,565,570,575,580],"device":[1,2,7,8,9,10,11,12,13,14]}"#;
    let seen = read(&written("NVIDIA Corporation", seen));
    assert_eq!(seen, Some(expected(&[535, 550, 565, 570, 575, 580])));
    assert_eq!(read(&written("GNU", text)), None);
    assert_eq!(read(&written("NVIDIA Corporation", "[1]")), None);
    for cut in 0..note.len() {
        read(&note[..cut]);
    }
    assert_eq!(read(&[0xff; 64]), None);
}
