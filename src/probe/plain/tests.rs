//! Tests of `probe::plain`.

use super::*;
use crate::host::{Gpu, Nvml};

#[test]
fn nobodys_home_is_told() {
    let home = |text: &str| plain(text, Some("/home/alice"));
    assert_eq!(home("/home/alice/venv:/opt:/home/alice"), "~/venv:/opt:~");
    assert_eq!(home("/home/alice2/x:/lustre/home/alice/y"), "/home/user/x:/lustre/home/user/y");
    assert_eq!(home("in '/home/bob', /mnt/c/Users/B C/d"), "in '/home/user', /mnt/c/Users/user/d");
    assert_eq!(home("/scratch/bob /opt/home"), "/scratch/bob /opt/home");
    assert_eq!(plain("/home", Some("/root")), "/home");
}

#[test]
fn texts_are_plain_and_have_an_end() {
    let gpu = Gpu { name: Some(format!("\u{1b}[31mGPU\0{}", "x".repeat(100_000))), ..Gpu::default() };
    let record = Record { nvml: Some(Nvml { gpus: vec![gpu], ..Nvml::default() }), ..Record::default() };
    let record = made_plain(record, Some("/"));
    let name = record.nvml.unwrap().gpus.remove(0).name.unwrap();
    assert!(name.starts_with("\u{fffd}[31mGPU\u{fffd}xxx"), "{}", &name[..20]);
    assert_eq!(name.chars().count(), LONGEST);
}
