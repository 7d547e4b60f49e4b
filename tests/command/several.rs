//! Several targets in one file: what holds of each holds whatever stands beside it, whatever they are called, and is said of
//! each.

use crate::common::sandbox::Sandbox;

fn lock_of(place: &Sandbox) -> String {
    std::fs::read_to_string(place.path("gpuenv.lock")).unwrap()
}

/// To the solver images that nobody has read are all one.
#[test]
fn each_target_has_the_image_that_it_names() {
    let unknown = ["ghcr.io/me/one:1", "ghcr.io/me/two:2"].map(|image| format!("image = \"{image}\"\n"));
    let of_nvidia =
        ["25.98", "25.99"].map(|tag| format!("image = \"nvcr.io/nvidia/pytorch:{tag}-py3\"\nimage-requires = \"\"\n"));
    for (at, images) in [unknown, of_nvidia].iter().enumerate() {
        let target =
            |name: &str, image: &str| format!("[target.{name}]\ngpu = \"RTX 3090\"\ndriver = \"550\"\n{image}");
        let targets = [target("a", &images[0]), target("b", &images[1])].concat();
        let place = Sandbox::new(&format!("named-{at}"), &format!("[stack]\ntorch = \"2.6.0\"\n{targets}"));
        let ran = place.run(&["lock"]).exits(0);
        for (name, image) in ["a", "b"].iter().zip(images) {
            let image = image.split('"').nth(1).unwrap();
            assert!(lock_of(&place).contains(&format!("target.{name}.image = \"{image}\"\n")), "{}", lock_of(&place));
            place.run(&["export", "dockerfile", "--target", name]).exits(0).tells(&format!("FROM {image}"));
            let torches = ran.err.matches("warning[two-torches]: ").count();
            assert!(torches == if at == 1 { 2 } else { 0 }, "{}", ran.err);
        }
    }
    // What the catalog knows is still one choice for all.
    let known = "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n";
    let spec = format!("[stack]\ntorch = \"2.6.0\"\n[target.a]\n{known}[target.b]\n{known}");
    let place = Sandbox::new("named-known", &spec);
    place.run(&["lock"]).exits(0);
    assert_eq!(lock_of(&place).matches(".image = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n").count(), 2);
}

/// Two targets of a stack in either order of their names, with `share`.
fn in_both_orders(name: &str, stack: &str, share: &str, targets: [&str; 2]) -> [Sandbox; 2] {
    [["a", "b"], ["b", "a"]].map(|names| {
        let targets: String =
            names.iter().zip(targets).map(|(name, lines)| format!("[target.{name}]\n{lines}\n")).collect();
        let spec = format!("[stack]\n{stack}\n[resolve]\nshare = \"{share}\"\n{targets}");
        Sandbox::new(&format!("{name}-{}", names.concat()), &spec)
    })
}

/// What images may be chosen is worked out once for the machines that it is the same for.
#[test]
fn what_an_image_has_to_be_depends_on_its_own_machine() {
    // The tag was built several times, and a driver that is named is asked to start any of the builds.
    let image = "gpu = \"RTX 2080 Ti\"\nimage = \"nvidia/cuda:11.1.1-base-ubuntu20.04\"";
    let targets = [&*format!("{image}\ndriver = \"450.80.02\""), image];
    for share in ["stack", "none"] {
        for place in in_both_orders(&format!("built-often-{share}"), "torch = \"1.8.1+cu111\"", share, targets) {
            place.run(&["lock"]).exits(0).says("one build starts on driver 450.80.02, another does not");
        }
    }
    // Without the image of several builds, the driver is as old as it is.
    let old = image.replace("11.1.1", "11.2.2");
    let targets = [&*format!("{old}\ndriver = \"450.80.02\""), &old];
    for place in in_both_orders("built-once", "torch = \"1.8.1+cu111\"", "none", targets) {
        place.run(&["lock"]).exits(1);
    }
    // The cuDNN of the newest images has left Pascal behind.
    let targets = ["gpu = \"GTX 1080\"\nimage = \"nvidia/cuda\"", "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda\""];
    let chosen = in_both_orders("loads-cudnn", "onnxruntime-gpu = \"*\"", "none", targets).map(|place| {
        place.run(&["lock"]).exits(0);
        let lock = lock_of(&place);
        let images = lock.lines().filter_map(|line| Some(line.strip_prefix("target.")?.split_once(".image = ")?.1));
        let mut images: Vec<String> = images.map(str::to_string).collect();
        images.sort_unstable();
        assert!(images.iter().all(|image| image.contains("-cudnn-runtime-")), "{images:?}");
        images
    });
    assert!(chosen[0] == chosen[1] && chosen[0][0] != chosen[0][1], "{chosen:?}");
}

/// A conflict is one whatever is not known of another target.
#[test]
fn what_has_no_answer_for_one_target_has_none() {
    let targets = ["gpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"", "gpu = \"RTX 5090\""];
    for share in ["none", "versions", "stack"] {
        for place in in_both_orders(&format!("one-conflict-{share}"), "torch = \"2.4.0\"", share, targets) {
            place.run(&["lock"]).exits(1).says("is incompatible with `gpu = \"RTX 5090\"`");
        }
    }
    // So is what is renewed, with earlier choices of each.
    let [place, _] = in_both_orders("one-conflict-later", "torch = \"2.4.0\"", "none", ["gpu = \"A100\""; 2]);
    place.run(&["lock"]).exits(0);
    place.write(&in_both_orders("one-conflict-then", "torch = \"2.4.0\"", "none", targets)[0].spec());
    place.run(&["lock"]).exits(1).says("is incompatible with `gpu = \"RTX 5090\"`");
    // Of what nobody has read all is told.
    let targets = ["gpu = \"Jetson AGX Orin 64GB\"\nos = \"jetpack6.2\"", "gpu = \"RTX 3090\""];
    for place in in_both_orders("one-unknown", "torch = \"2.4.0\"", "none", targets) {
        place.run(&["lock"]).exits(3);
    }
}

/// Targets that are alike are judged as one, and none of them is left out of what is said.
#[test]
fn a_warning_tells_each_target_that_it_is_of() {
    let told = |name: &str, spec: &str, says: &[&str]| {
        let place = Sandbox::new(name, spec);
        let ran = place.run(&["lock"]).exits(0);
        let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in says {
            let (count, sentence) = if let Some(no) = sentence.strip_prefix('!') { (0, no) } else { (1, *sentence) };
            assert_eq!(said.matches(sentence).count(), count, "{sentence}\n{}", ran.err);
        }
    };
    let torch = "[stack]\ntorch = \"2.6.0\"\n";
    let none = "gpu = \"none\"\n";
    told(
        "told-none",
        &format!("{torch}[target.a]\n{none}[target.b]\n{none}[target.c]\ngpu = \"RTX 3090\"\n"),
        &["the target has no GPU but installs torch 2.6.0+cu124", "gives it the CPU build (targets `a`, `b`)"],
    );
    // A name that is a key too is one all the same.
    told(
        "told-gpu",
        &format!("{torch}[target.gpu]\n{none}[target.share]\n{none}[target.c]\ngpu = \"RTX 3090\"\n"),
        &["(targets `gpu`, `share`)"],
    );
    told(
        "told-package",
        &format!(
            "{torch}flash-attn = \"2.7.4.post1\"\n[target.a]\n{none}[target.b]\n{none}[target.c]\ngpu = \"A100\"\n"
        ),
        &["the target, which has none, can install it but not use it (targets `a`, `b`)"],
    );
    let old = "gpu = \"RTX 3090\"\ndriver = \"470\"\n";
    let off = "[[override]]\nrule = \"cuda-12-driver\"\nreason = \"x\"\n";
    told(
        "told-minimum",
        &format!("{torch}{off}[target.a]\n{old}[target.b]\n{old}"),
        &["has no driver minimum: `gpuenv verify` takes any driver (targets `a`, `b`)"],
    );
    told("told-one", &format!("{torch}{off}[target.a]\n{old}"), &["takes any driver warning", "!(target"]);
    let jetson = "gpu = \"Jetson AGX Orin 64GB\"\n";
    told(
        "told-jetson",
        &format!("[stack]\ntorch = \"2.3.0\"\npython = \"3.10\"\n[target.a]\n{jetson}[target.b]\n{jetson}"),
        &["the target does not set `os` (targets `a`, `b`)"],
    );
}

/// One warning names each board that the driver may not know, of a name that means several as well.
#[test]
fn every_board_that_a_driver_may_not_know_is_told() {
    let told = |name: &str, gpu: &str, driver: &str| {
        let spec = format!("[stack]\ntorch = \"2.7.1+cu126\"\n[target.a]\ngpu = {gpu}\n{driver}\n");
        let ran = Sandbox::new(name, &spec).run(&["lock"]).exits(0);
        let warnings = ran.err.split("warning[").filter_map(|text| text.strip_prefix("gpu-not-listed]: "));
        let told: Vec<String> = warnings.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert!(told.len() < 2, "{told:?}");
        told.into_iter().next().unwrap_or_default()
    };
    let oldest = "driver = \"525.60.13\"";
    let several = told("boards", "[\"RTX 4090\", \"RTX 4070 Ti SUPER\", \"RTX 4080 SUPER\"]", oldest);
    assert!(several.contains("RTX 4080 SUPER (550.54.14), NVIDIA GeForce RTX 4070 Ti SUPER (550.40.07)"), "{several}");
    let one = told("board", "[\"RTX 4090\", \"RTX 4080 SUPER\"]", oldest);
    assert!(one.starts_with("NVIDIA GeForce RTX 4080 SUPER is first listed in driver 550."), "{one}");
    assert_eq!(told("no-board", "\"RTX 4090\"", oldest), "");
    // Each product of a name counts, at whatever driver the lock is judged or allows.
    for driver in ["", oldest, "driver = \"525\""] {
        let family = told("family", "\"H100\"", driver);
        assert!(
            family.starts_with("`H100` means several boards: these")
                && family.contains("H100 NVL (535.104.05)")
                && family.contains("; driver 535.104.05 lists them all"),
            "{family}"
        );
    }
    let rest = told("rest-of-family", "\"H100\"", "driver = \"535.54.03\"");
    assert!(
        rest.starts_with("`H100` means several boards: NVIDIA H100 NVL is first listed in driver 535.104.05"),
        "{rest}"
    );
    assert_eq!(told("listed", "\"H100\"", "driver = \"535.104.05\""), "");
    assert!(told("free", "\"RTX 4070\"", "").contains("525.116.03; 525.60.13 may not recognise it"));
}
