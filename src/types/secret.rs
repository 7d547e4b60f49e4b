//! User names and passwords in addresses: `https://ci:hunter2@pypi.example/simple`. They stand in files of people, and have
//! no place in what is printed of those, which ends up in logs that others read.

use std::borrow::Cow;

/// What ends the part of an address that names its host, wherever the address stands.
const ENDS: &[char] = &['/', '?', '#', '"', '\'', '`', '<', '>', '\\'];

/// The text with asterisks for user names and passwords, as many bytes as were there: places in it stay true.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let host = text[start..].split(|c: char| c.is_whitespace() || ENDS.contains(&c)).next().unwrap_or_default();
        let Some(user) = host.rfind('@').map(|end| &host[..end]) else { continue };
        // `ssh://git@github.com` is how everybody is called there.
        if !user.is_empty() && start >= done && (user.contains(':') || is_web(&text[..at])) {
            masked += &text[done..start];
            masked.extend(std::iter::repeat_n('*', user.len()));
            done = start + user.len();
        }
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(masked + &text[done..]) }
}

fn is_web(before: &str) -> bool {
    ["http", "https"].iter().any(|scheme| before.ends_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_one_is_and_how_one_proves_it_is_masked() {
        let of = |text: &str| masked(text).into_owned();
        assert_eq!(of("at https://ci:hunter2@a.b/c and"), "at https://**********@a.b/c and");
        assert_eq!(of("`https://ghp_é@a.b` git+ssh://me:p@ss@a.b"), "`https://******@a.b` git+ssh://*******@a.b");
        assert_eq!(of("\"index\": \"https://a:b@c\""), "\"index\": \"https://***@c\"");
        for plain in
            ["https://a.b/c@d", "ssh://git@github.com/a", "a@b.c", "torch @ https://a.b/t.whl", "://", "x://@y"]
        {
            assert!(matches!(masked(plain), Cow::Borrowed(_)), "{plain}");
        }
    }
}
