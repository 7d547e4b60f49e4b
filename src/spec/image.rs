//! Image references, read the way Docker reads them.

use std::fmt;

use super::ImageRef;
use super::error::{Refusal, SpecError, quote};

/// Docker's own limit for the name.
const MAX_NAME: usize = 255;
const MAX_TAG: usize = 128;

impl ImageRef {
    /// Reads `nvidia/cuda`, `nvcr.io/nvidia/pytorch:TAG`, `localhost:5000/a/b@sha256:…`.
    pub(super) fn parse(text: &str) -> Result<ImageRef, Refusal> {
        let refuse = |why: &str| {
            Refusal::new("image", format!("{} is not an image reference: {why}", quote(text)))
                .help("write `nvidia/cuda`, `nvidia/cuda:TAG` or `nvidia/cuda@sha256:DIGEST`")
        };
        let without_scheme = text.split_once("://").map(|(_, rest)| rest);
        if let Some(image) = of_page(without_scheme.unwrap_or(text)) {
            return Err(refuse("it is the address of a page").help(format!("write \"{}\"", super::error::clip(image))));
        }
        if let Some(rest) = without_scheme {
            return Err(refuse("it starts with a scheme").help(format!("write \"{}\"", super::error::clip(rest))));
        }
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest)),
            None => (text, None),
        };
        // A colon after the last slash starts a tag; one before it belongs to the registry's port.
        let (name, tag) = match named.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (named, None),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(refuse(
                "a tag holds up to 128 letters, digits, `_`, `.` and `-`, and starts with neither `.` nor `-`",
            ));
        }
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err(refuse("a digest is `sha256:` and 64 lower-case hexadecimal digits"));
        }
        if name.is_empty() {
            return Err(refuse("the repository is missing"));
        }
        if name.len() > MAX_NAME {
            return Err(refuse("its name is longer than 255 characters"));
        }
        if name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(refuse("it is a number").help("write \"nvidia/cuda\": gpuenv chooses the tag"));
        }
        let (registry, path) = split_registry(name);
        if registry.is_some_and(|host| !is_registry(host)) {
            return Err(refuse("its registry is not a host name"));
        }
        if path.chars().any(|c| c.is_ascii_uppercase()) {
            return Err(refuse("a repository is written in lower case"));
        }
        if !path.split('/').all(is_component) {
            return Err(refuse("a repository is lower-case words with single `.`, `_` or `-` between, parted by `/`"));
        }
        if registry.is_none() && path.len() == 64 && is_hex(path) {
            return Err(refuse("this is an image's id, which no registry can look up"));
        }
        let repository = match registry {
            None | Some("docker.io" | "index.docker.io") => path.strip_prefix("library/").unwrap_or(path),
            Some(_) => name,
        };
        let hub = name[..name.len() - repository.len()].to_string();
        let owned = |part: Option<&str>| part.map(str::to_string);
        Ok(ImageRef { hub, repository: repository.to_string(), tag: owned(tag), digest: owned(digest) })
    }

    /// The repository as it is written.
    pub fn name(&self) -> String {
        format!("{}{}", self.hub, self.repository)
    }
}

/// Why a text is no image reference; none if it is one.
pub fn not_an_image(text: &str) -> Option<SpecError> {
    ImageRef::parse(text).err().map(|refusal| refusal.at(0..0))
}

/// What an image reference says; none of a text that is none.
pub fn read_image(text: &str) -> Option<ImageRef> {
    ImageRef::parse(text).ok()
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.hub, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// The repository that a page of Docker Hub shows.
fn of_page(address: &str) -> Option<&str> {
    let page = address.strip_prefix("hub.docker.com/")?;
    let repository = page.strip_prefix("r/").or(page.strip_prefix("_/")).unwrap_or(page);
    Some(repository.trim_end_matches("/tags").trim_end_matches('/'))
}

/// The first part is a registry only if it could not be a namespace of Docker Hub.
fn split_registry(name: &str) -> (Option<&str>, &str) {
    match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (Some(host), path),
        _ => (None, name),
    }
}

fn is_registry(host: &str) -> bool {
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.split('.').all(label) && port.is_none_or(|port| port.parse::<u16>().is_ok() && !port.starts_with('+'))
}

fn is_component(part: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = part.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| ends(Some(byte)) || b"._-".contains(byte))
        && part
            .split(|c: char| c.is_ascii_alphanumeric())
            .all(|between| matches!(between, "" | "." | "_" | "__") || between.bytes().all(|byte| byte == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=MAX_TAG).contains(&tag.len())
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|byte| word(byte) || byte == b'.' || byte == b'-')
}

fn is_digest(digest: &str) -> bool {
    digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && is_hex(hex))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests;
