//! Random damage to a good file: reading always ends, never panics, and every error keeps its promises.

use super::super::{decode, parse};
use super::{FULL, assert_tame};

/// A small generator of our own: the same damage on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// What is put in, between blanks; `␤` is a line's end.
const PIECES: &str = "\" ' [ ] [[ { } = . , ␤ \r \0 # \\ \"\"\" é \u{202e} \u{1b} [target.prod]␤ [stack] gpu =12.10 <<<<<<<_x␤ =======␤ \
                      + || 9999999999999999999999 \u{feff} true 2024-01-01 stack.torch=1␤ none";

fn piece(dice: &mut Dice) -> String {
    let pieces: Vec<&str> = PIECES.split(' ').collect();
    pieces[dice.below(pieces.len())].replace('␤', "\n").replace('_', " ")
}

fn damaged(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = FULL.as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(30)).min(bytes.len());
        match dice.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, piece(dice).bytes())),
            2 => drop(bytes.splice(at..end, piece(dice).bytes())),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                drop(bytes.splice(to..to, copy));
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    if dice.below(10) == 0 && !bytes.is_empty() {
        let at = dice.below(bytes.len());
        bytes[at] = dice.below(256) as u8;
    }
    bytes
}

#[test]
fn damage_never_breaks_the_reader() {
    let mut dice = Dice(20_240_806);
    let mut accepted = 0;
    for _ in 0..6000 {
        let Ok(text) = decode(damaged(&mut dice)) else { continue };
        match parse(&text) {
            Ok(spec) => {
                accepted += 1;
                spec.inputs();
                for key in spec.keys() {
                    let span = spec.key_span(&key).unwrap();
                    assert!(text.get(span).is_some_and(|value| !value.is_empty()), "{key} in\n{text}");
                    spec.without(&key).inputs();
                }
            }
            Err(errors) => assert_tame(&text, &errors),
        }
    }
    assert!(accepted > 100, "the damage is so heavy that nothing is tested: {accepted}");
}
