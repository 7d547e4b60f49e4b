//! What a text only speaks of: an error that a sentence of advice names, as of what could happen or is to be avoided, has
//! not happened. Such clauses are left out before anything is looked for.

use std::sync::LazyLock;

use regex::Regex;

/// What is quoted may be longer than a line, not much.
const QUOTED: usize = 300;
/// So long is no sentence.
const LONGEST: usize = 1000;

/// What such a clause begins with. Who says `if I …` tells what happened to them.
static ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    let told = r"(?:(?:if|when(?:ever)?|should|unless)\s+(?:you|users?)(?:\s+(?:do|may|might|still|also|then|ever|later|instead))*|you\s+(?:may|might|could))";
    let seen = r"(?:get|see|hit|encounter|face|meet|receive|observe|experience|run\s+into|have\s+(?:an?\s+|any\s+)?(?:error|issue|problem)s?)";
    let failed = r"(?:if|should)\s+(?:(?:this|it|that|(?:the|your)\s+\w+)\s+(?:fails?|crashes|stops|ends)\s+with|(?:an?|the|this|any)\s+(?:\w+\s+)?(?:error|exception|message|problem|issue)s?)";
    let feared = r"in\s+(?:the\s+)?case\s+(?:of|you)|to\s+(?:avoid|prevent|work\s+around)";
    let caused = r"(?:may|might|can|could)\s+(?:also\s+)?(?:cause|lead\s+to|result\s+in|raise|trigger|produce)";
    Regex::new(&format!(r"(?i-u)\b(?:{told}\s+{seen}|{failed}|{feared}|{caused})\b")).expect("a constant")
});

/// What follows the quoted name of an error where advice is given: "`…` errors, try …".
static ADVISED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)[`'"]\s+errors,?\s+(?:the\s+above|try|please|see|check)\b"#).expect("a constant")
});

/// A text without what its sentences of advice name.
pub fn without(plain: String) -> String {
    let named = ADVISED.find_iter(&plain).filter_map(|end| {
        let quote = &plain[end.start()..=end.start()];
        let from = plain.floor_char_boundary(end.start().saturating_sub(QUOTED));
        let start = from + plain[from..end.start()].rfind(quote)?;
        Some(start + 1..end.start())
    });
    let clauses = ADVICE.find_iter(&plain).map(|found| found.end()..found.end() + length(&plain[found.end()..]));
    let mut cut: Vec<_> = named.chain(clauses).collect();
    if cut.is_empty() {
        return plain;
    }
    cut.sort_unstable_by_key(|clause| (clause.start, clause.end));
    let (mut kept, mut from) = (String::with_capacity(plain.len()), 0);
    for clause in cut {
        if clause.start >= from {
            kept += &plain[from..clause.start];
            // What stands before and after it is no one word.
            kept.push('…');
        }
        from = from.max(clause.end);
    }
    kept + &plain[from..]
}

/// How long a clause is: it ends with its sentence, line or parenthesis. What is quoted in it is one word of it.
fn length(rest: &str) -> usize {
    let rest = &rest[..rest.floor_char_boundary(LONGEST)];
    let (mut past, mut depth) = (0, 0_usize);
    for (at, c) in rest.char_indices() {
        if at < past {
            continue;
        }
        let before = rest[..at].chars().next_back().unwrap_or(' ');
        let next = rest[at + c.len_utf8()..].chars().next();
        let is_end =
            next.is_none_or(char::is_whitespace) && !rest[..at].ends_with("e.g") && !rest[..at].ends_with("i.e");
        match c {
            '\n' => return at,
            '.' | '!' | '?' if is_end => return at,
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            '`' | '\'' | '"' | '‘' | '’' | '“' | '”' if before.is_whitespace() || "([=:,".contains(before) => {
                past = at + c.len_utf8() + quoted(&rest[at + c.len_utf8()..], c).unwrap_or(0);
            }
            _ => {}
        }
    }
    rest.len()
}

/// How long what is quoted is, with its closing quote.
fn quoted(rest: &str, opening: char) -> Option<usize> {
    let closing = match opening {
        '‘' => '’',
        '“' => '”',
        same => same,
    };
    let mut ends =
        rest[..rest.floor_char_boundary(QUOTED)].match_indices(closing).map(|(at, _)| at + closing.len_utf8());
    let is_apostrophe = |end: usize| rest[end..].starts_with(char::is_alphanumeric);
    ends.find(|end| !is_apostrophe(*end)).filter(|end| !rest[..*end].contains("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_spoken_of_is_left_out() {
        for (text, kept) in [
            ("If you get `CUDA error: a\nb. c` errors, see x. It is so", "If you get…. It is so"),
            ("x; if users\nhit e.g. ImportError: libcuda.so.1: no, add it\nnext", "x; if users\nhit…\nnext"),
            ("it (which may cause Xid 79) failed: error", "it (which may cause…) failed: error"),
            ("don't. In case of ‘driver’s error. here’ ask! Done", "don't. In case of…! Done"),
            ("For 'undefined symbol' errors, try y", "For '…' errors, try y"),
            ("To avoid an error \"a. b\" import first.\nError: c", "To avoid….\nError: c"),
            ("if you see 'a 'b'', try c\nKeyError: 'd' e", "if you see…\nKeyError: 'd' e"),
            ("if I run it I get error 803", "if I run it I get error 803"),
        ] {
            assert_eq!(without(text.to_string()), kept);
        }
    }
}
