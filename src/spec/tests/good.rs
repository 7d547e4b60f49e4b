//! Files that are accepted, and what they mean.

use super::super::{ForwardCompat, Prefer, Runtime, Share, decode};
use super::{FULL, good};
use crate::types::CpuArch;

#[test]
fn every_key_is_read() {
    let spec = good(FULL);
    assert_eq!(spec.requires_gpuenv.unwrap().value.to_string(), ">=0.1");
    let stack: Vec<_> = spec.stack.iter().map(|(name, one)| (name.as_str(), one.text.as_str())).collect();
    assert_eq!(
        stack,
        [
            ("torch", ">=2.4,<2.8"),
            ("torchvision", "*"),
            ("python", "3.11"),
            ("cuda", "12"),
            ("cudnn", ">=9"),
            ("nccl", "*")
        ]
    );
    let build = spec.build.unwrap();
    assert!(build.cuda_extensions && build.ptx);
    assert_eq!(build.arch_list.unwrap().value.torch(), "8.0;8.6+PTX");

    let [prod, lab] = &spec.targets[..] else { panic!("two targets") };
    assert_eq!((prod.name.as_str(), &FULL[prod.span.clone()]), ("prod", "[target.prod]"));
    let gpu = prod.gpu.as_ref().unwrap();
    assert_eq!(gpu.value, ["A100-PCIE-40GB", "H100 NVL"]);
    assert_eq!(gpu.text, r#"["A100-PCIE-40GB", "H100 NVL"]"#);
    assert_eq!(prod.driver.as_ref().unwrap().value.as_str(), "525.116.03");
    assert_eq!(&FULL[prod.driver.as_ref().unwrap().span.clone()], "\"525.116.03\"");
    assert_eq!((prod.runtime, prod.runtime()), (Some(Runtime::Container), Runtime::Container));
    assert_eq!(prod.os.as_ref().unwrap().value, "ubuntu22.04");
    assert_eq!(prod.arch.as_ref().unwrap().value, CpuArch::X86_64);
    assert_eq!(prod.image.as_ref().unwrap().value.repository, "nvidia/cuda");
    assert_eq!(prod.forward_compat, ForwardCompat::Auto);

    assert_eq!(lab.gpu.as_ref().unwrap().text, "RTX 3090");
    assert_eq!(lab.driver_cuda.as_ref().unwrap().value.as_str(), "12.2");
    assert_eq!(lab.runtime(), Runtime::BareMetal);
    assert_eq!(lab.glibc.as_ref().unwrap().value.as_str(), "2.31");
    assert_eq!(lab.gcc.as_ref().unwrap().value.as_str(), "9.4");
    let toolkit: Vec<_> = lab.toolkit.as_ref().unwrap().value.iter().map(ToString::to_string).collect();
    assert_eq!(toolkit, ["11.8", "12.4"]);

    assert_eq!((spec.resolve.share, spec.resolve.prefer), (Share::Stack, Prefer::Newest));
    assert!(!spec.resolve.allow_experimental);
    assert_eq!(spec.overlays[0].value, "site-catalog.toml");
    let one = &spec.overrides[0];
    assert_eq!((one.rule.text.as_str(), one.target.as_ref().unwrap().text.as_str()), ("some-rule-id", "lab"));
    assert_eq!(one.reason.value, "measured on our hosts, ticket 123");
}

#[test]
fn small_files_suffice() {
    for source in [
        "[stack]\ntorch = \"*\"\n[target.a]\n",
        "[build]\n[target.a]\ngpu = \"sm_90\"\n",
        "stack.torch = '2.5.1+cu124'\ntarget.a.gpu = 'none'",
        "stack = { torch = '+cpu' }\ntarget = { a = { gpu = ['none'] } }",
        "[target.a]\nimage = 'nvcr.io/nvidia/pytorch:24.07-py3'\n[stack]\ncuda = '12.4.1'",
        "[stack]\ntorch = '>=2 || ==1.13.*'\n[target.A_1-b]\ndriver = '>=535'\ntoolkit = '12.4'",
        "[build]\n[target.a]\n[[override]]\nrule='r'\nreason=\"\"\"two\nlines\n=======\n\"\"\"",
    ] {
        good(source);
    }
}

#[test]
fn names_are_folded_and_doubles_counted_once() {
    let spec = good("[stack]\nFlash_Attn = '*'\n[target.a]\ngpu = ['A', 'B', 'A']\n[target.b]\ngpu = 'None'");
    assert_eq!(spec.stack[0].0, "flash-attn");
    assert_eq!(spec.targets[0].gpu.as_ref().unwrap().value, ["A", "B"]);
    assert_eq!(spec.targets[1].gpu.as_ref().unwrap().value, ["none"]);
}

#[test]
fn drivers_are_written_as_people_name_them() {
    let spec = good("[build]\n[target.a]\ndriver = 'R535'\n[target.b]\ndriver = ['550.x', 'R535']\n");
    let [a, b] = [0, 1].map(|at| spec.targets[at].driver.as_ref().unwrap());
    assert_eq!((a.value.as_str(), a.text.as_str()), ("535", "R535"));
    assert_eq!((b.value.as_str(), b.text.as_str()), ("535 || 550", r#"["550.x", "R535"]"#));
    let other = good("[build]\n[target.a]\ndriver = '535.x'\n[target.b]\ndriver = ['535', '550', '535']\n");
    assert_eq!(spec.inputs(), other.inputs());
    assert_eq!(spec.with("target.b.driver", Some("[\"R570\"]")).unwrap().inputs()["target.b.driver"], "570");
}

#[test]
fn order_is_the_files() {
    let spec = good("[target.z]\n[target.a]\n[stack]\ntorch='*'\nabc='*'\n[target.m]\n");
    assert_eq!(spec.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>(), ["z", "a", "m"]);
    assert_eq!(spec.stack[0].0, "torch");
}

#[test]
fn spans_fit_the_decoded_text_with_marks_and_carriage_returns() {
    let bytes = format!("\u{feff}{}", FULL.replace('\n', "\r\n")).into_bytes();
    let text = decode(bytes).unwrap();
    let spec = good(&text);
    assert_eq!(&text[spec.key_span("target.prod.driver").unwrap()], "\"525.116.03\"");
    assert_eq!(&text[spec.key_span("target.lab.gpu").unwrap()], "\"RTX 3090\"");
    assert_eq!(&text[spec.key_span("target.lab").unwrap()], "[target.lab]");
}

#[test]
fn formatting_never_shows_in_the_inputs() {
    let one = good(FULL).inputs();
    let other = good(
        r#"
        # the same, by another hand
        target.lab.toolkit = ["12.4", "11.8"]
        target.lab.gcc = "9.4"
        target.lab.glibc = "2.31"
        target.lab.os = "ubuntu20.04"
        target.lab.driver-cuda = "12.2"
        target.lab.gpu = ["RTX 3090", "RTX 3090"]
        target.prod = { image = "nvidia/cuda", arch = "amd64", os = "ubuntu22.04", driver = " 525.116.03", gpu = ["H100 NVL", "A100-PCIE-40GB"] }
        catalog.overlays = ["site-catalog.toml"]
        override = [{ reason = "measured on our hosts, ticket 123", target = "lab", rule = "some-rule-id" }]
        [build]
        arch-list = "8.6+PTX 8.0"
        ptx = true
        [stack]
        nccl = "*"
        cudnn = ">= 9"
        cuda = "12"
        python = "3.11"
        torchvision = "*"
        Torch = ">=2.4 , <2.8"
        "#,
    )
    .inputs();
    assert_eq!(one, other);
    assert_eq!(one["target.prod.gpu"], r#"["A100-PCIE-40GB", "H100 NVL"]"#);
    assert_eq!(one["target.lab.gpu"], r#"["RTX 3090"]"#);
    assert_eq!(one["stack.torch"], ">=2.4,<2.8");
    assert_eq!(one["override.some-rule-id@lab"], "measured on our hosts, ticket 123");
    assert!(
        !one.keys().any(|key| key.starts_with("resolve.") || key.contains("forward-compat") || key.contains("runtime"))
    );
}

#[test]
fn a_default_that_is_written_is_no_other_input() {
    let silent = good("[stack]\ntorch='*'\n[target.a]\ngpu='A100'").inputs();
    for line in
        ["arch='x86_64'", "runtime='bare-metal'", "platform='linux'", "driver-policy='any'", "forward-compat='auto'"]
    {
        assert_eq!(good(&format!("[stack]\ntorch='*'\n[target.a]\ngpu='A100'\n{line}")).inputs(), silent, "{line}");
    }
}

#[test]
fn what_bears_on_the_answer_shows_in_the_inputs() {
    let base = good(FULL).inputs();
    for (from, to) in [
        ("\"12\"", "\"12.4\""),
        ("ptx             = true", ""),
        ("cuda-extensions = true", "cuda-extensions = false"),
        ("\"auto\"", "\"never\""),
        ("\"stack\"", "\"versions\""),
        ("\"newest\"", "\"oldest-driver\""),
        ("allow-experimental = false", "allow-experimental = true"),
        ("H100 NVL", "H200"),
        ("[resolve]", "[target.third]\n[resolve]"),
        ("ticket 123", "ticket 124"),
        ("\"12.4\"]", "\"12.4.0\"]"),
    ] {
        assert_ne!(good(&FULL.replacen(from, to, 1)).inputs(), base, "{from} -> {to}");
    }
    let absent = good("[stack]\ntorch='*'\n[target.a]").inputs();
    assert_eq!(good("[stack]\ntorch='*'\n[build]\ncuda-extensions=false\n[target.a]").inputs(), absent);
}
