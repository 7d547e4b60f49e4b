//! What was changed in a file, line by line.

use super::screen::{Screen, clean};
use super::source_file::SourceFile;

/// More changed lines than these are not compared one by one.
const COMPARED: usize = 200;

/// The lines that are gone and the lines that are new.
pub(super) fn render(screen: &Screen, file: &SourceFile, after: &str, planned: bool) -> String {
    let old: Vec<&str> = file.text.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    if old == new {
        return String::new();
    }
    let mut text = format!("{} {}:\n", if planned { "would change" } else { "changed" }, clean(&file.name));
    for (sign, line) in changes(&old, &new) {
        let line = clean(line);
        text += &match (sign, screen.narrated) {
            ('-', false) => screen.before(&format!("  - {line}")),
            ('-', true) => format!("  removed: {line}"),
            (_, false) => screen.after(&format!("  + {line}")),
            (_, true) => format!("  added: {line}"),
        };
        text.push('\n');
    }
    text
}

fn changes<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.len().max(new.len()) > COMPARED {
        return old.iter().map(|line| ('-', *line)).chain(new.iter().map(|line| ('+', *line))).collect();
    }
    // The length of the longest common run of lines from each pair of places on.
    let mut common = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a][b] = match old[a] == new[b] {
                true => common[a + 1][b + 1] + 1,
                false => common[a + 1][b].max(common[a][b + 1]),
            };
        }
    }
    let (mut a, mut b, mut changes) = (0, 0, Vec::new());
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            (a, b) = (a + 1, b + 1);
        } else if a < old.len() && (b == new.len() || common[a + 1][b] >= common[a][b + 1]) {
            changes.push(('-', old[a]));
            a += 1;
        } else {
            changes.push(('+', new[b]));
            b += 1;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown() {
        let old = ["a", "b", "c", "d", "e"];
        assert_eq!(changes(&old, &["a", "B", "c", "e"]), [('-', "b"), ('+', "B"), ('-', "d")]);
        assert_eq!(changes(&old, &old), []);
        assert_eq!(changes(&[], &["x"]), [('+', "x")]);
    }
}
