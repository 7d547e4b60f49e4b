//! Files by their names and texts, and indexes by their addresses.

use super::*;

#[test]
fn texts_without_a_name_are_known_by_what_is_in_them() {
    for (text, kind) in [
        ("# syntax=docker/dockerfile:1\nfrom x\n", Some(Kind::Dockerfile)),
        ("version = 1\n[[package]]\nname = \"a\"\n", Some(Kind::UvLock)),
        ("[project]\nname = \"a\"\n", Some(Kind::Pyproject)),
        ("name: x\ndependencies:\n  - python=3.10\n", Some(Kind::Conda)),
        ("torch==2.5.1\nnumpy >= 1.26 # ours\n-r more.txt\nvllm\n", Some(Kind::Requirements)),
        ("it does not work\n", None),
        ("", None),
    ] {
        assert_eq!(Kind::of_text(text), kind, "{text}");
    }
}

#[test]
fn files_are_known_by_their_names() {
    for (name, kind) in [
        ("requirements.txt", Some(Kind::Requirements)),
        ("dev-requirements.txt", Some(Kind::Requirements)),
        ("requirements.in", Some(Kind::Requirements)),
        ("pyproject.toml", Some(Kind::Pyproject)),
        ("uv.lock", Some(Kind::UvLock)),
        ("environment.yaml", Some(Kind::Conda)),
        ("Dockerfile.gpu", Some(Kind::Dockerfile)),
        ("train.Dockerfile", Some(Kind::Dockerfile)),
        ("nvidia-smi.txt", None),
        ("host.json", None),
    ] {
        assert_eq!(Kind::of(name), kind, "{name}");
    }
}

#[test]
fn the_variant_of_an_index_is_in_its_address() {
    for (address, variant) in [
        ("https://download.pytorch.org/whl/cu121", Some("cu121")),
        ("https://download.pytorch.org/whl/cu111/torch_stable.html", Some("cu111")),
        ("https://download.pytorch.org/whl/nightly/cu126/", Some("cu126")),
        ("https://download.pytorch.org/whl/cpu", Some("cpu")),
        ("https://data.pyg.org/whl/torch-2.4.0%2Bcu121.html", Some("cu121")),
        ("https://download.pytorch.org/whl/torch_stable.html", None),
        ("https://download.pytorch.org/whl/rocm6.1", None),
        ("https://example.org/simple", None),
    ] {
        assert_eq!(variant_of(address).as_deref(), variant, "{address}");
    }
}
