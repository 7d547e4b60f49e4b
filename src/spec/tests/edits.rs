//! One key changed: what minimal conflicts and fixes rest on.

use super::super::{ForwardCompat, Runtime, Share};
use super::{FULL, good};

#[test]
fn keys_stand_in_file_order() {
    let keys = [
        "stack.torch",
        "stack.torchvision",
        "stack.python",
        "stack.cuda",
        "stack.cudnn",
        "stack.nccl",
        "build.arch-list",
        "target.prod.gpu",
        "target.prod.driver",
        "target.prod.os",
        "target.prod.arch",
        "target.prod.image",
        "target.lab.gpu",
        "target.lab.driver-cuda",
        "target.lab.os",
        "target.lab.glibc",
        "target.lab.gcc",
        "target.lab.toolkit",
    ];
    let spec = good(FULL);
    assert_eq!(spec.keys(), keys);
    for key in keys {
        let dropped = spec.without(key);
        assert_eq!(dropped.key_span(key), None, "{key}");
        assert_eq!(dropped.keys().len(), keys.len() - 1, "{key}");
        assert!(spec.key_span(key).is_some_and(|span| !span.is_empty()));
    }
    assert_eq!(spec.without("target.nobody.gpu").keys(), keys);
    assert_eq!(spec.key_span("target.prod.runtime"), None);
}

#[test]
fn the_last_entry_can_go() {
    let spec = good("[stack]\ntorch = '*'\n[target.a]\ngpu = 'x'").without("stack.torch").without("target.a.gpu");
    assert!(spec.keys().is_empty() && spec.targets.len() == 1);
}

#[test]
fn a_fix_is_written_as_text() {
    let spec = good(FULL);
    let set = |key: &str, text: &str| spec.with(key, Some(text)).unwrap_or_else(|error| panic!("{key}: {error}"));
    let torch = set("stack.torch", "2.5.1+cu124");
    assert_eq!(torch.stack[0].1.text, "2.5.1+cu124");
    assert_eq!(torch.key_span("stack.torch"), spec.key_span("stack.torch"));
    assert_eq!(set("stack.Flash_Attn", "*").keys()[6], "stack.flash-attn");
    assert_eq!(set("target.prod.driver", ">=570").targets[0].driver.as_ref().unwrap().text, ">=570");
    let toolkit = set("target.prod.toolkit", "[ \"12.4\"]");
    assert_eq!(toolkit.targets[0].toolkit.as_ref().unwrap().text, "[\"12.4\"]");
    assert!(toolkit.keys().contains(&"target.prod.toolkit".to_string()));
    assert_eq!(set("target.prod.gpu", "sm_90").targets[0].gpu.as_ref().unwrap().value, ["sm_90"]);
    assert_eq!(set("target.prod.forward-compat", "never").targets[0].forward_compat, ForwardCompat::Never);
    assert_eq!(set("target.lab.runtime", "container").targets[1].runtime(), Runtime::Container);
    assert_eq!(set("resolve.share", "versions").resolve.share, Share::Versions);
    assert!(!set("build.cuda-extensions", "false").build.unwrap().cuda_extensions);
    let list = set("build.arch-list", "9.0+PTX").build.unwrap().arch_list.unwrap();
    assert_eq!(list.value.torch(), "9.0+PTX");
    assert_eq!(spec.with("resolve.share", None).unwrap().resolve.share, Share::Stack);
}

#[test]
fn a_new_key_has_an_empty_place_inside_the_file() {
    let spec = good("[stack]\ntorch = '*'\n[target.a]\n");
    let spec = spec.with("target.a.driver", Some("535")).unwrap().with("stack.cuda", Some("12")).unwrap();
    assert_eq!(spec.keys(), ["stack.torch", "stack.cuda", "target.a.driver"]);
    assert!(spec.key_span("target.a.driver").is_some_and(|span| span.is_empty() && span.end < 40));
    assert!(good("[build]\n[target.a]").with("build.arch-list", Some("8.0")).unwrap().keys().len() == 1);
    assert!(good("[stack]\nx='*'\n[target.a]").with("build.ptx", None).unwrap().build.is_none());
}

#[test]
fn a_change_is_judged_like_a_file() {
    let spec = good(FULL);
    for (key, text) in [
        ("stack.torch", "=>2"),
        ("target.lab.driver", "535"),
        ("target.prod.driver-cuda", "12.2"),
        ("target.lab.image", "a/b"),
        ("target.prod.runtime", "bare-metal"),
        ("target.prod.gpu", "[1]"),
        ("target.prod.gpu", "['none', 'A']"),
        ("target.prod.gpu", "["),
        ("target.prod.glibcc", "2"),
        ("target.nobody.gpu", "A"),
        ("resolve.shares", "x"),
        ("nothing", "x"),
        ("build.arch-list", "86"),
    ] {
        assert!(spec.with(key, Some(text)).is_err(), "{key} = {text}");
    }
}
