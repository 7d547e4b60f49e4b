//! What is wrong with the messages and log fields of a catalog.

use crate::catalog::Catalog;
use crate::catalog::rows::ErrorSignature;

use super::pattern::Pattern;
use super::signatures::comparison;
use super::{placeholders, template, value};

/// What is wrong with patterns and sentences, a line each.
pub fn lint(catalog: &Catalog) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in catalog.diagnoses.iter() {
        lint_signature(row, &mut wrong);
        for to in row.yields_to.iter() {
            let heavier = |other: &ErrorSignature| other.weight > row.weight && row.yields_to(&other.code);
            if !catalog.diagnoses.iter().any(|other| other.code.starts_with(&**to) && heavier(other)) {
                wrong.push(format!("{}: it yields to `{to}`, and no weightier message has such a code", row.code));
            }
        }
    }
    for row in catalog.clues.iter() {
        for pattern in row.patterns.iter() {
            let prepared = Pattern::new(pattern.to_string());
            lint_pattern(&row.id, pattern, &prepared, &mut wrong);
            lint_literals(&row.id, pattern, &prepared, 2, &mut wrong);
        }
    }
    wrong
}

fn lint_signature(row: &ErrorSignature, wrong: &mut Vec<String>) {
    for pattern in
        [&row.patterns, &row.with, &row.not, &row.denied, &row.goes_on].into_iter().flat_map(|all| all.iter())
    {
        lint_pattern(&row.code, pattern, &Pattern::normalised(pattern), wrong);
    }
    for pattern in row.brings.iter() {
        lint_pattern(&row.code, pattern, &Pattern::new(pattern.to_string()), wrong);
    }
    for pattern in row.patterns.iter() {
        lint_literals(&row.code, pattern, &Pattern::normalised(pattern), 4, wrong);
    }
    if row.code.bytes().any(|byte| !byte.is_ascii_lowercase() && !byte.is_ascii_digit() && byte != b'-') {
        wrong.push(format!("{}: a code is written in small letters, digits and hyphens", row.code));
    }
    let keys_known = |(one, _, other)| value::is_known(one) && value::is_known(other);
    if row.majors.as_ref().is_some_and(|condition| !comparison(condition).is_some_and(keys_known)) {
        wrong.push(format!("{}: `majors` is not of the form `one > other` or `one != other`", row.code));
    }
    for given in row.gives.iter() {
        if !given.split_once('=').is_some_and(|(key, _)| value::is_known(key)) {
            wrong.push(format!("{}: `{given}` is not of the form key=value", row.code));
        }
        if let Some((_, of)) = given.split_once(' ') {
            lint_pattern(&row.code, of, &Pattern::new(of), wrong);
        }
    }
    for (name, sentences) in [("meaning", &row.meaning), ("remedies", &row.remedies)] {
        let mut alternatives = sentences.iter().flat_map(|sentence| template::alternatives(sentence));
        if alternatives.all(|sentence| sentence.contains('{')) {
            wrong.push(format!("{}: `{name}` has no sentence that needs no placeholder", row.code));
        }
        for unknown in sentences.iter().flat_map(|sentence| template::placeholders(sentence)) {
            if !value::is_known(unknown) && !placeholders::is_derived(unknown) {
                wrong.push(format!("{}: nothing fills `{{{unknown}}}`", row.code));
            }
        }
    }
}

fn lint_pattern(row: &str, pattern: &str, prepared: &Pattern, wrong: &mut Vec<String>) {
    match prepared.compiled() {
        None => wrong.push(format!("{row}: `{pattern}` does not compile")),
        Some(compiled) => {
            for group in compiled.names().filter(|group| !value::is_known(group)) {
                wrong.push(format!("{row}: `{group}` is no key that is read out"));
            }
        }
    }
}

/// What every match must hold is looked for in all texts at once, and must be seldom enough.
fn lint_literals(row: &str, pattern: &str, prepared: &Pattern, least: usize, wrong: &mut Vec<String>) {
    if prepared.literals.iter().map(String::len).min().is_none_or(|shortest| shortest < least) {
        wrong.push(format!("{row}: `{pattern}` holds no word of {least} letters that every match has"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    #[test]
    fn the_builtin_messages_are_in_order() {
        assert_eq!(lint(&BUILTIN), Vec::<String>::new());
    }
}
