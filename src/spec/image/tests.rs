//! Tests of `spec::image`.

use super::*;

#[test]
fn references_are_split_as_docker_splits_them() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let pinned = format!("nvidia/cuda:12.4.1-base-ubuntu22.04@{digest}");
    for (text, repository, tag) in [
        ("nvidia/cuda", "nvidia/cuda", None),
        ("ubuntu", "ubuntu", None),
        ("docker.io/library/ubuntu:22.04", "ubuntu", Some("22.04")),
        ("library/python:3.11-slim", "python", Some("3.11-slim")),
        ("index.docker.io/nvidia/cuda", "nvidia/cuda", None),
        ("nvcr.io/nvidia/pytorch:24.07-py3", "nvcr.io/nvidia/pytorch", Some("24.07-py3")),
        ("localhost:5000/a", "localhost:5000/a", None),
        ("localhost/a:b", "localhost/a", Some("b")),
        ("registry.example.com:443/team/my-image__x:_1", "registry.example.com:443/team/my-image__x", Some("_1")),
        ("example.com/library/x", "example.com/library/x", None),
        (&pinned, "nvidia/cuda", Some("12.4.1-base-ubuntu22.04")),
    ] {
        let image = ImageRef::parse(text).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
        assert_eq!((image.repository.as_str(), image.tag.as_deref()), (repository, tag), "{text}");
        assert_eq!(image.to_string(), text);
    }
    let image = ImageRef::parse(&pinned).unwrap();
    assert_eq!((image.to_string(), image.digest), (pinned, Some(digest)));
}

#[test]
fn what_docker_refuses_is_refused() {
    let id = "a".repeat(64);
    let long_tag = format!("a:{}", "t".repeat(129));
    let long_name = format!("a/{}", "n".repeat(300));
    let bad = ":tag|a:|a@|a@sha256:12|a@md5:00|Nvidia/Cuda|a//b|/a|a/|a b|a:b:c|-a|a_-b|a..b|a___b|a:.b|a:-b|\
                   https://nvcr.io/a|exa_mple.com/a|host:99999/a|host:/a|é|";
    for text in bad.split('|').chain([id.as_str(), &long_tag, &long_name]) {
        assert!(ImageRef::parse(text).is_err(), "{text:?}");
    }
}
