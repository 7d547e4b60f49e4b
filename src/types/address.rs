//! Names under which things are published: wheel indexes, image repositories and tags, packages.
//!
//! Each pattern is narrower than what registries take: nothing that passes holds a blank, a quote, a `$`, a `#` or a
//! control character, so it can be written into any export.

use super::variant;

/// The address of a wheel index. Credentials have no place in a lock, so `@` is refused; and what is installed must not
/// be what somebody on the way to it wants to be installed, so `http://` is.
pub fn is_index(url: &str) -> bool {
    let rest = url.strip_prefix("https://");
    let ok = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && all(rest, b"./:-_~%+"));
    ok && url.len() <= 512
}

/// The address of one wheel, and the sha256 that may stand behind it: `https://host/a-1-cp310-cp310-linux_aarch64.whl`.
pub fn wheel(url: &str) -> Option<(&str, Option<&str>)> {
    let (at, sha256) = match url.split_once("#sha256=") {
        Some((at, sha256)) => (at, Some(sha256)),
        None => (url, None),
    };
    let file = at.rsplit('/').next().unwrap_or_default();
    let named = starts_and_ends_alphanumeric(file) && file.ends_with(".whl");
    let ok = is_index(at) && named && sha256.is_none_or(is_sha256);
    ok.then_some((at, sha256))
}

/// The version in the name of the file that such an address leads to.
pub fn version_in(url: &str) -> Option<&str> {
    url.rsplit('/').next()?.split('-').nth(1)
}

/// A text with its addresses as they are shown: logs are no place for what stands before an `@`. The name alone is no secret
/// where ssh asks for it; elsewhere it may be a token.
pub fn without_password(text: &str) -> String {
    let (mut told, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("://") {
        let host = after.find(|c: char| c.is_whitespace() || "/?#\"'".contains(c)).unwrap_or(after.len());
        let is_secret = |at: &usize| !before.ends_with("ssh") || after[..*at].contains(':');
        told += before;
        told += "://";
        rest = after[..host].rfind('@').filter(is_secret).map_or(after, |at| &after[at + 1..]);
    }
    told + rest
}

/// The sha256 of a file, in lower case.
pub fn is_sha256(digest: &str) -> bool {
    digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether two spellings mean one version of a wheel: installers drop the zeros before a number (`nv24.08`).
pub fn is_same_version(one: &str, other: &str) -> bool {
    let plain = |part: &'_ str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_string(),
        number if is_number(part) => number.to_string(),
        _ => part.to_ascii_lowercase(),
    };
    let parts = |text: &str| text.split(['.', '+', '-', '_']).map(plain).collect::<Vec<String>>();
    parts(one) == parts(other)
}

/// The name of a Python package, in any of its spellings.
pub fn is_package(name: &str) -> bool {
    starts_and_ends_alphanumeric(name) && all(name, b"._-") && name.len() <= 128
}

/// A version that a requirement can pin: a number, then perhaps a local label.
pub fn is_wheel_version(version: &str) -> bool {
    let (public, label) = variant::parts(version);
    let part = |text: &str| starts_and_ends_alphanumeric(text) && all(text, b"._");
    let ok = public.starts_with(|first: char| first.is_ascii_digit()) && part(public) && label.is_none_or(part);
    ok && version.len() <= 128
}

/// The variable that tells a build for which GPUs to compile, and what it takes: `FLASH_ATTN_CUDA_ARCHS=80;90`.
pub fn arch_variable(text: &str) -> Option<(&str, Vec<u32>)> {
    let (name, taken) = text.split_once('=')?;
    let spelled = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let number = |word: &str| word.parse().ok().filter(|number| is_number(word) && (10..1000).contains(number));
    let taken = taken.split(';').map(number).collect::<Option<_>>()?;
    (spelled && name.ends_with("_ARCHS") && name.len() <= 64).then_some((name, taken))
}

/// The variable that has a build compile, and its value: for CUDA where it sees no GPU, `FORCE_CUDA=1`; in place of a
/// finished wheel, `FLASH_ATTENTION_FORCE_BUILD=TRUE`.
pub fn switch(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let spelled = name.bytes().all(is_part) && name.starts_with(|first: char| first.is_ascii_uppercase());
    let for_cuda = name.ends_with("_CUDA") && is_number(value) && value.len() == 1;
    let by_force = name.ends_with("_FORCE_BUILD") && value == "TRUE";
    (spelled && name.len() <= 64 && (for_cuda || by_force)).then_some((name, value))
}

/// The bytes of the longest reference of an image that is believed.
const LONGEST_REFERENCE: usize = 512;

/// An image repository: `[host[:port]/]path`, the path in lower case; no longer than a whole reference may be.
pub fn is_repository(repository: &str) -> bool {
    let is_component = |part: &str| {
        starts_and_ends_alphanumeric(part) && all(part, b"._-") && !part.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    let is_host = |host: &str| {
        let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
        starts_and_ends_alphanumeric(name) && all(name, b".-") && port.is_none_or(is_number)
    };
    let is_path = match repository.split_once('/') {
        Some((first, path)) => (is_component(first) || is_host(first)) && path.split('/').all(is_component),
        None => is_component(repository),
    };
    is_path && repository.len() <= LONGEST_REFERENCE
}

/// An image tag.
pub fn is_tag(tag: &str) -> bool {
    tag.len() <= 128 && !tag.is_empty() && !tag.starts_with(['.', '-']) && all(tag, b"._-")
}

/// A full image reference: repository, then a tag or a digest or both.
pub fn is_image(reference: &str) -> bool {
    let (name, digest) = reference.split_once('@').map_or((reference, None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash belongs to a port.
    let (repository, tag) = match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    };
    let is_digest = |digest: &str| digest.strip_prefix("sha256:").is_some_and(is_sha256);
    is_repository(repository)
        && (tag.is_some() || digest.is_some())
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
        && reference.len() <= LONGEST_REFERENCE
}

/// An architecture list as CMake reads it: `80-real;90`.
pub fn is_cmake_arch_list(list: &str) -> bool {
    let is_entry = |entry: &str| {
        let arch = entry.strip_suffix("-real").or_else(|| entry.strip_suffix("-virtual")).unwrap_or(entry);
        is_number(arch.strip_suffix(['a', 'f']).unwrap_or(arch))
    };
    list.split(';').all(is_entry)
}

/// A number that fits any counter.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Only ASCII letters, digits and these.
pub fn all(text: &str, extra: &[u8]) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
}

fn starts_and_ends_alphanumeric(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    edge(text.as_bytes().first()) && edge(text.as_bytes().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_has_an_address_and_maybe_a_sha256() {
        let at = "https://host/jp6/+f/46b/torch-2.5.0a0+872d.nv24.08-cp310-cp310-linux_aarch64.whl";
        let sha256 = "0a".repeat(32);
        assert_eq!(wheel(at), Some((at, None)));
        assert_eq!(wheel(&format!("{at}#sha256={sha256}")), Some((at, Some(&*sha256))));
        assert_eq!(version_in(at), Some("2.5.0a0+872d.nv24.08"));
        for bad in
            ["http://host/a-1-py3-none-any.whl", "https://host/a.tar.gz", "https://host/a b.whl", "https:///a.whl"]
        {
            assert_eq!(wheel(bad), None, "{bad}");
        }
        assert_eq!(wheel(&format!("{at}#sha256=12")), None);
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (text, told) in [
            ("-i https://me:s%40cret@host/simple x@y", "-i https://host/simple x@y"),
            ("a @ git+https://token@host/a.git@v1", "a @ git+https://host/a.git@v1"),
            ("git+ssh://git@host/a.git", "git+ssh://git@host/a.git"),
            ("https://a@b c://d:e@f", "https://b c://f"),
            ("https://host/@x", "https://host/@x"),
        ] {
            assert_eq!(without_password(text), told);
        }
    }

    #[test]
    fn an_image_has_no_more_than_512_bytes() {
        let name = "a".repeat(512);
        assert!(is_repository(&name) && !is_repository(&format!("{name}a")));
        assert!(is_image(&format!("{}:1", &name[2..])) && !is_image(&format!("{}:1", &name[1..])));
    }

    #[test]
    fn a_zero_before_a_number_changes_no_version() {
        assert!(is_same_version("2.5.0a0+872d.nv24.08", "2.5.0a0+872d.nv24.8") && is_same_version("1.0", "1.00"));
        assert!(!is_same_version("2.5.0a0+872d.nv24.8.17", "2.5.0a0+872d.nv24.8") && !is_same_version("1.0", "1"));
    }
}
